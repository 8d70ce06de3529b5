/* L1 of a core, instructions or data, and the core's store queue. cache_l1.c has the accesses,
 * cache_l1_access.h what they share with the fast path. */
#ifndef CACHE_L1_H
#define CACHE_L1_H

#include "machine/cache/cache_tags.h"

struct cache;
struct cache_core;

struct l1 {
    struct tags tags;
    uint8_t *dirty; /* by index of the way; L1D only */
    uint8_t **at; /* by index of the way: the only line bytes that map the line; NULL: there may be
                     others */
    unsigned shift;    /* of a line */
    uint32_t granules; /* bytes of a line in cache_lines */
    uint8_t bits;      /* line bits that a line in here allows, 0 when a hit changes state */
};

/* An entry of the store queue. */
struct queued {
    uint64_t end;
    struct queued *next; /* of the ring */
};

/* cache_l1.c: the next store to an open line, or to any, is a new one. */
void l1_close_line(struct cache *cache, struct cache_core *core, struct open_line *open);
void l1_close(struct cache *cache, struct cache_core *core);
void l1_drop(struct cache *cache, struct cache_core *core, int way, bool write,
             uint64_t now); /* of L1D */

#endif
