/* Kinds of misses again, as literally as possible, to compare src/machine/cache/cache_kinds.c with:
 * three lists of lines, each searched from its beginning. */
#ifndef TEST_KINDS_LITERAL_H
#define TEST_KINDS_LITERAL_H

#include <stddef.h>
#include <stdint.h>

#include "machine/cache/cache_kinds.h"

struct lines {
    uint64_t *line;
    size_t count;
};

struct literal_kinds {
    size_t room;
    struct lines
        recent; /* what a fully associative LRU cache would have, the line used last at the end */
    struct lines ever;  /* what was ever in the cache */
    struct lines taken; /* what was taken from it, and is not back */
};

enum kind literal_kinds_use(struct literal_kinds *kinds, uint64_t line, bool brings);
void literal_kinds_take(struct literal_kinds *kinds, uint64_t line);
void literal_kinds_fini(struct literal_kinds *kinds);

#endif
