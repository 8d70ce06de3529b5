/* A result as rows and columns, described once and shown in three forms: a text table, separated
 * values, and JSON.
 *
 * Terms: a *column* says what a field is called in each form, what kind of value it holds, and
 * which forms show it. A *cell* is a value in one row and column. A *view* is an array of columns
 * and the rows of cells that were added.
 *
 *     const struct view_column columns[] = {{.title = "event", .left = true}, {.title = "count"}};
 *     struct view view;
 *     view_init(&view, columns, 2);
 *     struct view_cell *cell = view_row(&view);
 *     cell[0] = view_text("BGL_INST");
 *     cell[1] = view_count(12345);
 *     view_table(&view, stdout, &(struct view_table_style){.heading = true});
 *     view_fini(&view);
 *
 * Rules:
 *   1. A view borrows its columns. A text cell borrows its text, unless it is made by view_copy.
 *   2. Every output goes to a stream of the caller's; an in-memory stream (open_memstream) serves a
 *      page. The caller looks for errors of the stream.
 *   3. Nothing here depends on the host but view_terminal_width and view_text_width.
 *   4. A view belongs to one thread at a time; views share nothing.
 */
#ifndef VIEW_VIEW_H
#define VIEW_VIEW_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/mem.h"

enum view_kind {
    VIEW_NONE, /* no value */
    VIEW_TEXT,
    VIEW_COUNT,   /* uint64_t */
    VIEW_INTEGER, /* int64_t */
    VIEW_REAL,
    VIEW_TRUTH
};

struct view_cell {
    enum view_kind kind;
    union {
        const char *text;
        uint64_t count;
        int64_t integer;
        double real;
        bool truth;
    };
};

/* Forms that show a column; 0 in a column means all. */
enum { VIEW_IN_TABLE = 1, VIEW_IN_LINES = 2, VIEW_IN_JSON = 4, VIEW_IN_NONE = 8 };

/* What happens to a column of a table that is wider than the terminal. */
enum view_fit {
    VIEW_FIT_NONE,   /* the row is too long */
    VIEW_FIT_END,    /* the text is cut at its end, ".." shows it */
    VIEW_FIT_NOTE,   /* the same, but a note in parentheses at the very end stays */
    VIEW_FIT_TREE,   /* leading blanks are fewer, so that names keep their room; then the middle */
    VIEW_FIT_MIDDLE, /* ".." replaces the middle; the widest such column is narrowed first */
    VIEW_FIT_DROP    /* the column is left out */
};

struct view_column {
    const char *title;  /* heading of tables and of separated values */
    const char *key;    /* in JSON; NULL: the title */
    const char *object; /* in JSON: the object within the row that holds the key; NULL: the row */
    const char *list;   /* in JSON: the array within the row that holds the values, without keys */
    unsigned forms;     /* VIEW_IN_...; 0: all */
    /* The text of values. */
    const char *none; /* VIEW_NONE in tables and separated values; NULL: nothing */
    bool null;        /* VIEW_NONE in JSON is null; otherwise the key is left out */
    const char *real; /* VIEW_REAL in tables, as "%.3f"; NULL: "%.6g" */
    const char *raw;  /* VIEW_REAL in separated values; NULL: "%.9g" */
    bool plain;       /* integers in tables without commas */
    bool bare;        /* texts in separated values are never quoted */
    bool sign;        /* positive integers in tables with '+' */
    /* The place in tables. */
    const char *gap; /* before the column, unless it is the first; NULL: two blanks */
    bool left;       /* aligned to the left */
    int least;       /* width at least */
    bool fixed;      /* the width is `least`; a longer text moves what follows */
    enum view_fit fit;
};

struct view {
    const struct view_column *column;
    size_t columns, rows, room;
    struct view_cell *cell; /* [row * columns + column] */
    struct arena texts;
};

