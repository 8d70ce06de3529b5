/* Which kinds of makers this Chiliad was built with. */
#include "machine/jit/jit_ir.h"

#ifdef __x86_64__
#include "machine/jit/jit_x86.h"
#endif

const struct ir_kind *ir_kind_of(bool llvm)
{
#ifdef __x86_64__
    if (!llvm && x86_host_knows()) return &ir_fast;
#endif
#ifdef CHILIAD_LLVM
    return &ir_llvm;
#else
    (void)llvm;
    return NULL;
#endif
}
