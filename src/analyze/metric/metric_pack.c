/* The fewest runs for a set of events.
 *
 * With counters that can each count certain events, the number of runs is known beforehand: for
 * every choice T of counters, the events that only T can count need at least their number / |T|
 * runs, and the largest of these bounds is reached (events and pairs of run and counter are a
 * bipartite graph; Hall's theorem says when all events are matched). That leaves room to choose:
 * computations are taken one by one, largest first, and kept together where everything still fits,
 * with backtracking up to a fixed number of tries. A counter that is free in the end takes a copy
 * of an event if that brings a computation together.
 *
 * With fixed groups it is a set cover, searched to the end or to a fixed number of steps.
 */
#include "analyze/metric/metric_pack.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRIES_MAX = 3000,
    STEPS_MAX = 20000,
    COVER_STEPS_MAX = 400000,
    SLOTS = PLATFORM_COUNTERS_MAX
};

/* --- Events and free counters ---------------------------------------------------------------- */

/* Matching of events to slots: slot = run * SLOTS + counter. */
struct match {
    const struct pack *pack;
    size_t runs;
    const int *pinned; /* by place in pack->event: the run it must be in, or METRIC_NONE */
    int *taken;        /* by slot: a place in pack->event */
    bool *tried;
};

static bool match_event(struct match *m, size_t at)
{
    const struct chil_platform *p = m->pack->platform;
    uint32_t allowed = p->allowed[m->pack->event[at]];
    size_t first = m->pinned[at] >= 0 ? (size_t)m->pinned[at] : 0;
    size_t last = m->pinned[at] >= 0 ? first + 1 : m->runs;
    for (size_t run = first; run < last; run++)
        for (unsigned c = 0; c < p->counters; c++) {
            size_t slot = run * SLOTS + c;
            if (!(allowed >> c & 1) || m->tried[slot]) continue;
            m->tried[slot] = true;
            if (m->taken[slot] < 0 || match_event(m, (size_t)m->taken[slot])) {
                m->taken[slot] = (int)at;
                return true;
            }
        }
    return false;
}

/* Whether all events fit into `runs`; `taken` then says where. Pinned ones are seated first. */
static bool match_all(const struct pack *pack, size_t runs, const int *pinned, int *taken)
{
    struct match m = {.pack = pack, .runs = runs, .pinned = pinned, .taken = taken};
    bool good = true;
    m.tried = base_calloc(runs * SLOTS + 1, sizeof *m.tried);
    for (size_t i = 0; i < runs * SLOTS; i++)
        taken[i] = METRIC_NONE;
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < pack->events && good; i++) {
            if ((pinned[i] >= 0) != (pass == 0)) continue;
            memset(m.tried, 0, runs * SLOTS * sizeof *m.tried);
            good = match_event(&m, i);
        }
    free(m.tried);
    return good;
}

static size_t counters_bound(const struct pack *pack)
{
    const struct chil_platform *p = pack->platform;
    size_t bound = pack->events ? 1 : 0;
    for (uint32_t subset = 1; subset < 1u << p->counters; subset++) {
        size_t only = 0, size = (size_t)__builtin_popcount(subset);
        for (size_t i = 0; i < pack->events; i++)
            only += !(p->allowed[pack->event[i]] & ~subset);
        if ((only + size - 1) / size > bound) bound = (only + size - 1) / size;
    }
    return bound;
}

/* --- Computations kept together -------------------------------------------------------------- */

/* Clusters of events that share a run: the places of pack->event, joined. */
struct cluster_search {
    struct pack *pack;
    int *joined;   /* by place: a place of the same cluster, itself for the first */
    int *pinned;   /* by place: run, while placing */
    int *taken;    /* the best seats so far */
    int *attempt;  /* seats of the present try */
    size_t *order; /* groups, largest first */
    size_t best;
    bool *choice, *best_choice;
    size_t tries, steps;
};

static int place_of(const struct pack *pack, int event)
{
    for (size_t i = 0; i < pack->events; i++)
        if (pack->event[i] == event) return (int)i;
    return METRIC_NONE;
}

static int root_of(const int *joined, int at)
{
    while (joined[at] != at)
        at = joined[at];
    return at;
}

