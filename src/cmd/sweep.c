/* chiliad sweep: the same program on a family of machines.
 *
 *     $ chiliad sweep --set l1d.size=16K,32K,64K ./program
 *     l1d.size           cycles     BGL_D1_L_MISS ...
 *     16K             1,234,567            12,345      ####################
 *     ...
 *
 * Every --set names a parameter and its values; all combinations are run, as many at a time as the host has processors,
 * each in a process of its own. The program's output is thrown away: it is the same every time.
 */
#include "cmd/cmd.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "chiliad/run.h"

static const char help[] =
    "usage: chiliad sweep --set KEY=A,B,C [--set ...] [OPTIONS] PROGRAM [ARGUMENTS]\n"
    "\n"
    "Runs PROGRAM once for each combination of parameter values and prints one table.\n"
    "\n"
    "      --set KEY=A,B,C     a parameter of the machine, as l1d.size, and the values it takes\n"
    "  -M, --machine MACHINE   bgp (default), bgl, or a machine file\n"
    "  -e, --event LIST        events to print, names with commas between (default: the misses)\n"
    "  -j, --json              an array of objects with settings, exit_status, cycles, counters\n"
    "  -x, --separator SEP     a line per run with SEP between, and a first line of names\n"
    "      --jobs N            runs at a time (default: the host's processors)\n"
    "  -h, --help              this text\n";

enum {
    OPTION_SET = 256,
    OPTION_JOBS,
    AXES_MAX = 8,
    EVENTS_MAX = 16,
    VALUES_MAX = 64,
    RUNS_MAX = 1000,
    NAME_MAX_ = 120
};

struct axis {
    const char *key;
    const char *values[VALUES_MAX];
    size_t count;
};

struct sweep {
    const char *machine, *separator;
    bool json;
    struct axis axes[AXES_MAX];
    size_t axis_count;
    char events[EVENTS_MAX][NAME_MAX_];
    size_t event_count;
    unsigned jobs;
    size_t runs;
    char *const *argv;
};

/* What a run sends home. */
struct outcome {
    int status; /* of the guest, or CMD_BAD with the run not done */
    bool done;
    uint64_t cycles, counts[EVENTS_MAX];
};

struct job {
    pid_t pid;
    int fd;
    size_t run;
};

static const struct option long_options[] = {
    {"set", required_argument, NULL, OPTION_SET},
    {"machine", required_argument, NULL, 'M'},
    {"event", required_argument, NULL, 'e'},
    {"json", no_argument, NULL, 'j'},
    {"separator", required_argument, NULL, 'x'},
    {"jobs", required_argument, NULL, OPTION_JOBS},
    {"help", no_argument, NULL, 'h'},
    {0},
};

/* --- The command line ------------------------------------------------------------------------------------------------
 */

static int add_axis(struct sweep *s, char *text)
{
    char *values = strchr(text, '=');
    if (!values || values == text) return cmd_fail("sweep", "--set wants KEY=A,B,C, not '%s'", text);
    if (s->axis_count == AXES_MAX) return cmd_fail("sweep", "more than %d --set", AXES_MAX);
    struct axis *axis = &s->axes[s->axis_count++];
    *values++ = 0;
    axis->key = text;
    for (const char *value; (value = strsep(&values, ","));) {
        if (!*value || axis->count == VALUES_MAX)
            return cmd_fail("sweep", "--set %s wants 1 to %d values with commas between", text, VALUES_MAX);
        axis->values[axis->count++] = value;
    }
    s->runs *= axis->count;
    return s->runs > RUNS_MAX ? cmd_fail("sweep", "more than %d combinations", RUNS_MAX) : 0;
}

static int add_events(struct sweep *s, const char *list)
{
    while (*list) {
        size_t length = strcspn(list, ",");
        if (!length || length >= NAME_MAX_ || s->event_count == EVENTS_MAX)
            return cmd_fail("sweep", "-e wants at most %d names with commas between", EVENTS_MAX);
        (void)snprintf(s->events[s->event_count++], NAME_MAX_, "%.*s", (int)length, list);
        list += length;
        list += *list == ',';
    }
    return 0;
}

static int add_jobs(struct sweep *s, const char *text)
{
    char *end;
    long jobs = strtol(text, &end, 10);
    if (*end || end == text || jobs < 1 || jobs > 256)
        return cmd_fail("sweep", "--jobs wants 1 to 256, not '%s'", text);
    s->jobs = (unsigned)jobs;
    return 0;
}

static int take_option(struct sweep *s, int letter, char **argv)
{
    switch (letter) {
    case OPTION_SET: return add_axis(s, optarg);
    case 'M': s->machine = optarg; return 0;
    case 'e': return add_events(s, optarg);
    case 'j': s->json = true; return 0;
    case 'x': s->separator = optarg; return 0;
    case OPTION_JOBS: return add_jobs(s, optarg);
    case 'h': (void)fputs(help, stdout); return -1;
    default:
        return cmd_fail("sweep", "unknown or incomplete option '%s'; see 'chiliad sweep --help'", argv[optind - 1]);
    }
}

