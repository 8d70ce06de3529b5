/* A node's hierarchy is made and unmade here, and the arrays of tags that L1 and L3 share. */
#include "machine/cache/cache_fast_access.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/mem.h"

/* --- Tags ------------------------------------------------------------------------------------ */

/* Sets that fit lie in one line of the host. */
enum { HOST_LINE = 64 };

static uint32_t padded(uint32_t count)
{
    return (count + TAG_STRIDE - 1) / TAG_STRIDE * TAG_STRIDE;
}

int tags_scan_any(const uint32_t *tags, uint32_t count, uint32_t line)
{
    for (uint32_t i = 0; i < count; i += TAG_STRIDE) {
        unsigned equal = tags_equal(tags + i, line);
        if (equal) return (int)i + __builtin_ctz(equal);
    }
    return -1;
}

/* Large tables of which a program may use little cost nothing until they are touched: there may be
 * thousands of nodes. */
enum { LARGE = 1 << 16 };

static void *zeros_new(size_t bytes)
{
    return bytes < LARGE ? base_calloc_aligned(bytes, 1, HOST_LINE) : base_reserve(bytes);
}

static void zeros_free(void *at, size_t bytes)
{
    if (bytes < LARGE)
        free(at);
    else
        base_release(at, bytes);
}

uint32_t *tags_new(size_t count)
{
    if (!count) return NULL;
    uint32_t *lines = base_calloc_aligned(count, sizeof *lines, HOST_LINE);
    memset(lines, 0xff, count * sizeof *lines);
    return lines;
}

static struct ways ways_of(uint32_t count, enum cache_policy policy)
{
    return (struct ways){.count = count, .stride = padded(count), .policy = policy};
}

static size_t used_bytes(const struct tags *tags)
{
    return ((size_t)tags->set_mask + 1) * tags->ways.stride * sizeof *tags->used;
}

void tags_init(struct tags *tags, uint64_t lines, uint32_t ways, enum cache_policy policy,
               uint64_t seed)
{
    if (!lines) return;
    uint64_t sets = lines / ways;
    *tags = (struct tags){
        .random = seed, .set_mask = (uint32_t)sets - 1, .ways = ways_of(ways, policy)};
    tags->line = tags_new(sets * tags->ways.stride);
    if (policy == CACHE_LRU) tags->used = zeros_new(used_bytes(tags));
    if (policy != CACHE_ROUND_ROBIN) return;
    tags->round_robin = base_calloc(sets, sizeof *tags->round_robin);
    for (uint64_t i = 0; i < sets; i++)
        tags->round_robin[i] = (struct round_robin){.next_victim = (uint32_t)i * tags->ways.stride,
                                                    .wrap_way = NO_WAY};
}

void tags_fini(struct tags *tags)
{
    free(tags->line);
    if (tags->used) zeros_free(tags->used, used_bytes(tags));
    free(tags->round_robin);
}

/* --- The node -------------------------------------------------------------------------------- */

/* Random replacement of the k-th array draws from splitmix64 of seed + k: L1I 2 * core, L1D 2 *
 * core + 1, then banks.
 */
static void l1_init(struct l1 *l1, const struct cache_l1_config *config, uint64_t seed,
                    uint8_t bits)
{
    tags_init(&l1->tags, config->size / config->line, config->ways, config->policy, seed);
    size_t ways = (size_t)(l1->tags.set_mask + 1) * l1->tags.ways.stride;
    l1->dirty = base_calloc(ways, 1);
    l1->at = base_calloc(ways, sizeof *l1->at);
    l1->shift = bits_ceil_log2(config->line);
    l1->granules = config->line >> CACHE_GRANULE_BITS;
    l1->bits = config->policy == CACHE_LRU ? 0 : bits; /* see cache_is_slow */
}

static bool fits_fast(const struct cache *cache)
{
    const struct cache_l1_config *l1d = &cache->config.l1d;
    uint64_t lines = l1d->size / l1d->line;
    return cache->fast_geometry && lines <= FAST_WAYS && lines / l1d->ways <= FAST_SETS;
}

