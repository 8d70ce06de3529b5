/* Misses and stores of the common kind, on a node with Blue Gene's sizes.
 *
 * Common is: the page is in the TLB and alone has its frame, so that the line's byte tells whether L1D has it; nothing
 * else is being filled; the line that goes is clean and known by one byte; and no other core notices. All that is
 * looked at before anything changes; whatever is not so is left to cache_l1.c, which does the same in general. Most
 * calls of most programs end here.
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
        of->ready =
            (cache->quick_loads && loads ? QUICK_LOAD : 0U) | (cache->quick_stores && stores ? QUICK_STORE : 0U);
    }
}

/* The line of L1D with these bytes, of a page that is quick. */
INLINE uint32_t line_of(uint32_t page, uint32_t granule)
{
    return (page & ~(FRAME_LINES - 1U)) | (granule & (FRAME_LINES - 1U));
}

/* --- Loads ---------------------------------------------------------------------------------------------------- */

/* A load goes on, not just to a line that was used in L2 or is in L3. */
APART static uint32_t load_on(struct cache *cache, struct cache_core *of, uint32_t l2_line, uint64_t now)
{
    uint64_t end = l2_read(cache, &blue_gene, of, l2_line, true, now);
    count_calm(of, now, end);
    return (uint32_t)(end - now) | cache->heard;
}

/* Some directory or port of L3 is busy: whether those of a load are. */
INLINE bool is_busy(const struct cache *cache, const struct cache_core *of, uint32_t line, uint64_t now)
{
    return now <= cache->directory[line % LANES].until ||
           now + cache->l3_latency - of->returned[2 * (line % LANE_BANKS)] < cache->config.l3_transfer;
}

/* Something else was still under way from L3, so not all of this load's time is more time with something under way. */
INLINE void cover_far(struct cache_core *of, uint64_t now, uint64_t end)
{
    uint64_t until = of->l2.pending_until < end ? of->l2.pending_until : end;
    of->counts.l3_pending -= until - now; /* counts_of adds all of it */
    if (of->l2.pending_until > end) end = of->l2.pending_until;
    of->l2.pending_until = end;
}

/* Whether a load finds its line in L3 (with `way`, of cache->l3_line - 1), and everybody free. */
INLINE bool far_is_quick(const struct cache *cache, const struct cache_core *of, uint32_t line, uint32_t way,
                         uint64_t now)
{
    uint64_t ready;
    return !(way & L3_AHEAD || in_flight(cache, way & L3_WAY, now, &ready) ||
             (now <= cache->busy_until && is_busy(cache, of, line, now)));
}

/* It does, and the line goes to L2. */
INLINE uint32_t take_far(struct cache *cache, struct cache_core *of, uint32_t line, uint32_t way, uint64_t now)
{
    uint64_t end = now + cache->l3_latency;
    l3_take(cache, of, line, way, now);
    if (SELDOM(of->l2.pending_until > now))
        cover_far(of, now, end);
    else
        of->l2.pending_until = end;
    l2_put(cache, &of->l2, line, end, L2_USED);
    of->counts.far[line % LANES]++;
    of->fills_until = end;
    of->served = CACHE_IN_L3;
    return cache->far_stall;
}

/* A load of a line that is not in L2 and no stream's next. */
APART static uint32_t load_far(struct cache *cache, struct cache_core *of, const struct l2_known *known, uint32_t line,
                               uint64_t now)
{
    struct l2 *l2 = &of->l2;
    uint32_t way = cache->l3_line[line] - 1;
    bool reached = l2->stream[known->stream] == line; /* by a stream */
    if (SELDOM(!far_is_quick(cache, of, line, way, now) || (!reached && l2->expected[known->expected] == line)))
        return load_on(cache, of, line, now);
    if (!SELDOM(reached)) l2_expect(cache, l2, line);
    return take_far(cache, of, line, way, now);
}

