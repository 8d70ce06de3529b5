/* Results of chiliad diff: tables, separated values and JSON.
 *
 *     metrics                          A           B       change  percent
 *     CYCLES                 111,011,798  27,640,654  -83,371,144   -75.1%
 *       BUSY                  12,071,975  22,532,830  +10,460,855   +86.7%
 *
 * Changes of ten times and more are factors: "x26", not "+2500.0%".
 */
#include "cmd/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chiliad/report.h"

/* The title of a metric is for people, its name for programs. */
enum { TITLE, NAME, PATH_FIRST, A, B, CHANGE, PERCENT, FACTOR, PATH, COLUMNS };
static const struct view_column columns[COLUMNS] = {
    [TITLE] = {.title = "", .left = true, .fit = VIEW_FIT_MIDDLE, .forms = VIEW_IN_TABLE},
    [NAME] = {.title = "metric", .forms = VIEW_IN_LINES | VIEW_IN_JSON},
    [PATH_FIRST] = {.title = "call_path", .forms = VIEW_IN_JSON},
    [A] = {.title = "A", .key = "a", .real = "%.6g"},
    [B] = {.title = "B", .key = "b", .real = "%.6g"},
    [CHANGE] = {.title = "change", .real = "%+.6g", .sign = true},
    [PERCENT] = {.title = "percent",
                 .raw = "%.3f",
                 .none = "new",
                 .forms = VIEW_IN_LINES | VIEW_IN_JSON},
    [FACTOR] = {.title = "percent", .forms = VIEW_IN_TABLE},
    [PATH] = {.title = "call path", .forms = VIEW_IN_LINES},
};

/* "main > solve > kernel"; to be freed. */
static char *path_of(const struct chil_exp *exp, int node)
{
    return node < 0 ? strdup("(all)") : chil_report_path(exp, node, " > ");
}

/* Whether values of a metric are whole numbers in both experiments. */
static bool is_whole(const struct diff *d, int metric)
{
    return d->on[0]->metric[metric].kind == CHIL_EXP_COUNT &&
           d->on[1]->metric[metric].kind == CHIL_EXP_COUNT;
}

static bool is_partial(const struct diff *d, int metric)
{
    return d->on[0]->metric[metric].partial || d->on[1]->metric[metric].partial;
}

/* "-75.1%"; "x26" where B is ten times A or more; "new" where A has nothing. */
static struct view_cell factor_of(struct view *view, const struct diff_change *c)
{
    enum { TIMES = 10 };
    char text[40];
    double factor = c->b / c->a;
    if (c->a == 0) return view_text(c->b == 0 ? "" : "new");
    if (factor >= TIMES)
        (void)snprintf(text, sizeof text, factor < 1e6 ? "x%.0f" : "x%.1e", factor);
    else
        (void)snprintf(text, sizeof text, "%+.1f%%", 100 * (c->b - c->a) / fabs(c->a));
    return view_copy(view, text);
}

static void add_row(struct view *view, const struct diff *d, const struct diff_change *c)
{
    bool whole = is_whole(d, c->metric);
    const struct chil_exp_metric *m = &d->on[1]->metric[c->metric];
    char *path = path_of(d->on[1], c->node), title[300];
    struct view_cell *cell = view_row(view);
    (void)snprintf(title, sizeof title, "%*s%s%s", 2 * (int)c->depth, "",
                   is_partial(d, c->metric) ? "~" : "", c->name ? c->name : m->title);
    cell[TITLE] = view_copy(view, title);
    cell[NAME] = view_text(c->name ? c->name : m->name);
    cell[PATH] = view_copy(view, path ? path : "");
    if (c->node >= 0) cell[TITLE] = cell[PATH_FIRST] = cell[PATH];
    cell[A] = view_value(c->a, whole);
    cell[B] = view_value(c->b, whole);
    cell[CHANGE] = view_value(c->b - c->a, whole);
    if (c->a != 0) cell[PERCENT] = view_real(100 * (c->b - c->a) / fabs(c->a));
    cell[FACTOR] = factor_of(view, c);
    free(path);
}

/* Changes `first` to `last` - 1, those of metrics that did not change only where `all`. */
static void add_rows(struct view *view, const struct diff *d, const struct diff_changes *list,
                     size_t first, size_t last, bool all)
{
    for (size_t i = first; i < last; i++)
        if (all || list->change[i].a != list->change[i].b) add_row(view, d, &list->change[i]);
}

/* Calls `take` with each metric that only experiment `which` has. */
static size_t each_only(const struct diff *d, int which,
                        void (*take)(void *context, const char *name), void *context)
{
    const struct chil_exp *exp = d->input[which], *other = d->input[!which];
    size_t count = 0;
    for (size_t i = 0; i < exp->metrics; i++) {
        if (chil_exp_find_metric(other, exp->metric[i].name) >= 0) continue;
        if (take) take(context, exp->metric[i].title);
        count++;
    }
    return count;
}

/* --- Tables ---------------------------------------------------------------------------------- */

static void print_part(const struct diff *d, const char *title, const struct diff_changes *list,
                       size_t first, size_t last)
{
    struct view_column titled[COLUMNS];
    struct view view;
    if (first == last) return;
    memcpy(titled, columns, sizeof columns);
    titled[TITLE].title = title;
    view_init(&view, titled, COLUMNS);
    add_rows(&view, d, list, first, last, true);
    (void)putchar('\n');
    view_table(&view, stdout,
               &(struct view_table_style){.heading = true, .width = view_terminal_width(stdout)});
    view_fini(&view);
}

