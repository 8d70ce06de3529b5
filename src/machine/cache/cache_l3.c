/* L3 banks and the DDR behind them.
 *
 * Decisions: banks by the lowest bit of the line number, directories by the next; a pair of cores
 * (on a node of two cores, a core) has a read and a write port of every bank; a lookup occupies its
 * directory, a line its DDR controller and its return its port; lines are allocated by reads and
 * writes alike, and a write fetches the rest of its line; a write to the line that its port wrote
 * last joins that one in the data buffer and looks nothing up.
 */
#include "machine/cache/cache_no_vectors.h"

#include "machine/cache/cache_l3_access.h"

static struct ddr *ddr_of(struct cache *cache, uint32_t line)
{
    uint32_t count = cache->config.controllers;
    return &cache->ddr[count & (count - 1) ? line % count : line & (count - 1)];
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
    uint64_t start = calendar_serve(&ddr->calendar, now, cache->config.ddr_busy);
    count_wait(&bank->counts.mh_not_taken, now, start);
    ddr->counts.fetch++;
    open_row(cache, ddr, line);
    return start;
}

void l3_store_ddr(struct cache *cache, uint32_t line, uint64_t now)
{
    struct ddr *ddr = ddr_of(cache, line);
    (void)calendar_serve(&ddr->calendar, now, cache->config.ddr_busy);
    ddr->counts.store++;
    open_row(cache, ddr, line);
}

static void evict(struct cache *cache, struct bank *bank, uint32_t way, uint64_t now)
{
    uint32_t line = bank->tags.line[way];
    uint32_t l3_way = cache->l3_line[line], *deposited = &cache->deposited[line & cache->bank_mask];
    cache->l3_line[line] = 0;
    bank->counts.evict++;
    for (unsigned port = 0; port < 2; port++, deposited += cache->config.l3_banks)
        if (*deposited == line) *deposited = NO_LINE;
    if (!(l3_way & L3_DIRTY)) return;
    bank->counts.castout++;
    l3_store_ddr(cache, line, now);
}

/* The way that was used after no other: its byte is 0. */
static uint32_t lru_oldest(uint64_t lru)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    return (uint32_t)__builtin_ctzll((lru - ones) & ~lru & ones << 7) / 8;
}

/* The way of a set that is replaced. */
static uint32_t victim(const struct cache *cache, struct bank *bank, uint32_t set)
{
    const struct ways *ways = &bank->tags.ways;
    if (has_lru_matrix(ways))
        return set * LRU_WAYS + lru_oldest(cache->lru[bank->first / LRU_WAYS + set + 1]);
    return (uint32_t)tags_victim(&bank->tags, ways, set);
}

/* Lines mostly arrive in order: prefetches the host memory of the next victims of this bank. */
static void fetch_ahead(const struct cache *cache, const struct bank *bank, uint32_t set)
{
    const struct tags *tags = &bank->tags;
    uint32_t soon = (set + 4) & tags->set_mask, later = (set + 8) & tags->set_mask;
    uint32_t way = soon * LRU_WAYS + lru_oldest(cache->lru[bank->first / LRU_WAYS + soon + 1]),
             line = tags->line[way];
    PREFETCH_HOST(tags->line + (size_t)later * LRU_WAYS);
    if (line != NO_LINE) PREFETCH_HOST(cache->l3_line + line);
}

uint64_t l3_allocate(struct cache *cache, struct bank *bank, uint32_t line, uint64_t now,
                     unsigned state)
{
    struct tags *tags = &bank->tags;
    uint64_t start = ddr_fetch(cache, bank, line, now), ready = start + cache->ddr_latency;
    if (!tags->ways.count) return ready;
    uint32_t set = line >> cache->bank_shift & tags->set_mask, way = victim(cache, bank, set);
    if (tags->line[way] != NO_LINE) evict(cache, bank, way, start);
    tags->line[way] = line;
    cache->l3_line[line] = (bank->first + way + LRU_WAYS) << L3_BITS | state;
    l3_use(cache, bank, &tags->ways, cache->l3_line[line]);
    cache->fetched[bank->first + way] = start;
    if (ready > cache->fetching_until) cache->fetching_until = ready;
    l3_note_busy(cache, ready);
    if (has_lru_matrix(&tags->ways)) fetch_ahead(cache, bank, set);
    return ready;
}

void l3_write_else(struct cache *cache, struct cache_core *core, uint32_t line, uint64_t now)
{
    core->counts.write++;
    core->counts.snoop_sent++;
    l3_write(cache, &blue_gene, core, line, now);
}
