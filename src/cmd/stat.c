/* chiliad stat: run a program and count what it does.
 *
 *     $ chiliad stat ./hello
 *     hello, world
 *
 *      counters of './hello' on bgp
 *
 *                  1,234,567  BGL_INST       Instructions completed
 *     ...
 *     2,345,678 cycles, 0.002760 s at 850 MHz, exit status 0
 *
 * The guest has standard output to itself; the counts go to standard error, or to -o FILE, which is written whole or
 * not at all. What is printed: by default a short table, with -j and -x everything; -e chooses, --all prints all.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chiliad/run.h"

static const char help[] =
    "usage: chiliad stat [OPTIONS] PROGRAM [ARGUMENTS]\n"
    "\n"
    "Runs a PowerPC Linux program on a simulated node and prints what it did. The counts go to standard\n"
    "error; the exit status is the program's, 128 + signal if it was killed, 2 for an error of this command.\n"
    "\n"
    "  -M, --machine MACHINE   bgp (default), bgl, or a machine file\n"
    "  -e, --event LIST        events to print: names and globs, separated by commas; may be repeated\n"
    "      --all               every event of the machine\n"
    "  -j, --json              one JSON object, with every event unless -e says otherwise\n"
    "  -x, --separator SEP     lines of value SEP unit SEP event SEP exactness, as -j complete\n"
    "  -o, --output FILE       counts to FILE instead of standard error\n"
    "      --set KEY=VALUE     another value for a parameter of the machine, as l1d.size=16K; may be repeated\n"
    "      --sysroot DIR       where ld.so.1 and shared libraries are (default: Debian's cross root)\n"
    "      --root DIR          confine the program's files to DIR\n"
    "      --writable DIR      the program may write below DIR, besides the working directory; may be repeated\n"
    "  -h, --help              this text\n";

enum {
    OPTION_ALL = 256,
    OPTION_SYSROOT,
    OPTION_ROOT,
    OPTION_WRITABLE,
    OPTION_SET,
    SETTINGS_MAX = 64,
    PATTERNS_MAX = 256,
    WRITABLE_MAX = 64
};

struct stat_options {
    struct chil_run_options run;
    const char *machine, *separator, *output;
    const char *patterns[PATTERNS_MAX];
    const char *writable[WRITABLE_MAX];
    const char *settings[SETTINGS_MAX];
    size_t setting_count;
    size_t pattern_count;
    bool json, all;
};

static const struct option long_options[] = {
    {"machine", required_argument, NULL, 'M'},
    {"event", required_argument, NULL, 'e'},
    {"all", no_argument, NULL, OPTION_ALL},
    {"json", no_argument, NULL, 'j'},
    {"separator", required_argument, NULL, 'x'},
    {"output", required_argument, NULL, 'o'},
    {"sysroot", required_argument, NULL, OPTION_SYSROOT},
    {"root", required_argument, NULL, OPTION_ROOT},
    {"writable", required_argument, NULL, OPTION_WRITABLE},
    {"set", required_argument, NULL, OPTION_SET},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static int add_patterns(struct stat_options *o, char *list)
{
    for (char *rest = list, *pattern; (pattern = strsep(&rest, ","));) {
        if (!*pattern) return cmd_fail("stat", "-e has an empty name; write names with commas between");
        if (o->pattern_count == PATTERNS_MAX) return cmd_fail("stat", "-e names more than %d patterns", PATTERNS_MAX);
        o->patterns[o->pattern_count++] = pattern;
    }
    return 0;
}

static int take_option(struct stat_options *o, int letter, char **argv)
{
    switch (letter) {
    case 'M': o->machine = optarg; return 0;
    case 'e': return add_patterns(o, optarg);
    case 'j': o->json = true; return 0;
    case 'x': o->separator = optarg; return 0;
    case 'o': o->output = optarg; return 0;
    case OPTION_ALL: o->all = true; return 0;
    case OPTION_SYSROOT: o->run.sysroot = optarg; return 0;
    case OPTION_ROOT: o->run.root = optarg; return 0;
    case OPTION_WRITABLE:
        if (o->run.writable_count == WRITABLE_MAX) return cmd_fail("stat", "more than %d --writable", WRITABLE_MAX);
        o->writable[o->run.writable_count++] = optarg;
        return 0;
    case OPTION_SET:
        if (o->setting_count == SETTINGS_MAX) return cmd_fail("stat", "more than %d --set", SETTINGS_MAX);
        o->settings[o->setting_count++] = optarg;
        return 0;
    case 'h': (void)fputs(help, stdout); return -1;
    case ':': return cmd_fail("stat", "option '%s' wants a value; see 'chiliad stat --help'", argv[optind - 1]);
    default: return cmd_fail("stat", "unknown option '%s'; see 'chiliad stat --help'", argv[optind - 1]);
    }
}

/* Options end at the program's name: what follows is the program's. */
static int parse_options(int argc, char **argv, struct stat_options *o)
{
    int letter;
    opterr = 0;
    while ((letter = getopt_long(argc, argv, "+:M:e:jx:o:h", long_options, NULL)) != -1) {
        int status = take_option(o, letter, argv);
        if (status) return status;
    }
    if (optind == argc) return cmd_fail("stat", "no program; 'chiliad stat [OPTIONS] PROGRAM [ARGUMENTS]'");
    if (o->json && o->separator) return cmd_fail("stat", "-j and -x exclude each other");
    o->run.program = argv[optind];
    o->run.argv = argv + optind;
    o->run.envp = environ;
    o->run.writable = o->writable;
    return 0;
}

