/* Stops a core exactly at the instruction that reaches what is watched (struct core_watch).
 *
 * Far from it the core runs at full speed, up to a cycle before which nothing can be reached: no
 * sum grows by more than so much in a cycle. Close to it, blocks run one at a time. Instructions
 * raise their signals statically, so the one that reaches a sum is known before its block runs, and
 * the block is cut behind it (core_cut.c).
 *
 * What memory does is not known before, but only accesses to the memory hierarchy do it. The
 * hierarchy counts them down, calls back when the room is used up, and the core is cut behind that
 * access if something was reached. That is no slower, however close it is. Sums of both kinds have
 * a room of all that raises them (struct core_room): of accesses, of other signals, of cycles. What
 * is left is looked at when one part is used up.
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

/* How much of it at most an instruction raises, and at most two issue in a cycle. None is a load
 * and a store. */
uint64_t core_most_raised(uint64_t signals)
{
    static const uint64_t flops = UINT64_C(1) << CORE_SIGNAL_FP_FLOPS,
                          operations = UINT64_C(1) << CORE_SIGNAL_FP_OPERATIONS,
                          either = UINT64_C(1) << CORE_SIGNAL_LOAD | UINT64_C(1)
                                                                         << CORE_SIGNAL_STORE;
    return (uint64_t)__builtin_popcountll(signals) + (signals & flops ? 3 : 0) +
           (signals & operations ? 1 : 0) - ((signals & either) == either);
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

/* The watched sums, and behind them the room's, if it has one. */
static unsigned sums_of(const struct core *core)
{
    return core->watch->count + (core->room.signals != 0);
}

/* Whether `remaining` has to look because something of its room is used up. */
static bool room_is_used(const struct core *core)
{
    const struct core_watch *watch = core->watch;
    return (core->room.signals && !watch->sums[watch->count].left) ||
           core->cycles >= core->room_until;
}

/* Takes what was executed off the sums; true when a watched one is reached. */
static bool count_down(struct core *core, const struct block *block, unsigned from, unsigned done)
{
    struct core_watch *watch = core->watch;
    uint64_t did[CORE_SIGNAL_COUNT];
    bool whole = from == 0 && done == block->count, reached = false;
    unsigned sums = sums_of(core);
    if (sums && !whole) weigh(block, from, done, did);
    for (unsigned w = 0; w < sums; w++) {
        uint64_t signals = watch->sums[w].signals;
        bool used =
            count_down_one(watch, w, whole ? sum_of_block(block, signals) : sum_of(did, signals));
        reached |= used && w < watch->count;
    }
    return reached;
}

/* --- What memory does ------------------------------------------------------------------------ */

void core_count_accesses(struct core *core, uint64_t accesses)
{
    core->accesses_set = core->cores->accessed ? 1 : accesses;
    cache_count_accesses(core->cores->options.cache, core->number, core->accesses_set);
}

static const struct core_room any_room = {.accesses = UINT64_MAX,
                                          .mixed = UINT64_MAX,
                                          .crossings = UINT64_MAX,
                                          .raises = UINT64_MAX,
                                          .cycles = UINT64_MAX};

static void take_room(struct core *core, const struct core_room *room)
{
    struct core_watch *watch = core->watch;
    core->room = *room;
    watch->sums[watch->count].signals = room->signals;
    watch->sums[watch->count].left = room->raises;
    core->room_crossings = room->crossings < UINT64_MAX - core->crossings
                               ? core->crossings + room->crossings
                               : UINT64_MAX;
    uint64_t end = UINT64_MAX - core->cycles;
    core->room_until = room->cycles < end ? core->cycles + room->cycles : UINT64_MAX;
}

/* An access takes less than 2^24 cycles, 20 ms: no unit of the hierarchy is booked so far ahead. */
enum { ACCESS_TAKES_LOG = 24 };

static void set_accesses(struct core *core, uint64_t accesses)
{
    uint64_t left = core->room_until - core->cycles;
    if (core->room.mixed < accesses) accesses = core->room.mixed;
    if (core->room_crossings - core->crossings < accesses)
        accesses = core->room_crossings - core->crossings;
    if (core->room_until != UINT64_MAX && left >> ACCESS_TAKES_LOG < accesses)
        accesses = left >> ACCESS_TAKES_LOG;
    core_count_accesses(core, accesses ? accesses : 1);
}

/* Looks at everything else; the hierarchy counts accesses down from what is left. `inside`: within
 * a block, whose instructions are all counted already. */
static bool look(struct core *core, bool inside)
{
    const struct core_watch *watch = core->watch;
    struct core_room room = any_room;
    if (watch->remaining && !watch->remaining(watch->context, inside, &room)) return false;
    if (!inside) take_room(core, &room);
    set_accesses(core, room.accesses);
    return true;
}

/* Takes the accesses that were made off the room; true: `remaining` has to look at all. Within a
 * block, time is that of the whole block, so not too early. */
static bool mixed_is_used(struct core *core, uint32_t stall)
{
    if (core->cycles + stall >= core->room_until || core->crossings >= core->room_crossings)
        return true;
    if (core->room.mixed == UINT64_MAX) return false;
    core->room.mixed -=
        core->accesses_set < core->room.mixed ? core->accesses_set : core->room.mixed;
    return core->room.mixed == 0;
}

bool core_room_used(void *context, unsigned number, uint32_t stall)
{
    struct cores *cores = context;
    struct core *core = &cores->core[number];
    bool mixed = core->watch && mixed_is_used(core, stall);
    if (cores->accessed) {
        cores->accessed(cores->accessed_context, number);
        core_count_accesses(core, 1);
    }
    if (!core->watch) return false;
    if (core->room.accesses == UINT64_MAX) { /* only memory raises none */
        set_accesses(core, UINT64_MAX);
    } else if (!look(core, true)) {
        core_stop_behind(core);
    }
    if (mixed && !core->stopping) {
        core_stop_behind(core);
        core->only_looks = true;
    }
    return core->stopping;
}

void core_stop_behind(struct core *core)
{
    core->only_looks = false;
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
    uint64_t cycles = UINT64_MAX;
    if (core->room_until != UINT64_MAX)
        cycles = beyond(core->room_until, core->cycles + BLOCK_TAKES);
    for (unsigned w = 0; w < sums_of(core); w++) {
        uint64_t most = core_most_raised(watch->sums[w].signals);
        uint64_t safe = beyond(watch->sums[w].left, most * BLOCK_OPS) / (2 * most);
        if (safe < cycles) cycles = safe;
    }
    if (watch->cycle) {
        uint64_t safe = beyond(watch->cycle, core->cycles + BLOCK_TAKES);
        if (safe < cycles) cycles = safe;
    }
    uint64_t end = UINT64_MAX - core->cycles;
    return cycles < end ? cycles : end;
}

/* Takes off what was done since the sums were last right. */
static void catch_up(struct core *core)
{
    struct core_watch *watch = core->watch;
    unsigned sums = sums_of(core);
    if (sums) core_fold_counts(core);
    for (unsigned w = 0; w < sums; w++)
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
        if (room_is_used(core) && !look(core, false)) core->stopping = true;
    }
    uint64_t cycles = core->stopping ? 0 : safe_cycles(core);
    if (!cycles) return core->cycles;
    if (sums_of(core) && !folded) core_fold_counts(core);
    for (unsigned w = 0; w < sums_of(core); w++)
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
    uint64_t end = at->start + at->block->cycles;
    if (core->stopping || core->room_until <= end || (watch->cycle && watch->cycle <= end))
        return at->from + 1;
    for (unsigned w = 0; w < sums_of(core); w++) {
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
    bool reached = count_down(core, at.block, at.from, done) ||
                   (watch->cycle && core->cycles >= watch->cycle),
         cut_for_room = count < at.block->count && watch->remaining;
    if (core->only_looks) core->stopping = false;
    if ((core->only_looks || cut_for_room || room_is_used(core)) && !look(core, false))
        reached = true;
    core->only_looks = false;
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

/* The core has stopped far from anything, for `remaining` to look: true if it goes on. */
static bool goes_on(struct core *core, struct core_exit *exit)
{
    if (!core->only_looks) return false;
    core->only_looks = false;
    if (core->watch->lagging) catch_up(core);
    if (!look(core, false)) return false;
    core->stopping = false;
    exit->reason = CORE_BUDGET;
    core_cut_resume(core);
    return true;
}

/* What a room was good for depends on what is left of all of it, so it is not renewed in part. */
static bool look_first(struct core *core)
{
    if (core->inside.block) {
        if (core->room.mixed != UINT64_MAX) core->room.mixed = 1;
        return look(core, true);
    }
    if (core->watch->lagging && (core->room.signals || core->room_until != UINT64_MAX))
        catch_up(core);
    return look(core, false);
}

void core_run_watched(struct core *core, uint64_t limit, struct core_exit *exit)
{
    const core_interpreter interpret = core_interpreter_of(&core->cores->options);
    if (!look_first(core)) core->stopping = true;
    while (exit->reason == CORE_BUDGET && (core->cycles < limit || core->inside.block)) {
        if (core->inside.block && core->watch->lagging && !core->stopping) /* still safe */
            (void)interpret(core, 0, exit);
        else
            run_far_or_close(core, limit, exit);
        core->access_done = false;
        if (core->stopping && exit->reason == CORE_BUDGET) exit->reason = CORE_WATCH;
        if (exit->reason == CORE_WATCH && !goes_on(core, exit)) core->stopping = false;
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
    core->room = any_room;
    core->room_crossings = UINT64_MAX;
    core->room_until = watch && watch->remaining ? 0 : UINT64_MAX; /* not known yet */
    core->stopping = core->only_looks = false;
    core_count_accesses(core, UINT64_MAX);
}
