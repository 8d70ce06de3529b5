/* Reports: the three linked trees, percentages, flat profiles, exports for other tools. */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "chiliad/report.h"
#include "exp_random.h"
#include "rig_metric.h"
#include "random.h"

enum { TRIALS = 60 };

/* Metrics ALL = LEFT + RIGHT with 10 of its own, and OTHER. Call paths:
 *     0 main           1 of LEFT on each thread
 *     1   main/f       20 of RIGHT on thread 0
 *     2   main/f/g     30 of LEFT on thread 1
 *     3   main/g       40 of LEFT on thread 2
 *     4   main/f/g/f   50 of RIGHT on thread 2
 * Threads 0 and 1 are of process 0, thread 2 of process 1. */
enum { ALL, LEFT, RIGHT, OTHER };
enum { MAIN, F, FG, G, FGF };

static struct chil_exp *known(void)
{
    static const struct {
        int metric, node, thread, count;
    } cells[] = {{LEFT, MAIN, 0, 1}, {LEFT, MAIN, 1, 1}, {LEFT, MAIN, 2, 1},  {RIGHT, F, 0, 20},
                 {LEFT, FG, 1, 30},  {LEFT, G, 2, 40},   {RIGHT, FGF, 2, 50}, {ALL, G, 2, 10}};
    struct chil_exp *exp = chil_exp_new();
    const char *const names[] = {"ALL", "LEFT", "RIGHT", "OTHER"};
    const int parents[] = {-1, ALL, ALL, -1};
    for (int i = 0; i < 4; i++)
        assert_int_equal(
            chil_exp_add_metric(exp, &(struct chil_exp_metric){.name = (char *)names[i],
                                                               .unit = (char *)"occ",
                                                               .parent = parents[i]}),
            i);
    const char *const functions[] = {"main", "f", "g"};
    for (int i = 0; i < 3; i++)
        (void)chil_exp_add_region(
            exp, &(struct chil_exp_region){.name = (char *)functions[i],
                                           .module = (char *)(i < 2 ? "a.c" : "b.c"),
                                           .begin = 10 * i + 1,
                                           .end = -1});
    (void)chil_exp_add_node(exp, -1, 0, -1, NULL);
    (void)chil_exp_add_node(exp, MAIN, 1, -1, NULL);
    (void)chil_exp_add_node(exp, F, 2, -1, NULL);
    (void)chil_exp_add_node(exp, MAIN, 2, -1, NULL);
    (void)chil_exp_add_node(exp, FG, 1, -1, NULL);
    int machine = chil_exp_add_place(exp, -1, CHIL_EXP_MACHINE, "m", 0);
    for (int p = 0; p < 2; p++) {
        int process = chil_exp_add_place(exp, machine, CHIL_EXP_PROCESS, "p", p);
        for (int t = 0; t < 2 - p; t++)
            (void)chil_exp_add_place(exp, process, CHIL_EXP_THREAD, "t", t);
    }
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        chil_exp_add_count(exp, cells[i].metric, cells[i].node, cells[i].thread, cells[i].count);
        if (cells[i].metric != ALL)
            chil_exp_add_count(exp, ALL, cells[i].node, cells[i].thread, cells[i].count);
    }
    chil_exp_add_count(exp, OTHER, G, 0, 7);
    return exp;
}

static struct chil_report *report_of(struct chil_exp *exp)
{
    struct chil_report *report = NULL;
    struct chil_error err = {0};
    if (chil_report_new(&report, exp, NULL, NULL, &err)) fail_msg("%s", err.text);
    chil_exp_free(exp);
    return report;
}

static struct chil_report *known_report(void)
{
    struct chil_report *report = report_of(known());
    assert_int_equal(chil_report_select_metric(report, "ALL", NULL), 0);
    return report;
}

static const struct chil_report_view everything = {.depth = CHIL_REPORT_DEPTH_MOST};

