/* Coherence in the order of time: which accesses of a core must not be made before other cores have
 * come as far.
 *
 * Cores run up to a quantum apart (src/machine/os/os_sched.c). Of most accesses no other core sees
 * when they are made. An access waits, once its time is not before the core's `order_limit`, if
 *
 *   1. its line is contended; or
 *   2. it is a store, and another core has the line in L1D; or
 *   3. it touches a line to which another core's stores join: a store that line, a load that misses
 *      L1D also those of the L2 lines that it may bring in.
 *
 * A line is contended from the moment in which a core stores to it while another has it, or reads
 * it while another's stores join it, until no line of its frame was taken so for ORDER_CYCLES. No
 * line byte is set for it and its page has no fast path, so every access to it comes here, hits
 * included. Other lines cost nothing.
 *
 * Limits: the first time that a line is taken, the core that has it may have used it up to a
 * quantum beyond that time; nor are neighbours in an L2 line contended. Only L1D and the joining of
 * stores are in order; L2, L3 and DDR see misses of lines that are not contended up to a quantum
 * early or late. The code in L1I and what a DMA engine does wait for nothing.
 *
 * Whether an access waits follows from the model's state alone, and no access of the fast path
 * would have to wait: so all engines and listeners see the same order. */
#include "machine/cache/cache_l1_access.h"
#include "machine/cache/cache_space_access.h"

/* Some 1.2 ms: an error of a quantum once in so many cycles is less than a thousandth. */
#define ORDER_CYCLES (UINT64_C(1) << 20)

static struct order_frame *frame_of(const struct cache *cache, uint32_t line)
{
    return &cache->ordered[line >> (FRAME_BITS - cache->shape.l1d_shift)];
}

static uint64_t *word_of(const struct cache *cache, uint32_t line, uint64_t *bit)
{
    uint32_t number = line & ((1U << (FRAME_BITS - cache->shape.l1d_shift)) - 1);
    _Static_assert(ORDER_WORDS * 64 << CACHE_GRANULE_BITS == FRAME, "a bit for each line");
    *bit = UINT64_C(1) << number % 64;
    return &frame_of(cache, line)->lines[number / 64];
}

bool order_has_contended(const struct cache *cache, uint32_t line)
{
    if (!cache->any_contended) return false;
    const struct order_frame *frame = frame_of(cache, line);
    return (frame->lines[0] | frame->lines[1]) != 0;
}

bool order_is_contended(struct cache *cache, uint32_t line, uint64_t now)
{
    uint64_t bit;
    if (!cache->any_contended || !(*word_of(cache, line, &bit) & bit)) return false;
    struct order_frame *frame = frame_of(cache, line);
    if (now <= frame->taken + ORDER_CYCLES) return true;
    *frame = (struct order_frame){{0}, 0};
    return false;
}

void order_mark(struct cache *cache, uint32_t line)
{
    if (!cache->is_ordered) return;
    uint64_t bit, *word = word_of(cache, line, &bit);
    struct order_frame *frame = frame_of(cache, line);
    if (cache->order_time > frame->taken) frame->taken = cache->order_time;
    if (*word & bit) return;
    *word |= bit;
    cache->any_contended = true;
    space_contend(cache, (uint64_t)line << cache->shape.l1d_shift, 1U << cache->shape.l1d_shift);
}

void order_show(const struct cache *cache, uint8_t *bytes, uint32_t line)
{
    const struct order_frame *frame = frame_of(cache, line);
    for (uint32_t word = 0; word < ORDER_WORDS; word++)
        for (uint64_t lines = frame->lines[word]; lines; lines &= lines - 1)
            bytes[64 * word + (uint32_t)__builtin_ctzll(lines)] |= CACHE_CONTENDED;
}

void order_forget(struct cache *cache, uint64_t frame)
{
    cache->ordered[frame] = (struct order_frame){{0}, 0};
}

/* --- Whether an access waits ------------------------------------------------------------------ */

static bool has_line(const struct cache *cache, const struct cache_core *core, uint32_t line)
{
    const struct tags *tags = &core->data.tags;
    return tags_find(tags, &cache->shape.l1d, line & tags->set_mask, line) >= 0;
}

/* A store to such a line takes it. */
static bool others_have(const struct cache *cache, const struct cache_core *core, uint32_t line)
{
    for (uint32_t others = core->others; others; others &= others - 1)
        if (has_line(cache, cache->core[__builtin_ctz(others)], line)) return true;
    return false;
}

/* Whether other cores' stores join a line of `lines` lines of 1 << more L1D lines, in the frame. */
static bool others_open(const struct cache *cache, const struct cache_core *core, uint32_t line,
                        unsigned more, uint32_t lines)
{
    unsigned frame = FRAME_BITS - cache->shape.l1d_shift;
    for (uint32_t others = cache->has_open & core->others; others; others &= others - 1)
        for (uint32_t i = 0; i < cache->config.store_lines; i++) {
            uint32_t open = cache->core[__builtin_ctz(others)]->open[i].line;
            if (open >> frame == line >> frame && (open >> more) - (line >> more) < lines)
                return true;
        }
    return false;
}

static bool line_waits(struct cache *cache, const struct cache_core *core, unsigned space,
                       uint32_t address, bool store, uint64_t now)
{
    if (!mem_is_touched(&cache->frames, space, address)) return false; /* no core has it */
    const struct shape *shape = &cache->shape;
    uint32_t line =
        (uint32_t)(mem_translate(&cache->frames, space, address).address >> shape->l1d_shift);
    if (order_is_contended(cache, line, now)) return true;
    if (store) return others_open(cache, core, line, 0, 1) || others_have(cache, core, line);
    if (has_line(cache, core, line)) return false;
    if (!cache->config.write_through && others_have(cache, core, line)) return true;
    return others_open(cache, core, line, shape->l2_shift - shape->l1d_shift,
                       cache->config.l2_depth + 1);
}

bool order_waits(struct cache *cache, const struct cache_core *core, unsigned space,
                 uint32_t address, uint32_t size, bool store, uint64_t now)
{
    uint32_t last = address + size - 1;
    return line_waits(cache, core, space, address, store, now) ||
           ((last ^ address) & cache->line_mask &&
            line_waits(cache, core, space, last, store, now));
}

void cache_order(struct cache *cache, unsigned core, uint64_t limit)
{
    if (!cache->config.coherent || cache->config.cores == 1 || memory_is_free(cache)) return;
    cache->core[core]->order_limit = limit;
    cache->is_ordered |= limit != UINT64_MAX;
}
