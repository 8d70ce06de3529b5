/* The hierarchy of a node, put together: one cache_core for each core, one cache for the node. Each
 * unit has its own header; there is hardly any code here. */
#ifndef CACHE_NODE_H
#define CACHE_NODE_H

#include "machine/cache/cache_counts.h"
#include "machine/cache/cache_fast.h"
#include "machine/cache/cache_kinds.h"
#include "machine/cache/cache_l1.h"
#include "machine/cache/cache_l2.h"
#include "machine/cache/cache_l3.h"
#include "machine/cache/cache_order.h"
#include "machine/cache/cache_snoop.h"
#include "machine/cache/cache_space.h"
#include "machine/cache/cache_uniform.h"
#include "machine/cache/cache_unit.h"

struct cache_core {
    struct cache_fast fast; /* first */
    struct core_counts counts;
    struct cache *cache;
    struct port_counts ports[CACHE_PORTS];
    struct l1 code, data;
    struct l2 l2;
    struct snoop snoop;
    struct tlb_entry *tlb;
    uint32_t next_tlb;
    uint64_t fill_end[CACHE_FILLS];
    uint32_t number, bit;             /* 1 << number */
    uint32_t others;                  /* a bit for each other core */
    uint32_t snooped_by[CACHE_CORES]; /* by core: its port + 1 << SNOOPED */
    unsigned port;                    /* of L3 banks */
    uint64_t *delivered;              /* by bank: when that read port last delivered */
    uint32_t *deposited;              /* by bank: that write port's line in the data buffer */
    uint32_t fills;                   /* of fill_end, those not known to have ended */
    uint64_t
        fills_until; /* when the last fill ends: of fill_end, or an uncontended one since then */
    uint64_t listed_until; /* when the last of fill_end ends */
    uint64_t data_fill_until, code_fill_until;
    struct queued queue[CACHE_STORES],
        *next_store;         /* in the order of time; the one that ends first */
    struct kinds *kinds;     /* of L1D's misses; NULL: they are not classified */
    struct uniform *uniform; /* NULL: the listener is notified of each miss */
    uint8_t miss_kind;       /* enum kind: of the last access, if it missed */
    uint8_t miss_level;      /* enum cache_level: where L2 last found a line */
    struct open_line open[CACHE_OPEN_LINES];
    cache_miss misses[CACHE_MISSES];
    uint64_t defer_start;      /* not later than the misses' times, and less than 1 << 32 before */
    uint64_t defer_start_high; /* its lower half, in the upper bits as in cache_miss */
    uint32_t most_deferred;    /* that may be deferred; 1: none */
    uint64_t order_limit;      /* from this time on accesses that other cores see wait */
    uint64_t accesses_left;    /* until `used` is called; 0: now */
    bool open_unmarked;        /* pages with open lines may not have PAGE_HAS_OPEN_LINE */
    bool fast_disabled;        /* until fast_enable */
};

