/* chiliad report: an experiment in the terminal, or for another tool.
 *
 *     $ chiliad report -m CYCLES matrix.cubex
 *     call paths of CYCLES             whole             own    share
 *     - matrix                     2,412,345             312     0.0%
 *       - main                     2,410,001          11,004     0.5%
 *         + multiply               2,398,997       2,398,997    99.5%
 *
 * Three linked trees (paper 003, section 3.1): the selection in one decides what those to its right
 * show. A closed node
 * (+) shows its whole value, an open one (-) its own.
 */
#include "cmd/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: chiliad report [OPTIONS] FILE.cubex\n"
    "       chiliad report --table [OPTIONS] FILE.cubex...\n"
    "\n"
    "Shows an experiment: findings, metrics, ratios, hot call paths, threads. What is selected in one tree decides "
    "what\n"
    "the trees to its right show. A closed node (+) shows its whole value, an open one (-) only its own.\n"
    "\n"
    "  -m, --metric NAME       call paths and threads of this metric or ratio (default: CYCLES); may be repeated\n"
    "  -c, --call PATTERN      select call paths: 'solve', 'main/s*', '/prog/main/**/dot'; may be repeated\n"
    "  -t, --thread LIST       select threads: T of every process, P.T, P.* or ranges, with commas between\n"
    "      --own               of what is selected only the own: without child metrics, without what is called\n"
    "      --order LETTERS     trees from left to right (default mcs: metrics, call paths, system)\n"
    "      --percent MODE      usual (default), own-root, metric-root, metric-selection, call-root, call-selection,\n"
    "                          system-root, system-selection, external, peer, peer-range\n"
    "      --reference FILE    what external is of: the root of the same hierarchy in this experiment\n"
    "      --metric-depth N    open metrics less than N deep (default 1: the roots)\n"
    "      --depth N           open call paths less than N deep (default: all that weigh enough)\n"
    "      --threshold P       gather call paths with less than P percent (default 1)\n"
    "      --top N             at most N rows of a tree (default 40; 0: all)\n"
    "      --show LETTERS      only these parts: f findings, m metrics, r ratios, c call paths, s system, a apart\n"
    "      --flat              functions instead of call paths\n"
    "      --by GROUP          module or region instead of call paths\n"
    "      --apart             list the counters that are in no hierarchy\n"
    "      --table             up to 16 experiments side by side: what they are, hierarchies, shares of the roots\n"
    "      --describe METRIC   what a metric is and where it comes from\n"
    "      --annotate FUNCTION source and instructions of a function with how often each was executed\n"
    "      --csv               a line for each metric and call path, or region with --flat\n"
    "  -x, --separator SEP     the same with SEP instead of a comma\n"
    "  -j, --json              everything, as an object\n"
    "      --folded METRIC     'main;solve;dot 123' a line, for flame graphs\n"
    "      --callgrind FILE    write FILE for KCachegrind and callgrind_annotate\n"
    "      --metrics SPEC      the hierarchies: a specification's name or file (default: that of the machine), or "
    "none\n"
    "      --partial           keep computations that lack inputs, marked ~\n"
    "      --approximate       follow the specification's approximations, marked ~\n"
    "      --seconds           hierarchies of cycles in seconds, by the clock of the recorded machine\n"
    "      --time              a hierarchy of time: execution with its parts, MPI, OpenMP, threads; each second once\n"
    "  -h, --help              this text\n";

enum {
    OPTION_OWN = 256,
    OPTION_ORDER,
    OPTION_PERCENT,
    OPTION_REFERENCE,
    OPTION_METRIC_DEPTH,
    OPTION_DEPTH,
    OPTION_THRESHOLD,
    OPTION_TOP,
    OPTION_SHOW,
    OPTION_FLAT,
    OPTION_BY,
    OPTION_APART,
    OPTION_TABLE,
    OPTION_DESCRIBE,
    OPTION_ANNOTATE,
    OPTION_CSV,
    OPTION_FOLDED,
    OPTION_CALLGRIND,
    OPTION_METRICS,
    OPTION_PARTIAL,
    OPTION_APPROXIMATE,
    OPTION_SECONDS,
    OPTION_TIME
};

