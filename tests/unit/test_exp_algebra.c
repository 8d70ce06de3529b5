/* The laws of the algebra on random experiments, and the paper's merge rules on small ones. */
#include <fcntl.h>
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

enum { TRIALS = 100, INPUTS = 4 };

static struct chil_exp *mean_of(struct chil_exp **input, size_t inputs)
{
    struct chil_exp *result = NULL;
    assert_int_equal(
        chil_exp_mean(&result, (const struct chil_exp *const *)input, inputs, NULL, NULL), 0);
    return result;
}

static struct chil_exp *merge_of(struct chil_exp **input, size_t inputs)
{
    struct chil_exp *result = NULL;
    assert_int_equal(
        chil_exp_merge(&result, (const struct chil_exp *const *)input, inputs, NULL, NULL), 0);
    return result;
}

static struct chil_exp *diff_of(const struct chil_exp *a, const struct chil_exp *b)
{
    struct chil_exp *result = NULL;
    assert_int_equal(chil_exp_diff(&result, a, b, NULL, NULL), 0);
    return result;
}

static void assert_same(const struct chil_exp *a, const struct chil_exp *b)
{
    char *x = exp_dump(a), *y = exp_dump(b);
    assert_string_equal(x, y);
    free(x);
    free(y);
}

/* The bytes of an experiment as a file, through a pipe, which needs no disk. */
static char *bytes_of(const struct chil_exp *exp, size_t *size)
{
    enum { MOST = 1 << 20 };
    char path[40];
    int ends[2];
    struct chil_error err = {0};
    assert_int_equal(pipe(ends), 0);
    assert_true(fcntl(ends[1], F_SETPIPE_SZ, MOST) >= MOST);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
    assert_int_equal(chil_exp_write(exp, path, &err), 0);
    (void)close(ends[1]);
    char *bytes = calloc(1, MOST);
    ssize_t got;
    for (*size = 0; (got = read(ends[0], bytes + *size, MOST - *size)) > 0; *size += (size_t)got)
        ;
    (void)close(ends[0]);
    return bytes;
}

static void assert_same_bytes(const struct chil_exp *a, const struct chil_exp *b)
{
    size_t a_size, b_size;
    char *x = bytes_of(a, &a_size), *y = bytes_of(b, &b_size);
    assert_int_equal(a_size, b_size);
    assert_memory_equal(x, y, a_size);
    free(x);
    free(y);
}

static void free_all(struct chil_exp **exp, size_t count)
{
    for (size_t i = 0; i < count; i++)
        chil_exp_free(exp[i]);
}

/* --- Laws ------------------------------------------------------------------------------------ */

/* Planted: nothing is taken away; one too much is. */
static void KOJ_26_a_minus_a_is_zero(void **unused)
{
    uint64_t state = 1;
    (void)unused;
    for (uint64_t trial = 0; trial < random_trials(TRIALS); trial++) {
        struct chil_exp *a = exp_random(&state), *zero = diff_of(a, a);
        char *text = exp_dump(zero);
        assert_string_equal(text, "");
        assert_int_equal(zero->metrics, a->metrics);
        assert_int_equal(zero->nodes, a->nodes);
        free(text);
        chil_exp_free(zero);
        chil_exp_free(a);
    }
}

/* Planted: runs have no weight; one more than the mean; the first input only. */
static void KOJ_22_mean_of_a_and_a_is_a(void **unused)
{
    uint64_t state = 2;
    (void)unused;
    for (uint64_t trial = 0; trial < random_trials(TRIALS); trial++) {
        struct chil_exp *a = exp_random(&state), *b = exp_random(&state);
        struct chil_exp *same = mean_of((struct chil_exp *[]){a, a, a}, 3);
        assert_same(same, a);
        struct chil_exp *two = mean_of((struct chil_exp *[]){a, b}, 2),
                        *again = mean_of((struct chil_exp *[]){two, two}, 2);
        assert_same(again, two);
        assert_int_equal(same->metric[0].runs, 3);
        free_all((struct chil_exp *[]){a, b, same, two, again}, 5);
    }
}

