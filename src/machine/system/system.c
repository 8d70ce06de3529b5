/* Runs the nodes of a machine, one turn after the other. */
#include "machine/system/system.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "machine/system/system_impl.h"

/* ---- the order of members ---- */

static bool is_before(const struct system *system, unsigned a, unsigned b)
{
    uint64_t left = system->members[a].time, right = system->members[b].time;
    return left < right || (left == right && a < b);
}

/* The first member of the heap has got another time: moves it to its place. */
static void sink_first(struct system *system)
{
    unsigned *heap = system->heap, at = 0, moved = heap[0];
    for (;;) {
        unsigned child = 2 * at + 1;
        if (child >= system->waiting) break;
        if (child + 1 < system->waiting && is_before(system, heap[child + 1], heap[child])) child++;
        if (!is_before(system, heap[child], moved)) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* Whether the first member, which runs, is still the first at its time. */
static bool is_first(const struct system *system)
{
    for (unsigned child = 1; child <= 2 && child < system->waiting; child++)
        if (is_before(system, system->heap[child], system->heap[0])) return false;
    return true;
}

/* ---- callbacks of nodes ---- */

static bool has_turn(void *context, const struct os_action *action)
{
    struct system_member *member = context;
    member->time = os_now(member->node->os);
    if (!is_first(member->system)) return false;
    system_net_advance(member->system, member->time);
    if (!action->network) system_flush_reports(member);
    return true;
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
    system->waiting = options->node_count;
    system->first_failed = -1;
    for (unsigned i = 0; i < options->node_count; i++)
        system->heap[i] = i;
    *out = system;
    return system_net_new(system, err);
}

void system_free(struct system *system)
{
    if (!system) return;
    for (unsigned i = 0; i < system->options.node_count; i++) {
        system_output_fini(&system->members[i]);
        system_net_detach(&system->members[i]);
    }
    system_net_free(system);
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
    if (system->options.node_count > 1) node_attach_outside(node, &member->outside);
}

/* ---- running ---- */

static void end(struct system *system, struct system_member *member)
{
    struct os_result result;
    os_result_get(member->node->os, &result);
    system_flush_lines(member);
    if (result.status && system->first_failed < 0)
        system->first_failed = (int)(member - system->members);
    system->last = member->time;
    system->heap[0] = system->heap[--system->waiting];
}

/* Runs the first member until it waits for its turn, ends, or reaches `until`. */
static void run_first(struct system *system, uint64_t until)
{
    struct system_member *member = &system->members[system->heap[0]];
    system_flush_reports(member);
    if (member->ended) {
        end(system, member);
        return;
    }
    switch (node_advance(member->node, until)) {
    case OS_ALL_ENDED: member->ended = true; break;
    case OS_ALL_WAIT: os_end_deadlock(member->node->os); break; /* no other node could wake one */
    case OS_TIME_REACHED:
    case OS_WAITS_FOR_TURN: break;
    }
    member->time = os_now(member->node->os);
}

enum system_progress system_advance(struct system *system, uint64_t until)
{
    while (system->waiting) {
        const struct system_member *first = &system->members[system->heap[0]];
        if (!first->ended && first->time >= until) return SYSTEM_TIME_REACHED;
        run_first(system, until);
        if (system->waiting) sink_first(system);
    }
    return SYSTEM_ENDED;
}

uint64_t system_now(const struct system *system)
{
    return system->waiting ? system->members[system->heap[0]].time : system->last;
}

int system_first_failed(const struct system *system)
{
    return system->first_failed;
}