static const struct option long_options[] = {
    {"metric", required_argument, NULL, 'm'},
    {"call", required_argument, NULL, 'c'},
    {"thread", required_argument, NULL, 't'},
    {"own", no_argument, NULL, OPTION_OWN},
    {"order", required_argument, NULL, OPTION_ORDER},
    {"percent", required_argument, NULL, OPTION_PERCENT},
    {"reference", required_argument, NULL, OPTION_REFERENCE},
    {"metric-depth", required_argument, NULL, OPTION_METRIC_DEPTH},
    {"depth", required_argument, NULL, OPTION_DEPTH},
    {"threshold", required_argument, NULL, OPTION_THRESHOLD},
    {"top", required_argument, NULL, OPTION_TOP},
    {"show", required_argument, NULL, OPTION_SHOW},
    {"flat", no_argument, NULL, OPTION_FLAT},
    {"by", required_argument, NULL, OPTION_BY},
    {"apart", no_argument, NULL, OPTION_APART},
    {"table", no_argument, NULL, OPTION_TABLE},
    {"describe", required_argument, NULL, OPTION_DESCRIBE},
    {"annotate", required_argument, NULL, OPTION_ANNOTATE},
    {"csv", no_argument, NULL, OPTION_CSV},
    {"separator", required_argument, NULL, 'x'},
    {"json", no_argument, NULL, 'j'},
    {"folded", required_argument, NULL, OPTION_FOLDED},
    {"callgrind", required_argument, NULL, OPTION_CALLGRIND},
    {"metrics", required_argument, NULL, OPTION_METRICS},
    {"partial", no_argument, NULL, OPTION_PARTIAL},
    {"approximate", no_argument, NULL, OPTION_APPROXIMATE},
    {"seconds", no_argument, NULL, OPTION_SECONDS},
    {"time", no_argument, NULL, OPTION_TIME},
    {"help", no_argument, NULL, 'h'},
    {0},
};

/* --- The command line ------------------------------------------------------------------------ */

static int take_name(const char **list, size_t *count, const char *option)
{
    if (*count == REPORT_LIST) return cmd_fail("report", "more than %d %s", REPORT_LIST, option);
    list[(*count)++] = optarg;
    return 0;
}

static int take_mode(struct report *r)
{
    int mode = chil_report_mode_find(optarg);
    if (mode < 0)
        return cmd_fail("report", "--percent wants a mode that --help names, not '%s'", optarg);
    r->view.mode = (enum chil_report_mode)mode;
    return 0;
}

static int take_threshold(struct report *r)
{
    char *end;
    double percent = strtod(optarg, &end);
    if (end == optarg || *end || !(percent >= 0 && percent <= 100))
        return cmd_fail("report", "--threshold wants a percentage from 0 to 100, not '%s'", optarg);
    r->view.threshold = percent / 100;
    return 0;
}

static int take_group(struct report *r)
{
    r->by_module = strcmp(optarg, "module") == 0;
    r->flat = true;
    return r->by_module || strcmp(optarg, "region") == 0
               ? 0
               : cmd_fail("report", "--by wants module or region, not '%s'", optarg);
}

static int take_parts(struct report *r)
{
    r->show = optarg;
    return *optarg && strspn(optarg, "fmrcsa") == strlen(optarg)
               ? 0
               : cmd_fail("report", "--show wants letters of f m r c s a, not '%s'", optarg);
}

static int take_depth(const char *option, unsigned *depth)
{
    uint64_t value = 0;
    int status = cmd_number("report", option, optarg, 0, CHIL_REPORT_DEPTH_MOST, &value);
    *depth = (unsigned)value;
    return status;
}

static int take_option(struct report *r, int letter, char **argv)
{
    switch (letter) {
    case 'm': return take_name(r->metric, &r->metrics, "--metric");
    case 'c': return take_name(r->call, &r->calls, "--call");
    case 't': return cmd_threads_take(&r->threads, "report", "--thread", optarg);
    case OPTION_OWN: r->own = true; return 0;
    case OPTION_ORDER: r->order = optarg; return 0;
    case OPTION_PERCENT: return take_mode(r);
    case OPTION_REFERENCE:
        r->reference = optarg;
        r->view.mode = CHIL_REPORT_EXTERNAL;
        return 0;
    case OPTION_METRIC_DEPTH: return take_depth("--metric-depth", &r->metric_depth);
    case OPTION_DEPTH: return take_depth("--depth", &r->view.depth);
    case OPTION_THRESHOLD: return take_threshold(r);
    case OPTION_TOP: return cmd_number("report", "--top", optarg, 0, 1000000000, &r->top);
    case OPTION_SHOW: return take_parts(r);
    case OPTION_FLAT: r->flat = true; return 0;
    case OPTION_BY: return take_group(r);
    case OPTION_APART: r->apart = true; return 0;
    case OPTION_TABLE: r->table = true; return 0;
    case OPTION_DESCRIBE: r->describe = optarg; return 0;
    case OPTION_ANNOTATE: r->annotate = optarg; return 0;
    case OPTION_CSV: r->separator = ","; return 0;
    case 'x':
        r->separator = optarg;
        return *optarg ? 0 : cmd_fail("report", "-x wants a separator");
    case 'j': r->json = true; return 0;
    case OPTION_FOLDED: r->folded = optarg; return 0;
    case OPTION_CALLGRIND: r->callgrind = optarg; return 0;
    case OPTION_METRICS: r->spec_name = optarg; return 0;
    case OPTION_PARTIAL: r->options.partial_computations = true; return 0;
    case OPTION_APPROXIMATE: r->options.approximate = true; return 0;
    case OPTION_SECONDS: r->options.seconds = true; return 0;
    case OPTION_TIME: r->options.time = true; return 0;
    case 'h': (void)fputs(help, stdout); return -1;
    default: return cmd_bad_option("report", letter, argv);
    }
}

/* --- What all forms share -------------------------------------------------------------------- */

