/* The registers: figure 5 byte for byte, rows UPC-24 to UPC-30, ERR-03, ERR-05, and the status
 * block behind them. */
#include "rig_upc.h"

static const struct chil_upc_geometry bgp = {256, 4, 12, 16};

/* Planted: four counters a configuration register; the threshold at 0x908. */
static void UPC_26_UPC_27_UPC_28_UPC_29_registers_are_where_figure_5_has_them(void **state)
{
    (void)state;
    struct chil_upc_map map;
    chil_upc_map(&bgp, &map);
    assert_int_equal(map.counters, 0x000);
    assert_int_equal(map.config, 0x800);
    assert_int_equal(map.start_stop, 0x900);
    assert_int_equal(map.threshold, 0x910);
    assert_int_equal(map.status, 0x920);
    assert_int_equal(map.pending, 0x940);
    assert_int_equal(map.armed, 0x960);
    assert_int_equal(map.parity, 0x980);
    assert_int_equal(map.end, 0x9A0);
}

static void counters_are_8_bytes_apart(enum chil_upc_model model)
{
    struct rig rig;
    rig_open(&rig, bgp, model);
    for (uint32_t c = 0; c < 256; c++)
        rig_store(&rig, c * 8, UINT64_C(0x0101010101010101) * (c + 1));
    for (uint32_t c = 0; c < 256; c++) {
        assert_true(rig_load(&rig, c * 8) == UINT64_C(0x0101010101010101) * (c + 1));
        assert_true(rig_read(&rig, c) == UINT64_C(0x0101010101010101) * (c + 1));
    }
    rig_close(&rig);
}

/* Planted: neighbours exchanged. */
static void UPC_26_256_counters_8_bytes_apart(void **state)
{
    (void)state;
    RIG_BOTH(counters_are_8_bytes_apart);
}

/* Eight counters share a register, a byte each; each field changes alone. */
static void config_fields(enum chil_upc_model model)
{
    struct rig rig;
    struct chil_upc_config config;
    rig_open(&rig, bgp, model);
    rig_store(&rig, 0x808, UINT64_C(0x02061A0F00000013)); /* counters 8 to 15 */
    static const struct chil_upc_config expected[] = {
        {2, CHIL_COUNT_HIGH, false}, {2, CHIL_COUNT_RISE, false}, {2, CHIL_COUNT_FALL, true},
        {3, CHIL_COUNT_LOW, false},  {0, CHIL_COUNT_HIGH, false}, {0, CHIL_COUNT_HIGH, false},
        {0, CHIL_COUNT_HIGH, false}, {3, CHIL_COUNT_HIGH, true}};
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(chil_upc_config(rig.upc, 8 + i, &config), 0);
        assert_int_equal(config.input, expected[i].input);
        assert_int_equal(config.mode, expected[i].mode);
        assert_int_equal(config.interrupt, expected[i].interrupt);
    }
    assert_true(rig_load(&rig, 0x808) == UINT64_C(0x02061A0F00000013));
    rig_store(&rig, 0x808, UINT64_C(0xE2061A0F00000013)); /* bits without meaning read as zero */
    assert_true(rig_load(&rig, 0x808) == UINT64_C(0x02061A0F00000013));
    assert_int_equal(rig_load(&rig, 0x800), 0);
    assert_int_equal(rig_load(&rig, 0x810), 0);
    rig_close(&rig);
}

/* Planted: a bit without meaning enables the interrupt; counter 0 in the lowest byte. */
static void UPC_24_UPC_25_mode_input_and_interrupt_are_fields_of_a_shared_register(void **state)
{
    (void)state;
    RIG_BOTH(config_fields);
}

/* All 32 values of a field of all 256 counters, through registers and through calls, agree and
 * touch no neighbour. Planted: the input shows as interrupt. */
