/* The fast path, for the rest of the hierarchy: who may use it, and what has to be told to it. */
#ifndef CACHE_FAST_ACCESS_H
#define CACHE_FAST_ACCESS_H

#include "machine/cache/cache_node.h"

/* What a page gets by a load. Where others have open lines somewhere, the next load will look
 * whether they have some there (cache_fast_others.c). */
INLINE uint32_t quick_load(const struct cache_view *view)
{
    return FAST_LOAD_CHECKED | (view->cache->opening & view->of->others ? 0U : FAST_LOAD);
}

/* cache_fast_others.c: who has filled a line, uses L2, has open lines or listens has changed. */
void quick_change(struct cache *cache);
/* A line of the page will be open. */
void quick_open(const struct cache_view *view, uint32_t page);
/* Pages are those of the core's view, as far as accesses are quick. */
void quick_pages(struct cache_core *of);
/* cache_defer.c: a core that was tired no longer is. */
void quick_rest(struct cache *cache, struct cache_core *of, uint64_t now);
/* A line is being filled while its core goes on, or logs are full: nothing is quick until
 * quick_rest. */
INLINE void quick_tire(struct cache_core *of)
{
    of->tired = true;
    of->fast.ready = 0;
    of->fast.load_pages = of->fast.store_pages = of->cache->no_pages;
}
/* Whether misses may go on to be postponed, at `now`: nothing that they may have to wait for takes
 * too long. */
bool can_postpone(const struct cache *cache, uint64_t now);

/* cache_fast_others.c: whether stores of other cores join a line that L2 may get by a load of this
 * one, of its own or one ahead. */
bool others_join(const struct cache_view *view, uint32_t page, uint32_t line);
/* A store is shown to other cores; false: it is not, since that may be more than a count for one of
 * them. */
bool others_see(const struct cache_view *view, uint32_t granule, uint32_t line);

/* cache_drain.c: L2 and L3 hear of a miss, its line and MISS_…, at `now`; likewise, and somebody
 * has to be told; of all that have come together, at least one. Returns what that costs. */
uint32_t settle_one(struct cache *cache, struct cache_core *of, uint64_t now, uint32_t what);
uint32_t settle_heard(struct cache *cache, struct cache_core *of, uint64_t now, uint32_t what);
uint32_t settle_all(struct cache *cache, struct cache_core *of);

#endif