/* The events pinned to a run fit its counters. */
static bool run_fits(const struct cluster_search *s, int run)
{
    int list[SLOTS], taken[SLOTS];
    size_t count = 0, without;
    for (size_t i = 0; i < s->pack->events; i++) {
        if (s->pinned[i] != run) continue;
        if (count == s->pack->platform->counters) return false;
        list[count++] = s->pack->event[i];
    }
    return platform_seats(s->pack->platform, list, count, taken, &without);
}

static void pin(struct cluster_search *s, int root, int run)
{
    for (size_t i = 0; i < s->pack->events; i++)
        if (root_of(s->joined, (int)i) == root) s->pinned[i] = run;
}

/* The next cluster of at least two events that has no run, after `after`; METRIC_NONE: all have
 * one. */
static int next_cluster(const struct cluster_search *s, int after)
{
    for (size_t i = (size_t)after + 1; i < s->pack->events; i++) {
        size_t size = 0;
        if (s->joined[i] != (int)i) continue;
        for (size_t k = 0; k < s->pack->events; k++)
            size += root_of(s->joined, (int)k) == (int)i;
        if (size > 1) return (int)i;
    }
    return METRIC_NONE;
}

/* A new run first, then the runs that earlier events began. */
static bool place_clusters(struct cluster_search *s, int after, size_t used)
{
    int root = next_cluster(s, after);
    if (++s->steps > STEPS_MAX) return false;
    if (root < 0) return match_all(s->pack, s->pack->runs, s->pinned, s->attempt);
    for (size_t k = 0; k <= used; k++) {
        size_t run = k ? used - k : used;
        if (run >= s->pack->runs) continue;
        pin(s, root, (int)run);
        if (run_fits(s, (int)run) && place_clusters(s, root, run == used ? used + 1 : used))
            return true;
        pin(s, root, METRIC_NONE);
    }
    return false;
}

static bool clusters_fit(struct cluster_search *s)
{
    for (size_t i = 0; i < s->pack->events; i++)
        s->pinned[i] = METRIC_NONE;
    s->steps = 0;
    s->tries++;
    return place_clusters(s, METRIC_NONE, 0);
}

static void take_choice(struct cluster_search *s, size_t kept)
{
    s->best = kept;
    memcpy(s->taken, s->attempt, s->pack->runs * SLOTS * sizeof *s->taken);
    memcpy(s->best_choice, s->choice, s->pack->groups * sizeof *s->choice);
}

/* Tries to keep group order[at] and later ones together; `kept` already are. */
static void choose(struct cluster_search *s, size_t at, size_t kept)
{
    if (kept + (s->pack->groups - at) <= s->best || s->tries > TRIES_MAX) return;
    const struct pack_group *group = &s->pack->group[s->order[at]];
    size_t bytes = s->pack->events * sizeof *s->joined;
    int *before = base_calloc(s->pack->events, sizeof *before);
    memcpy(before, s->joined, bytes);
    for (size_t i = 1; i < group->count; i++) {
        int a = root_of(s->joined, place_of(s->pack, group->event[0]));
        int b = root_of(s->joined, place_of(s->pack, group->event[i]));
        s->joined[a > b ? a : b] = a < b ? a : b;
    }
    if (clusters_fit(s)) {
        s->choice[s->order[at]] = true;
        if (kept + 1 > s->best) take_choice(s, kept + 1);
        if (at + 1 < s->pack->groups) choose(s, at + 1, kept + 1);
        s->choice[s->order[at]] = false;
    }
    memcpy(s->joined, before, bytes);
    free(before);
    if (at + 1 < s->pack->groups) choose(s, at + 1, kept);
}

