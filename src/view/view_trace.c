/* Traces as text, one record a line, and what all forms share. docs/formats/trace.md is the
 * reference. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view/view_trace_impl.h"

static const char access_letters[] = {[CHIL_NO_ACCESS] = '-',
                                      [CHIL_ACCESS_LOAD] = 'L',
                                      [CHIL_ACCESS_STORE] = 'S',
                                      [CHIL_ACCESS_CACHE] = 'C'};

static size_t take_names(const char **into, const struct chil_ranges *ranges)
{
    uint32_t count = ranges ? chil_ranges_count(ranges) + 1 : 0;
    if (count > CHIL_TRACE_NAMES) count = CHIL_TRACE_NAMES;
    for (uint32_t i = 0; i < count; i++)
        into[i] = i ? chil_ranges_get(ranges, i) : "-";
    return count;
}

void view_trace_names(struct chil_trace_head *head, const struct chil_hist_names *names)
{
    head->tag_count = take_names(head->tags, names->tags);
    head->category_count = take_names(head->categories, names->categories);
}

/* A tag or category: its name, or its number in `number`. */
static const char *name_of(const char *const *names, size_t count, uint8_t value, char number[8])
{
    if (value < count) return names[value];
    (void)snprintf(number, 8, "%u", value);
    return number;
}

struct view_trace_numbers view_trace_numbers(const struct view_trace *out,
                                             const struct chil_trace_item *item)
{
    const struct chil_trace_record *r = &item->record;
    const struct chil_transaction *t = &item->transaction;
    if (chil_trace_has_transactions(out->head->kind))
        return (struct view_trace_numbers){t->category, t->tag,  t->pc,     t->function,
                                           t->callpath, t->site, t->section};
    return (struct view_trace_numbers){r->category, r->tag,  r->pc,     r->function,
                                       r->callpath, r->site, r->section};
}

const char *view_trace_tag(const struct view_trace *out, const struct view_trace_numbers *n,
                           char number[8])
{
    const char *site = out->names && out->names->tags && !n->tag
                           ? chil_ranges_get(out->names->tags, n->site)
                           : NULL;
    return site ? site : name_of(out->head->tags, out->head->tag_count, n->tag, number);
}

const char *view_trace_category(const struct view_trace *out, const struct view_trace_numbers *n,
                                char number[8])
{
    const char *section = out->names && out->names->categories && !n->category
                              ? chil_ranges_get(out->names->categories, n->section)
                              : NULL;
    return section ? section
                   : name_of(out->head->categories, out->head->category_count, n->category, number);
}

const char *view_trace_function(const struct view_trace *out, const struct view_trace_numbers *n)
{
    const char *name = NULL;
    if (out->names && out->names->functions)
        name = chil_ranges_get(out->names->functions, n->function);
    else if (out->functions)
        name = chil_ranges_get(out->functions, chil_ranges_look_up(out->functions, n->pc));
    return name ? name : "-";
}

const char *view_trace_callpath(const struct view_trace *out, const struct chil_trace_item *item)
{
    struct view_trace_numbers n = view_trace_numbers(out, item);
    return out->names && out->names->callpaths ? chil_ranges_get(out->names->callpaths, n.callpath)
                                               : NULL;
}

/* --- Text ------------------------------------------------------------------------------------ */

/* A name as a column: without blanks. */
enum { COLUMN = 150 };
static const char *column(const char *name, char text[COLUMN])
{
    (void)snprintf(text, COLUMN, "%.*s", COLUMN - 1, name);
    for (char *c = text; *c; c++)
        if (*c == ' ') *c = '_';
    return text;
}

static void instruction_line(const struct view_trace *out, const struct chil_trace_item *item,
                             char *line, size_t size)
{
    const struct chil_trace_record *r = &item->record;
    const struct view_trace_numbers n = view_trace_numbers(out, item);
    char text[CHIL_INSTRUCTION_TEXT], access[400] = "-", number[8], name[COLUMN];
    size_t used = 1;
    if (r->access != CHIL_NO_ACCESS)
        used = (size_t)snprintf(access, sizeof access, "%c%" PRIu32 ":%08" PRIx32,
                                access_letters[r->access], r->size, r->address);
    if (n.tag || n.site)
        used += (size_t)snprintf(access + used, sizeof access - used, ",tag=%s",
                                 column(view_trace_tag(out, &n, number), name));
    if (n.category || n.section)
        (void)snprintf(access + used, sizeof access - used, ",category=%s",
                       column(view_trace_category(out, &n, number), name));
    chil_instruction_text(r->word, r->pc, text, sizeof text);
    (void)snprintf(line, size, "%12" PRIu64 " %u %d %08" PRIx32 " %08" PRIx32 " %-12s %s", r->cycle,
                   r->core, r->pid, r->pc, r->word, access, text);
}

