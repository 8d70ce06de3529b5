/* The torus network of Blue Gene/L and Blue Gene/P.
 *
 * A packet of 1 to 8 chunks of 32 bytes goes from an injection FIFO of one node over links to a
 * reception FIFO of another one. docs/model-network.md has the model with all decisions; the
 * literal model in tests/unit/net_literal_torus.c is written from the same text. In short:
 *
 * - Six links a node, in the order x+ x- y+ y- z+ z-. A link is named by the node that sends. A
 *   receiver is named by the neighbour that it receives from.
 * - A packet of c chunks keeps a link busy for 32c + 14 bytes. Its header is at the next node,
 * ready to be sent on, `hop_cycles` after it was started.
 * - Four channels a link: dynamic 0 and 1, bubble normal, bubble priority. Each has a buffer of 32
 *   tokens at the receiver, and each buffer is a queue that sends one packet at a time.
 * - A packet starts when the link is idle and the sender has tokens for all of it: c for a dynamic
 *   channel, and for a bubble channel in which it stays; c + 8 to enter a bubble channel.
 * - A packet that is not sent on in the cycle in which its header arrives is buffered. Tokens
 *   return with the acknowledge when a packet passed through or was received, and later otherwise.
 * - A packet leaves the network when the reception FIFO has room for all of it.
 *
 * Limits: a corrupt packet is dropped as a whole and never sent on; protocol packets (tokens,
 * acknowledges) are never lost and take no time on a link.
 */
#ifndef NET_NET_TORUS_H
#define NET_NET_TORUS_H

#include "chiliad/error.h"
#include "machine/net/net.h"

enum net_torus_direction {
    TORUS_XP,
    TORUS_XM,
    TORUS_YP,
    TORUS_YM,
    TORUS_ZP,
    TORUS_ZM,
    TORUS_LINKS,
};

enum net_torus_channel {
    TORUS_DYNAMIC_0,
    TORUS_DYNAMIC_1,
    TORUS_BUBBLE_NORMAL,
    TORUS_BUBBLE_PRIORITY,
    TORUS_CHANNELS,
};

enum {
    TORUS_CHUNK = 32,     /* bytes */
    TORUS_CHUNKS_MAX = 8, /* of a packet */
    TORUS_OVERHEAD = 14,  /* bytes of a link's time per packet, beside the chunks */
    TORUS_HEADER = 16,    /* bytes of a packet's chunks that are header */
    TORUS_PAYLOAD_MAX = 240,
    TORUS_TOKENS = 32,      /* of a channel: chunks of its buffer */
    TORUS_FIFO_CHUNKS = 32, /* of an injection or a reception FIFO */
    TORUS_WINDOW = 4,       /* packets of a link that are not acknowledged */
    TORUS_TRANSIT_RUN = 8,  /* grants to packets in transit, then a waiting injection is served */
    TORUS_GROUPS = 2,
    TORUS_INJECTION_FIFOS = 8,  /* group * 4 + 0..2 normal, 3 high */
    TORUS_RECEPTION_FIFOS = 14, /* group * 7 + receiver, 6 high: for packets with priority */
};

/* The numbers in which the machines differ; times in core cycles. */
struct net_torus_params {
    uint32_t cycles_per_byte; /* of a link */
    uint32_t hop_cycles;      /* header in to header out; also the way of tokens and acknowledges */
    uint32_t inject_cycles;   /* from the write into the FIFO until the header can start */
    uint32_t receive_cycles;  /* from the packet's end until the FIFO has it */
    uint32_t retry_cycles;    /* without acknowledge, until the sender repeats */
};

extern const struct net_torus_params net_torus_bgl, net_torus_bgp;

struct net_torus_shape {
    uint16_t size[3]; /* x, y, z: 1 to 256 */
    bool torus[3];    /* or a mesh */
};

struct net_torus_config {
    struct net_torus_shape shape;
    struct net_torus_params params;
    uint64_t fault_seed;
    uint64_t bit_error_rate; /* of 2^64, for each bit on a link; 0: no faults */
};

/* ---- shape ---- */

uint32_t net_torus_nodes(const struct net_torus_shape *shape);
void net_torus_coordinates(const struct net_torus_shape *shape, uint32_t node, uint8_t at[3]);
uint32_t net_torus_node(const struct net_torus_shape *shape, const uint8_t at[3]);
/* The neighbour of a node, or UINT32_MAX beyond the edge of a mesh. */
uint32_t net_torus_neighbour(const struct net_torus_shape *shape, uint32_t node,
                             unsigned direction);
/* The hints that the hardware computes: the shorter way round, and half way round plus from an even
 * coordinate, minus from an odd one. */
