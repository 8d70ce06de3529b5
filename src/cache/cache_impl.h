/* What the parts of the hierarchy share. The flow of a miss is cache_l1 -> cache_l2 -> cache_l3; cache_space has
 * spaces, frames, line bytes and the TLB; cache_snoop what other cores notice. */
#ifndef CACHE_IMPL_H
#define CACHE_IMPL_H

#include "cache/cache.h"

#include <stddef.h>

enum { FRAME_BITS = 12, FRAME = 1 << FRAME_BITS, FRAMES_OF_SPACE = 1 << (32 - FRAME_BITS) };
#define NO_LINE UINT32_MAX

/* --- Counts --------------------------------------------------------------------------------------------------- */

struct span_count {
    uint64_t count, cycles;
};

struct core_counts {
    uint64_t load_miss, store_miss, touch_fill, d2_miss, dtlb_miss, itlb_miss, invalidate, invalidated, castout;
    struct span_count data_fill, code_fill, stall_load, stall_store, stall_fetch;
    uint64_t l2_read, l2_miss, filter_hit, stream_hit, self_hit, page_present, snoop_hit_same, snoop_hit_other;
    uint64_t l2_rise[CACHE_FILLS + 1], l2_level[CACHE_FILLS + 1]; /* by reads outstanding */
    struct span_count prefetch;
    uint64_t l3_pending, l3_wait, write, device_read, device_write;
    uint64_t wrap, snoop_sent;
};

struct port_counts {
    uint64_t rejected, cache_rejected, cache_updated, both, range_rejected, active_hit, history_hit, stream_rejected;
};

struct bank_counts {
    struct {
        uint64_t single, burst, collision, hit[2], miss[2];
    } read[2];
    struct {
        uint64_t deposit, merged, miss;
        struct span_count not_taken;
    } write[2];
    uint64_t lookup[2];
    struct span_count not_taken[2], mh_not_taken;
    uint64_t prefetch_miss, in_flight, evict, castout;
};

struct ddr_counts {
    uint64_t fetch, store, open, close;
};

/* --- Sets of ways --------------------------------------------------------------------------------------------- */

/* Tags of a set-associative array. The ways of a set are padded with NO_LINE to whole vectors. */
struct tags {
    uint32_t *line; /* [set * stride + way] */
    uint64_t *used; /* for LRU: when; else NULL */
    uint16_t *next; /* for round-robin: the set's next victim */
    uint64_t clock, random;
    uint32_t set_mask, ways, stride;
    enum cache_policy policy;
};

typedef uint32_t tag_vector __attribute__((vector_size(16), may_alias));
typedef uint64_t tag_test __attribute__((vector_size(16)));
enum { TAG_VECTOR = 4, TAG_STRIDE = 8 };

/* The index of `line` among `count` tags (a multiple of TAG_STRIDE, aligned), or -1. */
static inline int tags_scan(const uint32_t *tags, uint32_t count, uint32_t line)
{
    const tag_vector wanted = {line, line, line, line};
    for (uint32_t i = 0; i < count; i += TAG_STRIDE) {
        const tag_vector *at = (const tag_vector *)(tags + i);
        tag_test found = (tag_test)((at[0] == wanted) | (at[1] == wanted));
        if (!(found[0] | found[1])) continue;
        for (uint32_t way = i;; way++)
            if (tags[way] == line) return (int)way;
    }
    return -1;
}

void tags_init(struct tags *tags, uint64_t lines, uint32_t ways, enum cache_policy policy, uint64_t seed);
void tags_fini(struct tags *tags);
/* Where `line` is, an index into tags->line, or -1. `set` is line & set_mask unless the array is banked. */
static inline int tags_find(const struct tags *tags, uint32_t set, uint32_t line)
{
    uint32_t first = set * tags->stride;
    int way = tags_scan(tags->line + first, tags->stride, line);
    return way < 0 ? -1 : (int)first + way;
}
static inline void tags_use(struct tags *tags, int at)
{
    if (tags->used) tags->used[at] = ++tags->clock;
}
/* The index of the way to replace; round-robin moves on. */
int tags_victim(struct tags *tags, uint32_t set);

/* --- The node ------------------------------------------------------------------------------------------------- */

/* A unit that serves one request at a time. `from`: since when it has been busy without a break. */
struct unit {
    uint64_t from, until;
};

/* When a request that comes at `now` is served; the unit is then busy for `length`. */
static inline uint64_t unit_serve(struct unit *unit, uint64_t now, uint64_t length)
{
    uint64_t start = now;
    if (now >= unit->from && now <= unit->until)
        start = unit->until;
    else
        unit->from = now;
    unit->until = start + length;
    return start;
}

/* Adds [start, end) to the cycles in which a wire is high; starts never go back. */
static inline uint64_t cover(uint64_t *until, uint64_t start, uint64_t end)
{
    uint64_t first = start > *until ? start : *until;
    if (end <= first) return 0;
    *until = end;
    return end - first;
}

struct l1 {
    struct tags tags;
    uint8_t *dirty; /* by index of the way; L1D only */
    unsigned shift; /* of a line */
    uint8_t bits;   /* line bits that a line in here allows, 0 when a hit changes state */
};