/* The arrays of L1D are the core's own. */
static void move_l1d_to_fast(struct cache_core *core)
{
    struct cache_fast *fast = &core->fast;
    struct l1 *l1 = &core->data;
    memset(fast->line, 0xff, sizeof fast->line);
    memcpy(fast->round_robin, l1->tags.round_robin,
           (l1->tags.set_mask + 1) * sizeof *fast->round_robin);
    free(l1->tags.line);
    free(l1->tags.round_robin);
    free(l1->at);
    l1->tags.line = fast->line;
    l1->tags.round_robin = fast->round_robin;
    l1->at = fast->at;
    fast->set_mask = l1->tags.set_mask;
    uint32_t mask = l1->tags.ways.count - 1; /* which it is, as sets are not padded */
    for (uint32_t way = 0; way < (fast->set_mask + 1) * l1->tags.ways.stride; way++)
        fast->after[way] = (uint16_t)((way & ~mask) | ((way + 1) & mask));
}

/* The byte, the set and the way of no line. */
static void fast_init_none(struct cache_fast *fast)
{
    fast->no_at = fast->at[FAST_WAYS] = &fast->no_byte;
    fast->no_set = FAST_SETS;
    fast->round_robin[FAST_SETS] = (struct round_robin){FAST_WAYS, NO_WAY};
    fast->after[FAST_WAYS] = FAST_WAYS;
}

static void core_init(struct cache *cache, unsigned number)
{
    const struct cache_config *config = &cache->config;
    struct cache_core *core = cache->core[number] = zeros_new(sizeof *core);
    core->cache = cache;
    core->accesses_left = UINT64_MAX;
    core->order_limit = UINT64_MAX;
    core->others = ((1U << config->cores) - 1) & ~(1U << number);
    for (unsigned source = 0; source < config->cores; source++)
        core->snooped_by[source] = (snoop_port(number, source) + 1) << SNOOPED;
    l1_init(&core->code, &config->l1i, config->seed + 2 * number, CACHE_FETCH);
    l1_init(&core->data, &config->l1d, config->seed + 2 * number + 1, CACHE_LOAD | CACHE_STORE);
    if (fits_fast(cache)) move_l1d_to_fast(core);
    if (config->miss_kinds) {
        core->data.bits = 0;
        core->kinds = kinds_new(config->l1d.size / config->l1d.line);
    }
    core->port = (config->cores > 2 ? number / 2 : number) & 1;
    core->delivered = cache->delivered + (size_t)core->port * config->l3_banks;
    core->deposited = cache->deposited + (size_t)core->port * config->l3_banks;
    core->number = number;
    core->bit = 1U << number;
    core->next_store = core->queue;
    for (unsigned i = 0; i < config->stores; i++)
        core->queue[i].next = &core->queue[(i + 1) % config->stores];
    core->fast.load_pages = core->fast.store_pages = cache->no_pages;
    core->fast.next_open = core->open;
    core->fast.next_miss = core->misses;
    core->fast.full = core->misses + 1;
    fast_init_none(&core->fast);
    core->most_deferred = 1;
    for (unsigned i = 0; i < CACHE_OPEN_LINES; i++)
        core->open[i] =
            (struct open_line){NULL, &core->open[(i + 1) % config->store_lines], NO_LINE};
    core->tlb = base_calloc(config->tlb_entries, sizeof *core->tlb);
    for (uint32_t i = 0; i < config->tlb_entries; i++)
        core->tlb[i].space = UINT32_MAX;
    struct l2 *l2 = &core->l2;
    l2->oldest = L2_MOST / L2_STEP * L2_STEP - L2_NUMBERS * L2_STEP;
    l2->span = config->l2_entries * L2_STEP;
    l2->filter_oldest = L2_FILTER_MOST - L2_NUMBERS;
    l2->filter_span = config->l2_filter;
    l2->next_stream = 1;
    for (uint32_t i = 0; i < L2_PLACES; i++)
        l2->stream[i] = NO_LINE;
    snoop_init(cache, core);
}

