/* The interpreter's variant with a memory hierarchy: the same bodies, other checks. A run without a
 * hierarchy does not pay for it. */
#define CORE_CACHED 1
#include "machine/core/core_interp.c" // NOLINT(bugprone-suspicious-include)
