#include "base/named.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_usable(const struct stat *status, uint64_t most)
{
    errno = S_ISREG(status->st_mode) ? EFBIG : EINVAL;
    return S_ISREG(status->st_mode) && (uint64_t)status->st_size <= most;
}

/* Looked at before it is opened, because opening a device may already do something, and after,
 * because another file may have the name by then. */
int named_open(const char *path, uint64_t most)
{
    struct stat status;
    if (stat(path, &status) != 0 || !is_usable(&status, most)) return -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return -1;
    if (fstat(fd, &status) == 0 && is_usable(&status, most)) return fd;
    int why = errno;
    (void)close(fd);
    errno = why;
    return -1;
}
