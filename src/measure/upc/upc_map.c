/* The registers of figure 5, and an interrupt-status block behind them;
 * docs/formats/upc-registers.md is the reference.
 *
 * Registers are 64 bits, big-endian; a 32-bit access at offset + 0 is the high half, at + 4 the low
 * half. A read of a high half keeps the low half of that moment for the next read of it (ERR-05); a
 * write to the high half of a counter or of the threshold waits for the low half, so that neither
 * is ever seen torn. Any write drops a kept low half.
 */
#include "chiliad/upc.h"

#include "measure/upc/upc_impl.h"

/* A counter's configuration byte (ERR-03). Inputs past the fourth, which Blue Gene/P lacks, use
 * bits 5 to 7. */
enum {
    CONFIG_INPUT = 0x03,
    CONFIG_MODE_SHIFT = 2,
    CONFIG_MODE = 0x0C,
    CONFIG_INTERRUPT = 0x10,
    CONFIG_MORE_SHIFT = 5
};

void chil_upc_map(const struct chil_upc_geometry *g, struct chil_upc_map *map)
{
    uint64_t bitmap = bits_ceil_div(g->counters, 64) * 8;
    map->counters = 0;
    map->config = (uint64_t)g->counters * 8;
    map->start_stop = bits_ceil_div(map->config + bits_ceil_div(g->counters, 8) * 8, 16) * 16;
    map->threshold = map->start_stop + 0x10;
    map->status = map->start_stop + 0x20;
    map->first = map->start_stop + 0x28;
    map->cycle = map->start_stop + 0x30;
    map->overruns = map->start_stop + 0x38;
    map->pending = map->start_stop + 0x40;
    map->armed = map->pending + bitmap;
    map->parity = map->armed + bitmap;
    map->end = map->parity + bitmap;
}

/* --- Configuration bytes --------------------------------------------------------------------- */

static uint8_t config_byte(const struct chil_upc *upc, uint32_t c)
{
    struct chil_upc_config config;
    if (chil_upc_config(upc, c, &config)) return 0;
    return (uint8_t)((config.input & CONFIG_INPUT) | (unsigned)config.mode << CONFIG_MODE_SHIFT |
                     (config.interrupt ? CONFIG_INTERRUPT : 0) |
                     (config.input >> 2) << CONFIG_MORE_SHIFT);
}

/* A byte that names an input the counter does not have changes nothing (UPC-04). */
static void set_config_byte(struct chil_upc *upc, uint32_t c, uint8_t byte)
{
    unsigned more = upc->geometry.inputs > 4 ? byte >> CONFIG_MORE_SHIFT : 0;
    struct chil_upc_config config = {
        .input = (byte & CONFIG_INPUT) | more << 2,
        .mode = (enum chil_count_mode)((byte & CONFIG_MODE) >> CONFIG_MODE_SHIFT),
        .interrupt = byte & CONFIG_INTERRUPT,
    };
    if (c < upc->geometry.counters && config.input < upc->geometry.inputs)
        upc->ops->configure(upc, c, &config);
}

/* Eight counters, the first in the most significant byte. */
static uint64_t load_config(const struct chil_upc *upc, uint32_t group)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < 8; i++)
        value = value << 8 | config_byte(upc, group * 8 + i);
    return value;
}

static void store_config(struct chil_upc *upc, uint32_t group, unsigned first_byte, unsigned bytes,
                         uint64_t value)
{
    for (unsigned i = 0; i < bytes; i++)
        set_config_byte(upc, group * 8 + first_byte + i, (uint8_t)(value >> 8 * (bytes - 1 - i)));
}

/* --- Status ---------------------------------------------------------------------------------- */

enum bitmap { BITMAP_PENDING, BITMAP_ARMED, BITMAP_PARITY };

