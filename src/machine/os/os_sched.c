/* The scheduler: which core and which task runs next. Simulated time alone decides.
 *
 * Every core is at a point of the one simulated clock. The next step is always the earliest thing
 * there is to do: an event (a time limit, a timer), or the core that is furthest behind; events
 * before cores, low cores before high ones. A core runs its task for a quantum, so that cores with
 * work stay that close together; when one task alone can run, no other task can observe the length
 * of a quantum, and the quantum lasts until the next event.
 *
 * Which core's access comes first is seen where cores share written lines. So a core stops before
 * an access that takes a line from another core, or that goes to a line for which cores contend
 * (src/machine/cache/cache_order.c), unless it is the core furthest behind: its limit is the time
 * of the next thing that anything else does. At the same cycle the core of the lower number comes
 * first. A core that waits is inside a block, and continues there when it is the one furthest
 * behind. Before anything else happens than cores running, it is brought to an end: its clock and
 * counts are then those of what it has done.
 *
 * Calls (and everything else that stops a core) are acted on only when their core is the one
 * furthest behind again, so they happen in the order of time, not of quanta: no call returns what
 * another core did later.
 *
 * That the length of a quantum changes nothing rests on three rules. Budgets end at the next event
 * and at the end of a time slice, so both fall between the same two instructions for any quantum.
 * Time slices are measured in cycles, not in quanta. And a reservation (lwarx) is lost when a core
 * goes to another task, not when a quantum ends.
 *
 * Several tasks on one core are scheduled round robin, 100,000 cycles each (os_priority.c). A task
 * stays on its core for life unless sched_setaffinity moves it: no balancing, as Blue Gene's
 * kernels did none. A woken task cannot run before the moment it was woken in (ready_cycle), and
 * does not preempt another. System calls themselves take no time beyond the sc.
 */
#include "machine/os/os_task.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/mem.h"
#include "base/name.h"

#define QUANTUM_ALONE (UINT64_C(1) << 40) /* while one task alone can run */
#define WARNED_MAX    100                 /* lines of one run */
#define LINE_LENGTH   400

/* ---- lines for the user ---- */

struct os_warned {
    struct os_warned *next;
    char topic[];
};

static void report(struct os *os, const char *format, va_list args)
{
    char line[LINE_LENGTH];
    (void)vsnprintf(line, sizeof line, format, args);
    (void)name_printable(line);
    if (os->options.report) os->options.report(os->options.context, line);
}

void os_warn(struct os *os, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report(os, format, args);
    va_end(args);
}

void os_warn_once(struct os *os, const char *topic, const char *format, ...)
{
    unsigned count = 0;
    for (const struct os_warned *warned = os->warned; warned; warned = warned->next)
        if (!strcmp(warned->topic, topic) || ++count == WARNED_MAX) return;
    size_t size = strlen(topic) + 1;
    struct os_warned *warned = base_calloc(1, sizeof *warned + size);
    memcpy(warned->topic, topic, size);
    warned->next = os->warned;
    os->warned = warned;
    va_list args;
    va_start(args, format);
    report(os, format, args);
    va_end(args);
}

void os_warned_free(struct os *os)
{
    while (os->warned) {
        struct os_warned *warned = os->warned;
        os->warned = warned->next;
        free(warned);
    }
}

bool os_output(struct os *os, int stream, const void *bytes, size_t count, int64_t *done)
{
    if (os->options.writes) os->options.writes(os->options.context);
    if (!os->options.output) return false;
    *done = os->options.output(os->options.context, stream, bytes, count);
    return true;
}

bool os_host_waits(struct os *os)
{
    return !os->options.waits || os->options.waits(os->options.context);
}

/* ---- waiting and waking ---- */

uint64_t os_task_cycle(const struct os_task *task)
{
    return core_cycles(task->process->os->cores[task->core].core);
}

void os_make_runnable(struct os_task *task, enum os_woken woken)
{
    struct os *os = task->process->os;
    task->state = OS_RUNNABLE;
    task->woken = woken;
    task->ready_cycle = os->now;
    task->order = ++os->order;
}

