/* The interpreter: the reference for what instructions do.
 *
 * Threaded code over decoded blocks. The semantics are bodies in four files, one SEM(ID) for each
 * row of isa.def (a row without a body does not compile: its label is missing), written in the
 * manual's terms: G(x) a GPR, F(x) the primary and F2(x) the secondary FPR, T A B C the fields of
 * the instruction, IMM its immediate, mask or target.
 *
 * A block counts when it is entered. If an instruction in it faults, the block's count is taken
 * back and the instructions before the fault are weighed one by one, so that counts are exact at
 * every stop.
 */
#include "machine/core/core_impl.h"

#if defined CORE_TRACED && defined CORE_RECORDED
#define CORE_INTERPRET core_interpret_followed
#elif defined CORE_TRACED
#define CORE_INTERPRET core_interpret_traced
#elif defined CORE_RECORDED
#define CORE_INTERPRET core_interpret_recorded
#elif defined CORE_CACHED
#define CORE_INTERPRET core_interpret_cached
#else
#define CORE_INTERPRET core_interpret
#endif

/* --- Helpers of the bodies ------------------------------------------------------------- */

static inline uint8_t compare_signed(int32_t x, int32_t y, uint8_t so)
{
    return (uint8_t)((x < y ? CR_LT : x > y ? CR_GT : CR_EQ) | so);
}

static inline uint8_t compare_unsigned(uint32_t x, uint32_t y, uint8_t so)
{
    return (uint8_t)((x < y ? CR_LT : x > y ? CR_GT : CR_EQ) | so);
}

static inline unsigned cr_bit(const struct core_regs *regs, unsigned bit)
{
    return regs->cr[bit >> 2] >> (3 - (bit & 3)) & 1;
}

static inline void set_cr_bit(struct core_regs *regs, unsigned bit, unsigned value)
{
    uint8_t mask = (uint8_t)(8 >> (bit & 3));
    regs->cr[bit >> 2] =
        (uint8_t)(value & 1 ? regs->cr[bit >> 2] | mask : regs->cr[bit >> 2] & ~mask);
}

static inline void set_overflow(struct core_regs *regs, unsigned overflow)
{
    regs->xer_ov = (uint8_t)overflow;
    regs->xer_so |= (uint8_t)overflow;
}

static inline uint32_t rotate(uint32_t value, unsigned by)
{
    return value << (by & 31) | value >> (-by & 31);
}

/* Trap conditions of tw and twi. */
static bool traps(unsigned to, uint32_t a, uint32_t b)
{
    return (to & 16 && (int32_t)a < (int32_t)b) || (to & 8 && (int32_t)a > (int32_t)b) ||
           (to & 4 && a == b) || (to & 2 && a < b) || (to & 1 && a > b);
}

/* Whether [address, address + size) may be read or written; the slow half of every access. A store
 * to a page with decoded code drops that code first. */
static bool can_load(const struct mem *mem, uint32_t address, unsigned size)
{
    return mem_readable(mem, address, size) != NULL;
}

static bool can_store(struct mem *mem, uint32_t address, unsigned size)
{
    return mem_writable(mem, address, size) != NULL;
}

/* SPRs that user mode may read and write. */
static bool read_spr(const struct core *core, unsigned spr, uint32_t *value)
{
    const struct core_regs *regs = core->regs;
    switch (spr) {
    case 1: *value = core_xer_get(regs); return true;
    case 8: *value = regs->lr; return true;
    case 9: *value = regs->ctr; return true;
    case 256: *value = regs->usprg0; return true;
    case 260 ... 263: *value = 0; return true; /* SPRG4-7, which no kernel has written */
    case 268: *value = (uint32_t)core->cycles; return true;
    case 269: *value = (uint32_t)(core->cycles >> 32); return true;
    default: return false;
    }
}

