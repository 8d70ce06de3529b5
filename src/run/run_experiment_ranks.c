/* What other ranks recorded, in the experiment of rank 0.
 *
 * Each other rank builds an experiment of its own nodes and sends it as bytes: the call tree
 * (run_calls_ranks.c); for each of its nodes the threads and, in their order, the nodes of the call
 * tree that it visited; and the values of each event. Messages of several ranks are put behind each
 * other on their way along the tree, since no node's values can be added to another one's. Rank 0
 * then adds nodes in the order of the system tree as if all were its own. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "chiliad/experiment.h"
#include "run/run_bytes.h"
#include "run/run_impl.h"

/* ---- making a message ---- */

void run_recorded_node(struct ranks_message *message, unsigned number,
                       const struct run_thread *threads, size_t count)
{
    run_put(message, number);
    run_put(message, count);
    for (size_t i = 0; i < count; i++) {
        run_put_signed(message, threads[i].pid);
        run_put_signed(message, threads[i].number);
        run_put(message, threads[i].core);
        run_put_text(message, threads[i].name);
    }
}

/* Nodes of the call tree in the order of their first visit by these paths. */
void run_recorded_visits(struct ranks_message *message, const int *node_of, size_t paths,
                         size_t nodes)
{
    bool *seen = base_calloc(nodes + 1, sizeof *seen);
    size_t count = 0;
    for (size_t i = 0; i < paths; i++) {
        count += !seen[node_of[i]];
        seen[node_of[i]] = true;
    }
    run_put(message, count);
    for (size_t i = 0; i < paths; i++) {
        if (seen[node_of[i]]) run_put(message, (uint64_t)node_of[i]);
        seen[node_of[i]] = false;
    }
    free(seen);
}

void run_recorded_values(struct ranks_message *message, const struct chil_exp *exp, int metric,
                         uint64_t key)
{
    size_t count;
    const struct chil_exp_cell *cells = chil_exp_cells(exp, metric, &count);
    if (!count) return;
    run_put(message, key);
    run_put(message, count);
    for (size_t i = 0; i < count; i++) {
        run_put(message, cells[i].node);
        run_put(message, cells[i].thread);
        run_put_signed(message, cells[i].count);
    }
}

/* ---- taking them ---- */

struct run_recorded {
    struct chil_run *run;
    struct ranks_message bytes; /* of all ranks behind this one */
    struct part {
        struct run_calls_part *calls;
        const uint8_t *values;
        size_t *column; /* of a thread here, by its number there */
        size_t columns;
    } * parts;
    size_t part_count, part_capacity;
    struct entry {          /* of a machine node */
        size_t part, first; /* its first thread there */
        const uint8_t *at;
    } * entries; /* by number */
    struct run_thread *threads;
    size_t thread_capacity;
};

/* A message: the call tree, the number of nodes, these, the values. */
static void open_part(struct run_recorded *r, const uint8_t *at)
{
    r->parts = base_grow(r->parts, &r->part_capacity, r->part_count + 1, sizeof *r->parts);
    struct part *part = &r->parts[r->part_count];
    *part = (struct part){.calls = run_calls_part_new(&at)};
    for (uint64_t nodes = run_take(&at); nodes; nodes--) {
        unsigned number = (unsigned)run_take(&at);
        r->entries[number] = (struct entry){r->part_count, part->columns, at};
        uint64_t threads = run_take(&at);
        part->columns += threads;
        for (; threads; threads--) {
            (void)run_take_signed(&at);
            (void)run_take_signed(&at);
            (void)run_take(&at);
            (void)run_take_text(&at);
        }
        for (uint64_t visits = run_take(&at); visits; visits--)
            (void)run_take(&at);
    }
    part->column = base_calloc(part->columns + 1, sizeof *part->column);
    part->values = at;
    r->part_count++;
}

static void append(void *context, const void *bytes, size_t count)
{
    struct run_recorded *r = context;
    ranks_message_add(&r->bytes, bytes, count);
}

