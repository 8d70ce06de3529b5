/* What the parts of the hierarchy share. The flow of a miss is cache_l1 -> cache_l2 -> cache_l3, or
 * cache_quick -> cache_settle; cache_space has spaces, frames, line bytes and the TLB; cache_snoop
 * what other cores notice.
 *
 * The way of a miss through them is inline code, which the calls in cache_l1.c have in two copies:
 * one for the sizes that are in both Blue Genes (blue_gene below), where lengths of loops and
 * vectors are constants, one for any. Hence the parameter `shape`; what is off that way takes the
 * node's own. */
#ifndef CACHE_IMPL_H
#define CACHE_IMPL_H

#include "machine/cache/cache.h"
#include "machine/cache/cache_front.h"
#include "machine/cache/cache_kinds.h"

#include <stddef.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { FRAME_BITS = 12, FRAME = 1 << FRAME_BITS, FRAMES_OF_SPACE = 1 << (32 - FRAME_BITS) };
#define NO_LINE UINT32_MAX
/* Lines of L1D and of L2 in a frame, with Blue Gene's sizes. */
enum { FRAME_LINES = FRAME / 32, FRAME_L2_LINES = FRAME / 128 };
/* Nobody but this page ever had the frame: its lines in L1D have CACHE_HERE. */
enum { FRAME_OWN = 1 };
/* The host begins to fetch what is there. (GCC knows no prefetch where vector registers are not to
 * be touched.) */
#ifdef __x86_64__
#define FETCH_EARLY(at) __asm__ volatile("prefetcht0 %0" : : "m"(*(const char *)(at)))
#else
#define FETCH_EARLY(at) __builtin_prefetch(at)
#endif
/* For what is on the way of every miss. */
#define INLINE static inline __attribute__((always_inline))
/* For what is not, and would make that longer. */
#define APART __attribute__((noinline))
/* For what is not often so there. */
#define SELDOM(condition) __builtin_expect(!!(condition), 0)
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

/* --- Counts ---------------------------------------------------------------------------------- */

struct span_count {
    uint64_t count, cycles;
};

/* With Blue Gene's sizes and two banks of L3: by the lowest bits of a line, its bank and directory.
 */
enum { LANES = 4, LANE_BANKS = 2 };

struct core_counts {
    /* Loads that missed while nothing else was being filled. They count in many places, but
     * everywhere the same, so counts_of adds them there when someone asks. `near`, `far`: those of
     * them that just took as long as L2 does, and L3, by lane. */
    struct span_count calm;
    uint64_t near, far[LANES];
    uint64_t ahead[LANES],
        collided[LANE_BANKS]; /* prefetches of the common kind; those late on their port, by bank */
    /* Likewise stores of the common kind, that L3 looked up and that joined the one before on their
     * port, by bank. */
    uint64_t stored[LANES], merged[LANE_BANKS];
    struct span_count l3_write_wait[LANE_BANKS]; /* of those, for a directory */
    uint64_t load_miss, store_miss, touch_fill, d2_miss, dtlb_miss, itlb_miss, invalidate,
        invalidated, castout;
    uint64_t i2_miss, code_hit, data_ahead,
        code_ahead; /* hits in L2; first uses there of lines that came from DDR */
    struct span_count data_fill, code_fill, stall_load, stall_store, stall_fetch;
    uint64_t l2_read, l2_miss, filter_hit, stream_hit, self_hit, page_present, snoop_hit_same,
        snoop_hit_other;
    uint64_t l2_rise[CACHE_FILLS + 1], l2_level[CACHE_FILLS + 1]; /* by reads outstanding */
    struct span_count prefetch;
    uint64_t l3_pending, l3_wait, write, device_read, device_write;
    uint64_t wrap, snoop_sent;
    /* Misses by enum kind; last, since nobody looks at them where they are not counted. */
    uint64_t load_kind[KINDS], store_kind[KINDS];
};

INLINE uint64_t counts_far(const struct core_counts *c)
{
    return c->far[0] + c->far[1] + c->far[2] + c->far[3];
}