int64_t os_wait(struct os_call *call, const void *what, uint64_t cycles)
{
    struct os_task *task = call->task;
    if (!call->again || task->woken == OS_WOKEN_TIME)
        task->wake_cycle = os_add_cycles(call->os->now, cycles);
    task->wait_on = what;
    task->wait_word = 0;
    task->wait_order = ++call->os->order;
    return OS_WAIT;
}

bool os_timed_out(const struct os_call *call)
{
    return call->again && call->task->woken == OS_WOKEN_TIME;
}

/* A task that a signal got out of its wait, but that did not act on it yet, still counts as
 * waiting: the wake must not be lost if the signal turns out to be another task's. */
static bool waits_for(const struct os_task *task, const void *what, uint32_t word)
{
    bool waiting = task->state == OS_WAITING ||
                   (task->state == OS_RUNNABLE && task->in_call && task->woken == OS_WOKEN_SIGNAL);
    return waiting && what && task->wait_on == what && task->wait_word == word;
}

unsigned os_wake_word(struct os *os, const void *what, uint32_t word, unsigned count, uint32_t bits)
{
    unsigned woken = 0;
    for (; woken < count; woken++) {
        struct os_task *first = NULL;
        for (struct os_task *task = os->tasks; task; task = task->next)
            if (waits_for(task, what, word) && (!bits || task->futex_bits & bits) &&
                (!first || task->wait_order < first->wait_order))
                first = task;
        if (!first) break;
        os_make_runnable(first, OS_WOKEN_EVENT);
    }
    return woken;
}

unsigned os_wake(struct os_call *call, const void *what, unsigned count)
{
    return os_wake_word(call->os, what, 0, count, 0);
}

unsigned os_wake_all(struct os *os, const void *what)
{
    return os_wake_word(os, what, 0, UINT32_MAX, 0);
}

const struct os_task *os_next_waiting(const struct os *os, const void *what,
                                      const struct os_task *after)
{
    const struct os_task *task = after ? after->next : os->tasks;
    while (task && !waits_for(task, what, 0))
        task = task->next;
    return task;
}

/* ---- choosing ---- */

unsigned os_choose_core(const struct os *os, uint64_t affinity)
{
    unsigned live[OS_CORES_MAX] = {0};
    for (const struct os_task *task = os->tasks; task; task = task->next)
        if (task->state != OS_DEAD) live[task->core]++;
    unsigned best = OS_CORES_MAX;
    for (unsigned c = 0; c < os->core_count; c++)
        if (affinity >> c & 1 && (best == OS_CORES_MAX || live[c] < live[best])) best = c;
    assert(best < OS_CORES_MAX);
    return best;
}

static bool on_core(const struct os_task *task, unsigned core)
{
    return task->state == OS_RUNNABLE && task->core == core;
}

static uint64_t events_next(const struct os *os)
{
    uint64_t next = os_timers_next(os);
    for (const struct os_task *task = os->tasks; task; task = task->next)
        if (task->state == OS_WAITING && task->wake_cycle < next) next = task->wake_cycle;
    return next;
}

static void events_fire(struct os *os, uint64_t when)
{
    os->now = when;
    for (struct os_task *task = os->tasks; task; task = task->next)
        if (task->state == OS_WAITING && task->wake_cycle <= when)
            os_make_runnable(task, OS_WOKEN_TIME);
    os_timers_fire(os);
}

static unsigned runnable_tasks(const struct os *os)
{
    unsigned count = 0;
    for (const struct os_task *task = os->tasks; task; task = task->next)
        count += task->state == OS_RUNNABLE;
    return count;
}

/* ---- cores that wait before an access ---- */

static bool waits_inside(const struct os *os, unsigned core)
{
    return os->waiting_inside >> core & 1;
}

static void cut_waiting(struct os *os)
{
    os->acts = true;
    for (; os->waiting_inside; os->waiting_inside &= os->waiting_inside - 1) {
        const struct os_core *slot = &os->cores[__builtin_ctzll(os->waiting_inside)];
        uint64_t before = core_cycles(slot->core);
        core_cut_waiting(slot->core);
        slot->loaded->cycles -= before - core_cycles(slot->core);
    }
}

/* The task that runs next on a core that has one ready. Round robin: a task whose time slice is
 * over goes behind the others; without others it continues until one comes. */
