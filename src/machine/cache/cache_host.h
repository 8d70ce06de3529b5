/* What the host compiler is told: which code is in line, which branch is rare, what to fetch early.
 */
#ifndef CACHE_HOST_H
#define CACHE_HOST_H

/* The host begins to fetch what is there. (GCC knows no prefetch where vector registers are not to
 * be touched.) */
#ifdef __x86_64__
#define FETCH_EARLY(at) __asm__ volatile("prefetcht0 %0" : : "m"(*(const char *)(at)))
#else
#define FETCH_EARLY(at) __builtin_prefetch(at)
#endif
/* For what is on the way of every miss. */
#define INLINE static inline __attribute__((always_inline))
/* For what is not, and would make that longer. */
#define APART __attribute__((noinline))
/* For what is not often so there. */
#define SELDOM(condition) __builtin_expect(!!(condition), 0)
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

#endif