INLINE uint64_t counts_common_stores(const struct core_counts *c)
{
    return c->stored[0] + c->stored[1] + c->stored[2] + c->stored[3] + c->merged[0] + c->merged[1];
}

/* Stores that were shown to other cores. */
INLINE uint64_t counts_sent(const struct core_counts *c)
{
    return c->snoop_sent + counts_common_stores(c);
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
        uint64_t single, burst, collision, hit[2],
            miss[2]; /* single: filled in when someone asks */
    } read[2];
    struct write_counts write[2];
    uint64_t lookup[2]; /* reads are added when someone asks */
    struct span_count not_taken[2], mh_not_taken;
    uint64_t prefetch_miss, in_flight, evict, castout;
    uint64_t miss_kind[KINDS_OF_L3]; /* last, as above */
};

struct ddr_counts {
    uint64_t fetch, store, open, close;
};

/* --- Shape ----------------------------------------------------------------------------------- */

/* The ways of a set. `stride`: padded with NO_LINE to whole vectors. */
struct ways {
    uint32_t count, stride;
    enum cache_policy policy;
};

struct shape {
    struct ways l1i, l1d, l3;
    unsigned l1i_shift, l1d_shift, l2_shift, l3_shift, page_shift;
    uint32_t absent_stride, register_stride; /* entries of each, padded */
    uint32_t kinds;                          /* misses are told apart */
};

static const struct shape blue_gene = {
    .l1i = {64, 64, CACHE_ROUND_ROBIN},
    .l1d = {64, 64, CACHE_ROUND_ROBIN},
    .l3 = {8, 8, CACHE_LRU},
    .l1i_shift = 5,
    .l1d_shift = 5,
    .l2_shift = 7,
    .l3_shift = 7,
    .page_shift = 12,
    .absent_stride = 8,
    .register_stride = 8,
};

/* Whether the order in which the ways of a set of L3 were used is kept as a matrix of bits, a byte
 * for each way, in which there is a bit for each way that was used before it. */
enum { ORDERED = 8 };
INLINE bool ways_in_order(const struct ways *ways)
{
    return ways->policy == CACHE_LRU && ways->count == ORDERED && ways->stride == ORDERED;
}

/* --- Sets of ways ---------------------------------------------------------------------------- */

/* Of struct turn: no way. */
#define NO_WAY UINT32_MAX

/* Tags of a set-associative array. */
struct tags {
    uint32_t *line;    /* [set * ways.stride + way] */
    uint64_t *used;    /* for LRU, by index of the way: when */
    struct turn *turn; /* for round-robin, by set */
    uint64_t clock, random;
    uint32_t set_mask;
    struct ways ways;
};

typedef uint32_t tag_vector __attribute__((vector_size(16), may_alias));
enum { TAG_STRIDE = 8 };

#ifdef __SSE2__
/* Whether there is any bit in a vector of comparisons. */
INLINE bool tags_any(tag_vector vector)
{
    return _mm_movemask_epi8((__m128i)vector) != 0;
}

/* All but the first of a vector, and the first of the next. */
INLINE tag_vector tags_shift(tag_vector vector, tag_vector next)
{
    return (tag_vector)_mm_or_si128(_mm_srli_si128((__m128i)vector, 4),
                                    _mm_slli_si128((__m128i)next, 12));
}

/* Which of TAG_STRIDE tags are `line`, a bit for each. */
INLINE unsigned tags_equal(const uint32_t *tags, uint32_t line)
{
    const tag_vector wanted = {line, line, line, line}, *at = (const tag_vector *)tags;
    __m128i halves = _mm_packs_epi32((__m128i)(at[0] == wanted), (__m128i)(at[1] == wanted));
    return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(halves, halves)) & 0xff;
}
#else
INLINE bool tags_any(tag_vector vector)
{
    return vector[0] | vector[1] | vector[2] | vector[3];
}

