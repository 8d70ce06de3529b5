/* Fortran bindings that do not follow from the prototypes: strings, indices from 1, functions of
 * the user, attributes. Operations and error handlers have the same arguments in both languages. */
#include "mpi_fortran.h"

/* As aligned as gfortran's common blocks. */
#define COMMON __attribute__((aligned(16)))
COMMON int chiliad_mpi_bottom_;
COMMON int chiliad_mpi_in_place_;
COMMON int chiliad_mpi_status_[5];
COMMON int chiliad_mpi_statuses_[5];
COMMON int chiliad_mpi_unweighted_;
COMMON int chiliad_mpi_weights_empty_;
MPI_Fint *MPI_F_STATUS_IGNORE = chiliad_mpi_status_, *MPI_F_STATUSES_IGNORE = chiliad_mpi_statuses_;

int mpi_keyval_create(enum kind kind, void *copy, void *erase, int *handle, void *extra,
                      int fortran);
int mpi_attr_set(enum kind kind, int handle, int key, void *value, int form);
int mpi_attr_get(enum kind kind, int handle, int key, void **value, int *form, int *flag);

FORTRAN(init, (MPI_Fint * error))
{
    RESULT(error) = MPI_Init(NULL, NULL);
}

FORTRAN(init_thread, (int *required, int *provided, MPI_Fint *error))
{
    RESULT(error) = MPI_Init_thread(NULL, NULL, *required, provided);
}

double pmpi_wtime_(void)
{
    return PMPI_Wtime();
}

double pmpi_wtick_(void)
{
    return PMPI_Wtick();
}

double mpi_wtime_(void)
{
    return MPI_Wtime();
}

double mpi_wtick_(void)
{
    return MPI_Wtick();
}

MPI_Fint mpi_fortran_ignored;

/* MPI_Sizeof, by type and kind; complex ones have two parts. */
#define SIZEOF(type, kind, bytes)                                                                  \
    void chiliad_mpi_sizeof_##type##_##kind##_(const void *x, MPI_Fint *size, MPI_Fint *error)     \
    {                                                                                              \
        (void)x;                                                                                   \
        *size = bytes;                                                                             \
        RESULT(error) = MPI_SUCCESS;                                                               \
    }
SIZEOF(integer, 1, 1)
SIZEOF(integer, 2, 2)
SIZEOF(integer, 4, 4)
SIZEOF(integer, 8, 8)
SIZEOF(real, 4, 4)
SIZEOF(real, 8, 8)
SIZEOF(complex, 4, 8)
SIZEOF(complex, 8, 16)
SIZEOF(logical, 4, 4)
SIZEOF(character, 1, 1)

/* Comparisons of handles in mpi_f08: functions of types with one integer. */
#define COMPARE(kind)                                                                              \
    MPI_Fint chiliad_mpi_eq_##kind##_(const int *a, const int *b)                                  \
    {                                                                                              \
        return *a == *b;                                                                           \
    }                                                                                              \
    MPI_Fint chiliad_mpi_ne_##kind##_(const int *a, const int *b)                                  \
    {                                                                                              \
        return *a != *b;                                                                           \
    }
COMPARE(comm)
COMPARE(group)
COMPARE(datatype)
COMPARE(request)
COMPARE(op)
COMPARE(errhandler)
COMPARE(info)
COMPARE(win)
COMPARE(file)
COMPARE(message)

/* ---- strings ---- */

static char *text_in(const char *text, size_t length)
{
    while (length && text[length - 1] == ' ')
        length--;
    while (length && *text == ' ') {
        text++;
        length--;
    }
    char *copy = mpi_alloc(length + 1);
    memcpy(copy, text, length);
    return copy;
}

static void text_out(char *to, size_t room, const char *from)
{
    size_t length = strlen(from);
    if (length > room) length = room;
    memcpy(to, from, length);
    memset(to + length, ' ', room - length);
}

#define GETS_TEXT(name, parameters, call)                                                          \
    FORTRAN(name, parameters)                                                                      \
    {                                                                                              \
        char text[MPI_MAX_INFO_VAL + 1] = "";                                                      \
        RESULT(error) = call;                                                                      \
        if (!RESULT(error)) text_out(out, room, text);                                             \
    }
GETS_TEXT(get_library_version, (char *out, int *length, MPI_Fint *error, size_t room),
          MPI_Get_library_version(text, length))
GETS_TEXT(get_processor_name, (char *out, int *length, MPI_Fint *error, size_t room),
          MPI_Get_processor_name(text, length))
