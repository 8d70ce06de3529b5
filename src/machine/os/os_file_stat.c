/* What files look like: stat in its forms, access, readlink, statfs, and changing modes and times.
 *
 * A guest sees a file's type, permissions, links, size and modification time as they are. What
 * depends on the host is replaced by the same values everywhere: device and number
 * (os_file_rules.c), owner (always the guest's user), block size and count, a folder's size and
 * links, and access and change time (both the modification time).
 *
 * Layouts for 32-bit PowerPC, offset and width, as offsetof says of the cross compiler's headers,
 * run by qemu-ppc: stat (72)    dev 0 4, ino 4 4, mode 8 4, nlink 12 2, uid 16 4, gid 20 4, rdev 24
 * 4, size 28 4, blksize 32 4, blocks 36 4, atime 40 4 + ns 44, mtime 48 + 52, ctime 56 + 60 stat64
 * (104) dev 0 8, ino 8 8, mode 16 4, nlink 20 4, uid 24 4, gid 28 4, rdev 32 8, size 48 8, blksize
 * 56 4, blocks 64 8, atime 72 4 + ns 76, mtime 80 + 84, ctime 88 + 92 statx (256)  mask 0 4,
 * blksize 4 4, nlink 16 4, uid 20 4, gid 24 4, mode 28 2, ino 32 8, size 40 8, blocks 48 8, atime
 * 64 (8 + ns 4), btime 80, ctime 96, mtime 112, rdev 128 4 + 132 4, dev 136 4 + 140 4 statfs (64)
 * type 0, bsize 4, blocks 8, bfree 12, bavail 16, files 20, ffree 24, fsid 28 8, namelen 36, frsize
 * 40 statfs64 (88) type 0, bsize 4, blocks 8 8, bfree 16 8, bavail 24 8, files 32 8, ffree 40 8,
 * fsid 48 8, namelen 56, frsize 60
 */
#include "machine/os/os_file_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "machine/os/os_file.h"
#include "machine/os/os_file_door.h"

enum {
    DEVICE_MAJOR = 8,
    DEVICE_MINOR = 1,
    DEVICE = DEVICE_MAJOR << 8 | DEVICE_MINOR,
    BLOCK = 4096
};
enum {
    STAT_BYTES = 72,
    STAT64_BYTES = 104,
    STATX_BYTES = 256,
    STATFS_BYTES = 64,
    STATFS64_BYTES = 88
};

