/* L1 and the accesses themselves.
 *
 * Decisions (docs/model-memory.md has their sources): physical index and tag; a load or fetch that
 * misses waits for its line; a store never waits for data, only for a free fill or store-queue
 * entry; a store to a line that one of the core's last few stores to memory went to joins it,
 * however long ago that was, unless another core used the line since; round-robin replaces the next
 * way whether or not another is empty; cache management counts as no access.
 */
#include "machine/cache/cache_fill.h"
#include "machine/cache/cache_l2_access.h"
#include "machine/cache/cache_snoop_access.h"
#include "machine/cache/cache_space_access.h"

INLINE bool l1_has(const struct l1 *l1, const struct ways *ways, uint32_t line, int *way)
{
    uint32_t set = line & l1->tags.set_mask;
    *way = tags_find(&l1->tags, ways, set, line);
    return *way >= 0;
}

/* Whether a line is in L1D, and where; `at` are its bytes, `own` says that no others map it. */
INLINE bool l1d_has(const struct l1 *l1, const struct ways *ways, uint32_t line, bool own,
                    const uint8_t *at, int *way)
{
    *way = -1;
    return !(own && !(*at & CACHE_IN_L1D)) && l1_has(l1, ways, line, way);
}

INLINE void set_bits(const struct l1 *l1, unsigned shift, uint8_t *at, uint8_t bits)
{
    for (uint32_t i = 0; i < granules(shift); i++)
        at[i] |= bits & l1->bits;
}

/* A hit of a contended line is a call, as it may have to wait (cache_order.c). */
INLINE void set_data_bits(struct cache *cache, const struct l1 *l1, unsigned shift, uint8_t *at,
                          uint32_t line, uint8_t bits, uint64_t now)
{
    if (UNLIKELY(cache->any_contended)) {
        if (order_is_contended(cache, line, now)) return;
        *at &= (uint8_t)~CACHE_CONTENDED; /* no longer */
    }
    set_bits(l1, shift, at, bits);
}

/* A line, mapped by the bytes at `at`, is placed in a way. */
INLINE void l1_insert(struct l1 *l1, const struct ways *ways, int way, uint32_t line, uint8_t *at)
{
    l1->tags.line[way] = line;
    l1->at[way] = at;
    tags_use(&l1->tags, ways, way);
}

/* These bytes map the line, too. */
INLINE void l1_add_alias(struct l1 *l1, int way, const uint8_t *at)
{
    if (l1->at[way] != at) l1->at[way] = NULL;
}

/* Clears bits of the line bytes that map a line: those at `at`, or all. */
INLINE void clear_bits(struct cache *cache, unsigned shift, struct cache_core *core, uint8_t *at,
                       uint32_t line, uint8_t bits)
{
    if (!at)
        space_clear(cache, core->number, (uint64_t)line << shift, 1U << shift, bits);
    else
        for (uint32_t i = 0; i < granules(shift); i++)
            at[i] &= (uint8_t)~bits;
}

void l1_close_line(struct cache *cache, struct cache_core *core, struct open_line *open)
{
    if (open->line == NO_LINE) return;
    clear_bits(cache, cache->shape.l1d_shift, core, open->at, open->line, CACHE_STORE | CACHE_OPEN);
    open->line = NO_LINE;
    open->at = NULL;
}

void l1_close(struct cache *cache, struct cache_core *core)
{
    for (uint32_t i = 0; i < cache->config.store_lines; i++)
        l1_close_line(cache, core, &core->open[i]);
    if (!(cache->has_open & core->bit)) return;
    cache->has_open &= ~core->bit;
    fast_update(cache);
}

/* Where a line is open; NULL: it is not. */
INLINE struct open_line *find_open(const struct cache *cache, struct cache_core *core,
                                   uint32_t line)
{
    for (uint32_t i = 0; i < cache->config.store_lines; i++)
        if (core->open[i].line == line) return &core->open[i];
    return NULL;
}

/* No store joins the line any more. */
INLINE void close_one(struct cache *cache, struct cache_core *core, uint32_t line)
{
    struct open_line *open = find_open(cache, core, line);
    if (open) l1_close_line(cache, core, open);
}

