/* chiliad check: run a program and hold it to rules about counts and accesses.
 *
 *     $ cat table.rules
 *     tag ro = table
 *     never(tag=ro, kind=store, function!=init)
 *     at_most(BGL_D1_L_MISS, 66K + 2%)
 *     $ chiliad check table.rules ./program
 *     table.rules:2:1: broken: never(tag=ro, kind=store, function!=init)
 *         1 is not <= 0; first: store of 4 bytes at 0x10021f40 (table), tag ro, by spoil+0x8
 * (program.c:12), ...
 *
 * The interpreter's traced variant reports accesses, the memory hierarchy reports misses. Neither
 * changes what the program does. The exit status is 1 when a rule is broken, else the program's.
 * docs/formats/rules.md is the reference, check_print.c has the report.
 */
#include "cmd/check.h"

#include "chiliad/experiment.h"

#include <stdlib.h>
#include <string.h>

enum { PAUSE = 1000000, PAUSE_TO_STOP = 100000 };

static const struct option_row option_rows[] = {
    {"output", 'o', "FILE", "the report goes to FILE instead of standard error",
     OPTION_SET_TEXT(struct check, output)},
    {"junit", 0, "FILE", "also write the results to FILE as JUnit XML",
     OPTION_SET_TEXT(struct check, junit)},
    {"around", 0, "N", "records shown before and after the first violation (default 5)",
     OPTION_SET_NUMBER(struct check, around, 0, CHECK_AROUND_MAX)},
    {"stop", 0, NULL, "end the run soon after the first violation",
     OPTION_SET_FLAG(struct check, stop)},
};

const struct option_table cmd_check_options = {
    .forms = {"[OPTIONS] FILE.rules PROGRAM [ARGUMENTS]"},
    .about = "Runs a PowerPC Linux program on a simulated node and checks the rules of a "
             "file, such as 'never(tag=ro, kind=store)' or 'at_most(BGL_D1_L_MISS, 66K + "
             "2%, in=matmul)'. Broken rules are reported on standard error, with the first "
             "access or miss that breaks one, its source line and the records around it. "
             "The exit status is 1 when a rule is broken, else the program's, as that of "
             "'chiliad stat'.",
    .groups = {OPTION_ROWS(option_rows), OPTION_ROWS_AT(cmd_places_rows, struct check, places),
               OPTION_ROWS_AT(cmd_program_rows, struct check, program)},
    .ends_at_operand = true,
    .no_operand = "no rules; 'chiliad check [OPTIONS] FILE.rules PROGRAM [ARGUMENTS]'",
    .operand = offsetof(struct check, file),
};

/* Options may stand on both sides of the file of rules; they end at the program's name. */
static int parse_options(int argc, char **argv, struct check *c)
{
    int status = options_parse(&cmd_check_options, c, argc, argv);
    if (status) return status;
    if (optind == argc)
        return cmd_fail("check",
                        "no program behind '%s'; 'chiliad check [OPTIONS] FILE.rules PROGRAM "
                        "[ARGUMENTS]'",
                        c->file);
    return cmd_program_words(&c->program, "check", argc, argv);
}

/* --- What is around a violation -------------------------------------------------------------- */

static int make_ring(struct check_ring *ring, uint64_t around)
{
    ring->items = calloc(2 * around + 1, sizeof *ring->items);
    return ring->items ? 0 : cmd_fail("check", "out of memory");
}

/* Where the next item goes. Until the first violation, the ring overwrites its oldest item. The
 * violation is the newest item. The ring is then sorted by age, and later items go behind it. */
static struct chil_trace_item *next_item(struct check_ring *ring, uint64_t around)
{
    if (ring->caught)
        return ring->behind < around ? &ring->items[ring->count + ring->behind++] : &ring->unwanted;
    struct chil_trace_item *item = &ring->items[ring->next];
    ring->next = ring->next == around ? 0 : ring->next + 1;
    if (ring->count <= around) ring->count++;
    return item;
}

static void note_first(struct check *c, bool access)
{
    struct check_ring *ring = &c->rings[!access];
    size_t size = c->around + 1, first = (ring->next + size - ring->count) % size;
    c->broken = c->by_event = true;
    c->by_access = access;
    struct chil_trace_item *ordered = calloc(size, sizeof *ordered);
    for (size_t i = 0; ordered && i < ring->count; i++)
        ordered[i] = ring->items[(first + i) % size];
    if (ordered) memcpy(ring->items, ordered, ring->count * sizeof *ordered);
    free(ordered);
    ring->items[ring->count - 1].trigger = true;
    ring->caught = true;
}

