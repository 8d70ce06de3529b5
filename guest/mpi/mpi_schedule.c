/* Schedules: a collective as rounds of steps.
 *
 * A round's sends, receives, copies and reductions are independent of each other; the next round
 * begins when all of them have ended. Sends and receives are started before the copies and
 * reductions of a round, which are done at once. So one description serves blocking and
 * non-blocking collectives, and several may be in progress on a communicator: messages of the n-th
 * collective have tag n.
 */
#include "mpi_impl.h"

enum step_kind { STEP_SEND, STEP_RECEIVE, STEP_COPY, STEP_REDUCE, STEP_CALL, STEP_ROUND };

struct step {
    enum step_kind kind;
    int count, peer, to_count;
    const void *from;
    void *to;
    struct type *type, *to_type;
    void *more; /* communicator, operation or function */
};

struct piece {
    struct piece *next;
    double memory[];
};

struct schedule {
    struct schedule *next; /* of the schedules that are ready for a round */
    struct comm *comm, *within;
    struct request *request;
    struct step *steps;
    unsigned count, size, at, pending;
    bool ready, starting;
    int tag, error;
    uint32_t check; /* the call, of MPI_CHECK */
    struct piece *pieces;
    struct request *parts; /* sends and receives of the round, by their list */
    struct type *kept[4];
    struct op *op;
};

static struct {
    struct schedule *first, **last;
} ready;

struct schedule *mpi_schedule_new(struct comm *comm)
{
    struct schedule *s = mpi_alloc(sizeof *s);
    s->comm = s->within = comm;
    comm->refs++;
    s->tag = (int)(comm->collectives++ & 0x3fffffff);
    return s;
}

void *schedule_alloc(struct schedule *s, size_t bytes)
{
    struct piece *piece = mpi_alloc(sizeof *piece + bytes + 8);
    piece->next = s->pieces;
    s->pieces = piece;
    return piece->memory;
}

void *schedule_buffer(struct schedule *s, int count, const struct type *type)
{
    if (count <= 0) return schedule_alloc(s, 0);
    MPI_Aint more = (MPI_Aint)(count - 1) * type_extent(type), low = more < 0 ? more : 0,
             high = more > 0 ? more : 0;
    char *memory = schedule_alloc(s, (size_t)(type->true_ub - type->true_lb + high - low));
    return memory - type->true_lb - low;
}

void schedule_keep(struct schedule *s, struct type *type, struct op *op)
{
    unsigned i = 0;
    while (type && i < 3 && s->kept[i])
        i++;
    if (type) {
        s->kept[i] = type;
        mpi_type_retain(type);
    }
    if (op) {
        s->op = op;
        op->refs++;
    }
}

static struct step *add(struct schedule *s, enum step_kind kind)
{
    if (s->count == s->size) {
        s->size = s->size ? 2 * s->size : 16;
        s->steps = realloc(s->steps, s->size * sizeof *s->steps);
        if (!s->steps) mpi_abort(MPI_ERR_NO_MEM);
    }
    struct step *step = &s->steps[s->count++];
    *step = (struct step){.kind = kind};
    return step;
}

void schedule_within(struct schedule *s, struct comm *comm)
{
    s->within = comm ? comm : s->comm;
}

void schedule_send(struct schedule *s, const void *buffer, int count, struct type *type, int peer)
{
    struct step *step = add(s, STEP_SEND);
    step->from = buffer;
    step->count = count;
    step->type = type;
    step->peer = peer;
    step->more = s->within;
}

void schedule_receive(struct schedule *s, void *buffer, int count, struct type *type, int peer)
{
    schedule_send(s, buffer, count, type, peer);
    s->steps[s->count - 1].kind = STEP_RECEIVE;
}

void schedule_copy(struct schedule *s, const void *from, int from_count, struct type *from_type,
                   void *to, int to_count, struct type *to_type)
{
    struct step *step = add(s, STEP_COPY);
    step->from = from;
    step->count = from_count;
    step->type = from_type;
    step->to = to;
    step->to_count = to_count;
    step->to_type = to_type;
}

void schedule_reduce(struct schedule *s, const void *in, void *inout, int count, struct type *type,
                     struct op *op)
{
    struct step *step = add(s, STEP_REDUCE);
    step->from = in;
    step->to = inout;
    step->count = count;
    step->type = type;
    step->more = op;
}

void schedule_call_back(struct schedule *s, schedule_call *call, void *context)
{
    struct step *step = add(s, STEP_CALL);
    step->more = (void *)call;
    step->to = context;
}

void schedule_round(struct schedule *s)
{
    if (s->count && s->steps[s->count - 1].kind != STEP_ROUND) add(s, STEP_ROUND);
}

/* ---- running ---- */

static void delete_parts(struct schedule *s)
{
    while (s->parts) {
        struct request *r = s->parts;
        s->parts = r->sibling;
        if (r->status.MPI_ERROR && !s->error) s->error = r->status.MPI_ERROR;
        mpi_request_delete(r);
    }
}

