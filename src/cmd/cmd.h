/* The commands of the program: a table in main.c, a file each, and what they share.
 *
 * A command gets its own words (argv[0] is its name) and returns the exit status: 0, the program's,
 * or one of those below after one line on standard error that says what is wrong and what to do.
 * `cmd_fail` prints that line.
 *
 * Terms: docs/glossary.md
 */
#ifndef CMD_H
#define CMD_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "chiliad/error.h"
#include "chiliad/run.h"
#include "chiliad/sandbox.h"
#include "cmd/options.h"
#include "view/view.h"
#include "view/view_file.h"

/* Exit statuses that are not the program's, as env(1) and timeout(1) have them. A status of 128 + N
 * is the end by signal N, of the program or of the command. */
enum {
    CMD_DIFFERS = 1,      /* what was to be held does not hold: diff --fail-if, check, upc */
    CMD_INTERNAL = 123,   /* a bug of the simulator: counts contradict each other */
    CMD_LIMIT = 124,      /* --limit ended the run */
    CMD_BAD = 125,        /* a bad command line or input; an output that cannot be written */
    CMD_EXEC = 126,       /* the program cannot be executed */
    CMD_NO_PROGRAM = 127, /* there is no such program */
    CMD_SIGNAL = 128
};

struct cmd {
    const char *name, *page; /* of the command; of the man page without "chiliad-" */
    int (*run)(int argc, char **argv);
    const struct option_table *options;
    const char *summary;
};

