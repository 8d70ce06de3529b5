/* The trace of a run: what cores tell of their instructions, with who ran them, for the caller of
 * chil_run_go.
 *
 * There is one switch for the node. A program moves it with the call-through (services 4 and 5):
 * the first record is the instruction behind the one that switched it on, the last is the one that
 * switches it off. Other cores are up to a quantum away from the one that asks, so their part
 * begins and ends that much earlier or later.
 */
#include "base/mem.h"
#include "machine/node/node_names.h"

struct node_trace {
    struct core_trace cores; /* what the cores see of it */
    bool over;               /* the caller wants no more */
    struct task {
        int pid, tid;
    } tasks[OS_CORES_MAX]; /* by core */
};

static void tell(void *context, unsigned core, const struct core_step *step)
{
    struct chil_run *run = context;
    struct node_trace *trace = run->trace;
    struct chil_trace_record record = {
        .cycle = step->cycle,
        .core = core,
        .pid = trace->tasks[core].pid,
        .tid = trace->tasks[core].tid,
        .pc = step->pc,
        .word = step->word,
    };
    if (step->size) {
        record.access = step->manages ? CHIL_ACCESS_CACHE
                        : step->store ? CHIL_ACCESS_STORE
                                      : CHIL_ACCESS_LOAD;
        record.address = step->address;
        record.size = step->size;
    }
    run->telling = NULL;
    node_monitor_names(run, step->address, &record.category, &record.tag);
    if (!step->size) record.tag = 0;
    if (run->names) node_names_record(run, core, step, &record);
    if (run->options.trace(run->options.context, &record)) return;
    trace->over = true;
    trace->cores.on = false;
}

struct node_trace *node_trace_new(struct chil_run *run)
{
    run->trace_on = !run->options.trace_off;
    if (!run->options.trace) return NULL;
    struct node_trace *trace = base_calloc(1, sizeof *trace);
    trace->cores = (struct core_trace){.step = tell, .context = run, .on = run->trace_on};
    return trace;
}

struct core_trace *node_trace_of_cores(struct node_trace *trace)
{
    return &trace->cores;
}

bool node_trace_switch(struct chil_run *run, bool on)
{
    run->trace_on = on;
    if (run->trace) run->trace->cores.on = on && !run->trace->over;
    return run->trace || run->options.trace_switched;
}

void chil_run_trace_switch(struct chil_run *run, bool on)
{
    bool was_on = run->trace_on;
    (void)node_trace_switch(run, on);
    if (run->trace && run->trace->cores.on && !was_on && run->telling)
        core_trace_begin(run->telling);
}

bool chil_run_trace_is_on(const struct chil_run *run)
{
    return run->trace_on;
}

void node_trace_task(struct chil_run *run, unsigned core, int pid, int tid)
{
    if (run->trace) run->trace->tasks[core] = (struct task){pid, tid};
}

void node_trace_retired(struct chil_run *run, unsigned core, const struct core_step *step)
{
    if (run->trace && run->trace->cores.on) tell(run, core, step);
}
