/* Inside the operating system services: tasks, processes, and how a system call is made.
 *
 * User-mode Linux for PowerPC 32, in simulated time. A process has an address space, files and
 * signal handlers; a task (thread) has registers and a place on a core. One host thread runs them
 * all: the core that is furthest behind in simulated time runs next, for a quantum; ties go to the
 * lower core. So the same run gives the same bits.
 *
 * A system call is a row of os_calls.def: number, name, handler. A handler gets a struct os_call
 * and returns the result, or -errno, or OS_WAIT when the task must wait: the call is then made
 * again, with the same arguments, when the task is woken (os_wake), unless a signal comes first
 * (then it ends with EINTR or is restarted). Nothing of the host shows in a result: no host time,
 * pid, address or random number.
 */
#ifndef OS_IMPL_H
#define OS_IMPL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chiliad/error.h"
#include "machine/core/core.h"
#include "machine/mem/mem.h"
#include "machine/os/os.h"

enum { OS_SIGNALS = 64, OS_PAGE = 4096 };
enum {
    OS_UID = 1000,
    OS_GID = 1000
}; /* who the guest is: in the auxiliary vector, getuid, and owner of every file */

#define OS_WAIT INT64_MIN /* not a result: the task waits */

struct os_process;
struct os_task;
struct os_pending; /* signals that wait, with what came with them (os_signal.c) */
struct os_timer;   /* timer_create (os_timer.c) */

/* ---- files (os_file*.c) ---- */

/* The descriptors of a process; shared by threads, copied by fork. Opaque outside os_file*.c. */
struct os_files;

struct os_files *os_files_new(const struct os_rules *rules,
                              struct chil_error *err); /* with 0, 1, 2 of the host */
struct os_files *
os_files_fork(struct os_files *files); /* a copy whose descriptors share their offsets */
struct os_files *os_files_share(struct os_files *files);     /* one more user (CLONE_FILES) */
void files_set_limit(struct os_files *files, uint64_t most); /* RLIMIT_NOFILE */
void os_files_close_on_exec(struct os_files *files);
void os_files_release(struct os_files *files);
/* From now on guests see the program at a path that no host decides: 1; 0: they cannot, negative:
 * the host failed. */
int os_files_hide_program(const struct os_files *files, const char *program, char guest[PATH_MAX]);
/* Opens a guest path for the loader: a host descriptor, read only, or -errno. */
int os_files_open_program(const struct os_files *files, const char *guest_path);

/* ---- processes and tasks (os_task.c …) ---- */

struct os_sigaction {
    uint32_t handler; /* 0 default, 1 ignore */
    uint32_t flags, restorer;
    uint64_t mask; /* bit n - 1 is signal n */
};

/* The layout of an address space, for brk, mmap and /proc/self/exe. */
struct os_space {
    struct mem *mem;
    uint32_t brk_start, brk;
    uint32_t mmap_top; /* mmap looks for room below this, downwards */
    uint32_t stack_low, stack_high;
    uint32_t entry; /* where execution starts: the interpreter's or the program's */
    uint32_t stack_pointer;
    unsigned users;              /* processes sharing it (vfork, CLONE_VM) */
    char *program;               /* absolute guest path, owned */
    struct os_image *image;      /* what `program` was when it was loaded */
    struct os_mapping *mappings; /* what MAP_SHARED needs, os_space*.c's own */
    struct os_code *code;        /* what was mapped to be executed, last first */
};

/* setitimer: in cycles, of time for OS_ALARM_REAL and of use by the process for the others. */
enum { OS_ALARM_REAL, OS_ALARM_VIRTUAL, OS_ALARM_PROF, OS_ALARM_CPU_LIMIT, OS_ALARMS };
struct os_alarm {
    uint64_t expires; /* UINT64_MAX when off */
    uint64_t interval;
};

enum { OS_LIMITS = 16 };
struct os_limit {
    uint64_t soft, hard; /* UINT64_MAX: none */
};