static void transaction_line(const struct view_trace *out, const struct chil_trace_item *item,
                             char *line, size_t size)
{
    const struct chil_transaction *t = &item->transaction;
    const struct view_trace_numbers n = view_trace_numbers(out, item);
    char number[2][8], tag[COLUMN], category[COLUMN];
    (void)snprintf(line, size,
                   "%12" PRIu64 " %5" PRIu64 " %u %u %d %d %-5s %-4s %3" PRIu32 " %08" PRIx32
                   " %08" PRIx32 " %s %s %.300s",
                   t->start, t->end - t->start, t->sender, t->core, t->pid, t->tid,
                   chil_transaction_kind_name(t->kind), chil_level_name(t->level), t->size,
                   t->address, t->pc, column(view_trace_category(out, &n, number[0]), category),
                   column(view_trace_tag(out, &n, number[1]), tag), view_trace_function(out, &n));
}

static void packet_line(const struct chil_transaction *t, char line[VIEW_TRACE_LINE])
{
    (void)snprintf(
        line, VIEW_TRACE_LINE,
        "%12" PRIu64 " %5" PRIu64 " %5" PRIu32 " %-6s %u %s %u %" PRIu32 " %u %u %" PRIu32,
        t->start, t->end - t->start, t->wait, chil_transaction_kind_name(t->kind), t->node,
        chil_link_name(t->link), t->sender, t->packet, t->receiver, t->hops, t->size);
}

void view_trace_line(const struct view_trace *out, const struct chil_trace_item *item,
                     char line[VIEW_TRACE_LINE])
{
    int node = 0;
    if (out->head->kind == CHIL_TRACE_PACKET) {
        packet_line(&item->transaction, line);
        return;
    }
    bool transactions = chil_trace_has_transactions(out->head->kind);
    if (chil_trace_nodes(out->head) > 1)
        node = snprintf(line, VIEW_TRACE_LINE, "%u ",
                        transactions ? item->transaction.node : item->record.node);
    if (transactions)
        transaction_line(out, item, line + node, VIEW_TRACE_LINE - (size_t)node);
    else
        instruction_line(out, item, line + node, VIEW_TRACE_LINE - (size_t)node);
}

/* Prints the call path if it differs from that of the record before. */
static void print_text(struct view_trace *out, const struct chil_trace_item *item)
{
    char line[VIEW_TRACE_LINE];
    const char *callpath = view_trace_callpath(out, item);
    uint32_t number = view_trace_numbers(out, item).callpath;
    if (callpath && number != out->callpath) (void)fprintf(out->file, "# callpath %s\n", callpath);
    out->callpath = number;
    view_trace_line(out, item, line);
    (void)fprintf(out->file, "%s%s\n", item->trigger ? "# trigger\n" : "", line);
}

/* --- All of them ----------------------------------------------------------------------------- */

const char *view_trace_columns(const struct view_trace *out, char line[VIEW_TRACE_LINE])
{
    static const char *const all[CHIL_TRACE_KINDS] = {
        "# chiliad trace 1: cycle core pid pc word access instruction",
        "# chiliad trace 1: cycle core pid pc word access instruction",
        ("# chiliad transactions 1: start latency sender core pid tid kind level size address pc "
         "category tag function"),
        "# chiliad packets 1: start latency wait kind node link sender packet receiver hops size"};
    const char *columns = all[out->head->kind];
    int names = (int)(strchr(columns, ':') + 2 - columns);
    bool several = chil_trace_nodes(out->head) > 1 && out->head->kind != CHIL_TRACE_PACKET;
    (void)snprintf(line, VIEW_TRACE_LINE, "%.*s%s%s", names, columns, several ? "node " : "",
                   columns + names);
    return line;
}

int view_trace_begin(struct view_trace *out, struct chil_error *err)
{
    char line[VIEW_TRACE_LINE];
    out->begun = true;
    switch (out->format) {
    case VIEW_TRACE_BINARY: return chil_trace_writer_new(&out->writer, out->head, out->file, err);
    case VIEW_TRACE_JSON: view_trace_json_begin(out); return 0;
    default: (void)fprintf(out->file, "%s\n", view_trace_columns(out, line)); return 0;
    }
}

void view_trace_record(struct view_trace *out, const struct chil_trace_item *item)
{
    bool transactions = chil_trace_has_transactions(out->head->kind);
    if (out->format == VIEW_TRACE_BINARY) {
        if (item->trigger) chil_trace_write_mark(out->writer);
        if (transactions)
            chil_trace_write_transaction(out->writer, &item->transaction);
        else
            chil_trace_write(out->writer, &item->record);
    } else if (out->format == VIEW_TRACE_TEXT) {
        print_text(out, item);
    } else {
        view_trace_json(out, item);
    }
    out->count++;
}

bool view_trace_end(struct view_trace *out)
{
    bool good = true;
    if (!out->begun) return true;
    if (out->format == VIEW_TRACE_JSON) view_trace_json_end(out);
    if (out->format == VIEW_TRACE_TEXT && out->partial)
        (void)fprintf(out->file, "# partial: %s\n", out->partial);
    if (out->writer) good = chil_trace_writer_close(out->writer);
    out->writer = NULL;
    return fflush(out->file) == 0 && !ferror(out->file) && good;
}
