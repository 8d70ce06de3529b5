/* Accesses of the fast path, against the literal model.
 *
 * src/machine/cache has a fast path for misses and stores of a core, on a node of Blue Gene's
 * shape. Here core 0 stores to a few lines, and in half of the runs loads many, for the first half
 * nearly alone. Everything that could make the fast path wrong happens now and then: loads that
 * move lines through L1, L2 and L3, stores of other cores, first fills, cache management, pages
 * that go and come back as others, in one space and in two that share them. Stalls are compared
 * after every step, all signals at powers of two. In half of the runs core 0 defers its misses now
 * and then: stalls are compared when it drains them, and whether it drained early enough.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "cache_literal.h"
#include "random.h"
#include "rig_bluegene.h"

enum { PAGE = 4096, PAGES = 4, STEPS = 20000 };

struct pair {
    struct cache *fast;
    struct literal *lit;
    uint64_t random, seed, step;
    uint64_t now[CACHE_CORES];
    uint64_t loads, stores, zeroes; /* on the fast path */
    bool may_defer;
    struct cache_view *deferring; /* the view that does, or NULL */
    uint64_t behind;              /* what it has still to wait for */
    uint64_t limit, until;        /* of cache_defer */
    uint64_t deferred;            /* misses */
};

static uint64_t pick(struct pair *pair, uint64_t limit)
{
    return random_below(&pair->random, limit);
}

static void same(struct pair *pair, const char *what, uint64_t fast, uint64_t literal)
{
    if (fast == literal) return;
    print_error("seed %llu step %llu: %s: fast %llu, literal %llu\n",
                (unsigned long long)pair->seed, (unsigned long long)pair->step, what,
                (unsigned long long)fast, (unsigned long long)literal);
    fail();
}

/* A small node of Blue Gene/P's shape. */
static struct cache_config config_of(struct pair *pair)
{
    bool coherent = pick(pair, 4) != 0;
    uint32_t ways = pick(pair, 8) ? 64U >> pick(pair, 4) : 24; /* 24: no fast path for loads */
    struct cache_config config = rig_bluegene_round(true);
    config.cores = 1 + (unsigned)pick(pair, 4);
    config.l1i = (struct cache_l1_config){2048, 32, 64, CACHE_ROUND_ROBIN};
    config.l1d = (struct cache_l1_config){(ways == 24 ? 1536U : 2048U) << pick(pair, 3), 32, ways,
                                          CACHE_ROUND_ROBIN};
    config.write_through = coherent && pick(pair, 4); /* else stores have no fast path */
    config.store_allocate = !pick(pair, 4);
    config.stores = 1 + (uint32_t)pick(pair, 6);
    config.store_time = 1 + (uint32_t)pick(pair, 40);
    config.store_lines = 1 + (uint32_t)pick(pair, 3);
    config.tlb_entries = 2 + (uint32_t)pick(pair, 6);
    config.page = PAGE;
    config.l2_entries = 9 + (uint32_t)pick(pair, 8);
    config.l2_streams = 1 + (uint32_t)pick(pair, 8);
    config.l2_depth = (uint32_t)pick(pair, 5);
    config.l3_size = UINT64_C(2048) << pick(pair, 4);
    config.l3_refresh_interval = 1; /* so that refreshes are the time as L3 knows it */
    config.coherent = coherent;
    config.snoop_filter = coherent;
    config.snoop_lines = 1 + (uint32_t)pick(pair, 8);
    config.l3_refresh = 0;
    return config;
}

/* --- Steps ----------------------------------------------------------------------------------- */

/* No core defers misses any more. */
static void at_once(struct pair *pair)
{
    if (!pair->deferring) return;
    same(pair, "stalls of the deferred misses", cache_defer_end(pair->deferring), pair->behind);
    pair->deferring = NULL;
    pair->behind = 0;
}

static void same_counts(struct pair *pair)
{
    struct literal_difference found;
    at_once(pair);
    if (literal_differs(pair->lit, pair->fast, &found))
        same(pair, found.name, found.fast, found.literal);
}

