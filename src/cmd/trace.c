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
 * counts. docs/formats/trace.md is the reference, trace_print.c has the forms.
 *
 * A trigger is a transaction: the Nth for which a predicate holds. What is before it is known only
 * afterwards:
 *
 * - transactions are told in any run at little cost, so the last --before of them are kept in a
 * ring;
 * - instructions are told by the slow interpreter only. Runs are deterministic, so the first run,
 * at full speed, finds the number of the trigger among all transactions; a second one goes the same
 * way with the trace off until shortly before that number, and its ring holds what was before. The
 * second run's trigger must be the first one's to the last field: a program that reads what it has
 * written is refused, and --once does it in one run, slowly.
 */
#include "cmd/trace.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BEFORE_MAX = 1 << 24, STOP_CYCLES = 100000 };

struct trace {
    struct cmd_program program;
    struct cmd_places places;
    const char *output, *read, *trigger, *place;
    uint64_t limit, before, after;
    bool once, has_start, has_window;
    struct chil_trace_head head;
    struct chil_hist_names names;
    struct chil_run_names wanted; /* of the run */
    struct trace_out out;
    bool done; /* the run came to its end */
    struct chil_run *run;
    struct chil_error err;
    /* The trigger: a predicate, which of those for which it holds, and the transaction that it was.
     */
    struct chil_where *where;
    uint32_t place_pc; /* of --at */
    uint64_t nth, matches;
    struct chil_transaction at;
    uint64_t ordinal;    /* of transactions told in this run */
    uint64_t at_ordinal; /* the trigger's */
    bool fired;
    bool marked;   /* its record is written */
    uint64_t left; /* records to come behind it */
    /* What was last, while the trigger has not come. */
    struct chil_trace_item *ring;
    size_t ring_count, ring_next;
    /* The second run. */
    bool second, differs, too_late;
    uint64_t on_from; /* the transaction at which the trace goes on */
};

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

