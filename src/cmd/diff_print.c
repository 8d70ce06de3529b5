/* Results of chiliad diff: a row for each change, metrics that only one experiment has. */
#include "cmd/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The title of a metric is for people, its name for programs. */
enum { TITLE, NAME, PATH_FIRST, A, B, CHANGE, PERCENT, PATH, COLUMNS };
static const struct view_column columns[COLUMNS] = {
    [TITLE] = {.title = "metric", .left = true, .least = 24, .fixed = true, .forms = VIEW_IN_TABLE},
    [NAME] = {.title = "metric", .forms = VIEW_IN_LINES | VIEW_IN_JSON},
    [PATH_FIRST] = {.title = "call_path", .forms = VIEW_IN_JSON},
    [A] = {.title = "A", .key = "a", .least = 18, .fixed = true, .gap = " ", .real = "%.9g"},
    [B] = {.title = "B", .key = "b", .least = 18, .fixed = true, .gap = " ", .real = "%.9g"},
    [CHANGE] = {.title = "change", .least = 18, .fixed = true, .gap = " ", .real = "%.9g"},
    [PERCENT] = {.title = "percent",
                 .least = 9,
                 .fixed = true,
                 .gap = " ",
                 .real = "%+.1f%%",
                 .raw = "%.3f",
                 .none = "new"},
    [PATH] = {.title = "call path", .left = true, .forms = VIEW_IN_TABLE | VIEW_IN_LINES},
};

/* "main > solve > kernel"; to be freed. */
static char *path_of(const struct chil_exp *exp, int node)
{
    char *text = NULL;
    size_t size, depth = 0;
    if (node < 0) return strdup("(all)");
    for (int n = node; n >= 0; n = exp->node[n].parent)
        depth++;
    int *step = calloc(depth, sizeof *step);
    FILE *out = open_memstream(&text, &size);
    if (!step || !out) {
        free(step);
        if (out) (void)fclose(out);
        return text;
    }
    for (int n = node, at = (int)depth; n >= 0; n = exp->node[n].parent)
        step[--at] = n;
    for (size_t i = 0; i < depth; i++)
        (void)fprintf(out, "%s%s", i ? " > " : "", exp->region[exp->node[step[i]].region].name);
    (void)fclose(out);
    free(step);
    return text;
}

/* Whether values of a metric are whole numbers in both experiments. */
static bool is_whole(const struct diff *d, int metric)
{
    return d->on[0]->metric[metric].kind == CHIL_EXP_COUNT &&
           d->on[1]->metric[metric].kind == CHIL_EXP_COUNT;
}

static void add_row(struct view *view, const struct diff *d, const struct diff_change *c)
{
    const struct chil_exp_metric *m = &d->on[1]->metric[c->metric];
    bool partial = m->partial || d->on[0]->metric[c->metric].partial,
         whole = is_whole(d, c->metric);
    char *path = path_of(d->on[1], c->node), title[64];
    struct view_cell *cell = view_row(view);
    (void)snprintf(title, sizeof title, "%s%s", partial ? "~" : "", m->title);
    cell[TITLE] = view_copy(view, title);
    cell[NAME] = view_text(m->name);
    cell[PATH] = view_copy(view, path ? path : "");
    if (c->node >= 0) cell[PATH_FIRST] = cell[PATH];
    cell[A] = view_value(c->a, whole);
    cell[B] = view_value(c->b, whole);
    cell[CHANGE] = view_value(c->b - c->a, whole);
    if (c->a != 0) cell[PERCENT] = view_real(100 * (c->b - c->a) / fabs(c->a));
    free(path);
}

static void add_rows(struct view *view, const struct diff *d, const struct diff_changes *list)
{
    for (size_t i = 0; i < list->count; i++)
        add_row(view, d, &list->change[i]);
}

/* Calls `take` with each metric that only experiment `which` has. */
static void each_only(const struct diff *d, int which,
                      void (*take)(void *context, const char *name), void *context)
{
    const struct chil_exp *exp = d->input[which], *other = d->input[!which];
    for (size_t i = 0; i < exp->metrics; i++)
        if (chil_exp_find_metric(other, exp->metric[i].name) < 0)
            take(context, exp->metric[i].title);
}

static void print_only(void *context, const char *name)
{
    (void)printf("only in %s: %s\n", (const char *)context, name);
}

static void print_table(const struct diff *d, const struct view *view)
{
    size_t compared = 0;
    for (size_t m = 0; m < d->on[0]->metrics; m++)
        compared += diff_wants(d, m);
    if (d->limited)
        (void)printf(
            "A was on %s, B on %s: only what must agree on both is compared; --all compares everything\n",
            chil_exp_attribute(d->input[0], "machine"), chil_exp_attribute(d->input[1], "machine"));
    if (view->rows)
        view_table(view, stdout, &(struct view_table_style){.heading = true});
    else
        (void)printf("no differences in %zu metrics\n", compared);
    if (d->metrics || d->limited) return;
    each_only(d, 0, print_only, "A");
    each_only(d, 1, print_only, "B");
}

static void add_name(void *context, const char *name)
{
    (void)json_array_append_new(context, view_json_text(name));
}

static void print_json(const struct diff *d, const struct view *totals, const struct view *paths)
{
    json_t *root = json_object(), *only[2] = {json_array(), json_array()}, *failed = json_array();
    (void)json_object_set_new(root, "a", json_string(d->path[0]));
    (void)json_object_set_new(root, "b", json_string(d->path[1]));
    (void)json_object_set_new(root, "totals", view_json(totals));
    (void)json_object_set_new(root, "changes", view_json(paths));
    for (int i = 0; i < 2; i++) {
        each_only(d, i, add_name, only[i]);
        (void)json_object_set_new(root, i ? "only_b" : "only_a", only[i]);
    }
    for (size_t i = 0; i < d->conditions; i++)
        if (d->failed[i]) (void)json_array_append_new(failed, json_string(d->condition[i]));
    (void)json_object_set_new(root, "failed", failed);
    (void)view_json_write(root, stdout, JSON_INDENT(2));
}

/* JSON has totals and call paths apart; the table and separated values have one list. */
void diff_print(const struct diff *d, const struct diff_changes *totals,
                const struct diff_changes *paths)
{
    struct view all, rest;
    view_init(&all, columns, COLUMNS);
    view_init(&rest, columns, COLUMNS);
    add_rows(&all, d, totals);
    add_rows(d->json ? &rest : &all, d, paths);
    if (d->json) {
        print_json(d, &all, &rest);
    } else if (d->separator) {
        view_lines_heading(&all, stdout, d->separator);
        view_lines(&all, stdout, d->separator);
    } else {
        print_table(d, &all);
    }
    view_fini(&all);
    view_fini(&rest);
}
