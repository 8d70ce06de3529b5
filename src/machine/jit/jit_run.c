/* Helpers that translated code calls on its slow paths. Each does what the interpreter does. */
#include <string.h>

#include "machine/jit/jit_impl.h"

#define SITE(block, info)                                                                          \
    const struct block *block = ((const struct site *)core->call.site)->block;                     \
    const uint32_t info = ((const struct site *)core->call.site)->info

/* Translated code calls helpers through these thunks. They save every register but rax and r11, so
 * that a call on a slow path costs the fast path no registers. `first` runs before the helper with
 * the general registers saved (the first argument at 24(%rsp)) and may return instead. */
#define POP_PLAIN "pop %r10\npop %r9\npop %r8\npop %rdi\npop %rsi\npop %rdx\npop %rcx\nret\n"
#define THUNK_AFTER(name, first)                                                                              \
    __asm__(                                                                                                  \
        ".text\n.p2align 4\n.globl " #name "_thunk\n.hidden " #name "_thunk\n.type " #name                    \
        "_thunk, @function\n" #name "_thunk:\n"                                                               \
        "push %rcx\npush %rdx\npush %rsi\npush %rdi\npush %r8\npush %r9\npush %r10\n" first                   \
        "sub $128, %rsp\n"                                                                                    \
        "movsd %xmm0, (%rsp)\nmovsd %xmm1, 8(%rsp)\nmovsd %xmm2, 16(%rsp)\nmovsd %xmm3, 24(%rsp)\n"           \
        "movsd %xmm4, 32(%rsp)\nmovsd %xmm5, 40(%rsp)\nmovsd %xmm6, 48(%rsp)\nmovsd %xmm7, 56(%rsp)\n"        \
        "movsd %xmm8, 64(%rsp)\nmovsd %xmm9, 72(%rsp)\nmovsd %xmm10, 80(%rsp)\nmovsd %xmm11, 88(%rsp)\n"      \
        "movsd %xmm12, 96(%rsp)\nmovsd %xmm13, 104(%rsp)\nmovsd %xmm14, 112(%rsp)\nmovsd %xmm15, 120(%rsp)\n" \
        "call " #name "\n"                                                                                    \
        "movsd (%rsp), %xmm0\nmovsd 8(%rsp), %xmm1\nmovsd 16(%rsp), %xmm2\nmovsd 24(%rsp), %xmm3\n"           \
        "movsd 32(%rsp), %xmm4\nmovsd 40(%rsp), %xmm5\nmovsd 48(%rsp), %xmm6\nmovsd 56(%rsp), %xmm7\n"        \
        "movsd 64(%rsp), %xmm8\nmovsd 72(%rsp), %xmm9\nmovsd 80(%rsp), %xmm10\nmovsd 88(%rsp), %xmm11\n"      \
        "movsd 96(%rsp), %xmm12\nmovsd 104(%rsp), %xmm13\nmovsd 112(%rsp), %xmm14\nmovsd 120(%rsp), %xmm15\n" \
        "add $128, %rsp\n" POP_PLAIN ".size " #name "_thunk, . - " #name "_thunk\n")
#define THUNK(name) THUNK_AFTER(name, "")
JIT_CALLS(THUNK);
#ifdef CACHE_KEEPS_VECTORS
#define THUNK_FAST(name, first)                                                                    \
    THUNK_AFTER(name, "call " #first "\ntest %al, %al\njz 1f\nxor %eax, %eax\n" POP_PLAIN          \
                      "1:\nmov 24(%rsp), %rdi\n")
#else
#define THUNK_FAST(name, first) THUNK(name)
#endif
THUNK_FAST(jit_load, jit_count_load);

/* The core stops before instruction `done` of the block, or behind its store that changed code. */
static bool stop(struct core *core, const struct block *block, unsigned done)
{
    core->regs->pc = block->pc + 4 * done;
    core_count_part(core, block, done);
    return true;
}

static bool stop_for(struct core *core, const struct block *block, uint32_t info,
                     enum core_reason reason)
{
    core->exit->reason = reason;
    core->stopped = true;
    return stop(core, block, info & 0xFF);
}

static bool fault(struct core *core, const struct block *block, uint32_t info,
                  enum core_reason reason, uint32_t ea, unsigned size)
{
    core_report_fault(core, core->exit, reason, ea, size);
    core->stopped = true;
    return stop(core, block, info & 0xFF);
}

/* Behind an access with which core_stop_behind was called: the interpreter does the rest of that
 * instruction, and stops. */
static __attribute__((noinline)) bool leave_inside(struct core *core, bool access_done)
{
    const struct site *site = core->call.site;
    core->inside.block = (struct block *)site->block;
    core->inside.op = site->info & 0xFF;
    core->access_done = access_done;
    core_stop_after(core, core->inside.block, core->inside.op);
    return true;
}

/* Other cores come before an access, of so many lines: it is made when the core runs again, by the
 * interpreter. */
static __attribute__((noinline)) bool wait_before(struct core *core, bool crosses)
{
    const struct site *site = core->call.site;
    core->crossings -= crosses;
    core_wait_before(core, (struct block *)site->block, site->info & 0xFF);
    core->exit->reason = CORE_ORDER;
    core->stopped = true;
    return true;
}

/* Listeners of the hierarchy may look up the accessing instruction. */
static inline void set_access(struct core *core)
{
    const struct site *site = core->call.site;
    core->access.block = site->block;
    core->access.op = site->block->ops + (site->info & 0xFF);
}

/* Before the slow path of the hierarchy, and before the time is read: drains deferred misses. */
static inline void drain(struct core *core)
{
    core->cycles += cache_drain(core->view, core->cycles);
}

bool jit_fetch(struct core *core)
{
    const struct block *block = ((const struct site *)core->call.site)->block;
    struct cache *cache = core->cores->options.cache;
    drain(core);
    set_access(core);
    for (uint32_t line = block->pc >> CACHE_GRANULE_BITS;
         line <= (block->end - 4) >> CACHE_GRANULE_BITS; line++)
        if (!(core->lines[line] & CACHE_FETCH)) {
            core->access.line = line << CACHE_GRANULE_BITS;
            core->cycles += cache_fetch(cache, core->number, core->mem->space,
                                        line << CACHE_GRANULE_BITS, core->cycles);
        }
    core->access.line = 0;
    return core->stopping && leave_inside(core, false);
}

static bool crosses(uint32_t ea, unsigned size)
{
    return (ea & 31) + size > 32;
}

/* Whether an access is within a line and its page has the right. */
static inline bool is_plain(const struct core *core, uint32_t ea, unsigned size, unsigned right)
{
    return mem_rights(core->mem, ea) & right && !crosses(ea, size);
}

static __attribute__((noinline)) bool load_slow(struct core *core, uint32_t ea)
{
    SITE(block, info);
    unsigned size = info >> 8 & 0xFF;
    if (!mem_readable(core->mem, ea, size)) return fault(core, block, info, CORE_LOAD, ea, size);
    core->crossings += crosses(ea, size);
    set_access(core);
    uint32_t stall = cache_load(core->cores->options.cache, core->number, core->mem->space, ea,
                                size, core->cycles);
    if (stall == CACHE_WAITS) return wait_before(core, crosses(ea, size));
    core->cycles += stall;
    return core->stopping && leave_inside(core, true);
}

/* The fast path has handled the load; only its listeners are left. */
static bool notify(struct core *core, uint32_t ea)
{
    uint32_t stall = core->call.stall & ~CACHE_NOTIFY;
    core->call.stall = 0;
    set_access(core);
    cache_notify_load(core->view, ea, core->cycles, stall);
    core->cycles += stall;
    return core->stopping && leave_inside(core, true);
}

bool jit_load(struct core *core)
{
    uint32_t ea = core->call.address;
    unsigned size = ((const struct site *)core->call.site)->info >> 8 & 0xFF;
    drain(core);
    if (core->call.stall && core->call.stall != CACHE_SLOW) return notify(core, ea);
    if (!is_plain(core, ea, size, MEM_READ)) return load_slow(core, ea);
    if (core->lines[ea >> CACHE_GRANULE_BITS] & CACHE_LOAD)
        return false; /* a hit that is not aligned */
    set_access(core);
    uint32_t stall = cache_load(core->cores->options.cache, core->number, core->mem->space, ea,
                                size, core->cycles);
    if (stall == CACHE_WAITS) return wait_before(core, crosses(ea, size));
    core->cycles += stall;
    return core->stopping && leave_inside(core, true);
}

/* The fast path has handled the store with the last access that was to be counted down. True: the
 * core has to stop. */
static inline bool take_stall(struct core *core)
{
    uint32_t stall = core->call.stall;
    if (!stall || stall == CACHE_SLOW) return false;
    core->call.stall = 0;
    core->cycles += stall & ~CACHE_NOTIFY;
    set_access(core);
    cache_notify_used(core->view, 0);
    return core->stopping;
}

/* Whether the store may be done; counts it and lets it take its time. */
static bool may_store(struct core *core, const struct block *block, uint32_t ea, uint32_t info)
{
    unsigned size = info >> 8 & 0xFF;
    (void)take_stall(core);
    drain(core);
    if (core->lines[ea >> CACHE_GRANULE_BITS] & CACHE_STORE && !crosses(ea, size)) return true;
    if (!mem_allows(core->mem, ea, size, MEM_WRITE) && !mem_writable(core->mem, ea, size)) {
        (void)fault(core, block, info, CORE_STORE, ea, size);
        return false;
    }
    core->crossings += crosses(ea, size);
    set_access(core);
    uint32_t stall = cache_store(core->cores->options.cache, core->number, core->mem->space, ea,
                                 size, core->cycles);
    if (stall == CACHE_WAITS) return !wait_before(core, crosses(ea, size));
    core->cycles += stall;
    return true;
}

/* Behind a store: the register that gets the address, and whether code was changed. */
static bool stored(struct core *core, const struct block *block, uint32_t ea, uint32_t info)
{
    unsigned update = info >> 16 & 0xFF;
    if (update != NO_UPDATE) core->regs->gpr[update] = ea;
    if (!core->code_changed) return false;
    core->code_changed = false;
    return stop(core, block, (info & 0xFF) + 1);
}

static void store_bytes(struct core *core, uint32_t ea, unsigned size, uint64_t value)
{
    value = __builtin_bswap64(value) >> (64 - 8 * size);
    memcpy(mem_host(core->mem, ea), &value, size);
}

static __attribute__((noinline)) bool store_slow(struct core *core, uint32_t ea)
{
    SITE(block, info);
    if (!may_store(core, block, ea, info)) return true;
    if (core->stopping) return leave_inside(core, true);
    store_bytes(core, ea, info >> 8 & 0xFF, core->call.value[0]);
    return stored(core, block, ea, info);
}

/* A page with the right has no code that a store could change. The register that gets the address
 * is set by the translated code. */
#define STORE(bits, swapped)                                                                       \
    bool jit_store_##bits(struct core *core)                                                       \
    {                                                                                              \
        uint32_t ea = core->call.address;                                                          \
        if (take_stall(core)) return leave_inside(core, true);                                     \
        if (!is_plain(core, ea, (bits) / 8, MEM_WRITE)) return store_slow(core, ea);               \
        if (!(core->lines[ea >> CACHE_GRANULE_BITS] & CACHE_STORE)) {                              \
            drain(core);                                                                           \
            set_access(core);                                                                      \
            uint32_t stall = cache_store(core->cores->options.cache, core->number,                 \
                                         core->mem->space, ea, (bits) / 8, core->cycles);          \
            if (stall == CACHE_WAITS) return wait_before(core, false);                             \
            core->cycles += stall;                                                                 \
            if (core->stopping) return leave_inside(core, true);                                   \
        }                                                                                          \
        uint##bits##_t value = (uint##bits##_t)core->call.value[0];                                \
        value = swapped;                                                                           \
        memcpy(mem_host(core->mem, ea), &value, sizeof value);                                     \
        return false;                                                                              \
    }
STORE(8, value)
STORE(16, __builtin_bswap16(value))
STORE(32, __builtin_bswap32(value))
STORE(64, __builtin_bswap64(value))

bool jit_store_pair(struct core *core)
{
    SITE(block, info);
    uint32_t ea = core->call.address;
    unsigned half = (info >> 8 & 0xFF) / 2;
    if (!may_store(core, block, ea, info)) return true;
    if (core->stopping) return leave_inside(core, true);
    store_bytes(core, ea, half, core->call.value[0]);
    store_bytes(core, ea + half, half, core->call.value[1]);
    return stored(core, block, ea, info);
}

bool jit_store_many(struct core *core)
{
    SITE(block, info);
    uint32_t ea = core->call.address;
    unsigned count = (info >> 8 & 0xFF) / 4;
    if (!may_store(core, block, ea, info)) return true;
    if (core->stopping) return leave_inside(core, true);
    for (unsigned i = 0; i < count; i++)
        store_bytes(core, ea + 4 * i, 4, core->regs->gpr[32 - count + i]);
    return stored(core, block, ea, info);
}

bool jit_misaligned(struct core *core)
{
    SITE(block, info);
    uint32_t ea = core->call.address;
    core->exit->address = ea;
    return stop_for(core, block, info, CORE_ALIGNMENT);
}

/* The size is the enum cache_op here. */
bool jit_manage(struct core *core)
{
    SITE(block, info);
    uint32_t ea = core->call.address;
    enum cache_op op = (enum cache_op)(info >> 8 & 0xFF);
    bool zero = op == CACHE_ZERO;
    if (zero) ea &= ~UINT32_C(31);
    if (op == CACHE_TOUCH && !mem_readable(core->mem, ea, 1)) return false;
    if (zero && !mem_writable(core->mem, ea, 32))
        return fault(core, block, info, CORE_STORE, ea, 32);
    if (!zero && !mem_readable(core->mem, ea, 1)) return fault(core, block, info, CORE_LOAD, ea, 1);
    uint32_t stall = zero ? cache_zero_fast(core->view, ea, core->cycles) : CACHE_SLOW;
    if (stall != CACHE_SLOW && stall & CACHE_NOTIFY) {
        stall &= ~CACHE_NOTIFY;
        set_access(core);
        cache_notify_used(core->view, stall);
    }
    if (stall == CACHE_SLOW) {
        drain(core);
        set_access(core);
        stall = cache_manage(core->cores->options.cache, op, core->number, core->mem->space, ea,
                             core->cycles);
        if (stall == CACHE_WAITS) return wait_before(core, false);
    }
    core->cycles += stall;
    if (core->stopping) return leave_inside(core, true);
    if (!zero) return false;
    memset(mem_host(core->mem, ea), 0, 32);
    return stored(core, block, ea, info);
}

bool jit_sync(struct core *core)
{
    drain(core);
    set_access(core);
    core->cycles += cache_sync(core->cores->options.cache, core->number, core->cycles);
    return core->stopping && leave_inside(core, true);
}

/* The guest reads the time base. */
bool jit_time(struct core *core)
{
    drain(core);
    return false;
}

void jit_set_fp_sure(struct core *core)
{
    bool suffice = fp_lazy_allowed(&core->fp);
    if (suffice == (core->fp_sure[FP_SURE_1] != 0)) return;
    if (suffice)
        memcpy(core->fp_sure, jit_fp_sure, sizeof core->fp_sure);
    else
        memset(core->fp_sure, 0, sizeof core->fp_sure);
}

/* The size is the enum fp_op, the update the target. */
bool jit_fp(struct core *core)
{
    SITE(block, info);
    uint64_t a = core->call.value[0], b = core->call.value[1], c = core->call.value[2];
    enum fp_op op = (enum fp_op)(info >> 8 & 0xFF);
    unsigned target = info >> 16 & 0x7F, did;
    uint64_t *to = target < 32 ? &core->regs->fpr[target] : &core->regs->fpr2[target - 32];
    if (op == FP_FRES)
        did = fp_fast_fres(&core->fp, to, b);
    else if (op == FP_FRSQRTE)
        did = fp_fast_frsqrte(&core->fp, to, b);
    else if (op == FP_FCTIWZ)
        did = fp_fast_fctiwz(&core->fp, to, b);
    else
        did = fp_slow(&core->fp, op, to, a, b, c);
    jit_set_fp_sure(core);
    if (!(did & FP_ENABLED) || !(core->regs->msr & (MSR_FE0 | MSR_FE1)) || info & INFO_QUIET)
        return false;
    return stop_for(core, block, info, CORE_FP);
}

/* The size says whether it is fcmpo, the update is the CR field. */
bool jit_compare(struct core *core)
{
    SITE(block, info);
    uint64_t a = core->call.value[0], b = core->call.value[1];
    core->regs->cr[info >> 16 & 0xFF] = (uint8_t)fp_fast_compare(&core->fp, info >> 8 & 1, a, b);
    jit_set_fp_sure(core);
    if (!(core->fp.fpscr & FP_FEX) || !(core->regs->msr & (MSR_FE0 | MSR_FE1))) return false;
    return stop_for(core, block, info, CORE_FP);
}

/* mffs, before the FPSCR is read. */
bool jit_sync_fpscr(struct core *core)
{
    fp_sync(&core->fp);
    return false;
}

/* The instructions that write the FPSCR: the value and the mask of its bits. mtfsb1 is one that
 * raises an exception. */
bool jit_fpscr(struct core *core)
{
    SITE(block, info);
    uint32_t value = (uint32_t)core->call.value[0], mask = (uint32_t)core->call.value[1];
    if (mask & value & FP_EXCEPTIONS & ~core->fp.fpscr && info >> 8 & 0xFF)
        value |= FP_FX, mask |= FP_FX;
    fp_write_fpscr(&core->fp, mask, value);
    jit_set_fp_sure(core);
    if (!(core->fp.fpscr & FP_FEX) || !(core->regs->msr & (MSR_FE0 | MSR_FE1))) return false;
    return stop_for(core, block, info, CORE_FP);
}

/* --- Call paths ------------------------------------------------------------------------------ */

/* The target's block must be of the path's function, as in the interpreter (RECORD_ENTER). */
static void arrive(struct core *core, uint32_t pc)
{
    struct block **page = core->code->pages[pc / MEM_PAGE];
    struct block *block = page && pc % 4 == 0 ? page[pc % MEM_PAGE / 4] : NULL;
    if (block && block->function && block->function != core->path->function)
        core_record_enter(core, block);
}

/* Recorded code defers no misses (jit.c), so there is nothing to drain. */
bool jit_record_call(struct core *core)
{
    core_record_call(core, (uint32_t)core->call.address);
    arrive(core, (uint32_t)core->call.address);
    return false;
}

bool jit_record_return(struct core *core)
{
    core_record_return(core, (uint32_t)core->call.address);
    arrive(core, (uint32_t)core->call.address);
    return false;
}

bool jit_load_single(struct core *core)
{
    core->call.value[0] = fp_load_single((uint32_t)core->call.value[0]);
    return false;
}

bool jit_store_single(struct core *core)
{
    core->call.value[0] = fp_store_single(core->call.value[0]);
    return false;
}
