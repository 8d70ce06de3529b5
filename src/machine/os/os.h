/* User-mode Linux on a node: starts a program, runs it and all that it starts, and reports how it
 * ended.
 *
 * The guests see a PowerPC 32 Linux in simulated time; the host lends its files and nothing else.
 * The caller makes the cores and keeps them; everything else (address spaces, files, tasks) belongs
 * to the struct os. One host thread runs a struct os, and two of them share nothing. The library
 * never prints: lines for the user go to `report`.
 *
 * Simulated time alone decides the order of events (os_sched.c): the same program with the same
 * options makes the same calls in the same cycles, whatever the host does.
 *
 * Terms: docs/glossary.md
 */
#ifndef OS_H
#define OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chiliad/error.h"
#include "machine/core/core.h"

struct os;
struct os_space;

enum { OS_CORES_MAX = 64, OS_DEVICES = 16 };

/* The file-system rules of a run, from the command line. */
struct os_rules {
    const char *sysroot; /* where ld.so.1 and libraries are found when not in the host's place */
    const char *root;    /* confines everything below it, or NULL */
    const char *const *writable; /* folders that may be written, besides the working directory */
    size_t writable_count;
    uint64_t files; /* open at a time, over all processes; 0: 4096, or what the host has */
    bool old_host;  /* neither openat2 nor /proc is used: for tests */
    struct os_images *images; /* shared by the nodes of a run; NULL: an own one */
    struct os_locks *locks;   /* the same of files' locks */
    unsigned cores; /* for /proc/cpuinfo and the like; 0 counts as 1; os_new fills it in */
};

/* Whole pages of device registers, at the same address in every address space. */
struct os_device {
    uint32_t address, size; /* size 0: none */
    bool outside;           /* other nodes see an access, or decide its answer */
};

/* What a task is about to do outside of its node. */
struct os_action {
    bool network; /* an access to a device that is `outside`; else files, a service, the end */
    unsigned core;
    const struct core_regs *regs; /* nothing of the access is done yet */
    uint32_t address;             /* of the access */
    bool store;
};

/* What the program and all that it starts may use; 0: a default (os_limits.c). */
struct os_maximum {
    uint64_t memory;  /* bytes that may be written, over all processes; the machine's memory */
    uint64_t tasks;   /* processes and threads at a time; 1024 */
    uint64_t signals; /* queued for a process, and timers of it; 4096 */
    uint64_t output;  /* bytes written to files, standard output and error; 16 GiB */
};

enum os_memory { OS_MEMORY_MAPPED, OS_MEMORY_COPIED, OS_MEMORY_GONE };

struct os_options {
    unsigned clock_mhz;    /* of the cores: what a cycle is in nanoseconds */
    uint32_t pvr;          /* what mfpvr gives; 0: a 440EP's */
    uint64_t memory_bytes; /* what sysinfo returns; 0: 512 MiB */
    struct os_maximum maximum;
    uint64_t quantum; /* cycles that cores may run apart when several are busy, where no other core
                         sees it; 0: 1000 */
    struct os_rules rules; /* what it points to outlives the struct os */
    const char *program;   /* guest path */
    unsigned processes; /* so many copies of the program run, each on its own part of the cores and
                           of the memory; 0: one. It divides the number of cores. */
    bool hide_path;     /* argv[0] and all that shows the program's path: /proc/program/NAME */
    char *const *argv;  /* NULL-terminated, as envp; both are copied */
    char *const *envp;

    void *context; /* of the callbacks; every callback may be NULL */
    /* One line for the user, without newline: an unsupported call, a deadlock. */
    void (*report)(void *context, const char *line);
    /* A core is about to run another task than before: counts belong to it from now on. */
    void (*switched)(void *context, unsigned core, int pid, int tid);
    /* A process has ended. */
    void (*ended)(void *context, int pid);
    /* A task was started by another one and is where that one is, on its stack or a copy of it:
     * fork, vfork. */
    void (*forked)(void *context, int from, int pid, int tid);
    /* An address space has more code, is the copy of another one (`from`), or ends. */
    void (*memory)(void *context, enum os_memory what, const struct mem *mem,
                   const struct mem *from);
    /* A task's registers have been set to run the handler of a signal. */
    void (*handled)(void *context, int tid, int signal, const struct core_regs *regs,
                    struct mem *mem);
    /* Loads and stores of devices go to `device`, with the instruction not done yet. True: it was
     * done, regs->pc is behind it. False: the program gets SIGSEGV. */
    struct os_device devices[OS_DEVICES];
    bool (*device)(void *context, unsigned core, struct core_regs *regs, struct mem *mem,
                   uint32_t address);
    /* Several nodes act in the order of one simulated time: whether a task may act now, at os_now,
     * on what is outside of this node: a call about files, a network, a service. False: os_advance
     * returns OS_WAITS_FOR_TURN, and asks again when it is called again. NULL: always. */
    bool (*turn)(void *context, const struct os_action *action);
    /* Standard output (1) or error (2) of the guests: how many bytes were taken, or -errno. NULL:
     * they go to the host's. */
    int64_t (*output)(void *context, int stream, const void *bytes, size_t count);
    /* The guests are about to write to standard output or error. */
    void (*writes)(void *context);
    /* A call waits for the host: called every so many milliseconds while there is no input, and
     * when a signal of the host came. False: the call ends with EINTR. */
    bool (*waits)(void *context);
    /* A core stopped for what it watches (CORE_WATCH). Returns a signal for the process it runs, 0
     * for none; *task_signal, 0 when called, is one for the task itself. */
    int (*watch)(void *context, unsigned core, int *task_signal);
    /* A program executed a call-through (CORE_CALLTHRU); regs->pc is behind the
     * instruction. False: no such service, the program gets SIGILL. */
    bool (*call_through)(void *context, unsigned core, struct core_regs *regs, struct mem *mem);
};

