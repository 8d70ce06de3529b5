/* src/machine/isa: the table, the decoder and the disassembler, and all of them against GNU
 * objdump.
 *
 * objdump (Debian's powerpc-linux-gnu binutils, -M 440,raw) is the independent opinion. Three sets
 * of words go to it: every row with random operands and reserved bits 0 (text compared), every
 * extended opcode of the six primaries that have them with several operand patterns, and words of
 * random bits (mnemonics compared, in both directions). What may differ is in the tables
 * `unknown_to_objdump`, `extra_text` and `not_on_440`, with the reason.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine/isa/isa.h"

static uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t x = *state ^ *state >> 29;
    return (uint32_t)(x * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* "short" under sanitizers, otherwise in make check, "long" in make check-long. */
static unsigned test_length(unsigned normal)
{
    const char *length = getenv("CHILIAD_TEST_LENGTH");
    if (length && strcmp(length, "short") == 0) return normal / 10;
    if (length && strcmp(length, "long") == 0) return normal * 10;
    return normal;
}

/* The bits of a row that its operands use. */
static uint32_t operand_bits(const struct isa_row *row)
{
    uint32_t bits = 0;
    for (unsigned i = 0; i < ISA_OPERANDS_MAX && isa_row_operand(row, i) != ISA_OP_NONE; i++) {
        const struct isa_operand_row *operand = isa_operand_row(isa_row_operand(row, i));
        bits |= isa_bit_mask(operand->first, operand->last);
    }
    return bits;
}

static enum isa_id id_of_name(const char *name)
{
    for (unsigned id = 1; id < ISA_COUNT; id++)
        if (strcmp(isa_row((enum isa_id)id)->name, name) == 0) return (enum isa_id)id;
    return ISA_ILLEGAL;
}

static void table_passes_its_self_check(void **state)
{
    (void)state;
    char message[200] = "";
    int status = isa_self_check(message, sizeof message);
    if (status) print_error("%s\n", message);
    assert_int_equal(status, 0);
}

static void every_row_decodes_with_any_open_bits(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (unsigned id = 1; id < ISA_COUNT; id++) {
        const struct isa_row *row = isa_row((enum isa_id)id);
        for (unsigned i = 0; i < 200; i++)
            assert_int_equal(isa_decode(row->match | (next_random(&random) & ~row->mask)), id);
    }
}

/* The decoder's slots against a search through the rows. */
static void decoder_agrees_with_a_search(void **state)
{
    (void)state;
    uint64_t random = 2;
    for (unsigned i = 0; i < test_length(200000); i++) {
        static const uint8_t extended[] = {0, 4, 19, 31, 59, 63};
        uint32_t word = next_random(&random);
        if (i % 2) word = (word & 0x03ffffff) | (uint32_t)extended[i / 2 % 6] << 26;
        unsigned found = ISA_ILLEGAL;
        for (unsigned id = 1; id < ISA_COUNT; id++)
            if ((word & isa_row((enum isa_id)id)->mask) == isa_row((enum isa_id)id)->match)
                found = id;
        assert_int_equal(isa_decode(word), found);
    }
}

static void random_words_are_safe(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (unsigned i = 0; i < test_length(300000); i++) {
        uint32_t word = next_random(&random);
        char text[ISA_TEXT_MAX], small[4];
        struct isa_deps deps;
        int length = isa_disassemble(word, next_random(&random), text, sizeof text);
        assert_in_range(length, 2, ISA_TEXT_MAX - 1);
        assert_int_equal(isa_disassemble(word, 0, small, sizeof small) > 0, 1);
        assert_int_equal(strlen(small) < sizeof small, 1);
        assert_in_range(isa_disassemble_simplified(word, next_random(&random), text, sizeof text),
                        2, ISA_TEXT_MAX - 1);
        assert_int_equal(isa_disassemble(word, 0, NULL, 0) > 0, 1);
        enum isa_id id = isa_decode(word);
        if (id == ISA_ILLEGAL) continue;
        isa_deps(id, word, &deps);
        (void)isa_is_privileged(id, word);
        (void)isa_is_invalid_form(id, word);
    }
}

