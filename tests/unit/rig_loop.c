#include "rig_loop.h"

#include <stddef.h>

#include "machine/fp/fp_fast.h"
#include "machine/jit/jit_impl.h"
#include "random.h"

static bool is_wanted(enum isa_id id, uint32_t word)
{
    if (isa_is_privileged(id, word) || isa_row(id)->flags & ISA_ENDS_BLOCK ||
        isa_is_invalid_form(id, word))
        return false;
    return !(id == ISA_MTSPR && isa_spr(word) == 9); /* CTR counts the rounds */
}

/* An instruction; one in fifty has no row, so that its block is interpreted. */
static uint32_t random_word(uint64_t *random)
{
    for (;;) {
        enum isa_id id = (enum isa_id)(1 + random_below(random, ISA_COUNT - 1));
        const struct isa_row *row = isa_row(id);
        uint32_t word = row->match | ((uint32_t)random_next(random) & ~row->mask);
        if (row->size && !(row->flags & ISA_INDEXED))
            word &= UINT32_C(0xFFFF80FF); /* displacements that stay near */
        if (is_wanted(id, word) && (emit_supports(word) || !random_below(random, 50))) return word;
    }
}

/* Floating point that looks at the FPSCR, and words that are stored and loaded again: few registers
 * and displacements, so that blocks change a register again and again and stop in between; f31 is
 * for what mffs read, r4 and r5 are addresses. */
static uint32_t random_word_of_few(uint64_t *random)
{
    static const enum isa_id ids[] = {
        ISA_FADD,   ISA_FSUB,  ISA_FMUL,  ISA_FDIV,   ISA_FMADD,  ISA_FNMSUB, ISA_FMADDS,
        ISA_FADDS,  ISA_FRSP,  ISA_FNEG,  ISA_FCTIWZ, ISA_FCTIWZ, ISA_FCMPU,  ISA_MFFS,
        ISA_MFFS,   ISA_MFFS,  ISA_MTFSF, ISA_MTFSFI, ISA_MTFSFI, ISA_MTFSFI, ISA_MTFSB0,
        ISA_MTFSB1, ISA_STW,   ISA_STW,   ISA_STW,    ISA_STFD,   ISA_STFD,   ISA_STFS,
        ISA_STH,    ISA_STFDU, ISA_LWZ,   ISA_LWZ,    ISA_LFD,    ISA_LFD,    ISA_LFD,
        ISA_LFS,    ISA_LFDX,  ISA_STWX,  ISA_FRES,   ISA_DCBZ,   ISA_ADDI,   ISA_ADD,
        ISA_SUBF,   ISA_ADDIC, ISA_XOR,   ISA_CMP,    ISA_LWZU,   ISA_XORIS};
    enum isa_id id = ids[random_below(random, sizeof ids / sizeof ids[0])];
    const struct isa_row *row = isa_row(id);
    uint32_t word = row->match | ((uint32_t)random_next(random) & ~row->mask & 0x00E17FFE);
    if (row->size && !(row->flags & ISA_INDEXED)) word &= UINT32_C(0xFFFF000C);
    if (row->size) word = (word & ~UINT32_C(0x00800000)) | 0x00040000;
    if (row->unit == ISA_UNIT_BASE) word &= ~UINT32_C(0x00800000);
    if (id == ISA_MFFS) word |= UINT32_C(31) << 21;
    if (id == ISA_XORIS) word = (word & UINT32_C(0xFFFF0000)) | 0x8000;
    if (id == ISA_MTFSF && random_below(random, 3))
        word = (word & ~UINT32_C(0xF800)) | 0xFF << 17 | 31 << 11;
    if (id == ISA_MTFSFI)
        word = row->match | (random_below(random, 4) ? 7U : 6U) << 23 |
               (uint32_t)random_below(random, 3) << 12;
    return word;
}

