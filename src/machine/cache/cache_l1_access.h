/* L1: inline code of an access that cache_l1.c and the fast path share. */
#ifndef CACHE_L1_ACCESS_H
#define CACHE_L1_ACCESS_H

#include "machine/cache/cache_node.h"

/* l1_close_line for other cores' stores to a line, of 1 << (their shift + more) bytes, that has
 * been used by this one. */
INLINE void l1_close_others(struct cache *cache, const struct cache_core *core, uint32_t line,
                            unsigned more)
{
    for (uint32_t others = cache->has_open & core->others; UNLIKELY(others); others &= others - 1) {
        struct cache_core *other = cache->core[__builtin_ctz(others)];
        for (uint32_t i = 0; i < cache->config.store_lines; i++)
            if (other->open[i].line >> more == line && other->open[i].line != NO_LINE) {
                if (!more || other->open[i].line == cache->order_line)
                    order_mark(cache, other->open[i].line);
                l1_close_line(cache, other, &other->open[i]);
            }
    }
}

/* A line of L1D, or of L3, is used: what kind a miss is. */
INLINE uint8_t note_use(struct kinds *kinds, uint64_t *counts, uint32_t line, bool missed,
                        bool brings)
{
    enum kind kind = kinds_use(kinds, line, brings);
    counts[kind] += missed;
    return (uint8_t)kind;
}

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
INLINE void count_uncontended(struct cache_core *core, uint64_t start, uint64_t end)
{
    core->counts.uncontended.count++;
    core->counts.uncontended.cycles += end - start;
    core->fills_until = end;
}

/* When a store finds a place in the queue. Starts never go back, so the queue is a ring. */
INLINE uint64_t take_store_entry(const struct cache *cache, struct cache_core *core, uint64_t now)
{
    struct queued *entry = core->next_store;
    uint64_t start = entry->end > now ? entry->end : now;
    entry->end = start + cache->store_time;
    core->next_store = entry->next;
    return start;
}

/* The open line to be replaced; the next of the ring will be the next. */
INLINE struct open_line *take_open(struct cache_core *core)
{
    struct open_line *open = core->fast.next_open;
    core->fast.next_open = open->next;
    return open;
}

/* A line of L2 has 1 << L1_TO_L2 of L1D. */
enum { L1_TO_L2 = 7 - 5 };

INLINE void count_stall(struct span_count *stall, uint64_t now, uint64_t end)
{
    if (end == now) return;
    stall->count++;
    stall->cycles += end - now;
}

#endif