static void UPC_24_each_field_changes_alone(void **state)
{
    (void)state;
    struct rig rig;
    rig_open(&rig, bgp, CHIL_UPC_FAST);
    for (uint32_t c = 0; c < 256; c++)
        for (uint32_t field = 0; field < 32; field++) {
            struct chil_upc_config config = {field & 3, (enum chil_count_mode)(field >> 2 & 3),
                                             field >> 4 & 1};
            assert_int_equal(chil_upc_configure(rig.upc, c, &config), 0);
            uint64_t word = rig_load(&rig, 0x800 + c / 8 * 8);
            assert_true(word == (uint64_t)field << 8 * (7 - c % 8));
            if (field == 31) rig_store(&rig, 0x800 + c / 8 * 8, 0);
        }
    rig_close(&rig);
}

static void offsets_are_all_that_the_unit_sees(void **state)
{
    (void)state;
    struct rig rig;
    uint64_t value;
    rig_open(&rig, bgp, CHIL_UPC_FAST);
    const uint64_t bases[] = {UINT64_C(0x710000000), 0xFF000000, 0};
    for (unsigned i = 0; i < 3; i++) { /* a bus keeps the low 24 bits of an address */
        assert_int_equal(chil_upc_store(rig.upc, (bases[i] + 0x7F8) & 0xFFFFFF, 8, 77 + i), 0);
        assert_int_equal(rig_read(&rig, 255), 77 + i);
    }
    assert_int_equal(chil_upc_load(rig.upc, 0x9A0, 8, &value), CHIL_ENOENT);
    rig_close(&rig);
}

/* Every offset and width has a result, and a bad one changes nothing. */
static void every_offset(enum chil_upc_model model)
{
    struct rig rig;
    rig_open(&rig, bgp, model);
    for (uint64_t offset = 0; offset < 0xA00; offset++)
        for (unsigned width = 0; width <= 9; width++) {
            uint64_t value = 0x55;
            int expected = (width != 4 && width != 8) || offset % width ? CHIL_EINVAL
                           : offset < 0x9A0                             ? 0
                                                                        : CHIL_ENOENT;
            assert_int_equal(chil_upc_load(rig.upc, offset, width, &value), expected);
            if (expected) assert_int_equal(value, 0x55);
            assert_int_equal(chil_upc_store(rig.upc, offset, width, value), expected);
        }
    assert_int_equal(rig_load(&rig, 0x908), 0); /* between registers */
    rig_store(&rig, 0x908, 1);
    assert_int_equal(rig_load(&rig, 0x908), 0);
    rig_close(&rig);
}

static void every_offset_and_width_has_a_defined_result(void **state)
{
    (void)state;
    RIG_BOTH(every_offset);
}

static void start_register(enum chil_upc_model model)
{
    struct rig rig;
    rig_open(&rig, bgp, model);
    rig_hold_all_high(&rig);
    rig_store(&rig, 0x900, 1);
    assert_int_equal(rig_load(&rig, 0x900), 1);
    chil_upc_advance(rig.upc, 50);
    rig_store(&rig, 0x900, 0);
    chil_upc_advance(rig.upc, 500);
    for (uint32_t c = 0; c < 256; c++)
        assert_int_equal(rig_load(&rig, c * 8), 50);
    assert_int_equal(chil_upc_store(rig.upc, 0x900, 4, 1), 0); /* the high half has no bit */
    assert_false(chil_upc_running(rig.upc));
    assert_int_equal(chil_upc_store(rig.upc, 0x904, 4, 1), 0);
    assert_true(chil_upc_running(rig.upc));
    rig_close(&rig);
}

/* Planted: nothing stops. */
static void UPC_28_one_register_starts_and_stops_all(void **state)
{
    (void)state;
    RIG_BOTH(start_register);
}

/* ERR-05: a 32-bit reader that takes the high half first is never torn, however the counter moves
 * in between. */
