/* What tests of the board share: registers by name, words by address. */
#ifndef RIG_MONITOR_H
#define RIG_MONITOR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "chiliad/monitor.h"
#include "random.h"

#define WORD_MAX ((UINT64_C(1) << 40) - 1)
enum {
    WORDS = 1 << 20,
    PAGES = 1 << 20,
    CATEGORY_TAG_LATENCY = 0xC07,
    SENDER_SIZE = 0x3E0,
    TAG_SENDER = 0x700
};

static inline struct chil_monitor *board_new(unsigned bits, chil_monitor_interrupt interrupt,
                                             void *context)
{
    struct chil_monitor *board;
    assert_int_equal(chil_monitor_new(&board, bits, interrupt, context, NULL), 0);
    return board;
}

static inline void set(struct chil_monitor *board, uint64_t offset, uint64_t value)
{
    assert_int_equal(chil_monitor_store(board, CHIL_MONITOR_SUPERVISOR, offset, 8, value), 0);
}

static inline uint64_t get(struct chil_monitor *board, uint64_t offset)
{
    uint64_t value = 1;
    assert_int_equal(chil_monitor_load(board, CHIL_MONITOR_SUPERVISOR, offset, 8, &value), 0);
    return value;
}

static inline uint64_t word(struct chil_monitor *board, uint32_t address)
{
    set(board, CHIL_MONITOR_ADDRESS, address);
    return get(board, CHIL_MONITOR_DATA);
}

static inline void set_word(struct chil_monitor *board, uint32_t address, uint64_t value)
{
    set(board, CHIL_MONITOR_ADDRESS, address);
    set(board, CHIL_MONITOR_DATA, value);
}

static inline void set_tag(struct chil_monitor *board, uint32_t address, unsigned tag)
{
    set(board, CHIL_MONITOR_PAGE, address / 4096);
    set(board, CHIL_MONITOR_TAG, tag);
}

static inline void transact(struct chil_monitor *board, uint64_t latency, uint32_t size,
                            unsigned sender, uint32_t address)
{
    chil_monitor_notify(board, &(struct chil_transaction){.start = 1000,
                                                          .end = 1000 + latency,
                                                          .size = size,
                                                          .sender = (uint16_t)sender,
                                                          .address = address});
}

/* Whether two histograms have the same bins; both are freed. */
static inline bool are_equal(struct chil_hist *a, struct chil_hist *b)
{
    size_t count_a, count_b;
    const struct chil_bin *x = chil_hist_bins(a, &count_a), *y = chil_hist_bins(b, &count_b);
    bool equal = count_a == count_b && memcmp(x, y, count_a * sizeof *x) == 0;
    chil_hist_free(a);
    chil_hist_free(b);
    return equal;
}

#endif
