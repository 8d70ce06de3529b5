/* chiliad diff: what changed from one experiment to another, costs first.
 *
 *     $ chiliad diff slow.cubex fast.cubex
 *     A: slow.cubex, ./product on bgp
 *     B: fast.cubex, ./product on bgp
 *
 *     metrics                          A           B       change  percent
 *     CYCLES                 111,011,798  27,640,654  -83,371,144   -75.1%
 *       BUSY                  12,071,975  22,532,830  +10,460,855   +86.7%
 *       STALL                 98,939,823   5,107,824  -93,831,999   -94.8%
 *     ...
 *     call paths of CYCLES             A           B       change  percent
 *     main > multiply        110,502,348  27,131,250  -83,371,098   -75.4%
 *
 * The table has the metrics that the machine's specification derives: cycles, instructions, misses
 * by level. Call paths follow, by the change of their own cycles. Single events are in no
 * hierarchy;
 * --all shows them. diff_find.c finds and orders changes, condition.c evaluates --fail-if.
 *
 * Two machines are compared only in what must agree on both: what instructions do (exact), not what
 * their caches and pipelines make of it (modelled; paper 002, section 4.2).
 */
#include "cmd/diff.h"

#include <stdlib.h>
#include <string.h>

#include "chiliad/metric.h"

enum { FAILED = 1 };

static const struct option_row option_rows[] = {
    {"metric", 'm', "NAME", "only this metric; may be repeated",
     OPTION_ADD_TEXT(struct diff, metric, metrics)},
    {"output", 'o', "OUT", "also write the experiment B - A: .cubex, or .cube for CUBE 3",
     OPTION_SET_TEXT(struct diff, output)},
    {"all", 0, NULL,
     "also single events; of two machines, all metrics, not only the ones that must agree",
     OPTION_SET_FLAG(struct diff, all)},
    {"by-name", 0, NULL,
     "match functions by name alone, so that edited sources and renamed programs still match",
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
    {"top", 0, "N", "at most N single events, and N call paths of a metric (default 20; 0: all)",
     OPTION_SET_NUMBER(struct diff, top, 0, 1000000000)},
};

const struct option_table cmd_diff_options = {
    .forms = {"[OPTIONS] A.cubex B.cubex"},
    .about = "Shows what changed from A to B: cycles, instructions and misses by level, then "
             "call paths, the largest change of cycles first.",
    .groups = {OPTION_ROWS(option_rows)},
    .notes = "EXPR compares (> >= < <= == !=) sums of totals: NAME or B.NAME, A.NAME, "
             "delta(NAME) for (B - A) / A, numbers, 5%; with + - * / ( ) and, or. A NAME is an "
             "event, a derived metric or a ratio. One with other characters than letters, "
             "digits, _ : $ stands in double quotes.",
};

static bool on_two_machines(const struct diff *d)
{
    const char *a = chil_exp_attribute(d->input[0], "machine"),
               *b = chil_exp_attribute(d->input[1], "machine");
    return a && b && strcmp(a, b) != 0;
}

static int check_metrics(const struct diff *d)
{
    for (size_t i = 0; i < d->metrics; i++)
        if (chil_metric_find(d->on[1], d->metric[i]) < 0)
            return cmd_fail("diff", "'%s' is no metric that both have", d->metric[i]);
    return 0;
}

/* --- The command ----------------------------------------------------------------------------- */

static int check_conditions(struct diff *d)
{
    struct chil_error err = {0};
    struct condition_side side[2];
    for (int i = 0; i < 2; i++)
        side[i] = (struct condition_side){d->input[i], d->derived[i], d->spec[i]};
    for (size_t i = 0; i < d->conditions; i++) {
        if (condition_holds(d->condition[i], side, &d->failed[i], &err))
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

/* The experiment with the hierarchies of its machine's specification. */
static int derive(struct diff *d, int which)
{
    struct chil_error err = {0};
    if (chil_spec_open_for(&d->spec[which], d->input[which], &err) ||
        chil_metric_derive(&d->derived[which], d->input[which], d->spec[which], NULL, &err))
        return cmd_fail_error("diff", &err);
    return 0;
}

static int compare(struct diff *d)
{
    struct diff_found found = {0};
    struct chil_error err = {0};
    int status = derive(d, 0);
    if (!status) status = derive(d, 1);
    if (!status) status = check_conditions(d);
    d->limited = !d->all && !d->metrics && on_two_machines(d);
    if (!status && chil_exp_extend(d->on, d->derived[0], d->derived[1], &d->align, &err))
        status = cmd_fail_error("diff", &err);
    if (!status && !d->on[0]->metrics)
        status = cmd_fail("diff", "the two have no metric in common");
    if (!status) status = check_metrics(d);
    if (!status && d->output) status = write_difference(d);
    if (!status) status = diff_find(d, &found);
    if (!status) diff_print(d, &found);
    diff_found_fini(&found);
    for (size_t i = 0; i < d->conditions && !status; i++)
        if (d->failed[i]) (void)cmd_fail("diff", "it holds that %s", d->condition[i]);
    return status ? status : d->any_failed ? FAILED : 0;
}

int cmd_diff(int argc, char **argv)
{
    struct diff d = {.top = DIFF_TOP};
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
        chil_exp_free(d.derived[i]);
        chil_exp_free(d.on[i]);
        chil_spec_free(d.spec[i]);
    }
    return status;
}
