/* The fast model against the reference: random waveforms and register programs, compared after
 * every step.
 *
 * One program is a seed: a geometry and a few dozen random calls, given to both models. Their
 * statuses, every counter, every armed bit, the whole status block and the log of notices must be
 * equal after each call. The first difference prints the seed, the call and both sides;
 * `test_upc_models SEED` runs one program again, printing each call.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "chiliad/upc.h"
#include "random.h"

enum { LOG_MAX = 4096 };

struct log {
    struct chil_upc_notice notices[LOG_MAX];
    size_t count;
};

struct pair {
    struct chil_upc *fast, *reference;
    struct log *fast_log, *reference_log;
    uint64_t random;
    uint64_t seed;
    bool print;
};

static void keep(void *context, const struct chil_upc_notice *notice)
{
    struct log *log = context;
    if (log->count < LOG_MAX) log->notices[log->count++] = *notice;
}

/* The hostile geometry (4-bit low part, 3-cycle slots), tight and loose ones, and Blue Gene/P
 * itself. */
static const struct chil_upc_geometry geometries[] = {
    {5, 4, 4, 3},  {1, 1, 1, 2},  {2, 2, 1, 1},   {8, 4, 6, 8},
    {16, 3, 4, 1}, {3, 7, 5, 10}, {100, 2, 7, 1}, {256, 4, 12, 16},
};

enum { HOSTILE = 0, BGP = 7, GEOMETRIES = sizeof geometries / sizeof *geometries };

static bool same_notices(const struct log *a, const struct log *b)
{
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->notices[i].kind != b->notices[i].kind ||
            a->notices[i].counter != b->notices[i].counter ||
            a->notices[i].cycle != b->notices[i].cycle)
            return false;
    return true;
}

static void print_log(const char *name, const struct log *log)
{
    for (size_t i = log->count > 4 ? log->count - 4 : 0; i < log->count; i++)
        print_error("  %s notice %zu: kind %d counter %u cycle %llu\n", name, i,
                    (int)log->notices[i].kind, log->notices[i].counter,
                    (unsigned long long)log->notices[i].cycle);
}

static void differ(struct pair *pair, const char *what, uint64_t where, uint64_t fast,
                   uint64_t reference)
{
    print_error("seed %llu at cycle %llu: %s %llu: fast %llu, reference %llu\n",
                (unsigned long long)pair->seed, (unsigned long long)chil_upc_now(pair->reference),
                what, (unsigned long long)where, (unsigned long long)fast,
                (unsigned long long)reference);
    print_log("fast", pair->fast_log);
    print_log("reference", pair->reference_log);
    fail();
}

static void same_status(struct pair *pair, const char *what, int fast, int reference)
{
    if (pair->print) print_message("# %s -> %d\n", what, reference);
    if (fast != reference)
        differ(pair, what, 0, (uint64_t)(int64_t)fast, (uint64_t)(int64_t)reference);
}

static void same_counter(struct pair *pair, uint32_t c)
{
    uint64_t a = 0, b = 0;
    int fast = chil_upc_read(pair->fast, c, &a), reference = chil_upc_read(pair->reference, c, &b);
    if (fast != reference)
        differ(pair, "status of counter", c, (uint64_t)(int64_t)fast, (uint64_t)(int64_t)reference);
    if (a != b) differ(pair, "counter", c, a, b);
    if (reference) return;
    uint64_t peeked = 0;
    if (chil_upc_peek(pair->reference, c, &peeked) || peeked != b)
        differ(pair, "reference, peek at counter", c, a, peeked);
    if (chil_upc_peek(pair->fast, c, &peeked) || peeked != a)
        differ(pair, "fast, peek at counter", c, peeked, b);
}

/* Everything that can be seen without disturbing a fault: the status block and the armed bits. */
static void same_status_block(struct pair *pair)
{
    struct chil_upc_map map;
    chil_upc_map(chil_upc_geometry(pair->fast), &map);
    for (uint64_t offset = map.start_stop; offset < map.end; offset += 8) {
        uint64_t a = 0, b = 0;
        int fast = chil_upc_load(pair->fast, offset, 8, &a),
            reference = chil_upc_load(pair->reference, offset, 8, &b);
        if (fast != reference || a != b) differ(pair, "register", offset, a, b);
    }
}

static void same_everything(struct pair *pair)
{
    if (!same_notices(pair->fast_log, pair->reference_log))
        differ(pair, "notices", 0, pair->fast_log->count, pair->reference_log->count);
    same_status_block(pair);
}

static uint64_t pick(struct pair *pair, uint64_t limit)
{
    return random_below(&pair->random, limit);
}

/* A length with many small values and some past a round of visits. */
static uint64_t pick_length(struct pair *pair)
{
    const struct chil_upc_geometry *g = chil_upc_geometry(pair->fast);
    uint64_t round = (uint64_t)g->counters * g->slot_cycles;
    switch (pick(pair, 4)) {
    case 0: return 1 + pick(pair, 3);
    case 1: return 1 + pick(pair, 20);
    case 2: return 1 + pick(pair, 2 * round + 2);
    default: return 1 + pick(pair, UINT64_C(1) << g->low_bits);
    }
}