/* Notifies the listener of a miss that has ended. */
NOINLINE static void notify_miss(const struct cache *cache, const struct cache_core *core,
                                 enum cache_transaction_kind kind, uint32_t address, uint64_t start,
                                 uint64_t end)
{
    bool filled = kind != CACHE_STORE_MISS || cache->config.store_allocate;
    if (core->uniform && end - start < UNIFORM_STALLS) {
        uniform_add(core->uniform, kind, filled ? core->miss_level : CACHE_NOWHERE, end - start);
        return;
    }
    const struct cache_transaction transaction = {.core = (uint8_t)core->number,
                                                  .sender = (uint8_t)core->number,
                                                  .kind = (uint8_t)kind,
                                                  .level =
                                                      filled ? core->miss_level : CACHE_NOWHERE,
                                                  .address = address};
    cache->listener->notify(cache->listener->context, transaction, start, end);
}

void cache_notify_load(struct cache_view *view, uint32_t address, uint64_t start, uint32_t stall)
{
    if (view->cache->has_listener)
        notify_miss(view->cache, view->core, CACHE_LOAD_MISS, address, start, start + stall);
    cache_notify_used(view, stall);
}

static void used(struct cache *cache, const struct cache_core *core, uint32_t stall)
{
    if (UNLIKELY(!core->accesses_left)) (void)cache->used(cache->used_context, core->number, stall);
}

void cache_notify_used(struct cache_view *view, uint32_t stall)
{
    used(view->cache, view->core, stall);
}

/* The same for an access on the slow path. Returns its stall. */
INLINE uint32_t made(struct cache *cache, struct cache_core *core, unsigned lines, uint64_t stall)
{
    if (UNLIKELY(count_access_unlisted(core, lines))) used(cache, core, (uint32_t)stall);
    return (uint32_t)stall;
}

void cache_notify_accesses(struct cache *cache,
                           bool (*callback)(void *context, unsigned core, uint32_t stall),
                           void *context)
{
    cache->used = callback;
    cache->used_context = context;
}

void cache_count_accesses(struct cache *cache, unsigned core, uint64_t accesses)
{
    if (cache) cache->core[core]->accesses_left = accesses ? accesses : 1;
}

/* --- Castouts and drops ------------------------------------------------------------------------
 */

NOINLINE static void cast_out(struct cache *cache, struct cache_core *core, int way, uint64_t now)
{
    const struct shape *shape = &cache->shape;
    uint32_t line = core->data.tags.line[way];
    core->data.dirty[way] = 0;
    core->counts.castout++;
    clear_bits(cache, shape->l1d_shift, core, core->data.at[way], line, CACHE_STORE);
    l2_write(cache, shape, core, line, now);
}

INLINE void clean(struct cache *cache, struct cache_core *core, int way, uint64_t now)
{
    if (core->data.dirty[way]) cast_out(cache, core, way, now);
}

void l1_drop(struct cache *cache, struct cache_core *core, int way, bool write, uint64_t now)
{
    struct l1 *l1 = &core->data;
    clear_bits(cache, l1->shift, core, l1->at[way], l1->tags.line[way], cache->line_bits);
    if (cache->shape.kinds) kinds_take(core->kinds, l1->tags.line[way]);
    if (write) clean(cache, core, way, now);
    l1->dirty[way] = 0;
    l1->at[way] = NULL;
    tags_drop(&l1->tags, way);
}

static void drop_code(struct cache *cache, struct cache_core *core, int way)
{
    struct l1 *l1 = &core->code;
    clear_bits(cache, l1->shift, core, l1->at[way], l1->tags.line[way], CACHE_FETCH);
    tags_drop(&l1->tags, way);
}

/* --- Fills ----------------------------------------------------------------------------------- */

/* Fills a line, mapped by the bytes at `at`, into L1D and replaces the victim. */
INLINE int install(struct cache *cache, const struct shape *shape, struct cache_core *core,
                   uint32_t line, uint8_t *at, uint64_t now)
{
    struct tags *tags = &core->data.tags;
    int way = tags_victim(tags, &shape->l1d, line & tags->set_mask);
    uint32_t old = tags->line[way];
    uint8_t *old_at = core->data.at[way];
    clean(cache, core, way, now);
    l1_insert(&core->data, &shape->l1d, way, line, at);
    for (uint32_t i = 0; i < granules(shape->l1d_shift); i++)
        at[i] |= CACHE_IN_L1D;
    if (cache->config.snoop_filter)
        snoop_filled(cache, shape, core, line);
    else
        core->snoop.active.log_end =
            core->snoop.active.log; /* without filters the log is not read */
    if (old != NO_LINE) clear_bits(cache, shape->l1d_shift, core, old_at, old, cache->line_bits);
    if (!cache->config.write_through)
        close_one(cache, core, line); /* from now on stores stay in L1 */
    return way;
}