/* The row of a node in a tree; NULL: not shown. */
static const struct chil_report_row *row_of(struct chil_report *report, enum chil_report_pane pane,
                                            const struct chil_report_view *view, int index)
{
    static struct chil_report_row found;
    size_t count;
    bool is_there = false;
    struct chil_report_row *row = chil_report_rows(report, pane, view, &count);
    for (size_t i = 0; i < count; i++)
        if (row[i].index == index) {
            found = row[i];
            is_there = true;
        }
    free(row);
    return is_there ? &found : NULL;
}

static double value_of(struct chil_report *report, enum chil_report_pane pane, int index)
{
    const struct chil_report_row *row = row_of(report, pane, &everything, index);
    assert_non_null(row);
    return row->value;
}

static double whole_of(struct chil_report *report, enum chil_report_pane pane, int index)
{
    const struct chil_report_row *row = row_of(report, pane, &everything, index);
    assert_non_null(row);
    return row->whole;
}

static double percent_of(struct chil_report *report, enum chil_report_pane pane,
                         enum chil_report_mode mode, int index)
{
    const struct chil_report_view view = {.mode = mode, .depth = CHIL_REPORT_DEPTH_MOST};
    const struct chil_report_row *row = row_of(report, pane, &view, index);
    assert_non_null(row);
    assert_true(row->defined);
    return row->percent;
}

static void select_call(struct chil_report *report, const char *pattern)
{
    struct chil_error err = {0};
    if (chil_report_select_calls(report, &pattern, pattern != NULL, &err)) fail_msg("%s", err.text);
}

static bool is_this(void *context, int thread)
{
    return *(int *)context == thread;
}

static void select_thread(struct chil_report *report, int thread)
{
    assert_int_equal(chil_report_select_threads(report, is_this, &thread, NULL), 0);
}

/* --- Trees ----------------------------------------------------------------------------------- */

/* Planted: a thread is left out. */
static void KOJ_31_three_trees_have_every_node_of_the_experiment(void **state)
{
    (void)state;
    struct chil_report *report = known_report();
    size_t count;
    const size_t sizes[] = {4, 5, 6};
    for (int pane = CHIL_REPORT_METRICS; pane <= CHIL_REPORT_SYSTEM; pane++) {
        free(chil_report_rows(report, (enum chil_report_pane)pane, &everything, &count));
        assert_int_equal(count, sizes[pane]);
    }
    chil_report_free(report);
}

/* Planted: open metrics show the whole. */
static void KOJ_32_closed_nodes_show_the_whole_and_open_ones_their_own(void **state)
{
    (void)state;
    struct chil_report *report = known_report();
    const struct chil_report_view closed = {.depth = 0};
    assert_true(row_of(report, CHIL_REPORT_METRICS, &closed, ALL)->value == 153);
    assert_false(row_of(report, CHIL_REPORT_METRICS, &closed, ALL)->open);
    assert_true(value_of(report, CHIL_REPORT_METRICS, ALL) == 10);
    assert_true(whole_of(report, CHIL_REPORT_METRICS, ALL) == 153);
    assert_true(value_of(report, CHIL_REPORT_METRICS, LEFT) == 73);
    assert_true(row_of(report, CHIL_REPORT_CALLS, &closed, MAIN)->value == 153);
    assert_null(row_of(report, CHIL_REPORT_CALLS, &closed, F));
    assert_true(value_of(report, CHIL_REPORT_CALLS, MAIN) == 3);
    assert_true(value_of(report, CHIL_REPORT_CALLS, FG) == 30);
    assert_true(whole_of(report, CHIL_REPORT_CALLS, FG) == 80);
    assert_true(row_of(report, CHIL_REPORT_SYSTEM, &closed, 0)->value == 153);
    assert_true(value_of(report, CHIL_REPORT_SYSTEM, 0) == 0);
    assert_true(value_of(report, CHIL_REPORT_SYSTEM, 5) == 101);
    chil_report_free(report);
}

