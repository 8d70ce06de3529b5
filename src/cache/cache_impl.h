/* What the parts of the hierarchy share. The flow of a miss is cache_l1 -> cache_l2 -> cache_l3; cache_space has
 * spaces, frames, line bytes and the TLB; cache_snoop what other cores notice. */
#ifndef CACHE_IMPL_H
#define CACHE_IMPL_H

#include "cache/cache.h"

#include <stddef.h>

enum { FRAME_BITS = 12, FRAME = 1 << FRAME_BITS, FRAMES_OF_SPACE = 1 << (32 - FRAME_BITS) };
#define NO_LINE UINT32_MAX
/* For what is on the way of every miss. */
#define INLINE static inline __attribute__((always_inline))

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
    uint32_t *line;  /* [set * stride + way] */
    uint16_t *part;  /* L1 only: the lowest 16 bits of the line beyond its set, to see quickly what is not there */
    uint64_t *order; /* for LRU of up to 16 ways, by set: its ways, 4 bits each, the last used in the lowest */
    uint64_t *used;  /* for LRU of more ways: when */
    uint16_t *next;  /* for round-robin: the set's next victim */
    uint64_t clock, random;
    uint32_t set_mask, ways, stride;
    unsigned set_bits;
    enum cache_policy policy;
};

typedef uint32_t tag_vector __attribute__((vector_size(16), may_alias));
typedef uint64_t tag_halves __attribute__((vector_size(16)));
typedef uint16_t part_vector __attribute__((vector_size(16), may_alias));
enum { TAG_STRIDE = 8 };

/* Any bit of a vector. */
INLINE uint64_t tags_any(tag_vector vector)
{
    tag_halves halves = (tag_halves)vector;
    return halves[0] | halves[1];
}

/* The index of `line` among `count` tags (a multiple of TAG_STRIDE, aligned), or -1. It is there once at most, so the
 * bits of its place are found without looking at single tags. */
INLINE int tags_scan(const uint32_t *tags, uint32_t count, uint32_t line)
{
    const tag_vector wanted = {line, line, line, line}, low = {1, 2, 3, 4}, high = {5, 6, 7, 8};
    for (uint32_t i = 0; i < count; i += TAG_STRIDE) {
        const tag_vector *at = (const tag_vector *)(tags + i);
        uint64_t any = tags_any(((tag_vector)(at[0] == wanted) & low) | ((tag_vector)(at[1] == wanted) & high));
        if (any) return (int)(i + (uint32_t)(any | any >> 32)) - 1;
    }
    return -1;
}

/* The same for tags that may be there several times: the first. */
static inline int tags_first(const uint32_t *tags, uint32_t count, uint32_t line)
{
    if (tags_scan(tags, count, line) < 0) return -1;
    int at = 0;
    while (tags[at] != line)
        at++;
    return at;
}

/* `count` tags that are no line; NULL for 0. */
uint32_t *tags_new(size_t count);
void tags_init(struct tags *tags, uint64_t lines, uint32_t ways, enum cache_policy policy, uint64_t seed);
void tags_fini(struct tags *tags);
/* Where `line` is, an index into tags->line, or -1. `set` is line & set_mask unless the array is banked. */
INLINE int tags_find(const struct tags *tags, uint32_t set, uint32_t line)
{
    uint32_t first = set * tags->stride;
    int way = tags_scan(tags->line + first, tags->stride, line);
    return way < 0 ? -1 : (int)first + way;
}

/* Whether `line` may be in its set; tags->part is kept by the caller. */
INLINE bool tags_may_have(const struct tags *tags, uint32_t set, uint32_t line)
{
    uint16_t part = (uint16_t)(line >> tags->set_bits);
    const part_vector wanted = {part, part, part, part, part, part, part, part};
    const part_vector *at = (const part_vector *)(tags->part + (size_t)set * tags->stride);
    part_vector found = {0};
    for (uint32_t i = 0; i < tags->stride / TAG_STRIDE; i++)
        found |= (part_vector)(at[i] == wanted);
    return tags_any((tag_vector)found);
}

