/* Networks of a Blue Gene node, from a program: packets over the torus, and the barrier.
 *
 * A node is numbered as in chiliad/personality.h. Functions are for one thread of a node. All of
 * them work on Blue Gene/L and on Blue Gene/P, where they use the torus FIFOs with the DMA engine
 * off. docs/model-network.md of Chiliad is the reference of the hardware; `man 3 chiliad_net` has
 * an example.
 *
 * What waits does so in a loop that only reads a status: the simulator recognises it, and it costs
 * no host time.
 */
#ifndef CHILIAD_NET_H
#define CHILIAD_NET_H

#include <stddef.h>
#include <stdint.h>

#include "chiliad/personality.h"

enum {
    NET_PACKET_MAX = 240 /* bytes of data in a packet */
};

/* How a packet goes. */
enum net_route {
    NET_DYNAMIC = 0,  /* each router chooses: packets to one node may pass each other */
    NET_ORDERED = 1,  /* x, then y, then z: packets to one node stay in order */
    NET_PRIORITY = 2, /* likewise, and before all others; received apart from them */
    NET_DEPOSIT =
        4 /* or with another one: every node on the way receives a copy; along one dimension only */
};

enum { NET_OK = 0, NET_FULL = -1, NET_WRONG = -2 };

struct net_packet {
    uint32_t node;  /* that sent it */
    uint32_t tag;   /* its word */
    uint32_t bytes; /* of data */
    uint32_t hints; /* directions that are left, and all else of the hardware's first word */
    uint8_t data[NET_PACKET_MAX] __attribute__((aligned(16)));
};

/* What the machine looks like; filled in by the first call of any function here. */
const struct chiliad_personality *net_self(void);
static inline unsigned net_node(void)
{
    return net_self()->node;
}
static inline unsigned net_nodes(void)
{
    return net_self()->nodes;
}
/* The number of the node at x, y, z. */
unsigned net_node_at(const unsigned at[3]);
/* Links on the shortest way from one node to another one. */
unsigned net_hops(unsigned from, unsigned to);
/* 32-byte chunks of a packet with so many bytes of data: 16 bytes are its header. */
static inline unsigned net_chunks(unsigned bytes)
{
    return (bytes + 16 + 31) / 32;
}

/* Sends one packet of at most NET_PACKET_MAX bytes to another node. NET_WRONG: to oneself, or too
 * many bytes. NET_FULL: the injection FIFO has no room now. net_send waits for room instead, and
 * takes no packet meanwhile: when every node sends and none receives, they wait for ever. */
int net_try_send(unsigned node, uint32_t tag, const void *data, unsigned bytes, unsigned route);
int net_send(unsigned node, uint32_t tag, const void *data, unsigned bytes, unsigned route);

/* Takes a packet, if one has arrived: 1, or 0. Those with priority first, then in turn from each
 * neighbour. */
int net_receive(struct net_packet *packet);
/* Waits until net_receive has something to take. */
void net_wait(void);
/* Waits for a packet and takes it. */
static inline void net_receive_next(struct net_packet *packet)
{
    while (!net_receive(packet))
        net_wait();
}

/* Waits until every node has called it: the global interrupts, channel 0. */
void net_barrier(void);
/* The same in two steps, to do something in between: arrive, then ask whether all have. */
void net_barrier_arrive(void);
int net_barrier_is_over(void);

/* ---- collective network ----
 *
 * A tree over all nodes. A packet has a header and 256 bytes; it is combined with those of all
 * other nodes on the way up, and the result comes down to all. Every node makes the same calls in
 * the same order. */

enum net_op { NET_OR = 1, NET_AND = 2, NET_XOR = 3, NET_MAX = 5, NET_ADD = 6 };
enum {
    NET_TREE_BYTES = 256, /* of a packet */
    NET_TREE_PACKETS = 8, /* that an injection or a reception FIFO holds */
    NET_TREE_CLASS = 0,   /* which the functions below use, on channel 0 */
};

/* result = operands of all nodes, combined. Operands are unsigned big-endian integers of
 * `operand_bytes`, an even number up to 256; ADD wraps within them. Both arrays have `bytes`, and
 * may be the same. Full packets follow each other without a gap. */
void net_combine(void *result, const void *operands, size_t bytes, enum net_op op,
                 unsigned operand_bytes);
/* `data` of node `root` come to all nodes. */
void net_broadcast(void *data, size_t bytes, unsigned root);
/* Sums of doubles over all nodes, in two passes: the largest exponent, then numbers of 96 bits.
 * Exact to 2^-78 of the largest summand, so in most cases rounded once, and the same on all nodes
 * for any shape of the tree. At most 2^17 nodes. */
void net_sum_double(double *result, const double *summands, size_t count);

/* One packet, as the FIFOs have it: `data` is aligned to 16 bytes. A header is made by
 * net_tree_header; `class` leads where route register `class` says (device control registers 0xC00
 * on). net_tree_send waits for room, net_tree_receive for a packet; the try forms return 0. */
uint32_t net_tree_header(unsigned class, enum net_op op, unsigned operand_bytes);
int net_tree_try_send(unsigned vc, uint32_t header, const void *data);
void net_tree_send(unsigned vc, uint32_t header, const void *data);
int net_tree_try_receive(unsigned vc, uint32_t *header, void *data);
void net_tree_receive(unsigned vc, uint32_t *header, void *data);

/* Core cycles since the machine was started: the same clock on all nodes. */
static inline uint64_t net_time(void)
{
    uint32_t high, low, again;
    do {
        __asm__ volatile("mftbu %0\n\tmftb %1\n\tmftbu %2" : "=r"(high), "=r"(low), "=r"(again));
    } while (high != again);
    return (uint64_t)high << 32 | low;
}

#endif
