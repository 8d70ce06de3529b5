/* What the cores watch for: the counter unit's thresholds, counts that threads of the program wait
 * for, and interrupts of the monitor's board. Each stops the core behind the instruction that gets
 * there; the unit's is a signal for the process, as on Blue Gene/P, a thread's and the board's are
 * for the thread.
 */
#include "machine/node/node.h"

enum { SIGXCPU_POWERPC = 24, SIGIO_POWERPC = 29 };

static uint64_t ask(void *context)
{
    const struct node_watch *watch = context;
    uint64_t unit = node_upc_left(watch->run), thread = node_events_left(watch->run, watch->core);
    uint64_t board = node_monitor_left(watch->run, watch->core),
             least = unit < thread ? unit : thread;
    return least < board ? least : board;
}

void node_watch_all(struct chil_run *run)
{
    for (unsigned i = 0; i < run->core_count; i++) {
        run->watches[i] = (struct node_watch){.run = run, .core = i};
        run->watches[i].watch.context = &run->watches[i];
    }
    bool of_unit = run->upc && node_upc_watch(run), of_board = node_monitor_watch(run);
    for (unsigned i = 0; i < run->core_count; i++) {
        struct core_watch *watch = &run->watches[i].watch;
        bool of_thread = node_events_watch(run, i, watch);
        if (of_unit || of_thread || of_board) watch->ask = ask;
        core_set_watch(cores_get(run->cores, i),
                       watch->count || watch->cycle || watch->ask ? watch : NULL);
    }
}

int node_watch(void *context, unsigned core, int *task_signal)
{
    struct chil_run *run = context;
    if (run->upc) node_upc_catch_up(run, core_cycles(cores_get(run->cores, core)));
    bool interrupted = run->upc && node_upc_interrupted(run);
    if (node_events_reached(run, core))
        *task_signal = SIGXCPU_POWERPC;
    else if (node_monitor_interrupted(run, core)) /* else behind the next instruction */
        *task_signal = SIGIO_POWERPC;
    node_watch_all(run);
    return interrupted ? SIGXCPU_POWERPC : 0;
}
