/* Counts over two variables: a text map, a heat map and a relief as SVG. */
#ifndef VIEW_GRID_H
#define VIEW_GRID_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct view_axis {
    const char *title;
    const char *const *names;
    size_t count;
    size_t left_out; /* values that have no place in the grid */
};

/* All is borrowed. */
struct view_grid {
    const char *title, *note; /* of SVG pictures */
    struct view_axis axis[2]; /* rows, columns */
    const uint64_t *counts;   /* [row * axis[1].count + column] */
};

/* At most VIEW_GRID_LETTERS columns, each named by a letter. */
enum { VIEW_GRID_LETTERS = 26 };
void view_grid_text(FILE *out, const struct view_grid *grid);

/* The caller looks for errors of `out`. */
void view_grid_heat_map(FILE *out, const struct view_grid *grid);
/* The paper's figure 4: rows go to the left and down from the top corner, columns to the right and
 * down. */
void view_grid_relief(FILE *out, const struct view_grid *grid);

#endif
