/* chiliad upc info: the geometry and the registers of a machine's counter unit. */
#include <inttypes.h>
#include <string.h>

#include "chiliad/catalog.h"
#include "chiliad/upc.h"
#include "cmd/upc.h"

static int machine_geometry(const struct chil_machine *machine, struct chil_upc_geometry *g)
{
    struct chil_error err;
    if (chil_upc_geometry_of(machine, g))
        return cmd_fail("upc", "machine '%s' has no hybrid counter unit; try -M bgp",
                        chil_machine_name(machine));
    return chil_upc_geometry_check(g, &err) ? cmd_fail_error("upc", &err) : 0;
}

/* The register map as rows: name, first offset, bytes, text. */
struct region {
    const char *name;
    uint64_t offset, bytes;
    const char *text;
};

enum { REGIONS = 10 };

static void list_regions(const struct chil_upc_map *map, struct region regions[REGIONS])
{
    const struct region rows[REGIONS] = {
        {"counters", map->counters, map->config - map->counters, "8 bytes each"},
        {"configuration", map->config, map->start_stop - map->config,
         "a byte per counter, 8 to a register"},
        {"start_stop", map->start_stop, 8, "1 counts, 0 stops, all at once"},
        {"threshold", map->threshold, 8, "compared with the array words"},
        {"status", map->status, 8, "bad words, pending interrupts"},
        {"first", map->first, 16, "oldest interrupt: counter, cycle"},
        {"overruns", map->overruns, 8, "interrupts while one was pending"},
        {"pending", map->pending, map->armed - map->pending, "a bit per counter, write 1 to clear"},
        {"armed", map->armed, map->parity - map->armed, "a bit per counter"},
        {"parity", map->parity, map->end - map->parity, "a bit per counter"},
    };
    memcpy(regions, rows, sizeof rows);
}

static void print_info(const struct chil_machine *machine, const struct chil_upc_geometry *g)
{
    struct chil_upc_bits bits;
    struct chil_upc_map map;
    struct region regions[REGIONS];
    char a[32], b[32], c[32];
    chil_upc_bits(g, &bits);
    chil_upc_map(g, &map);
    list_regions(&map, regions);
    double all = (double)(bits.array + bits.registers);
    (void)printf("counter unit of %s\n\n", chil_machine_name(machine));
    (void)printf("  counters   %s, 64 bits each: %u live + %" PRIu64 " stored\n",
                 view_grouped(g->counters, a), g->low_bits, bits.word_bits);
    (void)printf("  inputs     %u per counter, %s events\n", g->inputs,
                 view_grouped((uint64_t)g->counters * g->inputs, a));
    (void)printf("  service    a word every %u cycles, all in %s; low parts last %s at least\n",
                 g->slot_cycles, view_grouped(bits.round_cycles, a),
                 view_grouped(UINT64_C(1) << g->low_bits, b));
    (void)printf("  array      %s bits (%" PRIu64 " + %" PRIu64
                 " parity per word), %.1f %% of %s\n",
                 view_grouped(bits.array, a), bits.word_bits, bits.parity_bits,
                 100 * (double)bits.array / all, view_grouped(bits.array + bits.registers, c));
    (void)printf("  registers  %s bits (low parts, latches, configuration), %.1f %%\n\n",
                 view_grouped(bits.registers, a), 100 * (double)bits.registers / all);
    for (int i = 0; i < REGIONS; i++)
        (void)printf("  0x%05" PRIX64 " .. 0x%05" PRIX64 "  %-14s %s\n", regions[i].offset,
                     regions[i].offset + regions[i].bytes - 8, regions[i].name, regions[i].text);
}

static int print_info_json(const struct chil_machine *machine, const struct chil_upc_geometry *g)
{
    struct chil_upc_bits bits;
    struct chil_upc_map map;
    struct region regions[REGIONS];
    chil_upc_bits(g, &bits);
    chil_upc_map(g, &map);
    list_regions(&map, regions);
    json_t *registers = json_array();
    for (int i = 0; i < REGIONS; i++)
        json_array_append_new(registers,
                              json_pack("{s:s, s:I, s:I, s:s}", "name", regions[i].name, "offset",
                                        (json_int_t)regions[i].offset, "bytes",
                                        (json_int_t)regions[i].bytes, "text", regions[i].text));
    return upc_print_json(json_pack(
        "{s:s, s:i, s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:o}", "machine",
        chil_machine_name(machine), "counters", (int)g->counters, "inputs", (int)g->inputs,
        "low_bits", (int)g->low_bits, "slot_cycles", (int)g->slot_cycles, "round_cycles",
        (json_int_t)bits.round_cycles, "word_bits", (json_int_t)bits.word_bits, "parity_bits",
        (json_int_t)bits.parity_bits, "array_bits", (json_int_t)bits.array, "register_bits",
        (json_int_t)bits.registers, "registers", registers));
}

int upc_info(const struct chil_machine *machine, const struct upc_options *options)
{
    struct chil_upc_geometry g = {0};
    int status = machine_geometry(machine, &g);
    if (status) return status;
    if (options->json) return print_info_json(machine, &g);
    print_info(machine, &g);
    return 0;
}
