/* The one door from guest paths to the host's files: every host call that takes a name of a
 * guest's, or acts on what such a name led to.
 *
 * A name is looked up once, for a descriptor (O_PATH). What is then asked or done is asked and done
 * through that descriptor, so another run that exchanges the name for a link, a device or another
 * file meanwhile changes nothing. The host never follows a symbolic link and never sees "..":
 * os_file_path.c reads links and walks them. Only making, removing and renaming act on a name; they
 * follow nothing, and act in a folder that is held by a descriptor.
 *
 * Two host features make this short, and each has a replacement for hosts without it:
 *
 *   feature                       replacement
 *   openat2 (Linux 5.6)           one openat with O_NOFOLLOW per component
 *   /proc, for /proc/self/fd/N    the name, with O_NOFOLLOW; the result is compared with what the
 *                                 descriptor says, and is ENOENT when it is another file
 */
#include "machine/os/os_file_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "machine/os/os_file_door.h"

enum { SELF_SIZE = 40, LOOK = O_PATH | O_NOFOLLOW | O_CLOEXEC };

/* ---- from names to descriptors ---- */

static int look_at(int folder, const char *path, int flags)
{
    struct open_how how = {
        .flags = (uint64_t)(LOOK | flags),
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    long fd = syscall(SYS_openat2, folder, path, &how, sizeof how);
    return fd < 0 ? -errno : (int)fd;
}

/* The same, one component after another. */
static int look_stepwise(int folder, const char *path, int flags)
{
    int at = openat(folder, ".", LOOK | O_DIRECTORY);
    while (at >= 0) {
        char name[NAME_MAX + 1];
        path += strspn(path, "/");
        size_t length = strcspn(path, "/");
        if (length > NAME_MAX) {
            (void)close(at);
            return -ENAMETOOLONG;
        }
        memcpy(name, path, length);
        name[length] = 0;
        path += length;
        bool last = !path[strspn(path, "/")];
        int next = openat(at, *name ? name : ".", LOOK | (last ? flags : O_DIRECTORY));
        int error = errno;
        (void)close(at);
        errno = error;
        if (last || next < 0) return next < 0 ? -errno : next;
        at = next;
    }
    return -errno;
}

bool door_has_openat2(int folder)
{
    int fd = look_at(folder, ".", O_DIRECTORY);
    if (fd >= 0) (void)close(fd);
    return fd >= 0;
}

bool door_has_proc(void)
{
    struct statfs status;
    return statfs("/proc/self/fd", &status) == 0 && status.f_type == PROC_SUPER_MAGIC;
}

int door_look(const struct fs *fs, int folder, const char *path, int flags)
{
    path += strspn(path, "/");
    return fs_has_openat2(fs) ? look_at(folder, *path ? path : ".", flags)
                              : look_stepwise(folder, path, flags);
}

/* ---- what a place leads to ---- */

static int target(const struct place *place)
{
    return place->found >= 0 ? place->found : place->parent;
}

/* A name of the host's for exactly what was found; NULL when the host has no /proc. */
static const char *self(const struct place *place, char name[SELF_SIZE])
{
    if (!fs_has_proc(place->fs)) return NULL;
    (void)snprintf(name, SELF_SIZE, "/proc/self/fd/%d", target(place));
    return name;
}

/* File systems whose files show or do what is the host's own: they may be mounted in many places.
 */
static bool is_of_the_kernel(int fd)
{
    static const uint32_t types[] = {
        PROC_SUPER_MAGIC, SYSFS_MAGIC,        DEBUGFS_MAGIC,      TRACEFS_MAGIC,
        SECURITYFS_MAGIC, DEVPTS_SUPER_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,
        BPF_FS_MAGIC,     EFIVARFS_MAGIC,
    };
    struct statfs status;
    if (fstatfs(fd, &status) != 0) return false;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if ((uint32_t)status.f_type == types[i]) return true;
    return false;
}

/* By name, without /proc; what has the name now must be what was found. */
static int open_by_name(const struct place *place, int flags)
{
    struct stat status;
    int fd = openat(place->parent, place->name, flags | O_NOFOLLOW);
    if (fd < 0) return -errno;
    if (fstat(fd, &status) == 0 && status.st_dev == place->status.st_dev &&
        status.st_ino == place->status.st_ino)
        return fd;
    (void)close(fd);
    return -ENOENT;
}

int door_open(const struct place *place, int flags)
{
    char room[SELF_SIZE];
    if (flags & O_PATH) {
        int again = fcntl(target(place), F_DUPFD_CLOEXEC, 3);
        return again < 0 ? -errno : again;
    }
    if (is_of_the_kernel(target(place))) return -EACCES;
    const char *name = self(place, room);
    flags |= O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    if (!name) return open_by_name(place, flags);
    int fd = open(name, flags);
    return fd < 0 ? -errno : fd;
}

int door_truncate(const struct place *place, int64_t length)
{
    int fd = door_open(place, O_WRONLY);
    if (fd < 0) return fd;
    int status = ftruncate(fd, length) == 0 ? 0 : -errno;
    (void)close(fd);
    return status;
}

/* Without /proc: fchmod wants a descriptor for reading or writing. */
static int chmod_opened(const struct place *place, mode_t mode)
{
    int fd = door_open(place, O_RDONLY);
    if (fd == -EACCES) fd = door_open(place, O_WRONLY);
    if (fd < 0) return fd;
    int status = fchmod(fd, mode) == 0 ? 0 : -errno;
    (void)close(fd);
    return status;
}

int door_chmod(const struct place *place, mode_t mode)
{
    char room[SELF_SIZE];
    const char *name = self(place, room);
    if (!name) return chmod_opened(place, mode);
    return chmod(name, mode) == 0 ? 0 : -errno;
}

/* A link at the end is not asked about, so that AT_SYMLINK_NOFOLLOW changes nothing but a race. */
int door_access(const struct place *place, int mode)
{
    char room[SELF_SIZE];
    const char *name = self(place, room);
    int failed = name ? access(name, mode)
                      : faccessat(place->parent, place->name, mode, AT_SYMLINK_NOFOLLOW);
    return failed ? -errno : 0;
}

int door_set_times(const struct place *place, const struct timespec times[2])
{
    char room[SELF_SIZE];
    const char *name = self(place, room);
    int failed = name ? utimensat(AT_FDCWD, name, times, 0)
                      : utimensat(place->parent, place->name, times, AT_SYMLINK_NOFOLLOW);
    return failed ? -errno : 0;
}

ssize_t door_read_link(int fd, char text[PATH_MAX])
{
    ssize_t length = readlinkat(fd, "", text, PATH_MAX);
    return length < 0 ? -errno : length;
}

/* ---- names in a folder ---- */

/* Without /proc, whatever has the name now is linked: it is in a folder that may be changed. */
int door_link(const struct place *from, const struct place *to)
{
    char room[SELF_SIZE];
    const char *name = self(from, room);
    int failed = name ? linkat(AT_FDCWD, name, to->parent, to->name, AT_SYMLINK_FOLLOW)
                      : linkat(from->parent, from->name, to->parent, to->name, 0);
    return failed ? -errno : 0;
}

int door_make_file(const struct place *place, int flags, mode_t mode)
{
    int fd = openat(place->parent, place->name,
                    flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);
    if (fd < 0) return -errno;
    (void)fchmod(fd, mode);
    return fd;
}

int door_make_folder(struct place *place, mode_t mode)
{
    if (mkdirat(place->parent, place->name, 0700) != 0) return -errno;
    place->found = door_look(place->fs, place->parent, place->name, O_DIRECTORY);
    if (place->found < 0 || fstat(place->found, &place->status) != 0) return 0; /* gone again */
    (void)door_chmod(place, mode);
    return 0;
}

int door_make_link(const struct place *place, const char *text)
{
    return symlinkat(text, place->parent, place->name) == 0 ? 0 : -errno;
}

int door_remove(const struct place *place, bool folder)
{
    return unlinkat(place->parent, place->name, folder ? AT_REMOVEDIR : 0) == 0 ? 0 : -errno;
}

int door_rename(const struct place *from, const struct place *to, unsigned flags)
{
    return renameat2(from->parent, from->name, to->parent, to->name, flags) == 0 ? 0 : -errno;
}
