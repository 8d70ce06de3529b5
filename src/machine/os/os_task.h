/* What the files of tasks, time and signals share: the machine's state and the steps that change
 * it.
 *
 * Not for os_file*.c and os_space*.c, which need no more than os_impl.h. Times are cycles of one
 * simulated clock: each core is somewhere on it, `os->now` is where the code that runs at the
 * moment is.
 */
#ifndef OS_TASK_H
#define OS_TASK_H

#include "machine/os/os_impl.h"

#define OS_NEVER UINT64_MAX
#define OS_RETURNED                                                                                \
    (INT64_MIN + 1) /* not a result: the registers are as they should be already                   \
                     */

enum {
    OS_FIRST_PID = 1000,
    OS_MSR_USER = 0x29000 | MSR_PR | MSR_FP /* and CE EE ME, as Linux runs programs on a 44x */
};

/* Where handlers return to: `li r0,…; sc` for sigreturn and rt_sigreturn. Linux has them in the
 * vdso or in the frame; here they are in a page of their own, above all user addresses
 * (os_signal_frame.c). */
#define OS_TRAMPOLINE UINT32_C(0xfffff000)

enum {
    OS_SIGHUP = 1,
    OS_SIGILL = 4,
    OS_SIGTRAP = 5,
    OS_SIGBUS = 7,
    OS_SIGFPE = 8,
    OS_SIGKILL = 9,
    OS_SIGSEGV = 11,
    OS_SIGALRM = 14,
    OS_SIGCHLD = 17,
    OS_SIGCONT = 18,
    OS_SIGSTOP = 19,
    OS_SIGTSTP = 20,
    OS_SIGTTIN = 21,
    OS_SIGTTOU = 22,
    OS_SIGURG = 23,
    OS_SIGXCPU = 24,
    OS_SIGVTALRM = 26,
    OS_SIGPROF = 27,
    OS_SIGWINCH = 28,
    OS_SIGSYS = 31,
    OS_SIGRTMIN = 32
};

enum { OS_SI_USER = 0, OS_SI_KERNEL = 0x80, OS_SI_QUEUE = -1, OS_SI_TIMER = -2, OS_SI_TKILL = -6 };

/* siginfo_t: word[n] is the word at byte 12 + 4n, whatever it means for the signal. */
enum { OS_SIGINFO_WORDS = 5, OS_SIGINFO_SIZE = 128 };
struct os_siginfo {
    int signal, code;
    uint32_t word[OS_SIGINFO_WORDS];
};

/* A core and what it runs. */
struct os_core {
    struct core *core;
    struct os_task *current; /* the task in its time slice; NULL: to be chosen */
    struct os_task *loaded;  /* in the core's hands (core_switch) */
    struct mem *loaded_mem;
};

struct os_warned; /* topics of os_warn_once */

struct os {
    struct os_options options;
    struct cores *all_cores;
    struct os_core cores[OS_CORES_MAX];
    unsigned core_count;
    struct os_process *processes;
    struct os_task *tasks;
    int next_id;    /* one counter for processes and threads */
    uint64_t order; /* runs through os_task.order and wait_order */
    uint64_t until; /* of os_advance */
    bool acts;      /* something else has happened than cores running: tasks may have ended */
    bool yields;    /* os_yield was called */
    uint64_t waiting_inside; /* cores that wait before an access (core_order) */
    uint64_t now;
    struct os_warned *warned;
    uint64_t counts[CORE_SIGNAL_COUNT]; /* of all cores together: os_count */
    struct os_result result;
    struct os_image *first_image;
    uint64_t written; /* bytes of output */
    struct os_space *crash_space;
    struct memory *node_memory; /* of /dev/node, NULL: it is not mapped */
};

static inline uint64_t os_signal_bit(int signal)
{
    return UINT64_C(1) << (signal - 1);
}

static inline uint64_t os_add_cycles(uint64_t a, uint64_t b)
{
    return a > OS_NEVER - b ? OS_NEVER : a + b;
}

/* ---- os_limits.c ---- */
void os_maximum_init(struct os *os);
uint64_t os_memory_used(const struct os *os); /* in bytes, as it counts towards the limit */
/* Whether the process may have so many bytes more, mapped and writable; else ENOMEM. */
bool os_may_map(const struct os_call *call, uint64_t mapped, uint64_t writable);
bool os_may_have_space(struct os *os, const struct os_space *space); /* which no process has yet */
bool os_may_start_task(const struct os_call *call);
bool os_may_share(struct os *os, unsigned parts);
uint64_t os_signals_max(const struct os_process *process);

/* ---- os_task.c ---- */
/* One of the processes that the program was started as, rather than a child. */
bool os_process_is_first(const struct os_process *process);
struct os_task *os_task_find(const struct os *os, int tid);
struct os_process *os_process_find(const struct os *os, int pid);
struct os_task *
os_process_leader(const struct os_process *process); /* or its oldest task; NULL when none lives */
void os_task_start_program(
    struct os_task *task); /* registers for the first instruction of process->space */
/* Ends a task; with the last one its process ends, too. */
void os_task_exit(struct os_task *task);
/* Ends all tasks of a process but `keep` (may be NULL). */
void os_process_end_tasks(struct os_process *process, const struct os_task *keep);
/* Ends a process: `status` as wait4 gives it. */
void os_process_end(struct os_process *process, int status);
void os_process_drop_space(struct os_process *process);
/* Frees tasks that are dead and processes that were waited for. */
void os_sweep(struct os *os);

