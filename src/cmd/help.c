/* The texts that are made from a table of options: --help, and the parts of a man page. */
#include "cmd/options.h"

#include <string.h>

enum { WIDTH = 80, TEXT_COLUMN = 26, HEAD_MAX = 100, SYNOPSIS_ROWS = 5, FORM_MAX = 400 };

/* The length of a word. What is in single quotes is one word. */
static int word_length(const char *text)
{
    const char *end = *text == '\'' ? strchr(text + 1, '\'') : NULL;
    return (int)(end ? (size_t)(end - text) + strcspn(end, " \n") : strcspn(text, " \n"));
}

/* Words of a line from `column` on, with line breaks and each further line at `indent`. */
static void print_wrapped(FILE *out, const char *text, size_t length, int column, int indent)
{
    bool first = true;
    for (const char *end = text + length; text < end;) {
        int word = word_length(text);
        if (text + word > end) word = (int)(end - text);
        if (!first && column + 1 + word > WIDTH) {
            (void)fprintf(out, "\n%*s", indent, "");
            column = indent;
            first = true;
        }
        column += fprintf(out, "%s%.*s", first ? "" : " ", word, text);
        first = false;
        text += word;
        text += text < end;
    }
    (void)fputc('\n', out);
}

/* Paragraphs, a line each. */
static void print_paragraphs(FILE *out, const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        if (*text == ' ')
            (void)fprintf(out, "%.*s\n", (int)length, text);
        else
            print_wrapped(out, text, length, 0, 0);
        text += length + (text[length] == '\n');
    }
}

/* "-o, --output FILE" */
static void head_of(const struct option_row *row, char head[HEAD_MAX])
{
    char letter[8] = "    ";
    if (row->letter && row->letter != '-')
        (void)snprintf(letter, sizeof letter, "-%c, ", row->letter);
    (void)snprintf(head, HEAD_MAX, "  %s-%s%s%s%s", letter, row->letter == '-' ? "" : "-",
                   row->name, row->argument ? " " : "", row->argument ? row->argument : "");
}

static void print_row(FILE *out, const struct option_row *row)
{
    char head[HEAD_MAX];
    head_of(row, head);
    if ((int)strlen(head) + 2 > TEXT_COLUMN)
        (void)fprintf(out, "%s\n%*s", head, TEXT_COLUMN, "");
    else
        (void)fprintf(out, "%-*s", TEXT_COLUMN, head);
    print_wrapped(out, row->help, strlen(row->help), TEXT_COLUMN, TEXT_COLUMN);
}

void options_print_help(FILE *out, const char *command, const struct option_table *table)
{
    struct option_found rows[OPTION_ROWS_MAX];
    size_t count = options_rows(table, rows);
    for (size_t i = 0; i < OPTION_FORMS && table->forms[i]; i++)
        (void)fprintf(out, "%s chiliad %s %s\n", i ? "      " : "usage:", command, table->forms[i]);
    (void)fputc('\n', out);
    print_paragraphs(out, table->about);
    (void)fputc('\n', out);
    for (size_t i = 0; i < count; i++)
        print_row(out, rows[i].row);
    if (!table->notes) return;
    (void)fputc('\n', out);
    print_paragraphs(out, table->notes);
}

/* --- The parts of a man page ----------------------------------------------------------------- */

/* A form in markdown: what is typed as it stands is bold, what is replaced (capitals) italic. */
static void print_form(FILE *out, const char *form)
{
    static const char inside[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-=";
    while (*form) {
        size_t length = strspn(form, inside);
        if (!length) {
            (void)fputc(*form++, out);
            continue;
        }
        bool name = *form >= 'A' && *form <= 'Z';
        /* A.cubex */
        if (name && form[length] == '.' && strspn(form + length + 1, inside))
            length += 1 + strspn(form + length + 1, inside);
        const char *mark = name ? "*" : "**";
        (void)fprintf(out, "%s%.*s%s", mark, (int)length, form, mark);
        form += length;
    }
}

/* Whether a form has the option already, as a required one. */
static bool has_option(const char *form, const struct option_row *row)
{
    char name[80], letter[4] = {'-', row->letter, ' '};
    (void)snprintf(name, sizeof name, "--%s", row->name);
    return strstr(form, name) || (row->letter && strstr(form, letter));
}

/* A form with its [OPTIONS] written out, when there are few. */
static void expand_form(const char *form, const struct option_found *rows, size_t count,
                        char text[FORM_MAX])
{
    static const char options[] = "[OPTIONS]";
    const char *place = strstr(form, options);
    if (!place || count > SYNOPSIS_ROWS) {
        (void)snprintf(text, FORM_MAX, "%s", form);
        return;
    }
    size_t at = (size_t)snprintf(text, FORM_MAX, "%.*s", (int)(place - form), form);
    const char *before = "";
    for (size_t i = 0; i + 1 < count; i++) {
        const struct option_row *row = rows[i].row;
        char name[80] = {'-', row->letter};
        if (has_option(form, row)) continue;
        if (!row->letter) (void)snprintf(name, sizeof name, "--%s", row->name);
        at += (size_t)snprintf(text + at, FORM_MAX - at, "%s[%s%s%s]", before, name,
                               row->argument ? " " : "", row->argument ? row->argument : "");
        before = " ";
    }
    (void)snprintf(text + at, FORM_MAX - at, "%s", place + sizeof options - 1);
}

static void print_heading(FILE *out, const struct option_row *row)
{
    bool dash = row->letter == '-';
    if (row->letter && !dash) (void)fprintf(out, "**-%c**, ", row->letter);
    (void)fprintf(out, "**%s%s**", dash ? "-" : "--", row->name);
    if (row->argument) (void)fprintf(out, " *%s*", row->argument);
}

void options_print_man(FILE *out, const char *command, const struct option_table *table)
{
    struct option_found rows[OPTION_ROWS_MAX];
    size_t count = options_rows(table, rows);
    for (size_t i = 0; i < OPTION_FORMS && table->forms[i]; i++) {
        char form[FORM_MAX];
        expand_form(table->forms[i], rows, count, form);
        (void)fprintf(out, "form\t**chiliad %s** ", command);
        print_form(out, form);
        (void)fputc('\n', out);
    }
    for (size_t i = 0; i < count; i++) {
        (void)fprintf(out, "option\t%s\t", rows[i].row->name);
        print_heading(out, rows[i].row);
        (void)fprintf(out, "\t%s\n", rows[i].row->help);
    }
}
