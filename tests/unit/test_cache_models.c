/* The fast hierarchy against the literal one: random accesses on many configurations.
 *
 * The test is the core: where the line byte allows an access it does not call the fast model, as a
 * core would not; the literal model is always called, and must then have found nothing to do.
 * Otherwise both return the same stall. Every signal's two counts are equal at checkpoints, every
 * bit set in the tables is allowed by the literal state, and all laws hold. The first difference
 * prints seed and step; `test_cache_models SEED [STEP]` runs one seed again, comparing everything
 * after each step from STEP on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "cache_literal.h"
#include "random.h"
#include "rig_bluegene.h"

struct pair {
    struct cache *fast;
    struct literal *lit;
    struct cache_config config;
    uint64_t random, seed, step;
    uint64_t now[CACHE_CORES];
    unsigned spaces;
    uint32_t region; /* bytes that accesses go to */
    uint64_t hits, calls;
    bool marks;                 /* lines that cores contend for have no line byte (cache_order.c) */
    uint32_t last[CACHE_CORES]; /* address of the last access, for accesses that go on */
};

static uint64_t pick(struct pair *pair, uint64_t limit)
{
    return random_below(&pair->random, limit);
}

static void differ(struct pair *pair, const char *what, uint64_t where, uint64_t fast,
                   uint64_t literal)
{
    print_error("seed %llu step %llu: %s %llu: fast %llu, literal %llu\n",
                (unsigned long long)pair->seed, (unsigned long long)pair->step, what,
                (unsigned long long)where, (unsigned long long)fast, (unsigned long long)literal);
    fail();
}

/* --- Configurations -------------------------------------------------------------------------- */

/* Anything that cache_config_check lets through: mostly tiny, so that all that is rare happens
 * often. */
static struct cache_config any_config(struct pair *pair)
{
    struct cache_config c = rig_bluegene_round(pick(pair, 2));
    struct cache_l1_config *l1[] = {&c.l1i, &c.l1d};
    c.cores = 1 + (unsigned)pick(pair, 6);
    for (unsigned i = 0; i < 2; i++) {
        l1[i]->line = 32U << pick(pair, 3);
        l1[i]->ways = 1 + (uint32_t)pick(pair, 12);
        l1[i]->size = (uint64_t)l1[i]->line * l1[i]->ways << pick(pair, 4);
        l1[i]->policy = pick(pair, 3) ? CACHE_ROUND_ROBIN : (enum cache_policy)pick(pair, 3);
    }
    c.write_through = pick(pair, 2);
    c.store_allocate = pick(pair, 2);
    c.fills = 1 + (uint32_t)pick(pair, 4);
    c.stores = 1 + (uint32_t)pick(pair, 6);
    c.store_lines = 1 + (uint32_t)pick(pair, CACHE_OPEN_LINES);
    c.tlb_entries = 1 + (uint32_t)pick(pair, 16);
    c.page = 1024U << pick(pair, 10);
    c.l2_entries = (uint32_t)pick(pair, 20);
    c.l2_streams = (uint32_t)pick(pair, 9);
    c.l2_depth = (uint32_t)pick(pair, 5);
    c.l2_filter = 1 + (uint32_t)pick(pair, 9);
    c.l2_line = 128U << pick(pair, 2);
    c.l3_line = c.l2_line << pick(pair, 2);
    c.l3_banks = 1U << pick(pair, 3);
    c.l3_ways = 1 + (uint32_t)pick(pair, 9);
    c.l3_size = pick(pair, 8) ? (uint64_t)c.l3_banks * c.l3_line * c.l3_ways << pick(pair, 5) : 0;
    c.l3_policy = (enum cache_policy)pick(pair, 3);
    c.l3_refresh_interval = (uint32_t)pick(pair, 3) * 1000;
    c.l3_refresh = c.l3_refresh_interval ? (uint32_t)pick(pair, 9) : 0;
    c.controllers = 1 + (uint32_t)pick(pair, 3);
    c.ddr_row = 1024U << pick(pair, 4);
    c.coherent = pick(pair, 2);
    c.snoop_filter = c.coherent && pick(pair, 3);
    c.snoop_streams = 1 + (uint32_t)pick(pair, 8);
    c.snoop_lines = (uint32_t)pick(pair, 9);
    c.seed = pick(pair, 1000);
    c.miss_kinds =
        pair->region <= 64 << 10 && !pick(pair, 4); /* the literal model searches lists */
    return c;
}

/* --- Comparing ------------------------------------------------------------------------------- */

static void same_counts(struct pair *pair)
{
    struct literal_difference found;
    if (literal_differs(pair->lit, pair->fast, &found))
        differ(pair, found.name, 0, found.fast, found.literal);
    for (unsigned i = 0; i < cache_law_count; i++)
        if (cache_law_error(pair->fast, &cache_laws[i])) differ(pair, cache_laws[i].text, i, 1, 0);
}

