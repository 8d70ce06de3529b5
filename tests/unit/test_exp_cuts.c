/* Parts of an experiment, merged, give the whole; call paths that differ in a file stay different.
 *
 * Laws on random experiments, of which some call paths have the same caller, function and line, and
 * some functions the same name and file: two calls on one line, two static functions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "exp_random.h"
#include "random.h"

enum { TRIALS = 100, PARTS = 64 };

typedef int (*operator_of_many)(struct chil_exp **, const struct chil_exp *const *, size_t,
                                const struct chil_exp_align *, struct chil_error *);

static struct chil_exp *apply(operator_of_many operator, struct chil_exp ** input, size_t inputs,
                              bool by_name)
{
    struct chil_exp *result = NULL;
    const struct chil_exp_align align = {.by_name = by_name};
    assert_int_equal(operator(&result, (const struct chil_exp *const *)input, inputs, &align, NULL),
                     0);
    return result;
}

static void assert_same(const struct chil_exp *a, const struct chil_exp *b)
{
    char *x = exp_dump(a), *y = exp_dump(b);
    assert_string_equal(x, y);
    free(x);
    free(y);
}

static void free_all(struct chil_exp **exp, size_t count)
{
    for (size_t i = 0; i < count; i++)
        chil_exp_free(exp[i]);
}

static bool is_thread(void *context, int thread)
{
    return thread == *(int *)context;
}

static bool is_one_of(void *context, int node)
{
    return ((const bool *)context)[node];
}

/* Adds twins: call paths with the caller, function and line of another, and functions with the name
 * and file of another. */
static struct chil_exp *random_with_twins(uint64_t *state)
{
    struct chil_exp *exp = exp_random(state);
    for (int i = 0; i < 2; i++) {
        struct chil_exp_region twin = exp->region[random_below(state, exp->regions)];
        twin.begin += (int)random_below(state, 2);
        int region = chil_exp_add_region(exp, &twin);
        (void)chil_exp_add_node(exp, (int)random_below(state, exp->nodes), region, 1, "a.c");
    }
    for (int i = 0; i < 4; i++) {
        struct chil_exp_node twin = exp->node[random_below(state, exp->nodes)];
        int node = chil_exp_add_node(exp, twin.parent, twin.region, twin.line, twin.module);
        for (size_t m = 0; m < exp->metrics; m++)
            if (exp->metric[m].kind == CHIL_EXP_REAL)
                chil_exp_add_real(exp, (int)m, node, (int)random_below(state, exp->threads), 0.5);
    }
    return exp;
}

static void assert_same_rows(const struct chil_exp *a, const struct chil_exp *b)
{
    assert_int_equal(a->metrics, b->metrics);
    assert_int_equal(a->nodes, b->nodes);
    assert_int_equal(a->threads, b->threads);
    for (size_t m = 0; m < a->metrics; m++) {
        const struct chil_exp_metric *x = &a->metric[m],
                                     *y = &b->metric[chil_exp_find_metric(b, x->name)];
        assert_int_equal(x->runs, y->runs);
        assert_int_equal(x->kind, y->kind);
        assert_int_equal(x->partial, y->partial);
        assert_string_equal(x->exactness, y->exactness);
    }
    assert_same(a, b);
}

/* Planted: averages divide by all inputs that have the metric; two inputs without common threads
 * count as two runs; twins become one call path. */
static void threads_cut_apart_and_merged_give_the_whole(void **unused)
{
    uint64_t state = 31;
    (void)unused;
    for (uint64_t trial = 0; trial < random_trials(TRIALS); trial++) {
        struct chil_exp *a = random_with_twins(&state), *part[PARTS];
        for (int t = 0; t < (int)a->threads; t++)
            assert_int_equal(chil_exp_cut(&part[t], a, NULL, is_thread, &t, NULL), 0);
        struct chil_exp *whole = apply(chil_exp_merge, part, a->threads, trial % 2);
        assert_same_rows(a, whole);
        for (int t = 0; t < (int)a->threads; t++) /* threads keep their order */
            assert_int_equal(whole->place[whole->thread[t]].rank, a->place[a->thread[t]].rank);
        free_all(part, a->threads);
        free_all((struct chil_exp *[]){a, whole}, 2);
    }
}

