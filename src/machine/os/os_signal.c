/* Signals: sending, pending signals, masks and actions.
 *
 * A pending signal is a bit, in the task's or its process's mask, and one entry per sending in the
 * queue behind it; signals below 32 are kept once, the others as often as sent. A signal that the
 * process ignores is dropped when sent, unless a task has it blocked or waits for it
 * (rt_sigtimedwait), as Linux does. os_signal_deliver.c acts on them; os_signal_frame.c has the
 * frames.
 */
#include "machine/os/os_task.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"

struct os_pending {
    struct os_siginfo info;
    struct os_pending *next;
};

#define UNBLOCKABLE (UINT64_C(1) << (OS_SIGKILL - 1) | UINT64_C(1) << (OS_SIGSTOP - 1))

/* ---- queues ---- */

/* False: it is pending already, and no more fit. */
static bool queue_add(struct os_pending **queue, uint64_t *pending, const struct os_siginfo *info,
                      uint64_t most)
{
    uint64_t bit = os_signal_bit(info->signal), count = 0;
    if (info->signal < OS_SIGRTMIN && *pending & bit) return true;
    for (; *queue; count++)
        queue = &(*queue)->next;
    if (count >= most && *pending & bit) return false;
    *queue = base_calloc(1, sizeof **queue);
    (*queue)->info = *info;
    *pending |= bit;
    return true;
}

static bool queue_take(struct os_pending **queue, uint64_t *pending, int signal,
                       struct os_siginfo *info)
{
    bool found = false, more = false;
    for (struct os_pending **at = queue; *at;) {
        struct os_pending *entry = *at;
        if (entry->info.signal != signal || found) {
            more |= entry->info.signal == signal;
            at = &entry->next;
            continue;
        }
        found = true;
        *info = entry->info;
        *at = entry->next;
        free(entry);
    }
    if (!more) *pending &= ~os_signal_bit(signal);
    return found;
}

void os_signal_discard(struct os_pending **queue, uint64_t *pending, uint64_t signals)
{
    *pending &= ~signals;
    while (*queue) {
        struct os_pending *entry = *queue;
        if (signals & os_signal_bit(entry->info.signal)) {
            *queue = entry->next;
            free(entry);
        } else {
            queue = &entry->next;
        }
    }
}

/* Faults first, then the lowest number: Linux's order. */
static int first_signal(uint64_t set)
{
    uint64_t faults = os_signal_bit(OS_SIGSEGV) | os_signal_bit(OS_SIGBUS) |
                      os_signal_bit(OS_SIGILL) | os_signal_bit(OS_SIGTRAP) |
                      os_signal_bit(OS_SIGFPE) | os_signal_bit(OS_SIGSYS);
    if (set & faults) set &= faults;
    return set ? __builtin_ctzll(set) + 1 : 0;
}

int os_signal_take(struct os_task *task, uint64_t set, struct os_siginfo *info)
{
    struct os_process *process = task->process;
    int signal = first_signal(task->pending & set);
    if (signal && queue_take(&task->queue, &task->pending, signal, info)) return signal;
    signal = first_signal(process->pending & set);
    if (signal && queue_take(&process->queue, &process->pending, signal, info)) return signal;
    return 0;
}

/* ---- sending ---- */

bool os_signal_ignored(const struct os_process *process, int signal)
{
    uint32_t handler = process->actions[signal].handler;
    if (handler > 1) return false;
    if (handler == 1) return true;
    switch (signal) {
    case OS_SIGCHLD:
    case OS_SIGURG:
    case OS_SIGWINCH:
    case OS_SIGCONT:
    case OS_SIGSTOP: /* stopping is not simulated */
    case OS_SIGTSTP:
    case OS_SIGTTIN:
    case OS_SIGTTOU: return true;
    default: return false;
    }
}

