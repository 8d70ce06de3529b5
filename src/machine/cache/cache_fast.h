/* The state that the fast path changes at once: L1D, open lines, the list of deferred misses
 * (cache_fast.c). src/machine/jit/jit_miss.c does the same in assembler; it takes the offsets from
 * these structs. */
#ifndef CACHE_FAST_H
#define CACHE_FAST_H

#include <stddef.h>
#include <stdint.h>

#include "machine/cache/cache.h"

/* A deferred miss. Low half: its L1D line, MISS_STORE, MISS_IN_L1D. High half: the low half of its
 * time, without the stalls of misses deferred before it. */
typedef uint64_t cache_miss;
enum { MISS_STORE = 1 << 30, MISS_IN_L1D = 1 << 29, MISS_LINE = MISS_IN_L1D - 1 };

/* A set that is replaced round-robin. */
struct round_robin {
    uint32_t next_victim; /* index of the way to be replaced */
    uint32_t wrap_way;    /* of the one that makes the set full again since the last wrap
                         (cache_snoop.c);    NO_WAY: it is */
};

/* A line of L1D's size that stores join: the store that opened it has gone to memory. */
struct open_line {
    uint8_t *at;            /* as l1.at; NULL: several bytes map it */
    struct open_line *next; /* of the ring */
    uint32_t line;          /* NO_LINE: none */
};

/* Fast-path rights of a core and of a page; see cache_fast.c. FAST_LOAD_CHECKED: loads that test
 * the rare conditions. FAST_STORE_LISTENED: stores with a listener. */
enum { FAST_LOAD = 1, FAST_STORE = 2, FAST_LOAD_CHECKED = 4, FAST_STORE_LISTENED = 8 };
/* Of a page that left the TLB: the rights it had. */
enum { EVICTED_LOAD = 16, EVICTED_STORE = 32 };
/* Of a page: the core has opened a line there, so no other core has FAST_LOAD. */
enum { PAGE_HAS_OPEN_LINE = 64 };
/* Of a core: stores that may affect other cores. */
enum { FAST_STORE_SHOWN = 128 };

/* State of a core whose L1D has up to 128 KB and 128 sets. There is one set more, with one way. */
enum { FAST_SETS = 128, FAST_WAYS = 4096 };
struct cache_fast {
    cache_miss *next_miss, *full; /* where the next miss goes; where the list is drained */
    const uint32_t *load_pages;   /* of `view`, or no_pages where the core has no fast loads, */
    const uint32_t *store_pages;  /* and the same for stores */
    struct cache_view *view;      /* of the last cache_defer */
    struct open_line *next_open;  /* the one to be replaced */
    const void *load, *store;     /* for code: what does so for it, */
    const void *probe;            /* and for a load that may be free */
    uint32_t ready;               /* FAST_...: may be tried */
    uint32_t set_mask;            /* of L1D */
    /* What the branch-free probe changes instead of a line's byte and set when the load hits: never
     * read. */
    uint8_t *no_at, no_byte;
    uint32_t no_set;
    _Alignas(64) struct round_robin round_robin[FAST_SETS + 1];
    _Alignas(64) uint32_t line[FAST_WAYS + 1]; /* by index of the way */
    uint8_t *at[FAST_WAYS +
                1]; /* likewise: the only line bytes that map the line; NULL: there may be others */
    uint16_t after[FAST_WAYS + 1]; /* likewise: the way that is replaced after it */
};

/* Drains when fast->next_miss has reached fast->full. Returns the stall cycles. */
uint32_t cache_drain_fast(struct cache_fast *fast);

#endif
