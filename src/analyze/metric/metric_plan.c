/* Plans: the events that a metric needs on a platform, and the fewest runs that count them.
 *
 * The metrics that a platform offers are the tree that all its events together give. A wanted
 * metric needs the events of its value and those of all metrics below it; an option leaves out the
 * latter. They are included because the paper's sets give detail: 18 runs on UltraSPARC count the
 * parts of a stall that is also measured as a whole.
 */
#include "analyze/metric/metric_pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const core_metrics[] = {"CYCLES", "INSTRUCTION", "DATA_ACCESS", "INST_ACCESS",
                                           "TLB_ACCESS"};
enum { CORE_METRICS = sizeof core_metrics / sizeof *core_metrics };

struct planning {
    const struct chil_spec *spec;
    const struct chil_platform *platform;
    bool only;
    struct chil_metric_tree *tree;
    bool *needed; /* by event */
    bool *inside; /* by row: it is wanted or below something wanted */
    struct chil_plan *plan;
    struct arena *arena;
};

static void need(struct planning *p, size_t row)
{
    const struct terms *base = &p->tree->detail[row].base;
    for (size_t i = 0; i < base->count; i++)
        p->needed[base->term[i].symbol] = true;
    p->inside[row] = true;
}

/* A parent comes before its children, so one pass reaches everything below. */
static void need_below(struct planning *p)
{
    for (size_t i = 0; i < p->tree->rows; i++) {
        int parent = p->tree->row[i].parent;
        if (parent >= 0 && p->inside[parent] && !p->only) need(p, i);
    }
}

static const char *row_at(const void *table, size_t index)
{
    return ((const struct chil_metric_tree *)table)->row[index].name;
}

static const char *symbol_at(const void *table, size_t index)
{
    return ((const struct chil_spec *)table)->symbol[index].name;
}

static int fail(const struct planning *p, const char *name, struct chil_error *err)
{
    char hint[100];
    if (spec_find_clean(p->spec, name) >= 0)
        return chil_error_set(err, CHIL_ENOENT, "'%.80s' cannot be had from the counters of '%s'",
                              name, p->platform->name);
    const char *near = text_nearest(name, p->tree, p->tree->rows, row_at);
    if (!near) near = text_nearest(name, p->spec, p->spec->symbols, symbol_at);
    return chil_error_set(err, CHIL_ENOENT, "'%s' has no metric '%.80s'%s", p->spec->name, name,
                          text_hint(hint, sizeof hint, near));
}

static int find_row(const struct planning *p, const char *name)
{
    int row = chil_metric_tree_find(p->tree, name), symbol = spec_find_clean(p->spec, name);
    return row < 0 && symbol >= 0 ? chil_metric_tree_find(p->tree, p->spec->symbol[symbol].name)
                                  : row;
}

static void add_metric(struct planning *p, const char *name, bool partial)
{
    struct chil_plan *plan = p->plan;
    const char *kept = arena_strdup(p->arena, name);
    if (partial)
        plan->partial[plan->partials++] = kept;
    else
        plan->complete[plan->completes++] = kept;
}

/* A ratio needs the metrics that it names. */
static int want_ratio(struct planning *p, const char *name, int item, struct chil_error *err)
{
    const struct expr *e = &p->spec->detail[item].expr;
    bool partial = false;
    for (size_t i = 0; i < e->nodes; i++) {
        if (e->node[i].op != EXPR_NAME && e->node[i].op != EXPR_SECONDS) continue;
        const char *of = p->spec->symbol[e->node[i].symbol].name;
        int row = find_row(p, of);
        if (row < 0) return fail(p, of, err);
        const struct terms *base = &p->tree->detail[row].base;
        for (size_t t = 0; t < base->count; t++)
            p->needed[base->term[t].symbol] = true;
        partial |= p->tree->row[row].partial;
    }
    add_metric(p, name, partial);
    return 0;
}

static int want(struct planning *p, const char *name, struct chil_error *err)
{
    int row = find_row(p, name), symbol = spec_find_clean(p->spec, name);
    if (row < 0 && symbol >= 0 && p->spec->symbol[symbol].ratio >= 0)
        return want_ratio(p, p->spec->symbol[symbol].name, p->spec->symbol[symbol].ratio, err);
    if (row < 0) return fail(p, name, err);
    if (p->inside[row]) return 0;
    need(p, (size_t)row);
    add_metric(p, p->tree->row[row].name, p->tree->row[row].partial);
    return 0;
}

static int want_all(struct planning *p, const char *const *metrics, size_t count,
                    struct chil_error *err)
{
    int status = 0;
    size_t wanted = 0;
    for (size_t i = 0; i < count && !status; i++)
        status = want(p, metrics[i], err);
    for (size_t i = 0; i < CORE_METRICS && !count; i++)
        if (find_row(p, core_metrics[i]) >= 0) wanted += want(p, core_metrics[i], err) == 0;
    if (!status && !count && !wanted)
        status = chil_error_set(err, CHIL_ENOENT,
                                "'%s' has none of the usual hierarchies; name the metrics you want",
                                p->spec->name);
    return status;
}

