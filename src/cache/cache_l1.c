/* L1 and the accesses themselves.
 *
 * Decisions (docs/model-memory.md has their sources): physical index and tag; a load or fetch that misses waits for its
 * line; a store never waits for data, only for a free fill or store-queue entry; a store to the line that the core's
 * last store to memory went to joins it, however long ago that was, unless another core used the line since;
 * round-robin replaces the next way whether or not another is empty; cache management counts as no access.
 */
#include "cache/cache_impl.h"

#include <assert.h>

INLINE bool is_in(const struct l1 *l1, uint32_t line, int *way)
{
    uint32_t set = line & l1->tags.set_mask;
    *way = tags_may_have(&l1->tags, set, line) ? tags_find(&l1->tags, set, line) : -1;
    return *way >= 0;
}

/* The line bytes of the L1 line at `address`. */
INLINE uint8_t *bytes_of(const struct l1 *l1, uint8_t *lines, uint32_t address)
{
    return lines + ((address >> l1->shift) << (l1->shift - CACHE_GRANULE_BITS));
}

INLINE void allow(const struct l1 *l1, uint8_t *at, uint8_t bits)
{
    for (uint32_t i = 0; i < l1->granules; i++)
        at[i] |= bits & l1->bits;
}

/* A line, known by the bytes at `at`, takes a way. */
INLINE void put(struct l1 *l1, int way, uint32_t line, uint8_t *at)
{
    l1->tags.line[way] = line;
    l1->tags.part[way] = (uint16_t)(line >> l1->tags.set_bits);
    l1->at[way] = at;
    tags_use(&l1->tags, line & l1->tags.set_mask, way);
}

/* The line in a way is known by these bytes too. */
INLINE void known_at(struct l1 *l1, int way, const uint8_t *at)
{
    if (l1->at[way] != at) l1->at[way] = NULL;
}

/* Bytes that know of a line lose bits: those at `at`, or all that map it. */
INLINE void forbid(struct cache *cache, unsigned core, const struct l1 *l1, uint8_t *at, uint32_t line, uint8_t bits)
{
    if (!at)
        space_clear(cache, core, (uint64_t)line << l1->shift, 1U << l1->shift, bits);
    else
        for (uint32_t i = 0; i < l1->granules; i++)
            at[i] &= (uint8_t)~bits;
}

void l1_close(struct cache *cache, unsigned core)
{
    struct cache_core *of = &cache->core[core];
    if (cache->open[core] == NO_LINE) return;
    forbid(cache, core, &of->data, of->open_at, cache->open[core], CACHE_STORE);
    cache->open[core] = NO_LINE;
    cache->joining &= ~(1U << core);
}

/* --- Lines leave ---------------------------------------------------------------------------------------------- */

static void cast_out(struct cache *cache, unsigned core, int way, uint64_t now)
{
    struct cache_core *of = &cache->core[core];
    uint32_t line = of->data.tags.line[way];
    of->data.dirty[way] = 0;
    of->counts.castout++;
    forbid(cache, core, &of->data, of->data.at[way], line, CACHE_STORE);
    l2_write(cache, core, (uint64_t)line << of->data.shift, now);
}

INLINE void clean(struct cache *cache, unsigned core, int way, uint64_t now)
{
    if (cache->core[core].data.dirty[way]) cast_out(cache, core, way, now);
}

void l1_drop(struct cache *cache, unsigned core, int way, bool write, uint64_t now)
{
    struct cache_core *of = &cache->core[core];
    uint32_t line = of->data.tags.line[way];
    /* Through: a store bit belongs to the open line, in L1 or not. */
    uint8_t bits = cache->config.write_through ? CACHE_LOAD : CACHE_LOAD | CACHE_STORE;
    forbid(cache, core, &of->data, of->data.at[way], line, bits);
    if (write) clean(cache, core, way, now);
    of->data.dirty[way] = 0;
    of->data.tags.line[way] = NO_LINE;
}

static void drop_code(struct cache *cache, unsigned core, int way)
{
    struct l1 *l1 = &cache->core[core].code;
    forbid(cache, core, l1, l1->at[way], l1->tags.line[way], CACHE_FETCH);
    l1->tags.line[way] = NO_LINE;
}

/* --- Lines come ----------------------------------------------------------------------------------------------- */

/* A line, known by the bytes at `at`, takes a way of L1D; the one that was there goes. */
INLINE int install(struct cache *cache, unsigned core, uint32_t line, uint8_t *at, uint64_t now)
{
    struct cache_core *of = &cache->core[core];
    struct tags *tags = &of->data.tags;
    int way = tags_victim(tags, line & tags->set_mask);
    if (tags->line[way] != NO_LINE) l1_drop(cache, core, way, true, now);
    put(&of->data, way, line, at);
    if (cache->config.snoop_filter) snoop_filled(cache, core, line);
    if (!cache->config.write_through && cache->open[core] == line)
        l1_close(cache, core); /* from now on stores stay in L1 */
    return way;
}