/* The time of an access as the deferring core knows it: without the stalls that are not drained. */
static uint64_t time_of(struct pair *pair, struct cache_view *view, uint64_t now)
{
    if (pair->deferring && (view != pair->deferring || now - pair->behind >= pair->until))
        at_once(pair);
    if (pair->deferring && now >= pair->limit)
        same(pair, "the limit, and the time", pair->limit, now);
    if (!pair->deferring && pair->may_defer && !pick(pair, 10)) {
        pair->deferring = view;
        pair->limit =
            now + (pick(pair, 2) ? UINT64_C(1) << pick(pair, 22) : 5000 + pick(pair, 20000));
        pair->until = cache_defer(view, now, pair->limit, !pick(pair, 10));
    }
    return now - pair->behind;
}

/* Before an access of the slow path. */
static void drain(struct pair *pair, uint64_t known)
{
    if (pair->deferring)
        same(pair, "stalls of the deferred misses", cache_drain(pair->deferring, known),
             pair->behind);
    pair->behind = 0;
}

static void waits(struct pair *pair, unsigned core, const char *what, uint32_t fast,
                  uint32_t literal)
{
    if (!pair->deferring) same(pair, what, fast, literal);
    if (pair->deferring) pair->behind += (uint64_t)literal - fast;
    pair->deferred += fast < literal;
    pair->now[core] += literal + pick(pair, 6);
}

static void access_both(struct pair *pair, unsigned core, unsigned space, uint32_t address,
                        enum cache_bit bit)
{
    uint64_t now = pair->now[core];
    bool free = cache_lines(pair->fast, core, space)[address >> CACHE_GRANULE_BITS] & bit;
    struct cache_view *view = cache_view(pair->fast, core, space);
    uint64_t known = time_of(pair, view, now);
    uint32_t fast = 0, literal;
    if (bit == CACHE_LOAD) {
        if (!free) fast = cache_load_fast(view, address, known);
        pair->loads += !free && fast != CACHE_SLOW;
        if (fast == CACHE_SLOW) {
            drain(pair, known);
            fast = cache_load(pair->fast, core, space, address, 8, now);
        }
        literal = literal_load(pair->lit, core, space, address, 8, now);
    } else {
        if (!free) fast = cache_store_fast(view, address, known);
        pair->stores += !free && fast != CACHE_SLOW;
        if (fast == CACHE_SLOW) {
            drain(pair, known);
            fast = cache_store(pair->fast, core, space, address, 8, now);
        }
        literal = literal_store(pair->lit, core, space, address, 8, now);
    }
    waits(pair, core, bit == CACHE_LOAD ? "stall of a load" : "stall of a store", fast, literal);
}

/* Zeroes a line, on the fast path where possible. */
static void zero_both(struct pair *pair, unsigned core, unsigned space, uint32_t address)
{
    uint64_t now = pair->now[core];
    struct cache_view *view = cache_view(pair->fast, core, space);
    uint64_t known = time_of(pair, view, now);
    uint32_t fast = cache_zero_fast(view, address, known);
    pair->zeroes += fast != CACHE_SLOW;
    if (fast == CACHE_SLOW) {
        drain(pair, known);
        fast = cache_manage(pair->fast, CACHE_ZERO, core, space, address, now);
    }
    waits(pair, core, "stall of dcbz", fast,
          literal_manage(pair->lit, CACHE_ZERO, core, space, address, now));
}

static void change_map(struct pair *pair, unsigned space, uint32_t address)
{
    uint32_t page = address & ~(uint32_t)(PAGE - 1), other = (uint32_t)pick(pair, PAGES) * PAGE;
    switch (pick(pair, 4)) {
    case 0:
        cache_space_free(pair->fast, space);
        literal_space_free(pair->lit, space);
        assert_int_equal(cache_space_new(pair->fast), space);
        assert_int_equal(literal_space_new(pair->lit), space);
        break;
    case 1: cache_recheck(pair->fast, space, page, PAGE); break;
    case 2:
        cache_share(pair->fast, space, page, !space, other, PAGE);
        literal_share(pair->lit, space, page, !space, other, PAGE);
        break;
    default:
        cache_forget(pair->fast, space, page, PAGE);
        literal_forget(pair->lit, space, page, PAGE);
    }
}

