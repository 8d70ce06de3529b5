/* The counter unit counts: sections 4 and 6 of the paper, rows UPC-01 to UPC-13, UPC-22 to UPC-25,
 * UPC-32 to UPC-35, UPC-50 of the checklist. Behaviour is shown on both models, the workings on the
 * reference. */
#include "rig_upc.h"

#include "measure/upc/upc_ref.h"

static const struct chil_upc_geometry bgp = {256, 4, 12, 16};
static const struct chil_upc_geometry hostile = {5, 4, 4, 3};

static void all_counters_count_at_once(enum chil_upc_model model)
{
    struct rig rig;
    rig_open(&rig, bgp, model);
    chil_upc_start(rig.upc);
    for (uint32_t c = 0; c < 256; c++) {
        struct chil_upc_train train = {c, 0, c + 1, 2, 1};
        assert_int_equal(chil_upc_raise(rig.upc, &train), 0);
    }
    assert_int_equal(chil_upc_advance(rig.upc, 600), 0);
    for (uint32_t c = 0; c < 256; c++)
        assert_int_equal(rig_read(&rig, c), c + 1);
    rig_close(&rig);
}

/* Planted: counter 255 does not count. */
static void UPC_01_all_256_counters_count_at_the_same_time(void **state)
{
    (void)state;
    RIG_BOTH(all_counters_count_at_once);
}

static void counters_are_64_bits_wide(enum chil_upc_model model)
{
    struct rig rig;
    rig_open(&rig, bgp, model);
    chil_upc_start(rig.upc);
    assert_int_equal(chil_upc_preload(rig.upc, 7, UINT64_MAX - 1), 0);
    rig_pulses(&rig, 7, 0, 1, 1, 10);
    assert_true(rig_read(&rig, 7) == UINT64_MAX);
    rig_pulses(&rig, 7, 10, 1, 1, 20);
    assert_int_equal(rig_read(&rig, 7), 0);
    rig_close(&rig);
}

/* Planted: 51 bits, reported or stored. */
static void UPC_02_counters_are_12_low_and_52_high_bits(void **state)
{
    (void)state;
    RIG_BOTH(counters_are_64_bits_wide);
    struct chil_upc_bits bits;
    chil_upc_bits(&bgp, &bits);
    assert_int_equal(bits.word_bits, 52);
    struct rig rig;
    rig_open(&rig, bgp, CHIL_UPC_REFERENCE);
    chil_upc_preload(rig.upc, 3, UINT64_C(0xFEDCBA9876543ABC));
    assert_int_equal(upc_ref_counter(rig.upc, 3)->low, 0xABC);
    assert_true(upc_ref_counter(rig.upc, 3)->word == UINT64_C(0xFEDCBA9876543));
    rig_close(&rig);
}

/* Every one of the 1024 wires reaches its own counter, when that selects it, and no
 * other. */
static void each_wire_has_one_counter(enum chil_upc_model model)
{
    struct rig rig;
    rig_open(&rig, bgp, model);
    chil_upc_start(rig.upc);
    for (uint32_t wire = 0; wire < 1024; wire++) {
        uint64_t now = chil_upc_now(rig.upc);
        assert_int_equal(chil_upc_select(rig.upc, wire, CHIL_COUNT_HIGH), 0);
        for (uint32_t input = 0; input < 4; input++) {
            struct chil_upc_train train = {input * 256 + wire % 256, now, input + 1, 2, 1};
            assert_int_equal(chil_upc_raise(rig.upc, &train), 0);
        }
        assert_int_equal(chil_upc_advance(rig.upc, now + 10), 0);
        assert_int_equal(rig_read(&rig, wire % 256), wire / 256 + 1);
        assert_int_equal(chil_upc_preload(rig.upc, wire % 256, 0), 0);
    }
    for (uint32_t c = 0; c < 256; c++)
        assert_int_equal(rig_read(&rig, c), 0);
    rig_close(&rig);
}

/* Planted: a fifth input is taken; a neighbour's wire. */
static void UPC_04_a_counter_has_exactly_four_inputs_of_its_own(void **state)
{
    (void)state;
    RIG_BOTH(each_wire_has_one_counter);
    struct rig rig;
    rig_open(&rig, bgp, CHIL_UPC_FAST);
    struct chil_upc_config config = {4, CHIL_COUNT_HIGH, false}, kept;
    assert_int_equal(chil_upc_configure(rig.upc, 0, &config), CHIL_EINVAL);
    assert_int_equal(chil_upc_select(rig.upc, 1024, CHIL_COUNT_HIGH), CHIL_EINVAL);
    assert_int_equal(chil_upc_config(rig.upc, 0, &kept), 0);
    assert_int_equal(kept.input, 0);
    rig_close(&rig);
}

