/* chiliad list: the machines, and the events that one of them can count.
 *
 *     $ chiliad list events 'BGP_PU0_FPU_*LOADS*'
 *     PU0/FPU
 *       BGP_PU0_FPU_QUADWORD_LOADS                                 31  high  none
 *           core 0: 16-byte FP loads (lfpd* / lfxd*)
 *     ...
 *     4 of 865 events of bgp (159 reserved ids not shown)
 *
 * Events are grouped by unit, units in the order of their lowest id. Two lines an event fit 80
 * columns with the longest names there are. With -j it is one JSON array, an object a line,
 * complete: reserved ids too.
 */
#include "cmd/list.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct option_row option_rows[] = {
    {"machine", 'M', "MACHINE", "whose events: a name, or a path with a '/' (default bgp)",
     OPTION_SET_TEXT(struct list_options, machine), .values = "@machines"},
    {"json", 'j', NULL, "a JSON array, one object a line, with reserved ids",
     OPTION_SET_FLAG(struct list_options, json)},
    {"reserved", 0, NULL, "also show the ids to which no event is assigned",
     OPTION_SET_FLAG(struct list_options, reserved)},
    {"free", 0, NULL, "only the ids that a new event may have, for 'events' and 'counters'",
     OPTION_SET_FLAG(struct list_options, free)},
};

const struct option_table cmd_list_options = {
    .forms = {"[events|counters|machines] [PATTERN...] [OPTIONS]", "metrics [SPECIFICATION] [-j]",
              "sets [PLATFORM [SET...]] [-j]"},
    .about = "Shows what can be counted: the events of a machine, the simulator's own "
             "counters (BGL_INST ...), or the machines. Without a word it shows the events "
             "of bgp.\n\n"
             "'metrics' shows the specifications of derived metrics, or the trees of one. "
             "'sets' shows the platforms with few counters, or the counter sets of "
             "one.\n\n"
             "A PATTERN with one of *?[ has to match a whole name (for events, or a whole "
             "unit). Any other is searched in name, unit and text. Case does not matter. "
             "What matches any of several patterns is shown.",
    .groups = {OPTION_ROWS(option_rows)},
    .notes = "Of an event it shows: name, id, how it is counted by default (high, low: "
             "cycles in which the signal is high or low; rise, fall: its changes), and how "
             "far a count may be trusted (exact, modelled, or none: nothing raises it; "
             "always 0).\n\n"
             "Exit status: 0, or 2 for a bad command line, bad data files, or a pattern "
             "that matches nothing.",
    .operand_values = "machines events counters metrics sets",
};

static int parse_options(struct list_options *options, int argc, char **argv)
{
    int status = options_parse(&cmd_list_options, options, argc, argv);
    if (status) return status;
    const char *kind = optind < argc ? argv[optind] : "";
    options->machines = strcmp(kind, "machines") == 0;
    options->own = strcmp(kind, "counters") == 0;
    options->metrics = strcmp(kind, "metrics") == 0;
    options->sets = strcmp(kind, "sets") == 0;
    optind += options->machines || options->own || options->metrics || options->sets ||
              strcmp(kind, "events") == 0;
    options->patterns = argv + optind;
    options->pattern_count = argc - optind;
    return 0;
}

void list_print_object(json_t *object, size_t index)
{
    (void)fputs(index ? ",\n" : "[\n", stdout);
    (void)json_dumpf(object, stdout, JSON_ENSURE_ASCII);
    json_decref(object);
}

void list_print_array_end(size_t count)
{
    (void)fputs(count ? "\n]\n" : "[]\n", stdout);
}

/* A line break in a word would break the message that quotes it. */
static int check_words(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        for (const char *c = argv[i]; *c; c++)
            if (iscntrl((unsigned char)*c))
                return cmd_fail("list", "word %d has a control character; remove it", i);
    return 0;
}

int cmd_list(int argc, char **argv)
{
    struct list_options options = {0};
    int status = check_words(argc, argv);
    if (!status) status = parse_options(&options, argc, argv);
    if (status) return status < 0 ? 0 : status;
    if (!options.machines && !options.metrics && !options.sets) return list_events(&options);
    if (options.machine)
        return cmd_fail("list",
                        "only 'list events' takes a machine, here '%s'; see 'chiliad list --help'",
                        options.machine);
    if (options.metrics || options.sets)
        return list_metrics(options.sets, options.json, options.patterns, options.pattern_count);
    return list_machines(&options);
}
