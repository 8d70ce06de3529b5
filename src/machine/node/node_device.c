/* Completes a load or store of a device's register for the core that stopped before it. */
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

static const struct node_device *find(const struct node *node, uint32_t address)
{
    for (unsigned i = 0; i < OS_DEVICES && node->devices[i]; i++)
        if (node->devices[i]->page / MEM_PAGE == address / MEM_PAGE) return node->devices[i];
    return NULL;
}

static void notify_retired(const struct node *node, unsigned core, const struct core_step *step)
{
    for (unsigned i = 0; i < NODE_ATTACHED && node->listeners[i]; i++)
        if (node->listeners[i]->retired)
            node->listeners[i]->retired(node->listeners[i]->context, core, step);
}

bool node_device_access(void *context, unsigned core, struct core_regs *regs, struct mem *mem,
                        uint32_t address)
{
    const struct node *node = context;
    const struct node_device *device = find(node, address);
    struct node_access access = {.address = address};
    uint32_t word;
    enum isa_id id = mem_get32(mem, regs->pc, &word) ? isa_decode(word) : ISA_ILLEGAL;
    if (!device || id == ISA_ILLEGAL) return false;
    const struct isa_row *row = isa_row(id);
    struct core *at = cores_get(node->cores, core);
    struct core_step step = {.cycle = core_cycles(at), .pc = regs->pc, .word = word};
    (void)core_access(regs, word, &step);
    if (!decode(word, row, regs, &access)) return false;
    if (!device->access(device->context, core, &access)) return false;
    if (access.load && access.width == 8) regs->fpr[isa_rt(word)] = access.value;
    if (access.load && access.width == 4) regs->gpr[isa_rt(word)] = (uint32_t)access.value;
    if (row->flags & ISA_UPDATE) regs->gpr[isa_ra(word)] = address;
    regs->pc += 4;
    core_retire(at, step.pc, word, cache_device(node->cache, core, !access.load, core_cycles(at)));
    notify_retired(node, core, &step);
    if (device->accessed) device->accessed(device->context, core, &access);
    return true;
}
