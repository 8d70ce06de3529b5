/* The table of chiliad record --limit: the errors of counting few events at a time.
 *
 *     $ chiliad record --limit opteron --rotate 20000 ./program
 *     event                                 truth           estimate      error  measured
 *     DC_ACCESS                            818422           791004.2     -3.35%     7.11%
 *
 * An error is what is too much or too little in percent of the truth; measured is the share of the
 * cycles in which the event was counted. Everything goes to standard error, because standard output
 * is the program's.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chiliad/report.h"
#include "cmd/record.h"

enum { NAME = 34 };                   /* characters of a metric or event */
enum { PATHS = 3, PATH_PERCENT = 1 }; /* the hottest, with at least so much of the cycles */

static const char *platform_of(const struct record_limit *limit)
{
    return chil_platform_name(limit->platform);
}

static double total(const struct chil_exp *exp, int metric)
{
    return chil_exp_sum(exp, metric, CHIL_EXP_NONE, false, -1);
}

/* In percent; of nothing, everything is 100 % too much. */
static double error_of(double truth, double value)
{
    if (fabs(value - truth) <= 1e-12 * fabs(truth)) return 0; /* what scaling rounds */
    return truth != 0 ? 100 * (value - truth) / fabs(truth) : 100;
}

/* Events of the sets that have no event of the machine as their counterpart. */
static void tell_unlike(const struct record_limit *l, const struct record_ways *w)
{
    const char *machine = chil_exp_attribute(w->events, "machine");
    size_t count = 0;
    for (size_t i = 0; i < l->sets; i++)
        for (size_t e = 0; e < l->set[i]->count; e++) {
            const char *event = l->set[i]->events[e];
            if (chil_metric_find(w->events, event) >= 0) continue;
            if (!count)
                (void)fprintf(stderr, "chiliad record: nothing on %s is like",
                              machine ? machine : "it");
            (void)fprintf(stderr, "%s %s", count++ ? "," : "", event);
        }
    if (count) (void)fputc('\n', stderr);
}

static const char *marked(char *text, size_t size, const struct chil_exp_metric *metric,
                          const char *title)
{
    (void)snprintf(text, size, "%s%s", metric->partial ? "~" : "", title);
    return text;
}

/* --- Several runs ---------------------------------------------------------------------------- */

/* What two experiments with the same rows differ in, over call paths and threads. */
static double apart(const struct chil_exp *const pair[2], int metric)
{
    double sum = 0;
    for (size_t n = 0; n < pair[0]->nodes; n++)
        for (size_t t = 0; t < pair[0]->threads; t++)
            sum += fabs(chil_exp_real(pair[0], metric, (int)n, (int)t) -
                        chil_exp_real(pair[1], metric, (int)n, (int)t));
    return sum;
}

/* Seconds are the same however events are counted. */
static bool is_clock(const struct chil_exp_metric *metric)
{
    return strcmp(metric->unit, "sec") == 0;
}

static void tell_sum(const struct record_limit *l, const struct record_ways *w)
{
    size_t missing = 0, partial = 0;
    for (size_t i = 0; i < w->once->metrics; i++) {
        int there = chil_exp_find_metric(w->merged, w->once->metric[i].name);
        missing += there < 0;
        partial += there >= 0 && w->merged->metric[there].partial;
    }
    (void)fprintf(
        stderr,
        "chiliad record: %zu sets of %s, %u counters each: %zu metrics, %zu of them partial (~)",
        l->sets, platform_of(l), chil_platform_counters(l->platform), w->merged->metrics, partial);
    (void)fprintf(stderr, missing ? "; %zu are missing\n" : "\n", missing);
    tell_unlike(l, w);
}

void record_tell_runs(const struct record_limit *l, const struct record_ways *w)
{
    struct chil_exp *pair[2];
    char title[80];
    if (chil_exp_extend(pair, w->once, w->merged, NULL, NULL)) return;
    (void)fprintf(stderr, "%-*s %18s %18s %12s\n", NAME, "metric", "all at once", "merged",
                  "difference");
    for (size_t i = 0; i < w->once->metrics; i++) {
        int m = chil_exp_find_metric(pair[0], w->once->metric[i].name);
        if (m < 0 || is_clock(&w->once->metric[i])) continue;
        double a = total(pair[0], m), b = total(pair[1], m);
        double off = apart((const struct chil_exp *const *)pair, m);
        (void)fprintf(stderr, "%-*s %18.0f %18.0f %11.4g%%\n", NAME,
                      marked(title, sizeof title, &pair[1]->metric[m], w->once->metric[i].title), a,
                      b, a != 0 ? 100 * off / fabs(a) : off);
    }
    tell_sum(l, w);
    chil_exp_free(pair[0]);
    chil_exp_free(pair[1]);
}

/* --- All ways of counting -------------------------------------------------------------------- */

static void tell_way(const struct chil_exp *exp, const char *name, double truth)
{
    int metric = chil_exp_find_metric(exp, name);
    if (metric >= 0)
        (void)fprintf(stderr, " %16.0f %8.2f%%", total(exp, metric),
                      error_of(truth, total(exp, metric)));
    else
        (void)fprintf(stderr, " %16s %9s", "-", "");
}

