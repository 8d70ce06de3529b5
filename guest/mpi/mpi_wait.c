/* Completion of requests: wait, test, and what belongs to them. */
#include "mpi_note.h"

int mpi_start_any(struct request *r);

struct general { /* a generalised request's functions */
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *release;
    MPI_Grequest_cancel_function *cancel;
    void *extra;
};

void mpi_status_empty(MPI_Status *status)
{
    *status = (MPI_Status){.MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG};
}

/* MPI_ERROR is set only by calls with several statuses. */
void mpi_status_set(MPI_Status *status, const MPI_Status *from)
{
    if (status == MPI_STATUS_IGNORE) return;
    int error = status->MPI_ERROR;
    *status = *from;
    status->MPI_ERROR = error;
}

static bool is_over(const struct request *r)
{
    return r->complete || (r->persistent && !r->active);
}

int mpi_request_finish(struct request *r, MPI_Status *status)
{
    MPI_Status result;
    mpi_status_empty(&result);
    if (r->active || !r->persistent) {
        if (r->general) (void)r->general->query(r->general->extra, &r->status);
        result = r->status;
        if (r->active) mpi_note_end(r);
        if (r->kind == REQUEST_SEND && !r->is_null) {
            result.MPI_SOURCE = MPI_ANY_SOURCE;
            result.MPI_TAG = MPI_ANY_TAG;
        }
    }
    mpi_status_set(status, &result);
    r->active = false;
    if (!r->persistent) {
        if (r->general) {
            (void)r->general->release(r->general->extra);
            free(r->general);
        }
        mpi_request_delete(r);
    }
    return result.MPI_ERROR;
}

static int find(MPI_Request handle, struct request **out)
{
    *out = NULL;
    if (handle == MPI_REQUEST_NULL) return MPI_SUCCESS;
    *out = mpi_request(handle);
    return *out ? MPI_SUCCESS : mpi_fail(NULL, MPI_ERR_REQUEST, "this is no request");
}

/* The user's handle of a request that was finished. */
static int finish(MPI_Request *handle, struct request *r, MPI_Status *status)
{
    if (!r->persistent) *handle = MPI_REQUEST_NULL;
    return mpi_request_finish(r, status);
}

static int failed(int error, struct comm *comm)
{
    if (!error) return MPI_SUCCESS;
    return mpi_fail(comm, error,
                    error == MPI_ERR_TRUNCATE ? "the message is longer than the buffer"
                                              : "it failed");
}

MPI(int, Wait, (MPI_Request * handle, MPI_Status *status))
{
    ENTER("Wait");
    struct request *r;
    TRY(find(*handle, &r));
    if (!r) {
        MPI_Status empty;
        mpi_status_empty(&empty);
        mpi_status_set(status, &empty);
        return MPI_SUCCESS;
    }
    if (r->active)
        while (!is_over(r))
            mpi_progress_wait();
    struct comm *comm = r->comm && mpi_comm(r->comm->handle) ? r->comm : NULL;
    return failed(finish(handle, r, status), comm);
}

MPI(int, Test, (MPI_Request * handle, int *flag, MPI_Status *status))
{
    ENTER("Test");
    struct request *r;
    TRY(find(*handle, &r));
    if (r && !is_over(r)) mpi_progress();
    *flag = !r || is_over(r);
    if (!*flag) return MPI_SUCCESS;
    if (r) return failed(finish(handle, r, status), NULL);
    MPI_Status empty;
    mpi_status_empty(&empty);
    mpi_status_set(status, &empty);
    return MPI_SUCCESS;
}

/* ---- several ---- */

static int check_all(int count, const MPI_Request *handles)
{
    struct request *r;
    if (count < 0) return mpi_fail(NULL, MPI_ERR_COUNT, "count is %d", count);
    for (int i = 0; i < count; i++)
        TRY(find(handles[i], &r));
    return MPI_SUCCESS;
}

/* Not null, and started if it is persistent. */
static struct request *active(MPI_Request handle)
{
    struct request *r = handle == MPI_REQUEST_NULL ? NULL : mpi_request(handle);
    return r && r->persistent && !r->active ? NULL : r;
}

static bool all_over(int count, const MPI_Request *handles)
{
    for (int i = 0; i < count; i++) {
        const struct request *r = active(handles[i]);
        if (r && !is_over(r)) return false;
    }
    return true;
}

static int finish_all(int count, MPI_Request *handles, MPI_Status *statuses)
{
    int failures = 0, first = 0;
    for (int i = 0; i < count; i++) {
        MPI_Status status;
        mpi_status_empty(&status);
        struct request *r = active(handles[i]);
        int error = r ? finish(&handles[i], r, &status) : MPI_SUCCESS;
        status.MPI_ERROR = error;
        if (statuses != MPI_STATUSES_IGNORE) statuses[i] = status;
        if (error && !failures++) first = error;
    }
    if (!failures) return MPI_SUCCESS;
    return mpi_fail(NULL, MPI_ERR_IN_STATUS, "%d requests failed, the first one with class %d",
                    failures, first);
}

