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
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "chiliad/catalog.h"

enum { WIDTH = 80, TEXT_INDENT = 6, NAME_WIDTH = 54 };

struct options {
    const char *machine; /* NULL: not given */
    bool json, reserved;
    bool machines; /* rather than events */
    bool own;      /* the simulator's own counters, rather than the machine's events */
    bool metrics, sets;
    char **patterns;
    int pattern_count;
};

static int fail(const char *what, const char *word)
{
    return cmd_fail("list", "%s '%s'; 'chiliad list --help' tells more", what, word);
}

static const struct option_row option_rows[] = {
    {"machine", 'M', "MACHINE", "whose events: a name, or a path with a '/' (default bgp)",
     OPTION_SET_TEXT(struct options, machine), .values = "@machines"},
    {"json", 'j', NULL, "a JSON array, one object a line, with reserved ids",
     OPTION_SET_FLAG(struct options, json)},
    {"reserved", 0, NULL, "also show the ids to which no event is assigned",
     OPTION_SET_FLAG(struct options, reserved)},
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
             "cycles in which the wire is so; rise, fall: changes), and how far a count "
             "may be trusted (exact, modelled, or none: nothing drives the wire).\n\n"
             "Exit status: 0, or 2 for a bad command line, bad data files, or a pattern "
             "that matches nothing.",
    .operand_values = "machines events counters metrics sets",
};

static int parse_options(struct options *options, int argc, char **argv)
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

/* Words with line breaks, each line indented. */
static void print_text(const char *text)
{
    int column = 0;
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column && column + 1 + length > WIDTH) {
            (void)putchar('\n');
            column = 0;
        }
        column += printf("%*s%.*s", column ? 1 : TEXT_INDENT, "", length, text);
        text += length;
        text += strspn(text, " ");
    }
    (void)putchar('\n');
}

/* ---- events ---- */

struct listed {
    const struct chil_event *event;
    uint32_t unit_first; /* the lowest listed id of its unit */
};

static int by_unit(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    int order = strcmp(x->event->unit, y->event->unit);
    return order ? order : (x->event->id > y->event->id) - (x->event->id < y->event->id);
}

static int by_unit_first(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    if (x->unit_first != y->unit_first) return x->unit_first < y->unit_first ? -1 : 1;
    return (x->event->id > y->event->id) - (x->event->id < y->event->id);
}

static void group_by_unit(struct listed *list, size_t count)
{
    qsort(list, count, sizeof *list, by_unit);
    for (size_t i = 0; i < count; i++) {
        bool same = i && strcmp(list[i].event->unit, list[i - 1].event->unit) == 0;
        list[i].unit_first = same ? list[i - 1].unit_first : list[i].event->id;
    }
    qsort(list, count, sizeof *list, by_unit_first);
}

static void print_event(const struct chil_event *event)
{
    bool off = cmd_event_is_off(event);
    (void)printf("  %-*s %6u  %-4s  %s%s\n", NAME_WIDTH, event->name, event->id,
                 chil_count_mode_word((int)event->mode),
                 off ? "with " : chil_exactness_word((int)event->exactness),
                 off ? event->needs : "");
    print_text(event->text);
}

static json_t *placements_json(const struct chil_event *event)
{
    json_t *list = json_array();
    for (size_t i = 0; i < event->placement_count; i++) {
        const struct chil_placement *at = &event->placements[i];
        (void)json_array_append_new(list, json_pack("{s:i,s:s,s:i}", "group", (int)at->group,
                                                    "counter", at->counter, "code", (int)at->code));
    }
    return list;
}

static json_t *event_json(const struct chil_event *event)
{
    json_t *signals = json_array();
    for (size_t i = 0; i < event->signal_count; i++)
        (void)json_array_append_new(signals, json_string(event->signals[i]));
    return json_pack("{s:I,s:s,s:s,s:i,s:o,s:s,s:s,s:s?,s:b,s:o,s:s}", "id", (json_int_t)event->id,
                     "name", event->name, "unit", event->unit, "clock", (int)event->clock,
                     "signals", signals, "count", chil_count_mode_word((int)event->mode),
                     "exactness", chil_exactness_word((int)event->exactness), "needs", event->needs,
                     "reserved", (int)event->reserved, "placements", placements_json(event), "text",
                     event->text);
}

