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
#include <stdio.h>
#include <stdlib.h>
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

/* Whether the access changes what later ones are answered. */
static void note(struct system_member *member, const struct node_access *access, bool changes)
{
    if (changes || !access->load)
        system_idle_change(member);
    else
        system_idle_answered(member, access);
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
    if (system_idle_replay(member, access)) return true;
    if (access->load) {
        status = net_torus_port_load(member->port, group, offset & ~15u, quad, &err);
        access->value = access->width == 4 ? mem_host_get32(quad + word) : get64(quad);
        access->second = get64(quad + 8);
    } else {
        put64(quad, access->value);
        put64(quad + 8, access->second);
        status = net_torus_port_store(member->port, group, offset, quad, 0, &err);
    }
    note(member, access, !is_status);
    return answer(member, status, &err);
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

/* ---- device control registers ---- */

static bool access_register(void *context, unsigned core, struct node_access *access)
{
    struct system_member *member = context;
    const struct system *system = member->system;
    uint32_t dcr = (access->address - member->registers.page) / 4 - DCR_BARRIER;
    uint32_t node = (uint32_t)(member - system->members);
    if (access->width != 4 || access->address % 4 || dcr >= BARRIER_REGISTERS) return false;
    (void)core;
    if (system_idle_replay(member, access)) return true;
    if (access->load)
        access->value = net_barrier_load(system->barrier_part, node);
    else
        net_barrier_store(system->barrier_part, node, dcr, (uint32_t)access->value, true);
    note(member, access, false);
    return true;
}

const char *system_net_awaited(const struct system_member *member, uint32_t address)
{
    for (unsigned group = 0; group < TORUS_GROUPS; group++)
        if (member->port && address - member->torus[group].page < TORUS_PORT_SIZE)
            return "the torus FIFOs, a packet or room for one,";
    return "the barrier, that all nodes are there,";
}

/* ---- what the networks do at a node ---- */

static void on_change(void *self, uint32_t node, unsigned fifo)
{
    struct system *system = self;
    (void)fifo;
    system_idle_change(&system->members[node]);
}

static const char *const directions[TORUS_LINKS] = {"xp.", "xm.", "yp.", "ym.", "zp.", "zm."};

/* "torus.xp.packets": the number is direction x TORUS_EVENTS + event. */
static bool find_signal(void *context, const char *name, uint32_t *number)
{
    const struct system_member *member = context;
    if (!member->system->torus || strncmp(name, "torus.", 6) != 0) return false;
    for (uint32_t d = 0; d < TORUS_LINKS; d++)
        for (uint32_t event = 0; event < TORUS_EVENTS; event++)
            if (strncmp(name + 6, directions[d], 3) == 0 &&
                strcmp(name + 9, net_torus_event_rows[event].name) == 0) {
                *number = d * TORUS_EVENTS + event;
                return true;
            }
    return false;
}

static void count_signal(void *context, uint32_t number, uint64_t *occurrences, uint64_t *high)
{
    const struct system_member *member = context;
    struct net_count count =
        net_torus_count(member->system->torus_part, (uint32_t)(member - member->system->members),
                        number / TORUS_EVENTS, (enum net_torus_event)(number % TORUS_EVENTS));
    *occurrences = count.occurrences;
    *high = count.high;
}

/* ---- laws ---- */

static int broken(struct chil_error *err, const char *network, const char *law)
{
    return chil_error_set(
        err, CHIL_ELAW,
        "internal error: counts break the law of the %s '%s'; please report it with "
        "the program",
        network, law);
}

static int check_torus(struct system *system, unsigned *checked, struct chil_error *err)
{
    struct net_torus_totals totals = {0};
    char text[120];
    net_torus_add_totals(system->torus_part, &totals);
    uint64_t left = totals.injected + totals.copies - totals.delivered;
    if (left) {
        (void)snprintf(text, sizeof text,
                       "%llu packets were still on their way at the end: nodes did not take them",
                       (unsigned long long)left);
        if (system->options.report) system->options.report(system->options.context, 0, text);
        return CHIL_OK;
    }
    for (unsigned i = 0; net_torus_law(i); i++)
        *checked += 1;
    int law = net_torus_broken_law(&totals);
    return law < 0 ? CHIL_OK : broken(err, "torus", net_torus_law((unsigned)law));
}

int system_check_laws(struct system *system, unsigned *checked, struct chil_error *err)
{
    struct net_barrier_totals totals = {0};
    int status = system->torus ? check_torus(system, checked, err) : CHIL_OK;
    if (status || !system->barrier) return status;
    net_barrier_add_totals(system->barrier_part, &totals);
    for (unsigned i = 0; net_barrier_law(i); i++)
        *checked += 1;
    int law = net_barrier_broken_law(&totals);
    return law < 0 ? CHIL_OK : broken(err, "barrier network", net_barrier_law((unsigned)law));
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
    const struct net_torus_owner owner = {
        .self = system, .received = on_change, .injected = on_change};
    if (!status) system->torus_part = net_torus_part_new(system->torus, system->partition, &owner);
    return status;
}

static int make_barrier(struct system *system, struct chil_error *err)
{
    struct net_barrier_config config = {.nodes = system->options.node_count,
                                        .level_cycles = number(system, "barrier.level_cycles"),
                                        .access_cycles = number(system, "barrier.access_cycles")};
    if (!number(system, "network.dcr_base")) return CHIL_OK;
    int status = net_barrier_new(&system->barrier, &config, err);
    const struct net_barrier_owner owner = {.self = system, .sticky = on_change, .down = on_change};
    if (!status)
        system->barrier_part = net_barrier_part_new(system->barrier, system->partition, &owner);
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
    member->source =
        (struct node_source){.context = member, .find = find_signal, .count = count_signal};
    node_attach_source(member->node, &member->source);
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
    free(member->idle);
}

/* Cycle by cycle while a member sleeps, as each may wake one. */
bool system_net_advance(struct system *system, uint64_t time)
{
    struct net_partition *partition = system->partition;
    uint64_t next;
    system->woken = false;
    while (system->asleep && (next = net_partition_next(partition)) < time) {
        net_partition_advance(partition, next + 1);
        if (system->woken) return false;
    }
    if (time > net_partition_now(partition)) net_partition_advance(partition, time);
    return true;
}
