/* What the monitors of the paper's section 5 see, built literally, beside this one on the same
 * transactions: theirs follows from ours, and streams that are the same to them are not to us. */
#include "rig_monitor.h"

enum { EVENTS = 20000, DASH_CATEGORIES = 4, LATENCIES = 1 << 12, TAGS = 16, SENDERS = 256 };

struct stream {
    struct chil_transaction all[EVENTS];
};

/* Two user and two system categories; latencies of 12 bits; tags by what a program says at run
 * time. */
static struct stream *stream_new(uint64_t seed)
{
    struct stream *stream = calloc(1, sizeof *stream);
    assert_non_null(stream);
    for (unsigned i = 0; i < EVENTS; i++) {
        struct chil_transaction *t = &stream->all[i];
        t->end = random_below(&seed, LATENCIES);
        t->category = (uint8_t)random_below(&seed, DASH_CATEGORIES);
        t->tag = (uint8_t)random_below(&seed, TAGS);
        t->sender = (uint16_t)random_below(&seed, SENDERS);
    }
    return stream;
}

static struct chil_hist *count(const char *declaration, const struct stream *stream)
{
    struct chil_hist *hist = NULL;
    assert_int_equal(chil_hist_new(&hist, declaration, NULL, NULL, NULL), 0);
    for (unsigned i = 0; i < EVENTS; i++)
        chil_hist_notify(hist, &stream->all[i]);
    return hist;
}

/* DASH: histograms fixed when its logic was compiled, here of latencies, for four categories. */
static void dash(const struct stream *stream, uint64_t (*bins)[LATENCIES])
{
    memset(bins, 0, DASH_CATEGORIES * sizeof *bins);
    for (unsigned i = 0; i < EVENTS; i++)
        bins[stream->all[i].category][stream->all[i].end - stream->all[i].start]++;
}

static void SHR_48_DASH_has_fixed_histograms_in_four_categories_and_no_tags(void **state)
{
    static uint64_t one[DASH_CATEGORIES][LATENCIES], two[DASH_CATEGORIES][LATENCIES],
        sum[DASH_CATEGORIES][LATENCIES];
    struct stream *stream = stream_new(1);
    size_t bins;
    (void)state;
    dash(stream, one);
    struct chil_hist *joint = count("latency:12 x tag x category", stream);
    const struct chil_bin *bin = chil_hist_bins(joint, &bins);
    for (size_t i = 0; i < bins; i++)
        sum[chil_hist_index(joint, 2, bin[i].key)][chil_hist_index(joint, 0, bin[i].key)] +=
            bin[i].count;
    assert_memory_equal(sum, one, sizeof one);
    for (unsigned i = 0; i < EVENTS; i++) /* other data */
        stream->all[i].tag ^= (uint8_t)(i % 2);
    dash(stream, two);
    assert_memory_equal(two, one, sizeof one);
    assert_false(are_equal(joint, count("latency:12 x tag x category", stream)));
    free(stream);
}

/* The Paragon: counters for each node, which know no latency. */
static void paragon(const struct stream *stream, uint64_t counters[SENDERS])
{
    memset(counters, 0, SENDERS * sizeof *counters);
    for (unsigned i = 0; i < EVENTS; i++)
        counters[stream->all[i].sender]++;
}

/* Planted: an index loses its highest bit. */
static void SHR_48_the_Paragon_counts_messages_and_cannot_measure_latency(void **state)
{
    uint64_t one[SENDERS], two[SENDERS], sum[SENDERS] = {0};
    struct stream *stream = stream_new(2);
    size_t bins;
    (void)state;
    paragon(stream, one);
    struct chil_hist *joint = count("sender x latency:12", stream);
    const struct chil_bin *bin = chil_hist_bins(joint, &bins);
    for (size_t i = 0; i < bins; i++)
        sum[chil_hist_index(joint, 0, bin[i].key)] += bin[i].count;
    assert_memory_equal(sum, one, sizeof one);
    for (unsigned i = 0; i + 1 < EVENTS; i += 2) { /* the one waits as long as the other did */
        uint64_t end = stream->all[i].end;
        stream->all[i].end = stream->all[i + 1].end;
        stream->all[i + 1].end = end;
    }
    paragon(stream, two);
    assert_memory_equal(two, one, sizeof one);
    assert_false(are_equal(joint, count("sender x latency:12", stream)));
    free(stream);
}

/* The Alpha 21064: a counter that is set, goes down at each miss, and interrupts at zero; then it
 * is set again. */
static void interrupt(void *context, uint32_t address)
{
    bool *interrupted = context;
    *interrupted = address == 0;
}

/* Planted: the threshold of presets is one less. */
static void SHR_48_the_Alpha_s_counter_that_goes_down_is_a_bin_that_is_preset(void **state)
{
    (void)state;
    for (uint64_t period = 1; period < 200; period = 3 * period / 2 + 1) {
        bool interrupted = false;
        uint64_t counter = period, interrupts = 0;
        struct chil_monitor *board = board_new(20, interrupt, &interrupted);
        assert_int_equal(chil_monitor_preload(board, 0, period - 1), 0);
        set(board, CHIL_MONITOR_CONTROL, CHIL_MONITOR_RUN);
        for (unsigned i = 0; i < 1000; i++) {
            transact(board, 0, 0, 0, 0);
            bool zero = --counter == 0;
            assert_int_equal(interrupted, zero);
            if (!zero) continue;
            counter = period;
            interrupts++;
            interrupted = false;
            assert_int_equal(chil_monitor_preload(board, 0, period - 1), 0);
        }
        assert_int_equal(interrupts, 1000 / period);
        chil_monitor_free(board);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(SHR_48_DASH_has_fixed_histograms_in_four_categories_and_no_tags),
        cmocka_unit_test(SHR_48_the_Paragon_counts_messages_and_cannot_measure_latency),
        cmocka_unit_test(SHR_48_the_Alpha_s_counter_that_goes_down_is_a_bin_that_is_preset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
