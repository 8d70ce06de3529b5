/* Merge: one experiment with all metrics of several (paper 003, section 2.3).
 *
 * 1. A metric that inputs measured is the average over those inputs.
 * 2. A composed or computed metric is evaluated again over the merged metrics if an input lacked
 *    parts of it, or if its parts come from other inputs than it does. So a parent stays the sum of
 *    its children, and a metric whose parts are now complete loses its `~`.
 * 3. Otherwise it is the average over the inputs that have it complete.
 *
 * A computation with missing parts is never evaluated. An average at a call path and thread is over
 * the inputs that counted anything there (exp_places.c): what one input alone has is kept whole.
 */
#include "analyze/exp/exp_algebra.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 1000 }; /* of formulas over formulas; deeper ones are averaged over the inputs */

enum state { NOT_MERGED, IN_PROGRESS, AVERAGED, EVALUATED };

struct merge {
    struct exp_aligned aligned;
    enum state *state;                  /* by metric */
    bool *used;                         /* metrics x sources: what the average is over */
    struct exp_places places, *several; /* NULL: there is one input */
    unsigned depth;
};

struct choice { /* of the inputs that have a metric */
    size_t measured, complete, partial;
};

static const struct chil_exp_metric *metric_in(const struct merge *m, size_t source, int metric)
{
    int there = m->aligned.in[source * m->aligned.exp->metrics + (size_t)metric];
    return there < 0 ? NULL : &m->aligned.source[source].exp->metric[there];
}

/* Chooses the inputs that a metric is averaged over, into m->used. */
static struct choice choose(struct merge *m, int metric)
{
    struct choice c = {0, 0, 0};
    bool *used = &m->used[(size_t)metric * m->aligned.sources];
    for (size_t i = 0; i < m->aligned.sources; i++) {
        const struct chil_exp_metric *in = metric_in(m, i, metric);
        if (!in) continue;
        c.partial += in->partial;
        c.complete += !in->partial;
        c.measured += !in->partial && in->origin == CHIL_EXP_MEASURED;
    }
    for (size_t i = 0; i < m->aligned.sources; i++) {
        const struct chil_exp_metric *in = metric_in(m, i, metric);
        used[i] = in && (c.measured ? !in->partial && in->origin == CHIL_EXP_MEASURED
                                    : !c.complete || !in->partial);
    }
    return c;
}

/* Origin and formula: of an input that is used, and of any that has one. */
static void set_origin(struct merge *m, int metric)
{
    struct chil_exp_metric *to = &m->aligned.exp->metric[metric];
    const bool *used = &m->used[(size_t)metric * m->aligned.sources];
    bool chosen = false;
    for (size_t i = 0; i < m->aligned.sources; i++) {
        const struct chil_exp_metric *in = metric_in(m, i, metric);
        if (!in) continue;
        if (!*to->formula && *in->formula) to->formula = exp_text(m->aligned.exp, in->formula);
        if (used[i] && !chosen) to->origin = in->origin;
        chosen |= used[i];
    }
}

static void merge_metric(struct merge *m, int metric);

/* Whether the parts come from the same inputs as the metric: then its average is their sum. */
static bool same_sources(const struct merge *m, int metric, const struct exp_term *term, int terms)
{
    size_t sources = m->aligned.sources;
    for (int i = 0; i < terms; i++)
        if (m->state[term[i].metric] != AVERAGED ||
            memcmp(&m->used[(size_t)metric * sources], &m->used[(size_t)term[i].metric * sources],
                   sources) != 0)
            return false;
    return true;
}

static void evaluate(struct merge *m, int metric, const struct exp_term *term, int terms)
{
    struct chil_exp *exp = m->aligned.exp;
    struct chil_exp_metric *to = &exp->metric[metric];
    to->kind = CHIL_EXP_COUNT;
    to->runs = UINT32_MAX;
    to->partial = false;
    to->low = to->high = 0;
    for (int i = 0; i < terms; i++) {
        to->partial |= term[i].metric < 0;
        if (term[i].metric < 0) continue;
        const struct chil_exp_metric *part = &exp->metric[term[i].metric];
        double low, high;
        chil_exp_range(exp, term[i].metric, &low, &high);
        to->low += term[i].sign > 0 ? low : -high;
        to->high += term[i].sign > 0 ? high : -low;
        to->partial |= part->partial;
        if (part->kind == CHIL_EXP_REAL) to->kind = CHIL_EXP_REAL;
        if (part->runs < to->runs) to->runs = part->runs;
    }
    for (int i = 0; i < terms; i++) {
        if (term[i].metric < 0) continue;
        struct exp_column column = {.unsorted = false};
        column.cell = (struct chil_exp_cell *)chil_exp_cells(exp, term[i].metric, &column.count);
        exp_add_cells(exp, metric, &column, exp->metric[term[i].metric].kind, term[i].sign);
    }
    m->state[metric] = EVALUATED;
}

/* Evaluates a metric's formula if that is more complete than the average over the inputs. */
static bool derive(struct merge *m, int metric, struct choice c)
{
    struct chil_exp *exp = m->aligned.exp;
    struct exp_term *term;
    int terms = exp_formula_terms(exp, exp->metric[metric].formula, &term), there = 0, whole = 0;
    bool circular = false;
    for (int i = 0; i < terms; i++) {
        if (term[i].metric < 0) continue;
        merge_metric(m, term[i].metric);
        circular |= m->state[term[i].metric] <= IN_PROGRESS;
        there++;
        whole += !exp->metric[term[i].metric].partial;
    }
    bool composed = exp->metric[metric].origin == CHIL_EXP_COMPOSED, better = false;
    if (terms > 0 && !circular) {
        if (whole == terms) /* all parts are there */
            better = c.partial || !same_sources(m, metric, term, terms);
        else
            better = composed && !c.complete &&
                     there; /* still partial, but of all parts that are there */
    }
    if (better) evaluate(m, metric, term, terms);
    free(term);
    return better;
}

static void merge_metric(struct merge *m, int metric)
{
    if (m->state[metric] != NOT_MERGED || m->depth == DEPTH_MAX) return;
    m->state[metric] = IN_PROGRESS;
    m->depth++;
    struct choice c = choose(m, metric);
    set_origin(m, metric);
    if (c.measured || !derive(m, metric, c)) {
        exp_average(&m->aligned, metric, &m->used[(size_t)metric * m->aligned.sources], m->several);
        m->state[metric] = AVERAGED;
    }
    m->depth--;
}

int chil_exp_merge(struct chil_exp **result, const struct chil_exp *const *input, size_t inputs,
                   const struct chil_exp_align *align, struct chil_error *err)
{
    struct merge m = {.depth = 0};
    int status = exp_align_sorted(&m.aligned, input, inputs, align, err);
    if (status) return status;
    size_t metrics = m.aligned.exp->metrics;
    m.state = base_calloc(metrics, sizeof *m.state);
    m.used = base_calloc(metrics * inputs, sizeof *m.used);
    if (inputs > 1) exp_places_init(m.several = &m.places, &m.aligned);
    for (size_t i = 0; i < metrics; i++)
        merge_metric(&m, (int)i);
    if (m.several) exp_places_fini(m.several);
    *result = m.aligned.exp;
    exp_aligned_fini(&m.aligned);
    free(m.state);
    free(m.used);
    return 0;
}
