/* Counts of the cores, against numbers known from the program's text: every signal, with ==.
 *
 * Programs are loops of hand-assembled instructions, each with the signal it must raise written
 * beside it, so what N passes raise is N times a sum over the text. Whether a simple integer
 * instruction went to the I or the J pipe is the model's choice (core_schedule.c): here the sum
 * over both pipes is compared, one test looks at the choice itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core_raises.h"
#include "machine/core/core.h"
#include "random.h"
#include "rig_machine.h"
#include "rig_registers.h"

/* ---- The machine. */

enum { CODE = 0x10000, CODE_BYTES = 0x10000, DATA = 0x100000, DATA_BYTES = 0x2000, CORES = 2 };
enum { BODY_MAX = 600 };

static const struct rig_layout layout = {CODE, CODE_BYTES, DATA, DATA_BYTES};
static struct rig_machine machine;
static struct mem *other_memory; /* of another process */
static uint64_t seed;

static int start(void **state)
{
    (void)state;
    rig_machine_open(&machine, layout, CORES, NULL);
    other_memory = rig_memory(layout);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    rig_machine_close(&machine);
    mem_free(other_memory);
    return 0;
}

/* ---- Counts. */

static const char *const signal_names[CORE_SIGNAL_COUNT] = {
#define CORE_SIGNAL(id, group, name) [CORE_SIGNAL_##id] = group "." name,
#include "machine/core/core_signals.def"
};

struct counts {
    uint64_t of[CORE_SIGNAL_COUNT];
};

static struct counts counts_of(struct core *core)
{
    struct counts counts;
    core_signal_counts(core, counts.of);
    counts.of[CORE_SIGNAL_FETCH] = 0; /* counted by blocks, not by instructions */
    return counts;
}

static void add_times(struct counts *sum, const struct counts *counts, uint64_t times)
{
    for (unsigned s = 0; s < CORE_SIGNAL_COUNT; s++)
        sum->of[s] += counts->of[s] * times;
}

static struct counts difference(struct counts after, const struct counts *before)
{
    for (unsigned s = 0; s < CORE_SIGNAL_COUNT; s++)
        after.of[s] -= before->of[s];
    return after;
}

/* The signals of the J pipe, added to those of the I pipe for the same work. */
static struct counts without_choice(struct counts counts)
{
    static const uint8_t same[][2] = {{CORE_SIGNAL_J_INSTRUCTIONS, CORE_SIGNAL_I_INSTRUCTIONS},
                                      {CORE_SIGNAL_J_ADD, CORE_SIGNAL_I_ADD},
                                      {CORE_SIGNAL_J_LOGICAL, CORE_SIGNAL_I_LOGICAL},
                                      {CORE_SIGNAL_J_SHIFT, CORE_SIGNAL_I_SHIFT}};
    for (unsigned i = 0; i < 4; i++) {
        counts.of[same[i][1]] += counts.of[same[i][0]];
        counts.of[same[i][0]] = 0;
    }
    return counts;
}

/* The I and the J pipe's totals are the sums of their classes. */
static void assert_pipes_add_up(const struct counts *c)
{
    uint64_t in_j = 0, in_i = 0;
    for (unsigned s = CORE_SIGNAL_J_ADD; s <= CORE_SIGNAL_J_SHIFT; s++)
        in_j += c->of[s];
    for (unsigned s = CORE_SIGNAL_I_MULT_DIV; s <= CORE_SIGNAL_I_OTHER; s++)
        in_i += c->of[s];
    assert_int_equal(in_j, c->of[CORE_SIGNAL_J_INSTRUCTIONS]);
    assert_int_equal(in_i, c->of[CORE_SIGNAL_I_INSTRUCTIONS]);
}

static void assert_counts(const char *what, const struct counts *expected, const struct counts *got)
{
    struct counts x = without_choice(*expected), y = without_choice(*got);
    for (unsigned s = 0; s < CORE_SIGNAL_COUNT; s++)
        if (x.of[s] != y.of[s])
            fail_msg("%s: %s is %llu, expected %llu", what, signal_names[s],
                     (unsigned long long)y.of[s], (unsigned long long)x.of[s]);
    assert_pipes_add_up(got);
}

/* ---- Instructions and their signals. Work registers are r20-r27, f1-f6; r5 holds DATA, CR7 is
 * zero.
 */

struct known {
    const char *text;
    uint32_t word;
    enum core_signal raises;
    char where; /* i, j: integer pipes; l loads, s stores; f floating point; - none of these */
    unsigned operations;
};

#define X_FORM(p, t, a, b, xo, rc)                                                                 \
    ((uint32_t)(p) << 26 | (uint32_t)(t) << 21 | (uint32_t)(a) << 16 | (uint32_t)(b) << 11 |       \
     (uint32_t)(xo) << 1 | (rc))
#define D_FORM(p, t, a, d)                                                                         \
    ((uint32_t)(p) << 26 | (uint32_t)(t) << 21 | (uint32_t)(a) << 16 | ((uint32_t)(d)&0xFFFF))
#define A_FORM(p, t, a, b, c, xo) X_FORM(p, t, a, b, (c) << 5 | (xo), 0)
#define ADDI(t, a, d)             D_FORM(14, t, a, d)
#define LWZ(t, a, d)              D_FORM(32, t, a, d)
#define STW(t, a, d)              D_FORM(36, t, a, d)
#define B_TO(offset)              (18U << 26 | ((uint32_t)(offset)&0x03FFFFFC))
#define BDNZ(offset)              (16U << 26 | 16U << 21 | ((uint32_t)(offset)&0xFFFC))
#define S(name)                   CORE_SIGNAL_##name

