/* Misses without a call of C, where the host and the compiler allow it: what translated code calls
 * instead (see the file for how). */
#ifndef JIT_MISS_H
#define JIT_MISS_H

#include "machine/cache/cache.h"

/* How far behind the beginning of the lines r15 points, for them too (jit_backend.h says why). */
#define LINES_BIAS 2

#ifdef CACHE_KEEPS_VECTORS
#define JIT_MISSES
void jit_miss_load(void);
void jit_miss_store(void);
void jit_miss_probe(void); /* a load that may be free */
#endif

#endif
