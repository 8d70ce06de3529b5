/* Making host code: a function at a time, from values, variables and blocks.
 *
 * A value has a type and is made once; a variable can be set anywhere and becomes registers; a
 * block is a piece of code that others jump to. Memory is addressed by a pointer value and an
 * offset.
 *
 * There are two kinds of makers. The quick one (jit_fast.c) takes microseconds for an instruction
 * of the guest's, and is there on x86-64. The other (jit_llvm.c) takes a hundred times as long, is
 * there on every host that LLVM knows, and is all that the translator sees of LLVM, whose library
 * is loaded when its first maker is made.
 *
 * A maker (struct ir_maker) belongs to one thread; code it made may run on any.
 */
#ifndef JIT_IR_H
#define JIT_IR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ir;       /* a function being made */
struct ir_maker; /* makes functions */
struct ir_code;  /* a function made */
typedef struct ir_value *ir_value;
typedef struct ir_block *ir_block;
typedef struct ir_variable *ir_variable;

enum ir_type {
    IR_I1,
    IR_I8,
    IR_I16,
    IR_I32,
    IR_I64,
    IR_F32,
    IR_F64,
    IR_POINTER,
    IR_NOTHING,
    IR_TYPES
};

enum ir_binary {
    IR_ADD,
    IR_SUB,
    IR_MUL,
    IR_AND,
    IR_OR,
    IR_XOR,
    IR_SHL,
    IR_LSHR,
    IR_ASHR,
    IR_UDIV,
    IR_SDIV,
    IR_FADD,
    IR_FSUB,
    IR_FMUL,
    IR_FDIV
};
enum ir_test { IR_EQ, IR_NE, IR_ULT, IR_UGE, IR_UGT, IR_SLT, IR_SGT };
enum ir_order { IR_LESS, IR_GREATER, IR_SAME, IR_UNORDERED }; /* the first three ordered */
enum ir_convert {
    IR_ZEXT,
    IR_SEXT,
    IR_TRUNC,
    IR_BITS,
    IR_WIDEN,
    IR_NARROW,
    IR_TO_SIGNED,
    IR_FROM_SIGNED
};
enum ir_odds { IR_EVEN, IR_LIKELY, IR_UNLIKELY };

/* A question about a number of 32 bits, rotated by `shift` to the right and masked, at a time, to
 * code with a convention of its own (jit_miss.c). A pointer, loaded from memory, is to what it is
 * about; the code's address is at `code` there. It changes the time, or what it answers is stored
 * at `base` + `told`. */
struct ir_question {
    uint64_t code;
    ir_value pointer, number;
    unsigned shift;
    uint32_t mask;
    ir_variable time;
    ir_value base;
    uint64_t told;
};

