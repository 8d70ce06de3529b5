/* L2, a core's prefetch buffer and its stream engine: what it holds. What is decided: cache_l2.c.
 * The path of a read or write: cache_l2_access.h. */
#ifndef CACHE_L2_H
#define CACHE_L2_H

#include "machine/cache/cache_tags.h"

/* What an L2 knows of a line, by the line. Lines leave the buffer, and the filter of lines that
 * would begin a stream, in the order they came. So they are numbered in that order, and nothing has
 * to be done where one leaves. */
struct l2_known {
    uint32_t put;  /* its number in the buffer, in steps of L2_PUT, + L2_…; it is there from
                      l2->oldest on */
    uint32_t next; /* its number in the filter, which expects it from l2->expects on, + L2_STREAM *
                      the stream that has reached the line before it, and no other since */
};

enum l2_state {
    L2_PREFETCHED = 1,
    L2_UNUSED = 2,
    L2_FROM_DDR = 4,
    L2_LATE = 8 /* see l2->ready */
};
enum { L2_PUT = 16, L2_STREAM = 1 << 24, L2_PLACES = UINT8_MAX + 1 };

struct l2 {
    struct l2_known *known;
    uint32_t oldest,
        span; /* what the buffer's oldest line has at least; how much more the next one gets */
    uint32_t expects, spans;    /* likewise for the filter */
    uint64_t ready[L2_PLACES];  /* by number: when a line is there that is L2_LATE; others are when
                                   they are asked for */
    uint32_t stream[L2_PLACES]; /* the line that each stream has reached, from 1 */
    uint32_t next_stream;
    uint64_t pending_until, prefetch_until; /* for cover */
};

/* Numbers begin so that they soon become too large, once. */
enum { L2_NUMBERS = 1 << 10 };
#define L2_MOST     (UINT32_MAX - 16 * L2_PLACES * L2_PUT)
#define L2_EXPECTED (L2_STREAM - 1U)
#define L2_EXPECTS  (L2_EXPECTED - 16 * L2_PLACES)

INLINE bool l2_has(const struct l2 *l2, const struct l2_known *known)
{
    return known->put >= l2->oldest;
}

/* Whether a stream has reached a line; the one that has reached the line before it, or 0. */
INLINE bool l2_reached(const struct l2_known *known)
{
    return known[1].next >= L2_STREAM;
}

INLINE uint32_t l2_stream(const struct l2_known *known)
{
    return known->next / L2_STREAM;
}

/* When a line is there that L2 has. */
INLINE uint64_t *l2_ready(struct l2 *l2, uint32_t put)
{
    return &l2->ready[put / L2_PUT % L2_PLACES];
}

/* A line comes. The oldest goes, and if another core has taken that out, its place. */
INLINE void l2_put(struct l2 *l2, struct l2_known *known, uint32_t state)
{
    known->put = l2->oldest + l2->span + state;
    l2->oldest += L2_PUT;
}

/* The same for one that somebody may ask for before it is there. */
INLINE void l2_put_late(struct l2 *l2, struct l2_known *known, uint64_t ready, uint32_t state)
{
    l2_put(l2, known, state | L2_LATE);
    *l2_ready(l2, known->put) = ready;
}

/* The filter will know a stream by the line after this one, which missed. */
INLINE void l2_expect(struct l2 *l2, struct l2_known *known)
{
    known[1].next = l2->expects + l2->spans; /* no stream has reached this line */
    l2->expects++;
}

/* A stream reaches a line. (NO_LINE is the line before 0, which none has reached.) */
INLINE void l2_reach(struct l2 *l2, uint32_t line, uint32_t stream)
{
    l2->known[l2->stream[stream] + 1].next &= L2_EXPECTED; /* no two are at the same line */
    l2->stream[stream] = line;
    l2->known[line + 1].next |= stream * L2_STREAM;
}

/* The same, where it has reached the line before; `known` is the line's own. */
INLINE void l2_reach_next(struct l2 *l2, struct l2_known *known, uint32_t line)
{
    uint32_t next = known->next;
    known->next = next & L2_EXPECTED;
    known[1].next |= next & ~L2_EXPECTED;
    l2->stream[next / L2_STREAM] = line;
}

/* A stream is to reach a line that the filter does not expect, wherever the stream was. */
INLINE void l2_lead(struct l2 *l2, struct l2_known *known, uint32_t stream)
{
    l2->known[l2->stream[stream] + 1].next &= L2_EXPECTED;
    known->next = stream * L2_STREAM;
}

#endif
