/* Views as separated values: a row a line, for awk, spreadsheets and scripts. */
#include <inttypes.h>
#include <string.h>

#include "view/view_impl.h"

void view_field(FILE *out, const char *text, const char *separator)
{
    if (!strstr(text, separator) && !strchr(text, '"')) {
        (void)fputs(text, out);
        return;
    }
    (void)fputc('"', out);
    for (; *text; text++) {
        if (*text == '"') (void)fputc('"', out);
        (void)fputc(*text, out);
    }
    (void)fputc('"', out);
}

static void print_real(FILE *out, const char *format, double value)
{
    (void)fprintf(out, format, value);
}

static void print_cell(FILE *out, const struct view_column *column, const struct view_cell *cell,
                       const char *separator)
{
    char text[VIEW_CELL_TEXT];
    switch (cell->kind) {
    case VIEW_COUNT: (void)fprintf(out, "%" PRIu64, cell->count); break;
    case VIEW_INTEGER: (void)fprintf(out, "%" PRId64, cell->integer); break;
    case VIEW_REAL: print_real(out, column->raw ? column->raw : "%.9g", cell->real); break;
    default:
        if (column->bare)
            (void)fputs(view_cell_text(column, cell, text), out);
        else
            view_field(out, view_cell_text(column, cell, text), separator);
    }
}

void view_lines_heading(const struct view *view, FILE *out, const char *separator)
{
    const char *before = "";
    for (size_t c = 0; c < view->columns; c++) {
        if (!view_shows(&view->column[c], VIEW_IN_LINES)) continue;
        (void)fprintf(out, "%s%s", before, view->column[c].title);
        before = separator;
    }
    (void)fputc('\n', out);
}

void view_lines(const struct view *view, FILE *out, const char *separator)
{
    for (size_t r = 0; r < view->rows; r++) {
        const char *before = "";
        for (size_t c = 0; c < view->columns; c++) {
            if (!view_shows(&view->column[c], VIEW_IN_LINES)) continue;
            (void)fputs(before, out);
            print_cell(out, &view->column[c], &view->cell[r * view->columns + c], separator);
            before = separator;
        }
        (void)fputc('\n', out);
    }
}
