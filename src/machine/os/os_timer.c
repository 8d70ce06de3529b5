/* Timers: alarm, setitimer, timer_create, and the limit of processor time.
 *
 * A timer runs with the machine's clock, or with the cycles that a process or a task uses. The
 * scheduler reads the next moment at which one expires (os_timers_next) and runs no core past it;
 * timers of processor time limit the budget of the task that they measure. So a timer's signal
 * comes at the first place between two blocks at or after its moment, every time the same.
 */
#include "machine/os/os_task.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"

#define NS_PER_SECOND UINT64_C(1000000000)

enum { CLOCK_REALTIME = 0, CLOCK_PROCESS = 2, CLOCK_THREAD = 3, TIMER_ABSTIME = 1, RLIMIT_CPU = 0 };
enum { SIGEV_SIGNAL = 0, SIGEV_NONE = 1, SIGEV_THREAD = 2, SIGEV_THREAD_ID = 4 };

struct os_timer {
    int id;
    uint32_t clock;
    uint32_t notify;
    int signal, tid;            /* tid: of SIGEV_THREAD_ID, or whose time CLOCK_THREAD counts */
    uint32_t value;             /* sigev_value */
    uint64_t expires, interval; /* in cycles of its clock; OS_NEVER when off */
    uint32_t overrun;
    struct os_timer *next;
};

/* ---- clocks in cycles ---- */

static bool is_wall(uint32_t clock)
{
    uint64_t offset;
    return os_clock_is_wall(clock, &offset);
}

static uint64_t timer_now(const struct os_process *process, const struct os_timer *timer)
{
    if (is_wall(timer->clock)) return process->os->now;
    if (timer->clock == CLOCK_PROCESS) return os_process_cycles(process->os, process);
    const struct os_task *task = os_task_find(process->os, timer->tid);
    return task ? task->cycles : 0;
}

static uint64_t alarm_now(const struct os_process *process, unsigned which)
{
    return which == OS_ALARM_REAL ? process->os->now : os_process_cycles(process->os, process);
}

/* Moves an expired moment past `now`; returns how many periods were missed on the way. */
static uint64_t next_period(uint64_t *expires, uint64_t interval, uint64_t now)
{
    if (!interval) {
        *expires = OS_NEVER;
        return 0;
    }
    uint64_t missed = (now - *expires) / interval;
    *expires = os_add_cycles(*expires, (missed + 1) * interval);
    return missed;
}

/* ---- expiring ---- */

static void timer_fire(struct os_process *process, struct os_timer *timer, uint64_t now)
{
    timer->overrun = (uint32_t)next_period(&timer->expires, timer->interval, now);
    if (timer->notify == SIGEV_NONE) return;
    struct os_siginfo info = {.signal = timer->signal,
                              .code = OS_SI_TIMER,
                              .word = {(uint32_t)timer->id, timer->overrun, timer->value}};
    if (timer->notify != SIGEV_THREAD_ID) {
        (void)os_signal_process(process->os, process, &info);
        return;
    }
    struct os_task *task = os_task_find(process->os, timer->tid);
    if (task) (void)os_signal_task(process->os, task, &info);
}

static void cpu_limit_fire(struct os_process *process)
{
    struct os *os = process->os;
    uint64_t used = os_process_cycles(os, process), hard = process->limits[RLIMIT_CPU].hard;
    bool over = hard != UINT64_MAX && used >= os_cycles_of(os, hard * NS_PER_SECOND);
    process->alarms[OS_ALARM_CPU_LIMIT].expires =
        os_add_cycles(used, os_cycles_of(os, NS_PER_SECOND));
    (void)os_send_signal(os, process, over ? OS_SIGKILL : OS_SIGXCPU);
}

static void alarm_fire(struct os_process *process, unsigned which, uint64_t now)
{
    static const int signals[] = {OS_SIGALRM, OS_SIGVTALRM, OS_SIGPROF};
    if (which == OS_ALARM_CPU_LIMIT) {
        cpu_limit_fire(process);
        return;
    }
    (void)next_period(&process->alarms[which].expires, process->alarms[which].interval, now);
    (void)os_send_signal(process->os, process, signals[which]);
}

