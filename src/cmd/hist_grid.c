/* Pictures of a histogram: bars of one dimension; of two, a text map, a heat map, or a relief as in
 * the paper's figure 4.
 *
 * A picture has the values with most transactions, in their order, and says how many are left out.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd/hist.h"
#include "view/view_grid.h"
#include "view/view_plot.h"

enum { SVG_MOST = 48, TEXT_ROWS = 32, TEXT_COLUMNS = VIEW_GRID_LETTERS, TITLE = 120 };

/* The values of a dimension that a picture has. */
struct axis {
    struct hist_bar *bars;
    size_t count, left_out;
    char **names;
};

static char *name_of(struct chil_hist *hist, unsigned dimension, uint64_t index, bool whole)
{
    char text[CHIL_VALUE_TEXT];
    const char *name = whole ? chil_hist_name(hist, dimension, index) : NULL;
    if (name) return strdup(name);
    chil_hist_value(hist, dimension, index, text);
    return strdup(text);
}

static void axis_free(struct axis *axis)
{
    for (size_t i = 0; axis->names && i < axis->count; i++)
        free(axis->names[i]);
    free(axis->names); // NOLINT(bugprone-multi-level-implicit-pointer-conversion)
    free(axis->bars);
}

/* `whole`: names of any length, else of CHIL_VALUE_TEXT. */
static bool axis_make(struct axis *axis, struct chil_hist *hist, unsigned dimension, size_t most,
                      bool whole)
{
    bool good = true;
    axis->bars = hist_largest(hist, dimension, most, true, &axis->count, &axis->left_out);
    if (!axis->bars) return false;
    axis->names = calloc(axis->count + 1, sizeof *axis->names);
    for (size_t i = 0; axis->names && i < axis->count; i++) {
        axis->names[i] = name_of(hist, dimension, axis->bars[i].index, whole);
        good &= axis->names[i] != NULL;
    }
    return good && axis->names;
}

static size_t place_of(const struct axis *axis, uint64_t index)
{
    for (size_t i = 0; i < axis->count; i++)
        if (axis->bars[i].index == index) return i;
    return SIZE_MAX;
}

static uint64_t *count_places(struct chil_hist *hist, const struct axis axis[2])
{
    size_t bins;
    const struct chil_bin *bin = chil_hist_bins(hist, &bins);
    uint64_t *counts = calloc(axis[0].count * axis[1].count + 1, sizeof *counts);
    for (size_t i = 0; counts && i < bins; i++) {
        size_t row = place_of(&axis[0], chil_hist_index(hist, 0, bin[i].key));
        size_t column = place_of(&axis[1], chil_hist_index(hist, 1, bin[i].key));
        if (row == SIZE_MAX || column == SIZE_MAX) continue;
        counts[row * axis[1].count + column] = bin[i].count;
    }
    return counts;
}

static void draw(FILE *out, struct hist *h, size_t rows, size_t columns, bool whole,
                 void (*form)(FILE *out, const struct view_grid *grid))
{
    char title[TITLE], note[TITLE], number[VIEW_GROUPED_MAX];
    struct axis axis[2] = {0};
    uint64_t *counts = NULL;
    if (axis_make(&axis[0], h->hist, 0, rows, whole) &&
        axis_make(&axis[1], h->hist, 1, columns, whole))
        counts = count_places(h->hist, axis);
    if (counts) {
        struct view_grid grid = {.title = title, .note = note, .counts = counts};
        for (unsigned a = 0; a < 2; a++)
            grid.axis[a] =
                (struct view_axis){hist_variable(h, a), (const char *const *)axis[a].names,
                                   axis[a].count, axis[a].left_out};
        (void)snprintf(title, sizeof title, "%s: %s", h->program, h->options->declaration);
        (void)snprintf(note, sizeof note,
                       "%s transactions (%s); %zu and %zu values with fewer are left out",
                       view_grouped(chil_hist_total(h->hist), number), h->options->event,
                       axis[0].left_out, axis[1].left_out);
        form(out, &grid);
    }
    free(counts);
    axis_free(&axis[0]);
    axis_free(&axis[1]);
}

static void bars(FILE *out, struct hist *h)
{
    struct axis axis = {0};
    char title[TITLE];
    bool good = axis_make(&axis, h->hist, 0, SVG_MOST, false);
    double *values = calloc(axis.count + 1, sizeof *values);
    (void)snprintf(title, sizeof title, "%s: %s", h->program, h->options->declaration);
    const struct view_plot plot = {.title = title,
                                   .x_title = hist_variable(h, 0),
                                   .points = (const char *const *)axis.names,
                                   .point_count = axis.count,
                                   .series = {"transactions"},
                                   .series_count = 1,
                                   .panels = {{.title = h->options->event, .values = values}},
                                   .panel_count = 1};
    for (size_t i = 0; values && i < axis.count; i++)
        values[i] = (double)axis.bars[i].count;
    if (good && values) view_plot_svg(out, &plot);
    free(values);
    axis_free(&axis);
}

void hist_map(FILE *out, struct hist *h)
{
    draw(out, h, TEXT_ROWS, TEXT_COLUMNS, true, view_grid_text);
}

void hist_svg(FILE *out, struct hist *h)
{
    if (chil_hist_dimensions(h->hist) == 1)
        bars(out, h);
    else
        draw(out, h, SVG_MOST, SVG_MOST, false, view_grid_heat_map);
}

void hist_relief(FILE *out, struct hist *h)
{
    draw(out, h, SVG_MOST, SVG_MOST, false, view_grid_relief);
}
