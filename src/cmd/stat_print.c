/* How counts are shown: a table with a column for each core, separated values, JSON. */
#include "cmd/stat.h"

#include <inttypes.h>
#include <string.h>

/* Without --per-core, cores have columns where at least two and at most so many had work. */
enum { CORES_USUAL = 4, WIDTH = 12, WIDTH_NARROW = 9, WIDTH_ALONE = 18, TEXT = 1000 };

bool stat_count(const struct stat_shown *shown, int column, const struct chil_event *event,
                uint64_t *count)
{
    if (column != STAT_TOTAL && !shown->options->per_node)
        return chil_run_core_count(shown->run, (unsigned)column, event, count);
    *count = column == STAT_TOTAL ? chil_run_count(shown->run, event)
                                  : chil_run_node_count(shown->run, (unsigned)column, event);
    return true;
}

double stat_seconds(const struct stat_shown *shown, uint64_t cycles)
{
    uint64_t mhz;
    return chil_machine_number(shown->machine, "machine.clock_mhz", &mhz) || !mhz
               ? 0
               : (double)cycles / (double)mhz * 1e-6;
}

struct view_cell stat_count_cell(const struct stat_shown *shown, int column,
                                 const struct chil_event *event)
{
    uint64_t count;
    return stat_count(shown, column, event, &count) ? view_count(count) : (struct view_cell){0};
}

struct view_cell stat_metric_cell(const struct stat_metric *metric, int core)
{
    double value;
    return stat_metric(metric, core, &value) ? view_real(value) : (struct view_cell){0};
}

size_t stat_metric_count(const struct stat_shown *shown)
{
    const struct stat_options *o = shown->options;
    return o->pattern_count && !o->metrics ? 0 : shown->metrics->count;
}

/* --- The table ------------------------------------------------------------------------------- */