static const struct known knowns[] = {
    {"add r20,r21,r22", X_FORM(31, 20, 21, 22, 266, 0), S(I_ADD), 'j', 0},
    {"addi r21,r21,1", ADDI(21, 21, 1), S(I_ADD), 'j', 0},
    {"li r22,5", ADDI(22, 0, 5), S(I_ADD), 'j', 0},
    {"neg r23,r20", X_FORM(31, 23, 20, 0, 104, 0), S(I_ADD), 'j', 0},
    {"subf r23,r21,r20", X_FORM(31, 23, 21, 20, 40, 0), S(I_ADD), 'j', 0},
    {"add. r24,r20,r21", X_FORM(31, 24, 20, 21, 266, 1), S(I_ADD), 'i', 0},
    {"adde r24,r20,r21", X_FORM(31, 24, 20, 21, 138, 0), S(I_ADD), 'i', 0},
    {"addic r24,r20,-1", D_FORM(12, 24, 20, -1), S(I_ADD), 'i', 0},
    {"or r20,r21,r22", X_FORM(31, 21, 20, 22, 444, 0), S(I_LOGICAL), 'j', 0},
    {"mr r25,r21", X_FORM(31, 21, 25, 21, 444, 0), S(I_LOGICAL), 'j', 0},
    {"ori r0,r0,0", D_FORM(24, 0, 0, 0), S(I_LOGICAL), 'j', 0},
    {"cntlzw r26,r20", X_FORM(31, 20, 26, 0, 26, 0), S(I_LOGICAL), 'j', 0},
    {"andi. r26,r20,7", D_FORM(28, 20, 26, 7), S(I_LOGICAL), 'i', 0},
    {"dlmzb r26,r20,r21", X_FORM(31, 20, 26, 21, 78, 0), S(I_LOGICAL), 'i', 0},
    {"rlwinm r27,r20,3,0,28", 21U << 26 | 20 << 21 | 27 << 16 | 3 << 11 | 28 << 1, S(I_SHIFT), 'j',
     0},
    {"slw r27,r20,r22", X_FORM(31, 20, 27, 22, 24, 0), S(I_SHIFT), 'j', 0},
    {"srawi r27,r20,2", X_FORM(31, 20, 27, 2, 824, 0), S(I_SHIFT), 'i', 0},
    {"mullw r23,r20,r21", X_FORM(31, 23, 20, 21, 235, 0), S(I_MULT_DIV), 'i', 0},
    {"divwu r23,r20,r22", X_FORM(31, 23, 20, 22, 459, 0), S(I_MULT_DIV), 'i', 0},
    {"maclhw r23,r20,r21", X_FORM(4, 23, 20, 21, 428, 0), S(I_MULT_DIV), 'i', 0},
    {"cmpwi cr1,r20,9", D_FORM(11, 4, 20, 9), S(I_OTHER), 'i', 0},
    {"isel r24,r20,r21,31", X_FORM(31, 24, 20, 21, 31 << 5 | 15, 0), S(I_OTHER), 'i', 0},
    {"twlt r5,r5", X_FORM(31, 16, 5, 5, 4, 0), S(I_OTHER), 'i', 0},
    {"crxor 6,6,6", X_FORM(19, 6, 6, 6, 193, 0), S(I_CONTROL), 'i', 0},
    {"mfcr r24", X_FORM(31, 24, 0, 0, 19, 0), S(I_CONTROL), 'i', 0},
    {"mflr r24", X_FORM(31, 24, 8, 0, 339, 0), S(I_CONTROL), 'i', 0},
    {"isync", X_FORM(19, 0, 0, 0, 150, 0), S(I_CONTROL), 'i', 0},
    {"bso cr7,+8 (never)", 16U << 26 | 12 << 21 | 31 << 16 | 8, S(I_BRANCHES), 'i', 0},
    {"b +4", B_TO(4), S(I_BRANCHES), 'i', 0},
    {"bl +4", B_TO(4) | 1, S(I_BRANCHES), 'i', 0},
    {"lwz r20,8(r5)", LWZ(20, 5, 8), S(LOAD_INTEGER), 'l', 0},
    {"lbz r21,9(r5)", D_FORM(34, 21, 5, 9), S(LOAD_INTEGER), 'l', 0},
    {"lhau r21,0(r6)", D_FORM(43, 21, 6, 0), S(LOAD_INTEGER), 'l', 0},
    {"lmw r28,64(r5)", D_FORM(46, 28, 5, 64), S(LOAD_INTEGER), 'l', 0},
    {"lswi r20,r5,7", X_FORM(31, 20, 5, 7, 597, 0), S(LOAD_INTEGER), 'l', 0},
    {"lwarx r20,0,r5", X_FORM(31, 20, 0, 5, 20, 0), S(LOAD_INTEGER), 'l', 0},
    {"stw r21,12(r5)", STW(21, 5, 12), S(STORE_INTEGER), 's', 0},
    {"stb r21,3(r5)", D_FORM(38, 21, 5, 3), S(STORE_INTEGER), 's', 0},
    {"stmw r28,96(r5)", D_FORM(47, 28, 5, 96), S(STORE_INTEGER), 's', 0},
    {"stwcx. r20,0,r5", X_FORM(31, 20, 0, 5, 150, 1), S(STORE_INTEGER), 's', 0},
    {"dcbt 0,r5", X_FORM(31, 0, 0, 5, 278, 0), S(DCACHE_OPS), '-', 0},
    {"dcbz r5,r8", X_FORM(31, 0, 5, 8, 1014, 0), S(DCACHE_OPS), '-', 0},
    {"icbi 0,r5", X_FORM(31, 0, 0, 5, 982, 0), S(ICACHE_OPS), '-', 0},
    {"lwsync", 0x7C2004AC, S(SYNC), '-', 0},
    {"fadd f1,f2,f3", A_FORM(63, 1, 2, 3, 0, 21), S(FP_ADD), 'f', 1},
    {"fsubs f1,f2,f3", A_FORM(59, 1, 2, 3, 0, 20), S(FP_ADD), 'f', 1},
    {"fmul f2,f3,f4", A_FORM(63, 2, 3, 0, 4, 25), S(FP_MULT), 'f', 1},
    {"fmadd f3,f4,f5,f6", A_FORM(63, 3, 4, 6, 5, 29), S(FP_FMA), 'f', 1},
    {"fnmsubs f3,f4,f5,f6", A_FORM(59, 3, 4, 6, 5, 30), S(FP_FMA), 'f', 1},
    {"fdiv f4,f5,f6", A_FORM(63, 4, 5, 6, 0, 18), S(FP_DIV), 'f', 1},
    {"fmr f5,f6", X_FORM(63, 5, 0, 6, 72, 0), S(FP_OTHER), 'f', 0},
    {"fcmpu cr1,f1,f2", X_FORM(63, 4, 1, 2, 0, 0), S(FP_OTHER), 'f', 0},
    {"fctiwz f5,f6", X_FORM(63, 5, 0, 6, 15, 0), S(FP_OTHER), 'f', 0},
    {"mffs f5", X_FORM(63, 5, 0, 0, 583, 0), S(FP_OTHER), 'f', 0},
    {"fpadd f1,f2,f3", A_FORM(0, 1, 2, 3, 0, 12), S(FP_ADD_PAIR), 'f', 2},
    {"fpmul f1,f2,f3", A_FORM(0, 1, 2, 0, 3, 8), S(FP_MULT_PAIR), 'f', 2},
    {"fpmadd f1,f2,f3,f4", A_FORM(0, 1, 2, 4, 3, 16), S(FP_FMA_PAIR), 'f', 2},
    {"fxcxnpma f1,f2,f3,f4", A_FORM(4, 1, 2, 4, 3, 29), S(FP_FMA_PAIR), 'f', 2},
    {"fpmr f1,f2", X_FORM(0, 1, 0, 2, 32, 0), S(FP_OTHER_PAIR), 'f', 0},
    {"lfs f1,128(r5)", D_FORM(48, 1, 5, 128), S(FP_LOAD_SINGLE), 'l', 0},
    {"lfd f2,136(r5)", D_FORM(50, 2, 5, 136), S(FP_LOAD_DOUBLE), 'l', 0},
    {"lfpsx f3,r5,r8", X_FORM(31, 3, 5, 8, 398, 0), S(FP_LOAD_DOUBLE), 'l', 0},
    {"lfpdx f4,r5,r8", X_FORM(31, 4, 5, 8, 462, 0), S(FP_LOAD_QUAD), 'l', 0},
    {"stfs f1,144(r5)", D_FORM(52, 1, 5, 144), S(FP_STORE_SINGLE), 's', 0},
    {"stfd f2,152(r5)", D_FORM(54, 2, 5, 152), S(FP_STORE_DOUBLE), 's', 0},
    {"stfxdx f3,r5,r8", X_FORM(31, 3, 5, 8, 846, 0), S(FP_STORE_QUAD), 's', 0},
};
enum { KNOWNS = sizeof knowns / sizeof knowns[0] };

