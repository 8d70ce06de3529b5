/* The board: the paper's statements, each under its id. */
#include "monitor_literal.h"
#include "rig_monitor.h"

/* --- Selections ------------------------------------------------------------------------------ */

/* Planted: half a sender is legal; one rule is reported as the other. */
static void SHR_18_SHR_19_of_792_choices_190_are_taken_and_602_refused_by_their_rule(void **state)
{
    uint32_t masks[792];
    unsigned legal = 0, refused = 0, layouts_differ = 0;
    struct chil_monitor *board = board_new(20, NULL, NULL);
    (void)state;
    assert_int_equal(literal_choices(masks), 792);
    for (unsigned i = 0; i < 792; i++) {
        int rule = literal_rule(masks[i]), field[5];
        uint64_t before = get(board, CHIL_MONITOR_CHUNKS),
                 layout_before = get(board, CHIL_MONITOR_LAYOUT);
        set(board, CHIL_MONITOR_CHUNKS, masks[i]);
        uint64_t status = get(board, CHIL_MONITOR_STATUS);
        if (rule) {
            refused++;
            assert_int_equal(status, CHIL_MONITOR_REFUSED | rule << 8);
            assert_int_equal(get(board, CHIL_MONITOR_CHUNKS), before);
            assert_int_equal(get(board, CHIL_MONITOR_LAYOUT), layout_before);
            assert_true(strlen(chil_rule_text((enum chil_rule)rule)) > 20);
            continue;
        }
        legal++;
        assert_int_equal(status, 0);
        assert_int_equal(get(board, CHIL_MONITOR_CHUNKS), masks[i]);
        assert_true(literal_layout(masks[i], field));
        for (unsigned f = 0; f < 5; f++)
            layouts_differ += (get(board, CHIL_MONITOR_LAYOUT) >> 4 * f & 15) != (unsigned)field[f];
    }
    assert_int_equal(legal, 190);
    assert_int_equal(refused, 602);
    assert_int_equal(layouts_differ, 0);
    /* What is no choice of five at all. */
    const uint64_t others[] = {0, 0x0F, 0x3F, 0xFFF, 0x101F, UINT64_MAX};
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++) {
        set(board, CHIL_MONITOR_CHUNKS, others[i]);
        assert_int_equal(get(board, CHIL_MONITOR_STATUS),
                         CHIL_MONITOR_REFUSED | CHIL_RULE_FIVE << 8);
    }
    chil_monitor_free(board);
}

/* Planted: each multiplexer has the high chunk of the sender, too. */
static void SHR_20_no_multiplexer_has_more_than_8_inputs_and_two_have_7(void **state)
{
    unsigned of_size[13] = {0};
    (void)state;
    for (unsigned f = 0; f < CHIL_FIELDS; f++)
        of_size[__builtin_popcount(chil_monitor_inputs(f))]++;
    assert_int_equal(of_size[7], 2);
    assert_int_equal(of_size[8], 3);
    /* And every layout uses only inputs that are there. */
    for (uint32_t mask = 0; mask < 1 << 12; mask++) {
        uint8_t layout[CHIL_FIELDS];
        if (!chil_monitor_layout(mask, layout, NULL)) continue;
        for (unsigned f = 0; f < CHIL_FIELDS; f++)
            assert_true(chil_monitor_inputs(f) >> layout[f] & 1);
    }
}

/* Planted: the fields in reverse order. */
static void SHR_17_SHR_23_the_address_of_figure_3_is_category_tag_and_12_latency_bits(void **state)
{
    struct chil_monitor *board = board_new(20, NULL, NULL);
    (void)state;
    set(board, CHIL_MONITOR_CHUNKS, CATEGORY_TAG_LATENCY);
    assert_int_equal(get(board, CHIL_MONITOR_LAYOUT), 0xBA210);
    set(board, CHIL_MONITOR_CATEGORY, 5);
    set_tag(board, 0x12345678, 9);
    set(board, CHIL_MONITOR_CONTROL, CHIL_MONITOR_RUN);
    transact(board, 0xFABC, 7, 3, 0x12345FFF);
    assert_int_equal(word(board, 0x59ABC), 1);
    transact(board, 0xABC, 7, 3, 0x12346000); /* the next page has no tag */
    assert_int_equal(word(board, 0x50ABC), 1);
    chil_monitor_free(board);
}

/* ERR-22: the layout is kept with the data. Planted: a new selection keeps the old layout while the
 * board runs. */
