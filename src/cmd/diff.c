/* chiliad diff: what changed from one experiment to another, the most important first.
 *
 *     $ chiliad diff before.cubex after.cubex
 *     metric             A          B      change  percent  call path
 *     CYCLES    12,345,678 10,000,000  -2,345,678   -19.0%  (all)
 *     CYCLES     8,000,000  5,600,000  -2,400,000   -30.0%  main > solve > kernel
 *
 * First the totals of the metrics that changed, then call paths by how much of their metric's total
 * the change of what they counted themselves is. --fail-if makes an exit status of a condition over
 * totals.
 *
 * Two machines are compared only in what must agree on both: what instructions do (exact), not what
 * their caches and pipelines make of it (modelled; paper 002, section 4.2).
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/condition.h"
#include "cmd/experiment.h"

enum { CONDITIONS = 64, FAILED = 1 };

struct diff {
    const char *path[2], *output, *separator, *condition[CONDITIONS];
    size_t conditions, metrics;
    const char *metric[CONDITIONS];
    bool json, all, failed[CONDITIONS], any_failed;
    bool limited; /* to what must agree on two machines */
    uint64_t top;
    struct chil_exp_align align;
    struct chil_exp *input[2], *on[2]; /* as read, and on common trees */
};

struct change {
    int metric, node; /* node -1: the total */
    double a, b, weight;
};

struct changes {
    struct change *change;
    size_t count, room;
};

static const struct option_row option_rows[] = {
    {"metric", 'm', "NAME", "only this metric; may be repeated",
     OPTION_ADD_TEXT(struct diff, metric, metrics)},
    {"output", 'o', "OUT", "also write the experiment B - A: .cubex, or .cube for CUBE 3",
     OPTION_SET_TEXT(struct diff, output)},
    {"all", 0, NULL,
     "of two machines, compare all metrics; default: only those that must agree on both",
     OPTION_SET_FLAG(struct diff, all)},
    {"by-name", 0, NULL, "match functions by name alone, so that edited sources still match",
     OPTION_SET_FLAG(struct diff, align.by_name)},
    {"fail-if", 0, "EXPR",
     "exit with status 1 if EXPR holds, as 'CYCLES > 1.05 * A.CYCLES' or 'delta(BGL_D1_L_MISS) > 2%'; may be repeated",
     OPTION_ADD_TEXT(struct diff, condition, conditions)},
    {"json", 'j', NULL, "one JSON object with a, b, totals, changes, only_a, only_b, failed",
     OPTION_SET_FLAG(struct diff, json)},
    {"separator", 'x', "SEP",
     "a line per change with SEP between the fields, and a first line of names",
     OPTION_SET_FULL(struct diff, separator)},
    {"top", 0, "N", "at most N totals and N call paths (default 20; 0: all)",
     OPTION_SET_NUMBER(struct diff, top, 0, 1000000000)},
};

const struct option_table cmd_diff_options = {
    .forms = {"[OPTIONS] A.cubex B.cubex"},
    .about =
        "Shows what changed from A to B: totals of metrics, then call paths, the largest change first.",
    .groups = {OPTION_ROWS(option_rows)},
    .notes =
        "EXPR compares (> >= < <= == !=) sums of totals: NAME or B.NAME, A.NAME, delta(NAME) for (B - A) / A, numbers, 5%; with + - * / ( ) and, or. A name with other characters than letters, digits, _ : $ stands in double quotes.",
};

static bool is_exact(const struct chil_exp *exp, size_t metric)
{
    return strcmp(exp->metric[metric].exactness, "exact") == 0;
}

static bool on_two_machines(const struct diff *d)
{
    const char *a = chil_exp_attribute(d->input[0], "machine"),
               *b = chil_exp_attribute(d->input[1], "machine");
    return a && b && strcmp(a, b) != 0;
}

static bool is_wanted(const struct diff *d, size_t metric)
{
    if (d->limited) return is_exact(d->on[0], metric) && is_exact(d->on[1], metric);
    for (size_t i = 0; i < d->metrics; i++)
        if (chil_exp_find_metric(d->on[1], d->metric[i]) == (int)metric) return true;
    return !d->metrics;
}

