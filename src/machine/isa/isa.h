/* The instruction set: PowerPC 440 with its FPU, and the two-pipe FPU ("FP2", double hummer) of
 * Blue Gene.
 *
 * One table, isa.def, has one row per instruction; everything here is made from it: the
 * identifiers, the decoder, the disassembler, and for others the timing, the signal weights, the
 * interpreter's dispatch and the tests. docs/isa.md says how to read and extend it and which
 * decisions it rests on.
 *
 * All tables are constant; nothing here allocates, prints or keeps state, so every function may be
 * called from any thread. A word is an instruction as a number (big-endian memory order already
 * undone). PowerPC numbers bits from the most significant, 0, to the least, 31: isa_bits() is the
 * only place that knows.
 *
 * Terms: docs/glossary.md
 */
#ifndef ISA_ISA_H
#define ISA_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ISA_ILLEGAL is 0; the others follow in the order of isa.def. */
enum isa_id {
    ISA_ILLEGAL,
#define ISA_ROW(id, ...) ISA_##id,
#include "machine/isa/isa.def"
    ISA_COUNT
};

/* What a machine must have for the instruction to exist. A machine's set is the or of
 * isa_unit_bit(). */
enum isa_unit {
#define ISA_UNIT(id, name) ISA_UNIT_##id,
#include "machine/isa/isa.def"
    ISA_UNIT_COUNT
};

/* What it counts as, finer than the Blue Gene/P events; isa_class_event() maps it to them. */
enum isa_class {
#define ISA_CLASS(id, name, event, event_j) ISA_CLASS_##id,
#include "machine/isa/isa.def"
    ISA_CLASS_COUNT
};

enum isa_timing {
#define ISA_TIMING(id, pipe, latency, occupancy) ISA_TIMING_##id,
#include "machine/isa/isa.def"
    ISA_TIMING_COUNT
};

/* I complex integer and branch, J simple integer, L load/store, F floating point; IJ either of the
 * two, FI both. */
enum isa_pipe { ISA_PIPE_I, ISA_PIPE_IJ, ISA_PIPE_L, ISA_PIPE_F, ISA_PIPE_FI };

enum isa_operand {
#define ISA_OPERAND(id, first, last, kind, role) ISA_OP_##id,
#include "machine/isa/isa.def"
    ISA_OP_COUNT
};

/* How an operand's field is read and printed. */
enum isa_kind {
    ISA_KIND_NUMBER,
    ISA_KIND_NUMBER_0_IS_32,
    ISA_KIND_SIGNED,
    ISA_KIND_SWAPPED, /* SPR and DCR numbers: the two five-bit halves are swapped */
    ISA_KIND_GPR,
    ISA_KIND_GPR_OR_0, /* register 0 means the number 0 */
    ISA_KIND_BASE,     /* the same, printed in parentheses after a displacement */
    ISA_KIND_FPR,
    ISA_KIND_CR_FIELD,
    ISA_KIND_CR_BIT,
    ISA_KIND_TARGET, /* a word offset from the instruction */
    ISA_KIND_TARGET_ABSOLUTE,
};

/* What an operand does to a register. */
enum isa_role {
    ISA_ROLE_NONE,
    ISA_ROLE_GPR_READ,
    ISA_ROLE_GPR_READ_OR_0,
    ISA_ROLE_GPR_WRITE,
    ISA_ROLE_GPR_BOTH,
    ISA_ROLE_FPR_READ,
    ISA_ROLE_FPR_WRITE,
    ISA_ROLE_CR_FIELD_READ,
    ISA_ROLE_CR_FIELD_WRITE,
    ISA_ROLE_CR_BIT_READ,
    ISA_ROLE_CR_BIT_READ_BO, /* only if BO says so */
    ISA_ROLE_CR_BIT_WRITE,
    ISA_ROLE_CR_MASK_WRITE,
    ISA_ROLE_SPR_READ,
    ISA_ROLE_SPR_WRITE,
};