uint64_t os_timers_next(const struct os *os)
{
    uint64_t next = OS_NEVER;
    for (const struct os_process *process = os->processes; process; process = process->next) {
        if (process->exited) continue;
        if (process->alarms[OS_ALARM_REAL].expires < next)
            next = process->alarms[OS_ALARM_REAL].expires;
        for (const struct os_timer *timer = process->timers; timer; timer = timer->next)
            if (timer->expires < next && is_wall(timer->clock)) next = timer->expires;
    }
    return next;
}

void os_timers_fire(struct os *os)
{
    for (struct os_process *process = os->processes; process; process = process->next) {
        if (process->exited) continue;
        if (process->alarms[OS_ALARM_REAL].expires <= os->now)
            alarm_fire(process, OS_ALARM_REAL, os->now);
        for (struct os_timer *timer = process->timers; timer; timer = timer->next)
            if (timer->expires <= os->now && is_wall(timer->clock))
                timer_fire(process, timer, os->now);
    }
}

static uint64_t left(uint64_t expires, uint64_t now)
{
    return expires == OS_NEVER ? OS_NEVER : expires > now ? expires - now : 1;
}

static bool counts_use_of(const struct os_timer *timer, const struct os_task *task)
{
    return timer->expires != OS_NEVER &&
           (timer->clock == CLOCK_PROCESS ||
            (timer->clock == CLOCK_THREAD && timer->tid == task->tid));
}

uint64_t os_timers_budget(const struct os_task *task)
{
    const struct os_process *process = task->process;
    uint64_t budget = OS_NEVER, rest;
    for (unsigned which = OS_ALARM_VIRTUAL; which < OS_ALARMS; which++) {
        if (process->alarms[which].expires == OS_NEVER) continue;
        rest = left(process->alarms[which].expires, alarm_now(process, which));
        if (rest < budget) budget = rest;
    }
    for (const struct os_timer *timer = process->timers; timer; timer = timer->next) {
        rest =
            counts_use_of(timer, task) ? left(timer->expires, timer_now(process, timer)) : OS_NEVER;
        if (rest < budget) budget = rest;
    }
    return budget;
}

void os_timers_used(struct os_task *task)
{
    struct os_process *process = task->process;
    for (unsigned which = OS_ALARM_VIRTUAL; which < OS_ALARMS; which++) {
        if (process->alarms[which].expires == OS_NEVER) continue;
        uint64_t now = alarm_now(process, which);
        if (process->alarms[which].expires <= now) alarm_fire(process, which, now);
    }
    for (struct os_timer *timer = process->timers; timer; timer = timer->next) {
        if (!counts_use_of(timer, task)) continue;
        uint64_t now = timer_now(process, timer);
        if (timer->expires <= now) timer_fire(process, timer, now);
    }
}

void os_timers_drop(struct os_process *process, bool alarms)
{
    while (process->timers) {
        struct os_timer *timer = process->timers;
        process->timers = timer->next;
        free(timer);
    }
    for (unsigned which = 0; alarms && which < OS_ALARMS; which++)
        process->alarms[which].expires = OS_NEVER;
}

void os_cpu_limit_changed(struct os_process *process)
{
    uint64_t soft = process->limits[RLIMIT_CPU].soft;
    process->alarms[OS_ALARM_CPU_LIMIT].expires =
        soft >= UINT64_MAX / NS_PER_SECOND ? OS_NEVER
                                           : os_cycles_of(process->os, soft * NS_PER_SECOND);
}

/* ---- alarm, setitimer ---- */

static uint64_t alarm_set(struct os_process *process, unsigned which, uint64_t value_ns,
                          uint64_t interval_ns)
{
    struct os_alarm *alarm = &process->alarms[which];
    const struct os *os = process->os;
    uint64_t now = alarm_now(process, which);
    uint64_t before =
        alarm->expires == OS_NEVER ? 0 : os_cycles_to_ns(os, left(alarm->expires, now));
    alarm->expires = value_ns ? os_add_cycles(now, os_cycles_of(os, value_ns)) : OS_NEVER;
    alarm->interval = os_cycles_of(os, interval_ns);
    return before;
}

