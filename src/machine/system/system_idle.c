/* Nodes that wait for a network: their looks are counted without being executed.
 *
 * A program waits in a loop that looks at a status again and again. A round of that loop goes from
 * a look to the next time at which the same instruction looks with the same registers. When the
 * node did nothing in it but look (node_repeat.c), and what devices answer has not changed, every
 * further round is the same. The member then sleeps: it is in no heap and costs nothing.
 *
 * What devices of a node answer changes when the network does something at the node (callbacks of
 * the networks' owners) and when the node itself stores to a device or takes something out of a
 * FIFO. Each adds 1 to member->changes. Such an event in cycle w wakes the member. Of the rounds,
 * all that begin up to w are counted; a look at time t sees what happened before t, so looks up to
 * w have old answers and those behind it new ones. A round with several looks begins at most at w
 * and is executed: its looks up to w are given the answers that they had in the round before.
 *
 * A core that is recorded or traced executes all its looks. When all members do nothing but look,
 * in rounds that were found to be the same, and the networks are quiet, they sleep all the same:
 * that is a deadlock, too. On ranks no rank knows that of the others, so such a deadlock is not
 * found there.
 *
 * Two rounds are measured before a member sleeps: both must take the same time. Limits: loops that
 * store, also to the stack; loops with more than LOOKS looks; nodes on which other tasks can run, a
 * time limit or a signal may come. They are executed. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "machine/system/system_impl.h"

enum { LOOKS = 16, REPORTED = 8, PLACE = 200, FRAMES = 32 };

struct answer {
    uint32_t address;
    uint64_t value, second;
};

struct system_idle {
    bool valid;           /* the rest is of a round that began */
    unsigned core, looks; /* answers so far, the first look's included */
    struct core_regs regs;
    uint64_t changes, own_changes;
    uint64_t began, cycles; /* cycles: of the round before, 0: there is none */
    uint64_t until;         /* looks up to then are given the answers; 0: none */
    unsigned replayed;
    bool is_marked;
    bool polls, is_stuck; /* of a core that executes its looks: the last round was as long as the
                             one before; and was found to be the same */
    struct node_mark mark, round;
    struct answer answers[LOOKS];
};

static void set_polls(struct system_member *member, bool polls, bool is_stuck)
{
    struct system_idle *idle = member->idle;
    struct system *system = member->system;
    if (!idle) return;
    system->polling = system->polling - idle->polls + polls;
    system->stuck = system->stuck - idle->is_stuck + is_stuck;
    idle->polls = polls;
    idle->is_stuck = is_stuck;
}

void system_idle_forget(struct system_member *member)
{
    set_polls(member, false, false);
}

static void begin(struct system_member *member, const struct os_action *action)
{
    struct system_idle *idle = member->idle;
    system_idle_forget(member);
    idle->valid = true;
    idle->core = action->core;
    idle->looks = 0;
    idle->changes = member->changes;
    idle->own_changes = member->own_changes;
    idle->began = member->time;
    idle->cycles = 0;
    idle->is_marked = false;
    memcpy(&idle->regs, action->regs, sizeof idle->regs);
}

/* A round is over at the look that it began with. True: it will be the same from now on. */
static bool is_steady(struct system_member *member)
{
    struct system_idle *idle = member->idle;
    struct node_mark mark;
    uint64_t cycles = member->time - idle->began;
    bool same = cycles == idle->cycles, was_marked = idle->is_marked;
    idle->began = member->time;
    idle->cycles = cycles;
    if (!same || !node_mark_take(member->node, idle->core, &mark)) {
        idle->is_marked = false;
        return false;
    }
    bool steady = was_marked && node_mark_difference(&idle->mark, &mark, &idle->round) &&
                  idle->round.cycles == cycles;
    idle->mark = mark;
    idle->is_marked = true;
    return steady;
}

/* Of a core that executes its looks: whether nothing will ever change, here or anywhere. Rounds are
 * marked, which takes time, only while all others look, too. */
static bool is_stuck_with_all(struct system_member *member)
{
    const struct system *system = member->system;
    struct system_idle *idle = member->idle;
    unsigned others = system->waiting; /* the member that acts is in no heap */
    if (member->time - idle->began == idle->cycles)
        set_polls(member, true, idle->is_stuck);
    else
        system_idle_forget(member);
    if (system->ranks || system->polling < others + 1 ||
        net_partition_next(system->partition) != NET_NEVER) {
        idle->cycles = member->time - idle->began;
        idle->began = member->time;
        idle->is_marked = false;
        return false;
    }
    if (!is_steady(member)) return false;
    set_polls(member, true, true);
    return system->stuck == others + 1;
}

bool system_idle_look(struct system_member *member, const struct os_action *action)
{
    struct system_idle *idle = member->idle;
    if (action->store) return false;
    if (!idle) idle = member->idle = base_calloc(1, sizeof *idle);
    bool goes_on = idle->valid && idle->changes == member->changes &&
                   idle->own_changes == member->own_changes && idle->core == action->core;
    if (goes_on && action->regs->pc != idle->regs.pc && idle->looks < LOOKS) return false;
    if (!goes_on || memcmp(&idle->regs, action->regs, sizeof idle->regs) != 0) {
        begin(member, action);
        return false;
    }
    member->asleep =
        node_is_followed(member->node, idle->core) ? is_stuck_with_all(member) : is_steady(member);
    member->system->asleep += member->asleep;
    if (member->asleep) system_idle_forget(member);
    if (!member->asleep) idle->looks = 0;
    return member->asleep;
}