static bool write_spr(struct core *core, unsigned spr, uint32_t value)
{
    struct core_regs *regs = core->regs;
    switch (spr) {
    case 1: core_xer_set(regs, value); return true;
    case 8: regs->lr = value; return true;
    case 9: regs->ctr = value; return true;
    case 256: regs->usprg0 = value; return true;
    default: return false;
    }
}

/* The bits of the MSR that the 440 has. */
#define MSR_BITS                                                                                   \
    (MSR_WE | MSR_CE | MSR_EE | MSR_PR | MSR_FP | MSR_ME | MSR_FE0 | MSR_DWE | MSR_DE | MSR_FE1 |  \
     MSR_IS | MSR_DS)

/* dlmzb: how many bytes of high || low up to and including the first zero byte; 8 when there is
 * none. */
static unsigned zero_byte(uint32_t high, uint32_t low, bool *found)
{
    uint64_t bytes = (uint64_t)high << 32 | low;
    for (unsigned i = 1; i <= 8; i++)
        if ((bytes >> (64 - 8 * i) & 0xFF) == 0) {
            *found = true;
            return i;
        }
    *found = false;
    return 8;
}

/* The 440's multiply-accumulate: accumulator plus product, saturating if `saturate`. Both as wide
 * integers. */
static uint32_t accumulate(int64_t sum, bool is_unsigned, bool saturate, unsigned *overflow)
{
    int64_t least = is_unsigned ? 0 : INT32_MIN, most = is_unsigned ? UINT32_MAX : INT32_MAX;
    *overflow = sum < least || sum > most;
    if (*overflow && saturate) return (uint32_t)(sum < least ? least : most);
    return (uint32_t)sum;
}

/* --- Loads and stores of many registers ------------------------------------------------------ */

/* lmw, lswi, lswx and their stores: `bytes` bytes, four to a register from `first` on, wrapping
 * after r31. */
static void load_string(struct core *core, unsigned first, uint32_t address, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        uint32_t *gpr = &core->regs->gpr[(first + i / 4) & 31];
        if (i % 4 == 0) *gpr = 0;
        *gpr |= (uint32_t)*mem_host(core->mem, address + i) << (24 - 8 * (i % 4));
    }
}

static void store_string(const struct core *core, unsigned first, uint32_t address, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        *mem_host(core->mem, address + i) =
            (uint8_t)(core->regs->gpr[(first + i / 4) & 31] >> (24 - 8 * (i % 4)));
}

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

#define G(x)   (gpr[x])
#define G0(x)  ((x) ? gpr[x] : 0)
#define F(x)   (regs->fpr[x])
#define F2(x)  (regs->fpr2[x])
#define T      (op->t)
#define A      (op->a)
#define B      (op->b)
#define C      (op->c)
#define IMM    (op->imm)
#define CR0(v) (regs->cr[0] = compare_signed((int32_t)(v), 0, regs->xer_so))

/* A traced core passes each instruction to the listener when it comes to the next. */
#ifdef CORE_TRACED
#define TRACE()                                                                                    \
    (core->cores->options.trace->on ? core_trace_op(core, block, (unsigned)(op - block->ops))      \
                                    : (void)0)
#define TRACE_FAULT() core_trace_fault(core)
#else
#define TRACE()       ((void)0)
#define TRACE_FAULT() ((void)0)
#endif

/* A recorded core notifies the recorder of calls, returns, and entries of another function's code.
 * TOUCHED marks calls of the memory hierarchy, which may count. */
#ifdef CORE_RECORDED
#define RECORD_CALL(to)   core_record_call(core, to)
#define RECORD_RETURN(to) core_record_return(core, to)
#define RECORD_ENTER()                                                                             \
    (UNLIKELY(block->function != core->path->function) ? core_record_enter(core, block) : (void)0)
#define RECORD_COUNT()  (core->path_counts[block->index]++)
#define TOUCHED(cycles) (core->touched = true, (cycles))
#else
#define RECORD_CALL(to)   ((void)0)
#define RECORD_RETURN(to) ((void)0)
#define RECORD_ENTER()    ((void)0)
#define RECORD_COUNT()    ((void)0)
#define TOUCHED(cycles)   (cycles)
#endif

