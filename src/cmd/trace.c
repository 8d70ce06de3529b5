/* chiliad trace: run a program and write down its instructions, its data accesses, or its misses.
 *
 *     $ chiliad trace -o hello.trace --limit 1000 ./hello
 *     hello, world
 *     $ head -n 3 hello.trace
 *     # chiliad trace 1: cycle core pid pc word access instruction
 *                0 0 1000 10000424 7c290b78 -            mr      r9,r1
 *                0 0 1000 10000428 54210036 -            clrrwi  r1,r1,4
 *
 * The program has standard output to itself; the trace goes to standard error, or to -o FILE, which
 * is written whole or not at all. It is the run as it is without a trace: the same cycles, the same
 * counts. docs/formats/trace.md is the reference, trace_run.c runs the program.
 *
 * What is kept around a trigger, and when the program runs twice, is chiliad/capture.h's.
 */
#include "cmd/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BEFORE_MAX = 1 << 24 };

/* --- Options --------------------------------------------------------------------------------- */

static int take_start(void *options, const char *command, char *value)
{
    struct trace *t = options;
    t->has_start = true;
    t->program.run.trace_off = strcmp(value, "off") == 0;
    if (t->program.run.trace_off || strcmp(value, "on") == 0) return 0;
    return cmd_fail(command, "--start wants 'on' or 'off', not '%s'", value);
}

static int take_before(void *options, const char *command, char *value)
{
    struct trace *t = options;
    t->has_window = true;
    return cmd_number(command, "--before", value, 0, BEFORE_MAX, &t->before);
}

static int take_after(void *options, const char *command, char *value)
{
    struct trace *t = options;
    t->has_window = true;
    return cmd_number(command, "--after", value, 0, UINT64_MAX, &t->after);
}

static int take_limit(void *options, const char *command, char *value)
{
    struct trace *t = options;
    return cmd_limit_has_unit(value)
               ? cmd_take_limit(&t->program, command, value)
               : cmd_number(command, "--limit", value, 1, UINT64_MAX, &t->limit);
}

static const struct option_row option_rows[] = {
    {"output", 'o', "FILE", "the trace goes to FILE instead of standard error",
     OPTION_SET_TEXT(struct trace, output)},
    {"kind", 0, "KIND",
     "instruction (default), memory, transaction, or packet: packets of the torus and their hops",
     OPTION_SET_CHOICE(struct trace, head.kind, "instruction memory transaction packet")},
    {"format", 0, "FORMAT",
     "text (default), binary, or json, which ui.perfetto.dev opens; otf2: calls and messages of "
     "MPI, an archive in the folder of -o, which Vampir and otf2-print read",
     OPTION_SET_CHOICE(struct trace, out.format, "text binary json otf2")},
    {"read", 0, "FILE", "run nothing: show a binary trace in another format",
     OPTION_SET_TEXT(struct trace, read)},
    {"limit", 0, "N|LIMIT",
     "N: write no more than N records; the program continues. With a unit, as 5Mi or 0.1s: end the "
     "run there",
     OPTION_CALLS(take_limit)},
    {"start", 0, "on|off",
     "on from the beginning (default), or off until the program switches the trace "
     "on (call-through services 4 and 5, chiliad/callthru.h)",
     OPTION_CALLS(take_start), .values = "on off"},
    {"trigger", 0, "EXPR",
     "begin with the first transaction for which EXPR holds, as 'kind=store & "
     "tag=ro'; 'EXPR @ N': with the Nth",
     OPTION_SET_TEXT(struct trace, trigger)},
    {"at", 0, "PLACE",
     "begin when the instruction at a function or address is executed; 'PLACE @ "
     "N': the Nth time",
     OPTION_SET_TEXT(struct trace, place)},
    {"before", 0, "N", "also write the N records before the trigger (default 0)",
     OPTION_CALLS(take_before)},
    {"after", 0, "N", "end N records after the trigger (default: at the program's end)",
     OPTION_CALLS(take_after)},
    {"once", 0, NULL, "for --before with instructions: do not run the program a second time",
     OPTION_SET_FLAG(struct trace, once)},
};

