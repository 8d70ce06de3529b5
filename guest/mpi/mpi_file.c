/* Files: views, individual and collective reads and writes. Each process opens the file itself, and
 * the simulator does its calls in the order of simulated time. A collective call is the individual
 * one of each process, and a barrier behind writes. */
#include "mpi_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int mpi_group_give(struct group *group, MPI_Group *out);
void mpi_errhandler_release(struct errhandler *handler);
int mpi_errhandler_set(struct errhandler **place, MPI_Errhandler handle, enum kind kind);
int mpi_errhandler_get(struct errhandler *const *place, bool is_fatal, MPI_Errhandler *out);

static struct errhandler *default_handler; /* of files that are opened, and of failed opens */

struct file *mpi_file_of(MPI_File handle)
{
    return mpi_object(KIND_FILE, handle);
}

static struct errhandler returns = {.handle = MPI_ERRORS_RETURN, .refs = 1};

int mpi_file_fail(struct file *file, int class, const char *text)
{
    struct errhandler *handler = file && file->handler ? file->handler
                                 : default_handler     ? default_handler
                                                       : &returns;
    return mpi_fail_object(file ? file->handle : MPI_FILE_NULL, handler, class, text);
}

static int class_of(int error)
{
    switch (error) {
    case ENOENT: return MPI_ERR_NO_SUCH_FILE;
    case EEXIST: return MPI_ERR_FILE_EXISTS;
    case EACCES:
    case EPERM: return MPI_ERR_ACCESS;
    case EROFS: return MPI_ERR_READ_ONLY;
    case ENOSPC: return MPI_ERR_NO_SPACE;
    case EISDIR:
    case ENOTDIR:
    case ENAMETOOLONG: return MPI_ERR_BAD_FILE;
    default: return MPI_ERR_IO;
    }
}

/* ---- opening ---- */

static int check_mode(int mode)
{
    int access = mode & (MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR);
    if (access != MPI_MODE_RDONLY && access != MPI_MODE_WRONLY && access != MPI_MODE_RDWR)
        return mpi_file_fail(NULL, MPI_ERR_AMODE,
                             "exactly one of RDONLY, WRONLY and RDWR is needed");
    if (access == MPI_MODE_RDONLY && mode & (MPI_MODE_CREATE | MPI_MODE_EXCL))
        return mpi_file_fail(NULL, MPI_ERR_AMODE, "a file that is only read cannot be created");
    if (access == MPI_MODE_RDWR && mode & MPI_MODE_SEQUENTIAL)
        return mpi_file_fail(NULL, MPI_ERR_AMODE, "RDWR and SEQUENTIAL exclude each other");
    return MPI_SUCCESS;
}

/* Rank 0 creates the file, the others open it behind that. */
static int open_all(const struct comm *comm, const char *name, int mode)
{
    int flags = mode & MPI_MODE_RDONLY   ? O_RDONLY
                : mode & MPI_MODE_WRONLY ? O_WRONLY
                                         : O_RDWR,
        result = 0;
    int create = (mode & MPI_MODE_CREATE ? O_CREAT : 0) | (mode & MPI_MODE_EXCL ? O_EXCL : 0);
    int rank = comm->local->rank, descriptor = -1, error = 0;
    if (!rank) {
        descriptor = open(name, flags | create, 0666);
        if (descriptor < 0) error = errno;
    }
    mpi_bcast((struct comm *)comm, &error, 1, MPI_INT, 0);
    if (rank && !error) {
        descriptor = open(name, flags);
        if (descriptor < 0) error = errno;
    }
    mpi_allreduce((struct comm *)comm, &error, &result, 1, MPI_INT, MPI_MAX);
    if (!result) return descriptor;
    if (descriptor >= 0) (void)close(descriptor);
    return -result;
}