struct fill {
    uint64_t start, end;
};

INLINE struct fill fetch_line(struct cache *cache, const struct shape *shape,
                              struct cache_core *core, uint32_t l2_line, bool data, uint64_t now)
{
    struct fill fill;
    fill.start = fill_start(cache, core, now);
    fill.end = l2_read(cache, shape, core, l2_line, data, fill.start);
    core->counts.l2_read++;
    count_levels(core, fill.start, fill.end);
    return fill;
}

/* Others' dirty copies reach memory before it is read (write-back with coherence only). */
NOINLINE static void clean_others(struct cache *cache, const struct cache_core *core, uint32_t line,
                                  uint64_t now)
{
    for (uint32_t others = core->others; others; others &= others - 1) {
        struct cache_core *other = cache->core[__builtin_ctz(others)];
        int way;
        if (!l1_has(&other->data, &cache->shape.l1d, line, &way) || !other->data.dirty[way])
            continue;
        cast_out(cache, other, way, now);
        order_mark(cache, line);
    }
}

INLINE struct fill fill_data(struct cache *cache, const struct shape *shape,
                             struct cache_core *core, uint32_t line, uint8_t *at, uint64_t now,
                             int *way)
{
    if (!cache->config.write_through && cache->config.coherent)
        clean_others(cache, core, line, now);
    struct fill fill =
        fetch_line(cache, shape, core, line >> (shape->l2_shift - shape->l1d_shift), true, now);
    core->counts.data_fill.count++;
    core->counts.data_fill.cycles += count_high(&core->data_fill_until, fill.start, fill.end);
    *way = install(cache, shape, core, line, at, fill.start);
    return fill;
}

/* --- Stores ---------------------------------------------------------------------------------- */

/* A store goes on to memory; returns when it has found a place in the queue. */
INLINE uint64_t send(struct cache *cache, const struct shape *shape, struct cache_core *core,
                     uint32_t line, uint8_t *at, uint64_t now)
{
    struct open_line *open = find_open(cache, core, line);
    if (open) {
        if (open->at != at) open->at = NULL;
        return now;
    }
    uint64_t start = take_store_entry(cache, core, now);
    open = take_open(core);
    l1_close_line(cache, core, open);
    if (cache->config.coherent) snoop_store(cache, core, line, start);
    l2_write(cache, shape, core, line, start);
    open->line = line;
    open->at = at;
    *at |= CACHE_OPEN;
    if (!(cache->has_open & core->bit)) {
        cache->has_open |= core->bit;
        fast_update(cache);
    }
    return start;
}

static void make_dirty(struct cache *cache, struct cache_core *core, int way, uint64_t now)
{
    if (core->data.dirty[way]) return;
    if (cache->config.coherent) {
        uint32_t line = core->data.tags.line[way];
        l1_close_others(cache, core, line, 0);
        snoop_store(cache, core, line, now);
    }
    core->data.dirty[way] = 1;
}

/* --- One line -------------------------------------------------------------------------------- */

INLINE struct mem_physical translate(struct cache *cache, const struct shape *shape,
                                     struct cache_core *core, unsigned space, uint32_t address,
                                     uint8_t *lines, uint64_t *misses, uint64_t *now)
{
    if (!(*space_page(shape, lines, address) & CACHE_PAGE)) {
        space_tlb_fill(cache, core->number, space, address);
        *misses += 1;
        *now += cache->config.tlb_miss;
    }
    core->counts.page_fault += !mem_is_touched(&cache->frames, space, address);
    return space_translate(cache, space, address);
}

/* Gives the page fast-path rights for such accesses. */
INLINE void allow_fast(const struct cache *cache, struct cache_view *view, uint32_t address,
                       uint32_t line, uint32_t what)
{
    uint32_t *page = &view->pages[address >> FRAME_BITS],
             more = line - (address >> CACHE_GRANULE_BITS);
    if (!cache->fast_geometry || line > MISS_LINE) return;
    if (UNLIKELY(cache->any_contended) && order_has_contended(cache, line))
        order_show(cache, view->lines + (size_t)(address >> FRAME_BITS) * FRAME_LINES, line);
    *page = more | (*page & (FRAME_LINES - 1)) | what;
    if (UNLIKELY(what & FAST_STORE && !(*page & PAGE_HAS_OPEN_LINE)))
        fast_mark_open(view, address >> FRAME_BITS);
}