static void SHR_22_the_selection_changes_between_experiments_and_says_its_layout(void **state)
{
    struct chil_monitor *board = board_new(20, NULL, NULL);
    (void)state;
    set(board, CHIL_MONITOR_CONTROL, CHIL_MONITOR_RUN);
    transact(board, 0x12345, 0xABC, 0xDE, 0);
    assert_int_equal(get(board, CHIL_MONITOR_LAYOUT), 0x43210);
    assert_int_equal(word(board, 0x12345), 1);
    set(board, CHIL_MONITOR_CHUNKS, SENDER_SIZE);
    uint64_t layout = get(board, CHIL_MONITOR_LAYOUT);
    uint32_t address = 0;
    const uint32_t chunks[12] = {5, 4, 3, 2, 1, 0xC, 0xB, 0xA, 0xE, 0xD, 0, 0};
    for (unsigned f = 0; f < 5; f++)
        address |= chunks[layout >> 4 * f & 15] << 4 * f;
    transact(board, 0x12345, 0xABC, 0xDE, 0);
    assert_int_equal(word(board, address), 1);
    assert_string_equal(chil_chunk_name(layout >> 16 & 15), "sender 1");
    chil_monitor_free(board);
}

/* --- Variables ------------------------------------------------------------------------------- */

/* Planted: a difference of 43 bits; no shift; a maximum that is outside; the minimum instead of
 * zeros. */
static void SHR_10_SHR_11_latency_is_the_44_bit_difference_shifted_and_limited(void **state)
{
    struct chil_monitor *board = board_new(20, NULL, NULL);
    (void)state;
    set(board, CHIL_MONITOR_CONTROL, CHIL_MONITOR_RUN);
    /* The receiver's clock has wrapped: the difference is right all the same. */
    struct chil_transaction t = {.start = (UINT64_C(1) << 44) - 5, .end = 7};
    chil_monitor_notify(board, &t);
    assert_int_equal(word(board, 12), 1);
    transact(board, 0xABCDE12345, 0, 0, 0); /* by default the lowest 20 bits */
    assert_int_equal(word(board, 0x12345), 1);
    set(board, CHIL_MONITOR_SHIFT, 8);
    transact(board, 0xABCDE12345, 0, 0, 0);
    assert_int_equal(word(board, 0xCDE123 & 0xFFFFF), 1);
    /* All 44 bits are there: the highest 20 by the largest useful shift. */
    set(board, CHIL_MONITOR_SHIFT, 24);
    transact(board, 0xFEDCB000001, 0, 0, 0);
    assert_int_equal(word(board, 0xFEDCB), 1);
    set(board, CHIL_MONITOR_SHIFT, 8);
    /* ERR-19: the limits are of the difference before the shift, and equal to them is inside. */
    set(board, CHIL_MONITOR_MINIMUM, 0x1000);
    set(board, CHIL_MONITOR_MAXIMUM, 0x2000);
    transact(board, 0x0FFF, 0, 0, 0);
    transact(board, 0x1000, 0, 0, 0);
    transact(board, 0x2000, 0, 0, 0);
    transact(board, 0x2001, 0, 0, 0);
    assert_int_equal(word(board, 0), 1);
    assert_int_equal(word(board, 0x10), 1);
    assert_int_equal(word(board, 0x20), 1);
    assert_int_equal(word(board, 0xFFFFF), 1);
    chil_monitor_free(board);
}

/* Planted: 11 bits of the size; 4 of the sender. */
static void SHR_12_SHR_13_size_has_12_bits_and_sender_8(void **state)
{
    struct chil_monitor *board = board_new(20, NULL, NULL);
    uint64_t sum = 0;
    (void)state;
    set(board, CHIL_MONITOR_CHUNKS, SENDER_SIZE);
    set(board, CHIL_MONITOR_CONTROL, CHIL_MONITOR_RUN);
    for (uint32_t size = 0; size < 4096; size++)
        for (unsigned sender = 0; sender < 256; sender++)
            transact(board, 0, size, sender, 0);
    for (uint32_t i = 0; i < WORDS; i++)
        sum += word(board, i) == 1;
    assert_int_equal(sum, WORDS);              /* each of 2^20 pairs has a bin of its own */
    transact(board, 0, 4096 + 17, 256 + 3, 0); /* wires that are not there */
    uint64_t twos = 0;
    for (uint32_t i = 0; i < WORDS; i++)
        twos += word(board, i) == 2;
    assert_int_equal(twos, 1);
    chil_monitor_free(board);
}

