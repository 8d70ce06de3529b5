/* How counts are shown: a table with a column for each core, the report of libHPM, lines for
 * programs, JSON. */
#include "cmd/stat.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool stat_count(const struct stat_shown *shown, int core, const struct chil_event *event,
                uint64_t *count)
{
    if (core != STAT_TOTAL) return chil_run_core_count(shown->run, (unsigned)core, event, count);
    *count = chil_run_count(shown->run, event);
    return true;
}

static double seconds(const struct stat_shown *shown, uint64_t cycles)
{
    uint64_t mhz;
    return chil_machine_number(shown->machine, "machine.clock_mhz", &mhz) || !mhz
               ? 0
               : (double)cycles / (double)mhz * 1e-6;
}

/* --- The table ------------------------------------------------------------------------------- */

/* More than so many columns of cores are printed only when they are asked for. */
enum { CORES_USUAL = 4, WIDTH_LEAST = 12, CELL = 40 };

struct columns {
    int cores[COLUMNS_MAX]; /* STAT_TOTAL last */
    size_t count;
    int width;
};

static unsigned cores_at_work(const struct chil_run *run, int *only)
{
    unsigned at_work = 0;
    for (unsigned core = 0; core < chil_run_cores(run); core++)
        if (chil_run_core_cycles(run, core)) {
            at_work++;
            *only = (int)core;
        }
    return at_work;
}

static bool has_core_events(const struct stat_shown *shown)
{
    uint64_t count;
    for (size_t i = 0; i < shown->chosen->count; i++)
        if (stat_count(shown, 0, shown->chosen->events[i], &count)) return true;
    return false;
}

static const char *count_cell(const struct stat_shown *shown, int core,
                              const struct chil_event *event, char cell[CELL])
{
    uint64_t count;
    if (event->exactness == CHIL_NONE || !stat_count(shown, core, event, &count)) return "-";
    return view_grouped(count, cell);
}

static const char *metric_cell(const struct stat_shown *shown, int core,
                               const struct stat_metric *metric, char cell[CELL])
{
    double value;
    if (!stat_metric(shown, core, metric, &value)) return "-";
    (void)snprintf(cell, CELL, "%.3f", value);
    return cell;
}

/* Which columns there are, and how wide. */
static void lay_out(const struct stat_shown *shown, struct columns *columns)
{
    char cell[CELL];
    int only = 0;
    unsigned at_work = cores_at_work(shown->run, &only);
    bool usual = at_work > 1 && at_work <= CORES_USUAL;
    columns->count = 0;
    for (unsigned core = 0; core < chil_run_cores(shown->run) && columns->count + 1 < COLUMNS_MAX;
         core++)
        if (has_core_events(shown) &&
            (shown->options->per_core || (usual && chil_run_core_cycles(shown->run, core))))
            columns->cores[columns->count++] = (int)core;
    columns->cores[columns->count++] = STAT_TOTAL;
    columns->width = columns->count == 1 ? 18 : WIDTH_LEAST;
    for (size_t i = 0; i < shown->chosen->count; i++) {
        int length = (int)strlen(count_cell(shown, STAT_TOTAL, shown->chosen->events[i], cell));
        if (length + 1 > columns->width) columns->width = length + 1;
    }
}

static void print_heading(FILE *out, const struct stat_shown *shown, const struct columns *columns)
{
    int only = 0;
    unsigned cores = chil_run_cores(shown->run), at_work = cores_at_work(shown->run, &only);
    (void)fprintf(out, "\n counters of '%s' on %s", shown->options->program.run.program,
                  chil_machine_name(shown->machine));
    if (at_work == 1)
        (void)fprintf(out, ", core %d\n\n", only);
    else
        (void)fprintf(out, ", %u of %u cores at work%s\n\n", at_work, cores,
                      columns->count == 1 && has_core_events(shown) ? " (--per-core shows each)"
                                                                    : "");
    if (columns->count == 1) return;
    for (size_t c = 0; c < columns->count; c++) {
        char name[CELL] = "total";
        if (columns->cores[c] != STAT_TOTAL)
            (void)snprintf(name, sizeof name, "core %d", columns->cores[c]);
        (void)fprintf(out, " %*s", columns->width, name);
    }
    (void)fputs("\n\n", out);
}

