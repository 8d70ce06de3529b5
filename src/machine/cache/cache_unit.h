/* Units that serve one request at a time, and intervals in which a signal is high. */
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

/* A unit that serves one request at a time, whatever the order in which requests of different cores
 * arrive: a core whose clock is behind gets the first gap that is long enough, never a time that is
 * already booked. So busy periods do not overlap, and the unit delivers what its busy time allows.
 *
 * Its busy periods are in the order of time; they neither overlap nor touch. Periods that ended
 * before `floor` may be dropped. A request before `floor` is served at once and not booked: that is
 * CALENDAR_WINDOW cycles behind another core's request, which is more than a quantum. */
enum { CALENDAR_WINDOW = 4096, CALENDAR_PERIODS = 2 * CALENDAR_WINDOW };
struct calendar {
    struct unit *last, *first; /* there is always one */
    struct unit *full;         /* behind it is no place for another */
    struct unit *period;       /* CALENDAR_PERIODS places */
    uint64_t floor;            /* of the slow path: CALENDAR_WINDOW before a last period began */
};

INLINE uint64_t calendar_until(const struct calendar *calendar)
{
    return calendar->last->until;
}

/* cache_calendar.c: `calendar` is all zeros before calendar_init. */
void calendar_init(struct calendar *calendar);
void calendar_fini(struct calendar *calendar);
uint64_t calendar_serve_slow(struct calendar *calendar, uint64_t now, uint64_t length);

/* When a request that comes at `now` is served; the unit is then busy for `length`. */
INLINE uint64_t calendar_serve(struct calendar *calendar, uint64_t now, uint64_t length)
{
    struct unit *last = calendar->last;
    if (now > last->until && last != calendar->full) {
        last[1] = (struct unit){now, now + length};
        calendar->last = last + 1;
        return now;
    }
    if (now >= last->from && now <= last->until) {
        now = last->until;
        last->until += length;
        return now;
    }
    return calendar_serve_slow(calendar, now, length);
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
