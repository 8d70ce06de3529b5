/* Ranks: processes that own a range of nodes each (base/ranks.h), in rounds.
 *
 * In a round every rank sends the others what its networks have for their nodes, and the time of
 * the first thing it can do. The first of all ranks is at time m. Whatever happens from m on at one
 * node is seen by another one not before m + L, where L is the shortest latency of the networks. So
 * each rank does all that comes before m + L, and then the next round begins. Rounds follow what
 * happens: stretches in which nodes only run, or sleep, take none.
 *
 * What needs the order of all nodes (calls about files, lines for the user, the end of a node)
 * waits until it is the first thing of all ranks. So at most one rank does any in a round, and the
 * lines that rank 0 gets come in the order that one process would have.
 *
 * Output goes to rank 0, which writes it one round later; a call that writes returns as if all was
 * taken. Standard input is rank 0's: for nodes of other ranks it has ended. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "machine/system/system_net.h"

/* What a rank sends to the others, at the beginning of a message; times, NET_NEVER: none. */
struct round {
    uint64_t action; /* its first member's turn */
    uint64_t event;  /* of its networks */
    uint64_t sent;   /* first of the events in its messages */
    uint64_t last;   /* end of a member so far */
    uint64_t stop;   /* when all nodes end */
    uint32_t waiting, asleep;
    uint32_t lines; /* bytes of lines that follow, for rank 0 */
    bool ended;     /* the first member has */
};

struct line_head {
    int32_t stream; /* 0: for the user, of `node` */
    uint32_t node, count;
};

