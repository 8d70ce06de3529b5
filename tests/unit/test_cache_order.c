/* Accesses that other cores see, in the order of simulated time (src/machine/cache/cache_order.c).
 *
 * Random programs of one to six cores run twice: on the literal hierarchy access by access, always
 * the earliest of all cores, at the same cycle of the lowest core; and on the fast one in turns of
 * a random quantum, as src/machine/os/os_sched.c gives them, where a core stops before accesses
 * that wait. Every access comes at the same cycle and takes the same stall, and every signal counts
 * the same. What the cores do to lines of their own is then in no order, so such accesses are hits,
 * or take the same time wherever the line is and only L1's signals are compared.
 *
 * First each core goes through all common lines in the order of time, so that they are contended:
 * of a line that is taken for the first time the order is not exact.
 *
 * Planted: no line is contended, contended lines keep their fast path, cache management does not
 * wait, an access at the limit does not wait (a tie goes to the higher core): all fail. order_waits
 * looks at the first line of an access only, not at others' L1D, not at others' open lines for a
 * store, or for a load: what_waits_for_other_cores fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cache_literal.h"
#include "random.h"
#include "rig_bluegene.h"

enum { CORES = 6, COMMON = 6, LINE = 32, OWN_LINES = 24, LENGTH = 400, OWN = 1 << 20 };

enum kind { LOAD, STORE, ZERO, FLUSH, CLEAN, SYNC, KINDS };
struct access {
    enum kind kind;
    uint32_t address, size;
    uint64_t gap;         /* cycles of other work before it */
    uint64_t when, stall; /* as the literal hierarchy has it */
};

struct race {
    struct cache_config config;
    struct cache *fast;
    struct literal *lit;
    uint64_t random, seed;
    uint64_t now[CORES], literal_now[CORES];
    unsigned next[CORES], length;
    struct access program[CORES][LENGTH];
    uint64_t waits, free;
};

static uint64_t pick(struct race *race, uint64_t limit)
{
    return random_below(&race->random, limit);
}

/* --- Programs -------------------------------------------------------------------------------- */

/* Common lines are in four sets of L1D, in two frames; a core's own in others, in a page of its
 * own: no common line evicts one. */
static uint32_t common_line(unsigned i)
{
    return i / 4 * 4096 + i % 4 * LINE;
}

static uint32_t own_line(unsigned core, unsigned i)
{
    return OWN + core * 4096 + (4 + i % 12) * LINE + i / 12 * 512;
}

static struct access common_access(struct race *race)
{
    uint64_t kind = pick(race, 20);
    uint32_t line = common_line((unsigned)pick(race, COMMON));
    struct access access = {kind < 9    ? LOAD
                            : kind < 17 ? STORE
                                        : (enum kind)(ZERO + pick(race, KINDS - ZERO)),
                            line + 4 * (uint32_t)pick(race, 8),
                            4,
                            pick(race, 12),
                            0,
                            0};
    if (access.kind == ZERO) access.address = line;
    return access;
}

/* Loads of lines in L1D; or, `anything`, loads and stores anywhere in 64 KB. */
static struct access own_access(struct race *race, unsigned core, bool anything)
{
    if (!anything)
        return (struct access){
            LOAD, own_line(core, (unsigned)pick(race, OWN_LINES)), 4, pick(race, 30), 0, 0};
    uint32_t offset = 4 * (uint32_t)pick(race, pick(race, 2) ? 64 : 16384);
    return (struct access){pick(race, 2) ? LOAD : STORE,
                           OWN + (core << 17) + offset,
                           pick(race, 8) ? 4 : 16,
                           pick(race, 30),
                           0,
                           0};
}

