/* The life of tasks and processes: the first program, clone and fork, the end.
 *
 * A task that ends is only marked dead; os_sweep frees it between two steps of the scheduler, so
 * that a handler can still use it. The same goes for processes: `exited` when the last task is
 * gone, `reaped` when its status was waited for or never will be, freed by os_sweep.
 *
 * Numbers of processes and threads come from one counter that starts at OS_FIRST_PID; the first
 * process's parent is 1, to which orphans go as well. It never waits, so they are reaped as they
 * end. A child made by CLONE_VM without CLONE_THREAD (vfork, posix_spawn) shares the address space
 * itself, not a copy: posix_spawn reports a failed exec through it.
 */
#include "machine/os/os_space_impl.h"
#include "machine/os/os_task.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/mem.h"

enum {
    CLONE_VM = 0x100,
    CLONE_FILES = 0x400,
    CLONE_SIGHAND = 0x800,
    CLONE_VFORK = 0x4000,
    CLONE_PARENT = 0x8000,
    CLONE_THREAD = 0x10000,
    CLONE_SETTLS = 0x80000,
    CLONE_PARENT_SETTID = 0x100000,
    CLONE_CHILD_CLEARTID = 0x200000,
    CLONE_CHILD_SETTID = 0x1000000,
    CLONE_SIGNAL = 0xff,
    /* namespaces, tracing, descriptors of processes */
    CLONE_REFUSED = 0x1000 | 0x2000 | 0x20000 | 0x2000000 | 0x4000000 | 0x8000000 | 0x10000000 |
                    0x20000000 | 0x40000000
};

/* ---- finding ---- */

struct os_task *os_task_find(const struct os *os, int tid)
{
    for (struct os_task *task = os->tasks; task; task = task->next)
        if (task->tid == tid && task->state != OS_DEAD) return task;
    return NULL;
}

struct os_process *os_process_find(const struct os *os, int pid)
{
    for (struct os_process *process = os->processes; process; process = process->next)
        if (process->pid == pid && !process->reaped) return process;
    return NULL;
}

struct os_task *os_process_leader(const struct os_process *process)
{
    struct os_task *oldest = NULL;
    for (struct os_task *task = process->os->tasks; task; task = task->next) {
        if (task->process != process || task->state == OS_DEAD) continue;
        if (task->tid == process->pid) return task;
        if (!oldest) oldest = task;
    }
    return oldest;
}

/* ---- making ---- */

static struct os_process *process_add(struct os *os, int pid)
{
    struct os_process *process = base_calloc(1, sizeof *process);
    process->os = os;
    process->pid = pid;
    process->umask = 022;
    process->start_cycle = os->now;
    process->random = UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)pid;
    for (unsigned a = 0; a < OS_ALARMS; a++)
        process->alarms[a].expires = OS_NEVER;
    struct os_process **end = &os->processes;
    while (*end)
        end = &(*end)->next;
    *end = process;
    return process;
}

static struct os_task *task_add(struct os_process *process, int tid, uint64_t affinity)
{
    struct os *os = process->os;
    struct os_task *task = base_calloc(1, sizeof *task);
    task->process = process;
    task->tid = tid;
    task->affinity = affinity;
    task->core = os_choose_core(os, affinity);
    task->altstack_flags = 2; /* SS_DISABLE */
    task->wake_cycle = OS_NEVER;
    struct os_task **end = &os->tasks;
    while (*end)
        end = &(*end)->next;
    *end = task;
    process->tasks++;
    os_make_runnable(task, OS_WOKEN_NOT);
    return task;
}

void os_task_start_program(struct os_task *task)
{
    const struct os_space *space = task->process->space;
    const char *name = strrchr(space->program, '/');
    name = name ? name + 1 : space->program;
    memset(&task->regs, 0, sizeof task->regs);
    task->regs.pc = space->entry;
    task->regs.gpr[1] = space->stack_pointer;
    task->regs.msr = OS_MSR_USER;
    memset(task->name, 0, sizeof task->name);
    memcpy(task->name, name, strnlen(name, sizeof task->name - 1));
    os_trampoline_map(space->mem);
    for (unsigned i = 0; i < OS_DEVICES; i++) {
        const struct os_device *device = &task->process->os->options.devices[i];
        if (device->size) mem_map(space->mem, device->address, device->size, MEM_IO);
    }
}

