/* Counts for programs: separated values and JSON, from one description of an event or a derived
 * metric. */
#include <string.h>

#include "cmd/stat.h"

/* Separated values have a row for each core with --per-core; JSON has a list of cores in the row.
 */
enum { CORE, NUMBER, OF_UNIT, NAME, KIND, METRIC, VALUE, UNIT, EXACTNESS, FORMULA, CORES };
enum { COLUMNS_MAX = CORES + STAT_COLUMNS_MAX };

struct records {
    const struct stat_shown *shown;
    struct view_column column[COLUMNS_MAX];
    struct view view;
    unsigned cores;
};

/* `derived`: of metrics, where a core without a value is null in the list. */
static void records_init(struct records *r, const struct stat_shown *shown, bool derived)
{
    static const struct view_column usual[CORES] = {
        [CORE] = {.title = "core", .forms = VIEW_IN_LINES},
        [NUMBER] = {.title = "value", .forms = VIEW_IN_LINES},
        [OF_UNIT] = {.title = "unit", .bare = true, .forms = VIEW_IN_LINES},
        [NAME] = {.title = "name", .bare = true, .forms = VIEW_IN_LINES | VIEW_IN_JSON},
        [KIND] = {.title = "exactness", .forms = VIEW_IN_LINES},
        [METRIC] = {.title = "metric", .forms = VIEW_IN_JSON},
        [VALUE] = {.title = "value", .null = true, .forms = VIEW_IN_JSON},
        [UNIT] = {.title = "unit", .forms = VIEW_IN_JSON},
        [EXACTNESS] = {.title = "exactness", .forms = VIEW_IN_JSON},
        [FORMULA] = {.title = "formula", .forms = VIEW_IN_JSON},
    };
    *r = (struct records){.shown = shown, .cores = chil_run_cores(shown->run)};
    if (r->cores > STAT_COLUMNS_MAX) r->cores = STAT_COLUMNS_MAX;
    memcpy(r->column, usual, sizeof usual);
    if (shown->options->per_node) r->column[CORE].title = "node";
    if (!shown->options->per_core && !shown->options->per_node)
        r->column[CORE].forms = VIEW_IN_NONE;
    for (unsigned core = 0; core < r->cores; core++)
        r->column[CORES + core] = (struct view_column){
            .title = "", .list = "cores", .null = derived, .forms = VIEW_IN_JSON};
    view_init(&r->view, r->column, CORES + r->cores);
}

/* A row of one core, or of the total. */
static struct view_cell *add(struct records *r, int core, struct view_cell value)
{
    struct view_cell *cell = view_row(&r->view);
    cell[CORE] = core == STAT_TOTAL ? view_text("total") : view_integer(core);
    cell[NUMBER] = cell[VALUE] = value;
    return cell;
}

static void add_event(struct records *r, const struct chil_event *event, int core)
{
    struct view_cell value = stat_count_cell(r->shown, core, event);
    if (value.kind == VIEW_NONE) return;
    struct view_cell *cell = add(r, core, value);
    cell[NAME] = view_text(event->name);
    cell[OF_UNIT] = cell[UNIT] = view_text(event->unit);
    cell[KIND] = cell[EXACTNESS] = view_text(chil_exactness_word((int)event->exactness));
    for (unsigned i = 0; i < r->cores && !r->shown->options->per_node; i++)
        cell[CORES + i] = stat_count_cell(r->shown, (int)i, event);
}

static void add_metric(struct records *r, const struct stat_metric *metric, int core)
{
    struct view_cell *cell = add(r, core, stat_metric_cell(metric, core));
    cell[NAME] = view_text(metric->text);
    cell[METRIC] = view_text(metric->name);
    cell[OF_UNIT] = cell[UNIT] = view_text(metric->unit);
    cell[KIND] = view_text("derived");
    cell[FORMULA] = view_text(metric->formula);
    for (unsigned i = 0; i < r->cores; i++)
        cell[CORES + i] = stat_metric_cell(metric, (int)i);
}

