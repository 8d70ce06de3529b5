/* What the 440 has that qemu-ppc's user mode does not show, and how the core stops.
 *
 * Halfword multiplies, multiply-accumulate, dlmzb, isel, dcbz, multiple and string transfers,
 * reservations, byte reversal, mcrxr, mtcrf, traps; privileged, illegal and absent instructions;
 * encodings that glibc uses with reserved bits set. Expected values come from wide integers and
 * from the PPC440 User's Manual's register-transfer text; words are assembled here from the
 * manual's opcode numbers. Decisions of our own (docs/model.md): transfers of many registers happen
 * whole or not at all; a reservation is lost when the word's value changed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "machine/core/core.h"
#include "machine/isa/isa.h"
#include "random.h"
#include "rig_machine.h"
#include "rig_registers.h"

/* ---- The machine. */

enum { CODE = 0x10000, CODE_BYTES = 0x80000, DATA = 0x100000, DATA_BYTES = 0x3000, CORES = 2 };

static struct rig_machine machine;
static uint64_t seed;

static void start_with(uint32_t units)
{
    rig_machine_open(&machine, (struct rig_layout){CODE, CODE_BYTES, DATA, DATA_BYTES}, CORES,
                     &(struct rig_options){.units = units});
}

static int start(void **state)
{
    (void)state;
    start_with(~UINT32_C(0));
    return 0;
}

static int stop(void **state)
{
    (void)state;
    rig_machine_close(&machine);
    return 0;
}

static uint32_t place_one(uint32_t word)
{
    return rig_place_one(&machine, word);
}

static struct core_exit run_on(struct core *core, struct core_regs *regs, uint32_t pc)
{
    return rig_run_on(&machine, core, regs, pc, 1000);
}

static struct core_exit run(struct core_regs *regs, uint32_t pc)
{
    return run_on(machine.core, regs, pc);
}

/* X form and its relatives. */
static uint32_t word_of(unsigned primary, unsigned t, unsigned a, unsigned b, unsigned extended,
                        unsigned record)
{
    return primary << 26 | t << 21 | a << 16 | b << 11 | extended << 1 | record;
}

static uint32_t word_d(unsigned primary, unsigned t, unsigned a, int d)
{
    return primary << 26 | t << 21 | a << 16 | ((uint32_t)d & 0xFFFF);
}

static struct core_regs random_regs(void)
{
    return rig_registers_random(&seed);
}

static void assert_exit(const char *name, struct core_exit got, enum core_reason reason,
                        uint32_t address, bool mapped)
{
    if (got.reason != reason || got.address != address || got.mapped != mapped)
        fail_msg("%s: stop %d, address %08x, mapped %d; expected %d, %08x, %d", name,
                 (int)got.reason, got.address, got.mapped, (int)reason, address, mapped);
}

static uint8_t cr0_of(uint32_t result, unsigned so)
{
    return (uint8_t)((result == 0 ? CR_EQ : result >> 31 ? CR_LT : CR_GT) | so);
}

/* ---- Halfword multiply and multiply-accumulate. */

enum halves { HIGH_HIGH, LOW_HIGH, LOW_LOW };

static const struct half_multiply {
    const char *name;
    unsigned extended;
    enum halves halves;
    bool is_unsigned;
} half_multiplies[] = {
    {"mulhhw", 40, HIGH_HIGH, false}, {"mulhhwu", 8, HIGH_HIGH, true},
    {"mulchw", 168, LOW_HIGH, false}, {"mulchwu", 136, LOW_HIGH, true},
    {"mullhw", 424, LOW_LOW, false},  {"mullhwu", 392, LOW_LOW, true},
};

static const struct accumulate {
    const char *name;
    unsigned extended;
    enum halves halves;
    bool negative, saturate, is_unsigned;
} accumulates[] = {
    {"macchw", 172, LOW_HIGH, false, false, false}, {"macchws", 236, LOW_HIGH, false, true, false},
    {"macchwsu", 204, LOW_HIGH, false, true, true}, {"macchwu", 140, LOW_HIGH, false, false, true},
    {"machhw", 44, HIGH_HIGH, false, false, false}, {"machhws", 108, HIGH_HIGH, false, true, false},
    {"machhwsu", 76, HIGH_HIGH, false, true, true}, {"machhwu", 12, HIGH_HIGH, false, false, true},
    {"maclhw", 428, LOW_LOW, false, false, false},  {"maclhws", 492, LOW_LOW, false, true, false},
    {"maclhwsu", 460, LOW_LOW, false, true, true},  {"maclhwu", 396, LOW_LOW, false, false, true},
    {"nmacchw", 174, LOW_HIGH, true, false, false}, {"nmacchws", 238, LOW_HIGH, true, true, false},
    {"nmachhw", 46, HIGH_HIGH, true, false, false}, {"nmachhws", 110, HIGH_HIGH, true, true, false},
    {"nmaclhw", 430, LOW_LOW, true, false, false},  {"nmaclhws", 494, LOW_LOW, true, true, false},
};
enum { ACCUMULATES = sizeof accumulates / sizeof accumulates[0] };

static uint32_t half_edges(void)
{
    static const uint16_t edges[] = {0,      1,      2,      0x7FFF, 0x8000,
                                     0x8001, 0xFFFF, 0xFFFE, 0x4000, 0x100};
    uint32_t x = (uint32_t)random_next(&seed);
    if (random_next(&seed) & 1) x = (x & 0xFFFF0000) | edges[random_below(&seed, 10)];
    if (random_next(&seed) & 1) x = (x & 0xFFFF) | (uint32_t)edges[random_below(&seed, 10)] << 16;
    return x;
}

static uint32_t sum_edges(void)
{
    static const uint32_t edges[] = {0,          1,          0x7FFFFFFF, 0x80000000,
                                     0xFFFFFFFF, 0xC0000000, 0x3FFFFFFF, 0x40000000,
                                     0xBFFFFFFF, 0xC0008000, 0x0001FFFE, 0xFFFE0001};
    uint32_t x = edges[random_below(&seed, 12)] + (uint32_t)random_below(&seed, 5) - 2;
    return random_below(&seed, 3) ? x : (uint32_t)random_next(&seed);
}

static int64_t half_product(enum halves halves, bool is_unsigned, uint32_t a, uint32_t b)
{
    int64_t x = halves == HIGH_HIGH ? a >> 16 : a & 0xFFFF,
            y = halves == LOW_LOW ? b & 0xFFFF : b >> 16;
    if (!is_unsigned && x >= 0x8000) x -= 0x10000;
    if (!is_unsigned && y >= 0x8000) y -= 0x10000;
    return x * y;
}

