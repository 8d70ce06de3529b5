/* Counter sets that take turns: what was counted in whose turn, by a small program with two phases.
 *
 * The program calls a function that only branches and one that loads and stores, over and over.
 * Which instruction is in which turn is known from a trace of another run: a turn ends with the
 * first block that ends at or behind a multiple of its length.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "chiliad/experiment.h"
#include "chiliad/metric.h"
#include "chiliad/run.h"
#include "rig_bluegene.h"

enum { BASE = 0x10000000, HEADERS = 84, ROUNDS = 4, BRANCHES = 6000, LOADS = 400, TURNS_MAX = 8 };

static const uint32_t code[] = {
    0x39C00000 | ROUNDS,   /*    li r14,ROUNDS */
    0x4800001D,            /* 1: bl 2f */
    0x48000029,            /*    bl 4f */
    0x35CEFFFF,            /*    addic. r14,r14,-1 */
    0x4082FFF4,            /*    bne 1b */
    0x38600000,            /*    li r3,0 */
    0x38000001,            /*    li r0,1 */
    0x44000002,            /*    sc */
    0x38600000 | BRANCHES, /* 2: li r3,BRANCHES */
    0x7C6903A6,            /*    mtctr r3 */
    0x42000000,            /* 3: bdnz 3b */
    0x4E800020,            /*    blr */
    0x38600000 | LOADS,    /* 4: li r3,LOADS */
    0x7C6903A6,            /*    mtctr r3 */
    0x80A10000,            /* 5: lwz r5,0(r1) */
    0x90A1FFF0,            /*    stw r5,-16(r1) */
    0x4200FFF8,            /*    bdnz 5b */
    0x4E800020,            /*    blr */
};

static void put(FILE *file, uint32_t value, int bytes)
{
    while (bytes-- > 0)
        assert_int_not_equal(fputc((int)(value >> (8 * bytes) & 0xFF), file), EOF);
}

/* A static program of one segment. */
static void write_program(const char *path)
{
    const uint32_t size = HEADERS + sizeof code;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite("\177ELF\1\2\1\0\0\0\0\0\0\0\0\0", 1, 16, file), 16);
    put(file, 2, 2); /* an executable, for PowerPC */
    put(file, 20, 2);
    put(file, 1, 4);
    put(file, BASE + HEADERS, 4);
    put(file, 52, 4);
    put(file, 0, 4);
    put(file, 0, 4);
    put(file, 52, 2);
    put(file, 32, 2);
    put(file, 1, 2);
    for (int i = 0; i < 3; i++)
        put(file, 0, 2);
    const uint32_t segment[] = {1, 0, BASE, BASE, size, size, 5, 0x10000};
    for (size_t i = 0; i < sizeof segment / sizeof *segment; i++)
        put(file, segment[i], 4);
    for (size_t i = 0; i < sizeof code / sizeof *code; i++)
        put(file, code[i], 4);
    assert_int_equal(fclose(file), 0);
}

struct rig {
    char path[40];
    struct chil_machine *machine;
    struct chil_run_options options;
    char *argv[2], *envp[1];
};

static int open_rig(void **state)
{
    struct rig *rig = calloc(1, sizeof *rig);
    assert_non_null(rig);
    (void)snprintf(rig->path, sizeof rig->path, "/tmp/turns.XXXXXX");
    int fd = mkstemp(rig->path);
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    write_program(rig->path);
    assert_int_equal(chmod(rig->path, 0700), 0);
    rig->machine = rig_machine_file("bgp");
    rig->argv[0] = rig->path;
    rig->options = (struct chil_run_options){.machine = rig->machine,
                                             .program = rig->path,
                                             .argv = rig->argv,
                                             .envp = rig->envp,
                                             .record = true};
    *state = rig;
    return 0;
}

static int close_rig(void **state)
{
    struct rig *rig = *state;
    (void)unlink(rig->path);
    chil_machine_free(rig->machine);
    free(rig);
    return 0;
}

/* Runs the program; with turns into turn[]. */
static struct chil_exp *record(const struct rig *rig, unsigned turns, uint64_t cycles,
                               const char *engine, struct chil_exp **turn)
{
    struct chil_run_options options = rig->options;
    struct chil_error err = {0};
    struct chil_run *run;
    struct chil_exp *exp;
    options.record_turns = turns;
    options.turn_cycles = cycles;
    options.engine = engine;
    if (chil_run_new(&run, &options, &err) || chil_run_go(run, &err)) fail_msg("%s", err.text);
    assert_int_equal(chil_run_status(run), 0);
    assert_int_equal(chil_run_experiments(run, &exp, turn, &err), 0);
    chil_run_free(run);
    return exp;
}

static void free_all(struct chil_exp **exp, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        chil_exp_free(exp[i]);
}

static int64_t total(const struct chil_exp *exp, const char *name)
{
    int metric = chil_exp_find_metric(exp, name);
    assert_true(metric >= 0);
    return chil_exp_sum_count(exp, metric, CHIL_EXP_NONE, false, -1);
}

