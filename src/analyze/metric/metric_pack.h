/* Packing events into runs: the solver behind chil_plan_new. Events are indexes into the
 * platform's. */
#ifndef METRIC_PACK_H
#define METRIC_PACK_H

#include "analyze/metric/metric_impl.h"

/* Events that a computation wants in one run. */
struct pack_group {
    int *event;
    size_t count;
    bool together; /* out */
};

struct pack {
    const struct chil_platform *platform;
    const int *event; /* to be counted, each in at least one run */
    size_t events;
    struct pack_group *group;
    size_t groups;

    size_t runs, bound; /* out */
    int *run; /* out: runs x PLATFORM_COUNTERS_MAX events by counter, METRIC_NONE where a counter is
                 free */
    int *fixed; /* out: on a platform with groups, the group of each run */
};

/* The fewest runs; among plans of so many, one that keeps as many computations together as it can
 * find. */
void pack_solve(struct pack *pack);
void pack_fini(struct pack *pack);

#endif
