/* The listeners' part of a load that the fast path has handled (emit_probe): counts it where a
 * count is all they want. Compiled to use general registers only, so that the thunk in jit_run.c
 * need not save vector registers. */
#include "machine/cache/cache.h"
#ifdef CACHE_KEEPS_VECTORS
#pragma GCC target("general-regs-only")
#include "machine/jit/jit_impl.h"

/* True when a count is enough; the stall is added to the time. Else jit_load notifies. */
bool jit_count_load(struct core *core)
{
    uint32_t stall = core->call.stall;
    if (!stall || stall == CACHE_SLOW) return false;
    stall = cache_count_load(core->view, stall);
    if (stall & CACHE_NOTIFY) return false;
    core->call.stall = 0;
    core->cycles += stall;
    return true;
}
#endif
