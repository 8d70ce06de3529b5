/* chiliad record --limit: imitates a platform with few counters (KOJ-48).
 *
 * A platform counts one set of events in a run. Every run of the simulator gives the same counts,
 * so the counts of a set are cut from the one exact run; with --perturb they are cut from a run of
 * their own. Metrics are derived from each set alone, then all are merged and derived again. With
 * --rotate sets take turns in one run, and metrics are derived from estimates. The reference has
 * all counters of all sets at once.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd/record.h"

/* The sets of a list, in its order: it is that in which they take turns. */
static int choose(struct record_limit *limit, const char *list)
{
    size_t count;
    const struct chil_set *set = chil_platform_sets(limit->platform, &count);
    bool all = !list || strcmp(list, "all") == 0;
    char name[100];
    for (const char *at = list; at && !all; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        set = chil_platform_set(limit->platform, name);
        if (!set)
            return cmd_fail("record", "%s has no set '%s'; 'chiliad list sets %s' lists them",
                            chil_platform_name(limit->platform), name,
                            chil_platform_name(limit->platform));
        for (size_t i = 0; i < limit->sets; i++)
            if (limit->set[i] == set) return cmd_fail("record", "--sets has '%s' twice", name);
        limit->set[limit->sets++] = set;
    }
    for (size_t i = 0; i < count && all; i++)
        limit->set[limit->sets++] = &set[i];
    return limit->sets
               ? 0
               : cmd_fail("record", "%s has no sets to count", chil_platform_name(limit->platform));
}

int record_limit_open(struct record_limit *limit, const char *platform, const char *sets)
{
    struct chil_error err = {0};
    size_t count;
    if (chil_platform_open(&limit->platform, platform, &err) ||
        chil_platform_spec(&limit->spec, limit->platform, &err))
        return cmd_fail_error("record", &err);
    (void)chil_platform_sets(limit->platform, &count);
    limit->set = calloc(count + 1, sizeof(void *));
    return limit->set ? choose(limit, sets) : cmd_fail("record", "out of memory");
}

void record_limit_close(struct record_limit *limit)
{
    free(limit->set); // NOLINT(bugprone-multi-level-implicit-pointer-conversion)
    chil_spec_free(limit->spec);
    chil_platform_free(limit->platform);
}

/* --- What was counted ------------------------------------------------------------------------ */

static void free_all(struct chil_exp **exp, size_t count)
{
    for (size_t i = 0; exp && i < count; i++)
        chil_exp_free(exp[i]);
    free(exp); // NOLINT(bugprone-multi-level-implicit-pointer-conversion)
}

int record_counted_init(struct record_counted *counted, const struct record_limit *limit, bool runs)
{
    *counted = (struct record_counted){0};
    if (limit->turn_cycles) counted->turn = calloc(limit->sets, sizeof(void *));
    if (runs) counted->run = calloc(limit->sets, sizeof(void *));
    bool good = (!limit->turn_cycles || counted->turn) && (!runs || counted->run);
    return good ? 0 : cmd_fail("record", "out of memory");
}

void record_counted_fini(struct record_counted *counted, const struct record_limit *limit)
{
    chil_exp_free(counted->exact);
    free_all(counted->turn, limit->sets);
    free_all(counted->run, limit->sets);
}

/* --- What the platform makes of it ----------------------------------------------------------- */

struct views {
    struct chil_exp **exact, **own,
        **derived; /* by set: its events in the exact run, in its own, and derived */
};

static int look(const struct record_limit *l, const struct record_counted *counted,
                const struct views *v, struct chil_error *err)
{
    for (size_t i = 0; i < l->sets; i++) {
        const struct chil_set *set = l->set[i];
        int status = chil_metric_limit(&v->exact[i], counted->exact, l->platform, set->events,
                                       set->count, err);
        if (!status && counted->run)
            status = chil_metric_limit(&v->own[i], counted->run[i], l->platform, set->events,
                                       set->count, err);
        if (status) return status;
        struct chil_exp *own = counted->run ? v->own[i] : v->exact[i];
        chil_exp_set_attribute(own, "counted", set->name);
        status = chil_metric_derive(&v->derived[i], own, l->spec, NULL, err);
        if (status) return status;
    }
    return 0;
}

static int apply(const struct record_limit *l, const struct record_counted *counted,
                 const struct views *v, struct chil_exp **result, struct chil_error *err)
{
    struct chil_exp *events = NULL, *turns = NULL, *once = NULL, *whole = NULL, *estimate = NULL;
    const struct chil_exp *const *exact = (const struct chil_exp *const *)v->exact;
    const struct chil_exp *const *derived = (const struct chil_exp *const *)v->derived;
    int status = look(l, counted, v, err);
    if (!status) status = chil_exp_merge(&events, exact, l->sets, NULL, err);
    if (!status) status = chil_metric_derive(&once, events, l->spec, NULL, err);
    if (!status) status = chil_metric_merge(&whole, derived, l->sets, NULL, l->spec, NULL, err);
    if (!status && counted->turn)
        status =
            chil_metric_turns(&turns, counted->exact, (const struct chil_exp *const *)counted->turn,
                              l->platform, l->set, l->sets, err);
    if (!status && counted->turn) status = chil_metric_derive(&estimate, turns, l->spec, NULL, err);
    if (!status) {
        const struct record_ways ways = {once, whole, estimate, events, turns};
        if (l->compare) record_tell_all(l, &ways);
        if (l->rotate) record_tell_turns(l, counted, &ways);
        if (!l->compare && !l->rotate) record_tell_runs(l, &ways);
        *result = l->rotate ? estimate : whole;
    }
    if (status || *result != estimate) chil_exp_free(estimate);
    if (status || *result != whole) chil_exp_free(whole);
    chil_exp_free(events);
    chil_exp_free(turns);
    chil_exp_free(once);
    return status;
}

int record_limit_apply(const struct record_limit *limit, const struct record_counted *counted,
                       struct chil_exp **result)
{
    struct chil_error err = {0};
    struct views v = {.exact = calloc(limit->sets, sizeof(void *)),
                      .own = calloc(limit->sets, sizeof(void *)),
                      .derived = calloc(limit->sets, sizeof(void *))};
    int status = CHIL_EINVAL;
    if (v.exact && v.own && v.derived)
        status = apply(limit, counted, &v, result, &err);
    else
        (void)chil_error_set(&err, CHIL_EINVAL, "out of memory");
    free_all(v.exact, limit->sets);
    free_all(v.own, limit->sets);
    free_all(v.derived, limit->sets);
    return status ? cmd_fail_error("record", &err) : 0;
}
