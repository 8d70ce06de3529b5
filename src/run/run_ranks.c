/* A run on several ranks of OpenMPI: rank 0 has the counts of all nodes at the end.
 *
 * Each other rank sends a message: how it ended, words for each of its nodes, words for each core.
 * Events are numbered as in the catalogue, the simulator's own first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/run_impl.h"

enum { REPORT = 2000 };

/* At the beginning of a message; `failed` -1: no node there. */
struct head {
    int64_t status; /* of the run there, CHIL_E... */
    int64_t failed, failed_at, exit_status;
    uint64_t laws, killed;
    char text[REPORT]; /* the error, or how the node was killed */
};

struct run_others {
    const struct chil_run *run;
    size_t events;
    struct run_other *node;     /* by number; those of rank 0 are not used */
    uint64_t *count;            /* node x events */
    uint64_t *core, *core_busy; /* core x events; by core */
    uint64_t laws;
    struct head first;  /* of the ranks with a failed node, the one that was first */
    struct head broken; /* the first one with an error */
};

/* ---- events by number ---- */

static size_t event_count(const struct chil_run *run)
{
    size_t own, count;
    (void)chil_machine_own_events(run->options.machine, &own);
    (void)chil_machine_events(run->options.machine, &count);
    return own + count;
}

static const struct chil_event *event_at(const struct chil_run *run, size_t number)
{
    size_t own_count, count;
    const struct chil_event *own = chil_machine_own_events(run->options.machine, &own_count);
    const struct chil_event *events = chil_machine_events(run->options.machine, &count);
    return number < own_count ? &own[number] : &events[number - own_count];
}

size_t run_event_number(const struct chil_run *run, const struct chil_event *event)
{
    size_t own_count, count;
    const struct chil_event *own = chil_machine_own_events(run->options.machine, &own_count);
    const struct chil_event *events = chil_machine_events(run->options.machine, &count);
    if (event >= own && event < own + own_count) return (size_t)(event - own);
    return own_count + (size_t)(event - events);
}

/* ---- sending ---- */

static void add(struct ranks_message *message, uint64_t word)
{
    ranks_message_add(message, &word, sizeof word);
}

static void add_head(const struct chil_run *run, int status, const struct chil_error *err,
                     struct ranks_message *message)
{
    struct head head = {.status = status,
                        .failed = system_first_failed(run->system),
                        .failed_at = (int64_t)system_failed_at(run->system),
                        .exit_status = run->result.status,
                        .laws = run->laws,
                        .killed = run->result.killed};
    if (status)
        (void)snprintf(head.text, sizeof head.text, "%s", err->text);
    else if (run->result.killed)
        chil_run_report(run, head.text, sizeof head.text);
    ranks_message_add(message, &head, sizeof head);
}

static void add_counts(const struct chil_run *run, struct ranks_message *message)
{
    size_t events = event_count(run);
    for (unsigned i = run->first_node; i < run->end_node; i++) {
        add(message, chil_run_node_instructions(run, i));
        add(message, chil_run_node_cycles(run, i));
        add(message, (uint64_t)chil_run_node_status(run, i));
        for (size_t e = 0; e < events; e++) {
            const struct chil_event *event = event_at(run, e);
            add(message, event->reserved ? 0 : chil_run_node_count(run, i, event));
        }
    }
    for (unsigned core = 0; core < run->node->core_count; core++) {
        add(message, chil_run_core_cycles(run, core));
        for (size_t e = 0; e < events; e++) {
            uint64_t count = 0;
            if (!event_at(run, e)->reserved)
                (void)chil_run_core_count(run, core, event_at(run, e), &count);
            add(message, count);
        }
    }
}

/* ---- taking ---- */

static uint64_t next(const uint8_t **bytes)
{
    uint64_t word;
    memcpy(&word, *bytes, sizeof word);
    *bytes += sizeof word;
    return word;
}

static void take_head(struct run_others *others, const struct head *head)
{
    others->laws += head->laws;
    if (head->status && !others->broken.status) others->broken = *head;
    if (head->failed >= 0 &&
        (others->first.failed < 0 || head->failed_at < others->first.failed_at))
        others->first = *head;
}

static void take(void *context, unsigned rank, const uint8_t *bytes, size_t count)
{
    struct run_others *others = context;
    const struct chil_run *run = others->run;
    uint64_t nodes = run->node_count, ranks = chil_ranks_count(run->options.ranks);
    struct head head;
    if (count < sizeof head) return;
    memcpy(&head, bytes, sizeof head);
    bytes += sizeof head;
    take_head(others, &head);
    for (uint64_t i = nodes * rank / ranks; i < nodes * (rank + 1) / ranks; i++) {
        struct run_other *node = &others->node[i];
        node->instructions = next(&bytes);
        node->cycles = next(&bytes);
        node->status = (int64_t)next(&bytes);
        for (size_t e = 0; e < others->events; e++)
            others->count[i * others->events + e] = next(&bytes);
    }
    for (unsigned core = 0; core < run->node->core_count; core++) {
        others->core_busy[core] += next(&bytes);
        for (size_t e = 0; e < others->events; e++)
            others->core[core * others->events + e] += next(&bytes);
    }
}

static struct run_others *others_new(const struct chil_run *run)
{
    struct run_others *others = base_calloc(1, sizeof *others);
    others->run = run;
    others->first.failed = -1;
    others->events = event_count(run);
    others->node = base_calloc(run->node_count, sizeof *others->node);
    others->count = base_calloc(run->node_count * others->events, sizeof *others->count);
    others->core = base_calloc(run->node->core_count * others->events, sizeof *others->core);
    others->core_busy = base_calloc(run->node->core_count, sizeof *others->core_busy);
    return others;
}

