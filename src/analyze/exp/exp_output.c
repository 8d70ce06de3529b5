/* Writes files atomically: a temporary name in the same folder, fsync, rename. */
#include "analyze/exp/exp_cube.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(const char *path, int why, struct chil_error *err)
{
    return chil_error_set(err, CHIL_EIO, "cannot write '%s': %s", path, strerror(why));
}

int exp_output_open(struct exp_output *output, const char *path, struct chil_error *err)
{
    struct stat info;
    *output = (struct exp_output){.path = path, .fd = -1};
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        if (S_ISDIR(info.st_mode)) return fail(path, EISDIR, err);
        output->fd = open(path, O_WRONLY | O_CLOEXEC);
        return output->fd < 0 ? fail(path, errno, err) : 0;
    }
    if (asprintf(&output->temporary, "%s.XXXXXX", path) < 0) {
        output->temporary = NULL;
        return fail(path, ENOMEM, err);
    }
    output->fd = mkostemp(output->temporary, O_CLOEXEC);
    if (output->fd >= 0) return 0;
    int why = errno;
    free(output->temporary);
    return fail(path, why, err);
}

/* The name is on disk when its folder is. */
static void sync_folder(const char *path)
{
    char *copy = strdup(path);
    int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
    free(copy);
}

int exp_output_close(struct exp_output *output, int status, struct chil_error *err)
{
    int why = 0;
    if (!output->temporary) {
        if (close(output->fd) != 0) why = errno;
        return status == 0 && why ? fail(output->path, why, err) : status;
    }
    if (status == 0 && (fchmod(output->fd, 0644) != 0 || fsync(output->fd) != 0)) why = errno;
    if (close(output->fd) != 0 && !why) why = errno;
    if (status == 0 && !why && rename(output->temporary, output->path) != 0) why = errno;
    if (status != 0 || why)
        (void)unlink(output->temporary);
    else
        sync_folder(output->path);
    free(output->temporary);
    return status == 0 && why ? fail(output->path, why, err) : status;
}
