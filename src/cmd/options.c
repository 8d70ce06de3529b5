/* Reads a command line with the rows of a table. getopt_long does the reading, so that long options
 * may be abbreviated and short ones joined; the rows say where the arguments go. */
#include "cmd/options.h"

#include <assert.h>
#include <getopt.h>
#include <string.h>

#include "cmd/cmd.h"

enum { LONG_FIRST = 256, LETTERS_MAX = 2 * OPTION_ROWS_MAX + 4 };

static const struct option_row help_row = {
    .name = "help", .letter = 'h', .help = "print this text", .kind = OPTION_OTHER};

/* What getopt_long wants to know. */
struct parser {
    struct option_found rows[OPTION_ROWS_MAX];
    size_t count;
    struct option longs[OPTION_ROWS_MAX + 1];
    char letters[LETTERS_MAX];
};

static bool is_hidden(const struct option_found *rows, size_t count, const struct option_row *row)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].row->name, row->name) == 0) return true;
    return false;
}

size_t options_rows(const struct option_table *table, struct option_found rows[OPTION_ROWS_MAX])
{
    size_t count = 0;
    for (size_t g = 0; g < OPTION_GROUPS; g++) {
        const struct option_group *group = &table->groups[g];
        for (size_t i = 0, before = count; i < group->count; i++) {
            if (is_hidden(rows, before, &group->rows[i])) continue;
            assert(count < OPTION_ROWS_MAX - 1);
            rows[count++] = (struct option_found){&group->rows[i], group->offset};
        }
    }
    rows[count++] = (struct option_found){&help_row, 0};
    return count;
}

static void prepare(struct parser *p, const struct option_table *table)
{
    char *letter = p->letters;
    p->count = options_rows(table, p->rows);
    if (table->ends_at_operand) *letter++ = '+';
    *letter++ = ':'; /* an option without its argument is not an unknown one */
    for (size_t i = 0; i < p->count; i++) {
        const struct option_row *row = p->rows[i].row;
        int argument = row->argument ? required_argument : no_argument;
        p->longs[i] = (struct option){row->name, argument, NULL, LONG_FIRST + (int)i};
        if (!row->letter) continue;
        *letter++ = row->letter;
        if (row->argument) *letter++ = ':';
    }
    *letter = 0;
}

static const struct option_found *find_row(const struct parser *p, int letter)
{
    if (letter >= LONG_FIRST) return &p->rows[letter - LONG_FIRST];
    for (size_t i = 0; i < p->count; i++)
        if (p->rows[i].row->letter == letter) return &p->rows[i];
    return NULL;
}

/* The option as messages name it: "-r", or "--limit" if it has no letter. */
static const char *name_of(const struct option_row *row, char name[64])
{
    if (row->letter)
        (void)snprintf(name, 64, "-%c", row->letter);
    else
        (void)snprintf(name, 64, "--%s", row->name);
    return name;
}

static int add_text(const struct option_row *row, char *base, const char *command, char *value)
{
    const char **list = (const char **)(void *)(base + row->offset);
    size_t *count = (size_t *)(void *)(base + row->count_offset);
    if (*count == row->size / sizeof *list)
        return cmd_fail(command, "more than %zu --%s", *count, row->name);
    list[(*count)++] = value;
    return 0;
}

static int set_number(const struct option_row *row, void *field, const char *command, char *value)
{
    char name[64];
    uint64_t number = 0;
    int status = cmd_number(command, name_of(row, name), value, row->least, row->most, &number);
    if (status) return status;
    if (row->size == sizeof number)
        *(uint64_t *)field = number;
    else
        *(unsigned *)field = (unsigned)number;
    return 0;
}

/* 'a', 'b' or 'c' of "a b c". */
static void list_choices(const char *values, char *text, size_t size)
{
    size_t at = 0;
    for (const char *word = values; *word && at < size;) {
        size_t length = strcspn(word, " ");
        const char *next = word + length + (word[length] == ' ');
        const char *before = word == values ? "" : *next ? ", " : " or ";
        at += (size_t)snprintf(text + at, size - at, "%s'%.*s'", before, (int)length, word);
        word = next;
    }
}

static int set_choice(const struct option_row *row, unsigned *field, const char *command,
                      char *value)
{
    char choices[200], name[64];
    unsigned choice = 0;
    for (const char *word = row->values; *word; choice++) {
        size_t length = strcspn(word, " ");
        if (strlen(value) == length && strncmp(word, value, length) == 0) {
            *field = choice;
            return 0;
        }
        word += length + (word[length] == ' ');
    }
    list_choices(row->values, choices, sizeof choices);
    return cmd_fail(command, "%s wants %s, not '%s'", name_of(row, name), choices, value);
}

static int take(const struct option_found *found, void *options, const char *command, char *value)
{
    const struct option_row *row = found->row;
    char *base = (char *)options + found->offset, name[64];
    void *field = base + row->offset;
    switch (row->kind) {
    case OPTION_FLAG: *(bool *)field = true; return 0;
    case OPTION_FULL:
        if (!*value)
            return cmd_fail(command, "%s wants a %s that is not empty", name_of(row, name),
                            row->argument);
        *(const char **)field = value;
        return 0;
    case OPTION_TEXT: *(const char **)field = value; return 0;
    case OPTION_LIST: return add_text(row, base, command, value);
    case OPTION_NUMBER: return set_number(row, field, command, value);
    case OPTION_CHOICE: return set_choice(row, field, command, value);
    case OPTION_CALL: return row->call(base, command, value);
    case OPTION_OTHER: break;
    }
    return 0;
}

static const char *option_at(const void *table, size_t index)
{
    const struct option_found *rows = table;
    return rows[index].row->name;
}

/* The name of the option that was meant by an unknown one; NULL: none is near. */
static const char *nearest(const struct parser *p, const char *word)
{
    char name[64];
    if (strncmp(word, "--", 2) != 0) return NULL;
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    return view_nearest(name, p->rows, p->count, option_at);
}

/* Options up to the next operand that ends them. */
static int parse_some(const struct parser *p, const struct option_table *table, void *options,
                      int argc, char **argv)
{
    for (int letter; (letter = getopt_long(argc, argv, p->letters, p->longs, NULL)) != -1;) {
        const struct option_found *found = find_row(p, letter);
        if (!found) return cmd_bad_option(argv[0], letter, argv, nearest(p, argv[optind - 1]));
        if (found->row == &help_row) {
            options_print_help(stdout, argv[0], table);
            return -1;
        }
        int status = take(found, options, argv[0], optarg);
        if (status) return status;
    }
    return 0;
}

int options_parse(const struct option_table *table, void *options, int argc, char **argv)
{
    struct parser p = {0};
    prepare(&p, table);
    optind = 0; /* makes getopt_long start anew */
    opterr = 0;
    int status = parse_some(&p, table, options, argc, argv);
    if (status || !table->no_operand) return status;
    if (optind == argc) return cmd_fail(argv[0], "%s", table->no_operand);
    *(const char **)(void *)((char *)options + table->operand) = argv[optind++];
    return parse_some(&p, table, options, argc, argv);
}