/* The way moves to the front; those that were before it move back by one. */
INLINE uint64_t order_use(uint64_t order, uint64_t way)
{
    const uint64_t ones = UINT64_C(0x1111111111111111);
    uint64_t others = order ^ way * ones; /* its own 4 bits are 0; the first such are found exactly */
    unsigned at = (unsigned)__builtin_ctzll((others - ones) & ~others & (ones << 3)) & ~3U;
    uint64_t before = order & ((UINT64_C(1) << at) - 1);
    return (order & ~UINT64_C(15) << at) | before << 4 | way;
}

INLINE void tags_use(struct tags *tags, uint32_t set, int at)
{
    if (tags->order)
        tags->order[set] = order_use(tags->order[set], (uint64_t)at - (uint64_t)set * tags->stride);
    else if (tags->used)
        tags->used[at] = ++tags->clock;
}
/* The index of the way to replace; round-robin moves on. */
int tags_victim(struct tags *tags, uint32_t set);

/* --- The node ------------------------------------------------------------------------------------------------- */

/* A unit that serves one request at a time. `from`: since when it has been busy without a break. */
struct unit {
    uint64_t from, until;
};

/* When a request that comes at `now` is served; the unit is then busy for `length`. */
INLINE uint64_t unit_serve(struct unit *unit, uint64_t now, uint64_t length)
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
INLINE uint64_t cover(uint64_t *until, uint64_t start, uint64_t end)
{
    uint64_t first = start > *until ? start : *until;
    if (end <= first) return 0;
    *until = end;
    return end - first;
}

struct l1 {
    struct tags tags;
    uint8_t *dirty;    /* by index of the way; L1D only */
    uint8_t **at;      /* by index of the way: the only line bytes that know of the line; NULL: there may be others */
    unsigned shift;    /* of a line */
    uint32_t granules; /* bytes of a line in cache_lines */
    uint8_t bits;      /* line bits that a line in here allows, 0 when a hit changes state */
};

struct l2 {
    uint32_t *line; /* entries, padded */
    uint64_t *ready;
    uint8_t *state;     /* L2_… */
    uint32_t *way;      /* where in its L3 bank a prefetched line was */
    uint32_t next;      /* entry to replace */
    uint32_t last;      /* entry read last */
    uint32_t *stream;   /* the line that each stream has reached */
    uint32_t *expected; /* the filter: lines that would confirm a stream */
    uint32_t next_stream, next_expected, last_stream;
    uint64_t pending_until, prefetch_until; /* for cover */
};

enum l2_state { L2_PREFETCHED = 1, L2_USED = 2, L2_FROM_DDR = 4 };

/* Stream registers, padded with ones that no line fits. */
struct stream_set {
    uint32_t *base, *mask;
    uint32_t count;
};

/* The snoop cache of a port: the lines snooped last that are known not to be in L1D. */
struct absent {
    uint32_t *line;
    uint32_t next;
    bool any; /* whether it ever had one */
};

struct snoop {
    struct stream_set active, history;
    uint32_t low, high; /* the range of lines ever filled; low > high: none */
    struct absent absent[CACHE_PORTS];
    uint32_t *set_fills; /* since the last wrap, by set */
    uint32_t sets_full;
    /* What the ports of cores that never filled a line have seen of this core: for all of them the same. */
    struct absent shown;
    uint64_t shown_again; /* snoops that `shown` knew */
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
    uint64_t store_end[CACHE_STORES]; /* a ring, in the order of time */
    uint32_t next_store;              /* the one that ends first */
    uint8_t *open_at;                 /* as l1.at, of the open line */
};

/* Of a line in L3: when its fetch from DDR began, times L3_START; L3_AHEAD: that was for a prefetch, and nobody has
 * asked for the line since. */
enum { L3_DIRTY = 1, L3_AHEAD = 2, L3_START = 4 };

