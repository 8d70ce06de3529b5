/* Pictures of a histogram: bars of one dimension; of two, a heat map, or a relief as the paper's
 * figure 4 has it.
 *
 * No more than MOST values of a dimension are shown, those with most transactions, in their order;
 * a line says what is left out. Every mark has its exact count as a tooltip. Colours go by the
 * logarithm of the count, heights by the count.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/hist.h"
#include "view/view_plot.h"
#include "view/view_svg.h"

enum { MOST = 48, CELL = 18, LABELS = 190, HEAD = 60, MARGIN = 14, ROOM = 260, NAME = 120 };

struct axis {
    struct hist_bar *bars;
    size_t count, left;
    char (*names)[CHIL_VALUE_TEXT];
};

struct grid {
    struct axis axis[2];
    uint64_t *counts; /* [row * columns + column] */
    uint64_t most;
};

static bool axis_make(struct axis *axis, struct chil_hist *hist, unsigned dimension)
{
    axis->bars = hist_largest(hist, dimension, MOST, &axis->count, &axis->left);
    if (!axis->bars) return false;
    axis->names = calloc(axis->count + 1, sizeof *axis->names);
    for (size_t i = 0; axis->names && i < axis->count; i++)
        chil_hist_value(hist, dimension, axis->bars[i].index, axis->names[i]);
    return axis->names != NULL;
}

static size_t place_of(const struct axis *axis, uint64_t index)
{
    for (size_t i = 0; i < axis->count; i++)
        if (axis->bars[i].index == index) return i;
    return SIZE_MAX;
}

static void grid_free(struct grid *grid)
{
    for (unsigned a = 0; a < 2; a++) {
        free(grid->axis[a].bars);
        free(grid->axis[a].names);
    }
    free(grid->counts);
}

static bool grid_make(struct grid *grid, struct chil_hist *hist)
{
    size_t count;
    *grid = (struct grid){.most = 1};
    if (!axis_make(&grid->axis[0], hist, 0) || !axis_make(&grid->axis[1], hist, 1)) return false;
    grid->counts = calloc(grid->axis[0].count * grid->axis[1].count + 1, sizeof *grid->counts);
    if (!grid->counts) return false;
    const struct chil_bin *bins = chil_hist_bins(hist, &count);
    for (size_t i = 0; i < count; i++) {
        size_t row = place_of(&grid->axis[0], chil_hist_index(hist, 0, bins[i].key));
        size_t column = place_of(&grid->axis[1], chil_hist_index(hist, 1, bins[i].key));
        if (row == SIZE_MAX || column == SIZE_MAX) continue;
        grid->counts[row * grid->axis[1].count + column] = bins[i].count;
        if (bins[i].count > grid->most) grid->most = bins[i].count;
    }
    return true;
}

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

static void begin(FILE *out, const struct hist *h, double width, double height,
                  const struct grid *grid)
{
    char title[NAME], note[NAME];
    char number[VIEW_GROUPED_MAX];
    (void)snprintf(title, sizeof title, "%s: %s", h->program, h->options->declaration);
    (void)snprintf(note, sizeof note,
                   "%s transactions (%s); %zu and %zu values with fewer are left out",
                   view_grouped(chil_hist_total(h->hist), number), h->options->event,
                   grid->axis[0].left, grid->axis[1].left);
    view_svg_begin(out, width, height);
    view_svg_label(out, MARGIN, 27, "head", title);
    view_svg_label(out, MARGIN, 47, "start", note);
}

static void put_tip(FILE *out, const struct grid *grid, size_t row, size_t column)
{
    char number[VIEW_GROUPED_MAX];
    (void)fputs("<title>", out);
    view_svg_text(out, grid->axis[0].names[row]);
    (void)fputs(", ", out);
    view_svg_text(out, grid->axis[1].names[column]);
    (void)fprintf(out, ": %s</title>",
                  view_grouped(grid->counts[row * grid->axis[1].count + column], number));
}

/* --- Heat map -------------------------------------------------------------------------------- */

static const char *variable_of(const struct hist *h, unsigned dimension)
{
    return chil_variable_name(chil_hist_dimension(h->hist, dimension)->variable);
}

static void put_column_name(FILE *out, double x, double y, const char *name)
{
    (void)fprintf(out, "<text class=\"end\" transform=\"translate(%.1f %.1f) rotate(-60)\">", x, y);
    view_svg_text(out, name);
    (void)fputs("</text>\n", out);
}

static void heat_map(FILE *out, struct hist *h, const struct grid *grid)
{
    size_t rows = grid->axis[0].count, columns = grid->axis[1].count;
    double left = MARGIN + LABELS, width = left + (double)columns * CELL + LABELS;
    double height = HEAD + 24 + (double)rows * CELL + LABELS;
    if (width < 520) width = 520;
    begin(out, h, width, height, grid);
    view_svg_label(out, left - 8, HEAD + 14, "end", variable_of(h, 0));
    view_svg_label(out, left, HEAD + 14, "start", variable_of(h, 1));
    for (size_t r = 0; r < rows; r++) {
        double y = HEAD + 24 + (double)r * CELL;
        view_svg_label(out, left - 8, y + CELL - 5, "end", grid->axis[0].names[r]);
        for (size_t c = 0; c < columns; c++) {
            uint64_t count = grid->counts[r * columns + c];
            char fill[8] = "#ffffff";
            if (count) colour(count, grid->most, 1, fill);
            (void)fprintf(
                out,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" fill=\"%s\" stroke=\"#ddd\">",
                left + (double)c * CELL, y, CELL, CELL, fill);
            put_tip(out, grid, r, c);
            (void)fputs("</rect>\n", out);
        }
    }
    for (size_t c = 0; c < columns; c++)
        put_column_name(out, left + (double)c * CELL + CELL / 2.0 + 4,
                        HEAD + 24 + (double)rows * CELL + 10, grid->axis[1].names[c]);
    (void)fputs("</svg>\n", out);
}

