/* Pictures of numbers, as SVG: one or more panels over the same points, with the same lines or bars. */
#ifndef CMD_PLOT_H
#define CMD_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { PLOT_SERIES_MAX = 12, PLOT_PANELS_MAX = 17, PLOT_NAME = 120 };

struct plot {
    const char *title, *x_title;
    const char *const *points; /* the values of the x axis, at equal distances */
    size_t point_count;
    const char *series[PLOT_SERIES_MAX]; /* names for the legend; there is none with a single one */
    size_t series_count;
    bool lines; /* the points have an order; otherwise bars */
    struct plot_panel {
        const char *title;
        const double *values; /* [point * series_count + series], none negative */
    } panels[PLOT_PANELS_MAX];
    size_t panel_count;
};

/* Failures of `out` are the caller's to find. */
void plot_svg(FILE *out, const struct plot *plot);

#endif
