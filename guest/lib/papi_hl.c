/* The high-level interface: regions, their counts, and the file about them.
 *
 * Every visit of a region is an entry of its own; papi_hl_output_writer and the like add them up. A region begins with
 * a read of the thread's set and ends with another, so regions may lie in one another. At the end of the program, or at
 * PAPI_hl_stop and shutdown, all entries go to papi_hl_output/rank_NNNNNN.json below $PAPI_OUTPUT_DIRECTORY or the
 * working folder; a folder of that name that is there already is renamed. With several ranks it is used again: they all
 * write into it, and none knows which is the first.
 *
 * The rank is that of the launcher ($OMPI_COMM_WORLD_RANK and so on), else that of the process on the machine: PAPI
 * itself takes a random number, which would make runs differ. The name of a renamed folder has the number of the first
 * free one for the same reason.
 */
#include "papi_impl.h"

#include <chiliad/personality.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EVENTS_MAX = 1100, READS_STEP = 4 };

struct visit {
    char *name;
    int parent;        /* number of the visit around it, -1 for none */
    long long *values; /* looks: at the begin, at each read, at the end */
    unsigned looks;
    bool open;
};

struct hl_thread {
    unsigned long id;
    int set;
    struct visit *visits;
    int count, capacity;
    int current; /* the innermost open visit, or -1 */
    struct hl_thread *next;
};

static struct {
    pthread_mutex_t lock;
    bool ready, failed, stopped;
    char *events; /* the list, cut into names */
    const char *names[EVENTS_MAX];
    bool instant[EVENTS_MAX];
    int count;
    struct hl_thread *threads;
} hl = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __thread struct hl_thread *mine;

/* A look has these before the events' values. */
enum { LOOK_CYCLES, LOOK_NSEC, LOOK_EVENTS };

/* --- Events ------------------------------------------------------------------------------------------------------- */

static void warn(const char *what, const char *name)
{
    if (getenv("PAPI_HL_VERBOSE")) fprintf(stderr, "PAPI-HL Warning: %s %s\n", name, what);
}

/* Takes the names of a comma-separated list that can be counted. "=instant" wants values, not differences. */
static void choose_events(const char *list)
{
    char *rest;
    free(hl.events);
    hl.events = strdup(list);
    hl.count = 0;
    for (char *name = strtok_r(hl.events, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest)) {
        char *kind = strchr(name, '=');
        if (kind) *kind++ = '\0';
        if (hl.count == EVENTS_MAX || PAPI_query_named_event(name)) {
            warn("cannot be counted", name);
            continue;
        }
        hl.instant[hl.count] = kind && strcmp(kind, "instant") == 0;
        hl.names[hl.count++] = name;
    }
}

static void at_end(void)
{
    papi_hl_shutdown();
}

static int get_ready(void)
{
    static const char usual[] = "PAPI_TOT_INS,PAPI_TOT_CYC,PAPI_FP_INS,PAPI_FP_OPS";
    static bool registered;
    if (hl.ready) return PAPI_OK;
    if (hl.failed || hl.stopped) return PAPI_EMISC;
    hl.failed = PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT;
    if (hl.failed) return PAPI_EMISC;
    const char *list = getenv("PAPI_EVENTS");
    choose_events(list && *list ? list : usual);
    if (!hl.count) choose_events(usual);
    papi_options.level |= PAPI_HIGH_LEVEL_INITED;
    if (!registered) (void)atexit(at_end);
    registered = hl.ready = true;
    return PAPI_OK;
}

static int start_thread(void)
{
    struct hl_thread *thread = calloc(1, sizeof *thread);
    if (!thread) return PAPI_ENOMEM;
    thread->set = PAPI_NULL;
    thread->current = -1;
    int status = PAPI_create_eventset(&thread->set);
    for (int i = 0; !status && i < hl.count; i++)
        status = PAPI_add_named_event(thread->set, hl.names[i]);
    if (!status) status = PAPI_start(thread->set);
    if (status) {
        (void)PAPI_cleanup_eventset(thread->set);
        (void)PAPI_destroy_eventset(&thread->set);
        free(thread);
        return status;
    }
    struct hl_thread **end = &hl.threads;
    for (; *end; end = &(*end)->next)
        thread->id++;
    *end = mine = thread;
    return PAPI_OK;
}

static int prepare(void)
{
    if (mine && hl.ready) return PAPI_OK;
    (void)pthread_mutex_lock(&hl.lock);
    int status = get_ready();
    if (!status && !mine) status = start_thread();
    (void)pthread_mutex_unlock(&hl.lock);
    return status;
}

/* --- Regions ------------------------------------------------------------------------------------------------------ */

