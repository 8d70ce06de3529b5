/* libHPM for Fortran. A file that is preprocessed (its name ends in .F90, or -cpp) may have
 *
 *     #include "f_hpm.h"
 *
 * so that the report names the file and the lines of its sections. Without it the same calls work, and the report has
 * "unknown" and 0 in their place. The macros match lower-case calls only and put the file's name into the line, so long
 * names need -ffree-line-length-none. Integers are of the default kind of 4 bytes.
 *
 *     call f_hpminit(0, "program")
 *     call f_hpmstart(1, "solver")
 *     call f_hpmstop(1)
 *     call f_hpmterminate(0)
 *
 * and f_hpmtstart, f_hpmtstop, f_hpmgettimeandcounters(count, seconds, values) with real(8) seconds and integer(8)
 * values(count), f_hpmgetcounters(values) with integer(8) values(15). No comment of two slashes here: in Fortran they
 * join strings.
 */
#ifndef F_HPM_H
#define F_HPM_H

#define f_hpmstart(section, label)  f_hpmstart_at(section, label, __LINE__, __FILE__)
#define f_hpmstop(section)          f_hpmstop_at(section, __LINE__)
#define f_hpmtstart(section, label) f_hpmtstart_at(section, label, __LINE__, __FILE__)
#define f_hpmtstop(section)         f_hpmtstop_at(section, __LINE__)

#endif
