/* The interpreter with a memory hierarchy against the one without: the same random programs, block
 * by block, must leave the same registers, memory, stops and counts; only cycles may differ. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "machine/isa/isa.h"
#include "random.h"
#include "rig_bluegene.h"
#include "rig_machine.h"
#include "rig_registers.h"

enum { CODE = 0x10000, CODE_WORDS = 256, DATA = 0x20000, DATA_BYTES = 0x4000, BLOCKS = 400 };

static void side_open(struct rig_machine *side, const struct cache_config *config)
{
    rig_machine_open(side, (struct rig_layout){CODE, CODE_WORDS * 4, DATA, DATA_BYTES}, 1,
                     &(struct rig_options){.cache = config});
}

/* A random instruction that is legal; mostly loads and stores. */
static uint32_t random_word(uint64_t *random)
{
    for (;;) {
        enum isa_id id = (enum isa_id)(1 + random_below(random, ISA_COUNT - 1));
        const struct isa_row *row = isa_row(id);
        uint32_t word = row->match | ((uint32_t)random_next(random) & ~row->mask);
        bool memory = row->size || row->flags & ISA_MULTIPLE;
        if (isa_is_privileged(id, word) || (!memory && random_below(random, 3))) continue;
        if (id == ISA_MFTB || id == ISA_MFSPR) continue; /* time is what may differ */
        return word;
    }
}

static void fill(struct rig_machine *a, struct rig_machine *b, uint64_t *random)
{
    for (uint32_t i = 0; i < CODE_WORDS; i++) {
        uint32_t word = random_word(random);
        mem_host_put32(a->mem->base + CODE + 4 * i, word);
        mem_host_put32(b->mem->base + CODE + 4 * i, word);
    }
    a->regs = (struct core_regs){.pc = CODE, .msr = MSR_PR | MSR_FP};
    for (unsigned i = 0; i < 32; i++) {
        a->regs.gpr[i] = random_below(random, 4) ? DATA + (uint32_t)random_below(random, DATA_BYTES)
                                                 : (uint32_t)random_next(random);
        a->regs.fpr[i] = random_next(random);
        a->regs.fpr2[i] = random_next(random);
    }
    b->regs = a->regs;
    core_switch(a->core, &a->regs, a->mem);
    core_switch(b->core, &b->regs, b->mem);
}

static void compare(struct rig_machine *a, struct rig_machine *b)
{
    uint64_t x[CORE_SIGNAL_COUNT], y[CORE_SIGNAL_COUNT];
    core_signal_counts(a->core, x);
    core_signal_counts(b->core, y);
    assert_memory_equal(x, y, sizeof x);
    assert_memory_equal(a->mem->base + CODE, b->mem->base + CODE, CODE_WORDS * 4);
    assert_memory_equal(a->mem->base + DATA, b->mem->base + DATA, DATA_BYTES);
}

static void run_program(struct rig_machine *a, struct rig_machine *b)
{
    for (int i = 0; i < BLOCKS; i++) {
        struct core_exit x = core_run(a->core, 1), y = core_run(b->core, 1);
        assert_int_equal(x.reason, y.reason);
        assert_int_equal(x.address, y.address);
        rig_registers_check("with a hierarchy", &a->regs, &b->regs);
        assert_memory_equal(&a->regs, &b->regs, sizeof a->regs);
        if (x.reason == CORE_FETCH) break;
        if (x.reason != CORE_BUDGET && x.reason != CORE_SYSCALL && x.reason != CORE_CALLTHRU)
            a->regs.pc = b->regs.pc += 4;
    }
    compare(a, b);
}

static void on_machine(const char *name)
{
    struct cache_config config = rig_bluegene(name);
    uint64_t random = 99;
    for (uint64_t trial = 0; trial < random_trials(150); trial++) {
        struct rig_machine plain, cached;
        side_open(&plain, NULL);
        side_open(&cached, &config);
        for (int program = 0; program < 10; program++) {
            mem_wrote_code(plain.mem, CODE, CODE_WORDS * 4);
            mem_wrote_code(cached.mem, CODE, CODE_WORDS * 4);
            fill(&plain, &cached, &random);
            run_program(&plain, &cached);
        }
        rig_machine_close(&plain);
        rig_machine_close(&cached);
    }
}

static void a_memory_hierarchy_changes_nothing_but_time_bgp(void **state)
{
    (void)state;
    on_machine("bgp");
}

static void a_memory_hierarchy_changes_nothing_but_time_bgl(void **state)
{
    (void)state;
    on_machine("bgl");
}

/* A watched core stops behind the very instruction that reaches the sum, with the same state as one
 * that just runs. */
static void a_watch_stops_behind_the_event(void **state)
{
    (void)state;
    static const enum core_signal signals[] = {CORE_SIGNAL_INSTRUCTIONS, CORE_SIGNAL_LOAD,
                                               CORE_SIGNAL_STORE};
    uint64_t random = 5;
    struct rig_machine plain, watched;
    side_open(&plain, NULL);
    side_open(&watched, NULL);
    for (uint64_t trial = 0; trial < random_trials(300); trial++) {
        enum core_signal signal = signals[random_below(&random, 3)];
        struct core_watch watch = {
            .sums = {{.signals = UINT64_C(1) << signal, .left = 1 + random_below(&random, 40)}},
            .count = 1};
        uint64_t wanted = watch.sums[0].left, before[CORE_SIGNAL_COUNT], after[CORE_SIGNAL_COUNT];
        struct core *core = watched.core;
        mem_wrote_code(plain.mem, CODE, CODE_WORDS * 4);
        mem_wrote_code(watched.mem, CODE, CODE_WORDS * 4);
        fill(&plain, &watched, &random);
        core_signal_counts(core, before);
        core_set_watch(core, &watch);
        struct core_exit exit = core_run(core, 100000);
        core_set_watch(core, NULL);
        core_signal_counts(core, after);
        if (exit.reason == CORE_WATCH)
            assert_int_equal(after[signal] - before[signal], wanted);
        else
            assert_int_equal(watch.sums[0].left, wanted - (after[signal] - before[signal]));
        if (exit.reason == CORE_WATCH) assert_int_equal(watch.sums[0].left, 0);
    }
    rig_machine_close(&plain);
    rig_machine_close(&watched);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_memory_hierarchy_changes_nothing_but_time_bgp),
        cmocka_unit_test(a_memory_hierarchy_changes_nothing_but_time_bgl),
        cmocka_unit_test(a_watch_stops_behind_the_event),
    };
    return cmocka_run_group_tests_name("cores with caches", tests, NULL, NULL);
}