/* Callers of what was cut out stay in each part without values: they do not count as zeros. The
 * merge of disjoint subtrees is the cut of all of them. Without twins: a file with the second of
 * two equal call paths does not say that it is the second. Planted: averages divide by all inputs
 * that have the call path and the thread. */
static void call_paths_cut_apart_and_merged_give_the_whole(void **unused)
{
    uint64_t state = 32;
    (void)unused;
    for (uint64_t trial = 0; trial < random_trials(TRIALS); trial++) {
        struct chil_exp *a = exp_random(&state), *part[2], *both = NULL;
        bool *chosen[3];
        for (int i = 0; i < 3; i++)
            chosen[i] = calloc(a->nodes, sizeof(bool));
        for (size_t n = 0; n < a->nodes;
             n++) { /* roots and a few others; a subtree is in one part */
            int parent = a->node[n].parent, in = (int)random_below(&state, 3);
            bool inside = parent >= 0 && chosen[2][parent];
            for (int i = 0; i < 2; i++)
                chosen[i][n] = inside ? chosen[i][parent] : in == i;
            chosen[2][n] = inside || in < 2;
        }
        for (int i = 0; i < 2; i++)
            assert_int_equal(chil_exp_cut(&part[i], a, is_one_of, NULL, chosen[i], NULL), 0);
        assert_int_equal(chil_exp_cut(&both, a, is_one_of, NULL, chosen[2], NULL), 0);
        if (both->nodes) {
            struct chil_exp *merged = apply(chil_exp_merge, part, 2, false);
            char *x = exp_dump(both), *y = exp_dump(merged);
            assert_string_equal(x, y);
            free(x);
            free(y);
            chil_exp_free(merged);
        }
        free_all((struct chil_exp *[]){a, part[0], part[1], both}, 4);
        for (int i = 0; i < 3; i++)
            free(chosen[i]);
    }
}

/* Operators on one experiment, or on it and itself, keep every call path and function that its file
 * has, in order, and so does the file. Planted: the key of a call path is caller, function and
 * line; the key of a function is name and file. */
static void twins_stay_apart(void **unused)
{
    static const operator_of_many operators[] = {chil_exp_merge, chil_exp_mean};
    uint64_t state = 33;
    char path[] = "/tmp/test_exp_cuts.XXXXXX";
    int fd = mkstemp(path);
    (void)unused;
    assert_true(fd >= 0);
    (void)close(fd);
    for (uint64_t trial = 0; trial < random_trials(TRIALS); trial++) {
        struct chil_exp *a = random_with_twins(&state), *twice[] = {a, a}, *change = NULL,
                        *back = NULL;
        bool by_name = trial % 3 == 0;
        for (size_t i = 0; i < 2; i++)
            for (size_t inputs = 1; inputs <= 2; inputs++) {
                struct chil_exp *result = apply(operators[i], twice, inputs, by_name);
                assert_int_equal(result->nodes, a->nodes);
                for (size_t n = 0; n < a->nodes; n++) {
                    assert_int_equal(result->node[n].parent, a->node[n].parent);
                    for (size_t k = 0; k < n; k++) /* one function stays one, two stay two */
                        assert_int_equal(result->node[n].region == result->node[k].region,
                                         a->node[n].region == a->node[k].region);
                }
                assert_same(result, a);
                chil_exp_free(result);
            }
        assert_int_equal(chil_exp_diff(&change, a, a, NULL, NULL), 0);
        assert_int_equal(change->nodes, a->nodes);
        char *text = exp_dump(change);
        assert_string_equal(text, "");
        free(text);
        assert_int_equal(chil_exp_write(a, path, NULL), 0);
        assert_int_equal(chil_exp_read(&back, path, NULL), 0);
        assert_same_rows(a, back);
        free_all((struct chil_exp *[]){a, change, back}, 3);
    }
    (void)unlink(path);
}

