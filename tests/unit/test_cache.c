/* The hierarchy piece by piece: what each access finds, costs and counts, with numbers worked out
 * by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rig_bluegene.h"

enum { BASE = 0x10000000, PAGE = 4096, DDR = 100, L3 = 46, L2 = 8, TLB = 40 }; /* stalls */

/* Round figures, so that stalls can be read off: bgp but for what a test changes. */
static struct cache_config plain(void)
{
    struct cache_config config = rig_bluegene_round(true);
    config.store_lines = 1;
    config.l3_refresh_interval = config.l3_refresh = 0;
    return config;
}

struct rig {
    struct cache *cache;
    unsigned space;
    uint64_t now;
};

static struct rig new_rig(const struct cache_config *config)
{
    struct rig rig = {.cache = cache_new(config), .now = 1000};
    rig.space = cache_space_new(rig.cache);
    return rig;
}

static uint32_t load(struct rig *rig, unsigned core, uint32_t address)
{
    uint32_t stall = cache_load(rig->cache, core, rig->space, address, 8, rig->now);
    rig->now += stall + 100;
    return stall;
}

static uint32_t store(struct rig *rig, unsigned core, uint32_t address)
{
    uint32_t stall = cache_store(rig->cache, core, rig->space, address, 8, rig->now);
    rig->now += stall + 100;
    return stall;
}

static uint8_t byte(struct rig *rig, unsigned core, uint32_t address)
{
    return cache_lines(rig->cache, core, rig->space)[address >> CACHE_GRANULE_BITS] &
           (uint8_t) ~(CACHE_PAGE | CACHE_IN_L1D);
}

static uint64_t count(struct rig *rig, const char *name)
{
    struct cache_signal signal;
    uint64_t occurrences, high;
    if (!cache_signal_find(rig->cache, name, &signal)) fail_msg("no signal %s", name);
    cache_signal_count(rig->cache, signal, &occurrences, &high);
    return occurrences;
}

static uint64_t high(struct rig *rig, const char *name)
{
    struct cache_signal signal;
    uint64_t occurrences, cycles;
    assert_true(cache_signal_find(rig->cache, name, &signal));
    cache_signal_count(rig->cache, signal, &occurrences, &cycles);
    return cycles;
}

static void finish(struct rig *rig)
{
    for (unsigned i = 0; i < cache_law_count; i++)
        if (cache_law_error(rig->cache, &cache_laws[i]))
            fail_msg("law broken: %s", cache_laws[i].text);
    cache_free(rig->cache);
}

/* --- L1 and TLB ------------------------------------------------------------------------------ */

static void a_miss_costs_the_level_that_has_the_line(void **state)
{
    struct cache_config config = plain();
    struct rig rig = new_rig(&config);
    (void)state;
    assert_int_equal(load(&rig, 0, BASE), TLB + DDR);
    assert_int_equal(byte(&rig, 0, BASE), CACHE_LOAD);
    assert_int_equal(load(&rig, 0, BASE + 8), 0);
    assert_int_equal(load(&rig, 0, BASE + 32), L2);  /* the same 128 bytes */
    assert_int_equal(load(&rig, 1, BASE), TLB + L3); /* core 0 brought it into L3 */
    assert_int_equal(count(&rig, "core0.l1d.miss"), 2);
    assert_int_equal(count(&rig, "core1.dtlb.miss"), 1);
    assert_int_equal(count(&rig, "core.l1d.miss"), 3);
    assert_int_equal(high(&rig, "core0.stall.load"), DDR + L2);
    finish(&rig);
}

static void an_edge_counts_fills_and_a_level_their_cycles(void **state)
{
    struct cache_config config = plain();
    struct rig rig = new_rig(&config);
    (void)state;
    for (uint32_t i = 0; i < 100; i++)
        (void)load(&rig, 0, BASE + 1024 * i); /* no two in an L2 line, none next to another */
    assert_int_equal(count(&rig, "core0.l1d.fill"), 100);
    assert_int_equal(high(&rig, "core0.l1d.fill"),
                     100 * DDR); /* the quotient is the mean latency: UPC-23 */
    assert_int_equal(count(&rig, "l2.0.read.pending"), 100);
    assert_int_equal(high(&rig, "l2.0.read.pending"), 100 * DDR);
    finish(&rig);
}

static void an_access_across_lines_is_two(void **state)
{
    struct cache_config config = plain();
    struct rig rig = new_rig(&config);
    (void)state;
    assert_int_equal(load(&rig, 0, BASE + 28), TLB + DDR + L2);
    assert_int_equal(count(&rig, "core0.l1d.miss"), 2);
    assert_int_equal(load(&rig, 0, BASE + 2 * PAGE - 4),
                     TLB + DDR + TLB + DDR); /* and across pages */
    finish(&rig);
}

