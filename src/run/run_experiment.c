/* A recorded run as an experiment: events that counted become metrics, paths become the call tree,
 * threads the system.
 *
 * An event's value in a path is computed as the run's total is, from the path's own counts.
 * run_calls.c decides which node a path is. The rest of a total belongs to no path; the program's
 * node has it, in its first thread: elapsed time and eDRAM refreshes, and up to half a cycle a path
 * for units that run at half the clock.
 *
 * With sets that rotate, each has an experiment of its own, with the same rows: what was counted
 * while it was on. What belongs to no path follows the clock, and is divided as time is.
 */
#include "chiliad/experiment.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "chiliad/metric.h"
#include "machine/core/core_record.h"
#include "run/run_bytes.h"
#include "run/run_impl.h"

/* An event and the metric that it is. */
struct measured {
    const struct chil_event *event;
    struct node_signal *signals;
    int64_t in_paths; /* of a node */
    int64_t rest;     /* of it, in no path */
    int metric;
};

struct builder {
    uint64_t hash; /* of the program */
    struct chil_run *run;
    struct chil_exp *exp;
    unsigned turn, turns; /* the first, and how many */
    /* The node whose paths are added: the rest is its. */
    struct run_node *at;
    unsigned number;
    struct record_path *const *paths;
    size_t path_count;
    struct measured *measured;
    size_t measured_count;
    int time, visits;
    int *node_of; /* by number of the path */
    struct record_thread **threads;
    size_t thread_count, first_column;
    struct run_recorded *others;   /* of other ranks' nodes; NULL: this process has all */
    struct ranks_message *message; /* for rank 0; NULL: it is not wanted */
    unsigned packed;               /* nodes in it */
};

/* --- Metrics --------------------------------------------------------------------------------- */

/* Level-counted signals of events without a duration are high for one cycle each: only the text
 * distinguishes them. */
static bool counts_time(const struct chil_event *event)
{
    bool level = event->mode == CHIL_COUNT_HIGH || event->mode == CHIL_COUNT_LOW;
    return level && (strcasestr(event->text, "cycle") || strcasestr(event->name, "cycle") ||
                     strstr(event->name, "PEND"));
}

static int add_metric(struct builder *b, const struct chil_event *event)
{
    char name[120];
    struct chil_exp_metric metric = {
        .name = name,
        .title = (char *)event->name,
        .unit = (char *)(counts_time(event) ? "cycles" : "occ"),
        .text = (char *)event->text,
        .exactness = (char *)chil_exactness_word(event->exactness),
        .parent = CHIL_EXP_NONE,
        .kind = CHIL_EXP_COUNT,
        .origin = CHIL_EXP_MEASURED,
        .runs = 1,
    };
    (void)snprintf(name, sizeof name, "%.100s", event->name);
    int index = chil_exp_add_metric(b->exp, &metric);
    for (unsigned n = 2; index < 0 && n < 100;
         n++) { /* two names that differ in what CubePL does not take */
        (void)snprintf(name, sizeof name, "%.100s_%u", event->name, n);
        index = chil_exp_add_metric(b->exp, &metric);
    }
    return index;
}

static void measure(struct builder *b, const struct chil_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct chil_event *event = &events[i];
        if (event->reserved || event->exactness == CHIL_NONE) continue;
        uint64_t total = chil_run_count(b->run, event);
        if (!total && !event->needs && !chil_run_memory(b->run))
            continue; /* the reader has to see that the others were counted */
        struct measured *m = &b->measured[b->measured_count];
        *m = (struct measured){.event = event, .metric = add_metric(b, event)};
        if (m->metric < 0) continue;
        m->signals = base_calloc(event->signal_count, sizeof *m->signals);
        b->measured_count++;
    }
}

