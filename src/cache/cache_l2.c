/* L2: a core's prefetch buffer and its stream engine.
 *
 * Decisions: the buffer keeps whole L2 lines, replaced in the order they came; what was demanded and what was fetched
 * ahead share it. A read that misses and is the line after one that missed lately (the filter) begins a stream; a
 * stream that is followed keeps `depth` lines ahead, upwards only, never past a 4 KiB frame, whose neighbour may be
 * another's. A write to memory updates the own buffer and takes the line out of the others'.
 */
#include "cache/cache_l2.h"

INLINE void run_ahead(struct cache *cache, const struct shape *shape, struct cache_core *of, uint32_t line,
                      uint64_t now)
{
    uint32_t frame_lines = (uint32_t)(FRAME >> shape->l2_shift);
    for (uint32_t i = 1; i <= cache->config.l2_depth; i++) {
        uint32_t ahead = line + i;
        if (ahead / frame_lines != line / frame_lines) return;
        if (l2_find(shape, &of->l2, ahead) >= 0) {
            of->counts.page_present++;
            continue;
        }
        struct l3_answer answer = l3_read(cache, shape, of, ahead, true, now);
        of->counts.prefetch.count++;
        of->counts.prefetch.cycles += cover(&of->l2.prefetch_until, now, answer.ready);
        of->counts.l3_pending += cover(&of->l2.pending_until, now, answer.ready);
        l2_keep(cache, shape, of, ahead, answer, (uint8_t)(L2_PREFETCHED | (answer.from_ddr ? L2_FROM_DDR : 0)));
    }
}

/* A stream comes or goes next to a line: reading it may be news again. */
INLINE void unfollow(const struct shape *shape, struct l2 *l2, uint32_t line)
{
    int at = l2_find(shape, l2, line);
    if (at >= 0) l2->entry[at].state &= (uint8_t)~L2_FOLLOWED;
}

INLINE void advance(struct cache *cache, const struct shape *shape, struct cache_core *of, uint32_t line, bool missed,
                    uint64_t now)
{
    struct l2 *l2 = &of->l2;
    if (tags_scan(l2->stream, shape->stream_stride, line) >= 0) return;
    int at = line ? tags_scan(l2->stream, shape->stream_stride, line - 1) : -1;
    if (at < 0) {
        if (!missed) return;
        int hit = tags_scan(l2->expected, shape->filter_stride, line);
        if (hit < 0) {
            l2_expect(cache, l2, line);
            return;
        }
        of->counts.filter_hit++;
        l2->expected[hit] = NO_LINE;
        at = (int)l2->next_stream;
        l2->next_stream = l2->next_stream + 1 == cache->config.l2_streams ? 0 : l2->next_stream + 1;
    }
    unfollow(shape, l2, l2->stream[at]);
    unfollow(shape, l2, line + 1);
    l2->stream[at] = line;
    l2->last_stream = (uint32_t)at;
    run_ahead(cache, shape, of, line, now);
}

void l2_advance(struct cache *cache, struct cache_core *of, uint32_t line, bool missed, uint64_t now)
{
    if (cache->is_blue_gene)
        advance(cache, &blue_gene, of, line, missed, now);
    else
        advance(cache, &cache->shape, of, line, missed, now);
}
