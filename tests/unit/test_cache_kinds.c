/* Misses by their cause: the fast bookkeeping against lists that are searched (kinds_literal.c),
 * and accesses of which it is plain why they miss. Random accesses on whole hierarchies are in
 * test_cache_models.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machine/cache/cache.h"
#include "rig_bluegene.h"
#include "kinds_literal.h"
#include "random.h"

enum { BASE = 0x10000000, LINE = 32, L1 = 32 << 10, SETS = 16, WAYS = 64 };

/* --- The bookkeeping alone ------------------------------------------------------------------- */

static void random_uses(uint64_t seed, uint32_t room, uint32_t lines)
{
    struct kinds *fast = kinds_new(room);
    struct literal_kinds literal = {.room = room};
    uint64_t random = seed;
    for (unsigned step = 0; step < 3000; step++) {
        uint32_t line =
            (uint32_t)random_below(&random, random_below(&random, 3) ? lines : lines / 8 + 1);
        if (random_below(&random, 10) == 0) {
            kinds_take(fast, line);
            literal_kinds_take(&literal, line);
            continue;
        }
        bool brings = random_below(&random, 4);
        enum kind a = kinds_use(fast, line, brings), b = literal_kinds_use(&literal, line, brings);
        if (a != b)
            fail_msg("seed %llu, step %u, line %u: kind %d, literally %d", (unsigned long long)seed,
                     step, line, a, b);
    }
    kinds_free(fast);
    literal_kinds_fini(&literal);
}

static void fast_kinds_equal_literal_kinds(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= random_trials(60); seed++) {
        uint64_t random = seed;
        uint32_t room = (uint32_t)random_below(&random, 40);
        random_uses(seed, room, 1 + (uint32_t)random_below(&random, 3 * room + 5));
    }
    random_uses(1, 0, 50);
    random_uses(2, 1, 50);
}

/* --- A hierarchy ----------------------------------------------------------------------------- */

struct rig {
    struct cache *cache;
    unsigned space;
    uint64_t now;
};

static struct rig new_rig(const char *machine, const char *const *settings, size_t count)
{
    struct cache_config config = rig_bluegene_with(machine, settings, count);
    struct rig rig = {.cache = cache_new(&config), .now = 1000};
    rig.space = cache_space_new(rig.cache);
    return rig;
}

static struct rig new_rig_with_kinds(const char *machine)
{
    static const char *const settings[] = {"misses.kinds=on"};
    return new_rig(machine, settings, 1);
}

static void load(struct rig *rig, unsigned core, uint32_t address)
{
    rig->now += cache_load(rig->cache, core, rig->space, address, 4, rig->now) + 10;
}

static void store(struct rig *rig, unsigned core, uint32_t address)
{
    rig->now += cache_store(rig->cache, core, rig->space, address, 4, rig->now) + 10;
}

static void manage(struct rig *rig, enum cache_op op, unsigned core, uint32_t address)
{
    rig->now += cache_manage(rig->cache, op, core, rig->space, address, rig->now) + 10;
}

/* `times` loads of `lines` lines, each `stride` bytes behind the one before. */
static void stream(struct rig *rig, uint32_t lines, uint32_t stride, unsigned times)
{
    for (unsigned time = 0; time < times; time++)
        for (uint32_t i = 0; i < lines; i++)
            load(rig, 0, BASE + i * stride);
}

static uint64_t count(const struct rig *rig, const char *name)
{
    struct cache_signal signal;
    uint64_t occurrences, high;
    if (!cache_signal_find(rig->cache, name, &signal)) fail_msg("no signal %s", name);
    cache_signal_count(rig->cache, signal, &occurrences, &high);
    return occurrences;
}

#define KINDS_ARE(rig, of, cold, capacity, conflict, coherence)                                    \
    do {                                                                                           \
        assert_int_equal(count(rig, of ".cold"), cold);                                            \
        assert_int_equal(count(rig, of ".capacity"), capacity);                                    \
        assert_int_equal(count(rig, of ".conflict"), conflict);                                    \
        assert_int_equal(count(rig, of ".coherence"), coherence);                                  \
    } while (0)

static void finish(struct rig *rig)
{
    for (unsigned i = 0; i < cache_law_count; i++)
        if (cache_law_error(rig->cache, &cache_laws[i]))
            fail_msg("law broken: %s", cache_laws[i].text);
    cache_free(rig->cache);
}

static void first_touch_is_cold(void **state)
{
    struct rig rig = new_rig_with_kinds("bgp");
    (void)state;
    stream(&rig, L1 / LINE, LINE, 5); /* all of it fits */
    KINDS_ARE(&rig, "core0.l1d.miss.load", L1 / LINE, 0, 0, 0);
    load(&rig, 1, BASE); /* another core's first */
    KINDS_ARE(&rig, "core1.l1d.miss.load", 1, 0, 0, 0);
    finish(&rig);
}