const struct chil_spec_item *report_ratio(const struct report *r, const char *name)
{
    size_t count = 0;
    const struct chil_spec_item *item = r->spec ? chil_spec_items(r->spec, &count) : NULL;
    for (size_t i = 0; i < count; i++)
        if (item[i].kind == CHIL_SPEC_RATIO && strcmp(item[i].name, name) == 0) return &item[i];
    return NULL;
}

const char *report_number(const struct chil_exp *exp, int metric, double value, bool grouped,
                          char buffer[REPORT_NUMBER_MAX])
{
    char digits[VIEW_GROUPED_MAX];
    bool whole = exp->metric[metric].kind == CHIL_EXP_COUNT && fabs(value) < 0x1p63;
    if (whole && grouped)
        (void)snprintf(buffer, REPORT_NUMBER_MAX, "%s%s", value < 0 ? "-" : "",
                       view_grouped((uint64_t)fabs(value), digits));
    else
        (void)snprintf(buffer, REPORT_NUMBER_MAX,
                       whole     ? "%.0f"
                       : grouped ? "%.6g"
                                 : "%.17g",
                       value);
    return buffer;
}

const char *report_pedigree(const struct chil_exp *exp, int metric, char buffer[64])
{
    static const char *const origins[] = {"measured", "composed", "computed"};
    const struct chil_exp_metric *m = &exp->metric[metric];
    double low, high, total = chil_exp_sum(exp, metric, CHIL_EXP_NONE, false, -1);
    chil_exp_range(exp, metric, &low, &high);
    if (m->runs > 1)
        (void)snprintf(buffer, 64, "%s, %u runs +-%.1f%%", origins[m->origin], m->runs,
                       total != 0 ? 50 * (high - low) / fabs(total) : 0.0);
    else
        (void)snprintf(buffer, 64, "%s", origins[m->origin]);
    return buffer;
}

static bool is_thread_wanted(void *context, int thread)
{
    const struct report *r = context;
    return cmd_threads_has(&r->threads, chil_report_exp(r->report), thread);
}

/* The other experiment, derived as this one is. */
static int take_reference(struct report *r)
{
    struct chil_exp *exp = NULL;
    struct chil_error err = {0};
    if (!r->reference && r->view.mode == CHIL_REPORT_EXTERNAL)
        return cmd_fail("report", "--percent external wants --reference FILE");
    if (!r->reference) return 0;
    int status = cmd_exp_read("report", r->reference, &exp);
    if (status) return status;
    status = chil_report_new(&r->other, exp, r->spec, &r->options, &err);
    chil_exp_free(exp);
    if (status) return cmd_fail_error("report", &err);
    chil_report_set_reference(r->report, chil_report_exp(r->other));
    return 0;
}

/* Reads, derives, selects. */
static int prepare(struct report *r)
{
    struct chil_error err = {0};
    int status = cmd_exp_read("report", r->file, &r->read);
    if (status) return status;
    if (!r->spec_name)
        status = chil_spec_open_for(&r->spec, r->read, &err);
    else if (strcmp(r->spec_name, "none") != 0)
        status = chil_spec_open(&r->spec, r->spec_name, &err);
    if (!status) status = chil_report_new(&r->report, r->read, r->spec, &r->options, &err);
    if (!status && r->order) status = chil_report_order(r->report, r->order, &err);
    if (!status && r->calls) status = chil_report_select_calls(r->report, r->call, r->calls, &err);
    if (!status && r->threads.count)
        status = chil_report_select_threads(r->report, is_thread_wanted, r, &err);
    for (size_t i = 0; i < r->metrics && !status; i++)
        if (!report_ratio(r, r->metric[i]))
            status = chil_report_select_metric(r->report, r->metric[i], &err);
    if (status) return cmd_fail_error("report", &err);
    chil_report_select_own(r->report, r->own);
    return take_reference(r);
}

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
    if (r->separator) return report_print_lines(r);
    return r->flat ? report_print_flat(r) : report_print_text(r);
}

static void finish(struct report *r)
{
    chil_report_free(r->report);
    chil_report_free(r->other);
    chil_spec_free(r->spec);
    chil_exp_free(r->read);
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
        status = prepare(&r[i]);
    }
    if (!status) status = report_print_table(r, count);
    for (size_t i = 0; i < MOST; i++)
        finish(&r[i]);
    free(r);
    return status;
}

int cmd_report(int argc, char **argv)
{
    struct report r = {
        .metric_depth = 1, .top = 40, .view = {.depth = CHIL_REPORT_DEPTH_MOST, .threshold = 0.01}};
    opterr = 0;
    for (int letter; (letter = getopt_long(argc, argv, ":m:c:t:x:jh", long_options, NULL)) != -1;) {
        int status = take_option(&r, letter, argv);
        if (status) return status < 0 ? 0 : status;
    }
    if (r.table) return show_table(&r, argv + optind, (size_t)(argc - optind));
    if (optind + 1 != argc)
        return cmd_fail("report", "name one experiment: chiliad report [OPTIONS] FILE.cubex");
    r.file = argv[optind];
    int status = prepare(&r);
    if (!status) status = show(&r);
    finish(&r);
    return status;
}
