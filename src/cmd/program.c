/* Shared by commands that run a program: options for the machine and for the program's files, and
 * reports about the run. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"

int cmd_program_miss_kinds(struct cmd_program *p, const char *command)
{
    if (p->setting_count == CMD_PROGRAM_LIST)
        return cmd_fail(command, "more than %d --set", CMD_PROGRAM_LIST);
    p->settings[p->setting_count++] = "misses.kinds=on";
    return 0;
}

static int take_miss_kinds(void *options, const char *command, char *value)
{
    (void)value;
    return cmd_program_miss_kinds(options, command);
}

static int take_mpi_check(void *options, const char *command, char *value)
{
    struct cmd_program *p = options;
    (void)value;
    if (p->env_count == CMD_PROGRAM_LIST) return cmd_fail(command, "--env is given too often");
    p->env[p->env_count++] = "MPI_CHECK=1";
    return 0;
}

static int take_memory(void *options, const char *command, char *value)
{
    static const char *const settings[] = {"memory.model=full", "memory.model=l1",
                                           "memory.model=none"};
    struct cmd_program *p = options;
    if (p->setting_count == CMD_PROGRAM_LIST)
        return cmd_fail(command, "more than %d --set", CMD_PROGRAM_LIST);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (strcmp(strchr(settings[i], '=') + 1, value) == 0) {
            p->settings[p->setting_count++] = settings[i];
            return 0;
        }
    return cmd_fail(command, "--memory wants full, l1 or none, not '%s'", value);
}

/* A whole number, perhaps with K, M or G. */
static bool take_size(const char *text, uint64_t *number)
{
    static const char units[] = "KMG";
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || errno) return false;
    const char *unit = *end ? strchr(units, *end) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if ((unit ? end[1] : *end) || *number > UINT64_MAX >> shift) return false;
    *number <<= shift;
    return true;
}

/* WHAT=N */
static int take_maximum(void *options, const char *command, char *value)
{
    struct cmd_program *p = options;
    const struct {
        const char *name;
        uint64_t *field, least;
    } rows[] = {
        {"memory", &p->run.maximum.memory, 1 << 24}, {"tasks", &p->run.maximum.tasks, 1},
        {"files", &p->run.maximum.files, 8},         {"signals", &p->run.maximum.signals, 64},
        {"output", &p->run.maximum.output, 1},
    };
    size_t length = strcspn(value, "=");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t number;
        if (strlen(rows[i].name) != length || strncmp(rows[i].name, value, length) != 0) continue;
        if (!value[length] || !take_size(value + length + 1, &number) || number < rows[i].least)
            return cmd_fail(command, "--max %s wants a number from %" PRIu64 " on, as in %s=%s",
                            rows[i].name, rows[i].least, rows[i].name,
                            i == 0 || i == 4 ? "2G" : "100");
        *rows[i].field = number;
        return 0;
    }
    return cmd_fail(
        command, "--max wants memory=N, tasks=N, files=N, signals=N or output=N, not '%s'", value);
}

static int take_torus(void *options, const char *command, char *value)
{
    struct cmd_program *p = options;
    struct chil_error err = {0};
    return chil_torus_parse(value, &p->run.torus, &err) ? cmd_fail_error(command, &err) : 0;
}

