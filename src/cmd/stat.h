/* Inside chiliad stat: the options, the counts of a run, and how they are printed. */
#ifndef CMD_STAT_H
#define CMD_STAT_H

#include "chiliad/metric.h"
#include "cmd/cmd.h"

enum { PATTERNS_MAX = 4096, STAT_COLUMNS_MAX = 65 };

/* The derived metrics: ratios of a specification (docs/formats/metrics.md), which owns their texts.
 */
struct stat_metrics {
    struct chil_spec *spec;
    struct stat_metric {
        const char *name, *text, *unit, *formula;
        struct chil_ratio_value *values; /* of the total, then of each core */
    } * rows;
    size_t count;
};

struct stat_options {
    struct cmd_program program;
    const char *separator, *output, *metrics, *page;
    const char *patterns[PATTERNS_MAX];
    size_t pattern_count;
    uint64_t repeat;
    bool json, all, per_core, per_node, hpm, verbose;
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
    struct stat_options *options;
    const struct chil_machine *machine;
    const struct chil_run *run;
    const struct stat_chosen *chosen;
    struct stat_metrics *metrics;
};

/* A column of numbers: one core's on all nodes, or with --per-node one node's, or all together. */
enum { STAT_TOTAL = -1 };
bool stat_count(const struct stat_shown *shown, int column, const struct chil_event *event,
                uint64_t *count);

/* Several nodes (stat_nodes.c): what an event counted on them. */
struct stat_spread {
    uint64_t least, most;
    unsigned least_node, most_node; /* the first that has it */
    double mean;
};
void stat_spread(const struct stat_shown *shown, const struct chil_event *event,
                 struct stat_spread *spread);
enum { STAT_PLACE = 40 };
/* The coordinates of a node: "(1,2,0)". */
const char *stat_place(const struct chil_run *run, unsigned node, char text[STAT_PLACE]);
/* "64 nodes (4x4x4)" */
const char *stat_shape(const struct chil_run *run, char text[STAT_PLACE]);
void stat_print_spreads(FILE *out, const struct stat_shown *shown);
/* Adds to a row of JSON what its event counted on each node, and to the whole what the nodes are.
 */
void stat_json_event(const struct stat_shown *shown, const struct chil_event *event, json_t *row);
void stat_json_nodes(const struct stat_shown *shown, json_t *json);

/* Reads FILE; when it is NULL, the machine's specification, or with `hpm` that of libHPM's report.
 * Every name of a formula is checked. */
int stat_metrics_read(struct stat_metrics *metrics, const struct chil_machine *machine,
                      const char *file, bool hpm);
void stat_metrics_fini(struct stat_metrics *metrics);
/* Computes the values of a run: the totals, and with `cores` every core's. */
int stat_metrics_evaluate(struct stat_metrics *metrics, const struct chil_run *run, bool cores);
/* The value of a row in a column; false where something is divided by 0 or is not a core's. */
bool stat_metric(const struct stat_metric *metric, int core, double *value);

/* The same as cells; without a value where there is none. */
struct view_cell stat_count_cell(const struct stat_shown *shown, int column,
                                 const struct chil_event *event);
struct view_cell stat_metric_cell(const struct stat_metric *metric, int core);
/* Derived metrics to show: none where events were chosen, unless a file of metrics was given. */
size_t stat_metric_count(const struct stat_shown *shown);
double stat_seconds(const struct stat_shown *shown, uint64_t cycles);

/* What memory.model = l1 or none counts. */
const char *stat_memory_text(const char *model);

/* Writes everything to `out` in the form of the options; false: that failed. */
bool stat_print(FILE *out, const struct stat_shown *shown);
void stat_print_hpm(FILE *out, const struct stat_shown *shown);
void stat_print_lines(FILE *out, const struct stat_shown *shown);
json_t *stat_json(const struct stat_shown *shown); /* the caller's */
bool stat_print_json(FILE *out, const struct stat_shown *shown);

#endif
