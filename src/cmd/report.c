/* chiliad report: an experiment in the terminal, or for another tool.
 *
 *     $ chiliad report -m CYCLES matrix.cubex
 *     call paths of CYCLES             whole             own    share
 *     - matrix                     2,412,345             312     0.0%
 *       - main                     2,410,001          11,004     0.5%
 *         + multiply               2,398,997       2,398,997    99.5%
 *
 * Three linked trees (paper 003, section 3.1): a selection in one limits the trees to its right. A
 * closed node (+) shows its whole value, an open one (-) its own.
 */
#include "cmd/report.h"

#include <stdlib.h>
#include <string.h>

/* --- The command line ------------------------------------------------------------------------ */

static int take_mode(void *options, const char *command, char *value)
{
    struct report *r = options;
    int mode = chil_report_mode_find(value);
    if (mode < 0)
        return cmd_fail(command, "--percent wants a mode that --help names, not '%s'", value);
    r->view.mode = (enum chil_report_mode)mode;
    return 0;
}

static int take_reference(void *options, const char *command, char *value)
{
    struct report *r = options;
    (void)command;
    r->reference = value;
    r->view.mode = CHIL_REPORT_EXTERNAL;
    return 0;
}

static int take_threshold(void *options, const char *command, char *value)
{
    struct report *r = options;
    char *end;
    double percent = strtod(value, &end);
    if (end == value || *end || !(percent >= 0 && percent <= 100))
        return cmd_fail(command, "--threshold wants a percentage from 0 to 100, not '%s'", value);
    r->view.threshold = percent / 100;
    return 0;
}

static int take_group(void *options, const char *command, char *value)
{
    struct report *r = options;
    r->by_module = strcmp(value, "module") == 0;
    r->flat = true;
    return r->by_module || strcmp(value, "region") == 0
               ? 0
               : cmd_fail(command, "--by wants module or region, not '%s'", value);
}

static int take_parts(void *options, const char *command, char *value)
{
    struct report *r = options;
    r->show = value;
    return *value && strspn(value, "fmrcsa") == strlen(value)
               ? 0
               : cmd_fail(command, "--show wants letters of f m r c s a, not '%s'", value);
}

static int take_csv(void *options, const char *command, char *value)
{
    struct report *r = options;
    (void)command;
    (void)value;
    r->separator = ",";
    return 0;
}

static int take_threads(void *options, const char *command, char *value)
{
    struct report *r = options;
    return cmd_threads_take(&r->threads, command, "--thread", value);
}

