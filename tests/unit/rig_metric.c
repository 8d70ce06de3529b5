#include "rig_metric.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct chil_exp *rigm_experiment(int nodes)
{
    struct chil_exp *exp = chil_exp_new();
    int machine = chil_exp_add_place(exp, CHIL_EXP_NONE, CHIL_EXP_MACHINE, "m", 0);
    int node = chil_exp_add_place(exp, machine, CHIL_EXP_NODE, "n", 0);
    int process = chil_exp_add_place(exp, node, CHIL_EXP_PROCESS, "p", 0);
    (void)chil_exp_add_place(exp, process, CHIL_EXP_THREAD, "t", 0);
    for (int i = 0; i < nodes; i++) {
        char name[20];
        (void)snprintf(name, sizeof name, "f%d", i);
        const struct chil_exp_region region = {
            .name = name, .module = (char *)"a.c", .begin = -1, .end = -1};
        int index = chil_exp_add_region(exp, &region);
        (void)chil_exp_add_node(exp, i - 1, index, -1, "");
    }
    return exp;
}

void rigm_add(struct chil_exp *exp, const char *name, int node, int64_t count)
{
    char clean[200];
    int metric = chil_exp_find_metric(exp, chil_metric_clean_name(clean, sizeof clean, name));
    if (metric < 0) {
        const struct chil_exp_metric row = {.name = clean,
                                            .title = (char *)name,
                                            .unit = (char *)"occ",
                                            .parent = CHIL_EXP_NONE,
                                            .runs = 1};
        metric = chil_exp_add_metric(exp, &row);
    }
    assert_true(metric >= 0);
    chil_exp_add_count(exp, metric, node, 0, count);
}

struct chil_exp *rigm_counts(const struct rigm_count *counts)
{
    struct chil_exp *exp = rigm_experiment(1);
    for (; counts->name; counts++)
        rigm_add(exp, counts->name, 0, counts->count);
    return exp;
}

struct chil_spec *rigm_spec(const char *text)
{
    struct chil_spec *spec = NULL;
    struct chil_error err = {0};
    if (chil_spec_parse(&spec, "t", text, strlen(text), &err)) fail_msg("%s", err.text);
    return spec;
}

struct chil_spec *rigm_open(const char *name)
{
    struct chil_spec *spec = NULL;
    struct chil_error err = {0};
    assert_int_equal(setenv("CHILIAD_DATA", "data", 1), 0);
    if (chil_spec_open(&spec, name, &err)) fail_msg("%s", err.text);
    return spec;
}

struct chil_platform *rigm_platform(const char *name)
{
    struct chil_platform *platform = NULL;
    struct chil_error err = {0};
    assert_int_equal(setenv("CHILIAD_DATA", "data", 1), 0);
    if (chil_platform_open(&platform, name, &err)) fail_msg("%s", err.text);
    return platform;
}

struct chil_exp *rigm_derive(const struct chil_exp *exp, const struct chil_spec *spec,
                             const struct chil_metric_options *options)
{
    struct chil_exp *result = NULL;
    struct chil_error err = {0};
    if (chil_metric_derive(&result, exp, spec, options, &err)) fail_msg("%s", err.text);
    return result;
}

static int find(const struct chil_exp *exp, const char *name)
{
    int metric = chil_metric_find(exp, name);
    if (metric < 0) fail_msg("there is no metric '%s'", name);
    return metric;
}

int64_t rigm_total(const struct chil_exp *exp, const char *name)
{
    int metric = find(exp, name);
    double total = chil_exp_sum(exp, metric, CHIL_EXP_NONE, false, -1);
    if (exp->metric[metric].kind == CHIL_EXP_COUNT)
        assert_true((double)chil_exp_sum_count(exp, metric, CHIL_EXP_NONE, false, -1) == total);
    return (int64_t)total;
}

bool rigm_partial(const struct chil_exp *exp, const char *name)
{
    return exp->metric[find(exp, name)].partial;
}

bool rigm_has(const struct chil_exp *exp, const char *name)
{
    return chil_metric_find(exp, name) >= 0;
}

const char *rigm_refused(const char *text)
{
    static struct chil_error err;
    struct chil_spec *spec = NULL;
    err = (struct chil_error){0};
    if (chil_spec_parse(&spec, "t", text, strlen(text), &err) == 0)
        fail_msg("this is taken: %s", text);
    assert_null(spec);
    assert_true(err.status == CHIL_EPARSE && *err.text && !strchr(err.text, '\n'));
    return err.text;
}