static void do_raise(struct pair *pair)
{
    const struct chil_upc_geometry *g = chil_upc_geometry(pair->fast);
    uint64_t high = 1 + pick(pair, 6), wires = (uint64_t)g->counters * g->inputs;
    struct chil_upc_train train = {
        .wire = (uint32_t)pick(pair, wires + (pick(pair, 50) == 0)),
        .cycle = chil_upc_now(pair->fast) + pick(pair, 30),
        .count = pick(pair, 8) == 0 ? 1 + pick(pair, 200) : 1 + pick(pair, 3),
        .period = high + pick(pair, 6),
        .high = high,
    };
    same_status(pair, "raise", chil_upc_raise(pair->fast, &train),
                chil_upc_raise(pair->reference, &train));
}

static void do_batch(struct pair *pair)
{
    const struct chil_upc_geometry *g = chil_upc_geometry(pair->fast);
    uint32_t wire = (uint32_t)pick(pair, (uint64_t)g->counters * g->inputs);
    uint64_t from = chil_upc_now(pair->fast) + pick(pair, 20), to = from + pick_length(pair);
    uint64_t occurrences = pick(pair, (to - from) / 2 + 2),
             high = occurrences + pick(pair, occurrences + 1);
    same_status(pair, "batch", chil_upc_batch(pair->fast, wire, from, to, occurrences, high),
                chil_upc_batch(pair->reference, wire, from, to, occurrences, high));
}

static void do_level(struct pair *pair)
{
    const struct chil_upc_geometry *g = chil_upc_geometry(pair->fast);
    uint32_t wire = (uint32_t)pick(pair, (uint64_t)g->counters * g->inputs);
    uint64_t cycle = chil_upc_now(pair->fast) + pick(pair, 25);
    bool level = pick(pair, 2);
    same_status(pair, "level", chil_upc_level(pair->fast, wire, cycle, level),
                chil_upc_level(pair->reference, wire, cycle, level));
}

/* Moves both on, far enough that all trains are over; sometimes not, to see the refusal. */
static void do_advance(struct pair *pair)
{
    uint64_t cycle = chil_upc_now(pair->fast) + pick_length(pair);
    for (;;) {
        int fast = chil_upc_advance(pair->fast, cycle),
            reference = chil_upc_advance(pair->reference, cycle);
        same_status(pair, "advance", fast, reference);
        if (fast == 0) break;
        cycle += 1 + cycle / 8;
    }
    same_everything(pair);
}

static void do_configure(struct pair *pair)
{
    const struct chil_upc_geometry *g = chil_upc_geometry(pair->fast);
    uint32_t c = (uint32_t)pick(pair, g->counters);
    struct chil_upc_config config = {(uint32_t)pick(pair, g->inputs + 1),
                                     (enum chil_count_mode)pick(pair, 4), pick(pair, 2)};
    same_status(pair, "configure", chil_upc_configure(pair->fast, c, &config),
                chil_upc_configure(pair->reference, c, &config));
}

static void do_run(struct pair *pair)
{
    bool start = pick(pair, 4) != 0;
    same_status(pair, start ? "start" : "stop",
                start ? chil_upc_start(pair->fast) : chil_upc_stop(pair->fast),
                start ? chil_upc_start(pair->reference) : chil_upc_stop(pair->reference));
}

/* A value near a carry, near the threshold, near the top, or anywhere. */
static uint64_t pick_value(struct pair *pair)
{
    const struct chil_upc_geometry *g = chil_upc_geometry(pair->fast);
    uint64_t near = pick(pair, 4) << g->low_bits;
    switch (pick(pair, 4)) {
    case 0: return near + pick(pair, UINT64_C(1) << g->low_bits);
    case 1: return near - 1 - pick(pair, 8);
    case 2: return UINT64_MAX - pick(pair, UINT64_C(2) << g->low_bits);
    default: return random_next(&pair->random);
    }
}

static void do_preload(struct pair *pair)
{
    uint32_t c = (uint32_t)pick(pair, chil_upc_geometry(pair->fast)->counters);
    uint64_t value = pick_value(pair);
    same_status(pair, "preload", chil_upc_preload(pair->fast, c, value),
                chil_upc_preload(pair->reference, c, value));
}

static void do_threshold(struct pair *pair)
{
    uint32_t c = (uint32_t)pick(pair, chil_upc_geometry(pair->fast)->counters);
    uint64_t value = 0;
    if (chil_upc_peek(pair->reference, c, &value)) value = 0;
    uint64_t threshold = pick(pair, 6) ? value + pick_length(pair) : pick(pair, 3);
    same_status(pair, "threshold", chil_upc_threshold(pair->fast, c, threshold),
                chil_upc_threshold(pair->reference, c, threshold));
    uint64_t a = 0, b = 0;
    same_status(pair, "distance", chil_upc_distance(pair->fast, c, &a),
                chil_upc_distance(pair->reference, c, &b));
    if (a != b) differ(pair, "distance", c, a, b);
}