/* Every core uses every common line, and has its own in L1D. */
static void write_first_part(struct race *race)
{
    race->length = 0;
    for (unsigned i = 0; i < 2 * COMMON; i++, race->length++)
        for (unsigned core = 0; core < race->config.cores; core++)
            race->program[core][race->length] =
                (struct access){i < COMMON ? LOAD : STORE, common_line(i % COMMON), 4, 500, 0, 0};
    for (unsigned i = 0; i < OWN_LINES; i++, race->length++)
        for (unsigned core = 0; core < race->config.cores; core++)
            race->program[core][race->length] =
                (struct access){LOAD, own_line(core, i), 4, 500, 0, 0};
}

static void write_second_part(struct race *race, bool anything)
{
    for (race->length = 0; race->length < LENGTH; race->length++)
        for (unsigned core = 0; core < race->config.cores; core++)
            race->program[core][race->length] =
                pick(race, 3) ? common_access(race) : own_access(race, core, anything);
}

/* --- Both ways to run them ------------------------------------------------------------------- */

static uint64_t next_of(const struct race *race, const uint64_t *now, unsigned core)
{
    return race->next[core] < race->length ? now[core] + race->program[core][race->next[core]].gap
                                           : UINT64_MAX;
}

static uint32_t do_literally(struct literal *lit, unsigned core, const struct access *access,
                             uint64_t now)
{
    static const enum cache_op ops[KINDS] = {
        [ZERO] = CACHE_ZERO, [FLUSH] = CACHE_FLUSH, [CLEAN] = CACHE_CLEAN};
    switch (access->kind) {
    case LOAD: return literal_load(lit, core, 0, access->address, access->size, now);
    case STORE: return literal_store(lit, core, 0, access->address, access->size, now);
    case SYNC: return literal_sync(lit, core, now);
    default: return literal_manage(lit, ops[access->kind], core, 0, access->address, now);
    }
}

/* Access by access, the earliest first. */
static void run_literally(struct race *race)
{
    memset(race->next, 0, sizeof race->next);
    for (;;) {
        unsigned core = 0;
        for (unsigned i = 1; i < race->config.cores; i++)
            if (next_of(race, race->literal_now, i) < next_of(race, race->literal_now, core))
                core = i;
        uint64_t now = next_of(race, race->literal_now, core);
        if (now == UINT64_MAX) return;
        struct access *access = &race->program[core][race->next[core]++];
        access->when = now;
        access->stall = do_literally(race->lit, core, access, now);
        race->literal_now[core] = now + access->stall;
    }
}

static uint32_t do_fast(struct race *race, unsigned core, const struct access *access, uint64_t now)
{
    static const enum cache_op ops[KINDS] = {
        [ZERO] = CACHE_ZERO, [FLUSH] = CACHE_FLUSH, [CLEAN] = CACHE_CLEAN};
    uint32_t address = access->address, last = address + access->size - 1;
    uint8_t byte = cache_lines(race->fast, core, 0)[address >> CACHE_GRANULE_BITS];
    enum cache_bit bit = access->kind == LOAD ? CACHE_LOAD : CACHE_STORE;
    bool is_one = address >> CACHE_GRANULE_BITS == last >> CACHE_GRANULE_BITS;
    if (access->kind <= STORE && is_one && byte & bit) {
        race->free++;
        return 0;
    }
    switch (access->kind) {
    case LOAD: return cache_load(race->fast, core, 0, address, access->size, now);
    case STORE: return cache_store(race->fast, core, 0, address, access->size, now);
    case SYNC: return cache_sync(race->fast, core, now);
    default: return cache_manage(race->fast, ops[access->kind], core, 0, address, now);
    }
}

static void compare(const struct race *race, unsigned core, uint64_t now, uint32_t stall)
{
    const struct access *access = &race->program[core][race->next[core]];
    if (access->when == now && access->stall == stall) return;
    print_error("seed %llu, core %u, access %u of kind %d: fast at %llu for %u, literal at %llu "
                "for %llu\n",
                (unsigned long long)race->seed, core, race->next[core], access->kind,
                (unsigned long long)now, stall, (unsigned long long)access->when,
                (unsigned long long)access->stall);
    fail();
}

