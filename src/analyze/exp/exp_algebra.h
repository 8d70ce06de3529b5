/* Internals that merge, mean and diff share. */
#ifndef EXP_ALGEBRA_H
#define EXP_ALGEBRA_H

#include "analyze/exp/exp_align.h"

/* Aligns inputs in the order of exp_compare: the caller's order does not matter. */
int exp_align_sorted(struct exp_aligned *aligned, const struct chil_exp *const *input,
                     size_t inputs, const struct chil_exp_align *align, struct chil_error *err);
/* Fills a metric of the result with the average over the sources in `used`, which have it, and
 * their pedigree. */
void exp_average(const struct exp_aligned *aligned, int metric, const bool *used);
/* Adds `sign` times the cells of a column of some kind to a metric. */
void exp_add_cells(struct chil_exp *exp, int metric, const struct exp_column *column,
                   enum chil_exp_kind kind, int sign);

#endif
