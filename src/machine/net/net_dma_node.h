/* The state of a node's DMA engine; inside the folder only. FIFOs and counters have numbers over
 * all groups: 32 x group + FIFO, 8 x group + FIFO, 64 x group + counter. */
#ifndef NET_NET_DMA_NODE_H
#define NET_NET_DMA_NODE_H

#include "machine/net/net_dma.h"
#include "machine/net/net_torus_router.h"

enum {
    INJECTION_FIFOS = DMA_GROUPS * DMA_INJECTION_FIFOS,
    RECEPTION_FIFOS = DMA_GROUPS * DMA_RECEPTION_FIFOS,
    COUNTERS = DMA_GROUPS * DMA_COUNTERS,
    LOCAL_SOURCE = TORUS_RECEPTION_FIFOS, /* behind the torus reception FIFOs */
    SOURCES_RECEIVED,
    QUAD = 16,
    LINE = 128,
};

enum { DMA_DCR_BASE_CONTROL = 0x01 };
enum { FLAG_REMOTE_GET = 1 };

enum dma_kind { DMA_INJECTION_END = NET_ACT, DMA_RECEPTION_END };
enum dma_state { DMA_IS_IDLE, DMA_IS_FETCHING, DMA_IS_READING, DMA_IS_BLOCKED };

struct dma_fifo {
    uint32_t word[4]; /* start, end, head, tail: in quads */
};

struct dma_counter {
    uint32_t value, base, maximum;
};

/* The message of the descriptor at a FIFO's head, once it was read. */
struct dma_message {
    bool active;
    struct net_dma_descriptor descriptor;
    uint32_t sent;
};

struct dma_packet {
    struct dma_packet *next;
    uint32_t words[4];
    uint8_t chunks;
    uint8_t payload[TORUS_PAYLOAD_MAX];
};

struct dma_node {
    uint32_t node;
    bool touched;
    struct dma_fifo injection[INJECTION_FIFOS], reception[RECEPTION_FIFOS];
    struct dma_counter injection_counter[COUNTERS], reception_counter[COUNTERS];
    uint32_t activated[DMA_GROUPS], got_crossed[DMA_GROUPS], reception_crossed;
    uint32_t injection_enabled[2 * DMA_GROUPS], reception_enabled[2 * DMA_GROUPS];
    uint32_t injection_zero[2 * DMA_GROUPS], reception_zero[2 * DMA_GROUPS];
    uint32_t dcr[DMA_DCRS];
    struct dma_message message[INJECTION_FIFOS];
    enum dma_state state;
    uint8_t fifo, next[2]; /* of the injection unit, now; that comes first, by priority */
    struct dma_packet blocked;
    bool receiving, get_waits;
    uint8_t source, next_source[2];
    struct dma_packet *local; /* last of a circular list */
    uint32_t local_quads;
    uint64_t writing_since, writing_rises, writing_cycles, writing_end;
    uint64_t pulses[DMA_EVENTS];
    struct net_dma_totals totals; /* but for the counts */
};

struct net_dma {
    struct net_dma_params params;
    struct dma_node **nodes; /* NULL: never used */
    size_t reserved;
};

struct net_dma_part {
    struct net_dma *dma;
    struct net_partition *partition;
    struct net_torus_part *torus;
    struct net_dma_owner owner;
    uint8_t unit;
    uint32_t *used;
    size_t used_count, used_capacity, locals;
};

/* net_dma.c */
struct dma_node *dma_node_get(struct net_dma_part *part, uint32_t node);
void dma_touch(struct net_dma_part *part, struct dma_node *node);
void dma_changed(struct net_dma_part *part, const struct dma_node *node);
void dma_interrupt(struct net_dma_part *part, const struct dma_node *node, unsigned number);
/* A program's fault: a line, and an interrupt. */
void dma_fault(struct net_dma_part *part, const struct dma_node *node, unsigned interrupt,
               const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The lines that an access touches, each to the owner; how many. */
unsigned dma_traffic(struct net_dma_part *part, const struct dma_node *node, uint64_t address,
                     uint32_t size, bool write);
/* Bytes between a FIFO in memory and a buffer, from a place of it on; false: no such memory. */
bool dma_fifo_copy(struct net_dma_part *part, const struct dma_node *node,
                   const struct dma_fifo *fifo, uint32_t at, uint8_t *bytes, uint32_t size,
                   bool write);

/* A FIFO that was set up has its head and tail in it. */
static inline bool dma_fifo_is_set_up(const struct dma_fifo *fifo)
{
    const uint32_t *w = fifo->word;
    return w[0] < w[1] && w[2] >= w[0] && w[2] < w[1] && w[3] >= w[0] && w[3] < w[1];
}

static inline uint32_t dma_fifo_used(const struct dma_fifo *fifo)
{
    const uint32_t *w = fifo->word;
    if (!dma_fifo_is_set_up(fifo)) return 0;
    return w[3] >= w[2] ? w[3] - w[2] : w[3] - w[2] + w[1] - w[0];
}

static inline uint32_t dma_fifo_free(const struct dma_fifo *fifo)
{
    return dma_fifo_is_set_up(fifo) ? fifo->word[1] - fifo->word[0] - dma_fifo_used(fifo) : 0;
}

static inline uint32_t dma_fifo_step(const struct dma_fifo *fifo, uint32_t at, uint32_t quads)
{
    at += quads;
    return at >= fifo->word[1] ? at - fifo->word[1] + fifo->word[0] : at;
}

static inline bool dma_bit(uint32_t mask, unsigned number)
{
    return mask << number >> 31;
}

/* The torus injection FIFOs of a FIFO's map; the highest of 8 bits for FIFO 0. */
static inline uint32_t dma_torus_map(const struct dma_node *node, unsigned fifo)
{
    return node->dcr[DMA_DCR_TORUS_MAP + fifo / 4] >> (24 - fifo % 4 * 8) & 0xFF;
}

/* A counter goes down; with the interrupt of its group when it comes to 0. */
void dma_count_down(struct net_dma_part *part, struct dma_node *node, unsigned counter,
                    uint32_t bytes, bool reception);

/* Step 3: starts what can start. Step 2: ends it. */
void dma_start_injection(struct net_dma_part *part, struct dma_node *node);
void dma_end_injection(struct net_dma_part *part, struct dma_node *node);
void dma_retry_injection(struct net_dma_part *part, struct dma_node *node);
void dma_start_reception(struct net_dma_part *part, struct dma_node *node);
void dma_end_reception(struct net_dma_part *part, struct dma_node *node);

#endif
