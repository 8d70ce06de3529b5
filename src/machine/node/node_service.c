/* The call-through: services of the simulator for the program on it, and the simulator's own
 * counters behind some.
 *
 * A program asks with the reserved instruction: the service's number in r3, arguments from r4 on,
 * the result in r3, negative for an error number. docs/formats/callthru.md is the reference;
 * guest/include/chiliad/callthru.h the other side.
 */
#include <errno.h>
#include <string.h>

#include "machine/node/node.h"

enum {
    SERVICE_VERSION = 0,
    SERVICE_FILE = 1,
    SERVICE_TASK_SWITCH = 2,
    SERVICE_TASK_EXIT = 3,
    SERVICE_TRACE_ON = 4,
    SERVICE_TRACE_OFF = 5,
    SERVICE_SELECT = 6,
    SERVICE_START = 7,
    SERVICE_STOP = 8,
    SERVICE_RESET = 9,
    SERVICE_READ = 10,
    SERVICE_REGION_FIRST = 24,
    SERVICE_REGION_LAST = 27,
    SERVICE_TAG = 28
};

/* --- What the counters count ----------------------------------------------------------------- */

static void read_core(void *context, unsigned core, uint64_t *values)
{
    struct chil_run *run = context;
    uint64_t signals[CORE_SIGNAL_COUNT];
    core_signal_counts(cores_get(run->cores, core), signals);
    memset(values, 0, COUNTERS_SET * sizeof *values);
    for (size_t i = 0; i < run->own_count; i++)
        if (run->own[i].id < COUNTERS_SET)
            values[run->own[i].id] = node_count(run, &run->own[i], core, signals);
}

static void tell_overflow(void *context, int pid)
{
    struct chil_run *run = context;
    if (run->options.say)
        run->options.say(
            run->options.context,
            "more than 128 processes: those beyond them share one set of the simulator's own counters");
    (void)pid;
}

struct counters *node_counters_new(struct chil_run *run)
{
    struct counters_options options = {
        .cores = run->core_count, .read = read_core, .overflow = tell_overflow, .context = run};
    run->own = chil_machine_own_events(run->machine, &run->own_count);
    return counters_new(&options);
}

/* --- Services -------------------------------------------------------------------------------- */

static bool put_set(struct mem *mem, uint32_t address, const uint64_t *values)
{
    for (uint32_t i = 0; address && i < COUNTERS_SET; i++)
        if (!mem_put64(mem, address + 8 * i, values[i])) return false;
    return true;
}

static int32_t read_counters(struct chil_run *run, unsigned core, struct mem *mem, uint32_t user_at,
                             uint32_t kernel_at)
{
    uint64_t user[COUNTERS_SET], kernel[COUNTERS_SET];
    counters_read(run->counters, core, user, kernel);
    return put_set(mem, user_at, user) && put_set(mem, kernel_at, kernel) ? 0 : -EFAULT;
}

/* A kernel's business: from user mode, where the simulator is the kernel, it is not permitted. */
static int32_t tell_task(struct chil_run *run, unsigned core, const struct core_regs *regs)
{
    if (regs->msr & MSR_PR) return -EPERM;
    if (regs->gpr[3] == SERVICE_TASK_SWITCH)
        counters_switch(run->counters, core, (int)regs->gpr[4]);
    else
        counters_exit(run->counters, (int)regs->gpr[4]);
    return 0;
}

static int32_t serve(struct chil_run *run, unsigned core, const struct core_regs *regs,
                     struct mem *mem)
{
    const uint32_t *arg = &regs->gpr[3];
    int32_t result;
    switch (arg[0]) {
    case SERVICE_VERSION: return 1;
    case SERVICE_FILE: return (int32_t)os_transfer(run->os, core, arg[1], arg[2]);
    case SERVICE_TASK_SWITCH:
    case SERVICE_TASK_EXIT: return tell_task(run, core, regs);
    case SERVICE_TRACE_ON:
    case SERVICE_TRACE_OFF: return node_trace_switch(run, arg[0] == SERVICE_TRACE_ON);
    case SERVICE_SELECT:
        counters_select(run->counters, core, (uint64_t)arg[1] << 32 | arg[2]);
        return 0;
    case SERVICE_START: counters_start(run->counters, core); return 0;
    case SERVICE_STOP: counters_stop(run->counters, core); return 0;
    case SERVICE_RESET: counters_reset(run->counters, core); return 0;
    case SERVICE_READ: return read_counters(run, core, mem, arg[1], arg[2]);
    case SERVICE_REGION_FIRST ... SERVICE_REGION_LAST:
        return node_record_serve(run, core, arg, mem);
    case SERVICE_TAG: return node_monitor_tag(run, mem, arg[1]);
    default: return node_events_serve(run, core, arg, mem, &result) ? result : -ENOSYS;
    }
}

bool node_call_through(void *context, unsigned core, struct core_regs *regs, struct mem *mem)
{
    regs->gpr[3] = (uint32_t)serve(context, core, regs, mem);
    return true;
}

void node_switched(void *context, unsigned core, int pid, int tid)
{
    struct chil_run *run = context;
    node_trace_task(run, core, pid, tid);
    node_record_switched(run, core, pid, tid);
    node_monitor_task(run, core, pid, tid);
    counters_switch(run->counters, core, pid);
    node_events_switched(run, core, pid, tid);
}

void node_ended(void *context, int pid)
{
    struct chil_run *run = context;
    counters_exit(run->counters, pid);
    node_events_ended(run, pid);
}
