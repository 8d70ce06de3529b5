/* The interpreter a fifth time, for traced runs that know their call paths, too. */
#define CORE_CACHED   1
#define CORE_TRACED   1
#define CORE_RECORDED 1
#include "machine/core/core_interp.c" // NOLINT(bugprone-suspicious-include)
