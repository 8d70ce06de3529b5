/* The collective network ("tree") of Blue Gene/L and Blue Gene/P.
 *
 * A packet is a 32-bit header and 256 bytes. It goes along a tree of three links a node, by one of
 * 16 classes; every node has a route register for each class. Packets of a class may be combined on
 * their way up and are spread on their way down. docs/model-network.md has the model with all
 * decisions; the literal model in tests/unit/net_literal_collective.c is written from the same
 * text. In short:
 *
 * - Tree: nodes in the order of a binary heap. Link 0 of node i leads to node (i - 1) / 2, links 1
 *   and 2 to nodes 2i + 1 and 2i + 2. Node 0 is the root.
 * - Two virtual channels. A receiver and a sender have 4 places for packets of each.
 * - The arbiter moves a packet, or a combine's packets together, from receivers and injection FIFO
 *   to senders and reception FIFO. A move takes a packet's time on a link, and each receiver,
 * sender, FIFO side and the ALU is in one move at a time. It starts with the headers: cut-through.
 * - A sender starts a packet when its link is idle and the neighbour has a place.
 * - Operands are 1 to 128 words of 16 bits, unsigned and big-endian.
 *
 * Route register: sources and targets of the way up; a packet that comes from a target (the parent)
 * goes to the sources. At the start all classes of all nodes lead up to the root and down to all.
 *
 * Limits: a corrupt packet is dropped as a whole and repeated; none is routed first and undone, so
 * events of aborts and bad markers stay 0, as do those of parity and of SRAM.
 */
#ifndef NET_NET_COLLECTIVE_H
#define NET_NET_COLLECTIVE_H

#include "chiliad/error.h"
#include "machine/net/net.h"

enum {
    COLLECTIVE_LINKS = 3,
    COLLECTIVE_VCS = 2,
    COLLECTIVE_CLASSES = 16,
    COLLECTIVE_PAYLOAD = 256,
    COLLECTIVE_QUAD = 16,
    COLLECTIVE_QUADS = COLLECTIVE_PAYLOAD / COLLECTIVE_QUAD,
    COLLECTIVE_PLACES = 4,       /* of a receiver or sender, for each virtual channel */
    COLLECTIVE_FIFO_PACKETS = 8, /* of an injection or reception FIFO */
};

enum net_collective_op {
    COLLECTIVE_ROUTE = 0, /* not combined */
    COLLECTIVE_OR = 1,
    COLLECTIVE_AND = 2,
    COLLECTIVE_XOR = 3,
    COLLECTIVE_MAX = 5,
    COLLECTIVE_ADD = 6,
};

/* Bits of a route register. */
enum net_collective_route {
    COLLECTIVE_SOURCE_2 = 0x4000,
    COLLECTIVE_SOURCE_1 = 0x2000,
    COLLECTIVE_SOURCE_0 = 0x1000,
    COLLECTIVE_TARGET_2 = 0x0400,
    COLLECTIVE_TARGET_1 = 0x0200,
    COLLECTIVE_TARGET_0 = 0x0100,
    COLLECTIVE_SOURCE_LOCAL = 0x0002,
    COLLECTIVE_TARGET_LOCAL = 0x0001,
};

/* The numbers in which the machines differ; times in core cycles. */
struct net_collective_params {
    uint32_t packet_cycles; /* of a packet on a link */
    uint32_t hop_cycles;    /* header in to header out; also the way of places and acknowledges */
    uint32_t alu_cycles;    /* more, where packets are combined */
    uint32_t
        inject_cycles; /* from the last write into the FIFO until the arbiter sees the packet */
    uint32_t receive_cycles; /* from the packet's end until the FIFO has it */
    uint32_t empty_cycles;   /* from a packet's end until an empty packet answers it */
    uint32_t idle_cycles;    /* of a sender without traffic, for each idle packet */
    uint32_t greedy_cycles;  /* that a request waits until the arbiter prefers it */
};

extern const struct net_collective_params net_collective_bgl, net_collective_bgp;

struct net_collective_config {
    uint32_t nodes;
    struct net_collective_params params;
    uint64_t fault_seed;
    uint64_t bit_error_rate; /* of 2^64, for each bit on a link; 0: no faults */
};

/* ---- packet ---- */

