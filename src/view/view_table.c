/* Views as text tables that fit a terminal.
 *
 * A column is as wide as its widest cell, its title and its least width. Where rows would be longer
 * than the terminal, columns give way in three steps: one with VIEW_FIT_DROP is left out when the
 * column whose text is cut (END, NOTE, TREE) would get less than TITLE_ROOM, or where there is no
 * such column; that column is cut; of those with VIEW_FIT_MIDDLE the widest is narrowed until rows
 * fit or it has MIDDLE_LEAST.
 *
 * A tree is cut by its indent first: all rows have the same fraction of their leading blanks, so
 * that names have NAME_ROOM. A deeper row is never less indented than one above it.
 */
#include <stdlib.h>
#include <string.h>

#include "view/view_impl.h"

enum { TITLE_LEAST = 20, NOTE_LEAST = 11, TITLE_ROOM = 40, MIDDLE_LEAST = 16, NAME_ROOM = 24 };

/* Which columns a table shows, and how wide they are; width 0: left out. */
struct layout {
    const struct view *view;
    const struct view_table_style *style;
    int *width;
    int deepest; /* most leading blanks in a column with VIEW_FIT_TREE */
    bool narrow; /* the column whose text gives way has less than its texts need */
};

static int indent_of(const char *text)
{
    return (int)strspn(text, " ");
}

static const char *text_of(const struct view *view, size_t row, size_t column,
                           char buffer[VIEW_CELL_TEXT])
{
    return view_cell_text(&view->column[column], &view->cell[row * view->columns + column], buffer);
}

static int gap_of(const struct view_column *column)
{
    return column->gap ? (int)strlen(column->gap) : 2;
}

static void measure(struct layout *l)
{
    const struct view *view = l->view;
    char buffer[VIEW_CELL_TEXT];
    for (size_t c = 0; c < view->columns; c++) {
        const struct view_column *column = &view->column[c];
        if (!view_shows(column, VIEW_IN_TABLE)) continue;
        l->width[c] = column->least;
        if (column->fixed) continue;
        if (l->style->heading && view_width(column->title) > l->width[c])
            l->width[c] = view_width(column->title);
        for (size_t r = 0; r < view->rows; r++) {
            const char *text = text_of(view, r, c, buffer);
            int width = view_width(text);
            if (width > l->width[c]) l->width[c] = width;
            if (column->fit == VIEW_FIT_TREE && indent_of(text) > l->deepest)
                l->deepest = indent_of(text);
        }
    }
}

static int row_width(const struct layout *l)
{
    int sum = 0;
    for (size_t c = 0; c < l->view->columns; c++)
        if (l->width[c]) sum += l->width[c] + (c ? gap_of(&l->view->column[c]) : 0);
    return sum;
}

static size_t find_fit(const struct view *view, enum view_fit first, enum view_fit last)
{
    size_t c = 0;
    while (c < view->columns && (view->column[c].fit < first || view->column[c].fit > last))
        c++;
    return c;
}

/* Cuts the column whose text gives way, after the one with VIEW_FIT_DROP was left out if need be.
 */
static void fit_end(struct layout *l)
{
    size_t end = find_fit(l->view, VIEW_FIT_END, VIEW_FIT_TREE),
           drop = find_fit(l->view, VIEW_FIT_DROP, VIEW_FIT_DROP);
    if (end == l->view->columns) {
        if (drop < l->view->columns && row_width(l) > l->style->width) l->width[drop] = 0;
        return;
    }
    int least = l->view->column[end].fit == VIEW_FIT_NOTE ? NOTE_LEAST : TITLE_LEAST;
    int left = l->style->width - (row_width(l) - l->width[end]);
    if (drop < l->view->columns &&
        left < (l->width[end] < TITLE_ROOM ? l->width[end] : TITLE_ROOM)) {
        if (l->width[drop]) left += l->width[drop] + gap_of(&l->view->column[drop]);
        l->width[drop] = 0;
    }
    if (left < least) left = least;
    l->narrow = l->width[end] > left;
    if (l->narrow) l->width[end] = left;
}

static void fit_middle(const struct layout *l)
{
    for (int whole = row_width(l); whole > l->style->width; whole--) {
        size_t widest = l->view->columns;
        for (size_t c = 0; c < l->view->columns; c++)
            if (l->view->column[c].fit == VIEW_FIT_MIDDLE &&
                (widest == l->view->columns || l->width[c] > l->width[widest]))
                widest = c;
        if (widest == l->view->columns || l->width[widest] <= MIDDLE_LEAST) return;
        l->width[widest]--;
    }
}

