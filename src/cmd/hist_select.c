/* What chiliad hist counts: kinds of transactions (-e), the predicate (--where), the dimensions,
 * and the further dimensions that --rank tries. */
#include <stdlib.h>
#include <string.h>

#include "cmd/hist.h"

/* What -e may say: kinds, and a predicate. */
static const struct hist_event events[] = {
    {"misses", 1U << CHIL_LOAD_MISS | 1U << CHIL_STORE_MISS | 1U << CHIL_FETCH_MISS, NULL},
    {"l1d", 1U << CHIL_LOAD_MISS | 1U << CHIL_STORE_MISS, NULL},
    {"load", 1U << CHIL_LOAD_MISS, NULL},
    {"store", 1U << CHIL_STORE_MISS, NULL},
    {"l1i", 1U << CHIL_FETCH_MISS, NULL},
    {"l2", 1U << CHIL_LOAD_MISS | 1U << CHIL_STORE_MISS | 1U << CHIL_FETCH_MISS,
     "level=l3 | level=ddr"},
    {"ddr", 1U << CHIL_LOAD_MISS | 1U << CHIL_STORE_MISS | 1U << CHIL_FETCH_MISS, "level=ddr"},
    {"invalidation", 1U << CHIL_INVALIDATION, NULL},
    {"all", UINT32_MAX, NULL},
};
enum { EVENTS = sizeof events / sizeof *events };

int hist_find_event(const struct hist_event **event, const char *name)
{
    for (*event = events; *event < events + EVENTS; ++*event)
        if (strcmp((*event)->name, name) == 0) return 0;
    return cmd_fail(
        "hist", "-e '%s' is none of misses, l1d, load, store, l1i, l2, ddr, invalidation and all",
        name);
}

/* The predicate of -e and that of --where; *where is to be freed, NULL for none. The user's is
 * parsed alone first, so that errors have its own columns. */
static int join_predicates(const struct hist *h, const struct hist_event *event, char **where)
{
    const char *user = h->options->where, *own = event->where;
    struct chil_error err = {0};
    struct chil_where *check = NULL;
    *where = NULL;
    if (user && chil_where_new(&check, user, &h->names, &err)) return cmd_fail_error("hist", &err);
    chil_where_free(check);
    if (!user && !own) return 0;
    int length = user && own ? asprintf(where, "(%s) & (%s)", own, user)
                             : asprintf(where, "%s", user ? user : own);
    return length < 0 ? cmd_fail("hist", "out of memory") : 0;
}

/* Dimensions that --rank tries: all that the histogram does not have. */
static int add_candidates(struct hist *h, const char *where)
{
    static const char *const names[] = {"kind",     "level", "core",        "pid",
                                        "category", "tag",   "function",    "symbol",
                                        "page",     "size",  "latency:log", "sender"};
    _Static_assert(sizeof names / sizeof *names <= HIST_CANDIDATES_MAX, "there is room for all");
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        char declaration[600];
        size_t length = strcspn(names[i], ":");
        bool there = false;
        for (unsigned d = 0; d < chil_hist_dimensions(h->hist); d++) {
            const char *name = chil_variable_name(chil_hist_dimension(h->hist, d)->variable);
            there |= strlen(name) == length && strncmp(name, names[i], length) == 0;
        }
        (void)snprintf(declaration, sizeof declaration, "%s x %s", h->options->declaration,
                       names[i]);
        struct hist_candidate *one = &h->candidates[h->candidate_count];
        if (there || chil_hist_new(&one->hist, declaration, where, &h->names, NULL))
            continue; /* too wide */
        one->name = names[i];
        h->candidate_count++;
    }
    return 0;
}

static int find_given(struct hist *h)
{
    h->given = -1;
    if (!h->options->given) return 0;
    for (unsigned d = 0; d < chil_hist_dimensions(h->hist); d++)
        if (strcmp(chil_variable_name(chil_hist_dimension(h->hist, d)->variable),
                   h->options->given) == 0)
            h->given = (int)d;
    return h->given < 0
               ? cmd_fail("hist", "--given '%s' is none of the dimensions", h->options->given)
               : 0;
}

static int make_names(struct hist *h)
{
    if (h->options->read) return hist_read_open(h);
    h->program = h->options->program.shown;
    h->machine = chil_machine_name(h->options->program.run.machine);
    return cmd_names_make(&h->names, "hist", h->options->program.run.program, &h->options->places);
}

int hist_prepare(struct hist *h, const struct hist_event *event)
{
    struct chil_error err = {0};
    char *where;
    int status = make_names(h);
    if (status) return status;
    status = join_predicates(h, event, &where);
    if (!status && chil_hist_new(&h->hist, h->options->declaration, where, &h->names, &err))
        status = cmd_fail_error("hist", &err);
    if (!status && h->options->rank) status = add_candidates(h, where);
    free(where);
    if (!status) status = find_given(h);
    unsigned dimensions = status ? 0 : chil_hist_dimensions(h->hist);
    if (!status && h->options->svg && dimensions > 2)
        status = cmd_fail("hist", "--svg shows one or two dimensions");
    if (!status && h->options->relief && dimensions != 2)
        status = cmd_fail("hist", "--relief shows two dimensions");
    return status;
}