const struct option_table cmd_trace_options = {
    .forms = {"[OPTIONS] PROGRAM [ARGUMENTS]", "[OPTIONS] --read FILE"},
    .about =
        "Runs a PowerPC Linux program on a simulated node and writes every "
        "instruction: cycle, core, process, address, word, data access, and "
        "disassembly; or, with --kind, only instructions that access data, the "
        "misses of the caches, or the packets between nodes. The exit status is the program's, as that of 'chiliad "
        "stat'.",
    .groups = {OPTION_ROWS(option_rows), OPTION_ROWS_AT(cmd_places_rows, struct trace, places),
               OPTION_ROWS_AT(cmd_program_rows, struct trace, program)},
    .ends_at_operand = true,
};

static int parse_options(int argc, char **argv, struct trace *t)
{
    int status = options_parse(&cmd_trace_options, t, argc, argv);
    if (status) return status;
    if (t->out.format == VIEW_TRACE_BINARY && !t->output &&
        isatty(t->read ? STDOUT_FILENO : STDERR_FILENO))
        return cmd_fail("trace", "a binary trace is nothing for a terminal; use -o FILE");
    if (t->has_window && !t->trigger && !t->place)
        return cmd_fail("trace", "--before and --after want a --trigger or --at");
    if ((t->trigger != NULL) + (t->place != NULL) + t->has_start > 1)
        return cmd_fail("trace", "--trigger, --at and --start exclude each other");
    if (t->place && chil_trace_has_transactions(t->head.kind))
        return cmd_fail("trace", "--at is for instructions; use --trigger with --kind %s",
                        chil_trace_kind_name(t->head.kind));
    if (t->trigger && !t->read && !chil_trace_has_transactions(t->head.kind) &&
        cmd_program_nodes(&t->program) > 1)
        return cmd_fail("trace",
                        "with several nodes --trigger wants --kind transaction or packet, or use "
                        "--at");
    if (t->head.kind == CHIL_TRACE_PACKET &&
        (t->has_start || t->places.tag_count || t->places.category_count || t->places.heap_sites ||
         t->places.hpm))
        return cmd_fail("trace", "packets have no --start, --tag and --category; use --trigger");
    if (t->read && (t->trigger || t->place || t->has_start || t->places.tag_count ||
                    t->places.category_count || t->places.heap_sites || t->places.hpm))
        return cmd_fail(
            "trace", "--read shows a trace as it is: no --trigger, --start, --tag or --category");
    if (t->out.format == VIEW_TRACE_BINARY && (t->places.heap_sites || t->places.hpm))
        return cmd_fail(
            "trace",
            "sites and sections come up while the program runs, the names in a binary trace before: use "
            "--format text or json");
    if (t->read && optind < argc)
        return cmd_fail("trace", "--read runs no program; leave '%s' out", argv[optind]);
    return t->read ? 0 : cmd_program_words(&t->program, "trace", argc, argv);
}

struct wanted_place {
    const char *name;
    bool found;
    uint32_t first;
};

static void find_place(void *context, const char *name, uint32_t first, uint32_t last)
{
    struct wanted_place *wanted = context;
    (void)last;
    if (strcmp(name, wanted->name) != 0) return;
    wanted->found = true;
    wanted->first = first;
}

/* An address, or a function of the program's. */
static int read_place(struct trace *t, const char *text)
{
    struct wanted_place wanted = {.name = text};
    struct chil_error err = {0};
    char *end;
    if (*text >= '0' && *text <= '9') {
        unsigned long long address = strtoull(text, &end, 0);
        t->place_pc = (uint32_t)address;
        if (!*end && address <= UINT32_MAX) return 0;
        return cmd_fail("trace", "--at wants a function or an address such as 0x10000400, not '%s'",
                        text);
    }
    if (chil_program_ranges(t->program.run.program, CHIL_PROGRAM_FUNCTIONS, find_place, &wanted,
                            &err))
        return cmd_fail_error("trace", &err);
    t->place_pc = wanted.first;
    return wanted.found
               ? 0
               : cmd_fail("trace", "--at: '%s' has no function '%s'", t->program.run.program, text);
}

