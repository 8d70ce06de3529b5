/* The rows of the three trees: which nodes are open, their values, and their percentages.
 *
 * Metrics and system nodes are open down to a depth. Call paths are shown if their weight reaches a
 * threshold. The weight is the sum of absolute values over the subtree, so that positive and
 * negative differences do not cancel. The hidden children of a caller are one row, so the rows add
 * up to the total.
 */
#include "analyze/report/report_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct rows {
    struct chil_report_row *row;
    size_t count, capacity;
};

static struct chil_report_row *add_row(struct rows *rows)
{
    rows->row = base_grow(rows->row, &rows->capacity, rows->count + 1, sizeof *rows->row);
    struct chil_report_row *row = &rows->row[rows->count++];
    *row = (struct chil_report_row){.index = -1, .parent = -1};
    return row;
}

/* --- Metrics --------------------------------------------------------------------------------- */

/* `base` is of the root above, here or in the reference, or one for all. */
static void add_metric_rows(const struct chil_report *r, const struct chil_report_view *view,
                            const double *whole, int parent, unsigned depth,
                            enum chil_report_mode mode, double base, struct rows *rows)
{
    for (size_t i = 0; i < r->exp->metrics; i++) {
        double children = 0;
        bool has = false;
        if (r->exp->metric[i].parent != parent || chil_report_is_apart(r, (int)i)) continue;
        for (size_t k = i + 1; k < r->exp->metrics; k++)
            if (r->exp->metric[k].parent == (int)i) {
                children += whole[k];
                has = true;
            }
        if (parent < 0 && mode == CHIL_REPORT_OWN_ROOT) base = whole[i];
        if (parent < 0 && mode == CHIL_REPORT_EXTERNAL) base = report_external(r, (int)i);
        struct chil_report_row *row = add_row(rows);
        row->index = (int)i;
        row->parent = parent;
        row->depth = depth;
        row->has_children = has;
        row->open = has && depth < view->depth && depth < CHIL_REPORT_DEPTH_MOST;
        row->whole = whole[i];
        row->value = row->open ? whole[i] - children : whole[i];
        if (fabs(row->value) < 1e-12 * fabs(whole[i]))
            row->value = 0; /* what rounding left of seconds */
        row->percent = report_percent(row->value, base, &row->defined);
        if (row->open) add_metric_rows(r, view, whole, (int)i, depth + 1, mode, base, rows);
    }
}

static void metric_rows(const struct chil_report *r, const struct chil_report_view *view,
                        struct rows *rows)
{
    struct report_masks masks = report_masks_of(r, CHIL_REPORT_METRICS);
    double *whole = base_calloc(r->exp->metrics, sizeof *whole);
    for (size_t i = 0; i < r->exp->metrics; i++)
        whole[i] = report_total(r, (int)i, false, masks);
    enum chil_report_mode mode = report_mode_in(CHIL_REPORT_METRICS, view->mode);
    add_metric_rows(r, view, whole, CHIL_EXP_NONE, 0, mode, report_base(r, mode), rows);
    free(whole);
}

/* --- Call paths ------------------------------------------------------------------------------ */

struct call_tree {
    const struct chil_report *report;
    const struct chil_report_view *view;
    double *own, *whole, *weight;
    int *child; /* all nodes, those of a parent together, heaviest first */
    size_t
        *first; /* by node + 1: where its children begin in `child`; first[nodes + 1] is the end */
    double least; /* weight of a path that is shown */
    double base;
    struct rows *rows;
};

static int compare_weights(const void *a, const void *b, void *context)
{
    const struct call_tree *tree = context;
    int x = *(const int *)a, y = *(const int *)b;
    int px = tree->report->exp->node[x].parent, py = tree->report->exp->node[y].parent;
    if (px != py) return px < py ? -1 : 1;
    if (tree->weight[x] != tree->weight[y]) return tree->weight[x] < tree->weight[y] ? 1 : -1;
    return x < y ? -1 : x > y;
}

static void sort_children(struct call_tree *tree)
{
    const struct chil_exp *exp = tree->report->exp;
    for (size_t n = 0; n < exp->nodes; n++)
        tree->child[n] = (int)n;
    qsort_r(tree->child, exp->nodes, sizeof *tree->child, compare_weights, tree);
    size_t at = 0;
    for (size_t p = 0; p <= exp->nodes; p++) {
        tree->first[p] = at;
        while (at < exp->nodes && exp->node[tree->child[at]].parent + 1 == (int)p)
            at++;
    }
    tree->first[exp->nodes + 1] = at;
}

static bool stays(const struct call_tree *tree, int node)
{
    return tree->weight[node] > 0 && tree->weight[node] >= tree->least;
}

static bool is_open(const struct call_tree *tree, int node, unsigned depth)
{
    size_t first = tree->first[node + 1];
    return depth < tree->view->depth && depth < CHIL_REPORT_DEPTH_MOST &&
           first < tree->first[node + 2] && stays(tree, tree->child[first]);
}

static void set_call_percent(const struct call_tree *tree, struct chil_report_row *row, double root)
{
    bool own_root = report_mode_in(CHIL_REPORT_CALLS, tree->view->mode) == CHIL_REPORT_OWN_ROOT;
    row->percent = report_percent(row->value, own_root ? root : tree->base, &row->defined);
}