MPI(int, Waitall, (int count, MPI_Request *handles, MPI_Status *statuses))
{
    ENTER("Waitall");
    TRY(check_all(count, handles));
    for (int i = 0; i < count; i++) {
        const struct request *r = active(handles[i]);
        while (r && !is_over(r))
            mpi_progress_wait();
    }
    return finish_all(count, handles, statuses);
}

MPI(int, Testall, (int count, MPI_Request *handles, int *flag, MPI_Status *statuses))
{
    ENTER("Testall");
    TRY(check_all(count, handles));
    if (!all_over(count, handles)) mpi_progress();
    *flag = all_over(count, handles);
    return *flag ? finish_all(count, handles, statuses) : MPI_SUCCESS;
}

/* The first that is over; MPI_UNDEFINED: none yet; *any: is one active? */
static int first_over(int count, const MPI_Request *handles, bool *any)
{
    *any = false;
    for (int i = 0; i < count; i++) {
        const struct request *r = active(handles[i]);
        if (!r) continue;
        *any = true;
        if (is_over(r)) return i;
    }
    return MPI_UNDEFINED;
}

static int any(int count, MPI_Request *handles, int *index, int *flag, MPI_Status *status)
{
    bool some;
    TRY(check_all(count, handles));
    *index = first_over(count, handles, &some);
    if (*index == MPI_UNDEFINED && some && flag) {
        mpi_progress();
        *index = first_over(count, handles, &some);
    }
    while (*index == MPI_UNDEFINED && some && !flag) {
        mpi_progress_wait();
        *index = first_over(count, handles, &some);
    }
    if (flag) *flag = *index != MPI_UNDEFINED || !some;
    if (*index != MPI_UNDEFINED)
        return failed(finish(&handles[*index], mpi_request(handles[*index]), status), NULL);
    if (!some) {
        MPI_Status empty;
        mpi_status_empty(&empty);
        mpi_status_set(status, &empty);
    }
    return MPI_SUCCESS;
}

MPI(int, Waitany, (int count, MPI_Request *handles, int *index, MPI_Status *status))
{
    ENTER("Waitany");
    return any(count, handles, index, NULL, status);
}

MPI(int, Testany, (int count, MPI_Request *handles, int *index, int *flag, MPI_Status *status))
{
    ENTER("Testany");
    return any(count, handles, index, flag, status);
}

static int some(int count, MPI_Request *handles, int *out, int *indices, MPI_Status *statuses,
                bool waits)
{
    bool is_active;
    int failures = 0;
    TRY(check_all(count, handles));
    int first = first_over(count, handles, &is_active);
    if (first == MPI_UNDEFINED && is_active) mpi_progress();
    first = first_over(count, handles, &is_active);
    while (first == MPI_UNDEFINED && is_active && waits) {
        mpi_progress_wait();
        first = first_over(count, handles, &is_active);
    }
    *out = is_active ? 0 : MPI_UNDEFINED;
    for (int i = 0; i < count && is_active; i++) {
        struct request *r = active(handles[i]);
        if (!r || !is_over(r)) continue;
        MPI_Status status;
        int error = finish(&handles[i], r, &status);
        status.MPI_ERROR = error;
        failures += error != 0;
        if (statuses != MPI_STATUSES_IGNORE) statuses[*out] = status;
        indices[(*out)++] = i;
    }
    return failures ? mpi_fail(NULL, MPI_ERR_IN_STATUS, "%d requests failed", failures)
                    : MPI_SUCCESS;
}

MPI(int, Waitsome, (int count, MPI_Request *handles, int *out, int *indices, MPI_Status *statuses))
{
    ENTER("Waitsome");
    return some(count, handles, out, indices, statuses, true);
}

MPI(int, Testsome, (int count, MPI_Request *handles, int *out, int *indices, MPI_Status *statuses))
{
    ENTER("Testsome");
    return some(count, handles, out, indices, statuses, false);
}

/* ---- others ---- */

static int start(MPI_Request handle)
{
    struct request *r;
    TRY(find(handle, &r));
    if (!r || !r->persistent)
        return mpi_fail(NULL, MPI_ERR_REQUEST, "the request is not persistent");
    if (r->active) return mpi_fail(NULL, MPI_ERR_REQUEST, "the request has been started already");
    mpi_note_start(r, true);
    return mpi_start_any(r);
}

MPI(int, Start, (MPI_Request * handle))
{
    ENTER("Start");
    return start(*handle);
}

MPI(int, Startall, (int count, MPI_Request *handles))
{
    ENTER("Startall");
    for (int i = 0; i < count; i++)
        TRY(start(handles[i]));
    return MPI_SUCCESS;
}

MPI(int, Request_free, (MPI_Request * handle))
{
    ENTER("Request_free");
    struct request *r;
    TRY(find(*handle, &r));
    if (!r) return mpi_fail(NULL, MPI_ERR_REQUEST, "the request is MPI_REQUEST_NULL");
    *handle = MPI_REQUEST_NULL;
    if (r->complete || !r->active) {
        r->persistent = false;
        (void)mpi_request_finish(r, MPI_STATUS_IGNORE);
    } else
        r->freed = true;
    return MPI_SUCCESS;
}