static void something_else(struct pair *pair, unsigned cores, unsigned space, uint32_t address)
{
    unsigned core = pair->step > STEPS / 2 ? (unsigned)pick(pair, cores) : 0;
    uint64_t kind = pick(pair, 1000);
    at_once(pair);
    uint32_t anywhere = (uint32_t)pick(pair, PAGES * PAGE / 8) * 8;
    if (kind < 500)
        access_both(pair, 0, space, kind < 250 ? anywhere : address, CACHE_LOAD);
    else if (kind < 600)
        access_both(pair, core, space, anywhere, CACHE_STORE);
    else if (kind < 700) /* fills nothing: the core stays idle */
        access_both(pair, (unsigned)pick(pair, cores), space, address, CACHE_STORE);
    else if (kind < 710) /* from the first of these on, a core is no longer idle */
        access_both(pair, core, space, address, CACHE_LOAD);
    else if (kind < 800) {
        enum cache_op op = (enum cache_op)pick(pair, CACHE_INVALIDATE_CODE + 1);
        if (op == CACHE_TOUCH) core = 0;
        waits(pair, core, "stall of an operation",
              cache_manage(pair->fast, op, core, space, address, pair->now[core]),
              literal_manage(pair->lit, op, core, space, address, pair->now[core]));
    } else if (kind < 900)
        for (core = 0; core < cores; core++)
            waits(pair, core, "stall of sync", cache_sync(pair->fast, core, pair->now[core]),
                  literal_sync(pair->lit, core, pair->now[core]));
    else if (kind < 980) { /* code takes lines of L2, and wakes no core */
        bool free =
            cache_lines(pair->fast, core, space)[anywhere >> CACHE_GRANULE_BITS] & CACHE_FETCH;
        waits(pair, core, "stall of a fetch",
              free ? 0 : cache_fetch(pair->fast, core, space, anywhere, pair->now[core]),
              literal_fetch(pair->lit, core, space, anywhere, pair->now[core]));
    } else
        change_map(pair, space, address);
}

static void run(uint64_t seed, uint64_t *loads, uint64_t *stores, uint64_t *zeroes,
                uint64_t *deferred)
{
    struct pair pair = {.random = seed, .seed = seed, .may_defer = seed % 2};
    struct cache_config config = config_of(&pair);
    struct chil_error err;
    uint32_t apart = 32U << pick(&pair, 6), lines = 2 + (uint32_t)pick(&pair, 6);
    uint64_t seldom = 10 + pick(&pair, 200);
    bool wide = pick(&pair, 2); /* loads of many lines too, a stream now and then */
    bool ahead =
        wide && config.cores > 1 && pick(&pair, 2); /* of which another core stores to the next */
    uint32_t stream = 0;
    assert_int_equal(cache_config_check(&config, &err), 0);
    pair.fast = cache_new(&config);
    pair.lit = literal_new(&config);
    for (unsigned i = 0; i < 2; i++) {
        (void)cache_space_new(pair.fast);
        (void)literal_space_new(pair.lit);
    }
    for (pair.step = 1; pair.step <= STEPS; pair.step++) {
        unsigned space = pick(&pair, pair.may_defer ? 200 : 20) == 0;
        uint32_t address =
            ((uint32_t)pick(&pair, lines) * apart + (uint32_t)pick(&pair, 4) * 8) % (PAGES * PAGE);
        if (ahead && !pick(&pair, 6)) {
            uint32_t next =
                (stream & ~127U) + (uint32_t)pick(&pair, 4) * 128 + (uint32_t)pick(&pair, 4) * 32;
            access_both(&pair, 1, 0, next % (PAGES * PAGE), CACHE_STORE);
        } else if (wide && pick(&pair, 2)) {
            stream = (pick(&pair, 100) ? stream + 32 : (uint32_t)pick(&pair, PAGES * PAGE)) %
                         (PAGES * PAGE) &
                     ~31U;
            address = pick(&pair, 3) ? stream : (uint32_t)pick(&pair, PAGES * PAGE / 8) * 8;
            access_both(&pair, 0, space, address, CACHE_LOAD);
        } else if (pick(&pair, seldom)) {
            enum cache_bit bit = pick(&pair, 6) ? CACHE_STORE : CACHE_LOAD;
            if (bit == CACHE_STORE && pair.step % 8 == 3)
                zero_both(&pair, 0, space, address);
            else
                access_both(&pair, 0, space, address, bit);
        } else
            something_else(&pair, config.cores, space, address);
        if ((pair.step & (pair.step - 1)) == 0) same_counts(&pair);
    }
    same_counts(&pair);
    *deferred += pair.deferred;
    *zeroes += pair.zeroes;
    *loads += pair.loads;
    *stores += pair.stores;
    literal_free(pair.lit);
    cache_free(pair.fast);
}

