/* Signals by name, their counts, and the laws between them. A count that follows from others is
 * computed when it is read: every store snoops every L2, so an L2's snoops are the sum of the
 * others' writes. */
#include "machine/cache/cache_snoop_access.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const struct {
    enum cache_scope scope;
    const char *name;
} signals[] = {
#define CACHE_SIGNAL(scope, id, name, ...) {CACHE_OF_##scope, name},
#include "machine/cache/cache_signals.def"
};

enum cache_scope cache_signal_scope(enum cache_signal_id id)
{
    return signals[id].scope;
}

uint32_t cache_signal_instances(const struct cache *cache, enum cache_signal_id id)
{
    switch (signals[id].scope) {
    case CACHE_OF_CORE:
    case CACHE_OF_L2:
    case CACHE_OF_SNOOP: return cache->config.cores;
    case CACHE_OF_PORT: return cache->config.cores * CACHE_PORTS;
    case CACHE_OF_BANK: return cache->config.l3_banks;
    case CACHE_OF_DDR: return cache->config.controllers;
    case CACHE_OF_NODE: return 1;
    }
    return 0;
}

/* --- Names ----------------------------------------------------------------------------------- */

void cache_signal_name(struct cache_signal signal, char *name)
{
    const char *last = signals[signal.id].name;
    unsigned n = signal.instance;
    switch (signals[signal.id].scope) {
    case CACHE_OF_CORE:
        if (n == CACHE_ALL)
            (void)snprintf(name, CACHE_NAME, "core.%s", last);
        else
            (void)snprintf(name, CACHE_NAME, "core%u.%s", n, last);
        break;
    case CACHE_OF_L2:
        if (n == CACHE_ALL)
            (void)snprintf(name, CACHE_NAME, "l2.%s", last);
        else
            (void)snprintf(name, CACHE_NAME, "l2.%u.%s", n, last);
        break;
    case CACHE_OF_SNOOP: (void)snprintf(name, CACHE_NAME, "snoop.%u.%s", n, last); break;
    case CACHE_OF_PORT:
        (void)snprintf(name, CACHE_NAME, "snoop.%u.port%u.%s", n / CACHE_PORTS, n % CACHE_PORTS,
                       last);
        break;
    case CACHE_OF_BANK: (void)snprintf(name, CACHE_NAME, "l3.%u.%s", n, last); break;
    case CACHE_OF_DDR: (void)snprintf(name, CACHE_NAME, "ddr.%u.%s", n, last); break;
    case CACHE_OF_NODE: (void)snprintf(name, CACHE_NAME, "l3.%s", last); break;
    }
}

/* Skips `word` at *at. */
static bool skip(const char **at, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(*at, word, length) != 0) return false;
    *at += length;
    return true;
}

/* Takes a number without leading zeros and the '.' behind it. */
static bool take_number(const char **at, uint32_t *number)
{
    const char *p = *at;
    if (!isdigit((unsigned char)*p) || (*p == '0' && p[1] != '.')) return false;
    for (*number = 0; isdigit((unsigned char)*p) && *number < 100000; p++)
        *number = *number * 10 + (uint32_t)(*p - '0');
    if (*p != '.') return false;
    *at = p + 1;
    return true;
}

static bool take_port(const char **at, uint32_t *instance)
{
    uint32_t port;
    const char *p = *at;
    if (!skip(&p, "port") || !take_number(&p, &port) || port >= CACHE_PORTS) return false;
    *instance = *instance * CACHE_PORTS + port;
    *at = p;
    return true;
}

static bool take_scope(const char **at, enum cache_scope *scope, uint32_t *instance)
{
    *instance = 0;
    if (skip(at, "core")) {
        *scope = CACHE_OF_CORE;
        if (take_number(at, instance)) return true;
        *instance = CACHE_ALL;
        return skip(at, ".");
    }
    if (skip(at, "snoop.")) {
        if (!take_number(at, instance)) return false;
        *scope = take_port(at, instance) ? CACHE_OF_PORT : CACHE_OF_SNOOP;
        return true;
    }
    if (skip(at, "l3.")) {
        *scope = take_number(at, instance) ? CACHE_OF_BANK : CACHE_OF_NODE;
        return true;
    }
    if (skip(at, "l2.")) {
        *scope = CACHE_OF_L2;
        if (!take_number(at, instance)) *instance = CACHE_ALL;
        return true;
    }
    *scope = CACHE_OF_DDR;
    return skip(at, "ddr.") && take_number(at, instance);
}