static void round_robin_replaces_in_order_and_hits_change_nothing(void **state)
{
    struct cache_config config = plain();
    struct rig rig = new_rig(&config);
    (void)state;
    for (uint32_t i = 0; i < 64; i++)
        (void)load(&rig, 0, BASE + 512 * i); /* one set, full */
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(byte(&rig, 0, BASE + 512 * i), CACHE_LOAD);
    assert_int_equal(load(&rig, 0, BASE), 0);
    (void)load(&rig, 0, BASE + 512 * 64);
    assert_int_equal(byte(&rig, 0, BASE), 0); /* used last, but the first that came */
    assert_int_equal(byte(&rig, 0, BASE + 512), CACHE_LOAD);
    assert_int_equal(count(&rig, "core0.l1d.miss"), 65);
    finish(&rig);
}

static void with_lru_every_access_is_a_call(void **state)
{
    struct cache_config config = plain();
    config.l1d.policy = CACHE_LRU;
    struct rig rig = new_rig(&config);
    (void)state;
    assert_true(cache_is_slow(rig.cache));
    for (uint32_t i = 0; i < 64; i++)
        (void)load(&rig, 0, BASE + 512 * i);
    assert_int_equal(byte(&rig, 0, BASE), 0);
    (void)load(&rig, 0, BASE);
    (void)load(&rig, 0, BASE + 512 * 64); /* takes the place of line 1, not of line 0 */
    assert_int_equal(load(&rig, 0, BASE), 0);
    assert_true(load(&rig, 0, BASE + 512) > 0);
    finish(&rig);
}

static void a_lost_tlb_entry_takes_the_bytes_of_its_page(void **state)
{
    struct cache_config config = plain();
    struct rig rig = new_rig(&config);
    (void)state;
    (void)load(&rig, 0, BASE);
    (void)load(&rig, 0, BASE + 96);
    for (uint32_t i = 1; i < 64; i++)
        (void)load(&rig, 0, BASE + PAGE * i + 32 * (i % 16));
    assert_int_equal(byte(&rig, 0, BASE), CACHE_LOAD);
    (void)load(&rig, 0, BASE + PAGE * 64);
    assert_int_equal(byte(&rig, 0, BASE), 0);
    assert_int_equal(byte(&rig, 0, BASE + 96), 0);
    assert_int_equal(load(&rig, 0, BASE), TLB); /* still in L1 */
    assert_int_equal(byte(&rig, 0, BASE), CACHE_LOAD);
    assert_int_equal(count(&rig, "core0.dtlb.miss"), 66);
    finish(&rig);
}

static void code_and_data_share_the_tlb_and_count_apart(void **state)
{
    struct cache_config config = plain();
    struct rig rig = new_rig(&config);
    (void)state;
    assert_int_equal(cache_fetch(rig.cache, 0, rig.space, BASE, rig.now), TLB + DDR);
    rig.now += 1000;
    assert_int_equal(load(&rig, 0, BASE),
                     L2); /* the page is known; L1D has not the line, the buffer has */
    assert_int_equal(byte(&rig, 0, BASE), CACHE_LOAD | CACHE_FETCH);
    assert_int_equal(count(&rig, "core0.itlb.miss"), 1);
    assert_int_equal(count(&rig, "core0.dtlb.miss"), 0);
    assert_int_equal(count(&rig, "core0.l1i.miss"), 1);
    finish(&rig);
}

static void a_large_page_costs_one_tlb_miss(void **state)
{
    struct cache_config config = plain();
    config.page = 1 << 20;
    struct rig rig = new_rig(&config);
    (void)state;
    for (uint32_t i = 0; i < 256; i++)
        (void)load(&rig, 0, BASE + PAGE * i);
    assert_int_equal(count(&rig, "core0.dtlb.miss"), 1);
    for (uint32_t i = 1; i <= 64; i++)
        (void)load(&rig, 0, BASE + (i << 20) + 32);
    assert_int_equal(byte(&rig, 0, BASE + PAGE * 255), 0);
    assert_int_equal(load(&rig, 0, BASE + PAGE * 255), TLB);
    finish(&rig);
}

