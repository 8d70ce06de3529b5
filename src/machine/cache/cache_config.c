/* From a machine file to a configuration: one table of keys with the value of each that is not
 * given.
 *
 * To add a parameter: a field in struct cache_config, a row here, a row in
 * src/catalog/catalog_keys.c.
 */
#include "machine/cache/cache.h"
#include "machine/cache/cache_kinds.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

static const char *const policies[] = {"round-robin", "lru", "random", NULL};
static const char *const writes[] = {"back", "through", NULL};
static const char *const yes[] = {"no", "yes", NULL};
static const char *const on[] = {"off", "on", NULL};
static const char *const models[] = {"full", "l1", "none", NULL};
static const char *const coherences[] = {"none", "invalidate", NULL};

struct row {
    const char *key;
    size_t offset, size;
    const char *const *words; /* the value is the place of the word; NULL: a number */
    uint64_t otherwise;
};

#define AT(field) offsetof(struct cache_config, field), sizeof(((struct cache_config *)0)->field)

/* clang-format off */
static const struct row rows[] = {
    /* key                  field                words       when not given */
    {"machine.cores",        AT(cores),           NULL,       1},
    {"l1i.size",             AT(l1i.size),        NULL,       32768},
    {"l1i.line",             AT(l1i.line),        NULL,       32},
    {"l1i.ways",             AT(l1i.ways),        NULL,       64},
    {"l1i.policy",           AT(l1i.policy),      policies,   CACHE_ROUND_ROBIN},
    {"l1d.size",             AT(l1d.size),        NULL,       32768},
    {"l1d.line",             AT(l1d.line),        NULL,       32},
    {"l1d.ways",             AT(l1d.ways),        NULL,       64},
    {"l1d.policy",           AT(l1d.policy),      policies,   CACHE_ROUND_ROBIN},
    {"l1d.write",            AT(write_through),   writes,     0},
    {"l1d.allocate",         AT(store_allocate),  yes,        1},
    {"l1d.latency",          AT(l1_latency),      NULL,       4},
    {"l1d.fills",            AT(fills),           NULL,       3},
    {"l1d.stores",           AT(stores),          NULL,       6},
    {"l1d.store_cycles",     AT(store_time),      NULL,       40},
    {"l1d.store_lines",      AT(store_lines),     NULL,       1},
    {"tlb.entries",          AT(tlb_entries),     NULL,       64},
    {"tlb.page",             AT(page),            NULL,       4096},
    {"tlb.miss_cycles",      AT(tlb_miss),        NULL,       40},
    {"l2.entries",           AT(l2_entries),      NULL,       0},
    {"l2.line",              AT(l2_line),         NULL,       128},
    {"l2.latency",           AT(l2_latency),      NULL,       12},
    {"l2.streams",           AT(l2_streams),      NULL,       7},
    {"l2.depth",             AT(l2_depth),        NULL,       2},
    {"l2.filter",            AT(l2_filter),       NULL,       8},
    {"l3.size",              AT(l3_size),         NULL,       0},
    {"l3.banks",             AT(l3_banks),        NULL,       1},
    {"l3.line",              AT(l3_line),         NULL,       128},
    {"l3.ways",              AT(l3_ways),         NULL,       8},
    {"l3.policy",            AT(l3_policy),       policies,   CACHE_LRU},
    {"l3.latency",           AT(l3_latency),      NULL,       50},
    {"l3.busy_cycles",       AT(l3_busy),         NULL,       4},
    {"l3.transfer_cycles",   AT(l3_transfer),     NULL,       8},
    {"l3.refresh_interval",  AT(l3_refresh_interval), NULL,   0},
    {"l3.refresh_cycles",    AT(l3_refresh),      NULL,       0},
    {"memory.controllers",   AT(controllers),     NULL,       1},
    {"memory.latency",       AT(ddr_latency),     NULL,       104},
    {"memory.busy_cycles",   AT(ddr_busy),        NULL,       16},
    {"memory.row",           AT(ddr_row),         NULL,       4096},
    {"memory.model",         AT(model),           models,     CACHE_MODEL_FULL},
    {"device.latency",       AT(device_latency),  NULL,       100},
    {"device.store_cycles",  AT(device_store),    NULL,       1},
    {"coherence.l1d",        AT(coherent),        coherences, 0},
    {"snoop.filter",         AT(snoop_filter),    on,         0},
    {"snoop.streams",        AT(snoop_streams),   NULL,       8},
    {"snoop.lines",          AT(snoop_lines),     NULL,       8},
    {"machine.seed",         AT(seed),            NULL,       1},
    {"misses.kinds",         AT(miss_kinds),      on,         0},
};
/* clang-format on */

