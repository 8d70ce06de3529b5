/* L1 coherence by invalidation, and the filters that keep most snoops away from L1.
 *
 * Every store that leaves a core is shown to all other cores, whose filter drops it where L1D
 * cannot hold the line. Of the real filter only its parts are known (a snoop cache, stream
 * registers in an active and a history set, a range filter, the wrap of L1, four ports); their
 * sizes and rules are guesses. What must hold does: a filter never drops a snoop of a line that is
 * in L1D, and requests = dropped + passed on every port.
 *
 * Ports 0 to 2 are the other cores in order of their numbers; port 3, devices, has no requests
 * here. Stream registers: a base and a mask of bits that all lines of the stream share. A line that
 * fits none opens a free register, or widens the one that keeps most mask bits. When every set of
 * L1D has been refilled whole (a wrap), all that L1D holds came since the wrap before: the active
 * set becomes the history, and a new one begins. Only round-robin wraps. The range is from the
 * lowest to the highest line ever filled. The snoop cache of a port has the lines snooped last,
 * until L1D fills them.
 */
#include "machine/cache/cache_snoop_access.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* --- A snoop arrives ------------------------------------------------------------------------- */

/* What the parts of a filter find for a snoop. */
enum { IN_RANGE = 1, ACTIVE = 2, HISTORY = 4, CACHED = 8, VERDICTS = 16 };

/* The log is drained. */
INLINE unsigned filter_probe(const struct cache *cache, const struct shape *shape,
                             struct snoop *snoop, unsigned port, uint32_t line)
{
    bool in_range = line >= snoop->low && line <= snoop->high;
    bool active = snoop_fits(shape, &snoop->active, line);
    bool history = snoop_fits(shape, &snoop->history, line);
    bool cached = snoop_look_up(cache, shape, &snoop->snoop_cache[port], line);
    return in_range * IN_RANGE + active * ACTIVE + history * HISTORY + cached * CACHED;
}

/* Counts that result `times` times; whether such a snoop passes. */
INLINE bool count_verdict(const struct shape *shape, struct port_counts *counts, unsigned said,
                          uint64_t times)
{
    bool in_range = said & IN_RANGE, cached = said & CACHED, fits = said & (ACTIVE | HISTORY);
    bool pass = in_range & fits & !cached;
    counts->range_rejected += in_range ? 0 : times;
    counts->active_hit += said & ACTIVE ? times : 0;
    counts->history_hit += said & HISTORY ? times : 0;
    counts->stream_rejected += fits ? 0 : times;
    counts->cache_rejected += cached ? times : 0;
    counts->cache_updated += !cached && shape->snoop_cache_stride ? times : 0;
    counts->both += cached && !fits ? times : 0;
    counts->rejected += pass ? 0 : times;
    return pass;
}

/* A store of `source` takes a line from an L1D. */
NOINLINE static void notify_invalidation(const struct cache *cache, unsigned core, unsigned source,
                                         uint32_t line, uint64_t now)
{
    uint64_t physical = (uint64_t)line << cache->shape.l1d_shift;
    const struct mem_mapping *mapping = mem_frames_first(&cache->frames, physical >> FRAME_BITS);
    uint32_t page = mapping ? mapping->page : 0;
    const struct cache_transaction transaction = {.core = (uint8_t)core,
                                                  .sender = (uint8_t)source,
                                                  .kind = CACHE_INVALIDATION,
                                                  .address = page << FRAME_BITS |
                                                             (uint32_t)(physical & (FRAME - 1))};
    cache->listener->notify(cache->listener->context, transaction, now, now);
}

INLINE void snoop_one(struct cache *cache, const struct shape *shape, unsigned core,
                      unsigned source, uint32_t line, uint64_t now)
{
    struct cache_core *this_core = cache->core[core];
    if (cache->config.snoop_filter) {
        snoop_drain_log(cache, this_core);
        this_core->snoop.any_cached = true;
        unsigned port = snoop_port(core, source),
                 said = filter_probe(cache, shape, &this_core->snoop, port, line);
        if (!count_verdict(shape, &this_core->ports[port], said, 1)) return;
    }
    this_core->counts.invalidate++;
    int way =
        tags_find(&this_core->data.tags, &shape->l1d, line & this_core->data.tags.set_mask, line);
    if (way < 0) return;
    this_core->counts.invalidated++;
    if (cache->listener) notify_invalidation(cache, core, source, line, now);
    l1_drop(cache, this_core, way, true, now);
    order_mark(cache, line);
}