/* What is shown of a tree adds up to its root, whatever is open and whatever is too light to be
 * shown by itself. */
static void KOJ_32_what_is_shown_adds_up(void **state)
{
    int shown = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= TRIALS; seed++) {
        uint64_t random = seed;
        struct chil_exp *exp = exp_random(&random);
        struct chil_report *report = NULL;
        if (chil_report_new(&report, exp, NULL, NULL, NULL)) {
            chil_exp_free(exp); /* it has nothing at all */
            continue;
        }
        shown++;
        chil_exp_free(exp);
        exp = (struct chil_exp *)chil_report_exp(report);
        struct chil_report_view view = {.depth = random_next(&random) % 5,
                                        .threshold = (double)(random_next(&random) % 40) / 100};
        for (size_t m = 0; m < exp->metrics; m++) {
            double sum[2] = {0}, all = chil_exp_sum(exp, (int)m, -1, false, -1);
            assert_int_equal(chil_report_select_metric(report, exp->metric[m].name, NULL), 0);
            for (int pane = CHIL_REPORT_CALLS; pane <= CHIL_REPORT_SYSTEM; pane++) {
                size_t count;
                struct chil_report_row *row =
                    chil_report_rows(report, (enum chil_report_pane)pane, &view, &count);
                for (size_t i = 0; i < count; i++)
                    sum[pane - 1] += row[i].value;
                free(row);
            }
            assert_true(fabs(sum[0] - all) <= 1e-9 * fabs(all));
            assert_true(fabs(sum[1] - all) <= 1e-9 * fabs(all));
        }
        chil_report_free(report);
    }
    assert_true(shown > TRIALS / 2);
}

static void light_call_paths_are_one_row_below_their_caller(void **state)
{
    (void)state;
    struct chil_report *report = known_report();
    const struct chil_report_view view = {.depth = CHIL_REPORT_DEPTH_MOST, .threshold = 0.34};
    size_t count;
    struct chil_report_row *row = chil_report_rows(report, CHIL_REPORT_CALLS, &view, &count);
    /* main, f (100 of 153), f/g (80), its f (50 < 52.02) is closed in it, g (50) is gathered */
    assert_int_equal(count, 4);
    assert_int_equal(row[0].index, MAIN);
    assert_int_equal(row[1].index, F);
    assert_int_equal(row[2].index, FG);
    assert_false(row[2].open);
    assert_true(row[2].value == 80);
    assert_int_equal(row[3].index, -1);
    assert_int_equal(row[3].parent, MAIN);
    assert_int_equal(row[3].others, 1);
    assert_true(row[3].value == 50);
    free(row);
    chil_report_free(report);
}

/* --- Selections ------------------------------------------------------------------------------ */

/* Planted: selected call paths are not heeded; trees to the left heed them. */
static void KOJ_33_a_selection_sets_what_the_trees_to_its_right_show(void **state)
{
    (void)state;
    struct chil_report *report = known_report();
    assert_int_equal(chil_report_select_metric(report, "LEFT", NULL), 0);
    assert_true(whole_of(report, CHIL_REPORT_CALLS, MAIN) == 73);
    assert_true(whole_of(report, CHIL_REPORT_CALLS, F) == 30);
    select_call(report, "main/g");
    assert_true(whole_of(report, CHIL_REPORT_CALLS, F) == 30); /* not to its right */
    assert_true(whole_of(report, CHIL_REPORT_METRICS, ALL) == 153);
    assert_true(value_of(report, CHIL_REPORT_SYSTEM, 5) == 40);
    assert_true(whole_of(report, CHIL_REPORT_SYSTEM, 0) == 40);
    select_thread(report, 1);
    assert_true(whole_of(report, CHIL_REPORT_CALLS, MAIN) == 73);
    assert_int_equal(chil_report_order(report, "scm", NULL), 0);
    assert_true(whole_of(report, CHIL_REPORT_SYSTEM, 0) == 73); /* now the leftmost */
    assert_true(whole_of(report, CHIL_REPORT_CALLS, MAIN) == 31);
    assert_true(whole_of(report, CHIL_REPORT_METRICS, ALL) == 0); /* thread 1 was never in main/g */
    select_thread(report, 2);
    assert_true(whole_of(report, CHIL_REPORT_METRICS, ALL) == 50);
    assert_true(value_of(report, CHIL_REPORT_METRICS, ALL) == 10);
    assert_int_equal(chil_report_order(report, "msm", NULL), CHIL_EINVAL);
    assert_int_equal(chil_report_order(report, "mc", NULL), CHIL_EINVAL);
    chil_report_free(report);
}