uint8_t net_torus_hints(const struct net_torus_shape *shape, const uint8_t from[3],
                        const uint8_t to[3]);

/* Bit of a direction in hints. */
static inline uint8_t net_torus_hint(unsigned direction)
{
    return (uint8_t)(0x20 >> direction);
}

/* ---- packet ---- */

struct net_torus_header {
    uint8_t checksum_skip; /* in 2-byte units */
    bool skip_checksum;
    uint8_t hints;
    bool deposit;
    uint8_t group; /* bit 1 chooses the FIFO group (pid0), bit 0 is pid1 */
    uint8_t chunks;
    bool direct; /* a direct put or remote get, else a memory FIFO packet (Blue Gene/P) */
    bool dynamic;
    uint8_t channel;
    uint8_t target[3];
    uint16_t reserved;
    uint32_t software[2]; /* words 2 and 3 */
};

/* Words 2 and 3 as Blue Gene/P's DMA uses them. */
struct net_torus_put {
    uint32_t offset;
    uint8_t counter, payload, flags, fifo;
};

void net_torus_header_encode(const struct net_torus_header *header, uint32_t words[4]);
void net_torus_header_decode(const uint32_t words[4], struct net_torus_header *header);
void net_torus_put_encode(const struct net_torus_put *put, uint32_t software[2]);
void net_torus_put_decode(const uint32_t software[2], struct net_torus_put *put);

/* Packets and chunks of a message of `bytes`, as IBM's SPI cuts it: 240 bytes a packet. */
void net_torus_message_size(uint64_t bytes, uint64_t *packets, uint64_t *chunks);

struct net_torus_packet {
    struct net_torus_packet *next;
    uint8_t *payload;  /* 32 * chunks - 16 bytes, or NULL: not simulated */
    uint64_t arrived;  /* when the header came to this router */
    uint64_t injected; /* when the owner wrote it */
    uint64_t serial;   /* the owner's */
    uint32_t number;   /* among the packets that its source has injected, from 0 */
    uint32_t words[4];
    uint32_t source; /* node */
    uint16_t hops;   /* so far */
    uint8_t hints;   /* that are left */
    uint8_t chunks;
    uint8_t route; /* enum net_torus_route */
    uint8_t group;
    uint8_t target[3];
    bool deposit, copied;
};

/* ---- network ---- */

struct net_torus;      /* of all nodes of a process */
struct net_torus_part; /* a partition's part of it: what its thread uses */

/* The owner of the routers is notified in step 2 of a cycle. Both may be NULL. */
struct net_torus_owner {
    void *self;
    /* A packet is in a reception FIFO. */
    void (*received)(void *self, uint32_t node, unsigned fifo);
    /* A packet has left an injection FIFO. */
    void (*injected)(void *self, uint32_t node, unsigned fifo);
};

/* A listener is notified of every packet at its sending and at its end; it changes nothing. Calls
 * of one node come in the order of time, those of a cycle in no order of nodes. */
struct net_torus_listener {
    void *self;
    /* A packet has started on a link, on which it could have started at `ready`; also again, after
     * a bit error. packet->hops are those before this link. */
    void (*started)(void *self, uint32_t node, unsigned direction,
                    const struct net_torus_packet *packet, uint64_t ready);
    /* A packet, or the copy of one, is in a reception FIFO; it came over a link in `direction`. */
    void (*delivered)(void *self, uint32_t node, unsigned direction,
                      const struct net_torus_packet *packet);
};

int net_torus_new(struct net_torus **torus, const struct net_torus_config *config,
                  struct chil_error *error);
void net_torus_free(struct net_torus *torus);
const struct net_torus_config *net_torus_config(const struct net_torus *torus);

/* Adds the torus to a partition as a unit. Free parts before the torus. */
struct net_torus_part *net_torus_part_new(struct net_torus *torus, struct net_partition *partition,
                                          const struct net_torus_owner *owner);
void net_torus_part_free(struct net_torus_part *part);
/* Borrows the listener; NULL: none, which is the usual case. */
void net_torus_listen(struct net_torus_part *part, const struct net_torus_listener *listener);
/* Cycles in an empty network: for which a packet keeps a link busy; from its injection to its
 * delivery. */
uint64_t net_torus_busy(const struct net_torus *torus, unsigned chunks);
uint64_t net_torus_latency(const struct net_torus *torus, unsigned chunks, unsigned hops);

/* Writes a packet into an injection FIFO. `payload` has 32 * chunks - 16 bytes, or is NULL. Hints
 * of 0 are computed. CHIL_EBUSY without room; CHIL_EINVAL or CHIL_ENOENT, with a message, for a
 * header that the hardware could not route. */
