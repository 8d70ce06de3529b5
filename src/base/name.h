/* Names of symbols as in the source. */
#ifndef BASE_NAME_H
#define BASE_NAME_H

/* "grid::norm(int)" of C++'s "_ZN4grid4normEi", "grid::smooth" of gfortran's "__grid_MOD_smooth",
 * in memory that the caller frees; NULL when the name is unmangled, or would be longer than
 * NAME_LONGEST. */
enum { NAME_LONGEST = 2000 };
char *name_written(const char *name);

#endif