static void not_torn(enum chil_upc_model model)
{
    struct rig rig;
    uint64_t high, low;
    rig_open(&rig, bgp, model);
    chil_upc_start(rig.upc);
    rig_store(&rig, 8, UINT64_C(0x1FFFFFFFF));
    assert_int_equal(chil_upc_load(rig.upc, 8, 4, &high), 0);
    rig_pulses(&rig, 1, 0, 1, 1, 10); /* 0x200000000 now */
    assert_int_equal(chil_upc_load(rig.upc, 12, 4, &low), 0);
    assert_true((high << 32 | low) == UINT64_C(0x1FFFFFFFF));
    assert_int_equal(chil_upc_load(rig.upc, 12, 4, &low), 0); /* the latch was used up: live */
    assert_int_equal(low, 0);

    assert_int_equal(chil_upc_store(rig.upc, 8, 4, 7), 0); /* waits */
    assert_true(rig_load(&rig, 8) == UINT64_C(0x200000000));
    assert_int_equal(chil_upc_store(rig.upc, 12, 4, 9), 0);
    assert_true(rig_load(&rig, 8) == UINT64_C(0x700000009));
    assert_int_equal(chil_upc_store(rig.upc, 12, 4, 10), 0); /* the low half alone */
    assert_true(rig_load(&rig, 8) == UINT64_C(0x70000000A));
    rig_close(&rig);
}

/* Planted: the low half is not kept. */
static void reads_and_writes_in_halves_are_never_torn(void **state)
{
    (void)state;
    RIG_BOTH(not_torn);
}

static void status_block(enum chil_upc_model model)
{
    struct rig rig;
    rig_open(&rig, bgp, model);
    assert_true(rig_load(&rig, 0x928) == UINT64_MAX);
    chil_upc_start(rig.upc);
    chil_upc_threshold(rig.upc, 130, 5);
    chil_upc_threshold(rig.upc, 3, 9);
    chil_upc_flip(rig.upc, 200, 0);
    rig_hold_all_high(&rig);
    chil_upc_advance(rig.upc, 4000);
    assert_true(rig_load(&rig, 0x920) == UINT64_C(0x100000002)); /* one bad word, two pending */
    assert_int_equal(rig_load(&rig, 0x928), 130);
    assert_int_equal(rig_load(&rig, 0x930), 4);
    assert_true(rig_load(&rig, 0x940) == UINT64_C(1) << (63 - 3));
    assert_true(rig_load(&rig, 0x950) == UINT64_C(1) << (63 - 2));
    assert_true(rig_load(&rig, 0x998) == UINT64_C(1) << (63 - 8));
    rig_store(&rig, 0x950, UINT64_MAX); /* write one to clear */
    assert_int_equal(rig_load(&rig, 0x928), 3);
    assert_int_equal(rig_load(&rig, 0x930), 8);
    chil_upc_preload(rig.upc, 3, 0); /* again, while the first is still pending */
    chil_upc_advance(rig.upc, 5000);
    assert_int_equal(rig_load(&rig, 0x938), 1);
    rig_store(&rig, 0x938, 0);
    assert_int_equal(rig_load(&rig, 0x938), 0);
    rig_close(&rig);
}

static void the_status_block_has_the_oldest_interrupt(void **state)
{
    (void)state;
    RIG_BOTH(status_block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(UPC_24_UPC_25_mode_input_and_interrupt_are_fields_of_a_shared_register),
        cmocka_unit_test(UPC_24_each_field_changes_alone),
        cmocka_unit_test(UPC_26_UPC_27_UPC_28_UPC_29_registers_are_where_figure_5_has_them),
        cmocka_unit_test(UPC_26_256_counters_8_bytes_apart),
        cmocka_unit_test(UPC_28_one_register_starts_and_stops_all),
        cmocka_unit_test(offsets_are_all_that_the_unit_sees),
        cmocka_unit_test(every_offset_and_width_has_a_defined_result),
        cmocka_unit_test(reads_and_writes_in_halves_are_never_torn),
        cmocka_unit_test(the_status_block_has_the_oldest_interrupt),
    };
    return cmocka_run_group_tests_name("upc registers", tests, NULL, NULL);
}