static void selected_and_open_is_without_children_and_callees(void **state)
{
    (void)state;
    struct chil_report *report = known_report();
    select_call(report, "f");
    assert_true(whole_of(report, CHIL_REPORT_SYSTEM, 0) ==
                100); /* f with what it calls; the f inside once */
    chil_report_select_own(report, true);
    assert_true(whole_of(report, CHIL_REPORT_CALLS, MAIN) == 10); /* of ALL only its own */
    assert_int_equal(chil_report_select_metric(report, "RIGHT", NULL), 0);
    assert_true(whole_of(report, CHIL_REPORT_SYSTEM, 0) == 70); /* both f, not g */
    chil_report_free(report);
}

static void patterns_are_ends_of_call_paths(void **state)
{
    (void)state;
    static const struct {
        const char *pattern;
        double all; /* of the selected, with all below them; -1: none matches */
    } cases[] = {
        {"main", 153},      {"f", 100},          {"f/g", 80},         {"main/g", 50},
        {"g", 130},         {"g/f", 50},         {"/main", 153},      {"/main/f", 100},
        {"/f", -1},         {"/main/*", 150},    {"/main/**/f", 100}, {"/main/**/g/f", 50},
        {"main/**/f", 100}, {"**", 153},         {"h", -1},           {"f/f", -1},
        {"[fg]", 150},      {"**/**/**/f", 100}, {"/**/g", 130},      {"main/", -1},
        {"f/**/f", 50},
    };
    struct chil_report *report = known_report();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status = chil_report_select_calls(report, &cases[i].pattern, 1, NULL);
        assert_int_equal(status, cases[i].all < 0 ? CHIL_ENOENT : 0);
        if (!status) assert_true(whole_of(report, CHIL_REPORT_SYSTEM, 0) == cases[i].all);
    }
    struct chil_error err;
    assert_int_equal(chil_report_select_calls(report, (const char *const[]){""}, 1, &err),
                     CHIL_EINVAL);
    assert_int_equal(chil_report_select_metric(report, "LEFF", &err), CHIL_ENOENT);
    assert_non_null(strstr(err.text, "did you mean 'LEFT'"));
    chil_report_free(report);
}

/* --- Percentages ----------------------------------------------------------------------------- */

#define ASSERT_PERCENT(value, of, whole) assert_true(fabs((value)-100.0 * (of) / (whole)) < 1e-12)

/* Planted: each metric is its own base; the system has that of the metric. */
static void KOJ_34_percentages_have_the_base_of_each_tree(void **state)
{
    (void)state;
    struct chil_report *report = known_report();
    assert_int_equal(chil_report_select_metric(report, "LEFT", NULL), 0);
    select_call(report, "f");
    /* metrics: of the hierarchy's root; call paths: of the selected metric; the system: of the
     * selected call path */
    ASSERT_PERCENT(percent_of(report, CHIL_REPORT_METRICS, CHIL_REPORT_USUAL, RIGHT), 70, 153);
    ASSERT_PERCENT(percent_of(report, CHIL_REPORT_METRICS, CHIL_REPORT_USUAL, OTHER), 7, 7);
    ASSERT_PERCENT(percent_of(report, CHIL_REPORT_CALLS, CHIL_REPORT_USUAL, G), 40, 73);
    ASSERT_PERCENT(percent_of(report, CHIL_REPORT_SYSTEM, CHIL_REPORT_USUAL, 3), 30, 30);
    chil_report_free(report);
}

