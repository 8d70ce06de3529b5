/* A unit that serves one request at a time, and intervals in which a signal is high. */
#ifndef CACHE_UNIT_H
#define CACHE_UNIT_H

#include "machine/cache/cache_host.h"

#include <stdint.h>

/* A unit that serves one request at a time. `from`: since when it has been busy without a break. */
struct unit {
    uint64_t from, until;
};

/* When a request that comes at `now` is served; the unit is then busy for `length`. */
INLINE uint64_t unit_serve(struct unit *unit, uint64_t now, uint64_t length)
{
    uint64_t start = now;
    if (UNLIKELY(now >= unit->from && now <= unit->until))
        start = unit->until;
    else
        unit->from = now;
    unit->until = start + length;
    return start;
}

/* Adds [start, end) to the cycles in which a signal is high; starts never decrease. */
INLINE uint64_t count_high(uint64_t *until, uint64_t start, uint64_t end)
{
    uint64_t first = start > *until ? start : *until;
    if (end <= first) return 0;
    *until = end;
    return end - first;
}

#endif