/* A command, and the table of its options. */
int cmd_check(int argc, char **argv);
int cmd_cc(int argc, char **argv); /* cc, fc and cxx */
int cmd_hist(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_validate(int argc, char **argv);
int cmd_sweep(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_upc(int argc, char **argv);
int cmd_merge(int argc, char **argv); /* merge and mean */
int cmd_diff(int argc, char **argv);
int cmd_cut(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_page(int argc, char **argv);
int cmd_serve(int argc, char **argv);
extern const struct option_table cmd_cc_options, cmd_check_options, cmd_cut_options,
    cmd_diff_options, cmd_dump_options, cmd_hist_options, cmd_list_options, cmd_mean_options,
    cmd_merge_options, cmd_page_options, cmd_plan_options, cmd_record_options, cmd_report_options,
    cmd_serve_options, cmd_stat_options, cmd_sweep_options, cmd_trace_options, cmd_upc_options,
    cmd_validate_options;

/* "chiliad COMMAND: text" on stderr; returns CMD_BAD. */
int cmd_fail(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for an error that the library described, with the exit status for it; and for one about
 * the file of the program that is to run. */
int cmd_fail_error(const char *command, const struct chil_error *err);
int cmd_fail_program(const char *command, const struct chil_error *err);
int cmd_status_of(int status); /* the exit status for a negative CHIL_E... */
/* A file of view/view_file.h that a command writes. Both report errors and return CMD_BAD. */
struct cmd_output {
    const char *command;
    struct view_file whole;
    FILE *file; /* that of `whole` */
};
int cmd_output_open(struct cmd_output *output, const char *command, const char *path);
int cmd_output_close(struct cmd_output *output, bool good);

/* What commands that run a program have in common: the machine, its parameters, and where the
 * program may go. A command puts cmd_program_rows behind its own rows. */
enum { CMD_PROGRAM_LIST = 64, CMD_PROGRAM_ROWS = 19, CMD_ENV_FIXED = 16, CMD_ENV_TEXT = 1000 };
enum { CMD_PARTIAL_TEXT = 100, CMD_OUTPUTS = 4, CMD_SHOWN = 1000 };
/* What a terminal shows while a program runs (program_run.c). */
struct cmd_progress {
    const char *command;
    double clock_hz;
    bool terminal, shown;
    int64_t last, next; /* milliseconds of the host */
    uint64_t instructions;
};
struct cmd_program {
    struct chil_run_options run;
    struct chil_run_host host;
    struct cmd_progress progress;
    const char *limit; /* of --limit, as given; seconds until the machine is known */
    double limit_seconds;
    const char *partial; /* why the last run has no end, "stopped by SIGINT"; NULL: it has */
    char partial_text[CMD_PARTIAL_TEXT];
    const char *machine;
    const char *writable[CMD_PROGRAM_LIST];
    const char *settings[CMD_PROGRAM_LIST];
    size_t setting_count;
    const char *env[CMD_PROGRAM_LIST]; /* --env; "NAME=VALUE" after cmd_program_words */
    size_t env_count;
    bool env_host;
    /* The second wall (program_sandbox.c). Outputs are those of the command, set before the run. */
    bool no_sandbox, in_sandbox;
    const char *outputs[CMD_OUTPUTS];
    size_t output_count;
    struct chil_sandbox_state sandbox;
    char *env_all[CMD_PROGRAM_LIST + CMD_ENV_FIXED + 1]; /* without env_host: the environment */
    size_t env_all_count;
    char env_text[CMD_ENV_TEXT];
    char shown[CMD_SHOWN]; /* the program, as it may be printed */
};
extern const struct option_row cmd_program_rows[CMD_PROGRAM_ROWS];
int cmd_program_miss_kinds(struct cmd_program *p, const char *command); /* as --miss-kinds */
/* The words of the program, after the options, and its environment (program_env.c); and opening
 * its machine. */
int cmd_program_words(struct cmd_program *p, const char *command, int argc, char **argv);
int cmd_program_env(struct cmd_program *p, const char *command);
/* Whether the command does with the machine's memory.model; reports if not. */
int cmd_program_memory(const struct cmd_program *p, const char *command,
                       const struct chil_machine *machine);
int cmd_program_machine(struct cmd_program *p, const char *command, struct chil_machine **machine);
/* Runs to the end, to --limit, or until SIGINT or SIGTERM comes, and sets `partial`; then its exit
 * status. cmd_program_machine calls cmd_program_prepare. */
int cmd_program_prepare(struct cmd_program *p, const char *command);
/* How many nodes the options ask for, before a run is made that says so. */
unsigned cmd_program_nodes(const struct cmd_program *p);
/* Under mpirun (ranks.c): the ranks are in the run's options, NULL otherwise, and the options are
 * parsed after it. cmd_ranks_end returns the exit status. Outputs are rank 0's: cmd_ranks_outputs
 * sets those of other ranks to NULL. Commands that run a program but not on ranks refuse. */
int cmd_ranks_start(const char *command, struct cmd_program *p);
int cmd_ranks_end(const struct cmd_program *p, int status);
void cmd_ranks_outputs(const struct cmd_program *p, const char **outputs[], size_t count);
/* chil_ranks_reduce after a run, until a signal comes; reports. */
int cmd_ranks_reduce(const struct cmd_program *p, const char *command,
                     struct chil_ranks_reducer reducer);
int cmd_ranks_refuse(const struct cmd_program *p, const char *command);
/* A run of the program with these options; before the first one, the process enters the sandbox. */
int cmd_program_new(struct cmd_program *p, const struct chil_run_options *options,
                    struct chil_run **run, struct chil_error *err);
void cmd_program_output(struct cmd_program *p, const char *path); /* NULL: none */
int cmd_program_go(struct cmd_program *p, struct chil_run *run, struct chil_error *err);
int cmd_program_status(const struct chil_run *run);
/* --limit; and whether its text ends in a unit, where --limit without one is something else. */
int cmd_take_limit(void *program, const char *command, char *value);
bool cmd_limit_has_unit(const char *text);
/* The first SIGINT or SIGTERM is noted from now on, the second ends the command. Its number, 0:
 * none came. cmd_signals_end ends the command by it, when all is written. */
void cmd_signals_catch(void);
int cmd_signal_caught(void);
void cmd_signals_end(void);
/* What the simulator says while it runs: a line on standard error. For chil_run_options, with the
 * command as context.
 */
void cmd_program_say(void *command, const char *line);
/* After the run: how the program was killed, or why the run was stopped. */
void cmd_program_report(const struct cmd_program *p, const char *command,
                        const struct chil_run *run);
/* Names that predicates know: functions and data of the program, and places that users name with
 * --tag and --category, "NAME=PLACE,PLACE". `from`: where a text was written, for messages; NULL:
 * the option. */
enum { CMD_PLACES_MAX = 64 };
struct cmd_place {
    const char *text, *from;
};
struct cmd_places {
    struct cmd_place tags[CMD_PLACES_MAX], categories[CMD_PLACES_MAX];
    size_t tag_count, category_count;
    bool heap_sites; /* --tag heap-sites: tags of the heap are where it was allocated */
    bool hpm;        /* --category hpm: categories are sections of libHPM */
};
enum { CMD_PLACES_ROWS = 2 };
extern const struct option_row cmd_places_rows[CMD_PLACES_ROWS];
int cmd_names_make(struct chil_hist_names *names, const char *command, const char *program,
                   const struct cmd_places *places);
void cmd_names_free(struct chil_hist_names *names);
/* What a run has to add to these tables. */
void cmd_names_ask(const struct chil_hist_names *names, struct chil_run_names *run);

/* Whether an event is not counted because a parameter of the machine is off. cmd_event_check
 * reports that and returns CMD_BAD, else 0. */
bool cmd_event_is_off(const struct chil_event *event);
int cmd_event_check(const char *command, const struct chil_event *event);

/* Reports what getopt_long does not know; `nearest` is the option's name that may have
 * been meant, or NULL. */
int cmd_bad_option(const char *command, int letter, char **argv, const char *nearest);
/* A whole number from `least` to `most`; anything else is reported and CMD_BAD returned. */
int cmd_number(const char *command, const char *option, const char *text, uint64_t least,
               uint64_t most, uint64_t *value);

/* Ends a command: flushes standard output. Reports a full disk or a closed pipe and returns
 * CMD_BAD, else `status`. */
int cmd_finish(const char *command, int status);

#endif
