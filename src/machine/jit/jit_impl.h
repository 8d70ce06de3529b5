/* Inside the translator: regions, helper calls, and the emitter of IR.
 *
 * A region is a set of hot blocks, joined by the branches between them and entered at the first.
 * jit_region.c chooses it and copies it out of the core's structures, so that the translation
 * thread can translate it (jit_emit.c and the tables of rows) while the interpreter continues.
 * Generated code calls helpers (jit_run.c) on its slow paths: misses, faults, rare floating point.
 *
 * In translated code guest registers are host values. Every change is also stored to struct
 * core_regs, so the registers in memory are exact at every helper call. Time is a host value as
 * well; it is in core->cycles whenever C code runs.
 */
#ifndef JIT_IMPL_H
#define JIT_IMPL_H

#include "machine/core/core_impl.h"
#include "machine/jit/jit_ir.h"

/* --- Regions --------------------------------------------------------------------------------- */

enum { REGION_BLOCKS = 64, REGION_OPS = 800, REGION_RETURNS = 4 }; /* at most */

struct region_block {
    const struct block *block; /* for the callbacks; not looked into by the second thread */
    uint32_t pc, end, id, cycles;
    uint32_t index;                         /* of its count in a recorded path of */
    const struct record_function *function; /* this function */
    unsigned count;
    uint64_t weight;        /* times it ran */
    uint64_t unpredictable; /* instructions that are unpredictable loads (core_miss_history.c), a
                               bit each */
    uint32_t words[BLOCK_OPS];
};

struct region {
    struct region_block *blocks; /* REGION_BLOCKS; only until its code is generated */
    unsigned count, ops;         /* blocks, and instructions in them */
    struct jump *jumps;          /* of its address space */
    struct site *sites;          /* of its helper calls, in the order of generation */
    unsigned site_count;
    bool recorded;                /* call paths are */
    bool free;                    /* memory is (cache_is_free) */
    bool unpredictable;           /* all loads are taken for unpredictable */
    unsigned unpredictable_loads; /* loads with a branch-free probe */
    unsigned lazy_op; /* enum fp_op that the core had deferred when the region was chosen */
};

/* An upper bound of the helper calls in its code. */
static inline unsigned region_sites(const struct region *region)
{
    return 3 * region->ops + region->count;
}
/* Chooses a region that begins with `block`; false when that cannot be translated. */
bool region_choose(struct region *region, const struct core *core, struct block *block);
/* The index of the block at pc, or -1. */
int region_find(const struct region *region, uint32_t pc);
/* Whether there is a row for the instruction. */
bool emit_supports(uint32_t word);

/* How a block ends: with a branch, or it runs on. */
struct branch {
    bool is_branch, indirect, links, uses_ctr, uses_cr; /* conditional: one of the last two */
    bool through_ctr;                                   /* indirect: to CTR, not LR */
    uint32_t target;                                    /* unless indirect */
    unsigned bo, bi;
};
struct branch branch_of(uint32_t word, uint32_t pc);

/* Translated code of an address space by its first pc: looked up at every exit of a region. */
enum { JUMPS = 4096 };
struct jump {
    uint64_t pc; /* ~0: none */
    void *code;
};
static inline unsigned jump_index(uint32_t pc)
{
    return pc / 4 % JUMPS;
}

/* --- What translated code is and calls ------------------------------------------------------- */

typedef void region_code(struct core *core, struct core_regs *regs, uint8_t *base,
                         const uint8_t *lines, uint64_t cycles);

/* An instruction for a callback: which of its block, bytes it moves, register that gets the
 * address. */
#define INFO(op, size, update) ((uint32_t)(op) | (uint32_t)(size) << 8 | (uint32_t)(update) << 16)
enum { NO_UPDATE = 32 };
#define INFO_QUIET                                                                                 \
    UINT32_C(0x80000000) /* a first half: its exception stops the core behind the second */

/* The guest instruction that a helper call belongs to: written at translation, read at run time. */
struct site {
    const struct block *block;
    uint32_t info;
};

/* Arguments are in core->call, results too. All return true when the core has stopped or must leave
 * the region: regs->pc and counts are right then. */
