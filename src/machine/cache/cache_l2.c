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

INLINE void prefetch(struct cache *cache, const struct shape *shape, struct cache_core *of,
                     uint32_t line, uint64_t now)
{
    struct l3_answer answer = l3_read(cache, shape, of, line, true, now);
    of->counts.prefetch.count++;
    of->counts.prefetch.cycles += cover(&of->l2.prefetch_until, now, answer.ready);
    of->counts.l3_pending += cover(&of->l2.pending_until, now, answer.ready);
    uint32_t state = L2_PREFETCHED | L2_UNUSED | (answer.from_ddr ? L2_FROM_DDR : 0U);
    l2_keep(cache, shape, of, line, answer.ready, state);
}

void l2_prefetch(struct cache *cache, struct cache_core *of, uint32_t line, uint64_t now)
{
    prefetch(cache, &blue_gene, of, line, now);
}

INLINE void run_ahead(struct cache *cache, const struct shape *shape, struct cache_core *of,
                      uint32_t line, uint64_t now)
{
    uint32_t frame_lines = (uint32_t)(FRAME >> shape->l2_shift);
    for (uint32_t i = 1; i <= cache->config.l2_depth; i++) {
        uint32_t ahead = line + i;
        if (ahead / frame_lines != line / frame_lines) return;
        if (l2_has(&of->l2, &of->l2.known[ahead])) {
            of->counts.page_present++;
            continue;
        }
        prefetch(cache, shape, of, ahead, now);
    }
}

void l2_advance(struct cache *cache, struct cache_core *of, uint32_t line, uint32_t stream,
                uint64_t now)
{
    l2_reach(&of->l2, line, stream);
    if (cache->is_blue_gene)
        run_ahead(cache, &blue_gene, of, line, now);
    else
        run_ahead(cache, &cache->shape, of, line, now);
}

void l2_renumber(struct cache *cache, struct l2 *l2)
{
    uint64_t lines = (uint64_t)cache->frames.count << FRAME_BITS >> cache->shape.l2_shift;
    uint32_t put = (l2->oldest / L2_PUT - 1) / L2_PLACES * L2_PLACES *
                   L2_PUT; /* so that `ready` stays where it is */
    uint32_t expects = l2->expects - 1;
    for (uint64_t line = 0; line <= lines; line++) {
        struct l2_known *known = &l2->known[line];
        uint32_t next = known->next & L2_EXPECTED;
        if (known->put) known->put = l2_has(l2, known) ? known->put - put : 0;
        if (next) known->next -= next >= l2->expects ? expects : next;
    }
    l2->oldest -= put;
    l2->expects -= expects;
}
