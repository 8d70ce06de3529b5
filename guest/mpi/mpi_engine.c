/* Messages: protocols, matching, queues.
 *
 * A message of at most mpi.eager bytes is sent at once (EAGER, then MORE packets in order). A
 * longer or a synchronous one is announced (REQUEST); when its receive is there, the receiver
 * answers (CLEAR). Then the DMA engine puts the bytes where CLEAR says (mpi_dma.c), or they come as
 * BULK packets, each with its offset, so that they may overtake each other.
 *
 * Everything to be sent stands in one queue. It is served in order for each process; a process
 * whose packets find no room does not delay the others. Nothing is sent while a packet is handled,
 * so that handling never waits.
 *
 * Arriving messages look for the first posted receive that matches; receives for the first
 * unexpected message. Messages between two processes in one context match in the order in which
 * they were sent.
 */
#include "mpi_note.h"

#include <pthread.h>
#include <stdio.h>

enum { PHASE_EAGER, PHASE_REQUEST, PHASE_ANNOUNCED, PHASE_BULK, PHASE_PUT };
enum { BULK_DATA = PACKET_DATA - 8, REFUSED = 6, CONTROL = 48 };

/* First in EAGER and REQUEST packets; the packet's word is the number of the sender's request. */
struct envelope {
    uint64_t context;
    int32_t source, tag;   /* source: rank in the communicator */
    uint32_t bytes, check; /* data are aligned to 8 */
};
enum { EAGER_DATA = PACKET_DATA - sizeof(struct envelope) };

struct clear {
    uint32_t request, bytes, address, counter; /* counter: of the DMA engine; 0: BULK packets */
};

struct outgoing {
    struct outgoing *next;
    struct request *request; /* NULL: a packet of a protocol */
    int place;
    uint32_t type, word, bytes;
    uint8_t data[CONTROL];
};

static struct {
    struct outgoing *first, **last, *unused;
    struct request *posted, **posted_last;
    struct message *unexpected, **unexpected_last;
    struct request *partial;          /* receives that wait for MORE */
    struct message *partial_messages; /* of Mprobe, or taken by a receive */
    struct request *pool;
    unsigned live;  /* requests */
    unsigned moves; /* packets and rounds so far */
    bool refused;
    const struct request *awaited; /* by a blocking call: it returns as soon as this is complete */
} engine;

static uint8_t buffer[PACKET_DATA] __attribute__((aligned(16)));

/* ---- requests ---- */

struct request *mpi_request(MPI_Request handle)
{
    return mpi_object(KIND_REQUEST, handle);
}

struct request *mpi_request_new(enum request_kind kind)
{
    struct request *r = engine.pool;
    if (r)
        engine.pool = r->next;
    else
        r = mpi_alloc(sizeof *r);
    memset(r, 0, sizeof *r);
    r->kind = kind;
    r->handle = mpi_handle_new(KIND_REQUEST, r);
    engine.live++;
    return r;
}

void mpi_request_delete(struct request *r)
{
    mpi_type_release(r->type);
    if (r->comm) mpi_comm_release(r->comm);
    free(r->bounce);
    if (r->kind == REQUEST_SCHEDULE && r->schedule) mpi_schedule_free(r->schedule);
    mpi_handle_free(r->handle);
    engine.live--;
    r->next = engine.pool;
    engine.pool = r;
}

void mpi_request_done(struct request *r)
{
    r->complete = true;
    engine.moves++;
    if (r->after) r->after(r);
    if (r->schedule && r->kind != REQUEST_SCHEDULE)
        mpi_schedule_step_done(r->schedule);
    else if (r->freed) {
        mpi_note_end(r);
        mpi_request_delete(r);
    }
}

/* ---- the queue ---- */

static struct outgoing *enqueue(int place)
{
    struct outgoing *out = engine.unused;
    if (out)
        engine.unused = out->next;
    else
        out = mpi_alloc(sizeof *out);
    if (!engine.last) engine.last = &engine.first;
    out->next = NULL;
    out->request = NULL;
    out->place = place;
    *engine.last = out;
    engine.last = &out->next;
    return out;
}

void mpi_send_control(int place, enum packet_type type, uint32_t word, const void *data,
                      unsigned bytes)
{
    struct outgoing *out = enqueue(place);
    out->type = type;
    out->word = word;
    out->bytes = bytes;
    if (bytes) memcpy(out->data, data, bytes);
}

static bool send(int place, enum packet_type type, uint32_t word, void *data, unsigned bytes,
                 bool unordered)
{
    const struct packet packet = {place, type, word, bytes, unordered, data};
    if (!mpi_packet_send(&packet)) return false;
    engine.moves++;
    return true;
}

