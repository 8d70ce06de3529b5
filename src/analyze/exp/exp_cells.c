/* Severities: the sparse cells of each metric, and sums over them. */
#include "analyze/exp/exp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t key_of(const struct chil_exp_cell *cell)
{
    return (uint64_t)cell->node << 32 | cell->thread;
}

/* Counts saturate at 64 bits. */
static int64_t add_counts(int64_t a, int64_t b)
{
    int64_t sum;
    if (!__builtin_add_overflow(a, b, &sum)) return sum;
    return b < 0 ? INT64_MIN : INT64_MAX;
}

static bool is_zero(const struct chil_exp_cell *cell, enum chil_exp_kind kind)
{
    return kind == CHIL_EXP_COUNT ? cell->count == 0 : cell->real == 0;
}

static void add_to(struct chil_exp_cell *to, const struct chil_exp_cell *from,
                   enum chil_exp_kind kind)
{
    if (kind == CHIL_EXP_COUNT)
        to->count = add_counts(to->count, from->count);
    else
        to->real += from->real;
}

/* Bottom-up merge sort. It is stable, so that reals are added up in the order of insertion. */
static void sort_cells(struct chil_exp_cell *cell, size_t count)
{
    struct chil_exp_cell *other = base_calloc(count, sizeof *other), *from = cell, *to = other;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t at = 0; at < count; at += 2 * width) {
            size_t a = at, a_end = at + width < count ? at + width : count;
            size_t b = a_end, b_end = at + 2 * width < count ? at + 2 * width : count;
            for (size_t out = at; out < b_end; out++)
                to[out] = a < a_end && (b == b_end || key_of(&from[a]) <= key_of(&from[b]))
                              ? from[a++]
                              : from[b++];
        }
        struct chil_exp_cell *was = from;
        from = to;
        to = was;
    }
    if (from != cell) memcpy(cell, from, count * sizeof *cell);
    free(other);
}

void exp_normalize(struct exp_column *column, enum chil_exp_kind kind)
{
    if (!column->unsorted) return;
    struct chil_exp_cell *cell = column->cell;
    size_t kept = 0;
    bool sorted = true;
    for (size_t i = 1; i < column->count && sorted; i++)
        sorted = key_of(&cell[i - 1]) <= key_of(&cell[i]);
    if (!sorted) sort_cells(cell, column->count);
    for (size_t i = 0; i < column->count;) {
        struct chil_exp_cell sum = cell[i++];
        while (i < column->count && key_of(&cell[i]) == key_of(&sum))
            add_to(&sum, &cell[i++], kind);
        if (!is_zero(&sum, kind)) cell[kept++] = sum;
    }
    column->count = kept;
    column->unsorted = false;
}

void exp_add_cell(struct chil_exp *exp, int metric, struct chil_exp_cell cell)
{
    struct exp_column *column = &exp->values->column[metric];
    enum chil_exp_kind kind = exp->metric[metric].kind;
    if (is_zero(&cell, kind)) return;
    if (column->count) {
        struct chil_exp_cell *last = &column->cell[column->count - 1];
        if (key_of(last) == key_of(&cell)) {
            add_to(last, &cell, kind);
            column->unsorted |= is_zero(last, kind);
            return;
        }
        column->unsorted |= key_of(last) > key_of(&cell);
    }
    column->cell =
        base_grow(column->cell, &column->capacity, column->count + 1, sizeof *column->cell);
    column->cell[column->count++] = cell;
}

static bool is_place(const struct chil_exp *exp, int metric, int node, int thread)
{
    return metric >= 0 && (size_t)metric < exp->metrics && node >= 0 && (size_t)node < exp->nodes &&
           thread >= 0 && (size_t)thread < exp->threads;
}

void chil_exp_add_count(struct chil_exp *exp, int metric, int node, int thread, int64_t count)
{
    if (!is_place(exp, metric, node, thread)) return;
    struct chil_exp_cell cell = {
        .node = (uint32_t)node, .thread = (uint32_t)thread, .count = count};
    if (exp->metric[metric].kind == CHIL_EXP_REAL) cell.real = (double)count;
    exp_add_cell(exp, metric, cell);
}

void chil_exp_add_real(struct chil_exp *exp, int metric, int node, int thread, double real)
{
    if (!is_place(exp, metric, node, thread)) return;
    if (exp->metric[metric].kind == CHIL_EXP_COUNT) exp_make_real(exp, metric);
    struct chil_exp_cell cell = {.node = (uint32_t)node, .thread = (uint32_t)thread, .real = real};
    exp_add_cell(exp, metric, cell);
}

void exp_make_real(struct chil_exp *exp, int metric)
{
    struct exp_column *column = &exp->values->column[metric];
    if (exp->metric[metric].kind == CHIL_EXP_REAL) return;
    for (size_t i = 0; i < column->count; i++)
        column->cell[i].real = (double)column->cell[i].count;
    exp->metric[metric].kind = CHIL_EXP_REAL;
}

/* --- Queries ---------------------------------------------------------------------------------- */

