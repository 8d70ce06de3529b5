/* The program: finds the command in the table and runs it. */
#include "cmd/cmd.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

static const struct cmd commands[] = {
    {"cc", cmd_cc, "compile a C program for the machine, with the guest libraries"},
    {"fc", cmd_cc, "the same for Fortran"},
    {"cxx", cmd_cc, "the same for C++"},
    {"list", cmd_list, "show the machines and the events that can be counted"},
    {"stat", cmd_stat, "run a program and count what it does"},
    {"hist", cmd_hist, "run a program and count its misses by latency, function, data and more"},
    {"sweep", cmd_sweep, "run a program on a family of machines"},
    {"validate", cmd_validate, "micro-benchmarks with known counts: expected, measured, error"},
    {"record", cmd_record, "run a program and keep what every call path did"},
    {"trace", cmd_trace, "run a program and write down its instructions, accesses or misses"},
    {"check", cmd_check, "run a program and hold it to rules about counts and accesses"},
    {"dump", cmd_dump, "print a stage of the flow: decoded instructions"},
    {"merge", cmd_merge, "put experiments with different metrics together"},
    {"mean", cmd_merge, "average experiments of repeated runs"},
    {"diff", cmd_diff, "show what changed from one experiment to another"},
    {"report", cmd_report, "show an experiment: metrics, call paths, threads"},
    {"cut", cmd_cut, "keep a part of an experiment"},
    {"upc", cmd_upc, "look at the counter unit, or feed it a stimulus"},
    {"plan", cmd_plan, "the fewest runs that give metrics on a machine with few counters"},
};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

int cmd_fail(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)fprintf(stderr, "chiliad%s%s: ", *command ? " " : "", command);
    (void)vfprintf(stderr, format, args);
    (void)fputc('\n', stderr);
    va_end(args);
    return CMD_BAD;
}

int cmd_fail_error(const char *command, const struct chil_error *err)
{
    (void)cmd_fail(command, "%s", err->text[0] ? err->text : chil_status_text(err->status));
    return err->status == CHIL_ELAW ? CMD_INTERNAL : CMD_BAD;
}

int cmd_finish(const char *command, int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    return cmd_fail(command, "cannot write to standard output: %s", strerror(errno));
}

static void print_help(FILE *out)
{
    (void)fprintf(
        out,
        "usage: chiliad COMMAND [OPTIONS] [ARGUMENTS]\n\n"
        "Chiliad counts more than a thousand hardware events at once, on a simulated Blue Gene node.\n\n"
        "commands:\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
        (void)fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].summary);
    (void)fprintf(
        out,
        "\n'chiliad COMMAND --help' tells more of each. Data files: $CHILIAD_DATA, else beside the "
        "program, else the install prefix.\n");
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return CMD_BAD;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_help(stdout);
        return cmd_finish("", 0);
    }
    if (strcmp(name, "--version") == 0) {
        (void)printf("chiliad %s\n", CHILIAD_VERSION);
        return cmd_finish("", 0);
    }
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(name, commands[i].name) == 0)
            return cmd_finish(name, commands[i].run(argc - 1, argv + 1));
    return cmd_fail("", "unknown command '%s'; 'chiliad --help' lists them", name);
}