void snoop_filled_cores(struct cache *cache, uint32_t cores, unsigned source, uint32_t line,
                        uint64_t now)
{
    for (; cores; cores &= cores - 1) {
        unsigned core = (unsigned)__builtin_ctz(cores);
        if (cache->is_blue_gene)
            snoop_one(cache, &blue_gene, core, source, line, now);
        else
            snoop_one(cache, &cache->shape, core, source, line, now);
    }
}

/* --- Cores that never filled a line ---------------------------------------------------------- */

typedef uint32_t any_tags __attribute__((vector_size(16), may_alias, aligned(4)));

/* Whether any of eight lines is one of the eight before it. */
static bool eight_again(const uint32_t *lines)
{
    const any_tags first = *(const any_tags *)lines, last = *(const any_tags *)(lines + 4);
    tag_vector again = {0};
    UNROLL
    for (int i = 1; i <= TAG_STRIDE / 2; i++) { /* what is looked at for both is at hand */
        const any_tags before = *(const any_tags *)(lines - i);
        again |= (tag_vector)(first == before) | (tag_vector)(last == before);
        again |= (tag_vector)(first == *(const any_tags *)(lines - i - 4));
        again |= (tag_vector)(last == *(const any_tags *)(lines - i + 4));
    }
    return tags_any(again);
}

/* A snoop cache of eight lines gets `count` snoops, with room for eight lines before them; returns
 * how many hit. While none hits, it holds the last eight, and eight are compared at once. */
static uint64_t show_eight(struct snoop_cache *snoop_cache, uint32_t *lines, uint64_t count)
{
    tag_vector first, last; /* what it has, oldest line in `first`, since it hit one of
                               the last eight */
    uint32_t in_order[TAG_STRIDE], unknown = 0, in_a_row = TAG_STRIDE;
    for (uint32_t i = 0; i < TAG_STRIDE; i++)
        lines[(int)i - TAG_STRIDE] = snoop_cache->line[(snoop_cache->next + i) % TAG_STRIDE];
    for (uint64_t i = 0; i < count; i++) {
        if (in_a_row >= TAG_STRIDE) {
            for (; i + TAG_STRIDE <= count && !eight_again(lines + i); i += TAG_STRIDE)
                unknown += TAG_STRIDE;
            memcpy(&first, lines + i - TAG_STRIDE, sizeof first);
            memcpy(&last, lines + i - TAG_STRIDE / 2, sizeof last);
            if (i == count) break;
        }
        const tag_vector line = {lines[i], lines[i], lines[i], lines[i]};
        in_a_row++;
        if (tags_any((tag_vector)((first == line) | (last == line)))) {
            in_a_row = 0;
            continue;
        }
        first = tags_shift(first, last);
        last = tags_shift(last, line);
        unknown++;
    }
    memcpy(in_order, &first, sizeof first);
    memcpy(in_order + TAG_STRIDE / 2, &last, sizeof last);
    snoop_cache->next = (snoop_cache->next + unknown) % TAG_STRIDE;
    for (uint32_t i = 0; i < TAG_STRIDE; i++)
        snoop_cache->line[(snoop_cache->next + i) % TAG_STRIDE] = in_order[i];
    return count - unknown;
}

void snoop_drain_idle(const struct cache *cache, struct cache_core *core)
{
    struct snoop *snoop = &core->snoop;
    if (!snoop->shown_logged) return;
    if (!(core->others & cache->idle))
        ; /* no core is idle any more */
    else if (cache->config.snoop_lines == TAG_STRIDE)
        snoop->shown_again +=
            show_eight(&snoop->shown, snoop->shown_log + TAG_STRIDE, snoop->shown_logged);
    else
        for (uint32_t i = 0; i < snoop->shown_logged; i++)
            snoop->shown_again += snoop_look_up(cache, &cache->shape, &snoop->shown,
                                                snoop->shown_log[TAG_STRIDE + i]);
    snoop->shown_logged = 0;
}

/* Filters of idle cores drop every snoop by range and stream registers. Only the snoop cache
 * distinguishes lines, and for one source it is the same in all idle cores. So it is kept once,
 * with the source, until a core fills its first line. */
static struct port_counts idle_counts(const struct cache *cache, unsigned source)
{
    struct cache_core *core = cache->core[source];
    snoop_drain_idle(cache, core);
    uint64_t sent = counts_sent(&core->counts), again = core->snoop.shown_again;
    return (struct port_counts){
        .rejected = sent,
        .cache_rejected = again,
        .cache_updated = cache->config.snoop_lines ? sent - again : 0,
        .both = again,
        .range_rejected = sent,
        .stream_rejected = sent,
    };
}