bool cache_signal_find(const struct cache *cache, const char *name, struct cache_signal *signal)
{
    enum cache_scope scope;
    uint32_t instance;
    if (!take_scope(&name, &scope, &instance)) return false;
    for (unsigned id = 0; id < CACHE_SIGNALS; id++) {
        if (signals[id].scope != scope || strcmp(signals[id].name, name) != 0) continue;
        *signal = (struct cache_signal){(enum cache_signal_id)id, instance};
        return instance == CACHE_ALL || instance < cache_signal_instances(cache, signal->id);
    }
    return false;
}

/* --- Counts ---------------------------------------------------------------------------------- */

static uint64_t counts_tlb(const struct core_counts *c)
{
    return c->dtlb_miss + c->itlb_miss;
}

static uint64_t counts_pending(const struct core_counts *c)
{
    uint64_t cycles = 0;
    for (unsigned i = 1; i <= CACHE_FILLS; i++)
        cycles += c->l2_level[i];
    return cycles;
}

/* What a core counted, uncontended loads included. */
static struct core_counts counts_of(const struct cache *cache, const struct cache_core *core)
{
    struct core_counts c = core->counts;
    uint64_t near_cycles = c.l2_hit * (cache->config.l2_latency - cache->config.l1_latency);
    uint64_t l3_hit = counts_l3_hit(&c),
             far_cycles = l3_hit * (cache->config.l3_latency - cache->config.l1_latency);
    c.uncontended.count += c.l2_hit + l3_hit;
    c.uncontended.cycles += near_cycles + far_cycles;
    c.l2_miss += l3_hit;
    c.l3_wait += far_cycles;
    c.l3_pending += far_cycles;
    c.write += counts_fast_stores(&c);
    c.snoop_sent += counts_fast_stores(&c);
    uint64_t ahead = c.prefetched[0] + c.prefetched[1] + c.prefetched[2] + c.prefetched[3],
             ahead_cycles = ahead * (cache->config.l3_latency - cache->config.l1_latency);
    c.prefetch.count += ahead;
    c.prefetch.cycles += ahead_cycles;
    c.l3_pending += ahead_cycles;
    struct span_count *filter_span[] = {&c.data_fill, &c.stall_load};
    c.load_miss += c.uncontended.count;
    c.l2_read += c.uncontended.count;
    c.l2_rise[1] += c.uncontended.count;
    c.l2_level[1] += c.uncontended.cycles;
    for (unsigned i = 0; i < 2; i++) {
        filter_span[i]->count += c.uncontended.count;
        filter_span[i]->cycles += c.uncontended.cycles;
    }
    return c;
}

/* What cores counted for a bank. */
static void add_lanes(struct bank_counts *b, const struct cache *cache, unsigned number)
{
    for (unsigned i = 0; i < cache->config.cores && cache->config.l3_banks == LANE_BANKS; i++) {
        const struct core_counts *c = &cache->core[i]->counts;
        unsigned port = cache->core[i]->port;
        b->read[port].collision += c->prefetch_collided[number];
        b->write[port].deposit += c->merged[number];
        b->write[port].merged += c->merged[number];
        b->write[port].not_taken.count += c->l3_write_wait[number].count;
        b->write[port].not_taken.cycles += c->l3_write_wait[number].cycles;
        for (unsigned directory = 0; directory < 2; directory++) {
            unsigned lane = directory * LANE_BANKS + number;
            b->read[port].hit[directory] += c->l3_hit[lane] + c->prefetched[lane];
            b->read[port].burst += c->prefetched[lane];
            b->write[port].deposit += c->stored[lane];
            b->lookup[directory] += c->stored[lane];
        }
    }
}

/* Reads count by directory and outcome only; the rest follows. */
static struct bank_counts bank_counts_of(const struct cache *cache, unsigned number)
{
    struct bank_counts b = cache->bank[number]->counts;
    add_lanes(&b, cache, number);
    for (unsigned port = 0; port < 2; port++)
        for (unsigned directory = 0; directory < 2; directory++) {
            uint64_t reads = b.read[port].hit[directory] + b.read[port].miss[directory];
            b.lookup[directory] += reads;
            b.read[port].single += reads;
        }
    for (unsigned directory = 0; directory < 2; directory++)
        b.lookup[directory] += b.dma.hit[directory] + b.dma.miss[directory];
    b.read[0].single -= b.read[0].burst;
    b.read[1].single -= b.read[1].burst;
    return b;
}

