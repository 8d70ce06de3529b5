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
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/condition.h"
#include "cmd/diff.h"

enum { FAILED = 1 };

static const struct option_row option_rows[] = {
    {"metric", 'm', "NAME", "only this metric; may be repeated",
     OPTION_ADD_TEXT(struct diff, metric, metrics)},
    {"output", 'o', "OUT", "also write the experiment B - A: .cubex, or .cube for CUBE 3",
     OPTION_SET_TEXT(struct diff, output)},
    {"all", 0, NULL,
     "of two machines, compare all metrics; default: only those that must agree on "
     "both",
     OPTION_SET_FLAG(struct diff, all)},
    {"by-name", 0, NULL, "match functions by name alone, so that edited sources still match",
     OPTION_SET_FLAG(struct diff, align.by_name)},
    {"fail-if", 0, "EXPR",
     "exit with status 1 if EXPR holds, as 'CYCLES > 1.05 * A.CYCLES' or "
     "'delta(BGL_D1_L_MISS) > 2%'; may be repeated",
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
    .about = "Shows what changed from A to B: totals of metrics, then call paths, the "
             "largest change first.",
    .groups = {OPTION_ROWS(option_rows)},
    .notes = "EXPR compares (> >= < <= == !=) sums of totals: NAME or B.NAME, A.NAME, "
             "delta(NAME) for (B - A) / A, numbers, 5%; with + - * / ( ) and, or. A name "
             "with other characters than letters, digits, _ : $ stands in double quotes.",
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

bool diff_wants(const struct diff *d, size_t metric)
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
    const struct diff_change *x = a, *y = b;
    if (x->importance != y->importance) return x->importance < y->importance ? 1 : -1;
    if (x->metric != y->metric) return x->metric < y->metric ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static int add_change(struct diff_changes *list, struct diff_change change)
{
    if (change.a == change.b) return 0;
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 64;
        struct diff_change *more = reallocarray(list->change, room, sizeof *more);
        if (!more) return cmd_fail("diff", "out of memory");
        list->change = more;
        list->room = room;
    }
    list->change[list->count++] = change;
    return 0;
}

static int find_changes(const struct diff *d, struct diff_changes *totals,
                        struct diff_changes *paths)
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
        if (!diff_wants(d, m)) continue;
        for (int i = 0; i < 2; i++) {
            chil_exp_sum_nodes(d->on[i], (int)m, false, -1, own[i]);
            all[i] = chil_exp_sum(d->on[i], (int)m, -1, false, -1);
        }
        double scale = fmax(fabs(all[0]), fabs(all[1]));
        if (scale == 0) scale = 1;
        status = add_change(totals, (struct diff_change){(int)m, -1, all[0], all[1],
                                                         fabs(all[1] - all[0]) / scale});
        for (size_t n = 0; n < b->nodes && !status; n++)
            status = add_change(paths, (struct diff_change){(int)m, (int)n, own[0][n], own[1][n],
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
    struct diff_changes totals = {0}, paths = {0};
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
    if (!status) diff_print(d, &totals, &paths);
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