const struct option_row cmd_program_rows[CMD_PROGRAM_ROWS] = {
    {"machine", 'M', "MACHINE", "bgp (default), bgl, or a machine file",
     OPTION_SET_TEXT(struct cmd_program, machine), .values = "@machines"},
    {"set", 0, "KEY=VALUE",
     "another value for a parameter of the machine, as l1d.size=16K; may be repeated",
     OPTION_ADD_TEXT(struct cmd_program, settings, setting_count)},
    {"miss-kinds", 0, NULL,
     "count cold, capacity, conflict and coherence misses separately; the same as "
     "--set misses.kinds=on",
     OPTION_CALLS(take_miss_kinds)},
    {"memory", 0, "MODEL",
     "how much of the memory hierarchy is simulated: full (default); l1: L1 and TLB; none: exact "
     "events only, many times as fast; l1 and none count no cycles; the same as "
     "--set memory.model=MODEL",
     OPTION_CALLS(take_memory), .values = "full l1 none"},
    {"nodes", 'n', "NODES", "run the program on so many nodes, each with a copy of its own",
     OPTION_SET_NUMBER(struct cmd_program, run.nodes, 1, CHIL_RUN_NODES_MAX)},
    {"torus", 0, "XxYxZ",
     "where the nodes are, as 8x8x4; an 'm' behind a size opens that ring (default: as cubic as "
     "possible)",
     OPTION_CALLS(take_torus)},
    {"threads", 0, "N",
     "run nodes on so many threads (default: the processors of the host); no result depends on it",
     OPTION_SET_NUMBER(struct cmd_program, run.threads, 1, CHIL_RUN_THREADS_MAX)},
    {"mode", 0, "MODE",
     "processes of a node: smp (default) one, dual two, vn one for each core; each has its part of "
     "the cores and of the memory",
     OPTION_SET_CHOICE(struct cmd_program, run.mode, "smp dual vn")},
    {"mapping", 0, "ORDER|FILE",
     "ranks of processes: XYZT (default), TXYZ or another order of coordinates, of which the first "
     "changes first; or a file with a line 'x y z t' for each rank",
     OPTION_SET_FULL(struct cmd_program, run.mapping), .values = "XYZT TXYZ"},
    {"mpi-check", 0, NULL,
     "the MPI library compares both sides of each message and reports what does not match or is "
     "left at the end",
     OPTION_CALLS(take_mpi_check)},
    {"sysroot", 0, "DIR", "where ld.so.1 and shared libraries are (default: Debian's cross root)",
     OPTION_SET_TEXT(struct cmd_program, run.sysroot)},
    {"root", 0, "DIR", "confine the program's files to DIR",
     OPTION_SET_TEXT(struct cmd_program, run.root)},
    {"writable", 0, "DIR",
     "the program may write below DIR, besides the working directory; may be "
     "repeated",
     OPTION_ADD_TEXT(struct cmd_program, writable, run.writable_count)},
    {"max", 0, "WHAT=N",
     "the most that the program and its children may use: memory, tasks (processes and threads), "
     "files, signals, output (bytes); N may end in K, M or G; may be repeated",
     OPTION_CALLS(take_maximum), .values = "memory= tasks= files= signals= output="},
    {"no-sandbox", 0, NULL,
     "leave out the second wall, by which the kernel holds the simulator to what a run needs",
     OPTION_SET_FLAG(struct cmd_program, no_sandbox)},
    {"env", 0, "NAME[=VALUE]",
     "the program has this variable, with your value or another one, besides its fixed "
     "environment; may be repeated",
     OPTION_ADD_TEXT(struct cmd_program, env, env_count)},
    {"env-host", 0, NULL, "the program has your environment instead of the fixed one",
     OPTION_SET_FLAG(struct cmd_program, env_host)},
    {"limit", 0, "LIMIT",
     "end the run after so many cycles (500Mc), instructions (2Gi) or simulated seconds (0.1s); "
     "the counts are marked partial",
     OPTION_CALLS(cmd_take_limit)},
    {"engine", 0, "ENGINE", "auto (default), interp, jit, or lockstep, which compares the two",
     OPTION_SET_TEXT(struct cmd_program, run.engine), .values = "auto interp jit lockstep"},
};

unsigned cmd_program_nodes(const struct cmd_program *p)
{
    const unsigned *size = p->run.torus.size;
    if (p->run.nodes) return p->run.nodes;
    return size[0] ? size[0] * size[1] * size[2] : 1;
}

/* Which compiler makes a program of that source file; NULL: it is none. */
static const char *compiler_of(const char *name)
{
    static const char *const endings[][2] = {{".c", "cc"},    {".cc", "cxx"}, {".cpp", "cxx"},
                                             {".cxx", "cxx"}, {".f", "fc"},   {".f90", "fc"},
                                             {".F90", "fc"}};
    const char *ending = strrchr(name, '.');
    for (size_t i = 0; ending && i < sizeof endings / sizeof *endings; i++)
        if (strcmp(ending, endings[i][0]) == 0) return endings[i][1];
    return NULL;
}

int cmd_program_words(struct cmd_program *p, const char *command, int argc, char **argv)
{
    if (optind == argc)
        return cmd_fail(command, "no program; 'chiliad %s [OPTIONS] PROGRAM [ARGUMENTS]'", command);
    const char *compiler = compiler_of(argv[optind]);
    if (compiler && access(argv[optind], R_OK) == 0 && access(argv[optind], X_OK) != 0)
        return cmd_fail(command, "'%s' is a source file; compile it: 'chiliad %s %s -o PROGRAM'",
                        argv[optind], compiler, argv[optind]);
    p->run.program = argv[optind];
    p->run.argv = argv + optind;
    (void)snprintf(p->shown, sizeof p->shown, "%s", p->run.program);
    (void)view_printable(p->shown);
    p->run.writable = p->writable;
    return cmd_program_env(p, command);
}

