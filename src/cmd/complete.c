/* Completion of a command line, for a shell: `chiliad help --complete WORD...` prints what may
 * stand in the place of the last word. tools/chiliad.bash asks for it. */
#include "cmd/options.h"

#include <string.h>

static void print_words(FILE *out, const char *words)
{
    while (words && *words) {
        size_t length = strcspn(words, " ");
        (void)fprintf(out, "%.*s\n", (int)length, words);
        words += length + (words[length] == ' ');
    }
}

/* The row that a word of a command line names; NULL: none. */
static const struct option_row *row_of(const struct option_found *rows, size_t count,
                                       const char *word)
{
    for (size_t i = 0; i < count; i++) {
        const struct option_row *row = rows[i].row;
        bool is_long = strncmp(word, "--", 2) == 0 && strcmp(word + 2, row->name) == 0;
        bool is_short = word[0] == '-' && word[1] && word[1] == row->letter && !word[2];
        if (row->kind != OPTION_OTHER && (is_long || is_short)) return row;
    }
    return NULL;
}

static void print_options(FILE *out, const struct option_found *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct option_row *row = rows[i].row;
        if (row->letter == '-') {
            (void)fprintf(out, "-%s\n", row->name);
            continue;
        }
        (void)fprintf(out, "--%s\n", row->name);
        if (row->letter) (void)fprintf(out, "-%c\n", row->letter);
    }
}

void options_print_words(FILE *out, const struct option_table *table, int count, char **words)
{
    struct option_found rows[OPTION_ROWS_MAX];
    size_t row_count = options_rows(table, rows);
    const char *word = words[count - 1];
    const struct option_row *before = count > 1 ? row_of(rows, row_count, words[count - 2]) : NULL;
    if (before && before->argument)
        print_words(out, before->values);
    else if (*word == '-')
        print_options(out, rows, row_count);
    else if (count == 1)
        print_words(out, table->operand_values);
}
