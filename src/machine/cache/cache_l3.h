/* L3 banks and DDR controllers: what they hold. What is decided: cache_l3.c. The path of a read or
 * write: cache_l3_access.h. */
#ifndef CACHE_L3_H
#define CACHE_L3_H

#include "machine/cache/cache_counts.h"
#include "machine/cache/cache_tags.h"
#include "machine/cache/cache_unit.h"

/* Where in a bank of L3 a line belongs. */
struct place {
    struct bank *bank;
    uint32_t line;
    unsigned directory, port;
};

/* State of an L3 line by its number; 0: not in L3. The upper bits are the index of its way among
 * those of all banks, + 8 (so a set of eight has a number, from 1 on). L3_DEMANDED: not fetched for
 * a prefetch, or demanded since. */
enum { L3_DEMANDED = 1, L3_DIRTY = 2, L3_BITS = 2 };

struct bank {
    struct bank_counts counts;
    struct tags tags;
    uint32_t first; /* of its ways, among those of all banks */
};

struct ddr { /* a controller */
    struct ddr_counts counts;
    struct calendar calendar;
    uint64_t row; /* open row + 1; 0: none */
};

/* The way of a line that is in L3, of those of all banks. */
INLINE uint32_t l3_way_index(uint32_t l3_way)
{
    return (l3_way >> L3_BITS) - LRU_WAYS;
}

#endif
