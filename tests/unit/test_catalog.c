/* The catalogue: what the shipped data say, and how they are looked up.
 *
 * The data are read from `data`; tests run in the root of the repository. test_catalog_files has
 * wrong files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chiliad/catalog.h"
#include "rig_bluegene.h"

/* ---- fixtures ---- */

static uint64_t number(const struct chil_machine *machine, const char *key)
{
    uint64_t value = 0;
    if (chil_machine_number(machine, key, &value))
        fail_msg("%s has no %s", chil_machine_name(machine), key);
    return value;
}

static const struct chil_event *event(const struct chil_machine *machine, const char *name)
{
    const struct chil_event *found;
    struct chil_error err = {0};
    if (chil_machine_find_event(machine, name, &found, &err)) fail_msg("%s", err.text);
    return found;
}

/* ---- what the papers say ---- */

static void UPC_03_1024_candidate_events(void **state)
{
    (void)state;
    struct chil_machine *bgp = rig_machine_file("bgp");
    size_t count, named[4] = {0};
    const struct chil_event *events = chil_machine_events(bgp, &count);
    assert_int_equal(count, 1024);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(events[i].id, i);
        assert_int_equal(events[i].signal_count == 0, events[i].reserved);
        named[i / 256] += !events[i].reserved;
    }
    assert_int_equal(named[0], 230);
    assert_int_equal(named[1], 225);
    assert_int_equal(named[2], 206);
    assert_int_equal(named[3], 204);
    assert_int_equal(number(bgp, "upc.counters") * number(bgp, "upc.inputs"), 1024);
    chil_machine_free(bgp);
}

static void UPC_38_units_cover_cores_fpus_caches_coherence_memory_networks(void **state)
{
    (void)state;
    static const char *const signals[] = {
        "core0.jpipe.", "core1.ipipe.", "core2.l1d.", "core3.l1i.",  "fpu0.",    "fpu1.",
        "fpu2.",        "fpu3.",        "l2.0.",      "l2.1.",       "l2.2.",    "l2.3.",
        "l3.0.",        "l3.1.",        "ddr.0.",     "ddr.1.",      "snoop.0.", "snoop.3.",
        "torus.xp.",    "torus.zm.",    "dma.",       "collective.",
    };
    struct chil_machine *bgp = rig_machine_file("bgp");
    size_t count;
    const struct chil_event *events = chil_machine_events(bgp, &count);
    for (size_t w = 0; w < sizeof signals / sizeof *signals; w++) {
        bool found = false;
        for (size_t i = 0; i < count && !found; i++)
            found = events[i].signal_count &&
                    strncmp(events[i].signals[0], signals[w], strlen(signals[w])) == 0;
        if (!found) fail_msg("no event counts a signal %s...", signals[w]);
    }
    chil_machine_free(bgp);
}

/* Table 1 of the paper: core 0's event and its id; core 1 has the same ones 35 or, in L2, 32
 * further on. */
static const struct {
    const char *name;
    uint32_t id, step;
} table_1[] = {
    {"JPIPE_INSTRUCTIONS", 0, 35},
    {"JPIPE_ADD_SUB", 1, 35},
    {"JPIPE_LOGICAL_OPS", 2, 35},
    {"IPIPE_INSTRUCTIONS", 4, 35},
    {"IPIPE_MULT_DIV", 5, 35},
    {"IPIPE_ADD_SUB", 6, 35},
    {"IPIPE_LOGICAL_OPS", 7, 35},
    {"IPIPE_BRANCHES", 9, 35},
    {"DCACHE_MISS", 15, 35},
    {"DCACHE_HIT", 16, 35},
    {"DATA_LOADS", 17, 35},
    {"DATA_STORES", 18, 35},
    {"ICACHE_MISS", 20, 35},
    {"FPU_ADD_SUB_1", 22, 35},
    {"FPU_MULT_1", 23, 35},
    {"FPU_FMA_2", 24, 35},
    {"FPU_DIV_1", 25, 35},
    {"FPU_ADD_SUB_2", 27, 35},
    {"FPU_MULT_2", 28, 35},
    {"FPU_FMA_4", 29, 35},
    {"FPU_QUADWORD_LOADS", 31, 35},
    {"FPU_QUADWORD_STORES", 33, 35},
    {"L2_VALID_PREFETCH_REQUESTS", 72, 32},
    {"L2_PREFETCH_HITS_IN_STREAM", 74, 32},
    {"L2_CYCLES_PREFETCH_PENDING", 75, 32},
    {"L2_PAGE_ALREADY_IN_L2", 76, 32},
    {"L2_READ_REQUESTS", 81, 32},
    {"L2_L3_READ_REQUESTS", 83, 32},
    {"L2_NETBUS_READ_REQUESTS", 84, 32},
    {"L2_PREFETCHABLE_REQUESTS", 86, 32},
    {"L2_HIT", 87, 32},
};