static void halfword_multiplies(void **state)
{
    (void)state;
    seed = 1;
    static const uint8_t fields[][3] = {{3, 4, 5}, {3, 3, 4},   {4, 3, 4},
                                        {6, 6, 6}, {0, 31, 30}, {7, 8, 8}};
    for (unsigned i = 0; i < 6; i++)
        for (unsigned record = 0; record < 2; record++)
            for (unsigned f = 0; f < 6; f++) {
                const struct half_multiply *row = &half_multiplies[i];
                unsigned t = fields[f][0], a = fields[f][1], b = fields[f][2];
                uint32_t at = place_one(word_of(4, t, a, b, row->extended, record));
                for (unsigned trial = 0; trial < random_trials(500); trial++) {
                    struct core_regs got = random_regs();
                    got.gpr[a] = half_edges();
                    got.gpr[b] = half_edges();
                    struct core_regs expected = got;
                    expected.gpr[t] = (uint32_t)half_product(row->halves, row->is_unsigned,
                                                             got.gpr[a], got.gpr[b]);
                    if (record) expected.cr[0] = cr0_of(expected.gpr[t], got.xer_so);
                    expected.pc = at + 8;
                    assert_int_equal(run(&got, at).reason, CORE_SYSCALL);
                    rig_registers_check(row->name, &expected, &got);
                }
            }
}

/* Overflow: the exact sum does not fit 32 bits, signed or unsigned. OV and SO only with OE;
 * saturation with or without.
 */
static void multiply_accumulate(void **state)
{
    (void)state;
    seed = 2;
    unsigned overflows = 0;
    static const uint8_t fields[][3] = {{3, 4, 5}, {3, 3, 4}, {4, 3, 4}, {6, 6, 6}, {0, 31, 30}};
    for (unsigned i = 0; i < ACCUMULATES; i++)
        for (unsigned form = 0; form < 4; form++)
            for (unsigned f = 0; f < 5; f++) {
                const struct accumulate *row = &accumulates[i];
                bool oe = form & 2, record = form & 1;
                unsigned t = fields[f][0], a = fields[f][1], b = fields[f][2];
                uint32_t at =
                    place_one(word_of(4, t, a, b, row->extended + (oe ? 512 : 0), record));
                for (unsigned trial = 0; trial < random_trials(500); trial++) {
                    struct core_regs got = random_regs();
                    got.gpr[t] = sum_edges();
                    got.gpr[a] = half_edges();
                    got.gpr[b] = half_edges();
                    struct core_regs expected = got;
                    int64_t product =
                        half_product(row->halves, row->is_unsigned, got.gpr[a], got.gpr[b]);
                    int64_t old =
                        row->is_unsigned ? (int64_t)got.gpr[t] : (int64_t)(int32_t)got.gpr[t];
                    int64_t sum = old + (row->negative ? -product : product);
                    int64_t least = row->is_unsigned ? 0 : -INT64_C(0x80000000);
                    int64_t most = row->is_unsigned ? INT64_C(0xFFFFFFFF) : INT64_C(0x7FFFFFFF);
                    bool over = sum < least || sum > most;
                    overflows += over;
                    if (over && row->saturate) sum = sum < least ? least : most;
                    expected.gpr[t] = (uint32_t)(uint64_t)sum;
                    if (oe) expected.xer_ov = over, expected.xer_so |= over;
                    if (record) expected.cr[0] = cr0_of(expected.gpr[t], expected.xer_so);
                    expected.pc = at + 8;
                    assert_int_equal(run(&got, at).reason, CORE_SYSCALL);
                    rig_registers_check(row->name, &expected, &got);
                }
            }
    assert_true(overflows > random_trials(5000));
}

/* The manual's own words for the saturating forms, on the values where they matter. */
static void saturation_goes_to_the_limit_of_the_accumulators_sign(void **state)
{
    (void)state;
    static const struct {
        unsigned extended;
        uint32_t t, a, b, result;
        unsigned overflow;
    } rows[] = {
        {108 + 512, 0x7FFFFFFF, 0x00010000, 0x00010000, 0x7FFFFFFF, 1}, /* machhwso */
        {108 + 512, 0x80000000, 0xFFFF0000, 0x00010000, 0x80000000, 1},
        {108 + 512, 0x7FFFFFFF, 0xFFFF0000, 0x00010000, 0x7FFFFFFE, 0},
        {44 + 512, 0x7FFFFFFF, 0x00010000, 0x00010000, 0x80000000, 1}, /* machhwo wraps */
        {108 + 512, 0x40000000, 0x80000000, 0x80000000, 0x7FFFFFFF, 1},
        {110 + 512, 0x80000000, 0x00010000, 0x00010000, 0x80000000, 1}, /* nmachhwso */
        {110 + 512, 0xC0000000, 0x80000000, 0x80000000, 0x80000000, 0},
        {76 + 512, 0xFFFFFFFF, 0x00010000, 0x00010000, 0xFFFFFFFF, 1}, /* machhwsuo */
        {12 + 512, 0xFFFFFFFF, 0x00010000, 0x00010000, 0x00000000, 1}, /* machhwuo wraps */
        {12 + 512, 0x0001FFFE, 0xFFFF0000, 0xFFFF0000, 0xFFFFFFFF, 0},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct core_regs regs = {.msr = MSR_PR};
        regs.gpr[3] = rows[i].t, regs.gpr[4] = rows[i].a, regs.gpr[5] = rows[i].b;
        run(&regs, place_one(word_of(4, 3, 4, 5, rows[i].extended, 1)));
        assert_int_equal(regs.gpr[3], rows[i].result);
        assert_int_equal(regs.xer_ov, rows[i].overflow);
        assert_int_equal(regs.xer_so, rows[i].overflow);
        assert_int_equal(regs.cr[0], cr0_of(rows[i].result, rows[i].overflow));
    }
}

/* ---- dlmzb, isel. */

