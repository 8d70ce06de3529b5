/* chiliad validate: micro-benchmarks whose counts can be worked out by hand (paper 002, table 1).
 *
 *     $ chiliad validate
 *     function     counter          expected   measured     error     sd  least   most  paper's
 * error seq_stores   BGL_FP_STORE      1048576    1048576        +0      -      -      - +0
 *     random_d     BGL_D2_MISS           544      545.4      +1.4   17.5    -41    +45 +8
 *     ...
 *
 * Each function runs in a guest program (guest/validate/rose.c). The program reads the simulator's
 * own counters around the function and prints them. A random function runs once for each seed from
 * 1 to the number of draws; its row has mean, standard deviation and extremes. The paper measured
 * one draw. Its expected counts of random functions are upper bounds (ERR-08, ERR-09: the paper's
 * table counts, not its text; errors are shown, not its "less than 2 %").
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chiliad/run.h"

enum { NONE = INT32_MIN }; /* the paper gives no error */

struct cell {
    const char *function, *counter;
    int64_t expected, paper_error;
};

/* Table 1, and BGL-30 to BGL-37 of the checklist. K is 1024. TLB misses are those of data. */
static const struct cell cells[] = {
    {"seq_stores", "BGL_FP_STORE", 1048576, 0},
    {"seq_stores", "BGL_D1_S_MISS", 262144, 1},
    {"seq_stores", "BGL_D1_L_MISS", 0, 1},
    {"seq_stores", "BGL_D2_MISS", 65536, 8},
    {"seq_stores", "BGL_DTLB_MISS", 2048, 1},
    {"seq_loads", "BGL_FP_LOAD", 1048576, 1},
    {"seq_loads", "BGL_D1_L_MISS", 262144, 2},
    {"seq_loads", "BGL_D2_MISS", 65536, 4},
    {"seq_loads", "BGL_DTLB_MISS", 2048, 2},
    {"seq_both", "BGL_FP_LOAD", 2097152, NONE},
    {"seq_both", "BGL_FP_STORE", 1048576, NONE},
    {"seq_both", "BGL_D1_L_MISS", 262144, NONE},
    {"seq_both", "BGL_D1_S_MISS", 0, NONE},
    {"seq_both", "BGL_D2_MISS", 65536, NONE},
    {"seq_both", "BGL_DTLB_MISS", 2048, NONE},
    {"random_d", "BGL_FP_LOAD", 1024, 0},
    {"random_d", "BGL_LOAD", 1024, 0},
    {"random_d", "BGL_D1_L_MISS", 1152, -53},
    {"random_d", "BGL_D2_MISS", 544, 8},
    {"random_d", "BGL_DTLB_MISS", 1024, -37},
    {"random_d2", "BGL_FP_LOAD", 1024, 0},
    {"random_d2", "BGL_LOAD", 1024, 0},
    {"random_d2", "BGL_D1_L_MISS", 1152, -53},
    {"random_d2", "BGL_D2_MISS", 800, 3},
    {"random_d2", "BGL_DTLB_MISS", 1024, -37},
    {"multiple_d", "BGL_FP_LOAD", 32768, 0},
    {"multiple_d", "BGL_LOAD", 1024, 0},
    {"multiple_d", "BGL_D1_L_MISS", 32896, -244},
    {"multiple_d", "BGL_D2_MISS", 16416, 242},
    {"multiple_d", "BGL_DTLB_MISS", 2048, -23},
    {"multiple_d2", "BGL_FP_LOAD", 32768, 0},
    {"multiple_d2", "BGL_LOAD", 1024, 0},
    {"multiple_d2", "BGL_D1_L_MISS", 32896, -367},
    {"multiple_d2", "BGL_D2_MISS", 24608, 119},
    {"multiple_d2", "BGL_DTLB_MISS", 2048, -31},
    {"transpose", "BGL_FP_LOAD", 8064, NONE},
    {"transpose", "BGL_FP_STORE", 8064, NONE},
    {"transpose", "BGL_D1_L_MISS", 1024, 298},
    {"transpose", "BGL_D1_S_MISS", 0, NONE},
    {"transpose", "BGL_D2_MISS", 252, 14},
    {"transpose", "BGL_DTLB_MISS", 9, 0},
    {"multiply", "BGL_FP_LOAD", 528384, 0},
    {"multiply", "BGL_FP_STORE", 4096, 0},
    {"multiply", "BGL_D1_L_MISS", 67584, 1153},
    {"multiply", "BGL_D2_MISS", 768, 3},
    {"multiply", "BGL_DTLB_MISS", 25, -1},
};