static void UPC_39_ids_of_table_1(void **state)
{
    (void)state;
    struct chil_machine *bgp = rig_machine_file("bgp");
    unsigned entries = 0;
    for (size_t i = 0; i < sizeof table_1 / sizeof *table_1; i++)
        for (unsigned core = 0; core < 2; core++, entries++) {
            char name[64];
            (void)snprintf(name, sizeof name, "BGP_PU%u_%s", core, table_1[i].name);
            assert_int_equal(event(bgp, name)->id, table_1[i].id + core * table_1[i].step);
        }
    assert_int_equal(entries, 62);
    chil_machine_free(bgp);
}

static void UPC_40_named_events_on_all_cores(void **state)
{
    (void)state;
    static const char *const more[] = {"JPIPE_SHROTMK",         "IPIPE_SHROTMK",   "IPIPE_TLB_OPS",
                                       "IPIPE_PROCESS_CONTROL", "ICACHE_HIT",      "DCACHE_OPS",
                                       "FPU_OTHER_LOADS",       "FPU_OTHER_STORES"};
    struct chil_machine *bgp = rig_machine_file("bgp");
    char name[64];
    for (unsigned core = 0; core < 4; core++) {
        for (size_t i = 0; i < sizeof table_1 / sizeof *table_1; i++) {
            (void)snprintf(name, sizeof name, "BGP_PU%u_%s", core, table_1[i].name);
            assert_int_equal(event(bgp, name)->signal_count, 1);
        }
        for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
            (void)snprintf(name, sizeof name, "BGP_PU%u_%s", core, more[i]);
            assert_true(event(bgp, name)->signal_count > 0);
        }
    }
    chil_machine_free(bgp);
}

/* Planted: no nodes_max. */
static void UPC_45_blue_gene_p_parameters(void **state)
{
    (void)state;
    struct chil_machine *bgp = rig_machine_file("bgp");
    assert_int_equal(number(bgp, "machine.cores"), 4);
    assert_int_equal(number(bgp, "machine.clock_mhz"), 850);
    assert_int_equal(number(bgp, "machine.nodes_max"), 262144);
    assert_int_equal(number(bgp, "l1i.size"), 32 * 1024);
    assert_int_equal(number(bgp, "l1d.size"), 32 * 1024);
    assert_true(number(bgp, "l2.entries") * number(bgp, "l2.line") <= 2048);
    assert_int_equal(number(bgp, "l3.size"), 8 << 20);
    assert_int_equal(number(bgp, "l3.banks"), 2);
    assert_int_equal(number(bgp, "memory.controllers"), 2);
    assert_int_equal(number(bgp, "memory.size_min"), UINT64_C(2) << 30);
    assert_int_equal(number(bgp, "memory.size_max"), UINT64_C(4) << 30);
    assert_string_equal(chil_machine_word(bgp, "network.names"),
                        "torus collective barrier ethernet jtag");
    assert_string_equal(chil_machine_word(bgp, "upc.kind"), "hybrid");
    assert_int_equal(number(bgp, "upc.low_bits"), 12);
    assert_int_equal(number(bgp, "upc.slot_cycles"), 16);
    assert_int_equal(number(bgp, "upc.base"), 0xFFFDA000);
    chil_machine_free(bgp);
}

/* Planted: 64 bits. */
static void UPC_46_blue_gene_l_has_48_counters_of_32_bits(void **state)
{
    (void)state;
    struct chil_machine *bgl = rig_machine_file("bgl");
    assert_int_equal(number(bgl, "upc.counters"), 48);
    assert_int_equal(number(bgl, "upc.width"), 32);
    assert_int_equal(number(bgl, "upc.groups"), 16);
    assert_int_equal(number(bgl, "upc.fpu_counters"), 4);
    chil_machine_free(bgl);
}

