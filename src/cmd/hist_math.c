/* Marginals of a histogram, and the mutual information of its dimensions.
 *
 * The measure of spread is entropy, H = -sum p log2 p over the bins, in bits: it needs no order and
 * no distance between values, so tags and functions are measured as latencies are. A dimension
 * explains I(A; B) = H(A) + H(B) - H(A, B) bits of another, the mutual information: how much the
 * entropy of A falls once B is known. All counts are exact.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/hist.h"

static uint64_t mask_of(const struct chil_hist *hist, unsigned dimension)
{
    const struct chil_dimension *d = chil_hist_dimension(hist, dimension);
    return (d->bits < 64 ? (UINT64_C(1) << d->bits) - 1 : UINT64_MAX) << d->low;
}

static int by_index(const void *a, const void *b)
{
    uint64_t first = ((const struct hist_bar *)a)->index,
             second = ((const struct hist_bar *)b)->index;
    return (first > second) - (first < second);
}

/* Bins that are the same under a mask, added up; `index` is what is under it. */
static struct hist_bar *project(struct chil_hist *hist, uint64_t mask, size_t *count)
{
    size_t bins, used = 0;
    const struct chil_bin *bin = chil_hist_bins(hist, &bins);
    struct hist_bar *bars = calloc(bins + 1, sizeof *bars);
    *count = 0;
    if (!bars) return NULL;
    for (size_t i = 0; i < bins; i++)
        bars[i] = (struct hist_bar){bin[i].key & mask, bin[i].count};
    qsort(bars, bins, sizeof *bars, by_index);
    for (size_t i = 0; i < bins; i++) {
        if (used && bars[used - 1].index == bars[i].index)
            bars[used - 1].count += bars[i].count;
        else
            bars[used++] = bars[i];
    }
    *count = used;
    return bars;
}

struct hist_bar *hist_marginal(struct chil_hist *hist, unsigned dimension, size_t *count)
{
    struct hist_bar *bars = project(hist, mask_of(hist, dimension), count);
    for (size_t i = 0; i < *count; i++)
        bars[i].index = chil_hist_index(hist, dimension, bars[i].index);
    return bars;
}

static int by_size(const void *a, const void *b)
{
    const struct hist_bar *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

bool hist_is_ordered(const struct chil_hist *hist, unsigned dimension)
{
    enum chil_variable variable = chil_hist_dimension(hist, dimension)->variable;
    return variable == CHIL_VAR_LATENCY || variable == CHIL_VAR_SIZE ||
           variable == CHIL_VAR_LEVEL || variable == CHIL_VAR_HOPS || variable == CHIL_VAR_LINK ||
           variable == CHIL_VAR_WAIT;
}

struct hist_bar *hist_largest(struct chil_hist *hist, unsigned dimension, size_t most, bool ordered,
                              size_t *count, size_t *left)
{
    struct hist_bar *bars = hist_marginal(hist, dimension, count);
    *left = *count > most ? *count - most : 0;
    if (bars && *count) qsort(bars, *count, sizeof *bars, by_size);
    *count -= *left;
    if (bars && *count && ordered) qsort(bars, *count, sizeof *bars, by_index);
    return bars;
}

static double entropy_under(struct chil_hist *hist, uint64_t mask)
{
    size_t count;
    struct hist_bar *bars = project(hist, mask, &count);
    double sum = 0, total = (double)chil_hist_total(hist);
    for (size_t i = 0; i < count; i++)
        sum += (double)bars[i].count * log2(total / (double)bars[i].count);
    free(bars);
    return total > 0 ? sum / total : 0;
}

double hist_entropy(struct chil_hist *hist)
{
    return entropy_under(hist, UINT64_MAX);
}

double hist_entropy_of(struct chil_hist *hist, unsigned dimension)
{
    return entropy_under(hist, mask_of(hist, dimension));
}

/* Rounding may leave a little less than nothing. */
static double at_least_0(double value)
{
    return value < 1e-12 ? 0 : value;
}

double hist_information(struct chil_hist *hist, unsigned a, unsigned b)
{
    double both = entropy_under(hist, mask_of(hist, a) | mask_of(hist, b));
    return at_least_0(hist_entropy_of(hist, a) + hist_entropy_of(hist, b) - both);
}

double hist_gain(struct chil_hist *hist)
{
    uint64_t last = mask_of(hist, chil_hist_dimensions(hist) - 1);
    return at_least_0(entropy_under(hist, ~last) + entropy_under(hist, last) - hist_entropy(hist));
}
