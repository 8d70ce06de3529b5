/* Fills of a core that are under way, code and data together, at most `fills` at a time: when the
 * next may begin, and how long how many are outstanding. */
#ifndef CACHE_FILL_H
#define CACHE_FILL_H

#include "machine/cache/cache_node.h"

/* Lists the fill of an uncontended load like other fills. */
INLINE void list_uncontended(struct cache_core *core)
{
    if (core->fills_until == core->listed_until) return;
    core->fill_end[0] = core->data_fill_until = core->listed_until = core->fills_until;
    core->fills = 1;
}

/* Forgets the fills that have ended; returns when the first of the others will. */
uint64_t fill_end_some(struct cache_core *core, uint64_t now);
INLINE uint64_t end_fills(struct cache_core *core, uint64_t now)
{
    list_uncontended(core);
    if (core->fills_until > now) return fill_end_some(core, now);
    core->fills = 0;
    return UINT64_MAX;
}

/* When a fill that is wanted `now` can begin: at most `fills` at a time. */
INLINE uint64_t fill_start(struct cache *cache, struct cache_core *core, uint64_t now)
{
    uint64_t first = end_fills(core, now);
    if (core->fills < cache->config.fills) return now;
    (void)end_fills(core, first);
    return first;
}

/* In [start, end): moves what was counted with k outstanding to k + 1. */
void fill_raise_levels(struct cache_core *core, uint64_t start, uint64_t end);
/* One more read is outstanding in [start, end). */
INLINE void count_levels(struct cache_core *core, uint64_t start, uint64_t end)
{
    core->counts.l2_rise[core->fills + 1]++;
    if (core->fills)
        fill_raise_levels(core, start, end);
    else
        core->counts.l2_level[1] += end - start;
    core->fill_end[core->fills++] = end;
    if (end > core->fills_until) core->listed_until = core->fills_until = end;
}

#endif