struct bank {
    struct bank_counts counts;
    struct tags tags;
    uint64_t *fetched; /* by index of the way */
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
    /* By core: L1D line of the last store that went to memory; stores to it join that one. */
    uint32_t open[CACHE_CORES];
    uint32_t all;      /* a bit for each core */
    uint32_t joining;  /* those with an open line */
    uint32_t idle;     /* cores that never filled L1D, where such cores' snoops are counted together */
    uint32_t l2_users; /* cores whose L2 ever had a line */
    struct bank *bank;
    struct ddr *ddr;
    uint64_t latest; /* when a request last came to L3 */
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
    uint32_t l2_stride, filter_stride, stream_stride, absent_stride, register_stride;
};

/* cache_space.c */
uint8_t *space_lines_new(struct cache *cache, unsigned core, unsigned space);
INLINE uint8_t *space_lines(struct cache *cache, unsigned core, unsigned space)
{
    uint8_t *lines = cache->spaces[space].lines[core];
    return lines ? lines : space_lines_new(cache, core, space);
}

/* The physical address behind one of a space; first touch takes a frame. */
uint32_t space_touch(struct cache *cache, unsigned space, uint32_t page);
INLINE uint64_t space_translate(struct cache *cache, unsigned space, uint32_t address)
{
    uint32_t frame = cache->spaces[space].frames[address >> FRAME_BITS];
    frame = frame ? frame - 1 : space_touch(cache, space, address >> FRAME_BITS);
    return (uint64_t)frame << FRAME_BITS | (address & (FRAME - 1));
}

/* Takes bits from the bytes of a physical line of L1 in all spaces. */
void space_clear(struct cache *cache, unsigned core, uint64_t physical, uint32_t length, uint8_t bits);
/* A page that is not in the TLB comes into it. */
void space_tlb_fill(struct cache *cache, unsigned core, unsigned space, uint32_t address);
/* The first line byte of a page. */
INLINE uint8_t *space_page(struct cache *cache, uint8_t *lines, uint32_t address)
{
    return lines + ((uint64_t)(address >> cache->page_shift) << (cache->page_shift - CACHE_GRANULE_BITS));
}
void spaces_fini(struct cache *cache);

/* cache_l1.c: the next store is a new one, whatever its line. */
void l1_close(struct cache *cache, unsigned core);
/* The same for other cores' stores to a line, of 1 << (their shift + more) bytes, that has been used by `core`. */
INLINE void l1_close_others(struct cache *cache, unsigned core, uint32_t line, unsigned more)
{
    for (uint32_t others = cache->joining & ~(1U << core); others; others &= others - 1) {
        unsigned other = (unsigned)__builtin_ctz(others);
        if (cache->open[other] >> more == line) l1_close(cache, other);
    }
}
void l1_drop(struct cache *cache, unsigned core, int way, bool write, uint64_t now); /* of L1D */

/* cache_l2.c: when the line at `physical` is there for L1. */
uint64_t l2_read(struct cache *cache, unsigned core, uint64_t physical, bool data, uint64_t now);
/* A write leaves `core` for memory; L2 buffers notice. */
void l2_write(struct cache *cache, unsigned core, uint64_t physical, uint64_t now);

/* cache_l3.c */
struct l3_answer {
    uint64_t ready;
    bool from_ddr;
    uint32_t way;
};

struct l3_answer l3_read(struct cache *cache, unsigned core, uint64_t physical, bool prefetch, uint64_t now);
/* A prefetched line, which came from `way`, is used for the first time. Whether that is what its fetch from DDR was
 * for. */
bool l3_claim(struct cache *cache, unsigned core, uint64_t physical, uint32_t way, bool from_ddr);
void l3_write(struct cache *cache, unsigned core, uint64_t physical, uint64_t now);

/* cache_snoop.c: a store of `core` to an L1D line of others. */
void snoop_store(struct cache *cache, unsigned core, uint32_t line, uint64_t now);
/* A line came into an L1D. */
void snoop_filled(struct cache *cache, unsigned core, uint32_t line);
unsigned snoop_port(unsigned core, unsigned source);
struct port_counts snoop_counts(const struct cache *cache, unsigned core, unsigned port);
void snoop_init(struct cache *cache, struct snoop *snoop);
void snoop_fini(struct snoop *snoop);

#endif
