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

INLINE bool is_in(const struct l1 *l1, const struct ways *ways, uint32_t line, int *way)
{
    uint32_t set = line & l1->tags.set_mask;
    *way = tags_find(&l1->tags, ways, set, line);
    return *way >= 0;
}

/* Whether a line is in L1D, and where; `at` are bytes of the mapping `own` speaks of. */
INLINE bool is_here(const struct l1 *l1, const struct ways *ways, uint32_t line, bool own,
                    const uint8_t *at, int *way)
{
    *way = -1;
    return !(own && !(*at & CACHE_HERE)) && is_in(l1, ways, line, way);
}

INLINE void allow(const struct l1 *l1, unsigned shift, uint8_t *at, uint8_t bits)
{
    for (uint32_t i = 0; i < granules(shift); i++)
        at[i] |= bits & l1->bits;
}

/* A line, known by the bytes at `at`, takes a way. */
INLINE void put(struct l1 *l1, const struct ways *ways, int way, uint32_t line, uint8_t *at)
{
    l1->tags.line[way] = line;
    l1->at[way] = at;
    tags_use(&l1->tags, ways, way);
}

/* The line in a way is known by these bytes too. */
INLINE void known_at(struct l1 *l1, int way, const uint8_t *at)
{
    if (l1->at[way] != at) l1->at[way] = NULL;
}

/* Bytes that know of a line lose bits: those at `at`, or all that map it. */
INLINE void forbid(struct cache *cache, unsigned shift, struct cache_core *of, uint8_t *at,
                   uint32_t line, uint8_t bits)
{
    if (!at)
        space_clear(cache, of->number, (uint64_t)line << shift, 1U << shift, bits);
    else
        for (uint32_t i = 0; i < granules(shift); i++)
            at[i] &= (uint8_t)~bits;
}

void l1_close_line(struct cache *cache, struct cache_core *of, struct open_line *open)
{
    if (open->line == NO_LINE) return;
    forbid(cache, cache->shape.l1d_shift, of, open->at, open->line, CACHE_STORE | CACHE_OPEN);
    open->line = NO_LINE;
    open->at = NULL;
}

void l1_close(struct cache *cache, struct cache_core *of)
{
    for (uint32_t i = 0; i < cache->config.store_lines; i++)
        l1_close_line(cache, of, &of->open[i]);
    if (!(cache->joining & of->bit)) return;
    cache->joining &= ~of->bit;
    quick_change(cache);
}

/* Where a line is open; NULL: it is not. */
INLINE struct open_line *find_open(const struct cache *cache, struct cache_core *of, uint32_t line)
{
    for (uint32_t i = 0; i < cache->config.store_lines; i++)
        if (of->open[i].line == line) return &of->open[i];
    return NULL;
}

/* No store joins the line any more. */
INLINE void close_one(struct cache *cache, struct cache_core *of, uint32_t line)
{
    struct open_line *open = find_open(cache, of, line);
    if (open) l1_close_line(cache, of, open);
}

/* A miss is over. */
APART static void tell_miss(const struct cache *cache, const struct cache_core *of,
                            enum cache_transaction_kind kind, uint32_t address, uint64_t start,
                            uint64_t end)
{
    bool filled = kind != CACHE_STORE_MISS || cache->config.store_allocate;
    if (of->alike && end - start < ALIKE_STALLS) {
        alike_add(of->alike, kind, filled ? of->served : CACHE_NOWHERE, end - start);
        return;
    }
    const struct cache_transaction transaction = {.core = (uint8_t)of->number,
                                                  .sender = (uint8_t)of->number,
                                                  .kind = (uint8_t)kind,
                                                  .level = filled ? of->served : CACHE_NOWHERE,
                                                  .address = address};
    cache->listener->notify(cache->listener->context, transaction, start, end);
}

void cache_notify_load(struct cache_view *view, uint32_t address, uint64_t start, uint32_t stall)
{
    tell_miss(view->cache, view->of, CACHE_LOAD_MISS, address, start, start + stall);
}

/* --- Lines leave ----------------------------------------------------------------------------- */

