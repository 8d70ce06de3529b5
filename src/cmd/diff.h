/* Inside chiliad diff: the options, the changes that were found, and how they are shown. */
#ifndef CMD_DIFF_H
#define CMD_DIFF_H

#include "cmd/experiment.h"

enum { DIFF_CONDITIONS = 64 };

struct diff {
    const char *path[2], *output, *separator, *condition[DIFF_CONDITIONS];
    size_t conditions, metrics;
    const char *metric[DIFF_CONDITIONS];
    bool json, all, failed[DIFF_CONDITIONS], any_failed;
    bool limited; /* to metrics that must agree on two machines */
    uint64_t top;
    struct chil_exp_align align;
    struct chil_exp *input[2], *on[2]; /* as read, and on common trees */
};

struct diff_change {
    int metric, node; /* node -1: the total */
    double a, b;
    double importance; /* the change as a share of the metric's total */
};

struct diff_changes {
    struct diff_change *change;
    size_t count, room;
};

bool diff_wants(const struct diff *d, size_t metric);

/* The table, separated values or JSON on standard output. */
void diff_print(const struct diff *d, const struct diff_changes *totals,
                const struct diff_changes *paths);

#endif
