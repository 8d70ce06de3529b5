/* What the dimensions of a histogram say of each other, and which further one would explain most.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd/hist.h"

void hist_print_information(FILE *out, struct hist *h)
{
    unsigned dimensions = chil_hist_dimensions(h->hist);
    (void)fputs("\n what dimensions tell of each other (mutual information)\n", out);
    for (unsigned a = 0; a < dimensions; a++)
        for (unsigned b = a + 1; b < dimensions; b++) {
            double shared = hist_information(h->hist, a, b);
            double of_a = hist_entropy_of(h->hist, a), of_b = hist_entropy_of(h->hist, b);
            (void)fprintf(out, "%10.3f bits  %s and %s: %.1f %% of %s, %.1f %% of %s\n", shared,
                          hist_variable(h, a), hist_variable(h, b),
                          of_a > 0 ? 100 * shared / of_a : 0, hist_variable(h, a),
                          of_b > 0 ? 100 * shared / of_b : 0, hist_variable(h, b));
        }
}

struct ranked {
    const char *name;
    double gain, own;
};

static int by_gain(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->gain != y->gain) return x->gain > y->gain ? -1 : 1;
    if (x->own != y->own) return x->own < y->own ? -1 : 1;
    return strcmp(x->name, y->name);
}

static size_t rank(struct hist *h, struct ranked *ranked)
{
    for (size_t i = 0; i < h->candidate_count; i++) {
        struct chil_hist *hist = h->candidates[i].hist;
        ranked[i] = (struct ranked){h->candidates[i].name, hist_gain(hist),
                                    hist_entropy_of(hist, chil_hist_dimensions(hist) - 1)};
    }
    qsort(ranked, h->candidate_count, sizeof *ranked, by_gain);
    return h->candidate_count;
}

void hist_print_rank(FILE *out, struct hist *h)
{
    struct ranked ranked[HIST_CANDIDATES_MAX];
    size_t count = rank(h, ranked);
    double spread = hist_entropy(h->hist);
    (void)fprintf(out, "\n what another dimension would explain of these %.3f bits\n", spread);
    for (size_t i = 0; i < count; i++)
        (void)fprintf(out, "%10.3f bits  %5.1f %%  %s, which has %.3f bits\n", ranked[i].gain,
                      spread > 0 ? 100 * ranked[i].gain / spread : 0, ranked[i].name,
                      ranked[i].own);
}

json_t *hist_json_rank(struct hist *h)
{
    struct ranked ranked[HIST_CANDIDATES_MAX];
    size_t count = rank(h, ranked);
    json_t *all = json_array();
    for (size_t i = 0; i < count; i++)
        (void)json_array_append_new(all, json_pack("{s:s, s:f, s:f}", "dimension", ranked[i].name,
                                                   "explains_bits", ranked[i].gain, "own_bits",
                                                   ranked[i].own));
    return all;
}