static uint32_t sets_of(const struct bank *bank)
{
    return bank->tags.ways.count ? bank->tags.set_mask + 1 : 0;
}

static void bank_init(struct cache *cache, unsigned number)
{
    const struct cache_config *config = &cache->config;
    struct bank *bank = cache->bank[number] = base_calloc(1, sizeof *bank);
    tags_init(&bank->tags, config->l3_size / config->l3_line / config->l3_banks, config->l3_ways,
              config->l3_policy, config->seed + 2 * config->cores + number);
    bank->first = number * sets_of(bank) * bank->tags.ways.stride;
}

static size_t fetched_bytes(const struct cache *cache)
{
    size_t sets = (size_t)cache->config.l3_banks * sets_of(cache->bank[0]);
    return (sets * cache->bank[0]->tags.ways.stride + 1) * sizeof *cache->fetched;
}

static void l3_init(struct cache *cache)
{
    const struct cache_config *config = &cache->config;
    size_t banks = config->l3_banks;
    cache->bank = base_calloc(banks, sizeof *cache->bank);
    for (unsigned i = 0; i < banks; i++)
        bank_init(cache, i);
    size_t sets = banks * sets_of(cache->bank[0]);
    cache->directory =
        2 * banks <= LANES ? cache->lane : base_calloc(2 * banks, sizeof *cache->directory);
    cache->delivered = base_calloc(2 * banks, sizeof *cache->delivered);
    cache->deposited = base_calloc(2 * banks, sizeof *cache->deposited);
    for (size_t i = 0; i < 2 * banks; i++) {
        cache->deposited[i] = NO_LINE;
        cache->delivered[i] = -(uint64_t)config->l3_transfer; /* long ago */
    }
    cache->fetched = zeros_new(fetched_bytes(cache));
    cache->lru = base_calloc_aligned(sets + 1, sizeof *cache->lru, HOST_LINE);
    for (unsigned i = 0; i < LRU_WAYS << L3_BITS; i++) {
        unsigned way = i >> L3_BITS;
        cache->lru_row[i] = UINT64_C(0xff) << 8 * way;
        cache->lru_column[i] = ~(UINT64_C(0x0101010101010101) << way);
    }
    for (size_t i = 1; i <= sets; i++)
        cache->lru[i] = UINT64_C(0x7f3f1f0f07030100); /* empty ways are filled from the first on */
}

static struct shape shape_of(const struct cache_config *config)
{
    return (struct shape){
        .l1i = ways_of(config->l1i.ways, config->l1i.policy),
        .l1d = ways_of(config->l1d.ways, config->l1d.policy),
        .l3 = ways_of(config->l3_size ? config->l3_ways : 0, config->l3_policy),
        .l1i_shift = bits_ceil_log2(config->l1i.line),
        .l1d_shift = bits_ceil_log2(config->l1d.line),
        .l2_shift = bits_ceil_log2(config->l2_line),
        .l3_shift = bits_ceil_log2(config->l3_line),
        .page_shift = bits_ceil_log2(config->page),
        .snoop_cache_stride = padded(config->snoop_lines),
        .register_stride = padded(config->snoop_streams),
        .kinds = config->miss_kinds,
    };
}

static bool fast_geometry(struct shape shape)
{
    uint32_t ways = shape.l1d.count;
    if (shape.l1d.policy != CACHE_ROUND_ROBIN || ways & (ways - 1) || ways != shape.l1d.stride)
        return false;
    shape.l1d = blue_gene.l1d;
    shape.l1i = blue_gene.l1i;
    shape.l1i_shift = blue_gene.l1i_shift;
    return memcmp(&shape, &blue_gene, sizeof blue_gene) == 0;
}