static void forgotten_pages_come_back_as_other_frames(void **state)
{
    struct cache_config config = plain();
    struct rig rig = new_rig(&config);
    (void)state;
    (void)load(&rig, 0, BASE);
    (void)load(&rig, 0, BASE + PAGE);
    cache_forget(rig.cache, rig.space, BASE, PAGE);
    assert_int_equal(byte(&rig, 0, BASE), 0);
    assert_int_equal(byte(&rig, 0, BASE + PAGE), CACHE_LOAD);
    assert_int_equal(load(&rig, 0, BASE + 2 * PAGE),
                     TLB); /* takes the free frame, whose line is still in L1 */
    assert_int_equal(load(&rig, 0, BASE), TLB + DDR);
    finish(&rig);
}

static void a_whole_space_is_forgotten_in_the_order_of_its_pages(void **state)
{
    static const uint32_t pages[] = {0xfffff000, 0x3ff000, 0x400000,
                                     0}; /* 4 MB have a count of their own */
    enum { PAGES = sizeof pages / sizeof *pages };
    struct cache_config config = plain();
    struct rig rig = new_rig(&config);
    (void)state;
    for (uint32_t i = 0; i < PAGES; i++)
        (void)load(&rig, 0, pages[i] + 32 * i);
    cache_forget(rig.cache, rig.space, 0x3ff000, 2 * PAGE);
    assert_int_equal(byte(&rig, 0, pages[1] + 32 * 1), 0);
    assert_int_equal(byte(&rig, 0, pages[2] + 32 * 2), 0);
    assert_int_equal(byte(&rig, 0, pages[3] + 32 * 3), CACHE_LOAD);
    cache_forget(rig.cache, rig.space, 0, UINT64_C(1) << 32);
    static const uint32_t freed_last_first[] = {0, 3, 2, 1}; /* the line is still in L1 */
    for (uint32_t i = 0; i < PAGES; i++)
        assert_int_equal(load(&rig, 0, BASE + PAGE * i + 32 * freed_last_first[i]), TLB);
    assert_int_equal(load(&rig, 0, BASE + PAGE * PAGES), TLB + DDR);
    finish(&rig);
}

static void shared_frames_are_one_line_in_both_spaces(void **state)
{
    struct cache_config config = plain();
    struct rig rig = new_rig(&config);
    unsigned other = cache_space_new(rig.cache);
    (void)state;
    (void)load(&rig, 0, BASE);
    cache_share(rig.cache, other, BASE + PAGE, rig.space, BASE, PAGE);
    assert_int_equal(cache_load(rig.cache, 0, other, BASE + PAGE, 4, rig.now), TLB);
    for (uint32_t i = 1; i <= 64; i++)
        (void)load(&rig, 0, BASE + 4 * PAGE + 512 * i);
    assert_int_equal(byte(&rig, 0, BASE), 0); /* replaced: gone from both */
    assert_int_equal(
        cache_lines(rig.cache, 0, other)[(BASE + PAGE) >> CACHE_GRANULE_BITS] & CACHE_LOAD, 0);
    cache_space_free(rig.cache, other);
    assert_int_equal(cache_space_new(rig.cache), other);
    finish(&rig);
}

/* --- L2 and memory --------------------------------------------------------------------------- */

static void a_stream_is_fetched_ahead(void **state)
{
    struct cache_config config = plain();
    struct rig rig = new_rig(&config);
    (void)state;
    assert_int_equal(load(&rig, 0, BASE), TLB + DDR);
    assert_int_equal(load(&rig, 0, BASE + 128), DDR); /* the second miss in a row: a stream */
    for (uint32_t i = 2; i < 32; i++)
        assert_int_equal(load(&rig, 0, BASE + 128 * i), L2); /* lines come 200 cycles apart here */
    assert_int_equal(count(&rig, "l2.0.prefetch.filter_hit"), 1);
    assert_int_equal(count(&rig, "l2.0.prefetch.requests"), 30);
    assert_int_equal(count(&rig, "l2.0.prefetch.stream_hit"), 30);
    assert_int_equal(count(&rig, "l2.0.miss"), 2);
    assert_int_equal(count(&rig, "core0.d2.miss"),
                     32); /* ahead or not, 32 lines came from DDR for the program */
    assert_int_equal(count(&rig, "ddr.0.fetch") + count(&rig, "ddr.1.fetch"),
                     32); /* none past the page */
    finish(&rig);
}

