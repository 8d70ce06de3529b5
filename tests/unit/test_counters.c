/* The simulator's own counters: sets per process, and what a program sees of its own (rows BGL-15
 * to BGL-21). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "measure/counters/counters.h"

enum { CORES = 2 };

struct rig {
    struct counters *counters;
    uint64_t done[CORES][COUNTERS_SET];
    int overflows;
};

static void read_core(void *context, unsigned core, uint64_t *values)
{
    const struct rig *rig = context;
    memcpy(values, rig->done[core], sizeof rig->done[core]);
}

static void overflow(void *context, int pid)
{
    struct rig *rig = context;
    (void)pid;
    rig->overflows++;
}

static void rig_open(struct rig *rig)
{
    *rig = (struct rig){0};
    rig->counters = counters_new(&(struct counters_options){CORES, read_core, overflow, rig});
}

/* A core does `amount` of everything: counter i grows by amount * (i + 1). */
static void work(struct rig *rig, unsigned core, uint64_t amount)
{
    for (unsigned i = 0; i < COUNTERS_SET; i++)
        rig->done[core][i] += amount * (i + 1);
}

static void check_total(struct rig *rig)
{
    uint64_t total[COUNTERS_SET];
    counters_total(rig->counters, total);
    for (unsigned i = 0; i < COUNTERS_SET; i++)
        assert_int_equal(total[i], rig->done[0][i] + rig->done[1][i]);
}

/* Planted: 32 bits; of two neighbours one counts. */
static void BGL_15_BGL_18_all_64_counters_of_64_bits_count_together(void **state)
{
    (void)state;
    struct rig rig;
    uint64_t user[COUNTERS_SET], kernel[COUNTERS_SET];
    rig_open(&rig);
    counters_switch(rig.counters, 0, 1000);
    counters_start(rig.counters, 0);
    work(&rig, 0, UINT64_C(1) << 50);
    counters_read(rig.counters, 0, user, kernel);
    for (unsigned i = 0; i < COUNTERS_SET; i++) {
        assert_true(user[i] == (UINT64_C(1) << 50) * (i + 1));
        assert_int_equal(kernel[i], 0);
    }
    counters_free(rig.counters);
}

static void a_program_sees_what_it_selected_while_started(void **state)
{
    (void)state;
    struct rig rig;
    uint64_t user[COUNTERS_SET], kernel[COUNTERS_SET];
    rig_open(&rig);
    counters_switch(rig.counters, 0, 1000);
    work(&rig, 0, 5);
    counters_start(rig.counters, 0);
    work(&rig, 0, 7);
    counters_stop(rig.counters, 0);
    work(&rig, 0, 100);
    counters_start(rig.counters, 0);
    work(&rig, 0, 2);
    counters_select(rig.counters, 0, 6);
    counters_read(rig.counters, 0, user, kernel);
    assert_int_equal(user[0], 0);
    assert_int_equal(user[1], 9 * 2);
    assert_int_equal(user[2], 9 * 3);
    assert_int_equal(user[3], 0);
    counters_reset(rig.counters, 0);
    work(&rig, 0, 1);
    counters_read(rig.counters, 0, user, kernel);
    assert_int_equal(user[1], 2);
    assert_true(counters_of(rig.counters, 1000, user)); /* underneath nothing was lost */
    assert_int_equal(user[0], 115);
    counters_free(rig.counters);
}

/* Planted: a switch attributes nothing. */
static void BGL_20_sums_over_processes_equal_the_machine_s_totals(void **state)
{
    (void)state;
    struct rig rig;
    rig_open(&rig);
    uint64_t expected[10] = {0}, user[COUNTERS_SET];
    for (unsigned step = 0; step < 500; step++) {
        unsigned core = step * 7 % CORES;
        int pid = (int)(step * 13 % 10);
        counters_switch(rig.counters, core, 1000 + pid);
        work(&rig, core, step);
        expected[pid] += step;
        if (step % 50 == 0) check_total(&rig); /* reading attributes: not between all switches */
    }
    check_total(&rig);
    for (int pid = 0; pid < 10; pid++) {
        assert_true(counters_of(rig.counters, 1000 + pid, user));
        assert_int_equal(user[0], expected[pid]);
    }
    counters_free(rig.counters);
}

/* Planted: a report for each; the 129th gets the first set. */
static void BGL_17_128_processes_have_sets_and_the_129th_is_reported(void **state)
{
    (void)state;
    struct rig rig;
    uint64_t user[COUNTERS_SET];
    rig_open(&rig);
    for (int pid = 1; pid <= 128; pid++) {
        counters_switch(rig.counters, 0, pid);
        work(&rig, 0, (uint64_t)pid);
    }
    assert_int_equal(rig.overflows, 0);
    for (int pid = 129; pid <= 131; pid++) {
        counters_switch(rig.counters, 0, pid);
        work(&rig, 0, 1);
    }
    assert_int_equal(rig.overflows, 1);
    assert_false(counters_of(rig.counters, 129, user));
    for (int pid = 1; pid <= 128; pid++) {
        assert_true(counters_of(rig.counters, pid, user));
        assert_int_equal(user[0], pid);
    }
    check_total(&rig);
    counters_free(rig.counters);
}

static void a_set_is_free_again_when_its_process_ends(void **state)
{
    (void)state;
    struct rig rig;
    uint64_t user[COUNTERS_SET];
    rig_open(&rig);
    for (int pid = 1; pid <= 1000; pid++) {
        counters_switch(rig.counters, 1, pid);
        work(&rig, 1, 3);
        counters_exit(rig.counters, pid);
        assert_false(counters_of(rig.counters, pid, user));
        check_total(&rig);
    }
    assert_int_equal(rig.overflows, 0);
    counters_free(rig.counters);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(BGL_15_BGL_18_all_64_counters_of_64_bits_count_together),
        cmocka_unit_test(BGL_17_128_processes_have_sets_and_the_129th_is_reported),
        cmocka_unit_test(BGL_20_sums_over_processes_equal_the_machine_s_totals),
        cmocka_unit_test(a_program_sees_what_it_selected_while_started),
        cmocka_unit_test(a_set_is_free_again_when_its_process_ends),
    };
    return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}
