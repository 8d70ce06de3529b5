/* Thresholds, interrupts and parity: section 5 of the paper, rows UPC-08 and UPC-14 to UPC-20,
 * ERR-01, -02, -06, -07.
 */
#include "rig_upc.h"

#include "measure/upc/upc_ref.h"

static const struct chil_upc_geometry bgp = {256, 4, 12, 16};
enum { THRESHOLD = 0x910 };

static void set_interrupt(struct rig *rig, uint32_t counter, bool interrupt)
{
    struct chil_upc_config config = {0, CHIL_COUNT_HIGH, interrupt};
    assert_int_equal(chil_upc_configure(rig->upc, counter, &config), 0);
}

static void reaches(enum chil_upc_model model)
{
    struct rig rig;
    rig_open(&rig, bgp, model);
    chil_upc_start(rig.upc);
    assert_int_equal(chil_upc_threshold(rig.upc, 4, 10), 0);
    rig_pulses(&rig, 4, 0, 9, 3, 50);
    assert_int_equal(rig.count, 0);
    rig_pulses(&rig, 4, 60, 5, 3,
               90); /* reached by the first of these, exceeded by the others: one interrupt */
    assert_int_equal(rig.count, 1);
    assert_int_equal(rig.notices[0].kind, CHIL_UPC_INTERRUPT);
    assert_int_equal(rig.notices[0].cycle, 60);
    assert_int_equal(rig_read(&rig, 4), 14);
    assert_int_equal(chil_upc_threshold(rig.upc, 4, 14), CHIL_ERANGE); /* there already */
    rig_close(&rig);
}

static void UPC_14_an_interrupt_comes_when_the_threshold_is_reached(void **state)
{
    (void)state;
    RIG_BOTH(reaches);
}

static void only_enabled(enum chil_upc_model model)
{
    struct rig rig;
    rig_open(&rig, bgp, model);
    rig_store(&rig, THRESHOLD, 0);
    set_interrupt(&rig, 20, true);
    chil_upc_start(rig.upc);
    rig_hold_all_high(&rig);
    chil_upc_advance(rig.upc, 3 * 4096);
    assert_int_equal(rig.count, 1);
    assert_int_equal(rig.notices[0].counter, 20);
    assert_int_equal(rig.notices[0].cycle, 4095);
    rig_close(&rig);
}

static void UPC_15_only_counters_with_interrupt_enable_take_part(void **state)
{
    (void)state;
    RIG_BOTH(only_enabled);
}

/* Register level: the word is n after n * 4096 events; the visit that finds it arms; the next
 * carry-out interrupts. */
static void UPC_16_a_visit_arms_and_the_next_carry_out_interrupts(void **state)
{
    (void)state;
    struct rig rig;
    rig_open(&rig, bgp, CHIL_UPC_REFERENCE);
    rig_store(&rig, THRESHOLD, 2 * 4096);
    set_interrupt(&rig, 100, true);
    chil_upc_start(rig.upc);
    rig_hold_all_high(&rig);
    uint64_t carry = 2 * 4096 - 1;             /* the tick that makes the count 8192 */
    uint64_t visit = 2 * 4096 + 100 * 16 + 15; /* the first visit after it */
    bool armed;
    chil_upc_advance(rig.upc, carry + 1);
    assert_int_equal(chil_upc_armed(rig.upc, 100, &armed) || armed, 0);
    chil_upc_advance(rig.upc, visit);
    assert_int_equal(chil_upc_armed(rig.upc, 100, &armed) || armed, 0);
    chil_upc_advance(rig.upc, visit + 1);
    assert_int_equal(chil_upc_armed(rig.upc, 100, &armed), 0);
    assert_true(armed);
    chil_upc_advance(rig.upc, 3 * 4096 - 1);
    assert_int_equal(rig.count, 0);
    chil_upc_advance(rig.upc, 3 * 4096);
    assert_int_equal(rig.count, 1);
    assert_int_equal(chil_upc_armed(rig.upc, 100, &armed) || armed, 0);
    rig_close(&rig);
}

