/* The command line of chiliad sweep: --set and --nodes become axes; all their combinations are
 * runs.
 */
#include <string.h>

#include "cmd/sweep.h"

const char sweep_nodes[] = "nodes";

static int add_values(struct sweep *s, const char *command, const char *key, char *values)
{
    if (s->axis_count == SWEEP_AXES_MAX)
        return cmd_fail(command, "more than %d --set", SWEEP_AXES_MAX);
    struct sweep_axis *axis = &s->axes[s->axis_count++];
    axis->key = key;
    for (const char *value; (value = strsep(&values, ","));) {
        if (!*value || axis->count == SWEEP_VALUES_MAX)
            return cmd_fail(command, "%s%s wants 1 to %d values with commas between",
                            key == sweep_nodes ? "--" : "--set ", key, SWEEP_VALUES_MAX);
        axis->values[axis->count++] = value;
    }
    s->runs *= axis->count;
    return s->runs > SWEEP_RUNS_MAX ? cmd_fail(command, "more than %d combinations", SWEEP_RUNS_MAX)
                                    : 0;
}

static int add_axis(void *options, const char *command, char *text)
{
    char *values = strchr(text, '=');
    if (!values || values == text)
        return cmd_fail(command, "--set wants KEY=A,B,C, not '%s'", text);
    *values++ = 0;
    return add_values(options, command, text, values);
}

static int add_nodes(void *options, const char *command, char *text)
{
    struct sweep *s = options;
    uint64_t number;
    for (size_t i = 0; i < s->axis_count; i++)
        if (s->axes[i].key == sweep_nodes) return cmd_fail(command, "--nodes was given twice");
    int status = add_values(s, command, sweep_nodes, text);
    const struct sweep_axis *axis = &s->axes[s->axis_count - 1];
    for (size_t i = 0; i < axis->count && !status; i++)
        status = cmd_number(command, "--nodes", axis->values[i], 1, CHIL_RUN_NODES_MAX, &number);
    return status;
}

static int add_events(void *options, const char *command, char *list)
{
    struct sweep *s = options;
    s->chosen = true;
    while (*list) {
        size_t length = strcspn(list, ",");
        if (!length || length >= SWEEP_NAME_MAX || s->event_count == SWEEP_EVENTS_MAX)
            return cmd_fail(command, "-e wants at most %d names with commas between",
                            SWEEP_EVENTS_MAX);
        (void)snprintf(s->events[s->event_count++], SWEEP_NAME_MAX, "%.*s", (int)length, list);
        list += length;
        list += *list == ',';
    }
    return 0;
}

static const struct option_row option_rows[] = {
    {"set", 0, "KEY=A,B,C",
     "a parameter of the machine, as l1d.size, and the values it takes; may be "
     "repeated",
     OPTION_CALLS(add_axis)},
    {"nodes", 'n', "LIST",
     "numbers of nodes, separated by commas: a run for each, as a --set has one for each value",
     OPTION_CALLS(add_nodes)},
    {"event", 'e', "LIST", "events to print, names separated by commas (default: the misses)",
     OPTION_CALLS(add_events), .values = "@events @counters"},
    {"json", 'j', NULL, "a JSON array of objects with settings, exit_status, cycles, counters",
     OPTION_SET_FLAG(struct sweep, json)},
    {"separator", 'x', "SEP",
     "a line per run with SEP between the fields, and a first line of names",
     OPTION_SET_TEXT(struct sweep, separator)},
    {"plot", 0, "FILE",
     "also draw a picture (SVG): cycles and the events of -e over the first --set, "
     "a line for each value of the others",
     OPTION_SET_TEXT(struct sweep, plot)},
    {"page", 0, "FILE", "also write a web page that shows the runs",
     OPTION_SET_FULL(struct sweep, page)},
    {"jobs", 0, "N", "runs at the same time (default: the host's processors)",
     OPTION_SET_NUMBER(struct sweep, jobs, 1, SWEEP_JOBS_MAX)},
};

const struct option_table cmd_sweep_options = {
    .forms = {"--set KEY=A,B,C [OPTIONS] PROGRAM [ARGUMENTS]",
              "-n A,B,C [OPTIONS] PROGRAM [ARGUMENTS]"},
    .about = "Runs PROGRAM once for each combination of parameter values and prints one "
             "table.",
    .groups = {OPTION_ROWS(option_rows), OPTION_ROWS_AT(cmd_program_rows, struct sweep, program)},
    .ends_at_operand = true,
};

int sweep_parse_options(int argc, char **argv, struct sweep *s)
{
    static const char *const usual[] = {"BGL_D1_L_MISS", "BGL_D2_MISS", "BGL_DTLB_MISS"};
    int status = options_parse(&cmd_sweep_options, s, argc, argv);
    if (!status) status = cmd_program_words(&s->program, "sweep", argc, argv);
    if (status) return status;
    if (!s->axis_count)
        return cmd_fail("sweep", "nothing to sweep; give --set KEY=A,B,C or -n A,B,C");
    if (s->json && s->separator) return cmd_fail("sweep", "-j and -x exclude each other");
    if (s->plot && s->runs / s->axes[0].count > VIEW_PLOT_SERIES_MAX)
        return cmd_fail("sweep",
                        "--plot has at most %d lines: give the --set with most values first",
                        VIEW_PLOT_SERIES_MAX);
    if (s->event_count) return 0;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        (void)snprintf(s->events[s->event_count++], SWEEP_NAME_MAX, "%s", usual[i]);
    return 0;
}
