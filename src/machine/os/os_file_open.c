/* Opening and closing: open and its relatives, dup, fcntl, ioctl.
 *
 * A guest opens regular files and folders. FIFOs, sockets and devices of the host are refused
 * (ENXIO): opening one may block or change the host, and what it gives differs from run to run.
 *
 * Locks are in os_file_lock.c. Nothing sends SIGIO: a pipe with O_ASYNC is EINVAL, on other files
 * it is ignored, as on Linux. A pipe has 64 KiB and never more. ioctl knows FIONREAD, FIONBIO,
 * FIOCLEX and FIONCLEX; to everything about terminals the answer is ENOTTY, also on one: a guest
 * must not behave differently on a screen.
 */
#include "machine/os/os_file_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "machine/os/os_file.h"
#include "machine/os/os_file_door.h"

enum { CREATE_TRIES = 8 };

/* ---- open ---- */

static bool for_change(unsigned flags)
{
    return (flags & G_O_ACCESS) != G_O_RDONLY || flags & G_O_TRUNC;
}

/* What is wrong with opening what is there, before the host opens it. */
static int may_open(const struct os_call *call, const struct place *place, unsigned flags)
{
    mode_t mode = place->status.st_mode;
    if ((flags & G_O_CREAT) && (flags & G_O_EXCL)) return -EEXIST;
    if (S_ISLNK(mode)) return flags & G_O_PATH ? 0 : -ELOOP;
    if (S_ISDIR(mode) && (for_change(flags) || flags & G_O_CREAT)) return -EISDIR;
    if (!S_ISDIR(mode) && flags & G_O_DIRECTORY) return -ENOTDIR;
    if (flags & G_O_PATH) return 0;
    if (!S_ISDIR(mode) && !S_ISREG(mode)) return -ENXIO;
    if (for_change(flags) && !place->may_change) return place_denied(call, place);
    return 0;
}

/* Makes the file; the mode is the guest's to the bit, whatever umask the simulator has. */
static int create(const struct os_call *call, const struct place *place, unsigned flags,
                  uint32_t mode)
{
    if (place->slash) return -EISDIR;
    if (!place->may_rename) return place_denied(call, place);
    int host = door_make_file(place, (int)(flags & G_O_ACCESS) | O_NONBLOCK,
                              mode & 0777 & ~call->process->umask);
    if (host >= 0) fs_touch_folder(call, place->parent);
    return host;
}

static int open_existing(const struct os_call *call, const struct place *place, unsigned flags)
{
    int status = may_open(call, place, flags);
    if (status) return status;
    if (flags & G_O_PATH) return door_open(place, O_PATH);
    int host = door_open(place, (int)(flags & G_O_ACCESS));
    if (host < 0 || !(flags & G_O_TRUNC)) return host;
    /* O_RDONLY | O_TRUNC cuts, too, where the file may be written. */
    status = (flags & G_O_ACCESS) == G_O_RDONLY ? door_truncate(place, 0)
             : ftruncate(host, 0) == 0          ? 0
                                                : -errno;
    if (!status) return host;
    (void)close(host);
    return status;
}

static int open_place(struct os_call *call, const struct place *place, unsigned flags,
                      uint32_t mode, struct file **result)
{
    if (place->pseudo.kind != PSEUDO_NOT)
        return pseudo_open(call, place->path, place->pseudo, flags, result);
    int host = place->exists          ? open_existing(call, place, flags)
               : !(flags & G_O_CREAT) ? -ENOENT
                                      : create(call, place, flags, mode);
    if (host < 0) return host;
    struct stat status;
    if (fstat(host, &status) != 0) {
        int error = errno;
        (void)close(host);
        return -error;
    }
    struct fs *fs = files_fs(call->process->files);
    struct file *file =
        file_new(fs, S_ISDIR(status.st_mode) ? &file_folder_ops : &file_host_ops, flags);
    file->host = host;
    file->folder = S_ISDIR(status.st_mode);
    file->may_change = place->may_change;
    file->path = file_text(place->path);
    file->inode = fs_inode(fs, &status);
    if (!place->exists || flags & G_O_TRUNC) fs_touch(call, file->inode);
    *result = file;
    return 0;
}