static void bits_are_right(struct pair *pair)
{
    enum { BITS = CACHE_LOAD | CACHE_STORE | CACHE_FETCH };
    for (unsigned core = 0; core < pair->config.cores; core++)
        for (unsigned space = 0; space < pair->spaces; space++) {
            const uint8_t *lines = cache_lines(pair->fast, core, space);
            for (uint32_t at = 0; at < pair->region; at += 32) {
                unsigned bits = lines[at >> CACHE_GRANULE_BITS] & BITS;
                if (bits & ~literal_allows(pair->lit, core, space, at))
                    differ(pair, "line byte", at, bits, literal_allows(pair->lit, core, space, at));
            }
        }
}

/* Set by the command line: which step to begin whole comparisons with. */
static bool print;
static uint64_t look_from;

/* --- Steps ----------------------------------------------------------------------------------- */

static uint32_t pick_address(struct pair *pair, unsigned core)
{
    uint32_t address;
    switch (pick(pair, 8)) {
    case 0: address = (uint32_t)pick(pair, pair->region); break;
    case 1:
        address = (uint32_t)pick(pair, pair->region < 2048 ? pair->region : 2048);
        break; /* shared a lot */
    case 2:
    case 3: address = pair->last[core]; break;
    case 4: address = pair->last[core] + 128; break;
    default: address = pair->last[core] + 8 * (uint32_t)pick(pair, 8); break;
    }
    return pair->last[core] = address % (pair->region - 16);
}

static void access_both(struct pair *pair, unsigned core, unsigned space, uint32_t address,
                        uint32_t size, enum cache_bit bit)
{
    const uint8_t *lines = cache_lines(pair->fast, core, space);
    uint64_t now = pair->now[core];
    uint32_t fast = 0, literal;
    bool is_one = address >> CACHE_GRANULE_BITS == (address + size - 1) >> CACHE_GRANULE_BITS;
    bool free = is_one && lines[address >> CACHE_GRANULE_BITS] & bit;
    pair->hits += free;
    pair->calls += !free;
    if (bit == CACHE_LOAD) {
        if (!free) fast = cache_load(pair->fast, core, space, address, size, now);
        literal = literal_load(pair->lit, core, space, address, size, now);
    } else if (bit == CACHE_STORE) {
        if (!free) fast = cache_store(pair->fast, core, space, address, size, now);
        literal = literal_store(pair->lit, core, space, address, size, now);
    } else {
        if (!free) fast = cache_fetch(pair->fast, core, space, address, now);
        literal = literal_fetch(pair->lit, core, space, address, now);
    }
    if (fast != literal) differ(pair, "stall at address", address, fast, literal);
    enum cache_policy policy =
        bit == CACHE_FETCH ? pair->config.l1i.policy : pair->config.l1d.policy;
    bool changes = policy == CACHE_LRU || (pair->config.miss_kinds && bit != CACHE_FETCH);
    if (is_one && !changes && (!pair->marks || bit == CACHE_FETCH) &&
        !(lines[address >> CACHE_GRANULE_BITS] & bit))
        differ(pair, "no bit after an access of kind", bit, 0, 1);
    pair->now[core] += literal + pick(pair, 6);
}

static void manage_both(struct pair *pair, unsigned core, unsigned space, uint32_t address)
{
    enum cache_op op = (enum cache_op)pick(pair, CACHE_INVALIDATE_CODE + 1);
    uint32_t fast = cache_manage(pair->fast, op, core, space, address, pair->now[core]);
    uint32_t literal = literal_manage(pair->lit, op, core, space, address, pair->now[core]);
    if (fast != literal) differ(pair, "stall of operation", op, fast, literal);
    pair->now[core] += literal + 1;
}

static void map_both(struct pair *pair)
{
    unsigned space = (unsigned)pick(pair, pair->spaces), from = (unsigned)pick(pair, pair->spaces);
    uint32_t pages = pair->region / 4096, page = (uint32_t)pick(pair, pages),
             other = (uint32_t)pick(pair, pages);
    switch (pick(pair, 20)) {
    case 0:
        cache_space_free(pair->fast, space);
        literal_space_free(pair->lit, space);
        assert_int_equal(cache_space_new(pair->fast), space);
        assert_int_equal(literal_space_new(pair->lit), space);
        break;
    case 1:
    case 2:
        if (space == from && page == other) break;
        cache_share(pair->fast, space, page * 4096, from, other * 4096, 4096);
        literal_share(pair->lit, space, page * 4096, from, other * 4096, 4096);
        break;
    case 3:
        cache_recheck(pair->fast, space, page * 4096, 4096);
        break; /* nothing that the literal model has */
    default: {
        uint32_t address = page * 4096 + (uint32_t)pick(pair, 4096);
        uint64_t length = pick(pair, 3 * 4096);
        cache_forget(pair->fast, space, address, length);
        literal_forget(pair->lit, space, address, length);
    }
    }
}