#define SEM(ID) op_##ID:
#define NEXT                                                                                       \
    do {                                                                                           \
        op++;                                                                                      \
        TRACE();                                                                                   \
        goto * op->label;                                                                          \
    } while (0)

/* Whether EA may be read or written; if not, leaves for the fault. EA must be a variable. */
#define CHECK_LOAD_RIGHT(ea, size)                                                                 \
    if (UNLIKELY(!mem_window_allows(window, ea, size, MEM_READ)) &&                                \
        !can_load(core->mem, ea, size)) {                                                          \
        core_report_fault(core, exit, CORE_LOAD, ea, size);                                        \
        goto fault;                                                                                \
    }
#define CHECK_STORE_RIGHT(ea, size)                                                                \
    if (UNLIKELY(!mem_window_allows(window, ea, size, MEM_WRITE)) &&                               \
        !can_store(core->mem, ea, size)) {                                                         \
        core_report_fault(core, exit, CORE_STORE, ea, size);                                       \
        goto fault;                                                                                \
    }
/* The same with the memory hierarchy. A set bit of the line byte means that the access is allowed,
 * hits and costs nothing; everything else is a call. Fetches are tested line by line when a block
 * is entered. */
#ifdef CORE_CACHED
/* Listeners of the hierarchy may look up the accessing instruction. */
#define SET_ACCESS(first) (core->access.block = block, core->access.op = (first))
#define CHECK_LOAD(ea, size)                                                                       \
    if (UNLIKELY(!(lines[(ea) >> CACHE_GRANULE_BITS] & CACHE_LOAD) || ((ea)&31) + (size) > 32)) {  \
        CHECK_LOAD_RIGHT(ea, size)                                                                 \
        if (LIKELY(!core->access_done)) {                                                          \
            core->crossings += ((ea)&31) + (size) > 32;                                            \
            SET_ACCESS(op);                                                                        \
            uint32_t stall = TOUCHED(core_load(core, ea, size));                                   \
            if (UNLIKELY(stall == CACHE_WAITS)) {                                                  \
                core->crossings -= ((ea)&31) + (size) > 32;                                        \
                goto waits;                                                                        \
            }                                                                                      \
            core->cycles += stall;                                                                 \
        }                                                                                          \
    }
#define CHECK_STORE(ea, size)                                                                      \
    if (UNLIKELY(!(lines[(ea) >> CACHE_GRANULE_BITS] & CACHE_STORE) || ((ea)&31) + (size) > 32)) { \
        CHECK_STORE_RIGHT(ea, size)                                                                \
        if (LIKELY(!core->access_done)) {                                                          \
            core->crossings += ((ea)&31) + (size) > 32;                                            \
            SET_ACCESS(op);                                                                        \
            uint32_t stall = TOUCHED(                                                              \
                cache_store(cache, core->number, core->mem->space, ea, size, core->cycles));       \
            if (UNLIKELY(stall == CACHE_WAITS)) {                                                  \
                core->crossings -= ((ea)&31) + (size) > 32;                                        \
                goto waits;                                                                        \
            }                                                                                      \
            core->cycles += stall;                                                                 \
        }                                                                                          \
    }
#define MANAGE(what, ea)                                                                           \
    do {                                                                                           \
        if (UNLIKELY(core->access_done)) break;                                                    \
        SET_ACCESS(op);                                                                            \
        uint32_t stall =                                                                           \
            TOUCHED(cache_manage(cache, what, core->number, core->mem->space, ea, core->cycles));  \
        if (UNLIKELY(stall == CACHE_WAITS)) goto waits;                                            \
        core->cycles += stall;                                                                     \
    } while (0)
