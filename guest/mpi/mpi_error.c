/* Errors: classes, their texts, handlers. A code is its class, or one that the user added. */
#include "mpi_impl.h"

#include <stdarg.h>
#include <stdio.h>

static const char *const texts[] = {
    [MPI_SUCCESS] = "MPI_SUCCESS: no error",
    [MPI_ERR_BUFFER] = "MPI_ERR_BUFFER: wrong buffer",
    [MPI_ERR_COUNT] = "MPI_ERR_COUNT: wrong count",
    [MPI_ERR_TYPE] = "MPI_ERR_TYPE: wrong datatype",
    [MPI_ERR_TAG] = "MPI_ERR_TAG: wrong tag",
    [MPI_ERR_COMM] = "MPI_ERR_COMM: wrong communicator",
    [MPI_ERR_RANK] = "MPI_ERR_RANK: wrong rank",
    [MPI_ERR_REQUEST] = "MPI_ERR_REQUEST: wrong request",
    [MPI_ERR_ROOT] = "MPI_ERR_ROOT: wrong root",
    [MPI_ERR_GROUP] = "MPI_ERR_GROUP: wrong group",
    [MPI_ERR_OP] = "MPI_ERR_OP: wrong operation",
    [MPI_ERR_TOPOLOGY] = "MPI_ERR_TOPOLOGY: wrong topology",
    [MPI_ERR_DIMS] = "MPI_ERR_DIMS: wrong dimensions",
    [MPI_ERR_ARG] = "MPI_ERR_ARG: wrong argument",
    [MPI_ERR_UNKNOWN] = "MPI_ERR_UNKNOWN: unknown error",
    [MPI_ERR_TRUNCATE] = "MPI_ERR_TRUNCATE: message truncated",
    [MPI_ERR_OTHER] = "MPI_ERR_OTHER: other error",
    [MPI_ERR_INTERN] = "MPI_ERR_INTERN: internal error",
    [MPI_ERR_IN_STATUS] = "MPI_ERR_IN_STATUS: the error is in a status",
    [MPI_ERR_PENDING] = "MPI_ERR_PENDING: the request is pending",
    [MPI_ERR_KEYVAL] = "MPI_ERR_KEYVAL: wrong attribute key",
    [MPI_ERR_NO_MEM] = "MPI_ERR_NO_MEM: out of memory",
    [MPI_ERR_BASE] = "MPI_ERR_BASE: wrong base",
    [MPI_ERR_INFO_KEY] = "MPI_ERR_INFO_KEY: key too long",
    [MPI_ERR_INFO_VALUE] = "MPI_ERR_INFO_VALUE: value too long",
    [MPI_ERR_INFO_NOKEY] = "MPI_ERR_INFO_NOKEY: no such key",
    [MPI_ERR_INFO] = "MPI_ERR_INFO: wrong info object",
    [MPI_ERR_SPAWN] = "MPI_ERR_SPAWN: cannot start processes",
    [MPI_ERR_PORT] = "MPI_ERR_PORT: wrong port",
    [MPI_ERR_SERVICE] = "MPI_ERR_SERVICE: wrong service",
    [MPI_ERR_NAME] = "MPI_ERR_NAME: no such name",
    [MPI_ERR_WIN] = "MPI_ERR_WIN: wrong window",
    [MPI_ERR_SIZE] = "MPI_ERR_SIZE: wrong size",
    [MPI_ERR_DISP] = "MPI_ERR_DISP: wrong displacement",
    [MPI_ERR_LOCKTYPE] = "MPI_ERR_LOCKTYPE: wrong kind of lock",
    [MPI_ERR_ASSERT] = "MPI_ERR_ASSERT: wrong assertion",
    [MPI_ERR_RMA_CONFLICT] = "MPI_ERR_RMA_CONFLICT: conflicting accesses to a window",
    [MPI_ERR_RMA_SYNC] = "MPI_ERR_RMA_SYNC: wrong synchronisation of a window",
    [MPI_ERR_RMA_RANGE] = "MPI_ERR_RMA_RANGE: outside the window",
    [MPI_ERR_RMA_ATTACH] = "MPI_ERR_RMA_ATTACH: cannot attach memory",
    [MPI_ERR_RMA_SHARED] = "MPI_ERR_RMA_SHARED: memory cannot be shared",
    [MPI_ERR_RMA_FLAVOR] = "MPI_ERR_RMA_FLAVOR: wrong kind of window",
    [MPI_ERR_FILE] = "MPI_ERR_FILE: wrong file",
    [MPI_ERR_NOT_SAME] = "MPI_ERR_NOT_SAME: arguments differ between processes",
    [MPI_ERR_AMODE] = "MPI_ERR_AMODE: wrong access mode",
    [MPI_ERR_UNSUPPORTED_DATAREP] = "MPI_ERR_UNSUPPORTED_DATAREP: unsupported data representation",
    [MPI_ERR_UNSUPPORTED_OPERATION] = "MPI_ERR_UNSUPPORTED_OPERATION: unsupported operation",
    [MPI_ERR_NO_SUCH_FILE] = "MPI_ERR_NO_SUCH_FILE: no such file",
    [MPI_ERR_FILE_EXISTS] = "MPI_ERR_FILE_EXISTS: the file exists",
    [MPI_ERR_BAD_FILE] = "MPI_ERR_BAD_FILE: wrong file name",
    [MPI_ERR_ACCESS] = "MPI_ERR_ACCESS: no permission",
    [MPI_ERR_NO_SPACE] = "MPI_ERR_NO_SPACE: no space",
    [MPI_ERR_QUOTA] = "MPI_ERR_QUOTA: quota exceeded",
    [MPI_ERR_READ_ONLY] = "MPI_ERR_READ_ONLY: read only",
    [MPI_ERR_FILE_IN_USE] = "MPI_ERR_FILE_IN_USE: the file is in use",
    [MPI_ERR_DUP_DATAREP] = "MPI_ERR_DUP_DATAREP: the representation exists",
    [MPI_ERR_CONVERSION] = "MPI_ERR_CONVERSION: conversion failed",
    [MPI_ERR_IO] = "MPI_ERR_IO: input or output failed",
};
enum { TEXTS = sizeof texts / sizeof *texts, ADDED = MPI_ERR_LASTCODE + 1, ADDED_MAX = 1024 };

