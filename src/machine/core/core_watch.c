/* Stops a core exactly at the instruction that reaches what is watched (struct core_watch).
 *
 * Far from it the core runs at full speed, up to a cycle before which nothing can be reached: no
 * sum grows by more than so much in a cycle. Close to it, blocks run one at a time. Instructions
 * raise their signals statically, so the one that reaches a sum is known before its block runs, and
 * the block is cut behind it (core_cut.c).
 *
 * What memory does is not known before, but only accesses to the memory hierarchy do it. The
 * hierarchy counts them down, calls back when the room is used up, and the core is cut behind that
 * access if something was reached. That is no slower, however close it is. Only sums of both kinds
 * are looked at after each instruction when little is left.
 *
 * Nothing of that changes when anything happens: see core_cut.c.
 */
#include <stdlib.h>

#include "machine/core/core_impl.h"

/* --- Sums ------------------------------------------------------------------------------------ */

/* A sum's part in a whole block. */
static uint64_t sum_of_block(const struct block *block, uint64_t signals)
{
    uint64_t sum = 0;
    for (unsigned w = 0; w < block->weight_count; w++)
        if (signals >> block->weights[w].signal & 1) sum += block->weights[w].count;
    return sum;
}

static uint64_t sum_of(const uint64_t *counts, uint64_t signals)
{
    uint64_t sum = 0;
    for (; signals; signals &= signals - 1)
        sum += counts[__builtin_ctzll(signals)];
    return sum;
}

/* How much of it at most an instruction raises, and at most two issue in a cycle. */
static uint64_t most_of(uint64_t signals)
{
    static const uint64_t flops = UINT64_C(1) << CORE_SIGNAL_FP_FLOPS,
                          operations = UINT64_C(1) << CORE_SIGNAL_FP_OPERATIONS;
    return (uint64_t)__builtin_popcountll(signals) + (signals & flops ? 3 : 0) +
           (signals & operations ? 1 : 0);
}

/* What instructions [from, done) of the block have raised. */
static void weigh(const struct block *block, unsigned from, unsigned done, uint64_t *counts)
{
    uint64_t before[CORE_SIGNAL_COUNT] = {0};
    for (unsigned i = 0; i < CORE_SIGNAL_COUNT; i++)
        counts[i] = 0;
    (void)block_weigh(block->words, from, before);
    (void)block_weigh(block->words, done, counts);
    counts[CORE_SIGNAL_FETCH] = from ? 0 : block_lines(block);
    for (unsigned i = 0; i < CORE_SIGNAL_COUNT; i++)
        counts[i] -= before[i];
}

static bool count_down_one(struct core_watch *watch, unsigned w, uint64_t did)
{
    watch->sums[w].left -= did < watch->sums[w].left ? did : watch->sums[w].left;
    return watch->sums[w].left == 0;
}

/* Takes what was executed off the watched sums; true when one is reached. */
static bool count_down(struct core_watch *watch, const struct block *block, unsigned from,
                       unsigned done)
{
    uint64_t did[CORE_SIGNAL_COUNT];
    bool whole = from == 0 && done == block->count, reached = false;
    if (watch->count && !whole) weigh(block, from, done, did);
    for (unsigned w = 0; w < watch->count; w++) {
        uint64_t signals = watch->sums[w].signals;
        reached |=
            count_down_one(watch, w, whole ? sum_of_block(block, signals) : sum_of(did, signals));
    }
    return reached;
}

/* --- What memory does ------------------------------------------------------------------------ */

void core_count_accesses(const struct core *core, uint64_t accesses)
{
    cache_count_accesses(core->cores->options.cache, core->number,
                         core->cores->accessed ? 1 : accesses);
}

/* Looks at everything else; the hierarchy counts accesses down from what is left. `inside`: within
 * a block, whose instructions are all counted already. */
