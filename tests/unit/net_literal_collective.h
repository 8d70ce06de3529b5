/* The collective network again, cycle by cycle and as plainly as possible, to compare
 * src/machine/net/net_collective*.c with. It is written from docs/model-network.md: everything is
 * looked at in every cycle, everything under way is in one list, levels and idle packets are
 * counted cycle by cycle, and every packet on a link has a sequence number.
 */
#ifndef TEST_NET_LITERAL_COLLECTIVE_H
#define TEST_NET_LITERAL_COLLECTIVE_H

#include "machine/net/net_collective.h"

struct tree_packet {
    uint64_t serial, arrived; /* arrived: also when the arbiter or a sender may have it */
    uint32_t header;
    uint8_t payload[COLLECTIVE_PAYLOAD];
};

struct tree_queue {
    struct tree_packet *packet[16];
    int count;
};

struct tree_sent {
    struct tree_packet *packet;
    uint64_t sequence;
    int vc;
};

struct tree_debt {
    uint64_t end;
    int vc;
};

struct tree_link {
    bool exists;
    uint32_t neighbour;
    int back; /* the neighbour's link that leads here */
    /* sender */
    struct tree_queue out[2];
    struct tree_sent window[8];
    int window_count, cursor;
    int places[2];
    int next_vc;
    uint64_t busy_until, last_start, transmissions, next_sequence;
    bool ever_started;
    /* receiver */
    uint64_t expected;
    bool resync;
    struct tree_debt debts[64];
    int debt_count;
};

struct tree_injection {
    uint32_t header[16];
    uint64_t serial[16];
    uint8_t quad[16 * 16][16];
    int headers, quads;
    uint64_t visible[16]; /* by packet, when the arbiter sees it */
    int packets;
};

struct tree_reception {
    struct tree_queue queue;
    int coming, headers_read, quads_read;
};

struct tree_move {
    bool active, alu;
    uint64_t end;
    bool source[4], target[4];
};

struct tree_node {
    uint32_t address;
    bool receive_all;
    uint16_t route[16];
    struct tree_queue in[3][2];
    struct tree_injection injection[2];
    struct tree_reception reception[2];
    struct tree_link link[3];
    struct tree_move move[16];
    int move_vc[16];
    uint64_t since[4][2];
    bool level[COLLECTIVE_LEVELS];
    struct net_count count[COLLECTIVE_EVENTS];
};

enum tree_way_kind {
    TREE_HEADER,
    TREE_END,
    TREE_ACK,
    TREE_NACK,
    TREE_PLACE,
    TREE_EMPTY,
    TREE_IDLE,
    TREE_DELIVERY
};

struct tree_way {
    uint64_t time, sequence;
    enum tree_way_kind kind;
    uint32_t node;
    int link, vc;
    bool corrupt, in_sequence;
    struct tree_packet *packet;
};

struct literal_collective {
    struct net_collective_config config;
    uint64_t now;
    struct tree_node *node;
    struct tree_way *way;
    size_t way_count, way_capacity;
    void *owner;
    void (*received)(void *owner, uint32_t node, unsigned vc);
    void (*injected)(void *owner, uint32_t node, unsigned vc);
    struct tree_packet **all; /* to free them */
    size_t all_count, all_capacity;
};

struct literal_collective *literal_collective_new(const struct net_collective_config *config);
void literal_collective_free(struct literal_collective *tree);
/* One cycle. */
void literal_collective_step(struct literal_collective *tree);
/* Whether a packet could not be routed from its injection FIFO. */
bool literal_collective_no_way(const struct literal_collective *tree, uint32_t node,
                               uint32_t header);
/* As in net_collective.h; without messages. */
int literal_collective_store_header(struct literal_collective *tree, uint32_t node, unsigned vc,
                                    uint32_t header, uint64_t serial);
int literal_collective_store_data(struct literal_collective *tree, uint32_t node, unsigned vc,
                                  const uint8_t quad[16]);
int literal_collective_load_header(struct literal_collective *tree, uint32_t node, unsigned vc,
                                   uint32_t *header);
int literal_collective_load_data(struct literal_collective *tree, uint32_t node, unsigned vc,
                                 uint8_t quad[16]);
uint32_t literal_collective_status(const struct literal_collective *tree, uint32_t node,
                                   unsigned vc);
#endif
