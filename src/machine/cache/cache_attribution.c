/* Attribution: divides the counts of the hierarchy among callers.
 *
 * An attributor remembers what every unit had counted when it last looked. What was added since
 * belongs to the caller that ran meanwhile. An attribution allocates room for a unit when the unit
 * first counts for it, so callers that hit in L1 need no memory. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "machine/cache/cache_snoop_access.h"

struct unit_seen {
    const uint64_t *now;
    uint64_t *seen;
    size_t count;
};

/* Units in this order: counts of each core, ports of each core, banks, controllers; an attribution
 * has one more, with the snoops sent to idle cores. */
struct cache_attributor {
    const struct cache *cache;
    size_t count;
    struct unit_seen *units;
    uint64_t shown_again[CACHE_CORES];
    uint64_t bank_changes;          /* as far as they have been looked at */
    uint32_t idle[CACHE_CORES + 1]; /* which cores were, one after the other, */
    unsigned period;                /* until now */
};

/* By period and sending core. */
struct shown {
    uint64_t sent, again;
};

static size_t unit_count(const struct cache *cache)
{
    return 2 * (size_t)cache->config.cores + cache->config.l3_banks + cache->config.controllers;
}

/* Counts are structs of nothing but uint64_t. */
static uint64_t *unit_at(const struct cache *cache, size_t unit, size_t *count)
{
    size_t cores = cache->config.cores, banks = cache->config.l3_banks;
    if (unit < cores) {
        size_t kept = cache->config.miss_kinds ? sizeof(struct core_counts)
                                               : offsetof(struct core_counts, load_kind);
        *count = kept / sizeof(uint64_t);
        return (uint64_t *)&cache->core[unit]->counts;
    }
    if (unit < 2 * cores) {
        *count = CACHE_PORTS * sizeof(struct port_counts) / sizeof(uint64_t);
        return (uint64_t *)cache->core[unit - cores]->ports;
    }
    if (unit < 2 * cores + banks) {
        size_t kept = cache->config.miss_kinds ? sizeof(struct bank_counts)
                                               : offsetof(struct bank_counts, miss_kind);
        *count = kept / sizeof(uint64_t);
        return (uint64_t *)&cache->bank[unit - 2 * cores]->counts;
    }
    *count = sizeof(struct ddr_counts) / sizeof(uint64_t);
    return (uint64_t *)&cache->ddr[unit - 2 * cores - banks].counts;
}

struct cache_attributor *cache_attributor_new(const struct cache *cache)
{
    struct cache_attributor *attributor = base_calloc(1, sizeof *attributor);
    attributor->cache = cache;
    attributor->count = unit_count(cache);
    attributor->idle[0] = cache->idle;
    attributor->units = base_calloc(attributor->count, sizeof *attributor->units);
    for (size_t i = 0; i < attributor->count; i++) {
        struct unit_seen *unit = &attributor->units[i];
        unit->now = unit_at(cache, i, &unit->count);
        unit->seen = base_calloc(unit->count, sizeof *unit->seen);
    }
    return attributor;
}

void cache_attributor_free(struct cache_attributor *attributor)
{
    if (!attributor) return;
    for (size_t i = 0; i < attributor->count; i++)
        free(attributor->units[i].seen);
    free(attributor->units);
    free(attributor);
}

static inline uint64_t *bill_unit(const struct cache_attributor *attributor,
                                  struct cache_attribution *attribution, size_t unit)
{
    if (attribution->unit && attribution->unit[unit]) return attribution->unit[unit];
    if (!attribution->unit)
        attribution->unit = base_calloc(attributor->count + 1, sizeof *attribution->unit);
    size_t cores = attributor->cache->config.cores;
    if (unit == attributor->count)
        return attribution->unit[unit] = base_calloc((cores + 1) * cores, sizeof(struct shown));
    return attribution->unit[unit] = base_calloc(attributor->units[unit].count, sizeof(uint64_t));
}

/* --- Cores that never filled a line ---------------------------------------------------------- */

