/* The board against a literal model of the paper's data path: a million random transactions, all
 * 190 selections. */
#include "monitor_literal.h"
#include "rig_monitor.h"

struct pair {
    struct chil_monitor *board;
    struct literal_board literal;
    uint8_t *tags;
    uint64_t random;
};

static void configure(struct pair *p, uint32_t mask)
{
    struct literal_board *l = &p->literal;
    const uint64_t clock = (UINT64_C(1) << 44) - 1;
    l->shift = (int)random_below(&p->random, 3) ? 0 : (int)random_below(&p->random, 44);
    l->minimum = random_below(&p->random, 2) ? 0 : random_below(&p->random, 1 << 12);
    l->maximum = random_below(&p->random, 2) ? clock : random_below(&p->random, 1 << 24);
    l->threshold = random_below(&p->random, 2) ? WORD_MAX : random_below(&p->random, 200);
    l->category = (int)random_below(&p->random, 16);
    l->trace = !random_below(&p->random, 8);
    l->toggle = !random_below(&p->random, 4);
    l->wrap = random_below(&p->random, 2);
    l->once = random_below(&p->random, 2);
    assert_true(literal_layout(mask, l->field));
    set(p->board, CHIL_MONITOR_CHUNKS, mask);
    set(p->board, CHIL_MONITOR_SHIFT, (uint64_t)l->shift);
    set(p->board, CHIL_MONITOR_MINIMUM, l->minimum);
    set(p->board, CHIL_MONITOR_MAXIMUM, l->maximum);
    set(p->board, CHIL_MONITOR_THRESHOLD, l->threshold);
    set(p->board, CHIL_MONITOR_CATEGORY, (uint64_t)l->category);
    set(p->board, CHIL_MONITOR_CONTROL,
        CHIL_MONITOR_RUN | (l->trace ? CHIL_MONITOR_TRACE : 0) |
            (l->toggle ? CHIL_MONITOR_TOGGLE : 0) | (l->wrap ? CHIL_MONITOR_WRAP : 0) |
            (l->once ? CHIL_MONITOR_ONCE : 0));
}

/* Few values of some things, so that bins meet, many of others. */
static void send(struct pair *p)
{
    struct literal_packet packet = {
        .stamp = random_next(&p->random) >> 20,
        .size = (unsigned)random_below(&p->random, random_below(&p->random, 2) ? 4096 : 3),
        .sender = (unsigned)random_below(&p->random, random_below(&p->random, 2) ? 256 : 2),
        .address = (uint32_t)random_next(&p->random),
    };
    uint64_t latency = random_next(&p->random) >> 20 >> random_below(&p->random, 44);
    packet.clock = (packet.stamp + latency) % (UINT64_C(1) << 44);
    literal_take(&p->literal, &packet);
    chil_monitor_notify(p->board, &(struct chil_transaction){.start = packet.stamp,
                                                             .end = packet.clock,
                                                             .size = packet.size,
                                                             .sender = (uint16_t)packet.sender,
                                                             .address = packet.address});
}

static void compare(struct pair *p)
{
    struct literal_board *l = &p->literal;
    uint64_t status = (l->interrupt ? CHIL_MONITOR_INTERRUPT : 0) |
                      (l->lost ? CHIL_MONITOR_LOST : 0) | (l->full ? CHIL_MONITOR_FULL : 0);
    assert_int_equal(get(p->board, CHIL_MONITOR_STATUS), status);
    assert_int_equal(get(p->board, CHIL_MONITOR_QUEUED), l->queued);
    assert_int_equal(get(p->board, CHIL_MONITOR_RECORDS), l->next);
    assert_int_equal(!!(get(p->board, CHIL_MONITOR_CONTROL) & CHIL_MONITOR_TRACE), l->trace);
    for (int i = 0; i < l->queued; i++)
        assert_int_equal(get(p->board, CHIL_MONITOR_OVERFLOW), l->queue[i]);
    set(p->board, CHIL_MONITOR_STATUS, UINT64_MAX);
    l->queued = 0;
    l->interrupt = l->lost = l->full = false;
}

static void compare_words(struct pair *p)
{
    unsigned different = 0;
    set(p->board, CHIL_MONITOR_ADDRESS, 0);
    for (uint32_t i = 0; i < WORDS; i++)
        different += get(p->board, CHIL_MONITOR_DATA) != p->literal.memory[i];
    assert_int_equal(different, 0);
}

/* A million transactions over all selections. Planted: in one of 16 categories a threshold does not
 * switch to trace. */
static void SHR_03_SHR_46_the_board_does_what_a_literal_data_path_does(void **state)
{
    uint32_t masks[792];
    struct pair p = {.board = board_new(20, NULL, NULL), .random = 11};
    uint64_t each = random_trials(1000000) / 190 + 1, given = 0;
    unsigned words_compared = 0;
    (void)state;
    p.tags = calloc(PAGES, 1);
    p.literal.memory = calloc(WORDS, sizeof *p.literal.memory);
    p.literal.fired = calloc(WORDS, sizeof *p.literal.fired);
    assert_true(p.tags && p.literal.memory && p.literal.fired);
    p.literal.page_tags = p.tags;
    for (uint32_t page = 0; page < PAGES; page++) {
        p.tags[page] = (uint8_t)random_below(&p.random, 16);
        set(p.board, CHIL_MONITOR_PAGE, page);
        set(p.board, CHIL_MONITOR_TAG, p.tags[page]);
    }
    (void)literal_choices(masks);
    for (unsigned i = 0; i < 792; i++) {
        if (literal_rule(masks[i])) continue;
        configure(&p, masks[i]);
        for (uint64_t k = 0; k < each; k++, given++) {
            send(&p);
            if (k % 500 == 0) compare(&p);
        }
        compare(&p);
        if (i % 40 == 0) {
            compare_words(&p);
            words_compared++;
        }
    }
    compare_words(&p);
    assert_true(words_compared > 2 && given >= each * 190);
    free(p.tags);
    free(p.literal.memory);
    free(p.literal.fired);
    chil_monitor_free(p.board);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(SHR_03_SHR_46_the_board_does_what_a_literal_data_path_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
