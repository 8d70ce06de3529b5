/* What chiliad check reports: broken rules with what broke them, as text and as JUnit XML. Nothing
 * in either depends on the host or its clock. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/check.h"

enum { NUMBER_TEXT = 48, REASON_TEXT = 6000 };

static const char *number_text(long double value, char text[NUMBER_TEXT])
{
    char grouped[VIEW_GROUPED_MAX];
    if (value == truncl(value) && fabsl(value) < 0x1p63L)
        (void)snprintf(text, NUMBER_TEXT, "%s%s", value < 0 ? "-" : "",
                       view_grouped((uint64_t)fabsl(value), grouped));
    else
        (void)snprintf(text, NUMBER_TEXT, "%.6Lg", value);
    return text;
}

/* A tag or category: the name that the user gave, else the one that the run found (a heap site, a
 * section), else the program's number. */
static const char *name_of(const struct chil_ranges *names, uint8_t value, uint32_t found,
                           char number[8])
{
    const char *name = names ? chil_ranges_get(names, value ? value : found) : NULL;
    if (name) return name;
    (void)snprintf(number, 8, "%s%.0u", value ? "" : names ? "-" : "0", value);
    return number;
}

/* "node 3 (1,1,0)" */
static const char *node_text(const struct check *c, unsigned node, char text[NUMBER_TEXT])
{
    unsigned at[3];
    chil_run_coordinates(c->run, node, at);
    (void)snprintf(text, NUMBER_TEXT, "node %u (%u,%u,%u)", node, at[0], at[1], at[2]);
    return text;
}

/* "packet of 256 bytes from node 0 (0,0,0) to node 5 (1,1,0), link xp, 2 hops, cycle ..." */
static void describe_packet(const struct check *c, const struct chil_transaction *t, char *text,
                            size_t size)
{
    char sender[NUMBER_TEXT], receiver[NUMBER_TEXT], node[NUMBER_TEXT];
    char cycle[VIEW_GROUPED_MAX], latency[VIEW_GROUPED_MAX], wait[VIEW_GROUPED_MAX];
    (void)snprintf(text, size,
                   "%s of %" PRIu32 " bytes from %s to %s, on %s, link %s, %u hop%s, cycle %s, "
                   "latency %s, of it wait %s",
                   chil_transaction_kind_name(t->kind), t->size, node_text(c, t->sender, sender),
                   node_text(c, t->receiver, receiver), node_text(c, t->node, node),
                   chil_link_name(t->link), t->hops, t->hops == 1 ? "" : "s",
                   view_grouped(t->start, cycle), view_grouped(t->end - t->start, latency),
                   view_grouped(t->wait, wait));
}

/* "store of 4 bytes at 0x10021f40 (table), tag ro, by spoil+0x8 (program.c:12), cycle 302,817, core
 * 0, ..., call path program > main > spoil" */
static void describe(const struct check *c, const struct chil_assertion *a, char *text, size_t size)
{
    const struct chil_transaction *t = &a->first;
    char cycle[VIEW_GROUPED_MAX], tag[8], category[8], who[80] = "", node[NUMBER_TEXT];
    size_t count;
    if (t->kind >= CHIL_PACKET) {
        describe_packet(c, t, text, size);
        return;
    }
    bool several = chil_run_nodes(c->run) > 1;
    const char *place = c->found[a - chil_rules_assertions(c->rules, &count)].text;
    const char *symbol = chil_ranges_get(c->names.symbols, t->symbol);
    const char *callpath = chil_ranges_get(c->names.callpaths, t->callpath);
    if (t->sender != t->core) (void)snprintf(who, sizeof who, " from core %u", t->sender);
    (void)snprintf(text, size,
                   "%s%s of %" PRIu32 " bytes at 0x%08" PRIx32
                   "%s%.200s%s, tag %s, by %s%s0x%08" PRIx32
                   "%s, cycle %s, %s%score %u%s, process %d, category %s%s%s",
                   chil_transaction_kind_name(t->kind),
                   a->access || t->kind == CHIL_INVALIDATION ? "" : " miss", t->size, t->address,
                   symbol ? " (" : "", symbol ? symbol : "", symbol ? ")" : "",
                   name_of(c->names.tags, t->tag, t->site, tag), place, *place ? ", pc " : "",
                   t->pc, "", view_grouped(t->start, cycle),
                   several ? node_text(c, t->node, node) : "", several ? ", " : "", t->core, who,
                   t->pid, name_of(c->names.categories, t->category, t->section, category),
                   callpath ? ", call path " : "", callpath ? callpath : "");
}

