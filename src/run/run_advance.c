/* Runs the nodes to the end, with stops on the way where the caller is asked.
 *
 * Simulated time decides where stops are, never the host: at the multiples of the caller's pause or
 * of a turn of counters, every LOOK cycles for `go_on`, and where a limit may have been reached.
 * Stops change no count (os_advance).
 */
#include <assert.h>

#include "machine/core/core_record.h"
#include "run/run_impl.h"

enum { LOOK = 1000000, LOOK_LEAST = 20000 }; /* cycles, of all nodes together; of a node */
enum { PER_CYCLE = 2 };                      /* instructions that a core completes at most */

void run_take_counts(struct chil_run *run)
{
    for (unsigned i = run->first_node; i < run->end_node; i++) {
        struct node *node = run->nodes[i].node;
        cache_notify_uniform(node->cache, CACHE_ALL);
        node_counts_take(node);
    }
}

static uint64_t elapsed(const struct chil_run *run)
{
    uint64_t most = 0;
    for (unsigned i = run->first_node; i < run->end_node; i++)
        if (node_elapsed(run->nodes[i].node) > most) most = node_elapsed(run->nodes[i].node);
    return most;
}

static uint64_t instructions(const struct chil_run *run)
{
    uint64_t sum = 0;
    for (unsigned n = run->first_node; n < run->end_node; n++)
        for (unsigned i = 0; i < run->node->core_count; i++) {
            uint64_t counts[CORE_SIGNAL_COUNT];
            core_signal_counts(cores_get(run->nodes[n].node->cores, i), counts);
            sum += counts[CORE_SIGNAL_INSTRUCTIONS];
        }
    return sum;
}

void chil_run_progress(const struct chil_run *run, uint64_t *cycles, uint64_t *count)
{
    *cycles = elapsed(run);
    *count = instructions(run) + run_others_instructions(run);
    if (run->others && run->result.cycles > *cycles) *cycles = run->result.cycles; /* at the end */
}

unsigned chil_run_waiting(const struct chil_run *run)
{
    return system_asleep(run->system);
}

/* --- The caller ------------------------------------------------------------------------------ */

static void writes(void *context)
{
    const struct run_node *node = context;
    const struct chil_run_host *host = node->run->options.host;
    host->writes(host->context);
}

static bool goes_on(struct chil_run *run)
{
    const struct chil_run_host *host = run->options.host;
    uint64_t ends = !host->go_on(host->context, run);
    system_sum(run->system, &ends, 1); /* on any rank */
    if (!run->end && ends) run->end = CHIL_RUN_STOPPED;
    return !run->end;
}

static bool waits(void *context)
{
    struct run_node *node = context;
    system_hold(node->run->system);
    const struct chil_run_host *host = node->run->options.host;
    bool goes_on = host->go_on(host->context, node->run);
    if (!goes_on && chil_ranks_count(node->run->options.ranks) < 2)
        node->run->end = CHIL_RUN_STOPPED; /* with ranks, the next stop ends all */
    system_release(node->run->system);
    return goes_on;
}

void run_attach_host(struct run_node *node)
{
    const struct chil_run_host *host = node->run->options.host;
    if (!host) return;
    node->host = (struct node_host){.context = node,
                                    .writes = host->writes ? writes : NULL,
                                    .waits = host->go_on ? waits : NULL};
    node_attach_host(node->node, &node->host);
}

/* The next set of counters is on, or the caller looks; false: the caller ends the run. */
static bool pause_run(struct chil_run *run)
{
    if (run->options.record_turns) {
        record_turn_next(run->node->cores);
        return true;
    }
    run_take_counts(run);
    run_packets_flush(run->packets);
    run->result.cycles = elapsed(run);
    run->observe->accessing = NULL;
    if (!run->options.pause(run->options.context, run)) run->end = CHIL_RUN_STOPPED;
    return !run->end;
}

/* --- Stops ----------------------------------------------------------------------------------- */

struct stops {
    uint64_t pause_cycles, look_cycles;    /* 0: none */
    uint64_t next_pause, next_look, limit; /* in cycles */
};

static uint64_t next_multiple(uint64_t now, uint64_t cycles)
{
    return cycles ? now + (cycles - now % cycles) : UINT64_MAX;
}

/* Where a limit may have been reached: not before `now` if it has not been. */
static uint64_t limit_after(const struct chil_run *run, uint64_t now)
{
    const struct chil_run_options *o = &run->options;
    uint64_t limit = o->limit_cycles ? o->limit_cycles : UINT64_MAX;
    if (limit <= now || !o->limit_instructions) return limit;
    uint64_t done = instructions(run);
    system_sum(run->system, &done, 1);
    uint64_t cores = (uint64_t)run->node->core_count * run->node_count;
    if (done >= o->limit_instructions) return now;
    assert(cores);
    uint64_t least = (o->limit_instructions - done) / (PER_CYCLE * cores),
             at = now + least + !least;
    return at < limit ? at : limit;
}

static uint64_t first_stop(const struct stops *stops)
{
    uint64_t first = stops->limit;
    if (stops->next_pause < first) first = stops->next_pause;
    if (stops->next_look < first) first = stops->next_look;
    return first;
}

static void set_stops(const struct chil_run *run, struct stops *stops)
{
    const struct chil_run_options *o = &run->options;
    *stops = (struct stops){0};
    if (o->record_turns)
        stops->pause_cycles = o->turn_cycles;
    else if (o->pause)
        stops->pause_cycles = o->pause_cycles;
    if ((o->record_turns || o->pause) && !stops->pause_cycles) stops->pause_cycles = 1;
    if (o->host && o->host->go_on) {
        stops->look_cycles = LOOK / run->node_count;
        if (stops->look_cycles < LOOK_LEAST) stops->look_cycles = LOOK_LEAST;
    }
    stops->next_pause = next_multiple(0, stops->pause_cycles);
    stops->next_look = next_multiple(0, stops->look_cycles);
    stops->limit = limit_after(run, 0);
}

/* Whether the run goes on behind a stop. */
static bool pass(struct chil_run *run, struct stops *stops)
{
    uint64_t now = system_now(run->system);
    if (now >= stops->next_pause) {
        stops->next_pause = next_multiple(now, stops->pause_cycles);
        if (!pause_run(run)) return false;
    }
    if (now >= stops->next_look) {
        stops->next_look = next_multiple(now, stops->look_cycles);
        if (!goes_on(run)) return false;
    }
    if (now >= stops->limit) {
        stops->limit = limit_after(run, now);
        if (stops->limit <= now) run->end = CHIL_RUN_LIMIT;
    }
    return !run->end;
}

void run_advance(struct chil_run *run)
{
    struct stops stops;
    set_stops(run, &stops);
    while (system_advance(run->system, first_stop(&stops)) == SYSTEM_TIME_REACHED)
        if (!pass(run, &stops)) break;
}
