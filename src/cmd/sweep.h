/* Inside chiliad sweep: the options, the outcome of each run, and how they are shown. */
#ifndef CMD_SWEEP_H
#define CMD_SWEEP_H

#include "cmd/cmd.h"
#include "view/view_plot.h"

enum {
    SWEEP_AXES_MAX = 8,
    SWEEP_EVENTS_MAX = 16,
    SWEEP_VALUES_MAX = 64,
    SWEEP_RUNS_MAX = 1000,
    SWEEP_NAME_MAX = 120,
    SWEEP_JOBS_MAX = 256
};

/* A parameter of the machine and the values that it takes. */
struct sweep_axis {
    const char *key;
    const char *values[SWEEP_VALUES_MAX];
    size_t count;
};

struct sweep {
    struct cmd_program program;
    const char *separator, *plot, *page;
    bool json, chosen; /* chosen: -e was given */
    struct sweep_axis axes[SWEEP_AXES_MAX];
    size_t axis_count;
    char events[SWEEP_EVENTS_MAX][SWEEP_NAME_MAX];
    size_t event_count;
    unsigned jobs;
    size_t runs, begun; /* begun: before a signal came */
};

/* Where the time of the ranks went: to the program, to waiting in MPI for the network or other
 * ranks, and to the rest of MPI. The sum is cycles x ranks. */
enum sweep_time { SWEEP_COMPUTE, SWEEP_WAIT, SWEEP_TRANSFER, SWEEP_TIMES };
extern const char *const sweep_time_names[SWEEP_TIMES];

/* What the process of a run reports. */
struct sweep_outcome {
    int status; /* of the guest, or why there was no run */
    bool done;
    char partial[CMD_PARTIAL_TEXT];                 /* why it has no end; "": it has */
    char why[sizeof((struct chil_error *)0)->text]; /* of an error */
    uint64_t cycles, counts[SWEEP_EVENTS_MAX];
    uint64_t time[SWEEP_TIMES]; /* of all ranks, with -n */
};

/* The key of the axis of -n; no parameter of a machine has a name without a dot. */
extern const char sweep_nodes[];

bool sweep_has_nodes(const struct sweep *s);

/* The command line (sweep_options.c): 0, or the exit status. */
int sweep_parse_options(int argc, char **argv, struct sweep *s);

/* The value of an axis in a run: the last axis changes fastest. */
const char *sweep_value(const struct sweep *s, size_t run, size_t axis);

/* Whether a run has no end. */
bool sweep_partial(const struct sweep *s, const struct sweep_outcome *outcomes);
/* The table, separated values or JSON on standard output. */
void sweep_print(const struct sweep *s, const struct sweep_outcome *outcomes);
void sweep_print_json(const struct sweep *s, const struct sweep_outcome *outcomes, FILE *out);
/* The chart: a panel for cycles and for each event, over the first axis; with -n also the speed-up
 * and where the time went. */
void sweep_plot(const struct sweep *s, const struct sweep_outcome *outcomes, FILE *out);

#endif
