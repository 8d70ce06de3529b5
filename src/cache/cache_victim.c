/* Which way of a set is replaced. */
#include "cache/cache_keep.h"

#include <assert.h>

#include "cache/cache_impl.h"

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

int tags_victim_any(struct tags *tags, uint32_t set)
{
    const struct ways *ways = &tags->ways;
    uint32_t first = set * ways->stride, oldest = first;
    bool lru = ways->policy == CACHE_LRU;
    assert(ways->count && ways->policy != CACHE_ROUND_ROBIN);
    for (uint32_t i = first; i < first + ways->count; i++) {
        if (tags->line[i] == NO_LINE) return (int)i;
        if (lru && tags->used[i] < tags->used[oldest]) oldest = i;
    }
    return (int)(lru ? oldest : first + splitmix64(&tags->random) % ways->count);
}
