/* The runs of chiliad trace: callbacks, the passes of a capture, the streams of a repeated run. */
#include "cmd/trace.h"

#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

enum { PAUSE_CYCLES = 100000 };

/* --- Callbacks of the run -------------------------------------------------------------------- */

bool trace_keep(void *context, const struct chil_trace_item *item)
{
    struct trace *t = context;
    if (t->out.count < t->limit) view_trace_record(&t->out, item);
    return t->out.count < t->limit && !ferror(t->out.file);
}

static void report(void *context, bool on)
{
    const struct trace *t = context;
    chil_run_trace_switch(t->run, on);
}

static void take_transaction(void *context, const struct chil_transaction *transaction)
{
    const struct trace *t = context;
    bool on =
        t->head.kind == CHIL_TRACE_PACKET || chil_run_node_trace_is_on(t->run, transaction->node);
    chil_capture_transaction(t->capture, transaction, on);
}

static bool take_record(void *context, const struct chil_trace_record *record)
{
    const struct trace *t = context;
    return chil_capture_record(t->capture, record);
}

/* The fast path of a whole trace in the binary form: no capture, no names. */
static bool write_record(void *context, const struct chil_trace_record *record)
{
    struct trace *t = context;
    if (t->head.kind == CHIL_TRACE_MEMORY && !record->access) return true;
    chil_trace_write(t->out.writer, record);
    return ++t->out.count < t->limit;
}

static bool goes_on(void *context, struct chil_run *run)
{
    const struct trace *t = context;
    (void)run;
    return !chil_capture_is_over(t->capture);
}

void trace_warn(void *context, const char *line)
{
    (void)context;
    cmd_program_say("trace", line);
}

/* --- Running --------------------------------------------------------------------------------- */

/* Names that a run has to find: for a search what the trigger uses, else all. Call paths are
 * for what is around a trigger; a run that does not follow them is faster. */
static void ask_names(struct trace *t, bool is_search)
{
    bool used[CHIL_VARIABLES];
    if (!t->names.functions || t->head.kind == CHIL_TRACE_PACKET) return;
    for (unsigned v = 0; v < CHIL_VARIABLES; v++)
        used[v] = !is_search || (t->where && chil_where_uses(t->where, (enum chil_variable)v));
    cmd_names_ask(&t->names, &t->wanted);
    if (!used[CHIL_VAR_FUNCTION]) t->wanted.functions = NULL;
    if (!used[CHIL_VAR_CATEGORY]) t->wanted.sections = NULL;
    if (!used[CHIL_VAR_TAG] && !used[CHIL_VAR_SYMBOL]) t->wanted.sites = NULL;
    if (!t->where || !chil_where_uses(t->where, CHIL_VAR_SYMBOL)) t->wanted.symbols = NULL;
    if ((!t->where && !t->place) || !used[CHIL_VAR_CALLPATH]) t->wanted.callpaths = NULL;
    t->program.run.names = &t->wanted;
}

/* Where the nodes are, for the head of the trace. */
static void set_torus(struct trace *t)
{
    struct chil_torus torus = chil_run_torus(t->run);
    for (unsigned i = 0; i < 3 && chil_run_nodes(t->run) > 1; i++)
        t->head.torus[i] = torus.size[i];
}

/* One run of the program. In a repeat the streams are not the user's: errors wait in t->err. */
static int run_once(struct trace *t, bool is_repeat)
{
    int status = 0;
    t->done = !cmd_program_new(&t->program, &t->program.run, &t->run, &t->err);
    if (t->done) set_torus(t);
    if (t->done && !is_repeat)
        status = view_trace_begin(&t->out, &t->err) ? cmd_fail_error("trace", &t->err) : 0;
    if (status) t->done = false;
    if (!status && t->done) t->done = !cmd_program_go(&t->program, t->run, &t->err);
    if (!status && !t->done && !is_repeat) status = cmd_fail_error("trace", &t->err);
    if (t->done && !is_repeat) cmd_program_report(&t->program, "trace", t->run);
    if (t->done && !status) status = cmd_program_status(t->run);
    chil_run_free(t->run);
    t->run = NULL;
    return status;
}