/* Loads the first program, by the path that it shall see if there is one. */
static int load_first(struct os_process *process, const struct os_options *o,
                      struct chil_error *err)
{
    char guest[PATH_MAX];
    size_t count = 0;
    while (o->argv && o->argv[count])
        count++;
    bool wanted = o->hide_path && count;
    int hidden = wanted ? os_files_hide_program(process->files, o->program, guest) : 0;
    if (hidden > 0) {
        char **argv = base_calloc(count + 1, sizeof *argv);
        memcpy(argv, o->argv, count * sizeof *argv);
        argv[0] = guest;
        int status =
            os_load(&process->space, process->files, &o->rules, guest, argv, o->envp, NULL);
        free(argv); // NOLINT(bugprone-multi-level-implicit-pointer-conversion)
        if (!status) return CHIL_OK;
    }
    /* Not to be hidden, or an error, which names the path that the user wrote. */
    int status =
        os_load(&process->space, process->files, &o->rules, o->program, o->argv, o->envp, err);
    if (status || !hidden) return status;
    /* A failure of the host that has passed: the program would see another path, and count more. */
    os_space_release(process->space);
    process->space = NULL;
    return chil_error_set(err, CHIL_EIO, "'%s' could not be read at the first try; run it again",
                          o->program);
}

bool os_process_is_first(const struct os_process *process)
{
    return (unsigned)(process->pid - OS_FIRST_PID) < process->os->options.processes;
}

unsigned os_process_of_core(const struct os *os, unsigned core)
{
    return core / (os->core_count / os->options.processes);
}

struct mem *os_process_mem(const struct os *os, unsigned number)
{
    if (!os || number >= os->options.processes) return NULL;
    for (const struct os_process *process = os->processes; process; process = process->next)
        if ((unsigned)(process->pid - OS_FIRST_PID) == number)
            return process->exited || !process->space ? NULL : process->space->mem;
    return NULL;
}

static void take_cores(struct os *os, struct cores *cores, unsigned count)
{
    os->all_cores = cores;
    os->core_count = count;
    os->options.rules.cores = count / os->options.processes;
    for (unsigned c = 0; c < count; c++) {
        os->cores[c].core = cores_get(cores, c);
        if (core_cycles(os->cores[c].core) > os->now) os->now = core_cycles(os->cores[c].core);
    }
}

/* Starts one of the program's processes. They have the same descriptors, as after a fork. */
static int start_process(struct os *os, struct chil_error *err)
{
    unsigned number = (unsigned)(os->next_id - OS_FIRST_PID),
             cores = os->core_count / os->options.processes;
    struct os_process *first = os->processes, *process = process_add(os, os->next_id++);
    process->parent_pid = 1;
    process->group = process->session = process->pid;
    process->cores = bits_mask64(cores) << (number * cores);
    os_limits_init(process);
    process->dumpable = true;
    process->files = first ? os_files_fork(first->files) : os_files_new(&os->options.rules, err);
    int status = process->files ? load_first(process, &os->options, err) : CHIL_EINVAL;
    if (!status) os_task_start_program(task_add(process, process->pid, process->cores));
    return status;
}

