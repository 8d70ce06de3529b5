/* The tree of call paths: functions, their blocks, paths, and where they are called. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "machine/core/core_record_impl.h"

/* Beyond this number, a new path is recorded once, below its root. */
enum { PATHS_MAX = 200000 };

struct record *record_new(const struct record_options *options)
{
    struct record *record = base_calloc(1, sizeof *record);
    record->options = *options;
    record->attributor = cache_attributor_new(options->cache);
    return record;
}

static void free_functions(struct record_function *function)
{
    while (function) {
        struct record_function *next = function->next;
        for (size_t i = 0; i < function->block_count; i++) {
            free(function->blocks[i].weights);
            free((void *)function->blocks[i].words);
        }
        free(function->blocks);
        free(function);
        function = next;
    }
}

static void counts_fini(const struct record *record, struct record_counts *ledger)
{
    if (!ledger) return;
    cache_attribution_fini(record->attributor, &ledger->attribution);
    free(ledger->counts);
    free(ledger->folded);
}

void record_free(struct record *record)
{
    if (!record) return;
    for (size_t i = 0; i < record->path_count; i++) {
        struct record_path *path = record->paths[i];
        for (unsigned t = 0; t < record_turns(record); t++)
            counts_fini(record, t == path->turn ? &path->now
                                : path->other   ? &path->other[t]
                                                : NULL);
        free(path->other);
        while (path->sites) {
            struct record_site *next = path->sites->next;
            free(path->sites);
            path->sites = next;
        }
        free(path);
    }
    free(record->paths); // NOLINT(bugprone-multi-level-implicit-pointer-conversion)
    for (unsigned i = 0; i < RECORD_FUNCTIONS; i++)
        free_functions(record->functions[i]);
    while (record->threads) {
        struct record_thread *next = record->threads->next;
        free(record->threads->frames);
        free(record->threads);
        record->threads = next;
    }
    record_starts_free(record);
    cache_attributor_free(record->attributor);
    free(record);
}

struct record_path *const *record_paths(const struct record *record, size_t *count)
{
    *count = record->path_count;
    return record->paths;
}

const struct cache_attributor *record_attributor(const struct record *record)
{
    return record->attributor;
}

unsigned record_turns(const struct record *record)
{
    return record->options.turns ? record->options.turns : 1;
}

const struct record_counts *record_path_counts(const struct record *record,
                                               const struct record_path *path, unsigned turn)
{
    if (turn == path->turn) return &path->now;
    return path->other && turn < record_turns(record) ? &path->other[turn] : NULL;
}

void record_path_signals(const struct record_path *path, const struct record_counts *ledger,
                         uint64_t *counts)
{
    for (unsigned i = 0; ledger->folded && i < CORE_SIGNAL_COUNT; i++)
        counts[i] += ledger->folded[i];
    for (size_t i = 0; i < path->function->block_count && i < ledger->capacity; i++) {
        const struct record_block *block = &path->function->blocks[i];
        for (unsigned w = 0; ledger->counts[i] && w < block->weight_count; w++)
            counts[block->weights[w].signal] += ledger->counts[i] * block->weights[w].count;
    }
}

void record_each_function(const struct record *record,
                          void (*each)(void *context, const struct record_function *f),
                          void *context)
{
    for (unsigned i = 0; i < RECORD_FUNCTIONS; i++)
        for (const struct record_function *f = record->functions[i]; f; f = f->next)
            if (f->block_count) each(context, f);
}

/* --- Functions ------------------------------------------------------------------------------- */

static struct record_function *function_get(struct record *record, const void *symbol, uint32_t low,
                                            uint32_t high)
{
    struct record_function **bucket = &record->functions[low / 4 % RECORD_FUNCTIONS];
    for (struct record_function *f = *bucket; f; f = f->next)
        if (f->low == low && f->symbol == symbol) return f;
    struct record_function *function = base_calloc(1, sizeof *function);
    *function =
        (struct record_function){.symbol = symbol, .low = low, .high = high, .next = *bucket};
    function->role = record->options.role(record->options.context, symbol);
    if (record->options.call_id && low != high)
        function->call_id = record->options.call_id(record->options.context, symbol);
    return *bucket = function;
}