static void do_store(struct pair *pair)
{
    struct chil_upc_map map;
    chil_upc_map(chil_upc_geometry(pair->fast), &map);
    unsigned width = pick(pair, 2) ? 8 : 4;
    uint64_t start =
        pick(pair, 3) ? pick(pair, map.end) : map.config + pick(pair, map.status - map.config);
    uint64_t offset = start / width * width + (pick(pair, 40) == 0);
    uint64_t value = pick(pair, 2) ? pick_value(pair) : random_next(&pair->random);
    same_status(pair, "store", chil_upc_store(pair->fast, offset, width, value),
                chil_upc_store(pair->reference, offset, width, value));
}

static void do_load(struct pair *pair)
{
    struct chil_upc_map map;
    chil_upc_map(chil_upc_geometry(pair->fast), &map);
    unsigned width = pick(pair, 3) ? 4 : 8;
    uint64_t offset = pick(pair, map.end + 16) / width * width, a = 0, b = 0;
    same_status(pair, "load", chil_upc_load(pair->fast, offset, width, &a),
                chil_upc_load(pair->reference, offset, width, &b));
    if (a != b) differ(pair, "load at", offset, a, b);
}

static void do_flip(struct pair *pair)
{
    const struct chil_upc_geometry *g = chil_upc_geometry(pair->fast);
    uint32_t c = (uint32_t)pick(pair, g->counters);
    uint32_t bit = (uint32_t)pick(pair, pick(pair, 2) ? 3 : 74);
    for (unsigned flips = 1 + (unsigned)pick(pair, 3); flips; flips--, bit++)
        same_status(pair, "flip", chil_upc_flip(pair->fast, c, bit),
                    chil_upc_flip(pair->reference, c, bit));
}

static void do_read(struct pair *pair)
{
    if (pick(pair, 4)) {
        same_counter(pair, (uint32_t)pick(pair, chil_upc_geometry(pair->fast)->counters));
        return;
    }
    for (uint32_t c = 0; c < chil_upc_geometry(pair->fast)->counters; c++)
        same_counter(pair, c);
}

/* Half of the calls drive a wire or advance; faults are rare enough to leave something to count. */
static void do_something(struct pair *pair)
{
    static void (*const calls[])(struct pair *) = {
        do_raise,     do_raise,     do_raise,   do_raise, do_batch,     do_level,
        do_level,     do_advance,   do_advance, do_read,  do_preload,   do_threshold,
        do_configure, do_configure, do_run,     do_store, do_threshold, do_load,
    };
    if (pick(pair, 60) == 0)
        do_flip(pair);
    else
        calls[pick(pair, sizeof calls / sizeof *calls)](pair);
}

static void pair_free(struct pair *pair)
{
    chil_upc_free(pair->fast);
    chil_upc_free(pair->reference);
    free(pair->fast_log);
    free(pair->reference_log);
}

static void run_program(const struct chil_upc_geometry *geometry, uint64_t seed, bool print)
{
    struct pair pair = {.random = seed, .seed = seed, .print = print};
    pair.fast_log = calloc(1, sizeof *pair.fast_log);
    pair.reference_log = calloc(1, sizeof *pair.reference_log);
    assert_int_equal(chil_upc_new(&pair.fast, geometry, CHIL_UPC_FAST, keep, pair.fast_log, NULL),
                     0);
    assert_int_equal(
        chil_upc_new(&pair.reference, geometry, CHIL_UPC_REFERENCE, keep, pair.reference_log, NULL),
        0);
    if (pick(&pair, 4)) do_run(&pair);
    for (unsigned calls = 20 + (unsigned)pick(&pair, 40); calls; calls--)
        do_something(&pair);
    do_advance(&pair);
    for (uint32_t c = 0; c < geometry->counters; c++)
        same_counter(&pair, c);
    pair_free(&pair);
}

static void run_programs(const struct chil_upc_geometry *geometry, uint64_t count, uint64_t seed)
{
    for (uint64_t i = 0; i < count; i++)
        run_program(geometry, seed + i, false);
}

static void fast_equals_reference_hostile(void **state)
{
    (void)state;
    run_programs(&geometries[HOSTILE], random_trials(60000), UINT64_C(1) << 32);
}

static void fast_equals_reference_other_geometries(void **state)
{
    (void)state;
    for (unsigned g = 1; g < BGP; g++)
        run_programs(&geometries[g], random_trials(9000), (uint64_t)(g + 1) << 32);
}

static void fast_equals_reference_bgp(void **state)
{
    (void)state;
    run_programs(&geometries[BGP], random_trials(1000), (uint64_t)(BGP + 1) << 32);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        uint64_t seed = strtoull(argv[1], NULL, 0);
        run_program(&geometries[((seed >> 32) - 1) % GEOMETRIES], seed, true);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_equals_reference_hostile),
        cmocka_unit_test(fast_equals_reference_other_geometries),
        cmocka_unit_test(fast_equals_reference_bgp),
    };
    return cmocka_run_group_tests_name("upc models", tests, NULL, NULL);
}
