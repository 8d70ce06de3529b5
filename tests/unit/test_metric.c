/* Specifications: the language, what is derived from which counters, ratios and findings. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "rig_metric.h"

/* --- The language ---------------------------------------------------------------------------- */

/* Planted: a comment needs a blank before it; no $, no / in names; a sign at the start of a line
 * continues nothing. */
static void KOJ_07_comments_continued_lines_and_names(void **state)
{
    (void)state;
    struct chil_spec *spec =
        rigm_spec("# a comment\n"
                  "compose HT_I/O_XFER = HT_LL_IO_XFR +   # one goes on after its sign\n"
                  "                      # a comment between\n"
                  "\n"
                  "    HT_LR_IO_XFR\n"
                  "      + HT_RL_IO_XFR# no blank before it\n"
                  "+ HT_XL_IO_XFR\n"
                  "compose P$_READS=PC_port0_rd+PC_port1_rd\n"
                  "compute DATA_HIT_L1$ = A9 - B_1:x\n");
    size_t count;
    const struct chil_spec_item *items = chil_spec_items(spec, &count);
    assert_int_equal(count, 3);
    assert_string_equal(items[0].name, "HT_I/O_XFER");
    assert_string_equal(items[0].formula,
                        "HT_LL_IO_XFR + HT_LR_IO_XFR + HT_RL_IO_XFR + HT_XL_IO_XFR");
    assert_string_equal(items[1].name, "P$_READS");
    assert_string_equal(items[2].formula, "A9 - B_1:x");
    assert_int_equal(items[2].line, 9);
    struct chil_exp *exp = rigm_counts((struct rigm_count[]){{"HT_LL_IO_XFR", 1},
                                                             {"HT_LR_IO_XFR", 2},
                                                             {"HT_RL_IO_XFR", 4},
                                                             {"HT_XL_IO_XFR", 8},
                                                             {"A9", 9},
                                                             {"B_1:x", 1},
                                                             {0}});
    struct chil_exp *derived = rigm_derive(exp, spec, NULL);
    assert_int_equal(rigm_total(derived, "HT_I/O_XFER"), 15);
    assert_int_equal(rigm_total(derived, "HT_I_O_XFER"), 15); /* as CubePL can have it */
    assert_int_equal(rigm_total(derived, "DATA_HIT_L1$"), 8);
    assert_string_equal(derived->metric[chil_metric_find(derived, "DATA_HIT_L1$")].name,
                        "DATA_HIT_L1_");
    assert_string_equal(derived->metric[chil_metric_find(derived, "DATA_HIT_L1$")].title,
                        "DATA_HIT_L1$");
    chil_exp_free(derived);
    chil_exp_free(exp);
    chil_spec_free(spec);
}

static void mistakes_are_told_with_file_line_and_what_was_meant(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"\ncompos A = B\n", "t:2: 'compos' begins no statement; did you mean 'compose'?"},
        {"compose BRANCH = BRANCH PRED + BRANCH MISP\n",
         "t:1: an operator is missing between 'BRANCH' and 'PRED'; did you mean 'BRANCH_PRED'?"},
        {"compose A = B +\n  C +\n  D E\n",
         "t:3: an operator is missing between 'D' and 'E'; did you mean 'D_E'?"},
        {"compose A = B - C\n", "t:1: 'compose A' only adds names; use 'compute'"},
        {"compose A = B + B\n", "t:1: 'compose A' has 'B' twice"},
        {"measure A = B + C\n", "t:1: 'measure A' takes one counter; use 'compose' or 'compute'"},
        {"compute A = B / C\n",
         "t:1: 'compute A' is no sum of counts; use 'ratio' for anything else"},
        {"compute A = B + 1\n",
         "t:1: 'compute A' is no sum of counts; use 'ratio' for anything else"},
        {"compose A = B\n\ncompose A = C\n", "t:3: 'compose A' is given again; line 1 has it"},
        {"compose A = B\ncompute B = C - A\n", "t:1: 'A' is part of itself"},
        {"compose A\n", "t:1: '=' is missing"},
        {"compose = A\n", "t:1: a name is missing at '= A'"},
        {"ratio R = (A + B\n", "t:1: ')' is missing at the end"},
        {"ratio R = A < B\n", "t:1: not part of an expression at '< B'"},
        {"ratio R = A / \n", "t:1: a name, a number or '(' is missing at the end"},
        {"ratio R = A unit\n", "t:1: a unit is missing behind 'unit'"},
        {"finding F when A > 1\n", "t:1: 'because' is missing"},
        {"compute L1$ = A\ncompute L1_ = B\n",
         "t:2: 'L1_' and 'L1$' are one name to experiments, 'L1_'; rename one"},
        {"use a/b\n", "t:1: a text in memory uses no files by path"},
        {"text ; unit\n", "t:1: a row is 'text ; unit ; formula'"},
        {"aggroup S = A A\n", "t:1: 'A' is there twice"},
        {"compose A = B ? C\n", "t:1: not part of an expression at '? C'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(rigm_refused(cases[i].text), cases[i].message);
    }
}

