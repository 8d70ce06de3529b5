/* Decides whether misses may be deferred, and how many.
 *
 * Translated code tests its time only at block ends and must stop at the first one at or behind its
 * limit. So deferred misses must surely end before the limit. Bounds: a miss adds at most
 * miss_cycles_most to the work of a unit and to its own latency. Units may already have a backlog;
 * it is tested at every drain. While it exceeds MAX_BACKLOG, no miss is deferred. */
#include "machine/cache/cache_no_vectors.h"

#include "machine/cache/cache_snoop_access.h"

enum {
    MAX_BACKLOG = 2000,
    SHARE = 4 /* the misses may take one part in so many of the time left */
};
#define LIMIT_MOST (UINT64_C(1) << 31) /* cycles: deferred misses have 32-bit times */

bool can_defer(const struct cache *cache, uint64_t now)
{
    uint64_t latest = now + MAX_BACKLOG;
    if (cache->fetching_until > latest || cache->busy_until > latest) return false;
    for (unsigned i = 0; i < 2 * cache->config.l3_banks; i++)
        if (cache->directory[i].until > latest) return false;
    for (unsigned i = 0; i < cache->config.controllers; i++)
        if (calendar_until(&cache->ddr[i].calendar) > latest) return false;
    return true;
}

uint64_t cache_defer(struct cache_view *view, uint64_t now, uint64_t limit, bool none)
{
    const struct cache *cache = view->cache;
    struct cache_core *core = view->core;
    if (limit > now + LIMIT_MOST) limit = now + LIMIT_MOST;
    core->defer_start = now;
    core->defer_start_high = now << 32;
    if (core->fast.view != view) {
        core->fast.view = view;
        fast_set_pages(core);
    }
    uint64_t each = (uint64_t)SHARE * cache->miss_cycles_most;
    if (none || cache->has_listener || limit < now + MAX_BACKLOG + 2 * each) return limit;
    uint64_t most = (limit - now - MAX_BACKLOG) / each;
    if (most > CACHE_MISSES) most = CACHE_MISSES;
    core->most_deferred = (uint32_t)most;
    if (can_defer(cache, now)) core->fast.full = core->misses + most_until_drain(core);
    return limit - MAX_BACKLOG - (most + 2) * cache->miss_cycles_most;
}

uint32_t cache_defer_end(struct cache_view *view)
{
    struct cache_core *core = view->core;
    core->most_deferred = 1; /* first: an empty drain then skips drain_rearm */
    core->fast.full = core->misses + 1;
    return cache_drain(view, 0);
}

void fast_enable(struct cache *cache, struct cache_core *core, uint64_t now)
{
    snoop_drain_idle(cache, core);
    if (core->snoop.active.log_end > core->snoop.active.log_full) snoop_drain_log(cache, core);
    if (core->fills_until > now) return;
    core->fast_disabled = false;
    fast_update(cache);
}
