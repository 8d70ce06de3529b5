/* Fills of a core that are under way, code and data together, at most `fills` at a time: when the
 * next may begin, and how long how many are outstanding. */
#ifndef CACHE_FILL_H
#define CACHE_FILL_H

#include "machine/cache/cache_node.h"

/* A calm load's fill is a fill like others from now on. */
INLINE void list_calm(struct cache_core *of)
{
    if (of->fills_until == of->listed_until) return;
    of->fill_end[0] = of->data_fill_until = of->listed_until = of->fills_until;
    of->fills = 1;
}

/* Forgets the fills that have ended; returns when the first of the others will. */
uint64_t fill_end_some(struct cache_core *of, uint64_t now);
INLINE uint64_t end_fills(struct cache_core *of, uint64_t now)
{
    list_calm(of);
    if (of->fills_until > now) return fill_end_some(of, now);
    of->fills = 0;
    return UINT64_MAX;
}

/* When a fill that is wanted `now` can begin: at most `fills` at a time. */
INLINE uint64_t fill_start(struct cache *cache, struct cache_core *of, uint64_t now)
{
    uint64_t first = end_fills(of, now);
    if (of->fills < cache->config.fills) return now;
    (void)end_fills(of, first);
    return first;
}

/* What was counted with k others outstanding is now with k + 1, in [start, end). */
void fill_raise_levels(struct cache_core *of, uint64_t start, uint64_t end);
/* One more read is outstanding in [start, end). */
INLINE void count_levels(struct cache_core *of, uint64_t start, uint64_t end)
{
    of->counts.l2_rise[of->fills + 1]++;
    if (of->fills)
        fill_raise_levels(of, start, end);
    else
        of->counts.l2_level[1] += end - start;
    of->fill_end[of->fills++] = end;
    if (end > of->fills_until) of->listed_until = of->fills_until = end;
}

#endif
