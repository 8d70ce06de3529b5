/* The derived metrics of chiliad stat: ratios of a specification (docs/formats/metrics.md).
 *
 *                  0.527  instructions per busy cycle
 *                 89.110  cycles waiting for loads, % of busy cycles
 *
 * By default these are the ratios with a text of the machine's specification, which `chiliad
 * report` evaluates too; --metrics FILE has rows "text ; unit ; formula" or ratios of its own. Each
 * column of the table, a core or the total, is an experiment (chil_run_totals). So a metric has one
 * definition and one evaluator, whatever prints it.
 */
#include <stdlib.h>
#include <string.h>

#include "chiliad/experiment.h"
#include "cmd/stat.h"

/* --- Reading --------------------------------------------------------------------------------- */

/* What an experiment of a run has besides counters: its attributes, and other names of CYCLES. */
static const char *const attributes[] = {"cycles",    "busy", "wall_time",
                                         "user_time", "peak", "line"};

struct check {
    const struct chil_machine *machine;
    int status;
};

static bool is_known(void *context, const char *name)
{
    const struct check *check = context;
    const struct chil_event *event;
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (strcmp(name, attributes[i]) == 0) return true;
    return !chil_machine_find_event(check->machine, name, &event, NULL) &&
           (!cmd_event_is_off(event) || strcmp(event->needs, "memory.model") == 0);
}

static void complain(void *context, const char *file, unsigned line, const char *name,
                     const char *nearest)
{
    struct check *check = context;
    const struct chil_event *event;
    struct chil_error err = {0};
    (void)nearest;
    if (check->status) return;
    if (chil_machine_find_event(check->machine, name, &event, &err))
        check->status = cmd_fail("stat", "%s:%u: %s", file, line, err.text);
    else
        check->status =
            cmd_fail("stat", "%s:%u: '%.60s' is not counted while %.40s is off; use --set %.40s=on",
                     file, line, event->name, event->needs, event->needs);
}

/* Of a file its own ratios; of the machine's specification the ratios with a text. */
static int take_rows(struct stat_metrics *metrics, const char *file)
{
    size_t count;
    const struct chil_spec_item *item = chil_spec_items(metrics->spec, &count);
    metrics->rows = calloc(count + 1, sizeof *metrics->rows);
    if (!metrics->rows) return cmd_fail("stat", "out of memory");
    for (size_t i = 0; i < count; i++) {
        if (item[i].kind != CHIL_SPEC_RATIO) continue;
        if (file ? strcmp(item[i].file, file) != 0 : !*item[i].text) continue;
        struct stat_metric *row = &metrics->rows[metrics->count++];
        row->name = item[i].name;
        row->text = *item[i].text ? item[i].text : item[i].name;
        row->unit = item[i].unit;
        row->formula = item[i].formula;
    }
    return 0;
}

/* A file named on the command line is a path, also without a '/'. */
static int open_file(struct stat_metrics *metrics, const struct chil_machine *machine,
                     const char *file)
{
    char path[4096];
    struct chil_error err = {0};
    struct check check = {.machine = machine};
    int length = snprintf(path, sizeof path, "%s%s", strchr(file, '/') ? "" : "./", file);
    if (length < 0 || (size_t)length >= sizeof path)
        return cmd_fail("stat", "path '%.80s...' is too long", file);
    if (chil_spec_open(&metrics->spec, path, &err)) return cmd_fail_error("stat", &err);
    chil_spec_unknown(metrics->spec, is_known, complain, &check);
    return check.status ? check.status : take_rows(metrics, path);
}

int stat_metrics_read(struct stat_metrics *metrics, const struct chil_machine *machine,
                      const char *file, bool hpm)
{
    char folder[4000], path[4096];
    struct chil_error err = {0};
    size_t own;
    if (file) return open_file(metrics, machine, file);
    (void)chil_machine_own_events(machine, &own);
    if (!own) return 0; /* the default metrics are made of the simulator's own counters */
    if (hpm) {
        if (chil_data_directory(folder, sizeof folder, &err)) return cmd_fail_error("stat", &err);
        (void)snprintf(path, sizeof path, "%s/metrics/hpm.metrics", folder);
        return open_file(metrics, machine, path);
    }
    struct chil_exp *of_machine = chil_exp_new();
    chil_exp_set_attribute(of_machine, "machine", chil_machine_name(machine));
    int status = chil_spec_open_for(&metrics->spec, of_machine, &err);
    chil_exp_free(of_machine);
    return status ? cmd_fail_error("stat", &err) : take_rows(metrics, NULL);
}

void stat_metrics_fini(struct stat_metrics *metrics)
{
    for (size_t i = 0; i < metrics->count; i++)
        free(metrics->rows[i].values);
    free(metrics->rows);
    chil_spec_free(metrics->spec);
}

/* --- Values ---------------------------------------------------------------------------------- */

static bool is_wanted(void *spec, const char *event)
{
    return chil_spec_mentions(spec, event);
}

/* Column 0 is the total, column 1 + N core N. */
static int evaluate(struct stat_metrics *metrics, const struct chil_run *run, unsigned column)
{
    struct chil_error err = {0};
    struct chil_exp *counts = chil_run_totals(run, (int)column - 1, is_wanted, metrics->spec);
    struct chil_exp *exp = NULL;
    int status = chil_metric_derive(&exp, counts, metrics->spec, NULL, &err);
    for (size_t i = 0; i < metrics->count && !status; i++)
        status = chil_ratio(exp, metrics->spec, metrics->rows[i].name, CHIL_EXP_NONE, true, -1,
                            &metrics->rows[i].values[column], &err);
    chil_exp_free(counts);
    chil_exp_free(exp);
    return status ? cmd_fail_error("stat", &err) : 0;
}

int stat_metrics_evaluate(struct stat_metrics *metrics, const struct chil_run *run, bool cores)
{
    unsigned columns = 1 + chil_run_cores(run), wanted = cores ? columns : 1;
    int status = 0;
    for (size_t i = 0; i < metrics->count; i++) {
        free(metrics->rows[i].values);
        metrics->rows[i].values = calloc(columns, sizeof *metrics->rows[i].values);
        if (!metrics->rows[i].values) return cmd_fail("stat", "out of memory");
    }
    for (unsigned column = 0; metrics->count && column < wanted && !status; column++)
        status = evaluate(metrics, run, column);
    return status;
}

bool stat_metric(const struct stat_metric *metric, int core, double *value)
{
    const struct chil_ratio_value *of_column = &metric->values[core == STAT_TOTAL ? 0 : 1 + core];
    *value = of_column->value;
    return of_column->defined && !of_column->partial;
}