/* The interrupt is in the cycle of the event, for every slot: none waits for a visit. */
static void no_latency(enum chil_upc_model model)
{
    struct rig rig;
    rig_open(&rig, bgp, model);
    chil_upc_start(rig.upc);
    for (uint32_t c = 0; c < 256; c++)
        assert_int_equal(chil_upc_threshold(rig.upc, c, 5000), 0);
    rig_hold_all_high(&rig);
    chil_upc_advance(rig.upc, 12000);
    assert_int_equal(rig.count, 256);
    for (uint32_t c = 0; c < 256; c++) {
        assert_int_equal(rig.notices[c].counter, c);
        assert_int_equal(rig.notices[c].cycle, 4999);
    }
    rig_close(&rig);
}

static void UPC_17_the_interrupt_is_raised_by_the_carry_itself(void **state)
{
    (void)state;
    RIG_BOTH(no_latency);
}

static void multiples(enum chil_upc_model model)
{
    for (uint64_t n = 1; n <= 5; n++) {
        struct rig rig;
        rig_open(&rig, bgp, model);
        assert_int_equal(chil_upc_threshold(rig.upc, 77, n * 4096), 0);
        assert_true(rig_load(&rig, THRESHOLD) == (n - 1) * 4096); /* ERR-01: compare n - 1 */
        assert_int_equal(rig_load(&rig, 77 * 8), 0);              /* and no preload */
        chil_upc_start(rig.upc);
        rig_hold_all_high(&rig);
        chil_upc_advance(rig.upc, 6 * 4096);
        assert_int_equal(rig.count, 1);
        assert_int_equal(rig.notices[0].cycle, n * 4096 - 1);
        rig_close(&rig);
    }
}

/* Planted: n for n - 1. */
static void UPC_18_thresholds_that_are_multiples_of_4096_fire_exactly_there(void **state)
{
    (void)state;
    RIG_BOTH(multiples);
}

/* 4096 n + m by hand, as the paper says: threshold 4096 n, low part preloaded with 4096 - m. */
static void by_hand(enum chil_upc_model model)
{
    static const uint64_t ns[] = {0, 1, 2, 3, 7}, ms[] = {1, 2, 1000, 4095};
    static const uint32_t slots[] = {0, 1, 128, 255};
    for (unsigned n = 0; n < 5; n++)
        for (unsigned m = 0; m < 4; m++)
            for (unsigned slot = 0; slot < 4; slot++)
                for (uint64_t period = 1; period <= 3; period += 2) {
                    struct rig rig;
                    rig_open(&rig, bgp, model);
                    rig_store(&rig, THRESHOLD, 4096 * ns[n]);
                    rig_store(&rig, slots[slot] * 8, 4096 - ms[m]);
                    set_interrupt(&rig, slots[slot], true);
                    chil_upc_start(rig.upc);
                    uint64_t wanted = 4096 * ns[n] + ms[m];
                    rig_pulses(&rig, slots[slot], 11, wanted + 5, period,
                               11 + (wanted + 6) * period);
                    assert_int_equal(rig.count, 1);
                    assert_int_equal(rig.notices[0].cycle, 11 + (wanted - 1) * period);
                    rig_close(&rig);
                }
}

/* Planted: an interrupt one wrap early. */
static void UPC_19_a_preloaded_low_part_gives_any_threshold(void **state)
{
    (void)state;
    RIG_BOTH(by_hand);
}

