/* Making host code: a function at a time, from values, variables and blocks.
 *
 * This is all that the translator sees of LLVM, whose library is loaded when the first function is made and whose
 * headers only jit_ir.c includes. A value has a type and is made once; a variable can be set anywhere and becomes
 * registers; a block is a piece of code that others jump to. Memory is addressed by a pointer value and an offset.
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

enum ir_type { IR_I1, IR_I8, IR_I16, IR_I32, IR_I64, IR_F32, IR_F64, IR_POINTER, IR_NOTHING, IR_TYPES };

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
enum ir_convert { IR_ZEXT, IR_SEXT, IR_TRUNC, IR_BITS, IR_WIDEN, IR_NARROW, IR_TO_SIGNED, IR_FROM_SIGNED };

/* Why there is none, or NULL. Loads the library the first time. */
const char *ir_unavailable(void);
/* NULL with a reason when the library cannot be had. */
struct ir_maker *ir_maker_new(const char **reason);
void ir_maker_free(struct ir_maker *maker);

/* A function of `arguments` pointers and 64-bit integers (given as 'p' and 'l') that returns nothing. */
struct ir *ir_begin(struct ir_maker *maker, const char *arguments);
/* Compiles it and frees `ir`; NULL when that failed. */
struct ir_code *ir_finish(struct ir *ir);
void *ir_code_entry(const struct ir_code *code);
size_t ir_code_size(const struct ir_code *code); /* about how much memory it takes */
void ir_code_free(struct ir_maker *maker, struct ir_code *code);

ir_value ir_argument(struct ir *ir, unsigned n);
ir_value ir_const(struct ir *ir, enum ir_type type, uint64_t value);
ir_value ir_address(struct ir *ir, const void *p);
ir_value ir_op(struct ir *ir, enum ir_binary op, ir_value a, ir_value b);
ir_value ir_test(struct ir *ir, enum ir_test test, ir_value a, ir_value b);
ir_value ir_order(struct ir *ir, enum ir_order order, ir_value a, ir_value b);
ir_value ir_select(struct ir *ir, ir_value condition, ir_value a, ir_value b);
ir_value ir_convert(struct ir *ir, enum ir_convert how, enum ir_type to, ir_value v);
ir_value ir_negate(struct ir *ir, ir_value v); /* of a float */
ir_value ir_fma(struct ir *ir, ir_value x, ir_value y, ir_value z);
ir_value ir_swap(struct ir *ir, ir_value v); /* the bytes of an integer */
ir_value ir_leading_zeros(struct ir *ir, ir_value v);
ir_value ir_rotate(struct ir *ir, ir_value v, ir_value left); /* 32 bits */

ir_value ir_offset(struct ir *ir, ir_value base, ir_value by); /* a pointer, by 64 bits */
/* At `base` plus `index` (64 bits; NULL: 0) plus `offset`. No alignment is assumed. */
ir_value ir_load(struct ir *ir, enum ir_type type, ir_value base, ir_value index, uint64_t offset);
void ir_store(struct ir *ir, ir_value v, ir_value base, ir_value index, uint64_t offset);

/* A variable whose first value is in memory at `base` + `offset` when the function begins. */
ir_variable ir_variable_new(struct ir *ir, enum ir_type type, ir_value base, uint64_t offset);
ir_variable ir_variable_of(struct ir *ir, ir_value first);
ir_value ir_get(struct ir *ir, enum ir_type type, ir_variable variable);
void ir_set(struct ir *ir, ir_variable variable, ir_value v);

ir_block ir_block_new(struct ir *ir);
void ir_place(struct ir *ir, ir_block block); /* what follows goes there */
ir_block ir_here(struct ir *ir);
void ir_jump(struct ir *ir, ir_block block);
enum ir_odds { IR_EVEN, IR_LIKELY, IR_UNLIKELY };
void ir_branch(struct ir *ir, ir_value condition, ir_block yes, ir_block no, enum ir_odds odds);
void ir_return(struct ir *ir);
/* A call of a C function that takes a pointer, returns a truth and, on x86-64, keeps all registers but rax and r11. */
ir_value ir_call_keeping(struct ir *ir, const void *function, ir_value argument);
/* Goes on in a function of the same kind, never to return here. */
void ir_go(struct ir *ir, ir_value function, const ir_value *arguments);

#endif
