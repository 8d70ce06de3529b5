/* libHPM over BGLCounters: sections, and the report of paper 002's figure 2.
 *
 * Every start and stop takes a sample of the clocks and the counters; a section's values are sums of differences. All
 * values are 64-bit integers until the report, so the library itself never executes a floating-point instruction
 * inside a section. What is decided here, and why:
 * - hpmStart and hpmStop stop the counters on entry and start them again on exit: the library's own work is in no
 *   section, however often an inner section is entered. What remains is a constant of some instructions. hpmTstart and
 *   hpmTstop cannot do that, because the counters are those of the process and other threads work meanwhile; the work
 *   of their calls is in the sections around them.
 * - Times are times of the clock and include the library. All of them are simulated.
 * - Exclusive values are collected interval by interval, at the stop: what an interval that never ends had inside
 *   cannot make them negative. Nesting is per thread.
 * - Intervals that are still open at hpmTerminate are not in the report.
 * - HPM_AGGREGATE=yes makes hpmTerminate a collective call of MPI, if it comes before MPI_Finalize: rank 0 also writes a
 *   report whose values are sums over all ranks. A section is what has the same number, with rank 0's label if it has
 *   one. Rates of sums are rates of a mean process. It is not the default, as not all ranks need use the library.
 * - Cycles are ticks of the time base, which on this machine is the clock of the core.
 * - Loads and stores of integers and of floating-point values are counted apart (BGL-26): formulas add them. BGL_FLOPS
 * has an FMA as one operation (BGL-27) and BGL_FLOP has it as two; their difference is the FMA operations, also when
 * two pipes work, where BGL_FMA counts instructions.
 */
#include "libhpm.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "bglcounters.h"
#include "chiliad/callthru.h"
#include "libhpm_impl.h"

enum { SECTIONS = 100, PATH = 512, LINE = 512, LONGEST_LABEL = 255 };

/* Values: clocks, then the counters that have names, of the user and of the kernel. A sample has room behind them,
 * because reading always writes BGLCOUNTERS. */
enum {
    KEPT = 32,
    WALL = 0,
    CPU,
    CYCLES,
    USER,
    KERNEL = USER + KEPT,
    VALUES = KERNEL + KEPT,
    SAMPLE = KERNEL + BGLCOUNTERS
};

/* The rows of figure 2 are the counters 0 to 14, with the figure's own texts. */
static const char *const row_text[HPM_COUNTERS] = {
    "Instructions completed",    "Loads completed",
    "Stores completed",          "L1 data hits (l/s)",
    "L1 data load misses",       "L1 data store misses",
    "L1 instruction misses",     "L2 data load misses",
    "Data TLB misses",           "Instruction TLB misses",
    "Floating point loads",      "Floating point stores",
    "Floating point divides",    "Floating point multiply-add",
    "Floating point operations",
};

/* The derived metrics, of user values: "text ; unit ; formula". A file that HPM_METRICS_FILE names has such lines in
 * their place. A name is that of a counter, or wall_time, user_time (seconds) or cycles. */