/* The options of a pass. `trace_off` is the user's where there is no trigger. */
static void set_options(struct trace *t, const struct chil_capture_pass *pass)
{
    struct chil_run_options *o = &t->program.run;
    bool plain = t->out.format == VIEW_TRACE_BINARY && !t->where && !t->place && !t->names.tags &&
                 !t->names.categories;
    ask_names(t, pass->is_search);
    bool packets = t->head.kind == CHIL_TRACE_PACKET;
    o->trace_switched = o->transact_pc = !packets;
    o->transactions = packets ? CHIL_KINDS_NETWORK : CHIL_KINDS_MEMORY;
    o->trace = !pass->instructions ? NULL : plain ? write_record : take_record;
    o->transact = pass->transactions ? take_transaction : NULL;
    if (t->where && !chil_trace_has_transactions(t->head.kind)) o->trace_off = pass->starts_off;
    if (pass->is_repeat) {
        o->report = NULL;
        o->pause = goes_on;
        o->pause_cycles = PAUSE_CYCLES;
    }
}

static enum chil_capture_outcome run_pass(struct trace *t, int *status)
{
    struct chil_capture_pass pass;
    chil_capture_begin(t->capture, &pass);
    set_options(t, &pass);
    *status = run_once(t, pass.is_repeat);
    return t->done ? chil_capture_end(t->capture) : CHIL_CAPTURE_DONE;
}

/* Output of further passes is discarded; they read the same input as the first. */
static int run_silently(struct trace *t, off_t input)
{
    enum chil_capture_outcome outcome = CHIL_CAPTURE_DIFFERS;
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC), saved[3], own;
    bool ready = nowhere >= 0;
    (void)fflush(NULL);
    for (int i = 0; i < 3; i++) {
        saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 3);
        bool again = i == STDIN_FILENO && input >= 0 && lseek(i, input, SEEK_SET) == input;
        if (!again && (!ready || dup2(nowhere, i) < 0)) ready = false;
    }
    if (ready)
        while ((outcome = run_pass(t, &own)) == CHIL_CAPTURE_AGAIN)
            ;
    (void)fflush(stderr);
    for (int i = 0; i < 3; i++) {
        if (saved[i] < 0) continue;
        (void)dup2(saved[i], i);
        (void)close(saved[i]);
    }
    if (nowhere >= 0) (void)close(nowhere);
    if (!t->done) return cmd_fail_error("trace", &t->err);
    if (outcome == CHIL_CAPTURE_DONE) return 0;
    return cmd_fail(
        "trace",
        "the second run did not come to the trigger of the first: the program depends on what it "
        "has changed, or on input that is gone; use --once");
}

static void report_absent(const struct trace *t)
{
    (void)fprintf(stderr, "chiliad trace: '%s' did not come: %" PRIu64 " of %" PRIu64,
                  t->where ? t->trigger : t->place, chil_capture_matches(t->capture), t->nth);
    if (t->where)
        (void)fprintf(stderr, ", among %" PRIu64 " transactions",
                      chil_capture_transactions(t->capture));
    (void)fputc('\n', stderr);
}

int trace_run(struct trace *t)
{
    const struct chil_capture_options options = {.kind = t->head.kind,
                                                 .where = t->where,
                                                 .at_pc = t->place != NULL,
                                                 .pc = t->place_pc,
                                                 .nth = t->nth,
                                                 .before = t->before,
                                                 .after = t->after,
                                                 .once = t->once,
                                                 .tags = t->names.tags,
                                                 .categories = t->names.categories,
                                                 .keep = trace_keep,
                                                 .report = report,
                                                 .context = t};
    off_t input = lseek(STDIN_FILENO, 0, SEEK_CUR);
    int status = 0;
    t->capture = chil_capture_new(&options);
    enum chil_capture_outcome outcome = run_pass(t, &status);
    if (t->done && outcome == CHIL_CAPTURE_ABSENT) report_absent(t);
    bool stopped = t->program.partial && cmd_signal_caught();
    if (t->done && outcome == CHIL_CAPTURE_AGAIN && !stopped) {
        int again = run_silently(t, input);
        if (again) t->done = false;
        if (again) status = again;
    }
    chil_capture_free(t->capture);
    t->out.partial = t->program.partial;
    return status;
}