enum isa_flag {
    ISA_RC = 1 << 0,          /* writes CR0 (and so reads XER[SO]) */
    ISA_RC1 = 1 << 1,         /* writes CR1 */
    ISA_OE = 1 << 2,          /* writes XER[OV,SO] */
    ISA_OV_READ = 1 << 3,     /* reads XER[SO]: compares, mcrxr */
    ISA_CA_READ = 1 << 4,     /* XER[CA] */
    ISA_CA_WRITE = 1 << 5,    /* */
    ISA_COUNT_READ = 1 << 6,  /* XER[25:31], the string byte count */
    ISA_COUNT_WRITE = 1 << 7, /* */
    ISA_CR_READ = 1 << 8,     /* the whole CR */
    ISA_LR_READ = 1 << 9,
    ISA_LR_WRITE = 1 << 10,
    ISA_CTR_READ = 1 << 11, /* in bc and bclr: if BO says so */
    ISA_CTR_WRITE = 1 << 12,
    ISA_FPSCR_READ =
        1 << 13, /* as data; that arithmetic obeys RN and the enables goes without saying */
    ISA_FPSCR_WRITE = 1 << 14,  /* status bits or as a target */
    ISA_PRIVILEGED = 1 << 15,   /* always; see isa_is_privileged() for mfspr, mtspr */
    ISA_SYNCHRONIZES = 1 << 16, /* waits for all earlier instructions */
    ISA_ENDS_BLOCK =
        1 << 17, /* the next instruction may not be the next word, or may run in another context */
    ISA_UPDATE = 1 << 18,      /* RA gets the effective address */
    ISA_INDEXED = 1 << 19,     /* the address is (RA|0) + RB */
    ISA_SIGNED = 1 << 20,      /* lha: sign-extends */
    ISA_REVERSED = 1 << 21,    /* bytes reversed */
    ISA_MULTIPLE = 1 << 22,    /* lmw, stmw and the strings: as many words as isa_words_moved() */
    ISA_RESERVATION = 1 << 23, /* lwarx, stwcx. */
    ISA_SINGLE = 1 << 24,      /* rounds to, loads or stores single precision */
    ISA_PAIR = 1 << 25,        /* works in both halves */
    ISA_CROSS = 1 << 26,       /* loads and stores: the secondary half is at the lower address */
    ISA_P_READ = 1 << 27,      /* which halves of the named FPRs are read and written */
    ISA_S_READ = 1 << 28,
    ISA_P_WRITE = 1 << 29,
    ISA_S_WRITE = 1 << 30,
};

enum { ISA_OPERANDS_MAX = 5, ISA_OPERAND_BITS = 6 };

struct isa_row {
    const char *name;  /* the basic mnemonic, "." and "o" included */
    uint32_t match;    /* the fixed bits */
    uint32_t mask;     /* where the fixed bits are; what is in neither the mask nor an operand is
                          reserved and ignored */
    uint32_t operands; /* packed in assembler order; see isa_row_operand() */
    uint32_t flags;    /* of enum isa_flag */
    uint8_t unit;      /* enum isa_unit */
    uint8_t klass;     /* enum isa_class */
    uint8_t timing;    /* enum isa_timing */
    uint8_t size;      /* bytes loaded or stored; 0 for none and for ISA_MULTIPLE */
};

struct isa_operand_row {
    const char *name;
    uint8_t first, last; /* PowerPC bit numbers */
    uint8_t kind;        /* enum isa_kind */
    uint8_t role;        /* enum isa_role */
};

struct isa_timing_row {
    const char *name;
    uint8_t pipe;      /* enum isa_pipe */
    uint8_t latency;   /* cycles from issue until a dependent instruction can issue, L1 hit */
    uint8_t occupancy; /* cycles until the pipe takes the next instruction */
};

/* `id` must be a row: not ISA_ILLEGAL. */
const struct isa_row *isa_row(enum isa_id id);
const struct isa_operand_row *isa_operand_row(enum isa_operand operand);
const struct isa_timing_row *isa_timing_row(enum isa_timing timing);
const char *isa_unit_name(enum isa_unit unit);
const char *isa_class_name(enum isa_class klass);
/* The Blue Gene/P event of core n without its "BGP_PUn_", "" when there is none. `in_j` for work
 * done in the J pipe. */
const char *isa_class_event(enum isa_class klass, bool in_j);

/* Which instruction a word is, ISA_ILLEGAL when none. Two table reads and a compare. */
enum isa_id isa_decode(uint32_t word);

/* Whether a user-mode program may not execute `word`, which is instruction `id`. */
bool isa_is_privileged(enum isa_id id, uint32_t word);
/* Whether the operands make an invalid form, whose result the architecture leaves undefined: update
 * with RA = 0 or RA = RT, a multiple or string load over its own address register, bcctr that
 * decrements CTR, BO with must-be-zero bits. The 440 executes them without an exception; tests and
 * comparisons want to leave them out. */
bool isa_is_invalid_form(enum isa_id id, uint32_t word);
/* How many registers lmw, stmw, lswi or stswi moves; lswx and stswx need the byte count in
 * XER[25:31], `count`. */
unsigned isa_words_moved(enum isa_id id, uint32_t word, unsigned count);

/* What an instruction reads and writes. GPRs and FPRs: bit n is register n. CR: bit 0x80 >> n is
 * field n. lswx and stswx count as touching the most registers they could. */
enum isa_special {
    ISA_SPECIAL_CA = 1 << 0,
    ISA_SPECIAL_OV = 1 << 1, /* XER[SO,OV] */
    ISA_SPECIAL_COUNT = 1 << 2,
    ISA_SPECIAL_LR = 1 << 3,
    ISA_SPECIAL_CTR = 1 << 4,
    ISA_SPECIAL_FPSCR = 1 << 5,
};
struct isa_deps {
    uint32_t gpr_read, gpr_write;
    uint32_t fpr_read, fpr_write;
    uint8_t cr_read, cr_write;
    uint8_t special_read, special_write; /* of enum isa_special */
};
void isa_deps(enum isa_id id, uint32_t word, struct isa_deps *deps);

