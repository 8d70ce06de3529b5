/* Time as programs see it: all of it simulated.
 *
 * The machine was switched on at OS_EPOCH, cycle 0; a clock shows the cycles of the calling core,
 * in nanoseconds. CLOCK_MONOTONIC and its relatives count from there, CLOCK_REALTIME and CLOCK_TAI
 * from 1970. Time spent by a task is the cycles its core ran it: all user time, as the services of
 * this system take none. Setting a clock is refused.
 */
#include "machine/os/os_task.h"

#include <errno.h>

#define NS_PER_SECOND UINT64_C(1000000000)

enum {
    CLOCK_REALTIME = 0,
    CLOCK_MONOTONIC = 1,
    CLOCK_PROCESS = 2,
    CLOCK_THREAD = 3,
    CLOCK_MONOTONIC_RAW = 4,
    CLOCK_REALTIME_COARSE = 5,
    CLOCK_MONOTONIC_COARSE = 6,
    CLOCK_BOOTTIME = 7,
    CLOCK_REALTIME_ALARM = 8,
    CLOCK_BOOTTIME_ALARM = 9,
    CLOCK_TAI = 11
};
enum {
    NR_NANOSLEEP = 162,
    NR_CLOCK_NANOSLEEP = 248,
    NR_CLOCK_NANOSLEEP_TIME64 = 407,
    TIMER_ABSTIME = 1
};

__extension__ typedef unsigned __int128 wide_product;

/* ---- cycles and nanoseconds ---- */

uint64_t os_cycles_to_ns(const struct os *os, uint64_t cycles)
{
    return (uint64_t)((wide_product)cycles * 1000 / os->options.clock_mhz);
}

/* Rounded up: a sleep is never too short. */
uint64_t os_cycles_of(const struct os *os, uint64_t nanoseconds)
{
    wide_product cycles = ((wide_product)nanoseconds * os->options.clock_mhz + 999) / 1000;
    return nanoseconds == UINT64_MAX || cycles >= OS_NEVER ? OS_NEVER : (uint64_t)cycles;
}

uint64_t os_cycles(const struct os_call *call)
{
    return call->os->now;
}

uint64_t os_nanoseconds(const struct os_call *call)
{
    return os_cycles_to_ns(call->os, call->os->now);
}

uint64_t os_process_cycles(const struct os *os, const struct os_process *process)
{
    uint64_t cycles = process->cycles;
    for (const struct os_task *task = os->tasks; task; task = task->next)
        if (task->process == process && task->state != OS_DEAD) cycles += task->cycles;
    return cycles;
}

/* ---- in memory ---- */

/* Of 8-byte nanoseconds only the lower word counts: the C library leaves the upper one undefined.
 */
int os_get_timespec(const struct mem *mem, uint32_t address, bool wide, uint64_t *ns)
{
    uint64_t seconds;
    uint32_t narrow, nanoseconds;
    if (wide) {
        if (!mem_get64(mem, address, &seconds) || !mem_get32(mem, address + 12, &nanoseconds))
            return -EFAULT;
    } else {
        if (!mem_get32(mem, address, &narrow) || !mem_get32(mem, address + 4, &nanoseconds))
            return -EFAULT;
        seconds = (uint64_t)(int64_t)(int32_t)narrow;
    }
    if ((int64_t)seconds < 0 || nanoseconds >= NS_PER_SECOND) return -EINVAL;
    *ns =
        seconds >= UINT64_MAX / NS_PER_SECOND ? UINT64_MAX : seconds * NS_PER_SECOND + nanoseconds;
    return 0;
}

int os_put_timespec(struct mem *mem, uint32_t address, bool wide, uint64_t ns)
{
    uint64_t seconds = ns / NS_PER_SECOND, rest = ns % NS_PER_SECOND;
    bool done = wide ? mem_put64(mem, address, seconds) && mem_put64(mem, address + 8, rest)
                     : mem_put32(mem, address, (uint32_t)seconds) &&
                           mem_put32(mem, address + 4, (uint32_t)rest);
    return done ? 0 : -EFAULT;
}