GETS_TEXT(error_string, (int *code, char *out, int *length, MPI_Fint *error, size_t room),
          MPI_Error_string(*code, text, length))
GETS_TEXT(type_get_name,
          (MPI_Datatype * type, char *out, int *length, MPI_Fint *error, size_t room),
          MPI_Type_get_name(*type, text, length))
GETS_TEXT(comm_get_name, (MPI_Comm * comm, char *out, int *length, MPI_Fint *error, size_t room),
          MPI_Comm_get_name(*comm, text, length))
GETS_TEXT(win_get_name, (MPI_Win * win, char *out, int *length, MPI_Fint *error, size_t room),
          MPI_Win_get_name(*win, text, length))
GETS_TEXT(info_get_nthkey, (MPI_Info * info, int *number, char *out, MPI_Fint *error, size_t room),
          MPI_Info_get_nthkey(*info, *number, text))

#define TAKES_TEXT(name, parameters, call)                                                         \
    FORTRAN(name, parameters)                                                                      \
    {                                                                                              \
        char *text = text_in(in, size);                                                            \
        RESULT(error) = call;                                                                      \
        free(text);                                                                                \
    }
TAKES_TEXT(add_error_string, (int *code, const char *in, MPI_Fint *error, size_t size),
           MPI_Add_error_string(*code, text))
TAKES_TEXT(type_set_name, (MPI_Datatype * type, const char *in, MPI_Fint *error, size_t size),
           MPI_Type_set_name(*type, text))
TAKES_TEXT(comm_set_name, (MPI_Comm * comm, const char *in, MPI_Fint *error, size_t size),
           MPI_Comm_set_name(*comm, text))
TAKES_TEXT(win_set_name, (MPI_Win * win, const char *in, MPI_Fint *error, size_t size),
           MPI_Win_set_name(*win, text))
TAKES_TEXT(info_delete, (MPI_Info * info, const char *in, MPI_Fint *error, size_t size),
           MPI_Info_delete(*info, text))
TAKES_TEXT(info_get_valuelen,
           (MPI_Info * info, const char *in, int *length, int *flag, MPI_Fint *error, size_t size),
           MPI_Info_get_valuelen(*info, text, length, flag))
TAKES_TEXT(pack_external,
           (const char *in, void *from, int *count, MPI_Datatype *type, void *to, MPI_Aint *room,
            MPI_Aint *position, MPI_Fint *error, size_t size),
           MPI_Pack_external(text, fortran_address(from), *count, *type, to, *room, position))
TAKES_TEXT(unpack_external,
           (const char *in, void *from, MPI_Aint *room, MPI_Aint *position, void *to, int *count,
            MPI_Datatype *type, MPI_Fint *error, size_t size),
           MPI_Unpack_external(text, from, *room, position, fortran_address(to), *count, *type))
TAKES_TEXT(pack_external_size,
           (const char *in, int *count, MPI_Datatype *type, MPI_Aint *bytes, MPI_Fint *error,
            size_t size),
           MPI_Pack_external_size(text, *count, *type, bytes))

FORTRAN(info_set, (MPI_Info * info, const char *key, const char *value, MPI_Fint *error,
                   size_t key_size, size_t value_size))
{
    char *k = text_in(key, key_size), *v = text_in(value, value_size);
    RESULT(error) = MPI_Info_set(*info, k, v);
    free(k);
    free(v);
}

FORTRAN(info_get, (MPI_Info * info, const char *key, int *length, char *out, int *flag,
                   MPI_Fint *error, size_t key_size, size_t room))
{
    char *k = text_in(key, key_size), text[MPI_MAX_INFO_VAL + 1] = "";
    int most = *length < MPI_MAX_INFO_VAL ? *length : MPI_MAX_INFO_VAL;
    RESULT(error) = MPI_Info_get(*info, k, most, text, flag);
    if (!RESULT(error) && *flag) text_out(out, room, text);
    free(k);
}

/* ---- indices from 1 ---- */

FORTRAN(waitany,
        (int *count, MPI_Request *requests, int *index, MPI_Status *status, MPI_Fint *error))
{
    RESULT(error) = MPI_Waitany(*count, requests, index, fortran_status(status));
    if (*index != MPI_UNDEFINED) ++*index;
}