static const void *all(void *context, size_t *count)
{
    struct run_recorded *r = context;
    *count = r->bytes.count;
    return r->bytes.bytes;
}

/* The caller's host wants an end; not if that is why the run has ended. */
static bool stops(void *context)
{
    const struct run_recorded *r = context;
    const struct chil_run_host *host = r->run->options.host;
    return host && host->go_on && !chil_run_was_stopped(r->run) &&
           !host->go_on(host->context, r->run);
}

/* The own message, which is empty on rank 0, has its size before it. */
int run_recorded_gather(struct chil_run *run, const struct ranks_message *own,
                        struct run_recorded **out, struct chil_error *err)
{
    struct run_recorded *r = base_calloc(1, sizeof *r);
    uint64_t size = own->count;
    *out = r;
    r->run = run;
    if (size) {
        ranks_message_add(&r->bytes, &size, sizeof size);
        ranks_message_add(&r->bytes, own->bytes, own->count);
    }
    const struct chil_ranks_reducer reducer = {
        .context = r, .take = append, .make = all, .stops = stops};
    int status = chil_ranks_reduce(run->options.ranks, &reducer, err);
    if (status || chil_ranks_self(run->options.ranks)) return status;
    r->entries = base_calloc(run->node_count, sizeof *r->entries);
    for (size_t at = 0; at < r->bytes.count; at += sizeof size + size) {
        memcpy(&size, r->bytes.bytes + at, sizeof size);
        open_part(r, r->bytes.bytes + at + sizeof size);
    }
    return 0;
}

void run_recorded_free(struct run_recorded *r)
{
    if (!r) return;
    for (size_t i = 0; i < r->part_count; i++) {
        run_calls_part_free(r->parts[i].calls);
        free(r->parts[i].column);
    }
    free(r->bytes.bytes);
    free(r->parts);
    free(r->entries);
    free(r->threads);
    free(r);
}

const struct run_thread *run_recorded_threads(struct run_recorded *r, unsigned number,
                                              size_t first_column, size_t *count)
{
    const struct entry *entry = &r->entries[number];
    const uint8_t *at = entry->at;
    *count = (size_t)run_take(&at);
    r->threads = base_grow(r->threads, &r->thread_capacity, *count + 1, sizeof *r->threads);
    for (size_t i = 0; i < *count; i++) {
        r->parts[entry->part].column[entry->first + i] = first_column + i;
        r->threads[i].pid = (int)run_take_signed(&at);
        r->threads[i].number = (int)run_take_signed(&at);
        r->threads[i].core = (unsigned)run_take(&at);
        (void)snprintf(r->threads[i].name, sizeof r->threads[i].name, "%s", run_take_text(&at));
    }
    return r->threads;
}

void run_recorded_calls(struct run_recorded *r, struct run_calls *calls, unsigned number)
{
    const struct entry *entry = &r->entries[number];
    const uint8_t *at = entry->at;
    for (uint64_t threads = run_take(&at); threads; threads--) {
        (void)run_take_signed(&at);
        (void)run_take_signed(&at);
        (void)run_take(&at);
        (void)run_take_text(&at);
    }
    for (uint64_t visits = run_take(&at); visits; visits--)
        (void)run_calls_part_node(calls, r->parts[entry->part].calls, (size_t)run_take(&at));
}

void run_recorded_finish(struct run_recorded *r, struct run_calls *calls, struct chil_exp *exp,
                         int (*metric)(void *context, uint64_t key), void *context)
{
    for (size_t i = 0; i < r->part_count; i++) {
        struct part *part = &r->parts[i];
        const uint8_t *at = part->values;
        run_calls_part_sites(calls, part->calls);
        for (uint64_t key; (key = run_take(&at)) != 0;) {
            int to = metric(context, key);
            for (uint64_t count = run_take(&at); count; count--) {
                int node = run_calls_part_node(calls, part->calls, (size_t)run_take(&at));
                size_t thread = part->column[run_take(&at)];
                int64_t value = run_take_signed(&at);
                if (to >= 0) chil_exp_add_count(exp, to, node, (int)thread, value);
            }
        }
    }
}
