/* The universal performance counter unit: hybrid 64-bit counters over many wires.
 *
 * The unit of "Next-Generation Performance Counters" (Salapura et al.): every counter is a small
 * live low part and a stored high part; carries wait in a latch until a maintenance machine, which
 * visits one word per slot, adds them to the array. Its geometry is data: 256 counters x 4 inputs,
 * 12 low bits, 16-cycle slots is Blue Gene/P.
 *
 * Wires. Counter c has `inputs` wires of its own; wire number = input * counters + c, which is also
 * the event's id. A wire is low or high in each cycle. The caller reports the past of a wire with
 * chil_upc_raise (pulse trains), chil_upc_batch (so many occurrences and high cycles in an
 * interval) and chil_upc_level (a change that holds). Pulses that touch are one pulse, as on any
 * wire.
 *
 * Time. The unit is at cycle chil_upc_now: all cycles before it are over. Reported cycles lie at or
 * after it, in order on each wire, in any order between wires. chil_upc_advance(t) ends the cycles
 * before t and then delivers what happened in them in order: by cycle, interrupts before parity
 * faults, lower counters first. Reads and writes act between two cycles: after the last one that is
 * over, before the next. They are refused with CHIL_EORDER while a wire is known beyond
 * now.
 *
 * Models. CHIL_UPC_REFERENCE steps cycle by cycle, literally as the paper says; CHIL_UPC_FAST works
 * in closed form and is indistinguishable from it at every observation. The decisions behind both
 * are in docs/model.md.
 *
 * Threads. One thread drives a unit. Any other may call chil_upc_peek at any time.
 */
#ifndef CHILIAD_UPC_H
#define CHILIAD_UPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chiliad/error.h"
#include "chiliad/signal.h"

