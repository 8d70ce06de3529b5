/* Reports as separated values: a line for each metric and call path, or for each function or
 * module. */
#include <stdlib.h>

#include "cmd/report.h"

enum { METRIC, UNIT, PATH, OWN, WHOLE, FROM, COLUMNS };
static const struct view_column columns[COLUMNS] = {
    [METRIC] = {.title = "metric"},
    [UNIT] = {.title = "unit"},
    [PATH] = {.title = "call path"},
    [OWN] = {.title = "own", .raw = REPORT_ALL_DIGITS},
    [WHOLE] = {.title = "whole", .raw = REPORT_ALL_DIGITS},
    [FROM] = {.title = "from"},
};

static void add_row(struct view *view, const struct chil_exp *exp, int metric, size_t node,
                    const double values[2])
{
    const struct chil_exp_metric *m = &exp->metric[metric];
    char pedigree[64], from[80];
    char *path = chil_report_path(exp, (int)node, "/");
    struct view_cell *cell = view_row(view);
    (void)snprintf(from, sizeof from, "%s%s", m->partial ? "~" : "",
                   report_pedigree(exp, metric, pedigree));
    cell[METRIC] = view_text(m->title);
    cell[UNIT] = view_text(m->unit);
    cell[PATH] = view_copy(view, path);
    cell[OWN] = view_value(values[0], m->kind == CHIL_EXP_COUNT);
    cell[WHOLE] = view_value(values[1], m->kind == CHIL_EXP_COUNT);
    cell[FROM] = view_copy(view, from);
    free(path);
}

/* A line for each call path that has the metric. */
static int print_metric(const struct chil_exp *exp, const char *separator, int metric)
{
    double *own = calloc(exp->nodes, sizeof *own), *whole = calloc(exp->nodes, sizeof *whole);
    bool room = own && whole;
    struct view view;
    view_init(&view, columns, COLUMNS);
    if (room) chil_exp_sum_nodes(exp, metric, false, -1, own);
    if (room) chil_exp_sum_nodes(exp, metric, true, -1, whole);
    for (size_t n = 0; room && n < exp->nodes; n++)
        if (own[n] != 0 || whole[n] != 0)
            add_row(&view, exp, metric, n, (const double[]){own[n], whole[n]});
    view_lines(&view, stdout, separator);
    view_fini(&view);
    free(own);
    free(whole);
    return room ? 0 : cmd_fail("report", "out of memory");
}

/* Call paths and threads that are selected; metrics that are, or all. */
int report_print_lines(struct report *r)
{
    struct chil_exp *exp = NULL;
    struct chil_error err = {0};
    struct view heading;
    int status = 0;
    if (chil_report_order(r->report, "csm", &err) ||
        chil_report_cut(r->report, CHIL_REPORT_METRICS, &exp, &err))
        return cmd_fail_error("report", &err);
    view_init(&heading, columns, COLUMNS);
    view_lines_heading(&heading, stdout, r->separator);
    view_fini(&heading);
    for (size_t i = 0; i < r->metrics && !status; i++)
        if (!report_ratio(r, r->metric[i]))
            status = print_metric(exp, r->separator, chil_metric_find(exp, r->metric[i]));
    for (size_t i = 0; !r->metrics && i < exp->metrics && !status; i++)
        status = print_metric(exp, r->separator, (int)i);
    chil_exp_free(exp);
    return status;
}
