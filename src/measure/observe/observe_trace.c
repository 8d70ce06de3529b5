/* The trace of a run: the instructions that cores complete, with the task that ran them, for the
 * caller of chil_run_go.
 *
 * There is one switch for the node. A program moves it with the call-through (services 4 and 5):
 * the first record is the instruction behind the one that switched it on, the last is the one that
 * switches it off. Other cores are up to a quantum away from the calling one, so their part
 * begins and ends that much earlier or later.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "measure/observe/observe_names.h"

enum { SERVICE_TRACE_ON = 4, SERVICE_TRACE_OFF = 5 };

struct observe_trace {
    struct core_trace cores; /* what the cores see of it */
    struct node_listener listener;
    bool ended; /* the caller wants no more */
    struct task {
        int pid, tid;
    } tasks[OS_CORES_MAX]; /* by core */
};

static void notify(void *context, unsigned core, const struct core_step *step)
{
    struct observe *observe = context;
    struct observe_trace *trace = observe->trace;
    struct chil_trace_record record = {
        .cycle = step->cycle,
        .node = observe->number,
        .core = core,
        .pid = trace->tasks[core].pid,
        .tid = trace->tasks[core].tid,
        .pc = step->pc,
        .word = step->word,
        .category = observe_category(observe),
    };
    if (step->size) {
        record.access = step->manages ? CHIL_ACCESS_CACHE
                        : step->store ? CHIL_ACCESS_STORE
                                      : CHIL_ACCESS_LOAD;
        record.address = step->address;
        record.size = step->size;
        record.tag = observe_tag(observe, step->address);
    }
    observe->accessing = NULL;
    if (observe->names) observe_names_record(observe->names, core, step, &record);
    if (observe->options.trace(observe->options.context, &record)) return;
    trace->ended = true;
    trace->cores.on = false;
}

struct observe_trace *observe_trace_new(struct observe *observe)
{
    observe->trace_on = !observe->options.trace_off;
    if (!observe->options.trace) return NULL;
    struct observe_trace *trace = base_calloc(1, sizeof *trace);
    trace->cores = (struct core_trace){.step = notify, .context = observe, .on = observe->trace_on};
    return trace;
}

struct core_trace *observe_trace_of_cores(struct observe_trace *trace)
{
    return trace ? &trace->cores : NULL;
}

void observe_trace_free(struct observe_trace *trace)
{
    free(trace);
}

bool observe_trace_switch(struct observe *observe, bool on)
{
    observe->trace_on = on;
    if (observe->trace) observe->trace->cores.on = on && !observe->trace->ended;
    return observe->trace || observe->options.trace_switched;
}

static void switched(void *context, unsigned core, int pid, int tid)
{
    const struct observe *observe = context;
    observe->trace->tasks[core] = (struct task){pid, tid};
}

static void retired(void *context, unsigned core, const struct core_step *step)
{
    const struct observe *observe = context;
    if (observe->trace->cores.on) notify(context, core, step);
}

static bool serve(void *context, unsigned core, const struct core_regs *regs, struct mem *mem,
                  int32_t *result)
{
    uint32_t service = regs->gpr[3];
    (void)core, (void)mem;
    if (service != SERVICE_TRACE_ON && service != SERVICE_TRACE_OFF) return false;
    *result = observe_trace_switch(context, service == SERVICE_TRACE_ON);
    return true;
}

void observe_trace_attach(struct observe *observe)
{
    observe->trace_service = (struct node_service){.context = observe, .serve = serve};
    node_attach_service(observe->node, &observe->trace_service);
    if (!observe->trace) return;
    observe->trace->listener =
        (struct node_listener){.context = observe, .switched = switched, .retired = retired};
    node_attach_listener(observe->node, &observe->trace->listener);
}