static void print_events(FILE *out, const struct stat_shown *shown, const struct columns *columns)
{
    char cell[CELL];
    int longest = 0;
    for (size_t i = 0; i < shown->chosen->count; i++) {
        int length = (int)strlen(shown->chosen->events[i]->name);
        if (length > longest) longest = length;
    }
    for (size_t i = 0; i < shown->chosen->count; i++) {
        const struct chil_event *event = shown->chosen->events[i];
        for (size_t c = 0; c < columns->count; c++)
            (void)fprintf(out, " %*s", columns->width,
                          count_cell(shown, columns->cores[c], event, cell));
        if (columns->count == 1)
            (void)fprintf(out, "  %-*s  %s%s\n", longest, event->name, event->text,
                          event->exactness == CHIL_MODELLED ? " (modelled)" : "");
        else
            (void)fprintf(out, "  %s\n", event->name);
    }
}

/* Rows that have no value in any column are left out: there are no bytes per flop without flops. */
static void print_metrics(FILE *out, const struct stat_shown *shown, const struct columns *columns)
{
    char cell[CELL];
    double value;
    if (shown->metrics->count) (void)fputc('\n', out);
    for (size_t i = 0; i < shown->metrics->count; i++) {
        const struct stat_metric *metric = &shown->metrics->rows[i];
        if (!stat_metric(shown, STAT_TOTAL, metric, &value)) continue;
        for (size_t c = 0; c < columns->count; c++)
            (void)fprintf(out, " %*s", columns->width,
                          metric_cell(shown, columns->cores[c], metric, cell));
        (void)fprintf(out, "  %s%s%s\n", metric->text, *metric->unit ? ", " : "", metric->unit);
    }
}

static void print_end(FILE *out, const struct stat_shown *shown)
{
    char number[VIEW_GROUPED_MAX];
    uint64_t cycles = chil_run_cycles(shown->run), mhz;
    (void)fprintf(out, "\n%s cycles, ", view_grouped(cycles, number));
    if (!chil_machine_number(shown->machine, "machine.clock_mhz", &mhz))
        (void)fprintf(out, "%.6f s at %" PRIu64 " MHz, ", seconds(shown, cycles), mhz);
    (void)fprintf(out, "exit status %d\n", chil_run_status(shown->run));
    if (shown->options->repeat > 1)
        (void)fprintf(out, "%" PRIu64 " runs, every count the same in all of them\n",
                      shown->options->repeat);
}

static void print_table(FILE *out, const struct stat_shown *shown)
{
    struct columns columns;
    lay_out(shown, &columns);
    print_heading(out, shown, &columns);
    print_events(out, shown, &columns);
    if (!shown->options->pattern_count || shown->options->metrics)
        print_metrics(out, shown, &columns);
    print_end(out, shown);
}

/* --- The report of libHPM -------------------------------------------------------------------- */

/* The rows of figure 2 (BGL-25): the simulator's own counters 0 to 14, with the figure's texts. */
static const char *const hpm_texts[] = {
    "Instructions completed",    "Loads completed",
    "Stores completed",          "L1 data hits (l/s)",
    "L1 data load misses",       "L1 data store misses",
    "L1 instruction misses",     "L2 data load misses",
    "Data TLB misses",           "Instruction TLB misses",
    "Floating point loads",      "Floating point stores",
    "Floating point divides",    "Floating point multiply-add",
    "Floating point operations",
};

static uint64_t busy_of_all(const struct chil_run *run)
{
    uint64_t cycles = 0;
    for (unsigned core = 0; core < chil_run_cores(run); core++)
        cycles += chil_run_core_cycles(run, core);
    return cycles;
}

static void print_hpm(FILE *out, const struct stat_shown *shown)
{
    size_t count;
    const struct chil_event *own = chil_machine_own_events(shown->machine, &count);
    (void)fprintf(out, "\n Entire program: %s on %s\n", shown->options->program.run.program,
                  chil_machine_name(shown->machine));
    (void)fprintf(out, "  Wall Clock Time: %.9f seconds\n",
                  seconds(shown, chil_run_cycles(shown->run)));
    (void)fprintf(out, "  Total time in user mode: %.9f seconds\n\n",
                  seconds(shown, busy_of_all(shown->run)));
    (void)fprintf(out, "  %-44s   %17s %12s\n", "Counter", "User", "Kernel");
    for (size_t i = 0; i < count && i < sizeof hpm_texts / sizeof *hpm_texts; i++) {
        char name[100];
        (void)snprintf(name, sizeof name, "%s (%s)", own[i].name, hpm_texts[i]);
        (void)fprintf(out, "  %-44s : %17" PRIu64 " %12d\n", name,
                      chil_run_count(shown->run, &own[i]), 0);
    }
    (void)fputc('\n', out);
    for (size_t i = 0; i < shown->metrics->count; i++) {
        const struct stat_metric *metric = &shown->metrics->rows[i];
        char cell[CELL];
        double value;
        bool is = stat_metric(shown, STAT_TOTAL, metric, &value);
        (void)fprintf(out, "  %-44s : %17s%s%s\n", metric->text,
                      metric_cell(shown, STAT_TOTAL, metric, cell), is && *metric->unit ? " " : "",
                      is ? metric->unit : "");
    }
    (void)fputs("\n  Kernel counts are 0: in user-mode runs the simulator is the kernel.\n", out);
}

