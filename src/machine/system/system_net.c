/* The networks of a machine: made, run, counted and checked. What a node's cores see of them is
 * devices in every address space:
 *
 *   what                        address                          accesses      file
 *   torus FIFOs, two groups     torus.base, + 0x10000            16 bytes      system_torus.c
 *   collective FIFOs            collective.base, + stride        16 bytes      system_collective.c
 *   DMA engine                  dma.base                         words         system_dma.c
 *   device control registers    network.dcr_base + 4 x number    words         system_registers.c
 *
 * Addresses and times come from the machine file. An access comes in its turn: every other node has
 * passed its time, and the networks have done all that they do before it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/system/system_net.h"

#define BILLION UINT64_C(1000000000)

enum { BARRIER_INTERRUPT = 4 * 32 + 12 }; /* + channel */

/* ---- devices ---- */

bool system_net_answer(struct system_member *member, int status, const struct chil_error *err)
{
    bool harmless = status == CHIL_EORDER || status == CHIL_EBUSY;
    if (!status) return true;
    if (member->node->report && (!harmless || !member->reported_fault))
        member->node->report(member->node->report_context, err->text);
    member->reported_fault = true;
    return harmless;
}

/* A machine of one node has no turns: what its networks do before the access is done here. What the
 * DMA engine has written to memory is there from now on. */
void system_net_look(struct system_member *member)
{
    if (member->system->options.node_count == 1) {
        member->time = os_now(member->node->os);
        (void)system_net_advance(member->system, member->time);
    }
    if (system_interrupts_enabled(member)) os_yield(member->node->os);
    system_dma_apply(member);
}

bool system_net_is_private(const struct system_member *member, const struct os_action *action)
{
    return system_torus_is_private(member, action->address, !action->store) ||
           system_collective_is_private(member, action->address, !action->store);
}

void system_net_end(struct system_member *member)
{
    if (member->system->collective) system_collective_notify(member);
}

void system_net_note(struct system_member *member, const struct node_access *access, bool changes)
{
    if (changes || !access->load)
        system_idle_change(member);
    else
        system_idle_answered(member, access);
}

const char *system_net_awaited(const struct system_member *member, uint32_t address)
{
    for (unsigned group = 0; group < TORUS_GROUPS; group++)
        if (member->port && address - member->torus[group].page < TORUS_PORT_SIZE)
            return "the torus FIFOs, a packet or room for one,";
    for (unsigned vc = 0; vc < COLLECTIVE_VCS; vc++)
        if (member->collective[vc].size && address - member->collective[vc].page < MEM_PAGE)
            return "the collective network, a packet or room for one,";
    if (member->dma && address - member->dma_registers.page < DMA_SIZE)
        return "the DMA engine, a counter or a FIFO,";
    return "the barrier, that all nodes are there,";
}

/* ---- what the networks do at a node ---- */

static bool has(const struct node_device *device, uint32_t address)
{
    return device->size && address - device->page < device->size;
}

/* Whether what has changed leaves the answer at an address as it was. */
static bool is_same(struct system_member *member, unsigned what, uint32_t address, uint64_t value)
{
    switch ((enum system_changed)what) {
    case SYSTEM_CHANGED_DMA:
        if (has(&member->dma_registers, address))
            return system_dma_answer(member, address) == value;
        return !has(&member->torus[0], address) && !has(&member->torus[1], address);
    case SYSTEM_CHANGED_TORUS:
        return !has(&member->torus[0], address) && !has(&member->torus[1], address) &&
               !has(&member->registers, address);
    case SYSTEM_CHANGED_COLLECTIVE:
        return !has(&member->collective[0], address) && !has(&member->collective[1], address);
    case SYSTEM_CHANGED_BARRIER: return !has(&member->registers, address);
    }
    return false;
}

void system_net_changed(struct system_member *member, enum system_changed what)
{
    system_idle_recheck(member, is_same, what);
}

static void barrier_changed(void *self, uint32_t node, unsigned channel)
{
    struct system *system = self;
    (void)channel;
    system_net_changed(&system->members[node], SYSTEM_CHANGED_BARRIER);
}

static void barrier_sticky(void *self, uint32_t node, unsigned channel)
{
    struct system *system = self;
    barrier_changed(self, node, channel);
    system_interrupts_raise(&system->members[node], BARRIER_INTERRUPT + channel);
}

static void collective_changed(void *self, uint32_t node, unsigned vc)
{
    struct system *system = self;
    (void)vc;
    system_net_changed(&system->members[node], SYSTEM_CHANGED_COLLECTIVE);
}