/* --- Which events ---------------------------------------------------------------------------------------------- */

struct chosen {
    const struct chil_event **events;
    size_t count;
};

static bool wanted(const struct stat_options *o, const struct chil_event *event)
{
    if (event->reserved) return false;
    if (!o->pattern_count) return event->simulator || o->all || o->json || o->separator;
    for (size_t i = 0; i < o->pattern_count; i++)
        if (strcasecmp(o->patterns[i], event->name) == 0 ||
            (strpbrk(o->patterns[i], "*?[") && chil_event_matches(event, o->patterns[i])))
            return true;
    return false;
}

static void choose_from(struct chosen *chosen, const struct stat_options *o, const struct chil_event *events,
                        size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (wanted(o, &events[i])) chosen->events[chosen->count++] = &events[i];
}

static int check_patterns(const struct stat_options *o, const struct chil_machine *machine, const struct chosen *chosen)
{
    for (size_t i = 0; i < o->pattern_count; i++) {
        bool found = false;
        for (size_t k = 0; !found && k < chosen->count; k++)
            found = strcasecmp(o->patterns[i], chosen->events[k]->name) == 0 ||
                    (strpbrk(o->patterns[i], "*?[") && chil_event_matches(chosen->events[k], o->patterns[i]));
        const struct chil_event *event;
        struct chil_error err = {0};
        if (found) continue;
        if (chil_machine_find_event(machine, o->patterns[i], &event, &err)) return cmd_fail_error("stat", &err);
        return cmd_fail("stat", "'%s' names no event that can be counted", o->patterns[i]);
    }
    return 0;
}

static int choose(struct chosen *chosen, const struct stat_options *o, const struct chil_machine *machine)
{
    size_t own_count, count;
    const struct chil_event *own = chil_machine_own_events(machine, &own_count);
    const struct chil_event *events = chil_machine_events(machine, &count);
    chosen->events = calloc(own_count + count, sizeof(const struct chil_event *));
    if (!chosen->events) return cmd_fail("stat", "out of memory");
    choose_from(chosen, o, own, own_count);
    choose_from(chosen, o, events, count);
    return check_patterns(o, machine, chosen);
}

/* --- Printing --------------------------------------------------------------------------------------------------- */

/* --- Derived: numerator and denominator are sums of the simulator's own counters, "cycles" or "seconds" -------------
 */

static const struct derived {
    const char *text, *unit, *over, *under;
    double scale;
} derived[] = {
    {"instructions per cycle", "", "BGL_INST", "cycles", 1},
    {"Mflop/s", "", "BGL_FLOP", "seconds", 1e-6},
    {"L1 data misses", "% of accesses", "BGL_D1_L_MISS BGL_D1_S_MISS", "BGL_D1_HIT BGL_D1_L_MISS BGL_D1_S_MISS", 100},
    {"data from DDR", "MB/s", "BGL_DDR_READ", "seconds", 128e-6},
    {"data to DDR", "MB/s", "BGL_DDR_WRITE", "seconds", 128e-6},
    {"DDR bytes per flop", "", "BGL_DDR_READ BGL_DDR_WRITE", "BGL_FLOP", 128},
    {"waiting for loads", "% of cycles", "BGL_STALL_LOAD", "cycles", 100},
    {"waiting for stores", "% of cycles", "BGL_STALL_STORE", "cycles", 100},
    {"waiting for instructions", "% of cycles", "BGL_STALL_FETCH", "cycles", 100},
    {"TLB miss handling", "% of cycles", "BGL_STALL_TLB", "cycles", 100},
};

