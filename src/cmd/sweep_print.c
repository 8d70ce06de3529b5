/* Results of chiliad sweep: a row for each run, and a chart. */
#include "cmd/sweep.h"

#include <assert.h>
#include <string.h>

enum {
    BAR = 16,
    STATUS_TEXT = 120,
    COLUMNS_MAX = SWEEP_AXES_MAX + SWEEP_EVENTS_MAX + SWEEP_TIMES + 6
};

const char *const sweep_time_names[SWEEP_TIMES] = {"compute", "wait", "transfer"};

const char *sweep_value(const struct sweep *s, size_t run, size_t axis)
{
    for (size_t i = s->axis_count; i-- > axis + 1;) {
        assert(s->axes[i].count);
        run /= s->axes[i].count;
    }
    assert(s->axes[axis].count);
    return s->axes[axis].values[run % s->axes[axis].count];
}

bool sweep_has_nodes(const struct sweep *s)
{
    for (size_t i = 0; i < s->axis_count; i++)
        if (s->axes[i].key == sweep_nodes) return true;
    return false;
}

bool sweep_partial(const struct sweep *s, const struct sweep_outcome *outcomes)
{
    for (size_t run = 0; run < s->begun; run++)
        if (*outcomes[run].partial) return true;
    return false;
}

/* Axes, exit status, cycles, events; and what only the table has, the bar and a failure. */
static size_t set_columns(const struct sweep *s, bool partial,
                          struct view_column columns[COLUMNS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < s->axis_count; i++)
        columns[count++] =
            (struct view_column){.title = s->axes[i].key, .object = "settings", .left = true};
    columns[count++] =
        (struct view_column){.title = "exit_status", .forms = VIEW_IN_LINES | VIEW_IN_JSON};
    columns[count++] = (struct view_column){
        .title = "partial", .forms = partial ? VIEW_IN_LINES | VIEW_IN_JSON : VIEW_IN_NONE};
    columns[count++] = (struct view_column){.title = "cycles"};
    for (size_t i = 0; i < s->event_count; i++)
        columns[count++] = (struct view_column){.title = s->events[i], .object = "counters"};
    for (size_t i = 0; i < SWEEP_TIMES; i++)
        columns[count++] = (struct view_column){.title = sweep_time_names[i],
                                                .object = "time",
                                                .forms = sweep_has_nodes(s) ? 0 : VIEW_IN_NONE};
    columns[count++] = (struct view_column){
        .title = "", .left = true, .forms = VIEW_IN_TABLE, .fit = VIEW_FIT_DROP};
    columns[count++] = (struct view_column){.title = "", .left = true, .forms = VIEW_IN_TABLE};
    return count;
}

static void add_row(struct view *view, const struct sweep *s, size_t run,
                    const struct sweep_outcome *outcome, uint64_t most)
{
    struct view_cell *cell = view_row(view);
    static const char bar[BAR + 1] = "################";
    char status[STATUS_TEXT] = "";
    int length = (int)(outcome->cycles * BAR / most);
    for (size_t i = 0; i < s->axis_count; i++)
        *cell++ = view_text(sweep_value(s, run, i));
    if (!*outcome->partial) *cell = view_integer(outcome->status);
    cell++;
    if (*outcome->partial) *cell = view_text(outcome->partial);
    cell++;
    *cell++ = view_count(outcome->cycles);
    for (size_t i = 0; i < s->event_count; i++)
        *cell++ = view_count(outcome->counts[i]);
    for (size_t i = 0; i < SWEEP_TIMES; i++)
        *cell++ = view_count(outcome->time[i]);
    if (*outcome->partial)
        (void)snprintf(status, sizeof status, "partial: %s", outcome->partial);
    else if (outcome->status)
        (void)snprintf(status, sizeof status, "exit status %d", outcome->status);
    *cell++ = view_text(bar + BAR - length);
    *cell = view_copy(view, status);
}

static void fill(struct view *view, struct view_column *columns, const struct sweep *s,
                 const struct sweep_outcome *outcomes)
{
    uint64_t most = 1;
    for (size_t run = 0; run < s->begun; run++)
        if (outcomes[run].cycles > most) most = outcomes[run].cycles;
    view_init(view, columns, set_columns(s, sweep_partial(s, outcomes), columns));
    for (size_t run = 0; run < s->begun; run++)
        add_row(view, s, run, &outcomes[run], most);
}

