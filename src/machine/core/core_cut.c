/* Stops a core inside a block, behind the instruction that reaches what is watched.
 *
 * A block's time is that of its schedule, which is made for the whole block. A cut changes neither.
 * At a cut, time and counts are those of the instructions that are done; their accesses to memory
 * were made at the block's own time, as always. The rest of the block stays in regs->cut, and when
 * the thread comes back its part of the schedule is added. So a block that was cut, once or after
 * each of its instructions, ends in the same cycle with the same counts as one that was not. If the
 * thread comes back elsewhere (a handler has changed the pc), the rest is not done and not counted.
 *
 * A cut costs nothing until it is made: the decoded instruction before which the core stops gets
 * LABEL_CUT in place of its own label.
 */
#include "machine/core/core_impl.h"

void core_stop_before(struct core *core, struct block *block, unsigned op)
{
    core->patch.block = block;
    core->patch.op = op;
    core->patch.label = block->ops[op].label;
    block->ops[op].label = core->cores->labels[LABEL_CUT];
}

void core_stop_after(struct core *core, struct block *block, unsigned op)
{
    (void)core_stopped_there(core, 0);
    if (op + 1 < block->count)
        core_stop_before(core, block, op + 1);
    else
        core->limit = 0;
}

bool core_stopped_there(struct core *core, unsigned done)
{
    if (!core->patch.block) return false;
    core->patch.block->ops[core->patch.op].label = core->patch.label;
    core->patch.block = NULL;
    return core->patch.op == done;
}

/* Adds the block's entry, or takes it back, without its first `done` instructions and its fetch,
 * which stay counted. Time likewise: the core stands where the last of them has issued. */
static void add_rest(struct core *core, const struct block *block, unsigned done, bool add)
{
    uint64_t part[CORE_SIGNAL_COUNT] = {0}, one = add ? 1 : UINT64_MAX;
    uint32_t issued = done ? block_weigh(block->words, done, part) : 0;
    core->cycles += one * (block->cycles - issued);
    part[CORE_SIGNAL_FETCH] += block_lines(block);
    core->counts[block->id] += one;
    for (unsigned i = 0; i < CORE_SIGNAL_COUNT; i++)
        core->folded[i] -= one * part[i];
    if (!core->path) return;
    uint64_t *folded = core_record_fold(core, 0, NULL, 0);
    core->path_counts[block->index] += one;
    for (unsigned i = 0; i < CORE_SIGNAL_COUNT; i++)
        folded[i] -= one * part[i];
}

void core_cut_block(struct core *core, struct block *block, unsigned done)
{
    core->regs->pc = block->pc + 4 * done;
    add_rest(core, block, done, false);
    core->regs->cut = (struct core_cut){block->pc, CORE_CUT | done};
}

void core_wait_before(struct core *core, struct block *block, unsigned op)
{
    (void)core_stopped_there(core, op);
    core->regs->pc = block->pc + 4 * op;
    core->inside.block = block;
    core->inside.op = op;
}

void core_cut_waiting(struct core *core)
{
    struct block *block = core->inside.block;
    if (!block) return;
    core->inside.block = NULL;
    core_cut_block(core, block, core->inside.op);
    code_free_invalidated(core->cores);
}

void core_cut_resume(struct core *core)
{
    struct core_cut cut = core->regs->cut;
    core->regs->cut = (struct core_cut){0, 0};
    cut.done &= ~CORE_CUT;
    if (core->regs->pc != cut.block + 4 * cut.done) return;
    struct block *block = code_block(core->code, cut.block);
    if (!block || cut.done >= block->count) return;
    if (core->path && core->path->function != block->function) core_record_enter(core, block);
    add_rest(core, block, cut.done, true);
    core->inside.block = block;
    core->inside.op = cut.done;
}
