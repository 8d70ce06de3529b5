/* Misses that are still to be told, by their kind, level and stall; those with a longer one are
 * told at once. */
#ifndef CACHE_UNIFORM_H
#define CACHE_UNIFORM_H

#include "machine/cache/cache.h"
#include "machine/cache/cache_host.h"

enum {
    ALIKE_STALLS = 256,
    ALIKE_LEVELS = CACHE_IN_DDR + 1,
    ALIKES = CACHE_INVALIDATION * ALIKE_LEVELS * ALIKE_STALLS
};
struct alike {
    uint64_t count[ALIKES];
    uint16_t index[ALIKES]; /* those that are not 0 */
    uint32_t used;
    uint64_t near,
        far; /* of the core's counts, those that have been told: they have all that is to be told */
};

INLINE void alike_add(struct alike *alike, enum cache_transaction_kind kind, unsigned level,
                      uint64_t stall)
{
    uint64_t index = ((uint64_t)kind * ALIKE_LEVELS + level) * ALIKE_STALLS + stall;
    if (SELDOM(!alike->count[index])) alike->index[alike->used++] = (uint16_t)index;
    alike->count[index]++;
}

#endif
