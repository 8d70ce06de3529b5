/* L3 banks and the DDR behind them.
 *
 * Decisions: banks by the lowest bit of the line number, directories by the next; a pair of cores (on a node of two
 * cores, a core) has a read and a write port of every bank; a lookup occupies its directory, a line its DDR controller
 * and its return its port; lines are allocated by reads and writes alike, and a write fetches the rest of its line; a
 * write to the line that its port wrote last joins that one in the data buffer and looks nothing up.
 */
#include "cache/cache_keep.h"

#include "cache/cache_l3.h"

static struct ddr *ddr_of(struct cache *cache, uint32_t line)
{
    return &cache->ddr[line % cache->config.controllers];
}

static void open_row(struct cache *cache, struct ddr *ddr, uint32_t line)
{
    uint64_t row = (((uint64_t)line << cache->shape.l3_shift) >> cache->row_shift) + 1;
    if (ddr->row == row) return;
    ddr->counts.close += ddr->row != 0;
    ddr->counts.open++;
    ddr->row = row;
}

/* The line is fetched from DDR; returns when DDR began. */
static uint64_t ddr_fetch(struct cache *cache, struct bank *bank, uint32_t line, uint64_t now)
{
    struct ddr *ddr = ddr_of(cache, line);
    uint64_t start = unit_serve(&ddr->unit, now, cache->config.ddr_busy);
    count_wait(&bank->counts.mh_not_taken, now, start);
    ddr->counts.fetch++;
    open_row(cache, ddr, line);
    return start;
}

void l3_store_ddr(struct cache *cache, uint32_t line, uint64_t now)
{
    struct ddr *ddr = ddr_of(cache, line);
    (void)unit_serve(&ddr->unit, now, cache->config.ddr_busy);
    ddr->counts.store++;
    open_row(cache, ddr, line);
}

static void evict(struct cache *cache, struct bank *bank, int way, uint64_t now)
{
    uint32_t line = bank->tags.line[way];
    cache->l3_way[line] = 0;
    bank->counts.evict++;
    for (unsigned port = 0; port < 2; port++)
        if (bank->deposited[port] == line) bank->deposited[port] = NO_LINE;
    if (!(bank->fetched[way + 1] & L3_DIRTY)) return;
    bank->counts.castout++;
    l3_store_ddr(cache, line, now);
}

uint64_t l3_allocate(struct cache *cache, struct bank *bank, uint32_t line, uint64_t now, unsigned state)
{
    struct tags *tags = &bank->tags;
    uint64_t start = ddr_fetch(cache, bank, line, now), ready = start + cache->ddr_latency;
    if (!tags->ways.count) return ready;
    int way = tags_victim(tags, &tags->ways, line >> cache->bank_shift & tags->set_mask);
    if (tags->line[way] != NO_LINE) evict(cache, bank, way, start);
    tags->line[way] = line;
    tags_use(tags, &tags->ways, way);
    cache->l3_way[line] = (uint32_t)way + 1;
    bank->fetched[way + 1] = start * L3_START | state;
    return ready;
}
