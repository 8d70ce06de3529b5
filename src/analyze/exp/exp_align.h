/* Alignment: joins the trees of several experiments and maps each input row to its result row.
 *
 * Metrics match by unique name. Call paths match from the root down, by region name, region module
 * and line of the call, or by region name alone. Threads match by process rank and thread rank.
 * If one input has a key several times, as two calls on one line or two processes of one rank on
 * two nodes, the n-th of one input matches the n-th of the other: rows of one input never become
 * one.
 */
#ifndef EXP_ALIGN_H
#define EXP_ALIGN_H

#include "analyze/exp/exp.h"

struct exp_source { /* result indices by index of the input; -1: left out */
    const struct chil_exp *exp;
    int *metric, *node, *thread;
};

struct exp_aligned {
    struct chil_exp *exp; /* the result: trees and metadata, no cells */
    struct exp_source *source;
    size_t sources;
    int *in; /* sources x metrics of the result: the metric there, or -1 */
};

/* `common`: only metrics that every input has. The caller takes `exp`; the rest goes with
 * exp_aligned_fini. */
void exp_align(struct exp_aligned *aligned, const struct chil_exp *const *input, size_t inputs,
               const struct chil_exp_align *align, bool common);
void exp_aligned_fini(struct exp_aligned *aligned);
/* A metric's cells where the result has them; to be freed. */
struct exp_column exp_aligned_cells(const struct exp_aligned *aligned, size_t source, int metric);

/* An order of experiments by what is in them, larger first; 0 only when all that the operators look
 * at is equal. */
int exp_compare(const struct chil_exp *a, const struct chil_exp *b);

/* A map from four ints to an int. */
struct exp_index {
    void *root;
    struct arena arena;
};
void exp_index_init(struct exp_index *index);
void exp_index_fini(struct exp_index *index);
int *exp_index_at(struct exp_index *index, int a, int b, int c, int d); /* *: -1 when new */

/* --- Formulas -------------------------------------------------------------------------------- */

struct exp_term {
    int sign, metric; /* metric -1: not in the experiment */
};
/* "A + B - C" as terms, to be freed; the number of them, or -1 for anything else. Operators stand
 * between blanks. */
int exp_formula_terms(const struct chil_exp *exp, const char *formula, struct exp_term **terms);

#endif