void record_tell_all(const struct record_limit *l, const struct record_ways *w)
{
    char title[80];
    (void)fprintf(stderr, "%-*s %16s %16s %9s %16s %9s\n", NAME, "metric", "all at once",
                  "several runs", "error", "in turns", "error");
    for (size_t i = 0; i < w->once->metrics; i++) {
        const struct chil_exp_metric *m = &w->once->metric[i];
        double truth = total(w->once, (int)i);
        if (truth == 0 || is_clock(m)) continue; /* it did not happen; it is no count */
        (void)fprintf(stderr, "%-*s %16.0f", NAME, marked(title, sizeof title, m, m->title), truth);
        tell_way(w->merged, m->name, truth);
        tell_way(w->estimate, m->name, truth);
        (void)fputc('\n', stderr);
    }
    tell_sum(l, w);
}

/* --- In turns -------------------------------------------------------------------------------- */

static bool set_has(const struct chil_set *set, const char *event)
{
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->events[i], event) == 0) return true;
    return false;
}

static double cycles_in(const struct chil_exp *exp, int node)
{
    int metric = chil_exp_find_metric(exp, CHIL_TURN_CYCLES);
    return metric < 0 ? 0 : chil_exp_sum(exp, metric, node, false, -1);
}

/* The cycles of a call path, or of all (-1), in which an event was counted. */
static double cycles_on(const struct record_limit *l, const struct record_counted *c,
                        const char *event, int node)
{
    double sum = 0;
    for (size_t i = 0; i < l->sets; i++)
        if (set_has(l->set[i], event)) sum += cycles_in(c->turn[i], node);
    return sum;
}

struct errors {
    double sum, worst;
    const char *event; /* with the worst */
    size_t count;
};

static void tell_events(const struct record_limit *l, const struct record_counted *c,
                        const struct record_ways *w, int node, struct errors *errors)
{
    double cycles = cycles_in(c->exact, node);
    for (size_t i = 0; i < w->turns_events->metrics; i++) {
        const struct chil_exp_metric *m = &w->turns_events->metric[i];
        int true_one = chil_exp_find_metric(w->events, m->name);
        if (true_one < 0 || strcmp(m->exactness, "estimated") != 0) continue;
        double truth = chil_exp_sum(w->events, true_one, node, false, -1);
        double estimate = chil_exp_sum(w->turns_events, (int)i, node, false, -1);
        double error = error_of(truth, estimate);
        if (truth == 0 && estimate == 0) continue;
        (void)fprintf(stderr, "%-*s %18.0f %18.1f %9.2f%% %8.2f%%\n", NAME, m->title, truth,
                      estimate, error,
                      cycles > 0 ? 100 * cycles_on(l, c, m->title, node) / cycles : 0);
        errors->sum += fabs(error);
        errors->count++;
        if (errors->event && fabs(error) <= fabs(errors->worst)) continue;
        errors->worst = error;
        errors->event = m->title;
    }
}

static int hottest(const double *cycles, size_t nodes, const int *before, size_t count)
{
    int best = -1;
    for (size_t n = 0; n < nodes; n++) {
        bool taken = false;
        for (size_t i = 0; i < count; i++)
            taken |= before[i] == (int)n;
        if (!taken && cycles[n] > 0 && (best < 0 || cycles[n] > cycles[best])) best = (int)n;
    }
    return best;
}

static void tell_paths(const struct record_limit *l, const struct record_counted *c,
                       const struct record_ways *w)
{
    int path[PATHS], metric = chil_exp_find_metric(c->exact, CHIL_TURN_CYCLES);
    double *cycles = calloc(c->exact->nodes + 1, sizeof *cycles),
           all = cycles_in(c->exact, CHIL_EXP_NONE);
    if (!cycles || metric < 0) {
        free(cycles);
        return;
    }
    chil_exp_sum_nodes(c->exact, metric, false, -1, cycles);
    for (size_t i = 0; i < PATHS; i++) {
        struct errors errors = {0};
        path[i] = hottest(cycles, c->exact->nodes, path, i);
        if (path[i] < 0 || 100 * cycles[path[i]] < PATH_PERCENT * all) break;
        char *name = chil_report_path(c->exact, path[i], "/");
        (void)fprintf(stderr, "in %s, %.1f%% of the cycles:\n", name ? name : "?",
                      100 * cycles[path[i]] / all);
        free(name);
        tell_events(l, c, w, path[i], &errors);
    }
    free(cycles);
}

void record_tell_turns(const struct record_limit *l, const struct record_counted *c,
                       const struct record_ways *w)
{
    struct errors errors = {0};
    double all = cycles_in(c->exact, CHIL_EXP_NONE);
    size_t never = 0;
    for (size_t i = 0; i < l->sets; i++)
        never += cycles_in(c->turn[i], CHIL_EXP_NONE) == 0;
    (void)fprintf(stderr, "%-*s %18s %18s %10s %9s\n", NAME, "event", "truth", "estimate", "error",
                  "measured");
    tell_events(l, c, w, CHIL_EXP_NONE, &errors);
    tell_paths(l, c, w);
    (void)fprintf(stderr, "chiliad record: %zu sets of %s in turns of %llu cycles, %.1f rounds",
                  l->sets, platform_of(l), (unsigned long long)l->turn_cycles,
                  all / ((double)l->turn_cycles * (double)l->sets));
    if (errors.count)
        (void)fprintf(stderr, ": %zu events, %.2f%% off on average, most %s by %.2f%%",
                      errors.count, errors.sum / (double)errors.count, errors.event, errors.worst);
    (void)fprintf(stderr, never ? "; %zu sets were never on: take shorter turns\n" : "\n", never);
    if (!l->compare) tell_unlike(l, w);
}