static void torus_received(void *self, uint32_t node, unsigned fifo)
{
    struct system *system = self;
    if (system->dma) system->dma_torus.received(system->dma_torus.self, node, fifo);
    system_net_changed(&system->members[node], SYSTEM_CHANGED_TORUS);
}

static void torus_injected(void *self, uint32_t node, unsigned fifo)
{
    struct system *system = self;
    if (system->dma) system->dma_torus.injected(system->dma_torus.self, node, fifo);
    system_net_changed(&system->members[node], SYSTEM_CHANGED_TORUS);
}

static const char *const directions[TORUS_LINKS] = {"xp.", "xm.", "yp.", "ym.", "zp.", "zm."};

/* Numbers of signals: direction x TORUS_EVENTS + event for "torus.xp.packets", then those of the
 * collective network and of the DMA engine. */
enum {
    SIGNALS_COLLECTIVE = TORUS_LINKS * TORUS_EVENTS,
    SIGNALS_DMA = SIGNALS_COLLECTIVE + COLLECTIVE_EVENTS
};

static int find_torus(const char *name)
{
    for (int d = 0; d < TORUS_LINKS; d++)
        for (int event = 0; event < TORUS_EVENTS; event++)
            if (strncmp(name, directions[d], 3) == 0 &&
                strcmp(name + 3, net_torus_event_rows[event].name) == 0)
                return d * TORUS_EVENTS + event;
    return -1;
}

static bool find_signal(void *context, const char *name, uint32_t *number)
{
    const struct system *system = ((const struct system_member *)context)->system;
    int found = -1;
    if (system->torus && strncmp(name, "torus.", 6) == 0) {
        found = find_torus(name + 6);
    } else if (system->collective && strncmp(name, "collective.", 11) == 0) {
        found = net_collective_event_find(name + 11);
        if (found >= 0) found += SIGNALS_COLLECTIVE;
    } else if (system->dma && strncmp(name, "dma.", 4) == 0) {
        for (int event = 0; event < DMA_EVENTS; event++)
            if (strcmp(name + 4, net_dma_event_rows[event].name) == 0) found = SIGNALS_DMA + event;
    }
    if (found < 0) return false;
    *number = (uint32_t)found;
    return true;
}