/* What one execution raises. */
static void add_known(struct counts *counts, const struct known *k)
{
    counts->of[S(INSTRUCTIONS)]++;
    counts->of[k->raises]++;
    counts->of[S(I_INSTRUCTIONS)] += k->where == 'i' || k->where == 'j';
    core_raises_also(k->word, counts->of);
    counts->of[S(LOAD)] += k->where == 'l';
    counts->of[S(STORE)] += k->where == 's';
    counts->of[S(FP_OPERATIONS)] += k->operations;
    counts->of[S(FP_FLOPS)] += k->operations
                               << (k->raises == S(FP_FMA) || k->raises == S(FP_FMA_PAIR));
}

static const struct known branch = {"bdnz", BDNZ(-4), S(I_BRANCHES), 'i', 0},
                          call = {"sc", RIG_SC, S(I_CONTROL), 'i', 0};
static const struct known simple_add = {"addi", 0x38000000, S(I_ADD), 'j', 0};
static const struct known simple_load = {"lwz", 0x80000000, S(LOAD_INTEGER), 'l', 0},
                          simple_store = {"stw", 0x90000000, S(STORE_INTEGER), 's', 0};

static void put_word(struct mem *mem, uint32_t at, uint32_t word)
{
    assert_true(mem_put32(mem, at, word));
}

static struct core_regs loop_regs(uint32_t pc, uint32_t passes)
{
    struct core_regs regs = {.pc = pc, .ctr = passes, .msr = MSR_PR | MSR_FP};
    for (unsigned i = 0; i < 8; i++)
        regs.gpr[20 + i] = 3 + i;
    regs.gpr[5] = DATA, regs.gpr[6] = DATA + 20, regs.gpr[8] = 256;
    for (unsigned i = 1; i < 7; i++) {
        regs.fpr[i] = UINT64_C(0x3FF0000000000000) + ((uint64_t)i << 40);
        regs.fpr2[i] = UINT64_C(0x3FE0000000000000) + ((uint64_t)i << 44);
    }
    return regs;
}

/* A loop of instructions from the table, then sc. */
struct loop {
    uint32_t at;
    unsigned length;
    unsigned rows[BODY_MAX];
    struct counts pass; /* one pass, bdnz included */
};

static void put_loop(struct mem *mem, struct loop *loop)
{
    memset(&loop->pass, 0, sizeof loop->pass);
    for (unsigned i = 0; i < loop->length; i++) {
        put_word(mem, loop->at + 4 * i, knowns[loop->rows[i]].word);
        add_known(&loop->pass, &knowns[loop->rows[i]]);
    }
    put_word(mem, loop->at + 4 * loop->length, BDNZ(-4 * (int)loop->length));
    put_word(mem, loop->at + 4 * loop->length + 4, RIG_SC);
    add_known(&loop->pass, &branch);
}

static struct counts counts_of_loop(const struct loop *loop, uint32_t passes, unsigned skipped)
{
    struct counts expected = {0}, head = {0};
    for (unsigned i = 0; i < skipped; i++)
        add_known(&head, &knowns[loop->rows[i]]);
    add_times(&expected, &loop->pass, passes);
    expected = difference(expected, &head);
    add_known(&expected, &call);
    return expected;
}

/* Random lengths, also over the 64 instructions of a block; random places, also at the end of a
 * page. */