/* Planted: a TLB of 32. */
static void BGL_29_memory_model_of_blue_gene_l(void **state)
{
    (void)state;
    struct chil_machine *bgl = rig_machine_file("bgl");
    assert_int_equal(number(bgl, "l1d.size"), 32 * 1024);
    assert_int_equal(number(bgl, "l1d.line"), 32);
    assert_int_equal(number(bgl, "l1d.ways"), 64);
    assert_string_equal(chil_machine_word(bgl, "l1d.policy"), "round-robin");
    assert_int_equal(number(bgl, "l3.size"), 4 << 20); /* the paper's L2 */
    assert_int_equal(number(bgl, "l3.line"), 128);
    assert_int_equal(number(bgl, "tlb.page"), 4096);
    assert_int_equal(number(bgl, "tlb.entries"), 64);
    chil_machine_free(bgl);
}

/* Planted: 512 I/O nodes. */
static void BGL_48_nodes_cores_and_fpus_of_blue_gene_l(void **state)
{
    (void)state;
    struct chil_machine *bgl = rig_machine_file("bgl");
    assert_int_equal(number(bgl, "machine.nodes_max"), 65536);
    assert_int_equal(number(bgl, "machine.io_nodes"), 1024);
    assert_int_equal(number(bgl, "machine.cores"), 2);
    assert_int_equal(number(bgl, "machine.fpu_elements"), 2);
    chil_machine_free(bgl);
}

/* ---- the data themselves ---- */

static void bgl_has_328_events_with_their_placements(void **state)
{
    (void)state;
    struct chil_machine *bgl = rig_machine_file("bgl");
    size_t count, placed = 0, most = 0;
    const struct chil_event *events = chil_machine_events(bgl, &count);
    assert_int_equal(count, 328);
    for (size_t i = 0; i < count; i++) {
        placed += events[i].placement_count > 0;
        if (events[i].placement_count > most) most = events[i].placement_count;
    }
    assert_int_equal(placed, 325);
    assert_int_equal(most, 6);
    const struct chil_event *load = event(bgl, "BGL_2NDFPU_LDST_DBL_LD");
    assert_int_equal(load->placement_count, 1);
    assert_int_equal(load->placements[0].group, 17);
    assert_string_equal(load->placements[0].counter, "LDST");
    assert_int_equal(load->placements[0].code, 0);
    chil_machine_free(bgl);
}

static void assert_same_signals(const struct chil_event *a, const struct chil_event *b)
{
    assert_int_equal(a->signal_count, b->signal_count);
    for (size_t i = 0; i < a->signal_count; i++)
        assert_string_equal(a->signals[i], b->signals[i]);
    assert_int_equal(a->mode, b->mode);
}

static void repeats_in_other_modes_name_the_same_signals(void **state)
{
    (void)state;
    struct chil_machine *bgp = rig_machine_file("bgp");
    size_t count, repeats = 0;
    const struct chil_event *events = chil_machine_events(bgp, &count), *first;
    for (size_t i = 0; i < count; i++) {
        const char *suffix = strstr(events[i].name, "_UM");
        char name[64];
        if (!suffix) continue;
        (void)snprintf(name, sizeof name, "%.*s", (int)(suffix - events[i].name), events[i].name);
        if (chil_machine_find_event(bgp, name, &first, NULL)) continue;
        assert_same_signals(&events[i], first);
        repeats++;
    }
    assert_true(repeats > 140);
    assert_same_signals(event(bgp, "BGP_PU3_L1_INVALIDATION_UM3"),
                        event(bgp, "BGP_PU3_L1_INVALIDATION_REQUESTS"));
    assert_same_signals(event(bgp, "BGP_COL_ALC_ABORT"),
                        event(bgp, "BGP_COL_A_LOCAL_CLIENT_ABORT"));
    assert_same_signals(event(bgp, "BGP_COL_RECEPTION_VC1_PACKED_ADDED"),
                        event(bgp, "BGP_COL_RECEPTION_VC1_PACKET_ADDED"));
    chil_machine_free(bgp);
}