/* ERR-01, ERR-02: every T from 1 on, also values that carry before the first visit. */
static void any_threshold(enum chil_upc_model model)
{
    uint64_t random = 7;
    for (uint64_t trial = 0; trial < random_trials(600); trial++) {
        struct rig rig;
        uint64_t threshold = trial < 20 ? trial + 1 : 1 + random_below(&random, 20000);
        uint32_t counter = (uint32_t)random_below(&random, 256);
        uint64_t start = random_below(&random, 5000), period = 1 + random_below(&random, 3);
        rig_open(&rig, bgp, model);
        chil_upc_start(rig.upc);
        chil_upc_advance(rig.upc, start);
        assert_int_equal(chil_upc_threshold(rig.upc, counter, threshold), 0);
        assert_int_equal(rig_read(&rig, counter), 0);
        rig_pulses(&rig, counter, start, threshold, period, start + threshold * period);
        assert_int_equal(rig.count, 1);
        assert_int_equal(rig.notices[0].cycle, start + (threshold - 1) * period);
        assert_int_equal(rig_read(&rig, counter), threshold);
        rig_close(&rig);
    }
}

/* Planted: one late where the low part is preloaded with all; a write does not compare. */
static void UPC_19_every_threshold_from_1_on_is_exact(void **state)
{
    (void)state;
    RIG_BOTH(any_threshold);
}

/* ERR-04: one register, many thresholds. True counts stay true; distances count down. */
static void many_thresholds(enum chil_upc_model model)
{
    struct rig rig;
    uint64_t random = 3, wanted[256];
    rig_open(&rig, bgp, model);
    chil_upc_start(rig.upc);
    for (uint32_t c = 0; c < 256; c++) {
        wanted[c] = 1 + random_below(&random, 15000);
        assert_int_equal(chil_upc_threshold(rig.upc, c, wanted[c]), 0);
        uint64_t distance = 0;
        assert_int_equal(chil_upc_distance(rig.upc, c, &distance), 0);
        assert_int_equal(distance, wanted[c]);
    }
    rig_hold_all_high(&rig);
    chil_upc_advance(rig.upc, 16000);
    assert_int_equal(rig.count, 256);
    for (size_t i = 0; i < 256; i++) {
        assert_int_equal(rig.notices[i].cycle, wanted[rig.notices[i].counter] - 1);
        if (i) assert_true(rig.notices[i - 1].cycle <= rig.notices[i].cycle);
        assert_int_equal(rig_read(&rig, (uint32_t)i), 16000);
    }
    assert_int_equal(chil_upc_threshold(rig.upc, 9, 0), 0); /* taken away: the count stays */
    assert_int_equal(rig_read(&rig, 9), 16000);
    assert_int_equal(rig_load(&rig, 9 * 8), 16000);
    rig_close(&rig);
}

/* Planted: counts with their hidden offset. */
static void many_counters_have_different_thresholds_at_once(void **state)
{
    (void)state;
    RIG_BOTH(many_thresholds);
}

/* Every comparison goes through one function that counts. Planted faults that were caught: an armed
 * counter is compared again when it ticks, and all counters are compared in a visit. */
static void UPC_20_comparing_costs_nothing_outside_the_visited_slot(void **state)
{
    (void)state;
    struct rig rig;
    rig_open(&rig, bgp, CHIL_UPC_REFERENCE);
    for (uint32_t c = 0; c < 256; c++)
        set_interrupt(&rig, c, true);
    chil_upc_start(rig.upc);
    rig_hold_all_high(&rig);
    struct upc_ref_work before = *upc_ref_work(rig.upc);
    for (uint64_t slot = 0; slot < 512; slot++) {
        chil_upc_advance(rig.upc, (slot + 1) * 16);
        assert_int_equal(upc_ref_work(rig.upc)->compares - before.compares, slot + 1);
    }
    /* A counter without interrupt is not compared; a write compares what it touches, once. */
    for (uint32_t c = 0; c < 256; c += 2)
        set_interrupt(&rig, c, false);
    before = *upc_ref_work(rig.upc);
    chil_upc_advance(rig.upc, 512 * 16 + 4096);
    assert_int_equal(upc_ref_work(rig.upc)->compares - before.compares, 128);
    rig_store(&rig, 8 * 3, 5000);
    assert_int_equal(upc_ref_work(rig.upc)->compares - before.compares, 129);
    rig_close(&rig);
}

