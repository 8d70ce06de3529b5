/* Which metrics a set of counters gives, and as which sum of them (paper 003, section 2.1).
 *
 * The first of these that applies defines a metric:
 * 1. measured: counted under its own name, or by the first of its `measure` lines with a counter;
 * 2. composed of all its parts;
 * 3. computed from all its inputs;
 * 4. composed of some of its parts: partial;
 * 5. with an option, approximated or computed from some inputs: partial.
 * Otherwise it is left out. An `absent` name is zero: it is not missing, and not shown.
 *
 * Only compositions make children; a name in several compositions is the child of the first. A
 * counter that another metric is measured with is not shown; its children go to that metric.
 */
#include "analyze/metric/metric_impl.h"

#include <stdlib.h>
#include <string.h>

enum { BASE_ZERO = -2 };
enum state { UNSEEN, MISSING, ABSENT, PARTIAL, COMPLETE };

struct found {
    enum state state;
    enum chil_exp_origin origin;
    const char *formula;
    struct terms base;
    int row;     /* METRIC_NONE: not shown */
    int alias;   /* the metric measured with this counter, by a name other than its own */
    int through; /* the counter it is measured with, if that has another name */
};

struct work {
    const struct chil_spec *spec;
    const struct chil_metric_options *options;
    struct chil_metric_tree *tree;
    struct found *found; /* by symbol */
    int *base;           /* by symbol: the base under this name */
};

/* --- What there is --------------------------------------------------------------------------- */

static void resolve(struct work *w, size_t symbol);

static void add_term(struct terms *terms, size_t *capacity, size_t base, double factor)
{
    for (size_t i = 0; i < terms->count; i++)
        if (terms->term[i].symbol == base) {
            terms->term[i].factor += factor;
            return;
        }
    terms->term = base_grow(terms->term, capacity, terms->count + 1, sizeof *terms->term);
    terms->term[terms->count++] = (struct term){.symbol = base, .factor = factor};
}

/* The sum over bases of a sum over symbols; parts that are missing add nothing. */
static struct terms flatten(struct work *w, const struct terms *over)
{
    struct terms sum = {0};
    size_t capacity = 0;
    for (size_t i = 0; i < over->count; i++) {
        const struct terms *part = &w->found[over->term[i].symbol].base;
        for (size_t t = 0; t < part->count; t++)
            add_term(&sum, &capacity, part->term[t].symbol,
                     part->term[t].factor * over->term[i].factor);
    }
    struct terms kept = {.term = arena_calloc(&w->tree->arena, sum.count + 1, sizeof *sum.term),
                         .count = sum.count};
    if (sum.count) memcpy(kept.term, sum.term, sum.count * sizeof *sum.term);
    free(sum.term);
    return kept;
}

static bool measured(struct work *w, size_t symbol)
{
    const struct symbol *s = &w->spec->symbol[symbol];
    struct found *f = &w->found[symbol];
    int base = w->base[symbol];
    f->formula = "";
    for (size_t i = 0; i < s->measures && base == METRIC_NONE; i++) {
        size_t counter = w->spec->detail[s->measure[i]].terms.term[0].symbol;
        base = w->base[counter];
        if (base == METRIC_NONE) continue;
        f->formula = w->spec->symbol[counter].name;
        f->through = (int)counter;
        if (counter != symbol && w->found[counter].alias < 0) w->found[counter].alias = (int)symbol;
    }
    if (base == METRIC_NONE) return false;
    f->state = COMPLETE;
    f->origin = CHIL_EXP_MEASURED;
    if (base == BASE_ZERO) return true;
    f->base.term = arena_calloc(&w->tree->arena, 1, sizeof *f->base.term);
    f->base.term[0] = (struct term){.symbol = (size_t)base, .factor = 1};
    f->base.count = 1;
    return true;
}

/* How much of a sum is there. */
struct have {
    size_t complete, partial, missing, shown; /* absent ones are complete but not shown */
};

static struct have have_parts(struct work *w, const struct terms *terms)
{
    struct have have = {0};
    for (size_t i = 0; i < terms->count; i++) {
        resolve(w, terms->term[i].symbol);
        enum state state = w->found[terms->term[i].symbol].state;
        have.complete += state == COMPLETE || state == ABSENT;
        have.partial += state == PARTIAL;
        have.missing += state == MISSING;
        have.shown += state == COMPLETE || state == PARTIAL;
    }
    return have;
}