/* Functions whose indices are random; all others run once. */
static const char *const random_functions[] = {"random_d", "random_d2", "multiple_d",
                                               "multiple_d2"};

enum {
    CELLS = sizeof cells / sizeof *cells,
    FUNCTIONS_RANDOM = sizeof random_functions / sizeof *random_functions,
    DRAWS = 100,
    DRAWS_MAX = 100000
};

struct validate_options {
    const char *machine, *program;
    char found[4096]; /* the program, unless it was given */
    uint64_t draws;
    bool json;
};

static const struct option_row option_rows[] = {
    {"machine", 'M', "MACHINE",
     "bgl (default), whose parameters the expected counts are for, or another",
     OPTION_SET_TEXT(struct validate_options, machine), .values = "@machines"},
    {"program", 0, "FILE", "the guest program (default: guest/rose beside or above this program)",
     OPTION_SET_TEXT(struct validate_options, program)},
    {"draws", 0, "N", "draws of each function with random indices (default: 100)",
     OPTION_SET_NUMBER(struct validate_options, draws, 1, DRAWS_MAX)},
    {"json", 'j', NULL, "a JSON array of objects, with the counts of all draws",
     OPTION_SET_FLAG(struct validate_options, json)},
};

const struct option_table cmd_validate_options = {
    .forms = {"[OPTIONS]"},
    .about = "Runs the micro-benchmarks of BGLsim's paper. Prints expected and measured "
             "counts, the error, and the paper's error. Functions with random indices run "
             "with the seeds 1 to N; their rows show the mean, the standard deviation, the "
             "least and the most error.",
    .groups = {OPTION_ROWS(option_rows)},
};

/* --- Finding and running the program --------------------------------------------------------- */

static int find_program(struct validate_options *o)
{
    static const char *const places[] = {"guest/rose", "../guest/rose",
                                         "../lib/chiliad/guest/rose"};
    char self[2048];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return cmd_fail("validate", "cannot find where this program is; use --program");
    self[length] = 0;
    *strrchr(self, '/') = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        (void)snprintf(o->found, sizeof o->found, "%s/%s", self, places[i]);
        if (access(o->found, R_OK)) continue;
        o->program = o->found;
        return 0;
    }
    return cmd_fail(
        "validate",
        "no guest/rose beside this program; 'make guest' builds it, or use --program FILE");
}

/* Runs one function `draws` times, in one guest program with its standard output in `out`. */
static int run_function(const struct chil_machine *machine, const char *program,
                        const char *function, uint64_t draws, FILE *out)
{
    char name[32], count[24], first[] = "1";
    (void)snprintf(name, sizeof name, "%s", function);
    (void)snprintf(count, sizeof count, "%" PRIu64, draws);
    char *const argv[] = {"rose", name, first, count, NULL}, *const envp[] = {NULL};
    struct chil_run_options options = {
        .machine = machine, .program = program, .argv = argv, .envp = envp};
    struct chil_run *run = NULL;
    struct chil_error err = {0};
    int status = 0, kept = dup(STDOUT_FILENO);
    if (kept < 0 || dup2(fileno(out), STDOUT_FILENO) < 0)
        return cmd_fail("validate", "cannot redirect: %s", strerror(errno));
    if (chil_run_new(&run, &options, &err) || chil_run_go(run, &err))
        status = cmd_fail_error("validate", &err);
    else if (chil_run_status(run))
        status = cmd_fail("validate", "'%s %s' ended with status %d", program, function,
                          chil_run_status(run));
    chil_run_free(run);
    (void)dup2(kept, STDOUT_FILENO);
    (void)close(kept);
    return status;
}

/* The values of one cell: one for each draw. */
struct sample {
    int64_t *value;
    uint64_t draws, count; /* wanted, found */
};

/* Lines are "NAME VALUE"; the n-th line of a counter is the n-th draw. */
static void read_counts(FILE *out, const char *function, struct sample *samples)
{
    char line[128], name[64];
    int64_t value;
    while (fgets(line, sizeof line, out)) {
        if (sscanf(line, "%63s %" SCNd64, name, &value) != 2) continue;
        for (size_t i = 0; i < CELLS; i++) {
            struct sample *sample = &samples[i];
            if (strcmp(cells[i].function, function) == 0 && strcmp(cells[i].counter, name) == 0 &&
                sample->count < sample->draws)
                sample->value[sample->count++] = value;
        }
    }
}