static void add_call_rows(struct call_tree *tree, int parent, unsigned depth, double root)
{
    struct chil_report_row others = {.index = -1, .parent = parent, .depth = depth};
    for (size_t i = tree->first[parent + 1]; i < tree->first[parent + 2]; i++) {
        int node = tree->child[i];
        if (parent < 0) root = tree->whole[node];
        if (!stays(tree, node)) {
            if (tree->weight[node] > 0) others.others++;
            others.whole += tree->whole[node];
            continue;
        }
        struct chil_report_row *row = add_row(tree->rows);
        row->index = node;
        row->parent = parent;
        row->depth = depth;
        row->has_children = tree->first[node + 1] < tree->first[node + 2];
        row->open = is_open(tree, node, depth);
        row->whole = tree->whole[node];
        row->value = row->open ? tree->own[node] : tree->whole[node];
        set_call_percent(tree, row, root);
        if (row->open) add_call_rows(tree, node, depth + 1, root);
    }
    if (!others.others) return;
    others.value = others.whole;
    set_call_percent(tree, &others, root);
    *add_row(tree->rows) = others;
}

static void call_rows(const struct chil_report *r, const struct chil_report_view *view,
                      struct rows *rows)
{
    size_t nodes = r->exp->nodes;
    struct call_tree tree = {.report = r, .view = view, .rows = rows};
    tree.own = base_calloc(nodes, sizeof *tree.own);
    tree.whole = base_calloc(nodes, sizeof *tree.whole);
    tree.weight = base_calloc(nodes, sizeof *tree.weight);
    tree.child = base_calloc(nodes, sizeof *tree.child);
    tree.first = base_calloc(nodes + 2, sizeof *tree.first);
    report_by_node(r, r->metric, r->own, report_masks_of(r, CHIL_REPORT_CALLS), tree.own);
    double all = 0;
    for (size_t n = 0; n < nodes; n++) {
        tree.whole[n] = tree.own[n];
        tree.weight[n] = fabs(tree.own[n]);
        all += tree.weight[n];
    }
    report_fold_nodes(r->exp, tree.whole);
    report_fold_nodes(r->exp, tree.weight);
    tree.least = view->threshold * all;
    tree.base = report_base(r, report_mode_in(CHIL_REPORT_CALLS, view->mode));
    sort_children(&tree);
    add_call_rows(&tree, CHIL_EXP_NONE, 0, 0);
    free(tree.own);
    free(tree.whole);
    free(tree.weight);
    free(tree.child);
    free(tree.first);
}

/* --- The system ------------------------------------------------------------------------------ */

static void add_place_rows(const struct chil_report *r, const struct chil_report_view *view,
                           const double *whole, int parent, unsigned depth, struct rows *rows)
{
    for (size_t i = 0; i < r->exp->places; i++) {
        if (r->exp->place[i].parent != parent) continue;
        struct chil_report_row *row = add_row(rows);
        row->index = (int)i;
        row->parent = parent;
        row->depth = depth;
        row->has_children = r->exp->place[i].level != CHIL_EXP_THREAD;
        row->open = row->has_children && depth < view->depth && depth < CHIL_REPORT_DEPTH_MOST;
        row->whole = whole[i];
        row->value = row->open ? 0 : whole[i]; /* only threads have values of their own */
        if (row->open) add_place_rows(r, view, whole, (int)i, depth + 1, rows);
    }
}

/* Of the greatest on a level, or within the range of the level. */
static void set_peer_percent(const struct chil_exp *exp, struct rows *rows, const double *whole,
                             bool range)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct chil_report_row *row = &rows->row[i];
        double least = INFINITY, most = -INFINITY;
        for (size_t k = 0; k < exp->places; k++)
            if (exp->place[k].level == exp->place[row->index].level) {
                least = fmin(least, whole[k]);
                most = fmax(most, whole[k]);
            }
        row->percent = range ? report_percent(row->whole - least, most - least, &row->defined)
                             : report_percent(row->whole, most, &row->defined);
    }
}

static void system_rows(const struct chil_report *r, const struct chil_report_view *view,
                        struct rows *rows)
{
    const struct chil_exp *exp = r->exp;
    enum chil_report_mode mode = report_mode_in(CHIL_REPORT_SYSTEM, view->mode);
    double *whole = base_calloc(exp->places, sizeof *whole),
           *thread = base_calloc(exp->threads, sizeof *thread);
    report_by_thread(r, r->metric, r->own, report_masks_of(r, CHIL_REPORT_SYSTEM), thread);
    for (size_t i = exp->places; i-- > 0;) {
        if (exp->place[i].thread >= 0) whole[i] = thread[exp->place[i].thread];
        if (exp->place[i].parent >= 0) whole[exp->place[i].parent] += whole[i];
    }
    add_place_rows(r, view, whole, CHIL_EXP_NONE, 0, rows);
    if (mode == CHIL_REPORT_PEER || mode == CHIL_REPORT_PEER_RANGE) {
        set_peer_percent(exp, rows, whole, mode == CHIL_REPORT_PEER_RANGE);
    } else {
        double base = report_base(r, mode);
        for (size_t i = 0; i < rows->count; i++) {
            struct chil_report_row *row = &rows->row[i];
            int root = row->index;
            while (exp->place[root].parent >= 0)
                root = exp->place[root].parent;
            row->percent = report_percent(
                row->value, mode == CHIL_REPORT_OWN_ROOT ? whole[root] : base, &row->defined);
        }
    }
    free(whole);
    free(thread);
}

struct chil_report_row *chil_report_rows(const struct chil_report *report,
                                         enum chil_report_pane pane,
                                         const struct chil_report_view *view, size_t *count)
{
    static void (*const make[])(const struct chil_report *, const struct chil_report_view *,
                                struct rows *) = {metric_rows, call_rows, system_rows};
    struct rows rows = {0};
    make[pane](report, view, &rows);
    *count = rows.count;
    return rows.row;
}
