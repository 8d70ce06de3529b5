/* Networks of a machine: what the folder is, and the partition that runs them.
 *
 * A network (torus, collective network, barrier) is an object that knows no cores, no operating
 * system and no commands. It has one router per node. A DMA engine is an object per node that uses
 * a router. Time is the number of core cycles since the start of the run.
 *
 * A partition runs the routers of a range of nodes. It has one event queue. Everything that a
 * router does is caused by an event at a time, and whatever one router does to another one is an
 * event at least one link latency later. So partitions can run at the same time, in threads or in
 * ranks, as long as none is further ahead of another one than that latency.
 *
 * Order within a cycle, for each node, whatever the partitions are:
 *
 *   1. apply: events of the network. They commute: tokens add up, packets go to different queues.
 *   2. act: events that owners of routers see, sorted by node, unit, kind, port, channel, value.
 *   3. arbitrate: each unit once for each node that it touched; it reads the node's state only.
 *
 * Nothing else orders anything: no host address, no thread, no position in a queue. So the same
 * traffic gives the same bits for any number of partitions. Calls from outside at time t come after
 * net_partition_advance(partition, t) and before anything of cycle t; a call of cycle t that frees
 * room or adds a packet is seen by the arbitration of cycle t.
 *
 * Threads: a partition and what belongs to its nodes is used by one thread at a time.
 *
 * Terms: docs/glossary.md, docs/model-network.md
 */
#ifndef NET_NET_H
#define NET_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NET_NEVER UINT64_MAX

enum {
    NET_UNITS = 8, /* units of a partition at most */
    NET_ACT = 128, /* set in the kind of an event of step 2 */
    NET_PACKED_MAX = 512,
};

/* What happens to `node` at `time`. Unit and kind say who handles it, the rest is the unit's. */
struct net_event {
    uint64_t time;
    void *packet;
    uint32_t node;
    uint32_t value;
    uint8_t unit;
    uint8_t kind;
    uint8_t port;
    uint8_t channel;
};

/* A network, or another object with a part on each node, as the partition sees it. */
struct net_unit {
    void *self;
    void (*apply)(void *self, const struct net_event *event);
    void (*act)(void *self, const struct net_event *event);
    void (*arbitrate)(void *self, uint32_t node); /* NULL if it never touches a node */
    /* For events that carry a packet to a partition of another process: writes at most
     * NET_PACKED_MAX bytes and frees the packet; makes a packet of them again. NULL: none does. */
    size_t (*pack)(void *self, const void *packet, uint8_t *bytes);
    void *(*unpack)(void *self, const uint8_t *bytes);
};

/* What a signal did: how often it rose, and in how many core cycles it was high. */
struct net_count {
    uint64_t occurrences;
    uint64_t high;
};

/* Whether transmission number n (from 0) of `bits` over a link of a node is corrupted, at an error
 * rate of 2^64 for each bit. */
bool net_fault(uint64_t seed, uint64_t bit_error_rate, uint32_t node, unsigned link, uint64_t n,
               uint64_t bits);

struct net_partition;

/* A partition of the nodes first to end - 1, at time 0. */
struct net_partition *net_partition_new(uint32_t first, uint32_t end);
void net_partition_free(struct net_partition *partition);

/* Adds a unit and returns its number. All partitions of a machine get their units in one order. */
uint8_t net_partition_add(struct net_partition *partition, const struct net_unit *unit);

/* The nodes that a partition has: *first to *end - 1. */
void net_partition_nodes(const struct net_partition *partition, uint32_t *first, uint32_t *end);
uint64_t net_partition_now(const struct net_partition *partition);
/* The first time at which something happens here; NET_NEVER if nothing is going to. */
uint64_t net_partition_next(const struct net_partition *partition);
/* Runs all cycles before `limit`, which is then the time; with NET_NEVER, until nothing happens. */
void net_partition_advance(struct net_partition *partition, uint64_t limit);

/* Sends an event, later than now, to a node: of this partition, or else by way of the outbox. */
void net_partition_send(struct net_partition *partition, const struct net_event *event);
/* Adds an event of kind NET_ACT to the cycle that runs, from an `apply`. */
void net_partition_act_now(struct net_partition *partition, const struct net_event *event);
/* Has the unit arbitrate for a node in the cycle that runs, or in the next one to run. The unit
 * keeps a mark so that it does so once. */
void net_partition_touch(struct net_partition *partition, uint8_t unit, uint32_t node);

/* Events for nodes of other partitions since the outbox was cleared. */
const struct net_event *net_partition_outbox(const struct net_partition *partition, size_t *count);
void net_partition_outbox_clear(struct net_partition *partition);
/* Takes an event out of another partition's outbox; its time is not before this one's. */
void net_partition_post(struct net_partition *partition, const struct net_event *event);

/* The same between processes: an event of the outbox as bytes, which grow `*bytes` from *count on;
 * and the event that begins there, posted. The second returns how many bytes it was. */
void net_partition_pack(struct net_partition *partition, const struct net_event *event,
                        uint8_t **bytes, size_t *count, size_t *capacity);
size_t net_partition_unpack(struct net_partition *partition, const uint8_t *bytes);

uint64_t net_partition_events(const struct net_partition *partition); /* handled so far */
size_t net_partition_memory(const struct net_partition *partition);   /* bytes of host memory */

#endif
