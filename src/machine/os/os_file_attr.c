/* Changing what belongs to a file besides its contents: mode, owner, times.
 *
 * Only where the guest may write. Set-user-ID and set-group-ID bits are refused (EPERM): they would
 * give a guest's file the rights of the simulator's user. Owners stay: every file is the
 * guest user's, and no other can be had. "Now" is the host's moment on the disk and the simulated
 * one for guests (os_file_rules.c).
 */
#include "machine/os/os_file_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "machine/os/os_file.h"
#include "machine/os/os_file_door.h"

#define TIME_NOW   0x3fffffff
#define TIME_OMIT  0x3ffffffe
#define SET_ID     06000u
#define MODE_BITS  07777u
#define NANOSECOND 1000000000

/* ---- mode ---- */

static int64_t chmod_at(struct os_call *call, uint32_t folder, uint32_t path, uint32_t mode)
{
    struct place place;
    int error = place_of(&place, call, folder, path, PLACE_FOLLOW | PLACE_CHANGE);
    if (error) return error;
    if (!place.exists)
        error = -ENOENT;
    else if (place.pseudo.kind != PSEUDO_NOT || mode & SET_ID)
        error = -EPERM;
    else if (!place.may_change)
        error = place_denied(call, &place);
    else
        error = door_chmod(&place, mode & MODE_BITS);
    place_fini(&place);
    return error;
}

int64_t sys_chmod(struct os_call *call)
{
    return chmod_at(call, (uint32_t)G_AT_FDCWD, call->arg[0], call->arg[1]);
}

int64_t sys_fchmodat(struct os_call *call)
{
    return chmod_at(call, call->arg[0], call->arg[1], call->arg[2]);
}

int64_t sys_fchmod(struct os_call *call)
{
    const struct file *file = files_get(call->process->files, call->arg[0]);
    if (!file || file->flags & G_O_PATH) return -EBADF;
    if (call->arg[1] & SET_ID) return -EPERM;
    if (!file->may_change) return -EROFS;
    return fchmod(file->host, call->arg[1] & MODE_BITS) == 0 ? 0 : -errno;
}

/* ---- owner ---- */

static int64_t own(uint32_t user, uint32_t group)
{
    bool same = (user == OS_UID || user == UINT32_MAX) && (group == OS_GID || group == UINT32_MAX);
    return same ? 0 : -EPERM;
}

static int64_t chown_at(struct os_call *call, uint32_t folder, uint32_t path, uint32_t user,
                        uint32_t group, unsigned flags)
{
    struct place place;
    int error = place_of(&place, call, folder, path, flags | PLACE_CHANGE);
    if (error) return error;
    if (!place.exists)
        error = -ENOENT;
    else if (place.pseudo.kind == PSEUDO_NOT && !place.may_change)
        error = place_denied(call, &place);
    place_fini(&place);
    return error ? error : own(user, group);
}

int64_t sys_chown(struct os_call *call)
{
    return chown_at(call, (uint32_t)G_AT_FDCWD, call->arg[0], call->arg[1], call->arg[2],
                    PLACE_FOLLOW);
}

int64_t sys_lchown(struct os_call *call)
{
    return chown_at(call, (uint32_t)G_AT_FDCWD, call->arg[0], call->arg[1], call->arg[2], 0);
}

int64_t sys_fchownat(struct os_call *call)
{
    return chown_at(call, call->arg[0], call->arg[1], call->arg[2], call->arg[3],
                    call->arg[4] & G_AT_SYMLINK_NOFOLLOW ? 0 : PLACE_FOLLOW);
}

int64_t sys_fchown(struct os_call *call)
{
    const struct file *file = files_get(call->process->files, call->arg[0]);
    if (!file || file->flags & G_O_PATH) return -EBADF;
    if (file->inode && file->path && !file->may_change) return -EROFS;
    return own(call->arg[1], call->arg[2]);
}

/* ---- times ---- */

/* The time a guest will see: the moment of the call for "now", nothing for "leave it". */
static void show_time(struct os_call *call, struct inode *inode, const struct timespec *modified)
{
    if (modified->tv_nsec == UTIME_OMIT) return;
    if (modified->tv_nsec == UTIME_NOW) {
        fs_touch(call, inode);
        return;
    }
    inode->timed = true;
    inode->seconds = modified->tv_sec;
    inode->nanoseconds = (uint32_t)modified->tv_nsec;
}

