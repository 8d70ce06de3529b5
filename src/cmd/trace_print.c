/* The forms of a trace: text for people and awk, the compact binary, and JSON that trace viewers
 * open (the trace event format of Chrome, which ui.perfetto.dev reads). docs/formats/trace.md is
 * the reference. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "cmd/trace.h"

const char trace_columns_instruction[] =
    "# chiliad trace 1: cycle core pid pc word access instruction";
const char trace_columns_transaction[] =
    "# chiliad transactions 1: start latency sender core pid tid kind level size address pc category tag function";

static const char access_letters[] = {[CHIL_NO_ACCESS] = '-',
                                      [CHIL_ACCESS_LOAD] = 'L',
                                      [CHIL_ACCESS_STORE] = 'S',
                                      [CHIL_ACCESS_CACHE] = 'C'};

uint32_t trace_crc(const char *path)
{
    unsigned char bytes[1 << 14];
    uLong crc = crc32(0, NULL, 0);
    FILE *file = fopen(path, "rb");
    if (!file) return 0;
    for (size_t length; (length = fread(bytes, 1, sizeof bytes, file)) > 0;)
        crc = crc32(crc, bytes, (uInt)length);
    (void)fclose(file);
    return (uint32_t)crc;
}

static size_t take_names(const char **into, const struct chil_ranges *ranges)
{
    uint32_t count = ranges ? chil_ranges_count(ranges) + 1 : 0;
    if (count > CHIL_TRACE_NAMES) count = CHIL_TRACE_NAMES;
    for (uint32_t i = 0; i < count; i++)
        into[i] = i ? chil_ranges_get(ranges, i) : "-";
    return count;
}

void trace_head_names(struct chil_trace_head *head, const struct chil_hist_names *names)
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

/* Names of a record that are no addresses': tags and categories as the user or the program says,
 * else sites and sections, which come up in the run. */
struct named {
    uint8_t category, tag;
    uint32_t pc, function, callpath, site, section;
};

static struct named named_of(const struct trace_out *out, const struct chil_trace_item *item)
{
    const struct chil_trace_record *r = &item->record;
    const struct chil_transaction *t = &item->transaction;
    if (out->head->kind == CHIL_TRACE_TRANSACTION)
        return (struct named){t->category, t->tag,  t->pc,     t->function,
                              t->callpath, t->site, t->section};
    return (struct named){r->category, r->tag,  r->pc,     r->function,
                          r->callpath, r->site, r->section};
}

static const char *tag_of(const struct trace_out *out, const struct named *n, char number[8])
{
    const char *site = out->names && out->names->tags && !n->tag
                           ? chil_ranges_get(out->names->tags, n->site)
                           : NULL;
    return site ? site : name_of(out->head->tags, out->head->tag_count, n->tag, number);
}

static const char *category_of(const struct trace_out *out, const struct named *n, char number[8])
{
    const char *section = out->names && out->names->categories && !n->category
                              ? chil_ranges_get(out->names->categories, n->section)
                              : NULL;
    return section ? section
                   : name_of(out->head->categories, out->head->category_count, n->category, number);
}

static const char *function_of(const struct trace_out *out, const struct named *n)
{
    const char *name = NULL;
    if (out->names && out->names->functions)
        name = chil_ranges_get(out->names->functions, n->function);
    else if (out->functions)
        name = chil_ranges_get(out->functions, chil_ranges_look_up(out->functions, n->pc));
    return name ? name : "-";
}

