/* How cores move in the trees of call paths: calls, returns, jumps, threads, signals, regions. */
#include "machine/core/core_record.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "machine/core/core_record_impl.h"

enum { FRAMES_MAX = 1 << 20 };
enum { BACK_NEVER = 1 }; /* no return leads there */

/* --- Moving ---------------------------------------------------------------------------------- */

/* Attributes what was counted since the core entered its path to that path. */
static void attribute(struct core *core)
{
    uint64_t busy = core->cycles - core->idle;
    assert(core->path);
    struct record_counts *ledger = &core->path->now;
    ledger->cycles += busy - core->path_since;
    core->path_since = busy;
    if (!core->touched || core->cores->options.record->options.light) return;
    core->touched = false;
    ledger->crossings += core->crossings - core->path_crossings;
    core->path_crossings = core->crossings;
    cache_attribute(core->cores->options.record->attributor, core->number, &ledger->attribution);
}

/* Selects the path's counts of the current turn. */
static void turn_to(const struct record *record, struct record_path *path)
{
    if (!path->other) path->other = base_calloc(record_turns(record), sizeof *path->other);
    path->other[path->turn] = path->now;
    path->turn = record->turn;
    path->now = path->other[path->turn];
}

/* The core is in this path from now on. */
static inline void enter_path(struct core *core, struct record_path *to)
{
    if (to->turn != core->cores->options.record->turn) turn_to(core->cores->options.record, to);
    if (to->now.capacity < to->function->block_count) record_path_grow(to);
    core->path = to;
    core->path_counts = to->now.counts;
}

static inline void switch_path(struct core *core, struct record_path *to)
{
    attribute(core);
    enter_path(core, to);
}

void record_turn_next(struct cores *cores)
{
    struct record *record = cores->options.record;
    record->turn = (record->turn + 1) % record_turns(record);
    for (unsigned i = 0; i < cores->count; i++)
        if (cores->core[i].path) switch_path(&cores->core[i], cores->core[i].path);
}

static struct record_frame *push(struct record_thread *thread, struct record_path *caller,
                                 uint32_t back, uint32_t sp)
{
    if (thread->frame_count == FRAMES_MAX)
        thread->frame_count = 0; /* calls that never return: the frames are dropped */
    if (thread->frame_count == thread->frame_capacity)
        thread->frames = base_grow(thread->frames, &thread->frame_capacity, thread->frame_count + 1,
                                   sizeof *thread->frames);
    struct record_frame *frame = &thread->frames[thread->frame_count++];
    *frame = (struct record_frame){.caller = caller, .back = back, .sp = sp};
    return frame;
}

/* The function that a call leads to; NULL when there is no code. */
static struct record_function *find_callee(const struct core *core, struct code *code, uint32_t to)
{
    struct block *block = code_block(code, to);
    if (!block) return NULL;
    if (!block->function) record_name_block(core, code, block, true);
    return block->function;
}

static inline struct edge *edge_slot(struct record *record, const struct record_path *from,
                                     uint32_t to, uint32_t back)
{
    uint32_t hash =
        from->number * UINT32_C(0x9E3779B1) + to / 4 + to % 4 + back * UINT32_C(0x85EBCA6B);
    return &record->edges[hash % RECORD_EDGES];
}

/* Looks up the path of a call, or of a jump (its `to` is odd) by a function that `above` called.
 * Edges to functions that threads start with, or that start threads, are not cached. */
static struct edge *edge_find(struct core *core, struct edge *edge, const struct edge *wanted,
                              struct record_path *above, struct record_function *function)
{
    struct record *record = core->cores->options.record;
    uint32_t at = wanted->back == BACK_NEVER ? 0 : wanted->back - 4;
    bool is_start = false;
    struct record_path *below =
        wanted->to & 1 ? NULL : record_starts_take(core, wanted->to, &is_start);
    if (is_start || function->role >= RECORD_FORKS) edge = &record->once;
    *edge = *wanted;
    edge->path = record_callee_get(record, below ? below : above, function, below ? 0 : at);
    edge->site = record_site_get(edge->path, (below ? below : above)->function, below ? 0 : at);
    if (below) edge->path->start = true;
    if (function->role >= RECORD_FORKS &&
        function->symbol != wanted->from->symbol && /* not its cold part */
        (wanted->to & ~UINT32_C(3)) == function->low)
        record_starts_announce(core, edge->path);
    return edge;
}