static void common_accesses_fast_equals_literal(void **state)
{
    uint64_t loads = 0, stores = 0, zeroes = 0, deferred = 0, trials = random_trials(60);
    (void)state;
    for (uint64_t seed = 1; seed <= trials; seed++)
        run(seed, &loads, &stores, &zeroes, &deferred);
    assert_true(loads > 100 * trials && stores > 50 * trials &&
                zeroes > 10 * trials); /* they took the fast path */
    assert_true(deferred > 100 * trials);
}

/* --- Several cores --------------------------------------------------------------------------- */

enum { OWN_PAGES = 3, SHARED_PAGES = 2, TURNS = 4000 };

/* A core's next access: mostly near the last one, in pages that are its own or in some that all
 * use. */
static uint32_t next_address(struct pair *pair, unsigned core, uint32_t last)
{
    uint32_t pages = OWN_PAGES, first = SHARED_PAGES + core * OWN_PAGES;
    if (pick(pair, 8))
        return (last & ~(uint32_t)(PAGE - 1)) | ((last + (uint32_t)pick(pair, 8) * 8) % PAGE);
    if (pick(pair, 2)) first = 0, pages = SHARED_PAGES;
    return (first + (uint32_t)pick(pair, pages)) * PAGE + (uint32_t)pick(pair, PAGE / 8) * 8;
}

/* Cores take turns; their clocks are some hundred cycles apart. */
static void run_together(uint64_t seed, uint64_t *loads, uint64_t *stores)
{
    struct pair pair = {.random = seed, .seed = seed, .may_defer = seed % 3 == 0};
    struct cache_config config = config_of(&pair);
    uint32_t last[CACHE_CORES] = {0};
    config.cores = 2 + (unsigned)pick(&pair, 5); /* also more than there are ports */
    config.coherent = config.snoop_filter = config.write_through = true;
    config.store_allocate = false;
    config.store_lines = 1 + (uint32_t)pick(&pair, 6);
    config.tlb_entries = 4U << pick(&pair, 5);
    config.l3_size = UINT64_C(16384) << pick(&pair, 3);
    pair.fast = cache_new(&config);
    pair.lit = literal_new(&config);
    (void)cache_space_new(pair.fast);
    (void)literal_space_new(pair.lit);
    for (pair.step = 1; pair.step <= TURNS; pair.step++) {
        unsigned core = (unsigned)pick(&pair, config.cores);
        for (unsigned other = 0; pick(&pair, 8) && other < config.cores; other++)
            if (pair.now[other] < pair.now[core]) core = other;
        for (uint64_t left = 1 + pick(&pair, 30); left; left--) {
            last[core] = next_address(&pair, core, last[core]);
            enum cache_bit bit = pick(&pair, 3) ? CACHE_LOAD : CACHE_STORE;
            if (seed % 2 && bit == CACHE_STORE && left % 8 == 3)
                zero_both(&pair, core, 0, last[core]);
            else
                access_both(&pair, core, 0, last[core], bit);
        }
        if (!pick(&pair, 50)) {
            at_once(&pair);
            waits(&pair, core, "stall of sync", cache_sync(pair.fast, core, pair.now[core]),
                  literal_sync(pair.lit, core, pair.now[core]));
        }
        if ((pair.step & (pair.step - 1)) == 0 || !pick(&pair, 200)) same_counts(&pair);
    }
    same_counts(&pair);
    *loads += pair.loads;
    *stores += pair.stores;
    literal_free(pair.lit);
    cache_free(pair.fast);
}

static void cores_that_take_turns_fast_equals_literal(void **state)
{
    uint64_t loads = 0, stores = 0, trials = random_trials(24);
    (void)state;
    for (uint64_t seed = 41; seed < 41 + trials; seed++) /* 54 found something */
        run_together(seed, &loads, &stores);
    assert_true(loads > 4000 * trials && stores > 1000 * trials);
}

/* A node with a fast path for loads and stores. */
static struct cache_config fast_path_config(void)
{
    struct pair pair = {.random = 1};
    struct cache_config config = config_of(&pair);
    config.cores = 2;
    config.coherent = config.snoop_filter = config.write_through = true;
    config.store_allocate = false;
    config.l2_depth = 2;
    return config;
}

