/* What the forms of a view share. */
#ifndef VIEW_IMPL_H
#define VIEW_IMPL_H

#include "view/view.h"

enum { VIEW_CELL_TEXT = 64 };

bool view_shows(const struct view_column *column, unsigned form);
/* A cell as a table shows it: borrowed text, or digits in `buffer`. */
const char *view_cell_text(const struct view_column *column, const struct view_cell *cell,
                           char buffer[VIEW_CELL_TEXT]);

/* Whether a byte continues a character of UTF-8. */
static inline bool view_continues(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

#endif