static void print_blanks(FILE *out, int count)
{
    (void)fprintf(out, "%*s", count > 0 ? count : 0, "");
}

/* The note of "text (note)", with its blank; "" without one. */
static const char *note_of(const struct view_column *column, const char *text)
{
    const char *note = column->fit == VIEW_FIT_NOTE ? strrchr(text, '(') : NULL;
    bool has = note && note > text && note[-1] == ' ' && text[strlen(text) - 1] == ')';
    return has ? note - 1 : text + strlen(text);
}

/* A text cut at its end or before its note; returns its width. */
static int print_cut(FILE *out, const struct view_column *column, const char *text, int width)
{
    const char *note = note_of(column, text), *end = text;
    if (*note && view_width(note + 1) > width) note += strlen(note);
    int left = width - 2 - view_width(note), shown = 0;
    if (left < 2 && *note) return fprintf(out, "%s", note + 1);
    for (; *end && (shown < left || view_continues(*end)); end++)
        shown += !view_continues(end[1]);
    (void)fprintf(out, "%.*s..%s", (int)(end - text), text, note);
    return width;
}

/* A text with so many leading blanks as its part of the room for indents; the rest is cut in its
 * middle if need be. Returns its width. */
static int print_branch(FILE *out, const char *text, int width, int deepest)
{
    int indent = indent_of(text), room = width - NAME_ROOM;
    const char *name = text + indent;
    if (deepest > room) indent = room > 0 ? indent * room / deepest : 0;
    char *cut = base_calloc((size_t)width + 1, 1);
    int written = fprintf(out, "%*s", indent, "");
    name = view_cut_middle(name, width - indent, cut);
    (void)fputs(name, out);
    written += view_width(name);
    free(cut);
    return written;
}

static void print_cell(FILE *out, const struct layout *l, size_t c, const char *text, bool last)
{
    const struct view_column *column = &l->view->column[c];
    int length = view_width(text), width = l->width[c];
    char *cut = NULL;
    if (length > width && column->fit == VIEW_FIT_MIDDLE) {
        cut = base_calloc((size_t)width + 1, 1);
        text = view_cut_middle(text, width, cut);
        length = view_width(text);
    }
    if (!column->left) print_blanks(out, width - length);
    if (column->fit == VIEW_FIT_TREE && l->narrow)
        length = print_branch(out, text, width, l->deepest);
    else if (length > width && (column->fit == VIEW_FIT_END || column->fit == VIEW_FIT_NOTE))
        length = print_cut(out, column, text, width);
    else
        (void)fputs(text, out);
    if (column->left && !last) print_blanks(out, width - length);
    free(cut);
}

/* The last column that a row shows. */
static size_t last_of(const struct layout *l, const char *const *texts)
{
    size_t last = 0;
    for (size_t c = 0; c < l->view->columns; c++)
        if (view_shows(&l->view->column[c], VIEW_IN_TABLE) && l->width[c] &&
            (*texts[c] || !l->style->trim))
            last = c;
    return last;
}

static void print_texts(FILE *out, const struct layout *l, const char *const *texts, size_t last)
{
    bool first = true;
    for (size_t c = 0; c <= last && c < l->view->columns; c++) {
        const struct view_column *column = &l->view->column[c];
        if (!view_shows(column, VIEW_IN_TABLE) || !l->width[c]) continue;
        if (!first) (void)fputs(column->gap ? column->gap : "  ", out);
        first = false;
        print_cell(out, l, c, texts[c], c == last);
    }
    (void)fputc('\n', out);
}

/* Columns at the right that have no title are not in the heading. */
static void print_heading(FILE *out, const struct layout *l, const char **texts)
{
    size_t last = 0;
    for (size_t c = 0; c < l->view->columns; c++) {
        texts[c] = l->view->column[c].title;
        if (*texts[c] && l->width[c]) last = c;
    }
    print_texts(out, l, texts, last);
}

void view_table(const struct view *view, FILE *out, const struct view_table_style *style)
{
    struct layout l = {view, style, base_calloc(view->columns, sizeof(int)), 0, false};
    const char **texts = base_calloc(view->columns, sizeof *texts);
    char(*buffer)[VIEW_CELL_TEXT] = base_calloc(view->columns, sizeof *buffer);
    measure(&l);
    if (style->width) {
        fit_end(&l);
        fit_middle(&l);
    }
    if (style->heading) print_heading(out, &l, texts);
    for (size_t r = 0; r < view->rows; r++) {
        for (size_t c = 0; c < view->columns; c++)
            texts[c] = text_of(view, r, c, buffer[c]);
        print_texts(out, &l, texts, last_of(&l, texts));
    }
    free(l.width);
    free(texts);
    free(buffer);
}
