/* Misses and stores of the common kind, on a node with Blue Gene's sizes, or nearly so.
 *
 * Common is: the page alone has its frame, so that the line's byte tells whether L1D has it; nothing else is being
 * filled; the line that goes is clean and known by one byte; and no other core notices. All that is looked at before
 * anything changes; whatever is not so is left to cache_l1.c, which does the same in general. Most calls of most
 * programs end here.
 *
 * Calls are cut in parts, for L1, L2 and L3, each of which jumps to the next: whole, they would need more of the host's
 * registers than a function may use without saving them. Hence the order of parameters, too.
 */
#include "cache/cache_keep.h"

#include "cache/cache_quick.h"

void quick_change(struct cache *cache)
{
    for (unsigned i = 0; i < cache->config.cores; i++) {
        struct cache_core *of = cache->core[i];
        bool loads = !(cache->idle & of->bit);
        /* No other core has filled a line, or has one in L2, or a store that others join. */
        bool stores = !(of->others & (~cache->idle | cache->l2_users | cache->joining));
        bool care = !cache->config.write_through || cache->joining & of->others;
        of->ready = (cache->quick_loads && loads ? QUICK_CARE | (care ? 0U : QUICK_LOAD) : 0U) |
                    (cache->quick_stores && stores ? QUICK_HEARD | (cache->heard ? 0U : QUICK_STORE) : 0U);
    }
}

/* The line of L1D with these bytes, of a page that is quick. */
INLINE uint32_t line_of(uint32_t page, uint32_t granule)
{
    return granule + (page & ~(FRAME_LINES - 1U));
}

/* --- Loads ---------------------------------------------------------------------------------------------------- */

/* A load goes on, not just to a line that was used in L2 or is in L3. */
APART static uint32_t load_on(struct cache *cache, struct cache_core *of, uint64_t now, uint32_t l2_line)
{
    uint64_t end = l2_read(cache, &blue_gene, of, l2_line, true, now);
    count_calm(of, now, end);
    of->l2.known[l2_line].put &= ~(uint32_t)L2_LATE; /* the core waits for it */
    return (uint32_t)(end - now) | cache->heard;
}

/* A load takes a line from L2 by `end`, which has it with `put`. */
INLINE uint32_t take_near(const struct cache *cache, struct cache_core *of, uint32_t put, uint64_t end)
{
    of->counts.near++;
    of->counts.stream_hit += put & L2_PREFETCHED;
    of->fills_until = end;
    of->served = CACHE_IN_L2;
    return cache->near_stall;
}

/* Whether those units of L3 that a load needs are busy. */
INLINE bool is_busy(const struct cache *cache, const struct cache_core *of, uint32_t line, uint64_t now)
{
    return now <= cache->directory[line % LANES].until ||
           now + cache->l3_latency - of->returned[line % LANE_BANKS] < cache->config.l3_transfer;
}

/* Whether L3 reads nothing, and a line's directory has nothing to do. */
INLINE bool is_free(const struct cache *cache, uint32_t line, uint64_t now)
{
    return now > cache->busy_until && now > cache->directory[line % LANES].until;
}

/* A load takes a line from L3 into L2. */
INLINE uint32_t take_far(struct cache *cache, struct cache_core *of, struct l2_known *known, uint32_t line,
                         uint32_t there, uint64_t now)
{
    uint64_t end = now + cache->l3_latency;
    of->counts.far[line % LANES]++;
    l3_take(cache, of, line, there, now);
    of->fills_until = end;
    of->served = CACHE_IN_L3;
    l2_put(&of->l2, known, L2_USED);
    return cache->far_stall;
}

/* The same while L3 is busy, perhaps with what is in nobody's way; false: it is not. */
APART static bool take_busy(struct cache *cache, struct cache_core *of, struct l2_known *known, uint32_t line,
                            uint64_t now)
{
    uint64_t ready, end = now + cache->l3_latency, *pending = &of->l2.pending_until;
    uint32_t there = cache->l3_line[line];
    if (in_flight(cache, there, now, &ready) || is_busy(cache, of, line, now)) return false;
    l3_note_busy(cache, now + cache->far_busy);
    /* Not all of this load's time is more time with something under way; counts_of adds all of it. */
    if (*pending > now) of->counts.l3_pending -= (*pending < end ? *pending : end) - now;
    if (*pending < end) *pending = end;
    (void)take_far(cache, of, known, line, there, now);
    return true;
}