static void dlmzb_finds_the_leftmost_zero_byte(void **state)
{
    (void)state;
    seed = 3;
    static const uint8_t fields[][3] = {
        {3, 4, 5}, {3, 3, 5}, {3, 5, 5}, {6, 7, 6}}; /* RS, RA, RB */
    for (unsigned record = 0; record < 2; record++)
        for (unsigned f = 0; f < 4; f++) {
            unsigned s = fields[f][0], a = fields[f][1], b = fields[f][2];
            uint32_t at = place_one(word_of(31, s, a, b, 78, record));
            for (unsigned zeros = 0; zeros < 256;
                 zeros++) { /* which bytes are zero, the leftmost the highest bit */
                struct core_regs got = random_regs();
                uint8_t bytes[8];
                for (unsigned i = 0; i < 8; i++)
                    bytes[i] = zeros & 0x80 >> i ? 0 : (uint8_t)(1 + random_below(&seed, 255));
                got.gpr[s] = (uint32_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
                got.gpr[b] = (uint32_t)bytes[4] << 24 | bytes[5] << 16 | bytes[6] << 8 | bytes[7];
                if (s == b) memcpy(bytes, bytes + 4, 4);
                struct core_regs expected = got;
                unsigned x = 0;
                bool y = false;
                while (x < 8 && !y)
                    y = bytes[x++] == 0;
                expected.gpr[a] = x;
                expected.xer_count = (uint8_t)x;
                if (record) expected.cr[0] = (uint8_t)((!y ? 2 : x < 5 ? 4 : 8) | got.xer_so);
                expected.pc = at + 8;
                assert_int_equal(run(&got, at).reason, CORE_SYSCALL);
                rig_registers_check("dlmzb", &expected, &got);
            }
        }
}

static void isel_selects_by_any_bit(void **state)
{
    (void)state;
    seed = 4;
    for (unsigned bit = 0; bit < 32; bit++)
        for (unsigned a = 0; a < 4; a++) {
            uint32_t at = place_one(word_of(31, 3, a, 5, bit << 5 | 15, 0));
            for (unsigned trial = 0; trial < 20; trial++) {
                struct core_regs got = random_regs(), expected = got;
                bool set = core_cr_get(&got) << bit >> 31;
                expected.gpr[3] = set ? (a ? got.gpr[a] : 0) : got.gpr[5];
                expected.pc = at + 8;
                assert_int_equal(run(&got, at).reason, CORE_SYSCALL);
                rig_registers_check("isel", &expected, &got);
            }
        }
}

/* ---- Memory. */

static void fill_data(uint8_t *copy)
{
    for (unsigned i = 0; i < DATA_BYTES; i++)
        copy[i] = (uint8_t)random_next(&seed);
    memcpy(machine.mem->base + DATA, copy, DATA_BYTES);
}

/* An instruction that must stop for an access with nothing changed, nothing counted. */
static void expect_fault(const char *name, uint32_t at, struct core_regs regs,
                         enum core_reason reason, uint32_t address, bool mapped)
{
    static uint8_t copy[DATA_BYTES];
    memcpy(copy, machine.mem->base + DATA, DATA_BYTES);
    uint64_t counts[2][CORE_SIGNAL_COUNT];
    struct core_regs got = regs;
    core_signal_counts(machine.core, counts[0]);
    assert_exit(name, run(&got, at), reason, address, mapped);
    core_signal_counts(machine.core, counts[1]);
    counts[0][CORE_SIGNAL_FETCH] = counts[1][CORE_SIGNAL_FETCH]; /* the instruction was fetched */
    regs.pc = at;
    rig_registers_check(name, &regs, &got);
    assert_memory_equal(machine.mem->base + DATA, copy, DATA_BYTES);
    assert_memory_equal(counts[0], counts[1], sizeof counts[0]);
}

static void dcbz_clears_a_line(void **state)
{
    (void)state;
    seed = 5;
    static uint8_t copy[DATA_BYTES];
    uint32_t at = place_one(word_of(31, 0, 3, 4, 1014, 0)),
             at0 = place_one(word_of(31, 0, 0, 4, 1014, 0));
    for (unsigned trial = 0; trial < 400; trial++) {
        uint32_t offset = (uint32_t)random_below(&seed, DATA_BYTES);
        if (trial < 64) offset = MEM_PAGE - 32 + trial;
        fill_data(copy);
        struct core_regs got = random_regs();
        got.gpr[3] = trial % 2 ? (uint32_t)random_next(&seed) : 0;
        got.gpr[4] = DATA + offset - got.gpr[3];
        struct core_regs expected = got;
        memset(copy + (offset & ~31U), 0, 32);
        expected.pc = (trial % 2 ? at : at0) + 8;
        assert_int_equal(run(&got, trial % 2 ? at : at0).reason, CORE_SYSCALL);
        rig_registers_check("dcbz", &expected, &got);
        assert_memory_equal(machine.mem->base + DATA, copy, DATA_BYTES);
    }
    struct core_regs regs = random_regs();
    regs.gpr[4] = DATA + DATA_BYTES + 5;
    expect_fault("dcbz", at0, regs, CORE_STORE, DATA + DATA_BYTES, false);
    mem_protect(machine.mem, DATA, MEM_PAGE, MEM_READ);
    regs.gpr[4] = DATA + MEM_PAGE - 1;
    expect_fault("dcbz", at0, regs, CORE_STORE, DATA + MEM_PAGE - 32, true);
}

/* lmw, stmw, lswi, stswi, lswx, stswx. `bytes` from EA on, four to a register, after r31 comes r0.
 */
static const struct many {
    const char *name;
    unsigned extended; /* 0: D form */
    unsigned primary;
    bool store;
} manys[] = {
    {"lmw", 0, 46, false},    {"stmw", 0, 47, true},    {"lswi", 597, 31, false},
    {"stswi", 725, 31, true}, {"lswx", 533, 31, false}, {"stswx", 661, 31, true},
};

static uint32_t word_many(unsigned i, unsigned t, unsigned a, unsigned bytes)
{
    if (i < 2) return word_d(manys[i].primary, t, a, -8);
    return word_of(31, t, a, i < 4 ? bytes & 31 : 4, manys[i].extended, 0);
}

static unsigned bytes_many(unsigned i, unsigned t, unsigned bytes)
{
    return i < 2 ? 4 * (32 - t) : bytes;
}

/* Registers such that EA is `ea`: RA is r3 (or none), RB r4. */
static struct core_regs regs_many(unsigned i, unsigned a, unsigned bytes, uint32_t ea)
{
    struct core_regs regs = random_regs();
    regs.xer_count = (uint8_t)bytes;
    uint32_t other = i < 2 ? (uint32_t)-8 : i < 4 ? 0 : (uint32_t)random_next(&seed);
    if (i >= 4 && a == 0) other = ea;
    if (i >= 4) regs.gpr[4] = other;
    if (a) regs.gpr[a] = ea - other;
    return regs;
}

static void transfers_of_many_registers(void **state)
{
    (void)state;
    seed = 6;
    static uint8_t copy[DATA_BYTES];
    for (unsigned i = 0; i < 6; i++)
        for (unsigned trial = 0; trial < random_trials(400); trial++) {
            unsigned t = (unsigned)random_below(&seed, 32), a = 3;
            unsigned bytes =
                i < 4 ? 1 + (unsigned)random_below(&seed, 32) : (unsigned)random_below(&seed, 128);
            if (i >= 4 && trial < 3) bytes = trial == 0 ? 0 : trial == 1 ? 1 : 127;
            if (i >= 4 && trial % 4 == 0) a = 0;
            unsigned count = bytes_many(i, t, bytes);
            uint32_t offset = (uint32_t)random_below(&seed, DATA_BYTES - 160);
            if (trial % 3 == 0 && count)
                offset = MEM_PAGE - (uint32_t)random_below(&seed, count + 1);
            uint32_t at = place_one(word_many(i, t, a, bytes));
            fill_data(copy);
            struct core_regs got = regs_many(i, a, bytes, DATA + offset), expected = got;
            for (unsigned n = 0; n < count; n++) {
                uint32_t *gpr = &expected.gpr[(t + n / 4) % 32];
                unsigned shift = 24 - 8 * (n % 4);
                if (manys[i].store)
                    copy[offset + n] = (uint8_t)(*gpr >> shift);
                else
                    *gpr = (n % 4 ? *gpr : 0) | (uint32_t)copy[offset + n] << shift;
            }
            expected.pc = at + 8;
            assert_int_equal(run(&got, at).reason, CORE_SYSCALL);
            rig_registers_check(manys[i].name, &expected, &got);
            assert_memory_equal(machine.mem->base + DATA, copy, DATA_BYTES);
            if (trial % 50 == 49) { /* fresh pages, so that the code fits */
                rig_place_again(&machine);
            }
        }
}

static void transfers_of_many_registers_happen_whole_or_not_at_all(void **state)
{
    (void)state;
    seed = 7;
    static uint8_t copy[DATA_BYTES];
    uint32_t end = DATA + DATA_BYTES;
    for (unsigned i = 0; i < 6; i++)
        for (unsigned trial = 0; trial < random_trials(200); trial++) {
            unsigned t = (unsigned)random_below(&seed, 31);
            unsigned bytes = 2 + (unsigned)random_below(&seed, i < 4 ? 31 : 126);
            unsigned count = bytes_many(i, t, bytes),
                     inside = 1 + (unsigned)random_below(&seed, count - 1);
            enum core_reason reason = manys[i].store ? CORE_STORE : CORE_LOAD;
            uint32_t at = place_one(word_many(i, t, 3, bytes));
            fill_data(copy);
            expect_fault(manys[i].name, at, regs_many(i, 3, bytes, end - inside), reason, end,
                         false);
            expect_fault(manys[i].name, at, regs_many(i, 3, bytes, DATA - inside), reason,
                         DATA - inside, false);
            mem_protect(machine.mem, DATA + MEM_PAGE, MEM_PAGE, manys[i].store ? MEM_READ : 0);
            expect_fault(manys[i].name, at, regs_many(i, 3, bytes, DATA + MEM_PAGE - inside),
                         reason, DATA + MEM_PAGE, true);
            mem_protect(machine.mem, DATA + MEM_PAGE, MEM_PAGE, MEM_READ | MEM_WRITE);
        }
    /* no bytes, no access, no fault */
    for (unsigned i = 4; i < 6; i++) {
        uint32_t at = place_one(word_many(i, 9, 3, 0));
        struct core_regs got = regs_many(i, 3, 0, 0xFFFFFFFF), expected = got;
        expected.pc = at + 8;
        assert_int_equal(run(&got, at).reason, CORE_SYSCALL);
        rig_registers_check(manys[i].name, &expected, &got);
    }
}

/* Loads and stores of one value with update: a fault in the second page leaves the base register
 * too. */
static void faults_leave_the_base_register(void **state)
{
    (void)state;
    seed = 8;
    static const struct {
        const char *name;
        unsigned primary, bytes;
        bool store;
    } rows[] = {{"lbzu", 35, 1, false}, {"lhzu", 41, 2, false}, {"lhau", 43, 2, false},
                {"lwzu", 33, 4, false}, {"lfsu", 49, 4, false}, {"lfdu", 51, 8, false},
                {"stbu", 39, 1, true},  {"sthu", 45, 2, true},  {"stwu", 37, 4, true},
                {"stfsu", 53, 4, true}, {"stfdu", 55, 8, true}};
    uint32_t end = DATA + DATA_BYTES;
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t at = place_one(word_d(rows[i].primary, 7, 3, 0x7FF0));
        enum core_reason reason = rows[i].store ? CORE_STORE : CORE_LOAD;
        for (unsigned inside = 0; inside < rows[i].bytes; inside++) {
            struct core_regs regs = random_regs();
            regs.gpr[3] = end - inside - 0x7FF0;
            expect_fault(rows[i].name, at, regs, reason, end, false);
        }
        struct core_regs regs = random_regs(); /* and unaligned across two good pages is no fault */
        regs.gpr[3] = DATA + MEM_PAGE - rows[i].bytes / 2 - 0x7FF0;
        assert_int_equal(run(&regs, at).reason, CORE_SYSCALL);
        assert_int_equal(regs.gpr[3], DATA + MEM_PAGE - rows[i].bytes / 2);
    }
}

