/* chiliad record --limit: the world of few counters, on purpose (KOJ-48).
 *
 * A platform counts a set of events a run; what a run with a set would have seen is cut from the one exact run, because
 * every run of the simulator gives the same counts. Each view is derived by itself, as it would be after its run, then
 * all are merged and derived once more. The reference has all counters of all sets at once.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/record.h"

static bool is_in_list(const char *list, const char *name)
{
    size_t length = strlen(name);
    if (!list || strcmp(list, "all") == 0) return true;
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strcspn(at, ",") == length && strncmp(at, name, length) == 0) return true;
    return false;
}

int record_limit_check(const struct chil_platform *platform, const char *sets)
{
    char name[100];
    if (!platform || !sets || strcmp(sets, "all") == 0) return 0;
    for (const char *at = sets; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        if (!chil_platform_set(platform, name))
            return cmd_fail("record", "%s has no set '%s'; 'chiliad list sets %s' lists them",
                            chil_platform_name(platform), name, chil_platform_name(platform));
    }
    return 0;
}

struct limit {
    const struct chil_exp *exact;
    const struct chil_platform *platform;
    const char *sets;
    struct chil_spec *spec;
    struct chil_exp **view, **derived; /* by set: its counters, and with the hierarchies they give */
    size_t views;
};

static int look(struct limit *l, struct chil_error *err)
{
    size_t count;
    const struct chil_set *set = chil_platform_sets(l->platform, &count);
    l->view = calloc(count + 1, sizeof(void *));
    l->derived = calloc(count + 1, sizeof(void *));
    if (!l->view || !l->derived) return chil_error_set(err, CHIL_EINVAL, "out of memory");
    for (size_t i = 0; i < count; i++) {
        if (!is_in_list(l->sets, set[i].name)) continue;
        size_t at = l->views++;
        int status = chil_metric_limit(&l->view[at], l->exact, l->platform, set[i].events, set[i].count, err);
        if (!status) chil_exp_set_attribute(l->view[at], "counted", set[i].name);
        if (!status) status = chil_metric_derive(&l->derived[at], l->view[at], l->spec, NULL, err);
        if (status) return status;
    }
    return 0;
}

static int merge_and_derive(const struct limit *l, struct chil_exp *const *input, struct chil_exp **result,
                            struct chil_error *err)
{
    struct chil_exp *merged = NULL;
    int status = chil_exp_merge(&merged, (const struct chil_exp *const *)input, l->views, NULL, err);
    if (!status) status = chil_metric_derive(result, merged, l->spec, NULL, err);
    chil_exp_free(merged);
    return status;
}

/* The sum over call paths and threads of what two metrics differ in. */
static double difference(const struct chil_exp *a, int metric, const struct chil_exp *b, int other)
{
    double sum = 0;
    for (size_t n = 0; n < a->nodes; n++)
        for (size_t t = 0; t < a->threads; t++)
            sum += fabs(chil_exp_real(a, metric, (int)n, (int)t) - chil_exp_real(b, other, (int)n, (int)t));
    return sum;
}

static void tell(const struct limit *l, const struct chil_exp *once, const struct chil_exp *merged)
{
    size_t missing = 0, partial = 0;
    (void)fprintf(stderr, "%-24s %18s %18s %12s\n", "metric", "all at once", "merged", "difference");
    for (size_t i = 0; i < once->metrics; i++) {
        int other = chil_exp_find_metric(merged, once->metric[i].name);
        missing += other < 0;
        if (other < 0) continue;
        double a = chil_exp_sum(once, (int)i, CHIL_EXP_NONE, false, -1);
        double b = chil_exp_sum(merged, other, CHIL_EXP_NONE, false, -1);
        double apart = difference(once, (int)i, merged, other);
        char title[80];
        (void)snprintf(title, sizeof title, "%s%s", merged->metric[other].partial ? "~" : "", once->metric[i].title);
        (void)fprintf(stderr, "%-24s %18.0f %18.0f %11.4g%%\n", title, a, b, a != 0 ? 100 * apart / fabs(a) : apart);
        partial += merged->metric[other].partial;
    }
    (void)fprintf(stderr, "chiliad record: %zu sets of %s, %u counters each: %zu metrics, %zu of them partial (~)",
                  l->views, chil_platform_name(l->platform), chil_platform_counters(l->platform), merged->metrics,
                  partial);
    (void)fprintf(stderr, missing ? "; %zu are missing\n" : "\n", missing);
}

int record_limit(struct chil_exp **exp, const struct chil_platform *platform, const char *sets)
{
    struct limit l = {.exact = *exp, .platform = platform, .sets = sets};
    struct chil_exp *once = NULL, *merged = NULL;
    struct chil_error err = {0};
    int status = chil_platform_spec(&l.spec, platform, &err);
    if (!status) status = look(&l, &err);
    if (!status) status = merge_and_derive(&l, l.view, &once, &err);
    if (!status) status = merge_and_derive(&l, l.derived, &merged, &err);
    if (!status) {
        tell(&l, once, merged);
        chil_exp_free(*exp);
        *exp = merged;
    }
    for (size_t i = 0; i < l.views; i++) {
        chil_exp_free(l.view[i]);
        chil_exp_free(l.derived[i]);
    }
    free(l.view);    // NOLINT(bugprone-multi-level-implicit-pointer-conversion)
    free(l.derived); // NOLINT(bugprone-multi-level-implicit-pointer-conversion)
    chil_exp_free(once);
    chil_spec_free(l.spec);
    return status ? cmd_fail_error("record", &err) : 0;
}
