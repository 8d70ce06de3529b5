/* The commands of the program: a table in main.c, a file each, and what they share.
 *
 * A command gets its own words (argv[0] is its name) and returns the exit status: 0, or 2 after one line on
 * standard error that says what is wrong and what to do. `cmd_fail` prints that line.
 */
#ifndef CMD_H
#define CMD_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "chiliad/error.h"

enum { CMD_BAD = 2 };

struct cmd {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
};

int cmd_list(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_validate(int argc, char **argv);
int cmd_sweep(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_upc(int argc, char **argv);

/* "chiliad COMMAND: text" on stderr; returns CMD_BAD. */
int cmd_fail(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for an error that the library described. */
int cmd_fail_error(const char *command, const struct chil_error *err);
/* 12345 as 12,345 in the caller's buffer. */
enum { CMD_GROUPED_MAX = 32 };
const char *cmd_grouped(uint64_t value, char buffer[CMD_GROUPED_MAX]);
/* A count for JSON: an integer, or a decimal string past 2^63 - 1, which jansson's integers cannot hold. */
json_t *cmd_json_count(uint64_t value);

/* For the end of a command: whether all of standard output was taken; a full disk or a closed pipe is told. */
int cmd_finish(const char *command, int status);

#endif
