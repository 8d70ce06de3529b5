/* Collects what the cores watch for: thresholds of the counter unit, counts that threads of the
 * program wait for, interrupts of the monitor board. Each stops a core behind the instruction that
 * gets there, and its watcher then names the signal that the process or the task gets.
 */
#include "machine/node/node_watch.h"

static bool is_left(void *context, bool inside, struct core_room *room)
{
    const struct node_watch *watch = context;
    const struct node_watcher *const *watchers = watch->node->watchers;
    bool left = true;
    for (unsigned i = 0; i < NODE_ATTACHED && watchers[i]; i++)
        left &= watchers[i]->left(watchers[i]->context, watch->core, inside, room);
    return left;
}

struct core_watch *node_watch_get(struct node *node, unsigned core)
{
    return &node->watches[core].watch;
}

void node_watch_all(struct node *node)
{
    uint64_t call_left = 0;
    for (unsigned i = 0; i < node->core_count; i++) {
        struct core_watch *watch = node_watch_get(node, i);
        node->watches[i].node = node;
        node->watches[i].core = i;
        watch->context = &node->watches[i];
        watch->remaining = NULL;
        watch->cycle = watch->count = 0;
        watch->lagging = false;
    }
    for (unsigned i = 0; i < NODE_ATTACHED && node->watchers[i]; i++)
        call_left |= node->watchers[i]->watch(node->watchers[i]->context);
    for (unsigned i = 0; i < node->core_count; i++) {
        struct core_watch *watch = node_watch_get(node, i);
        if (call_left >> i & 1) watch->remaining = is_left;
        core_set_watch(cores_get(node->cores, i),
                       watch->count || watch->cycle || watch->remaining ? watch : NULL);
    }
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