MPI(int, File_open, (MPI_Comm handle, const char *name, int mode, MPI_Info info, MPI_File *out))
{
    ENTER("File_open");
    (void)info;
    COMM(comm, handle);
    *out = MPI_FILE_NULL;
    TRY(check_mode(mode));
    int descriptor = open_all(comm, name, mode);
    if (descriptor < 0) return mpi_file_fail(NULL, class_of(-descriptor), name);
    struct file *file = mpi_alloc(sizeof *file);
    uint64_t context = mpi_context_agree(comm);
    *file = (struct file){.descriptor = descriptor,
                          .mode = mode,
                          .name = strdup(name),
                          .etype = mpi.byte,
                          .filetype = mpi.byte};
    file->comm = mpi_comm_new(context, mpi_group_retain(comm->local), NULL);
    if (default_handler) {
        file->handler = default_handler;
        default_handler->refs++;
    }
    if (mode & MPI_MODE_APPEND) file->position = lseek(descriptor, 0, SEEK_END);
    mpi_file_shared_open(file);
    *out = file->handle = mpi_handle_new(KIND_FILE, file);
    return MPI_SUCCESS;
}

MPI(int, File_close, (MPI_File * handle))
{
    ENTER("File_close");
    FILE_OF(file, *handle);
    (void)close(file->descriptor);
    mpi_file_shared_close(file);
    if (file->mode & MPI_MODE_DELETE_ON_CLOSE && !file->comm->local->rank) (void)unlink(file->name);
    mpi_barrier(file->comm);
    mpi_comm_release(file->comm);
    mpi_errhandler_release(file->handler);
    mpi_type_release(file->etype);
    mpi_type_release(file->filetype);
    mpi_handle_free(file->handle);
    free(file->name);
    free(file);
    *handle = MPI_FILE_NULL;
    return MPI_SUCCESS;
}

MPI(int, File_delete, (const char *name, MPI_Info info))
{
    ENTER("File_delete");
    (void)info;
    return unlink(name) ? mpi_file_fail(NULL, class_of(errno), name) : MPI_SUCCESS;
}

static int set_size(MPI_File handle, MPI_Offset size, bool only_grow)
{
    FILE_OF(file, handle);
    if (size < 0) return mpi_file_fail(file, MPI_ERR_ARG, "the size is negative");
    mpi_barrier(file->comm);
    struct stat now;
    int error = 0, all = 0;
    if (!file->comm->local->rank &&
        !(only_grow && !fstat(file->descriptor, &now) && now.st_size >= size) &&
        ftruncate(file->descriptor, (off_t)size))
        error = errno;
    mpi_allreduce(file->comm, &error, &all, 1, MPI_INT, MPI_MAX);
    return all ? mpi_file_fail(file, class_of(all), file->name) : MPI_SUCCESS;
}

MPI(int, File_set_size, (MPI_File file, MPI_Offset size))
{
    ENTER("File_set_size");
    return set_size(file, size, false);
}

MPI(int, File_preallocate, (MPI_File file, MPI_Offset size))
{
    ENTER("File_preallocate");
    return set_size(file, size, true);
}

MPI(int, File_get_size, (MPI_File handle, MPI_Offset *size))
{
    ENTER("File_get_size");
    FILE_OF(file, handle);
    struct stat now;
    if (fstat(file->descriptor, &now)) return mpi_file_fail(file, class_of(errno), file->name);
    *size = now.st_size;
    return MPI_SUCCESS;
}

MPI(int, File_get_group, (MPI_File handle, MPI_Group *group))
{
    ENTER("File_get_group");
    FILE_OF(file, handle);
    return mpi_group_give(mpi_group_retain(file->comm->local), group);
}

MPI(int, File_get_amode, (MPI_File handle, int *mode))
{
    ENTER("File_get_amode");
    FILE_OF(file, handle);
    *mode = file->mode;
    return MPI_SUCCESS;
}

MPI(int, File_set_info, (MPI_File handle, MPI_Info info))
{
    ENTER("File_set_info");
    (void)info;
    FILE_OF(file, handle);
    (void)file;
    return MPI_SUCCESS;
}

MPI(int, File_get_info, (MPI_File handle, MPI_Info *info))
{
    ENTER("File_get_info");
    FILE_OF(file, handle);
    (void)file;
    return PMPI_Info_create(info);
}

/* ---- views ---- */

