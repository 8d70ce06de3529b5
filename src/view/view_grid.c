/* Counts over two variables as a text map, a heat map, or a relief.
 *
 * Shades and colours follow the logarithm of the count, heights the count itself. In SVG every mark
 * has its exact count as a tooltip.
 */
#include "view/view_grid.h"

#include <math.h>

#include "view/view.h"
#include "view/view_svg.h"

enum { CELL = 18, LABELS = 190, HEAD = 60, MARGIN = 14, ROOM = 260, LEAST_WIDTH = 520 };

static uint64_t count_at(const struct view_grid *grid, size_t row, size_t column)
{
    return grid->counts[row * grid->axis[1].count + column];
}

static uint64_t greatest(const struct view_grid *grid)
{
    uint64_t most = 1;
    for (size_t i = 0; i < grid->axis[0].count * grid->axis[1].count; i++)
        if (grid->counts[i] > most) most = grid->counts[i];
    return most;
}

/* --- Text ------------------------------------------------------------------------------------ */

enum { ROW_LABEL = 22, COLUMN_LABEL = 40 };

static unsigned bits_of(uint64_t value)
{
    unsigned bits = 0;
    for (; value; value >>= 1)
        bits++;
    return bits;
}

/* Ten shades; each stands for the same factor of the count. */
static char shade(uint64_t count, uint64_t most)
{
    static const char shades[] = " .:-=+*#%@";
    unsigned bits = bits_of(count), of = bits_of(most);
    if (!count) return shades[0];
    return shades[of > 1 ? 1 + 8 * (bits - 1) / (of - 1) : 9];
}

void view_grid_text(FILE *out, const struct view_grid *grid)
{
    const struct view_axis *rows = &grid->axis[0], *columns = &grid->axis[1];
    char text[COLUMN_LABEL + 1];
    uint64_t most = greatest(grid);
    (void)fprintf(out, "\n %s down, %s across; ' ' is none, '.' few, '@' most, by factors\n%24s",
                  rows->title, columns->title, "");
    for (size_t c = 0; c < columns->count; c++)
        (void)fprintf(out, " %c", (char)('a' + c));
    (void)fputc('\n', out);
    for (size_t r = 0; r < rows->count; r++) {
        (void)fprintf(out, "%*s  ", ROW_LABEL, view_cut_middle(rows->names[r], ROW_LABEL, text));
        for (size_t c = 0; c < columns->count; c++) {
            char s = shade(count_at(grid, r, c), most);
            (void)fprintf(out, "%c%c", s, s);
        }
        (void)fputc('\n', out);
    }
    for (size_t c = 0; c < columns->count; c++)
        (void)fprintf(out, "%24s %c %s\n", "", (char)('a' + c),
                      view_cut_middle(columns->names[c], COLUMN_LABEL, text));
    if (rows->left_out || columns->left_out)
        (void)fprintf(out, "%24s %zu rows and %zu columns with less are not shown\n", "",
                      rows->left_out, columns->left_out);
}

/* --- What both pictures have ----------------------------------------------------------------- */

/* White, over blue, to nearly black, by the logarithm. */
static void colour(uint64_t count, uint64_t most, double light, char text[8])
{
    static const double stops[][3] = {{222, 235, 247}, {107, 174, 214}, {8, 81, 156}, {8, 28, 70}};
    double at = most > 1 ? 3 * log((double)count) / log((double)most) : 3;
    unsigned stop = at >= 3 ? 2 : (unsigned)at;
    int part[3];
    for (unsigned i = 0; i < 3; i++)
        part[i] =
            (int)(light * (stops[stop][i] + (at - stop) * (stops[stop + 1][i] - stops[stop][i])));
    (void)snprintf(text, 8, "#%02x%02x%02x", (unsigned)part[0] & 255, (unsigned)part[1] & 255,
                   (unsigned)part[2] & 255);
}

static void begin(FILE *out, const struct view_grid *grid, double width, double height)
{
    view_svg_begin(out, width < LEAST_WIDTH ? LEAST_WIDTH : width, height);
    view_svg_label(out, MARGIN, 27, "head", grid->title);
    view_svg_label(out, MARGIN, 47, "start", grid->note);
}

static void print_tip(FILE *out, const struct view_grid *grid, size_t row, size_t column)
{
    char number[VIEW_GROUPED_MAX];
    (void)fputs("<title>", out);
    view_svg_text(out, grid->axis[0].names[row]);
    (void)fputs(", ", out);
    view_svg_text(out, grid->axis[1].names[column]);
    (void)fprintf(out, ": %s</title>", view_grouped(count_at(grid, row, column), number));
}

/* --- Heat map -------------------------------------------------------------------------------- */

static void print_column_name(FILE *out, double x, double y, const char *name)
{
    (void)fprintf(out, "<text class=\"end\" transform=\"translate(%.1f %.1f) rotate(-60)\">", x, y);
    view_svg_text(out, name);
    (void)fputs("</text>\n", out);
}

