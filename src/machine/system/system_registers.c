/* Device control registers of the networks: register n at network.dcr_base + 4n, in words.
 *
 *   registers     what
 *   660 - 66F     barrier (net_barrier.h)
 *   C00 - C07     collective network: routes, two classes each; the lower class in the upper half
 *   C41, C42      its address for point-to-point packets; bit 31: receives all of them
 *   C81, C82      torus: nodes - 1 in each dimension, own coordinates; 8 bits each, as in a packet
 *   CF5 - CFA     torus: repeats of links x+ to z-
 *   D00 - DFF     DMA engine (net_dma.h)
 *   FF0           a store ends the programs of all nodes: ours, for MPI_Abort
 *   FF1           a store: where the program says what it waits for (system_ask.c): ours
 *
 * A load of another one, or a store to one that is read only, ends the program with SIGSEGV. */
#include "machine/system/system_net.h"

enum {
    DCR_COUNT = 0x1000,
    DCR_BARRIER = 0x660,
    DCR_ROUTES = 0xC00,
    DCR_ADDRESS = 0xC41,
    DCR_FILTER = 0xC42,
    DCR_TORUS_NODES = 0xC81,
    DCR_TORUS_SELF = 0xC82,
    DCR_TORUS_RETRIES = 0xCF5,
    DCR_DMA = 0xD00,
    DCR_STOP = 0xFF0,
    DCR_ASK = 0xFF1,
};

static bool barrier_register(struct system_member *member, uint32_t dcr, struct node_access *access)
{
    struct net_barrier_part *part = member->system->barrier_part;
    uint32_t node = system_net_node(member);
    if (!part) return false;
    if (access->load)
        access->value = net_barrier_load(part, node);
    else
        net_barrier_store(part, node, dcr, (uint32_t)access->value, true);
    return true;
}

static bool routes(struct system_member *member, uint32_t dcr, struct node_access *access)
{
    struct net_collective_part *part = member->system->collective_part;
    uint32_t node = system_net_node(member);
    if (!part) return false;
    if (access->load) {
        access->value = (uint32_t)net_collective_route(part, node, 2 * dcr) << 16 |
                        net_collective_route(part, node, 2 * dcr + 1);
    } else {
        net_collective_set_route(part, node, 2 * dcr, (uint16_t)(access->value >> 16));
        net_collective_set_route(part, node, 2 * dcr + 1, (uint16_t)access->value);
    }
    return true;
}

static bool filter(struct system_member *member, uint32_t dcr, struct node_access *access)
{
    uint32_t *word = &member->filter[dcr];
    if (!member->system->collective_part) return false;
    if (access->load) {
        access->value = *word;
        return true;
    }
    *word = (uint32_t)access->value;
    net_collective_set_address(member->system->collective_part, system_net_node(member),
                               member->filter[0], member->filter[1] & 1);
    return true;
}

static bool torus_where(struct system_member *member, uint32_t dcr, struct node_access *access)
{
    const struct net_torus_shape *shape = &member->system->options.shape;
    uint8_t at[3];
    if (!access->load || !member->system->torus) return false;
    net_torus_coordinates(shape, system_net_node(member), at);
    for (unsigned i = 0; i < 3 && dcr == 0; i++)
        at[i] = (uint8_t)(shape->size[i] - 1);
    access->value = (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
    return true;
}

static bool torus_retries(struct system_member *member, uint32_t dcr, struct node_access *access)
{
    const struct system *system = member->system;
    if (!access->load || !system->torus) return false;
    access->value =
        (uint32_t)net_torus_count(system->torus_part, system_net_node(member), dcr, TORUS_RETRIES)
            .occurrences;
    return true;
}

static bool stop(struct system_member *member, uint32_t dcr, struct node_access *access)
{
    (void)dcr;
    if (access->load) return false;
    system_stop(member);
    return true;
}

static bool dma_register(struct system_member *member, uint32_t dcr, struct node_access *access)
{
    struct net_dma_part *part = member->system->dma_part;
    if (!part) return false;
    if (access->load)
        access->value = net_dma_dcr_load(part, system_net_node(member), dcr);
    else
        net_dma_dcr_store(part, system_net_node(member), dcr, (uint32_t)access->value);
    if (!access->load) system_torus_forget(member);
    return true;
}

/* first, how many, what */
static const struct {
    uint32_t first, count;
    bool (*access)(struct system_member *member, uint32_t dcr, struct node_access *access);
} registers[] = {
    {DCR_BARRIER, BARRIER_REGISTERS, barrier_register},
    {DCR_ROUTES, COLLECTIVE_CLASSES / 2, routes},
    {DCR_ADDRESS, DCR_FILTER - DCR_ADDRESS + 1, filter},
    {DCR_TORUS_NODES, DCR_TORUS_SELF - DCR_TORUS_NODES + 1, torus_where},
    {DCR_TORUS_RETRIES, TORUS_LINKS, torus_retries},
    {DCR_DMA, DMA_DCRS, dma_register},
    {DCR_STOP, 1, stop},
};

static bool access_register(void *context, unsigned core, struct node_access *access)
{
    struct system_member *member = context;
    uint32_t dcr = (access->address - member->registers.page) / 4;
    if (access->width != 4 || access->address % 4) return false;
    if (dcr == DCR_ASK)
        return !access->load && system_ask_set(member, core, (uint32_t)access->value);
    for (unsigned i = 0; i < sizeof registers / sizeof *registers; i++) {
        if (dcr - registers[i].first >= registers[i].count) continue;
        if (system_idle_replay(member, access)) return true;
        system_net_look(member);
        if (!registers[i].access(member, dcr - registers[i].first, access)) return false;
        system_net_note(member, access, false);
        return true;
    }
    return false;
}

void system_registers_attach(struct system_member *member)
{
    member->filter[0] = system_net_node(member);
    system_net_attach_device(member, &member->registers, "barrier",
                             system_net_number(member->system, "network.dcr_base"), 4 * DCR_COUNT,
                             access_register);
}
