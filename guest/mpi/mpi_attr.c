/* Attributes of communicators, datatypes and windows; info objects.
 *
 * A value remembers how it was set. C sees a pointer; what Fortran set is seen through a pointer to
 * it, and Fortran sees what C set as an address (integers of both are 32 bits).
 */
#include "mpi_impl.h"

#include <stdio.h>

struct attribute **mpi_win_attributes(MPI_Win win);

static struct attribute **attributes_of(enum kind kind, int handle)
{
    if (kind == KIND_COMM) {
        struct comm *comm = mpi_comm(handle);
        return comm ? &comm->attributes : NULL;
    }
    if (kind == KIND_TYPE) {
        struct type *type = mpi_type(handle);
        return type ? &type->attributes : NULL;
    }
    return mpi_win_attributes(handle);
}

static int no_object(enum kind kind, int handle)
{
    if (kind == KIND_COMM) return mpi_comm_wrong(handle);
    if (kind == KIND_TYPE) return mpi_fail(NULL, MPI_ERR_TYPE, "%s", mpi_type_text(handle));
    return mpi_fail(NULL, MPI_ERR_WIN, "this is no window");
}

int chiliad_mpi_dup_fn(int object, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)object;
    (void)keyval;
    (void)extra;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

/* ---- keys ---- */

int mpi_keyval_create(enum kind kind, void *copy, void *erase, int *handle, void *extra,
                      int fortran)
{
    struct keyval *keyval = mpi_alloc(sizeof *keyval);
    *keyval = (struct keyval){.refs = 1,
                              .kind = kind,
                              .fortran = fortran != 0,
                              .fortran_int = fortran == 1,
                              .copy = copy,
                              .erase = erase,
                              .extra = extra};
    *handle = keyval->handle = mpi_handle_new(KIND_KEYVAL, keyval);
    return MPI_SUCCESS;
}

static void release(struct keyval *keyval)
{
    if (--keyval->refs) return;
    mpi_handle_free(keyval->handle);
    free(keyval);
}

/* Attributes keep a key; one that was freed may be freed again by another copy of its handle. */
static int keyval_free(int *handle)
{
    struct keyval *keyval = mpi_object(KIND_KEYVAL, *handle);
    if (keyval && keyval->freed) {
        *handle = MPI_KEYVAL_INVALID;
        return MPI_SUCCESS;
    }
    if (!keyval) return mpi_fail(NULL, MPI_ERR_KEYVAL, "this key cannot be freed");
    *handle = MPI_KEYVAL_INVALID;
    keyval->freed = true;
    release(keyval);
    return MPI_SUCCESS;
}

/* ---- callbacks ---- */

typedef int c_copy(int object, int keyval, void *extra, void *in, void *out, int *flag);
typedef int c_erase(int object, int keyval, void *value, void *extra);
typedef void fortran_copy(int *object, int *keyval, void *extra, void *in, void *out, int *flag,
                          int *error);
typedef void fortran_erase(int *object, int *keyval, void *value, void *extra, int *error);

static int call_erase(int handle, struct attribute *a)
{
    struct keyval *k = a->keyval;
    if (!k->erase) return MPI_SUCCESS;
    if (!k->fortran) return ((c_erase *)k->erase)(handle, k->handle, a->value, k->extra);
    int error = MPI_SUCCESS, key = k->handle;
    ((fortran_erase *)k->erase)(&handle, &key, &a->value, &k->extra, &error);
    return error;
}

static int call_copy(int handle, const struct attribute *a, void **value, int *flag)
{
    struct keyval *k = a->keyval;
    *flag = 0;
    if (!k->copy) return MPI_SUCCESS;
    if (!k->fortran) return ((c_copy *)k->copy)(handle, k->handle, k->extra, a->value, value, flag);
    int error = MPI_SUCCESS, key = k->handle;
    void *in = a->value;
    ((fortran_copy *)k->copy)(&handle, &key, &k->extra, &in, value, flag, &error);
    return error;
}