INLINE tag_vector tags_shift(tag_vector vector, tag_vector next)
{
    return (tag_vector){vector[1], vector[2], vector[3], next[0]};
}

INLINE unsigned tags_equal(const uint32_t *tags, uint32_t line)
{
    unsigned equal = 0;
    for (unsigned i = 0; i < TAG_STRIDE; i++)
        equal |= (unsigned)(tags[i] == line) << i;
    return equal;
}
#endif

/* The index of the first `line` among `count` tags (a multiple of TAG_STRIDE, aligned), or -1. */
int tags_scan_any(const uint32_t *tags, uint32_t count, uint32_t line);
INLINE int tags_scan(const uint32_t *tags, uint32_t count, uint32_t line)
{
    if (!__builtin_constant_p(count)) return tags_scan_any(tags, count, line);
    UNROLL
    for (uint32_t i = 0; i < count; i += TAG_STRIDE) {
        unsigned equal = tags_equal(tags + i, line);
        if (equal) return (int)i + __builtin_ctz(equal);
    }
    return -1;
}

/* `count` tags that are no line; NULL for 0. */
uint32_t *tags_new(size_t count);
void tags_init(struct tags *tags, uint64_t lines, uint32_t ways, enum cache_policy policy,
               uint64_t seed);
void tags_fini(struct tags *tags);
/* Where `line` is, an index into tags->line, or -1. `set` is line & set_mask unless the array is
 * banked; `ways` are those of `tags`. */
INLINE int tags_find(const struct tags *tags, const struct ways *ways, uint32_t set, uint32_t line)
{
    uint32_t first = set * ways->stride;
    int way = tags_scan(tags->line + first, ways->stride, line);
    return way < 0 ? -1 : (int)first + way;
}

INLINE void tags_use(struct tags *tags, const struct ways *ways, int at)
{
    if (ways->policy == CACHE_LRU) tags->used[at] = ++tags->clock;
}

INLINE void tags_drop(struct tags *tags, int at)
{
    tags->line[at] = NO_LINE;
    if (tags->used) tags->used[at] = 0;
}

/* The way of a set that was replaced last, where that is round-robin. */
INLINE uint32_t tags_before(const struct tags *tags, const struct ways *ways, uint32_t set)
{
    uint32_t next = tags->turn[set].next;
    return (next == set * ways->stride ? next + ways->count : next) - 1;
}

int tags_victim_any(struct tags *tags, uint32_t set);
/* The index of the way to replace; round-robin moves on. */
INLINE int tags_victim(struct tags *tags, const struct ways *ways, uint32_t set)
{
    if (ways->policy != CACHE_ROUND_ROBIN) return tags_victim_any(tags, set);
    uint32_t way = tags->turn[set].next, first = set * ways->stride;
    tags->turn[set].next = way + 1 == first + ways->count ? first : way + 1;
    return (int)way;
}

/* --- The node -------------------------------------------------------------------------------- */

/* A unit that serves one request at a time. `from`: since when it has been busy without a break. */
struct unit {
    uint64_t from, until;
};

/* When a request that comes at `now` is served; the unit is then busy for `length`. */
INLINE uint64_t unit_serve(struct unit *unit, uint64_t now, uint64_t length)
{
    uint64_t start = now;
    if (SELDOM(now >= unit->from && now <= unit->until))
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
    uint8_t *dirty; /* by index of the way; L1D only */
    uint8_t **at; /* by index of the way: the only line bytes that know of the line; NULL: there may
                     be others */
    unsigned shift;    /* of a line */
    uint32_t granules; /* bytes of a line in cache_lines */
    uint8_t bits;      /* line bits that a line in here allows, 0 when a hit changes state */
};

/* What an L2 knows of a line, by the line. Lines leave the buffer, and the filter of lines that
 * would begin a stream, in the order they came. So they are numbered in that order, and nothing has
 * to be done where one leaves. */
struct l2_known {
    uint32_t put;  /* its number in the buffer, in steps of L2_PUT, + L2_…; it is there from
                      l2->oldest on */
    uint32_t next; /* its number in the filter, which expects it from l2->expects on, + L2_STREAM *
                      the stream that has reached the line before it, and no other since */
};

