/* Finds what changed between two experiments, and orders it for chiliad diff.
 *
 * Three lists:
 *
 *   1. Totals of metrics in hierarchies, in the order of the trees: all roots, and below them what
 *      changed by SHOWN_PERCENT of the root or more. --top 0 keeps every change.
 *   2. Totals of other metrics, the single events: with --all, or where nothing is in a hierarchy;
 *      with --metric, the metrics that it names.
 *      Cycles and seconds come first, since they are costs. Each group is ordered by the size of
 *      the change. It is not ordered by percent, which says most of what hardly happens.
 *   3. Call paths by the change of their own counts: of the metrics of --metric, else of CYCLES.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chiliad/metric.h"
#include "cmd/diff.h"

enum { SHOWN_PERCENT = 1 };

static bool is_exact(const struct chil_exp *exp, size_t metric)
{
    return strcmp(exp->metric[metric].exactness, "exact") == 0;
}

/* The name that --metric has for it; NULL: none. */
static const char *name_given(const struct diff *d, size_t metric)
{
    for (size_t i = 0; i < d->metrics; i++)
        if (chil_metric_find(d->on[1], d->metric[i]) == (int)metric) return d->metric[i];
    return NULL;
}

bool diff_wants(const struct diff *d, size_t metric)
{
    if (d->limited) return is_exact(d->on[0], metric) && is_exact(d->on[1], metric);
    return !d->metrics || name_given(d, metric);
}

static bool is_defined(const struct chil_spec *spec, const char *metric)
{
    char name[256];
    size_t count;
    const struct chil_spec_item *item = chil_spec_items(spec, &count);
    for (size_t i = 0; i < count; i++)
        if (item[i].kind <= CHIL_SPEC_COMPUTE &&
            strcmp(chil_metric_clean_name(name, sizeof name, item[i].name), metric) == 0)
            return true;
    return false;
}

static bool is_in_hierarchy(const struct diff *d, size_t metric)
{
    const struct chil_exp *exp = d->on[0];
    if (exp->metric[metric].parent >= 0) return true;
    for (size_t i = metric + 1; i < exp->metrics; i++)
        if (exp->metric[i].parent == (int)metric) return true;
    return is_defined(d->spec[0], exp->metric[metric].name);
}

static bool is_cost(const struct chil_exp *exp, int metric)
{
    const char *unit = exp->metric[metric].unit;
    return strcmp(unit, "cycles") == 0 || strcmp(unit, "sec") == 0;
}

/* --- Lists ----------------------------------------------------------------------------------- */

static void add_change(struct diff_changes *list, struct diff_change change)
{
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 64;
        struct diff_change *more = reallocarray(list->change, room, sizeof *more);
        list->no_memory |= !more;
        if (!more) return;
        list->change = more;
        list->room = room;
    }
    list->change[list->count++] = change;
}

static double size_of(const struct diff_change *change)
{
    return fabs(change->b - change->a);
}

