/* libHPM: count what sections of a program do, and report it at the end (paper 002, section 3 and figure 2).
 *
 *     hpmInit(0, "program");
 *     hpmStart(1, "solver");        sections nest and repeat; a number and a label name each
 *     ...
 *     hpmStop(1);
 *     hpmTerminate(0);              writes the report
 *
 * The calls are macros, so that the report can name the file and the lines. They return nothing: a start without a
 * stop, a stop without a start and the like are counted in hpm_error_count, and each kind is reported once per section on
 * standard error. The counters are those of bglcounters.h, of the whole process; a program that uses libHPM leaves
 * them to it. All calls may come from any thread; a section is stopped by the thread that started it. libhpm(3) has
 * the rest: the report, the environment, Fortran.
 */
#ifndef LIBHPM_H
#define LIBHPM_H

#ifdef __cplusplus
extern "C" {
#endif

enum { HPM_COUNTERS = 15 }; /* what hpmGetCounters gives: the rows of the report, in their order */

/* How often the calls were used wrongly so far. */
extern int hpm_error_count;

/* `task` is the rank of the process, 0 for a program that is alone. */
#define hpmInit(task, program) _hpmInit_((task), (program), __LINE__, __FILE__)
#define hpmTerminate(task)     _hpmTerminate_((task), __LINE__, __FILE__)

/* Around the work of a program, from one thread at a time: the library's own work is not counted. `section` is
 * positive. */
#define hpmStart(section, label) _hpm_start_((section), (label), __LINE__, __FILE__)
#define hpmStop(section)         _hpm_stop_((section), __LINE__, __FILE__)

/* The same while other threads run: counting goes on during the call, so that nothing of theirs is lost. */
#define hpmTstart(section, label) _hpm_tstart_((section), (label), __LINE__, __FILE__)
#define hpmTstop(section)         _hpm_tstop_((section), __LINE__, __FILE__)

/* The same without names. */
#define hpm_init(task)      hpmInit(task, "")
#define hpm_start(section)  hpmStart(section, "")
#define hpm_stop(section)   hpmStop(section)
#define hpm_tstart(section) hpmTstart(section, "")
#define hpm_tstop(section)  hpmTstop(section)
#define hpm_terminate(task) hpmTerminate(task)

/* Seconds since hpmInit and the first `count` user counts since then, by the counter numbers of bglcounters.h; those
 * from 64 on are 0. `values` holds `count` of them. */
void hpmGetTimeAndCounters(int count, double *seconds, long long *values);
/* The HPM_COUNTERS user counts of the report's rows since hpmInit. */
void hpmGetCounters(long long *values);

void _hpmInit_(int task, const char *program, int line, const char *file);
void _hpmTerminate_(int task, int line, const char *file);
void _hpm_start_(int section, const char *label, int line, const char *file);
void _hpm_stop_(int section, int line, const char *file);
void _hpm_tstart_(int section, const char *label, int line, const char *file);
void _hpm_tstop_(int section, int line, const char *file);

#ifdef __cplusplus
}
#endif
#endif
