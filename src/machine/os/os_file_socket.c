/* Pairs of connected sockets, between processes of one run: socketpair(AF_UNIX, SOCK_STREAM).
 *
 * A pair is two pipes (os_file_pipe.c), one for each direction. No socket of the host is made, and
 * there is no other way to get one: socket() is EAFNOSUPPORT. Left out: datagrams, descriptors as
 * messages (SCM_RIGHTS), out-of-band data, timeouts of sockets; a peer that closes with unread
 * bytes is an end of file, not ECONNRESET. */
#include "machine/os/os_file_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "machine/os/os_file.h"

enum {
    G_AF_UNIX = 1,
    G_SOCK_STREAM = 1,
    G_SOCK_NONBLOCK = G_O_NONBLOCK,
    G_SOCK_CLOEXEC = G_O_CLOEXEC
};
enum {
    MESSAGE_OOB = 1,
    MESSAGE_PEEK = 2,
    MESSAGE_DONTWAIT = 0x40,
    MESSAGE_WAITALL = 0x100,
    MESSAGE_NOSIGNAL = 0x4000,
    MESSAGE_CLOEXEC = 0x40000000 /* of descriptors, of which there are none */
};
enum { SHUT_READ, SHUT_WRITE, SHUT_BOTH, EVENT_PEER_CLOSED = 0x2000, VECTORS = 1024, VECTOR = 8 };

static unsigned waits(const struct file *file, uint32_t flags)
{
    return (file->flags & G_O_NONBLOCK || flags & MESSAGE_DONTWAIT ? PIPE_NO_WAIT : 0) |
           (flags & MESSAGE_PEEK ? PIPE_PEEK : 0) | (flags & MESSAGE_WAITALL ? PIPE_WHOLE : 0) |
           (flags & MESSAGE_NOSIGNAL ? PIPE_NO_SIGNAL : 0);
}

static int64_t take(struct os_call *call, struct file *file, void *bytes, size_t count,
                    uint32_t flags)
{
    if (file->read_ended) return 0;
    return pipe_take(call, file, bytes, count, waits(file, flags));
}

static int64_t give(struct os_call *call, struct file *file, const void *bytes, size_t count,
                    uint32_t flags)
{
    enum { SIGNAL_PIPE = 13 };
    if (!file->write_ended)
        return pipe_give(call, file, file->out, bytes, count, waits(file, flags));
    if (!(flags & MESSAGE_NOSIGNAL)) (void)os_send_signal(call->os, call->process, SIGNAL_PIPE);
    return -EPIPE;
}

static int64_t socket_read(struct os_call *call, struct file *file, void *bytes, size_t count,
                           int64_t at)
{
    return at >= 0 ? -ESPIPE : take(call, file, bytes, count, 0);
}

static int64_t socket_write(struct os_call *call, struct file *file, const void *bytes,
                            size_t count, int64_t at)
{
    return at >= 0 ? -ESPIPE : give(call, file, bytes, count, 0);
}

static void socket_stat(struct file *file, struct stat *status)
{
    (void)file;
    *status = (struct stat){.st_mode = S_IFSOCK | 0777, .st_nlink = 1};
}

/* A peer that has closed can be read to the end: that does not wait. */
static unsigned socket_poll(const struct file *file)
{
    unsigned in = file->read_ended ? G_POLLHUP : pipe_events(file->pipe, true);
    unsigned out = file->write_ended ? G_POLLERR : pipe_events(file->out, false);
    unsigned events = (in & G_POLLIN) | (out & G_POLLOUT);
    if (in & G_POLLHUP) events |= G_POLLIN | EVENT_PEER_CLOSED;
    if (out & G_POLLERR) events |= G_POLLOUT;
    return (in & G_POLLHUP && out & G_POLLERR) ? events | G_POLLHUP : events;
}

static void end_reading(struct file *file)
{
    if (!file->read_ended) pipe_leave(file->pipe, file->fs, true);
    file->read_ended = true;
}

static void end_writing(struct file *file)
{
    if (!file->write_ended) pipe_leave(file->out, file->fs, false);
    file->write_ended = true;
}

static void socket_close(struct file *file)
{
    end_reading(file);
    end_writing(file);
}

static const struct file_ops socket_ops = {.read = socket_read,
                                           .write = socket_write,
                                           .stat = socket_stat,
                                           .poll = socket_poll,
                                           .close = socket_close};