static void random_loop(struct loop *loop)
{
    static const unsigned lengths[] = {1, 2, 3, 8, 30, 62, 63, 64, 65, 130, 500};
    loop->length = lengths[random_below(&seed, sizeof lengths / sizeof lengths[0])];
    if (random_next(&seed) & 1) loop->length = 1 + (unsigned)random_below(&seed, 100);
    loop->at = CODE + 4 * (uint32_t)random_below(&seed, 2048);
    if (random_next(&seed) & 1)
        loop->at = CODE + MEM_PAGE - 4 * (1 + (uint32_t)random_below(&seed, loop->length + 2));
    for (unsigned i = 0; i < loop->length; i++)
        loop->rows[i] = (unsigned)random_below(&seed, KNOWNS);
}

/* ---- Loops. */

static void each_instruction_alone(void **state)
{
    (void)state;
    for (unsigned row = 0; row < KNOWNS; row++) {
        struct loop loop = {.at = CODE + 64 * row, .length = 1, .rows = {row}};
        put_loop(machine.mem, &loop);
        struct core_regs regs = loop_regs(loop.at, 3);
        core_switch(machine.core, &regs, machine.mem);
        struct counts before = counts_of(machine.core);
        assert_int_equal(core_run(machine.core, 100000).reason, CORE_SYSCALL);
        struct counts got = difference(counts_of(machine.core), &before),
                      expected = counts_of_loop(&loop, 3, 0);
        assert_counts(knowns[row].text, &expected, &got);
    }
}

static void one_loop_of_everything(void **state)
{
    (void)state;
    static struct loop loop = {.at = CODE, .length = KNOWNS};
    for (unsigned i = 0; i < KNOWNS; i++)
        loop.rows[i] = i;
    put_loop(machine.mem, &loop);
    static const uint32_t passes[] = {1, 2, 1000, 50000};
    for (unsigned i = 0; i < 4; i++) {
        struct core_regs regs = loop_regs(loop.at, passes[i]);
        core_switch(machine.core, &regs, machine.mem);
        struct counts before = counts_of(machine.core);
        assert_int_equal(core_run(machine.core, UINT64_C(1) << 40).reason, CORE_SYSCALL);
        struct counts got = difference(counts_of(machine.core), &before);
        struct counts expected = counts_of_loop(&loop, passes[i], 0);
        assert_counts("loop", &expected, &got);
        assert_int_equal(got.of[S(INSTRUCTIONS)], (uint64_t)passes[i] * (KNOWNS + 1) + 1);
        assert_int_equal(got.of[S(I_TLB)], 0);
        assert_int_equal(got.of[S(NONE)], 0);
    }
}

static void random_loops_entered_anywhere(void **state)
{
    (void)state;
    seed = 1;
    static struct loop loop;
    for (uint64_t trial = 0; trial < random_trials(300); trial++) {
        random_loop(&loop);
        put_loop(machine.mem, &loop);
        uint32_t passes = 1 + (uint32_t)random_below(&seed, 50);
        unsigned skipped = trial % 2 ? (unsigned)random_below(&seed, loop.length + 1) : 0;
        struct core_regs regs = loop_regs(loop.at + 4 * skipped, passes);
        core_switch(machine.core, &regs, machine.mem);
        struct counts before = counts_of(machine.core);
        assert_int_equal(core_run(machine.core, UINT64_C(1) << 40).reason, CORE_SYSCALL);
        struct counts got = difference(counts_of(machine.core), &before);
        struct counts expected = counts_of_loop(&loop, passes, skipped);
        assert_counts("loop", &expected, &got);
    }
}

/* Two independent simple instructions in a cycle: the first takes J, the second I. What needs I
 * takes I. */
static void pairs_of_simple_instructions_share_the_pipes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 8; i++)
        put_word(machine.mem, CODE + 4 * i, ADDI(20 + i, 0, i));
    put_word(machine.mem, CODE + 32, RIG_SC);
    struct core_regs regs = loop_regs(CODE, 1);
    core_switch(machine.core, &regs, machine.mem);
    assert_int_equal(core_run(machine.core, 1000).reason, CORE_SYSCALL);
    struct counts got = counts_of(machine.core);
    assert_int_equal(got.of[S(J_ADD)], 4);
    assert_int_equal(got.of[S(I_ADD)], 4);
    assert_int_equal(got.of[S(J_INSTRUCTIONS)], 4);
    assert_int_equal(got.of[S(I_INSTRUCTIONS)], 5);
    assert_int_equal(core_cycles(machine.core), 5);
}

/* ---- The rows of paper 002. */

static void BGL_26_loads_and_stores_are_integer_only_totals_add_up(void **state)
{
    (void)state;
    enum { PASSES = 1000 };
    const uint32_t body[] = {
        LWZ(20, 5, 0),
        LWZ(21, 5, 4),
        STW(20, 5, 8), /* integer: 2 and 1 */
        D_FORM(48, 1, 5, 0),
        D_FORM(50, 2, 5, 0),
        X_FORM(31, 3, 5, 8, 462, 0), /* lfs, lfd, lfpdx */
        X_FORM(31, 3, 5, 8, 398, 0), /* lfpsx */
        D_FORM(52, 1, 5, 0),
        D_FORM(54, 2, 5, 0),
        X_FORM(31, 3, 5, 8, 974, 0), /* stfs, stfd, stfpdx */
    };
    enum { LENGTH = sizeof body / sizeof body[0] };
    for (unsigned i = 0; i < LENGTH; i++)
        put_word(machine.mem, CODE + 4 * i, body[i]);
    put_word(machine.mem, CODE + 4 * LENGTH, BDNZ(-4 * LENGTH));
    put_word(machine.mem, CODE + 4 * LENGTH + 4, RIG_SC);
    struct core_regs regs = loop_regs(CODE, PASSES);
    core_switch(machine.core, &regs, machine.mem);
    assert_int_equal(core_run(machine.core, UINT64_C(1) << 40).reason, CORE_SYSCALL);
    struct counts got = counts_of(machine.core);
    assert_int_equal(got.of[S(LOAD_INTEGER)], 2 * PASSES);
    assert_int_equal(got.of[S(STORE_INTEGER)], PASSES);
    assert_int_equal(got.of[S(FP_LOAD_SINGLE)], PASSES);
    assert_int_equal(got.of[S(FP_LOAD_DOUBLE)], 2 * PASSES);
    assert_int_equal(got.of[S(FP_LOAD_QUAD)], PASSES);
    assert_int_equal(got.of[S(FP_STORE_SINGLE)] + got.of[S(FP_STORE_DOUBLE)] +
                         got.of[S(FP_STORE_QUAD)],
                     3 * PASSES);
    assert_int_equal(got.of[S(LOAD)], 6 * PASSES);
    assert_int_equal(got.of[S(STORE)], 4 * PASSES);
}

