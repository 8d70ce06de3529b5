/* Who caused what: the counts of the hierarchy, divided among callers.
 *
 * The counters stay where they are and know nothing of it. An account remembers what every unit had counted when it was
 * last looked at; what has been added since is charged to whoever ran meanwhile. A bill has room for a unit when that
 * unit was first used on it, so bills of callers that hit in L1 are empty.
 *
 * What is not a sum cannot be divided: eDRAM refreshes follow the clock and are on no bill.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cache/cache_impl.h"

struct unit_seen {
    const uint64_t *now;
    uint64_t *seen;
    size_t count;
};

/* Units in this order: counts of each core, ports of each core, banks, controllers. */
struct cache_account {
    const struct cache *cache;
    uint64_t shown_again[CACHE_CORES];
    size_t count;
    struct unit_seen *units;
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
        *count = sizeof(struct core_counts) / sizeof(uint64_t);
        return (uint64_t *)&cache->core[unit]->counts;
    }
    if (unit < 2 * cores) {
        *count = CACHE_PORTS * sizeof(struct port_counts) / sizeof(uint64_t);
        return (uint64_t *)cache->core[unit - cores]->ports;
    }
    if (unit < 2 * cores + banks) {
        *count = sizeof(struct bank_counts) / sizeof(uint64_t);
        return (uint64_t *)&cache->bank[unit - 2 * cores]->counts;
    }
    *count = sizeof(struct ddr_counts) / sizeof(uint64_t);
    return (uint64_t *)&cache->ddr[unit - 2 * cores - banks].counts;
}

struct cache_account *cache_account_new(const struct cache *cache)
{
    struct cache_account *account = base_calloc(1, sizeof *account);
    account->cache = cache;
    account->count = unit_count(cache);
    account->units = base_calloc(account->count, sizeof *account->units);
    for (size_t i = 0; i < account->count; i++) {
        struct unit_seen *unit = &account->units[i];
        unit->now = unit_at(cache, i, &unit->count);
        unit->seen = base_calloc(unit->count, sizeof *unit->seen);
    }
    return account;
}

void cache_account_free(struct cache_account *account)
{
    if (!account) return;
    for (size_t i = 0; i < account->count; i++)
        free(account->units[i].seen);
    free(account->units);
    free(account);
}

static uint64_t *bill_unit(const struct cache_account *account, struct cache_bill *bill, size_t unit)
{
    if (!bill->unit) bill->unit = base_calloc(account->count, sizeof *bill->unit); // NOLINT(bugprone-sizeof-expression)
    if (!bill->unit[unit]) bill->unit[unit] = base_calloc(account->units[unit].count, sizeof(uint64_t));
    return bill->unit[unit];
}

/* Filters of cores that never filled a line count together, with the core that sends (cache_snoop.c). */
static void charge_idle(struct cache_account *account, unsigned source, struct cache_bill *bill, uint64_t sent,
                        uint64_t again)
{
    const struct cache *cache = account->cache;
    for (uint32_t idle = cache->idle & ~(1U << source); idle; idle &= idle - 1) {
        unsigned core = (unsigned)__builtin_ctz(idle);
        size_t unit = cache->config.cores + core;
        struct port_counts *to[] = {(struct port_counts *)bill_unit(account, bill, unit),
                                    (struct port_counts *)account->units[unit].seen};
        for (unsigned i = 0; i < 2; i++) {
            struct port_counts *port = to[i] + snoop_port(core, source);
            port->rejected += sent;
            port->range_rejected += sent;
            port->stream_rejected += sent;
            port->cache_rejected += again;
            port->both += again;
            if (cache->config.snoop_lines) port->cache_updated += sent - again;
        }
    }
}

void cache_account_charge(struct cache_account *account, unsigned core, struct cache_bill *bill)
{
    const struct cache *cache = account->cache;
    const struct core_counts *seen = (const struct core_counts *)account->units[core].seen;
    uint64_t sent = cache->core[core]->counts.snoop_sent - seen->snoop_sent;
    if (sent && cache->idle) {
        uint64_t again = cache->core[core]->snoop.shown_again;
        charge_idle(account, core, bill, sent, again - account->shown_again[core]);
        account->shown_again[core] = again;
    }
    size_t cores = cache->config.cores;
    for (size_t i = 0; i < account->count; i++) {
        struct unit_seen *unit = &account->units[i];
        if (i >= cores && i < 2 * cores && cache->idle >> (i - cores) & 1) continue;
        if (memcmp(unit->now, unit->seen, unit->count * sizeof *unit->seen) == 0) continue;
        uint64_t *to = bill_unit(account, bill, i);
        for (size_t k = 0; k < unit->count; k++) {
            to[k] += unit->now[k] - unit->seen[k];
            unit->seen[k] = unit->now[k];
        }
    }
}

void cache_bill_fini(const struct cache_account *account, struct cache_bill *bill)
{
    for (size_t i = 0; bill->unit && i < account->count; i++)
        free(bill->unit[i]);
    free(bill->unit); // NOLINT(bugprone-multi-level-implicit-pointer-conversion)
    bill->unit = NULL;
}

/* --- Asking ----------------------------------------------------------------------------------------------------- */

struct cache *cache_counts_new(const struct cache *like)
{
    struct cache *counts = base_calloc(1, sizeof *counts);
    counts->config = like->config;
    counts->bank = base_calloc(like->config.l3_banks, sizeof *counts->bank); // NOLINT(bugprone-sizeof-expression)
    counts->ddr = base_calloc(like->config.controllers, sizeof *counts->ddr);
    for (unsigned i = 0; i < like->config.cores; i++)
        counts->core[i] = base_calloc(1, sizeof *counts->core[i]);
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

void cache_counts_set(struct cache *counts, const struct cache_bill *bill)
{
    for (size_t i = 0, units = unit_count(counts); i < units; i++) {
        size_t count;
        uint64_t *at = unit_at(counts, i, &count);
        if (bill->unit && bill->unit[i])
            memcpy(at, bill->unit[i], count * sizeof *at);
        else
            memset(at, 0, count * sizeof *at);
    }
}
