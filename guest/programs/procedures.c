/* Categories per procedure: what they cost. A radix sort's digit with a procedure for each key (short), and a sum of
 * the forces of neighbours with one for each particle (moderate). CATEGORIES 1: a store at entry; 2: at entry and exit; else none. The
 * arguments are how many short ones and how many moderate ones. */
#include <chiliad/monitor.h>
#include <stdlib.h>

#ifndef CATEGORIES
#define CATEGORIES 0
#endif
#define ENTER(n)                                                                                                       \
    if (CATEGORIES > 0) chiliad_category(n)
#define LEAVE()                                                                                                        \
    if (CATEGORIES > 1) chiliad_category(0)

enum { KEYS = 1024, PARTICLES = 32, NEIGHBOURS = 2 };
static unsigned keys[KEYS], counts[256];
static double place[PARTICLES], force[PARTICLES];

__attribute__((noinline)) static void count_key(unsigned i)
{
    ENTER(1);
    unsigned key = keys[i];
    for (unsigned shift = 0; shift < 32; shift += 8)
        counts[key >> shift & 255]++;
    LEAVE();
}

__attribute__((noinline)) static void push(unsigned i)
{
    ENTER(2);
    double sum = 0;
    for (unsigned k = 1; k <= NEIGHBOURS; k++) {
        double apart = place[i] - place[(i + k) % PARTICLES];
        sum += apart / (1 + apart * apart);
    }
    force[i] += sum;
    LEAVE();
}

int main(int argc, char **argv)
{
    unsigned shorts = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    unsigned moderates = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    for (unsigned i = 0; i < KEYS; i++)
        keys[i] = i * 2654435761U;
    for (unsigned i = 0; i < PARTICLES; i++)
        place[i] = i * 0.37;
    for (unsigned i = 0; i < shorts; i++)
        count_key(i % KEYS);
    for (unsigned i = 0; i < moderates; i++)
        push(i % PARTICLES);
    return force[1] > 1e9 || counts[3] == 77777777;
}