static void merge_is_idempotent_and_the_order_does_not_matter(void **unused)
{
    uint64_t state = 3;
    (void)unused;
    for (uint64_t trial = 0; trial < random_trials(TRIALS); trial++) {
        struct chil_exp *in[INPUTS];
        for (int i = 0; i < INPUTS; i++)
            in[i] = exp_random(&state);
        struct chil_exp *once = merge_of(in, 1),
                        *self = merge_of((struct chil_exp *[]){in[0], in[0]}, 2);
        assert_same(once, in[0]);
        assert_same(self, in[0]);
        struct chil_exp *all = merge_of(in, INPUTS),
                        *twice = merge_of((struct chil_exp *[]){all, all}, 2);
        assert_same(twice, all);
        struct chil_exp *reordered =
            merge_of((struct chil_exp *[]){in[2], in[0], in[3], in[1]}, INPUTS);
        assert_same_bytes(all, reordered);
        struct chil_exp *mean = mean_of(in, INPUTS),
                        *mean_reordered =
                            mean_of((struct chil_exp *[]){in[3], in[2], in[1], in[0]}, INPUTS);
        assert_same_bytes(mean, mean_reordered);
        free_all((struct chil_exp *[]){once, self, all, twice, reordered, mean, mean_reordered}, 7);
        free_all(in, INPUTS);
    }
}

static void difference_is_linear(void **unused)
{
    uint64_t state = 4;
    (void)unused;
    for (uint64_t trial = 0; trial < random_trials(TRIALS); trial++) {
        struct chil_exp *a = exp_random(&state), *b = exp_random(&state), *c = exp_random(&state);
        struct chil_exp *mean = mean_of((struct chil_exp *[]){a, b}, 2), *left = diff_of(mean, c);
        struct chil_exp *ac = diff_of(a, c), *bc = diff_of(b, c),
                        *right = mean_of((struct chil_exp *[]){ac, bc}, 2);
        assert_same(left, right);
        free_all((struct chil_exp *[]){a, b, c, mean, left, ac, bc, right}, 8);
    }
}

/* Results are inputs again; a mean of means counts each run once; inputs stay as they are. */
static void KOJ_27_operators_nest_and_leave_their_inputs(void **unused)
{
    uint64_t state = 5;
    (void)unused;
    for (uint64_t trial = 0; trial < random_trials(TRIALS); trial++) {
        struct chil_exp *in[INPUTS];
        char *before[INPUTS];
        size_t size[INPUTS], size_after;
        for (int i = 0; i < INPUTS; i++) {
            in[i] = exp_random(&state);
            before[i] = bytes_of(in[i], &size[i]);
        }
        struct chil_exp *two = mean_of(in, 2),
                        *nested = mean_of((struct chil_exp *[]){two, in[2]}, 2),
                        *flat = mean_of(in, 3);
        assert_same(nested, flat);
        struct chil_exp *merged = merge_of((struct chil_exp *[]){nested, in[3]}, 2),
                        *change = diff_of(merged, two);
        struct chil_exp *again = merge_of((struct chil_exp *[]){change, merged}, 2);
        assert_true(again->metrics >= merged->metrics);
        for (int i = 0; i < INPUTS; i++) {
            char *after = bytes_of(in[i], &size_after);
            assert_int_equal(size[i], size_after);
            assert_memory_equal(before[i], after, size_after);
            free(after);
            free(before[i]);
        }
        free_all((struct chil_exp *[]){two, nested, flat, merged, change, again}, 6);
        free_all(in, INPUTS);
    }
}

/* --- Small experiments ----------------------------------------------------------------------- */

/* main calls work; two threads. `spec` is "NAME=VALUE ...", "NAME" being "~X:FORMULA" for a partial
 * composition,
 * "+X:FORMULA" for a whole one and "-X:FORMULA" for a computation; all of VALUE is in work on
 * thread 1. */