/* Each kind has its own struct ir, ir_maker and ir_code, which begin with a pointer to this. */
struct ir_kind {
    uint64_t nanoseconds,
        first_nanoseconds; /* for a guest instruction, about; and before the first */
    uint32_t patience;     /* entries of a block that make it worth that */
    uint32_t most_blocks, most_instructions; /* of the guest's in a function */
    const char *(*unavailable)(void);        /* why it is, or NULL; loads what it needs */
    struct ir_maker *(*maker_new)(const char **reason);
    void (*maker_free)(struct ir_maker *maker);
    struct ir *(*begin)(struct ir_maker *maker, const char *arguments);
    struct ir_code *(*finish)(struct ir *ir);
    void *(*code_entry)(const struct ir_code *code);
    void *(*code_target)(const struct ir_code *code);
    size_t (*code_size)(const struct ir_code *code);
    void (*code_free)(struct ir_maker *maker, struct ir_code *code);
    ir_value (*argument)(struct ir *ir, unsigned n);
    ir_value (*constant)(struct ir *ir, enum ir_type type, uint64_t value);
    ir_value (*address)(struct ir *ir, const void *p);
    ir_value (*op)(struct ir *ir, enum ir_binary op, ir_value a, ir_value b);
    ir_value (*test)(struct ir *ir, enum ir_test test, ir_value a, ir_value b);
    ir_value (*order)(struct ir *ir, enum ir_order order, ir_value a, ir_value b);
    ir_value (*compare)(struct ir *ir, bool is_signed, ir_value a, ir_value b);
    ir_value (*select)(struct ir *ir, ir_value condition, ir_value a, ir_value b);
    ir_value (*convert)(struct ir *ir, enum ir_convert how, enum ir_type to, ir_value v);
    ir_value (*negate)(struct ir *ir, ir_value v);
    ir_value (*fma)(struct ir *ir, ir_value x, ir_value y, ir_value z);
    ir_value (*swap)(struct ir *ir, ir_value v);
    ir_value (*whole)(struct ir *ir, ir_value v); /* or NULL, with the next two */
    ir_value (*widen)(struct ir *ir, ir_value v);
    ir_value (*words)(struct ir *ir, ir_value high, ir_value low, bool flip);
    ir_value (*leading_zeros)(struct ir *ir, ir_value v);
    ir_value (*rotate)(struct ir *ir, ir_value v, ir_value left);
    ir_value (*offset)(struct ir *ir, ir_value base, ir_value by);
    ir_value (*load)(struct ir *ir, enum ir_type type, ir_value base, ir_value index,
                     uint64_t offset);
    void (*store)(struct ir *ir, ir_value v, ir_value base, ir_value index, uint64_t offset);
    void (*prefetch)(struct ir *ir, ir_value base, ir_value index); /* or NULL */
    void (*increment)(struct ir *ir, ir_value base, uint64_t offset);
    ir_variable (*variable_new)(struct ir *ir, enum ir_type type, ir_value base, uint64_t offset);
    ir_variable (*variable_of)(struct ir *ir, ir_value first);
    ir_value (*get)(struct ir *ir, enum ir_type type, ir_variable variable);
    void (*set)(struct ir *ir, ir_variable variable, ir_value v);
    void (*reload)(struct ir *ir, enum ir_type type, ir_variable variable, ir_value base,
                   uint64_t offset);
    ir_block (*block_new)(struct ir *ir);
    ir_block (*anchor_new)(struct ir *ir, uint64_t weight);
    void (*place)(struct ir *ir, ir_block block);
    ir_block (*here)(struct ir *ir);
    void (*jump)(struct ir *ir, ir_block block);
    void (*branch)(struct ir *ir, ir_value condition, ir_block yes, ir_block no, enum ir_odds odds);
    void (*leave)(struct ir *ir);
    ir_value (*call_keeping)(struct ir *ir, const void *function, ir_value argument);
    void (*ask)(struct ir *ir, const struct ir_question *question, ir_block yes,
                ir_block no); /* NULL: it cannot */
    void (*go)(struct ir *ir, ir_value function, const ir_value *arguments);
};
#define IR_KIND(p) (*(const struct ir_kind *const *)(p))
extern const struct ir_kind ir_fast, ir_llvm;

/* LLVM's, or the best there is; NULL when there is none. */
const struct ir_kind *ir_kind_of(bool llvm);

static inline void ir_maker_free(struct ir_maker *maker)
{
    if (maker) IR_KIND(maker)->maker_free(maker);
}

/* A function of `arguments` pointers and 64-bit integers (given as 'p' and 'l') that returns
 * nothing. */
static inline struct ir *ir_begin(struct ir_maker *maker, const char *arguments)
{
    return IR_KIND(maker)->begin(maker, arguments);
}

/* Compiles it and frees `ir`; NULL when that failed. */
static inline struct ir_code *ir_finish(struct ir *ir)
{
    return IR_KIND(ir)->finish(ir);
}

/* for C */
static inline void *ir_code_entry(const struct ir_code *code)
{
    return IR_KIND(code)->code_entry(code);
}

/* for ir_go */
static inline void *ir_code_target(const struct ir_code *code)
{
    return IR_KIND(code)->code_target(code);
}

