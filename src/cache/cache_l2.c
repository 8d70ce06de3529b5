/* L2: a core's prefetch buffer and its stream engine.
 *
 * Decisions: the buffer keeps whole L2 lines, replaced in the order they came; what was demanded and what was fetched
 * ahead share it. A read that misses and is the line after one that missed lately (the filter) begins a stream; a
 * stream that is followed keeps `depth` lines ahead, upwards only, never past a 4 KiB frame, whose neighbour may be
 * another's. A write to memory updates the own buffer and takes the line out of the others'.
 */
#include "cache/cache_keep.h"

#include "cache/cache_l2.h"

INLINE void prefetch(struct cache *cache, const struct shape *shape, struct cache_core *of, uint32_t line, uint64_t now)
{
    struct l3_answer answer = l3_read(cache, shape, of, line, true, now);
    of->counts.prefetch.count++;
    of->counts.prefetch.cycles += cover(&of->l2.prefetch_until, now, answer.ready);
    of->counts.l3_pending += cover(&of->l2.pending_until, now, answer.ready);
    l2_keep(cache, shape, of, line, answer.ready, (uint8_t)(L2_PREFETCHED | (answer.from_ddr ? L2_FROM_DDR : 0)));
}

void l2_prefetch(struct cache *cache, struct cache_core *of, uint32_t line, uint64_t now)
{
    prefetch(cache, &blue_gene, of, line, now);
}

INLINE void run_ahead(struct cache *cache, const struct shape *shape, struct cache_core *of, uint32_t line,
                      uint64_t now)
{
    uint32_t frame_lines = (uint32_t)(FRAME >> shape->l2_shift);
    for (uint32_t i = 1; i <= cache->config.l2_depth; i++) {
        uint32_t ahead = line + i;
        if (ahead / frame_lines != line / frame_lines) return;
        if (of->l2.known[ahead].state) {
            of->counts.page_present++;
            continue;
        }
        prefetch(cache, shape, of, ahead, now);
    }
}

void l2_advance(struct cache *cache, struct cache_core *of, uint32_t line, uint32_t stream, uint64_t now)
{
    l2_reach(&of->l2, line, stream);
    if (cache->is_blue_gene)
        run_ahead(cache, &blue_gene, of, line, now);
    else
        run_ahead(cache, &cache->shape, of, line, now);
}

/* The filter no longer expects a line, in the first place that has it; `known` is to the newest of the others. */
static void expect_once_less(const struct cache *cache, struct l2 *l2, uint32_t line)
{
    uint32_t count = cache->config.l2_filter, first = 1, at = l2->next_expected;
    while (l2->expected[first] != line)
        first++;
    l2->expected[first] = NO_LINE;
    if (l2->known[line].expected != first) return;
    for (uint32_t i = 0; i < count; i++) {
        at = at == 1 ? count : at - 1;
        if (l2->expected[at] != line) continue;
        l2->known[line].expected = (uint8_t)at;
        return;
    }
}

void l2_begin(struct cache *cache, struct cache_core *of, uint32_t line, uint64_t now)
{
    struct l2 *l2 = &of->l2;
    uint32_t stream = l2->next_stream;
    of->counts.filter_hit++;
    expect_once_less(cache, l2, line);
    l2->next_stream = stream == cache->config.l2_streams ? 1 : stream + 1;
    l2_advance(cache, of, line, stream, now);
}
