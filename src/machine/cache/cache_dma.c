/* What a DMA engine does to the hierarchy. It reads L3 on read port 2 and writes on write port 1,
 * past L1 and L2; its writes are shown to the L1D of every core on snoop port 3.
 *
 * Simplifications: the engine waits for nothing here (its times are parameters of the network
 * model), and cores do not wait for it but for the directory that it looks up; port 3 has no
 * filter; lines that a core's L2 has prefetched stay there. A dirty line of an L1 that writes back
 * is in memory for the engine, but stays dirty. */
#include "machine/cache/cache_l3_access.h"
#include "machine/cache/cache_space_access.h"

enum { WRITE_PORT = 1 };

static void dma_read(struct cache *cache, const struct place *at, uint64_t now)
{
    uint32_t l3_way = cache->l3_line[at->line];
    struct bank_counts *counts = &at->bank->counts;
    struct unit *directory = &cache->directory[at->line & cache->directory_mask];
    uint64_t ready;
    l3_note_latest(cache, directory, now);
    uint64_t start = unit_serve(directory, now, cache->l3_busy);
    cache->bank_changes++;
    count_wait(&counts->not_taken[at->directory], now, start);
    if (cache->shape.kinds)
        (void)note_use(cache->kinds, counts->miss_kind, at->line, !l3_way, true);
    if (l3_way) {
        counts->dma.hit[at->directory]++;
        counts->in_flight += in_flight(cache, l3_way, start, &ready);
        l3_use(cache, at->bank, &cache->shape.l3, l3_way);
    } else {
        counts->dma.miss[at->directory]++;
        (void)l3_allocate(cache, at->bank, at->line, start, L3_DEMANDED);
    }
    l3_note_busy(cache, start + cache->l3_busy);
}

static void dma_write(struct cache *cache, const struct place *at, uint64_t now)
{
    struct bank *bank = at->bank;
    uint32_t l3_way = cache->l3_line[at->line];
    uint64_t start, ready;
    bank->counts.dma.deposit++;
    if (l3_deposit(cache, at, now, &start)) return;
    if (cache->shape.kinds)
        (void)note_use(cache->kinds, bank->counts.miss_kind, at->line, !l3_way, true);
    if (l3_way) {
        bank->counts.in_flight += in_flight(cache, l3_way, start, &ready);
        cache->l3_line[at->line] = l3_way | L3_DIRTY;
        l3_use(cache, bank, &cache->shape.l3, l3_way);
    } else {
        bank->counts.write[at->port].miss++;
        (void)l3_allocate(cache, bank, at->line, start, L3_DEMANDED | L3_DIRTY);
    }
    cache->deposited[port_of_bank(cache, at)] = at->line;
    l3_note_busy(cache, start + cache->l3_busy);
}

/* Takes a line from the L1D of every core. */
static void show(struct cache *cache, uint32_t line, uint64_t now)
{
    for (unsigned i = 0; i < cache->config.cores; i++) {
        struct cache_core *core = cache->core[i];
        core->counts.dma_snoop++;
        core->counts.invalidate++;
        int way =
            tags_find(&core->data.tags, &cache->shape.l1d, line & core->data.tags.set_mask, line);
        if (way < 0) continue;
        core->counts.invalidated++;
        l1_drop(cache, core, way, true, now);
    }
}

void cache_dma(struct cache *cache, unsigned space, uint32_t address, uint32_t size, bool write,
               uint64_t now)
{
    uint32_t line_size = cache->config.l3_line;
    if (memory_is_free(cache) || !cache->config.l3_size || !size) return;
    for (uint64_t from = address; from < (uint64_t)address + size;
         from = (from | (line_size - 1)) + 1) {
        uint64_t physical = space_translate(cache, space, (uint32_t)from).address;
        uint32_t line = (uint32_t)(physical >> cache->shape.l3_shift);
        struct place at = {.bank = cache->bank[line & cache->bank_mask],
                           .line = line,
                           .directory = line >> cache->bank_shift & 1,
                           .port = WRITE_PORT};
        if (write)
            dma_write(cache, &at, now);
        else
            dma_read(cache, &at, now);
    }
    if (!write || !cache->config.coherent) return;
    for (uint64_t from = address; from < (uint64_t)address + size;
         from = (from | (cache->config.l1d.line - 1)) + 1)
        show(cache,
             (uint32_t)(space_translate(cache, space, (uint32_t)from).address >>
                        cache->shape.l1d_shift),
             now);
}