struct net_collective_header {
    uint8_t class;
    bool point_to_point; /* has a target, else op, words and tag */
    bool interrupt;
    uint8_t op;       /* enum net_collective_op */
    uint8_t words;    /* of an operand, 1 to 128 */
    uint16_t tag;     /* 14 bits */
    uint32_t target;  /* 24 bits */
    uint8_t checksum; /* mode, 2 bits */
};

uint32_t net_collective_header_encode(const struct net_collective_header *header);
void net_collective_header_decode(uint32_t word, struct net_collective_header *header);

/* into = into op from, operand by operand; the operands of a payload's rest are shorter. */
void net_collective_combine(unsigned op, unsigned words, uint8_t into[COLLECTIVE_PAYLOAD],
                            const uint8_t from[COLLECTIVE_PAYLOAD]);

struct net_collective_packet {
    struct net_collective_packet *next;
    uint64_t arrived; /* when the header came to this router */
    uint64_t serial;  /* the owner's; of the first source of a combine */
    uint32_t header;
    uint8_t payload[COLLECTIVE_PAYLOAD];
};

/* Whether transmission number n (from 0) over a link is corrupted. */
bool net_collective_fault(const struct net_collective_config *config, uint32_t node, unsigned link,
                          uint64_t n);

/* ---- network ---- */

struct net_collective;      /* of all nodes of a process */
struct net_collective_part; /* a partition's part of it: what its thread uses */

/* The owner of the routers is notified in step 2 of a cycle. May be NULL. */
struct net_collective_owner {
    void *self;
    /* A packet is in a reception FIFO. Interrupts (its header's bit, watermarks) are the owner's.
     */
    void (*received)(void *self, uint32_t node, unsigned vc);
    /* A packet has left an injection FIFO. */
    void (*injected)(void *self, uint32_t node, unsigned vc);
};

int net_collective_new(struct net_collective **network, const struct net_collective_config *config,
                       struct chil_error *error);
void net_collective_free(struct net_collective *network);
const struct net_collective_config *net_collective_config(const struct net_collective *network);
/* The neighbour over a link, or UINT32_MAX. */
uint32_t net_collective_neighbour(const struct net_collective *network, uint32_t node,
                                  unsigned link);

/* Adds the network to a partition as a unit. Free parts before the network. */
struct net_collective_part *net_collective_part_new(struct net_collective *network,
                                                    struct net_partition *partition,
                                                    const struct net_collective_owner *owner);
void net_collective_part_free(struct net_collective_part *part);

/* Route registers (two in each of the device control registers 0xC00 + 0-7), the address that the
 * filter of point-to-point packets compares with (+ 0x41; at the start the node's number), and
 * whether it lets all of them pass (+ 0x42). */
void net_collective_set_route(struct net_collective_part *part, uint32_t node, unsigned class,
                              uint16_t route);
uint16_t net_collective_route(const struct net_collective_part *part, uint32_t node,
                              unsigned class);
void net_collective_set_address(struct net_collective_part *part, uint32_t node, uint32_t address,
                                bool receive_all);

/* Writes a whole packet into an injection FIFO: as a header and 16 payload writes. CHIL_EBUSY
 * without room; CHIL_EINVAL, with a message, if its class has no way from here or its operation
 * does not exist. */
int net_collective_inject(struct net_collective_part *part, uint32_t node, unsigned vc,
                          uint32_t header, const uint8_t payload[COLLECTIVE_PAYLOAD],
                          uint64_t serial, struct chil_error *error);
/* Packets that a FIFO holds. */
/* Quads in an injection FIFO; quads that were read of what is in a reception FIFO. */
unsigned net_collective_injection_quads(const struct net_collective_part *part, uint32_t node,
                                        unsigned vc);
unsigned net_collective_quads_read(const struct net_collective_part *part, uint32_t node,
                                   unsigned vc);
unsigned net_collective_injection_packets(const struct net_collective_part *part, uint32_t node,
                                          unsigned vc);
unsigned net_collective_reception_packets(const struct net_collective_part *part, uint32_t node,
                                          unsigned vc);
/* The packet at the front of a reception FIFO, or NULL; and its removal: all of it was read. */
const struct net_collective_packet *net_collective_front(const struct net_collective_part *part,
                                                         uint32_t node, unsigned vc);
void net_collective_drop_front(struct net_collective_part *part, uint32_t node, unsigned vc);