static void BGL_27_an_fma_is_one_operation(void **state)
{
    (void)state;
    enum { PASSES = 1000 };
    const uint32_t body[] = {
        A_FORM(63, 3, 4, 6, 5, 29), A_FORM(63, 3, 4, 6, 5, 28), A_FORM(63, 3, 4, 6, 5, 31),
        A_FORM(59, 3, 4, 6, 5, 30), A_FORM(63, 1, 2, 3, 0, 21), /* four FMAs and an add */
    };
    for (unsigned i = 0; i < 5; i++)
        put_word(machine.mem, CODE + 4 * i, body[i]);
    put_word(machine.mem, CODE + 20, BDNZ(-20));
    put_word(machine.mem, CODE + 24, RIG_SC);
    struct core_regs regs = loop_regs(CODE, PASSES);
    core_switch(machine.core, &regs, machine.mem);
    assert_int_equal(core_run(machine.core, UINT64_C(1) << 40).reason, CORE_SYSCALL);
    struct counts got = counts_of(machine.core);
    assert_int_equal(got.of[S(FP_FMA)], 4 * PASSES);
    assert_int_equal(got.of[S(FP_OPERATIONS)], 5 * PASSES);
}

/* Everything a program can see or leave behind. */
struct left {
    struct core_regs regs;
    uint8_t data[DATA_BYTES];
    struct counts counts;
    uint64_t cycles;
};

/* Runs a loop from the same state every time; `budget` 0: all at once. `read`: counts are read
 * after each piece. */
static void run_in_pieces(const struct loop *loop, uint64_t budget, bool read, struct left *left)
{
    struct core_options options = {.units = ~UINT32_C(0)};
    struct cores *cores = cores_new(1, &options);
    struct core *core = cores_get(cores, 0);
    memset(machine.mem->base + DATA, 0x11, DATA_BYTES);
    left->regs = loop_regs(loop->at, 40);
    core_switch(core, &left->regs, machine.mem);
    uint64_t last = 0;
    while (core_run(core, budget ? 1 + random_below(&seed, budget) : UINT64_C(1) << 40).reason ==
           CORE_BUDGET) {
        if (!read) continue;
        for (unsigned times = (unsigned)random_below(&seed, 3); times--;) {
            uint64_t now = counts_of(core).of[S(INSTRUCTIONS)];
            assert_true(now >= last);
            last = now;
        }
    }
    memcpy(left->data, machine.mem->base + DATA, DATA_BYTES);
    left->counts = counts_of(core);
    left->cycles = core_cycles(core);
    cores_forget(cores, machine.mem);
    cores_free(cores);
}

static void pieces_change_nothing(bool read)
{
    static struct loop loop;
    static struct left whole, pieces;
    for (uint64_t trial = 0; trial < random_trials(60); trial++) {
        random_loop(&loop);
        put_loop(machine.mem, &loop);
        run_in_pieces(&loop, 0, false, &whole);
        run_in_pieces(&loop, UINT64_C(1) << random_below(&seed, 10), read, &pieces);
        struct counts expected = counts_of_loop(&loop, 40, 0);
        assert_counts("whole", &expected, &whole.counts);
        assert_true(rig_registers_same(&whole.regs, &pieces.regs));
        assert_memory_equal(whole.data, pieces.data, DATA_BYTES);
        assert_memory_equal(&whole.counts, &pieces.counts,
                            sizeof whole.counts); /* the pipes' choice too */
        assert_int_equal(whole.cycles, pieces.cycles);
    }
}

static void small_budgets_change_nothing(void **state)
{
    (void)state;
    seed = 2;
    pieces_change_nothing(false);
}

static void BGL_19_reading_counts_does_not_change_execution(void **state)
{
    (void)state;
    seed = 3;
    pieces_change_nothing(true);
}

/* Whatever the budget, from none to one that means no limit. */
static void a_run_does_at_least_one_instruction(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) /* blocks of one instruction */
        put_word(machine.mem, CODE + 4 * i, B_TO(4));
    put_word(machine.mem, CODE + 16, RIG_SC);
    static const uint64_t budgets[] = {1, 0, UINT64_MAX, UINT64_MAX};
    for (unsigned i = 0; i < 4; i++) {
        bool small = budgets[i] < 2;
        struct core_regs regs = loop_regs(CODE, 1);
        core_switch(machine.core, &regs, machine.mem);
        assert_int_equal(core_run(machine.core, budgets[i]).reason,
                         small ? CORE_BUDGET : CORE_SYSCALL);
        assert_int_equal(regs.pc, small ? CODE + 4 : CODE + 20);
    }
}

/* ---- Stops in the middle. */

/* A loop walks off the end of DATA; the page is mapped, and it goes on. What was done before the
 * stop is counted, the instruction that could not be done is not, until it is. */