static int by_size(const void *a, const void *b)
{
    const struct diff_change *x = a, *y = b;
    if (x->cost != y->cost) return x->cost ? -1 : 1;
    if (size_of(x) != size_of(y)) return size_of(x) < size_of(y) ? 1 : -1;
    if (x->metric != y->metric) return x->metric < y->metric ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* Orders the rows from `first` on by size and keeps the largest `top` of them; 0: all. */
static void keep_largest(struct diff_changes *list, size_t first, uint64_t top)
{
    size_t count = list->count - first;
    if (count) qsort(list->change + first, count, sizeof *list->change, by_size);
    if (!top || count <= top) return;
    list->left_out += count - (size_t)top;
    list->count = first + (size_t)top;
}

static struct diff_change total_of(const struct diff *d, size_t metric, unsigned depth)
{
    return (struct diff_change){.metric = (int)metric,
                                .node = -1,
                                .name = name_given(d, metric),
                                .depth = depth,
                                .cost = is_cost(d->on[0], (int)metric),
                                .a = chil_exp_sum(d->on[0], (int)metric, -1, false, -1),
                                .b = chil_exp_sum(d->on[1], (int)metric, -1, false, -1)};
}

/* --- Totals ---------------------------------------------------------------------------------- */

/* Whether a total is in the table: of a root always, so that shares can be judged; below it only
 * if it changed by `least` or more. */
static bool is_shown(const struct diff_change *change, double least)
{
    if (!change->depth) return change->a != 0 || change->b != 0;
    return size_of(change) > 0 && size_of(change) >= least;
}

/* A metric and those below it. */
static void add_tree(const struct diff *d, size_t metric, unsigned depth, double least,
                     struct diff_found *found)
{
    const struct diff_change change = total_of(d, metric, depth);
    bool wanted = diff_wants(d, metric);
    if (!depth && d->top) least = fmax(fabs(change.a), fabs(change.b)) * SHOWN_PERCENT / 100;
    found->changed += wanted && size_of(&change) > 0;
    if (wanted && is_shown(&change, least))
        add_change(&found->tree, change);
    else if (wanted && size_of(&change) > 0)
        found->tree.left_out++;
    for (size_t i = metric + 1; i < d->on[0]->metrics; i++)
        if (d->on[0]->metric[i].parent == (int)metric) add_tree(d, i, depth + 1, least, found);
}

static void find_totals(const struct diff *d, struct diff_found *found)
{
    bool hierarchies = false;
    for (size_t m = 0; m < d->on[0]->metrics; m++) {
        found->compared += diff_wants(d, m);
        if (!d->metrics && is_in_hierarchy(d, m)) {
            hierarchies |= diff_wants(d, m);
            if (d->on[0]->metric[m].parent < 0) add_tree(d, m, 0, 0, found);
            continue;
        }
        const struct diff_change change = total_of(d, m, 0);
        if (!diff_wants(d, m) || size_of(&change) == 0) continue;
        found->changed++;
        add_change(&found->single, change);
    }
    keep_largest(&found->single, 0, d->top);
    if (d->all || d->metrics || !hierarchies) return;
    found->single.left_out += found->single.count;
    found->single.count = 0;
}

/* --- Call paths ------------------------------------------------------------------------------ */

/* The metric whose call paths are shown where none is named: what the run costs. */
static size_t cost_metric(const struct diff *d)
{
    static const char *const usual[] = {"CYCLES", "TIME", "time", "BGL_CYCLES"};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        int found = chil_exp_find_metric(d->on[0], usual[i]);
        if (found >= 0 && diff_wants(d, (size_t)found)) return (size_t)found;
    }
    for (size_t m = 0; m < d->on[0]->metrics; m++)
        if (diff_wants(d, m)) return m;
    return 0;
}

static void find_paths_of(const struct diff *d, size_t metric, double *own[2],
                          struct diff_changes *list)
{
    size_t first = list->count;
    for (int i = 0; i < 2; i++)
        chil_exp_sum_nodes(d->on[i], (int)metric, false, -1, own[i]);
    for (size_t n = 0; n < d->on[0]->nodes; n++)
        if (own[0][n] != own[1][n])
            add_change(list, (struct diff_change){.metric = (int)metric,
                                                  .node = (int)n,
                                                  .name = name_given(d, metric),
                                                  .a = own[0][n],
                                                  .b = own[1][n]});
    keep_largest(list, first, d->top);
}

static void find_paths(const struct diff *d, struct diff_found *found)
{
    size_t cost = cost_metric(d), nodes = d->on[0]->nodes + 1;
    double *own[2] = {calloc(nodes, sizeof(double)), calloc(nodes, sizeof(double))};
    if (!own[0] || !own[1]) {
        found->paths.no_memory = true;
    } else if (!d->metrics) {
        if (diff_wants(d, cost)) find_paths_of(d, cost, own, &found->paths);
    } else {
        for (size_t m = 0; m < d->on[0]->metrics; m++)
            if (name_given(d, m)) find_paths_of(d, m, own, &found->paths);
    }
    free(own[0]);
    free(own[1]);
}

int diff_find(const struct diff *d, struct diff_found *found)
{
    find_totals(d, found);
    find_paths(d, found);
    bool no_memory = found->tree.no_memory || found->single.no_memory || found->paths.no_memory;
    return no_memory ? cmd_fail("diff", "out of memory") : 0;
}

void diff_found_fini(struct diff_found *found)
{
    free(found->tree.change);
    free(found->single.change);
    free(found->paths.change);
}