static int check_metrics(const struct diff *d)
{
    for (size_t i = 0; i < d->metrics; i++)
        if (chil_exp_find_metric(d->on[1], d->metric[i]) < 0)
            return cmd_fail("diff", "'%s' is no metric that both have", d->metric[i]);
    return 0;
}

/* --- Changes --------------------------------------------------------------------------------- */

static int compare_changes(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->weight != y->weight) return x->weight < y->weight ? 1 : -1;
    if (x->metric != y->metric) return x->metric < y->metric ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static int add_change(struct changes *list, struct change change)
{
    if (change.a == change.b) return 0;
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 64;
        struct change *more = reallocarray(list->change, room, sizeof *more);
        if (!more) return cmd_fail("diff", "out of memory");
        list->change = more;
        list->room = room;
    }
    list->change[list->count++] = change;
    return 0;
}

static int find_changes(const struct diff *d, struct changes *totals, struct changes *paths)
{
    const struct chil_exp *a = d->on[0], *b = d->on[1];
    double *own[2] = {calloc(a->nodes + 1, sizeof(double)), calloc(a->nodes + 1, sizeof(double))};
    int status = 0;
    if (!own[0] || !own[1]) {
        free(own[0]);
        free(own[1]);
        return cmd_fail("diff", "out of memory");
    }
    for (size_t m = 0; m < a->metrics && !status; m++) {
        double all[2];
        if (!is_wanted(d, m)) continue;
        for (int i = 0; i < 2; i++) {
            chil_exp_sum_nodes(d->on[i], (int)m, false, -1, own[i]);
            all[i] = chil_exp_sum(d->on[i], (int)m, -1, false, -1);
        }
        double scale = fmax(fabs(all[0]), fabs(all[1]));
        if (scale == 0) scale = 1;
        status = add_change(
            totals, (struct change){(int)m, -1, all[0], all[1], fabs(all[1] - all[0]) / scale});
        for (size_t n = 0; n < b->nodes && !status; n++)
            status = add_change(paths, (struct change){(int)m, (int)n, own[0][n], own[1][n],
                                                       fabs(own[1][n] - own[0][n]) / scale});
    }
    free(own[0]);
    free(own[1]);
    if (totals->count)
        qsort(totals->change, totals->count, sizeof *totals->change, compare_changes);
    if (paths->count) qsort(paths->change, paths->count, sizeof *paths->change, compare_changes);
    if (d->top && totals->count > d->top) totals->count = d->top;
    if (d->top && paths->count > d->top) paths->count = d->top;
    return status;
}

/* Metrics that only one has, called for each. */
static void each_only(const struct diff *d, int which,
                      void (*tell)(void *context, const char *name), void *context)
{
    const struct chil_exp *exp = d->input[which], *other = d->input[!which];
    for (size_t i = 0; i < exp->metrics; i++)
        if (chil_exp_find_metric(other, exp->metric[i].name) < 0)
            tell(context, exp->metric[i].title);
}

/* --- Printing -------------------------------------------------------------------------------- */

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

static void number(const struct chil_exp *exp, int metric, double value, bool grouped,
                   char out[CMD_GROUPED_MAX + 2])
{
    char digits[CMD_GROUPED_MAX];
    bool whole = exp->metric[metric].kind == CHIL_EXP_COUNT && fabs(value) < 0x1p63;
    if (whole && grouped)
        (void)snprintf(out, CMD_GROUPED_MAX + 2, "%s%s", value < 0 ? "-" : "",
                       cmd_grouped((uint64_t)fabs(value), digits));
    else
        (void)snprintf(out, CMD_GROUPED_MAX + 2, whole ? "%.0f" : "%.9g", value);
}

static void percent(const struct change *c, char out[32], const char *format)
{
    if (c->a == 0)
        (void)snprintf(out, 32, "%s", "new");
    else
        (void)snprintf(out, 32, format, 100 * (c->b - c->a) / fabs(c->a));
}

static enum chil_exp_kind wider(const struct diff *d, int metric)
{
    return d->on[0]->metric[metric].kind == CHIL_EXP_REAL ? CHIL_EXP_REAL
                                                          : d->on[1]->metric[metric].kind;
}