enum l2_state {
    L2_PREFETCHED = 1,
    L2_UNUSED = 2,
    L2_FROM_DDR = 4,
    L2_LATE = 8 /* see l2->ready */
};
enum { L2_PUT = 16, L2_STREAM = 1 << 24, L2_PLACES = UINT8_MAX + 1 };

struct l2 {
    struct l2_known *known;
    uint32_t oldest,
        span; /* what the buffer's oldest line has at least; how much more the next one gets */
    uint32_t expects, spans;    /* likewise for the filter */
    uint64_t ready[L2_PLACES];  /* by number: when a line is there that is L2_LATE; others are when
                                   they are asked for */
    uint32_t stream[L2_PLACES]; /* the line that each stream has reached, from 1 */
    uint32_t next_stream;
    uint64_t pending_until, prefetch_until; /* for cover */
};

/* Numbers begin so that they soon become too large, once. */
enum { L2_NUMBERS = 1 << 10 };
#define L2_MOST     (UINT32_MAX - 16 * L2_PLACES * L2_PUT)
#define L2_EXPECTED (L2_STREAM - 1U)
#define L2_EXPECTS  (L2_EXPECTED - 16 * L2_PLACES)

/* Stream registers, padded with ones that no line fits. Lines that came are logged, and taken in
 * when a snoop wants to know, or never if none does while they matter. */
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
                                           room for CACHE_MISSES more, what is logged is taken in */
};

/* The snoop cache of a port: the lines snooped last that are known not to be in L1D. */
struct absent {
    uint32_t *line;
    uint32_t next;
};

struct snoop {
    struct stream_set active, history;
    uint32_t low, high; /* the range of lines ever filled and not logged; low > high: none */
    struct absent absent[CACHE_PORTS];
    bool any_absent; /* whether any of these ever had a line */
    bool snooped;    /* snoops are logged */
    uint32_t sets_full;
    /* What the ports of cores that never filled a line have seen of this core: for all of them the
     * same. */
    struct absent shown;
    uint64_t shown_again;                        /* snoops that `shown` knew */
    uint32_t shown_log[TAG_STRIDE + SNOOPS_LOG]; /* snoops that are still to be shown, behind room
                                                    for what it has */
    uint64_t shown_logged;
};

/* Where in a bank of L3 a line belongs. */
struct place {
    struct bank *bank;
    uint32_t line;
    unsigned directory, port;
};

/* An entry of the store queue. */
struct queued {
    uint64_t end;
    struct queued *next; /* of the ring */
};

struct tlb_entry {
    uint32_t space, page; /* space UINT32_MAX: empty */
};

/* Misses that are still to be told, by their kind, level and stall; those with a longer one are
 * told at once. */
enum {
    ALIKE_STALLS = 256,
    ALIKE_LEVELS = CACHE_IN_DDR + 1,
    ALIKES = CACHE_INVALIDATION * ALIKE_LEVELS * ALIKE_STALLS
};
struct alike {
    uint64_t count[ALIKES];
    uint16_t index[ALIKES]; /* those that are not 0 */
    uint32_t used;
    uint64_t near,
        far; /* of the core's counts, those that have been told: they have all that is to be told */
};

INLINE void alike_add(struct alike *alike, enum cache_transaction_kind kind, unsigned level,
                      uint64_t stall)
{
    uint64_t index = ((uint64_t)kind * ALIKE_LEVELS + level) * ALIKE_STALLS + stall;
    if (SELDOM(!alike->count[index])) alike->index[alike->used++] = (uint16_t)index;
    alike->count[index]++;
}

