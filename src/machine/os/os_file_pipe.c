/* Pipes between guests: a ring of bytes in the simulator, so that who waits and who goes on is
 * decided in simulated time.
 *
 * A pipe holds 64 KiB. A reader waits for the first byte, a writer for room: for all of its bytes
 * up to PIPE_BUF, which go in together as POSIX wants, for a PIPE_BUF of room when there are more.
 * Then a blocking write goes in whole, and the ring grows for it: a call that waits is made again
 * from the beginning, and bytes handed over in an earlier attempt could not be taken back. So a
 * large write ends earlier than Linux's would; no byte differs.
 */
#include "machine/os/os_file_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "machine/os/os_file.h"

enum { PIPE_ROOM = 65536, PIPE_MOST = 1 << 20, PIPE_ATOMIC = 4096, SIGNAL_PIPE = 13 };

struct pipe {
    struct os *os;
    uint8_t *ring;
    size_t size, first, used;
    unsigned readers, writers; /* open files, not descriptors */
    uint32_t number;
    char can_read, can_write; /* what tasks wait for */
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void changed(const struct pipe *pipe, const struct fs *fs, const char *what)
{
    os_wake_all(pipe->os, what);
    os_wake_all(pipe->os, fs_change(fs));
}

/* Copies between the ring and one run of bytes; the ring's part may be in two pieces. */
static void ring_take(struct pipe *pipe, uint8_t *bytes, size_t count)
{
    size_t piece = least(count, pipe->size - pipe->first);
    memcpy(bytes, pipe->ring + pipe->first, piece);
    memcpy(bytes + piece, pipe->ring, count - piece);
    pipe->first = (pipe->first + count) % pipe->size;
    pipe->used -= count;
}

static void ring_add(struct pipe *pipe, const uint8_t *bytes, size_t count)
{
    size_t end = (pipe->first + pipe->used) % pipe->size;
    size_t piece = least(count, pipe->size - end);
    memcpy(pipe->ring + end, bytes, piece);
    memcpy(pipe->ring, bytes + piece, count - piece);
    pipe->used += count;
}

static void ring_grow(struct pipe *pipe, size_t size)
{
    uint8_t *ring = base_calloc(size, 1);
    size_t used = pipe->used;
    ring_take(pipe, ring, used);
    free(pipe->ring);
    pipe->ring = ring;
    pipe->size = size;
    pipe->first = 0;
    pipe->used = used;
}

int64_t pipe_take(struct os_call *call, struct file *file, void *bytes, size_t count,
                  unsigned flags)
{
    struct pipe *pipe = file->pipe;
    size_t wanted = flags & PIPE_WHOLE ? least(count, PIPE_ROOM) : 1;
    if (!count) return 0;
    if (pipe->used < wanted && pipe->writers) {
        if (flags & PIPE_NO_WAIT && !pipe->used) return -EAGAIN;
        if (!(flags & PIPE_NO_WAIT)) return os_wait(call, &pipe->can_read, UINT64_MAX);
    }
    count = least(count, pipe->used);
    if (!count) return 0;
    if (flags & PIPE_PEEK) {
        struct pipe as_it_was = *pipe;
        ring_take(pipe, bytes, count);
        *pipe = as_it_was;
        return (int64_t)count;
    }
    ring_take(pipe, bytes, count);
    if (!pipe->used && pipe->size > PIPE_ROOM) ring_grow(pipe, PIPE_ROOM); /* as small as it was */
    changed(pipe, file->fs, &pipe->can_write);
    return (int64_t)count;
}

static unsigned wait_flags(const struct file *file)
{
    return file->flags & G_O_NONBLOCK ? PIPE_NO_WAIT : 0;
}

static int64_t pipe_read(struct os_call *call, struct file *file, void *bytes, size_t count,
                         int64_t at)
{
    return at >= 0 ? -ESPIPE : pipe_take(call, file, bytes, count, wait_flags(file));
}

int64_t pipe_give(struct os_call *call, struct file *file, struct pipe *pipe, const void *bytes,
                  size_t count, unsigned flags)
{
    if (!pipe->readers) {
        if (!(flags & PIPE_NO_SIGNAL)) (void)os_send_signal(call->os, call->process, SIGNAL_PIPE);
        return -EPIPE;
    }
    size_t room = pipe->used < PIPE_ROOM ? PIPE_ROOM - pipe->used : 0;
    if (!count) return 0;
    if (room < least(count, PIPE_ATOMIC)) {
        if (!(flags & PIPE_NO_WAIT)) return os_wait(call, &pipe->can_write, UINT64_MAX);
        if (count <= PIPE_ATOMIC || !room) return -EAGAIN;
    }
    if (flags & PIPE_NO_WAIT) count = least(count, room);
    count = least(count, PIPE_MOST);
    if (pipe->size - pipe->used < count) ring_grow(pipe, pipe->used + count);
    ring_add(pipe, bytes, count);
    changed(pipe, file->fs, &pipe->can_read);
    return (int64_t)count;
}

static int64_t pipe_write(struct os_call *call, struct file *file, const void *bytes, size_t count,
                          int64_t at)
{
    return at >= 0 ? -ESPIPE : pipe_give(call, file, file->pipe, bytes, count, wait_flags(file));
}

static void pipe_stat(struct file *file, struct stat *status)
{
    *status = (struct stat){.st_mode = S_IFIFO | 0600, .st_nlink = 1};
    file->number = file->pipe->number;
}

unsigned pipe_events(const struct pipe *pipe, bool reader)
{
    unsigned events = 0;
    if (reader) {
        if (pipe->used) events |= G_POLLIN;
        if (!pipe->writers) events |= G_POLLHUP;
    } else {
        if (pipe->used + PIPE_ATOMIC <= PIPE_ROOM) events |= G_POLLOUT;
        if (!pipe->readers) events |= G_POLLERR;
    }
    return events;
}

static unsigned pipe_poll(const struct file *file)
{
    return pipe_events(file->pipe, file_readable(file));
}

void pipe_leave(struct pipe *pipe, const struct fs *fs, bool reader)
{
    unsigned *ends = reader ? &pipe->readers : &pipe->writers;
    --*ends;
    if (!pipe->readers && !pipe->writers) {
        free(pipe->ring);
        free(pipe);
        return;
    }
    if (!*ends) changed(pipe, fs, reader ? &pipe->can_write : &pipe->can_read);
}

static void pipe_close(struct file *file)
{
    pipe_leave(file->pipe, file->fs, file_readable(file));
}

struct pipe *pipe_new(struct os *os, struct fs *fs)
{
    struct pipe *pipe = base_calloc(1, sizeof *pipe);
    pipe->os = os;
    pipe->ring = base_calloc(PIPE_ROOM, 1);
    pipe->size = PIPE_ROOM;
    pipe->number = fs_next_number(fs);
    pipe->readers = pipe->writers = 1;
    return pipe;
}

static const struct file_ops pipe_ops = {.read = pipe_read,
                                         .write = pipe_write,
                                         .stat = pipe_stat,
                                         .poll = pipe_poll,
                                         .close = pipe_close};

static int64_t make_pipe(struct os_call *call, unsigned flags)
{
    if (flags & ~(unsigned)(G_O_CLOEXEC | G_O_NONBLOCK)) return -EINVAL;
    struct os_files *files = call->process->files;
    struct fs *fs = files_fs(files);
    uint8_t *result = mem_writable(call->mem, call->arg[0], 8);
    if (!result) return -EFAULT;
    if (!fs_may_open(call, 2)) return -ENFILE;
    struct pipe *pipe = pipe_new(call->os, fs);
    struct file *reader = file_new(fs, &pipe_ops, G_O_RDONLY | (flags & G_O_NONBLOCK));
    struct file *writer = file_new(fs, &pipe_ops, G_O_WRONLY | (flags & G_O_NONBLOCK));
    reader->pipe = writer->pipe = pipe;
    return files_add_two(files, reader, writer, flags & G_O_CLOEXEC, result);
}

int64_t files_add_two(struct os_files *files, struct file *first, struct file *second,
                      bool close_on_exec, uint8_t *numbers)
{
    int one = files_add(files, first, 0, close_on_exec);
    if (one < 0) {
        file_release(second);
        return one;
    }
    int two = files_add(files, second, 0, close_on_exec);
    if (two < 0) {
        (void)files_close(files, (uint32_t)one);
        return two;
    }
    mem_host_put32(numbers, (uint32_t)one);
    mem_host_put32(numbers + 4, (uint32_t)two);
    return 0;
}

int64_t sys_pipe(struct os_call *call)
{
    return make_pipe(call, 0);
}

int64_t sys_pipe2(struct os_call *call)
{
    return make_pipe(call, call->arg[1]);
}

uint32_t pipe_waiting(const struct file *file)
{
    return file->read_ended ? 0 : (uint32_t)file->pipe->used;
}

uint32_t pipe_number(const struct file *file)
{
    return file->out ? file->number : file->pipe->number; /* the pipe of a socket may be gone */
}
