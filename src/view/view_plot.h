/* Charts as SVG: one or more panels over the same points, with the same lines or bars. */
#ifndef VIEW_PLOT_H
#define VIEW_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { VIEW_PLOT_SERIES_MAX = 12, VIEW_PLOT_PANELS_MAX = 19, VIEW_PLOT_NAME = 120 };

struct view_plot {
    const char *title, *x_title;
    const char *const *points; /* the values of the x axis, at equal distances */
    size_t point_count;
    const char
        *series[VIEW_PLOT_SERIES_MAX]; /* names for the legend; there is none with a single one */
    size_t series_count;
    bool lines; /* the points have an order; otherwise bars */
    struct view_panel {
        const char *title;
        const double *values; /* [point * series_count + series], none negative */
        /* Not NULL: bars of several parts, one upon another, with a legend of their own;
         * values[(point * series_count + series) * part_count + part]. */
        const char *const *parts;
        size_t part_count;
        int decimals; /* of the tooltips */
    } panels[VIEW_PLOT_PANELS_MAX];
    size_t panel_count;
};

/* The caller looks for errors of `out`. */
void view_plot_svg(FILE *out, const struct view_plot *plot);

#endif
