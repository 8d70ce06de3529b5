/* chiliad validate: micro-benchmarks whose counts can be worked out by hand (paper 002, table 1).
 *
 *     $ chiliad validate
 *     function     counter          expected   measured     error     sd  least   most  ...
 *     seq_stores   BGL_FP_STORE      1048576    1048576        +0      -      -      -  ...
 *     random_d     BGL_D2_MISS           544      545.4      +1.4   17.5    -41    +45  ...
 *     ...
 *
 * Each function runs in a guest program (guest/validate/rose.c). The program reads the simulator's
 * own counters around the function and prints them. A random function runs once for each seed from
 * 1 to the number of draws; its row has mean, standard deviation and extremes. The paper measured
 * one draw. Its expected counts of random functions are upper bounds (ERR-08, ERR-09: the paper's
 * table counts, not its text; errors are shown, not its "less than 2 %").
 */
#include "cmd/validate.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "chiliad/run.h"

/* Functions whose indices are random; all others run once. */
static const char *const random_functions[] = {"random_d", "random_d2", "multiple_d",
                                               "multiple_d2"};

enum {
    FUNCTIONS_RANDOM = sizeof random_functions / sizeof *random_functions,
    DRAWS = 100,
    DRAWS_MAX = 100000
};

static const struct option_row option_rows[] = {
    {"machine", 'M', "MACHINE",
     "bgl (default), whose parameters the expected counts are for, or another",
     OPTION_SET_TEXT(struct validate_options, machine), .values = "@machines"},
    {"program", 0, "FILE", "the guest program (default: guest/rose beside or above this program)",
     OPTION_SET_TEXT(struct validate_options, program)},
    {"draws", 0, "N", "draws of each function with random indices (default: 100)",
     OPTION_SET_NUMBER(struct validate_options, draws, 1, DRAWS_MAX)},
    {"no-sandbox", 0, NULL,
     "leave out the second wall, by which the kernel holds the simulator to what a run needs",
     OPTION_SET_FLAG(struct validate_options, no_sandbox)},
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
    enum { PLACES = sizeof places / sizeof *places };
    char self[2048];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = 0;
    char *slash = strrchr(self, '/');
    if (slash) *slash = 0;
    for (size_t i = 0; i <= PLACES; i++) {
        const char *folder = i < PLACES ? self : CHILIAD_PREFIX "/bin"; /* without /proc */
        (void)snprintf(o->found, sizeof o->found, "%s/%s", folder,
                       places[i < PLACES ? i : PLACES - 1]);
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

/* Lines are "NAME VALUE"; the n-th line of a counter is the n-th draw. */
static void read_counts(FILE *out, const char *function, struct validate_sample *samples)
{
    char line[128];
    while (fgets(line, sizeof line, out)) {
        char *end, *number = strchr(line, ' ');
        if (!number) continue;
        int64_t value = strtoll(number, &end, 10);
        if (end == number) continue;
        *number = '\0';
        for (size_t i = 0; i < VALIDATE_CELLS; i++) {
            struct validate_sample *sample = &samples[i];
            if (strcmp(validate_cells[i].function, function) == 0 &&
                strcmp(validate_cells[i].counter, line) == 0 && sample->count < sample->draws)
                sample->value[sample->count++] = value;
        }
    }
}

static int measure(const struct chil_machine *machine, const char *program, const char *function,
                   uint64_t draws, struct validate_sample *samples)
{
    int fd = memfd_create("counts", MFD_CLOEXEC);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w+");
    if (!out) return cmd_fail("validate", "no temporary file: %s", strerror(errno));
    (void)fflush(stdout);
    int status = run_function(machine, program, function, draws, out);
    rewind(out);
    if (!status) read_counts(out, function, samples);
    (void)fclose(out);
    for (size_t i = 0; !status && i < VALIDATE_CELLS; i++)
        if (strcmp(validate_cells[i].function, function) == 0 && samples[i].count != draws)
            status = cmd_fail("validate", "'%s %s' did not print '%s' %" PRIu64 " times", program,
                              function, validate_cells[i].counter, draws);
    return status;
}

static uint64_t draws_of(const char *function, uint64_t draws)
{
    for (size_t i = 0; i < FUNCTIONS_RANDOM; i++)
        if (strcmp(random_functions[i], function) == 0) return draws;
    return 1;
}

static int measure_all(const struct chil_machine *machine, const struct validate_options *o,
                       struct validate_sample *samples)
{
    const char *function = "";
    int status = 0;
    for (size_t i = 0; !status && i < VALIDATE_CELLS; i++) {
        if (strcmp(function, validate_cells[i].function) == 0) continue;
        function = validate_cells[i].function;
        status = measure(machine, o->program, function, draws_of(function, o->draws), samples);
    }
    return status;
}

/* Prints only after all measurements, so a run that fails prints no part of the table. */
static int validate_on(const struct chil_machine *machine, const struct validate_options *o)
{
    struct validate_sample samples[VALIDATE_CELLS] = {{0}};
    int64_t *values = calloc(VALIDATE_CELLS * o->draws, sizeof *values);
    if (!values) return cmd_fail("validate", "out of memory");
    for (size_t i = 0; i < VALIDATE_CELLS; i++)
        samples[i] =
            (struct validate_sample){.value = values + i * o->draws,
                                     .draws = draws_of(validate_cells[i].function, o->draws)};
    int status = measure_all(machine, o, samples);
    if (!status) validate_print(machine, o, samples);
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
    static const char *const here[] = {"."};
    if (!o.no_sandbox)
        (void)chil_sandbox_enter(&(struct chil_sandbox_options){.write = here, .write_count = 1});
    status = validate_on(machine, &o);
    chil_machine_free(machine);
    return status;
}
