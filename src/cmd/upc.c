/* chiliad upc: look at the counter unit, or feed it a stimulus.
 *
 *   $ chiliad upc run docs/examples/misses.stimulus
 *   counter  event                    count   value     threshold
 *   15       BGP_PU0_DCACHE_MISS      rise    100       80
 *   ...
 *   interrupt at cycle 5,926: counter 15 (BGP_PU0_DCACHE_MISS)
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "chiliad/catalog.h"
#include "chiliad/stimulus.h"
#include "chiliad/upc.h"

struct upc_options {
    const char *machine;
    bool json, reference;
    uint64_t poll;
};

static const struct option_row option_rows[] = {
    {"machine", 'M', "MACHINE", "whose unit and event names: a name or a file (default bgp)",
     OPTION_SET_TEXT(struct upc_options, machine), .values = "@machines"},
    {"reference", 0, NULL,
     "also run the cycle-stepped reference; exit status 1 at the first difference",
     OPTION_SET_FLAG(struct upc_options, reference)},
    {"poll", 0, "CYCLES", "show what polling for the thresholds every CYCLES cycles would cost",
     OPTION_SET_NUMBER(struct upc_options, poll, 1, UINT64_MAX)},
    {"json", 'j', NULL, "JSON on standard output", OPTION_SET_FLAG(struct upc_options, json)},
};

const struct option_table cmd_upc_options = {
    .forms = {"info [-M MACHINE] [-j]", "run FILE [OPTIONS]"},
    .about = "The counter unit: hybrid 64-bit counters, each a live low part and a word in "
             "an array.\n\n"
             "  info      its geometry, registers, service time, and where its bits are\n"
             "  run FILE  feed it the stimulus in FILE (docs/formats/stimulus.md) and "
             "print\n"
             "            what it counted",
    .groups = {OPTION_ROWS(option_rows)},
    .operand_values = "info run",
};

/* --- info ------------------------------------------------------------------------------------ */

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
    (void)printf("  service    a word every %u cycles, all in %s; a low part lasts %s at least\n",
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

static int print_json(json_t *json)
{
    int bad = json_dumpf(json, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
    json_decref(json);
    (void)putchar('\n');
    return bad ? cmd_fail("upc", "cannot write JSON to standard output") : 0;
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
    return print_json(json_pack(
        "{s:s, s:i, s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:o}", "machine",
        chil_machine_name(machine), "counters", (int)g->counters, "inputs", (int)g->inputs,
        "low_bits", (int)g->low_bits, "slot_cycles", (int)g->slot_cycles, "round_cycles",
        (json_int_t)bits.round_cycles, "word_bits", (json_int_t)bits.word_bits, "parity_bits",
        (json_int_t)bits.parity_bits, "array_bits", (json_int_t)bits.array, "register_bits",
        (json_int_t)bits.registers, "registers", registers));
}

/* --- run ------------------------------------------------------------------------------------- */

static const char *event_of(const struct chil_stimulus_result *result, uint32_t counter)
{
    for (size_t i = 0; i < result->counter_count; i++)
        if (result->counters[i].counter == counter) return result->counters[i].event;
    return "";
}

static const char *notice_word(const struct chil_upc_notice *notice)
{
    return notice->kind == CHIL_UPC_INTERRUPT ? "interrupt" : "parity fault";
}

static void print_counters(const struct chil_stimulus_result *result)
{
    char a[32], b[32];
    (void)printf("%-8s %-40s %-6s %20s %16s\n", "counter", "event", "count", "value", "threshold");
    for (size_t i = 0; i < result->counter_count; i++) {
        const struct chil_stimulus_counter *c = &result->counters[i];
        (void)printf("%-8u %-40s %-6s %20s %16s\n", c->counter, c->event,
                     chil_count_mode_word((int)c->config.mode),
                     c->status ? "bad parity" : view_grouped(c->value, a),
                     c->threshold ? view_grouped(c->threshold, b) : "");
    }
}

static void print_polls(const struct chil_stimulus_result *result, uint64_t every)
{
    char a[32], b[32], c[32];
    for (size_t i = 0; i < result->poll_count; i++) {
        const struct chil_stimulus_poll *p = &result->polls[i];
        if (p->interrupt_cycle == UINT64_MAX || p->seen_cycle == UINT64_MAX)
            (void)printf("poll: counter %u did not reach its threshold\n", p->counter);
        else
            (void)printf("poll: counter %u is seen at cycle %s, %s cycles after its interrupt\n",
                         p->counter, view_grouped(p->seen_cycle, a),
                         view_grouped(p->seen_cycle - p->interrupt_cycle, b));
    }
    (void)printf("poll: every %s cycles took %s counter reads; interrupts take none\n",
                 view_grouped(every, a), view_grouped(result->poll_reads, c));
}

static void print_result(const struct chil_stimulus_result *result, uint64_t poll)
{
    char a[32], b[32];
    for (size_t i = 0; i < result->reading_count; i++)
        (void)printf("line %u, cycle %s: %s is %s\n", result->readings[i].line,
                     view_grouped(result->readings[i].cycle, a), result->readings[i].what,
                     result->readings[i].status ? "bad parity"
                                                : view_grouped(result->readings[i].value, b));
    for (size_t i = 0; i < result->notice_count; i++)
        (void)printf("%s at cycle %s: counter %u %s\n", notice_word(&result->notices[i]),
                     view_grouped(result->notices[i].cycle, a), result->notices[i].counter,
                     event_of(result, result->notices[i].counter));
    if (result->reading_count || result->notice_count) (void)putchar('\n');
    print_counters(result);
    (void)printf("\n%s cycles\n", view_grouped(result->end, a));
    if (poll) print_polls(result, poll);
}

static json_t *json_counters(const struct chil_stimulus_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->counter_count; i++) {
        const struct chil_stimulus_counter *c = &result->counters[i];
        json_array_append_new(
            array, json_pack("{s:i, s:s, s:s, s:b, s:o, s:o}", "counter", (int)c->counter, "event",
                             c->event, "count", chil_count_mode_word((int)c->config.mode),
                             "interrupt", c->config.interrupt, "value",
                             c->status ? json_null() : view_json_count(c->value), "threshold",
                             c->threshold ? view_json_count(c->threshold) : json_null()));
    }
    return array;
}

static json_t *json_notices(const struct chil_stimulus_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->notice_count; i++)
        json_array_append_new(array,
                              json_pack("{s:s, s:i, s:I}", "kind", notice_word(&result->notices[i]),
                                        "counter", (int)result->notices[i].counter, "cycle",
                                        (json_int_t)result->notices[i].cycle));
    return array;
}