/* Less than the whole memory hierarchy: for what counts events, and without a time. */
int cmd_program_memory(const struct cmd_program *p, const char *command,
                       const struct chil_machine *machine)
{
    const char *model = chil_machine_word(machine, "memory.model");
    if (!model || strcmp(model, "full") == 0) return 0;
    if (strcmp(command, "stat") != 0 && strcmp(command, "record") != 0)
        return cmd_fail(command,
                        "memory.model is %s, but this command wants the whole memory "
                        "hierarchy; leave it out",
                        model);
    if (p->run.limit_cycles || p->limit_seconds > 0)
        return cmd_fail(command,
                        "--limit %s: with --memory=%s there are no cycles; limit instructions, as "
                        "2Gi",
                        p->limit, model);
    return 0;
}

int cmd_program_machine(struct cmd_program *p, const char *command, struct chil_machine **machine)
{
    struct chil_error err = {0};
    int status = cmd_ranks_refuse(p, command);
    if (status) return status;
    if (chil_machine_open_with(machine, p->machine ? p->machine : "bgp", p->settings,
                               p->setting_count, &err))
        return cmd_fail_error(command, &err);
    p->run.machine = *machine;
    if (cmd_program_memory(p, command, *machine)) {
        chil_machine_free(*machine);
        return CMD_BAD;
    }
    (void)signal(SIGPIPE, SIG_IGN); /* a closed pipe is the guest's business */
    return cmd_program_prepare(p, command);
}

void cmd_program_say(void *command, const char *line)
{
    (void)fprintf(stderr, "chiliad %s: %s\n", (const char *)command, line);
}

void cmd_program_report(const struct cmd_program *p, const char *command,
                        const struct chil_run *run)
{
    char report[2000];
    if (p->partial) {
        uint64_t cycles, instructions;
        chil_run_progress(run, &cycles, &instructions);
        (void)fprintf(stderr,
                      "chiliad %s: %s after %.6f s of simulated time: results are partial\n",
                      command, p->partial, (double)cycles / p->progress.clock_hz);
    }
    if (!chil_run_was_killed(run)) return;
    chil_run_report(run, report, sizeof report);
    (void)fprintf(stderr, "chiliad %s: '%s' ", command, p->shown);
    if (chil_run_nodes(run) > 1) {
        unsigned node = (unsigned)chil_run_failed_node(run), at[3];
        chil_run_coordinates(run, node, at);
        (void)fprintf(stderr, "on node %u (%u,%u,%u) ", node, at[0], at[1], at[2]);
    }
    (void)fprintf(stderr, "was %s", report);
}

bool cmd_event_is_off(const struct chil_event *event)
{
    return event->needs && event->exactness == CHIL_NONE;
}

int cmd_event_check(const char *command, const struct chil_event *event)
{
    if (!cmd_event_is_off(event)) return 0;
    if (strcmp(event->needs, "memory.model") == 0)
        return cmd_fail(command,
                        "'%s' is modelled, and this much of the memory hierarchy is not "
                        "simulated; leave out --memory",
                        event->name);
    return cmd_fail(command, "'%s' is not counted while %s is off; use --set %s=on", event->name,
                    event->needs, event->needs);
}

int cmd_bad_option(const char *command, int letter, char **argv, const char *nearest)
{
    const char *word = argv[optind - 1];
    char short_option[] = {'-', (char)optopt, 0}; /* perhaps among others: -jq */
    if (letter == ':')
        return cmd_fail(command, "option '%s' wants a value; see 'chiliad %s --help'", word,
                        command);
    if (optopt && strncmp(word, "--", 2) == 0 && strchr(word, '='))
        return cmd_fail(command, "option '%s' takes no value; see 'chiliad %s --help'", word,
                        command);
    if (nearest)
        return cmd_fail(command, "unknown option '%s'; did you mean '--%s'?", word, nearest);
    return cmd_fail(command, "unknown option '%s'; see 'chiliad %s --help'",
                    optopt ? short_option : word, command);
}

int cmd_number(const char *command, const char *option, const char *text, uint64_t least,
               uint64_t most, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && !errno && *value >= least && *value <= most)
        return 0;
    if (most == UINT64_MAX)
        return cmd_fail(command, "%s wants a number from %" PRIu64 " on, not '%s'", option, least,
                        text);
    return cmd_fail(command, "%s wants a number from %" PRIu64 " to %" PRIu64 ", not '%s'", option,
                    least, most, text);
}