const struct chil_exp_cell *chil_exp_cells(const struct chil_exp *exp, int metric, size_t *count)
{
    struct exp_column *column = &exp->values->column[metric];
    exp_normalize(column, exp->metric[metric].kind);
    *count = column->count;
    return column->cell;
}

/* The first cell at or after a place. */
static size_t lower_bound(const struct chil_exp_cell *cell, size_t count, uint64_t key)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (key_of(&cell[middle]) < key)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

static const struct chil_exp_cell *find_cell(const struct chil_exp *exp, int metric, int node,
                                             int thread)
{
    size_t count;
    const struct chil_exp_cell *cell = chil_exp_cells(exp, metric, &count);
    struct chil_exp_cell wanted = {.node = (uint32_t)node, .thread = (uint32_t)thread};
    size_t at = lower_bound(cell, count, key_of(&wanted));
    return at < count && key_of(&cell[at]) == key_of(&wanted) ? &cell[at] : NULL;
}

/* A real as a count: rounded, and kept within 64 bits. */
static int64_t to_count(double real)
{
    if (!(real > -0x1p63)) return INT64_MIN;
    return real >= 0x1p63 ? INT64_MAX : (int64_t)llround(real);
}

int64_t chil_exp_count(const struct chil_exp *exp, int metric, int node, int thread)
{
    const struct chil_exp_cell *cell = find_cell(exp, metric, node, thread);
    if (!cell) return 0;
    return exp->metric[metric].kind == CHIL_EXP_COUNT ? cell->count : to_count(cell->real);
}

double chil_exp_real(const struct chil_exp *exp, int metric, int node, int thread)
{
    const struct chil_exp_cell *cell = find_cell(exp, metric, node, thread);
    if (!cell) return 0;
    return exp->metric[metric].kind == CHIL_EXP_COUNT ? (double)cell->count : cell->real;
}

/* The nodes of a sum: those of [from, to) with inside[node], or all of them if `inside` is NULL. */
struct range {
    size_t from, to;
    bool *inside;
};

static struct range range_of(const struct chil_exp *exp, int node, bool subtree)
{
    if (node < 0) return (struct range){0, exp->nodes, NULL};
    struct range range = {(size_t)node, (size_t)node + 1, NULL};
    if (!subtree) return range;
    range.inside = base_calloc(exp->nodes, sizeof *range.inside);
    range.inside[node] = true;
    for (size_t i = (size_t)node + 1; i < exp->nodes; i++) {
        int parent = exp->node[i].parent;
        range.inside[i] = parent >= 0 && range.inside[parent];
        if (range.inside[i]) range.to = i + 1;
    }
    return range;
}

/* The sum of cells of the metric's kind. */
static struct chil_exp_cell sum_cells(const struct chil_exp *exp, int metric, int node,
                                      bool subtree, int thread)
{
    size_t count;
    const struct chil_exp_cell *cell = chil_exp_cells(exp, metric, &count);
    enum chil_exp_kind kind = exp->metric[metric].kind;
    struct range range = range_of(exp, node, subtree);
    struct chil_exp_cell sum = {.count = 0};
    if (kind == CHIL_EXP_REAL) sum.real = 0;
    for (size_t i = lower_bound(cell, count, (uint64_t)range.from << 32);
         i < count && cell[i].node < range.to; i++)
        if ((!range.inside || range.inside[cell[i].node]) &&
            (thread < 0 || cell[i].thread == (uint32_t)thread))
            add_to(&sum, &cell[i], kind);
    free(range.inside);
    return sum;
}

int64_t chil_exp_sum_count(const struct chil_exp *exp, int metric, int node, bool subtree,
                           int thread)
{
    struct chil_exp_cell sum = sum_cells(exp, metric, node, subtree, thread);
    return exp->metric[metric].kind == CHIL_EXP_COUNT ? sum.count : to_count(sum.real);
}

double chil_exp_sum(const struct chil_exp *exp, int metric, int node, bool subtree, int thread)
{
    struct chil_exp_cell sum = sum_cells(exp, metric, node, subtree, thread);
    return exp->metric[metric].kind == CHIL_EXP_COUNT ? (double)sum.count : sum.real;
}

void chil_exp_sum_nodes(const struct chil_exp *exp, int metric, bool subtree, int thread,
                        double *out)
{
    size_t count;
    const struct chil_exp_cell *cell = chil_exp_cells(exp, metric, &count);
    enum chil_exp_kind kind = exp->metric[metric].kind;
    struct chil_exp_cell *sum =
        base_calloc(exp->nodes, sizeof *sum); /* counts stay exact until the end */
    for (size_t i = 0; i < count; i++)
        if (thread < 0 || cell[i].thread == (uint32_t)thread)
            add_to(&sum[cell[i].node], &cell[i], kind);
    for (size_t i = exp->nodes; subtree && i-- > 0;)
        if (exp->node[i].parent >= 0) add_to(&sum[exp->node[i].parent], &sum[i], kind);
    for (size_t i = 0; i < exp->nodes; i++)
        out[i] = kind == CHIL_EXP_COUNT ? (double)sum[i].count : sum[i].real;
    free(sum);
}