static void faults_in_the_middle_count_what_was_done(void **state)
{
    (void)state;
    for (unsigned before = 0; before < 4; before++)
        for (unsigned after = 0; after < 3; after++) {
            uint32_t at = CODE + 0x400 * (3 * before + after);
            unsigned n = 0;
            for (unsigned i = 0; i < before; i++)
                put_word(machine.mem, at + 4 * n++, ADDI(20, 20, 1));
            uint32_t load = at + 4 * n;
            put_word(machine.mem, at + 4 * n++, D_FORM(33, 21, 7, 4)); /* lwzu r21,4(r7) */
            for (unsigned i = 0; i < after; i++)
                put_word(machine.mem, at + 4 * n++, STW(20, 5, 0));
            put_word(machine.mem, at + 4 * n, BDNZ(-4 * (int)n));
            put_word(machine.mem, at + 4 * n + 4, RIG_SC);
            mem_unmap(machine.mem, DATA + DATA_BYTES, MEM_PAGE);
            enum { GOOD = 10, ALL = 30 };
            struct core_regs regs = loop_regs(at, ALL);
            regs.gpr[7] = DATA + DATA_BYTES - 4 * GOOD - 4;
            core_switch(machine.core, &regs, machine.mem);
            struct counts start_counts = counts_of(machine.core), pass = {0}, part = {0},
                          expected = {0};
            for (unsigned i = 0; i < before; i++)
                add_known(&part, &simple_add);
            add_times(&pass, &part, 1);
            add_known(&pass, &simple_load);
            for (unsigned i = 0; i < after; i++)
                add_known(&pass, &simple_store);
            add_known(&pass, &branch);

            uint64_t cycles = 0;
            for (unsigned again = 0; again < 3; again++) { /* stopping again adds nothing */
                struct core_exit exit = core_run(machine.core, 1000000);
                assert_int_equal(exit.reason, CORE_LOAD);
                assert_int_equal(exit.address, DATA + DATA_BYTES);
                assert_int_equal(regs.pc, load);
                assert_int_equal(regs.ctr, ALL - GOOD);
                expected = (struct counts){0};
                add_times(&expected, &pass, GOOD);
                add_times(&expected, &part, 1);
                struct counts got = difference(counts_of(machine.core), &start_counts);
                assert_counts("stopped", &expected, &got);
                if (again) assert_int_equal(core_cycles(machine.core), cycles);
                cycles = core_cycles(machine.core);
            }
            mem_map(machine.mem, DATA + DATA_BYTES, MEM_PAGE, MEM_READ);
            assert_int_equal(core_run(machine.core, 1000000).reason, CORE_SYSCALL);
            expected = (struct counts){0};
            add_times(&expected, &pass, ALL);
            add_known(&expected, &call);
            struct counts got = difference(counts_of(machine.core), &start_counts);
            assert_counts("resumed", &expected, &got);
        }
}

/* A trap in the middle of a block. */
static void traps_count_what_came_before(void **state)
{
    (void)state;
    put_word(machine.mem, CODE, ADDI(20, 20, 1));
    put_word(machine.mem, CODE + 4, LWZ(21, 5, 0));
    put_word(machine.mem, CODE + 8, X_FORM(31, 31, 0, 0, 4, 0)); /* trap */
    put_word(machine.mem, CODE + 12, ADDI(20, 20, 1));
    put_word(machine.mem, CODE + 16, RIG_SC);
    struct core_regs regs = loop_regs(CODE, 1);
    core_switch(machine.core, &regs, machine.mem);
    assert_int_equal(core_run(machine.core, 1000).reason, CORE_TRAP);
    struct counts expected = {0}, got = counts_of(machine.core);
    add_known(&expected, &simple_add);
    add_known(&expected, &simple_load);
    assert_counts("trap", &expected, &got);
    regs.pc += 4; /* as a handler would */
    assert_int_equal(core_run(machine.core, 1000).reason, CORE_SYSCALL);
    add_known(&expected, &simple_add);
    add_known(&expected, &call);
    got = counts_of(machine.core);
    assert_counts("after the trap", &expected, &got);
}

/* ---- Many cores, many address spaces. */

static void two_cores_count_for_themselves(void **state)
{
    (void)state;
    seed = 4;
    static struct loop loop;
    for (uint64_t trial = 0; trial < random_trials(40); trial++) {
        random_loop(&loop);
        put_loop(machine.mem, &loop);
        struct core *cores[CORES] = {machine.core, cores_get(machine.cores, 1)};
        struct core_regs regs[CORES];
        struct counts before[CORES];
        uint32_t passes[CORES] = {1 + (uint32_t)random_below(&seed, 60),
                                  1 + (uint32_t)random_below(&seed, 60)};
        bool done[CORES] = {false, false};
        for (unsigned i = 0; i < CORES; i++) {
            regs[i] = loop_regs(loop.at, passes[i]);
            regs[i].gpr[5] += MEM_PAGE * i;
            regs[i].gpr[6] += MEM_PAGE * i;
            core_switch(cores[i], &regs[i], machine.mem);
            before[i] = counts_of(cores[i]);
        }
        while (!done[0] || !done[1]) {
            unsigned i = random_next(&seed) & 1;
            if (!done[i])
                done[i] = core_run(cores[i], 1 + random_below(&seed, 50)).reason == CORE_SYSCALL;
        }
        for (unsigned i = 0; i < CORES; i++) {
            struct counts got = difference(counts_of(cores[i]), &before[i]);
            struct counts expected = counts_of_loop(&loop, passes[i], 0);
            assert_counts("core", &expected, &got);
        }
    }
}

/* Two processes with other code at the same addresses take turns on one core. */
static void two_address_spaces_take_turns(void **state)
{
    (void)state;
    seed = 5;
    struct mem *const mems[] = {machine.mem, other_memory};
    static struct loop loops[2];
    for (uint64_t trial = 0; trial < random_trials(40); trial++) {
        struct core_regs regs[2];
        struct counts expected = {0}, before = counts_of(machine.core);
        bool done[2] = {false, false};
        for (unsigned i = 0; i < 2; i++) {
            uint32_t passes = 1 + (uint32_t)random_below(&seed, 60);
            random_loop(&loops[i]);
            loops[i].at = CODE;
            put_loop(mems[i], &loops[i]);
            regs[i] = loop_regs(CODE, passes);
            struct counts whole = counts_of_loop(&loops[i], passes, 0);
            add_times(&expected, &whole, 1);
        }
        while (!done[0] || !done[1]) {
            unsigned i = random_next(&seed) & 1;
            if (done[i]) continue;
            core_switch(machine.core, &regs[i], mems[i]);
            done[i] = core_run(machine.core, 1 + random_below(&seed, 50)).reason == CORE_SYSCALL;
        }
        struct counts got = difference(counts_of(machine.core), &before);
        assert_counts("both", &expected, &got);
    }
}

