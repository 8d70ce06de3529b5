/* The intermediate representation (IR) between the translator and its back end.
 *
 * The translator builds one function at a time: values, variables and blocks. A value has a type
 * and is computed once. A variable may be set anywhere and lives in a register where possible. A
 * block is a piece of code that others jump to. Memory is addressed by a pointer value, an
 * optional index and an offset. The x86-64 back end (jit_backend.h) turns the function into host
 * code in 2 to 4 microseconds per guest instruction. There is no other: on other hosts guests are
 * interpreted (none.c).
 *
 * A struct ir belongs to one thread. The code it generates may run on any.
 */
#ifndef JIT_IR_H
#define JIT_IR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ir;      /* the back end, and the function it is building */
struct ir_code; /* a function as host code */
typedef struct ir_value *ir_value;
typedef struct ir_block *ir_block;
typedef struct ir_variable *ir_variable;

enum ir_type { IR_I1, IR_I8, IR_I16, IR_I32, IR_I64, IR_F32, IR_F64, IR_POINTER };

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

/* A call of a fast-path routine with its own calling convention (jit_miss.c). Its arguments are
 * `number` (32 bits), rotated right by `shift` and masked, and the time. `pointer` is the routine's
 * struct; the routine's address is at offset `code` there. It adds a stall to the time, or its
 * result is stored at offset `stall` of the core. */
struct ir_probe {
    uint64_t code;
    ir_value pointer, number;
    unsigned shift;
    uint32_t mask;
    ir_variable time;
    uint64_t stall;
};

/* Nanoseconds that code generation takes for a guest instruction, about. */
enum { IR_NANOSECONDS = 5000 };

/* Why this host cannot run generated code; NULL when it can. */
const char *ir_unavailable(void);
struct ir *ir_new(void); /* NULL when the host cannot */
void ir_free(struct ir *ir);

/* The arguments of every generated function, in order. Their registers are fixed, so that one
 * function continues in another by a jump (ir_go). */
enum ir_argument { IR_CORE, IR_REGS, IR_BASE, IR_LINES, IR_TIME, IR_ARGUMENTS };

void ir_begin(struct ir *ir); /* a function, which returns nothing */
/* Generates its code; NULL when that fails. */
struct ir_code *ir_finish(struct ir *ir);
/* Its address for C, */
void *ir_code_entry(const struct ir_code *code);

/* for ir_go, */
void *ir_code_target(const struct ir_code *code);

/* and about how much memory it takes. */
size_t ir_code_size(const struct ir_code *code);
void ir_code_free(struct ir_code *code);
ir_value ir_argument(struct ir *ir, enum ir_argument argument);
/* Memory that others change: `offset` bytes behind IR_CORE, 64 bits. Read at every use. */
ir_value ir_shared(struct ir *ir, size_t offset);
ir_value ir_const(struct ir *ir, enum ir_type type, uint64_t value);
ir_value ir_address(struct ir *ir, const void *p);
ir_value ir_op(struct ir *ir, enum ir_binary op, ir_value a, ir_value b);
ir_value ir_test(struct ir *ir, enum ir_test test, ir_value a, ir_value b);
ir_value ir_order(struct ir *ir, enum ir_order order, ir_value a, ir_value b);

/* 8, 4 or 2, in 32 bits: a is less than b, greater, or equal. Of integers, or of floats that are
 * ordered. */
ir_value ir_compare(struct ir *ir, bool is_signed, ir_value a, ir_value b);
ir_value ir_select(struct ir *ir, ir_value condition, ir_value a, ir_value b);
ir_value ir_convert(struct ir *ir, enum ir_convert how, enum ir_type to, ir_value v);

/* of a float */
ir_value ir_negate(struct ir *ir, ir_value v);
ir_value ir_fma(struct ir *ir, ir_value x, ir_value y, ir_value z);

/* the bytes of an integer or double */
ir_value ir_swap(struct ir *ir, ir_value v);

/* A double's integer part, as the lower word of a double. */
ir_value ir_whole(struct ir *ir, ir_value v);

/* Such a word with its sign in all bits above. */
ir_value ir_widen(struct ir *ir, ir_value v);

/* The double that consists of the word `high` and the lower one of the double `low`, with another
 * sign if `flip`. */
ir_value ir_words(struct ir *ir, ir_value high, ir_value low, bool flip);
ir_value ir_leading_zeros(struct ir *ir, ir_value v);

/* 32 bits */
ir_value ir_rotate(struct ir *ir, ir_value v, ir_value left);

/* a pointer, by 64 bits */
ir_value ir_offset(struct ir *ir, ir_value base, ir_value by);

/* At `base` plus `index` (64 bits; NULL: 0) plus `offset`. No alignment is assumed. */
ir_value ir_load(struct ir *ir, enum ir_type type, ir_value base, ir_value index, uint64_t offset);
void ir_store(struct ir *ir, ir_value v, ir_value base, ir_value index, uint64_t offset);

/* The host may fetch what is there; it need not be mapped. */
void ir_prefetch(struct ir *ir, ir_value base, ir_value index);

/* 64 bits */
void ir_increment(struct ir *ir, ir_value base, uint64_t offset);

/* A variable whose first value is in memory at `base` + `offset` when the function begins. Who sets
 * it stores the value there next. */
ir_variable ir_variable_new(struct ir *ir, enum ir_type type, ir_value base, uint64_t offset);
ir_variable ir_variable_of(struct ir *ir, ir_value first);
ir_value ir_get(struct ir *ir, enum ir_type type, ir_variable variable);
void ir_set(struct ir *ir, ir_variable variable, ir_value v);

/* C has changed its memory. */
void ir_reload(struct ir *ir, enum ir_type type, ir_variable variable, ir_value base,
               uint64_t offset);
ir_block ir_block_new(struct ir *ir);

/* One that may be jumped to from anywhere, as no value of another block is used there, only
 * variables. `weight`: about how often it runs, 0 for one that leads out. */
ir_block ir_head_new(struct ir *ir, uint64_t weight);

/* what follows goes there */
void ir_place(struct ir *ir, ir_block block);
ir_block ir_here(struct ir *ir);
void ir_jump(struct ir *ir, ir_block block);
void ir_branch(struct ir *ir, ir_value condition, ir_block yes, ir_block no, enum ir_odds odds);
void ir_return(struct ir *ir);

/* Calls a C function that takes the core, returns a truth and keeps all registers but rax and r11
 * (jit_run.c). */
ir_value ir_call(struct ir *ir, const void *function);
/* Ends a block: calls the routine; continues at `yes` when it has handled the access, else at `no`.
 */
void ir_probe(struct ir *ir, const struct ir_probe *probe, ir_block yes, ir_block no);

/* Continues in another generated function, with the same arguments, and never returns. */
void ir_go(struct ir *ir, ir_value function);
#endif
