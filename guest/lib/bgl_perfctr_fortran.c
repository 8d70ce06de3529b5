/* bgl_perfctr as Fortran calls it: names with an underscore at the end, arguments by address, an event as its two
 * numbers. guest/include/bgl_perfctr.inc declares them, and hwstate by its C name.
 */
#include "bgl_perfctr.h"

#include <stdbool.h>

#include "fortran.h"

/* FORTRAN(name, arguments) { ... }: the prototype is in no header, for C does not call it. */
#define FORTRAN(name, ...)                                                                                             \
    int bgl_perfctr_##name##_(__VA_ARGS__);                                                                            \
    int bgl_perfctr_##name##_(__VA_ARGS__)

static BGL_PERFCTR_event_t event_of(const int *number, const int *edge)
{
    return (BGL_PERFCTR_event_t){(BGL_PERFCTR_event_num_t)*number, (unsigned)*edge};
}

FORTRAN(init_synch, const int *mode)
{
    return bgl_perfctr_init_synch(*mode);
}

FORTRAN(shutdown, void)
{
    return bgl_perfctr_shutdown();
}

FORTRAN(add_event, const int *event, const int *edge)
{
    return bgl_perfctr_add_event(event_of(event, edge));
}

FORTRAN(remove_event, const int *event, const int *edge)
{
    return bgl_perfctr_remove_event(event_of(event, edge));
}

FORTRAN(commit, void)
{
    return bgl_perfctr_commit();
}

FORTRAN(revoke, void)
{
    return bgl_perfctr_revoke();
}

FORTRAN(add_remote_counters, void)
{
    return bgl_perfctr_add_remote_counters();
}

FORTRAN(update, void)
{
    return bgl_perfctr_update();
}

FORTRAN(copy_counters, unsigned long long *values, const int *size)
{
    return bgl_perfctr_copy_counters(values, *size > 0 ? (size_t)*size : 0);
}

FORTRAN(copy_state, bgl_perfctr_control_t *state, const int *size)
{
    return bgl_perfctr_copy_state(state, *size > 0 ? (size_t)*size : 0);
}

FORTRAN(dump_state, void)
{
    return bgl_perfctr_dump_state(NULL);
}

/* Of the rows of BGL_PERFCTR_event_table: blanks and -1 for a number that has none. */
FORTRAN(event_name, const int *event, char *name, size_t length)
{
    bool is_event = *event >= 0 && *event < BGL_PERFCTR_NUMEVENTS;
    fortran_fill(name, length, is_event ? BGL_PERFCTR_event_table[*event].event_name : "");
    return is_event ? 0 : -1;
}

FORTRAN(event_descr, const int *event, char *text, size_t length)
{
    bool is_event = *event >= 0 && *event < BGL_PERFCTR_NUMEVENTS;
    fortran_fill(text, length, is_event ? BGL_PERFCTR_event_table[*event].event_descr : "");
    return is_event ? 0 : -1;
}
