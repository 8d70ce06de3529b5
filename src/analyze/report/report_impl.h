/* Internals of reports: the selections, and sums over them.
 *
 * Terms: docs/glossary.md
 */
#ifndef REPORT_IMPL_H
#define REPORT_IMPL_H

#include "base/mem.h"
#include "chiliad/report.h"

struct chil_report {
    struct chil_exp *exp;
    const struct chil_spec *spec;     /* borrowed; may be NULL */
    const struct chil_exp *reference; /* likewise */
    enum chil_report_pane at[3];      /* left to right */
    int metric;                       /* selected */
    bool own;                         /* the selected are open */
    bool calls_chosen, threads_chosen;
    bool *apart;   /* by metric */
    bool *chosen;  /* by call path: matched itself */
    bool *node_in; /* by call path: it or an ancestor is chosen */
    bool *thread_in;
};

/* The selections that a sum is restricted to. */
struct report_masks {
    bool calls, threads;
};
/* The selections in trees to the left of this one. */
struct report_masks report_masks_of(const struct chil_report *report, enum chil_report_pane pane);

/* What each call path counted itself (out[nodes]), or each thread (out[threads]); of a metric, or
 * with `open` of it without its children. */
void report_by_node(const struct chil_report *report, int metric, bool open,
                    struct report_masks masks, double *out);
void report_by_thread(const struct chil_report *report, int metric, bool open,
                      struct report_masks masks, double *out);
double report_total(const struct chil_report *report, int metric, bool open,
                    struct report_masks masks);
/* Converts own values into inclusive ones. */
void report_fold_nodes(const struct chil_exp *exp, double *values);

/* What percentages of a tree are of, when that is one number for all of its rows. */
double report_base(const struct chil_report *report, enum chil_report_mode mode);
/* The whole hierarchy of a metric in the reference. */
double report_external(const struct chil_report *report, int metric);
/* The mode that USUAL is in a tree. */
enum chil_report_mode report_mode_in(enum chil_report_pane pane, enum chil_report_mode mode);
double report_percent(double value, double base, bool *defined);

/* A name without what a format uses itself. */
void report_print_name(FILE *out, const char *name, const char *not_these);

#endif
