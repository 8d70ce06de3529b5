/* What L1 does for accesses that are and that are not quick. */
#ifndef CACHE_QUICK_H
#define CACHE_QUICK_H

#include "machine/cache/cache_l2.h"
#include "machine/cache/cache_snoop.h"

/* The line bytes of the L1 line at `address`, and how many they are. */
INLINE uint8_t *bytes_of(uint8_t *lines, uint32_t address, unsigned shift)
{
    return lines + ((address >> shift) << (shift - CACHE_GRANULE_BITS));
}

INLINE uint32_t granules(unsigned shift)
{
    return 1U << (shift - CACHE_GRANULE_BITS);
}

/* A load of a line that is on its way from `start` to `end`, while nothing else is. */
INLINE void count_calm(struct cache_core *of, uint64_t start, uint64_t end)
{
    of->counts.calm.count++;
    of->counts.calm.cycles += end - start;
    of->fills_until = end;
}

/* When a store finds a place in the queue. Starts never go back, so the queue is a ring. */
INLINE uint64_t take_store_entry(const struct cache *cache, struct cache_core *of, uint64_t now)
{
    struct queued *entry = of->next_store;
    uint64_t start = entry->end > now ? entry->end : now;
    entry->end = start + cache->store_time;
    of->next_store = entry->next;
    return start;
}

/* The open line to be replaced; the next of the ring will be the next. */
INLINE struct open_line *take_open(struct cache_core *of)
{
    struct open_line *open = of->front.next_open;
    of->front.next_open = open->next;
    return open;
}

/* A line of L2 has 1 << L1_TO_L2 of L1D. */
enum { L1_TO_L2 = 7 - 5 };

/* cache_others.c: whether stores of other cores join a line that L2 may get by a load of this one,
 * of its own or one ahead. */
bool others_join(const struct cache_view *view, uint32_t page, uint32_t line);
/* A store is shown to other cores; false: it is not, since that may be more than a count for one of
 * them. */
bool others_see(const struct cache_view *view, uint32_t granule, uint32_t line);

/* cache_settle.c: L2 and L3 hear of a miss, its line and MISS_…, at `now`; likewise, and somebody
 * has to be told; of all that have come together, at least one. Returns what that costs. */
uint32_t settle_one(struct cache *cache, struct cache_core *of, uint64_t now, uint32_t what);
uint32_t settle_heard(struct cache *cache, struct cache_core *of, uint64_t now, uint32_t what);
uint32_t settle_all(struct cache *cache, struct cache_core *of);

INLINE void count_stall(struct span_count *stall, uint64_t now, uint64_t end)
{
    if (end == now) return;
    stall->count++;
    stall->cycles += end - now;
}

#endif