static const struct option_row option_rows[] = {
    {"metric", 'm', "NAME",
     "call paths and threads of this metric or ratio (default: CYCLES); may be "
     "repeated",
     OPTION_ADD_TEXT(struct report, metric, metrics)},
    {"call", 'c', "PATTERN",
     "select call paths: 'solve', 'main/s*', '/prog/main/**/dot'; may be repeated",
     OPTION_ADD_TEXT(struct report, call, calls)},
    {"thread", 't', "LIST",
     "select threads: T of every process, P.T, P.* or ranges, separated by commas",
     OPTION_CALLS(take_threads)},
    {"own", 0, NULL,
     "show own values of the selection: without child metrics, without called "
     "functions",
     OPTION_SET_FLAG(struct report, own)},
    {"order", 0, "LETTERS", "trees from left to right (default mcs: metrics, call paths, system)",
     OPTION_SET_TEXT(struct report, order)},
    {"percent", 0, "MODE",
     "usual (default), own-root, metric-root, metric-selection, call-root, "
     "call-selection, system-root, system-selection, external, peer, peer-range",
     OPTION_CALLS(take_mode),
     .values = "usual own-root metric-root metric-selection call-root call-selection "
               "system-root system-selection external peer peer-range"},
    {"reference", 0, "FILE", "percentages are of the root of the same hierarchy in this experiment",
     OPTION_CALLS(take_reference)},
    {"metric-depth", 0, "N", "open metrics less than N deep (default 1: the roots)",
     OPTION_SET_NUMBER(struct report, metric_depth, 0, CHIL_REPORT_DEPTH_MOST)},
    {"depth", 0, "N", "open call paths less than N deep (default: all above the threshold)",
     OPTION_SET_NUMBER(struct report, view.depth, 0, CHIL_REPORT_DEPTH_MOST)},
    {"threshold", 0, "P", "group call paths with less than P percent (default 1)",
     OPTION_CALLS(take_threshold)},
    {"top", 0, "N", "at most N rows of a tree (default 40; 0: all)",
     OPTION_SET_NUMBER(struct report, top, 0, 1000000000)},
    {"show", 0, "LETTERS",
     "only these parts: f findings, m metrics, r ratios, c call paths, s system, a "
     "counters in no hierarchy",
     OPTION_CALLS(take_parts)},
    {"flat", 0, NULL, "functions instead of call paths", OPTION_SET_FLAG(struct report, flat)},
    {"by", 0, "GROUP", "module or region instead of call paths", OPTION_CALLS(take_group),
     .values = "module region"},
    {"apart", 0, NULL, "list the counters that are in no hierarchy",
     OPTION_SET_FLAG(struct report, apart)},
    {"table", 0, NULL,
     "up to 16 experiments side by side: attributes, hierarchies, shares of the "
     "roots",
     OPTION_SET_FLAG(struct report, table)},
    {"describe", 0, "METRIC", "print what a metric is and where it comes from",
     OPTION_SET_TEXT(struct report, describe)},
    {"annotate", 0, "FUNCTION", "source and instructions of a function with their execution counts",
     OPTION_SET_TEXT(struct report, annotate)},
    {"columns", 0, "LIST",
     "with --annotate: executed, cycles, percent, and events of instructions, separated by commas; "
     "'help' lists what the file has",
     OPTION_SET_FULL(struct report, columns)},
    {"sort", 0, "COLUMN", "with --annotate: lines by this column, the largest first",
     OPTION_SET_FULL(struct report, sort)},
    {"csv", 0, NULL, "a line for each metric and call path, or region with --flat",
     OPTION_CALLS(take_csv)},
    {"separator", 'x', "SEP", "as --csv, with SEP instead of a comma",
     OPTION_SET_FULL(struct report, separator)},
    {"json", 'j', NULL, "one JSON object with everything", OPTION_SET_FLAG(struct report, json)},
    {"folded", 0, "METRIC", "lines as 'main;solve;dot 123', for flame graphs",
     OPTION_SET_TEXT(struct report, folded)},
    {"callgrind", 0, "FILE", "write FILE for KCachegrind and callgrind_annotate",
     OPTION_SET_TEXT(struct report, callgrind)},
    {"metrics", 0, "SPEC",
     "the hierarchies: a specification's name or file (default: that of the "
     "machine), or none",
     OPTION_SET_TEXT(struct report, spec_name), .values = "none @metrics"},
    {"partial", 0, NULL, "keep computations that lack inputs, marked ~",
     OPTION_SET_FLAG(struct report, options.partial_computations)},
    {"approximate", 0, NULL, "follow the specification's approximations, marked ~",
     OPTION_SET_FLAG(struct report, options.approximate)},
    {"seconds", 0, NULL, "hierarchies of cycles in seconds, by the clock of the recorded machine",
     OPTION_SET_FLAG(struct report, options.seconds)},
    {"time", 0, NULL,
     "add a hierarchy of time: execution with its parts, MPI, OpenMP, threads; "
     "each second once",
     OPTION_SET_FLAG(struct report, options.time)},
};

const struct option_table cmd_report_options = {
    .forms = {"[OPTIONS] FILE.cubex", "--table [OPTIONS] FILE.cubex..."},
    .about = "Shows an experiment: findings, metrics, ratios, hot call paths, threads. The "
             "selection in one tree decides what the trees to its right show. A closed "
             "node (+) shows its whole value, an open one (-) only its own.",
    .groups = {OPTION_ROWS(option_rows)},
};

