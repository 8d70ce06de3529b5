/* Calls that return facts about the process and the machine: fixed values, or from the options.
 *
 * The user is 1000, never the host's. Random numbers are a stream per process that starts from its
 * number (splitmix64, Steele et al. 2014), so that the same run gives the same bits.
 */
#include "machine/os/os_task.h"

#include <errno.h>

enum { UTS_LENGTH = 65 };

int64_t sys_permission_denied(struct os_call *call)
{
    (void)call;
    return -EPERM;
}

/* The C library tries it at the start of every thread and does without: nothing to name. */
int64_t sys_rseq(struct os_call *call)
{
    (void)call;
    return -ENOSYS;
}

int64_t sys_restart_syscall(struct os_call *call)
{
    (void)call;
    return -EINTR;
}

/* ---- the machine ---- */

static int64_t put_names(struct os_call *call, unsigned count)
{
    static const char *const name[] = {"Linux", "chiliad", "6.1.0", "#1 SMP", "ppc", "(none)"};
    char *host = mem_writable(call->mem, call->arg[0], (uint64_t)count * UTS_LENGTH);
    if (!host) return -EFAULT;
    memset(host, 0, (size_t)count * UTS_LENGTH);
    for (unsigned n = 0; n < count; n++)
        memcpy(host + (size_t)n * UTS_LENGTH, name[n], strlen(name[n]));
    return 0;
}

int64_t sys_uname(struct os_call *call)
{
    return put_names(call, 6);
}

int64_t sys_olduname(struct os_call *call)
{
    return put_names(call, 5);
}

/* struct sysinfo: uptime, 3 loads, memory in all and free, shared, buffers, swap in all and free;
 * then a half-word with the number of processes, high memory in all and free, the unit. */
int64_t sys_sysinfo(struct os_call *call)
{
    enum { SIZE = 64 };
    uint8_t *host = mem_writable(call->mem, call->arg[0], SIZE);
    if (!host) return -EFAULT;
    uint64_t memory = os_process_memory(call->os);
    uint32_t total = memory > UINT32_MAX ? UINT32_MAX : (uint32_t)memory, count = 0;
    for (const struct os_process *process = call->os->processes; process; process = process->next)
        count += !process->exited;
    memset(host, 0, SIZE);
    mem_host_put32(host, (uint32_t)(os_nanoseconds(call) / 1000000000));
    mem_host_put32(host + 16, total);
    mem_host_put32(host + 20, total / 2);
    mem_host_put32(host + 40, count << 16);
    mem_host_put32(host + 52, 1);
    return 0;
}

int64_t sys_personality(struct os_call *call)
{
    return call->arg[0] == 0 || call->arg[0] == UINT32_MAX ? 0 : -EINVAL;
}

int64_t sys_membarrier(struct os_call *call)
{
    enum { QUERY = 0, GLOBAL = 1, PRIVATE_EXPEDITED = 8, REGISTER_PRIVATE_EXPEDITED = 16 };
    enum { ALL = GLOBAL | PRIVATE_EXPEDITED | REGISTER_PRIVATE_EXPEDITED };
    uint32_t command = call->arg[0];
    if (command == QUERY) return ALL;
    bool known =
        command == GLOBAL || command == PRIVATE_EXPEDITED || command == REGISTER_PRIVATE_EXPEDITED;
    return known ? 0 : -EINVAL;
}

