/* Included first, by files whose code touches no host register but the plain ones where
 * CACHE_KEEPS_VECTORS is defined, so that translated code, which calls it, need not save the
 * others. */
#ifndef CACHE_NO_VECTORS_H
#define CACHE_NO_VECTORS_H

#if defined __x86_64__ && !defined __clang__
#pragma GCC target("general-regs-only")
#endif

#endif
