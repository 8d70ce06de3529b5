/* The torus FIFOs of a node as devices: two windows, accesses of 16 bytes (net_torus_port.h), and
 * words of their status.
 *
 * A packet that leads nowhere, and an access to an offset without a FIFO, end the program with
 * SIGSEGV, as an access to no memory does. A load from an empty FIFO gives zeros and a store into a
 * full one is dropped; hardware leaves both open. In all cases a line says what and where; of the
 * latter the first of each node. */
#include "machine/system/system_net.h"

static void access_private(struct net_torus_port *port, unsigned group, uint32_t offset,
                           struct node_access *access)
{
    uint8_t quad[TORUS_PORT_QUAD];
    if (access->load) {
        net_torus_port_load_private(port, group, offset, quad);
        access->value = system_net_get64(quad);
        access->second = system_net_get64(quad + 8);
    } else {
        system_net_put64(quad, access->value);
        system_net_put64(quad + 8, access->second);
        net_torus_port_store_private(port, group, offset, quad);
    }
}

/* What the port may take for granted until the next access that waits for its turn. */
static void learn(const struct system_member *member)
{
    const struct net_dma_part *dma = member->system->dma_part;
    net_torus_port_learn(member->port, dma ? net_dma_torus_fifos(dma, system_net_node(member)) : 0);
}

void system_torus_forget(const struct system_member *member)
{
    if (member->port) net_torus_port_learn(member->port, UINT32_MAX);
}

bool system_torus_is_private(const struct system_member *member, uint32_t address, bool load)
{
    uint32_t offset = member->port ? address - member->torus[0].page : UINT32_MAX;
    unsigned group = offset >= SYSTEM_TORUS_STRIDE;
    offset -= SYSTEM_TORUS_STRIDE * group;
    return offset < TORUS_PORT_SIZE && net_torus_port_is_private(member->port, group, offset, load);
}

static bool access_torus(struct system_member *member, unsigned group, struct node_access *access)
{
    uint8_t quad[TORUS_PORT_QUAD];
    struct chil_error err = {0};
    uint32_t offset = access->address - member->torus[group].page;
    int status;
    uint32_t word = offset & (TORUS_PORT_QUAD - 1) & ~3u;
    bool is_status =
        (offset & ~15u) == TORUS_PORT_STATUS || (offset & ~15u) == TORUS_PORT_OTHER_STATUS;
    if (access->width == 4 && !(is_status && access->load && offset % 4 == 0)) return false;
    if (access->width == 8) return false;
    if (net_torus_port_is_private(member->port, group, offset, access->load)) {
        access_private(member->port, group, offset, access);
        member->own_changes++;
        return true;
    }
    if (system_idle_replay(member, access)) return true;
    system_net_look(member);
    if (access->load) {
        status = net_torus_port_load(member->port, group, offset & ~15u, quad, &err);
        access->value = access->width == 4 ? mem_host_get32(quad + word) : system_net_get64(quad);
        access->second = system_net_get64(quad + 8);
    } else {
        system_net_put64(quad, access->value);
        system_net_put64(quad + 8, access->second);
        status = net_torus_port_store(member->port, group, offset, quad, 0, &err);
    }
    learn(member);
    system_net_note(member, access, !is_status);
    return system_net_answer(member, status, &err);
}

static bool access_group_0(void *context, unsigned core, struct node_access *access)
{
    (void)core;
    return access_torus(context, 0, access);
}

static bool access_group_1(void *context, unsigned core, struct node_access *access)
{
    (void)core;
    return access_torus(context, 1, access);
}

void system_torus_attach(struct system_member *member)
{
    const struct system *system = member->system;
    for (unsigned group = 0; group < TORUS_GROUPS; group++)
        system_net_attach_device(member, &member->torus[group], "torus",
                                 system_net_number(system, "torus.base") +
                                     SYSTEM_TORUS_STRIDE * group,
                                 TORUS_PORT_SIZE, group ? access_group_1 : access_group_0);
    member->port = net_torus_port_new(system->torus_part, system_net_node(member));
}

uint64_t system_network_now(const struct system *system)
{
    return net_partition_now(system->partition);
}

uint64_t system_network_busy(const struct system *system, unsigned chunks)
{
    return net_torus_busy(system->torus, chunks);
}

uint64_t system_network_latency(const struct system *system, unsigned chunks, unsigned hops)
{
    return net_torus_latency(system->torus, chunks, hops);
}
