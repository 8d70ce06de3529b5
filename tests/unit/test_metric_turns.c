/* Estimates of counter sets that take turns against values worked out by hand; and merges with a
 * specification. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rig_metric.h"
#include "random.h"

static const char sets[] =
    "platform p two counters\ncounters a b\nevents * = X Y Z N\n"
    "aggroup A = X Y\naggroup B = X Z\naggroup C = N\n"
    "like X = BGL_INST\nlike Y = BGL_LOAD + 2 * BGL_STORE\nlike Z = BGL_BRANCH\n";

enum { NODES = 2, THREADS = 2 };

/* Two call paths and two threads, with these counts: by node, then thread. */
static struct chil_exp *counted(const int64_t (*counts)[NODES * THREADS], const char *const *names,
                                size_t count)
{
    struct chil_exp *exp = rigm_experiment(NODES);
    int process = exp->place[exp->thread[0]].parent;
    (void)chil_exp_add_place(exp, process, CHIL_EXP_THREAD, "u", 1);
    for (size_t i = 0; i < count; i++) {
        rigm_add(exp, names[i], 0, 0);
        for (int c = 0; c < NODES * THREADS; c++)
            chil_exp_add_count(exp, chil_exp_find_metric(exp, names[i]), c / THREADS, c % THREADS,
                               counts[i][c]);
    }
    return exp;
}

static double value(const struct chil_exp *exp, const char *name, int node, int thread)
{
    int metric = chil_exp_find_metric(exp, name);
    assert_true(metric >= 0);
    return chil_exp_real(exp, metric, node, thread);
}

static void estimates_are_counts_times_time_over_time_on(void **state)
{
    (void)state;
    static const char *const names[] = {"BGL_CYCLES", "BGL_INST",   "BGL_LOAD",
                                        "BGL_STORE",  "BGL_BRANCH", "visits"};
    enum { NAMES = sizeof names / sizeof *names };
    /* thread 0 runs 80 cycles, 16 of them with A and 48 with B on; thread 1 100, with C on all the
     * time */
    static const int64_t turn_a[NAMES][4] = {{10, 0, 6, 0}, {8, 0, 4, 0}, {3, 0, 0, 0},
                                             {1, 0, 2, 0},  {9, 0, 9, 0}, {1, 1, 7, 7}};
    static const int64_t turn_b[NAMES][4] = {{8, 0, 40, 0}, {0, 0, 40, 0}, {5, 0, 5, 0},
                                             {5, 0, 5, 0},  {3, 0, 6, 0},  {1, 1, 7, 7}};
    static const int64_t turn_c[NAMES][4] = {{0, 60, 16, 40}, {4, 50, 6, 60}, {1, 1, 1, 1},
                                             {1, 1, 1, 1},    {2, 2, 2, 2},   {1, 1, 7, 7}};
    int64_t whole[NAMES][4];
    for (int i = 0; i < NAMES; i++)
        for (int c = 0; c < 4; c++)
            whole[i][c] =
                i == NAMES - 1 ? turn_a[i][c] : turn_a[i][c] + turn_b[i][c] + turn_c[i][c];
    struct chil_exp *exp = counted(whole, names, NAMES), *result;
    struct chil_exp *turn[] = {counted(turn_a, names, NAMES), counted(turn_b, names, NAMES),
                               counted(turn_c, names, NAMES)};
    struct chil_platform *platform;
    struct chil_error err = {0};
    size_t count;
    assert_int_equal(chil_platform_parse(&platform, "p", sets, strlen(sets), &err), 0);
    const struct chil_set *set = chil_platform_sets(platform, &count);
    const struct chil_set *list[] = {&set[0], &set[1], &set[2]};
    assert_int_equal(chil_metric_turns(&result, exp, (const struct chil_exp *const *)turn, platform,
                                       list, 3, &err),
                     0);
    /* X is in A and B: 8 and 44 of it in 64 of 80 cycles */
    assert_true(value(result, "X", 0, 0) == 8 * 80.0 / 64);
    assert_true(value(result, "X", 1, 0) == 44 * 80.0 / 64);
    /* Y is in A: a load and twice a store, in 16 of 80 cycles */
    assert_true(value(result, "Y", 0, 0) == 5 * 80.0 / 16);
    assert_true(value(result, "Y", 1, 0) == 4 * 80.0 / 16);
    /* Z in B */
    assert_true(value(result, "Z", 1, 0) == 6 * 80.0 / 48);
    /* thread 1 ran while neither was on */
    assert_true(value(result, "X", 0, 1) == 0 && value(result, "Z", 1, 1) == 0);
    /* N has no `like` line; visits are no counter */
    assert_false(rigm_has(result, "N"));
    assert_true(value(result, "visits", 1, 1) == 7);
    assert_string_equal(result->metric[chil_exp_find_metric(result, "X")].exactness, "estimated");
    assert_string_equal(chil_exp_attribute(result, "counted"), "turns");
    assert_string_equal(chil_exp_attribute(result, "platform"), "p");
    chil_exp_free(result);
    chil_exp_free(exp);
    for (int i = 0; i < 3; i++)
        chil_exp_free(turn[i]);
    chil_platform_free(platform);
}

/* --- Merging --------------------------------------------------------------------------------- */