static void step(struct pair *pair)
{
    unsigned core = (unsigned)pick(pair, pair->config.cores),
             space = (unsigned)pick(pair, pair->spaces);
    uint32_t address = pick_address(pair, core);
    uint64_t kind = pick(pair, 1000);
    if (kind < 430)
        access_both(pair, core, space, address, 1U << pick(pair, 5), CACHE_LOAD);
    else if (kind < 730)
        access_both(pair, core, space, address, 1U << pick(pair, 5), CACHE_STORE);
    else if (kind < 930)
        access_both(pair, core, space, address & ~3U, 4, CACHE_FETCH);
    else if (kind < 980)
        manage_both(pair, core, space, address);
    else if (kind < 990) {
        uint32_t fast = cache_sync(pair->fast, core, pair->now[core]);
        uint32_t literal = literal_sync(pair->lit, core, pair->now[core]);
        if (fast != literal) differ(pair, "stall of sync on core", core, fast, literal);
        pair->now[core] += literal;
    } else if (kind < 994)
        assert_int_equal(cache_device(pair->fast, core, kind & 1, pair->now[core]),
                         literal_device(pair->lit, core, kind & 1, pair->now[core]));
    else if (kind < 996)
        map_both(pair);
    else
        pair->now[core] += pick(pair, 400);
}

static void run(uint64_t seed, const struct cache_config *config, uint32_t region, uint64_t steps)
{
    struct pair pair = {.random = seed, .seed = seed, .region = region};
    struct chil_error err;
    do
        pair.config = config ? *config : any_config(&pair);
    while (cache_config_check(&pair.config, &err));
    pair.fast = cache_new(&pair.config);
    pair.lit = literal_new(&pair.config);
    for (pair.spaces = 0; pair.spaces < 1 + seed % 3; pair.spaces++) {
        (void)cache_space_new(pair.fast);
        (void)literal_space_new(pair.lit);
    }
    pair.marks = seed % 2 && pair.config.coherent;
    for (unsigned core = 0; pair.marks && core < pair.config.cores; core++)
        cache_order(pair.fast, core, UINT64_MAX - 1); /* none waits */
    for (pair.step = 1; pair.step <= steps; pair.step++) {
        step(&pair);
        bool look =
            print ? pair.step >= look_from : (pair.step & (pair.step - 1)) == 0 && pair.step > 16;
        if (look) bits_are_right(&pair);
        if (look) same_counts(&pair);
    }
    bits_are_right(&pair);
    same_counts(&pair);
    literal_free(pair.lit);
    cache_free(pair.fast);
}

/* --- Tests ----------------------------------------------------------------------------------- */

static void fast_equals_literal_on_any_configuration(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= random_trials(200); seed++)
        run(seed, NULL, seed % 5 ? 64 << 10 : 1 << 20, 10000);
}

static void fast_equals_literal_bgp(void **state)
{
    struct cache_config config = rig_bluegene_round(true);
    (void)state;
    for (uint64_t seed = 1; seed <= random_trials(10); seed++)
        run(seed, &config, 64U << 10 << seed % 8, 100000);
}

static void fast_equals_literal_bgl(void **state)
{
    struct cache_config config = rig_bluegene_round(false);
    (void)state;
    for (uint64_t seed = 1; seed <= random_trials(10); seed++)
        run(seed, &config, 64U << 10 << seed % 8, 100000);
}

/* Misses by kind, with L3 small enough for the literal model's lists. */
static void fast_equals_literal_with_kinds_of_misses(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= random_trials(6); seed++) {
        struct cache_config config = rig_bluegene_round(seed % 2);
        config.miss_kinds = true;
        config.l3_size = 64 << 10;
        run(seed, &config, 32U << 10 << seed % 4, 20000);
    }
}

/* A seed of the first test again, compared whole from one step on: finds where a difference begins.
 */
static void run_one(const char *seed, const char *from)
{
    print = from != NULL;
    look_from = from ? strtoull(from, NULL, 0) : 0;
    uint64_t number = strtoull(seed, NULL, 0);
    run(number, NULL, number % 5 ? 64 << 10 : 1 << 20, 10000);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_equals_literal_on_any_configuration),
        cmocka_unit_test(fast_equals_literal_bgp),
        cmocka_unit_test(fast_equals_literal_bgl),
        cmocka_unit_test(fast_equals_literal_with_kinds_of_misses),
    };
    if (argc > 1) {
        run_one(argv[1], argv[2]);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