/* What an address space that ends has counted stays counted. */
static void forgetting_keeps_counts(void **state)
{
    (void)state;
    static struct loop loop = {.at = CODE, .length = KNOWNS};
    for (unsigned i = 0; i < KNOWNS; i++)
        loop.rows[i] = i;
    put_loop(machine.mem, &loop);
    struct counts expected = {0}, whole = counts_of_loop(&loop, 7, 0);
    for (unsigned i = 0; i < 3; i++) {
        struct core_regs regs = loop_regs(CODE, 7);
        core_switch(machine.core, &regs, machine.mem);
        assert_int_equal(core_run(machine.core, 1000000).reason, CORE_SYSCALL);
        cores_forget(machine.cores, machine.mem);
        add_times(&expected, &whole, 1);
        struct counts got = counts_of(machine.core);
        assert_counts("forgotten", &expected, &got);
    }
}

/* ---- Code that changes. */

/* One store to code, from a block of its own shape: `text` with the store among it, run once. The
 * new word is in r10, its address in r11. The expected counts are of what was executed, in order.
 */
static void expect_changed(const char *what, uint32_t at, const uint32_t *text, unsigned count,
                           uint32_t target, uint32_t new_word, const struct known *const *executed,
                           unsigned executed_count)
{
    for (unsigned i = 0; i < count; i++)
        put_word(machine.mem, at + 4 * i, text[i]);
    struct core_regs regs = loop_regs(at, 2);
    regs.gpr[10] = new_word, regs.gpr[11] = target;
    core_switch(machine.core, &regs, machine.mem);
    struct counts before = counts_of(machine.core), expected = {0};
    struct core_exit exit = core_run(machine.core, 1000000);
    if (exit.reason != CORE_SYSCALL)
        fail_msg("%s: stop %d at %08x", what, (int)exit.reason, regs.pc);
    for (unsigned i = 0; i < executed_count; i++)
        add_known(&expected, executed[i]);
    struct counts got = difference(counts_of(machine.core), &before);
    assert_counts(what, &expected, &got);
}

static void code_changed_ahead_is_executed_anew(void **state)
{
    (void)state;
    /* the instruction after the store becomes a load */
    const uint32_t next[] = {ADDI(20, 20, 1), STW(10, 11, 0), ADDI(20, 20, 1), RIG_SC};
    const struct known *const next_done[] = {&simple_add, &simple_store, &simple_load, &call};
    expect_changed("next", CODE, next, 4, CODE + 8, LWZ(21, 5, 0), next_done, 4);
    /* several after it */
    const uint32_t later[] = {STW(10, 11, 0), ADDI(20, 20, 1), ADDI(20, 20, 1), RIG_SC};
    const struct known *const later_done[] = {&simple_store, &simple_add, &simple_load, &call};
    expect_changed("later", CODE, later, 4, CODE + 8, LWZ(21, 5, 0), later_done, 4);
    /* on another page, which has run before */
    const uint32_t jump[] = {ADDI(20, 20, 1), STW(10, 11, 0), B_TO(2 * MEM_PAGE - 8)};
    static const struct known always = {"b", B_TO(0), S(I_BRANCHES), 'i', 0};
    const struct known *const jump_done[] = {&simple_add, &simple_store, &always, &simple_load,
                                             &call};
    put_word(machine.mem, CODE + 2 * MEM_PAGE, ADDI(20, 20, 1));
    put_word(machine.mem, CODE + 2 * MEM_PAGE + 4, RIG_SC);
    struct core_regs regs = loop_regs(CODE + 2 * MEM_PAGE, 1);
    core_switch(machine.core, &regs, machine.mem);
    assert_int_equal(core_run(machine.core, 1000).reason, CORE_SYSCALL);
    expect_changed("other page", CODE, jump, 3, CODE + 2 * MEM_PAGE, LWZ(21, 5, 0), jump_done, 5);
}

/* What was executed before it was overwritten counts as what it was. */
static void code_changed_behind_counts_as_it_was(void **state)
{
    (void)state;
    const uint32_t behind[] = {ADDI(20, 20, 1), STW(10, 11, 0), ADDI(20, 20, 1), RIG_SC};
    const struct known *const behind_done[] = {&simple_add, &simple_store, &simple_add, &call};
    expect_changed("behind", CODE, behind, 4, CODE, LWZ(21, 5, 0), behind_done, 4);
    expect_changed("itself", CODE, behind, 4, CODE + 4, ADDI(22, 22, 1), behind_done, 4);
}

/* A loop that rewrites its own body each pass: adds become loads and back. */
static void a_loop_that_rewrites_itself(void **state)
{
    (void)state;
    enum { PASSES = 200 };
    const uint32_t add = ADDI(20, 20, 1), load = LWZ(20, 5, 0);
    const uint32_t text[] = {
        add,                            /* becomes r10, and r10 becomes it */
        X_FORM(31, 10, 12, 10, 444, 0), /* mr r12,r10 */
        LWZ(10, 11, 0),                 /* the word that is there */
        STW(12, 11, 0),                 /* the other one */
        BDNZ(-16),
        RIG_SC,
    };
    for (unsigned i = 0; i < 6; i++)
        put_word(machine.mem, CODE + 4 * i, text[i]);
    struct core_regs regs = loop_regs(CODE, PASSES);
    regs.gpr[10] = load, regs.gpr[11] = CODE;
    core_switch(machine.core, &regs, machine.mem);
    while (core_run(machine.core, 7).reason == CORE_BUDGET)
        (void)counts_of(machine.core);
    struct counts got = without_choice(counts_of(machine.core));
    assert_int_equal(got.of[S(INSTRUCTIONS)], 5 * PASSES + 1);
    assert_int_equal(got.of[S(I_ADD)], PASSES / 2);
    assert_int_equal(got.of[S(LOAD_INTEGER)], PASSES + PASSES / 2);
    assert_int_equal(got.of[S(I_LOGICAL)], PASSES);
    assert_int_equal(got.of[S(STORE_INTEGER)], PASSES);
    assert_int_equal(got.of[S(I_BRANCHES)], PASSES);
}

