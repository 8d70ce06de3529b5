/* Which node this is, and what the machine looks like: read from a page that every program has.
 *
 * Nodes are numbered from 0, through x first, then y, then z.
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

/* Addresses of devices, as words of the page; 0: there is no such device. */
enum { CHILIAD_PERSONALITY_TORUS = 12, CHILIAD_PERSONALITY_REGISTERS = 13 };

static inline uint32_t chiliad_personality_word(unsigned number)
{
    return ((const volatile uint32_t *)CHILIAD_PERSONALITY_PAGE)[number];
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