/* What linkers put before calls of shared libraries: lwz r11,...; mtctr r11; bctr. */
static bool is_stub(const struct block *block)
{
    enum { MTCTR_R11 = 0x7d6903a6, BCTR = 0x4e800420, LWZ_R11 = 0x40b };
    const uint32_t *words = block->words;
    unsigned n = block->count;
    return (n == 3 || n == 4) && words[n - 1] == BCTR && words[n - 2] == MTCTR_R11 &&
           words[n - 3] >> 21 == LWZ_R11;
}

/* The function of a block. Code without a symbol belongs to the unnamed function that first enters
 * it. */
static struct record_function *find_function(struct record *record, const struct core *core,
                                             const struct code *code, const struct block *block,
                                             bool called)
{
    const struct record_options *o = &record->options;
    uint32_t low, high, address;
    bool stub = called && is_stub(block);
    const void *symbol =
        stub ? NULL : o->function(o->context, code->mem, block->pc, &low, &high, &address);
    if (symbol) {
        struct record_function *found = function_get(record, symbol, low, high);
        found->address = address;
        return found;
    }
    struct record_function *now = core->path ? core->path->function : &record->nowhere;
    if (!called && now != &record->nowhere && now->low == now->high) return now;
    symbol = o->unnamed(o->context, code->mem, block->pc);
    struct record_function *function = function_get(record, symbol, block->pc, block->pc);
    function->stub = stub;
    return function;
}

void record_path_grow(struct record_path *path)
{
    struct record_counts *ledger = &path->now;
    size_t before = ledger->capacity;
    if (before >= path->function->block_count) return;
    ledger->counts = base_grow(ledger->counts, &ledger->capacity, path->function->block_count,
                               sizeof *ledger->counts);
    memset(ledger->counts + before, 0, (ledger->capacity - before) * sizeof *ledger->counts);
}

/* Its index in the function; added when it is new. */
uint32_t record_block_index(struct record_function *function, const struct record_block *block)
{
    for (size_t i = 0; i < function->block_count; i++) {
        const struct record_block *found = &function->blocks[i];
        if (found->pc == block->pc && found->count == block->count &&
            found->weight_count == block->weight_count &&
            memcmp(found->words, block->words, block->count * sizeof *block->words) == 0 &&
            (!block->weight_count || memcmp(found->weights, block->weights,
                                            block->weight_count * sizeof *block->weights) == 0))
            return (uint32_t)i;
    }
    function->blocks = base_grow(function->blocks, &function->block_capacity,
                                 function->block_count + 1, sizeof *function->blocks);
    struct record_block *new = &function->blocks[function->block_count];
    *new = *block;
    uint32_t *words = base_calloc(block->count, sizeof *words);
    memcpy(words, block->words, block->count * sizeof *words);
    new->words = words;
    new->weights = base_calloc(block->weight_count + 1U, sizeof *new->weights);
    if (block->weight_count)
        memcpy(new->weights, block->weights, block->weight_count * sizeof *new->weights);
    return (uint32_t)function->block_count++;
}

void record_name_block(const struct core *core, const struct code *code, struct block *block,
                       bool called)
{
    struct cores *cores = core->cores;
    block->function = find_function(cores->options.record, core, code, block, called);
    block->index = record_block_index(
        block->function, &(struct record_block){.pc = block->pc,
                                                .count = (uint16_t)block->count,
                                                .weight_count = (uint16_t)block->weight_count,
                                                .words = block->words,
                                                .weights = block->weights});
    for (unsigned i = 0; i < cores->count; i++) {
        struct core *other = &cores->core[i];
        if (!other->path || other->path->function != block->function) continue;
        record_path_grow(other->path);
        other->path_counts = other->path->now.counts;
    }
}

/* --- Paths ----------------------------------------------------------------------------------- */

