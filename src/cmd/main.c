/* The program: finds the command in the table and runs it. */
#include "cmd/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct cmd commands[] = {
    {"cc", "cc", cmd_cc, &cmd_cc_options,
     "compile a C program for the machine, with the guest libraries"},
    {"fc", "cc", cmd_cc, &cmd_cc_options, "compile a Fortran program"},
    {"cxx", "cc", cmd_cc, &cmd_cc_options, "compile a C++ program"},
    {"mpicc", "cc", cmd_cc, &cmd_cc_options, "compile a C program with MPI"},
    {"mpifort", "cc", cmd_cc, &cmd_cc_options, "compile a Fortran program with MPI"},
    {"mpicxx", "cc", cmd_cc, &cmd_cc_options, "compile a C++ program with MPI"},
    {"list", "list", cmd_list, &cmd_list_options,
     "show the machines and the events that can be counted"},
    {"stat", "stat", cmd_stat, &cmd_stat_options, "run a program and count what it does"},
    {"hist", "hist", cmd_hist, &cmd_hist_options,
     "run a program and count its misses by latency, function and data"},
    {"sweep", "sweep", cmd_sweep, &cmd_sweep_options, "run a program on a family of machines"},
    {"validate", "validate", cmd_validate, &cmd_validate_options,
     "run micro-benchmarks with known counts"},
    {"record", "record", cmd_record, &cmd_record_options,
     "run a program and record the counts of every call path"},
    {"trace", "trace", cmd_trace, &cmd_trace_options,
     "run a program and write its instructions, accesses or misses"},
    {"check", "check", cmd_check, &cmd_check_options,
     "run a program and check rules about counts and accesses"},
    {"dump", "dump", cmd_dump, &cmd_dump_options, "print a stage of the data flow as text"},
    {"merge", "merge", cmd_merge, &cmd_merge_options, "merge experiments with different metrics"},
    {"mean", "merge", cmd_merge, &cmd_mean_options, "average repeated runs"},
    {"diff", "diff", cmd_diff, &cmd_diff_options,
     "show what changed from one experiment to another"},
    {"report", "report", cmd_report, &cmd_report_options,
     "show an experiment: metrics, call paths, threads"},
    {"page", "page", cmd_page, &cmd_page_options,
     "write a web page that shows experiments and other results"},
    {"serve", "serve", cmd_serve, &cmd_serve_options,
     "serve that page over a folder, or over a program while it runs"},
    {"cut", "cut", cmd_cut, &cmd_cut_options, "keep a part of an experiment"},
    {"upc", "upc", cmd_upc, &cmd_upc_options, "show the counter unit, or feed it a stimulus"},
    {"plan", "plan", cmd_plan, &cmd_plan_options,
     "find the fewest runs that give metrics on a machine with few counters"},
};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

int cmd_fail(const char *command, const char *format, ...)
{
    va_list args;
    char *text = NULL;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0) text = NULL;
    va_end(args);
    (void)fprintf(stderr, "chiliad%s%s: %s\n", *command ? " " : "", command,
                  text ? view_printable(text) : "out of memory");
    free(text);
    return CMD_BAD;
}

int cmd_fail_error(const char *command, const struct chil_error *err)
{
    (void)cmd_fail(command, "%s", err->text[0] ? err->text : chil_status_text(err->status));
    return cmd_status_of(err->status);
}

int cmd_fail_program(const char *command, const struct chil_error *err)
{
    (void)cmd_fail_error(command, err);
    return err->status == CHIL_ENOENT ? CMD_NO_PROGRAM : CMD_EXEC;
}

int cmd_status_of(int status)
{
    switch (status) {
    case CHIL_ELAW: return CMD_INTERNAL;
    case CHIL_EEXEC: return CMD_EXEC;
    case CHIL_ENOPROGRAM: return CMD_NO_PROGRAM;
    default: return CMD_BAD;
    }
}