#define SYNC()                                                                                     \
    do {                                                                                           \
        if (UNLIKELY(core->access_done)) break;                                                    \
        SET_ACCESS(op);                                                                            \
        core->cycles += TOUCHED(cache_sync(cache, core->number, core->cycles));                    \
    } while (0)
#define FETCH_BLOCK()                                                                              \
    for (uint32_t line = block->pc >> CACHE_GRANULE_BITS;                                          \
         line <= (block->end - 4) >> CACHE_GRANULE_BITS; line++)                                   \
        if (UNLIKELY(!(lines[line] & CACHE_FETCH))) {                                              \
            SET_ACCESS(block->ops);                                                                \
            core->access.line = line << CACHE_GRANULE_BITS;                                        \
            core->cycles += TOUCHED(cache_fetch(cache, core->number, core->mem->space,             \
                                                line << CACHE_GRANULE_BITS, core->cycles));        \
            core->access.line = 0;                                                                 \
        }
#else
#define CHECK_LOAD(ea, size)  CHECK_LOAD_RIGHT(ea, size)
#define CHECK_STORE(ea, size) CHECK_STORE_RIGHT(ea, size)
#define MANAGE(op, ea)        ((void)0)
#define SYNC()                ((void)0)
#define FETCH_BLOCK()         ((void)0)
#endif
/* After a store: if it changed code, the rest of this block may be stale. */
#define NEXT_STORED                                                                                \
    do {                                                                                           \
        if (UNLIKELY(core->code_changed)) goto changed;                                            \
        NEXT;                                                                                      \
    } while (0)

/* A hot block: the translator may have code for it. */
#if defined CORE_CACHED && !defined CORE_TRACED
#define ENTER_TRANSLATED()                                                                         \
    do {                                                                                           \
        if (UNLIKELY(--block->entries_until_hot == 0)) {                                           \
            if (UNLIKELY(core->patch.block)) { /* it will be cut */                                \
                block->entries_until_hot = 1;                                                      \
                goto interpreted;                                                                  \
            }                                                                                      \
            enum core_hot hot = core_hot(core, block, core->limit, exit);                          \
            if (hot == CORE_HOT_STOPPED) return NULL;                                              \
            if (UNLIKELY(core->inside.block)) goto inside;                                         \
            if (hot == CORE_HOT_RAN) {                                                             \
                target = regs->pc;                                                                 \
                block = NULL;                                                                      \
                goto find;                                                                         \
            }                                                                                      \
        }                                                                                          \
    } while (0)

static enum core_hot core_hot(struct core *core, struct block *block, uint64_t limit,
                              struct core_exit *exit)
{
    const struct core_translator *translator = core->cores->options.translator;
    if (!translator) return CORE_HOT_NOTHING;
    return translator->hot(translator->context, core, block, limit, exit);
}
#else
#define ENTER_TRANSLATED() ((void)0)
#endif

