/* The parts of chiliad report. */
#ifndef CMD_REPORT_H
#define CMD_REPORT_H

#include "chiliad/metric.h"
#include "chiliad/report.h"
#include "cmd/experiment.h"

enum { REPORT_LIST = 64 };

struct report {
    const char *command; /* in messages; NULL: "report" */
    const char *file, *spec_name, *order, *describe, *folded, *callgrind, *annotate, *columns,
        *sort, *separator, *reference;
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
    bool is_borrowed; /* `read` */
    struct chil_report *report;
    struct chil_report *other; /* of `reference`, which shares are of */
};

/* Reads `file`, unless `read` is there, derives, selects. Reports errors; report_close follows
 * success and failure. */
int report_open(struct report *r);
void report_close(struct report *r);
/* The ratio of that name; NULL: none. */
const struct chil_spec_item *report_ratio(const struct report *r, const char *name);
/* "measured", "composed", "computed"; with several runs their number and spread. */
const char *report_pedigree(const struct chil_exp *exp, int metric, char buffer[64]);

/* A tree: its rows as the table and JSON show them (report_tree.c). */
enum { REPORT_TITLE = 400, REPORT_TREE_COLUMNS = 11 };
struct report_tree {
    struct view_column column[REPORT_TREE_COLUMNS];
    struct view view;
    enum chil_report_pane pane;
    size_t left_out; /* rows beyond `most` */
};
/* `title` is borrowed; `most` rows, 0: all. The view is to be freed with view_fini. */
void report_tree_init(struct report_tree *tree, const struct report *r, enum chil_report_pane pane,
                      const char *title, uint64_t most);
/* The name of a row with its indent and '+' or '-'. */
const char *report_row_title(const struct chil_exp *exp, enum chil_report_pane pane,
                             const struct chil_report_row *row, char title[REPORT_TITLE]);
/* A real as separated values show it: a program reads back the same value. */
#define REPORT_ALL_DIGITS "%.17g"
/* A table that fits the terminal, on standard output. */
void report_table(const struct view *view);
int report_print_ratios(const struct report *r);
int report_print_ratio_tree(const struct report *r, const struct chil_spec_item *ratio);

int report_print_text(struct report *r);
int report_print_flat(struct report *r);
int report_print_lines(struct report *r);
int report_print_json(struct report *r);
/* All that does not depend on selections, without the values ("cells" of metrics). */
json_t *report_json(const struct report *r);
/* Experiments side by side. */
int report_print_table(const struct report *r, size_t count);
int report_describe(const struct report *r);
int report_annotate(const struct report *r);

#endif
