#include "rig_bluegene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

struct chil_machine *rig_machine_file_with(const char *name, const char *const *settings,
                                           size_t count)
{
    struct chil_machine *machine;
    struct chil_error err = {0};
    assert_int_equal(setenv("CHILIAD_DATA", "data", 1), 0);
    if (chil_machine_open_with(&machine, name, settings, count, &err)) fail_msg("%s", err.text);
    return machine;
}

struct chil_machine *rig_machine_file(const char *name)
{
    return rig_machine_file_with(name, NULL, 0);
}

struct cache_config rig_bluegene_with(const char *name, const char *const *settings, size_t count)
{
    struct chil_machine *machine = rig_machine_file_with(name, settings, count);
    struct cache_config config;
    struct chil_error err = {0};
    if (cache_config_read(&config, machine, &err)) fail_msg("%s", err.text);
    chil_machine_free(machine);
    return config;
}

struct cache_config rig_bluegene(const char *name)
{
    return rig_bluegene_with(name, NULL, 0);
}

struct cache_config rig_bluegene_round(bool p)
{
    return (struct cache_config){
        .cores = p ? 4 : 2,
        .l1i = {32768, 32, 64, CACHE_ROUND_ROBIN},
        .l1d = {32768, 32, 64, CACHE_ROUND_ROBIN},
        .write_through = p,
        .store_allocate = !p,
        .fills = 3,
        .stores = 6,
        .store_time = 40,
        .store_lines = 6,
        .l1_latency = 4,
        .tlb_entries = 64,
        .page = 4096,
        .tlb_miss = 40,
        .l2_entries = 15,
        .l2_line = 128,
        .l2_streams = 7,
        .l2_depth = 2,
        .l2_filter = 8,
        .l2_latency = 12,
        .l3_size = p ? 8 << 20 : 4 << 20,
        .l3_banks = p ? 2 : 1,
        .l3_line = 128,
        .l3_ways = 8,
        .l3_latency = 50,
        .l3_busy = 4,
        .l3_transfer = 8,
        .l3_policy = CACHE_LRU,
        .l3_refresh_interval = 2048,
        .l3_refresh = 4,
        .controllers = p ? 2 : 1,
        .ddr_latency = 104,
        .ddr_busy = 16,
        .ddr_row = 4096,
        .device_latency = 100,
        .device_store = 5,
        .coherent = p,
        .snoop_filter = p,
        .snoop_streams = 8,
        .snoop_lines = 8,
        .seed = 1,
    };
}