void sweep_print_json(const struct sweep *s, const struct sweep_outcome *outcomes, FILE *out)
{
    struct view_column columns[COLUMNS_MAX];
    struct view view;
    fill(&view, columns, s, outcomes);
    (void)view_json_write(view_json(&view), out, JSON_INDENT(2));
    view_fini(&view);
}

void sweep_print(const struct sweep *s, const struct sweep_outcome *outcomes)
{
    struct view_column columns[COLUMNS_MAX];
    struct view view;
    if (s->json) {
        sweep_print_json(s, outcomes, stdout);
        return;
    }
    fill(&view, columns, s, outcomes);
    if (s->separator) {
        view_lines_heading(&view, stdout, s->separator);
        view_lines(&view, stdout, s->separator);
    } else {
        view_table(&view, stdout,
                   &(struct view_table_style){
                       .heading = true, .trim = true, .width = view_terminal_width(stdout)});
    }
    view_fini(&view);
}

/* --- The chart ------------------------------------------------------------------------------- */

/* The values of all axes but the first in a run: "tlb.entries 16, l2.depth 2". */
static void name_series(const struct sweep *s, size_t run, char *name, size_t size)
{
    *name = 0;
    for (size_t i = 1; i < s->axis_count; i++) {
        size_t used = strlen(name);
        (void)snprintf(name + used, size - used, "%s%s %s", i > 1 ? ", " : "", s->axes[i].key,
                       sweep_value(s, run, i));
    }
}

static bool all_numbers(const struct sweep_axis *axis)
{
    for (size_t i = 0; i < axis->count; i++)
        if (axis->values[i][0] < '0' || axis->values[i][0] > '9') return false;
    return true;
}

/* Over numbers of nodes: how many times as fast as the first, and the parts of the time in percent.
 */
static void add_scaling(const struct sweep *s, const struct sweep_outcome *outcomes,
                        struct view_plot *plot, double *speed_up, double *times)
{
    for (size_t run = 0; run < s->runs && plot->series_count; run++) {
        const struct sweep_outcome *first = &outcomes[run % plot->series_count];
        double all = 0;
        speed_up[run] =
            outcomes[run].cycles ? (double)first->cycles / (double)outcomes[run].cycles : 0;
        for (size_t i = 0; i < SWEEP_TIMES; i++)
            all += (double)outcomes[run].time[i];
        for (size_t i = 0; i < SWEEP_TIMES; i++)
            times[run * SWEEP_TIMES + i] = all > 0 ? 100 * (double)outcomes[run].time[i] / all : 0;
    }
    plot->panels[plot->panel_count++] =
        (struct view_panel){.title = "speed-up over the first", .values = speed_up, .decimals = 2};
    plot->panels[plot->panel_count++] = (struct view_panel){.title = "time of the ranks, %",
                                                            .values = times,
                                                            .parts = sweep_time_names,
                                                            .part_count = SWEEP_TIMES,
                                                            .decimals = 2};
}

/* The runs are in the order of the last axis first: run = point * series + series number. */
void sweep_plot(const struct sweep *s, const struct sweep_outcome *outcomes, FILE *out)
{
    double values[1 + SWEEP_EVENTS_MAX][SWEEP_RUNS_MAX], speed_up[SWEEP_RUNS_MAX],
        times[SWEEP_RUNS_MAX * SWEEP_TIMES];
    char names[VIEW_PLOT_SERIES_MAX][VIEW_PLOT_NAME];
    char name[4200];
    (void)snprintf(name, sizeof name, "%s on %s", s->program.shown, s->program.machine);
    struct view_plot plot = {.title = name,
                             .x_title = s->axes[0].key,
                             .points = s->axes[0].values,
                             .point_count = s->axes[0].count,
                             .series_count = s->runs / s->axes[0].count,
                             .panel_count = 1 + (s->chosen ? s->event_count : 0),
                             .lines = all_numbers(&s->axes[0])};
    for (size_t i = 0; i < plot.series_count; i++) {
        name_series(s, i, names[i], sizeof names[i]);
        plot.series[i] = names[i];
    }
    for (size_t p = 0; p < plot.panel_count; p++) {
        plot.panels[p].title = p ? s->events[p - 1] : "cycles";
        plot.panels[p].values = values[p];
        for (size_t run = 0; run < s->runs; run++)
            values[p][run] = (double)(p ? outcomes[run].counts[p - 1] : outcomes[run].cycles);
    }
    if (s->axes[0].key == sweep_nodes) add_scaling(s, outcomes, &plot, speed_up, times);
    view_plot_svg(out, &plot);
}