MPI(int, Request_get_status, (MPI_Request handle, int *flag, MPI_Status *status))
{
    ENTER("Request_get_status");
    struct request *r;
    MPI_Status empty;
    TRY(find(handle, &r));
    mpi_status_empty(&empty);
    if (r && !is_over(r)) mpi_progress();
    *flag = !r || is_over(r);
    if (!*flag) return MPI_SUCCESS;
    bool real = r && (r->active || !r->persistent) &&
                (r->kind != REQUEST_SEND || r->is_null || r->cancelled);
    if (real && r->general) (void)r->general->query(r->general->extra, &r->status);
    mpi_status_set(status, real ? &r->status : &empty);
    return MPI_SUCCESS;
}

MPI(int, Cancel, (MPI_Request * handle))
{
    ENTER("Cancel");
    struct request *r;
    TRY(find(*handle, &r));
    if (!r) return mpi_fail(NULL, MPI_ERR_REQUEST, "the request is MPI_REQUEST_NULL");
    if (r->persistent && !r->active)
        return mpi_fail(NULL, MPI_ERR_REQUEST, "the request was not started");
    if (r->kind == REQUEST_SCHEDULE)
        return mpi_fail(NULL, MPI_ERR_REQUEST, "a collective cannot be cancelled");
    if (r->general)
        (void)r->general->cancel(r->general->extra, r->complete);
    else
        mpi_cancel(r);
    return MPI_SUCCESS;
}

MPI(int, Test_cancelled, (const MPI_Status *status, int *flag))
{
    *flag = status->chiliad_cancelled;
    return MPI_SUCCESS;
}

MPI(int, Status_set_cancelled, (MPI_Status * status, int flag))
{
    status->chiliad_cancelled = flag != 0;
    return MPI_SUCCESS;
}

MPI(int, Get_count, (const MPI_Status *status, MPI_Datatype datatype, int *count))
{
    ENTER("Get_count");
    TYPE(NULL, type, datatype);
    size_t bytes = (size_t)status->chiliad_bytes;
    if (!type->size)
        *count = bytes ? MPI_UNDEFINED : 0;
    else
        *count = bytes % type->size ? MPI_UNDEFINED : (int)(bytes / type->size);
    return MPI_SUCCESS;
}

MPI(int, Get_elements_x, (const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count))
{
    ENTER("Get_elements_x");
    TYPE(NULL, type, datatype);
    *count = mpi_type_elements(type, (size_t)status->chiliad_bytes);
    return MPI_SUCCESS;
}

MPI(int, Get_elements, (const MPI_Status *status, MPI_Datatype datatype, int *count))
{
    ENTER("Get_elements");
    TYPE(NULL, type, datatype);
    *count = (int)mpi_type_elements(type, (size_t)status->chiliad_bytes);
    return MPI_SUCCESS;
}

static int set_elements(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    TYPE(NULL, type, datatype);
    status->chiliad_bytes = (int)(count * (MPI_Count)type->size);
    return MPI_SUCCESS;
}

MPI(int, Status_set_elements, (MPI_Status * status, MPI_Datatype type, int count))
{
    ENTER("Status_set_elements");
    return set_elements(status, type, count);
}

MPI(int, Status_set_elements_x, (MPI_Status * status, MPI_Datatype type, MPI_Count count))
{
    ENTER("Status_set_elements_x");
    return set_elements(status, type, count);
}

MPI(int, Status_c2f, (const MPI_Status *from, MPI_Fint *to))
{
    memcpy(to, from, sizeof *from);
    return MPI_SUCCESS;
}

MPI(int, Status_f2c, (const MPI_Fint *from, MPI_Status *to))
{
    memcpy(to, from, sizeof *to);
    return MPI_SUCCESS;
}

/* ---- generalised requests ---- */

MPI(int, Grequest_start,
    (MPI_Grequest_query_function * query, MPI_Grequest_free_function *release,
     MPI_Grequest_cancel_function *cancel, void *extra, MPI_Request *handle))
{
    ENTER("Grequest_start");
    struct request *r = mpi_request_new(REQUEST_GENERAL);
    r->general = mpi_alloc(sizeof *r->general);
    *r->general = (struct general){query, release, cancel, extra};
    r->active = true;
    mpi_status_empty(&r->status);
    *handle = r->handle;
    return MPI_SUCCESS;
}

MPI(int, Grequest_complete, (MPI_Request handle))
{
    ENTER("Grequest_complete");
    struct request *r;
    TRY(find(handle, &r));
    if (!r || !r->general) return mpi_fail(NULL, MPI_ERR_REQUEST, "this is no generalised request");
    if (r->freed) {
        r->complete = true;
        (void)mpi_request_finish(r, MPI_STATUS_IGNORE);
    } else
        mpi_request_done(r);
    return MPI_SUCCESS;
}