struct cache *cache_new(const struct cache_config *config)
{
    assert(cache_config_check(config, NULL) == 0);
    struct cache *cache = base_calloc(1, sizeof *cache);
    cache->config = *config;
    cache->bank_shift = bits_ceil_log2(config->l3_banks);
    cache->bank_mask = config->l3_banks - 1;
    cache->directory_mask = 2 * config->l3_banks - 1;
    cache->row_shift = bits_ceil_log2(config->ddr_row);
    cache->l2_latency = config->l2_latency - config->l1_latency;
    cache->l3_latency = config->l3_latency - config->l1_latency;
    cache->ddr_latency = config->ddr_latency - config->l1_latency;
    cache->store_time = config->store_time;
    cache->l3_busy = config->l3_busy;
    cache->l3_transfer = config->l3_transfer;
    cache->l2_stall = cache->l2_latency;
    cache->l3_stall = cache->l3_latency;
    cache->shape = shape_of(config);
    cache->is_blue_gene = memcmp(&cache->shape, &blue_gene, sizeof blue_gene) == 0;
    cache->fast_geometry = fast_geometry(cache->shape);
    cache->line_mask = ~(config->l1d.line - 1);
    /* Through: a store bit belongs to the open line, in L1 or not. */
    cache->line_bits =
        CACHE_IN_L1D | (config->write_through ? CACHE_LOAD : CACHE_LOAD | CACHE_STORE);
    cache->without_line = (uint8_t)~cache->line_bits;
    cache->l3_read_busy = config->l3_busy;
    if (cache->l3_read_busy + 1 < config->l3_transfer)
        cache->l3_read_busy = config->l3_transfer - 1;
    if (cache->l3_read_busy + 1 < cache->l3_latency) cache->l3_read_busy = cache->l3_latency - 1;
    cache->l3_read_busy_after = cache->l3_read_busy - cache->l3_latency;
    cache->streaming = config->l2_entries && config->l2_streams && config->l2_depth;
    cache->miss_cycles_most =
        (uint32_t)(cache->l3_latency + cache->ddr_latency) + config->store_time +
        (config->l2_depth + 2) * (config->l3_busy + config->l3_transfer + 2 * config->ddr_busy);
    /* With write-back, a filled line may be dirty in another core, or have stores joined outside
     * L1. */
    bool lanes = cache->fast_geometry && config->l3_size && config->l3_banks == LANE_BANKS;
    cache->fast_loads = lanes && fits_fast(cache) && cache->streaming &&
                        cache->l3_latency > config->l3_busy &&
                        cache->l3_latency >= config->l3_transfer &&
                        (config->write_through || (!config->coherent && config->store_allocate));
    cache->fast_stores = lanes && config->write_through && !config->store_allocate &&
                         config->coherent && config->snoop_filter && config->cores > 1;
    /* With more cores than ports, several share one, and what its snoop cache has seen is no longer
     * one core's. */
    if (config->snoop_filter && config->cores <= CACHE_PORTS)
        cache->idle = (1U << config->cores) - 1;
    l3_init(cache);
    spaces_init(cache);
    cache->ddr = base_calloc(config->controllers, sizeof *cache->ddr);
    for (unsigned i = 0; i < config->controllers; i++)
        calendar_init(&cache->ddr[i].calendar);
    if (config->miss_kinds) cache->kinds = kinds_new(config->l3_size / config->l3_line);
    for (unsigned i = 0; i < config->cores; i++)
        core_init(cache, i);
    model_init(cache);
    fast_update(cache);
    return cache;
}

static void core_fini(struct cache_core *core)
{
    if (core->data.at == core->fast.at) {
        core->data.at = NULL;
        core->data.tags.line = NULL;
        core->data.tags.round_robin = NULL;
    }
    tags_fini(&core->code.tags);
    tags_fini(&core->data.tags);
    free(core->code.dirty);
    free(core->data.dirty);
    free(core->code.at);
    free(core->data.at);
    free(core->tlb);
    kinds_free(core->kinds);
    free(core->uniform);
    snoop_fini(&core->snoop);
    zeros_free(core, sizeof *core);
}

