/* Derives an experiment with metric trees from one with counts (KOJ-44).
 *
 * Only measured counts are read. A measured count is found by the metric's name and by the counter
 * that its formula names. So an experiment that was derived before, or merged from derived ones, is
 * derived again from the same counts, and compositions whose parts are now complete lose their `~`.
 * Metrics that the specification does not mention are copied: trees (time) unchanged, single
 * counters after the trees.
 *
 * With `keep_counters` the result has the trees and all counters of the input. Metrics of the trees
 * are marked `derived`, but for counters under their own names. Deriving from that reads the
 * counters and ignores the marked metrics.
 */
#include "analyze/metric/metric_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chiliad/catalog.h"

struct derivation {
    const struct chil_exp *exp;
    const struct chil_spec *spec;
    const struct chil_metric_options *options;
    struct chil_exp *result;
    double clock;
    struct tree_base *name;
    size_t names, capacity;
    int *carried; /* by metric of exp: its index in the result, or METRIC_NONE */
};

/* --- Everything but metrics ------------------------------------------------------------------ */

/* A new experiment with the same program, places and metadata. */
struct chil_exp *metric_copy_frame(const struct chil_exp *exp)
{
    struct chil_exp *to = chil_exp_new();
    for (size_t i = 0; i < exp->attributes; i++)
        chil_exp_set_attribute(to, exp->attribute[i].key, exp->attribute[i].value);
    for (size_t i = 0; i < exp->regions; i++)
        (void)chil_exp_add_region(to, &exp->region[i]);
    for (size_t i = 0; i < exp->nodes; i++)
        (void)chil_exp_add_node(to, exp->node[i].parent, exp->node[i].region, exp->node[i].line,
                                exp->node[i].module);
    for (size_t i = 0; i < exp->places; i++)
        (void)chil_exp_add_place(to, exp->place[i].parent, exp->place[i].level, exp->place[i].name,
                                 exp->place[i].rank);
    for (size_t i = 0; i < exp->topologies; i++)
        (void)chil_exp_add_topology(to, &exp->topology[i]);
    return to;
}

/* --- Bases ----------------------------------------------------------------------------------- */

static void add_name(struct derivation *d, const char *name, size_t base, bool alias)
{
    d->name = base_grow(d->name, &d->capacity, d->names + 1, sizeof *d->name);
    d->name[d->names++] = (struct tree_base){.name = name, .base = base, .alias = alias};
}

/* Whether a metric is in a tree that was not derived from counters here. */
static bool has_family(const struct chil_exp *exp, size_t metric)
{
    int parent = exp->metric[metric].parent;
    if (parent >= 0 && !exp->metric[parent].derived) return true;
    for (size_t i = metric + 1; i < exp->metrics; i++)
        if (exp->metric[i].parent == (int)metric && !exp->metric[i].derived) return true;
    return false;
}

static bool is_one_name(const char *formula)
{
    return *formula && !strpbrk(formula, " \t()+*-");
}

/* Which metrics are base counts, which go over as they are, which are derived anew. */
static void sort_metrics(struct derivation *d)
{
    const struct chil_exp *exp = d->exp;
    for (size_t i = 0; i < exp->metrics; i++) {
        const struct chil_exp_metric *m = &exp->metric[i];
        int symbol = spec_find_clean(d->spec, m->name);
        d->carried[i] = METRIC_NONE;
        if (m->derived) continue;
        if (symbol < 0 && (m->origin != CHIL_EXP_MEASURED || has_family(exp, i))) {
            d->carried[i] = 0;
        } else if (m->origin == CHIL_EXP_MEASURED) {
            add_name(d, m->name, i, false);
            if (is_one_name(m->formula)) add_name(d, m->formula, i, true);
        }
    }
}

struct chil_machine *metric_machine_of(const struct chil_exp *exp)
{
    struct chil_machine *machine = NULL;
    const char *counted = chil_exp_attribute(exp, "counted"),
               *name = chil_exp_attribute(exp, "machine");
    if (!counted || strcmp(counted, "all") != 0 || !name || !*name || strchr(name, '/'))
        return NULL;
    struct chil_error err = {0};
    int status = chil_machine_open(&machine, name, &err);
    if (status == CHIL_EIO) base_end(err.text);
    return status ? NULL : machine;
}