/* What compilers make of conversions, by memory: of a double to an integer and back (fctiwz, stfd,
 * lwz, xoris, two stw, lfd), of negated factors (fneg, fmadd twice), and both of what has changed
 * since (lfd, fmadd; lfd, stfd, lwz, stw, lfd). */
static uint32_t word_of_conversion(unsigned i, uint64_t *random)
{
    static const uint32_t words[] = {0xFC20101E, 0xD8240000, 0x80C40004, 0x6CC68000, 0x90C4000C,
                                     0x90E40008, 0xC8640008, 0xFCA01850, 0xFCC511FA, 0xFCC7117A,
                                     0xC8A40008, 0xFC8511FA, 0xC8240008, 0xD8240000, 0x80C40004,
                                     0x90C4000C, 0xC8640008};
    if (i >= sizeof words / sizeof words[0] || !random_below(random, 12))
        return random_word_of_few(random);
    return words[i] ^
           (i == 3 && !random_below(random, 5) ? (uint32_t)random_below(random, 16) << 12 : 0);
}

/* A loop with forward branches, behind it a trap. */
void rig_loop_write(uint8_t *code, uint64_t *random, bool few)
{
    for (unsigned i = 0; i < RIG_LOOP_BODY; i++) {
        uint32_t word = few ? word_of_conversion((i + 14) % 24, random) : random_word(random);
        if (i % (few ? 24 : 7) == 6) { /* bc over a few */
            uint32_t over =
                1 + (uint32_t)random_below(random, RIG_LOOP_BODY - i < 9 ? RIG_LOOP_BODY - i : 8);
            word = 0x40000000 | (uint32_t)(random_below(random, 2) ? 12 : 4) << 21 |
                   (uint32_t)random_below(random, 32) << 16 | over << 2;
        }
        mem_host_put32(code + (size_t)4 * i, word);
    }
    mem_host_put32(code + 4 * RIG_LOOP_BODY,
                   RIG_LOOP_BDNZ | (0xFFFC & (uint32_t)(-4 * RIG_LOOP_BODY)));
    mem_host_put32(code + 4 * RIG_LOOP_BODY + 4, RIG_LOOP_TRAP);
}

static double random_double(uint64_t *random)
{
    return ((double)(int64_t)random_next(random)) / (double)(1 + random_below(random, 1000000));
}

void rig_loop_state(struct core_regs *regs, uint64_t *random, bool few)
{
    *regs = (struct core_regs){.ctr = RIG_LOOP_ROUNDS, .msr = MSR_PR | MSR_FP};
    if (!random_below(random, 4)) regs->msr |= MSR_FE0;
    regs->fpscr =
        random_below(random, 3) ? FP_XX | FP_FX : fp_summarise((uint32_t)random_next(random));
    for (unsigned i = 0; i < 32; i++) {
        bool near = random_below(random, 2);
        uint32_t address =
            RIG_LOOP_DATA + 0x8000 + (uint32_t)random_below(random, near ? 0x200 : 0x7000) * 8;
        regs->gpr[i] = random_below(random, 5) ? address : (uint32_t)random_next(random);
        regs->fpr[i] =
            random_below(random, 5) ? fp_from_host(random_double(random)) : random_next(random);
        regs->fpr2[i] =
            random_below(random, 5) ? fp_from_host(random_double(random)) : random_next(random);
    }
    for (unsigned i = 0; few && i < 8; i++) {
        regs->gpr[i] = RIG_LOOP_DATA + 0x8000 + (uint32_t)random_below(random, 3) * 4;
        regs->fpr[i] = fp_from_host(((double)random_below(random, 40) - 20) /
                                    (double)(2 + random_below(random, 2)));
        if (!random_below(random, 6)) /* too large for fctiwz, or not quite */
            regs->fpr[i] = fp_from_host(2147483647 + (double)random_below(random, 4) / 2);
    }
    core_cr_set(regs, (uint32_t)random_next(random));
}