static void print_row(FILE *out, const struct view_grid *grid, size_t row, double left, double y,
                      uint64_t most)
{
    view_svg_label(out, left - 8, y + CELL - 5, "end", grid->axis[0].names[row]);
    for (size_t c = 0; c < grid->axis[1].count; c++) {
        uint64_t count = count_at(grid, row, c);
        char fill[8] = "#ffffff";
        if (count) colour(count, most, 1, fill);
        (void)fprintf(
            out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" fill=\"%s\" stroke=\"#ddd\">",
            left + (double)c * CELL, y, CELL, CELL, fill);
        print_tip(out, grid, row, c);
        (void)fputs("</rect>\n", out);
    }
}

void view_grid_heat_map(FILE *out, const struct view_grid *grid)
{
    size_t rows = grid->axis[0].count, columns = grid->axis[1].count;
    double left = MARGIN + LABELS, top = HEAD + 24, bottom = top + (double)rows * CELL;
    uint64_t most = greatest(grid);
    begin(out, grid, left + (double)columns * CELL + LABELS, bottom + LABELS);
    view_svg_label(out, left - 8, HEAD + 14, "end", grid->axis[0].title);
    view_svg_label(out, left, HEAD + 14, "start", grid->axis[1].title);
    for (size_t r = 0; r < rows; r++)
        print_row(out, grid, r, left, top + (double)r * CELL, most);
    for (size_t c = 0; c < columns; c++)
        print_column_name(out, left + (double)c * CELL + CELL / 2.0 + 4, bottom + 10,
                          grid->axis[1].names[c]);
    (void)fputs("</svg>\n", out);
}

/* --- Relief ---------------------------------------------------------------------------------- */

struct relief {
    const struct view_grid *grid;
    uint64_t most;
    double x, y, across, down; /* the top corner, and a step */
};

static void print_face(FILE *out, const double *x, const double *y, const char *fill)
{
    (void)fprintf(out, "<polygon fill=\"%s\" stroke=\"#fff\" stroke-width=\"0.4\" points=\"", fill);
    for (unsigned i = 0; i < 4; i++)
        (void)fprintf(out, "%.1f,%.1f ", x[i], y[i]);
    (void)fputs("\"/>", out);
}

static void print_column(FILE *out, const struct relief *r, size_t row, size_t column)
{
    uint64_t count = count_at(r->grid, row, column);
    double high = ROOM * (double)count / (double)r->most, a = r->across, d = r->down;
    double x = r->x + ((double)column - (double)row) * a,
           y = r->y + ((double)column + (double)row) * d;
    char fill[8] = "#f4f4f4", left[8] = "#e4e4e4", right[8] = "#d4d4d4";
    if (count) {
        colour(count, r->most, 1, fill);
        colour(count, r->most, 0.85, left);
        colour(count, r->most, 0.7, right);
    }
    (void)fputs("<g>", out);
    if (high > 0) {
        print_face(out, (double[]){x - a, x, x, x - a},
                   (double[]){y + d - high, y + 2 * d - high, y + 2 * d, y + d}, left);
        print_face(out, (double[]){x + a, x, x, x + a},
                   (double[]){y + d - high, y + 2 * d - high, y + 2 * d, y + d}, right);
    }
    print_face(out, (double[]){x, x + a, x, x - a},
               (double[]){y - high, y + d - high, y + 2 * d - high, y + d - high}, fill);
    print_tip(out, r->grid, row, column);
    (void)fputs("</g>\n", out);
}

/* Names stand at the two lower edges, outside, where no column hides them. */
static void print_names(FILE *out, const struct relief *r)
{
    const struct view_axis *axis = r->grid->axis;
    double rows = (double)axis[0].count, columns = (double)axis[1].count, a = r->across,
           d = r->down;
    size_t every = a < 10 ? 3 : 1;
    for (size_t row = 0; row < axis[0].count; row += every)
        view_svg_label(out, r->x + (columns - (double)row) * a + 2,
                       r->y + (columns + (double)row + 1) * d + 8, "start", axis[0].names[row]);
    for (size_t column = 0; column < axis[1].count; column += every)
        view_svg_label(out, r->x + ((double)column - rows) * a - 2,
                       r->y + ((double)column + rows + 1) * d + 8, "end", axis[1].names[column]);
    view_svg_label(out, r->x + columns * a + 2, r->y + columns * d - 8, "name", axis[0].title);
    view_svg_label(out, r->x - rows * a - LABELS / 2.0, r->y + rows * d - 8, "name", axis[1].title);
}

void view_grid_relief(FILE *out, const struct view_grid *grid)
{
    size_t rows = grid->axis[0].count, columns = grid->axis[1].count;
    double steps = (double)(rows + columns), a = steps > 40 ? 8 : 14, d = a / 2;
    const struct relief r = {grid, greatest(grid), LABELS + (double)rows * a, HEAD + ROOM, a, d};
    begin(out, grid, steps * a + 2 * LABELS, HEAD + ROOM + steps * d + 60);
    for (size_t row = 0; row < rows; row++)
        for (size_t column = 0; column < columns; column++)
            print_column(out, &r, row, column);
    print_names(out, &r);
    (void)fputs("</svg>\n", out);
}