static void KOJ_34_percentages_of_roots_and_selections(void **state)
{
    (void)state;
    static const struct {
        enum chil_report_mode mode;
        double base[3]; /* of metrics RIGHT, call path G, thread 2 */
    } cases[] = {
        {CHIL_REPORT_OWN_ROOT, {153, 73, 30}},        {CHIL_REPORT_METRIC_ROOT, {153, 153, 153}},
        {CHIL_REPORT_METRIC_SELECTION, {73, 73, 73}}, {CHIL_REPORT_CALL_ROOT, {73, 73, 73}},
        {CHIL_REPORT_CALL_SELECTION, {30, 30, 30}},   {CHIL_REPORT_SYSTEM_ROOT, {30, 30, 30}},
        {CHIL_REPORT_SYSTEM_SELECTION, {30, 30, 30}},
    };
    struct chil_report *report = known_report();
    assert_int_equal(chil_report_select_metric(report, "LEFT", NULL), 0);
    select_call(report, "f");
    select_thread(report, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ASSERT_PERCENT(percent_of(report, CHIL_REPORT_METRICS, cases[i].mode, RIGHT), 70,
                       cases[i].base[0]);
        ASSERT_PERCENT(percent_of(report, CHIL_REPORT_CALLS, cases[i].mode, G), 40,
                       cases[i].base[1]);
        ASSERT_PERCENT(percent_of(report, CHIL_REPORT_SYSTEM, cases[i].mode, 3), 30,
                       cases[i].base[2]);
    }
    /* the other way round, the call path decides what the selected metric is */
    assert_int_equal(chil_report_order(report, "cms", NULL), 0);
    ASSERT_PERCENT(percent_of(report, CHIL_REPORT_CALLS, CHIL_REPORT_METRIC_SELECTION, G), 40, 30);
    chil_report_free(report);
}

/* Planted: peers of all levels; the whole machine instead of the selected threads. */
static void KOJ_34_peers_are_on_one_level_of_the_system(void **state)
{
    (void)state;
    struct chil_report *report = known_report(); /* threads have 21, 31, 101; processes 52, 101 */
    ASSERT_PERCENT(percent_of(report, CHIL_REPORT_SYSTEM, CHIL_REPORT_PEER, 2), 21, 101);
    ASSERT_PERCENT(percent_of(report, CHIL_REPORT_SYSTEM, CHIL_REPORT_PEER, 1), 52, 101);
    ASSERT_PERCENT(percent_of(report, CHIL_REPORT_SYSTEM, CHIL_REPORT_PEER_RANGE, 2), 0, 1);
    ASSERT_PERCENT(percent_of(report, CHIL_REPORT_SYSTEM, CHIL_REPORT_PEER_RANGE, 3), 10, 80);
    ASSERT_PERCENT(percent_of(report, CHIL_REPORT_SYSTEM, CHIL_REPORT_PEER_RANGE, 5), 1, 1);
    ASSERT_PERCENT(percent_of(report, CHIL_REPORT_METRICS, CHIL_REPORT_PEER, LEFT), 73,
                   153);      /* the usual there */
    select_call(report, "f"); /* 20, 30, 50 */
    select_thread(report, 1);
    ASSERT_PERCENT(percent_of(report, CHIL_REPORT_SYSTEM, CHIL_REPORT_SYSTEM_ROOT, 5), 50, 100);
    ASSERT_PERCENT(percent_of(report, CHIL_REPORT_SYSTEM, CHIL_REPORT_SYSTEM_SELECTION, 5), 50, 30);
    chil_report_free(report);
}

