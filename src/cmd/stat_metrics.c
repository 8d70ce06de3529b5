/* Derived metrics: rows of a text file, evaluated over the counts of a core or of all.
 *
 * A formula has numbers, + - * /, parentheses, names of the machine's events, and
 *     cycles      of the run: the time of the core that ended last
 *     busy        cycles in which the core had something to run; of all cores added up
 *     wall_time   seconds of the run; user_time: busy in seconds
 *     peak        floating-point operations that were possible in the run
 *     line        bytes of a line in L3 and DDR
 * The same grammar as libHPM's (guest/lib/libhpm.c), so a file for one serves the other, busy, peak
 * and line apart. A formula is checked when it is read; afterwards it can only divide by zero.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/stat.h"

enum { FILE_MAX = 1 << 20, NAME_LENGTH = 120, DEPTH_MAX = 64 };

/* Evaluating; with shown->run NULL only the grammar and the names are looked at. */
struct formula {
    const char *at;
    const struct stat_shown *shown;
    int core;
    unsigned depth;
    bool undefined;
    char wrong[200]; /* what is; "" when nothing */
};

static double sum(struct formula *f);

static void blanks(struct formula *f)
{
    f->at += strspn(f->at, " \t");
}

static uint64_t number_or(const struct chil_machine *machine, const char *key, uint64_t otherwise)
{
    uint64_t value;
    return chil_machine_number(machine, key, &value) ? otherwise : value;
}

static double busy(const struct stat_shown *shown, int core)
{
    double cycles = 0;
    for (unsigned i = 0; i < chil_run_cores(shown->run); i++)
        if (core == STAT_TOTAL || core == (int)i)
            cycles += (double)chil_run_core_cycles(shown->run, i);
    return cycles;
}

enum name { CYCLES, BUSY, WALL_TIME, USER_TIME, PEAK, LINE, NAMES };
static const char *const names[NAMES] = {"cycles",    "busy", "wall_time",
                                         "user_time", "peak", "line"};

static double value_of(const struct stat_shown *shown, int core, enum name name)
{
    double hertz = 1e6 * (double)number_or(shown->machine, "machine.clock_mhz", 1);
    double cycles = (double)chil_run_cycles(shown->run);
    switch (name) {
    case CYCLES: return cycles;
    case BUSY: return busy(shown, core);
    case WALL_TIME: return cycles / hertz;
    case USER_TIME: return busy(shown, core) / hertz;
    case PEAK: /* an FMA in every element and cycle */
        return 2 * cycles * (double)number_or(shown->machine, "machine.fpu_elements", 1) *
               (core == STAT_TOTAL ? chil_run_cores(shown->run) : 1);
    case LINE: return (double)number_or(shown->machine, "l3.line", 128);
    default: return 0;
    }
}

static double event_value(struct formula *f, const char *name)
{
    const struct chil_event *event;
    struct chil_error err = {0};
    uint64_t count = 0;
    if (chil_machine_find_event(f->shown->machine, name, &event, &err)) {
        if (!*f->wrong) (void)snprintf(f->wrong, sizeof f->wrong, "%.190s", err.text);
        return 0;
    }
    if (cmd_event_is_off(event) && !*f->wrong)
        (void)snprintf(f->wrong, sizeof f->wrong,
                       "'%.60s' is not counted while %.40s is off; use --set %.40s=on", event->name,
                       event->needs, event->needs);
    if (f->shown->run && !stat_count(f->shown, f->core, event, &count)) f->undefined = true;
    return (double)count;
}

static double named(struct formula *f)
{
    char name[NAME_LENGTH];
    size_t length = 0;
    while (isalnum((unsigned char)f->at[length]) || f->at[length] == '_')
        length++;
    if (!length || length >= sizeof name) {
        if (!*f->wrong)
            (void)snprintf(f->wrong, sizeof f->wrong,
                           "a number, a name or '(' is missing at '%.40s'", f->at);
        return 0;
    }
    (void)snprintf(name, sizeof name, "%.*s", (int)length, f->at);
    f->at += length;
    for (int i = 0; i < NAMES; i++)
        if (strcmp(name, names[i]) == 0)
            return f->shown->run ? value_of(f->shown, f->core, (enum name)i) : 1;
    return event_value(f, name);
}

static double atom(struct formula *f)
{
    blanks(f);
    if (*f->at == '(') {
        f->at++;
        if (++f->depth > DEPTH_MAX && !*f->wrong)
            (void)snprintf(f->wrong, sizeof f->wrong, "too many parentheses");
        double value = *f->wrong ? 0 : sum(f);
        f->depth--;
        blanks(f);
        if (*f->at == ')')
            f->at++;
        else if (!*f->wrong)
            (void)snprintf(f->wrong, sizeof f->wrong, "')' is missing at '%.40s'", f->at);
        return value;
    }
    if (isdigit((unsigned char)*f->at)) {
        char *end;
        double value = strtod(f->at, &end);
        f->at = end;
        return value;
    }
    return named(f);
}