static int parse_options(int argc, char **argv, struct sweep *s)
{
    int letter;
    opterr = 0;
    while ((letter = getopt_long(argc, argv, "+:M:e:jx:h", long_options, NULL)) != -1) {
        int status = take_option(s, letter, argv);
        if (status) return status;
    }
    if (optind == argc) return cmd_fail("sweep", "no program; see 'chiliad sweep --help'");
    if (!s->axis_count) return cmd_fail("sweep", "nothing to sweep; give --set KEY=A,B,C");
    if (s->json && s->separator) return cmd_fail("sweep", "-j and -x exclude each other");
    s->argv = argv + optind;
    return s->event_count ? 0 : add_events(s, "BGL_INST,BGL_D1_L_MISS,BGL_D1_S_MISS,BGL_D2_MISS,BGL_DTLB_MISS");
}

/* The value of an axis in a run: the last axis changes fastest. */
static const char *value_of(const struct sweep *s, size_t run, size_t axis)
{
    for (size_t i = s->axis_count; i-- > axis + 1;) {
        assert(s->axes[i].count);
        run /= s->axes[i].count;
    }
    assert(s->axes[axis].count);
    return s->axes[axis].values[run % s->axes[axis].count];
}

/* --- Running ---------------------------------------------------------------------------------------------------------
 */

static int open_machine(const struct sweep *s, size_t run, struct chil_machine **machine)
{
    char text[AXES_MAX][200];
    const char *settings[AXES_MAX];
    struct chil_error err = {0};
    for (size_t i = 0; i < s->axis_count; i++) {
        (void)snprintf(text[i], sizeof text[i], "%s=%s", s->axes[i].key, value_of(s, run, i));
        settings[i] = text[i];
    }
    return chil_machine_open_with(machine, s->machine, settings, s->axis_count, &err) ? cmd_fail_error("sweep", &err)
                                                                                      : 0;
}

/* All machines and events are looked at before anything runs. */
static int check_all(const struct sweep *s)
{
    for (size_t run = 0; run < s->runs; run++) {
        struct chil_machine *machine;
        struct chil_error err = {0};
        const struct chil_event *event;
        int status = open_machine(s, run, &machine);
        if (status) return status;
        for (size_t i = 0; !status && i < s->event_count; i++)
            if (chil_machine_find_event(machine, s->events[i], &event, &err)) status = cmd_fail_error("sweep", &err);
        chil_machine_free(machine);
        if (status) return status;
    }
    return 0;
}

static int run_once(const struct sweep *s, size_t number, struct outcome *outcome)
{
    struct chil_machine *machine;
    struct chil_run *run = NULL;
    struct chil_error err = {0};
    assert(s->argv);
    int status = open_machine(s, number, &machine);
    if (status) return status;
    struct chil_run_options options = {.machine = machine, .program = s->argv[0], .argv = s->argv, .envp = environ};
    if (chil_run_new(&run, &options, &err) || chil_run_go(run, &err)) status = cmd_fail_error("sweep", &err);
    if (!status) {
        outcome->done = true;
        outcome->status = chil_run_status(run);
        outcome->cycles = chil_run_cycles(run);
        for (size_t i = 0; i < s->event_count; i++) {
            const struct chil_event *event;
            if (!chil_machine_find_event(machine, s->events[i], &event, NULL))
                outcome->counts[i] = chil_run_count(run, event);
        }
    }
    chil_run_free(run);
    chil_machine_free(machine);
    return status;
}

static void child(const struct sweep *s, size_t run, int fd)
{
    struct outcome outcome = {.status = CMD_BAD};
    int nothing = open("/dev/null", O_RDWR);
    if (nothing >= 0) {
        (void)dup2(nothing, STDIN_FILENO);
        (void)dup2(nothing, STDOUT_FILENO);
    }
    (void)run_once(s, run, &outcome);
    _exit(write(fd, &outcome, sizeof outcome) == (ssize_t)sizeof outcome ? 0 : CMD_BAD);
}

static int start(const struct sweep *s, size_t run, struct job *job)
{
    FILE *file = tmpfile();
    job->fd = file ? dup(fileno(file)) : -1;
    if (file) (void)fclose(file);
    job->run = run;
    (void)fflush(stdout);
    job->pid = job->fd < 0 ? -1 : fork();
    if (job->pid == 0) child(s, run, job->fd);
    return job->pid < 0 ? cmd_fail("sweep", "cannot start a run: %s", strerror(errno)) : 0;
}