static bool matches_any(const struct options *options, const struct chil_event *event)
{
    for (int i = 0; i < options->pattern_count; i++)
        if (chil_event_matches(event, options->patterns[i])) return true;
    return options->pattern_count == 0;
}

static bool is_hidden(const struct options *options, const struct chil_event *event)
{
    return event->reserved && !options->reserved && !options->json;
}

/* The machine's events, or the simulator's own counters. */
static const struct chil_event *rows_of(const struct options *options,
                                        const struct chil_machine *machine, size_t *count)
{
    return options->own ? chil_machine_own_events(machine, count)
                        : chil_machine_events(machine, count);
}

/* Every pattern has to find something, lest a slip among several goes unseen. */
static int check_patterns(const struct options *options, const struct chil_machine *machine)
{
    size_t count;
    const struct chil_event *events = rows_of(options, machine, &count), *found;
    for (int p = 0; p < options->pattern_count; p++) {
        const char *pattern = options->patterns[p];
        bool hidden = false, shown = false;
        for (size_t i = 0; i < count && !shown; i++) {
            if (!chil_event_matches(&events[i], pattern)) continue;
            shown = !is_hidden(options, &events[i]);
            hidden = true;
        }
        if (shown) continue;
        if (hidden)
            return cmd_fail("list", "'%s' matches reserved ids only; add --reserved", pattern);
        struct chil_error err = {0};
        if (chil_machine_find_event(machine, pattern, &found, &err))
            return cmd_fail_error("list", &err);
        return cmd_fail("list", "no event of %s matches '%s'; its name is '%s'",
                        chil_machine_name(machine), pattern, found->name);
    }
    return 0;
}

static void print_summary(const struct options *options, const struct chil_machine *machine,
                          size_t listed)
{
    size_t count, reserved = 0;
    const struct chil_event *events = rows_of(options, machine, &count);
    for (size_t i = 0; i < count; i++)
        reserved += events[i].reserved;
    size_t all = options->reserved ? count : count - reserved;
    (void)printf("%zu%s", listed, options->pattern_count ? " of " : " ");
    if (options->pattern_count) (void)printf("%zu ", all);
    if (options->own) {
        (void)puts("counters of the simulator's own");
        return;
    }
    (void)printf("%s of %s", options->reserved ? "ids" : "events", chil_machine_name(machine));
    if (reserved)
        (void)printf(options->reserved ? " (%zu of all are reserved)"
                                       : " (%zu reserved ids not shown)",
                     reserved);
    (void)putchar('\n');
}

static void print_groups(struct listed *list, size_t count)
{
    const char *unit = "";
    group_by_unit(list, count);
    for (size_t i = 0; i < count; i++) {
        const struct chil_event *event = list[i].event;
        if (strcmp(unit, event->unit) != 0) (void)printf("%s%s\n", i ? "\n" : "", event->unit);
        unit = event->unit;
        print_event(event);
    }
    (void)putchar('\n');
}

static int print_events(const struct options *options, const struct chil_machine *machine)
{
    size_t count, listed = 0;
    const struct chil_event *events = rows_of(options, machine, &count);
    struct listed *list = calloc(count, sizeof *list);
    if (!list) return cmd_fail("list", "out of memory");
    for (size_t i = 0; i < count; i++)
        if (!is_hidden(options, &events[i]) && matches_any(options, &events[i]))
            list[listed++].event = &events[i];
    print_groups(list, listed);
    print_summary(options, machine, listed);
    free(list);
    return 0;
}

static int print_events_json(const struct options *options, const struct chil_machine *machine)
{
    size_t count, listed = 0;
    const struct chil_event *events = rows_of(options, machine, &count);
    for (size_t i = 0; i < count; i++)
        if (matches_any(options, &events[i])) list_print_object(event_json(&events[i]), listed++);
    list_print_array_end(listed);
    return 0;
}

static int list_events(const struct options *options)
{
    struct chil_machine *machine;
    struct chil_error err = {0};
    if (chil_machine_open(&machine, options->machine ? options->machine : "bgp", &err))
        return cmd_fail_error("list", &err);
    int status = check_patterns(options, machine);
    if (!status)
        status =
            options->json ? print_events_json(options, machine) : print_events(options, machine);
    chil_machine_free(machine);
    return status;
}

/* ---- machines ---- */

struct parameters {
    const struct chil_machine *machine;
    json_t *object;
};

