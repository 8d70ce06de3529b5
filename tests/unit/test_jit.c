/* Translated code against the interpreter: the same random loops on both must leave the same
 * registers, memory, stops, time, and counts of every signal. Blocks are translated when they are
 * entered for the first time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "machine/jit/jit.h"
#include "machine/jit/jit_impl.h"
#include "machine/jit/jit_miss.h"
#include "machine/jit/jit_x86.h"
#include "random.h"
#include "rig_bluegene.h"
#include "rig_loop.h"
#include "rig_machine.h"
#include "rig_registers.h"

enum {
    CODE = 0x10000,
    CODE_WORDS = 2048,
    BODY = RIG_LOOP_BODY,
    DATA = RIG_LOOP_DATA,
    DATA_BYTES = 0x40000, /* more than L1 has, and the TLB */
    READ_ONLY = 0x30000,
    TRAP = RIG_LOOP_TRAP,
    BDNZ = RIG_LOOP_BDNZ
};

static void side_open(struct rig_machine *side, const struct cache_config *config,
                      const struct jit_options *options)
{
    rig_machine_open(side, (struct rig_layout){CODE, CODE_WORDS * 4, DATA, DATA_BYTES}, 1,
                     &(struct rig_options){.cache = config, .jit = options});
    mem_map(side->mem, READ_ONLY, MEM_PAGE, MEM_READ);
}

/* --- Comparing ------------------------------------------------------------------------------- */

static void compare_wires(const struct rig_machine *a, const struct rig_machine *b, uint64_t trial)
{
    for (unsigned id = 0; id < CACHE_SIGNALS; id++)
        for (uint32_t i = 0; i < cache_signal_instances(a->cache, (enum cache_signal_id)id); i++) {
            struct cache_signal signal = {(enum cache_signal_id)id, i};
            uint64_t x[2], y[2];
            cache_signal_count(a->cache, signal, &x[0], &x[1]);
            cache_signal_count(b->cache, signal, &y[0], &y[1]);
            if (x[0] == y[0] && x[1] == y[1]) continue;
            char name[CACHE_NAME];
            cache_signal_name(signal, name);
            fail_msg("program %llu: signal %s: %llu times %llu cycles, and %llu times %llu cycles",
                     (long long)trial, name, (long long)x[0], (long long)x[1], (long long)y[0],
                     (long long)y[1]);
        }
}

static void compare(struct rig_machine *a, struct rig_machine *b, uint64_t trial)
{
    uint64_t x[CORE_SIGNAL_COUNT], y[CORE_SIGNAL_COUNT];
    core_signal_counts(a->core, x);
    core_signal_counts(b->core, y);
    char what[40];
    (void)snprintf(what, sizeof what, "program %llu", (long long)trial);
    rig_registers_check(what, &a->regs, &b->regs);
    assert_memory_equal(&a->regs, &b->regs, sizeof a->regs);
    assert_int_equal(core_cycles(a->core), core_cycles(b->core));
    assert_int_equal(core_crossings(a->core), core_crossings(b->core));
    assert_memory_equal(x, y, sizeof x);
}

/* --- Running --------------------------------------------------------------------------------- */

/* Faults and exceptions are stepped over; the trap behind the loop ends it. */
static void run_program(struct rig_machine *a, struct rig_machine *b, uint64_t *random,
                        uint64_t trial)
{
    for (unsigned i = 0; i < 2000; i++) {
        uint64_t budget = random_below(random, 3) ? 1000000 : 1 + random_below(random, 60);
        struct core_exit x = core_run(a->core, budget), y = core_run(b->core, budget);
        compare(a, b, trial);
        assert_int_equal(x.reason, y.reason);
        assert_int_equal(x.address, y.address);
        assert_int_equal(x.mapped, y.mapped);
        if (x.reason == CORE_TRAP || x.reason == CORE_FETCH) break;
        if (x.reason == CORE_BUDGET || x.reason == CORE_SYSCALL || x.reason == CORE_CALLTHRU)
            continue;
        a->regs.pc = b->regs.pc += 4;
        a->regs.fpscr = b->regs.fpscr = FP_XX | FP_FX; /* as a handler would, so that it goes on */
    }
    assert_memory_equal(a->mem->base + DATA, b->mem->base + DATA, DATA_BYTES);
    assert_memory_equal(a->mem->base + CODE, b->mem->base + CODE, CODE_WORDS * 4);
    compare_wires(a, b, trial);
}