int64_t sys_alarm(struct os_call *call)
{
    uint64_t before = alarm_set(call->process, OS_ALARM_REAL, call->arg[0] * NS_PER_SECOND, 0);
    return (int64_t)((before + NS_PER_SECOND / 2) / NS_PER_SECOND) +
           (before && before < NS_PER_SECOND / 2);
}

static int get_timeval(const struct mem *mem, uint32_t address, uint64_t *ns)
{
    uint32_t seconds, micro;
    if (!mem_get32(mem, address, &seconds) || !mem_get32(mem, address + 4, &micro)) return -EFAULT;
    if ((int32_t)seconds < 0 || micro >= 1000000) return -EINVAL;
    *ns = seconds * NS_PER_SECOND + micro * UINT64_C(1000);
    return 0;
}

static bool put_timeval(struct mem *mem, uint32_t address, uint64_t ns)
{
    return mem_put32(mem, address, (uint32_t)(ns / NS_PER_SECOND)) &&
           mem_put32(mem, address + 4, (uint32_t)(ns % NS_PER_SECOND / 1000));
}

/* struct itimerval: interval, value. */
static int64_t put_alarm(const struct os_call *call, uint32_t address, uint64_t interval_ns,
                         uint64_t value_ns)
{
    if (value_ns && value_ns < 1000) value_ns = 1000;
    return put_timeval(call->mem, address, interval_ns) &&
                   put_timeval(call->mem, address + 8, value_ns)
               ? 0
               : -EFAULT;
}

int64_t sys_setitimer(struct os_call *call)
{
    uint64_t interval = 0, value = 0;
    unsigned which = call->arg[0];
    if (which > OS_ALARM_PROF) return -EINVAL;
    if (call->arg[1]) {
        int wrong = get_timeval(call->mem, call->arg[1], &interval);
        if (!wrong) wrong = get_timeval(call->mem, call->arg[1] + 8, &value);
        if (wrong) return wrong;
    }
    uint64_t old_interval = os_cycles_to_ns(call->os, call->process->alarms[which].interval);
    uint64_t before = alarm_set(call->process, which, value, interval);
    return call->arg[2] ? put_alarm(call, call->arg[2], old_interval, before) : 0;
}

int64_t sys_getitimer(struct os_call *call)
{
    unsigned which = call->arg[0];
    if (which > OS_ALARM_PROF) return -EINVAL;
    const struct os_alarm *alarm = &call->process->alarms[which];
    uint64_t rest =
        alarm->expires == OS_NEVER ? 0 : left(alarm->expires, alarm_now(call->process, which));
    return put_alarm(call, call->arg[1], os_cycles_to_ns(call->os, alarm->interval),
                     os_cycles_to_ns(call->os, rest));
}

/* ---- timer_create ---- */

static struct os_timer *timer_argument(const struct os_call *call)
{
    for (struct os_timer *timer = call->process->timers; timer; timer = timer->next)
        if (timer->id == (int)call->arg[0]) return timer;
    return NULL;
}

/* struct sigevent: value, signal, how, thread. */
static int get_sigevent(const struct os_call *call, struct os_timer *timer)
{
    const uint8_t *host = mem_readable(call->mem, call->arg[1], 16);
    if (!host) return -EFAULT;
    timer->value = mem_host_get32(host);
    timer->signal = (int)mem_host_get32(host + 4);
    timer->notify = mem_host_get32(host + 8);
    uint32_t tid = mem_host_get32(host + 12);
    switch (timer->notify) {
    case SIGEV_NONE: return 0;
    case SIGEV_THREAD_ID: {
        const struct os_task *task = os_task_find(call->os, (int)tid);
        if (!task || task->process != call->process) return -EINVAL;
        timer->tid = (int)tid;
        break;
    }
    case SIGEV_SIGNAL:
    case SIGEV_THREAD: break;
    default: return -EINVAL;
    }
    return timer->signal < 1 || timer->signal > OS_SIGNALS ? -EINVAL : 0;
}