static void put(struct cache_config *config, const struct row *row, uint64_t value)
{
    char *at = (char *)config + row->offset;
    if (row->size == sizeof(bool))
        *(bool *)at = value != 0;
    else if (row->size == sizeof(uint32_t))
        *(uint32_t *)at = (uint32_t)value;
    else
        *(uint64_t *)at = value;
}

static int read_row(struct cache_config *config, const struct row *row,
                    const struct chil_machine *machine, struct chil_error *err)
{
    uint64_t value = row->otherwise;
    const char *word = chil_machine_word(machine, row->key);
    if (word && !row->words) {
        (void)chil_machine_number(machine, row->key, &value);
        if (row->size == sizeof(uint32_t) && value > UINT32_MAX)
            return chil_error_set(err, CHIL_ERANGE, "'%s' of %s is too large; give less than 4G",
                                  word, row->key);
    } else if (word) {
        for (value = 0; row->words[value] && strcmp(row->words[value], word) != 0;)
            value++;
        if (!row->words[value])
            return chil_error_set(err, CHIL_EINVAL,
                                  "'%s' of %s is not known; see docs/formats/machine.md", word,
                                  row->key);
    }
    put(config, row, value);
    return 0;
}

int cache_config_read(struct cache_config *config, const struct chil_machine *machine,
                      struct chil_error *err)
{
    *config = (struct cache_config){0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int status = read_row(config, &rows[i], machine, err);
        if (status) return status;
    }
    return cache_config_check(config, err);
}

/* --- Whether it fits together ---------------------------------------------------------------- */

static bool is_power(uint64_t value)
{
    return value && !(value & (value - 1));
}

static int check_array(const char *name, uint64_t size, uint64_t line, uint64_t ways,
                       struct chil_error *err)
{
    if (!is_power(line) || line < 32 || line > 4096)
        return chil_error_set(err, CHIL_ERANGE,
                              "%s.line of %" PRIu64 " is not a power of two from 32 to 4096", name,
                              line);
    if (!ways || ways > 65535)
        return chil_error_set(err, CHIL_ERANGE, "%s.ways of %" PRIu64 " is not from 1 to 65535",
                              name, ways);
    if (size % (line * ways) || !is_power(size / (line * ways)))
        return chil_error_set(err, CHIL_EINVAL,
                              "%s has no whole power of two of sets: size %" PRIu64
                              " / (line %" PRIu64 " x ways %" PRIu64 "); change one of them",
                              name, size, line, ways);
    return 0;
}

struct limit {
    const char *key;
    uint64_t value, low, high;
};

static int check_limits(const struct cache_config *c, struct chil_error *err)
{
    const struct limit limits[] = {
        {"machine.cores", c->cores, 1, CACHE_CORES},
        {"l1d.fills", c->fills, 1, CACHE_FILLS},
        {"l1d.stores", c->stores, 1, CACHE_STORES},
        {"l1d.store_cycles", c->store_time, 1, 1 << 20},
        {"l1d.store_lines", c->store_lines, 1, CACHE_OPEN_LINES},
        {"tlb.entries", c->tlb_entries, 1, 65536},
        {"tlb.miss_cycles", c->tlb_miss, 0, 1 << 20},
        {"tlb.page", c->page, 1024, 1 << 30},
        {"l2.entries", c->l2_entries, 0, UINT8_MAX},
        {"l2.line", c->l2_line, 32, 4096},
        {"l2.streams", c->l2_streams, 0, UINT8_MAX},
        {"l2.depth", c->l2_depth, 0, 64},
        {"l2.filter", c->l2_filter, 1, UINT8_MAX},
        {"l3.size", c->l3_size, 0, UINT64_C(1) << 30},
        {"l3.banks", c->l3_banks, 1, 1024},
        {"l3.line", c->l3_line, 32, 4096},
        {"l3.busy_cycles", c->l3_busy, 0, 1 << 20},
        {"l3.transfer_cycles", c->l3_transfer, 0, 1 << 20},
        {"l3.refresh_interval", c->l3_refresh_interval, 0, 1 << 30},
        {"l3.refresh_cycles", c->l3_refresh, 0, 1 << 20},
        {"memory.controllers", c->controllers, 1, 1024},
        {"memory.latency", c->ddr_latency, 1, 1 << 20},
        {"memory.busy_cycles", c->ddr_busy, 0, 1 << 20},
        {"memory.row", c->ddr_row, 32, 1 << 30},
        {"snoop.streams", c->snoop_streams, 1, 1024},
        {"snoop.lines", c->snoop_lines, 0, 1024},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i].value < limits[i].low || limits[i].value > limits[i].high)
            return chil_error_set(err, CHIL_ERANGE,
                                  "%s of %" PRIu64 " is out of range; give %" PRIu64 " to %" PRIu64,
                                  limits[i].key, limits[i].value, limits[i].low, limits[i].high);
    return 0;
}