void system_idle_answered(struct system_member *member, const struct node_access *access)
{
    struct system_idle *idle = member->idle;
    if (!idle || !idle->valid) return;
    if (idle->looks < LOOKS)
        idle->answers[idle->looks] =
            (struct answer){access->address, access->value, access->second};
    idle->looks++;
}

/* Counts rounds of a member that sleeps, up to the last one that begins at `time` or before, and
 * one more if wanted. */
static void repeat(struct system_member *member, uint64_t time, bool one_more)
{
    struct system_idle *idle = member->idle;
    uint64_t times = (time > idle->began ? time - idle->began : 0) / idle->round.cycles + one_more;
    node_repeat(member->node, idle->core, &idle->round, times);
    idle->began += times * idle->round.cycles;
    member->time = idle->began;
}

void system_idle_wake(struct system_member *member)
{
    member->asleep = false;
    member->system->asleep--;
    member->system->woken = true;
    member->waits = false;
    if (member->idle) member->idle->valid = false;
    system_add(member->system, member);
}

void system_idle_change(struct system_member *member)
{
    struct system_idle *idle = member->idle;
    system_idle_forget(member);
    member->changes++;
    if (!member->asleep || member->waits) return;
    uint64_t now = net_partition_now(member->system->partition);
    assert(now >= idle->began);
    repeat(member, now, idle->looks == 1);
    if (idle->looks > 1) idle->until = now;
    idle->replayed = 0;
    system_idle_wake(member);
}

void system_idle_recheck(struct system_member *member,
                         bool (*same)(struct system_member *member, unsigned what, uint32_t address,
                                      uint64_t value),
                         unsigned what)
{
    const struct system_idle *idle = member->idle;
    bool changed = !member->asleep || member->waits;
    for (unsigned i = 0; !changed && i < idle->looks; i++)
        changed = !same(member, what, idle->answers[i].address, idle->answers[i].value);
    if (changed) system_idle_change(member);
}

bool system_idle_replays(const struct system_member *member, uint64_t time)
{
    return member->idle && member->idle->until && time <= member->idle->until;
}

bool system_idle_replay(struct system_member *member, struct node_access *access)
{
    struct system_idle *idle = member->idle;
    if (!system_idle_replays(member, member->time)) return false;
    const struct answer *answer = &idle->answers[idle->replayed++];
    assert(idle->replayed <= idle->looks && answer->address == access->address && access->load);
    access->value = answer->value;
    access->second = answer->second;
    return true;
}

void system_idle_catch_up(struct system *system, uint64_t time)
{
    for (unsigned i = 0; system->asleep && i < system->options.node_count; i++)
        if (system->members[i].asleep && !system->members[i].waits)
            repeat(&system->members[i], time, false);
}

/* ---- deadlock ---- */

static void report_line(struct system *system, unsigned number, const char *text)
{
    const struct system_options *o = &system->options;
    if (o->report && !system_ranks_line(system, number, 0, text, strlen(text) + 1))
        o->report(o->context, number, text);
}

/* The call of MPI that the program waits in, and where it was called: found by the back chain of
 * the stack, which Power's ABI has for every function. */
static void describe_call(struct system *system, unsigned number, char *text, size_t size)
{
    const struct system_options *o = &system->options;
    const struct system_member *member = &system->members[number];
    const struct mem *mem = core_memory(cores_get(member->node->cores, member->idle->core));
    uint32_t frame = member->idle->regs.gpr[1], next, link;
    char call[PLACE] = "", place[PLACE];
    for (unsigned i = 0; i < FRAMES && mem_get32(mem, frame, &next) && next > frame &&
                         mem_get32(mem, next + 4, &link);
         i++, frame = next) {
        o->place(o->context, number, member->idle->core, link - 4, place, sizeof place);
        const char *name = strncmp(place, "PMPI_", 5) == 0 ? place + 1 : place;
        if (*call) {
            (void)snprintf(text, size, ", in %.*s, called at %s", (int)strcspn(call, "+ "), call,
                           place);
            return;
        }
        if (strncmp(name, "MPI_", 4) == 0) (void)snprintf(call, sizeof call, "%s", name);
    }
}

static void report(struct system *system, unsigned number)
{
    const struct system_options *o = &system->options;
    const struct system_member *member = &system->members[number];
    char text[2000], place[PLACE] = "", call[2 * PLACE] = "",
                     says[SYSTEM_PROCESSES * (ASK_TEXT + 4)];
    if (!o->report) return;
    if (member->waits) {
        report_line(system, number, "deadlock: all its threads wait for ever for an interrupt");
        return;
    }
    if (o->place)
        o->place(o->context, number, member->idle->core, member->idle->regs.pc, place,
                 sizeof place);
    if (o->place) describe_call(system, number, call, sizeof call);
    system_ask_text(member, says, sizeof says);
    (void)snprintf(text, sizeof text, "deadlock: waits for ever for %s at pc 0x%08x%s%s%s%s",
                   system_net_awaited(member, member->idle->answers[0].address),
                   member->idle->regs.pc, *place ? " in " : "", place, call, says);
    report_line(system, number, text);
}

void system_idle_deadlock(struct system *system, unsigned before, unsigned all)
{
    unsigned reported = before, first_left = 0;
    char text[80];
    if (system_ask_all(system)) return;
    for (unsigned i = 0; i < system->options.node_count; i++) {
        struct system_member *member = &system->members[i];
        if (!member->asleep) continue;
        if (reported < REPORTED) {
            report(system, i);
            first_left = i;
            reported++;
        }
        os_kill(member->node->os);
        system_idle_wake(member);
    }
    (void)snprintf(text, sizeof text, "deadlock: and %u more nodes", all - REPORTED);
    if (all > REPORTED && reported == REPORTED && before < REPORTED)
        report_line(system, first_left, text);
}