/* A load misses while other fills are in flight. */
NOINLINE static uint64_t load_with_fills(struct cache *cache, struct cache_core *core,
                                         uint32_t line, uint8_t *at, uint64_t now)
{
    int way;
    core->counts.load_miss++;
    uint64_t end = cache->is_blue_gene
                       ? fill_data(cache, &blue_gene, core, line, at, now, &way).end
                       : fill_data(cache, &cache->shape, core, line, at, now, &way).end;
    core->counts.stall_load.count++;
    core->counts.stall_load.cycles += end - now;
    return end;
}

/* The same with none in flight, as for most. */
INLINE uint64_t load_uncontended(struct cache *cache, const struct shape *shape,
                                 struct cache_core *core, uint32_t line, uint8_t *at, uint64_t now)
{
    if (!cache->config.write_through && cache->config.coherent)
        clean_others(cache, core, line, now);
    uint64_t end =
        l2_read(cache, shape, core, line >> (shape->l2_shift - shape->l1d_shift), true, now);
    count_uncontended(core, now, end);
    (void)install(cache, shape, core, line, at, now);
    return end;
}

INLINE uint64_t load_line(struct cache *cache, const struct shape *shape, struct cache_core *core,
                          unsigned space, uint32_t address, uint64_t now)
{
    struct l1 *l1 = &core->data;
    struct cache_view *view = space_view(cache, core->number, space);
    uint8_t *at = bytes_of(view->lines, address, shape->l1d_shift);
    struct mem_physical physical =
        translate(cache, shape, core, space, address, view->lines, &core->counts.dtlb_miss, &now);
    uint32_t line = (uint32_t)(physical.address >> shape->l1d_shift);
    int way;
    if (physical.alone) allow_fast(cache, view, address, line, fast_load_right(view));
    cache->order_line = line;
    bool here = l1d_has(l1, &shape->l1d, line, physical.alone, at, &way);
    if (shape->kinds)
        core->miss_kind = note_use(core->kinds, core->counts.load_kind, line, !here, true);
    if (here) {
        tags_use(&l1->tags, &shape->l1d, way);
        l1_add_alias(l1, way, at);
    } else {
        uint64_t start = now;
        now = core->fills_until > now ? load_with_fills(cache, core, line, at, now)
                                      : load_uncontended(cache, shape, core, line, at, now);
        if (UNLIKELY(cache->listener))
            notify_miss(cache, core, CACHE_LOAD_MISS, address, start, now);
    }
    set_data_bits(cache, l1, shape->l1d_shift, at, line, CACHE_LOAD, now);
    return now;
}

struct taken {
    uint64_t start;
    int way;
};

/* A store fills its line. */
NOINLINE static struct taken store_fill(struct cache *cache, struct cache_core *core, uint32_t line,
                                        uint8_t *at, uint64_t now)
{
    struct taken taken;
    taken.start = cache->is_blue_gene
                      ? fill_data(cache, &blue_gene, core, line, at, now, &taken.way).start
                      : fill_data(cache, &cache->shape, core, line, at, now, &taken.way).start;
    fast_disable(core);
    return taken;
}

/* Where a store finds its line; -1 where it stays out of L1. A store that joins the one before is
 * no miss. dcbz needs nothing of the line's old contents. */
INLINE int store_way(struct cache *cache, const struct shape *shape, struct cache_core *core,
                     uint32_t line, bool own, uint8_t *at, bool zero, uint64_t *now)
{
    const struct cache_config *config = &cache->config;
    struct l1 *l1 = &core->data;
    int way;
    if (l1d_has(l1, &shape->l1d, line, own, at, &way)) {
        tags_use(&l1->tags, &shape->l1d, way);
        l1_add_alias(l1, way, at);
    } else if (zero) {
        if (!config->write_through) way = install(cache, shape, core, line, at, *now);
    } else if (!find_open(cache, core, line)) {
        core->counts.store_miss++;
        if (!config->store_allocate) return way;
        struct taken taken = store_fill(cache, core, line, at, *now);
        *now = taken.start;
        way = taken.way;
    }
    return way;
}

