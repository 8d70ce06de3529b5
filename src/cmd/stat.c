/* chiliad stat: run a program and count what it does.
 *
 *     $ chiliad stat ./hello
 *     hello, world
 *
 *      counters of './hello' on bgp, core 0
 *
 *              1,234,567  BGL_INST         Instructions completed
 *     ...
 *                  0.527  instructions per busy cycle
 *     ...
 *     2,345,678 cycles, 0.002760 s at 850 MHz, exit status 0
 *
 * The guest has standard output to itself; the counts go to standard error, or to -o FILE, which is
 * written whole or not at all. What is printed: by default a short table, with -j and -x
 * everything; -e chooses, --all prints all. stat_print.c has the forms, stat_metrics.c what is
 * derived, stat_choose.c which events are printed.
 */
#include "cmd/stat.h"

#include "cmd/page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { REPEAT_MAX = 1000 };

static int add_patterns(void *options, const char *command, char *list)
{
    struct stat_options *o = options;
    for (char *rest = list, *pattern; (pattern = strsep(&rest, ","));) {
        if (!*pattern)
            return cmd_fail(command, "-e has an empty name; write names with commas between");
        if (o->pattern_count == PATTERNS_MAX)
            return cmd_fail(command, "-e names more than %d patterns", PATTERNS_MAX);
        o->patterns[o->pattern_count++] = pattern;
    }
    return 0;
}

static const struct option_row option_rows[] = {
    {"event", 'e', "LIST", "events to print: names and globs, separated by commas; may be repeated",
     OPTION_CALLS(add_patterns), .values = "@events @counters"},
    {"all", 0, NULL, "print every event of the machine", OPTION_SET_FLAG(struct stat_options, all)},
    {"per-core", 0, NULL,
     "a column for each core, and the total (default: when several cores did work)",
     OPTION_SET_FLAG(struct stat_options, per_core)},
    {"per-node", 0, NULL, "a column for each node, and the total",
     OPTION_SET_FLAG(struct stat_options, per_node)},
    {"hpm", 0, NULL, "print the report of libHPM for the whole program: user and kernel columns",
     OPTION_SET_FLAG(struct stat_options, hpm)},
    {"metrics", 0, "FILE", "derive the metrics of FILE instead of the default ones",
     OPTION_SET_TEXT(struct stat_options, metrics)},
    {"repeat", 'r', "N", "run N times and check that every count is the same",
     OPTION_SET_NUMBER(struct stat_options, repeat, 1, REPEAT_MAX)},
    {"json", 'j', NULL, "one JSON object, with every event unless -e chooses some",
     OPTION_SET_FLAG(struct stat_options, json)},
    {"separator", 'x', "SEP",
     "a line per event: value SEP unit SEP event SEP exactness; as complete as -j",
     OPTION_SET_TEXT(struct stat_options, separator)},
    {"output", 'o', "FILE", "the counts go to FILE instead of standard error",
     OPTION_SET_TEXT(struct stat_options, output)},
    {"page", 0, "FILE", "also write a web page that shows every count",
     OPTION_SET_FULL(struct stat_options, page)},
    {"verbose", 'v', NULL,
     "also print how long the run and the translation of hot code took, on "
     "standard error",
     OPTION_SET_FLAG(struct stat_options, verbose)},
};

const struct option_table cmd_stat_options = {
    .forms = {"[OPTIONS] PROGRAM [ARGUMENTS]"},
    .about = "Runs a PowerPC Linux program on a simulated node and prints what it did. The "
             "counts go to standard error.",
    .groups = {OPTION_ROWS(option_rows),
               OPTION_ROWS_AT(cmd_program_rows, struct stat_options, program)},
    .notes =
        "Exit status: the program's; 128 + signal if a signal killed it; 125 for an "
        "error of this command, 124 if --limit ended the run, 126 if the program cannot "
        "be executed, 127 if there is none; 123 if counts contradict each other, which is a bug of the simulator.",
    .ends_at_operand = true,
};

/* Options that exclude each other. */
static int check_options(const struct stat_options *o)
{
    if (o->json && o->separator) return cmd_fail("stat", "-j and -x exclude each other");
    if (o->hpm && (o->json || o->separator || o->all || o->per_core || o->pattern_count))
        return cmd_fail("stat",
                        "--hpm is a report of its own: not with -j, -x, -e, --all or --per-core");
    if (o->all && o->pattern_count) return cmd_fail("stat", "--all and -e exclude each other");
    if (o->per_core && o->per_node)
        return cmd_fail("stat", "--per-core and --per-node exclude each other");
    return 0;
}