APART static void cast_out(struct cache *cache, struct cache_core *of, int way, uint64_t now)
{
    const struct shape *shape = &cache->shape;
    uint32_t line = of->data.tags.line[way];
    of->data.dirty[way] = 0;
    of->counts.castout++;
    forbid(cache, shape->l1d_shift, of, of->data.at[way], line, CACHE_STORE);
    l2_write(cache, shape, of, line, now);
}

INLINE void clean(struct cache *cache, struct cache_core *of, int way, uint64_t now)
{
    if (of->data.dirty[way]) cast_out(cache, of, way, now);
}

void l1_drop(struct cache *cache, struct cache_core *of, int way, bool write, uint64_t now)
{
    struct l1 *l1 = &of->data;
    forbid(cache, l1->shift, of, l1->at[way], l1->tags.line[way], cache->line_bits);
    if (cache->shape.kinds) kinds_take(of->kinds, l1->tags.line[way]);
    if (write) clean(cache, of, way, now);
    l1->dirty[way] = 0;
    l1->at[way] = NULL;
    tags_drop(&l1->tags, way);
}

static void drop_code(struct cache *cache, struct cache_core *of, int way)
{
    struct l1 *l1 = &of->code;
    forbid(cache, l1->shift, of, l1->at[way], l1->tags.line[way], CACHE_FETCH);
    tags_drop(&l1->tags, way);
}

/* --- Lines come ------------------------------------------------------------------------------ */

/* A line, known by the bytes at `at`, takes a way of L1D; the one that was there goes. */
INLINE int install(struct cache *cache, const struct shape *shape, struct cache_core *of,
                   uint32_t line, uint8_t *at, uint64_t now)
{
    struct tags *tags = &of->data.tags;
    int way = tags_victim(tags, &shape->l1d, line & tags->set_mask);
    uint32_t old = tags->line[way];
    uint8_t *old_at = of->data.at[way];
    clean(cache, of, way, now);
    put(&of->data, &shape->l1d, way, line, at);
    for (uint32_t i = 0; i < granules(shape->l1d_shift); i++)
        at[i] |= CACHE_HERE;
    if (cache->config.snoop_filter)
        snoop_filled(cache, shape, of, line);
    else
        of->snoop.active.log_end = of->snoop.active.log; /* nobody will want to know */
    if (old != NO_LINE) forbid(cache, shape->l1d_shift, of, old_at, old, cache->line_bits);
    if (!cache->config.write_through)
        close_one(cache, of, line); /* from now on stores stay in L1 */
    return way;
}

struct fill {
    uint64_t start, end;
};

INLINE struct fill fetch_line(struct cache *cache, const struct shape *shape, struct cache_core *of,
                              uint32_t l2_line, bool data, uint64_t now)
{
    struct fill fill;
    fill.start = fill_start(cache, of, now);
    fill.end = l2_read(cache, shape, of, l2_line, data, fill.start);
    of->counts.l2_read++;
    count_levels(of, fill.start, fill.end);
    return fill;
}

/* Others' dirty copies reach memory before it is read (write-back with coherence only). */
APART static void clean_others(struct cache *cache, const struct cache_core *of, uint32_t line,
                               uint64_t now)
{
    for (uint32_t others = of->others; others; others &= others - 1) {
        struct cache_core *other = cache->core[__builtin_ctz(others)];
        int way;
        if (is_in(&other->data, &cache->shape.l1d, line, &way)) clean(cache, other, way, now);
    }
}

INLINE struct fill fill_data(struct cache *cache, const struct shape *shape, struct cache_core *of,
                             uint32_t line, uint8_t *at, uint64_t now, int *way)
{
    if (!cache->config.write_through && cache->config.coherent) clean_others(cache, of, line, now);
    struct fill fill =
        fetch_line(cache, shape, of, line >> (shape->l2_shift - shape->l1d_shift), true, now);
    of->counts.data_fill.count++;
    of->counts.data_fill.cycles += cover(&of->data_fill_until, fill.start, fill.end);
    *way = install(cache, shape, of, line, at, fill.start);
    return fill;
}

/* --- Stores ---------------------------------------------------------------------------------- */

