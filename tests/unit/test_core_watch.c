/* Looking must not change what is looked at: random loops with a watch of each kind, reached again
 * and again, far from being reached, or never, must leave the same registers, memory, stops, time,
 * and counts of every signal as without one, in the interpreter and in translated code. And a watch
 * stops the core at the very instruction.
 *
 * Faults planted, all caught: the rest of a cut block is decoded as a block of its own; a load
 * whose access is done is done again behind a stop in translated code; more misses are deferred
 * than the watch has room for (most_until_drain); a cut takes the block's fetch back, too. Found
 * while writing them: behind a cut and a store that changes code, a block more than the budget
 * allows; a count of both kinds that was not looked at behind a cut. With cycles: accesses that are
 * not compared with the time that is left (mixed_is_used). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "machine/fp/fp.h"
#include "random.h"
#include "rig_bluegene.h"
#include "rig_loop.h"
#include "rig_machine.h"
#include "rig_registers.h"

enum {
    CODE = 0x10000,
    CODE_WORDS = 2048,
    DATA = RIG_LOOP_DATA,
    DATA_BYTES = 0x40000,
    STOPS = 4000,
    STALL_MOST = 1500 /* of an instruction and the fetch of its block */
};

enum kind { SUMS, CYCLE, MISSES, MEMORY, BOTH, TIMED, LISTENER, FAR, KINDS };
static const char *const kinds[KINDS] = {"sums",         "a cycle",
                                         "misses",       "any count of memory",
                                         "sums of both", "cycles and instructions",
                                         "a listener",   "all, far away"};

/* The watched side. */
struct looker {
    struct rig_machine machine;
    struct core_watch watch;
    enum kind kind;
    uint64_t random, target, left;
    uint64_t before[CORE_SIGNAL_COUNT]; /* the counts when the watch was set */
    uint64_t stops;
    bool steps;        /* it looks after each instruction */
    uint64_t checksum; /* of where and when it stopped */
};

static uint64_t count_of(const struct looker *looker, enum cache_signal_id id)
{
    uint64_t rises, high;
    cache_signal_count(looker->machine.cache, (struct cache_signal){id, 0}, &rises, &high);
    return rises;
}

static uint64_t instructions_of(const struct looker *looker)
{
    uint64_t counts[CORE_SIGNAL_COUNT];
    core_signal_counts(looker->machine.core, counts);
    return counts[CORE_SIGNAL_INSTRUCTIONS];
}

static uint64_t looked_at(const struct looker *looker)
{
    switch (looker->kind) {
    case MISSES: return count_of(looker, CACHE_SIGNAL_L1D_MISS);
    case MEMORY:
        return count_of(looker, CACHE_SIGNAL_L1D_MISS) + count_of(looker, CACHE_SIGNAL_DTLB_MISS) +
               count_of(looker, CACHE_SIGNAL_L1I_MISS);
    case BOTH: return count_of(looker, CACHE_SIGNAL_L1D_MISS) + instructions_of(looker);
    case TIMED: return core_cycles(looker->machine.core) + instructions_of(looker);
    default: return 0;
    }
}

static bool remaining(void *context, bool inside, struct core_room *room)
{
    const struct looker *looker = context;
    if ((looker->kind == BOTH || looker->kind == TIMED) && inside) return true;
    uint64_t now = looked_at(looker), left = looker->target > now ? looker->target - now : 0;
    if (looker->kind == TIMED) { /* two instructions a cycle */
        room->cycles = left && !looker->steps ? (left - 1) / 3 : 0;
    } else if (looker->kind == BOTH) { /* shares of both */
        room->mixed = left / 4 ? left / 4 : 1;
        room->signals = UINT64_C(1) << CORE_SIGNAL_INSTRUCTIONS;
        room->raises = looker->steps ? 1 : left - left / 4;
    } else
        room->accesses = looker->kind == MISSES ? left : left / 3;
    return left;
}

static void notify(void *context, struct cache_transaction transaction, uint64_t start,
                   uint64_t end)
{
    struct looker *looker = context;
    (void)start;
    (void)end;
    if (transaction.sender == 0 && --looker->left == 0) core_stop_behind(looker->machine.core);
}

/* What is watched next, a few events away or many. */
static void arm(struct looker *looker)
{
    static const enum core_signal signals[] = {CORE_SIGNAL_INSTRUCTIONS, CORE_SIGNAL_LOAD,
                                               CORE_SIGNAL_STORE,        CORE_SIGNAL_I_INSTRUCTIONS,
                                               CORE_SIGNAL_CONDITIONAL,  CORE_SIGNAL_FETCH,
                                               CORE_SIGNAL_FP_FLOPS};
    struct core_watch *watch = &looker->watch;
    bool rare = looker->kind == MISSES || looker->kind == MEMORY || looker->kind == LISTENER;
    uint64_t most = !random_below(&looker->random, 30) ? 3000 : rare ? 4 : 30;
    uint64_t left = 1 + random_below(&looker->random, most);
    *watch = (struct core_watch){.context = looker};
    looker->left = looker->kind == FAR ? UINT64_C(1) << 40 : left;
    looker->target = looked_at(looker) + looker->left;
    for (unsigned i = 0; i < 3 && (looker->kind == SUMS || looker->kind == FAR); i++) {
        watch->sums[i].signals = UINT64_C(1) << signals[random_below(&looker->random, 7)];
        if (i) watch->sums[i].signals |= UINT64_C(1) << signals[random_below(&looker->random, 7)];
        watch->sums[i].left = looker->left + i;
        watch->count = i + 1;
    }
    if (looker->kind == CYCLE || looker->kind == FAR)
        watch->cycle = core_cycles(looker->machine.core) + looker->left;
    if (looker->kind != SUMS && looker->kind != CYCLE && looker->kind != LISTENER)
        watch->remaining = remaining;
    core_signal_counts(looker->machine.core, looker->before);
    core_set_watch(looker->machine.core, watch);
}

