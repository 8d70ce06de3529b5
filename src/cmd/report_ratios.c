/* Ratios of a report: their values, and one ratio by call path. */
#include <stdlib.h>

#include "cmd/report.h"

enum { VALUE_TEXT = 32 };

static const char *value_text(char text[VALUE_TEXT], const struct chil_ratio_value *value)
{
    if (!value->defined)
        (void)snprintf(text, VALUE_TEXT, "-");
    else
        (void)snprintf(text, VALUE_TEXT, value->small ? "(%s%.4g)" : "%s%.4g",
                       value->partial ? "~" : "", value->value);
    return text;
}

int report_print_ratios(const struct report *r)
{
    enum { NAME, VALUE, UNIT, COLUMNS };
    static const struct view_column columns[COLUMNS] = {
        [NAME] = {.title = "ratios", .left = true, .fit = VIEW_FIT_END},
        [VALUE] = {.title = "value"},
        [UNIT] = {.title = "unit", .left = true, .fit = VIEW_FIT_DROP},
    };
    struct view view;
    struct chil_exp *exp = NULL;
    struct chil_error err = {0};
    size_t count = 0;
    const struct chil_spec_item *item = r->spec ? chil_spec_items(r->spec, &count) : NULL;
    if (chil_report_cut(r->report, CHIL_REPORT_METRICS, &exp, &err))
        return cmd_fail_error("report", &err);
    view_init(&view, columns, COLUMNS);
    for (size_t i = 0; i < count; i++) {
        struct chil_ratio_value value = {0};
        char text[VALUE_TEXT], of[CMD_RATIO_OF];
        if (item[i].kind != CHIL_SPEC_RATIO) continue;
        if (chil_ratio(exp, r->spec, item[i].name, CHIL_EXP_NONE, true, -1, &value, &err) ||
            !value.defined)
            continue;
        struct view_cell *cell = view_row(&view);
        cell[NAME] = view_text(item[i].name);
        cell[VALUE] = view_copy(&view, value_text(text, &value));
        cell[UNIT] = view_copy(&view, cmd_ratio_of(&item[i], of));
    }
    if (view.rows) {
        (void)putchar('\n');
        report_table(&view);
    }
    view_fini(&view);
    chil_exp_free(exp);
    return 0;
}

/* --- By call path ---------------------------------------------------------------------------- */

enum { NAME, WHOLE, OWN, SHARE, COLUMNS };

/* The ratio's values of each node of `exp`. */
struct values {
    struct chil_ratio_value *own, *whole;
};

static int find_values(struct values *v, const struct chil_exp *exp, const struct report *r,
                       const char *ratio)
{
    struct chil_error err = {0};
    v->own = calloc(exp->nodes, sizeof *v->own);
    v->whole = calloc(exp->nodes, sizeof *v->whole);
    if (!v->own || !v->whole) return cmd_fail("report", "out of memory");
    if (chil_ratio_nodes(exp, r->spec, ratio, false, -1, v->own, &err) ||
        chil_ratio_nodes(exp, r->spec, ratio, true, -1, v->whole, &err))
        return cmd_fail_error("report", &err);
    return 0;
}

static void add_rows(struct view *view, const struct report *r, const struct values *v)
{
    const struct chil_exp *exp = chil_report_exp(r->report);
    size_t count;
    struct chil_report_row *row = chil_report_rows(r->report, CHIL_REPORT_CALLS, &r->view, &count);
    for (size_t i = 0; i < count && (!r->top || i < r->top); i++) {
        char title[REPORT_TITLE], text[VALUE_TEXT];
        int node = row[i].index;
        if (node < 0) continue;
        struct view_cell *cell = view_row(view);
        cell[NAME] = view_copy(view, report_row_title(exp, CHIL_REPORT_CALLS, &row[i], title));
        cell[WHOLE] = view_copy(view, value_text(text, &v->whole[node]));
        cell[OWN] =
            view_copy(view, value_text(text, row[i].open ? &v->own[node] : &v->whole[node]));
        if (row[i].defined) cell[SHARE] = view_real(row[i].percent);
    }
    free(row);
}

/* Which paths there are, and their order, is the selected metric's. */
int report_print_ratio_tree(const struct report *r, const struct chil_spec_item *ratio)
{
    const struct chil_exp *shown = chil_report_exp(r->report);
    char title[REPORT_TITLE], share[16], of[CMD_RATIO_OF];
    const struct view_column columns[COLUMNS] = {
        [NAME] = {.title = title, .left = true, .fit = VIEW_FIT_TREE},
        [WHOLE] = {.title = "whole"},
        [OWN] = {.title = "own"},
        [SHARE] = {.title = share, .real = "%.1f%%", .none = "-"},
    };
    struct chil_exp *exp = NULL;
    struct chil_error err = {0};
    struct values values = {0};
    struct view view;
    if (chil_report_cut(r->report, CHIL_REPORT_CALLS, &exp, &err))
        return cmd_fail_error("report", &err);
    (void)snprintf(title, sizeof title, "%s [%s] by call path", ratio->name,
                   cmd_ratio_of(ratio, of));
    (void)snprintf(share, sizeof share, "of %.12s",
                   shown->metric[chil_report_metric(r->report)].title);
    view_init(&view, columns, COLUMNS);
    int status = find_values(&values, exp, r, ratio->name);
    if (!status) {
        add_rows(&view, r, &values);
        report_table(&view);
    }
    view_fini(&view);
    free(values.own);
    free(values.whole);
    chil_exp_free(exp);
    return status;
}
