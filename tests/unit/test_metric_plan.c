/* Platforms and plans: what fits, what is refused and how, and the fewest runs, against the paper's
 * and a plain search.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rig_metric.h"
#include "random.h"

static struct chil_plan *plan_of(const struct chil_spec *spec, const struct chil_platform *platform,
                                 const char *const *metrics, size_t count, bool only)
{
    struct chil_plan *plan = NULL;
    struct chil_error err = {0};
    const struct chil_plan_options options = {.only = only};
    if (chil_plan_new(&plan, spec, platform, metrics, count, &options, &err))
        fail_msg("%s", err.text);
    return plan;
}

/* Every run fits, and all together give every wanted metric as complete as all events do. */
static void assert_plan(const struct chil_plan *plan, const struct chil_spec *spec,
                        const struct chil_platform *platform)
{
    const char *all[200];
    size_t count = 0;
    assert_true(plan->bound <= plan->runs);
    for (size_t r = 0; r < plan->runs; r++) {
        char why[300];
        if (!chil_platform_fits(platform, plan->run[r].events, plan->run[r].count, why, sizeof why))
            fail_msg("run %zu: %s", r, why);
        for (size_t i = 0; i < plan->run[r].count; i++)
            all[count++] = plan->run[r].events[i];
    }
    struct chil_metric_tree *tree = chil_metric_tree_new(spec, all, count, NULL);
    size_t rows;
    const struct chil_metric_row *row = chil_metric_tree_rows(tree, &rows);
    for (size_t i = 0; i < plan->completes; i++) {
        int at = chil_metric_tree_find(tree, plan->complete[i]);
        assert_true(at >= 0);
        assert_false(row[at].partial);
    }
    chil_metric_tree_free(tree);
}

