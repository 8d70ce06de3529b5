/* Snoop filters: what every store and every fill does in them. */
#ifndef CACHE_SNOOP_ACCESS_H
#define CACHE_SNOOP_ACCESS_H

#include "machine/cache/cache_fast_access.h"

/* A snoop cache takes a line. */
INLINE void snoop_add(const struct cache *cache, struct snoop_cache *snoop_cache, uint32_t line)
{
    uint32_t at = snoop_cache->next;
    snoop_cache->line[at] = line;
    snoop_cache->next = at + 1 == cache->config.snoop_lines ? 0 : at + 1;
}

/* Whether a port's snoop cache hits; a miss inserts the line. */
INLINE bool snoop_look_up(const struct cache *cache, const struct shape *shape,
                          struct snoop_cache *snoop_cache, uint32_t line)
{
    if (tags_scan(snoop_cache->line, shape->snoop_cache_stride, line) >= 0) return true;
    if (shape->snoop_cache_stride) snoop_add(cache, snoop_cache, line);
    return false;
}

/* Idle cores' snoop caches take in what was logged for them. */
void snoop_drain_idle(const struct cache *cache, struct cache_core *core);

/* Idle cores see a store. */
INLINE void snoop_log_idle(const struct cache *cache, struct cache_core *core, uint32_t line)
{
    core->snoop.shown_log[TAG_STRIDE + core->snoop.shown_logged++] = line;
    if (core->snoop.shown_logged > SNOOPS_FULL) snoop_drain_idle(cache, core);
}

/* Logs another core's store to a line that is not in this L1D: only counts depend on it. The log
 * has room. */
INLINE void snoop_log(struct cache_core *core, unsigned source, uint32_t line)
{
    struct snoop *snoop = &core->snoop;
    *snoop->active.log_end++ = line | core->snooped_by[source];
    snoop->snooped = snoop->any_cached = true;
}

/* Cores that have filled a line notice a store. */
void snoop_filled_cores(struct cache *cache, uint32_t cores, unsigned source, uint32_t line,
                        uint64_t now);

/* A store of `core` is shown to the other cores. */
INLINE void snoop_store(struct cache *cache, struct cache_core *core, uint32_t line, uint64_t now)
{
    uint32_t others = core->others;
    core->counts.snoop_sent++;
    if (others & cache->idle) snoop_log_idle(cache, core, line);
    others &= ~cache->idle;
    if (others) snoop_filled_cores(cache, others, core->number, line, now);
}

/* A core fills its first line. */
void snoop_wake(struct cache *cache, struct cache_core *core);
/* Drains the logs into registers and snoop caches. */
void snoop_drain_log(const struct cache *cache, struct cache_core *core);
/* A set of L1D has been refilled whole. */
void snoop_set_full(struct cache *cache, struct cache_core *core);

/* A line was filled into L1D. */
INLINE void snoop_filled(struct cache *cache, const struct shape *shape, struct cache_core *core,
                         uint32_t line)
{
    struct snoop *snoop = &core->snoop;
    if (cache->idle >> core->number & 1) snoop_wake(cache, core);
    bool alone = UNLIKELY(line >> SNOOPED); /* or it would be taken for a snoop */
    if (alone) snoop_drain_log(cache, core);
    *snoop->active.log_end++ = line;
    if (alone || snoop->active.log_end > snoop->active.log_full) snoop_drain_log(cache, core);
    if (shape->l1d.policy != CACHE_ROUND_ROBIN) return;
    uint32_t set = line & core->data.tags.set_mask,
             *last = &core->data.tags.round_robin[set].wrap_way;
    if (*last != tags_before(&core->data.tags, &shape->l1d, set)) return;
    *last = NO_WAY;
    snoop_set_full(cache, core);
}

#endif