static int check_powers(const struct cache_config *c, struct chil_error *err)
{
    const struct limit powers[] = {
        {"tlb.page", c->page, 0, 0},      {"l2.line", c->l2_line, 0, 0},
        {"l3.line", c->l3_line, 0, 0},    {"l3.banks", c->l3_banks, 0, 0},
        {"memory.row", c->ddr_row, 0, 0},
    };
    for (size_t i = 0; i < sizeof powers / sizeof *powers; i++)
        if (!is_power(powers[i].value))
            return chil_error_set(err, CHIL_EINVAL,
                                  "%s of %" PRIu64 " is not a power of two; give one",
                                  powers[i].key, powers[i].value);
    return 0;
}

static int check_lines(const struct cache_config *c, struct chil_error *err)
{
    uint32_t l1 = c->l1i.line > c->l1d.line ? c->l1i.line : c->l1d.line;
    if (l1 > c->l2_line || c->l2_line > c->l3_line)
        return chil_error_set(err, CHIL_EINVAL,
                              "lines of %u, %u and %u bytes in L1, L2 and L3; none may be longer "
                              "than that of the level behind it",
                              l1, c->l2_line, c->l3_line);
    if (l1 > c->page)
        return chil_error_set(err, CHIL_EINVAL,
                              "L1 lines of %u bytes are longer than pages of %u; shorten them", l1,
                              c->page);
    return 0;
}

static int check_times(const struct cache_config *c, struct chil_error *err)
{
    if (c->l1_latency >= c->l2_latency || c->l2_latency > c->l3_latency ||
        c->l3_latency > c->ddr_latency)
        return chil_error_set(
            err, CHIL_EINVAL,
            "latencies %u, %u, %u, %u of L1, L2, L3 and memory do not rise; they are from the core",
            c->l1_latency, c->l2_latency, c->l3_latency, c->ddr_latency);
    if (c->device_latency < c->l1_latency)
        return chil_error_set(err, CHIL_EINVAL, "device.latency %u is less than l1d.latency %u",
                              c->device_latency, c->l1_latency);
    if (!c->device_store)
        return chil_error_set(err, CHIL_EINVAL,
                              "device.store_cycles is 0; a store takes at least its own cycle");
    if (c->l3_refresh > c->l3_refresh_interval)
        return chil_error_set(
            err, CHIL_EINVAL,
            "l3.refresh_cycles %u is more than l3.refresh_interval %u; a refresh ends before the next",
            c->l3_refresh, c->l3_refresh_interval);
    if (c->miss_kinds && c->l3_size / c->l3_line >= KINDS_LINES)
        return chil_error_set(
            err, CHIL_ERANGE,
            "misses.kinds is on, which wants less than 1G lines of L3; switch it off");
    if (c->miss_kinds && c->model != CACHE_MODEL_FULL)
        return chil_error_set(
            err, CHIL_EINVAL,
            "misses.kinds is on, which wants the whole memory model; leave out memory.model");
    if (c->snoop_filter && !c->coherent)
        return chil_error_set(err, CHIL_EINVAL,
                              "snoop.filter is on but coherence.l1d is none; there are no snoops");
    return 0;
}

int cache_config_check(const struct cache_config *config, struct chil_error *err)
{
    int status = check_limits(config, err);
    if (!status) status = check_powers(config, err);
    if (!status)
        status = check_array("l1i", config->l1i.size, config->l1i.line, config->l1i.ways, err);
    if (!status)
        status = check_array("l1d", config->l1d.size, config->l1d.line, config->l1d.ways, err);
    if (!status && config->l3_size)
        status = check_array("l3", config->l3_size / config->l3_banks, config->l3_line,
                             config->l3_ways, err);
    if (!status) status = check_lines(config, err);
    if (!status) status = check_times(config, err);
    return status;
}