static uint32_t number_of(const struct request *r)
{
    return (uint32_t)r->handle & 0xffffff;
}

static struct request *request_of(uint32_t number)
{
    return mpi_request((int)(KIND_REQUEST << 24 | number));
}

static void fill_envelope(const struct request *r)
{
    struct envelope *e = (struct envelope *)buffer;
    e->context = r->context;
    e->source = r->sender;
    e->tag = r->tag;
    e->bytes = r->bytes;
    e->check = mpi.check ? mpi_check_word(r) : 0;
}

static bool push_eager(struct request *r)
{
    size_t left = r->bytes - r->done, room = r->done ? PACKET_DATA : EAGER_DATA;
    bool first = r->phase == PHASE_EAGER && !r->done;
    for (;;) {
        size_t part = left < room ? left : room, skip = first ? sizeof(struct envelope) : 0;
        if (first) fill_envelope(r);
        if (part) mpi_type_pack(r->type, r->buffer, r->done, buffer + skip, part);
        if (!send(r->place, first ? PACKET_EAGER : PACKET_MORE, number_of(r), buffer, skip + part,
                  false))
            return false;
        first = false;
        r->done += part;
        left -= part;
        if (!left) break;
        room = PACKET_DATA;
    }
    mpi_request_done(r);
    return true;
}

static bool push_bulk(struct request *r)
{
    uint32_t *head = (uint32_t *)buffer;
    while (r->done < r->bytes) {
        size_t part = r->bytes - r->done < BULK_DATA ? r->bytes - r->done : BULK_DATA;
        head[0] = r->done;
        mpi_type_pack(r->type, r->buffer, r->done, buffer + 8, part);
        if (!send(r->place, PACKET_BULK, r->peer_request, buffer, 8 + part, true)) return false;
        r->done += part;
    }
    mpi_request_done(r);
    return true;
}

/* True: it needs the queue no more. */
static bool push_request(struct request *r)
{
    if (r->phase == PHASE_EAGER) return push_eager(r);
    if (r->phase == PHASE_BULK) return push_bulk(r);
    if (r->phase == PHASE_PUT) return mpi_dma_put(r);
    fill_envelope(r);
    if (!send(r->place, PACKET_REQUEST, number_of(r), buffer, sizeof(struct envelope), false))
        return false;
    r->phase = PHASE_ANNOUNCED;
    return true;
}

static bool push(struct outgoing *out)
{
    if (out->request) return push_request(out->request);
    memcpy(buffer, out->data, out->bytes);
    return send(out->place, out->type, out->word, buffer, out->bytes, false);
}

static void push_all(void)
{
    int refused[REFUSED];
    unsigned count = 0;
    struct outgoing **at = &engine.first, *out;
    engine.refused = false;
    if (*at) mpi_packet_note();
    while ((out = *at) && count < REFUSED) {
        unsigned i = 0;
        while (i < count && refused[i] != out->place >> 2)
            i++;
        if (i < count || !push(out)) {
            if (i == count) refused[count++] = out->place >> 2;
            at = &out->next;
            continue;
        }
        *at = out->next;
        if (!*at) engine.last = at;
        out->next = engine.unused;
        engine.unused = out;
    }
    engine.refused = count != 0;
}

static void forget_outgoing(const struct request *r)
{
    for (struct outgoing **at = &engine.first; *at; at = &(*at)->next) {
        struct outgoing *out = *at;
        if (out->request != r) continue;
        *at = out->next;
        if (!*at) engine.last = at;
        out->next = engine.unused;
        engine.unused = out;
        return;
    }
}

/* ---- receiving ---- */

static void set_source(struct request *r, int source, int tag, size_t bytes)
{
    r->status.MPI_SOURCE = source;
    r->status.MPI_TAG = tag;
    r->status.MPI_ERROR = bytes > r->room ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
    r->status.chiliad_bytes = (int)(bytes > r->room ? r->room : bytes);
    r->bytes = bytes;
}

static void store(struct request *r, size_t at, const void *data, size_t bytes)
{
    if (at >= r->room) return;
    if (bytes > r->room - at) bytes = r->room - at;
    if (bytes) mpi_type_unpack(r->type, (void *)r->buffer, at, data, bytes);
}

static void remove_request(struct request **list, const struct request *r)
{
    while (*list && *list != r)
        list = &(*list)->next;
    if (*list) *list = r->next;
}

static void add_posted(struct request *r)
{
    if (!engine.posted_last || !engine.posted) engine.posted_last = &engine.posted;
    r->next = NULL;
    *engine.posted_last = r;
    engine.posted_last = &r->next;
}