static int measure(const struct chil_machine *machine, const char *program, const char *function,
                   uint64_t draws, struct sample *samples)
{
    FILE *out = tmpfile();
    if (!out) return cmd_fail("validate", "no temporary file: %s", strerror(errno));
    (void)fflush(stdout);
    int status = run_function(machine, program, function, draws, out);
    rewind(out);
    if (!status) read_counts(out, function, samples);
    (void)fclose(out);
    for (size_t i = 0; !status && i < CELLS; i++)
        if (strcmp(cells[i].function, function) == 0 && samples[i].count != draws)
            status = cmd_fail("validate", "'%s %s' did not print '%s' %" PRIu64 " times", program,
                              function, cells[i].counter, draws);
    return status;
}

/* --- Statistics ------------------------------------------------------------------------------ */

struct statistics {
    double mean, sd; /* sd: of the sample (n - 1); not for one draw */
    int64_t least, most;
};

static struct statistics statistics_of(const struct sample *sample)
{
    struct statistics s = {.least = INT64_MAX, .most = INT64_MIN};
    double squares = 0;
    for (uint64_t i = 0; i < sample->count; i++) {
        s.mean += (double)sample->value[i] / (double)sample->count;
        if (sample->value[i] < s.least) s.least = sample->value[i];
        if (sample->value[i] > s.most) s.most = sample->value[i];
    }
    for (uint64_t i = 0; i < sample->count; i++) {
        double distance = (double)sample->value[i] - s.mean;
        squares += distance * distance;
    }
    if (sample->count > 1) s.sd = sqrt(squares / (double)(sample->count - 1));
    return s;
}

/* --- Printing -------------------------------------------------------------------------------- */

enum { FUNCTION, COUNTER, DRAWN, EXPECTED, MEASURED, ERROR, SD, LEAST, MOST, PAPER, COLUMNS };
static const struct view_column columns[COLUMNS] = {
    [FUNCTION] = {.title = "function", .left = true, .least = 12},
    [COUNTER] = {.title = "counter", .left = true, .least = 14, .gap = " "},
    [DRAWN] = {.title = "draws", .forms = VIEW_IN_JSON},
    [EXPECTED] = {.title = "expected", .least = 10, .gap = " ", .plain = true},
    [MEASURED] = {.title = "measured", .least = 10, .gap = " ", .plain = true, .real = "%.1f"},
    [ERROR] =
        {.title = "error", .least = 9, .gap = " ", .plain = true, .sign = true, .real = "%+.1f"},
    [SD] = {.title = "sd", .least = 6, .gap = " ", .real = "%.1f", .none = "-", .null = true},
    [LEAST] = {.title = "least",
               .key = "least_error",
               .least = 6,
               .gap = " ",
               .plain = true,
               .sign = true,
               .none = "-",
               .null = true},
    [MOST] = {.title = "most",
              .key = "most_error",
              .least = 6,
              .gap = " ",
              .plain = true,
              .sign = true,
              .none = "-",
              .null = true},
    [PAPER] = {.title = "paper's error",
               .key = "paper_error",
               .least = 15,
               .gap = " ",
               .plain = true,
               .sign = true,
               .none = "-",
               .null = true},
};

/* The mean is a real number; the count of a single run is an integer. */
static void fill_row(struct view_cell *row, const struct cell *cell, const struct sample *sample)
{
    struct statistics s = statistics_of(sample);
    row[FUNCTION] = view_text(cell->function);
    row[COUNTER] = view_text(cell->counter);
    row[DRAWN] = view_count(sample->count);
    row[EXPECTED] = view_integer(cell->expected);
    row[MEASURED] = sample->count > 1 ? view_real(s.mean) : view_integer(s.least);
    row[ERROR] = sample->count > 1 ? view_real(s.mean - (double)cell->expected)
                                   : view_integer(s.least - cell->expected);
    if (sample->count > 1) {
        row[SD] = view_real(s.sd);
        row[LEAST] = view_integer(s.least - cell->expected);
        row[MOST] = view_integer(s.most - cell->expected);
    }
    if (cell->paper_error != NONE) row[PAPER] = view_integer(cell->paper_error);
}

