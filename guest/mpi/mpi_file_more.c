/* Files: the shared file pointer, ordered accesses, and split collectives.
 *
 * The shared pointer is a number in a window of rank 0, to which accesses add what they will
 * transfer. So rank 0 has to be in an MPI call for another one's access to go on, as with all
 * one-sided accesses. In ordered accesses rank 0 adds for all. The first half of a split collective
 * does the access, the second half returns its status.
 */
#include "mpi_file.h"

void mpi_file_shared_open(struct file *file)
{
    file->shared = file->position;
    (void)PMPI_Win_create(&file->shared, file->comm->local->rank ? 0 : sizeof file->shared, 1,
                          MPI_INFO_NULL, file->comm->handle, &file->window);
}

void mpi_file_shared_close(struct file *file)
{
    (void)PMPI_Win_free(&file->window);
}

/* Elements of the view that count elements of a type are. */
static int elements(struct file *file, int count, MPI_Datatype handle, MPI_Offset *result)
{
    const struct type *type = mpi_type(handle);
    if (!type || !type->committed)
        return mpi_file_fail(file, MPI_ERR_TYPE, "the datatype is wrong or not committed");
    if (count < 0) return mpi_file_fail(file, MPI_ERR_COUNT, "the count is negative");
    *result = (MPI_Offset)count * (MPI_Offset)type->size / (MPI_Offset)file->etype->size;
    return MPI_SUCCESS;
}

/* Adds to the shared pointer and returns what it was. */
static MPI_Offset advance(const struct file *file, MPI_Offset more)
{
    long long add = more, was = 0;
    (void)PMPI_Win_lock(MPI_LOCK_SHARED, 0, 0, file->window);
    (void)PMPI_Fetch_and_op(&add, &was, MPI_LONG_LONG, 0, 0, MPI_SUM, file->window);
    (void)PMPI_Win_unlock(0, file->window);
    return was;
}

static int access_shared(MPI_File handle, void *buffer, int count, MPI_Datatype type, bool writes,
                         MPI_Status *status)
{
    FILE_OF(file, handle);
    MPI_Offset more;
    TRY(elements(file, count, type, &more));
    return mpi_file_access(file, advance(file, more), buffer, count, type, writes, status, NULL);
}

/* In the order of ranks. A rank that returns may use the shared pointer at once, so rank 0 moves it
 * before the others learn where it was. */
static int access_ordered(MPI_File handle, void *buffer, int count, MPI_Datatype type, bool writes,
                          MPI_Status *status)
{
    FILE_OF(file, handle);
    struct comm *comm = file->comm;
    MPI_Offset more = 0;
    int error = elements(file, count, type, &more);
    long long own = more, place = 0, all = 0;
    long long *counts = mpi_alloc((size_t)comm->local->count * sizeof *counts);
    mpi_allgather(comm, &own, 1, MPI_LONG_LONG, counts);
    for (int i = 0; i < comm->local->count; i++) {
        if (i == comm->local->rank) place = all;
        all += counts[i];
    }
    free(counts);
    long long first = file->shared;
    if (!comm->local->rank) file->shared += all;
    mpi_bcast(comm, &first, 1, MPI_LONG_LONG, 0);
    if (!error)
        error = mpi_file_access(file, first + place, buffer, count, type, writes, status, NULL);
    if (writes) mpi_barrier(comm);
    return error;
}

