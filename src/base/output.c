#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum { TRIES = 1000 };

static int fail(struct output *output, int why, struct chil_error *err)
{
    int status =
        chil_error_set(err, CHIL_EIO, "cannot write '%s': %s", output->path, strerror(why));
    if (output->folder >= 0) (void)close(output->folder);
    free(output->path);
    return status;
}

/* The folder of output->path, and the name in it; false with errno. */
static bool open_folder(struct output *output)
{
    char *slash = strrchr(output->path, '/');
    output->name = slash ? slash + 1 : output->path;
    if (!*output->name) {
        errno = slash ? EISDIR : ENOENT;
        return false;
    }
    if (!slash) {
        output->folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    } else {
        char *folder = strndup(output->path, slash == output->path ? 1 : slash - output->path);
        if (!folder) return false;
        output->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
        free(folder);
    }
    return output->folder >= 0;
}

static bool is_of_the_system(const char *path)
{
    return strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
}

/* A temporary name that no file has: `make` returns a descriptor or 0, or -1 with errno. */
static int with_name(struct output *output, int make(struct output *output))
{
    int result = -1;
    for (unsigned n = 0; n < TRIES; n++) {
        (void)snprintf(output->temporary, sizeof output->temporary, ".%.255s.%ld.%u", output->name,
                       (long)getpid(), n);
        result = make(output);
        if (result >= 0) return result;
        if (errno != EEXIST) break;
    }
    *output->temporary = 0;
    return result;
}

static int make_named(struct output *output)
{
    return openat(output->folder, output->temporary,
                  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
}

static int give_name(const struct output *output, const char *name)
{
    char self[40];
    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", output->fd);
    return linkat(AT_FDCWD, self, output->folder, name, AT_SYMLINK_FOLLOW);
}

static int link_temporary(struct output *output)
{
    return give_name(output, output->temporary);
}

static int open_new(struct output *output)
{
    if (access("/proc/self/fd", X_OK) == 0) {
        int fd = openat(output->folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
        if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT)) return fd;
    }
    return with_name(output, make_named);
}

int output_open(struct output *output, const char *path, struct chil_error *err)
{
    struct stat status;
    *output = (struct output){.path = strdup(path), .fd = -1, .folder = -1};
    if (!output->path || !open_folder(output)) return fail(output, errno, err);
    bool exists = fstatat(output->folder, output->name, &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (exists && S_ISDIR(status.st_mode)) return fail(output, EISDIR, err);
    bool is_link = exists && S_ISLNK(status.st_mode);
    output->in_place = exists && (is_link ? is_of_the_system(path) : !S_ISREG(status.st_mode));
    /* /dev/stderr may be a file, not to be cut */
    if (output->in_place)
        output->fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
    else
        output->fd = open_new(output);
    if (output->fd < 0) return fail(output, errno, err);
    if (exists && S_ISREG(status.st_mode)) output->mode = status.st_mode & 0777;
    return 0;
}

/* The name is on disk when its folder is. */
static void sync_folder(const struct output *output)
{
    int fd = openat(output->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    (void)fsync(fd);
    (void)close(fd);
}

/* Gives the complete file its name, in one step. */
static bool publish(struct output *output)
{
    if (output->mode && fchmod(output->fd, output->mode) != 0) return false;
    if (fsync(output->fd) != 0) return false;
    if (!*output->temporary) {
        if (!output->mode && give_name(output, output->name) == 0) return true;
        if (with_name(output, link_temporary) < 0) return false;
    }
    if (renameat(output->folder, output->temporary, output->folder, output->name) != 0)
        return false;
    *output->temporary = 0;
    return true;
}

int output_close(struct output *output, bool good, struct chil_error *err)
{
    bool written = good && (output->in_place || publish(output));
    int why = errno;
    if (*output->temporary) (void)unlinkat(output->folder, output->temporary, 0);
    if (written && !output->in_place) sync_folder(output);
    if (close(output->fd) != 0 && written) {
        written = false;
        why = errno;
    }
    if (good && !written) return fail(output, why, err);
    (void)close(output->folder);
    free(output->path);
    return 0;
}
