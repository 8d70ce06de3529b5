/* One-sided communication.
 *
 * Every operation and every synchronisation is a message to the target, whose library acts on it
 * when it makes progress in any call: a target that computes for long delays passive origins.
 * Messages of a window between two processes are numbered and acted on in order, so a
 * synchronisation is complete when its own message is.
 *
 *   fence            asks all targets of the epoch whether they have acted on all, then a barrier
 *   lock             asks for the lock and waits for it; unlock waits until the target has acted on
 * all start, complete  waits for the posts of the targets; the target waits for the completion
 *
 * What a message describes: the layout in the target's window, as a predefined type or as blocks,
 * and packed data.
 */
#include "mpi_impl.h"

#include <stdio.h>

struct attribute **mpi_win_attributes(MPI_Win win);
int mpi_win_predefined(MPI_Win win, int key, void **value);
int mpi_group_give(struct group *group, MPI_Group *out);
struct errhandler *mpi_errhandler_retain(struct errhandler *handler);
void mpi_errhandler_release(struct errhandler *handler);
int mpi_errhandler_set(struct errhandler **place, MPI_Errhandler handle, enum kind kind);
int mpi_errhandler_get(struct errhandler *const *place, bool is_fatal, MPI_Errhandler *out);
void mpi_op_apply_basic(const struct op *op, unsigned basic, const void *in, void *inout,
                        size_t count);
struct info *mpi_info_copy(const struct info *info);
void mpi_info_release(struct info *info);

enum what {
    PUT,
    GET,
    ACCUMULATE,
    GET_ACCUMULATE,
    SWAP,
    REPLY,
    FLUSH,
    LOCK,
    UNLOCK,
    GRANT,
    POST,
    COMPLETE
};

struct head {
    uint32_t what, number; /* number: in the order of messages to this process */
    uint32_t id;           /* of the origin's operation */
    MPI_Aint place, extent;
    int32_t count;
    MPI_Datatype type;                /* predefined, or 0: blocks follow */
    uint32_t blocks, op, bytes, size; /* bytes: of data; size: of an element of the layout */
    uint32_t spare;
};

struct pending { /* an operation whose answer has not come */
    struct pending *next;
    uint32_t id;
    int rank;
    void *result;
    int count;
    struct type *type;
    struct request *request;
};

struct early { /* a message that came before an earlier one */
    struct early *next;
    int source;
    struct head *head;
};

struct waiting { /* for the lock */
    struct waiting *next;
    int rank, kind;
};

struct peer {
    uint32_t sent, acted; /* messages to it, from it */
    uint32_t operations;  /* to it since its last flush */
    uint32_t posts, completes;
    int locked; /* by this process, the kind */
};

struct win {
    int handle;
    struct comm *comm;
    char *base;
    MPI_Aint size;
    int unit, flavor, model;
    void *owned;
    struct peer *peers;
    struct pending *pending;
    struct early *early;
    struct waiting *waiting;
    uint32_t next_id;
    unsigned holders; /* of this process's lock */
    bool exclusive;
    unsigned grants; /* that came, and that were asked for */
    struct group *exposed, *started;
    struct errhandler *handler;
    struct attribute *attributes;
    struct info *info;
    struct win *next;
    char name[MPI_MAX_OBJECT_NAME];
};

#define CONTEXT (UINT64_C(1) << 63)
enum { TAG = 0 };

static struct win *windows;

static struct win *win_of(MPI_Win handle)
{
    return mpi_object(KIND_WIN, handle);
}

static int fail(struct win *win, int class, const char *text)
{
    return win ? mpi_fail_object(win->handle, win->handler, class, text)
               : mpi_fail(NULL, class, "%s", text);
}

#define WIN(variable, number)                                                                      \
    struct win *variable = win_of(number);                                                         \
    if (!variable)                                                                                 \
    return mpi_fail(NULL, MPI_ERR_WIN,                                                             \
                    (number) == MPI_WIN_NULL ? "the window is MPI_WIN_NULL" : "this is no window")

/* ---- sending ---- */

/* A message: head, blocks of the layout, data. Returns where data go. */
static char *make(struct head **out, const struct type *type, size_t bytes)
{
    bool derived = type && !type->predefined;
    size_t blocks = derived ? type->block_count * sizeof(struct block) : 0;
    blocks = (blocks + 7) / 8 * 8;
    struct head *head = *out = mpi_alloc(sizeof *head + blocks + bytes);
    head->bytes = (uint32_t)bytes;
    if (derived) {
        head->blocks = type->block_count;
        memcpy(head + 1, type->blocks, type->block_count * sizeof(struct block));
        head->extent = type_extent(type);
        head->size = (uint32_t)type->size;
    } else if (type)
        head->type = type->handle;
    return (char *)(head + 1) + blocks;
}