/* Planted: 3 bits of the category in the address; 5 in the register. */
static void SHR_14_SHR_36_a_category_of_4_bits_makes_an_array_of_histograms(void **state)
{
    struct chil_monitor *board = board_new(20, NULL, NULL);
    (void)state;
    set(board, CHIL_MONITOR_CHUNKS, CATEGORY_TAG_LATENCY);
    set(board, CHIL_MONITOR_CONTROL, CHIL_MONITOR_RUN);
    for (unsigned category = 0; category < 16; category++) {
        set(board, CHIL_MONITOR_CATEGORY, category);
        for (unsigned i = 0; i <= category; i++)
            transact(board, 100 + category, 0, 0, 0);
    }
    for (uint32_t category = 0; category < 16; category++)
        for (uint32_t latency = 0; latency < 4096; latency++)
            assert_int_equal(word(board, category << 16 | latency),
                             latency == 100 + category ? category + 1 : 0);
    set(board, CHIL_MONITOR_CATEGORY, 0x35);
    assert_int_equal(get(board, CHIL_MONITOR_CATEGORY), 5);
    chil_monitor_free(board);
}

/* Planted: user mode may; a tag of 8 bits. */
static void SHR_15_page_tags_are_written_by_the_supervisor_only(void **state)
{
    struct chil_monitor *board = board_new(20, NULL, NULL);
    uint64_t value = 77;
    (void)state;
    assert_int_equal(chil_monitor_store(board, CHIL_MONITOR_USER, CHIL_MONITOR_PAGE, 8, 1),
                     CHIL_EPERM);
    assert_int_equal(chil_monitor_store(board, CHIL_MONITOR_USER, CHIL_MONITOR_TAG, 8, 1),
                     CHIL_EPERM);
    assert_int_equal(chil_monitor_load(board, CHIL_MONITOR_USER, CHIL_MONITOR_TAG, 8, &value),
                     CHIL_EPERM);
    set(board, CHIL_MONITOR_EXPORT, 3);
    assert_int_equal(chil_monitor_store(board, CHIL_MONITOR_REMOTE, CHIL_MONITOR_TAG, 8, 1),
                     CHIL_EPERM);
    assert_int_equal(value, 77);
    set_tag(board, 0, 0x1F); /* four bits */
    set(board, CHIL_MONITOR_PAGE, 0);
    assert_int_equal(get(board, CHIL_MONITOR_TAG), 15);
    assert_int_equal(chil_monitor_store(board, CHIL_MONITOR_USER, CHIL_MONITOR_CATEGORY, 8, 1), 0);
    chil_monitor_free(board);
}

/* --- Modes ----------------------------------------------------------------------------------- */

/* Planted: a stopped board counts; the hundredth of a bin is lost; the tag is no part of the
 * address. */
static void SHR_02_SHR_03_SHR_04_every_transaction_counts_in_the_word_of_its_address(void **state)
{
    struct chil_monitor *board = board_new(20, NULL, NULL);
    uint64_t sum = 0, random = 7;
    uint64_t joint[4][4] = {{0}};
    (void)state;
    set(board, CHIL_MONITOR_CHUNKS, TAG_SENDER | 3); /* and 8 bits of the latency */
    set_tag(board, 0x1000, 1);
    set_tag(board, 0x2000, 2);
    set_tag(board, 0x3000, 3);
    transact(board, 1, 0, 0, 0); /* stopped: not seen */
    set(board, CHIL_MONITOR_CONTROL, CHIL_MONITOR_RUN);
    for (unsigned i = 0; i < 10000; i++) {
        unsigned tag = (unsigned)random_below(&random, 4),
                 sender = (unsigned)random_below(&random, tag + 1);
        joint[tag][sender]++;
        transact(board, 0, 0, sender, tag << 12);
    }
    set(board, CHIL_MONITOR_CONTROL, 0);
    transact(board, 1, 0, 0, 0);
    uint64_t layout = get(board, CHIL_MONITOR_LAYOUT);
    unsigned tag_at = 0, sender_at = 0;
    for (unsigned f = 0; f < 5; f++) {
        if ((layout >> 4 * f & 15) == CHIL_CHUNK_TAG) tag_at = 4 * f;
        if ((layout >> 4 * f & 15) == CHIL_CHUNK_SENDER) sender_at = 4 * f;
    }
    for (uint32_t i = 0; i < WORDS; i++)
        sum += word(board, i);
    assert_int_equal(sum, 10000);
    for (unsigned tag = 0; tag < 4; tag++)
        for (unsigned sender = 0; sender < 4; sender++)
            assert_int_equal(word(board, tag << tag_at | sender << sender_at), joint[tag][sender]);
    chil_monitor_free(board);
}