static struct chil_exp *small(const char *spec)
{
    struct chil_exp *exp = chil_exp_new();
    int main_region =
        chil_exp_add_region(exp, &(struct chil_exp_region){.name = "main", .module = "m.c"});
    int work_region =
        chil_exp_add_region(exp, &(struct chil_exp_region){.name = "work", .module = "m.c"});
    int top = chil_exp_add_node(exp, -1, main_region, -1, ""),
        work = chil_exp_add_node(exp, top, work_region, 7, "m.c");
    int node = chil_exp_add_place(exp, -1, CHIL_EXP_NODE, "node", 0);
    int process = chil_exp_add_place(exp, node, CHIL_EXP_PROCESS, "p", 0);
    (void)chil_exp_add_place(exp, process, CHIL_EXP_THREAD, "t0", 0);
    (void)chil_exp_add_place(exp, process, CHIL_EXP_THREAD, "t1", 1);
    char *copy = strdup(spec), *rest = copy;
    for (char *word; (word = strsep(&rest, ","));) {
        char *value = strrchr(word, '='), *formula = strchr(word, ':');
        *value++ = 0;
        if (formula) *formula++ = 0;
        enum chil_exp_origin origin = !formula       ? CHIL_EXP_MEASURED
                                      : *word == '-' ? CHIL_EXP_COMPUTED
                                                     : CHIL_EXP_COMPOSED;
        struct chil_exp_metric metric = {.name = word + (formula != NULL),
                                         .formula = formula,
                                         .parent = -1,
                                         .origin = origin,
                                         .partial = *word == '~'};
        chil_exp_add_count(exp, chil_exp_add_metric(exp, &metric), work, 1,
                           strtoll(value, NULL, 10));
    }
    free(copy);
    return exp;
}

static double total(const struct chil_exp *exp, const char *name)
{
    int metric = chil_exp_find_metric(exp, name);
    assert_true(metric >= 0);
    return chil_exp_sum(exp, metric, -1, false, -1);
}

static const struct chil_exp_metric *metric_of(const struct chil_exp *exp, const char *name)
{
    int metric = chil_exp_find_metric(exp, name);
    assert_true(metric >= 0);
    return &exp->metric[metric];
}

/* Planted: the mark stays; parts are not added; averages instead of evaluations. */
static void KOJ_16_a_merge_completes_partial_compositions(void **unused)
{
    struct chil_exp *in[] = {small("A=10,~X:A + B + C=10"), small("B=20,~X:A + B + C=20"),
                             small("C=30,~X:A + B + C=30")};
    (void)unused;
    struct chil_exp *two = merge_of(in, 2), *all = merge_of(in, 3),
                    *later = merge_of((struct chil_exp *[]){two, in[2]}, 2);
    assert_true(metric_of(two, "X")->partial);
    assert_true(total(two, "X") == 30); /* accumulated, not averaged */
    assert_false(metric_of(all, "X")->partial);
    assert_true(total(all, "X") == 60);
    assert_same(all, later);
    assert_false(metric_of(later, "X")->partial);
    free_all((struct chil_exp *[]){in[0], in[1], in[2], two, all, later}, 6);
}

static void KOJ_23_KOJ_24_merge_is_the_union(void **unused)
{
    struct chil_exp *a = small("A=1"), *b = small("B=2"), *c = small("C=3");
    (void)unused;
    int region =
        chil_exp_add_region(c, &(struct chil_exp_region){.name = "extra", .module = "m.c"});
    int node = chil_exp_add_node(c, 0, region, 9, "m.c"), thread;
    int place = chil_exp_add_place(c, 1, CHIL_EXP_THREAD, "t2", 2);
    thread = c->place[place].thread;
    chil_exp_add_count(c, 0, node, thread, 5);
    struct chil_exp *two = merge_of((struct chil_exp *[]){a, b}, 2),
                    *all = merge_of((struct chil_exp *[]){a, b, c}, 3);
    assert_int_equal(two->metrics, 2);
    assert_int_equal(two->nodes, 2); /* equal trees stay one */
    assert_int_equal(two->threads, 2);
    assert_true(total(two, "A") == 1 && total(two, "B") == 2);
    assert_int_equal(all->nodes, 3);
    assert_int_equal(all->threads, 3);
    assert_true(total(all, "C") == 8);
    free_all((struct chil_exp *[]){a, b, c, two, all}, 5);
}