/* A store goes on to memory; returns when it has found a place in the queue. */
INLINE uint64_t send(struct cache *cache, const struct shape *shape, struct cache_core *of,
                     uint32_t line, uint8_t *at, uint64_t now)
{
    struct open_line *open = find_open(cache, of, line);
    if (open) {
        if (open->at != at) open->at = NULL;
        return now;
    }
    uint64_t start = take_store_entry(cache, of, now);
    open = take_open(of);
    l1_close_line(cache, of, open);
    if (cache->config.coherent) snoop_store(cache, of, line, start);
    l2_write(cache, shape, of, line, start);
    open->line = line;
    open->at = at;
    *at |= CACHE_OPEN;
    if (!(cache->joining & of->bit)) {
        cache->joining |= of->bit;
        quick_change(cache);
    }
    return start;
}

static void make_dirty(struct cache *cache, struct cache_core *of, int way, uint64_t now)
{
    if (of->data.dirty[way]) return;
    if (cache->config.coherent) {
        uint32_t line = of->data.tags.line[way];
        l1_close_others(cache, of, line, 0);
        snoop_store(cache, of, line, now);
    }
    of->data.dirty[way] = 1;
}

/* --- One line -------------------------------------------------------------------------------- */

INLINE struct mem_physical translate(struct cache *cache, const struct shape *shape,
                                     struct cache_core *of, unsigned space, uint32_t address,
                                     uint8_t *lines, uint64_t *misses, uint64_t *now)
{
    if (!(*space_page(shape, lines, address) & CACHE_PAGE)) {
        space_tlb_fill(cache, of->number, space, address);
        *misses += 1;
        *now += cache->config.tlb_miss;
    }
    return space_translate(cache, space, address);
}

/* From now on such an access to the page may be quick. */
INLINE void be_quick(const struct cache *cache, struct cache_view *view, uint32_t address,
                     uint32_t line, uint32_t what)
{
    uint32_t *page = &view->pages[address >> FRAME_BITS],
             more = line - (address >> CACHE_GRANULE_BITS);
    if (!cache->is_common || line > MISS_LINE) return;
    *page = more | (*page & (FRAME_LINES - 1)) | what;
    if (SELDOM(what & FAST_STORE && !(*page & PAGE_HAS_OPEN_LINE)))
        quick_open(view, address >> FRAME_BITS);
}

/* A load misses while other fills are under way. */
APART static uint64_t load_crowded(struct cache *cache, struct cache_core *of, uint32_t line,
                                   uint8_t *at, uint64_t now)
{
    int way;
    of->counts.load_miss++;
    uint64_t end = cache->is_blue_gene
                       ? fill_data(cache, &blue_gene, of, line, at, now, &way).end
                       : fill_data(cache, &cache->shape, of, line, at, now, &way).end;
    of->counts.stall_load.count++;
    of->counts.stall_load.cycles += end - now;
    return end;
}

/* While there are none, which is the common case. */
INLINE uint64_t load_calm(struct cache *cache, const struct shape *shape, struct cache_core *of,
                          uint32_t line, uint8_t *at, uint64_t now)
{
    if (!cache->config.write_through && cache->config.coherent) clean_others(cache, of, line, now);
    uint64_t end =
        l2_read(cache, shape, of, line >> (shape->l2_shift - shape->l1d_shift), true, now);
    count_calm(of, now, end);
    (void)install(cache, shape, of, line, at, now);
    return end;
}

