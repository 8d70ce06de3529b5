/* Mean and difference of experiments, and averages, which exp_merge.c uses too. */
#include "analyze/exp/exp_algebra.h"

#include <stdlib.h>
#include <string.h>

static int64_t saturated(__int128 value)
{
    if (value > INT64_MAX) return INT64_MAX;
    return value < INT64_MIN ? INT64_MIN : (int64_t)value;
}

/* --- Averages -------------------------------------------------------------------------------- */

/* Each input is weighted with its number of runs. If an average of counts is not whole, the metric
 * becomes one of reals. The average of equal reals is that real, to the last bit. */

struct part {
    struct exp_column column;
    size_t at, place_at; /* the next cell, the next place */
    size_t source;
    enum chil_exp_kind kind;
    unsigned weight;
};

struct average {
    struct chil_exp *exp;
    const struct exp_places *places; /* NULL: every part has every place */
    int metric;
    struct part *part;
    size_t parts;
};

static uint64_t key_of(const struct chil_exp_cell *cell)
{
    return (uint64_t)cell->node << 32 | cell->thread;
}

static bool next_place(const struct average *a, struct chil_exp_cell *place)
{
    bool found = false;
    uint64_t least = 0;
    for (size_t i = 0; i < a->parts; i++) {
        const struct part *p = &a->part[i];
        if (p->at == p->column.count) continue;
        const struct chil_exp_cell *cell = &p->column.cell[p->at];
        if (found && key_of(cell) >= least) continue;
        found = true;
        least = key_of(cell);
        place->node = cell->node;
        place->thread = cell->thread;
    }
    return found;
}

/* The part's cell at a place, or NULL where it is zero; moves on. */
static const struct chil_exp_cell *take_cell(struct part *p, const struct chil_exp_cell *place)
{
    if (p->at == p->column.count) return NULL;
    const struct chil_exp_cell *cell = &p->column.cell[p->at];
    if (cell->node != place->node || cell->thread != place->thread) return NULL;
    p->at++;
    return cell;
}

/* Whether a part has a place, so that a missing cell is a zero. */
static bool has_place(const struct average *a, struct part *p, const struct chil_exp_cell *place)
{
    return !a->places || exp_places_has(a->places, p->source, &p->place_at, place);
}

static void average_counts(struct average *a, struct chil_exp_cell *cell)
{
    __int128 sum = 0, weight = 0;
    for (size_t i = 0; i < a->parts; i++) {
        const struct chil_exp_cell *from = take_cell(&a->part[i], cell);
        if (from) sum += (__int128)from->count * a->part[i].weight;
        if (from || has_place(a, &a->part[i], cell)) weight += a->part[i].weight;
    }
    if (sum % weight != 0) exp_make_real(a->exp, a->metric);
    if (a->exp->metric[a->metric].kind == CHIL_EXP_REAL)
        cell->real = (double)sum / (double)weight;
    else
        cell->count = saturated(sum / weight);
}

static void average_reals(struct average *a, struct chil_exp_cell *cell)
{
    double first = 0, sum = 0, weight = 0;
    bool equal = true;
    for (size_t i = 0; i < a->parts; i++) {
        const struct part *p = &a->part[i];
        const struct chil_exp_cell *from = take_cell(&a->part[i], cell);
        double value = !from ? 0 : p->kind == CHIL_EXP_COUNT ? (double)from->count : from->real;
        if (!from && !has_place(a, &a->part[i], cell)) continue;
        if (weight == 0) first = value;
        equal = equal && value == first;
        sum += value * p->weight;
        weight += p->weight;
    }
    cell->real = equal ? first : sum / weight;
}

static void merge_pedigree(struct chil_exp_metric *to, const struct chil_exp_metric *from,
                           bool first)
{
    to->runs = first ? from->runs : to->runs + from->runs;
    to->partial = first ? from->partial : to->partial || from->partial;
    if (first || strcmp(to->exactness, "exact") == 0 ||
        strcmp(from->exactness, "estimated") == 0) /* the weaker word */
        to->exactness = from->exactness;
}