static void a_prefetch_in_flight_costs_what_is_left(void **state)
{
    struct cache_config config = plain();
    struct rig rig = new_rig(&config);
    (void)state;
    (void)load(&rig, 0, BASE);
    (void)load(&rig, 0, BASE + 128); /* asks for 256 and 384 at cycle t */
    uint64_t left = count(&rig, "l2.0.prefetch.requests");
    assert_int_equal(left, 2);
    rig.now -= 100; /* no pause: the core goes on when its own line is there, DDR cycles after t */
    uint32_t stall = cache_load(rig.cache, 0, rig.space, BASE + 256, 8, rig.now);
    assert_true(stall >= L2 && stall < DDR);
    finish(&rig);
}

static void banks_and_controllers_go_by_line(void **state)
{
    struct cache_config config = plain();
    config.l2_depth = 0;
    struct rig rig = new_rig(&config);
    (void)state;
    for (uint32_t i = 0; i < 32; i++)
        (void)load(&rig, i % 4, BASE + 128 * i);
    assert_int_equal(count(&rig, "ddr.0.fetch"), 16);
    assert_int_equal(count(&rig, "ddr.1.fetch"), 16);
    assert_int_equal(count(&rig, "l3.0.rd0.single"), 8); /* cores 0 and 1 */
    assert_int_equal(count(&rig, "l3.1.rd1.single"), 8);
    assert_int_equal(count(&rig, "l3.0.dir0.lookups"), 8);
    assert_int_equal(count(&rig, "l3.miss.request"), 32);
    finish(&rig);
}

static void a_core_that_is_behind_does_not_wait_for_the_future(void **state)
{
    struct cache_config config = plain();
    config.l2_depth = 0;
    struct rig rig = new_rig(&config);
    (void)state;
    assert_int_equal(cache_load(rig.cache, 0, rig.space, BASE, 8, 100000), TLB + DDR);
    assert_int_equal(cache_load(rig.cache, 1, rig.space, BASE, 8, 10), TLB + L3);
    assert_int_equal(cache_load(rig.cache, 1, rig.space, BASE + 256, 8, 1000), DDR);
    /* Together in time, they queue: the same directory, the same controller. */
    assert_int_equal(cache_load(rig.cache, 2, rig.space, BASE + 1024, 8, 200000), TLB + DDR);
    assert_int_equal(cache_load(rig.cache, 3, rig.space, BASE + 2048, 8, 200000),
                     TLB + DDR + config.ddr_busy);
    assert_true(high(&rig, "l3.0.mh.not_taken") > 0);
    finish(&rig);
}

/* Four cores ask one controller of 64 cycles a line for a line each at 10000, 9000, 9030 and 9010,
 * in this order, as cores do that run a quantum each. Busy periods must not overlap: the second
 * begins at 9000 and ends at 9064, so the third begins there and the fourth behind it, at 9128; one
 * more at 9960 does not fit before 10000 and begins at 10064. Planted: unit_serve in the place of
 * calendar_serve lets the fourth begin at 9010. */
static void a_controller_is_not_busy_twice_at_a_time(void **state)
{
    static const struct {
        unsigned core;
        uint64_t now, start;
    } requests[] = {
        {0, 10000, 10000}, {1, 9000, 9000}, {2, 9030, 9064}, {3, 9010, 9128}, {1, 9960, 10064}};
    struct cache_config config = plain();
    config.l2_depth = 0;
    config.l3_busy = 0; /* nothing but the controller makes them wait */
    config.controllers = 1;
    config.ddr_busy = 64;
    config.tlb_miss = 0;
    struct rig rig = new_rig(&config);
    (void)state;
    for (unsigned i = 0; i < sizeof requests / sizeof *requests; i++)
        assert_int_equal(
            cache_load(rig.cache, requests[i].core, rig.space, BASE + 4096 * i, 8, requests[i].now),
            DDR + requests[i].start - requests[i].now);
    finish(&rig);
}

/* --- Stores ---------------------------------------------------------------------------------- */

static void stores_go_through_and_join(void **state)
{
    struct cache_config config = plain();
    struct rig rig = new_rig(&config);
    (void)state;
    assert_int_equal(store(&rig, 0, BASE), TLB);
    assert_int_equal(byte(&rig, 0, BASE), CACHE_STORE | CACHE_OPEN); /* not in L1, but open */
    assert_int_equal(store(&rig, 0, BASE + 8), 0);
    assert_int_equal(count(&rig, "l2.0.write.memory"), 1);
    (void)store(&rig, 0, BASE + 32);
    assert_int_equal(byte(&rig, 0, BASE), 0);
    (void)store(&rig, 0, BASE);
    assert_int_equal(count(&rig, "l2.0.write.memory"), 3);
    assert_int_equal(count(&rig, "core0.l1d.miss.store"), 3);
    assert_int_equal(count(&rig, "l3.write0.deposit"), 3);
    assert_int_equal(count(&rig, "l3.write0.deposit_hit"), 2); /* one L3 line */
    finish(&rig);
}

