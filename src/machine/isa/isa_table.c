/* The rows and the decoder, both written by the preprocessor from isa.def.
 *
 * Decoding is two reads: the primary opcode (bits 0-5) gives where its slots start and which low
 * bits of the word choose among them; the slot gives the row. Six primaries have an extended opcode
 * and take 2048 slots each (bits 21-31); the others take four. A row whose fixed bits leave some of
 * those bits open names every slot it owns. The last compare with the mask is for the fixed bits
 * outside (sc, callthru).
 *
 * Each slot is set by a designated initialiser, so two rows that claim the same word are an error
 * of the compiler's
 * (-Woverride-init), and rows may not differ in bits 6-20 only.
 */
#include "machine/isa/isa.h"

#include <assert.h>

/* The fixed bits of each form; see the top of isa.def. */
#define PRIMARY(p)            ((uint32_t)(p) << 26)
#define MATCH_D(p, xo, rc)    PRIMARY(p)
#define MASK_D                0xfc000000
#define MATCH_IB(p, xo, rc)   (PRIMARY(p) | (xo))
#define MASK_IB               0xfc000003
#define MATCH_SC(p, xo, rc)   (PRIMARY(p) | 2)
#define MASK_SC               0xfc000002
#define MATCH_M(p, xo, rc)    (PRIMARY(p) | (rc))
#define MASK_M                0xfc000001
#define MATCH_X(p, xo, rc)    (PRIMARY(p) | (xo) << 1)
#define MASK_X                0xfc0007fe
#define MATCH_XR(p, xo, rc)   (PRIMARY(p) | (xo) << 1 | (rc))
#define MASK_XR               0xfc0007ff
#define MATCH_XO9(p, xo, rc)  (PRIMARY(p) | (xo) << 1 | (rc))
#define MASK_XO9              0xfc0003ff
#define MATCH_A(p, xo, rc)    (PRIMARY(p) | (xo) << 1 | (rc))
#define MASK_A                0xfc00003f
#define MATCH_AN(p, xo, rc)   (PRIMARY(p) | (xo) << 1)
#define MASK_AN               0xfc00003e
#define MATCH_NOP8(p, xo, rc) (PRIMARY(p) | (xo) << 1)
#define MASK_NOP8             0xfc00063e
#define MATCH_W(p, xo, rc)    (PRIMARY(p) | 1000 << 11 | (xo) << 1 | (rc))
#define MASK_W                0xffffffff

#define OPERAND(a, place) ((uint32_t)ISA_OP_##a << (place)*ISA_OPERAND_BITS)
#define OPS0              0
#define OPS1(a)           (OPERAND(a, 0))
#define OPS2(a, b)        (OPERAND(a, 0) | OPERAND(b, 1))
#define OPS3(a, b, c)     (OPERAND(a, 0) | OPERAND(b, 1) | OPERAND(c, 2))
#define OPS4(a, b, c, d)  (OPERAND(a, 0) | OPERAND(b, 1) | OPERAND(c, 2) | OPERAND(d, 3))
#define OPS5(a, b, c, d, e)                                                                        \
    (OPERAND(a, 0) | OPERAND(b, 1) | OPERAND(c, 2) | OPERAND(d, 3) | OPERAND(e, 4))

_Static_assert((int)ISA_OP_COUNT <= 1 << ISA_OPERAND_BITS,
               "an operand kind fits its place in a row");
_Static_assert(ISA_OPERANDS_MAX *ISA_OPERAND_BITS <= 32, "a row's operands fit one word");

static const struct isa_row rows[ISA_COUNT] = {
#define ISA_ROW(ID, NAME, FORM, P, XO, RECORD, OPS, UNIT, CLASS, TIMING, SIZE, FLAGS)              \
    [ISA_##ID] = {.name = NAME,                                                                    \
                  .match = MATCH_##FORM(P, XO, RECORD),                                            \
                  .mask = MASK_##FORM,                                                             \
                  .operands = OPS,                                                                 \
                  .flags = FLAGS,                                                                  \
                  .unit = ISA_UNIT_##UNIT,                                                         \
                  .klass = ISA_CLASS_##CLASS,                                                      \
                  .timing = ISA_TIMING_##TIMING,                                                   \
                  .size = SIZE},
#include "machine/isa/isa.def"
};