/* A pair with that configuration, whose core 0 defers from the beginning. */
static struct pair deferring_pair(struct cache_config config, uint64_t limit)
{
    struct pair pair = {.random = 1, .fast = cache_new(&config), .lit = literal_new(&config)};
    (void)literal_space_new(pair.lit);
    pair.deferring = cache_view(pair.fast, 0, cache_space_new(pair.fast));
    pair.limit = limit;
    pair.until = cache_defer(pair.deferring, 0, limit, false);
    return pair;
}

static void pair_free(struct pair *pair)
{
    same_counts(pair);
    literal_free(pair->lit);
    cache_free(pair->fast);
}

/* Loads of one set of L1D, so that it never wraps, and stores, until the logs of both have been
 * full several times. */
static void logs_of_deferred_misses_are_drained(void **state)
{
    (void)state;
    for (unsigned stores = 0; stores <= 2; stores++) {
        struct cache_config config = fast_path_config();
        config.l1d = (struct cache_l1_config){32768, 32, 64, CACHE_ROUND_ROBIN};
        config.tlb_entries = 64;
        struct pair pair = deferring_pair(config, UINT64_C(1) << 40);
        for (pair.step = 1; pair.step <= 15000; pair.step++) {
            uint32_t n = (uint32_t)pair.step;
            if (n % 3 < stores)
                access_both(&pair, 0, 0, n * 32 % (32 * PAGE), CACHE_STORE);
            else
                access_both(&pair, 0, 0, n * 512 % (32 * PAGE), CACHE_LOAD);
        }
        pair_free(&pair);
    }
}

/* Zeroes a line on the slow path. */
static void zero_slowly(struct pair *pair, uint32_t address)
{
    uint64_t now = pair->now[0];
    drain(pair, time_of(pair, cache_view(pair->fast, 0, 0), now));
    waits(pair, 0, "stall of dcbz", cache_manage(pair->fast, CACHE_ZERO, 0, 0, address, now),
          literal_manage(pair->lit, CACHE_ZERO, 0, 0, address, now));
}

/* Stores make DDR busy for much longer than they take, on either path; a load then has to wait.
 * That it does so by its limit is known in time. */
static void deferred_misses_are_drained_before_the_limit(void **state)
{
    uint64_t early = 0, trials = random_trials(10), step = trials < 10 ? 5000 : 3000;
    (void)state;
    for (uint64_t limit = 15000; limit < 45000; limit += step) { /* odd and even thousands */
        struct cache_config config = fast_path_config();
        config.tlb_entries = 64;
        config.store_time = 1;
        config.l1d = (struct cache_l1_config){2048, 32, 64, CACHE_ROUND_ROBIN};
        struct pair pair = deferring_pair(config, limit);
        for (uint32_t i = 0; i < PAGE; i += 32) /* L1D is full, and its loads take the fast path */
            access_both(&pair, 0, 0, (1 << 20) + i, CACHE_LOAD);
        for (pair.step = 1; pair.deferring; pair.step++) {
            uint32_t n = (uint32_t)pair.step;
            if (n % 1000 == 0)
                access_both(&pair, 0, 0, (1 << 20) + n / 1000 % 32 * 128, CACHE_LOAD);
            else if (limit % 2000)
                access_both(&pair, 0, 0, n * 128 % (1 << 20), CACHE_STORE);
            else
                zero_slowly(&pair, n * 128 % (1 << 20));
        }
        early += pair.now[0] < limit;
        pair_free(&pair);
    }
    assert_true(early > 10000 / step); /* a third: or nothing would have been deferred near it */
}

/* The fast path does not look at rights: when they have changed, the next access takes the slow
 * path. */
