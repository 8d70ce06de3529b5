/* The way of reads and writes through L2; what is decided: cache_l2.c. */
#ifndef CACHE_L2_H
#define CACHE_L2_H

#include "cache/cache_l3.h"

/* What is known of a line that a place has; NO_LINE is the line before 0, of which nothing is known. */
INLINE struct l2_known *l2_known(const struct l2 *l2, uint32_t line)
{
    return &l2->known[(int32_t)line];
}

/* An entry takes a line. */
INLINE void l2_put(struct l2 *l2, struct l2_known *known, uint32_t line, uint64_t ready, uint8_t state)
{
    struct l2_entry *entry = l2->next;
    l2_known(l2, entry->line)->state = 0;
    known->entry = (uint8_t)entry->number;
    known->state = state;
    entry->ready = ready;
    entry->line = line;
    l2->next = entry->next;
}

/* Another core takes a line out. */
INLINE void l2_drop(struct l2 *l2, uint32_t line)
{
    l2->entry[l2->known[line].entry].line = NO_LINE;
    l2->known[line].state = 0;
}

INLINE void l2_keep(struct cache *cache, const struct shape *shape, struct cache_core *of, uint32_t line,
                    uint64_t ready, uint8_t state)
{
    /* Stores that join an open one are not noticed; others' to this line are from now on. */
    l1_close_others(cache, of, line, shape->l2_shift - shape->l1d_shift);
    if (!cache->config.l2_entries) return;
    if (SELDOM(!(cache->l2_users & of->bit))) {
        cache->l2_users |= of->bit;
        quick_change(cache);
    }
    l2_put(&of->l2, &of->l2.known[line], line, ready, state);
}

/* The filter will know a stream by the line after this one, which missed. */
INLINE void l2_expect(struct l2 *l2, struct l2_known *known, uint32_t line)
{
    uint32_t at = l2->next_expected;
    l2->expected[at] = line + 1;
    known[1].expected = (uint8_t)at;
    l2->next_expected = l2->expected_after[at];
}

/* A stream reaches a line. */
INLINE void l2_reach(struct l2 *l2, uint32_t line, uint32_t stream)
{
    l2_known(l2, l2->stream[stream])->stream = 0; /* no two are at the same line */
    l2->stream[stream] = line;
    l2->known[line].stream = (uint8_t)stream;
}

/* A line is read that the filter expects. */
void l2_begin(struct cache *cache, struct cache_core *of, uint32_t line, uint64_t now);
/* A line is read that is the next of a stream. */
void l2_advance(struct cache *cache, struct cache_core *of, uint32_t line, uint32_t stream, uint64_t now);
/* A line is fetched ahead, with Blue Gene's sizes. */
void l2_prefetch(struct cache *cache, struct cache_core *of, uint32_t line, uint64_t now);

INLINE void l2_follow(struct cache *cache, struct cache_core *of, uint32_t line, bool missed, uint64_t now)
{
    struct l2 *l2 = &of->l2;
    const struct l2_known *known = &l2->known[line];
    if (!cache->streaming || known->stream) return;
    if (SELDOM(known[-1].stream))
        l2_advance(cache, of, line, known[-1].stream, now);
    else if (missed && SELDOM(l2->expected[known->expected] == line))
        l2_begin(cache, of, line, now);
    else if (missed)
        l2_expect(l2, &l2->known[line], line);
}

/* A prefetched line is used for the first time. */
INLINE void l2_use(struct cache *cache, struct cache_core *of, struct l2_known *known, uint32_t line, bool data)
{
    struct core_counts *counts = &of->counts;
    counts->self_hit++;
    known->state |= L2_USED;
    if (!l3_claim(cache, line, known->state & L2_FROM_DDR)) return;
    *(data ? &counts->d2_miss : &counts->i2_miss) += 1;
    *(data ? &counts->data_ahead : &counts->code_ahead) += 1;
}

/* When the line is there for L1; the caller counts l2_read. */
INLINE uint64_t l2_read(struct cache *cache, const struct shape *shape, struct cache_core *of, uint32_t line, bool data,
                        uint64_t now)
{
    struct core_counts *counts = &of->counts;
    struct l2 *l2 = &of->l2;
    struct l2_known *known = &l2->known[line];
    bool found = known->state;
    uint64_t end;
    if (found) {
        uint64_t ready = l2->entry[known->entry].ready;
        of->served = CACHE_IN_L2;
        counts->stream_hit += known->state & L2_PREFETCHED;
        if (!data) counts->code_hit++;
        if (!(known->state & L2_USED)) l2_use(cache, of, known, line, data);
        end = now + cache->l2_latency;
        if (ready > end) end = ready;
    } else {
        struct l3_answer answer = l3_read(cache, shape, of, line, false, now);
        end = answer.ready;
        of->served = answer.found ? CACHE_IN_L3 : CACHE_IN_DDR;
        counts->l2_miss++;
        if (SELDOM(answer.from_ddr)) *(data ? &counts->d2_miss : &counts->i2_miss) += 1;
        counts->l3_wait += end - now;
        counts->l3_pending += cover(&l2->pending_until, now, end);
        l2_keep(cache, shape, of, line, end, L2_USED);
    }
    l2_follow(cache, of, line, !found, now);
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
        if (!user->l2.known[line].state) continue;
        if (user == of)
            of->counts.snoop_hit_same++;
        else {
            user->counts.snoop_hit_other++;
            l2_drop(&user->l2, line);
        }
    }
    l3_write(cache, shape, of, line, now);
}

#endif