/* ---- what a core accesses ---- */

/* Offsets in the page of a virtual channel. */
enum net_collective_port {
    COLLECTIVE_DATA_IN = 0x00,    /* store of 16 bytes */
    COLLECTIVE_HEADER_IN = 0x10,  /* store of a word */
    COLLECTIVE_DATA_OUT = 0x20,   /* load of 16 bytes */
    COLLECTIVE_HEADER_OUT = 0x30, /* load of a word */
    COLLECTIVE_STATUS = 0x40,     /* load of a word */
    COLLECTIVE_OTHER_STATUS = 0x50,
};

/* Headers and payload of a FIFO are written and read apart, in any order. A packet starts when its
 * header and its 16 quads were written; it is gone when both were read. Full FIFOs (CHIL_EBUSY)
 * drop what is written, empty ones (CHIL_EORDER) give zeros; both have a message. */
int net_collective_store_header(struct net_collective_part *part, uint32_t node, unsigned vc,
                                uint32_t header, uint64_t serial, struct chil_error *error);
int net_collective_store_data(struct net_collective_part *part, uint32_t node, unsigned vc,
                              const uint8_t quad[COLLECTIVE_QUAD], struct chil_error *error);
int net_collective_load_header(struct net_collective_part *part, uint32_t node, unsigned vc,
                               uint32_t *header, struct chil_error *error);
int net_collective_load_data(struct net_collective_part *part, uint32_t node, unsigned vc,
                             uint8_t quad[COLLECTIVE_QUAD], struct chil_error *error);
/* Quads to be injected in bits 0-7, headers in 12-15; quads received in 16-23, headers in 28-31. */
uint32_t net_collective_status(const struct net_collective_part *part, uint32_t node, unsigned vc);

/* ---- events and laws ---- */

/* family, unit, units, virtual channels, what, kind. An event's name is that of its signal in
 * data/events, without "collective.": "receiver2.vc1.data". A pulse is high for 2 core cycles. */
#define NET_COLLECTIVE_EVENTS(X)                                                                   \
    X(HAVE, "ch", 3, 2, "have", LEVEL)                                                             \
    X(HAVE_LOCAL, "inject", 1, 2, "have", LEVEL)                                                   \
    X(MATURE, "ch", 3, 2, "mature", LEVEL)                                                         \
    X(MATURE_LOCAL, "inject", 1, 2, "mature", LEVEL)                                               \
    X(PENDING, "arbiter", 1, 1, "pending", LEVEL)                                                  \
    X(WAITING, "arbiter", 1, 1, "waiting", LEVEL)                                                  \
    X(GREEDY, "arbiter", 1, 1, "greedy", LEVEL)                                                    \
    X(RECEIVER_BUSY, "receiver", 3, 1, "busy", LEVEL)                                              \
    X(INJECT_BUSY, "client", 1, 1, "busy.inject", LEVEL)                                           \
    X(SENDER_BUSY, "sender", 3, 1, "busy", LEVEL)                                                  \
    X(RECEPTION_BUSY, "client", 1, 1, "busy.reception", LEVEL)                                     \
    X(ALU_BUSY, "alu", 1, 1, "busy", LEVEL)                                                        \
    X(RECEIVER_FULL, "receiver", 3, 2, "full", LEVEL)                                              \
    X(SENDER_EMPTY, "sender", 3, 2, "empty", LEVEL)                                                \
    X(RESYNC, "receiver", 3, 1, "resync", LEVEL)                                                   \
    X(WINS, "class", 16, 1, "wins", PULSE)                                                         \
    X(TAKEN, "receiver", 3, 1, "taken", PULSE)                                                     \
    X(TAKEN_LOCAL, "client", 1, 1, "taken", PULSE)                                                 \
    X(ABORT, "receiver", 3, 1, "abort", PULSE)                                                     \
    X(ABORT_LOCAL, "client", 1, 1, "abort", PULSE)                                                 \
    X(RECEIVED, "receiver", 3, 2, "data", PULSE)                                                   \
    X(RECEIVED_EMPTY, "receiver", 3, 2, "empty", PULSE)                                            \
    X(RECEIVED_IDLE, "receiver", 3, 1, "idle", PULSE)                                              \
    X(RECEIVER_CUT, "receiver", 3, 2, "cut_through", PULSE)                                        \
    X(BAD_MARKER, "receiver", 3, 1, "bad_marker", PULSE)                                           \
    X(PARITY_ERROR, "receiver", 3, 1, "parity_error", PULSE)                                       \
    X(CRC_ERROR, "receiver", 3, 1, "crc_error", PULSE)                                             \
    X(UNEXPECTED, "receiver", 3, 1, "unexpected_header", PULSE)                                    \
    X(RECEIVER_SRAM, "receiver", 3, 1, "sram_corrected", PULSE)                                    \
    X(SENT, "sender", 3, 2, "packets", PULSE)                                                      \
    X(SENT_DATA, "sender", 3, 2, "data", PULSE)                                                    \
    X(SENT_IDLE, "sender", 3, 1, "idle", PULSE)                                                    \
    X(SENDER_CUT, "sender", 3, 2, "cut_through", PULSE)                                            \
    X(RESENDS, "sender", 3, 1, "resends", PULSE)                                                   \
    X(SENDER_SRAM, "sender", 3, 1, "sram_corrected", PULSE)                                        \
    X(INJECT_HEADERS, "inject", 1, 2, "headers", PULSE)                                            \
    X(INJECT_PAYLOAD, "inject", 1, 2, "payload", PULSE)                                            \
    X(INJECT_TAKEN, "inject", 1, 2, "taken", PULSE)                                                \
    X(INJECT_SRAM, "inject", 1, 1, "sram_corrected", PULSE)                                        \
    X(RECEPTION_PACKETS, "reception", 1, 2, "packets", PULSE)                                      \
    X(RECEPTION_HEADERS, "reception", 1, 2, "headers", PULSE)                                      \
    X(RECEPTION_PAYLOAD, "reception", 1, 2, "payload", PULSE)                                      \
    X(RECEPTION_DISCARDED, "reception", 1, 2, "discarded", PULSE)                                  \
    X(RECEPTION_SRAM, "reception", 1, 1, "sram_corrected", PULSE)