/* ---- os_process.c ---- */
void os_process_finish(struct os_process *process); /* its last task is gone: notifies the parent */
/* execve took `task` out of the memory it shared with its parent, or it ended. */
void os_vfork_done(struct os_process *child);

/* ---- os_sched.c ---- */
uint64_t os_task_cycle(const struct os_task *task); /* the clock of its core */
void os_make_runnable(struct os_task *task, enum os_woken woken);
/* The core for one more task: allowed by `affinity`, with the fewest live tasks. */
unsigned os_choose_core(const struct os *os, uint64_t affinity);
/* os_wake for the tasks that wait for this word of `what`, and for one of `bits` unless that is 0.
 */
unsigned os_wake_word(struct os *os, const void *what, uint32_t word, unsigned count,
                      uint32_t bits);
void os_warn(struct os *os, const char *format, ...) __attribute__((format(printf, 2, 3)));
void os_warned_free(struct os *os);

/* Raises a signal of group "os" for the task, which its core has loaded. */
void os_count(const struct os_task *task, enum core_signal signal);

/* ---- os_call.c ---- */
void os_call_enter(struct os_task *task);  /* after sc, or once more when the task was woken */
bool os_call_is_of_files(unsigned number); /* a row of os_file_calls.def */
/* A handler is about to run while a call waits: it ends with EINTR, or is made anew afterwards. */
void os_call_interrupt(struct os_task *task, const struct os_sigaction *action);

/* ---- os_signal.c ---- */
bool os_signal_ignored(const struct os_process *process, int signal);
bool os_signal_process(struct os *os, struct os_process *process, const struct os_siginfo *info);
bool os_signal_task(struct os *os, struct os_task *task, const struct os_siginfo *info);
/* A fault of the task itself: cannot be blocked or ignored. */
void os_signal_force(struct os_task *task, const struct os_siginfo *info);
/* Takes the next signal of `set`, of the task's own or of its process; 0 when there is none. */
int os_signal_take(struct os_task *task, uint64_t set, struct os_siginfo *info);
void os_signal_discard(struct os_pending **queue, uint64_t *pending, uint64_t signals);
/* Signal sets in memory: two words, signals 1 to 32 first. */
bool os_get_sigset(const struct mem *mem, uint32_t address, uint64_t *set);
bool os_put_sigset(struct mem *mem, uint32_t address, uint64_t set);
bool os_put_siginfo(struct mem *mem, uint32_t address, const struct os_siginfo *info);

/* ---- os_signal_deliver.c ---- */
/* Acts on the signals of a task that is about to run; afterwards it may be dead, or in a handler.
 */
void os_signal_deliver(struct os_task *task);
/* What a core stopped for, when it is not a call. */
void os_signal_fault(struct os_task *task, const struct core_exit *stop);

/* ---- os_emulate.c ---- */
/* The instruction at pc was refused: does it, if Linux would. */
bool os_emulate(struct os_task *task);

/* ---- os_signal_frame.c ---- */
void os_trampoline_map(struct mem *mem);
/* Makes the task run the handler; false when its stack cannot be written. `old` is the mask to
 * restore. */
bool os_frame_push(struct os_task *task, const struct os_sigaction *action,
                   const struct os_siginfo *info, uint64_t old);
uint32_t os_altstack_flags(const struct os_task *task); /* ss_flags, as sigaltstack returns it */

/* ---- os_time.c, os_timer.c ---- */
uint64_t os_cycles_to_ns(const struct os *os, uint64_t cycles);
uint64_t os_process_cycles(const struct os *os, const struct os_process *process);
/* One of the calls that sleep was interrupted: writes the time that was left. */
void os_sleep_interrupted(struct os_task *task);
/* Moments: clock `id` as nanoseconds; false when there is no such clock. */
bool os_clock_ns(const struct os_call *call, uint32_t id, uint64_t *ns);
/* Whether the clock runs with real time, and where its 0 is in nanoseconds since the machine was
 * switched on. */
bool os_clock_is_wall(uint32_t id, uint64_t *offset);
/* timespec with 4- or 8-byte seconds, timeval of 4: 0, -EFAULT or -EINVAL. */
int os_get_timespec(const struct mem *mem, uint32_t address, bool wide, uint64_t *ns);
int os_put_timespec(struct mem *mem, uint32_t address, bool wide, uint64_t ns);
uint64_t os_timers_next(const struct os *os); /* the earliest moment at which one expires */
void os_timers_fire(struct os *os);           /* that are due at os->now */
uint64_t
os_timers_budget(const struct os_task *task); /* cycles it may use before one of use expires */
void os_timers_used(struct os_task *task);    /* it has used some */
void os_timers_drop(struct os_process *process, bool alarms); /* exec: timers; end: alarms, too */
void os_put_rusage(const struct os *os, void *host, uint64_t cycles);
enum { OS_RUSAGE_SIZE = 72 };

/* ---- os_futex.c ---- */
void os_futex_exit(struct os_task *task); /* robust list, clear_tid */
/* The shared memory that an address is in, and where in it; NULL: it is private (os_space.c). */
const void *os_space_memory(const struct os_space *space, uint32_t address, uint32_t *at);
void os_node_memory_free(struct os *os);

/* ---- os_priority.c ---- */
uint64_t os_time_slice(const struct os_task *task); /* cycles of a turn on a core with others */
void os_priority_inherit(struct os_task *child, const struct os_task *parent);

/* ---- os_info.c ---- */
void os_limits_init(struct os_process *process);
void os_cpu_limit_changed(struct os_process *process);

/* Every handler of os_calls.def. */
#define X(number, name, handler) int64_t handler(struct os_call *call);
#include "machine/os/os_calls.def"
#undef X

#endif
