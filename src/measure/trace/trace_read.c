/* Reads traces. Every byte is checked; errors name the offset in the file. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/name.h"
#include "measure/trace/trace_impl.h"

struct chil_trace_reader {
    FILE *in;
    char *path; /* for messages */
    struct chil_trace_head head;
    struct chil_error *err;
    uint64_t at; /* bytes taken */
    uint64_t records;
    bool failed, over, has_who, marked;
    struct trace_state state;
};

static int complain(struct chil_trace_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int complain(struct chil_trace_reader *r, const char *format, ...)
{
    char what[200];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (r->failed) return CHIL_EPARSE; /* reported already */
    r->failed = true;
    return chil_error_set(r->err, CHIL_EPARSE, "%s: byte %" PRIu64 ": %s", r->path, r->at, what);
}

static unsigned take_byte(struct chil_trace_reader *r)
{
    int byte = r->failed ? EOF : getc_unlocked(r->in);
    if (byte == EOF) {
        (void)complain(r, "%s",
                       ferror(r->in) ? "the file cannot be read"
                                     : "the trace ends too early; it was not "
                                       "written to its end");
        return 0;
    }
    r->at++;
    return (unsigned)byte;
}

static uint64_t take(struct chil_trace_reader *r, uint64_t most, const char *what)
{
    uint64_t value = 0;
    for (unsigned i = 0;; i++) {
        unsigned byte = take_byte(r);
        if (i == TRACE_VARINT_MAX - 1 && byte > 1) {
            (void)complain(r, "%s has more than 64 bits", what);
            return 0;
        }
        value |= (uint64_t)(byte & 127) << 7 * i;
        if (!(byte & 128)) break;
    }
    if (value <= most) return value;
    (void)complain(r, "%s is %" PRIu64 ", more than %" PRIu64, what, value, most);
    return 0;
}

static int64_t take_change(struct chil_trace_reader *r, uint64_t most, const char *what)
{
    return trace_unfold(take(r, most, what));
}

static char *take_text(struct chil_trace_reader *r, const char *what)
{
    size_t length = (size_t)take(r, CHIL_TRACE_NAME, what);
    char *text = base_calloc(length + 1, 1);
    for (size_t i = 0; i < length && !r->failed; i++) {
        text[i] = (char)take_byte(r);
        if (!text[i]) (void)complain(r, "%s has a zero byte in it", what);
    }
    return name_printable(text);
}

static size_t take_names(struct chil_trace_reader *r, const char **names, const char *what)
{
    size_t count = (size_t)take(r, CHIL_TRACE_NAMES, what), i = 0;
    for (; i < count && !r->failed; i++)
        names[i] = take_text(r, what);
    return i;
}

/* Behind the names, where there are several nodes. */
static void take_torus(struct chil_trace_reader *r)
{
    int byte = r->failed ? EOF : getc_unlocked(r->in);
    if (byte != TRACE_TORUS) {
        if (byte != EOF) (void)ungetc(byte, r->in);
        return;
    }
    r->at++;
    for (unsigned i = 0; i < 3; i++) {
        r->head.torus[i] = (uint32_t)take(r, CHIL_TORUS_SIZE_MAX, "a size of the torus");
        if (!r->head.torus[i]) (void)complain(r, "a side of the torus has 0 nodes");
    }
    if (chil_trace_nodes(&r->head) > CHIL_RUN_NODES_MAX)
        (void)complain(r, "the torus has more than %d nodes", CHIL_RUN_NODES_MAX);
}

static void take_head(struct chil_trace_reader *r)
{
    struct chil_trace_head *h = &r->head;
    char magic[sizeof TRACE_MAGIC] = "";
    size_t got = fread(magic, 1, strlen(TRACE_MAGIC), r->in);
    if (got != strlen(TRACE_MAGIC) || memcmp(magic, TRACE_MAGIC, got) != 0) {
        (void)complain(
            r,
            "this is no binary trace of Chiliad; 'chiliad trace --format=binary -o FILE' writes one");
        return;
    }
    r->at = got;
    h->kind = (enum chil_trace_kind)take(r, CHIL_TRACE_KINDS - 1, "the kind of trace");
    h->clock_mhz = (uint32_t)take(r, UINT32_MAX, "the clock");
    if (!h->clock_mhz) (void)complain(r, "the clock has 0 MHz");
    h->program_crc = (uint32_t)take(r, UINT32_MAX, "the program's checksum");
    h->machine = take_text(r, "the machine's name");
    h->program = take_text(r, "the program's name");
    h->tag_count = take_names(r, h->tags, "a tag's name");
    h->category_count = take_names(r, h->categories, "a category's name");
    take_torus(r);
}

int chil_trace_reader_new(struct chil_trace_reader **reader, FILE *in, const char *name,
                          struct chil_error *err)
{
    struct chil_trace_reader *r = base_calloc(1, sizeof *r);
    r->in = in;
    r->err = err;
    r->path = base_strdup(name);
    take_head(r);
    r->err = NULL;
    if (r->failed) {
        chil_trace_reader_free(r);
        return CHIL_EPARSE;
    }
    *reader = r;
    return 0;
}

void chil_trace_reader_free(struct chil_trace_reader *r)
{
    if (!r) return;
    free((void *)r->head.machine);
    free((void *)r->head.program);
    for (size_t i = 0; i < r->head.tag_count; i++)
        free((void *)r->head.tags[i]);
    for (size_t i = 0; i < r->head.category_count; i++)
        free((void *)r->head.categories[i]);
    free(r->path);
    free(r);
}

const struct chil_trace_head *chil_trace_reader_head(const struct chil_trace_reader *r)
{
    return &r->head;
}

/* --- Records --------------------------------------------------------------------------------- */

static void take_who(struct chil_trace_reader *r)
{
    struct trace_state *s = &r->state;
    bool transactions = chil_trace_has_transactions(r->head.kind);
    unsigned first =
        (unsigned)take(r, transactions ? UINT16_MAX : TRACE_CORES - 1, "a core's number");
    if (transactions) {
        s->last.sender = (uint16_t)first;
        s->last.core = (uint8_t)take(r, UINT8_MAX, "a core's number");
    }
    s->core = first;
    s->pid = s->last.pid = (int32_t)take(r, UINT32_MAX, "a process's number");
    s->tid = s->last.tid = (int32_t)take(r, UINT32_MAX, "a thread's number");
    if (!transactions) s->category = (uint8_t)take(r, UINT8_MAX, "a category");
    r->has_who = true;
}

/* True at the end. */
static bool take_end(struct chil_trace_reader *r)
{
    uint64_t records = take(r, UINT64_MAX, "the number of records");
    if (!r->failed && records != r->records)
        (void)complain(r, "the trace has %" PRIu64 " records and says %" PRIu64 "; it is damaged",
                       r->records, records);
    if (!r->failed && r->marked) (void)complain(r, "the trigger's record is missing");
    if (!r->failed && getc_unlocked(r->in) != EOF)
        (void)complain(r, "something follows the end of the trace");
    r->over = true;
    return true;
}

static void take_instruction(struct chil_trace_reader *r, unsigned first,
                             struct chil_trace_record *record)
{
    struct trace_state *s = &r->state;
    uint64_t cycles = first / TRACE_CYCLE;
    uint32_t pc = s->cores[s->core].pc + 4;
    if (cycles == TRACE_CYCLE_FOLLOWS) cycles = (uint64_t)take_change(r, UINT64_MAX, "a cycle");
    if (!(first & TRACE_NEXT))
        pc = s->cores[s->core].pc + (uint32_t)take_change(r, UINT32_MAX, "an address of code");
    struct trace_place *place = trace_place(s, pc);
    enum chil_access access = (enum chil_access)(first & 3);
    if (!(first & TRACE_KNOWN)) {
        place->pc = pc;
        place->word = (uint32_t)take(r, UINT32_MAX, "an instruction");
        place->size = access ? (uint32_t)take(r, UINT32_MAX, "a size") : 0;
        place->tag = access ? (uint8_t)take(r, UINT8_MAX, "a tag") : 0;
    } else if (place->pc != pc) {
        (void)complain(
            r, "an instruction at 0x%08" PRIx32 " was there before, says the trace, and was not",
            pc);
    }
    *record = (struct chil_trace_record){.cycle = s->cores[s->core].cycle + cycles,
                                         .node = s->node,
                                         .core = s->core,
                                         .pid = s->pid,
                                         .tid = s->tid,
                                         .pc = pc,
                                         .word = place->word,
                                         .access = access,
                                         .category = s->category};
    if (access) {
        place->address += (uint32_t)take_change(r, UINT32_MAX, "an address of data");
        record->address = place->address;
        record->size = place->size;
        record->tag = place->tag;
    }
    s->cores[s->core].cycle = record->cycle;
    s->cores[s->core].pc = pc;
}

static void take_transaction(struct chil_trace_reader *r, unsigned first,
                             struct chil_transaction *t)
{
    struct chil_transaction *last = &r->state.last;
    last->kind = first % TRACE_LEVEL;
    last->level = (uint8_t)(first / TRACE_LEVEL % CHIL_LEVELS);
    if (last->kind >= CHIL_TRANSACTION_KINDS)
        (void)complain(r, "a transaction of kind %u, which there is not", last->kind);
    last->start += (uint64_t)take_change(r, UINT64_MAX, "a time");
    last->end = last->start + take(r, UINT64_MAX, "a latency");
    last->pc += (uint32_t)take_change(r, UINT32_MAX, "an address of code");
    last->address += (uint32_t)take_change(r, UINT32_MAX, "an address of data");
    if (first & TRACE_SIZE_FOLLOWS) last->size = (uint32_t)take(r, UINT32_MAX, "a size");
    if (first & TRACE_NAMES_FOLLOW) {
        last->category = (uint8_t)take_byte(r);
        last->tag = (uint8_t)take_byte(r);
    }
    last->node = (uint16_t)r->state.node;
    last->receiver = last->hops = last->link = 0;
    last->wait = last->packet = 0;
    if (last->kind >= CHIL_PACKET) {
        last->receiver = (uint16_t)take(r, UINT16_MAX, "a node");
        last->hops = (uint16_t)take(r, UINT16_MAX, "a number of hops");
        last->link = (uint8_t)take(r, CHIL_LINKS - 1, "a link");
        last->wait = (uint32_t)take(r, UINT32_MAX, "a wait");
        last->packet = (uint32_t)take(r, UINT32_MAX, "the number of a packet");
    }
    *t = *last;
}

int chil_trace_read(struct chil_trace_reader *r, struct chil_trace_item *item,
                    struct chil_error *err)
{
    r->err = err;
    if (r->over && !r->failed) return 0;
    for (;;) {
        unsigned first = take_byte(r);
        if (r->failed) return complain(r, "the trace is damaged");
        if (first == TRACE_END && take_end(r)) return r->failed ? CHIL_EPARSE : 0;
        if (first == TRACE_WHO) {
            take_who(r);
            continue;
        }
        if (first == TRACE_MARK) {
            if (r->marked) return complain(r, "two marks for one record");
            r->marked = true;
            continue;
        }
        if (first == TRACE_NODE) {
            r->state.node = (unsigned)take(r, chil_trace_nodes(&r->head) - 1, "a node's number");
            continue;
        }
        if (first & TRACE_COMMAND)
            return complain(r, "0x%02x is none of the bytes that may stand here", first);
        if (!r->has_who) return complain(r, "a record before it is said whose it is");
        *item = (struct chil_trace_item){.trigger = r->marked};
        r->marked = false;
        if (chil_trace_has_transactions(r->head.kind))
            take_transaction(r, first, &item->transaction);
        else
            take_instruction(r, first, &item->record);
        r->records++;
        return r->failed ? CHIL_EPARSE : 1;
    }
}
