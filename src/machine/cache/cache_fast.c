/* The fast path of misses: loads, stores and dcbz of translated code and interpreter, for Blue
 * Gene's sizes (cache.c: fast_geometry, fast_loads, fast_stores).
 *
 * It handles a miss when its page is the only mapping of its frame (the line byte then says
 * whether L1D has the line), no other fill is in flight, the victim is clean and known by one line
 * byte, and other cores need no more than a count (cache_fast_others.c). All conditions are tested
 * before any state changes; otherwise it returns CACHE_SLOW and cache_l1.c does the same in
 * general.
 *
 * L1D and open lines change here at once, since the next access probes them. L2 and L3 follow in
 * the drain (cache_drain.c): at once, or, while the core defers (cache_defer.c), many misses
 * together. docs/fast-path.md has the contract as a table. */
#include "machine/cache/cache_no_vectors.h"

#include "machine/cache/cache_l1_access.h"
#include "machine/cache/cache_space_access.h"

/* The L1D line of a granule in a page with fast path. */
INLINE uint32_t line_of(uint32_t page, uint32_t granule)
{
    return granule + (page & ~(FRAME_LINES - 1U));
}

/* Records a miss whose L1D part is done. Returns the stall known now. */
INLINE uint32_t miss_note(struct cache_core *core, uint64_t now, uint32_t what)
{
    if (UNLIKELY(core->cache->has_listener))
        return drain_one_notified(core->cache, core, now, what);
    if (core->most_deferred == 1) return drain_one(core->cache, core, now, what);
    cache_miss *miss = core->fast.next_miss;
    *miss = now << 32 | what;
    core->fast.next_miss = ++miss;
    return miss == core->fast.full ? drain_all(core->cache, core) : 0;
}

/* --- Loads ----------------------------------------------------------------------------------- */

/* Prefetches the host memory that a drain of this line will read. After a TLB miss it is rarely
 * cached. */
static void fetch_early(const struct cache *cache, const struct cache_core *core, uint32_t line)
{
    uint32_t l2_line =
        line >> (blue_gene.l2_shift - blue_gene.l1d_shift); /* L3's lines are as long */
    const struct bank *bank = cache->bank[l2_line & cache->bank_mask];
    uint32_t set = l2_line >> cache->bank_shift & bank->tags.set_mask;
    PREFETCH_HOST(&core->l2.entry[l2_line]);
    PREFETCH_HOST(&cache->l3_line[l2_line]);
    PREFETCH_HOST(bank->tags.line + (size_t)set * blue_gene.l3.stride);
    PREFETCH_HOST(cache->lru + bank->first / LRU_WAYS + set + 1);
}

/* An access to a page that is out of the TLB brings it in. */
static void fill_tlb(struct cache_view *view, uint32_t address)
{
    struct cache *cache = view->cache;
    struct cache_core *core = view->core;
    uint32_t page = address >> FRAME_BITS;
    struct tlb_entry *entry = take_tlb_entry(cache, core);
    fetch_early(cache, core, line_of(view->pages[page], address >> CACHE_GRANULE_BITS));
    if (entry->space != UINT32_MAX)
        page_leave(cache->spaces[entry->space].view[core->number], entry->page);
    *entry = (struct tlb_entry){view->space, page};
    page_enter(view, page);
    core->counts.dtlb_miss++;
}

/* A load that misses in the TLB only: the one access that counts something and is not in the list.
 */
static uint32_t tlb_only(struct cache_core *core, uint32_t stall)
{
    if (core->accesses_left <= CACHE_MISSES && core->fast.next_miss != core->misses)
        stall += drain_all(core->cache, core);
    return stall | count_access_unlisted(core, 1);
}

NOINLINE static uint32_t load_fast_checked(struct cache_view *view, uint32_t address, uint64_t now);

/* Variants: PLAIN for most; CAREFUL tests rare conditions; TLB_MISSES, likewise after a TLB miss;
 * ZEROES is dcbz, a store that is never a miss. */
enum how { PLAIN, CAREFUL, TLB_MISSES, ZEROES };

INLINE uint32_t load_fast(struct cache_view *view, uint32_t address, uint64_t now, enum how how)
{
    struct cache_core *core = view->core;
    uint32_t page = view->pages[address >> FRAME_BITS], granule = address >> CACHE_GRANULE_BITS;
    uint32_t tlb_stall = how == TLB_MISSES ? view->cache->config.tlb_miss : 0;
    uint8_t *at = view->lines + granule;
    if (how == PLAIN && !(page & core->fast.ready & FAST_LOAD))
        return load_fast_checked(view, address, now);
    if (UNLIKELY(*at &
                 (CACHE_IN_L1D | CACHE_CONTENDED))) { /* the page is, or was, out of the TLB */
        if (*at & CACHE_CONTENDED) return CACHE_SLOW;
        if (how == TLB_MISSES) fill_tlb(view, address);
        *at |= CACHE_LOAD;
        return how == TLB_MISSES ? tlb_only(core, tlb_stall) : 0;
    }
    now += tlb_stall;
    size_t set = granule & core->data.tags.set_mask; /* which the page has no part in */
    uint32_t line = line_of(page, granule);
    __asm__("" : "+r"(line)); /* now: page and granule need no registers any longer */
    struct round_robin *round_robin = &core->fast.round_robin[set];
    uint32_t next = round_robin->next_victim;
    if (how == PLAIN && UNLIKELY(next == round_robin->wrap_way))
        return load_fast_checked(view, address, now);
    size_t way = next;
    uint8_t *old_at = core->fast.at[way];
    if (!old_at) return CACHE_SLOW;
    if (how != PLAIN) {
        if (!core->cache->config.write_through && core->data.dirty[way]) return CACHE_SLOW;
        if (!(page & FAST_LOAD) && others_join(view, address >> FRAME_BITS, line))
            return CACHE_SLOW;
        if (next == round_robin->wrap_way) { /* as in snoop_filled */
            if (core->snoop.sets_full == core->data.tags.set_mask) return CACHE_SLOW;
            core->snoop.sets_full++;
            round_robin->wrap_way = NO_WAY;
        }
        if (how == TLB_MISSES) fill_tlb(view, address);
    }
    core->fast.at[way] = at;
    core->fast.line[way] = line;
    round_robin->next_victim = core->fast.after[way];
    *old_at &= how == PLAIN ? (uint8_t) ~(CACHE_IN_L1D | CACHE_LOAD) : core->cache->without_line;
    *at |= CACHE_LOAD | CACHE_IN_L1D;
    if (how != TLB_MISSES) return miss_note(core, now, line);
    return miss_note(core, now, line) + tlb_stall;
}

