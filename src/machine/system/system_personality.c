/* The personality: a page of every address space that says which process this is, on which node,
 * and what the machine looks like. Blue Gene's nodes get theirs in SRAM from the control system;
 * its words are ours. Processes of a node see different words: the core that reads decides.
 *
 *   offset  word                       offset  word
 *   0x00    version, 1                 0x18    nodes in x, y, z (3 words)
 *   0x04    number of this node        0x24    rings that are closed: 4 x, 2 y, 1 z
 *   0x08    number of nodes            0x28    cores of a node
 *   0x0c    x, y, z (3 words)          0x2c    core clock in MHz
 *   0x30    address of the torus FIFOs 0x34    address of the device control registers
 *
 *   0x38    address of the collective FIFOs of channel 0       0x3c    of channel 1
 *
 *   0x40    processes on a node        0x44    number of this process on its node, t
 *   0x48    rank of this process       0x4c    number of ranks
 *   0x50    cores of this process      0x54    its memory in MiB
 *   0x58    address of the ranks: a word for each, node << 2 | t
 *   0x5c    address of the registers of the DMA engine
 *
 * Words are read only; guest/include/chiliad/personality.h is the guest's side. */
#include "machine/system/system_impl.h"

enum { VERSION = 1 };

static uint32_t process_word(const struct system_member *member, unsigned core, unsigned number)
{
    const struct system_options *o = &member->system->options;
    uint32_t self = (uint32_t)(member - member->system->members);
    unsigned process = os_process_of_core(member->node->os, core);
    switch (number) {
    case 16: return o->processes;
    case 17: return process;
    case 18: return o->rank_of_place[self * o->processes + process];
    case 19: return o->node_count * o->processes;
    case 20: return member->node->core_count / o->processes;
    case 21: return (uint32_t)(os_process_memory(member->node->os) >> 20);
    case 22: return SYSTEM_RANKS_PAGE;
    case 23: return (uint32_t)node_parameter(o->machine, "dma.base", 0);
    default: return 0;
    }
}

static uint32_t word_of(const struct system_member *member, unsigned core, unsigned number)
{
    const struct system_options *o = &member->system->options;
    const struct net_torus_shape *shape = &o->shape;
    uint32_t self = (uint32_t)(member - member->system->members);
    uint8_t at[3];
    net_torus_coordinates(shape, self, at);
    switch (number) {
    case 0: return VERSION;
    case 1: return self;
    case 2: return o->node_count;
    case 3:
    case 4:
    case 5: return at[number - 3];
    case 6:
    case 7:
    case 8: return shape->size[number - 6];
    case 9:
        return (uint32_t)shape->torus[0] << 2 | (uint32_t)shape->torus[1] << 1 | shape->torus[2];
    case 10: return member->node->core_count;
    case 11: return (uint32_t)node_parameter(member->node->machine, "machine.clock_mhz", 850);
    case 12: return (uint32_t)node_parameter(o->machine, "torus.base", 0);
    case 13: return (uint32_t)node_parameter(o->machine, "network.dcr_base", 0);
    case 14:
    case 15:
        return (uint32_t)(node_parameter(o->machine, "collective.base", 0) +
                          (number - 14) * node_parameter(o->machine, "collective.stride", 0));
    default: return process_word(member, core, number);
    }
}

static bool access_word(void *context, unsigned core, struct node_access *access)
{
    if (!access->load || access->width != 4) return false;
    access->value = word_of(context, core, access->address % MEM_PAGE / 4);
    return true;
}

static bool access_rank(void *context, unsigned core, struct node_access *access)
{
    const struct system_member *member = context;
    const struct system_options *o = &member->system->options;
    uint32_t rank = (access->address - SYSTEM_RANKS_PAGE) / 4;
    (void)core;
    if (!access->load || access->width != 4 || access->address % 4 ||
        rank >= o->node_count * o->processes)
        return false;
    access->value =
        o->place_of_rank[rank] / o->processes << 2 | o->place_of_rank[rank] % o->processes;
    return true;
}

void system_personality_attach(struct system_member *member)
{
    member->personality = (struct node_device){
        .context = member, .page = SYSTEM_PERSONALITY_PAGE, .access = access_word};
    node_attach_device(member->node, &member->personality);
    const struct system_options *o = &member->system->options;
    uint32_t bytes = 4 * o->node_count * o->processes;
    member->ranks = (struct node_device){.context = member,
                                         .page = SYSTEM_RANKS_PAGE,
                                         .size = (bytes + MEM_PAGE - 1) / MEM_PAGE * MEM_PAGE,
                                         .access = access_rank};
    node_attach_device(member->node, &member->ranks);
}