bool metric_is_zero(const struct chil_machine *machine, const char *name)
{
    const struct chil_event *event;
    return machine && !chil_machine_find_event(machine, name, &event, NULL) && !event->reserved &&
           event->exactness != CHIL_NONE;
}

/* Counters that were counted and never moved. */
static void add_zeros(struct derivation *d)
{
    struct chil_machine *machine = metric_machine_of(d->exp);
    for (size_t i = 0; i < d->spec->symbols && machine; i++) {
        const char *name = d->spec->symbol[i].name;
        int found = chil_exp_find_metric(d->exp, name);
        if (spec_defines(d->spec, i) || (found >= 0 && !d->exp->metric[found].derived) ||
            !metric_is_zero(machine, name))
            continue;
        add_name(d, name, 0, true);
        d->name[d->names - 1].zero = true;
    }
    chil_machine_free(machine);
}

/* A derived metric whose inputs are gone is still worth more than nothing: it becomes a base. */
static void keep_orphans(struct derivation *d)
{
    struct chil_metric_tree *tree = tree_new(d->spec, d->name, d->names, d->options);
    for (size_t i = 0; i < d->exp->metrics; i++) {
        const struct chil_exp_metric *m = &d->exp->metric[i];
        int symbol = spec_find_clean(d->spec, m->name);
        if (symbol < 0 || m->derived || m->origin == CHIL_EXP_MEASURED || m->partial) continue;
        if (chil_metric_tree_find(tree, d->spec->symbol[symbol].name) < 0)
            add_name(d, m->name, i, false);
    }
    chil_metric_tree_free(tree);
}

/* --- Metrics --------------------------------------------------------------------------------- */

/* Copies the metrics of [from, to) that are carried. */
static void carry(struct derivation *d, size_t from, size_t to)
{
    const struct chil_exp *exp = d->exp;
    for (size_t i = from; i < to; i++) {
        if (d->carried[i] < 0) continue;
        struct chil_exp_metric metric = exp->metric[i];
        metric.parent = metric.parent >= 0 ? d->carried[metric.parent] : CHIL_EXP_NONE;
        d->carried[i] = chil_exp_add_metric(d->result, &metric);
        if (d->carried[i] < 0) continue; /* it is in a tree already */
        size_t count;
        const struct chil_exp_cell *cell = chil_exp_cells(exp, (int)i, &count);
        for (size_t c = 0; c < count; c++)
            if (metric.kind == CHIL_EXP_COUNT)
                chil_exp_add_count(d->result, d->carried[i], (int)cell[c].node, (int)cell[c].thread,
                                   cell[c].count);
            else
                chil_exp_add_real(d->result, d->carried[i], (int)cell[c].node, (int)cell[c].thread,
                                  cell[c].real);
    }
}

static const char *joint(const char *so_far, const char *more)
{
    if (!so_far || strcmp(so_far, more) == 0) return more;
    if (!*so_far || !*more) return "";
    return strcmp(so_far, "estimated") == 0 || strcmp(more, "estimated") == 0 ? "estimated"
                                                                              : "modelled";
}

/* What a sum of bases is: whole numbers or not, how exact, over how many runs. */
static void describe(const struct derivation *d, const struct terms *base,
                     struct chil_exp_metric *metric)
{
    const char *exactness = NULL;
    double low = 0, high = 0;
    metric->kind = CHIL_EXP_COUNT;
    metric->runs = 1;
    for (size_t i = 0; i < base->count; i++) {
        const struct chil_exp_metric *from = &d->exp->metric[base->term[i].symbol];
        double factor = base->term[i].factor;
        if (from->kind == CHIL_EXP_REAL || factor != rint(factor) || fabs(factor) > 1e9)
            metric->kind = CHIL_EXP_REAL;
        exactness = joint(exactness, from->exactness ? from->exactness : "");
        if (from->runs > metric->runs) metric->runs = from->runs;
        low += factor * (factor < 0 ? from->high : from->low);
        high += factor * (factor < 0 ? from->low : from->high);
    }
    metric->exactness = (char *)(exactness ? exactness : "exact");
    metric->low = low;
    metric->high = high;
}

