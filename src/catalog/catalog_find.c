/* Where the data files are.
 *
 * $CHILIAD_DATA is obeyed or refused, never passed over: a user who set it does not want other
 * data. Beside the program only a `data` that has `machines` in it counts, since `data` is a common
 * name for a folder. A machine's name from a command line becomes part of a path only when it has
 * no '/' and does not start with '.'; with a '/' it is a path.
 */
#include "catalog/catalog.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char suffix[] = ".machine";

__attribute__((format(printf, 4, 5))) static int
make_path(char *path, size_t size, struct chil_error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(path, size, format, args);
    va_end(args);
    if (length >= 0 && (size_t)length < size) return 0;
    return chil_error_set(err, CHIL_ERANGE, "path '%.80s…' is too long; use a shorter one", path);
}

static bool is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static bool has_machines(const char *directory)
{
    char path[CATALOG_PATH_MAX];
    return make_path(path, sizeof path, NULL, "%s/machines", directory) == 0 && is_directory(path);
}

/* Tries `data` beside and above the program; false when there is none. */
static bool find_beside_program(char *buffer, size_t size)
{
    static const char *const places[] = {"data", "../data", "../../data", "../share/chiliad"};
    char program[CATALOG_PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) return false;
    program[length] = 0;
    char *slash = strrchr(program, '/');
    if (!slash) return false;
    *slash = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (make_path(buffer, size, NULL, "%s/%s", program, places[i]) == 0 && has_machines(buffer))
            return true;
    return false;
}

int chil_data_directory(char *buffer, size_t size, struct chil_error *err)
{
    const char *wanted = getenv("CHILIAD_DATA");
    if (wanted && *wanted) {
        if (!has_machines(wanted))
            return chil_error_set(
                err, CHIL_ENOENT,
                "CHILIAD_DATA is '%s', which has no folder 'machines'; correct it or unset it",
                wanted);
        return make_path(buffer, size, err, "%s", wanted);
    }
    if (find_beside_program(buffer, size)) return 0;
    int status = make_path(buffer, size, err, "%s/share/chiliad", CHILIAD_PREFIX);
    if (status) return status;
    if (has_machines(buffer)) return 0;
    return chil_error_set(
        err, CHIL_ENOENT,
        "no data files beside the program or in '%s'; set CHILIAD_DATA to their folder", buffer);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int chil_machine_names(char ***names, size_t *count, struct chil_error *err)
{
    char directory[CATALOG_PATH_MAX], path[CATALOG_PATH_MAX];
    *names = NULL;
    *count = 0;
    int status = chil_data_directory(directory, sizeof directory, err);
    if (!status) status = make_path(path, sizeof path, err, "%s/machines", directory);
    if (status) return status;
    DIR *folder = opendir(path);
    if (!folder)
        return chil_error_set(err, CHIL_EIO, "cannot read '%s': %s", path, strerror(errno));
    size_t capacity = 0;
    struct dirent *entry;
    while ((entry = readdir(folder))) {
        size_t length = strlen(entry->d_name);
        if (length < sizeof suffix ||
            strcmp(entry->d_name + length - sizeof suffix + 1, suffix) != 0)
            continue;
        if (!catalog_is_name(entry->d_name)) continue; /* an editor's leavings, say */
        *names = base_grow(*names, &capacity, *count + 1, sizeof **names);
        char *name = base_calloc(length, 1);
        memcpy(name, entry->d_name, length - sizeof suffix + 1);
        (*names)[(*count)++] = name;
    }
    (void)closedir(folder);
    if (*count) qsort(*names, *count, sizeof **names, by_text);
    return 0;
}

void chil_names_free(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

static const char *name_at(const void *table, size_t index)
{
    return ((char *const *)table)[index];
}

static int no_such_machine(const char *name, struct chil_error *err)
{
    char **names, hint[200];
    size_t count;
    int status = chil_machine_names(&names, &count, err);
    if (status) return status;
    const char *nearest = text_nearest(name, names, count, name_at);
    if (nearest)
        text_hint(hint, sizeof hint, nearest);
    else
        (void)snprintf(hint, sizeof hint, "; 'chiliad list machines' shows those there are");
    status = chil_error_set(err, CHIL_ENOENT, "no machine '%s'%s", name, hint);
    chil_names_free(names, count);
    return status;
}

int catalog_find_machine(char *path, const char *name, struct chil_error *err)
{
    char directory[CATALOG_PATH_MAX];
    if (strchr(name, '/')) return make_path(path, CATALOG_PATH_MAX, err, "%s", name);
    if (!catalog_is_name(name))
        return chil_error_set(
            err, CHIL_EINVAL,
            "'%s' is not a machine's name; use letters, digits and _ . -, or a path", name);
    int status = chil_data_directory(directory, sizeof directory, err);
    if (!status)
        status =
            make_path(path, CATALOG_PATH_MAX, err, "%s/machines/%s%s", directory, name, suffix);
    if (status) return status;
    return access(path, F_OK) == 0 ? 0 : no_such_machine(name, err);
}

int catalog_find_events(char *path, const char *machine_name, const char *file,
                        struct chil_error *err)
{
    static const char *const beside[] = {"../events/", ""};
    const char *slash = strrchr(machine_name, '/');
    for (size_t i = 0; slash && i < sizeof beside / sizeof *beside; i++) {
        int folder = (int)(slash - machine_name);
        int status = make_path(path, CATALOG_PATH_MAX, err, "%.*s/%s%s", folder, machine_name,
                               beside[i], file);
        if (status) return status;
        if (access(path, F_OK) == 0) return 0;
    }
    char directory[CATALOG_PATH_MAX];
    int status = chil_data_directory(directory, sizeof directory, err);
    if (status) return status;
    return make_path(path, CATALOG_PATH_MAX, err, "%s/events/%s", directory, file);
}