/* How the first of the program's processes that failed was killed: what a report needs. */
struct os_crash {
    int signal, code; /* si_code */
    uint32_t address; /* si_addr, for the signals that faults make */
    uint32_t pc;
    uint32_t instruction; /* at pc, when it can be read */
    bool has_instruction;
    int pid, tid;
    struct core_regs regs;
    const struct os_space *space; /* memory and layout as they were; until os_free */
};

struct os_result {
    /* The program's own exit status, 128 + signal when it was killed; of several processes that of
     * the first one to end with another status than 0. */
    int status;
    bool killed;
    struct os_crash crash; /* when killed */
    uint64_t cycles;       /* of the core that was last */
};

/* Loads the program; it has not run yet. The `count` first of the cores are used, borrowed until
 * os_free. */
int os_new(struct os **os, const struct os_options *options, struct cores *cores, unsigned count,
           struct chil_error *err);
/* Runs all tasks, also those of processes that outlive the first, up to a simulated time (several
 * busy cores: up to a quantum later) or until nothing is left to run. Where it stops changes no
 * count. */
enum os_progress {
    OS_ALL_ENDED,     /* no task is left */
    OS_TIME_REACHED,  /* `until` */
    OS_ALL_WAIT,      /* every task waits, and nothing on this node will wake one */
    OS_WAITS_FOR_TURN /* os_options.turn said so; os_now is the time of the turn */
};
enum os_progress os_advance(struct os *os, uint64_t until);
/* The core gets an interrupt: SIGURG for the task that it runs, which is ignored unless the program
 * handles it. `time` is now, if all tasks wait. */
void os_interrupt(struct os *os, unsigned core, uint64_t time);
/* Within a callback: os_advance returns OS_TIME_REACHED behind this step. */
void os_yield(struct os *os);
uint64_t os_now(const struct os *os); /* the simulated time, in cycles */
/* After OS_ALL_WAIT, when no other node can wake a task: reports the deadlock and kills
 * them: status 128 + SIGKILL. os_kill kills only. */
void os_end_deadlock(struct os *os);
void os_kill(struct os *os);
/* Which of the program's processes a core belongs to, from 0 on. */
unsigned os_process_of_core(const struct os *os, unsigned core);
/* The memory of one of them, as long as it has not ended; else NULL. */
struct mem *os_process_mem(const struct os *os, unsigned number);
uint64_t os_process_memory(const struct os *os); /* the bytes that each of them may have */
/* The task that acts now (os_options.turn) is the only one that can run, and neither a time limit
 * nor a signal will come. */
bool os_is_alone(const struct os *os);
/* That task has repeated what it did, which took its core so many cycles. */
void os_repeat(struct os *os, unsigned core, uint64_t cycles);
/* Call-through services that only notify of something: no other node can see them, so a node need
 * not wait for its turn. */
enum { OS_NOTES_FIRST = 32, OS_NOTES_LAST = 47 };
/* Raises a signal of group "os" or "mpi" for the task that the core has loaded. */
void os_raise(struct os *os, unsigned core, enum core_signal signal, uint64_t times);
/* How often a signal of these groups was raised on all cores; 0 for others. */
uint64_t os_signal_total(const struct os *os, enum core_signal signal);
void os_result_get(const struct os *os, struct os_result *result);
void os_free(struct os *os);

/* Copies the file at one guest path to another for the task on `core`, by the rules that its own
 * calls are under: how many bytes, or -errno. Both are addresses of paths in the task's memory. */
int64_t os_transfer(struct os *os, unsigned core, uint32_t from, uint32_t to);

/* A copy of a program's or library's file, made when it was loaded: what guests do to the file
 * changes nothing (os_image.c). Who keeps one shares it; the last release frees it, also after the
 * struct os. */
struct os_image;
struct os_locks; /* of files, those of a run (os_file_lock.c) */
struct os_locks *os_locks_new(void);
struct os_locks *os_locks_share(struct os_locks *locks);
void os_locks_release(struct os_locks *locks);

struct os_images; /* those of a run */
struct os_images *os_images_new(void);
struct os_images *os_images_share(struct os_images *all);
void os_images_release(struct os_images *all); /* images that are kept stay */
/* 0, or -errno: EACCES when it is not a regular file, EFBIG over 1 GiB. A file that did not change
 * is copied once. `fd` stays the caller's. */
int os_image_of(struct os_image **image, struct os_images *all, int fd);
struct os_image *os_image_share(struct os_image *image);
void os_image_release(struct os_image *image);
int os_image_descriptor(const struct os_image *image);            /* to be read, not closed */
bool os_image_hash(const struct os_image *image, uint64_t *hash); /* of the bytes */
/* What the first process was started from: its program, or the script. */
const struct os_image *os_first_image(const struct os *os);

/* Code that came from a file: the mapping that holds `address` of an address space that a process
 * has. */
struct os_object {
    const char *path, *host; /* the guest's name of the file, and the host's, for messages only */
    struct os_image *image;
    uint32_t address;        /* where the mapping begins, */
    uint64_t length, offset; /* how long it is, and where in the file */
};
bool os_object_find(const struct os *os, const struct mem *mem, uint32_t address,
                    struct os_object *object);
/* All of them, the last that was mapped first; false: there are not so many. */
bool os_object_get(const struct os *os, const struct mem *mem, size_t index,
                   struct os_object *object);
/* The guest's path of the program in an address space; NULL when no process has it. */
const char *os_program_path(const struct os *os, const struct mem *mem);

/* What a system call is called, NULL when Linux has none of that number. */
const char *os_call_name(unsigned number);

#endif
