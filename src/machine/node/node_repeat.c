/* Repeats what a core does, without executing it: a loop that only waits.
 *
 * A round of a loop changes nothing but time and counts when it begins and ends with the same
 * registers, stores nothing, calls no service of the operating system, and finds all its lines in
 * L1, where a hit changes no state. The next round is then the same again, as long as devices give
 * the same answers; the caller knows that. Counts of a round are those of the core's blocks
 * and the loads of devices. */
#include <string.h>

#include "machine/node/node.h"

bool node_is_followed(const struct node *node, unsigned core)
{
    return core_is_followed(cores_get(node->cores, core));
}

bool node_mark_take(const struct node *node, unsigned core, struct node_mark *mark)
{
    struct core *of = cores_get(node->cores, core);
    if (!os_is_alone(node->os)) return false;
    mark->cycles = core_cycles(of);
    mark->activity = cache_activity(node->cache, core, &mark->device_loads);
    core_signal_counts(of, mark->signals);
    return true;
}

bool node_mark_difference(const struct node_mark *from, const struct node_mark *to,
                          struct node_mark *round)
{
    static const enum core_signal forbidden[] = {CORE_SIGNAL_STORE, CORE_SIGNAL_DCACHE_OPS,
                                                 CORE_SIGNAL_ICACHE_OPS, CORE_SIGNAL_SYNC};
    for (unsigned i = CORE_SIGNAL_OS_SYSCALL; i <= CORE_SIGNAL_MPI_WAIT; i++)
        if (from->signals[i] != to->signals[i]) return false;
    for (unsigned i = 0; i < sizeof forbidden / sizeof *forbidden; i++)
        if (from->signals[forbidden[i]] != to->signals[forbidden[i]]) return false;
    for (unsigned i = 0; i < CORE_SIGNAL_COUNT; i++)
        round->signals[i] = to->signals[i] - from->signals[i];
    round->cycles = to->cycles - from->cycles;
    round->activity = 0;
    round->device_loads = to->device_loads - from->device_loads;
    return from->activity == to->activity;
}

void node_repeat(struct node *node, unsigned core, const struct node_mark *round, uint64_t times)
{
    core_repeat(cores_get(node->cores, core), round->cycles, round->signals, times);
    cache_repeat_device_loads(node->cache, core, round->device_loads * times);
    os_repeat(node->os, core, round->cycles * times);
}
