/* Conditions over the totals of two experiments, for `diff --fail-if`. The grammar is in
 * chiliad-diff(1).
 *
 *     CYCLES > 1.05 * A.CYCLES or delta(BGL_D1_L_MISS) > 2%
 */
#ifndef CMD_CONDITION_H
#define CMD_CONDITION_H

#include <stdbool.h>

#include "chiliad/experiment.h"
#include "chiliad/metric.h"

/* What A or B is to a condition. A name is looked up in this order; all is borrowed. */
struct condition_side {
    const struct chil_exp *input;   /* metrics as they were read */
    const struct chil_exp *derived; /* with the hierarchies of `spec` */
    const struct chil_spec *spec;   /* ratios */
};

/* Whether it holds for A and B, in *holds; 0, or an error in `why`. */
int condition_holds(const char *text, const struct condition_side side[2], bool *holds,
                    struct chil_error *why);

#endif
