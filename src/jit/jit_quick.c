/* What translated code asks first when a load or store is not free: whether it is of the common kind. No host register
 * but the plain ones is touched here, so that the call (jit_run.c) need not keep the others. */
#include "cache/cache.h"
#ifdef CACHE_KEEPS_VECTORS
#pragma GCC target("general-regs-only")
#include "jit/jit_impl.h"

/* Whether the load has been counted, and waited for. If somebody is to be told, jit_load does that. */
bool jit_quick_load(struct core *core)
{
    uint32_t ea = core->call.address;
    unsigned size = ((const struct site *)core->call.site)->info >> 8 & 0xFF;
    if ((ea & 31) + size > 32) return false;
    uint32_t stall = cache_load_quick(core->view, ea, core->cycles);
    if (stall == CACHE_ELSE) return false;
    if (stall & CACHE_HEARD) stall = cache_count_load(core->view, stall);
    if (stall & CACHE_HEARD) {
        core->call.heard = stall;
        return false;
    }
    core->cycles += stall;
    return true;
}

/* Whether the store is done. */
#define QUICK(bits, swapped)                                                                                           \
    bool jit_quick_##bits(struct core *core)                                                                           \
    {                                                                                                                  \
        uint32_t ea = core->call.address;                                                                              \
        if ((ea & 31) + (bits) / 8 > 32) return false;                                                                 \
        uint32_t stall = cache_store_quick(core->view, ea, core->cycles);                                              \
        if (stall == CACHE_ELSE) return false;                                                                         \
        core->cycles += stall;                                                                                         \
        uint##bits##_t value = (uint##bits##_t)core->call.value[0];                                                    \
        value = swapped;                                                                                               \
        __builtin_memcpy(core->mem->base + ea, &value, sizeof value);                                                  \
        return true;                                                                                                   \
    }
QUICK(8, value)
QUICK(16, __builtin_bswap16(value))
QUICK(32, __builtin_bswap32(value))
QUICK(64, __builtin_bswap64(value))
#endif
