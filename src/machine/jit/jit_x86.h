/* Assembler: encodes the x86-64 instructions that the back end (jit_backend.h) uses, with AVX2,
 * BMI, FMA, LZCNT and MOVBE. x86_host_supported says whether this host has them.
 *
 * Code is written into two pieces, the hot code and the cold code, which follow each other in
 * memory. Jumps go to labels, which may be placed later.
 */
#ifndef JIT_X86_H
#define JIT_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15, NONE = -1 };

/* A register (its number; vector registers too), or memory at base + index + disp. */
struct x86_at {
    bool is_memory;
    int reg, index;
    int32_t disp;
};
static inline struct x86_at x86_reg(int reg)
{
    return (struct x86_at){false, reg, NONE, 0};
}
static inline struct x86_at x86_mem(int base, int index, int32_t disp)
{
    return (struct x86_at){true, base, index, disp};
}

enum x86_condition {
    CC_B = 2,
    CC_AE,
    CC_E,
    CC_NE,
    CC_BE,
    CC_A,
    CC_S,
    CC_P = 10,
    CC_NP,
    CC_L,
    CC_GE,
    CC_LE,
    CC_G
};

/* An opcode: the byte, its map and prefix, and whether operands have 64 bits. */
#define X86_0F     0x100u
#define X86_0F38   0x200u
#define X86_0F3A   0x300u
#define X86_MAP    0x300u
#define X86_66     0x400u
#define X86_F3     0x800u
#define X86_F2     0xC00u
#define X86_PREFIX 0xC00u
#define X86_W      0x1000u
#define X86_BYTE   0x2000u /* the register is a byte */

struct x86_piece {
    uint8_t *bytes;
    size_t size, capacity;
};

struct x86 {
    struct x86_piece pieces[2];
    unsigned piece; /* that is written: 0 hot, 1 cold */
    struct x86_label {
        unsigned piece;
        size_t at; /* SIZE_MAX: not yet placed */
    } * labels;
    struct x86_jump {
        unsigned piece, label;
        size_t at; /* of its 4 bytes */
    } * jumps;
    size_t label_count, label_capacity, jump_count, jump_capacity;
};

bool x86_host_supported(void);
void x86_begin(struct x86 *x); /* empty; keeps its memory */
void x86_fini(struct x86 *x);
size_t x86_size(const struct x86 *x);
void x86_copy(const struct x86 *x, uint8_t *to); /* with its jumps resolved */

void x86_op(struct x86 *x, unsigned opcode, int reg, struct x86_at rm);
void x86_op_imm(struct x86 *x, unsigned opcode, int reg, struct x86_at rm, int32_t imm,
                unsigned imm_bytes);
void x86_vex(struct x86 *x, unsigned opcode, int reg, int second, struct x86_at rm);
void x86_vex_imm(struct x86 *x, unsigned opcode, int reg, int second, struct x86_at rm,
                 uint8_t imm);
void x86_byte(struct x86 *x, uint8_t byte);
void x86_push(struct x86 *x, int reg);
void x86_pop(struct x86 *x, int reg);
void x86_swap_bytes(struct x86 *x, bool wide, int reg);
void x86_set(struct x86 *x, int reg, uint64_t value); /* leaves the flags alone */
unsigned x86_label(struct x86 *x);
void x86_place(struct x86 *x, unsigned label);
void x86_jump(struct x86 *x, unsigned label);
void x86_jump_if(struct x86 *x, enum x86_condition condition, unsigned label);

#endif
