/* Stores that leave the core, where L1 writes through: what all of them do, and what is kept of one for the next to its
 * line; cache_again.c. */
#ifndef CACHE_AGAIN_H
#define CACHE_AGAIN_H

#include "cache/cache_snoop.h"

/* When a store finds a place in the queue. Starts never go back, so the queue is a ring. */
INLINE uint64_t take_store_entry(const struct cache *cache, struct cache_core *of, uint64_t now)
{
    uint64_t *slot = &of->store_end[of->next_store];
    uint64_t start = *slot > now ? *slot : now;
    *slot = start + cache->config.store_time;
    of->next_store = of->next_store + 1 == cache->config.stores ? 0 : of->next_store + 1;
    return start;
}

INLINE void count_stall(struct span_count *stall, uint64_t now, uint64_t end)
{
    if (end == now) return;
    stall->count++;
    stall->cycles += end - now;
}

INLINE struct again *again_of(struct cache_core *of, uint32_t address)
{
    uint32_t granule = address >> CACHE_GRANULE_BITS;
    return &of->again[(granule ^ granule / AGAIN) % AGAIN];
}

INLINE uint64_t again_key(unsigned space, uint32_t address)
{
    return (uint64_t)space << 32 | address >> CACHE_GRANULE_BITS;
}

/* The line of a store becomes the open one instead of another. */
INLINE void open_line(struct cache_core *of, uint32_t line, uint8_t *at)
{
    *of->open_at &= (uint8_t)~CACHE_STORE;
    *at |= CACHE_STORE;
    of->open = line;
    of->open_at = at;
}

/* Shows a store to the idle cores; where it is then in `shown`. */
INLINE uint32_t show(const struct cache *cache, struct cache_core *of, uint32_t line)
{
    struct absent *shown = &of->snoop.shown;
    int at = tags_scan(shown->line, blue_gene.absent_stride, line);
    of->snoop.shown_again += at >= 0;
    return at >= 0 ? (uint32_t)at : snoop_add(cache, shown, line);
}

#endif
