/* What the files of chiliad_net share. */
#ifndef NET_IMPL_H
#define NET_IMPL_H

#include "chiliad/net.h"

/* 16 bytes from an address to another one, both aligned: a load and a store of a pair of FPRs. */
static inline __attribute__((always_inline)) void net_quad_copy(uint32_t to, uint32_t from)
{
    register uint32_t r9 __asm__("r9") = from;
    register uint32_t r10 __asm__("r10") = to;
    __asm__ volatile(".long 0x7C004B9C\n\t" /* lfpdx f0,0,r9 */
                     ".long 0x7C00579C"     /* stfpdx f0,0,r10 */
                     :
                     : "r"(r9), "r"(r10)
                     : "fr0", "memory");
}

#endif
