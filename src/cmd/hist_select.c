/* What chiliad hist counts: kinds of transactions (-e), the predicate (--where), the dimensions,
 * and the further dimensions that --rank tries. */
#include <ctype.h>
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
    {"packet", 1U << CHIL_PACKET, NULL},
    {"hop", 1U << CHIL_HOP, NULL},
    {"all", CHIL_KINDS_MEMORY | 1U << CHIL_PACKET, NULL},
};
enum { EVENTS = sizeof events / sizeof *events };

bool hist_names(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = text; at && (at = strstr(at, word)); at += length) {
        unsigned char before = at == text ? ' ' : (unsigned char)at[-1],
                      behind = (unsigned char)at[length];
        if (!isalnum(before) && before != '_' && !isalnum(behind) && behind != '_') return true;
    }
    return false;
}

const char *hist_default_event(const char *declaration)
{
    static const char *const words[] = {"receiver", "hops", "link", "wait"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (hist_names(declaration, words[i])) return "packet";
    return "misses";
}

int hist_find_event(const struct hist_event **event, const char *name)
{
    for (*event = events; *event < events + EVENTS; ++*event)
        if (strcmp((*event)->name, name) == 0) return 0;
    return cmd_fail(
        "hist",
        "-e '%s' is none of misses, l1d, load, store, l1i, l2, ddr, invalidation, packet, hop and "
        "all",
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
static int add_candidates(struct hist *h, const char *where, bool packets)
{
    static const char *const memory[] = {"kind",        "level",    "core",   "pid",  "category",
                                         "tag",         "function", "symbol", "page", "size",
                                         "latency:log", "sender",   "node",   NULL},
                             *const network[] = {"sender",   "receiver",    "size", "hops", "link",
                                                 "wait:log", "latency:log", "node", NULL};
    const char *const *names = packets ? network : memory;
    _Static_assert(sizeof memory / sizeof *memory <= HIST_CANDIDATES_MAX + 1, "room for all");
    for (unsigned i = 0; names[i]; i++) {
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
    h->names.nodes = h->nodes;
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
    if (!status && h->options->rank)
        status = add_candidates(h, where, !(event->kinds & CHIL_KINDS_MEMORY));
    free(where);
    if (!status) status = find_given(h);
    unsigned dimensions = status ? 0 : chil_hist_dimensions(h->hist);
    if (!status && h->options->svg && dimensions > 2)
        status = cmd_fail("hist", "--svg shows one or two dimensions");
    if (!status && h->options->relief && dimensions != 2)
        status = cmd_fail("hist", "--relief shows two dimensions");
    return status;
}