/* The first receive for a message, taken from the list. */
static struct request *find_posted(uint64_t context, int source, int tag)
{
    for (struct request **at = &engine.posted; *at; at = &(*at)->next) {
        struct request *r = *at;
        if (r->context != context || (r->peer != source && r->peer != MPI_ANY_SOURCE) ||
            (r->tag != tag && r->tag != MPI_ANY_TAG))
            continue;
        *at = r->next;
        if (!*at) engine.posted_last = at;
        return r;
    }
    return NULL;
}

static void remove_posted(const struct request *r)
{
    for (struct request **at = &engine.posted; *at; at = &(*at)->next)
        if (*at == r) {
            *at = r->next;
            if (!*at) engine.posted_last = at;
            return;
        }
}

bool (*mpi_rma_incoming)(struct message *message);

static void add_unexpected(struct message *m)
{
    if (m->context >> 63 && mpi_rma_incoming && mpi_rma_incoming(m)) return;
    if (!engine.unexpected_last || !engine.unexpected) engine.unexpected_last = &engine.unexpected;
    m->next = NULL;
    *engine.unexpected_last = m;
    engine.unexpected_last = &m->next;
}

static struct message *new_message(const struct packet *p, const struct envelope *e,
                                   bool rendezvous)
{
    struct message *m = mpi_alloc(sizeof *m);
    *m = (struct message){.context = e->context,
                          .source = e->source,
                          .tag = e->tag,
                          .place = p->place,
                          .number = p->word,
                          .bytes = e->bytes,
                          .check = e->check,
                          .rendezvous = rendezvous};
    if (!rendezvous) m->data = mpi_alloc(m->bytes);
    return m;
}

static void free_message(struct message *m)
{
    free(m->data);
    free(m);
}

static void clear_to_send(struct request *r)
{
    struct clear clear = {number_of(r), r->bytes < r->room ? r->bytes : r->room, 0, 0};
    r->bytes = clear.bytes;
    r->done = 0;
    if (r->bytes && mpi_dma_is_there() && mpi_dma_expect(r, &clear.address))
        clear.counter = (uint32_t)r->counter;
    mpi_send_control(r->place, PACKET_CLEAR, r->peer_request, &clear, sizeof clear);
    if (!r->bytes) mpi_request_done(r);
}

static void on_eager(const struct packet *p)
{
    const struct envelope *e = (const struct envelope *)p->data;
    struct request *r = find_posted(e->context, e->source, e->tag);
    size_t bytes = p->bytes - sizeof *e;
    const void *data = e + 1;
    if (!r) {
        struct message *m = new_message(p, e, false);
        memcpy(m->data, data, bytes);
        m->done = bytes;
        add_unexpected(m);
        return;
    }
    r->place = p->place;
    r->peer_request = p->word;
    set_source(r, e->source, e->tag, e->bytes);
    if (mpi.check) mpi_check_match(r, e->source, e->tag, e->bytes, e->check);
    store(r, 0, data, bytes);
    r->done = bytes;
    if (r->done == r->bytes) {
        mpi_request_done(r);
        return;
    }
    r->next = engine.partial;
    engine.partial = r;
}

static void message_is_whole(struct message *m)
{
    struct request *r = m->request;
    if (!r) return;
    store(r, 0, m->data, m->bytes);
    free_message(m);
    mpi_request_done(r);
}

static struct message *partial_message(struct message *list, const struct packet *p)
{
    while (list && !(list->place == p->place && list->number == p->word && !list->rendezvous &&
                     list->done < list->bytes))
        list = list->next;
    return list;
}

static void remove_message(struct message **list, const struct message *m)
{
    while (*list && *list != m)
        list = &(*list)->next;
    if (*list) *list = m->next;
}

static void on_more(const struct packet *p)
{
    struct request *r = engine.partial;
    while (r && !(r->place == p->place && r->peer_request == p->word))
        r = r->next;
    if (r) {
        store(r, r->done, p->data, p->bytes);
        r->done += p->bytes;
        if (r->done < r->bytes) return;
        remove_request(&engine.partial, r);
        mpi_request_done(r);
        return;
    }
    struct message *taken = partial_message(engine.partial_messages, p),
                   *m = taken ? taken : partial_message(engine.unexpected, p);
    if (!m) return;
    memcpy(m->data + m->done, p->data, p->bytes);
    m->done += p->bytes;
    if (m->done < m->bytes || !taken) return;
    remove_message(&engine.partial_messages, m);
    message_is_whole(m);
}

