/* Assembler text. The basic syntax follows the rows: mnemonic, then the operands in the row's
 * order. The simplified syntax tries a table of aliases first and falls back on the basic one;
 * branches have their own few lines, since their mnemonic is made from BO and BI. */
#include "machine/isa/isa.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A buffer that is written as snprintf does: never past its end, but counting on. */
struct text {
    char *buffer;
    size_t size;
    size_t length;
};

static struct text text_into(char *buffer, size_t size)
{
    struct text text = {.size = size};
    text.buffer = buffer;
    return text;
}

__attribute__((format(printf, 2, 3))) static void text_add(struct text *text, const char *format,
                                                           ...)
{
    size_t used = text->length < text->size ? text->length : text->size;
    va_list args;
    va_start(args, format);
    int added =
        vsnprintf(used < text->size ? text->buffer + used : NULL, text->size - used, format, args);
    va_end(args);
    if (added > 0) text->length += (size_t)added;
}

static void text_name(struct text *text, const char *name, bool operands)
{
    text_add(text, operands ? "%-7s " : "%s", name);
}

static void text_cr_bit(struct text *text, unsigned bit)
{
    static const char *const names[] = {"lt", "gt", "eq", "so"};
    if (bit >= 4) text_add(text, "4*cr%u+", bit / 4);
    text_add(text, "%s", names[bit % 4]);
}

static void text_operand(struct text *text, const struct isa_operand_row *operand, uint32_t word,
                         uint32_t pc)
{
    unsigned bits = operand->last - operand->first + 1U;
    unsigned value = isa_bits(word, operand->first, operand->last);
    uint32_t offset = (uint32_t)isa_sign_extend(value, bits) * 4;
    switch ((enum isa_kind)operand->kind) {
    case ISA_KIND_NUMBER: text_add(text, "%u", value); break;
    case ISA_KIND_NUMBER_0_IS_32: text_add(text, "%u", value ? value : 32); break;
    case ISA_KIND_SIGNED: text_add(text, "%d", (int)isa_sign_extend(value, bits)); break;
    case ISA_KIND_SWAPPED: text_add(text, "%u", isa_spr(word)); break;
    case ISA_KIND_GPR: text_add(text, "r%u", value); break;
    case ISA_KIND_GPR_OR_0: text_add(text, value ? "r%u" : "%u", value); break;
    case ISA_KIND_BASE: text_add(text, value ? "(r%u)" : "(%u)", value); break;
    case ISA_KIND_FPR: text_add(text, "f%u", value); break;
    case ISA_KIND_CR_FIELD: text_add(text, "cr%u", value); break;
    case ISA_KIND_CR_BIT: text_cr_bit(text, value); break;
    case ISA_KIND_TARGET: text_add(text, "0x%x", pc + offset); break;
    case ISA_KIND_TARGET_ABSOLUTE: text_add(text, "0x%x", offset); break;
    }
}

static void text_operands(struct text *text, uint32_t operands, uint32_t word, uint32_t pc)
{
    for (unsigned i = 0; i < ISA_OPERANDS_MAX; i++, operands >>= ISA_OPERAND_BITS) {
        unsigned id = operands & ((1 << ISA_OPERAND_BITS) - 1);
        if (id == ISA_OP_NONE) break;
        const struct isa_operand_row *operand = isa_operand_row((enum isa_operand)id);
        if (i > 0 && operand->kind != ISA_KIND_BASE) text_add(text, ",");
        text_operand(text, operand, word, pc);
    }
}

static int text_word(struct text *text, uint32_t word, uint32_t pc)
{
    enum isa_id id = isa_decode(word);
    if (id == ISA_ILLEGAL) {
        text_add(text, ".long 0x%x", word);
    } else {
        const struct isa_row *row = isa_row(id);
        text_name(text, row->name, row->operands != 0);
        text_operands(text, row->operands, word, pc);
    }
    return (int)text->length;
}

int isa_disassemble(uint32_t word, uint32_t pc, char *buffer, size_t size)
{
    struct text text = text_into(buffer, size);
    return text_word(&text, word, pc);
}

enum { BO_ALWAYS = 20 };

/* Aliases with a fixed encoding. SAME_RB: RS and RB must be the same register, which the alias
 * names once. */
#define OPERAND(a, place) ((uint32_t)ISA_OP_##a << (place)*ISA_OPERAND_BITS)
#define OPS1(a)           OPERAND(a, 0)
#define OPS2(a, b)        (OPERAND(a, 0) | OPERAND(b, 1))
#define OPS3(a, b, c)     (OPERAND(a, 0) | OPERAND(b, 1) | OPERAND(c, 2))