/* Forgets the fills that have ended; returns when the first of the others will. */
INLINE uint64_t end_fills(struct cache_core *of, uint64_t now)
{
    uint32_t left = 0;
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < of->fills; i++) {
        uint64_t end = of->fill_end[i];
        if (end <= now) continue;
        if (end < first) first = end;
        of->fill_end[left++] = end;
    }
    of->fills = left;
    return first;
}

/* When a fill that is wanted `now` can begin: at most `fills` at a time. */
INLINE uint64_t fill_start(struct cache *cache, struct cache_core *of, uint64_t now)
{
    uint64_t first = end_fills(of, now);
    if (of->fills < cache->config.fills) return now;
    (void)end_fills(of, first);
    return first;
}

/* One more read is outstanding in [start, end): what was counted with k others is now with k + 1. */
static void count_levels(struct cache_core *of, uint64_t start, uint64_t end)
{
    struct core_counts *counts = &of->counts;
    counts->l2_rise[of->fills + 1]++;
    if (!of->fills) {
        counts->l2_level[1] += end - start;
        of->fill_end[of->fills++] = end;
        return;
    }
    uint64_t at = start;
    uint32_t level = of->fills;
    uint64_t ends[CACHE_FILLS];
    for (uint32_t i = 0; i < of->fills; i++) { /* sorted; a handful */
        uint32_t k = i;
        for (; k && ends[k - 1] > of->fill_end[i]; k--)
            ends[k] = ends[k - 1];
        ends[k] = of->fill_end[i];
    }
    for (uint32_t i = 0; i <= of->fills && at < end; i++, level--) {
        uint64_t until = i < of->fills && ends[i] < end ? ends[i] : end;
        if (level) counts->l2_level[level] -= until - at;
        counts->l2_level[level + 1] += until - at;
        at = until;
    }
    of->fill_end[of->fills++] = end;
}

struct fill {
    uint64_t start, end;
};

INLINE struct fill fetch_line(struct cache *cache, unsigned core, uint64_t physical, bool data, uint64_t now)
{
    struct cache_core *of = &cache->core[core];
    struct fill fill;
    fill.start = fill_start(cache, of, now);
    fill.end = l2_read(cache, core, physical, data, fill.start);
    count_levels(of, fill.start, fill.end);
    return fill;
}

/* Others' dirty copies reach memory before it is read (write-back with coherence only). */
static void clean_others(struct cache *cache, unsigned core, uint32_t line, uint64_t now)
{
    for (unsigned other = 0; other < cache->config.cores; other++) {
        int way;
        if (other != core && is_in(&cache->core[other].data, line, &way)) clean(cache, other, way, now);
    }
}

INLINE struct fill fill_data(struct cache *cache, unsigned core, uint32_t line, uint8_t *at, uint64_t now, int *way)
{
    struct cache_core *of = &cache->core[core];
    if (!cache->config.write_through && cache->config.coherent) clean_others(cache, core, line, now);
    struct fill fill = fetch_line(cache, core, (uint64_t)line << of->data.shift, true, now);
    of->counts.data_fill.count++;
    of->counts.data_fill.cycles += cover(&of->data_fill_until, fill.start, fill.end);
    *way = install(cache, core, line, at, fill.start);
    return fill;
}

/* --- Stores --------------------------------------------------------------------------------------------------- */

/* A store goes on to memory; returns when it has found a place in the queue. Starts never go back, so the queue is a
 * ring. */
INLINE uint64_t send(struct cache *cache, unsigned core, uint32_t line, uint8_t *at, uint64_t now)
{
    struct cache_core *of = &cache->core[core];
    if (cache->open[core] == line) {
        if (of->open_at != at) of->open_at = NULL;
        return now;
    }
    uint64_t *slot = &of->store_end[of->next_store];
    uint64_t start = *slot > now ? *slot : now;
    *slot = start + cache->config.store_time;
    of->next_store = of->next_store + 1 == cache->config.stores ? 0 : of->next_store + 1;
    l1_close(cache, core);
    if (cache->config.coherent) snoop_store(cache, core, line, start);
    l2_write(cache, core, (uint64_t)line << of->data.shift, start);
    cache->open[core] = line;
    cache->joining |= 1U << core;
    of->open_at = at;
    return start;
}

