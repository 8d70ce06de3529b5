/* When misses may be postponed, and how many.
 *
 * A core that runs translated code is asked how far it has come only at the ends of blocks, and has
 * to stop at the first one at or behind its limit. So what is postponed must be known to end before
 * that: each miss adds some cycles at most to what some unit has to do, and takes some latencies
 * itself (miss_most); and what all units had to do before it is looked at whenever misses are
 * settled. If that is more than PATIENCE, none is postponed until it is less.
 */
#include "machine/cache/cache_no_vectors.h"

#include "machine/cache/cache_snoop_access.h"

enum { PATIENCE = 2000, SHARE = 4 /* of the time that is left may be the misses' */ };
#define AT_ONCE (UINT64_C(1) << 31) /* cycles: misses have the lower half of their time */

bool can_postpone(const struct cache *cache, uint64_t now)
{
    uint64_t latest = now + PATIENCE;
    if (cache->fetching_until > latest || cache->busy_until > latest) return false;
    for (unsigned i = 0; i < 2 * cache->config.l3_banks; i++)
        if (cache->directory[i].until > latest) return false;
    for (unsigned i = 0; i < cache->config.controllers; i++)
        if (cache->ddr[i].unit.until > latest) return false;
    return true;
}

uint64_t cache_defer(struct cache_view *view, uint64_t now, uint64_t limit, bool none)
{
    const struct cache *cache = view->cache;
    struct cache_core *of = view->of;
    if (limit > now + AT_ONCE) limit = now + AT_ONCE;
    of->missed_from = now;
    of->missed_since = now << 32;
    if (of->fast.view != view) {
        of->fast.view = view;
        quick_pages(of);
    }
    uint64_t each = (uint64_t)SHARE * cache->miss_most;
    if (none || cache->heard || limit < now + PATIENCE + 2 * each) return limit;
    uint64_t most = (limit - now - PATIENCE) / each;
    if (most > CACHE_MISSES) most = CACHE_MISSES;
    of->most_misses = (uint32_t)most;
    if (can_postpone(cache, now)) of->fast.full = of->misses + most;
    return limit - PATIENCE - (most + 2) * cache->miss_most;
}

uint32_t cache_defer_end(struct cache_view *view)
{
    struct cache_core *of = view->of;
    of->most_misses = 1; /* first: who has nothing to settle need not ask what may come next */
    of->fast.full = of->misses + 1;
    return cache_drain(view, 0);
}

void quick_rest(struct cache *cache, struct cache_core *of, uint64_t now)
{
    snoop_show_logged(cache, of);
    if (of->snoop.active.log_end > of->snoop.active.log_full) snoop_catch_up(cache, of);
    if (of->fills_until > now) return;
    of->tired = false;
    quick_change(cache);
}
