/* A running program as snapshots: the main thread makes one when it pauses, a few times a second,
 * and when a watcher asked for a step; other threads send it.
 *
 * Reading counts changes nothing, and where the run pauses is a multiple of a number of cycles, so
 * the run is the same with any watchers and without. The host's clock decides only how often there
 * is a snapshot.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/serve.h"

enum { SNAPSHOT_EVERY = 250, EXPERIMENT_EVERY = 1000, LOOK_EVERY = 50 }; /* milliseconds */

static int64_t milliseconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* allowed: how often there is news, in no result */
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int serve_live_init(struct serve_live *live, struct cmd_program *program,
                    struct chil_machine *machine)
{
    uint64_t mhz = 850;
    (void)chil_machine_number(machine, "machine.clock_mhz", &mhz);
    *live = (struct serve_live){.pause_at = UINT64_MAX, .clock_hz = mhz * 1000000};
    (void)pthread_mutex_init(&live->lock, NULL);
    (void)pthread_cond_init(&live->changed, NULL);
    live->stat = (struct stat_options){.program = *program, .repeat = 1, .json = true};
    live->shown = (struct stat_shown){.options = &live->stat,
                                      .machine = machine,
                                      .chosen = &live->chosen,
                                      .metrics = &live->metrics};
    int status = stat_choose(&live->chosen, &live->stat, machine);
    return status ? status : stat_metrics_read(&live->metrics, machine, NULL, false);
}

void serve_live_fini(struct serve_live *live)
{
    stat_metrics_fini(&live->metrics);
    free(live->chosen.events);
    json_decref(live->counts);
    serve_bytes_drop(live->snapshot);
    serve_bytes_drop(live->experiment);
    (void)pthread_mutex_destroy(&live->lock);
    (void)pthread_cond_destroy(&live->changed);
}

/* --- Snapshots ------------------------------------------------------------------------------- */

/* Counters of 0 are left out: they are most of a thousand. */
static void drop_zeros(json_t *counts)
{
    json_t *all = json_object_get(counts, "counters"), *row, *kept = json_array();
    size_t i;
    json_array_foreach(all, i, row)
    {
        if (json_integer_value(json_object_get(row, "value"))) (void)json_array_append(kept, row);
    }
    (void)json_object_set_new(counts, "counters", kept);
}

static void take_counts(struct serve_live *live, struct chil_run *run, const char *partial)
{
    live->shown.run = run;
    live->stat.program.partial = partial;
    if (stat_metrics_evaluate(live->shown.metrics, run, true)) return;
    json_t *counts = stat_json(&live->shown);
    drop_zeros(counts);
    char *text = json_dumps(counts, JSON_COMPACT);
    struct serve_bytes *bytes = text ? serve_bytes_new(text, strlen(text)) : NULL;
    free(text);
    (void)pthread_mutex_lock(&live->lock);
    json_decref(live->counts);
    serve_bytes_drop(live->snapshot);
    live->counts = counts;
    live->snapshot = bytes;
    live->cycles = chil_run_cycles(run);
    live->sequence++;
    (void)pthread_mutex_unlock(&live->lock);
}

/* The counts of call paths so far, as data of a page. */
static void take_experiment(struct serve_live *live, struct chil_run *run)
{
    struct chil_exp *exp = NULL;
    struct chil_error err = {0};
    struct serve_bytes *bytes = NULL;
    struct page page;
    char *text = NULL;
    size_t size = 0;
    if (!live->records || chil_run_experiment(run, &exp, &err)) return;
    page_init(&page, "serve");
    FILE *out = page_add_experiment(&page, live->stat.program.run.program, exp)
                    ? NULL
                    : open_memstream(&text, &size);
    if (out) {
        int status = view_page_data(&page.blocks, page_header(&page), out, &err);
        if (fclose(out) == 0 && !status) bytes = serve_bytes_new(text, size);
    }
    free(text);
    page_fini(&page);
    chil_exp_free(exp);
    (void)pthread_mutex_lock(&live->lock);
    if (bytes) {
        serve_bytes_drop(live->experiment);
        live->experiment = bytes;
        live->experiment_sequence = ++live->sequence;
        live->wants_paths = false;
    }
    (void)pthread_mutex_unlock(&live->lock);
}