static void make_dirty(struct cache *cache, unsigned core, int way, uint64_t now)
{
    struct cache_core *of = &cache->core[core];
    if (of->data.dirty[way]) return;
    if (cache->config.coherent) snoop_store(cache, core, of->data.tags.line[way], now);
    of->data.dirty[way] = 1;
}

/* --- One line ------------------------------------------------------------------------------------------------- */

INLINE uint64_t translate(struct cache *cache, unsigned core, unsigned space, uint32_t address, uint8_t *lines,
                          uint64_t *misses, uint64_t *now)
{
    if (!(*space_page(cache, lines, address) & CACHE_PAGE)) {
        space_tlb_fill(cache, core, space, address);
        *misses += 1;
        *now += cache->config.tlb_miss;
    }
    return space_translate(cache, space, address);
}

INLINE uint64_t load_line(struct cache *cache, unsigned core, unsigned space, uint32_t address, uint64_t now)
{
    struct cache_core *of = &cache->core[core];
    struct l1 *l1 = &of->data;
    uint8_t *lines = space_lines(cache, core, space), *at = bytes_of(l1, lines, address);
    uint32_t line = (uint32_t)(translate(cache, core, space, address, lines, &of->counts.dtlb_miss, &now) >> l1->shift);
    int way;
    if (is_in(l1, line, &way)) {
        tags_use(&l1->tags, line & l1->tags.set_mask, way);
        known_at(l1, way, at);
    } else {
        of->counts.load_miss++;
        uint64_t end = fill_data(cache, core, line, at, now, &way).end;
        of->counts.stall_load.count++;
        of->counts.stall_load.cycles += end - now;
        now = end;
    }
    allow(l1, at, CACHE_LOAD);
    return now;
}

/* Where a store finds its line; -1 where it stays out of L1. A store that joins the one before is no miss. dcbz needs
 * nothing of the line's old contents. */
static int store_way(struct cache *cache, unsigned core, uint32_t line, uint8_t *at, bool zero, uint64_t *now)
{
    const struct cache_config *config = &cache->config;
    struct cache_core *of = &cache->core[core];
    struct l1 *l1 = &of->data;
    int way;
    if (is_in(l1, line, &way)) {
        tags_use(&l1->tags, line & l1->tags.set_mask, way);
        known_at(l1, way, at);
    } else if (zero) {
        if (!config->write_through) way = install(cache, core, line, at, *now);
    } else if (cache->open[core] != line) {
        of->counts.store_miss++;
        if (config->store_allocate) *now = fill_data(cache, core, line, at, *now, &way).start;
    }
    return way;
}

static uint64_t store_line(struct cache *cache, unsigned core, unsigned space, uint32_t address, bool zero,
                           uint64_t now)
{
    struct cache_core *of = &cache->core[core];
    struct l1 *l1 = &of->data;
    uint8_t *lines = space_lines(cache, core, space), *at = bytes_of(l1, lines, address);
    uint32_t line = (uint32_t)(translate(cache, core, space, address, lines, &of->counts.dtlb_miss, &now) >> l1->shift);
    uint64_t start = now;
    uint8_t bits = CACHE_STORE;
    if (cache->config.write_through && *at & CACHE_LOAD) /* the line is there; which way does not matter */
        start = send(cache, core, line, at, start);
    else {
        int way = store_way(cache, core, line, at, zero, &start);
        if (way >= 0) bits |= CACHE_LOAD;
        if (way >= 0 && !cache->config.write_through)
            make_dirty(cache, core, way, start);
        else
            start = send(cache, core, line, at, start);
    }
    if (start > now) {
        of->counts.stall_store.count++;
        of->counts.stall_store.cycles += start - now;
    }
    allow(l1, at, bits);
    return start;
}

static uint64_t fetch_code(struct cache *cache, unsigned core, unsigned space, uint32_t address, uint64_t now)
{
    struct cache_core *of = &cache->core[core];
    struct l1 *l1 = &of->code;
    struct tags *tags = &l1->tags;
    uint8_t *lines = space_lines(cache, core, space), *at = bytes_of(l1, lines, address);
    uint64_t physical = translate(cache, core, space, address, lines, &of->counts.itlb_miss, &now);
    uint32_t line = (uint32_t)(physical >> l1->shift), set = line & tags->set_mask;
    int way;
    if (is_in(l1, line, &way)) {
        tags_use(tags, set, way);
        known_at(l1, way, at);
    } else {
        struct fill fill = fetch_line(cache, core, (uint64_t)line << l1->shift, false, now);
        of->counts.code_fill.count++;
        of->counts.code_fill.cycles += cover(&of->code_fill_until, fill.start, fill.end);
        of->counts.stall_fetch.count++;
        of->counts.stall_fetch.cycles += fill.end - now;
        way = tags_victim(tags, set);
        if (tags->line[way] != NO_LINE) drop_code(cache, core, way);
        put(l1, way, line, at);
        now = fill.end;
    }
    allow(l1, at, CACHE_FETCH);
    return now;
}