#define ACCESSES "(BGL_LOAD + BGL_STORE + BGL_FP_LOAD + BGL_FP_STORE)"
static const char *const metrics[] = {
    "Utilization rate ; % ; 100 * user_time / wall_time",
    "MIPS ; ; BGL_INST / 1e6 / wall_time",
    "Instructions per cycle ; of elapsed time ; BGL_INST / cycles",
    "Load and store operations ; M ; " ACCESSES " / 1e6",
    "Instructions per load/store ; ; BGL_INST / " ACCESSES,
    "L1 D cache hit rate ; % ; 100 * (1 - (BGL_D1_L_MISS + BGL_D1_S_MISS) / " ACCESSES ")",
    "Loads per L1 D cache load miss ; ; (BGL_LOAD + BGL_FP_LOAD) / BGL_D1_L_MISS",
    "Stores per L1 D cache store miss ; ; (BGL_STORE + BGL_FP_STORE) / BGL_D1_S_MISS",
    "Load/stores per L1 D cache miss ; ; " ACCESSES " / (BGL_D1_L_MISS + BGL_D1_S_MISS)",
    "Loads per L2 data load miss ; ; (BGL_LOAD + BGL_FP_LOAD) / BGL_D2_MISS",
    "Average number of loads per TLB miss ; ; (BGL_LOAD + BGL_FP_LOAD) / BGL_DTLB_MISS",
    "Cycles that loads waited ; % of elapsed time ; 100 * BGL_STALL_LOAD / cycles",
    "DDR traffic ; Mbytes/s ; 128 * (BGL_DDR_READ + BGL_DDR_WRITE) / 1e6 / wall_time",
    "Floating point operations + FMAs (flops) ; M ; BGL_FLOP / 1e6",
    "Flop rate (flops / WCT) ; Mflop/s ; BGL_FLOP / 1e6 / wall_time",
    "Flops / user time ; Mflop/s ; BGL_FLOP / 1e6 / user_time",
    "FMA percentage ; % ; 100 * 2 * (BGL_FLOP - BGL_FLOPS) / BGL_FLOP",
    "Two-pipe percentage ; % ; 100 * 2 * BGL_FP_PAIR / BGL_FLOPS",
    "Quadword percentage of FP loads and stores ; % ; 100 * BGL_FP_QUAD / (BGL_FP_LOAD + BGL_FP_STORE)",
    "Computation intensity ; ; BGL_FLOP / (BGL_FP_LOAD + BGL_FP_STORE)",
};

/* Ways to use the library wrongly: each is reported once per section, or once if there is no section. */
enum mistake {
    NOT_RUNNING,
    TWICE,
    BAD_NUMBER,
    TOO_MANY,
    OPEN_ALREADY,
    NOT_STARTED,
    OTHER_THREAD,
    OVERLAP,
    NEVER_STOPPED,
    OTHER_TASK,
    NO_COUNTERS,
    NO_MEMORY,
    NO_FILE,
    BAD_METRIC
};
static const char *const mistake_text[] = {
    [NOT_RUNNING] = "called before hpmInit or after hpmTerminate: ignored",
    [TWICE] = "hpmInit called again: ignored",
    [BAD_NUMBER] = "a section's number must be positive: ignored",
    [TOO_MANY] = "too many sections, set HPM_NUM_INST_PTS to have more: ignored",
    [OPEN_ALREADY] = "started again without a stop: the second start is ignored",
    [NOT_STARTED] = "stopped without a start: ignored",
    [OTHER_THREAD] = "stopped by another thread than started it: ignored",
    [OVERLAP] = "stopped before a section inside it: exclusive values include the overlap",
    [NEVER_STOPPED] = "started but not stopped at hpmTerminate: that interval is not in the report",
    [OTHER_TASK] = "hpmTerminate has another task than hpmInit, which counts",
    [NO_COUNTERS] = "there are no BGLCounters here: the report has times only",
    [NO_MEMORY] = "out of memory: ignored",
    [NO_FILE] = "a file could not be read or written",
    [BAD_METRIC] = "a metric's formula is wrong: not printed",
};

/* Of libmpi: values of all ranks, added up or the least of each, to all of them. False: MPI does not run. A program
 * without MPI has no such function. */
bool chiliad_mpi_combine(unsigned long long *values, int count, bool least, int *ranks) __attribute__((weak));

struct section {
    int id, first_line, last_line;
    char *label, *file;
    uint64_t count, square_high, square_low; /* the sum of the squares of its durations, 128 bits */
    bool open, parent_of, overlapped;
    unsigned reported;          /* a bit per enum mistake */
    struct section *parent;     /* of the open interval */
    struct section **innermost; /* of the thread that opened it */
    uint64_t start[SAMPLE], inside[VALUES], total[VALUES], exclusive[VALUES];
};

static struct {
    pthread_mutex_t lock;
    enum { BEFORE, RUNNING, AFTER } phase;
    bool counting;
    int task;
    char *program;
    unsigned reported;
    uint64_t start[SAMPLE];
    size_t used, limit;
    struct section **sections; /* `limit` of them, in the order of their first start */
    size_t slots;              /* a power of two; section ids by hash, NULL for free */
    struct section **slot;
} hpm = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __thread struct section *innermost;

int hpm_error_count;

/* ---- mistakes ---- */