int net_torus_inject(struct net_torus_part *part, uint32_t node, unsigned fifo,
                     const uint32_t words[4], const uint8_t *payload, uint64_t serial,
                     struct chil_error *error);
/* Chunks that a FIFO holds, as in its status byte. */
unsigned net_torus_injection_chunks(const struct net_torus_part *part, uint32_t node,
                                    unsigned fifo);
unsigned net_torus_reception_chunks(const struct net_torus_part *part, uint32_t node,
                                    unsigned fifo);
/* The packet at the front of a reception FIFO, or NULL. */
const struct net_torus_packet *net_torus_front(const struct net_torus_part *part, uint32_t node,
                                               unsigned fifo);
/* Removes and frees it: all of it was read. */
void net_torus_drop_front(struct net_torus_part *part, uint32_t node, unsigned fifo);

/* ---- events and laws ---- */

/* family, name in signals, Blue Gene/P id (of x+) and step per direction, Blue Gene/L offset in the
 * block of a direction, high. An id of 0: in no catalogue. A pulse is high for 2 core cycles. */
#define NET_TORUS_EVENTS(X)                                                                        \
    X(PACKETS, "packets", 194, 2, 6, PULSE)                                                        \
    X(CHUNKS, "chunks", 195, 2, 0, PULSE)                                                          \
    X(TOKEN_ACK, "token_acks", 640, 10, 7, PULSE)                                                  \
    X(ACKS, "acks", 641, 10, 1, PULSE)                                                             \
    X(VCD0_CHUNKS, "vcd0.chunks", 642, 10, 10, PULSE)                                              \
    X(VCD1_CHUNKS, "vcd1.chunks", 643, 10, 11, PULSE)                                              \
    X(VCBN_CHUNKS, "vcbn.chunks", 644, 10, 8, PULSE)                                               \
    X(VCBP_CHUNKS, "vcbp.chunks", 645, 10, 9, PULSE)                                               \
    X(NO_TOKENS, "no_tokens", 646, 10, 5, LEVEL)                                                   \
    X(NO_VCD_TOKENS, "no_vcd_tokens", 647, 10, 4, LEVEL)                                           \
    X(NO_VCBN_TOKENS, "no_vcbn_tokens", 648, 10, 2, LEVEL)                                         \
    X(NO_VCBP_TOKENS, "no_vcbp_tokens", 649, 10, 3, LEVEL)                                         \
    X(RETRIES, "retries", 0, 0, 0, PULSE) /* own: the send retry registers, DCR 75-7A */           \
    X(BUSY, "busy", 0, 0, 0, LEVEL)       /* own: the link carries a packet */

enum net_torus_event {
#define NET_TORUS_ENUM(id, name, bgp, step, bgl, kind) TORUS_##id,
    NET_TORUS_EVENTS(NET_TORUS_ENUM)
#undef NET_TORUS_ENUM
        TORUS_EVENTS
};

struct net_torus_event_row {
    const char *name;
    uint16_t bgp, bgp_step, bgl;
    bool level;
};

extern const struct net_torus_event_row net_torus_event_rows[TORUS_EVENTS];

/* What link `direction` of a node did in all cycles before now. */
struct net_count net_torus_count(const struct net_torus_part *part, uint32_t node,
                                 unsigned direction, enum net_torus_event event);

/* Sums over nodes. Sums of parts add up, so that ranks can add theirs before the laws. */
struct net_torus_totals {
    struct net_count count[TORUS_LINKS][TORUS_EVENTS];
    uint64_t injected, copies, delivered; /* packets; expected copies of deposit beside them */
    uint64_t hops;                        /* that injected packets need */
    uint64_t tokens_out;                  /* not in the senders' hands */
    uint64_t links[TORUS_LINKS];          /* of routers that were used */
    uint64_t elapsed, cycles_per_byte;
};

void net_torus_add_totals(const struct net_torus_part *part, struct net_torus_totals *totals);

/* A law of a quiet network, in words; NULL after the last. */
const char *net_torus_law(unsigned number);
/* The number of the first law that the totals break, or -1. */
int net_torus_broken_law(const struct net_torus_totals *totals);

/* Bytes of host memory of a part: routers that were ever used, and packets. */
size_t net_torus_memory(const struct net_torus_part *part);

/* Whether transmission number n (from 0) of a packet of `bits` over a link is corrupted. */
bool net_torus_fault(const struct net_torus_config *config, uint32_t node, unsigned direction,
                     uint64_t n, uint64_t bits);

#endif
