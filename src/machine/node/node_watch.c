/* Collects what the cores watch for: thresholds of the counter unit, counts that threads of the
 * program wait for, interrupts of the monitor board. Each stops a core behind the instruction that
 * gets there, and its watcher then names the signal that the process or the task gets.
 */
#include "machine/node/node_watch.h"

static uint64_t least_left(void *context)
{
    const struct node_watch *watch = context;
    const struct node_watcher *const *watchers = watch->node->watchers;
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < NODE_ATTACHED && watchers[i]; i++) {
        uint64_t left = watchers[i]->left(watchers[i]->context, watch->core);
        if (left < least) least = left;
    }
    return least;
}

struct core_watch *node_watch_get(struct node *node, unsigned core)
{
    return &node->watches[core].watch;
}

void node_watch_all(struct node *node)
{
    uint64_t call_left = 0;
    for (unsigned i = 0; i < node->core_count; i++) {
        node->watches[i] = (struct node_watch){.node = node, .core = i};
        node->watches[i].watch.context = &node->watches[i];
    }
    for (unsigned i = 0; i < NODE_ATTACHED && node->watchers[i]; i++)
        call_left |= node->watchers[i]->watch(node->watchers[i]->context);
    for (unsigned i = 0; i < node->core_count; i++) {
        struct core_watch *watch = node_watch_get(node, i);
        if (call_left >> i & 1) watch->remaining = least_left;
        core_set_watch(cores_get(node->cores, i),
                       watch->count || watch->cycle || watch->remaining ? watch : NULL);
    }
}

void node_watch_update(struct node *node, unsigned core)
{
    uint64_t now = core_cycles(cores_get(node->cores, core));
    for (unsigned i = 0; i < NODE_ATTACHED && node->watchers[i]; i++)
        if (node->watchers[i]->catch_up)
            node->watchers[i]->catch_up(node->watchers[i]->context, now);
    node_watch_all(node);
}

int node_watch_stopped(void *context, unsigned core, int *task_signal)
{
    struct node *node = context;
    int process_signal = 0;
    for (unsigned i = 0; i < NODE_ATTACHED && node->watchers[i]; i++)
        node->watchers[i]->reached(node->watchers[i]->context, core, &process_signal, task_signal);
    node_watch_all(node);
    return process_signal;
}
