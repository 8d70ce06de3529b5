/* Fills when several are in flight. Rare: loads wait for theirs. */
#include "machine/cache/cache_fill.h"

uint64_t fill_end_some(struct cache_core *core, uint64_t now)
{
    uint32_t left = 0;
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < core->fills; i++) {
        uint64_t end = core->fill_end[i];
        if (end <= now) continue;
        if (end < first) first = end;
        core->fill_end[left++] = end;
    }
    core->fills = left;
    return first;
}

void fill_raise_levels(struct cache_core *core, uint64_t start, uint64_t end)
{
    struct core_counts *counts = &core->counts;
    uint64_t at = start;
    uint32_t level = core->fills;
    uint64_t ends[CACHE_FILLS];
    for (uint32_t i = 0; i < core->fills; i++) { /* sorted; a handful */
        uint32_t k = i;
        for (; k && ends[k - 1] > core->fill_end[i]; k--)
            ends[k] = ends[k - 1];
        ends[k] = core->fill_end[i];
    }
    for (uint32_t i = 0; i <= core->fills && at < end; i++, level--) {
        uint64_t until = i < core->fills && ends[i] < end ? ends[i] : end;
        if (level) counts->l2_level[level] -= until - at;
        counts->l2_level[level + 1] += until - at;
        at = until;
    }
}