static bool bit_of(struct chil_upc *upc, uint32_t c, enum bitmap which)
{
    switch (which) {
    case BITMAP_PENDING: return upc->counters[c].pending;
    case BITMAP_ARMED: return upc->ops->armed(upc, c);
    default: return upc->counters[c].bad;
    }
}

/* Counter 64k + i is bit i of word k, bit 0 the most significant. */
static uint64_t load_bitmap(struct chil_upc *upc, uint64_t word, enum bitmap which)
{
    uint64_t value = 0;
    for (uint64_t i = 0, c = word * 64; i < 64 && c < upc->geometry.counters; i++, c++)
        if (bit_of(upc, (uint32_t)c, which)) value |= UINT64_C(1) << (63 - i);
    return value;
}

static void clear_pending(struct chil_upc *upc, uint64_t word, uint64_t ones)
{
    for (uint64_t i = 0, c = word * 64; i < 64 && c < upc->geometry.counters; i++, c++)
        if (ones >> (63 - i) & 1) upc->counters[c].pending = false;
}

static uint64_t load_status(const struct chil_upc *upc)
{
    uint64_t pending = 0, bad = 0;
    for (uint32_t c = 0; c < upc->geometry.counters; c++) {
        pending += upc->counters[c].pending;
        bad += upc->counters[c].bad;
    }
    return bad << 32 | pending;
}

/* The counter with the oldest pending interrupt, the lowest of those in one cycle, or that
 * interrupt's cycle; all ones when there is none. */
static uint64_t load_first(const struct chil_upc *upc, bool cycle)
{
    const struct upc_counter *first = NULL;
    for (const struct upc_counter *c = upc->counters; c < upc->counters + upc->geometry.counters;
         c++)
        if (c->pending && (!first || c->pending_cycle < first->pending_cycle)) first = c;
    if (!first) return UINT64_MAX;
    return cycle ? first->pending_cycle : (uint64_t)(first - upc->counters);
}

/* --- 64-bit registers ------------------------------------------------------------------------ */

static int load64(struct chil_upc *upc, uint64_t offset, uint64_t *value)
{
    const struct chil_upc_map *map = &upc->map;
    *value = 0;
    if (offset < map->config) return upc->ops->read(upc, (uint32_t)(offset / 8), value);
    if (offset < map->start_stop)
        *value = load_config(upc, (uint32_t)((offset - map->config) / 8));
    else if (offset == map->start_stop)
        *value = upc->running;
    else if (offset == map->threshold)
        *value = upc->threshold;
    else if (offset == map->status)
        *value = load_status(upc);
    else if (offset == map->first || offset == map->cycle)
        *value = load_first(upc, offset == map->cycle);
    else if (offset == map->overruns)
        *value = upc->overruns;
    else if (offset >= map->parity)
        *value = load_bitmap(upc, (offset - map->parity) / 8, BITMAP_PARITY);
    else if (offset >= map->armed)
        *value = load_bitmap(upc, (offset - map->armed) / 8, BITMAP_ARMED);
    else if (offset >= map->pending)
        *value = load_bitmap(upc, (offset - map->pending) / 8, BITMAP_PENDING);
    return 0;
}

/* Software that writes a counter or the threshold by hand takes it away from chil_upc_threshold. */
static void drop_api_threshold(struct chil_upc *upc, uint32_t c)
{
    upc->api_thresholds -= upc->counters[c].api_threshold != 0;
    upc->counters[c].api_threshold = 0;
}

static void store_counter(struct chil_upc *upc, uint32_t c, uint64_t value)
{
    drop_api_threshold(upc, c);
    upc_write_value(upc, c, value, 0);
}

static void store_threshold(struct chil_upc *upc, uint64_t value)
{
    for (uint32_t c = 0; c < upc->geometry.counters; c++)
        drop_api_threshold(upc, c);
    upc_set_threshold(upc, value);
}

/* The register at `offset` holds a number that must be written whole. */
static bool is_whole(const struct chil_upc_map *map, uint64_t offset)
{
    return offset < map->config || offset == map->threshold;
}