/* ERR-07: rewriting the counter, its configuration or the threshold clears the armed bit and
 * compares again. */
static void rewriting(enum chil_upc_model model)
{
    struct rig rig;
    bool armed = false;
    rig_open(&rig, bgp, model);
    rig_store(&rig, THRESHOLD, 0);
    set_interrupt(&rig, 0, true);
    assert_int_equal(chil_upc_armed(rig.upc, 0, &armed), 0);
    assert_true(armed); /* word 0 equals n = 0: armed before the first event (ERR-02) */
    rig_store(&rig, 0, 4096);
    assert_int_equal(chil_upc_armed(rig.upc, 0, &armed), 0);
    assert_false(armed);
    rig_store(&rig, THRESHOLD, 4096);
    assert_int_equal(chil_upc_armed(rig.upc, 0, &armed), 0);
    assert_true(armed);
    rig_store(&rig, THRESHOLD, 8192); /* the word is 1: what was armed is so no more */
    assert_int_equal(chil_upc_armed(rig.upc, 0, &armed), 0);
    assert_false(armed);
    rig_store(&rig, THRESHOLD, 4096);
    set_interrupt(&rig, 0, false);
    assert_int_equal(chil_upc_armed(rig.upc, 0, &armed), 0);
    assert_false(armed);
    set_interrupt(&rig, 0, true);
    assert_int_equal(chil_upc_armed(rig.upc, 0, &armed), 0);
    assert_true(armed);
    rig_close(&rig);
}

/* Planted: a counter, or all, stay armed. */
static void rewriting_clears_the_armed_bit_and_compares_again(void **state)
{
    (void)state;
    RIG_BOTH(rewriting);
}

/* A pending carry is part of what is compared, or an interrupt would come one wrap late. */
static void pending_carry(enum chil_upc_model model)
{
    struct rig rig;
    bool armed = true;
    rig_open(&rig, bgp, model);
    chil_upc_start(rig.upc);
    rig_store(&rig, 200 * 8, 4095);
    set_interrupt(&rig, 200, true);
    rig_pulses(&rig, 200, 0, 1, 1, 5); /* carries; the visit is far off */
    rig_store(&rig, THRESHOLD, 0);
    assert_int_equal(chil_upc_armed(rig.upc, 200, &armed), 0);
    assert_false(armed);
    rig_store(&rig, THRESHOLD, 4096);
    assert_int_equal(chil_upc_armed(rig.upc, 200, &armed), 0);
    assert_true(armed);
    rig_close(&rig);
}

static void a_carry_in_its_latch_is_compared_too(void **state)
{
    (void)state;
    RIG_BOTH(pending_carry);
}

/* Every stored bit of a word, flipped: found at the next visit, or at a read before it; never given
 * out. */
static void each_bit(enum chil_upc_model model)
{
    struct chil_upc_bits bits;
    chil_upc_bits(&bgp, &bits);
    assert_int_equal(bits.parity_bits, 7);
    for (uint32_t bit = 0; bit < bits.word_bits + bits.parity_bits; bit++)
        for (int by_read = 0; by_read < 2; by_read++) {
            struct rig rig;
            uint64_t value = 42;
            rig_open(&rig, bgp, model);
            chil_upc_preload(rig.upc, 6, UINT64_C(0x123456789ABCDEF0));
            chil_upc_advance(rig.upc, 20);
            assert_int_equal(chil_upc_flip(rig.upc, 6, bit), 0);
            assert_int_equal(rig.count, 0);
            if (!by_read) chil_upc_advance(rig.upc, 5000);
            assert_int_equal(chil_upc_read(rig.upc, 6, &value), CHIL_EPARITY);
            assert_int_equal(chil_upc_load(rig.upc, 6 * 8, 8, &value), CHIL_EPARITY);
            assert_int_equal(chil_upc_peek(rig.upc, 6, &value), CHIL_EPARITY);
            assert_int_equal(value, 42);
            assert_int_equal(rig.count, 1);
            assert_int_equal(rig.notices[0].kind, CHIL_UPC_PARITY);
            assert_int_equal(rig.notices[0].cycle, by_read ? 20 : 6 * 16 + 15);
            assert_int_equal(chil_upc_preload(rig.upc, 6, 5), 0); /* a write makes it good again */
            assert_int_equal(rig_read(&rig, 6), 5);
            rig_close(&rig);
        }
}

