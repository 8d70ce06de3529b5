/* The interpreter's variant for runs that are traced (core_trace.c). Blocks and their times are the
 * same as without a trace. */
#define CORE_CACHED 1
#define CORE_TRACED 1
#include "machine/core/core_interp.c" // NOLINT(bugprone-suspicious-include)