static void the_seventh_store_waits(void **state)
{
    struct cache_config config = plain();
    struct rig rig = new_rig(&config);
    (void)state;
    (void)load(&rig, 0, BASE + 2048); /* the TLB entry */
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(cache_store(rig.cache, 0, rig.space, BASE + 32 * i, 8, rig.now + i), 0);
    assert_int_equal(cache_store(rig.cache, 0, rig.space, BASE + 32 * 6, 8, rig.now + 6), 34);
    assert_int_equal(high(&rig, "core0.stall.store"), 34);
    assert_int_equal(cache_sync(rig.cache, 0, rig.now + 40), 40); /* the seventh entered at 40 */
    finish(&rig);
}

static void dirty_lines_are_cast_out_where_l1_writes_back(void **state)
{
    struct cache_config config = plain();
    config.write_through = false;
    config.store_allocate = true;
    config.coherent = config.snoop_filter = false;
    struct rig rig = new_rig(&config);
    (void)state;
    assert_int_equal(store(&rig, 0, BASE), TLB); /* the fill goes on behind the core */
    assert_int_equal(byte(&rig, 0, BASE), CACHE_LOAD | CACHE_STORE);
    (void)load(&rig, 0, BASE + 32);
    assert_int_equal(byte(&rig, 0, BASE + 32),
                     CACHE_LOAD); /* clean: the first store has to be noted */
    for (uint32_t i = 1; i <= 64; i++)
        (void)load(&rig, 0, BASE + 512 * i);
    assert_int_equal(count(&rig, "core0.l1d.castout"), 1);
    assert_int_equal(count(&rig, "l2.0.write.memory"), 1);
    (void)store(&rig, 0, BASE + 512 * 64);
    (void)cache_manage(rig.cache, CACHE_CLEAN, 0, rig.space, BASE + 512 * 64, rig.now);
    assert_int_equal(byte(&rig, 0, BASE + 512 * 64), CACHE_LOAD);
    (void)cache_manage(rig.cache, CACHE_FLUSH, 0, rig.space, BASE + 512 * 64, rig.now);
    assert_int_equal(byte(&rig, 0, BASE + 512 * 64), 0);
    assert_int_equal(count(&rig, "core0.l1d.castout"), 2);
    (void)cache_manage(rig.cache, CACHE_ZERO, 0, rig.space, BASE + 96 * 32, rig.now);
    assert_int_equal(count(&rig, "core0.l1d.miss.store"),
                     1); /* dcbz reads nothing and is no store */
    finish(&rig);
}

/* --- Coherence ------------------------------------------------------------------------------- */

/* Two cores in turn read a line and write it: every write but the first finds the other's copy. */
static void ping_pong_invalidates_once_per_turn(void **state)
{
    enum { TURNS = 1000 };
    struct cache_config config = plain();
    struct rig rig = new_rig(&config);
    (void)state;
    for (unsigned i = 0; i < TURNS; i++) {
        (void)load(&rig, i % 2, BASE);
        (void)store(&rig, i % 2, BASE);
    }
    assert_int_equal(count(&rig, "core0.l1d.invalidated") + count(&rig, "core1.l1d.invalidated"),
                     TURNS - 1);
    assert_int_equal(count(&rig, "core0.l1d.invalidate") + count(&rig, "core1.l1d.invalidate"),
                     TURNS - 1);
    assert_int_equal(count(&rig, "core0.l1d.miss.load"), TURNS / 2); /* each finds its line gone */
    assert_int_equal(count(&rig, "l2.0.write.memory"), TURNS / 2);
    assert_int_equal(count(&rig, "snoop.1.port0.requests"), TURNS / 2);
    assert_int_equal(count(&rig, "snoop.2.port0.rejected"),
                     TURNS / 2); /* bystanders are left alone */
    assert_int_equal(count(&rig, "core2.l1d.invalidate"), 0);
    finish(&rig);
}