INLINE uint64_t store_line(struct cache *cache, const struct shape *shape, struct cache_core *core,
                           unsigned space, uint32_t address, bool zero, uint64_t now)
{
    struct l1 *l1 = &core->data;
    struct cache_view *view = space_view(cache, core->number, space);
    uint8_t *at = bytes_of(view->lines, address, shape->l1d_shift);
    struct mem_physical physical =
        translate(cache, shape, core, space, address, view->lines, &core->counts.dtlb_miss, &now);
    uint64_t start = now;
    uint32_t line = (uint32_t)(physical.address >> shape->l1d_shift);
    if (physical.alone) allow_fast(cache, view, address, line, FAST_STORE | FAST_STORE_LISTENED);
    uint64_t misses = core->counts.store_miss;
    uint8_t bits = CACHE_STORE;
    int way = -1;
    /* Through, and the line is there: which way does not matter. */
    if (!cache->config.write_through || !(*at & CACHE_LOAD)) {
        way = store_way(cache, shape, core, line, physical.alone, at, zero, &start);
        if (way >= 0) bits |= CACHE_LOAD;
    }
    if (way >= 0 && !cache->config.write_through)
        make_dirty(cache, core, way, start);
    else
        start = send(cache, shape, core, line, at, start);
    count_stall(&core->counts.stall_store, now, start);
    if (shape->kinds)
        core->miss_kind = note_use(
            core->kinds, core->counts.store_kind, line, misses != core->counts.store_miss,
            way >= 0 && (zero ? !cache->config.write_through : cache->config.store_allocate));
    set_data_bits(cache, l1, shape->l1d_shift, at, line, bits, start);
    if (UNLIKELY(cache->listener) && misses != core->counts.store_miss)
        notify_miss(cache, core, CACHE_STORE_MISS, address, now, start);
    return start;
}

INLINE uint64_t fetch_code(struct cache *cache, const struct shape *shape, struct cache_core *core,
                           unsigned space, uint32_t address, uint64_t now)
{
    struct l1 *l1 = &core->code;
    struct tags *tags = &l1->tags;
    uint8_t *lines = space_lines(cache, core->number, space),
            *at = bytes_of(lines, address, shape->l1i_shift);
    uint64_t physical =
        translate(cache, shape, core, space, address, lines, &core->counts.itlb_miss, &now).address;
    uint32_t line = (uint32_t)(physical >> shape->l1i_shift), set = line & tags->set_mask;
    cache->order_line = NO_LINE;
    int way;
    if (l1_has(l1, &shape->l1i, line, &way)) {
        tags_use(tags, &shape->l1i, way);
        l1_add_alias(l1, way, at);
    } else {
        struct fill fill = fetch_line(cache, shape, core,
                                      line >> (shape->l2_shift - shape->l1i_shift), false, now);
        core->counts.code_fill.count++;
        core->counts.code_fill.cycles += count_high(&core->code_fill_until, fill.start, fill.end);
        core->counts.stall_fetch.count++;
        core->counts.stall_fetch.cycles += fill.end - now;
        way = tags_victim(tags, &shape->l1i, set);
        if (tags->line[way] != NO_LINE) drop_code(cache, core, way);
        l1_insert(l1, &shape->l1i, way, line, at);
        if (UNLIKELY(cache->listener))
            notify_miss(cache, core, CACHE_FETCH_MISS, address, now, fill.end);
        now = fill.end;
    }
    set_bits(l1, shape->l1i_shift, at, CACHE_FETCH);
    return now;
}

NOINLINE static uint64_t store_any(struct cache *cache, struct cache_core *core, unsigned space,
                                   uint32_t address, bool zero, uint64_t now)
{
    return store_line(cache, &cache->shape, core, space, address, zero, now);
}

NOINLINE static uint64_t store_blue_gene(struct cache *cache, struct cache_core *core,
                                         unsigned space, uint32_t address, uint64_t now)
{
    return store_line(cache, &blue_gene, core, space, address, false, now);
}

/* --- Calls ----------------------------------------------------------------------------------- */

NOINLINE static uint64_t load_any(struct cache *cache, struct cache_core *core, unsigned space,
                                  uint32_t address, uint64_t now)
{
    return load_line(cache, &cache->shape, core, space, address, now);
}