static void add_metrics(struct builder *b)
{
    size_t own_count, count;
    const struct chil_event *own = chil_machine_own_events(b->run->node->machine, &own_count);
    const struct chil_event *events = chil_machine_events(b->run->node->machine, &count);
    struct chil_exp_metric visits = {.name = (char *)"visits",
                                     .title = (char *)"visits",
                                     .unit = (char *)"occ",
                                     .text = (char *)"how often the call path was taken",
                                     .exactness = (char *)chil_exactness_word(CHIL_EXACT),
                                     .parent = CHIL_EXP_NONE,
                                     .kind = CHIL_EXP_COUNT,
                                     .origin = CHIL_EXP_MEASURED,
                                     .runs = 1};
    struct chil_exp_metric time = {.name = (char *)"time",
                                   .title = (char *)"Time",
                                   .unit = (char *)"sec",
                                   .text = (char *)"by the clock of the machine",
                                   .exactness = (char *)chil_exactness_word(CHIL_MODELLED),
                                   .parent = CHIL_EXP_NONE,
                                   .kind = CHIL_EXP_REAL,
                                   .origin = CHIL_EXP_MEASURED,
                                   .runs = 1};
    b->time = chil_run_memory(b->run) ? -1 : chil_exp_add_metric(b->exp, &time);
    b->measured = base_calloc(own_count + count, sizeof *b->measured);
    b->visits = chil_exp_add_metric(b->exp, &visits);
    measure(b, own, own_count);
    measure(b, events, count);
}

/* --- The system ------------------------------------------------------------------------------ */

static int compare_threads(const void *a, const void *b)
{
    const struct record_thread *const *x = a, *const *y = b;
    return (*x)->tid < (*y)->tid ? -1 : (*x)->tid > (*y)->tid;
}

static void collect_threads(struct builder *b)
{
    b->threads = base_calloc(b->path_count + 1, sizeof *b->threads);
    for (size_t i = 0; i < b->path_count; i++)
        if (b->paths[i]->kind == RECORD_ROOT) {
            bool known = false;
            for (size_t t = 0; t < b->thread_count; t++)
                known |= b->threads[t] == b->paths[i]->thread;
            if (!known) b->threads[b->thread_count++] = b->paths[i]->thread;
        }
    qsort(b->threads, b->thread_count, sizeof *b->threads, compare_threads);
}

static size_t column_of(const struct builder *b, const struct record_thread *thread)
{
    size_t t = 0;
    while (b->threads[t] != thread)
        t++;
    return b->first_column + t;
}

/* "thread 1 on core 2", or "on cores 0,2". */
static void name_thread(const struct builder *b, const struct record_thread *thread, int number,
                        char *name, size_t size)
{
    uint64_t cores = 0;
    for (const struct record_path *root = thread->roots; root; root = root->sibling)
        cores |= UINT64_C(1) << root->core;
    int used = snprintf(name, size, "thread %d on core%s", number, cores & (cores - 1) ? "s" : "");
    for (unsigned c = 0, first = 1; c < b->at->node->core_count && (size_t)used < size; c++)
        if (cores >> c & 1) {
            used += snprintf(name + used, size - (size_t)used, "%s%u", first ? " " : ",", c);
            first = 0;
        }
}

/* To be freed. */
static struct run_thread *describe_threads(const struct builder *b)
{
    struct run_thread *threads = base_calloc(b->thread_count + 1, sizeof *threads);
    for (size_t t = 0; t < b->thread_count; t++) {
        const struct record_thread *thread = b->threads[t];
        threads[t] = (struct run_thread){.pid = thread->pid, .core = thread->core};
        for (size_t k = 0; k < t; k++)
            threads[t].number += threads[k].pid == thread->pid;
        name_thread(b, thread, threads[t].number, threads[t].name, sizeof threads[t].name);
    }
    return threads;
}

/* Of a parallel run with the rank whose part of the node it has. */
static void name_process(const struct builder *b, const struct run_thread *thread, char *name,
                         size_t size)
{
    unsigned cores = b->run->node->core_count / b->run->processes;
    if (b->run->ranks > 1)
        (void)snprintf(name, size, "rank %u, process %d",
                       chil_run_rank(b->run, b->number, thread->core / cores), thread->pid);
    else
        (void)snprintf(name, size, "process %d", thread->pid);
}