static void count_signal(void *context, uint32_t number, uint64_t *occurrences, uint64_t *high)
{
    const struct system_member *member = context;
    const struct system *system = member->system;
    uint32_t node = system_net_node(member);
    struct net_count count;
    if (number >= SIGNALS_DMA)
        count = net_dma_count(system->dma_part, node, (enum net_dma_event)(number - SIGNALS_DMA));
    else if (number >= SIGNALS_COLLECTIVE)
        count = net_collective_count(system->collective_part, node,
                                     (enum net_collective_event)(number - SIGNALS_COLLECTIVE));
    else
        count = net_torus_count(system->torus_part, node, number / TORUS_EVENTS,
                                (enum net_torus_event)(number % TORUS_EVENTS));
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

/* Reports packets that no node took; then the laws of a quiet network do not apply. */
static bool is_quiet(struct system *system, const char *network, uint64_t left)
{
    char text[160];
    if (!left) return true;
    (void)snprintf(text, sizeof text,
                   "%llu packets of the %s were still on their way at the end: nodes did not take "
                   "them",
                   (unsigned long long)left, network);
    if (system->options.report && !(system->options.ranks && ranks_self(system->options.ranks)))
        system->options.report(system->options.context, 0, text);
    return false;
}

static int checked_laws(const char *(*law)(unsigned number), int broken_law, const char *network,
                        unsigned *checked, struct chil_error *err)
{
    unsigned count = 0;
    while (law(count))
        count++;
    *checked += count;
    return broken_law < 0 ? CHIL_OK : broken(err, network, law((unsigned)broken_law));
}

static int check_torus(struct system *system, unsigned *checked, struct chil_error *err)
{
    struct net_torus_totals totals = {0};
    if (!system->torus) return CHIL_OK;
    net_torus_add_totals(system->torus_part, &totals);
    const struct net_torus_totals own = totals;
    system_sum(system, (uint64_t *)&totals, sizeof totals / sizeof(uint64_t));
    totals.elapsed = own.elapsed;
    totals.cycles_per_byte = own.cycles_per_byte;
    if (!is_quiet(system, "torus", totals.injected + totals.copies - totals.delivered))
        return CHIL_OK;
    return checked_laws(net_torus_law, net_torus_broken_law(&totals), "torus", checked, err);
}

static int check_dma(struct system *system, unsigned *checked, struct chil_error *err)
{
    struct net_dma_totals totals = {0};
    if (!system->dma) return CHIL_OK;
    net_dma_add_totals(system->dma_part, &totals);
    for (unsigned i = 0; i < system->options.node_count; i++)
        if (system->members[i].port)
            totals.foreign -= net_torus_port_taken(system->members[i].port);
    const struct net_dma_totals own = totals;
    system_sum(system, (uint64_t *)&totals, sizeof totals / sizeof(uint64_t));
    totals.write_cycles = own.write_cycles;
    totals.quad_cycles = own.quad_cycles;
    if (!is_quiet(system, "DMA engines", totals.left)) return CHIL_OK;
    return checked_laws(net_dma_law, net_dma_broken_law(&totals), "DMA engine", checked, err);
}

static int check_collective(struct system *system, unsigned *checked, struct chil_error *err)
{
    struct net_collective_totals totals = {0};
    if (!system->collective) return CHIL_OK;
    net_collective_add_totals(system->collective_part, &totals);
    const uint64_t elapsed = totals.elapsed;
    system_sum(system, (uint64_t *)&totals, sizeof totals / sizeof(uint64_t));
    totals.elapsed = elapsed;
    uint64_t left = net_collective_left(&totals);
    if (!is_quiet(system, "collective network", left)) return CHIL_OK;
    return checked_laws(net_collective_law, net_collective_broken_law(&totals),
                        "collective network", checked, err);
}

static int check_barrier(struct system *system, unsigned *checked, struct chil_error *err)
{
    struct net_barrier_totals totals = {0};
    if (!system->barrier) return CHIL_OK;
    net_barrier_add_totals(system->barrier_part, &totals);
    const uint64_t nodes = totals.nodes;
    system_sum(system, (uint64_t *)&totals, sizeof totals / sizeof(uint64_t));
    totals.nodes = nodes;
    return checked_laws(net_barrier_law, net_barrier_broken_law(&totals), "barrier network",
                        checked, err);
}

int system_check_laws(struct system *system, unsigned *checked, struct chil_error *err)
{
    int status = check_torus(system, checked, err);
    if (!status) status = check_dma(system, checked, err);
    if (!status) status = check_collective(system, checked, err);
    return status ? status : check_barrier(system, checked, err);
}

/* ---- making ---- */

uint32_t system_net_number(const struct system *system, const char *key)
{
    return (uint32_t)node_parameter(system->options.machine, key, 0);
}

/* Of 10^9 bits, as a part of 2^64. */
static uint64_t bit_error_rate(const struct system *system, const char *key)
{
    return UINT64_MAX / BILLION * system_net_number(system, key);
}

/* Before the torus, so that its unit is the first of a partition's. */
static void make_dma(struct system *system)
{
    const struct net_dma_params params = {
        .descriptor_cycles = system_net_number(system, "dma.descriptor_cycles"),
        .read_cycles = system_net_number(system, "dma.read_cycles"),
        .quad_cycles = system_net_number(system, "dma.quad_cycles"),
        .write_cycles = system_net_number(system, "dma.write_cycles")};
    const struct net_dma_owner owner = system_dma_owner(system);
    if (!system_net_number(system, "dma.base") || !system_net_number(system, "torus.base")) return;
    system->dma = net_dma_new(system->options.node_count, &params);
    system->dma_part = net_dma_part_new(system->dma, system->partition, &owner);
    system->dma_torus = net_dma_torus_owner(system->dma_part);
}

static int make_torus(struct system *system, struct chil_error *err)
{
    struct net_torus_config config = {
        .shape = system->options.shape,
        .params = {.cycles_per_byte = system_net_number(system, "torus.byte_cycles"),
                   .hop_cycles = system_net_number(system, "torus.hop_cycles"),
                   .inject_cycles = system_net_number(system, "torus.inject_cycles"),
                   .receive_cycles = system_net_number(system, "torus.receive_cycles"),
                   .retry_cycles = system_net_number(system, "torus.retry_cycles")},
        .fault_seed = system_net_number(system, "torus.fault_seed"),
        .bit_error_rate = bit_error_rate(system, "torus.bit_errors")};
    if (!system_net_number(system, "torus.base")) return CHIL_OK;
    int status = net_torus_new(&system->torus, &config, err);
    system_ranks_lookahead(system, config.params.hop_cycles);
    const struct net_torus_owner owner = {
        .self = system, .received = torus_received, .injected = torus_injected};
    if (status) return status;
    system->torus_part = net_torus_part_new(system->torus, system->partition, &owner);
    net_torus_listen(system->torus_part, system->options.packets);
    if (system->dma) net_dma_attach(system->dma_part, system->torus_part);
    return status;
}

static int make_barrier(struct system *system, struct chil_error *err)
{
    struct net_barrier_config config = {
        .nodes = system->options.node_count,
        .level_cycles = system_net_number(system, "barrier.level_cycles"),
        .access_cycles = system_net_number(system, "barrier.access_cycles")};
    if (!system_net_number(system, "network.dcr_base")) return CHIL_OK;
    int status = net_barrier_new(&system->barrier, &config, err);
    if (!status) system_ranks_lookahead(system, net_barrier_latency(system->barrier));
    const struct net_barrier_owner owner = {
        .self = system, .sticky = barrier_sticky, .down = barrier_changed};
    if (!status)
        system->barrier_part = net_barrier_part_new(system->barrier, system->partition, &owner);
    return status;
}

static int make_collective(struct system *system, struct chil_error *err)
{
    struct net_collective_config config = {
        .nodes = system->options.node_count,
        .params = {.packet_cycles = system_net_number(system, "collective.packet_cycles"),
                   .hop_cycles = system_net_number(system, "collective.hop_cycles"),
                   .alu_cycles = system_net_number(system, "collective.alu_cycles"),
                   .inject_cycles = system_net_number(system, "collective.inject_cycles"),
                   .receive_cycles = system_net_number(system, "collective.receive_cycles"),
                   .empty_cycles = system_net_number(system, "collective.empty_cycles"),
                   .idle_cycles = system_net_number(system, "collective.idle_cycles"),
                   .greedy_cycles = system_net_number(system, "collective.greedy_cycles")},
        .fault_seed = system_net_number(system, "collective.fault_seed"),
        .bit_error_rate = bit_error_rate(system, "collective.bit_errors")};
    if (!system_net_number(system, "collective.base")) return CHIL_OK;
    system_ranks_lookahead(system, config.params.hop_cycles);
    int status = net_collective_new(&system->collective, &config, err);
    const struct net_collective_owner owner = {
        .self = system, .received = collective_changed, .injected = collective_changed};
    if (!status)
        system->collective_part =
            net_collective_part_new(system->collective, system->partition, &owner);
    return status;
}

int system_net_new(struct system *system, struct chil_error *err)
{
    unsigned first, end;
    system_range(&system->options, &first, &end);
    system->partition = net_partition_new(first, end);
    make_dma(system);
    int status = make_torus(system, err);
    if (!status) status = make_collective(system, err);
    return status ? status : make_barrier(system, err);
}

void system_net_free(struct system *system)
{
    net_dma_part_free(system->dma_part);
    net_dma_free(system->dma);
    net_torus_part_free(system->torus_part);
    net_torus_free(system->torus);
    net_collective_part_free(system->collective_part);
    net_collective_free(system->collective);
    net_barrier_part_free(system->barrier_part);
    net_barrier_free(system->barrier);
    net_partition_free(system->partition);
}

void system_net_attach_device(struct system_member *member, struct node_device *device,
                              const char *section, uint32_t page, uint32_t size,
                              bool (*access)(void *context, unsigned core,
                                             struct node_access *access))
{
    const struct system *system = member->system;
    char load[40], store[40], both[40];
    (void)snprintf(load, sizeof load, "%s.load_cycles", section);
    (void)snprintf(store, sizeof store, "%s.store_cycles", section);
    (void)snprintf(both, sizeof both, "%s.access_cycles", section);
    uint32_t cycles = system_net_number(system, both);
    *device = (struct node_device){
        .context = member,
        .page = page,
        .size = size,
        .outside = true,
        .load_cycles = cycles ? cycles : system_net_number(system, load),
        .store_cycles = cycles ? cycles : system_net_number(system, store),
        .access = access,
    };
    node_attach_device(member->node, device);
}

void system_net_attach(struct system_member *member)
{
    const struct system *system = member->system;
    member->source =
        (struct node_source){.context = member, .find = find_signal, .count = count_signal};
    node_attach_source(member->node, &member->source);
    if (system->torus) system_torus_attach(member);
    if (system->collective) system_collective_attach(member);
    if (system->dma) system_dma_attach(member);
    if (system->barrier) system_registers_attach(member);
    system_interrupts_attach(member);
}

void system_net_detach(struct system_member *member)
{
    net_torus_port_free(member->port);
    system_dma_detach(member);
    free(member->interrupts);
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
    /* At the end: idle links count until the last node has ended. */
    if (time == NET_NEVER && system->last > net_partition_now(partition))
        net_partition_advance(partition, system->last);
    return true;
}
