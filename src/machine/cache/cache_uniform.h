/* Misses counted for notify_uniform, by kind, level and stall. Longer stalls are notified one by
 * one. */
#ifndef CACHE_UNIFORM_H
#define CACHE_UNIFORM_H

#include "machine/cache/cache.h"
#include "machine/cache/cache_host.h"

enum {
    UNIFORM_STALLS = 256,
    UNIFORM_LEVELS = CACHE_IN_DDR + 1,
    UNIFORM_COUNTS = CACHE_INVALIDATION * UNIFORM_LEVELS * UNIFORM_STALLS
};
struct uniform {
    uint64_t count[UNIFORM_COUNTS];
    uint16_t index[UNIFORM_COUNTS]; /* of the counts that are not 0 */
    uint32_t used;
    uint64_t l2_hit, l3_hit; /* of the core's counts, those already notified */
};

INLINE void uniform_add(struct uniform *uniform, enum cache_transaction_kind kind, unsigned level,
                        uint64_t stall)
{
    uint64_t index = ((uint64_t)kind * UNIFORM_LEVELS + level) * UNIFORM_STALLS + stall;
    if (UNLIKELY(!uniform->count[index])) uniform->index[uniform->used++] = (uint16_t)index;
    uniform->count[index]++;
}

#endif
