/* Ratios, and findings, which are rules over metrics and ratios.
 *
 * Both are evaluated over sums of counts, for a call path or the program: a quotient of sums, never
 * a sum of quotients. A name is a ratio, a metric of the experiment, or a numeric attribute of it.
 * After a division by zero the value is undefined. A value whose denominator is below a thousandth
 * of the program's is marked as small.
 */
#include "analyze/metric/metric_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chiliad/catalog.h"

/* What is to be known about a value besides the number. */
struct flags {
    bool undefined, small, partial;
    bool unrecorded; /* an input was off (its event's `needs`); it counts as large */
};

/* What names are worth: metrics summed per node. */
struct values {
    const struct chil_exp *exp;
    const struct chil_spec *spec;
    struct chil_machine *machine; /* of an experiment that leaves out zeros */
    double clock;
    struct value {
        bool seen, there, partial;
        int ratio;       /* item, or METRIC_NONE */
        double whole;    /* of the program */
        double *node;    /* by node; NULL: only the whole is wanted, or it is the same everywhere */
        bool busy, kept; /* a ratio: being evaluated; the last value, and where */
        int at;
        double number;
        struct flags flags;
    } * of;               /* by symbol */
    double **denominator; /* of the whole program, by item and node of its expression */
    bool subtree;
    int thread;
    int node; /* at which names are evaluated; CHIL_EXP_NONE: the program */
    bool by_node;
    struct flags flags; /* of what is being evaluated */
    const char *
        needs; /* what would have to be on for a value that is not there; of the catalogue's keys */
    double hoped; /* the last value, even where it is undefined */
};

static void values_init(struct values *v, const struct chil_exp *exp, const struct chil_spec *spec,
                        bool by_node, bool subtree, int thread)
{
    const char *clock = chil_exp_attribute(exp, "clock_hz");
    *v = (struct values){
        .exp = exp, .spec = spec, .by_node = by_node, .subtree = subtree, .thread = thread};
    v->node = CHIL_EXP_NONE;
    v->clock = clock ? strtod(clock, NULL) : 0;
    v->of = base_calloc(spec->symbols + 1, sizeof *v->of);
    v->denominator = base_calloc(spec->items + 1, sizeof *v->denominator);
    v->machine = metric_machine_of(exp);
}

static void values_fini(struct values *v)
{
    for (size_t i = 0; i < v->spec->symbols; i++)
        free(v->of[i].node);
    for (size_t i = 0; i < v->spec->items; i++)
        free(v->denominator[i]);
    free(v->of);
    free(v->denominator);
    chil_machine_free(v->machine);
}

/* Rows call the cycles in which a core had something to run "busy", and the same in seconds
 * "user_time". They are the metric CYCLES, or the counter where no specification measures it. */
static int find_busy(const struct chil_exp *exp, const char *name)
{
    if (strcmp(name, "busy") != 0 && strcmp(name, "user_time") != 0) return CHIL_EXP_NONE;
    int metric = chil_metric_find(exp, "CYCLES");
    return metric >= 0 ? metric : chil_metric_find(exp, CHIL_TURN_CYCLES);
}

static void load_attribute(struct values *v, const char *name, struct value *value)
{
    const char *text = chil_exp_attribute(v->exp, name);
    char *end;
    double number = text ? strtod(text, &end) : 0;
    value->there = text && end != text && !*end && isfinite(number);
    value->whole = number;
}

/* The parameter that has to be on for an event of the machine and was not. */
static const char *needs_of(const struct chil_machine *machine, const char *name)
{
    const struct chil_event *event;
    return machine && !chil_machine_find_event(machine, name, &event, NULL) ? event->needs : NULL;
}

