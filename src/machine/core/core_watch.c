/* Stops a core exactly at the instruction that reaches a watched count (struct core_watch).
 *
 * Near the count, blocks run one at a time, and a block in which a watched sum would be reached is
 * cut behind the instruction that reaches it. The cut is known before the block runs, since
 * instructions raise their signals statically. What memory does is not known before: with
 * `remaining`, every instruction is a block of its own, and `remaining` is called behind each.
 *
 * Far from every count the core runs at full speed: no sum grows by more than MOST in a cycle, so
 * nothing can be reached for a computed number of cycles.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "machine/core/core_impl.h"

static uint64_t sum_of(const uint64_t *counts, uint64_t signals)
{
    uint64_t sum = 0;
    for (; signals; signals &= signals - 1)
        sum += counts[__builtin_ctzll(signals)];
    return sum;
}

static void weigh(const struct block *block, unsigned instructions, uint64_t *counts)
{
    for (unsigned i = 0; i < CORE_SIGNAL_COUNT; i++)
        counts[i] = 0;
    for (unsigned w = 0; instructions == block->count && w < block->weight_count; w++)
        counts[block->weights[w].signal] = block->weights[w].count;
    if (instructions && instructions < block->count)
        (void)block_weigh(block->words, instructions, counts);
}

/* A sum's part in a whole block. */
static uint64_t sum_of_block(const struct block *block, uint64_t signals)
{
    uint64_t sum = 0;
    for (unsigned w = 0; w < block->weight_count; w++)
        if (signals >> block->weights[w].signal & 1) sum += block->weights[w].count;
    return sum;
}

/* How many instructions of the block may run: up to and including the first that reaches a watched
 * sum. */
static unsigned allowed(const struct core_watch *watch, const struct block *block, uint64_t cycles)
{
    uint64_t counts[CORE_SIGNAL_COUNT];
    bool single = watch->remaining || (watch->cycle && watch->cycle < cycles + block->cycles);
    unsigned count = single ? 1 : block->count;
    for (unsigned w = 0; w < watch->count; w++) {
        if (sum_of_block(block, watch->sums[w].signals) < watch->sums[w].left) continue;
        weigh(block, count, counts);
        while (count > 1 && sum_of(counts, watch->sums[w].signals) >= watch->sums[w].left) {
            weigh(block, count - 1, counts);
            if (sum_of(counts, watch->sums[w].signals) < watch->sums[w].left) break;
            count--;
        }
    }
    return count;
}

/* Runs the first `count` instructions of the block at pc, or all of it. */
static void run_block(struct core *core, struct block *block, unsigned count,
                      struct core_exit *exit)
{
    struct block **place = &core->code->pages[block->pc / MEM_PAGE][block->pc % MEM_PAGE / 4];
    struct block *cut = count < block->count ? block_cut(core->code, block, count) : NULL;
    if (cut) *place = cut;
    (void)core_interpreter_of (&core->cores->options)(core, core->cycles + 1, exit);
    if (!cut) return;
    /* The page may be gone, if the block changed its own code; then the cut is buried with it,
     * and the block must be, too. */
    struct block **page = core->code->pages[block->pc / MEM_PAGE];
    if (page && page[block->pc % MEM_PAGE / 4] == cut) {
        page[block->pc % MEM_PAGE / 4] = block;
        block_invalidate(core->cores, cut);
    } else {
        block_invalidate(core->cores, block);
    }
}

/* Takes what was executed off the watched sums; true when something is reached. */
static bool count_down(const struct core *core, const uint64_t *did)
{
    struct core_watch *watch = core->watch;
    bool reached = watch->cycle && core->cycles >= watch->cycle;
    for (unsigned w = 0; w < watch->count; w++) {
        uint64_t done = sum_of(did, watch->sums[w].signals);
        watch->sums[w].left -= done < watch->sums[w].left ? done : watch->sums[w].left;
        reached |= watch->sums[w].left == 0;
    }
    return reached || (watch->remaining && watch->remaining(watch->context) == 0);
}

/* What a block did, whole, cut or up to a fault: the instructions from its start to where the core
 * stands. */
