/* The interpreter a third time, for runs that are traced: every instruction is told (core_trace.c).
 * Blocks and their times are the same, so a trace shows the run as it is without one. */
#define CORE_CACHED 1
#define CORE_TRACED 1
#include "machine/core/core_interp.c" // NOLINT(bugprone-suspicious-include)