static void add_parameter(void *context, const char *key, const char *word)
{
    const struct parameters *to = context;
    uint64_t number;
    bool is_number = chil_machine_number(to->machine, key, &number) == 0;
    (void)json_object_set_new(to->object, key,
                              is_number ? json_integer((json_int_t)number) : json_string(word));
}

static json_t *machine_json(const struct chil_machine *machine, size_t ids, size_t reserved)
{
    struct parameters to = {machine, json_object()};
    chil_machine_each(machine, add_parameter, &to);
    return json_pack("{s:s,s:s,s:I,s:I,s:o}", "name", chil_machine_name(machine), "text",
                     chil_machine_text(machine), "events", (json_int_t)(ids - reserved), "reserved",
                     (json_int_t)reserved, "parameters", to.object);
}

static void print_machine(const struct chil_machine *machine, size_t ids, size_t reserved)
{
    uint64_t cores = 0, clock = 0, counters = 0;
    (void)chil_machine_number(machine, "machine.cores", &cores);
    (void)chil_machine_number(machine, "machine.clock_mhz", &clock);
    (void)chil_machine_number(machine, "upc.counters", &counters);
    (void)printf("%s\n", chil_machine_name(machine));
    print_text(chil_machine_text(machine));
    (void)printf("%*s%ju cores at %ju MHz, %ju counters (%s), %zu events\n\n", TEXT_INDENT, "",
                 (uintmax_t)cores, (uintmax_t)clock, (uintmax_t)counters,
                 chil_machine_word(machine, "upc.kind"), ids - reserved);
}

/* Opens and prints one; a machine whose file is bad is an error, not an omission. */
static int show_machine(const struct options *options, const char *name, size_t index)
{
    struct chil_machine *machine;
    struct chil_error err = {0};
    if (chil_machine_open(&machine, name, &err)) return cmd_fail_error("list", &err);
    size_t ids, reserved = 0;
    const struct chil_event *events = chil_machine_events(machine, &ids);
    for (size_t i = 0; i < ids; i++)
        reserved += events[i].reserved;
    if (options->json)
        list_print_object(machine_json(machine, ids, reserved), index);
    else
        print_machine(machine, ids, reserved);
    chil_machine_free(machine);
    return 0;
}

/* Whether a machine is asked for: the pattern, if any, is a part of its name or a glob over it. */
static bool wants_machine(const struct options *options, const char *name)
{
    const struct chil_event as_event = {.name = name, .unit = "", .text = ""};
    return matches_any(options, &as_event);
}

static int check_machine_patterns(const struct options *options, char **names, size_t count)
{
    for (int p = 0; p < options->pattern_count; p++) {
        const struct options one = {.patterns = options->patterns + p, .pattern_count = 1};
        size_t i = 0;
        while (i < count && !wants_machine(&one, names[i]))
            i++;
        if (i < count) continue;
        struct chil_machine *machine;
        struct chil_error err = {0};
        if (chil_machine_open(&machine, options->patterns[p], &err))
            return cmd_fail_error("list", &err);
        chil_machine_free(machine); /* a path: it opens, but is none of those listed */
        return fail("no machine matches", options->patterns[p]);
    }
    return 0;
}

static int list_machines(const struct options *options)
{
    char **names;
    size_t count, shown = 0;
    struct chil_error err = {0};
    if (chil_machine_names(&names, &count, &err)) return cmd_fail_error("list", &err);
    int status = check_machine_patterns(options, names, count);
    for (size_t i = 0; i < count && !status; i++)
        if (wants_machine(options, names[i])) status = show_machine(options, names[i], shown++);
    chil_names_free(names, count);
    if (status) return status;
    if (options->json)
        list_print_array_end(shown);
    else
        (void)printf("%zu machine%s\n", shown, shown == 1 ? "" : "s");
    return 0;
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
    struct options options = {0};
    int status = check_words(argc, argv);
    if (!status) status = parse_options(&options, argc, argv);
    if (status) return status < 0 ? 0 : status;
    if (!options.machines && !options.metrics && !options.sets) return list_events(&options);
    if (options.machine) return fail("only 'list events' takes a machine, here", options.machine);
    if (options.metrics || options.sets)
        return list_metrics(options.sets, options.json, options.patterns, options.pattern_count);
    return list_machines(&options);
}