void cache_free(struct cache *cache)
{
    if (!cache) return;
    spaces_fini(cache);
    zeros_free(cache->fetched, fetched_bytes(cache));
    for (unsigned i = 0; i < cache->config.cores; i++)
        core_fini(cache->core[i]);
    for (unsigned i = 0; i < cache->config.l3_banks; i++) {
        tags_fini(&cache->bank[i]->tags);
        free(cache->bank[i]);
    }
    free(cache->bank);
    if (cache->directory != cache->lane) free(cache->directory);
    free(cache->delivered);
    free(cache->deposited);
    free(cache->lru);
    for (unsigned i = 0; i < cache->config.controllers; i++)
        calendar_fini(&cache->ddr[i].calendar);
    free(cache->ddr);
    kinds_free(cache->kinds);
    free(cache);
}

static void notify_count(const struct cache *cache, const struct cache_core *core, unsigned kind,
                         unsigned level, uint32_t stall, uint64_t count)
{
    const struct cache_transaction transaction = {.core = (uint8_t)core->number,
                                                  .sender = (uint8_t)core->number,
                                                  .kind = (uint8_t)kind,
                                                  .level = (uint8_t)level};
    if (count) cache->listener->notify_uniform(cache->listener->context, transaction, stall, count);
}

static void notify_uniform_of(const struct cache *cache, struct cache_core *core)
{
    struct uniform *uniform = core->uniform;
    notify_count(cache, core, CACHE_LOAD_MISS, CACHE_IN_L2, cache->l2_latency,
                 core->counts.l2_hit - uniform->l2_hit);
    notify_count(cache, core, CACHE_LOAD_MISS, CACHE_IN_L3, cache->l3_latency,
                 counts_l3_hit(&core->counts) - uniform->l3_hit);
    uniform->l2_hit = core->counts.l2_hit;
    uniform->l3_hit = counts_l3_hit(&core->counts);
    for (uint32_t i = 0; i < uniform->used; i++) {
        unsigned index = uniform->index[i], row = index / UNIFORM_STALLS;
        notify_count(cache, core, row / UNIFORM_LEVELS, row % UNIFORM_LEVELS,
                     index % UNIFORM_STALLS, uniform->count[index]);
        uniform->count[index] = 0;
    }
    uniform->used = 0;
}

void cache_notify_uniform(struct cache *cache, unsigned core)
{
    for (unsigned i = 0; i < cache->config.cores; i++)
        if (cache->core[i]->uniform && (core == i || core == CACHE_ALL))
            notify_uniform_of(cache, cache->core[i]);
}

void cache_listen(struct cache *cache, const struct cache_listener *listener)
{
    bool uniform = listener && listener->notify_uniform;
    if (listener == cache->listener) return;
    cache_notify_uniform(cache, CACHE_ALL);
    cache->listener = listener;
    cache->has_listener = listener ? CACHE_NOTIFY : 0;
    cache->l2_stall = cache->l2_latency | (uniform ? 0 : cache->has_listener);
    cache->l3_stall = cache->l3_latency | (uniform ? 0 : cache->has_listener);
    fast_update(cache);
    for (unsigned i = 0; i < cache->config.cores; i++) {
        struct cache_core *core = cache->core[i];
        free(core->uniform);
        core->uniform = uniform ? base_calloc(1, sizeof *core->uniform) : NULL;
        if (!uniform) continue;
        core->uniform->l2_hit = core->counts.l2_hit;
        core->uniform->l3_hit = counts_l3_hit(&core->counts);
    }
}

unsigned cache_miss_kind(const struct cache *cache, unsigned core)
{
    return cache->core[core]->miss_kind;
}

const struct cache_config *cache_config_get(const struct cache *cache)
{
    return &cache->config;
}

bool cache_is_slow(const struct cache *cache)
{
    return cache->config.l1d.policy == CACHE_LRU || cache->config.l1i.policy == CACHE_LRU ||
           cache->config.miss_kinds;
}