/* The 73 words of facts/fp2_isa.csv, copied from there and not from isa.def. */
static const struct {
    const char *name;
    uint32_t word;
} fp2_words[] = {
    {"fpsel", 0x0000000a},     {"fpmul", 0x00000010},     {"fxmul", 0x00000012},
    {"fxpmul", 0x00000014},    {"fxsmul", 0x00000016},    {"fpadd", 0x00000018},
    {"fpsub", 0x0000001a},     {"fpre", 0x0000001c},      {"fprsqrte", 0x0000001e},
    {"fpmadd", 0x00000020},    {"fxmadd", 0x00000022},    {"fxcpmadd", 0x00000024},
    {"fxcsmadd", 0x00000026},  {"fpnmadd", 0x00000028},   {"fxnmadd", 0x0000002a},
    {"fxcpnmadd", 0x0000002c}, {"fxcsnmadd", 0x0000002e}, {"fpmsub", 0x00000030},
    {"fxmsub", 0x00000032},    {"fxcpmsub", 0x00000034},  {"fxcsmsub", 0x00000036},
    {"fpnmsub", 0x00000038},   {"fxnmsub", 0x0000003a},   {"fxcpnmsub", 0x0000003c},
    {"fxcsnmsub", 0x0000003e}, {"fxcpnpma", 0x10000030},  {"fxcsnpma", 0x10000032},
    {"fxcpnsma", 0x10000034},  {"fxcsnsma", 0x10000036},  {"fxcxma", 0x10000038},
    {"fxcxnpma", 0x1000003a},  {"fxcxnsma", 0x1000003c},  {"fxcxnms", 0x1000003e},
    {"fpmr", 0x00000040},      {"fpabs", 0x000000c0},     {"fpneg", 0x00000140},
    {"fprsp", 0x00000180},     {"fpnabs", 0x000001c0},    {"fsmr", 0x00000240},
    {"fscmp", 0x00000280},     {"fsabs", 0x000002c0},     {"fsneg", 0x00000340},
    {"fsnabs", 0x000003c0},    {"fxmr", 0x00000440},      {"fpctiw", 0x00000480},
    {"fpctiwz", 0x00000580},   {"fsmtp", 0x00000640},     {"fsmfp", 0x00000740},
    {"lfssx", 0x7c00011c},     {"lfssux", 0x7c00015c},    {"lfsdx", 0x7c00019c},
    {"lfsdux", 0x7c0001dc},    {"lfxsx", 0x7c00021c},     {"lfxsux", 0x7c00025c},
    {"lfxdx", 0x7c00029c},     {"lfxdux", 0x7c0002dc},    {"lfpsx", 0x7c00031c},
    {"lfpsux", 0x7c00035c},    {"lfpdx", 0x7c00039c},     {"lfpdux", 0x7c0003dc},
    {"stfpiwx", 0x7c00041c},   {"stfssx", 0x7c00051c},    {"stfssux", 0x7c00055c},
    {"stfsdx", 0x7c00059c},    {"stfsdux", 0x7c0005dc},   {"stfxsx", 0x7c00061c},
    {"stfxsux", 0x7c00065c},   {"stfxdx", 0x7c00069c},    {"stfxdux", 0x7c0006dc},
    {"stfpsx", 0x7c00071c},    {"stfpsux", 0x7c00075c},   {"stfpdx", 0x7c00079c},
    {"stfpdux", 0x7c0007dc},
};

static void fp2_words_are_those_of_the_facts(void **state)
{
    (void)state;
    unsigned rows = 0;
    for (unsigned id = 1; id < ISA_COUNT; id++)
        rows += isa_row((enum isa_id)id)->unit == ISA_UNIT_FP2;
    assert_int_equal(sizeof fp2_words / sizeof fp2_words[0], 73);
    assert_int_equal(rows, 73);
    for (size_t i = 0; i < 73; i++) {
        enum isa_id id = isa_decode(fp2_words[i].word);
        assert_int_not_equal(id, ISA_ILLEGAL);
        assert_string_equal(isa_row(id)->name, fp2_words[i].name);
        assert_int_equal(isa_row(id)->match, fp2_words[i].word);
        assert_int_equal(isa_row(id)->unit, ISA_UNIT_FP2);
        assert_int_equal(isa_decode(fp2_words[i].word | 1), ISA_ILLEGAL);
    }
}