/* Planted: composed values are averaged with measured ones; partial ones with complete ones. */
static void KOJ_25_replicated_are_averaged_and_measured_preferred(void **unused)
{
    struct chil_exp *in[] = {small("A=10,X=7"), small("A=20,+X:A + B=50"),
                             small("A=30,~X:A + B=30")};
    (void)unused;
    struct chil_exp *all = merge_of(in, 3);
    assert_true(total(all, "A") == 20);
    assert_int_equal(metric_of(all, "A")->runs, 3);
    assert_true(metric_of(all, "A")->low == 10 && metric_of(all, "A")->high == 30);
    assert_true(total(all, "X") == 7);
    assert_int_equal(metric_of(all, "X")->origin, CHIL_EXP_MEASURED);
    assert_false(metric_of(all, "X")->partial);
    /* Complete wins over partial when parts are still missing; a computation is evaluated when all
     * are there. */
    struct chil_exp *complete = merge_of(&in[1], 2);
    assert_true(total(complete, "X") == 50);
    assert_false(metric_of(complete, "X")->partial);
    struct chil_exp *parts[] = {small("A=9,~D:A - B=9"), small("B=4")}, *d;
    parts[0]->metric[1].origin = CHIL_EXP_COMPUTED;
    d = merge_of(parts, 2);
    assert_true(total(d, "D") == 5);
    assert_false(metric_of(d, "D")->partial);
    free_all((struct chil_exp *[]){in[0], in[1], in[2], all, complete, parts[0], parts[1], d}, 8);
}

static void mean_divides_by_the_runs_that_measured(void **unused)
{
    struct chil_exp *in[] = {small("A=10,B=5"), small("A=15"), small("A=20,B=6")};
    (void)unused;
    struct chil_exp *mean = mean_of(in, 3);
    assert_true(total(mean, "A") == 15);
    assert_int_equal(metric_of(mean, "A")->kind, CHIL_EXP_COUNT);
    assert_true(total(mean, "B") == 5.5); /* 11 of two runs: a real now */
    assert_int_equal(metric_of(mean, "B")->kind, CHIL_EXP_REAL);
    assert_int_equal(metric_of(mean, "B")->runs, 2);
    assert_true(metric_of(mean, "B")->low == 5 && metric_of(mean, "B")->high == 6);
    free_all((struct chil_exp *[]){in[0], in[1], in[2], mean}, 4);
}

static void counts_are_exact_in_64_bits(void **unused)
{
    struct chil_exp *a = small("A=9007199254740993"), *b = small("A=9007199254740995"),
                    *mean = mean_of((struct chil_exp *[]){a, b}, 2);
    struct chil_exp *change = diff_of(a, b);
    (void)unused;
    assert_true(chil_exp_sum_count(mean, 0, -1, false, -1) == 9007199254740994);
    assert_true(chil_exp_sum_count(change, 0, -1, false, -1) == -2);
    free_all((struct chil_exp *[]){a, b, mean, change}, 4);
}

