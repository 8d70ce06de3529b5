/* Traces as JSON in the trace event format of Chrome, which ui.perfetto.dev and speedscope read.
 *
 * These viewers take events of one thread that overlap for calls inside each other. So a thread has
 * lanes: an event goes to the first lane whose last event has ended. Instructions that issue in one
 * cycle, misses that are served at once, and what a thread does on a core whose clock is behind,
 * are in further lanes. In a lane events are in order, and each ends before the next begins. An
 * event is at least one cycle long, since viewers drop those of no length.
 */
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

enum { LANE_STEP = 1000000 }; /* from the id of a lane to that of the next: above all thread ids */

static void begin_event(struct view_trace *out, const char *name, const char *phase,
                        const struct view_trace_lane *lane)
{
    (void)fprintf(out->file,
                  "%s\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%lld,\"name\":", out->events++ ? "," : "",
                  phase, lane->pid, lane->tid + (long long)lane->lane * LANE_STEP);
    print_string(out->file, name);
}

/* The first event of a lane says whose it is. */
static void name_lane(struct view_trace *out, const struct view_trace_lane *lane, unsigned core,
                      bool new_process)
{
    if (new_process) {
        begin_event(out, "process_name", "M", lane);
        (void)fputs(",\"args\":{\"name\":", out->file);
        print_string(out->file, out->head->program);
        (void)fputs("}}", out->file);
    }
    begin_event(out, "thread_name", "M", lane);
    (void)fprintf(out->file, ",\"args\":{\"name\":\"thread %d, ", lane->tid);
    if (lane->lane)
        (void)fprintf(out->file, "lane %u\"}}", lane->lane + 1);
    else
        (void)fprintf(out->file, "first on core %u\"}}", core);
}

/* The lane of an event, which ends at `end`. */
static struct view_trace_lane find_lane(struct view_trace *out, int pid, int tid, unsigned core,
                                        uint64_t start, uint64_t end)
{
    bool new_process = true;
    unsigned lanes = 0;
    for (size_t i = 0; i < out->lane_count; i++) {
        struct view_trace_lane *lane = &out->lanes[i];
        new_process &= lane->pid != pid;
        if (lane->pid != pid || lane->tid != tid) continue;
        lanes++;
        if (lane->end > start) continue;
        lane->end = end;
        return *lane;
    }
    out->lanes =
        base_grow(out->lanes, &out->lane_capacity, out->lane_count + 1, sizeof *out->lanes);
    struct view_trace_lane lane = {pid, tid, lanes, end};
    out->lanes[out->lane_count++] = lane;
    name_lane(out, &lane, core, new_process);
    return lane;
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

static void print_trigger(struct view_trace *out, const struct view_trace_lane *lane,
                          uint64_t cycle)
{
    begin_event(out, "trigger", "i", lane);
    (void)fputs(",\"s\":\"g\"", out->file);
    print_time(out, "ts", cycle);
    (void)fputc('}', out->file);
}

static void print_instruction(struct view_trace *out, const struct chil_trace_item *item)
{
    static const char *const accesses[] = {"", "load", "store", "cache"};
    const struct chil_trace_record *r = &item->record;
    char text[CHIL_INSTRUCTION_TEXT];
    const struct view_trace_lane lane =
        find_lane(out, r->pid, r->tid, r->core, r->cycle, r->cycle + 1);
    if (item->trigger) print_trigger(out, &lane, r->cycle);
    chil_instruction_text(r->word, r->pc, text, sizeof text);
    begin_event(out, text, "X", &lane);
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
    uint64_t length = t->end > t->start ? t->end - t->start : 1;
    const struct view_trace_lane lane =
        find_lane(out, t->pid, t->tid, t->sender, t->start, t->start + length);
    if (item->trigger) print_trigger(out, &lane, t->start);
    begin_event(out, chil_transaction_kind_name(t->kind), "X", &lane);
    print_time(out, "ts", t->start);
    print_time(out, "dur", length);
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
    (void)fputs("\n]", out->file);
    if (out->partial) {
        (void)fputs(",\"partial\":", out->file);
        print_string(out->file, out->partial);
    }
    (void)fputs("}\n", out->file);
    free(out->lanes);
    out->lanes = NULL;
}