struct l2 {
    uint32_t *line; /* entries, padded */
    uint64_t *ready;
    uint8_t *state;     /* L2_… */
    uint32_t next;      /* entry to replace */
    uint32_t *stream;   /* the line that each stream has reached */
    uint32_t *expected; /* the filter: lines that would confirm a stream */
    uint32_t next_stream, next_expected;
    uint64_t pending_until, prefetch_until; /* for cover */
};

enum l2_state { L2_PREFETCHED = 1, L2_USED = 2, L2_FROM_DDR = 4 };

struct stream_register {
    uint32_t base, mask;
};

struct snoop {
    struct stream_register *active, *history;
    uint32_t active_count, history_count;
    uint32_t low, high;            /* the range of lines ever filled; low > high: none */
    uint32_t *absent[CACHE_PORTS]; /* the snoop cache: lines known not to be in L1D */
    uint32_t next_absent[CACHE_PORTS];
    uint32_t *set_fills; /* since the last wrap, by set */
    uint32_t sets_full;
};

struct tlb_entry {
    uint32_t space, page; /* space UINT32_MAX: empty */
};

struct cache_core {
    struct core_counts counts;
    struct port_counts ports[CACHE_PORTS];
    struct l1 code, data;
    struct l2 l2;
    struct snoop snoop;
    struct tlb_entry *tlb;
    uint32_t next_tlb;
    uint64_t fill_end[CACHE_FILLS];
    uint32_t fills; /* of fill_end, those not known to have ended */
    uint64_t data_fill_until, code_fill_until;
    uint64_t store_end[CACHE_STORES];
    uint32_t open; /* L1D line of the last store that went to memory; stores to it join that one */
};

struct l3_line {
    uint64_t start, ready; /* of its fetch from DDR */
    bool ahead;            /* that was for a prefetch, and nobody has asked for the line since */
};

struct bank {
    struct bank_counts counts;
    struct tags tags;
    struct l3_line *lines;
    uint8_t *dirty;
    struct unit directory[2];
    uint64_t returned[2];  /* when the read port last delivered */
    uint32_t deposited[2]; /* the write port's line in the data buffer */
};

struct ddr {
    struct ddr_counts counts;
    struct unit unit;
    uint64_t row; /* open row + 1; 0: none */
};

/* Who maps a frame. */
struct mapping {
    uint32_t space, page, next; /* next: index into cache->mappings, 0: none */
};

struct space {
    bool used;
    uint32_t *frames;            /* frame + 1 by page, 0: not touched */
    uint8_t *lines[CACHE_CORES]; /* line bytes */
};

struct cache {
    struct cache_config config;
    struct cache_core *core;
    struct bank *bank;
    struct ddr *ddr;
    struct space *spaces;
    size_t space_count, space_capacity;
    uint32_t *frame_mapping; /* by frame: index into mappings */
    size_t frame_count, frame_capacity;
    struct mapping *mappings; /* [0] is no mapping */
    size_t mapping_count, mapping_capacity;
    uint32_t free_mapping; /* chained by next */
    uint32_t *free_frames;
    size_t free_frame_count, free_frame_capacity;
    uint32_t l2_latency, l3_latency, ddr_latency; /* beyond L1's */
    unsigned page_shift, l2_shift, l3_shift, bank_shift, row_shift;
    uint32_t l2_stride, filter_stride, stream_stride, absent_stride;
};

/* cache_space.c */
uint8_t *space_lines(struct cache *cache, unsigned core, unsigned space);
/* The physical address behind one of a space; first touch takes a frame. */
uint64_t space_translate(struct cache *cache, unsigned space, uint32_t address);
/* Takes bits from the bytes of a physical line of L1 in all spaces. */
void space_clear(struct cache *cache, unsigned core, uint64_t physical, uint32_t length, uint8_t bits);
/* Whether the page was in the TLB; afterwards it is. */
bool space_tlb(struct cache *cache, unsigned core, unsigned space, uint32_t address);
void spaces_fini(struct cache *cache);

/* cache_l1.c: the next store is a new one, whatever its line. */
void l1_close(struct cache *cache, unsigned core);
void l1_drop(struct cache *cache, unsigned core, int way, bool write, uint64_t now); /* of L1D */

/* cache_l2.c: when the line at `physical` is there for L1. */
uint64_t l2_read(struct cache *cache, unsigned core, uint64_t physical, bool data, uint64_t now);
/* A write leaves `core` for memory; L2 buffers notice. */
void l2_write(struct cache *cache, unsigned core, uint64_t physical, uint64_t now);

/* cache_l3.c */
uint64_t l3_read(struct cache *cache, unsigned core, uint64_t physical, bool prefetch, uint64_t now, bool *from_ddr);
/* A prefetched line is used for the first time. Whether that is what its fetch from DDR was for. */
bool l3_claim(struct cache *cache, unsigned core, uint64_t physical, bool from_ddr);
void l3_write(struct cache *cache, unsigned core, uint64_t physical, uint64_t now);

/* cache_snoop.c: a store of `core` to an L1D line of others. */
void snoop_store(struct cache *cache, unsigned core, uint32_t line, uint64_t now);
/* A line came into an L1D. */
void snoop_filled(struct cache *cache, unsigned core, uint32_t line);
unsigned snoop_port(unsigned core, unsigned source);
void snoop_init(struct cache *cache, struct snoop *snoop);
void snoop_fini(struct snoop *snoop);

#endif
