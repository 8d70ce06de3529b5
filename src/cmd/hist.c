/* chiliad hist: run a program and keep a histogram of what its memory accesses did.
 *
 *     $ chiliad hist 'latency:log x tag' -e l1d --tag a=vector --tag b=matrix ./program
 *
 *      36,864 transactions (l1d) of './program' on bgp: latency:log x tag
 *     ...
 *            count       %  latency  tag
 *           24,576    66.7  32-63    b
 *     ...
 *
 * The program has standard output to itself; the histogram goes to standard error, or to -o FILE,
 * which is written whole or not at all. hist_select.c decides what is counted, hist_print.c has the
 * forms, hist_math.c marginals and information, hist_grid.c the pictures, names.c the names.
 */
#include "cmd/hist.h"

#include "cmd/page.h"

#include <stdlib.h>
#include <string.h>

static const struct option_row option_rows[] = {
    {"event", 'e', "WHICH",
     "misses (default), l1d, load, store, l1i, l2 (not found there), ddr, invalidation, packet "
     "(default with receiver, hops, link or wait), hop (a packet on a link), all (but hops)",
     OPTION_SET_TEXT(struct hist_options, event),
     .values = "misses l1d load store l1i l2 ddr invalidation packet hop all"},
    {"where", 0, "PREDICATE",
     "count only transactions for which PREDICATE holds, as 'tag=a & (latency>100 "
     "| core!=0)'",
     OPTION_SET_TEXT(struct hist_options, where)},
    {"read", 0, "FILE", "run nothing: count the transactions of a binary trace",
     OPTION_SET_TEXT(struct hist_options, read)},
    {"top", 0, "N", "rows of a table (default 20; 0: all)",
     OPTION_SET_NUMBER(struct hist_options, top, 0, UINT32_MAX)},
    {"given", 0, "DIMENSION",
     "percentages are of the transactions with the same value of DIMENSION",
     OPTION_SET_TEXT(struct hist_options, given)},
    {"rank", 0, NULL, "print which further dimension would explain most",
     OPTION_SET_FLAG(struct hist_options, rank)},
    {"json", 'j', NULL, "one JSON object, with all bins",
     OPTION_SET_FLAG(struct hist_options, json)},
    {"separator", 'x', "SEP", "a line per bin: count SEP value SEP value ...; all bins",
     OPTION_SET_TEXT(struct hist_options, separator)},
    {"output", 'o', "FILE", "the histogram goes to FILE instead of standard error",
     OPTION_SET_TEXT(struct hist_options, output)},
    {"svg", 0, "FILE", "draw a picture: bars, or a heat map of two dimensions",
     OPTION_SET_TEXT(struct hist_options, svg)},
    {"relief", 0, "FILE", "draw two dimensions as a landscape",
     OPTION_SET_TEXT(struct hist_options, relief)},
    {"page", 0, "FILE", "also write a web page that shows the histogram",
     OPTION_SET_FULL(struct hist_options, page)},
};

const struct option_table cmd_hist_options = {
    .forms = {"'DIMENSIONS' [OPTIONS] PROGRAM [ARGUMENTS]", "'DIMENSIONS' [OPTIONS] --read FILE"},
    .about = "Runs a PowerPC Linux program on a simulated node and counts its memory "
             "transactions by their attributes. The histogram goes to standard error. The "
             "exit status is that of 'chiliad stat'.\n\n"
             "DIMENSIONS are variables with 'x' between them: latency size sender category "
             "tag core pid tid kind level cause function symbol callpath page address pc node; of "
             "packets also receiver hops link wait. "
             "'latency:12' has 12 bits. 'latency>>4:8' drops the lowest 4 bits first. "
             "'latency:log' and 'latency:log4' have 1 and 4 bins for each doubling.",
    .groups = {OPTION_ROWS(option_rows),
               OPTION_ROWS_AT(cmd_places_rows, struct hist_options, places),
               OPTION_ROWS_AT(cmd_program_rows, struct hist_options, program)},
    .ends_at_operand = true,
    .no_operand = "no dimensions; 'chiliad hist DIMENSIONS [OPTIONS] PROGRAM [ARGUMENTS]'",
    .operand = offsetof(struct hist_options, declaration),
};