#define CALL(name, constant, access, writes)                                                       \
    MPI(int, name,                                                                                 \
        (MPI_File file, constant void *buf, int count, MPI_Datatype type, MPI_Status *status))     \
    {                                                                                              \
        ENTER(#name);                                                                              \
        return access(file, (void *)buf, count, type, writes, status);                             \
    }
CALL(File_read_shared, , access_shared, false)
CALL(File_write_shared, const, access_shared, true)
CALL(File_read_ordered, , access_ordered, false)
CALL(File_write_ordered, const, access_ordered, true)

/* Non-blocking calls are done at once; a collective one may not wait for the others, so it has no
 * barrier. */
static int next_alone(MPI_File handle, void *buffer, int count, MPI_Datatype type, bool writes,
                      MPI_Status *status)
{
    return mpi_file_access_next(handle, buffer, count, type, writes, false, status);
}

#define ICALL(name, constant, access, writes)                                                      \
    MPI(int, name,                                                                                 \
        (MPI_File file, constant void *buf, int count, MPI_Datatype type, MPI_Request *request))   \
    {                                                                                              \
        ENTER(#name);                                                                              \
        MPI_Status status = {0};                                                                   \
        int error = access(file, (void *)buf, count, type, writes, &status);                       \
        return mpi_file_request(error, &status, request);                                          \
    }
#define ICALL_AT(name, constant, writes)                                                           \
    MPI(int, name,                                                                                 \
        (MPI_File file, MPI_Offset place, constant void *buf, int count, MPI_Datatype type,        \
         MPI_Request *request))                                                                    \
    {                                                                                              \
        ENTER(#name);                                                                              \
        MPI_Status status = {0};                                                                   \
        int error =                                                                                \
            mpi_file_access_at(file, place, (void *)buf, count, type, writes, false, &status);     \
        return mpi_file_request(error, &status, request);                                          \
    }
ICALL(File_iread_shared, , access_shared, false)
ICALL(File_iwrite_shared, const, access_shared, true)
ICALL(File_iread_all, , next_alone, false)
ICALL(File_iwrite_all, const, next_alone, true)
ICALL_AT(File_iread_at_all, , false)
ICALL_AT(File_iwrite_at_all, const, true)

MPI(int, File_seek_shared, (MPI_File handle, MPI_Offset place, int whence))
{
    ENTER("File_seek_shared");
    FILE_OF(file, handle);
    if (whence != MPI_SEEK_SET && whence != MPI_SEEK_CUR && whence != MPI_SEEK_END)
        return mpi_file_fail(file, MPI_ERR_ARG, "there is no such origin");
    mpi_barrier(file->comm);
    long long to = place;
    if (whence == MPI_SEEK_CUR) to += file->shared;
    if (whence == MPI_SEEK_END) to += mpi_file_end(file);
    if (!file->comm->local->rank && to >= 0) file->shared = to;
    mpi_bcast(file->comm, &to, 1, MPI_LONG_LONG, 0);
    return to < 0 ? mpi_file_fail(file, MPI_ERR_ARG, "the offset is negative") : MPI_SUCCESS;
}

MPI(int, File_get_position_shared, (MPI_File handle, MPI_Offset *place))
{
    ENTER("File_get_position_shared");
    FILE_OF(file, handle);
    *place = advance(file, 0);
    return MPI_SUCCESS;
}

MPI_Offset mpi_file_shared_place(struct file *file)
{
    size_t run;
    mpi_barrier(file->comm);
    long long place = file->shared;
    mpi_bcast(file->comm, &place, 1, MPI_LONG_LONG, 0);
    return mpi_file_place(file, place * (MPI_Offset)file->etype->size, &run);
}

/* ---- split collectives ---- */

static int begin(MPI_File handle)
{
    FILE_OF(file, handle);
    if (file->split) return mpi_file_fail(file, MPI_ERR_OTHER, "a split collective has not ended");
    mpi_status_empty(&file->status);
    file->split = true;
    return MPI_SUCCESS;
}

static int end(MPI_File handle, MPI_Status *status)
{
    FILE_OF(file, handle);
    if (!file->split) return mpi_file_fail(file, MPI_ERR_OTHER, "no split collective has begun");
    file->split = false;
    mpi_status_set(status, &file->status);
    return MPI_SUCCESS;
}

#define SPLIT(name, constant, access, writes)                                                      \
    MPI(int, name##_begin, (MPI_File file, constant void *buf, int count, MPI_Datatype type))      \
    {                                                                                              \
        ENTER(#name "_begin");                                                                     \
        TRY(begin(file));                                                                          \
        return access(file, (void *)buf, count, type, writes, &mpi_file_of(file)->status);         \
    }                                                                                              \
    SPLIT_END(name, constant)
#define SPLIT_AT(name, constant, writes)                                                           \
    MPI(int, name##_begin,                                                                         \
        (MPI_File file, MPI_Offset place, constant void *buf, int count, MPI_Datatype type))       \
    {                                                                                              \
        ENTER(#name "_begin");                                                                     \
        TRY(begin(file));                                                                          \
        return mpi_file_access_at(file, place, (void *)buf, count, type, writes, true,             \
                                  &mpi_file_of(file)->status);                                     \
    }                                                                                              \
    SPLIT_END(name, constant)
#define SPLIT_END(name, constant)                                                                  \
    MPI(int, name##_end, (MPI_File file, constant void *buf, MPI_Status *status))                  \
    {                                                                                              \
        ENTER(#name "_end");                                                                       \
        (void)buf;                                                                                 \
        return end(file, status);                                                                  \
    }

static int next_all(MPI_File handle, void *buffer, int count, MPI_Datatype type, bool writes,
                    MPI_Status *status)
{
    return mpi_file_access_next(handle, buffer, count, type, writes, true, status);
}

SPLIT(File_read_all, , next_all, false)
SPLIT(File_write_all, const, next_all, true)
SPLIT(File_read_ordered, , access_ordered, false)
SPLIT(File_write_ordered, const, access_ordered, true)
SPLIT_AT(File_read_at_all, , false)
SPLIT_AT(File_write_at_all, const, true)