static void byte_reversal(void **state)
{
    (void)state;
    seed = 9;
    static uint8_t copy[DATA_BYTES];
    uint32_t lhbrx = place_one(word_of(31, 7, 3, 4, 790, 0)),
             lwbrx = place_one(word_of(31, 7, 3, 4, 534, 0));
    uint32_t sthbrx = place_one(word_of(31, 7, 3, 4, 918, 0)),
             stwbrx = place_one(word_of(31, 7, 3, 4, 662, 0));
    for (unsigned trial = 0; trial < 500; trial++) {
        uint32_t offset = trial % 2 ? MEM_PAGE - (uint32_t)random_below(&seed, 5)
                                    : (uint32_t)random_below(&seed, DATA_BYTES - 4);
        fill_data(copy);
        struct core_regs got = random_regs();
        got.gpr[3] = DATA + offset - got.gpr[4];
        uint32_t value = got.gpr[7];
        const uint8_t *p = copy + offset;
        run(&got, lhbrx);
        assert_int_equal(got.gpr[7], p[0] | p[1] << 8);
        run(&got, lwbrx);
        assert_int_equal(got.gpr[7], p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24);
        got.gpr[7] = value;
        run(&got, sthbrx);
        copy[offset] = (uint8_t)value, copy[offset + 1] = (uint8_t)(value >> 8);
        assert_memory_equal(machine.mem->base + DATA, copy, DATA_BYTES);
        run(&got, stwbrx);
        for (unsigned i = 0; i < 4; i++)
            copy[offset + i] = (uint8_t)(value >> 8 * i);
        assert_memory_equal(machine.mem->base + DATA, copy, DATA_BYTES);
        assert_int_equal(got.gpr[7], value);
    }
    struct core_regs regs = random_regs();
    regs.gpr[3] = DATA + DATA_BYTES - 1 - regs.gpr[4];
    expect_fault("sthbrx", sthbrx, regs, CORE_STORE, DATA + DATA_BYTES, false);
    expect_fault("stwbrx", stwbrx, regs, CORE_STORE, DATA + DATA_BYTES, false);
    expect_fault("lwbrx", lwbrx, regs, CORE_LOAD, DATA + DATA_BYTES, false);
}