/* The same over two pages: the rewritten word is where a branch of another page leads, again and
 * again. */
static void branches_do_not_remember_old_code(void **state)
{
    (void)state;
    enum { PASSES = 200 };
    const uint32_t here = CODE, there = CODE + 3 * MEM_PAGE;
    const uint32_t text[] = {
        X_FORM(31, 10, 12, 10, 444, 0), /* mr r12,r10 */
        LWZ(10, 11, 0),                 /* the word that is there */
        STW(12, 11, 0),                 /* the other one */
        B_TO(3 * MEM_PAGE - 12),
    };
    for (unsigned i = 0; i < 4; i++)
        put_word(machine.mem, here + 4 * i, text[i]);
    put_word(machine.mem, there, ADDI(20, 20, 1));
    put_word(machine.mem, there + 4, BDNZ(-3 * MEM_PAGE - 4));
    put_word(machine.mem, there + 8, RIG_SC);
    struct core_regs regs = loop_regs(here, PASSES);
    regs.gpr[10] = LWZ(21, 5, 0), regs.gpr[11] = there;
    core_switch(machine.core, &regs, machine.mem);
    assert_int_equal(core_run(machine.core, 1000000).reason, CORE_SYSCALL);
    struct counts got = without_choice(counts_of(machine.core));
    assert_int_equal(regs.gpr[20], 3 + PASSES / 2);
    assert_int_equal(got.of[S(INSTRUCTIONS)], 6 * PASSES + 1);
    assert_int_equal(got.of[S(I_ADD)], PASSES / 2);
    assert_int_equal(got.of[S(LOAD_INTEGER)], PASSES + PASSES / 2);
    assert_int_equal(got.of[S(I_BRANCHES)], 2 * PASSES);
}

/* Another core, and the operating system, change code that a core has run. */
static void code_changed_by_others(void **state)
{
    (void)state;
    struct core *other = cores_get(machine.cores, 1);
    put_word(machine.mem, CODE, ADDI(20, 20, 1));
    put_word(machine.mem, CODE + 4, RIG_SC);
    put_word(machine.mem, CODE + MEM_PAGE, STW(10, 11, 0));
    put_word(machine.mem, CODE + MEM_PAGE + 4, RIG_SC);
    struct core_regs regs = loop_regs(CODE, 1), regs2 = loop_regs(CODE + MEM_PAGE, 1);
    regs2.gpr[10] = LWZ(21, 5, 0), regs2.gpr[11] = CODE;
    core_switch(machine.core, &regs, machine.mem);
    assert_int_equal(core_run(machine.core, 1000).reason, CORE_SYSCALL);
    core_switch(other, &regs2, machine.mem);
    assert_int_equal(core_run(other, 1000).reason, CORE_SYSCALL);
    regs.pc = CODE;
    assert_int_equal(core_run(machine.core, 1000).reason, CORE_SYSCALL);
    put_word(machine.mem, CODE, STW(21, 5, 0)); /* as a system call's write would */
    regs.pc = CODE;
    assert_int_equal(core_run(machine.core, 1000).reason, CORE_SYSCALL);
    struct counts expected = {0}, got = counts_of(machine.core);
    add_known(&expected, &simple_add);
    add_known(&expected, &simple_load);
    add_known(&expected, &simple_store);
    for (unsigned i = 0; i < 3; i++)
        add_known(&expected, &call);
    assert_counts("first core", &expected, &got);
    expected = (struct counts){0};
    add_known(&expected, &simple_store);
    add_known(&expected, &call);
    got = counts_of(other);
    assert_counts("second core", &expected, &got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_instruction_alone, start, stop),
        cmocka_unit_test_setup_teardown(one_loop_of_everything, start, stop),
        cmocka_unit_test_setup_teardown(random_loops_entered_anywhere, start, stop),
        cmocka_unit_test_setup_teardown(pairs_of_simple_instructions_share_the_pipes, start, stop),
        cmocka_unit_test_setup_teardown(BGL_26_loads_and_stores_are_integer_only_totals_add_up,
                                        start, stop),
        cmocka_unit_test_setup_teardown(BGL_27_an_fma_is_one_operation, start, stop),
        cmocka_unit_test_setup_teardown(small_budgets_change_nothing, start, stop),
        cmocka_unit_test_setup_teardown(BGL_19_reading_counts_does_not_change_execution, start,
                                        stop),
        cmocka_unit_test_setup_teardown(a_run_does_at_least_one_instruction, start, stop),
        cmocka_unit_test_setup_teardown(faults_in_the_middle_count_what_was_done, start, stop),
        cmocka_unit_test_setup_teardown(traps_count_what_came_before, start, stop),
        cmocka_unit_test_setup_teardown(two_cores_count_for_themselves, start, stop),
        cmocka_unit_test_setup_teardown(two_address_spaces_take_turns, start, stop),
        cmocka_unit_test_setup_teardown(forgetting_keeps_counts, start, stop),
        cmocka_unit_test_setup_teardown(code_changed_ahead_is_executed_anew, start, stop),
        cmocka_unit_test_setup_teardown(code_changed_behind_counts_as_it_was, start, stop),
        cmocka_unit_test_setup_teardown(a_loop_that_rewrites_itself, start, stop),
        cmocka_unit_test_setup_teardown(branches_do_not_remember_old_code, start, stop),
        cmocka_unit_test_setup_teardown(code_changed_by_others, start, stop),
    };
    return cmocka_run_group_tests_name("core count", tests, NULL, NULL);
}