/* Whose writes an L2 is shown: 0 its own core's, 1 its pair's other core's, 2 and 3 cores 0 and 1
 * of other pairs. */
static unsigned relation(unsigned core, unsigned source)
{
    if (core == source) return 0;
    return core / 2 == source / 2 ? 1 : 2 + source % 2;
}

static uint64_t counts_snoops(const struct cache *cache, unsigned core, unsigned who)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < cache->config.cores; i++)
        if (relation(core, i) == who) sum += counts_of(cache, cache->core[i]).write;
    return sum;
}

static uint64_t counts_requests(const struct cache *cache, unsigned instance)
{
    unsigned core = instance / CACHE_PORTS;
    uint64_t sum = instance % CACHE_PORTS == DMA_PORT ? cache->core[core]->counts.dma_snoop : 0;
    for (unsigned i = 0; i < cache->config.cores; i++)
        if (i != core && snoop_port(core, i) == instance % CACHE_PORTS)
            sum += counts_sent(&cache->core[i]->counts);
    return sum;
}

static uint64_t counts_read_misses(const struct bank_counts *b, unsigned port)
{
    return b->read[port].miss[0] + b->read[port].miss[1];
}

static uint64_t counts_misses(const struct bank_counts *b)
{
    return counts_read_misses(b, 0) + counts_read_misses(b, 1) + b->write[0].miss +
           b->write[1].miss + b->dma.miss[0] + b->dma.miss[1];
}

static uint64_t counts_dma_reads(const struct bank_counts *b)
{
    return b->dma.hit[0] + b->dma.hit[1] + b->dma.miss[0] + b->dma.miss[1];
}

static uint64_t counts_reads(const struct bank_counts *b)
{
    return b->read[0].single + b->read[0].burst + b->read[1].single + b->read[1].burst +
           counts_dma_reads(b);
}

static uint64_t counts_writes(const struct bank_counts *b)
{
    return b->write[0].deposit - b->write[0].merged + b->write[1].deposit - b->write[1].merged;
}

static uint64_t counts_edram(const struct bank_counts *b)
{
    return counts_reads(b) + b->castout + counts_writes(b) + counts_misses(b);
}

/* Up to the last request that reached L3, the latest time that the hierarchy has seen. */
static uint64_t counts_refreshes(const struct cache *cache)
{
    const struct cache_config *config = &cache->config;
    uint64_t latest = cache->latest, since = config->store_time;
    for (unsigned i = 0; cache->directory && i < 2 * config->l3_banks;
         i++) /* there are none in an account's */
        if (cache->directory[i].from > latest) latest = cache->directory[i].from;
    /* Quick stores are noted nowhere else than in the queue. */
    for (unsigned i = 0; i < config->cores; i++)
        for (unsigned k = 0; k < config->stores; k++)
            if (cache->core[i]->queue[k].end > latest + since)
                latest = cache->core[i]->queue[k].end - since;
    return config->l3_size && config->l3_refresh_interval ? latest / config->l3_refresh_interval
                                                          : 0;
}

/* Counts are structs of nothing but uint64_t. */
static void add_up(void *sum, const void *one, size_t size)
{
    for (size_t i = 0; i < size / sizeof(uint64_t); i++)
        ((uint64_t *)sum)[i] += ((const uint64_t *)one)[i];
}

struct view {
    const struct core_counts *c;
    const struct port_counts *p;
    const struct bank_counts *b;
    const struct ddr_counts *d;
    struct bank_counts n, bank;
    struct ddr_counts m;
    struct port_counts port;
    struct core_counts core;
};

static void look(struct view *view, const struct cache *cache, enum cache_scope scope,
                 uint32_t instance)
{
    static const struct core_counts no_core;
    static const struct port_counts no_port;
    static const struct bank_counts no_bank;
    static const struct ddr_counts no_ddr;
    *view = (struct view){.c = &no_core, .p = &no_port, .b = &no_bank, .d = &no_ddr};
    if (scope <= CACHE_OF_SNOOP) {
        snoop_drain_log(cache, cache->core[instance]);
        view->core = counts_of(cache, cache->core[instance]);
        view->c = &view->core;
    }
    if (scope == CACHE_OF_PORT) {
        view->port = snoop_counts(cache, instance / CACHE_PORTS, instance % CACHE_PORTS);
        view->p = &view->port;
    }
    if (scope == CACHE_OF_BANK) {
        view->bank = bank_counts_of(cache, instance);
        view->b = &view->bank;
    }
    if (scope == CACHE_OF_DDR) view->d = &cache->ddr[instance].counts;
    if (scope != CACHE_OF_NODE) return;
    for (unsigned i = 0; i < cache->config.l3_banks; i++) {
        struct bank_counts one = bank_counts_of(cache, i);
        add_up(&view->n, &one, sizeof view->n);
    }
    for (unsigned i = 0; i < cache->config.controllers; i++)
        add_up(&view->m, &cache->ddr[i].counts, sizeof view->m);
}

