/* libHPM as Fortran calls it: names with an underscore at the end, arguments by address, strings as in fortran.h. */
#include "libhpm.h"

#include <stdbool.h>

#include "fortran.h"
#include "libhpm_impl.h"

enum { TEXT = 256 };

static const char unknown[] = "unknown";

static const char *text(char buffer[TEXT], const char *string, size_t length)
{
    return fortran_text(buffer, TEXT, string, length);
}

void f_hpminit_(const int *task, const char *program, size_t length);
void f_hpminit_(const int *task, const char *program, size_t length)
{
    char copy[TEXT];
    _hpmInit_(*task, text(copy, program, length), 0, unknown);
}

void f_hpmterminate_(const int *task);
void f_hpmterminate_(const int *task)
{
    _hpmTerminate_(*task, 0, unknown);
}

/* FORTRAN(start, stop, alone): the four calls of one kind of section, with and without the place they come from. */
#define FORTRAN(start, stop, alone)                                                                                    \
    void f_hpm##start##_(const int *section, const char *label, size_t length);                                        \
    void f_hpm##start##_(const int *section, const char *label, size_t length)                                         \
    {                                                                                                                  \
        char copy[TEXT];                                                                                               \
        hpm_begin_section(*section, text(copy, label, length), 0, unknown, alone, 2);                                  \
        HPM_NO_TAIL_CALL();                                                                                            \
    }                                                                                                                  \
    void f_hpm##stop##_(const int *section);                                                                           \
    void f_hpm##stop##_(const int *section)                                                                            \
    {                                                                                                                  \
        hpm_end_section(*section, 0, unknown, alone, 2);                                                               \
        HPM_NO_TAIL_CALL();                                                                                            \
    }                                                                                                                  \
    void f_hpm##start##_at_(const int *section, const char *label, const int *line, const char *file, size_t length,   \
                            size_t file_length);                                                                       \
    void f_hpm##start##_at_(const int *section, const char *label, const int *line, const char *file, size_t length,   \
                            size_t file_length)                                                                        \
    {                                                                                                                  \
        char copy[TEXT], file_copy[TEXT];                                                                              \
        hpm_begin_section(*section, text(copy, label, length), *line, text(file_copy, file, file_length), alone, 2);   \
        HPM_NO_TAIL_CALL();                                                                                            \
    }                                                                                                                  \
    void f_hpm##stop##_at_(const int *section, const int *line);                                                       \
    void f_hpm##stop##_at_(const int *section, const int *line)                                                        \
    {                                                                                                                  \
        hpm_end_section(*section, *line, unknown, alone, 2);                                                           \
        HPM_NO_TAIL_CALL();                                                                                            \
    }

FORTRAN(start, stop, true)
FORTRAN(tstart, tstop, false)

void f_hpmgettimeandcounters_(const int *count, double *seconds, long long *values);
void f_hpmgettimeandcounters_(const int *count, double *seconds, long long *values)
{
    hpmGetTimeAndCounters(*count, seconds, values);
}

void f_hpmgetcounters_(long long *values);
void f_hpmgetcounters_(long long *values)
{
    hpmGetCounters(values);
}
