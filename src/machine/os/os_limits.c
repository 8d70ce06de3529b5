/* Limits: what a run may use, and what a process has set for itself (setrlimit).
 *
 * Memory is counted as a kernel without overcommit does: every page that may be written counts,
 * touched or not, shared pages in each process that has them, and SPACE_COST for the simulator's
 * tables of an address space. So what a guest may have does not depend on the host, and neither
 * does the moment at which it is refused.
 *
 *   what      run's limit   process's limit          beyond it
 *   memory    memory        RLIMIT_AS, RLIMIT_DATA   ENOMEM
 *   tasks     tasks         RLIMIT_NPROC             EAGAIN
 *   files     files         RLIMIT_NOFILE            ENFILE, EMFILE
 *   signals   signals       RLIMIT_SIGPENDING        EAGAIN; also for timers
 *   output    output        RLIMIT_FSIZE of a file   ENOSPC; EFBIG with SIGXFSZ
 *   mappings  MAPPINGS_MAX  -                        ENOMEM; parts of shared memory
 *
 * Of several processes that the program is started as, each has an equal part of the memory, as
 * its RLIMIT_DATA. RLIMIT_CPU is in os_timer.c. RLIMIT_STACK, _CORE, _MEMLOCK and the others are
 * kept and have no effect: a stack is 8 MiB, there are no core files, and memory is always locked.
 */
#include "machine/os/os_space_impl.h"
#include "machine/os/os_task.h"

#include <errno.h>

enum {
    RLIMIT_CPU = 0,
    RLIMIT_FSIZE = 1,
    RLIMIT_DATA = 2,
    RLIMIT_STACK = 3,
    RLIMIT_CORE = 4,
    RLIMIT_NPROC = 6,
    RLIMIT_NOFILE = 7,
    RLIMIT_MEMLOCK = 8,
    RLIMIT_AS = 9,
    RLIMIT_SIGPENDING = 11,
    RLIMIT_NICE = 13,
    RLIMIT_RTPRIO = 14
};
enum { SPACE_COST = 1 << 20, MAPPINGS_MAX = 16384 };

/* ---- of the run ---- */

void os_maximum_init(struct os *os)
{
    struct os_maximum *most = &os->options.maximum;
    if (!most->memory) most->memory = os->options.memory_bytes;
    if (!most->tasks) most->tasks = 1024;
    if (!most->signals) most->signals = 4096;
    if (!most->output) most->output = UINT64_C(16) << 30;
}

uint64_t os_process_memory(const struct os *os)
{
    return os->options.maximum.memory / os->options.processes;
}

/* Address spaces may be shared (vfork): they count once. */
static bool is_first_with_space(const struct os *os, const struct os_process *process)
{
    const struct os_process *other = os->processes;
    while (other->space != process->space)
        other = other->next;
    return other == process;
}

uint64_t os_memory_used(const struct os *os)
{
    uint64_t used = 0;
    for (const struct os_process *process = os->processes; process; process = process->next)
        if (process->space && process->space->mem &&
            (process->space->users < 2 || is_first_with_space(os, process)))
            used += SPACE_COST + (uint64_t)process->space->mem->writable_pages * MEM_PAGE;
    return used;
}

static bool run_has_room(struct os *os, uint64_t bytes)
{
    uint64_t most = os->options.maximum.memory;
    if (!bytes || (bytes <= most && os_memory_used(os) <= most - bytes)) return true;
    os_warn_once(os, "memory",
                 "the program and its children asked for more than %llu MiB of memory (ENOMEM); "
                 "'--max memory=SIZE' gives more",
                 (unsigned long long)(most >> 20));
    return false;
}

bool os_may_map(const struct os_call *call, uint64_t mapped, uint64_t writable)
{
    const struct mem *mem = call->mem;
    if ((uint64_t)mem->mapped_pages * MEM_PAGE + mapped > os_limit(call->process, RLIMIT_AS))
        return false;
    if (writable &&
        (uint64_t)mem->writable_pages * MEM_PAGE + writable > os_limit(call->process, RLIMIT_DATA))
        return false;
    return run_has_room(call->os, writable);
}

bool os_may_have_space(struct os *os, const struct os_space *space)
{
    return run_has_room(os, SPACE_COST + (uint64_t)space->mem->writable_pages * MEM_PAGE);
}

bool os_may_start_task(const struct os_call *call)
{
    uint64_t count = 0, most = call->os->options.maximum.tasks;
    for (const struct os_task *task = call->os->tasks; task; task = task->next)
        count += task->state != OS_DEAD;
    for (const struct os_process *process = call->os->processes; process; process = process->next)
        count += process->exited && !process->reaped;
    if (count >= os_limit(call->process, RLIMIT_NPROC)) return false;
    if (count < most) return true;
    os_warn_once(call->os, "tasks",
                 "the program has %llu processes and threads and wanted more (EAGAIN); "
                 "'--max tasks=N' gives more",
                 (unsigned long long)most);
    return false;
}

bool os_may_share(struct os *os, unsigned parts)
{
    unsigned count = 0;
    for (const struct os_process *process = os->processes; process; process = process->next)
        if (process->space && (process->space->users < 2 || is_first_with_space(os, process)))
            count += space_parts(process->space);
    if (count + parts <= MAPPINGS_MAX) return true;
    os_warn_once(os, "mappings",
                 "the program has %d pieces of shared memory and wanted more (ENOMEM)",
                 MAPPINGS_MAX);
    return false;
}