static void contradicting_trees_and_circles_are_merged(void **unused)
{
    struct chil_exp *a = small("A=1,B=2,+P:Q=3,+Q:P=4"), *b = small("A=5,B=6,C=1");
    (void)unused;
    a->metric[1].parent = 0; /* B in A there, A in B here */
    struct chil_exp_metric top = {.name = "B", .parent = -1}, below = {.name = "A", .parent = 0};
    struct chil_exp *c = small("Z=1"), *d = chil_exp_new();
    (void)chil_exp_add_metric(d, &top);
    (void)chil_exp_add_metric(d, &below);
    struct chil_exp *all = merge_of((struct chil_exp *[]){a, b, c, d}, 4);
    assert_int_equal(all->metrics, 6);
    for (size_t i = 0; i < all->metrics; i++)
        assert_true(all->metric[i].parent < (int)i);
    assert_true(total(all, "P") == 3 && total(all, "Q") == 4);
    free_all((struct chil_exp *[]){a, b, c, d, all}, 5);
}

static void by_name_matches_what_was_edited(void **unused)
{
    struct chil_exp *a = small("A=10"), *b = small("A=7"), *change = NULL;
    (void)unused;
    b->node[1].line = 8; /* a line was put in above */
    struct chil_exp *strict = diff_of(a, b);
    assert_int_equal(strict->nodes, 3);
    assert_int_equal(chil_exp_diff(&change, a, b, &(struct chil_exp_align){.by_name = true}, NULL),
                     0);
    assert_int_equal(change->nodes, 2);
    assert_true(chil_exp_count(change, 0, 1, 1) == 3);
    free_all((struct chil_exp *[]){a, b, strict, change}, 4);
}

/* Fails if by_name compares the name of the only root, or matches the first of several roots. */
static void by_name_matches_programs_of_other_names(void **unused)
{
    struct chil_exp *a = small("A=10"), *b = small("A=7"), *change = NULL;
    const struct chil_exp_align by_name = {.by_name = true};
    static char renamed[] = "renamed";
    (void)unused;
    b->region[b->node[0].region].name = renamed;
    assert_int_equal(chil_exp_diff(&change, a, b, &by_name, NULL), 0);
    assert_int_equal(change->nodes, 2);
    assert_true(chil_exp_count(change, 0, 1, 1) == 3);
    assert_string_equal(change->region[change->node[0].region].name,
                        a->region[a->node[0].region].name);
    chil_exp_free(change);
    (void)chil_exp_add_node(b, -1, b->node[1].region, -1, "");
    assert_int_equal(chil_exp_diff(&change, a, b, &by_name, NULL), 0);
    assert_int_equal(change->nodes, 5);
    free_all((struct chil_exp *[]){a, b, change}, 3);
}

static void equal_ranks_on_two_nodes_stay_apart(void **unused)
{
    struct chil_exp *a = small("A=10");
    (void)unused;
    int node = chil_exp_add_place(a, -1, CHIL_EXP_NODE, "other", 0),
        process = chil_exp_add_place(a, node, CHIL_EXP_PROCESS, "p", 0);
    int thread = a->place[chil_exp_add_place(a, process, CHIL_EXP_THREAD, "t", 0)].thread;
    chil_exp_add_count(a, 0, 1, thread, 100);
    struct chil_exp *same = mean_of((struct chil_exp *[]){a, a}, 2);
    assert_int_equal(same->threads, 3);
    assert_true(chil_exp_count(same, 0, 1, 2) == 100);
    assert_same(same, a);
    free_all((struct chil_exp *[]){a, same}, 2);
}

struct chosen {
    int node, thread;
};

static bool is_node(void *context, int node)
{
    return node == ((struct chosen *)context)->node;
}

static bool is_thread(void *context, int thread)
{
    return thread == ((struct chosen *)context)->thread;
}