#ifdef __cplusplus
extern "C" {
#endif

struct chil_upc_geometry {
    uint32_t counters;    /* 1 .. CHIL_UPC_COUNTERS_MAX */
    uint32_t inputs;      /* wires of each counter, 1 .. CHIL_UPC_INPUTS_MAX */
    uint32_t low_bits;    /* width of the live part, 1 .. CHIL_UPC_LOW_BITS_MAX; the array has the
                             other 64 - low_bits */
    uint32_t slot_cycles; /* length of a maintenance slot, 1 or more */
};

enum { CHIL_UPC_COUNTERS_MAX = 65536, CHIL_UPC_INPUTS_MAX = 32, CHIL_UPC_LOW_BITS_MAX = 32 };

/* The last cycle a unit can reach, and the longest pulse train. */
#define CHIL_UPC_CYCLE_MAX (UINT64_C(1) << 62)

#define CHIL_UPC_GEOMETRY_BGP ((struct chil_upc_geometry){256, 4, 12, 16})

/* CHIL_EGEOMETRY when counters x slot_cycles > 2^low_bits, with the smallest low part that would do
 * in `err`. */
int chil_upc_geometry_check(const struct chil_upc_geometry *geometry, struct chil_error *err);

struct chil_machine;
/* The geometry that a machine file gives; CHIL_ENOENT when its counter unit is of another kind. */
int chil_upc_geometry_of(const struct chil_machine *machine, struct chil_upc_geometry *geometry);

enum chil_upc_model { CHIL_UPC_FAST, CHIL_UPC_REFERENCE };

enum chil_upc_notice_kind {
    CHIL_UPC_INTERRUPT, /* the counter passed its threshold in that cycle */
    CHIL_UPC_PARITY     /* a stored word was found bad in that cycle */
};

struct chil_upc_notice {
    enum chil_upc_notice_kind kind;
    uint32_t counter;
    uint64_t cycle;
};

/* Called from advance, read and write, in order. It may look at `notice` and at its own context
 * only: calls that change the unit from inside it are refused with CHIL_EBUSY. */
typedef void (*chil_upc_notify)(void *context, const struct chil_upc_notice *notice);

struct chil_upc;

/* A stopped unit at cycle 0: all counters zero, counting input 0 on the level, all wires low, no
 * threshold. */
int chil_upc_new(struct chil_upc **upc, const struct chil_upc_geometry *geometry,
                 enum chil_upc_model model, chil_upc_notify notify, void *context,
                 struct chil_error *err);
void chil_upc_free(struct chil_upc *upc);

const struct chil_upc_geometry *chil_upc_geometry(const struct chil_upc *upc);
uint64_t chil_upc_now(const struct chil_upc *upc);

/* --- Driving wires --------------------------------------------------------------------------- */

/* `count` pulses on a wire: pulse k (from 0) is high in cycles [cycle + k * period, … + high). high
 * <= period. */
struct chil_upc_train {
    uint32_t wire;
    uint64_t cycle, count, period, high;
};

int chil_upc_raise(struct chil_upc *upc, const struct chil_upc_train *train);
/* Stops at the first refused train; *done (may be NULL) says how many were taken. */
int chil_upc_raise_many(struct chil_upc *upc, const struct chil_upc_train *trains, size_t count,
                        size_t *done);

/* `occurrences` pulses with `high` high cycles in all, spread over [from, to): one pulse every
 * (to - from) / occurrences cycles, the first high % occurrences of them one cycle longer than the
 * rest. */
int chil_upc_batch(struct chil_upc *upc, uint32_t wire, uint64_t from, uint64_t to,
                   uint64_t occurrences, uint64_t high);

/* The wire has this level from `cycle` on, until the next call for it. */
int chil_upc_level(struct chil_upc *upc, uint32_t wire, uint64_t cycle, bool level);

int chil_upc_advance(struct chil_upc *upc, uint64_t cycle);

/* --- Counters -------------------------------------------------------------------------------- */

struct chil_upc_config {
    uint32_t input; /* which of the counter's own wires */
    enum chil_count_mode mode;
    bool interrupt;
};

int chil_upc_configure(struct chil_upc *upc, uint32_t counter,
                       const struct chil_upc_config *config);
int chil_upc_config(const struct chil_upc *upc, uint32_t counter, struct chil_upc_config *config);
/* Counts the event `wire` on the only counter that has it, with the given mode and no interrupt. */
int chil_upc_select(struct chil_upc *upc, uint32_t wire, enum chil_count_mode mode);

/* All counters start or stop at this cycle. */
int chil_upc_start(struct chil_upc *upc);
int chil_upc_stop(struct chil_upc *upc);
bool chil_upc_running(const struct chil_upc *upc);

/* The true count: what was preloaded plus what was counted, whatever a threshold has made of the
 * stored value. CHIL_EPARITY, and *value untouched, when the stored word is bad. */
int chil_upc_read(struct chil_upc *upc, uint32_t counter, uint64_t *value);
int chil_upc_preload(struct chil_upc *upc, uint32_t counter, uint64_t value);

/* Interrupt when the true count reaches `threshold`, exactly, for any threshold above the present
 * count; any number of counters may have different ones at once. 0 takes it away. CHIL_ERANGE when
 * the count is there already. */
int chil_upc_threshold(struct chil_upc *upc, uint32_t counter, uint64_t threshold);
/* Events that may still be counted before the interrupt; UINT64_MAX when none can come. */
int chil_upc_distance(struct chil_upc *upc, uint32_t counter, uint64_t *events);
int chil_upc_armed(struct chil_upc *upc, uint32_t counter, bool *armed);

/* From any thread, without a lock: the count of all reported cycles; a
 * level that just holds is in it up to the last read, chil_upc_publish or change of that wire.
 * Never torn. CHIL_EPARITY for a bad word. */
int chil_upc_peek(const struct chil_upc *upc, uint32_t counter, uint64_t *value);
/* Brings every counter up to now for chil_upc_peek: levels that just held are folded in. */
int chil_upc_publish(struct chil_upc *upc);

/* --- Stored bits ----------------------------------------------------------------------------- */

/* Flips one stored bit of a counter's array word: bits 0 .. 63 - low_bits are the word from its
 * least significant bit on, those after it the parity bits, one per byte of the word. The word is
 * found bad at the next visit or read, stays bad until the counter is written, and its count is
 * never given out. Two flips in one byte cancel, as parity does not see them. */
int chil_upc_flip(struct chil_upc *upc, uint32_t counter, uint32_t bit);

struct chil_upc_bits {
    uint64_t word_bits, parity_bits; /* of one array word */
    uint64_t array;                  /* all bits in the array */
    uint64_t registers;    /* low parts, carry and armed latches, configuration, threshold, run */
    uint64_t round_cycles; /* a full round of visits */
};

void chil_upc_bits(const struct chil_upc_geometry *geometry, struct chil_upc_bits *bits);

/* --- Registers (figure 5; docs/formats/upc-registers.md) ------------------------------------- */

struct chil_upc_map {
    uint64_t counters;   /* 0x000 for Blue Gene/P: 8 bytes each */
    uint64_t config;     /* 0x800: one byte each, eight to a register */
    uint64_t start_stop; /* 0x900 */
    uint64_t threshold;  /* 0x910 */
    uint64_t status;     /* 0x920: how many interrupts are pending, how many words are bad */
    uint64_t first;      /* 0x928: the oldest pending interrupt's counter */
    uint64_t cycle;      /* 0x930: and its cycle */
    uint64_t overruns;   /* 0x938: interrupts of a counter whose last one was still pending */
    uint64_t pending;    /* 0x940: a bit per counter, write one to clear */
    uint64_t armed;      /* 0x960: a bit per counter, read only */
    uint64_t parity;     /* 0x980: a bit per counter, read only */
    uint64_t end;
};

void chil_upc_map(const struct chil_upc_geometry *geometry, struct chil_upc_map *map);

/* Big-endian registers: `width` is 4 or 8, the offset a multiple of it. CHIL_EINVAL for any other
 * width or offset, CHIL_ENOENT past the end; offsets between registers read as zero and ignore
 * writes. */
int chil_upc_load(struct chil_upc *upc, uint64_t offset, unsigned width, uint64_t *value);
int chil_upc_store(struct chil_upc *upc, uint64_t offset, unsigned width, uint64_t value);

#ifdef __cplusplus
}
#endif
#endif