bool os_signal_waiting(const struct os_task *task)
{
    uint64_t set = (task->pending | task->process->pending) & ~task->blocked;
    for (; set; set &= set - 1)
        if (!os_signal_ignored(task->process, __builtin_ctzll(set) + 1)) return true;
    return false;
}

static bool dropped(const struct os_process *process, const struct os_task *task, int signal)
{
    uint64_t bit = os_signal_bit(signal);
    if (!os_signal_ignored(process, signal)) return false;
    for (const struct os_task *other = process->os->tasks; other; other = other->next)
        if (other->process == process && (!task || other == task) &&
            (other->blocked | other->sigwait) & bit)
            return false;
    return true;
}

/* Gets a task out of its wait, if the signal may do that. */
static void interrupt(struct os_task *task, int signal)
{
    if (task->state != OS_WAITING) return;
    uint64_t bit = os_signal_bit(signal);
    if (task->sigwait & bit) {
        os_make_runnable(task, OS_WOKEN_EVENT);
    } else if (signal == OS_SIGKILL || (!(task->blocked & bit) && !task->uninterruptible &&
                                        !os_signal_ignored(task->process, signal))) {
        os_make_runnable(task, OS_WOKEN_SIGNAL);
    }
}

static bool wants(const struct os_task *task, int signal)
{
    uint64_t bit = os_signal_bit(signal);
    return task->state != OS_DEAD && (!(task->blocked & bit) || task->sigwait & bit);
}

bool os_signal_process(struct os *os, struct os_process *process, const struct os_siginfo *info)
{
    if (process->exited || dropped(process, NULL, info->signal)) return true;
    if (!queue_add(&process->queue, &process->pending, info, os_signals_max(process))) return false;
    struct os_task *target = os_process_leader(process);
    if (target && !wants(target, info->signal)) target = NULL;
    for (struct os_task *task = os->tasks; task && !target; task = task->next)
        if (task->process == process && wants(task, info->signal)) target = task;
    if (target) interrupt(target, info->signal);
    return true;
}

bool os_signal_task(struct os *os, struct os_task *task, const struct os_siginfo *info)
{
    (void)os;
    if (task->state == OS_DEAD || dropped(task->process, task, info->signal)) return true;
    if (!queue_add(&task->queue, &task->pending, info, os_signals_max(task->process))) return false;
    interrupt(task, info->signal);
    return true;
}

void os_signal_force(struct os_task *task, const struct os_siginfo *info)
{
    struct os_sigaction *action = &task->process->actions[info->signal];
    uint64_t bit = os_signal_bit(info->signal);
    if (task->blocked & bit || action->handler == 1) *action = (struct os_sigaction){0};
    task->blocked &= ~bit;
    os_signal_discard(&task->queue, &task->pending, bit);
    (void)queue_add(&task->queue, &task->pending, info, UINT64_MAX);
}

int os_send_signal(struct os *os, struct os_process *process, int signal)
{
    if (signal < 1 || signal > OS_SIGNALS) return -EINVAL;
    struct os_siginfo info = {.signal = signal, .code = OS_SI_KERNEL};
    (void)os_signal_process(os, process, &info);
    return 0;
}

/* ---- in memory ---- */

bool os_get_sigset(const struct mem *mem, uint32_t address, uint64_t *set)
{
    uint32_t low, high;
    if (!mem_get32(mem, address, &low) || !mem_get32(mem, address + 4, &high)) return false;
    *set = os_pair(high, low);
    return true;
}

bool os_put_sigset(struct mem *mem, uint32_t address, uint64_t set)
{
    return mem_put32(mem, address, (uint32_t)set) &&
           mem_put32(mem, address + 4, (uint32_t)(set >> 32));
}

bool os_put_siginfo(struct mem *mem, uint32_t address, const struct os_siginfo *info)
{
    uint8_t *host = mem_writable(mem, address, OS_SIGINFO_SIZE);
    if (!host) return false;
    memset(host, 0, OS_SIGINFO_SIZE);
    mem_host_put32(host, (uint32_t)info->signal);
    mem_host_put32(host + 8, (uint32_t)info->code);
    for (size_t w = 0; w < OS_SIGINFO_WORDS; w++)
        mem_host_put32(host + 12 + 4 * w, info->word[w]);
    return true;
}

