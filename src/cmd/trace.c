/* chiliad trace: run a program and write down every instruction.
 *
 *     $ chiliad trace -o hello.trace --limit 1000 ./hello
 *     hello, world
 *     $ head -n 3 hello.trace
 *     # chiliad trace 1: cycle core pid pc word access instruction
 *                0 0 1000 10000424 7c290b78 -            mr      r9,r1
 *                0 0 1000 10000428 54210036 -            clrrwi  r1,r1,4
 *
 * The program has standard output to itself; the trace goes to standard error, or to -o FILE, which is written whole or
 * not at all. It is the run as it is without a trace: the same cycles, the same counts. docs/formats/trace.md is the
 * reference. What is told of an instruction comes as a record (chiliad/run.h); other forms of a trace are other
 * functions in the place of print_record.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"

static const char help[] =
    "usage: chiliad trace [OPTIONS] PROGRAM [ARGUMENTS]\n"
    "\n"
    "Runs a PowerPC Linux program on a simulated node and prints every instruction: cycle, core, process,\n"
    "address, word, data access, and what it is. The exit status is the program's, as that of 'chiliad stat'.\n"
    "\n"
    "  -o, --output FILE       the trace to FILE instead of standard error\n"
    "      --limit N           no more than N instructions; the program runs on\n"
    "      --start on|off      on from the beginning (default), or off until the program switches it on\n"
    "                          (call-through services 4 and 5, chiliad/callthru.h)\n" CMD_PROGRAM_HELP
    "  -h, --help              this text\n";

enum { OPTION_LIMIT = 256, OPTION_START };

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"limit", required_argument, NULL, OPTION_LIMIT},
    {"start", required_argument, NULL, OPTION_START},
    {"help", no_argument, NULL, 'h'},
    CMD_PROGRAM_OPTIONS,
    {0},
};

struct trace {
    struct cmd_program program;
    const char *output;
    uint64_t limit, count;
    bool done; /* the run came to its end */
    FILE *out;
};

static int take_option(struct trace *t, int letter, char **argv)
{
    switch (letter) {
    case 'o': t->output = optarg; return 0;
    case OPTION_LIMIT: return cmd_number("trace", "--limit", optarg, 1, UINT64_MAX, &t->limit);
    case OPTION_START:
        t->program.run.trace_off = strcmp(optarg, "off") == 0;
        if (t->program.run.trace_off || strcmp(optarg, "on") == 0) return 0;
        return cmd_fail("trace", "--start wants 'on' or 'off', not '%s'", optarg);
    case 'h': (void)fputs(help, stdout); return -1;
    default: break;
    }
    int status = cmd_program_take(&t->program, "trace", letter);
    return status == CMD_NOT_MINE ? cmd_bad_option("trace", letter, argv) : status;
}

static int parse_options(int argc, char **argv, struct trace *t)
{
    int letter;
    opterr = 0;
    while ((letter = getopt_long(argc, argv, "+:M:o:h", long_options, NULL)) != -1) {
        int status = take_option(t, letter, argv);
        if (status) return status;
    }
    return cmd_program_words(&t->program, "trace", argc, argv);
}

/* --- Records ---------------------------------------------------------------------------------------------------- */

static bool print_record(void *context, const struct chil_trace_record *record)
{
    static const char kinds[] = {
        [CHIL_NO_ACCESS] = '-', [CHIL_ACCESS_LOAD] = 'L', [CHIL_ACCESS_STORE] = 'S', [CHIL_ACCESS_CACHE] = 'C'};
    struct trace *t = context;
    char text[CHIL_INSTRUCTION_TEXT], access[32] = "-";
    if (record->access != CHIL_NO_ACCESS)
        (void)snprintf(access, sizeof access, "%c%" PRIu32 ":%08" PRIx32, kinds[record->access], record->size,
                       record->address);
    chil_instruction_text(record->word, record->pc, text, sizeof text);
    (void)fprintf(t->out, "%12" PRIu64 " %u %d %08" PRIx32 " %08" PRIx32 " %-12s %s\n", record->cycle, record->core,
                  record->pid, record->pc, record->word, access, text);
    return ++t->count < t->limit && !ferror(t->out);
}

static void say(void *context, const char *line)
{
    (void)context;
    cmd_program_say("trace", line);
}

static int run(struct trace *t)
{
    struct chil_run *node = NULL;
    struct chil_error err = {0};
    int status = 0;
    if (chil_run_new(&node, &t->program.run, &err)) return cmd_fail_error("trace", &err);
    (void)fputs("# chiliad trace 1: cycle core pid pc word access instruction\n", t->out);
    if (chil_run_go(node, &err)) status = cmd_fail_error("trace", &err);
    if (!status) cmd_program_report(&t->program, "trace", node);
    t->done = !status;
    if (!status) status = chil_run_status(node);
    chil_run_free(node);
    return status;
}

int cmd_trace(int argc, char **argv)
{
    struct trace t = {.limit = UINT64_MAX, .out = stderr};
    struct cmd_output output;
    struct chil_machine *machine;
    t.program.run.say = say;
    t.program.run.trace = print_record;
    t.program.run.context = &t;
    int status = parse_options(argc, argv, &t);
    if (status) return status < 0 ? 0 : status;
    status = cmd_program_machine(&t.program, "trace", &machine);
    if (status) return status;
    if (t.output) status = cmd_output_open(&output, "trace", t.output);
    if (!status) {
        if (t.output) t.out = output.file;
        status = run(&t);
        int written = t.output ? cmd_output_close(&output, t.done) : 0;
        if (written) status = written;
    }
    chil_machine_free(machine);
    return status;
}