static const struct isa_operand_row operand_rows[ISA_OP_COUNT] = {
#define ISA_OPERAND(id, first, last, kind, role)                                                   \
    {#id, first, last, ISA_KIND_##kind, ISA_ROLE_##role},
#include "machine/isa/isa.def"
};

static const struct isa_timing_row timing_rows[ISA_TIMING_COUNT] = {
#define ISA_TIMING(id, pipe, latency, occupancy) {#id, ISA_PIPE_##pipe, latency, occupancy},
#include "machine/isa/isa.def"
};

static const char *const unit_names[ISA_UNIT_COUNT] = {
#define ISA_UNIT(id, name) name,
#include "machine/isa/isa.def"
};

static const struct class_row {
    const char *name, *event, *event_j;
} class_rows[ISA_CLASS_COUNT] = {
#define ISA_CLASS(id, name, event, event_j) {name, event, event_j},
#include "machine/isa/isa.def"
};

/* Where the slots of a primary opcode start. */
enum { EXTENDED = 64 * 4, EXTENDED_SLOTS = 2048, SLOT_COUNT = EXTENDED + 6 * EXTENDED_SLOTS };
#define SLOT_BASE(p)                                                                               \
    ((p) == 0    ? EXTENDED                                                                        \
     : (p) == 4  ? EXTENDED + EXTENDED_SLOTS                                                       \
     : (p) == 19 ? EXTENDED + 2 * EXTENDED_SLOTS                                                   \
     : (p) == 31 ? EXTENDED + 3 * EXTENDED_SLOTS                                                   \
     : (p) == 59 ? EXTENDED + 4 * EXTENDED_SLOTS                                                   \
     : (p) == 63 ? EXTENDED + 5 * EXTENDED_SLOTS                                                   \
                 : (p)*4)

/* Which low bits choose among a primary's slots. */
static const struct {
    uint16_t base;
    uint16_t low_bits;
} primaries[64] = {
#define PLAIN(p)    [p] = {SLOT_BASE(p), 0}
#define EXT(p)      [p] = {SLOT_BASE(p), EXTENDED_SLOTS - 1}
#define LOW(p, low) [p] = {SLOT_BASE(p), low}
    EXT(0),     PLAIN(1),  PLAIN(2),   PLAIN(3),  EXT(4),     PLAIN(5),   PLAIN(6),  PLAIN(7),
    PLAIN(8),   PLAIN(9),  PLAIN(10),  PLAIN(11), PLAIN(12),  PLAIN(13),  PLAIN(14), PLAIN(15),
    LOW(16, 3), PLAIN(17), LOW(18, 3), EXT(19),   LOW(20, 1), LOW(21, 1), PLAIN(22), LOW(23, 1),
    PLAIN(24),  PLAIN(25), PLAIN(26),  PLAIN(27), PLAIN(28),  PLAIN(29),  PLAIN(30), EXT(31),
    PLAIN(32),  PLAIN(33), PLAIN(34),  PLAIN(35), PLAIN(36),  PLAIN(37),  PLAIN(38), PLAIN(39),
    PLAIN(40),  PLAIN(41), PLAIN(42),  PLAIN(43), PLAIN(44),  PLAIN(45),  PLAIN(46), PLAIN(47),
    PLAIN(48),  PLAIN(49), PLAIN(50),  PLAIN(51), PLAIN(52),  PLAIN(53),  PLAIN(54), PLAIN(55),
    PLAIN(56),  PLAIN(57), PLAIN(58),  EXT(59),   PLAIN(60),  PLAIN(61),  PLAIN(62), EXT(63),
};

/* The slots a row of each form owns. */
#define SLOT(id, p, low)         [SLOT_BASE(p) + (low)] = ISA_##id,
#define SLOTS_D(id, p, xo, rc)   SLOT(id, p, 0)
#define SLOTS_SC(id, p, xo, rc)  SLOT(id, p, 0)
#define SLOTS_IB(id, p, xo, rc)  SLOT(id, p, xo)
#define SLOTS_M(id, p, xo, rc)   SLOT(id, p, rc)
#define SLOTS_XR(id, p, xo, rc)  SLOT(id, p, (xo) << 1 | (rc))
#define SLOTS_W(id, p, xo, rc)   SLOT(id, p, (xo) << 1 | (rc))
#define SLOTS_X(id, p, xo, rc)   SLOT(id, p, (xo) << 1) SLOT(id, p, (xo) << 1 | 1)
#define SLOTS_XO9(id, p, xo, rc) SLOT(id, p, (xo) << 1 | (rc)) SLOT(id, p, (xo) << 1 | (rc) | 1024)
#define SLOTS_A1(id, p, low)                                                                       \
    SLOT(id, p, low) SLOT(id, p, (low) + 64) SLOT(id, p, (low) + 128) SLOT(id, p, (low) + 192)
#define SLOTS_A4(id, p, low)                                                                       \
    SLOTS_A1(id, p, low)                                                                           \
    SLOTS_A1(id, p, (low) + 256) SLOTS_A1(id, p, (low) + 512) SLOTS_A1(id, p, (low) + 768)
#define SLOTS_A(id, p, xo, rc)                                                                     \
    SLOTS_A4(id, p, (xo) << 1 | (rc))                                                              \
    SLOTS_A4(id, p, ((xo) << 1 | (rc)) + 1024)
#define SLOTS_AN(id, p, xo, rc)   SLOTS_A(id, p, xo, 0) SLOTS_A(id, p, xo, 1)
#define SLOTS_NOP8_ONE(id, p, xo) SLOTS_X(id, p, xo, 0) SLOTS_X(id, p, (xo) + 32, 0)
#define SLOTS_NOP8(id, p, xo, rc)                                                                  \
    SLOTS_NOP8_ONE(id, p, xo)                                                                      \
    SLOTS_NOP8_ONE(id, p, (xo) + 64)                                                               \
    SLOTS_NOP8_ONE(id, p, (xo) + 128) SLOTS_NOP8_ONE(id, p, (xo) + 192)

static const uint16_t slots[SLOT_COUNT] = {
#define ISA_ROW(ID, NAME, FORM, P, XO, RECORD, OPS, UNIT, CLASS, TIMING, SIZE, FLAGS)              \
    SLOTS_##FORM(ID, P, XO, RECORD)
#include "machine/isa/isa.def"
};

enum isa_id isa_decode(uint32_t word)
{
    unsigned primary = isa_bits(word, 0, 5);
    unsigned id = slots[primaries[primary].base + (word & primaries[primary].low_bits)];
    /* Row 0, ISA_ILLEGAL, has neither match nor mask and so needs no case of its own. */
    return (word & rows[id].mask) == rows[id].match ? (enum isa_id)id : ISA_ILLEGAL;
}

const struct isa_row *isa_row(enum isa_id id)
{
    assert(id > ISA_ILLEGAL && id < ISA_COUNT);
    return &rows[id];
}

const struct isa_operand_row *isa_operand_row(enum isa_operand operand)
{
    assert(operand < ISA_OP_COUNT);
    return &operand_rows[operand];
}

const struct isa_timing_row *isa_timing_row(enum isa_timing timing)
{
    assert(timing < ISA_TIMING_COUNT);
    return &timing_rows[timing];
}

const char *isa_unit_name(enum isa_unit unit)
{
    assert(unit < ISA_UNIT_COUNT);
    return unit_names[unit];
}

const char *isa_class_name(enum isa_class klass)
{
    assert(klass < ISA_CLASS_COUNT);
    return class_rows[klass].name;
}

const char *isa_class_event(enum isa_class klass, bool in_j)
{
    assert(klass < ISA_CLASS_COUNT);
    return in_j ? class_rows[klass].event_j : class_rows[klass].event;
}