static double product(struct formula *f)
{
    double value = atom(f);
    for (blanks(f); !*f->wrong && (*f->at == '*' || *f->at == '/'); blanks(f)) {
        bool divide = *f->at++ == '/';
        double by = atom(f);
        if (divide && by == 0)
            f->undefined = true;
        else
            value = divide ? value / by : value * by;
    }
    return value;
}

static double sum(struct formula *f)
{
    double value = product(f);
    for (blanks(f); !*f->wrong && (*f->at == '+' || *f->at == '-'); blanks(f)) {
        bool minus = *f->at++ == '-';
        double by = product(f);
        value = minus ? value - by : value + by;
    }
    return value;
}

bool stat_metric(const struct stat_shown *shown, int core, const struct stat_metric *metric,
                 double *value)
{
    struct formula f = {.at = metric->formula, .shown = shown, .core = core};
    *value = sum(&f);
    return !f.undefined;
}

/* --- Reading --------------------------------------------------------------------------------- */

/* One of the fields between semicolons, without the blanks around it; NULL when there is none. */
static const char *field(char **rest)
{
    char *text = strsep(rest, ";");
    if (!text) return NULL;
    text += strspn(text, " \t");
    for (char *end = text + strlen(text); end > text && isspace((unsigned char)end[-1]);)
        *--end = 0;
    return text;
}

/* "ratio NAME = formula unit UNIT", the other way to write a row; false: it is none. */
static bool take_ratio(struct stat_metric *row, char *line)
{
    static const char word[] = "ratio";
    if (strncmp(line, word, sizeof word - 1) != 0 || !strchr(" \t", line[sizeof word - 1]))
        return false;
    char *rest = line + sizeof word - 1, *equals = strchr(rest, '='),
         *unit = strstr(rest, " unit ");
    if (!equals || (unit && unit < equals)) return false;
    *equals = 0;
    if (unit) *unit = 0;
    row->text = field(&rest);
    rest = equals + 1;
    row->formula = field(&rest);
    rest = unit ? unit + strlen(" unit ") : equals;
    row->unit = field(&rest);
    char *quote = unit && *row->unit == '"' ? strrchr(++row->unit, '"') : NULL;
    if (quote) *quote = 0;
    return *row->text;
}

static int take_row(struct stat_metrics *metrics, const struct chil_machine *machine, char *line,
                    const char *file, unsigned number)
{
    struct stat_metric row;
    if (!take_ratio(&row, line)) {
        row.text = field(&line);
        row.unit = field(&line);
        row.formula = field(&line);
        if (!row.formula || line || !*row.text)
            return cmd_fail(
                "stat",
                "%s:%u: a row is 'text ; unit ; formula' or 'ratio NAME = formula unit UNIT'", file,
                number);
    }
    const struct stat_shown nothing = {.machine = machine};
    struct formula f = {.at = row.formula, .shown = &nothing};
    (void)sum(&f);
    blanks(&f);
    if (!*f.wrong && *f.at)
        (void)snprintf(f.wrong, sizeof f.wrong, "not part of a formula: '%.40s'", f.at);
    if (*f.wrong) return cmd_fail("stat", "%s:%u: %s", file, number, f.wrong);
    if (metrics->count == METRICS_MAX)
        return cmd_fail("stat", "%s:%u: more than %d rows", file, number, METRICS_MAX);
    metrics->rows[metrics->count++] = row;
    return 0;
}

static int read_rows(struct stat_metrics *metrics, const struct chil_machine *machine, FILE *in,
                     const char *file)
{
    metrics->bytes = calloc(1, FILE_MAX + 1);
    if (!metrics->bytes) return cmd_fail("stat", "out of memory");
    size_t length = fread(metrics->bytes, 1, FILE_MAX, in);
    if (ferror(in)) return cmd_fail("stat", "cannot read '%s': %s", file, strerror(errno));
    if (length == FILE_MAX) return cmd_fail("stat", "'%s' is too long for a file of metrics", file);
    if (strlen(metrics->bytes) != length) return cmd_fail("stat", "'%s' is not a text file", file);
    unsigned number = 0;
    for (char *rest = metrics->bytes, *line; (line = strsep(&rest, "\n"));) {
        number++;
        line += strspn(line, " \t\r");
        if (!*line || *line == '#') continue;
        int status = take_row(metrics, machine, line, file, number);
        if (status) return status;
    }
    return 0;
}

int stat_metrics_read(struct stat_metrics *metrics, const struct chil_machine *machine,
                      const char *file, const char *name)
{
    char folder[4000], path[4096];
    struct chil_error err = {0};
    size_t own;
    if (!file) {
        (void)chil_machine_own_events(machine, &own);
        if (!own) return 0; /* the rows are about the simulator's own counters */
        if (chil_data_directory(folder, sizeof folder, &err)) return cmd_fail_error("stat", &err);
        (void)snprintf(path, sizeof path, "%s/metrics/%s.metrics", folder, name);
        file = path;
    }
    FILE *in = fopen(file, "r");
    if (!in) return cmd_fail("stat", "cannot open '%s': %s", file, strerror(errno));
    int status = read_rows(metrics, machine, in, file);
    (void)fclose(in);
    return status;
}

void stat_metrics_fini(struct stat_metrics *metrics)
{
    free(metrics->bytes);
}