struct unknown {
    char text[400];
};

static bool is_known(void *context, const char *name)
{
    (void)context;
    return strncmp(name, "PM_", 3) == 0 && strcmp(name, "PM_CYK") != 0;
}

static void collect_unknown(void *context, const char *file, unsigned line, const char *name,
                            const char *nearest)
{
    struct unknown *to = context;
    size_t used = strlen(to->text);
    (void)snprintf(to->text + used, sizeof to->text - used, "%s:%u %s %s;", file, line, name,
                   nearest ? nearest : "-");
}

/* Planted: no nearest name; the line below. */
static void names_that_nothing_explains_are_told_with_the_nearest(void **state)
{
    (void)state;
    struct unknown got = {""};
    struct chil_spec *spec = rigm_spec("compose INST_ACCESS = INST_PREFETCH + INST_HIT_L1$\n"
                                       "compose INST_PREFETCH = PM_A\n"
                                       "measure INST_HIT_L1$ = PM_B\n"
                                       "compose X = INST_PREFECH + PM_A\n"
                                       "measure CYCLES = PM_CYC\n"
                                       "measure Y = PM_CYK\n");
    chil_spec_unknown(spec, is_known, collect_unknown, &got);
    assert_string_equal(got.text, "t:4 INST_PREFECH INST_PREFETCH;t:6 PM_CYK PM_CYC;");
    chil_spec_free(spec);
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[200];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* The user's file says what it changes and uses the rest, before or after. Planted: the used file
 * wins; a statement is there twice. */
static void KOJ_03_KOJ_17_a_file_replaces_what_it_uses(void **state)
{
    (void)state;
    char folder[] = "/tmp/chiliad-metric-XXXXXX", path[200];
    assert_non_null(mkdtemp(folder));
    write_file(folder, "default.metrics",
               "compose FP = ADD + MUL + ST\ncompose MEMORY = LD\nmeasure I = INS\n");
    write_file(folder, "mine.metrics",
               "compose FP = ADD + MUL\nuse default\ncompose MEMORY = LD + ST\n");
    struct chil_exp *exp = rigm_counts(
        (struct rigm_count[]){{"ADD", 1}, {"MUL", 2}, {"ST", 4}, {"LD", 8}, {"INS", 16}, {0}});
    for (int own = 1; own >= 0; own--) { /* and removes the files, the used one last */
        struct chil_spec *spec;
        struct chil_error err = {0};
        (void)snprintf(path, sizeof path, "%s/%s.metrics", folder, own ? "mine" : "default");
        assert_int_equal(chil_spec_open(&spec, path, &err), 0);
        struct chil_exp *derived = rigm_derive(exp, spec, NULL);
        int store = chil_metric_find(derived, "ST");
        assert_int_equal(rigm_total(derived, "FP"), own ? 3 : 7);
        assert_int_equal(rigm_total(derived, "MEMORY"), own ? 12 : 8);
        assert_int_equal(rigm_total(derived, "I"), 16);
        assert_string_equal(derived->metric[derived->metric[store].parent].name,
                            own ? "MEMORY" : "FP");
        chil_exp_free(derived);
        chil_spec_free(spec);
        assert_int_equal(unlink(path), 0);
    }
    chil_exp_free(exp);
    assert_int_equal(rmdir(folder), 0);
}

/* --- What is derived ------------------------------------------------------------------------- */

/* Planted: only the first part is a child; a measured counter is shown again; factors are 1. */
static void KOJ_04_KOJ_05_KOJ_06_compose_measure_and_compute(void **state)
{
    (void)state;
    struct chil_spec *spec = rigm_spec("compose ALL = LEFT + RIGHT\n"
                                       "measure LEFT = EVENT_L\n"
                                       "compute RIGHT = 2 * (A - B) + C / 2 - -1 * D\n");
    struct chil_exp *exp = rigm_counts(
        (struct rigm_count[]){{"EVENT_L", 100}, {"A", 50}, {"B", 20}, {"C", 8}, {"D", 1}, {0}});
    struct chil_exp *derived = rigm_derive(exp, spec, NULL);
    int all = chil_metric_find(derived, "ALL"), left = chil_metric_find(derived, "LEFT"),
        right = chil_metric_find(derived, "RIGHT");
    assert_int_equal(rigm_total(derived, "RIGHT"), 65);
    assert_int_equal(rigm_total(derived, "ALL"), 165);
    assert_int_equal(derived->metric[left].parent, all);
    assert_int_equal(derived->metric[right].parent, all);
    assert_int_equal(derived->metric[all].origin, CHIL_EXP_COMPOSED);
    assert_int_equal(derived->metric[left].origin, CHIL_EXP_MEASURED);
    assert_int_equal(derived->metric[right].origin, CHIL_EXP_COMPUTED);
    assert_string_equal(derived->metric[left].formula, "EVENT_L");
    assert_int_equal(chil_metric_find(derived, "EVENT_L"), left);
    for (size_t i = 0; i < derived->metrics; i++)
        assert_int_not_equal(derived->metric[i].parent, right); /* inputs are no children */
    assert_int_equal(derived->metric[chil_metric_find(derived, "A")].parent, CHIL_EXP_NONE);
    chil_exp_free(derived);
    chil_exp_free(exp);
    chil_spec_free(spec);
}

/* Planted: a composition is preferred; the last alternative is taken. */
static void KOJ_08_measured_wins_over_composed_and_partial(void **state)
{
    (void)state;
    struct chil_spec *spec = rigm_spec("compose X = A + B\nmeasure X = EV1\nmeasure X = EV2\n");
    struct chil_exp *exp = rigm_counts((struct rigm_count[]){{"A", 1}, {"B", 2}, {"EV2", 10}, {0}});
    struct chil_exp *derived = rigm_derive(exp, spec, NULL);
    assert_int_equal(rigm_total(derived, "X"), 10); /* the first alternative is not there */
    assert_int_equal(derived->metric[chil_metric_find(derived, "A")].parent,
                     chil_metric_find(derived, "X"));
    chil_exp_free(derived);
    rigm_add(exp, "EV1", 0, 11);
    derived = rigm_derive(exp, spec, NULL);
    assert_int_equal(rigm_total(derived, "X"), 11);
    chil_exp_free(derived);
    chil_exp_free(exp);
    exp = rigm_counts((struct rigm_count[]){{"A", 1}, {"EV1", 10}, {0}}); /* B is missing */
    derived = rigm_derive(exp, spec, NULL);
    assert_int_equal(rigm_total(derived, "X"), 10);
    assert_false(rigm_partial(derived, "X"));
    chil_exp_free(derived);
    chil_exp_free(exp);
    chil_spec_free(spec);
}

/* Planted: what is absent is missing; what is missing is shown; no mark; a partial composition is
 * dropped; a partial computation is kept. */
static void KOJ_10_KOJ_13_KOJ_14_KOJ_15_what_is_missing(void **state)
{
    (void)state;
    struct chil_spec *spec = rigm_spec("compose ACCESS = L1 + L2 + L3 + MEM\n"
                                       "compose L3 = L3_LOAD + L3_STORE\n"
                                       "compute L2 = L1_MISS - L2_MISS\n"
                                       "compose OTHER = NOT_HERE + NEITHER\n");
    struct chil_exp *exp =
        rigm_counts((struct rigm_count[]){{"L1", 100}, {"MEM", 1}, {"L1_MISS", 5}, {0}});
    struct chil_exp *derived = rigm_derive(exp, spec, NULL);
    assert_int_equal(rigm_total(derived, "ACCESS"), 101);
    assert_true(rigm_partial(derived, "ACCESS"));
    assert_false(rigm_has(derived, "L2")); /* a computation with a missing input */
    assert_false(rigm_has(derived, "L3"));
    assert_false(rigm_has(derived, "OTHER"));
    chil_exp_free(derived);
    const struct chil_metric_options asked = {.partial_computations = true};
    derived = rigm_derive(exp, spec, &asked);
    assert_int_equal(rigm_total(derived, "L2"), 5);
    assert_true(rigm_partial(derived, "L2"));
    assert_true(rigm_partial(derived, "ACCESS"));
    chil_exp_free(derived);
    chil_spec_free(spec);

    /* Without the level there is nothing missing. */
    spec = rigm_spec(
        "compose ACCESS = L1 + L2 + L3 + MEM\ncompose L3 = L3_LOAD + L3_STORE\nabsent L3_LOAD L3_STORE\n"
        "compute L2 = L1_MISS - L2_MISS\n");
    rigm_add(exp, "L2_MISS", 0, 1);
    derived = rigm_derive(exp, spec, NULL);
    assert_int_equal(rigm_total(derived, "ACCESS"), 105);
    assert_false(rigm_partial(derived, "ACCESS"));
    assert_false(rigm_has(derived, "L3"));
    chil_exp_free(derived);
    chil_exp_free(exp);
    chil_spec_free(spec);
}

/* Planted: time is a base of a composition; counters of no hierarchy, or inputs of computations,
 * are lost. */
static void KOJ_01_KOJ_02_KOJ_18_time_stays_and_other_counters_are_listed_apart(void **state)
{
    (void)state;
    struct chil_spec *spec = rigm_spec("compose X = A + B\ncompute Y = C - A\n");
    struct chil_exp *exp = rigm_experiment(2);
    const struct chil_exp_metric time = {.name = (char *)"Time",
                                         .unit = (char *)"sec",
                                         .kind = CHIL_EXP_REAL,
                                         .parent = CHIL_EXP_NONE,
                                         .runs = 1};
    int root = chil_exp_add_metric(exp, &time);
    struct chil_exp_metric execution = time;
    execution.name = (char *)"Execution";
    execution.parent = root;
    int child = chil_exp_add_metric(exp, &execution);
    chil_exp_add_real(exp, root, 1, 0, 2.5);
    chil_exp_add_real(exp, child, 1, 0, 1.5);
    const char *const names[] = {"A", "B", "C", "D"};
    for (int i = 0; i < 4; i++)
        rigm_add(exp, names[i], 1, 10 * (i + 1));
    struct chil_exp *derived = rigm_derive(exp, spec, NULL);
    int time_now = chil_metric_find(derived, "Time"),
        execution_now = chil_metric_find(derived, "Execution");
    assert_int_equal(derived->metric[time_now].parent, CHIL_EXP_NONE);
    assert_int_equal(derived->metric[execution_now].parent, time_now);
    assert_true(chil_exp_real(derived, time_now, 1, 0) == 2.5); /* no count became a penalty */
    assert_true(chil_exp_real(derived, execution_now, 1, 0) == 1.5);
    for (size_t i = 0; i < derived->metrics; i++)
        assert_true(derived->metric[i].parent != time_now || (int)i == execution_now);
    assert_int_equal(chil_exp_count(derived, chil_metric_find(derived, "X"), 1, 0), 30);
    assert_int_equal(chil_exp_count(derived, chil_metric_find(derived, "X"), 0, 0), 0);
    assert_int_equal(derived->metric[chil_metric_find(derived, "D")].parent, CHIL_EXP_NONE);
    assert_int_equal(rigm_total(derived, "D"), 40);
    assert_int_equal(rigm_total(derived, "C"),
                     30); /* an input of a computation is in no hierarchy */
    chil_exp_free(derived);
    const struct chil_metric_options without = {.no_apart = true};
    derived = rigm_derive(exp, spec, &without);
    assert_false(rigm_has(derived, "D"));
    chil_exp_free(derived);
    chil_exp_free(exp);
    chil_spec_free(spec);
}

/* Planted: a derived metric does not stand for the counter that it was measured with. */
static void KOJ_16_KOJ_44_deriving_after_a_merge_completes_and_is_repeatable(void **state)
{
    (void)state;
    struct chil_error err = {0};
    struct chil_spec *spec =
        rigm_spec("compose X = A + B\nmeasure T = EV\ncompute Y = EV - A - B\ncompose Z = X + C\n");
    struct chil_exp *run[2], *derived[2], *merged, *whole, *again;
    run[0] = rigm_counts((struct rigm_count[]){{"A", 1}, {"EV", 100}, {0}});
    run[1] = rigm_counts((struct rigm_count[]){{"B", 2}, {"C", 4}, {"EV", 100}, {0}});
    for (int i = 0; i < 2; i++) {
        derived[i] = rigm_derive(run[i], spec, NULL);
        assert_true(rigm_partial(derived[i], "X"));
        assert_false(rigm_has(derived[i], "Y"));
    }
    assert_int_equal(
        chil_exp_merge(&merged, (const struct chil_exp *const *)derived, 2, NULL, &err), 0);
    whole = rigm_derive(merged, spec, NULL);
    again = rigm_derive(whole, spec, NULL);
    for (int i = 0; i < 2; i++) {
        const struct chil_exp *exp = i ? again : whole;
        assert_int_equal(rigm_total(exp, "X"), 3);
        assert_int_equal(rigm_total(exp, "Z"), 7);
        assert_int_equal(rigm_total(exp, "Y"), 97);
        assert_int_equal(rigm_total(exp, "T"), 100);
        assert_false(rigm_partial(exp, "X"));
        assert_false(rigm_partial(exp, "Z"));
        assert_int_equal(exp->metrics, 7); /* Z X A B C, T, Y; EV is T */
    }
    for (int i = 0; i < 2; i++) {
        chil_exp_free(run[i]);
        chil_exp_free(derived[i]);
    }
    chil_exp_free(merged);
    chil_exp_free(whole);
    chil_exp_free(again);
    chil_spec_free(spec);
}

/* Planted: a clock of 1 GHz; the machine before the platform. */
static void KOJ_43_cycles_in_seconds_and_the_specification_that_fits(void **state)
{
    (void)state;
    struct chil_exp *exp =
        rigm_counts((struct rigm_count[]){{"BGL_CYCLES", 1700}, {"BGL_INST", 850}, {0}});
    struct chil_spec *spec = NULL;
    struct chil_exp *none = NULL;
    struct chil_error err = {0};
    const struct chil_metric_options seconds = {.seconds = true};
    assert_int_equal(setenv("CHILIAD_DATA", "data", 1), 0);
    assert_int_equal(chil_spec_open_for(&spec, exp, &err), 0);
    assert_string_equal(chil_spec_name(spec), "simulator");
    assert_int_equal(chil_metric_derive(&none, exp, spec, &seconds, &err), CHIL_EINVAL);
    assert_non_null(strstr(err.text, "clock_hz"));
    chil_spec_free(spec);
    chil_exp_set_attribute(exp, "clock_hz", "850000000");
    chil_exp_set_attribute(exp, "machine", "bgp");
    assert_int_equal(chil_spec_open_for(&spec, exp, &err), 0);
    assert_string_equal(chil_spec_name(spec), "bgp");
    struct chil_exp *derived = rigm_derive(exp, spec, &seconds);
    int cycles = chil_metric_find(derived, "CYCLES");
    assert_true(fabs(chil_exp_sum(derived, cycles, -1, false, -1) - 2e-6) < 1e-18);
    assert_string_equal(derived->metric[cycles].unit, "sec");
    assert_string_equal(derived->metric[chil_metric_find(derived, "INSTRUCTION")].unit, "occ");
    chil_exp_free(derived);
    chil_spec_free(spec);
    chil_exp_set_attribute(exp, "platform", "ultrasparc");
    assert_int_equal(chil_spec_open_for(&spec, exp, &err), 0);
    assert_string_equal(chil_spec_name(spec), "ultrasparc");
    chil_spec_free(spec);
    chil_exp_free(exp);
}

/* --- Ratios and findings --------------------------------------------------------------------- */

static void what_never_happened_is_zero_where_all_was_counted(void **state)
{
    (void)state;
    struct chil_exp *exp = rigm_counts((struct rigm_count[]){{"BGL_CYCLES", 100},
                                                             {"BGL_INST", 50},
                                                             {"BGL_FP_INST", 10},
                                                             {"BGL_FMA", 10},
                                                             {"BGL_STALL_LOAD", 7},
                                                             {0}});
    struct chil_spec *spec = rigm_open("simulator");
    struct chil_ratio_value value;
    chil_exp_set_attribute(exp, "machine", "bgp");
    struct chil_exp *derived = rigm_derive(exp, spec, NULL);
    assert_true(rigm_partial(derived, "STALL"));
    assert_false(rigm_has(derived, "BUSY"));
    assert_int_equal(chil_ratio(derived, spec, "PAIR_SHARE", -1, true, -1, &value, NULL), 0);
    assert_false(value.defined);
    chil_exp_free(derived);
    chil_exp_set_attribute(exp, "counted", "all");
    derived = rigm_derive(exp, spec, NULL);
    assert_false(rigm_partial(derived, "STALL"));
    assert_int_equal(rigm_total(derived, "STALL"), 7);
    assert_int_equal(rigm_total(derived, "BUSY"), 93);
    assert_int_equal(rigm_total(derived, "FP_DIV"), 0);
    assert_int_equal(rigm_total(derived, "INTEGER"), 40);
    for (size_t i = 0; i < derived->metrics; i++)
        assert_false(derived->metric[i].partial);
    assert_false(rigm_has(derived, "BGL_FP_PAIR")); /* nothing is listed apart that is not there */
    assert_int_equal(chil_ratio(derived, spec, "PAIR_SHARE", -1, true, -1, &value, NULL), 0);
    assert_true(value.defined && value.value == 0);
    chil_exp_free(derived);
    chil_exp_free(exp);
    chil_spec_free(spec);
}

static struct chil_ratio_value ratio_of(const struct chil_exp *exp, const struct chil_spec *spec,
                                        const char *name, int node, bool subtree)
{
    struct chil_ratio_value value, *all = calloc(exp->nodes, sizeof *all);
    struct chil_error err = {0};
    assert_non_null(all);
    assert_int_equal(chil_ratio(exp, spec, name, node, subtree, -1, &value, &err), 0);
    assert_int_equal(chil_ratio_nodes(exp, spec, name, subtree, -1, all, &err), 0);
    if (node >= 0) assert_memory_equal(&all[node].value, &value.value, sizeof value.value);
    if (node >= 0)
        assert_true(all[node].defined == value.defined && all[node].small == value.small);
    free(all);
    return value;
}

/* Planted: no mark for small denominators; 5 / 0 is defined; no mark for partial inputs. */
static void KOJ_45_ratios_are_of_sums_and_know_bad_denominators(void **state)
{
    (void)state;
    struct chil_spec *spec = rigm_spec("measure I = INS\nmeasure C = CYC\ncompose P = I + GONE\n"
                                       "ratio IPC = I / C unit \"per cycle\"\n"
                                       "ratio TWICE = 2 * IPC\n"
                                       "ratio MIPS = I / seconds(C) / 1e6 unit M/s\n"
                                       "ratio NONE = I / NOWHERE\n"
                                       "ratio PART = P / C\n"
                                       "ratio LOOP = 1 + LOOP\n"
                                       "instructions per cycle ; ; INS / busy_cycles\n");
    struct chil_exp *exp = rigm_experiment(4);
    static const int64_t ins[] = {100, 900, 5, 7}, cyc[] = {1000, 9000, 0, 1};
    chil_exp_set_attribute(exp, "clock_hz", "1e6");
    chil_exp_set_attribute(exp, "busy_cycles", "506");
    for (int i = 0; i < 4; i++) {
        rigm_add(exp, "INS", i, ins[i]);
        rigm_add(exp, "CYC", i, cyc[i]);
    }
    struct chil_exp *derived = rigm_derive(exp, spec, NULL);
    struct chil_ratio_value all = ratio_of(derived, spec, "IPC", -1, true);
    assert_true(all.defined && !all.small &&
                all.value == 1012.0 / 10001.0); /* not the sum of four quotients */
    assert_true(ratio_of(derived, spec, "IPC", 0, true).value == 1012.0 / 10001.0);
    assert_true(ratio_of(derived, spec, "IPC", 1, true).value == 912.0 / 9001.0);
    assert_true(ratio_of(derived, spec, "IPC", 1, false).value == 0.1);
    assert_true(ratio_of(derived, spec, "TWICE", 1, false).value == 0.2);
    assert_false(ratio_of(derived, spec, "IPC", 2, false).defined); /* 5 / 0 */
    struct chil_ratio_value tiny = ratio_of(derived, spec, "IPC", 3, false);
    assert_true(tiny.defined && tiny.small && tiny.value == 7);
    assert_true(fabs(ratio_of(derived, spec, "MIPS", -1, true).value - 1012.0 / 10001.0) < 1e-12);
    assert_false(ratio_of(derived, spec, "NONE", -1, true).defined);
    assert_true(ratio_of(derived, spec, "PART", -1, true).partial);
    assert_false(ratio_of(derived, spec, "LOOP", 0, true).defined);
    assert_true(ratio_of(derived, spec, "instructions_per_cycle", -1, true).value == 2);
    struct chil_ratio_value value;
    struct chil_error err = {0};
    assert_int_equal(chil_ratio(derived, spec, "IPCC", -1, true, -1, &value, &err), CHIL_ENOENT);
    assert_string_equal(err.text, "'t' has no ratio 'IPCC'; did you mean 'IPC'?");
    assert_false(rigm_has(derived, "IPC")); /* no containment, so never a metric of a tree */
    chil_exp_free(derived);
    chil_exp_free(exp);
    chil_spec_free(spec);
}

/* Planted: every finding at main; no evidence; also where there are few cycles. */
static void KOJ_46_findings_have_text_evidence_and_call_path(void **state)
{
    (void)state;
    struct chil_findings *found;
    struct chil_error err = {0};
    struct chil_spec *spec =
        rigm_spec("measure CYCLES = CYC\nratio MISSES = 100 * MISS / ACC unit %\n"
                  "finding POOR_CACHE when MISSES > 10 and not (MISS < 3)\n"
                  "    because {MISSES} % of {ACC} accesses miss; {nothing}\n"
                  "finding BUSY when CYC == 1000 of ACC because x\n");
    struct chil_exp *exp = rigm_experiment(4);
    static const int64_t acc[] = {1000, 100, 10, 100}, miss[] = {10, 50, 10, 25},
                         cyc[] = {2000, 5000, 10, 1000};
    for (int i = 0; i < 4; i++) {
        rigm_add(exp, "ACC", i, acc[i]);
        rigm_add(exp, "MISS", i, miss[i]);
        rigm_add(exp, "CYC", i, cyc[i]);
    }
    struct chil_exp *derived = rigm_derive(exp, spec, NULL);
    assert_int_equal(chil_findings_new(&found, derived, spec, &err), 0);
    assert_int_equal(found->count,
                     3); /* not for f2, which has a tenth of a percent of the cycles */
    assert_string_equal(found->finding[0].name, "POOR_CACHE");
    assert_int_equal(found->finding[0].node, 1);
    assert_true(fabs(found->finding[0].share - 5000.0 / 8010) < 1e-12);
    assert_string_equal(found->finding[0].text, "50 % of 100 accesses miss; {nothing}");
    assert_int_equal(found->finding[0].evidence_count, 2);
    assert_string_equal(found->finding[0].evidence[0].name, "MISSES");
    assert_true(found->finding[0].evidence[0].value == 50 &&
                found->finding[0].evidence[1].value == 50);
    assert_int_equal(found->finding[1].node, 3);
    assert_string_equal(found->finding[1].name, "POOR_CACHE");
    assert_string_equal(found->finding[2].name, "BUSY");
    assert_true(fabs(found->finding[2].share - 100.0 / 1210) < 1e-12);
    chil_findings_free(found);
    chil_exp_free(derived);
    chil_exp_free(exp);
    chil_spec_free(spec);
}

/* What `chiliad record` writes: counters and hierarchies in one experiment. Deriving from it gives
 * what deriving from the counters gives, whatever the specification is. Planted: derived metrics
 * are taken for counters; counters that are in a hierarchy are lost. */
static void hierarchies_beside_their_counters_change_nothing(void **state)
{
    static const char *const texts[] = {
        "measure ALL = E\ncompose ALL = A + B\ncompute B = F - 2 * C\nmeasure A = A0\n",
        "compose OTHER = E + A0\nmeasure X = C\n",
        "compose A = C + visits\nratio R = A / E\n",
    };
    static const struct chil_metric_options keep = {.keep_counters = true};
    (void)state;
    for (size_t first = 0; first < 3; first++) {
        struct chil_exp *exp = rigm_counts((struct rigm_count[]){
            {"visits", 3}, {"E", 100}, {"A0", 60}, {"C", 5}, {"F", 50}, {"LONE", 7}, {0}});
        struct chil_spec *spec = rigm_spec(texts[first]);
        struct chil_exp *both = rigm_derive(exp, spec, &keep), *twice, *merged = NULL;
        for (size_t m = 0; m < exp->metrics; m++) /* every counter stays, under its name */
            assert_int_equal(rigm_total(both, exp->metric[m].name),
                             rigm_total(exp, exp->metric[m].name));
        assert_string_equal(both->metric[0].name, "visits");
        for (size_t other = 0; other < 3; other++) {
            struct chil_spec *again = rigm_spec(texts[other]);
            struct chil_exp *a = rigm_derive(exp, again, NULL), *b = rigm_derive(both, again, NULL);
            assert_int_equal(a->metrics, b->metrics);
            for (size_t m = 0; m < a->metrics; m++) {
                int found = chil_exp_find_metric(b, a->metric[m].name);
                assert_true(found >= 0);
                assert_int_equal(a->metric[m].origin, b->metric[found].origin);
                assert_int_equal(a->metric[m].parent < 0, b->metric[found].parent < 0);
                assert_string_equal(a->metric[m].formula, b->metric[found].formula);
                assert_false(b->metric[found].derived);
                assert_int_equal(rigm_total(a, a->metric[m].name),
                                 rigm_total(b, a->metric[m].name));
            }
            chil_exp_free(a);
            chil_exp_free(b);
            chil_spec_free(again);
        }
        twice = rigm_derive(both, spec, &keep);
        assert_int_equal(twice->metrics, both->metrics);
        assert_int_equal(chil_metric_merge(&merged, (const struct chil_exp *const[]){both, both}, 2,
                                           NULL, spec, NULL, NULL),
                         0);
        assert_int_equal(merged->metrics, both->metrics);
        for (size_t m = 0; m < both->metrics; m++) {
            assert_string_equal(twice->metric[m].name, both->metric[m].name);
            assert_string_equal(merged->metric[m].name, both->metric[m].name);
            assert_int_equal(merged->metric[m].derived, both->metric[m].derived);
            assert_int_equal(rigm_total(merged, both->metric[m].name),
                             rigm_total(both, both->metric[m].name));
        }
        chil_exp_free(exp);
        chil_exp_free(both);
        chil_exp_free(twice);
        chil_exp_free(merged);
        chil_spec_free(spec);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(KOJ_07_comments_continued_lines_and_names),
        cmocka_unit_test(mistakes_are_told_with_file_line_and_what_was_meant),
        cmocka_unit_test(names_that_nothing_explains_are_told_with_the_nearest),
        cmocka_unit_test(KOJ_03_KOJ_17_a_file_replaces_what_it_uses),
        cmocka_unit_test(KOJ_04_KOJ_05_KOJ_06_compose_measure_and_compute),
        cmocka_unit_test(KOJ_08_measured_wins_over_composed_and_partial),
        cmocka_unit_test(KOJ_10_KOJ_13_KOJ_14_KOJ_15_what_is_missing),
        cmocka_unit_test(KOJ_01_KOJ_02_KOJ_18_time_stays_and_other_counters_are_listed_apart),
        cmocka_unit_test(KOJ_16_KOJ_44_deriving_after_a_merge_completes_and_is_repeatable),
        cmocka_unit_test(KOJ_43_cycles_in_seconds_and_the_specification_that_fits),
        cmocka_unit_test(what_never_happened_is_zero_where_all_was_counted),
        cmocka_unit_test(KOJ_45_ratios_are_of_sums_and_know_bad_denominators),
        cmocka_unit_test(KOJ_46_findings_have_text_evidence_and_call_path),
        cmocka_unit_test(hierarchies_beside_their_counters_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
