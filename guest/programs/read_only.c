/* A table that only `init` may write (section 4.3 of the monitor's paper). With an argument, `spoil` writes one element
 * of it, long after all of it was read: most of its lines are in no cache by then, but that of element 4095 may be. */
#include <stdio.h>
#include <stdlib.h>

enum { N = 4096 };

int table[N] __attribute__((aligned(4096)));

__attribute__((noipa)) static void init(void)
{
    for (int i = 0; i < N; i++)
        table[i] = i;
}

__attribute__((noipa)) static long sum(volatile const int *values)
{
    long sum = 0;
    for (int i = 0; i < N; i++)
        sum += values[i];
    return sum;
}

__attribute__((noipa)) static void spoil(volatile int *value)
{
    *value = 77; /* illegal */
}

int main(int argc, char **argv)
{
    init();
    long all = sum(table);
    if (argc > 1) spoil(&table[atoi(argv[1])]);
    all += sum(table);
    printf("%ld\n", all);
    return 0;
}