/* The processes and threads of a node. */
static void add_threads(struct builder *b, int node, const struct run_thread *threads,
                        size_t thread_count)
{
    size_t first = b->exp->places;
    for (size_t t = 0; t < thread_count; t++) {
        const struct run_thread *thread = &threads[t];
        char name[40];
        int process = -1;
        for (size_t k = first; k < b->exp->places; k++)
            if (b->exp->place[k].level == CHIL_EXP_PROCESS && b->exp->place[k].rank == thread->pid)
                process = (int)k;
        name_process(b, thread, name, sizeof name);
        if (process < 0)
            process = chil_exp_add_place(b->exp, node, CHIL_EXP_PROCESS, name, thread->pid);
        (void)chil_exp_add_place(b->exp, process, CHIL_EXP_THREAD, thread->name, thread->number);
    }
}

/* Where threads are: cores on a node, and nodes on the torus. Both have a row for each thread. */
struct coordinates {
    int *core, *torus;
    size_t count, core_capacity, torus_capacity;
};

static void add_coordinates(const struct builder *b, struct coordinates *c,
                            const struct run_thread *threads, size_t thread_count)
{
    unsigned at[3];
    chil_run_coordinates(b->run, b->number, at);
    for (size_t t = 0; t < thread_count; t++, c->count++) {
        c->core = base_grow(c->core, &c->core_capacity, c->count + 1, sizeof *c->core);
        c->torus = base_grow(c->torus, &c->torus_capacity, 3 * (c->count + 1), sizeof *c->torus);
        c->core[c->count] = (int)threads[t].core;
        for (unsigned d = 0; d < 3; d++)
            c->torus[3 * c->count + d] = (int)at[d];
    }
}

static void add_topologies(struct builder *b, const struct coordinates *c)
{
    struct chil_torus torus = chil_run_torus(b->run);
    struct chil_exp_topology cores = {.name = (char *)"cores",
                                      .dimensions = 1,
                                      .dimension_name = {(char *)"core"},
                                      .size = {(int)b->run->node->core_count},
                                      .coordinates = c->core};
    struct chil_exp_topology nodes = {.name = (char *)"torus",
                                      .dimensions = 3,
                                      .dimension_name = {(char *)"x", (char *)"y", (char *)"z"},
                                      .coordinates = c->torus};
    for (unsigned d = 0; d < 3; d++) {
        nodes.size[d] = (int)torus.size[d];
        nodes.periodic[d] = !torus.mesh[d];
    }
    if (c->count && b->run->node_count > 1) (void)chil_exp_add_topology(b->exp, &nodes);
    if (c->count) (void)chil_exp_add_topology(b->exp, &cores);
}

/* --- Values ---------------------------------------------------------------------------------- */

/* What a path did in turns, as node_attributed_count wants it. */
struct done {
    uint64_t signals[CORE_SIGNAL_COUNT];
    struct node_attribution attribution;
};

static bool take_ledgers(const struct builder *b, const struct record_path *path,
                         struct cache *counts, struct done *done)
{
    const struct record *record = observe_record_of_cores(b->at->observe.record);
    bool any = false;
    memset(done, 0, sizeof *done);
    for (unsigned t = b->turn; t < b->turn + b->turns; t++) {
        const struct record_counts *ledger = record_path_counts(record, path, t);
        if (!ledger) continue;
        if (!any) cache_counts_clear(counts);
        any = true;
        record_path_signals(path, ledger, done->signals);
        cache_counts_add(counts, record_attributor(record), &ledger->attribution);
        done->attribution.crossings += ledger->crossings;
        done->attribution.cycles += ledger->cycles;
    }
    done->attribution.core = path->core;
    done->attribution.signals = done->signals;
    done->attribution.cache = counts;
    return any;
}

static void add_path(struct builder *b, const struct record_path *path, struct cache *counts)
{
    struct done done;
    int node = b->node_of[path->number], thread = (int)column_of(b, path->thread);
    bool stub = path->function->stub && path->function->callee; /* what it leads to is taken, too */
    bool inside =
        path->parent && b->node_of[path->parent->number] == node && run_calls_is_mpi(b->exp, node);
    if (path->calls && !stub && !inside)
        chil_exp_add_count(b->exp, b->visits, node, thread, (int64_t)path->calls);
    if (!take_ledgers(b, path, counts, &done)) return;
    for (size_t i = 0; i < b->measured_count; i++) {
        struct measured *m = &b->measured[i];
        int64_t count = node_attributed_count(b->at->node, m->event, m->signals, &done.attribution);
        m->in_paths += count;
        if (count) chil_exp_add_count(b->exp, m->metric, node, thread, count);
    }
}