static void a_share_of_nothing_is_none(void **state)
{
    (void)state;
    struct chil_report *report = known_report();
    assert_int_equal(chil_report_select_metric(report, "OTHER", NULL), 0);
    select_call(report, "f"); /* OTHER is in g only */
    const struct chil_report_view view = {.mode = CHIL_REPORT_CALL_SELECTION, .depth = 9};
    const struct chil_report_row *row = row_of(report, CHIL_REPORT_METRICS, &view, LEFT);
    assert_false(row->defined);
    row = row_of(report, CHIL_REPORT_SYSTEM, &view, 2);
    assert_true(row->defined && row->percent == 0);
    assert_int_equal(chil_report_mode_find("call-selection"), CHIL_REPORT_CALL_SELECTION);
    assert_int_equal(chil_report_mode_find("nothing"), -1);
    assert_string_equal(chil_report_mode_word(CHIL_REPORT_PEER_RANGE), "peer-range");
    chil_report_free(report);
}

/* --- Flat ------------------------------------------------------------------------------------ */

/* Planted: a function inside itself counts twice; a module for each function. */
static void KOJ_37_flat_profile_and_modules(void **state)
{
    (void)state;
    struct chil_report *report = known_report();
    size_t count;
    struct chil_report_flat *flat = chil_report_flat(report, false, CHIL_REPORT_USUAL, &count);
    assert_int_equal(count, 3);
    assert_string_equal(flat[0].name, "g");
    assert_true(flat[0].own == 80 && flat[0].whole == 130);
    assert_string_equal(flat[1].name, "f");
    assert_true(flat[1].own == 70 && flat[1].whole == 100); /* the f inside f counts once */
    assert_string_equal(flat[2].name, "main");
    assert_true(flat[2].own == 3 && flat[2].whole == 153);
    ASSERT_PERCENT(flat[1].percent, 70, 153);
    free(flat);
    flat = chil_report_flat(report, true, CHIL_REPORT_USUAL, &count);
    assert_int_equal(count, 2);
    assert_string_equal(flat[0].name, "b.c");
    assert_true(flat[0].own == 80 && flat[0].whole == 130);
    assert_true(flat[1].own == 73 && flat[1].whole == 153);
    free(flat);
    chil_report_free(report);
}

/* --- Hierarchies ----------------------------------------------------------------------------- */

/* Planted: a hierarchy of one metric is none. */
static void KOJ_18_counters_of_no_hierarchy_are_apart(void **state)
{
    (void)state;
    struct chil_exp *exp = rigm_counts((const struct rigm_count[]){
        {"HIT", 90}, {"MISS", 10}, {"ELSE", 5}, {"SOLE", 3}, {NULL, 0}});
    struct chil_spec *spec = rigm_spec("compose ACCESS = HIT + MISS\ncompose PARTS = HIT + LOST\n"
                                       "measure ALONE = SOLE\n");
    struct chil_report *report = NULL;
    assert_int_equal(chil_report_new(&report, exp, spec, NULL, NULL), 0);
    const struct chil_exp *derived = chil_report_exp(report);
    assert_true(chil_report_is_apart(report, chil_metric_find(derived, "ELSE")));
    assert_false(chil_report_is_apart(report, chil_metric_find(derived, "ACCESS")));
    /* A hierarchy of one metric is one. */
    assert_false(chil_report_is_apart(report, chil_metric_find(derived, "ALONE")));
    assert_non_null(
        row_of(report, CHIL_REPORT_METRICS, &everything, chil_metric_find(derived, "ALONE")));
    assert_null(
        row_of(report, CHIL_REPORT_METRICS, &everything, chil_metric_find(derived, "ELSE")));
    assert_non_null(
        row_of(report, CHIL_REPORT_METRICS, &everything, chil_metric_find(derived, "HIT")));
    assert_true(derived->metric[chil_metric_find(derived, "PARTS")].partial);
    chil_report_free(report);
    chil_spec_free(spec);
    chil_exp_free(exp);
}

/* --- For other tools ------------------------------------------------------------------------- */

static char *text_of(FILE *out, char **text)
{
    assert_int_equal(fclose(out), 0);
    return *text;
}