static bool look(struct core *core, bool inside)
{
    const struct core_watch *watch = core->watch;
    struct core_room room = {UINT64_MAX, UINT64_MAX};
    if (watch->remaining && !watch->remaining(watch->context, inside, &room)) return false;
    if (!inside) core->room = room.instructions;
    core_count_accesses(core, room.accesses);
    return true;
}

bool core_room_used(void *context, unsigned number)
{
    struct cores *cores = context;
    struct core *core = &cores->core[number];
    if (cores->accessed) {
        cores->accessed(cores->accessed_context, number);
        core_count_accesses(core, 1);
    }
    if (!core->watch) return false;
    if (!look(core, true)) core_stop_behind(core);
    return core->stopping;
}

void core_stop_behind(struct core *core)
{
    if (!core->watch || core->stopping) return;
    core->stopping = true;
    if (core->running && !core->in_translated)
        core_stop_after(core, (struct block *)core->access.block,
                        (unsigned)(core->access.op - core->access.block->ops));
}

/* --- Far from it ----------------------------------------------------------------------------- */

/* Cycles before a watched one in which blocks run one at a time: more than a block's schedule. */
enum { BLOCK_TAKES = 1024 };

static uint64_t beyond(uint64_t left, uint64_t margin)
{
    return left > margin ? left - margin : 0;
}

/* For how many cycles nothing can be reached. A core stops between blocks, so a block more may run
 * than the cycles say. */
static uint64_t safe_cycles(const struct core *core)
{
    const struct core_watch *watch = core->watch;
    uint64_t cycles = beyond(core->room, BLOCK_OPS) / 2;
    for (unsigned w = 0; w < watch->count; w++) {
        uint64_t most = most_of(watch->sums[w].signals);
        uint64_t safe = beyond(watch->sums[w].left, most * BLOCK_OPS) / (2 * most);
        if (safe < cycles) cycles = safe;
    }
    if (watch->cycle) {
        uint64_t safe =
            watch->cycle > core->cycles ? beyond(watch->cycle - core->cycles, BLOCK_TAKES) : 0;
        if (safe < cycles) cycles = safe;
    }
    uint64_t end = UINT64_MAX - core->cycles;
    return cycles < end ? cycles : end;
}

/* Takes off what was done since the sums were last right. */
static void catch_up(struct core *core)
{
    struct core_watch *watch = core->watch;
    if (watch->count) core_fold_counts(core);
    for (unsigned w = 0; w < watch->count; w++)
        (void)count_down_one(watch, w,
                             sum_of(core->folded, watch->sums[w].signals) - watch->sums[w].seen);
    watch->lagging = false;
}

/* Where the core may run to without looking; the sums lag behind meanwhile. */
static uint64_t safe_until(struct core *core)
{
    struct core_watch *watch = core->watch;
    if (watch->lagging && core->cycles < watch->safe) return watch->safe;
    bool folded = watch->lagging;
    if (watch->lagging) {
        catch_up(core);
        if (core->room != UINT64_MAX && !look(core, false)) core->stopping = true;
    }
    uint64_t cycles = core->stopping ? 0 : safe_cycles(core);
    if (!cycles) return core->cycles;
    if (watch->count && !folded) core_fold_counts(core);
    for (unsigned w = 0; w < watch->count; w++)
        watch->sums[w].seen = sum_of(core->folded, watch->sums[w].signals);
    watch->lagging = true;
    return watch->safe = core->cycles + cycles;
}

/* --- Close to it ----------------------------------------------------------------------------- */

/* A block that the core is about to run, or to continue. */
struct close {
    struct block *block;
    unsigned from;
    uint64_t start; /* the cycle in which it began */
};

