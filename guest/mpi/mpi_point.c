/* Point to point calls: checks, and requests. */
#include "mpi_note.h"

enum { TAG_MAX = 0x3fffffff };

static int check(const struct comm *comm, int count, int peer, int tag, bool receives)
{
    if (count < 0) return mpi_fail(comm, MPI_ERR_COUNT, "count is %d", count);
    int peers = comm_peers(comm)->count;
    if ((peer < 0 || peer >= peers) && peer != MPI_PROC_NULL &&
        !(receives && peer == MPI_ANY_SOURCE))
        return mpi_fail(comm, MPI_ERR_RANK, "%s is %d, there are %d ranks",
                        receives ? "source" : "dest", peer, peers);
    if ((tag < 0 || tag > TAG_MAX) && !(receives && tag == MPI_ANY_TAG))
        return mpi_fail(comm, MPI_ERR_TAG, "tag is %d", tag);
    return MPI_SUCCESS;
}

/* A request that has not been started. */
static int make(struct request **out, const void *buffer, int count, MPI_Datatype datatype,
                int peer, int tag, MPI_Comm handle, int mode)
{
    COMM(comm, handle);
    TRY(check(comm, count, peer, tag, mode < 0));
    TYPE(comm, type, datatype);
    if (buffer == MPI_IN_PLACE) return mpi_fail(comm, MPI_ERR_BUFFER, "the buffer is MPI_IN_PLACE");
    if (!buffer && count && type->predefined && peer != MPI_PROC_NULL)
        return mpi_fail(comm, MPI_ERR_BUFFER, "the buffer is a null pointer");
    *out = mode < 0 ? mpi_irecv((void *)buffer, count, type, peer, tag, comm, comm->context)
                    : mpi_isend(buffer, count, type, peer, tag, comm, comm->context,
                                (enum send_mode)mode);
    return MPI_SUCCESS;
}

/* ---- the buffer of MPI_Bsend ---- */

/* Copies are made on the heap; of the user's buffer only the size counts. */
static struct {
    void *buffer;
    size_t size, used;
    struct request *first; /* sends in progress, by sibling */
} bsend;

static void collect(void)
{
    for (struct request **at = &bsend.first; *at;) {
        struct request *r = *at;
        if (!r->complete) {
            at = &r->sibling;
            continue;
        }
        *at = r->sibling;
        bsend.used -= (size_t)r->count + MPI_BSEND_OVERHEAD;
        mpi_request_delete(r);
    }
}

/* Sends a copy by a request of the library's; the user's one is complete. */
static int start_buffered(struct request *r)
{
    size_t bytes = (size_t)r->count * r->type->size;
    r->active = r->complete = true;
    mpi_status_empty(&r->status);
    if (r->is_null) return MPI_SUCCESS;
    collect();
    if (bsend.used + bytes + MPI_BSEND_OVERHEAD > bsend.size) {
        mpi_progress();
        collect();
    }
    if (bsend.used + bytes + MPI_BSEND_OVERHEAD > bsend.size)
        return mpi_fail(r->comm, MPI_ERR_BUFFER,
                        "the attached buffer of %zu bytes has no room for %zu", bsend.size, bytes);
    void *copy = mpi_alloc(bytes);
    if (bytes) mpi_type_pack(r->type, r->buffer, 0, copy, bytes);
    struct request *own =
        mpi_isend(copy, (int)bytes, mpi.byte, r->peer, r->tag, r->comm, r->context, SEND_STANDARD);
    own->bounce = copy;
    own->sibling = bsend.first;
    bsend.first = own;
    bsend.used += bytes + MPI_BSEND_OVERHEAD;
    mpi_request_start(own);
    return MPI_SUCCESS;
}

MPI(int, Buffer_attach, (void *buffer, int size))
{
    ENTER("Buffer_attach");
    if (bsend.buffer) return mpi_fail(NULL, MPI_ERR_BUFFER, "a buffer is attached already");
    if (size < 0) return mpi_fail(NULL, MPI_ERR_ARG, "the size is %d", size);
    bsend.buffer = buffer;
    bsend.size = (size_t)size;
    return MPI_SUCCESS;
}

MPI(int, Buffer_detach, (void *address, int *size))
{
    ENTER("Buffer_detach");
    for (collect(); bsend.first; collect())
        mpi_progress_wait();
    *(void **)address = bsend.buffer;
    *size = (int)bsend.size;
    bsend.buffer = NULL;
    bsend.size = 0;
    return MPI_SUCCESS;
}

void mpi_bsend_finish(void)
{
    for (collect(); bsend.first; collect())
        mpi_progress_wait();
}

