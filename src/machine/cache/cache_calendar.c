/* The bookings of a DDR controller (cache_unit.h).
 *
 * Cores take turns of a quantum, so requests arrive out of order by up to a quantum. A single busy
 * interval cannot describe that: a core that is behind would either wait for requests of its future
 * or be served in time that is taken. Gaps are kept for CALENDAR_WINDOW cycles.
 */
#include "machine/cache/cache_no_vectors.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "machine/cache/cache_unit.h"

/* Begins small, so that the periods in use stay in the host's caches. */
enum { FIRST_FULL = 256 };

void calendar_init(struct calendar *calendar)
{
    calendar->period = base_reserve(CALENDAR_PERIODS * sizeof *calendar->period);
    calendar->first = calendar->last = calendar->period; /* an empty period at 0 */
    calendar->full = calendar->period + FIRST_FULL - 1;
}

void calendar_fini(struct calendar *calendar)
{
    base_release(calendar->period, CALENDAR_PERIODS * sizeof *calendar->period);
}

/* `count` periods move to another place. Not memmove: that uses vector registers, and translated
 * code comes here without saving them. */
static void move(struct unit *to, const struct unit *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = to < from ? i : count - 1 - i;
        to[at] = from[at];
        __asm__ volatile("" : : : "memory"); /* it stays a loop */
    }
}

/* Drops what ended before the window. */
static void drop_old(struct calendar *calendar)
{
    uint64_t from = calendar->last->from;
    if (from > calendar->floor + CALENDAR_WINDOW) calendar->floor = from - CALENDAR_WINDOW;
    while (calendar->first->until < calendar->floor)
        calendar->first++; /* the last one ends behind it */
}

/* Makes room behind the last period. At least half of the places are free then. */
static void make_room(struct calendar *calendar)
{
    uint32_t live = (uint32_t)(calendar->last - calendar->first) + 1,
             places = (uint32_t)(calendar->full - calendar->period) + 1;
    move(calendar->period, calendar->first, live);
    calendar->first = calendar->period;
    calendar->last = calendar->period + live - 1;
    if (2 * live > places) places *= 2;
    assert(places <= CALENDAR_PERIODS); /* a window has half as many */
    calendar->full = calendar->period + places - 1;
}

/* The first gap behind `now` that is long enough: before which period; *now: when it begins. */
static struct unit *find_gap(const struct calendar *calendar, uint64_t *now, uint64_t length)
{
    struct unit *next = calendar->last + 1; /* most requests are close to the last */
    while (next > calendar->first && next[-1].until >= *now)
        next--;
    for (; next <= calendar->last && next->from < *now + length; next++)
        if (next->until > *now) *now = next->until;
    return next;
}

/* [start, start + length), which is free and lies before `next`, is busy. */
static void book(struct calendar *calendar, struct unit *next, uint64_t start, uint64_t length)
{
    uint32_t behind = (uint32_t)(calendar->last + 1 - next);
    bool joins_next = behind && next->from == start + length;
    bool joins_before = next > calendar->first && next[-1].until == start;
    if (joins_before && joins_next) {
        next[-1].until = next->until;
        move(next, next + 1, behind - 1);
        calendar->last--;
    } else if (joins_before) {
        next[-1].until = start + length;
    } else if (joins_next) {
        next->from = start;
    } else {
        move(next + 1, next, behind);
        calendar->last++;
        *next = (struct unit){start, start + length};
    }
}

uint64_t calendar_serve_slow(struct calendar *calendar, uint64_t now, uint64_t length)
{
    drop_old(calendar);
    if (!length || now < calendar->floor) return now;
    if (calendar->last == calendar->full) make_room(calendar);
    struct unit *next = find_gap(calendar, &now, length);
    book(calendar, next, now, length);
    return now;
}