static void cut_keeps_subtrees_and_threads(void **unused)
{
    struct chil_exp *a = small("A=10"), *result = NULL;
    (void)unused;
    chil_exp_add_count(a, 0, 0, 0, 3);
    chil_exp_add_count(a, 0, 1, 0, 4);
    struct chosen chosen = {1, 1};
    assert_int_equal(chil_exp_cut(&result, a, is_node, NULL, &chosen, NULL), 0);
    assert_int_equal(result->nodes, 2); /* main stays, empty */
    assert_true(chil_exp_sum_count(result, 0, 0, false, -1) == 0);
    assert_true(chil_exp_sum_count(result, 0, -1, false, -1) == 14);
    chil_exp_free(result);
    assert_int_equal(chil_exp_cut(&result, a, NULL, is_thread, &chosen, NULL), 0);
    assert_int_equal(result->threads, 1);
    assert_true(chil_exp_sum_count(result, 0, -1, false, -1) == 10);
    chil_exp_free(result);
    assert_int_equal(chil_exp_prune(&result, a, is_node, &chosen, NULL), 0);
    assert_int_equal(result->nodes, 1);
    assert_true(chil_exp_sum_count(result, 0, 0, false, -1) == 17);
    free_all((struct chil_exp *[]){a, result}, 2);
}

/* What was cut out and what is left add up to the whole. */
static void random_cuts_lose_nothing(void **unused)
{
    uint64_t state = 6;
    (void)unused;
    for (uint64_t trial = 0; trial < random_trials(TRIALS); trial++) {
        struct chil_exp *a = exp_random(&state), *pruned = NULL, *cut = NULL;
        struct chosen chosen = {(int)random_below(&state, a->nodes),
                                (int)random_below(&state, a->threads)};
        assert_int_equal(chil_exp_prune(&pruned, a, is_node, &chosen, NULL), 0);
        assert_int_equal(chil_exp_cut(&cut, a, is_node, NULL, &chosen, NULL), 0);
        for (size_t m = 0; m < a->metrics; m++) {
            double whole = chil_exp_sum(a, (int)m, -1, false, -1),
                   below = chil_exp_sum(a, (int)m, chosen.node, true, -1);
            assert_true(chil_exp_sum(cut, (int)m, -1, false, -1) == below);
            assert_true(chil_exp_sum(pruned, (int)m, -1, false, -1) ==
                        (a->node[chosen.node].parent < 0 ? whole - below : whole));
        }
        free_all((struct chil_exp *[]){a, pruned, cut}, 3);
    }
}

static void differing_attributes_stand_side_by_side(void **unused)
{
    struct chil_exp *a = small("A=1"), *b = small("A=2"), *both, *again;
    (void)unused;
    chil_exp_set_attribute(a, "machine", "bgp");
    chil_exp_set_attribute(b, "machine", "bgl");
    both = merge_of((struct chil_exp *[]){a, b}, 2);
    again = merge_of((struct chil_exp *[]){both, a}, 2);
    assert_int_equal(strlen(chil_exp_attribute(both, "machine")), strlen("bgl; bgp"));
    assert_int_equal(strlen(chil_exp_attribute(again, "machine")), strlen("bgl; bgp"));
    free_all((struct chil_exp *[]){a, b, both, again}, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(KOJ_26_a_minus_a_is_zero),
        cmocka_unit_test(KOJ_22_mean_of_a_and_a_is_a),
        cmocka_unit_test(merge_is_idempotent_and_the_order_does_not_matter),
        cmocka_unit_test(difference_is_linear),
        cmocka_unit_test(KOJ_27_operators_nest_and_leave_their_inputs),
        cmocka_unit_test(KOJ_16_a_merge_completes_partial_compositions),
        cmocka_unit_test(KOJ_23_KOJ_24_merge_is_the_union),
        cmocka_unit_test(KOJ_25_replicated_are_averaged_and_measured_preferred),
        cmocka_unit_test(mean_divides_by_the_runs_that_measured),
        cmocka_unit_test(counts_are_exact_in_64_bits),
        cmocka_unit_test(contradicting_trees_and_circles_are_merged),
        cmocka_unit_test(by_name_matches_what_was_edited),
        cmocka_unit_test(by_name_matches_programs_of_other_names),
        cmocka_unit_test(equal_ranks_on_two_nodes_stay_apart),
        cmocka_unit_test(cut_keeps_subtrees_and_threads),
        cmocka_unit_test(random_cuts_lose_nothing),
        cmocka_unit_test(differing_attributes_stand_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