static void UPC_05_the_low_part_overflows_after_4096_cycles_at_the_earliest(void **state)
{
    (void)state;
    struct rig rig;
    rig_open(&rig, bgp, CHIL_UPC_REFERENCE);
    chil_upc_start(rig.upc);
    rig_hold_all_high(&rig);
    chil_upc_advance(rig.upc, 4095);
    for (uint32_t c = 0; c < 256; c++)
        assert_false(upc_ref_counter(rig.upc, c)->carry || upc_ref_counter(rig.upc, c)->word);
    chil_upc_advance(rig.upc, 4096);
    for (uint32_t c = 0; c < 255; c++)
        assert_true(
            upc_ref_counter(rig.upc, c)->carry); /* counter 255 is visited in that very cycle */
    assert_int_equal(upc_ref_counter(rig.upc, 255)->word, 1);
    rig_close(&rig);
}

static void UPC_06_no_event_is_lost_at_roll_over(void **state)
{
    (void)state;
    struct rig rig;
    rig_open(&rig, bgp, CHIL_UPC_REFERENCE);
    chil_upc_start(rig.upc);
    rig_hold_all_high(&rig);
    for (uint64_t cycle = 4090; cycle < 4104; cycle++) {
        chil_upc_advance(rig.upc, cycle);
        assert_int_equal(rig_read(&rig, 100), cycle);
        assert_int_equal(upc_ref_counter(rig.upc, 100)->low, cycle % 4096);
    }
    rig_close(&rig);
}

/* Planted: the latch stays set. */
static void UPC_07_UPC_10_a_visit_adds_a_carry_and_clears_its_latch(void **state)
{
    (void)state;
    struct rig rig;
    rig_open(&rig, bgp, CHIL_UPC_REFERENCE);
    chil_upc_start(rig.upc);
    chil_upc_preload(rig.upc, 9, 4095);
    const struct upc_ref_counter *nine = upc_ref_counter(rig.upc, 9);
    rig_pulses(&rig, 9, 3, 1, 1, 9 * 16 + 15); /* every cycle before the last one of its slot */
    assert_true(nine->carry);
    assert_int_equal(nine->word, 0);
    chil_upc_advance(rig.upc, 9 * 16 + 16);
    assert_false(nine->carry);
    assert_int_equal(nine->word, 1);
    uint64_t increments = upc_ref_work(rig.upc)->increments;
    chil_upc_advance(rig.upc, 10 * 4096); /* nine more rounds without a carry: word untouched */
    assert_int_equal(nine->word, 1);
    assert_int_equal(upc_ref_work(rig.upc)->increments, increments);
    rig_close(&rig);
}

/* Planted: a second word in a slot; two increments. */
static void UPC_09_UPC_11_one_word_per_16_cycle_slot_one_round_in_4096_cycles(void **state)
{
    (void)state;
    struct rig rig;
    rig_open(&rig, bgp, CHIL_UPC_REFERENCE);
    chil_upc_start(rig.upc);
    rig_hold_all_high(&rig);
    for (uint64_t slot = 0; slot < 600; slot++) {
        struct upc_ref_work before = *upc_ref_work(rig.upc);
        chil_upc_advance(rig.upc, (slot + 1) * 16);
        const struct upc_ref_work *after = upc_ref_work(rig.upc);
        assert_int_equal(after->visits, before.visits + 1);
        assert_true(after->increments <= before.increments + 1);
    }
    struct upc_ref_work round = *upc_ref_work(rig.upc);
    uint64_t now = chil_upc_now(rig.upc);
    chil_upc_advance(rig.upc, now + 4096);
    assert_int_equal(upc_ref_work(rig.upc)->visits - round.visits, 256);
    assert_int_equal(upc_ref_work(rig.upc)->increments - round.increments,
                     256); /* each word once */
    rig_close(&rig);
}

/* All counters at one event per cycle: at every cycle the sum is right and no latch is overwritten.
 */
