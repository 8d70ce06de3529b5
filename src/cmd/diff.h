/* Inside chiliad diff: the options, the changes that were found, and how they are printed. */
#ifndef CMD_DIFF_H
#define CMD_DIFF_H

#include "cmd/condition.h"
#include "cmd/experiment.h"

enum { DIFF_CONDITIONS = 64, DIFF_TOP = 20 };

struct diff {
    const char *path[2], *output, *separator, *condition[DIFF_CONDITIONS];
    size_t conditions, metrics;
    const char *metric[DIFF_CONDITIONS];
    bool json, all, failed[DIFF_CONDITIONS], any_failed;
    bool limited; /* to metrics that must agree on two machines */
    uint64_t top;
    struct chil_exp_align align;
    struct chil_spec *spec[2]; /* whose hierarchies are derived */
    /* As read; with hierarchies; and those on common trees: same rows, same indices. */
    struct chil_exp *input[2], *derived[2], *on[2];
};

struct diff_change {
    int metric, node; /* node -1: the total */
    const char *name; /* as --metric names it; NULL: the metric's own */
    unsigned depth;   /* in its hierarchy */
    bool cost;        /* cycles or seconds */
    double a, b;
};

struct diff_changes {
    struct diff_change *change;
    size_t count, room;
    size_t left_out; /* changed, but not in the list */
    bool no_memory;
};

/* What was found: totals of hierarchies, in the order of their trees; totals of other metrics; and
 * call paths, by metric. */
struct diff_found {
    struct diff_changes tree, single, paths;
    size_t compared, changed; /* metrics */
};

/* Whether the totals are compared: all metrics of both, or those of --metric, or what must agree.
 */
bool diff_wants(const struct diff *d, size_t metric);
int diff_find(const struct diff *d, struct diff_found *found);
void diff_found_fini(struct diff_found *found);

/* The tables, separated values or JSON on standard output. */
void diff_print(const struct diff *d, const struct diff_found *found);

#endif
