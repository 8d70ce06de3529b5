/* What an instruction word reads and writes, and which words are privileged or invalid forms: what
 * follows from a row and its operands together. The rows give the rule, this file the few
 * exceptions that depend on a field's value: BO (does the branch use CTR and CR?), the SPR number,
 * and the ranges of the multiple and string instructions. */
#include "machine/isa/isa.h"

#include <string.h>

enum { SPR_XER = 1, SPR_LR = 8, SPR_CTR = 9, SPR_PRIVILEGED = 0x10 };
enum { XER_ALL = ISA_SPECIAL_CA | ISA_SPECIAL_OV | ISA_SPECIAL_COUNT, STRING_BYTES_MAX = 127 };

static uint32_t register_bit(unsigned number)
{
    return UINT32_C(1) << number;
}

static uint8_t cr_field_bit(unsigned field)
{
    return (uint8_t)(0x80 >> field);
}

static uint8_t spr_special(unsigned spr)
{
    return spr == SPR_XER   ? XER_ALL
           : spr == SPR_LR  ? ISA_SPECIAL_LR
           : spr == SPR_CTR ? ISA_SPECIAL_CTR
                            : 0;
}

static void add_operand(struct isa_deps *deps, const struct isa_operand_row *operand, uint32_t word)
{
    unsigned value = isa_bits(word, operand->first, operand->last);
    switch ((enum isa_role)operand->role) {
    case ISA_ROLE_NONE: break;
    case ISA_ROLE_GPR_READ: deps->gpr_read |= register_bit(value); break;
    case ISA_ROLE_GPR_READ_OR_0: deps->gpr_read |= value ? register_bit(value) : 0; break;
    case ISA_ROLE_GPR_WRITE: deps->gpr_write |= register_bit(value); break;
    case ISA_ROLE_GPR_BOTH:
        deps->gpr_read |= register_bit(value);
        deps->gpr_write |= register_bit(value);
        break;
    case ISA_ROLE_FPR_READ: deps->fpr_read |= register_bit(value); break;
    case ISA_ROLE_FPR_WRITE: deps->fpr_write |= register_bit(value); break;
    case ISA_ROLE_CR_FIELD_READ: deps->cr_read |= cr_field_bit(value); break;
    case ISA_ROLE_CR_FIELD_WRITE: deps->cr_write |= cr_field_bit(value); break;
    case ISA_ROLE_CR_BIT_READ: deps->cr_read |= cr_field_bit(value / 4); break;
    case ISA_ROLE_CR_BIT_READ_BO:
        deps->cr_read |= isa_bo_uses_cr(isa_rt(word)) ? cr_field_bit(value / 4) : 0;
        break;
    case ISA_ROLE_CR_BIT_WRITE: /* the field's other bits stay */
        deps->cr_read |= cr_field_bit(value / 4);
        deps->cr_write |= cr_field_bit(value / 4);
        break;
    case ISA_ROLE_CR_MASK_WRITE: deps->cr_write |= (uint8_t)value; break;
    case ISA_ROLE_SPR_READ: deps->special_read |= spr_special(isa_spr(word)); break;
    case ISA_ROLE_SPR_WRITE: deps->special_write |= spr_special(isa_spr(word)); break;
    }
}

static void add_flags(struct isa_deps *deps, uint32_t flags)
{
    static const struct {
        uint32_t flag;
        uint8_t read, write;
    } specials[] = {
        {ISA_RC, ISA_SPECIAL_OV, 0}, /* CR0 takes a copy of XER[SO] */
        {ISA_OV_READ, ISA_SPECIAL_OV, 0},
        {ISA_OE, ISA_SPECIAL_OV, ISA_SPECIAL_OV}, /* SO is sticky */
        {ISA_CA_READ, ISA_SPECIAL_CA, 0},
        {ISA_CA_WRITE, 0, ISA_SPECIAL_CA},
        {ISA_COUNT_READ, ISA_SPECIAL_COUNT, 0},
        {ISA_COUNT_WRITE, 0, ISA_SPECIAL_COUNT},
        {ISA_LR_READ, ISA_SPECIAL_LR, 0},
        {ISA_LR_WRITE, 0, ISA_SPECIAL_LR},
        {ISA_CTR_READ, ISA_SPECIAL_CTR, 0},
        {ISA_CTR_WRITE, 0, ISA_SPECIAL_CTR},
        {ISA_FPSCR_READ, ISA_SPECIAL_FPSCR, 0},
        {ISA_FPSCR_WRITE, 0, ISA_SPECIAL_FPSCR},
    };
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++) {
        if (!(flags & specials[i].flag)) continue;
        deps->special_read |= specials[i].read;
        deps->special_write |= specials[i].write;
    }
    if (flags & ISA_RC) deps->cr_write |= cr_field_bit(0);
    if (flags & ISA_RC1) deps->cr_write |= cr_field_bit(1);
    if (flags & ISA_CR_READ) deps->cr_read = UINT8_MAX;
}