/* The sum of the named counters; negative when the machine lacks one. */
static double sum_of(const struct chil_run *run, const struct chil_machine *machine, const char *names)
{
    char copy[100], *rest = copy;
    double sum = 0;
    uint64_t mhz = 1;
    (void)snprintf(copy, sizeof copy, "%s", names);
    (void)chil_machine_number(machine, "machine.clock_mhz", &mhz);
    for (const char *name; (name = strsep(&rest, " "));) {
        const struct chil_event *event;
        if (strcmp(name, "cycles") == 0)
            sum += (double)chil_run_cycles(run);
        else if (strcmp(name, "seconds") == 0)
            sum += (double)chil_run_cycles(run) / (double)mhz * 1e-6;
        else if (chil_machine_find_event(machine, name, &event, NULL))
            return -1;
        else
            sum += (double)chil_run_count(run, event);
    }
    return sum;
}

/* With several cores "% of cycles" is of one core's: the sum of all may pass 100. */
static void print_derived(FILE *out, const struct chil_run *run, const struct chil_machine *machine)
{
    (void)fputc('\n', out);
    for (size_t i = 0; i < sizeof derived / sizeof *derived; i++) {
        double over = sum_of(run, machine, derived[i].over), under = sum_of(run, machine, derived[i].under);
        if (over < 0 || under <= 0) continue;
        (void)fprintf(out, "%20.3f  %s%s%s\n", over / under * derived[i].scale, derived[i].text,
                      *derived[i].unit ? ", " : "", derived[i].unit);
    }
}

static void print_table(FILE *out, const struct chil_run *run, const struct stat_options *o,
                        const struct chil_machine *machine, const struct chosen *chosen)
{
    char a[32];
    uint64_t mhz = 0;
    (void)chil_machine_number(machine, "machine.clock_mhz", &mhz);
    (void)fprintf(out, "\n counters of '%s' on %s\n\n", o->run.program, chil_machine_name(machine));
    for (size_t i = 0; i < chosen->count; i++) {
        const struct chil_event *event = chosen->events[i];
        (void)fprintf(out, "%20s  %-30s %s%s\n",
                      event->exactness == CHIL_NONE ? "-" : cmd_grouped(chil_run_count(run, event), a), event->name,
                      event->exactness == CHIL_MODELLED ? "(modelled) " : "", event->text);
    }
    if (!o->pattern_count) print_derived(out, run, machine);
    (void)fprintf(out, "\n%s cycles, ", cmd_grouped(chil_run_cycles(run), a));
    if (mhz) (void)fprintf(out, "%.6f s at %" PRIu64 " MHz, ", (double)chil_run_cycles(run) / (double)mhz * 1e-6, mhz);
    (void)fprintf(out, "exit status %d\n", chil_run_status(run));
}

static void print_separated(FILE *out, const struct chil_run *run, const struct stat_options *o,
                            const struct chosen *chosen)
{
    const char *s = o->separator;
    for (size_t i = 0; i < chosen->count; i++)
        (void)fprintf(out, "%" PRIu64 "%s%s%s%s%s%s\n", chil_run_count(run, chosen->events[i]), s,
                      chosen->events[i]->unit, s, chosen->events[i]->name, s,
                      chil_exactness_word((int)chosen->events[i]->exactness));
}

