/* The public platform functions, and limited runs: from an experiment with all counts, what a run
 * with one counter set of a platform records.
 *
 * An event of the platform is a sum of the machine's counters (`like` lines of the sets file), or
 * the metric of the same name in the experiment. The counts are exact; the platform only limits
 * which events are counted.
 */
#include "analyze/metric/metric_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chiliad/catalog.h"

int chil_platform_names(char ***names, size_t *count, struct chil_error *err)
{
    return metric_names(names, count, "sets", err);
}

const char *chil_platform_name(const struct chil_platform *platform)
{
    return platform->name;
}

const char *chil_platform_text(const struct chil_platform *platform)
{
    return platform->text;
}

const char *chil_platform_metrics(const struct chil_platform *platform)
{
    return *platform->metrics ? platform->metrics : platform->name;
}

unsigned chil_platform_counters(const struct chil_platform *platform)
{
    return platform->counters;
}

const char *const *chil_platform_events(const struct chil_platform *platform, size_t *count)
{
    *count = platform->events;
    return platform->event;
}

const struct chil_set *chil_platform_sets(const struct chil_platform *platform, size_t *count)
{
    *count = platform->sets;
    return platform->set;
}

const struct chil_set *chil_platform_set(const struct chil_platform *platform, const char *name)
{
    for (size_t i = 0; i < platform->sets; i++)
        if (strcmp(platform->set[i].name, name) == 0) return &platform->set[i];
    return NULL;
}

static int like_item(const struct chil_platform *platform, const char *event)
{
    int symbol = spec_find(platform->likes, event);
    return symbol >= 0 ? platform->likes->symbol[symbol].compute : METRIC_NONE;
}

const char *chil_platform_like(const struct chil_platform *platform, const char *event)
{
    int item = like_item(platform, event);
    return item >= 0 ? platform->likes->item[item].formula : NULL;
}

int chil_platform_spec(struct chil_spec **spec, const struct chil_platform *platform,
                       struct chil_error *err)
{
    char path[METRIC_PATH_MAX];
    struct text_file file;
    const char *name = chil_platform_metrics(platform);
    *spec = NULL;
    int status = metric_open(&file, path, "metrics", "specification of metrics", name, err);
    if (status) return status;
    struct chil_spec *new = spec_new(name);
    status = spec_read(new, &file, path, 0, err);
    if (!status) status = spec_add(new, platform->own);
    if (!status) status = spec_link(new, err);
    *spec = status ? NULL : new;
    if (status) chil_spec_free(new);
    return status;
}

/* --- The limited view ------------------------------------------------------------------------ */

static bool is_no_counter(const struct chil_exp_metric *metric)
{
    return strcmp(metric->unit, "sec") == 0 || strcasecmp(metric->name, "visits") == 0;
}

/* Adds `factor` times a metric of `exp` to one of `result`. */
static void add_times(struct chil_exp *result, int to, const struct chil_exp *exp, int from,
                      double factor)
{
    size_t count;
    const struct chil_exp_cell *cell = chil_exp_cells(exp, from, &count);
    bool whole = result->metric[to].kind == CHIL_EXP_COUNT,
         counts = exp->metric[from].kind == CHIL_EXP_COUNT;
    for (size_t i = 0; i < count; i++) {
        if (whole)
            chil_exp_add_count(result, to, (int)cell[i].node, (int)cell[i].thread,
                               (int64_t)((uint64_t)cell[i].count * (uint64_t)(int64_t)factor));
        else
            chil_exp_add_real(result, to, (int)cell[i].node, (int)cell[i].thread,
                              factor * (counts ? (double)cell[i].count : cell[i].real));
    }
}

static void copy_metric(struct chil_exp *result, const struct chil_exp *exp, int from, int *made)
{
    struct chil_exp_metric metric = exp->metric[from];
    metric.parent = metric.parent >= 0 ? made[metric.parent] : CHIL_EXP_NONE;
    made[from] = chil_exp_add_metric(result, &metric);
    if (made[from] >= 0) add_times(result, made[from], exp, from, 1);
}

