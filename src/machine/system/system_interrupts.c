/* The interrupt controller of a node, as far as the networks raise its lines: Blue Gene/P's BIC, at
 * interrupts.base of the machine file.
 *
 *   offset              access   what
 *   0x80 x group        load     status: a bit for each of 32 lines, the highest for line 0
 *   + 0x04              load     status, and clears it
 *   + 0x08, + 0x0C      store    clears, sets the bits that are 1
 *   + 0x10 to 0x1C      both     targets of 8 lines each, 4 bits: 0 none, 1-3 all cores, 4-7 core
 * 0-3; 8-B and C-F (critical, machine check) are the same here 0x780 + 4 x core    load     groups
 * with a line that is raised for the core, the highest for 0
 *
 *   lines               what
 *   2.22 to 3.24        DMA engine (enum net_dma_interrupt)
 *   4.12 to 4.15        barrier: a sticky bit of channel 0 to 3 was set
 *
 * A line is raised when its bit of the status goes from 0 to 1 and it has a target. The program
 * gets it as a signal, SIGURG, in the task of that core: programs are in user mode, and handlers of
 * Blue Gene's kernel are signal handlers, too. It comes behind the block, or the access to a
 * device, that the core does in the cycle of the interrupt.
 *
 * A node with a target may not run past what could interrupt it: the next event of its networks, or
 * what another node does at its time, and a latency later. Only such nodes run in windows. */
#include "machine/system/system_net.h"

#include "base/mem.h"

enum { GROUPS = 10, GROUP_STRIDE = 0x80, TARGETS = 4, HIERARCHY = 0x780 };
enum { STATUS = 0x00, READ_CLEAR = 0x04, CLEAR = 0x08, SET = 0x0C, TARGET = 0x10 };

struct system_interrupts {
    struct node_device device;
    uint32_t status[GROUPS], target[GROUPS][TARGETS];
    bool enabled; /* a line has a target */
};

bool system_interrupts_enabled(const struct system_member *member)
{
    return member->interrupts && member->interrupts->enabled;
}

static unsigned target_of(const struct system_interrupts *interrupts, unsigned number)
{
    unsigned line = number % 32;
    return interrupts->target[number / 32][line / 8] >> (28 - line % 8 * 4) & 15;
}

static bool is_for(unsigned target, unsigned core)
{
    return target && (target < 4 || target % 4 == core);
}

static void deliver(struct system_member *member, unsigned target)
{
    uint64_t now = net_partition_now(member->system->partition);
    for (unsigned core = 0; core < member->node->core_count; core++)
        if (is_for(target, core)) os_interrupt(member->node->os, core, now);
    if (!member->waits) return;
    member->time = now;
    system_idle_wake(member);
}

void system_interrupts_raise(struct system_member *member, unsigned number)
{
    struct system_interrupts *interrupts = member->interrupts;
    uint32_t bit = UINT32_C(0x80000000) >> number % 32;
    if (!interrupts || !member->node || interrupts->status[number / 32] & bit) return;
    interrupts->status[number / 32] |= bit;
    system_idle_change(member);
    if (target_of(interrupts, number)) deliver(member, target_of(interrupts, number));
}

uint64_t system_interrupts_until(const struct system_member *member)
{
    const struct system *system = member->system;
    uint64_t until = net_partition_next(system->partition), safe = system_ranks_until(system);
    uint64_t stop = system->stop_at;
    if (safe < until) until = safe;
    if (stop < until) until = stop;
    if (system->waiting) {
        uint64_t other = system->members[system->heap[0]].time + system->lookahead;
        if (other < until) until = other;
    }
    return until > member->time ? until : member->time + 1;
}

bool system_interrupts_asleep(struct system_member *member)
{
    if (!system_interrupts_enabled(member)) return false;
    member->waits = member->asleep = true;
    member->system->asleep++;
    return true;
}

/* ---- registers ---- */

static void enable(struct system_interrupts *interrupts)
{
    uint32_t any = 0;
    for (unsigned i = 0; i < GROUPS * TARGETS; i++)
        any |= interrupts->target[i / TARGETS][i % TARGETS];
    interrupts->enabled = any;
}

static uint32_t groups_for(const struct system_interrupts *interrupts, unsigned core)
{
    uint32_t groups = 0;
    for (unsigned number = 0; number < 32 * GROUPS; number++)
        if (interrupts->status[number / 32] << number % 32 >> 31 &&
            is_for(target_of(interrupts, number), core))
            groups |= UINT32_C(0x80000000) >> number / 32;
    return groups;
}

static bool load(struct system_interrupts *interrupts, uint32_t offset, uint64_t *value)
{
    unsigned group = offset / GROUP_STRIDE, at = offset % GROUP_STRIDE;
    if (offset >= HIERARCHY && offset < HIERARCHY + 4 * 4) {
        *value = groups_for(interrupts, (offset - HIERARCHY) / 4);
        return true;
    }
    if (group >= GROUPS || at >= TARGET + 4 * TARGETS || at == CLEAR || at == SET) return false;
    *value =
        at >= TARGET ? interrupts->target[group][(at - TARGET) / 4] : interrupts->status[group];
    if (at == READ_CLEAR) interrupts->status[group] = 0;
    return true;
}

static bool store(struct system_member *member, uint32_t offset, uint32_t value)
{
    struct system_interrupts *interrupts = member->interrupts;
    unsigned group = offset / GROUP_STRIDE, at = offset % GROUP_STRIDE;
    if (group >= GROUPS || at >= TARGET + 4 * TARGETS || at < CLEAR) return false;
    if (at == CLEAR) {
        interrupts->status[group] &= ~value;
    } else if (at == SET) {
        for (unsigned line = 0; line < 32; line++)
            if (value << line >> 31) system_interrupts_raise(member, 32 * group + line);
    } else {
        interrupts->target[group][(at - TARGET) / 4] = value;
        enable(interrupts);
    }
    return true;
}

static bool access_controller(void *context, unsigned core, struct node_access *access)
{
    struct system_member *member = context;
    uint32_t offset = access->address - member->interrupts->device.page;
    (void)core;
    if (access->width != 4 || offset % 4) return false;
    if (system_idle_replay(member, access)) return true;
    system_net_look(member);
    if (access->load && !load(member->interrupts, offset, &access->value)) return false;
    if (!access->load && !store(member, offset, (uint32_t)access->value)) return false;
    os_yield(member->node->os); /* it may have a target now */
    system_net_note(member, access, offset % GROUP_STRIDE == READ_CLEAR);
    return true;
}

void system_interrupts_attach(struct system_member *member)
{
    uint32_t page = system_net_number(member->system, "interrupts.base");
    if (!page) return;
    member->interrupts = base_calloc(1, sizeof *member->interrupts);
    system_net_attach_device(member, &member->interrupts->device, "barrier", page, MEM_PAGE,
                             access_controller);
}