static const char *data_of(const struct head *head)
{
    size_t blocks = head->blocks * sizeof(struct block);
    return (const char *)(head + 1) + (blocks + 7) / 8 * 8;
}

static size_t length_of(const struct head *head)
{
    return (size_t)(data_of(head) - (const char *)head) + head->bytes;
}

static void post_message(struct win *win, int rank, struct head *head, enum what what)
{
    head->what = what;
    head->number = win->peers[rank].sent++;
    struct request *r = mpi_isend(head, (int)length_of(head), mpi.byte, rank, TAG, win->comm,
                                  win->comm->context | CONTEXT, SEND_STANDARD);
    r->bounce = head;
    r->freed = true; /* it goes when it has been sent, with the copy */
    mpi_request_start(r);
}

static void post_simple(struct win *win, int rank, enum what what, uint32_t id, uint32_t op)
{
    struct head *head;
    (void)make(&head, NULL, 0);
    head->id = id;
    head->op = op;
    post_message(win, rank, head, what);
}

/* ---- acting on messages ---- */

/* The layout as a type, for packing; its blocks are the message's. */
static const struct type *layout_of(const struct head *head, struct type *made)
{
    if (head->type) return mpi_type(head->type);
    *made = (struct type){.refs = 1,
                          .size = head->size,
                          .ub = head->extent,
                          .block_count = head->blocks,
                          .blocks = (const struct block *)(head + 1)};
    return made;
}

static char *target_of(struct win *win, const struct head *head)
{
    if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC) return (char *)head->place;
    return win->base + head->place * win->unit;
}

static bool is_inside(struct win *win, const struct head *head, const struct type *type)
{
    if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC || !head->count) return true;
    MPI_Aint low = 0, high = 0, from = head->place * win->unit;
    for (uint32_t i = 0; i < type->block_count; i++) {
        MPI_Aint end = type->blocks[i].at +
                       (MPI_Aint)(type->blocks[i].count * mpi_basics[type->blocks[i].basic].size);
        if (type->blocks[i].at < low) low = type->blocks[i].at;
        if (end > high) high = end;
    }
    MPI_Aint last = (MPI_Aint)(head->count - 1) * type_extent(type);
    return from + low >= 0 && from + last + high <= win->size;
}

static void accumulate(const struct op *op, const struct type *type, char *target, int count,
                       const char *data)
{
    unsigned number = (unsigned)type->handle & 0xffffff;
    if (op->handle == MPI_NO_OP || !type->size) return;
    if (op->handle == MPI_REPLACE) {
        mpi_type_unpack(type, target, 0, data, (size_t)count * type->size);
        return;
    }
    if (type->predefined && number >= BASIC_PAIRS) {
        char *values = mpi_alloc((size_t)count * (size_t)type_extent(type));
        mpi_type_unpack(type, values, 0, data, (size_t)count * type->size);
        mpi_op_apply(op, values, target, count, (struct type *)type);
        free(values);
        return;
    }
    for (int i = 0; i < count; i++)
        for (uint32_t k = 0; k < type->block_count; k++) {
            const struct block *b = &type->blocks[k];
            mpi_op_apply_basic(op, b->basic, data, target + i * type_extent(type) + b->at,
                               b->count);
            data += b->count * mpi_basics[b->basic].size;
        }
}

static void reply(struct win *win, int rank, const struct head *head, const struct type *type,
                  const char *from)
{
    struct head *answer;
    size_t bytes = (size_t)head->count * type->size;
    char *data = make(&answer, NULL, bytes);
    if (bytes) mpi_type_pack(type, from, 0, data, bytes);
    answer->id = head->id;
    post_message(win, rank, answer, REPLY);
}

static void finish_pending(struct win *win, uint32_t id, const char *data, size_t bytes)
{
    struct pending **at = &win->pending;
    while (*at && (*at)->id != id)
        at = &(*at)->next;
    struct pending *p = *at;
    if (!p) return;
    *at = p->next;
    size_t room = p->type ? (size_t)p->count * p->type->size : 0;
    if (room && bytes) mpi_type_unpack(p->type, p->result, 0, data, bytes < room ? bytes : room);
    mpi_type_release(p->type);
    if (p->request) mpi_request_done(p->request);
    free(p);
}

static void grant_next(struct win *win)
{
    while (win->waiting) {
        struct waiting *w = win->waiting;
        bool exclusive = w->kind == MPI_LOCK_EXCLUSIVE;
        if (win->holders && (exclusive || win->exclusive)) return;
        win->waiting = w->next;
        win->holders++;
        win->exclusive = exclusive;
        post_simple(win, w->rank, GRANT, 0, 0);
        free(w);
    }
}

