/* Why a cache missed: cold, capacity, conflict, coherence (docs/model-memory.md).
 *
 * Beside an L1D or L3 two more caches are simulated that fill the same lines: a fully associative
 * LRU cache of as many lines, and one without limits. Both see every use of a line, so while this
 * is on no access is free: cache_new gives no line bits to loads and stores. `shape->kinds`
 * switches it on. That is a constant, false, in the copies of the code for Blue Gene, so it costs
 * nothing when it is off.
 */
#ifndef CACHE_KINDS_H
#define CACHE_KINDS_H

#include <stdbool.h>
#include <stdint.h>

enum kind {
    KIND_COLD,     /* no cache would have the line: it was never filled */
    KIND_CAPACITY, /* else, a fully associative one of this size would not have it */
    KIND_CONFLICT, /* else */
    KIND_COHERENCE /* it would, but another core or the program removed the line */
};
enum { KINDS = 4, KINDS_OF_L3 = 3 };    /* no line is removed from L3 */
#define KINDS_LINES (UINT32_C(1) << 30) /* a cache has fewer */

struct kinds;

struct kinds *kinds_new(uint64_t lines);
void kinds_free(struct kinds *kinds);
/* A line is used; `brings`: it is in the cache from now on. Returns what kind of miss it is if it
 * is one. */
enum kind kinds_use(struct kinds *kinds, uint32_t line, bool brings);
/* A line that is in the cache is taken away. */
void kinds_take(struct kinds *kinds, uint32_t line);

#endif
