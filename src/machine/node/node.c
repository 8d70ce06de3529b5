/* Makes a node as a machine file describes it, and connects its operating system with what is
 * attached. */
#include "machine/node/node.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "machine/isa/isa.h"
#include "machine/jit/jit.h"
#include "machine/node/node_watch.h"

static const char *unit_name_at(const void *table, size_t index)
{
    (void)table;
    return isa_unit_name((enum isa_unit)index);
}

/* core.units of the machine file: which instructions there are. */
static int read_units(const struct chil_machine *machine, uint32_t *units, struct chil_error *err)
{
    const char *words = chil_machine_word(machine, "core.units");
    *units = 0;
    if (!words) words = "base mac fpu fp2 callthru";
    char *copy = base_strdup(words), *rest = copy;
    for (const char *word; (word = text_next_field(&rest));) {
        unsigned unit = 0;
        while (unit < ISA_UNIT_COUNT && strcmp(word, isa_unit_name((enum isa_unit)unit)) != 0)
            unit++;
        if (unit == ISA_UNIT_COUNT) {
            char hint[80];
            text_hint(hint, sizeof hint, text_nearest(word, NULL, ISA_UNIT_COUNT, unit_name_at));
            int status = chil_error_set(err, CHIL_EINVAL, "machine '%s': core.units has no '%s'%s",
                                        chil_machine_name(machine), word, hint);
            free(copy);
            return status;
        }
        *units |= isa_unit_bit((enum isa_unit)unit);
    }
    free(copy);
    return 0;
}

uint64_t node_parameter(const struct chil_machine *machine, const char *key, uint64_t otherwise)
{
    uint64_t value;
    return chil_machine_number(machine, key, &value) ? otherwise : value;
}

uint64_t node_elapsed(const struct node *node)
{
    uint64_t most = 0;
    for (unsigned i = 0; i < node->core_count; i++)
        if (core_cycles(cores_get(node->cores, i)) > most)
            most = core_cycles(cores_get(node->cores, i));
    return most;
}

/* --- Making ---------------------------------------------------------------------------------- */

int node_new(struct node **out, const struct node_options *o, struct chil_error *err)
{
    struct cache_config memory;
    unsigned cores = (unsigned)node_parameter(o->machine, "machine.cores", 1);
    int status = cache_config_read(&memory, o->machine, err);
    if (status) return status;
    if (cores > OS_CORES_MAX)
        return chil_error_set(err, CHIL_ERANGE, "machine '%s' has more than %d cores; use fewer",
                              chil_machine_name(o->machine), OS_CORES_MAX);
    struct node *node = base_calloc(1, sizeof *node);
    node->machine = o->machine;
    node->core_count = cores;
    node->report = o->report;
    node->report_context = o->report_context;
    node->cache = cache_new(&memory);
    node->counts = base_calloc(cores, sizeof *node->counts);
    node->watches = base_calloc(cores, sizeof *node->watches);
    *out = node;
    return 0;
}

int node_make_cores(struct node *node, const struct node_options *o, struct core_trace *trace,
                    struct record *record, struct chil_error *err)
{
    struct core_options core = {.cache = node->cache, .trace = trace, .record = record};
    int status = read_units(o->machine, &core.units, err);
    if (!status) status = node_engine(node, o, trace != NULL, &core, err);
    if (!status) node->cores = cores_new(node->core_count, &core);
    return status;
}

void node_free(struct node *node)
{
    if (!node) return;
    os_free(node->os);
    cores_free(node->cores);
    jit_free(node->jit);
    cache_free(node->cache);
    free(node->watches);
    free(node->counts);
    free(node);
}

/* --- Attaching ------------------------------------------------------------------------------- */

static void attach(const void **places, size_t count, const void *what)
{
    size_t i = 0;
    while (i < count && places[i])
        i++;
    assert(i < count);
    places[i] = what;
}

void node_attach_listener(struct node *node, const struct node_listener *listener)
{
    attach((const void **)node->listeners, NODE_ATTACHED, listener);
}

void node_attach_device(struct node *node, const struct node_device *device)
{
    attach((const void **)node->devices, OS_DEVICES, device);
}