MPI(int, File_set_view,
    (MPI_File handle, MPI_Offset start, MPI_Datatype etype, MPI_Datatype filetype,
     const char *datarep, MPI_Info info))
{
    ENTER("File_set_view");
    (void)info;
    FILE_OF(file, handle);
    struct type *e = mpi_type(etype), *f = mpi_type(filetype);
    if (!e || !f || !e->committed || !f->committed || !e->size || f->size % e->size)
        return mpi_file_fail(file, MPI_ERR_TYPE, "the types do not make a view");
    if (strcmp(datarep, "native") != 0 && strcmp(datarep, "external32") != 0 &&
        strcmp(datarep, "internal") != 0)
        return mpi_file_fail(file, MPI_ERR_UNSUPPORTED_DATAREP, datarep);
    if (start == MPI_DISPLACEMENT_CURRENT) start = mpi_file_shared_place(file);
    if (start < 0) return mpi_file_fail(file, MPI_ERR_ARG, "the displacement is negative");
    mpi_type_retain(e);
    mpi_type_retain(f);
    mpi_type_release(file->etype);
    mpi_type_release(file->filetype);
    file->start = start;
    file->etype = e;
    file->filetype = f;
    file->position = file->shared = 0;
    mpi_barrier(file->comm);
    return MPI_SUCCESS;
}

MPI(int, File_get_view,
    (MPI_File handle, MPI_Offset *start, MPI_Datatype *etype, MPI_Datatype *filetype,
     char *datarep))
{
    ENTER("File_get_view");
    FILE_OF(file, handle);
    *start = file->start;
    *etype = file->etype->handle;
    *filetype = file->filetype->handle;
    mpi_type_retain(file->etype);
    mpi_type_retain(file->filetype);
    strcpy(datarep, "native");
    return MPI_SUCCESS;
}

MPI_Offset mpi_file_place(const struct file *file, MPI_Offset at, size_t *run)
{
    const struct type *t = file->filetype;
    MPI_Offset tile = at / (MPI_Offset)t->size, inside = at % (MPI_Offset)t->size;
    if (t->dense) {
        *run = SIZE_MAX;
        return file->start + t->true_lb + at;
    }
    for (uint32_t i = 0;; i++) {
        const struct block *b = &t->blocks[i];
        MPI_Offset bytes = (MPI_Offset)b->count * mpi_basics[b->basic].size;
        if (inside < bytes) {
            *run = (size_t)(bytes - inside);
            return file->start + tile * type_extent(t) + b->at + inside;
        }
        inside -= bytes;
    }
}

/* Bytes that were moved, or -errno. */
static MPI_Offset move(const struct file *file, MPI_Offset at, char *data, size_t bytes,
                       bool writes)
{
    size_t done = 0, run;
    while (done < bytes) {
        MPI_Offset place = mpi_file_place(file, at + (MPI_Offset)done, &run);
        if (run > bytes - done) run = bytes - done;
        ssize_t now = writes ? pwrite64(file->descriptor, data + done, run, place)
                             : pread64(file->descriptor, data + done, run, place);
        if (now < 0) return -errno;
        done += (size_t)now;
        if ((size_t)now < run) break;
    }
    return (MPI_Offset)done;
}

int mpi_file_access(struct file *file, MPI_Offset place, void *buffer, int count,
                    MPI_Datatype handle, bool writes, MPI_Status *status, MPI_Offset *moved)
{
    struct type *type = mpi_type(handle);
    if (!type || !type->committed)
        return mpi_file_fail(file, MPI_ERR_TYPE, "the datatype is wrong or not committed");
    if (count < 0) return mpi_file_fail(file, MPI_ERR_COUNT, "the count is negative");
    if (place < 0) return mpi_file_fail(file, MPI_ERR_ARG, "the offset is negative");
    if (file->mode & (writes ? MPI_MODE_RDONLY : MPI_MODE_WRONLY))
        return mpi_file_fail(file, writes ? MPI_ERR_READ_ONLY : MPI_ERR_ACCESS,
                             "the file was not opened for that");
    size_t bytes = (size_t)count * type->size;
    char *data = type->dense ? at_offset(buffer, type->true_lb) : mpi_alloc(bytes);
    if (writes && !type->dense && bytes) mpi_type_pack(type, buffer, 0, data, bytes);
    MPI_Offset done = move(file, place * (MPI_Offset)file->etype->size, data, bytes, writes);
    if (!writes && !type->dense && done > 0) mpi_type_unpack(type, buffer, 0, data, (size_t)done);
    if (!type->dense) free(data);
    if (done < 0) return mpi_file_fail(file, class_of((int)-done), file->name);
    MPI_Status result;
    mpi_status_empty(&result);
    result.chiliad_bytes = (int)done;
    mpi_status_set(status, &result);
    if (moved) *moved = done / (MPI_Offset)file->etype->size;
    return MPI_SUCCESS;
}