/* The least and greatest total of the runs. Inputs without common places are parts of the same
 * runs: their totals add up. Inputs with some common places have totals that cannot be compared;
 * the range then includes the total of the result. */
static void set_range(const struct exp_aligned *aligned, const struct average *a, bool apart)
{
    struct chil_exp_metric *to = &a->exp->metric[a->metric];
    for (size_t i = 0; i < a->parts; i++) {
        double low, high;
        size_t source = a->part[i].source;
        chil_exp_range(aligned->source[source].exp,
                       aligned->in[source * a->exp->metrics + (size_t)a->metric], &low, &high);
        to->low = i == 0 ? low : apart ? to->low + low : low < to->low ? low : to->low;
        to->high = i == 0 ? high : apart ? to->high + high : high > to->high ? high : to->high;
    }
    if (!a->places) return;
    double total = chil_exp_sum(a->exp, a->metric, CHIL_EXP_NONE, false, -1);
    to->low = total < to->low ? total : to->low;
    to->high = total > to->high ? total : to->high;
}

/* The runs where most inputs have a place. Whether no two inputs have one in common. */
static bool merge_runs(struct average *a, struct exp_places *places)
{
    unsigned *weight = base_calloc(places->sources, sizeof *weight), most = 0;
    for (size_t i = 0; i < a->parts; i++) {
        weight[a->part[i].source] = a->part[i].weight;
        most = a->part[i].weight > most ? a->part[i].weight : most;
    }
    a->exp->metric[a->metric].runs = exp_places_runs(places, weight);
    free(weight);
    return a->exp->metric[a->metric].runs == most;
}

void exp_average(const struct exp_aligned *aligned, int metric, const bool *used,
                 struct exp_places *places)
{
    struct average a = {.exp = aligned->exp, .places = places, .metric = metric};
    struct chil_exp_metric *to = &a.exp->metric[metric];
    struct chil_exp_cell cell = {.node = 0};
    bool counts = true;
    a.part = base_calloc(aligned->sources, sizeof *a.part);
    for (size_t i = 0; i < aligned->sources; i++) {
        if (!used[i]) continue;
        int there = aligned->in[i * a.exp->metrics + (size_t)metric];
        const struct chil_exp_metric *from = &aligned->source[i].exp->metric[there];
        merge_pedigree(to, from, a.parts == 0);
        counts = counts && from->kind == CHIL_EXP_COUNT;
        a.part[a.parts++] = (struct part){.column = exp_aligned_cells(aligned, i, there),
                                          .source = i,
                                          .kind = from->kind,
                                          .weight = from->runs};
    }
    bool apart = places && a.parts && merge_runs(&a, places);
    to->exactness = exp_text(a.exp, to->exactness);
    to->kind = counts ? CHIL_EXP_COUNT : CHIL_EXP_REAL;
    while (next_place(&a, &cell)) {
        if (counts)
            average_counts(&a, &cell);
        else
            average_reals(&a, &cell);
        exp_add_cell(a.exp, metric, cell);
    }
    set_range(aligned, &a, apart);
    for (size_t i = 0; i < a.parts; i++)
        free(a.part[i].column.cell);
    free(a.part);
}

/* --- Operators ------------------------------------------------------------------------------- */

static int compare_inputs(const void *a, const void *b)
{
    return exp_compare(*(const struct chil_exp *const *)a, *(const struct chil_exp *const *)b);
}

int exp_align_sorted(struct exp_aligned *aligned, const struct chil_exp *const *input,
                     size_t inputs, const struct chil_exp_align *align, struct chil_error *err)
{
    if (!inputs) {
        (void)chil_error_set(err, CHIL_EINVAL, "no experiments are given");
        return CHIL_EINVAL;
    }
    const struct chil_exp **sorted = base_calloc(inputs, sizeof(void *));
    memcpy(sorted, input, inputs * sizeof(void *));
    qsort(sorted, inputs, sizeof(void *), compare_inputs);
    exp_align(aligned, sorted, inputs, align, false);
    free(sorted);
    return 0;
}

