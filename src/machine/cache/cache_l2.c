/* L2: a core's prefetch buffer and its stream engine.
 *
 * Decisions: the buffer keeps whole L2 lines, replaced in the order they came; what was demanded
 * and what was fetched ahead share it. A read that misses and is the line after one that missed
 * lately (the filter) begins a stream; a stream that is followed keeps `depth` lines ahead, upwards
 * only, never past a 4 KiB frame, whose neighbour may be another's. A write to memory updates the
 * own buffer and takes the line out of the others'.
 */
#include "machine/cache/cache_no_vectors.h"

#include "machine/cache/cache_l2_access.h"

INLINE void prefetch(struct cache *cache, const struct shape *shape, struct cache_core *core,
                     uint32_t line, uint64_t now)
{
    struct l3_answer answer = l3_read(cache, shape, core, line, true, now);
    core->counts.prefetch.count++;
    core->counts.prefetch.cycles += count_high(&core->l2.prefetch_until, now, answer.ready);
    core->counts.l3_pending += count_high(&core->l2.pending_until, now, answer.ready);
    uint32_t state = L2_PREFETCHED | L2_UNUSED | (answer.from_ddr ? L2_FROM_DDR : 0U);
    l2_keep(cache, shape, core, line, answer.ready, state);
}

void l2_prefetch(struct cache *cache, struct cache_core *core, uint32_t line, uint64_t now)
{
    prefetch(cache, &blue_gene, core, line, now);
}

INLINE void run_ahead(struct cache *cache, const struct shape *shape, struct cache_core *core,
                      uint32_t line, uint64_t now)
{
    uint32_t frame_lines = (uint32_t)(FRAME >> shape->l2_shift);
    for (uint32_t i = 1; i <= cache->config.l2_depth; i++) {
        uint32_t ahead = line + i;
        if (ahead / frame_lines != line / frame_lines) return;
        if (l2_has(&core->l2, &core->l2.entry[ahead])) {
            core->counts.page_present++;
            continue;
        }
        prefetch(cache, shape, core, ahead, now);
    }
}

void l2_advance(struct cache *cache, struct cache_core *core, uint32_t line, uint32_t stream,
                uint64_t now)
{
    l2_reach(&core->l2, line, stream);
    if (cache->is_blue_gene)
        run_ahead(cache, &blue_gene, core, line, now);
    else
        run_ahead(cache, &cache->shape, core, line, now);
}

void l2_renumber(struct cache *cache, struct l2 *l2)
{
    uint64_t lines = (uint64_t)cache->frames.count << FRAME_BITS >> cache->shape.l2_shift;
    uint32_t number = (l2->oldest / L2_STEP - 1) / L2_PLACES * L2_PLACES *
                      L2_STEP; /* so that `ready` stays where it is */
    uint32_t filter_oldest = l2->filter_oldest - 1;
    for (uint64_t line = 0; line <= lines; line++) {
        struct l2_entry *entry = &l2->entry[line];
        uint32_t next = entry->next & L2_FILTER_MASK;
        if (entry->fifo_number)
            entry->fifo_number = l2_has(l2, entry) ? entry->fifo_number - number : 0;
        if (next) entry->next -= next >= l2->filter_oldest ? filter_oldest : next;
    }
    l2->oldest -= number;
    l2->filter_oldest -= filter_oldest;
}
