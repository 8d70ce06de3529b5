/* L2: a core's prefetch buffer and its stream engine.
 *
 * Decisions: the buffer keeps whole L2 lines, replaced in the order they came; what was demanded and what was fetched
 * ahead share it. A read that misses and is the line after one that missed lately (the filter) begins a stream; a
 * stream that is followed keeps `depth` lines ahead, upwards only, never past a 4 KiB frame, whose neighbour may be
 * another's. A write to memory updates the own buffer and takes the line out of the others'.
 */
#include "cache/cache_impl.h"

INLINE int find(const struct cache *cache, const struct l2 *l2, uint32_t line)
{
    return tags_scan(l2->line, cache->l2_stride, line);
}

static void keep(struct cache *cache, unsigned core, uint32_t line, struct l3_answer answer, uint8_t state)
{
    struct l2 *l2 = &cache->core[core].l2;
    /* Stores that join an open one are not noticed; others' to this line are from now on. */
    l1_close_others(cache, core, line, cache->l2_shift - cache->core[core].data.shift);
    if (!cache->config.l2_entries) return;
    cache->l2_users |= 1U << core;
    l2->line[l2->next] = line;
    l2->ready[l2->next] = answer.ready;
    l2->way[l2->next] = answer.way;
    l2->state[l2->next] = state;
    l2->next = l2->next + 1 == cache->config.l2_entries ? 0 : l2->next + 1;
}

/* --- Streams -------------------------------------------------------------------------------------------------- */

static void run_ahead(struct cache *cache, unsigned core, uint32_t line, uint64_t now)
{
    struct cache_core *of = &cache->core[core];
    uint32_t frame_lines = (uint32_t)(FRAME >> cache->l2_shift);
    for (uint32_t i = 1; i <= cache->config.l2_depth; i++) {
        uint32_t ahead = line + i;
        if (ahead / frame_lines != line / frame_lines) return;
        if (find(cache, &of->l2, ahead) >= 0) {
            of->counts.page_present++;
            continue;
        }
        struct l3_answer answer = l3_read(cache, core, (uint64_t)ahead << cache->l2_shift, true, now);
        of->counts.prefetch.count++;
        of->counts.prefetch.cycles += cover(&of->l2.prefetch_until, now, answer.ready);
        of->counts.l3_pending += cover(&of->l2.pending_until, now, answer.ready);
        keep(cache, core, ahead, answer, (uint8_t)(L2_PREFETCHED | (answer.from_ddr ? L2_FROM_DDR : 0)));
    }
}

static void follow(struct cache *cache, unsigned core, uint32_t line, bool missed, uint64_t now)
{
    const struct cache_config *config = &cache->config;
    struct cache_core *of = &cache->core[core];
    struct l2 *l2 = &of->l2;
    if (!config->l2_streams || !config->l2_depth || !config->l2_entries) return;
    if (l2->stream[l2->last_stream] == line || tags_scan(l2->stream, cache->stream_stride, line) >= 0) return;
    int at = line ? tags_scan(l2->stream, cache->stream_stride, line - 1) : -1;
    if (at < 0) {
        if (!missed) return;
        int hit = tags_first(l2->expected, cache->filter_stride, line);
        if (hit < 0) {
            l2->expected[l2->next_expected] = line + 1;
            l2->next_expected = l2->next_expected + 1 == config->l2_filter ? 0 : l2->next_expected + 1;
            return;
        }
        of->counts.filter_hit++;
        l2->expected[hit] = NO_LINE;
        at = (int)l2->next_stream;
        l2->next_stream = l2->next_stream + 1 == config->l2_streams ? 0 : l2->next_stream + 1;
    }
    l2->stream[at] = line;
    l2->last_stream = (uint32_t)at;
    run_ahead(cache, core, line, now);
}

/* --- Reads and writes ----------------------------------------------------------------------------------------- */

uint64_t l2_read(struct cache *cache, unsigned core, uint64_t physical, bool data, uint64_t now)
{
    struct cache_core *of = &cache->core[core];
    struct core_counts *counts = &of->counts;
    uint32_t line = (uint32_t)(physical >> cache->l2_shift);
    int at = of->l2.line && of->l2.line[of->l2.last] == line ? (int)of->l2.last : find(cache, &of->l2, line);
    uint64_t end;
    counts->l2_read++;
    if (at >= 0) {
        uint8_t state = of->l2.state[at];
        of->l2.last = (uint32_t)at;
        counts->stream_hit += (state & L2_PREFETCHED) != 0;
        if (!(state & L2_USED)) {
            counts->self_hit++;
            bool from_ddr = l3_claim(cache, core, physical, of->l2.way[at], state & L2_FROM_DDR);
            counts->d2_miss += from_ddr && data;
            of->l2.state[at] |= L2_USED;
        }
        end = now + cache->l2_latency;
        if (of->l2.ready[at] > end) end = of->l2.ready[at];
    } else {
        struct l3_answer answer = l3_read(cache, core, physical, false, now);
        end = answer.ready;
        counts->l2_miss++;
        counts->d2_miss += answer.from_ddr && data;
        counts->l3_wait += end - now;
        counts->l3_pending += cover(&of->l2.pending_until, now, end);
        keep(cache, core, line, answer, L2_USED);
    }
    follow(cache, core, line, at < 0, now);
    return end;
}

void l2_write(struct cache *cache, unsigned core, uint64_t physical, uint64_t now)
{
    uint32_t line = (uint32_t)(physical >> cache->l2_shift);
    cache->core[core].counts.write++;
    l1_close_others(cache, core, (uint32_t)(physical >> cache->core[core].data.shift), 0);
    for (uint32_t users = cache->l2_users; users; users &= users - 1) {
        unsigned i = (unsigned)__builtin_ctz(users);
        struct cache_core *of = &cache->core[i];
        int at = find(cache, &of->l2, line);
        if (at < 0) continue;
        if (i == core)
            of->counts.snoop_hit_same++;
        else {
            of->counts.snoop_hit_other++;
            of->l2.line[at] = NO_LINE;
        }
    }
    l3_write(cache, core, physical, now);
}