/* While it is not. */
INLINE uint32_t take_free(struct cache *cache, struct cache_core *of, struct l2_known *known, uint32_t line,
                          uint32_t there, uint64_t now)
{
    cache->busy_until = now + cache->far_busy;
    of->l2.pending_until = now + cache->l3_latency;
    return take_far(cache, of, known, line, there, now);
}

/* A load of a line that is not in L2, while L3 is busy; or that L2 has lost since a stream reached it. */
APART static uint32_t load_busy(struct cache *cache, struct cache_core *of, uint64_t now, uint32_t line,
                                struct l2_known *known)
{
    if (!(cache->l3_line[line] & L3_ASKED) || !take_busy(cache, of, known, line, now))
        return load_on(cache, of, now, line);
    if (!l2_reached(known)) l2_expect(&of->l2, known);
    return cache->far_stall;
}

/* A load of a line that is not in L2, and that no stream has reached or is about to. */
APART static uint32_t load_far(struct cache *cache, struct cache_core *of, uint64_t now, uint32_t line,
                               struct l2_known *known)
{
    uint32_t there = cache->l3_line[line];
    if (SELDOM(!(there & L3_ASKED) || known->next >= of->l2.expects)) return load_on(cache, of, now, line);
    if (SELDOM(!is_free(cache, line, now))) return load_busy(cache, of, now, line, known);
    uint32_t stall = take_free(cache, of, known, line, there, now);
    l2_expect(&of->l2, known);
    return stall;
}

/* A stream asks for a line, if it is in L3 and everybody is free; else the long way is taken. */
INLINE void ask_ahead(struct cache *cache, struct cache_core *of, uint64_t now, uint32_t line, struct l2_known *known)
{
    struct l2 *l2 = &of->l2;
    uint32_t there = cache->l3_line[line];
    if (SELDOM(!there || now < cache->fetching_until || is_busy(cache, of, line, now))) {
        l2_prefetch(cache, of, line, now);
        return;
    }
    uint64_t end = now + cache->l3_latency;
    l3_note_busy(cache, now + cache->far_busy);
    l3_take(cache, of, line, there, now);
    of->counts.ahead[line % LANES]++;
    of->counts.prefetch.cycles += cover(&l2->prefetch_until, now, end);
    of->counts.l3_pending += cover(&l2->pending_until, now, end);
    l2_put_late(l2, known, end, L2_PREFETCHED);
}

/* A stream that has reached a line asks for those ahead, as l2_advance does. Returns `stall`. */
APART static uint32_t load_ahead(struct cache *cache, struct cache_core *of, uint64_t now, uint32_t line,
                                 struct l2_known *known, uint32_t stall)
{
    uint32_t last = line + cache->config.l2_depth, frame = line | (FRAME_L2_LINES - 1);
    l2_reach(&of->l2, line, l2_stream(known));
    while (++line <= last && line <= frame) {
        if (l2_has(&of->l2, ++known))
            of->counts.page_present++;
        else
            ask_ahead(cache, of, now, line, known);
    }
    return stall;
}

/* A load of the next line of a stream, which takes notice. */
APART static uint32_t load_stream(struct cache *cache, struct cache_core *of, uint64_t now, uint32_t line,
                                  struct l2_known *known)
{
    uint32_t put = known->put;
    if (put >= of->l2.oldest) {
        uint64_t end = now + cache->l2_latency;
        if (put & L2_LATE) {
            if (SELDOM(*l2_ready(&of->l2, put) > end)) return load_on(cache, of, now, line);
            known->put = put & ~(uint32_t)L2_LATE;
        }
        if (!(put & L2_USED)) l2_use(cache, of, known, line, true);
        return load_ahead(cache, of, now, line, known, take_near(cache, of, put, end));
    }
    uint32_t there = cache->l3_line[line];
    if (SELDOM(!(there & L3_ASKED))) return load_on(cache, of, now, line);
    if (is_free(cache, line, now))
        (void)take_free(cache, of, known, line, there, now);
    else if (!take_busy(cache, of, known, line, now))
        return load_on(cache, of, now, line);
    return load_ahead(cache, of, now, line, known, cache->far_stall);
}

