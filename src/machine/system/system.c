/* Runs the nodes of a machine, one turn after the other. */
#include "machine/system/system.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "machine/system/system_impl.h"

/* Cycles that a member runs on after its turn before another thread does; and those after which all
 * nodes end when a program ends them all, which must be more than the shortest latency. */
enum { SHORT = 4000, STOP_CYCLES = 10000 };

/* ---- the order of members ---- */

static bool is_before(const struct system *system, unsigned a, unsigned b)
{
    uint64_t left = system->members[a].time, right = system->members[b].time;
    return left < right || (left == right && a < b);
}

void system_add(struct system *system, const struct system_member *member)
{
    unsigned *heap = system->heap, number = (unsigned)(member - system->members);
    unsigned at = system->waiting++;
    for (; at && is_before(system, number, heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = number;
}

static struct system_member *take_first(struct system *system)
{
    unsigned *heap = system->heap, at = 0, first = heap[0], moved = heap[--system->waiting];
    for (;;) {
        unsigned child = 2 * at + 1;
        if (child >= system->waiting) break;
        if (child + 1 < system->waiting && is_before(system, heap[child + 1], heap[child])) child++;
        if (!is_before(system, heap[child], moved)) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
    return &system->members[first];
}

/* Whether the member that runs comes before all in the heap. */
static bool is_first(const struct system_member *member)
{
    const struct system *system = member->system;
    return !system->waiting ||
           is_before(system, (unsigned)(member - system->members), system->heap[0]);
}

/* ---- callbacks of nodes ---- */

static bool has_turn(void *context, const struct os_action *action)
{
    struct system_member *member = context;
    if (action->network && system_net_is_private(member, action)) return true;
    if (member->run.away) return false;
    member->time = os_now(member->node->os);
    if (action->network && system_idle_replays(member, member->time)) return true;
    do
        if (!is_first(member) || !system_ranks_safe(member->system, member->time)) return false;
    while (!system_net_advance(member->system, member->time));
    bool needs_order = !action->network || member->reports.count;
    if (needs_order && !system_ranks_first(member->system, member->time)) return false;
    system_flush_reports(member);
    return !action->network || !system_idle_look(member, action);
}

static int64_t output(void *context, int stream, const void *bytes, size_t count)
{
    return system_output(context, stream, bytes, count);
}

/* ---- making ---- */

int system_new(struct system **out, const struct system_options *options, struct chil_error *err)
{
    struct system *system = base_calloc(1, sizeof *system);
    system->options = *options;
    system->members = base_calloc(options->node_count, sizeof *system->members);
    system->heap = base_calloc(options->node_count, sizeof *system->heap);
    system->first_failed = -1;
    system->stop_at = NET_NEVER;
    unsigned threads =
        options->threads < options->node_count ? options->threads : options->node_count;
    if (threads > 1) system->threads = system_threads_new(threads - 1);
    system->ranks = system_ranks_new(options);
    *out = system;
    return system_net_new(system, err);
}

void system_free(struct system *system)
{
    if (!system) return;
    system_threads_free(system->threads);
    for (unsigned i = 0; i < system->options.node_count; i++) {
        system_output_fini(&system->members[i]);
        system_net_detach(&system->members[i]);
    }
    system_net_free(system);
    system_ranks_free(system->ranks);
    free(system->members);
    free(system->heap);
    free(system);
}

void system_attach(struct system *system, unsigned number, struct node *node)
{
    struct system_member *member = &system->members[number];
    assert(number < system->options.node_count && !member->node);
    *member =
        (struct system_member){.system = system,
                               .node = node,
                               .outside = {.context = member, .turn = has_turn, .output = output}};
    system_personality_attach(member);
    system_net_attach(member);
    system_add(system, member);
    if (system->options.node_count > 1) node_attach_outside(node, &member->outside);
}

/* ---- running ---- */

static void end(struct system *system, struct system_member *member)
{
    struct os_result result;
    os_result_get(member->node->os, &result);
    system_idle_forget(member);
    system_net_end(member);
    system_flush_reports(member);
    system_flush_lines(member);
    if (result.status && system->first_failed < 0) {
        system->first_failed = (int)(member - system->members);
        system->failed_at = member->time;
    }
    system->last = member->time;
}

/* Lets a member act and run on: until its next turn, or with other threads not for long. */
static enum os_progress act(struct system_member *member, uint64_t until)
{
    uint64_t end = member->system->threads ? member->time + SHORT : until;
    if (system_interrupts_enabled(member)) end = system_interrupts_until(member);
    return node_advance(member->node, end < until ? end : until);
}

void system_run_first(struct system *system, uint64_t until)
{
    struct system_member *member = take_first(system);
    enum os_progress progress;
    if (member->handed) {
        uint64_t next = system->waiting ? system->members[system->heap[0]].time : until;
        if (!system_threads_take(system->threads, member, next + SHORT, &progress)) {
            system_add(system, member);
            return;
        }
    } else {
        if (member->ended) {
            if (system_ranks_first(system, member->time))
                end(system, member);
            else
                system_add(system, member);
            return;
        }
        /* Interrupts up to its time are delivered before it runs on. */
        if (system_interrupts_enabled(member) && !system_net_advance(system, member->time)) {
            system_add(system, member);
            return;
        }
        progress = act(member, until);
    }
    switch (progress) {
    case OS_ALL_ENDED: member->ended = true; break;
    case OS_ALL_WAIT:
        if (!system_interrupts_asleep(member)) os_end_deadlock(member->node->os);
        break;
    case OS_TIME_REACHED:
    case OS_WAITS_FOR_TURN: break;
    }
    if (member->asleep) return;
    member->time = os_now(member->node->os);
    system_add(system, member);
    if (progress == OS_TIME_REACHED && member->time < until && system->threads &&
        !system_interrupts_enabled(member))
        system_threads_hand(system->threads, member);
}

void system_stop(struct system_member *member)
{
    struct system *system = member->system;
    uint64_t at = member->time + STOP_CYCLES;
    if (system->first_failed < 0) {
        system->first_failed = (int)(member - system->members);
        system->failed_at = member->time;
    }
    if (at < system->stop_at) system->stop_at = at;
}

/* Each node has run up to its first turn that is not before stop_at, on any number of threads. */
static void finish_handed(struct system *system)
{
    enum os_progress progress;
    unsigned count = system->waiting;
    for (unsigned i = 0; i < count; i++) {
        struct system_member *member = &system->members[system->heap[i]];
        while (member->handed)
            (void)system_threads_take(system->threads, member, UINT64_MAX, &progress);
    }
    for (system->waiting = 0; system->waiting < count;) /* in the order of their new times */
        system_add(system, &system->members[system->heap[system->waiting]]);
}

void system_stop_all(struct system *system)
{
    system_idle_catch_up(system, system->stop_at);
    finish_handed(system);
    for (unsigned i = 0; i < system->options.node_count; i++) {
        struct system_member *member = &system->members[i];
        if (member->asleep) system_idle_wake(member);
        if (member->node) os_kill(member->node->os);
    }
    system->stop_at = NET_NEVER;
}

/* Nothing is to be run before `until`, but the networks may wake a member. */
static bool wait_until(struct system *system, uint64_t until)
{
    bool is_over = system_net_advance(system, until);
    if (is_over && until != NET_NEVER) system_idle_catch_up(system, until);
    return is_over;
}

enum system_progress system_advance(struct system *system, uint64_t until)
{
    if (system->threads) system_threads_until(system->threads, until);
    if (system->ranks) return system_ranks_advance(system, until);
    while (system->waiting || system->asleep) {
        uint64_t stop = system->stop_at, end = stop < until ? stop : until;
        if (!system->waiting && stop == NET_NEVER &&
            net_partition_next(system->partition) == NET_NEVER) {
            system_idle_deadlock(system, 0, system->asleep);
            continue;
        }
        const struct system_member *first =
            system->waiting ? &system->members[system->heap[0]] : NULL;
        if (first && (first->ended || first->time < end))
            system_run_first(system, until);
        else if (!wait_until(system, end) || end == NET_NEVER)
            continue; /* a member was woken, or none ever will be */
        else if (end == stop)
            system_stop_all(system);
        else
            return SYSTEM_TIME_REACHED;
    }
    (void)system_net_advance(system, NET_NEVER);
    return SYSTEM_ENDED;
}

uint64_t system_now(const struct system *system)
{
    if (system->ranks) return system_ranks_now(system);
    if (system->waiting) return system->members[system->heap[0]].time;
    return system->asleep ? net_partition_now(system->partition) : system->last;
}

unsigned system_asleep(const struct system *system)
{
    return system->asleep;
}

uint64_t system_failed_at(const struct system *system)
{
    return system->failed_at;
}

int system_first_failed(const struct system *system)
{
    return system->first_failed;
}