static const struct option_row option_rows[] = {
    {"output", 'o', "FILE", "the trace goes to FILE instead of standard error",
     OPTION_SET_TEXT(struct trace, output)},
    {"kind", 0, "KIND", "instruction (default), memory, or transaction",
     OPTION_SET_CHOICE(struct trace, head.kind, "instruction memory transaction")},
    {"format", 0, "FORMAT", "text (default), binary, or json, which ui.perfetto.dev opens",
     OPTION_SET_CHOICE(struct trace, out.format, "text binary json")},
    {"read", 0, "FILE", "run nothing: show a binary trace in another format",
     OPTION_SET_TEXT(struct trace, read)},
    {"limit", 0, "N", "write no more than N records; the program continues",
     OPTION_SET_NUMBER(struct trace, limit, 1, UINT64_MAX)},
    {"start", 0, "on|off",
     "on from the beginning (default), or off until the program switches the trace on (call-through services 4 and 5, chiliad/callthru.h)",
     OPTION_CALLS(take_start), .values = "on off"},
    {"trigger", 0, "EXPR",
     "begin with the first transaction for which EXPR holds, as 'kind=store & tag=ro'; 'EXPR @ N': with the Nth",
     OPTION_SET_TEXT(struct trace, trigger)},
    {"at", 0, "PLACE",
     "begin when the instruction at a function or address is executed; 'PLACE @ N': the Nth time",
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
        "Runs a PowerPC Linux program on a simulated node and writes every instruction: cycle, core, process, address, word, data access, and disassembly; or, with --kind, only instructions that access data, or the misses of the caches. The exit status is the program's, as that of 'chiliad stat'.",
    .groups = {OPTION_ROWS(option_rows), OPTION_ROWS_AT(cmd_places_rows, struct trace, places),
               OPTION_ROWS_AT(cmd_program_rows, struct trace, program)},
    .ends_at_operand = true,
};

static int parse_options(int argc, char **argv, struct trace *t)
{
    int status = options_parse(&cmd_trace_options, t, argc, argv);
    if (status) return status;
    if (t->out.format == TRACE_BINARY && !t->output &&
        isatty(t->read ? STDOUT_FILENO : STDERR_FILENO))
        return cmd_fail("trace", "a binary trace is nothing for a terminal; use -o FILE");
    if (t->has_window && !t->trigger && !t->place)
        return cmd_fail("trace", "--before and --after want a --trigger or --at");
    if ((t->trigger != NULL) + (t->place != NULL) + t->has_start > 1)
        return cmd_fail("trace", "--trigger, --at and --start exclude each other");
    if (t->place && t->head.kind == CHIL_TRACE_TRANSACTION)
        return cmd_fail("trace", "--at is for instructions; use --trigger with --kind transaction");
    if (t->read && (t->trigger || t->place || t->has_start || t->places.tag_count ||
                    t->places.category_count || t->places.heap_sites || t->places.hpm))
        return cmd_fail(
            "trace", "--read shows a trace as it is: no --trigger, --start, --tag or --category");
    if (t->out.format == TRACE_BINARY && (t->places.heap_sites || t->places.hpm))
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

/* --- Records --------------------------------------------------------------------------------- */

static bool put(struct trace *t, const struct chil_trace_item *item)
{
    if (t->out.count < t->limit) trace_out_put(&t->out, item);
    return t->out.count < t->limit && !ferror(t->out.file);
}

static void keep(struct trace *t, const struct chil_trace_item *item)
{
    if (!t->before) return;
    t->ring[t->ring_next] = *item;
    t->ring_next = (t->ring_next + 1) % t->before;
    if (t->ring_count < t->before) t->ring_count++;
}

static void put_ring(struct trace *t)
{
    if (!t->before) return;
    size_t first = (t->ring_next + t->before - t->ring_count) % t->before;
    for (size_t i = 0; i < t->ring_count; i++)
        (void)put(t, &t->ring[(first + i) % t->before]);
    t->ring_count = 0;
}

static bool put_marked(struct trace *t, struct chil_trace_item *item)
{
    put_ring(t);
    item->trigger = t->marked = true;
    t->left = t->after;
    return put(t, item) && t->left;
}

static bool put_behind(struct trace *t, const struct chil_trace_item *item)
{
    if (t->marked && !t->left) return false;
    if (t->marked) t->left--;
    return put(t, item) && (!t->marked || t->left);
}

static bool holds(struct trace *t, const struct chil_transaction *transaction)
{
    if (!chil_where_holds(t->where, transaction) || ++t->matches < t->nth) return false;
    t->fired = true;
    t->at = *transaction;
    t->at_ordinal = t->ordinal;
    return true;
}

static void take_transaction(void *context, const struct chil_transaction *transaction)
{
    struct trace *t = context;
    struct chil_trace_item item = {.transaction = *transaction};
    t->ordinal++;
    if (!chil_run_trace_is_on(t->run)) return;
    if (t->names.tags)
        item.transaction.tag = (uint8_t)chil_ranges_look_up(t->names.tags, transaction->address);
    if (t->names.categories)
        item.transaction.category =
            (uint8_t)chil_ranges_look_up(t->names.categories, transaction->pc);
    if (!t->where || t->fired)
        (void)put_behind(t, &item);
    else if (holds(t, transaction))
        (void)put_marked(t, &item);
    else
        keep(t, &item);
}

static bool take_record(void *context, const struct chil_trace_record *record)
{
    struct trace *t = context;
    bool is_trigger =
        t->fired && !t->marked && record->core == t->at.sender && record->pc == t->at.pc;
    if (t->place && !t->fired && record->pc == t->place_pc)
        is_trigger = t->fired = ++t->matches == t->nth;
    if (t->head.kind == CHIL_TRACE_MEMORY && !record->access && !is_trigger) return true;
    struct chil_trace_item item = {.record = *record};
    if (t->names.tags)
        item.record.tag =
            record->access ? (uint8_t)chil_ranges_look_up(t->names.tags, record->address) : 0;
    if (t->names.categories)
        item.record.category = (uint8_t)chil_ranges_look_up(t->names.categories, record->pc);
    if ((!t->where && !t->place) || t->marked) return put_behind(t, &item);
    if (!is_trigger) {
        keep(t, &item);
        return true;
    }
    /* Not all that is wanted was there, and the trace was off before: again, from further back. */
    t->too_late = t->second && t->on_from && t->ring_count < t->before;
    return !t->too_late && put_marked(t, &item);
}

/* The same for the most common case, where every nanosecond counts. */
static bool write_record(void *context, const struct chil_trace_record *record)
{
    struct trace *t = context;
    if (t->head.kind == CHIL_TRACE_MEMORY && !record->access) return true;
    chil_trace_write(t->out.writer, record);
    return ++t->out.count < t->limit;
}

static void watch_trigger(void *context, const struct chil_transaction *transaction)
{
    struct trace *t = context;
    t->ordinal++;
    if (!t->second) {
        if (!t->fired && holds(t, transaction)) chil_run_trace_switch(t->run, true);
        return;
    }
    if (t->ordinal == t->on_from) chil_run_trace_switch(t->run, true);
    if (t->ordinal != t->at_ordinal) return;
    t->fired = true;
    const struct chil_transaction *a = transaction, *b = &t->at;
    t->differs = a->start != b->start || a->end != b->end || a->address != b->address ||
                 a->pc != b->pc || a->kind != b->kind || a->sender != b->sender ||
                 a->core != b->core || a->pid != b->pid;
}

/* What the run has to name: in the first of two what the trigger asks for, else everything. Call
 * paths are for what is around a trigger; a run that does not follow them is faster. */
static void ask_names(struct trace *t, bool for_trigger)
{
    bool used[CHIL_VARIABLES];
    if (!t->names.functions) return;
    for (unsigned v = 0; v < CHIL_VARIABLES; v++)
        used[v] = !for_trigger || (t->where && chil_where_uses(t->where, (enum chil_variable)v));
    cmd_names_ask(&t->names, &t->wanted);
    if (!used[CHIL_VAR_FUNCTION]) t->wanted.functions = NULL;
    if (!used[CHIL_VAR_CATEGORY]) t->wanted.sections = NULL;
    if (!used[CHIL_VAR_TAG] && !used[CHIL_VAR_SYMBOL]) t->wanted.sites = NULL;
    if (!t->where || !chil_where_uses(t->where, CHIL_VAR_SYMBOL)) t->wanted.symbols = NULL;
    if ((!t->where && !t->place) || !used[CHIL_VAR_CALLPATH]) t->wanted.callpaths = NULL;
    t->program.run.names = &t->wanted;
}

/* --- Running --------------------------------------------------------------------------------- */

static void say(void *context, const char *line)
{
    const struct trace *t = context;
    if (!t->second) cmd_program_say("trace", line);
}

/* What goes wrong in the second run is told when standard error is back. */
static int run(struct trace *t)
{
    int status = 0;
    t->done = !chil_run_new(&t->run, &t->program.run, &t->err);
    if (t->done && !t->second) status = trace_out_begin(&t->out);
    if (status) t->done = false;
    if (!status && t->done) t->done = !chil_run_go(t->run, &t->err);
    if (!status && !t->done && !t->second) status = cmd_fail_error("trace", &t->err);
    if (t->done && !t->second) cmd_program_report(&t->program, "trace", t->run);
    if (t->done && !status) status = chil_run_status(t->run);
    chil_run_free(t->run);
    t->run = NULL;
    return status;
}

static bool goes_on(void *context, struct chil_run *node)
{
    const struct trace *t = context;
    (void)node;
    return !t->differs && !t->too_late && !(t->marked && !t->left);
}

/* The same again, from `back` transactions before the trigger on, and until all is written. */
static void run_again(struct trace *t, uint64_t back)
{
    struct chil_run_options *o = &t->program.run;
    t->second = true;
    t->fired = t->marked = t->too_late = false;
    t->ordinal = t->ring_count = t->ring_next = 0;
    t->on_from = t->at_ordinal > back ? t->at_ordinal - back : 0;
    ask_names(t, false);
    o->trace = take_record;
    o->trace_off = t->on_from > 0;
    o->pause = goes_on;
    o->pause_cycles = STOP_CYCLES;
    (void)run(t);
    if (t->too_late)
        run_again(t, 16 * back);
    else if (!t->marked && !t->differs)
        put_ring(t);
}

/* The second run must not be seen: it writes to nowhere, and reads what the first has read. */
static int run_silently(struct trace *t, off_t input)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC), saved[3];
    bool ready = nowhere >= 0;
    (void)fflush(NULL);
    for (int i = 0; i < 3; i++) {
        saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 3);
        bool again = i == STDIN_FILENO && input >= 0 && lseek(i, input, SEEK_SET) == input;
        if (!again && (!ready || dup2(nowhere, i) < 0)) ready = false;
    }
    if (ready) run_again(t, t->before / 8 + 16);
    (void)fflush(stderr);
    for (int i = 0; i < 3; i++) {
        if (saved[i] < 0) continue;
        (void)dup2(saved[i], i);
        (void)close(saved[i]);
    }
    if (nowhere >= 0) (void)close(nowhere);
    if (!t->done) return cmd_fail_error("trace", &t->err);
    if (ready && t->fired && !t->differs) return 0;
    return cmd_fail(
        "trace",
        "the second run did not come to the trigger of the first: the program depends on what it "
        "has changed, or on input that is gone; use --once");
}