static void assert_equal(const struct chil_exp *a, const struct chil_exp *b)
{
    assert_int_equal(a->metrics, b->metrics);
    assert_int_equal(a->nodes, b->nodes);
    for (size_t m = 0; m < a->metrics; m++)
        for (size_t n = 0; n < a->nodes; n++)
            if (strcmp(a->metric[m].name, b->metric[m].name) != 0 ||
                chil_exp_count(a, (int)m, (int)n, 0) != chil_exp_count(b, (int)m, (int)n, 0))
                fail_msg("%s at node %zu: %ld and %ld", a->metric[m].name, n,
                         (long)chil_exp_count(a, (int)m, (int)n, 0),
                         (long)chil_exp_count(b, (int)m, (int)n, 0));
}

static const struct {
    unsigned turns;
    uint64_t cycles;
} cases[] = {{1, 1000}, {2, 1000}, {3, 777}, {5, 1}, {8, 50}, {2, 1000000}, {4, 9999}};

static void turns_add_up_to_the_run_and_change_nothing(void **state)
{
    struct chil_exp *turn[TURNS_MAX], *plain = record(*state, 0, 0, "interp", NULL);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct chil_exp *exp = record(*state, cases[c].turns, cases[c].cycles, "interp", turn);
        assert_equal(plain, exp);
        for (size_t m = 0; m < exp->metrics; m++) {
            bool visits = strcmp(exp->metric[m].name, "visits") == 0;
            for (size_t n = 0; n < exp->nodes; n++) {
                int64_t sum = 0, whole = chil_exp_count(exp, (int)m, (int)n, 0);
                for (unsigned t = 0; t < cases[c].turns; t++)
                    sum += chil_exp_count(turn[t], (int)m, (int)n, 0);
                if (visits) whole *= cases[c].turns;
                /* what no path did is divided by time, and half cycles of slower clocks are lost */
                int64_t lost =
                    visits || strcmp(exp->metric[m].unit, "cycles") != 0 ? 0 : 2 * cases[c].turns;
                if (n == 0) lost = 2 * cases[c].turns;
                if (sum - whole > lost || whole - sum > lost)
                    fail_msg("%s at node %zu: %ld in all turns, %ld in the run",
                             exp->metric[m].name, n, (long)sum, (long)whole);
            }
        }
        chil_exp_free(exp);
        free_all(turn, cases[c].turns);
    }
    chil_exp_free(plain);
}

static void both_engines_agree_on_every_turn(void **state)
{
    struct chil_exp *a[TURNS_MAX], *b[TURNS_MAX];
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct chil_exp *one = record(*state, cases[c].turns, cases[c].cycles, "interp", a);
        struct chil_exp *other =
            record(*state, cases[c].turns, cases[c].cycles, "auto:entries_until_hot=1,wait", b);
        assert_equal(one, other);
        for (unsigned t = 0; t < cases[c].turns; t++)
            assert_equal(a[t], b[t]);
        chil_exp_free(one);
        chil_exp_free(other);
        free_all(a, cases[c].turns);
        free_all(b, cases[c].turns);
    }
}

/* --- Against a trace ------------------------------------------------------------------------- */

struct seen {
    unsigned turns, turn;
    uint64_t cycles, next;
    bool block_ended;
    int64_t instructions[TURNS_MAX], loads[TURNS_MAX], branches[TURNS_MAX];
};

static bool see(void *context, const struct chil_trace_record *r)
{
    struct seen *seen = context;
    unsigned opcode = r->word >> 26;
    bool branch = opcode == 16 || opcode == 18 || opcode == 19;
    if (seen->block_ended && r->cycle >= seen->next) {
        seen->turn = (seen->turn + 1) % seen->turns;
        seen->next = r->cycle - r->cycle % seen->cycles + seen->cycles;
    }
    seen->instructions[seen->turn]++;
    seen->loads[seen->turn] += r->access == CHIL_ACCESS_LOAD;
    seen->branches[seen->turn] += branch;
    seen->block_ended = branch;
    return true;
}

static void which_instruction_is_in_whose_turn(void **state)
{
    const struct rig *rig = *state;
    static const unsigned lengths[] = {500, 1000, 1500, 2500, 9000};
    for (size_t c = 0; c < sizeof lengths / sizeof *lengths; c++) {
        struct seen seen = {.turns = 3, .cycles = lengths[c], .next = lengths[c]};
        struct chil_run_options options = rig->options;
        struct chil_exp *turn[TURNS_MAX];
        struct chil_run *run;
        options.record = false;
        options.trace = see;
        options.context = &seen;
        assert_int_equal(chil_run_new(&run, &options, NULL), 0);
        assert_int_equal(chil_run_go(run, NULL), 0);
        chil_run_free(run);
        chil_exp_free(record(rig, 3, lengths[c], NULL, turn));
        for (unsigned t = 0; t < 3; t++) {
            assert_int_equal(total(turn[t], "BGL_INST"), seen.instructions[t]);
            assert_int_equal(total(turn[t], "BGL_LOAD"), seen.loads[t]);
            assert_int_equal(total(turn[t], "BGL_BRANCH"), seen.branches[t]);
        }
        free_all(turn, 3);
    }
}

