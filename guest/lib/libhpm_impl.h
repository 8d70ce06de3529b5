/* Between libHPM's C and Fortran sides: sections of the function `levels` calls up. The callers must not be left before
 * the call returns, or the levels are others. */
#ifndef LIBHPM_IMPL_H
#define LIBHPM_IMPL_H

#include <stdbool.h>

void hpm_begin_section(int section, const char *label, int line, const char *file, bool alone, long levels)
    __attribute__((noinline));
void hpm_end_section(int section, int line, const char *file, bool alone, long levels) __attribute__((noinline));

#define HPM_NO_TAIL_CALL() __asm__ volatile("")

#endif