NOINLINE static uint32_t load_fast_checked(struct cache_view *view, uint32_t address, uint64_t now)
{
    uint32_t page = view->pages[address >> FRAME_BITS], ready = view->core->fast.ready;
    if (page & ready & FAST_LOAD_CHECKED) return load_fast(view, address, now, CAREFUL);
    if (page & EVICTED_LOAD && ready & FAST_LOAD_CHECKED && !view->cache->has_listener)
        return load_fast(view, address, now, TLB_MISSES);
    return CACHE_SLOW;
}

uint32_t cache_load_fast(struct cache_view *view, uint32_t address, uint64_t now)
{
    return load_fast(view, address, now, PLAIN);
}

uint32_t cache_count_load(struct cache_view *view, uint32_t stall)
{
    const struct cache_core *core = view->core;
    uint32_t cycles = stall & ~CACHE_NOTIFY;
    if (!core->uniform || cycles >= UNIFORM_STALLS || !core->accesses_left) return stall;
    uniform_add(core->uniform, CACHE_LOAD_MISS, core->miss_level, cycles);
    return cycles;
}

/* --- Stores ---------------------------------------------------------------------------------- */

/* Whether notify_uniform suffices for the store miss about to happen; counts it. */
NOINLINE static bool count_store(const struct cache_core *core, uint64_t now)
{
    uint64_t end = core->next_store->end, stall = end > now ? end - now : 0;
    if (!core->uniform || stall >= UNIFORM_STALLS) return false;
    uniform_add(core->uniform, CACHE_STORE_MISS, CACHE_NOWHERE, stall);
    return true;
}

NOINLINE static uint32_t store_fast_checked(struct cache_view *view, uint32_t address,
                                            uint64_t now);

/* CAREFUL: with a listener, or when other cores may be affected. */
INLINE uint32_t store_fast(struct cache_view *view, uint32_t address, uint64_t now, enum how how)
{
    struct cache_core *core = view->core;
    uint32_t page = view->pages[address >> FRAME_BITS], granule = address >> CACHE_GRANULE_BITS;
    uint32_t tlb_stall = how == TLB_MISSES ? view->cache->config.tlb_miss : 0;
    uint8_t *at = view->lines + granule, byte = *at, here = byte & CACHE_IN_L1D;
    bool plain = how == PLAIN || how == ZEROES;
    if (plain && !(page & core->fast.ready & FAST_STORE))
        return how == PLAIN ? store_fast_checked(view, address, now) : CACHE_SLOW;
    if (byte & (CACHE_OPEN | CACHE_CONTENDED) || !core->fast.next_open->at) return CACHE_SLOW;
    if (!plain && core->fast.ready & FAST_STORE_SHOWN) {
        if (!others_see(view, granule, line_of(page, granule))) return CACHE_SLOW;
        if (!(page & PAGE_HAS_OPEN_LINE)) fast_mark_open(view, address >> FRAME_BITS);
    } else if (how == CAREFUL && !here && !count_store(core, now))
        return CACHE_SLOW;
    if (how == TLB_MISSES) {
        fill_tlb(view, address);
        byte = *at; /* a page's first has CACHE_PAGE now */
        now += tlb_stall;
    }
    uint32_t line = line_of(page, granule);
    struct open_line *open = take_open(core);
    *open->at &= (uint8_t) ~(CACHE_STORE | CACHE_OPEN);
    open->line = line;
    open->at = at;
    *at = byte | CACHE_STORE | CACHE_OPEN | here / (CACHE_IN_L1D / CACHE_LOAD);
    uint32_t l1d_has = how == ZEROES ? MISS_IN_L1D : here * (uint32_t)(MISS_IN_L1D / CACHE_IN_L1D);
    return miss_note(core, now, MISS_STORE | line | l1d_has) + tlb_stall;
}

NOINLINE static uint32_t store_fast_checked(struct cache_view *view, uint32_t address, uint64_t now)
{
    uint32_t page = view->pages[address >> FRAME_BITS], ready = view->core->fast.ready;
    if (page & ready & FAST_STORE_LISTENED || (page & FAST_STORE && ready & FAST_STORE_SHOWN))
        return store_fast(view, address, now, CAREFUL);
    if (page & EVICTED_STORE && ready & (FAST_STORE | FAST_STORE_SHOWN))
        return store_fast(view, address, now, TLB_MISSES);
    return CACHE_SLOW;
}

uint32_t cache_store_fast(struct cache_view *view, uint32_t address, uint64_t now)
{
    return store_fast(view, address, now, PLAIN);
}

uint32_t cache_zero_fast(struct cache_view *view, uint32_t address, uint64_t now)
{
    return store_fast(view, address, now, ZEROES);
}