FORTRAN(testany, (int *count, MPI_Request *requests, int *index, int *flag, MPI_Status *status,
                  MPI_Fint *error))
{
    RESULT(error) = MPI_Testany(*count, requests, index, flag, fortran_status(status));
    if (*index != MPI_UNDEFINED) ++*index;
}

FORTRAN(waitsome, (int *count, MPI_Request *requests, int *out, int *indices, MPI_Status *statuses,
                   MPI_Fint *error))
{
    RESULT(error) = MPI_Waitsome(*count, requests, out, indices, fortran_status(statuses));
    for (int i = 0; *out != MPI_UNDEFINED && i < *out; i++)
        indices[i]++;
}

FORTRAN(testsome, (int *count, MPI_Request *requests, int *out, int *indices, MPI_Status *statuses,
                   MPI_Fint *error))
{
    RESULT(error) = MPI_Testsome(*count, requests, out, indices, fortran_status(statuses));
    for (int i = 0; *out != MPI_UNDEFINED && i < *out; i++)
        indices[i]++;
}

FORTRAN(buffer_detach, (void *buffer, int *size, MPI_Fint *error))
{
    void *address;
    (void)buffer;
    RESULT(error) = MPI_Buffer_detach(&address, size);
}

/* ---- functions of the user ---- */

FORTRAN(op_create, (MPI_User_function * function, int *commute, MPI_Op *op, MPI_Fint *error))
{
    RESULT(error) = MPI_Op_create(function, *commute, op);
}

/* ---- generalised requests ---- */

/* Functions of Fortran with what they get; C's functions below call them. */
struct general_fortran {
    void (*query)(MPI_Aint *extra, MPI_Status *status, MPI_Fint *error);
    void (*release)(MPI_Aint *extra, MPI_Fint *error);
    void (*cancel)(MPI_Aint *extra, MPI_Fint *complete, MPI_Fint *error);
    MPI_Aint *extra; /* the program's variable */
};

static int general_query(void *extra, MPI_Status *status)
{
    struct general_fortran *g = extra;
    MPI_Fint error = MPI_SUCCESS;
    g->query(g->extra, status, &error);
    return error;
}

static int general_free(void *extra)
{
    struct general_fortran *g = extra;
    MPI_Fint error = MPI_SUCCESS;
    g->release(g->extra, &error);
    free(g);
    return error;
}

static int general_cancel(void *extra, int complete)
{
    struct general_fortran *g = extra;
    MPI_Fint error = MPI_SUCCESS;
    g->cancel(g->extra, &complete, &error);
    return error;
}

FORTRAN(grequest_start, (void *query, void *release, void *cancel, MPI_Aint *extra,
                         MPI_Request *request, MPI_Fint *error))
{
    struct general_fortran *g = mpi_alloc(sizeof *g);
    *g = (struct general_fortran){query, release, cancel, extra};
    RESULT(error) = MPI_Grequest_start(general_query, general_free, general_cancel, g, request);
}

/* ---- functions with a value ---- */

MPI_Aint mpi_aint_add_(const MPI_Aint *base, const MPI_Aint *more)
{
    return MPI_Aint_add(*base, *more);
}

MPI_Aint mpi_aint_diff_(const MPI_Aint *one, const MPI_Aint *other)
{
    return MPI_Aint_diff(*one, *other);
}

/* ---- handlers of errors ---- */

FORTRAN(errhandler_create,
        (MPI_Handler_function * function, MPI_Errhandler *handler, MPI_Fint *error))
{
    RESULT(error) = MPI_Errhandler_create(function, handler);
}

FORTRAN(comm_create_errhandler,
        (MPI_Comm_errhandler_function * function, MPI_Errhandler *handler, MPI_Fint *error))
{
    RESULT(error) = MPI_Comm_create_errhandler(function, handler);
}

FORTRAN(win_create_errhandler,
        (MPI_Win_errhandler_function * function, MPI_Errhandler *handler, MPI_Fint *error))
{
    RESULT(error) = MPI_Win_create_errhandler(function, handler);
}

FORTRAN(file_create_errhandler,
        (MPI_File_errhandler_function * function, MPI_Errhandler *handler, MPI_Fint *error))
{
    RESULT(error) = MPI_File_create_errhandler(function, handler);
}

/* ---- attributes ---- */

typedef void copies(int *object, int *key, void **extra, void **in, void **out, int *flag,
                    int *error);
typedef void erases(int *object, int *key, void **value, void **extra, int *error);