/* ---- Reservations. */

static uint32_t data_word(uint32_t offset)
{
    uint32_t value;
    assert_true(mem_get32(machine.mem, DATA + offset, &value));
    return value;
}

static void reservations(void **state)
{
    (void)state;
    uint32_t lwarx = place_one(word_of(31, 7, 0, 4, 20, 0)),
             stwcx = place_one(word_of(31, 8, 0, 4, 150, 1));
    for (unsigned so = 0; so < 2; so++) {
        struct core_regs a = {.msr = MSR_PR, .xer_so = (uint8_t)so}, b = {.msr = MSR_PR};
        struct core *other = cores_get(machine.cores, 1);
        a.gpr[4] = b.gpr[4] = DATA + 8;
        a.gpr[8] = 111, b.gpr[8] = 222;
        assert_true(mem_put32(machine.mem, DATA + 8, 5));
        /* none made: no store */
        a.cr[0] = 15;
        run(&a, stwcx);
        assert_int_equal(a.cr[0], so);
        assert_int_equal(data_word(8), 5);
        /* success, once */
        run(&a, lwarx);
        assert_int_equal(a.gpr[7], 5);
        run(&a, stwcx);
        assert_int_equal(a.cr[0], CR_EQ | so);
        assert_int_equal(data_word(8), 111);
        a.gpr[8] = 112;
        run(&a, stwcx);
        assert_int_equal(a.cr[0], so);
        assert_int_equal(data_word(8), 111);
        /* another address, though the same value is there: fails, and the reservation is gone */
        assert_true(mem_put32(machine.mem, DATA + 12, 111));
        run(&a, lwarx);
        a.gpr[4] = DATA + 12;
        run(&a, stwcx);
        assert_int_equal(a.cr[0], so);
        assert_int_equal(data_word(12), 111);
        a.gpr[4] = DATA + 8;
        run(&a, stwcx);
        assert_int_equal(a.cr[0], so);
        /* lost to another core */
        run(&a, lwarx);
        run_on(other, &b, lwarx);
        run_on(other, &b, stwcx);
        assert_int_equal(b.cr[0], CR_EQ);
        run(&a, stwcx);
        assert_int_equal(a.cr[0], so);
        assert_int_equal(data_word(8), 222);
        /* a later lwarx takes over */
        a.gpr[4] = DATA + 12;
        run(&a, lwarx);
        a.gpr[4] = DATA + 8;
        run(&a, lwarx);
        run(&a, stwcx);
        assert_int_equal(a.cr[0], CR_EQ | so);
        assert_int_equal(data_word(8), 112);
    }
}

static void reservations_must_be_aligned_and_allowed(void **state)
{
    (void)state;
    seed = 10;
    uint32_t lwarx = place_one(word_of(31, 7, 3, 4, 20, 0)),
             stwcx = place_one(word_of(31, 7, 3, 4, 150, 1));
    for (unsigned reserved = 0; reserved < 2; reserved++) {
        struct core_regs regs = random_regs();
        for (uint32_t offset = 1; offset < 4; offset++) {
            regs.gpr[3] = DATA + offset - regs.gpr[4];
            regs.reserved = reserved, regs.reserve_address = DATA,
            regs.reserve_value = data_word(0);
            expect_fault("lwarx", lwarx, regs, CORE_ALIGNMENT, DATA + offset, false);
            expect_fault("stwcx.", stwcx, regs, CORE_ALIGNMENT, DATA + offset, false);
        }
        regs.gpr[3] = DATA + DATA_BYTES - regs.gpr[4];
        expect_fault("lwarx", lwarx, regs, CORE_LOAD, DATA + DATA_BYTES, false);
        expect_fault("stwcx.", stwcx, regs, CORE_STORE, DATA + DATA_BYTES, false);
        mem_protect(machine.mem, DATA, MEM_PAGE, MEM_READ);
        regs.gpr[3] = DATA - regs.gpr[4];
        expect_fault("stwcx.", stwcx, regs, CORE_STORE, DATA, true);
        mem_protect(machine.mem, DATA, MEM_PAGE, MEM_READ | MEM_WRITE);
    }
}

/* ---- CR, XER, traps. */

static void mcrxr_moves_and_clears(void **state)
{
    (void)state;
    seed = 11;
    for (unsigned field = 0; field < 8; field++) {
        uint32_t at = place_one(word_of(31, field << 2, 0, 0, 512, 0));
        for (unsigned xer = 0; xer < 8; xer++) {
            struct core_regs got = random_regs();
            core_xer_set(&got, (uint32_t)xer << 29 | got.xer_count);
            struct core_regs expected = got;
            expected.cr[field] = (uint8_t)(xer << 1);
            expected.xer_so = expected.xer_ov = expected.xer_ca = 0;
            expected.pc = at + 8;
            assert_int_equal(run(&got, at).reason, CORE_SYSCALL);
            rig_registers_check("mcrxr", &expected, &got);
        }
    }
}

static void mtcrf_obeys_every_mask(void **state)
{
    (void)state;
    seed = 12;
    for (unsigned mask = 0; mask < 256; mask++) {
        uint32_t at = place_one(31U << 26 | 7 << 21 | mask << 12 | 144 << 1);
        uint32_t at_ocrf =
            place_one(31U << 26 | 7 << 21 | 1 << 20 | mask << 12 | 144 << 1); /* mtocrf: the same */
        for (unsigned trial = 0; trial < 10; trial++) {
            struct core_regs got = random_regs();
            uint32_t bits = 0, cr = core_cr_get(&got);
            for (unsigned i = 0; i < 8; i++)
                if (mask >> (7 - i) & 1) bits |= UINT32_C(0xF0000000) >> 4 * i;
            uint32_t expected = (got.gpr[7] & bits) | (cr & ~bits);
            run(&got, trial % 2 ? at : at_ocrf);
            assert_int_equal(core_cr_get(&got), expected);
        }
    }
    struct core_regs regs = random_regs();
    uint32_t cr = core_cr_get(&regs);
    run(&regs, place_one(word_of(31, 7, 0, 0, 19, 0)));
    assert_int_equal(regs.gpr[7], cr);
    run(&regs,
        place_one(31U << 26 | 8 << 21 | 1 << 20 | 0x80 << 12 | 19 << 1)); /* mfocrf acts as mfcr */
    assert_int_equal(regs.gpr[8], cr);
}

