/* Which process this is, on which node, and what the machine looks like: read from a page that
 * every program has.
 *
 * Nodes are numbered from 0, through x first, then y, then z. Processes of a node are numbered by
 * t, from 0; `chiliad --mode` says how many there are, `--mapping` which rank each one has.
 */
#ifndef CHILIAD_PERSONALITY_H
#define CHILIAD_PERSONALITY_H

#include <stdint.h>

#define CHILIAD_PERSONALITY_PAGE UINT32_C(0xFFFF8000)

struct chiliad_personality {
    uint32_t version; /* 1 */
    uint32_t node, nodes;
    uint32_t at[3];   /* x, y, z of this node */
    uint32_t size[3]; /* nodes in x, y, z */
    uint32_t closed;  /* rings that are closed: 4 x, 2 y, 1 z */
    uint32_t cores;   /* of a node */
    uint32_t mhz;     /* core clock */
};

/* Words of the page. Of TORUS, REGISTERS, COLLECTIVE and DMA, addresses of devices, 0: there is no such device. */
enum {
    CHILIAD_PERSONALITY_TORUS = 12,
    CHILIAD_PERSONALITY_REGISTERS = 13,
    CHILIAD_PERSONALITY_COLLECTIVE = 14, /* + channel */
    CHILIAD_PERSONALITY_PROCESSES = 16, /* of a node: 1, 2 or 4 */
    CHILIAD_PERSONALITY_PROCESS = 17,   /* t of this process */
    CHILIAD_PERSONALITY_RANK = 18,      /* of this process */
    CHILIAD_PERSONALITY_RANKS = 19,     /* how many there are */
    CHILIAD_PERSONALITY_PROCESS_CORES =
        20,                             /* cores of this process, the first is t times as many */
    CHILIAD_PERSONALITY_MEGABYTES = 21, /* of memory of this process */
    CHILIAD_PERSONALITY_PLACES = 22, /* address of a word for each rank: node << 2 | t */
    CHILIAD_PERSONALITY_DMA = 23
};

static inline uint32_t chiliad_personality_word(unsigned number)
{
    return ((const volatile uint32_t *)CHILIAD_PERSONALITY_PAGE)[number];
}

static inline uint32_t chiliad_rank(void)
{
    return chiliad_personality_word(CHILIAD_PERSONALITY_RANK);
}

static inline uint32_t chiliad_ranks(void)
{
    return chiliad_personality_word(CHILIAD_PERSONALITY_RANKS);
}

/* Where a rank is: its node, and which of the node's processes it is. */
static inline void chiliad_rank_place(uint32_t rank, uint32_t *node, uint32_t *process)
{
    uint32_t table = chiliad_personality_word(CHILIAD_PERSONALITY_PLACES);
    uint32_t place = ((const volatile uint32_t *)(uintptr_t)table)[rank];
    *node = place >> 2;
    *process = place & 3;
}

static inline struct chiliad_personality chiliad_personality(void)
{
    const volatile uint32_t *page = (const volatile uint32_t *)CHILIAD_PERSONALITY_PAGE;
    struct chiliad_personality p;
    p.version = page[0];
    p.node = page[1];
    p.nodes = page[2];
    for (unsigned i = 0; i < 3; i++) {
        p.at[i] = page[3 + i];
        p.size[i] = page[6 + i];
    }
    p.closed = page[9];
    p.cores = page[10];
    p.mhz = page[11];
    return p;
}

#endif