int64_t sys_timer_create(struct os_call *call)
{
    struct os_timer made = {.id = call->process->next_timer,
                            .clock = call->arg[0],
                            .signal = OS_SIGALRM,
                            .tid = call->task->tid,
                            .value = (uint32_t)call->process->next_timer,
                            .expires = OS_NEVER};
    if (!is_wall(made.clock) && made.clock != CLOCK_PROCESS && made.clock != CLOCK_THREAD)
        return -EINVAL;
    int wrong = call->arg[1] ? get_sigevent(call, &made) : 0;
    if (wrong) return wrong;
    uint64_t count = 0;
    for (const struct os_timer *timer = call->process->timers; timer; timer = timer->next)
        count++;
    if (count >= os_signals_max(call->process)) return -EAGAIN;
    if (!mem_put32(call->mem, call->arg[2], (uint32_t)made.id)) return -EFAULT;
    call->process->next_timer++;
    struct os_timer *timer = base_calloc(1, sizeof *timer);
    *timer = made;
    timer->next = call->process->timers;
    call->process->timers = timer;
    return 0;
}

int64_t sys_timer_delete(struct os_call *call)
{
    struct os_timer *timer = timer_argument(call);
    if (!timer) return -EINVAL;
    struct os_timer **at = &call->process->timers;
    while (*at != timer)
        at = &(*at)->next;
    *at = timer->next;
    free(timer);
    return 0;
}

int64_t sys_timer_getoverrun(struct os_call *call)
{
    const struct os_timer *timer = timer_argument(call);
    return timer ? (int64_t)timer->overrun : -EINVAL;
}

/* struct itimerspec: interval, value. */
static int put_timer(const struct os_call *call, const struct os_timer *timer, uint32_t address,
                     bool wide)
{
    uint64_t rest =
        timer->expires == OS_NEVER ? 0 : left(timer->expires, timer_now(call->process, timer));
    int wrong =
        os_put_timespec(call->mem, address, wide, os_cycles_to_ns(call->os, timer->interval));
    if (wrong) return wrong;
    return os_put_timespec(call->mem, address + (wide ? 16 : 8), wide,
                           os_cycles_to_ns(call->os, rest));
}

static int64_t timer_settime_as(struct os_call *call, bool wide)
{
    struct os_timer *timer = timer_argument(call);
    uint64_t interval, value, offset;
    if (!timer || !call->arg[2]) return -EINVAL;
    int wrong = os_get_timespec(call->mem, call->arg[2], wide, &interval);
    if (!wrong) wrong = os_get_timespec(call->mem, call->arg[2] + (wide ? 16 : 8), wide, &value);
    if (!wrong && call->arg[3]) wrong = put_timer(call, timer, call->arg[3], wide);
    if (wrong) return wrong;
    uint64_t now = timer_now(call->process, timer);
    timer->interval = os_cycles_of(call->os, interval);
    timer->overrun = 0;
    if (!value) {
        timer->expires = OS_NEVER;
    } else if (call->arg[1] & TIMER_ABSTIME) {
        (void)os_clock_is_wall(timer->clock, &offset);
        timer->expires = value > offset ? os_cycles_of(call->os, value - offset) : now;
    } else {
        timer->expires = os_add_cycles(now, os_cycles_of(call->os, value));
    }
    if (timer->expires != OS_NEVER && timer->expires < now) timer->expires = now;
    return 0;
}

int64_t sys_timer_settime(struct os_call *call)
{
    return timer_settime_as(call, false);
}

int64_t sys_timer_settime64(struct os_call *call)
{
    return timer_settime_as(call, true);
}

int64_t sys_timer_gettime(struct os_call *call)
{
    const struct os_timer *timer = timer_argument(call);
    return timer ? put_timer(call, timer, call->arg[1], false) : -EINVAL;
}

int64_t sys_timer_gettime64(struct os_call *call)
{
    const struct os_timer *timer = timer_argument(call);
    return timer ? put_timer(call, timer, call->arg[1], true) : -EINVAL;
}