/* An event has broken a rule, or several. */
static void find_place(struct check *c, unsigned node, unsigned core)
{
    size_t count;
    const struct chil_assertion *all = chil_rules_assertions(c->rules, &count);
    for (size_t i = 0; i < count; i++) {
        if (!all[i].has_first || c->found[i].known) continue;
        c->found[i].known = true;
        chil_run_place(c->run, node, core, all[i].first.pc, c->found[i].text,
                       sizeof c->found[i].text);
    }
}

/* --- Accesses and misses --------------------------------------------------------------------- */

static bool is_dcbz(uint32_t word)
{
    return (word & 0xFC0007FE) == 0x7C0007EC;
}

/* dcbz writes its line: it is a store. */
static bool take_record(void *context, const struct chil_trace_record *record)
{
    struct check *c = context;
    struct chil_trace_item *item = next_item(&c->rings[0], c->around);
    uint8_t tag = record->tag, category = record->category;
    if (record->access && c->names.tags)
        tag = (uint8_t)chil_ranges_look_up(c->names.tags, record->address);
    if (c->names.categories)
        category = (uint8_t)chil_ranges_look_up(c->names.categories, record->pc);
    item->record = *record;
    item->record.tag = tag;
    item->record.category = category;
    bool store = record->access == CHIL_ACCESS_STORE ||
                 (record->access == CHIL_ACCESS_CACHE && is_dcbz(record->word));
    if (!store && record->access != CHIL_ACCESS_LOAD) return true;
    const struct chil_transaction access = {.start = record->cycle,
                                            .end = record->cycle,
                                            .address = record->address,
                                            .pc = record->pc,
                                            .size = record->size,
                                            .pid = record->pid,
                                            .tid = record->tid,
                                            .sender = (uint16_t)record->core,
                                            .core = (uint8_t)record->core,
                                            .kind = store ? CHIL_STORE_MISS : CHIL_LOAD_MISS,
                                            .category = category,
                                            .tag = tag,
                                            .function = record->function,
                                            .symbol = record->symbol,
                                            .callpath = record->callpath,
                                            .site = record->site,
                                            .section = record->section,
                                            .node = (uint16_t)record->node};
    if (!chil_rules_access(c->rules, &access)) return true;
    find_place(c, record->node, record->core);
    if (!c->broken) note_first(c, true);
    return true;
}

static void take_transaction(void *context, const struct chil_transaction *transaction)
{
    struct check *c = context;
    struct chil_transaction t = *transaction;
    if (c->names.tags) t.tag = (uint8_t)chil_ranges_look_up(c->names.tags, t.address);
    if (c->names.categories) t.category = (uint8_t)chil_ranges_look_up(c->names.categories, t.pc);
    next_item(&c->rings[1], c->around)->transaction = t;
    if (!chil_rules_transaction(c->rules, &t)) return;
    if (t.kind < CHIL_PACKET) find_place(c, t.node, t.sender);
    if (!c->broken) note_first(c, false);
}

static bool look(void *context, struct chil_run *run)
{
    struct check *c = context;
    if (chil_rules_look(c->rules, run, false)) c->broken = true;
    return !(c->broken && c->stop);
}

static void say(void *context, const char *line)
{
    (void)context;
    cmd_program_say("check", line);
}

/* --- Running --------------------------------------------------------------------------------- */

static int add_places(struct check *c)
{
    size_t count;
    const struct chil_rules_place *places = chil_rules_places(c->rules, &count);
    for (size_t i = 0; i < count; i++) {
        size_t *used = places[i].category ? &c->places.category_count : &c->places.tag_count;
        if (*used == CMD_PLACES_MAX)
            return cmd_fail("check", "%s: more than %d of them", places[i].from, CMD_PLACES_MAX);
        (places[i].category ? c->places.categories : c->places.tags)[(*used)++] =
            (struct cmd_place){places[i].text, places[i].from};
    }
    return 0;
}

