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
#include "rig_bluegene.h"

enum { CORES = 4 };

static void open_node_with(struct node *node, const char *const *settings, size_t count)
{
    struct cache_config config = rig_bluegene_with("bgp", settings, count);
    struct core_options options = {.units = UINT32_MAX};
    *node = (struct node){.core_count = CORES};
    node->cache = options.cache = cache_new(&config);
    node->cores = cores_new(CORES, &options);
    node->counts = calloc(CORES, sizeof *node->counts);
    assert_non_null(node->counts);
}

static void open_node(struct node *node)
{
    open_node_with(node, NULL, 0);
}

static void close_node(struct node *node)
{
    cores_free(node->cores);
    cache_free(node->cache);
    free(node->counts);
}

static void laws_hold_where_nothing_happened(void **state)
{
    (void)state;
    struct node node;
    unsigned laws;
    open_node(&node);
    assert_int_equal(node_check_laws(&node, &laws, NULL), 0);
    assert_true(laws > 100);
    close_node(&node);
}

/* A signal that is counted once too often, with nothing else, is in some law: all but the fetches,
 * whose hits are worked out from them. */
static void every_signal_of_a_core_that_is_off_by_one_is_found(void **state)
{
    (void)state;
    struct node node;
    unsigned laws;
    open_node(&node);
    for (unsigned core = 0; core < CORES; core++) {
        for (unsigned signal = CORE_SIGNAL_NONE + 1; signal < CORE_SIGNAL_COUNT; signal++) {
            struct chil_error err = {0};
            if (signal == CORE_SIGNAL_FETCH) continue;
            node.counts[core][signal]++;
            if (node_check_laws(&node, &laws, &err) != CHIL_ELAW)
                fail_msg("signal %u of core %u is in no law", signal, core);
            assert_non_null(strstr(err.text, "break the law"));
            node.counts[core][signal]--;
        }
    }
    assert_int_equal(node_check_laws(&node, &laws, NULL), 0);
    close_node(&node);
}

static void the_message_names_the_law_the_core_and_both_sides(void **state)
{
    (void)state;
    struct node node;
    unsigned laws;
    struct chil_error err = {0};
    open_node(&node);
    node.counts[2][CORE_SIGNAL_LOAD_INTEGER] = 7;
    node.counts[2][CORE_SIGNAL_LOAD] = 8;
    node.counts[2][CORE_SIGNAL_INSTRUCTIONS] = 8;
    assert_int_equal(node_check_laws(&node, &laws, &err), CHIL_ELAW);
    assert_string_equal(
        err.text,
        "internal error: counts break the law 'loads = integer + FP' on core 2: 8 and 7; please "
        "report it with the program");
    close_node(&node);
}

static void a_controller_that_delivers_more_than_it_can_is_found(void **state)
{
    (void)state;
    struct node node;
    unsigned laws;
    struct chil_error err = {0};
    open_node(&node);
    unsigned space = cache_space_new(node.cache);
    (void)cache_load(node.cache, 0, space, 0, 4, 0); /* a line from DDR */
    uint64_t busy, until;
    cache_controller_busy(node.cache, 0, &busy, &until);
    assert_true(busy > 0 && until >= busy);
    node.cache->ddr[0].counts.fetch += until / busy;
    assert_int_equal(node_check_laws(&node, &laws, &err), CHIL_ELAW);
    assert_non_null(strstr(err.text, "'busy cycles of a DDR controller <= those there were'"));
    close_node(&node);
}

static void a_miss_too_many_in_the_hierarchy_is_found(void **state)
{
    (void)state;
    struct node node;
    unsigned laws;
    struct chil_error err = {0};
    open_node(&node);
    node.cache->core[1]->counts.l2_miss++;
    assert_int_equal(node_check_laws(&node, &laws, &err), CHIL_ELAW);
    assert_non_null(strstr(err.text, "'L2's reads of L3 = lines that L3 delivers': 1 and 0"));
    node.cache->core[1]->counts.l2_miss--;
    node.cache->core[3]->counts.load_miss++;
    assert_int_equal(node_check_laws(&node, &laws, &err), CHIL_ELAW);
    assert_non_null(strstr(err.text, "'load misses <= loads' on core 3: 1 and 0"));
    node.cache->core[3]->counts.load_miss--;
    node.cache->core[0]->counts.invalidated++;
    assert_int_equal(node_check_laws(&node, &laws, &err), CHIL_ELAW);
    assert_non_null(
        strstr(err.text, "'lines lost to coherence <= snoops in L1D' on core 0: 1 and 0"));
    close_node(&node);
}

/* With misses.kinds each miss is of one kind. */
static void a_miss_of_no_kind_is_found(void **state)
{
    static const char *const on[] = {"misses.kinds=on"};
    (void)state;
    struct node node;
    unsigned laws;
    struct chil_error err = {0};
    open_node_with(&node, on, 1);
    assert_int_equal(node_check_laws(&node, &laws, &err), 0);
    node.cache->core[1]->counts.load_kind[KIND_CONFLICT]++;
    assert_int_equal(node_check_laws(&node, &laws, &err), CHIL_ELAW);
    assert_non_null(strstr(
        err.text, "'load misses = cold + capacity + conflict + coherence' on core 1: 0 and 1"));
    node.cache->core[1]->counts.load_kind[KIND_CONFLICT]--;
    node.cache->core[2]->counts.store_kind[KIND_COHERENCE]++;
    assert_int_equal(node_check_laws(&node, &laws, &err), CHIL_ELAW);
    assert_non_null(strstr(
        err.text, "'store misses = cold + capacity + conflict + coherence' on core 2: 0 and 1"));
    node.cache->core[2]->counts.store_kind[KIND_COHERENCE]--;
    node.cache->bank[1]->counts.miss_kind[KIND_COLD]++;
    assert_int_equal(node_check_laws(&node, &laws, &err), CHIL_ELAW);
    assert_non_null(strstr(err.text, "'misses of L3 = cold + capacity + conflict': 0 and 1"));
    close_node(&node);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_hold_where_nothing_happened),
        cmocka_unit_test(every_signal_of_a_core_that_is_off_by_one_is_found),
        cmocka_unit_test(the_message_names_the_law_the_core_and_both_sides),
        cmocka_unit_test(a_controller_that_delivers_more_than_it_can_is_found),
        cmocka_unit_test(a_miss_too_many_in_the_hierarchy_is_found),
        cmocka_unit_test(a_miss_of_no_kind_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