static void compare_on(const char *name, const struct jit_options *options, uint64_t trials,
                       uint64_t seed, bool few)
{
    struct cache_config config;
    struct rig_machine a, b;
    config = rig_bluegene(name);
    side_open(&a, &config, NULL);
    side_open(&b, &config, options);
    for (uint64_t trial = 0; trial < random_trials(trials); trial++) {
        uint64_t random = seed + trial;
        uint32_t pc = CODE + 4 * (uint32_t)random_below(&random, CODE_WORDS - BODY - 2);
        struct rig_machine *sides[] = {&a, &b};
        uint64_t program = random_next(&random), state = random_next(&random);
        for (unsigned i = 0; i < 2; i++) {
            uint64_t again = program, more = state;
            mem_wrote_code(sides[i]->mem, CODE, CODE_WORDS * 4);
            rig_loop_write(sides[i]->mem->base + pc, &again, few);
            rig_loop_state(&sides[i]->regs, &more, few);
            sides[i]->regs.pc = pc;
            core_switch(sides[i]->core, &sides[i]->regs, sides[i]->mem);
        }
        run_program(&a, &b, &random, trial);
    }
    struct jit_figures figures = jit_figures_get(b.jit);
    if (options->wait) assert_true(figures.instructions > trials);
    assert_int_equal(figures.failed, 0);
    rig_machine_close(&a);
    rig_machine_close(&b);
}

static void translated_code_does_what_the_interpreter_does_bgp(void **state)
{
    (void)state;
    compare_on("bgp", &(struct jit_options){.entries_until_hot = 2, .wait = true}, 400, 1, false);
}

static void translated_code_does_what_the_interpreter_does_bgl(void **state)
{
    (void)state;
    compare_on("bgl", &(struct jit_options){.entries_until_hot = 1, .wait = true}, 300, 1000000,
               false);
}

static void so_it_does_with_room_for_one_region(void **state)
{
    (void)state;
    compare_on("bgp", &(struct jit_options){.entries_until_hot = 1, .wait = true, .code_limit = 1},
               100, 2000000, false);
}

static void so_it_does_while_the_interpreter_goes_on(void **state)
{
    (void)state;
    compare_on("bgp", &(struct jit_options){.entries_until_hot = 3}, 200, 3000000, false);
}

static void so_it_does_with_few_registers(void **state)
{
    (void)state;
    compare_on("bgp", &(struct jit_options){.entries_until_hot = 1, .wait = true}, 300, 4000000,
               true);
}

static void so_it_does_without_tests_of_loads(void **state)
{
    struct jit_options options = {.entries_until_hot = 2, .wait = true, .unpredictable = true};
    (void)state;
    compare_on("bgp", &options, 300, 7000000, false);
    compare_on("bgp", &options, 100, 8000000, true);
    compare_on("bgl", &options, 60, 9000000, false);
}

/* --- Unpredictable loads --------------------------------------------------------------------- */

enum { GATHERED = 3000, INDICES_AT = DATA, GATHERED_AT = DATA + 0x4000, GATHERED_BYTES = 0x10000 };

/* Sums of rows of what indices in memory, read in turn, say, twice as much as L1 has: how many of
 * their loads are translated as unpredictable ones. `far` is how far apart the places are, 0:
 * anywhere. The first round of a row is in another block than the others, with the same loads. Both
 * sides do the same. */
static uint64_t unpredictable_loads(uint32_t far, uint32_t row)
{
    static const uint32_t words[] = {0x7D0903A6, /* mtctr r8 */
                                     0x84640004, /* lwzu r3,4(r4) */
                                     0x7CC5182E, /* lwzx r6,r5,r3 */
                                     0x7CE63A14, /* add r7,r6,r7 */
                                     BDNZ | (0xFFFC & (uint32_t)(-4 * 3)),
                                     0x3529FFFF, /* addic. r9,r9,-1 */
                                     0x40820000 |
                                         (0xFFFC & (uint32_t)(-4 * 6)), /* bne to the first */
                                     TRAP};
    struct cache_config config;
    struct rig_machine sides[2];
    uint64_t random = 1;
    config = rig_bluegene("bgp");
    for (unsigned i = 0; i < 2; i++) {
        struct rig_machine *side = &sides[i];
        uint64_t again = 5;
        side_open(side, &config, i ? &(struct jit_options){.wait = true} : NULL);
        for (unsigned j = 0; j < sizeof words / sizeof words[0]; j++)
            mem_host_put32(side->mem->base + CODE + (size_t)4 * j, words[j]);
        for (uint32_t j = 0; j < GATHERED; j++)
            mem_host_put32(side->mem->base + INDICES_AT + (size_t)4 * j,
                           (far ? j * far : 4 * (uint32_t)random_next(&again)) % GATHERED_BYTES);
        side->regs = (struct core_regs){.pc = CODE, .msr = MSR_PR};
        side->regs.gpr[4] = INDICES_AT - 4;
        side->regs.gpr[5] = GATHERED_AT;
        side->regs.gpr[8] = row;
        side->regs.gpr[9] = GATHERED / row;
        core_switch(side->core, &side->regs, side->mem);
    }
    run_program(&sides[0], &sides[1], &random, far);
    uint64_t loads = jit_figures_get(sides[1].jit).unpredictable;
    for (unsigned i = 0; i < MISS_HISTORIES; i++) /* no history: all predictable */
        assert_int_equal(sides[0].core->miss_histories[i].pc, 0);
    rig_machine_close(&sides[0]);
    rig_machine_close(&sides[1]);
    return loads;
}