/* Rows of the table, with all counts. */
static void print_json(const struct view *view, const struct sample *samples)
{
    json_t *rows = view_json(view);
    for (size_t i = 0; i < CELLS; i++) {
        json_t *values = json_array();
        for (uint64_t draw = 0; draw < samples[i].count; draw++)
            json_array_append_new(values, json_integer((json_int_t)samples[i].value[draw]));
        json_object_set_new(json_array_get(rows, i), "values", values);
    }
    (void)view_json_write(rows, stdout, JSON_INDENT(2));
}

static uint64_t number_of(const struct chil_machine *machine, const char *key)
{
    uint64_t value = 0;
    return chil_machine_number(machine, key, &value) ? 0 : value;
}

/* Parameters that the counts depend on and the paper does not state (ERR-12). */
static void print_caches(const struct chil_machine *machine)
{
    const char *policy = chil_machine_word(machine, "l1d.policy");
    (void)printf(
        "%s: L1D of %" PRIu64 " bytes, lines of %" PRIu64 ", %" PRIu64 " ways, %s; TLB of %" PRIu64
        " entries; L3 of %" PRIu64 " bytes, lines of %" PRIu64 ", %" PRIu64 " ways\n",
        chil_machine_name(machine), number_of(machine, "l1d.size"), number_of(machine, "l1d.line"),
        number_of(machine, "l1d.ways"), policy ? policy : "round-robin",
        number_of(machine, "tlb.entries"), number_of(machine, "l3.size"),
        number_of(machine, "l3.line"), number_of(machine, "l3.ways"));
}

static void print_all(const struct chil_machine *machine, const struct validate_options *o,
                      const struct sample *samples)
{
    struct view view;
    view_init(&view, columns, COLUMNS);
    for (size_t i = 0; i < CELLS; i++)
        fill_row(view_row(&view), &cells[i], &samples[i]);
    if (o->json) {
        print_json(&view, samples);
    } else {
        view_table(&view, stdout, &(struct view_table_style){.heading = true});
        (void)printf("random_*, multiple_*: mean of %" PRIu64 " draws (seeds 1 to %" PRIu64
                     "), standard deviation, least and most error; the paper's error is of one "
                     "draw\n",
                     o->draws, o->draws);
        print_caches(machine);
    }
    view_fini(&view);
}

static uint64_t draws_of(const char *function, uint64_t draws)
{
    for (size_t i = 0; i < FUNCTIONS_RANDOM; i++)
        if (strcmp(random_functions[i], function) == 0) return draws;
    return 1;
}

static int measure_all(const struct chil_machine *machine, const struct validate_options *o,
                       struct sample *samples)
{
    const char *function = "";
    int status = 0;
    for (size_t i = 0; !status && i < CELLS; i++) {
        if (strcmp(function, cells[i].function) == 0) continue;
        function = cells[i].function;
        status = measure(machine, o->program, function, draws_of(function, o->draws), samples);
    }
    return status;
}

/* Prints only after all measurements, so a run that fails prints no part of the table. */
static int validate_on(const struct chil_machine *machine, const struct validate_options *o)
{
    struct sample samples[CELLS] = {{0}};
    int64_t *values = calloc(CELLS * o->draws, sizeof *values);
    if (!values) return cmd_fail("validate", "out of memory");
    for (size_t i = 0; i < CELLS; i++)
        samples[i] = (struct sample){.value = values + i * o->draws,
                                     .draws = draws_of(cells[i].function, o->draws)};
    int status = measure_all(machine, o, samples);
    if (!status) print_all(machine, o, samples);
    free(values);
    return status;
}

int cmd_validate(int argc, char **argv)
{
    struct validate_options o = {.machine = "bgl", .draws = DRAWS};
    int status = options_parse(&cmd_validate_options, &o, argc, argv);
    if (status) return status < 0 ? 0 : status;
    if (optind != argc)
        return cmd_fail("validate", "'%s' is too much; see 'chiliad validate --help'",
                        argv[optind]);
    if (!o.program && find_program(&o)) return CMD_BAD;
    struct chil_machine *machine;
    struct chil_error err = {0};
    if (chil_machine_open(&machine, o.machine, &err)) return cmd_fail_error("validate", &err);
    status = validate_on(machine, &o);
    chil_machine_free(machine);
    return status;
}
