/* Traces as JSON in the trace event format of Chrome, which ui.perfetto.dev and speedscope read.
 *
 * These viewers take events of one thread that overlap for calls inside each other. So a thread has
 * lanes: an event goes to the first lane whose last event has ended. Instructions that issue in one
 * cycle, misses that are served at once, and what a thread does on a core whose clock is behind,
 * are in further lanes. In a lane events are in order, and each ends before the next begins. An
 * event is at least one cycle long, since viewers drop those of no length.
 *
 * With several nodes, each is a process for the viewer. Of packets it has a thread for each link,
 * with the times in which a packet is on it, and one for what it has received. A flow joins all
 * events of a packet; viewers draw it as arrows from its sender to its receiver.
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

static bool several_nodes(const struct view_trace *out)
{
    return chil_trace_nodes(out->head) > 1;
}

static void begin_event(struct view_trace *out, const char *name, const char *phase,
                        const struct view_trace_lane *lane)
{
    (void)fprintf(out->file,
                  "%s\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%lld,\"name\":", out->events++ ? "," : "",
                  phase, several_nodes(out) ? (int)lane->node + 1 : lane->pid,
                  lane->tid + (long long)lane->lane * LANE_STEP);
    print_string(out->file, name);
}

static void begin_name(struct view_trace *out, const char *what, const struct view_trace_lane *lane)
{
    begin_event(out, what, "M", lane);
    (void)fputs(",\"args\":{\"name\":", out->file);
}

static void name_process(struct view_trace *out, const struct view_trace_lane *lane)
{
    char text[80];
    const uint32_t *size = out->head->torus;
    begin_name(out, "process_name", lane);
    if (several_nodes(out)) {
        (void)snprintf(text, sizeof text, "node %u (%u,%u,%u)", lane->node, lane->node % size[0],
                       lane->node / size[0] % size[1], lane->node / size[0] / size[1]);
        print_string(out->file, text);
    } else {
        print_string(out->file, out->head->program);
    }
    (void)fputs("}}", out->file);
}

/* The threads of the network: links by their number, then what is received. */
enum { RECEIVED = CHIL_LINKS };

/* The first event of a lane says whose it is. */
static void name_lane(struct view_trace *out, const struct view_trace_lane *lane, unsigned core)
{
    char text[120], process[40] = "", where[40];
    (void)snprintf(where, sizeof where, "first on core %u", core);
    if (lane->lane) (void)snprintf(where, sizeof where, "lane %u", lane->lane + 1);
    if (several_nodes(out)) (void)snprintf(process, sizeof process, "process %d, ", lane->pid);
    if (out->head->kind != CHIL_TRACE_PACKET)
        (void)snprintf(text, sizeof text, "%sthread %d, %s", process, lane->tid, where);
    else if (lane->tid == RECEIVED)
        (void)snprintf(text, sizeof text, "received%s%s", lane->lane ? ", " : "",
                       lane->lane ? where : "");
    else
        (void)snprintf(text, sizeof text, "link %s", chil_link_name((unsigned)lane->tid));
    begin_name(out, "thread_name", lane);
    print_string(out->file, text);
    (void)fputs("}}", out->file);
}

/* Adds a lane of the node. */
static void add_lane(struct view_trace *out, const struct view_trace_lane *lane)
{
    size_t before = out->node_capacity;
    out->node_lanes =
        base_grow(out->node_lanes, &out->node_capacity, lane->node + 1, sizeof *out->node_lanes);
    for (; before < out->node_capacity; before++)
        out->node_lanes[before] = 0;
    out->lanes =
        base_grow(out->lanes, &out->lane_capacity, out->lane_count + 1, sizeof *out->lanes);
    out->lanes[out->lane_count] = *lane;
    out->lanes[out->lane_count].next = out->node_lanes[lane->node];
    out->node_lanes[lane->node] = ++out->lane_count;
}

/* The lane of an event, which ends at `end`: the first of its thread that is free at `start`. */
static struct view_trace_lane find_lane(struct view_trace *out, struct view_trace_lane wanted,
                                        unsigned core, uint64_t start, uint64_t end)
{
    struct view_trace_lane *best = NULL;
    bool new_process = true;
    size_t at = wanted.node < out->node_capacity ? out->node_lanes[wanted.node] : 0;
    for (; at; at = out->lanes[at - 1].next) {
        struct view_trace_lane *lane = &out->lanes[at - 1];
        new_process &= lane->pid != wanted.pid && !several_nodes(out);
        if (lane->pid != wanted.pid || lane->tid != wanted.tid) continue;
        wanted.lane++;
        if (lane->end <= start) best = lane;
    }
    if (best) {
        best->end = end;
        return *best;
    }
    wanted.end = end;
    add_lane(out, &wanted);
    if (new_process) name_process(out, &wanted);
    name_lane(out, &wanted, core);
    return wanted;
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
        find_lane(out, (struct view_trace_lane){.node = r->node, .pid = r->pid, .tid = r->tid},
                  r->core, r->cycle, r->cycle + 1);
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
        find_lane(out, (struct view_trace_lane){.node = t->node, .pid = t->pid, .tid = t->tid},
                  t->sender, t->start, t->start + length);
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

/* A step of the packet's flow; it belongs to the event that begins at `cycle` in the lane. */
static void print_flow(struct view_trace *out, const struct view_trace_lane *lane,
                       const char *phase, const struct chil_transaction *t, uint64_t cycle)
{
    begin_event(out, "packet", phase, lane);
    print_time(out, "ts", cycle);
    (void)fprintf(out->file, ",\"cat\":\"flow\",\"id\":\"%u.%" PRIu32 "\"%s}", t->sender, t->packet,
                  *phase == 'f' ? ",\"bp\":\"e\"" : "");
}

/* A hop is on its link from its start to its end; what is received is an event of one cycle. */
static void print_packet(struct view_trace *out, const struct chil_trace_item *item)
{
    const struct chil_transaction *t = &item->transaction;
    char name[60];
    bool hop = t->kind == CHIL_HOP;
    uint64_t start = hop ? t->start + t->wait : t->end - 1;
    const struct view_trace_lane lane =
        find_lane(out, (struct view_trace_lane){.node = t->node, .tid = hop ? t->link : RECEIVED},
                  0, start, t->end);
    if (item->trigger) print_trigger(out, &lane, start);
    (void)snprintf(name, sizeof name, "%u.%" PRIu32 " to %u", t->sender, t->packet, t->receiver);
    begin_event(out, name, "X", &lane);
    print_time(out, "ts", start);
    print_time(out, "dur", t->end - start);
    (void)fprintf(
        out->file,
        ",\"cat\":\"%s\",\"args\":{\"cycle\":%" PRIu64 ",\"latency\":%" PRIu64 ",\"wait\":%" PRIu32
        ",\"sender\":%u,\"receiver\":%u,\"hops\":%u,\"size\":%" PRIu32 ",\"link\":\"%s\"}}",
        chil_transaction_kind_name(t->kind), t->start, t->end - t->start, t->wait, t->sender,
        t->receiver, t->hops, t->size, chil_link_name(t->link));
    print_flow(out, &lane, !hop ? "f" : t->hops == 1 ? "s" : "t", t, start);
}

void view_trace_json(struct view_trace *out, const struct chil_trace_item *item)
{
    if (out->head->kind == CHIL_TRACE_PACKET)
        print_packet(out, item);
    else if (out->head->kind == CHIL_TRACE_TRANSACTION)
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
    free(out->node_lanes);
    out->lanes = NULL;
    out->node_lanes = NULL;
}