/* ---- kill and its relatives ---- */

static struct os_siginfo from_user(const struct os_call *call, int signal, int code)
{
    if (signal == OS_SIGSTOP)
        os_warn_once(call->os, "SIGSTOP",
                     "signal 'SIGSTOP' does nothing: stopping a process is not simulated");
    struct os_siginfo info = {
        .signal = signal, .code = code, .word = {(uint32_t)call->process->pid, OS_UID}};
    return info;
}

int64_t sys_kill(struct os_call *call)
{
    int pid = (int)call->arg[0], signal = (int)call->arg[1];
    if (signal < 0 || signal > OS_SIGNALS) return -EINVAL;
    if (pid == INT_MIN) return -ESRCH; /* no group has that number */
    bool found = false, full = false;
    struct os_siginfo info = from_user(call, signal, OS_SI_USER);
    for (struct os_process *process = call->os->processes; process; process = process->next) {
        if (process->reaped) continue;
        if (pid > 0 && process->pid != pid) continue;
        if (pid == 0 && process->group != call->process->group) continue;
        if (pid == -1 && process == call->process) continue;
        if (pid < -1 && process->group != -pid) continue;
        found = true;
        if (signal) full |= !os_signal_process(call->os, process, &info);
    }
    return full ? -EAGAIN : found ? 0 : -ESRCH;
}

static int64_t kill_task(struct os_call *call, int group, int tid, int signal)
{
    if (tid <= 0 || signal < 0 || signal > OS_SIGNALS) return -EINVAL;
    struct os_task *task = os_task_find(call->os, tid);
    if (!task || (group && task->process->pid != group)) return -ESRCH;
    struct os_siginfo info = from_user(call, signal, OS_SI_TKILL);
    return !signal || os_signal_task(call->os, task, &info) ? 0 : -EAGAIN;
}

int64_t sys_tkill(struct os_call *call)
{
    return kill_task(call, 0, (int)call->arg[0], (int)call->arg[1]);
}

int64_t sys_tgkill(struct os_call *call)
{
    if ((int)call->arg[0] <= 0) return -EINVAL;
    return kill_task(call, (int)call->arg[0], (int)call->arg[1], (int)call->arg[2]);
}

static int64_t get_siginfo(const struct os_call *call, uint32_t address, int signal,
                           struct os_siginfo *info)
{
    const uint8_t *host = mem_readable(call->mem, address, OS_SIGINFO_SIZE);
    if (!host) return -EFAULT;
    if (signal < 0 || signal > OS_SIGNALS) return -EINVAL;
    info->signal = signal;
    info->code = (int)mem_host_get32(host + 8);
    for (size_t w = 0; w < OS_SIGINFO_WORDS; w++)
        info->word[w] = mem_host_get32(host + 12 + 4 * w);
    return 0;
}

/* Only the kernel may claim to be the kernel, or kill. */
static bool may_claim(const struct os_call *call, const struct os_siginfo *info,
                      const struct os_process *process)
{
    return (info->code < 0 && info->code != OS_SI_TKILL) || process == call->process;
}

int64_t sys_rt_sigqueueinfo(struct os_call *call)
{
    struct os_siginfo info;
    int64_t wrong = get_siginfo(call, call->arg[2], (int)call->arg[1], &info);
    if (wrong) return wrong;
    struct os_process *process = os_process_find(call->os, (int)call->arg[0]);
    if (!process) return -ESRCH;
    if (!may_claim(call, &info, process)) return -EPERM;
    return !info.signal || os_signal_process(call->os, process, &info) ? 0 : -EAGAIN;
}