/* How many of the block's instructions may be done before the core looks; at most all. */
static unsigned allowed(const struct core *core, const struct close *at)
{
    const struct core_watch *watch = core->watch;
    unsigned count = at->block->count;
    if (core->stopping || core->room <= count - at->from ||
        (watch->cycle && watch->cycle <= at->start + at->block->cycles))
        return at->from + 1;
    for (unsigned w = 0; w < watch->count; w++) {
        uint64_t signals = watch->sums[w].signals, left = watch->sums[w].left;
        if (sum_of_block(at->block, signals) < left) continue;
        unsigned reached = block_reaches(at->block, at->from, signals, left ? left : 1);
        if (!left) reached = at->from + 1;
        if (reached && reached < count) count = reached;
    }
    return count;
}

/* How many of them are done: all, up to a fault, or up to a store that changed the block. */
static unsigned done_of(const struct core *core, const struct block *block,
                        const struct core_exit *exit)
{
    uint32_t at = (core->regs->pc - block->pc) / 4;
    bool called = exit->reason == CORE_SYSCALL || exit->reason == CORE_CALLTHRU;
    if (exit->reason != CORE_BUDGET && !called) return at;
    bool changed = core->cores->blocks[block->id] != block;
    return changed && at < block->count ? at : block->count;
}

static void run_close(struct core *core, struct core_exit *exit)
{
    const core_interpreter interpret = core_interpreter_of(&core->cores->options);
    struct core_watch *watch = core->watch;
    struct close at = {core->inside.block, core->inside.op, core->cycles};
    bool entered = at.block != NULL;
    if (entered) {
        at.start -= at.block->cycles;
    } else {
        at = (struct close){code_block(core->code, core->regs->pc), 0, core->cycles};
        if (!at.block) {
            (void)interpret(core, core->cycles + 1, exit); /* sets the fault */
            return;
        }
    }
    unsigned count = allowed(core, &at);
    if (count < at.block->count) core_stop_before(core, at.block, count);
    (void)interpret(core, entered ? 0 : core->cycles + 1, exit); /* no block more */
    (void)core_stopped_there(core, 0);
    unsigned done = done_of(core, at.block, exit);
    bool reached = count_down(watch, at.block, at.from, done) ||
                   (watch->cycle && core->cycles >= watch->cycle);
    if (core->room != UINT64_MAX && !look(core, false)) reached = true;
    if (reached) core->stopping = true;
    if (core->stopping || exit->reason != CORE_WATCH) return;
    exit->reason = CORE_BUDGET; /* only to look */
    core_cut_resume(core);
}

static void run_far_or_close(struct core *core, uint64_t limit, struct core_exit *exit)
{
    uint64_t safe = core->inside.block ? 0 : safe_until(core);
    if (safe > core->cycles)
        (void)core_interpreter_of (&core->cores->options)(core, safe < limit ? safe : limit, exit);
    else
        run_close(core, exit);
}

void core_run_watched(struct core *core, uint64_t limit, struct core_exit *exit)
{
    const core_interpreter interpret = core_interpreter_of(&core->cores->options);
    if (!look(core, core->inside.block != NULL)) core->stopping = true;
    while (exit->reason == CORE_BUDGET && (core->cycles < limit || core->inside.block)) {
        if (core->inside.block && core->watch->lagging && !core->stopping) /* still safe */
            (void)interpret(core, 0, exit);
        else
            run_far_or_close(core, limit, exit);
        core->access_done = false;
        if (core->stopping && exit->reason == CORE_BUDGET) exit->reason = CORE_WATCH;
        if (exit->reason == CORE_WATCH) core->stopping = false;
    }
}

void core_watch_raised(struct core *core, enum core_signal signal, uint64_t times)
{
    struct core_watch *watch = core->watch;
    for (unsigned w = 0; w < watch->count && !watch->lagging; w++) /* else catch_up sees it */
        if (watch->sums[w].signals >> signal & 1) (void)count_down_one(watch, w, times);
}

void core_set_watch(struct core *core, struct core_watch *watch)
{
    core->watch = watch;
    core->room = watch && watch->remaining ? 0 : UINT64_MAX; /* not known yet */
    core->stopping = false;
    core_count_accesses(core, UINT64_MAX);
}