static void traps_for_every_condition(void **state)
{
    (void)state;
    static const int32_t values[] = {0, 1, -1, 5, -5, INT32_MAX, INT32_MIN, 0x7FFF, -0x8000};
    for (unsigned to = 0; to < 32; to++)
        for (unsigned x = 0; x < 9; x++)
            for (unsigned y = 0; y < 9; y++) {
                int64_t a = values[x], b = values[y];
                uint64_t ua = (uint32_t)a, ub = (uint32_t)b;
                bool trap = (to & 16 && a < b) || (to & 8 && a > b) || (to & 4 && a == b) ||
                            (to & 2 && ua < ub) || (to & 1 && ua > ub);
                bool short_b = b == (int16_t)b;
                for (unsigned form = 0; form < (short_b ? 2U : 1U); form++) {
                    if (machine.free + 8 > CODE + CODE_BYTES) {
                        rig_place_again(&machine);
                    }
                    uint32_t at =
                        place_one(form ? word_d(3, to, 4, (int)b) : word_of(31, to, 4, 5, 4, 0));
                    struct core_regs got = {.msr = MSR_PR};
                    got.gpr[4] = (uint32_t)a, got.gpr[5] = (uint32_t)b;
                    struct core_regs expected = got;
                    expected.pc = trap ? at : at + 8;
                    assert_exit(form ? "twi" : "tw", run(&got, at), trap ? CORE_TRAP : CORE_SYSCALL,
                                0, false);
                    rig_registers_check(form ? "twi" : "tw", &expected, &got);
                }
            }
}

/* ---- What stops, and what exists. */

static uint32_t word_spr(unsigned extended, unsigned t, unsigned spr)
{
    return 31U << 26 | t << 21 | (spr & 31) << 16 | spr >> 5 << 11 | extended << 1;
}

static void privileged_instructions_stop(void **state)
{
    (void)state;
    seed = 13;
    static const struct {
        unsigned primary, extended, record;
    } rows[] = {
        {19, 50, 0},  {19, 51, 0},  {19, 38, 0},  {31, 83, 0},  {31, 146, 0},
        {31, 131, 0}, {31, 163, 0}, {31, 323, 0}, {31, 451, 0}, {31, 470, 0},
        {31, 454, 0}, {31, 966, 0}, {31, 486, 0}, {31, 998, 0}, {31, 946, 0},
        {31, 978, 0}, {31, 914, 0}, {31, 914, 1}, {31, 566, 0},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_fault("privileged",
                     place_one(word_of(rows[i].primary, 3, 4, 5, rows[i].extended, rows[i].record)),
                     random_regs(), CORE_PRIVILEGED, 0, false);
    for (unsigned spr = 0; spr < 1024; spr++) { /* the fifth bit of the number says privileged */
        if (!(spr & 0x10)) continue;
        expect_fault("mfspr", place_one(word_spr(339, 3, spr)), random_regs(), CORE_PRIVILEGED, 0,
                     false);
        expect_fault("mtspr", place_one(word_spr(467, 3, spr)), random_regs(), CORE_PRIVILEGED, 0,
                     false);
    }
}

/* The same decoded instruction, first in problem state, then in supervisor state; both twice. */
static void privilege_is_looked_up_at_execution(void **state)
{
    (void)state;
    seed = 14;
    enum { NO_EE = MSR_FP | MSR_ME, EE = NO_EE | MSR_EE };
    static const struct {
        const char *name;
        uint32_t word, before, operand, after;
    } rows[] = {
        {"mfmsr", 31U << 26 | 3 << 21 | 83 << 1, EE, 0, EE},
        {"mtmsr", 31U << 26 | 3 << 21 | 146 << 1, NO_EE, EE | 1, EE}, /* no such bit: 1 */
        {"mtmsr, to problem state", 31U << 26 | 3 << 21 | 146 << 1, NO_EE, MSR_PR, MSR_PR},
        {"wrtee", 31U << 26 | 3 << 21 | 131 << 1, NO_EE, UINT32_MAX, EE},
        {"wrtee", 31U << 26 | 3 << 21 | 131 << 1, EE, ~(uint32_t)MSR_EE, NO_EE},
        {"wrteei 1", 31U << 26 | 1 << 15 | 163 << 1, NO_EE, 0, EE},
        {"wrteei 0", 31U << 26 | 163 << 1, EE, UINT32_MAX, NO_EE},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t at = place_one(rows[i].word);
        for (unsigned again = 0; again < 2; again++) {
            struct core_regs got = random_regs(), expected = got;
            assert_int_equal(run(&got, at).reason, CORE_PRIVILEGED);
            expected.pc = at;
            rig_registers_check(rows[i].name, &expected, &got);
            got.gpr[3] = rows[i].operand;
            got.msr = rows[i].before;
            expected = got;
            expected.msr = rows[i].after;
            if (i == 0) expected.gpr[3] = rows[i].before;
            expected.pc = at + 8;
            assert_int_equal(run(&got, at).reason, CORE_SYSCALL);
            rig_registers_check(rows[i].name, &expected, &got);
        }
    }
    struct core_regs regs = random_regs();
    regs.msr = 0; /* no kernel runs yet: nothing else of the supervisor's is there */
    assert_int_equal(run(&regs, place_one(31U << 26 | 978 << 1)).reason, CORE_ILLEGAL); /* tlbwe */
}

static void user_sprs(void **state)
{
    (void)state;
    seed = 14;
    for (unsigned spr = 0; spr < 1024; spr++) {
        if (spr & 0x10) continue;
        uint32_t mfspr = place_one(word_spr(339, 3, spr)), mtspr = place_one(word_spr(467, 3, spr));
        struct core_regs got = random_regs(), before = got;
        bool readable = spr == 1 || spr == 8 || spr == 9 || spr == 256 ||
                        (spr >= 260 && spr <= 263) || spr == 268 || spr == 269;
        bool writable = spr == 1 || spr == 8 || spr == 9 || spr == 256;
        assert_int_equal(run(&got, mfspr).reason, readable ? CORE_SYSCALL : CORE_ILLEGAL);
        if (spr == 1) assert_int_equal(got.gpr[3], core_xer_get(&before));
        if (spr == 8) assert_int_equal(got.gpr[3], before.lr);
        if (spr == 9) assert_int_equal(got.gpr[3], before.ctr);
        if (!readable) assert_int_equal(got.gpr[3], before.gpr[3]);
        got = before;
        assert_int_equal(run(&got, mtspr).reason, writable ? CORE_SYSCALL : CORE_ILLEGAL);
        if (spr == 1) assert_int_equal(core_xer_get(&got), before.gpr[3] & 0xE000007F);
        if (spr == 8) assert_int_equal(got.lr, before.gpr[3]);
        if (spr == 9) assert_int_equal(got.ctr, before.gpr[3]);
        if (spr == 256) assert_int_equal(got.usprg0, before.gpr[3]);
    }
    struct core_regs regs = random_regs(); /* mftb, mftbu: the simulated time */
    core_idle_until(machine.core, UINT64_C(0x500000000));
    run(&regs, place_one(word_spr(371, 3, 269)));
    assert_int_equal(regs.gpr[3], 5);
    uint64_t before = core_cycles(machine.core);
    run(&regs, place_one(word_spr(371, 3, 268)));
    assert_in_range(regs.gpr[3], (uint32_t)before, (uint32_t)core_cycles(machine.core));
}

static void illegal_words_stop(void **state)
{
    (void)state;
    seed = 15;
    static const uint32_t words[] = {
        0x00000000,        /* the word that Book E guarantees */
        0x04000000,        /* primary opcodes without an instruction */
        1U << 26 | 0x1234, /* */
        2U << 26,          /* tdi */
        5U << 26,
        6U << 26, /* */
        9U << 26, /* dozi */
        22U << 26,
        30U << 26, /* rlimi, 64-bit rotates */
        56U << 26,
        57U << 26, /* lq, lfdp */
        58U << 26,
        62U << 26, /* ld, std */
        60U << 26,
        61U << 26,            /* VSX */
        31U << 26 | 27 << 1,  /* sld */
        31U << 26 | 58 << 1,  /* cntlzd */
        31U << 26 | 21 << 1,  /* ldx */
        31U << 26 | 84 << 1,  /* ldarx */
        31U << 26 | 150 << 1, /* stwcx. without its record bit */
        31U << 26 | 233 << 1, /* mulld */
        31U << 26 | 178 << 1, /* mtmsrd */
        31U << 26 | 210 << 1, /* mtsr */
        31U << 26 | 595 << 1, /* mfsr */
        31U << 26 | 306 << 1, /* tlbie */
        31U << 26 | 310 << 1, /* eciwx */
        31U << 26 | 438 << 1, /* ecowx */
        31U << 26 | 786 << 1, /* tlbivax */
        31U << 26 | 275 << 1, /* mfapidi */
        31U << 26 | 508 << 1, /* cmpb */
        31U << 26 | 122 << 1, /* popcntb */
        59U << 26 | 2 << 1,   /* dadd */
        63U << 26 | 8 << 1,   /* fcpsgn */
        63U << 26 | 392 << 1, /* friz's neighbourhood */
        19U << 26 | 18 << 1,  /* rfid */
        19U << 26 | 434 << 1, /* doze */
        4U << 26 | 2 << 1,    /* AltiVec */
        0x001F47CD,
        0x001F47CE,
        0x003F47CC,
        0x001F47CC ^ 1U << 11, /* almost the call-through */
    };
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct core_regs regs = random_regs(), got = regs;
        uint32_t at = place_one(words[i]);
        if (run(&got, at).reason != CORE_ILLEGAL) fail_msg("%08x is not illegal", words[i]);
        expect_fault("illegal", at, regs, CORE_ILLEGAL, 0, false);
    }
}

