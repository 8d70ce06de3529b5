/* Priorities and policies: what part of a core's time a task gets beside others.
 *
 * Tasks of a core take turns (os_sched.c). The length of a task's turn is TIME_SLICE for nice 0,
 * and for other values in proportion to the weight that Linux's scheduler gives them: a step of
 * nice is 25 %. So the parts of the time are Linux's; who waits how long in one piece is not. The
 * policy SCHED_IDLE has the weight 3, SCHED_BATCH is SCHED_OTHER. A user may make tasks nicer only,
 * and there are no real-time policies without a right (EPERM).
 */
#include "machine/os/os_task.h"

#include <errno.h>

enum { SCHED_OTHER = 0, SCHED_FIFO = 1, SCHED_RR = 2, SCHED_BATCH = 3, SCHED_IDLE = 5 };
#define TIME_SLICE UINT64_C(100000) /* cycles */

enum { NICE_MAX = 19, WEIGHT_0 = 1024, WEIGHT_IDLE = 3 };

uint64_t os_time_slice(const struct os_task *task)
{
    static const uint16_t weight[NICE_MAX + 1] = {WEIGHT_0, 820, 655, 526, 423, 335, 272,
                                                  215,      172, 137, 110, 87,  70,  56,
                                                  45,       36,  29,  23,  18,  15};
    unsigned own = task->policy == SCHED_IDLE ? WEIGHT_IDLE : weight[task->nice];
    return TIME_SLICE * own / WEIGHT_0;
}

void os_priority_inherit(struct os_task *child, const struct os_task *parent)
{
    child->nice = parent->nice;
    child->policy = parent->policy;
}

/* ---- nice ---- */

static bool is_meant(const struct os_call *call, const struct os_task *task, uint32_t which,
                     uint32_t who)
{
    enum { PRIO_PROCESS, PRIO_PGRP, PRIO_USER };
    if (task->state == OS_DEAD) return false;
    switch (which) {
    case PRIO_PROCESS: return who ? task->tid == (int)who : task == call->task;
    case PRIO_PGRP: return task->process->group == (who ? (int)who : call->process->group);
    case PRIO_USER: return !who || who == OS_UID;
    default: return false;
    }
}

int64_t sys_getpriority(struct os_call *call)
{
    int64_t highest = -ESRCH;
    if (call->arg[0] > 2) return -EINVAL;
    for (const struct os_task *task = call->os->tasks; task; task = task->next)
        if (is_meant(call, task, call->arg[0], call->arg[1]) && 20 - task->nice > highest)
            highest = 20 - task->nice;
    return highest;
}

int64_t sys_setpriority(struct os_call *call)
{
    int64_t result = -ESRCH;
    int nice = (int)call->arg[2];
    if (call->arg[0] > 2) return -EINVAL;
    if (nice > NICE_MAX) nice = NICE_MAX;
    for (struct os_task *task = call->os->tasks; task; task = task->next) {
        if (!is_meant(call, task, call->arg[0], call->arg[1])) continue;
        if (nice < task->nice) {
            result = -EACCES;
            continue;
        }
        if (result == -ESRCH) result = 0;
        task->nice = nice;
    }
    return result;
}

int64_t sys_nice(struct os_call *call)
{
    int more = (int)call->arg[0], *nice = &call->task->nice;
    if (more < 0) return -EPERM;
    *nice = more > NICE_MAX - *nice ? NICE_MAX : *nice + more;
    return 0;
}

/* ---- policies ---- */

static struct os_task *task_of(const struct os_call *call)
{
    return call->arg[0] ? os_task_find(call->os, (int)call->arg[0]) : call->task;
}

int64_t sys_sched_getscheduler(struct os_call *call)
{
    const struct os_task *task = task_of(call);
    return task ? (int64_t)task->policy : -ESRCH;
}

int64_t sys_sched_getparam(struct os_call *call)
{
    if (!task_of(call)) return -ESRCH;
    return mem_put32(call->mem, call->arg[1], 0) ? 0 : -EFAULT;
}

static int64_t set_policy(const struct os_call *call, const uint32_t *policy, uint32_t parameter)
{
    uint32_t priority;
    if (!mem_get32(call->mem, parameter, &priority)) return -EFAULT;
    struct os_task *task = task_of(call);
    if (!task) return -ESRCH;
    uint32_t wanted = policy ? *policy : task->policy;
    if (wanted == SCHED_FIFO || wanted == SCHED_RR)
        return priority >= 1 && priority <= 99 ? -EPERM : -EINVAL;
    if ((wanted != SCHED_OTHER && wanted != SCHED_BATCH && wanted != SCHED_IDLE) || priority)
        return -EINVAL;
    if (task->policy == SCHED_IDLE && wanted != SCHED_IDLE) return -EPERM;
    task->policy = wanted;
    return 0;
}

int64_t sys_sched_setparam(struct os_call *call)
{
    return set_policy(call, NULL, call->arg[1]);
}

int64_t sys_sched_setscheduler(struct os_call *call)
{
    return set_policy(call, &call->arg[1], call->arg[2]);
}

static int64_t priority_limit(uint32_t policy, int64_t real_time)
{
    if (policy == SCHED_FIFO || policy == SCHED_RR) return real_time;
    return policy == SCHED_OTHER || policy == SCHED_BATCH || policy == SCHED_IDLE ? 0 : -EINVAL;
}

int64_t sys_sched_get_priority_max(struct os_call *call)
{
    return priority_limit(call->arg[0], 99);
}

int64_t sys_sched_get_priority_min(struct os_call *call)
{
    return priority_limit(call->arg[0], 1);
}

/* The length of a turn. */
static int64_t get_interval(struct os_call *call, bool wide)
{
    const struct os_task *task = task_of(call);
    if (!task) return -ESRCH;
    return os_put_timespec(call->mem, call->arg[1], wide,
                           os_cycles_to_ns(call->os, os_time_slice(task)));
}

int64_t sys_sched_rr_get_interval(struct os_call *call)
{
    return get_interval(call, false);
}

int64_t sys_sched_rr_get_interval_time64(struct os_call *call)
{
    return get_interval(call, true);
}