/* A stream that has reached a line asks for those ahead: quick if only the last is missing in L2, and is in L3. */
INLINE void advance(struct cache *cache, struct cache_core *of, struct l2_known *known, uint32_t line, uint64_t now)
{
    struct l2 *l2 = &of->l2;
    uint32_t depth = cache->config.l2_depth, ahead = line + depth;
    bool last = !((line ^ ahead) & ~(FRAME_L2_LINES - 1U)) && !l2_find(l2, ahead);
    for (uint32_t i = 1; i < depth && last; i++)
        last = l2_find(l2, line + i);
    uint32_t way = last ? cache->l3_line[ahead] - 1 : NO_LINE;
    uint64_t end = now + cache->l3_latency;
    if (SELDOM(way > L3_ALL || now < cache->fetching_until ||
               (now <= cache->busy_until && is_busy(cache, of, ahead, now)))) {
        l2_advance(cache, of, line, known[-1].stream, now);
        return;
    }
    l2->stream[known[-1].stream] = line;
    known->stream = known[-1].stream;
    of->counts.page_present += depth - 1;
    l3_take(cache, of, ahead, way, now);
    of->counts.ahead[ahead % LANES]++;
    of->counts.prefetch.cycles += cover(&l2->prefetch_until, now, end);
    of->counts.l3_pending += cover(&l2->pending_until, now, end);
    l2_put(cache, l2, ahead, end, L2_PREFETCHED);
}

/* A load of the next line of a stream, which takes notice. */
APART static uint32_t load_stream(struct cache *cache, struct cache_core *of, struct l2_known *known, uint32_t line,
                                  uint64_t now)
{
    struct l2_entry *entry = &of->l2.entry[known->entry];
    uint32_t way = cache->l3_line[line] - 1, stall;
    if (entry->line == line) {
        if (SELDOM(entry->ready > now + cache->l2_latency)) return load_on(cache, of, line, now);
        of->counts.near++;
        of->counts.stream_hit += entry->state & L2_PREFETCHED;
        if (!(entry->state & L2_USED)) l2_use(cache, of, entry, line, true);
        of->fills_until = now + cache->l2_latency;
        of->served = CACHE_IN_L2;
        stall = cache->near_stall;
    } else {
        if (SELDOM(!far_is_quick(cache, of, line, way, now))) return load_on(cache, of, line, now);
        stall = take_far(cache, of, line, way, now);
    }
    advance(cache, of, known, line, now);
    return stall;
}

/* Whether stores of other cores join a line that L2 may get by a load of this one: the load's or one ahead. */
APART static bool others_join(const struct cache *cache, const struct cache_core *of, uint32_t l2_line)
{
    uint32_t last = l2_line + cache->config.l2_depth, frame = l2_line | (FRAME_L2_LINES - 1);
    for (uint32_t others = cache->joining & of->others; others; others &= others - 1) {
        const struct l2_known *known = cache->core[__builtin_ctz(others)]->l2.known;
        for (uint32_t line = l2_line; line <= last && line <= frame; line++)
            if (known[line].lines) return true;
    }
    return false;
}