const char *trace_callpath(const struct trace_out *out, const struct chil_trace_item *item)
{
    struct named n = named_of(out, item);
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

static void instruction_line(const struct trace_out *out, const struct chil_trace_item *item,
                             char line[TRACE_LINE])
{
    const struct chil_trace_record *r = &item->record;
    const struct named n = named_of(out, item);
    char text[CHIL_INSTRUCTION_TEXT], access[400] = "-", number[8], name[COLUMN];
    size_t used = 1;
    if (r->access != CHIL_NO_ACCESS)
        used = (size_t)snprintf(access, sizeof access, "%c%" PRIu32 ":%08" PRIx32,
                                access_letters[r->access], r->size, r->address);
    if (n.tag || n.site)
        used += (size_t)snprintf(access + used, sizeof access - used, ",tag=%s",
                                 column(tag_of(out, &n, number), name));
    if (n.category || n.section)
        (void)snprintf(access + used, sizeof access - used, ",category=%s",
                       column(category_of(out, &n, number), name));
    chil_instruction_text(r->word, r->pc, text, sizeof text);
    (void)snprintf(line, TRACE_LINE, "%12" PRIu64 " %u %d %08" PRIx32 " %08" PRIx32 " %-12s %s",
                   r->cycle, r->core, r->pid, r->pc, r->word, access, text);
}

static void transaction_line(const struct trace_out *out, const struct chil_trace_item *item,
                             char line[TRACE_LINE])
{
    const struct chil_transaction *t = &item->transaction;
    const struct named n = named_of(out, item);
    char number[2][8], tag[COLUMN], category[COLUMN];
    (void)snprintf(line, TRACE_LINE,
                   "%12" PRIu64 " %5" PRIu64 " %u %u %d %d %-5s %-4s %3" PRIu32 " %08" PRIx32
                   " %08" PRIx32 " %s %s %.300s",
                   t->start, t->end - t->start, t->sender, t->core, t->pid, t->tid,
                   chil_transaction_kind_name(t->kind), chil_level_name(t->level), t->size,
                   t->address, t->pc, column(category_of(out, &n, number[0]), category),
                   column(tag_of(out, &n, number[1]), tag), function_of(out, &n));
}

void trace_line(const struct trace_out *out, const struct chil_trace_item *item,
                char line[TRACE_LINE])
{
    if (out->head->kind == CHIL_TRACE_TRANSACTION)
        transaction_line(out, item, line);
    else
        instruction_line(out, item, line);
}

/* A call path is told when it is another than that of the record before. */
static void put_text(struct trace_out *out, const struct chil_trace_item *item)
{
    char line[TRACE_LINE];
    const char *callpath = trace_callpath(out, item);
    uint32_t number = named_of(out, item).callpath;
    if (callpath && number != out->callpath) (void)fprintf(out->file, "# callpath %s\n", callpath);
    out->callpath = number;
    trace_line(out, item, line);
    (void)fprintf(out->file, "%s%s\n", item->trigger ? "# trigger\n" : "", line);
}

/* --- JSON ------------------------------------------------------------------------------------ */

/* Bytes that are no ASCII stand for themselves in Latin-1: whatever a name has, the text is JSON.
 */
static void put_string(FILE *out, const char *text)
{
    (void)fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (*c < 0x20 || *c >= 0x7F || *c == '"' || *c == '\\')
            (void)fprintf(out, "\\u%04x", *c);
        else
            (void)fputc(*c, out);
    (void)fputc('"', out);
}

/* Viewers count in microseconds; a cycle is less than one. */
static void put_time(const struct trace_out *out, const char *name, uint64_t cycles)
{
    uint32_t mhz = out->head->clock_mhz;
    (void)fprintf(out->file, ",\"%s\":%" PRIu64 ".%06" PRIu64, name, cycles / mhz,
                  cycles % mhz * 1000000 / mhz);
}

static void put_named(FILE *out, const char *name, const char *text)
{
    (void)fprintf(out, ",\"%s\":", name);
    put_string(out, text);
}

static void begin_event(struct trace_out *out, const char *name, const char *phase,
                        struct trace_who who)
{
    (void)fprintf(out->file, "%s\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d,\"name\":",
                  out->told_count || out->count ? "," : "", phase, who.pid, who.tid);
    put_string(out->file, name);
}

/* The first record of a thread says who it is. */
static void tell_who(struct trace_out *out, struct trace_who who, unsigned core)
{
    bool process = true;
    for (size_t i = 0; i < out->told_count; i++) {
        if (out->told[i].pid == who.pid && out->told[i].tid == who.tid) return;
        process &= out->told[i].pid != who.pid;
    }
    if (process) {
        begin_event(out, "process_name", "M", who);
        (void)fputs(",\"args\":{\"name\":", out->file);
        put_string(out->file, out->head->program);
        (void)fputs("}}", out->file);
    }
    if (out->told_count == out->told_capacity) {
        size_t capacity = 2 * out->told_capacity + 16;
        struct trace_who *larger = realloc(out->told, capacity * sizeof *larger);
        if (!larger) return;
        out->told = larger;
        out->told_capacity = capacity;
    }
    out->told[out->told_count++] = who;
    begin_event(out, "thread_name", "M", who);
    (void)fprintf(out->file, ",\"args\":{\"name\":\"thread %d, first on core %u\"}}", who.tid,
                  core);
}

static void put_names(const struct trace_out *out, const struct chil_trace_item *item)
{
    char number[8];
    const struct named n = named_of(out, item);
    const char *callpath = trace_callpath(out, item);
    put_named(out->file, "category", category_of(out, &n, number));
    put_named(out->file, "tag", tag_of(out, &n, number));
    put_named(out->file, "function", function_of(out, &n));
    if (callpath) put_named(out->file, "callpath", callpath);
}

static void put_trigger(struct trace_out *out, struct trace_who who, uint64_t cycle)
{
    begin_event(out, "trigger", "i", who);
    (void)fputs(",\"s\":\"g\"", out->file);
    put_time(out, "ts", cycle);
    (void)fputc('}', out->file);
}

static void put_json_instruction(struct trace_out *out, const struct chil_trace_item *item)
{
    static const char *const accesses[] = {"", "load", "store", "cache"};
    const struct chil_trace_record *r = &item->record;
    const struct trace_who who = {r->pid, r->tid};
    char text[CHIL_INSTRUCTION_TEXT];
    tell_who(out, who, r->core);
    if (item->trigger) put_trigger(out, who, r->cycle);
    chil_instruction_text(r->word, r->pc, text, sizeof text);
    begin_event(out, text, "X", who);
    put_time(out, "ts", r->cycle);
    put_time(out, "dur", 1);
    (void)fprintf(out->file,
                  ",\"cat\":\"instruction\",\"args\":{\"cycle\":%" PRIu64
                  ",\"core\":%u,\"pc\":\"0x%08" PRIx32 "\",\"word\":\"0x%08" PRIx32 "\"",
                  r->cycle, r->core, r->pc, r->word);
    if (r->access)
        (void)fprintf(out->file, ",\"%s\":\"0x%08" PRIx32 "\",\"size\":%" PRIu32,
                      accesses[r->access], r->address, r->size);
    put_names(out, item);
    (void)fputs("}}", out->file);
}

static void put_json_transaction(struct trace_out *out, const struct chil_trace_item *item)
{
    const struct chil_transaction *t = &item->transaction;
    const struct trace_who who = {t->pid, t->tid};
    tell_who(out, who, t->sender);
    if (item->trigger) put_trigger(out, who, t->start);
    begin_event(out, chil_transaction_kind_name(t->kind), "X", who);
    put_time(out, "ts", t->start);
    put_time(out, "dur", t->end - t->start);
    (void)fprintf(out->file,
                  ",\"cat\":\"transaction\",\"args\":{\"cycle\":%" PRIu64 ",\"latency\":%" PRIu64
                  ",\"sender\":%u,\"core\":%u,\"level\":\"%s\",\"size\":%" PRIu32
                  ",\"address\":\"0x%08" PRIx32 "\",\"pc\":\"0x%08" PRIx32 "\"",
                  t->start, t->end - t->start, t->sender, t->core, chil_level_name(t->level),
                  t->size, t->address, t->pc);
    put_names(out, item);
    (void)fputs("}}", out->file);
}

/* --- All of them ----------------------------------------------------------------------------- */

int trace_out_begin(struct trace_out *out)
{
    struct chil_error err = {0};
    bool transactions = out->head->kind == CHIL_TRACE_TRANSACTION;
    out->begun = true;
    switch (out->format) {
    case TRACE_BINARY:
        if (chil_trace_writer_new(&out->writer, out->head, out->file, &err))
            return cmd_fail_error("trace", &err);
        return 0;
    case TRACE_JSON:
        (void)fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"machine\":", out->file);
        put_string(out->file, out->head->machine);
        (void)fprintf(out->file, ",\"clock_mhz\":%" PRIu32 ",\"kind\":\"%s\"},\"traceEvents\":[",
                      out->head->clock_mhz, chil_trace_kind_name(out->head->kind));
        return 0;
    default:
        (void)fprintf(out->file, "%s\n",
                      transactions ? trace_columns_transaction : trace_columns_instruction);
        return 0;
    }
}

void trace_out_put(struct trace_out *out, const struct chil_trace_item *item)
{
    bool transactions = out->head->kind == CHIL_TRACE_TRANSACTION;
    if (out->format == TRACE_BINARY) {
        if (item->trigger) chil_trace_write_mark(out->writer);
        if (transactions)
            chil_trace_write_transaction(out->writer, &item->transaction);
        else
            chil_trace_write(out->writer, &item->record);
    } else if (out->format == TRACE_TEXT) {
        put_text(out, item);
    } else {
        (transactions ? put_json_transaction : put_json_instruction)(out, item);
    }
    out->count++;
}

bool trace_out_end(struct trace_out *out)
{
    bool good = true;
    if (!out->begun) return true;
    if (out->format == TRACE_JSON) (void)fputs("\n]}\n", out->file);
    if (out->writer) good = chil_trace_writer_close(out->writer);
    out->writer = NULL;
    free(out->told);
    out->told = NULL;
    return fflush(out->file) == 0 && !ferror(out->file) && good;
}