/* Planted: parity of six of seven bytes; reads do not look. */
static void UPC_08_a_flipped_bit_in_a_word_is_found(void **state)
{
    (void)state;
    RIG_BOTH(each_bit);
    struct rig rig;
    rig_open(&rig, bgp, CHIL_UPC_FAST);
    assert_int_equal(chil_upc_flip(rig.upc, 6, 59), CHIL_EINVAL);
    assert_int_equal(chil_upc_flip(rig.upc, 256, 0), CHIL_ENOENT);
    rig_close(&rig);
}

/* Notices may not call back into the unit; a unit refuses such a call and goes on. */
struct meddler {
    struct chil_upc *upc;
    int start, advance, raise, store;
};

static void meddle(void *context, const struct chil_upc_notice *notice)
{
    struct meddler *meddler = context;
    (void)notice;
    meddler->start = chil_upc_start(meddler->upc);
    meddler->advance = chil_upc_advance(meddler->upc, 99999);
    meddler->raise = chil_upc_raise(meddler->upc, &(struct chil_upc_train){0, 99999, 1, 1, 1});
    meddler->store = chil_upc_store(meddler->upc, 0, 8, 0);
}

static void a_handler_cannot_change_the_past(void **state)
{
    (void)state;
    for (int model = 0; model < 2; model++) {
        struct meddler meddler = {0};
        assert_int_equal(
            chil_upc_new(&meddler.upc, &bgp, (enum chil_upc_model)model, meddle, &meddler, NULL),
            0);
        chil_upc_start(meddler.upc);
        chil_upc_threshold(meddler.upc, 0, 1);
        chil_upc_raise(meddler.upc, &(struct chil_upc_train){0, 0, 1, 1, 1});
        assert_int_equal(chil_upc_advance(meddler.upc, 10), 0);
        assert_int_equal(meddler.start, CHIL_EBUSY);
        assert_int_equal(meddler.advance, CHIL_EBUSY);
        assert_int_equal(meddler.raise, CHIL_EBUSY);
        assert_int_equal(meddler.store, CHIL_EBUSY);
        chil_upc_free(meddler.upc);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(UPC_08_a_flipped_bit_in_a_word_is_found),
        cmocka_unit_test(UPC_14_an_interrupt_comes_when_the_threshold_is_reached),
        cmocka_unit_test(UPC_15_only_counters_with_interrupt_enable_take_part),
        cmocka_unit_test(UPC_16_a_visit_arms_and_the_next_carry_out_interrupts),
        cmocka_unit_test(UPC_17_the_interrupt_is_raised_by_the_carry_itself),
        cmocka_unit_test(UPC_18_thresholds_that_are_multiples_of_4096_fire_exactly_there),
        cmocka_unit_test(UPC_19_a_preloaded_low_part_gives_any_threshold),
        cmocka_unit_test(UPC_19_every_threshold_from_1_on_is_exact),
        cmocka_unit_test(UPC_20_comparing_costs_nothing_outside_the_visited_slot),
        cmocka_unit_test(many_counters_have_different_thresholds_at_once),
        cmocka_unit_test(rewriting_clears_the_armed_bit_and_compares_again),
        cmocka_unit_test(a_carry_in_its_latch_is_compared_too),
        cmocka_unit_test(a_handler_cannot_change_the_past),
    };
    return cmocka_run_group_tests_name("upc thresholds", tests, NULL, NULL);
}