/* Their filters count together, with the core that sends (cache_snoop.c). An attribution has what
 * was sent while the same cores were idle; it is multiplied when counts are read. */

static struct port_counts port_of(const struct cache *cache, uint64_t sent, uint64_t again)
{
    return (struct port_counts){
        .rejected = sent,
        .cache_rejected = again,
        .cache_updated = cache->config.snoop_lines ? sent - again : 0,
        .both = again,
        .range_rejected = sent,
        .stream_rejected = sent,
    };
}

/* Some core has filled its first line: from now on its ports are looked at like any unit. */
static void wake(struct cache_attributor *attributor)
{
    const struct cache *cache = attributor->cache;
    size_t cores = cache->config.cores;
    for (uint32_t woken = attributor->idle[attributor->period] & ~cache->idle; woken;
         woken &= woken - 1) {
        unsigned core = (unsigned)__builtin_ctz(woken);
        struct port_counts *ports = (struct port_counts *)attributor->units[cores + core].seen;
        for (unsigned source = 0; source < cores; source++) {
            const struct core_counts *counts =
                (const struct core_counts *)attributor->units[source].seen;
            if (source != core)
                ports[snoop_port(core, source)] =
                    port_of(cache, counts_sent(counts), attributor->shown_again[source]);
        }
    }
    attributor->idle[++attributor->period] = cache->idle;
}

static void charge_idle(struct cache_attributor *attributor, unsigned core,
                        struct cache_attribution *attribution)
{
    const struct cache *cache = attributor->cache;
    const struct core_counts *seen = (const struct core_counts *)attributor->units[core].seen;
    uint64_t sent = counts_sent(&cache->core[core]->counts) - counts_sent(seen);
    if (!sent) return;
    snoop_drain_idle(cache, cache->core[core]);
    uint64_t again = cache->core[core]->snoop.shown_again;
    struct shown *shown = (struct shown *)bill_unit(attributor, attribution, attributor->count);
    shown += attributor->period * cache->config.cores + core;
    shown->sent += sent;
    shown->again += again - attributor->shown_again[core];
    attributor->shown_again[core] = again;
}

static void show_idle(struct cache *counts, const struct cache_attributor *attributor,
                      const struct shown *shown)
{
    unsigned cores = counts->config.cores;
    for (unsigned period = 0; period <= attributor->period; period++)
        for (unsigned source = 0; source < cores; source++, shown++)
            for (uint32_t idle = attributor->idle[period] & ~(1U << source); idle;
                 idle &= idle - 1) {
                unsigned core = (unsigned)__builtin_ctz(idle);
                struct port_counts *port = &counts->core[core]->ports[snoop_port(core, source)];
                const struct port_counts more = port_of(counts, shown->sent, shown->again);
                for (size_t i = 0; i < sizeof more / sizeof(uint64_t); i++)
                    ((uint64_t *)port)[i] += ((const uint64_t *)&more)[i];
            }
}

/* --- Charging -------------------------------------------------------------------------------- */

typedef uint32_t words __attribute__((vector_size(16), may_alias, aligned(8)));
typedef uint64_t pair __attribute__((vector_size(16), may_alias, aligned(8)));
enum { GROUP = 8 };

static inline bool group_same(const uint64_t *a, const uint64_t *b)
{
    const words *x = (const words *)a, *y = (const words *)b;
    return !tags_any(
        (tag_vector)((x[0] != y[0]) | (x[1] != y[1]) | (x[2] != y[2]) | (x[3] != y[3])));
}

static void charge_unit(const struct cache_attributor *attributor, size_t number,
                        struct cache_attribution *attribution)
{
    const struct unit_seen *unit = &attributor->units[number];
    const uint64_t *now = unit->now;
    uint64_t *seen = unit->seen, *to = NULL;
    size_t i = 0;
    for (; i + GROUP <= unit->count; i += GROUP) {
        if (group_same(now + i, seen + i)) continue;
        if (!to) to = bill_unit(attributor, attribution, number);
        for (size_t k = i; k < i + GROUP; k += 2) {
            pair counted = *(const pair *)(now + k);
            *(pair *)(to + k) += counted - *(const pair *)(seen + k);
            *(pair *)(seen + k) = counted;
        }
    }
    for (; i < unit->count; i++) {
        if (now[i] == seen[i]) continue;
        if (!to) to = bill_unit(attributor, attribution, number);
        to[i] += now[i] - seen[i];
        seen[i] = now[i];
    }
}