static int print_json(FILE *out, const struct chil_run *run, const struct stat_options *o,
                      const struct chil_machine *machine, const struct chosen *chosen)
{
    json_t *counters = json_array();
    for (size_t i = 0; i < chosen->count; i++) {
        const struct chil_event *event = chosen->events[i];
        json_array_append_new(counters, json_pack("{s:s, s:o, s:s, s:s}", "name", event->name, "value",
                                                  cmd_json_count(chil_run_count(run, event)), "unit", event->unit,
                                                  "exactness", chil_exactness_word((int)event->exactness)));
    }
    json_t *program = json_string(o->run.program);
    json_t *json = json_pack("{s:s, s:o, s:i, s:o, s:o, s:o}", "machine", chil_machine_name(machine), "program",
                             program ? program : json_null(), "exit_status", chil_run_status(run), "instructions",
                             cmd_json_count(chil_run_instructions(run)), "cycles", cmd_json_count(chil_run_cycles(run)),
                             "counters", counters);
    int bad = json_dumpf(json, out, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
    (void)fputc('\n', out);
    json_decref(json);
    return bad;
}

static int print_counts(FILE *out, const struct chil_run *run, const struct stat_options *o,
                        const struct chil_machine *machine, const struct chosen *chosen)
{
    int bad = 0;
    if (o->json)
        bad = print_json(out, run, o, machine, chosen);
    else if (o->separator)
        print_separated(out, run, o, chosen);
    else
        print_table(out, run, o, machine, chosen);
    return bad || fflush(out) || ferror(out);
}

/* A pipe, a terminal or /dev/null is written to, not replaced. */
static int write_special(const struct chil_run *run, const struct stat_options *o, const struct chil_machine *machine,
                         const struct chosen *chosen)
{
    FILE *out = fopen(o->output, "a"); /* /dev/stderr may be a file, not to be cut */
    if (!out) return cmd_fail("stat", "cannot write '%s': %s", o->output, strerror(errno));
    int bad = print_counts(out, run, o, machine, chosen);
    if (fclose(out) == 0 && !bad) return 0;
    return cmd_fail("stat", "cannot write '%s': %s", o->output, strerror(errno));
}

/* Writes FILE under a temporary name beside it and moves it into place, so that it is there whole or not at all. */
static int write_output(const struct chil_run *run, const struct stat_options *o, const struct chil_machine *machine,
                        const struct chosen *chosen)
{
    char temporary[4096];
    struct stat info;
    if (lstat(o->output, &info) == 0 && !S_ISREG(info.st_mode)) return write_special(run, o, machine, chosen);
    if (snprintf(temporary, sizeof temporary, "%s.XXXXXX", o->output) >= (int)sizeof temporary)
        return cmd_fail("stat", "the name '%.60s...' is too long", o->output);
    int fd = mkstemp(temporary);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!out) return cmd_fail("stat", "cannot write '%s': %s", o->output, strerror(errno));
    int bad = print_counts(out, run, o, machine, chosen) || fchmod(fd, 0644) || fsync(fd);
    bad |= fclose(out);
    if (!bad && rename(temporary, o->output) == 0) return 0;
    int why = errno;
    (void)unlink(temporary);
    return cmd_fail("stat", "cannot write '%s': %s", o->output, strerror(why));
}

/* --- Running ---------------------------------------------------------------------------------------------------- */

static void say(void *context, const char *line)
{
    (void)context;
    (void)fprintf(stderr, "chiliad stat: %s\n", line);
}

static int run_and_print(struct chil_run *run, const struct stat_options *o, const struct chil_machine *machine,
                         const struct chosen *chosen)
{
    struct chil_error err = {0};
    if (chil_run_go(run, &err)) return cmd_fail_error("stat", &err);
    if (chil_run_was_killed(run)) {
        char report[2000];
        chil_run_report(run, report, sizeof report);
        (void)fprintf(stderr, "chiliad stat: '%s' was %s", o->run.program, report);
    }
    int status = o->output ? write_output(run, o, machine, chosen) : print_counts(stderr, run, o, machine, chosen);
    return status ? CMD_BAD : chil_run_status(run);
}

static int stat_on(struct stat_options *o, const struct chil_machine *machine)
{
    struct chosen chosen = {0};
    struct chil_run *run = NULL;
    struct chil_error err = {0};
    int status = choose(&chosen, o, machine);
    o->run.machine = machine;
    o->run.say = say;
    if (!status && chil_run_new(&run, &o->run, &err)) status = cmd_fail_error("stat", &err);
    if (!status) status = run_and_print(run, o, machine, &chosen);
    chil_run_free(run);
    free(chosen.events);
    return status;
}

int cmd_stat(int argc, char **argv)
{
    struct stat_options o = {.machine = "bgp"};
    struct chil_machine *machine;
    struct chil_error err = {0};
    int status = parse_options(argc, argv, &o);
    if (status) return status < 0 ? 0 : status;
    if (chil_machine_open_with(&machine, o.machine, o.settings, o.setting_count, &err))
        return cmd_fail_error("stat", &err);
    (void)signal(SIGPIPE, SIG_IGN); /* a closed pipe is the guest's business */
    status = stat_on(&o, machine);
    chil_machine_free(machine);
    return status;
}