struct os_process {
    struct os *os;
    int pid, parent_pid, group;
    struct os_space *space;
    struct os_files *files;
    struct os_sigaction actions[OS_SIGNALS + 1];
    uint64_t pending; /* signals for any task of the process */
    uint32_t umask;
    bool exited;
    int status;              /* as wait4 gives it, once exited */
    struct os_process *next; /* all processes, oldest first */

    int session;
    uint64_t cores;           /* it may run on, bit n for core n */
    int exit_signal;          /* what the parent gets at the end, 0 for nothing */
    unsigned tasks;           /* alive */
    bool ending;              /* exit_group or a signal decided `status` */
    bool reaped;              /* `status` was waited for, or never will be: to be freed */
    bool has_run_program;     /* since fork: setpgid by the parent is too late */
    struct os_pending *queue; /* behind `pending` */
    uint64_t cycles;          /* used by tasks that are gone; see os_process_cycles */
    uint64_t children_cycles; /* of children that were waited for */
    struct os_alarm alarms[OS_ALARMS];
    struct os_timer *timers;
    int next_timer;
    struct os_limit limits[OS_LIMITS];
    uint64_t random; /* state of getrandom */
    uint64_t start_cycle;
    int parent_death;             /* signal for it when the parent ends; PR_SET_PDEATHSIG */
    bool dumpable, no_new_rights; /* prctl's; there are no core files and no setuid */
};

enum os_state { OS_RUNNABLE, OS_WAITING, OS_DEAD };

/* What ended a wait. */
enum os_woken { OS_WOKEN_NOT, OS_WOKEN_EVENT, OS_WOKEN_TIME, OS_WOKEN_SIGNAL };

enum { OS_CUTS = 8 };
struct os_task {
    struct os_process *process;
    int tid;
    unsigned core;
    struct core_regs regs;
    enum os_state state;
    uint64_t
        wake_cycle; /* when waiting with a time limit: on the core's clock; UINT64_MAX without */
    const void *wait_on;       /* what os_wake looks for; NULL: only time or a signal */
    bool in_call;              /* a system call is to be made again */
    uint64_t blocked, pending; /* signal masks */
    uint64_t saved_blocked;    /* by sigsuspend, restored at delivery */
    uint32_t altstack, altstack_size, altstack_flags;
    uint32_t clear_tid; /* set_tid_address / CLONE_CHILD_CLEARTID */
    uint32_t robust_list;
    struct os_task *next; /* all tasks, oldest first */

    struct os_pending *queue; /* behind `pending` */
    uint64_t ready_cycle;     /* runnable, but not before this cycle: the waker's time */
    uint64_t order;           /* the runnable task of a core with the smallest runs next */
    uint64_t wait_order;      /* os_wake wakes the smallest first */
    enum os_woken woken;
    bool uninterruptible; /* waiting: only SIGKILL may end it (vfork) */
    bool restore_blocked; /* saved_blocked is restored when the call is over */
    uint64_t sigwait;     /* signals that rt_sigtimedwait waits for */
    uint32_t futex_bits;  /* FUTEX_WAIT_BITSET */
    uint32_t wait_word;   /* which word of `wait_on` a futex is; 0 for other waits */
    int vfork_child;      /* the child this task waits for in vfork */
    uint64_t affinity;    /* cores it may run on, bit n for core n */
    unsigned handlers;    /* of signals, that were entered and not counted yet */
    struct os_cut {       /* blocks that handlers have interrupted, by the handler's frame */
        uint32_t frame;   /* 0: none */
        struct core_cut cut;
    } cuts[OS_CUTS];
    unsigned next_cut;  /* of them, to be replaced */
    struct os_watched { /* signals of a watch that was reached; 0: none */
        int own, of_process;
    } watched;
    uint64_t slice_start;  /* when its time slice began */
    uint64_t cycles;       /* that it used */
    struct core_exit stop; /* what its core stopped for, when `stopped`: not acted on yet */
    bool stopped;
    uint32_t fault_trap, fault_address; /* of the last fault, for signal frames */
    char name[16];                      /* PR_SET_NAME */
    int nice;                           /* 0 to 19 */
    unsigned policy;                    /* SCHED_OTHER and its like (os_priority.c) */
    uint32_t timer_slack;               /* PR_SET_TIMERSLACK */
    const void *lock_holder;            /* whose record lock it waits for: a struct os_files */
};