static int64_t do_open(struct os_call *call, uint32_t folder, uint32_t path, unsigned flags,
                       uint32_t mode)
{
    if ((flags & G_O_ACCESS) == G_O_ACCESS) return -EINVAL;
    if (flags & G_O_TMPFILE) return -EOPNOTSUPP;
    if (!fs_may_open(call, 1)) return -ENFILE;
    if (flags & G_O_PATH) flags &= G_O_PATH | G_O_DIRECTORY | G_O_NOFOLLOW | G_O_CLOEXEC;
    bool follow = !(flags & G_O_NOFOLLOW) && !((flags & G_O_CREAT) && (flags & G_O_EXCL));
    bool change = for_change(flags) || flags & G_O_CREAT;
    struct file *file = NULL;
    int status = -EEXIST;
    /* Another run may make the file between the look and the making; then it is opened. */
    for (unsigned tries = 0; status == -EEXIST && tries < CREATE_TRIES; tries++) {
        struct place place;
        status = place_of(&place, call, folder, path,
                          (follow ? PLACE_FOLLOW : 0) | (change ? PLACE_CHANGE : 0));
        if (status) return status;
        status = open_place(call, &place, flags, mode, &file);
        place_fini(&place);
        if (flags & G_O_EXCL) break;
    }
    return status ? status : files_add(call->process->files, file, 0, flags & G_O_CLOEXEC);
}

int64_t sys_open(struct os_call *call)
{
    return do_open(call, (uint32_t)G_AT_FDCWD, call->arg[0], call->arg[1], call->arg[2]);
}

int64_t sys_openat(struct os_call *call)
{
    return do_open(call, call->arg[0], call->arg[1], call->arg[2], call->arg[3]);
}

int64_t sys_creat(struct os_call *call)
{
    return do_open(call, (uint32_t)G_AT_FDCWD, call->arg[0], G_O_CREAT | G_O_WRONLY | G_O_TRUNC,
                   call->arg[1]);
}

/* struct open_how: flags, mode, resolve, 8 bytes each. Ways to resolve are not offered: glibc does
 * not use them. */
int64_t sys_openat2(struct os_call *call)
{
    uint64_t flags, mode, resolve;
    if (call->arg[3] < 24) return -EINVAL;
    if (call->arg[3] > 24) return -E2BIG;
    if (!mem_get64(call->mem, call->arg[2], &flags) ||
        !mem_get64(call->mem, call->arg[2] + 8, &mode) ||
        !mem_get64(call->mem, call->arg[2] + 16, &resolve))
        return -EFAULT;
    if (resolve) return -EOPNOTSUPP;
    if (flags >> 32 || mode & ~UINT64_C(07777)) return -EINVAL;
    return do_open(call, call->arg[0], call->arg[1], (unsigned)flags, (uint32_t)mode);
}

int64_t sys_umask(struct os_call *call)
{
    uint32_t before = call->process->umask;
    call->process->umask = call->arg[0] & 0777;
    return before;
}

/* ---- close, dup ---- */

int64_t sys_close(struct os_call *call)
{
    return files_close(call->process->files, call->arg[0]);
}

int64_t sys_close_range(struct os_call *call)
{
    enum { UNSHARE = 2, CLOEXEC = 4 };
    struct os_files *files = call->process->files;
    uint32_t first = call->arg[0], last = call->arg[1];
    if (first > last || call->arg[2] & ~(uint32_t)(UNSHARE | CLOEXEC)) return -EINVAL;
    for (uint32_t number = first; number <= last && number < files_limit(files); number++) {
        bool *close_on_exec = files_close_on_exec(files, number);
        if (call->arg[2] & CLOEXEC && close_on_exec)
            *close_on_exec = true;
        else if (close_on_exec)
            (void)files_close(files, number);
    }
    return 0;
}

static int64_t duplicate(struct os_call *call, unsigned lowest, bool close_on_exec)
{
    struct file *file = files_get(call->process->files, call->arg[0]);
    return file ? files_add(call->process->files, file_share(file), lowest, close_on_exec) : -EBADF;
}

int64_t sys_dup(struct os_call *call)
{
    return duplicate(call, 0, false);
}

int64_t sys_dup2(struct os_call *call)
{
    struct file *file = files_get(call->process->files, call->arg[0]);
    if (!file) return -EBADF;
    if (call->arg[0] == call->arg[1]) return call->arg[1];
    return files_put(call->process->files, file_share(file), call->arg[1], false);
}

int64_t sys_dup3(struct os_call *call)
{
    struct file *file = files_get(call->process->files, call->arg[0]);
    if (call->arg[0] == call->arg[1] || call->arg[2] & ~(uint32_t)G_O_CLOEXEC) return -EINVAL;
    if (!file) return -EBADF;
    return files_put(call->process->files, file_share(file), call->arg[1],
                     call->arg[2] & G_O_CLOEXEC);
}

/* ---- fcntl, ioctl ---- */