static void both_machines_share_signals(void **state)
{
    (void)state;
    static const char *const same[][2] = {
        {"BGP_PU0_FPU_ADD_SUB_1", "BGL_FPU_ARITH_ADD_SUBTRACT"},
        {"BGP_PU1_FPU_FMA_4", "BGL_2NDFPU_ARITH_OEDIPUS_OP"},
        {"BGP_PU0_FPU_QUADWORD_STORES", "BGL_FPU_LDST_QUAD_ST"},
        {"BGP_TORUS_XP_PACKETS", "BGL_UPC_TS_XP_PKTS"},
        {"BGP_TORUS_YM_NO_TOKENS", "BGL_UPC_TS_YM_LINK_AVAIL_NO_VCD0_VCD_VCBN_TOKENS"},
        {"BGP_COL_ACLS15_WINS", "BGL_UPC_TR_ARB_CLASS15_WINS"},
        {"BGP_COL_AC_INJECT_VC1_MATURE", "BGL_UPC_TR_ARB_CORE_INJ_VC1_MATURE"},
        {"BGP_PU1_L2_PREFETCH_HITS_IN_STREAM", "BGL_UPC_PU1_PREF_STREAM_HIT"},
    };
    struct chil_machine *bgp = rig_machine_file("bgp"), *bgl = rig_machine_file("bgl");
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        assert_same_signals(event(bgp, same[i][0]), event(bgl, same[i][1]));
    const struct chil_event *mult_div = event(bgl, "BGL_FPU_ARITH_MULT_DIV");
    assert_int_equal(mult_div->signal_count, 2);
    assert_string_equal(mult_div->signals[0], event(bgp, "BGP_PU0_FPU_MULT_1")->signals[0]);
    assert_string_equal(mult_div->signals[1], event(bgp, "BGP_PU0_FPU_DIV_1")->signals[0]);
    const struct chil_event *loads = event(bgp, "BGP_PU0_FPU_OTHER_LOADS");
    assert_int_equal(loads->signal_count, 2);
    assert_string_equal(loads->signals[1], event(bgl, "BGL_FPU_LDST_DBL_LD")->signals[0]);
    chil_machine_free(bgp);
    chil_machine_free(bgl);
}

static void states_count_cycles_and_misses_count_rises(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum chil_count_mode mode;
        unsigned clock;
    } rows[] = {
        {"BGP_PU0_JPIPE_INSTRUCTIONS", CHIL_COUNT_HIGH, 1},
        {"BGP_PU0_DCACHE_MISS", CHIL_COUNT_RISE, 1},
        {"BGP_PU0_DCACHE_HIT", CHIL_COUNT_HIGH, 1},
        {"BGP_PU0_DCACHE_LINEFILLINPROG", CHIL_COUNT_HIGH, 1},
        {"BGP_PU2_L2_READ_REQUESTS", CHIL_COUNT_RISE, 2},
        {"BGP_PU2_L2_CYCLES_PREFETCH_PENDING", CHIL_COUNT_HIGH, 2},
        {"BGP_TORUS_ZP_NO_TOKENS", CHIL_COUNT_HIGH, 2},
        {"BGP_MISC_ELAPSED_TIME", CHIL_COUNT_HIGH, 2},
        {"BGP_COL_AR0_VC0_FULL", CHIL_COUNT_HIGH, 2},
        {"BGP_COL_AR0_IDLE_PACKET", CHIL_COUNT_RISE, 2},
    };
    struct chil_machine *bgp = rig_machine_file("bgp");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(event(bgp, rows[i].name)->mode, rows[i].mode);
        assert_int_equal(event(bgp, rows[i].name)->clock, rows[i].clock);
    }
    chil_machine_free(bgp);
}

/* ---- lookups ---- */

