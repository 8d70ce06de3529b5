/* Results that are served: files that were named, and those in a folder.
 *
 * The data of a result are made when they are first asked for, and kept while the file has the same
 * time and size, up to a limit for all together. One result is made at a time: reading a large
 * experiment takes as much memory as showing it. An experiment that is too large for a browser
 * stays open, one at a time, and is asked for sums (serve_sums.c).
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/serve.h"

enum { KEPT_MAX = 512 << 20, FOLDER_MAX = 10000 };

struct result {
    char *path;
    const char *name, *kind;  /* of the path; by its ending */
    struct stat status;       /* when `data` were made */
    bool asks;                /* `data` are without values */
    struct serve_bytes *data; /* NULL: none */
    uint64_t used;            /* when, as a number that grows */
};
struct serve_results {
    pthread_mutex_t lock, making;
    struct page_kept asked; /* the experiment that was last asked for sums; under `making` */
    unsigned asked_id;
    struct stat asked_status;
    struct result *result;
    size_t count, capacity, kept;
    char *folder;
    uint64_t clock;
};

/* --- Bytes ----------------------------------------------------------------------------------- */

struct serve_bytes *serve_bytes_new(const char *data, size_t size)
{
    struct serve_bytes *bytes = malloc(sizeof *bytes + size + 1);
    if (!bytes) return NULL;
    atomic_init(&bytes->references, 1);
    bytes->size = size;
    if (data) memcpy(bytes->data, data, size);
    bytes->data[size] = 0;
    return bytes;
}

struct serve_bytes *serve_bytes_keep(struct serve_bytes *bytes)
{
    if (bytes) (void)atomic_fetch_add(&bytes->references, 1);
    return bytes;
}

void serve_bytes_drop(void *bytes)
{
    struct serve_bytes *b = bytes;
    if (b && atomic_fetch_sub(&b->references, 1) == 1) free(b);
}

/* --- Files ----------------------------------------------------------------------------------- */

struct serve_results *serve_results_new(void)
{
    struct serve_results *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    (void)pthread_mutex_init(&r->lock, NULL);
    (void)pthread_mutex_init(&r->making, NULL);
    return r;
}

void serve_results_free(struct serve_results *r)
{
    if (!r) return;
    for (size_t i = 0; i < r->count; i++) {
        free(r->result[i].path);
        serve_bytes_drop(r->result[i].data);
    }
    free(r->result);
    free(r->folder);
    if (r->asked.is_open) report_close(&r->asked.report);
    (void)pthread_mutex_destroy(&r->lock);
    (void)pthread_mutex_destroy(&r->making);
    free(r);
}

static const char *kind_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    if (!dot) return NULL;
    if (strcmp(dot, ".cubex") == 0 || strcmp(dot, ".cube") == 0) return "experiment";
    return strcmp(dot, ".json") == 0 ? "result" : NULL;
}

static struct result *find(struct serve_results *r, const char *path)
{
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->result[i].path, path) == 0) return &r->result[i];
    return NULL;
}

static int add(struct serve_results *r, const char *path, const char *kind)
{
    if (find(r, path)) return 0;
    if (r->count == r->capacity) {
        size_t capacity = r->capacity ? 2 * r->capacity : 16;
        struct result *more = reallocarray(r->result, capacity, sizeof *more);
        if (!more) return cmd_fail("serve", "out of memory");
        r->result = more;
        r->capacity = capacity;
    }
    struct result *one = &r->result[r->count];
    *one = (struct result){.path = strdup(path), .kind = kind};
    if (!one->path) return cmd_fail("serve", "out of memory");
    const char *slash = strrchr(one->path, '/');
    one->name = slash ? slash + 1 : one->path;
    r->count++;
    return 0;
}

static int is_shown(const struct dirent *entry)
{
    return *entry->d_name != '.' && kind_of(entry->d_name);
}

/* New files of the folder are added, in the order of their names. */
static int read_folder(struct serve_results *r)
{
    struct dirent **entry = NULL;
    int status = 0, count = r->folder ? scandir(r->folder, &entry, is_shown, alphasort) : 0;
    if (count < 0)
        return cmd_fail("serve", "cannot read the folder '%s': %s", r->folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        char *path = NULL;
        if (!status && r->count < FOLDER_MAX &&
            asprintf(&path, "%s/%s", r->folder, entry[i]->d_name) > 0)
            status = add(r, path, kind_of(entry[i]->d_name));
        free(path);
        free(entry[i]);
    }
    free(entry); // NOLINT(bugprone-multi-level-implicit-pointer-conversion)
    return status;
}

int serve_results_add(struct serve_results *r, const char *path)
{
    struct stat status;
    if (stat(path, &status))
        return cmd_fail("serve", "cannot open '%s': %s", path, strerror(errno));
    if (S_ISREG(status.st_mode)) return add(r, path, kind_of(path) ? kind_of(path) : "experiment");
    if (!S_ISDIR(status.st_mode))
        return cmd_fail("serve", "'%s' is neither a file nor a folder", path);
    if (r->folder)
        return cmd_fail("serve", "one folder is served at a time, not '%s' and '%s'", r->folder,
                        path);
    r->folder = strdup(path);
    return r->folder ? read_folder(r) : cmd_fail("serve", "out of memory");
}

size_t serve_results_count(struct serve_results *r)
{
    (void)pthread_mutex_lock(&r->lock);
    size_t count = r->count;
    (void)pthread_mutex_unlock(&r->lock);
    return count;
}