#define PULSE pulse(*occurrences, scope)

static uint64_t pulse(uint64_t occurrences, enum cache_scope scope)
{
    return scope == CACHE_OF_CORE ? occurrences : 2 * occurrences;
}

static void count_one(const struct cache *cache, enum cache_signal_id id, uint32_t instance,
                      uint64_t *occurrences, uint64_t *high)
{
    const struct cache_config *cf = &cache->config;
    enum cache_scope scope = signals[id].scope;
    struct view view;
    look(&view, cache, scope, instance);
    const struct core_counts *c = view.c;
    const struct port_counts *p = view.p;
    const struct bank_counts *b = view.b, *n = &view.n;
    const struct ddr_counts *d = view.d, *m = &view.m;
    switch (id) {
#define CACHE_SIGNAL(scope_, id_, name_, occurrences_, high_)                                      \
    case CACHE_SIGNAL_##id_:                                                                       \
        *occurrences = (occurrences_);                                                             \
        *high = (high_);                                                                           \
        break;
#include "machine/cache/cache_signals.def"
    case CACHE_SIGNALS: break;
    }
}

void cache_signal_count(const struct cache *cache, struct cache_signal signal,
                        uint64_t *occurrences, uint64_t *high_cycles)
{
    uint32_t first = signal.instance, last = signal.instance;
    if (signal.instance == CACHE_ALL)
        first = 0, last = cache_signal_instances(cache, signal.id) - 1;
    *occurrences = *high_cycles = 0;
    for (uint32_t i = first; i <= last; i++) {
        uint64_t count = 0, high = 0;
        assert(i < cache_signal_instances(cache, signal.id));
        count_one(cache, signal.id, i, &count, &high);
        *occurrences += count;
        *high_cycles += high;
    }
}

/* --- Laws ------------------------------------------------------------------------------------ */

#define PLUS(id)                                                                                   \
    {                                                                                              \
        1, CACHE_SIGNAL_##id                                                                       \
    }
#define MINUS(id)                                                                                  \
    {                                                                                              \
        -1, CACHE_SIGNAL_##id                                                                      \
    }

