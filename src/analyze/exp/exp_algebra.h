/* Internals that merge, mean and diff share. */
#ifndef EXP_ALGEBRA_H
#define EXP_ALGEBRA_H

#include "analyze/exp/exp_align.h"

/* Aligns inputs in the order of exp_compare: the caller's order does not matter. */
int exp_align_sorted(struct exp_aligned *aligned, const struct chil_exp *const *input,
                     size_t inputs, const struct chil_exp_align *align, struct chil_error *err);
/* Where each source counted anything (exp_places.c). */
struct exp_places {
    size_t sources;
    struct exp_column *column; /* by source: its places in the result, ascending */
    unsigned *weight, runs;    /* what exp_places_runs was called with last, and its result */
};
void exp_places_init(struct exp_places *places, const struct exp_aligned *aligned);
void exp_places_fini(struct exp_places *places);
/* Whether a source has a place; *at moves on to it, so places come in ascending order. */
bool exp_places_has(const struct exp_places *places, size_t source, size_t *at,
                    const struct chil_exp_cell *place);
/* With weight[] runs of each source, 0 for one that is not used: the most runs at one place. */
unsigned exp_places_runs(struct exp_places *places, const unsigned *weight);

/* Fills a metric of the result with the average over the sources in `used`, which have it, and
 * their pedigree. `places` NULL: a value that a source lacks is zero. Else each value is averaged
 * over the sources that have its place. */
void exp_average(const struct exp_aligned *aligned, int metric, const bool *used,
                 struct exp_places *places);
/* Adds `sign` times the cells of a column of some kind to a metric. */
void exp_add_cells(struct chil_exp *exp, int metric, const struct exp_column *column,
                   enum chil_exp_kind kind, int sign);

#endif
