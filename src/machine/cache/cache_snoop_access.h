/* Snoop filters: what every store and every fill does in them. */
#ifndef CACHE_SNOOP_ACCESS_H
#define CACHE_SNOOP_ACCESS_H

#include "machine/cache/cache_fast_access.h"

/* A snoop cache takes a line. */
INLINE void snoop_add(const struct cache *cache, struct absent *absent, uint32_t line)
{
    uint32_t at = absent->next;
    absent->line[at] = line;
    absent->next = at + 1 == cache->config.snoop_lines ? 0 : at + 1;
}

/* Whether a port's snoop cache knows the line; if not, now it does. */
INLINE bool snoop_look_up(const struct cache *cache, const struct shape *shape,
                          struct absent *absent, uint32_t line)
{
    if (tags_scan(absent->line, shape->absent_stride, line) >= 0) return true;
    if (shape->absent_stride) snoop_add(cache, absent, line);
    return false;
}

/* Idle cores' snoop caches take in what was logged for them. */
void snoop_show_logged(const struct cache *cache, struct cache_core *of);

/* Idle cores see a store. */
INLINE void snoop_show(const struct cache *cache, struct cache_core *of, uint32_t line)
{
    of->snoop.shown_log[TAG_STRIDE + of->snoop.shown_logged++] = line;
    if (of->snoop.shown_logged > SNOOPS_FULL) snoop_show_logged(cache, of);
}

/* A core notices another's store to a line that is not in its L1D: nothing but counts can come of
 * it, some time. There has to be room in the log. */
INLINE void snoop_note(struct cache_core *of, unsigned source, uint32_t line)
{
    struct snoop *snoop = &of->snoop;
    *snoop->active.log_end++ = line | of->snooped_by[source];
    snoop->snooped = snoop->any_absent = true;
}

/* Cores that have filled a line notice a store. */
void snoop_awake(struct cache *cache, uint32_t cores, unsigned source, uint32_t line, uint64_t now);

/* A store of `core` is shown to the other cores. */
INLINE void snoop_store(struct cache *cache, struct cache_core *of, uint32_t line, uint64_t now)
{
    uint32_t others = of->others;
    of->counts.snoop_sent++;
    if (others & cache->idle) snoop_show(cache, of, line);
    others &= ~cache->idle;
    if (others) snoop_awake(cache, others, of->number, line, now);
}

/* The first line of a core comes. */
void snoop_wake(struct cache *cache, struct cache_core *of);
/* What was logged is taken in. */
void snoop_catch_up(const struct cache *cache, struct cache_core *of);
/* A set of L1D has been refilled whole. */
void snoop_set_full(struct cache *cache, struct cache_core *of);

/* A line came into an L1D. */
INLINE void snoop_filled(struct cache *cache, const struct shape *shape, struct cache_core *of,
                         uint32_t line)
{
    struct snoop *snoop = &of->snoop;
    if (cache->idle >> of->number & 1) snoop_wake(cache, of);
    bool alone = SELDOM(line >> SNOOPED); /* or it would be taken for a snoop */
    if (alone) snoop_catch_up(cache, of);
    *snoop->active.log_end++ = line;
    if (alone || snoop->active.log_end > snoop->active.log_full) snoop_catch_up(cache, of);
    if (shape->l1d.policy != CACHE_ROUND_ROBIN) return;
    uint32_t set = line & of->data.tags.set_mask, *last = &of->data.tags.turn[set].last;
    if (*last != tags_before(&of->data.tags, &shape->l1d, set)) return;
    *last = NO_WAY;
    snoop_set_full(cache, of);
}

#endif
