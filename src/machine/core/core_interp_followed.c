/* The interpreter's variant for runs that are traced and whose call paths are recorded. */
#define CORE_CACHED   1
#define CORE_TRACED   1
#define CORE_RECORDED 1
#include "machine/core/core_interp.c" // NOLINT(bugprone-suspicious-include)