/* The counters of an event in this experiment; false: one of them is not there, or nothing is like
 * it. */
static bool find_terms(const struct chil_platform *platform, const struct chil_exp *exp,
                       const struct chil_machine *machine, const char *event, struct term *term,
                       size_t *count)
{
    int own = chil_metric_find(exp, event), item = like_item(platform, event);
    *count = 0;
    if (own >= 0) {
        term[(*count)++] = (struct term){.symbol = (size_t)own, .factor = 1};
        return true;
    }
    if (item < 0) return false;
    const struct terms *like = &platform->likes->detail[item].terms;
    for (size_t i = 0; i < like->count; i++) {
        const char *name = platform->likes->symbol[like->term[i].symbol].name;
        int metric = chil_metric_find(exp, name);
        if (metric < 0 && !metric_is_zero(machine, name)) return false;
        if (metric < 0) continue;
        term[(*count)++] = (struct term){.symbol = (size_t)metric, .factor = like->term[i].factor};
    }
    return true;
}

static size_t longest_like(const struct chil_platform *platform)
{
    size_t longest = 1;
    for (size_t i = 0; i < platform->likes->items; i++)
        if (platform->likes->detail[i].terms.count > longest)
            longest = platform->likes->detail[i].terms.count;
    return longest;
}

static void add_event(struct chil_exp *result, const struct chil_exp *exp, const char *event,
                      const struct term *term, size_t count)
{
    char name[METRIC_NAME_MAX];
    struct chil_exp_metric metric = {
        .parent = CHIL_EXP_NONE, .origin = CHIL_EXP_MEASURED, .runs = 1};
    metric.name = (char *)chil_metric_clean_name(name, sizeof name, event);
    metric.title = (char *)event;
    metric.unit = count ? exp->metric[term[0].symbol].unit : (char *)"occ";
    metric.exactness = count ? exp->metric[term[0].symbol].exactness : (char *)"exact";
    for (size_t i = 0; i < count; i++) {
        double factor = term[i].factor;
        if (exp->metric[term[i].symbol].kind == CHIL_EXP_REAL || factor != rint(factor) ||
            fabs(factor) > 1e9)
            metric.kind = CHIL_EXP_REAL;
        if (strcmp(metric.exactness, exp->metric[term[i].symbol].exactness) != 0)
            metric.exactness = (char *)"modelled";
    }
    int to = chil_exp_add_metric(result, &metric);
    for (size_t i = 0; i < count && to >= 0; i++)
        add_times(result, to, exp, (int)term[i].symbol, term[i].factor);
}

int chil_metric_limit(struct chil_exp **result, const struct chil_exp *exp,
                      const struct chil_platform *platform, const char *const *events, size_t count,
                      struct chil_error *err)
{
    char why[250];
    *result = NULL;
    if (!chil_platform_fits(platform, events, count, why, sizeof why))
        return chil_error_set(err, CHIL_EINVAL, "%s", why);
    struct chil_exp *limited = metric_copy_frame(exp);
    struct term *term = base_calloc(longest_like(platform), sizeof *term);
    int *made = base_calloc(exp->metrics + 1, sizeof *made);
    struct chil_machine *machine = metric_machine_of(exp);
    for (size_t i = 0; i < exp->metrics; i++) {
        made[i] = CHIL_EXP_NONE;
        if (is_no_counter(&exp->metric[i])) copy_metric(limited, exp, (int)i, made);
    }
    for (size_t i = 0; i < count; i++) {
        size_t terms;
        if (find_terms(platform, exp, machine, events[i], term, &terms))
            add_event(limited, exp, events[i], term, terms);
    }
    chil_exp_set_attribute(limited, "platform", platform->name);
    if (chil_exp_attribute(exp, "counted")) chil_exp_set_attribute(limited, "counted", "set");
    chil_machine_free(machine);
    free(term);
    free(made);
    *result = limited;
    return 0;
}
