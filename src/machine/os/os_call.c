/* System calls: dispatch by number, results, restart after a signal.
 *
 * Handlers are rows (os_calls.def, os_file_calls.def), found by number in a constant table; names
 * of all calls that Linux has on this machine are in os_call_names.def, so that one without a
 * handler can be named. A result from -4095 to -1 is an error: r3 gets the positive number and
 * CR0[SO] is set. Handlers return 64 bits, so an address that looks like an error when cut to 32 is
 * none.
 *
 * While a task waits in a call its registers stay as they were at the sc; making the call again is
 * nothing but reading them again, and restarting it after a signal is going back one instruction.
 */
#include "machine/os/os_task.h"

#include <errno.h>
#include <stdio.h>

enum { CALLS = 512, ERRORS = 4095, SA_RESTART = 0x10000000 };

static const os_handler handlers[CALLS] = {
#define X(number, name, handler) [number] = (handler),
#include "machine/os/os_calls.def"
#undef X
};

static const char *const names[CALLS] = {
#define X(number, name) [number] = #name,
#include "machine/os/os_call_names.def"
#undef X
};

static const bool of_files[CALLS] = {
#define X(number, name, handler) [number] = true,
#include "machine/os/os_file_calls.def"
#undef X
};

bool os_call_is_of_files(unsigned number)
{
    return number < CALLS && of_files[number];
}

const char *os_call_name(unsigned number)
{
    return number < CALLS ? names[number] : NULL;
}

static int64_t unsupported(const struct os_call *call)
{
    char topic[32];
    const char *name = os_call_name(call->number);
    (void)snprintf(topic, sizeof topic, "call %u", call->number);
    os_warn_once(call->os, topic, "system call '%s' (%u) is not supported; returning ENOSYS",
                 name ? name : "?", call->number);
    return -ENOSYS;
}

static void set_result(struct core_regs *regs, int64_t result)
{
    bool failed = result < 0 && result >= -ERRORS;
    regs->gpr[3] = (uint32_t)(failed ? -result : result);
    regs->cr[0] = (uint8_t)(failed ? regs->cr[0] | CR_SO : regs->cr[0] & ~CR_SO);
}

static void park(struct os_task *task)
{
    task->in_call = true;
    if (!task->uninterruptible && os_signal_waiting(task)) {
        task->woken = OS_WOKEN_SIGNAL;
        return;
    }
    task->state = OS_WAITING;
    task->woken = OS_WOKEN_NOT;
}

void os_call_enter(struct os_task *task)
{
    struct os_process *process = task->process;
    const uint32_t *gpr = task->regs.gpr;
    struct os_call call = {.os = process->os,
                           .task = task,
                           .process = process,
                           .mem = process->space->mem,
                           .number = gpr[0],
                           .arg = {gpr[3], gpr[4], gpr[5], gpr[6], gpr[7], gpr[8]},
                           .again = task->in_call};
    task->in_call = false;
    if (!call.again) os_count(task, CORE_SIGNAL_OS_SYSCALL);
    os_handler handler = call.number < CALLS ? handlers[call.number] : NULL;
    int64_t result = handler ? handler(&call) : unsupported(&call);
    if (task->state == OS_DEAD || result == OS_RETURNED) return;
    if (result == OS_WAIT) {
        park(task);
        return;
    }
    if (task->restore_blocked) task->blocked = task->saved_blocked;
    task->restore_blocked = false;
    set_result(&task->regs, result);
}

/* Whether Linux restarts a call after a handler with SA_RESTART; the others end with EINTR whatever
 * the handler says: sleeps, waits for signals, waits for descriptors, and waits for a futex with a
 * time limit. */
static bool restarts(const struct os_task *task)
{
    static const uint16_t never[] = {
        29,  /* pause */
        72,  /* sigsuspend */
        82,  /* select */
        142, /* _newselect */
        162, /* nanosleep */
        167, /* poll */
        176, /* rt_sigtimedwait */
        178, /* rt_sigsuspend */
        238, /* epoll_wait */
        248, /* clock_nanosleep */
        280, /* pselect6 */
        281, /* ppoll */
        303, /* epoll_pwait */
        407, /* clock_nanosleep_time64 */
        413, /* pselect6_time64 */
        414, /* ppoll_time64 */
        421, /* rt_sigtimedwait_time64 */
        441  /* epoll_pwait2 */
    };
    enum { FUTEX = 221, FUTEX_TIME64 = 422 };
    uint32_t number = task->regs.gpr[0];
    if (number == FUTEX || number == FUTEX_TIME64) return !task->regs.gpr[6];
    for (size_t n = 0; n < sizeof never / sizeof *never; n++)
        if (number == never[n]) return false;
    return true;
}

void os_call_interrupt(struct os_task *task, const struct os_sigaction *action)
{
    task->in_call = false;
    task->sigwait = 0;
    task->woken = OS_WOKEN_NOT;
    if (action->flags & SA_RESTART && restarts(task)) {
        task->regs.pc -= 4;
        return;
    }
    os_sleep_interrupted(task);
    set_result(&task->regs, -EINTR);
}