static void ask_for_lock(struct win *win, int rank, int kind)
{
    struct waiting **at = &win->waiting, *w = mpi_alloc(sizeof *w);
    while (*at)
        at = &(*at)->next;
    *w = (struct waiting){NULL, rank, kind};
    *at = w;
    grant_next(win);
}

static void act_on_data(struct win *win, int source, const struct head *head)
{
    struct type made;
    const struct type *type = layout_of(head, &made);
    char *target = target_of(win, head);
    const char *data = data_of(head);
    if (!is_inside(win, head, type)) {
        (void)fail(win, MPI_ERR_RMA_RANGE, "an operation of another rank is outside the window");
        return;
    }
    switch (head->what) {
    case PUT:
        if (head->bytes) mpi_type_unpack(type, target, 0, data, head->bytes);
        break;
    case GET: reply(win, source, head, type, target); break;
    case GET_ACCUMULATE: reply(win, source, head, type, target); /* fall through */
    case ACCUMULATE: accumulate(mpi_op((MPI_Op)head->op), type, target, head->count, data); break;
    case SWAP:
        reply(win, source, head, type, target);
        if (memcmp(target, data, type->size) == 0) memcpy(target, data + type->size, type->size);
        break;
    }
}

static void act(struct win *win, int source, const struct head *head)
{
    switch ((enum what)head->what) {
    case REPLY: finish_pending(win, head->id, data_of(head), head->bytes); break;
    case FLUSH: post_simple(win, source, REPLY, head->id, 0); break;
    case LOCK: ask_for_lock(win, source, (int)head->op); break;
    case UNLOCK:
        win->holders--;
        post_simple(win, source, REPLY, head->id, 0);
        grant_next(win);
        break;
    case GRANT: win->grants++; break;
    case POST: win->peers[source].posts++; break;
    case COMPLETE: win->peers[source].completes++; break;
    default: act_on_data(win, source, head);
    }
}

/* In the order of numbers; later ones wait. */
static void accept(struct win *win, int source, struct head *head)
{
    struct peer *peer = &win->peers[source];
    if (head->number != peer->acted) {
        struct early *early = mpi_alloc(sizeof *early);
        *early = (struct early){win->early, source, head};
        win->early = early;
        return;
    }
    peer->acted++;
    act(win, source, head);
    free(head);
    for (struct early **at = &win->early; *at; at = &(*at)->next) {
        struct early *early = *at;
        if (early->source != source || early->head->number != peer->acted) continue;
        *at = early->next;
        head = early->head;
        free(early);
        accept(win, source, head);
        return;
    }
}

static struct win *win_of_context(uint64_t context)
{
    struct win *win = windows;
    while (win && (win->comm->context | CONTEXT) != context)
        win = win->next;
    return win;
}

static void arrived(struct request *r)
{
    struct win *win = win_of_context(r->context);
    r->freed = true;
    accept(win, r->status.MPI_SOURCE, (struct head *)r->buffer);
}

/* From the engine: a message of a window's context. False: the window is not known yet. */
static bool incoming(struct message *m)
{
    struct win *win = win_of_context(m->context);
    if (!win) return false;
    struct request *r = mpi_irecv(mpi_alloc(m->bytes), (int)m->bytes, mpi.byte, m->source, TAG,
                                  win->comm, m->context);
    r->room = m->bytes;
    r->after = arrived;
    r->active = true;
    mpi_take_message(m, r);
    return true;
}

/* ---- waiting ---- */

static bool has_pending(const struct win *win, int rank)
{
    for (const struct pending *p = win->pending; p; p = p->next)
        if (rank < 0 || p->rank == rank) return true;
    return false;
}

static void wait_pending(const struct win *win, int rank)
{
    while (has_pending(win, rank))
        mpi_progress_wait();
}

static struct pending *add_pending(struct win *win, int rank, void *result, int count,
                                   struct type *type)
{
    struct pending *p = mpi_alloc(sizeof *p);
    *p = (struct pending){win->pending, ++win->next_id, rank, result, count, type, NULL};
    mpi_type_retain(type);
    return win->pending = p;
}

static void ask(struct win *win, int rank, enum what what)
{
    post_simple(win, rank, what, add_pending(win, rank, NULL, 0, NULL)->id, 0);
    win->peers[rank].operations = 0;
}

static void flush(struct win *win, int rank)
{
    if (win->peers[rank].operations) ask(win, rank, FLUSH);
}