/* --- For programs ---------------------------------------------------------------------------- */

/* A line; the column first when there are several. */
static void start_line(FILE *out, const struct stat_shown *shown, int core)
{
    if (!shown->options->per_core) return;
    if (core == STAT_TOTAL)
        (void)fprintf(out, "total%s", shown->options->separator);
    else
        (void)fprintf(out, "%d%s", core, shown->options->separator);
}

static void print_separated_column(FILE *out, const struct stat_shown *shown, int core)
{
    const char *s = shown->options->separator;
    for (size_t i = 0; i < shown->chosen->count; i++) {
        const struct chil_event *event = shown->chosen->events[i];
        uint64_t count;
        if (!stat_count(shown, core, event, &count)) continue;
        start_line(out, shown, core);
        (void)fprintf(out, "%" PRIu64 "%s%s%s%s%s%s\n", count, s, event->unit, s, event->name, s,
                      chil_exactness_word((int)event->exactness));
    }
    if (shown->options->pattern_count && !shown->options->metrics) return;
    for (size_t i = 0; i < shown->metrics->count; i++) {
        const struct stat_metric *metric = &shown->metrics->rows[i];
        double value;
        if (!stat_metric(shown, core, metric, &value)) continue;
        start_line(out, shown, core);
        (void)fprintf(out, "%.9g%s%s%s%s%sderived\n", value, s, metric->unit, s, metric->text, s);
    }
}

static void print_separated(FILE *out, const struct stat_shown *shown)
{
    for (unsigned core = 0; shown->options->per_core && core < chil_run_cores(shown->run); core++)
        print_separated_column(out, shown, (int)core);
    print_separated_column(out, shown, STAT_TOTAL);
}

static json_t *json_counters(const struct stat_shown *shown)
{
    json_t *counters = json_array();
    for (size_t i = 0; i < shown->chosen->count; i++) {
        const struct chil_event *event = shown->chosen->events[i];
        json_t *row =
            json_pack("{s:s, s:o, s:s, s:s}", "name", event->name, "value",
                      view_json_count(chil_run_count(shown->run, event)), "unit", event->unit,
                      "exactness", chil_exactness_word((int)event->exactness));
        json_t *cores = json_array();
        uint64_t count;
        for (unsigned core = 0; chil_run_core_count(shown->run, core, event, &count); core++)
            json_array_append_new(cores, view_json_count(count));
        if (json_array_size(cores)) json_object_set(row, "cores", cores);
        json_decref(cores);
        json_array_append_new(counters, row);
    }
    return counters;
}

static json_t *json_value(const struct stat_shown *shown, int core,
                          const struct stat_metric *metric)
{
    double value;
    return stat_metric(shown, core, metric, &value) ? json_real(value) : json_null();
}

static json_t *json_metrics(const struct stat_shown *shown)
{
    json_t *derived = json_array();
    for (size_t i = 0; i < shown->metrics->count; i++) {
        const struct stat_metric *metric = &shown->metrics->rows[i];
        json_t *cores = json_array();
        for (unsigned core = 0; core < chil_run_cores(shown->run); core++)
            json_array_append_new(cores, json_value(shown, (int)core, metric));
        json_array_append_new(derived,
                              json_pack("{s:s, s:o, s:s, s:s, s:o}", "name", metric->text, "value",
                                        json_value(shown, STAT_TOTAL, metric), "unit", metric->unit,
                                        "formula", metric->formula, "cores", cores));
    }
    return derived;
}

static bool print_json(FILE *out, const struct stat_shown *shown)
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
        view_json_count(chil_run_cycles(run)), "seconds", seconds(shown, chil_run_cycles(run)),
        "busy_cycles", busy, "laws", (int)chil_run_laws(run), "counters", json_counters(shown),
        "derived", json_metrics(shown));
    bool good = json_dumpf(json, out, JSON_INDENT(2) | JSON_PRESERVE_ORDER) == 0;
    (void)fputc('\n', out);
    json_decref(json);
    return good;
}

bool stat_print(FILE *out, const struct stat_shown *shown)
{
    bool good = true;
    if (shown->options->json)
        good = print_json(out, shown);
    else if (shown->options->separator)
        print_separated(out, shown);
    else if (shown->options->hpm)
        print_hpm(out, shown);
    else
        print_table(out, shown);
    return good && fflush(out) == 0 && !ferror(out);
}