/* Whether stores of other cores join a line that L2 may get by a load of this one: the load's or one ahead. As the page
 * alone has its frame, they came by the same address. */
APART static bool others_join(const struct cache_view *view, uint32_t granule)
{
    typedef uint32_t four __attribute__((may_alias));
    const struct cache *cache = view->cache;
    for (uint32_t others = cache->joining & view->of->others; others; others &= others - 1) {
        const struct cache_view *other = cache->spaces[view->space].view[__builtin_ctz(others)];
        const four *lines = other ? (const four *)(other->lines + (granule & ~3U)) : NULL;
        for (uint32_t i = 0; lines && i <= cache->config.l2_depth; i++)
            if (lines[i] & CACHE_OPEN * 0x01010101U) return true;
    }
    return false;
}

/* A load that L1D has made room for. */
APART static uint32_t load_behind(struct cache *cache, struct cache_core *of, uint64_t now, uint32_t line)
{
    struct l2 *l2 = &of->l2;
    struct l2_known *known = &l2->known[line];
    uint32_t put = known->put;
    if (!l2_reached(known)) {
        if (SELDOM(l2_stream(known))) return load_stream(cache, of, now, line, known);
        if (put < l2->oldest) return load_far(cache, of, now, line, known);
    } else if (SELDOM(put < l2->oldest))
        return load_busy(cache, of, now, line, known);
    if (SELDOM((put & (L2_USED | L2_LATE)) != L2_USED)) return load_on(cache, of, now, line);
    return take_near(cache, of, put, now + cache->l2_latency);
}

/* The host begins to fetch what a miss of the line will want to know: where the TLB misses, that is far away. */
static void fetch_early(const struct cache *cache, const struct cache_core *of, uint32_t line)
{
    uint32_t l2_line = line >> (blue_gene.l2_shift - blue_gene.l1d_shift); /* L3's lines are as long */
    const struct bank *bank = cache->bank[l2_line & cache->bank_mask];
    uint32_t set = l2_line >> cache->bank_shift & bank->tags.set_mask;
    FETCH_EARLY(&of->l2.known[l2_line]);
    FETCH_EARLY(&cache->l3_line[l2_line]);
    FETCH_EARLY(bank->tags.line + (size_t)set * blue_gene.l3.stride);
    FETCH_EARLY(cache->order + bank->first / ORDERED + set + 1);
}

/* An access to a page that is out of the TLB brings it in. */
static void fill_tlb(struct cache_view *view, uint32_t address)
{
    struct cache *cache = view->cache;
    struct cache_core *of = view->of;
    uint32_t page = address >> FRAME_BITS;
    struct tlb_entry *entry = take_tlb_entry(cache, of);
    fetch_early(cache, of, line_of(view->pages[page], address >> CACHE_GRANULE_BITS));
    if (entry->space != UINT32_MAX) page_leave(cache->spaces[entry->space].view[of->number], entry->page);
    *entry = (struct tlb_entry){view->space, page};
    page_enter(view, page);
    of->counts.dtlb_miss++;
}

APART static uint32_t load_else(struct cache_view *view, uint32_t address, uint64_t now);

/* How a load is quick: as most are; with a look at what is seldom so; likewise, and the TLB misses. */
enum how { PLAIN, CAREFUL, TLB_MISSES };

