/* The barrier network again, cycle by cycle: every node's value goes up a wire with a delay, is
 * OR-ed with all others in every cycle, and comes down a wire with a delay. To compare
 * src/machine/net/net_barrier.c with; written from docs/model-network.md.
 */
#ifndef TEST_NET_LITERAL_BARRIER_H
#define TEST_NET_LITERAL_BARRIER_H

#include "machine/net/net_barrier.h"

struct literal_barrier_channel {
    bool sticky_mode, sticky, armed, and, down, enabled, up;
};

struct literal_barrier_node {
    struct literal_barrier_channel channel[BARRIER_CHANNELS];
    bool violation;
};

struct literal_barrier {
    uint32_t nodes, latency;
    uint64_t now;
    struct literal_barrier_node *node;
    bool *wire_up;   /* [latency][nodes][channel]: values of the last cycles */
    bool *wire_down; /* [latency][channel]: of the root */
    void *owner;
    void (*sticky)(void *owner, uint32_t node, unsigned channel);
    void (*down)(void *owner, uint32_t node, unsigned channel);
};

struct literal_barrier *literal_barrier_new(uint32_t nodes, uint32_t latency);
void literal_barrier_free(struct literal_barrier *barrier);
void literal_barrier_step(struct literal_barrier *barrier);
void literal_barrier_store(struct literal_barrier *barrier, uint32_t node, unsigned offset,
                           uint32_t value, bool user);
uint32_t literal_barrier_load(const struct literal_barrier *barrier, uint32_t node);

#endif