/* Before an access on the slow path: whether it has to wait. */
INLINE bool waits(struct cache *cache, const struct cache_core *core, unsigned space,
                  uint32_t address, uint32_t size, bool store, uint64_t now)
{
    cache->order_time = now;
    return UNLIKELY(now >= core->order_limit) &&
           order_waits(cache, core, space, address, size, store, now);
}

uint32_t cache_load(struct cache *cache, unsigned core, unsigned space, uint32_t address,
                    uint32_t size, uint64_t now)
{
    struct cache_core *this_core = cache->core[core];
    uint32_t last = address + size - 1;
    bool within = !((last ^ address) & cache->line_mask);
    struct cache_view *view = space_view(cache, core, space);
    if (UNLIKELY(this_core->fast_disabled)) {
        if (memory_is_free(cache))
            return model_allow(cache, this_core, space, address, size, CACHE_LOAD);
        fast_enable(cache, this_core, now);
    }
    uint32_t stall = within ? cache_load_fast(view, address, now) : CACHE_SLOW;
    if (stall != CACHE_SLOW) {
        if (UNLIKELY(stall & CACHE_NOTIFY))
            cache_notify_load(view, address, now, stall & ~CACHE_NOTIFY);
        return stall & ~CACHE_NOTIFY;
    }
    if (waits(cache, this_core, space, address, size, false, now)) return CACHE_WAITS;
    uint64_t end = cache->is_blue_gene
                       ? load_line(cache, &blue_gene, this_core, space, address, now)
                       : load_any(cache, this_core, space, address, now);
    if (!within) end = load_any(cache, this_core, space, last, end);
    return made(cache, this_core, within ? 1 : 2, end - now);
}

uint32_t cache_store(struct cache *cache, unsigned core, unsigned space, uint32_t address,
                     uint32_t size, uint64_t now)
{
    struct cache_core *this_core = cache->core[core];
    uint32_t last = address + size - 1;
    if (UNLIKELY(this_core->fast_disabled) && memory_is_free(cache))
        return model_allow(cache, this_core, space, address, size, CACHE_STORE);
    if ((last ^ address) & cache->line_mask) {
        if (waits(cache, this_core, space, address, size, true, now)) return CACHE_WAITS;
        uint64_t end = store_any(cache, this_core, space, address, false, now);
        end = store_any(cache, this_core, space, last, false, end);
        return made(cache, this_core, 2, end - now);
    }
    struct cache_view *view = space_view(cache, core, space);
    if (UNLIKELY(this_core->fast_disabled)) fast_enable(cache, this_core, now);
    uint32_t stall = cache_store_fast(view, address, now);
    if (stall != CACHE_SLOW) {
        if (UNLIKELY(stall & CACHE_NOTIFY)) used(cache, this_core, stall & ~CACHE_NOTIFY);
        return stall & ~CACHE_NOTIFY;
    }
    if (waits(cache, this_core, space, address, size, true, now)) return CACHE_WAITS;
    uint64_t end = cache->is_blue_gene ? store_blue_gene(cache, this_core, space, address, now)
                                       : store_any(cache, this_core, space, address, false, now);
    return made(cache, this_core, 1, end - now);
}

uint32_t cache_fetch(struct cache *cache, unsigned core, unsigned space, uint32_t address,
                     uint64_t now)
{
    struct cache_core *this_core = cache->core[core];
    if (UNLIKELY(memory_is_free(cache)))
        return model_allow(cache, this_core, space, address, 1, CACHE_FETCH);
    uint64_t end = cache->is_blue_gene
                       ? fetch_code(cache, &blue_gene, this_core, space, address, now)
                       : fetch_code(cache, &cache->shape, this_core, space, address, now);
    return made(cache, this_core, 1, end - now);
}

static void touch(struct cache *cache, struct cache_core *core, unsigned space, uint32_t address,
                  uint64_t now)
{
    const struct shape *shape = &cache->shape;
    struct l1 *l1 = &core->data;
    uint8_t *lines = space_lines(cache, core->number, space),
            *at = bytes_of(lines, address, shape->l1d_shift);
    if (!(*space_page(shape, lines, address) & CACHE_PAGE)) return;
    core->counts.page_fault += !mem_is_touched(&cache->frames, space, address);
    uint32_t line = (uint32_t)(space_translate(cache, space, address).address >> shape->l1d_shift);
    int way;
    if (l1_has(l1, &shape->l1d, line, &way))
        tags_use(&l1->tags, &shape->l1d, way);
    else {
        (void)end_fills(core, now);
        if (core->fills == cache->config.fills) return;
        core->counts.touch_fill++;
        cache->order_line = line;
        (void)fill_data(cache, shape, core, line, at, now, &way);
        fast_disable(core);
    }
    if (shape->kinds) (void)kinds_use(core->kinds, line, true);
}

