/* chiliad record: run a program and keep what every call path did.
 *
 *     $ chiliad record ./cg
 *     ...
 *     chiliad record: wrote cg.cubex: 210 metrics, 85 call paths, 1 thread
 *
 * Every event that counted something becomes a metric, exactly as 'chiliad stat' counts it, divided among call paths
 * and threads. The file opens in CubeGUI, the Cube tools and 'chiliad report'.
 */
#include <stdlib.h>
#include <string.h>

#include "chiliad/experiment.h"
#include "chiliad/metric.h"
#include "cmd/record.h"

static const char help[] =
    "usage: chiliad record [OPTIONS] PROGRAM [ARGUMENTS]\n"
    "\n"
    "Runs a PowerPC Linux program on a simulated node and writes an experiment: every event by call path and\n"
    "thread, exactly, from calls and returns as the cores execute them. The exit status is the program's, as that\n"
    "of 'chiliad stat'.\n"
    "\n"
    "  -o, --output FILE       the experiment (default: PROGRAM.cubex here)\n"
    "      --depth N           paths of at most N calls (default 256); what is deeper counts where it is cut\n"
    "      --flat              functions only, no paths\n"
    "      --call-sites        a path for each line where a function is called\n"
    "      --only GLOB         functions that match; others count where they are called; may be repeated\n"
    "      --exclude GLOB      functions that match count where they are called; may be repeated\n" CMD_PROGRAM_HELP
    "      --limit PLATFORM    see only what the counters of a platform see ('chiliad list sets'), set by set, "
    "merged;\n"
    "                          what differs from counting all at once is told on standard error\n"
    "      --sets LIST         these sets of the platform, with commas between, or all (default)\n"
    "  -h, --help              this text\n";

enum {
    OPTION_DEPTH = 256,
    OPTION_FLAT,
    OPTION_CALL_SITES,
    OPTION_ONLY,
    OPTION_EXCLUDE,
    OPTION_LIMIT,
    OPTION_SETS,
    GLOBS = 64,
    DEPTH_MOST = 100000
};

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"depth", required_argument, NULL, OPTION_DEPTH},
    {"flat", no_argument, NULL, OPTION_FLAT},
    {"call-sites", no_argument, NULL, OPTION_CALL_SITES},
    {"only", required_argument, NULL, OPTION_ONLY},
    {"exclude", required_argument, NULL, OPTION_EXCLUDE},
    {"limit", required_argument, NULL, OPTION_LIMIT},
    {"sets", required_argument, NULL, OPTION_SETS},
    {"help", no_argument, NULL, 'h'},
    CMD_PROGRAM_OPTIONS,
    {0},
};

struct record {
    struct cmd_program program;
    const char *output, *limit;
    char *sets; /* NULL: all */
    struct chil_platform *platform;
    const char *only[GLOBS], *exclude[GLOBS];
};

static int take_glob(const char **globs, size_t *count, const char *option)
{
    if (*count == GLOBS) return cmd_fail("record", "more than %d %s", GLOBS, option);
    globs[(*count)++] = optarg;
    return 0;
}

static int take_option(struct record *r, int letter, char **argv)
{
    struct chil_run_options *run = &r->program.run;
    uint64_t depth = 0;
    int status;
    switch (letter) {
    case 'o': r->output = optarg; return 0;
    case OPTION_DEPTH:
        status = cmd_number("record", "--depth", optarg, 1, DEPTH_MOST, &depth);
        run->record_depth = (unsigned)depth;
        return status;
    case OPTION_FLAT: run->record_flat = true; return 0;
    case OPTION_CALL_SITES: run->record_call_sites = true; return 0;
    case OPTION_ONLY: return take_glob(r->only, &run->record_only_count, "--only");
    case OPTION_EXCLUDE: return take_glob(r->exclude, &run->record_exclude_count, "--exclude");
    case OPTION_LIMIT: r->limit = optarg; return 0;
    case OPTION_SETS: r->sets = optarg; return 0;
    case 'h': (void)fputs(help, stdout); return -1;
    default: break;
    }
    status = cmd_program_take(&r->program, "record", letter);
    return status == CMD_NOT_MINE ? cmd_bad_option("record", letter, argv) : status;
}

static int parse_options(int argc, char **argv, struct record *r)
{
    int letter;
    opterr = 0;
    while ((letter = getopt_long(argc, argv, "+:M:o:h", long_options, NULL)) != -1) {
        int status = take_option(r, letter, argv);
        if (status) return status;
    }
    if (r->program.run.record_flat && r->program.run.record_depth)
        return cmd_fail("record", "--flat has no paths that --depth could cut; use one of them");
    if (r->program.run.record_flat && r->program.run.record_call_sites)
        return cmd_fail("record", "--flat has no paths that --call-sites could tell apart; use one of them");
    if (r->sets && !r->limit) return cmd_fail("record", "--sets are those of a platform; name it with --limit");
    return cmd_program_words(&r->program, "record", argc, argv);
}

static int write_experiment(const struct record *r, struct chil_run *run, const char *path)
{
    struct chil_exp *exp = NULL;
    struct chil_error err = {0};
    if (chil_run_experiment(run, &exp, &err)) return cmd_fail_error("record", &err);
    int status = r->limit ? record_limit(&exp, r->platform, r->sets) : 0;
    if (!status && chil_exp_write(exp, path, &err)) status = cmd_fail_error("record", &err);
    if (!status)
        (void)fprintf(stderr, "chiliad record: wrote %s: %zu metrics, %zu call paths, %zu thread%s\n", path,
                      exp->metrics, exp->nodes, exp->threads, exp->threads == 1 ? "" : "s");
    chil_exp_free(exp);
    return status;
}

static int run(struct record *r, const char *path)
{
    struct chil_run *node = NULL;
    struct chil_error err = {0};
    if (chil_run_new(&node, &r->program.run, &err)) return cmd_fail_error("record", &err);
    int status = chil_run_go(node, &err) ? cmd_fail_error("record", &err) : 0;
    if (!status) cmd_program_report(&r->program, "record", node);
    if (!status) status = write_experiment(r, node, path);
    if (!status) status = chil_run_status(node);
    chil_run_free(node);
    return status;
}

int cmd_record(int argc, char **argv)
{
    char name[] = "record", usual[300];
    struct record r = {.program.run = {.say = cmd_program_say, .context = name, .record = true}};
    struct chil_machine *machine;
    struct chil_error err = {0};
    r.program.run.record_only = r.only;
    r.program.run.record_exclude = r.exclude;
    int status = parse_options(argc, argv, &r);
    if (status) return status < 0 ? 0 : status;
    const char *program = argv[optind], *slash = strrchr(program, '/');
    (void)snprintf(usual, sizeof usual, "%.255s.cubex", slash ? slash + 1 : program);
    if (r.limit && chil_platform_open(&r.platform, r.limit, &err)) return cmd_fail_error("record", &err);
    status = cmd_program_machine(&r.program, "record", &machine);
    if (!status) {
        status = record_limit_check(r.platform, r.sets);
        if (!status) status = run(&r, r.output ? r.output : usual);
        chil_machine_free(machine);
    }
    chil_platform_free(r.platform);
    return status;
}