static void events_are_found_by_name_and_id(void **state)
{
    (void)state;
    struct chil_machine *bgp = rig_machine_file("bgp");
    const struct chil_event *found;
    struct chil_error err = {0};
    size_t count;
    const struct chil_event *events = chil_machine_events(bgp, &count);
    for (size_t i = 0; i < count; i++)
        if (!events[i].reserved) assert_ptr_equal(event(bgp, events[i].name), &events[i]);
    assert_int_equal(event(bgp, "bgp_pu0_dcache_miss")->id, 15);
    assert_string_equal(event(bgp, "1023")->name, "BGP_MISC_ELAPSED_TIME_UM3");
    assert_true(event(bgp, "92")->reserved);
    assert_int_equal(chil_machine_find_event(bgp, "1024", &found, &err), CHIL_ENOENT);
    assert_string_equal(err.text, "bgp has no event with id 1024; its last is 1023");
    assert_int_equal(chil_machine_find_event(bgp, "99999999999999999999", &found, &err),
                     CHIL_ENOENT);
    assert_int_equal(chil_machine_find_event(bgp, "BGP_PU0_DCAHCE_MISS", &found, &err),
                     CHIL_ENOENT);
    assert_string_equal(
        err.text, "bgp has no event 'BGP_PU0_DCAHCE_MISS'; did you mean 'BGP_PU0_DCACHE_MISS'?");
    assert_int_equal(chil_machine_find_event(bgp, "dcahce_mis", &found, &err), CHIL_ENOENT);
    assert_non_null(strstr(err.text, "did you mean 'BGP_PU0_DCACHE_MISS'?"));
    assert_int_equal(chil_machine_find_event(bgp, "BGP_RESERVED", &found, NULL), CHIL_ENOENT);
    assert_int_equal(chil_machine_find_event(bgp, "", &found, NULL), CHIL_ENOENT);
    assert_null(found);
    chil_machine_free(bgp);
}

static void patterns_are_globs_or_parts(void **state)
{
    (void)state;
    const struct chil_event row = {
        .name = "BGP_PU0_DCACHE_MISS", .unit = "PU0/L1D", .text = "core 0: L1 misses"};
    assert_true(chil_event_matches(&row, "dcache"));
    assert_true(chil_event_matches(&row, "pu0/l1d"));
    assert_true(chil_event_matches(&row, "Misses"));
    assert_true(chil_event_matches(&row, "*_miss"));
    assert_true(chil_event_matches(&row, "PU?/L1D"));
    assert_true(chil_event_matches(&row, "bgp_pu[01]_*"));
    assert_false(chil_event_matches(&row, "dcache*"));
    assert_false(chil_event_matches(&row, "icache"));
    assert_false(chil_event_matches(&row, "["));
}

static void collect(void *context, const char *key, const char *word)
{
    char *all = context;
    size_t used = strlen(all);
    if (used < 60) (void)snprintf(all + used, 100 - used, "%s=%s;", key, word);
}

static void parameters_come_in_the_order_of_the_file(void **state)
{
    (void)state;
    struct chil_machine *bgl = rig_machine_file("bgl");
    uint64_t value;
    char all[100] = "";
    chil_machine_each(bgl, collect, all);
    assert_int_equal(strncmp(all, "machine.name=bgl;machine.text=Blue Gene/L", 41), 0);
    assert_string_equal(chil_machine_word(bgl, "l1d.size"), "32K");
    assert_null(chil_machine_word(bgl, "upc.low_bits"));
    assert_int_equal(chil_machine_number(bgl, "upc.low_bits", &value), CHIL_ENOENT);
    assert_int_equal(chil_machine_number(bgl, "no.such", &value), CHIL_ENOENT);
    assert_int_equal(chil_machine_number(bgl, "upc.kind", &value), CHIL_EINVAL);
    chil_machine_free(bgl);
}

static void exactness_has_words(void **state)
{
    (void)state;
    assert_string_equal(chil_exactness_word(CHIL_NONE), "none");
    assert_string_equal(chil_exactness_word(CHIL_MODELLED), "modelled");
    assert_string_equal(chil_exactness_word(CHIL_EXACT), "exact");
    assert_null(chil_exactness_word(3));
    assert_null(chil_exactness_word(-1));
}

/* Events that need a parameter which is off are there, and counted where it is on. */
static void events_can_need_a_parameter(void **state)
{
    static const char *const settings[] = {"misses.kinds=off", "misses.kinds=on"};
    (void)state;
    for (size_t i = 0; i < 3; i++) { /* not given, off, on */
        struct chil_machine *machine;
        const struct chil_event *event;
        assert_int_equal(chil_machine_open_with(&machine, "bgl", settings + i / 2, i != 0, NULL),
                         0);
        assert_int_equal(chil_machine_find_event(machine, "BGL_D1_L_COLD", &event, NULL), 0);
        assert_string_equal(event->needs, "misses.kinds");
        assert_int_equal(event->exactness, i == 2 ? CHIL_MODELLED : CHIL_NONE);
        assert_int_equal(chil_machine_find_event(machine, "BGL_D1_L_MISS", &event, NULL), 0);
        assert_null(event->needs);
        assert_int_equal(event->exactness, CHIL_MODELLED);
        chil_machine_free(machine);
    }
}