static int64_t set_file_times(struct os_call *call, uint32_t number, const struct timespec times[2])
{
    const struct file *file = files_get(call->process->files, number);
    if (!file || file->flags & G_O_PATH) return -EBADF;
    if (!file->may_change || !file->inode) return -EROFS;
    if (futimens(file->host, times) != 0) return -errno;
    show_time(call, file->inode, &times[1]);
    return 0;
}

static int64_t set_times(struct os_call *call, uint32_t folder, uint32_t path,
                         const struct timespec times[2], bool follow)
{
    if (!path) return set_file_times(call, folder, times); /* futimens */
    struct place place;
    int error = place_of(&place, call, folder, path, (follow ? PLACE_FOLLOW : 0) | PLACE_CHANGE);
    if (error) return error;
    if (!place.exists)
        error = -ENOENT;
    else if (place.pseudo.kind != PSEUDO_NOT)
        error = -EPERM;
    else if (!place.may_change)
        error = place_denied(call, &place);
    else
        error = door_set_times(&place, times);
    if (!error) show_time(call, fs_inode(files_fs(call->process->files), &place.status), &times[1]);
    place_fini(&place);
    return error;
}

/* Two times of seconds and parts, each half 4 or 8 bytes; the part is in units of `unit`
 * nanoseconds. */
static int get_times(const struct os_call *call, uint32_t address, unsigned width, int64_t unit,
                     struct timespec out[2])
{
    for (unsigned i = 0; i < 2; i++) {
        int64_t half[2] = {0, TIME_NOW};
        for (unsigned j = 0; address && j < 2; j++) {
            uint32_t at = address + (2 * i + j) * width, narrow;
            uint64_t wide;
            if (width == 8 ? !mem_get64(call->mem, at, &wide) : !mem_get32(call->mem, at, &narrow))
                return -EFAULT;
            half[j] = width == 8 ? (int64_t)wide : (int32_t)narrow;
        }
        /* The upper half of a 64-bit part is padding. */
        int64_t part = address && width == 8 ? (int32_t)half[1] : half[1];
        bool special = !address || (unit == 1 && (part == TIME_NOW || part == TIME_OMIT));
        if (!special && (part < 0 || part >= NANOSECOND / unit)) return -EINVAL;
        out[i].tv_sec = half[0];
        out[i].tv_nsec = !special ? part * unit : part == TIME_OMIT ? UTIME_OMIT : UTIME_NOW;
    }
    return 0;
}

static int64_t times_at(struct os_call *call, uint32_t folder, uint32_t path, uint32_t address,
                        unsigned width, int64_t unit, uint32_t flags)
{
    struct timespec times[2];
    if (flags & ~(uint32_t)G_AT_SYMLINK_NOFOLLOW) return -EINVAL;
    int error = get_times(call, address, width, unit, times);
    return error ? error : set_times(call, folder, path, times, !(flags & G_AT_SYMLINK_NOFOLLOW));
}

int64_t sys_utimensat(struct os_call *call)
{
    return times_at(call, call->arg[0], call->arg[1], call->arg[2], 4, 1, call->arg[3]);
}

int64_t sys_utimensat_time64(struct os_call *call)
{
    return times_at(call, call->arg[0], call->arg[1], call->arg[2], 8, 1, call->arg[3]);
}

int64_t sys_futimesat(struct os_call *call)
{
    return times_at(call, call->arg[0], call->arg[1], call->arg[2], 4, 1000, 0);
}

int64_t sys_utimes(struct os_call *call)
{
    if (!call->arg[0]) return -EFAULT;
    return times_at(call, (uint32_t)G_AT_FDCWD, call->arg[0], call->arg[1], 4, 1000, 0);
}

int64_t sys_utime(struct os_call *call)
{
    struct timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
    if (!call->arg[0]) return -EFAULT;
    for (unsigned i = 0; call->arg[1] && i < 2; i++) {
        uint32_t seconds;
        if (!mem_get32(call->mem, call->arg[1] + 4 * i, &seconds)) return -EFAULT;
        times[i] = (struct timespec){(int32_t)seconds, 0};
    }
    return set_times(call, (uint32_t)G_AT_FDCWD, call->arg[0], times, true);
}