void mpi_schedule_free(struct schedule *s)
{
    delete_parts(s);
    while (s->pieces) {
        struct piece *piece = s->pieces;
        s->pieces = piece->next;
        free(piece);
    }
    for (unsigned i = 0; i < 4; i++)
        mpi_type_release(s->kept[i]);
    if (s->op) mpi_op_release(s->op);
    mpi_comm_release(s->comm);
    free(s->steps);
    free(s);
}

static void make_ready(struct schedule *s)
{
    if (s->ready) return;
    if (!ready.first) ready.last = &ready.first;
    s->ready = true;
    s->next = NULL;
    *ready.last = s;
    ready.last = &s->next;
}

void mpi_schedule_step_done(struct schedule *s)
{
    if (!--s->pending && !s->starting) make_ready(s);
}

static void start_message(struct schedule *s, const struct step *step)
{
    struct comm *comm = step->more;
    int tag = comm == s->comm ? s->tag : s->tag | 0x40000000; /* not those of its own collectives */
    struct request *r = step->kind == STEP_SEND
                            ? mpi_isend(step->from, step->count, step->type, step->peer, tag, comm,
                                        comm->context + 1, SEND_STANDARD)
                            : mpi_irecv((void *)step->from, step->count, step->type, step->peer,
                                        tag, comm, comm->context + 1);
    r->schedule = s;
    r->collective = s->check;
    r->sibling = s->parts;
    s->parts = r;
    s->pending++;
    mpi_request_start(r);
}

static void do_local(struct schedule *s, const struct step *step)
{
    if (step->kind == STEP_COPY)
        (void)mpi_type_copy(step->from, (size_t)step->count, step->type, step->to,
                            (size_t)step->to_count, step->to_type);
    else if (step->kind == STEP_REDUCE)
        mpi_op_apply(step->more, step->from, step->to, step->count, step->type);
    else if (step->kind == STEP_CALL) {
        int error = ((schedule_call *)step->more)(s, step->to);
        if (error && !s->error) s->error = error;
    }
}

/* Receives first, so that what is there already finds them. */
static void start_round(struct schedule *s)
{
    unsigned from = s->at, to = from;
    delete_parts(s);
    while (to < s->count && s->steps[to].kind != STEP_ROUND)
        to++;
    s->at = to < s->count ? to + 1 : to;
    s->starting = true;
    for (unsigned i = from; i < to; i++)
        if (s->steps[i].kind == STEP_RECEIVE) start_message(s, &s->steps[i]);
    for (unsigned i = from; i < to; i++)
        if (s->steps[i].kind == STEP_SEND) start_message(s, &s->steps[i]);
    for (unsigned i = from; i < to; i++)
        if (s->steps[i].kind >= STEP_COPY) do_local(s, &s->steps[i]);
    s->starting = false;
}

static void run(struct schedule *s)
{
    while (!s->pending) {
        if (s->at == s->count) {
            struct request *r = s->request;
            delete_parts(s);
            r->status.MPI_ERROR = s->error;
            mpi_request_done(r);
            return;
        }
        start_round(s);
    }
}

void mpi_schedules_progress(void)
{
    while (ready.first) {
        struct schedule *s = ready.first;
        ready.first = s->next;
        s->ready = false;
        run(s);
    }
}

static struct request *start(struct schedule *s)
{
    struct request *r = s->request = mpi_request_new(REQUEST_SCHEDULE);
    r->schedule = s;
    r->active = true;
    mpi_status_empty(&r->status);
    if (mpi.check) s->check = mpi_check_take();
    run(s);
    return r;
}

int mpi_schedule_start(struct schedule *s, MPI_Request *request)
{
    *request = start(s)->handle;
    return MPI_SUCCESS;
}

int mpi_schedule_prepare(struct schedule *s, MPI_Request *request)
{
    struct request *r = s->request = mpi_request_new(REQUEST_SCHEDULE);
    r->schedule = s;
    r->persistent = r->complete = true;
    if (mpi.check) s->check = mpi_check_take();
    *request = r->handle;
    return MPI_SUCCESS;
}

/* The tag stays that of its place among the collectives: rounds of two starts match in order. */
void mpi_schedule_restart(struct request *r)
{
    struct schedule *s = r->schedule;
    s->at = s->pending = 0;
    s->error = MPI_SUCCESS;
    r->active = true;
    r->complete = false;
    mpi_status_empty(&r->status);
    run(s);
}

int mpi_schedule_run(struct schedule *s)
{
    struct request *r = start(s);
    struct comm *comm = s->comm;
    mpi_wait_for(r);
    int error = s->error;
    comm->refs++;
    mpi_request_delete(r);
    if (error) error = mpi_fail(comm, error, "a message was longer than its buffer");
    mpi_comm_release(comm);
    return error;
}
