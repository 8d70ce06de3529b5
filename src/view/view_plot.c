/* Charts as SVG: lines or bars, in one or more panels.
 *
 * Panels stand in two columns, the title and the legend above them. The y axis begins at 0, so that
 * lengths can be compared, and its marks are 1, 2 or 5 times a power of ten. Points are at equal
 * distances, since what is swept is mostly powers of two. Where lines lie on each other, those
 * below are wider and show at the edges. The colours are those of Okabe and Ito, which the
 * colour-blind can tell apart; from the ninth line on they are dashed. Every mark has its exact
 * value as a tooltip.
 */
#include "view/view_plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "view/view.h"
#include "view/view_svg.h"

enum {
    PANEL_WIDTH = 480,
    PANEL_HEIGHT = 300,
    LEFT = 70, /* of the panel, for the marks of the y axis */
    RIGHT = 20,
    TOP = 34,
    BOTTOM = 52,
    MARGIN = 12,
    HEAD = 40, /* the picture's title */
    LEGEND_ROW = 20,
    LETTER = 7, /* about a letter's width */
    TICKS = 5,
    COLOURS = 8,
    LABEL = 24
};

static const char *const colours[COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                             "#e69f00", "#56b4e9", "#000000", "#8a6d3b"};

/* Parts of a bar: work is quiet, waiting is not. */
static const char *const part_colours[COLOURS] = {"#56b4e9", "#d55e00", "#e69f00", "#009e73",
                                                  "#cc79a7", "#0072b2", "#000000", "#8a6d3b"};

/* 1, 2 or 5 times a power of ten, so that TICKS of them reach `most`. */
static double tick_of(double most)
{
    static const double steps[] = {1, 2, 5, 10};
    double power = pow(10, floor(log10(most / TICKS)));
    size_t i = 0;
    while (i < 3 && steps[i] * power * TICKS < most)
        i++;
    double tick = steps[i] * power;
    return tick < 1 ? 1 : tick;
}

static const char *short_number(double value, char label[LABEL])
{
    static const struct {
        double unit;
        const char *letter;
    } units[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "K"}, {1, ""}};
    size_t i = 0;
    while (i < 4 && value < units[i].unit)
        i++;
    (void)snprintf(label, LABEL, "%.4g%s", value / units[i].unit, units[i].letter);
    return label;
}

/* Where things are in a panel. */
struct frame {
    const struct view_plot *plot;
    const struct view_panel *panel;
    double x, y, width, height; /* of the part with the data */
    double tick, top;           /* the last mark */
};

static double x_of(const struct frame *f, size_t point)
{
    return f->x + f->width * ((double)point + 0.5) / (double)f->plot->point_count;
}

static double y_of(const struct frame *f, double value)
{
    return f->y + f->height * (1 - value / f->top);
}

static double value_at(const struct frame *f, size_t point, size_t series)
{
    return f->panel->values[point * f->plot->series_count + series];
}

static void print_y_axis(FILE *out, const struct frame *f)
{
    char label[LABEL];
    unsigned ticks = (unsigned)(f->top / f->tick + 0.0001);
    for (unsigned i = 0; i <= ticks; i++) {
        double at = i * f->tick, y = y_of(f, at);
        (void)fprintf(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                      at > 0 ? "grid" : "axis", f->x, y, f->x + f->width, y);
        view_svg_label(out, f->x - 8, y + 4, "end", short_number(at, label));
    }
}

/* As many of the points' names as there is room for. */
static void print_x_axis(FILE *out, const struct frame *f)
{
    size_t longest = 1, step = 1;
    for (size_t i = 0; i < f->plot->point_count; i++)
        if (strlen(f->plot->points[i]) > longest) longest = strlen(f->plot->points[i]);
    while ((double)((longest + 2) * LETTER) >
               f->width * (double)step / (double)f->plot->point_count &&
           step < f->plot->point_count)
        step++;
    for (size_t i = 0; i < f->plot->point_count; i += step) {
        double x = x_of(f, i), y = f->y + f->height;
        (void)fprintf(out,
                      "<line class=\"axis\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", x,
                      y, x, y + 4);
        view_svg_label(out, x, y + 18, "middle", f->plot->points[i]);
    }
    view_svg_label(out, f->x + f->width / 2, f->y + f->height + 38, "middle", f->plot->x_title);
}