static void folded_stacks_have_what_paths_counted_themselves(void **state)
{
    (void)state;
    struct chil_report *report = known_report();
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    chil_report_folded(report, out);
    assert_string_equal(text_of(out, &text),
                        "main 3\nmain;f 20\nmain;f;g 30\nmain;g 50\nmain;f;g;f 50\n");
    free(text);
    chil_report_free(report);
}

static void callgrind_files_have_own_costs_and_calls(void **state)
{
    (void)state;
    struct chil_report *report = known_report();
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(chil_report_callgrind(report, NULL, (const int[]){ALL, OTHER}, 2, out), 2);
    assert_string_equal(
        text_of(out, &text),
        "# callgrind format\nversion: 1\ncreator: chiliad report\npositions: line\n"
        "event: ALL : ALL\nevent: OTHER : OTHER\nevents: ALL OTHER\nsummary: 153 7\n"
        "\nob=???\nfl=a.c\nfn=main\n1 3 0\n"
        "cob=???\ncfi=a.c\ncfn=f\ncalls=0 11\n1 100 0\n"
        "cob=???\ncfi=b.c\ncfn=g\ncalls=0 21\n1 50 7\n"
        "\nob=???\nfl=a.c\nfn=f\n11 70 0\n"
        "cob=???\ncfi=b.c\ncfn=g\ncalls=0 21\n11 80 0\n"
        "\nob=???\nfl=b.c\nfn=g\n21 80 7\n"
        "cob=???\ncfi=a.c\ncfn=f\ncalls=0 11\n21 50 0\n");
    free(text);
    chil_report_free(report);
}

static void what_is_not_whole_is_in_no_callgrind_file(void **state)
{
    (void)state;
    struct chil_exp *exp = known();
    chil_exp_add_real(exp, OTHER, F, 0, 0.5);
    chil_exp_add_count(exp, RIGHT, G, 0, -1);
    struct chil_report *report = report_of(exp);
    FILE *out = fopen("/dev/null", "w");
    assert_non_null(out);
    assert_int_equal(chil_report_callgrind(report, NULL, (const int[]){LEFT, RIGHT, OTHER}, 3, out),
                     1);
    (void)fclose(out);
    chil_report_free(report);
}

/* --- Code ------------------------------------------------------------------------------------ */

static void code_is_kept_in_files_and_read(void **state)
{
    (void)state;
    static const char text[] =
        "function f\nobject /a\nfile /a b.c\n00000010 60000000 5 3\n00000014 4e800020 7 0\n"
        "function g\n00000020 60000000 18446744073709 2\n";
    struct chil_exp *exp = known(), *again = NULL;
    struct chil_report_code *code;
    struct chil_error err;
    char path[] = "/tmp/test_report_XXXXXX.cubex";
    int fd = mkstemps(path, 6);
    assert_true(fd >= 0);
    (void)close(fd);
    assert_int_equal(chil_report_code_new(&code, exp, "x", "*", &err), CHIL_ENOENT);
    chil_exp_set_code(exp, text, sizeof text - 1);
    assert_int_equal(chil_exp_write(exp, path, &err), 0);
    assert_int_equal(chil_exp_read(&again, path, &err), 0);
    (void)unlink(path);
    assert_int_equal(chil_report_code_new(&code, again, "x", "*", &err), 0);
    assert_int_equal(code->count, 2);
    assert_string_equal(code->function[0].object, "/a");
    assert_int_equal(code->function[0].count, 2);
    assert_string_equal(code->function[0].instruction[1].file, "/a b.c");
    assert_int_equal(code->function[0].instruction[1].word, 0x4e800020);
    assert_int_equal(code->function[0].instruction[1].count, 7);
    assert_string_equal(code->function[1].instruction[0].file, "");
    assert_true(code->function[1].instruction[0].count == 18446744073709);
    chil_report_code_free(code);
    assert_int_equal(chil_report_code_new(&code, again, "x", "g", &err), 0);
    assert_int_equal(code->count, 1);
    chil_report_code_free(code);
    assert_int_equal(chil_report_code_new(&code, again, "x", "h", &err), CHIL_ENOENT);
    chil_exp_free(again);
    chil_exp_free(exp);
}