static void print_rows(const struct diff *d, const struct changes *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct change *c = &list->change[i];
        const struct chil_exp *kinds =
            d->on[wider(d, c->metric) == d->on[1]->metric[c->metric].kind];
        const struct chil_exp_metric *m = &d->on[1]->metric[c->metric];
        char a[CMD_GROUPED_MAX + 2], b[CMD_GROUPED_MAX + 2], change[CMD_GROUPED_MAX + 2], share[32],
            title[64];
        char *path = path_of(d->on[1], c->node);
        bool partial = m->partial || d->on[0]->metric[c->metric].partial;
        number(kinds, c->metric, c->a, true, a);
        number(kinds, c->metric, c->b, true, b);
        number(kinds, c->metric, c->b - c->a, true, change);
        percent(c, share, "%+.1f%%");
        (void)snprintf(title, sizeof title, "%s%s", partial ? "~" : "", m->title);
        (void)printf("%-24s %18s %18s %18s %9s  %s\n", title, a, b, change, share,
                     path ? path : "");
        free(path);
    }
}

static void print_only(void *context, const char *name)
{
    (void)printf("only in %s: %s\n", (const char *)context, name);
}

static void print_table(const struct diff *d, const struct changes *totals,
                        const struct changes *paths)
{
    size_t compared = 0;
    for (size_t m = 0; m < d->on[0]->metrics; m++)
        compared += is_wanted(d, m);
    if (d->limited)
        (void)printf(
            "A was on %s, B on %s: only what must agree on both is compared; --all compares everything\n",
            chil_exp_attribute(d->input[0], "machine"), chil_exp_attribute(d->input[1], "machine"));
    if (totals->count + paths->count == 0)
        (void)printf("no differences in %zu metrics\n", compared);
    else
        (void)printf("%-24s %18s %18s %18s %9s  %s\n", "metric", "A", "B", "change", "percent",
                     "call path");
    print_rows(d, totals);
    print_rows(d, paths);
    if (d->metrics || d->limited) return;
    each_only(d, 0, print_only, "A");
    each_only(d, 1, print_only, "B");
}

static void print_lines(const struct diff *d, const struct changes *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct change *c = &list->change[i];
        const struct chil_exp *kinds =
            d->on[wider(d, c->metric) == d->on[1]->metric[c->metric].kind];
        char value[CMD_GROUPED_MAX + 2], share[32];
        char *path = path_of(d->on[1], c->node);
        const double values[] = {c->a, c->b, c->b - c->a};
        cmd_field(d->on[1]->metric[c->metric].name, d->separator, d->separator);
        for (int k = 0; k < 3; k++) {
            number(kinds, c->metric, values[k], false, value);
            (void)printf("%s%s", value, d->separator);
        }
        percent(c, share, "%.3f");
        (void)printf("%s%s", share, d->separator);
        cmd_field(path ? path : "", d->separator, "\n");
        free(path);
    }
}

static json_t *json_number(const struct chil_exp *exp, int metric, double value)
{
    bool whole = exp->metric[metric].kind == CHIL_EXP_COUNT && fabs(value) < 0x1p63;
    return whole ? json_integer((json_int_t)value) : json_real(value);
}

static json_t *json_changes(const struct diff *d, const struct changes *list)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < list->count; i++) {
        const struct change *c = &list->change[i];
        const struct chil_exp *kinds =
            d->on[wider(d, c->metric) == d->on[1]->metric[c->metric].kind];
        json_t *row = json_object();
        char *path = path_of(d->on[1], c->node);
        (void)json_object_set_new(row, "metric", json_string(d->on[1]->metric[c->metric].name));
        if (c->node >= 0)
            (void)json_object_set_new(row, "call_path", json_string(path ? path : ""));
        (void)json_object_set_new(row, "a", json_number(kinds, c->metric, c->a));
        (void)json_object_set_new(row, "b", json_number(kinds, c->metric, c->b));
        (void)json_object_set_new(row, "change", json_number(kinds, c->metric, c->b - c->a));
        if (c->a != 0)
            (void)json_object_set_new(row, "percent", json_real(100 * (c->b - c->a) / fabs(c->a)));
        (void)json_array_append_new(rows, row);
        free(path);
    }
    return rows;
}