static int look(struct visit *visit)
{
    size_t size = (size_t)(LOOK_EVENTS + hl.count);
    if (visit->looks % READS_STEP == 0) {
        long long *values = realloc(visit->values, (visit->looks + READS_STEP) * size * sizeof *values);
        if (!values) return PAPI_ENOMEM;
        visit->values = values;
    }
    long long *at = visit->values + size * visit->looks++;
    at[LOOK_CYCLES] = PAPI_get_real_cyc();
    at[LOOK_NSEC] = PAPI_get_real_nsec();
    return PAPI_read(mine->set, at + LOOK_EVENTS);
}

static struct visit *find_open(const char *name)
{
    for (int i = mine->count - 1; i >= 0; i--)
        if (mine->visits[i].open && strcmp(mine->visits[i].name, name) == 0) return &mine->visits[i];
    return NULL;
}

int PAPI_hl_region_begin(const char *region)
{
    if (!region || !*region) return PAPI_EINVAL;
    int status = prepare();
    if (status) return status;
    if (mine->count == mine->capacity) {
        int capacity = 2 * mine->capacity + 16;
        struct visit *visits = realloc(mine->visits, (size_t)capacity * sizeof *visits);
        if (!visits) return PAPI_ENOMEM;
        mine->visits = visits;
        mine->capacity = capacity;
    }
    struct visit *visit = &mine->visits[mine->count];
    *visit = (struct visit){.name = strdup(region), .parent = mine->current, .open = true};
    if (!visit->name) return PAPI_ENOMEM;
    mine->current = mine->count++;
    return look(visit);
}

int PAPI_hl_read(const char *region)
{
    if (!region || !*region) return PAPI_EINVAL;
    int status = prepare();
    if (status) return status;
    struct visit *visit = find_open(region);
    return visit ? look(visit) : PAPI_EMISC;
}

int PAPI_hl_region_end(const char *region)
{
    if (!region || !*region) return PAPI_EINVAL;
    int status = prepare();
    if (status) return status;
    struct visit *visit = find_open(region);
    if (!visit) return PAPI_EMISC; /* never begun */
    status = look(visit);
    visit->open = false;
    if (mine->current == (int)(visit - mine->visits)) mine->current = visit->parent;
    return status;
}

/* --- The file ----------------------------------------------------------------------------------------------------- */

static int rank(void)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "ALPS_APP_PE", "PMI_RANK", "SLURM_PROCID"};
    for (unsigned i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *text = getenv(variables[i]);
        if (text && *text) return (int)strtol(text, NULL, 10);
    }
    return (int)chiliad_rank();
}

static void put_string(FILE *out, const char *text)
{
    (void)fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') (void)fputc('\\', out);
        if ((unsigned char)*text < ' ')
            (void)fprintf(out, "\\u%04x", (unsigned)(unsigned char)*text);
        else
            (void)fputc(*text, out);
    }
    (void)fputc('"', out);
}

/* One quantity of a visit: its value over the region, with the reads in between if there were any. */
static void put_quantity(FILE *out, const struct visit *visit, int which, const char *name, bool instant)
{
    size_t size = (size_t)(LOOK_EVENTS + hl.count);
    unsigned last = visit->looks - 1;
    const long long *begin = visit->values + which, *end = begin + size * last;
    (void)fputs(",\n          ", out);
    put_string(out, name);
    long long whole = instant ? *end : *end - *begin;
    if (last < 2) {
        (void)fprintf(out, ":\"%lld\"", whole);
        return;
    }
    (void)fprintf(out, ":{\n            \"region_value\":\"%lld\"", whole);
    for (unsigned i = 1; i < last; i++) {
        long long value = begin[size * i];
        (void)fprintf(out, ",\n            \"read_%u\":\"%lld\"", i, instant ? value : value - *begin);
    }
    (void)fputs("\n          }", out);
}

static void put_thread(FILE *out, const struct hl_thread *thread)
{
    const char *between = "";
    (void)fprintf(out, "    \"%lu\":{\n      \"regions\":{", thread->id);
    for (int i = 0; i < thread->count; i++) {
        const struct visit *visit = &thread->visits[i];
        if (visit->open) continue;
        (void)fprintf(out, "%s\n        \"%d\":{\n          \"name\":", between, i);
        put_string(out, visit->name);
        (void)fprintf(out, ",\n          \"parent_region_id\":\"%d\"", visit->parent);
        put_quantity(out, visit, LOOK_CYCLES, "cycles", false);
        put_quantity(out, visit, LOOK_NSEC, "real_time_nsec", false);
        for (int e = 0; e < hl.count; e++)
            put_quantity(out, visit, LOOK_EVENTS + e, hl.names[e], hl.instant[e]);
        (void)fputs("\n        }", out);
        between = ",";
    }
    (void)fputs("\n      }\n    }", out);
}