/* about how much memory it takes */
static inline size_t ir_code_size(const struct ir_code *code)
{
    return IR_KIND(code)->code_size(code);
}

static inline void ir_code_free(struct ir_maker *maker, struct ir_code *code)
{
    IR_KIND(code)->code_free(maker, code);
}

static inline ir_value ir_argument(struct ir *ir, unsigned n)
{
    return IR_KIND(ir)->argument(ir, n);
}

static inline ir_value ir_const(struct ir *ir, enum ir_type type, uint64_t value)
{
    return IR_KIND(ir)->constant(ir, type, value);
}

static inline ir_value ir_address(struct ir *ir, const void *p)
{
    return IR_KIND(ir)->address(ir, p);
}

static inline ir_value ir_op(struct ir *ir, enum ir_binary op, ir_value a, ir_value b)
{
    return IR_KIND(ir)->op(ir, op, a, b);
}

static inline ir_value ir_test(struct ir *ir, enum ir_test test, ir_value a, ir_value b)
{
    return IR_KIND(ir)->test(ir, test, a, b);
}

static inline ir_value ir_order(struct ir *ir, enum ir_order order, ir_value a, ir_value b)
{
    return IR_KIND(ir)->order(ir, order, a, b);
}

/* 8, 4 or 2, in 32 bits: a is less than b, greater, or equal. Of integers, or of floats that are
 * ordered. */
static inline ir_value ir_compare(struct ir *ir, bool is_signed, ir_value a, ir_value b)
{
    return IR_KIND(ir)->compare(ir, is_signed, a, b);
}

static inline ir_value ir_select(struct ir *ir, ir_value condition, ir_value a, ir_value b)
{
    return IR_KIND(ir)->select(ir, condition, a, b);
}

static inline ir_value ir_convert(struct ir *ir, enum ir_convert how, enum ir_type to, ir_value v)
{
    return IR_KIND(ir)->convert(ir, how, to, v);
}

/* of a float */
static inline ir_value ir_negate(struct ir *ir, ir_value v)
{
    return IR_KIND(ir)->negate(ir, v);
}

static inline ir_value ir_fma(struct ir *ir, ir_value x, ir_value y, ir_value z)
{
    return IR_KIND(ir)->fma(ir, x, y, z);
}

/* the bytes of an integer or double */
static inline ir_value ir_swap(struct ir *ir, ir_value v)
{
    return IR_KIND(ir)->swap(ir, v);
}

/* Integers in the registers of doubles, where there is a shorter way than by those of integers. */
static inline bool ir_has_whole(const struct ir *ir)
{
    return IR_KIND(ir)->whole != NULL;
}

/* A double's integer part, as the lower word of a double. */
static inline ir_value ir_whole(struct ir *ir, ir_value v)
{
    return IR_KIND(ir)->whole(ir, v);
}

/* Such a word with its sign in all bits above. */
static inline ir_value ir_widen(struct ir *ir, ir_value v)
{
    return IR_KIND(ir)->widen(ir, v);
}

/* The double that consists of the word `high` and the lower one of the double `low`, with another
 * sign if `flip`. */
static inline ir_value ir_words(struct ir *ir, ir_value high, ir_value low, bool flip)
{
    return IR_KIND(ir)->words(ir, high, low, flip);
}

static inline ir_value ir_leading_zeros(struct ir *ir, ir_value v)
{
    return IR_KIND(ir)->leading_zeros(ir, v);
}

/* 32 bits */
static inline ir_value ir_rotate(struct ir *ir, ir_value v, ir_value left)
{
    return IR_KIND(ir)->rotate(ir, v, left);
}

/* a pointer, by 64 bits */
static inline ir_value ir_offset(struct ir *ir, ir_value base, ir_value by)
{
    return IR_KIND(ir)->offset(ir, base, by);
}