int mpi_start_any(struct request *r)
{
    if (r->kind == REQUEST_SCHEDULE) {
        mpi_schedule_restart(r);
        return MPI_SUCCESS;
    }
    if (r->kind == REQUEST_SEND && r->mode == SEND_BUFFERED) return start_buffered(r);
    mpi_request_start(r);
    return MPI_SUCCESS;
}

/* ---- blocking, non-blocking and persistent calls ---- */

static int blocking(const void *buffer, int count, MPI_Datatype type, int peer, int tag,
                    MPI_Comm comm, int mode, MPI_Status *status)
{
    struct request *r;
    TRY(make(&r, buffer, count, type, peer, tag, comm, mode));
    mpi_note_start(r, false);
    int error = mpi_start_any(r);
    mpi_wait_for(r);
    int other = mpi_request_finish(r, status);
    return error   ? error
           : other ? mpi_fail(mpi_comm(comm), other, "the message is longer than the buffer")
                   : 0;
}

static int starting(const void *buffer, int count, MPI_Datatype type, int peer, int tag,
                    MPI_Comm comm, int mode, MPI_Request *request)
{
    struct request *r;
    TRY(make(&r, buffer, count, type, peer, tag, comm, mode));
    *request = r->handle;
    mpi_note_start(r, true);
    return mpi_start_any(r);
}

static int persistent(const void *buffer, int count, MPI_Datatype type, int peer, int tag,
                      MPI_Comm comm, int mode, MPI_Request *request)
{
    struct request *r;
    TRY(make(&r, buffer, count, type, peer, tag, comm, mode));
    r->persistent = r->complete = true;
    *request = r->handle;
    return MPI_SUCCESS;
}

#define SENDS(blocking_name, starting_name, persistent_name, blocking_text, starting_text,         \
              persistent_text, mode)                                                               \
    MPI(int, blocking_name,                                                                        \
        (const void *buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm))      \
    {                                                                                              \
        ENTER(blocking_text);                                                                      \
        return blocking(buffer, count, type, dest, tag, comm, mode, MPI_STATUS_IGNORE);            \
    }                                                                                              \
    MPI(int, starting_name,                                                                        \
        (const void *buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,       \
         MPI_Request *request))                                                                    \
    {                                                                                              \
        ENTER(starting_text);                                                                      \
        return starting(buffer, count, type, dest, tag, comm, mode, request);                      \
    }                                                                                              \
    MPI(int, persistent_name,                                                                      \
        (const void *buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,       \
         MPI_Request *request))                                                                    \
    {                                                                                              \
        ENTER(persistent_text);                                                                    \
        return persistent(buffer, count, type, dest, tag, comm, mode, request);                    \
    }

SENDS(Send, Isend, Send_init, "Send", "Isend", "Send_init", SEND_STANDARD)
SENDS(Bsend, Ibsend, Bsend_init, "Bsend", "Ibsend", "Bsend_init", SEND_BUFFERED)
SENDS(Ssend, Issend, Ssend_init, "Ssend", "Issend", "Ssend_init", SEND_SYNCHRONOUS)
SENDS(Rsend, Irsend, Rsend_init, "Rsend", "Irsend", "Rsend_init", SEND_READY)

enum { RECEIVE = -1 };

MPI(int, Recv,
    (void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
     MPI_Status *status))
{
    ENTER("Recv");
    return blocking(buffer, count, type, source, tag, comm, RECEIVE, status);
}

MPI(int, Irecv,
    (void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
     MPI_Request *request))
{
    ENTER("Irecv");
    return starting(buffer, count, type, source, tag, comm, RECEIVE, request);
}

MPI(int, Recv_init,
    (void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
     MPI_Request *request))
{
    ENTER("Recv_init");
    return persistent(buffer, count, type, source, tag, comm, RECEIVE, request);
}

static int both(struct request *out, struct request *in, MPI_Comm comm, MPI_Status *status)
{
    mpi_note_start(out, false);
    mpi_request_start(in);
    mpi_request_start(out);
    mpi_wait_for(in);
    mpi_wait_for(out);
    (void)mpi_request_finish(out, MPI_STATUS_IGNORE);
    int error = mpi_request_finish(in, status);
    return error ? mpi_fail(mpi_comm(comm), error, "the message is longer than the buffer")
                 : MPI_SUCCESS;
}

