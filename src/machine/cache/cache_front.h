/* What an access of the common kind changes at once: L1D, the lines that stores join, and the list
 * of misses of which L2 has still to hear (cache_quick.c). It is here so that code may do so
 * itself, without a call (src/machine/jit/jit_miss.c): such code knows places, not names, hence the
 * numbers, and the assertions that they are right. */
#ifndef CACHE_FRONT_H
#define CACHE_FRONT_H

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

/* What is quick for a core, and in a page; see cache_quick.c. QUICK_CARE, QUICK_HEARD: loads that
 * look at what is seldom so, stores that somebody may have to be told of. */
enum { QUICK_LOAD = 1, QUICK_STORE = 2, QUICK_CARE = 4, QUICK_HEARD = 8 };
/* Of a page that has been taken out of the TLB: what was quick in it. */
enum { OUT_LOAD = 16, OUT_STORE = 32 };
/* Of a page: the core has opened a line there, so no other core has QUICK_LOAD. */
enum { PAGE_OPENED = 64 };
/* Of a core: stores that others may notice. */
enum { QUICK_SEEN = 128 };

/* Of a core whose L1D has up to 128 KB and 128 sets, whose numbers pages have no part in. There is
 * one set more, with one way. */
enum { FRONT_SETS = 128, FRONT_WAYS = 4096 };
struct cache_front {
    cache_miss *next_miss, *full; /* where the next one goes; where that is when they are settled */
    const uint32_t *load_pages;   /* of `view`, or none at all where such accesses are not quick, */
    const uint32_t *store_pages;  /* and the same for stores */
    struct cache_view *view;      /* that was last told to postpone */
    struct open_line *next_open;  /* the one to be replaced */
    const void *load, *store;     /* for code: what does so for it, */
    const void *either;           /* and for a load that may be free */
    uint32_t ready;               /* QUICK_…: may be tried */
    uint32_t set_mask;            /* of L1D */
    /* What `either` changes in the place of a line's byte and set if the load is free: nothing that
     * anybody reads. */
    uint8_t *no_at, no_byte;
    uint32_t no_set;
    _Alignas(64) struct turn turn[FRONT_SETS + 1];
    _Alignas(64) uint32_t line[FRONT_WAYS + 1]; /* by index of the way */
    uint8_t *at[FRONT_WAYS + 1]; /* likewise: the only line bytes that know of the line; NULL: there
                                    may be others */
    uint16_t after[FRONT_WAYS + 1]; /* likewise: the way that is replaced after it */
};

/* What has come together is settled, where front->next_miss has come to front->full. Returns what
 * it costs. */
uint32_t cache_settle_front(struct cache_front *front);

#define FRONT_NEXT_MISS   0
#define FRONT_FULL        8
#define FRONT_LOAD_PAGES  16
#define FRONT_STORE_PAGES 24
#define FRONT_VIEW        32
#define FRONT_NEXT_OPEN   40
#define FRONT_SET_MASK    76
#define FRONT_NO_AT       80
#define FRONT_NO_SET      92
#define FRONT_TURN        128
#define FRONT_LINE        1216
#define FRONT_AT          17608
#define FRONT_AFTER       50384
#define TURN_NEXT         0
#define TURN_LAST         4
#define OPEN_AT           0
#define OPEN_NEXT         8
#define OPEN_LINE         16
#define FRONT_IS(name, member)                                                                     \
    _Static_assert(offsetof(struct cache_front, member) == FRONT_##name,                           \
                   "cache_front." #member " has moved")
FRONT_IS(NEXT_MISS, next_miss);
FRONT_IS(FULL, full);
FRONT_IS(LOAD_PAGES, load_pages);
FRONT_IS(STORE_PAGES, store_pages);
FRONT_IS(VIEW, view);
FRONT_IS(NEXT_OPEN, next_open);
FRONT_IS(SET_MASK, set_mask);
FRONT_IS(NO_AT, no_at);
FRONT_IS(NO_SET, no_set);
FRONT_IS(TURN, turn);
FRONT_IS(LINE, line);
FRONT_IS(AT, at);
FRONT_IS(AFTER, after);
_Static_assert(sizeof(struct turn) == 8 && offsetof(struct turn, next) == TURN_NEXT &&
                   offsetof(struct turn, last) == TURN_LAST,
               "members of a turn have moved");
_Static_assert(offsetof(struct open_line, at) == OPEN_AT &&
                   offsetof(struct open_line, next) == OPEN_NEXT &&
                   offsetof(struct open_line, line) == OPEN_LINE,
               "members of an open line have moved");

#endif
