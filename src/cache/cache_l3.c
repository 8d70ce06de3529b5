/* L3 banks and the DDR behind them.
 *
 * Decisions: banks by the lowest bit of the line number, directories by the next; a pair of cores (on a node of two
 * cores, a core) has a read and a write port of every bank; a lookup occupies its directory, a line its DDR controller
 * and its return its port; lines are allocated by reads and writes alike, and a write fetches the rest of its line; a
 * write to the line that its port wrote last joins that one in the data buffer and looks nothing up.
 */
#include "cache/cache_impl.h"

struct place {
    struct bank *bank;
    uint32_t line, set;
    unsigned directory, port;
};

INLINE struct place place_of(struct cache *cache, unsigned core, uint64_t physical)
{
    const struct cache_config *config = &cache->config;
    uint32_t line = (uint32_t)(physical >> cache->l3_shift), inner = line >> cache->bank_shift;
    struct bank *bank = &cache->bank[line & (config->l3_banks - 1)];
    __builtin_prefetch(bank->fetched + (size_t)(inner & bank->tags.set_mask) * bank->tags.stride);
    return (struct place){
        .bank = bank,
        .line = line,
        .set = inner & bank->tags.set_mask,
        .directory = inner & 1,
        .port = (config->cores > 2 ? core / 2 : core) & 1,
    };
}

INLINE void count_wait(struct span_count *count, uint64_t from, uint64_t to)
{
    if (to == from) return;
    count->count++;
    count->cycles += to - from;
}

static struct ddr *ddr_of(struct cache *cache, uint32_t line)
{
    return &cache->ddr[line % cache->config.controllers];
}

static void open_row(struct cache *cache, struct ddr *ddr, uint32_t line)
{
    uint64_t row = (((uint64_t)line << cache->l3_shift) >> cache->row_shift) + 1;
    if (ddr->row == row) return;
    ddr->counts.close += ddr->row != 0;
    ddr->counts.open++;
    ddr->row = row;
}

/* The line is fetched from DDR; returns when DDR began. */
static uint64_t ddr_fetch(struct cache *cache, const struct place *at, uint64_t now)
{
    struct ddr *ddr = ddr_of(cache, at->line);
    uint64_t start = unit_serve(&ddr->unit, now, cache->config.ddr_busy);
    count_wait(&at->bank->counts.mh_not_taken, now, start);
    ddr->counts.fetch++;
    open_row(cache, ddr, at->line);
    return start;
}

static void ddr_store(struct cache *cache, uint32_t line, uint64_t now)
{
    struct ddr *ddr = ddr_of(cache, line);
    (void)unit_serve(&ddr->unit, now, cache->config.ddr_busy);
    ddr->counts.store++;
    open_row(cache, ddr, line);
}

static void evict(struct cache *cache, struct bank *bank, int way, uint64_t now)
{
    uint32_t line = bank->tags.line[way];
    bank->counts.evict++;
    for (unsigned port = 0; port < 2; port++)
        if (bank->deposited[port] == line) bank->deposited[port] = NO_LINE;
    if (!(bank->fetched[way] & L3_DIRTY)) return;
    bank->counts.castout++;
    ddr_store(cache, line, now);
}

/* The line comes from DDR and takes a way, with `state`; returns when it is there. */
static uint64_t allocate(struct cache *cache, const struct place *at, uint64_t now, unsigned state, uint32_t *taken)
{
    struct bank *bank = at->bank;
    uint64_t start = ddr_fetch(cache, at, now), ready = start + cache->ddr_latency;
    *taken = 0;
    if (!bank->tags.ways) return ready;
    int way = tags_victim(&bank->tags, at->set);
    if (bank->tags.line[way] != NO_LINE) evict(cache, bank, way, start);
    bank->tags.line[way] = at->line;
    bank->fetched[way] = start * L3_START | state;
    tags_use(&bank->tags, at->set, way);
    *taken = (uint32_t)way;
    return ready;
}

/* Whether the line is on its way at `now`; when it is there. */
INLINE bool in_flight(const struct cache *cache, const struct bank *bank, int way, uint64_t now, uint64_t *ready)
{
    uint64_t start = bank->fetched[way] / L3_START;
    *ready = start + cache->ddr_latency;
    return start <= now && now < *ready;
}