static void order_groups(const struct pack *pack, size_t *order)
{
    for (size_t i = 0; i < pack->groups; i++) {
        size_t at = i;
        for (; at > 0 && pack->group[order[at - 1]].count < pack->group[i].count; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

static void keep_together(struct pack *pack, int *taken)
{
    struct cluster_search s = {.pack = pack};
    s.taken = taken;
    s.joined = base_calloc(pack->events + 1, sizeof *s.joined);
    s.pinned = base_calloc(pack->events + 1, sizeof *s.pinned);
    s.attempt = base_calloc(pack->runs * SLOTS + 1, sizeof *s.attempt);
    s.order = base_calloc(pack->groups + 1, sizeof *s.order);
    s.choice = base_calloc(pack->groups + 1, sizeof *s.choice);
    s.best_choice = base_calloc(pack->groups + 1, sizeof *s.best_choice);
    for (size_t i = 0; i < pack->events; i++)
        s.joined[i] = (int)i;
    order_groups(pack, s.order);
    if (pack->groups) choose(&s, 0, 0);
    free(s.joined);
    free(s.pinned);
    free(s.attempt);
    free(s.order);
    free(s.choice);
    free(s.best_choice);
}

/* --- Runs ------------------------------------------------------------------------------------ */

static bool run_has(const struct pack *pack, size_t run, int event)
{
    for (size_t c = 0; c < SLOTS; c++)
        if (pack->run[run * SLOTS + c] == event) return true;
    return false;
}

static bool run_has_group(const struct pack *pack, size_t run, const struct pack_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        if (!run_has(pack, run, group->event[i])) return false;
    return true;
}

/* Puts copies of what a computation lacks onto free counters of a run, if they fit. */
static bool complete_with_copies(struct pack *pack, size_t run, const struct pack_group *group)
{
    int list[2 * SLOTS], taken[SLOTS];
    size_t count = 0, without;
    for (size_t c = 0; c < SLOTS; c++)
        if (pack->run[run * SLOTS + c] >= 0) list[count++] = pack->run[run * SLOTS + c];
    for (size_t i = 0; i < group->count; i++)
        if (!run_has(pack, run, group->event[i])) {
            if (count == pack->platform->counters) return false;
            list[count++] = group->event[i];
        }
    if (!platform_seats(pack->platform, list, count, taken, &without)) return false;
    for (size_t c = 0; c < SLOTS; c++)
        pack->run[run * SLOTS + c] =
            c < pack->platform->counters && taken[c] >= 0 ? list[taken[c]] : METRIC_NONE;
    return true;
}

static void mark_together(struct pack *pack, bool copies)
{
    for (size_t g = 0; g < pack->groups; g++)
        for (size_t run = 0; run < pack->runs && !pack->group[g].together; run++)
            pack->group[g].together = run_has_group(pack, run, &pack->group[g]) ||
                                      (copies && complete_with_copies(pack, run, &pack->group[g]));
}

static void solve_counters(struct pack *pack)
{
    int *none = base_calloc(pack->events + 1, sizeof *none), *taken = NULL;
    for (size_t i = 0; i < pack->events; i++)
        none[i] = METRIC_NONE;
    pack->bound = pack->runs = counters_bound(pack);
    for (bool fits = false; !fits; pack->runs += !fits) { /* the bound is reached: once round */
        free(taken);
        taken = base_calloc(pack->runs * SLOTS + 1, sizeof *taken);
        fits = match_all(pack, pack->runs, none, taken);
        assert(pack->runs <= pack->events);
    }
    keep_together(pack, taken);
    pack->run = base_calloc(pack->runs * SLOTS + 1, sizeof *pack->run);
    for (size_t i = 0; i < pack->runs * SLOTS; i++)
        pack->run[i] = taken[i] >= 0 ? pack->event[taken[i]] : METRIC_NONE;
    free(taken);
    free(none);
    mark_together(pack, false);
    mark_together(pack, true);
}

/* --- Fixed groups ---------------------------------------------------------------------------- */

struct cover {
    struct pack *pack;
    bool *has; /* group x place: it counts the event */
    unsigned *covered;
    int *chosen, *best;
    size_t depth, best_depth, splits, steps;
};

static bool has(const struct cover *c, size_t group, size_t place)
{
    return c->has[group * c->pack->events + place];
}

static size_t count_splits(const struct cover *c)
{
    size_t splits = 0;
    for (size_t g = 0; g < c->pack->groups; g++) {
        const struct pack_group *group = &c->pack->group[g];
        bool together = false;
        for (size_t i = 0; i < c->depth && !together; i++) {
            together = true;
            for (size_t e = 0; e < group->count; e++)
                together &=
                    has(c, (size_t)c->chosen[i], (size_t)place_of(c->pack, group->event[e]));
        }
        splits += !together;
    }
    return splits;
}

/* The event that is not covered and is in the fewest groups; METRIC_NONE: all are. */
static int hardest(const struct cover *c)
{
    int found = METRIC_NONE;
    size_t fewest = SIZE_MAX;
    for (size_t i = 0; i < c->pack->events; i++) {
        size_t groups = 0;
        if (c->covered[i]) continue;
        for (size_t g = 0; g < c->pack->platform->groups; g++)
            groups += has(c, g, i);
        if (groups < fewest) fewest = groups, found = (int)i;
    }
    return found;
}

static void cover_search(struct cover *c)
{
    int event = hardest(c);
    if (++c->steps > COVER_STEPS_MAX) return;
    if (event < 0) {
        size_t splits = count_splits(c);
        if (c->depth > c->best_depth || (c->depth == c->best_depth && splits >= c->splits)) return;
        c->best_depth = c->depth;
        c->splits = splits;
        memcpy(c->best, c->chosen, c->depth * sizeof *c->best);
        return;
    }
    if (c->depth + 1 > c->best_depth) return;
    for (size_t g = 0; g < c->pack->platform->groups; g++) {
        if (!has(c, g, (size_t)event)) continue;
        for (size_t i = 0; i < c->pack->events; i++)
            c->covered[i] += has(c, g, i);
        c->chosen[c->depth++] = (int)g;
        cover_search(c);
        c->depth--;
        for (size_t i = 0; i < c->pack->events; i++)
            c->covered[i] -= has(c, g, i);
    }
}

/* Events of which no two are in one group need a run each. */
static size_t independent(const struct cover *c)
{
    size_t count = 0;
    bool *out = base_calloc(c->pack->platform->groups + 1, sizeof *out);
    for (size_t i = 0; i < c->pack->events; i++) {
        bool free_of = true;
        for (size_t g = 0; g < c->pack->platform->groups; g++)
            free_of &= !(has(c, g, i) && out[g]);
        if (!free_of) continue;
        count++;
        for (size_t g = 0; g < c->pack->platform->groups; g++)
            out[g] |= has(c, g, i);
    }
    free(out);
    return count;
}

static void fill_run(struct cover *c, size_t run, size_t group)
{
    size_t used = 0;
    c->pack->fixed[run] = (int)group;
    for (size_t i = 0; i < c->pack->events; i++)
        if (has(c, group, i)) c->pack->run[run * SLOTS + used++] = c->pack->event[i];
}

static int by_index(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void solve_groups(struct pack *pack)
{
    const struct chil_platform *p = pack->platform;
    struct cover c = {.pack = pack, .best_depth = pack->events, .splits = SIZE_MAX};
    c.has = base_calloc(p->groups * pack->events + 1, sizeof *c.has);
    c.covered = base_calloc(pack->events + 1, sizeof *c.covered);
    c.chosen = base_calloc(pack->events + 1, sizeof *c.chosen);
    c.best = base_calloc(pack->events + 1, sizeof *c.best);
    for (size_t g = 0; g < p->groups; g++)
        for (size_t i = 0; i < pack->events; i++)
            c.has[g * pack->events + i] =
                platform_in_group(&p->group[g], &p->event[pack->event[i]], 1);
    cover_search(&c);
    pack->runs = c.best_depth;
    pack->bound = c.steps <= COVER_STEPS_MAX ? pack->runs : independent(&c);
    pack->run = base_calloc(pack->runs * SLOTS + 1, sizeof *pack->run);
    pack->fixed = base_calloc(pack->runs + 1, sizeof *pack->fixed);
    for (size_t i = 0; i < pack->runs * SLOTS; i++)
        pack->run[i] = METRIC_NONE;
    qsort(c.best, pack->runs, sizeof *c.best, by_index);
    for (size_t i = 0; i < pack->runs; i++)
        fill_run(&c, i, (size_t)c.best[i]);
    free(c.has);
    free(c.covered);
    free(c.chosen);
    free(c.best);
    mark_together(pack, false);
}

void pack_solve(struct pack *pack)
{
    pack->run = NULL;
    pack->fixed = NULL;
    if (pack->platform->groups)
        solve_groups(pack);
    else
        solve_counters(pack);
}

void pack_fini(struct pack *pack)
{
    free(pack->run);
    free(pack->fixed);
}