INLINE uint64_t load_line(struct cache *cache, const struct shape *shape, struct cache_core *of,
                          unsigned space, uint32_t address, uint64_t now)
{
    struct l1 *l1 = &of->data;
    struct cache_view *view = space_view(cache, of->number, space);
    uint8_t *at = bytes_of(view->lines, address, shape->l1d_shift);
    struct mem_physical physical =
        translate(cache, shape, of, space, address, view->lines, &of->counts.dtlb_miss, &now);
    uint32_t line = (uint32_t)(physical.address >> shape->l1d_shift);
    int way;
    if (physical.alone) be_quick(cache, view, address, line, quick_load(view));
    bool here = is_here(l1, &shape->l1d, line, physical.alone, at, &way);
    if (shape->kinds) of->miss_kind = note_use(of->kinds, of->counts.load_kind, line, !here, true);
    if (here) {
        tags_use(&l1->tags, &shape->l1d, way);
        known_at(l1, way, at);
    } else {
        uint64_t start = now;
        now = of->fills_until > now ? load_crowded(cache, of, line, at, now)
                                    : load_calm(cache, shape, of, line, at, now);
        if (SELDOM(cache->listener)) tell_miss(cache, of, CACHE_LOAD_MISS, address, start, now);
    }
    allow(l1, shape->l1d_shift, at, CACHE_LOAD);
    return now;
}

struct taken {
    uint64_t start;
    int way;
};

/* A store fills its line. */
APART static struct taken store_fill(struct cache *cache, struct cache_core *of, uint32_t line,
                                     uint8_t *at, uint64_t now)
{
    struct taken taken;
    taken.start = cache->is_blue_gene
                      ? fill_data(cache, &blue_gene, of, line, at, now, &taken.way).start
                      : fill_data(cache, &cache->shape, of, line, at, now, &taken.way).start;
    quick_tire(of);
    return taken;
}

/* Where a store finds its line; -1 where it stays out of L1. A store that joins the one before is
 * no miss. dcbz needs nothing of the line's old contents. */
INLINE int store_way(struct cache *cache, const struct shape *shape, struct cache_core *of,
                     uint32_t line, bool own, uint8_t *at, bool zero, uint64_t *now)
{
    const struct cache_config *config = &cache->config;
    struct l1 *l1 = &of->data;
    int way;
    if (is_here(l1, &shape->l1d, line, own, at, &way)) {
        tags_use(&l1->tags, &shape->l1d, way);
        known_at(l1, way, at);
    } else if (zero) {
        if (!config->write_through) way = install(cache, shape, of, line, at, *now);
    } else if (!find_open(cache, of, line)) {
        of->counts.store_miss++;
        if (!config->store_allocate) return way;
        struct taken taken = store_fill(cache, of, line, at, *now);
        *now = taken.start;
        way = taken.way;
    }
    return way;
}

INLINE uint64_t store_line(struct cache *cache, const struct shape *shape, struct cache_core *of,
                           unsigned space, uint32_t address, bool zero, uint64_t now)
{
    struct l1 *l1 = &of->data;
    struct cache_view *view = space_view(cache, of->number, space);
    uint8_t *at = bytes_of(view->lines, address, shape->l1d_shift);
    struct mem_physical physical =
        translate(cache, shape, of, space, address, view->lines, &of->counts.dtlb_miss, &now);
    uint64_t start = now;
    uint32_t line = (uint32_t)(physical.address >> shape->l1d_shift);
    if (physical.alone) be_quick(cache, view, address, line, FAST_STORE | FAST_STORE_LISTENED);
    uint64_t misses = of->counts.store_miss;
    uint8_t bits = CACHE_STORE;
    int way = -1;
    /* Through, and the line is there: which way does not matter. */
    if (!cache->config.write_through || !(*at & CACHE_LOAD)) {
        way = store_way(cache, shape, of, line, physical.alone, at, zero, &start);
        if (way >= 0) bits |= CACHE_LOAD;
    }
    if (way >= 0 && !cache->config.write_through)
        make_dirty(cache, of, way, start);
    else
        start = send(cache, shape, of, line, at, start);
    count_stall(&of->counts.stall_store, now, start);
    if (shape->kinds)
        of->miss_kind = note_use(
            of->kinds, of->counts.store_kind, line, misses != of->counts.store_miss,
            way >= 0 && (zero ? !cache->config.write_through : cache->config.store_allocate));
    allow(l1, shape->l1d_shift, at, bits);
    if (SELDOM(cache->listener) && misses != of->counts.store_miss)
        tell_miss(cache, of, CACHE_STORE_MISS, address, now, start);
    return start;
}