void isa_deps(enum isa_id id, uint32_t word, struct isa_deps *deps)
{
    const struct isa_row *row = isa_row(id);
    uint32_t flags = row->flags;
    memset(deps, 0, sizeof *deps);
    /* bc and bclr count CTR down unless BO says not to; bcctr reads it as its target in any case.
     */
    if ((flags & ISA_CTR_WRITE) && !isa_bo_uses_ctr(isa_rt(word)))
        flags &= ~(uint32_t)(ISA_CTR_READ | ISA_CTR_WRITE);
    add_flags(deps, flags);
    for (unsigned i = 0; i < ISA_OPERANDS_MAX && isa_row_operand(row, i) != ISA_OP_NONE; i++)
        add_operand(deps, isa_operand_row(isa_row_operand(row, i)), word);
    if (flags & ISA_MULTIPLE) {
        unsigned words = isa_words_moved(id, word, STRING_BYTES_MAX);
        for (unsigned i = 0; i < words; i++)
            *(row->klass == ISA_CLASS_LOAD ? &deps->gpr_write : &deps->gpr_read) |=
                register_bit((isa_rt(word) + i) % 32);
    }
}

unsigned isa_words_moved(enum isa_id id, uint32_t word, unsigned count)
{
    const struct isa_row *row = isa_row(id);
    if (!(row->flags & ISA_MULTIPLE)) return 0;
    if (id == ISA_LMW || id == ISA_STMW) return 32 - isa_rt(word);
    return ((row->flags & ISA_COUNT_READ ? count : isa_nb(word)) + 3) / 4;
}

bool isa_is_privileged(enum isa_id id, uint32_t word)
{
    if (id == ISA_MFSPR || id == ISA_MTSPR) return isa_spr(word) & SPR_PRIVILEGED;
    return isa_row(id)->flags & ISA_PRIVILEGED;
}

/* The bits of BO that must be 0 ("z" in the manuals): each depends on what the others say is
 * ignored. */
static bool bo_has_z(unsigned bo)
{
    unsigned z = 0;
    if (!isa_bo_uses_ctr(bo)) z |= 0x02;
    if (!isa_bo_uses_cr(bo)) z |= 0x08;
    if (!isa_bo_uses_ctr(bo) && !isa_bo_uses_cr(bo)) z |= 0x01;
    return bo & z;
}

bool isa_is_invalid_form(enum isa_id id, uint32_t word)
{
    const struct isa_row *row = isa_row(id);
    unsigned rt = isa_rt(word), ra = isa_ra(word), rb = isa_rb(word);
    if (row->flags & ISA_UPDATE) return ra == 0 || (row->klass == ISA_CLASS_LOAD && ra == rt);
    switch (id) {
    case ISA_LMW: return ra >= rt;
    case ISA_LSWI: return (ra - rt) % 32 < isa_words_moved(id, word, 0);
    case ISA_LSWX: return ra == rt || rb == rt; /* the rest depends on XER */
    case ISA_BC:
    case ISA_BCL:
    case ISA_BCA:
    case ISA_BCLA:
    case ISA_BCLR:
    case ISA_BCLRL: return bo_has_z(rt);
    case ISA_BCCTR:
    case ISA_BCCTRL: return bo_has_z(rt) || isa_bo_uses_ctr(rt);
    default: return false;
    }
}
