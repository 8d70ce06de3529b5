/* Instruction traces: the listener gets every instruction when it completes.
 *
 * The interpreter's traced variant calls core_trace_op before every instruction. The instruction is
 * kept with its address, since its registers may change, and passed to the listener at the next
 * call or when the core stops. An instruction that faults is dropped, as it does not count. So the
 * trace of a run has as many instructions as the run counts, and time and counts are the same as
 * without a trace.
 */
#include "machine/core/core_impl.h"

static bool is_cache_op(const struct isa_row *row)
{
    return row->klass == ISA_CLASS_DCACHE_OP || row->klass == ISA_CLASS_ICACHE_OP;
}

static bool is_store(const struct isa_row *row)
{
    return row->klass == ISA_CLASS_STORE ||
           (row->klass >= ISA_CLASS_FP_STORE_SINGLE && row->klass <= ISA_CLASS_FP_STORE_QUAD);
}

static uint32_t bytes_of(const struct core_regs *regs, enum isa_id id, uint32_t word)
{
    const struct isa_row *row = isa_row(id);
    if (!(row->flags & ISA_MULTIPLE)) return row->size;
    if (row->flags & ISA_COUNT_READ) return regs->xer_count;
    return id == ISA_LMW || id == ISA_STMW ? 4 * isa_words_moved(id, word, 0) : isa_nb(word);
}

bool core_access(const struct core_regs *regs, uint32_t word, struct core_step *step)
{
    enum isa_id id = isa_decode(word);
    step->size = 0;
    step->store = step->manages = false;
    if (id == ISA_ILLEGAL) return false;
    const struct isa_row *row = isa_row(id);
    step->manages = is_cache_op(row) && !(row->flags & ISA_PRIVILEGED);
    step->store = is_store(row);
    step->size = step->manages ? 1 << CACHE_GRANULE_BITS : bytes_of(regs, id, word);
    if (!step->size) return false;
    bool update = row->flags & ISA_UPDATE;
    step->address = update || isa_ra(word) ? regs->gpr[isa_ra(word)] : 0;
    if (row->flags & ISA_INDEXED)
        step->address += regs->gpr[isa_rb(word)];
    else if (id != ISA_LSWI && id != ISA_STSWI)
        step->address += (uint32_t)isa_si(word);
    if (step->manages) step->address &= ~(uint32_t)((1 << CACHE_GRANULE_BITS) - 1);
    return true;
}

static void notify(struct core *core)
{
    const struct core_trace *trace = core->cores->options.trace;
    if (core->pending->valid) trace->step(trace->context, core->number, &core->pending->step);
    core->pending->valid = false;
}

void core_trace_op(struct core *core, const struct block *block, unsigned op)
{
    struct core_pending *pending = core->pending;
    notify(core);
    if (op == block->count || !core->cores->options.trace->on)
        return; /* the listener may have switched the trace off */
    if (pending->block != block) block_issue(block, pending->issued);
    pending->block = block;
    pending->step.cycle = core->cycles - block->cycles + pending->issued[op];
    pending->step.pc = block->pc + 4 * op;
    pending->step.word = block->words[op];
    pending->step.path = core->path;
    (void)core_access(core->regs, block->words[op], &pending->step);
    pending->valid = true;
}

void core_trace_begin(struct core *core)
{
    core_trace_op(core, core->access.block, (unsigned)(core->access.op - core->access.block->ops));
}

void core_trace_fault(struct core *core)
{
    core->pending->valid = false;
}

void core_trace_end(struct core *core)
{
    notify(core);
    core->pending->block = NULL;
}