struct system_ranks {
    struct ranks *ranks;
    unsigned self, count;
    struct ranks_message *out, *in, lines;
    struct round *round; /* of each rank */
    uint64_t *bound;     /* what needs the order of all nodes does not come before, by rank */
    uint64_t safe, now;
    bool waits; /* something here must be the first of all */
    bool ends;  /* a member that has ended is, whatever the networks do */
    bool lost;
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static unsigned first_of(const struct system_options *o, unsigned rank, unsigned count)
{
    return (unsigned)((uint64_t)o->node_count * rank / count);
}

static unsigned rank_of(const struct system_ranks *r, const struct system_options *o, uint32_t node)
{
    return (unsigned)((((uint64_t)node + 1) * r->count - 1) / o->node_count);
}

void system_range(const struct system_options *o, unsigned *first, unsigned *end)
{
    unsigned self = o->ranks ? ranks_self(o->ranks) : 0,
             count = o->ranks ? ranks_count(o->ranks) : 1;
    *first = first_of(o, self, count);
    *end = first_of(o, self + 1, count);
}

struct system_ranks *system_ranks_new(const struct system_options *options)
{
    if (!options->ranks || ranks_count(options->ranks) < 2) return NULL;
    struct system_ranks *r = base_calloc(1, sizeof *r);
    r->ranks = options->ranks;
    r->self = ranks_self(r->ranks);
    r->count = ranks_count(r->ranks);
    r->out = base_calloc(r->count, sizeof *r->out);
    r->in = base_calloc(r->count, sizeof *r->in);
    r->round = base_calloc(r->count, sizeof *r->round);
    r->bound = base_calloc(r->count, sizeof *r->bound);
    return r;
}

void system_ranks_free(struct system_ranks *r)
{
    if (!r) return;
    for (unsigned i = 0; i < r->count; i++) {
        free(r->out[i].bytes);
        free(r->in[i].bytes);
    }
    free(r->lines.bytes);
    free(r->out);
    free(r->in);
    free(r->round);
    free(r->bound);
    free(r);
}

/* ---- exchanges ---- */

static bool stops(void *context)
{
    const struct system *system = context;
    return system->options.stops && system->options.stops(system->options.context);
}

static bool exchange(struct system *system)
{
    struct system_ranks *r = system->ranks;
    r->lost = r->lost || !ranks_exchange(r->ranks, r->out, r->in, stops, system);
    return !r->lost;
}

bool system_lost(const struct system *system)
{
    return system->ranks && system->ranks->lost;
}

/* Each rank's `size` bytes in their order. False: a rank is lost. */
static bool gather(struct system *system, const void *own, size_t size, void *all)
{
    struct system_ranks *r = system->ranks;
    for (unsigned i = 0; i < r->count; i++) {
        r->out[i].count = 0;
        ranks_message_add(&r->out[i], own, size);
    }
    if (!exchange(system)) return false;
    for (unsigned i = 0; i < r->count; i++)
        memcpy((uint8_t *)all + i * size, i == r->self ? own : r->in[i].bytes, size);
    return true;
}

void system_sum(struct system *system, uint64_t *values, size_t count)
{
    struct system_ranks *r = system->ranks;
    if (!r) return;
    uint64_t *all = base_calloc(r->count * count, sizeof *all);
    if (gather(system, values, count * sizeof *values, all))
        for (size_t i = 0; i < count; i++) {
            values[i] = 0;
            for (unsigned k = 0; k < r->count; k++)
                values[i] += all[k * count + i];
        }
    free(all);
}

void system_gather(struct system *system, const struct ranks_message *own,
                   void (*take)(void *context, unsigned rank, const uint8_t *bytes, size_t count),
                   void *context)
{
    struct system_ranks *r = system->ranks;
    if (!r) return;
    for (unsigned i = 0; i < r->count; i++)
        r->out[i].count = 0;
    if (r->self) ranks_message_add(&r->out[0], own->bytes, own->count);
    if (!exchange(system) || r->self) return;
    for (unsigned i = 1; i < r->count; i++)
        take(context, i, r->in[i].bytes, r->in[i].count);
}

/* ---- lines ---- */

bool system_ranks_line(struct system *system, unsigned node, int stream, const void *bytes,
                       size_t count)
{
    struct system_ranks *r = system->ranks;
    if (!r || !r->self) return false;
    const struct line_head head = {.stream = stream, .node = node, .count = (uint32_t)count};
    ranks_message_add(&r->lines, &head, sizeof head);
    ranks_message_add(&r->lines, bytes, count);
    return true;
}

static void write_lines(struct system *system, const uint8_t *bytes, size_t count)
{
    const struct system_options *o = &system->options;
    for (size_t at = 0; at < count;) {
        struct line_head head;
        memcpy(&head, bytes + at, sizeof head);
        const char *text = (const char *)bytes + at + sizeof head;
        if (head.stream)
            (void)system_write(system, head.node, head.stream, text, head.count);
        else if (o->report)
            o->report(o->context, head.node, text);
        at += sizeof head + head.count;
    }
}

/* ---- rounds ---- */

static void add_events(struct system *system, struct round *own)
{
    struct system_ranks *r = system->ranks;
    size_t count;
    const struct net_event *events = net_partition_outbox(system->partition, &count);
    for (size_t i = 0; i < count; i++) {
        struct ranks_message *to = &r->out[rank_of(r, &system->options, events[i].node)];
        net_partition_pack(system->partition, &events[i], &to->bytes, &to->count, &to->capacity);
        own->sent = least(own->sent, events[i].time);
    }
    net_partition_outbox_clear(system->partition);
}

static struct round own_round(const struct system *system)
{
    const struct system_member *first = system->waiting ? &system->members[system->heap[0]] : NULL;
    return (struct round){.action = first ? first->time : NET_NEVER,
                          .event = net_partition_next(system->partition),
                          .sent = NET_NEVER,
                          .last = system->last,
                          .stop = system->stop_at,
                          .waiting = system->waiting,
                          .asleep = system->asleep,
                          .ended = first && first->ended};
}

static void compose(struct system *system)
{
    struct system_ranks *r = system->ranks;
    struct round own = own_round(system);
    for (unsigned i = 0; i < r->count; i++) {
        r->out[i].count = 0;
        ranks_message_add(&r->out[i], &own, sizeof own);
    }
    if (r->self) {
        own.lines = (uint32_t)r->lines.count;
        if (own.lines) ranks_message_add(&r->out[0], r->lines.bytes, r->lines.count);
        r->lines.count = 0;
    }
    add_events(system, &own);
    for (unsigned i = 0; i < r->count; i++) {
        struct round to = own;
        if (i) to.lines = 0;
        memcpy(r->out[i].bytes, &to, sizeof to);
    }
    r->round[r->self] = own;
}

static void take(struct system *system, unsigned from)
{
    struct system_ranks *r = system->ranks;
    const struct ranks_message *in = &r->in[from];
    memcpy(&r->round[from], in->bytes, sizeof *r->round);
    size_t at = sizeof *r->round;
    if (!r->self) {
        write_lines(system, in->bytes + at, r->round[from].lines);
        at += r->round[from].lines;
    }
    while (at < in->count)
        at += net_partition_unpack(system->partition, in->bytes + at);
}

/* What all ranks are going to do, as if they were one. */
static struct round sum_up(struct system *system)
{
    struct system_ranks *r = system->ranks;
    struct round all = {
        .action = NET_NEVER, .event = NET_NEVER, .sent = NET_NEVER, .stop = NET_NEVER};
    for (unsigned i = 0; i < r->count; i++) {
        const struct round *one = &r->round[i];
        if (one->action < all.action) all.ended = one->ended;
        all.action = least(all.action, one->action);
        all.event = least(all.event, one->event);
        all.sent = least(all.sent, one->sent);
        all.stop = least(all.stop, one->stop);
        if (one->last > all.last) all.last = one->last;
        all.waiting += one->waiting;
        all.asleep += one->asleep;
    }
    all.event = least(all.event, all.sent);
    for (unsigned i = 0; i < r->count; i++) {
        uint64_t event = least(r->round[i].event, all.sent); /* may wake a node: it acts later */
        r->bound[i] = least(r->round[i].action, event == NET_NEVER ? NET_NEVER : event + 1);
    }
    return all;
}

/* Whether what this rank does at a time comes before all that other ranks will do. */
static bool is_first_of_all(const struct system_ranks *r, uint64_t time)
{
    for (unsigned i = 0; i < r->count; i++)
        if (i != r->self && (r->bound[i] < time || (r->bound[i] == time && i < r->self)))
            return false;
    return true;
}

uint64_t system_ranks_until(const struct system *system)
{
    return system->ranks ? system->ranks->safe : NET_NEVER;
}

bool system_ranks_safe(const struct system *system, uint64_t time)
{
    return !system->ranks || time < system->ranks->safe;
}

bool system_ranks_first(struct system *system, uint64_t time)
{
    struct system_ranks *r = system->ranks;
    if (!r || r->ends || is_first_of_all(r, time)) return true;
    r->waits = true;
    return false;
}

/* Events before a time; false: one woke a member. */
static bool run_events(struct system *system, uint64_t time)
{
    uint64_t next;
    system->woken = false;
    while ((next = net_partition_next(system->partition)) < time) {
        net_partition_advance(system->partition, next + 1);
        if (system->woken) return false;
    }
    return true;
}

static void run_round(struct system *system, uint64_t until)
{
    struct system_ranks *r = system->ranks;
    r->waits = false;
    while (!r->waits) {
        if (system->waiting && system->members[system->heap[0]].time < r->safe)
            system_run_first(system, until);
        else if (run_events(system, r->safe))
            return;
    }
}

/* The last turn of a member that has ended does not wait for `until`. */
static void end_first(struct system *system, uint64_t time)
{
    struct system_ranks *r = system->ranks;
    unsigned first = 0;
    while (r->round[first].action != time)
        first++;
    r->ends = true;
    if (first == r->self) system_run_first(system, time);
    r->ends = false;
}

static void deadlock(struct system *system)
{
    const struct system_ranks *r = system->ranks;
    unsigned before = 0, all = 0;
    for (unsigned i = 0; i < r->count; i++) {
        if (i < r->self) before += r->round[i].asleep;
        all += r->round[i].asleep;
    }
    system_idle_deadlock(system, before, all);
}

/* The networks are quiet: all ranks count up to the same time. */
static void finish(struct system *system, uint64_t last)
{
    struct system_ranks *r = system->ranks;
    uint64_t now = net_partition_now(system->partition), most = last;
    uint64_t *all = base_calloc(r->count, sizeof *all);
    if (gather(system, &now, sizeof now, all))
        for (unsigned i = 0; i < r->count; i++)
            if (all[i] > most) most = all[i];
    free(all);
    system->last = last;
    if (most > now) net_partition_advance(system->partition, most);
}

enum system_progress system_ranks_advance(struct system *system, uint64_t until)
{
    struct system_ranks *r = system->ranks;
    for (;;) {
        compose(system);
        if (!exchange(system)) return SYSTEM_ENDED;
        for (unsigned i = 0; i < r->count; i++)
            if (i != r->self) take(system, i);
        struct round all = sum_up(system);
        uint64_t first = least(all.action, all.event), end = least(all.stop, until);
        bool is_over = !all.waiting && !all.asleep;
        system->stop_at = all.stop;
        r->safe = is_over ? NET_NEVER : end;
        r->now = all.waiting ? all.action : all.asleep ? until : all.last;
        if (first == NET_NEVER && is_over) {
            finish(system, all.last);
            return SYSTEM_ENDED;
        }
        if (first == NET_NEVER && all.stop == NET_NEVER) {
            deadlock(system);
        } else if (first < end || is_over) {
            r->safe = least(first + system->lookahead, r->safe);
            run_round(system, until);
        } else if (all.ended) {
            end_first(system, all.action);
        } else {
            (void)system_net_advance(system, end);
            if (end == all.stop) {
                system_stop_all(system);
                continue;
            }
            system_idle_catch_up(system, until);
            return SYSTEM_TIME_REACHED;
        }
    }
}

uint64_t system_ranks_now(const struct system *system)
{
    return system->ranks->now;
}

void system_ranks_lookahead(struct system *system, uint64_t cycles)
{
    if (!cycles) return;
    system->lookahead = system->lookahead ? least(system->lookahead, cycles) : cycles;
}
