/* The fast path as the rest of the hierarchy sees it: who may use it, and what must be reported to
 * it. */
#ifndef CACHE_FAST_ACCESS_H
#define CACHE_FAST_ACCESS_H

#include "machine/cache/cache_node.h"

/* Rights that a load gives a page. If other cores have marked open lines, the next load tests for
 * them (cache_fast_others.c). */
INLINE uint32_t fast_load_right(const struct cache_view *view)
{
    return FAST_LOAD_CHECKED | (view->cache->has_marked_open & view->core->others ? 0U : FAST_LOAD);
}

/* cache_fast_others.c: recomputes every core's rights. Called when a core first fills a line, first
 * uses L2, opens its first line, or the listener changes. */
void fast_update(struct cache *cache);
/* The core opens a line in the page. */
void fast_mark_open(const struct cache_view *view, uint32_t page);
/* Sets load_pages and store_pages from view and rights. */
void fast_set_pages(struct cache_core *core);
/* cache_defer.c: enables the fast path again once logs and fills allow it. */
void fast_enable(struct cache *cache, struct cache_core *core, uint64_t now);
/* A fill is in flight while its core goes on, or logs are full: disables the fast path until
 * fast_enable. */
INLINE void fast_disable(struct cache_core *core)
{
    core->fast_disabled = true;
    core->fast.ready = 0;
    core->fast.load_pages = core->fast.store_pages = core->cache->no_pages;
}
/* Whether the backlog of all units at `now` allows deferring. */
bool can_defer(const struct cache *cache, uint64_t now);

/* cache_fast_others.c: whether stores of other cores join a line that L2 may get by a load of this
 * one, of its own or one ahead. */
bool others_join(const struct cache_view *view, uint32_t page, uint32_t line);
/* A store snoops other cores; false: not done, since it may be more than a count for one of them.
 */
bool others_see(const struct cache_view *view, uint32_t granule, uint32_t line);

/* cache_drain.c: drains one miss (line and MISS_ flags) at `now`; the same with a listener; all
 * deferred ones, at least one. Each returns stall cycles. */
uint32_t drain_one(struct cache *cache, struct cache_core *core, uint64_t now, uint32_t what);
uint32_t drain_one_notified(struct cache *cache, struct cache_core *core, uint64_t now,
                            uint32_t what);
uint32_t drain_all(struct cache *cache, struct cache_core *core);

#endif