/* What a handler gets. 64-bit arguments are in pairs of registers; see os_pair. */
struct os_call {
    struct os *os;
    struct os_task *task;
    struct os_process *process;
    struct mem *mem;
    unsigned number;
    uint32_t arg[6];
    bool again; /* the task waited and was woken: this is the same call once more */
};

static inline uint64_t os_pair(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

typedef int64_t (*os_handler)(struct os_call *call);

/* Waits for `what` (any address; os_wake names the same) until `cycles` have passed, UINT64_MAX for
 * ever. Returns OS_WAIT, for `return os_wait(...)`. When called again after the time is up,
 * call->again is true and os_timed_out(call) says so. A call that is woken early and waits again
 * keeps the limit of its first wait. */
int64_t os_wait(struct os_call *call, const void *what, uint64_t cycles);
bool os_timed_out(const struct os_call *call);
/* Makes up to `count` tasks that wait for `what` runnable, in the order in which they began to
 * wait, not before the waker's time; returns how many. */
unsigned os_wake(struct os_call *call, const void *what, unsigned count);
/* The same without a call at hand (pipes that close when a process ends). */
unsigned os_wake_all(struct os *os, const void *what);
/* The next task that waits for `what`, behind `after`; NULL begins and ends. */
const struct os_task *os_next_waiting(const struct os *os, const void *what,
                                      const struct os_task *after);
bool os_signal_waiting(
    const struct os_task *task); /* an unblocked, not ignored signal is pending */
int os_send_signal(struct os *os, struct os_process *process, int signal);
/* For calls that wait with another signal mask (ppoll, pselect6): in force until the call is over.
 * Calling it again when the call is made again changes nothing. */
void os_mask_for_call(struct os_call *call, uint64_t blocked);
/* The soft limit of a process (RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_STACK … as Linux numbers them).
 */
uint64_t os_limit(const struct os_process *process, unsigned resource);
/* How many of `count` bytes may be written now, to a file from `at` on (negative: to what has no
 * places), or -errno; and that they were. */
int64_t os_may_write(const struct os_call *call, int64_t at, uint64_t count);
void os_wrote(struct os *os, int64_t count);

/* Simulated time: cycles of the calling task's core, nanoseconds since the machine was switched on,
 * and the fixed moment at which that happened, in seconds since 1970. */
uint64_t os_cycles(const struct os_call *call);
uint64_t os_nanoseconds(const struct os_call *call);
uint64_t os_cycles_of(const struct os *os, uint64_t nanoseconds);
#define OS_EPOCH UINT64_C(1230768000) /* 2009-01-01 00:00:00 UTC */

/* Says something once per run and topic on the simulator's standard error (an unsupported call, …).
 */
void os_warn_once(struct os *os, const char *topic, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Standard output (1) or error (2) through os_options.output, with its result in *done; false:
 * there is none. */
bool os_output(struct os *os, int stream, const void *bytes, size_t count, int64_t *done);
/* A call waits for the host (os_options.waits); false: it is to end with EINTR. */
bool os_host_waits(struct os *os);

/* ---- loader (os_load.c) ---- */

/* Loads a program, static, PIE or dynamic, into a new address space with its first stack. */
int os_load(struct os_space **space, const struct os_files *files, const struct os_rules *rules,
            const char *guest_path, char *const argv[], char *const envp[], struct chil_error *err);
int os_load_errno(
    int status); /* the errno with which execve fails when os_load returned `status` */
void os_space_release(struct os_space *space);
struct os_space *os_space_fork(const struct os_space *space);
bool os_space_find_code(const struct os_space *space, uint32_t address, struct os_object *object);
bool os_space_get_code(const struct os_space *space, size_t index, struct os_object *object);

#endif