static void print_tip(FILE *out, const struct frame *f, size_t point, size_t series)
{
    (void)fputs("<title>", out);
    view_svg_text(out, f->plot->x_title);
    (void)fputc(' ', out);
    view_svg_text(out, f->plot->points[point]);
    if (f->plot->series_count > 1) {
        (void)fputs(", ", out);
        view_svg_text(out, f->plot->series[series]);
    }
}

static void print_value(FILE *out, const struct frame *f, double value)
{
    char number[VIEW_GROUPED_MAX];
    (void)fputs(": ", out);
    if (f->panel->decimals)
        (void)fprintf(out, "%.*f", f->panel->decimals, value);
    else
        view_svg_text(out, view_grouped((uint64_t)value, number));
    (void)fputs("</title>", out);
}

static void print_line(FILE *out, const struct frame *f, size_t series)
{
    const char *colour = colours[series % COLOURS];
    double wider = 0.9 * (double)(f->plot->series_count - 1 - series);
    if (wider > 4.5) wider = 4.5;
    (void)fprintf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%.1f\"%s points=\"",
                  colour, 2 + wider, series < COLOURS ? "" : " stroke-dasharray=\"6 4\"");
    for (size_t i = 0; i < f->plot->point_count; i++)
        (void)fprintf(out, "%.1f,%.1f ", x_of(f, i), y_of(f, value_at(f, i, series)));
    (void)fputs("\"/>\n", out);
    for (size_t i = 0; i < f->plot->point_count; i++) {
        (void)fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\">", x_of(f, i),
                      y_of(f, value_at(f, i, series)), 3.5 + wider / 2, colour);
        print_tip(out, f, i, series);
        print_value(out, f, value_at(f, i, series));
        (void)fputs("</circle>\n", out);
    }
}

/* The bars of all series stand side by side at each point. */
static void print_bars(FILE *out, const struct frame *f, size_t series)
{
    double room = f->width / (double)f->plot->point_count * 0.7,
           each = room / (double)f->plot->series_count;
    if (each > 60) each = 60;
    double first = -each * (double)f->plot->series_count / 2 + each * (double)series;
    for (size_t i = 0; i < f->plot->point_count; i++) {
        double y = y_of(f, value_at(f, i, series));
        (void)fprintf(out,
                      "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"%s>",
                      x_of(f, i) + first, y, each * 0.92, f->y + f->height - y,
                      colours[series % COLOURS], series < COLOURS ? "" : " fill-opacity=\"0.5\"");
        print_tip(out, f, i, series);
        print_value(out, f, value_at(f, i, series));
        (void)fputs("</rect>\n", out);
    }
}

/* Bars of all series side by side, each of its parts from below. */
static void print_stacks(FILE *out, const struct frame *f, size_t series)
{
    const struct view_panel *panel = f->panel;
    double each = f->width / (double)f->plot->point_count * 0.7 / (double)f->plot->series_count;
    if (each > 60) each = 60;
    double first = -each * (double)f->plot->series_count / 2 + each * (double)series;
    for (size_t i = 0; i < f->plot->point_count; i++) {
        double sum = 0;
        for (size_t part = 0; part < panel->part_count; part++) {
            double value =
                panel->values[(i * f->plot->series_count + series) * panel->part_count + part];
            double low = y_of(f, sum), high = y_of(f, sum += value);
            (void)fprintf(
                out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\">",
                x_of(f, i) + first, high, each * 0.92, low - high, part_colours[part % COLOURS]);
            print_tip(out, f, i, series);
            (void)fprintf(out, ", %s", panel->parts[part]);
            print_value(out, f, value);
            (void)fputs("</rect>\n", out);
        }
    }
}

