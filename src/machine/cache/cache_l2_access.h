/* L2: the path of reads and writes through it. */
#ifndef CACHE_L2_ACCESS_H
#define CACHE_L2_ACCESS_H

#include "machine/cache/cache_l1_access.h"
#include "machine/cache/cache_l3_access.h"
#include "machine/cache/cache_fast_access.h"

/* Numbers have become large: smaller ones. */
void l2_renumber(struct cache *cache, struct l2 *l2);
INLINE void l2_check_numbers(struct cache *cache, struct l2 *l2)
{
    if (SELDOM(l2->oldest > L2_MOST || l2->expects > L2_EXPECTS)) l2_renumber(cache, l2);
}

INLINE void l2_keep(struct cache *cache, const struct shape *shape, struct cache_core *of,
                    uint32_t line, uint64_t ready, uint32_t state)
{
    /* Stores that join an open one are not noticed; others' to this line are from now on. */
    l1_close_others(cache, of, line, shape->l2_shift - shape->l1d_shift);
    if (!cache->config.l2_entries) return;
    if (SELDOM(!(cache->l2_users & of->bit))) {
        cache->l2_users |= of->bit;
        quick_change(cache);
    }
    l2_check_numbers(cache, &of->l2);
    l2_put_late(&of->l2, &of->l2.known[line], ready, state);
}

/* A line is read that the filter expects; it does so no longer. The stream that begins. */
INLINE uint32_t l2_begin(const struct cache *cache, struct cache_core *of, struct l2_known *known)
{
    uint32_t stream = of->l2.next_stream;
    of->counts.filter_hit++;
    known->next = 0;
    of->l2.next_stream = stream == cache->config.l2_streams ? 1 : stream + 1;
    return stream;
}

/* A line is read that is the next of a stream, or its first. */
void l2_advance(struct cache *cache, struct cache_core *of, uint32_t line, uint32_t stream,
                uint64_t now);
/* A line is fetched ahead, with Blue Gene's sizes. */
void l2_prefetch(struct cache *cache, struct cache_core *of, uint32_t line, uint64_t now);

INLINE void l2_follow(struct cache *cache, struct cache_core *of, uint32_t line, bool missed,
                      uint64_t now)
{
    struct l2 *l2 = &of->l2;
    struct l2_known *known = &l2->known[line];
    if (!cache->streaming || l2_reached(known)) return;
    if (SELDOM(l2_stream(known)))
        l2_advance(cache, of, line, l2_stream(known), now);
    else if (missed && SELDOM(known->next >= l2->expects))
        l2_advance(cache, of, line, l2_begin(cache, of, known), now);
    else if (missed)
        l2_expect(l2, known);
}

/* A prefetched line, that L2 has with `put`, is used for the first time: what that means for L3. */
INLINE void l2_claim(struct cache *cache, struct cache_core *of, uint32_t line, uint32_t put,
                     bool data)
{
    struct core_counts *counts = &of->counts;
    if (!l3_claim(cache, line, put & L2_FROM_DDR)) return;
    *(data ? &counts->d2_miss : &counts->i2_miss) += 1;
    *(data ? &counts->data_ahead : &counts->code_ahead) += 1;
}

INLINE void l2_use(struct cache *cache, struct cache_core *of, struct l2_known *known,
                   uint32_t line, bool data)
{
    of->counts.self_hit++;
    known->put &= ~(uint32_t)L2_UNUSED;
    l2_claim(cache, of, line, known->put, data);
}

/* When the line is there for L1; the caller counts l2_read. */
INLINE uint64_t l2_read(struct cache *cache, const struct shape *shape, struct cache_core *of,
                        uint32_t line, bool data, uint64_t now)
{
    struct core_counts *counts = &of->counts;
    struct l2 *l2 = &of->l2;
    struct l2_known *known = &l2->known[line];
    bool found = l2_has(l2, known);
    uint64_t end;
    if (found) {
        of->served = CACHE_IN_L2;
        counts->stream_hit += known->put & L2_PREFETCHED;
        if (!data) counts->code_hit++;
        if (known->put & L2_UNUSED) l2_use(cache, of, known, line, data);
        end = now + cache->l2_latency;
        if (known->put & L2_LATE && *l2_ready(l2, known->put) > end)
            end = *l2_ready(l2, known->put);
    } else {
        struct l3_answer answer = l3_read(cache, shape, of, line, false, now);
        end = answer.ready;
        of->served = answer.found ? CACHE_IN_L3 : CACHE_IN_DDR;
        counts->l2_miss++;
        if (SELDOM(answer.from_ddr)) *(data ? &counts->d2_miss : &counts->i2_miss) += 1;
        counts->l3_wait += end - now;
        counts->l3_pending += cover(&l2->pending_until, now, end);
        l2_keep(cache, shape, of, line, end, 0);
    }
    l2_follow(cache, of, line, !found, now);
    return end;
}

/* A write to an L1D line leaves its core for memory; L2 buffers notice. */
INLINE void l2_write(struct cache *cache, const struct shape *shape, struct cache_core *of,
                     uint32_t l1_line, uint64_t now)
{
    uint32_t line = l1_line >> (shape->l2_shift - shape->l1d_shift);
    of->counts.write++;
    l1_close_others(cache, of, l1_line, 0);
    for (uint32_t users = cache->l2_users; users; users &= users - 1) {
        struct cache_core *user = cache->core[__builtin_ctz(users)];
        if (!l2_has(&user->l2, &user->l2.known[line])) continue;
        if (user == of)
            of->counts.snoop_hit_same++;
        else {
            user->counts.snoop_hit_other++;
            user->l2.known[line].put = 0;
        }
    }
    l3_write(cache, shape, of, line, now);
}

#endif
