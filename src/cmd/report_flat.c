/* Functions or modules instead of call paths, as a table or as separated values. */
#include <stdlib.h>
#include <string.h>

#include "cmd/report.h"

/* The table has its own order and rounds; separated values have all digits. */
enum { TITLE, NAME, MODULE, METRIC, OWN, WHOLE, TABLE_OWN, SHARE, PERCENT, CALLS, VISITS, COLUMNS };
static const struct view_column usual[COLUMNS] = {
    [TITLE] = {.title = "", .left = true, .fit = VIEW_FIT_END, .forms = VIEW_IN_TABLE},
    [NAME] = {.title = "name", .forms = VIEW_IN_LINES},
    [MODULE] = {.title = "module", .forms = VIEW_IN_LINES},
    [METRIC] = {.title = "metric", .forms = VIEW_IN_LINES},
    [OWN] = {.title = "own", .raw = REPORT_ALL_DIGITS, .forms = VIEW_IN_LINES},
    [WHOLE] = {.title = "whole", .raw = REPORT_ALL_DIGITS},
    [TABLE_OWN] = {.title = "own", .forms = VIEW_IN_TABLE},
    [SHARE] = {.title = "share", .real = "%.1f%%", .none = "-", .forms = VIEW_IN_TABLE},
    [PERCENT] = {.title = "share", .raw = "%.6g", .forms = VIEW_IN_LINES},
    [CALLS] = {.title = "calls", .left = true, .fit = VIEW_FIT_DROP, .forms = VIEW_IN_TABLE},
    [VISITS] = {.title = "calls", .raw = "%.0f", .forms = VIEW_IN_LINES},
};

static void add_row(struct view *view, const struct report *r, const struct chil_report_flat *flat)
{
    const struct chil_exp *exp = chil_report_exp(r->report);
    const struct chil_exp_metric *m = &exp->metric[chil_report_metric(r->report)];
    struct view_cell *cell = view_row(view);
    cell[TITLE] = cell[NAME] = view_text(flat->name);
    cell[MODULE] = view_text(flat->module);
    cell[METRIC] = view_text(m->title);
    cell[OWN] = cell[TABLE_OWN] = view_value(flat->own, m->kind == CHIL_EXP_COUNT);
    cell[WHOLE] = view_value(flat->whole, m->kind == CHIL_EXP_COUNT);
    cell[PERCENT] = view_real(flat->percent);
    if (flat->defined) cell[SHARE] = cell[PERCENT];
    if (!r->by_module) cell[CALLS] = view_count(flat->visits > 0 ? (uint64_t)flat->visits : 0);
    cell[VISITS] = view_real(flat->visits);
}

int report_print_flat(struct report *r)
{
    const struct chil_exp *exp = chil_report_exp(r->report);
    const struct chil_exp_metric *m = &exp->metric[chil_report_metric(r->report)];
    struct view_column columns[COLUMNS];
    struct view view;
    char title[REPORT_TITLE];
    size_t count, most = r->top && !r->separator ? (size_t)r->top : SIZE_MAX;
    memcpy(columns, usual, sizeof usual);
    (void)snprintf(title, sizeof title, "%s, %s [%s]", r->by_module ? "modules" : "functions",
                   m->title, m->unit);
    columns[TITLE].title = title;
    if (r->by_module) columns[CALLS].title = "";
    view_init(&view, columns, COLUMNS);
    struct chil_report_flat *flat = chil_report_flat(r->report, r->by_module, r->view.mode, &count);
    for (size_t i = 0; i < count && i < most; i++)
        if (flat[i].own != 0 || flat[i].whole != 0) add_row(&view, r, &flat[i]);
    if (r->separator) {
        view_lines_heading(&view, stdout, r->separator);
        view_lines(&view, stdout, r->separator);
    } else {
        report_table(&view);
    }
    view_fini(&view);
    free(flat);
    return 0;
}