/* What is left of a sum is what the counts say, in the middle of a block, too. */
static void check_sums(const struct looker *looker, uint64_t trial)
{
    uint64_t counts[CORE_SIGNAL_COUNT];
    core_signal_counts(looker->machine.core, counts);
    for (unsigned i = 0; i < looker->watch.count; i++) {
        uint64_t did = 0, left = looker->left + i;
        for (unsigned s = 0; s < CORE_SIGNAL_COUNT; s++)
            if (looker->watch.sums[i].signals >> s & 1) did += counts[s] - looker->before[s];
        left = did < left ? left - did : 0;
        if ((int64_t)did < 0 || looker->watch.sums[i].left != left)
            fail_msg("program %llu: sum %u counted %lld, left %llu, should be %llu",
                     (long long)trial, i, (long long)did, (long long)looker->watch.sums[i].left,
                     (long long)left);
    }
}

/* The core has stopped: something was reached just now. */
static void check_stop(struct looker *looker, uint64_t trial)
{
    uint64_t over = looked_at(looker) - looker->target,
             most = looker->kind == MEMORY  ? 12 /* a block is fetched whole */
                    : looker->kind == TIMED ? STALL_MOST
                                            : 2;
    bool reached = false;
    looker->stops++;
    looker->checksum = looker->checksum * 31 + looker->machine.regs.pc * UINT64_C(0x10001) +
                       core_cycles(looker->machine.core);
    check_sums(looker, trial);
    switch (looker->kind) {
    case SUMS:
        for (unsigned i = 0; i < looker->watch.count; i++)
            reached |= looker->watch.sums[i].left == 0;
        break;
    case CYCLE: reached = core_cycles(looker->machine.core) >= looker->watch.cycle; break;
    case LISTENER: reached = (int64_t)looker->left <= 0; break;
    case FAR: break;
    default: reached = over <= most; break;
    }
    if (!reached)
        fail_msg("program %llu, watching %s: stopped %lld behind it", (long long)trial,
                 kinds[looker->kind], (long long)over);
}

static struct core_exit run_watched(struct looker *looker, uint64_t budget, uint64_t trial)
{
    struct core *core = looker->machine.core;
    uint64_t end = core_cycles(core) + budget, now;
    struct core_exit exit;
    do {
        now = core_cycles(core);
        exit = core_run(core, end > now ? end - now : 0);
        if (exit.reason != CORE_WATCH) return exit;
        check_stop(looker, trial);
        arm(looker);
    } while (core_cycles(core) < end || looker->machine.regs.cut.done);
    return (struct core_exit){.reason = CORE_BUDGET};
}

/* --- Comparing ------------------------------------------------------------------------------- */

static void compare_memory(const struct rig_machine *a, const struct rig_machine *b,
                           const char *what)
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
            fail_msg("%s: signal %s: %llu times %llu cycles, watched %llu times %llu cycles", what,
                     name, (long long)x[0], (long long)x[1], (long long)y[0], (long long)y[1]);
        }
    assert_memory_equal(a->mem->base + DATA, b->mem->base + DATA, DATA_BYTES);
    assert_memory_equal(a->mem->base + CODE, b->mem->base + CODE, CODE_WORDS * 4);
}

static void compare(struct rig_machine *a, struct rig_machine *b, const char *what)
{
    uint64_t x[CORE_SIGNAL_COUNT], y[CORE_SIGNAL_COUNT];
    core_signal_counts(a->core, x);
    core_signal_counts(b->core, y);
    rig_registers_check(what, &a->regs, &b->regs);
    assert_memory_equal(&a->regs, &b->regs, sizeof a->regs);
    if (core_cycles(a->core) != core_cycles(b->core))
        fail_msg("%s: %llu cycles, watched %llu", what, (long long)core_cycles(a->core),
                 (long long)core_cycles(b->core));
    assert_int_equal(core_crossings(a->core), core_crossings(b->core));
    for (unsigned i = 0; i < CORE_SIGNAL_COUNT; i++)
        if (x[i] != y[i])
            fail_msg("%s: core signal %u %llu times, watched %llu", what, i, (long long)x[i],
                     (long long)y[i]);
}

