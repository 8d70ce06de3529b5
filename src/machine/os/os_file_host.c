/* Files of the host: regular ones, and the simulator's own standard input, output and error.
 *
 * Offsets are the host descriptor's, so what POSIX says of sharing them holds by itself, also
 * towards the shell that started the simulator. O_APPEND and O_NONBLOCK are kept here and not set
 * on the host's descriptor, which others share.
 *
 * Standard output and error always look like pipes, never like a terminal or a file, and standard
 * input like a pipe unless it is a regular file: otherwise a program would buffer differently and
 * execute other instructions with its output in a file than on a screen. The price: output to a
 * screen comes in blocks, as in a pipe. When the reader of the simulator's output is gone, the
 * guest gets SIGPIPE; the program around the simulator ignores its own.
 */
#include "machine/os/os_file_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

enum { SIGNAL_PIPE = 13, WAIT_MILLISECONDS = 100 };

/* Waits until there is input, or until the caller of the run has had enough. */
static bool wait_for_input(struct os_call *call, const struct file *file)
{
    struct pollfd ready = {.fd = file->host, .events = POLLIN};
    for (;;) {
        int found = poll(&ready, 1, WAIT_MILLISECONDS);
        if (found > 0 || (found < 0 && errno != EINTR)) return true;
        if (!os_host_waits(call->os)) return false;
    }
}

static int64_t host_read(struct os_call *call, struct file *file, void *bytes, size_t count,
                         int64_t at)
{
    if (file->borrowed && file->flags & G_O_NONBLOCK) {
        struct pollfd ready = {.fd = file->host, .events = POLLIN};
        if (poll(&ready, 1, 0) == 0) return -EAGAIN;
    }
    if (call && at < 0 && !wait_for_input(call, file)) return -EINTR;
    ssize_t done;
    do
        done = at < 0 ? read(file->host, bytes, count) : pread(file->host, bytes, count, at);
    while (done < 0 && errno == EINTR);
    return done < 0 ? -errno : done;
}

/* Where the next write to a regular file goes. */
static int64_t where(const struct file *file, int64_t at)
{
    struct stat status;
    if (file->flags & G_O_APPEND)
        return fstat(file->host, &status) == 0 ? (int64_t)status.st_size : 0;
    return at >= 0 ? at : lseek(file->host, 0, SEEK_CUR);
}

static int64_t host_write(struct os_call *call, struct file *file, const void *bytes, size_t count,
                          int64_t at)
{
    off_t back = -1;
    if (call) {
        int64_t place = file->borrowed ? -1 : where(file, at),
                may = os_may_write(call, place, count);
        if (may < 0) return may;
        count = (size_t)may;
    }
    if (file->flags & G_O_APPEND) { /* pwrite appends, too, and leaves the offset where it was */
        if (at >= 0) back = lseek(file->host, 0, SEEK_CUR);
        at = -1;
        (void)lseek(file->host, 0, SEEK_END); /* a pipe has no end to go to */
    }
    ssize_t done;
    do
        done = at < 0 ? write(file->host, bytes, count) : pwrite(file->host, bytes, count, at);
    while (done < 0 && errno == EINTR && (!call || os_host_waits(call->os)));
    int error = errno;
    if (back >= 0) (void)lseek(file->host, back, SEEK_SET);
    if (done < 0) {
        if (error == EPIPE && call) (void)os_send_signal(call->os, call->process, SIGNAL_PIPE);
        return -error;
    }
    fs_touch(call, file->inode);
    if (call) os_wrote(call->os, done);
    return done;
}

/* The simulator's own output and error, which several nodes may share. */
static int64_t stream_write(struct os_call *call, struct file *file, const void *bytes,
                            size_t count, int64_t at)
{
    int64_t done;
    bool output = file->host == STDOUT_FILENO || file->host == STDERR_FILENO;
    if (at >= 0 && output) return -ESPIPE; /* it looks like a pipe, always */
    if (!call || !output || !os_output(call->os, file->host, bytes, count, &done))
        return host_write(call, file, bytes, count, at);
    if (done == -EPIPE) (void)os_send_signal(call->os, call->process, SIGNAL_PIPE);
    return done;
}

static int64_t host_seek(struct file *file, int64_t offset, int whence)
{
    off_t at = lseek(file->host, offset, whence);
    return at < 0 ? -errno : at;
}

static void host_stat(struct file *file, struct stat *status)
{
    if (fstat(file->host, status) != 0) *status = (struct stat){.st_mode = S_IFREG};
}

static int64_t stream_seek(struct file *file, int64_t offset, int whence)
{
    struct stat status;
    bool regular = (file->flags & G_O_ACCESS) == G_O_RDONLY && fstat(file->host, &status) == 0 &&
                   S_ISREG(status.st_mode);
    return regular ? host_seek(file, offset, whence) : -ESPIPE;
}

static void stream_stat(struct file *file, struct stat *status)
{
    if ((file->flags & G_O_ACCESS) == G_O_RDONLY && fstat(file->host, status) == 0 &&
        S_ISREG(status->st_mode)) {
        file->inode = fs_inode(file->fs, status);
        return;
    }
    *status = (struct stat){.st_mode = S_IFIFO | 0600, .st_nlink = 1};
}

const struct file_ops file_host_ops = {
    .read = host_read, .write = host_write, .seek = host_seek, .stat = host_stat};

static const struct file_ops stream_ops = {
    .read = host_read, .write = stream_write, .seek = stream_seek, .stat = stream_stat};

struct file *file_of_host(struct fs *fs, int host, unsigned flags)
{
    int mode = fcntl(host, F_GETFL);
    if (mode < 0 || mode & O_PATH) return NULL; /* closed */
    struct file *file = file_new(fs, &stream_ops, flags);
    file->host = host;
    file->borrowed = true;
    file->number = fs_next_number(fs);
    return file;
}