MPI(int, Sendrecv,
    (const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
     void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
     MPI_Status *status))
{
    ENTER("Sendrecv");
    struct request *out, *in;
    TRY(make(&out, sendbuf, sendcount, sendtype, dest, sendtag, comm, SEND_STANDARD));
    int error = make(&in, recvbuf, recvcount, recvtype, source, recvtag, comm, RECEIVE);
    if (error) {
        mpi_request_delete(out);
        return error;
    }
    return both(out, in, comm, status);
}

MPI(int, Sendrecv_replace,
    (void *buffer, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
     MPI_Comm comm, MPI_Status *status))
{
    ENTER("Sendrecv_replace");
    struct request *out, *in;
    TRY(make(&out, buffer, count, datatype, dest, sendtag, comm, SEND_STANDARD));
    int error = make(&in, buffer, count, datatype, source, recvtag, comm, RECEIVE);
    if (error) {
        mpi_request_delete(out);
        return error;
    }
    size_t bytes = (size_t)count * out->type->size;
    void *copy = mpi_alloc(bytes);
    if (bytes) mpi_type_pack(out->type, buffer, 0, copy, bytes);
    mpi_type_release(out->type);
    out->type = mpi.byte;
    out->count = (int)bytes;
    out->buffer = out->bounce = copy;
    return both(out, in, comm, status);
}

/* ---- probing ---- */

static void describe(const struct message *m, MPI_Status *status)
{
    const MPI_Status found = {
        .MPI_SOURCE = m->source, .MPI_TAG = m->tag, .chiliad_bytes = (int)m->bytes};
    if (status != MPI_STATUS_IGNORE) {
        int error = status->MPI_ERROR;
        *status = found;
        status->MPI_ERROR = error;
    }
}

static const MPI_Status from_nobody = {.MPI_SOURCE = MPI_PROC_NULL, .MPI_TAG = MPI_ANY_TAG};

/* Finds a message; with a handle if it is taken from the queue. *flag: it or MPI_PROC_NULL was
 * there. */
static int probe(int source, int tag, MPI_Comm handle, bool waits, int *flag, MPI_Message *taken,
                 MPI_Status *status)
{
    COMM(comm, handle);
    TRY(check(comm, 0, source, tag, true));
    *flag = 1;
    if (source == MPI_PROC_NULL) {
        mpi_status_set(status, &from_nobody);
        if (taken) *taken = MPI_MESSAGE_NO_PROC;
        return MPI_SUCCESS;
    }
    struct message *m = mpi_find_message(comm->context, source, tag, taken != NULL);
    if (!m && !waits) {
        mpi_progress();
        m = mpi_find_message(comm->context, source, tag, taken != NULL);
    }
    while (!m && waits) {
        mpi_progress_wait();
        m = mpi_find_message(comm->context, source, tag, taken != NULL);
    }
    *flag = m != NULL;
    if (!m) return MPI_SUCCESS;
    describe(m, status);
    if (taken) *taken = m->handle = mpi_handle_new(KIND_MESSAGE, m);
    return MPI_SUCCESS;
}

MPI(int, Probe, (int source, int tag, MPI_Comm comm, MPI_Status *status))
{
    ENTER("Probe");
    int flag;
    return probe(source, tag, comm, true, &flag, NULL, status);
}

MPI(int, Iprobe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status))
{
    ENTER("Iprobe");
    return probe(source, tag, comm, false, flag, NULL, status);
}

MPI(int, Mprobe, (int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status))
{
    ENTER("Mprobe");
    int flag;
    return probe(source, tag, comm, true, &flag, message, status);
}

MPI(int, Improbe,
    (int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status))
{
    ENTER("Improbe");
    return probe(source, tag, comm, false, flag, message, status);
}

static int take(void *buffer, int count, MPI_Datatype datatype, MPI_Message *handle,
                struct request **out)
{
    struct message *m = mpi_object(KIND_MESSAGE, *handle);
    if (*handle == MPI_MESSAGE_NO_PROC) {
        struct request *r = *out = mpi_request_new(REQUEST_RECEIVE);
        r->active = true;
        r->status = from_nobody;
        *handle = MPI_MESSAGE_NULL;
        mpi_request_done(r);
        return MPI_SUCCESS;
    }
    if (!m) return mpi_fail(NULL, MPI_ERR_REQUEST, "this is no message");
    if (count < 0) return mpi_fail(NULL, MPI_ERR_COUNT, "count is %d", count);
    TYPE(NULL, type, datatype);
    struct request *r = *out = mpi_irecv(buffer, count, type, m->source, m->tag, mpi.world, 0);
    r->context = m->context;
    r->active = true;
    r->room = (size_t)count * type->size;
    mpi_handle_free(m->handle);
    *handle = MPI_MESSAGE_NULL;
    mpi_take_message(m, r);
    return MPI_SUCCESS;
}