#define JIT_CALLS(X)                                                                               \
    X(jit_fetch);                                                                                  \
    X(jit_store_8);                                                                                \
    X(jit_store_16);                                                                               \
    X(jit_store_32);                                                                               \
    X(jit_store_64);                                                                               \
    X(jit_store_pair);                                                                             \
    X(jit_store_many);                                                                             \
    X(jit_misaligned);                                                                             \
    X(jit_manage);                                                                                 \
    X(jit_time);                                                                                   \
    X(jit_sync);                                                                                   \
    X(jit_fp);                                                                                     \
    X(jit_sync_fpscr);                                                                             \
    X(jit_fpscr);                                                                                  \
    X(jit_compare);                                                                                \
    X(jit_load_single);                                                                            \
    X(jit_store_single);                                                                           \
    X(jit_record_call);                                                                            \
    X(jit_record_return)
#define JIT_CALL(name) name##_thunk
#define JIT_DECLARE(name)                                                                          \
    bool name(struct core *core);                                                                  \
    bool name##_thunk(struct core *core)
JIT_CALLS(JIT_DECLARE);
JIT_DECLARE(jit_load);
bool jit_count_load(struct core *core);
void jit_set_fp_sure(struct core *core); /* after the FPSCR may have changed */
/* By a result's sign and exponent without its last bit: the operations for which such a result
 * proves that nothing but rounding happened (fp_fast.h). Code reads the core's copy, which is all
 * zeros while the FPSCR does not allow lazy evaluation. */
enum { FP_SURE_SHIFT = 53, FP_SURES = 2048, FP_SURE_1 = 1023 / 2 }; /* the last: index of 1.0 */
enum { SURE_SUM = 1, SURE_DOUBLE = 2, SURE_SINGLE = 4, SURE_INTEGER = 8, SURE_REST = 16 };
extern const uint8_t jit_fp_sure[FP_SURES];

/* --- Comparing (jit_lockstep.c) -------------------------------------------------------------- */

struct lockstep {
    void (*report)(void *context, const char *line);
    void *context;
    bool *frozen; /* set in copies of this process, which have one thread */
};
/* Runs to the limit twice: in a forked copy with the interpreter, and here with translated code.
 * False when the results differ, after a report of the difference and of the first block with it.
 */
bool lockstep_run(const struct lockstep *lockstep, struct core *core, uint64_t limit,
                  struct core_exit *exit);

/* --- Emitting -------------------------------------------------------------------------------- */

enum { FORWARDED_WORDS = 32 };

struct emit {
    struct ir *ir;
    struct region *region;
    const struct region_block *block;
    unsigned op;   /* of the block */
    uint32_t word; /* the instruction */
    ir_value core, regs, base, lines, limit;
    ir_variable counts, path_counts, cycles, gpr[32], fpr[64], cr[8], lr, ctr, ca;
    ir_block start[REGION_BLOCKS], leave;
    struct {
        uint32_t pc;
        ir_block block;
    } exits[2 * REGION_BLOCKS];
    unsigned exit_count;
    /* The last compare of the block into each CR field, for the branch behind it. */
    struct {
        ir_value a, b;
        enum { COMPARED_NOT, COMPARED_SIGNED, COMPARED_UNSIGNED, COMPARED_FLOAT } how;
    } compared[8];
    /* The last floating-point operation, whose deferral (fp_fast.h) is not in memory yet. */
    struct {
        uint32_t op; /* enum fp_op and FP_LAZY bits; 0: memory is right */
        ir_value a, b, c, converted;
        ir_value compared; /* FPCC of a later comparison, 32 bits */
        ir_block leave;    /* writes it and leaves the region; NULL until a call needs that */
    } lazy;
    /* The double whose lower word the register holds, or NULL; `flipped`: with the other sign. */
    struct emit_half {
        ir_value of;
        bool flipped;
    } half[32];
    ir_value integer[64]; /* a register's bits as an integer value, where fctiwz produced them, */
    ir_value low[64];     /* and the double that has them as its lower word */
    ir_value negated[64]; /* the value that the register is the negative of */
    /* Words that the block has stored and that are unchanged since (jit_forward.c). */
    struct {
        unsigned base; /* the register that the displacement `at` is added to; 0: none */
        int32_t at;
        ir_value value; /* 32 bits, or 64 of which this is a half, */
        bool is_double; /* as a double, or as an integer */
        enum { WORD_WHOLE, WORD_HIGH, WORD_LOW } part;
        struct emit_half half; /* that the word is */
    } words[FORWARDED_WORDS];
    unsigned word_count;
};

