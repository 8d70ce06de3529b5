/* What an access of the common kind changes at once: L1D, the lines that stores join, and the list
 * of misses of which L2 has still to hear (cache_fast.c). It is here so that code may do so
 * itself, without a call (src/machine/jit/jit_miss.c): such code knows places, not names, hence the
 * numbers, and the assertions that they are right. */
#ifndef CACHE_FAST_H
#define CACHE_FAST_H

#include <stddef.h>
#include <stdint.h>

#include "machine/cache/cache.h"

/* A miss: its line of L1D, whether it is a store, and one whose line is in L1D; and in the upper
 * half the lower half of the time when it was, but for what those before it will have to wait. */
typedef uint64_t cache_miss;
enum { MISS_STORE = 1 << 30, MISS_HERE = 1 << 29, MISS_LINE = MISS_HERE - 1 };

/* A set that is replaced round-robin. */
struct turn {
    uint32_t next; /* index of the way to be replaced */
    uint32_t last; /* of the one that makes the set full again since the last wrap (cache_snoop.c);
                      NO_WAY: it is */
};

/* A line of L1D's size that stores join: the store that opened it has gone to memory. */
struct open_line {
    uint8_t *at;            /* as l1.at; NULL: several bytes know it */
    struct open_line *next; /* of the ring */
    uint32_t line;          /* NO_LINE: none */
};

/* What is quick for a core, and in a page; see cache_fast.c. FAST_LOAD_CHECKED,
 * FAST_STORE_LISTENED: loads that look at what is seldom so, stores that somebody may have to be
 * told of. */
enum { FAST_LOAD = 1, FAST_STORE = 2, FAST_LOAD_CHECKED = 4, FAST_STORE_LISTENED = 8 };
/* Of a page that has been taken out of the TLB: what was quick in it. */
enum { EVICTED_LOAD = 16, EVICTED_STORE = 32 };
/* Of a page: the core has opened a line there, so no other core has FAST_LOAD. */
enum { PAGE_HAS_OPEN_LINE = 64 };
/* Of a core: stores that others may notice. */
enum { FAST_STORE_SHOWN = 128 };

/* Of a core whose L1D has up to 128 KB and 128 sets, whose numbers pages have no part in. There is
 * one set more, with one way. */
enum { FAST_SETS = 128, FAST_WAYS = 4096 };
struct cache_fast {
    cache_miss *next_miss, *full; /* where the next one goes; where that is when they are settled */
    const uint32_t *load_pages;   /* of `view`, or none at all where such accesses are not quick, */
    const uint32_t *store_pages;  /* and the same for stores */
    struct cache_view *view;      /* that was last told to postpone */
    struct open_line *next_open;  /* the one to be replaced */
    const void *load, *store;     /* for code: what does so for it, */
    const void *probe;            /* and for a load that may be free */
    uint32_t ready;               /* QUICK_…: may be tried */
    uint32_t set_mask;            /* of L1D */
    /* What `probe` changes in the place of a line's byte and set if the load is free: nothing that
     * anybody reads. */
    uint8_t *no_at, no_byte;
    uint32_t no_set;
    _Alignas(64) struct turn turn[FAST_SETS + 1];
    _Alignas(64) uint32_t line[FAST_WAYS + 1]; /* by index of the way */
    uint8_t *at[FAST_WAYS + 1]; /* likewise: the only line bytes that know of the line; NULL: there
                                    may be others */
    uint16_t after[FAST_WAYS + 1]; /* likewise: the way that is replaced after it */
};

/* What has come together is settled, where fast->next_miss has come to fast->full. Returns what
 * it costs. */
uint32_t cache_drain_fast(struct cache_fast *fast);

#define FAST_NEXT_MISS   0
#define FAST_FULL        8
#define FAST_LOAD_PAGES  16
#define FAST_STORE_PAGES 24
#define FAST_VIEW        32
#define FAST_NEXT_OPEN   40
#define FAST_SET_MASK    76
#define FAST_NO_AT       80
#define FAST_NO_SET      92
#define FAST_TURN        128
#define FAST_LINE        1216
#define FAST_AT          17608
#define FAST_AFTER       50384
#define TURN_NEXT        0
#define TURN_LAST        4
#define OPEN_AT          0
#define OPEN_NEXT        8
#define OPEN_LINE        16
#define FAST_IS(name, member)                                                                      \
    _Static_assert(offsetof(struct cache_fast, member) == FAST_##name,                             \
                   "cache_fast." #member " has moved")
FAST_IS(NEXT_MISS, next_miss);
FAST_IS(FULL, full);
FAST_IS(LOAD_PAGES, load_pages);
FAST_IS(STORE_PAGES, store_pages);
FAST_IS(VIEW, view);
FAST_IS(NEXT_OPEN, next_open);
FAST_IS(SET_MASK, set_mask);
FAST_IS(NO_AT, no_at);
FAST_IS(NO_SET, no_set);
FAST_IS(TURN, turn);
FAST_IS(LINE, line);
FAST_IS(AT, at);
FAST_IS(AFTER, after);
_Static_assert(sizeof(struct turn) == 8 && offsetof(struct turn, next) == TURN_NEXT &&
                   offsetof(struct turn, last) == TURN_LAST,
               "members of a turn have moved");
_Static_assert(offsetof(struct open_line, at) == OPEN_AT &&
                   offsetof(struct open_line, next) == OPEN_NEXT &&
                   offsetof(struct open_line, line) == OPEN_LINE,
               "members of an open line have moved");

#endif
