/* Processes: how one ends, wait4 and its relatives, process groups and sessions.
 *
 * What a process leaves behind is a struct os_process with `exited` set, until its parent calls
 * wait4, or ignores SIGCHLD. Waiting for children is a wait on &parent->pid, waiting for the end of
 * a vfork one on &child->status. Stopping (SIGSTOP, WUNTRACED) is not simulated: there is no
 * terminal from which to continue a process.
 */
#include "machine/os/os_task.h"

#include <errno.h>

enum { CLD_EXITED = 1, CLD_KILLED = 2 };
enum {
    WNOHANG = 1,
    WUNTRACED = 2,
    WEXITED = 4,
    WCONTINUED = 8,
    WNOWAIT = 0x1000000,
    WNOTHREAD = 0x20000000,
    WALL = 0x40000000
};
#define WCLONE UINT32_C(0x80000000)

/* ---- the end ---- */

void os_vfork_done(struct os_process *child)
{
    os_wake_all(child->os, &child->status);
}

/* Children of a process that ends have no parent that waits. */
static void orphan_children(const struct os_process *parent)
{
    for (struct os_process *child = parent->os->processes; child; child = child->next) {
        if (child->parent_pid != parent->pid) continue;
        child->parent_pid = 1;
        if (child->parent_death && !child->exited)
            (void)os_send_signal(child->os, child, child->parent_death);
        if (child->exited) child->reaped = true;
    }
}

static struct os_siginfo child_siginfo(const struct os_process *child)
{
    const struct os *os = child->os;
    int killed = child->status & 0x7f;
    uint32_t ticks = (uint32_t)(os_cycles_to_ns(os, os_process_cycles(os, child)) / 10000000);
    struct os_siginfo info = {.signal = OS_SIGCHLD,
                              .code = killed ? CLD_KILLED : CLD_EXITED,
                              .word = {(uint32_t)child->pid, OS_UID,
                                       (uint32_t)(killed ? killed : child->status >> 8), ticks, 0}};
    return info;
}

static void tell_parent(struct os_process *process)
{
    enum { SA_NOCLDWAIT = 2 };
    struct os *os = process->os;
    struct os_process *parent = os_process_find(os, process->parent_pid);
    if (!parent || parent->exited) {
        process->reaped = true;
        return;
    }
    const struct os_sigaction *action = &parent->actions[OS_SIGCHLD];
    if (process->exit_signal == OS_SIGCHLD &&
        (action->handler == 1 || action->flags & SA_NOCLDWAIT))
        process->reaped = true;
    if (process->exit_signal) {
        struct os_siginfo info = child_siginfo(process);
        info.signal = process->exit_signal;
        (void)os_signal_process(os, parent, &info);
    }
    os_wake_all(os, &parent->pid);
}

static void keep_result(const struct os_process *process)
{
    struct os_result *result = &process->os->result;
    if (!os_process_is_first(process) || result->status) return;
    int killed = process->status & 0x7f;
    result->status = killed ? 128 + killed : process->status >> 8 & 0xff;
}

void os_process_finish(struct os_process *process)
{
    process->exited = true;
    if (process->os->options.ended)
        process->os->options.ended(process->os->options.context, process->pid);
    os_timers_drop(process, true);
    os_vfork_done(process);
    os_process_drop_space(process);
    if (process->files) os_files_release(process->files);
    process->files = NULL;
    keep_result(process);
    orphan_children(process);
    tell_parent(process);
}

/* ---- waiting ---- */

struct waiting {
    int pid; /* > 0 one, -1 any, 0 of the caller's group, < -1 of the group -pid */
    uint32_t options;
};

static bool is_wanted(const struct os_process *parent, const struct os_process *child,
                      const struct waiting *how)
{
    if (child->parent_pid != parent->pid || child->reaped) return false;
    if (how->pid > 0 && child->pid != how->pid) return false;
    if (how->pid == 0 && child->group != parent->group) return false;
    if (how->pid < -1 && child->group != -how->pid) return false;
    if (how->options & WALL) return true;
    bool is_clone = child->exit_signal != OS_SIGCHLD;
    return is_clone == ((how->options & WCLONE) != 0);
}

/* The child that ended, oldest first: its pid, 0 when the caller does not want to wait, OS_WAIT, or
 * -ECHILD. */
static int64_t wait_child(struct os_call *call, const struct waiting *how,
                          struct os_process **ended)
{
    bool any = false;
    for (struct os_process *child = call->os->processes; child; child = child->next) {
        if (!is_wanted(call->process, child, how)) continue;
        any = true;
        if (!child->exited || !(how->options & WEXITED)) continue;
        *ended = child;
        return child->pid;
    }
    if (!any) return -ECHILD;
    if (how->options & WNOHANG) return 0;
    return os_wait(call, &call->process->pid, OS_NEVER);
}

