/* Completes a load or store of a device's register for the core that stopped before it. */
#include "machine/isa/isa.h"
#include "machine/node/node.h"

/* Loads and stores of words of GPRs, of doublewords of FPRs and of quadwords of both FPRs are what
 * registers take. */
static bool decode(uint32_t word, const struct isa_row *row, const struct core_regs *regs,
                   struct node_access *access)
{
    static const struct {
        enum isa_class klass;
        unsigned width;
        bool load;
    } plain[] = {{ISA_CLASS_LOAD, 4, true},           {ISA_CLASS_STORE, 4, false},
                 {ISA_CLASS_FP_LOAD_DOUBLE, 8, true}, {ISA_CLASS_FP_STORE_DOUBLE, 8, false},
                 {ISA_CLASS_FP_LOAD_QUAD, 16, true},  {ISA_CLASS_FP_STORE_QUAD, 16, false}};
    uint32_t not_plain = ISA_REVERSED | ISA_RESERVATION | ISA_MULTIPLE,
             halves = ISA_S_READ | ISA_S_WRITE;
    unsigned i = 0, t = isa_rt(word);
    bool crossed = row->flags & ISA_CROSS;
    while (i < sizeof plain / sizeof *plain && row->klass != plain[i].klass)
        i++;
    if (i == sizeof plain / sizeof *plain || row->flags & not_plain || row->size != plain[i].width)
        return false;
    if (row->flags & halves && row->size != 16) return false;
    access->load = plain[i].load;
    access->width = plain[i].width;
    access->value = access->width == 4 ? regs->gpr[t] : crossed ? regs->fpr2[t] : regs->fpr[t];
    access->second = crossed ? regs->fpr[t] : regs->fpr2[t];
    return access->width < 16 || access->address % 16 == 0;
}

static void take_loaded(uint32_t word, const struct isa_row *row, struct core_regs *regs,
                        const struct node_access *access)
{
    unsigned t = isa_rt(word);
    bool crossed = row->flags & ISA_CROSS;
    if (access->width == 4) {
        regs->gpr[t] = (uint32_t)access->value;
        return;
    }
    regs->fpr[t] = crossed ? access->second : access->value;
    if (access->width == 16) regs->fpr2[t] = crossed ? access->value : access->second;
}

static const struct node_device *find(const struct node *node, uint32_t address)
{
    for (unsigned i = 0; i < OS_DEVICES && node->devices[i]; i++)
        if (address - node->devices[i]->page < node_device_size(node->devices[i]))
            return node->devices[i];
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
    if (access.load) take_loaded(word, row, regs, &access);
    if (row->flags & ISA_UPDATE) regs->gpr[isa_ra(word)] = address;
    regs->pc += 4;
    uint32_t own = access.load ? device->load_cycles : device->store_cycles;
    uint32_t wait = cache_device(node->cache, core, !access.load, core_cycles(at));
    core_retire(at, step.pc, word, own ? own : wait);
    notify_retired(node, core, &step);
    if (device->accessed) device->accessed(device->context, core, &access);
    return true;
}
