/* Reading, writing, seeking, copying and cutting files.
 *
 * A buffer that is only partly in reach is used as far as it is, as Linux does; EFAULT is for one
 * that begins out of it. 64-bit arguments come in aligned register pairs, high half first: r3 r4,
 * r5 r6, r7 r8 are arg[0..1], [2..3], [4..5]; but preadv and _llseek take their halves as two
 * separate words, low first and high first respectively.
 */
#include "machine/os/os_file_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "machine/os/os_file.h"
#include "machine/os/os_file_door.h"

enum { IOV_MAX_GUEST = 1024, IOV_SIZE = 8, COPY_ROOM = 65536 };

/* ---- one buffer ---- */

/* The host address of a guest buffer and in *count how much of it may be used; NULL when nothing.
 */
static void *reach(struct mem *mem, uint32_t address, uint32_t *count, bool to_write)
{
    if (*count > G_RW_MAX) *count = G_RW_MAX;
    for (uint32_t length = *count;;) {
        const void *all =
            to_write ? mem_writable(mem, address, length) : mem_readable(mem, address, length);
        if (all) {
            *count = length;
            return mem_host(mem, address);
        }
        uint64_t done = 0;
        while (done < length) {
            uint32_t step = MEM_PAGE - ((address + (uint32_t)done) & (MEM_PAGE - 1));
            uint32_t at = address + (uint32_t)done;
            if (at < address || !(to_write ? mem_writable(mem, at, 1) : mem_readable(mem, at, 1)))
                break;
            done += step;
        }
        if (!done || done >= length) return NULL;
        length = (uint32_t)done;
    }
}

static int64_t move(struct os_call *call, struct file *file, uint32_t address, uint32_t count,
                    int64_t at, bool write)
{
    if (write ? !file->ops->write : !file->ops->read) return -EINVAL;
    void *bytes = reach(call->mem, address, &count, !write);
    if (!bytes) return -EFAULT;
    return write ? file->ops->write(call, file, bytes, count, at)
                 : file->ops->read(call, file, bytes, count, at);
}

/* The file of arg[0], when it may be read (written). */
static struct file *opened(const struct os_call *call, bool write)
{
    struct file *file = files_get(call->process->files, call->arg[0]);
    return file && (write ? file_writable(file) : file_readable(file)) ? file : NULL;
}

static int64_t move_one(struct os_call *call, bool write, int64_t at)
{
    struct file *file = opened(call, write);
    if (!file) return -EBADF;
    return move(call, file, call->arg[1], call->arg[2], at, write);
}

int64_t sys_read(struct os_call *call)
{
    return move_one(call, false, -1);
}

int64_t sys_write(struct os_call *call)
{
    return move_one(call, true, -1);
}

static int64_t move_at(struct os_call *call, bool write)
{
    int64_t at = (int64_t)os_pair(call->arg[4], call->arg[5]);
    if (at < 0) return -EINVAL;
    const struct file *file = opened(call, write);
    if (file && (!file->ops->seek || (write && file->borrowed))) return -ESPIPE;
    return move_one(call, write, at);
}

int64_t sys_pread64(struct os_call *call)
{
    return move_at(call, false);
}

int64_t sys_pwrite64(struct os_call *call)
{
    return move_at(call, true);
}

/* ---- vectors ---- */

/* A pipe takes what writev gives in one piece, so that a wait in the middle cannot split it. */
static int64_t write_gathered(struct os_call *call, struct file *file, const uint8_t *vector,
                              unsigned count)
{
    uint64_t total = 0, done = 0;
    for (unsigned i = 0; i < count; i++) {
        uint32_t address = mem_host_get32(vector + (size_t)i * IOV_SIZE);
        uint32_t length = mem_host_get32(vector + (size_t)i * IOV_SIZE + 4);
        if (!mem_readable(call->mem, address, length)) return -EFAULT;
        total += length;
    }
    if (total > G_RW_MAX) return -EINVAL;
    uint8_t *bytes = base_calloc(total, 1);
    for (unsigned i = 0; i < count; i++) {
        uint32_t length = mem_host_get32(vector + (size_t)i * IOV_SIZE + 4);
        memcpy(bytes + done, mem_host(call->mem, mem_host_get32(vector + (size_t)i * IOV_SIZE)),
               length);
        done += length;
    }
    int64_t result = file->ops->write(call, file, bytes, total, -1);
    free(bytes);
    return result;
}

