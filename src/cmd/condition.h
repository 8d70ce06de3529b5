/* Conditions over the totals of two experiments, for `diff --fail-if`. The grammar is in
 * chiliad-diff(1).
 *
 *     CYCLES > 1.05 * A.CYCLES or delta(BGL_D1_L_MISS) > 2%
 */
#ifndef CMD_CONDITION_H
#define CMD_CONDITION_H

#include <stdbool.h>

#include "chiliad/experiment.h"

/* Whether it holds, in *holds; 0, or -1 with what is wrong in `why`. */
int condition_holds(const char *text, const struct chil_exp *a, const struct chil_exp *b,
                    bool *holds, struct chil_error *why);

#endif
