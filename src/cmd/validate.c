/* chiliad validate: micro-benchmarks whose counts can be worked out by hand (paper 002, table 1).
 *
 *     $ chiliad validate
 *     function       counter        expected  measured     error   paper's error
 *     seq_stores     BGL_FP_STORE    1048576   1048576        +0              +0
 *     ...
 *
 * Each function runs on the machine in a program of its own (guest/validate/rose.c), which reads
 * the simulator's own counters around it and prints them. "Random" functions are one draw of random
 * entries, and their expected values are upper bounds, as in the paper (ERR-08, ERR-09: its table,
 * not its text; errors, not its "less than 2 %").
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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

enum { CELLS = sizeof cells / sizeof *cells, OUTPUT_MAX = 8192 };

struct validate_options {
    const char *machine, *program;
    char found[4096]; /* the program, unless it was given */
    bool json;
};

static const struct option_row option_rows[] = {
    {"machine", 'M', "MACHINE",
     "bgl (default), whose parameters the expected counts are for, or another",
     OPTION_SET_TEXT(struct validate_options, machine), .values = "@machines"},
    {"program", 0, "FILE", "the guest program (default: guest/rose beside or above this program)",
     OPTION_SET_TEXT(struct validate_options, program)},
    {"json", 'j', NULL,
     "a JSON array of objects with function, counter, expected, measured, error, paper_error",
     OPTION_SET_FLAG(struct validate_options, json)},
};

const struct option_table cmd_validate_options = {
    .forms = {"[OPTIONS]"},
    .about =
        "Runs the micro-benchmarks of BGLsim's paper and prints expected and measured counts, the error, and the error that the paper had.",
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

/* Runs one function with its standard output in `out`. */
static int run_function(const struct chil_machine *machine, const char *program,
                        const char *function, FILE *out)
{
    char name[32];
    (void)snprintf(name, sizeof name, "%s", function);
    char *const argv[] = {"rose", name, NULL}, *const envp[] = {NULL};
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

static int measure(const struct chil_machine *machine, const char *program, const char *function,
                   char *output)
{
    FILE *out = tmpfile();
    if (!out) return cmd_fail("validate", "no temporary file: %s", strerror(errno));
    (void)fflush(stdout);
    int status = run_function(machine, program, function, out);
    rewind(out);
    output[fread(output, 1, OUTPUT_MAX - 1, out)] = 0;
    (void)fclose(out);
    return status;
}

/* "NAME VALUE" among the lines that the program printed. */
static int64_t value_of(const char *output, const char *counter)
{
    size_t length = strlen(counter);
    for (const char *line = output; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
        if (strncmp(line, counter, length) == 0 && line[length] == ' ')
            return (int64_t)strtoll(line + length, NULL, 10);
    return -1;
}

/* --- Printing -------------------------------------------------------------------------------- */

enum { FUNCTION, COUNTER, EXPECTED, MEASURED, ERROR, PAPER, COLUMNS };
static const struct view_column columns[COLUMNS] = {
    [FUNCTION] = {.title = "function", .left = true, .least = 12},
    [COUNTER] = {.title = "counter", .left = true, .least = 14, .gap = " "},
    [EXPECTED] = {.title = "expected", .least = 10, .gap = " ", .plain = true},
    [MEASURED] = {.title = "measured", .least = 10, .gap = " ", .plain = true},
    [ERROR] = {.title = "error", .least = 8, .gap = " ", .plain = true, .sign = true},
    [PAPER] = {.title = "paper's error",
               .key = "paper_error",
               .least = 15,
               .gap = " ",
               .plain = true,
               .sign = true,
               .none = "-",
               .null = true},
};

static void print_all(const int64_t *measured, bool as_json)
{
    struct view view;
    view_init(&view, columns, COLUMNS);
    for (size_t i = 0; i < CELLS; i++) {
        struct view_cell *cell = view_row(&view);
        cell[FUNCTION] = view_text(cells[i].function);
        cell[COUNTER] = view_text(cells[i].counter);
        cell[EXPECTED] = view_integer(cells[i].expected);
        cell[MEASURED] = view_integer(measured[i]);
        cell[ERROR] = view_integer(measured[i] - cells[i].expected);
        if (cells[i].paper_error != NONE) cell[PAPER] = view_integer(cells[i].paper_error);
    }
    if (as_json)
        (void)view_json_write(view_json(&view), stdout, JSON_INDENT(2));
    else
        view_table(&view, stdout, &(struct view_table_style){.heading = true});
    view_fini(&view);
}

static uint64_t number_of(const struct chil_machine *machine, const char *key)
{
    uint64_t value = 0;
    return chil_machine_number(machine, key, &value) ? 0 : value;
}

/* What the paper leaves out and its cells depend on (ERR-12). */
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

/* Everything is measured before anything is printed: a run that fails leaves no half table. */
static int validate_on(const struct chil_machine *machine, const struct validate_options *o)
{
    char output[OUTPUT_MAX] = "";
    const char *function = "";
    int64_t measured[CELLS];
    for (size_t i = 0; i < CELLS; i++) {
        if (strcmp(function, cells[i].function) != 0) {
            function = cells[i].function;
            int status = measure(machine, o->program, function, output);
            if (status) return status;
        }
        measured[i] = value_of(output, cells[i].counter);
    }
    print_all(measured, o->json);
    if (!o->json) print_caches(machine);
    return 0;
}

int cmd_validate(int argc, char **argv)
{
    struct validate_options o = {.machine = "bgl"};
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
