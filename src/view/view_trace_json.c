/* Traces as JSON that trace viewers open: the trace event format of Chrome, which ui.perfetto.dev
 * reads. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "view/view_trace_impl.h"

/* Bytes that are no ASCII stand for themselves in Latin-1: whatever a name has, the text is JSON.
 */
static void print_string(FILE *out, const char *text)
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
static void print_time(const struct view_trace *out, const char *name, uint64_t cycles)
{
    uint32_t mhz = out->head->clock_mhz;
    (void)fprintf(out->file, ",\"%s\":%" PRIu64 ".%06" PRIu64, name, cycles / mhz,
                  cycles % mhz * 1000000 / mhz);
}

static void print_named(FILE *out, const char *name, const char *text)
{
    (void)fprintf(out, ",\"%s\":", name);
    print_string(out, text);
}

static void begin_event(struct view_trace *out, const char *name, const char *phase,
                        struct view_trace_thread thread)
{
    (void)fprintf(out->file, "%s\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d,\"name\":",
                  out->thread_count || out->count ? "," : "", phase, thread.pid, thread.tid);
    print_string(out->file, name);
}

/* The first record of a thread says who it is. */
static void print_thread(struct view_trace *out, struct view_trace_thread thread, unsigned core)
{
    bool process = true;
    for (size_t i = 0; i < out->thread_count; i++) {
        if (out->threads[i].pid == thread.pid && out->threads[i].tid == thread.tid) return;
        process &= out->threads[i].pid != thread.pid;
    }
    if (process) {
        begin_event(out, "process_name", "M", thread);
        (void)fputs(",\"args\":{\"name\":", out->file);
        print_string(out->file, out->head->program);
        (void)fputs("}}", out->file);
    }
    out->threads =
        base_grow(out->threads, &out->thread_capacity, out->thread_count + 1, sizeof *out->threads);
    out->threads[out->thread_count++] = thread;
    begin_event(out, "thread_name", "M", thread);
    (void)fprintf(out->file, ",\"args\":{\"name\":\"thread %d, first on core %u\"}}", thread.tid,
                  core);
}

static void print_names(const struct view_trace *out, const struct chil_trace_item *item)
{
    char number[8];
    const struct view_trace_numbers n = view_trace_numbers(out, item);
    const char *callpath = view_trace_callpath(out, item);
    print_named(out->file, "category", view_trace_category(out, &n, number));
    print_named(out->file, "tag", view_trace_tag(out, &n, number));
    print_named(out->file, "function", view_trace_function(out, &n));
    if (callpath) print_named(out->file, "callpath", callpath);
}

static void print_trigger(struct view_trace *out, struct view_trace_thread thread, uint64_t cycle)
{
    begin_event(out, "trigger", "i", thread);
    (void)fputs(",\"s\":\"g\"", out->file);
    print_time(out, "ts", cycle);
    (void)fputc('}', out->file);
}

static void print_instruction(struct view_trace *out, const struct chil_trace_item *item)
{
    static const char *const accesses[] = {"", "load", "store", "cache"};
    const struct chil_trace_record *r = &item->record;
    const struct view_trace_thread thread = {r->pid, r->tid};
    char text[CHIL_INSTRUCTION_TEXT];
    print_thread(out, thread, r->core);
    if (item->trigger) print_trigger(out, thread, r->cycle);
    chil_instruction_text(r->word, r->pc, text, sizeof text);
    begin_event(out, text, "X", thread);
    print_time(out, "ts", r->cycle);
    print_time(out, "dur", 1);
    (void)fprintf(out->file,
                  ",\"cat\":\"instruction\",\"args\":{\"cycle\":%" PRIu64
                  ",\"core\":%u,\"pc\":\"0x%08" PRIx32 "\",\"word\":\"0x%08" PRIx32 "\"",
                  r->cycle, r->core, r->pc, r->word);
    if (r->access)
        (void)fprintf(out->file, ",\"%s\":\"0x%08" PRIx32 "\",\"size\":%" PRIu32,
                      accesses[r->access], r->address, r->size);
    print_names(out, item);
    (void)fputs("}}", out->file);
}

static void print_transaction(struct view_trace *out, const struct chil_trace_item *item)
{
    const struct chil_transaction *t = &item->transaction;
    const struct view_trace_thread thread = {t->pid, t->tid};
    print_thread(out, thread, t->sender);
    if (item->trigger) print_trigger(out, thread, t->start);
    begin_event(out, chil_transaction_kind_name(t->kind), "X", thread);
    print_time(out, "ts", t->start);
    print_time(out, "dur", t->end - t->start);
    (void)fprintf(out->file,
                  ",\"cat\":\"transaction\",\"args\":{\"cycle\":%" PRIu64 ",\"latency\":%" PRIu64
                  ",\"sender\":%u,\"core\":%u,\"level\":\"%s\",\"size\":%" PRIu32
                  ",\"address\":\"0x%08" PRIx32 "\",\"pc\":\"0x%08" PRIx32 "\"",
                  t->start, t->end - t->start, t->sender, t->core, chil_level_name(t->level),
                  t->size, t->address, t->pc);
    print_names(out, item);
    (void)fputs("}}", out->file);
}

void view_trace_json(struct view_trace *out, const struct chil_trace_item *item)
{
    if (out->head->kind == CHIL_TRACE_TRANSACTION)
        print_transaction(out, item);
    else
        print_instruction(out, item);
}

void view_trace_json_begin(struct view_trace *out)
{
    (void)fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"machine\":", out->file);
    print_string(out->file, out->head->machine);
    (void)fprintf(out->file, ",\"clock_mhz\":%" PRIu32 ",\"kind\":\"%s\"},\"traceEvents\":[",
                  out->head->clock_mhz, chil_trace_kind_name(out->head->kind));
}

void view_trace_json_end(struct view_trace *out)
{
    (void)fputs("\n]}\n", out->file);
    free(out->threads);
    out->threads = NULL;
}
