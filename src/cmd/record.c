/* chiliad record: run a program and keep the counts of every call path.
 *
 *     $ chiliad record ./cg
 *     ...
 *     chiliad record: wrote cg.cubex: 210 metrics, 85 call paths, 1 thread
 *
 * Every event that counted something becomes a metric, exactly as 'chiliad stat' counts it, divided
 * among call paths and threads. The file has time in seconds and the hierarchies of the machine's
 * metrics, too, and opens in CubeGUI, the Cube tools and 'chiliad report'.
 */
#include <stdlib.h>
#include <string.h>

#include "chiliad/experiment.h"
#include "chiliad/metric.h"
#include "cmd/page.h"
#include "cmd/record.h"

enum { GLOBS = 64, DEPTH_MOST = 100000 };

#define ROTATE_MOST UINT64_C(1000000000000)

struct record {
    struct cmd_program program;
    const char *output, *platform, *sets, *page;
    struct record_limit limit;
    bool perturb;
    uint64_t seed;
    const char *only[GLOBS], *exclude[GLOBS];
};

static int take_limit(void *options, const char *command, char *value)
{
    struct record *r = options;
    if (cmd_limit_has_unit(value)) return cmd_take_limit(&r->program, command, value);
    r->platform = value;
    return 0;
}

static int take_rotate(void *options, const char *command, char *value)
{
    struct record *r = options;
    r->limit.rotate = true;
    return cmd_number(command, "--rotate", value, 1, ROTATE_MOST, &r->limit.turn_cycles);
}

static int take_perturb(void *options, const char *command, char *value)
{
    struct record *r = options;
    r->perturb = true;
    return cmd_number(command, "--perturb", value, 0, UINT64_MAX, &r->seed);
}

static const struct option_row option_rows[] = {
    {"output", 'o', "FILE", "the experiment (default: PROGRAM.cubex in the working directory)",
     OPTION_SET_TEXT(struct record, output)},
    {"depth", 0, "N",
     "call paths of at most N calls (default 256); a deeper call counts where the "
     "path is cut",
     OPTION_SET_NUMBER(struct record, program.run.record_depth, 1, DEPTH_MOST)},
    {"flat", 0, NULL, "functions only, no call paths",
     OPTION_SET_FLAG(struct record, program.run.record_flat)},
    {"call-sites", 0, NULL, "a call path for each line that calls a function",
     OPTION_SET_FLAG(struct record, program.run.record_call_sites)},
    {"inside-mpi", 0, NULL, "also functions below a call of MPI, which else count as the call",
     OPTION_SET_FLAG(struct record, program.run.record_inside_mpi)},
    {"code-misses", 0, NULL,
     "misses, waits and events of L2, L3 and DDR of each instruction, for 'chiliad report "
     "--annotate'; programs that miss much take about twice as long to record",
     OPTION_SET_FLAG(struct record, program.run.record_code_misses)},
    {"only", 0, "GLOB",
     "record functions that match; others count where they are called; may be "
     "repeated",
     OPTION_ADD_TEXT(struct record, only, program.run.record_only_count)},
    {"exclude", 0, "GLOB", "functions that match count where they are called; may be repeated",
     OPTION_ADD_TEXT(struct record, exclude, program.run.record_exclude_count)},
    {"limit", 0, "PLATFORM|LIMIT",
     "LIMIT: end the run after so many cycles (500Mc), instructions (2Gi) or simulated seconds "
     "(0.1s). PLATFORM: record only what the counters of a platform see ('chiliad list sets'), set "
     "by set, merged; the difference from counting all events at once is reported "
     "on standard error",
     OPTION_CALLS(take_limit), .values = "@sets"},
    {"sets", 0, "LIST", "counter sets of the platform, separated by commas, or all (default)",
     OPTION_SET_TEXT(struct record, sets), .values = "all"},
    {"rotate", 0, "CYCLES",
     "multiplex: the sets take turns of CYCLES cycles in one run, and counts are "
     "scaled by time",
     OPTION_CALLS(take_rotate)},
    {"compare", 0, NULL,
     "report counting at once, in several runs and multiplexed (turns of 100000 "
     "cycles) side by side",
     OPTION_SET_FLAG(struct record, limit.compare)},
    {"perturb", 0, "SEED",
     "a run for each set, each with another stack address: on a real machine runs "
     "differ, too",
     OPTION_CALLS(take_perturb)},
    {"page", 0, "FILE", "also write a web page that shows the experiment",
     OPTION_SET_FULL(struct record, page)},
};

