/* The state of a router of the torus; inside the folder only.
 *
 * A source is what a packet waits in: the buffer of receiver r, channel c is source 4r + c, and
 * injection FIFO f is source 24 + f. Sets of sources are 32-bit masks. Sets of links are masks with
 * the bits of hints.
 */
#ifndef NET_NET_TORUS_ROUTER_H
#define NET_NET_TORUS_ROUTER_H

#include "base/mem.h"
#include "machine/net/net_torus.h"

enum { SOURCES = 32, TRANSIT_SOURCES = 24, NO_SOURCE = 255, LEVELS = 4 };

#define TRANSIT_MASK UINT32_C(0x00FFFFFF)

enum net_torus_route { ROUTE_DYNAMIC, ROUTE_NORMAL, ROUTE_PRIORITY };

/* Kinds of events. Those from TORUS_DELIVER on are acts. */
enum torus_kind {
    TORUS_ARRIVE, /* a header is at receiver `port`, in `channel` */
    TORUS_RETURN, /* `value` tokens of link `port`, `channel` came back */
    TORUS_FREE,   /* link `port` is idle, source `channel` may send again; value: see free_value */
    TORUS_ACK,    /* the end of a good, buffered packet is at receiver `port` */
    TORUS_ELIGIBLE,          /* the header of a packet in injection FIFO `port` can start */
    TORUS_ACKED,             /* with faults only: an acknowledge for link `port` */
    TORUS_TIMEOUT,           /* with faults only: of link `port` */
    TORUS_DELIVER = NET_ACT, /* a packet is in reception FIFO `port`; channel: its source */
    TORUS_INJECTED,          /* injection FIFO `port` has room again */
};

/* Value of TORUS_FREE: chunks, and whether the packet's source was a buffer. */
enum { FREE_CHUNKS = 0xFF, FREE_PASSED = 0x100, FREE_BUFFERED = 0x200 };

struct torus_level {
    uint64_t since; /* when it rose, if it is high */
    uint64_t rises, cycles;
};

/* Packets that the receiver dropped and that will be repeated, in their order. */
struct torus_retry {
    struct net_torus_packet *lost[TORUS_WINDOW];
    uint8_t channel[TORUS_WINDOW];
    uint8_t count, next, unacknowledged;
    bool replaying; /* lost[next] is to be repeated next */
    bool broken;    /* a packet of this replay was lost again: the rest will be dropped */
};

struct torus_link {
    uint32_t neighbour;
    uint8_t tokens[TORUS_CHANNELS];
    uint8_t next[3];         /* round robin: the source that comes first, by class */
    uint8_t transit_run;     /* grants to packets in transit since an injection waits */
    uint8_t chunks, channel; /* of the packet on the link */
    uint64_t started;        /* when it started */
    uint64_t pulses[TORUS_EVENTS];
    struct torus_level levels[LEVELS]; /* from TORUS_NO_TOKENS */
    struct torus_retry *retry;
};

struct torus_fifo {
    struct net_torus_packet *last; /* of a circular list */
    uint8_t chunks;                /* with chunks that are on their way into it */
};

struct torus_router {
    uint32_t node;
    uint8_t at[3];
    bool touched;
    uint8_t links, busy_links; /* masks of hints */
    uint32_t filled, busy;     /* sources with a packet that may be sent; that are sending */
    uint32_t fresh;            /* sources whose last packet's header came in this cycle */
    uint8_t fresh_chunks[TORUS_LINKS]; /* of those packets, by receiver */
    uint32_t levels;                   /* a bit for each that is high: 4 * direction + level */
    uint8_t eligible[TORUS_INJECTION_FIFOS];
    uint8_t held[TORUS_INJECTION_FIFOS]; /* chunks */
    struct net_torus_packet *last[SOURCES];
    struct torus_fifo reception[TORUS_RECEPTION_FIFOS];
    uint32_t deliveries; /* numbers them, so that those of one source and cycle keep their order */
    uint64_t injected, copies, delivered, hops;
    struct torus_link link[TORUS_LINKS];
};

struct net_torus {
    struct net_torus_config config;
    struct torus_router **routers; /* NULL for a node that never had a packet */
    size_t reserved;               /* bytes of that array */
};

enum { PAYLOAD_POOLS = TORUS_CHUNKS_MAX };

struct net_torus_part {
    struct net_torus *torus;
    struct net_partition *partition;
    struct net_torus_owner owner;
    const struct net_torus_listener *listener; /* NULL: none */
    uint8_t unit;
    struct arena arena;
    struct net_torus_packet *free_packets;
    void *free_payloads[PAYLOAD_POOLS];
    size_t packets, payload_bytes, router_count, retries;
    uint32_t *used; /* nodes that have a router here, in the order of their first use */
    size_t used_capacity;
};

static inline struct net_torus_packet *torus_front(struct net_torus_packet *last)
{
    return last ? last->next : NULL;
}

static inline void torus_append(struct net_torus_packet **last, struct net_torus_packet *packet)
{
    packet->next = *last ? (*last)->next : packet;
    if (*last) (*last)->next = packet;
    *last = packet;
}

static inline struct net_torus_packet *torus_remove(struct net_torus_packet **last)
{
    struct net_torus_packet *packet = (*last)->next;
    if (packet == *last)
        *last = NULL;
    else
        (*last)->next = packet->next;
    return packet;
}

static inline uint64_t torus_occupancy(const struct net_torus_part *part, unsigned chunks)
{
    return (uint64_t)(TORUS_CHUNK * chunks + TORUS_OVERHEAD) *
           part->torus->config.params.cycles_per_byte;
}

static inline void torus_send(struct net_torus_part *part, uint32_t node, uint64_t time,
                              enum torus_kind kind, unsigned port, unsigned channel, uint32_t value,
                              void *packet)
{
    net_partition_send(part->partition, &(struct net_event){.time = time,
                                                            .packet = packet,
                                                            .node = node,
                                                            .value = value,
                                                            .unit = part->unit,
                                                            .kind = (uint8_t)kind,
                                                            .port = (uint8_t)port,
                                                            .channel = (uint8_t)channel});
}

static inline void torus_touch(struct net_torus_part *part, struct torus_router *router)
{
    if (router->touched) return;
    router->touched = true;
    net_partition_touch(part->partition, part->unit, router->node);
}

/* net_torus_pool.c */
struct torus_router *torus_router_get(struct net_torus_part *part, uint32_t node);
struct net_torus_packet *torus_packet_new(struct net_torus_part *part, unsigned chunks,
                                          const uint8_t *payload);
void torus_packet_free(struct net_torus_part *part, struct net_torus_packet *packet);
struct net_torus_packet *torus_packet_copy(struct net_torus_part *part,
                                           const struct net_torus_packet *packet);
size_t torus_packet_pack(void *part, const void *packet, uint8_t *bytes); /* struct net_unit */
void *torus_packet_unpack(void *part, const uint8_t *bytes);
/* net_torus_route.c: step 3 of a cycle. */
void torus_arbitrate(void *part, uint32_t node);
/* net_torus_link.c */
void torus_transmit(struct net_torus_part *part, struct torus_router *router, unsigned direction,
                    struct net_torus_packet *packet, unsigned channel);
/* Repeats a lost packet on each idle link that has one to repeat. */
void torus_replay(struct net_torus_part *part, struct torus_router *router);
void torus_timeout(struct net_torus_part *part, struct torus_router *router, unsigned direction);
/* Links on which a new packet may start. */
uint8_t torus_open_links(const struct net_torus_part *part, const struct torus_router *router);

#endif