INLINE int lookup(const struct place *at)
{
    at->bank->counts.lookup[at->directory]++;
    return at->bank->tags.ways ? tags_find(&at->bank->tags, at->set, at->line) : -1;
}

/* Lines that end within `transfer` of another on the port follow it. */
INLINE uint64_t deliver(struct cache *cache, const struct place *at, uint64_t ready)
{
    uint64_t *last = &at->bank->returned[at->port];
    if (*last && ready >= *last && ready < *last + cache->config.l3_transfer) {
        at->bank->counts.read[at->port].collision++;
        ready = *last + cache->config.l3_transfer;
    }
    *last = ready;
    return ready;
}

struct l3_answer l3_read(struct cache *cache, unsigned core, uint64_t physical, bool prefetch, uint64_t now)
{
    struct place at = place_of(cache, core, physical);
    struct bank *bank = at.bank;
    struct bank_counts *counts = &bank->counts;
    struct l3_answer answer;
    if (now > cache->latest) cache->latest = now;
    uint64_t start = unit_serve(&bank->directory[at.directory], now, cache->config.l3_busy), ready;
    count_wait(&counts->not_taken[at.directory], now, start);
    *(prefetch ? &counts->read[at.port].burst : &counts->read[at.port].single) += 1;
    int way = lookup(&at);
    answer.from_ddr = way < 0;
    if (way >= 0) {
        if (!prefetch) {
            answer.from_ddr = bank->fetched[way] & L3_AHEAD;
            bank->fetched[way] &= ~(uint64_t)L3_AHEAD;
        }
        counts->read[at.port].hit[at.directory]++;
        bool coming = in_flight(cache, bank, way, start, &ready);
        counts->in_flight += coming;
        if (!coming || ready < start + cache->l3_latency) ready = start + cache->l3_latency;
        tags_use(&bank->tags, at.set, way);
        answer.way = (uint32_t)way;
    } else {
        counts->read[at.port].miss[at.directory]++;
        counts->prefetch_miss += prefetch;
        ready = allocate(cache, &at, start, prefetch ? L3_AHEAD : 0, &answer.way);
    }
    answer.ready = deliver(cache, &at, ready);
    return answer;
}

bool l3_claim(struct cache *cache, unsigned core, uint64_t physical, uint32_t way, bool from_ddr)
{
    struct place at = place_of(cache, core, physical);
    struct bank *bank = at.bank;
    if (!bank->tags.ways) return from_ddr;
    if (bank->tags.line[way] != at.line) { /* replaced since; it may be back */
        int now = tags_find(&bank->tags, at.set, at.line);
        if (now < 0) return from_ddr;
        way = (uint32_t)now;
    }
    bool ahead = bank->fetched[way] & L3_AHEAD;
    bank->fetched[way] &= ~(uint64_t)L3_AHEAD;
    return ahead;
}

void l3_write(struct cache *cache, unsigned core, uint64_t physical, uint64_t now)
{
    struct place at = place_of(cache, core, physical);
    struct bank *bank = at.bank;
    struct bank_counts *counts = &bank->counts;
    if (now > cache->latest) cache->latest = now;
    counts->write[at.port].deposit++;
    if (bank->deposited[at.port] == at.line) {
        counts->write[at.port].merged++;
        return;
    }
    uint64_t start = unit_serve(&bank->directory[at.directory], now, cache->config.l3_busy), ready;
    count_wait(&counts->write[at.port].not_taken, now, start);
    int way = lookup(&at);
    if (way >= 0) {
        counts->in_flight += in_flight(cache, bank, way, start, &ready);
        bank->fetched[way] |= L3_DIRTY;
        tags_use(&bank->tags, at.set, way);
    } else {
        uint32_t taken;
        counts->write[at.port].miss++;
        (void)allocate(cache, &at, start, L3_DIRTY, &taken);
    }
    if (bank->tags.ways)
        bank->deposited[at.port] = at.line;
    else {
        counts->castout++;
        ddr_store(cache, at.line, start);
    }
}
