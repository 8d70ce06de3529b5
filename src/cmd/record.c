/* chiliad record: run a program and keep what every call path did.
 *
 *     $ chiliad record ./cg
 *     ...
 *     chiliad record: wrote cg.cubex: 210 metrics, 85 call paths, 1 thread
 *
 * Every event that counted something becomes a metric, exactly as 'chiliad stat' counts it, divided
 * among call paths and threads. The file opens in CubeGUI, the Cube tools and 'chiliad report'.
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
    "      --rotate CYCLES     the sets take turns of so many cycles in one run, and counts are scaled by time\n"
    "      --compare           tell all at once, several runs and turns (of 100000 cycles) side by side\n"
    "      --perturb SEED      a run for each set, each with the stack elsewhere: on a real machine runs differ, too\n"
    "  -h, --help              this text\n";

enum {
    OPTION_DEPTH = 256,
    OPTION_FLAT,
    OPTION_CALL_SITES,
    OPTION_ONLY,
    OPTION_EXCLUDE,
    OPTION_LIMIT,
    OPTION_SETS,
    OPTION_ROTATE,
    OPTION_COMPARE,
    OPTION_PERTURB,
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
    {"rotate", required_argument, NULL, OPTION_ROTATE},
    {"compare", no_argument, NULL, OPTION_COMPARE},
    {"perturb", required_argument, NULL, OPTION_PERTURB},
    {"help", no_argument, NULL, 'h'},
    CMD_PROGRAM_OPTIONS,
    {0},
};

#define ROTATE_MOST UINT64_C(1000000000000)

struct record {
    struct cmd_program program;
    const char *output, *platform, *sets;
    struct record_limit limit;
    bool perturb;
    uint64_t seed;
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
    case OPTION_LIMIT: r->platform = optarg; return 0;
    case OPTION_SETS: r->sets = optarg; return 0;
    case OPTION_ROTATE:
        r->limit.rotate = true;
        return cmd_number("record", "--rotate", optarg, 1, ROTATE_MOST, &r->limit.turn_cycles);
    case OPTION_COMPARE: r->limit.compare = true; return 0;
    case OPTION_PERTURB:
        r->perturb = true;
        return cmd_number("record", "--perturb", optarg, 0, UINT64_MAX, &r->seed);
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
        return cmd_fail("record",
                        "--flat has no paths that --call-sites could tell apart; use one of them");
    if (!r->platform && (r->sets || r->limit.rotate || r->limit.compare || r->perturb))
        return cmd_fail("record", "%s wants the counters of a platform; name it with --limit",
                        r->sets           ? "--sets"
                        : r->limit.rotate ? "--rotate"
                        : r->perturb      ? "--perturb"
                                          : "--compare");
    if (r->perturb && r->limit.rotate && !r->limit.compare)
        return cmd_fail("record",
                        "--rotate counts in one run, --perturb in several; --compare takes both");
    if (r->limit.compare && !r->limit.rotate) r->limit.turn_cycles = RECORD_TURN_CYCLES;
    return cmd_program_words(&r->program, "record", argc, argv);
}

static int write_experiment(const struct chil_exp *exp, const char *path)
{
    struct chil_error err = {0};
    if (chil_exp_write(exp, path, &err)) return cmd_fail_error("record", &err);
    (void)fprintf(stderr, "chiliad record: wrote %s: %zu metrics, %zu call paths, %zu thread%s\n",
                  path, exp->metrics, exp->nodes, exp->threads, exp->threads == 1 ? "" : "s");
    return 0;
}

/* One run; `turn` may be NULL. */
static int run_once(const struct record *r, const struct chil_run_options *options,
                    struct chil_exp **exp, struct chil_exp **turn, int *exit_status,
                    struct chil_error *err)
{
    struct chil_run *run = NULL;
    int status = chil_run_new(&run, options, err);
    if (status) return status;
    status = chil_run_go(run, err);
    if (!status && options->say) cmd_program_report(&r->program, "record", run);
    if (!status) status = chil_run_experiments(run, exp, turn, err);
    *exit_status = chil_run_status(run);
    chil_run_free(run);
    return status;
}

static int run_first(struct record *r, struct record_counted *counted, int *exit_status)
{
    struct chil_error err = {0};
    if (r->limit.turn_cycles) {
        r->program.run.record_turns = (unsigned)r->limit.sets;
        r->program.run.turn_cycles = r->limit.turn_cycles;
    }
    return run_once(r, &r->program.run, &counted->exact, counted->turn, exit_status, &err)
               ? cmd_fail_error("record", &err)
               : 0;
}

/* The run for a set, like no other. */
static int run_for(const struct record *r, size_t set, struct record_counted *counted,
                   struct record_streams *streams, int *exit_status)
{
    struct chil_run_options options = r->program.run;
    struct chil_error err = {0};
    char **environment = record_environment(r->seed, set);
    if (!environment) return cmd_fail("record", "out of memory");
    options.envp = environment;
    options.record_turns = 0;
    options.say = NULL;
    int status = record_streams_mute(streams), failed = 0;
    if (!status) {
        failed = run_once(r, &options, &counted->run[set], NULL, exit_status, &err);
        record_streams_restore(streams);
    }
    record_environment_free(environment);
    return failed ? cmd_fail_error("record", &err) : status;
}

static int run_again(const struct record *r, struct record_counted *counted,
                     struct record_streams *streams, int expected)
{
    for (size_t i = 0; i < r->limit.sets; i++) {
        int exit_status = 0, status = run_for(r, i, counted, streams, &exit_status);
        if (status) return status;
        if (exit_status != expected)
            (void)fprintf(stderr, "chiliad record: the run for %s ended with status %d, not %d\n",
                          r->limit.set[i]->name, exit_status, expected);
    }
    return 0;
}

static int run(struct record *r, const char *path)
{
    struct record_counted counted;
    struct record_streams streams;
    struct chil_exp *result = NULL;
    int exit_status = 0, status = record_counted_init(&counted, &r->limit, r->perturb);
    record_streams_init(&streams);
    if (!status) status = run_first(r, &counted, &exit_status);
    if (!status && r->perturb) status = run_again(r, &counted, &streams, exit_status);
    if (!status && r->platform) status = record_limit_apply(&r->limit, &counted, &result);
    if (!status) status = write_experiment(result ? result : counted.exact, path);
    chil_exp_free(result);
    record_counted_fini(&counted, &r->limit);
    return status ? status : exit_status;
}

int cmd_record(int argc, char **argv)
{
    char name[] = "record", usual[300];
    struct record r = {.program.run = {.say = cmd_program_say, .context = name, .record = true}};
    struct chil_machine *machine;
    r.program.run.record_only = r.only;
    r.program.run.record_exclude = r.exclude;
    int status = parse_options(argc, argv, &r);
    if (status) return status < 0 ? 0 : status;
    const char *program = argv[optind], *slash = strrchr(program, '/');
    (void)snprintf(usual, sizeof usual, "%.255s.cubex", slash ? slash + 1 : program);
    if (r.platform) status = record_limit_open(&r.limit, r.platform, r.sets);
    if (!status) status = cmd_program_machine(&r.program, "record", &machine);
    if (!status) {
        status = run(&r, r.output ? r.output : usual);
        chil_machine_free(machine);
    }
    record_limit_close(&r.limit);
    return status;
}