int chil_exp_mean(struct chil_exp **result, const struct chil_exp *const *input, size_t inputs,
                  const struct chil_exp_align *align, struct chil_error *err)
{
    struct exp_aligned aligned;
    int status = exp_align_sorted(&aligned, input, inputs, align, err);
    if (status) return status;
    bool *used = base_calloc(inputs, sizeof *used);
    for (size_t m = 0; m < aligned.exp->metrics; m++) {
        for (size_t i = 0; i < inputs; i++)
            used[i] = aligned.in[i * aligned.exp->metrics + m] >= 0;
        exp_average(&aligned, (int)m, used, NULL);
    }
    free(used);
    *result = aligned.exp;
    exp_aligned_fini(&aligned);
    return 0;
}

/* Adds a metric's cells, or takes them away. */
void exp_add_cells(struct chil_exp *exp, int metric, const struct exp_column *column,
                   enum chil_exp_kind kind, int sign)
{
    bool real = exp->metric[metric].kind == CHIL_EXP_REAL;
    for (size_t i = 0; i < column->count; i++) {
        struct chil_exp_cell cell = column->cell[i];
        if (real)
            cell.real = sign * (kind == CHIL_EXP_REAL ? column->cell[i].real
                                                      : (double)column->cell[i].count);
        else
            cell.count = saturated((__int128)sign * cell.count);
        exp_add_cell(exp, metric, cell);
    }
}

static void subtract(const struct exp_aligned *aligned, int metric)
{
    struct chil_exp *exp = aligned->exp;
    struct chil_exp_metric *to = &exp->metric[metric];
    double low[2], high[2];
    const struct chil_exp_metric *from[2];
    for (size_t i = 0; i < 2; i++) {
        int there = aligned->in[i * exp->metrics + (size_t)metric];
        from[i] = &aligned->source[i].exp->metric[there];
        chil_exp_range(aligned->source[i].exp, there, &low[i], &high[i]);
    }
    to->kind = from[0]->kind == CHIL_EXP_COUNT && from[1]->kind == CHIL_EXP_COUNT ? CHIL_EXP_COUNT
                                                                                  : CHIL_EXP_REAL;
    to->runs = from[0]->runs;
    to->low = low[0] - high[1];
    to->high = high[0] - low[1];
    to->partial = from[0]->partial || from[1]->partial;
    if (strcmp(from[0]->exactness, "exact") == 0) to->exactness = exp_text(exp, from[1]->exactness);
    for (size_t i = 0; i < 2; i++) {
        struct exp_column column =
            exp_aligned_cells(aligned, i, aligned->in[i * exp->metrics + (size_t)metric]);
        exp_add_cells(exp, metric, &column, from[i]->kind, i ? -1 : 1);
        free(column.cell);
    }
}

int chil_exp_diff(struct chil_exp **result, const struct chil_exp *a, const struct chil_exp *b,
                  const struct chil_exp_align *align, struct chil_error *err)
{
    struct exp_aligned aligned;
    (void)err;
    exp_align(&aligned, (const struct chil_exp *const[]){a, b}, 2, align, true);
    for (size_t m = 0; m < aligned.exp->metrics; m++)
        subtract(&aligned, (int)m);
    *result = aligned.exp;
    exp_aligned_fini(&aligned);
    return 0;
}

int chil_exp_extend(struct chil_exp *result[2], const struct chil_exp *a, const struct chil_exp *b,
                    const struct chil_exp_align *align, struct chil_error *err)
{
    bool *used = base_calloc(2, sizeof *used);
    (void)err;
    for (size_t which = 0; which < 2; which++) {
        struct exp_aligned aligned;
        used[which] = true;
        used[!which] = false;
        exp_align(&aligned, (const struct chil_exp *const[]){a, b}, 2, align, true);
        for (size_t m = 0; m < aligned.exp->metrics; m++) {
            struct chil_exp_metric *to = &aligned.exp->metric[m];
            const struct chil_exp_metric *from =
                &aligned.source[which].exp->metric[aligned.in[which * aligned.exp->metrics + m]];
            to->origin = from->origin;
            exp_average(&aligned, (int)m, used, NULL);
        }
        result[which] = aligned.exp;
        exp_aligned_fini(&aligned);
    }
    free(used);
    return 0;
}