/* Computations over what is needed anyway, with two inputs or more. */
static size_t find_groups(struct planning *p, struct pack_group *group, const char **name)
{
    size_t count = 0;
    for (size_t r = 0; r < p->tree->rows; r++) {
        const struct terms *base = &p->tree->detail[r].base;
        bool all = base->count > 1 && p->inside[r] && p->tree->row[r].origin == CHIL_EXP_COMPUTED;
        for (size_t i = 0; i < base->count && all; i++)
            all = p->needed[base->term[i].symbol];
        if (!all) continue;
        group[count].event = arena_calloc(p->arena, base->count, sizeof *group->event);
        group[count].count = base->count;
        for (size_t i = 0; i < base->count; i++)
            group[count].event[i] = (int)base->term[i].symbol;
        name[count++] = arena_strdup(p->arena, p->tree->row[r].name);
    }
    return count;
}

static const char *find_set(const struct chil_platform *platform, const struct chil_plan_run *run,
                            struct arena *arena)
{
    for (size_t i = 0; i < platform->sets; i++)
        if (platform_in_group(&platform->set[i], run->events, run->count))
            return arena_strdup(arena, platform->set[i].name);
    return NULL;
}

static void take_runs(struct planning *p, const struct pack *pack)
{
    const struct chil_platform *platform = p->platform;
    struct chil_plan *plan = p->plan;
    plan->runs = pack->runs;
    plan->bound = pack->bound;
    plan->events = pack->events;
    plan->run = arena_calloc(p->arena, pack->runs + 1, sizeof *plan->run);
    for (size_t r = 0; r < pack->runs; r++) {
        struct chil_plan_run *run = &plan->run[r];
        run->events = arena_calloc(p->arena, platform->counters, sizeof *run->events);
        run->counters = arena_calloc(p->arena, platform->counters, sizeof *run->counters);
        for (unsigned c = 0; c < platform->counters; c++) {
            int event = pack->run[r * PLATFORM_COUNTERS_MAX + c];
            if (event < 0) continue;
            const char *where =
                pack->fixed ? platform->group[pack->fixed[r]].name : platform->counter[c];
            run->counters[run->count] = arena_strdup(p->arena, where);
            run->events[run->count++] = arena_strdup(p->arena, platform->event[event]);
        }
        run->set = find_set(platform, run, p->arena);
    }
}

static void solve(struct planning *p)
{
    int *event = base_calloc(p->platform->events + 1, sizeof *event);
    struct pack pack = {.platform = p->platform, .event = event};
    const char **name = arena_calloc(p->arena, p->tree->rows + 1, sizeof *name);
    for (size_t i = 0; i < p->platform->events; i++)
        if (p->needed[i]) event[pack.events++] = (int)i;
    pack.group = arena_calloc(p->arena, p->tree->rows + 1, sizeof *pack.group);
    pack.groups = find_groups(p, pack.group, name);
    pack_solve(&pack);
    take_runs(p, &pack);
    p->plan->split = arena_calloc(p->arena, pack.groups + 1, sizeof *p->plan->split);
    for (size_t i = 0; i < pack.groups; i++)
        if (!pack.group[i].together) p->plan->split[p->plan->splits++] = name[i];
    pack_fini(&pack);
    free(event);
}

int chil_plan_new(struct chil_plan **plan, const struct chil_spec *spec,
                  const struct chil_platform *platform, const char *const *metrics, size_t count,
                  const struct chil_plan_options *options, struct chil_error *err)
{
    struct planning p = {.spec = spec, .platform = platform, .only = options && options->only};
    *plan = NULL;
    p.arena = base_calloc(1, sizeof *p.arena);
    arena_init(p.arena);
    p.plan = base_calloc(1, sizeof *p.plan);
    p.plan->memory = p.arena;
    p.plan->complete = arena_calloc(p.arena, count + CORE_METRICS, sizeof *p.plan->complete);
    p.plan->partial = arena_calloc(p.arena, count + CORE_METRICS, sizeof *p.plan->partial);
    p.tree = chil_metric_tree_new(spec, platform->event, platform->events, NULL);
    p.needed = base_calloc(platform->events + 1, sizeof *p.needed);
    p.inside = base_calloc(p.tree->rows + 1, sizeof *p.inside);
    int status = want_all(&p, metrics, count, err);
    if (!status) {
        need_below(&p);
        solve(&p);
        *plan = p.plan;
    } else {
        chil_plan_free(p.plan);
    }
    free(p.needed);
    free(p.inside);
    chil_metric_tree_free(p.tree);
    return status;
}

void chil_plan_free(struct chil_plan *plan)
{
    if (!plan) return;
    arena_fini(plan->memory);
    free(plan->memory);
    free(plan);
}
