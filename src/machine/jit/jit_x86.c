/* Encoding: prefixes, opcode, operands, as the manual's chapter on instruction formats says. */
#include "machine/jit/jit_x86.h"

#include <cpuid.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

bool x86_host_supported(void)
{
    unsigned a, b, c, d;
    const unsigned fma = 1U << 12, movbe = 1U << 22, bmi = 1U << 3 | 1U << 8, lzcnt = 1U << 5;
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2")) return false;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & (fma | movbe)) != (fma | movbe)) return false;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (b & bmi) != bmi) return false;
    return __get_cpuid(0x80000001, &a, &b, &c, &d) && c & lzcnt;
}

void x86_begin(struct x86 *x)
{
    x->pieces[0].size = x->pieces[1].size = 0;
    x->piece = 0;
    x->label_count = x->jump_count = 0;
}

void x86_fini(struct x86 *x)
{
    free(x->pieces[0].bytes);
    free(x->pieces[1].bytes);
    free(x->labels);
    free(x->jumps);
}

size_t x86_size(const struct x86 *x)
{
    return x->pieces[0].size + x->pieces[1].size;
}

static size_t position(const struct x86 *x, unsigned piece, size_t at)
{
    return (piece ? x->pieces[0].size : 0) + at;
}

void x86_copy(const struct x86 *x, uint8_t *to)
{
    memcpy(to, x->pieces[0].bytes, x->pieces[0].size);
    if (x->pieces[1].size) memcpy(to + x->pieces[0].size, x->pieces[1].bytes, x->pieces[1].size);
    for (size_t i = 0; i < x->jump_count; i++) {
        const struct x86_label *label = &x->labels[x->jumps[i].label];
        size_t from = position(x, x->jumps[i].piece, x->jumps[i].at);
        int32_t by = (int32_t)((int64_t)position(x, label->piece, label->at) - (int64_t)(from + 4));
        memcpy(to + from, &by, 4);
    }
}

/* --- Bytes ----------------------------------------------------------------------------------- */

static void room(struct x86 *x)
{
    struct x86_piece *p = &x->pieces[x->piece];
    if (p->size + 32 > p->capacity) p->bytes = base_grow(p->bytes, &p->capacity, p->size + 32, 1);
}

/* There is room for an instruction. */
static inline void put(struct x86 *x, unsigned byte)
{
    struct x86_piece *p = &x->pieces[x->piece];
    p->bytes[p->size++] = (uint8_t)byte;
}

static void put_value(struct x86 *x, uint64_t value, unsigned bytes)
{
    for (; bytes; bytes--, value >>= 8)
        put(x, value & 0xFF);
}

void x86_byte(struct x86 *x, uint8_t byte)
{
    room(x);
    put(x, byte);
}

/* ModRM, SIB and displacement. */
static void put_operand(struct x86 *x, int reg, struct x86_at rm)
{
    unsigned r = ((unsigned)reg & 7) << 3, base = (unsigned)rm.reg & 7;
    if (!rm.is_memory) {
        put(x, 0xC0 | r | base);
        return;
    }
    bool sib = rm.index != NONE || base == RSP;
    unsigned mode = rm.disp == 0 && base != RBP ? 0 : rm.disp == (int8_t)rm.disp ? 1 : 2;
    put(x, mode << 6 | r | (sib ? 4 : base));
    if (sib) put(x, (rm.index == NONE ? 4 : (unsigned)rm.index & 7) << 3 | base);
    if (mode) put_value(x, (uint32_t)rm.disp, mode == 1 ? 1 : 4);
}

static const uint8_t prefixes[] = {0, 0x66, 0xF3, 0xF2};

void x86_op(struct x86 *x, unsigned opcode, int reg, struct x86_at rm)
{
    room(x);
    if (opcode & X86_PREFIX) put(x, prefixes[(opcode & X86_PREFIX) >> 10]);
    unsigned index = rm.index == NONE ? 0 : (unsigned)rm.index;
    unsigned rex = (opcode & X86_W ? 8 : 0) | ((unsigned)reg >> 3 & 1) << 2 | (index >> 3) << 1 |
                   (unsigned)rm.reg >> 3;
    bool byte = opcode & X86_BYTE && (reg >= RSP || (!rm.is_memory && rm.reg >= RSP));
    if (rex || byte) put(x, 0x40 | rex);
    if (opcode & X86_MAP) put(x, 0x0F);
    if ((opcode & X86_MAP) == X86_0F38) put(x, 0x38);
    if ((opcode & X86_MAP) == X86_0F3A) put(x, 0x3A);
    put(x, opcode & 0xFF);
    put_operand(x, reg, rm);
}

