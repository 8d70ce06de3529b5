/* What a core's snoop filter holds, and what is still to be shown to it. What is decided:
 * cache_snoop.c. The path of a store or fill: cache_snoop_access.h. */
#ifndef CACHE_SNOOP_H
#define CACHE_SNOOP_H

#include "machine/cache/cache_counts.h"
#include "machine/cache/cache_tags.h"

struct cache;
struct cache_core;

/* Stream registers, padded with ones that no line fits. Filled lines are logged and taken in when a
 * snoop reads the registers, or never. */
enum { SNOOP_LOG = 4096, SNOOPS_LOG = 2048, SNOOPS_FULL = SNOOPS_LOG - CACHE_MISSES };
/* Among them, in the active set's log, snoops of lines that are not in L1D, with their port + 1 in
 * the bits from here.
 */
enum { SNOOPED = 29 };
_Static_assert(MISS_LINE < 1U << SNOOPED && CACHE_PORTS < 8, "both fit");

struct stream_set {
    uint32_t *base, *mask;
    uint32_t count;
    uint32_t *log, *log_end, *log_full; /* log_end: behind the last; beyond log_full, where there is
                                           room for CACHE_MISSES more, the log is drained */
};

/* The snoop cache of a port: the last lines snooped that are not in L1D. */
struct snoop_cache {
    uint32_t *line;
    uint32_t next;
};

struct snoop {
    struct stream_set active, history;
    uint32_t low, high; /* the range of lines ever filled and not logged; low > high: none */
    struct snoop_cache snoop_cache[CACHE_PORTS];
    bool any_cached; /* whether any of these ever had a line */
    bool snooped;    /* snoops are logged */
    uint32_t sets_full;
    /* What the ports of cores that never filled a line have seen of this core: for all of them the
     * same. */
    struct snoop_cache shown;
    uint64_t shown_again;                        /* snoops that `shown` knew */
    uint32_t shown_log[TAG_STRIDE + SNOOPS_LOG]; /* snoops that are still to be shown, behind room
                                                    for what it has */
    uint64_t shown_logged;
};

/* Whether the line fits a register. */
INLINE bool snoop_fits(const struct shape *shape, const struct stream_set *set, uint32_t line)
{
    const tag_vector wanted = {line, line, line, line};
    tag_vector found = {0};
    for (uint32_t i = 0; i < shape->register_stride; i += TAG_STRIDE) {
        const tag_vector *base = (const tag_vector *)(set->base + i),
                         *mask = (const tag_vector *)(set->mask + i);
        found |= (tag_vector)(((base[0] ^ wanted) & mask[0]) == 0) |
                 (tag_vector)(((base[1] ^ wanted) & mask[1]) == 0);
    }
    return tags_any(found);
}

enum { DMA_PORT = CACHE_PORTS - 1 }; /* of each core: no other core is shown there */

INLINE unsigned snoop_port(unsigned core, unsigned source)
{
    return (source < core ? source : source - 1) % (CACHE_PORTS - 1);
}
struct port_counts snoop_counts(const struct cache *cache, unsigned core, unsigned port);
void snoop_init(struct cache *cache, struct cache_core *core);
void snoop_fini(struct snoop *snoop);

#endif
