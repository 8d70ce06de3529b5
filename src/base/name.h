/* Names of symbols as in the source. */
#ifndef BASE_NAME_H
#define BASE_NAME_H

#include <stdbool.h>

/* "grid::norm(int)" of C++'s "_ZN4grid4normEi", "grid::smooth" of gfortran's "__grid_MOD_smooth",
 * in memory that the caller frees; NULL when the name is unmangled, or would be longer than
 * NAME_LONGEST. */
enum { NAME_LONGEST = 2000 };
char *name_written(const char *name);

/* Names and messages go to terminals, and guests choose many of them: symbols, source files, paths.
 * Replaces in place with '?' what would act on a terminal, begin a new line, or hide or turn round
 * what is shown: control characters, bytes that are no UTF-8, and the marks of direction. Returns
 * `text`. */
char *name_printable(char *text);
bool name_is_printable(const char *text);

#endif
