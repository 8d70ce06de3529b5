/* Writes traces. Most records of instructions are one byte; none is longer than ROOM. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/mem.h"
#include "base/named.h"
#include "measure/trace/trace_impl.h"

enum { BUFFER = 1 << 18, ROOM = 128 };

struct chil_trace_writer {
    FILE *out;
    enum chil_trace_kind kind;
    bool failed, told_who;
    uint64_t records;
    uint8_t *at; /* where the next byte goes */
    struct trace_state state;
    uint8_t buffer[BUFFER];
};

const char *chil_trace_kind_name(enum chil_trace_kind kind)
{
    static const char *const names[] = {"instruction", "memory", "transaction", "packet"};
    return names[kind];
}

static void flush(struct chil_trace_writer *w)
{
    size_t length = (size_t)(w->at - w->buffer);
    if (length && fwrite(w->buffer, 1, length, w->out) != length) w->failed = true;
    w->at = w->buffer;
}

static inline void make_room(struct chil_trace_writer *w)
{
    if (w->at > w->buffer + BUFFER - ROOM) flush(w);
}

static inline uint8_t *encode(uint8_t *at, uint64_t value)
{
    for (; value >= 128; value >>= 7)
        *at++ = (uint8_t)(value | 128);
    *at++ = (uint8_t)value;
    return at;
}

static void put_text(struct chil_trace_writer *w, const char *text)
{
    size_t length = strlen(text);
    make_room(w);
    w->at = encode(w->at, length);
    flush(w);
    if (fwrite(text, 1, length, w->out) != length) w->failed = true;
}

static bool fits(const char *const *names, size_t count)
{
    if (count > CHIL_TRACE_NAMES) return false;
    for (size_t i = 0; i < count; i++)
        if (strlen(names[i]) > CHIL_TRACE_NAME) return false;
    return true;
}

static void put_names(struct chil_trace_writer *w, const char *const *names, size_t count)
{
    w->at = encode(w->at, count);
    for (size_t i = 0; i < count; i++)
        put_text(w, names[i]);
}

int chil_trace_writer_new(struct chil_trace_writer **writer, const struct chil_trace_head *head,
                          FILE *out, struct chil_error *err)
{
    if (!fits(&head->machine, 1) || !fits(&head->program, 1) ||
        !fits(head->tags, head->tag_count) || !fits(head->categories, head->category_count))
        return chil_error_set(
            err, CHIL_ERANGE,
            "a name of the trace has more than %d letters, or there are more than %d",
            CHIL_TRACE_NAME, CHIL_TRACE_NAMES);
    struct chil_trace_writer *w = base_calloc(1, sizeof *w);
    w->out = out;
    w->kind = head->kind;
    memcpy(w->buffer, TRACE_MAGIC, strlen(TRACE_MAGIC));
    w->at = encode(w->buffer + strlen(TRACE_MAGIC), head->kind);
    w->at = encode(w->at, head->clock_mhz);
    w->at = encode(w->at, head->program_crc);
    put_text(w, head->machine);
    put_text(w, head->program);
    put_names(w, head->tags, head->tag_count);
    put_names(w, head->categories, head->category_count);
    if (head->torus[0]) {
        *w->at++ = TRACE_TORUS;
        for (unsigned i = 0; i < 3; i++)
            w->at = encode(w->at, head->torus[i]);
    }
    *writer = w;
    return 0;
}

void chil_trace_write_mark(struct chil_trace_writer *w)
{
    make_room(w);
    *w->at++ = TRACE_MARK;
}

static uint8_t *put_node(struct chil_trace_writer *w, uint8_t *at, unsigned node)
{
    if (node == w->state.node) return at;
    w->state.node = node;
    *at++ = TRACE_NODE;
    return encode(at, node);
}

static uint8_t *put_who(struct chil_trace_writer *w, uint8_t *at, const struct chil_trace_record *r)
{
    w->state.core = r->core % TRACE_CORES;
    w->state.pid = r->pid;
    w->state.tid = r->tid;
    w->state.category = r->category;
    w->told_who = true;
    *at++ = TRACE_WHO;
    at = encode(at, w->state.core);
    at = encode(at, (uint32_t)r->pid);
    at = encode(at, (uint32_t)r->tid);
    return encode(at, r->category);
}