static void load(struct values *v, size_t symbol)
{
    struct value *value = &v->of[symbol];
    const struct symbol *s = &v->spec->symbol[symbol];
    value->seen = true;
    value->ratio = s->ratio;
    int metric = chil_metric_find(v->exp, s->name);
    if (metric < 0) metric = find_busy(v->exp, s->name);
    if (metric < 0 && s->ratio >= 0) return;
    value->ratio = METRIC_NONE;
    if (metric < 0) {
        /* What a specification speaks of and the machine does not have is no number at all, save if
         * it is absent. */
        load_attribute(v, s->name, value);
        if (s->absent || (!value->there && metric_is_zero(v->machine, s->name)))
            value->there = true;
        const char *needs = value->there ? NULL : needs_of(v->machine, s->name);
        if (!needs) return;
        v->needs = needs;
        value->whole = INFINITY;
        return;
    }
    double scale = strcmp(s->name, "user_time") == 0 && v->clock > 0 ? 1 / v->clock : 1;
    value->there = strcmp(s->name, "user_time") != 0 || v->clock > 0;
    value->partial = v->exp->metric[metric].partial;
    value->whole = scale * chil_exp_sum(v->exp, metric, CHIL_EXP_NONE, false, v->thread);
    if (!v->by_node) return;
    value->node = base_calloc(v->exp->nodes + 1, sizeof *value->node);
    chil_exp_sum_nodes(v->exp, metric, v->subtree, v->thread, value->node);
    for (size_t i = 0; i < v->exp->nodes && scale != 1; i++)
        value->node[i] *= scale;
}

static double evaluate(struct values *v, int item);

/* A ratio within another; one that is part of itself has no value. */
static double ratio_value(struct values *v, struct value *value)
{
    if (value->busy) {
        v->flags.undefined = true;
        return 0;
    }
    if (!value->kept || value->at != v->node) {
        struct flags outer = v->flags;
        v->flags = (struct flags){0};
        value->busy = true;
        value->number = evaluate(v, value->ratio);
        value->busy = false;
        value->flags = v->flags;
        value->at = v->node;
        value->kept = true;
        v->flags = outer;
    }
    v->flags.undefined |= value->flags.undefined;
    v->flags.small |= value->flags.small;
    v->flags.partial |= value->flags.partial;
    v->flags.unrecorded |= value->flags.unrecorded;
    return value->number;
}

static double value_of(void *context, size_t symbol)
{
    struct values *v = context;
    struct value *value = &v->of[symbol];
    if (!value->seen) load(v, symbol);
    if (value->ratio >= 0) return ratio_value(v, value);
    if (!value->there) v->flags.undefined = true;
    v->flags.unrecorded |= isinf(value->whole);
    v->flags.partial |= value->partial;
    return v->node >= 0 && value->node ? value->node[v->node] : value->whole;
}

/* The denominators of an item in the whole program. */
static const double *whole_denominators(struct values *v, int item)
{
    const struct expr *e = &v->spec->detail[item].expr;
    if (v->denominator[item]) return v->denominator[item];
    double *all = v->denominator[item] = base_calloc(e->nodes + 1, sizeof *all);
    struct expr_scope scope = {
        .value = value_of, .context = v, .clock = v->clock, .denominator = all};
    struct flags outer = v->flags;
    int node = v->node;
    v->node = CHIL_EXP_NONE;
    (void)expr_value(e, &scope);
    v->node = node;
    v->flags = outer;
    return all;
}

/* An item's expression at the present node; flags are added to those of `v`. */
static double evaluate(struct values *v, int item)
{
    struct expr_scope scope = {.value = value_of, .context = v, .clock = v->clock};
    if (v->node >= 0) scope.whole = whole_denominators(v, item);
    double value = expr_value(&v->spec->detail[item].expr, &scope);
    v->flags.undefined |= scope.undefined;
    v->flags.small |= scope.small;
    return value;
}

static struct chil_ratio_value evaluate_at(struct values *v, int item, int node)
{
    v->node = node;
    v->flags = (struct flags){0};
    double value = v->hoped = evaluate(v, item);
    return (struct chil_ratio_value){.value = v->flags.undefined ? 0 : value,
                                     .defined = !v->flags.undefined,
                                     .small = v->flags.small && !v->flags.undefined,
                                     .partial = v->flags.partial};
}