static void changed_rights_lead_to_the_slow_path(void **state)
{
    struct cache_config config = fast_path_config();
    (void)state;
    struct cache *cache = cache_new(&config);
    struct cache_view *view = cache_view(cache, 0, cache_space_new(cache));
    uint64_t now = 0;
    for (uint32_t i = 0; i < 4 * PAGE;
         i += 32) { /* fills L1, and opens as many lines as there are */
        now += 1000 + cache_load(cache, 0, 0, 4 * PAGE + i, 4, now);
        now += 1000 + cache_store(cache, 0, 0, 4 * PAGE + i, 4, now);
    }
    now += cache_load(cache, 0, 0, 0, 4, now) + cache_store(cache, 0, 0, 32, 4, now);
    assert_int_not_equal(cache_load_fast(view, 64, now + 1000), CACHE_SLOW);
    assert_int_not_equal(cache_store_fast(view, 96, now + 2000), CACHE_SLOW);
    cache_recheck(cache, 0, 0, PAGE);
    assert_int_equal(cache_load_fast(view, 128, now + 3000), CACHE_SLOW);
    assert_int_equal(cache_store_fast(view, 160, now + 3000), CACHE_SLOW);
    /* Likewise in a page that has left the TLB. */
    for (unsigned asked = 0; asked < 2; asked++) {
        now += 10000 + cache_load(cache, 0, 0, 192, 4, now);
        now += 10000 + cache_store(cache, 0, 0, 224, 4, now);
        for (uint32_t i = 0; i < 4 * PAGE; i += 32) {
            now += 10000 + cache_load(cache, 0, 0, 4 * PAGE + i, 4, now);
            now += 10000 + cache_store(cache, 0, 0, 4 * PAGE + i, 4, now);
        }
        if (asked) cache_recheck(cache, 0, 0, PAGE);
        assert_int_equal(cache_load_fast(view, 256 + 64 * asked, now) == CACHE_SLOW, asked);
        now += 10000;
        assert_int_equal(cache_store_fast(view, 288 + 64 * asked, now) == CACHE_SLOW, asked);
    }
    cache_free(cache);
}

/* A store opens a line, its page is unmapped and gets another frame, where a store opens the line
 * at the same address: when the first line is closed, the second stays open. */
static void a_line_is_not_closed_for_another(void **state)
{
    struct cache_config config = fast_path_config();
    struct cache_signal signal;
    uint64_t now = 0, before, after, high;
    (void)state;
    config.store_lines = 3;
    struct cache *cache = cache_new(&config);
    assert_int_equal(cache_space_new(cache), 0);
    assert_true(cache_signal_find(cache, "l2.0.write.memory", &signal));
    now += 1000 + cache_store(cache, 0, 0, 0, 4, now);
    cache_forget(cache, 0, 0, PAGE);
    now += 1000 + cache_store(cache, 0, 0, PAGE + 64, 4, now); /* takes the frame */
    now += 1000 + cache_store(cache, 0, 0, 0, 4, now);
    now += 1000 + cache_store(cache, 0, 0, 32, 4, now); /* closes the first line */
    cache_signal_count(cache, signal, &before, &high);
    (void)cache_store(cache, 0, 0, 0, 4, now);
    cache_signal_count(cache, signal, &after, &high);
    assert_int_equal(after, before);
    cache_free(cache);
}

/* A core whose clock is behind comes to a directory of L3 after one that took the fast path: the
 * later time stands. */
static void time_of_l3_does_not_go_back(void **state)
{
    struct cache_config config = fast_path_config();
    struct cache_signal signal;
    uint64_t now = 0, rises, high;
    (void)state;
    config.l3_size = 65536;
    config.tlb_entries = 64;
    struct cache *cache = cache_new(&config);
    struct cache_view *view = cache_view(cache, 0, cache_space_new(cache));
    assert_true(cache_signal_find(cache, "l3.edram.refresh", &signal));
    for (uint32_t i = 0; i < 4 * PAGE; i += 32)
        now += 1000 + cache_load(cache, 0, 0, i, 4, now);
    now += 1000;
    assert_int_equal(cache_load_fast(view, 0, now), config.l3_latency - config.l1_latency);
    (void)cache_store(cache, 1, 0, 0, 4, 10);
    cache_signal_count(cache, signal, &rises, &high);
    assert_int_equal(rises, now);
    cache_free(cache);
}

/* The core that was first in L3 has its clock ahead, and the other one's load takes the fast path.
 */