/* Planted: the mode bit is not looked at; the address does not step; bits 4 to 23 of the time. */
static void SHR_02_SHR_05_SHR_06_a_trace_record_is_20_bits_of_fields_and_20_of_time(void **state)
{
    struct chil_monitor *board = board_new(20, NULL, NULL);
    (void)state;
    set(board, CHIL_MONITOR_CONTROL, CHIL_MONITOR_RUN | CHIL_MONITOR_TRACE);
    for (uint64_t i = 0; i < 100; i++)
        chil_monitor_notify(board,
                            &(struct chil_transaction){.start = UINT64_C(0x123456789AB) + i,
                                                       .end = UINT64_C(0x123456789AB) + 3 * i});
    assert_int_equal(get(board, CHIL_MONITOR_RECORDS), 100);
    for (uint64_t i = 0; i < 100; i++)
        assert_int_equal(word(board, (uint32_t)i),
                         (UINT64_C(0x123456789AB) + 3 * i) % WORDS * WORDS + 2 * i);
    assert_int_equal(word(board, 100), 0);
    /* The same register back: the same transaction counts in its word, and no record is added. */
    set(board, CHIL_MONITOR_CONTROL, CHIL_MONITOR_RUN);
    transact(board, 0x70000, 0, 0, 0);
    assert_int_equal(word(board, 0x70000), 1);
    assert_int_equal(get(board, CHIL_MONITOR_RECORDS), 100);
    chil_monitor_free(board);
}

/* ERR-20. Planted: memory always begins again. */
static void SHR_05_a_trace_ends_with_memory_or_begins_again(void **state)
{
    struct chil_monitor *board = board_new(20, NULL, NULL);
    (void)state;
    set(board, CHIL_MONITOR_CONTROL, CHIL_MONITOR_RUN | CHIL_MONITOR_TRACE);
    for (unsigned i = 0; i < WORDS; i++)
        transact(board, 1, 0, 0, 0);
    assert_int_equal(get(board, CHIL_MONITOR_STATUS), 0);
    transact(board, 2, 0, 0, 0);
    assert_int_equal(get(board, CHIL_MONITOR_STATUS), CHIL_MONITOR_FULL);
    assert_int_equal(word(board, 0) % WORDS, 1);
    set(board, CHIL_MONITOR_CONTROL, CHIL_MONITOR_RUN | CHIL_MONITOR_TRACE | CHIL_MONITOR_WRAP);
    transact(board, 3, 0, 0, 0);
    assert_int_equal(word(board, 0) % WORDS, 3);
    assert_int_equal(get(board, CHIL_MONITOR_RECORDS), 1);
    chil_monitor_free(board);
}

/* Planted: the second of one moment is dropped. */
static void SHR_07_transactions_of_one_moment_are_all_seen(void **state)
{
    struct chil_monitor *board = board_new(20, NULL, NULL);
    (void)state;
    set(board, CHIL_MONITOR_CONTROL, CHIL_MONITOR_RUN);
    for (unsigned i = 0; i < 100000; i++) /* 625 ns are 6.25 ticks; these have none between them */
        transact(board, 5, 0, 0, 0);
    assert_int_equal(word(board, 5), 100000);
    chil_monitor_free(board);
}

/* Planted: 39 bits; 20 address bits whatever was asked for. */
static void SHR_16_words_have_40_bits_and_there_may_be_16_million(void **state)
{
    struct chil_error err = {0};
    struct chil_monitor *board = NULL;
    (void)state;
    assert_int_equal(chil_monitor_new(&board, 19, NULL, NULL, &err), CHIL_ERANGE);
    assert_int_equal(chil_monitor_new(&board, 25, NULL, NULL, &err), CHIL_ERANGE);
    board = board_new(24, NULL, NULL);
    set_word(board, (1 << 24) - 1, UINT64_MAX);
    assert_int_equal(word(board, (1 << 24) - 1), WORD_MAX);
    set_word(board, 1 << 24, 5); /* beyond: nothing */
    assert_int_equal(word(board, 1 << 24), 0);
    assert_int_equal(word(board, 0), 0);
    chil_monitor_free(board);
}

/* Planted: each jumper one bit too high. */
static void SHR_21_high_address_bits_come_from_chosen_signals(void **state)
{
    struct chil_monitor *board = board_new(24, NULL, NULL);
    (void)state;
    /* Bits 20 and 21: the lowest of the sender; 22 is the highest of the category; 23 is open. */
    set(board, CHIL_MONITOR_JUMPERS, 48 << 16 | 34 << 8 | 33);
    assert_int_equal(get(board, CHIL_MONITOR_JUMPERS), 48 << 16 | 34 << 8 | 33);
    set(board, CHIL_MONITOR_CATEGORY, 8);
    set(board, CHIL_MONITOR_CONTROL, CHIL_MONITOR_RUN);
    transact(board, 6, 0, 3, 0);
    transact(board, 6, 0, 0xFC, 0);
    assert_int_equal(word(board, 7 << 20 | 6), 1);
    assert_int_equal(word(board, 4 << 20 | 6), 1);
    chil_monitor_free(board);
}

/* --- Thresholds ------------------------------------------------------------------------------ */

