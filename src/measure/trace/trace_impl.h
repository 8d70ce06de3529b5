/* What writer and reader of traces have in common: the bytes' meaning, and what both remember of
 * earlier records, in the same steps, so that little need be said.
 *
 * Terms: docs/glossary.md
 */
#ifndef TRACE_IMPL_H
#define TRACE_IMPL_H

#include "chiliad/trace.h"

#define TRACE_MAGIC "CHILTRC1"

/* A byte with TRACE_COMMAND is one of these; any other begins a record. */
enum {
    TRACE_COMMAND = 0x80,
    TRACE_WHO =
        0x80, /* instructions: core, pid, tid, category; transactions: sender, core, pid, tid */
    TRACE_MARK = 0x81,  /* the next record is the trigger */
    TRACE_END = 0x82,   /* the number of records; nothing follows */
    TRACE_TORUS = 0x83, /* first, with several nodes: how many in x, y, z */
    TRACE_NODE = 0x84   /* whose records come: a number; 0 at the beginning */
};

/* The first byte of an instruction: its access in the lowest two bits, */
enum {
    TRACE_NEXT = 4,   /* pc is 4 further than the core's last */
    TRACE_KNOWN = 8,  /* the word is what was last there, and so are the access's size and tag */
    TRACE_CYCLE = 16, /* times 0 to 6: cycles since the core's last; times 7: they follow */
    TRACE_CYCLE_FOLLOWS = 7
};
/* and of a transaction: its kind in the lowest three bits, its level in the next two. */
enum { TRACE_LEVEL = 8, TRACE_SIZE_FOLLOWS = 32, TRACE_NAMES_FOLLOW = 64 };

/* Behind a packet or hop: receiver, hops, link, wait, the packet's number. */
enum { TRACE_NUMBERS = 5 };

enum { TRACE_CORES = 256, TRACE_PLACES = 1 << 13, TRACE_VARINT_MAX = 10 };

/* What was last at an address of code. */
struct trace_place {
    uint32_t pc, word, size, address;
    uint8_t tag;
};

struct trace_state {
    struct {
        uint64_t cycle;
        uint32_t pc;
    } cores[TRACE_CORES];
    struct trace_place places[TRACE_PLACES];
    struct chil_transaction last; /* of transactions */
    unsigned core;                /* whose instructions come */
    unsigned node;
    int pid, tid;
    uint8_t category;
};

static inline struct trace_place *trace_place(struct trace_state *state, uint32_t pc)
{
    return &state->places[pc / 4 % TRACE_PLACES];
}

static inline uint64_t trace_fold(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t trace_unfold(uint64_t value)
{
    return (int64_t)(value >> 1 ^ -(value & 1));
}

#endif