int64_t sys_rt_tgsigqueueinfo(struct os_call *call)
{
    struct os_siginfo info;
    int64_t wrong = get_siginfo(call, call->arg[3], (int)call->arg[2], &info);
    if (wrong) return wrong;
    struct os_task *task = os_task_find(call->os, (int)call->arg[1]);
    if (!task || task->process->pid != (int)call->arg[0]) return -ESRCH;
    if (!may_claim(call, &info, task->process)) return -EPERM;
    return !info.signal || os_signal_task(call->os, task, &info) ? 0 : -EAGAIN;
}

/* ---- actions and masks ---- */

static int64_t set_action(struct os_call *call, int signal, const struct os_sigaction *action)
{
    struct os_process *process = call->process;
    if (signal < 1 || signal > OS_SIGNALS) return -EINVAL;
    if (!action) return 0;
    if (os_signal_bit(signal) & UNBLOCKABLE) return -EINVAL;
    process->actions[signal] = *action;
    process->actions[signal].mask &= ~UNBLOCKABLE;
    if (!os_signal_ignored(process, signal)) return 0;
    os_signal_discard(&process->queue, &process->pending, os_signal_bit(signal));
    for (struct os_task *task = call->os->tasks; task; task = task->next)
        if (task->process == process)
            os_signal_discard(&task->queue, &task->pending, os_signal_bit(signal));
    return 0;
}

/* struct sigaction: handler, flags, restorer, mask. */
int64_t sys_rt_sigaction(struct os_call *call)
{
    struct mem *mem = call->mem;
    int signal = (int)call->arg[0];
    uint32_t new = call->arg[1], old = call->arg[2];
    if (call->arg[3] != 8 || signal < 1 || signal > OS_SIGNALS) return -EINVAL;
    struct os_sigaction action = {0}, before = call->process->actions[signal];
    if (new &&
        (!mem_get32(mem, new, &action.handler) || !mem_get32(mem, new + 4, &action.flags) ||
         !mem_get32(mem, new + 8, &action.restorer) || !os_get_sigset(mem, new + 12, &action.mask)))
        return -EFAULT;
    int64_t wrong = set_action(call, signal, new ? &action : NULL);
    if (wrong || !old) return wrong;
    if (!mem_put32(mem, old, before.handler) || !mem_put32(mem, old + 4, before.flags) ||
        !mem_put32(mem, old + 8, before.restorer) || !os_put_sigset(mem, old + 12, before.mask))
        return -EFAULT;
    return 0;
}

/* The old struct sigaction: handler, mask of one word, flags, restorer. */
int64_t sys_sigaction(struct os_call *call)
{
    struct mem *mem = call->mem;
    int signal = (int)call->arg[0];
    uint32_t new = call->arg[1], old = call->arg[2], mask = 0;
    if (signal < 1 || signal > OS_SIGNALS) return -EINVAL;
    struct os_sigaction action = {0}, before = call->process->actions[signal];
    if (new &&
        (!mem_get32(mem, new, &action.handler) || !mem_get32(mem, new + 4, &mask) ||
         !mem_get32(mem, new + 8, &action.flags) || !mem_get32(mem, new + 12, &action.restorer)))
        return -EFAULT;
    action.mask = mask;
    int64_t wrong = set_action(call, signal, new ? &action : NULL);
    if (wrong || !old) return wrong;
    if (!mem_put32(mem, old, before.handler) || !mem_put32(mem, old + 4, (uint32_t)before.mask) ||
        !mem_put32(mem, old + 8, before.flags) || !mem_put32(mem, old + 12, before.restorer))
        return -EFAULT;
    return 0;
}

/* SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK. */
static int64_t change_mask(struct os_task *task, uint32_t how, uint64_t set)
{
    switch (how) {
    case 0: set = task->blocked | set; break;
    case 1: set = task->blocked & ~set; break;
    case 2: break;
    default: return -EINVAL;
    }
    task->blocked = set & ~UNBLOCKABLE;
    return 0;
}