struct seen {
    unsigned count;
    uint32_t last;
};

static void see(void *context, uint32_t address)
{
    struct seen *seen = context;
    seen->count++;
    seen->last = address;
}

/* ERR-18 and ERR-21. Planted: >= instead of >; another address; once per bin unasked. */
static void
SHR_24_SHR_25_the_increment_that_passes_the_threshold_interrupts_with_its_address(void **state)
{
    struct seen seen = {0};
    struct chil_monitor *board = board_new(20, see, &seen);
    (void)state;
    set(board, CHIL_MONITOR_THRESHOLD, 10);
    set(board, CHIL_MONITOR_CONTROL, CHIL_MONITOR_RUN);
    for (unsigned i = 0; i < 10; i++)
        transact(board, 0x321, 0, 0, 0);
    assert_int_equal(seen.count, 0); /* 10 does not exceed 10 */
    assert_int_equal(get(board, CHIL_MONITOR_OVERFLOW), UINT64_MAX);
    transact(board, 0x321, 0, 0, 0);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.last, 0x321);
    assert_int_equal(get(board, CHIL_MONITOR_STATUS), CHIL_MONITOR_INTERRUPT);
    assert_int_equal(get(board, CHIL_MONITOR_QUEUED), 1);
    assert_int_equal(get(board, CHIL_MONITOR_OVERFLOW), 0x321);
    transact(board, 0x321, 0, 0, 0); /* and every update after it */
    assert_int_equal(seen.count, 2);
    set(board, CHIL_MONITOR_CONTROL, CHIL_MONITOR_RUN | CHIL_MONITOR_ONCE);
    for (unsigned i = 0; i < 20; i++)
        transact(board, 0x322, 0, 0, 0);
    assert_int_equal(seen.count, 3);
    chil_monitor_free(board);
}

/* Planted: the wrapped word is compared. */
static void SHR_24_the_sum_is_compared_before_the_word_wraps(void **state)
{
    struct seen seen = {0};
    struct chil_monitor *board = board_new(20, see, &seen);
    (void)state;
    set_word(board, 4, WORD_MAX - 1);
    set(board, CHIL_MONITOR_CONTROL, CHIL_MONITOR_RUN);
    transact(board, 4, 0, 0, 0);
    assert_int_equal(seen.count, 0);
    transact(board, 4, 0, 0, 0);
    assert_int_equal(seen.count, 1);
    assert_int_equal(word(board, 4), 0);
    transact(board, 4, 0, 0, 0);
    assert_int_equal(seen.count, 1);
    assert_int_equal(word(board, 4), 1);
    chil_monitor_free(board);
}

/* Planted: no flag; the queue gives its first address for ever. */
static void SHR_26_overflow_addresses_queue_and_a_full_queue_is_flagged(void **state)
{
    struct chil_monitor *board = board_new(20, NULL, NULL);
    (void)state;
    set(board, CHIL_MONITOR_THRESHOLD, 0);
    set(board, CHIL_MONITOR_CONTROL, CHIL_MONITOR_RUN);
    for (unsigned i = 0; i < 16; i++)
        transact(board, i, 0, 0, 0);
    assert_int_equal(get(board, CHIL_MONITOR_STATUS), CHIL_MONITOR_INTERRUPT);
    transact(board, 99, 0, 0, 0);
    assert_int_equal(get(board, CHIL_MONITOR_STATUS), CHIL_MONITOR_INTERRUPT | CHIL_MONITOR_LOST);
    for (unsigned i = 0; i < 16; i++)
        assert_int_equal(get(board, CHIL_MONITOR_OVERFLOW), i);
    assert_int_equal(get(board, CHIL_MONITOR_OVERFLOW), UINT64_MAX);
    assert_int_equal(word(board, 99), 1); /* counted, whatever became of its address */
    set(board, CHIL_MONITOR_STATUS, CHIL_MONITOR_LOST);
    assert_int_equal(get(board, CHIL_MONITOR_STATUS), CHIL_MONITOR_INTERRUPT);
    transact(board, 100, 0, 0, 0);
    assert_int_equal(get(board, CHIL_MONITOR_OVERFLOW), 100);
    chil_monitor_free(board);
}

/* Planted: no switch. */
static void SHR_27_a_threshold_switches_to_trace_from_the_next_transaction_on(void **state)
{
    struct chil_monitor *board = board_new(20, NULL, NULL);
    (void)state;
    set(board, CHIL_MONITOR_THRESHOLD, 3);
    set(board, CHIL_MONITOR_RECORDS, 0x1000);
    set(board, CHIL_MONITOR_CONTROL, CHIL_MONITOR_RUN | CHIL_MONITOR_TOGGLE);
    for (unsigned i = 1; i <= 10; i++)
        transact(board, 7, 0, 0, 0);
    assert_int_equal(get(board, CHIL_MONITOR_CONTROL),
                     CHIL_MONITOR_RUN | CHIL_MONITOR_TOGGLE | CHIL_MONITOR_TRACE);
    assert_int_equal(word(board, 7), 4);
    assert_int_equal(get(board, CHIL_MONITOR_RECORDS), 0x1006);
    assert_int_equal(word(board, 0x1000) % WORDS, 7);
    chil_monitor_free(board);
}