/* At `base` plus `index` (64 bits; NULL: 0) plus `offset`. No alignment is assumed. */
static inline ir_value ir_load(struct ir *ir, enum ir_type type, ir_value base, ir_value index,
                               uint64_t offset)
{
    return IR_KIND(ir)->load(ir, type, base, index, offset);
}

static inline void ir_store(struct ir *ir, ir_value v, ir_value base, ir_value index,
                            uint64_t offset)
{
    IR_KIND(ir)->store(ir, v, base, index, offset);
}

/* The host may fetch what is there; it need not be mapped. */
static inline void ir_prefetch(struct ir *ir, ir_value base, ir_value index)
{
    if (IR_KIND(ir)->prefetch) IR_KIND(ir)->prefetch(ir, base, index);
}

/* 64 bits */
static inline void ir_increment(struct ir *ir, ir_value base, uint64_t offset)
{
    IR_KIND(ir)->increment(ir, base, offset);
}

/* A variable whose first value is in memory at `base` + `offset` when the function begins. Who sets
 * it stores the value there next. */
static inline ir_variable ir_variable_new(struct ir *ir, enum ir_type type, ir_value base,
                                          uint64_t offset)
{
    return IR_KIND(ir)->variable_new(ir, type, base, offset);
}

static inline ir_variable ir_variable_of(struct ir *ir, ir_value first)
{
    return IR_KIND(ir)->variable_of(ir, first);
}

static inline ir_value ir_get(struct ir *ir, enum ir_type type, ir_variable variable)
{
    return IR_KIND(ir)->get(ir, type, variable);
}

static inline void ir_set(struct ir *ir, ir_variable variable, ir_value v)
{
    IR_KIND(ir)->set(ir, variable, v);
}

/* C has changed its memory. */
static inline void ir_reload(struct ir *ir, enum ir_type type, ir_variable variable, ir_value base,
                             uint64_t offset)
{
    IR_KIND(ir)->reload(ir, type, variable, base, offset);
}

static inline ir_block ir_block_new(struct ir *ir)
{
    return IR_KIND(ir)->block_new(ir);
}

/* One that may be jumped to from anywhere, as no value of another block is used there, only
 * variables. `weight`: about how often it runs, 0 for one that leads out. */
static inline ir_block ir_anchor_new(struct ir *ir, uint64_t weight)
{
    return IR_KIND(ir)->anchor_new(ir, weight);
}

/* what follows goes there */
static inline void ir_place(struct ir *ir, ir_block block)
{
    IR_KIND(ir)->place(ir, block);
}

static inline ir_block ir_here(struct ir *ir)
{
    return IR_KIND(ir)->here(ir);
}

static inline void ir_jump(struct ir *ir, ir_block block)
{
    IR_KIND(ir)->jump(ir, block);
}

static inline void ir_branch(struct ir *ir, ir_value condition, ir_block yes, ir_block no,
                             enum ir_odds odds)
{
    IR_KIND(ir)->branch(ir, condition, yes, no, odds);
}

static inline void ir_return(struct ir *ir)
{
    IR_KIND(ir)->leave(ir);
}

/* A call of a C function that takes a pointer, returns a truth and, on x86-64, keeps all registers
 * but rax and r11. */
static inline ir_value ir_call_keeping(struct ir *ir, const void *function, ir_value argument)
{
    return IR_KIND(ir)->call_keeping(ir, function, argument);
}

static inline bool ir_can_ask(const struct ir *ir)
{
    return IR_KIND(ir)->ask != NULL;
}

/* Ends an unlikely block: asks, and goes to `no` with an answer, else to `yes`. */
static inline void ir_ask(struct ir *ir, const struct ir_question *question, ir_block yes,
                          ir_block no)
{
    IR_KIND(ir)->ask(ir, question, yes, no);
}

/* Goes on in a function of the same kind, never to return here. */
static inline void ir_go(struct ir *ir, ir_value function, const ir_value *arguments)
{
    IR_KIND(ir)->go(ir, function, arguments);
}

#endif
