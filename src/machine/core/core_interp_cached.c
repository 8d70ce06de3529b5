/* The interpreter once more, going through the memory hierarchy: the same bodies, other checks. Two
 * variants, so that a run without a hierarchy does not pay for it. */
#define CORE_CACHED 1
#include "machine/core/core_interp.c" // NOLINT(bugprone-suspicious-include)