/* A turn of a core: to the end of its quantum, or to an access that waits. */
static void turn(struct race *race, unsigned core, uint64_t limit, uint64_t quantum)
{
    uint64_t end = next_of(race, race->now, core) + quantum;
    cache_order(race->fast, core, limit);
    do {
        uint64_t now = next_of(race, race->now, core);
        uint32_t stall = do_fast(race, core, &race->program[core][race->next[core]], now);
        if (stall == CACHE_WAITS) {
            race->waits++;
            assert_true(now >= limit);
            return;
        }
        compare(race, core, now, stall);
        race->now[core] = now + stall;
        race->next[core]++;
    } while (next_of(race, race->now, core) < end);
}

static void run_in_turns(struct race *race, uint64_t quantum_most)
{
    memset(race->next, 0, sizeof race->next);
    for (;;) {
        unsigned core = 0;
        uint64_t limit = UINT64_MAX - 1;
        for (unsigned i = 1; i < race->config.cores; i++)
            if (next_of(race, race->now, i) < next_of(race, race->now, core)) core = i;
        if (next_of(race, race->now, core) == UINT64_MAX) return;
        for (unsigned i = 0; i < race->config.cores; i++) {
            uint64_t other = i == core ? UINT64_MAX : next_of(race, race->now, i);
            if (other < limit) limit = other + (core < i);
        }
        turn(race, core, limit, quantum_most ? 1 + pick(race, quantum_most) : 0);
    }
}

/* --- Comparing ------------------------------------------------------------------------------- */

static bool is_of_l1(const char *name)
{
    return strstr(name, ".l1d.") || strstr(name, ".dtlb.") || strstr(name, ".stall.");
}

static void same_signals(struct race *race, bool all)
{
    char name[CACHE_NAME];
    unsigned compared = 0;
    for (unsigned id = 0; id < CACHE_SIGNALS; id++)
        for (uint32_t i = 0; i < cache_signal_instances(race->fast, (enum cache_signal_id)id);
             i++) {
            struct cache_signal signal = {(enum cache_signal_id)id, i};
            uint64_t fast[2], literal[2];
            cache_signal_name(signal, name);
            if (!all && !is_of_l1(name)) continue;
            cache_signal_count(race->fast, signal, &fast[0], &fast[1]);
            literal_count(race->lit, signal, &literal[0], &literal[1]);
            if (fast[0] != literal[0] || fast[1] != literal[1])
                fail_msg("seed %llu: %s: fast %llu for %llu, literal %llu for %llu",
                         (unsigned long long)race->seed, name, (unsigned long long)fast[0],
                         (unsigned long long)fast[1], (unsigned long long)literal[0],
                         (unsigned long long)literal[1]);
            compared++;
        }
    assert_true(compared > 20);
}

static void run(const struct cache_config *config, uint64_t seed, bool anything)
{
    struct race *race = test_calloc(1, sizeof *race);
    race->config = *config;
    race->random = race->seed = seed;
    race->config.cores = 1 + (unsigned)pick(race, CORES);
    race->fast = cache_new(&race->config);
    race->lit = literal_new(&race->config);
    (void)cache_space_new(race->fast);
    (void)literal_space_new(race->lit);
    write_first_part(race);
    run_literally(race);
    run_in_turns(race, 0);
    for (unsigned part = 0; part < 4; part++) {
        write_second_part(race, anything);
        run_literally(race);
        run_in_turns(race, 1 + pick(race, 3000));
        same_signals(race, !anything);
    }
    assert_true(race->config.cores == 1 || (race->waits > 100 && race->free > 10));
    for (unsigned i = 0; i < cache_law_count; i++)
        assert_int_equal(cache_law_error(race->fast, &cache_laws[i]), 0);
    literal_free(race->lit);
    cache_free(race->fast);
    test_free(race);
}

