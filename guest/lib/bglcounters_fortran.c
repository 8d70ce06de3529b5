/* BGLCounters as Fortran calls it: names with an underscore at the end, arguments by address, strings as in fortran.h.
 * guest/include/bglcounters.inc declares them.
 */
#include "bglcounters.h"

#include "fortran.h"

/* FORTRAN(type, name, arguments) { ... }: the prototype is in no header, for C does not call it. */
#define FORTRAN(type, name, ...)                                                                                       \
    type bglcounters_##name##_(__VA_ARGS__);                                                                           \
    type bglcounters_##name##_(__VA_ARGS__)

FORTRAN(int, init, void)
{
    return BGLCounters_Init();
}

FORTRAN(int, select, const uint64_t *counters)
{
    return BGLCounters_Select(*counters);
}

FORTRAN(int, start, void)
{
    return BGLCounters_Start();
}

FORTRAN(int, stop, void)
{
    return BGLCounters_Stop();
}

FORTRAN(int, reset, void)
{
    return BGLCounters_Reset();
}

/* An argument that is left out is NULL. */
FORTRAN(int, read, uint64_t *user, uint64_t *kernel)
{
    return BGLCounters_Read(user, kernel);
}

FORTRAN(void, name, const int *counter, char *name, size_t length)
{
    const char *text = BGLCounters_Name(*counter);
    fortran_fill(name, length, text ? text : "");
}

FORTRAN(void, text, const int *counter, char *string, size_t length)
{
    const char *text = BGLCounters_Text(*counter);
    fortran_fill(string, length, text ? text : "");
}