static int collect(struct job *jobs, size_t *count, struct outcome *outcomes)
{
    int how;
    pid_t pid = wait(&how);
    for (size_t i = 0; i < *count; i++) {
        if (jobs[i].pid != pid) continue;
        struct outcome *outcome = &outcomes[jobs[i].run];
        if (pread(jobs[i].fd, outcome, sizeof *outcome, 0) != (ssize_t)sizeof *outcome) *outcome = (struct outcome){0};
        (void)close(jobs[i].fd);
        int status = outcome->done ? 0 : CMD_BAD;
        jobs[i] = jobs[--*count];
        return status;
    }
    return cmd_fail("sweep", "a run was lost");
}

static int run_all(const struct sweep *s, struct outcome *outcomes)
{
    struct job jobs[256];
    size_t running = 0, next = 0, over = 0;
    int status = 0;
    while ((next < s->runs && !status) || running) {
        if (next < s->runs && !status && running < s->jobs) {
            status = start(s, next++, &jobs[running]);
            running += status == 0;
            continue;
        }
        int one = collect(jobs, &running, outcomes);
        if (!status) status = one;
        if (isatty(STDERR_FILENO)) (void)fprintf(stderr, "\r%zu of %zu runs", ++over, s->runs);
    }
    if (isatty(STDERR_FILENO)) (void)fputc('\n', stderr);
    return status;
}

/* --- Printing --------------------------------------------------------------------------------------------------------
 */

static void print_table(const struct sweep *s, const struct outcome *outcomes)
{
    char number[CMD_GROUPED_MAX];
    uint64_t most = 1;
    for (size_t run = 0; run < s->runs; run++)
        if (outcomes[run].cycles > most) most = outcomes[run].cycles;
    for (size_t i = 0; i < s->axis_count; i++)
        (void)printf("%-14s ", s->axes[i].key);
    (void)printf("%16s", "cycles");
    for (size_t i = 0; i < s->event_count; i++)
        (void)printf(" %16s", s->events[i]);
    (void)putchar('\n');
    for (size_t run = 0; run < s->runs; run++) {
        for (size_t i = 0; i < s->axis_count; i++)
            (void)printf("%-14s ", value_of(s, run, i));
        (void)printf("%16s", cmd_grouped(outcomes[run].cycles, number));
        for (size_t i = 0; i < s->event_count; i++)
            (void)printf(" %16s", cmd_grouped(outcomes[run].counts[i], number));
        (void)printf("  %.*s\n", (int)(outcomes[run].cycles * 20 / most), "####################");
    }
}

static void print_separated(const struct sweep *s, const struct outcome *outcomes)
{
    for (size_t i = 0; i < s->axis_count; i++)
        (void)printf("%s%s", s->axes[i].key, s->separator);
    (void)printf("exit_status%scycles", s->separator);
    for (size_t i = 0; i < s->event_count; i++)
        (void)printf("%s%s", s->separator, s->events[i]);
    (void)putchar('\n');
    for (size_t run = 0; run < s->runs; run++) {
        for (size_t i = 0; i < s->axis_count; i++)
            (void)printf("%s%s", value_of(s, run, i), s->separator);
        (void)printf("%d%s%" PRIu64, outcomes[run].status, s->separator, outcomes[run].cycles);
        for (size_t i = 0; i < s->event_count; i++)
            (void)printf("%s%" PRIu64, s->separator, outcomes[run].counts[i]);
        (void)putchar('\n');
    }
}

static void print_json(const struct sweep *s, const struct outcome *outcomes)
{
    json_t *array = json_array();
    for (size_t run = 0; run < s->runs; run++) {
        json_t *settings = json_object(), *counters = json_object();
        for (size_t i = 0; i < s->axis_count; i++)
            json_object_set_new(settings, s->axes[i].key, json_string(value_of(s, run, i)));
        for (size_t i = 0; i < s->event_count; i++)
            json_object_set_new(counters, s->events[i], cmd_json_count(outcomes[run].counts[i]));
        json_array_append_new(array, json_pack("{s:o, s:i, s:o, s:o}", "settings", settings, "exit_status",
                                               outcomes[run].status, "cycles", cmd_json_count(outcomes[run].cycles),
                                               "counters", counters));
    }
    (void)json_dumpf(array, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
    (void)putchar('\n');
    json_decref(array);
}

int cmd_sweep(int argc, char **argv)
{
    struct sweep s = {.machine = "bgp", .runs = 1};
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    s.jobs = processors > 0 ? (unsigned)processors : 1;
    int status = parse_options(argc, argv, &s);
    if (status) return status < 0 ? 0 : status;
    status = check_all(&s);
    if (status) return status;
    struct outcome *outcomes = calloc(s.runs, sizeof *outcomes);
    if (!outcomes) return cmd_fail("sweep", "out of memory");
    status = run_all(&s, outcomes);
    if (!status && s.json) print_json(&s, outcomes);
    if (!status && s.separator) print_separated(&s, outcomes);
    if (!status && !s.json && !s.separator) print_table(&s, outcomes);
    free(outcomes);
    return status;
}
