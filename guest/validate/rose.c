/* The micro-benchmarks of paper 002, section 4.1. Their misses can be worked out by hand.
 *
 *   rose NAME [FIRST COUNT]
 *
 * Runs one function COUNT times, once by default, and prints the simulator's counts after each run,
 * a line per counter. Random functions use the seeds FIRST, FIRST + 1, ...; FIRST is 1 by default.
 *
 * n is 2^20: D has 8 MB, D2 twice that, I has 1024 random indices. Each element costs one load or
 * store and nothing else, so accesses are volatile or inline assembly. Before each measurement 8 MB
 * of other data replace the caches' contents, so matrices are evicted between the matrix tests.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bglcounters.h"
#include "chiliad/callthru.h"

enum { N = 1 << 20, RANDOM = 1024, SPAN = 32, M = 64 };

static double d[2 * N] __attribute__((aligned(4096)));
static char other[8 << 20] __attribute__((aligned(4096)));
static double matrix_a[M][M] __attribute__((aligned(4096)));
/* Matrix B begins 128 bytes into a page, so it touches the 9 pages that the paper expects. */
static struct {
    char before[128];
    double at[M][M];
} b __attribute__((aligned(4096)));
#define matrix_b b.at
static double matrix_c[M][M] __attribute__((aligned(4096)));
static int indices[RANDOM] __attribute__((aligned(4096)));

/* One FP load that gcc neither drops nor moves. */
#define LOAD(address)                                                                              \
    ({                                                                                             \
        double value;                                                                              \
        __asm__ volatile("lfd%X1 %0, %1" : "=d"(value) : "m"(*(address)));                         \
        value;                                                                                     \
    })
#define STORE(address, value) __asm__ volatile("stfd%X0 %1, %0" : "=m"(*(address)) : "d"(value))

static void seq_stores(void)
{
    double zero = 0;
    for (int k = 0; k < N; k++)
        STORE(&d[k], zero);
}

static void seq_loads(void)
{
    for (int k = 0; k < N; k++)
        (void)LOAD(&d[k]);
}

static void seq_both(void)
{
    double c = 0.5;
    for (int k = 1; k <= N; k++) {
        double value = LOAD(&d[k]) + c * LOAD(&d[k - 1]);
        STORE(&d[k], value);
    }
}

static void random_loads(void)
{
    for (int i = 0; i < RANDOM; i++)
        (void)LOAD(&d[*(volatile int *)&indices[i]]);
}

static void multiple_random_loads(void)
{
    for (int i = 0; i < RANDOM; i++) {
        int at = *(volatile int *)&indices[i];
        for (int k = 0; k < SPAN; k++)
            (void)LOAD(&d[at + k * 16]);
    }
}

static void transpose(void)
{
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++)
            if (i != j) {
                double x = LOAD(&matrix_b[i][j]), y = LOAD(&matrix_b[j][i]);
                STORE(&matrix_b[i][j], y);
                STORE(&matrix_b[j][i], x);
            }
}

static void multiply(void)
{
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++) {
            double sum = LOAD(&matrix_c[i][j]);
            for (int k = 0; k < M; k++)
                sum += LOAD(&matrix_a[i][k]) * LOAD(&matrix_b[j][k]);
            STORE(&matrix_c[i][j], sum);
        }
}

/* Random entries by splitmix64: neighbouring seeds give independent draws. */
static void make_indices(unsigned long long seed, int limit)
{
    for (int i = 0; i < RANDOM; i++) {
        unsigned long long z = seed += 0x9E3779B97F4A7C15ULL;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
        indices[i] = (int)((z ^ (z >> 31)) % (unsigned)limit);
    }
}

static void touch(volatile char *bytes, size_t size, size_t step)
{
    for (size_t i = 0; i < size; i += step)
        bytes[i] = bytes[i];
}

/* Replaces what L1 and L3 hold by other data. */
static void evict(void)
{
    touch(other, sizeof other, 32);
}

/* Reads a vector once, so that L3 holds its last 4 MB (half of D, a quarter of D2), L1 its last
 * 32 KB and the TLB its last 64 pages. All draws start from this state. */
static void traverse(size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 32)
        (void)((volatile char *)d)[i];
}

static const struct {
    const char *name;
    void (*run)(void);
    int limit;    /* of the random indices; 0: none */
    size_t first; /* bytes of d to traverse first; 0: evict */
} tests[] = {
    {"seq_stores", seq_stores, 0, 0},
    {"seq_loads", seq_loads, 0, 0},
    {"seq_both", seq_both, 0, 0},
    {"random_d", random_loads, N, sizeof d / 2},
    {"random_d2", random_loads, 2 * N, sizeof d},
    {"multiple_d", multiple_random_loads, N - SPAN * 16, sizeof d / 2},
    {"multiple_d2", multiple_random_loads, 2 * N - SPAN * 16, sizeof d},
    {"transpose", transpose, 0, 0},
    {"multiply", multiply, 0, 0},
};

enum { TESTS = sizeof tests / sizeof *tests };

/* One measurement: caches prepared, function counted. A line per counter. */
static void measure(unsigned t, unsigned long long seed)
{
    uint64_t user[BGLCOUNTERS];
    if (tests[t].limit) make_indices(seed, tests[t].limit);
    if (tests[t].first)
        traverse(tests[t].first);
    else
        evict();
    (void)BGLCounters_Reset();
    void (*run)(void) = tests[t].run;
    /* Inline: the loads of a library call would count. */
    (void)chiliad_callthru(CHILIAD_COUNTERS_START, 0, 0);
    run();
    (void)chiliad_callthru(CHILIAD_COUNTERS_STOP, 0, 0);
    BGLCounters_Read(user, NULL);
    for (int i = 0; i < BGLCOUNTERS; i++)
        if (BGLCounters_Name(i))
            printf("%s %llu\n", BGLCounters_Name(i), (unsigned long long)user[i]);
}

static int usage(void)
{
    fprintf(stderr, "usage: rose NAME [FIRST COUNT], NAME one of:");
    for (unsigned t = 0; t < TESTS; t++)
        fprintf(stderr, " %s", tests[t].name);
    fprintf(stderr, "\n");
    return 2;
}

int main(int argc, char **argv)
{
    unsigned long long first = 1, count = 1;
    unsigned t = 0;
    if (argc == 4) {
        first = strtoull(argv[2], NULL, 10);
        count = strtoull(argv[3], NULL, 10);
    } else if (argc != 2)
        return usage();
    while (t < TESTS && strcmp(argv[1], tests[t].name) != 0)
        t++;
    if (t == TESTS) return usage();
    memset(d, 0, sizeof d);
    memset(matrix_a, 0, sizeof matrix_a);
    memset(matrix_b, 0, sizeof matrix_b);
    memset(matrix_c, 0, sizeof matrix_c);
    if (BGLCounters_Init()) return 3;
    for (unsigned long long i = 0; i < count; i++)
        measure(t, first + i);
    return 0;
}