/* Options may stand on both sides of the declaration; they end at the program's name. */
static int parse_options(int argc, char **argv, struct hist_options *o)
{
    int status = options_parse(&cmd_hist_options, o, argc, argv);
    if (status) return status;
    if (o->json && o->separator) return cmd_fail("hist", "-j and -x exclude each other");
    if (o->read && optind < argc)
        return cmd_fail("hist", "--read runs no program; leave '%s' out", argv[optind]);
    if (!o->read && optind == argc)
        return cmd_fail("hist",
                        "no program behind the dimensions '%s'; 'chiliad hist DIMENSIONS [OPTIONS] "
                        "PROGRAM [ARGUMENTS]'",
                        o->declaration);
    return o->read ? 0 : cmd_program_words(&o->program, "hist", argc, argv);
}

/* --- Running --------------------------------------------------------------------------------- */

void hist_tell(void *context, const struct chil_transaction *transaction)
{
    struct hist *h = context;
    chil_hist_notify(h->hist, transaction);
    for (size_t i = 0; i < h->candidate_count; i++)
        chil_hist_notify(h->candidates[i].hist, transaction);
}

static void say(void *context, const char *line)
{
    (void)context;
    cmd_program_say("hist", line);
}

/* Only what some dimension or predicate asks for: the rest costs time. */
static void ask_names(struct hist *h)
{
    bool used[CHIL_VARIABLES] = {false};
    for (unsigned v = 0; v < CHIL_VARIABLES; v++) {
        used[v] = chil_hist_uses(h->hist, (enum chil_variable)v);
        for (size_t i = 0; i < h->candidate_count; i++)
            used[v] |= chil_hist_uses(h->candidates[i].hist, (enum chil_variable)v);
    }
    cmd_names_ask(&h->names, &h->wanted);
    if (!used[CHIL_VAR_FUNCTION]) h->wanted.functions = NULL;
    if (!used[CHIL_VAR_CALLPATH]) h->wanted.callpaths = NULL;
    if (!used[CHIL_VAR_CATEGORY]) h->wanted.sections = NULL;
    if (!used[CHIL_VAR_TAG] && !used[CHIL_VAR_SYMBOL]) h->wanted.sites = NULL;
    if (!used[CHIL_VAR_SYMBOL]) h->wanted.symbols = NULL;
}

/* The files that are written besides the table. */
struct pictures {
    struct cmd_output svg, relief, table;
    struct page_file page;
};

static int open_outputs(const struct hist_options *o, struct pictures *p)
{
    int status = o->output ? cmd_output_open(&p->table, "hist", o->output) : 0;
    if (!status && o->svg) status = cmd_output_open(&p->svg, "hist", o->svg);
    if (!status && o->relief) status = cmd_output_open(&p->relief, "hist", o->relief);
    if (!status) status = page_open(&p->page, "hist", o->page);
    return status;
}

static int close_outputs(struct pictures *p, bool good)
{
    struct cmd_output *all[] = {&p->table, &p->svg, &p->relief};
    int status = 0;
    for (unsigned i = 0; i < 3; i++) {
        int one = all[i]->file ? cmd_output_close(all[i], good) : 0;
        if (one) status = one;
    }
    page_abandon(&p->page);
    return status;
}

static bool show_page(struct hist *h, struct page_file *page)
{
    const struct hist_options *o = h->options;
    return !page->path ||
           (hist_print_json(page->json, h) &&
            page_write_printed(page, "hist", o->read ? o->read : o->program.run.program) == 0);
}

static bool show(struct hist *h, struct pictures *p)
{
    const struct hist_options *o = h->options;
    FILE *out = o->output ? p->table.file : stderr;
    bool good = true;
    if (o->json)
        good = hist_print_json(out, h);
    else if (o->separator)
        hist_print_separated(out, h);
    else
        hist_print(out, h);
    if (o->svg) hist_svg(p->svg.file, h);
    if (o->relief) hist_relief(p->relief.file, h);
    if (!show_page(h, &p->page)) return false;
    return good && (o->output || (fflush(out) == 0 && !ferror(out)));
}