INLINE uint64_t fetch_code(struct cache *cache, const struct shape *shape, struct cache_core *of,
                           unsigned space, uint32_t address, uint64_t now)
{
    struct l1 *l1 = &of->code;
    struct tags *tags = &l1->tags;
    uint8_t *lines = space_lines(cache, of->number, space),
            *at = bytes_of(lines, address, shape->l1i_shift);
    uint64_t physical =
        translate(cache, shape, of, space, address, lines, &of->counts.itlb_miss, &now).address;
    uint32_t line = (uint32_t)(physical >> shape->l1i_shift), set = line & tags->set_mask;
    int way;
    if (is_in(l1, &shape->l1i, line, &way)) {
        tags_use(tags, &shape->l1i, way);
        known_at(l1, way, at);
    } else {
        struct fill fill =
            fetch_line(cache, shape, of, line >> (shape->l2_shift - shape->l1i_shift), false, now);
        of->counts.code_fill.count++;
        of->counts.code_fill.cycles += cover(&of->code_fill_until, fill.start, fill.end);
        of->counts.stall_fetch.count++;
        of->counts.stall_fetch.cycles += fill.end - now;
        way = tags_victim(tags, &shape->l1i, set);
        if (tags->line[way] != NO_LINE) drop_code(cache, of, way);
        put(l1, &shape->l1i, way, line, at);
        if (SELDOM(cache->listener)) tell_miss(cache, of, CACHE_FETCH_MISS, address, now, fill.end);
        now = fill.end;
    }
    allow(l1, shape->l1i_shift, at, CACHE_FETCH);
    return now;
}

APART static uint64_t store_any(struct cache *cache, struct cache_core *of, unsigned space,
                                uint32_t address, bool zero, uint64_t now)
{
    return store_line(cache, &cache->shape, of, space, address, zero, now);
}

APART static uint64_t store_blue_gene(struct cache *cache, struct cache_core *of, unsigned space,
                                      uint32_t address, uint64_t now)
{
    return store_line(cache, &blue_gene, of, space, address, false, now);
}

/* --- Calls ----------------------------------------------------------------------------------- */

APART static uint64_t load_any(struct cache *cache, struct cache_core *of, unsigned space,
                               uint32_t address, uint64_t now)
{
    return load_line(cache, &cache->shape, of, space, address, now);
}

uint32_t cache_load(struct cache *cache, unsigned core, unsigned space, uint32_t address,
                    uint32_t size, uint64_t now)
{
    struct cache_core *of = cache->core[core];
    uint32_t last = address + size - 1;
    bool within = !((last ^ address) & cache->line_mask);
    struct cache_view *view = space_view(cache, core, space);
    if (SELDOM(of->tired)) quick_rest(cache, of, now);
    uint32_t stall = within ? cache_load_fast(view, address, now) : CACHE_SLOW;
    if (stall != CACHE_SLOW) {
        if (SELDOM(stall & CACHE_NOTIFY))
            cache_notify_load(view, address, now, stall & ~CACHE_NOTIFY);
        return stall & ~CACHE_NOTIFY;
    }
    uint64_t end = cache->is_blue_gene ? load_line(cache, &blue_gene, of, space, address, now)
                                       : load_any(cache, of, space, address, now);
    if (!within) end = load_any(cache, of, space, last, end);
    return (uint32_t)(end - now);
}

uint32_t cache_store(struct cache *cache, unsigned core, unsigned space, uint32_t address,
                     uint32_t size, uint64_t now)
{
    struct cache_core *of = cache->core[core];
    uint32_t last = address + size - 1;
    if ((last ^ address) & cache->line_mask) {
        uint64_t end = store_any(cache, of, space, address, false, now);
        return (uint32_t)(store_any(cache, of, space, last, false, end) - now);
    }
    struct cache_view *view = space_view(cache, core, space);
    if (SELDOM(of->tired)) quick_rest(cache, of, now);
    uint32_t stall = cache_store_fast(view, address, now);
    if (stall != CACHE_SLOW) return stall;
    uint64_t end = cache->is_blue_gene ? store_blue_gene(cache, of, space, address, now)
                                       : store_any(cache, of, space, address, false, now);
    return (uint32_t)(end - now);
}

