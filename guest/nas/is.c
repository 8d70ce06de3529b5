/*
 * NAS IS: ranks small integer keys, ten times, changing two keys before each (specification, "Kernel IS").
 *
 * The rank of a key is the number of keys that come before it in sorted order. It is found by counting, without
 * buckets: one pass copies the keys, one counts how often each value occurs, one sums the counts. Of every ranking five
 * ranks are compared with published ones, and after the last the keys are put in order by their ranks and looked at one
 * by one.
 */
#include "nas.h"

#include <stdio.h>

enum { ITERATIONS = 10, PROBES = 5 };

/*
 * Where a ranking is looked at, and the rank there before any key was changed. In iteration i the changed keys have
 * moved the first RISING ranks up by i + SHIFT_UP and the others down by i + SHIFT_DOWN.
 */
struct probe {
    int index, rank;
};

#if NAS_CLASS == 'S'
enum { KEYS = 1 << 16, MAX_KEY = 1 << 11, RISING = 3, SHIFT_UP = 0, SHIFT_DOWN = 0 };
static const struct probe PROBE[PROBES] = {{48427, 0}, {17148, 18}, {23627, 346}, {62548, 64917}, {4431, 65463}};
#elif NAS_CLASS == 'W'
enum { KEYS = 1 << 20, MAX_KEY = 1 << 16, RISING = 2, SHIFT_UP = -2, SHIFT_DOWN = 0 };
static const struct probe PROBE[PROBES] = {
    {357773, 1249}, {934767, 11698}, {875723, 1039987}, {898999, 1043896}, {404505, 1048018}};
#else
enum { KEYS = 1 << 23, MAX_KEY = 1 << 19, RISING = 3, SHIFT_UP = -1, SHIFT_DOWN = -1 };
static const struct probe PROBE[PROBES] = {
    {2112377, 104}, {662041, 17523}, {5336171, 123928}, {3642833, 8288932}, {4250760, 8388264}};
#endif

static int keys[KEYS];     /* the keys in the order they were drawn */
static int copy[KEYS];     /* the same, as the last ranking saw them */
static int count[MAX_KEY]; /* after a ranking: how many keys are not greater than this */

/* Each key is MAX_KEY/4 times the sum of four random numbers: nearly a Gaussian distribution. */
static void create_keys(void)
{
    double x = NAS_SEED;
    for (int i = 0; i < KEYS; i++) {
        double sum = nas_random(&x, NAS_MULTIPLIER);
        sum += nas_random(&x, NAS_MULTIPLIER);
        sum += nas_random(&x, NAS_MULTIPLIER);
        sum += nas_random(&x, NAS_MULTIPLIER);
        keys[i] = (int)(0.25 * MAX_KEY * sum);
    }
}

static int wanted_rank(int probe, int iteration)
{
    int rank = PROBE[probe].rank;
    return probe < RISING ? rank + iteration + SHIFT_UP : rank - iteration - SHIFT_DOWN;
}

/* One ranking; returns how many of the probed ranks are right. */
static int rank_keys(int iteration)
{
    int probed[PROBES], good = 0;
    keys[iteration] = iteration;
    keys[iteration + ITERATIONS] = MAX_KEY - iteration;
    for (int i = 0; i < PROBES; i++)
        probed[i] = keys[PROBE[i].index];

    for (int i = 0; i < MAX_KEY; i++)
        count[i] = 0;
    for (int i = 0; i < KEYS; i++)
        copy[i] = keys[i];
    for (int i = 0; i < KEYS; i++)
        count[copy[i]]++;
    for (int i = 0; i < MAX_KEY - 1; i++)
        count[i + 1] += count[i];

    for (int i = 0; i < PROBES; i++)
        if (probed[i] > 0) good += count[probed[i] - 1] == wanted_rank(i, iteration);
    return good;
}

/* Puts the keys in order by their ranks; returns how many are smaller than the one before. */
static long count_disorder(void)
{
    static int sorted[KEYS];
    long wrong = 0;
    for (int i = 0; i < KEYS; i++)
        sorted[--count[copy[i]]] = copy[i];
    for (int i = 1; i < KEYS; i++)
        wrong += sorted[i - 1] > sorted[i];
    return wrong;
}

int main(int argc, char **argv)
{
    struct nas nas;
    int good[ITERATIONS + 1];
    nas_init(&nas, "IS", argc, argv);
    printf("%d keys below %d, %d rankings\n", KEYS, MAX_KEY, ITERATIONS);
    create_keys();
    rank_keys(1); /* touches all memory once */

    nas_timed_begin(&nas);
    for (int iteration = 1; iteration <= ITERATIONS; iteration++)
        good[iteration] = rank_keys(iteration);
    nas_timed_end(&nas);

    for (int i = 0; i < PROBES; i++) {
        int key = keys[PROBE[i].index];
        printf("key %d at %d: rank %d\n", key, PROBE[i].index, key > 0 ? count[key - 1] : 0);
    }
    long right = 0;
    for (int iteration = 1; iteration <= ITERATIONS; iteration++)
        right += good[iteration];
    nas_verify_count(&nas, "right ranks", right, ITERATIONS * PROBES);
    nas_verify_count(&nas, "keys in disorder", count_disorder(), 0);
    return nas_verdict(&nas);
}