/* --- By hand --------------------------------------------------------------------------------- */

/* main, and `threads` threads from number `first` on; X counts value[i] on each, V once, if not 0.
 */
static struct chil_exp *row_of(int first, int threads, const int64_t *value, const int64_t *visits)
{
    struct chil_exp *exp = chil_exp_new();
    int region = chil_exp_add_region(exp, &(struct chil_exp_region){.name = "main"});
    int node = chil_exp_add_node(exp, -1, region, -1, "");
    int place = chil_exp_add_place(exp, -1, CHIL_EXP_NODE, "node", 0);
    int process = chil_exp_add_place(exp, place, CHIL_EXP_PROCESS, "p", 0);
    int x = chil_exp_add_metric(exp, &(struct chil_exp_metric){.name = "X", .parent = -1});
    int v = chil_exp_add_metric(exp, &(struct chil_exp_metric){.name = "V", .parent = -1});
    for (int i = 0; i < threads; i++) {
        (void)chil_exp_add_place(exp, process, CHIL_EXP_THREAD, "t", first + i);
        chil_exp_add_count(exp, x, node, i, value[i]);
        chil_exp_add_count(exp, v, node, i, visits[i]);
    }
    return exp;
}

/* Planted: zeros of an input that counted something else there are left out, too. */
static void only_what_several_have_is_averaged(void **unused)
{
    static const int64_t a[] = {10, 20, 0}, b[] = {40, 30, 5}, ones[] = {1, 1, 1};
    struct chil_exp *in[] = {row_of(0, 3, a, ones), row_of(1, 3, b, ones)};
    struct chil_exp *merged = apply(chil_exp_merge, in, 2, false),
                    *mean = apply(chil_exp_mean, in, 2, false);
    (void)unused;
    static const int64_t wanted[] = {10, 30, 15, 5};
    static const double means[] = {5, 30, 15, 2.5};
    for (int t = 0; t < 4; t++) {
        int rank = merged->place[merged->thread[t]].rank;
        assert_true(chil_exp_count(merged, 0, 0, t) == wanted[rank]);
        rank = mean->place[mean->thread[t]].rank;
        assert_true(chil_exp_real(mean, 0, 0, t) == means[rank]);
    }
    int x = chil_exp_find_metric(merged, "X");
    assert_int_equal(merged->metric[x].runs, 2);
    assert_int_equal(merged->metric[x].kind, CHIL_EXP_COUNT);
    assert_true(merged->metric[x].low == 30 && merged->metric[x].high == 75);
    free_all((struct chil_exp *[]){in[0], in[1], merged, mean}, 4);
}

/* A thread of an earlier mean of three runs and another thread of two: parts of different length.
 */
static void parts_of_several_runs_keep_their_runs(void **unused)
{
    static const int64_t a[] = {12}, b[] = {7}, one[] = {1};
    struct chil_exp *first = row_of(0, 1, a, one), *second = row_of(1, 1, b, one);
    struct chil_exp *in[] = {apply(chil_exp_mean, (struct chil_exp *[]){first, first, first}, 3, 0),
                             apply(chil_exp_mean, (struct chil_exp *[]){second, second}, 2, 0)};
    struct chil_exp *merged = apply(chil_exp_merge, in, 2, false);
    (void)unused;
    assert_int_equal(merged->metric[0].runs, 3);
    assert_true(merged->metric[0].low == 19 && merged->metric[0].high == 19);
    assert_true(chil_exp_sum_count(merged, 0, -1, false, -1) == 19);
    free_all((struct chil_exp *[]){first, second, in[0], in[1], merged}, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_cut_apart_and_merged_give_the_whole),
        cmocka_unit_test(call_paths_cut_apart_and_merged_give_the_whole),
        cmocka_unit_test(twins_stay_apart),
        cmocka_unit_test(only_what_several_have_is_averaged),
        cmocka_unit_test(parts_of_several_runs_keep_their_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