/* ---- clocks ---- */

bool os_clock_is_wall(uint32_t id, uint64_t *offset)
{
    *offset = 0;
    switch (id) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_REALTIME_ALARM:
    case CLOCK_TAI: *offset = OS_EPOCH * NS_PER_SECOND; return true;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
    case CLOCK_BOOTTIME_ALARM: return true;
    default: return false;
    }
}

/* The clocks of other processes and threads: ~id << 3, with 4 for a thread and 0 to 2 for what is
 * counted. */
static bool cpu_clock(const struct os_call *call, uint32_t id, uint64_t *cycles)
{
    const struct os *os = call->os;
    int whose = (int)~((uint32_t)((int32_t)id >> 3));
    if ((id & 3) == 3) return false;
    if (id & 4) {
        const struct os_task *task = whose ? os_task_find(os, whose) : call->task;
        if (!task || task->process != call->process) return false;
        *cycles = task->cycles;
    } else {
        const struct os_process *process = whose ? os_process_find(os, whose) : call->process;
        if (!process) return false;
        *cycles = os_process_cycles(os, process);
    }
    return true;
}

bool os_clock_ns(const struct os_call *call, uint32_t id, uint64_t *ns)
{
    uint64_t offset, cycles;
    if (os_clock_is_wall(id, &offset)) {
        *ns = offset + os_nanoseconds(call);
        return true;
    }
    if (id == CLOCK_PROCESS) {
        cycles = os_process_cycles(call->os, call->process);
    } else if (id == CLOCK_THREAD) {
        cycles = call->task->cycles;
    } else if ((int32_t)id >= 0 || !cpu_clock(call, id, &cycles)) {
        return false;
    }
    *ns = os_cycles_to_ns(call->os, cycles);
    return true;
}

static int64_t clock_gettime_as(struct os_call *call, bool wide)
{
    uint64_t ns;
    if (!os_clock_ns(call, call->arg[0], &ns)) return -EINVAL;
    return os_put_timespec(call->mem, call->arg[1], wide, ns);
}

int64_t sys_clock_gettime(struct os_call *call)
{
    return clock_gettime_as(call, false);
}

int64_t sys_clock_gettime64(struct os_call *call)
{
    return clock_gettime_as(call, true);
}

static int64_t clock_getres_as(struct os_call *call, bool wide)
{
    uint64_t ns;
    if (!os_clock_ns(call, call->arg[0], &ns)) return -EINVAL;
    return call->arg[1] ? os_put_timespec(call->mem, call->arg[1], wide, 1) : 0;
}

int64_t sys_clock_getres(struct os_call *call)
{
    return clock_getres_as(call, false);
}

int64_t sys_clock_getres_time64(struct os_call *call)
{
    return clock_getres_as(call, true);
}

int64_t sys_gettimeofday(struct os_call *call)
{
    uint64_t ns = OS_EPOCH * NS_PER_SECOND + os_nanoseconds(call);
    uint32_t tv = call->arg[0], zone = call->arg[1];
    if (tv && (!mem_put32(call->mem, tv, (uint32_t)(ns / NS_PER_SECOND)) ||
               !mem_put32(call->mem, tv + 4, (uint32_t)(ns % NS_PER_SECOND / 1000))))
        return -EFAULT;
    if (zone && !mem_put64(call->mem, zone, 0)) return -EFAULT;
    return 0;
}

int64_t sys_time(struct os_call *call)
{
    uint32_t seconds = (uint32_t)(OS_EPOCH + os_nanoseconds(call) / NS_PER_SECOND);
    if (call->arg[0] && !mem_put32(call->mem, call->arg[0], seconds)) return -EFAULT;
    return seconds;
}

/* ---- what was used ---- */