static void SHR_28_one_senders_packets_are_in_2_12_bins(void **state)
{
    uint8_t layout[CHIL_FIELDS];
    unsigned bins = 0, sender_fields = 0;
    (void)state;
    assert_true(chil_monitor_layout(SENDER_SIZE, layout, NULL));
    uint32_t mask = 0;
    for (unsigned f = 0; f < CHIL_FIELDS; f++)
        if (layout[f] == CHIL_CHUNK_SENDER || layout[f] == CHIL_CHUNK_SENDER + 1) {
            mask |= 15U << 4 * f;
            sender_fields++;
        }
    for (uint32_t i = 0; i < WORDS; i++)
        bins += (i & mask) == 0; /* what polling for sender 0 has to read */
    assert_int_equal(sender_fields, 2);
    assert_int_equal(bins, 1 << 12);
}

/* Planted: the count with its preset; a preset too high by one. */
static void SHR_40_presets_give_each_bin_its_own_threshold_and_true_counts(void **state)
{
    struct seen seen = {0};
    struct chil_monitor *board = board_new(20, see, &seen);
    (void)state;
    for (uint32_t bin = 0; bin < 50; bin++)
        assert_int_equal(chil_monitor_preload(board, bin, bin), 0);
    assert_int_equal(get(board, CHIL_MONITOR_THRESHOLD), WORD_MAX);
    assert_int_equal(word(board, 7), WORD_MAX - 7);
    set(board, CHIL_MONITOR_CONTROL, CHIL_MONITOR_RUN);
    for (uint32_t bin = 0; bin < 50; bin++) {
        for (uint32_t i = 0; i < bin; i++)
            transact(board, bin, 0, 0, 0);
        assert_int_equal(seen.count, bin); /* T events are tolerated */
        transact(board, bin, 0, 0, 0);
        assert_int_equal(seen.count, bin + 1);
        assert_int_equal(seen.last, bin);
        assert_int_equal(chil_monitor_count(board, bin), bin + 1);
    }
    assert_int_equal(chil_monitor_preload(board, WORDS, 1), CHIL_ERANGE);
    assert_int_equal(chil_monitor_preload(board, 0, WORD_MAX + 1), CHIL_ERANGE);
    chil_monitor_free(board);
}

/* Planted: a bin that wraps to zero does not interrupt. */
static void SHR_41_SHR_42_one_illegal_event_among_many_legal_ones_interrupts_at_once(void **state)
{
    struct seen seen = {0};
    struct chil_monitor *board = board_new(20, see, &seen);
    uint64_t random = 3;
    (void)state;
    set(board, CHIL_MONITOR_CHUNKS,
        TAG_SENDER | 0xC0); /* with two chunks of the size, which stay 0 */
    set_tag(board, 0x5000, 6);
    uint64_t layout = get(board, CHIL_MONITOR_LAYOUT);
    uint32_t bin = 0;
    for (unsigned f = 0; f < 5; f++) {
        if ((layout >> 4 * f & 15) == CHIL_CHUNK_TAG) bin |= 6U << 4 * f;
        if ((layout >> 4 * f & 15) == CHIL_CHUNK_SENDER) bin |= 3U << 4 * f;
    }
    set_word(board, bin, WORD_MAX); /* sender 3 must not write pages with tag 6 */
    set(board, CHIL_MONITOR_CONTROL, CHIL_MONITOR_RUN);
    for (unsigned i = 0; i < 200000; i++) {
        unsigned sender = (unsigned)random_below(&random, 16);
        transact(board, 9, 0, sender, sender == 3 ? 0x4000 : 0x5000);
    }
    assert_int_equal(seen.count, 0);
    transact(board, 9, 0, 3, 0x5FFF);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.last, bin);
    chil_monitor_free(board);
}

/* --- Commands -------------------------------------------------------------------------------- */

