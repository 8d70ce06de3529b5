/* Small experiments for the tests of metrics: one call path and one thread, or a few of each. */
#ifndef RIG_METRIC_H
#define RIG_METRIC_H

#include <stdint.h>

#include "chiliad/metric.h"

struct rigm_count {
    const char *name;
    int64_t count;
};

/* An experiment with `nodes` call paths below one another and one thread, and no metrics. */
struct chil_exp *rigm_experiment(int nodes);
/* A measured metric with this count at a node. */
void rigm_add(struct chil_exp *exp, const char *name, int node, int64_t count);
/* The same for a list that ends with a NULL name, at node 0. */
struct chil_exp *rigm_counts(const struct rigm_count *counts);

struct chil_spec *rigm_spec(const char *text);
struct chil_spec *rigm_open(const char *name);
struct chil_platform *rigm_platform(const char *name);
struct chil_exp *rigm_derive(const struct chil_exp *exp, const struct chil_spec *spec,
                             const struct chil_metric_options *options);
/* Of a metric that is there: its total; whether it is partial. */
int64_t rigm_total(const struct chil_exp *exp, const char *name);
bool rigm_partial(const struct chil_exp *exp, const char *name);
bool rigm_has(const struct chil_exp *exp, const char *name);
/* The message of a text that must be refused. */
const char *rigm_refused(const char *text);

#endif