/* --- Forms ----------------------------------------------------------------------------------- */

static int print_folded(const struct report *r)
{
    struct chil_error err = {0};
    if (chil_report_select_metric(r->report, r->folded, &err))
        return cmd_fail_error("report", &err);
    chil_report_folded(r->report, stdout);
    return 0;
}

/* The metrics of --metric, or those of all hierarchies. */
static int write_callgrind(const struct report *r)
{
    const struct chil_exp *exp = chil_report_exp(r->report);
    struct cmd_output output;
    int *metric = calloc(exp->metrics + REPORT_LIST, sizeof *metric);
    size_t count = 0;
    if (!metric) return cmd_fail("report", "out of memory");
    for (size_t i = 0; i < r->metrics; i++)
        if (!report_ratio(r, r->metric[i])) metric[count++] = chil_metric_find(exp, r->metric[i]);
    for (size_t i = 0; !r->metrics && i < exp->metrics; i++)
        if (!chil_report_is_apart(r->report, (int)i)) metric[count++] = (int)i;
    struct chil_report_code *code = NULL;
    struct chil_error none = {0};
    (void)chil_report_code_new(&code, r->read, r->file, "*",
                               &none); /* only lines are missing without */
    int status = cmd_output_open(&output, "report", r->callgrind);
    if (!status) {
        size_t written = chil_report_callgrind(r->report, code, metric, count, output.file);
        status = cmd_output_close(&output, written > 0);
        if (!status && !written)
            status = cmd_fail(
                "report", "callgrind files have whole numbers only, and there is no such metric");
        else if (!status && written < count)
            (void)fprintf(
                stderr,
                "chiliad report: %zu metrics are negative somewhere or not whole, and not in %s\n",
                count - written, r->callgrind);
    }
    chil_report_code_free(code);
    free(metric);
    return status;
}

static int show(struct report *r)
{
    if (r->describe) return report_describe(r);
    if (r->annotate) return report_annotate(r);
    if (r->folded) return print_folded(r);
    if (r->callgrind) return write_callgrind(r);
    if (r->json) return report_print_json(r);
    if (r->flat) return report_print_flat(r);
    return r->separator ? report_print_lines(r) : report_print_text(r);
}

static int show_table(const struct report *like, char *const *file, size_t count)
{
    enum { MOST = 16 };
    struct report *r = calloc(MOST, sizeof *r);
    int status = 0;
    if (!r) return cmd_fail("report", "out of memory");
    if (!count || count > MOST)
        status = cmd_fail("report", "--table wants one to %d experiments", MOST);
    for (size_t i = 0; i < count && !status; i++) {
        r[i] = *like;
        r[i].file = file[i];
        status = report_open(&r[i]);
    }
    if (!status) status = report_print_table(r, count);
    for (size_t i = 0; i < MOST; i++)
        report_close(&r[i]);
    free(r);
    return status;
}

int cmd_report(int argc, char **argv)
{
    struct report r = {
        .metric_depth = 1, .top = 40, .view = {.depth = CHIL_REPORT_DEPTH_MOST, .threshold = 0.01}};
    int status = options_parse(&cmd_report_options, &r, argc, argv);
    if (status) return status < 0 ? 0 : status;
    if ((r.sort || r.columns) && !r.annotate)
        return cmd_fail("report", "%s is for --annotate FUNCTION; add that",
                        r.sort ? "--sort" : "--columns");
    if (r.table) return show_table(&r, argv + optind, (size_t)(argc - optind));
    if (optind + 1 != argc)
        return cmd_fail("report", "name one experiment: chiliad report [OPTIONS] FILE.cubex");
    r.file = argv[optind];
    status = report_open(&r);
    if (!status) status = show(&r);
    report_close(&r);
    return status;
}