struct cache_core {
    struct cache_front front; /* first */
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
    uint64_t *returned;               /* by bank: when that read port last delivered */
    uint32_t *deposited;              /* by bank: that write port's line in the data buffer */
    uint32_t fills;                   /* of fill_end, those not known to have ended */
    uint64_t fills_until;  /* when the last fill ends: of fill_end, or a calm one since then */
    uint64_t listed_until; /* when the last of fill_end ends */
    uint64_t data_fill_until, code_fill_until;
    struct queued queue[CACHE_STORES],
        *next_store;     /* in the order of time; the one that ends first */
    struct kinds *kinds; /* of L1D's misses; NULL: they are not told apart */
    struct alike *alike; /* NULL: each miss is told, if somebody listens */
    uint8_t miss_kind;   /* enum kind: of the last access, if it missed */
    uint8_t served;      /* enum cache_level: where L2 last found a line */
    struct open_line open[CACHE_OPEN_LINES];
    cache_miss misses[CACHE_MISSES];
    uint64_t missed_from;  /* a time that is not later than theirs, and less than 1 << 32 before */
    uint64_t missed_since; /* its lower half, where they have theirs */
    uint32_t most_misses;  /* that may be postponed; 1: none is */
    bool unmarked;         /* pages with open lines may not be PAGE_OPENED */
    bool tired;            /* nothing is quick before quick_rest has looked at logs and fills */
};

/* What is known of a line of L3 by its number, 0 if it is not there: the index of its way among
 * those of all banks, + 8 (so that a set of eight has a number, from 1 on), in the bits above
 * these. L3_ASKED: it did not come from DDR for a prefetch, or somebody has asked for it since. */
enum { L3_ASKED = 1, L3_DIRTY = 2, L3_BITS = 2 };