static void on_request(const struct packet *p)
{
    const struct envelope *e = (const struct envelope *)p->data;
    struct request *r = find_posted(e->context, e->source, e->tag);
    if (!r) {
        add_unexpected(new_message(p, e, true));
        return;
    }
    r->place = p->place;
    r->peer_request = p->word;
    set_source(r, e->source, e->tag, e->bytes);
    if (mpi.check) mpi_check_match(r, e->source, e->tag, e->bytes, e->check);
    clear_to_send(r);
}

static void on_clear(const struct packet *p)
{
    const struct clear *clear = (const struct clear *)p->data;
    struct request *r = request_of(p->word);
    if (!r) return;
    r->peer_request = clear->request;
    r->phase = clear->counter ? PHASE_PUT : PHASE_BULK;
    r->target = clear->address;
    r->target_counter = clear->counter;
    r->bytes = clear->bytes;
    r->done = 0;
    if (!r->bytes)
        mpi_request_done(r);
    else
        enqueue(r->place)->request = r;
}

static void on_bulk(const struct packet *p)
{
    struct request *r = request_of(p->word);
    if (!r) return;
    store(r, *(const uint32_t *)p->data, p->data + 8, p->bytes - 8);
    r->done += p->bytes - 8;
    if (r->done == r->bytes) mpi_request_done(r);
}

static void on_cancel(const struct packet *p)
{
    uint32_t found = 0;
    for (struct message **at = &engine.unexpected; *at; at = &(*at)->next) {
        struct message *m = *at;
        if (m->place != p->place || m->number != p->word || !m->rendezvous) continue;
        *at = m->next;
        if (!*at) engine.unexpected_last = at;
        free_message(m);
        found = 1;
        break;
    }
    mpi_send_control(p->place, PACKET_CANCELLED, p->word, &found, sizeof found);
}

static void on_cancelled(const struct packet *p)
{
    struct request *r = request_of(p->word);
    if (!r || !*(const uint32_t *)p->data || r->complete) return;
    r->cancelled = true;
    r->status.chiliad_cancelled = 1;
    mpi_request_done(r);
}

static void (*const handlers[])(const struct packet *) = {
    [PACKET_EAGER] = on_eager,        [PACKET_MORE] = on_more, [PACKET_REQUEST] = on_request,
    [PACKET_CLEAR] = on_clear,        [PACKET_BULK] = on_bulk, [PACKET_CANCEL] = on_cancel,
    [PACKET_CANCELLED] = on_cancelled};

/* ---- progress ---- */

void mpi_progress(void)
{
    struct packet packet;
    mpi_packet_begin();
    while (!(engine.awaited && engine.awaited->complete) && mpi_packet_receive(&packet)) {
        engine.moves++;
        handlers[packet.type](&packet);
    }
    mpi_dma_progress();
    push_all();
    mpi_schedules_progress();
}

/* Of several threads that wait one looks at the network, without the lock; the others wait for it.
 */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t progress;
    bool looks;
} threads = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};

void mpi_lock(void)
{
    (void)pthread_mutex_lock(&threads.lock);
}

void mpi_unlock(void)
{
    if (threads.looks) mpi_packet_kick(); /* it has to send what this call left */
    (void)pthread_mutex_unlock(&threads.lock);
}

static void wait_among_threads(void)
{
    if (threads.looks) {
        mpi_packet_kick();
        mpi_note_wait();
        (void)pthread_cond_wait(&threads.progress, &threads.lock);
        mpi_note_waited();
        return;
    }
    threads.looks = true;
    (void)pthread_mutex_unlock(&threads.lock);
    mpi_packet_wait(engine.refused);
    (void)pthread_mutex_lock(&threads.lock);
    threads.looks = false;
    (void)pthread_cond_broadcast(&threads.progress);
}

void mpi_progress_wait(void)
{
    unsigned before = engine.moves;
    mpi_progress();
    if (engine.moves != before)
        (void)(mpi.thread_level == MPI_THREAD_MULTIPLE &&
               pthread_cond_broadcast(&threads.progress));
    else if (mpi.thread_level == MPI_THREAD_MULTIPLE)
        wait_among_threads();
    else
        mpi_packet_wait(engine.refused);
}

void mpi_wait_for(struct request *r)
{
    engine.awaited = mpi.thread_level == MPI_THREAD_MULTIPLE ? NULL : r;
    while (!r->complete)
        mpi_progress_wait();
    engine.awaited = NULL;
}

void mpi_engine_quiet(void)
{
    while (engine.first || mpi_dma_sends())
        mpi_progress_wait();
}

const struct request *mpi_awaited(void)
{
    return engine.awaited;
}

const struct message *mpi_unexpected(void)
{
    return engine.unexpected;
}