int64_t sys_socketpair(struct os_call *call)
{
    unsigned flags = call->arg[1] & (unsigned)(G_SOCK_NONBLOCK | G_SOCK_CLOEXEC);
    if (call->arg[0] != G_AF_UNIX) return sys_no_socket(call);
    if ((call->arg[1] & ~flags) != G_SOCK_STREAM || call->arg[2]) {
        os_warn_once(call->os, "socketpair",
                     "the program asked for a pair of sockets that are no streams; only "
                     "SOCK_STREAM is there (EPROTONOSUPPORT)");
        return -EPROTONOSUPPORT;
    }
    struct os_files *files = call->process->files;
    struct fs *fs = files_fs(files);
    uint8_t *result = mem_writable(call->mem, call->arg[3], 8);
    if (!result) return -EFAULT;
    if (!fs_may_open(call, 2)) return -ENFILE;
    struct file *one = file_new(fs, &socket_ops, G_O_RDWR | (flags & G_SOCK_NONBLOCK));
    struct file *two = file_new(fs, &socket_ops, G_O_RDWR | (flags & G_SOCK_NONBLOCK));
    one->pipe = two->out = pipe_new(call->os, fs);
    two->pipe = one->out = pipe_new(call->os, fs);
    one->number = fs_next_number(fs);
    two->number = fs_next_number(fs);
    return files_add_two(files, one, two, flags & G_SOCK_CLOEXEC, result);
}

/* --- Calls of sockets ------------------------------------------------------------------------ */

static int get_socket(const struct os_call *call, struct file **file)
{
    *file = files_get(call->process->files, call->arg[0]);
    return !*file ? -EBADF : !(*file)->out ? -ENOTSOCK : 0;
}

int64_t sys_send(struct os_call *call)
{
    struct file *file;
    int status = get_socket(call, &file);
    if (status) return status;
    const void *bytes = mem_readable(call->mem, call->arg[1], call->arg[2]);
    if (!bytes && call->arg[2]) return -EFAULT;
    if (call->arg[3] & MESSAGE_OOB) return -EOPNOTSUPP;
    return give(call, file, bytes, call->arg[2], call->arg[3]);
}

/* The peer has no name: its address has no bytes. `at`: where its length is; 0: not wanted. */
static bool put_no_address(const struct os_call *call, uint32_t at)
{
    return !at || mem_put32(call->mem, at, 0);
}

static int64_t receive(struct os_call *call, uint32_t length_at)
{
    struct file *file;
    int status = get_socket(call, &file);
    if (status) return status;
    void *bytes = mem_writable(call->mem, call->arg[1], call->arg[2]);
    if (!bytes && call->arg[2]) return -EFAULT;
    if (call->arg[3] & MESSAGE_OOB) return -EINVAL;
    if (!put_no_address(call, length_at)) return -EFAULT;
    return take(call, file, bytes, call->arg[2], call->arg[3]);
}

int64_t sys_recv(struct os_call *call)
{
    return receive(call, 0);
}

int64_t sys_recvfrom(struct os_call *call)
{
    return receive(call, call->arg[4] ? call->arg[5] : 0);
}

/* A message's buffers: struct msghdr has name, its length, vector, its count, control, its length,
 * flags. */
enum {
    VECTOR_AT = 8,
    COUNT_AT = 12,
    CONTROL_AT = 16,
    CONTROL_LENGTH_AT = 20,
    FLAGS_AT = 24,
    HEADER = 28
};

/* The vector of a message, and how many bytes it holds; NULL: *status says why. */
static const uint8_t *message_vector(const struct os_call *call, bool writable, unsigned *count,
                                     size_t *total, int64_t *status)
{
    const uint8_t *header = mem_readable(call->mem, call->arg[1], HEADER);
    *status = -EFAULT;
    if (!header) return NULL;
    *count = mem_host_get32(header + COUNT_AT);
    if (*count > VECTORS) {
        *status = -EMSGSIZE;
        return NULL;
    }
    const uint8_t *vector =
        mem_readable(call->mem, mem_host_get32(header + VECTOR_AT), (uint64_t)*count * VECTOR);
    *total = 0;
    for (unsigned i = 0; vector && i < *count; i++) {
        uint32_t address = mem_host_get32(vector + (size_t)i * VECTOR),
                 length = mem_host_get32(vector + (size_t)i * VECTOR + 4);
        bool there = writable ? mem_writable(call->mem, address, length) != NULL
                              : mem_readable(call->mem, address, length) != NULL;
        if (length && !there) return NULL;
        *total += length;
    }
    *status = *total > INT32_MAX ? -EINVAL : 0;
    return *status ? NULL : vector;
}

