/* The event queue of a partition.
 *
 * A timing wheel: events of the next 4,096 cycles are in a list per cycle, and a bitmap has the
 * lists that are not empty. Later events, which are rare, are in a heap. Adding and removing an
 * event costs the same for any number of events; idle cycles cost nothing.
 *
 * The order of events of one cycle is not defined: the partition does not depend on it (net.h).
 */
#ifndef NET_NET_QUEUE_H
#define NET_NET_QUEUE_H

#include "machine/net/net.h"

enum { NET_WHEEL = 4096 };

struct net_cell {
    struct net_event event;
    uint32_t next; /* of the same cycle, or free; 0 ends a list */
};

struct net_queue {
    uint64_t now;
    struct net_cell *cells; /* cell 0 is not used */
    size_t cell_count, cell_capacity;
    uint32_t free_cell;
    struct net_event *later; /* binary heap, the earliest first */
    size_t later_count, later_capacity;
    uint64_t summary; /* a bit per word of `filled` */
    uint64_t filled[NET_WHEEL / 64];
    uint32_t slot[NET_WHEEL];
};

void net_queue_init(struct net_queue *queue);
void net_queue_fini(struct net_queue *queue);
/* Adds an event that is not before queue->now. */
void net_queue_add(struct net_queue *queue, const struct net_event *event);
/* The time of the earliest event, or NET_NEVER. */
uint64_t net_queue_next(const struct net_queue *queue);
/* Removes one event of the cycle queue->now, if there is one. */
bool net_queue_take(struct net_queue *queue, struct net_event *event);

#endif
