/* A run: one program on the node that a machine file describes, with its devices and observers;
 * what it counted. */
#include "run/run_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "machine/core/core_record.h"
#include "machine/jit/jit.h"
#include "measure/observe/observe_symbols.h"

static void report(void *context, const char *line)
{
    const struct chil_run *run = context;
    if (run->options.report) run->options.report(run->options.context, line);
}

char *const chil_run_environment[] = {(char *)"PATH=/usr/bin:/bin",
                                      (char *)"HOME=/",
                                      (char *)"USER=user",
                                      (char *)"LANG=C",
                                      (char *)"TERM=dumb",
                                      (char *)"TZ=UTC0",
                                      NULL};

static int load(struct chil_run *run, struct chil_error *err)
{
    const struct chil_run_options *o = &run->options;
    struct os_options program = {
        .rules = {.sysroot = o->sysroot ? o->sysroot : "/usr/powerpc-linux-gnu",
                  .root = o->root,
                  .writable = o->writable,
                  .writable_count = o->writable_count},
        .program = o->program,
        .hide_path = true,
        .argv = o->argv,
        .envp = o->envp ? o->envp : chil_run_environment};
    int status = node_load(run->node, &program, err);
    if (!status || status == CHIL_ERANGE) return status; /* the latter: the host lacks memory */
    if (err) err->status = status == CHIL_ENOENT ? CHIL_ENOPROGRAM : CHIL_EEXEC;
    return status == CHIL_ENOENT ? CHIL_ENOPROGRAM : CHIL_EEXEC;
}

/* Devices and observers are notified in the order in which they are attached. */
static int make(struct chil_run *run, struct chil_error *err)
{
    struct node_options options = {.machine = run->options.machine,
                                   .engine = run->options.engine,
                                   .report = report,
                                   .report_context = run};
    int status = node_new(&run->node, &options, err);
    if (status) return status;
    run->system = (struct system){.nodes = &run->node, .node_count = 1};
    observe_init(&run->observe, run->node, &run->options);
    status = node_make_cores(run->node, &options, observe_trace_of_cores(run->observe.trace),
                             observe_record_of_cores(run->observe.record), err);
    if (status) return status;
    run->upc = device_upc_new(run->node);
    observe_attach(&run->observe);
    return load(run, err);
}

int chil_run_new(struct chil_run **out, const struct chil_run_options *o, struct chil_error *err)
{
    if (o->record_turns && (o->pause || !o->record))
        return chil_error_set(err, CHIL_EINVAL,
                              "counters take turns in a recorded run without pauses");
    struct chil_run *run = base_calloc(1, sizeof *run);
    run->options = *o;
    int status = make(run, err);
    if (status)
        chil_run_free(run);
    else
        *out = run;
    return status;
}

/* The cores end before what follows their calls: they hand it their last counts. */
void chil_run_free(struct chil_run *run)
{
    if (!run) return;
    node_free(run->node);
    device_upc_free(run->upc);
    observe_fini(&run->observe);
    free(run);
}

/* --- Going ----------------------------------------------------------------------------------- */

/* The next set of counters is on, or the caller looks; false: the caller ends the run. */
static bool pause_run(struct chil_run *run)
{
    if (run->options.record_turns) {
        record_turn_next(run->node->cores);
        return true;
    }
    node_counts_take(run->node);
    cache_notify_uniform(run->node->cache, CACHE_ALL);
    run->result.cycles = node_elapsed(run->node);
    run->observe.accessing = NULL;
    run->stopped = !run->options.pause(run->options.context, run);
    return !run->stopped;
}

/* To the end, with a pause at each multiple of so many cycles, if there are any. */
static void advance(struct chil_run *run)
{
    const struct chil_run_options *o = &run->options;
    uint64_t cycles = o->record_turns ? o->turn_cycles : o->pause_cycles;
    if (!cycles) cycles = 1;
    uint64_t until = o->record_turns || o->pause ? cycles : UINT64_MAX;
    while (system_advance(&run->system, until) == SYSTEM_TIME_REACHED) {
        uint64_t now = system_now(&run->system);
        until = now + (cycles - now % cycles);
        if (!pause_run(run)) break;
    }
}

int chil_run_go(struct chil_run *run, struct chil_error *err)
{
    advance(run);
    os_result_get(run->node->os, &run->result);
    cache_notify_uniform(run->node->cache, CACHE_ALL);
    node_counts_take(run->node);
    if (run->node->jit && jit_diverged(run->node->jit))
        return chil_error_set(err, CHIL_ELAW,
                              "internal error: translated code and interpreter differ, see above");
    return run->stopped ? 0 : node_check_laws(run->node, &run->laws, err);
}

unsigned chil_run_laws(const struct chil_run *run)
{
    return run->laws;
}

bool chil_run_was_stopped(const struct chil_run *run)
{
    return run->stopped;
}

int chil_run_status(const struct chil_run *run)
{
    return run->result.status;
}

bool chil_run_was_killed(const struct chil_run *run)
{
    return run->result.killed;
}

uint64_t chil_run_cycles(const struct chil_run *run)
{
    return run->result.cycles;
}

void chil_run_trace_switch(struct chil_run *run, bool on)
{
    struct observe *observe = &run->observe;
    bool was_on = observe->trace_on;
    (void)observe_trace_switch(observe, on);
    if (observe->trace && observe_trace_of_cores(observe->trace)->on && !was_on &&
        observe->accessing)
        core_trace_begin(observe->accessing);
}

bool chil_run_trace_is_on(const struct chil_run *run)
{
    return run->observe.trace_on;
}

/* --- Counts ---------------------------------------------------------------------------------- */

uint64_t chil_run_instructions(const struct chil_run *run)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < run->node->core_count; i++)
        sum += run->node->counts[i][CORE_SIGNAL_INSTRUCTIONS];
    return sum;
}

uint64_t chil_run_count(const struct chil_run *run, const struct chil_event *event)
{
    return node_count(run->node, event, CORE_ALL, NULL);
}

unsigned chil_run_cores(const struct chil_run *run)
{
    return run->node->core_count;
}

uint64_t chil_run_core_cycles(const struct chil_run *run, unsigned core)
{
    const struct core *at = cores_get(run->node->cores, core);
    return at ? core_cycles(at) - core_idle_cycles(at) : 0;
}

static bool is_of_cores(const struct node *node, const struct chil_event *event)
{
    struct node_signal signal;
    for (size_t i = 0; i < event->signal_count; i++) {
        node_signal_find(node, event->signals[i], &signal);
        if (!node_signal_is_of_cores(&signal)) return false;
    }
    return event->signal_count;
}

bool chil_run_core_count(const struct chil_run *run, unsigned core, const struct chil_event *event,
                         uint64_t *count)
{
    if (core >= run->node->core_count || !is_of_cores(run->node, event)) return false;
    *count = node_count(run->node, event, core, run->node->counts[core]);
    return true;
}

bool chil_run_translation_get(const struct chil_run *run, struct chil_run_translation *translation)
{
    if (!run->node->jit) return false;
    struct jit_figures f = jit_figures_get(run->node->jit);
    *translation = (struct chil_run_translation){f.regions, f.blocks, f.instructions, f.dropped,
                                                 (double)f.nanoseconds / 1e9};
    return true;
}