static void a_stream_of_twice_L1_misses_for_capacity(void **state)
{
    struct rig rig = new_rig_with_kinds("bgp");
    (void)state;
    stream(&rig, 2 * L1 / LINE, LINE, 2);
    KINDS_ARE(&rig, "core0.l1d.miss.load", 2 * L1 / LINE, 2 * L1 / LINE, 0, 0);
    finish(&rig);
}

/* All lines are of one set, which has 64 places; a fully associative L1 has 1024. */
static void a_stride_of_a_power_of_two_misses_for_conflict(void **state)
{
    struct rig rig = new_rig_with_kinds("bgp");
    (void)state;
    stream(&rig, WAYS, SETS * LINE, 3);
    KINDS_ARE(&rig, "core0.l1d.miss.load", WAYS, 0, 0, 0);
    finish(&rig);
    rig = new_rig_with_kinds("bgp");
    stream(&rig, 2 * WAYS, SETS * LINE, 3);
    KINDS_ARE(&rig, "core0.l1d.miss.load", 2 * WAYS, 0, 2 * 2 * WAYS, 0);
    finish(&rig);
    rig = new_rig_with_kinds("bgp");
    stream(&rig, 2 * WAYS, SETS * LINE + LINE, 3); /* a line of padding each: the cure */
    KINDS_ARE(&rig, "core0.l1d.miss.load", 2 * WAYS, 0, 0, 0);
    finish(&rig);
}

static void false_sharing_misses_for_coherence(void **state)
{
    struct rig rig = new_rig_with_kinds("bgp");
    (void)state;
    for (unsigned round = 0; round < 10; round++)
        for (unsigned core = 0; core < 2; core++) {
            load(&rig, core, BASE + 4 * core);
            store(&rig, core, BASE + 4 * core);
        }
    KINDS_ARE(&rig, "core0.l1d.miss.load", 1, 0, 0, 9);
    KINDS_ARE(&rig, "core1.l1d.miss.load", 1, 0, 0, 9);
    finish(&rig);
}

/* What was taken away and would have been replaced meanwhile is no one's fault. */
static void a_line_taken_away_long_ago_misses_for_capacity(void **state)
{
    struct rig rig = new_rig_with_kinds("bgp");
    (void)state;
    load(&rig, 0, BASE + 16 * L1);
    store(&rig, 1, BASE + 16 * L1);
    stream(&rig, 2 * L1 / LINE, LINE, 1);
    load(&rig, 0, BASE + 16 * L1);
    KINDS_ARE(&rig, "core0.l1d.miss.load", 2 * L1 / LINE + 1, 1, 0, 0);
    finish(&rig);
}

static void a_flushed_line_counts_as_taken_away(void **state)
{
    struct rig rig = new_rig_with_kinds("bgl");
    (void)state;
    store(&rig, 0, BASE);
    manage(&rig, CACHE_FLUSH, 0, BASE);
    load(&rig, 0, BASE);
    manage(&rig, CACHE_CLEAN, 0, BASE); /* stays */
    load(&rig, 0, BASE);
    KINDS_ARE(&rig, "core0.l1d.miss.store", 1, 0, 0, 0);
    KINDS_ARE(&rig, "core0.l1d.miss.load", 0, 0, 0, 1);
    finish(&rig);
}

/* Where a store brings no line in (bgp), no cache has it before it was loaded. */
static void stores_that_do_not_allocate(void **state)
{
    struct rig rig = new_rig_with_kinds("bgp");
    (void)state;
    for (unsigned i = 0; i < 21; i++) /* one line more than stores join */
        store(&rig, 0, BASE + i % 7 * LINE);
    KINDS_ARE(&rig, "core0.l1d.miss.store", 21, 0, 0, 0);
    load(&rig, 0, BASE);
    stream(&rig, 2 * L1 / LINE, LINE, 1);
    store(&rig, 0, BASE);
    KINDS_ARE(&rig, "core0.l1d.miss.store", 21, 1, 0, 0);
    finish(&rig);
}

/* bgl: they do, and a second pass over twice L1 misses again. */
static void stores_that_allocate(void **state)
{
    struct rig rig = new_rig_with_kinds("bgl");
    (void)state;
    for (unsigned time = 0; time < 2; time++)
        for (uint32_t i = 0; i < 2 * L1 / LINE; i++)
            store(&rig, 0, BASE + i * LINE);
    KINDS_ARE(&rig, "core0.l1d.miss.store", 2 * L1 / LINE, 2 * L1 / LINE, 0, 0);
    finish(&rig);
}

/* A line that was touched ahead (dcbt) has been there. */
static void a_touched_line_is_not_cold(void **state)
{
    struct rig rig = new_rig_with_kinds("bgp");
    (void)state;
    load(&rig, 0, BASE); /* the page is in the TLB now */
    manage(&rig, CACHE_TOUCH, 0, BASE + LINE);
    stream(&rig, 2 * L1 / LINE, LINE, 1);
    load(&rig, 0, BASE + LINE);
    KINDS_ARE(&rig, "core0.l1d.miss.load", 2 * L1 / LINE - 1, 1, 0, 0);
    finish(&rig);
}