static void time_of_l3_does_not_go_back_by_a_load(void **state)
{
    struct cache_config config = fast_path_config();
    struct cache_signal signal;
    uint64_t now = 0, rises, high;
    (void)state;
    config.l3_size = 65536;
    config.tlb_entries = 64;
    struct cache *cache = cache_new(&config);
    unsigned space = cache_space_new(cache);
    assert_true(cache_signal_find(cache, "l3.edram.refresh", &signal));
    for (uint32_t i = 0; i < 4 * PAGE; i += 32)
        for (unsigned core = 0; core < 2; core++)
            now += 1000 + cache_load(cache, core, space, i, 4, now);
    uint64_t behind = now + 1000;
    now = behind + 500;
    assert_int_equal(cache_load_fast(cache_view(cache, 0, space), 0, now),
                     config.l3_latency - config.l1_latency);
    assert_int_equal(cache_load_fast(cache_view(cache, 1, space), 0, behind),
                     config.l3_latency - config.l1_latency);
    cache_signal_count(cache, signal, &rises, &high);
    assert_int_equal(rises, now);
    cache_free(cache);
}

/* An instruction in the middle of a block stops: the core's time goes back a little, behind which a
 * load meets the last one in L3. Whether that was deferred makes no difference. */
static void a_core_whose_time_goes_back(void **state)
{
    struct cache_config config = fast_path_config();
    struct cache *caches[2];
    (void)state;
    config.l3_size = 65536;
    config.tlb_entries = 64;
    for (unsigned i = 0; i < 2; i++) {
        struct cache *cache = caches[i] = cache_new(&config);
        struct cache_view *view = cache_view(cache, 0, cache_space_new(cache));
        uint64_t now = 0;
        for (uint32_t at = 0; at < 4 * PAGE; at += 32)
            now += 1000 + cache_load(cache, 0, 0, at, 4, now);
        now += 1000;
        if (i) (void)cache_defer(view, now, now + 1000000, false);
        uint64_t stall = cache_load_fast(view, 0, now);
        if (i) stall += cache_defer_end(view);
        assert_int_equal(stall, config.l3_latency - config.l1_latency);
        (void)cache_load(cache, 0, 0, 2 * PAGE + 512, 4, now + stall - 1);
    }
    for (unsigned id = 0; id < CACHE_SIGNALS; id++)
        for (uint32_t i = 0; i < cache_signal_instances(caches[0], (enum cache_signal_id)id); i++) {
            struct cache_signal signal = {(enum cache_signal_id)id, i};
            uint64_t rises[2], high[2];
            for (unsigned k = 0; k < 2; k++)
                cache_signal_count(caches[k], signal, &rises[k], &high[k]);
            assert_int_equal(rises[0], rises[1]);
            assert_int_equal(high[0], high[1]);
        }
    cache_free(caches[0]);
    cache_free(caches[1]);
}

/* A core that does nothing notices more stores than its log has room for, and only then goes on. */
static void logs_of_snoops_are_taken_in(void **state)
{
    struct cache_config config = fast_path_config();
    (void)state;
    config.tlb_entries = 64;
    config.l3_size = 65536;
    struct pair pair = {.random = 1, .fast = cache_new(&config), .lit = literal_new(&config)};
    (void)cache_space_new(pair.fast);
    (void)literal_space_new(pair.lit);
    for (unsigned core = 0; core < 2; core++)
        for (uint32_t i = 0; i < 2 * PAGE; i += 32)
            access_both(&pair, core, 0, i + 2 * PAGE * core, CACHE_LOAD);
    for (unsigned round = 0; round < 3; round++) {
        for (pair.step = 1; pair.step < 3000 + 2000 * round; pair.step++)
            access_both(&pair, 0, 0, (uint32_t)pair.step * 32 % (2 * PAGE), CACHE_STORE);
        for (uint32_t i = 0; i < 2 * PAGE; i += 32)
            access_both(&pair, 1, 0, i + 2 * PAGE, CACHE_LOAD);
    }
    assert_true(pair.stores > 10000);
    pair_free(&pair);
}

/* --- Listening ------------------------------------------------------------------------------- */

enum { KINDS = CACHE_INVALIDATION + 1, LEVELS = CACHE_IN_DDR + 1, STALLS = 2048 };

/* What a listener was notified of, and in how many calls; in rounds, which the listener knows and
 * the hierarchy does not.
 */
struct ear {
    struct cache_listener listener;
    struct cache *cache;
    unsigned round;
    uint64_t calls, notified;
    uint32_t count[2][CACHE_PORTS][KINDS][LEVELS][STALLS];
};