static void json_only(void *context, const char *name)
{
    (void)json_array_append_new(context, json_string(name));
}

static void print_json(const struct diff *d, const struct changes *totals,
                       const struct changes *paths)
{
    json_t *root = json_object(), *only[2] = {json_array(), json_array()}, *failed = json_array();
    (void)json_object_set_new(root, "a", json_string(d->path[0]));
    (void)json_object_set_new(root, "b", json_string(d->path[1]));
    (void)json_object_set_new(root, "totals", json_changes(d, totals));
    (void)json_object_set_new(root, "changes", json_changes(d, paths));
    for (int i = 0; i < 2; i++) {
        each_only(d, i, json_only, only[i]);
        (void)json_object_set_new(root, i ? "only_b" : "only_a", only[i]);
    }
    for (size_t i = 0; i < d->conditions; i++)
        if (d->failed[i]) (void)json_array_append_new(failed, json_string(d->condition[i]));
    (void)json_object_set_new(root, "failed", failed);
    (void)json_dumpf(root, stdout, JSON_INDENT(2));
    (void)putchar('\n');
    json_decref(root);
}

/* --- The command ----------------------------------------------------------------------------- */

static int check_conditions(struct diff *d)
{
    struct chil_error err = {0};
    for (size_t i = 0; i < d->conditions; i++) {
        if (condition_holds(d->condition[i], d->input[0], d->input[1], &d->failed[i], &err))
            return cmd_fail("diff", "--fail-if: %s", err.text);
        d->any_failed |= d->failed[i];
    }
    return 0;
}

static int write_difference(const struct diff *d)
{
    struct chil_exp *result = NULL;
    struct chil_error err = {0};
    if (chil_exp_diff(&result, d->input[1], d->input[0], &d->align, &err))
        return cmd_fail_error("diff", &err);
    int status = cmd_exp_write("diff", result, d->output);
    chil_exp_free(result);
    return status;
}

static int compare(struct diff *d)
{
    struct changes totals = {0}, paths = {0};
    struct chil_error err = {0};
    int status = check_conditions(d);
    d->limited = !d->all && !d->metrics && on_two_machines(d);
    if (!status && chil_exp_extend(d->on, d->input[0], d->input[1], &d->align, &err))
        status = cmd_fail_error("diff", &err);
    if (!status && !d->on[0]->metrics)
        status = cmd_fail("diff", "the two have no metric in common");
    if (!status) status = check_metrics(d);
    if (!status && d->output) status = write_difference(d);
    if (!status) status = find_changes(d, &totals, &paths);
    if (!status) {
        if (d->json) {
            print_json(d, &totals, &paths);
        } else if (d->separator) {
            const char *s = d->separator;
            (void)printf("metric%sA%sB%schange%spercent%scall path\n", s, s, s, s, s);
            print_lines(d, &totals);
            print_lines(d, &paths);
        } else {
            print_table(d, &totals, &paths);
        }
    }
    free(totals.change);
    free(paths.change);
    for (size_t i = 0; i < d->conditions && !status; i++)
        if (d->failed[i]) (void)cmd_fail("diff", "it holds that %s", d->condition[i]);
    return status ? status : d->any_failed ? FAILED : 0;
}

int cmd_diff(int argc, char **argv)
{
    struct diff d = {.top = 20};
    int status = options_parse(&cmd_diff_options, &d, argc, argv);
    if (status) return status < 0 ? 0 : status;
    if (optind + 2 != argc) return cmd_fail("diff", "name two experiments: A, then B");
    for (int i = 0; i < 2 && !status; i++) {
        d.path[i] = argv[optind + i];
        status = cmd_exp_read("diff", d.path[i], &d.input[i]);
    }
    if (!status) status = compare(&d);
    for (int i = 0; i < 2; i++) {
        chil_exp_free(d.input[i]);
        chil_exp_free(d.on[i]);
    }
    return status;
}