int mpi_file_access_next(MPI_File handle, void *buffer, int count, MPI_Datatype type, bool writes,
                         bool all, MPI_Status *status)
{
    FILE_OF(file, handle);
    MPI_Offset moved = 0;
    int error = mpi_file_access(file, file->position, buffer, count, type, writes, status, &moved);
    file->position += moved;
    if (all && writes) mpi_barrier(file->comm);
    return error;
}

int mpi_file_access_at(MPI_File handle, MPI_Offset place, void *buffer, int count,
                       MPI_Datatype type, bool writes, bool all, MPI_Status *status)
{
    FILE_OF(file, handle);
    int error = mpi_file_access(file, place, buffer, count, type, writes, status, NULL);
    if (all && writes) mpi_barrier(file->comm);
    return error;
}

#define AT(name, text, constant, writes, all)                                                      \
    MPI(int, name,                                                                                 \
        (MPI_File file, MPI_Offset place, constant void *buf, int count, MPI_Datatype type,        \
         MPI_Status *status))                                                                      \
    {                                                                                              \
        ENTER(text);                                                                               \
        return mpi_file_access_at(file, place, (void *)buf, count, type, writes, all, status);     \
    }
#define NEXT(name, text, constant, writes, all)                                                    \
    MPI(int, name,                                                                                 \
        (MPI_File file, constant void *buf, int count, MPI_Datatype type, MPI_Status *status))     \
    {                                                                                              \
        ENTER(text);                                                                               \
        return mpi_file_access_next(file, (void *)buf, count, type, writes, all, status);          \
    }
AT(File_read_at, "File_read_at", , false, false)
AT(File_write_at, "File_write_at", const, true, false)
AT(File_read_at_all, "File_read_at_all", , false, true)
AT(File_write_at_all, "File_write_at_all", const, true, true)
NEXT(File_read, "File_read", , false, false)
NEXT(File_write, "File_write", const, true, false)
NEXT(File_read_all, "File_read_all", , false, true)
NEXT(File_write_all, "File_write_all", const, true, true)

/* Non-blocking calls are done at once. */
int mpi_file_request(int error, const MPI_Status *status, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    if (error) return error;
    struct request *r = mpi_request_new(REQUEST_GENERAL);
    r->active = true;
    r->status = *status;
    r->status.MPI_ERROR = MPI_SUCCESS;
    mpi_request_done(r);
    *request = r->handle;
    return MPI_SUCCESS;
}

#define IAT(name, text, constant, writes)                                                          \
    MPI(int, name,                                                                                 \
        (MPI_File file, MPI_Offset place, constant void *buf, int count, MPI_Datatype type,        \
         MPI_Request *request))                                                                    \
    {                                                                                              \
        ENTER(text);                                                                               \
        MPI_Status status = {0};                                                                   \
        return mpi_file_request(                                                                   \
            mpi_file_access_at(file, place, (void *)buf, count, type, writes, false, &status),     \
            &status, request);                                                                     \
    }
#define INEXT(name, text, constant, writes)                                                        \
    MPI(int, name,                                                                                 \
        (MPI_File file, constant void *buf, int count, MPI_Datatype type, MPI_Request *request))   \
    {                                                                                              \
        ENTER(text);                                                                               \
        MPI_Status status = {0};                                                                   \
        return mpi_file_request(                                                                   \
            mpi_file_access_next(file, (void *)buf, count, type, writes, false, &status), &status, \
            request);                                                                              \
    }