static void complain(enum mistake mistake, struct section *section, int id, int line, const char *file)
{
    unsigned *reported = section ? &section->reported : &hpm.reported;
    hpm_error_count++;
    if (*reported & 1u << mistake) return;
    *reported |= 1u << mistake;
    fputs("libhpm: ", stderr);
    if (file && line) fprintf(stderr, "%s:%d: ", file, line);
    if (id) fprintf(stderr, "section %d: ", id);
    fprintf(stderr, "%s\n", mistake_text[mistake]);
}

/* ---- samples ---- */

static uint64_t nanoseconds(clockid_t clock)
{
    struct timespec now;
    return clock_gettime(clock, &now) ? 0 : (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The kernel's counts overwrite the user's counters without names: no copy, which in threads would be counted. */
static void read_counters(uint64_t *values)
{
    if (!hpm.counting) return;
    BGLCounters_Read(values + USER, NULL);
    BGLCounters_Read(NULL, values + KERNEL);
}

/* What is read last at the start is read first at the stop, so that the interval has as little as can be around it. */
static void sample_start(uint64_t *values)
{
    values[WALL] = nanoseconds(CLOCK_MONOTONIC);
    values[CPU] = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
    values[CYCLES] = __builtin_ppc_get_timebase();
    read_counters(values);
}

static void sample_stop(uint64_t *values)
{
    read_counters(values);
    values[CYCLES] = __builtin_ppc_get_timebase();
    values[CPU] = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
    values[WALL] = nanoseconds(CLOCK_MONOTONIC);
}

/* A call begins and ends. `pause` keeps its work out of the counts; the lock is outside, so that taking it is
 * not counted. */
static void enter(bool pause)
{
    if (pause && hpm.counting) BGLCounters_Stop();
    pthread_mutex_lock(&hpm.lock);
}

static void leave(bool pause)
{
    pthread_mutex_unlock(&hpm.lock);
    if (pause && hpm.counting) BGLCounters_Start();
}

/* ---- sections ---- */

static struct section **slot_of(int id)
{
    size_t at = (uint32_t)id * 2654435761u & (hpm.slots - 1);
    while (hpm.slot[at] && hpm.slot[at]->id != id)
        at = (at + 1) & (hpm.slots - 1);
    return &hpm.slot[at];
}

/* A copy in which `unsafe` characters and unprintable ones are '_': readers of reports split lines at them. */
static char *safe_copy(const char *text, const char *unsafe)
{
    char *copy = strndup(text, LONGEST_LABEL);
    for (char *c = copy; c && *c; c++)
        if (strchr(unsafe, *c) || (unsigned char)*c < ' ' || *c == 127) *c = '_';
    return copy;
}

static struct section *section_new(int id, const char *label, int line, const char *file)
{
    char number[32];
    struct section *section = calloc(1, sizeof *section);
    if (!section) return NULL;
    if (!label || !*label) {
        snprintf(number, sizeof number, "section %d", id);
        label = number;
    }
    section->id = id;
    section->first_line = section->last_line = line;
    section->label = safe_copy(label, "-:");
    section->file = safe_copy(file ? file : "unknown", "");
    if (section->label && section->file) return section;
    free(section->label);
    free(section->file);
    free(section);
    return NULL;
}

static const char *no_section(enum mistake mistake, struct section *section, int id, int line, const char *file)
{
    complain(mistake, section, id, line, file);
    return NULL;
}

/* Its label when it was opened, else NULL. */
static const char *open_section(int id, const char *label, int line, const char *file)
{
    if (hpm.phase != RUNNING) return no_section(NOT_RUNNING, NULL, id, line, file);
    if (id <= 0) return no_section(BAD_NUMBER, NULL, id, line, file);
    struct section **slot = slot_of(id), *section = *slot;
    if (!section) {
        if (hpm.used == hpm.limit) return no_section(TOO_MANY, NULL, id, line, file);
        section = section_new(id, label, line, file);
        if (!section) return no_section(NO_MEMORY, NULL, id, line, file);
        hpm.sections[hpm.used++] = *slot = section;
    }
    if (section->open) return no_section(OPEN_ALREADY, section, id, line, file);
    section->open = true;
    section->overlapped = false;
    section->parent = innermost;
    section->innermost = &innermost;
    innermost = section;
    memset(section->inside, 0, sizeof section->inside);
    sample_start(section->start);
    return section->label;
}

/* Takes it out of the thread's nest. */
static void unnest(struct section *section, int line, const char *file)
{
    if (innermost == section) {
        innermost = section->parent;
        return;
    }
    struct section *child = innermost;
    while (child && child->parent != section)
        child = child->parent;
    if (child) {
        child->parent = section->parent;
        child->overlapped = true;
    }
    complain(OVERLAP, section, section->id, line, file);
}

static void add_square(struct section *section, uint64_t value)
{
    uint64_t high = value >> 32, low = (uint32_t)value, cross = high * low;
    uint64_t parts[3][2] = {{high * high, low * low}, {cross >> 32, cross << 32}, {cross >> 32, cross << 32}};
    for (int i = 0; i < 3; i++) {
        section->square_low += parts[i][1];
        section->square_high += parts[i][0] + (section->square_low < parts[i][1]);
    }
}

static const char *close_section(int id, int line, const char *file)
{
    static uint64_t now[SAMPLE]; /* under the lock */
    sample_stop(now);
    if (hpm.phase != RUNNING) return no_section(NOT_RUNNING, NULL, id, line, file);
    struct section *section = *slot_of(id);
    if (!section || !section->open) return no_section(NOT_STARTED, section, id, line, file);
    if (section->innermost != &innermost) return no_section(OTHER_THREAD, section, id, line, file);
    section->open = false;
    section->count++;
    section->last_line = line;
    unnest(section, line, file);
    struct section *parent = section->overlapped ? NULL : section->parent;
    if (parent) parent->parent_of = true;
    for (int i = 0; i < VALUES; i++) {
        uint64_t value = now[i] - section->start[i];
        section->total[i] += value;
        section->exclusive[i] += value - section->inside[i];
        if (parent) parent->inside[i] += value;
    }
    add_square(section, now[WALL] - section->start[WALL]);
    return section->label;
}

/* ---- formulas ---- */

struct formula {
    const char *at;
    const uint64_t *values;
    bool wrong, undefined; /* not a formula; something divided by zero */
};

static double sum(struct formula *f);

static void blanks(struct formula *f)
{
    f->at += strspn(f->at, " \t");
}

static double named_value(struct formula *f, const char *name, size_t length)
{
    static const char *const clocks[] = {[WALL] = "wall_time", [CPU] = "user_time", [CYCLES] = "cycles"};
    for (int i = WALL; i <= CYCLES; i++)
        if (strlen(clocks[i]) == length && !memcmp(clocks[i], name, length))
            return (double)f->values[i] / (i == CYCLES ? 1 : 1e9);
    for (int i = 0; i < KEPT; i++) {
        const char *counter = BGLCounters_Name(i);
        if (counter && strlen(counter) == length && !memcmp(counter, name, length)) return (double)f->values[USER + i];
    }
    f->wrong = true;
    return 0;
}

static double atom(struct formula *f)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    blanks(f);
    if (*f->at == '(') {
        f->at++;
        double value = sum(f);
        blanks(f);
        if (*f->at == ')')
            f->at++;
        else
            f->wrong = true;
        return value;
    }
    if (strspn(f->at, "0123456789.")) {
        char *end;
        double value = strtod(f->at, &end);
        f->wrong |= end == f->at;
        f->at = end;
        return value;
    }
    size_t length = strspn(f->at, letters);
    const char *name = f->at;
    f->at += length;
    return named_value(f, name, length);
}

static double product(struct formula *f)
{
    double value = atom(f);
    for (blanks(f); !f->wrong && (*f->at == '*' || *f->at == '/'); blanks(f)) {
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
    for (blanks(f); !f->wrong && (*f->at == '+' || *f->at == '-'); blanks(f)) {
        bool minus = *f->at++ == '-';
        double by = product(f);
        value = minus ? value - by : value + by;
    }
    return value;
}

/* ---- the report ---- */

struct report {
    FILE *out;
    bool one_column, formulas;
    FILE *metrics; /* NULL: the table above */
    uint64_t elapsed;
    struct rusage usage; /* of one moment, for all reports */
    struct section **sections;
    size_t count;
    int ranks; /* whose sums these are; 0: the own ones */
};

static bool says(const char *variable, const char *word)
{
    const char *value = getenv(variable);
    return value && !strcasecmp(value, word);
}

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

/* One field of "text ; unit ; formula" without the blanks around it; moves to the next. */
static char *field(char **line)
{
    char *text = strsep(line, ";\n");
    if (!text) return "";
    text += strspn(text, " \t");
    for (char *end = text + strlen(text); end > text && (end[-1] == ' ' || end[-1] == '\t');)
        *--end = '\0';
    return text;
}

/* A value that does not exist is "-", and in one column, where readers want a number, no line at all. */
static void print_metric(const struct report *report, const struct section *section, const char *row)
{
    char copy[LINE], *rest = copy;
    snprintf(copy, sizeof copy, "%s", row);
    const char *text = field(&rest), *unit = field(&rest), *expression = field(&rest);
    if (!*text || *text == '#') return;
    struct formula f = {.at = expression, .values = section->total};
    double value = sum(&f);
    blanks(&f);
    if (f.wrong || *f.at) {
        complain(BAD_METRIC, NULL, 0, 0, NULL);
        return;
    }
    if (f.undefined && report->one_column) return;
    fprintf(report->out, "  %-45s : ", text);
    if (f.undefined)
        fputc('-', report->out);
    else
        fprintf(report->out, "%.3f", value);
    if (*unit && !f.undefined) fprintf(report->out, " %s", unit);
    if (report->formulas) fprintf(report->out, "   [%s]", expression);
    fputc('\n', report->out);
}

static void print_metrics(const struct report *report, const struct section *section)
{
    char row[LINE];
    fputc('\n', report->out);
    if (!report->metrics) {
        for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
            print_metric(report, section, metrics[i]);
        return;
    }
    rewind(report->metrics);
    while (fgets(row, sizeof row, report->metrics))
        print_metric(report, section, row);
}

static void print_counters(const struct report *report, const char *prefix, const uint64_t *values)
{
    char name[128];
    fputc('\n', report->out);
    if (!report->one_column) fprintf(report->out, "  %-55s   %20s %20s\n", "Counter", "User", "Kernel");
    for (int i = 0; i < HPM_COUNTERS; i++) {
        snprintf(name, sizeof name, "%s%s (%s)", prefix, BGLCounters_Name(i), row_text[i]);
        fprintf(report->out, "  %-55s : %20llu", name, (unsigned long long)values[USER + i]);
        if (!report->one_column) fprintf(report->out, " %20llu", (unsigned long long)values[KERNEL + i]);
        fputc('\n', report->out);
    }
}

/* Of the population of all intervals, in nanoseconds; without the mathematical library. */
static double standard_deviation(const struct section *section)
{
    long double count = (long double)section->count, mean = (long double)section->total[WALL] / count;
    long double squares =
        (long double)section->square_high * 18446744073709551616.0L + (long double)section->square_low;
    double variance = (double)(squares / count - mean * mean), root = variance > 1 ? variance : 1;
    if (variance <= 0) return 0;
    for (int i = 0; i < 100; i++)
        root = (root + variance / root) / 2;
    return root;
}

static void print_section(const struct report *report, const struct section *section)
{
    FILE *out = report->out;
    if (report->ranks)
        fprintf(out, "\n Instrumented section: %d - Label: %s - processes: %d\n", section->id, section->label, report->ranks);
    else
        fprintf(out, "\n Instrumented section: %d - Label: %s - process: %d\n", section->id, section->label, hpm.task);
    fprintf(out, " file: %s, lines: %d <--> %d\n", section->file, section->first_line, section->last_line);
    fprintf(out, "  Count: %llu\n", (unsigned long long)section->count);
    fprintf(out, "  Wall Clock Time: %.9f seconds\n", seconds(section->total[WALL]));
    if (section->count > 1) {
        fprintf(out, "  Average duration: %.9f seconds\n", seconds(section->total[WALL]) / (double)section->count);
        fprintf(out, "  Standard deviation: %.9f seconds\n", standard_deviation(section) / 1e9);
    }
    if (section->parent_of) fprintf(out, "  Exclusive duration: %.9f seconds\n", seconds(section->exclusive[WALL]));
    fprintf(out, "  Total time in user mode: %.9f seconds\n", seconds(section->total[CPU]));
    if (!hpm.counting) return;
    print_counters(report, "", section->total);
    if (section->parent_of) print_counters(report, "Exclusive ", section->exclusive);
    print_metrics(report, section);
}

static void print_resources(const struct report *report)
{
    FILE *out = report->out;
    const struct rusage u = report->usage;
    const struct {
        const char *text, *unit;
        long value;
    } rows[] = {
        {"Maximum resident set size", " Kbytes", u.ru_maxrss},
        {"Average shared memory use in text segment", " Kbytes*sec", u.ru_ixrss},
        {"Average unshared memory use in data segment", " Kbytes*sec", u.ru_idrss},
        {"Number of page faults without I/O activity", "", u.ru_minflt},
        {"Number of page faults with I/O activity", "", u.ru_majflt},
        {"Number of times process was swapped out", "", u.ru_nswap},
        {"Number of times file system performed INPUT", "", u.ru_inblock},
        {"Number of times file system performed OUTPUT", "", u.ru_oublock},
        {"Number of IPC messages sent", "", u.ru_msgsnd},
        {"Number of IPC messages received", "", u.ru_msgrcv},
        {"Number of signals delivered", "", u.ru_nsignals},
        {"Number of voluntary context switches", "", u.ru_nvcsw},
        {"Number of involuntary context switches", "", u.ru_nivcsw},
    };
    fputs("\n ########  Resource Usage Statistics  ########\n\n", out);
    fprintf(out, " %-45s : %ld.%06ld seconds\n", "Total amount of time in user mode", (long)u.ru_utime.tv_sec,
            (long)u.ru_utime.tv_usec);
    fprintf(out, " %-45s : %ld.%06ld seconds\n", "Total amount of time in system mode", (long)u.ru_stime.tv_sec,
            (long)u.ru_stime.tv_usec);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        fprintf(out, " %-45s : %ld%s\n", rows[i].text, rows[i].value, rows[i].unit);
    fputs("\n ########  End of Resource Statistics  ########\n", out);
}

static void print_report(const struct report *report)
{
    FILE *out = report->out;
    fprintf(out, "\n libHPM (Chiliad) summary of %s", *hpm.program ? hpm.program : "a program");
    if (report->ranks) fprintf(out, ", sums over %d processes", report->ranks);
    fputc('\n', out);
    fprintf(out, "\n Total execution time of instrumented code (wall time): %.9f seconds\n", seconds(report->elapsed));
    if (hpm_error_count) fprintf(out, " Errors in the use of libHPM: %d\n", hpm_error_count);
    if (!report->ranks) print_resources(report);
    for (size_t i = 0; i < report->count; i++)
        if (report->sections[i]->count) print_section(report, report->sections[i]);
    fputc('\n', out);
}

/* NAME_<task>.hpm, NAME_<task>_<host>_<pid>_<date>.hpm or perfhpm<task>.<pid>; false if no file is wanted. */
static bool file_name(char path[PATH], const char *task)
{
    const char *name = getenv("HPM_OUTPUT_NAME");
    char host[65] = "host", date[32] = "";
    struct tm day;
    time_t now = time(NULL);
    if (name && !*name) return false;
    if (!says("HPM_UNIQUE_FILE_NAME", "yes")) {
        if (name)
            snprintf(path, PATH, "%s_%s.hpm", name, task);
        else
            snprintf(path, PATH, "perfhpm%s.%d", task, (int)getpid());
        return true;
    }
    gethostname(host, sizeof host - 1);
    if (gmtime_r(&now, &day)) strftime(date, sizeof date, "%Y%m%d%H%M%S", &day);
    snprintf(path, PATH, "%s_%s_%s_%d_%s.hpm", name ? name : "perfhpm", task, host, (int)getpid(), date);
    return true;
}

static int by_id(const void *a, const void *b)
{
    int one = (*(struct section *const *)a)->id, other = (*(struct section *const *)b)->id;
    return (one > other) - (one < other);
}

/* To the file of this task, and to standard output. */
static void write_report(struct report *report, const char *task)
{
    char path[PATH];
    if (file_name(path, task)) {
        report->out = fopen(path, "w");
        if (report->out) print_report(report);
        if (!report->out || ferror(report->out) | fclose(report->out)) {
            complain(NO_FILE, NULL, 0, 0, NULL);
            fprintf(stderr, "libhpm: '%s': %s\n", path, strerror(errno));
        }
    }
    if (says("HPM_STDOUT", "no")) return;
    report->out = stdout;
    print_report(report);
    fflush(stdout);
}

/* ---- sums over ranks ---- */

enum { SUM_COUNT, SUM_PARENT, SUM_SQUARES, SUM_TOTAL = SUM_SQUARES + 4, SUMMED = SUM_TOTAL + 2 * VALUES };

/* The section with the least number above `last` that any rank has, with the sums of all ranks; NULL: there is none. Its
 * squares are added in parts of 32 bits, so that nothing is lost. */
static struct section *sum_section(int last, int *ranks)
{
    unsigned long long least = ~0ull, sums[SUMMED] = {0};
    const struct section *own = NULL;
    for (size_t i = 0; i < hpm.used; i++)
        if (hpm.sections[i]->id > last && (unsigned)hpm.sections[i]->id < least) least = (unsigned)hpm.sections[i]->id;
    if (!chiliad_mpi_combine(&least, 1, true, ranks) || least == ~0ull) return NULL;
    for (size_t i = 0; i < hpm.used; i++)
        if ((unsigned)hpm.sections[i]->id == least) own = hpm.sections[i];
    if (own) {
        sums[SUM_COUNT] = own->count;
        sums[SUM_PARENT] = own->parent_of;
        for (int i = 0; i < 4; i++)
            sums[SUM_SQUARES + i] = (uint32_t)((i < 2 ? own->square_low : own->square_high) >> (i % 2 * 32));
        memcpy(sums + SUM_TOTAL, own->total, sizeof own->total);
        memcpy(sums + SUM_TOTAL + VALUES, own->exclusive, sizeof own->exclusive);
    }
    chiliad_mpi_combine(sums, SUMMED, false, ranks);
    struct section *sum = section_new((int)least, own ? own->label : NULL, own ? own->first_line : 0,
                                      own ? own->file : NULL);
    if (!sum) return NULL;
    for (int i = 0; i < 3; i++)
        sums[SUM_SQUARES + i + 1] += sums[SUM_SQUARES + i] >> 32;
    sum->count = sums[SUM_COUNT];
    sum->parent_of = sums[SUM_PARENT] != 0;
    sum->square_low = sums[SUM_SQUARES + 1] << 32 | (uint32_t)sums[SUM_SQUARES];
    sum->square_high = sums[SUM_SQUARES + 3] << 32 | (uint32_t)sums[SUM_SQUARES + 2];
    if (own) sum->last_line = own->last_line;
    memcpy(sum->total, sums + SUM_TOTAL, sizeof sum->total);
    memcpy(sum->exclusive, sums + SUM_TOTAL + VALUES, sizeof sum->exclusive);
    return sum;
}

static void write_sums(struct report *report)
{
    size_t room = 0, count = 0;
    struct section **sections = NULL, *section;
    unsigned long long first = 0;
    int ranks = 0;
    if (!says("HPM_AGGREGATE", "yes") || !chiliad_mpi_combine || !chiliad_mpi_combine(&first, 1, true, &ranks)) return;
    for (int last = 0; (section = sum_section(last, &ranks)); last = section->id) {
        if (count == room) {
            struct section **more = realloc(sections, (room = 2 * room + 16) * sizeof(struct section *));
            if (!more) break;
            sections = more;
        }
        sections[count++] = section;
    }
    report->ranks = ranks;
    report->sections = sections;
    report->count = count;
    if (hpm.task == 0) write_report(report, "sum");
    while (count > 0) {
        section = sections[--count];
        free(section->label);
        free(section->file);
        free(section);
    }
    free(sections);
}

static void write_reports(uint64_t elapsed)
{
    struct report report = {
        .one_column = says("HPM_ONE_COLUMN", "yes"), .formulas = says("HPM_PRINT_FORMULA", "yes"), .elapsed = elapsed};
    const char *rows = getenv("HPM_METRICS_FILE");
    char task[16];
    getrusage(RUSAGE_SELF, &report.usage);
    if (rows && !(report.metrics = fopen(rows, "r"))) complain(NO_FILE, NULL, 0, 0, NULL);
    qsort(hpm.sections, hpm.used, sizeof(struct section *), by_id);
    report.sections = hpm.sections;
    report.count = hpm.used;
    snprintf(task, sizeof task, "%d", hpm.task);
    write_report(&report, task);
    write_sums(&report);
    if (report.metrics) fclose(report.metrics);
}

/* ---- the calls ---- */

static bool allocate(const char *program)
{
    const char *points = getenv("HPM_NUM_INST_PTS");
    long limit = points ? strtol(points, NULL, 10) : 0;
    hpm.limit = limit > SECTIONS && limit < 1 << 24 ? (size_t)limit : SECTIONS;
    for (hpm.slots = 256; hpm.slots < 2 * hpm.limit;)
        hpm.slots *= 2;
    hpm.program = safe_copy(program ? program : "", "");
    hpm.sections = calloc(hpm.limit, sizeof *hpm.sections);
    hpm.slot = calloc(hpm.slots, sizeof *hpm.slot);
    return hpm.program && hpm.sections && hpm.slot;
}

void _hpmInit_(int task, const char *program, int line, const char *file)
{
    enter(true);
    if (hpm.phase != BEFORE) {
        complain(TWICE, NULL, 0, line, file);
    } else if (!allocate(program)) {
        complain(NO_MEMORY, NULL, 0, line, file);
    } else {
        hpm.counting = BGLCounters_Init() == 0;
        if (!hpm.counting) complain(NO_COUNTERS, NULL, 0, line, file);
        hpm.task = task;
        hpm.phase = RUNNING;
        sample_start(hpm.start);
    }
    leave(true);
}

void _hpmTerminate_(int task, int line, const char *file)
{
    enter(true);
    uint64_t elapsed = nanoseconds(CLOCK_MONOTONIC) - hpm.start[WALL];
    if (hpm.phase != RUNNING) {
        complain(NOT_RUNNING, NULL, 0, line, file);
    } else {
        if (task != hpm.task) complain(OTHER_TASK, NULL, 0, line, file);
        for (size_t i = 0; i < hpm.used; i++)
            if (hpm.sections[i]->open) complain(NEVER_STOPPED, hpm.sections[i], hpm.sections[i]->id, line, file);
        write_reports(elapsed);
        hpm.phase = AFTER;
        hpm.counting = false;
    }
    leave(true);
}

/* In a recorded run a section is a region of the function `levels` calls up, of which the simulator is notified here. */
void hpm_begin_section(int section, const char *label, int line, const char *file, bool alone, long levels)
{
    enter(alone);
    label = open_section(section, label, line, file);
    if (label && *label && hpm.counting) chiliad_callthru(CHILIAD_REGION_ENTER, (long)label, levels);
    leave(alone);
}

void hpm_end_section(int section, int line, const char *file, bool alone, long levels)
{
    enter(alone);
    const char *label = close_section(section, line, file);
    if (label && *label && hpm.counting) chiliad_callthru(CHILIAD_REGION_LEAVE, (long)label, levels);
    leave(alone);
}

void _hpm_start_(int section, const char *label, int line, const char *file)
{
    hpm_begin_section(section, label, line, file, true, 2);
    HPM_NO_TAIL_CALL();
}

void _hpm_stop_(int section, int line, const char *file)
{
    hpm_end_section(section, line, file, true, 2);
    HPM_NO_TAIL_CALL();
}

void _hpm_tstart_(int section, const char *label, int line, const char *file)
{
    hpm_begin_section(section, label, line, file, false, 2);
    HPM_NO_TAIL_CALL();
}

void _hpm_tstop_(int section, int line, const char *file)
{
    hpm_end_section(section, line, file, false, 2);
    HPM_NO_TAIL_CALL();
}

void hpmGetTimeAndCounters(int count, double *time, long long *values)
{
    uint64_t counts[BGLCOUNTERS] = {0};
    enter(true);
    if (hpm.phase != RUNNING)
        complain(NOT_RUNNING, NULL, 0, 0, NULL);
    else if (hpm.counting)
        BGLCounters_Read(counts, NULL);
    if (time) *time = hpm.phase == RUNNING ? seconds(nanoseconds(CLOCK_MONOTONIC) - hpm.start[WALL]) : 0;
    for (int i = 0; i < count; i++)
        values[i] = i < BGLCOUNTERS ? (long long)counts[i] : 0;
    leave(true);
}

void hpmGetCounters(long long *values)
{
    hpmGetTimeAndCounters(HPM_COUNTERS, NULL, values);
}