/* --- Estimates ------------------------------------------------------------------------------- */

static const char sets[] =
    "platform one one counter\nmetrics simulator\ncounters c\nevents c = LOADS STORES BRANCHES\n"
    "aggroup A = LOADS\naggroup B = BRANCHES\n"
    "like LOADS = BGL_LOAD\nlike STORES = BGL_STORE\nlike BRANCHES = BGL_BRANCH\n";

/* The error of an estimate in percent. */
static double error_of(const struct rig *rig, uint64_t cycles, const char *event, const char *like)
{
    struct chil_platform *platform;
    struct chil_exp *turn[2], *estimate, *exp = record(rig, 2, cycles, NULL, turn);
    size_t count;
    assert_int_equal(chil_platform_parse(&platform, "one", sets, strlen(sets), NULL), 0);
    const struct chil_set *set = chil_platform_sets(platform, &count);
    const struct chil_set *list[] = {&set[0], &set[1]};
    assert_int_equal(chil_metric_turns(&estimate, exp, (const struct chil_exp *const *)turn,
                                       platform, list, 2, NULL),
                     0);
    double truth = (double)total(exp, like);
    double value =
        chil_exp_sum(estimate, chil_exp_find_metric(estimate, event), CHIL_EXP_NONE, false, -1);
    /* by hand: what was seen, times all cycles over those in which it was on */
    unsigned own = strcmp(event, "LOADS") == 0 ? 0 : 1;
    double on = (double)total(turn[own], "BGL_CYCLES"), all = (double)total(exp, "BGL_CYCLES");
    double hand = (double)total(turn[own], like) * all / on;
    assert_true(fabs(value - hand) < 1e-6);
    chil_exp_free(estimate);
    chil_exp_free(exp);
    free_all(turn, 2);
    chil_platform_free(platform);
    return 100 * (value - truth) / truth;
}

/* A round of the program has some 10,000 cycles, so turns as long see one phase or the other. */
static void
UPC_47_estimates_of_a_program_with_phases_are_off_and_get_better_with_shorter_turns(void **state)
{
    static const uint64_t lengths[3][3] = {{3600, 12000, 18000}, {300, 500, 1600}, {30, 60, 140}};
    double off[3] = {0};
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 3; k++)
            off[i] += fabs(error_of(*state, lengths[i][k], "LOADS", "BGL_LOAD")) / 3;
    assert_true(off[0] > 15);
    assert_true(off[1] < off[0]);
    assert_true(off[2] < off[1] && off[2] < 2);
}

static void one_set_alone_is_exact(void **state)
{
    struct chil_platform *platform;
    struct chil_exp *turn[1], *estimate, *exp = record(*state, 1, 1000, NULL, turn);
    size_t count;
    assert_int_equal(chil_platform_parse(&platform, "one", sets, strlen(sets), NULL), 0);
    const struct chil_set *set = chil_platform_sets(platform, &count);
    assert_int_equal(chil_metric_turns(&estimate, exp, (const struct chil_exp *const *)turn,
                                       platform, &set, 1, NULL),
                     0);
    int loads = chil_exp_find_metric(estimate, "LOADS");
    for (size_t n = 0; n < exp->nodes; n++)
        assert_true(chil_exp_real(estimate, loads, (int)n, 0) ==
                    (double)chil_exp_count(exp, chil_exp_find_metric(exp, "BGL_LOAD"), (int)n, 0));
    assert_int_equal(total(exp, "BGL_LOAD"), (int64_t)ROUNDS * LOADS);
    chil_exp_free(estimate);
    chil_exp_free(exp);
    free_all(turn, 1);
    chil_platform_free(platform);
}

static bool go_on(void *context, struct chil_run *run)
{
    (void)context;
    (void)run;
    return true;
}

static void turns_need_a_recorded_run_without_pauses(void **state)
{
    const struct rig *rig = *state;
    struct chil_run_options options = rig->options;
    struct chil_run *run;
    struct chil_error err = {0};
    options.record_turns = 2;
    options.turn_cycles = 10;
    options.pause = go_on;
    assert_int_equal(chil_run_new(&run, &options, &err), CHIL_EINVAL);
    assert_non_null(strstr(err.text, "without pauses"));
    options.pause = NULL;
    options.record = false;
    assert_int_equal(chil_run_new(&run, &options, &err), CHIL_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_add_up_to_the_run_and_change_nothing),
        cmocka_unit_test(both_engines_agree_on_every_turn),
        cmocka_unit_test(which_instruction_is_in_whose_turn),
        cmocka_unit_test(
            UPC_47_estimates_of_a_program_with_phases_are_off_and_get_better_with_shorter_turns),
        cmocka_unit_test(one_set_alone_is_exact),
        cmocka_unit_test(turns_need_a_recorded_run_without_pauses),
    };
    return cmocka_run_group_tests(tests, open_rig, close_rig);
}
