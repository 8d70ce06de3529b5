/* The options of a command, as rows of a table.
 *
 * A command describes its options once, in a `struct option_table`. Parsing (options.c), --help,
 * the headings of the man page (help.c) and completion (complete.c) all read that table. To add an
 * option: one row, and one paragraph in docs/man/chiliad-COMMAND.md.
 *
 *     static const struct option_row rows[] = {
 *         {"output", 'o', "FILE", "the report goes to FILE", OPTION_SET_TEXT(struct check,
 * output)},
 *         {"around", 0, "N", "records shown ...", OPTION_SET_NUMBER(struct check, around, 0, 100)},
 *         {"stop", 0, NULL, "end the run ...", OPTION_SET_FLAG(struct check, stop)},
 *     };
 *
 * A row names the field that it sets. A field of the wrong type does not compile.
 */
#ifndef CMD_OPTIONS_H
#define CMD_OPTIONS_H

#include <getopt.h> /* optind */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum option_kind {
    OPTION_FLAG,   /* sets a bool; every other kind has an argument */
    OPTION_TEXT,   /* sets a const char * */
    OPTION_FULL,   /* the same; an empty text is an error */
    OPTION_LIST,   /* adds to an array of const char * */
    OPTION_NUMBER, /* sets a number from `least` to `most` */
    OPTION_CHOICE, /* sets the position of a word in `values` */
    OPTION_CALL,   /* calls `call` */
    OPTION_OTHER /* the command reads the word itself; it is written as -NAME if `letter` is '-' */
};

/* Reads the argument (NULL for an option without one); `options` is the base of the row's group.
 * Returns 0, or CMD_BAD after reporting the error. */
typedef int option_call(void *options, const char *command, char *value);

struct option_row {
    const char *name;     /* of the long option */
    char letter;          /* of the short option; 0: none */
    const char *argument; /* its name in the help; NULL: no argument */
    const char *help;     /* one sentence, lower case; wrapped when printed */
    enum option_kind kind;
    size_t offset, size;  /* the field, from the group's base */
    size_t count_offset;  /* OPTION_LIST: the size_t that counts the array's entries */
    uint64_t least, most; /* OPTION_NUMBER */
    option_call *call;
    /* Words that the argument may be, with blanks between, for completion. "@machines", "@events",
     * "@counters" and "@sets" stand for the names in the data files. */
    const char *values;
};

/* The offset of a field; an error of the compiler unless it has the type. */
#define OPTION_OFFSET(STRUCT, FIELD, FIELD_TYPE)                                                   \
    offsetof(STRUCT, FIELD) + _Generic(((STRUCT *)NULL)->FIELD, FIELD_TYPE : (size_t)0)
#define OPTION_SET_FLAG(STRUCT, FIELD)                                                             \
    .kind = OPTION_FLAG, .offset = OPTION_OFFSET(STRUCT, FIELD, bool)
#define OPTION_SET_TEXT(STRUCT, FIELD)                                                             \
    .kind = OPTION_TEXT, .offset = OPTION_OFFSET(STRUCT, FIELD, const char *)
#define OPTION_SET_FULL(STRUCT, FIELD)                                                             \
    .kind = OPTION_FULL, .offset = OPTION_OFFSET(STRUCT, FIELD, const char *)
#define OPTION_ADD_TEXT(STRUCT, FIELD, COUNT)                                                      \
    .kind = OPTION_LIST, .offset = OPTION_OFFSET(STRUCT, FIELD[0], const char *),                  \
    .size = sizeof((STRUCT *)NULL)->FIELD, .count_offset = OPTION_OFFSET(STRUCT, COUNT, size_t)
/* The field is a uint64_t or an unsigned; the range has to fit. */
#define OPTION_SET_NUMBER(STRUCT, FIELD, LEAST, MOST)                                              \
    .kind = OPTION_NUMBER,                                                                         \
    .offset = offsetof(STRUCT, FIELD) + _Generic(((STRUCT *)NULL)->FIELD, uint64_t                 \
                                                 : (size_t)0, unsigned                             \
                                                 : (size_t)0),                                     \
    .size = sizeof((STRUCT *)NULL)->FIELD, .least = (LEAST), .most = (MOST)
/* The field is an enum without negative values; VALUES has its words in order. */
#define OPTION_SET_CHOICE(STRUCT, FIELD, VALUES)                                                   \
    .kind = OPTION_CHOICE, .offset = OPTION_OFFSET(STRUCT, FIELD, unsigned), .values = (VALUES)
#define OPTION_CALLS(CALL) .kind = OPTION_CALL, .call = (CALL)

/* Rows that set fields of one struct, which is at `offset` in the command's options. */
struct option_group {
    const struct option_row *rows;
    size_t count, offset;
};
#define OPTION_ROWS(ROWS)                                                                          \
    {                                                                                              \
        (ROWS), sizeof(ROWS) / sizeof *(ROWS), 0                                                   \
    }
#define OPTION_ROWS_AT(ROWS, STRUCT, FIELD)                                                        \
    {                                                                                              \
        (ROWS), sizeof(ROWS) / sizeof *(ROWS), offsetof(STRUCT, FIELD)                             \
    }

enum { OPTION_FORMS = 4, OPTION_GROUPS = 4 };
struct option_table {
    /* What follows "chiliad COMMAND", one text for each form. */
    const char *forms[OPTION_FORMS];
    /* Paragraphs of the help before and behind the options, a line each. A line that begins with a
     * blank is printed as it is. */
    const char *about, *notes;
    /* A row hides those of the same name in the groups behind its own. Every table has -h, --help.
     */
    struct option_group groups[OPTION_GROUPS];
    /* Options end at the first operand: what follows is the program's. */
    bool ends_at_operand;
    /* Options may stand on both sides of a first operand, which goes to the field at `operand`;
     * `no_operand` is the message without one. NULL: there is no such operand. */
    const char *no_operand;
    size_t operand;
    /* Words that the first operand may be, for completion, as `values` of a row. */
    const char *operand_values;
};

/* The rows that are not hidden, in order; the last is that of --help. Returns how many. */
enum { OPTION_ROWS_MAX = 64 };
struct option_found {
    const struct option_row *row;
    size_t offset; /* of its group */
};
size_t options_rows(const struct option_table *table, struct option_found rows[OPTION_ROWS_MAX]);

/* Reads the options of argv[0]'s command line into `options`. Returns 0 with optind at the first
 * operand, -1 after printing the help, or CMD_BAD after reporting an error. */
int options_parse(const struct option_table *table, void *options, int argc, char **argv);

/* The texts that are made from a table: --help; and SYNOPSIS and the headings of OPTIONS, from
 * which tools/man-options updates a man page. */
void options_print_help(FILE *out, const char *command, const struct option_table *table);
void options_print_man(FILE *out, const char *command, const struct option_table *table);
/* What may stand in the place of the last of `words`, which follow the command; a line each. */
void options_print_words(FILE *out, const struct option_table *table, int count, char **words);

#endif