static void optional_instructions_exist_where_their_unit_does(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum isa_unit unit;
        uint32_t word; /* target f1 or r1, source f2 or r2 and r3 */
        uint64_t source, result;
    } rows[] = {
        {"fsqrt", ISA_UNIT_FSQRT, 63U << 26 | 1 << 21 | 2 << 11 | 22 << 1,
         UINT64_C(0x4010000000000000), UINT64_C(0x4000000000000000)},
        {"fsqrts", ISA_UNIT_FSQRT, 59U << 26 | 1 << 21 | 2 << 11 | 22 << 1,
         UINT64_C(0x4000000000000000), UINT64_C(0x3FF6A09E60000000)},
        {"fcfid", ISA_UNIT_FCVT64, 63U << 26 | 1 << 21 | 2 << 11 | 846 << 1, (uint64_t)-3,
         UINT64_C(0xC008000000000000)},
        {"fctid", ISA_UNIT_FCVT64, 63U << 26 | 1 << 21 | 2 << 11 | 814 << 1,
         UINT64_C(0x400C000000000000), 4},
        {"fctidz", ISA_UNIT_FCVT64, 63U << 26 | 1 << 21 | 2 << 11 | 815 << 1,
         UINT64_C(0xC00C000000000000), (uint64_t)-3},
        {"fmr", ISA_UNIT_FPU, 63U << 26 | 1 << 21 | 2 << 11 | 72 << 1, 77, 77},
        {"fpmr", ISA_UNIT_FP2, 0U << 26 | 1 << 21 | 2 << 11 | 32 << 1, 78, 78},
        {"mullhwu", ISA_UNIT_MAC, 4U << 26 | 1 << 21 | 2 << 16 | 3 << 11 | 392 << 1, 0, 12},
        {"dlmzb", ISA_UNIT_MAC, 31U << 26 | 2 << 21 | 1 << 16 | 3 << 11 | 78 << 1, 0, 1},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (unsigned present = 0; present < 2; present++) {
            stop(NULL);
            start_with(present ? isa_unit_bit(ISA_UNIT_BASE) | isa_unit_bit(rows[i].unit)
                               : ~isa_unit_bit(rows[i].unit));
            uint32_t at = place_one(rows[i].word);
            struct core_regs regs = {.msr = MSR_PR | MSR_FP};
            regs.fpr[2] = rows[i].source;
            regs.gpr[2] = 3, regs.gpr[3] = 4;
            if (!present) {
                expect_fault(rows[i].name, at, regs, CORE_ILLEGAL, 0, false);
                continue;
            }
            assert_int_equal(run(&regs, at).reason, CORE_SYSCALL);
            assert_int_equal(rows[i].unit == ISA_UNIT_MAC ? regs.gpr[1] : regs.fpr[1],
                             rows[i].result);
        }
}

/* mffsl, mffscrn, mffscrni, mffsce: libm executes them; on this machine every form with 583 is
 * mffs. */
static void every_form_of_583_is_mffs(void **state)
{
    (void)state;
    seed = 16;
    for (unsigned bits = 0; bits < 1024; bits++) {
        unsigned record = bits & 1;
        uint32_t at = place_one(63U << 26 | 9 << 21 | bits << 11 | 583 << 1 | record);
        struct core_regs got = random_regs();
        got.fpscr = 0xA2012001; /* FX VX XX FPRF RN, and a cause of VX */
        got.fpscr |= 0x01000000;
        struct core_regs expected = got;
        expected.fpr[9] = got.fpscr;
        if (record) expected.cr[1] = got.fpscr >> 28;
        expected.pc = at + 8;
        assert_int_equal(run(&got, at).reason, CORE_SYSCALL);
        rig_registers_check("mffs", &expected, &got);
    }
}