static void full_rate(struct chil_upc_geometry geometry, uint64_t cycles)
{
    struct rig rig;
    rig_open(&rig, geometry, CHIL_UPC_REFERENCE);
    chil_upc_start(rig.upc);
    rig_hold_all_high(&rig);
    for (uint64_t cycle = 1; cycle <= cycles; cycle++) {
        chil_upc_advance(rig.upc, cycle);
        for (uint32_t c = 0; c < geometry.counters; c++) {
            const struct upc_ref_counter *raw = upc_ref_counter(rig.upc, c);
            uint64_t sum = ((raw->word + raw->carry) << geometry.low_bits) + raw->low;
            if (sum != cycle) assert_int_equal(sum, cycle);
        }
    }
    assert_int_equal(upc_ref_work(rig.upc)->lost_carries, 0);
    rig_close(&rig);
}

/* Planted: a low part waits for its carry to be taken. */
static void UPC_12_UPC_13_no_carry_is_overwritten_and_sums_hold_at_every_cycle(void **state)
{
    (void)state;
    full_rate(bgp, 20 * 4096);
    full_rate(hostile, 20000);
    full_rate((struct chil_upc_geometry){16, 1, 4, 1}, 20000); /* a round of exactly 2^low cycles */

    /* The same rig sees a loss where there is one: a round of 2^low + 1 cycles. */
    struct chil_upc *losing = upc_ref_unchecked(&(struct chil_upc_geometry){17, 1, 4, 1});
    chil_upc_start(losing);
    for (uint32_t c = 0; c < 17; c++)
        chil_upc_level(losing, c, 0, true);
    chil_upc_advance(losing, 20000);
    assert_true(upc_ref_work(losing)->lost_carries > 0);
    chil_upc_free(losing);
}

/* The fast model for 2^32 cycles, in uneven steps, all counters of three geometries at one event
 * per cycle. Planted: one event is lost behind 2^31. */
static void UPC_12_UPC_13_UPC_50_sums_are_exact_after_2_32_cycles(void **state)
{
    (void)state;
    static const struct chil_upc_geometry geometries[] = {
        {256, 4, 12, 16}, {4096, 4, 16, 16}, {5, 4, 4, 3}};
    const uint64_t cycles = UINT64_C(1) << 32;
    for (unsigned g = 0; g < 3; g++) {
        struct rig rig;
        uint64_t random = g;
        rig_open(&rig, geometries[g], CHIL_UPC_FAST);
        chil_upc_start(rig.upc);
        rig_hold_all_high(&rig);
        for (uint64_t now = 0; now < cycles;) {
            now += 1 + random_below(&random, 20000000);
            if (now > cycles) now = cycles;
            assert_int_equal(chil_upc_advance(rig.upc, now), 0);
            assert_int_equal(
                rig_read(&rig, (uint32_t)random_below(&random, geometries[g].counters)), now);
        }
        for (uint32_t c = 0; c < geometries[g].counters; c++)
            assert_int_equal(rig_read(&rig, c), cycles);
        rig_close(&rig);
    }
}

static void needs_no_reset(enum chil_upc_model model)
{
    struct rig rig;
    rig_open(&rig, bgp, model);
    chil_upc_start(rig.upc);
    for (unsigned bit = 12; bit < 64; bit++) { /* a carry into each bit of the high part */
        uint64_t now = chil_upc_now(rig.upc), value = (UINT64_C(1) << bit) - 1;
        assert_int_equal(chil_upc_preload(rig.upc, 30, value), 0);
        rig_pulses(&rig, 30, now, 3, 2, now + 5000);
        assert_true(rig_read(&rig, 30) == value + 3);
    }
    rig_close(&rig);
}

static void UPC_50_counters_run_through_all_64_bits_without_a_reset(void **state)
{
    (void)state;
    RIG_BOTH(needs_no_reset);
}

/* One wire: high in cycles 3 to 7, 10 to 14, 17 to 21 and 24 to 28. The unit counts from cycle 5 to
 * 32, so that all four modes have different counts: 3 + 3 * 5 cycles high, 10 low, 3 rises, 4
 * falls. Planted: low counts high; falls count rises. */
static void four_modes(enum chil_upc_model model)
{
    static const uint64_t expected[] = {[CHIL_COUNT_HIGH] = 18,
                                        [CHIL_COUNT_RISE] = 3,
                                        [CHIL_COUNT_FALL] = 4,
                                        [CHIL_COUNT_LOW] = 10};
    for (int mode = 0; mode < 4; mode++) {
        struct rig rig;
        rig_open(&rig, bgp, model);
        chil_upc_select(rig.upc, 15, (enum chil_count_mode)mode);
        assert_int_equal(chil_upc_level(rig.upc, 15, 3, true), 0);
        assert_int_equal(chil_upc_advance(rig.upc, 5), 0);
        chil_upc_start(rig.upc);
        assert_int_equal(chil_upc_level(rig.upc, 15, 8, false), 0);
        struct chil_upc_train train = {15, 10, 3, 7, 5};
        assert_int_equal(chil_upc_raise(rig.upc, &train), 0);
        assert_int_equal(chil_upc_advance(rig.upc, 33), 0);
        assert_int_equal(rig_read(&rig, 15), expected[mode]);
        rig_close(&rig);
    }
}