static void add_values(struct derivation *d, const struct terms *base, int metric, double scale)
{
    bool whole = d->result->metric[metric].kind == CHIL_EXP_COUNT;
    for (size_t i = 0; i < base->count; i++) {
        int from = (int)base->term[i].symbol;
        double factor = base->term[i].factor * scale;
        bool counts = d->exp->metric[from].kind == CHIL_EXP_COUNT;
        size_t count;
        const struct chil_exp_cell *cell = chil_exp_cells(d->exp, from, &count);
        for (size_t c = 0; c < count; c++) {
            int node = (int)cell[c].node, thread = (int)cell[c].thread;
            if (whole)
                chil_exp_add_count(d->result, metric, node, thread,
                                   (int64_t)((uint64_t)cell[c].count * (uint64_t)(int64_t)factor));
            else
                chil_exp_add_real(d->result, metric, node, thread,
                                  factor * (counts ? (double)cell[c].count : cell[c].real));
        }
    }
}

/* The hierarchies whose unit is known whatever counters say of theirs. */
static const struct {
    const char *root, *unit;
} units[] = {{"CYCLES", "cycles"},
             {"INSTRUCTION", "occ"},
             {"DATA_ACCESS", "occ"},
             {"INST_ACCESS", "occ"},
             {"TLB_ACCESS", "occ"}};

static const char *unit_of_root(const struct chil_metric_tree *tree, size_t row)
{
    while (tree->row[row].parent >= 0)
        row = (size_t)tree->row[row].parent;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(tree->row[row].name, units[i].root) == 0) return units[i].unit;
    return "";
}

static const char *stated_unit(const struct chil_spec *spec, const char *name)
{
    int symbol = spec_find_clean(spec, name);
    if (symbol < 0) return "";
    const struct symbol *s = &spec->symbol[symbol];
    const int items[] = {s->measures ? s->measure[0] : METRIC_NONE, s->compose, s->compute};
    for (size_t i = 0; i < 3; i++)
        if (items[i] >= 0 && *spec->item[items[i]].unit) return spec->item[items[i]].unit;
    return "";
}

static const char *unit_of(const struct derivation *d, const struct chil_metric_tree *tree,
                           size_t row)
{
    const struct terms *base = &tree->detail[row].base;
    const char *counted = base->count ? d->exp->metric[base->term[0].symbol].unit : "";
    const char *unit = stated_unit(d->spec, tree->row[row].name);
    if (!*unit && strcmp(counted, "sec") != 0 && !tree->row[row].apart)
        unit = unit_of_root(tree, row);
    if (!*unit) unit = counted;
    return *unit ? unit : "occ";
}

static int add_row(struct derivation *d, const struct chil_metric_tree *tree, size_t row,
                   const int *made)
{
    char name[METRIC_NAME_MAX];
    const struct chil_metric_row *r = &tree->row[row];
    const struct terms *base = &tree->detail[row].base;
    const struct chil_exp_metric *from = base->count ? &d->exp->metric[base->term[0].symbol] : NULL;
    const char *unit = unit_of(d, tree, row);
    bool seconds = d->options->seconds && !r->apart && strcmp(unit, "cycles") == 0;
    struct chil_exp_metric metric = {.origin = r->origin, .partial = r->partial};
    metric.name = (char *)chil_metric_clean_name(name, sizeof name, r->name);
    metric.title = (char *)r->name;
    metric.formula = (char *)r->formula;
    metric.parent = r->parent >= 0 ? made[r->parent] : CHIL_EXP_NONE;
    metric.derived = d->options->keep_counters && !(from && strcmp(from->name, name) == 0);
    describe(d, base, &metric);
    metric.unit = (char *)(seconds ? "sec" : unit);
    if (r->origin == CHIL_EXP_MEASURED && from) {
        metric.origin = from->origin;
        metric.partial = from->partial;
        metric.text = from->text;
        if (!*r->formula) metric.formula = from->formula;
        if (r->apart) metric.title = from->title && *from->title ? from->title : from->name;
    }
    if (seconds) {
        metric.kind = CHIL_EXP_REAL;
        metric.low /= d->clock;
        metric.high /= d->clock;
    }
    int index = chil_exp_add_metric(d->result, &metric);
    if (index >= 0) add_values(d, base, index, seconds ? 1 / d->clock : 1);
    return index;
}