struct port_counts snoop_counts(const struct cache *cache, unsigned core, unsigned port)
{
    if (!(cache->idle >> core & 1)) {
        snoop_drain_log(cache, cache->core[core]);
        return cache->core[core]->ports[port];
    }
    for (unsigned source = 0; source < cache->config.cores; source++)
        if (source != core && snoop_port(core, source) == port) return idle_counts(cache, source);
    return (struct port_counts){0};
}

void snoop_wake(struct cache *cache, struct cache_core *core)
{
    for (unsigned source = 0; source < cache->config.cores; source++) {
        if (source == core->number) continue;
        unsigned port = snoop_port(core->number, source);
        const struct snoop_cache *shown = &cache->core[source]->snoop.shown;
        core->ports[port] = idle_counts(cache, source);
        core->snoop.snoop_cache[port].next = shown->next;
        if (!shown->line) continue;
        memcpy(core->snoop.snoop_cache[port].line, shown->line,
               cache->shape.snoop_cache_stride * sizeof *shown->line);
        core->snoop.any_cached |= shown->line[0] != NO_LINE;
    }
    cache->idle &= ~(1U << core->number);
    fast_update(cache);
}

/* --- L1D changes ----------------------------------------------------------------------------- */

/* A filled line fits no stream register. */
static void widen(const struct cache *cache, struct stream_set *set, uint32_t line)
{
    if (set->count < cache->config.snoop_streams) {
        set->base[set->count++] = line;
        return;
    }
    uint32_t best = 0;
    int most = -1;
    for (uint32_t i = 0; i < set->count; i++) {
        int bits = __builtin_popcount(set->mask[i] & ~(set->base[i] ^ line));
        if (bits > most) most = bits, best = i;
    }
    set->mask[best] &= ~(set->base[best] ^ line);
}

/* A line that may be in snoop caches is in L1D. */
INLINE void snoop_uncache(const struct shape *shape, struct snoop *snoop, uint32_t line)
{
    const tag_vector wanted = {line, line, line, line};
    tag_vector found = {0};
    UNROLL
    for (unsigned port = 0; port < CACHE_PORTS - 1; port++)
        for (uint32_t i = 0; i < shape->snoop_cache_stride; i += TAG_STRIDE / 2)
            found |=
                (tag_vector)(*(const tag_vector *)(snoop->snoop_cache[port].line + i) == wanted);
    if (!UNLIKELY(tags_any(found))) return;
    for (unsigned port = 0; port < CACHE_PORTS - 1; port++) {
        int at = tags_scan(snoop->snoop_cache[port].line, shape->snoop_cache_stride, line);
        if (at >= 0) snoop->snoop_cache[port].line[at] = NO_LINE;
    }
}

/* Whether any of four lines is out of a range: more above its low end than the high one is.
 * Comparisons have a sign, so both are moved by half of what there is. */
INLINE tag_vector four_outside(const uint32_t *lines, tag_vector move, tag_vector most)
{
    typedef int32_t four __attribute__((vector_size(16)));
    return (tag_vector)((four)(*(const any_tags *)lines + move) > (four)most);
}

/* The same for a log of a multiple of eight. */
static bool any_outside(const uint32_t *line, const uint32_t *end, uint32_t low, uint32_t high)
{
    const uint32_t half = 1U << 31, from = half - low, to = half + (high - low);
    const tag_vector move = {from, from, from, from}, most = {to, to, to, to};
    tag_vector outside = {0};
    for (; line != end; line += 8)
        outside |= four_outside(line, move, most) | four_outside(line + 4, move, most);
    return tags_any(outside);
}

/* The range of lines ever filled takes in what was logged: mostly nothing that it has not. */
static void extend(struct snoop *snoop, const struct stream_set *set)
{
    const uint32_t *line = set->log, *whole = line + (set->log_end - line) / 8 * 8;
    if (snoop->low <= snoop->high && !any_outside(line, whole, snoop->low, snoop->high))
        line = whole;
    for (; line < set->log_end; line++) {
        if (*line < snoop->low) snoop->low = *line;
        if (*line > snoop->high) snoop->high = *line;
    }
}

INLINE void take_in(const struct cache *cache, const struct shape *shape, struct snoop *snoop,
                    struct stream_set *set, uint32_t line)
{
    if (!snoop_fits(shape, set, line)) widen(cache, set, line);
    if (snoop->any_cached) snoop_uncache(shape, snoop, line);
}

INLINE void drain_log(const struct cache *cache, const struct shape *shape, struct snoop *snoop,
                      struct stream_set *set)
{
    extend(snoop, set);
    for (const uint32_t *line = set->log; line < set->log_end; line++)
        take_in(cache, shape, snoop, set, *line);
    set->log_end = set->log;
}

