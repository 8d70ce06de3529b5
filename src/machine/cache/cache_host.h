/* Hints for the host compiler: inlining, rare branches, prefetch. */
#ifndef CACHE_HOST_H
#define CACHE_HOST_H

/* Prefetches into the host's cache. (GCC's builtin needs vector registers enabled.) */
#ifdef __x86_64__
#define PREFETCH_HOST(at) __asm__ volatile("prefetcht0 %0" : : "m"(*(const char *)(at)))
#else
#define PREFETCH_HOST(at) __builtin_prefetch(at)
#endif
/* Code on the path of every miss. */
#define INLINE static inline __attribute__((always_inline))
/* Code off that path. */
#define NOINLINE __attribute__((noinline))
/* A rare condition. */
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

#endif
