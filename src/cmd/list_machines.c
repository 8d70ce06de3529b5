/* chiliad list machines: the machines of the data directory, with cores, clock, counters and
 * events. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "chiliad/catalog.h"
#include "cmd/list.h"

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
    view_wrapped(stdout, chil_machine_text(machine), LIST_INDENT, LIST_WIDTH);
    (void)printf("%*s%ju cores at %ju MHz, %ju counters (%s), %zu events\n\n", LIST_INDENT, "",
                 (uintmax_t)cores, (uintmax_t)clock, (uintmax_t)counters,
                 chil_machine_word(machine, "upc.kind"), ids - reserved);
}

/* Opens and prints one; a machine whose file is bad is an error, not an omission. */
static int show_machine(const struct list_options *options, const char *name, size_t index)
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
static bool wants_machine(const struct list_options *options, const char *name)
{
    const struct chil_event as_event = {.name = name, .unit = "", .text = ""};
    return list_matches(options, &as_event);
}

static int check_machine_patterns(const struct list_options *options, char **names, size_t count)
{
    for (int p = 0; p < options->pattern_count; p++) {
        const struct list_options one = {.patterns = options->patterns + p, .pattern_count = 1};
        size_t i = 0;
        while (i < count && !wants_machine(&one, names[i]))
            i++;
        if (i < count) continue;
        struct chil_machine *machine;
        struct chil_error err = {0};
        if (chil_machine_open(&machine, options->patterns[p], &err))
            return cmd_fail_error("list", &err);
        chil_machine_free(machine); /* a path: it opens, but is none of those listed */
        return cmd_fail("list", "no machine matches '%s'; see 'chiliad list --help'",
                        options->patterns[p]);
    }
    return 0;
}

int list_machines(const struct list_options *options)
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