static struct os_task *choose_task(struct os *os, unsigned core)
{
    struct os_core *slot = &os->cores[core];
    uint64_t now = core_cycles(slot->core);
    struct os_task *current = slot->current;
    if (current && (!on_core(current, core) || current->ready_cycle > now)) current = NULL;
    if (current && (current->stopped || waits_inside(os, core) ||
                    now - current->slice_start < os_time_slice(current)))
        return current;
    struct os_task *first = NULL;
    for (struct os_task *task = os->tasks; task; task = task->next)
        if (task != current && on_core(task, core) && task->ready_cycle <= now &&
            (!first || task->order < first->order))
            first = task;
    if (!first) {
        assert(current);
        return current;
    }
    if (current) current->order = ++os->order;
    first->slice_start = now;
    slot->current = first;
    return first;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t budget(struct os *os, const struct os_task *task, uint64_t now, uint64_t event)
{
    bool alone = runnable_tasks(os) == 1;
    uint64_t cycles = alone ? QUANTUM_ALONE : os->options.quantum;
    if (alone) cycles = least(cycles, os->until > now ? os->until - now : 1);
    cycles = least(cycles, event - now);
    uint64_t slice_end = task->slice_start + os_time_slice(task);
    for (const struct os_task *other = os->tasks; other; other = other->next) {
        if (other == task || !on_core(other, task->core)) continue;
        if (slice_end > now) cycles = least(cycles, slice_end - now);
        if (other->ready_cycle > now) cycles = least(cycles, other->ready_cycle - now);
    }
    return least(cycles, os_timers_budget(task));
}

/* ---- running ---- */

static void load(struct os *os, unsigned core, struct os_task *task)
{
    struct os_core *slot = &os->cores[core];
    struct mem *mem = task->process->space->mem;
    if (slot->loaded == task && slot->loaded_mem == mem) return;
    if (slot->loaded) slot->loaded->regs.reserved = false;
    bool other = slot->loaded != task;
    task->regs.reserved = false;
    slot->loaded = task;
    slot->loaded_mem = mem;
    core_switch(slot->core, &task->regs, mem);
    if (!other) return;
    if (os->options.switched)
        os->options.switched(os->options.context, core, task->process->pid, task->tid);
    if (core_cycles(slot->core) > core_idle_cycles(slot->core))
        os_count(task, CORE_SIGNAL_OS_SWITCH);
}

void os_count(const struct os_task *task, enum core_signal signal)
{
    os_raise(task->process->os, task->core, signal, 1);
}

void os_raise(struct os *os, unsigned core, enum core_signal signal, uint64_t times)
{
    os->counts[signal] += times;
    core_raise(os->cores[core].core, signal, times);
}

uint64_t os_signal_total(const struct os *os, enum core_signal signal)
{
    return os->counts[signal];
}

static void call_through(struct os *os, struct os_task *task, const struct core_exit *stop)
{
    const struct os_options *options = &os->options;
    if (options->call_through &&
        options->call_through(options->context, task->core, &task->regs, task->process->space->mem))
        return;
    task->regs.pc -= 4;
    os_signal_fault(task, stop);
}

static const struct os_device *find_device(const struct os_options *options, uint32_t address)
{
    for (unsigned i = 0; i < OS_DEVICES; i++)
        if (address - options->devices[i].address < options->devices[i].size)
            return &options->devices[i];
    return NULL;
}

static bool device_access(struct os *os, struct os_task *task)
{
    const struct os_options *options = &os->options;
    uint32_t address = task->stop.address;
    return options->device && find_device(options, address) &&
           options->device(options->context, task->core, &task->regs, task->process->space->mem,
                           address);
}

/* A watch was reached. False: the signal is ignored, so nothing happens. */
static bool look_watched(struct os *os, struct os_task *task)
{
    struct os_watched *watched = &task->watched;
    *watched = (struct os_watched){0, 0};
    if (os->options.watch)
        watched->of_process = os->options.watch(os->options.context, task->core, &watched->own);
    if (watched->own && os_signal_ignored(task->process, watched->own)) watched->own = 0;
    if (watched->of_process && os_signal_ignored(task->process, watched->of_process))
        watched->of_process = 0;
    return watched->own || watched->of_process;
}

static void send_watched(struct os *os, struct os_task *task)
{
    int own = task->watched.own;
    if (task->watched.of_process) (void)os_send_signal(os, task->process, task->watched.of_process);
    if (own) os_signal_task(os, task, &(struct os_siginfo){.signal = own, .code = OS_SI_KERNEL});
}

/* What the task does next is seen outside of the node, or depends on it. */
static bool acts_outside(const struct os *os, const struct os_task *task, struct os_action *action)
{
    const struct os_device *device;
    *action = (struct os_action){.core = task->core, .regs = &task->regs};
    if (!task->stopped) return os_call_is_of_files(task->regs.gpr[0]);
    switch (task->stop.reason) {
    case CORE_SYSCALL: return os_call_is_of_files(task->regs.gpr[0]);
    case CORE_CALLTHRU:
        return task->regs.gpr[3] < OS_NOTES_FIRST || task->regs.gpr[3] > OS_NOTES_LAST;
    case CORE_LOAD:
    case CORE_STORE:
        device = find_device(&os->options, task->stop.address);
        action->network = true;
        action->address = task->stop.address;
        action->store = task->stop.reason == CORE_STORE;
        return device && device->outside;
    default: return false;
    }
}

static bool waits_for_turn(const struct os *os, const struct os_task *task)
{
    struct os_action action;
    return os->options.turn && acts_outside(os, task, &action) &&
           !os->options.turn(os->options.context, &action);
}

/* The task, which alone can run, has stopped before an access to a device. Does the access if the
 * device is `outside` and it has its turn: so a program that moves packets goes on without a new
 * step for each access. */
enum at_once { NOT_AT_ONCE, NO_TURN, DONE_AT_ONCE, REFUSED };
static enum at_once access_at_once(struct os *os, struct os_task *task)
{
    struct os_action action;
    if (task->stop.reason != CORE_LOAD && task->stop.reason != CORE_STORE) return NOT_AT_ONCE;
    task->stopped = true;
    if (!acts_outside(os, task, &action)) return NOT_AT_ONCE;
    os->now = os_task_cycle(task);
    if (os->options.turn && !os->options.turn(os->options.context, &action)) return NO_TURN;
    task->stopped = false;
    cut_waiting(os);
    bool done = device_access(os, task);
    if (!done) os_signal_fault(task, &task->stop);
    task->stop.reason = CORE_BUDGET;
    return done ? DONE_AT_ONCE : REFUSED;
}

/* Runs the task on its core; false: it has stopped before an access, which waits for its turn. A
 * watch that is reached without effect, and accesses that are done at once, take nothing off the
 * budget. */
static bool run(struct os *os, struct os_task *task, uint64_t budget)
{
    struct core *core = os->cores[task->core].core;
    bool alone = runnable_tasks(os) == 1, goes_on;
    uint64_t end = os_add_cycles(core_cycles(core), budget), now;
    enum at_once at_once;
    do {
        at_once = NOT_AT_ONCE;
        now = core_cycles(core);
        task->stop = core_run(core, end > now ? end - now : 0);
        goes_on = task->stop.reason == CORE_WATCH && !look_watched(os, task);
        if (alone && core_cycles(core) < end) at_once = access_at_once(os, task);
        goes_on |= at_once == DONE_AT_ONCE && !os->yields;
    } while (goes_on && (core_cycles(core) < end || task->regs.cut.done));
    if (task->stop.reason == CORE_WATCH && !task->watched.own && !task->watched.of_process)
        task->stop.reason = CORE_BUDGET;
    task->stopped = task->stop.reason != CORE_BUDGET && task->stop.reason != CORE_ORDER;
    if (task->stop.reason == CORE_ORDER) os->waiting_inside |= UINT64_C(1) << task->core;
    return at_once != NO_TURN;
}

static void act_on_stop(struct os *os, struct os_task *task)
{
    task->stopped = false;
    switch (task->stop.reason) {
    case CORE_SYSCALL: os_call_enter(task); break;
    case CORE_CALLTHRU: call_through(os, task, &task->stop); break;
    case CORE_ILLEGAL:
    case CORE_PRIVILEGED:
        if (!os_emulate(task)) os_signal_fault(task, &task->stop);
        break;
    case CORE_WATCH: send_watched(os, task); break;
    case CORE_LOAD:
    case CORE_STORE:
        if (!device_access(os, task)) os_signal_fault(task, &task->stop);
        break;
    default: os_signal_fault(task, &task->stop); break;
    }
}

/* One step of a core: what stopped it before, what is left of a call, or instructions until
 * something stops them. False: it has to wait for its turn, and nothing happened. */
static bool step(struct os *os, unsigned core, uint64_t event, uint64_t order)
{
    struct os_core *slot = &os->cores[core];
    struct os_task *task = choose_task(os, core);
    bool continues = !task->stopped && task->in_call && task->woken != OS_WOKEN_SIGNAL;
    os->now = core_cycles(slot->core);
    if ((task->stopped || continues) && waits_for_turn(os, task)) return false;
    if (task->stopped || continues || os_signal_waiting(task)) cut_waiting(os);
    if (task->stopped) {
        act_on_stop(os, task);
        return true;
    }
    if (continues) {
        os_call_enter(task);
        return true;
    }
    os_signal_deliver(task);
    if (task->state != OS_RUNNABLE) return true;
    load(os, core, task);
    for (; task->handlers; task->handlers--)
        os_count(task, CORE_SIGNAL_OS_HANDLER);
    uint64_t start = os->now, cycles = budget(os, task, start, event);
    core_order(slot->core, least(order, event));
    os->waiting_inside &= ~(UINT64_C(1) << core);
    bool goes_on = run(os, task, cycles);
    os->now = core_cycles(slot->core);
    task->cycles += os->now - start;
    os_timers_used(task);
    return goes_on;
}

/* What comes next: the core that is furthest behind, when, and the time from which on accesses of
 * it are not its turn, since another core comes before. */
struct next_step {
    unsigned core;
    uint64_t when, order;
};

/* A core has something to run when a task of it is ready: now, or later, or never. */
static struct next_step find_next(const struct os *os)
{
    struct next_step best = {0, OS_NEVER, OS_NEVER};
    uint64_t ready[OS_CORES_MAX];
    for (unsigned c = 0; c < os->core_count; c++)
        ready[c] = OS_NEVER;
    for (const struct os_task *task = os->tasks; task; task = task->next)
        if (task->state == OS_RUNNABLE && task->ready_cycle < ready[task->core])
            ready[task->core] = task->ready_cycle;
    for (unsigned c = 0; c < os->core_count; c++) {
        if (ready[c] == OS_NEVER) continue;
        uint64_t clock = core_cycles(os->cores[c].core), next = clock;
        if (ready[c] > clock) next = ready[c];
        if (next < best.when)
            best = (struct next_step){c, next, least(best.order, best.when)};
        else if (next < best.order)
            best.order = next + 1; /* at the same cycle, `best` comes first */
    }
    return best;
}

/* One event, or one step of the core that is furthest behind; OS_TIME_REACHED if it was made. */
static enum os_progress advance_once(struct os *os)
{
    struct next_step best = find_next(os);
    uint64_t event = events_next(os);
    if (event != OS_NEVER && event <= best.when) {
        cut_waiting(os);
        events_fire(os, event);
        return OS_TIME_REACHED;
    }
    if (best.when == OS_NEVER) return OS_ALL_WAIT;
    struct core *core = os->cores[best.core].core;
    if (best.when > core_cycles(core)) core_idle_until(core, best.when);
    return step(os, best.core, event, best.order) ? OS_TIME_REACHED : OS_WAITS_FOR_TURN;
}

/* All that comes next is not before `until`; the time is that of the first of it. The core that has
 * run last may be ahead of others, which could still meet other nodes before. */
static bool is_past(struct os *os, uint64_t until)
{
    uint64_t when = least(find_next(os).when, events_next(os));
    if (when < until || when == OS_NEVER) return false;
    os->now = when;
    return true;
}

static enum os_progress advance(struct os *os, uint64_t until)
{
    while (os->tasks) {
        if (os->now >= until && is_past(os, until)) return OS_TIME_REACHED;
        enum os_progress progress = advance_once(os);
        if (progress != OS_TIME_REACHED) return progress;
        if (os->acts) os_sweep(os); /* else cores only ran */
        os->acts = false;
        if (os->yields) break;
    }
    return os->tasks ? OS_TIME_REACHED : OS_ALL_ENDED;
}

enum os_progress os_advance(struct os *os, uint64_t until)
{
    os->until = until;
    os->yields = false;
    os_sweep(os);
    enum os_progress progress = advance(os, until);
    cut_waiting(os);
    return progress;
}

void os_yield(struct os *os)
{
    os->yields = true;
}

void os_interrupt(struct os *os, unsigned core, uint64_t time)
{
    struct os_siginfo info = {.signal = OS_SIGURG, .code = OS_SI_KERNEL};
    struct os_task *task = os->tasks;
    while (task && task->core != core)
        task = task->next;
    if (!runnable_tasks(os) && time > os->now) os->now = time;
    if (task) (void)os_signal_task(os, task, &info);
}

bool os_is_alone(const struct os *os)
{
    if (runnable_tasks(os) != 1 || events_next(os) != OS_NEVER) return false;
    for (const struct os_task *task = os->tasks; task; task = task->next)
        if (task->state == OS_RUNNABLE)
            return !os_signal_waiting(task) && os_timers_budget(task) == OS_NEVER;
    return false;
}

void os_repeat(struct os *os, unsigned core, uint64_t cycles)
{
    os->cores[core].current->cycles += cycles;
    os->now = core_cycles(os->cores[core].core);
}

void os_kill(struct os *os)
{
    struct os_siginfo info = {.signal = OS_SIGKILL, .code = OS_SI_KERNEL};
    for (struct os_process *process = os->processes; process; process = process->next)
        if (!process->exited) os_signal_process(os, process, &info);
}

void os_end_deadlock(struct os *os)
{
    const struct os_task *task = os->tasks;
    const char *name = task->in_call ? os_call_name(task->regs.gpr[0]) : NULL;
    os_warn(
        os,
        "deadlock: every thread of the program waits and nothing can wake one (thread %d in '%s'); the program is "
        "ended, look at its locks",
        task->tid, name ? name : "?");
    os_kill(os);
}

uint64_t os_now(const struct os *os)
{
    return os->now;
}

void os_result_get(const struct os *os, struct os_result *result)
{
    *result = os->result;
    for (unsigned c = 0; c < os->core_count; c++) {
        uint64_t cycles = core_cycles(os->cores[c].core);
        if (cycles > result->cycles) result->cycles = cycles;
    }
}

/* ---- the calls about scheduling ---- */

int64_t sys_sched_yield(struct os_call *call)
{
    struct os_task *task = call->task;
    task->order = ++call->os->order;
    call->os->cores[task->core].current = NULL;
    return 0;
}

static struct os_task *task_argument(const struct os_call *call)
{
    return call->arg[0] ? os_task_find(call->os, (int)call->arg[0]) : call->task;
}

int64_t sys_sched_setaffinity(struct os_call *call)
{
    struct os_task *task = task_argument(call);
    if (!task) return -ESRCH;
    uint64_t mask = 0;
    for (unsigned word = 0; word < 2 && word < call->arg[1] / 4; word++) {
        uint32_t bits;
        if (!mem_get32(call->mem, call->arg[2] + 4 * word, &bits)) return -EFAULT;
        mask |= (uint64_t)bits << (32 * word);
    }
    mask &= task->process->cores;
    if (!mask) return -EINVAL;
    task->affinity = mask;
    if (mask >> task->core & 1) return 0;
    task->core = os_choose_core(call->os, mask);
    if (task->ready_cycle < call->os->now) task->ready_cycle = call->os->now;
    return 0;
}

int64_t sys_sched_getaffinity(struct os_call *call)
{
    const struct os_task *task = task_argument(call);
    if (!task) return -ESRCH;
    unsigned words = (call->os->core_count + 31) / 32;
    if (call->arg[1] < 4 * words || call->arg[1] % 4) return -EINVAL;
    for (unsigned word = 0; word < words; word++)
        if (!mem_put32(call->mem, call->arg[2] + 4 * word,
                       (uint32_t)(task->affinity >> (32 * word))))
            return -EFAULT;
    return (int64_t)4 * words;
}

int64_t sys_getcpu(struct os_call *call)
{
    if (call->arg[0] && !mem_put32(call->mem, call->arg[0], call->task->core)) return -EFAULT;
    if (call->arg[1] && !mem_put32(call->mem, call->arg[1], 0)) return -EFAULT;
    return 0;
}
