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
    size_t at; /* the next cell */
    enum chil_exp_kind kind;
    unsigned weight;
};

struct average {
    struct chil_exp *exp;
    int metric;
    struct part *part;
    size_t parts;
    uint64_t weight;
};

static bool next_place(const struct average *a, struct chil_exp_cell *place)
{
    bool found = false;
    uint64_t least = 0;
    for (size_t i = 0; i < a->parts; i++) {
        const struct part *p = &a->part[i];
        if (p->at == p->column.count) continue;
        const struct chil_exp_cell *cell = &p->column.cell[p->at];
        uint64_t key = (uint64_t)cell->node << 32 | cell->thread;
        if (found && key >= least) continue;
        found = true;
        least = key;
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

static void average_counts(struct average *a, struct chil_exp_cell *cell)
{
    __int128 sum = 0;
    for (size_t i = 0; i < a->parts; i++) {
        const struct chil_exp_cell *from = take_cell(&a->part[i], cell);
        if (from) sum += (__int128)from->count * a->part[i].weight;
    }
    if (sum % (__int128)a->weight != 0) exp_make_real(a->exp, a->metric);
    if (a->exp->metric[a->metric].kind == CHIL_EXP_REAL)
        cell->real = (double)sum / (double)a->weight;
    else
        cell->count = saturated(sum / (__int128)a->weight);
}

static void average_reals(struct average *a, struct chil_exp_cell *cell)
{
    double first = 0, sum = 0;
    bool equal = true;
    for (size_t i = 0; i < a->parts; i++) {
        const struct part *p = &a->part[i];
        const struct chil_exp_cell *from = take_cell(&a->part[i], cell);
        double value = !from ? 0 : p->kind == CHIL_EXP_COUNT ? (double)from->count : from->real;
        if (i == 0) first = value;
        equal = equal && value == first;
        sum += value * p->weight;
    }
    cell->real = equal ? first : sum / (double)a->weight;
}

static void merge_pedigree(struct chil_exp_metric *to, const struct chil_exp_metric *from,
                           double low, double high, bool first)
{
    to->runs = first ? from->runs : to->runs + from->runs;
    to->low = first || low < to->low ? low : to->low;
    to->high = first || high > to->high ? high : to->high;
    to->partial = first ? from->partial : to->partial || from->partial;
    if (strcmp(to->exactness, "exact") == 0 ||
        strcmp(from->exactness, "estimated") == 0) /* the weaker word */
        to->exactness = from->exactness;
}

void exp_average(const struct exp_aligned *aligned, int metric, const bool *used)
{
    struct average a = {.exp = aligned->exp, .metric = metric};
    struct chil_exp_metric *to = &a.exp->metric[metric];
    struct chil_exp_cell cell = {.node = 0};
    bool counts = true;
    char *exactness = NULL;
    a.part = base_calloc(aligned->sources, sizeof *a.part);
    for (size_t i = 0; i < aligned->sources; i++) {
        if (!used[i]) continue;
        double low, high;
        int there = aligned->in[i * a.exp->metrics + (size_t)metric];
        const struct chil_exp_metric *from = &aligned->source[i].exp->metric[there];
        chil_exp_range(aligned->source[i].exp, there, &low, &high);
        if (a.parts == 0) to->exactness = from->exactness;
        merge_pedigree(to, from, low, high, a.parts == 0);
        counts = counts && from->kind == CHIL_EXP_COUNT;
        a.weight += from->runs;
        exactness = to->exactness;
        a.part[a.parts++] =
            (struct part){exp_aligned_cells(aligned, i, there), 0, from->kind, from->runs};
    }
    to->exactness = exp_text(a.exp, exactness);
    to->kind = counts ? CHIL_EXP_COUNT : CHIL_EXP_REAL;
    while (next_place(&a, &cell)) {
        if (counts)
            average_counts(&a, &cell);
        else
            average_reals(&a, &cell);
        exp_add_cell(a.exp, metric, cell);
    }
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
        exp_average(&aligned, (int)m, used);
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
            exp_average(&aligned, (int)m, used);
        }
        result[which] = aligned.exp;
        exp_aligned_fini(&aligned);
    }
    free(used);
    return 0;
}
