/* Output files that appear whole: a file without a name (O_TMPFILE) in the folder of the path,
 * which gets its name when it is complete.
 *
 * A command opens its output before it runs a program: a wrong path is an error at once, and the
 * program, which may read the same folder, does not see the file. A file system without nameless
 * files, or a host without /proc, which gives them names, gets a file with a temporary name
 * instead.
 */
#include "view/view_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(const struct view_file *output, int why, struct chil_error *err)
{
    return chil_error_set(err, CHIL_EIO, "cannot write '%s': %s", output->path, strerror(why));
}

/* A file in the folder of `path`, without a name or, in output->temporary, with one; -1 with errno.
 */
static int open_temporary(struct view_file *output)
{
    if (access("/proc/self/fd", X_OK) == 0) {
        char *copy = strdup(output->path);
        int fd = copy ? open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600) : -1;
        free(copy);
        if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return fd;
    }
    if (asprintf(&output->temporary, "%s.XXXXXX", output->path) < 0) {
        output->temporary = NULL;
        return -1;
    }
    return mkstemp(output->temporary);
}

int view_file_open(struct view_file *output, const char *path, struct chil_error *err)
{
    struct stat info;
    *output = (struct view_file){.path = path};
    if (lstat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        if (S_ISDIR(info.st_mode)) return fail(output, EISDIR, err);
        output->file = fopen(path, "a"); /* /dev/stderr may be a file, not to be cut */
        return output->file ? 0 : fail(output, errno, err);
    }
    int fd = open_temporary(output);
    output->file = fd < 0 ? NULL : fdopen(fd, "w");
    output->replaces = true;
    if (output->file) return 0;
    int why = errno;
    free(output->temporary);
    return fail(output, why, err);
}

/* Gives a nameless file a temporary name. */
static bool name_it(struct view_file *output, int fd)
{
    char self[40];
    if (output->temporary) return true;
    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    if (asprintf(&output->temporary, "%s.%ld", output->path, (long)getpid()) < 0) {
        output->temporary = NULL;
        return false;
    }
    return linkat(AT_FDCWD, self, AT_FDCWD, output->temporary, AT_SYMLINK_FOLLOW) == 0;
}

int view_file_close(struct view_file *output, bool good, struct chil_error *err)
{
    int fd = fileno(output->file);
    bool written = fflush(output->file) == 0 && !ferror(output->file);
    if (output->replaces)
        written = written && good && fchmod(fd, 0644) == 0 && fsync(fd) == 0 &&
                  name_it(output, fd) && rename(output->temporary, output->path) == 0;
    int why = errno;
    if (fclose(output->file) != 0 && written) {
        written = false;
        why = errno;
    }
    if (output->temporary && !written) (void)unlink(output->temporary);
    free(output->temporary);
    return written || !good ? 0 : fail(output, why, err);
}