static int read_file(struct hist *h, uint32_t kinds)
{
    struct pictures p = {0};
    int status = open_outputs(h->options, &p);
    if (!status) status = hist_read_all(h, kinds);
    bool done = !status;
    if (done && !show(h, &p)) status = cmd_fail("hist", "the histogram could not be written");
    int written = close_outputs(&p, done);
    return written ? written : status;
}

static int run(struct hist *h, struct chil_run_options *options)
{
    struct pictures p = {0};
    struct chil_run *node = NULL;
    cmd_program_output(&h->options->program, h->options->output);
    cmd_program_output(&h->options->program, h->options->svg);
    cmd_program_output(&h->options->program, h->options->relief);
    cmd_program_output(&h->options->program, h->options->page);
    struct chil_error err = {0};
    bool done = false;
    int status = open_outputs(h->options, &p);
    if (!status && cmd_program_new(&h->options->program, options, &node, &err))
        status = cmd_fail_error("hist", &err);
    if (!status && cmd_program_go(&h->options->program, node, &err))
        status = cmd_fail_error("hist", &err);
    if (!status) status = hist_ranks_add(h);
    if (!status) {
        cmd_program_report(&h->options->program, "hist", node);
        h->run = node;
        done = true;
        status = show(h, &p) ? cmd_program_status(node)
                             : cmd_fail("hist", "the histogram could not be written");
    }
    int written = close_outputs(&p, done);
    chil_run_free(node);
    return written ? written : status;
}

/* What the run is asked for. Packets have no names. */
static void set_run(struct hist *h, const struct hist_event *event)
{
    struct hist_options *o = h->options;
    struct chil_run_options *options = &o->program.run;
    options->report = say;
    options->transactions = event->kinds;
    options->transact_pc = o->rank || chil_hist_uses_pc(h->hist);
    options->context = o->rank ? (void *)h : (void *)h->hist;
    options->transact = o->rank ? hist_tell : chil_hist_notify;
    if (!o->rank && !chil_hist_uses_place(h->hist))
        options->transact_uniform = chil_hist_notify_uniform;
    ask_names(h);
    if (event->kinds & CHIL_KINDS_MEMORY) options->names = &h->wanted;
}

static int hist_with(int argc, char **argv, struct hist *h)
{
    struct hist_options *o = h->options;
    struct chil_machine *machine = NULL;
    const struct hist_event *event = NULL;
    int status = parse_options(argc, argv, o);
    if (status) return status < 0 ? 0 : status;
    cmd_ranks_outputs(&o->program, (const char **[]){&o->output, &o->svg, &o->relief, &o->page}, 4);
    h->nodes = cmd_program_nodes(&o->program);
    if (!o->event) o->event = hist_default_event(o->declaration);
    status = hist_find_event(&event, o->event);
    bool causes = hist_names(o->declaration, "cause") || hist_names(o->where, "cause");
    if (!status && causes && o->read)
        status =
            cmd_fail("hist", "a trace has no 'cause' of misses; run the program instead of --read");
    if (!status && causes) status = cmd_program_miss_kinds(&o->program, "hist");
    if (!status && !o->read) status = cmd_program_machine(&o->program, "hist", &machine);
    if (status) return status;
    status = hist_prepare(h, event);
    if (!status) status = hist_ranks_check(h);
    if (!status && !o->read) set_run(h, event);
    if (!status) status = o->read ? read_file(h, event->kinds) : run(h, &o->program.run);
    hist_read_close(h);
    for (size_t i = 0; i < h->candidate_count; i++)
        chil_hist_free(h->candidates[i].hist);
    chil_hist_free(h->hist);
    cmd_names_free(&h->names);
    chil_machine_free(machine);
    return status;
}

int cmd_hist(int argc, char **argv)
{
    struct hist_options o = {.top = 20};
    struct hist h = {.options = &o};
    int status = cmd_ranks_start("hist", &o.program);
    if (!status) status = hist_with(argc, argv, &h);
    return cmd_ranks_end(&o.program, status);
}