static void append(struct attribute **list, struct keyval *keyval, void *value, int form)
{
    struct attribute *a = mpi_alloc(sizeof *a);
    while (*list)
        list = &(*list)->next;
    *a = (struct attribute){NULL, keyval, value, form};
    keyval->refs++;
    *list = a;
}

int mpi_attr_copy_all(enum kind kind, int from, struct attribute *attributes, struct attribute **to)
{
    (void)kind;
    for (; attributes; attributes = attributes->next) {
        void *value = NULL;
        int flag, error = call_copy(from, attributes, &value, &flag);
        if (error) return error;
        if (flag) append(to, attributes->keyval, value, attributes->form);
    }
    return MPI_SUCCESS;
}

static int erase(int handle, struct attribute **at)
{
    struct attribute *a = *at;
    int error = call_erase(handle, a);
    if (error) return error;
    *at = a->next;
    release(a->keyval);
    free(a);
    return MPI_SUCCESS;
}

/* The last one that was set goes first. */
int mpi_attr_delete_all(int handle, struct attribute **attributes)
{
    while (*attributes) {
        struct attribute **at = attributes;
        while ((*at)->next)
            at = &(*at)->next;
        TRY(erase(handle, at));
    }
    return MPI_SUCCESS;
}

/* ---- values ---- */

static struct attribute **find(struct attribute **list, const struct keyval *keyval)
{
    while (*list && (*list)->keyval != keyval)
        list = &(*list)->next;
    return list;
}

/* By the handler of the object. */
static int failed(enum kind kind, int handle, int class, const char *text)
{
    return mpi_fail(kind == KIND_COMM ? mpi_comm(handle) : NULL, class, "%s", text);
}

static struct keyval *key_of(enum kind kind, int handle)
{
    struct keyval *keyval = mpi_object(KIND_KEYVAL, handle);
    return keyval && keyval->kind == kind ? keyval : NULL;
}

int mpi_attr_set(enum kind kind, int handle, int key, void *value, int form)
{
    struct attribute **list = attributes_of(kind, handle);
    struct keyval *keyval = key_of(kind, key);
    if (!list) return no_object(kind, handle);
    if (!keyval) return failed(kind, handle, MPI_ERR_KEYVAL, "no attribute can be set by this key");
    struct attribute **at = find(list, keyval);
    if (*at) {
        int error = call_erase(handle, *at);
        if (error) return failed(kind, handle, error, "the delete function failed");
        (*at)->value = value;
        (*at)->form = form;
    } else
        append(list, keyval, value, form);
    return MPI_SUCCESS;
}

static int predefined_value(int key, int **value)
{
    static int tag_ub = 0x3fffffff, host = MPI_PROC_NULL, io = MPI_ANY_SOURCE, global = 1, universe,
               last, app;
    universe = mpi.ranks;
    last = mpi.error_last;
    switch (key) {
    case MPI_TAG_UB: *value = &tag_ub; break;
    case MPI_HOST: *value = &host; break;
    case MPI_IO: *value = &io; break;
    case MPI_WTIME_IS_GLOBAL: *value = &global; break;
    case MPI_UNIVERSE_SIZE: *value = &universe; break;
    case MPI_LASTUSEDCODE: *value = &last; break;
    case MPI_APPNUM: *value = &app; break;
    default: return 0;
    }
    return 1;
}

int mpi_win_predefined(MPI_Win win, int key, void **value);

/* *form: how it was set, or ATTR_POINTER with a pointer to an int for predefined ones. */
int mpi_attr_get(enum kind kind, int handle, int key, void **value, int *form, int *flag)
{
    struct attribute **list = attributes_of(kind, handle);
    struct keyval *keyval = key_of(kind, key);
    if (!list) return no_object(kind, handle);
    *flag = 0;
    *form = ATTR_POINTER;
    if (kind == KIND_COMM && predefined_value(key, (int **)value)) {
        *form = -1;
        *flag = 1;
        return MPI_SUCCESS;
    }
    if (kind == KIND_WIN && mpi_win_predefined(handle, key, value)) {
        *form = -1;
        *flag = 1;
        return MPI_SUCCESS;
    }
    if (!keyval) return failed(kind, handle, MPI_ERR_KEYVAL, "this is no key of such an attribute");
    struct attribute *const *at = find(list, keyval);
    if (!*at) return MPI_SUCCESS;
    *flag = 1;
    *form = (*at)->form;
    *value = *form == ATTR_POINTER ? (*at)->value : (void *)&(*at)->value;
    return MPI_SUCCESS;
}

