/* chiliad upc: look at the counter unit, or feed it a stimulus.
 *
 *   $ chiliad upc run docs/examples/misses.stimulus
 *   counter  event                    count   value     threshold
 *   15       BGP_PU0_DCACHE_MISS      rise    100       80
 *   ...
 *   interrupt at cycle 5,926: counter 15 (BGP_PU0_DCACHE_MISS)
 */
#include "cmd/upc.h"

#include <string.h>

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

int upc_print_json(json_t *json)
{
    int bad = json_dumpf(json, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
    json_decref(json);
    (void)putchar('\n');
    return bad ? cmd_fail("upc", "cannot write JSON to standard output") : 0;
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
    status = info ? upc_info(machine, &options) : upc_run(argv[optind + 1], machine, &options);
    chil_machine_free(machine);
    return status;
}
