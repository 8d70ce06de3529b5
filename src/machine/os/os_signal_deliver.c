/* What a signal does to a task: a handler, nothing, or the end; and which signal a fault is.
 *
 * Called when a task is about to run, so that everything else sees tasks only between instructions.
 * All signals that are neither blocked nor ignored get their frames one on top of the other, as
 * Linux does, and the last one's handler runs first. A call that waits is ended by the first
 * handler (os_call_interrupt); if no handler came of it after all (another thread took the signal),
 * the task goes back to its wait.
 */
#include "machine/os/os_task.h"

enum { SA_NODEFER = 0x40000000 };
#define SA_RESETHAND UINT32_C(0x80000000)

static void keep_crash(struct os_task *task, const struct os_siginfo *info)
{
    struct os_process *process = task->process;
    struct os *os = process->os;
    if (!os_process_is_first(process) || os->result.killed || os->result.status) return;
    struct os_crash *crash = &os->result.crash;
    os->result.killed = true;
    crash->signal = info->signal;
    crash->code = info->code;
    crash->address = info->code > 0 && info->code != OS_SI_KERNEL ? info->word[0] : 0;
    crash->pc = task->regs.pc;
    const void *word = mem_readable(process->space->mem, task->regs.pc, 4);
    crash->has_instruction = word != NULL;
    if (word) crash->instruction = mem_host_get32(word);
    crash->pid = process->pid;
    crash->tid = task->tid;
    crash->regs = task->regs;
    process->space->users++;
    crash->space = os->crash_space = process->space;
}

/* Runs the handler. When its frame does not fit, the task gets SIGSEGV instead, and if that was the
 * one: dies of it. */
static void run_handler(struct os_task *task, const struct os_siginfo *info)
{
    struct os_sigaction *action = &task->process->actions[info->signal];
    if (task->in_call) os_call_interrupt(task, action);
    uint64_t old = task->restore_blocked ? task->saved_blocked : task->blocked;
    task->restore_blocked = false;
    if (!os_frame_push(task, action, info, old)) {
        task->blocked = old;
        if (info->signal == OS_SIGSEGV) *action = (struct os_sigaction){0};
        struct os_siginfo segv = {.signal = OS_SIGSEGV, .code = OS_SI_KERNEL};
        os_signal_force(task, &segv);
        return;
    }
    task->regs.reserved = false;
    task->handlers++;
    const struct os_options *options = &task->process->os->options;
    if (options->handled)
        options->handled(options->context, task->tid, info->signal, &task->regs,
                         task->process->space->mem);
    task->blocked |= action->mask;
    if (!(action->flags & SA_NODEFER)) task->blocked |= os_signal_bit(info->signal);
    if (action->flags & SA_RESETHAND) action->handler = 0;
}

void os_signal_deliver(struct os_task *task)
{
    struct os_process *process = task->process;
    struct os_siginfo info;
    while (os_signal_take(task, ~task->blocked, &info)) {
        if (os_signal_ignored(process, info.signal)) continue;
        if (process->actions[info.signal].handler) {
            run_handler(task, &info);
            continue;
        }
        keep_crash(task, &info);
        os_process_end(process, info.signal);
        return;
    }
    if (!task->in_call) return;
    task->state = OS_WAITING;
    task->woken = OS_WOKEN_NOT;
}

/* ---- faults ---- */

/* Which enabled exception it was. FPSCR has the exceptions VX OX UX ZX XX in bits 2 to 6 and their
 * enables in bits 24 to 28, in the order in which Linux tests them. */
static int fp_code(uint32_t fpscr)
{
    enum { FPE_FLTDIV = 3, FPE_FLTOVF, FPE_FLTUND, FPE_FLTRES, FPE_FLTINV, FPE_FLTUNK = 14 };
    static const int codes[] = {FPE_FLTINV, FPE_FLTOVF, FPE_FLTUND, FPE_FLTDIV, FPE_FLTRES};
    uint32_t enabled = fpscr >> 22 & fpscr & 0xf8;
    return enabled ? codes[__builtin_clz(enabled) - 24] : FPE_FLTUNK;
}

void os_signal_fault(struct os_task *task, const struct core_exit *stop)
{
    enum {
        SEGV_MAPERR = 1,
        SEGV_ACCERR = 2,
        ILL_ILLOPC = 1,
        ILL_PRVOPC = 5,
        TRAP_BRKPT = 1,
        BUS_ADRALN = 1
    };
    enum { DATA = 0x300, FETCH = 0x400, ALIGNMENT = 0x600, PROGRAM = 0x700 };
    uint32_t pc = task->regs.pc;
    int segv = stop->mapped ? SEGV_ACCERR : SEGV_MAPERR;
    struct {
        int signal, code;
        uint32_t address, trap;
    } fault;
    switch (stop->reason) {
    case CORE_LOAD:
    case CORE_STORE: fault = (typeof(fault)){OS_SIGSEGV, segv, stop->address, DATA}; break;
    case CORE_FETCH: fault = (typeof(fault)){OS_SIGSEGV, segv, pc, FETCH}; break;
    case CORE_ALIGNMENT:
        fault = (typeof(fault)){OS_SIGBUS, BUS_ADRALN, stop->address, ALIGNMENT};
        break;
    case CORE_PRIVILEGED: fault = (typeof(fault)){OS_SIGILL, ILL_PRVOPC, pc, PROGRAM}; break;
    case CORE_TRAP: fault = (typeof(fault)){OS_SIGTRAP, TRAP_BRKPT, pc, PROGRAM}; break;
    case CORE_FP: fault = (typeof(fault)){OS_SIGFPE, fp_code(task->regs.fpscr), pc, PROGRAM}; break;
    default: fault = (typeof(fault)){OS_SIGILL, ILL_ILLOPC, pc, PROGRAM}; break;
    }
    task->fault_trap = fault.trap;
    task->fault_address = fault.address;
    struct os_siginfo info = {.signal = fault.signal, .code = fault.code, .word = {fault.address}};
    os_signal_force(task, &info);
}
