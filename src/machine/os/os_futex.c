/* futex: waiting for a word of memory to change, and what a dying task does to the words it held.
 *
 * A futex is known by an address space and a guest address; in a MAP_SHARED page, by the memory
 * that is mapped there and the place in it, so that processes that share it meet. Waiters are woken
 * in the order in which they came. Every call is one indivisible step, as nothing else runs
 * meanwhile. Priority inheritance has no priorities to inherit here: LOCK_PI and its relatives keep
 * the protocol of the word (owner, FUTEX_WAITERS) and hand over in order of arrival.
 */
#include "machine/os/os_task.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"

enum {
    FUTEX_WAIT = 0,
    FUTEX_WAKE = 1,
    FUTEX_REQUEUE = 3,
    FUTEX_CMP_REQUEUE = 4,
    FUTEX_WAKE_OP = 5,
    FUTEX_LOCK_PI = 6,
    FUTEX_UNLOCK_PI = 7,
    FUTEX_TRYLOCK_PI = 8,
    FUTEX_WAIT_BITSET = 9,
    FUTEX_WAKE_BITSET = 10,
    FUTEX_LOCK_PI2 = 13,
    FUTEX_PRIVATE = 128,
    FUTEX_CLOCK_REALTIME = 256
};
#define FUTEX_WAITERS    UINT32_C(0x80000000)
#define FUTEX_OWNER_DIED UINT32_C(0x40000000)
#define FUTEX_TID_MASK   UINT32_C(0x3fffffff)

enum { ROBUST_LIMIT = 2048 };

struct futex {
    const void *what;
    uint32_t word;
};

static struct futex futex_at(const struct os_process *process, uint32_t address, bool is_private)
{
    const struct mem *mem = process->space->mem;
    uint32_t at;
    const void *memory = !is_private && mem_rights(mem, address) & MEM_SHARED
                             ? os_space_memory(process->space, address, &at)
                             : NULL;
    return memory ? (struct futex){memory, at} : (struct futex){mem, address};
}

static struct futex futex_of(const struct os_call *call, unsigned argument)
{
    return futex_at(call->process, call->arg[argument], call->arg[1] & FUTEX_PRIVATE);
}

static unsigned wake(struct os *os, struct futex futex, unsigned count, uint32_t bits)
{
    return os_wake_word(os, futex.what, futex.word, count, bits);
}

static int64_t wait_for(struct os_call *call, uint32_t bits, uint64_t cycles)
{
    struct futex futex = futex_of(call, 0);
    int64_t wait = os_wait(call, futex.what, cycles);
    call->task->wait_word = futex.word;
    call->task->futex_bits = bits;
    return wait;
}

/* The task that waits there longest. */
static struct os_task *first_waiter(const struct os *os, struct futex futex)
{
    struct os_task *first = NULL;
    for (struct os_task *task = os->tasks; task; task = task->next)
        if (task->state == OS_WAITING && task->wait_on == futex.what &&
            task->wait_word == futex.word && (!first || task->wait_order < first->wait_order))
            first = task;
    return first;
}

/* The cycles until the time limit in arg[3]. FUTEX_WAIT counts from now, the others name a moment
 * of a clock. */
static int limit(const struct os_call *call, bool wide, unsigned op, uint64_t *cycles)
{
    *cycles = OS_NEVER;
    if (!call->arg[3]) return 0;
    uint64_t ns, offset = 0, now = os_nanoseconds(call);
    int wrong = os_get_timespec(call->mem, call->arg[3], wide, &ns);
    if (wrong) return wrong;
    bool real = (call->arg[1] & FUTEX_CLOCK_REALTIME) || op == FUTEX_LOCK_PI;
    if (op != FUTEX_WAIT) {
        if (real) offset = OS_EPOCH * UINT64_C(1000000000);
        ns = ns > offset + now ? ns - offset - now : 0;
    }
    *cycles = os_cycles_of(call->os, ns);
    return 0;
}

static int64_t wait_bits(struct os_call *call, bool wide, unsigned op, uint32_t bits)
{
    if (call->again) return os_timed_out(call) ? -ETIMEDOUT : 0;
    uint32_t value;
    uint64_t cycles;
    if (!bits) return -EINVAL;
    int wrong = limit(call, wide, op, &cycles);
    if (wrong) return wrong;
    if (!mem_get32(call->mem, call->arg[0], &value)) return -EFAULT;
    if (value != call->arg[2]) return -EAGAIN;
    return wait_for(call, bits, cycles);
}

static unsigned requeue(struct os *os, struct futex from, struct futex to, unsigned count)
{
    unsigned moved = 0;
    for (struct os_task *task; moved < count && (task = first_waiter(os, from)); moved++) {
        task->wait_on = to.what;
        task->wait_word = to.word;
        task->wait_order = ++os->order;
    }
    return moved;
}