static void add_trees(struct derivation *d)
{
    struct chil_metric_options options = *d->options;
    options.no_apart |= options.keep_counters;
    struct chil_metric_tree *tree = tree_new(d->spec, d->name, d->names, &options);
    int *made = base_calloc(tree->rows + 1, sizeof *made);
    for (size_t i = 0; i < tree->rows; i++)
        made[i] = add_row(d, tree, i, made);
    free(made);
    chil_metric_tree_free(tree);
}

/* Everything but derived metrics is carried. Returns how many come before the trees: up to time and
 * visits, which are what other tools show first. */
static size_t keep_all(struct derivation *d)
{
    size_t before = 0;
    for (size_t i = 0; i < d->exp->metrics; i++) {
        const struct chil_exp_metric *m = &d->exp->metric[i];
        d->carried[i] = m->derived ? METRIC_NONE : 0;
        if (strcmp(m->name, "time") == 0 || strcmp(m->name, "visits") == 0) before = i + 1;
    }
    return before;
}

static int find_clock(struct derivation *d, struct chil_error *err)
{
    const char *clock = chil_exp_attribute(d->exp, "clock_hz");
    d->clock = clock ? strtod(clock, NULL) : 0;
    if ((!d->options->seconds && !d->options->time) || (d->clock > 0 && isfinite(d->clock)))
        return 0;
    return chil_error_set(
        err, CHIL_EINVAL,
        "cycles cannot be shown in seconds: the experiment has no attribute clock_hz");
}

int chil_metric_derive(struct chil_exp **result, const struct chil_exp *exp,
                       const struct chil_spec *spec, const struct chil_metric_options *options,
                       struct chil_error *err)
{
    static const struct chil_metric_options defaults;
    struct derivation d = {.exp = exp, .spec = spec, .options = options ? options : &defaults};
    *result = NULL;
    int status = find_clock(&d, err);
    if (status) return status;
    d.carried = base_calloc(exp->metrics + 1, sizeof *d.carried);
    d.result = metric_copy_frame(exp);
    int time =
        d.options->time && chil_exp_find_metric(exp, "TIME") < 0 ? metric_time_root(d.result) : -1;
    sort_metrics(&d);
    add_zeros(&d);
    keep_orphans(&d);
    size_t before_trees = d.options->keep_counters ? keep_all(&d) : exp->metrics;
    carry(&d, 0, before_trees);
    add_trees(&d);
    carry(&d, before_trees, exp->metrics);
    chil_exp_set_attribute(d.result, "metrics", spec->name);
    free(d.name);
    free(d.carried);
    if (time >= 0) status = metric_add_time(d.result, time, d.clock, err);
    if (status)
        chil_exp_free(d.result);
    else
        *result = d.result;
    return status;
}

int chil_metric_merge(struct chil_exp **result, const struct chil_exp *const *input, size_t inputs,
                      const struct chil_exp_align *align, const struct chil_spec *spec,
                      const struct chil_metric_options *options, struct chil_error *err)
{
    struct chil_exp *merged = NULL;
    *result = NULL;
    struct chil_metric_options kept = options ? *options : (struct chil_metric_options){0};
    int status = chil_exp_merge(&merged, input, inputs, align, err);
    for (size_t i = 0; !status && i < merged->metrics; i++)
        kept.keep_counters |= merged->metric[i].derived;
    if (!status) status = chil_metric_derive(result, merged, spec, &kept, err);
    chil_exp_free(merged);
    return status;
}

int chil_metric_find(const struct chil_exp *exp, const char *name)
{
    char clean[METRIC_NAME_MAX];
    int found = chil_exp_find_metric(exp, name);
    if (found >= 0) return found;
    found = chil_exp_find_metric(exp, chil_metric_clean_name(clean, sizeof clean, name));
    for (size_t i = 0; i < exp->metrics && found < 0; i++)
        if (exp->metric[i].origin == CHIL_EXP_MEASURED && strcmp(exp->metric[i].formula, name) == 0)
            found = (int)i;
    return found;
}