int64_t sys_getrandom(struct os_call *call)
{
    enum { FLAGS = 7, MOST = 0x1ffffff };
    uint32_t length = call->arg[1] > MOST ? MOST : call->arg[1];
    if (call->arg[2] & ~(uint32_t)FLAGS) return -EINVAL;
    uint8_t *host = mem_writable(call->mem, call->arg[0], length);
    if (!host && length) return -EFAULT;
    uint64_t *state = &call->process->random, bits = 0;
    for (uint32_t n = 0; n < length; n++, bits >>= 8) {
        if (n % 8 == 0) {
            bits = *state += UINT64_C(0x9e3779b97f4a7c15);
            bits = (bits ^ bits >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
            bits = (bits ^ bits >> 27) * UINT64_C(0x94d049bb133111eb);
            bits ^= bits >> 31;
        }
        host[n] = (uint8_t)bits;
    }
    return length;
}

/* ---- the user ---- */

int64_t sys_getuid(struct os_call *call)
{
    (void)call;
    return OS_UID;
}

int64_t sys_getgid(struct os_call *call)
{
    (void)call;
    return OS_GID;
}

_Static_assert(OS_UID == OS_GID, "sys_set_id and its relatives serve users and groups");

int64_t sys_set_id(struct os_call *call)
{
    return call->arg[0] == OS_UID ? 0 : -EPERM;
}

/* Up to three ids, -1 for no change. A call of two leaves rubbish in the third register. */
int64_t sys_set_ids(struct os_call *call)
{
    enum { SETREUID = 70, SETREGID = 71 };
    unsigned count = call->number == SETREUID || call->number == SETREGID ? 2 : 3;
    for (unsigned n = 0; n < count; n++)
        if (call->arg[n] != OS_UID && call->arg[n] != UINT32_MAX) return -EPERM;
    return 0;
}

int64_t sys_getresid(struct os_call *call)
{
    for (unsigned n = 0; n < 3; n++)
        if (!mem_put32(call->mem, call->arg[n], OS_UID)) return -EFAULT;
    return 0;
}

int64_t sys_getgroups(struct os_call *call)
{
    if ((int32_t)call->arg[0] < 0) return -EINVAL;
    return call->arg[0] && !mem_put32(call->mem, call->arg[1], OS_GID) ? -EFAULT : 1;
}

/* ---- prctl ---- */

static int64_t fp_exceptions(struct os_call *call, bool set)
{
    enum { NONRECOVERABLE = 1, ASYNC = 2, PRECISE = 3, SOFTWARE = 0x80 };
    uint32_t *msr = &call->task->regs.msr;
    if (!set) {
        uint32_t mode = (*msr & MSR_FE0 ? ASYNC : 0) | (*msr & MSR_FE1 ? NONRECOVERABLE : 0);
        return mem_put32(call->mem, call->arg[1], mode) ? 0 : -EFAULT;
    }
    if (call->arg[1] & ~(uint32_t)PRECISE)
        return -EINVAL; /* software handling is for cores without an FPU */
    *msr &= ~(uint32_t)(MSR_FE0 | MSR_FE1);
    if (call->arg[1] & ASYNC) *msr |= MSR_FE0;
    if (call->arg[1] & NONRECOVERABLE) *msr |= MSR_FE1;
    return 0;
}

static int64_t task_name(struct os_call *call, bool set)
{
    char *name = call->task->name;
    size_t size = sizeof call->task->name;
    if (!set) {
        void *host = mem_writable(call->mem, call->arg[1], size);
        if (!host) return -EFAULT;
        memcpy(host, name, size);
        return 0;
    }
    int64_t length = mem_strlen(call->mem, call->arg[1], (uint32_t)size - 1);
    if (length < 0) return -EFAULT;
    memset(name, 0, size);
    if (length)
        memcpy(name, mem_readable(call->mem, call->arg[1], (uint64_t)length), (size_t)length);
    return 0;
}

/* A flag of the process that is set to 0 or 1 and read back. */
static int64_t set_flag(bool *flag, uint32_t value)
{
    if (value > 1) return -EINVAL;
    *flag = value;
    return 0;
}

static int64_t death_signal(struct os_call *call, bool set)
{
    int *signal = &call->process->parent_death;
    if (!set) return mem_put32(call->mem, call->arg[1], (uint32_t)*signal) ? 0 : -EFAULT;
    if (call->arg[1] > OS_SIGNALS) return -EINVAL;
    *signal = (int)call->arg[1];
    return 0;
}

/* Timers are exact: a slack allows them to be late, and they are not. */
static int64_t timer_slack(struct os_call *call, bool set)
{
    enum { DEFAULT = 50000 };
    uint32_t *slack = &call->task->timer_slack;
    if (!set) return *slack ? *slack : DEFAULT;
    *slack = call->arg[1];
    return 0;
}

int64_t sys_prctl(struct os_call *call)
{
    enum {
        SET_PDEATHSIG = 1,
        GET_PDEATHSIG = 2,
        GET_DUMPABLE = 3,
        SET_DUMPABLE = 4,
        GET_FPEXC = 11,
        SET_FPEXC = 12,
        SET_NAME = 15,
        GET_NAME = 16,
        SET_TIMERSLACK = 29,
        GET_TIMERSLACK = 30,
        SET_NO_NEW_PRIVS = 38,
        GET_NO_NEW_PRIVS = 39
    };
    struct os_process *process = call->process;
    switch (call->arg[0]) {
    case SET_PDEATHSIG: return death_signal(call, true);
    case GET_PDEATHSIG: return death_signal(call, false);
    case SET_DUMPABLE: return set_flag(&process->dumpable, call->arg[1]);
    case GET_DUMPABLE: return process->dumpable;
    case SET_TIMERSLACK: return timer_slack(call, true);
    case GET_TIMERSLACK: return timer_slack(call, false);
    case SET_NO_NEW_PRIVS:
        return call->arg[1] == 1 ? set_flag(&process->no_new_rights, 1) : -EINVAL;
    case GET_NO_NEW_PRIVS: return process->no_new_rights;
    case GET_FPEXC: return fp_exceptions(call, false);
    case SET_FPEXC: return fp_exceptions(call, true);
    case SET_NAME: return task_name(call, true);
    case GET_NAME: return task_name(call, false);
    default: return -EINVAL;
    }
}