static int64_t move_vector(struct os_call *call, bool write, int64_t at)
{
    struct file *file = opened(call, write);
    unsigned count = call->arg[2];
    if (!file) return -EBADF;
    if (at >= 0 && (!file->ops->seek || (write && file->borrowed))) return -ESPIPE;
    if (count > IOV_MAX_GUEST) return -EINVAL;
    const uint8_t *vector = mem_readable(call->mem, call->arg[1], (uint64_t)count * IOV_SIZE);
    if (!vector) return -EFAULT;
    if (write && file->pipe) return write_gathered(call, file, vector, count);
    int64_t total = 0;
    for (unsigned i = 0; i < count; i++) {
        uint32_t address = mem_host_get32(vector + (size_t)i * IOV_SIZE);
        uint32_t length = mem_host_get32(vector + (size_t)i * IOV_SIZE + 4);
        if (!length) continue;
        if (length > G_RW_MAX - (uint64_t)total) length = (uint32_t)(G_RW_MAX - (uint64_t)total);
        /* What a pipe still has may be taken, but there is no waiting for more once something is
         * there. */
        if (total && file->pipe && !(file->ops->poll(file) & G_POLLIN)) break;
        int64_t done = move(call, file, address, length, at, write);
        if (done < 0) return total ? total : done;
        total += done;
        if (at >= 0) at += done;
        if (done < length) break;
    }
    return total;
}

int64_t sys_readv(struct os_call *call)
{
    return move_vector(call, false, -1);
}

int64_t sys_writev(struct os_call *call)
{
    return move_vector(call, true, -1);
}

static int64_t move_vector_at(struct os_call *call, bool write, bool or_here)
{
    int64_t at = (int64_t)os_pair(call->arg[4], call->arg[3]);
    if (at < 0 && !(or_here && at == -1)) return -EINVAL;
    return move_vector(call, write, at);
}

int64_t sys_preadv(struct os_call *call)
{
    return move_vector_at(call, false, false);
}

int64_t sys_pwritev(struct os_call *call)
{
    return move_vector_at(call, true, false);
}

int64_t sys_preadv2(struct os_call *call)
{
    return call->arg[5] ? -EOPNOTSUPP : move_vector_at(call, false, true);
}

int64_t sys_pwritev2(struct os_call *call)
{
    return call->arg[5] ? -EOPNOTSUPP : move_vector_at(call, true, true);
}

/* ---- seeking ---- */

static int64_t seek(struct os_call *call, int64_t offset, uint32_t whence)
{
    struct file *file = files_get(call->process->files, call->arg[0]);
    if (!file || file->flags & G_O_PATH) return -EBADF;
    if (whence > 4) return -EINVAL;
    return file->ops->seek ? file->ops->seek(file, offset, (int)whence) : -ESPIPE;
}

int64_t sys_lseek(struct os_call *call)
{
    int64_t at = seek(call, (int32_t)call->arg[1], call->arg[2]);
    return at > INT32_MAX ? -EOVERFLOW : at;
}

int64_t sys_llseek(struct os_call *call)
{
    int64_t at = seek(call, (int64_t)os_pair(call->arg[1], call->arg[2]), call->arg[4]);
    if (at < 0) return at;
    return mem_put64(call->mem, call->arg[3], (uint64_t)at) ? 0 : -EFAULT;
}

/* ---- copying ---- */

struct end {
    struct file *file;
    int64_t at;       /* where the next byte is */
    uint32_t address; /* where the guest keeps that; 0: the file's own place */
    unsigned width;   /* in bytes */
};

static int end_open(const struct os_call *call, struct end *end, uint32_t number, uint32_t address,
                    unsigned width)
{
    *end = (struct end){files_get(call->process->files, number), -1, address, width};
    if (!end->file) return -EBADF;
    uint64_t wide = 0;
    uint32_t narrow = 0;
    if (address && width == 8 && !mem_get64(call->mem, address, &wide)) return -EFAULT;
    if (address && width == 4 && !mem_get32(call->mem, address, &narrow)) return -EFAULT;
    end->at = (int64_t)(width == 8 ? wide : narrow);
    if (!address)
        end->at = end->file->ops->seek ? end->file->ops->seek(end->file, 0, SEEK_CUR) : -1;
    return address && end->at < 0 ? -EINVAL : 0;
}

static void end_done(const struct os_call *call, const struct end *end)
{
    if (end->address && end->width == 8)
        (void)mem_put64(call->mem, end->address, (uint64_t)end->at);
    else if (end->address)
        (void)mem_put32(call->mem, end->address, (uint32_t)end->at);
    else if (end->at >= 0)
        (void)end->file->ops->seek(end->file, end->at, SEEK_SET);
}