static struct record_path *path_new(struct record *record, const struct record_path *like)
{
    struct record_path *path = base_calloc(1, sizeof *path);
    *path = *like;
    path->number = (unsigned)record->path_count;
    path->turn = record->turn;
    record->paths = base_grow(record->paths, &record->path_capacity, record->path_count + 1,
                              sizeof(struct record_path *));
    return record->paths[record->path_count++] = path;
}

struct record_path *record_root_get(struct record *record, struct record_thread *thread,
                                    unsigned core, const void *symbol)
{
    for (struct record_path *root = thread->roots; root; root = root->sibling)
        if (root->core == core && root->symbol == symbol) return root;
    struct record_path *root = path_new(record, &(struct record_path){.kind = RECORD_ROOT,
                                                                      .function = &record->nowhere,
                                                                      .symbol = symbol,
                                                                      .thread = thread,
                                                                      .core = core});
    root->sibling = thread->roots;
    return thread->roots = root;
}

static struct record_path *child_find(const struct record_path *parent, enum record_kind kind,
                                      const struct record_function *function, const void *symbol,
                                      uint32_t at)
{
    for (struct record_path *path = parent->child; path; path = path->sibling)
        if (path->kind == kind && path->function == function && path->symbol == symbol &&
            path->at == at)
            return path;
    return NULL;
}

struct record_path *record_child_get(struct record *record, struct record_path *parent,
                                     enum record_kind kind, struct record_function *function,
                                     const void *symbol, uint32_t at)
{
    while (kind != RECORD_INSIDE && parent->parent && parent->depth > record->options.depth)
        parent = parent->parent;
    struct record_path *found = child_find(parent, kind, function, symbol, at);
    if (found) return found;
    if (kind != RECORD_INSIDE && record->path_count >= PATHS_MAX) {
        while (parent->parent)
            parent = parent->parent;
        found = child_find(parent, kind, function, symbol, at);
        if (found) return found;
    }
    struct record_path *path = path_new(record, &(struct record_path){.kind = kind,
                                                                      .function = function,
                                                                      .symbol = symbol,
                                                                      .parent = parent,
                                                                      .thread = parent->thread,
                                                                      .core = parent->core,
                                                                      .depth = parent->depth + 1,
                                                                      .at = at});
    path->sibling = parent->child;
    return parent->child = path;
}

/* Stubs are split because what they lead to may be. What a runtime calls of itself is no construct
 * of the program's. */
struct record_path *record_callee_get(struct record *record, struct record_path *from,
                                      struct record_function *function, uint32_t at)
{
    bool construct = function->role == RECORD_CONSTRUCT || function->role == RECORD_FORKS;
    bool inside = from->function->role == RECORD_CONSTRUCT || from->function->role == RECORD_FORKS;
    bool split = record->options.by_site || function->stub || (construct && !inside);
    return record_child_get(record, from, RECORD_CALL, function, function->symbol, split ? at : 0);
}

struct record_path *record_twin(struct record *record, const struct record_path *path,
                                struct record_thread *thread, unsigned core)
{
    if (!path->parent) return record_root_get(record, thread, core, path->symbol);
    struct record_path *parent = record_twin(record, path->parent, thread, core);
    struct record_path *same =
        record_child_get(record, parent, path->kind, path->function, path->symbol, path->at);
    same->start |= path->start;
    if (path->at && path->sites) (void)record_site_get(same, path->sites->caller, path->at);
    return same;
}

struct record_site *record_site_get(struct record_path *path, const struct record_function *caller,
                                    uint32_t at)
{
    if (!at || !caller->symbol) return NULL;
    for (struct record_site *site = path->sites; site; site = site->next)
        if (site->at == at && site->caller == caller) return site;
    struct record_site *site = base_calloc(1, sizeof *site);
    *site = (struct record_site){.next = path->sites, .caller = caller, .at = at};
    return path->sites = site;
}

uint32_t record_block_weigh(const struct record_block *block, unsigned count, uint64_t *counts)
{
    return count ? block_weigh(block->words, count, counts) : 0;
}
