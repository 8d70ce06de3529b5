/* The DMA engine of Blue Gene/P: between a node's memory and its torus router.
 *
 * A core writes a descriptor of 32 bytes into an injection FIFO in memory and moves the FIFO's
 * tail. The engine reads the descriptor, cuts the message into packets, and puts them into the
 * torus. At the other node the engine puts each packet into a reception FIFO in memory (memory FIFO
 * packet), at its place (direct put), or takes it as descriptors to execute (remote get). Counters
 * count bytes. docs/model-network.md has the model with all decisions; the literal model in
 * tests/unit/net_literal_dma.c is written from the same text. In short:
 *
 * - 4 groups, each with 32 injection FIFOs, 8 reception FIFOs, 64 injection and 64 reception
 *   counters. Addresses in registers are 36-bit physical addresses >> 4.
 * - The injection unit does one thing at a time: it reads a descriptor (descriptor_cycles +
 *   read_cycles), or reads a packet's payload (read_cycles + quad_cycles for each 16 bytes) and
 *   injects it. FIFOs of high priority first, else in turn, one packet each.
 * - The reception unit does one packet at a time: quad_cycles for each 16 bytes that it writes +
 *   write_cycles. FIFOs of high priority first, else in turn.
 * - Memory is read and written, and counters change, at the end of these times.
 *
 * The engine has a part on each node; it comes into being when a register of it is stored or a
 * packet arrives. Use: make the part, make the torus part with the owner that net_dma_torus_owner
 * gives, attach it. Then load and store registers, at any time between two net_partition_advance.
 *
 * Interrupts: `interrupt` of the owner is called with 32 x group + line of the interrupt controller
 * when a status bit rises. Which core takes it, and whether, is the owner's business.
 */
#ifndef NET_NET_DMA_H
#define NET_NET_DMA_H

#include "machine/net/net_torus.h"

enum {
    DMA_GROUPS = 4,
    DMA_INJECTION_FIFOS = 32, /* of a group */
    DMA_RECEPTION_FIFOS = 8,
    DMA_COUNTERS = 64,
    DMA_DESCRIPTOR = 32,     /* bytes */
    DMA_DESCRIPTORS_MAX = 7, /* of a remote get */
    DMA_AVAILABLE = 32,      /* quads that must be free in a FIFO that takes a packet */
    DMA_LOCAL_QUADS = 128,   /* of the FIFO between the units, for local copies */
    DMA_SIZE = 0x4000,       /* of the register window */
    DMA_DCRS = 0x100,
};

/* Offsets in a group's 4 KB, physical 6:00000000 + 0x1000 x group. FIFOs and counters are 16 bytes
 * apart, words of a mask 4 bytes; bit 0 of a mask is the most significant. */
enum net_dma_register {
    DMA_INJECTION = 0x000, /* + 0x10 x FIFO: start, end, head, tail */
    DMA_INJECTION_NOT_EMPTY = 0x200,
    DMA_INJECTION_AVAILABLE = 0x208,
    DMA_INJECTION_THRESHOLD = 0x210, /* crossed: by remote gets */
    DMA_INJECTION_CLEAR_THRESHOLD = 0x218,
    DMA_ACTIVATED = 0x220,
    DMA_ACTIVATE = 0x224,
    DMA_DEACTIVATE = 0x228,
    DMA_INJECTION_ENABLED = 0x300,   /* counters; two words */
    DMA_INJECTION_COUNTERS = 0x400,  /* + 0x10 x counter: value, increment, base */
    DMA_RECEPTION = 0x800,           /* + 0x10 x FIFO: start, end, head, tail */
    DMA_RECEPTION_NOT_EMPTY = 0xA00, /* the 32 FIFOs of all groups */
    DMA_RECEPTION_AVAILABLE = 0xA08,
    DMA_RECEPTION_THRESHOLD = 0xA10,
    DMA_RECEPTION_CLEAR_THRESHOLD = 0xA18,
    DMA_RECEPTION_ENABLED = 0xB00,
    DMA_RECEPTION_COUNTERS = 0xC00, /* + 0x10 x counter: value, increment, base, maximum */
    /* From DMA_INJECTION_ENABLED and DMA_RECEPTION_ENABLED on, two words each but the last. */
    DMA_ENABLE = 0x08,
    DMA_DISABLE = 0x10,
    DMA_HIT_ZERO = 0x20,
    DMA_CLEAR_HIT_ZERO = 0x28,
    DMA_COUNTER_STATUS = 0x30, /* a bit for each 8 counters of all groups: one of them hit zero */
};