static bool is_among(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

/* Planted: one computation only is kept together; cycles on one counter of two. */
static void KOJ_21_KOJ_30_plans_are_no_worse_than_the_papers_6_10_and_18_runs(void **state)
{
    (void)state;
    static const struct {
        const char *platform;
        size_t runs, split;
    } cases[] = {{"power4", 6, 0}, {"opteron", 10, 0}, {"ultrasparc", 18, 5}};
    for (size_t i = 0; i < 3; i++) {
        struct chil_platform *platform = rigm_platform(cases[i].platform);
        struct chil_spec *spec;
        assert_int_equal(chil_platform_spec(&spec, platform, NULL), 0);
        struct chil_plan *plan = plan_of(spec, platform, NULL, 0, false);
        assert_plan(plan, spec, platform);
        assert_int_equal(plan->runs, cases[i].runs);
        assert_int_equal(plan->bound, cases[i].runs); /* and no plan has fewer */
        assert_int_equal(plan->splits, cases[i].split);
        if (i == 2) { /* what the paper says cannot be collected together, and one that costs a run
                         more */
            assert_true(is_among(plan->split, plan->splits, "INST_HIT_L2$"));
            assert_true(is_among(plan->split, plan->splits, "DATA_STORE_INTO_MEM"));
            assert_true(is_among(plan->split, plan->splits, "DATA_LOAD_FROM_L2$"));
        }
        chil_plan_free(plan);
        chil_spec_free(spec);
        chil_platform_free(platform);
    }
}

static void single_metrics_ratios_and_only(void **state)
{
    (void)state;
    struct chil_platform *platform = rigm_platform("ultrasparc");
    struct chil_error err = {0};
    struct chil_spec *spec = rigm_spec("use ultrasparc\nratio MISSES = 100 * DC_rd_miss / DC_rd\n");
    const char *const recirculate[] = {"Re_DC_miss"}, *const ratio[] = {"MISSES"},
                      *const wrong[] = {"CYCLE"}, *const gap[] = {"MEMORY"};
    struct chil_plan *plan = plan_of(spec, platform, recirculate, 1, false);
    assert_int_equal(plan->runs, 3); /* itself and two parts, all on PIC1 */
    chil_plan_free(plan);
    plan = plan_of(spec, platform, recirculate, 1, true);
    assert_int_equal(plan->runs, 1);
    chil_plan_free(plan);
    plan = plan_of(spec, platform, ratio, 1, false);
    assert_int_equal(plan->runs, 1);
    assert_string_equal(plan->run[0].set, "US3_DCR");
    chil_plan_free(plan);
    assert_int_equal(chil_plan_new(&plan, spec, platform, wrong, 1, NULL, &err), CHIL_ENOENT);
    assert_string_equal(err.text, "'t' has no metric 'CYCLE'; did you mean 'CYCLES'?");
    assert_int_equal(chil_plan_new(&plan, spec, platform, gap, 1, NULL, &err), CHIL_ENOENT);
    assert_string_equal(err.text, "'MEMORY' cannot be had from the counters of 'ultrasparc'");
    chil_spec_free(spec);
    chil_platform_free(platform);
}

/* --- Against a plain search ------------------------------------------------------------------ */

/* The fewest runs by trying: each event goes to one of the runs begun or a new one. */
static size_t fewest(const struct chil_platform *platform, const char *const *event, size_t events,
                     size_t at, const char *run[8][8], size_t *size, size_t used, size_t best)
{
    if (used >= best) return best;
    if (at == events) return used;
    for (size_t r = 0; r <= used && r < 8; r++) {
        run[r][size[r]] = event[at];
        if (size[r] < chil_platform_counters(platform) &&
            chil_platform_fits(platform, run[r], size[r] + 1, NULL, 0)) {
            size[r]++;
            best = fewest(platform, event, events, at + 1, run, size, r == used ? used + 1 : used,
                          best);
            size[r]--;
        }
    }
    return best;
}

static void the_bound_is_reached_on_random_platforms(void **state)
{
    (void)state;
    uint64_t random = 12345;
    for (int trial = 0; trial < 300; trial++) {
        char text[2000];
        unsigned counters = 1 + (unsigned)(random_next(&random) % 3);
        unsigned events = 1 + (unsigned)(random_next(&random) % 7);
        int used = snprintf(text, sizeof text, "platform p\ncounters c0 %s %s\n",
                            counters > 1 ? "c1" : "", counters > 2 ? "c2" : "");
        char spec_text[200] = "compose ALL = E0";
        const char *event[8];
        static const char *const names[] = {"E0", "E1", "E2", "E3", "E4", "E5", "E6", "E7"};
        for (unsigned e = 0; e < events; e++) {
            unsigned mask = 1 + (unsigned)(random_next(&random) % ((1u << counters) - 1));
            event[e] = names[e];
            used += snprintf(text + used, sizeof text - (size_t)used, "events %s %s %s = E%u\n",
                             mask & 1 ? "c0" : "", mask & 2 ? "c1" : "", mask & 4 ? "c2" : "", e);
            if (e) (void)snprintf(spec_text + strlen(spec_text), 20, " + E%u", e);
        }
        struct chil_platform *platform;
        struct chil_error err = {0};
        if (chil_platform_parse(&platform, "t", text, strlen(text), &err)) fail_msg("%s", err.text);
        struct chil_spec *spec = rigm_spec(spec_text);
        const char *const all[] = {"ALL"};
        struct chil_plan *plan = plan_of(spec, platform, all, 1, false);
        const char *run[8][8];
        size_t size[8] = {0};
        assert_plan(plan, spec, platform);
        assert_int_equal(plan->runs, plan->bound);
        assert_int_equal(plan->runs, fewest(platform, event, events, 0, run, size, 0, 9));
        chil_plan_free(plan);
        chil_spec_free(spec);
        chil_platform_free(platform);
    }
}

/* With fixed groups: the smallest choice of groups that has all events. */
static void covers_are_the_smallest_on_random_groups(void **state)
{
    (void)state;
    uint64_t random = 54321;
    for (int trial = 0; trial < 200; trial++) {
        enum { EVENTS = 6, GROUPS = 7 };
        char text[1000] = "platform p\ncounters 0 1 2\nevents * = E0 E1 E2 E3 E4 E5\n";
        unsigned group[GROUPS], all = 0, fewest_groups = GROUPS;
        for (unsigned g = 0; g < GROUPS; g++) {
            do /* at most three events; the last two groups have what might be missing */
                group[g] = 1 + (unsigned)random_below(&random, (1 << EVENTS) - 1);
            while (__builtin_popcount(group[g]) > 3);
            if (g == GROUPS - 2) group[g] = 7;
            if (g == GROUPS - 1) group[g] = 56;
            all |= group[g];
            (void)snprintf(text + strlen(text), 20, "group G%u =", g);
            for (unsigned e = 0; e < EVENTS; e++)
                if (group[g] >> e & 1) (void)snprintf(text + strlen(text), 8, " E%u", e);
            (void)snprintf(text + strlen(text), 8, "\n");
        }
        /* Only some are wanted, so that two groups are not always the answer. */
        unsigned wanted = 1 + (unsigned)random_below(&random, (1 << EVENTS) - 1);
        char spec_text[100] = "compose ALL =";
        for (unsigned e = 0, first = 1; e < EVENTS; e++)
            if (wanted >> e & 1) {
                (void)snprintf(spec_text + strlen(spec_text), 10, "%s E%u", first ? "" : " +", e);
                first = 0;
            }
        for (unsigned choice = 0; choice < 1 << GROUPS; choice++) {
            unsigned covered = 0, size = (unsigned)__builtin_popcount(choice);
            for (unsigned g = 0; g < GROUPS; g++)
                if (choice >> g & 1) covered |= group[g];
            if (!(wanted & ~covered) && size < fewest_groups) fewest_groups = size;
        }
        struct chil_platform *platform;
        struct chil_error err = {0};
        if (chil_platform_parse(&platform, "t", text, strlen(text), &err)) fail_msg("%s", err.text);
        struct chil_spec *spec = rigm_spec(spec_text);
        const char *const metrics[] = {"ALL"};
        struct chil_plan *plan = plan_of(spec, platform, metrics, 1, false);
        assert_plan(plan, spec, platform);
        assert_int_equal(all, 63);
        assert_int_equal(plan->runs, fewest_groups);
        assert_int_equal(plan->bound, fewest_groups);
        chil_plan_free(plan);
        chil_spec_free(spec);
        chil_platform_free(platform);
    }
}

static void inputs_stay_together_where_that_costs_no_run(void **state)
{
    (void)state;
    static const char text[] = "platform p\ncounters 0 1 2\nevents * = A B C D E F G H I\n";
    struct chil_platform *platform;
    struct chil_error err = {0};
    assert_int_equal(chil_platform_parse(&platform, "t", text, sizeof text - 1, &err), 0);
    struct chil_spec *spec = rigm_spec(
        "compose ALL = W + X + Y + Z + C\n"
        "compute W = A - I\ncompute X = B - H - G\ncompute Y = D - E\ncompute Z = F - I\n");
    const char *const all[] = {"ALL"};
    struct chil_plan *plan = plan_of(spec, platform, all, 1, false);
    assert_plan(plan, spec, platform);
    assert_int_equal(plan->runs, 3);
    assert_int_equal(plan->splits, 0); /* A F I, B G H, C D E */
    chil_plan_free(plan);
    chil_spec_free(spec);
    chil_platform_free(platform);
}

/* --- Files ----------------------------------------------------------------------------------- */

static void platforms_that_are_wrong_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"counters 0\n", "t: 'platform NAME' is missing"},
        {"platform p\n", "t: 'counters' is missing"},
        {"platform p\nevents * = A\n", "t:2: 'counters' comes before this"},
        {"platform p\ncounters P0 P1\nevents P0 = A B\naggroup S = A B\n",
         "t:4: set 'S' does not fit: 'B' needs counter P0, which the others need too"},
        {"platform p\ncounters 0\nevents * = A B\naggroup S = A B\n",
         "t:4: set 'S' does not fit: more than the 1 counters"},
        {"platform p\ncounters 0 1\nevents * = ALPHA B\naggroup S = ALPA\n",
         "t:4: 'ALPA' is no event of the platform; did you mean 'ALPHA'?"},
        {"platform p\ncounters 0 1\nevents * = A B C\ngroup G = A B\ngroup H = C\naggroup S = A C\n",
         "t:6: set 'S' does not fit: no group of 'p' has all of these events"},
        {"platform p\ncounters 0 1\nevents * = A B\ngroup G = A\n",
         "t: event 'B' is in no group; add it to one"},
        {"platform p\ncounters 0\nevents * = A\naggroup S = A\n\naggroup S = A\n",
         "t:6: 'S' is given again; line 4 has it"},
        {"platform p\ncounters 0\nevents X = A\n", "t:3: 'X' is no counter; 'counters' names them"},
        {"platform p\ncounters 0\nevents * = A\nlike B = C\n",
         "t:4: 'B' is no event of the platform"},
        {"platform p\ncounters 0\nevents * = A\nlike A = C / D\n",
         "t:4: 'compute A' is no sum of counts; use 'ratio' for anything else"},
        {"platform p\nplatform q\n", "t:2: a file is of one platform; this is the second"},
        {"platfrom p\n", "t:1: 'platfrom' begins no statement; did you mean 'platform'?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct chil_platform *platform;
        struct chil_error err = {0};
        int status =
            chil_platform_parse(&platform, "t", cases[i].text, strlen(cases[i].text), &err);
        assert_int_equal(status, CHIL_EPARSE);
        assert_null(platform);
        assert_string_equal(err.text, cases[i].message);
    }
}