/* Why it is broken, in one line. */
static void reason_of(const struct check *c, const struct chil_assertion *a, char *text,
                      size_t size)
{
    char left[NUMBER_TEXT], right[NUMBER_TEXT], cycle[VIEW_GROUPED_MAX], node[NUMBER_TEXT] = "";
    int used = 0;
    if (a->node >= 0) (void)node_text(c, (unsigned)a->node, node);
    if (!chil_run_was_stopped(c->run) || !a->has_first)
        used = snprintf(text, size, "%s is not %s %s%s%s; ", number_text(a->left, left),
                        a->relation, number_text(a->right, right), *node ? " on " : "", node);
    if (used < 0 || (size_t)used >= size) return;
    if (a->has_first) {
        used += snprintf(text + used, size - (size_t)used, "the first that is too many: ");
        describe(c, a, text + used, size - (size_t)used);
    } else {
        (void)snprintf(text + used, size - (size_t)used, "seen at cycle %s",
                       view_grouped(a->cycle, cycle));
    }
}

static void print_callpath(FILE *out, const char *callpath, int terminal)
{
    static const char head[] = "   # callpath ";
    char *cut = terminal ? calloc((size_t)terminal + 1, 1) : NULL;
    (void)fprintf(out, "%s%s\n", head,
                  cut ? view_cut_middle(callpath, terminal - (int)strlen(head), cut) : callpath);
    free(cut);
}

static void print_around(FILE *out, const struct check *c)
{
    const struct check_ring *ring = &c->rings[!c->by_access];
    const struct view_trace trace = {.head = &c->heads[!c->by_access], .names = &c->names};
    char line[VIEW_TRACE_LINE];
    int terminal = view_terminal_width(out), room = terminal ? terminal - 3 : INT_MAX;
    const char *before = NULL;
    (void)fprintf(out, "  %.*s\n", room, view_trace_columns(&trace, line));
    for (size_t i = 0; i < ring->count + ring->behind; i++) {
        const char *callpath = view_trace_callpath(&trace, &ring->items[i]);
        if (callpath && callpath != before) print_callpath(out, callpath, terminal);
        before = callpath;
        view_trace_line(&trace, &ring->items[i], line);
        (void)fprintf(out, "%s %.*s\n", ring->items[i].trigger ? " >" : "  ", room, line);
    }
}

/* The first that an event broke: what is around is its. */
static const struct chil_assertion *first_of(const struct check *c)
{
    size_t count;
    const struct chil_assertion *all = chil_rules_assertions(c->rules, &count);
    const struct chil_trace_item *item = NULL;
    const struct check_ring *ring = &c->rings[!c->by_access];
    for (size_t i = 0; c->by_event && i < ring->count; i++)
        if (ring->items[i].trigger) item = &ring->items[i];
    for (size_t i = 0; item && i < count; i++) {
        const struct chil_transaction *t = &all[i].first;
        if (!all[i].has_first || all[i].access != c->by_access) continue;
        if (c->by_access ? t->start == item->record.cycle && t->pc == item->record.pc
                         : t->start == item->transaction.start && t->pc == item->transaction.pc)
            return &all[i];
    }
    return NULL;
}

