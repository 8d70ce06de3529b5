/* The commands of the program: a table in main.c, a file each, and what they share.
 *
 * A command gets its own words (argv[0] is its name) and returns the exit status: 0, or 2 after one
 * line on standard error that says what is wrong and what to do, or 3 if it is the simulator that
 * is wrong. `cmd_fail` prints that line.
 *
 * Terms: docs/glossary.md
 */
#ifndef CMD_H
#define CMD_H

#include <getopt.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "chiliad/error.h"
#include "chiliad/run.h"
#include "cmd/options.h"
#include "view/view.h"
#include "view/view_file.h"

enum { CMD_BAD = 2, CMD_INTERNAL = 3 };

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
extern const struct option_table cmd_merge_options, cmd_mean_options, cmd_diff_options,
    cmd_cut_options, cmd_dump_options;

/* "chiliad COMMAND: text" on stderr; returns CMD_BAD. */
int cmd_fail(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for an error that the library described; CMD_INTERNAL for a broken law. */
int cmd_fail_error(const char *command, const struct chil_error *err);
/* A file of view/view_file.h that a command writes. Both report errors and return CMD_BAD. */
struct cmd_output {
    const char *command;
    struct view_file whole;
    FILE *file; /* that of `whole` */
};
int cmd_output_open(struct cmd_output *output, const char *command, const char *path);
int cmd_output_close(struct cmd_output *output, bool good);

/* What commands that run a program have in common: the machine, its parameters, and where the
 * program may go. A command puts CMD_PROGRAM_OPTIONS into its own and gives what is not its own to
 * cmd_program_take, which returns 0, a status after telling what is wrong, or CMD_NOT_MINE. */
enum {
    CMD_PROGRAM_LIST = 64,
    CMD_NOT_MINE = -100,
    CMD_OPTION_SET = 1000,
    CMD_OPTION_SYSROOT,
    CMD_OPTION_ROOT,
    CMD_OPTION_WRITABLE,
    CMD_OPTION_ENGINE,
    CMD_OPTION_MISS_KINDS,
    CMD_OPTION_TAG,
    CMD_OPTION_CATEGORY
};
struct cmd_program {
    struct chil_run_options run;
    const char *machine;
    const char *writable[CMD_PROGRAM_LIST];
    const char *settings[CMD_PROGRAM_LIST];
    size_t setting_count;
};
#define CMD_PROGRAM_OPTIONS                                                                        \
    {"machine", required_argument, NULL, 'M'}, {"set", required_argument, NULL, CMD_OPTION_SET},   \
        {"sysroot", required_argument, NULL, CMD_OPTION_SYSROOT},                                  \
        {"root", required_argument, NULL, CMD_OPTION_ROOT},                                        \
        {"engine", required_argument, NULL, CMD_OPTION_ENGINE},                                    \
        {"miss-kinds", no_argument, NULL, CMD_OPTION_MISS_KINDS},                                  \
    {                                                                                              \
        "writable", required_argument, NULL, CMD_OPTION_WRITABLE                                   \
    }
#define CMD_PROGRAM_HELP                                                                                           \
    "  -M, --machine MACHINE   bgp (default), bgl, or a machine file\n"                                            \
    "      --set KEY=VALUE     another value for a parameter of the machine, as l1d.size=16K; may be repeated\n"   \
    "      --miss-kinds        count cold, capacity, conflict and coherence misses apart: --set misses.kinds=on\n" \
    "      --sysroot DIR       where ld.so.1 and shared libraries are (default: Debian's cross root)\n"            \
    "      --root DIR          confine the program's files to DIR\n"                                               \
    "      --writable DIR      the program may write below DIR, besides the working directory; may be repeated\n"  \
    "      --engine ENGINE     auto (default), interp, jit, or lockstep, which compares the two\n"
int cmd_program_take(struct cmd_program *p, const char *command, int letter);
/* The words of the program, after the options; and opening its machine. */
int cmd_program_words(struct cmd_program *p, const char *command, int argc, char **argv);
int cmd_program_machine(struct cmd_program *p, const char *command, struct chil_machine **machine);
/* What the simulator says while it runs: a line on standard error. For chil_run_options, with the
 * command as context.
 */
void cmd_program_say(void *command, const char *line);
/* After the run: how the program was killed, if it was. */
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
#define CMD_PLACES_OPTIONS                                                                         \
    {"tag", required_argument, NULL, CMD_OPTION_TAG},                                              \
    {                                                                                              \
        "category", required_argument, NULL, CMD_OPTION_CATEGORY                                   \
    }
int cmd_places_add(struct cmd_places *places, const char *command, int letter); /* optarg */
int cmd_names_make(struct chil_hist_names *names, const char *command, const char *program,
                   const struct cmd_places *places);
void cmd_names_free(struct chil_hist_names *names);
/* What a run has to add to these tables. */
void cmd_names_ask(const struct chil_hist_names *names, struct chil_run_names *run);

/* Whether an event would be counted if a parameter were on that is off; and the same told, 0 if it
 * is counted. */
bool cmd_event_is_off(const struct chil_event *event);
int cmd_event_check(const char *command, const struct chil_event *event);

/* What getopt_long does not know, for the default of a switch over `letter`. */
int cmd_bad_option(const char *command, int letter, char **argv);
/* A whole number from `least` to `most` that an option wants; tells what is wrong. */
int cmd_number(const char *command, const char *option, const char *text, uint64_t least,
               uint64_t most, uint64_t *value);

/* For the end of a command: whether all of standard output was taken; a full disk or a closed pipe
 * is told. */
int cmd_finish(const char *command, int status);

#endif