#define COPY_ALL(name)                                                                             \
    void name(int *object, int *key, void **extra, void **in, void **out, int *flag, int *error)   \
    {                                                                                              \
        (void)object, (void)key, (void)extra;                                                      \
        *out = *in;                                                                                \
        *flag = 1;                                                                                 \
        RESULT(error) = MPI_SUCCESS;                                                               \
    }
#define COPY_NOTHING(name)                                                                         \
    void name(int *object, int *key, void **extra, void **in, void **out, int *flag, int *error)   \
    {                                                                                              \
        (void)object, (void)key, (void)extra, (void)in, (void)out;                                 \
        *flag = 0;                                                                                 \
        RESULT(error) = MPI_SUCCESS;                                                               \
    }
#define DELETE_NOTHING(name)                                                                       \
    void name(int *object, int *key, void **value, void **extra, int *error)                       \
    {                                                                                              \
        (void)object, (void)key, (void)value, (void)extra;                                         \
        RESULT(error) = MPI_SUCCESS;                                                               \
    }
#define STANDARD(prefix)                                                                           \
    copies prefix##dup_fn_, prefix##null_copy_fn_;                                                 \
    erases prefix##null_delete_fn_;                                                                \
    COPY_ALL(prefix##dup_fn_)                                                                      \
    COPY_NOTHING(prefix##null_copy_fn_) DELETE_NOTHING(prefix##null_delete_fn_)
STANDARD(mpi_)
STANDARD(mpi_comm_)
STANDARD(mpi_type_)
STANDARD(mpi_win_)

/* A value that Fortran set is seen by C through a pointer; what C set is an address for Fortran. */
static int get_value(enum kind kind, int handle, int key, MPI_Aint *value, int *flag)
{
    void *found = NULL;
    int form, error = mpi_attr_get(kind, handle, key, &found, &form, flag);
    if (error || !*flag) return error;
    bool is_base = kind == KIND_WIN && key == MPI_WIN_BASE;
    *value = form == ATTR_POINTER || is_base ? (MPI_Aint)found : *(MPI_Aint *)found;
    return error;
}

#define ATTRIBUTES(create, set, get, kind, text)                                                   \
    FORTRAN(create, (void *copy, void *erase, int *key, MPI_Aint *extra, MPI_Fint *error))         \
    {                                                                                              \
        ENTER(text);                                                                               \
        RESULT(error) = mpi_keyval_create(kind, copy, erase, key, (void *)*extra, 1);              \
    }                                                                                              \
    FORTRAN(set, (int *handle, int *key, MPI_Aint *value, MPI_Fint *error))                        \
    {                                                                                              \
        ENTER(text);                                                                               \
        RESULT(error) = mpi_attr_set(kind, *handle, *key, (void *)*value, ATTR_INT);               \
    }                                                                                              \
    FORTRAN(get, (int *handle, int *key, MPI_Aint *value, int *flag, MPI_Fint *error))             \
    {                                                                                              \
        ENTER(text);                                                                               \
        RESULT(error) = get_value(kind, *handle, *key, value, flag);                               \
    }
ATTRIBUTES(keyval_create, attr_put, attr_get, KIND_COMM, "Attr_put")
ATTRIBUTES(comm_create_keyval, comm_set_attr, comm_get_attr, KIND_COMM, "Comm_set_attr")
ATTRIBUTES(type_create_keyval, type_set_attr, type_get_attr, KIND_TYPE, "Type_set_attr")
ATTRIBUTES(win_create_keyval, win_set_attr, win_get_attr, KIND_WIN, "Win_set_attr")

/* ---- files ---- */

TAKES_TEXT(file_open,
           (MPI_Comm * comm, const char *in, int *mode, MPI_Info *info, MPI_File *file,
            MPI_Fint *error, size_t size),
           MPI_File_open(*comm, text, *mode, *info, file))
TAKES_TEXT(file_delete, (const char *in, MPI_Info *info, MPI_Fint *error, size_t size),
           MPI_File_delete(text, *info))
TAKES_TEXT(file_set_view,
           (MPI_File * file, MPI_Offset *start, MPI_Datatype *etype, MPI_Datatype *filetype,
            const char *in, MPI_Info *info, MPI_Fint *error, size_t size),
           MPI_File_set_view(*file, *start, *etype, *filetype, text, *info))
GETS_TEXT(file_get_view,
          (MPI_File * file, MPI_Offset *start, MPI_Datatype *etype, MPI_Datatype *filetype,
           char *out, MPI_Fint *error, size_t room),
          MPI_File_get_view(*file, start, etype, filetype, text))