/* Planted: a range of one word too many; reading does not step. */
static void SHR_29_SHR_32_an_experiment_with_the_ten_commands(void **state)
{
    struct chil_monitor *board = board_new(20, NULL, NULL);
    (void)state;
    set(board, CHIL_MONITOR_ADDRESS, 0x40000); /* a range, not to zero */
    set(board, CHIL_MONITOR_COUNT, 0x10000);
    set(board, CHIL_MONITOR_FILL, 5);
    set(board, CHIL_MONITOR_CHUNKS, CATEGORY_TAG_LATENCY);
    set(board, CHIL_MONITOR_SHIFT, 4);
    set(board, CHIL_MONITOR_CATEGORY, 4);
    set(board, CHIL_MONITOR_THRESHOLD, 7);
    set(board, CHIL_MONITOR_CONTROL, CHIL_MONITOR_TOGGLE); /* mode, and switching to trace */
    transact(board, 0x100, 0, 0, 0);
    set(board, CHIL_MONITOR_CONTROL, CHIL_MONITOR_TOGGLE | CHIL_MONITOR_RUN);
    transact(board, 0x100, 0, 0, 0);
    transact(board, 0x10F, 0, 0, 0);
    set(board, CHIL_MONITOR_CONTROL, CHIL_MONITOR_TOGGLE);
    transact(board, 0x100, 0, 0, 0);
    set(board, CHIL_MONITOR_ADDRESS, 0x40000);
    for (uint32_t i = 0; i < 0x10000; i++)
        assert_int_equal(get(board, CHIL_MONITOR_DATA), i == 0x10 ? 7 : 5);
    assert_int_equal(get(board, CHIL_MONITOR_ADDRESS), 0x50000);
    assert_int_equal(get(board, CHIL_MONITOR_DATA), 0);
    assert_int_equal(word(board, 0x3FFFF), 0);
    chil_monitor_free(board);
}

/* Planted: a high half is forgotten; a low half of another moment. */
static void SHR_30_a_command_is_one_store_of_a_word(void **state)
{
    struct chil_monitor *board = board_new(20, NULL, NULL);
    uint64_t value;
    (void)state;
    assert_int_equal(chil_monitor_store(board, CHIL_MONITOR_USER, CHIL_MONITOR_CATEGORY + 4, 4, 7),
                     0);
    assert_int_equal(get(board, CHIL_MONITOR_CATEGORY), 7);
    /* A number of more than 32 bits: high half, low half. */
    assert_int_equal(chil_monitor_store(board, CHIL_MONITOR_USER, CHIL_MONITOR_THRESHOLD, 4, 0x12),
                     0);
    assert_int_equal(get(board, CHIL_MONITOR_THRESHOLD), WORD_MAX);
    assert_int_equal(
        chil_monitor_store(board, CHIL_MONITOR_USER, CHIL_MONITOR_THRESHOLD + 4, 4, 0x34567890), 0);
    assert_int_equal(get(board, CHIL_MONITOR_THRESHOLD), 0x1234567890);
    assert_int_equal(chil_monitor_store(board, CHIL_MONITOR_USER, CHIL_MONITOR_THRESHOLD + 4, 4, 9),
                     0);
    assert_int_equal(get(board, CHIL_MONITOR_THRESHOLD), 9);
    set_word(board, 5, 0x9876543210);
    set_word(board, 6, 0x11);
    set(board, CHIL_MONITOR_ADDRESS, 5);
    assert_int_equal(chil_monitor_load(board, CHIL_MONITOR_USER, CHIL_MONITOR_DATA, 4, &value), 0);
    assert_int_equal(value, 0x98);
    assert_int_equal(chil_monitor_load(board, CHIL_MONITOR_USER, CHIL_MONITOR_DATA + 4, 4, &value),
                     0);
    assert_int_equal(value, 0x76543210);
    assert_int_equal(chil_monitor_load(board, CHIL_MONITOR_USER, CHIL_MONITOR_DATA + 4, 4, &value),
                     0);
    assert_int_equal(value, 0x11);
    chil_monitor_free(board);
}

static void accesses_that_are_none_change_nothing(void **state)
{
    struct chil_monitor *board = board_new(20, NULL, NULL);
    uint64_t value = 3;
    const struct {
        uint64_t offset;
        unsigned width;
        int status;
    } bad[] = {
        {0, 2, CHIL_EINVAL},     {0, 16, CHIL_EINVAL},      {4, 8, CHIL_EINVAL},
        {2, 4, CHIL_EINVAL},     {0x90, 8, CHIL_ENOENT},    {0x7F8, 8, CHIL_ENOENT},
        {0x810, 8, CHIL_ENOENT}, {1 << 20, 4, CHIL_ENOENT}, {UINT64_MAX - 7, 8, CHIL_ENOENT}};
    (void)state;
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(
            chil_monitor_load(board, CHIL_MONITOR_SUPERVISOR, bad[i].offset, bad[i].width, &value),
            bad[i].status);
        assert_int_equal(
            chil_monitor_store(board, CHIL_MONITOR_SUPERVISOR, bad[i].offset, bad[i].width, 1),
            bad[i].status);
    }
    assert_int_equal(value, 3);
    assert_int_equal(get(board, CHIL_MONITOR_CONTROL), 0);
    chil_monitor_free(board);
}