void node_attach_service(struct node *node, const struct node_service *service)
{
    attach((const void **)node->services, NODE_ATTACHED, service);
}

void node_attach_watcher(struct node *node, const struct node_watcher *watcher)
{
    attach((const void **)node->watchers, NODE_ATTACHED, watcher);
}

void node_attach_source(struct node *node, const struct node_source *source)
{
    attach((const void **)node->sources, NODE_ATTACHED, source);
}

void node_attach_outside(struct node *node, const struct node_outside *outside)
{
    assert(!node->outside && !node->os);
    node->outside = outside;
}

void node_attach_host(struct node *node, const struct node_host *host)
{
    assert(!node->host && !node->os);
    node->host = host;
}

/* --- The operating system's callbacks -------------------------------------------------------- */

/* Calls `callback` of each listener that has it. */
#define NOTIFY(node, callback, ...)                                                                \
    for (unsigned i_ = 0; i_ < NODE_ATTACHED && (node)->listeners[i_]; i_++)                       \
        if ((node)->listeners[i_]->callback)                                                       \
    (node)->listeners[i_]->callback((node)->listeners[i_]->context, __VA_ARGS__)

static void on_report(void *context, const char *line)
{
    const struct node *node = context;
    if (node->report) node->report(node->report_context, line);
}

static void on_switched(void *context, unsigned core, int pid, int tid)
{
    const struct node *node = context;
    NOTIFY(node, switched, core, pid, tid);
}

static void on_ended(void *context, int pid)
{
    const struct node *node = context;
    NOTIFY(node, ended, pid);
}

static void on_forked(void *context, int from, int pid, int tid)
{
    const struct node *node = context;
    NOTIFY(node, forked, from, pid, tid);
}

static void on_memory(void *context, enum os_memory what, const struct mem *mem,
                      const struct mem *from)
{
    const struct node *node = context;
    NOTIFY(node, memory, what, mem, from);
}

static void on_handled(void *context, int tid, int signal, const struct core_regs *regs,
                       struct mem *mem)
{
    const struct node *node = context;
    NOTIFY(node, handled, tid, signal, regs, mem);
}

static bool has_turn(void *context, const struct os_action *action)
{
    const struct node *node = context;
    return node->outside->turn(node->outside->context, action);
}

static int64_t on_output(void *context, int stream, const void *bytes, size_t count)
{
    const struct node *node = context;
    return node->outside->output(node->outside->context, stream, bytes, count);
}

static void on_writes(void *context)
{
    const struct node *node = context;
    node->host->writes(node->host->context);
}

static bool on_waits(void *context)
{
    const struct node *node = context;
    return node->host->waits(node->host->context);
}

/* --- Running --------------------------------------------------------------------------------- */

int node_load(struct node *node, const struct os_options *program, struct chil_error *err)
{
    struct os_options os = *program;
    os.clock_mhz = (unsigned)node_parameter(node->machine, "machine.clock_mhz", 850);
    os.memory_bytes = node_parameter(node->machine, "memory.size_max", 0);
    os.context = node;
    os.report = on_report;
    os.switched = on_switched;
    os.ended = on_ended;
    os.forked = on_forked;
    os.memory = on_memory;
    os.handled = on_handled;
    os.call_through = node_call_through;
    os.device = node_device_access;
    os.watch = node_watch_stopped;
    if (node->outside) {
        if (node->outside->turn) os.turn = has_turn;
        if (node->outside->output) os.output = on_output;
    }
    if (node->host && node->host->writes) os.writes = on_writes;
    if (node->host && node->host->waits) os.waits = on_waits;
    for (unsigned i = 0; i < OS_DEVICES && node->devices[i]; i++)
        os.devices[i] = (struct os_device){.address = node->devices[i]->page,
                                           .size = node_device_size(node->devices[i]),
                                           .outside = node->devices[i]->outside};
    return os_new(&node->os, &os, node->cores, node->core_count, err);
}

enum os_progress node_advance(struct node *node, uint64_t until)
{
    return os_advance(node->os, until);
}
