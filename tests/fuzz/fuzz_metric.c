/* Fuzzes specifications of metrics and counter sets: any text is read, or refused in one line; what
 * was read can be used.
 *
 * `tools/fuzz metric SECONDS` from the root of the repository; the seeds are in
 * tests/fuzz/corpus/metric. The input is a specification, a line `%%`, and a platform. Counters
 * named A to H are there, so that things are derived; rules and ratios are evaluated, and a plan is
 * made.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chiliad/metric.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void require(bool holds, const char *what, const char *text)
{
    if (holds) return;
    (void)fprintf(stderr, "%s: %s\n", what, text);
    abort();
}

static void require_line(int status, const struct chil_error *err)
{
    require(status < 0 && err->status == status && *err->text && !strchr(err->text, '\n'),
            "no line that says why", err->text);
}

static struct chil_exp *small_experiment(void)
{
    static const char *const names[] = {"A", "B", "C", "D", "E", "F", "G", "H", "CYC"};
    struct chil_exp *exp = chil_exp_new();
    const struct chil_exp_region region = {.name = (char *)"main", .begin = -1, .end = -1};
    int machine = chil_exp_add_place(exp, CHIL_EXP_NONE, CHIL_EXP_MACHINE, "m", 0);
    int node = chil_exp_add_place(exp, machine, CHIL_EXP_NODE, "n", 0);
    int process = chil_exp_add_place(exp, node, CHIL_EXP_PROCESS, "p", 0);
    (void)chil_exp_add_place(exp, process, CHIL_EXP_THREAD, "t", 0);
    int main_region = chil_exp_add_region(exp, &region);
    (void)chil_exp_add_node(exp, CHIL_EXP_NONE, main_region, -1, "");
    for (int i = 0; i < 9; i++) {
        const struct chil_exp_metric metric = {
            .name = (char *)names[i], .unit = (char *)"occ", .parent = CHIL_EXP_NONE, .runs = 1};
        chil_exp_add_count(exp, chil_exp_add_metric(exp, &metric), 0, 0, 1 << (2 * i));
    }
    return exp;
}

static void use_spec(const struct chil_spec *spec)
{
    struct chil_exp *exp = small_experiment(), *derived = NULL, *again = NULL;
    struct chil_findings *findings = NULL;
    size_t count;
    const struct chil_spec_item *items = chil_spec_items(spec, &count);
    const struct chil_metric_options options = {.partial_computations = true, .approximate = true};
    require(chil_metric_derive(&derived, exp, spec, &options, NULL) == 0, "not derived", "");
    require(chil_metric_derive(&again, derived, spec, &options, NULL) == 0, "not derived again",
            "");
    require(again->metrics == derived->metrics, "deriving again gives other metrics", "");
    for (size_t i = 0; i < count; i++) {
        struct chil_ratio_value value;
        if (items[i].kind == CHIL_SPEC_RATIO)
            require(chil_ratio(derived, spec, items[i].name, 0, false, -1, &value, NULL) == 0,
                    "no ratio", items[i].name);
    }
    require(chil_findings_new(&findings, derived, spec, NULL) == 0, "no findings", "");
    chil_findings_free(findings);
    chil_exp_free(again);
    chil_exp_free(derived);
    chil_exp_free(exp);
}

static void use_platform(const struct chil_platform *platform, const struct chil_spec *spec)
{
    struct chil_plan *plan = NULL;
    struct chil_error err = {0};
    size_t sets, events;
    const struct chil_set *set = chil_platform_sets(platform, &sets);
    (void)chil_platform_events(platform, &events);
    for (size_t i = 0; i < sets; i++)
        require(chil_platform_fits(platform, set[i].events, set[i].count, NULL, 0), "does not fit",
                set[i].name);
    if (!spec || events > 40) return;
    int status = chil_plan_new(&plan, spec, platform, NULL, 0, NULL, &err);
    if (status) require_line(status, &err);
    for (size_t i = 0; plan && i < plan->runs; i++)
        require(chil_platform_fits(platform, plan->run[i].events, plan->run[i].count, NULL, 0),
                "run does not fit", "");
    chil_plan_free(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const char cut[] = "\n%%\n";
    struct chil_spec *spec = NULL;
    struct chil_platform *platform = NULL;
    struct chil_error err = {0};
    const uint8_t *at = memmem(bytes, length, cut, sizeof cut - 1);
    size_t first = at ? (size_t)(at - bytes) + 1 : length,
           rest = at ? first + sizeof cut - 2 : length;
    int status = chil_spec_parse(&spec, "t", bytes, first, &err);
    if (status)
        require_line(status, &err);
    else
        use_spec(spec);
    status = chil_platform_parse(&platform, "p", bytes + rest, length - rest, &err);
    if (status)
        require_line(status, &err);
    else
        use_platform(platform, spec);
    chil_platform_free(platform);
    chil_spec_free(spec);
    return 0;
}