static void add_paths(struct builder *b)
{
    struct cache *counts = cache_counts_new(b->at->node->cache);
    for (size_t i = 0; i < b->measured_count; i++) {
        struct measured *m = &b->measured[i];
        m->in_paths = 0;
        for (size_t w = 0; w < m->event->signal_count; w++)
            node_signal_find(b->at->node, m->event->signals[w], &m->signals[w]);
    }
    for (size_t i = 0; i < b->path_count; i++)
        add_path(b, b->paths[i], counts);
    cache_counts_free(counts);
}

static uint64_t cycles_of(const struct builder *b)
{
    const struct record *record = observe_record_of_cores(b->at->observe.record);
    uint64_t sum = 0;
    for (size_t i = 0; i < b->path_count; i++)
        for (unsigned t = b->turn; t < b->turn + b->turns; t++) {
            const struct record_counts *ledger = record_path_counts(record, b->paths[i], t);
            if (ledger) sum += ledger->cycles;
        }
    return sum;
}

/* What no path did: what is missing from the total, or of a turn its part of that. */
static void add_rest(struct builder *b, const struct builder *whole)
{
    uint64_t on = whole ? cycles_of(b) : 0, all = whole ? cycles_of(whole) : 0;
    for (size_t i = 0; b->path_count && i < b->measured_count; i++) {
        struct measured *m = &b->measured[i];
        if (!whole)
            m->rest = (int64_t)chil_run_node_count(b->run, b->number, m->event) - m->in_paths;
        else if (all)
            m->rest = (int64_t)((__int128)whole->measured[i].rest * on / all);
        if (m->rest)
            chil_exp_add_count(b->exp, m->metric, b->node_of[0],
                               (int)column_of(b, b->paths[0]->thread), m->rest);
    }
}

/* The metric that Cube's tools show by default: cycles by the machine's clock. */
static void add_time(struct builder *b)
{
    if (b->time < 0) return;
    const char *clock = chil_exp_attribute(b->exp, "clock_hz");
    double hertz = clock ? strtod(clock, NULL) : 0;
    int cycles = chil_exp_find_metric(b->exp, CHIL_TURN_CYCLES);
    size_t count = 0;
    const struct chil_exp_cell *cell =
        cycles < 0 || hertz <= 0 ? NULL : chil_exp_cells(b->exp, cycles, &count);
    for (size_t i = 0; i < count; i++)
        chil_exp_add_real(b->exp, b->time, (int)cell[i].node, (int)cell[i].thread,
                          (double)cell[i].count / hertz);
}

/* --- Metadata -------------------------------------------------------------------------------- */

struct differing {
    struct chil_exp *exp;
    const struct chil_machine *plain;
};

static void add_setting(void *context, const char *key, const char *word)
{
    const struct differing *d = context;
    const char *usual = chil_machine_word(d->plain, key);
    char name[120];
    if (usual && strcmp(usual, word) == 0) return;
    (void)snprintf(name, sizeof name, "set.%s", key);
    chil_exp_set_attribute(d->exp, name, word);
}

static void add_command(struct builder *b)
{
    char command[1000];
    size_t used = 0;
    for (char *const *word = b->run->options.argv; *word && used < sizeof command; word++)
        used +=
            (size_t)snprintf(command + used, sizeof command - used, "%s%s", used ? " " : "", *word);
    chil_exp_set_attribute(b->exp, "command", command);
}

