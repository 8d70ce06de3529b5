#include "view/view_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/named.h"

int view_file_open(struct view_file *output, const char *path, struct chil_error *err)
{
    int status = output_open(&output->output, path, err);
    output->file = NULL;
    if (status) return status;
    int fd = dup(output->output.fd); /* closed with the stream */
    output->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (output->file) return 0;
    int why = errno;
    if (fd >= 0) (void)close(fd);
    (void)output_close(&output->output, false, NULL);
    return chil_error_set(err, CHIL_EIO, "cannot write '%s': %s", path, strerror(why));
}

int view_file_close(struct view_file *output, bool good, struct chil_error *err)
{
    bool written = fflush(output->file) == 0 && !ferror(output->file);
    int why = errno;
    if (fclose(output->file) != 0 && written) {
        written = false;
        why = errno;
    }
    if (good && !written)
        (void)chil_error_set(err, CHIL_EIO, "cannot write '%s': %s", output->output.path,
                             strerror(why));
    int status = output_close(&output->output, good && written, err);
    return good && !written ? CHIL_EIO : status;
}

FILE *view_file_source(const char *path)
{
    int fd = *path ? named_open(path, NAMED_TEXT_MAX) : -1;
    return fd < 0 ? NULL : fdopen(fd, "r");
}
