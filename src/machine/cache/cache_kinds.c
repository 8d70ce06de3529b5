/* Classifies misses by simulating a fully associative LRU cache of as many lines, and one without
 * limits.
 *
 * Lines are physical, and frames are allocated from 0 on, so the state of a line is in an array by
 * its number. The LRU order is a ring through `place`; its first element is no line: behind it is
 * the newest line, before it the oldest. A line that coherence removed stays in the order: a line
 * that LRU would have replaced anyway is a capacity miss. */
#include "machine/cache/cache_kinds.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Of a line: its place in the order, 0 for none; whether it was ever filled; whether coherence or a
 * flush then removed it. */
#define STATE_TAKEN (UINT32_C(1) << 31)
#define STATE_EVER  KINDS_LINES
#define STATE_PLACE (STATE_EVER - 1)

struct place {
    uint32_t line, newer, older;
};

struct kinds {
    uint32_t lines, used;
    struct place *place; /* [lines + 1] */
    uint32_t *state;     /* by line */
    size_t capacity;
};

struct kinds *kinds_new(uint64_t lines)
{
    struct kinds *kinds = base_calloc(1, sizeof *kinds);
    kinds->lines = (uint32_t)lines;
    kinds->place = base_calloc(lines + 1, sizeof *kinds->place);
    return kinds;
}

void kinds_free(struct kinds *kinds)
{
    if (!kinds) return;
    free(kinds->place);
    free(kinds->state);
    free(kinds);
}

static uint32_t *state_of(struct kinds *kinds, uint32_t line)
{
    if (line >= kinds->capacity) {
        size_t before = kinds->capacity;
        kinds->state =
            base_grow(kinds->state, &kinds->capacity, (size_t)line + 1, sizeof *kinds->state);
        memset(kinds->state + before, 0, (kinds->capacity - before) * sizeof *kinds->state);
    }
    return &kinds->state[line];
}

static void unlink_place(struct kinds *kinds, uint32_t at)
{
    const struct place *place = &kinds->place[at];
    kinds->place[place->newer].older = place->older;
    kinds->place[place->older].newer = place->newer;
}

static void link_newest(struct kinds *kinds, uint32_t at)
{
    struct place *ring = &kinds->place[0];
    kinds->place[at].newer = 0;
    kinds->place[at].older = ring->older;
    kinds->place[ring->older].newer = at;
    ring->older = at;
}

/* A place for a line that has none: an empty one, or that of the oldest. */
static uint32_t take_place(struct kinds *kinds, uint32_t line)
{
    uint32_t at = kinds->used < kinds->lines ? ++kinds->used : kinds->place[0].newer;
    if (!at) return 0; /* there are no places */
    if (kinds->place[0].newer == at) {
        kinds->state[kinds->place[at].line] &= ~STATE_PLACE;
        unlink_place(kinds, at);
    }
    kinds->place[at].line = line;
    return at;
}

static enum kind kind_of(uint32_t state)
{
    if (!(state & STATE_EVER)) return KIND_COLD;
    if (!(state & STATE_PLACE)) return KIND_CAPACITY;
    return state & STATE_TAKEN ? KIND_COHERENCE : KIND_CONFLICT;
}

enum kind kinds_use(struct kinds *kinds, uint32_t line, bool brings)
{
    uint32_t *state = state_of(kinds, line), at = *state & STATE_PLACE;
    enum kind kind = kind_of(*state);
    if (brings) *state = (*state | STATE_EVER) & ~STATE_TAKEN;
    if (at == kinds->place[0].older && at) return kind;
    if (at)
        unlink_place(kinds, at);
    else if (brings)
        at = take_place(kinds, line);
    if (!at) return kind;
    *state = (*state & ~STATE_PLACE) | at;
    link_newest(kinds, at);
    return kind;
}

void kinds_take(struct kinds *kinds, uint32_t line)
{
    *state_of(kinds, line) |= STATE_TAKEN;
}
