/* Inside chiliad stat: the options, the counts of a run, and how they are printed. */
#ifndef CMD_STAT_H
#define CMD_STAT_H

#include "cmd/cmd.h"

enum { PATTERNS_MAX = 4096, METRICS_MAX = 64, STAT_COLUMNS_MAX = 65 };

/* The derived metrics, from a file of rows (docs/formats/metrics.md). */
struct stat_metrics {
    struct stat_metric {
        const char *text, *unit, *formula;
    } rows[METRICS_MAX];
    size_t count;
    char *bytes; /* what they point into */
};

struct stat_options {
    struct cmd_program program;
    const char *separator, *output, *metrics;
    const char *patterns[PATTERNS_MAX];
    size_t pattern_count;
    uint64_t repeat;
    bool json, all, per_core, hpm, verbose;
};

/* The events to show, in order. */
struct stat_chosen {
    const struct chil_event **events;
    size_t count;
};

/* Fills `chosen`, whose `events` the caller frees. */
int stat_choose(struct stat_chosen *chosen, const struct stat_options *o,
                const struct chil_machine *machine);

/* What is shown of a run. */
struct stat_shown {
    const struct stat_options *options;
    const struct chil_machine *machine;
    const struct chil_run *run;
    const struct stat_chosen *chosen;
    const struct stat_metrics *metrics;
};

/* A column of numbers: one core's, or all of them together. */
enum { STAT_TOTAL = -1 };
bool stat_count(const struct stat_shown *shown, int core, const struct chil_event *event,
                uint64_t *count);

/* Reads FILE, or the data directory's NAME.metrics when it is NULL; every name and sign of a
 * formula is checked. */
int stat_metrics_read(struct stat_metrics *metrics, const struct chil_machine *machine,
                      const char *file, const char *name);
void stat_metrics_fini(struct stat_metrics *metrics);
/* The value of a row in a column; false where something is divided by 0 or is not a core's. */
bool stat_metric(const struct stat_shown *shown, int core, const struct stat_metric *metric,
                 double *value);

/* The same as cells; without a value where there is none. */
struct view_cell stat_count_cell(const struct stat_shown *shown, int core,
                                 const struct chil_event *event);
struct view_cell stat_metric_cell(const struct stat_shown *shown, int core,
                                  const struct stat_metric *metric);
/* Derived metrics to show: none where events were chosen, unless a file of metrics was given. */
size_t stat_metric_count(const struct stat_shown *shown);
double stat_seconds(const struct stat_shown *shown, uint64_t cycles);

/* Writes everything to `out` in the form of the options; false: that failed. */
bool stat_print(FILE *out, const struct stat_shown *shown);
void stat_print_hpm(FILE *out, const struct stat_shown *shown);
void stat_print_lines(FILE *out, const struct stat_shown *shown);
bool stat_print_json(FILE *out, const struct stat_shown *shown);

#endif