uint64_t os_signals_max(const struct os_process *process)
{
    uint64_t own = os_limit(process, RLIMIT_SIGPENDING),
             most = process->os->options.maximum.signals;
    return own < most ? own : most;
}

/* How much of `count` bytes may be written to a file from `at` on; negative: not a file. */
int64_t os_may_write(const struct os_call *call, int64_t at, uint64_t count)
{
    enum { SIGXFSZ = 25 };
    struct os *os = call->os;
    uint64_t most = os->options.maximum.output, size = os_limit(call->process, RLIMIT_FSIZE);
    if (at >= 0 && count && (uint64_t)at >= size) {
        (void)os_send_signal(os, call->process, SIGXFSZ);
        return -EFBIG;
    }
    if (at >= 0 && count > size - (uint64_t)at) count = size - (uint64_t)at;
    if (count <= most - os->written) return (int64_t)count;
    os_warn_once(os, "output",
                 "the program has written %llu MiB and wanted more (ENOSPC); "
                 "'--max output=SIZE' gives more",
                 (unsigned long long)(os->written >> 20));
    return most > os->written ? (int64_t)(most - os->written) : -ENOSPC;
}

void os_wrote(struct os *os, int64_t count)
{
    if (count > 0) os->written += (uint64_t)count;
}

/* ---- of processes ---- */

void os_limits_init(struct os_process *process)
{
    const struct os_maximum *most = &process->os->options.maximum;
    for (unsigned l = 0; l < OS_LIMITS; l++)
        process->limits[l] = (struct os_limit){UINT64_MAX, UINT64_MAX};
    if (process->os->options.processes > 1)
        process->limits[RLIMIT_DATA] =
            (struct os_limit){os_process_memory(process->os), os_process_memory(process->os)};
    process->limits[RLIMIT_NICE] = process->limits[RLIMIT_RTPRIO] = (struct os_limit){0, 0};
    process->limits[RLIMIT_STACK].soft = UINT64_C(8) << 20;
    process->limits[RLIMIT_CORE].soft = 0;
    process->limits[RLIMIT_NPROC] = (struct os_limit){most->tasks, most->tasks};
    process->limits[RLIMIT_NOFILE] = (struct os_limit){1024, 4096};
    process->limits[RLIMIT_MEMLOCK] = (struct os_limit){UINT64_C(8) << 20, UINT64_C(8) << 20};
    process->limits[RLIMIT_SIGPENDING] = (struct os_limit){most->signals, most->signals};
}

uint64_t os_limit(const struct os_process *process, unsigned resource)
{
    return process->limits[resource].soft;
}

static int64_t set_limit(struct os_process *process, unsigned resource, struct os_limit limit)
{
    struct os_limit *old = &process->limits[resource];
    if (limit.soft > limit.hard) return -EINVAL;
    if (limit.hard > old->hard) return -EPERM;
    *old = limit;
    if (resource == RLIMIT_NOFILE && process->files) files_set_limit(process->files, limit.soft);
    if (resource == RLIMIT_CPU) os_cpu_limit_changed(process);
    return 0;
}

static uint32_t limit_word(uint64_t limit, uint32_t infinite)
{
    return limit >= infinite ? infinite : (uint32_t)limit;
}

static int64_t get_limit32(struct os_call *call, uint32_t infinite)
{
    if (call->arg[0] >= OS_LIMITS) return -EINVAL;
    const struct os_limit *limit = &call->process->limits[call->arg[0]];
    bool done = mem_put32(call->mem, call->arg[1], limit_word(limit->soft, infinite)) &&
                mem_put32(call->mem, call->arg[1] + 4, limit_word(limit->hard, infinite));
    return done ? 0 : -EFAULT;
}

int64_t sys_getrlimit(struct os_call *call)
{
    return get_limit32(call, INT32_MAX);
}

int64_t sys_ugetrlimit(struct os_call *call)
{
    return get_limit32(call, UINT32_MAX);
}

int64_t sys_setrlimit(struct os_call *call)
{
    uint32_t soft, hard;
    if (call->arg[0] >= OS_LIMITS) return -EINVAL;
    if (!mem_get32(call->mem, call->arg[1], &soft) ||
        !mem_get32(call->mem, call->arg[1] + 4, &hard))
        return -EFAULT;
    struct os_limit limit = {soft == UINT32_MAX ? UINT64_MAX : soft,
                             hard == UINT32_MAX ? UINT64_MAX : hard};
    return set_limit(call->process, call->arg[0], limit);
}

int64_t sys_prlimit64(struct os_call *call)
{
    struct os_process *process =
        call->arg[0] ? os_process_find(call->os, (int)call->arg[0]) : call->process;
    if (!process) return -ESRCH;
    if (call->arg[1] >= OS_LIMITS) return -EINVAL;
    struct os_limit new, old = process->limits[call->arg[1]];
    if (call->arg[2]) {
        if (!mem_get64(call->mem, call->arg[2], &new.soft) ||
            !mem_get64(call->mem, call->arg[2] + 8, &new.hard))
            return -EFAULT;
        int64_t wrong = set_limit(process, call->arg[1], new);
        if (wrong) return wrong;
    }
    uint32_t to = call->arg[3];
    return to && (!mem_put64(call->mem, to, old.soft) || !mem_put64(call->mem, to + 8, old.hard))
               ? -EFAULT
               : 0;
}