/* Options end at the program's name: what follows is the program's. */
static int parse_options(int argc, char **argv, struct stat_options *o)
{
    int status = options_parse(&cmd_stat_options, o, argc, argv);
    if (status) return status;
    status = check_options(o);
    return status ? status : cmd_program_words(&o->program, "stat", argc, argv);
}

/* --- Repeating: the same run gives the same counts, or something is wrong -------------------- */

/* Everything that a run counted: status, cycles, then each event. */
struct counted {
    uint64_t *values;
    size_t count;
};

static int count_all(const struct chil_run *run, const struct chil_machine *machine,
                     struct counted *all)
{
    size_t own_count, count, at = 0;
    const struct chil_event *own = chil_machine_own_events(machine, &own_count);
    const struct chil_event *events = chil_machine_events(machine, &count);
    all->count = 2 + own_count + count;
    all->values = calloc(all->count, sizeof *all->values);
    if (!all->values) return cmd_fail("stat", "out of memory");
    all->values[at++] = (uint64_t)chil_run_status(run);
    all->values[at++] = chil_run_cycles(run);
    for (size_t i = 0; i < own_count; i++)
        all->values[at++] = chil_run_count(run, &own[i]);
    for (size_t i = 0; i < count; i++)
        all->values[at++] = events[i].reserved ? 0 : chil_run_count(run, &events[i]);
    return 0;
}

static const char *name_of(const struct chil_machine *machine, size_t at)
{
    size_t own_count, count;
    const struct chil_event *own = chil_machine_own_events(machine, &own_count);
    const struct chil_event *events = chil_machine_events(machine, &count);
    if (at < 2) return at ? "cycles" : "exit status";
    return at - 2 < own_count ? own[at - 2].name : events[at - 2 - own_count].name;
}

static int compare(const struct chil_machine *machine, const struct counted *first,
                   const struct counted *other, uint64_t number)
{
    for (size_t i = 0; i < first->count; i++) {
        if (first->values[i] == other->values[i]) continue;
        (void)cmd_fail(
            "stat",
            "run %" PRIu64 " differs from the first: %s is %" PRIu64 " and was %" PRIu64
            "; if the program does not depend on files it wrote before or on a pipe it read, this is an "
            "internal error",
            number, name_of(machine, i), other->values[i], first->values[i]);
        return CMD_INTERNAL;
    }
    return 0;
}

/* --- Running --------------------------------------------------------------------------------- */

/* One run; its result is the caller's to free. `start` is where standard input began, negative when
 * it cannot go back.
 */
static int run_once(struct stat_options *o, off_t start, struct chil_run **run)
{
    struct chil_error err = {0};
    *run = NULL;
    if (start >= 0) (void)lseek(STDIN_FILENO, start, SEEK_SET);
    if (cmd_program_new(&o->program, &o->program.run, run, &err))
        return cmd_fail_error("stat", &err);
    if (cmd_program_go(&o->program, *run, &err)) return cmd_fail_error("stat", &err);
    return 0;
}

/* Where the host's time went. Not with the counts: it is another one every time. */
static void tell_time(const struct chil_run *run, const struct cmd_program *program)
{
    char wall[CHIL_SANDBOX_TEXT] = "off (--no-sandbox, or ranks of MPI)";
    struct rusage used;
    struct chil_run_translation made = {0};
    if (getrusage(RUSAGE_SELF, &used)) return;
    double seconds = (double)used.ru_utime.tv_sec + (double)used.ru_utime.tv_usec / 1e6;
    (void)chil_run_translation_get(run, &made);
    (void)fprintf(
        stderr,
        "chiliad stat: %.3f s of user time, %.0f million instructions a second, %.0f MB; %" PRIu64
        " instructions translated in %.1f ms\n",
        seconds, (double)chil_run_instructions(run) / 1e6 / (seconds > 0 ? seconds : 1),
        (double)used.ru_maxrss / 1024, made.instructions, made.seconds * 1e3);
    if (!program->no_sandbox) chil_sandbox_text(program->sandbox, wall, sizeof wall);
    (void)fprintf(stderr, "chiliad stat: sandbox: %s\n", wall);
}

/* The runs after the first, whose counts are `first`. */
static int repeat(struct stat_options *o, const struct chil_machine *machine,
                  const struct counted *first, off_t start)
{
    for (uint64_t number = 2; number <= o->repeat; number++) {
        struct chil_run *run;
        struct counted all = {0};
        int status = run_once(o, start, &run);
        bool stopped = o->program.partial && cmd_signal_caught();
        if (!status && !stopped) status = count_all(run, machine, &all);
        if (!status && !stopped) status = compare(machine, first, &all, number);
        free(all.values);
        chil_run_free(run);
        if (status) return status;
        if (stopped) o->repeat = number - 1;
    }
    return 0;
}