uint32_t cache_fetch(struct cache *cache, unsigned core, unsigned space, uint32_t address,
                     uint64_t now)
{
    struct cache_core *of = cache->core[core];
    uint64_t end = cache->is_blue_gene ? fetch_code(cache, &blue_gene, of, space, address, now)
                                       : fetch_code(cache, &cache->shape, of, space, address, now);
    return (uint32_t)(end - now);
}

static void touch(struct cache *cache, struct cache_core *of, unsigned space, uint32_t address,
                  uint64_t now)
{
    const struct shape *shape = &cache->shape;
    struct l1 *l1 = &of->data;
    uint8_t *lines = space_lines(cache, of->number, space),
            *at = bytes_of(lines, address, shape->l1d_shift);
    if (!(*space_page(shape, lines, address) & CACHE_PAGE)) return;
    uint32_t line = (uint32_t)(space_translate(cache, space, address).address >> shape->l1d_shift);
    int way;
    if (is_in(l1, &shape->l1d, line, &way))
        tags_use(&l1->tags, &shape->l1d, way);
    else {
        (void)end_fills(of, now);
        if (of->fills == cache->config.fills) return;
        of->counts.touch_fill++;
        (void)fill_data(cache, shape, of, line, at, now, &way);
        quick_tire(of);
    }
    if (shape->kinds) (void)kinds_use(of->kinds, line, true);
}

/* Other cores too, where L1D are coherent. */
static void manage_data(struct cache *cache, enum cache_op op, struct cache_core *of, uint32_t line,
                        uint64_t now)
{
    close_one(cache, of, line);
    for (unsigned i = 0; i < cache->config.cores; i++) {
        struct cache_core *one = cache->core[i];
        int way;
        if ((one != of && !cache->config.coherent) ||
            !is_in(&one->data, &cache->shape.l1d, line, &way))
            continue;
        if (op == CACHE_CLEAN)
            clean(cache, one, way, now);
        else
            l1_drop(cache, one, way, op == CACHE_FLUSH, now);
    }
}

static void manage_code(struct cache *cache, const struct cache_core *of, uint32_t line)
{
    for (unsigned i = 0; i < cache->config.cores; i++) {
        struct cache_core *one = cache->core[i];
        int way;
        if (one != of && !cache->config.coherent) continue;
        if (is_in(&one->code, &cache->shape.l1i, line, &way)) drop_code(cache, one, way);
    }
}

uint32_t cache_manage(struct cache *cache, enum cache_op op, unsigned core, unsigned space,
                      uint32_t address, uint64_t now)
{
    const struct shape *shape = &cache->shape;
    struct cache_core *of = cache->core[core];
    uint64_t end = now;
    if (op == CACHE_ZERO) return (uint32_t)(store_any(cache, of, space, address, true, now) - now);
    if (op == CACHE_TOUCH) {
        touch(cache, of, space, address, now);
        return 0;
    }
    uint8_t *lines = space_lines(cache, core, space);
    uint64_t physical =
        translate(cache, shape, of, space, address, lines, &of->counts.dtlb_miss, &end).address;
    if (op != CACHE_INVALIDATE_CODE)
        manage_data(cache, op, of, (uint32_t)(physical >> shape->l1d_shift), end);
    else
        manage_code(cache, of, (uint32_t)(physical >> shape->l1i_shift));
    return (uint32_t)(end - now);
}

uint32_t cache_sync(struct cache *cache, unsigned core, uint64_t now)
{
    struct cache_core *of = cache->core[core];
    uint64_t end = now;
    for (uint32_t i = 0; i < cache->config.stores; i++)
        if (of->queue[i].end > end) end = of->queue[i].end;
    l1_close(cache, of);
    count_stall(&of->counts.stall_store, now, end);
    return (uint32_t)(end - now);
}

uint32_t cache_device(struct cache *cache, unsigned core, bool store, uint64_t now)
{
    struct core_counts *counts = &cache->core[core]->counts;
    (void)now;
    *(store ? &counts->device_write : &counts->device_read) += 1;
    return store ? 0 : cache->config.device_latency - cache->config.l1_latency;
}