static void derive(struct work *w, size_t symbol, int item, enum chil_exp_origin origin,
                   enum state state)
{
    struct found *f = &w->found[symbol];
    f->state = state;
    f->origin = origin;
    f->formula = w->spec->item[item].formula;
    f->base = flatten(w, &w->spec->detail[item].terms);
}

/* Whether all that a computation lacks is what an `approximate` line says may be left out. */
static bool approximable(struct work *w, size_t symbol)
{
    const struct symbol *s = &w->spec->symbol[symbol];
    if (!w->options->approximate || s->approximate < 0 || s->compute < 0) return false;
    const struct terms *terms = &w->spec->detail[s->compute].terms,
                       *minor = &w->spec->detail[s->approximate].terms;
    for (size_t i = 0; i < terms->count; i++) {
        enum state state = w->found[terms->term[i].symbol].state;
        bool may = state == COMPLETE || state == ABSENT;
        for (size_t m = 0; m < minor->count; m++)
            may |= minor->term[m].symbol == terms->term[i].symbol;
        if (!may) return false;
    }
    return true;
}

static void resolve(struct work *w, size_t symbol)
{
    const struct symbol *s = &w->spec->symbol[symbol];
    struct found *f = &w->found[symbol];
    if (f->state != UNSEEN || measured(w, symbol)) return;
    f->state = s->absent ? ABSENT : MISSING;
    if (s->absent) return;
    struct have parts = {0}, inputs = {0};
    if (s->compose >= 0) parts = have_parts(w, &w->spec->detail[s->compose].terms);
    if (s->compute >= 0) inputs = have_parts(w, &w->spec->detail[s->compute].terms);
    if (s->compose >= 0 && parts.complete && !parts.shown && !parts.missing)
        f->state = ABSENT;
    else if (s->compose >= 0 && parts.shown && !parts.missing && !parts.partial)
        derive(w, symbol, s->compose, CHIL_EXP_COMPOSED, COMPLETE);
    else if (s->compute >= 0 && !inputs.missing && !inputs.partial)
        derive(w, symbol, s->compute, CHIL_EXP_COMPUTED, COMPLETE);
    else if (s->compose >= 0 && parts.shown)
        derive(w, symbol, s->compose, CHIL_EXP_COMPOSED, PARTIAL);
    else if (s->compute >= 0 && inputs.shown &&
             (w->options->partial_computations || approximable(w, symbol)))
        derive(w, symbol, s->compute, CHIL_EXP_COMPUTED, PARTIAL);
}

/* --- What is shown --------------------------------------------------------------------------- */

static int add_row(struct chil_metric_tree *tree, struct chil_metric_row row, struct terms base)
{
    tree->row = base_grow(tree->row, &tree->capacity, tree->rows + 1, sizeof *tree->row);
    tree->detail =
        base_grow(tree->detail, &tree->detail_capacity, tree->rows + 1, sizeof *tree->detail);
    tree->row[tree->rows] = row;
    tree->detail[tree->rows].base = base;
    return (int)tree->rows++;
}

static bool is_there(const struct work *w, size_t symbol)
{
    return w->found[symbol].state == PARTIAL || w->found[symbol].state == COMPLETE;
}

static void show(struct work *w, size_t symbol, int parent);

static void show_parts(struct work *w, size_t symbol, int row)
{
    int item = w->spec->symbol[symbol].compose;
    if (item < 0) return;
    const struct terms *parts = &w->spec->detail[item].terms;
    for (size_t i = 0; i < parts->count; i++)
        if (w->spec->symbol[parts->term[i].symbol].parent == (int)symbol)
            show(w, parts->term[i].symbol, row);
}

static void show(struct work *w, size_t symbol, int parent)
{
    struct found *f = &w->found[symbol];
    if (!is_there(w, symbol) || f->row >= 0) return;
    f->row = add_row(w->tree,
                     (struct chil_metric_row){.name = w->spec->symbol[symbol].name,
                                              .parent = parent,
                                              .origin = f->origin,
                                              .partial = f->state == PARTIAL,
                                              .formula = f->formula},
                     f->base);
    int row = f->row, through = f->through;
    show_parts(w, symbol, row);
    if (through >= 0 && w->spec->symbol[through].parent < 0) show_parts(w, (size_t)through, row);
}