static unsigned executed(const struct core *core, const struct block *block, unsigned count,
                         const struct core_exit *exit)
{
    bool faulted = exit->reason != CORE_BUDGET && exit->reason != CORE_SYSCALL &&
                   exit->reason != CORE_CALLTHRU;
    return faulted ? (core->regs->pc - block->pc) / 4 : count;
}

/* --- Far from it ----------------------------------------------------------------------------- */

/* Two instructions issue in a cycle, each raises a signal of its class, a pipe's, a few sums, and
 * at most four flops: no sum grows by more than MOST in a cycle. A core stops between blocks, so a
 * block more may run than the cycles say: what its instructions raise, and what its accesses take
 * when memory is slow. */
enum { MOST = 32, BLOCK_RAISES = BLOCK_OPS * MOST / 2, BLOCK_TAKES = BLOCK_OPS * 128 };

static uint64_t beyond(uint64_t left, uint64_t margin)
{
    return left > 2 * margin ? left - margin : 0;
}

/* For how many cycles nothing can be reached. */
static uint64_t safe_cycles(const struct core *core)
{
    const struct core_watch *watch = core->watch;
    uint64_t cycles = UINT64_MAX - core->cycles;
    for (unsigned w = 0; w < watch->count; w++) {
        uint64_t safe = beyond(watch->sums[w].left, BLOCK_RAISES) / MOST;
        if (safe < cycles) cycles = safe;
    }
    if (watch->cycle) {
        uint64_t safe =
            watch->cycle > core->cycles ? beyond(watch->cycle - core->cycles, BLOCK_TAKES) : 0;
        if (safe < cycles) cycles = safe;
    }
    if (watch->remaining && cycles) {
        uint64_t safe = beyond(watch->remaining(watch->context), BLOCK_TAKES) / MOST;
        if (safe < cycles) cycles = safe;
    }
    return cycles;
}

/* Takes off what was done since the sums were last right. */
static bool catch_up(struct core *core)
{
    struct core_watch *watch = core->watch;
    uint64_t now[CORE_SIGNAL_COUNT], did[CORE_SIGNAL_COUNT];
    core_signal_counts(core, now);
    for (unsigned i = 0; i < CORE_SIGNAL_COUNT; i++)
        did[i] = now[i] - watch->seen[i];
    watch->lagging = false;
    return count_down(core, did);
}

/* Where the core may run to without looking; the sums lag behind meanwhile. */
static uint64_t safe_until(struct core *core)
{
    struct core_watch *watch = core->watch;
    if (watch->lagging && core->cycles < watch->safe) return watch->safe;
    if (watch->lagging) (void)catch_up(core);
    uint64_t cycles = safe_cycles(core);
    if (!cycles) return core->cycles;
    core_signal_counts(core, watch->seen);
    watch->lagging = true;
    return watch->safe = core->cycles + cycles;
}

/* --- Close to it ----------------------------------------------------------------------------- */

static void run_to(struct core *core, struct core_exit *exit)
{
    uint64_t did[CORE_SIGNAL_COUNT];
    struct block *block = code_block(core->code, core->regs->pc);
    if (!block) {
        (void)core_interpreter_of (&core->cores->options)(core, core->cycles + 1,
                                                          exit); /* sets the fault */
        return;
    }
    unsigned count = allowed(core->watch, block, core->cycles);
    run_block(core, block, count, exit);
    weigh(block, executed(core, block, count, exit), did);
    if (count_down(core, did) && exit->reason == CORE_BUDGET) exit->reason = CORE_WATCH;
}

void core_run_watched(struct core *core, uint64_t limit, struct core_exit *exit)
{
    while (exit->reason == CORE_BUDGET && core->cycles < limit) {
        uint64_t safe = safe_until(core);
        if (safe > core->cycles)
            (void)core_interpreter_of (&core->cores->options)(core, safe < limit ? safe : limit,
                                                              exit);
        else
            run_to(core, exit);
    }
}

void core_watch_raised(struct core *core, enum core_signal signal)
{
    uint64_t did[CORE_SIGNAL_COUNT] = {0};
    if (core->watch->lagging) return; /* catch_up sees it */
    did[signal] = 1;
    (void)count_down(core, did);
}

void core_set_watch(struct core *core, struct core_watch *watch)
{
    core->watch = watch;
}