/* Of the user: class and text of each code. */
static struct {
    int class;
    char *text;
} added[ADDED_MAX];

static const char *text_of(int code)
{
    if (code >= 0 && code < TEXTS) return texts[code];
    if (code >= ADDED && code <= mpi.error_last)
        return added[code - ADDED].text ? added[code - ADDED].text : "";
    return NULL;
}

static int class_of(int code)
{
    if (code >= ADDED && code <= mpi.error_last) return added[code - ADDED].class;
    return code >= 0 && code < TEXTS ? code : MPI_ERR_UNKNOWN;
}

/* ---- raising ---- */

static int call_handler(int object, struct errhandler *handler, int code, const char *text)
{
    if (!handler || handler->handle == MPI_ERRORS_ARE_FATAL) {
        const char *name = text_of(code);
        (void)fflush(stdout);
        (void)fprintf(stderr, "mpi: rank %d: %s: %.*s: %s\n", mpi.rank, mpi_call ? mpi_call : "MPI",
                      (int)strcspn(name ? name : "error", ":"), name ? name : "error", text);
        mpi_abort(code);
    }
    if (handler->function) {
        handler->refs++;
        int copy = object;
        ((MPI_Comm_errhandler_function *)handler->function)(&copy, &code);
        handler->refs--;
    }
    return code;
}

int mpi_fail(const struct comm *comm, int class, const char *text, ...)
{
    char line[200];
    va_list list;
    va_start(list, text);
    (void)vsnprintf(line, sizeof line, text, list);
    va_end(list);
    if (!comm) comm = mpi.world;
    return call_handler(comm ? comm->handle : MPI_COMM_NULL, comm ? comm->handler : NULL, class,
                        line);
}

int mpi_fail_object(int handle, struct errhandler *handler, int class, const char *text)
{
    return call_handler(handle, handler, class, text);
}

/* ---- calls about codes ---- */

MPI(int, Error_string, (int code, char *text, int *length))
{
    ENTER("Error_string");
    const char *found = text_of(code);
    if (!found) return mpi_fail(NULL, MPI_ERR_ARG, "%d is no error code", code);
    strcpy(text, found);
    *length = (int)strlen(text);
    return MPI_SUCCESS;
}

MPI(int, Error_class, (int code, int *class))
{
    ENTER("Error_class");
    *class = class_of(code);
    return MPI_SUCCESS;
}

static int add_code(int class, int *code)
{
    if (mpi.error_last + 1 - ADDED >= ADDED_MAX)
        return mpi_fail(NULL, MPI_ERR_OTHER, "too many error codes");
    if (mpi.error_last < ADDED) mpi.error_last = ADDED - 1;
    *code = ++mpi.error_last;
    added[*code - ADDED].class = class ? class : *code;
    return MPI_SUCCESS;
}

MPI(int, Add_error_class, (int *class))
{
    ENTER("Add_error_class");
    return add_code(0, class);
}

MPI(int, Add_error_code, (int class, int *code))
{
    ENTER("Add_error_code");
    return add_code(class, code);
}

MPI(int, Add_error_string, (int code, const char *text))
{
    ENTER("Add_error_string");
    if (code < ADDED || code > mpi.error_last)
        return mpi_fail(NULL, MPI_ERR_ARG, "%d was not made by MPI_Add_error_code", code);
    free(added[code - ADDED].text);
    added[code - ADDED].text = strndup(text, MPI_MAX_ERROR_STRING - 1);
    return MPI_SUCCESS;
}