uint32_t cache_load_quick(struct cache_view *view, uint32_t address, uint64_t now)
{
    struct cache_core *of = view->of;
    uint32_t page = view->pages[address >> FRAME_BITS], granule = address >> CACHE_GRANULE_BITS;
    uint8_t *at = view->lines + granule;
    if (!(page & of->ready & QUICK_LOAD)) return CACHE_ELSE;
    if (SELDOM(*at & CACHE_HERE)) { /* the page has been out of the TLB */
        *at |= CACHE_LOAD;
        return 0;
    }
    if (of->fills_until > now) return CACHE_ELSE;
    struct l1 *l1 = &of->data;
    struct stream_set *active = &of->snoop.active;
    uint32_t line = line_of(page, granule), set = line & l1->tags.set_mask;
    struct turn *turn = &l1->tags.turn[set];
    uint32_t next = turn->next, way = set * blue_gene.l1d.stride + next;
    uint8_t *old_at = l1->at[way];
    uint32_t l2_line = line >> (blue_gene.l2_shift - blue_gene.l1d_shift);
    struct cache *cache = view->cache;
    if (!old_at || active->log_end == active->log_full) return CACHE_ELSE;
    if (SELDOM(!cache->config.write_through) && l1->dirty[way]) return CACHE_ELSE;
    if (SELDOM(cache->joining & of->others) && others_join(cache, of, l2_line)) return CACHE_ELSE;
    if (SELDOM(next == turn->last)) { /* as in snoop_filled */
        if (of->snoop.sets_full == l1->tags.set_mask) return CACHE_ELSE;
        of->snoop.sets_full++;
        turn->last = NO_WAY;
    }
    turn->next = (uint16_t)((next + 1) % blue_gene.l1d.count);
    *active->log_end++ = line;
    l1->tags.line[way] = line;
    l1->at[way] = at;
    *old_at &= cache->without_line;
    *at |= CACHE_LOAD | CACHE_HERE;
    struct l2 *l2 = &of->l2;
    struct l2_known *known = &l2->known[l2_line];
    const struct l2_entry *entry = &l2->entry[known->entry];
    if (SELDOM(l2_is_news(l2, known, l2_line))) return load_stream(cache, of, known, l2_line, now);
    if (entry->line != l2_line) return load_far(cache, of, known, l2_line, now);
    if (SELDOM(!(entry->state & L2_USED) || entry->ready > now + cache->l2_latency))
        return load_on(cache, of, l2_line, now);
    of->counts.near++;
    of->counts.stream_hit += entry->state & L2_PREFETCHED;
    of->fills_until = now + cache->l2_latency;
    of->served = CACHE_IN_L2;
    return cache->near_stall;
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
    uint64_t end = of->store_end[of->next_store], stall = end > now ? end - now : 0;
    if (!of->alike || stall >= ALIKE_STALLS) return false;
    alike_add(of->alike, CACHE_STORE_MISS, CACHE_NOWHERE, stall);
    return true;
}

/* `heard`: somebody is to be told of misses. */
INLINE uint32_t store_quick(struct cache_view *view, uint32_t address, uint64_t now, bool heard)
{
    struct cache_core *of = view->of;
    uint32_t page = view->pages[address >> FRAME_BITS], granule = address >> CACHE_GRANULE_BITS;
    struct open_line *open = &of->open[of->next_open];
    uint8_t *at = view->lines + granule, *old_at = open->at;
    uint32_t line = line_of(page, granule), logged = of->snoop.shown_logged;
    if (!(page & of->ready & QUICK_STORE) || !old_at || logged == SNOOPS_LOG - 1) return CACHE_ELSE;
    struct cache *cache = view->cache;
    struct l2_known *known = known_of(of, line);
    uint8_t here = *at & CACHE_HERE, bit = open_bit(line);
    if (known->lines & bit || (heard && !here && !count_store(of, now))) return CACHE_ELSE;
    of->counts.store_miss += !here;
    of->snoop.shown_log[logged] = line;
    of->snoop.shown_logged = logged + 1;
    *old_at &= (uint8_t)~CACHE_STORE;
    *at |= CACHE_STORE | (here ? CACHE_LOAD : 0);
    known_of(of, open->line)->lines &= (uint8_t)~open_bit(open->line);
    known->lines |= bit;
    *open = (struct open_line){line, at};
    of->next_open = of->next_open + 1 == cache->config.store_lines ? 0 : of->next_open + 1;
    uint32_t l2_line = line >> (blue_gene.l2_shift - blue_gene.l1d_shift);
    of->counts.snoop_hit_same += of->l2.entry[known->entry].line == l2_line;
    uint64_t start = take_store_entry(cache, of, now);
    count_stall(&of->counts.stall_store, now, start);
    return l3_write_common(cache, of, l2_line, start, (uint32_t)(start - now));
}

APART static uint32_t store_heard(struct cache_view *view, uint32_t address, uint64_t now)
{
    return store_quick(view, address, now, true);
}

uint32_t cache_store_quick(struct cache_view *view, uint32_t address, uint64_t now)
{
    if (SELDOM(view->cache->heard)) return store_heard(view, address, now);
    return store_quick(view, address, now, false);
}
