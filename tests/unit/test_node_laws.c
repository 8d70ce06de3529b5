/* The laws between the counts of a run: they hold where nothing was counted wrong, and a count that
 * is off by one is found. That they hold for programs is shown by every run of every test:
 * tests/cmd/test_laws. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machine/cache/cache_node.h"
#include "machine/isa/isa.h"
#include "machine/node/node.h"

enum { CORES = 4 };

static void open_run_with(struct chil_run *run, const char *const *settings, size_t count)
{
    struct chil_machine *machine;
    struct cache_config config;
    struct core_options options = {.units = UINT32_MAX};
    assert_int_equal(setenv("CHILIAD_DATA", "data", 1), 0);
    assert_int_equal(chil_machine_open_with(&machine, "bgp", settings, count, NULL), 0);
    assert_int_equal(cache_config_read(&config, machine, NULL), 0);
    chil_machine_free(machine);
    *run = (struct chil_run){.core_count = CORES};
    run->cache = options.cache = cache_new(&config);
    run->cores = cores_new(CORES, &options);
    run->counts = calloc(CORES, sizeof *run->counts);
    assert_non_null(run->counts);
}

static void open_run(struct chil_run *run)
{
    open_run_with(run, NULL, 0);
}

static void close_run(struct chil_run *run)
{
    cores_free(run->cores);
    cache_free(run->cache);
    free(run->counts);
}

static void laws_hold_where_nothing_happened(void **state)
{
    (void)state;
    struct chil_run run;
    open_run(&run);
    assert_int_equal(node_check_laws(&run, NULL), 0);
    assert_true(chil_run_laws(&run) > 100);
    close_run(&run);
}

/* A signal that is counted once too often, with nothing else, is in some law: all but the fetches,
 * whose hits are worked out from them. */
static void every_signal_of_a_core_that_is_off_by_one_is_found(void **state)
{
    (void)state;
    struct chil_run run;
    open_run(&run);
    for (unsigned core = 0; core < CORES; core++) {
        for (unsigned signal = CORE_SIGNAL_NONE + 1; signal < CORE_SIGNAL_COUNT; signal++) {
            struct chil_error err = {0};
            if (signal == CORE_SIGNAL_FETCH) continue;
            run.counts[core][signal]++;
            if (node_check_laws(&run, &err) != CHIL_ELAW)
                fail_msg("signal %u of core %u is in no law", signal, core);
            assert_non_null(strstr(err.text, "break the law"));
            run.counts[core][signal]--;
        }
    }
    assert_int_equal(node_check_laws(&run, NULL), 0);
    close_run(&run);
}

static void the_message_names_the_law_the_core_and_both_sides(void **state)
{
    (void)state;
    struct chil_run run;
    struct chil_error err = {0};
    open_run(&run);
    run.counts[2][CORE_SIGNAL_LOAD_INTEGER] = 7;
    run.counts[2][CORE_SIGNAL_LOAD] = 8;
    run.counts[2][CORE_SIGNAL_INSTRUCTIONS] = 8;
    assert_int_equal(node_check_laws(&run, &err), CHIL_ELAW);
    assert_string_equal(
        err.text,
        "internal error: counts break the law 'loads = integer + FP' on core 2: 8 and 7; please "
        "report it with the program");
    close_run(&run);
}

static void a_miss_too_many_in_the_hierarchy_is_found(void **state)
{
    (void)state;
    struct chil_run run;
    struct chil_error err = {0};
    open_run(&run);
    run.cache->core[1]->counts.l2_miss++;
    assert_int_equal(node_check_laws(&run, &err), CHIL_ELAW);
    assert_non_null(strstr(err.text, "'L2's reads of L3 = lines that L3 delivers': 1 and 0"));
    run.cache->core[1]->counts.l2_miss--;
    run.cache->core[3]->counts.load_miss++;
    assert_int_equal(node_check_laws(&run, &err), CHIL_ELAW);
    assert_non_null(strstr(err.text, "'load misses <= loads' on core 3: 1 and 0"));
    run.cache->core[3]->counts.load_miss--;
    run.cache->core[0]->counts.invalidated++;
    assert_int_equal(node_check_laws(&run, &err), CHIL_ELAW);
    assert_non_null(
        strstr(err.text, "'lines lost to coherence <= snoops in L1D' on core 0: 1 and 0"));
    close_run(&run);
}

/* Where misses are told apart, each is of one kind. */
static void a_miss_of_no_kind_is_found(void **state)
{
    static const char *const on[] = {"misses.kinds=on"};
    (void)state;
    struct chil_run run;
    struct chil_error err = {0};
    open_run_with(&run, on, 1);
    assert_int_equal(node_check_laws(&run, &err), 0);
    run.cache->core[1]->counts.load_kind[KIND_CONFLICT]++;
    assert_int_equal(node_check_laws(&run, &err), CHIL_ELAW);
    assert_non_null(strstr(
        err.text, "'load misses = cold + capacity + conflict + coherence' on core 1: 0 and 1"));
    run.cache->core[1]->counts.load_kind[KIND_CONFLICT]--;
    run.cache->core[2]->counts.store_kind[KIND_COHERENCE]++;
    assert_int_equal(node_check_laws(&run, &err), CHIL_ELAW);
    assert_non_null(strstr(
        err.text, "'store misses = cold + capacity + conflict + coherence' on core 2: 0 and 1"));
    run.cache->core[2]->counts.store_kind[KIND_COHERENCE]--;
    run.cache->bank[1]->counts.miss_kind[KIND_COLD]++;
    assert_int_equal(node_check_laws(&run, &err), CHIL_ELAW);
    assert_non_null(strstr(err.text, "'misses of L3 = cold + capacity + conflict': 0 and 1"));
    close_run(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_hold_where_nothing_happened),
        cmocka_unit_test(every_signal_of_a_core_that_is_off_by_one_is_found),
        cmocka_unit_test(the_message_names_the_law_the_core_and_both_sides),
        cmocka_unit_test(a_miss_too_many_in_the_hierarchy_is_found),
        cmocka_unit_test(a_miss_of_no_kind_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
