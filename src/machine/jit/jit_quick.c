/* What is left to do for a load that the model has answered quickly (emit_ask) when somebody
 * listens. No host register but the plain ones is touched here, so that the call (jit_run.c) need
 * not keep the others. */
#include "machine/cache/cache.h"
#ifdef CACHE_KEEPS_VECTORS
#pragma GCC target("general-regs-only")
#include "machine/jit/jit_impl.h"

/* Whether a count will do, and the load is waited for. If not, jit_load does the rest. */
bool jit_count_load(struct core *core)
{
    uint32_t stall = core->call.heard;
    if (!stall || stall == CACHE_SLOW) return false;
    stall = cache_count_load(core->view, stall);
    if (stall & CACHE_NOTIFY) return false;
    core->call.heard = 0;
    core->cycles += stall;
    return true;
}
#endif