static void every_sync_is_msync(void **state)
{
    (void)state;
    seed = 17;
    static const uint32_t words[] = {0x7C0004AC, 0x7C2004AC, 0x7C4004AC,
                                     0x7C6004AC, 0x7C0006AC, 0x7C2006AC};
    for (unsigned i = 0; i < sizeof words / sizeof words[0];
         i++) { /* sync, lwsync, ptesync; mbar 0, 1 */
        uint64_t counts[2][CORE_SIGNAL_COUNT];
        uint32_t at = place_one(words[i]);
        struct core_regs got = random_regs(), expected = got;
        core_signal_counts(machine.core, counts[0]);
        assert_int_equal(run(&got, at).reason, CORE_SYSCALL);
        core_signal_counts(machine.core, counts[1]);
        expected.pc = at + 8;
        rig_registers_check("sync", &expected, &got);
        assert_int_equal(counts[1][CORE_SIGNAL_SYNC] - counts[0][CORE_SIGNAL_SYNC], 1);
    }
}

/* dcba, the touches and the eight reserved no-ops do nothing, whatever the address. */
static void hints_and_reserved_no_ops_do_nothing(void **state)
{
    (void)state;
    seed = 18;
    static const unsigned extended[] = {758, 278, 246, 22, 530, 562, 594, 626, 658, 690, 722, 754};
    for (unsigned i = 0; i < sizeof extended / sizeof extended[0]; i++) {
        uint32_t at = place_one(word_of(31, 0, 3, 4, extended[i], 0));
        struct core_regs got = random_regs(), expected = got;
        expected.pc = at + 8;
        if (run(&got, at).reason != CORE_SYSCALL) fail_msg("31/%u stops", extended[i]);
        rig_registers_check("no-op", &expected, &got);
    }
}

/* dcbf, dcbst and icbi are loads to access control [UM page 144], and nothing else. */
static void cache_instructions_need_the_right_to_read(void **state)
{
    (void)state;
    seed = 21;
    static const unsigned extended[] = {86, 54, 982};
    for (unsigned i = 0; i < 3; i++) {
        uint32_t at = place_one(word_of(31, 0, 3, 4, extended[i], 0));
        struct core_regs got = random_regs();
        got.gpr[3] = DATA + DATA_BYTES - 1 - got.gpr[4];
        struct core_regs expected = got;
        expected.pc = at + 8;
        assert_int_equal(run(&got, at).reason, CORE_SYSCALL);
        rig_registers_check("cache", &expected, &got);
        expected.gpr[3]++;
        expect_fault("cache", at, expected, CORE_LOAD, DATA + DATA_BYTES, false);
    }
}

static void system_call_and_call_through_stop_after_themselves(void **state)
{
    (void)state;
    seed = 19;
    static const struct {
        uint32_t word;
        enum core_reason reason;
    } rows[] = {{RIG_SC, CORE_SYSCALL}, {0x001F47CC, CORE_CALLTHRU}};
    for (unsigned i = 0; i < 2; i++) {
        uint32_t at = place_one(rows[i].word);
        struct core_regs got = random_regs(), expected = got;
        expected.pc = at + 4;
        assert_exit("stop", run(&got, at), rows[i].reason, 0, false);
        rig_registers_check("stop", &expected, &got);
    }
    stop(NULL); /* a machine without the service has no such instruction */
    start_with(~isa_unit_bit(ISA_UNIT_CALLTHRU));
    expect_fault("callthru", place_one(0x001F47CC), random_regs(), CORE_ILLEGAL, 0, false);
}

static void fetches_need_the_right(void **state)
{
    (void)state;
    seed = 20;
    struct core_regs got = random_regs();
    assert_exit("unmapped", run(&got, 0x900000), CORE_FETCH, 0x900000, false);
    assert_int_equal(got.pc, 0x900000);
    assert_exit("data", run(&got, DATA), CORE_FETCH, DATA, true);
    uint32_t at = place_one(RIG_SC);
    mem_protect(machine.mem, CODE, CODE_BYTES, MEM_READ);
    assert_exit("not executable", run(&got, at), CORE_FETCH, at, true);
    mem_protect(machine.mem, CODE, CODE_BYTES, MEM_READ | MEM_EXEC);
    assert_int_equal(run(&got, at).reason, CORE_SYSCALL);
    mem_protect(machine.mem, CODE, CODE_BYTES,
                MEM_READ); /* decoded already, and still not allowed */
    assert_exit("no longer executable", run(&got, at), CORE_FETCH, at, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(halfword_multiplies, start, stop),
        cmocka_unit_test_setup_teardown(multiply_accumulate, start, stop),
        cmocka_unit_test_setup_teardown(saturation_goes_to_the_limit_of_the_accumulators_sign,
                                        start, stop),
        cmocka_unit_test_setup_teardown(dlmzb_finds_the_leftmost_zero_byte, start, stop),
        cmocka_unit_test_setup_teardown(isel_selects_by_any_bit, start, stop),
        cmocka_unit_test_setup_teardown(dcbz_clears_a_line, start, stop),
        cmocka_unit_test_setup_teardown(transfers_of_many_registers, start, stop),
        cmocka_unit_test_setup_teardown(transfers_of_many_registers_happen_whole_or_not_at_all,
                                        start, stop),
        cmocka_unit_test_setup_teardown(faults_leave_the_base_register, start, stop),
        cmocka_unit_test_setup_teardown(byte_reversal, start, stop),
        cmocka_unit_test_setup_teardown(reservations, start, stop),
        cmocka_unit_test_setup_teardown(reservations_must_be_aligned_and_allowed, start, stop),
        cmocka_unit_test_setup_teardown(mcrxr_moves_and_clears, start, stop),
        cmocka_unit_test_setup_teardown(mtcrf_obeys_every_mask, start, stop),
        cmocka_unit_test_setup_teardown(traps_for_every_condition, start, stop),
        cmocka_unit_test_setup_teardown(privileged_instructions_stop, start, stop),
        cmocka_unit_test_setup_teardown(privilege_is_looked_up_at_execution, start, stop),
        cmocka_unit_test_setup_teardown(user_sprs, start, stop),
        cmocka_unit_test_setup_teardown(illegal_words_stop, start, stop),
        cmocka_unit_test_setup_teardown(optional_instructions_exist_where_their_unit_does, start,
                                        stop),
        cmocka_unit_test_setup_teardown(every_form_of_583_is_mffs, start, stop),
        cmocka_unit_test_setup_teardown(every_sync_is_msync, start, stop),
        cmocka_unit_test_setup_teardown(hints_and_reserved_no_ops_do_nothing, start, stop),
        cmocka_unit_test_setup_teardown(cache_instructions_need_the_right_to_read, start, stop),
        cmocka_unit_test_setup_teardown(system_call_and_call_through_stop_after_themselves, start,
                                        stop),
        cmocka_unit_test_setup_teardown(fetches_need_the_right, start, stop),
    };
    return cmocka_run_group_tests_name("core 440", tests, NULL, NULL);
}
