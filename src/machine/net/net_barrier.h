/* The barrier network of Blue Gene/L and Blue Gene/P: global interrupts on four channels.
 *
 * A channel is an OR over all nodes. Each node drives a value up to the root, and the root's OR
 * comes down to all nodes. docs/model-network.md has the model; tests/unit/net_literal_barrier.c is
 * written from the same text. In short:
 *
 * - A value takes net_barrier_latency() cycles from a node to the root, and as many back.
 * - Direct mode: the node drives what was written.
 * - Sticky mode, armed with OR: a node drives 0; fire drives 1; when the value that comes down
 * rises to 1, the sticky bit is set. Armed with AND: 1, 0 and falls to 0: all nodes have fired.
 * - When the sticky bit is set, the node drives its rest value again, so the channel returns to
 * idle without software.
 *
 * A barrier, as IBM's software does it: wait until the down state is 1; write 0 to FIRE (disarm), 1
 * to ARM (AND), 1 to FIRE; poll the sticky bit. At the start channels 0, 2 and 3 are driven with 1,
 * ready for that, and channel 1 (alert) with 0.
 *
 * Registers: both machines have Blue Gene/P's, device control registers 0x660 + offset. An access
 * costs the core `access_cycles`; charging them is the owner's business. Interrupts: `sticky` of
 * the owner; 32 x group + line of the interrupt controller is the owner's business, too.
 *
 * Catalogues have no barrier events.
 */
#ifndef NET_NET_BARRIER_H
#define NET_NET_BARRIER_H

#include "chiliad/error.h"
#include "machine/net/net.h"

enum { BARRIER_CHANNELS = 4 };

/* Offsets of registers that are written; any offset reads the status word. Data is in bit 31, for
 * RESETS and USER in bits 28-31. */
enum net_barrier_register {
    BARRIER_DIRECT = 0x0, /* + channel: direct mode, drive the bit */
    BARRIER_RESETS = 0x5, /* channels back to the state of the start */
    BARRIER_USER = 0x6,   /* channels that user code may write to */
    BARRIER_FIRE = 0x8,   /* + channel: 1 fires; 0 clears the sticky bit and disarms */
    BARRIER_ARM = 0xC,    /* + channel: sticky mode, armed, with 0 OR, 1 AND */
    BARRIER_REGISTERS = 0x10,
};

/* First bit of the fields of the status word, a bit for each channel. */
enum net_barrier_status {
    BARRIER_MODE = 0, /* 1: sticky */
    BARRIER_STICKY = 4,
    BARRIER_ARMED = 8,
    BARRIER_TYPE = 12,      /* 1: AND */
    BARRIER_VIOLATION = 17, /* one bit: user code wrote to a channel that is not enabled */
    BARRIER_DOWN = 20,
    BARRIER_ENABLES = 24,
    BARRIER_UP = 28,
};

struct net_barrier_config {
    uint32_t nodes;
    uint32_t level_cycles;  /* of a level of the tree, each way */
    uint32_t access_cycles; /* of a core's access to a register */
};

/* With nodes = 0: to be filled in. */
extern const struct net_barrier_config net_barrier_bgl, net_barrier_bgp;

struct net_barrier;      /* of all nodes of a process */
struct net_barrier_part; /* a partition's part of it: what its thread uses */

/* Notified in step 2 of a cycle. May be NULL. */
struct net_barrier_owner {
    void *self;
    void (*sticky)(void *self, uint32_t node, unsigned channel); /* a sticky bit was set */
    void (*down)(void *self, uint32_t node, unsigned channel);   /* the down state changed */
};

int net_barrier_new(struct net_barrier **barrier, const struct net_barrier_config *config,
                    struct chil_error *error);
void net_barrier_free(struct net_barrier *barrier);

/* Cycles one way, for every node: level_cycles x levels of a binary tree over the nodes, at least
 * one level. It is also the shortest time in which one node can affect another one. */
uint32_t net_barrier_latency(const struct net_barrier *barrier);

/* Adds the network to a partition as a unit. Free parts before the barrier. */
struct net_barrier_part *net_barrier_part_new(struct net_barrier *barrier,
                                              struct net_partition *partition,
                                              const struct net_barrier_owner *owner);
void net_barrier_part_free(struct net_barrier_part *part);

/* Writes a register now. Offsets without a register are ignored, as is a write of user code to
 * BARRIER_RESETS or BARRIER_USER, or to a channel that is not enabled for it; these set the
 * violation bit. */
void net_barrier_store(struct net_barrier_part *part, uint32_t node, unsigned offset,
                       uint32_t value, bool user);
/* The status word now. */
uint32_t net_barrier_load(const struct net_barrier_part *part, uint32_t node);

/* ---- counts and laws ---- */

/* Sums over nodes, by channel. Sums of parts add up. */
struct net_barrier_totals {
    uint64_t fires[BARRIER_CHANNELS];   /* writes that fired an armed channel */
    uint64_t sticky[BARRIER_CHANNELS];  /* sticky bits set */
    uint64_t changes[BARRIER_CHANNELS]; /* of the root */
    uint64_t downs[BARRIER_CHANNELS];   /* changes that came down */
    uint64_t nodes;
};

void net_barrier_add_totals(const struct net_barrier_part *part, struct net_barrier_totals *totals);
/* A law of a quiet network, in words; NULL after the last. */
const char *net_barrier_law(unsigned number);
/* The number of the first law that the totals break, or -1. */
int net_barrier_broken_law(const struct net_barrier_totals *totals);

size_t net_barrier_memory(const struct net_barrier_part *part); /* bytes of host memory */

#endif
