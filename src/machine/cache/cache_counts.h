/* The counts of every unit: structs of uint64_t only, so that cache_attribution.c can treat them as
 * vectors. cache_signals.def says which signal is which sum of them. A count that follows from
 * others is computed when it is read (cache_signal.c). */
#ifndef CACHE_COUNTS_H
#define CACHE_COUNTS_H

#include "machine/cache/cache.h"
#include "machine/cache/cache_host.h"
#include "machine/cache/cache_kinds.h"

struct span_count {
    uint64_t count, cycles;
};

/* With Blue Gene's sizes and two banks of L3: by the lowest bits of a line, its bank and directory.
 */
enum { LANES = 4, LANE_BANKS = 2 };

struct core_counts {
    /* Load misses with no other fill in flight. They add the same amounts to many counts, so
     * counts_of adds them when counts are read. l2_hit, l3_hit: those with the plain latency of L2,
     * and of L3, by lane. */
    struct span_count uncontended;
    uint64_t l2_hit, l3_hit[LANES];
    uint64_t prefetched[LANES], prefetch_collided[LANE_BANKS]; /* fast-path prefetches; those
                                                                  delayed by their port, by bank */
    /* Fast-path stores: looked up in L3, by lane; joined with the last one of their port, by bank.
     */
    uint64_t stored[LANES], merged[LANE_BANKS];
    struct span_count l3_write_wait[LANE_BANKS]; /* of those, for a directory */
    uint64_t load_miss, store_miss, touch_fill, d2_miss, dtlb_miss, itlb_miss, page_fault,
        invalidate, invalidated, castout;
    uint64_t i2_miss, code_hit, data_ahead,
        code_ahead; /* hits in L2; first uses there of lines that came from DDR */
    struct span_count data_fill, code_fill, stall_load, stall_store, stall_fetch;
    uint64_t l2_read, l2_miss, filter_hit, stream_hit, self_hit, page_present, snoop_hit_same,
        snoop_hit_other;
    uint64_t l2_rise[CACHE_FILLS + 1], l2_level[CACHE_FILLS + 1]; /* by reads outstanding */
    struct span_count prefetch;
    uint64_t l3_pending, l3_wait, write, device_read, device_write;
    uint64_t wrap, snoop_sent, dma_snoop;
    /* Misses by enum kind; last, since they are not read where they are not counted. */
    uint64_t load_kind[KINDS], store_kind[KINDS];
};

INLINE uint64_t counts_l3_hit(const struct core_counts *c)
{
    return c->l3_hit[0] + c->l3_hit[1] + c->l3_hit[2] + c->l3_hit[3];
}

INLINE uint64_t counts_fast_stores(const struct core_counts *c)
{
    return c->stored[0] + c->stored[1] + c->stored[2] + c->stored[3] + c->merged[0] + c->merged[1];
}

/* Stores that were shown to other cores. */
INLINE uint64_t counts_sent(const struct core_counts *c)
{
    return c->snoop_sent + counts_fast_stores(c);
}

struct port_counts {
    uint64_t rejected, cache_rejected, cache_updated, both, range_rejected, active_hit, history_hit,
        stream_rejected;
};

struct write_counts {
    uint64_t deposit, merged, miss;
    struct span_count not_taken;
};

struct bank_counts {
    struct {
        uint64_t single, burst, collision, hit[2], miss[2]; /* single: computed when read */
    } read[2];
    struct write_counts write[2];
    uint64_t lookup[2]; /* reads are added when read */
    struct span_count not_taken[2], mh_not_taken;
    uint64_t prefetch_miss, in_flight, evict, castout;
    struct {
        uint64_t hit[2], miss[2], deposit; /* deposit: also among those of its write port */
    } dma;
    uint64_t miss_kind[KINDS_OF_L3]; /* last, as above */
};

struct ddr_counts {
    uint64_t fetch, store, open, close;
};

#endif
