#include "rig_upc.h"

static void keep(void *context, const struct chil_upc_notice *notice)
{
    struct rig *rig = context;
    if (rig->count < RIG_NOTICES) rig->notices[rig->count] = *notice;
    rig->count++;
}

void rig_open(struct rig *rig, struct chil_upc_geometry geometry, enum chil_upc_model model)
{
    *rig = (struct rig){0};
    assert_int_equal(chil_upc_new(&rig->upc, &geometry, model, keep, rig, NULL), 0);
}

void rig_close(struct rig *rig)
{
    chil_upc_free(rig->upc);
}

void rig_pulses(struct rig *rig, uint32_t wire, uint64_t cycle, uint64_t count, uint64_t period,
                uint64_t until)
{
    struct chil_upc_train train = {wire, cycle, count, period, 1};
    if (count) assert_int_equal(chil_upc_raise(rig->upc, &train), 0);
    assert_int_equal(chil_upc_advance(rig->upc, until), 0);
}

uint64_t rig_read(struct rig *rig, uint32_t counter)
{
    uint64_t value = UINT64_MAX;
    assert_int_equal(chil_upc_read(rig->upc, counter, &value), 0);
    return value;
}

uint64_t rig_load(struct rig *rig, uint64_t offset)
{
    uint64_t value = UINT64_MAX;
    assert_int_equal(chil_upc_load(rig->upc, offset, 8, &value), 0);
    return value;
}

void rig_store(struct rig *rig, uint64_t offset, uint64_t value)
{
    assert_int_equal(chil_upc_store(rig->upc, offset, 8, value), 0);
}

void rig_hold_all_high(struct rig *rig)
{
    for (uint32_t c = 0; c < chil_upc_geometry(rig->upc)->counters; c++)
        assert_int_equal(chil_upc_level(rig->upc, c, chil_upc_now(rig->upc), true), 0);
}