static const char *ratio_at(const void *table, size_t index)
{
    const struct chil_spec *spec = table;
    return spec->item[index].kind == CHIL_SPEC_RATIO ? spec->item[index].name : "";
}

static int find_ratio(const struct chil_spec *spec, const char *name, int *item,
                      struct chil_error *err)
{
    char hint[100];
    int symbol = spec_find_clean(spec, name);
    *item = symbol >= 0 ? spec->symbol[symbol].ratio : METRIC_NONE;
    if (*item >= 0) return 0;
    return chil_error_set(
        err, CHIL_ENOENT, "'%s' has no ratio '%.80s'%s", spec->name, name,
        text_hint(hint, sizeof hint, text_nearest(name, spec, spec->items, ratio_at)));
}

int chil_ratio_nodes(const struct chil_exp *exp, const struct chil_spec *spec, const char *name,
                     bool subtree, int thread, struct chil_ratio_value *out, struct chil_error *err)
{
    struct values v;
    int item, status = find_ratio(spec, name, &item, err);
    if (status) return status;
    values_init(&v, exp, spec, true, subtree, thread);
    for (size_t i = 0; i < exp->nodes; i++)
        out[i] = evaluate_at(&v, item, (int)i);
    values_fini(&v);
    return 0;
}

int chil_ratio(const struct chil_exp *exp, const struct chil_spec *spec, const char *name, int node,
               bool subtree, int thread, struct chil_ratio_value *value, struct chil_error *err)
{
    struct values v;
    int item, status = find_ratio(spec, name, &item, err);
    if (status) return status;
    values_init(&v, exp, spec, node >= 0, subtree, thread);
    *value = evaluate_at(&v, item, node);
    values_fini(&v);
    return 0;
}

/* --- Findings -------------------------------------------------------------------------------- */

struct finder {
    struct values values;
    struct chil_findings *out;
    size_t capacity;
    struct might {
        int item, node;
    } * might; /* rules that would hold there if what was not recorded were large */
    size_t mights, might_capacity;
};

/* The value of a name in "{NAME}" or among the evidence, at the node where the rule held. */
static double number_of(struct values *v, size_t symbol, bool *there)
{
    v->flags = (struct flags){0};
    double number = value_of(v, symbol);
    *there = !v->flags.undefined;
    return number;
}

static void put_number(FILE *out, double number)
{
    if (number == rint(number) && fabs(number) < 1e15)
        (void)fprintf(out, "%.0f", number);
    else
        (void)fprintf(out, "%.3g", number);
}

static char *fill_text(struct finder *f, const char *text)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&bytes, &size);
    if (!out) return base_calloc(1, 1);
    for (const char *at = text; *at;) {
        const char *close = *at == '{' ? strchr(at, '}') : NULL;
        char name[METRIC_NAME_MAX] = "";
        if (close && (size_t)(close - at) < sizeof name)
            (void)snprintf(name, sizeof name, "%.*s", (int)(close - at - 1), at + 1);
        int symbol = *name ? spec_find(f->values.spec, name) : METRIC_NONE;
        bool there = false;
        double number = symbol >= 0 ? number_of(&f->values, (size_t)symbol, &there) : 0;
        if (there) {
            put_number(out, number);
            at = close + 1;
        } else {
            (void)fputc(*at++, out);
        }
    }
    (void)fclose(out);
    return bytes;
}

static void add_evidence(struct finder *f, const struct expr *e, struct chil_finding *finding)
{
    finding->evidence = base_calloc(e->nodes + 1, sizeof *finding->evidence);
    for (size_t i = 0; i < e->nodes; i++) {
        if (e->node[i].op != EXPR_NAME && e->node[i].op != EXPR_SECONDS) continue;
        const char *name = f->values.spec->symbol[e->node[i].symbol].name;
        bool known = false, there;
        for (size_t k = 0; k < finding->evidence_count; k++)
            known |= finding->evidence[k].name == name;
        double number = number_of(&f->values, e->node[i].symbol, &there);
        if (!known && there)
            finding->evidence[finding->evidence_count++] =
                (struct chil_finding_evidence){.name = name, .value = number};
    }
}

