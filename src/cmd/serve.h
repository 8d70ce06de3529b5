/* Inside chiliad serve: results as bytes, a running program, and answers over HTTP.
 *
 * Threads: the run belongs to the main thread. Four threads of libmicrohttpd answer; they see the
 * run through snapshots that the main thread makes while it pauses, and never wait for it. What
 * threads share is in two structs, each with its lock.
 *
 * Terms: docs/glossary.md
 */
#ifndef CMD_SERVE_H
#define CMD_SERVE_H

#include <pthread.h>
#include <stdatomic.h>

#include "cmd/page.h"
#include "cmd/stat.h"

/* Bytes that several answers send at once; the last one frees them. */
struct serve_bytes {
    atomic_uint references;
    size_t size;
    char data[];
};
/* `data` NULL: the caller fills them. */
struct serve_bytes *serve_bytes_new(const char *data, size_t size);
struct serve_bytes *serve_bytes_keep(struct serve_bytes *bytes); /* one more reference */
void serve_bytes_drop(void *bytes);                              /* NULL: nothing */

/* --- Results (serve_results.c) --------------------------------------------------------------- */

/* Files that were named, and those of a folder, which is read again when a list is asked for. A
 * file keeps its number; only numbers come from clients. */
struct serve_results;
struct serve_results *serve_results_new(void);
void serve_results_free(struct serve_results *results);
/* A file or a folder; reports errors. */
int serve_results_add(struct serve_results *results, const char *path);
size_t serve_results_count(struct serve_results *results);
/* [{"id", "file", "kind", "bytes", "modified"}], the caller's. */
json_t *serve_results_list(struct serve_results *results);
/* Experiments with more values than that are served without them, and asked for sums. */
void serve_results_keep_above(struct serve_results *results, size_t values);
/* The data of a page with that result alone; NULL: there is none, or it cannot be read, which is
 * reported on standard error. */
struct serve_bytes *serve_results_get(struct serve_results *results, unsigned id, bool *known);

/* What a page asks of an experiment: the sums of a metric's values, one for each call path or
 * thread, of the metric without its parts if `own`; or with `metric` -1 one sum for each metric.
 * Selections are as in "0-3,7"; NULL: all. */
struct serve_wanted {
    int metric;
    bool own, by_thread;
    const char *calls, *threads;
};
/* Doubles, little-endian. Not `good`: no such metric, or no selection (serve_sums.c). */
struct serve_bytes *serve_sums(const struct chil_exp *exp, const struct serve_wanted *wanted,
                               bool *good);
/* The same of a result; not `known`: it is not one that is asked. */
struct serve_bytes *serve_results_sums(struct serve_results *results, unsigned id,
                                       const struct serve_wanted *wanted, bool *known, bool *good);

/* --- The run (serve_live.c) ------------------------------------------------------------------ */

enum serve_state { SERVE_RUNNING, SERVE_PAUSED, SERVE_ENDED };
struct serve_live {
    struct stat_shown shown;
    struct stat_options stat;
    struct stat_chosen chosen;
    struct stat_metrics metrics;
    bool records; /* call paths are counted */
    uint64_t clock_hz;

    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed;
    enum serve_state state;
    uint64_t sequence;                         /* of states and snapshots */
    uint64_t pause_at;                         /* cycles; UINT64_MAX: nowhere */
    uint64_t cycles;                           /* simulated, at the last snapshot */
    bool stop, wants_paths;                    /* what watchers asked for */
    json_t *counts;                            /* what stat -j prints, without counters of 0 */
    struct serve_bytes *snapshot, *experiment; /* `counts` as text; data of a page */
    uint64_t experiment_sequence;
    int64_t next_snapshot, next_experiment; /* milliseconds of the host */
};
int serve_live_init(struct serve_live *live, struct cmd_program *program,
                    struct chil_machine *machine);
void serve_live_fini(struct serve_live *live);
/* For chil_run_options.pause. */
bool serve_live_pause(void *live, struct chil_run *run);
/* After the run. */
void serve_live_end(struct serve_live *live, struct chil_run *run, const char *partial);
/* What a watcher may ask for: "go", "pause", "step" by so many cycles, "stop". False: not now. */
bool serve_live_do(struct serve_live *live, const char *what, uint64_t cycles);

/* --- HTTP (serve_http.c) --------------------------------------------------------------------- */

enum { SERVE_TOKEN = 33 };
struct serve {
    struct serve_results *results;
    struct serve_live *live; /* NULL: no program */
    bool open_metrics;
    char token[SERVE_TOKEN];
    unsigned port; /* 0: any that is free; then the one that was found */
    char *page;
    size_t page_size;
    struct MHD_Daemon *daemon;
};
/* Reports errors. After serve_stop no thread answers. */
int serve_start(struct serve *serve);
void serve_stop(struct serve *serve);

/* The run in OpenMetrics, or in the older text format of Prometheus (serve_metrics.c); the
 * caller's. */
struct serve_bytes *serve_metrics(struct serve *serve, bool is_openmetrics);

#endif