void cache_attribute(struct cache_attributor *attributor, unsigned core,
                     struct cache_attribution *attribution)
{
    const struct cache *cache = attributor->cache;
    size_t cores = cache->config.cores;
    uint32_t awake =
        cache->core[core]->others &
        (~cache->idle | cache->l2_users); /* cores whose counts may have changed, too */
    if (cache->idle != attributor->idle[attributor->period]) wake(attributor);
    if (cache->idle) charge_idle(attributor, core, attribution);
    charge_unit(attributor, core, attribution);
    for (; awake; awake &= awake - 1) {
        size_t other = (size_t)__builtin_ctz(awake);
        snoop_drain_log(cache, cache->core[other]);
        charge_unit(attributor, other, attribution);
        if (!(cache->idle >> other & 1)) charge_unit(attributor, cores + other, attribution);
    }
    if (attributor->bank_changes == cache->bank_changes) return;
    attributor->bank_changes = cache->bank_changes;
    for (size_t i = 2 * cores; i < attributor->count; i++)
        charge_unit(attributor, i, attribution);
}

void cache_attribution_fini(const struct cache_attributor *attributor,
                            struct cache_attribution *attribution)
{
    for (size_t i = 0; attribution->unit && i <= attributor->count; i++)
        free(attribution->unit[i]);
    free(attribution->unit); // NOLINT(bugprone-multi-level-implicit-pointer-conversion)
    attribution->unit = NULL;
}

/* --- Asking ---------------------------------------------------------------------------------- */

struct cache *cache_counts_new(const struct cache *like)
{
    struct cache *counts = base_calloc(1, sizeof *counts);
    counts->config = like->config;
    counts->bank = base_calloc(like->config.l3_banks, sizeof *counts->bank);
    counts->ddr = base_calloc(like->config.controllers, sizeof *counts->ddr);
    for (unsigned i = 0; i < like->config.cores; i++) {
        counts->core[i] =
            base_calloc_aligned(1, sizeof *counts->core[i], _Alignof(struct cache_core));
        counts->core[i]->port = like->core[i]->port;
    }
    for (unsigned i = 0; i < like->config.l3_banks; i++)
        counts->bank[i] = base_calloc(1, sizeof *counts->bank[i]);
    return counts;
}

void cache_counts_free(struct cache *counts)
{
    if (!counts) return;
    for (unsigned i = 0; i < counts->config.cores; i++)
        free(counts->core[i]);
    for (unsigned i = 0; i < counts->config.l3_banks; i++)
        free(counts->bank[i]);
    free(counts->bank); // NOLINT(bugprone-multi-level-implicit-pointer-conversion)
    free(counts->ddr);
    free(counts);
}

void cache_counts_clear(struct cache *counts)
{
    for (size_t i = 0, units = unit_count(counts); i < units; i++) {
        size_t count;
        uint64_t *at = unit_at(counts, i, &count);
        memset(at, 0, count * sizeof *at);
    }
}

void cache_counts_add(struct cache *counts, const struct cache_attributor *attributor,
                      const struct cache_attribution *attribution)
{
    if (!attribution->unit) return;
    for (size_t i = 0, units = unit_count(counts); i < units; i++) {
        size_t count;
        uint64_t *at = unit_at(counts, i, &count);
        for (size_t k = 0; attribution->unit[i] && k < count; k++)
            at[k] += attribution->unit[i][k];
    }
    if (attribution->unit[attributor->count])
        show_idle(counts, attributor, (const struct shown *)attribution->unit[attributor->count]);
}
