/* Misses and stores of the common kind, on a node with Blue Gene's sizes, or nearly so.
 *
 * Common is: the page alone has its frame, so that the line's byte tells whether L1D has it;
 * nothing else is being filled; the line that goes is clean and known by one byte; and for other
 * cores it is no more than a count (cache_fast_others.c). All that is looked at before anything
 * changes; whatever is not so is left to cache_l1.c, which does the same in general. Most calls of
 * most programs end here.
 *
 * They come in two parts. L1D and open lines change at once, here, since the next access asks for
 * them. L2 and L3 hear of a miss when it is settled (cache_drain.c): at once too, or, while the
 * core postpones (cache_defer.c), when many have come together.
 */
#include "machine/cache/cache_no_vectors.h"

#include "machine/cache/cache_l1_access.h"
#include "machine/cache/cache_space_access.h"

/* The line of L1D with these bytes, of a page that is quick. */
INLINE uint32_t line_of(uint32_t page, uint32_t granule)
{
    return granule + (page & ~(FRAME_LINES - 1U));
}

/* L1D has changed for a miss, of which L2 will hear. Returns what is to be waited for now. */
INLINE uint32_t miss_note(struct cache_core *of, uint64_t now, uint32_t what)
{
    if (SELDOM(of->cache->heard)) return settle_heard(of->cache, of, now, what);
    if (of->most_misses == 1) return settle_one(of->cache, of, now, what);
    cache_miss *miss = of->fast.next_miss;
    *miss = now << 32 | what;
    of->fast.next_miss = ++miss;
    return miss == of->fast.full ? settle_all(of->cache, of) : 0;
}

/* --- Loads ----------------------------------------------------------------------------------- */

/* The host begins to fetch what a miss of the line will want to know: where the TLB misses, that is
 * far away. */
static void fetch_early(const struct cache *cache, const struct cache_core *of, uint32_t line)
{
    uint32_t l2_line =
        line >> (blue_gene.l2_shift - blue_gene.l1d_shift); /* L3's lines are as long */
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
    if (entry->space != UINT32_MAX)
        page_leave(cache->spaces[entry->space].view[of->number], entry->page);
    *entry = (struct tlb_entry){view->space, page};
    page_enter(view, page);
    of->counts.dtlb_miss++;
}

APART static uint32_t load_else(struct cache_view *view, uint32_t address, uint64_t now);

/* How an access is quick: as most are; with a look at what is seldom so; likewise, and the TLB
 * misses; a line that is zeroed, which is a store as most are, but never a miss. */
enum how { PLAIN, CAREFUL, TLB_MISSES, ZEROES };

INLINE uint32_t load_quick(struct cache_view *view, uint32_t address, uint64_t now, enum how how)
{
    struct cache_core *of = view->of;
    uint32_t page = view->pages[address >> FRAME_BITS], granule = address >> CACHE_GRANULE_BITS;
    uint32_t tlb_stall = how == TLB_MISSES ? view->cache->config.tlb_miss : 0;
    uint8_t *at = view->lines + granule;
    if (how == PLAIN && !(page & of->fast.ready & FAST_LOAD)) return load_else(view, address, now);
    if (SELDOM(*at & CACHE_HERE)) { /* the page is, or has been, out of the TLB */
        if (how == TLB_MISSES) fill_tlb(view, address);
        *at |= CACHE_LOAD;
        return tlb_stall;
    }
    now += tlb_stall;
    size_t set = granule & of->data.tags.set_mask; /* which the page has no part in */
    uint32_t line = line_of(page, granule);
    __asm__("" : "+r"(line)); /* now: page and granule need no registers any longer */
    struct turn *turn = &of->fast.turn[set];
    uint32_t next = turn->next;
    if (how == PLAIN && SELDOM(next == turn->last)) return load_else(view, address, now);
    size_t way = next;
    uint8_t *old_at = of->fast.at[way];
    if (!old_at) return CACHE_SLOW;
    if (how != PLAIN) {
        if (!of->cache->config.write_through && of->data.dirty[way]) return CACHE_SLOW;
        if (!(page & FAST_LOAD) && others_join(view, address >> FRAME_BITS, line))
            return CACHE_SLOW;
        if (next == turn->last) { /* as in snoop_filled */
            if (of->snoop.sets_full == of->data.tags.set_mask) return CACHE_SLOW;
            of->snoop.sets_full++;
            turn->last = NO_WAY;
        }
        if (how == TLB_MISSES) fill_tlb(view, address);
    }
    of->fast.at[way] = at;
    of->fast.line[way] = line;
    turn->next = of->fast.after[way];
    *old_at &= how == PLAIN ? (uint8_t) ~(CACHE_HERE | CACHE_LOAD) : of->cache->without_line;
    *at |= CACHE_LOAD | CACHE_HERE;
    if (how != TLB_MISSES) return miss_note(of, now, line);
    return miss_note(of, now, line) + tlb_stall;
}