static int64_t set_flags(struct file *file, uint32_t flags)
{
    const unsigned settable = G_O_APPEND | G_O_NONBLOCK;
    if (flags & G_O_ASYNC && file->pipe) return -EINVAL;
    file->flags = (file->flags & ~settable) | (flags & settable);
    return 0;
}

static int64_t set_pipe_size(const struct file *file, uint32_t size)
{
    enum { PIPE_ROOM = 65536 };
    if (!file->pipe || file->out) return -EBADF;
    return size > PIPE_ROOM ? -EPERM : PIPE_ROOM;
}

int64_t sys_fcntl(struct os_call *call)
{
    enum {
        DUPFD,
        GETFD,
        SETFD,
        GETFL,
        SETFL,
        GETLK,
        SETLK,
        SETLKW,
        SETOWN,
        GETOWN,
        GETLK64 = 12,
        SETLK64,
        SETLKW64,
        OFD_GETLK = 36,
        OFD_SETLK,
        OFD_SETLKW,
        DUPFD_CLOEXEC = 1030,
        SETPIPE_SZ,
        GETPIPE_SZ
    };
    struct file *file = files_get(call->process->files, call->arg[0]);
    bool *close_on_exec = files_close_on_exec(call->process->files, call->arg[0]);
    if (!file || !close_on_exec) return -EBADF;
    switch (call->arg[1]) {
    case DUPFD: return duplicate(call, call->arg[2], false);
    case DUPFD_CLOEXEC: return duplicate(call, call->arg[2], true);
    case GETFD: return *close_on_exec;
    case SETFD: *close_on_exec = call->arg[2] & 1; return 0;
    case GETFL: return file->flags;
    default: break;
    }
    if (file->flags & G_O_PATH) return -EBADF;
    switch (call->arg[1]) {
    case SETFL: return set_flags(file, call->arg[2]);
    case GETLK: return lock_records(call, file, LOCK_GET, false, false);
    case SETLK: return lock_records(call, file, LOCK_TRY, false, false);
    case SETLKW: return lock_records(call, file, LOCK_WAIT, false, false);
    case GETLK64: return lock_records(call, file, LOCK_GET, true, false);
    case SETLK64: return lock_records(call, file, LOCK_TRY, true, false);
    case SETLKW64: return lock_records(call, file, LOCK_WAIT, true, false);
    case OFD_GETLK: return lock_records(call, file, LOCK_GET, true, true);
    case OFD_SETLK: return lock_records(call, file, LOCK_TRY, true, true);
    case OFD_SETLKW: return lock_records(call, file, LOCK_WAIT, true, true);
    case SETOWN: file->owner = call->arg[2]; return 0;
    case GETOWN: return (int32_t)file->owner;
    case SETPIPE_SZ: return set_pipe_size(file, call->arg[2]);
    case GETPIPE_SZ: return set_pipe_size(file, 0);
    default: return -EINVAL;
    }
}

int64_t sys_ioctl(struct os_call *call)
{
    struct file *file = files_get(call->process->files, call->arg[0]);
    bool *close_on_exec = files_close_on_exec(call->process->files, call->arg[0]);
    if (!file || !close_on_exec) return -EBADF;
    uint32_t value = 0;
    switch (call->arg[1]) {
    case 0x20006601: *close_on_exec = true; return 0;  /* FIOCLEX */
    case 0x20006602: *close_on_exec = false; return 0; /* FIONCLEX */
    case 0x8004667e:                                   /* FIONBIO */
        if (!mem_get32(call->mem, call->arg[2], &value)) return -EFAULT;
        file->flags = value ? file->flags | G_O_NONBLOCK : file->flags & ~(unsigned)G_O_NONBLOCK;
        return 0;
    case 0x4004667f: /* FIONREAD */
        if (!file->pipe) return -ENOTTY;
        return mem_put32(call->mem, call->arg[2], pipe_waiting(file)) ? 0 : -EFAULT;
    default: return -ENOTTY;
    }
}

/* ---- what there is not ---- */

int64_t sys_file_advice(struct os_call *call)
{
    return files_get(call->process->files, call->arg[0]) ? 0 : -EBADF;
}

int64_t sys_no_socket(struct os_call *call)
{
    os_warn_once(call->os, "socket",
                 "the program asked for a socket; there is no network (EAFNOSUPPORT)");
    return -EAFNOSUPPORT;
}

int64_t sys_no_xattr(struct os_call *call)
{
    (void)call;
    return -EOPNOTSUPP;
}

int64_t sys_not_permitted(struct os_call *call)
{
    (void)call;
    return -EPERM;
}