/* The page has what -j would print. */
static int print_page(const struct stat_shown *shown, struct page_file *file)
{
    struct stat_options options = *shown->options;
    struct stat_chosen chosen = {0};
    struct stat_shown whole = *shown;
    options.json = true;
    whole.options = &options;
    whole.chosen = &chosen;
    int status = stat_choose(&chosen, &options, shown->machine);
    if (!status && !stat_print_json(file->json, &whole)) status = cmd_fail("stat", "out of memory");
    if (!status)
        status = page_write_printed(file, "stat", options.program.run.program);
    else
        page_abandon(file);
    free(chosen.events);
    return status;
}

/* Whether a form of the output may have columns of cores. */
static bool shows_cores(const struct stat_options *o, const struct page_file *page,
                        const struct chil_run *run)
{
    unsigned at_work = 0;
    for (unsigned core = 0; core < chil_run_cores(run); core++)
        at_work += chil_run_core_cycles(run, core) > 0;
    return o->json || o->per_core || page->path || at_work > 1;
}

/* Runs, compares, and prints to `out`. *done: there was something to print. */
static int run_and_print(struct stat_shown *shown, FILE *out, struct page_file *page, bool *done)
{
    struct stat_options *o = shown->options;
    struct counted first = {0};
    struct chil_run *run;
    off_t start = lseek(STDIN_FILENO, 0, SEEK_CUR);
    int status = run_once(o, start, &run);
    if (!status && o->repeat > 1) status = count_all(run, shown->machine, &first);
    if (!status && o->verbose) tell_time(run, &o->program);
    const char *partial = o->program.partial;
    if (partial && cmd_signal_caught()) o->repeat = 1;
    if (!status) status = repeat(o, shown->machine, &first, start);
    if (!status) status = stat_metrics_evaluate(shown->metrics, run, shows_cores(o, page, run));
    if (!status) {
        o->program.partial = partial;
        cmd_program_report(&o->program, "stat", run);
        shown->run = run;
        status = stat_print(out, shown) || o->output ? cmd_program_status(run) : CMD_BAD;
        *done = true;
    }
    if (*done && page->path) {
        int written = print_page(shown, page);
        if (written) status = written;
    }
    free(first.values);
    chil_run_free(run);
    return status;
}

static int run_to_output(struct stat_shown *shown, struct page_file *page)
{
    struct cmd_output output;
    bool done = false;
    if (!shown->options->output) return run_and_print(shown, stderr, page, &done);
    cmd_program_output(&shown->options->program, shown->options->output);
    int status = cmd_output_open(&output, "stat", shown->options->output);
    if (status) return status;
    status = run_and_print(shown, output.file, page, &done);
    int written = cmd_output_close(&output, done);
    return written ? written : status;
}

static int run_with(int argc, char **argv, struct stat_options *o)
{
    struct stat_chosen chosen = {0};
    struct stat_metrics metrics = {0};
    struct chil_machine *machine;
    int status = parse_options(argc, argv, o);
    if (status) return status < 0 ? 0 : status;
    status = cmd_program_machine(&o->program, "stat", &machine);
    if (status) return status;
    const char *model = chil_machine_word(machine, "memory.model");
    if (o->hpm && model && strcmp(model, "full") != 0) {
        chil_machine_free(machine);
        return cmd_fail("stat", "--hpm reports times and misses; not with --memory=%s", model);
    }
    cmd_ranks_outputs(&o->program, (const char **[]){&o->output, &o->page}, 2);
    struct stat_shown shown = {
        .options = o, .machine = machine, .chosen = &chosen, .metrics = &metrics};
    status = stat_choose(&chosen, o, machine);
    if (!status) status = stat_metrics_read(&metrics, machine, o->metrics, o->hpm);
    struct page_file page = {0};
    cmd_program_output(&o->program, o->page);
    if (!status) status = page_open(&page, "stat", o->page);
    if (!status) status = run_to_output(&shown, &page);
    page_abandon(&page);
    stat_metrics_fini(&metrics);
    free(chosen.events);
    chil_machine_free(machine);
    return status;
}

int cmd_stat(int argc, char **argv)
{
    char name[] = "stat";
    struct stat_options o = {.repeat = 1,
                             .program.run = {.report = cmd_program_say, .context = name}};
    int status = cmd_ranks_start("stat", &o.program);
    if (!status) status = run_with(argc, argv, &o);
    return cmd_ranks_end(&o.program, status);
}