void view_init(struct view *view, const struct view_column *columns, size_t count);
void view_fini(struct view *view);
/* The cells of a new row, each without a value; valid until the next row. */
struct view_cell *view_row(struct view *view);

static inline struct view_cell view_text(const char *text)
{
    return (struct view_cell){.kind = VIEW_TEXT, .text = text};
}
static inline struct view_cell view_count(uint64_t value)
{
    return (struct view_cell){.kind = VIEW_COUNT, .count = value};
}
static inline struct view_cell view_integer(int64_t value)
{
    return (struct view_cell){.kind = VIEW_INTEGER, .integer = value};
}
static inline struct view_cell view_real(double value)
{
    return (struct view_cell){.kind = VIEW_REAL, .real = value};
}
static inline struct view_cell view_truth(bool value)
{
    return (struct view_cell){.kind = VIEW_TRUTH, .truth = value};
}
/* The text is copied and lives as long as the view. */
struct view_cell view_copy(struct view *view, const char *text);
/* A value of an experiment's metric: an integer where `whole` and it fits, else a real. */
struct view_cell view_value(double value, bool whole);

/* --- Forms ----------------------------------------------------------------------------------- */

struct view_table_style {
    bool heading;
    bool trim; /* a row ends behind its last cell that is not empty */
    int width; /* of the terminal; 0: rows may be of any length */
};
void view_table(const struct view *view, FILE *out, const struct view_table_style *style);

/* A row a line with `separator` between values. A value is quoted where view_field says. */
void view_lines_heading(const struct view *view, FILE *out, const char *separator);
void view_lines(const struct view *view, FILE *out, const char *separator);
/* A text as a field: in double quotes where it has the separator or a quote. */
void view_field(FILE *out, const char *text, const char *separator);

/* An array with an object a row; the caller's. */
json_t *view_json(const struct view *view);
/* Text that is not UTF-8 becomes "?". */
json_t *view_json_text(const char *text);
/* An integer, or a decimal string past 2^63 - 1, which jansson's integers cannot hold. */
json_t *view_json_count(uint64_t value);
json_t *view_json_value(double value, bool whole);
/* Writes the document and a line end, frees it; false when that failed. `flags` are jansson's. */
bool view_json_write(json_t *document, FILE *out, size_t flags);

/* --- Numbers and texts of tables ------------------------------------------------------------- */

/* 12345 as 12,345 in the caller's buffer. */
enum { VIEW_GROUPED_MAX = 32 };
const char *view_grouped(uint64_t value, char buffer[VIEW_GROUPED_MAX]);
/* The same with a sign, of a whole number below 2^63; any other value by "%.6g". */
const char *view_grouped_value(double value, bool whole, char buffer[VIEW_GROUPED_MAX]);
/* Print columns of a text in UTF-8. */
int view_width(const char *text);
/* The text in at most `width` bytes, ".." for its middle. The end of a call path says most, then
 * its beginning; both are whole functions where that fits. `buffer` has room for width + 1. */
const char *view_cut_middle(const char *text, int width, char *buffer);
/* The name that may have been meant by what was typed; NULL: none is near. */
typedef const char *view_name_at(const void *table, size_t index);
const char *view_nearest(const char *typed, const void *table, size_t count, view_name_at *name_at);
/* Words in lines of `width`, 0: one line; each is indented by `indent`. view_hanging indents those
 * behind the first by HANGING more. */
void view_wrapped(FILE *out, const char *text, int indent, int width);
void view_hanging(FILE *out, const char *text, int indent, int width);
/* The width of tables: $COLUMNS if that is a number, else that of the terminal that `out` is. 0,
 * any length, where `out` is a file or a pipe: programs and later readers get whole names. */
int view_terminal_width(FILE *out);
/* The same for texts that are written as paragraphs: 80 instead of 0. */
int view_text_width(FILE *out);

/* Replaces what acts on a terminal (base/name.h). Returns `text`. */
char *view_printable(char *text);

#endif