static void print_broken(FILE *out, const struct check *c, const struct chil_assertion *a,
                         bool with_around)
{
    char reason[REASON_TEXT];
    int width = view_terminal_width(out);
    reason_of(c, a, reason, sizeof reason);
    int room = (width ? width : INT_MAX) -
               fprintf(out, "%s:%u:%u: broken:", chil_rules_name(c->rules), a->line, a->column);
    if ((int)strlen(a->text) < room) {
        (void)fprintf(out, " %s\n", a->text);
    } else {
        (void)fputc('\n', out);
        view_wrapped(out, a->text, 4, width);
    }
    view_wrapped(out, reason, 2, width);
    if (with_around) print_around(out, c);
}

static size_t broken_count(const struct chil_assertion *all, size_t count)
{
    size_t broken = 0;
    for (size_t i = 0; i < count; i++)
        broken += all[i].broken;
    return broken;
}

void check_print(FILE *out, const struct check *c)
{
    size_t count;
    const struct chil_assertion *all = chil_rules_assertions(c->rules, &count),
                                *first = first_of(c);
    for (size_t i = 0; i < count; i++)
        if (all[i].broken) print_broken(out, c, &all[i], &all[i] == first);
    size_t broken = broken_count(all, count);
    (void)fprintf(out, "%s: %zu rule%s, %zu broken%s\n", chil_rules_name(c->rules), count,
                  count == 1 ? "" : "s", broken,
                  chil_run_was_stopped(c->run) ? "; the run was ended, the others are not decided"
                                               : "");
}

/* --- JUnit ----------------------------------------------------------------------------------- */

/* XML has no way to write most control characters, so they are '?'. */
static void put_xml(FILE *out, const char *text)
{
    for (; *text; text++) {
        unsigned char letter = (unsigned char)*text;
        const char *escape = letter == '&'    ? "&amp;"
                             : letter == '<'  ? "&lt;"
                             : letter == '>'  ? "&gt;"
                             : letter == '"'  ? "&quot;"
                             : letter == '\n' ? "\n"
                             : letter < 0x20  ? "?"
                                              : NULL;
        if (escape)
            (void)fputs(escape, out);
        else if (letter < 0x7F)
            (void)fputc(letter, out);
        else
            (void)fprintf(out, "&#%u;", letter);
    }
}

static void put_attribute(FILE *out, const char *name, const char *text)
{
    (void)fprintf(out, " %s=\"", name);
    put_xml(out, text);
    (void)fputc('"', out);
}

static void put_case(FILE *out, const struct check *c, const struct chil_assertion *a,
                     bool with_around)
{
    char reason[REASON_TEXT], *text = NULL;
    size_t length = 0;
    (void)fputs("    <testcase", out);
    put_attribute(out, "classname", c->program.run.program);
    put_attribute(out, "name", a->text);
    put_attribute(out, "file", chil_rules_name(c->rules));
    (void)fprintf(out, " line=\"%u\"", a->line);
    if (!a->broken) {
        (void)fputs(chil_run_was_stopped(c->run) ? "><skipped/></testcase>\n" : "/>\n", out);
        return;
    }
    reason_of(c, a, reason, sizeof reason);
    (void)fputs(">\n      <failure", out);
    put_attribute(out, "message", reason);
    (void)fputc('>', out);
    FILE *memory = open_memstream(&text, &length);
    if (memory) {
        print_broken(memory, c, a, with_around);
        (void)fclose(memory);
        put_xml(out, text);
    }
    free(text);
    (void)fputs("</failure>\n    </testcase>\n", out);
}

void check_print_junit(FILE *out, const struct check *c)
{
    size_t count;
    const struct chil_assertion *all = chil_rules_assertions(c->rules, &count),
                                *first = first_of(c);
    size_t broken = broken_count(all, count),
           skipped = chil_run_was_stopped(c->run) ? count - broken : 0;
    (void)fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite", out);
    put_attribute(out, "name", chil_rules_name(c->rules));
    (void)fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n", count,
                  broken, skipped);
    for (size_t i = 0; i < count; i++)
        put_case(out, c, &all[i], first && first - all == (ptrdiff_t)i);
    (void)fputs("  </testsuite>\n</testsuites>\n", out);
}