static void reap(struct os_call *call, struct os_process *child)
{
    call->process->children_cycles += os_process_cycles(call->os, child) + child->children_cycles;
    child->reaped = true;
}

static int64_t wait4(struct os_call *call, uint32_t usage)
{
    struct waiting how = {(int)call->arg[0], call->arg[2] | WEXITED};
    if (call->arg[2] & ~(WNOHANG | WUNTRACED | WCONTINUED | WNOTHREAD | WALL | WCLONE))
        return -EINVAL;
    if (how.pid == INT_MIN) return -ESRCH; /* no group has that number */
    struct os_process *child = NULL;
    int64_t pid = wait_child(call, &how, &child);
    if (!child) return pid;
    if (call->arg[1] && !mem_put32(call->mem, call->arg[1], (uint32_t)child->status))
        return -EFAULT;
    if (usage) {
        void *host = mem_writable(call->mem, usage, OS_RUSAGE_SIZE);
        if (!host) return -EFAULT;
        os_put_rusage(call->os, host, os_process_cycles(call->os, child));
    }
    reap(call, child);
    return pid;
}

int64_t sys_wait4(struct os_call *call)
{
    return wait4(call, call->arg[3]);
}

int64_t sys_waitpid(struct os_call *call)
{
    return wait4(call, 0);
}

int64_t sys_waitid(struct os_call *call)
{
    enum { P_ALL, P_PID, P_PGID };
    uint32_t options = call->arg[3];
    int id = (int)call->arg[1];
    if (options &
            ~(WNOHANG | WUNTRACED | WEXITED | WCONTINUED | WNOWAIT | WNOTHREAD | WALL | WCLONE) ||
        !(options & (WEXITED | WUNTRACED | WCONTINUED)))
        return -EINVAL;
    struct waiting how = {-1, options};
    switch (call->arg[0]) {
    case P_ALL: break;
    case P_PID:
        if (id <= 0) return -EINVAL;
        how.pid = id;
        break;
    case P_PGID:
        if (id < 0) return -EINVAL;
        how.pid = -(id ? id : call->process->group);
        break;
    default: return -EINVAL;
    }
    struct os_process *child = NULL;
    int64_t pid = wait_child(call, &how, &child);
    if (pid < 0) return pid;
    struct os_siginfo info = {0};
    if (child) info = child_siginfo(child);
    if (call->arg[2] && !os_put_siginfo(call->mem, call->arg[2], &info)) return -EFAULT;
    void *usage =
        call->arg[4] && child ? mem_writable(call->mem, call->arg[4], OS_RUSAGE_SIZE) : NULL;
    if (call->arg[4] && child && !usage) return -EFAULT;
    if (usage) os_put_rusage(call->os, usage, os_process_cycles(call->os, child));
    if (child && !(options & WNOWAIT)) reap(call, child);
    return 0;
}

/* ---- names ---- */

static struct os_process *process_argument(const struct os_call *call)
{
    return call->arg[0] ? os_process_find(call->os, (int)call->arg[0]) : call->process;
}

int64_t sys_getpid(struct os_call *call)
{
    return call->process->pid;
}

int64_t sys_getppid(struct os_call *call)
{
    return call->process->parent_pid;
}

int64_t sys_getpgrp(struct os_call *call)
{
    return call->process->group;
}

int64_t sys_getpgid(struct os_call *call)
{
    const struct os_process *process = process_argument(call);
    return process ? process->group : -ESRCH;
}

int64_t sys_getsid(struct os_call *call)
{
    const struct os_process *process = process_argument(call);
    return process ? process->session : -ESRCH;
}

static bool group_is_in_session(const struct os *os, int group, int session)
{
    for (const struct os_process *process = os->processes; process; process = process->next)
        if (process->group == group && process->session == session) return true;
    return false;
}

int64_t sys_setpgid(struct os_call *call)
{
    struct os_process *process = process_argument(call);
    int group = (int)call->arg[1];
    if (group < 0) return -EINVAL;
    if (!process || (process != call->process && process->parent_pid != call->process->pid))
        return -ESRCH;
    if (process != call->process && process->has_run_program) return -EACCES;
    if (process->session == process->pid || process->session != call->process->session)
        return -EPERM;
    if (!group) group = process->pid;
    if (group != process->pid && !group_is_in_session(call->os, group, process->session))
        return -EPERM;
    process->group = group;
    return 0;
}

int64_t sys_setsid(struct os_call *call)
{
    struct os_process *process = call->process;
    for (const struct os_process *other = call->os->processes; other; other = other->next)
        if (other->group == process->pid) return -EPERM;
    process->session = process->group = process->pid;
    return process->pid;
}