static int run_all(struct trace *t)
{
    struct chil_run_options *o = &t->program.run;
    bool instructions = t->head.kind != CHIL_TRACE_TRANSACTION,
         twice = instructions && t->where && t->before && !t->once;
    off_t input = twice ? lseek(STDIN_FILENO, 0, SEEK_CUR) : -1;
    ask_names(t, twice);
    bool plain = t->out.format == TRACE_BINARY && !t->where && !t->place && !t->names.tags &&
                 !t->names.categories;
    if (instructions && !twice) o->trace = plain ? write_record : take_record;
    if (!instructions || t->where) o->transact = instructions ? watch_trigger : take_transaction;
    o->trace_switched = o->transact_pc = true;
    if (t->where && instructions) o->trace_off = !t->once || !t->before;
    if (t->before && !(t->ring = calloc(t->before, sizeof *t->ring)))
        return cmd_fail("trace", "out of memory");
    int status = run(t);
    if (t->done && t->where && !t->fired)
        (void)fprintf(stderr,
                      "chiliad trace: '%s' did not come: %" PRIu64 " of %" PRIu64 ", among %" PRIu64
                      " transactions\n",
                      t->trigger, t->matches, t->nth, t->ordinal);
    else if (t->done && t->place && !t->fired)
        (void)fprintf(stderr, "chiliad trace: '%s' did not come: %" PRIu64 " of %" PRIu64 "\n",
                      t->place, t->matches, t->nth);
    else if (t->done && twice) {
        int again = run_silently(t, input);
        if (again) t->done = false;
        if (again) status = again;
    } else if (t->done && t->fired && !t->marked) {
        put_ring(t);
    }
    free(t->ring);
    return status;
}