typedef void emit_row(struct emit *e, unsigned variant);
struct emit_entry {
    emit_row *emit;
    unsigned variant;
};
extern const struct emit_entry emit_integer_rows[ISA_COUNT], emit_memory_rows[ISA_COUNT],
    emit_fp_rows[ISA_COUNT], emit_fpscr_rows[ISA_COUNT];

/* Translates the region; NULL when that fails. */
struct ir_code *emit_region(struct ir *ir, struct region *region);

/* For the rows. Register fields are those of e->word. */
ir_value emit_const(struct emit *e, uint32_t value);
ir_value emit_gpr(struct emit *e, unsigned n);
ir_value emit_gpr_or_0(struct emit *e, unsigned n);
void emit_set_gpr(struct emit *e, unsigned n, ir_value v);
ir_value emit_fpr(struct emit *e, unsigned n); /* as a double; 32 and up: the secondary */
ir_value emit_fpr_bits(struct emit *e, unsigned n);
void emit_set_fpr(struct emit *e, unsigned n, ir_value v);
ir_value emit_ca(struct emit *e);
void emit_set_ca(struct emit *e, ir_value v);
ir_value emit_cr(struct emit *e, unsigned field); /* 32 bits wide */
void emit_set_cr(struct emit *e, unsigned field, ir_value v);
ir_value emit_cr_bit(struct emit *e, unsigned bit); /* as a truth */
void emit_compare(struct emit *e, unsigned field, bool is_signed, ir_value a, ir_value b);
void emit_record(struct emit *e, ir_value v); /* CR0 */
ir_value emit_special(struct emit *e, bool is_ctr);
void emit_set_special(struct emit *e, bool is_ctr, ir_value v);
/* A call: goes on in a new block unless it stopped the core. `info` as by INFO(); the rest may be
 * NULL. Time goes to memory and comes back. */
struct emit_call {
    uint32_t info;
    ir_value address;  /* 32 bits */
    ir_value value[3]; /* 64 bits or doubles */
    bool evaluates;    /* the helper leaves the deferred operation in memory right itself */
};
typedef bool jit_function(struct core *core);
void emit_call(struct emit *e, jit_function *function, const struct emit_call *call);
ir_value emit_call_result(struct emit *e); /* 64 bits */
/* Handles an access of `size` bytes, a power of two, on the fast path (jit_miss.c). Continues at
 * `done` when the access is aligned, counted and its stall is in the time; else at `otherwise`.
 * `code`: offset in struct cache_fast of the routine's address. */
bool emit_has_probe(void);
void emit_probe(struct emit *e, size_t code, ir_value address, unsigned size, ir_block done,
                ir_block otherwise);
void emit_write_lazy(struct emit *e); /* stores the deferred operation, if memory lacks it */
void emit_reload_fpr(struct emit *e, unsigned n);
void emit_reload_cr(struct emit *e, unsigned field);
ir_value emit_lazy_allowed(struct emit *e);
ir_value emit_is_sure(struct emit *e, ir_value r, uint8_t of); /* by jit_fp_sure */
enum fp_op emit_operation(uint32_t word); /* the operation it defers, or FP_OP_NONE */
bool emit_supports_spr(enum isa_id id, unsigned spr);
/* Store-to-load forwarding (jit_forward.c). The instruction has a displacement and stores `v` (1 to
 * 8 bytes). The word that memory has `by` bytes behind its address, or NULL, and the double it is
 * part of. Both words as a double if they were stored as one, or NULL. */
void emit_forward_store(struct emit *e, unsigned size, ir_value v, bool is_double,
                        struct emit_half half);
ir_value emit_forwarded_word(struct emit *e, unsigned by, struct emit_half *half);
ir_value emit_forwarded_double(struct emit *e);
void emit_forget(struct emit *e);                     /* another store */
void emit_forget_base(struct emit *e, unsigned base); /* the register changes */
ir_value emit_cycles(struct emit *e);

#endif