/* Copies between the vector's buffers and `bytes`. */
static void move_message(const struct os_call *call, const uint8_t *vector, uint8_t *bytes,
                         size_t count, bool to_guest)
{
    for (size_t done = 0; done < count; vector += VECTOR) {
        size_t length = mem_host_get32(vector + 4);
        uint8_t *guest = mem_host(call->mem, mem_host_get32(vector));
        if (length > count - done) length = count - done;
        if (to_guest)
            memcpy(guest, bytes + done, length);
        else
            memcpy(bytes + done, guest, length);
        done += length;
    }
}

int64_t sys_sendmsg(struct os_call *call)
{
    struct file *file;
    unsigned count;
    size_t total;
    int64_t status = get_socket(call, &file);
    if (status) return status;
    const uint8_t *vector = message_vector(call, false, &count, &total, &status);
    if (!vector) return status;
    const uint8_t *header = mem_readable(call->mem, call->arg[1], HEADER);
    if (mem_host_get32(header + CONTROL_AT) && mem_host_get32(header + CONTROL_LENGTH_AT)) {
        os_warn_once(
            call->os, "sendmsg",
            "the program sent a descriptor to another process; that is not there (EINVAL)");
        return -EINVAL;
    }
    uint8_t *bytes = base_calloc(total + 1, 1);
    move_message(call, vector, bytes, total, false);
    status = give(call, file, bytes, total, call->arg[2]);
    free(bytes);
    return status;
}

int64_t sys_recvmsg(struct os_call *call)
{
    struct file *file;
    unsigned count;
    size_t total;
    int64_t status = get_socket(call, &file);
    if (status) return status;
    const uint8_t *vector = message_vector(call, true, &count, &total, &status);
    uint8_t *header = mem_writable(call->mem, call->arg[1], HEADER);
    if (!vector || !header) return vector ? -EFAULT : status;
    uint8_t *bytes = base_calloc(total + 1, 1);
    status = take(call, file, bytes, total, call->arg[2] & ~(uint32_t)MESSAGE_CLOEXEC);
    if (status >= 0) {
        move_message(call, vector, bytes, (size_t)status, true);
        mem_host_put32(header + 4, 0); /* no name, no control, no flags */
        mem_host_put32(header + CONTROL_LENGTH_AT, 0);
        mem_host_put32(header + FLAGS_AT, 0);
    }
    free(bytes);
    return status;
}

int64_t sys_shutdown(struct os_call *call)
{
    struct file *file;
    int status = get_socket(call, &file);
    if (status) return status;
    if (call->arg[1] > SHUT_BOTH) return -EINVAL;
    if (call->arg[1] != SHUT_WRITE) end_reading(file);
    if (call->arg[1] != SHUT_READ) end_writing(file);
    return 0;
}

/* Its own name, and its peer's: the family without a name. */
int64_t sys_getsockname(struct os_call *call)
{
    struct file *file;
    uint32_t room;
    int status = get_socket(call, &file);
    if (status) return status;
    if (!mem_get32(call->mem, call->arg[2], &room)) return -EFAULT;
    if (room > INT32_MAX) return -EINVAL;
    uint8_t *name = room >= 2 ? mem_writable(call->mem, call->arg[1], 2) : NULL;
    if (room >= 2 && !name) return -EFAULT;
    if (name) {
        name[0] = 0;
        name[1] = G_AF_UNIX;
    }
    return mem_put32(call->mem, call->arg[2], 2) ? 0 : -EFAULT;
}

int64_t sys_getsockopt(struct os_call *call)
{
    enum { SOCKET_LEVEL = 1, TYPE = 3, ERROR = 4, ACCEPTS = 30, PROTOCOL = 38, DOMAIN = 39 };
    struct file *file;
    uint32_t room, value = 0;
    int status = get_socket(call, &file);
    if (status) return status;
    if (call->arg[1] != SOCKET_LEVEL) return -EOPNOTSUPP;
    switch (call->arg[2]) {
    case TYPE: value = G_SOCK_STREAM; break;
    case DOMAIN: value = G_AF_UNIX; break;
    case ERROR:
    case ACCEPTS:
    case PROTOCOL: break;
    default: return -ENOPROTOOPT;
    }
    if (!mem_get32(call->mem, call->arg[4], &room)) return -EFAULT;
    if (room < 4) return -EINVAL;
    return mem_put32(call->mem, call->arg[3], value) && mem_put32(call->mem, call->arg[4], 4)
               ? 0
               : -EFAULT;
}
