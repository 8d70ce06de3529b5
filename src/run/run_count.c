/* What an event counted in a run: on all nodes, on one, or on one core of each.
 *
 * Signals are found by their names, which takes a microsecond each, and a report asks for hundreds
 * of events for every core and node. So the signals of an event of the run's machine are found
 * once, when it is first asked for; all nodes have the same. Only the thread that owns the run
 * asks.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "run/run_impl.h"

struct run_found {
    struct found_events {
        const struct chil_event *event; /* the machine's table */
        size_t count;
        struct found_event {
            struct node_signal *signal; /* NULL: not asked for so far */
            bool of_cores;
        } * found;
    } table[2]; /* the chip's, the simulator's own */
};

struct run_found *run_found_new(const struct chil_machine *machine)
{
    struct run_found *f = base_calloc(1, sizeof *f);
    f->table[0].event = chil_machine_events(machine, &f->table[0].count);
    f->table[1].event = chil_machine_own_events(machine, &f->table[1].count);
    for (size_t t = 0; t < 2; t++)
        f->table[t].found = base_calloc(f->table[t].count + 1, sizeof *f->table[t].found);
    return f;
}

void run_found_free(struct run_found *f)
{
    if (!f) return;
    for (size_t t = 0; t < 2; t++) {
        for (size_t i = 0; i < f->table[t].count; i++)
            free(f->table[t].found[i].signal);
        free(f->table[t].found);
    }
    free(f);
}

static void find(const struct node *node, const struct chil_event *event, struct found_event *found)
{
    found->signal = base_calloc(event->signal_count + 1, sizeof *found->signal);
    found->of_cores = event->signal_count;
    for (size_t i = 0; i < event->signal_count; i++) {
        node_signal_find(node, event->signals[i], &found->signal[i]);
        found->of_cores &= node_signal_is_of_cores(&found->signal[i]);
    }
}

static const struct found_event *found_of(const struct chil_run *run,
                                          const struct chil_event *event)
{
    const struct found_events *table = &run->found->table[event->simulator];
    assert(event >= table->event && event < table->event + table->count);
    struct found_event *found = &table->found[event - table->event];
    if (!found->signal) find(run->node, event, found);
    return found;
}

uint64_t chil_run_node_count(const struct chil_run *run, unsigned node,
                             const struct chil_event *event)
{
    if (run_others_has(run, node)) return run_others_count(run, node, event);
    return node_found_count(run->nodes[node].node, event, found_of(run, event)->signal, CORE_ALL,
                            NULL);
}

uint64_t chil_run_count(const struct chil_run *run, const struct chil_event *event)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < run->node_count; i++)
        sum += chil_run_node_count(run, i, event);
    return sum;
}

bool chil_run_core_count(const struct chil_run *run, unsigned core, const struct chil_event *event,
                         uint64_t *count)
{
    *count = 0;
    if (core >= run->node->core_count || !found_of(run, event)->of_cores) return false;
    *count = run_others_core_count(run, core, event);
    for (unsigned n = run->first_node; n < run->end_node; n++)
        *count += node_found_count(run->nodes[n].node, event, found_of(run, event)->signal, core,
                                   run->nodes[n].node->counts[core]);
    return true;
}