/* ---- handlers ---- */

static struct errhandler fatal = {.handle = MPI_ERRORS_ARE_FATAL, .refs = 1},
                         returns = {.handle = MPI_ERRORS_RETURN, .refs = 1};

void mpi_error_init(void)
{
    mpi_handle_set(MPI_ERRORS_ARE_FATAL, &fatal);
    mpi_handle_set(MPI_ERRORS_RETURN, &returns);
    mpi.error_last = MPI_ERR_LASTCODE;
}

static void release(struct errhandler *handler)
{
    if (!handler || --handler->refs || handler == &fatal || handler == &returns) return;
    mpi_handle_free(handler->handle);
    free(handler);
}

static int create(enum kind kind, void *function, MPI_Errhandler *out)
{
    struct errhandler *handler = mpi_alloc(sizeof *handler);
    *handler = (struct errhandler){.refs = 1, .kind = kind, .function = function};
    *out = handler->handle = mpi_handle_new(KIND_ERRHANDLER, handler);
    return MPI_SUCCESS;
}

static int set(struct errhandler **place, MPI_Errhandler handle, enum kind kind)
{
    struct errhandler *handler = mpi_object(KIND_ERRHANDLER, handle);
    if (!handler || (handler->kind && handler->kind != kind))
        return mpi_fail(NULL, MPI_ERR_ARG, "this is no error handler for that");
    handler->refs++;
    release(*place);
    *place = handler;
    return MPI_SUCCESS;
}

static int get(struct errhandler *const *place, struct errhandler *none, MPI_Errhandler *out)
{
    struct errhandler *handler = *place ? *place : none;
    handler->refs++;
    *out = handler->handle;
    return MPI_SUCCESS;
}

struct errhandler *mpi_errhandler_retain(struct errhandler *handler)
{
    if (handler) handler->refs++;
    return handler;
}

void mpi_errhandler_release(struct errhandler *handler)
{
    release(handler);
}

int mpi_errhandler_set(struct errhandler **place, MPI_Errhandler handle, enum kind kind)
{
    return set(place, handle, kind);
}

int mpi_errhandler_get(struct errhandler *const *place, bool is_fatal, MPI_Errhandler *out)
{
    return get(place, is_fatal ? &fatal : &returns, out);
}

MPI(int, Comm_create_errhandler, (MPI_Comm_errhandler_function * function, MPI_Errhandler *handler))
{
    ENTER("Comm_create_errhandler");
    return create(KIND_COMM, (void *)function, handler);
}

MPI(int, Errhandler_create, (MPI_Handler_function * function, MPI_Errhandler *handler))
{
    ENTER("Errhandler_create");
    return create(KIND_COMM, (void *)function, handler);
}

MPI(int, Win_create_errhandler, (MPI_Win_errhandler_function * function, MPI_Errhandler *handler))
{
    ENTER("Win_create_errhandler");
    return create(KIND_WIN, (void *)function, handler);
}

MPI(int, File_create_errhandler, (MPI_File_errhandler_function * function, MPI_Errhandler *handler))
{
    ENTER("File_create_errhandler");
    return create(KIND_FILE, (void *)function, handler);
}

static int comm_set(MPI_Comm handle, MPI_Errhandler handler)
{
    COMM(comm, handle);
    return set(&comm->handler, handler, KIND_COMM);
}

static int comm_get(MPI_Comm handle, MPI_Errhandler *handler)
{
    COMM(comm, handle);
    return get(&comm->handler, &fatal, handler);
}

MPI(int, Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler handler))
{
    ENTER("Comm_set_errhandler");
    return comm_set(comm, handler);
}

MPI(int, Errhandler_set, (MPI_Comm comm, MPI_Errhandler handler))
{
    ENTER("Errhandler_set");
    return comm_set(comm, handler);
}

MPI(int, Comm_get_errhandler, (MPI_Comm comm, MPI_Errhandler *handler))
{
    ENTER("Comm_get_errhandler");
    return comm_get(comm, handler);
}

MPI(int, Errhandler_get, (MPI_Comm comm, MPI_Errhandler *handler))
{
    ENTER("Errhandler_get");
    return comm_get(comm, handler);
}

MPI(int, Errhandler_free, (MPI_Errhandler * handle))
{
    ENTER("Errhandler_free");
    struct errhandler *handler = mpi_object(KIND_ERRHANDLER, *handle);
    if (!handler) return mpi_fail(NULL, MPI_ERR_ARG, "this is no error handler");
    release(handler);
    *handle = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}

MPI(int, Comm_call_errhandler, (MPI_Comm handle, int code))
{
    ENTER("Comm_call_errhandler");
    COMM(comm, handle);
    (void)call_handler(handle, comm->handler, code, "called by the program");
    return MPI_SUCCESS;
}