IAT(File_iread_at, "File_iread_at", , false)
IAT(File_iwrite_at, "File_iwrite_at", const, true)
INEXT(File_iread, "File_iread", , false)
INEXT(File_iwrite, "File_iwrite", const, true)

/* ---- positions ---- */

MPI_Offset mpi_file_end(const struct file *file)
{
    struct stat now;
    size_t run;
    if (fstat(file->descriptor, &now)) return 0;
    MPI_Offset extent = type_extent(file->filetype), size = (MPI_Offset)file->filetype->size,
               at = now.st_size > file->start && extent > 0
                        ? (now.st_size - file->start) / extent * size
                        : 0;
    while (mpi_file_place(file, at, &run) < now.st_size)
        at += (MPI_Offset)file->etype->size;
    return at / (MPI_Offset)file->etype->size;
}

MPI(int, File_seek, (MPI_File handle, MPI_Offset place, int whence))
{
    ENTER("File_seek");
    FILE_OF(file, handle);
    if (whence == MPI_SEEK_CUR)
        place += file->position;
    else if (whence == MPI_SEEK_END)
        place += mpi_file_end(file);
    else if (whence != MPI_SEEK_SET)
        return mpi_file_fail(file, MPI_ERR_ARG, "there is no such origin");
    if (place < 0) return mpi_file_fail(file, MPI_ERR_ARG, "the offset is negative");
    file->position = place;
    return MPI_SUCCESS;
}

MPI(int, File_get_position, (MPI_File handle, MPI_Offset *place))
{
    ENTER("File_get_position");
    FILE_OF(file, handle);
    *place = file->position;
    return MPI_SUCCESS;
}

MPI(int, File_get_byte_offset, (MPI_File handle, MPI_Offset place, MPI_Offset *byte))
{
    ENTER("File_get_byte_offset");
    FILE_OF(file, handle);
    size_t run;
    *byte = mpi_file_place(file, place * (MPI_Offset)file->etype->size, &run);
    return MPI_SUCCESS;
}

MPI(int, File_get_type_extent, (MPI_File handle, MPI_Datatype type, MPI_Aint *extent))
{
    ENTER("File_get_type_extent");
    FILE_OF(file, handle);
    const struct type *t = mpi_type(type);
    if (!t) return mpi_file_fail(file, MPI_ERR_TYPE, "this is no datatype");
    *extent = type_extent(t);
    return MPI_SUCCESS;
}

MPI(int, File_set_atomicity, (MPI_File handle, int flag))
{
    ENTER("File_set_atomicity");
    FILE_OF(file, handle);
    file->atomic = flag;
    mpi_barrier(file->comm);
    return MPI_SUCCESS;
}

MPI(int, File_get_atomicity, (MPI_File handle, int *flag))
{
    ENTER("File_get_atomicity");
    FILE_OF(file, handle);
    *flag = file->atomic;
    return MPI_SUCCESS;
}

MPI(int, File_sync, (MPI_File handle))
{
    ENTER("File_sync");
    FILE_OF(file, handle);
    mpi_barrier(file->comm);
    return MPI_SUCCESS;
}

MPI(int, File_set_errhandler, (MPI_File handle, MPI_Errhandler handler))
{
    ENTER("File_set_errhandler");
    if (handle == MPI_FILE_NULL) return mpi_errhandler_set(&default_handler, handler, KIND_FILE);
    FILE_OF(file, handle);
    return mpi_errhandler_set(&file->handler, handler, KIND_FILE);
}

MPI(int, File_get_errhandler, (MPI_File handle, MPI_Errhandler *handler))
{
    ENTER("File_get_errhandler");
    if (handle == MPI_FILE_NULL) return mpi_errhandler_get(&default_handler, false, handler);
    FILE_OF(file, handle);
    return mpi_errhandler_get(&file->handler, false, handler);
}

MPI(int, File_call_errhandler, (MPI_File handle, int code))
{
    ENTER("File_call_errhandler");
    FILE_OF(file, handle);
    (void)mpi_file_fail(file, code, "called by the program");
    return MPI_SUCCESS;
}