/* Assembler text as `objdump -M 440,raw` prints it, and with the usual simplified mnemonics (li,
 * mr, blr, bne+ ...). Words that are no instruction give ".long 0x...". Returns the length as
 * snprintf does. ISA_TEXT_MAX always suffices.
 */
enum { ISA_TEXT_MAX = 80 };
int isa_disassemble(uint32_t word, uint32_t pc, char *buffer, size_t size);
int isa_disassemble_simplified(uint32_t word, uint32_t pc, char *buffer, size_t size);

/* Looks for overlapping and unreachable rows, fixed bits outside the mask, operands over fixed bits
 * or each other, and columns that contradict one another. 0, or -1 with what is wrong in `message`.
 * Takes about a millisecond. */
int isa_self_check(char *message, size_t size);

static inline uint32_t isa_unit_bit(enum isa_unit unit)
{
    return UINT32_C(1) << unit;
}

/* Bits `first` to `last` of a word, PowerPC numbers. */
static inline uint32_t isa_bits(uint32_t word, unsigned first, unsigned last)
{
    return (word >> (31 - last)) & (UINT32_MAX >> (31 - (last - first)));
}

/* The mask with ones in bits `first` to `last`. */
static inline uint32_t isa_bit_mask(unsigned first, unsigned last)
{
    return UINT32_MAX >> (31 - (last - first)) << (31 - last);
}

/* Sign-extends the low `bits` bits. */
static inline int32_t isa_sign_extend(uint32_t value, unsigned bits)
{
    uint32_t sign = UINT32_C(1) << (bits - 1);
    return (int32_t)((value ^ sign) - sign);
}

/* Operand `index` of a row, ISA_OP_NONE past the last. */
static inline enum isa_operand isa_row_operand(const struct isa_row *row, unsigned index)
{
    return (enum isa_operand)(row->operands >> (index * ISA_OPERAND_BITS) &
                              ((1 << ISA_OPERAND_BITS) - 1));
}

/* The fields by the manuals' names. Register numbers are 0 to 31. */
static inline unsigned isa_rt(uint32_t word) /* also RS, FRT, FRS, BT, BO, TO, CT, MO */
{
    return isa_bits(word, 6, 10);
}
static inline unsigned isa_ra(uint32_t word) /* also FRA, BA, BI */
{
    return isa_bits(word, 11, 15);
}
static inline unsigned isa_rb(uint32_t word) /* also FRB, BB, SH, WS */
{
    return isa_bits(word, 16, 20);
}
static inline unsigned isa_frc(uint32_t word) /* also MB, BC */
{
    return isa_bits(word, 21, 25);
}
static inline unsigned isa_me(uint32_t word)
{
    return isa_bits(word, 26, 30);
}
static inline int32_t isa_si(uint32_t word) /* also D */
{
    return isa_sign_extend(isa_bits(word, 16, 31), 16);
}
static inline uint32_t isa_ui(uint32_t word)
{
    return isa_bits(word, 16, 31);
}
static inline unsigned isa_bf(uint32_t word)
{
    return isa_bits(word, 6, 8);
}
static inline unsigned isa_bfa(uint32_t word)
{
    return isa_bits(word, 11, 13);
}
static inline unsigned isa_fxm(uint32_t word)
{
    return isa_bits(word, 12, 19);
}
static inline unsigned isa_flm(uint32_t word)
{
    return isa_bits(word, 7, 14);
}
static inline unsigned isa_u(uint32_t word)
{
    return isa_bits(word, 16, 19);
}
static inline unsigned isa_spr(uint32_t word) /* also TBR, DCR */
{
    return isa_bits(word, 16, 20) << 5 | isa_bits(word, 11, 15);
}
static inline unsigned isa_nb(uint32_t word) /* 1 to 32 */
{
    unsigned nb = isa_bits(word, 16, 20);
    return nb ? nb : 32;
}
/* Byte offsets, or addresses when AA is set. */
static inline int32_t isa_bd(uint32_t word)
{
    return isa_sign_extend(isa_bits(word, 16, 29), 14) * 4;
}
static inline int32_t isa_li(uint32_t word)
{
    return isa_sign_extend(isa_bits(word, 6, 29), 24) * 4;
}

/* BO, five bits: 0x10 ignore the condition, 0x08 its wanted value, 0x04 leave CTR alone, 0x02
 * branch when CTR is 0. */
static inline bool isa_bo_uses_ctr(unsigned bo)
{
    return !(bo & 0x04);
}
static inline bool isa_bo_uses_cr(unsigned bo)
{
    return !(bo & 0x10);
}

#endif