/* Faults and exceptions are stepped over; the trap behind the loop ends it. */
static void run_program(struct rig_machine *a, struct looker *looker, uint64_t *random,
                        uint64_t trial)
{
    struct rig_machine *b = &looker->machine;
    char what[80];
    (void)snprintf(what, sizeof what, "program %llu, watching %s", (long long)trial,
                   kinds[looker->kind]);
    for (unsigned i = 0; i < STOPS; i++) {
        uint64_t budget = random_below(random, 3) ? 1000000 : 1 + random_below(random, 60);
        struct core_exit x = core_run(a->core, budget), y = run_watched(looker, budget, trial);
        compare(a, b, what);
        assert_int_equal(x.reason, y.reason);
        assert_int_equal(x.address, y.address);
        if (x.reason == CORE_TRAP || x.reason == CORE_FETCH) break;
        if (x.reason == CORE_BUDGET || x.reason == CORE_SYSCALL || x.reason == CORE_CALLTHRU)
            continue;
        a->regs.pc = b->regs.pc += 4;
        a->regs.fpscr = b->regs.fpscr = FP_XX | FP_FX;
    }
    compare_memory(a, b, what);
}

static void begin(struct rig_machine *side, uint32_t pc, uint64_t program, uint64_t state, bool few)
{
    mem_wrote_code(side->mem, CODE, CODE_WORDS * 4);
    rig_loop_write(side->mem->base + pc, &program, few);
    rig_loop_state(&side->regs, &state, few);
    side->regs.pc = pc;
    core_switch(side->core, &side->regs, side->mem);
}

static uint64_t look(const char *name, enum kind kind, bool steps, const struct jit_options *jit,
                     uint64_t trials)
{
    struct cache_config config = rig_bluegene(name);
    struct rig_layout layout = {CODE, CODE_WORDS * 4, DATA, DATA_BYTES};
    struct rig_machine plain;
    struct looker looker = {.kind = kind, .random = 5, .steps = steps};
    struct cache_listener listener = {.notify = notify, .context = &looker};
    rig_machine_open(&plain, layout, 1, &(struct rig_options){.cache = &config});
    rig_machine_open(&looker.machine, layout, 1,
                     &(struct rig_options){.cache = &config, .jit = jit});
    if (kind == LISTENER) cache_listen(looker.machine.cache, &listener);
    for (uint64_t trial = 0; trial < random_trials(trials); trial++) {
        uint64_t random = 1000 * kind + trial;
        uint32_t pc = CODE + 4 * (uint32_t)random_below(&random, CODE_WORDS - RIG_LOOP_BODY - 2);
        uint64_t program = random_next(&random), state = random_next(&random);
        begin(&plain, pc, program, state, trial % 4 == 0);
        begin(&looker.machine, pc, program, state, trial % 4 == 0);
        arm(&looker);
        run_program(&plain, &looker, &random, trial);
    }
    assert_true(kind == FAR ? looker.stops == 0 : looker.stops > random_trials(trials));
    rig_machine_close(&plain);
    rig_machine_close(&looker.machine);
    return looker.checksum;
}

/* --- The tests ------------------------------------------------------------------------------- */

static void look_everywhere(enum kind kind)
{
    static const struct jit_options translated = {.entries_until_hot = 2, .wait = true},
                                    unpredictable = {.entries_until_hot = 2,
                                                     .wait = true,
                                                     .unpredictable = true};
    static const char *const machines[] = {"bgp", "bgl"};
    for (unsigned m = 0; m < 2; m++) {
        uint64_t checksum = look(machines[m], kind, false, NULL, 100);
        if (kind == BOTH || kind == TIMED) /* stops where one does that looks at each instruction */
            assert_int_equal(checksum, look(machines[m], kind, true, NULL, 100));
        (void)look(machines[m], kind, false, &translated, 200);
        (void)look(machines[m], kind, false, &unpredictable, 50);
    }
}

#define TEST(name, kind)                                                                           \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        look_everywhere(kind);                                                                     \
    }
TEST(a_sum_that_is_reached_changes_nothing, SUMS)
TEST(a_cycle_that_is_reached_changes_nothing, CYCLE)
TEST(misses_that_are_reached_change_nothing, MISSES)
TEST(any_count_of_memory_that_is_reached_changes_nothing, MEMORY)
TEST(sums_of_both_that_are_reached_change_nothing, BOTH)
TEST(cycles_and_instructions_that_are_reached_change_nothing, TIMED)
TEST(a_listener_that_stops_the_core_changes_nothing, LISTENER)
TEST(what_is_far_changes_nothing, FAR)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sum_that_is_reached_changes_nothing),
        cmocka_unit_test(a_cycle_that_is_reached_changes_nothing),
        cmocka_unit_test(misses_that_are_reached_change_nothing),
        cmocka_unit_test(any_count_of_memory_that_is_reached_changes_nothing),
        cmocka_unit_test(sums_of_both_that_are_reached_change_nothing),
        cmocka_unit_test(cycles_and_instructions_that_are_reached_change_nothing),
        cmocka_unit_test(a_listener_that_stops_the_core_changes_nothing),
        cmocka_unit_test(what_is_far_changes_nothing),
    };
    return cmocka_run_group_tests_name("watches", tests, NULL, NULL);
}
