/* Waiting for several files: poll, select and their relatives.
 *
 * Pipes are ready when a read or write would not wait. Everything else is ready always: a regular
 * file is, and asking the host about its own standard input would let the host's speed decide what
 * a guest does next.
 *
 * A task that must wait waits for any change of any pipe of the run, and looks again. os_wait keeps
 * the first time limit of a call, so looking again does not extend it. The signal mask of pselect6
 * and ppoll is not applied (one warning); signals end the wait all the same.
 *
 *   pollfd (8)  fd 0 4, events 4 2, revents 6 2;  fd_set: 32-bit words, descriptor n is bit n % 32
 * (from the least significant) of word n / 32;  timeval and timespec: two words; timespec64: two
 * doublewords.
 */
#include "machine/os/os_file_impl.h"

#include <errno.h>
#include <string.h>

#include "machine/os/os_file.h"

enum { POLL_MAX = 4096, SELECT_MAX = 1024, SETS = 3, SET_WORDS = SELECT_MAX / 32 };
#define FOREVER    UINT64_MAX
#define SECOND     UINT64_C(1000000000)
#define READ_EVENT (G_POLLIN | G_POLLHUP | G_POLLERR)

static unsigned ready_events(const struct os_files *files, uint32_t number)
{
    const struct file *file = files_get(files, number);
    if (!file) return G_POLLNVAL;
    return file->ops->poll ? file->ops->poll(file) : G_POLLIN | G_POLLOUT;
}

/* Nothing is ready: waits, or ends the call when the time is up. */
static int64_t wait_more(struct os_call *call, uint64_t nanoseconds)
{
    if (nanoseconds == 0 || os_timed_out(call)) return 0;
    uint64_t cycles = nanoseconds == FOREVER ? FOREVER : os_cycles_of(call->os, nanoseconds);
    return os_wait(call, fs_change(files_fs(call->process->files)), cycles);
}

/* A time in memory as nanoseconds; `unit` is what its second half counts in, 0 stands for for ever.
 */
static int get_time(const struct os_call *call, uint32_t address, bool wide, uint64_t unit,
                    uint64_t *nanoseconds)
{
    *nanoseconds = FOREVER;
    if (!address) return 0;
    int64_t seconds, part;
    uint64_t wide_value[2];
    uint32_t value[2];
    if (wide) {
        if (!mem_get64(call->mem, address, &wide_value[0]) ||
            !mem_get64(call->mem, address + 8, &wide_value[1]))
            return -EFAULT;
        seconds = (int64_t)wide_value[0];
        part = (int32_t)wide_value[1];
    } else {
        if (!mem_get32(call->mem, address, &value[0]) ||
            !mem_get32(call->mem, address + 4, &value[1]))
            return -EFAULT;
        seconds = (int32_t)value[0];
        part = (int32_t)value[1];
    }
    if (seconds < 0 || part < 0 || (uint64_t)part >= SECOND / unit) return -EINVAL;
    if ((uint64_t)seconds < FOREVER / SECOND / 2)
        *nanoseconds = (uint64_t)seconds * SECOND + (uint64_t)part * unit;
    return 0;
}

static void note_mask(const struct os_call *call, uint32_t mask)
{
    if (mask)
        os_warn_once(call->os, "poll mask", "the signal mask of ppoll and pselect6 is not applied");
}

/* ---- poll ---- */

static int64_t do_poll(struct os_call *call, uint64_t nanoseconds)
{
    uint32_t count = call->arg[1];
    if (count > POLL_MAX) return -EINVAL;
    uint8_t *list = mem_writable(call->mem, call->arg[0], (uint64_t)count * 8);
    if (!list) return -EFAULT;
    int64_t ready = 0;
    for (uint8_t *at = list; at < list + (size_t)count * 8; at += 8) {
        int32_t number = (int32_t)mem_host_get32(at);
        unsigned wanted = (unsigned)at[4] << 8 | at[5];
        /* The normal-data bits mean the same as POLLIN and POLLOUT here. */
        unsigned found = number < 0 ? 0 : ready_events(call->process->files, (uint32_t)number);
        if (found & G_POLLIN) found |= 0x40;
        if (found & G_POLLOUT) found |= 0x100;
        found &= wanted | G_POLLERR | G_POLLHUP | G_POLLNVAL;
        at[6] = (uint8_t)(found >> 8);
        at[7] = (uint8_t)found;
        ready += found != 0;
    }
    return ready ? ready : wait_more(call, nanoseconds);
}

