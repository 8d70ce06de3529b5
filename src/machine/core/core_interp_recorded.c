/* The interpreter's variant for runs whose call paths are recorded (core_record.c). */
#define CORE_CACHED   1
#define CORE_RECORDED 1
#include "machine/core/core_interp.c" // NOLINT(bugprone-suspicious-include)
