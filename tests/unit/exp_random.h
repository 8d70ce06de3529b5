/* Random experiments, and experiments as text that does not depend on the order of rows. */
#ifndef EXP_RANDOM_H
#define EXP_RANDOM_H

#include "chiliad/experiment.h"

/* Counts, reals (multiples of 1/8), a composition of a composition, a computation; each metric may
 * be missing, and what lacks parts is partial, as after a run with few counters. No two call paths
 * or threads are equal. */
struct chil_exp *exp_random(uint64_t *state);

/* A line for each cell, sorted: metric, call path, process and thread, value. To be freed. */
char *exp_dump(const struct chil_exp *exp);
/* The same of some metrics' names only: those `names` has with blanks around. */
char *exp_dump_of(const struct chil_exp *exp, const char *names);
/* Lines put into order. */
char *exp_sort_lines(char *text);

#endif
