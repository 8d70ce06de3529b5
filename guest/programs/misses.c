/* Loads of which it is plain why they miss L1 (tests/cmd/test_kinds).
 *
 *   misses HOW ROUNDS
 *
 *   first      each round reads one word of each of 100 lines that were never read before: cold
 *   stream     each round reads one word of each line of 64 KB, twice as much as L1 holds: capacity
 *   stride     each round reads 128 lines that are 512 bytes apart, all of one set with 64 places: conflict
 *   padded     the same 32 bytes further apart each: hits
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 32, FIRST = 100, STREAM = 2048, STRIDE = 128, ROUNDS = 400 };

static unsigned char bytes[ROUNDS * FIRST * LINE] __attribute__((aligned(4096)));

/* The rounds are within the walk, so that nothing but what is walked is touched between them. */
__attribute__((noinline)) static unsigned walk(unsigned rounds, unsigned lines, unsigned distance, unsigned further)
{
    const volatile unsigned char *at = bytes;
    unsigned sum = 0;
    for (unsigned round = 0; round < rounds; round++, at += further)
        for (unsigned i = 0; i < lines; i++)
            sum += at[i * distance];
    return sum;
}

int main(int argc, char **argv)
{
    unsigned rounds = argc == 3 ? (unsigned)atoi(argv[2]) : 0, sum;
    if (rounds < 1) return 2;
    if (strcmp(argv[1], "first") == 0 && rounds <= ROUNDS)
        sum = walk(rounds, FIRST, LINE, FIRST * LINE);
    else if (strcmp(argv[1], "stream") == 0)
        sum = walk(rounds, STREAM, LINE, 0);
    else if (strcmp(argv[1], "stride") == 0)
        sum = walk(rounds, STRIDE, 512, 0);
    else if (strcmp(argv[1], "padded") == 0)
        sum = walk(rounds, STRIDE, 512 + LINE, 0);
    else
        return 2;
    return sum ? 1 : 0;
}