/* Words of a FIFO's and of a counter's registers. */
enum { DMA_START = 0x0, DMA_END = 0x4, DMA_HEAD = 0x8, DMA_TAIL = 0xC };
enum { DMA_VALUE = 0x0, DMA_INCREMENT = 0x4, DMA_BASE = 0x8, DMA_MAXIMUM = 0xC };

/* Device control registers with an effect, from 0xD00; the others keep what is written. At the
 * start everything is enabled, of normal priority, all normal torus FIFOs are used, and packets of
 * pid p from receiver r (6: high, 7: local) go to reception FIFO r of group p. */
enum net_dma_dcr {
    DMA_DCR_INJECTION_ENABLE = 0x2C, /* + group: a bit for each FIFO */
    DMA_DCR_RECEPTION_ENABLE = 0x30, /* a bit for each of the 32 FIFOs */
    DMA_DCR_PRIORITY = 0x32,         /* + group */
    DMA_DCR_GET_THRESHOLD = 0x36,    /* quads */
    DMA_DCR_TYPE = 0x38,             /* a bit for each of the 32 FIFOs: which threshold it has */
    DMA_DCR_THRESHOLDS = 0x3A,       /* + type: quads */
    DMA_DCR_TORUS_MAP = 0x3C,        /* + 8 x group + FIFO / 4: 8 bits each, bits 0-3 group 0 */
    DMA_DCR_LOCAL = 0x5C,            /* + group */
    DMA_DCR_RECEPTION_MAP = 0x60,    /* + 2 x pid: x+ x- y+ y-; then z+ z- high local */
};

/* Interrupts, 32 x group + line of the interrupt controller. */
enum net_dma_interrupt {
    DMA_IRQ_INVALID_READ = 86,
    DMA_IRQ_INJECTION_THRESHOLD = 88, /* + group */
    DMA_IRQ_RECEPTION_THRESHOLD = 92, /* + type */
    DMA_IRQ_INJECTION_ZERO = 96,      /* + group */
    DMA_IRQ_RECEPTION_ZERO = 100,     /* + group */
    DMA_IRQ_COUNTER_ERROR = 104,
    DMA_IRQ_WRITE_ERROR = 111,
    DMA_IRQ_GET_FULL = 120, /* a remote get waits for room in its injection FIFO */
};

/* A descriptor, as a core writes it: 8 big-endian words. */
struct net_dma_descriptor {
    bool prefetch_only, local;
    uint8_t counter; /* injection counter, of all groups: 64 x group + number */
    uint32_t offset; /* of the message from the counter's base, bytes */
    uint32_t length;
    uint32_t header[4]; /* of its packets; the chunks are the largest packet's */
};

void net_dma_descriptor_encode(const struct net_dma_descriptor *descriptor,
                               uint8_t bytes[DMA_DESCRIPTOR]);
void net_dma_descriptor_decode(const uint8_t bytes[DMA_DESCRIPTOR],
                               struct net_dma_descriptor *descriptor);

/* Times in core cycles. */
struct net_dma_params {
    uint32_t descriptor_cycles;
    uint32_t read_cycles;  /* of L3, until the first data are there */
    uint32_t quad_cycles;  /* for 16 bytes */
    uint32_t write_cycles; /* until L3 has accepted the last data */
};

extern const struct net_dma_params net_dma_bgp;

/* What the engine asks of a node, in steps 2 and 3 of a cycle, by the partition's thread. */
#define NET_DMA_SERIAL (UINT64_C(1) << 63) /* serial of a packet that an engine injected */

struct net_dma_owner {
    void *self;
    /* Copy bytes from and to physical memory; false if there is no such memory. */
    bool (*read)(void *self, uint32_t node, uint64_t address, void *bytes, uint32_t size);
    bool (*write)(void *self, uint32_t node, uint64_t address, const void *bytes, uint32_t size);
    /* The engine accessed `size` bytes of one line of L3 (128 bytes) at `time`. May be NULL. */
    void (*traffic)(void *self, uint32_t node, uint64_t time, uint64_t address, uint32_t size,
                    bool write);
    void (*interrupt)(void *self, uint32_t node, enum net_dma_interrupt number); /* may be NULL */
    /* What the program can see has changed: a register or memory. May be NULL. */
    void (*changed)(void *self, uint32_t node);
    /* A program's fault: a line that says what and where. The FIFO is deactivated, or the packet
     * dropped. May be NULL. */
    void (*fault)(void *self, uint32_t node, const struct chil_error *error);
};