static const struct alias {
    const char *name;
    uint32_t match, mask;
    uint32_t operands;
    bool same_rb;
} aliases[] = {
    {"nop", 0x60000000, 0xffffffff, 0, false},
    {"li", 0x38000000, 0xfc1f0000, OPS2(RT, SI), false},
    {"lis", 0x3c000000, 0xfc1f0000, OPS2(RT, SI), false},
    {"mr", 0x7c000378, 0xfc0007ff, OPS2(RAW, RS), true},
    {"mr.", 0x7c000379, 0xfc0007ff, OPS2(RAW, RS), true},
    {"not", 0x7c0000f8, 0xfc0007ff, OPS2(RAW, RS), true},
    {"not.", 0x7c0000f9, 0xfc0007ff, OPS2(RAW, RS), true},
    {"mflr", 0x7c0802a6, 0xfc1fffff, OPS1(RT), false},
    {"mtlr", 0x7c0803a6, 0xfc1fffff, OPS1(RS), false},
    {"mfctr", 0x7c0902a6, 0xfc1fffff, OPS1(RT), false},
    {"mtctr", 0x7c0903a6, 0xfc1fffff, OPS1(RS), false},
    {"mfxer", 0x7c0102a6, 0xfc1fffff, OPS1(RT), false},
    {"mtxer", 0x7c0103a6, 0xfc1fffff, OPS1(RS), false},
    {"mtcr", 0x7c0ff120, 0xfc1fffff, OPS1(RS), false},
    {"cmpwi", 0x2c000000, 0xffe00000, OPS2(RA, SI), false},
    {"cmpwi", 0x2c000000, 0xfc600000, OPS3(BF, RA, SI), false},
    {"cmplwi", 0x28000000, 0xffe00000, OPS2(RA, UI), false},
    {"cmplwi", 0x28000000, 0xfc600000, OPS3(BF, RA, UI), false},
    {"cmpw", 0x7c000000, 0xffe007ff, OPS2(RA, RB), false},
    {"cmpw", 0x7c000000, 0xfc6007ff, OPS3(BF, RA, RB), false},
    {"cmplw", 0x7c000040, 0xffe007ff, OPS2(RA, RB), false},
    {"cmplw", 0x7c000040, 0xfc6007ff, OPS3(BF, RA, RB), false},
    {"trap", 0x7fe00008, 0xffffffff, 0, false},
};

/* "bdnz", "beq", "b": the mnemonic of a branch without its ending; false when BO has no simplified
 * name. */
static bool branch_name(unsigned bo, unsigned bi, char name[8])
{
    static const char *const when[2][4] = {{"ge", "le", "ne", "ns"}, {"lt", "gt", "eq", "so"}};
    const char *end = NULL;
    if (!isa_bo_uses_ctr(bo) && isa_bo_uses_cr(bo))
        end = when[bo >> 3 & 1][bi % 4];
    else if (isa_bo_uses_ctr(bo) && !isa_bo_uses_cr(bo) && bi == 0)
        end = bo & 0x02 ? "dz" : "dnz";
    else if (bo == BO_ALWAYS && bi == 0)
        end = "";
    if (!end) return false;
    snprintf(name, 8, "b%s", end);
    return true;
}

/* bc, bclr and bcctr with their LK and AA forms. The "+" or "-" is what the processor predicts:
 * taken for a branch backwards, not taken otherwise, the other way round if the last bit of BO is
 * set. */
static bool text_branch(struct text *text, enum isa_id id, uint32_t word, uint32_t pc)
{
    static const struct {
        const char *ending;
        enum isa_id id;
        enum isa_operand target;
    } branches[] = {
        {"", ISA_BC, ISA_OP_BD},         {"l", ISA_BCL, ISA_OP_BD},
        {"a", ISA_BCA, ISA_OP_BDA},      {"la", ISA_BCLA, ISA_OP_BDA},
        {"lr", ISA_BCLR, ISA_OP_NONE},   {"lrl", ISA_BCLRL, ISA_OP_NONE},
        {"ctr", ISA_BCCTR, ISA_OP_NONE}, {"ctrl", ISA_BCCTRL, ISA_OP_NONE},
    };
    for (size_t i = 0; i < sizeof branches / sizeof branches[0]; i++) {
        if (branches[i].id != id) continue;
        unsigned bo = isa_rt(word), bi = isa_ra(word);
        bool has_target = branches[i].target != ISA_OP_NONE;
        char name[8], full[16];
        if (isa_is_invalid_form(id, word) || !branch_name(bo, bi, name)) return false;
        if (bo == BO_ALWAYS && has_target) return false; /* b does that */
        bool taken = (has_target && isa_bd(word) < 0) != (bo & 1);
        snprintf(full, sizeof full, "%s%s%s", name, branches[i].ending,
                 bo == BO_ALWAYS ? ""
                 : taken         ? "+"
                                 : "-");
        unsigned field = isa_bo_uses_cr(bo) ? bi / 4 : 0;
        text_name(text, full, field || has_target);
        if (field) text_add(text, "cr%u%s", field, has_target ? "," : "");
        text_operands(text, branches[i].target, word, pc);
        return true;
    }
    return false;
}

int isa_disassemble_simplified(uint32_t word, uint32_t pc, char *buffer, size_t size)
{
    struct text text = text_into(buffer, size);
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
        const struct alias *alias = &aliases[i];
        if ((word & alias->mask) != alias->match ||
            (alias->same_rb && isa_rt(word) != isa_rb(word)))
            continue;
        text_name(&text, alias->name, alias->operands != 0);
        text_operands(&text, alias->operands, word, pc);
        return (int)text.length;
    }
    if (text_branch(&text, isa_decode(word), word, pc)) return (int)text.length;
    return text_word(&text, word, pc);
}
