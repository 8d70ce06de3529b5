/* The same work, about 100 million instructions with misses, with something of the machine turned on:
 *   curves counters N     N of the unit's 256 counters count
 *   curves thresholds N   256 count, N of them armed with a threshold that is never reached
 *   curves threads N      N threads share the work (0: as without threads)
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIT ((volatile uint32_t *)0xFFFDA000)
enum { START = 0x904 / 4, CONFIG = 0x800 / 4, THRESHOLD = 0x910 / 4, RISE = 0x04, INTERRUPT = 0x10 };
enum { COUNTERS = 256, THREADS = 4, CELLS = 8192, ROUNDS = 1200, SHARES = 4 };

static double cells[SHARES][CELLS], sums[SHARES];

/* A quarter of the work: a sum over cells in an order that caches do not like. */
static void *share(void *which)
{
    unsigned number = (unsigned)(uintptr_t)which, at = 0;
    double sum = 0;
    for (int round = 0; round < ROUNDS / SHARES; round++)
        for (int i = 0; i < CELLS; i++) {
            at = (at * 5 + 1) % CELLS;
            sum = sum * 0.5 + cells[number][at];
            cells[number][i] = sum + 1;
        }
    sums[number] = sum;
    return NULL;
}

static void work(unsigned threads)
{
    pthread_t thread[SHARES];
    for (unsigned first = 0; first < SHARES; first += threads ? threads : SHARES)
        if (threads) {
            for (unsigned i = 0; i < threads; i++)
                pthread_create(&thread[i], NULL, share, (void *)(uintptr_t)(first + i));
            for (unsigned i = 0; i < threads; i++)
                pthread_join(thread[i], NULL);
        } else
            for (unsigned i = 0; i < SHARES; i++)
                share((void *)(uintptr_t)i);
}

static void configure(unsigned counters, unsigned armed)
{
    for (unsigned i = 0; i < COUNTERS; i++) {
        uint32_t shift = 24 - 8 * (i % 4), byte = i < counters ? RISE | (i < armed ? INTERRUPT : 0) : 0;
        if (i % 4 == 0) UNIT[CONFIG + i / 4] = 0;
        UNIT[CONFIG + i / 4] |= byte << shift;
    }
    UNIT[THRESHOLD] = 0x7fffffff; /* one for all */
    UNIT[THRESHOLD + 1] = 0;
    UNIT[START] = 1;
}

int main(int argc, char **argv)
{
    unsigned n = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    if (argc != 3 || n > COUNTERS) return 2;
    if (!strcmp(argv[1], "counters"))
        configure(n, 0);
    else if (!strcmp(argv[1], "thresholds"))
        configure(COUNTERS, n);
    else if (n > THREADS || n == 3)
        return 2;
    work(strcmp(argv[1], "threads") ? 0 : n);
    printf("%.6g\n", sums[0] + sums[1] + sums[2] + sums[3]);
    return 0;
}