/* --- The run --------------------------------------------------------------------------------- */

/* Holds the run while watchers want that; the lock is held. */
static void hold(struct serve_live *live, struct chil_run *run)
{
    while (live->state == SERVE_PAUSED && !live->stop && !cmd_signal_caught()) {
        struct timespec until;
        bool wanted = live->wants_paths;
        if (wanted) {
            (void)pthread_mutex_unlock(&live->lock);
            take_experiment(live, run);
            (void)pthread_mutex_lock(&live->lock);
            continue;
        }
        (void)clock_gettime(CLOCK_REALTIME, &until); /* allowed: how long to wait, in no result */
        until.tv_nsec += LOOK_EVERY * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        (void)pthread_cond_timedwait(&live->changed, &live->lock, &until);
    }
}

bool serve_live_pause(void *context, struct chil_run *run)
{
    struct serve_live *live = context;
    int64_t now = milliseconds();
    (void)pthread_mutex_lock(&live->lock);
    bool here = chil_run_cycles(run) >= live->pause_at, stop = live->stop,
         wants_paths = live->wants_paths && now >= live->next_experiment;
    (void)pthread_mutex_unlock(&live->lock);
    if (stop) return false;
    if (here || now >= live->next_snapshot) take_counts(live, run, "running");
    if (here || now >= live->next_snapshot) live->next_snapshot = milliseconds() + SNAPSHOT_EVERY;
    if (wants_paths) {
        take_experiment(live, run);
        live->next_experiment = milliseconds() + EXPERIMENT_EVERY;
    }
    if (!here) return true;
    (void)pthread_mutex_lock(&live->lock);
    if (chil_run_cycles(run) >= live->pause_at) { /* unless a watcher changed that meanwhile */
        live->state = SERVE_PAUSED;
        live->pause_at = UINT64_MAX;
        live->sequence++;
    }
    hold(live, run);
    stop = live->stop;
    (void)pthread_mutex_unlock(&live->lock);
    return !stop;
}

void serve_live_end(struct serve_live *live, struct chil_run *run, const char *partial)
{
    (void)pthread_mutex_lock(&live->lock);
    bool stopped = live->stop && chil_run_was_stopped(run);
    (void)pthread_mutex_unlock(&live->lock);
    take_counts(live, run, partial ? partial : stopped ? "stopped by a watcher" : NULL);
    take_experiment(live, run);
    (void)pthread_mutex_lock(&live->lock);
    live->state = SERVE_ENDED;
    live->sequence++;
    (void)pthread_mutex_unlock(&live->lock);
}

/* --- What watchers ask for ------------------------------------------------------------------- */

/* The lock is held. */
static bool obey(struct serve_live *live, const char *what, uint64_t cycles)
{
    uint64_t most = UINT64_MAX - 1 - live->cycles;
    if (strcmp(what, "pause") == 0) {
        if (live->state == SERVE_RUNNING) live->pause_at = 0;
    } else if (strcmp(what, "step") == 0) {
        live->pause_at = live->cycles + (cycles < most ? cycles : most);
        live->state = SERVE_RUNNING;
    } else if (strcmp(what, "go") == 0) {
        live->pause_at = UINT64_MAX;
        live->state = SERVE_RUNNING;
    } else if (strcmp(what, "stop") == 0) {
        live->stop = true;
    } else {
        return false;
    }
    return true;
}

bool serve_live_do(struct serve_live *live, const char *what, uint64_t cycles)
{
    (void)pthread_mutex_lock(&live->lock);
    bool good = live->state != SERVE_ENDED && obey(live, what, cycles);
    if (good) live->sequence++;
    (void)pthread_cond_broadcast(&live->changed);
    (void)pthread_mutex_unlock(&live->lock);
    return good;
}