/* Names of parts, from the right of the panel's title. */
static void print_parts(FILE *out, const struct frame *f)
{
    double x = f->x + f->width;
    for (size_t part = f->panel->part_count; part-- > 0;) {
        x -= LETTER * (double)strlen(f->panel->parts[part]);
        view_svg_label(out, x, f->y - TOP + 18, "start", f->panel->parts[part]);
        (void)fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"10\" height=\"10\" fill=\"%s\"/>\n",
                      x - 14, f->y - TOP + 9, part_colours[part % COLOURS]);
        x -= 26;
    }
}

static void print_panel(FILE *out, const struct view_plot *plot, const struct view_panel *panel,
                        double x, double y)
{
    struct frame f = {.plot = plot,
                      .panel = panel,
                      .x = x + LEFT,
                      .y = y + TOP,
                      .width = PANEL_WIDTH - LEFT - RIGHT,
                      .height = PANEL_HEIGHT - TOP - BOTTOM};
    double most = 1;
    size_t parts = panel->parts ? panel->part_count : 1;
    for (size_t i = 0; i < plot->point_count * plot->series_count; i++) {
        double sum = 0;
        for (size_t part = 0; part < parts; part++)
            sum += panel->values[i * parts + part];
        if (sum > most) most = panel->parts ? round(sum * 1000) / 1000 : sum;
    }
    f.tick = tick_of(most);
    f.top = f.tick * ceil(most / f.tick);
    view_svg_label(out, f.x, y + 18, "name", panel->title);
    print_y_axis(out, &f);
    print_x_axis(out, &f);
    if (panel->parts) print_parts(out, &f);
    for (size_t i = 0; i < plot->series_count; i++)
        (panel->parts ? print_stacks : plot->lines ? print_line : print_bars)(out, &f, i);
}

/* Returns how high it is; with a NULL `out` only that. */
static double print_legend(FILE *out, const struct view_plot *plot, double width)
{
    double x = MARGIN + 8, y = HEAD + LEGEND_ROW / 2.0;
    if (plot->series_count == 1) return 0;
    for (size_t i = 0; i < plot->series_count; i++) {
        double length = 34 + LETTER * (double)strlen(plot->series[i]);
        if (i && x + length > width - MARGIN) {
            x = MARGIN + 8;
            y += LEGEND_ROW;
        }
        if (out) {
            (void)fprintf(
                out,
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"%d\"%s/>\n",
                x, y, x + 18, y, colours[i % COLOURS], plot->lines ? 2 : 10,
                i < COLOURS   ? ""
                : plot->lines ? " stroke-dasharray=\"6 4\""
                              : " stroke-opacity=\"0.5\"");
            view_svg_label(out, x + 24, y + 4, "start", plot->series[i]);
        }
        x += length + 16;
    }
    return y + LEGEND_ROW / 2.0 - HEAD;
}

void view_plot_svg(FILE *out, const struct view_plot *plot)
{
    size_t columns = plot->panel_count > 1 ? 2 : 1,
           rows = (plot->panel_count + columns - 1) / columns;
    double width = 2 * MARGIN + (double)columns * PANEL_WIDTH;
    double legend = print_legend(NULL, plot, width);
    double height = HEAD + legend + (double)rows * PANEL_HEIGHT + MARGIN;
    view_svg_begin(out, width, height);
    view_svg_label(out, MARGIN + 8, 27, "head", plot->title);
    (void)print_legend(out, plot, width);
    for (size_t i = 0; i < plot->panel_count; i++) {
        size_t row = i / columns, column = i % columns;
        print_panel(out, plot, &plot->panels[i], MARGIN + (double)column * PANEL_WIDTH,
                    HEAD + legend + (double)row * PANEL_HEIGHT);
    }
    (void)fputs("</svg>\n", out);
}