/* A table for the call paths of each metric. */
static void print_paths(const struct diff *d, const struct diff_changes *list)
{
    for (size_t first = 0, last; first < list->count; first = last) {
        const struct diff_change *c = &list->change[first];
        char title[300];
        for (last = first; last < list->count && list->change[last].metric == c->metric;)
            last++;
        (void)snprintf(title, sizeof title, "call paths of %s",
                       c->name ? c->name : d->on[1]->metric[c->metric].title);
        print_part(d, title, list, first, last);
    }
}

static void print_only(void *context, const char *name)
{
    (void)printf("only in %s: %s\n", (const char *)context, name);
}

/* Whether no call path can match, because the programs have different names. */
static bool are_renamed(const struct diff *d)
{
    const char *name[2];
    for (int i = 0; i < 2; i++) {
        const struct chil_exp *exp = d->input[i];
        name[i] = exp->nodes ? exp->region[exp->node[0].region].name : "";
    }
    return !d->align.by_name && strcmp(name[0], name[1]) != 0;
}

/* What the tables leave out, and how to see it. */
static void print_rest(const struct diff *d, const struct diff_found *found)
{
    enum { FEW = 5 };
    size_t singles = found->single.left_out, paths = found->paths.left_out;
    bool hidden = singles && !d->all && !d->metrics;
    (void)putchar('\n');
    if (found->tree.left_out)
        (void)printf("(%zu smaller changes in hierarchies; --top 0 shows them)\n",
                     found->tree.left_out);
    if (singles)
        (void)printf("(%zu %ssingle event%s changed; %s shows %s)\n", singles,
                     hidden ? "" : "more ", singles == 1 ? "" : "s", hidden ? "--all" : "--top 0",
                     singles == 1 ? "it" : "them");
    if (paths) (void)printf("(%zu more call paths changed; --top 0 shows them)\n", paths);
    if (found->paths.count && are_renamed(d))
        (void)puts("(the programs have different names; --by-name matches their call paths)");
    for (int i = 0; i < 2 && !d->metrics && !d->limited; i++) {
        size_t count = each_only(d, i, NULL, NULL);
        if (count <= FEW || d->all)
            (void)each_only(d, i, print_only, i ? "B" : "A");
        else
            (void)printf("only in %s: %zu metrics; --all names them\n", i ? "B" : "A", count);
    }
}

static void print_side(const struct diff *d, int which)
{
    const char *command = chil_exp_attribute(d->input[which], "command"),
               *machine = chil_exp_attribute(d->input[which], "machine");
    (void)printf("%s: %s%s%s%s%s\n", which ? "B" : "A", d->path[which], command ? ", " : "",
                 command ? command : "", machine ? " on " : "", machine ? machine : "");
}

static void print_tables(const struct diff *d, const struct diff_found *found)
{
    print_side(d, 0);
    print_side(d, 1);
    if (d->limited)
        (void)puts("two machines: only what must agree on both is compared; --all compares all");
    if (!found->changed && !found->paths.count) {
        (void)printf("no differences in %zu metrics\n", found->compared);
    } else {
        print_part(d, "metrics", &found->tree, 0, found->tree.count);
        print_part(d, d->metrics ? "metrics" : "single events", &found->single, 0,
                   found->single.count);
        print_paths(d, &found->paths);
    }
    print_rest(d, found);
}

/* --- For programs ---------------------------------------------------------------------------- */

static void add_totals(struct view *view, const struct diff *d, const struct diff_found *found)
{
    add_rows(view, d, &found->tree, 0, found->tree.count, false);
    add_rows(view, d, &found->single, 0, found->single.count, false);
}

static void print_lines(const struct diff *d, const struct diff_found *found)
{
    struct view view;
    view_init(&view, columns, COLUMNS);
    add_totals(&view, d, found);
    add_rows(&view, d, &found->paths, 0, found->paths.count, false);
    view_lines_heading(&view, stdout, d->separator);
    view_lines(&view, stdout, d->separator);
    view_fini(&view);
}

static void add_name(void *context, const char *name)
{
    (void)json_array_append_new(context, view_json_text(name));
}

static void print_json(const struct diff *d, const struct diff_found *found)
{
    json_t *root = json_object(), *failed = json_array();
    struct view totals, paths;
    view_init(&totals, columns, COLUMNS);
    view_init(&paths, columns, COLUMNS);
    add_totals(&totals, d, found);
    add_rows(&paths, d, &found->paths, 0, found->paths.count, false);
    (void)json_object_set_new(root, "a", json_string(d->path[0]));
    (void)json_object_set_new(root, "b", json_string(d->path[1]));
    (void)json_object_set_new(root, "totals", view_json(&totals));
    (void)json_object_set_new(root, "changes", view_json(&paths));
    for (int i = 0; i < 2; i++) {
        json_t *only = json_array();
        (void)each_only(d, i, add_name, only);
        (void)json_object_set_new(root, i ? "only_b" : "only_a", only);
    }
    for (size_t i = 0; i < d->conditions; i++)
        if (d->failed[i]) (void)json_array_append_new(failed, json_string(d->condition[i]));
    (void)json_object_set_new(root, "failed", failed);
    (void)view_json_write(root, stdout, JSON_INDENT(2));
    view_fini(&totals);
    view_fini(&paths);
}

void diff_print(const struct diff *d, const struct diff_found *found)
{
    if (d->json)
        print_json(d, found);
    else if (d->separator)
        print_lines(d, found);
    else
        print_tables(d, found);
}