/* Numbers of cores or nodes, if any, then the total, then the name and the text of the event. */
struct table {
    int core[STAT_COLUMNS_MAX]; /* or node; STAT_TOTAL last */
    size_t numbers;
    int terminal; /* its width; 0: any */
    struct view_column column[STAT_COLUMNS_MAX + 2];
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

static void choose_cores(struct table *t, const struct stat_shown *shown)
{
    int only = 0;
    unsigned at_work = cores_at_work(shown->run, &only);
    bool usual = at_work > 1 && at_work <= CORES_USUAL && chil_run_nodes(shown->run) == 1,
         any = has_core_events(shown);
    t->numbers = 0;
    if (shown->options->per_node) {
        for (unsigned n = 0; n < chil_run_nodes(shown->run) && t->numbers + 1 < STAT_COLUMNS_MAX;
             n++)
            t->core[t->numbers++] = (int)n;
        any = false;
    }
    for (unsigned core = 0;
         any && core < chil_run_cores(shown->run) && t->numbers + 1 < STAT_COLUMNS_MAX; core++)
        if (shown->options->per_core || (usual && chil_run_core_cycles(shown->run, core)))
            t->core[t->numbers++] = (int)core;
    t->core[t->numbers++] = STAT_TOTAL;
}

/* All numbers are as wide as the longest count, and WIDTH at least where there is room. */
static int number_width(const struct table *t, const struct stat_shown *shown)
{
    int width = t->numbers == 1 ? WIDTH_ALONE : t->terminal ? WIDTH_NARROW : WIDTH;
    for (size_t i = 0; i < shown->chosen->count; i++) {
        char text[VIEW_GROUPED_MAX];
        if (shown->chosen->events[i]->exactness == CHIL_NONE) continue;
        uint64_t count = chil_run_count(shown->run, shown->chosen->events[i]);
        int length = (int)strlen(view_grouped(count, text));
        if (length + 1 > width) width = length + 1;
    }
    return width;
}

static int name_width(const struct stat_shown *shown)
{
    int width = 0;
    for (size_t i = 0; i < shown->chosen->count; i++) {
        int length = view_width(shown->chosen->events[i]->name);
        if (length > width) width = length;
    }
    return width;
}

/* Columns of cores that were not asked for are left out where the names would not fit. */
static void set_columns(struct table *t, const struct stat_shown *shown, FILE *out)
{
    t->terminal = view_terminal_width(out);
    choose_cores(t, shown);
    int width = number_width(t, shown);
    if (t->terminal && t->numbers > 1 && !shown->options->per_core &&
        (int)t->numbers * (width + 1) + 3 + name_width(shown) > t->terminal) {
        t->core[0] = STAT_TOTAL;
        t->numbers = 1;
        width = number_width(t, shown);
    }
    for (size_t i = 0; i < t->numbers; i++)
        t->column[i] = (struct view_column){.title = "",
                                            .least = i ? width : width + 1, /* a blank before */
                                            .fixed = true,
                                            .gap = " ",
                                            .real = "%.3f",
                                            .none = "-"};
    t->column[t->numbers] = (struct view_column){.title = "", .left = true, .fit = VIEW_FIT_MIDDLE};
    t->column[t->numbers + 1] =
        (struct view_column){.title = "", .left = true, .least = 1, .fit = VIEW_FIT_NOTE};
}

/* The text has room beside a single column of numbers only. */
static void table_init(struct view *view, const struct table *t)
{
    view_init(view, t->column, t->numbers + (t->numbers == 1 ? 2 : 1));
}

const char *stat_memory_text(const char *model)
{
    return strcmp(model, "l1") == 0 ? "exact events and those of L1 and TLB" : "exact events only";
}

static void print_heading(FILE *out, const struct stat_shown *shown, const struct table *t)
{
    int only = 0, width = t->column[0].least - 1;
    unsigned cores = chil_run_cores(shown->run), at_work = cores_at_work(shown->run, &only);
    (void)fprintf(out, "\n counters of '%s' on %s", shown->options->program.shown,
                  chil_machine_name(shown->machine));
    char text[STAT_PLACE];
    if (chil_run_nodes(shown->run) > 1) (void)fprintf(out, ", %s", stat_shape(shown->run, text));
    if (at_work == 1)
        (void)fprintf(out, ", core %d\n", only);
    else
        (void)fprintf(out, ", %u of %u cores at work%s\n", at_work, cores,
                      t->numbers == 1 && has_core_events(shown) ? " (--per-core shows each)" : "");
    const char *environment = shown->options->program.run.environment;
    if (environment) (void)fprintf(out, " environment: %s\n", environment);
    const char *memory = chil_run_memory(shown->run);
    if (memory)
        (void)fprintf(out, " memory: %s; %s, no cycles\n", memory, stat_memory_text(memory));
    const char *partial = shown->options->program.partial;
    if (partial) (void)fprintf(out, " partial: %s; counts so far\n", partial);
    (void)fputc('\n', out);
    if (t->numbers == 1) return;
    for (size_t i = 0; i < t->numbers; i++) {
        char name[STAT_PLACE] = "total";
        if (t->core[i] != STAT_TOTAL && shown->options->per_node)
            (void)stat_place(shown->run, (unsigned)t->core[i], name);
        else if (t->core[i] != STAT_TOTAL)
            (void)snprintf(name, sizeof name, "core %d", t->core[i]);
        (void)fprintf(out, " %*s", width, name);
    }
    (void)fputs("\n\n", out);
}

static void print_events(FILE *out, const struct stat_shown *shown, const struct table *t)
{
    struct view view;
    table_init(&view, t);
    for (size_t i = 0; i < shown->chosen->count; i++) {
        const struct chil_event *event = shown->chosen->events[i];
        struct view_cell *cell = view_row(&view);
        char text[TEXT];
        for (size_t n = 0; n < t->numbers && event->exactness != CHIL_NONE; n++)
            cell[n] = stat_count_cell(shown, t->core[n], event);
        cell[t->numbers] = view_text(event->name);
        (void)snprintf(text, sizeof text, "%s%s", event->text,
                       event->exactness == CHIL_MODELLED ? " (modelled)" : "");
        if (t->numbers == 1) cell[t->numbers + 1] = view_copy(&view, text);
    }
    view_table(&view, out, &(struct view_table_style){.width = t->terminal});
    view_fini(&view);
}

/* A metric without a value in the total is left out: there are no bytes per flop without flops. */
static void print_metrics(FILE *out, const struct stat_shown *shown, const struct table *t)
{
    struct view view;
    bool any = false;
    view_init(&view, t->column, t->numbers + 1);
    for (size_t i = 0; i < stat_metric_count(shown); i++) {
        const struct stat_metric *metric = &shown->metrics->rows[i];
        char text[TEXT];
        if (stat_metric_cell(metric, STAT_TOTAL).kind == VIEW_NONE) continue;
        struct view_cell *cell = view_row(&view);
        any = true;
        for (size_t n = 0; n < t->numbers; n++)
            if (t->core[n] == STAT_TOTAL || !shown->options->per_node)
                cell[n] = stat_metric_cell(metric, t->core[n]);
        (void)snprintf(text, sizeof text, "%s%s%s", metric->text, *metric->unit ? ", " : "",
                       metric->unit);
        cell[t->numbers] = view_copy(&view, text);
    }
    if (any) (void)fputc('\n', out);
    view_table(&view, out, &(struct view_table_style){.width = t->terminal});
    view_fini(&view);
}

static void print_end(FILE *out, const struct stat_shown *shown)
{
    char number[VIEW_GROUPED_MAX];
    uint64_t cycles = chil_run_cycles(shown->run), mhz;
    bool whole = !chil_run_memory(shown->run);
    (void)fputc('\n', out);
    if (whole) (void)fprintf(out, "%s cycles, ", view_grouped(cycles, number));
    if (whole && !chil_machine_number(shown->machine, "machine.clock_mhz", &mhz))
        (void)fprintf(out, "%.6f s at %" PRIu64 " MHz, ", stat_seconds(shown, cycles), mhz);
    int failed = chil_run_failed_node(shown->run);
    if (chil_run_was_stopped(shown->run))
        (void)fputs("no exit status: partial", out);
    else
        (void)fprintf(out, "exit status %d", chil_run_status(shown->run));
    if (chil_run_nodes(shown->run) > 1 && failed >= 0) (void)fprintf(out, " of node %d", failed);
    (void)fputc('\n', out);
    if (shown->options->repeat > 1)
        (void)fprintf(out, "%" PRIu64 " runs, every count the same in all of them\n",
                      shown->options->repeat);
}

static void print_table(FILE *out, const struct stat_shown *shown)
{
    struct table table;
    set_columns(&table, shown, out);
    print_heading(out, shown, &table);
    if (chil_run_nodes(shown->run) > 1 && table.numbers == 1)
        stat_print_spreads(out, shown);
    else
        print_events(out, shown, &table);
    print_metrics(out, shown, &table);
    print_end(out, shown);
}

bool stat_print(FILE *out, const struct stat_shown *shown)
{
    bool good = true;
    if (shown->options->json)
        good = stat_print_json(out, shown);
    else if (shown->options->separator)
        stat_print_lines(out, shown);
    else if (shown->options->hpm)
        stat_print_hpm(out, shown);
    else
        print_table(out, shown);
    return good && fflush(out) == 0 && !ferror(out);
}