static void illegal_words_are_illegal(void **state)
{
    (void)state;
    static const uint32_t words[] = {
        0x00000000, /* abort() of glibc executes this */
        0x00000200, /* attn, of other PowerPCs */
        0x001f47cd, /* one bit beside the call-through */
        0x001f4fcc, /**/
        0x04000000, /* primary 1: prefixes of later machines */
        0x44000000, /* sc without its bit 30 */
        0x7c0001ac, /* primary 31, nothing there */
        0x7c00012c, /* stwcx without the record bit */
        0x7c0000ce, /* lvx */
        0x7c00051d, /* stfssx with a record bit */
        0xe8000000, /* ld */
        0xf0000000, /* VSX */
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        assert_int_equal(isa_decode(words[i]), ISA_ILLEGAL);
}

/* What real programs execute although later manuals give the bits another meaning
 * (facts/linux440.md 4). */
static void reserved_bits_are_ignored(void **state)
{
    (void)state;
    static const struct {
        uint32_t word;
        enum isa_id id;
    } cases[] = {
        {0x7c2004ac, ISA_MSYNC},                          /* lwsync */
        {0x7c4004ac, ISA_MSYNC},                          /* ptesync */
        {0xfc00048e, ISA_MFFS},   {0xfc01048e, ISA_MFFS}, /* mffsce */
        {0xfc36048e, ISA_MFFS},                           /* mffscrn */
        {0xfc17048e, ISA_MFFS},                           /* mffscrni */
        {0xfc18048e, ISA_MFFS},                           /* mffsl */
        {0x7c108026, ISA_MFCR},                           /* mfocrf */
        {0x7c308120, ISA_MTCRF},                          /* mtocrf */
        {0xff81010c, ISA_MTFSFI},                         /* mtfsfi 7,0,1 */
        {0x7c632029, ISA_LWARX},                          /* lwarx with the EH hint */
        {0x7c2027ec, ISA_DCBZ},                           /* dcbzl */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(isa_decode(cases[i].word), cases[i].id);
}

static void known_words_have_known_text(void **state)
{
    (void)state;
    static const struct {
        uint32_t word;
        const char *basic, *simplified;
    } cases[] = {
        {0x7c632214, "add     r3,r3,r4", NULL},
        {0x7c632615, "addo.   r3,r3,r4", NULL},
        {0x38600001, "addi    r3,0,1", "li      r3,1"},
        {0x3c60ffff, "addis   r3,0,-1", "lis     r3,-1"},
        {0x9421fff0, "stwu    r1,-16(r1)", NULL},
        {0x80600010, "lwz     r3,16(0)", NULL},
        {0x7c6802a6, "mfspr   r3,8", "mflr    r3"},
        {0x7c7a03a6, "mtspr   26,r3", NULL},
        {0x7c83ff92, ".long 0x7c83ff92", NULL},
        {0x4e800020, "bclr    20,lt", "blr"},
        {0x4e800421, "bcctrl  20,lt", "bctrl"},
        {0x4082fff0, "bc      4,eq,0xff0", "bne+    0xff0"},
        {0x419d0010, "bc      12,4*cr7+gt,0x1010", "bgt-    cr7,0x1010"},
        {0x4200fffc, "bc      16,lt,0xffc", "bdnz+   0xffc"},
        {0x41a20008, "bc      13,eq,0x1008", "beq+    0x1008"},
        {0x41a2fff8, "bc      13,eq,0xff8", "beq-    0xff8"},
        {0x4d9e0020, "bclr    12,4*cr7+eq", "beqlr-  cr7"},
        {0x48000101, "bl      0x1100", NULL},
        {0x4bfffffe, "ba      0xfffffffc", NULL},
        {0x60000000, "ori     r0,r0,0", "nop"},
        {0x7c641b78, "or      r4,r3,r3", "mr      r4,r3"},
        {0x2f830005, "cmpi    cr7,0,r3,5", "cmpwi   cr7,r3,5"},
        {0x28030005, "cmpli   cr0,0,r3,5", "cmplwi  r3,5"},
        {0x5463103a, "rlwinm  r3,r3,2,0,29", NULL},
        {0x7c6028ac, "dcbf    0,r5", NULL},
        {0x7fe00008, "tw      31,r0,r0", "trap"},
        {0x7c60012d, "stwcx.  r3,0,r0", NULL},
        {0x7c642858, ".long 0x7c642858", NULL},
        {0x7ca3209d, "dlmzb.  r3,r5,r4", NULL},
        {0x10642b5c, "nmaclhw r3,r4,r5", NULL},
        {0x7c831faa, ".long 0x7c831faa", NULL},
        {0x4c000064, "rfi", NULL},
        {0x44000002, "sc", NULL},
        {0xfc2110fa, "fmadd   f1,f1,f3,f2", NULL},
        {0xfc0005ce, ".long 0xfc0005ce", NULL},
        {0xfdfe0d8e, "mtfsf   255,f1", NULL},
        {0xfc20169c, "fcfid   f1,f2", NULL}, /* these four as GNU as -mppc64 makes them */
        {0xfc20165c, "fctid   f1,f2", NULL},
        {0xfc20165e, "fctidz  f1,f2", NULL},
        {0x7c6c42e6, "mftb    r3,268", NULL},
        {0x1022083a, "fxcxnpma f1,f2,f0,f1", NULL}, /* the word in facts/bluegene.md 5 */
        {0x00221120, "fpmadd  f1,f2,f4,f2", NULL},
        {0x7c6523dc, "lfpdux  f3,r5,r4", NULL},
        {0x001f47cc, "callthru", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[ISA_TEXT_MAX];
        isa_disassemble(cases[i].word, 0x1000, text, sizeof text);
        assert_string_equal(text, cases[i].basic);
        isa_disassemble_simplified(cases[i].word, 0x1000, text, sizeof text);
        assert_string_equal(text, cases[i].simplified ? cases[i].simplified : cases[i].basic);
    }
}

static void dependencies_follow_the_operands(void **state)
{
    (void)state;
    enum { CA = ISA_SPECIAL_CA, OV = ISA_SPECIAL_OV, LR = ISA_SPECIAL_LR, CTR = ISA_SPECIAL_CTR };
    enum { COUNT = ISA_SPECIAL_COUNT, FPSCR = ISA_SPECIAL_FPSCR };
    static const struct {
        uint32_t word;
        struct isa_deps
            deps; /* GPR read, write, FPR read, write, CR read, write, special read, write */
    } cases[] = {
        {0x7c632215, {0x18, 0x08, 0, 0, 0, 0x80, OV, 0}},         /* add. r3,r3,r4 */
        {0x7ca32514, {0x18, 0x20, 0, 0, 0, 0, CA | OV, CA | OV}}, /* addeo r5,r3,r4 */
        {0x38600001, {0, 0x08, 0, 0, 0, 0, 0, 0}},                /* li r3,1 */
        {0x9421fff0, {0x02, 0x02, 0, 0, 0, 0, 0, 0}},             /* stwu r1,-16(r1) */
        {0x7ca3206e, {0x18, 0x28, 0, 0, 0, 0, 0, 0}},             /* lwzux r5,r3,r4 */
        {0xbbc10008, {0x02, 0xc0000000, 0, 0, 0, 0, 0, 0}},       /* lmw r30,8(r1) */
        {0xbfc10008, {0xc0000002, 0, 0, 0, 0, 0, 0, 0}},          /* stmw r30,8(r1) */
        {0x7fe34caa, {0x08, 0x80000003, 0, 0, 0, 0, 0, 0}},      /* lswi r31,r3,9 wraps to r0, r1 */
        {0x7ca3242a, {0x18, 0xffffffff, 0, 0, 0, 0, COUNT, 0}},  /* lswx r5,r3,r4 */
        {0x4200fffc, {0, 0, 0, 0, 0, 0, CTR, CTR}},              /* bdnz */
        {0x419d0010, {0, 0, 0, 0, 0x01, 0, 0, 0}},               /* bgt cr7 */
        {0x4e800021, {0, 0, 0, 0, 0, 0, LR, LR}},                /* blrl */
        {0x4e800420, {0, 0, 0, 0, 0, 0, CTR, 0}},                /* bctr */
        {0x7c6802a6, {0, 0x08, 0, 0, 0, 0, LR, 0}},              /* mflr r3 */
        {0x7c6103a6, {0x08, 0, 0, 0, 0, 0, 0, CA | OV | COUNT}}, /* mtxer r3 */
        {0x7c6ff120, {0x08, 0, 0, 0, 0, 0xff, 0, 0}},            /* mtcr r3 */
        {0x7c600026, {0, 0x08, 0, 0, 0xff, 0, 0, 0}},            /* mfcr r3 */
        {0x4c853382, {0, 0, 0, 0, 0x40, 0x40, 0, 0}}, /* cror 4,5,6: the other bits of cr1 stay */
        {0xfc2110fb, {0, 0, 0x0e, 0x02, 0, 0x40, 0, FPSCR}},  /* fmadd. f1,f1,f3,f2 */
        {0xff811000, {0, 0, 0x06, 0, 0, 0x01, 0, FPSCR}},     /* fcmpu cr7,f1,f2 */
        {0x10642b5c, {0x38, 0x08, 0, 0, 0, 0, 0, 0}},         /* nmaclhw r3,r4,r5 accumulates */
        {0x7c6523dc, {0x30, 0x20, 0, 0x08, 0, 0, 0, 0}},      /* lfpdux f3,r5,r4 */
        {0x7ca3209d, {0x30, 0x08, 0, 0, 0, 0x80, OV, COUNT}}, /* dlmzb. r3,r5,r4 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct isa_deps deps;
        isa_deps(isa_decode(cases[i].word), cases[i].word, &deps);
        if (memcmp(&deps, &cases[i].deps, sizeof deps) != 0)
            fail_msg("dependencies of 0x%08x differ", cases[i].word);
    }
}

static void privilege_follows_the_spr_number(void **state)
{
    (void)state;
    assert_false(isa_is_privileged(ISA_MFSPR, 0x7c6802a6)); /* LR */
    assert_false(isa_is_privileged(ISA_MFSPR, 0x7c6c42a6)); /* TBL for reading, 268 */
    assert_true(isa_is_privileged(ISA_MTSPR, 0x7c7a03a6));  /* SRR0 */
    assert_true(isa_is_privileged(ISA_MFSPR, 0x7c7f42a6));  /* PVR, 287 */
    assert_true(isa_is_privileged(ISA_TLBWE, 0x7c6407a4));
    assert_false(isa_is_privileged(ISA_ADD, 0x7c632214));
}

/* Every event a class is mapped to is one of the 35 of a Blue Gene/P core (facts/bgp_events.csv,
 * ids 0-34). */
static void classes_name_events_that_exist(void **state)
{
    (void)state;
    static const char *const events[] = {
        "JPIPE_ADD_SUB",
        "JPIPE_LOGICAL_OPS",
        "JPIPE_SHROTMK",
        "IPIPE_MULT_DIV",
        "IPIPE_ADD_SUB",
        "IPIPE_LOGICAL_OPS",
        "IPIPE_SHROTMK",
        "IPIPE_BRANCHES",
        "IPIPE_TLB_OPS",
        "IPIPE_PROCESS_CONTROL",
        "IPIPE_OTHER",
        "DATA_LOADS",
        "DATA_STORES",
        "DCACHE_OPS",
        "FPU_ADD_SUB_1",
        "FPU_MULT_1",
        "FPU_FMA_2",
        "FPU_DIV_1",
        "FPU_OTHER_NON_STORAGE_OPS",
        "FPU_ADD_SUB_2",
        "FPU_MULT_2",
        "FPU_FMA_4",
        "FPU_DUAL_PIPE_OTHER_NON_STORAGE_OPS",
        "FPU_QUADWORD_LOADS",
        "FPU_OTHER_LOADS",
        "FPU_QUADWORD_STORES",
        "FPU_OTHER_STORES",
    };
    enum { EVENTS = sizeof events / sizeof events[0] };
    bool used[EVENTS] = {false};
    for (unsigned klass = 0; klass < ISA_CLASS_COUNT; klass++) {
        for (int in_j = 0; in_j < 2; in_j++) {
            const char *event = isa_class_event((enum isa_class)klass, in_j);
            size_t i = 0;
            while (*event && i < EVENTS && strcmp(event, events[i]) != 0)
                i++;
            assert_true(i < EVENTS);
            if (*event) used[i] = true;
        }
    }
    for (size_t i = 0; i < EVENTS; i++)
        assert_true(used[i]);
}

/* ---- Against objdump. */

/* Rows that -M 440 of binutils 2.40 does not decode. */
static const struct {
    enum isa_unit unit; /* all rows of a unit, or */
    enum isa_id id;     /* one row */
    const char *reason;
} unknown_to_objdump[] = {
    {ISA_UNIT_FP2, 0,
     "binutils has no FP2 instructions under any -M; checked against facts/fp2_isa.csv above"},
    {ISA_UNIT_CALLTHRU, 0, "ours; no other decoder knows it"},
    {ISA_UNIT_FCVT64, 0,
     "64-bit only in binutils; a unit that Blue Gene's machine files leave out"},
    {ISA_UNIT_COUNT, ISA_MFTB, "a preserved opcode, which the 440 implements (manual, A.4)"},
    {ISA_UNIT_COUNT, ISA_NOP_RESERVED,
     "the eight reserved no-ops, which the 440 implements (manual, A.5)"},
};

/* What objdump prints after our operands: fields of later architectures, reserved (and 0 in these
 * words) on a 440. */
static const struct {
    enum isa_id id;
    const char *extra;
} extra_text[] = {
    {ISA_BCLR, ",0"},    {ISA_BCLRL, ",0"},   {ISA_BCCTR, ",0"},      {ISA_BCCTRL, ",0"},
    {ISA_LWARX, ",0"},   {ISA_DCBF, ",0"},    {ISA_MTMSR, ",0"},      {ISA_FRES, ",0"},
    {ISA_FRES_RC, ",0"}, {ISA_FRSQRTE, ",0"}, {ISA_FRSQRTE_RC, ",0"}, {ISA_MFCR, ",-1"},
    {ISA_SC, " 0"},
};

/* What objdump decodes with -M 440 and we do not, or not so. */
static const struct {
    const char *name; /* a final '*' stands for any rest */
    enum isa_id ours;
    const char *reason;
} not_on_440[] = {
    {"udi*", ISA_ILLEGAL,
     "user-defined instructions of the Virtex-5's 440, for logic outside the core"},
    {"mfsr*", ISA_ILLEGAL, "segment registers: not in Book E"},
    {"mtsr*", ISA_ILLEGAL, "segment registers: not in Book E"},
    {"tlbie", ISA_ILLEGAL, "not in Book E"},
    {"tlbia", ISA_ILLEGAL, "not in Book E; the 405 has it"},
    {"tlbli", ISA_ILLEGAL, "the 603's"},
    {"tlbivax", ISA_ILLEGAL, "Book E, but reserved-illegal on the 440 (manual, A.6)"},
    {"mfapidi", ISA_ILLEGAL, "Book E, but reserved-illegal on the 440 (manual, A.6)"},
    {"eciwx", ISA_ILLEGAL, "not in Book E"},
    {"ecowx", ISA_ILLEGAL, "not in Book E"},
    {"mfdcrx", ISA_ILLEGAL, "the 460's indexed DCRs"},
    {"mfdcrux", ISA_ILLEGAL, "the 460's indexed DCRs"},
    {"mtdcrx", ISA_ILLEGAL, "the 460's indexed DCRs"},
    {"mtdcrux", ISA_ILLEGAL, "the 460's indexed DCRs"},
    {"mfocrf", ISA_MFCR, "bit 11 is reserved on the 440"},
    {"mtocrf", ISA_MTCRF, "bit 11 is reserved on the 440"},
};

static bool objdump_knows(enum isa_id id)
{
    for (size_t i = 0; i < sizeof unknown_to_objdump / sizeof unknown_to_objdump[0]; i++)
        if (unknown_to_objdump[i].id == id || unknown_to_objdump[i].unit == isa_row(id)->unit)
            return false;
    return true;
}

static bool name_matches(const char *pattern, const char *name)
{
    size_t length = strlen(pattern);
    return pattern[length - 1] == '*' ? strncmp(pattern, name, length - 1) == 0
                                      : strcmp(pattern, name) == 0;
}

static bool accepted_name(const char *name, enum isa_id ours)
{
    for (size_t i = 0; i < sizeof not_on_440 / sizeof not_on_440[0]; i++)
        if (name_matches(not_on_440[i].name, name)) return ours == not_on_440[i].ours;
    return false;
}

/* A conversation with objdump: words in a file, then its lines one by one. */
struct objdump {
    char words_path[64], text_path[64];
    FILE *words, *text;
    uint32_t count;
};

static FILE *open_temporary(char path[64])
{
    snprintf(path, 64, "/tmp/chiliad-isa-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w+b");
    assert_non_null(file);
    return file;
}

static void objdump_begin(struct objdump *dump)
{
    dump->count = 0;
    dump->words = open_temporary(dump->words_path);
    dump->text = open_temporary(dump->text_path);
}

static void objdump_put(struct objdump *dump, uint32_t word)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        fputc((int)(word >> shift & 0xff), dump->words);
    dump->count++;
}

static void objdump_run(struct objdump *dump, const char *options)
{
    char *const arguments[] = {"powerpc-linux-gnu-objdump",
                               "-D",
                               "-z",
                               "-b",
                               "binary",
                               "-m",
                               "powerpc",
                               "-M",
                               (char *)options,
                               "-EB",
                               dump->words_path,
                               NULL};
    char *const environment[] = {"PATH=/usr/bin:/bin:/usr/local/bin", "LC_ALL=C", NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status = -1;
    assert_int_equal(fclose(dump->words), 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, dump->text_path, O_WRONLY | O_TRUNC,
                                     0);
    int failed = posix_spawnp(&pid, arguments[0], &actions, NULL, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    if (failed) fail_msg("cannot run '%s': install binutils-powerpc-linux-gnu", arguments[0]);
    pid_t ended = waitpid(pid, &status, 0);
    unlink(dump->words_path);
    unlink(dump->text_path); /* still open */
    assert_int_equal(ended, pid);
    assert_int_equal(status, 0);
    rewind(dump->text);
}

/* The next instruction: its address, word and text with single blanks. False at the end. */
static bool objdump_get(struct objdump *dump, uint32_t *address, uint32_t *word, char text[128])
{
    char line[256];
    while (fgets(line, sizeof line, dump->text)) {
        char *tab = strchr(line, '\t'), *bytes_end = tab ? strchr(tab + 1, '\t') : NULL;
        if (!bytes_end) continue;
        *address = (uint32_t)strtoul(line, NULL, 16);
        *word = 0;
        char *at = tab + 1;
        for (int i = 0; i < 4; i++)
            *word = *word << 8 | (uint32_t)strtoul(at, &at, 16);
        size_t length = 0;
        for (const char *c = bytes_end + 1; *c && *c != '\n' && length < 127; c++)
            if (*c != ' ' || (length && text[length - 1] != ' ')) text[length++] = *c;
        while (length && text[length - 1] == ' ')
            length--;
        text[length] = 0;
        return true;
    }
    return false;
}

static void objdump_end(struct objdump *dump)
{
    fclose(dump->text);
}

/* Our text as objdump would print it. */
static void our_text(enum isa_id id, uint32_t word, uint32_t pc, char text[128])
{
    char raw[ISA_TEXT_MAX];
    isa_disassemble(word, pc, raw, sizeof raw);
    size_t length = 0;
    for (const char *c = raw; *c; c++)
        if (*c != ' ' || text[length - 1] != ' ') text[length++] = *c;
    text[length] = 0;
    for (size_t i = 0; i < sizeof extra_text / sizeof extra_text[0]; i++)
        if (extra_text[i].id == id)
            snprintf(text + length, 128 - length, "%s", extra_text[i].extra);
}

static void text_equals_objdumps_for_every_row(void **state)
{
    (void)state;
    struct objdump dump;
    uint64_t random = 4;
    uint32_t address, word, read = 0, compared = 0, differences = 0;
    char theirs[128], ours[128];
    objdump_begin(&dump);
    for (unsigned id = 1; id < ISA_COUNT; id++) {
        const struct isa_row *row = isa_row((enum isa_id)id);
        uint32_t bits = operand_bits(row);
        for (unsigned i = 0; i < test_length(440); i++)
            objdump_put(&dump, row->match | (next_random(&random) & bits));
    }
    objdump_run(&dump, "440,raw");
    while (objdump_get(&dump, &address, &word, theirs)) {
        enum isa_id id = isa_decode(word);
        read++;
        assert_int_not_equal(id, ISA_ILLEGAL);
        our_text(id, word, address, ours);
        bool long_word = strncmp(theirs, ".long", 5) == 0;
        if (long_word && (!objdump_knows(id) || isa_is_invalid_form(id, word))) continue;
        compared++;
        if (strcmp(ours, theirs) == 0) continue;
        if (differences++ < 40)
            print_error("0x%08x: ours '%s', objdump '%s'\n", word, ours, theirs);
    }
    objdump_end(&dump);
    assert_int_equal(read, dump.count);
    assert_true(compared > dump.count / 2);
    assert_int_equal(differences, 0);
}

/* One word of a sweep: do both know it, and by the same name? */
static bool same_instruction(uint32_t word, const char *theirs)
{
    enum isa_id id = isa_decode(word);
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(theirs, " "), theirs);
    if (strcmp(name, ".long") == 0) {
        if (id == ISA_ILLEGAL || !objdump_knows(id) || isa_is_invalid_form(id, word)) return true;
        return word & ~isa_row(id)->mask &
               ~operand_bits(isa_row(id)); /* reserved bits: we ignore them */
    }
    return (id != ISA_ILLEGAL && strcmp(isa_row(id)->name, name) == 0) || accepted_name(name, id);
}

static void check_sweep(struct objdump *dump)
{
    uint32_t address, word, read = 0, differences = 0;
    char theirs[128];
    objdump_run(dump, "440,raw");
    while (objdump_get(dump, &address, &word, theirs)) {
        read++;
        if (same_instruction(word, theirs)) continue;
        char ours[ISA_TEXT_MAX];
        isa_disassemble(word, address, ours, sizeof ours);
        if (differences++ < 40)
            print_error("0x%08x: ours '%s', objdump '%s'\n", word, ours, theirs);
    }
    objdump_end(dump);
    assert_int_equal(read, dump->count);
    assert_int_equal(differences, 0);
}

/* Completeness: whatever objdump decodes for a 440 is a row here or in `not_on_440`. */
static void every_opcode_of_objdump_is_accounted_for(void **state)
{
    (void)state;
    static const uint32_t fields[] = {0x00642800, 0x00600000, 0x00602800, 0,
                                      0x00042800, 0x00640000, 0x00008000};
    struct objdump dump;
    objdump_begin(&dump);
    for (uint32_t primary = 0; primary < 64; primary++)
        for (uint32_t low = 0; low < 2048; low++)
            for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
                if (low < 4 || primary == 0 || primary == 4 || primary == 19 || primary == 31 ||
                    primary >= 56)
                    objdump_put(&dump, primary << 26 | fields[i] | low);
    check_sweep(&dump);
}

static void random_words_mean_the_same_to_objdump(void **state)
{
    (void)state;
    struct objdump dump;
    uint64_t random = 5;
    objdump_begin(&dump);
    for (unsigned i = 0; i < test_length(200000); i++) {
        static const uint8_t extended[] = {0, 4, 19, 31, 31, 31, 59, 63};
        uint32_t word = next_random(&random);
        objdump_put(&dump,
                    i % 2 ? word : (word & 0x03ffffff) | (uint32_t)extended[i / 2 % 8] << 26);
    }
    check_sweep(&dump);
}

/* Simplified mnemonics: where we have one, it is objdump's. */
static void simplified_text_is_objdumps(void **state)
{
    (void)state;
    static const char *const rows[] = {"addi", "addis", "ori",   "or",    "or.",   "nor",
                                       "nor.", "mfspr", "mtspr", "mtcrf", "cmpi",  "cmpli",
                                       "cmp",  "cmpl",  "tw",    "bc",    "bcl",   "bca",
                                       "bcla", "bclr",  "bclrl", "bcctr", "bcctrl"};
    struct objdump dump;
    uint64_t random = 6;
    uint32_t address, word, compared = 0, differences = 0;
    char theirs[128], ours[128], raw[ISA_TEXT_MAX], basic[ISA_TEXT_MAX];
    objdump_begin(&dump);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct isa_row *row = isa_row(id_of_name(rows[i]));
        for (unsigned n = 0; n < test_length(3000); n++) {
            uint32_t bits = next_random(&random) & operand_bits(row);
            if (n % 3 == 0) bits &= 0x0fe00000 | 0x0000ffff; /* register 0, BI 0 */
            if (n % 3 == 1) bits = (bits & ~UINT32_C(0xf800)) | (bits >> 10 & 0xf800); /* RB = RS */
            objdump_put(&dump, row->match | (bits & operand_bits(row)));
        }
    }
    static const uint32_t fixed[] = {0x60000000, 0x7fe00008, 0x7c0ff120, 0x7c6802a6,
                                     0x7c6803a6, 0x7c6902a6, 0x7c6903a6, 0x7c6102a6,
                                     0x7c6103a6, 0x4e800020, 0x4e800420};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        objdump_put(&dump, fixed[i]);
    objdump_run(&dump, "440");
    while (objdump_get(&dump, &address, &word, theirs)) {
        isa_disassemble(word, address, basic, sizeof basic);
        isa_disassemble_simplified(word, address, raw, sizeof raw);
        if (strcmp(raw, basic) == 0) continue;
        size_t length = 0;
        for (const char *c = raw; *c; c++)
            if (*c != ' ' || ours[length - 1] != ' ') ours[length++] = *c;
        ours[length] = 0;
        compared++;
        if (strcmp(ours, theirs) != 0 && differences++ < 40)
            print_error("0x%08x: ours '%s', objdump '%s'\n", word, ours, theirs);
    }
    objdump_end(&dump);
    assert_true(compared > dump.count / 10);
    assert_int_equal(differences, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_passes_its_self_check),
        cmocka_unit_test(every_row_decodes_with_any_open_bits),
        cmocka_unit_test(decoder_agrees_with_a_search),
        cmocka_unit_test(random_words_are_safe),
        cmocka_unit_test(fp2_words_are_those_of_the_facts),
        cmocka_unit_test(illegal_words_are_illegal),
        cmocka_unit_test(reserved_bits_are_ignored),
        cmocka_unit_test(known_words_have_known_text),
        cmocka_unit_test(dependencies_follow_the_operands),
        cmocka_unit_test(privilege_follows_the_spr_number),
        cmocka_unit_test(classes_name_events_that_exist),
        cmocka_unit_test(text_equals_objdumps_for_every_row),
        cmocka_unit_test(every_opcode_of_objdump_is_accounted_for),
        cmocka_unit_test(random_words_mean_the_same_to_objdump),
        cmocka_unit_test(simplified_text_is_objdumps),
    };
    return cmocka_run_group_tests_name("isa", tests, NULL, NULL);
}