static void stores_alone_bounce_too(void **state)
{
    enum { TURNS = 100 };
    struct cache_config config = plain();
    struct rig rig = new_rig(&config);
    (void)state;
    for (unsigned i = 0; i < TURNS; i++)
        (void)store(&rig, i % 2, BASE + 8 * (i % 2)); /* false sharing */
    assert_int_equal(count(&rig, "l2.0.write.memory") + count(&rig, "l2.1.write.memory"), TURNS);
    assert_int_equal(count(&rig, "core.l1d.invalidated"), 0); /* never in an L1 */
    config.write_through = false;
    config.store_allocate = true;
    struct rig back = new_rig(&config);
    for (unsigned i = 0; i < TURNS; i++)
        (void)store(&back, i % 2, BASE + 8 * (i % 2));
    assert_int_equal(count(&back, "core.l1d.invalidated"), TURNS - 1);
    assert_int_equal(count(&back, "core.l1d.castout"), TURNS - 1);
    finish(&rig);
    finish(&back);
}

static void without_coherence_nobody_notices(void **state)
{
    struct cache_config config = plain();
    config.coherent = config.snoop_filter = false;
    struct rig rig = new_rig(&config);
    (void)state;
    for (unsigned i = 0; i < 100; i++) {
        (void)load(&rig, i % 2, BASE);
        (void)store(&rig, i % 2, BASE);
    }
    assert_int_equal(count(&rig, "core.l1d.invalidate"), 0);
    assert_int_equal(count(&rig, "core.l1d.miss.load"), 2);
    finish(&rig);
}

/* Four cores, each in its own 64 KB: no line is shared, and the filters keep nearly all snoops
 * away. */
static void filters_drop_snoops_of_private_data(void **state)
{
    struct cache_config config = plain();
    struct rig rig = new_rig(&config);
    uint64_t requests = 0, rejected = 0;
    (void)state;
    for (uint32_t i = 0; i < 8192; i++)
        for (unsigned core = 0; core < 4; core++) {
            (void)load(&rig, core, BASE + (core << 20) + 8 * i);
            (void)store(&rig, core, BASE + (core << 20) + 8 * i);
        }
    for (unsigned n = 0; n < 16; n++) {
        char name[CACHE_NAME];
        (void)snprintf(name, sizeof name, "snoop.%u.port%u.requests", n / 4, n % 4);
        requests += count(&rig, name);
        (void)snprintf(name, sizeof name, "snoop.%u.port%u.rejected", n / 4, n % 4);
        rejected += count(&rig, name);
    }
    assert_int_equal(count(&rig, "core.l1d.invalidated"), 0);
    assert_int_equal(requests, 3 * 4 * 2048);
    assert_true(rejected * 100 >= requests * 90);
    assert_true(count(&rig, "snoop.0.l1_wrap") >= 1);
    finish(&rig);
}

/* --- Wires and files ------------------------------------------------------------------------- */

static bool is_memory(const char *unit)
{
    return strstr(unit, "/L1") || strncmp(unit, "L2", 2) == 0 || strncmp(unit, "L3", 2) == 0 ||
           strncmp(unit, "SNOOP", 5) == 0 || strncmp(unit, "DDR", 3) == 0;
}

/* L1's accesses and hits are the core's to count. */
static bool is_core_own(const char *signal)
{
    static const char *const ends[] = {".l1d.hit", ".l1i.hit", ".load", ".store", ".l1d.ops"};
    size_t length = strlen(signal);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t end = strlen(ends[i]);
        if (strncmp(signal, "core", 4) == 0 && length > end &&
            strcmp(signal + length - end, ends[i]) == 0)
            return true;
    }
    return false;
}

static void no_event_of_the_hierarchy_is_left_out(void **state)
{
    static const char *const names[] = {"bgp", "bgl"};
    (void)state;
    for (unsigned m = 0; m < 2; m++) {
        struct chil_machine *machine = rig_machine_file(names[m]);
        struct cache_config config;
        struct chil_error err;
        size_t events, seen = 0;
        if (cache_config_read(&config, machine, &err)) fail_msg("%s", err.text);
        struct rig rig = new_rig(&config);
        const struct chil_event *event = chil_machine_events(machine, &events);
        for (size_t i = 0; i < events; i++) {
            if (!is_memory(event[i].unit)) continue;
            for (size_t k = 0; k < event[i].signal_count; k++) {
                struct cache_signal signal;
                const char *name = event[i].signals[k];
                bool found = cache_signal_find(rig.cache, name, &signal) || is_core_own(name);
                if (!found || event[i].exactness == CHIL_NONE)
                    fail_msg("%s: %s %s", names[m], event[i].name, name);
                seen++;
            }
        }
        assert_true(seen > 80);
        finish(&rig);
        chil_machine_free(machine);
    }
}

/* The exactness `none` is left to what has no signals: reserved ids and the null event. Fault
 * planted: an event of a torus link whose row says none. */
