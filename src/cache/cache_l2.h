/* The way of reads and writes through L2; what is decided: cache_l2.c. */
#ifndef CACHE_L2_H
#define CACHE_L2_H

#include "cache/cache_l3.h"

INLINE int l2_find(const struct shape *shape, const struct l2 *l2, uint32_t line)
{
    return l2->present[line % L2_HASH] ? tags_scan(l2->line, shape->l2_stride, line) : -1;
}

INLINE void l2_put(struct l2 *l2, uint32_t at, uint32_t line)
{
    l2->present[l2->line[at] % L2_HASH]--;
    l2->present[line % L2_HASH]++;
    l2->line[at] = line;
}

INLINE void l2_keep(struct cache *cache, const struct shape *shape, struct cache_core *of, uint32_t line,
                    struct l3_answer answer, uint8_t state)
{
    struct l2 *l2 = &of->l2;
    /* Stores that join an open one are not noticed; others' to this line are from now on. */
    l1_close_others(cache, of, line, shape->l2_shift - shape->l1d_shift);
    if (!shape->l2_stride) return;
    cache->epoch += !(cache->l2_users & of->bit);
    cache->l2_users |= of->bit;
    l2_put(l2, l2->next, line);
    l2->entry[l2->next] = (struct l2_entry){answer.ready, answer.way, state};
    l2->next = l2->next + 1 == cache->config.l2_entries ? 0 : l2->next + 1;
}

/* The filter will know a stream by the line after this one, which missed. */
INLINE void l2_expect(const struct cache *cache, struct l2 *l2, uint32_t line)
{
    l2->expected[l2->next_expected] = line + 1;
    l2->next_expected = l2->next_expected + 1 == cache->config.l2_filter ? 0 : l2->next_expected + 1;
}

/* A line is read that may be known to a stream or the filter. */
void l2_advance(struct cache *cache, struct cache_core *of, uint32_t line, bool missed, uint64_t now);

INLINE void l2_follow(struct cache *cache, const struct shape *shape, struct cache_core *of, uint32_t line, bool missed,
                      uint64_t now)
{
    struct l2 *l2 = &of->l2;
    if (!cache->streaming || l2->stream[l2->last_stream] == line) return;
    tag_vector known = tags_match(l2->stream, shape->stream_stride, line) |
                       tags_match(l2->stream, shape->stream_stride, line - 1) |
                       tags_match(l2->expected, shape->filter_stride, line);
    if (tags_any(known))
        l2_advance(cache, of, line, missed, now);
    else if (missed)
        l2_expect(cache, l2, line);
}

/* When the line is there for L1; the caller counts l2_read. */
INLINE uint64_t l2_read(struct cache *cache, const struct shape *shape, struct cache_core *of, uint32_t line, bool data,
                        uint64_t now)
{
    struct core_counts *counts = &of->counts;
    struct l2 *l2 = &of->l2;
    int at = l2->line[l2->last] == line ? (int)l2->last : l2_find(shape, l2, line);
    uint64_t end;
    if (at >= 0) {
        struct l2_entry *entry = &l2->entry[at];
        l2->last = (uint32_t)at;
        of->served = CACHE_IN_L2;
        counts->stream_hit += (entry->state & L2_PREFETCHED) != 0;
        if (!data) counts->code_hit++;
        if (!(entry->state & L2_USED)) {
            counts->self_hit++;
            bool from_ddr = l3_claim(cache, of, line, entry->way, entry->state & L2_FROM_DDR);
            counts->d2_miss += from_ddr && data;
            counts->i2_miss += from_ddr && !data;
            counts->data_ahead += from_ddr && data;
            counts->code_ahead += from_ddr && !data;
            entry->state |= L2_USED;
        }
        end = now + cache->l2_latency;
        if (entry->ready > end) end = entry->ready;
        if (entry->state & L2_FOLLOWED) return end;
        entry->state |= L2_FOLLOWED;
    } else {
        struct l3_answer answer = l3_read(cache, shape, of, line, false, now);
        end = answer.ready;
        of->served = answer.found ? CACHE_IN_L3 : CACHE_IN_DDR;
        counts->l2_miss++;
        counts->d2_miss += answer.from_ddr && data;
        counts->i2_miss += answer.from_ddr && !data;
        counts->l3_wait += end - now;
        counts->l3_pending += cover(&l2->pending_until, now, end);
        l2_keep(cache, shape, of, line, answer, L2_USED | L2_FOLLOWED);
    }
    l2_follow(cache, shape, of, line, at < 0, now);
    return end;
}

/* A write to an L1D line leaves its core for memory; L2 buffers notice. */
INLINE void l2_write(struct cache *cache, const struct shape *shape, struct cache_core *of, uint32_t l1_line,
                     uint64_t now)
{
    uint32_t line = l1_line >> (shape->l2_shift - shape->l1d_shift);
    of->counts.write++;
    l1_close_others(cache, of, l1_line, 0);
    for (uint32_t users = cache->l2_users; users; users &= users - 1) {
        struct cache_core *user = cache->core[__builtin_ctz(users)];
        int at = l2_find(shape, &user->l2, line);
        if (at < 0) continue;
        if (user == of)
            of->counts.snoop_hit_same++;
        else {
            user->counts.snoop_hit_other++;
            l2_put(&user->l2, (uint32_t)at, NO_LINE);
            cache->epoch++;
        }
    }
    l3_write(cache, shape, of, line, now);
}

#endif