static json_t *json_readings(const struct chil_stimulus_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->reading_count; i++) {
        const struct chil_stimulus_reading *r = &result->readings[i];
        json_array_append_new(array,
                              json_pack("{s:i, s:I, s:s, s:o}", "line", (int)r->line, "cycle",
                                        (json_int_t)r->cycle, "what", r->what, "value",
                                        r->status ? json_null() : view_json_count(r->value)));
    }
    return array;
}

static int print_result_json(const struct chil_stimulus_result *result)
{
    return print_json(json_pack("{s:I, s:o, s:o, s:o, s:I}", "cycles", (json_int_t)result->end,
                                "counters", json_counters(result), "notices", json_notices(result),
                                "readings", json_readings(result), "poll_reads",
                                (json_int_t)result->poll_reads));
}

/* Exit status 1 at the first difference; says nothing in JSON when there is none. */
static int compare(const struct chil_stimulus_result *fast,
                   const struct chil_stimulus_result *reference, bool quiet)
{
    char difference[200];
    if (!chil_stimulus_same(fast, reference, difference, sizeof difference)) {
        (void)cmd_fail("upc", "the models differ: %s", difference);
        return 1;
    }
    if (!quiet)
        (void)printf("reference: the same %zu counters, %zu readings, %zu notices\n",
                     reference->counter_count, reference->reading_count, reference->notice_count);
    return 0;
}

/* Both runs are over before anything is printed: a refused one leaves standard output empty. The
 * reference polls too, as a read finds a bad word. */
static int run_stimulus(const struct chil_stimulus *stimulus, const struct upc_options *options)
{
    struct chil_stimulus_result fast = {0}, reference = {0};
    struct chil_stimulus_options how = {.model = CHIL_UPC_FAST, .poll = options->poll};
    struct chil_error err;
    int status = chil_stimulus_run(stimulus, &how, &fast, &err);
    how.model = CHIL_UPC_REFERENCE;
    if (!status && options->reference) status = chil_stimulus_run(stimulus, &how, &reference, &err);
    if (status)
        status = cmd_fail_error("upc", &err);
    else if (options->json)
        status = print_result_json(&fast);
    else
        print_result(&fast, options->poll);
    if (options->reference && !status) status = compare(&fast, &reference, options->json);
    chil_stimulus_result_free(&reference);
    chil_stimulus_result_free(&fast);
    return status;
}

static int run_file(const char *path, const struct chil_machine *machine,
                    const struct upc_options *options)
{
    struct chil_stimulus *stimulus;
    struct chil_error err;
    if (chil_stimulus_open(&stimulus, path, machine, &err)) return cmd_fail_error("upc", &err);
    int status = run_stimulus(stimulus, options);
    chil_stimulus_free(stimulus);
    return status;
}

static int show_info(const struct chil_machine *machine, const struct upc_options *options)
{
    struct chil_upc_geometry g = {0};
    int status = machine_geometry(machine, &g);
    if (status) return status;
    if (options->json) return print_info_json(machine, &g);
    print_info(machine, &g);
    return 0;
}

int cmd_upc(int argc, char **argv)
{
    struct upc_options options = {.machine = "bgp"};
    int status = options_parse(&cmd_upc_options, &options, argc, argv);
    if (status) return status < 0 ? 0 : status;
    int words = argc - optind;
    const char *verb = words ? argv[optind] : "";
    bool info = strcmp(verb, "info") == 0 && words == 1,
         run = strcmp(verb, "run") == 0 && words == 2;
    if (!info && !run)
        return cmd_fail(
            "upc",
            words ? "cannot make sense of '%s'; use 'info' or 'run FILE' (chiliad upc --help)"
                  : "nothing to do%s; use 'info' or 'run FILE' (chiliad upc --help)",
            verb);
    struct chil_machine *machine;
    struct chil_error err;
    if (chil_machine_open(&machine, options.machine, &err)) return cmd_fail_error("upc", &err);
    status = info ? show_info(machine, &options) : run_file(argv[optind + 1], machine, &options);
    chil_machine_free(machine);
    return status;
}
