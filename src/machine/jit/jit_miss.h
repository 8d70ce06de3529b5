/* The fast path of misses in assembler, where the host and the compiler allow it: translated code
 * calls it instead of cache_load_fast and cache_store_fast. */
#ifndef JIT_MISS_H
#define JIT_MISS_H

#include "machine/cache/cache.h"

/* How far behind the first line byte r15 points (jit_backend.h says why). */
#define LINES_BIAS 2

#ifdef CACHE_KEEPS_VECTORS
#define JIT_MISSES
void jit_miss_load(void);
void jit_miss_store(void);
void jit_miss_probe(void); /* the branch-free probe of a load */
#endif

#endif