INLINE uint32_t load_quick(struct cache_view *view, uint32_t address, uint64_t now, enum how how)
{
    struct cache_core *of = view->of;
    uint32_t page = view->pages[address >> FRAME_BITS], granule = address >> CACHE_GRANULE_BITS;
    uint32_t tlb_stall = how == TLB_MISSES ? view->cache->config.tlb_miss : 0;
    uint8_t *at = view->lines + granule;
    if (how == PLAIN && !(page & of->ready & QUICK_LOAD)) return load_else(view, address, now);
    if (SELDOM(*at & CACHE_HERE)) { /* the page is, or has been, out of the TLB */
        if (how == TLB_MISSES) fill_tlb(view, address);
        *at |= CACHE_LOAD;
        return tlb_stall;
    }
    now += tlb_stall;
    if (of->fills_until > now) return CACHE_ELSE;
    size_t set = granule & of->data.tags.set_mask; /* which the page has no part in */
    uint32_t line = line_of(page, granule);
    __asm__("" : "+r"(line)); /* now: page and granule need no registers any longer */
    struct turn *turn = &of->near.turn[set];
    uint32_t next = turn->next;
    if (how == PLAIN && SELDOM(next == turn->last)) return load_else(view, address, now);
    uint32_t *log = of->snoop.active.log_end;
    if (log == of->snoop.active.log_full) return CACHE_ELSE;
    size_t way = (size_t)turn->first + next;
    uint8_t *old_at = of->near.at[way];
    if (!old_at) return CACHE_ELSE;
    if (how != PLAIN) {
        if ((!of->cache->config.write_through && of->data.dirty[way]) || others_join(view, granule)) return CACHE_ELSE;
        if (next == turn->last) { /* as in snoop_filled */
            if (of->snoop.sets_full == of->data.tags.set_mask) return CACHE_ELSE;
            of->snoop.sets_full++;
            turn->last = NO_WAY;
        }
        if (how == TLB_MISSES) fill_tlb(view, address);
    }
    of->near.at[way] = at;
    of->near.line[way] = line;
    *log = line;
    of->snoop.active.log_end = log + 1;
    turn->next = (next + 1) & turn->mask;
    *old_at &= how == PLAIN ? (uint8_t) ~(CACHE_HERE | CACHE_LOAD) : of->cache->without_line;
    *at |= CACHE_LOAD | CACHE_HERE;
    uint32_t l2_line = line >> (blue_gene.l2_shift - blue_gene.l1d_shift);
    if (how != TLB_MISSES) return load_behind(of->cache, of, now, l2_line);
    return load_behind(of->cache, of, now, l2_line) + tlb_stall;
}

APART static uint32_t load_else(struct cache_view *view, uint32_t address, uint64_t now)
{
    uint32_t page = view->pages[address >> FRAME_BITS], ready = view->of->ready;
    if (page & ready & QUICK_CARE) return load_quick(view, address, now, CAREFUL);
    if (page & OUT_LOAD && ready & QUICK_CARE && !view->cache->heard) return load_quick(view, address, now, TLB_MISSES);
    return CACHE_ELSE;
}

uint32_t cache_load_quick(struct cache_view *view, uint32_t address, uint64_t now)
{
    return load_quick(view, address, now, PLAIN);
}

uint32_t cache_count_load(struct cache_view *view, uint32_t stall)
{
    const struct cache_core *of = view->of;
    uint32_t cycles = stall & ~CACHE_HEARD;
    if (!of->alike || cycles >= ALIKE_STALLS) return stall;
    alike_add(of->alike, CACHE_LOAD_MISS, of->served, cycles);
    return cycles;
}

/* --- Stores --------------------------------------------------------------------------------------------------- */

/* Somebody has to be told of a store miss that is about to be: whether a count will do. */
APART static bool count_store(const struct cache_core *of, uint64_t now)
{
    uint64_t end = of->next_store->end, stall = end > now ? end - now : 0;
    if (!of->alike || stall >= ALIKE_STALLS) return false;
    alike_add(of->alike, CACHE_STORE_MISS, CACHE_NOWHERE, stall);
    return true;
}

/* A store goes to a line that is in L3. */
INLINE uint32_t store_there(struct cache *cache, struct cache_core *of, uint64_t now, uint32_t line, uint32_t there,
                            uint32_t stall)
{
    of->deposited[line % LANE_BANKS] = line;
    cache->l3_line[line] = there | L3_DIRTY;
    order_use(cache, there);
    of->counts.stored[line % LANES]++;
    struct unit *directory = &cache->directory[line % LANES];
    uint64_t until = directory->until;
    if (now <= until && now >= directory->from) {
        count_wait(&of->counts.l3_write_wait[line % LANE_BANKS], now, until);
    } else {
        directory->from = now;
        until = now;
    }
    directory->until = until + cache->config.l3_busy;
    return stall;
}

