/* A run: one program on the node that a machine file describes, with its devices and observers;
 * what it counted. */
#include "run/run_impl.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "machine/core/core_record.h"
#include "machine/jit/jit.h"
#include "measure/observe/observe_symbols.h"

/* A line about a node. Several nodes' lines come out in the order of their turns. */
static void report(void *context, const char *line)
{
    const struct run_node *node = context;
    struct chil_run *run = node->run;
    const struct chil_run_host *host = run->options.host;
    if (run->node_count > 1) {
        system_report(run->system, (unsigned)(node - run->nodes), line); /* by any thread */
        return;
    }
    if (host && host->writes) host->writes(host->context);
    if (run->options.report) run->options.report(run->options.context, line);
}

static void report_node(void *context, unsigned number, const char *line)
{
    const struct chil_run *run = context;
    char text[500];
    uint8_t at[3];
    const struct chil_run_host *host = run->options.host;
    if (host && host->writes) host->writes(host->context);
    if (!run->options.report) return;
    net_torus_coordinates(&run->shape, number, at);
    (void)snprintf(text, sizeof text, "node %u (%u,%u,%u): %s", number, at[0], at[1], at[2], line);
    run->options.report(run->options.context, text);
}

static void place(void *context, unsigned number, unsigned core, uint32_t pc, char *text,
                  size_t size)
{
    const struct chil_run *run = context;
    const struct node *node = run->nodes[number].node;
    const struct mem *mem = core_memory(cores_get(node->cores, core));
    struct os_object object;
    if (mem && os_object_find(node->os, mem, pc, &object))
        observe_place(object.path, object.image, pc, text, size);
}

char *const chil_run_environment[] = {(char *)"PATH=/usr/bin:/bin",
                                      (char *)"HOME=/",
                                      (char *)"USER=user",
                                      (char *)"LANG=C",
                                      (char *)"TERM=dumb",
                                      (char *)"TZ=UTC0",
                                      NULL};

/* Many nodes share 16 GiB by default; 0: the machine's memory. */
static uint64_t default_memory(const struct chil_run *run)
{
    uint64_t size = 0, part = (UINT64_C(16) << 30) / run->node_count;
    if (!chil_machine_number(run->options.machine, "memory.size_max", &size) && part > size)
        return 0;
    return part < UINT64_C(64) << 20 ? UINT64_C(64) << 20 : part;
}

static int load(struct run_node *node, struct chil_error *err)
{
    const struct chil_run_options *o = &node->run->options;
    struct os_options program = {
        .rules = {.sysroot = o->sysroot ? o->sysroot : "/usr/powerpc-linux-gnu",
                  .root = o->root,
                  .writable = o->writable,
                  .writable_count = o->writable_count,
                  .files = o->maximum.files,
                  .images = node->run->images,
                  .locks = node->run->locks},
        .maximum = {.memory = o->maximum.memory ? o->maximum.memory : default_memory(node->run),
                    .tasks = o->maximum.tasks,
                    .signals = o->maximum.signals,
                    .output = o->maximum.output},
        .program = o->program,
        .processes = node->run->processes,
        .hide_path = true,
        .argv = o->argv,
        .envp = o->envp ? o->envp : chil_run_environment};
    int status = node_load(node->node, &program, err);
    if (!status || status == CHIL_ERANGE) return status; /* the latter: the host lacks memory */
    if (err) err->status = status == CHIL_ENOENT ? CHIL_ENOPROGRAM : CHIL_EEXEC;
    return status == CHIL_ENOENT ? CHIL_ENOPROGRAM : CHIL_EEXEC;
}

/* Devices and observers are notified in the order in which they are attached. */
static int make_node(struct chil_run *run, unsigned number, struct chil_error *err)
{
    struct run_node *node = &run->nodes[number];
    struct node_options options = {.machine = run->options.machine,
                                   .engine = run->options.engine,
                                   .translation = run->translation,
                                   .report = report,
                                   .report_context = node};
    node->run = run;
    int status = node_new(&node->node, &options, err);
    if (status) return status;
    system_attach(run->system, number, node->node);
    observe_init(&node->observe, node->node, &run->options);
    node->observe.number = number;
    status = node_make_cores(node->node, &options, observe_trace_of_cores(node->observe.trace),
                             observe_record_of_cores(node->observe.record), err);
    if (status) return status;
    node->upc = device_upc_new(node->node);
    run_attach_host(node);
    observe_attach(&node->observe);
    return load(node, err);
}