static void hear_alike(void *context, struct cache_transaction t, uint32_t stall, uint64_t count)
{
    struct ear *ear = context;
    assert_true(stall < STALLS);
    ear->calls++;
    ear->notified += count;
    ear->count[ear->round][t.core][t.kind][t.level][stall] += (uint32_t)count;
}

static void hear(void *context, struct cache_transaction t, uint64_t start, uint64_t end)
{
    hear_alike(context, t, (uint32_t)(end - start), 1);
}

/* The same access of both, which wait equally. */
static uint32_t access_ears(struct ear *ears, uint64_t kind, unsigned core, uint32_t address,
                            uint64_t now)
{
    uint32_t stall[2];
    for (unsigned i = 0; i < 2; i++) {
        struct cache *cache = ears[i].cache;
        uint8_t bits = cache_lines(cache, core, 0)[address >> CACHE_GRANULE_BITS];
        if (kind < 60)
            stall[i] = bits & CACHE_LOAD ? 0 : cache_load(cache, core, 0, address, 8, now);
        else if (kind < 98)
            stall[i] = bits & CACHE_STORE ? 0 : cache_store(cache, core, 0, address, 8, now);
        else
            stall[i] = bits & CACHE_FETCH ? 0 : cache_fetch(cache, core, 0, address, now);
    }
    assert_int_equal(stall[0], stall[1]);
    return stall[0];
}

/* The first listener is notified of every miss when it happens, the second most of them late and
 * together.
 */
static void listen_to(uint64_t seed, struct ear *ears)
{
    struct pair pair = {.random = seed, .seed = seed};
    struct cache_config config = config_of(&pair);
    if (pick(&pair, 3) == 0) config.store_time = 400; /* stalls that are too long to be counted */
    for (unsigned i = 0; i < 2; i++) {
        ears[i].listener = (struct cache_listener){hear, i ? hear_alike : NULL, &ears[i]};
        ears[i].cache = cache_new(&config);
        (void)cache_space_new(ears[i].cache);
        cache_listen(ears[i].cache, &ears[i].listener);
    }
    for (pair.step = 1; pair.step <= STEPS; pair.step++) {
        unsigned core = pair.step > STEPS / 2 ? (unsigned)pick(&pair, config.cores) : 0;
        uint32_t address = (uint32_t)pick(&pair, PAGES * PAGE / 8) * 8;
        uint64_t kind = pick(&pair, 100);
        pair.now[core] += access_ears(ears, kind, core, address, pair.now[core]) + pick(&pair, 6);
        if (pick(&pair, 500)) continue;
        bool quiet = pick(&pair, 3) == 0;
        for (unsigned i = 0; i < 2; i++) {
            cache_listen(ears[i].cache, quiet ? NULL : &ears[i].listener);
            cache_notify_uniform(ears[i].cache, CACHE_ALL);
            ears[i].round ^= 1;
        }
    }
    for (unsigned i = 0; i < 2; i++) {
        cache_listen(ears[i].cache, NULL);
        cache_free(ears[i].cache);
    }
}

static void misses_notified_together_are_those_notified_one_by_one(void **state)
{
    static struct ear ears[2];
    (void)state;
    for (uint64_t seed = 1; seed <= random_trials(20); seed++)
        listen_to(seed, ears);
    assert_memory_equal(ears[0].count, ears[1].count, sizeof ears[0].count);
    assert_true(ears[0].notified == ears[0].calls && ears[1].notified == ears[0].notified);
    assert_true(ears[1].calls < ears[0].calls / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(common_accesses_fast_equals_literal),
        cmocka_unit_test(cores_that_take_turns_fast_equals_literal),
        cmocka_unit_test(logs_of_deferred_misses_are_drained),
        cmocka_unit_test(logs_of_snoops_are_taken_in),
        cmocka_unit_test(time_of_l3_does_not_go_back_by_a_load),
        cmocka_unit_test(a_core_whose_time_goes_back),
        cmocka_unit_test(deferred_misses_are_drained_before_the_limit),
        cmocka_unit_test(changed_rights_lead_to_the_slow_path),
        cmocka_unit_test(a_line_is_not_closed_for_another),
        cmocka_unit_test(time_of_l3_does_not_go_back),
        cmocka_unit_test(misses_notified_together_are_those_notified_one_by_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
