/* Registers of devices in a program's memory: which instructions access them, and how these are
 * done from outside. */
#include "machine/isa/isa.h"
#include "machine/node/node.h"

static bool is_load(const struct isa_row *row)
{
    return row->klass == ISA_CLASS_LOAD || row->klass == ISA_CLASS_FP_LOAD_DOUBLE;
}

/* Loads and stores of words of GPRs and doublewords of FPRs are what registers take. */
static bool decode(uint32_t word, const struct isa_row *row, const struct core_regs *regs,
                   struct node_access *access)
{
    bool floating =
        row->klass == ISA_CLASS_FP_LOAD_DOUBLE || row->klass == ISA_CLASS_FP_STORE_DOUBLE;
    bool store = row->klass == ISA_CLASS_STORE || row->klass == ISA_CLASS_FP_STORE_DOUBLE;
    uint32_t not_plain = ISA_REVERSED | ISA_RESERVATION | ISA_MULTIPLE | ISA_S_READ | ISA_S_WRITE;
    access->load = is_load(row);
    access->width = floating ? 8 : 4;
    access->value = floating ? regs->fpr[isa_rt(word)] : regs->gpr[isa_rt(word)];
    return (access->load || store) && !(row->flags & not_plain) && row->size == access->width;
}

bool node_device(void *context, unsigned core, struct core_regs *regs, struct mem *mem,
                 uint32_t address)
{
    struct chil_run *run = context;
    struct node_access access = {.address = address};
    uint32_t word;
    enum isa_id id = mem_get32(mem, regs->pc, &word) ? isa_decode(word) : ISA_ILLEGAL;
    if (id == ISA_ILLEGAL) return false;
    const struct isa_row *row = isa_row(id);
    struct core *at = cores_get(run->cores, core);
    struct core_step step = {.cycle = core_cycles(at), .pc = regs->pc, .word = word};
    bool of_monitor = address / MEM_PAGE == NODE_MONITOR_BASE / MEM_PAGE;
    (void)core_access(regs, word, &step);
    if (!decode(word, row, regs, &access)) return false;
    if (!(of_monitor ? node_monitor_access : node_upc_access)(run, core, &access)) return false;
    if (access.load && access.width == 8) regs->fpr[isa_rt(word)] = access.value;
    if (access.load && access.width == 4) regs->gpr[isa_rt(word)] = (uint32_t)access.value;
    if (row->flags & ISA_UPDATE) regs->gpr[isa_ra(word)] = address;
    regs->pc += 4;
    core_retire(at, step.pc, word, cache_device(run->cache, core, !access.load, core_cycles(at)));
    node_trace_retired(run, core, &step);
    if (!of_monitor) node_upc_accessed(run, core, &access);
    return true;
}
