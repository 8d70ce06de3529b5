/* The parts of chiliad record. Each tells what is wrong and returns CMD_BAD, or 0. */
#ifndef CMD_RECORD_H
#define CMD_RECORD_H

#include "chiliad/experiment.h"
#include "chiliad/metric.h"
#include "cmd/cmd.h"

/* Whether the platform (NULL: none) has all sets of a list with commas; NULL or "all": all of them. */
int record_limit_check(const struct chil_platform *platform, const char *sets);
/* The experiment becomes what runs with the platform's sets would have given, derived one by one and merged; tells on
 * standard error how that differs from counting all their events at once. */
int record_limit(struct chil_exp **exp, const struct chil_platform *platform, const char *sets);

#endif
