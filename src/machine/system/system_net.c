/* The networks of a machine, and what a node's cores see of them: devices in every address space.
 *
 *   what                        address                          accesses
 *   torus FIFOs, two groups     torus.base, + 0x10000            16 bytes (net_torus_port.h)
 *   device control registers    network.dcr_base + 4 x number    words; barrier: 0x660
 * (net_barrier.h)
 *
 * Addresses and times come from the machine file. An access comes in its turn: every other node has
 * passed its time, and the networks have done all that they do before it.
 *
 * A packet that leads nowhere, and an access to an offset without a register, end the program with
 * SIGSEGV, as an access to no memory does. A load from an empty FIFO gives zeros and a store into a
 * full one is dropped; hardware leaves both open. In all cases a line says what and where; of the
 * latter the first of each node. */
#include <string.h>

#include "machine/system/system_impl.h"

enum {
    GROUP_STRIDE = 0x10000, /* between the windows of the torus groups */
    DCR_COUNT = 0x1000,
    DCR_BARRIER = 0x660,
};

/* ---- torus FIFOs ---- */

static void put64(uint8_t *bytes, uint64_t value)
{
    value = __builtin_bswap64(value);
    memcpy(bytes, &value, sizeof value);
}

static uint64_t get64(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return __builtin_bswap64(value);
}

/* Reports what an access did wrong; false: it ends the program. */
static bool answer(struct system_member *member, int status, const struct chil_error *err)
{
    bool harmless = status == CHIL_EORDER || status == CHIL_EBUSY;
    if (!status) return true;
    if (member->node->report && (!harmless || !member->reported_fault))
        member->node->report(member->node->report_context, err->text);
    member->reported_fault = true;
    return harmless;
}

static void catch_up(struct system_member *member, unsigned core)
{
    system_net_advance(member->system, core_cycles(cores_get(member->node->cores, core)));
}

static bool access_torus(struct system_member *member, unsigned group, unsigned core,
                         struct node_access *access)
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
    catch_up(member, core);
    if (access->load) {
        status = net_torus_port_load(member->port, group, offset & ~15u, quad, &err);
        access->value = access->width == 4 ? mem_host_get32(quad + word) : get64(quad);
        access->second = get64(quad + 8);
    } else {
        put64(quad, access->value);
        put64(quad + 8, access->second);
        status = net_torus_port_store(member->port, group, offset, quad, 0, &err);
    }
    return answer(member, status, &err);
}

static bool access_group_0(void *context, unsigned core, struct node_access *access)
{
    return access_torus(context, 0, core, access);
}

static bool access_group_1(void *context, unsigned core, struct node_access *access)
{
    return access_torus(context, 1, core, access);
}

/* ---- device control registers ---- */

static bool access_register(void *context, unsigned core, struct node_access *access)
{
    struct system_member *member = context;
    const struct system *system = member->system;
    uint32_t dcr = (access->address - member->registers.page) / 4 - DCR_BARRIER;
    uint32_t node = (uint32_t)(member - system->members);
    if (access->width != 4 || access->address % 4 || dcr >= BARRIER_REGISTERS) return false;
    catch_up(member, core);
    if (access->load)
        access->value = net_barrier_load(system->barrier_part, node);
    else
        net_barrier_store(system->barrier_part, node, dcr, (uint32_t)access->value, true);
    return true;
}

/* ---- making ---- */

static uint32_t number(const struct system *system, const char *key)
{
    return (uint32_t)node_parameter(system->options.machine, key, 0);
}

static int make_torus(struct system *system, struct chil_error *err)
{
    struct net_torus_config config = {
        .shape = system->options.shape,
        .params = {.cycles_per_byte = number(system, "torus.byte_cycles"),
                   .hop_cycles = number(system, "torus.hop_cycles"),
                   .inject_cycles = number(system, "torus.inject_cycles"),
                   .receive_cycles = number(system, "torus.receive_cycles"),
                   .retry_cycles = number(system, "torus.retry_cycles")}};
    if (!number(system, "torus.base")) return CHIL_OK;
    int status = net_torus_new(&system->torus, &config, err);
    if (!status) system->torus_part = net_torus_part_new(system->torus, system->partition, NULL);
    return status;
}

static int make_barrier(struct system *system, struct chil_error *err)
{
    struct net_barrier_config config = {.nodes = system->options.node_count,
                                        .level_cycles = number(system, "barrier.level_cycles"),
                                        .access_cycles = number(system, "barrier.access_cycles")};
    if (!number(system, "network.dcr_base")) return CHIL_OK;
    int status = net_barrier_new(&system->barrier, &config, err);
    if (!status)
        system->barrier_part = net_barrier_part_new(system->barrier, system->partition, NULL);
    return status;
}

int system_net_new(struct system *system, struct chil_error *err)
{
    system->partition = net_partition_new(0, system->options.node_count);
    int status = make_torus(system, err);
    return status ? status : make_barrier(system, err);
}

void system_net_free(struct system *system)
{
    net_torus_part_free(system->torus_part);
    net_torus_free(system->torus);
    net_barrier_part_free(system->barrier_part);
    net_barrier_free(system->barrier);
    net_partition_free(system->partition);
}

void system_net_attach(struct system_member *member)
{
    const struct system *system = member->system;
    uint32_t node = (uint32_t)(member - system->members);
    for (unsigned group = 0; system->torus && group < TORUS_GROUPS; group++) {
        member->torus[group] =
            (struct node_device){.context = member,
                                 .page = number(system, "torus.base") + GROUP_STRIDE * group,
                                 .size = TORUS_PORT_SIZE,
                                 .outside = true,
                                 .load_cycles = number(system, "torus.load_cycles"),
                                 .store_cycles = number(system, "torus.store_cycles"),
                                 .access = group ? access_group_1 : access_group_0};
        node_attach_device(member->node, &member->torus[group]);
    }
    if (system->torus) member->port = net_torus_port_new(system->torus_part, node);
    if (!system->barrier) return;
    member->registers =
        (struct node_device){.context = member,
                             .page = number(system, "network.dcr_base"),
                             .size = 4 * DCR_COUNT,
                             .outside = true,
                             .load_cycles = number(system, "barrier.access_cycles"),
                             .store_cycles = number(system, "barrier.access_cycles"),
                             .access = access_register};
    node_attach_device(member->node, &member->registers);
}

void system_net_detach(struct system_member *member)
{
    net_torus_port_free(member->port);
}

void system_net_advance(struct system *system, uint64_t time)
{
    if (time > net_partition_now(system->partition)) net_partition_advance(system->partition, time);
}