static void code_of_512_bytes_and_damaged_code(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } damaged[] = {
        {"function f\nnonsense", "no instruction"},
        {"function f\n10 20 30", "no instruction"},
        {"function f\n00000010 60000000 99999999999999999999999 3", "no instruction"},
        {"function f\n00000010 60000000 5 3 4", "no count of an event"},
        {"function f\n00000010 60000000 5 3 0:4", "no count of an event"}, /* there are none */
        {"events a b\nfunction f\n00000010 60000000 5 3 2:4", "no count of an event"},
        {"events a b\nfunction f\n00000010 60000000 5 3 1:x", "no count of an event"},
        {"events a b\nevents c", "a second list of events"},
        {"function f\nevents  a", "no list of events"},
    };
    struct chil_exp *exp = known(), *again = NULL;
    struct chil_report_code *code;
    struct chil_error err;
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        char message[200];
        unsigned line = 2 + (strncmp(damaged[i].text, "events a b\nfunction", 19) == 0);
        (void)snprintf(message, sizeof message, "x.cubex: chiliad.code:%u: %s; the file is damaged",
                       line, damaged[i].message);
        chil_exp_set_code(exp, damaged[i].text, strlen(damaged[i].text));
        assert_int_equal(chil_report_code_new(&code, exp, "x.cubex", "f", &err), CHIL_EPARSE);
        assert_string_equal(err.text, message);
    }
    char text[513] = "function f\n", path[] = "/tmp/test_report_XXXXXX.cubex";
    memset(text + strlen(text), '\n', sizeof text - 1 - strlen(text));
    int fd = mkstemps(path, 6);
    assert_true(fd >= 0);
    (void)close(fd);
    chil_exp_set_code(exp, text, 512);
    assert_int_equal(chil_exp_write(exp, path, &err), 0);
    assert_int_equal(chil_exp_read(&again, path, &err), 0);
    (void)unlink(path);
    size_t size;
    assert_non_null(chil_exp_code(again, &size));
    assert_int_equal(size, 513);
    assert_int_equal(again->metrics, 4);
    chil_exp_free(again);
    chil_exp_free(exp);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(KOJ_31_three_trees_have_every_node_of_the_experiment),
        cmocka_unit_test(KOJ_32_closed_nodes_show_the_whole_and_open_ones_their_own),
        cmocka_unit_test(KOJ_32_what_is_shown_adds_up),
        cmocka_unit_test(light_call_paths_are_one_row_below_their_caller),
        cmocka_unit_test(KOJ_33_a_selection_sets_what_the_trees_to_its_right_show),
        cmocka_unit_test(selected_and_open_is_without_children_and_callees),
        cmocka_unit_test(patterns_are_ends_of_call_paths),
        cmocka_unit_test(KOJ_34_percentages_have_the_base_of_each_tree),
        cmocka_unit_test(KOJ_34_percentages_of_roots_and_selections),
        cmocka_unit_test(KOJ_34_peers_are_on_one_level_of_the_system),
        cmocka_unit_test(a_share_of_nothing_is_none),
        cmocka_unit_test(KOJ_37_flat_profile_and_modules),
        cmocka_unit_test(KOJ_18_counters_of_no_hierarchy_are_apart),
        cmocka_unit_test(folded_stacks_have_what_paths_counted_themselves),
        cmocka_unit_test(callgrind_files_have_own_costs_and_calls),
        cmocka_unit_test(what_is_not_whole_is_in_no_callgrind_file),
        cmocka_unit_test(code_is_kept_in_files_and_read),
        cmocka_unit_test(code_of_512_bytes_and_damaged_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