struct net_dma;      /* of all nodes of a process */
struct net_dma_part; /* a partition's part of it */

struct net_dma *net_dma_new(uint32_t nodes, const struct net_dma_params *params);
void net_dma_free(struct net_dma *dma);

/* Adds the engines to a partition as a unit. Free parts before the torus part. */
struct net_dma_part *net_dma_part_new(struct net_dma *dma, struct net_partition *partition,
                                      const struct net_dma_owner *owner);
void net_dma_part_free(struct net_dma_part *part);
/* The owner to make the torus part with; another owner may call its functions, too. */
struct net_torus_owner net_dma_torus_owner(struct net_dma_part *part);
void net_dma_attach(struct net_dma_part *part, struct net_torus_part *torus);

/* A register word; `offset` is a multiple of 4 below DMA_SIZE, 0x1000 x group + register. Holes and
 * registers that cannot be read are 0; stores to them are ignored. */
uint32_t net_dma_load(const struct net_dma_part *part, uint32_t node, uint32_t offset);
void net_dma_store(struct net_dma_part *part, uint32_t node, uint32_t offset, uint32_t value);
uint32_t net_dma_dcr_load(const struct net_dma_part *part, uint32_t node, unsigned dcr);
void net_dma_dcr_store(struct net_dma_part *part, uint32_t node, unsigned dcr, uint32_t value);
/* The torus injection FIFOs that the engine may fill before the next store to one of its registers:
 * a bit for each, the lowest for FIFO 0. */
unsigned net_dma_torus_fifos(const struct net_dma_part *part, uint32_t node);

/* ---- events and laws ---- */

/* family, name of the signal in data/events without "dma.", Blue Gene/P id, kind. A pulse is high
 * for 2 core cycles. Ids of 0 are in no catalogue. */
#define NET_DMA_EVENTS(X)                                                                          \
    X(INJECTED, "inject.packets", 206, PULSE)                                                      \
    X(DESCRIPTORS, "inject.descriptors", 207, PULSE)                                               \
    X(FIFO_PACKETS, "receive.fifo_packets", 208, PULSE)                                            \
    X(PUT_PACKETS, "receive.put_packets", 209, PULSE)                                              \
    X(GET_PACKETS, "receive.get_packets", 210, PULSE)                                              \
    X(READS, "l3.reads", 211, PULSE)                                                               \
    X(BEATS, "read.returned", 212, PULSE)                                                          \
    X(ACKED, "read.acked", 213, PULSE)                                                             \
    X(WRITING, "receive.writing", 214, LEVEL)                                                      \
    X(WRITES, "l3.writes", 215, PULSE)                                                             \
    X(LOCAL_PACKETS, "inject.local", 0, PULSE)

enum net_dma_event {
#define NET_DMA_ENUM(id, name, bgp, kind) DMA_##id,
    NET_DMA_EVENTS(NET_DMA_ENUM)
#undef NET_DMA_ENUM
        DMA_EVENTS
};

struct net_dma_event_row {
    const char *name;
    uint16_t bgp;
    bool level;
};

extern const struct net_dma_event_row net_dma_event_rows[DMA_EVENTS];

/* What a node's engine did in all cycles before now. */
struct net_count net_dma_count(const struct net_dma_part *part, uint32_t node,
                               enum net_dma_event event);

/* Sums over nodes. Sums of parts add up. */
struct net_dma_totals {
    struct net_count count[DMA_EVENTS];
    uint64_t read_bytes, written_bytes;        /* payload read; all that was written */
    uint64_t injection_bytes, reception_bytes; /* that counters went down by */
    uint64_t put_bytes;                        /* payload of direct puts */
    uint64_t got_descriptors;                  /* that came by remote get */
    uint64_t dropped;                          /* packets that were faults */
    uint64_t copies;                           /* that deposit adds, expected */
    uint64_t foreign;                          /* packets taken that a core had injected */
    uint64_t write_cycles;                     /* parameters */
    uint64_t quad_cycles;
    uint64_t left; /* packets and messages that are under way in the engines */
};

void net_dma_add_totals(const struct net_dma_part *part, struct net_dma_totals *totals);
/* A law of a quiet machine, in words; NULL after the last. */
const char *net_dma_law(unsigned number);
/* The number of the first law that the totals break, or -1. */
int net_dma_broken_law(const struct net_dma_totals *totals);

size_t net_dma_memory(const struct net_dma_part *part); /* bytes of host memory */

#endif