struct cache {
    struct cache_config config;
    const struct cache_listener *listener;
    bool (*used)(void *context, unsigned core, uint32_t stall); /* cache_notify_accesses */
    void *used_context;
    uint32_t has_listener; /* CACHE_NOTIFY, if there is one */
    uint64_t l2_stall,
        l3_stall; /* latencies beyond L1's, | CACHE_NOTIFY if the listener wants each miss */
    struct shape shape;
    bool is_blue_gene;  /* shape == blue_gene */
    bool fast_geometry; /* blue_gene but for L1I and the number of L1D's ways, a power of two */
    bool streaming;     /* L2 prefetches */
    bool fast_loads, fast_stores; /* cache_fast.c may be used */
    struct cache_core *core[CACHE_CORES];
    uint32_t has_open;        /* those with an open line */
    uint32_t has_marked_open; /* those with a page that is PAGE_HAS_OPEN_LINE, now or before */
    uint32_t idle; /* cores that never filled L1D, where such cores' snoops are counted together */
    uint32_t l2_users; /* cores whose L2 ever had a line */
    struct bank **bank;
    uint64_t
        bank_changes; /* how often banks may have counted something, or DDR, which only they use */
    struct unit
        *directory; /* of banks, by the lowest bits of a line; `lane`, where these have room */
    struct unit lane[LANES];
    uint64_t *delivered; /* by port and bank; see cache_core */
    uint32_t *deposited;
    uint64_t *lru; /* by set of all banks, from 1, instead of tags.used; see has_lru_matrix */
    /* By way and L3_…: all bits of the way; all but those of others for it. */
    uint64_t lru_row[LRU_WAYS << L3_BITS], lru_column[LRU_WAYS << L3_BITS];
    uint64_t *fetched;           /* by way of all banks: when its fetch from DDR began */
    uint32_t *l3_line;           /* by line: L3_… */
    size_t table_frames;         /* that l3_line and l2.known have room for */
    struct kinds *kinds;         /* of L3's misses; NULL: as above */
    struct order_frame *ordered; /* by frame */
    uint64_t order_time;         /* of the access under way, on the slow path, */
    uint32_t order_line;         /* and the line, if it is a load */
    bool is_ordered;             /* accesses may wait, so lines that cores contend for are marked */
    bool any_contended;          /* a line is, or was */
    struct ddr *ddr;
    uint64_t latest; /* when a request last came to L3, apart from what directories and store queues
                        record */
    uint64_t fetching_until; /* when the last line from DDR is there */
    uint64_t busy_until;   /* the last cycle in which L3 may be reading, for anybody; see drain_all
                              for some loads */
    uint64_t l3_read_busy; /* how long a load is the cause of that */
    uint64_t l3_read_busy_after; /* how much longer than its latency, -1 if it is less */
    uint32_t miss_cycles_most; /* cycles by which a miss may delay its core and others behind it, at
                                  most */
    struct mem_frames frames;  /* of the node: effective -> physical */
    struct space *spaces;      /* by space of `frames` */
    size_t space_count, space_capacity;
    uint32_t *no_pages;                           /* like those of a view, without any right */
    uint64_t l2_latency, l3_latency, ddr_latency; /* beyond L1's */
    uint64_t store_time, l3_busy,
        l3_transfer; /* those of `config`, as wide as what they are added to */
    unsigned bank_shift, row_shift;
    uint32_t bank_mask, directory_mask;
    uint32_t line_mask;   /* the bits of an address that say which line of L1D */
    uint8_t line_bits;    /* bits that go with a line of L1D */
    uint8_t without_line; /* the others */
};

/* cache_model.c: what a new cache has less than the whole hierarchy; whether it has nothing; then
 * an access to these pages is free from now on. Returns its stall, 0. */
void model_init(struct cache *cache);
uint32_t model_allow(struct cache *cache, struct cache_core *core, unsigned space, uint32_t address,
                     uint32_t size, uint8_t bit);
INLINE bool memory_is_free(const struct cache *cache)
{
    return cache->config.model == CACHE_MODEL_NONE;
}

/* The core has made `count` accesses more; returns CACHE_NOTIFY when that were all it may. */
INLINE uint32_t count_accesses(struct cache_core *core, uint64_t count)
{
    if (!UNLIKELY(count >= core->accesses_left)) {
        core->accesses_left -= count;
        return 0;
    }
    core->accesses_left = 0;
    return CACHE_NOTIFY;
}

/* The same for an access that is not in the list of misses, which is empty or has room: then no
 * drain comes upon the last access but the one of the full list. */
INLINE uint32_t count_access_unlisted(struct cache_core *core, uint64_t count)
{
    uint32_t used = count_accesses(core, count);
    uint64_t left = core->accesses_left ? core->accesses_left : 1;
    if (UNLIKELY(left < CACHE_MISSES) && core->fast.full > core->misses + left)
        core->fast.full = core->misses + left;
    return used;
}

/* How many misses may be deferred until the next drain. */
INLINE uint64_t most_until_drain(const struct cache_core *core)
{
    uint64_t most = core->most_deferred, left = core->accesses_left;
    return left < most ? (left ? left : 1) : most;
}

#endif