static void loads_are_unpredictable_that_miss_without_a_pattern(void **state)
{
    (void)state;
#ifdef JIT_MISSES
    assert_int_equal(unpredictable_loads(0, GATHERED), x86_host_supported());
    assert_int_equal(unpredictable_loads(0, 4) > 0, x86_host_supported());
#endif
    static const uint32_t fars[] = {
        4, 20, 32, 4096 + 32}; /* 20: lines are left after two loads or after one */
    for (unsigned i = 0; i < sizeof fars / sizeof fars[0]; i++) {
        assert_int_equal(unpredictable_loads(fars[i], GATHERED), 0);
        assert_int_equal(unpredictable_loads(fars[i], 50), 0);
    }
    assert_int_equal(unpredictable_loads(32, 4), 0);
}

/* --- What mffs reads ------------------------------------------------------------------------- */

enum { TRIPLES = 3000, TRIPLES_AT = DATA + 0x1000, READ_AT = TRIPLES_AT + 24 * TRIPLES };

/* Few or many bits; exponents in the middle, and where proofs end; zeros of both signs. */
static uint64_t random_operand(uint64_t *random)
{
    if (!random_below(random, 6)) return random_below(random, 2) << 63;
    static const unsigned from[] = {1000, 1000, 1000, 140, 190, 0x7F0, 0, 1020},
                          to[] = {60, 60, 60, 130, 20, 16, 3, 4};
    unsigned i = (unsigned)random_below(random, sizeof from / sizeof from[0]);
    uint64_t exponent = from[i] + random_below(random, to[i]), bits = random_next(random);
    if (random_below(random, 2)) bits &= ~UINT64_C(0) << random_below(random, 53);
    return (bits & ~(UINT64_C(0x7FF) << 52)) | exponent << 52;
}

static void random_triple(uint8_t *at, uint64_t *random)
{
    uint64_t a = random_operand(random), b = random_operand(random), c = random_operand(random);
    if (random_below(random, 2)) /* most of the product goes away */
        b = fp_from_host(-(fp_to_host(a) * fp_to_host(c))) + random_below(random, 5) - 2;
    const uint64_t triple[] = {a, b, c};
    for (unsigned i = 0; i < 3; i++) {
        mem_host_put32(at + 8 * (size_t)i, (uint32_t)(triple[i] >> 32));
        mem_host_put32(at + 8 * (size_t)i + 4, (uint32_t)triple[i]);
    }
}

/* An operation on each triple, whose result is kept, then mffs: in the same block or, `apart`, in
 * another, behind a comparison. */
static void write_reader(uint8_t *code, uint32_t operation, bool apart)
{
    const uint32_t words[] = {0xC8240000, /* lfd f1,0(r4) */
                              0xC8440008, /* lfd f2,8(r4) */
                              0xC8640010, /* lfd f3,16(r4) */
                              operation,
                              apart ? 0xFC011000 : 0x60000000, /* fcmpu cr0,f1,f2 or nop */
                              apart ? 0x48000004 : 0x60000000, /* b to the next */
                              0xFCA0048E,                      /* mffs f5 */
                              0xD8A50000,                      /* stfd f5,0(r5) */
                              0xD8850008,                      /* stfd f4,8(r5) */
                              0x38840018,                      /* addi r4,r4,24 */
                              0x38A50010,                      /* addi r5,r5,16 */
                              BDNZ | (0xFFFC & (uint32_t)(-4 * 11)),
                              TRAP};
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        mem_host_put32(code + (size_t)4 * i, words[i]);
}

