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

void calendar_init(struct calendar *calendar)
{
    calendar->period = base_calloc(CALENDAR_PERIODS, sizeof *calendar->period);
    calendar->end = 1; /* an empty period at 0, so that there is always a last one */
}

void calendar_fini(struct calendar *calendar)
{
    free(calendar->period);
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

/* Makes room for a period before `index`; returns where it is then. */
static uint32_t insert(struct calendar *calendar, uint32_t index)
{
    if (calendar->end == CALENDAR_PERIODS) {
        index -= calendar->first;
        calendar->end -= calendar->first;
        move(calendar->period, calendar->period + calendar->first, calendar->end);
        calendar->first = 0;
    }
    assert(calendar->end < CALENDAR_PERIODS); /* a window has half as many */
    move(calendar->period + index + 1, calendar->period + index, calendar->end - index);
    calendar->end++;
    return index;
}

static void drop_old(struct calendar *calendar)
{
    uint64_t from = calendar->period[calendar->end - 1].from;
    if (from > calendar->floor + CALENDAR_WINDOW) calendar->floor = from - CALENDAR_WINDOW;
    while (calendar->period[calendar->first].until < calendar->floor)
        calendar->first++; /* the last one ends behind it */
}

/* The first gap behind `now` that is long enough: before which period; *now: when it begins. */
static uint32_t find_gap(const struct calendar *calendar, uint64_t *now, uint64_t length)
{
    uint32_t index = calendar->first;
    while (index < calendar->end && calendar->period[index].until < *now)
        index++;
    for (; index < calendar->end && calendar->period[index].from < *now + length; index++)
        if (calendar->period[index].until > *now) *now = calendar->period[index].until;
    return index;
}

/* [start, start + length), which is free and lies before period `index`, is busy. */
static void book(struct calendar *calendar, uint32_t index, uint64_t start, uint64_t length)
{
    struct unit *next = &calendar->period[index];
    bool joins_next = index < calendar->end && next->from == start + length;
    bool joins_before = index > calendar->first && next[-1].until == start;
    if (joins_before && joins_next) {
        next[-1].until = next->until;
        move(next, next + 1, calendar->end - index - 1);
        calendar->end--;
    } else if (joins_before) {
        next[-1].until = start + length;
    } else if (joins_next) {
        next->from = start;
    } else {
        index = insert(calendar, index);
        calendar->period[index] = (struct unit){start, start + length};
    }
}

uint64_t calendar_serve(struct calendar *calendar, uint64_t now, uint64_t length)
{
    struct unit *last = &calendar->period[calendar->end - 1];
    if (now >= last->from && now <= last->until) {
        now = last->until;
        last->until += length;
        return now;
    }
    if (!length || now < calendar->floor) return now;
    uint32_t index = calendar->end;
    if (now < last->from) index = find_gap(calendar, &now, length);
    book(calendar, index, now, length);
    drop_old(calendar);
    return now;
}