static void a_limited_run_sees_only_what_it_counts(void **state)
{
    (void)state;
    struct chil_platform *platform = rigm_platform("opteron");
    struct chil_error err = {0};
    struct chil_exp *exp = rigm_counts((struct rigm_count[]){{"BGL_D1_HIT", 100},
                                                             {"BGL_D1_L_MISS", 7},
                                                             {"BGL_D1_S_MISS", 3},
                                                             {"BGL_D1_TOUCH", 1},
                                                             {"BGL_INST", 500},
                                                             {"visits", 2},
                                                             {0}});
    struct chil_exp *limited;
    const struct chil_set *set = chil_platform_set(platform, "OPTERON_DC1");
    assert_int_equal(chil_metric_limit(&limited, exp, platform, set->events, set->count, &err), 0);
    assert_int_equal(limited->metrics, 5);
    assert_int_equal(rigm_total(limited, "DC_ACCESS"), 111);
    assert_int_equal(rigm_total(limited, "DC_MISS"), 11);
    assert_int_equal(rigm_total(limited, "DC_L2_REFILL_I"), 0);
    assert_int_equal(rigm_total(limited, "visits"), 2);
    assert_false(rigm_has(limited, "BGL_INST"));
    chil_exp_free(limited);
    static const char *const too_many[] = {"DC_ACCESS", "DC_MISS", "FR_BR", "IC_FETCH", "IC_MISS"};
    assert_int_equal(chil_metric_limit(&limited, exp, platform, too_many, 5, &err), CHIL_EINVAL);
    assert_string_equal(err.text, "5 events do not fit the 4 counters of 'opteron'");
    static const char *const nothing_like[] = {"FR_HW_INTS", "FR_X86_INS"};
    assert_int_equal(chil_metric_limit(&limited, exp, platform, nothing_like, 2, &err), 0);
    assert_false(rigm_has(limited, "FR_HW_INTS"));
    assert_int_equal(rigm_total(limited, "FR_X86_INS"), 500);
    chil_exp_free(limited);
    chil_exp_free(exp);
    chil_platform_free(platform);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(KOJ_21_KOJ_30_plans_are_no_worse_than_the_papers_6_10_and_18_runs),
        cmocka_unit_test(single_metrics_ratios_and_only),
        cmocka_unit_test(the_bound_is_reached_on_random_platforms),
        cmocka_unit_test(covers_are_the_smallest_on_random_groups),
        cmocka_unit_test(inputs_stay_together_where_that_costs_no_run),
        cmocka_unit_test(platforms_that_are_wrong_are_refused),
        cmocka_unit_test(a_limited_run_sees_only_what_it_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