/* ---- where files are looked for ---- */

static void names_are_sorted_and_chiliad_data_is_obeyed_or_refused(void **state)
{
    (void)state;
    char **names, path[256], tiny[4];
    size_t count;
    struct chil_error err = {0};
    assert_int_equal(setenv("CHILIAD_DATA", "data", 1), 0);
    assert_int_equal(chil_machine_names(&names, &count, &err), 0);
    assert_true(count >= 2);
    for (size_t i = 1; i < count; i++)
        assert_true(strcmp(names[i - 1], names[i]) < 0);
    chil_names_free(names, count);
    assert_int_equal(chil_data_directory(path, sizeof path, &err), 0);
    assert_string_equal(path, "data");
    assert_int_equal(chil_data_directory(tiny, sizeof tiny, &err), CHIL_ERANGE);
    assert_int_equal(setenv("CHILIAD_DATA", "/nowhere", 1), 0);
    assert_int_equal(chil_data_directory(path, sizeof path, &err), CHIL_ENOENT);
    assert_string_equal(
        err.text,
        "CHILIAD_DATA is '/nowhere', which has no folder 'machines'; correct it or unset it");
}

static void names_play_no_tricks_with_paths(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int status;
        const char *text;
    } rows[] = {
        {"", CHIL_EINVAL, "'' is not a machine's name; use letters, digits and _ . -, or a path"},
        {"..", CHIL_EINVAL, "'..' is not a machine's name"},
        {".hidden", CHIL_EINVAL, "'.hidden' is not a machine's name"},
        {"b gp", CHIL_EINVAL, "'b gp' is not a machine's name"},
        {"bgpp", CHIL_ENOENT, "no machine 'bgpp'; did you mean 'bgp'?"},
        {"nothing-like-it", CHIL_ENOENT,
         "no machine 'nothing-like-it'; 'chiliad list machines' shows"},
        {"../events/bgp.events", CHIL_EIO, "cannot open '../events/bgp.events'"},
        {"data/machines", CHIL_EIO, "cannot read 'data/machines'"},
    };
    assert_int_equal(setenv("CHILIAD_DATA", "data", 1), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct chil_machine *machine;
        struct chil_error err = {0};
        assert_int_equal(chil_machine_open(&machine, rows[i].name, &err), rows[i].status);
        assert_null(machine);
        if (!strstr(err.text, rows[i].text))
            fail_msg("'%s' where '%s' was expected", err.text, rows[i].text);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(UPC_03_1024_candidate_events),
        cmocka_unit_test(UPC_38_units_cover_cores_fpus_caches_coherence_memory_networks),
        cmocka_unit_test(UPC_39_ids_of_table_1),
        cmocka_unit_test(UPC_40_named_events_on_all_cores),
        cmocka_unit_test(UPC_45_blue_gene_p_parameters),
        cmocka_unit_test(UPC_46_blue_gene_l_has_48_counters_of_32_bits),
        cmocka_unit_test(BGL_29_memory_model_of_blue_gene_l),
        cmocka_unit_test(BGL_48_nodes_cores_and_fpus_of_blue_gene_l),
        cmocka_unit_test(bgl_has_328_events_with_their_placements),
        cmocka_unit_test(repeats_in_other_modes_name_the_same_signals),
        cmocka_unit_test(both_machines_share_signals),
        cmocka_unit_test(states_count_cycles_and_misses_count_rises),
        cmocka_unit_test(events_are_found_by_name_and_id),
        cmocka_unit_test(patterns_are_globs_or_parts),
        cmocka_unit_test(parameters_come_in_the_order_of_the_file),
        cmocka_unit_test(exactness_has_words),
        cmocka_unit_test(events_can_need_a_parameter),
        cmocka_unit_test(names_are_sorted_and_chiliad_data_is_obeyed_or_refused),
        cmocka_unit_test(names_play_no_tricks_with_paths),
    };
    return cmocka_run_group_tests_name("catalog", tests, NULL, NULL);
}