APART static uint32_t load_else(struct cache_view *view, uint32_t address, uint64_t now)
{
    uint32_t page = view->pages[address >> FRAME_BITS], ready = view->of->fast.ready;
    if (page & ready & FAST_LOAD_CHECKED) return load_quick(view, address, now, CAREFUL);
    if (page & EVICTED_LOAD && ready & FAST_LOAD_CHECKED && !view->cache->heard)
        return load_quick(view, address, now, TLB_MISSES);
    return CACHE_SLOW;
}

uint32_t cache_load_fast(struct cache_view *view, uint32_t address, uint64_t now)
{
    return load_quick(view, address, now, PLAIN);
}

uint32_t cache_count_load(struct cache_view *view, uint32_t stall)
{
    const struct cache_core *of = view->of;
    uint32_t cycles = stall & ~CACHE_NOTIFY;
    if (!of->alike || cycles >= ALIKE_STALLS) return stall;
    alike_add(of->alike, CACHE_LOAD_MISS, of->served, cycles);
    return cycles;
}

/* --- Stores ---------------------------------------------------------------------------------- */

/* Somebody has to be told of a store miss that is about to be: whether a count will do. */
APART static bool count_store(const struct cache_core *of, uint64_t now)
{
    uint64_t end = of->next_store->end, stall = end > now ? end - now : 0;
    if (!of->alike || stall >= ALIKE_STALLS) return false;
    alike_add(of->alike, CACHE_STORE_MISS, CACHE_NOWHERE, stall);
    return true;
}

APART static uint32_t store_else(struct cache_view *view, uint32_t address, uint64_t now);

/* CAREFUL: somebody is to be told of misses, or others may notice. */
INLINE uint32_t store_quick(struct cache_view *view, uint32_t address, uint64_t now, enum how how)
{
    struct cache_core *of = view->of;
    uint32_t page = view->pages[address >> FRAME_BITS], granule = address >> CACHE_GRANULE_BITS;
    uint32_t tlb_stall = how == TLB_MISSES ? view->cache->config.tlb_miss : 0;
    uint8_t *at = view->lines + granule, byte = *at, here = byte & CACHE_HERE;
    bool plain = how == PLAIN || how == ZEROES;
    if (plain && !(page & of->fast.ready & FAST_STORE))
        return how == PLAIN ? store_else(view, address, now) : CACHE_SLOW;
    if (byte & CACHE_OPEN || !of->fast.next_open->at) return CACHE_SLOW;
    if (!plain && of->fast.ready & FAST_STORE_SHOWN) {
        if (!others_see(view, granule, line_of(page, granule))) return CACHE_SLOW;
        if (!(page & PAGE_HAS_OPEN_LINE)) quick_open(view, address >> FRAME_BITS);
    } else if (how == CAREFUL && !here && !count_store(of, now))
        return CACHE_SLOW;
    if (how == TLB_MISSES) {
        fill_tlb(view, address);
        byte = *at; /* a page's first has CACHE_PAGE now */
        now += tlb_stall;
    }
    uint32_t line = line_of(page, granule);
    struct open_line *open = take_open(of);
    *open->at &= (uint8_t) ~(CACHE_STORE | CACHE_OPEN);
    open->line = line;
    open->at = at;
    *at = byte | CACHE_STORE | CACHE_OPEN | here / (CACHE_HERE / CACHE_LOAD);
    uint32_t is_here = how == ZEROES ? MISS_HERE : here * (uint32_t)(MISS_HERE / CACHE_HERE);
    return miss_note(of, now, MISS_STORE | line | is_here) + tlb_stall;
}

APART static uint32_t store_else(struct cache_view *view, uint32_t address, uint64_t now)
{
    uint32_t page = view->pages[address >> FRAME_BITS], ready = view->of->fast.ready;
    if (page & ready & FAST_STORE_LISTENED || (page & FAST_STORE && ready & FAST_STORE_SHOWN))
        return store_quick(view, address, now, CAREFUL);
    if (page & EVICTED_STORE && ready & (FAST_STORE | FAST_STORE_SHOWN))
        return store_quick(view, address, now, TLB_MISSES);
    return CACHE_SLOW;
}

uint32_t cache_store_fast(struct cache_view *view, uint32_t address, uint64_t now)
{
    return store_quick(view, address, now, PLAIN);
}

uint32_t cache_zero_fast(struct cache_view *view, uint32_t address, uint64_t now)
{
    return store_quick(view, address, now, ZEROES);
}