/* The event of unit u, virtual channel v of a family is COLLECTIVE_family + virtual channels x u +
 * v; COLLECTIVE_EVENTS is their number. */
enum net_collective_event {
#define NET_COLLECTIVE_ENUM(id, unit, units, vcs, what, kind)                                      \
    COLLECTIVE_##id, COLLECTIVE_##id##_END = COLLECTIVE_##id + (units) * (vcs)-1,
    NET_COLLECTIVE_EVENTS(NET_COLLECTIVE_ENUM)
#undef NET_COLLECTIVE_ENUM
        COLLECTIVE_EVENTS
};

enum { COLLECTIVE_LEVELS = COLLECTIVE_RESYNC_END + 1 }; /* levels are the first events */

/* The event of a signal of the catalogues, as "receiver2.vc1.data", or -1. */
int net_collective_event_find(const char *name);
/* The name of an event, in `text`. */
void net_collective_event_name(enum net_collective_event event, char text[32]);

/* What a node did in all cycles before now. */
struct net_count net_collective_count(const struct net_collective_part *part, uint32_t node,
                                      enum net_collective_event event);

/* Sums over nodes. Sums of parts add up, so that ranks can add theirs before the laws. */
struct net_collective_totals {
    struct net_count count[COLLECTIVE_EVENTS];
    uint64_t moved, merged; /* packets that moves took, and that combines took off the network */
    uint64_t copies;        /* that moves made: one for each target */
    uint64_t strays;        /* packets dropped where their class has no way */
    uint64_t places_out;    /* of senders and neighbours, that are taken */
    uint64_t unread_headers, unread_quads; /* in reception FIFOs */
    uint64_t links;                        /* directions: two for each pair of neighbours */
    uint64_t elapsed;
};

void net_collective_add_totals(const struct net_collective_part *part,
                               struct net_collective_totals *totals);
/* Packets, begun ones included, that are on their way: in injection FIFOs, waiting to be combined,
 * in receivers and senders. */
uint64_t net_collective_left(const struct net_collective_totals *totals);
/* A law of a quiet network, in words; NULL after the last. */
const char *net_collective_law(unsigned number);
/* The number of the first law that the totals break, or -1. */
int net_collective_broken_law(const struct net_collective_totals *totals);

size_t net_collective_memory(const struct net_collective_part *part); /* bytes of host memory */

#endif