const struct option_table cmd_record_options = {
    .forms = {"[OPTIONS] PROGRAM [ARGUMENTS]"},
    .about = "Runs a PowerPC Linux program on a simulated node and writes an experiment: "
             "every event by call path and thread, exactly, from calls and returns as the "
             "cores execute them. The exit status is the program's, as that of 'chiliad "
             "stat'.",
    .groups = {OPTION_ROWS(option_rows), OPTION_ROWS_AT(cmd_program_rows, struct record, program)},
    .ends_at_operand = true,
};

static int parse_options(int argc, char **argv, struct record *r)
{
    int status = options_parse(&cmd_record_options, r, argc, argv);
    if (status) return status;
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

static int write_experiment(struct chil_exp_output *output, const struct chil_exp *exp,
                            const char *path)
{
    struct chil_error err = {0};
    if (chil_exp_output_close(output, exp, &err)) return cmd_fail_error("record", &err);
    char shown[CMD_SHOWN];
    (void)snprintf(shown, sizeof shown, "%s", path);
    (void)fprintf(stderr, "chiliad record: wrote %s: %zu metrics, %zu call paths, %zu thread%s\n",
                  view_printable(shown), exp->metrics, exp->nodes, exp->threads,
                  exp->threads == 1 ? "" : "s");
    return 0;
}

/* Adds the hierarchies of the machine, for tools that have no specifications, and the code. */
static int add_hierarchies(struct chil_exp **exp)
{
    static const struct chil_metric_options options = {.keep_counters = true};
    struct chil_exp *whole = NULL;
    struct chil_spec *spec = NULL;
    struct chil_error err = {0};
    size_t size;
    int status = chil_spec_open_for(&spec, *exp, &err);
    if (!status) status = chil_metric_derive(&whole, *exp, spec, &options, &err);
    chil_spec_free(spec);
    if (status) return cmd_fail_error("record", &err);
    const char *code = chil_exp_code(*exp, &size);
    if (code) chil_exp_set_code(whole, code, size);
    chil_exp_free(*exp);
    *exp = whole;
    return 0;
}

/* One run; `turn` may be NULL. */
static int run_once(struct record *r, const struct chil_run_options *options, struct chil_exp **exp,
                    struct chil_exp **turn, int *exit_status, struct chil_error *err)
{
    struct chil_run *run = NULL;
    int status = cmd_program_new(&r->program, options, &run, err);
    if (status) return status;
    status = cmd_program_go(&r->program, run, err);
    if (!status && options->report) cmd_program_report(&r->program, "record", run);
    if (!status) status = chil_run_experiments(run, exp, turn, err);
    *exit_status = cmd_program_status(run);
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

/* The run for one set of --perturb. */
static int run_for(struct record *r, size_t set, struct record_counted *counted,
                   struct record_streams *streams, int *exit_status)
{
    struct chil_run_options options = r->program.run;
    struct chil_error err = {0};
    char **environment = record_environment(options.envp, r->seed, set);
    if (!environment) return cmd_fail("record", "out of memory");
    options.envp = environment;
    options.record_turns = 0;
    options.report = NULL;
    int status = record_streams_mute(streams), failed = 0;
    if (!status) {
        failed = run_once(r, &options, &counted->run[set], NULL, exit_status, &err);
        record_streams_restore(streams);
    }
    record_environment_free(environment);
    return failed ? cmd_fail_error("record", &err) : status;
}

static int run_again(struct record *r, struct record_counted *counted,
                     struct record_streams *streams, int expected)
{
    for (size_t i = 0; i < r->limit.sets; i++) {
        int exit_status = 0, status = run_for(r, i, counted, streams, &exit_status);
        if (status) return status;
        if (cmd_signal_caught())
            return cmd_fail("record", "%s in the run for %s; nothing was written",
                            r->program.partial, r->limit.set[i]->name);
        if (exit_status != expected)
            (void)fprintf(stderr, "chiliad record: the run for %s ended with status %d, not %d\n",
                          r->limit.set[i]->name, exit_status, expected);
    }
    return 0;
}

static int write_page(struct page_file *file, const char *name, struct chil_exp *exp)
{
    struct page page;
    if (!file->path) return 0;
    page_init(&page, "record");
    int status = page_add_experiment(&page, name, exp);
    if (!status) status = page_write(&page, file, stderr);
    page_fini(&page);
    return status;
}

static int run(struct record *r, struct chil_exp_output *output, struct page_file *page,
               const char *path)
{
    struct record_counted counted;
    struct record_streams streams;
    struct chil_exp *result = NULL;
    int exit_status = 0, status = record_counted_init(&counted, &r->limit, r->perturb);
    record_streams_init(&streams);
    if (!status) status = run_first(r, &counted, &exit_status);
    if (!status && r->perturb) status = run_again(r, &counted, &streams, exit_status);
    if (!output) { /* rank 0 has the experiment and the file */
        record_counted_fini(&counted, &r->limit);
        return status;
    }
    if (!status && r->platform) status = record_limit_apply(&r->limit, &counted, &result);
    if (!status && !result) status = add_hierarchies(&counted.exact);
    if (!status && r->program.partial)
        chil_exp_set_attribute(result ? result : counted.exact, "partial", r->program.partial);
    if (!status)
        status = write_experiment(output, result ? result : counted.exact, path);
    else
        (void)chil_exp_output_close(output, NULL, NULL);
    if (!status) status = write_page(page, path, result ? result : counted.exact);
    chil_exp_free(result);
    record_counted_fini(&counted, &r->limit);
    return status ? status : exit_status;
}

static int run_to_files(struct record *r, const char *path)
{
    struct chil_exp_output *output = NULL;
    struct chil_error err = {0};
    struct page_file page = {0};
    if (chil_ranks_self(r->program.run.ranks)) return run(r, NULL, &page, path);
    cmd_program_output(&r->program, path);
    cmd_program_output(&r->program, r->page);
    int status = page_open(&page, "record", r->page);
    if (!status)
        status = chil_exp_output_open(&output, path, &err) ? cmd_fail_error("record", &err)
                                                           : run(r, output, &page, path);
    page_abandon(&page);
    return status;
}

static int record_with(int argc, char **argv, struct record *r)
{
    char usual[300];
    struct chil_machine *machine;
    r->program.run.record_only = r->only;
    r->program.run.record_exclude = r->exclude;
    int status = parse_options(argc, argv, r);
    if (status) return status < 0 ? 0 : status;
    const char *program = argv[optind], *slash = strrchr(program, '/');
    (void)snprintf(usual, sizeof usual, "%.255s.cubex", slash ? slash + 1 : program);
    if (r->platform) status = record_limit_open(&r->limit, r->platform, r->sets);
    if (!status) status = cmd_program_machine(&r->program, "record", &machine);
    if (!status) {
        status = run_to_files(r, r->output ? r->output : usual);
        chil_machine_free(machine);
    }
    record_limit_close(&r->limit);
    return status;
}

int cmd_record(int argc, char **argv)
{
    char name[] = "record";
    struct record r = {.program.run = {.report = cmd_program_say, .context = name, .record = true}};
    int status = cmd_ranks_start("record", &r.program);
    if (!status) status = record_with(argc, argv, &r);
    return cmd_ranks_end(&r.program, status);
}