/* The function is one dispatch loop; its labels are the instructions. */
const void *const *CORE_INTERPRET(struct core *core, uint64_t limit, struct core_exit *exit)
{
    static const void *const labels[LABEL_COUNT] = {
        [ISA_ILLEGAL] = &&op_ILLEGAL,
#define ISA_ROW(id, ...) [ISA_##id] = &&op_##id,
#include "machine/isa/isa.def"
        [LABEL_END] = &&op_END,
        [LABEL_CUT] = &&op_CUT,
        [LABEL_SUPERVISOR] = &&op_SUPERVISOR,
        [LABEL_BC_CR] = &&op_BC_CR,
        [LABEL_BDNZ] = &&op_BDNZ,
        [LABEL_LI] = &&op_LI,
        [LABEL_MR] = &&op_MR,
    };
    if (!core) return labels;

    struct core_regs *const regs = core->regs;
    uint32_t *const gpr = regs->gpr;
    const struct mem_window window = mem_window(core->mem);
    struct fp_state *const fp = &core->fp;
#ifdef CORE_CACHED
    const uint8_t *const lines = core->lines;
    struct cache *const cache = core->cores->options.cache;
#endif
    struct block *block = NULL;
    const struct op *op = NULL;
    uint32_t target = regs->pc;
    bool taken = false;
    core->code_changed = false;
    core->limit = limit;
    if (LIKELY(!core->inside.block)) goto find;
    goto inside;

    /* Continues inside a block, which is counted. */
inside:
    block = core->inside.block;
    op = block->ops + core->inside.op;
    core->inside.block = NULL;
    TRACE();
    goto * op->label;

    /* Goes to `target`, along the chain if this block has led there before. */
branch:
    if (LIKELY(block->next[taken] && block->next[taken]->pc == target)) {
        block = block->next[taken];
        if (UNLIKELY(core->cycles >= core->limit)) {
            regs->pc = target;
            return NULL;
        }
        goto enter;
    }
find : {
    if (core->cycles >= core->limit) {
        regs->pc = target;
        return NULL;
    }
    struct block *found = code_block(core->code, target);
    if (!found) {
        regs->pc = target;
        *exit = (struct core_exit){CORE_FETCH, target, mem_rights(core->mem, target) & MEM_MAPPED};
        return NULL;
    }
    if (block) block->next[taken] = found;
    block = found;
}
enter:
    RECORD_ENTER();
    ENTER_TRANSLATED();
interpreted:
    __attribute__((unused));
    core->counts[block->id]++;
    RECORD_COUNT();
    core->cycles += block->cycles;
    FETCH_BLOCK();
    op = block->ops;
    TRACE();
    goto * op->label;

op_END:
    target = block->end;
    taken = false;
    goto branch;

    /* This core's store changed code: what it has done of the block counts, and the rest is decoded
     * anew. */
changed : {
    unsigned done = (unsigned)(op - block->ops) + 1;
    core->code_changed = false;
    target = block->pc + 4 * done;
    core_count_part(core, block, done);
    if (UNLIKELY(core->patch.block)) {
        regs->pc = target;
        if (core_stopped_there(core, done)) exit->reason = CORE_WATCH;
        return NULL;
    }
    block = NULL;
    goto find;
}

    /* A watch stops the core here. */
op_CUT : {
    unsigned done = (unsigned)(op - block->ops);
    TRACE_FAULT();
    (void)core_stopped_there(core, done);
    core_cut_block(core, block, done);
    exit->reason = CORE_WATCH;
    return NULL;
}

    /* Other cores come first: the access is made when the core runs again. */
waits:
    __attribute__((unused));
    TRACE_FAULT();
    core_wait_before(core, block, (unsigned)(op - block->ops));
    exit->reason = CORE_ORDER;
    return NULL;

    /* The instruction at `op` cannot be done; *exit says why. */
fault : {
    unsigned done = (unsigned)(op - block->ops);
    TRACE_FAULT();
    (void)core_stopped_there(core, done);
    regs->pc = block->pc + 4 * done;
    core_count_part(core, block, done);
    return NULL;
}
op_ILLEGAL:
    exit->reason = CORE_ILLEGAL;
    goto fault;
    /* A privileged instruction. Decoded code is the same for both states, so the state is looked up
     * here. */
op_SUPERVISOR:
    if (!(regs->msr & MSR_PR)) goto *labels[isa_decode(block->words[op - block->ops])];
    exit->reason = CORE_PRIVILEGED;
    goto fault;
misaligned:
    exit->reason = CORE_ALIGNMENT;
    goto fault;
fp_trap: /* the instruction is done but for what an enabled exception suppresses */
    if (!(regs->msr & (MSR_FE0 | MSR_FE1))) NEXT;
    exit->reason = CORE_FP;
    goto fault;

#include "machine/core/sem_branch.inc"
#include "machine/core/sem_integer.inc"
#include "machine/core/sem_memory.inc"
#include "machine/core/sem_fp.inc"
#include "machine/core/sem_fp2.inc"
}
