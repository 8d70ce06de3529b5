/* Files that commands write: a file without a name in the place's folder, which gets its name when
 * it is whole.
 *
 * Commands open their output before they run a program, so that a wrong path is told at once; the
 * program, which may look into the same folder, sees nothing of it. Where the file system has no
 * nameless files, a temporary name is used.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"

static int fail(const struct cmd_output *output, int why)
{
    return cmd_fail(output->command, "cannot write '%s': %s", output->path, strerror(why));
}

/* A file in the folder of `path`, without a name or, in output->temporary, with one; -1 with errno.
 */
static int open_temporary(struct cmd_output *output)
{
    char *copy = strdup(output->path);
    int fd = copy ? open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600) : -1;
    free(copy);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return fd;
    if (asprintf(&output->temporary, "%s.XXXXXX", output->path) < 0) {
        output->temporary = NULL;
        return -1;
    }
    return mkstemp(output->temporary);
}

int cmd_output_open(struct cmd_output *output, const char *command, const char *path)
{
    struct stat info;
    *output = (struct cmd_output){.command = command, .path = path};
    if (lstat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        if (S_ISDIR(info.st_mode)) return fail(output, EISDIR);
        output->file = fopen(path, "a"); /* /dev/stderr may be a file, not to be cut */
        return output->file ? 0 : fail(output, errno);
    }
    int fd = open_temporary(output);
    output->file = fd < 0 ? NULL : fdopen(fd, "w");
    output->replaces = true;
    if (output->file) return 0;
    int why = errno;
    free(output->temporary);
    return fail(output, why);
}

/* Gives a nameless file a temporary name. */
static bool name_it(struct cmd_output *output, int fd)
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

int cmd_output_close(struct cmd_output *output, bool good)
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
    return written || !good ? 0 : fail(output, why);
}