/* --- Reading back ---------------------------------------------------------------------------- */

static void add_function(void *context, const char *name, uint32_t first, uint32_t last)
{
    (void)chil_ranges_add(context, name, first, last);
}

/* Names of functions, if the program's file is still the one that was traced. */
static struct chil_ranges *find_functions(const struct chil_trace_head *head)
{
    if (!head->program_crc || trace_crc(head->program) != head->program_crc) return NULL;
    struct chil_ranges *functions = chil_ranges_new();
    if (chil_program_ranges(head->program, CHIL_PROGRAM_FUNCTIONS, add_function, functions, NULL) ==
        0)
        return functions;
    chil_ranges_free(functions);
    return NULL;
}

static int show(struct trace *t, struct chil_trace_reader *reader)
{
    struct chil_error err = {0};
    struct chil_trace_item item;
    int got;
    t->out.head = chil_trace_reader_head(reader);
    t->out.functions = find_functions(t->out.head);
    int status = trace_out_begin(&t->out);
    while (!status && (got = chil_trace_read(reader, &item, &err)) != 0) {
        if (got < 0)
            status = cmd_fail_error("trace", &err);
        else if (!put(t, &item))
            break;
    }
    bool good = trace_out_end(&t->out);
    t->done = !status;
    if (!status && !good && !t->output)
        status = cmd_fail("trace", "the trace could not be written");
    chil_ranges_free(t->out.functions);
    return status;
}

static int read_back(struct trace *t)
{
    struct chil_trace_reader *reader = NULL;
    struct chil_error err = {0};
    FILE *in = fopen(t->read, "rb");
    if (!in) return cmd_fail("trace", "cannot read '%s': %m", t->read);
    int status = 0;
    if (chil_trace_reader_new(&reader, in, t->read, &err)) status = cmd_fail_error("trace", &err);
    if (!status) status = show(t, reader);
    chil_trace_reader_free(reader);
    (void)fclose(in);
    return status;
}

/* --- All ------------------------------------------------------------------------------------- */

static int run_program(struct trace *t)
{
    uint64_t clock = 0;
    struct chil_trace_head *head = &t->head;
    bool named = t->trigger || t->place || t->places.tag_count || t->places.category_count ||
                 t->out.format == TRACE_JSON || head->kind == CHIL_TRACE_TRANSACTION;
    int status = named ? cmd_names_make(&t->names, "trace", t->program.run.program, &t->places) : 0;
    if (!status) status = read_trigger(t);
    if (status) return status;
    head->machine = chil_machine_name(t->program.run.machine);
    head->program = t->program.run.program;
    head->program_crc = trace_crc(head->program);
    head->clock_mhz = chil_machine_number(t->program.run.machine, "machine.clock_mhz", &clock)
                          ? 850
                          : (uint32_t)clock;
    trace_head_names(head, &t->names);
    t->out.head = head;
    if (named) t->out.names = &t->names;
    status = run_all(t);
    bool good = trace_out_end(&t->out);
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
    t.program.run.say = say;
    t.program.run.context = &t;
    int status = parse_options(argc, argv, &t);
    if (status) return status < 0 ? 0 : status;
    if (!t.read) status = cmd_program_machine(&t.program, "trace", &machine);
    if (status) return status;
    if (t.output) status = cmd_output_open(&output, "trace", t.output);
    if (!status) {
        t.out.file = t.output ? output.file : t.read ? stdout : own_stderr();
        status = t.read ? read_back(&t) : run_program(&t);
        int written = t.output ? cmd_output_close(&output, t.done) : 0;
        if (written) status = written;
        if (!t.output && !t.read && t.out.file != stderr) (void)fclose(t.out.file);
    }
    chil_where_free(t.where);
    cmd_names_free(&t.names);
    chil_machine_free(machine);
    return status;
}
