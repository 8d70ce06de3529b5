/* L2: the path of reads and writes through it. */
#ifndef CACHE_L2_ACCESS_H
#define CACHE_L2_ACCESS_H

#include "machine/cache/cache_l1_access.h"
#include "machine/cache/cache_l3_access.h"
#include "machine/cache/cache_fast_access.h"

/* Renumbers before numbers overflow. */
void l2_renumber(struct cache *cache, struct l2 *l2);
INLINE void l2_check_numbers(struct cache *cache, struct l2 *l2)
{
    if (UNLIKELY(l2->oldest > L2_MOST || l2->filter_oldest > L2_FILTER_MOST))
        l2_renumber(cache, l2);
}

INLINE void l2_keep(struct cache *cache, const struct shape *shape, struct cache_core *core,
                    uint32_t line, uint64_t ready, uint32_t state)
{
    /* Joined stores are invisible to L2, so other cores' open lines in this line are closed. */
    l1_close_others(cache, core, line, shape->l2_shift - shape->l1d_shift);
    if (!cache->config.l2_entries) return;
    if (UNLIKELY(!(cache->l2_users & core->bit))) {
        cache->l2_users |= core->bit;
        fast_update(cache);
    }
    l2_check_numbers(cache, &core->l2);
    l2_insert_in_flight(&core->l2, &core->l2.entry[line], ready, state);
}

/* A line is read that the filter expects; it does so no longer. The stream that begins. */
INLINE uint32_t l2_begin(const struct cache *cache, struct cache_core *core, struct l2_entry *entry)
{
    uint32_t stream = core->l2.next_stream;
    core->counts.filter_hit++;
    entry->next = 0;
    core->l2.next_stream = stream == cache->config.l2_streams ? 1 : stream + 1;
    return stream;
}

/* A line is read that is the next of a stream, or its first. */
void l2_advance(struct cache *cache, struct cache_core *core, uint32_t line, uint32_t stream,
                uint64_t now);
/* A line is fetched ahead, with Blue Gene's sizes. */
void l2_prefetch(struct cache *cache, struct cache_core *core, uint32_t line, uint64_t now);

INLINE void l2_follow(struct cache *cache, struct cache_core *core, uint32_t line, bool missed,
                      uint64_t now)
{
    struct l2 *l2 = &core->l2;
    struct l2_entry *entry = &l2->entry[line];
    if (!cache->streaming || l2_reached(entry)) return;
    if (UNLIKELY(l2_stream(entry)))
        l2_advance(cache, core, line, l2_stream(entry), now);
    else if (missed && UNLIKELY(entry->next >= l2->filter_oldest))
        l2_advance(cache, core, line, l2_begin(cache, core, entry), now);
    else if (missed)
        l2_filter_insert(l2, entry);
}

/* First use of a prefetched line with `number`: L3 counts a fetch for demand. */
INLINE void l2_claim(struct cache *cache, struct cache_core *core, uint32_t line, uint32_t number,
                     bool data)
{
    struct core_counts *counts = &core->counts;
    if (!l3_claim(cache, line, number & L2_FROM_DDR)) return;
    *(data ? &counts->d2_miss : &counts->i2_miss) += 1;
    *(data ? &counts->data_ahead : &counts->code_ahead) += 1;
}

INLINE void l2_use(struct cache *cache, struct cache_core *core, struct l2_entry *entry,
                   uint32_t line, bool data)
{
    core->counts.self_hit++;
    entry->fifo_number &= ~(uint32_t)L2_UNUSED;
    l2_claim(cache, core, line, entry->fifo_number, data);
}

/* When the line is there for L1; the caller counts l2_read. */
INLINE uint64_t l2_read(struct cache *cache, const struct shape *shape, struct cache_core *core,
                        uint32_t line, bool data, uint64_t now)
{
    struct core_counts *counts = &core->counts;
    struct l2 *l2 = &core->l2;
    struct l2_entry *entry = &l2->entry[line];
    if (UNLIKELY(cache->config.model)) { /* L1 alone: L2 has every line */
        l1_close_others(cache, core, line, shape->l2_shift - shape->l1d_shift);
        core->miss_level = CACHE_IN_L2;
        if (!data) counts->code_hit++;
        return now;
    }
    bool found = l2_has(l2, entry);
    uint64_t end;
    if (found) {
        core->miss_level = CACHE_IN_L2;
        counts->stream_hit += entry->fifo_number & L2_PREFETCHED;
        if (!data) counts->code_hit++;
        if (entry->fifo_number & L2_UNUSED) l2_use(cache, core, entry, line, data);
        end = now + cache->l2_latency;
        if (entry->fifo_number & L2_IN_FLIGHT && *l2_ready(l2, entry->fifo_number) > end)
            end = *l2_ready(l2, entry->fifo_number);
    } else {
        struct l3_answer answer = l3_read(cache, shape, core, line, false, now);
        end = answer.ready;
        core->miss_level = answer.found ? CACHE_IN_L3 : CACHE_IN_DDR;
        counts->l2_miss++;
        if (UNLIKELY(answer.from_ddr)) *(data ? &counts->d2_miss : &counts->i2_miss) += 1;
        counts->l3_wait += end - now;
        counts->l3_pending += count_high(&l2->pending_until, now, end);
        l2_keep(cache, shape, core, line, end, 0);
    }
    l2_follow(cache, core, line, !found, now);
    return end;
}

/* A write to an L1D line leaves its core for memory; L2 buffers notice. */
INLINE void l2_write(struct cache *cache, const struct shape *shape, struct cache_core *core,
                     uint32_t l1_line, uint64_t now)
{
    uint32_t line = l1_line >> (shape->l2_shift - shape->l1d_shift);
    l1_close_others(cache, core, l1_line, 0);
    if (UNLIKELY(cache->config.model)) return;
    core->counts.write++;
    for (uint32_t users = cache->l2_users; users; users &= users - 1) {
        struct cache_core *user = cache->core[__builtin_ctz(users)];
        if (!l2_has(&user->l2, &user->l2.entry[line])) continue;
        if (user == core)
            core->counts.snoop_hit_same++;
        else {
            user->counts.snoop_hit_other++;
            user->l2.entry[line].fifo_number = 0;
        }
    }
    l3_write(cache, shape, core, line, now);
}

#endif