void chil_trace_write(struct chil_trace_writer *w, const struct chil_trace_record *r)
{
    struct trace_state *s = &w->state;
    make_room(w);
    uint8_t *at = put_node(w, w->at, r->node);
    if (r->core != s->core || r->pid != s->pid || r->tid != s->tid || r->category != s->category ||
        !w->told_who)
        at = put_who(w, at, r);
    struct trace_place *place = trace_place(s, r->pc);
    uint64_t cycles = r->cycle - s->cores[s->core].cycle;
    bool known = place->pc == r->pc && place->word == r->word &&
                 ((place->size == r->size && place->tag == r->tag) || !r->access);
    bool next = r->pc == s->cores[s->core].pc + 4;
    unsigned few = cycles < TRACE_CYCLE_FOLLOWS ? (unsigned)cycles : TRACE_CYCLE_FOLLOWS;
    *at++ = (uint8_t)((unsigned)r->access | (next ? TRACE_NEXT : 0U) | (known ? TRACE_KNOWN : 0U) |
                      few * TRACE_CYCLE);
    if (few == TRACE_CYCLE_FOLLOWS) at = encode(at, trace_fold((int64_t)cycles));
    if (!next) at = encode(at, trace_fold((int32_t)(r->pc - s->cores[s->core].pc)));
    if (!known) {
        at = encode(at, r->word);
        if (r->access) at = encode(at, r->size);
        if (r->access) at = encode(at, r->tag);
        *place = (struct trace_place){r->pc, r->word, r->size, place->address, r->tag};
    }
    if (r->access) {
        at = encode(at, trace_fold((int32_t)(r->address - place->address)));
        place->address = r->address;
    }
    s->cores[s->core].cycle = r->cycle;
    s->cores[s->core].pc = r->pc;
    w->at = at;
    w->records++;
}

void chil_trace_write_transaction(struct chil_trace_writer *w, const struct chil_transaction *t)
{
    struct chil_transaction *last = &w->state.last;
    make_room(w);
    uint8_t *at = put_node(w, w->at, t->node);
    if (t->sender != last->sender || t->core != last->core || t->pid != last->pid ||
        t->tid != last->tid || !w->told_who) {
        *at++ = TRACE_WHO;
        at = encode(at, t->sender);
        at = encode(at, t->core);
        at = encode(at, (uint32_t)t->pid);
        at = encode(at, (uint32_t)t->tid);
        w->told_who = true;
    }
    bool size = t->size != last->size, names = t->category != last->category || t->tag != last->tag;
    *at++ = (uint8_t)(t->kind | t->level * TRACE_LEVEL | (size ? TRACE_SIZE_FOLLOWS : 0) |
                      (names ? TRACE_NAMES_FOLLOW : 0));
    at = encode(at, trace_fold((int64_t)(t->start - last->start)));
    at = encode(at, t->end - t->start);
    at = encode(at, trace_fold((int32_t)(t->pc - last->pc)));
    at = encode(at, trace_fold((int32_t)(t->address - last->address)));
    if (size) at = encode(at, t->size);
    if (names) {
        *at++ = t->category;
        *at++ = t->tag;
    }
    if (t->kind >= CHIL_PACKET) {
        const uint32_t numbers[TRACE_NUMBERS] = {t->receiver, t->hops, t->link, t->wait, t->packet};
        for (unsigned i = 0; i < TRACE_NUMBERS; i++)
            at = encode(at, numbers[i]);
    }
    *last = *t;
    w->at = at;
    w->records++;
}

uint64_t chil_trace_written(const struct chil_trace_writer *w)
{
    return w->records;
}

bool chil_trace_writer_close(struct chil_trace_writer *w)
{
    if (!w) return true;
    make_room(w);
    *w->at++ = TRACE_END;
    w->at = encode(w->at, w->records);
    flush(w);
    bool good = !w->failed && fflush(w->out) == 0;
    free(w);
    return good;
}

uint32_t chil_trace_crc(const char *path)
{
    unsigned char bytes[1 << 14];
    uLong crc = crc32(0, NULL, 0);
    int fd = named_open(path, NAMED_PROGRAM_MAX);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "rb");
    if (!file) {
        if (fd >= 0) (void)close(fd);
        return 0;
    }
    for (size_t length; (length = fread(bytes, 1, sizeof bytes, file)) > 0;)
        crc = crc32(crc, bytes, (uInt)length);
    bool good = !ferror(file);
    (void)fclose(file);
    if (!good) errno = EIO;
    return good ? (uint32_t)crc : 0;
}