int os_new(struct os **out, const struct os_options *options, struct cores *cores, unsigned count,
           struct chil_error *err)
{
    if (!count || count > OS_CORES_MAX || !options->clock_mhz)
        return chil_error_set(err, CHIL_EINVAL,
                              "%u cores at %u MHz: from 1 to %d cores and a clock are needed",
                              count, options->clock_mhz, OS_CORES_MAX);
    struct os *os = base_calloc(1, sizeof *os);
    os->options = *options;
    if (!os->options.quantum) os->options.quantum = 1000;
    if (!os->options.processes) os->options.processes = 1;
    assert(count % os->options.processes == 0);
    if (!os->options.memory_bytes) os->options.memory_bytes = UINT64_C(512) << 20;
    take_cores(os, cores, count);
    os->next_id = OS_FIRST_PID;
    os_maximum_init(os);
    int status = CHIL_OK;
    for (unsigned i = 0; i < os->options.processes && !status; i++)
        status = start_process(os, err);
    uint64_t used = os_memory_used(os), most = os->options.maximum.memory;
    if (!status && used > most)
        status = chil_error_set(err, CHIL_EINVAL,
                                "'%s' needs %" PRIu64 " MiB of memory, and may have %" PRIu64 "; "
                                "'--max memory=SIZE' gives more",
                                options->program, (used >> 20) + 1, most >> 20);
    if (status) {
        os_free(os);
        return status;
    }
    os->first_image = os_image_share(os->processes->space->image);
    *out = os;
    return CHIL_OK;
}

/* ---- clone ---- */

struct clone {
    uint32_t flags; /* without the signal */
    int exit_signal;
    uint32_t stack, parent_tid, tls, child_tid;
};

static struct os_process *process_fork(struct os_call *call, const struct clone *how, int pid)
{
    const struct os_process *parent = call->process;
    struct os_space *space = parent->space;
    if (!(how->flags & CLONE_VM))
        space = os_may_have_space(call->os, space) && os_may_share(call->os, space_parts(space))
                    ? os_space_fork(space)
                    : NULL;
    if (!space) return NULL;
    if (how->flags & CLONE_VM) space->users++;
    struct os_process *child = process_add(call->os, pid);
    child->space = space;
    const struct os_options *o = &call->os->options;
    if (o->memory && space != parent->space)
        o->memory(o->context, OS_MEMORY_COPIED, space->mem, parent->space->mem);
    child->files =
        how->flags & CLONE_FILES ? os_files_share(parent->files) : os_files_fork(parent->files);
    child->parent_pid = how->flags & CLONE_PARENT ? parent->parent_pid : parent->pid;
    child->group = parent->group;
    child->session = parent->session;
    child->cores = parent->cores;
    child->exit_signal = how->exit_signal;
    child->umask = parent->umask;
    child->dumpable = parent->dumpable;
    child->no_new_rights = parent->no_new_rights;
    memcpy(child->actions, parent->actions, sizeof child->actions);
    memcpy(child->limits, parent->limits, sizeof child->limits);
    os_cpu_limit_changed(child);
    return child;
}

static int64_t clone_check(const struct clone *how)
{
    uint32_t flags = how->flags;
    if (flags & CLONE_REFUSED) return -EINVAL;
    if (flags & CLONE_SIGHAND && !(flags & CLONE_VM)) return -EINVAL;
    if (flags & CLONE_THREAD && !(flags & CLONE_SIGHAND)) return -EINVAL;
    if (how->exit_signal > OS_SIGNALS) return -EINVAL;
    return 0;
}

static void clone_registers(struct os_task *child, const struct os_task *parent,
                            const struct clone *how)
{
    child->regs = parent->regs;
    child->regs.gpr[3] = 0;
    child->regs.cr[0] &= (uint8_t)~CR_SO;
    child->regs.reserved = false;
    if (how->stack) child->regs.gpr[1] = how->stack;
    if (how->flags & CLONE_SETTLS) child->regs.gpr[2] = how->tls;
    child->blocked = parent->restore_blocked ? parent->saved_blocked : parent->blocked;
    memcpy(child->name, parent->name, sizeof child->name);
    if (how->flags & CLONE_VM && !(how->flags & CLONE_VFORK)) return;
    child->altstack = parent->altstack;
    child->altstack_size = parent->altstack_size;
    child->altstack_flags = parent->altstack_flags;
}

/* The parent of a vfork waits until the child has a memory of its own or is gone; signals have to
 * wait, too. */