static void bars(FILE *out, struct hist *h)
{
    struct axis axis = {0};
    char title[NAME];
    if (!axis_make(&axis, h->hist, 0)) return;
    double *values = calloc(axis.count + 1, sizeof *values);
    const char **names = calloc(axis.count + 1, sizeof *names);
    (void)snprintf(title, sizeof title, "%s: %s", h->program, h->options->declaration);
    struct view_plot plot = {.title = title,
                             .x_title = variable_of(h, 0),
                             .points = names,
                             .point_count = axis.count,
                             .series = {"transactions"},
                             .series_count = 1,
                             .panels = {{.title = h->options->event, .values = values}},
                             .panel_count = 1};
    for (size_t i = 0; values && names && i < axis.count; i++) {
        values[i] = (double)axis.bars[i].count;
        names[i] = axis.names[i];
    }
    if (values && names) view_plot_svg(out, &plot);
    free(values);
    free(names);
    free(axis.bars);
    free(axis.names);
}

void hist_svg(FILE *out, struct hist *h)
{
    struct grid grid;
    if (chil_hist_dimensions(h->hist) == 1) {
        bars(out, h);
        return;
    }
    if (grid_make(&grid, h->hist)) heat_map(out, h, &grid);
    grid_free(&grid);
}

/* --- Relief ---------------------------------------------------------------------------------- */

/* The first dimension goes to the left and down from the top corner, the second to the right and
 * down. */
struct relief {
    const struct grid *grid;
    double x, y, across, down; /* the top corner, and a step */
};

static void put_face(FILE *out, const double *x, const double *y, const char *fill)
{
    (void)fprintf(out, "<polygon fill=\"%s\" stroke=\"#fff\" stroke-width=\"0.4\" points=\"", fill);
    for (unsigned i = 0; i < 4; i++)
        (void)fprintf(out, "%.1f,%.1f ", x[i], y[i]);
    (void)fputs("\"/>", out);
}

static void put_column(FILE *out, const struct relief *r, size_t row, size_t column)
{
    uint64_t count = r->grid->counts[row * r->grid->axis[1].count + column];
    double high = ROOM * (double)count / (double)r->grid->most, a = r->across, d = r->down;
    double x = r->x + ((double)column - (double)row) * a,
           y = r->y + ((double)column + (double)row) * d;
    char fill[8] = "#f4f4f4", left[8] = "#e4e4e4", right[8] = "#d4d4d4";
    if (count) {
        colour(count, r->grid->most, 1, fill);
        colour(count, r->grid->most, 0.85, left);
        colour(count, r->grid->most, 0.7, right);
    }
    (void)fputs("<g>", out);
    if (high > 0) {
        put_face(out, (double[]){x - a, x, x, x - a},
                 (double[]){y + d - high, y + 2 * d - high, y + 2 * d, y + d}, left);
        put_face(out, (double[]){x + a, x, x, x + a},
                 (double[]){y + d - high, y + 2 * d - high, y + 2 * d, y + d}, right);
    }
    put_face(out, (double[]){x, x + a, x, x - a},
             (double[]){y - high, y + d - high, y + 2 * d - high, y + d - high}, fill);
    put_tip(out, r->grid, row, column);
    (void)fputs("</g>\n", out);
}

static void landscape(FILE *out, struct hist *h, const struct grid *grid)
{
    size_t rows = grid->axis[0].count, columns = grid->axis[1].count;
    double steps = (double)(rows + columns), a = steps > 40 ? 8 : 14, d = a / 2;
    double width = steps * a + 2 * LABELS, height = HEAD + ROOM + steps * d + 60;
    struct relief r = {grid, LABELS + (double)rows * a, HEAD + ROOM, a, d};
    begin(out, h, width < 520 ? 520 : width, height, grid);
    for (size_t row = 0; row < rows; row++)
        for (size_t column = 0; column < columns; column++)
            put_column(out, &r, row, column);
    size_t every = a < 10 ? 3 : 1;
    /* Names stand at the two lower edges, outside, where no column hides them. */
    for (size_t row = 0; row < rows; row += every)
        view_svg_label(out, r.x + ((double)columns - (double)row) * a + 2,
                       r.y + ((double)columns + (double)row + 1) * d + 8, "start",
                       grid->axis[0].names[row]);
    for (size_t column = 0; column < columns; column += every)
        view_svg_label(out, r.x + ((double)column - (double)rows) * a - 2,
                       r.y + ((double)column + (double)rows + 1) * d + 8, "end",
                       grid->axis[1].names[column]);
    view_svg_label(out, r.x + (double)columns * a + 2, r.y + (double)columns * d - 8, "name",
                   variable_of(h, 0));
    view_svg_label(out, r.x - (double)rows * a - LABELS / 2.0, r.y + (double)rows * d - 8, "name",
                   variable_of(h, 1));
    (void)fputs("</svg>\n", out);
}

void hist_relief(FILE *out, struct hist *h)
{
    struct grid grid;
    if (grid_make(&grid, h->hist)) landscape(out, h, &grid);
    grid_free(&grid);
}