static void flush_all(struct win *win)
{
    for (int i = 0; i < win->comm->local->count; i++)
        flush(win, i);
    wait_pending(win, -1);
}

/* ---- windows ---- */

static int create(void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm handle, int flavor,
                  void *owned, MPI_Win *out)
{
    COMM(comm, handle);
    if (comm->remote) return mpi_fail(comm, MPI_ERR_COMM, "this is an inter-communicator");
    if (size < 0) return mpi_fail(comm, MPI_ERR_SIZE, "the size is %ld", size);
    if (unit < 1) return mpi_fail(comm, MPI_ERR_DISP, "the unit is %d", unit);
    struct win *win = mpi_alloc(sizeof *win);
    uint64_t context = mpi_context_agree(comm);
    *win = (struct win){.base = base,
                        .size = size,
                        .unit = unit,
                        .flavor = flavor,
                        .model = MPI_WIN_UNIFIED,
                        .owned = owned};
    win->comm = mpi_comm_new(context, mpi_group_retain(comm->local), NULL);
    win->peers = mpi_alloc((size_t)comm->local->count * sizeof *win->peers);
    win->info = mpi_info_copy(mpi_object(KIND_INFO, info));
    win->handle = mpi_handle_new(KIND_WIN, win);
    win->next = windows;
    windows = win;
    mpi_rma_incoming = incoming;
    mpi_barrier(win->comm); /* no message before all know it */
    *out = win->handle;
    return MPI_SUCCESS;
}

MPI(int, Win_create,
    (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win))
{
    ENTER("Win_create");
    return create(base, size, unit, info, comm, MPI_WIN_FLAVOR_CREATE, NULL, win);
}

MPI(int, Win_allocate,
    (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win))
{
    ENTER("Win_allocate");
    void *memory = mpi_alloc(size > 0 ? (size_t)size : 0);
    *(void **)base = memory;
    return create(memory, size, unit, info, comm, MPI_WIN_FLAVOR_ALLOCATE, memory, win);
}

MPI(int, Win_allocate_shared,
    (MPI_Aint size, int unit, MPI_Info info, MPI_Comm handle, void *base, MPI_Win *win))
{
    ENTER("Win_allocate_shared");
    COMM(comm, handle);
    if (comm->local->count > 1)
        return mpi_fail(comm, MPI_ERR_RMA_SHARED, "memory of several processes cannot be shared");
    void *memory = mpi_alloc(size > 0 ? (size_t)size : 0);
    *(void **)base = memory;
    return create(memory, size, unit, info, handle, MPI_WIN_FLAVOR_SHARED, memory, win);
}

MPI(int, Win_shared_query, (MPI_Win handle, int rank, MPI_Aint *size, int *unit, void *base))
{
    ENTER("Win_shared_query");
    WIN(win, handle);
    (void)rank;
    if (win->flavor != MPI_WIN_FLAVOR_SHARED)
        return fail(win, MPI_ERR_RMA_FLAVOR, "the window is not shared");
    *size = win->size;
    *unit = win->unit;
    *(void **)base = win->base;
    return MPI_SUCCESS;
}

MPI(int, Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win))
{
    ENTER("Win_create_dynamic");
    return create(NULL, 0, 1, info, comm, MPI_WIN_FLAVOR_DYNAMIC, NULL, win);
}

MPI(int, Win_attach, (MPI_Win handle, void *base, MPI_Aint size))
{
    ENTER("Win_attach");
    (void)base;
    WIN(win, handle);
    if (size < 0) return fail(win, MPI_ERR_SIZE, "the size is negative");
    return win->flavor == MPI_WIN_FLAVOR_DYNAMIC
               ? MPI_SUCCESS
               : fail(win, MPI_ERR_RMA_FLAVOR, "the window is not dynamic");
}

MPI(int, Win_detach, (MPI_Win handle, const void *base))
{
    ENTER("Win_detach");
    (void)base;
    WIN(win, handle);
    return win->flavor == MPI_WIN_FLAVOR_DYNAMIC
               ? MPI_SUCCESS
               : fail(win, MPI_ERR_RMA_FLAVOR, "the window is not dynamic");
}

MPI(int, Win_free, (MPI_Win * handle))
{
    ENTER("Win_free");
    WIN(win, *handle);
    int error = mpi_attr_delete_all(win->handle, &win->attributes);
    if (error) return fail(win, error, "a delete function of an attribute failed");
    flush_all(win);
    mpi_barrier(win->comm);
    struct win **at = &windows;
    while (*at != win)
        at = &(*at)->next;
    *at = win->next;
    mpi_handle_free(win->handle);
    mpi_comm_release(win->comm);
    mpi_errhandler_release(win->handler);
    mpi_info_release(win->info);
    free(win->peers);
    free(win->owned);
    free(win);
    *handle = MPI_WIN_NULL;
    return MPI_SUCCESS;
}