static int64_t vfork_wait(struct os_call *call)
{
    struct os_task *task = call->task;
    struct os_process *child = os_process_find(call->os, task->vfork_child);
    if (child && !child->exited && child->space == call->process->space) {
        task->uninterruptible = true;
        return os_wait(call, &child->status, OS_NEVER);
    }
    task->uninterruptible = false;
    int pid = task->vfork_child;
    task->vfork_child = 0;
    return pid;
}

static int64_t clone_task(struct os_call *call, const struct clone *how)
{
    if (call->again) return vfork_wait(call);
    int64_t wrong = clone_check(how);
    if (wrong) return wrong;
    struct os *os = call->os;
    struct os_task *parent = call->task;
    int tid = os->next_id;
    if (!os_may_start_task(call)) return -EAGAIN;
    struct os_process *process =
        how->flags & CLONE_THREAD ? call->process : process_fork(call, how, tid);
    if (!process) return -ENOMEM;
    os->next_id++;
    struct os_task *child = task_add(process, tid, parent->affinity);
    os_priority_inherit(child, parent);
    clone_registers(child, parent, how);
    os_count(parent, process == call->process ? CORE_SIGNAL_OS_THREAD : CORE_SIGNAL_OS_PROCESS);
    if (!how->stack && os->options.forked)
        os->options.forked(os->options.context, parent->tid, process->pid, tid);
    if (how->flags & CLONE_PARENT_SETTID) mem_put32(call->mem, how->parent_tid, (uint32_t)tid);
    if (how->flags & CLONE_CHILD_SETTID)
        mem_put32(process->space->mem, how->child_tid, (uint32_t)tid);
    if (how->flags & CLONE_CHILD_CLEARTID) child->clear_tid = how->child_tid;
    if (!(how->flags & CLONE_VFORK) || how->flags & CLONE_THREAD) return tid;
    parent->vfork_child = tid;
    return vfork_wait(call);
}

int64_t sys_clone(struct os_call *call)
{
    struct clone how = {.flags = call->arg[0] & ~(uint32_t)CLONE_SIGNAL,
                        .exit_signal = (int)(call->arg[0] & CLONE_SIGNAL),
                        .stack = call->arg[1],
                        .parent_tid = call->arg[2],
                        .tls = call->arg[3],
                        .child_tid = call->arg[4]};
    return clone_task(call, &how);
}

/* struct clone_args: eight 64-bit words flags, pidfd, child_tid, parent_tid, exit_signal, stack,
 * stack_size, tls. */
int64_t sys_clone3(struct os_call *call)
{
    uint64_t word[8];
    if (call->arg[1] < sizeof word) return -EINVAL;
    for (unsigned w = 0; w < 8; w++)
        if (!mem_get64(call->mem, call->arg[0] + 8 * w, &word[w])) return -EFAULT;
    if (word[0] >> 32 || word[0] & CLONE_SIGNAL || word[4] > OS_SIGNALS) return -EINVAL;
    struct clone how = {.flags = (uint32_t)word[0],
                        .exit_signal = (int)word[4],
                        .stack = word[5] ? (uint32_t)(word[5] + word[6]) : 0,
                        .parent_tid = (uint32_t)word[3],
                        .tls = (uint32_t)word[7],
                        .child_tid = (uint32_t)word[2]};
    return clone_task(call, &how);
}

int64_t sys_fork(struct os_call *call)
{
    struct clone how = {.exit_signal = OS_SIGCHLD};
    return clone_task(call, &how);
}

int64_t sys_vfork(struct os_call *call)
{
    struct clone how = {.flags = CLONE_VM | CLONE_VFORK, .exit_signal = OS_SIGCHLD};
    return clone_task(call, &how);
}

/* ---- what is in memory ---- */

static const struct os_space *space_of(const struct os *os, const struct mem *mem)
{
    for (const struct os_process *process = os->processes; process; process = process->next)
        if (process->space && process->space->mem == mem) return process->space;
    return NULL;
}

bool os_object_find(const struct os *os, const struct mem *mem, uint32_t address,
                    struct os_object *object)
{
    const struct os_space *space = space_of(os, mem);
    return space && os_space_find_code(space, address, object);
}