static void look(struct finder *f, int item, int node, double share)
{
    struct chil_ratio_value holds = evaluate_at(&f->values, item, node);
    if (f->values.flags.unrecorded && f->values.hoped != 0) {
        f->might = base_grow(f->might, &f->might_capacity, f->mights + 1, sizeof *f->might);
        f->might[f->mights++] = (struct might){item, node};
    }
    if (!holds.defined || holds.partial || holds.value == 0) return;
    struct chil_findings *out = f->out;
    out->finding = base_grow(out->finding, &f->capacity, out->count + 1, sizeof *out->finding);
    struct chil_finding *finding = &out->finding[out->count++];
    *finding = (struct chil_finding){
        .name = f->values.spec->item[item].name, .node = node, .share = share};
    f->values.node = node;
    finding->text = fill_text(f, f->values.spec->item[item].text);
    add_evidence(f, &f->values.spec->detail[item].expr, finding);
}

/* The whole program, then every call path that has enough of what the rule weighs by. */
static void look_everywhere(struct finder *f, int item)
{
    const struct chil_spec *spec = f->values.spec;
    size_t weight = spec->detail[item].weight;
    int cycles = weight == SIZE_MAX ? spec_find(spec, "CYCLES") : (int)weight;
    bool there = false;
    f->values.node = CHIL_EXP_NONE;
    double whole = cycles >= 0 ? number_of(&f->values, (size_t)cycles, &there) : 0;
    look(f, item, CHIL_EXP_NONE, 1);
    for (size_t i = 0; i < f->values.exp->nodes && there && whole > 0; i++) {
        f->values.node = (int)i;
        double part = number_of(&f->values, (size_t)cycles, &there);
        if (part * 100 >= CHIL_FINDING_SHARE_PERCENT * whole) look(f, item, (int)i, part / whole);
    }
}

/* Rules that were not tried are worth telling where others hold: there is something to explain. */
static void count_untried(struct finder *f)
{
    bool *held = base_calloc(f->values.exp->nodes + 1, sizeof *held);
    int last = METRIC_NONE;
    for (size_t i = 0; i < f->out->count; i++)
        held[f->out->finding[i].node + 1] = true;
    for (size_t i = 0; i < f->mights; i++) { /* those of a rule follow each other */
        if (f->might[i].item == last || !held[f->might[i].node + 1]) continue;
        last = f->might[i].item;
        f->out->untried++;
        f->out->needs = f->values.needs;
    }
    free(held);
    free(f->might);
}

static int by_share(const void *a, const void *b)
{
    const struct chil_finding *x = a, *y = b;
    if ((x->node < 0) != (y->node < 0)) return x->node < 0 ? -1 : 1;
    if (x->share != y->share) return x->share > y->share ? -1 : 1;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->node > y->node) - (x->node < y->node);
}

int chil_findings_new(struct chil_findings **findings, const struct chil_exp *exp,
                      const struct chil_spec *spec, struct chil_error *err)
{
    struct finder f = {0};
    (void)err;
    f.out = base_calloc(1, sizeof *f.out);
    values_init(&f.values, exp, spec, true, false, -1);
    for (size_t i = 0; i < spec->items; i++)
        if (spec->item[i].kind == CHIL_SPEC_FINDING) look_everywhere(&f, (int)i);
    count_untried(&f);
    values_fini(&f.values);
    if (f.out->count) qsort(f.out->finding, f.out->count, sizeof *f.out->finding, by_share);
    *findings = f.out;
    return 0;
}

void chil_findings_free(struct chil_findings *findings)
{
    if (!findings) return;
    for (size_t i = 0; i < findings->count; i++) {
        free(findings->finding[i].text);
        free(findings->finding[i].evidence);
    }
    free(findings->finding);
    free(findings);
}
