/* L2: a core's prefetch buffer and its stream engine.
 *
 * Decisions: the buffer keeps whole L2 lines, replaced in the order they came; what was demanded and what was fetched
 * ahead share it. A read that misses and is the line after one that missed lately (the filter) begins a stream; a
 * stream that is followed keeps `depth` lines ahead, upwards only, never past a 4 KiB frame, whose neighbour may be
 * another's. A write to memory updates the own buffer and takes the line out of the others'.
 */
#include "cache/cache_impl.h"

static int find(const struct cache *cache, const struct l2 *l2, uint32_t line)
{
    return tags_scan(l2->line, cache->l2_stride, line);
}

/* Stores of other cores that have been joining an open store to these bytes would not be noticed: that ends. */
static void close_stores(struct cache *cache, unsigned core, uint64_t physical, unsigned shift)
{
    for (unsigned other = 0; other < cache->config.cores; other++) {
        const struct cache_core *of = &cache->core[other];
        if (other == core || of->open == NO_LINE) continue;
        if (((uint64_t)of->open << of->data.shift) >> shift == physical >> shift) l1_close(cache, other);
    }
}

static void keep(struct cache *cache, unsigned core, uint32_t line, uint64_t ready, uint8_t state)
{
    struct l2 *l2 = &cache->core[core].l2;
    close_stores(cache, core, (uint64_t)line << cache->l2_shift, cache->l2_shift);
    if (!cache->config.l2_entries) return;
    l2->line[l2->next] = line;
    l2->ready[l2->next] = ready;
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
        bool from_ddr;
        uint64_t ready = l3_read(cache, core, (uint64_t)ahead << cache->l2_shift, true, now, &from_ddr);
        of->counts.prefetch.count++;
        of->counts.prefetch.cycles += cover(&of->l2.prefetch_until, now, ready);
        of->counts.l3_pending += cover(&of->l2.pending_until, now, ready);
        keep(cache, core, ahead, ready, (uint8_t)(L2_PREFETCHED | (from_ddr ? L2_FROM_DDR : 0)));
    }
}

static void follow(struct cache *cache, unsigned core, uint32_t line, bool missed, uint64_t now)
{
    const struct cache_config *config = &cache->config;
    struct cache_core *of = &cache->core[core];
    struct l2 *l2 = &of->l2;
    if (!config->l2_streams || !config->l2_depth || !config->l2_entries) return;
    if (tags_scan(l2->stream, cache->stream_stride, line) >= 0) return;
    int at = line ? tags_scan(l2->stream, cache->stream_stride, line - 1) : -1;
    if (at < 0) {
        if (!missed) return;
        int hit = tags_scan(l2->expected, cache->filter_stride, line);
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
    run_ahead(cache, core, line, now);
}

/* --- Reads and writes ----------------------------------------------------------------------------------------- */

uint64_t l2_read(struct cache *cache, unsigned core, uint64_t physical, bool data, uint64_t now)
{
    struct cache_core *of = &cache->core[core];
    struct core_counts *counts = &of->counts;
    uint32_t line = (uint32_t)(physical >> cache->l2_shift);
    int at = find(cache, &of->l2, line);
    uint64_t end;
    counts->l2_read++;
    if (at >= 0) {
        uint8_t state = of->l2.state[at];
        counts->stream_hit += (state & L2_PREFETCHED) != 0;
        if (!(state & L2_USED)) {
            counts->self_hit++;
            bool from_ddr = l3_claim(cache, core, physical, state & L2_FROM_DDR);
            counts->d2_miss += from_ddr && data;
            of->l2.state[at] |= L2_USED;
        }
        end = now + cache->l2_latency;
        if (of->l2.ready[at] > end) end = of->l2.ready[at];
    } else {
        bool from_ddr;
        counts->l2_miss++;
        end = l3_read(cache, core, physical, false, now, &from_ddr);
        counts->d2_miss += from_ddr && data;
        counts->l3_wait += end - now;
        counts->l3_pending += cover(&of->l2.pending_until, now, end);
        keep(cache, core, line, end, L2_USED);
    }
    follow(cache, core, line, at < 0, now);
    return end;
}

void l2_write(struct cache *cache, unsigned core, uint64_t physical, uint64_t now)
{
    uint32_t line = (uint32_t)(physical >> cache->l2_shift);
    cache->core[core].counts.write++;
    close_stores(cache, core, physical, cache->core[core].data.shift);
    for (unsigned i = 0; i < cache->config.cores; i++) {
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
