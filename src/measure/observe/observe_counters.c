/* The simulator's own counters (measure/counters) for the program: the call-through reads them,
 * selects, starts and stops them. They are kept for each process; the operating system notifies of
 * its switches, or a kernel does so itself with services 2 and 3.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "measure/counters/counters.h"
#include "measure/observe/observe.h"

enum {
    SERVICE_TASK_SWITCH = 2,
    SERVICE_TASK_EXIT = 3,
    SERVICE_SELECT = 6,
    SERVICE_START = 7,
    SERVICE_STOP = 8,
    SERVICE_RESET = 9,
    SERVICE_READ = 10
};

struct observe_counters {
    struct node *node;
    struct counters *counters;
    const struct chil_event *events; /* the simulator's own */
    size_t event_count;
    struct node_listener listener;
    struct node_service service;
};

static void read_core(void *context, unsigned core, uint64_t *values)
{
    const struct observe_counters *o = context;
    uint64_t signals[CORE_SIGNAL_COUNT];
    core_signal_counts(cores_get(o->node->cores, core), signals);
    memset(values, 0, COUNTERS_SET * sizeof *values);
    for (size_t i = 0; i < o->event_count; i++)
        if (o->events[i].id < COUNTERS_SET)
            values[o->events[i].id] = node_count(o->node, &o->events[i], core, signals);
}

static void report_overflow(void *context, int pid)
{
    const struct node *node = ((const struct observe_counters *)context)->node;
    (void)pid;
    if (node->report)
        node->report(
            node->report_context,
            "more than 128 processes: those beyond them share one set of the simulator's own counters");
}

/* --- Services -------------------------------------------------------------------------------- */

static bool put_set(struct mem *mem, uint32_t address, const uint64_t *values)
{
    for (uint32_t i = 0; address && i < COUNTERS_SET; i++)
        if (!mem_put64(mem, address + 8 * i, values[i])) return false;
    return true;
}

static int32_t read_counters(struct counters *counters, unsigned core, struct mem *mem,
                             uint32_t user_at, uint32_t kernel_at)
{
    uint64_t user[COUNTERS_SET], kernel[COUNTERS_SET];
    counters_read(counters, core, user, kernel);
    return put_set(mem, user_at, user) && put_set(mem, kernel_at, kernel) ? 0 : -EFAULT;
}

/* A kernel's business: from user mode, where the simulator is the kernel, it is not permitted. */
static int32_t change_task(struct counters *counters, unsigned core, const struct core_regs *regs)
{
    if (regs->msr & MSR_PR) return -EPERM;
    if (regs->gpr[3] == SERVICE_TASK_SWITCH)
        counters_switch(counters, core, (int)regs->gpr[4]);
    else
        counters_exit(counters, (int)regs->gpr[4]);
    return 0;
}

static bool serve(void *context, unsigned core, const struct core_regs *regs, struct mem *mem,
                  int32_t *result)
{
    struct counters *counters = ((struct observe_counters *)context)->counters;
    const uint32_t *arg = &regs->gpr[3];
    *result = 0;
    switch (arg[0]) {
    case SERVICE_TASK_SWITCH:
    case SERVICE_TASK_EXIT: *result = change_task(counters, core, regs); return true;
    case SERVICE_SELECT:
        counters_select(counters, core, (uint64_t)arg[1] << 32 | arg[2]);
        return true;
    case SERVICE_START: counters_start(counters, core); return true;
    case SERVICE_STOP: counters_stop(counters, core); return true;
    case SERVICE_RESET: counters_reset(counters, core); return true;
    case SERVICE_READ: *result = read_counters(counters, core, mem, arg[1], arg[2]); return true;
    default: return false;
    }
}

static void switched(void *context, unsigned core, int pid, int tid)
{
    (void)tid;
    counters_switch(((struct observe_counters *)context)->counters, core, pid);
}

static void ended(void *context, int pid)
{
    counters_exit(((struct observe_counters *)context)->counters, pid);
}

struct observe_counters *observe_counters_new(struct node *node)
{
    struct observe_counters *o = base_calloc(1, sizeof *o);
    struct counters_options options = {
        .cores = node->core_count, .read = read_core, .overflow = report_overflow, .context = o};
    o->node = node;
    o->events = chil_machine_own_events(node->machine, &o->event_count);
    o->counters = counters_new(&options);
    o->listener = (struct node_listener){.context = o, .switched = switched, .ended = ended};
    o->service = (struct node_service){.context = o, .serve = serve};
    node_attach_listener(node, &o->listener);
    node_attach_service(node, &o->service);
    return o;
}

void observe_counters_free(struct observe_counters *o)
{
    if (o) counters_free(o->counters);
    free(o);
}

struct counters *observe_counters_get(struct observe_counters *o)
{
    return o->counters;
}