unsigned mpi_live_requests(void)
{
    return engine.live;
}

/* ---- starting ---- */

static void start_send(struct request *r)
{
    r->place = mpi_place_of(group_world(comm_peers(r->comm), r->peer));
    r->bytes = (size_t)r->count * r->type->size;
    r->phase = r->mode == SEND_SYNCHRONOUS || r->bytes > mpi.eager ? PHASE_REQUEST : PHASE_EAGER;
    if (!engine.first && push_request(r)) return;
    enqueue(r->place)->request = r;
}

void mpi_take_message(struct message *m, struct request *r)
{
    r->place = m->place;
    r->peer_request = m->number;
    set_source(r, m->source, m->tag, m->bytes);
    if (mpi.check) mpi_check_match(r, m->source, m->tag, m->bytes, m->check);
    if (m->rendezvous) {
        free_message(m);
        clear_to_send(r);
        return;
    }
    if (m->done == m->bytes) {
        store(r, 0, m->data, m->bytes);
        free_message(m);
        mpi_request_done(r);
        return;
    }
    m->request = r;
    if (m->handle) return; /* is in the list already */
    m->next = engine.partial_messages;
    engine.partial_messages = m;
}

struct message *mpi_find_message(uint64_t context, int source, int tag, bool take)
{
    for (struct message **at = &engine.unexpected; *at; at = &(*at)->next) {
        struct message *m = *at;
        if (m->context != context || (source != m->source && source != MPI_ANY_SOURCE) ||
            (tag != m->tag && tag != MPI_ANY_TAG))
            continue;
        if (!take) return m;
        *at = m->next;
        if (!*at) engine.unexpected_last = at;
        if (take && m->done < m->bytes && !m->rendezvous) {
            m->next = engine.partial_messages;
            engine.partial_messages = m;
        }
        return m;
    }
    return NULL;
}

static void start_receive(struct request *r)
{
    r->room = (size_t)r->count * r->type->size;
    struct message *m = mpi_find_message(r->context, r->peer, r->tag, true);
    if (!m) {
        add_posted(r);
        return;
    }
    if (m->done < m->bytes && !m->rendezvous) { /* is in the list of partial messages now */
        set_source(r, m->source, m->tag, m->bytes);
        if (mpi.check) mpi_check_match(r, m->source, m->tag, m->bytes, m->check);
        m->request = r;
        return;
    }
    mpi_take_message(m, r);
}

void mpi_request_start(struct request *r)
{
    r->active = true;
    r->complete = r->cancelled = false;
    r->done = 0;
    r->status = (MPI_Status){.MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG};
    if (r->is_null) {
        r->status.MPI_SOURCE = MPI_PROC_NULL;
        mpi_request_done(r);
    } else if (r->kind == REQUEST_SEND)
        start_send(r);
    else
        start_receive(r);
}

static struct request *make(enum request_kind kind, const void *data, int count, struct type *type,
                            int peer, int tag, struct comm *comm, uint64_t context)
{
    struct request *r = mpi_request_new(kind);
    r->buffer = data;
    r->count = count;
    r->type = type;
    mpi_type_retain(type);
    r->peer = peer;
    r->tag = tag;
    r->comm = comm;
    comm->refs++;
    r->context = context;
    r->sender = comm->local->rank;
    r->is_null = peer == MPI_PROC_NULL;
    return r;
}

struct request *mpi_isend(const void *data, int count, struct type *type, int peer, int tag,
                          struct comm *comm, uint64_t context, enum send_mode mode)
{
    struct request *r = make(REQUEST_SEND, data, count, type, peer, tag, comm, context);
    r->mode = mode;
    return r;
}

struct request *mpi_irecv(void *data, int count, struct type *type, int peer, int tag,
                          struct comm *comm, uint64_t context)
{
    return make(REQUEST_RECEIVE, data, count, type, peer, tag, comm, context);
}

void mpi_cancel(struct request *r)
{
    if (r->complete || r->is_null) return;
    if (r->kind == REQUEST_RECEIVE) {
        bool posted = false;
        for (const struct request *p = engine.posted; p; p = p->next)
            posted |= p == r;
        if (!posted) return;
        remove_posted(r);
    } else if (r->kind == REQUEST_SEND) {
        if (r->phase == PHASE_ANNOUNCED) {
            mpi_send_control(r->place, PACKET_CANCEL, number_of(r), NULL, 0);
            return;
        }
        if (r->phase == PHASE_BULK || r->phase == PHASE_PUT || r->done) return;
        forget_outgoing(r);
    } else
        return;
    r->cancelled = true;
    r->status.chiliad_cancelled = 1;
    mpi_request_done(r);
}
