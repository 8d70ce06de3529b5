/* What all SVG pictures have: the frame, labels, texts. The caller looks for errors of `out`. */
#ifndef VIEW_SVG_H
#define VIEW_SVG_H

#include <stdio.h>

/* The root element, left open: the caller ends the picture with </svg>. Classes of texts: start,
 * middle, end, head, name. */
void view_svg_begin(FILE *out, double width, double height);
void view_svg_label(FILE *out, double x, double y, const char *klass, const char *text);
/* Text with what XML reserves escaped; control characters become '?', and all that is not ASCII
 * does where the text is not UTF-8. */
void view_svg_text(FILE *out, const char *text);

#endif
