/* Inside the counter unit: what the front (upc.c, upc_map.c) and the two models share.
 *
 * The front checks arguments, keeps configuration, thresholds and notices; a model keeps counts and
 * time. A model never calls back: it queues notices with upc_notice_add, and the front delivers
 * them in order.
 *
 * One struct upc_counter is a cache line: the fields that counting touches and that chil_upc_peek
 * reads.
 *
 * Terms: docs/glossary.md
 */
#ifndef UPC_IMPL_H
#define UPC_IMPL_H

#include <stdalign.h>
#include <stdatomic.h>

#include "base/bits.h"
#include "chiliad/upc.h"

#define UPC_NEVER UINT64_MAX

struct upc_counter {
    alignas(64) _Atomic uint64_t value; /* fast: the count itself; reference: its copy for peek */
    _Atomic uint64_t offset;            /* stored value minus true count, from chil_upc_threshold */
    uint64_t carry_cycle;               /* fast: when the low part last carried, or UPC_NEVER */
    uint64_t visited_until; /* fast: visits before this cycle are accounted for in `armed` */
    uint64_t api_threshold; /* as given to chil_upc_threshold; 0 when there is none */
    uint32_t wire;          /* the selected one */
    uint8_t mode;
    bool interrupt;
    bool armed;
    _Atomic bool bad; /* found bad by parity; holds until the counter is written */
    bool pending;     /* has an interrupt that software has not cleared */
    uint64_t pending_cycle;
};

/* How a model is driven. `run` and `set_threshold` find the old setting in the unit and take the
 * new one as an argument; the front stores it afterwards. Every call comes with arguments checked
 * and no wire known beyond now, but for raise and level, which check their own order because they
 * are hot. */
struct upc_ops {
    void *(*create)(struct chil_upc *upc);
    void (*destroy)(void *model);
    int (*raise)(struct chil_upc *upc, const struct chil_upc_train *trains, size_t count,
                 size_t *done);
    int (*level)(struct chil_upc *upc, uint32_t wire, uint64_t cycle, bool level);
    void (*advance)(struct chil_upc *upc, uint64_t cycle);
    void (*configure)(struct chil_upc *upc, uint32_t counter, const struct chil_upc_config *config);
    void (*run)(struct chil_upc *upc, bool running);
    void (*set_threshold)(struct chil_upc *upc, uint64_t threshold);
    int (*read)(struct chil_upc *upc, uint32_t counter, uint64_t *value);
    void (*write)(struct chil_upc *upc, uint32_t counter, uint64_t value);
    bool (*armed)(struct chil_upc *upc, uint32_t counter);
    void (*flip)(struct chil_upc *upc, uint32_t counter, uint32_t bit);
    void (*publish)(struct chil_upc *upc);
};

extern const struct upc_ops upc_fast_ops;
extern const struct upc_ops upc_ref_ops;

struct chil_upc {
    struct chil_upc_geometry geometry;
    struct chil_upc_map map;
    const struct upc_ops *ops;
    void *model;
    struct upc_counter *counters;
    uint64_t now;
    uint64_t frontier; /* the latest cycle that any wire is known to */
    uint64_t threshold;
    bool running;
    bool delivering;
    uint32_t api_thresholds; /* counters with one */
    _Atomic uint32_t
        writes; /* odd while a value and its offset change together; see chil_upc_peek */

    chil_upc_notify notify;
    void *context;
    struct chil_upc_notice *notices;
    size_t notice_count, notice_capacity;
    uint64_t overruns;

    /* 32-bit access: a read of a high half keeps the low half, a write of one waits for it. */
    uint64_t read_latch_offset, write_hold_offset; /* UPC_NEVER when empty */
    uint32_t read_latch, write_hold;
};

/* The array word. */
static inline unsigned upc_word_bits(const struct chil_upc *upc)
{
    return 64 - upc->geometry.low_bits;
}

static inline uint64_t upc_word_mask(const struct chil_upc *upc)
{
    return bits_mask64(upc_word_bits(upc));
}

static inline uint64_t upc_high(const struct chil_upc *upc, uint64_t value)
{
    return value >> upc->geometry.low_bits;
}

/* Whether a train has a shape a wire can take; *end is the cycle after its last high one. */
static inline bool upc_train_fits(const struct chil_upc *upc, const struct chil_upc_train *train,
                                  uint64_t *end)
{
    uint64_t span = 0;
    if (train->wire >= upc->geometry.counters * upc->geometry.inputs || train->count == 0 ||
        train->high == 0 || train->high > train->period || train->cycle > CHIL_UPC_CYCLE_MAX ||
        train->high > CHIL_UPC_CYCLE_MAX)
        return false;
    if (train->count > 1 && __builtin_mul_overflow(train->count - 1, train->period, &span))
        return false;
    if (span > CHIL_UPC_CYCLE_MAX) return false;
    *end = train->cycle + span + train->high;
    return *end <= CHIL_UPC_CYCLE_MAX;
}

void upc_notice_add(struct chil_upc *upc, enum chil_upc_notice_kind kind, uint32_t counter,
                    uint64_t cycle);

/* Front calls that the register map uses. All expect a counter that exists. */
int upc_enter(struct chil_upc *upc);
int upc_leave(struct chil_upc *upc, int status);
void upc_write_value(struct chil_upc *upc, uint32_t counter, uint64_t value, uint64_t offset);
void upc_set_run(struct chil_upc *upc, bool running);
void upc_set_threshold(struct chil_upc *upc, uint64_t threshold);

#endif
