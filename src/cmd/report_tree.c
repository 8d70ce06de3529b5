/* The trees of a report: metrics, call paths, the system; a row for each node that is shown. */
#include <stdlib.h>
#include <string.h>

#include "cmd/report.h"

/* A tree's node is named by a title in the table, by its index in JSON. An inner node of the system
 * has no value of its own in the table. */
enum { TITLE, INDEX, DEPTH, OTHERS, OPEN, WHOLE, VALUE, PERCENT, OWN, SHARE, FROM, COLUMNS };
static const struct view_column columns[COLUMNS] = {
    [TITLE] = {.title = "", .left = true, .fit = VIEW_FIT_TREE, .forms = VIEW_IN_TABLE},
    [INDEX] = {.title = "index", .forms = VIEW_IN_JSON},
    [DEPTH] = {.title = "depth", .forms = VIEW_IN_JSON},
    [OTHERS] = {.title = "others", .forms = VIEW_IN_JSON},
    [OPEN] = {.title = "open", .forms = VIEW_IN_JSON},
    [WHOLE] = {.title = "whole"},
    [VALUE] = {.title = "value", .forms = VIEW_IN_JSON},
    [PERCENT] = {.title = "percent", .null = true, .forms = VIEW_IN_JSON},
    [OWN] = {.title = "own", .forms = VIEW_IN_TABLE},
    [SHARE] = {.title = "share", .real = "%.1f%%", .none = "-", .forms = VIEW_IN_TABLE},
    [FROM] = {.title = "", .left = true, .fit = VIEW_FIT_DROP, .forms = VIEW_IN_TABLE},
};
_Static_assert((int)COLUMNS <= (int)REPORT_TREE_COLUMNS, "there is room for all");

const char *report_row_title(const struct chil_exp *exp, enum chil_report_pane pane,
                             const struct chil_report_row *row, char title[REPORT_TITLE])
{
    const char *sign = row->open ? "- " : row->has_children ? "+ " : "  ";
    int indent = 2 * (int)row->depth < REPORT_TITLE / 2 ? 2 * (int)row->depth : REPORT_TITLE / 2;
    if (row->index < 0)
        (void)snprintf(title, REPORT_TITLE, "%*s  (%u other%s)", indent, "", row->others,
                       row->others == 1 ? "" : "s");
    else if (pane == CHIL_REPORT_METRICS)
        (void)snprintf(title, REPORT_TITLE, "%*s%s%s%s", indent, "", sign,
                       exp->metric[row->index].partial ? "~" : "", exp->metric[row->index].title);
    else if (pane == CHIL_REPORT_CALLS)
        (void)snprintf(title, REPORT_TITLE, "%*s%s%s", indent, "", sign,
                       exp->region[exp->node[row->index].region].name);
    else
        (void)snprintf(title, REPORT_TITLE, "%*s%s%s", indent, "", sign,
                       exp->place[row->index].name);
    return title;
}

/* "file.c:12", or nothing. */
static const char *set_site(const struct chil_exp *exp, enum chil_report_pane pane, int index,
                            char cell[REPORT_TITLE])
{
    const struct chil_exp_node *node =
        pane == CHIL_REPORT_CALLS && index >= 0 ? &exp->node[index] : NULL;
    const char *slash = node && node->line > 0 ? strrchr(node->module, '/') : NULL;
    *cell = 0;
    if (node && node->line > 0 && *node->module)
        (void)snprintf(cell, REPORT_TITLE, "%s:%d", slash ? slash + 1 : node->module, node->line);
    return cell;
}

static void add_row(struct report_tree *tree, const struct report *r,
                    const struct chil_report_row *row)
{
    const struct chil_exp *exp = chil_report_exp(r->report);
    bool of_metrics = tree->pane == CHIL_REPORT_METRICS,
         inner = tree->pane == CHIL_REPORT_SYSTEM && row->open;
    int metric = of_metrics ? row->index : chil_report_metric(r->report);
    bool whole = exp->metric[metric].kind == CHIL_EXP_COUNT;
    char title[REPORT_TITLE], from[REPORT_TITLE];
    struct view_cell *cell = view_row(&tree->view);
    cell[TITLE] = view_copy(&tree->view, report_row_title(exp, tree->pane, row, title));
    cell[INDEX] = view_integer(row->index);
    cell[DEPTH] = view_integer(row->depth);
    cell[OTHERS] = view_integer(row->others);
    cell[OPEN] = view_truth(row->open);
    cell[WHOLE] = view_value(row->whole, whole);
    cell[VALUE] = view_value(row->value, whole);
    if (row->defined) cell[PERCENT] = cell[SHARE] = view_real(row->percent);
    if (!inner) cell[OWN] = cell[VALUE];
    if (inner && r->view.mode < CHIL_REPORT_PEER) cell[SHARE] = view_text("");
    (void)(of_metrics ? report_pedigree(exp, metric, from)
                      : set_site(exp, tree->pane, row->index, from));
    if (tree->pane == CHIL_REPORT_CALLS && *from) tree->column[FROM].title = "called at";
    cell[FROM] = view_copy(&tree->view, from);
}

void report_tree_init(struct report_tree *tree, const struct report *r, enum chil_report_pane pane,
                      const char *title, uint64_t most)
{
    struct chil_report_view view = r->view;
    size_t count;
    if (pane == CHIL_REPORT_METRICS) view.depth = r->metric_depth;
    if (pane == CHIL_REPORT_SYSTEM) view.depth = CHIL_REPORT_DEPTH_MOST;
    struct chil_report_row *row = chil_report_rows(r->report, pane, &view, &count);
    size_t shown = most && count > most ? (size_t)most : count;
    memcpy(tree->column, columns, sizeof columns);
    tree->pane = pane;
    tree->left_out = count - shown;
    tree->column[TITLE].title = title;
    if (pane == CHIL_REPORT_METRICS) tree->column[FROM].title = "from";
    view_init(&tree->view, tree->column, COLUMNS);
    for (size_t i = 0; i < shown; i++)
        add_row(tree, r, &row[i]);
    free(row);
}