/* The roots, in the order of the statements. */
static void show_hierarchies(struct work *w)
{
    for (size_t i = 0; i < w->spec->items; i++) {
        size_t symbol = w->spec->detail[i].symbol;
        enum chil_spec_kind kind = w->spec->item[i].kind;
        if (kind != CHIL_SPEC_COMPOSE && kind != CHIL_SPEC_MEASURE && kind != CHIL_SPEC_COMPUTE)
            continue;
        int parent = w->spec->symbol[symbol].parent;
        if (parent >= 0 && is_there(w, (size_t)parent)) continue;
        if (parent < 0 && w->found[symbol].alias >= 0) continue;
        show(w, symbol, CHIL_EXP_NONE);
    }
}

static void show_apart(struct work *w, const struct tree_base *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int symbol = spec_find_clean(w->spec, names[i].name);
        if (names[i].alias) continue;
        if (symbol >= 0 && (w->found[symbol].row >= 0 || w->found[symbol].alias >= 0)) continue;
        struct terms base = {.term = arena_calloc(&w->tree->arena, 1, sizeof(struct term)),
                             .count = 1};
        base.term[0] = (struct term){.symbol = names[i].base, .factor = 1};
        (void)add_row(w->tree,
                      (struct chil_metric_row){.name = arena_strdup(&w->tree->arena, names[i].name),
                                               .parent = CHIL_EXP_NONE,
                                               .apart = true,
                                               .formula = ""},
                      base);
    }
}

struct chil_metric_tree *tree_new(const struct chil_spec *spec, const struct tree_base *names,
                                  size_t count, const struct chil_metric_options *options)
{
    static const struct chil_metric_options defaults;
    struct work w = {.spec = spec, .options = options ? options : &defaults};
    w.tree = base_calloc(1, sizeof *w.tree);
    arena_init(&w.tree->arena);
    w.found = base_calloc(spec->symbols + 1, sizeof *w.found);
    w.base = base_calloc(spec->symbols + 1, sizeof *w.base);
    for (size_t i = 0; i < spec->symbols; i++) {
        w.base[i] = w.found[i].row = w.found[i].alias = w.found[i].through = METRIC_NONE;
    }
    for (size_t pass = 0; pass < 2; pass++) /* own names first */
        for (size_t i = 0; i < count; i++) {
            int symbol = spec_find_clean(spec, names[i].name);
            if (symbol < 0 || names[i].alias != (pass == 1) || w.base[symbol] != METRIC_NONE)
                continue;
            w.base[symbol] = names[i].zero ? BASE_ZERO : (int)names[i].base;
        }
    for (size_t i = 0; i < spec->symbols; i++)
        resolve(&w, i);
    show_hierarchies(&w);
    if (!w.options->no_apart) show_apart(&w, names, count);
    free(w.found);
    free(w.base);
    return w.tree;
}

/* --- From outside ---------------------------------------------------------------------------- */

struct chil_metric_tree *chil_metric_tree_new(const struct chil_spec *spec,
                                              const char *const *counters, size_t count,
                                              const struct chil_metric_options *options)
{
    struct tree_base *names = base_calloc(count + 1, sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = (struct tree_base){.name = counters[i], .base = i};
    struct chil_metric_tree *tree = tree_new(spec, names, count, options);
    free(names);
    return tree;
}

const struct chil_metric_row *chil_metric_tree_rows(const struct chil_metric_tree *tree,
                                                    size_t *count)
{
    *count = tree->rows;
    return tree->row;
}

int chil_metric_tree_find(const struct chil_metric_tree *tree, const char *name)
{
    for (size_t i = 0; i < tree->rows; i++)
        if (strcmp(tree->row[i].name, name) == 0) return (int)i;
    return METRIC_NONE;
}

void chil_metric_tree_free(struct chil_metric_tree *tree)
{
    if (!tree) return;
    free(tree->row);
    free(tree->detail);
    arena_fini(&tree->arena);
    free(tree);
}