static uint32_t ticks(const struct os *os, uint64_t cycles)
{
    enum { TICKS_PER_SECOND = 100 };
    return (uint32_t)(os_cycles_to_ns(os, cycles) / (NS_PER_SECOND / TICKS_PER_SECOND));
}

int64_t sys_times(struct os_call *call)
{
    uint32_t tms = call->arg[0];
    if (tms) {
        uint32_t own = ticks(call->os, os_process_cycles(call->os, call->process));
        uint32_t children = ticks(call->os, call->process->children_cycles);
        if (!mem_put64(call->mem, tms, os_pair(own, 0)) ||
            !mem_put64(call->mem, tms + 8, os_pair(children, 0)))
            return -EFAULT;
    }
    return ticks(call->os, call->os->now);
}

void os_put_rusage(const struct os *os, void *host, uint64_t cycles)
{
    uint64_t ns = os_cycles_to_ns(os, cycles);
    memset(host, 0, OS_RUSAGE_SIZE);
    mem_host_put32(host, (uint32_t)(ns / NS_PER_SECOND));
    mem_host_put32((uint8_t *)host + 4, (uint32_t)(ns % NS_PER_SECOND / 1000));
}

int64_t sys_getrusage(struct os_call *call)
{
    enum { SELF = 0, CHILDREN = -1, THREAD = 1 };
    uint64_t cycles;
    switch ((int)call->arg[0]) {
    case SELF: cycles = os_process_cycles(call->os, call->process); break;
    case CHILDREN: cycles = call->process->children_cycles; break;
    case THREAD: cycles = call->task->cycles; break;
    default: return -EINVAL;
    }
    void *host = mem_writable(call->mem, call->arg[1], OS_RUSAGE_SIZE);
    if (!host) return -EFAULT;
    os_put_rusage(call->os, host, cycles);
    return 0;
}

/* ---- sleeping ---- */

static int64_t sleep_for(struct os_call *call, uint32_t clock, bool absolute, uint32_t request,
                         bool wide)
{
    uint64_t ns, offset;
    if (os_timed_out(call)) return 0;
    int wrong = os_get_timespec(call->mem, request, wide, &ns);
    if (wrong) return wrong;
    if (!os_clock_is_wall(clock, &offset)) return clock == CLOCK_PROCESS ? -EOPNOTSUPP : -EINVAL;
    if (absolute) {
        uint64_t now = offset + os_nanoseconds(call);
        if (ns <= now) return 0;
        ns -= now;
    }
    return os_wait(call, NULL, os_cycles_of(call->os, ns));
}

int64_t sys_nanosleep(struct os_call *call)
{
    return sleep_for(call, CLOCK_MONOTONIC, false, call->arg[0], false);
}

int64_t sys_clock_nanosleep(struct os_call *call)
{
    return sleep_for(call, call->arg[0], call->arg[1] & TIMER_ABSTIME, call->arg[2], false);
}

int64_t sys_clock_nanosleep_time64(struct os_call *call)
{
    return sleep_for(call, call->arg[0], call->arg[1] & TIMER_ABSTIME, call->arg[2], true);
}

void os_sleep_interrupted(struct os_task *task)
{
    const struct os *os = task->process->os;
    const uint32_t *gpr = task->regs.gpr;
    uint32_t left = 0;
    if (gpr[0] == NR_NANOSLEEP) left = gpr[4];
    if ((gpr[0] == NR_CLOCK_NANOSLEEP || gpr[0] == NR_CLOCK_NANOSLEEP_TIME64) &&
        !(gpr[4] & TIMER_ABSTIME))
        left = gpr[6];
    if (!left) return;
    uint64_t cycles = task->wake_cycle > os->now ? task->wake_cycle - os->now : 0;
    (void)os_put_timespec(task->process->space->mem, left, gpr[0] == NR_CLOCK_NANOSLEEP_TIME64,
                          os_cycles_to_ns(os, cycles));
}
