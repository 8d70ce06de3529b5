/* Stopping a core exactly at an event: blocks are run one at a time, and a block in which a watched sum would be
 * reached is cut behind the instruction that reaches it. Slower than running on, and only done while something is
 * watched.
 *
 * What instructions raise is known beforehand, so the cut is right before the block runs. What memory does is not: with
 * `crossed`, every instruction is a block of its own, and the question is asked behind each.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "core/core_impl.h"

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
    if (instructions) (void)block_weigh(block->words, instructions, counts);
}

/* How many instructions of the block may run: up to and including the first that reaches a watched sum. */
static unsigned allowed(const struct core_watch *watch, const struct block *block)
{
    uint64_t counts[CORE_SIGNAL_COUNT];
    unsigned count = watch->crossed ? 1 : block->count;
    for (unsigned w = 0; w < watch->count; w++) {
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
static void run_block(struct core *core, struct block *block, unsigned count, struct core_exit *exit)
{
    struct block **place = &core->code->pages[block->pc / MEM_PAGE][block->pc % MEM_PAGE / 4];
    struct block *cut = count < block->count ? block_cut(core->code, block, count) : NULL;
    if (cut) *place = cut;
    if (core->cores->options.cache)
        (void)core_interpret_cached(core, core->cycles + 1, exit);
    else
        (void)core_interpret(core, core->cycles + 1, exit);
    if (!cut) return;
    /* The page may be gone, if the block changed its own code; then the cut is buried with it,
     * and the block must be, too. */
    struct block **page = core->code->pages[block->pc / MEM_PAGE];
    if (page && page[block->pc % MEM_PAGE / 4] == cut) {
        page[block->pc % MEM_PAGE / 4] = block;
        block_bury(core->cores, cut);
    } else {
        block_bury(core->cores, block);
    }
}

/* Takes what was executed off the watched sums; true when one is reached. */
static bool count_down(struct core_watch *watch, const uint64_t *did)
{
    bool reached = false;
    for (unsigned w = 0; w < watch->count; w++) {
        uint64_t done = sum_of(did, watch->sums[w].signals);
        watch->sums[w].left -= done < watch->sums[w].left ? done : watch->sums[w].left;
        reached |= watch->sums[w].left == 0;
    }
    return reached || (watch->crossed && watch->crossed(watch->context));
}

/* What a block did, whole, cut or up to a fault: the instructions from its start to where the core stands. */
static unsigned executed(const struct core *core, const struct block *block, unsigned count,
                         const struct core_exit *exit)
{
    bool faulted = exit->reason != CORE_BUDGET && exit->reason != CORE_SYSCALL && exit->reason != CORE_CALLTHRU;
    return faulted ? (core->regs->pc - block->pc) / 4 : count;
}

void core_run_watched(struct core *core, uint64_t limit, struct core_exit *exit)
{
    uint64_t did[CORE_SIGNAL_COUNT];
    while (exit->reason == CORE_BUDGET && core->cycles < limit) {
        struct block *block = code_block(core->code, core->regs->pc);
        if (!block) {
            (void)core_interpret(core, core->cycles + 1, exit); /* tells the fault */
            return;
        }
        unsigned count = allowed(core->watch, block);
        run_block(core, block, count, exit);
        weigh(block, executed(core, block, count, exit), did);
        if (count_down(core->watch, did) && exit->reason == CORE_BUDGET) exit->reason = CORE_WATCH;
    }
}

void core_set_watch(struct core *core, struct core_watch *watch)
{
    core->watch = watch;
}
