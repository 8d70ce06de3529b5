/* Multiplexed counting: the estimates of one run in which counter sets take turns.
 *
 * An event counts only while a set that has it is enabled. Its count is scaled by the thread's time
 * over the time it was enabled, per call path, as perf and PAPI do. An event of several sets is
 * enabled in the turns of each. Time is the thread's own: cycles in which it ran. A thread that did
 * not run while an event was enabled has the estimate zero. Visits and times are not counters and
 * are copied.
 */
#include "analyze/metric/metric_impl.h"

#include <stdlib.h>
#include <string.h>

struct turns {
    const struct chil_exp *exp;
    const struct chil_set *const *set;
    struct chil_exp **view; /* by set: its events in its turns */
    size_t sets, threads;
    double *time; /* by thread */
    double *on;   /* by set and thread */
};

static void add_time(const struct chil_exp *exp, double *time)
{
    size_t count;
    int metric = chil_exp_find_metric(exp, CHIL_TURN_CYCLES);
    const struct chil_exp_cell *cell = metric >= 0 ? chil_exp_cells(exp, metric, &count) : NULL;
    for (size_t i = 0; cell && i < count; i++)
        time[cell[i].thread] += (double)cell[i].count;
}

/* How long each thread was counted by sets that have the event. */
static void time_on(const struct turns *t, const char *name, double *on)
{
    memset(on, 0, t->threads * sizeof *on);
    for (size_t s = 0; s < t->sets; s++)
        if (chil_exp_find_metric(t->view[s], name) >= 0)
            for (size_t i = 0; i < t->threads; i++)
                on[i] += t->on[s * t->threads + i];
}

static void add_estimate(const struct turns *t, struct chil_exp *result,
                         const struct chil_exp_metric *like)
{
    struct chil_exp_metric metric = *like;
    double *on = base_calloc(t->threads + 1, sizeof *on);
    metric.kind = CHIL_EXP_REAL;
    metric.exactness = (char *)"estimated";
    metric.parent = CHIL_EXP_NONE;
    int to = chil_exp_add_metric(result, &metric);
    time_on(t, metric.name, on);
    for (size_t s = 0; s < t->sets && to >= 0; s++) {
        size_t count;
        int from = chil_exp_find_metric(t->view[s], metric.name);
        const struct chil_exp_cell *cell =
            from >= 0 ? chil_exp_cells(t->view[s], from, &count) : NULL;
        bool counts = from >= 0 && t->view[s]->metric[from].kind == CHIL_EXP_COUNT;
        for (size_t i = 0; cell && i < count; i++) {
            double seen = counts ? (double)cell[i].count : cell[i].real;
            uint32_t thread = cell[i].thread;
            if (on[thread] > 0)
                chil_exp_add_real(result, to, (int)cell[i].node, (int)thread,
                                  seen * t->time[thread] / on[thread]);
        }
    }
    free(on);
}

static int view_all(struct turns *t, const struct chil_exp *const *turn,
                    const struct chil_platform *platform, struct chil_error *err)
{
    add_time(t->exp, t->time);
    for (size_t s = 0; s < t->sets; s++) {
        add_time(turn[s], &t->on[s * t->threads]);
        int status = chil_metric_limit(&t->view[s], turn[s], platform, t->set[s]->events,
                                       t->set[s]->count, err);
        if (status) return status;
    }
    return 0;
}

int chil_metric_turns(struct chil_exp **result, const struct chil_exp *exp,
                      const struct chil_exp *const *turn, const struct chil_platform *platform,
                      const struct chil_set *const *set, size_t sets, struct chil_error *err)
{
    struct turns t = {.exp = exp, .set = set, .sets = sets, .threads = exp->threads};
    struct chil_exp *limited = NULL;
    *result = NULL;
    t.view = base_calloc(sets + 1, sizeof *t.view);
    t.time = base_calloc(t.threads + 1, sizeof *t.time);
    t.on = base_calloc(sets * t.threads + 1, sizeof *t.on);
    int status = view_all(&t, turn, platform, err);
    if (!status)
        status = chil_metric_limit(&limited, exp, platform, NULL, 0, err); /* visits and times */
    for (size_t s = 0; s < sets && !status; s++)
        for (size_t e = 0; e < t.view[s]->metrics; e++)
            if (chil_exp_find_metric(limited, t.view[s]->metric[e].name) < 0)
                add_estimate(&t, limited, &t.view[s]->metric[e]);
    if (!status) chil_exp_set_attribute(limited, "counted", "turns");
    for (size_t s = 0; s < sets; s++)
        chil_exp_free(t.view[s]);
    free(t.view); // NOLINT(bugprone-multi-level-implicit-pointer-conversion)
    free(t.time);
    free(t.on);
    *result = status ? NULL : limited;
    if (status) chil_exp_free(limited);
    return status;
}