int64_t sys_poll(struct os_call *call)
{
    int32_t milliseconds = (int32_t)call->arg[2];
    return do_poll(call, milliseconds < 0 ? FOREVER : (uint64_t)milliseconds * 1000000);
}

static int64_t poll_until(struct os_call *call, bool wide)
{
    uint64_t nanoseconds;
    int error = get_time(call, call->arg[2], wide, 1, &nanoseconds);
    if (error) return error;
    note_mask(call, call->arg[3]);
    return do_poll(call, nanoseconds);
}

int64_t sys_ppoll(struct os_call *call)
{
    return poll_until(call, false);
}

int64_t sys_ppoll_time64(struct os_call *call)
{
    return poll_until(call, true);
}

/* ---- select ---- */

static int64_t do_select(struct os_call *call, uint64_t nanoseconds)
{
    static const unsigned events[SETS] = {READ_EVENT, G_POLLOUT | G_POLLERR, G_POLLPRI};
    uint32_t limit = call->arg[0], result[SETS][SET_WORDS];
    uint8_t *set[SETS];
    if ((int32_t)limit < 0) return -EINVAL;
    if (limit > SELECT_MAX) limit = SELECT_MAX;
    size_t words = (limit + 31) / 32;
    for (unsigned s = 0; s < SETS; s++) {
        set[s] = call->arg[1 + s] ? mem_writable(call->mem, call->arg[1 + s], words * 4) : NULL;
        if (call->arg[1 + s] && !set[s]) return -EFAULT;
    }
    int64_t ready = 0;
    memset(result, 0, sizeof result);
    for (uint32_t n = 0; n < limit; n++)
        for (unsigned s = 0; s < SETS; s++) {
            if (!set[s] || !(mem_host_get32(set[s] + (size_t)(n / 32) * 4) >> n % 32 & 1)) continue;
            unsigned found = ready_events(call->process->files, n);
            if (found & G_POLLNVAL) return -EBADF;
            if (!(found & events[s])) continue;
            result[s][n / 32] |= UINT32_C(1) << n % 32;
            ready++;
        }
    if (!ready) {
        ready = wait_more(call, nanoseconds);
        if (ready) return ready; /* the sets stay as they are for the next look */
    }
    for (unsigned s = 0; s < SETS; s++)
        for (size_t w = 0; set[s] && w < words; w++)
            mem_host_put32(set[s] + 4 * w, result[s][w]);
    return ready;
}

/* Linux writes the time that is left back; 0 of it when it is up, and all of it otherwise is close
 * enough, as POSIX leaves it open. */
int64_t sys_select(struct os_call *call)
{
    uint64_t nanoseconds;
    int error = get_time(call, call->arg[4], false, 1000, &nanoseconds);
    if (error) return error;
    int64_t ready = do_select(call, nanoseconds);
    if (ready == 0 && call->arg[4]) {
        (void)mem_put32(call->mem, call->arg[4], 0);
        (void)mem_put32(call->mem, call->arg[4] + 4, 0);
    }
    return ready;
}

static int64_t select_until(struct os_call *call, bool wide)
{
    uint64_t nanoseconds;
    uint32_t mask = 0;
    int error = get_time(call, call->arg[4], wide, 1, &nanoseconds);
    if (error) return error;
    if (call->arg[5] && !mem_get32(call->mem, call->arg[5], &mask)) return -EFAULT;
    note_mask(call, mask);
    return do_select(call, nanoseconds);
}

int64_t sys_pselect6(struct os_call *call)
{
    return select_until(call, false);
}

int64_t sys_pselect6_time64(struct os_call *call)
{
    return select_until(call, true);
}