static void results_are_right_and_mffs_reads_what_the_last_operation_said(void **state)
{
    static const enum isa_id ids[] = {ISA_FADD,  ISA_FSUB,   ISA_FMUL,   ISA_FDIV, ISA_FMADD,
                                      ISA_FMSUB, ISA_FNMADD, ISA_FNMSUB, ISA_FRSP};
    struct cache_config config;
    struct rig_machine sides[2];
    (void)state;
    config = rig_bluegene("bgp");
    side_open(&sides[0], &config, NULL);
    side_open(&sides[1], &config, &(struct jit_options){.entries_until_hot = 1, .wait = true});
    for (unsigned trial = 0; trial < 2 * sizeof ids / sizeof ids[0]; trial++) {
        uint64_t random = 6000000 + trial;
        uint32_t operation =
            isa_row(ids[trial / 2])->match | 4 << 21 | 1 << 16 | 2 << 11 | 3 << 6; /* f4,f1,f3,f2 */
        operation &= ~isa_row(ids[trial / 2])->mask | isa_row(ids[trial / 2])->match;
        for (unsigned i = 0; i < 2; i++) {
            uint64_t again = random;
            mem_wrote_code(sides[i].mem, CODE, CODE_WORDS * 4);
            write_reader(sides[i].mem->base + CODE, operation, trial % 2);
            for (unsigned j = 0; j < TRIPLES; j++)
                random_triple(sides[i].mem->base + TRIPLES_AT + 24 * (size_t)j, &again);
            sides[i].regs = (struct core_regs){
                .pc = CODE, .ctr = TRIPLES, .msr = MSR_PR | MSR_FP, .fpscr = FP_XX | FP_FX};
            sides[i].regs.gpr[4] = TRIPLES_AT;
            sides[i].regs.gpr[5] = READ_AT;
            core_switch(sides[i].core, &sides[i].regs, sides[i].mem);
        }
        run_program(&sides[0], &sides[1], &random, trial);
    }
    rig_machine_close(&sides[0]);
    rig_machine_close(&sides[1]);
}

/* --- Lockstep -------------------------------------------------------------------------------- */

struct reported {
    bool block, register_7;
};

/* Lines come from a copy of this process: what they say is kept in shared memory. */
static void collect(void *context, const char *line)
{
    struct reported *reported = context;
    reported->block |=
        strstr(line, "differs from the interpreter behind the block at pc 0x00010000") != NULL;
    reported->register_7 |= strstr(line, "r7: interpreted 0, translated 1") != NULL;
}

static enum core_hot spoiled_hot(void *context, struct core *core, struct block *block,
                                 uint64_t limit, struct core_exit *exit)
{
    enum core_hot hot = jit_translator(context)->hot(context, core, block, limit, exit);
    if (hot != CORE_HOT_NOTHING) core->regs->gpr[7] = 1;
    return hot;
}

/* A loop of one block, in lockstep; whether the engines were found to differ. */
static bool loop_in_lockstep(bool spoil, struct reported *reported)
{
    struct cache_config config;
    struct rig_machine side;
    struct jit_options options = {.entries_until_hot = 5,
                                  .wait = true,
                                  .lockstep = 500,
                                  .report = collect,
                                  .context = reported};
    config = rig_bluegene("bgp");
    side_open(&side, &config, &options);
    cores_free(side.cores);
    struct core_translator translator = *jit_translator(side.jit);
    if (spoil) translator.hot = spoiled_hot;
    side.cores =
        cores_new(1, &(struct core_options){
                         .units = UINT32_MAX, .cache = side.cache, .translator = &translator});
    side.core = cores_get(side.cores, 0);
    mem_host_put32(side.mem->base + CODE, 0x38A50001); /* addi r5,r5,1 */
    mem_host_put32(side.mem->base + CODE + 4, BDNZ | 0xFFFC);
    mem_host_put32(side.mem->base + CODE + 8, TRAP);
    side.regs = (struct core_regs){.pc = CODE, .ctr = 100, .msr = MSR_PR};
    core_switch(side.core, &side.regs, side.mem);
    struct core_exit exit = core_run(side.core, 100000);
    bool diverged = jit_diverged(side.jit);
    assert_int_equal(exit.reason, diverged ? CORE_ILLEGAL : CORE_TRAP);
    assert_int_equal(side.regs.gpr[5], 100);
    rig_machine_close(&side);
    return diverged;
}

static void lockstep_tells_the_block_and_the_difference(void **state)
{
    (void)state;
    struct reported *reported =
        mmap(NULL, sizeof *reported, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(reported != MAP_FAILED);
    assert_false(loop_in_lockstep(false, reported));
    assert_false(reported->block || reported->register_7);
    assert_true(loop_in_lockstep(true, reported));
    assert_true(reported->block);
    assert_true(reported->register_7);
    (void)munmap(reported, sizeof *reported);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(translated_code_does_what_the_interpreter_does_bgp),
        cmocka_unit_test(translated_code_does_what_the_interpreter_does_bgl),
        cmocka_unit_test(so_it_does_with_room_for_one_region),
        cmocka_unit_test(so_it_does_while_the_interpreter_goes_on),
        cmocka_unit_test(so_it_does_with_few_registers),
        cmocka_unit_test(so_it_does_without_tests_of_loads),
        cmocka_unit_test(loads_are_unpredictable_that_miss_without_a_pattern),
        cmocka_unit_test(results_are_right_and_mffs_reads_what_the_last_operation_said),
        cmocka_unit_test(lockstep_tells_the_block_and_the_difference),
    };
    return cmocka_run_group_tests_name("translator", tests, NULL, NULL);
}