/* L3 of 64 lines, 2 ways; without prefetches. */
static void misses_of_L3(void **state)
{
    static const char *const settings[] = {"misses.kinds=on", "l3.size=8K", "l3.banks=1",
                                           "l3.ways=2", "l2.depth=0"};
    enum { LINE_OF_L3 = 128, LINES = 64, SETS_OF_L3 = 32 };
    (void)state;
    struct rig rig = new_rig("bgp", settings, 5);
    for (unsigned time = 0; time < 3; time++)
        for (uint32_t i = 0; i < 2 * LINES; i++)
            load(&rig, time,
                 BASE + i * LINE_OF_L3); /* each core once: L1 and L2 have nothing yet */
    assert_int_equal(count(&rig, "l3.miss.cold"), 2 * LINES);
    assert_int_equal(count(&rig, "l3.miss.capacity"), 2 * 2 * LINES);
    assert_int_equal(count(&rig, "l3.miss.conflict"), 0);
    finish(&rig);

    rig = new_rig("bgp", settings, 5);
    for (unsigned time = 0; time < 3; time++)
        for (uint32_t i = 0; i < 3; i++)
            load(&rig, time, BASE + i * SETS_OF_L3 * LINE_OF_L3); /* three lines of a set of two */
    assert_int_equal(count(&rig, "l3.miss.cold"), 3);
    assert_int_equal(count(&rig, "l3.miss.capacity"), 0);
    assert_int_equal(count(&rig, "l3.miss.conflict"), 2 * 3);
    finish(&rig);
}

static void off_nothing_is_counted_and_hits_are_free(void **state)
{
    struct rig rig = new_rig("bgp", NULL, 0);
    (void)state;
    stream(&rig, 2 * L1 / LINE, LINE, 2);
    assert_int_equal(count(&rig, "core0.l1d.miss.load"), 4 * L1 / LINE);
    KINDS_ARE(&rig, "core0.l1d.miss.load", 0, 0, 0, 0);
    assert_false(cache_is_slow(rig.cache));
    assert_true(cache_lines(rig.cache, 0, rig.space)[(BASE + 2 * L1 - LINE) >> CACHE_GRANULE_BITS] &
                CACHE_LOAD);
    finish(&rig);
    rig = new_rig_with_kinds("bgp");
    stream(&rig, 1, LINE, 2);
    assert_true(cache_is_slow(rig.cache));
    assert_false(cache_lines(rig.cache, 0, rig.space)[BASE >> CACHE_GRANULE_BITS] &
                 (CACHE_LOAD | CACHE_STORE));
    finish(&rig);
}

/* Attributions have the kinds too: those of each caller. */
static void kinds_are_divided_among_callers(void **state)
{
    struct rig rig = new_rig_with_kinds("bgp");
    struct cache_attributor *account = cache_attributor_new(rig.cache);
    struct cache_attribution attributions[2] = {0};
    struct cache *counts = cache_counts_new(rig.cache);
    (void)state;
    stream(&rig, 2 * L1 / LINE, LINE, 1);
    cache_attribute(account, 0, &attributions[0]);
    stream(&rig, 2 * L1 / LINE, LINE, 1);
    cache_attribute(account, 0, &attributions[1]);
    for (unsigned i = 0; i < 2; i++) {
        struct rig part = {.cache = counts};
        cache_counts_clear(counts);
        cache_counts_add(counts, account, &attributions[i]);
        KINDS_ARE(&part, "core.l1d.miss.load", i ? 0 : 2 * L1 / LINE, i ? 2 * L1 / LINE : 0, 0, 0);
        assert_int_equal(count(&part, "l3.miss.cold"), i ? 0 : 2 * L1 / 128);
        cache_attribution_fini(account, &attributions[i]);
    }
    cache_counts_free(counts);
    cache_attributor_free(account);
    finish(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_kinds_equal_literal_kinds),
        cmocka_unit_test(first_touch_is_cold),
        cmocka_unit_test(a_stream_of_twice_L1_misses_for_capacity),
        cmocka_unit_test(a_stride_of_a_power_of_two_misses_for_conflict),
        cmocka_unit_test(false_sharing_misses_for_coherence),
        cmocka_unit_test(a_line_taken_away_long_ago_misses_for_capacity),
        cmocka_unit_test(a_flushed_line_counts_as_taken_away),
        cmocka_unit_test(stores_that_do_not_allocate),
        cmocka_unit_test(stores_that_allocate),
        cmocka_unit_test(a_touched_line_is_not_cold),
        cmocka_unit_test(misses_of_L3),
        cmocka_unit_test(off_nothing_is_counted_and_hits_are_free),
        cmocka_unit_test(kinds_are_divided_among_callers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