static int prepare(struct check *c)
{
    struct chil_error err = {0};
    struct chil_run_options *o = &c->program.run;
    size_t count;
    if (chil_rules_open(&c->rules, c->file, o->machine, &err)) return cmd_fail_error("check", &err);
    int status = add_places(c);
    c->names.nodes = cmd_program_nodes(&c->program);
    if (!status) status = cmd_names_make(&c->names, "check", o->program, &c->places);
    if (status) return status;
    if (chil_rules_bind(c->rules, &c->names, &err)) return cmd_fail_error("check", &err);
    o->report = say;
    o->context = c;
    o->transact_pc = true;
    o->pause = look;
    o->pause_cycles = c->stop ? PAUSE_TO_STOP : PAUSE;
    o->transactions = chil_rules_want_transactions(c->rules);
    if (o->transactions) o->transact = take_transaction;
    if (chil_rules_want_accesses(c->rules)) o->trace = take_record;
    o->record = chil_rules_want_paths(c->rules);
    cmd_names_ask(&c->names, &c->wanted);
    bool packets = o->transactions && !(o->transactions & CHIL_KINDS_MEMORY);
    if ((o->transact && !packets) || o->trace) o->names = &c->wanted;
    o->record_flat = !o->names; /* no call paths to print: functions suffice */
    (void)chil_rules_assertions(c->rules, &count);
    c->found = calloc(count + 1, sizeof *c->found);
    if (!c->found) return cmd_fail("check", "out of memory");
    for (unsigned i = 0; i < 2 && !status; i++) {
        c->heads[i].kind = !i        ? CHIL_TRACE_INSTRUCTION
                           : packets ? CHIL_TRACE_PACKET
                                     : CHIL_TRACE_TRANSACTION;
        if (c->names.nodes > 1) c->heads[i].torus[0] = c->names.nodes; /* their number suffices */
        c->heads[i].torus[1] = c->heads[i].torus[2] = 1;
        view_trace_names(&c->heads[i], &c->names);
        status = make_ring(&c->rings[i], c->around);
    }
    return status;
}

struct files {
    struct cmd_output report, junit;
};

static int open_files(const struct check *c, struct files *f)
{
    int status = c->output ? cmd_output_open(&f->report, "check", c->output) : 0;
    if (!status && c->junit) status = cmd_output_open(&f->junit, "check", c->junit);
    return status;
}

static int close_files(struct files *f, bool good)
{
    int status = f->report.file ? cmd_output_close(&f->report, good) : 0;
    int junit = f->junit.file ? cmd_output_close(&f->junit, good) : 0;
    return status ? status : junit;
}

static int run(struct check *c)
{
    struct files f = {0};
    struct chil_run *node = NULL;
    struct chil_exp *exp = NULL;
    struct chil_error err = {0};
    int status = open_files(c, &f);
    cmd_program_output(&c->program, c->output);
    cmd_program_output(&c->program, c->junit);
    if (!status && cmd_program_new(&c->program, &c->program.run, &node, &err))
        status = cmd_fail_error("check", &err);
    c->run = node;
    if (!status && cmd_program_go(&c->program, node, &err)) status = cmd_fail_error("check", &err);
    bool done = !status;
    if (done) {
        cmd_program_report(&c->program, "check", node);
        if (c->program.run.record && chil_run_experiment(node, &exp, &err))
            status = cmd_fail_error("check", &err);
        chil_rules_set_paths(c->rules, exp);
        if (!chil_run_was_stopped(node) && chil_rules_look(c->rules, node, true)) c->broken = true;
        check_print(c->output ? f.report.file : stderr, c);
        if (c->junit) check_print_junit(f.junit.file, c);
        if (!status) status = c->broken ? CHECK_BROKEN : cmd_program_status(node);
        chil_exp_free(exp);
    }
    int written = close_files(&f, done);
    chil_run_free(node);
    return written ? written : status;
}

int cmd_check(int argc, char **argv)
{
    struct check c = {.around = 5};
    struct chil_machine *machine = NULL;
    int status = parse_options(argc, argv, &c);
    if (status) return status < 0 ? 0 : status;
    status = cmd_program_machine(&c.program, "check", &machine);
    if (!status) status = prepare(&c);
    if (!status) status = run(&c);
    for (unsigned i = 0; i < 2; i++)
        free(c.rings[i].items);
    free(c.found);
    chil_rules_free(c.rules);
    cmd_names_free(&c.names);
    chil_machine_free(machine);
    return status;
}
