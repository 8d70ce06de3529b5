/* The trees of call paths, and how cores move in them. */
#include "core/core_record.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/core_impl.h"

/* From PATHS_MOST on, functions that are called in new ways are kept once, below their root. */
enum { FUNCTION_BUCKETS = 4096, WAY_CACHE = 4096, FRAMES_MOST = 1 << 20, PATHS_MOST = 200000 };
enum { BACK_NEVER = 1 }; /* no return leads there */

struct record {
    struct record_options options;
    struct cache_account *account;
    struct record_thread *threads;
    struct record_path **paths;
    size_t path_count, path_capacity;
    struct record_function nowhere; /* of roots and regions */
    struct record_function *functions[FUNCTION_BUCKETS];
    struct way {
        const struct record_path *from;
        struct record_path *path;
        uint32_t to;   /* + 1 for a jump, in whose place it is */
    } ways[WAY_CACHE]; /* taken before, by a hash */
};

struct record *record_new(const struct record_options *options)
{
    struct record *record = base_calloc(1, sizeof *record);
    record->options = *options;
    record->account = cache_account_new(options->cache);
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

void record_free(struct record *record)
{
    if (!record) return;
    for (size_t i = 0; i < record->path_count; i++) {
        struct record_path *path = record->paths[i];
        cache_bill_fini(record->account, &path->bill);
        free(path->counts);
        free(path->folded);
        free(path);
    }
    free(record->paths); // NOLINT(bugprone-multi-level-implicit-pointer-conversion)
    for (unsigned i = 0; i < FUNCTION_BUCKETS; i++)
        free_functions(record->functions[i]);
    while (record->threads) {
        struct record_thread *next = record->threads->next;
        free(record->threads->frames);
        free(record->threads);
        record->threads = next;
    }
    cache_account_free(record->account);
    free(record);
}

struct record_path *const *record_paths(const struct record *record, size_t *count)
{
    *count = record->path_count;
    return record->paths;
}

const struct cache_account *record_account(const struct record *record)
{
    return record->account;
}

void record_path_signals(const struct record_path *path, uint64_t *counts)
{
    memset(counts, 0, CORE_SIGNAL_COUNT * sizeof *counts);
    if (path->folded) memcpy(counts, path->folded, CORE_SIGNAL_COUNT * sizeof *counts);
    for (size_t i = 0; i < path->function->block_count && i < path->capacity; i++) {
        const struct record_block *block = &path->function->blocks[i];
        for (unsigned w = 0; path->counts[i] && w < block->weight_count; w++)
            counts[block->weights[w].signal] += path->counts[i] * block->weights[w].count;
    }
}

void record_each_function(const struct record *record, void (*each)(void *context, const struct record_function *f),
                          void *context)
{
    for (unsigned i = 0; i < FUNCTION_BUCKETS; i++)
        for (const struct record_function *f = record->functions[i]; f; f = f->next)
            if (f->block_count) each(context, f);
}

/* --- Functions ----------------------------------------------------------------------------------------------------
 */

static struct record_function *function_get(struct record *record, const void *symbol, uint32_t low, uint32_t high)
{
    struct record_function **bucket = &record->functions[low / 4 % FUNCTION_BUCKETS];
    for (struct record_function *f = *bucket; f; f = f->next)
        if (f->low == low && f->symbol == symbol) return f;
    struct record_function *function = base_calloc(1, sizeof *function);
    *function = (struct record_function){.symbol = symbol, .low = low, .high = high, .next = *bucket};
    if (record->options.told && low != high) function->told = record->options.told(record->options.context, symbol);
    return *bucket = function;
}

/* What linkers put before calls of shared libraries: lwz r11,...; mtctr r11; bctr. */
static bool is_stub(const struct block *block)
{
    enum { MTCTR_R11 = 0x7d6903a6, BCTR = 0x4e800420, LWZ_R11 = 0x40b };
    const uint32_t *words = block->words;
    unsigned n = block->count;
    return (n == 3 || n == 4) && words[n - 1] == BCTR && words[n - 2] == MTCTR_R11 && words[n - 3] >> 21 == LWZ_R11;
}

/* Where they lead to as long as nobody has looked the function up: a branch to the code that does. */
static bool is_stub_too(const struct block *block)
{
    enum { B = 18 };
    return block->count == 1 && block->words[0] >> 26 == B && !(block->words[0] & 1);
}

/* The function of a block. Code that nobody names belongs to the unnamed function that first comes to it. */
static struct record_function *find_function(struct record *record, const struct core *core, const struct code *code,
                                             const struct block *block, bool called)
{
    const struct record_options *o = &record->options;
    uint32_t low, high, address;
    bool stub = called && is_stub(block);
    const void *symbol = stub ? NULL : o->function(o->context, code->mem, block->pc, &low, &high, &address);
    if (symbol) {
        struct record_function *known = function_get(record, symbol, low, high);
        known->address = address;
        return known;
    }
    struct record_function *now = core->path ? core->path->function : &record->nowhere;
    if (!called && now != &record->nowhere && now->low == now->high) return now;
    symbol = o->unnamed(o->context, code->mem, block->pc);
    struct record_function *function = function_get(record, symbol, block->pc, block->pc);
    function->stub = stub;
    return function;
}

static void path_grow(struct record_path *path)
{
    size_t before = path->capacity;
    if (before >= path->function->block_count) return;
    path->counts = base_grow(path->counts, &path->capacity, path->function->block_count, sizeof *path->counts);
    memset(path->counts + before, 0, (path->capacity - before) * sizeof *path->counts);
}

/* Its number in the function; made when it is new. */
static uint32_t block_index(struct record_function *function, const struct record_block *block)
{
    for (size_t i = 0; i < function->block_count; i++) {
        const struct record_block *known = &function->blocks[i];
        if (known->pc == block->pc && known->count == block->count && known->weight_count == block->weight_count &&
            memcmp(known->words, block->words, block->count * sizeof *block->words) == 0 &&
            (!block->weight_count ||
             memcmp(known->weights, block->weights, block->weight_count * sizeof *block->weights) == 0))
            return (uint32_t)i;
    }
    function->blocks =
        base_grow(function->blocks, &function->block_capacity, function->block_count + 1, sizeof *function->blocks);
    struct record_block *new = &function->blocks[function->block_count];
    *new = *block;
    uint32_t *words = base_calloc(block->count, sizeof *words);
    memcpy(words, block->words, block->count * sizeof *words);
    new->words = words;
    new->weights = base_calloc(block->weight_count + 1U, sizeof *new->weights);
    if (block->weight_count) memcpy(new->weights, block->weights, block->weight_count * sizeof *new->weights);
    return (uint32_t)function->block_count++;
}

/* Says whose a block is, and its number there. Cores that are in the function need room for its count at once. */
static void name_block(const struct core *core, const struct code *code, struct block *block, bool called)
{
    struct cores *cores = core->cores;
    block->function = find_function(cores->options.record, core, code, block, called);
    block->index = block_index(block->function, &(struct record_block){.pc = block->pc,
                                                                       .count = (uint16_t)block->count,
                                                                       .weight_count = (uint16_t)block->weight_count,
                                                                       .words = block->words,
                                                                       .weights = block->weights});
    for (unsigned i = 0; i < cores->count; i++) {
        struct core *other = &cores->core[i];
        if (!other->path || other->path->function != block->function) continue;
        path_grow(other->path);
        other->path_counts = other->path->counts;
    }
}

/* --- Paths --------------------------------------------------------------------------------------------------------
 */

static struct record_path *path_new(struct record *record, const struct record_path *like)
{
    struct record_path *path = base_calloc(1, sizeof *path);
    *path = *like;
    path->number = (unsigned)record->path_count;
    record->paths =
        base_grow(record->paths, &record->path_capacity, record->path_count + 1, sizeof(struct record_path *));
    return record->paths[record->path_count++] = path;
}

static struct record_path *root_get(struct record *record, struct record_thread *thread, unsigned core,
                                    const void *symbol)
{
    for (struct record_path *root = thread->roots; root; root = root->sibling)
        if (root->core == core && root->symbol == symbol) return root;
    struct record_path *root = path_new(
        record,
        &(struct record_path){
            .kind = RECORD_ROOT, .function = &record->nowhere, .symbol = symbol, .thread = thread, .core = core});
    root->sibling = thread->roots;
    return thread->roots = root;
}

static struct record_path *child_find(const struct record_path *parent, enum record_kind kind,
                                      const struct record_function *function, const void *symbol)
{
    for (struct record_path *path = parent->child; path; path = path->sibling)
        if (path->kind == kind && path->function == function && path->symbol == symbol) return path;
    return NULL;
}

static struct record_path *child_get(struct record *record, struct record_path *parent, enum record_kind kind,
                                     struct record_function *function, const void *symbol)
{
    while (kind != RECORD_INSIDE && parent->parent && parent->depth > record->options.depth)
        parent = parent->parent;
    struct record_path *known = child_find(parent, kind, function, symbol);
    if (known) return known;
    if (kind != RECORD_INSIDE && record->path_count >= PATHS_MOST) {
        while (parent->parent)
            parent = parent->parent;
        known = child_find(parent, kind, function, symbol);
        if (known) return known;
    }
    struct record_path *path = path_new(record, &(struct record_path){.kind = kind,
                                                                      .function = function,
                                                                      .symbol = symbol,
                                                                      .parent = parent,
                                                                      .thread = parent->thread,
                                                                      .core = parent->core,
                                                                      .depth = parent->depth + 1});
    path->sibling = parent->child;
    return parent->child = path;
}

static struct record_path *callee_get(struct record *record, struct record_path *from, struct record_function *function)
{
    return child_get(record, from, RECORD_CALL, function, function->symbol);
}

/* The same path on another core, or in another thread. */
static struct record_path *twin(struct record *record, const struct record_path *path, struct record_thread *thread,
                                unsigned core)
{
    if (!path->parent) return root_get(record, thread, core, path->symbol);
    struct record_path *parent = twin(record, path->parent, thread, core);
    return child_get(record, parent, path->kind, path->function, path->symbol);
}

/* --- Moving -------------------------------------------------------------------------------------------------------
 */

/* Charges what was counted since the core came to its path. */
static void settle(struct core *core)
{
    uint64_t busy = core->cycles - core->idle;
    assert(core->path);
    core->path->cycles += busy - core->path_since;
    core->path_since = busy;
    if (!core->touched || core->cores->options.record->options.light) return;
    core->touched = false;
    core->path->crossings += core->crossings - core->path_crossings;
    core->path_crossings = core->crossings;
    cache_account_charge(core->cores->options.record->account, core->number, &core->path->bill);
}

static inline void move(struct core *core, struct record_path *to)
{
    settle(core);
    if (to->capacity < to->function->block_count) path_grow(to);
    core->path = to;
    core->path_counts = to->counts;
}

static struct record_frame *push(struct record_thread *thread, struct record_path *caller, uint32_t back, uint32_t sp)
{
    if (thread->frame_count == FRAMES_MOST)
        thread->frame_count = 0; /* calls that never return: what led here is lost */
    if (thread->frame_count == thread->frame_capacity)
        thread->frames =
            base_grow(thread->frames, &thread->frame_capacity, thread->frame_count + 1, sizeof *thread->frames);
    struct record_frame *frame = &thread->frames[thread->frame_count++];
    *frame = (struct record_frame){.caller = caller, .back = back, .sp = sp};
    return frame;
}

/* The path that a call leads to; NULL when there is no code. */
static struct record_path *find_callee(const struct core *core, struct record_path *from, struct code *code,
                                       uint32_t to)
{
    struct record *record = core->cores->options.record;
    struct block *block = code_block(code, to);
    if (!block) return NULL;
    if (!block->function) name_block(core, code, block, true);
    return callee_get(record, from, block->function);
}

static inline struct way *way_of(struct record *record, const struct record_path *from, uint32_t to)
{
    return &record->ways[(from->number * UINT32_C(0x9E3779B1) + to / 4 + to % 4) % WAY_CACHE];
}

/* The core is at the first instruction of a function that is told of. */
static void tell_call(struct core *core)
{
    const struct record_options *o = &core->cores->options.record->options;
    struct record_thread *thread = core->thread;
    struct record_call *call = &thread->call;
    if (call->told || !thread->frame_count) return;
    *call = (struct record_call){.told = core->path->function->told,
                                 .frame = thread->frame_count,
                                 .back = core->regs->lr,
                                 .caller = thread->frames[thread->frame_count - 1].caller,
                                 .mem = core->mem};
    memcpy(call->argument, &core->regs->gpr[3], sizeof call->argument);
    o->called(o->context, call);
}

/* Frames have gone, and perhaps the call that is told of with them. */
static void end_call(struct core *core, bool returned)
{
    const struct record_options *o = &core->cores->options.record->options;
    struct record_thread *thread = core->thread;
    if (!thread->call.told || thread->call.frame <= thread->frame_count) return;
    struct record_call call = thread->call;
    thread->call.told = 0;
    if (returned && call.frame == thread->frame_count + 1) o->returned(o->context, &call, core->regs->gpr[3]);
}

void core_record_call(struct core *core, uint32_t to)
{
    struct record_path *from = core->path;
    struct way *way = way_of(core->cores->options.record, from, to);
    if (to == core->regs->lr) return; /* how position-independent code finds itself */
    if (way->from != from || way->to != to) {
        struct record_path *path = find_callee(core, from, core->code, to);
        if (!path) return;
        *way = (struct way){from, path, to};
    }
    (void)push(core->thread, from, core->regs->lr, core->regs->gpr[1]);
    move(core, way->path);
    core->path->calls++;
    if (core->path->function->told) tell_call(core);
}

static void return_through(struct core *core, size_t frame)
{
    core->thread->frame_count = frame;
    move(core, core->thread->frames[frame].caller);
}

void core_record_return(struct core *core, uint32_t to)
{
    const struct record_thread *thread = core->thread;
    uint32_t sp = core->regs->gpr[1];
    for (size_t i = thread->frame_count; i-- > 0;)
        if (thread->frames[i].back == to && thread->frames[i].sp == sp) {
            return_through(core, i);
            end_call(core, true);
            return;
        }
    /* Not a return, or one to somewhere else: seen when that is entered. */
}

/* Whether the core has gone back to a function that called. */
static bool unwind(struct core *core, const struct record_function *function)
{
    const struct record_thread *thread = core->thread;
    uint32_t sp = core->regs->gpr[1];
    for (size_t i = thread->frame_count; i-- > 0;)
        if (thread->frames[i].sp == sp && thread->frames[i].caller->function == function) {
            return_through(core, i);
            return true;
        }
    for (size_t i = thread->frame_count; i-- > 0 && thread->frames[i].sp < sp;)
        return_through(core, i);
    return core->path->function == function;
}

void core_record_enter(struct core *core, struct block *block)
{
    struct record *record = core->cores->options.record;
    if (!block->function) name_block(core, core->code, block, false);
    struct record_function *function = block->function;
    if (core->path->kind == RECORD_SIGNAL && core->path->function != function)
        return_through(core, core->thread->frame_count - 1);
    if (core->path->function == function) return;
    bool back = block->pc != function->low && unwind(core, function);
    end_call(core, false);
    if (back) return;
    struct record_path *path = core->path;
    struct way *way = way_of(record, path, block->pc + 1);
    path->function->callee = function;
    function->stub |= path->function->stub && is_stub_too(block);
    if (way->from != path || way->to != block->pc + 1 || way->path->function != function)
        *way = (struct way){path, callee_get(record, path->parent ? path->parent : path, function), block->pc + 1};
    struct record_path *to = way->path;
    to->calls += block->pc == function->low && function->symbol != path->symbol; /* its cold part is no call */
    move(core, to);
    if (function->told && block->pc == function->low) tell_call(core);
}

/* --- Threads ------------------------------------------------------------------------------------------------------
 */

static struct record_thread *thread_find(const struct record *record, int tid)
{
    struct record_thread *thread = record->threads;
    while (thread && thread->tid != tid)
        thread = thread->next;
    return thread;
}

static struct record_thread *thread_add(struct record *record, int pid, int tid)
{
    struct record_thread *thread = base_calloc(1, sizeof *thread);
    *thread = (struct record_thread){.pid = pid, .tid = tid, .next = record->threads};
    return record->threads = thread;
}

/* The core that has the thread at hand, or NULL. */
static struct core *core_of(struct cores *cores, const struct record_thread *thread)
{
    for (unsigned i = 0; i < cores->count; i++)
        if (cores->core[i].thread == thread && cores->core[i].path) return &cores->core[i];
    return NULL;
}

/* It is the thread's again to say where it is; the core may come back to it. */
static void take_from_core(struct core *core)
{
    settle(core);
    core->thread->path = core->path;
    core->path = NULL;
}

/* Another program, or none yet: at its root. */
static void start_program(struct record *record, struct record_thread *thread, struct mem *mem, unsigned core)
{
    const void *symbol = record->options.program(record->options.context, mem);
    thread->mem = mem;
    thread->frame_count = 0;
    thread->call.told = 0;
    thread->core = core;
    thread->path = root_get(record, thread, core, symbol);
}

static void change_core(struct record *record, struct record_thread *thread, unsigned core)
{
    thread->core = core;
    thread->path = twin(record, thread->path, thread, core);
    for (size_t i = 0; i < thread->frame_count; i++) {
        struct record_frame *frame = &thread->frames[i];
        frame->caller = twin(record, frame->caller, thread, core);
        if (frame->region) frame->region = twin(record, frame->region, thread, core);
    }
}

void record_switch_thread(struct cores *cores, unsigned number, int pid, int tid)
{
    struct record *record = cores->options.record;
    struct core *core = &cores->core[number];
    struct record_thread *thread = thread_find(record, tid);
    if (!thread) thread = thread_add(record, pid, tid);
    struct core *before = core_of(cores, thread);
    if (core->path) take_from_core(core);
    if (before && before->path) take_from_core(before);
    if (!thread->path) start_program(record, thread, core->mem, number);
    if (thread->core != number) change_core(record, thread, number);
    core->thread = thread;
    core->path = thread->path;
    path_grow(core->path);
    core->path_counts = core->path->counts;
    core->path_since = core->cycles - core->idle;
    core->path_crossings = core->crossings;
}

void record_fork_thread(struct cores *cores, int from, int pid, int tid)
{
    struct record *record = cores->options.record;
    const struct record_thread *parent = thread_find(record, from);
    if (!parent) return;
    const struct core *core = core_of(cores, parent);
    struct record_thread *thread = thread_add(record, pid, tid);
    thread->core = parent->core;
    thread->path = twin(record, core ? core->path : parent->path, thread, parent->core);
    thread->frames = base_calloc(parent->frame_count, sizeof *thread->frames);
    thread->frame_count = thread->frame_capacity = parent->frame_count;
    if (parent->frame_count) memcpy(thread->frames, parent->frames, parent->frame_count * sizeof *thread->frames);
    change_core(record, thread, parent->core);
}

/* Before and behind core_run. A thread that comes with other memory has begun another program. */
void core_record_begin(struct core *core)
{
    struct record_thread *thread = core->thread;
    if (!thread) return;
    if (!core->path) record_switch_thread(core->cores, core->number, thread->pid, thread->tid);
    if (thread->mem == core->mem) return;
    bool forked = !thread->mem;
    thread->mem = core->mem;
    if (forked) return;
    settle(core);
    start_program(core->cores->options.record, thread, core->mem, core->number);
    core->path = thread->path;
    core->path_counts = NULL;
}

void core_record_end(struct core *core)
{
    if (core->path) settle(core);
}

/* A part of a block was done, instead of all of it, or something besides blocks. */
uint64_t *core_record_fold(struct core *core, uint32_t pc, const uint32_t *words, unsigned count)
{
    struct record_path *path = core->path;
    const struct record_block part = {.pc = pc, .count = (uint16_t)count, .words = words};
    if (count && path->function != &core->cores->options.record->nowhere) {
        uint32_t index = block_index(path->function, &part);
        path_grow(path);
        core->path_counts = path->counts;
        path->counts[index]++;
    }
    if (!path->folded) path->folded = base_calloc(CORE_SIGNAL_COUNT, sizeof *path->folded);
    return path->folded;
}

/* --- Signals and regions ----------------------------------------------------------------------------------------- */

/* Where a thread is, and going somewhere else. */
static struct record_path *thread_path(struct cores *cores, const struct record_thread *thread)
{
    const struct core *core = core_of(cores, thread);
    return core ? core->path : thread->path;
}

static void thread_move(struct cores *cores, struct record_thread *thread, struct record_path *to)
{
    struct core *core = core_of(cores, thread);
    thread->path = to;
    if (core) move(core, to);
}

void record_signal(struct cores *cores, int tid, const struct core_regs *regs, struct mem *mem, const void *symbol)
{
    struct record *record = cores->options.record;
    struct record_thread *thread = thread_find(record, tid);
    if (!thread || !thread->path) return; /* it has not run yet: the handler is where it begins */
    struct record_path *from = thread_path(cores, thread);
    struct code *code = code_of(cores, mem);
    const struct core *core = &cores->core[thread->core];
    uint32_t back = regs->lr & ~UINT32_C(3);
    struct block *way_back = code_block(code, back);
    if (!way_back) return;
    if (!way_back->function) name_block(core, code, way_back, true);
    struct record_path *between = child_get(record, from, RECORD_SIGNAL, way_back->function, symbol);
    struct record_path *handler = find_callee(core, between, code, regs->pc);
    if (!handler) return;
    (void)push(thread, from, BACK_NEVER, regs->gpr[1]);
    (void)push(thread, between, back, regs->gpr[1]);
    between->calls++;
    handler->calls++;
    path_grow(between);
    thread_move(cores, thread, handler);
}

/* The path `levels` calls further up. */
static struct record_path **path_up(struct core *core, unsigned levels)
{
    struct record_thread *thread = core->thread;
    if (!levels) return &core->path;
    return levels <= thread->frame_count ? &thread->frames[thread->frame_count - levels].caller : NULL;
}

const void *record_function_up(struct cores *cores, unsigned core, unsigned levels)
{
    struct record_path **path = path_up(&cores->core[core], levels);
    return path ? (*path)->function->symbol : NULL;
}

static bool region_begin(struct core *core, const void *symbol, unsigned levels)
{
    struct record *record = core->cores->options.record;
    struct record_thread *thread = core->thread;
    struct record_path **at = path_up(core, levels), *from = at ? *at : NULL;
    if (!from) return false;
    struct record_path *region = child_get(record, from, RECORD_REGION, &record->nowhere, symbol);
    struct record_path *inside = child_get(record, region, RECORD_INSIDE, from->function, from->function->symbol);
    uint32_t sp = levels ? thread->frames[thread->frame_count - levels].sp : core->regs->gpr[1];
    region->calls++;
    (void)push(thread, from, BACK_NEVER, sp);
    if (thread->frame_count <= levels) return false; /* all was dropped */
    struct record_frame *frame = &thread->frames[thread->frame_count - 1 - levels];
    memmove(frame + 1, frame, levels * sizeof *frame);
    *frame = (struct record_frame){.caller = from, .region = region, .back = BACK_NEVER, .sp = sp};
    if (levels)
        frame[1].caller = inside;
    else
        move(core, inside);
    return true;
}

static bool region_end(struct core *core, const void *symbol, unsigned levels)
{
    struct record_thread *thread = core->thread;
    if (levels > thread->frame_count) return false;
    size_t end = thread->frame_count - levels, at = end;
    while (at && thread->frames[at - 1].region && thread->frames[at - 1].region->symbol != symbol)
        at--; /* one inside it that was left open */
    if (!at || !thread->frames[at - 1].region) return false;
    struct record_path *to = thread->frames[--at].caller;
    memmove(&thread->frames[at], &thread->frames[end], levels * sizeof *thread->frames);
    thread->frame_count = at + levels;
    if (levels)
        thread->frames[at].caller = to;
    else
        move(core, to);
    return true;
}

bool record_region(struct cores *cores, unsigned number, bool begin, const void *symbol, unsigned levels)
{
    struct core *core = &cores->core[number];
    if (!core->thread) return false;
    return begin ? region_begin(core, symbol, levels) : region_end(core, symbol, levels);
}