static int delete_one(enum kind kind, int handle, int key)
{
    struct attribute **list = attributes_of(kind, handle);
    struct keyval *keyval = key_of(kind, key);
    if (!list) return no_object(kind, handle);
    if (!keyval)
        return failed(kind, handle, MPI_ERR_KEYVAL, "no attribute can be deleted by this key");
    struct attribute **at = find(list, keyval);
    if (!*at) return failed(kind, handle, MPI_ERR_KEYVAL, "there is no such attribute");
    int error = erase(handle, at);
    return error ? failed(kind, handle, error, "the delete function failed") : MPI_SUCCESS;
}

#define ATTRIBUTES(type, kind, text, create, release_key, set, get, erase_one)                     \
    MPI(int, create,                                                                               \
        (type##_copy_attr_function * copy, type##_delete_attr_function * erase_fn, int *keyval,    \
         void *extra))                                                                             \
    {                                                                                              \
        ENTER(text "_create_keyval");                                                              \
        return mpi_keyval_create(kind, (void *)copy, (void *)erase_fn, keyval, extra, 0);          \
    }                                                                                              \
    MPI(int, release_key, (int *keyval))                                                           \
    {                                                                                              \
        ENTER(text "_free_keyval");                                                                \
        return keyval_free(keyval);                                                                \
    }                                                                                              \
    MPI(int, set, (int handle, int keyval, void *value))                                           \
    {                                                                                              \
        ENTER(text "_set_attr");                                                                   \
        return mpi_attr_set(kind, handle, keyval, value, ATTR_POINTER);                            \
    }                                                                                              \
    MPI(int, get, (int handle, int keyval, void *value, int *flag))                                \
    {                                                                                              \
        ENTER(text "_get_attr");                                                                   \
        int form;                                                                                  \
        return mpi_attr_get(kind, handle, keyval, value, &form, flag);                             \
    }                                                                                              \
    MPI(int, erase_one, (int handle, int keyval))                                                  \
    {                                                                                              \
        ENTER(text "_delete_attr");                                                                \
        return delete_one(kind, handle, keyval);                                                   \
    }

ATTRIBUTES(MPI_Comm, KIND_COMM, "Comm", Comm_create_keyval, Comm_free_keyval, Comm_set_attr,
           Comm_get_attr, Comm_delete_attr)
ATTRIBUTES(MPI_Type, KIND_TYPE, "Type", Type_create_keyval, Type_free_keyval, Type_set_attr,
           Type_get_attr, Type_delete_attr)
ATTRIBUTES(MPI_Win, KIND_WIN, "Win", Win_create_keyval, Win_free_keyval, Win_set_attr, Win_get_attr,
           Win_delete_attr)

/* MPI-1's names. */
MPI(int, Keyval_create,
    (MPI_Copy_function * copy, MPI_Delete_function *erase_fn, int *keyval, void *extra))
{
    ENTER("Keyval_create");
    return mpi_keyval_create(KIND_COMM, (void *)copy, (void *)erase_fn, keyval, extra, 0);
}

MPI(int, Keyval_free, (int *keyval))
{
    ENTER("Keyval_free");
    return keyval_free(keyval);
}

MPI(int, Attr_put, (MPI_Comm comm, int keyval, void *value))
{
    ENTER("Attr_put");
    return mpi_attr_set(KIND_COMM, comm, keyval, value, ATTR_POINTER);
}

MPI(int, Attr_get, (MPI_Comm comm, int keyval, void *value, int *flag))
{
    ENTER("Attr_get");
    int form;
    return mpi_attr_get(KIND_COMM, comm, keyval, value, &form, flag);
}

MPI(int, Attr_delete, (MPI_Comm comm, int keyval))
{
    ENTER("Attr_delete");
    return delete_one(KIND_COMM, comm, keyval);
}