static void KOJ_44_a_merge_evaluates_all_that_the_specification_says(void **state)
{
    (void)state;
    struct chil_error err = {0};
    struct chil_spec *spec =
        rigm_spec("compose TOP = HALF + REST\ncompute HALF = (A + B) / 2\n"
                  "compute REST = 3 * (A - (B - 2 * C)) - 0.5 * D\ncompute ALONE = A * 4\n"
                  "ratio SHARE = 100 * B / (A + B) unit \"%\"\n");
    struct chil_exp *run[3], *derived[3], *merged;
    struct chil_ratio_value ratio;
    run[0] = rigm_counts((struct rigm_count[]){{"A", 30}, {"C", 10}, {0}});
    run[1] = rigm_counts((struct rigm_count[]){{"B", 10}, {"C", 14}, {0}});
    run[2] = rigm_counts((struct rigm_count[]){{"D", 7}, {"A", 34}, {0}});
    for (int i = 0; i < 3; i++) {
        derived[i] = rigm_derive(run[i], spec, NULL);
        assert_false(rigm_has(derived[i], "HALF"));
        assert_false(rigm_has(derived[i], "REST"));
        assert_false(rigm_has(derived[i], "TOP"));
        assert_int_equal(chil_ratio(derived[i], spec, "SHARE", -1, false, -1, &ratio, &err), 0);
        assert_false(ratio.defined);
    }
    const struct chil_exp *const *input = (const struct chil_exp *const *)derived;
    assert_int_equal(chil_metric_merge(&merged, input, 3, NULL, spec, NULL, &err), 0);
    /* A is 32 and C 12 on average */
    assert_true(value(merged, "HALF", 0, 0) == 21);
    assert_true(value(merged, "REST", 0, 0) == 3 * (32 - (10 - 2 * 12)) - 3.5);
    assert_true(value(merged, "TOP", 0, 0) == 21 + 138 - 3.5);
    assert_true(value(merged, "ALONE", 0, 0) == 128);
    assert_false(rigm_partial(merged, "TOP"));
    assert_int_equal(chil_ratio(merged, spec, "SHARE", -1, false, -1, &ratio, &err), 0);
    assert_true(ratio.defined && ratio.value == 100 * 10.0 / 42);
    chil_exp_free(merged);
    for (int i = 0; i < 3; i++) {
        chil_exp_free(run[i]);
        chil_exp_free(derived[i]);
    }
    chil_spec_free(spec);
}

/* A random sum over names A to F: with numbers before names and parentheses, and parentheses again.
 */
static int random_sum(uint64_t *seed, char *text, size_t size, int depth)
{
    int used = 0, terms = 1 + (int)random_below(seed, 3);
    for (int i = 0; i < terms; i++) {
        used += snprintf(text + used, size - (size_t)used, "%s%d * ",
                         i ? random_below(seed, 2) ? " + " : " - " : "",
                         1 + (int)random_below(seed, 9));
        if (depth < 3 && random_below(seed, 3) == 0) {
            used += snprintf(text + used, size - (size_t)used, "(");
            used += random_sum(seed, text + used, size - (size_t)used, depth + 1);
            used += snprintf(text + used, size - (size_t)used, ")");
        } else {
            used +=
                snprintf(text + used, size - (size_t)used, "%c", 'A' + (int)random_below(seed, 6));
        }
    }
    return used;
}

/* Planted: a merge is not derived again. */
static void KOJ_44_runs_with_a_counter_each_give_what_one_with_all_gives(void **state)
{
    (void)state;
    enum { COUNTERS = 6, TRIES = 300 };
    uint64_t start = 44, *seed = &start;
    for (uint64_t try = random_trials(TRIES); try--;) {
        char text[8000];
        struct chil_error err = {0};
        int used = snprintf(text, sizeof text, "compute M = ");
        used += random_sum(seed, text + used, sizeof text - (size_t)used, 0);
        (void)snprintf(text + used, sizeof text - (size_t)used, "\ncompose S = M + A\n");
        struct chil_spec *spec = rigm_spec(text);
        struct chil_exp *all = rigm_experiment(3), *derived[COUNTERS], *merged;
        for (int i = 0; i < COUNTERS; i++) {
            struct chil_exp *one = rigm_experiment(3);
            char name[] = {(char)('A' + i), 0};
            for (int node = 0; node < 3; node++) {
                int64_t count = (int64_t)random_below(seed, 1000000);
                rigm_add(one, name, node, count);
                rigm_add(all, name, node, count);
            }
            derived[i] = rigm_derive(one, spec, NULL);
            chil_exp_free(one);
        }
        const struct chil_exp *const *input = (const struct chil_exp *const *)derived;
        assert_int_equal(chil_metric_merge(&merged, input, COUNTERS, NULL, spec, NULL, &err), 0);
        struct chil_exp *once = rigm_derive(all, spec, NULL);
        for (int node = 0; node < 3; node++) {
            assert_true(value(merged, "M", node, 0) == value(once, "M", node, 0));
            assert_true(value(merged, "S", node, 0) == value(once, "S", node, 0));
        }
        assert_false(rigm_partial(merged, "S"));
        for (int i = 0; i < COUNTERS; i++)
            chil_exp_free(derived[i]);
        chil_exp_free(merged);
        chil_exp_free(once);
        chil_exp_free(all);
        chil_spec_free(spec);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_are_counts_times_time_over_time_on),
        cmocka_unit_test(KOJ_44_a_merge_evaluates_all_that_the_specification_says),
        cmocka_unit_test(KOJ_44_runs_with_a_counter_each_give_what_one_with_all_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