/* The line is not there, or some line is on its way. */
APART static uint32_t store_fetching(struct cache *cache, struct cache_core *of, uint64_t now, uint32_t line,
                                     uint32_t stall)
{
    const struct unit *directory = &cache->directory[line % LANES];
    uint32_t there = cache->l3_line[line];
    bool waits = now <= directory->until && now >= directory->from;
    uint64_t ready;
    if (!there || in_flight(cache, there, waits ? directory->until : now, &ready))
        return l3_write_else(cache, of, line, now, stall);
    return store_there(cache, of, now, line, there, stall);
}

/* A store that has a place in the queue goes on to L3. */
APART static uint32_t store_behind(struct cache *cache, struct cache_core *of, uint64_t now, uint32_t line,
                                   uint32_t stall)
{
    if (of->deposited[line % LANE_BANKS] == line) {
        of->counts.merged[line % LANE_BANKS]++;
        return stall;
    }
    uint32_t there = cache->l3_line[line];
    if (SELDOM(!there || now < cache->fetching_until)) return store_fetching(cache, of, now, line, stall);
    return store_there(cache, of, now, line, there, stall);
}

APART static uint32_t store_else(struct cache_view *view, uint32_t address, uint64_t now);

/* CAREFUL: somebody is to be told of misses. */
INLINE uint32_t store_quick(struct cache_view *view, uint32_t address, uint64_t now, enum how how)
{
    struct cache_core *of = view->of;
    uint32_t page = view->pages[address >> FRAME_BITS], granule = address >> CACHE_GRANULE_BITS;
    uint32_t tlb_stall = how == TLB_MISSES ? view->cache->config.tlb_miss : 0;
    uint8_t *at = view->lines + granule, byte = *at, here = byte & CACHE_HERE;
    if (how == PLAIN && !(page & of->ready & QUICK_STORE)) return store_else(view, address, now);
    uint64_t logged = of->snoop.shown_logged;
    if (byte & CACHE_OPEN || !of->next_open->at || logged == SNOOPS_LOG - 1) return CACHE_ELSE;
    if (how == CAREFUL && !here && !count_store(of, now)) return CACHE_ELSE;
    if (how == TLB_MISSES) {
        fill_tlb(view, address);
        byte = *at; /* a page's first has CACHE_PAGE now */
        now += tlb_stall;
    }
    uint32_t line = line_of(page, granule), l2_line = line >> (blue_gene.l2_shift - blue_gene.l1d_shift);
    of->snoop.shown_log[TAG_STRIDE + logged] = line;
    of->snoop.shown_logged = logged + 1;
    struct open_line *open = take_open(of);
    *open->at &= (uint8_t) ~(CACHE_STORE | CACHE_OPEN);
    open->line = line;
    open->at = at;
    of->counts.store_miss += !here;
    of->counts.snoop_hit_same += l2_has(&of->l2, &of->l2.known[l2_line]);
    uint64_t start = take_store_entry(of->cache, of, now);
    *at = byte | CACHE_STORE | CACHE_OPEN | here / (CACHE_HERE / CACHE_LOAD);
    if (start != now) count_stall(&of->counts.stall_store, now, start);
    return store_behind(of->cache, of, start, l2_line, (uint32_t)(start - now) + tlb_stall);
}

APART static uint32_t store_else(struct cache_view *view, uint32_t address, uint64_t now)
{
    uint32_t page = view->pages[address >> FRAME_BITS], ready = view->of->ready;
    if (page & ready & QUICK_HEARD) return store_quick(view, address, now, CAREFUL);
    if (page & OUT_STORE && ready & QUICK_STORE) return store_quick(view, address, now, TLB_MISSES);
    return CACHE_ELSE;
}

uint32_t cache_store_quick(struct cache_view *view, uint32_t address, uint64_t now)
{
    return store_quick(view, address, now, PLAIN);
}