/* While other ranks are awaited. */
static bool stops(void *context)
{
    struct chil_run *run = context;
    const struct chil_run_host *host = run->options.host;
    if (!host || !host->go_on) return false;
    system_hold(run->system);
    bool goes_on = host->go_on(host->context, run);
    system_release(run->system);
    return !goes_on;
}

/* What looks at nodes is the caller's and knows no threads; packets come on one in any case. */
static bool needs_one_thread(const struct chil_run_options *o)
{
    bool memory = !o->transactions || o->transactions & CHIL_KINDS_MEMORY;
    return o->trace || o->trace_switched || o->names || (o->transact && memory);
}

static unsigned threads(const struct chil_run *run)
{
    cpu_set_t set;
    if (needs_one_thread(&run->options)) return 1;
    if (run->options.threads) return run->options.threads;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

static int make(struct chil_run *run, struct chil_error *err)
{
    int status = run_shape(run, err);
    if (!status) status = run_mapping(run, err);
    if (status) return status;
    run->nodes = base_calloc(run->node_count, sizeof *run->nodes);
    run->images = os_images_new();
    run->translation = jit_thread_new();
    run->locks = os_locks_new();
    run->packets = run_packets_new(run);
    const struct system_options options = {.machine = run->options.machine,
                                           .node_count = run->node_count,
                                           .threads = threads(run),
                                           .shape = run->shape,
                                           .processes = run->processes,
                                           .place_of_rank = run->place_of_rank,
                                           .rank_of_place = run->rank_of_place,
                                           .ranks = run->options.ranks ? run->options.ranks->ranks
                                                                       : NULL,
                                           .packets = run_packets_listener(run->packets),
                                           .stops = stops,
                                           .report = report_node,
                                           .place = place,
                                           .context = run};
    system_range(&options, &run->first_node, &run->end_node);
    if (chil_ranks_count(run->options.ranks) > run->node_count)
        return chil_error_set(err, CHIL_ERANGE,
                              "%u ranks of OpenMPI for %u nodes; start at most one for each node",
                              chil_ranks_count(run->options.ranks), run->node_count);
    status = system_new(&run->system, &options, err);
    if (status) return status;
    for (unsigned i = run->first_node; i < run->end_node && !status; i++)
        status = make_node(run, i, err);
    run->node = run->nodes[run->first_node].node;
    run->observe = &run->nodes[run->first_node].observe;
    return status;
}

int chil_run_new(struct chil_run **out, const struct chil_run_options *o, struct chil_error *err)
{
    if (o->record_turns && (o->pause || !o->record))
        return chil_error_set(err, CHIL_EINVAL,
                              "counters take turns in a recorded run without pauses");
    struct chil_run *run = base_calloc(1, sizeof *run);
    run->options = *o;
    run->found = run_found_new(o->machine);
    int status = make(run, err);
    if (status)
        chil_run_free(run);
    else
        *out = run;
    return status;
}

/* The cores end before what follows their calls: they hand it their last counts. */
static void free_node(struct run_node *node)
{
    if (!node->node) return;
    node_free(node->node);
    device_upc_free(node->upc);
    observe_fini(&node->observe);
}

void chil_run_free(struct chil_run *run)
{
    if (!run) return;
    system_free(run->system);
    for (unsigned i = 0; run->nodes && i < run->node_count; i++)
        free_node(&run->nodes[i]);
    run_ranks_free(run);
    run_packets_free(run->packets);
    run_found_free(run->found);
    jit_thread_free(run->translation);
    os_images_release(run->images);
    os_locks_release(run->locks);
    free(run->nodes);
    free(run->place_of_rank);
    free(run->rank_of_place);
    free(run);
}

/* --- Going ----------------------------------------------------------------------------------- */

/* The result of the run: how the first node that failed ended, at the time of the last one. */
static void take_results(struct chil_run *run)
{
    uint64_t cycles = 0;
    int failed = system_first_failed(run->system);
    for (unsigned i = run->first_node; i < run->end_node; i++) {
        struct os_result *result = &run->nodes[i].result;
        os_result_get(run->nodes[i].node->os, result);
        if (result->cycles > cycles) cycles = result->cycles;
    }
    run->result = run->nodes[failed < 0 ? (int)run->first_node : failed].result;
    run->result.cycles = cycles;
}

static int check_laws(struct chil_run *run, int status, struct chil_error *err)
{
    for (unsigned i = run->first_node; i < run->end_node && !status; i++) {
        unsigned checked;
        status = node_check_laws(run->nodes[i].node, &checked, err);
        run->laws += checked;
    }
    /* All ranks do this, as it adds up over them. */
    unsigned of_networks = 0;
    struct chil_error other = {0};
    int networks = system_check_laws(run->system, &of_networks, status ? &other : err);
    if (run->first_node == 0) run->laws += of_networks;
    return status ? status : networks;
}

int chil_run_go(struct chil_run *run, struct chil_error *err)
{
    run_advance(run);
    run_packets_flush(run->packets);
    if (system_lost(run->system)) return run_ranks_lost(err);
    take_results(run);
    run_take_counts(run);
    int status = 0;
    for (unsigned i = run->first_node; i < run->end_node && !status; i++)
        if (run->nodes[i].node->jit && jit_diverged(run->nodes[i].node->jit))
            status =
                chil_error_set(err, CHIL_ELAW,
                               "internal error: translated code and interpreter differ, see above");
    if (!run->end) status = check_laws(run, status, err);
    return run_ranks_gather(run, status, err);
}

unsigned chil_run_laws(const struct chil_run *run)
{
    return run->laws;
}

enum chil_run_end chil_run_end(const struct chil_run *run)
{
    return run->end;
}

bool chil_run_was_stopped(const struct chil_run *run)
{
    return run->end != CHIL_RUN_ENDED;
}

int chil_run_status(const struct chil_run *run)
{
    return run->result.status;
}

bool chil_run_was_killed(const struct chil_run *run)
{
    return run->result.killed;
}

const char *chil_run_memory(const struct chil_run *run)
{
    const char *model = chil_machine_word(run->options.machine, "memory.model");
    return model && strcmp(model, "full") != 0 ? model : NULL;
}

uint64_t chil_run_cycles(const struct chil_run *run)
{
    return run->result.cycles;
}

void chil_run_trace_switch(struct chil_run *run, bool on)
{
    struct observe *observe = run->observe;
    bool was_on = observe->trace_on;
    (void)observe_trace_switch(observe, on);
    if (observe->trace && observe_trace_of_cores(observe->trace)->on && !was_on &&
        observe->accessing)
        core_trace_begin(observe->accessing);
}

bool chil_run_trace_is_on(const struct chil_run *run)
{
    return run->observe->trace_on;
}

bool chil_run_node_trace_is_on(const struct chil_run *run, unsigned node)
{
    return run->nodes[node].observe.trace_on;
}

/* --- Counts ---------------------------------------------------------------------------------- */

uint64_t chil_run_instructions(const struct chil_run *run)
{
    uint64_t sum = run_others_instructions(run);
    for (unsigned n = run->first_node; n < run->end_node; n++)
        for (unsigned i = 0; i < run->node->core_count; i++)
            sum += run->nodes[n].node->counts[i][CORE_SIGNAL_INSTRUCTIONS];
    return sum;
}

unsigned chil_run_cores(const struct chil_run *run)
{
    return run->node->core_count;
}

uint64_t chil_run_core_cycles(const struct chil_run *run, unsigned core)
{
    uint64_t sum = run_others_core_cycles(run, core);
    for (unsigned n = run->first_node; n < run->end_node; n++) {
        const struct core *at = cores_get(run->nodes[n].node->cores, core);
        if (at) sum += core_cycles(at) - core_idle_cycles(at);
    }
    return sum;
}

bool chil_run_translation_get(const struct chil_run *run, struct chil_run_translation *translation)
{
    if (!run->node->jit) return false;
    struct jit_figures f = jit_figures_get(run->node->jit);
    *translation = (struct chil_run_translation){f.regions, f.blocks, f.instructions, f.dropped,
                                                 (double)f.nanoseconds / 1e9};
    return true;
}