struct bank {
    struct bank_counts counts;
    struct tags tags;
    uint32_t first; /* of its ways, among those of all banks */
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

struct cache_view {
    struct cache *cache;
    struct cache_core *of;
    uint32_t space;
    uint8_t *lines; /* line bytes */
    /* By page that alone has its frame: what is quick in it, since such an access was allowed, +
     * how much the number of its first line of L1D is more than that of its first byte in `lines`;
     * else 0. Blue Gene's sizes only. */
    uint32_t *pages;
};

struct space {
    bool used;
    uint32_t *frames;                     /* (frame + 1) * 2 by page, 0: not touched; + FRAME_OWN */
    struct cache_view *view[CACHE_CORES]; /* NULL: not looked at yet */
};

struct cache {
    struct cache_config config;
    const struct cache_listener *listener;
    uint32_t heard;                 /* CACHE_HEARD, if there is one */
    uint64_t near_stall, far_stall; /* latencies beyond L1's, | CACHE_HEARD if a count of what is
                                       alike will not do */
    struct shape shape;
    bool is_blue_gene;              /* shape == blue_gene */
    bool is_common;                 /* but for L1I and the number of L1D's ways, a power of two */
    bool streaming;                 /* L2 prefetches */
    bool quick_loads, quick_stores; /* cache_quick.c may be asked */
    struct cache_core *core[CACHE_CORES];
    uint32_t joining; /* those with an open line */
    uint32_t opening; /* those with a page that is PAGE_OPENED, now or before */
    uint32_t idle; /* cores that never filled L1D, where such cores' snoops are counted together */
    uint32_t l2_users; /* cores whose L2 ever had a line */
    struct bank **bank;
    uint64_t
        bank_changes; /* how often banks may have counted something, or DDR, which only they use */
    struct unit
        *directory; /* of banks, by the lowest bits of a line; `lane`, where these have room */
    struct unit lane[LANES];
    uint64_t *returned; /* by port and bank; see cache_core */
    uint32_t *deposited;
    uint64_t *order; /* by set of all banks, from 1, instead of tags.used; see ways_in_order */
    /* By way and L3_…: all bits of the way; all but those of others for it. */
    uint64_t order_row[ORDERED << L3_BITS], order_column[ORDERED << L3_BITS];
    uint64_t *fetched;   /* by way of all banks: when its fetch from DDR began */
    uint32_t *l3_line;   /* by line: L3_… */
    size_t known_frames; /* that l3_line and l2.known have room for */
    struct kinds *kinds; /* of L3's misses; NULL: as above */
    struct ddr *ddr;
    uint64_t latest; /* when a request last came to L3 that a directory or a store queue does not
                        tell of */
    uint64_t fetching_until; /* when the last line from DDR is there */
    uint64_t busy_until; /* the last cycle in which L3 may be reading, for anybody; see settle_all
                            for some loads */
    uint64_t far_busy;   /* how long a load is the cause of that */
    uint64_t far_after;  /* how much longer than its latency, -1 if it is less */
    uint32_t
        miss_most; /* cycles by which a miss may delay its core and others behind it, at most */
    struct space *spaces;
    size_t space_count, space_capacity;
    uint32_t *no_pages;      /* like those of a view, of which none is quick */
    uint32_t *frame_mapping; /* by frame: index into mappings */
    size_t frame_count, frame_capacity;
    struct mapping *mappings; /* [0] is no mapping */
    size_t mapping_count, mapping_capacity;
    uint32_t free_mapping; /* chained by next */
    uint32_t *free_frames;
    size_t free_frame_count, free_frame_capacity;
    uint64_t l2_latency, l3_latency, ddr_latency; /* beyond L1's */
    uint64_t store_time, l3_busy,
        l3_transfer; /* those of `config`, as wide as what they are added to */
    unsigned bank_shift, row_shift;
    uint32_t bank_mask, directory_mask;
    uint32_t line_mask;   /* the bits of an address that say which line of L1D */
    uint8_t line_bits;    /* those that go with a line of L1D */
    uint8_t without_line; /* the others */
};

/* cache_space.c */
struct cache_view *space_view_new(struct cache *cache, unsigned core, unsigned space);
INLINE struct cache_view *space_view(struct cache *cache, unsigned core, unsigned space)
{
    struct cache_view *view = cache->spaces[space].view[core];
    return view ? view : space_view_new(cache, core, space);
}

INLINE uint8_t *space_lines(struct cache *cache, unsigned core, unsigned space)
{
    return space_view(cache, core, space)->lines;
}

/* The physical address behind one of a space; first touch takes a frame. `own`: see FRAME_OWN. */
struct physical {
    uint64_t address;
    bool own;
};
uint32_t space_touch(struct cache *cache, unsigned space, uint32_t page);
INLINE struct physical space_translate(struct cache *cache, unsigned space, uint32_t address)
{
    uint32_t frame = cache->spaces[space].frames[address >> FRAME_BITS];
    if (!frame) frame = space_touch(cache, space, address >> FRAME_BITS);
    return (struct physical){(uint64_t)(frame / 2 - 1) << FRAME_BITS | (address & (FRAME - 1)),
                             frame & FRAME_OWN};
}

/* Takes bits from the bytes of a physical line of L1 in all spaces. */
void space_clear(struct cache *cache, unsigned core, uint64_t physical, uint32_t length,
                 uint8_t bits);
/* A page that is not in the TLB comes into it. */
void space_tlb_fill(struct cache *cache, unsigned core, unsigned space, uint32_t address);
/* The entry of the TLB to be replaced. */
INLINE struct tlb_entry *take_tlb_entry(const struct cache *cache, struct cache_core *of)
{
    struct tlb_entry *entry = &of->tlb[of->next_tlb];
    of->next_tlb = of->next_tlb + 1 == cache->config.tlb_entries ? 0 : of->next_tlb + 1;
    return entry;
}

/* What a page gets by a load. Where others have open lines somewhere, the next load will look
 * whether they have some there (cache_others.c). */
INLINE uint32_t quick_load(const struct cache_view *view)
{
    return QUICK_CARE | (view->cache->opening & view->of->others ? 0U : QUICK_LOAD);
}

/* With Blue Gene's sizes: a page leaves the TLB, and its bytes lose all bits but CACHE_HERE and
 * CACHE_OPEN; it enters.
 */
INLINE void page_leave(struct cache_view *view, uint32_t page)
{
    typedef uint64_t eight __attribute__((may_alias));
    eight *bytes = (eight *)(view->lines + (size_t)page * FRAME_LINES);
    uint32_t was = view->pages[page];
    UNROLL
    for (size_t i = 0; i < FRAME_LINES / sizeof *bytes; i++)
        bytes[i] &= (CACHE_HERE | CACHE_OPEN) * UINT64_C(0x0101010101010101);
    view->pages[page] = (was & ~(FRAME_LINES - 1U)) | (was & QUICK_CARE ? OUT_LOAD : 0U) |
                        (was & QUICK_STORE ? OUT_STORE : 0U);
}

INLINE void page_enter(struct cache_view *view, uint32_t page)
{
    uint32_t was = view->pages[page];
    view->lines[(size_t)page * FRAME_LINES] |= CACHE_PAGE;
    if (was)
        view->pages[page] = (was & ~(FRAME_LINES - 1U)) | (was & OUT_LOAD ? quick_load(view) : 0U) |
                            (was & OUT_STORE ? QUICK_STORE | QUICK_HEARD : 0U);
}

/* The first line byte of a page. */
INLINE uint8_t *space_page(const struct shape *shape, uint8_t *lines, uint32_t address)
{
    return lines +
           ((uint64_t)(address >> shape->page_shift) << (shape->page_shift - CACHE_GRANULE_BITS));
}
void spaces_init(struct cache *cache);
void spaces_fini(struct cache *cache);

/* cache_l1.c: the next store to an open line, or to any, is a new one. */
void l1_close_line(struct cache *cache, struct cache_core *of, struct open_line *open);
void l1_close(struct cache *cache, struct cache_core *of);
/* The same for other cores' stores to a line, of 1 << (their shift + more) bytes, that has been
 * used by this one. */
INLINE void l1_close_others(struct cache *cache, const struct cache_core *of, uint32_t line,
                            unsigned more)
{
    for (uint32_t others = cache->joining & of->others; SELDOM(others); others &= others - 1) {
        struct cache_core *other = cache->core[__builtin_ctz(others)];
        for (uint32_t i = 0; i < cache->config.store_lines; i++)
            if (other->open[i].line >> more == line) l1_close_line(cache, other, &other->open[i]);
    }
}
void l1_drop(struct cache *cache, struct cache_core *of, int way, bool write,
             uint64_t now); /* of L1D */

/* A line of L1D, or of L3, is used: what kind a miss is. */
INLINE uint8_t note_use(struct kinds *kinds, uint64_t *counts, uint32_t line, bool missed,
                        bool brings)
{
    enum kind kind = kinds_use(kinds, line, brings);
    counts[kind] += missed;
    return (uint8_t)kind;
}

/* cache_others.c: who has filled a line, uses L2, has open lines or listens has changed. */
void quick_change(struct cache *cache);
/* A line of the page will be open. */
void quick_open(const struct cache_view *view, uint32_t page);
/* Pages are those of the core's view, as far as accesses are quick. */
void quick_pages(struct cache_core *of);
/* cache_postpone.c: a core that was tired no longer is. */
void quick_rest(struct cache *cache, struct cache_core *of, uint64_t now);
/* A line is being filled while its core goes on, or logs are full: nothing is quick until
 * quick_rest. */
INLINE void quick_tire(struct cache_core *of)
{
    of->tired = true;
    of->front.ready = 0;
    of->front.load_pages = of->front.store_pages = of->cache->no_pages;
}
/* Whether misses may go on to be postponed, at `now`: nothing that they may have to wait for takes
 * too long. */
bool can_postpone(const struct cache *cache, uint64_t now);

/* cache_snoop.c */
INLINE unsigned snoop_port(unsigned core, unsigned source)
{
    return (source < core ? source : source - 1) % (CACHE_PORTS - 1);
}
struct port_counts snoop_counts(const struct cache *cache, unsigned core, unsigned port);
void snoop_init(struct cache *cache, struct cache_core *of);
void snoop_fini(struct snoop *snoop);

#endif