static void UPC_22_four_signal_modes(void **state)
{
    (void)state;
    RIG_BOTH(four_modes);
}

static void touching_pulses(enum chil_upc_model model)
{
    struct rig rig;
    rig_open(&rig, bgp, model);
    chil_upc_select(rig.upc, 0, CHIL_COUNT_RISE);
    chil_upc_select(rig.upc, 1, CHIL_COUNT_FALL);
    chil_upc_select(rig.upc, 2, CHIL_COUNT_HIGH);
    chil_upc_start(rig.upc);
    for (uint32_t wire = 0; wire < 3; wire++) {
        struct chil_upc_train trains[] = {
            {wire, 0, 4, 3, 3}, {wire, 12, 1, 5, 5}, {wire, 20, 1, 1, 1}};
        assert_int_equal(chil_upc_raise_many(rig.upc, trains, 3, NULL), 0);
    }
    assert_int_equal(chil_upc_advance(rig.upc, 30), 0);
    assert_int_equal(rig_read(&rig, 0), 2);
    assert_int_equal(rig_read(&rig, 1), 2);
    assert_int_equal(rig_read(&rig, 2), 18);
    rig_close(&rig);
}

static void pulses_that_touch_are_one(void **state)
{
    (void)state;
    RIG_BOTH(touching_pulses);
}

/* The same misses on two wires, one counted by level, one by edge; their quotient is the mean
 * latency. */
static void level_and_edge(enum chil_upc_model model)
{
    struct rig rig;
    rig_open(&rig, bgp, model);
    chil_upc_select(rig.upc, 13, CHIL_COUNT_HIGH);
    chil_upc_select(rig.upc, 15, CHIL_COUNT_RISE);
    chil_upc_start(rig.upc);
    uint64_t cycle = 5, total = 0, random = 1;
    for (int miss = 0; miss < 100; miss++) {
        uint64_t latency = 20 + random_below(&random, 80);
        for (uint32_t wire = 13; wire <= 15; wire += 2) {
            struct chil_upc_train train = {wire, cycle, 1, latency, latency};
            assert_int_equal(chil_upc_raise(rig.upc, &train), 0);
        }
        cycle += latency + 1 + random_below(&random, 9);
        total += latency;
    }
    chil_upc_advance(rig.upc, cycle);
    assert_int_equal(rig_read(&rig, 13), total);
    assert_int_equal(rig_read(&rig, 15), 100);
    rig_close(&rig);
}

/* Planted: a level does not count in its first cycle. */
static void UPC_23_level_counts_cycles_where_edge_counts_occurrences(void **state)
{
    (void)state;
    RIG_BOTH(level_and_edge);
}

static void one_start_stop(enum chil_upc_model model)
{
    struct rig rig;
    rig_open(&rig, bgp, model);
    rig_hold_all_high(&rig);
    chil_upc_advance(rig.upc, 1000); /* not started yet: nothing */
    chil_upc_start(rig.upc);
    chil_upc_advance(rig.upc, 1123);
    chil_upc_stop(rig.upc);
    chil_upc_advance(rig.upc, 99999);
    for (uint32_t c = 0; c < 256; c++)
        assert_int_equal(rig_read(&rig, c), 123);
    chil_upc_start(rig.upc);
    chil_upc_advance(rig.upc, 99999 + 7);
    for (uint32_t c = 0; c < 256; c++)
        assert_int_equal(rig_read(&rig, c), 130);
    rig_close(&rig);
}

/* Planted: one cycle behind the stop counts. */
static void UPC_32_start_and_stop_act_on_all_counters_at_one_cycle(void **state)
{
    (void)state;
    RIG_BOTH(one_start_stop);
}

/* Calls: initialise, start, reset, read, overflow interrupt with a handler; the set PAPI is built
 * on. */