bool os_object_get(const struct os *os, const struct mem *mem, size_t index,
                   struct os_object *object)
{
    const struct os_space *space = space_of(os, mem);
    return space && os_space_get_code(space, index, object);
}

const struct os_image *os_first_image(const struct os *os)
{
    return os->first_image;
}

const char *os_program_path(const struct os *os, const struct mem *mem)
{
    const struct os_space *space = space_of(os, mem);
    return space ? space->program : NULL;
}

/* ---- the end ---- */

void os_process_drop_space(struct os_process *process)
{
    struct os *os = process->os;
    struct os_space *space = process->space;
    if (!space) return;
    process->space = NULL;
    if (space->users <= 1) {
        cores_forget(os->all_cores, space->mem);
        if (os->options.memory)
            os->options.memory(os->options.context, OS_MEMORY_GONE, space->mem, NULL);
        for (unsigned c = 0; c < os->core_count; c++)
            if (os->cores[c].loaded_mem == space->mem) os->cores[c].loaded_mem = NULL;
    }
    os_space_release(space);
}

void os_task_exit(struct os_task *task)
{
    if (task->state == OS_DEAD) return;
    struct os_process *process = task->process;
    if (process->space) os_futex_exit(task);
    task->state = OS_DEAD;
    process->cycles += task->cycles;
    assert(process->tasks);
    if (!--process->tasks) os_process_finish(process);
}

void os_process_end_tasks(struct os_process *process, const struct os_task *keep)
{
    for (struct os_task *task = process->os->tasks; task; task = task->next)
        if (task->process == process && task != keep) os_task_exit(task);
}

void os_process_end(struct os_process *process, int status)
{
    if (process->exited) return;
    if (!process->ending) process->status = status;
    process->ending = true;
    os_process_end_tasks(process, NULL);
}

static void task_free(struct os *os, struct os_task *task)
{
    for (unsigned c = 0; c < os->core_count; c++) {
        if (os->cores[c].current == task) os->cores[c].current = NULL;
        if (os->cores[c].loaded == task) os->cores[c].loaded = NULL;
    }
    os_signal_discard(&task->queue, &task->pending, UINT64_MAX);
    free(task);
}

static void process_free(struct os_process *process)
{
    os_process_drop_space(process);
    if (process->files) os_files_release(process->files);
    os_signal_discard(&process->queue, &process->pending, UINT64_MAX);
    os_timers_drop(process, true);
    free(process);
}

void os_sweep(struct os *os)
{
    for (struct os_task **at = &os->tasks; *at;) {
        struct os_task *task = *at;
        if (task->state != OS_DEAD) {
            at = &task->next;
            continue;
        }
        *at = task->next;
        task_free(os, task);
    }
    for (struct os_process **at = &os->processes; *at;) {
        struct os_process *process = *at;
        if (!process->reaped) {
            at = &process->next;
            continue;
        }
        *at = process->next;
        process_free(process);
    }
}

void os_free(struct os *os)
{
    if (!os) return;
    while (os->tasks) {
        struct os_task *task = os->tasks;
        os->tasks = task->next;
        task_free(os, task);
    }
    while (os->processes) {
        struct os_process *process = os->processes;
        os->processes = process->next;
        process_free(process);
    }
    os_node_memory_free(os);
    os_warned_free(os);
    os_image_release(os->first_image);
    struct os_process last = {.os = os, .space = os->crash_space};
    os_process_drop_space(&last);
    free(os);
}

int64_t sys_exit(struct os_call *call)
{
    if (call->task->tid == call->process->pid && !call->process->ending)
        call->process->status = (int)(call->arg[0] & 0xff) << 8;
    os_task_exit(call->task);
    return OS_RETURNED;
}

int64_t sys_exit_group(struct os_call *call)
{
    os_process_end(call->process, (int)(call->arg[0] & 0xff) << 8);
    return OS_RETURNED;
}

int64_t sys_set_tid_address(struct os_call *call)
{
    call->task->clear_tid = call->arg[0];
    return call->task->tid;
}

int64_t sys_gettid(struct os_call *call)
{
    return call->task->tid;
}
