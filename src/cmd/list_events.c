/* chiliad list events, counters: the events of a machine by unit, units in the order of their
 * lowest id; or the simulator's own counters. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "chiliad/catalog.h"
#include "cmd/list.h"

enum { NAME_WIDTH = 54 };

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
    bool off = cmd_event_is_off(event) && strcmp(event->needs, "memory.model") != 0;
    (void)printf("  %-*s %6u  %-4s  %s%s\n", NAME_WIDTH, event->name, event->id,
                 chil_count_mode_word((int)event->mode),
                 off ? "with " : chil_exactness_word((int)event->exactness),
                 off ? event->needs : "");
    view_wrapped(stdout, event->text, LIST_INDENT, LIST_WIDTH);
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

bool list_matches(const struct list_options *options, const struct chil_event *event)
{
    for (int i = 0; i < options->pattern_count; i++)
        if (chil_event_matches(event, options->patterns[i])) return true;
    return options->pattern_count == 0;
}

static bool is_hidden(const struct list_options *options, const struct chil_event *event)
{
    return event->reserved && !options->reserved && !options->json;
}

/* The machine's events, or the simulator's own counters. */
static const struct chil_event *rows_of(const struct list_options *options,
                                        const struct chil_machine *machine, size_t *count)
{
    return options->own ? chil_machine_own_events(machine, count)
                        : chil_machine_events(machine, count);
}

/* A pattern that matches nothing is an error, even among patterns that match. */
static int check_patterns(const struct list_options *options, const struct chil_machine *machine)
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

static void print_summary(const struct list_options *options, const struct chil_machine *machine,
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

static int print_events(const struct list_options *options, const struct chil_machine *machine)
{
    size_t count, listed = 0;
    const struct chil_event *events = rows_of(options, machine, &count);
    struct listed *list = calloc(count, sizeof *list);
    if (!list) return cmd_fail("list", "out of memory");
    for (size_t i = 0; i < count; i++)
        if (!is_hidden(options, &events[i]) && list_matches(options, &events[i]))
            list[listed++].event = &events[i];
    print_groups(list, listed);
    print_summary(options, machine, listed);
    free(list);
    return 0;
}

static int print_events_json(const struct list_options *options, const struct chil_machine *machine)
{
    size_t count, listed = 0;
    const struct chil_event *events = rows_of(options, machine, &count);
    for (size_t i = 0; i < count; i++)
        if (list_matches(options, &events[i])) list_print_object(event_json(&events[i]), listed++);
    list_print_array_end(listed);
    return 0;
}

static int by_id(const void *a, const void *b)
{
    const struct chil_event *const *x = a, *const *y = b;
    return ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

static void print_range(FILE *out, uint32_t first, uint32_t last)
{
    if (first == last) (void)fprintf(out, " %u", first);
    if (first < last) (void)fprintf(out, " %u-%u", first, last);
}

/* Ids without an event: reserved ones of a chip, gaps between the simulator's own and all above. */
static int print_free(const struct list_options *options, const struct chil_machine *machine)
{
    size_t count, used = 0;
    const struct chil_event *events = rows_of(options, machine, &count);
    const struct chil_event **list = calloc(count + 1, sizeof *list);
    if (!list) return cmd_fail("list", "out of memory");
    for (size_t i = 0; i < count; i++)
        if (!events[i].reserved) list[used++] = &events[i];
    qsort(list, used, sizeof *list, by_id);
    uint32_t next = 0;
    char *text = NULL;
    size_t size = 0;
    FILE *line = open_memstream(&text, &size);
    if (!line) {
        free(list);
        return cmd_fail("list", "out of memory");
    }
    (void)fprintf(line, "free ids of %s:",
                  options->own ? "the simulator's own counters" : chil_machine_name(machine));
    for (size_t i = 0; i < used; next = list[i++]->id + 1)
        if (list[i]->id > next) print_range(line, next, list[i]->id - 1);
    if (options->own) (void)fprintf(line, " %u-", next); /* a chip has no more than its rows */
    (void)fclose(line);
    view_hanging(stdout, text, 0, view_terminal_width(stdout));
    free(text);
    free(list);
    return 0;
}

int list_events(const struct list_options *options)
{
    struct chil_machine *machine;
    struct chil_error err = {0};
    if (chil_machine_open(&machine, options->machine ? options->machine : "bgp", &err))
        return cmd_fail_error("list", &err);
    int status = check_patterns(options, machine);
    if (!status && options->free)
        status = print_free(options, machine);
    else if (!status)
        status =
            options->json ? print_events_json(options, machine) : print_events(options, machine);
    chil_machine_free(machine);
    return status;
}