void x86_op_imm(struct x86 *x, unsigned opcode, int reg, struct x86_at rm, int32_t imm,
                unsigned imm_bytes)
{
    x86_op(x, opcode, reg, rm);
    put_value(x, (uint32_t)imm, imm_bytes);
}

void x86_vex(struct x86 *x, unsigned opcode, int reg, int second, struct x86_at rm)
{
    room(x);
    unsigned index = rm.index == NONE ? 0 : (unsigned)rm.index;
    unsigned r = (~(unsigned)reg >> 3 & 1) << 7,
             rest = (~(unsigned)second & 15) << 3 | (opcode & X86_PREFIX) >> 10;
    if ((opcode & (X86_MAP | X86_W)) == X86_0F && index < 8 && rm.reg < 8) { /* the short form */
        put(x, 0xC5);
        put(x, r | rest);
    } else {
        put(x, 0xC4);
        put(x, r | (~index >> 3 & 1) << 6 | (~(unsigned)rm.reg >> 3 & 1) << 5 |
                   (opcode & X86_MAP) >> 8);
        put(x, (opcode & X86_W ? 0x80 : 0) | rest);
    }
    put(x, opcode & 0xFF);
    put_operand(x, reg, rm);
}

void x86_vex_imm(struct x86 *x, unsigned opcode, int reg, int second, struct x86_at rm, uint8_t imm)
{
    x86_vex(x, opcode, reg, second, rm);
    put(x, imm);
}

void x86_push(struct x86 *x, int reg)
{
    room(x);
    if (reg >= R8) put(x, 0x41);
    put(x, 0x50 | ((unsigned)reg & 7));
}

void x86_pop(struct x86 *x, int reg)
{
    room(x);
    if (reg >= R8) put(x, 0x41);
    put(x, 0x58 | ((unsigned)reg & 7));
}

void x86_swap_bytes(struct x86 *x, bool wide, int reg)
{
    room(x);
    unsigned rex = (wide ? 8 : 0) | (unsigned)reg >> 3;
    if (rex) put(x, 0x40 | rex);
    put(x, 0x0F);
    put(x, 0xC8 | ((unsigned)reg & 7));
}

void x86_set(struct x86 *x, int reg, uint64_t value)
{
    room(x);
    if (value == (uint64_t)(int64_t)(int32_t)value && value > UINT32_MAX) {
        x86_op_imm(x, 0xC7 | X86_W, 0, x86_reg(reg), (int32_t)value, 4);
        return;
    }
    unsigned rex = (value > UINT32_MAX ? 8 : 0) | (unsigned)reg >> 3;
    if (rex) put(x, 0x40 | rex);
    put(x, 0xB8 | ((unsigned)reg & 7));
    put_value(x, value, value > UINT32_MAX ? 8 : 4);
}

/* --- Jumps ----------------------------------------------------------------------------------- */

unsigned x86_label(struct x86 *x)
{
    x->labels = base_grow(x->labels, &x->label_capacity, x->label_count + 1, sizeof *x->labels);
    x->labels[x->label_count] = (struct x86_label){0, SIZE_MAX};
    return (unsigned)x->label_count++;
}

void x86_place(struct x86 *x, unsigned label)
{
    x->labels[label] = (struct x86_label){x->piece, x->pieces[x->piece].size};
}

static void put_distance(struct x86 *x, unsigned label)
{
    x->jumps = base_grow(x->jumps, &x->jump_capacity, x->jump_count + 1, sizeof *x->jumps);
    x->jumps[x->jump_count++] = (struct x86_jump){x->piece, label, x->pieces[x->piece].size};
    put_value(x, 0, 4);
}

void x86_jump(struct x86 *x, unsigned label)
{
    room(x);
    put(x, 0xE9);
    put_distance(x, label);
}

void x86_jump_if(struct x86 *x, enum x86_condition condition, unsigned label)
{
    room(x);
    put(x, 0x0F);
    put(x, 0x80 | condition);
    put_distance(x, label);
}
