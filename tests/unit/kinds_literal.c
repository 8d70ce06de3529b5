/* See kinds_literal.h. */
#include "kinds_literal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool has(const struct lines *list, uint64_t line)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->line[i] == line) return true;
    return false;
}

static void drop(struct lines *list, uint64_t line)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->line[i] == line) {
            memmove(list->line + i, list->line + i + 1, (list->count - i - 1) * sizeof *list->line);
            list->count--;
            return;
        }
}

static void append(struct lines *list, uint64_t line)
{
    drop(list, line);
    list->line = realloc(list->line, (list->count + 1) * sizeof *list->line);
    assert(list->line);
    list->line[list->count++] = line;
}

enum kind literal_kinds_use(struct literal_kinds *kinds, uint64_t line, bool brings)
{
    enum kind kind = KIND_CONFLICT;
    if (!has(&kinds->ever, line))
        kind = KIND_COLD;
    else if (!has(&kinds->recent, line))
        kind = KIND_CAPACITY;
    else if (has(&kinds->taken, line))
        kind = KIND_COHERENCE;
    if (brings || has(&kinds->recent, line)) append(&kinds->recent, line);
    if (kinds->recent.count > kinds->room) drop(&kinds->recent, kinds->recent.line[0]);
    if (brings) append(&kinds->ever, line);
    if (brings) drop(&kinds->taken, line);
    return kind;
}

void literal_kinds_take(struct literal_kinds *kinds, uint64_t line)
{
    append(&kinds->taken, line);
}

void literal_kinds_fini(struct literal_kinds *kinds)
{
    free(kinds->recent.line);
    free(kinds->ever.line);
    free(kinds->taken.line);
}
