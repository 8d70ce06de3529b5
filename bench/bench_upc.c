/* What counting costs, as a ratio to a plain increment of a uint64_t in an array.
 *
 * Each row runs the same number of batches over random counters of a unit, several times,
 * alternating with the plain loop over the same indices; the smallest time of each is used. One
 * batch is one chil_upc_raise of a train, or its part of a chil_upc_raise_many; time is advanced
 * every 256 batches.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "chiliad/upc.h"

enum { BATCHES = 1 << 19, GROUP = 256, ROUNDS = 7 };

static double seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint32_t next_index(uint64_t *state, uint32_t limit)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*state >> 33) * limit >> 31);
}

static double time_plain(const uint32_t *index, uint64_t *array)
{
    double start = seconds();
    for (uint32_t i = 0; i < BATCHES; i++) {
        array[index[i]]++;
        __asm__ volatile("" ::: "memory");
    }
    return seconds() - start;
}

static double time_unit(struct chil_upc *upc, const uint32_t *index, uint64_t events, bool many)
{
    static struct chil_upc_train trains[GROUP];
    uint64_t now = chil_upc_now(upc);
    double start = seconds();
    for (uint32_t i = 0; i < BATCHES; i += GROUP) {
        for (uint32_t k = 0; k < GROUP; k++)
            trains[k] = (struct chil_upc_train){index[i + k], now + 2 * events * k, events, 2, 1};
        int status = 0;
        if (many)
            status = chil_upc_raise_many(upc, trains, GROUP, NULL);
        else
            for (uint32_t k = 0; k < GROUP; k++)
                status |= chil_upc_raise(upc, &trains[k]);
        now += 2 * events * GROUP;
        if (status || chil_upc_advance(upc, now)) exit(1);
    }
    return seconds() - start;
}

#define FAR (UINT64_C(1) << 60)

struct setup {
    const char *name;
    struct chil_upc_geometry geometry;
    uint64_t threshold; /* of all counters; 0 for none */
    uint64_t events;
    bool many;
};

/* With a threshold of 2^low_bits every counter is armed from the start to the end: none gets that
 * far in a round. */
static struct chil_upc *make_unit(const struct setup *setup)
{
    struct chil_upc *upc;
    if (chil_upc_new(&upc, &setup->geometry, CHIL_UPC_FAST, NULL, NULL, NULL)) exit(1);
    for (uint32_t c = 0; setup->threshold && c < setup->geometry.counters; c++)
        if (chil_upc_threshold(upc, c, setup->threshold)) exit(1);
    chil_upc_start(upc);
    return upc;
}

static void run(const struct setup *setup)
{
    uint32_t *index = malloc(BATCHES * sizeof *index);
    uint64_t *array = calloc(setup->geometry.counters, sizeof *array), random = 1;
    double plain = 1e9, unit = 1e9;
    if (!index || !array) exit(1);
    for (uint32_t i = 0; i < BATCHES; i++)
        index[i] = next_index(&random, setup->geometry.counters);
    for (int round = 0; round < ROUNDS; round++) {
        struct chil_upc *upc = make_unit(setup);
        double a = time_plain(index, array), b = time_unit(upc, index, setup->events, setup->many);
        chil_upc_free(upc);
        if (a < plain) plain = a;
        if (b < unit) unit = b;
    }
    printf("%-44s %8.1f M batches/s %8.2f ns/batch %8.2f x plain/batch %9.4f x plain/event\n",
           setup->name, BATCHES / unit * 1e-6, unit / BATCHES * 1e9, unit / plain,
           unit / plain / (double)setup->events);
    free(index);
    free(array);
}

int main(void)
{
    const struct chil_upc_geometry bgp = {256, 4, 12, 16}, large = {4096, 4, 16, 16};
    const struct setup setups[] = {
        {"256 counters, 1 event, one call each", bgp, 0, 1, false},
        {"256 counters, 1 event", bgp, 0, 1, true},
        {"256 counters, 1 event, all armed", bgp, 4096, 1, true},
        {"256 counters, 1000 events", bgp, 0, 1000, true},
        {"256 counters, 1000 events, far thresholds", bgp, FAR, 1000, true},
        {"4096 counters, 1 event", large, 0, 1, true},
        {"4096 counters, 1 event, all armed", large, 65536, 1, true},
        {"4096 counters, 1000 events", large, 0, 1000, true},
        {"4096 counters, 1000 events, far thresholds", large, FAR, 1000, true},
    };
    printf("counter unit, fast model; the smallest of %d alternating rounds of %d batches\n",
           ROUNDS, BATCHES);
    for (unsigned i = 0; i < sizeof setups / sizeof *setups; i++)
        run(&setups[i]);
    return 0;
}
