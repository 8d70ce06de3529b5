/* The parts of chiliad report. */
#ifndef CMD_REPORT_H
#define CMD_REPORT_H

#include "chiliad/metric.h"
#include "chiliad/report.h"
#include "cmd/experiment.h"

enum { REPORT_LIST = 64 };

struct report {
    const char *file, *spec_name, *order, *describe, *folded, *callgrind, *annotate, *separator,
        *reference;
    const char *show; /* letters of the parts; NULL: all */
    const char *metric[REPORT_LIST], *call[REPORT_LIST];
    size_t metrics, calls;
    struct cmd_threads threads;
    struct chil_report_view view; /* of call paths */
    unsigned metric_depth;
    uint64_t top;
    bool own, table, flat, by_module, apart, json;
    struct chil_metric_options options;

    struct chil_spec *spec; /* NULL: none */
    struct chil_exp *read;
    struct chil_report *report;
    struct chil_report *other; /* of `reference`, which shares are of */
};

/* The ratio of that name; NULL: none. */
const struct chil_spec_item *report_ratio(const struct report *r, const char *name);
/* A metric's value as digits, grouped or not. */
enum { REPORT_NUMBER_MAX = 48 };
const char *report_number(const struct chil_exp *exp, int metric, double value, bool grouped,
                          char buffer[REPORT_NUMBER_MAX]);
/* "measured", "composed", "computed"; with several runs their number and spread. */
const char *report_pedigree(const struct chil_exp *exp, int metric, char buffer[64]);

int report_print_text(struct report *r);
int report_print_flat(struct report *r);
int report_print_lines(struct report *r);
int report_print_json(struct report *r);
/* Experiments side by side. */
int report_print_table(const struct report *r, size_t count);
int report_describe(const struct report *r);
int report_annotate(const struct report *r);

#endif