static int64_t wake_and_requeue(struct os_call *call, bool compare)
{
    uint32_t value;
    if ((int32_t)call->arg[2] < 0 || (int32_t)call->arg[3] < 0) return -EINVAL;
    if (!mem_get32(call->mem, call->arg[0], &value)) return -EFAULT;
    if (!mem_readable(call->mem, call->arg[4], 4)) return -EFAULT;
    if (compare && value != call->arg[5]) return -EAGAIN;
    struct futex from = futex_of(call, 0), to = futex_of(call, 4);
    unsigned woken = wake(call->os, from, call->arg[2], UINT32_MAX);
    if (from.what == to.what && from.word == to.word) return woken;
    return woken + requeue(call->os, from, to, call->arg[3]);
}

/* Changes the second word as arg[5] says, wakes at the first and, if the old value compares, at the
 * second. */
static int64_t wake_op(struct os_call *call)
{
    uint32_t code = call->arg[5], old, changed;
    int32_t operand = (int32_t)(code << 8) >> 20, against = (int32_t)(code << 20) >> 20;
    if (code >> 31) operand = (int32_t)(UINT32_C(1) << (operand & 31));
    if (!mem_get32(call->mem, call->arg[4], &old)) return -EFAULT;
    switch (code >> 28 & 7) {
    case 0: changed = (uint32_t)operand; break;
    case 1: changed = old + (uint32_t)operand; break;
    case 2: changed = old | (uint32_t)operand; break;
    case 3: changed = old & ~(uint32_t)operand; break;
    case 4: changed = old ^ (uint32_t)operand; break;
    default: return -ENOSYS;
    }
    int32_t was = (int32_t)old;
    bool second;
    switch (code >> 24 & 15) {
    case 0: second = was == against; break;
    case 1: second = was != against; break;
    case 2: second = was < against; break;
    case 3: second = was <= against; break;
    case 4: second = was > against; break;
    case 5: second = was >= against; break;
    default: return -ENOSYS;
    }
    if (!mem_put32(call->mem, call->arg[4], changed)) return -EFAULT;
    unsigned woken = wake(call->os, futex_of(call, 0), call->arg[2], UINT32_MAX);
    if (second) woken += wake(call->os, futex_of(call, 4), call->arg[3], UINT32_MAX);
    return woken;
}

/* ---- locks that know their owner ---- */

/* After a wake the word is taken already: unlock_pi made the waiter its owner. */
static int64_t lock_pi(struct os_call *call, bool wide, unsigned op, bool try)
{
    uint32_t tid = (uint32_t)call->task->tid, value;
    uint64_t cycles;
    if (!mem_get32(call->mem, call->arg[0], &value)) return -EFAULT;
    if (call->again) {
        if ((value & FUTEX_TID_MASK) == tid) return 0;
        if (os_timed_out(call)) return -ETIMEDOUT;
    } else if ((value & FUTEX_TID_MASK) == tid) {
        return -EDEADLK;
    }
    if (!(value & FUTEX_TID_MASK))
        return mem_put32(call->mem, call->arg[0], tid | (value & ~FUTEX_TID_MASK)) ? 0 : -EFAULT;
    if (try) return -EAGAIN;
    if (!os_task_find(call->os, (int)(value & FUTEX_TID_MASK))) return -ESRCH;
    int wrong = limit(call, wide, op, &cycles);
    if (wrong) return wrong;
    if (!mem_put32(call->mem, call->arg[0], value | FUTEX_WAITERS)) return -EFAULT;
    return wait_for(call, UINT32_MAX, cycles);
}

/* Gives the word to the task that waits longest, or frees it. */
static bool pass_on(const struct os_process *process, uint32_t address, bool is_private,
                    uint32_t flags)
{
    struct mem *mem = process->space->mem;
    struct futex futex = futex_at(process, address, is_private);
    const struct os_task *first = first_waiter(process->os, futex);
    if (!first) return mem_put32(mem, address, flags);
    uint32_t owner = (uint32_t)first->tid;
    wake(process->os, futex, 1, UINT32_MAX);
    if (first_waiter(process->os, futex)) flags |= FUTEX_WAITERS;
    return mem_put32(mem, address, owner | flags);
}

static int64_t unlock_pi(struct os_call *call)
{
    uint32_t value;
    if (!mem_get32(call->mem, call->arg[0], &value)) return -EFAULT;
    if ((value & FUTEX_TID_MASK) != (uint32_t)call->task->tid) return -EPERM;
    return pass_on(call->process, call->arg[0], call->arg[1] & FUTEX_PRIVATE, 0) ? 0 : -EFAULT;
}