const struct cache_law cache_laws[] = {
    {"L1D misses = load misses + store misses",
     {PLUS(L1D_MISS), MINUS(L1D_MISS_LOAD), MINUS(L1D_MISS_STORE)}},
    {"reads of L2 = fills of L1D + fills of L1I",
     {PLUS(L2_READ), MINUS(L1D_FILL), MINUS(L1I_FILL)}},
    {"L1I misses = fills of L1I", {PLUS(L1I_MISS), MINUS(L1I_FILL)}},
    {"reads of L2 = hits + misses", {PLUS(L2_READ), MINUS(L2_HIT), MINUS(L2_MISS)}},
    {"L2's reads of L3 = its misses + its prefetches",
     {PLUS(L2_READ_L3), MINUS(L2_MISS), MINUS(L2_PREFETCH)}},
    {"L2's reads of L3 = lines that L3 delivers",
     {PLUS(L2_READ_L3), MINUS(RD0_SINGLE), MINUS(RD0_BURST), MINUS(RD1_SINGLE), MINUS(RD1_BURST)}},
    {"demanded lines of L3 = misses of L2", {PLUS(RD0_SINGLE), PLUS(RD1_SINGLE), MINUS(L2_MISS)}},
    {"reads of L3 = hits + misses of its directories",
     {PLUS(L2_READ_L3), MINUS(RD0_HIT0), MINUS(RD0_HIT1), MINUS(RD0_MISS0), MINUS(RD0_MISS1),
      MINUS(RD1_HIT0), MINUS(RD1_HIT1), MINUS(RD1_MISS0), MINUS(RD1_MISS1)}},
    {"writes to memory + those of DMA = deposits in L3",
     {PLUS(L2_WRITE), PLUS(L3_DMA_WRITE), MINUS(WR0_DEPOSIT), MINUS(WR1_DEPOSIT)}},
    {"deposits = buffer lines + joined ones",
     {PLUS(L3_WRITE0), PLUS(L3_WRITE1), MINUS(L3_WRITE0_HIT), MINUS(L3_WRITE1_HIT),
      MINUS(L3_BUFFER_ALLOCATE)}},
    {"lookups = reads + those of DMA + buffer lines",
     {PLUS(DIR0_LOOKUP), PLUS(DIR1_LOOKUP), MINUS(L2_READ_L3), MINUS(RD2_SINGLE),
      MINUS(L3_BUFFER_ALLOCATE)}},
    {"lookups = hits + in flight + requested",
     {PLUS(DIR0_LOOKUP), PLUS(DIR1_LOOKUP), MINUS(L3_HIT), MINUS(L3_IN_FLIGHT), MINUS(L3_REQUEST)}},
    {"fetches from DDR = misses of L3", {PLUS(DDR_FETCH), MINUS(L3_REQUEST)}},
    {"fetches from DDR = allocations", {PLUS(DDR_FETCH), MINUS(MH_ALLOCATION)}},
    {"requests taken = those of reads, of DMA, of writes",
     {PLUS(L3_TAKEN), MINUS(L3_TAKEN_READ0), MINUS(L3_TAKEN_READ1), MINUS(L3_TAKEN_WRITE),
      MINUS(RD2_MISS0), MINUS(RD2_MISS1)}},
    {"dirty lines out of L3 = stores to DDR", {PLUS(L3_REQUEST_CASTOUT), MINUS(DDR_STORE)}},
    {"every L2 is shown its core's writes", {PLUS(L2_SNOOP_SAME), MINUS(L2_WRITE)}},
    {"load misses = cold + capacity + conflict + coherence",
     {PLUS(L1D_MISS_LOAD), MINUS(L1D_LOAD_COLD), MINUS(L1D_LOAD_CAPACITY), MINUS(L1D_LOAD_CONFLICT),
      MINUS(L1D_LOAD_COHERENCE)}},
    {"store misses = cold + capacity + conflict + coherence",
     {PLUS(L1D_MISS_STORE), MINUS(L1D_STORE_COLD), MINUS(L1D_STORE_CAPACITY),
      MINUS(L1D_STORE_CONFLICT), MINUS(L1D_STORE_COHERENCE)}},
    {"misses of L3 = cold + capacity + conflict",
     {PLUS(L3_REQUEST), MINUS(L3_COLD), MINUS(L3_CAPACITY), MINUS(L3_CONFLICT)}},
    {"snoops = dropped by the filter + passed to L1D",
     {PLUS(PORT_REQUEST), MINUS(PORT_REJECTED), MINUS(L1D_INVALIDATE)}},
};

const unsigned cache_law_count = sizeof cache_laws / sizeof *cache_laws;

/* Signals that stay 0 without miss_kinds. */
static bool is_kind(enum cache_signal_id id)
{
    return (id >= CACHE_SIGNAL_L1D_LOAD_COLD && id <= CACHE_SIGNAL_L1D_STORE_COHERENCE) ||
           (id >= CACHE_SIGNAL_L3_COLD && id <= CACHE_SIGNAL_L3_CONFLICT);
}

void cache_law_sides(const struct cache *cache, const struct cache_law *law, uint32_t core,
                     uint64_t *left, uint64_t *right)
{
    *left = *right = 0;
    if (!cache->config.miss_kinds && is_kind(law->terms[1].id)) return;
    for (unsigned i = 0; law->terms[i].sign; i++) {
        uint64_t occurrences, high;
        cache_signal_count(cache, (struct cache_signal){law->terms[i].id, core}, &occurrences,
                           &high);
        *(law->terms[i].sign > 0 ? left : right) += occurrences;
    }
}

bool cache_law_of_core(const struct cache_law *law)
{
    for (unsigned i = 0; law->terms[i].sign; i++) {
        enum cache_scope scope = cache_signal_scope(law->terms[i].id);
        if (scope != CACHE_OF_CORE && scope != CACHE_OF_L2) return false;
    }
    return true;
}

int64_t cache_law_error(const struct cache *cache, const struct cache_law *law)
{
    uint64_t left, right;
    cache_law_sides(cache, law, CACHE_ALL, &left, &right);
    return (int64_t)(left - right);
}

void cache_controller_busy(const struct cache *cache, unsigned controller, uint64_t *busy,
                           uint64_t *until)
{
    const struct ddr *ddr = &cache->ddr[controller];
    *busy = (ddr->counts.fetch + ddr->counts.store) * cache->config.ddr_busy;
    *until = calendar_until(&ddr->calendar);
}