json_t *serve_results_list(struct serve_results *r)
{
    json_t *list = json_array();
    (void)pthread_mutex_lock(&r->lock);
    (void)read_folder(r);
    for (size_t i = 0; i < r->count; i++) {
        struct stat status;
        if (stat(r->result[i].path, &status)) continue;
        (void)json_array_append_new(
            list, json_pack("{s:i,s:o,s:s,s:I,s:I}", "id", (int)i, "file",
                            view_json_text(r->result[i].name), "kind", r->result[i].kind, "bytes",
                            (json_int_t)status.st_size, "modified", (json_int_t)status.st_mtime));
    }
    (void)pthread_mutex_unlock(&r->lock);
    return list;
}

/* --- Data ------------------------------------------------------------------------------------ */

static struct serve_bytes *make(const char *path, struct page_kept *kept)
{
    const struct chil_metric_options options = {0};
    struct serve_bytes *bytes = NULL;
    struct chil_error err = {0};
    struct page page;
    char *text = NULL;
    size_t size = 0;
    page_init(&page, "serve");
    FILE *out =
        page_add_file(&page, path, NULL, &options, kept) ? NULL : open_memstream(&text, &size);
    if (out) {
        int status = view_page_data(&page.blocks, page_header(&page), out, &err);
        if (fclose(out) == 0 && !status) bytes = serve_bytes_new(text, size);
    }
    free(text);
    page_fini(&page);
    return bytes;
}

/* Data that were not used for the longest time go. */
static void forget_some(struct serve_results *r)
{
    while (r->kept > KEPT_MAX) {
        struct result *oldest = NULL;
        for (size_t i = 0; i < r->count; i++)
            if (r->result[i].data && (!oldest || r->result[i].used < oldest->used))
                oldest = &r->result[i];
        if (!oldest) return;
        r->kept -= oldest->data->size;
        serve_bytes_drop(oldest->data);
        oldest->data = NULL;
    }
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Makes the data of a result. An experiment that is to be asked takes the place of the last one. */
static struct serve_bytes *make_result(struct serve_results *r, unsigned id, const char *path,
                                       const struct stat *status)
{
    struct page_kept kept = {.most = r->asked.most};
    struct serve_bytes *made = make(path, &kept);
    if (r->asked.is_open && (kept.is_open || r->asked_id == id)) {
        report_close(&r->asked.report);
        r->asked.is_open = false;
    }
    if (!kept.is_open) return made;
    r->asked = kept;
    r->asked_id = id;
    r->asked_status = *status;
    return made;
}

/* The lock is held at the beginning and the end, not while data are made. */
static struct serve_bytes *get(struct serve_results *r, unsigned id)
{
    struct stat status;
    struct serve_bytes *made;
    char *path;
    if (stat(r->result[id].path, &status)) return NULL;
    r->result[id].used = ++r->clock;
    if (r->result[id].data && is_same(&r->result[id].status, &status))
        return serve_bytes_keep(r->result[id].data);
    path = strdup(r->result[id].path);
    (void)pthread_mutex_unlock(&r->lock);
    made = path ? make_result(r, id, path, &status) : NULL;
    free(path);
    (void)pthread_mutex_lock(&r->lock);
    if (!made) return NULL;
    struct result *one = &r->result[id];
    if (one->data) r->kept -= one->data->size;
    serve_bytes_drop(one->data);
    one->data = serve_bytes_keep(made);
    one->status = status;
    one->asks = r->asked.is_open && r->asked_id == id;
    r->kept += made->size;
    forget_some(r);
    return made;
}

struct serve_bytes *serve_results_get(struct serve_results *r, unsigned id, bool *known)
{
    struct serve_bytes *bytes = NULL;
    (void)pthread_mutex_lock(&r->making);
    (void)pthread_mutex_lock(&r->lock);
    *known = id < r->count;
    if (*known) bytes = get(r, id);
    (void)pthread_mutex_unlock(&r->lock);
    (void)pthread_mutex_unlock(&r->making);
    return bytes;
}

void serve_results_keep_above(struct serve_results *r, size_t values)
{
    r->asked.most = values;
}

/* Opens the experiment to be asked, if it is not the one that is open. */
static bool open_asked(struct serve_results *r, unsigned id)
{
    struct stat status;
    (void)pthread_mutex_lock(&r->lock);
    const struct result *one = id < r->count ? &r->result[id] : NULL;
    bool found = one && !stat(one->path, &status);
    if (found && one->data && !one->asks && is_same(&one->status, &status)) found = false;
    char *path = found ? strdup(one->path) : NULL;
    (void)pthread_mutex_unlock(&r->lock);
    found = path != NULL;
    if (found && !(r->asked.is_open && r->asked_id == id && is_same(&r->asked_status, &status)))
        serve_bytes_drop(make_result(r, id, path, &status));
    free(path);
    return found && r->asked.is_open && r->asked_id == id;
}

struct serve_bytes *serve_results_sums(struct serve_results *r, unsigned id,
                                       const struct serve_wanted *wanted, bool *known, bool *good)
{
    struct serve_bytes *bytes = NULL;
    (void)pthread_mutex_lock(&r->making);
    *known = open_asked(r, id);
    if (*known) bytes = serve_sums(chil_report_exp(r->asked.report.report), wanted, good);
    (void)pthread_mutex_unlock(&r->making);
    return bytes;
}