void run_ranks_free(struct chil_run *run)
{
    struct run_others *others = run->others;
    if (!others) return;
    free(others->node);
    free(others->count);
    free(others->core);
    free(others->core_busy);
    free(others);
    run->others = NULL;
}

/* The run's result is that of the node which failed first. */
static void take_result(struct chil_run *run)
{
    struct run_others *others = run->others;
    struct head *first = &others->first;
    run->laws += (unsigned)others->laws;
    for (unsigned i = run->end_node; i < run->node_count; i++)
        if (others->node[i].cycles > run->result.cycles)
            run->result.cycles = others->node[i].cycles;
    if (system_first_failed(run->system) >= 0 &&
        system_failed_at(run->system) <= (uint64_t)first->failed_at)
        first->failed = -1;
    if (first->failed < 0) return;
    run->result.status = (int)first->exit_status;
    run->result.killed = first->killed;
}

int run_ranks_lost(struct chil_error *err)
{
    return chil_error_set(err, CHIL_EIO,
                          "a rank of OpenMPI does not answer; the run is ended without results");
}

int run_ranks_gather(struct chil_run *run, int status, struct chil_error *err)
{
    struct ranks_message own = {0};
    if (chil_ranks_count(run->options.ranks) < 2) return status;
    if (chil_ranks_self(run->options.ranks)) {
        add_head(run, status, err, &own);
        add_counts(run, &own);
    } else {
        run->others = others_new(run);
    }
    system_gather(run->system, &own, take, run->others);
    free(own.bytes);
    if (system_lost(run->system)) return run_ranks_lost(err);
    if (!run->others || status) return status;
    take_result(run);
    const struct head *broken = &run->others->broken;
    return broken->status ? chil_error_set(err, (int)broken->status, "%.400s", broken->text) : 0;
}

/* ---- counts ---- */

bool run_others_has(const struct chil_run *run, unsigned node)
{
    return node < run->first_node || node >= run->end_node;
}

const struct run_other *run_others_node(const struct chil_run *run, unsigned node)
{
    static const struct run_other none;
    return run->others ? &run->others->node[node] : &none;
}

uint64_t run_others_instructions(const struct chil_run *run)
{
    uint64_t sum = 0;
    for (unsigned i = run->end_node; run->others && i < run->node_count; i++)
        sum += run->others->node[i].instructions;
    return sum;
}

uint64_t run_others_count(const struct chil_run *run, unsigned node, const struct chil_event *event)
{
    const struct run_others *others = run->others;
    return others ? others->count[node * others->events + run_event_number(run, event)] : 0;
}

uint64_t run_others_core_count(const struct chil_run *run, unsigned core,
                               const struct chil_event *event)
{
    const struct run_others *others = run->others;
    return others ? others->core[core * others->events + run_event_number(run, event)] : 0;
}

uint64_t run_others_core_cycles(const struct chil_run *run, unsigned core)
{
    return run->others ? run->others->core_busy[core] : 0;
}

const char *run_others_report(const struct chil_run *run)
{
    return run->others && run->others->first.failed >= 0 ? run->others->first.text : NULL;
}

int chil_run_failed_node(const struct chil_run *run)
{
    if (run->others && run->others->first.failed >= 0) return (int)run->others->first.failed;
    return system_first_failed(run->system);
}

/* ---- the caller's ranks ---- */

int chil_ranks_start(struct chil_ranks **ranks, struct chil_error *err)
{
    struct ranks *started;
    *ranks = NULL;
    int status = ranks_start(&started, err);
    if (status || !started) return status;
    *ranks = base_calloc(1, sizeof **ranks);
    (*ranks)->ranks = started;
    return CHIL_OK;
}

void chil_ranks_end(struct chil_ranks *ranks)
{
    if (!ranks) return;
    ranks_end(ranks->ranks);
    free(ranks);
}

unsigned chil_ranks_self(const struct chil_ranks *ranks)
{
    return ranks ? ranks_self(ranks->ranks) : 0;
}

unsigned chil_ranks_count(const struct chil_ranks *ranks)
{
    return ranks ? ranks_count(ranks->ranks) : 1;
}

/* A step of the tree: the message of the rank that is `step` behind comes here, or the own one goes
 * to that before. */
static bool reduce_step(const struct chil_ranks *ranks, const struct chil_ranks_reducer *reducer,
                        unsigned step, struct ranks_message *out, struct ranks_message *in)
{
    unsigned self = chil_ranks_self(ranks), count = chil_ranks_count(ranks);
    size_t size = 0;
    const void *bytes = self % (2 * step) == step ? reducer->make(reducer->context, &size) : NULL;
    for (unsigned i = 0; i < count; i++)
        out[i].count = 0;
    if (size) ranks_message_add(&out[self - step], bytes, size);
    if (!ranks_exchange(ranks->ranks, out, in, reducer->stops, reducer->context)) return false;
    if (self % (2 * step) == 0 && self + step < count)
        reducer->take(reducer->context, in[self + step].bytes, in[self + step].count);
    return true;
}

int chil_ranks_reduce(const struct chil_ranks *ranks, const struct chil_ranks_reducer *reducer,
                      struct chil_error *err)
{
    unsigned count = chil_ranks_count(ranks);
    struct ranks_message *out = base_calloc(count, sizeof *out),
                         *in = base_calloc(count, sizeof *in);
    bool good = true;
    for (unsigned step = 1; step < count && good; step *= 2)
        good = reduce_step(ranks, reducer, step, out, in);
    for (unsigned i = 0; i < count; i++) {
        free(out[i].bytes);
        free(in[i].bytes);
    }
    free(out);
    free(in);
    return good ? 0 : run_ranks_lost(err);
}
