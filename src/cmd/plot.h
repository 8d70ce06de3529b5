/* Pictures of numbers, as SVG: one or more panels over the same points, with the same lines or
 * bars. */
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

/* What every picture begins with; classes of its texts: start, middle, end, head, name. The caller
 * ends it with </svg>.
 */
void plot_begin(FILE *out, double width, double height);
void plot_label(FILE *out, double x, double y, const char *klass, const char *text);
/* Text as XML wants it; what is no UTF-8 is shown as '?'. */
void plot_text(FILE *out, const char *text);

/* Failures of `out` are the caller's to find. */
void plot_svg(FILE *out, const struct plot *plot);

#endif