MPI(int, Win_get_group, (MPI_Win handle, MPI_Group *group))
{
    ENTER("Win_get_group");
    WIN(win, handle);
    return mpi_group_give(mpi_group_retain(win->comm->local), group);
}

MPI(int, Win_set_name, (MPI_Win handle, const char *name))
{
    ENTER("Win_set_name");
    WIN(win, handle);
    (void)snprintf(win->name, sizeof win->name, "%s", name);
    return MPI_SUCCESS;
}

MPI(int, Win_get_name, (MPI_Win handle, char *name, int *length))
{
    ENTER("Win_get_name");
    WIN(win, handle);
    strcpy(name, win->name);
    *length = (int)strlen(name);
    return MPI_SUCCESS;
}

MPI(int, Win_set_info, (MPI_Win handle, MPI_Info info))
{
    ENTER("Win_set_info");
    WIN(win, handle);
    mpi_info_release(win->info);
    win->info = mpi_info_copy(mpi_object(KIND_INFO, info));
    return MPI_SUCCESS;
}

MPI(int, Win_get_info, (MPI_Win handle, MPI_Info *info))
{
    ENTER("Win_get_info");
    WIN(win, handle);
    static const char *const defaults[][2] = {{"accumulate_ordering", "rar,raw,war,waw"},
                                              {"accumulate_ops", "same_op_no_op"}};
    TRY(win->info ? PMPI_Info_dup(*(const int *)win->info, info) : PMPI_Info_create(info));
    for (unsigned i = 0; i < 2; i++) {
        int length, found;
        TRY(PMPI_Info_get_valuelen(*info, defaults[i][0], &length, &found));
        if (!found) TRY(PMPI_Info_set(*info, defaults[i][0], defaults[i][1]));
    }
    return MPI_SUCCESS;
}

struct attribute **mpi_win_attributes(MPI_Win handle)
{
    struct win *win = win_of(handle);
    return win ? &win->attributes : NULL;
}

int mpi_win_predefined(MPI_Win handle, int key, void **value)
{
    struct win *win = win_of(handle);
    switch (key) {
    case MPI_WIN_BASE: *value = win->base; return 1;
    case MPI_WIN_SIZE: *value = &win->size; return 1;
    case MPI_WIN_DISP_UNIT: *value = &win->unit; return 1;
    case MPI_WIN_CREATE_FLAVOR: *value = &win->flavor; return 1;
    case MPI_WIN_MODEL: *value = &win->model; return 1;
    default: return 0;
    }
}

MPI(int, Win_set_errhandler, (MPI_Win handle, MPI_Errhandler handler))
{
    ENTER("Win_set_errhandler");
    WIN(win, handle);
    return mpi_errhandler_set(&win->handler, handler, KIND_WIN);
}

MPI(int, Win_get_errhandler, (MPI_Win handle, MPI_Errhandler *handler))
{
    ENTER("Win_get_errhandler");
    WIN(win, handle);
    return mpi_errhandler_get(&win->handler, true, handler);
}

MPI(int, Win_call_errhandler, (MPI_Win handle, int code))
{
    ENTER("Win_call_errhandler");
    WIN(win, handle);
    (void)fail(win, code, "called by the program");
    return MPI_SUCCESS;
}

/* ---- operations ---- */

struct access {
    enum what what;
    const void *origin;
    int count;
    MPI_Datatype type;
    void *result;
    int result_count;
    MPI_Datatype result_type;
    int rank;
    MPI_Aint place;
    int target_count;
    MPI_Datatype target_type;
    MPI_Op op;
};