static int64_t futex(struct os_call *call, bool wide)
{
    unsigned op = call->arg[1] & ~(uint32_t)(FUTEX_PRIVATE | FUTEX_CLOCK_REALTIME);
    if (call->arg[0] % 4) return -EINVAL;
    switch (op) {
    case FUTEX_WAIT: return wait_bits(call, wide, op, UINT32_MAX);
    case FUTEX_WAIT_BITSET: return wait_bits(call, wide, op, call->arg[5]);
    case FUTEX_WAKE: return wake(call->os, futex_of(call, 0), call->arg[2], UINT32_MAX);
    case FUTEX_WAKE_BITSET:
        if (!call->arg[5]) return -EINVAL;
        return wake(call->os, futex_of(call, 0), call->arg[2], call->arg[5]);
    case FUTEX_REQUEUE: return wake_and_requeue(call, false);
    case FUTEX_CMP_REQUEUE: return wake_and_requeue(call, true);
    case FUTEX_WAKE_OP: return wake_op(call);
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2: return lock_pi(call, wide, op, false);
    case FUTEX_TRYLOCK_PI: return lock_pi(call, wide, op, true);
    case FUTEX_UNLOCK_PI: return unlock_pi(call);
    default: return -ENOSYS;
    }
}

int64_t sys_futex(struct os_call *call)
{
    return futex(call, false);
}

int64_t sys_futex_time64(struct os_call *call)
{
    return futex(call, true);
}

/* ---- the end of a task ---- */

/* The list does not say whether the task's words were private: wakes both. */
static void wake_either(const struct os_process *process, uint32_t address)
{
    struct futex own = futex_at(process, address, true), shared = futex_at(process, address, false);
    if (!wake(process->os, own, 1, UINT32_MAX)) wake(process->os, shared, 1, UINT32_MAX);
}

static void owner_died(const struct os_task *task, uint32_t address, bool inheriting)
{
    const struct os_process *process = task->process;
    struct mem *mem = process->space->mem;
    uint32_t value;
    if (address % 4 || !mem_get32(mem, address, &value)) return;
    if ((value & FUTEX_TID_MASK) != (uint32_t)task->tid) return;
    if (inheriting) {
        (void)pass_on(process, address, false, FUTEX_OWNER_DIED);
        return;
    }
    if (!mem_put32(mem, address, (value & FUTEX_WAITERS) | FUTEX_OWNER_DIED)) return;
    if (value & FUTEX_WAITERS) wake_either(process, address);
}

/* struct robust_list_head: first entry, offset from an entry to its word, entry that is being
 * taken. The lowest bit of an entry's address says that its word is a LOCK_PI one. */
static void walk_robust_list(const struct os_task *task)
{
    const struct mem *mem = task->process->space->mem;
    uint32_t head = task->robust_list, entry, offset, pending;
    if (!head || !mem_get32(mem, head, &entry) || !mem_get32(mem, head + 4, &offset) ||
        !mem_get32(mem, head + 8, &pending))
        return;
    for (unsigned n = 0; n < ROBUST_LIMIT && (entry & ~1U) != head; n++) {
        uint32_t next;
        bool more = mem_get32(mem, entry & ~1U, &next);
        if (entry != pending) owner_died(task, (entry & ~1U) + offset, entry & 1);
        if (!more) break;
        entry = next;
    }
    if (pending) owner_died(task, (pending & ~1U) + offset, pending & 1);
}

void os_futex_exit(struct os_task *task)
{
    struct mem *mem = task->process->space->mem;
    walk_robust_list(task);
    task->robust_list = 0;
    if (task->clear_tid && (task->process->tasks > 1 || task->process->space->users > 1)) {
        if (mem_put32(mem, task->clear_tid, 0)) wake_either(task->process, task->clear_tid);
    }
    task->clear_tid = 0;
}

int64_t sys_set_robust_list(struct os_call *call)
{
    enum { HEAD_SIZE = 12 };
    if (call->arg[1] != HEAD_SIZE) return -EINVAL;
    call->task->robust_list = call->arg[0];
    return 0;
}

int64_t sys_get_robust_list(struct os_call *call)
{
    enum { HEAD_SIZE = 12 };
    const struct os_task *task =
        call->arg[0] ? os_task_find(call->os, (int)call->arg[0]) : call->task;
    if (!task) return -ESRCH;
    if (!mem_put32(call->mem, call->arg[1], task->robust_list) ||
        !mem_put32(call->mem, call->arg[2], HEAD_SIZE))
        return -EFAULT;
    return 0;
}