int cmd_finish(const char *command, int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    return cmd_fail(command, "cannot write to standard output: %s", strerror(errno));
}

static void print_help(FILE *out)
{
    (void)fprintf(out,
                  "usage: chiliad COMMAND [OPTIONS] [ARGUMENTS]\n\n"
                  "Chiliad counts more than a thousand hardware events at once, on a simulated\n"
                  "Blue Gene node.\n\n"
                  "commands:\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
        (void)fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].summary);
    (void)fprintf(out,
                  "\n'chiliad COMMAND --help' describes a command. Data files: $CHILIAD_DATA,\n"
                  "else beside the program, else the install prefix.\n");
}

static const struct cmd *find_command(const char *name)
{
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(name, commands[i].name) == 0) return &commands[i];
    return NULL;
}

static const char *word_at(const void *table, size_t index)
{
    static const char *const others[] = {"help", "--help", "--version"};
    const struct cmd *rows = table;
    return index < COMMAND_COUNT ? rows[index].name : others[index - COMMAND_COUNT];
}

static int unknown_command(const char *word)
{
    enum { OTHERS = 3 };
    const char *nearest = view_nearest(word, commands, COMMAND_COUNT + OTHERS, word_at);
    if (!nearest) return cmd_fail("", "unknown command '%s'; 'chiliad --help' lists them", word);
    return cmd_fail("", "unknown command '%s'; did you mean 'chiliad %s'?", word, nearest);
}

/* `chiliad stat help` is `chiliad help stat`, unless there is a file of that name. */
static bool asks_for_help(int argc, char **argv)
{
    return argc == 3 && strcmp(argv[2], "help") == 0 && access(argv[2], F_OK) != 0;
}

/* `help COMMAND`; and for scripts `help --man PAGE`, what the rows of the page's commands say of
 * it, and `help --complete WORD...`, what may stand in the place of the last word. */
static int help(int argc, char **argv)
{
    bool man = argc == 3 && strcmp(argv[1], "--man") == 0;
    bool complete = argc > 2 && strcmp(argv[1], "--complete") == 0;
    const struct cmd *command = argc > 1 ? find_command(argv[complete || man ? 2 : 1]) : NULL;
    if (man) {
        for (int i = 0; i < COMMAND_COUNT; i++)
            if (strcmp(argv[2], commands[i].page) == 0)
                options_print_man(stdout, commands[i].name, commands[i].options);
    } else if (complete && argc == 3) {
        for (int i = 0; i < COMMAND_COUNT; i++)
            (void)puts(commands[i].name);
        (void)puts("help\n--help\n--version");
    } else if (complete && command) {
        options_print_words(stdout, command->options, argc - 3, argv + 3);
    } else if (command && argc == 2) {
        options_print_help(stdout, command->name, command->options);
    } else if (argc > 1 && !complete && strcmp(argv[1], "help") != 0) {
        return unknown_command(argv[1]);
    } else if (!complete) {
        print_help(stdout);
    }
    return cmd_finish("", 0);
}

/* A standard stream that is closed stays so (O_PATH: EBADF), and no other file gets its number. */
static void keep_streams_closed(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/", O_PATH) != fd) abort();
}

int main(int argc, char **argv)
{
    keep_streams_closed();
    (void)signal(SIGXFSZ, SIG_IGN); /* 'ulimit -f': a write says EFBIG */
    if (argc < 2) {
        print_help(stderr);
        return CMD_BAD;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return help(argc - 1, argv + 1);
    if (strcmp(name, "--version") == 0) {
        (void)printf("chiliad %s\n", CHILIAD_VERSION);
        return cmd_finish("", 0);
    }
    const struct cmd *command = find_command(name);
    if (!command) return unknown_command(name);
    if (asks_for_help(argc, argv)) {
        options_print_help(stdout, name, command->options);
        return cmd_finish(name, 0);
    }
    int status = cmd_finish(name, command->run(argc - 1, argv + 1));
    cmd_signals_end();
    return status;
}