/* Other cores too, where L1D are coherent. */
static void manage_data(struct cache *cache, enum cache_op op, struct cache_core *core,
                        uint32_t line, uint64_t now)
{
    close_one(cache, core, line);
    for (unsigned i = 0; i < cache->config.cores; i++) {
        struct cache_core *one = cache->core[i];
        int way;
        if ((one != core && !cache->config.coherent) ||
            !l1_has(&one->data, &cache->shape.l1d, line, &way))
            continue;
        if (op == CACHE_CLEAN)
            clean(cache, one, way, now);
        else
            l1_drop(cache, one, way, op == CACHE_FLUSH, now);
    }
}

static void manage_code(struct cache *cache, const struct cache_core *core, uint32_t line)
{
    for (unsigned i = 0; i < cache->config.cores; i++) {
        struct cache_core *one = cache->core[i];
        int way;
        if (one != core && !cache->config.coherent) continue;
        if (l1_has(&one->code, &cache->shape.l1i, line, &way)) drop_code(cache, one, way);
    }
}

uint32_t cache_manage(struct cache *cache, enum cache_op op, unsigned core, unsigned space,
                      uint32_t address, uint64_t now)
{
    const struct shape *shape = &cache->shape;
    struct cache_core *this_core = cache->core[core];
    uint64_t end = now;
    if (memory_is_free(cache))
        return op == CACHE_ZERO ? model_allow(cache, this_core, space, address, 1, CACHE_STORE) : 0;
    if (op != CACHE_INVALIDATE_CODE &&
        waits(cache, this_core, space, address, 1, op != CACHE_TOUCH, now))
        return CACHE_WAITS;
    if (op == CACHE_ZERO) {
        end = store_any(cache, this_core, space, address, true, now);
        return made(cache, this_core, 1, end - now);
    }
    if (op == CACHE_TOUCH) {
        touch(cache, this_core, space, address, now);
        return made(cache, this_core, 1, 0);
    }
    uint8_t *lines = space_lines(cache, core, space);
    uint64_t physical = translate(cache, shape, this_core, space, address, lines,
                                  &this_core->counts.dtlb_miss, &end)
                            .address;
    if (op != CACHE_INVALIDATE_CODE)
        manage_data(cache, op, this_core, (uint32_t)(physical >> shape->l1d_shift), end);
    else
        manage_code(cache, this_core, (uint32_t)(physical >> shape->l1i_shift));
    return made(cache, this_core, 1, end - now);
}

uint32_t cache_sync(struct cache *cache, unsigned core, uint64_t now)
{
    struct cache_core *this_core = cache->core[core];
    uint64_t end = now;
    for (uint32_t i = 0; i < cache->config.stores; i++)
        if (this_core->queue[i].end > end) end = this_core->queue[i].end;
    l1_close(cache, this_core);
    count_stall(&this_core->counts.stall_store, now, end);
    return made(cache, this_core, 1, end - now);
}

uint32_t cache_device(struct cache *cache, unsigned core, bool store, uint64_t now)
{
    struct cache_core *this_core = cache->core[core];
    struct core_counts *counts = &this_core->counts;
    (void)now;
    *(store ? &counts->device_write : &counts->device_read) += 1;
    return made(cache, this_core, 1,
                store ? cache->config.device_store - 1
                      : cache->config.device_latency - cache->config.l1_latency);
}

uint64_t cache_activity(const struct cache *cache, unsigned core, uint64_t *device_loads)
{
    const struct core_counts *counts = &cache->core[core]->counts;
    const uint64_t *fields = (const uint64_t *)counts;
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof *counts / sizeof *fields; i++)
        sum += fields[i];
    *device_loads = counts->device_read;
    return sum - counts->device_read;
}

void cache_repeat_device_loads(struct cache *cache, unsigned core, uint64_t times)
{
    cache->core[core]->counts.device_read += times;
}