static void put_report(FILE *out)
{
    const PAPI_hw_info_t *hardware = PAPI_get_hardware_info();
    (void)fprintf(out, "{\n  \"papi_version\":\"%d.%d.%d.%d\",\n  \"cpu_info\":", PAPI_VERSION_MAJOR(PAPI_VERSION),
                  PAPI_VERSION_MINOR(PAPI_VERSION), PAPI_VERSION_REVISION(PAPI_VERSION),
                  PAPI_VERSION_INCREMENT(PAPI_VERSION));
    put_string(out, hardware->model_string);
    (void)fprintf(out, ",\n  \"max_cpu_rate_mhz\":\"%d\",\n  \"min_cpu_rate_mhz\":\"%d\",\n  \"event_definitions\":{",
                  hardware->cpu_max_mhz, hardware->cpu_min_mhz);
    for (int i = 0; i < hl.count; i++) {
        (void)fprintf(out, "%s\n    ", i ? "," : "");
        put_string(out, hl.names[i]);
        (void)fprintf(out, ":{\n      \"component\":\"%s\",\n      \"type\":\"%s\"\n    }", papi_component.name,
                      hl.instant[i] ? "instant" : "delta");
    }
    (void)fputs("\n  },\n  \"threads\":{\n", out);
    for (const struct hl_thread *thread = hl.threads; thread; thread = thread->next) {
        put_thread(out, thread);
        (void)fputs(thread->next ? ",\n" : "\n", out);
    }
    (void)fputs("  }\n}\n", out);
}

/* Makes the folder; one that is there keeps its files under another name, if there is one rank. */
static bool make_folder(const char *folder)
{
    char old[PAPI_HUGE_STR_LEN + 32];
    struct stat status;
    if (chiliad_ranks() > 1) return mkdir(folder, 0777) == 0 || errno == EEXIST;
    if (stat(folder, &status) == 0) {
        for (unsigned i = 1;; i++) {
            (void)snprintf(old, sizeof old, "%s-%u", folder, i);
            if (stat(old, &status) != 0) break;
        }
        if (rename(folder, old) != 0) return false;
    }
    return mkdir(folder, 0777) == 0;
}

static void write_report(void)
{
    char folder[PAPI_HUGE_STR_LEN], file[PAPI_HUGE_STR_LEN + 32];
    const char *where = getenv("PAPI_OUTPUT_DIRECTORY");
    (void)snprintf(folder, sizeof folder, "%s%spapi_hl_output", where && *where ? where : "",
                   where && *where ? "/" : "");
    (void)snprintf(file, sizeof file, "%s/rank_%06d.json", folder, rank());
    FILE *out = make_folder(folder) ? fopen(file, "we") : NULL;
    if (!out) {
        fprintf(stderr, "PAPI-HL Error: cannot write '%s': %s\n", file, strerror(errno));
        return;
    }
    put_report(out);
    (void)fclose(out);
    if (getenv("PAPI_REPORT")) {
        (void)fputs("\n\nPAPI-HL Output:\n", stdout);
        put_report(stdout);
    }
}

static bool has_visits(void)
{
    for (const struct hl_thread *thread = hl.threads; thread; thread = thread->next)
        for (int i = 0; i < thread->count; i++)
            if (!thread->visits[i].open) return true;
    return false;
}

static void free_threads(void)
{
    for (struct hl_thread *next; hl.threads; hl.threads = next) {
        struct hl_thread *thread = hl.threads;
        next = thread->next;
        for (int i = 0; i < thread->count; i++) {
            free(thread->visits[i].name);
            free(thread->visits[i].values);
        }
        (void)PAPI_stop(thread->set, NULL);
        (void)PAPI_cleanup_eventset(thread->set);
        (void)PAPI_destroy_eventset(&thread->set);
        free(thread->visits);
        free(thread);
    }
}

void papi_hl_shutdown(void)
{
    (void)pthread_mutex_lock(&hl.lock);
    if (hl.ready) {
        if (has_visits()) write_report();
        free_threads();
        mine = NULL;
        free(hl.events);
        hl.events = NULL;
        hl.ready = false;
        hl.stopped = true;
        papi_options.level &= ~PAPI_HIGH_LEVEL_INITED;
    }
    (void)pthread_mutex_unlock(&hl.lock);
}

int PAPI_hl_stop(void)
{
    if (!hl.ready) return PAPI_EMISC;
    papi_hl_shutdown();
    return PAPI_OK;
}
