/* Included first by files whose code must not use vector registers where CACHE_KEEPS_VECTORS is
 * defined: translated code calls it without saving them. */
#ifndef CACHE_NO_VECTORS_H
#define CACHE_NO_VECTORS_H

#if defined __x86_64__ && !defined __clang__
#pragma GCC target("general-regs-only")
#endif

#endif
