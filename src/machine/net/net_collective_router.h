/* The state of a router of the collective network; inside the folder only.
 *
 * A part of a router is what one move at a time uses: receivers 0 to 2, the injection side, senders
 * 0 to 2, the reception side, the ALU. An input is a place from which packets are moved: virtual
 * channel v of receiver r is input 2r + v, of the injection FIFO 6 + v.
 */
#ifndef NET_NET_COLLECTIVE_ROUTER_H
#define NET_NET_COLLECTIVE_ROUTER_H

#include "base/mem.h"
#include "machine/net/net_collective.h"

enum {
    LOCAL = COLLECTIVE_LINKS, /* the side of the FIFOs, beside links 0 to 2 */
    SIDES = COLLECTIVE_LINKS + 1,
    INPUTS = SIDES * COLLECTIVE_VCS,
    PART_SENDER = SIDES, /* parts: receivers and injection, senders and reception, the ALU */
    PART_ALU = 2 * SIDES,
    UNACKNOWLEDGED = COLLECTIVE_PLACES * COLLECTIVE_VCS,
};

/* Kinds of events. Those from COLLECTIVE_DELIVER on are acts. */
enum collective_kind {
    COLLECTIVE_ARRIVE,    /* a header is at receiver `port`; without packet: it is dropped */
    COLLECTIVE_ARRIVED,   /* its end is; value: enum collective_outcome */
    COLLECTIVE_ANSWER,    /* an empty packet is due on link `port` unless data have left since */
    COLLECTIVE_EMPTY,     /* an empty packet is in */
    COLLECTIVE_MOVED,     /* a move has ended; value: its parts */
    COLLECTIVE_OUT,       /* the ALU's packet comes into sender `port` */
    COLLECTIVE_LINK_FREE, /* link `port` is idle */
    COLLECTIVE_ACKED,     /* the oldest packet of link `port` was received */
    COLLECTIVE_REFUSED,   /* it was corrupted: it and all later ones are repeated */
    COLLECTIVE_PLACE,     /* the neighbour over link `port` has a place again */
    COLLECTIVE_ELIGIBLE,  /* the arbiter sees one more packet of the injection FIFO */
    COLLECTIVE_AGED,      /* a request may have waited for greedy_cycles */
    COLLECTIVE_DELIVER = NET_ACT, /* a packet is in the reception FIFO; value 1: discarded */
    COLLECTIVE_INJECTED,          /* an injection FIFO has room again */
};

/* What a receiver makes of a packet that came over a link. */
enum collective_outcome { OUTCOME_GOOD, OUTCOME_CORRUPT, OUTCOME_REFUSED, OUTCOME_UNEXPECTED };

struct collective_level {
    uint64_t since; /* when it rose, if it is high */
    uint64_t rises, cycles;
};

struct collective_queue {
    struct net_collective_packet *last; /* of a circular list */
    uint8_t count;
};

/* A sender, and the receiver of the same neighbour. */
struct collective_link {
    uint32_t neighbour;
    bool busy;
    bool resync; /* the receiver drops what comes, until a corrupt packet was repeated */
    uint8_t next_vc;
    uint8_t places[COLLECTIVE_VCS];              /* that the neighbour has */
    uint8_t taken[COLLECTIVE_VCS];               /* places of this sender */
    struct collective_queue out[COLLECTIVE_VCS]; /* that were never started */
    /* Packets without acknowledge in the order of their start. NULL: the neighbour has it; those
     * that it has are the first ones. */
    struct net_collective_packet *sent[UNACKNOWLEDGED];
    uint8_t sent_vc[UNACKNOWLEDGED];
    uint8_t sent_count, cursor; /* those from `cursor` on are to be repeated */
    uint64_t transmissions;
    uint64_t started;                  /* when data last were */
    uint64_t idle_since, quiet_since;  /* the sender; the receiver: when its last packet ended */
    uint64_t idle_sent, idle_received; /* before those times */
};

/* An injection FIFO: packets in the making and after. */
struct collective_injection {
    struct collective_queue packets;
    uint8_t headers, quads; /* that it holds */
    uint8_t eligible;       /* packets that the arbiter sees */
};

struct collective_reception {
    struct collective_queue packets;
    uint8_t coming;                   /* packets that are on their way into it */
    uint8_t headers_read, quads_read; /* of the packets that it holds */
};