/* The core is at the first instruction of a function whose calls are reported. */
static void notify_call(struct core *core)
{
    const struct record_options *o = &core->cores->options.record->options;
    struct record_thread *thread = core->thread;
    struct record_call *call = &thread->call;
    if (call->id || !thread->frame_count) return;
    assert(thread->frames);
    *call = (struct record_call){.id = core->path->function->call_id,
                                 .frame = thread->frame_count,
                                 .back = core->regs->lr,
                                 .caller = thread->frames[thread->frame_count - 1].caller,
                                 .mem = core->mem};
    memcpy(call->argument, &core->regs->gpr[3], sizeof call->argument);
    o->called(o->context, call);
}

/* Frames were popped, and perhaps the reported call with them. */
static void end_call(struct core *core, bool returned)
{
    const struct record_options *o = &core->cores->options.record->options;
    struct record_thread *thread = core->thread;
    if (!thread->call.id || thread->call.frame <= thread->frame_count) return;
    struct record_call call = thread->call;
    thread->call.id = 0;
    if (returned && call.frame == thread->frame_count + 1)
        o->returned(o->context, &call, core->regs->gpr[3]);
}

void core_record_call(struct core *core, uint32_t to)
{
    struct record_path *from = core->path;
    const struct edge wanted = {.from = from, .to = to, .back = core->regs->lr};
    struct edge *edge = edge_slot(core->cores->options.record, from, to, wanted.back);
    if (to == wanted.back) return; /* how position-independent code gets its address */
    if (edge->from != from || edge->to != to || edge->back != wanted.back) {
        struct record_function *function = find_callee(core, core->code, to);
        if (!function) return;
        if (function == from->function && to != function->low)
            *edge = wanted; /* within the function, over a word of data: no call */
        else
            edge = edge_find(core, edge, &wanted, from, function);
    }
    if (!edge->path) return;
    (void)push(core->thread, from, wanted.back, core->regs->gpr[1]);
    switch_path(core, edge->path);
    core->path->calls++;
    if (edge->site) edge->site->calls++;
    if (core->path->function->call_id) notify_call(core);
}

