/* Who caused what: the counts of the hierarchy, divided among callers.
 *
 * The counters stay where they are and know nothing of it. An account remembers what every unit had
 * counted when it was last looked at; what has been added since is charged to whoever ran
 * meanwhile. A bill has room for a unit when that unit was first used on it, so bills of callers
 * that hit in L1 are empty.
 *
 * What is not a sum cannot be divided: eDRAM refreshes follow the clock and are on no bill.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "machine/cache/cache_snoop_access.h"

struct unit_seen {
    const uint64_t *now;
    uint64_t *seen;
    size_t count;
};

/* Units in this order: counts of each core, ports of each core, banks, controllers; and on bills
 * one more, with what was sent to idle cores. */
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
    struct cache_attributor *account = base_calloc(1, sizeof *account);
    account->cache = cache;
    account->count = unit_count(cache);
    account->idle[0] = cache->idle;
    account->units = base_calloc(account->count, sizeof *account->units);
    for (size_t i = 0; i < account->count; i++) {
        struct unit_seen *unit = &account->units[i];
        unit->now = unit_at(cache, i, &unit->count);
        unit->seen = base_calloc(unit->count, sizeof *unit->seen);
    }
    return account;
}

void cache_attributor_free(struct cache_attributor *account)
{
    if (!account) return;
    for (size_t i = 0; i < account->count; i++)
        free(account->units[i].seen);
    free(account->units);
    free(account);
}

static inline uint64_t *bill_unit(const struct cache_attributor *account,
                                  struct cache_attribution *bill, size_t unit)
{
    if (bill->unit && bill->unit[unit]) return bill->unit[unit];
    if (!bill->unit)
        bill->unit = base_calloc(account->count + 1,
                                 sizeof *bill->unit); // NOLINT(bugprone-sizeof-expression)
    size_t cores = account->cache->config.cores;
    if (unit == account->count)
        return bill->unit[unit] = base_calloc((cores + 1) * cores, sizeof(struct shown));
    return bill->unit[unit] = base_calloc(account->units[unit].count, sizeof(uint64_t));
}

/* --- Cores that never filled a line
 * -------------------------------------------------------------------------------
 *
 * Their filters count together, with the core that sends (cache_snoop.c). Bills have what was sent
 * while the same cores were idle; it is multiplied when someone asks. */

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
static void wake(struct cache_attributor *account)
{
    const struct cache *cache = account->cache;
    size_t cores = cache->config.cores;
    for (uint32_t woken = account->idle[account->period] & ~cache->idle; woken;
         woken &= woken - 1) {
        unsigned core = (unsigned)__builtin_ctz(woken);
        struct port_counts *ports = (struct port_counts *)account->units[cores + core].seen;
        for (unsigned source = 0; source < cores; source++) {
            const struct core_counts *counts =
                (const struct core_counts *)account->units[source].seen;
            if (source != core)
                ports[snoop_port(core, source)] =
                    port_of(cache, counts_sent(counts), account->shown_again[source]);
        }
    }
    account->idle[++account->period] = cache->idle;
}

static void charge_idle(struct cache_attributor *account, unsigned core,
                        struct cache_attribution *bill)
{
    const struct cache *cache = account->cache;
    const struct core_counts *seen = (const struct core_counts *)account->units[core].seen;
    uint64_t sent = counts_sent(&cache->core[core]->counts) - counts_sent(seen);
    if (!sent) return;
    snoop_show_logged(cache, cache->core[core]);
    uint64_t again = cache->core[core]->snoop.shown_again;
    struct shown *shown = (struct shown *)bill_unit(account, bill, account->count);
    shown += account->period * cache->config.cores + core;
    shown->sent += sent;
    shown->again += again - account->shown_again[core];
    account->shown_again[core] = again;
}

static void show_idle(struct cache *counts, const struct cache_attributor *account,
                      const struct shown *shown)
{
    unsigned cores = counts->config.cores;
    for (unsigned period = 0; period <= account->period; period++)
        for (unsigned source = 0; source < cores; source++, shown++)
            for (uint32_t idle = account->idle[period] & ~(1U << source); idle; idle &= idle - 1) {
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

static void charge_unit(const struct cache_attributor *account, size_t number,
                        struct cache_attribution *bill)
{
    const struct unit_seen *unit = &account->units[number];
    const uint64_t *now = unit->now;
    uint64_t *seen = unit->seen, *to = NULL;
    size_t i = 0;
    for (; i + GROUP <= unit->count; i += GROUP) {
        if (group_same(now + i, seen + i)) continue;
        if (!to) to = bill_unit(account, bill, number);
        for (size_t k = i; k < i + GROUP; k += 2) {
            pair counted = *(const pair *)(now + k);
            *(pair *)(to + k) += counted - *(const pair *)(seen + k);
            *(pair *)(seen + k) = counted;
        }
    }
    for (; i < unit->count; i++) {
        if (now[i] == seen[i]) continue;
        if (!to) to = bill_unit(account, bill, number);
        to[i] += now[i] - seen[i];
        seen[i] = now[i];
    }
}

void cache_attribute(struct cache_attributor *account, unsigned core,
                     struct cache_attribution *bill)
{
    const struct cache *cache = account->cache;
    size_t cores = cache->config.cores;
    uint32_t awake = cache->core[core]->others &
                     (~cache->idle | cache->l2_users); /* who else may have noticed */
    if (cache->idle != account->idle[account->period]) wake(account);
    if (cache->idle) charge_idle(account, core, bill);
    charge_unit(account, core, bill);
    for (; awake; awake &= awake - 1) {
        size_t other = (size_t)__builtin_ctz(awake);
        snoop_catch_up(cache, cache->core[other]);
        charge_unit(account, other, bill);
        if (!(cache->idle >> other & 1)) charge_unit(account, cores + other, bill);
    }
    if (account->bank_changes == cache->bank_changes) return;
    account->bank_changes = cache->bank_changes;
    for (size_t i = 2 * cores; i < account->count; i++)
        charge_unit(account, i, bill);
}

void cache_attribution_fini(const struct cache_attributor *account, struct cache_attribution *bill)
{
    for (size_t i = 0; bill->unit && i <= account->count; i++)
        free(bill->unit[i]);
    free(bill->unit); // NOLINT(bugprone-multi-level-implicit-pointer-conversion)
    bill->unit = NULL;
}

/* --- Asking ---------------------------------------------------------------------------------- */

struct cache *cache_counts_new(const struct cache *like)
{
    struct cache *counts = base_calloc(1, sizeof *counts);
    counts->config = like->config;
    counts->bank = base_calloc(like->config.l3_banks,
                               sizeof *counts->bank); // NOLINT(bugprone-sizeof-expression)
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

void cache_counts_add(struct cache *counts, const struct cache_attributor *account,
                      const struct cache_attribution *bill)
{
    if (!bill->unit) return;
    for (size_t i = 0, units = unit_count(counts); i < units; i++) {
        size_t count;
        uint64_t *at = unit_at(counts, i, &count);
        for (size_t k = 0; bill->unit[i] && k < count; k++)
            at[k] += bill->unit[i][k];
    }
    if (bill->unit[account->count])
        show_idle(counts, account, (const struct shown *)bill->unit[account->count]);
}
