/* L2, a core's prefetch buffer and its stream engine: what it holds. What is decided: cache_l2.c.
 * The path of a read or write: cache_l2_access.h. */
#ifndef CACHE_L2_H
#define CACHE_L2_H

#include "machine/cache/cache_tags.h"

/* What an L2 keeps of a line, by line number. Lines leave the buffer, and the filter, in FIFO
 * order. So each entry has the number of its arrival, and a line is present while its number is not
 * older than the oldest: leaving needs no work. */
struct l2_entry {
    uint32_t fifo_number; /* FIFO number in the buffer, in steps of L2_STEP, + L2_ flags; present
                             from l2->oldest on */
    uint32_t next; /* FIFO number in the filter, valid from l2->filter_oldest on, + L2_STREAM * the
                      stream that has reached the line before it, and no line since */
};

enum l2_state {
    L2_PREFETCHED = 1,
    L2_UNUSED = 2,
    L2_FROM_DDR = 4,
    L2_IN_FLIGHT = 8 /* see l2->ready */
};
enum { L2_STEP = 16, L2_STREAM = 1 << 24, L2_PLACES = UINT8_MAX + 1 };

struct l2 {
    struct l2_entry *entry;
    uint32_t oldest,
        span; /* what the buffer's oldest line has at least; how much more the next one gets */
    uint32_t filter_oldest, filter_span; /* likewise for the filter */
    uint64_t ready[L2_PLACES];           /* by number: arrival of a line that is L2_IN_FLIGHT */
    uint32_t stream[L2_PLACES];          /* the line that each stream has reached, from 1 */
    uint32_t next_stream;
    uint64_t pending_until, prefetch_until; /* for cover */
};

/* Numbers begin so that they soon become too large, once. */
enum { L2_NUMBERS = 1 << 10 };
#define L2_MOST        (UINT32_MAX - 16 * L2_PLACES * L2_STEP)
#define L2_FILTER_MASK (L2_STREAM - 1U)
#define L2_FILTER_MOST (L2_FILTER_MASK - 16 * L2_PLACES)

INLINE bool l2_has(const struct l2 *l2, const struct l2_entry *entry)
{
    return entry->fifo_number >= l2->oldest;
}

/* Whether a stream has reached a line; the one that has reached the line before it, or 0. */
INLINE bool l2_reached(const struct l2_entry *entry)
{
    return entry[1].next >= L2_STREAM;
}

INLINE uint32_t l2_stream(const struct l2_entry *entry)
{
    return entry->next / L2_STREAM;
}

/* When a line in L2 arrives. */
INLINE uint64_t *l2_ready(struct l2 *l2, uint32_t number)
{
    return &l2->ready[number / L2_STEP % L2_PLACES];
}

/* Inserts a line and drops the oldest, or the place that another core's write freed. */
INLINE void l2_insert(struct l2 *l2, struct l2_entry *entry, uint32_t state)
{
    entry->fifo_number = l2->oldest + l2->span + state;
    l2->oldest += L2_STEP;
}

/* The same for a line that arrives at `ready`. */
INLINE void l2_insert_in_flight(struct l2 *l2, struct l2_entry *entry, uint64_t ready,
                                uint32_t state)
{
    l2_insert(l2, entry, state | L2_IN_FLIGHT);
    *l2_ready(l2, entry->fifo_number) = ready;
}

/* Inserts the line behind this miss into the filter. */
INLINE void l2_filter_insert(struct l2 *l2, struct l2_entry *entry)
{
    entry[1].next = l2->filter_oldest + l2->filter_span; /* no stream has reached this line */
    l2->filter_oldest++;
}

/* A stream reaches a line. (NO_LINE is the line before 0, which none has reached.) */
INLINE void l2_reach(struct l2 *l2, uint32_t line, uint32_t stream)
{
    l2->entry[l2->stream[stream] + 1].next &= L2_FILTER_MASK; /* no two are at the same line */
    l2->stream[stream] = line;
    l2->entry[line + 1].next |= stream * L2_STREAM;
}

/* The same where the stream has reached the line before; `entry` is the line's own. */
INLINE void l2_reach_next(struct l2 *l2, struct l2_entry *entry, uint32_t line)
{
    uint32_t next = entry->next;
    entry->next = next & L2_FILTER_MASK;
    entry[1].next |= next & ~L2_FILTER_MASK;
    l2->stream[next / L2_STREAM] = line;
}

/* Assigns a stream to a line that the filter does not expect. */
INLINE void l2_stream_begin(struct l2 *l2, struct l2_entry *entry, uint32_t stream)
{
    l2->entry[l2->stream[stream] + 1].next &= L2_FILTER_MASK;
    entry->next = stream * L2_STREAM;
}

#endif