/* What the run was made on: configuration rows of tables of several platforms. */
static void add_platform(struct builder *b)
{
    const struct chil_run *run = b->run;
    const char *text = chil_machine_text(run->node->machine),
               *colon = text ? strchr(text, ':') : NULL;
    char word[200];
    if (colon) {
        (void)snprintf(word, sizeof word, "%.*s", (int)(colon - text), text);
        chil_exp_set_attribute(b->exp, "platform", word);
        chil_exp_set_attribute(b->exp, "processor", colon + 1 + (colon[1] == ' '));
    }
    (void)snprintf(word, sizeof word, "%u", chil_run_cores(run));
    chil_exp_set_attribute(b->exp, "cores", word);
    (void)snprintf(word, sizeof word, "%" PRIu64,
                   node_parameter(run->node->machine, "upc.counters", 0));
    chil_exp_set_attribute(b->exp, "counter_registers", word);
    chil_exp_set_attribute(b->exp, "operating_system", "Linux, user mode");
    observe_compiler(os_first_image(run->node->os), word, sizeof word);
    if (*word) chil_exp_set_attribute(b->exp, "compiler", word);
}

static void add_attributes(struct builder *b)
{
    const struct chil_run *run = b->run;
    struct chil_machine *plain = NULL;
    char text[40];
    run_attributes_set(run, chil_run_cores(run), b->exp);
    chil_exp_set_attribute(b->exp, "program", run->options.program);
    add_command(b);
    add_platform(b);
    if (run->options.environment)
        chil_exp_set_attribute(b->exp, "environment", run->options.environment);
    (void)snprintf(text, sizeof text, "%016" PRIx64, b->hash);
    chil_exp_set_attribute(b->exp, "program_hash", text);
    (void)snprintf(text, sizeof text, "%d", chil_run_status(run));
    if (!chil_run_was_stopped(run)) chil_exp_set_attribute(b->exp, "exit_status", text);
    chil_exp_set_attribute(b->exp, "chiliad_version", CHILIAD_VERSION);
    if (!run->options.record_call_sites)
        chil_exp_set_attribute(b->exp, "call_sites", "merged"); /* src/analyze/exp */
    /* With "all", an event that is not there was zero (src/analyze/metric). */
    chil_exp_set_attribute(b->exp, "counted", chil_run_memory(run) ? "some" : "all");
    struct chil_error err = {0};
    int status = chil_machine_open(&plain, chil_machine_name(run->node->machine), &err);
    if (status == CHIL_EIO) base_end(err.text);
    if (status) return;
    chil_machine_each(run->node->machine, add_setting, &(struct differing){b->exp, plain});
    chil_machine_free(plain);
}

static void add_node(struct builder *b, struct run_calls *calls, const struct run_place *place,
                     struct coordinates *coordinates, const struct builder *whole)
{
    b->at = &b->run->nodes[b->number];
    b->paths = record_paths(observe_record_of_cores(b->at->observe.record), &b->path_count);
    b->thread_count = 0;
    collect_threads(b);
    struct run_thread *threads = describe_threads(b);
    add_threads(b, run_places_add(b->run, b->exp, place), threads, b->thread_count);
    add_coordinates(b, coordinates, threads, b->thread_count);
    b->node_of = run_calls_add(calls, b->at);
    if (b->message) {
        run_recorded_node(b->message, b->number, threads, b->thread_count);
        run_recorded_visits(b->message, b->node_of, b->path_count, b->exp->nodes);
        b->packed++;
    }
    free(threads);
    add_paths(b);
    add_rest(b, whole);
}

/* A node of another rank; its values come at the end. */
static void add_other_node(struct builder *b, struct run_calls *calls,
                           const struct run_place *place, struct coordinates *coordinates)
{
    size_t count;
    if (!b->others) return;
    const struct run_thread *threads =
        run_recorded_threads(b->others, b->number, b->first_column, &count);
    add_threads(b, run_places_add(b->run, b->exp, place), threads, count);
    add_coordinates(b, coordinates, threads, count);
    run_recorded_calls(b->others, calls, b->number);
}

/* The keys of metrics between ranks. */
enum { KEY_VISITS = 1, KEY_EVENTS };

static int metric_of(void *context, uint64_t key)
{
    const struct builder *b = context;
    if (key == KEY_VISITS) return b->visits;
    for (size_t i = 0; i < b->measured_count; i++)
        if (run_event_number(b->run, b->measured[i].event) + KEY_EVENTS == key)
            return b->measured[i].metric;
    return -1;
}