static void only_events_without_signals_are_not_counted(void **state)
{
    static const char *const names[] = {"bgp", "bgl"};
    (void)state;
    for (unsigned m = 0; m < 2; m++) {
        struct chil_machine *machine = rig_machine_file(names[m]);
        size_t events;
        const struct chil_event *event = chil_machine_events(machine, &events);
        for (size_t i = 0; i < events; i++)
            if ((event[i].exactness == CHIL_NONE) != (event[i].signal_count == 0))
                fail_msg("%s: %s of unit %s", names[m], event[i].name, event[i].unit);
        chil_machine_free(machine);
    }
}

static void edram_refreshes_as_time_goes_by(void **state)
{
    struct cache_config config = plain();
    config.l3_refresh_interval = 1000;
    config.l3_refresh = 4;
    struct rig rig = new_rig(&config);
    (void)state;
    uint64_t high, rises;
    struct cache_signal signal;
    assert_true(cache_signal_find(rig.cache, "l3.edram.refresh", &signal));
    (void)cache_load(rig.cache, 0, rig.space, BASE, 4,
                     10 * 1000 - 1000); /* and the handler's 40 cycles */
    cache_signal_count(rig.cache, signal, &rises, &high);
    assert_int_equal(rises, 9);
    assert_int_equal(high, 36);
    (void)cache_load(rig.cache, 0, rig.space, BASE, 4, 90 * 1000); /* in L1: L3 is not asked */
    cache_signal_count(rig.cache, signal, &rises, &high);
    assert_int_equal(rises, 9);
    finish(&rig);
}

/* Two passes over 1 MB, a load from each 4 KB frame: what does not fit 64 entries misses at every
 * page, twice; what fits, once. */
static void large_pages_miss_the_tlb_once_each(void **state)
{
    static const struct {
        uint32_t page, misses;
    } rows[] = {{4 << 10, 512}, {8 << 10, 256}, {16 << 10, 64},
                {64 << 10, 16}, {256 << 10, 4}, {1 << 20, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cache_config config = plain();
        config.tlb_entries = 64;
        config.page = rows[i].page;
        struct rig rig = new_rig(&config);
        for (uint32_t at = 0; at < 2 << 20; at += 4096)
            (void)load(&rig, 0, 0x10000000 + at % (1 << 20));
        assert_int_equal(count(&rig, "core0.dtlb.miss"), rows[i].misses);
        finish(&rig);
    }
}

static void signals_are_found_by_their_names(void **state)
{
    struct cache_config config = plain();
    struct rig rig = new_rig(&config);
    static const char *const wrong[] = {
        "",
        "core",
        "core0",
        "core4.l1d.miss",
        "core00.l1d.miss",
        "core0.l1d.mis",
        "l2.4.hit",
        "l2.hi",
        "snoop.0",
        "snoop.0.port4.requests",
        "snoop.0.requests",
        "l3.2.prefetch",
        "l3.",
        "ddr.fetch",
        "ddr.2.fetch",
        "core.l1d.miss.",
        "core99999999999.l1d.miss",
    };
    (void)state;
    for (unsigned id = 0; id < CACHE_SIGNALS; id++)
        for (uint32_t n = 0; n < cache_signal_instances(rig.cache, (enum cache_signal_id)id); n++) {
            struct cache_signal signal = {(enum cache_signal_id)id, n}, found;
            char name[CACHE_NAME];
            cache_signal_name(signal, name);
            if (!cache_signal_find(rig.cache, name, &found)) fail_msg("%s", name);
            assert_int_equal(found.id, signal.id);
            assert_int_equal(found.instance, signal.instance);
        }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct cache_signal found;
        if (cache_signal_find(rig.cache, wrong[i], &found)) fail_msg("'%s' was found", wrong[i]);
    }
    finish(&rig);
}

static void machine_files_give_configurations(void **state)
{
    struct chil_machine *bgp = rig_machine_file("bgp"), *bgl = rig_machine_file("bgl");
    struct cache_config config;
    struct chil_error err;
    (void)state;
    assert_int_equal(cache_config_read(&config, bgp, &err), 0);
    assert_int_equal(config.cores, 4);
    assert_int_equal(config.l3_size, 8 << 20);
    assert_int_equal(config.l3_banks, 2);
    assert_int_equal(config.controllers, 2);
    assert_int_equal(config.l2_entries, 15);
    assert_int_equal(cache_config_read(&config, bgl, &err), 0);
    assert_int_equal(config.cores, 2); /* BGL-29 */
    assert_int_equal(config.l1d.size, 32768);
    assert_int_equal(config.l1d.line, 32);
    assert_int_equal(config.l3_size, 4 << 20);
    assert_int_equal(config.l3_line, 128);
    assert_int_equal(config.page, 4096);
    assert_int_equal(config.tlb_entries, 64);
    assert_false(config.write_through);
    assert_true(config.store_allocate);
    chil_machine_free(bgp);
    chil_machine_free(bgl);
}