static void store_whole(struct chil_upc *upc, const struct chil_upc_map *map, uint64_t offset,
                        uint64_t value)
{
    if (offset < map->config)
        store_counter(upc, (uint32_t)(offset / 8), value);
    else
        store_threshold(upc, value);
}

/* Registers whose bytes act at once: `half` is -1 for all eight bytes, 0 for the high four, 1 for
 * the low four. */
static void store_parts(struct chil_upc *upc, const struct chil_upc_map *map, uint64_t offset,
                        int half, uint64_t value)
{
    if (offset >= map->config && offset < map->start_stop)
        store_config(upc, (uint32_t)((offset - map->config) / 8), half == 1 ? 4 : 0,
                     half < 0 ? 8 : 4, value);
    if (offset == map->start_stop && half != 0) upc_set_run(upc, value & 1);
    if (offset == map->overruns) upc->overruns = 0;
    if (offset >= map->pending && offset < map->armed)
        clear_pending(upc, (offset - map->pending) / 8, half == 0 ? value << 32 : value);
}

/* --- Access ---------------------------------------------------------------------------------- */

static int check_access(struct chil_upc *upc, uint64_t offset, unsigned width)
{
    if ((width != 4 && width != 8) || offset % width) return CHIL_EINVAL;
    return offset < upc->map.end ? upc_enter(upc) : CHIL_ENOENT;
}

static int load32(struct chil_upc *upc, uint64_t offset, uint64_t *value)
{
    uint64_t start = offset & ~UINT64_C(7), whole = 0;
    bool high = offset == start;
    if (!high && upc->read_latch_offset == start) {
        upc->read_latch_offset = UPC_NEVER;
        *value = upc->read_latch;
        return 0;
    }
    int status = load64(upc, start, &whole);
    if (status) return status;
    *value = high ? whole >> 32 : whole & UINT32_MAX;
    if (high) {
        upc->read_latch_offset = start;
        upc->read_latch = (uint32_t)whole;
    }
    return 0;
}

int chil_upc_load(struct chil_upc *upc, uint64_t offset, unsigned width, uint64_t *value)
{
    int status = check_access(upc, offset, width);
    if (status) return status;
    uint64_t loaded = 0;
    status = width == 8 ? load64(upc, offset, &loaded) : load32(upc, offset, &loaded);
    if (status == 0) *value = loaded;
    return upc_leave(upc, status);
}

static int store32(struct chil_upc *upc, uint64_t offset, uint32_t value)
{
    const struct chil_upc_map *map = &upc->map;
    uint64_t start = offset & ~UINT64_C(7);
    bool high = offset == start;
    if (!is_whole(map, start)) {
        store_parts(upc, map, start, high ? 0 : 1, value);
        return 0;
    }
    if (high) {
        upc->write_hold_offset = start;
        upc->write_hold = value;
        return 0;
    }
    uint64_t whole = 0;
    if (upc->write_hold_offset == start) {
        whole = (uint64_t)upc->write_hold << 32;
    } else {
        int status = load64(upc, start, &whole);
        if (status) return status;
    }
    upc->write_hold_offset = UPC_NEVER;
    store_whole(upc, map, start, (whole & ~UINT64_C(0xFFFFFFFF)) | value);
    return 0;
}

int chil_upc_store(struct chil_upc *upc, uint64_t offset, unsigned width, uint64_t value)
{
    int status = check_access(upc, offset, width);
    if (status) return status;
    upc->read_latch_offset = UPC_NEVER;
    if (width == 4) return upc_leave(upc, store32(upc, offset, (uint32_t)value));
    upc->write_hold_offset = UPC_NEVER;
    if (is_whole(&upc->map, offset))
        store_whole(upc, &upc->map, offset, value);
    else
        store_parts(upc, &upc->map, offset, -1, value);
    return upc_leave(upc, 0);
}