static void add_core(struct records *r, int core)
{
    const struct stat_shown *shown = r->shown;
    for (size_t i = 0; i < shown->chosen->count; i++)
        add_event(r, shown->chosen->events[i], core);
    for (size_t i = 0; i < stat_metric_count(shown); i++)
        if ((core == STAT_TOTAL || !shown->options->per_node) &&
            stat_metric_cell(&shown->metrics->rows[i], core).kind != VIEW_NONE)
            add_metric(r, &shown->metrics->rows[i], core);
}

void stat_print_lines(FILE *out, const struct stat_shown *shown)
{
    struct records r;
    const char *partial = shown->options->program.partial;
    if (partial) (void)fprintf(out, "# partial: %s\n", partial);
    const char *memory = chil_run_memory(shown->run);
    if (memory)
        (void)fprintf(out, "# memory: %s; %s, no cycles\n", memory, stat_memory_text(memory));
    records_init(&r, shown, true);
    for (unsigned core = 0; shown->options->per_core && core < chil_run_cores(shown->run); core++)
        add_core(&r, (int)core);
    for (unsigned node = 0; shown->options->per_node && node < chil_run_nodes(shown->run); node++)
        add_core(&r, (int)node);
    add_core(&r, STAT_TOTAL);
    view_lines(&r.view, out, shown->options->separator);
    view_fini(&r.view);
}

static json_t *json_counters(const struct stat_shown *shown)
{
    struct records r;
    records_init(&r, shown, false);
    for (size_t i = 0; i < shown->chosen->count; i++)
        add_event(&r, shown->chosen->events[i], STAT_TOTAL);
    json_t *rows = view_json(&r.view);
    view_fini(&r.view);
    for (size_t i = 0; i < shown->chosen->count && chil_run_nodes(shown->run) > 1; i++)
        stat_json_event(shown, shown->chosen->events[i], json_array_get(rows, i));
    return rows;
}

static json_t *json_metrics(const struct stat_shown *shown)
{
    struct records r;
    records_init(&r, shown, true);
    for (size_t i = 0; i < shown->metrics->count; i++)
        add_metric(&r, &shown->metrics->rows[i], STAT_TOTAL);
    json_t *rows = view_json(&r.view);
    view_fini(&r.view);
    return rows;
}

json_t *stat_json(const struct stat_shown *shown)
{
    const struct chil_run *run = shown->run;
    json_t *program = json_string(shown->options->program.run.program), *busy = json_array();
    for (unsigned core = 0; core < chil_run_cores(run); core++)
        json_array_append_new(busy, view_json_count(chil_run_core_cycles(run, core)));
    json_t *json = json_pack(
        "{s:s, s:o, s:i, s:I, s:o, s:o, s:f, s:o, s:i, s:o, s:o}", "machine",
        chil_machine_name(shown->machine), "program", program ? program : json_null(),
        "exit_status", chil_run_status(run), "runs", (json_int_t)shown->options->repeat,
        "instructions", view_json_count(chil_run_instructions(run)), "cycles",
        view_json_count(chil_run_cycles(run)), "seconds", stat_seconds(shown, chil_run_cycles(run)),
        "busy_cycles", busy, "laws", (int)chil_run_laws(run), "counters", json_counters(shown),
        "derived", json_metrics(shown));
    if (chil_run_nodes(run) > 1) stat_json_nodes(shown, json);
    const char *environment = shown->options->program.run.environment;
    if (environment) (void)json_object_set_new(json, "environment", json_string(environment));
    if (chil_run_memory(run)) {
        (void)json_object_set_new(json, "memory", json_string(chil_run_memory(run)));
        (void)json_object_set_new(json, "cycles", json_null());
        (void)json_object_set_new(json, "seconds", json_null());
        (void)json_object_set_new(json, "busy_cycles", json_null());
    }
    const char *partial = shown->options->program.partial;
    if (partial) (void)json_object_set_new(json, "partial", json_string(partial));
    if (partial) (void)json_object_set_new(json, "exit_status", json_null());
    return json;
}

bool stat_print_json(FILE *out, const struct stat_shown *shown)
{
    return view_json_write(stat_json(shown), out, JSON_INDENT(2));
}