static void papi_level(enum chil_upc_model model)
{
    struct rig rig;
    rig_open(&rig, bgp, model);
    assert_int_equal(chil_upc_select(rig.upc, 17, CHIL_COUNT_HIGH), 0);
    assert_int_equal(chil_upc_threshold(rig.upc, 17, 30), 0);
    assert_int_equal(chil_upc_start(rig.upc), 0);
    rig_pulses(&rig, 17, 0, 20, 2, 100);
    assert_int_equal(rig_read(&rig, 17), 20);
    assert_int_equal(chil_upc_preload(rig.upc, 17, 0),
                     0); /* reset: the threshold counts from here */
    rig_pulses(&rig, 17, 100, 29, 2, 200);
    assert_int_equal(rig.count, 0);
    rig_pulses(&rig, 17, 200, 1, 2, 300);
    assert_int_equal(rig.count, 1);
    assert_int_equal(rig.notices[0].counter, 17);
    assert_int_equal(rig.notices[0].cycle, 200);
    assert_int_equal(chil_upc_stop(rig.upc), 0);
    rig_close(&rig);
}

/* Planted: a reset forgets the threshold. */
static void UPC_35_initialise_start_reset_read_and_overflow_handler(void **state)
{
    (void)state;
    RIG_BOTH(papi_level);
}

static void geometry_is_checked(void **state)
{
    (void)state;
    struct chil_error err;
    static const struct chil_upc_geometry good[] = {{256, 4, 12, 16},       {1024, 4, 14, 16},
                                                    {4096, 4, 16, 16},      {16384, 4, 18, 16},
                                                    {65536, 32, 32, 65536}, {1, 1, 1, 1}};
    for (unsigned i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(chil_upc_geometry_check(&good[i], &err), 0);
    static const struct {
        struct chil_upc_geometry geometry;
        int status;
        const char *says;
    } bad[] = {
        {{257, 4, 12, 16}, CHIL_EGEOMETRY, "use at least 13 low bits"},
        {{16384, 4, 12, 16}, CHIL_EGEOMETRY, "use at least 18 low bits"},
        {{65536, 4, 32, UINT32_MAX}, CHIL_EGEOMETRY, "use fewer counters"},
        {{0, 4, 12, 16}, CHIL_ERANGE, "counters must be 1..65536"},
        {{256, 0, 12, 16}, CHIL_ERANGE, "inputs 1..32"},
        {{256, 33, 12, 16}, CHIL_ERANGE, "inputs 1..32"},
        {{256, 4, 0, 16}, CHIL_ERANGE, "low bits 1..32"},
        {{256, 4, 33, 16}, CHIL_ERANGE, "low bits 1..32"},
        {{256, 4, 12, 0}, CHIL_ERANGE, "slots at least 1"},
        {{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}, CHIL_ERANGE, "counters must be"},
    };
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct chil_upc *upc = NULL;
        assert_int_equal(chil_upc_new(&upc, &bad[i].geometry, CHIL_UPC_FAST, NULL, NULL, &err),
                         bad[i].status);
        assert_null(upc);
        assert_non_null(strstr(err.text, bad[i].says));
    }
}

/* 1024, 4096 and 16384 counters: one pass over every counter of both models gives the same, right
 * answer. */
static void large_units(enum chil_upc_model model)
{
    static const struct chil_upc_geometry large[] = {
        {1024, 4, 14, 16}, {4096, 4, 16, 16}, {16384, 4, 18, 16}};
    for (unsigned i = 0; i < 3; i++) {
        struct rig rig;
        rig_open(&rig, large[i], model);
        chil_upc_start(rig.upc);
        for (uint32_t c = 0; c < large[i].counters; c++)
            assert_int_equal(
                chil_upc_preload(rig.upc, c, (UINT64_C(1) << large[i].low_bits) - c % 20), 0);
        for (uint32_t c = 0; c < large[i].counters; c++) {
            struct chil_upc_train train = {c, 0, c % 50 + 1, 2, 1};
            assert_int_equal(chil_upc_raise(rig.upc, &train), 0);
        }
        assert_int_equal(chil_upc_advance(rig.upc, 120), 0);
        for (uint32_t c = 0; c < large[i].counters; c++)
            assert_int_equal(rig_read(&rig, c),
                             (UINT64_C(1) << large[i].low_bits) - c % 20 + c % 50 + 1);
        rig_close(&rig);
    }
}

static void units_of_1024_4096_and_16384_counters(void **state)
{
    (void)state;
    RIG_BOTH(large_units);
}

