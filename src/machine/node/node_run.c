/* A run: builds the node a machine file describes, starts the program on it, and adds up its wires.
 */
#include "machine/node/node.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "machine/isa/isa.h"
#include "machine/jit/jit.h"
#include "machine/node/node_names.h"
#include "machine/node/node_symbols.h"
#include "machine/os/os_impl.h"

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
    char *copy = strdup(words), *rest = copy;
    for (const char *word; copy && (word = text_next_field(&rest));) {
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

static uint64_t number_or(const struct chil_machine *machine, const char *key, uint64_t otherwise)
{
    uint64_t value;
    return chil_machine_number(machine, key, &value) ? otherwise : value;
}

static void say(void *context, const char *line)
{
    const struct chil_run *run = context;
    if (run->options.say) run->options.say(run->options.context, line);
}

static uint64_t elapsed(const struct chil_run *run);

/* False ends the run. */
static bool pause_run(struct chil_run *run)
{
    if (run->options.record_turns) {
        node_record_turn(run);
        return true;
    }
    for (unsigned i = 0; i < run->core_count; i++)
        core_signal_counts(cores_get(run->cores, i), run->counts[i]);
    cache_tell_alike(run->cache, CACHE_ALL);
    run->result.cycles = elapsed(run);
    run->telling = NULL;
    run->stopped = !run->options.pause(run->options.context, run);
    return !run->stopped;
}

static int start_os(struct chil_run *run, const struct chil_run_options *o, struct chil_error *err)
{
    struct os_options os = {
        .clock_mhz = (unsigned)number_or(o->machine, "machine.clock_mhz", 850),
        .memory_bytes = number_or(o->machine, "memory.size_max", 0),
        .rules = {.sysroot = o->sysroot ? o->sysroot : "/usr/powerpc-linux-gnu",
                  .root = o->root,
                  .writable = o->writable,
                  .writable_count = o->writable_count},
        .program = o->program,
        .argv = o->argv,
        .envp = o->envp,
        .context = run,
        .say = say,
        .switched = node_switched,
        .ended = node_ended,
        .forked = run->record ? node_record_forked : NULL,
        .handled = run->record ? node_record_handled : NULL,
        .memory = run->names ? node_names_memory : NULL,
        .call_through = node_call_through,
        .device_pages = {run->upc ? (uint32_t)number_or(o->machine, "upc.base", 0) : 0,
                         NODE_MONITOR_BASE},
        .device = node_device,
        .watch = node_watch,
    };
    return os_new(&run->os, &os, run->cores, run->core_count, err);
}

int chil_run_new(struct chil_run **out, const struct chil_run_options *o, struct chil_error *err)
{
    struct core_options options = {0};
    struct cache_config memory;
    if (o->record_turns && (o->pause || !o->record))
        return chil_error_set(err, CHIL_EINVAL,
                              "counters take turns in a recorded run without pauses");
    int status = read_units(o->machine, &options.units, err);
    if (!status) status = cache_config_read(&memory, o->machine, err);
    if (status) return status;
    struct chil_run *run = base_calloc(1, sizeof *run);
    run->machine = o->machine;
    run->options = *o;
    run->core_count = (unsigned)number_or(o->machine, "machine.cores", 1);
    if (run->core_count > OS_CORES_MAX) {
        free(run);
        return chil_error_set(err, CHIL_ERANGE, "machine '%s' has more than %d cores; use fewer",
                              chil_machine_name(o->machine), OS_CORES_MAX);
    }
    options.cache = run->cache = cache_new(&memory);
    run->trace = node_trace_new(run);
    if (run->trace) options.trace = node_trace_of_cores(run->trace);
    run->monitor = node_monitor_new(run);
    run->symbols = node_symbols_new();
    run->names = node_names_new(run);
    run->record = node_record_new(run);
    if (run->record) options.record = node_record_of_cores(run->record);
    status = node_engine(run, &options, err);
    if (status) {
        chil_run_free(run);
        return status;
    }
    run->cores = cores_new(run->core_count, &options);
    run->counts = base_calloc(run->core_count, sizeof *run->counts);
    run->counters = node_counters_new(run);
    run->upc = node_upc_new(run);
    run->events = node_events_new(run);
    run->watches = base_calloc(run->core_count, sizeof *run->watches);
    status = start_os(run, o, err);
    if (status) {
        chil_run_free(run);
        return status;
    }
    *out = run;
    return 0;
}

void chil_run_free(struct chil_run *run)
{
    if (!run) return;
    os_free(run->os);
    counters_free(run->counters);
    node_upc_free(run->upc);
    node_monitor_free(run->monitor);
    node_events_free(run->events);
    free(run->watches);
    cores_free(run->cores);
    node_record_free(run->record);
    node_names_free(run->names);
    node_symbols_free(run->symbols);
    jit_free(run->jit);
    cache_free(run->cache);
    free(run->trace);
    free(run->counts);
    free(run);
}

int chil_run_go(struct chil_run *run, struct chil_error *err)
{
    const struct chil_run_options *o = &run->options;
    uint64_t cycles = o->record_turns ? o->turn_cycles : o->pause_cycles;
    if (!cycles) cycles = 1;
    uint64_t until = o->record_turns || o->pause ? cycles : UINT64_MAX;
    enum os_progress progress;
    while ((progress = os_advance(run->os, until)) != OS_ALL_ENDED) {
        if (progress == OS_ALL_WAIT) {
            os_end_deadlock(run->os);
            continue;
        }
        until = os_now(run->os) + (cycles - os_now(run->os) % cycles);
        if (!pause_run(run)) break;
    }
    os_result_get(run->os, &run->result);
    cache_tell_alike(run->cache, CACHE_ALL);
    for (unsigned i = 0; i < run->core_count; i++)
        core_signal_counts(cores_get(run->cores, i), run->counts[i]);
    if (run->jit && jit_diverged(run->jit))
        return chil_error_set(err, CHIL_ELAW,
                              "internal error: translated code and interpreter differ, see above");
    return run->stopped ? 0 : node_check_laws(run, err);
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

/* --- Counts: of one core, or of all (CORE_ALL) with the counts that were taken at the end ---- */

struct asking {
    const struct chil_run *run;
    unsigned core;
    const uint64_t *signals; /* of that core */
    const struct node_part *part;
};

static uint64_t count_signal(const struct asking *ask, unsigned core, enum core_signal signal)
{
    uint64_t sum = 0;
    if (ask->part)
        return core == CORE_ALL || core == ask->part->core ? ask->part->signals[signal] : 0;
    if (ask->core != CORE_ALL)
        return core == CORE_ALL || core == ask->core ? ask->signals[signal] : 0;
    for (unsigned i = 0; i < ask->run->core_count; i++)
        if (core == CORE_ALL || core == i) sum += ask->run->counts[i][signal];
    return sum;
}

static uint64_t count_cache(const struct asking *ask, struct cache_wire wire,
                            enum chil_count_mode mode)
{
    uint64_t occurrences, high;
    if (wire.instance == CACHE_ALL && ask->core != CORE_ALL) wire.instance = ask->core;
    cache_wire_count(ask->part ? ask->part->cache : ask->run->cache, wire, &occurrences, &high);
    return mode == CHIL_COUNT_HIGH ? high : occurrences;
}

/* Hits are what is left of the accesses: "coreN.l1d.hit" and "coreN.l1i.hit", found by their
 * misses. */
static bool find_hits(const struct chil_run *run, const char *name, struct node_wire *wire)
{
    char miss[CACHE_NAME];
    const char *end = strrchr(name, '.');
    if (!end || strcmp(end, ".hit") != 0 || strncmp(name, "core", 4) != 0) return false;
    (void)snprintf(miss, sizeof miss, "%.*s.miss", (int)(end - name), name);
    wire->kind = strstr(name, ".l1d.") ? NODE_WIRE_DATA_HITS : NODE_WIRE_CODE_HITS;
    return cache_wire_find(run->cache, miss, &wire->memory);
}

void node_wire_find(const struct chil_run *run, const char *name, struct node_wire *wire)
{
    *wire = (struct node_wire){0};
    if (core_signal_find(name, &wire->core, &wire->signal))
        wire->kind = NODE_WIRE_CORE;
    else if (cache_wire_find(run->cache, name, &wire->memory))
        wire->kind = NODE_WIRE_MEMORY;
    else if (strcmp(name, "upc.elapsed") == 0)
        wire->kind = NODE_WIRE_ELAPSED;
    else if (strcmp(name, "core.cycles") == 0)
        wire->kind = NODE_WIRE_CYCLES;
    else if (!find_hits(run, name, wire))
        wire->kind = NODE_WIRE_NONE;
}

static uint64_t count_hits(const struct asking *ask, const struct node_wire *wire)
{
    bool data = wire->kind == NODE_WIRE_DATA_HITS;
    unsigned core = wire->memory.instance == CACHE_ALL ? ask->core : wire->memory.instance;
    uint64_t accesses = count_signal(ask, core, data ? CORE_SIGNAL_LOAD : CORE_SIGNAL_FETCH);
    if (data) accesses += count_signal(ask, core, CORE_SIGNAL_STORE);
    for (unsigned i = 0; data && i < ask->run->core_count; i++) {
        if (core != CORE_ALL && core != i) continue;
        if (!ask->part)
            accesses += core_crossings(cores_get(ask->run->cores, i));
        else if (i == ask->part->core)
            accesses += ask->part->crossings;
    }
    return accesses - count_cache(ask, wire->memory, CHIL_COUNT_RISE);
}

/* Cycles in which cores had something to run. */
static uint64_t count_cycles(const struct asking *ask)
{
    uint64_t sum = 0;
    if (ask->part) return ask->part->cycles;
    for (unsigned i = 0; i < ask->run->core_count; i++) {
        const struct core *core = cores_get(ask->run->cores, i);
        if (ask->core == CORE_ALL || ask->core == i)
            sum += core_cycles(core) - core_idle_cycles(core);
    }
    return sum;
}

static uint64_t elapsed(const struct chil_run *run)
{
    uint64_t most = 0;
    for (unsigned i = 0; i < run->core_count; i++)
        if (core_cycles(cores_get(run->cores, i)) > most)
            most = core_cycles(cores_get(run->cores, i));
    return most;
}

static uint64_t count_wire(const struct asking *ask, const struct node_wire *wire,
                           enum chil_count_mode mode)
{
    switch (wire->kind) {
    case NODE_WIRE_CORE: return count_signal(ask, wire->core, wire->signal);
    case NODE_WIRE_MEMORY: return count_cache(ask, wire->memory, mode);
    case NODE_WIRE_DATA_HITS:
    case NODE_WIRE_CODE_HITS: return count_hits(ask, wire);
    case NODE_WIRE_CYCLES: return count_cycles(ask);
    case NODE_WIRE_ELAPSED: return ask->part ? 0 : elapsed(ask->run); /* the node's, no part's */
    default: return 0;
    }
}

uint64_t node_wire_count(const struct chil_run *run, const struct node_wire *wire,
                         enum chil_count_mode mode)
{
    return count_wire(&(struct asking){.run = run, .core = CORE_ALL}, wire, mode);
}

uint64_t node_count(const struct chil_run *run, const struct chil_event *event, unsigned core,
                    const uint64_t *signals)
{
    const struct asking ask = {.run = run, .core = core, .signals = signals};
    uint64_t sum = 0;
    for (size_t i = 0; i < event->signal_count; i++) {
        struct node_wire wire;
        node_wire_find(run, event->signals[i], &wire);
        sum += count_wire(&ask, &wire, event->mode);
    }
    return event->mode == CHIL_COUNT_HIGH ? sum / event->clock
                                          : sum; /* a unit's cycle is seen `clock` times */
}

int64_t node_part_count(const struct chil_run *run, const struct chil_event *event,
                        const struct node_wire *wires, const struct node_part *part)
{
    const struct asking ask = {.run = run, .core = CORE_ALL, .part = part};
    uint64_t sum = 0;
    for (size_t i = 0; i < event->signal_count; i++)
        sum += count_wire(&ask, &wires[i], event->mode);
    return event->mode == CHIL_COUNT_HIGH ? (int64_t)sum / (int64_t)event->clock : (int64_t)sum;
}

uint64_t chil_run_instructions(const struct chil_run *run)
{
    return count_signal(&(struct asking){.run = run, .core = CORE_ALL}, CORE_ALL,
                        CORE_SIGNAL_INSTRUCTIONS);
}

uint64_t chil_run_count(const struct chil_run *run, const struct chil_event *event)
{
    return node_count(run, event, CORE_ALL, NULL);
}

unsigned chil_run_cores(const struct chil_run *run)
{
    return run->core_count;
}

uint64_t chil_run_core_cycles(const struct chil_run *run, unsigned core)
{
    const struct core *of = cores_get(run->cores, core);
    return of ? core_cycles(of) - core_idle_cycles(of) : 0;
}

/* Wires of all cores have the unit's name without a number: "core.load", "fpu.fma", "l2.miss". */
static bool is_of_cores(const struct chil_event *event)
{
    static const char *const units[] = {"core.", "fpu.", "l2."};
    for (size_t i = 0; i < event->signal_count; i++) {
        bool found = false;
        for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
            const char *name = event->signals[i];
            size_t length = strlen(units[u]);
            found |=
                strncmp(name, units[u], length) == 0 && (name[length] < '0' || name[length] > '9');
        }
        if (!found) return false;
    }
    return event->signal_count;
}

bool chil_run_core_count(const struct chil_run *run, unsigned core, const struct chil_event *event,
                         uint64_t *count)
{
    if (core >= run->core_count || !is_of_cores(event)) return false;
    *count = node_count(run, event, core, run->counts[core]);
    return true;
}

/* --- A crash --------------------------------------------------------------------------------- */

static int add_line(char *buffer, size_t size, int used, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static int add_line(char *buffer, size_t size, int used, const char *format, ...)
{
    if (used < 0 || (size_t)used >= size) return used;
    va_list args;
    va_start(args, format);
    int added = vsnprintf(buffer + used, size - (size_t)used, format, args);
    va_end(args);
    return used + added;
}

void chil_run_report(const struct chil_run *run, char *buffer, size_t size)
{
    const struct os_crash *crash = &run->result.crash;
    char where[200] = "", text[ISA_TEXT_MAX] = "not readable";
    *buffer = 0;
    if (!run->result.killed) return;
    if (crash->space && crash->space->program)
        node_symbol(crash->space->program, crash->pc, where, sizeof where);
    if (crash->has_instruction)
        isa_disassemble_simplified(crash->instruction, crash->pc, text, sizeof text);
    int used =
        add_line(buffer, size, 0, "killed by signal %d (%s) at pc 0x%08x%s%s, address 0x%08x\n",
                 crash->signal, strsignal(crash->signal), crash->pc, *where ? " in " : "", where,
                 crash->address);
    used = add_line(buffer, size, used, "  instruction: %s\n", text);
    for (unsigned i = 0; i < 32; i += 8) {
        used = add_line(buffer, size, used, "  r%-2u", i);
        for (unsigned k = i; k < i + 8; k++)
            used = add_line(buffer, size, used, " %08x", crash->regs.gpr[k]);
        used = add_line(buffer, size, used, "\n");
    }
    (void)add_line(buffer, size, used, "  lr %08x ctr %08x cr %08x xer %08x\n", crash->regs.lr,
                   crash->regs.ctr, core_cr_get(&crash->regs), core_xer_get(&crash->regs));
}