/* The message begins with the call tree, which is known last. */
static void pack(struct builder *b, struct run_calls *calls)
{
    struct ranks_message nodes = *b->message;
    *b->message = (struct ranks_message){0};
    run_calls_pack(calls, b->message);
    run_put(b->message, b->packed);
    if (nodes.count) ranks_message_add(b->message, nodes.bytes, nodes.count);
    free(nodes.bytes);
    run_recorded_values(b->message, b->exp, b->visits, KEY_VISITS);
    for (size_t i = 0; i < b->measured_count; i++)
        run_recorded_values(b->message, b->exp, b->measured[i].metric,
                            run_event_number(b->run, b->measured[i].event) + KEY_EVENTS);
    run_put(b->message, 0);
}

static void build(struct builder *b, const struct builder *whole)
{
    struct coordinates coordinates = {0};
    b->exp = chil_exp_new();
    add_attributes(b);
    add_metrics(b);
    struct run_calls *calls = run_calls_new(b->run, b->exp);
    struct run_place *places = run_places_new(b->run);
    for (unsigned i = 0; i < b->run->node_count; i++) {
        b->number = places[i].node;
        b->first_column = b->exp->threads;
        if (run_others_has(b->run, b->number)) {
            add_other_node(b, calls, &places[i], &coordinates);
            continue;
        }
        free(b->node_of);
        free(b->threads); // NOLINT(bugprone-multi-level-implicit-pointer-conversion)
        add_node(b, calls, &places[i], &coordinates, whole);
    }
    if (b->others) run_recorded_finish(b->others, calls, b->exp, metric_of, b);
    if (b->message) pack(b, calls);
    run_calls_free(calls);
    add_topologies(b, &coordinates);
    add_time(b);
    free(places);
    free(coordinates.core);
    free(coordinates.torus);
}

static struct chil_exp *finish(struct builder *b)
{
    for (size_t i = 0; i < b->measured_count; i++)
        free(b->measured[i].signals);
    free(b->measured);
    free(b->node_of);
    free(b->threads); // NOLINT(bugprone-multi-level-implicit-pointer-conversion)
    return b->exp;
}

/* On ranks: the others send what they have recorded, and rank 0 waits for it. */
static int build_whole(struct builder *b, struct chil_error *err)
{
    struct chil_run *run = b->run;
    struct ranks_message message = {0};
    if (chil_ranks_count(run->options.ranks) < 2) {
        build(b, NULL);
        return 0;
    }
    bool is_root = chil_ranks_self(run->options.ranks) == 0;
    if (!is_root) {
        b->message = &message;
        build(b, NULL);
    }
    int status = run_recorded_gather(run, &message, &b->others, err);
    if (!status && is_root) build(b, NULL);
    run_recorded_free(b->others);
    free(message.bytes);
    return status;
}

int chil_run_experiments(struct chil_run *run, struct chil_exp **exp, struct chil_exp **turn,
                         struct chil_error *err)
{
    if (!run->options.record)
        return chil_error_set(err, CHIL_EINVAL,
                              "the run was not recorded; set `record` in its options");
    unsigned turns = record_turns(observe_record_of_cores(run->observe->record));
    struct builder whole = {.run = run, .turns = turns};
    if (!os_image_hash(os_first_image(run->node->os), &whole.hash))
        return chil_error_set(err, CHIL_EIO, "cannot read the copy of '%s'", run->options.program);
    int status = build_whole(&whole, err);
    if (status || chil_ranks_self(run->options.ranks)) {
        chil_exp_free(finish(&whole));
        return status;
    }
    if (run->node_count == 1 && !run_code_add(run, whole.exp)) { /* code is that of one node */
        chil_exp_free(finish(&whole));
        return chil_error_set(err, CHIL_EIO, "no memory for the code of the program");
    }
    for (unsigned t = 0; turn && t < turns; t++) {
        struct builder part = {.run = run, .turn = t, .turns = 1, .hash = whole.hash};
        build(&part, &whole);
        turn[t] = finish(&part);
    }
    *exp = finish(&whole);
    return 0;
}

int chil_run_experiment(struct chil_run *run, struct chil_exp **exp, struct chil_error *err)
{
    return chil_run_experiments(run, exp, NULL, err);
}
