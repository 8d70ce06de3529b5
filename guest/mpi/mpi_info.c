/* Info objects: lists of keys and values, in the order in which the keys came. */
#include "mpi_impl.h"

#include <stdio.h>

struct pair {
    struct pair *next;
    char *key, *value;
};

struct info {
    int handle;
    struct pair *first;
};

static struct info environment = {.handle = MPI_INFO_ENV};

void mpi_info_init(void)
{
    mpi_handle_set(MPI_INFO_ENV, &environment);
}

static struct pair **find(struct info *info, const char *key)
{
    struct pair **at = &info->first;
    while (*at && strcmp((*at)->key, key) != 0)
        at = &(*at)->next;
    return at;
}

static void set(struct info *info, const char *key, const char *value)
{
    struct pair **at = find(info, key);
    if (!*at) {
        *at = mpi_alloc(sizeof **at);
        (*at)->key = strdup(key);
    } else
        free((*at)->value);
    (*at)->value = strdup(value);
}

static struct info *create(void)
{
    struct info *info = mpi_alloc(sizeof *info);
    info->handle = mpi_handle_new(KIND_INFO, info);
    return info;
}

struct info *mpi_info_copy(const struct info *info)
{
    if (!info) return NULL;
    struct info *copy = create();
    for (const struct pair *p = info->first; p; p = p->next)
        set(copy, p->key, p->value);
    return copy;
}

int mpi_info_handle(const struct info *info)
{
    return info ? info->handle : MPI_INFO_NULL;
}

void mpi_info_release(struct info *info)
{
    if (!info) return;
    while (info->first) {
        struct pair *p = info->first;
        info->first = p->next;
        free(p->key);
        free(p->value);
        free(p);
    }
    mpi_handle_free(info->handle);
    free(info);
}

#define INFO(variable, number)                                                                     \
    struct info *variable = mpi_object(KIND_INFO, number);                                         \
    if (!variable)                                                                                 \
    return mpi_fail(NULL, MPI_ERR_INFO,                                                            \
                    (number) == MPI_INFO_NULL ? "the info is MPI_INFO_NULL" : "this is no info")

static int check_key(const char *key)
{
    if (!key || !*key || strlen(key) > MPI_MAX_INFO_KEY)
        return mpi_fail(NULL, MPI_ERR_INFO_KEY, "the key is empty or too long");
    return MPI_SUCCESS;
}

MPI(int, Info_create, (MPI_Info * out))
{
    ENTER("Info_create");
    *out = create()->handle;
    return MPI_SUCCESS;
}

MPI(int, Info_dup, (MPI_Info handle, MPI_Info *copy))
{
    ENTER("Info_dup");
    INFO(info, handle);
    *copy = mpi_info_copy(info)->handle;
    return MPI_SUCCESS;
}

MPI(int, Info_free, (MPI_Info * handle))
{
    ENTER("Info_free");
    INFO(info, *handle);
    if (info == &environment) return mpi_fail(NULL, MPI_ERR_INFO, "MPI_INFO_ENV cannot be freed");
    mpi_info_release(info);
    *handle = MPI_INFO_NULL;
    return MPI_SUCCESS;
}

MPI(int, Info_set, (MPI_Info handle, const char *key, const char *value))
{
    ENTER("Info_set");
    INFO(info, handle);
    TRY(check_key(key));
    if (!value || strlen(value) > MPI_MAX_INFO_VAL)
        return mpi_fail(NULL, MPI_ERR_INFO_VALUE, "the value of '%s' is missing or too long", key);
    set(info, key, value);
    return MPI_SUCCESS;
}

MPI(int, Info_get, (MPI_Info handle, const char *key, int length, char *value, int *flag))
{
    ENTER("Info_get");
    INFO(info, handle);
    TRY(check_key(key));
    if (length < 0) return mpi_fail(NULL, MPI_ERR_ARG, "the length is %d", length);
    const struct pair *p = *find(info, key);
    *flag = p != NULL;
    if (p) (void)snprintf(value, (size_t)length + 1, "%s", p->value);
    return MPI_SUCCESS;
}

MPI(int, Info_get_valuelen, (MPI_Info handle, const char *key, int *length, int *flag))
{
    ENTER("Info_get_valuelen");
    INFO(info, handle);
    TRY(check_key(key));
    const struct pair *p = *find(info, key);
    *flag = p != NULL;
    if (p) *length = (int)strlen(p->value);
    return MPI_SUCCESS;
}

MPI(int, Info_delete, (MPI_Info handle, const char *key))
{
    ENTER("Info_delete");
    INFO(info, handle);
    TRY(check_key(key));
    struct pair **at = find(info, key), *p = *at;
    if (!p) return mpi_fail(NULL, MPI_ERR_INFO_NOKEY, "there is no key '%s'", key);
    *at = p->next;
    free(p->key);
    free(p->value);
    free(p);
    return MPI_SUCCESS;
}

MPI(int, Info_get_nkeys, (MPI_Info handle, int *count))
{
    ENTER("Info_get_nkeys");
    INFO(info, handle);
    *count = 0;
    for (const struct pair *p = info->first; p; p = p->next)
        ++*count;
    return MPI_SUCCESS;
}

MPI(int, Info_get_nthkey, (MPI_Info handle, int number, char *key))
{
    ENTER("Info_get_nthkey");
    INFO(info, handle);
    const struct pair *p = info->first;
    for (int i = 0; p && i < number; i++)
        p = p->next;
    if (!p || number < 0) return mpi_fail(NULL, MPI_ERR_ARG, "there is no key %d", number);
    strcpy(key, p->key);
    return MPI_SUCCESS;
}

static int comm_set(MPI_Comm handle, MPI_Info info)
{
    COMM(comm, handle);
    struct info *copy = mpi_info_copy(mpi_object(KIND_INFO, info));
    mpi_info_release(comm->info);
    comm->info = copy;
    return MPI_SUCCESS;
}

MPI(int, Comm_set_info, (MPI_Comm comm, MPI_Info info))
{
    ENTER("Comm_set_info");
    return comm_set(comm, info);
}

MPI(int, Comm_get_info, (MPI_Comm handle, MPI_Info *out))
{
    ENTER("Comm_get_info");
    COMM(comm, handle);
    *out = comm->info ? mpi_info_copy(comm->info)->handle : create()->handle;
    return MPI_SUCCESS;
}