static void put16(uint8_t *at, unsigned value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static void put64(uint8_t *at, uint64_t value)
{
    mem_host_put32(at, (uint32_t)(value >> 32));
    mem_host_put32(at + 4, (uint32_t)value);
}

/* ---- looking ---- */

void shown_stat(struct stat *status, const struct inode *inode)
{
    if (S_ISDIR(status->st_mode)) {
        status->st_size = BLOCK;
        status->st_nlink = 1;
    }
    if (inode) status->st_ino = inode->number;
    if (inode && inode->timed) {
        status->st_mtim.tv_sec = inode->seconds;
        status->st_mtim.tv_nsec = inode->nanoseconds;
    }
    status->st_dev = DEVICE;
    status->st_uid = OS_UID;
    status->st_gid = OS_GID;
    status->st_blksize = BLOCK;
    status->st_blocks = (status->st_size + 511) / 512;
    status->st_atim = status->st_ctim = status->st_mtim;
}

static void stat_file(struct file *file, struct stat *status)
{
    file->ops->stat(file, status);
    if (file->inode) {
        shown_stat(status, file->inode);
        return;
    }
    if (!status->st_ino) status->st_ino = file->number;
    if (file->pseudo.kind == PSEUDO_NOT) status->st_mtim.tv_sec = OS_EPOCH;
    shown_stat(status, NULL);
}

/* Everything that stats comes here: `flags` are those of fstatat. */
static int look(struct os_call *call, uint32_t folder, uint32_t path, uint32_t flags,
                struct stat *status)
{
    char text[PATH_MAX];
    int error = guest_path(call, path, text);
    if (error) return error;
    if (flags & G_AT_EMPTY_PATH && !*text && (int32_t)folder != G_AT_FDCWD) {
        struct file *file = files_get(call->process->files, folder);
        if (!file) return -EBADF;
        stat_file(file, status);
        return 0;
    }
    struct place place;
    bool follow = !(flags & G_AT_SYMLINK_NOFOLLOW);
    if (flags & G_AT_EMPTY_PATH && !*text)
        error =
            place_find(&place, call->process->files, call, files_cwd(call->process->files), ".", 0);
    else
        error = place_of(&place, call, folder, path, follow ? PLACE_FOLLOW : 0);
    if (error) return error;
    place_fini(&place);
    if (!place.exists) return -ENOENT;
    *status = place.status;
    if (place.pseudo.kind == PSEUDO_DESCRIPTOR && follow)
        stat_file(files_get(call->process->files, place.pseudo.number), status);
    else if (place.pseudo.kind != PSEUDO_NOT)
        shown_stat(status, NULL);
    else
        shown_stat(status, fs_inode(files_fs(call->process->files), status));
    return 0;
}

static int look_at_file(struct os_call *call, struct stat *status)
{
    struct file *file = files_get(call->process->files, call->arg[0]);
    if (!file) return -EBADF;
    stat_file(file, status);
    return 0;
}

/* ---- showing ---- */

static void put_time32(uint8_t *at, const struct timespec *time)
{
    mem_host_put32(at, (uint32_t)time->tv_sec);
    mem_host_put32(at + 4, (uint32_t)time->tv_nsec);
}

static int64_t put_stat(struct os_call *call, uint32_t address, const struct stat *status)
{
    uint8_t *out = mem_writable(call->mem, address, STAT_BYTES);
    if (!out) return -EFAULT;
    if (status->st_size > INT32_MAX) return -EOVERFLOW;
    memset(out, 0, STAT_BYTES);
    mem_host_put32(out, (uint32_t)status->st_dev);
    mem_host_put32(out + 4, (uint32_t)status->st_ino);
    mem_host_put32(out + 8, status->st_mode);
    put16(out + 12, (unsigned)status->st_nlink);
    mem_host_put32(out + 16, status->st_uid);
    mem_host_put32(out + 20, status->st_gid);
    mem_host_put32(out + 24, (uint32_t)status->st_rdev);
    mem_host_put32(out + 28, (uint32_t)status->st_size);
    mem_host_put32(out + 32, (uint32_t)status->st_blksize);
    mem_host_put32(out + 36, (uint32_t)status->st_blocks);
    for (unsigned i = 0; i < 3; i++)
        put_time32(out + 40 + 8 * i, &status->st_mtim);
    return 0;
}

static int64_t put_stat64(struct os_call *call, uint32_t address, const struct stat *status)
{
    uint8_t *out = mem_writable(call->mem, address, STAT64_BYTES);
    if (!out) return -EFAULT;
    memset(out, 0, STAT64_BYTES);
    put64(out, status->st_dev);
    put64(out + 8, status->st_ino);
    mem_host_put32(out + 16, status->st_mode);
    mem_host_put32(out + 20, (uint32_t)status->st_nlink);
    mem_host_put32(out + 24, status->st_uid);
    mem_host_put32(out + 28, status->st_gid);
    put64(out + 32, status->st_rdev);
    put64(out + 48, (uint64_t)status->st_size);
    mem_host_put32(out + 56, (uint32_t)status->st_blksize);
    put64(out + 64, (uint64_t)status->st_blocks);
    for (unsigned i = 0; i < 3; i++)
        put_time32(out + 72 + 8 * i, &status->st_mtim);
    return 0;
}

static int64_t put_statx(struct os_call *call, uint32_t address, const struct stat *status)
{
    enum { BASIC = 0x7ff };
    uint8_t *out = mem_writable(call->mem, address, STATX_BYTES);
    if (!out) return -EFAULT;
    memset(out, 0, STATX_BYTES);
    mem_host_put32(out, BASIC);
    mem_host_put32(out + 4, (uint32_t)status->st_blksize);
    mem_host_put32(out + 16, (uint32_t)status->st_nlink);
    mem_host_put32(out + 20, status->st_uid);
    mem_host_put32(out + 24, status->st_gid);
    put16(out + 28, status->st_mode);
    put64(out + 32, status->st_ino);
    put64(out + 40, (uint64_t)status->st_size);
    put64(out + 48, (uint64_t)status->st_blocks);
    static const uint8_t times[] = {64, 96, 112};
    for (unsigned i = 0; i < sizeof times; i++) {
        put64(out + times[i], (uint64_t)status->st_mtim.tv_sec);
        mem_host_put32(out + times[i] + 8, (uint32_t)status->st_mtim.tv_nsec);
    }
    mem_host_put32(out + 128, (uint32_t)(status->st_rdev >> 8));
    mem_host_put32(out + 132, (uint32_t)(status->st_rdev & 0xff));
    mem_host_put32(out + 136, DEVICE_MAJOR);
    mem_host_put32(out + 140, DEVICE_MINOR);
    return 0;
}

typedef int64_t (*put_function)(struct os_call *call, uint32_t address, const struct stat *status);

static int64_t stat_path(struct os_call *call, uint32_t flags, put_function put)
{
    struct stat status;
    int error = look(call, (uint32_t)G_AT_FDCWD, call->arg[0], flags, &status);
    return error ? error : put(call, call->arg[1], &status);
}

static int64_t stat_descriptor(struct os_call *call, put_function put)
{
    struct stat status;
    int error = look_at_file(call, &status);
    return error ? error : put(call, call->arg[1], &status);
}

int64_t sys_stat(struct os_call *call)
{
    return stat_path(call, 0, put_stat);
}

int64_t sys_lstat(struct os_call *call)
{
    return stat_path(call, G_AT_SYMLINK_NOFOLLOW, put_stat);
}

int64_t sys_fstat(struct os_call *call)
{
    return stat_descriptor(call, put_stat);
}

int64_t sys_stat64(struct os_call *call)
{
    return stat_path(call, 0, put_stat64);
}

int64_t sys_lstat64(struct os_call *call)
{
    return stat_path(call, G_AT_SYMLINK_NOFOLLOW, put_stat64);
}

int64_t sys_fstat64(struct os_call *call)
{
    return stat_descriptor(call, put_stat64);
}

int64_t sys_fstatat64(struct os_call *call)
{
    struct stat status;
    uint32_t flags = call->arg[3];
    if (flags & ~(uint32_t)(G_AT_SYMLINK_NOFOLLOW | G_AT_NO_AUTOMOUNT | G_AT_EMPTY_PATH))
        return -EINVAL;
    int error = look(call, call->arg[0], call->arg[1], flags, &status);
    return error ? error : put_stat64(call, call->arg[2], &status);
}

int64_t sys_statx(struct os_call *call)
{
    enum { SYNC_TYPE = 0x6000 };
    struct stat status;
    uint32_t flags = call->arg[2];
    if (flags &
        ~(uint32_t)(G_AT_SYMLINK_NOFOLLOW | G_AT_NO_AUTOMOUNT | G_AT_EMPTY_PATH | SYNC_TYPE))
        return -EINVAL;
    int error = look(call, call->arg[0], call->arg[1], flags, &status);
    return error ? error : put_statx(call, call->arg[4], &status);
}

/* ---- the file system as such: one of 4 GiB, half full, whatever the host has ---- */

static int64_t put_statfs(struct os_call *call, uint32_t address, bool wide)
{
    static const uint32_t counts[] = {1 << 20, 1 << 19, 1 << 19, 1 << 18,
                                      1 << 17}; /* blocks … ffree */
    size_t size = wide ? STATFS64_BYTES : STATFS_BYTES;
    uint8_t *out = mem_writable(call->mem, address, size);
    if (!out) return -EFAULT;
    memset(out, 0, size);
    mem_host_put32(out, 0xef53); /* ext2 and its children */
    mem_host_put32(out + 4, BLOCK);
    for (unsigned i = 0; i < 5; i++) {
        if (wide)
            put64(out + 8 + 8 * i, counts[i]);
        else
            mem_host_put32(out + 8 + 4 * i, counts[i]);
    }
    mem_host_put32(out + (wide ? 56 : 36), NAME_MAX);
    mem_host_put32(out + (wide ? 60 : 40), BLOCK);
    return 0;
}

static int64_t statfs_path(struct os_call *call, uint32_t address, bool wide)
{
    struct stat status;
    int error = look(call, (uint32_t)G_AT_FDCWD, call->arg[0], 0, &status);
    return error ? error : put_statfs(call, address, wide);
}

int64_t sys_statfs(struct os_call *call)
{
    return statfs_path(call, call->arg[1], false);
}

int64_t sys_statfs64(struct os_call *call)
{
    return call->arg[1] == STATFS64_BYTES ? statfs_path(call, call->arg[2], true) : -EINVAL;
}

int64_t sys_fstatfs(struct os_call *call)
{
    return files_get(call->process->files, call->arg[0]) ? put_statfs(call, call->arg[1], false)
                                                         : -EBADF;
}

int64_t sys_fstatfs64(struct os_call *call)
{
    if (call->arg[1] != STATFS64_BYTES) return -EINVAL;
    return files_get(call->process->files, call->arg[0]) ? put_statfs(call, call->arg[2], true)
                                                         : -EBADF;
}

/* ---- access, readlink ---- */

static int may_access(const struct os_call *call, const struct place *place, int mode)
{
    (void)call;
    if (!place->exists) return -ENOENT;
    if (place->pseudo.kind != PSEUDO_NOT) {
        bool folder = place->pseudo.kind == PSEUDO_FOLDER, text = place->pseudo.kind == PSEUDO_TEXT;
        if ((mode & W_OK && (folder || text)) || (mode & X_OK && !folder)) return -EACCES;
        return 0;
    }
    int error = door_access(place, mode);
    if (error) return error;
    return mode & W_OK && !place->may_change ? -EROFS : 0;
}

static int64_t access_at(struct os_call *call, uint32_t folder, uint32_t path, uint32_t mode,
                         uint32_t flags)
{
    if (mode & ~(uint32_t)(R_OK | W_OK | X_OK)) return -EINVAL;
    if (flags & ~(uint32_t)(G_AT_EACCESS | G_AT_SYMLINK_NOFOLLOW)) return -EINVAL;
    struct place place;
    int error =
        place_of(&place, call, folder, path, flags & G_AT_SYMLINK_NOFOLLOW ? 0 : PLACE_FOLLOW);
    if (error) return error;
    bool link =
        place.exists && S_ISLNK(place.status.st_mode); /* not followed: a link may be everything */
    error = link ? 0 : may_access(call, &place, (int)mode);
    place_fini(&place);
    return error;
}

int64_t sys_access(struct os_call *call)
{
    return access_at(call, (uint32_t)G_AT_FDCWD, call->arg[0], call->arg[1], 0);
}

int64_t sys_faccessat(struct os_call *call)
{
    return access_at(call, call->arg[0], call->arg[1], call->arg[2], 0);
}

int64_t sys_faccessat2(struct os_call *call)
{
    return access_at(call, call->arg[0], call->arg[1], call->arg[2], call->arg[3]);
}

static int64_t readlink_at(struct os_call *call, uint32_t folder, uint32_t path, uint32_t out,
                           uint32_t room)
{
    char target[PATH_MAX];
    struct place place;
    if ((int32_t)room <= 0) return -EINVAL;
    int error = place_of(&place, call, folder, path, 0);
    if (error) return error;
    size_t length = 0;
    if (!place.exists)
        error = -ENOENT;
    else if (place.pseudo.kind != PSEUDO_NOT) {
        error = pseudo_link(files_fs(call->process->files), call, place.pseudo, target);
        if (!error) length = strlen(target);
    } else {
        ssize_t got = S_ISLNK(place.status.st_mode) ? door_read_link(place.found, target) : -EINVAL;
        if (got < 0)
            error = (int)got;
        else
            length = (size_t)got;
    }
    place_fini(&place);
    if (error) return error;
    if (length > room) length = room;
    void *to = mem_writable(call->mem, out, length);
    if (!to) return -EFAULT;
    memcpy(to, target, length);
    return (int64_t)length;
}

int64_t sys_readlink(struct os_call *call)
{
    return readlink_at(call, (uint32_t)G_AT_FDCWD, call->arg[0], call->arg[1], call->arg[2]);
}

int64_t sys_readlinkat(struct os_call *call)
{
    return readlink_at(call, call->arg[0], call->arg[1], call->arg[2], call->arg[3]);
}