/* --- Calls ---------------------------------------------------------------------------------------------------- */

uint32_t cache_load(struct cache *cache, unsigned core, unsigned space, uint32_t address, uint32_t size, uint64_t now)
{
    unsigned shift = cache->core[core].data.shift;
    uint32_t last = address + size - 1;
    uint64_t end = load_line(cache, core, space, address, now);
    if (last >> shift != address >> shift) end = load_line(cache, core, space, last, end);
    return (uint32_t)(end - now);
}

uint32_t cache_store(struct cache *cache, unsigned core, unsigned space, uint32_t address, uint32_t size, uint64_t now)
{
    unsigned shift = cache->core[core].data.shift;
    uint32_t last = address + size - 1;
    uint64_t end = store_line(cache, core, space, address, false, now);
    if (last >> shift != address >> shift) end = store_line(cache, core, space, last, false, end);
    return (uint32_t)(end - now);
}

uint32_t cache_fetch(struct cache *cache, unsigned core, unsigned space, uint32_t address, uint64_t now)
{
    return (uint32_t)(fetch_code(cache, core, space, address, now) - now);
}

static void touch(struct cache *cache, unsigned core, unsigned space, uint32_t address, uint64_t now)
{
    struct cache_core *of = &cache->core[core];
    struct l1 *l1 = &of->data;
    uint8_t *lines = space_lines(cache, core, space), *at = bytes_of(l1, lines, address);
    if (!(*space_page(cache, lines, address) & CACHE_PAGE)) return;
    uint32_t line = (uint32_t)(space_translate(cache, space, address) >> l1->shift);
    int way;
    if (is_in(l1, line, &way))
        tags_use(&l1->tags, line & l1->tags.set_mask, way);
    else {
        (void)end_fills(of, now);
        if (of->fills == cache->config.fills) return;
        of->counts.touch_fill++;
        (void)fill_data(cache, core, line, at, now, &way);
    }
}

/* Other cores too, where L1D are coherent. */
static void manage_data(struct cache *cache, enum cache_op op, unsigned core, uint32_t line, uint64_t now)
{
    if (cache->open[core] == line) l1_close(cache, core);
    for (unsigned i = 0; i < cache->config.cores; i++) {
        int way;
        if ((i != core && !cache->config.coherent) || !is_in(&cache->core[i].data, line, &way)) continue;
        if (op == CACHE_CLEAN)
            clean(cache, i, way, now);
        else
            l1_drop(cache, i, way, op == CACHE_FLUSH, now);
    }
}

uint32_t cache_manage(struct cache *cache, enum cache_op op, unsigned core, unsigned space, uint32_t address,
                      uint64_t now)
{
    uint64_t end = now;
    if (op == CACHE_ZERO) return (uint32_t)(store_line(cache, core, space, address, true, now) - now);
    if (op == CACHE_TOUCH) {
        touch(cache, core, space, address, now);
        return 0;
    }
    uint64_t physical = translate(cache, core, space, address, space_lines(cache, core, space),
                                  &cache->core[core].counts.dtlb_miss, &end);
    if (op != CACHE_INVALIDATE_CODE)
        manage_data(cache, op, core, (uint32_t)(physical >> cache->core[core].data.shift), end);
    else
        for (unsigned i = 0; i < cache->config.cores; i++) {
            struct l1 *l1 = &cache->core[i].code;
            int way;
            if (i != core && !cache->config.coherent) continue;
            if (is_in(l1, (uint32_t)(physical >> l1->shift), &way)) drop_code(cache, i, way);
        }
    return (uint32_t)(end - now);
}

uint32_t cache_sync(struct cache *cache, unsigned core, uint64_t now)
{
    struct cache_core *of = &cache->core[core];
    uint64_t end = now;
    for (uint32_t i = 0; i < cache->config.stores; i++)
        if (of->store_end[i] > end) end = of->store_end[i];
    l1_close(cache, core);
    if (end > now) {
        of->counts.stall_store.count++;
        of->counts.stall_store.cycles += end - now;
    }
    return (uint32_t)(end - now);
}

uint32_t cache_device(struct cache *cache, unsigned core, bool store, uint64_t now)
{
    struct core_counts *counts = &cache->core[core].counts;
    (void)now;
    *(store ? &counts->device_write : &counts->device_read) += 1;
    return store ? 0 : cache->config.device_latency - cache->config.l1_latency;
}