struct collective_router {
    uint32_t node;
    uint32_t address;
    bool receive_all, touched;
    uint8_t links;  /* bit l: link l exists */
    uint8_t moving; /* inputs whose packet is being moved */
    uint16_t busy;  /* parts */
    uint16_t route[COLLECTIVE_CLASSES];
    struct collective_queue in[INPUTS - COLLECTIVE_VCS]; /* of receivers */
    struct collective_injection injection[COLLECTIVE_VCS];
    struct collective_reception reception[COLLECTIVE_VCS];
    struct collective_link link[COLLECTIVE_LINKS];
    uint64_t since[INPUTS];   /* when the request became mature, or NET_NEVER */
    uint64_t awaited[INPUTS]; /* the same, of the one that COLLECTIVE_AGED was sent for */
    uint64_t high;            /* levels */
    struct collective_level levels[COLLECTIVE_LEVELS];
    uint64_t pulses[COLLECTIVE_EVENTS - COLLECTIVE_LEVELS];
    uint64_t moved, merged, copies, strays;
};

_Static_assert(COLLECTIVE_LEVELS <= 64, "a mask has a bit for each level");

struct net_collective {
    struct net_collective_config config;
    struct collective_router **routers; /* NULL for a node that was never used */
    size_t reserved;
};

struct net_collective_part {
    struct net_collective *network;
    struct net_partition *partition;
    struct net_collective_owner owner;
    uint8_t unit;
    uint32_t first, end; /* nodes */
    struct arena arena;
    struct net_collective_packet *free_packets;
    size_t packets, router_count;
    uint32_t *used;
    size_t used_capacity;
};

static inline struct net_collective_packet *collective_front(const struct collective_queue *queue)
{
    return queue->last ? queue->last->next : NULL;
}

static inline void collective_append(struct collective_queue *queue,
                                     struct net_collective_packet *packet)
{
    packet->next = queue->last ? queue->last->next : packet;
    if (queue->last) queue->last->next = packet;
    queue->last = packet;
    queue->count++;
}

static inline struct net_collective_packet *collective_remove(struct collective_queue *queue)
{
    struct net_collective_packet *packet = queue->last->next;
    if (packet == queue->last)
        queue->last = NULL;
    else
        queue->last->next = packet->next;
    queue->count--;
    return packet;
}

static inline const struct net_collective_params *
collective_params(const struct net_collective_part *part)
{
    return &part->network->config.params;
}

static inline void collective_pulse(struct collective_router *router, unsigned event)
{
    router->pulses[event - COLLECTIVE_LEVELS]++;
}

static inline void collective_send(struct net_collective_part *part, uint32_t node, uint64_t time,
                                   enum collective_kind kind, unsigned port, unsigned vc,
                                   uint32_t value, void *packet)
{
    net_partition_send(part->partition, &(struct net_event){.time = time,
                                                            .packet = packet,
                                                            .node = node,
                                                            .value = value,
                                                            .unit = part->unit,
                                                            .kind = (uint8_t)kind,
                                                            .port = (uint8_t)port,
                                                            .channel = (uint8_t)vc});
}

static inline void collective_touch(struct net_collective_part *part,
                                    struct collective_router *router)
{
    if (router->touched) return;
    router->touched = true;
    net_partition_touch(part->partition, part->unit, router->node);
}

/* Side `link` of a neighbour leads back: to the parent over link 0, to a child over 1 or 2. */
static inline unsigned collective_back(uint32_t node, unsigned link)
{
    if (link) return 0;
    return node % 2 ? 1 : 2;
}

/* net_collective_pool.c */
/* Up to the root, and from the root down to all. */
uint16_t collective_first_route(const struct net_collective *network, uint32_t node);
struct collective_router *collective_router_get(struct net_collective_part *part, uint32_t node);
struct net_collective_packet *collective_packet_new(struct net_collective_part *part);
void collective_packet_free(struct net_collective_part *part, struct net_collective_packet *packet);
size_t collective_packet_pack(void *part, const void *packet, uint8_t *bytes);
void *collective_packet_unpack(void *part, const uint8_t *bytes); /* struct net_unit */
/* net_collective_route.c: step 3 of a cycle. */
void collective_arbitrate(void *part, uint32_t node);
/* Why no arbiter could route a packet of this header from its FIFO, or NULL. */
const char *collective_no_way(const struct collective_router *router, uint32_t header);
/* net_collective_link.c */
void collective_serve_links(struct net_collective_part *part, struct collective_router *router);
void collective_arrive(struct net_collective_part *part, struct collective_router *router,
                       const struct net_event *event);
void collective_arrived(struct net_collective_part *part, struct collective_router *router,
                        const struct net_event *event);
void collective_answer(struct net_collective_part *part, struct collective_router *router,
                       const struct net_event *event);
void collective_acknowledge(struct collective_router *router, unsigned link, bool good);
/* net_collective_count.c: idle packets of a link before `now`, in closed form. */
uint64_t collective_idle(const struct net_collective_part *part, uint64_t since, uint64_t now);

#endif
