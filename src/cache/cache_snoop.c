/* L1 coherence by invalidation, and the filters that keep most snoops away from L1.
 *
 * Every store that leaves a core is shown to all other cores, whose filter drops it where L1D cannot hold the line. Of
 * the real filter only its parts are known (a snoop cache, stream registers in an active and a history set, a range
 * filter, the wrap of L1, four ports); their sizes and rules are guesses. What must hold does: a filter never drops a
 * snoop of a line that is in L1D, and requests = dropped + passed on every port.
 *
 * Ports 0 to 2 are the other cores in order of their numbers; port 3, devices, has no requests here.
 * Stream registers: a base and a mask of bits that all lines of the stream share. A line that fits none opens a free
 * register, or widens the one that keeps most mask bits. When every set of L1D has been refilled whole (a wrap), all
 * that L1D holds came since the wrap before: the active set becomes the history, and a new one begins. Only round-robin
 * wraps. The range is from the lowest to the highest line ever filled. The snoop cache of a port has the lines snooped
 * last, until L1D fills them.
 */
#include "cache/cache_impl.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

unsigned snoop_port(unsigned core, unsigned source)
{
    return (source < core ? source : source - 1) % (CACHE_PORTS - 1);
}

static bool fits(const struct stream_register *set, uint32_t count, uint32_t line)
{
    for (uint32_t i = 0; i < count; i++)
        if (!((set[i].base ^ line) & set[i].mask)) return true;
    return false;
}

/* --- A snoop arrives ------------------------------------------------------------------------------------------ */

static bool passes(struct cache *cache, unsigned core, unsigned port, uint32_t line)
{
    struct cache_core *of = &cache->core[core];
    struct snoop *snoop = &of->snoop;
    struct port_counts *counts = &of->ports[port];
    uint32_t *absent = snoop->absent[port];
    bool in_range = line >= snoop->low && line <= snoop->high;
    bool active = fits(snoop->active, snoop->active_count, line);
    bool history = fits(snoop->history, snoop->history_count, line);
    bool known = tags_scan(absent, cache->absent_stride, line) >= 0;
    counts->range_rejected += !in_range;
    counts->active_hit += active;
    counts->history_hit += history;
    counts->stream_rejected += !active && !history;
    counts->cache_rejected += known;
    counts->both += known && !active && !history;
    if (!known && cache->config.snoop_lines) {
        absent[snoop->next_absent[port]] = line;
        snoop->next_absent[port] =
            snoop->next_absent[port] + 1 == cache->config.snoop_lines ? 0 : snoop->next_absent[port] + 1;
        counts->cache_updated++;
    }
    bool pass = in_range && (active || history) && !known;
    counts->rejected += !pass;
    return pass;
}

void snoop_store(struct cache *cache, unsigned core, uint32_t line, uint64_t now)
{
    cache->core[core].counts.snoop_sent++;
    for (unsigned other = 0; other < cache->config.cores; other++) {
        if (other == core) continue;
        struct cache_core *of = &cache->core[other];
        if (of->open == line) l1_close(cache, other);
        if (cache->config.snoop_filter && !passes(cache, other, snoop_port(other, core), line)) continue;
        of->counts.invalidate++;
        int way = tags_find(&of->data.tags, line & of->data.tags.set_mask, line);
        if (way < 0) continue;
        of->counts.invalidated++;
        l1_drop(cache, other, way, true, now);
    }
}

/* --- L1D changes ---------------------------------------------------------------------------------------------- */

static void widen(struct cache *cache, struct snoop *snoop, uint32_t line)
{
    if (fits(snoop->active, snoop->active_count, line)) return;
    if (snoop->active_count < cache->config.snoop_streams) {
        snoop->active[snoop->active_count++] = (struct stream_register){line, UINT32_MAX};
        return;
    }
    uint32_t best = 0;
    int most = -1;
    for (uint32_t i = 0; i < snoop->active_count; i++) {
        int bits = __builtin_popcount(snoop->active[i].mask & ~(snoop->active[i].base ^ line));
        if (bits > most) most = bits, best = i;
    }
    snoop->active[best].mask &= ~(snoop->active[best].base ^ line);
}

static void wrap(struct cache *cache, unsigned core)
{
    struct cache_core *of = &cache->core[core];
    struct snoop *snoop = &of->snoop;
    struct stream_register *old = snoop->history;
    of->counts.wrap++;
    snoop->history = snoop->active;
    snoop->history_count = snoop->active_count;
    snoop->active = old;
    snoop->active_count = 0;
    snoop->sets_full = 0;
    memset(snoop->set_fills, 0, (of->data.tags.set_mask + 1) * sizeof *snoop->set_fills);
}

void snoop_filled(struct cache *cache, unsigned core, uint32_t line)
{
    struct cache_core *of = &cache->core[core];
    struct snoop *snoop = &of->snoop;
    if (line < snoop->low) snoop->low = line;
    if (line > snoop->high) snoop->high = line;
    for (unsigned port = 0; port < CACHE_PORTS - 1; port++) {
        int at = tags_scan(snoop->absent[port], cache->absent_stride, line);
        if (at >= 0) snoop->absent[port][at] = NO_LINE;
    }
    widen(cache, snoop, line);
    if (of->data.tags.policy != CACHE_ROUND_ROBIN) return;
    if (++snoop->set_fills[line & of->data.tags.set_mask] == of->data.tags.ways) snoop->sets_full++;
    if (snoop->sets_full == of->data.tags.set_mask + 1) wrap(cache, core);
}

/* --- Life ----------------------------------------------------------------------------------------------------- */

void snoop_init(struct cache *cache, struct snoop *snoop)
{
    const struct cache_config *config = &cache->config;
    uint64_t sets = config->l1d.size / config->l1d.line / config->l1d.ways;
    snoop->active = base_calloc(config->snoop_streams + 1, sizeof *snoop->active);
    snoop->history = base_calloc(config->snoop_streams + 1, sizeof *snoop->history);
    snoop->low = UINT32_MAX;
    snoop->set_fills = base_calloc(sets, sizeof *snoop->set_fills);
    for (unsigned port = 0; port < CACHE_PORTS; port++) {
        snoop->absent[port] = base_calloc_aligned(cache->absent_stride, sizeof(uint32_t), sizeof(tag_vector));
        memset(snoop->absent[port], 0xff, cache->absent_stride * sizeof(uint32_t));
    }
}

void snoop_fini(struct snoop *snoop)
{
    free(snoop->active);
    free(snoop->history);
    free(snoop->set_fills);
    for (unsigned port = 0; port < CACHE_PORTS; port++)
        free(snoop->absent[port]);
}