int64_t sys_rt_sigprocmask(struct os_call *call)
{
    uint64_t set, old = call->task->blocked;
    if (call->arg[3] != 8) return -EINVAL;
    if (call->arg[1]) {
        if (!os_get_sigset(call->mem, call->arg[1], &set)) return -EFAULT;
        int64_t wrong = change_mask(call->task, call->arg[0], set);
        if (wrong) return wrong;
    }
    return call->arg[2] && !os_put_sigset(call->mem, call->arg[2], old) ? -EFAULT : 0;
}

int64_t sys_sigprocmask(struct os_call *call)
{
    uint64_t old = call->task->blocked;
    uint32_t word;
    if (call->arg[1]) {
        if (!mem_get32(call->mem, call->arg[1], &word)) return -EFAULT;
        uint64_t set = call->arg[0] == 2 ? (old & ~(uint64_t)UINT32_MAX) | word : word;
        int64_t wrong = change_mask(call->task, call->arg[0], set);
        if (wrong) return wrong;
    }
    return call->arg[2] && !mem_put32(call->mem, call->arg[2], (uint32_t)old) ? -EFAULT : 0;
}

static uint64_t pending_blocked(const struct os_call *call)
{
    return (call->task->pending | call->process->pending) & call->task->blocked;
}

int64_t sys_rt_sigpending(struct os_call *call)
{
    if (call->arg[1] > 8) return -EINVAL;
    return os_put_sigset(call->mem, call->arg[0], pending_blocked(call)) ? 0 : -EFAULT;
}

int64_t sys_sigpending(struct os_call *call)
{
    return mem_put32(call->mem, call->arg[0], (uint32_t)pending_blocked(call)) ? 0 : -EFAULT;
}

/* ---- waiting for signals ---- */

void os_mask_for_call(struct os_call *call, uint64_t blocked)
{
    struct os_task *task = call->task;
    if (task->restore_blocked) return;
    task->saved_blocked = task->blocked;
    task->restore_blocked = true;
    task->blocked = blocked & ~UNBLOCKABLE;
}

int64_t sys_pause(struct os_call *call)
{
    return os_wait(call, NULL, OS_NEVER);
}

int64_t sys_rt_sigsuspend(struct os_call *call)
{
    uint64_t set;
    if (call->arg[1] != 8) return -EINVAL;
    if (!os_get_sigset(call->mem, call->arg[0], &set)) return -EFAULT;
    os_mask_for_call(call, set);
    return os_wait(call, NULL, OS_NEVER);
}

int64_t sys_sigsuspend(struct os_call *call)
{
    os_mask_for_call(call, call->arg[0]);
    return os_wait(call, NULL, OS_NEVER);
}

static int64_t sigtimedwait(struct os_call *call, bool wide)
{
    uint64_t set, cycles = OS_NEVER;
    struct os_siginfo info;
    struct os_task *task = call->task;
    if (call->arg[3] != 8) return -EINVAL;
    if (!os_get_sigset(call->mem, call->arg[0], &set)) return -EFAULT;
    task->sigwait = 0;
    int signal = os_signal_take(task, set & ~UNBLOCKABLE, &info);
    if (signal)
        return call->arg[1] && !os_put_siginfo(call->mem, call->arg[1], &info) ? -EFAULT : signal;
    if (os_timed_out(call)) return -EAGAIN;
    if (call->arg[2]) {
        uint64_t ns;
        int wrong = os_get_timespec(call->mem, call->arg[2], wide, &ns);
        if (wrong) return wrong;
        cycles = os_cycles_of(call->os, ns);
    }
    task->sigwait = set & ~UNBLOCKABLE;
    return os_wait(call, NULL, cycles);
}

int64_t sys_rt_sigtimedwait(struct os_call *call)
{
    return sigtimedwait(call, false);
}

int64_t sys_rt_sigtimedwait_time64(struct os_call *call)
{
    return sigtimedwait(call, true);
}