static int64_t copy(struct os_call *call, struct end *in, struct end *out, uint32_t count)
{
    uint8_t room[COPY_ROOM];
    int64_t total = 0;
    while (count) {
        size_t step = count < sizeof room ? count : sizeof room;
        int64_t got = in->file->ops->read(call, in->file, room, step, in->at);
        int64_t put =
            got > 0 ? out->file->ops->write(call, out->file, room, (size_t)got, out->at) : got;
        if (put <= 0) {
            if (!total) total = put;
            break;
        }
        total += put;
        count -= (uint32_t)put;
        in->at += put;
        if (out->at >= 0) out->at += put;
        if ((size_t)put < step) break;
    }
    if (total > 0) {
        end_done(call, in);
        end_done(call, out);
    }
    return total;
}

static int64_t send(struct os_call *call, unsigned width)
{
    struct end in, out;
    int status = end_open(call, &out, call->arg[0], 0, 0);
    if (!status) status = end_open(call, &in, call->arg[1], call->arg[2], width);
    if (status) return status;
    if (!file_writable(out.file) || !file_readable(in.file)) return -EBADF;
    if (in.at < 0 || !in.file->ops->read || !out.file->ops->write) return -EINVAL;
    uint32_t count = call->arg[3] < G_RW_MAX ? call->arg[3] : G_RW_MAX;
    return copy(call, &in, &out, count);
}

int64_t sys_sendfile(struct os_call *call)
{
    return send(call, 4);
}

int64_t sys_sendfile64(struct os_call *call)
{
    return send(call, 8);
}

int64_t sys_copy_file_range(struct os_call *call)
{
    struct end in, out;
    int status = end_open(call, &in, call->arg[0], call->arg[1], 8);
    if (!status) status = end_open(call, &out, call->arg[2], call->arg[3], 8);
    if (status) return status;
    if (!file_writable(out.file) || !file_readable(in.file)) return -EBADF;
    if (in.file->ops != &file_host_ops || out.file->ops != &file_host_ops || call->arg[5])
        return -EINVAL;
    if (in.file->inode == out.file->inode) return -EINVAL;
    uint32_t count = call->arg[4] < G_RW_MAX ? call->arg[4] : G_RW_MAX;
    return copy(call, &in, &out, count);
}

/* ---- cutting ---- */

static int64_t cut_path(struct os_call *call, int64_t length)
{
    struct place place;
    if (length < 0) return -EINVAL;
    int status =
        place_of(&place, call, (uint32_t)G_AT_FDCWD, call->arg[0], PLACE_FOLLOW | PLACE_CHANGE);
    if (status) return status;
    if (!place.exists)
        status = -ENOENT;
    else if (S_ISDIR(place.status.st_mode))
        status = -EISDIR;
    else if (!S_ISREG(place.status.st_mode))
        status = -EINVAL;
    else if (!place.may_change)
        status = place_denied(call, &place);
    if (!status && length && os_may_write(call, length - 1, 1) < 0) status = -EFBIG;
    if (!status) status = door_truncate(&place, length);
    if (!status) fs_touch(call, fs_inode(files_fs(call->process->files), &place.status));
    place_fini(&place);
    return status;
}

static int64_t cut_file(struct os_call *call, int64_t length)
{
    struct file *file = files_get(call->process->files, call->arg[0]);
    if (!file) return -EBADF;
    if (length < 0 || !file_writable(file) || file->ops != &file_host_ops) return -EINVAL;
    int64_t may = length ? os_may_write(call, length - 1, 1) : 0;
    if (may < 0) return may;
    if (ftruncate(file->host, length) != 0) return -errno;
    fs_touch(call, file->inode);
    return 0;
}

int64_t sys_truncate(struct os_call *call)
{
    return cut_path(call, (int32_t)call->arg[1]);
}

int64_t sys_truncate64(struct os_call *call)
{
    return cut_path(call, (int64_t)os_pair(call->arg[2], call->arg[3]));
}

int64_t sys_ftruncate(struct os_call *call)
{
    return cut_file(call, (int32_t)call->arg[1]);
}

int64_t sys_ftruncate64(struct os_call *call)
{
    return cut_file(call, (int64_t)os_pair(call->arg[2], call->arg[3]));
}

/* glibc does it by writing instead. */
int64_t sys_fallocate(struct os_call *call)
{
    return files_get(call->process->files, call->arg[0]) ? -EOPNOTSUPP : -EBADF;
}

int64_t sys_fsync(struct os_call *call)
{
    const struct file *file = files_get(call->process->files, call->arg[0]);
    if (!file) return -EBADF;
    if (!file->ops->seek) return -EINVAL;
    if (file->ops == &file_host_ops && fsync(file->host) != 0) return -errno;
    return 0;
}

int64_t sys_sync(struct os_call *call)
{
    (void)call;
    return 0;
}