static void exported_registers_are_written_from_other_nodes(void **state)
{
    struct chil_monitor *board = board_new(20, NULL, NULL);
    (void)state;
    assert_int_equal(chil_monitor_store(board, CHIL_MONITOR_REMOTE, CHIL_MONITOR_CATEGORY, 8, 3),
                     CHIL_EPERM);
    set(board, CHIL_MONITOR_EXPORT, 1);
    assert_int_equal(chil_monitor_store(board, CHIL_MONITOR_REMOTE, CHIL_MONITOR_CATEGORY, 8, 3),
                     0);
    assert_int_equal(chil_monitor_store(board, CHIL_MONITOR_REMOTE, CHIL_MONITOR_THRESHOLD, 8, 3),
                     CHIL_EPERM);
    set(board, CHIL_MONITOR_EXPORT, 2);
    assert_int_equal(chil_monitor_store(board, CHIL_MONITOR_REMOTE, CHIL_MONITOR_THRESHOLD, 8, 3),
                     0);
    assert_int_equal(chil_monitor_store(board, CHIL_MONITOR_REMOTE, CHIL_MONITOR_EXPORT, 8, 0),
                     CHIL_EPERM);
    /* For receiver and sender the register decides. */
    set(board, CHIL_MONITOR_CHUNKS, CATEGORY_TAG_LATENCY);
    set(board, CHIL_MONITOR_CONTROL, CHIL_MONITOR_RUN);
    transact(board, 1, 0, 0, 0);
    assert_int_equal(chil_monitor_store(board, CHIL_MONITOR_USER, CHIL_MONITOR_CATEGORY, 8, 9), 0);
    transact(board, 1, 0, 0, 0);
    assert_int_equal(word(board, 0x30001), 1);
    assert_int_equal(word(board, 0x90001), 1);
    chil_monitor_free(board);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(SHR_18_SHR_19_of_792_choices_190_are_taken_and_602_refused_by_their_rule),
        cmocka_unit_test(SHR_20_no_multiplexer_has_more_than_8_inputs_and_two_have_7),
        cmocka_unit_test(SHR_17_SHR_23_the_address_of_figure_3_is_category_tag_and_12_latency_bits),
        cmocka_unit_test(SHR_22_the_selection_changes_between_experiments_and_says_its_layout),
        cmocka_unit_test(SHR_10_SHR_11_latency_is_the_44_bit_difference_shifted_and_limited),
        cmocka_unit_test(SHR_12_SHR_13_size_has_12_bits_and_sender_8),
        cmocka_unit_test(SHR_14_SHR_36_a_category_of_4_bits_makes_an_array_of_histograms),
        cmocka_unit_test(SHR_15_page_tags_are_written_by_the_supervisor_only),
        cmocka_unit_test(SHR_02_SHR_03_SHR_04_every_transaction_counts_in_the_word_of_its_address),
        cmocka_unit_test(SHR_02_SHR_05_SHR_06_a_trace_record_is_20_bits_of_fields_and_20_of_time),
        cmocka_unit_test(SHR_05_a_trace_ends_with_memory_or_begins_again),
        cmocka_unit_test(SHR_07_transactions_of_one_moment_are_all_seen),
        cmocka_unit_test(SHR_16_words_have_40_bits_and_there_may_be_16_million),
        cmocka_unit_test(SHR_21_high_address_bits_come_from_chosen_signals),
        cmocka_unit_test(
            SHR_24_SHR_25_the_increment_that_passes_the_threshold_interrupts_with_its_address),
        cmocka_unit_test(SHR_24_the_sum_is_compared_before_the_word_wraps),
        cmocka_unit_test(SHR_26_overflow_addresses_queue_and_a_full_queue_is_flagged),
        cmocka_unit_test(SHR_27_a_threshold_switches_to_trace_from_the_next_transaction_on),
        cmocka_unit_test(SHR_28_one_senders_packets_are_in_2_12_bins),
        cmocka_unit_test(SHR_40_presets_give_each_bin_its_own_threshold_and_true_counts),
        cmocka_unit_test(SHR_41_SHR_42_one_illegal_event_among_many_legal_ones_interrupts_at_once),
        cmocka_unit_test(SHR_29_SHR_32_an_experiment_with_the_ten_commands),
        cmocka_unit_test(SHR_30_a_command_is_one_store_of_a_word),
        cmocka_unit_test(accesses_that_are_none_change_nothing),
        cmocka_unit_test(exported_registers_are_written_from_other_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
