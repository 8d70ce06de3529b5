/* Sizes that lengths of loops and vectors depend on. Code on the path of a miss takes them as a
 * parameter: `blue_gene`, so that they are constants, or those of the node. */
#ifndef CACHE_GEOMETRY_H
#define CACHE_GEOMETRY_H

#include "machine/cache/cache.h"
#include "machine/cache/cache_host.h"
#include "machine/mem/mem_frames.h"

enum { FRAME_BITS = MEM_PAGE_BITS, FRAME = MEM_PAGE };
/* Lines of L1D and of L2 in a frame, with Blue Gene's sizes. */
enum { FRAME_LINES = FRAME / 32, FRAME_L2_LINES = FRAME / 128 };

/* The ways of a set. `stride`: padded with NO_LINE to whole vectors. */
struct ways {
    uint32_t count, stride;
    enum cache_policy policy;
};

struct shape {
    struct ways l1i, l1d, l3;
    unsigned l1i_shift, l1d_shift, l2_shift, l3_shift, page_shift;
    uint32_t snoop_cache_stride, register_stride; /* entries of each, padded */
    uint32_t kinds;                               /* misses are classified */
};

static const struct shape blue_gene = {
    .l1i = {64, 64, CACHE_ROUND_ROBIN},
    .l1d = {64, 64, CACHE_ROUND_ROBIN},
    .l3 = {8, 8, CACHE_LRU},
    .l1i_shift = 5,
    .l1d_shift = 5,
    .l2_shift = 7,
    .l3_shift = 7,
    .page_shift = 12,
    .snoop_cache_stride = 8,
    .register_stride = 8,
};

/* Whether the order in which the ways of a set of L3 were used is kept as a matrix of bits, a byte
 * for each way, in which there is a bit for each way that was used before it. */
enum { LRU_WAYS = 8 };
INLINE bool has_lru_matrix(const struct ways *ways)
{
    return ways->policy == CACHE_LRU && ways->count == LRU_WAYS && ways->stride == LRU_WAYS;
}

#endif