static int access_window(MPI_Win handle, const struct access *a, MPI_Request *request)
{
    WIN(win, handle);
    if (request) *request = MPI_REQUEST_NULL;
    if (a->rank != MPI_PROC_NULL && (a->rank < 0 || a->rank >= win->comm->local->count))
        return fail(win, MPI_ERR_RANK, "there is no such rank");
    if (a->count < 0 || a->target_count < 0)
        return fail(win, MPI_ERR_COUNT, "the count is negative");
    struct type *target = mpi_type(a->target_type),
                *origin = a->what == GET || a->op == MPI_NO_OP ? NULL : mpi_type(a->type),
                *result = a->result ? mpi_type(a->result_type) : NULL;
    if (!target || !target->committed ||
        (a->what != GET && a->op != MPI_NO_OP && (!origin || !origin->committed)) ||
        (a->result && !result))
        return fail(win, MPI_ERR_TYPE, "a datatype is wrong or not committed");
    const struct op *op = mpi_op(a->op);
    if ((a->what == ACCUMULATE || a->what == GET_ACCUMULATE) && (!op || !op->predefined))
        return fail(win, MPI_ERR_OP, "the operation is not a predefined one");
    if (a->rank != MPI_PROC_NULL && a->place < 0 && win->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return fail(win, MPI_ERR_DISP, "the displacement is negative");
    struct request *r = NULL;
    if (request) {
        r = mpi_request_new(REQUEST_GENERAL);
        r->active = true;
        mpi_status_empty(&r->status);
        *request = r->handle;
    }
    if (a->rank == MPI_PROC_NULL) {
        if (r) mpi_request_done(r);
        return MPI_SUCCESS;
    }
    struct head *head;
    size_t bytes = origin ? (size_t)a->count * origin->size : 0;
    char *data = make(&head, target, bytes);
    if (bytes) mpi_type_pack(origin, a->origin, 0, data, bytes);
    head->count = a->target_count;
    head->place = a->place;
    head->op = (uint32_t)a->op;
    if (a->result) {
        struct pending *p = add_pending(win, a->rank, a->result, a->result_count, result);
        p->request = r;
        head->id = p->id;
    } else if (r)
        mpi_request_done(r);
    win->peers[a->rank].operations++;
    post_message(win, a->rank, head, a->what);
    return MPI_SUCCESS;
}

#define TARGET                                                                                     \
    .rank = rank, .place = place, .target_count = target_count, .target_type = target_type
#define ORIGIN .origin = origin, .count = count, .type = type
#define RESULT .result = result, .result_count = result_count, .result_type = result_type

MPI(int, Put,
    (const void *origin, int count, MPI_Datatype type, int rank, MPI_Aint place, int target_count,
     MPI_Datatype target_type, MPI_Win win))
{
    ENTER("Put");
    return access_window(win, &(struct access){.what = PUT, ORIGIN, TARGET}, NULL);
}

MPI(int, Rput,
    (const void *origin, int count, MPI_Datatype type, int rank, MPI_Aint place, int target_count,
     MPI_Datatype target_type, MPI_Win win, MPI_Request *request))
{
    ENTER("Rput");
    return access_window(win, &(struct access){.what = PUT, ORIGIN, TARGET}, request);
}

MPI(int, Get,
    (void *result, int result_count, MPI_Datatype result_type, int rank, MPI_Aint place,
     int target_count, MPI_Datatype target_type, MPI_Win win))
{
    ENTER("Get");
    static char nothing;
    if (!result && !result_count) result = &nothing;
    return access_window(win, &(struct access){.what = GET, RESULT, TARGET}, NULL);
}

MPI(int, Rget,
    (void *result, int result_count, MPI_Datatype result_type, int rank, MPI_Aint place,
     int target_count, MPI_Datatype target_type, MPI_Win win, MPI_Request *request))
{
    ENTER("Rget");
    static char nothing;
    if (!result && !result_count) result = &nothing;
    return access_window(win, &(struct access){.what = GET, RESULT, TARGET}, request);
}

MPI(int, Accumulate,
    (const void *origin, int count, MPI_Datatype type, int rank, MPI_Aint place, int target_count,
     MPI_Datatype target_type, MPI_Op op, MPI_Win win))
{
    ENTER("Accumulate");
    return access_window(win, &(struct access){.what = ACCUMULATE, ORIGIN, TARGET, .op = op}, NULL);
}

MPI(int, Raccumulate,
    (const void *origin, int count, MPI_Datatype type, int rank, MPI_Aint place, int target_count,
     MPI_Datatype target_type, MPI_Op op, MPI_Win win, MPI_Request *request))
{
    ENTER("Raccumulate");
    return access_window(win, &(struct access){.what = ACCUMULATE, ORIGIN, TARGET, .op = op},
                         request);
}

MPI(int, Get_accumulate,
    (const void *origin, int count, MPI_Datatype type, void *result, int result_count,
     MPI_Datatype result_type, int rank, MPI_Aint place, int target_count, MPI_Datatype target_type,
     MPI_Op op, MPI_Win win))
{
    ENTER("Get_accumulate");
    return access_window(
        win, &(struct access){.what = GET_ACCUMULATE, ORIGIN, RESULT, TARGET, .op = op}, NULL);
}

MPI(int, Rget_accumulate,
    (const void *origin, int count, MPI_Datatype type, void *result, int result_count,
     MPI_Datatype result_type, int rank, MPI_Aint place, int target_count, MPI_Datatype target_type,
     MPI_Op op, MPI_Win win, MPI_Request *request))
{
    ENTER("Rget_accumulate");
    return access_window(
        win, &(struct access){.what = GET_ACCUMULATE, ORIGIN, RESULT, TARGET, .op = op}, request);
}

MPI(int, Fetch_and_op,
    (const void *origin, void *result, MPI_Datatype type, int rank, MPI_Aint place, MPI_Op op,
     MPI_Win win))
{
    ENTER("Fetch_and_op");
    const struct access a = {GET_ACCUMULATE, origin, 1,     type, result, 1,
                             type,           rank,   place, 1,    type,   op};
    return access_window(win, &a, NULL);
}

/* The message has the value to compare with, then the new one. */
MPI(int, Compare_and_swap,
    (const void *origin, const void *compare, void *result, MPI_Datatype datatype, int rank,
     MPI_Aint place, MPI_Win handle))
{
    ENTER("Compare_and_swap");
    WIN(win, handle);
    struct type *type = mpi_type(datatype);
    if (!type || !type->predefined)
        return fail(win, MPI_ERR_TYPE, "the datatype is not a predefined one");
    if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
    if (rank < 0 || rank >= win->comm->local->count)
        return fail(win, MPI_ERR_RANK, "there is no such rank");
    struct head *head;
    char *data = make(&head, type, 2 * type->size);
    memcpy(data, compare, type->size);
    memcpy(data + type->size, origin, type->size);
    head->count = 1;
    head->place = place;
    head->id = add_pending(win, rank, result, 1, type)->id;
    win->peers[rank].operations++;
    post_message(win, rank, head, SWAP);
    return MPI_SUCCESS;
}

/* ---- synchronisation ---- */

MPI(int, Win_fence, (int assertion, MPI_Win handle))
{
    ENTER("Win_fence");
    (void)assertion;
    WIN(win, handle);
    flush_all(win);
    mpi_barrier(win->comm);
    return MPI_SUCCESS;
}

static int rank_in(const struct win *win, const struct group *group, int i)
{
    return mpi_group_find(win->comm->local, group_world(group, i));
}

MPI(int, Win_post, (MPI_Group handle, int assertion, MPI_Win win_handle))
{
    ENTER("Win_post");
    (void)assertion;
    WIN(win, win_handle);
    struct group *group = mpi_object(KIND_GROUP, handle);
    if (!group) return fail(win, MPI_ERR_GROUP, "this is no group");
    if (win->exposed) return fail(win, MPI_ERR_RMA_SYNC, "the window is exposed already");
    win->exposed = mpi_group_retain(group);
    for (int i = 0; i < group->count; i++)
        post_simple(win, rank_in(win, group, i), POST, 0, 0);
    return MPI_SUCCESS;
}

MPI(int, Win_start, (MPI_Group handle, int assertion, MPI_Win win_handle))
{
    ENTER("Win_start");
    (void)assertion;
    WIN(win, win_handle);
    struct group *group = mpi_object(KIND_GROUP, handle);
    if (!group) return fail(win, MPI_ERR_GROUP, "this is no group");
    if (win->started) return fail(win, MPI_ERR_RMA_SYNC, "an epoch has been started already");
    win->started = mpi_group_retain(group);
    for (int i = 0; i < group->count; i++) {
        struct peer *peer = &win->peers[rank_in(win, group, i)];
        while (!peer->posts)
            mpi_progress_wait();
        peer->posts--;
    }
    return MPI_SUCCESS;
}

MPI(int, Win_complete, (MPI_Win handle))
{
    ENTER("Win_complete");
    WIN(win, handle);
    struct group *group = win->started;
    if (!group) return fail(win, MPI_ERR_RMA_SYNC, "no epoch was started");
    for (int i = 0; i < group->count; i++) {
        int rank = rank_in(win, group, i);
        win->peers[rank].operations = 0;
        post_simple(win, rank, COMPLETE, 0, 0);
    }
    wait_pending(win, -1);
    mpi_group_release(group);
    win->started = NULL;
    return MPI_SUCCESS;
}

static bool all_complete(const struct win *win)
{
    for (int i = 0; i < win->exposed->count; i++)
        if (!win->peers[rank_in(win, win->exposed, i)].completes) return false;
    return true;
}

static void end_exposure(struct win *win)
{
    for (int i = 0; i < win->exposed->count; i++)
        win->peers[rank_in(win, win->exposed, i)].completes--;
    mpi_group_release(win->exposed);
    win->exposed = NULL;
}

MPI(int, Win_wait, (MPI_Win handle))
{
    ENTER("Win_wait");
    WIN(win, handle);
    if (!win->exposed) return fail(win, MPI_ERR_RMA_SYNC, "the window is not exposed");
    while (!all_complete(win))
        mpi_progress_wait();
    end_exposure(win);
    return MPI_SUCCESS;
}

MPI(int, Win_test, (MPI_Win handle, int *flag))
{
    ENTER("Win_test");
    WIN(win, handle);
    if (!win->exposed) return fail(win, MPI_ERR_RMA_SYNC, "the window is not exposed");
    if (!all_complete(win)) mpi_progress();
    *flag = all_complete(win);
    if (*flag) end_exposure(win);
    return MPI_SUCCESS;
}

static int check_rank(struct win *win, int rank)
{
    return rank >= 0 && rank < win->comm->local->count
               ? MPI_SUCCESS
               : fail(win, MPI_ERR_RANK, "there is no such rank");
}

static void lock(struct win *win, int rank, int kind)
{
    unsigned wanted = win->grants + 1;
    win->peers[rank].locked = kind;
    post_simple(win, rank, LOCK, 0, (uint32_t)kind);
    while (win->grants != wanted)
        mpi_progress_wait();
}

MPI(int, Win_lock, (int kind, int rank, int assertion, MPI_Win handle))
{
    ENTER("Win_lock");
    (void)assertion;
    WIN(win, handle);
    if (kind != MPI_LOCK_EXCLUSIVE && kind != MPI_LOCK_SHARED)
        return fail(win, MPI_ERR_LOCKTYPE, "there is no such kind of lock");
    if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
    TRY(check_rank(win, rank));
    if (win->peers[rank].locked) return fail(win, MPI_ERR_RMA_SYNC, "the window is locked already");
    lock(win, rank, kind);
    return MPI_SUCCESS;
}

static void unlock(struct win *win, int rank)
{
    win->peers[rank].locked = 0;
    ask(win, rank, UNLOCK);
}

MPI(int, Win_unlock, (int rank, MPI_Win handle))
{
    ENTER("Win_unlock");
    WIN(win, handle);
    if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
    TRY(check_rank(win, rank));
    if (!win->peers[rank].locked) return fail(win, MPI_ERR_RMA_SYNC, "the window is not locked");
    unlock(win, rank);
    wait_pending(win, rank);
    return MPI_SUCCESS;
}

MPI(int, Win_lock_all, (int assertion, MPI_Win handle))
{
    ENTER("Win_lock_all");
    (void)assertion;
    WIN(win, handle);
    for (int i = 0; i < win->comm->local->count; i++)
        if (win->peers[i].locked)
            return fail(win, MPI_ERR_RMA_SYNC, "the window is locked already");
    for (int i = 0; i < win->comm->local->count; i++)
        lock(win, i, MPI_LOCK_SHARED);
    return MPI_SUCCESS;
}

MPI(int, Win_unlock_all, (MPI_Win handle))
{
    ENTER("Win_unlock_all");
    WIN(win, handle);
    for (int i = 0; i < win->comm->local->count; i++)
        if (!win->peers[i].locked) return fail(win, MPI_ERR_RMA_SYNC, "the window is not locked");
    for (int i = 0; i < win->comm->local->count; i++)
        unlock(win, i);
    wait_pending(win, -1);
    return MPI_SUCCESS;
}

static int flush_one(MPI_Win handle, int rank)
{
    WIN(win, handle);
    if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
    TRY(check_rank(win, rank));
    if (!win->peers[rank].locked) return fail(win, MPI_ERR_RMA_SYNC, "the window is not locked");
    flush(win, rank);
    wait_pending(win, rank);
    return MPI_SUCCESS;
}

static int flush_each(MPI_Win handle)
{
    WIN(win, handle);
    bool locked = false;
    for (int i = 0; i < win->comm->local->count; i++)
        locked |= win->peers[i].locked != 0;
    if (!locked) return fail(win, MPI_ERR_RMA_SYNC, "the window is not locked");
    flush_all(win);
    return MPI_SUCCESS;
}

MPI(int, Win_flush, (int rank, MPI_Win win))
{
    ENTER("Win_flush");
    return flush_one(win, rank);
}

MPI(int, Win_flush_local, (int rank, MPI_Win win))
{
    ENTER("Win_flush_local");
    return flush_one(win, rank);
}

MPI(int, Win_flush_all, (MPI_Win win))
{
    ENTER("Win_flush_all");
    return flush_each(win);
}

MPI(int, Win_flush_local_all, (MPI_Win win))
{
    ENTER("Win_flush_local_all");
    return flush_each(win);
}

MPI(int, Win_sync, (MPI_Win handle))
{
    ENTER("Win_sync");
    WIN(win, handle);
    (void)win;
    mpi_progress();
    return MPI_SUCCESS;
}
