/* Which way of a set is replaced. */
#include "machine/cache/cache_no_vectors.h"

#include <assert.h>

#include "machine/cache/cache_tags.h"

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* Empty ways were never used. Branch-free: the host could not predict it. */
INLINE uint32_t oldest(const uint64_t *used, uint32_t count)
{
    uint32_t oldest = 0;
    uint64_t when = used[0];
    for (uint32_t i = 1; i < count; i++) {
        bool older = used[i] < when;
        when = older ? used[i] : when;
        oldest = older ? i : oldest;
    }
    return oldest;
}

int tags_victim_any(struct tags *tags, uint32_t set)
{
    const struct ways *ways = &tags->ways;
    uint32_t first = set * ways->stride;
    assert(ways->count && ways->policy != CACHE_ROUND_ROBIN);
    if (ways->policy == CACHE_LRU) return (int)(first + oldest(tags->used + first, ways->count));
    for (uint32_t i = first; i < first + ways->count; i++)
        if (tags->line[i] == NO_LINE) return (int)i;
    return (int)(first + splitmix64(&tags->random) % ways->count);
}