/* --- Tests ----------------------------------------------------------------------------------- */

static void turns_equal_the_order_of_time(void **state)
{
    struct cache_config config = rig_bluegene_round(true);
    (void)state;
    for (uint64_t seed = 1; seed <= random_trials(100); seed++)
        run(&config, seed, false);
}

/* All levels are as far away and serve any number of lines at once. */
static void turns_with_misses_of_own_lines_equal_the_order_of_time_in_l1(void **state)
{
    struct cache_config config = rig_bluegene_round(true);
    (void)state;
    config.l2_latency = config.l3_latency = config.ddr_latency = 50;
    config.l3_busy = config.l3_transfer = config.ddr_busy = 0;
    config.snoop_filter = false;
    for (uint64_t seed = 1; seed <= random_trials(100); seed++)
        run(&config, seed, true);
}

static void what_waits_for_other_cores(void **state)
{
    struct cache_config config = rig_bluegene_round(true);
    (void)state;
    config.cores = 3;
    struct cache *cache = cache_new(&config);
    (void)cache_space_new(cache);
    (void)cache_load(cache, 0, 0, 0, 4, 0);
    (void)cache_store(cache, 0, 0, 512, 4, 0);
    (void)cache_load(cache, 0, 0, 2048, 4, 0);
    (void)cache_load(cache, 1, 0, 1024, 4, 0);
    cache_order(cache, 1, 1000);
    cache_order(cache, 0, 1000);
    assert_int_equal(cache_store(cache, 1, 0, 0, 4, 1000), CACHE_WAITS); /* core 0 has it */
    assert_int_equal(cache_store(cache, 1, 0, 2048 - 2, 4, 1000),
                     CACHE_WAITS);                                         /* the second line */
    assert_int_equal(cache_store(cache, 1, 0, 516, 4, 1000), CACHE_WAITS); /* stores of 0 join it */
    assert_int_not_equal(cache_store(cache, 1, 0, 1024, 4, 1000),
                         CACHE_WAITS);                                    /* no other has it */
    assert_int_equal(cache_load(cache, 1, 0, 512, 4, 1000), CACHE_WAITS); /* stores of 0 join it */
    assert_int_equal(cache_load(cache, 1, 0, 512 - 2, 4, 1000), CACHE_WAITS);
    assert_int_equal(cache_load(cache, 1, 0, 512 + LINE, 4, 1000), CACHE_WAITS); /* its L2 line */
    assert_int_equal(cache_manage(cache, CACHE_FLUSH, 1, 0, 0, 1000), CACHE_WAITS);
    assert_int_not_equal(cache_load(cache, 1, 0, 0, 4, 1000), CACHE_WAITS);   /* only read */
    assert_int_not_equal(cache_store(cache, 1, 0, 512, 4, 999), CACHE_WAITS); /* in time */
    /* Now it is contended: core 0 waits even for a hit, until no other core took it for long. */
    assert_int_not_equal(cache_load(cache, 0, 0, 512, 4, 999), CACHE_WAITS);
    assert_int_equal(cache_lines(cache, 0, 0)[512 / LINE] & (CACHE_LOAD | CACHE_STORE), 0);
    assert_int_equal(cache_load(cache, 0, 0, 512, 4, 1000), CACHE_WAITS);
    assert_int_equal(cache_load(cache, 0, 0, 512, 4, 999 + (1 << 20)), CACHE_WAITS);
    assert_int_not_equal(cache_load(cache, 0, 0, 512, 4, 1000 + (1 << 20)), CACHE_WAITS);
    assert_int_equal(cache_lines(cache, 0, 0)[512 / LINE] & CACHE_LOAD, CACHE_LOAD);
    cache_free(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_equal_the_order_of_time),
        cmocka_unit_test(turns_with_misses_of_own_lines_equal_the_order_of_time_in_l1),
        cmocka_unit_test(what_waits_for_other_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