/* The same with snoops in the active set's log: each meets the lines logged before it. */
INLINE void drain_log_snooped(const struct cache *cache, const struct shape *shape,
                              struct cache_core *core)
{
    struct snoop *snoop = &core->snoop;
    uint32_t times[CACHE_PORTS * VERDICTS]; /* by port and what was said: */
    uint64_t counted = 0;
    _Static_assert(CACHE_PORTS * VERDICTS <= 64, "a bit for each");
    for (const uint32_t *at = snoop->active.log; at < snoop->active.log_end; at++) {
        uint32_t line = *at & ((1U << SNOOPED) - 1), from = *at >> SNOOPED;
        if (from) {
            unsigned i = (from - 1) * VERDICTS + filter_probe(cache, shape, snoop, from - 1, line);
            times[i] = counted >> i & 1 ? times[i] + 1 : 1;
            counted |= UINT64_C(1) << i;
            continue;
        }
        if (line < snoop->low) snoop->low = line;
        if (line > snoop->high) snoop->high = line;
        take_in(cache, shape, snoop, &snoop->active, line);
    }
    snoop->active.log_end = snoop->active.log;
    snoop->snooped = false;
    for (; counted; counted &= counted - 1) {
        unsigned i = (unsigned)__builtin_ctzll(counted);
        if (count_verdict(shape, &core->ports[i / VERDICTS], i % VERDICTS, times[i]))
            core->counts.invalidate += times[i];
    }
}

INLINE void drain_logs(const struct cache *cache, const struct shape *shape,
                       struct cache_core *core)
{
    struct snoop *snoop = &core->snoop;
    if (UNLIKELY(snoop->history.log_end != snoop->history.log))
        drain_log(cache, shape, snoop, &snoop->history);
    if (snoop->snooped)
        drain_log_snooped(cache, shape, core);
    else if (snoop->active.log_end != snoop->active.log)
        drain_log(cache, shape, snoop, &snoop->active);
}

void snoop_drain_log(const struct cache *cache, struct cache_core *core)
{
    if (cache->is_blue_gene)
        drain_logs(cache, &blue_gene, core);
    else
        drain_logs(cache, &cache->shape, core);
}

static void empty(struct stream_set *set, uint32_t stride)
{
    memset(set->base, 0xff, stride * sizeof *set->base);
    memset(set->mask, 0xff, stride * sizeof *set->mask);
    set->count = 0;
    set->log_end = set->log;
}

/* Every set has all its ways to be filled. */
static void refill(struct cache_core *core)
{
    struct tags *tags = &core->data.tags;
    for (uint32_t set = 0; tags->round_robin && set <= tags->set_mask; set++)
        tags->round_robin[set].wrap_way = tags_before(tags, &tags->ways, set);
}

static void wrap(struct cache *cache, struct cache_core *core)
{
    struct snoop *snoop = &core->snoop;
    core->counts.wrap++;
    if (snoop->any_cached) snoop_drain_log(cache, core);
    struct stream_set old = snoop->history;
    extend(snoop, &old);
    snoop->history = snoop->active;
    snoop->active = old;
    empty(&snoop->active, cache->shape.register_stride);
    snoop->sets_full = 0;
    refill(core);
}

void snoop_set_full(struct cache *cache, struct cache_core *core)
{
    if (++core->snoop.sets_full == core->data.tags.set_mask + 1) wrap(cache, core);
}

/* --- Life ------------------------------------------------------------------------------------ */

static void set_init(struct stream_set *set, uint32_t stride)
{
    set->base = tags_new(stride);
    set->mask = tags_new(stride);
    set->log = set->log_end = base_calloc(SNOOP_LOG, sizeof *set->log);
    set->log_full = set->log + SNOOP_LOG - CACHE_MISSES - 1;
}

void snoop_init(struct cache *cache, struct cache_core *core)
{
    struct snoop *snoop = &core->snoop;
    if (cache->config.snoop_filter) refill(core);
    set_init(&snoop->active, cache->shape.register_stride);
    set_init(&snoop->history, cache->shape.register_stride);
    snoop->low = UINT32_MAX;
    snoop->shown.line = tags_new(cache->shape.snoop_cache_stride);
    for (unsigned port = 0; port < CACHE_PORTS; port++)
        snoop->snoop_cache[port].line = tags_new(cache->shape.snoop_cache_stride);
}

void snoop_fini(struct snoop *snoop)
{
    free(snoop->active.base);
    free(snoop->active.mask);
    free(snoop->active.log);
    free(snoop->history.base);
    free(snoop->history.mask);
    free(snoop->history.log);
    free(snoop->shown.line);
    for (unsigned port = 0; port < CACHE_PORTS; port++)
        free(snoop->snoop_cache[port].line);
}