static void what_does_not_fit_is_refused_in_a_line(void **state)
{
    static const struct {
        size_t offset;
        uint32_t value;
        const char *text;
    } rows[] = {
#define WRONG(field, value, text) {offsetof(struct cache_config, field), value, text}
        WRONG(cores, 17, "machine.cores of 17 is out of range; give 1 to 16"),
        WRONG(l1d.line, 16, "l1d.line of 16 is not a power of two from 32 to 4096"),
        WRONG(l1d.ways, 0, "l1d.ways of 0 is not from 1 to 65535"),
        WRONG(
            l1d.ways, 48,
            "l1d has no whole power of two of sets: size 32768 / (line 32 x ways 48); change one of them"),
        WRONG(fills, 9, "l1d.fills of 9 is out of range; give 1 to 8"),
        WRONG(page, 3000, "tlb.page of 3000 is not a power of two; give one"),
        WRONG(
            l2_line, 512,
            "lines of 32, 512 and 128 bytes in L1, L2 and L3; none may be longer than that of the level behind it"),
        WRONG(
            l2_latency, 4,
            "latencies 4, 4, 50, 104 of L1, L2, L3 and memory do not rise; they are from the core"),
        WRONG(l3_banks, 3, "l3.banks of 3 is not a power of two; give one"),
        WRONG(snoop_streams, 0, "snoop.streams of 0 is out of range; give 1 to 1024"),
        WRONG(device_latency, 1, "device.latency 1 is less than l1d.latency 4"),
    };
    struct chil_error err;
    struct cache_config config = plain();
    (void)state;
    assert_int_equal(cache_config_check(&config, &err), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        config = plain();
        memcpy((char *)&config + rows[i].offset, &rows[i].value, sizeof rows[i].value);
        assert_true(cache_config_check(&config, &err) < 0);
        assert_string_equal(err.text, rows[i].text);
    }
    config = plain();
    config.coherent = false;
    assert_int_equal(cache_config_check(&config, &err), CHIL_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_miss_costs_the_level_that_has_the_line),
        cmocka_unit_test(an_edge_counts_fills_and_a_level_their_cycles),
        cmocka_unit_test(an_access_across_lines_is_two),
        cmocka_unit_test(round_robin_replaces_in_order_and_hits_change_nothing),
        cmocka_unit_test(with_lru_every_access_is_a_call),
        cmocka_unit_test(a_lost_tlb_entry_takes_the_bytes_of_its_page),
        cmocka_unit_test(code_and_data_share_the_tlb_and_count_apart),
        cmocka_unit_test(a_large_page_costs_one_tlb_miss),
        cmocka_unit_test(forgotten_pages_come_back_as_other_frames),
        cmocka_unit_test(a_whole_space_is_forgotten_in_the_order_of_its_pages),
        cmocka_unit_test(shared_frames_are_one_line_in_both_spaces),
        cmocka_unit_test(a_stream_is_fetched_ahead),
        cmocka_unit_test(a_prefetch_in_flight_costs_what_is_left),
        cmocka_unit_test(banks_and_controllers_go_by_line),
        cmocka_unit_test(a_core_that_is_behind_does_not_wait_for_the_future),
        cmocka_unit_test(a_controller_is_not_busy_twice_at_a_time),
        cmocka_unit_test(stores_go_through_and_join),
        cmocka_unit_test(the_seventh_store_waits),
        cmocka_unit_test(dirty_lines_are_cast_out_where_l1_writes_back),
        cmocka_unit_test(ping_pong_invalidates_once_per_turn),
        cmocka_unit_test(stores_alone_bounce_too),
        cmocka_unit_test(without_coherence_nobody_notices),
        cmocka_unit_test(filters_drop_snoops_of_private_data),
        cmocka_unit_test(no_event_of_the_hierarchy_is_left_out),
        cmocka_unit_test(only_events_without_signals_are_not_counted),
        cmocka_unit_test(edram_refreshes_as_time_goes_by),
        cmocka_unit_test(large_pages_miss_the_tlb_once_each),
        cmocka_unit_test(signals_are_found_by_their_names),
        cmocka_unit_test(machine_files_give_configurations),
        cmocka_unit_test(what_does_not_fit_is_refused_in_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