MPI(int, Mrecv,
    (void *buffer, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status))
{
    ENTER("Mrecv");
    struct request *r;
    TRY(take(buffer, count, type, message, &r));
    mpi_wait_for(r);
    int error = mpi_request_finish(r, status);
    return error ? mpi_fail(NULL, error, "the message is longer than the buffer") : MPI_SUCCESS;
}

MPI(int, Imrecv,
    (void *buffer, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request))
{
    ENTER("Imrecv");
    struct request *r;
    TRY(take(buffer, count, type, message, &r));
    mpi_note_start(r, true);
    *request = r->handle;
    return MPI_SUCCESS;
}

/* ---- packing ---- */

static int pack_size(int count, MPI_Datatype datatype, const struct comm *comm, size_t *bytes)
{
    TYPE(comm, type, datatype);
    if (count < 0) return mpi_fail(comm, MPI_ERR_COUNT, "count is %d", count);
    *bytes = (size_t)count * type->size;
    return MPI_SUCCESS;
}

static int pack(const void *in, int count, MPI_Datatype datatype, void *out, long size,
                long *position, const struct comm *comm)
{
    size_t bytes;
    TRY(pack_size(count, datatype, comm, &bytes));
    if (*position < 0 || *position + (long)bytes > size)
        return mpi_fail(comm, MPI_ERR_TRUNCATE,
                        "%zu bytes from position %ld on do not fit into %ld", bytes, *position,
                        size);
    if (bytes) mpi_type_pack(mpi_type(datatype), in, 0, (char *)out + *position, bytes);
    *position += (long)bytes;
    return MPI_SUCCESS;
}

static int unpack(const void *in, long size, long *position, void *out, int count,
                  MPI_Datatype datatype, const struct comm *comm)
{
    size_t bytes;
    TRY(pack_size(count, datatype, comm, &bytes));
    if (*position < 0 || *position + (long)bytes > size)
        return mpi_fail(comm, MPI_ERR_TRUNCATE, "there are no %zu bytes from position %ld on",
                        bytes, *position);
    if (bytes) mpi_type_unpack(mpi_type(datatype), out, 0, (const char *)in + *position, bytes);
    *position += (long)bytes;
    return MPI_SUCCESS;
}

MPI(int, Pack,
    (const void *in, int count, MPI_Datatype type, void *out, int size, int *position,
     MPI_Comm handle))
{
    ENTER("Pack");
    COMM(comm, handle);
    long at = *position;
    int error = pack(in, count, type, out, size, &at, comm);
    *position = (int)at;
    return error;
}

MPI(int, Unpack,
    (const void *in, int size, int *position, void *out, int count, MPI_Datatype type,
     MPI_Comm handle))
{
    ENTER("Unpack");
    COMM(comm, handle);
    long at = *position;
    int error = unpack(in, size, &at, out, count, type, comm);
    *position = (int)at;
    return error;
}

MPI(int, Pack_size, (int count, MPI_Datatype type, MPI_Comm handle, int *size))
{
    ENTER("Pack_size");
    COMM(comm, handle);
    size_t bytes = 0;
    TRY(pack_size(count, type, comm, &bytes));
    *size = (int)bytes;
    return MPI_SUCCESS;
}

/* "external32" is big-endian as the machine is. A long is 4 bytes in both; a long double is not. */
static int check_representation(const char *name)
{
    return strcmp(name, "external32") == 0
               ? MPI_SUCCESS
               : mpi_fail(NULL, MPI_ERR_ARG, "there is no representation '%s'", name);
}

MPI(int, Pack_external,
    (const char *name, const void *in, int count, MPI_Datatype type, void *out, MPI_Aint size,
     MPI_Aint *position))
{
    ENTER("Pack_external");
    TRY(check_representation(name));
    return pack(in, count, type, out, size, position, NULL);
}

MPI(int, Unpack_external,
    (const char *name, const void *in, MPI_Aint size, MPI_Aint *position, void *out, int count,
     MPI_Datatype type))
{
    ENTER("Unpack_external");
    TRY(check_representation(name));
    return unpack(in, size, position, out, count, type, NULL);
}

MPI(int, Pack_external_size, (const char *name, int count, MPI_Datatype type, MPI_Aint *size))
{
    ENTER("Pack_external_size");
    size_t bytes = 0;
    TRY(check_representation(name));
    TRY(pack_size(count, type, NULL, &bytes));
    *size = (MPI_Aint)bytes;
    return MPI_SUCCESS;
}