static void return_through(struct core *core, size_t frame)
{
    core->thread->frame_count = frame;
    switch_path(core, core->thread->frames[frame].caller);
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
    /* Not a return to a frame: found when the target's block is entered. */
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

/* The target of a stub whose function is not resolved yet: a branch to the resolver. */
static bool is_stub_too(const struct block *block)
{
    enum { B = 18 };
    return block->count == 1 && block->words[0] >> 26 == B && !(block->words[0] & 1);
}

/* Where the function that `caller` called will return to. */
static uint32_t back_from(const struct record_thread *thread, const struct record_path *caller)
{
    if (!thread->frame_count) return BACK_NEVER;
    const struct record_frame *frame = &thread->frames[thread->frame_count - 1];
    return frame->caller == caller ? frame->back : BACK_NEVER;
}

void core_record_enter(struct core *core, struct block *block)
{
    struct record *record = core->cores->options.record;
    if (!block->function) record_name_block(core, core->code, block, false);
    struct record_function *function = block->function;
    if (core->path->kind == RECORD_SIGNAL && core->path->function != function)
        return_through(core, core->thread->frame_count - 1);
    if (core->path->function == function) return;
    bool back = block->pc != function->low && unwind(core, function);
    end_call(core, false);
    if (back) return;
    struct record_path *path = core->path;
    bool runtime =
        path->function->role != RECORD_PLAIN && path->function->symbol != function->symbol;
    struct record_path *above = path->parent && !runtime ? path->parent : path;
    const struct edge wanted = {
        .from = path, .to = block->pc + 1, .back = back_from(core->thread, above)};
    struct edge *edge = edge_slot(record, path, wanted.to, wanted.back);
    path->function->callee = function;
    function->stub |= path->function->stub && is_stub_too(block);
    if (edge->from != path || edge->to != wanted.to || edge->back != wanted.back ||
        edge->path->function != function)
        edge = edge_find(core, edge, &wanted, above, function);
    switch_path(core, edge->path);
    if (function->call_id && block->pc == function->low) notify_call(core);
    if (block->pc != function->low || function->symbol == path->symbol)
        return; /* its cold part is no call */
    core->path->calls++;
    if (edge->site) edge->site->calls++;
}

/* --- Threads --------------------------------------------------------------------------------- */

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

/* The thread leaves the core and keeps its path. */
static void take_from_core(struct core *core)
{
    attribute(core);
    core->thread->path = core->path;
    core->path = NULL;
}

/* Another program, or none yet: at its root. */
static void start_program(struct record *record, struct record_thread *thread, struct mem *mem,
                          unsigned core)
{
    const void *symbol = record->options.program(record->options.context, mem);
    if (thread->mem) record_starts_forget(record, thread->pid);
    thread->mem = mem;
    thread->frame_count = 0;
    thread->call.id = 0;
    thread->core = core;
    thread->path = record_root_get(record, thread, core, symbol);
}

static void change_core(struct record *record, struct record_thread *thread, unsigned core)
{
    thread->core = core;
    thread->path = record_twin(record, thread->path, thread, core);
    for (size_t i = 0; i < thread->frame_count; i++) {
        struct record_frame *frame = &thread->frames[i];
        frame->caller = record_twin(record, frame->caller, thread, core);
        if (frame->region) frame->region = record_twin(record, frame->region, thread, core);
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
    enter_path(core, thread->path);
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
    thread->path = record_twin(record, core ? core->path : parent->path, thread, parent->core);
    thread->frames = base_calloc(parent->frame_count, sizeof *thread->frames);
    thread->frame_count = thread->frame_capacity = parent->frame_count;
    if (parent->frame_count)
        memcpy(thread->frames, parent->frames, parent->frame_count * sizeof *thread->frames);
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
    attribute(core);
    start_program(core->cores->options.record, thread, core->mem, core->number);
    enter_path(core, thread->path);
}

void core_record_end(struct core *core)
{
    if (core->path) attribute(core);
}

/* A part of a block was done, instead of all of it, or something besides blocks. */
uint64_t *core_record_fold(struct core *core, uint32_t pc, const uint32_t *words, unsigned count)
{
    struct record_path *path = core->path;
    const struct record_block part = {.pc = pc, .count = (uint16_t)count, .words = words};
    if (count && path->function != &core->cores->options.record->nowhere) {
        uint32_t index = record_block_index(path->function, &part);
        record_path_grow(path);
        core->path_counts = path->now.counts;
        path->now.counts[index]++;
    }
    if (!path->now.folded)
        path->now.folded = base_calloc(CORE_SIGNAL_COUNT, sizeof *path->now.folded);
    return path->now.folded;
}

/* --- Signals and regions --------------------------------------------------------------------- */

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
    if (core) switch_path(core, to);
}

void record_signal(struct cores *cores, int tid, const struct core_regs *regs, struct mem *mem,
                   const void *symbol)
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
    if (!way_back->function) record_name_block(core, code, way_back, true);
    struct record_path *between =
        record_child_get(record, from, RECORD_SIGNAL, way_back->function, symbol, 0);
    struct record_function *function = find_callee(core, code, regs->pc);
    if (!function) return;
    struct record_path *handler = record_callee_get(record, between, function, 0);
    (void)push(thread, from, BACK_NEVER, regs->gpr[1]);
    (void)push(thread, between, back, regs->gpr[1]);
    between->calls++;
    handler->calls++;
    thread_move(cores, thread, handler);
}

/* The path `levels` calls further up. */
static struct record_path **path_up(struct core *core, unsigned levels)
{
    struct record_thread *thread = core->thread;
    if (!levels) return &core->path;
    return levels <= thread->frame_count ? &thread->frames[thread->frame_count - levels].caller
                                         : NULL;
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
    struct record_path *region =
        record_child_get(record, from, RECORD_REGION, &record->nowhere, symbol, 0);
    struct record_path *inside =
        record_child_get(record, region, RECORD_INSIDE, from->function, from->function->symbol, 0);
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
        switch_path(core, inside);
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
        switch_path(core, to);
    return true;
}

bool record_region(struct cores *cores, unsigned number, bool begin, const void *symbol,
                   unsigned levels)
{
    struct core *core = &cores->core[number];
    if (!core->thread) return false;
    return begin ? region_begin(core, symbol, levels) : region_end(core, symbol, levels);
}