static void refusals(enum chil_upc_model model)
{
    struct rig rig;
    rig_open(&rig, bgp, model);
    uint64_t value;
    const struct chil_upc_train odd[] = {{1024, 0, 1, 1, 1},       {0, 0, 0, 1, 1},
                                         {0, 0, 1, 1, 0},          {0, 0, 1, 1, 2},
                                         {0, 0, UINT64_MAX, 2, 1}, {0, 0, UINT64_C(1) << 61, 3, 1},
                                         {0, UINT64_MAX, 1, 1, 1}};
    for (unsigned i = 0; i < sizeof odd / sizeof *odd; i++)
        assert_int_equal(chil_upc_raise(rig.upc, &odd[i]), CHIL_EINVAL);
    assert_int_equal(chil_upc_advance(rig.upc, CHIL_UPC_CYCLE_MAX + 1), CHIL_ERANGE);
    assert_int_equal(chil_upc_advance(rig.upc, 100), 0);
    assert_int_equal(chil_upc_advance(rig.upc, 99), CHIL_EORDER);
    assert_int_equal(chil_upc_raise(rig.upc, &(struct chil_upc_train){0, 99, 1, 1, 1}),
                     CHIL_EORDER);
    assert_int_equal(chil_upc_raise(rig.upc, &(struct chil_upc_train){0, 100, 5, 4, 2}), 0);
    assert_int_equal(chil_upc_raise(rig.upc, &(struct chil_upc_train){0, 110, 1, 1, 1}),
                     CHIL_EORDER);
    assert_int_equal(chil_upc_read(rig.upc, 0, &value), CHIL_EORDER);
    assert_int_equal(chil_upc_stop(rig.upc), CHIL_EORDER);
    assert_int_equal(chil_upc_advance(rig.upc, 110), CHIL_EORDER);
    assert_int_equal(chil_upc_advance(rig.upc, 118), 0);
    assert_int_equal(chil_upc_read(rig.upc, 256, &value), CHIL_ENOENT);
    assert_int_equal(chil_upc_level(rig.upc, 1, 118, true), 0);
    assert_int_equal(chil_upc_raise(rig.upc, &(struct chil_upc_train){1, 130, 1, 1, 1}),
                     CHIL_EINVAL);
    assert_int_equal(chil_upc_batch(rig.upc, 2, 118, 128, 6, 6), 0);
    assert_int_equal(chil_upc_batch(rig.upc, 3, 118, 128, 6, 12), CHIL_EINVAL);
    assert_int_equal(chil_upc_batch(rig.upc, 3, 128, 118, 0, 0), CHIL_EINVAL);
    assert_int_equal(chil_upc_batch(rig.upc, 3, 118, 128, 0, 1), CHIL_EINVAL);
    rig_close(&rig);
}

static void wrong_calls_are_refused_and_change_nothing(void **state)
{
    (void)state;
    RIG_BOTH(refusals);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(UPC_01_all_256_counters_count_at_the_same_time),
        cmocka_unit_test(UPC_02_counters_are_12_low_and_52_high_bits),
        cmocka_unit_test(UPC_04_a_counter_has_exactly_four_inputs_of_its_own),
        cmocka_unit_test(UPC_05_the_low_part_overflows_after_4096_cycles_at_the_earliest),
        cmocka_unit_test(UPC_06_no_event_is_lost_at_roll_over),
        cmocka_unit_test(UPC_07_UPC_10_a_visit_adds_a_carry_and_clears_its_latch),
        cmocka_unit_test(UPC_09_UPC_11_one_word_per_16_cycle_slot_one_round_in_4096_cycles),
        cmocka_unit_test(UPC_12_UPC_13_no_carry_is_overwritten_and_sums_hold_at_every_cycle),
        cmocka_unit_test(UPC_12_UPC_13_UPC_50_sums_are_exact_after_2_32_cycles),
        cmocka_unit_test(UPC_50_counters_run_through_all_64_bits_without_a_reset),
        cmocka_unit_test(UPC_22_four_signal_modes),
        cmocka_unit_test(UPC_23_level_counts_cycles_where_edge_counts_occurrences),
        cmocka_unit_test(UPC_32_start_and_stop_act_on_all_counters_at_one_cycle),
        cmocka_unit_test(UPC_35_initialise_start_reset_read_and_overflow_handler),
        cmocka_unit_test(pulses_that_touch_are_one),
        cmocka_unit_test(geometry_is_checked),
        cmocka_unit_test(units_of_1024_4096_and_16384_counters),
        cmocka_unit_test(wrong_calls_are_refused_and_change_nothing),
    };
    return cmocka_run_group_tests_name("upc counting", tests, NULL, NULL);
}
