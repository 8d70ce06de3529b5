/* Rows and cells of a view, and values as texts. */
#include "view/view.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/name.h"
#include "base/text.h"
#include "view/view_impl.h"

void view_init(struct view *view, const struct view_column *columns, size_t count)
{
    *view = (struct view){.column = columns, .columns = count};
    arena_init(&view->texts);
}

void view_fini(struct view *view)
{
    free(view->cell);
    arena_fini(&view->texts);
}

struct view_cell *view_row(struct view *view)
{
    size_t first = view->rows * view->columns;
    view->cell =
        base_grow(view->cell, &view->room, first + view->columns, sizeof(struct view_cell));
    memset(view->cell + first, 0, view->columns * sizeof *view->cell);
    view->rows++;
    return view->cell + first;
}

struct view_cell view_copy(struct view *view, const char *text)
{
    return view_text(arena_strdup(&view->texts, text));
}

struct view_cell view_value(double value, bool whole)
{
    return whole && fabs(value) < 0x1p63 ? view_integer((int64_t)value) : view_real(value);
}

bool view_shows(const struct view_column *column, unsigned form)
{
    return !column->forms || column->forms & form;
}

/* A format that a column has chosen, for one double. */
static void print_real(char *buffer, size_t size, const char *format, double value)
{
    (void)snprintf(buffer, size, format, value);
}

static uint64_t magnitude(int64_t value)
{
    return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

const char *view_cell_text(const struct view_column *column, const struct view_cell *cell,
                           char buffer[VIEW_CELL_TEXT])
{
    char digits[VIEW_GROUPED_MAX];
    bool negative = cell->kind == VIEW_INTEGER && cell->integer < 0;
    switch (cell->kind) {
    case VIEW_TEXT: return cell->text;
    case VIEW_REAL:
        print_real(buffer, VIEW_CELL_TEXT, column->real ? column->real : "%.6g", cell->real);
        return buffer;
    case VIEW_COUNT:
    case VIEW_INTEGER: {
        uint64_t value = cell->kind == VIEW_COUNT ? cell->count : magnitude(cell->integer);
        if (column->plain)
            (void)snprintf(digits, sizeof digits, "%" PRIu64, value);
        else
            (void)view_grouped(value, digits);
        (void)snprintf(buffer, VIEW_CELL_TEXT, "%s%s",
                       negative       ? "-"
                       : column->sign ? "+"
                                      : "",
                       digits);
        return buffer;
    }
    case VIEW_TRUTH: return cell->truth ? "yes" : "no";
    default: return column->none ? column->none : "";
    }
}

const char *view_grouped(uint64_t value, char buffer[VIEW_GROUPED_MAX])
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, value), out = 0;
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0) buffer[out++] = ',';
        buffer[out++] = digits[i];
    }
    buffer[out] = 0;
    return buffer;
}

const char *view_grouped_value(double value, bool whole, char buffer[VIEW_GROUPED_MAX])
{
    static const struct view_column usual = {.title = ""};
    char text[VIEW_CELL_TEXT];
    const struct view_cell cell = view_value(value, whole);
    (void)snprintf(buffer, VIEW_GROUPED_MAX, "%s", view_cell_text(&usual, &cell, text));
    return buffer;
}

int view_width(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += !view_continues(*text);
    return width;
}

/* The middle that is left out, from *begin to *end; " > " separates functions of a call path. */
static void find_middle(const char *text, int width, int *begin, int *end)
{
    static const char arrow[] = " > ";
    int first = strstr(text, arrow) ? 0 : (width - 2) / 3;
    for (int i = (width - 2) / 3 - (int)strlen(arrow); i > 0 && !first; i--)
        if (strncmp(text + i, arrow, strlen(arrow)) == 0) first = i + (int)strlen(arrow);
    *begin = first;
    while (*begin > 0 && view_continues(text[*begin]))
        --*begin;
    *end = (int)strlen(text) - (width - 2 - *begin);
    const char *next = strstr(text + *end, arrow);
    if (next) *end = (int)(next - text);
    while (view_continues(text[*end]))
        ++*end;
}

const char *view_cut_middle(const char *text, int width, char *buffer)
{
    int begin, end;
    if ((int)strlen(text) <= width) return text;
    find_middle(text, width, &begin, &end);
    (void)snprintf(buffer, (size_t)width + 1, "%.*s..%s", begin, text, text + end);
    return buffer;
}

const char *view_nearest(const char *typed, const void *table, size_t count, view_name_at *name_at)
{
    return text_nearest(typed, table, count, name_at);
}

static void print_words(FILE *out, const char *text, int indent, int next, int width)
{
    int at = indent, first = indent;
    if (*text) (void)fprintf(out, "%*s", indent, "");
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (width && at > first && at + 1 + length > width) {
            (void)fprintf(out, "\n%*s", next, "");
            at = first = next;
        } else if (at > first) {
            (void)fputc(' ', out);
            at++;
        }
        (void)fprintf(out, "%.*s", length, text);
        at += length;
        text += length;
        text += strspn(text, " ");
    }
    (void)fputc('\n', out);
}

void view_wrapped(FILE *out, const char *text, int indent, int width)
{
    print_words(out, text, indent, indent, width);
}

void view_hanging(FILE *out, const char *text, int indent, int width)
{
    enum { HANGING = 4 };
    print_words(out, text, indent, indent + HANGING, width);
}

int view_terminal_width(FILE *out)
{
    enum { LEAST = 40, MOST = 10000 };
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    int file = fileno(out);
    long width = columns ? strtol(columns, NULL, 10) : 0;
    if (width <= 0 || width > MOST)
        width = isatty(file) && !ioctl(file, TIOCGWINSZ, &size) ? size.ws_col : 0;
    return width && width < LEAST ? LEAST : (int)width;
}

int view_text_width(FILE *out)
{
    enum { USUAL = 80 };
    int width = view_terminal_width(out);
    return width ? width : USUAL;
}

char *view_printable(char *text)
{
    return name_printable(text);
}