static int read_predicate(struct trace *t, const char *text)
{
    struct chil_error err = {0};
    return chil_where_new(&t->where, text, &t->names, &err)
               ? cmd_fail("trace", "--trigger: %s", err.text)
               : 0;
}

/* "WHAT" or "WHAT @ N", of --trigger or of --at */
static int read_trigger(struct trace *t)
{
    const char *text = t->trigger ? t->trigger : t->place;
    if (!text) return 0;
    const char *at = strrchr(text, '@'), *digits = at ? at + 1 : NULL;
    size_t length = at ? (size_t)(at - text) : strlen(text);
    while (at && t->place && length && text[length - 1] == ' ')
        length--;
    char *what = strndup(text, length);
    if (!what) return cmd_fail("trace", "out of memory");
    t->nth = 1;
    int status = 0;
    if (at) {
        while (*digits == ' ')
            digits++;
        status = cmd_number("trace", t->trigger ? "--trigger 'EXPR @ N'" : "--at 'PLACE @ N'",
                            digits, 1, UINT64_MAX, &t->nth);
    }
    if (!status) status = t->trigger ? read_predicate(t, what) : read_place(t, what);
    free(what);
    return status;
}

/* --- All ------------------------------------------------------------------------------------- */

static int run_program(struct trace *t)
{
    uint64_t clock = 0;
    struct chil_trace_head *head = &t->head;
    bool named = t->trigger || t->place || t->places.tag_count || t->places.category_count ||
                 t->out.format == VIEW_TRACE_JSON || chil_trace_has_transactions(head->kind);
    t->names.nodes = cmd_program_nodes(&t->program);
    int status = named ? cmd_names_make(&t->names, "trace", t->program.run.program, &t->places) : 0;
    if (!status) status = read_trigger(t);
    if (status) return status;
    head->machine = chil_machine_name(t->program.run.machine);
    head->program = t->program.run.program;
    head->program_crc = chil_trace_crc(head->program);
    /* Other errors are the loader's, which knows more of programs. */
    if (!head->program_crc &&
        (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == EIO))
        return cmd_fail("trace", "cannot read '%s': %m", head->program);
    head->clock_mhz = chil_machine_number(t->program.run.machine, "machine.clock_mhz", &clock)
                          ? 850
                          : (uint32_t)clock;
    view_trace_names(head, &t->names);
    t->out.head = head;
    if (named) t->out.names = &t->names;
    status = trace_run(t);
    bool good = view_trace_end(&t->out);
    if (t->done && !good && !t->output)
        status = cmd_fail("trace", "the trace could not be written");
    return status;
}

/* Where it goes without -o: the second run has standard error for itself. */
static FILE *own_stderr(void)
{
    int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "a");
    return file ? file : stderr;
}

int cmd_trace(int argc, char **argv)
{
    struct trace t = {.limit = UINT64_MAX, .after = UINT64_MAX};
    struct cmd_output output;
    struct chil_machine *machine = NULL;
    t.program.run.report = trace_warn;
    t.program.run.context = &t;
    int status = parse_options(argc, argv, &t);
    if (status) return status < 0 ? 0 : status;
    if (!t.read) status = cmd_program_machine(&t.program, "trace", &machine);
    if (status) return status;
    if ((unsigned)t.out.format == TRACE_OTF2) {
        status = trace_mpi(&t);
        chil_machine_free(machine);
        return status;
    }
    cmd_program_output(&t.program, t.output);
    if (t.output) status = cmd_output_open(&output, "trace", t.output);
    if (!status) {
        t.out.file = t.output ? output.file : t.read ? stdout : own_stderr();
        status = t.read ? trace_read_back(&t) : run_program(&t);
        int written = t.output ? cmd_output_close(&output, t.done) : 0;
        if (written) status = written;
        if (!t.output && !t.read && t.out.file != stderr) (void)fclose(t.out.file);
    }
    chil_where_free(t.where);
    cmd_names_free(&t.names);
    chil_machine_free(machine);
    return status;
}
