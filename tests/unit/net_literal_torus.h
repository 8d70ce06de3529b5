/* The torus network again, cycle by cycle and as plainly as possible, to compare
 * src/machine/net/net_torus*.c with. It is written from docs/model-network.md: everything is looked
 * at in every cycle, everything under way is in one list, levels are counted cycle by cycle, and
 * every packet has a sequence number and is acknowledged, with or without faults.
 */
#ifndef TEST_NET_LITERAL_TORUS_H
#define TEST_NET_LITERAL_TORUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/net/net_torus.h"

struct literal_packet {
    uint64_t serial, arrived, eligible;
    uint32_t words[4];
    uint8_t payload[TORUS_PAYLOAD_MAX];
    int hints, chunks, channel, target[3], group;
    bool dynamic, deposit, copied;
};

struct literal_queue {
    struct literal_packet *packet[64];
    int count;
};

/* A packet whose end the receiver waits for, or whose tokens it owes. */
struct literal_debt {
    uint64_t end, freed; /* freed: UINT64_MAX while the buffer is not free */
    int channel, chunks;
};

struct literal_unacknowledged {
    struct literal_packet *packet;
    uint64_t started, sequence;
    int channel;
};

struct literal_link {
    bool exists;
    uint32_t neighbour;
    int tokens[TORUS_CHANNELS];
    uint64_t started, busy_until;
    int chunks, channel; /* on the link now */
    uint64_t transmissions;
    struct literal_unacknowledged window[TORUS_WINDOW];
    int unacknowledged, cursor;
    bool replaying;
    uint64_t next_sequence;
    int next[3], run;
    /* the receiver of the same neighbour */
    uint64_t expected;
    struct literal_debt debts[160];
    int debt_count;
    bool level[4];
    struct net_count count[TORUS_EVENTS];
};

struct literal_node {
    int at[3];
    struct literal_queue source[32];
    uint64_t source_until[32];
    int sending[32]; /* chunks of the packet that an injection FIFO sends */
    int held[TORUS_INJECTION_FIFOS];
    struct literal_queue reception[TORUS_RECEPTION_FIFOS];
    int reserved[TORUS_RECEPTION_FIFOS];
    struct literal_link link[TORUS_LINKS];
};

enum literal_way_kind { WAY_HEADER, WAY_TOKENS, WAY_ACK, WAY_DELIVERY, WAY_DELIVERED };

struct literal_way {
    uint64_t time, sequence;
    enum literal_way_kind kind;
    uint32_t node;
    int port, channel, count;
    bool corrupt;
    struct literal_packet *packet;
};

struct literal_torus {
    struct net_torus_config config;
    uint64_t now;
    uint32_t nodes;
    struct literal_node *node;
    struct literal_way *way; /* under way */
    size_t way_count, way_capacity;
    void *owner;
    void (*received)(void *owner, uint32_t node, unsigned fifo);
    struct literal_packet **all; /* to free them */
    size_t all_count, all_capacity;
};

struct literal_torus *literal_torus_new(const struct net_torus_config *config);
void literal_torus_free(struct literal_torus *torus);
/* One cycle. */
void literal_torus_step(struct literal_torus *torus);
/* The same in two halves: what comes and what is free, then what starts. Owners act in between. */
void literal_torus_begin(struct literal_torus *torus);
void literal_torus_end(struct literal_torus *torus);
/* Removes the first packet of a reception FIFO: its room is free from this cycle on. */
void literal_torus_drop(struct literal_torus *torus, uint32_t node, unsigned fifo);
int literal_torus_inject(struct literal_torus *torus, uint32_t node, unsigned fifo,
                         const uint32_t words[4], const uint8_t *payload, uint64_t serial);
/* Whether tokens in hand + in use + on their way back are 32 for each channel of each link. */
bool literal_torus_tokens(const struct literal_torus *torus);

#endif
