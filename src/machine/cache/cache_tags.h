/* Tags of a set-associative array (L1, L3): search, use and replacement. cache.c makes them,
 * cache_victim.c has LRU and random replacement. */
#ifndef CACHE_TAGS_H
#define CACHE_TAGS_H

#include "machine/cache/cache_fast.h"
#include "machine/cache/cache_geometry.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define NO_LINE UINT32_MAX
/* Of struct round_robin: no way. */
#define NO_WAY UINT32_MAX

/* Tags of a set-associative array. */
struct tags {
    uint32_t *line;                  /* [set * ways.stride + way] */
    uint64_t *used;                  /* for LRU, by index of the way: when */
    struct round_robin *round_robin; /* for round-robin, by set */
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
    uint32_t next = tags->round_robin[set].next_victim;
    return (next == set * ways->stride ? next + ways->count : next) - 1;
}

int tags_victim_any(struct tags *tags, uint32_t set);
/* The index of the way to replace; round-robin moves on. */
INLINE int tags_victim(struct tags *tags, const struct ways *ways, uint32_t set)
{
    if (ways->policy != CACHE_ROUND_ROBIN) return tags_victim_any(tags, set);
    uint32_t way = tags->round_robin[set].next_victim, first = set * ways->stride;
    tags->round_robin[set].next_victim = way + 1 == first + ways->count ? first : way + 1;
    return (int)way;
}

#endif
