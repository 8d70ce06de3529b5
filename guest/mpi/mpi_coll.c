/* Collective calls: checks, MPI_IN_PLACE, inter-communicators; each makes a schedule, which the
 * blocking call runs and the other one starts.
 *
 * Over an inter-communicator the ranks 0 of both groups exchange what goes from one to the other,
 * or all processes send to all remote ones.
 */
#include "mpi_coll_steps.h"
#include "mpi_note.h"

#define UNPACK(...)     __VA_ARGS__
#define MAKE(make, ...) make(__VA_ARGS__)
/* The calls MPI_NAME, MPI_INAME and MPI_NAME_init by make_NAME, which returns an error or leaves a
 * schedule. */
#define BOTH(name, text, iname, itext, parameters, arguments)                                      \
    MPI(int, name, (UNPACK parameters, MPI_Comm handle))                                           \
    {                                                                                              \
        ENTER(text);                                                                               \
        COMM(comm, handle);                                                                        \
        struct schedule *s = NULL;                                                                 \
        TRY(MAKE(make_##name, &s, comm, UNPACK arguments));                                        \
        return mpi_schedule_run(s);                                                                \
    }                                                                                              \
    MPI(int, iname, (UNPACK parameters, MPI_Comm handle, MPI_Request * request))                   \
    {                                                                                              \
        ENTER(itext);                                                                              \
        COMM(comm, handle);                                                                        \
        struct schedule *s = NULL;                                                                 \
        TRY(MAKE(make_##name, &s, comm, UNPACK arguments));                                        \
        return mpi_schedule_start(s, request);                                                     \
    }                                                                                              \
    MPI(int, name##_init,                                                                          \
        (UNPACK parameters, MPI_Comm handle, MPI_Info info, MPI_Request * request))                \
    {                                                                                              \
        ENTER(text "_init");                                                                       \
        (void)info;                                                                                \
        COMM(comm, handle);                                                                        \
        struct schedule *s = NULL;                                                                 \
        TRY(MAKE(make_##name, &s, comm, UNPACK arguments));                                        \
        return mpi_schedule_prepare(s, request);                                                   \
    }

static int check_count(const struct comm *comm, int count)
{
    return count < 0 ? mpi_fail(comm, MPI_ERR_COUNT, "count is %d", count) : MPI_SUCCESS;
}

static int check_root(const struct comm *comm, int root)
{
    int count = comm_peers(comm)->count;
    if (comm->remote && (root == MPI_ROOT || root == MPI_PROC_NULL)) return MPI_SUCCESS;
    if (root >= 0 && root < count) return MPI_SUCCESS;
    return mpi_fail(comm, MPI_ERR_ROOT, "root is %d, there are %d ranks", root, count);
}

/* Type of a list of blocks with its checks; counts may be NULL. */
static int check_blocks(const struct comm *comm, struct blocks *b, const void *base, int count,
                        const int *counts, const int *places, MPI_Datatype handle)
{
    TYPE(comm, type, handle);
    if (!counts)
        TRY(check_count(comm, count));
    else
        for (int i = 0; i < comm_peers(comm)->count; i++)
            TRY(check_count(comm, counts[i]));
    *b = (struct blocks){(char *)base, counts, count, places, type};
    return MPI_SUCCESS;
}

static int check_alias(const struct comm *comm, const void *one, const void *other, int count)
{
    if (one == other && count && one != MPI_BOTTOM)
        return mpi_fail(comm, MPI_ERR_BUFFER,
                        "the send buffer is the receive buffer; use MPI_IN_PLACE");
    return MPI_SUCCESS;
}

static int check_in_place(const struct comm *comm, const void *buffer)
{
    if (buffer == MPI_IN_PLACE)
        return mpi_fail(comm, MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed here");
    return MPI_SUCCESS;
}

static struct schedule *begin(struct comm *comm, struct type *one, struct type *two, struct op *op)
{
    struct schedule *s = mpi_schedule_new(comm);
    schedule_keep(s, one, op);
    schedule_keep(s, two, NULL);
    return s;
}

/* ---- notices: what a rank gives and takes is that of its buffers ---- */

static size_t bytes_of(int count, const struct type *type)
{
    return type ? (size_t)count * type->size : 0;
}

static size_t blocks_bytes(const struct comm *comm, const struct blocks *b)
{
    size_t count = 0;
    for (int i = 0; b->type && i < comm_peers(comm)->count; i++)
        count += (size_t)blocks_count(b, i);
    return b->type ? count * b->type->size : 0;
}

/* ---- barrier ---- */

static void leaders_exchange(struct schedule *s, const struct comm *comm, const void *out,
                             int out_count, struct type *out_type, void *in, int in_count,
                             struct type *in_type)
{
    if (comm->local->rank) return;
    schedule_receive(s, in, in_count, in_type, 0);
    schedule_send(s, out, out_count, out_type, 0);
    schedule_round(s);
}

static struct schedule *make_Barrier(struct comm *comm)
{
    struct schedule *s = begin(comm, NULL, NULL, NULL);
    if (!comm->remote) {
        steps_barrier(s, comm);
        return s;
    }
    schedule_within(s, comm->inside);
    steps_barrier(s, comm->inside);
    schedule_within(s, NULL);
    leaders_exchange(s, comm, NULL, 0, mpi.byte, NULL, 0, mpi.byte);
    schedule_within(s, comm->inside);
    steps_bcast(s, comm->inside, NULL, 0, mpi.byte, 0);
    return s;
}

/* All of the machine, in one process a node: the barrier network. Packets are taken meanwhile. */
static bool is_whole_machine(const struct comm *comm)
{
    return !comm->remote && comm->local->count == mpi.ranks && mpi.ranks > 1 &&
           mpi.thread_level < MPI_THREAD_MULTIPLE && mpi_hardware_barrier_is_there();
}

static int run_barrier(struct comm *comm)
{
    if (!is_whole_machine(comm)) return mpi_schedule_run(make_Barrier(comm));
    mpi_hardware_barrier_arrive();
    while (!mpi_hardware_barrier_is_over())
        mpi_progress_wait();
    return MPI_SUCCESS;
}

MPI(int, Barrier, (MPI_Comm handle))
{
    ENTER("Barrier");
    COMM(comm, handle);
    mpi_note_collective(comm, -1, 0, 0);
    return run_barrier(comm);
}

MPI(int, Barrier_init, (MPI_Comm handle, MPI_Info info, MPI_Request *request))
{
    ENTER("Barrier_init");
    (void)info;
    COMM(comm, handle);
    return mpi_schedule_prepare(make_Barrier(comm), request);
}

MPI(int, Ibarrier, (MPI_Comm handle, MPI_Request *request))
{
    ENTER("Ibarrier");
    COMM(comm, handle);
    mpi_note_collective(comm, -1, 0, 0);
    return mpi_schedule_start(make_Barrier(comm), request);
}

/* ---- bcast, gather, scatter ---- */

static int make_Bcast(struct schedule **out, struct comm *comm, void *buffer, int count,
                      MPI_Datatype datatype, int root)
{
    TYPE(comm, type, datatype);
    TRY(check_count(comm, count));
    TRY(check_root(comm, root));
    TRY(check_in_place(comm, buffer));
    struct schedule *s = *out = begin(comm, type, NULL, NULL);
    bool gives = root == (comm->remote ? MPI_ROOT : comm->local->rank);
    mpi_note_collective(comm, root < 0 ? -1 : root, gives ? bytes_of(count, type) : 0,
                        gives || root < 0 ? 0 : bytes_of(count, type));
    if (!comm->remote) {
        steps_bcast(s, comm, buffer, count, type, root);
        return MPI_SUCCESS;
    }
    if (root == MPI_PROC_NULL) return MPI_SUCCESS;
    if (root == MPI_ROOT) {
        schedule_send(s, buffer, count, type, 0);
        return MPI_SUCCESS;
    }
    if (!comm->local->rank) schedule_receive(s, buffer, count, type, root);
    schedule_round(s);
    schedule_within(s, comm->inside);
    steps_bcast(s, comm->inside, buffer, count, type, 0);
    return MPI_SUCCESS;
}

BOTH(Bcast, "Bcast", Ibcast, "Ibcast", (void *buffer, int count, MPI_Datatype type, int root),
     (buffer, count, type, root))

/* To the root: from all, in blocks; and the other way. */
static int make_rooted(struct schedule **out, struct comm *comm, bool gathers, const void *one,
                       int one_count, MPI_Datatype one_type, const void *all_base, int all_count,
                       const int *counts, const int *places, MPI_Datatype all_type, int root)
{
    struct blocks all = {0}, own = {0};
    TRY(check_root(comm, root));
    bool is_root = comm->remote ? root == MPI_ROOT : root == comm->local->rank,
         in_place = one == MPI_IN_PLACE;
    bool has_own = (!is_root || !comm->remote) && root != MPI_PROC_NULL;
    if (is_root) {
        TRY(check_blocks(comm, &all, all_base, all_count, counts, places, all_type));
        TRY(check_in_place(comm, all_base));
    }
    if (has_own && !(is_root && in_place)) {
        TRY(check_blocks(comm, &own, one, one_count, NULL, NULL, one_type));
        TRY(check_in_place(comm, one));
        if (is_root) TRY(check_alias(comm, one, all_base, one_count));
    }
    struct schedule *s = *out = begin(comm, all.type, own.type, NULL);
    size_t one_bytes = bytes_of(one_count, own.type), all_bytes = blocks_bytes(comm, &all);
    if (is_root && in_place && !comm->remote)
        one_bytes = bytes_of(blocks_count(&all, comm->local->rank), all.type);
    mpi_note_collective(comm, root < 0 ? -1 : root, gathers ? one_bytes : all_bytes,
                        gathers ? all_bytes : one_bytes);
    if (is_root) {
        int rank = comm->remote ? -1 : root;
        (gathers ? steps_gather : steps_scatter)(s, comm, &all, rank);
        if (comm->remote || in_place) return MPI_SUCCESS;
        if (gathers)
            schedule_copy(s, one, one_count, own.type, blocks_at(&all, rank),
                          blocks_count(&all, rank), all.type);
        else
            schedule_copy(s, blocks_at(&all, rank), blocks_count(&all, rank), all.type, (void *)one,
                          one_count, own.type);
    } else if (has_own)
        (gathers ? (void (*)(struct schedule *, const void *, int, struct type *, int))schedule_send
                 : (void (*)(struct schedule *, const void *, int, struct type *,
                             int))schedule_receive)(s, one, one_count, own.type, root);
    return MPI_SUCCESS;
}

#define make_Gather(s, comm, sb, sc, st, rb, rc, rt, root)                                         \
    make_rooted(s, comm, true, sb, sc, st, rb, rc, NULL, NULL, rt, root)
#define make_Gatherv(s, comm, sb, sc, st, rb, rcs, places, rt, root)                               \
    make_rooted(s, comm, true, sb, sc, st, rb, 0, rcs, places, rt, root)
#define make_Scatter(s, comm, sb, sc, st, rb, rc, rt, root)                                        \
    make_rooted(s, comm, false, rb, rc, rt, sb, sc, NULL, NULL, st, root)
#define make_Scatterv(s, comm, sb, scs, places, st, rb, rc, rt, root)                              \
    make_rooted(s, comm, false, rb, rc, rt, sb, 0, scs, places, st, root)

BOTH(Gather, "Gather", Igather, "Igather",
     (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
      MPI_Datatype recvtype, int root),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root))
BOTH(Gatherv, "Gatherv", Igatherv, "Igatherv",
     (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
      const int *recvcounts, const int *places, MPI_Datatype recvtype, int root),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, places, recvtype, root))
BOTH(Scatter, "Scatter", Iscatter, "Iscatter",
     (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
      MPI_Datatype recvtype, int root),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root))
BOTH(Scatterv, "Scatterv", Iscatterv, "Iscatterv",
     (const void *sendbuf, const int *sendcounts, const int *places, MPI_Datatype sendtype,
      void *recvbuf, int recvcount, MPI_Datatype recvtype, int root),
     (sendbuf, sendcounts, places, sendtype, recvbuf, recvcount, recvtype, root))

/* ---- allgather, alltoall ---- */

static int make_all(struct schedule **out, struct comm *comm, const void *sendbuf, int sendcount,
                    MPI_Datatype sendtype, void *recvbuf, int recvcount, const int *counts,
                    const int *places, MPI_Datatype recvtype)
{
    struct blocks all, own = {0};
    bool in_place = sendbuf == MPI_IN_PLACE && !comm->remote;
    TRY(check_blocks(comm, &all, recvbuf, recvcount, counts, places, recvtype));
    TRY(check_in_place(comm, recvbuf));
    if (!in_place) {
        TRY(check_blocks(comm, &own, sendbuf, sendcount, NULL, NULL, sendtype));
        TRY(check_alias(comm, sendbuf, recvbuf, sendcount));
    }
    struct schedule *s = *out = begin(comm, all.type, own.type, NULL);
    mpi_note_collective(comm, -1,
                        in_place ? bytes_of(blocks_count(&all, comm->local->rank), all.type)
                                 : bytes_of(sendcount, own.type),
                        blocks_bytes(comm, &all));
    if (comm->remote) {
        steps_gather(s, comm, &all, -1);
        for (int i = 0; i < comm->remote->count; i++)
            schedule_send(s, sendbuf, sendcount, own.type, i);
        return MPI_SUCCESS;
    }
    int rank = comm->local->rank;
    if (!in_place)
        schedule_copy(s, sendbuf, sendcount, own.type, blocks_at(&all, rank),
                      blocks_count(&all, rank), all.type);
    schedule_round(s);
    steps_allgather(s, comm, &all);
    return MPI_SUCCESS;
}

#define make_Allgather(s, comm, sb, sc, st, rb, rc, rt)                                            \
    make_all(s, comm, sb, sc, st, rb, rc, NULL, NULL, rt)
#define make_Allgatherv(s, comm, sb, sc, st, rb, rcs, places, rt)                                  \
    make_all(s, comm, sb, sc, st, rb, 0, rcs, places, rt)

BOTH(Allgather, "Allgather", Iallgather, "Iallgather",
     (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
      MPI_Datatype recvtype),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype))
BOTH(Allgatherv, "Allgatherv", Iallgatherv, "Iallgatherv",
     (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
      const int *recvcounts, const int *places, MPI_Datatype recvtype),
     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, places, recvtype))

/* A block for each rank: where it is, how much, of which type. */
struct side {
    const char *base;
    int count;
    const int *counts, *places;
    MPI_Datatype type;
    const MPI_Datatype *types; /* places are bytes then */
};

static int side_get(const struct comm *comm, const struct side *side, int i, char **at, int *count,
                    struct type **found)
{
    TYPE(comm, type, side->types ? side->types[i] : side->type);
    *count = side->counts ? side->counts[i] : side->count;
    TRY(check_count(comm, *count));
    MPI_Aint extent = side->types ? 1 : type_extent(type);
    *at = at_offset(side->base, extent * (side->places ? (MPI_Aint)side->places[i]
                                                       : (MPI_Aint)i * side->count));
    *found = type;
    return MPI_SUCCESS;
}

static int exchange_with(struct schedule *s, struct comm *comm, const struct side *send,
                         const struct side *receive, int to, int from)
{
    char *at;
    int count;
    struct type *type;
    TRY(side_get(comm, receive, from, &at, &count, &type));
    schedule_receive(s, at, count, type, from);
    TRY(side_get(comm, send, to, &at, &count, &type));
    schedule_send(s, at, count, type, to);
    return MPI_SUCCESS;
}

/* In place: a copy of what is sent is made first. */
static int copy_side(struct schedule *s, struct comm *comm, const struct side *side, int i,
                     int rank)
{
    char *at;
    int count;
    struct type *type;
    TRY(side_get(comm, side, i, &at, &count, &type));
    if (i == rank) return MPI_SUCCESS;
    size_t bytes = (size_t)count * type->size;
    void *copy = schedule_alloc(s, bytes);
    mpi_type_pack(type, at, 0, copy, count ? bytes : 0);
    schedule_send(s, copy, (int)bytes, mpi.byte, i);
    schedule_receive(s, at, count, type, i);
    return MPI_SUCCESS;
}

static int fill_alltoall(struct schedule *s, struct comm *comm, const struct side *send,
                         const struct side *receive)
{
    int rank = comm->local->rank, peers = comm_peers(comm)->count, count, to_count;
    char *at, *to;
    struct type *type, *to_type;
    if (comm->remote) {
        for (int i = 0; i < peers; i++)
            TRY(exchange_with(s, comm, send, receive, i, i));
        return MPI_SUCCESS;
    }
    if (send->base == MPI_IN_PLACE) {
        for (int i = 0; i < peers; i++)
            TRY(copy_side(s, comm, receive, i, rank));
        return MPI_SUCCESS;
    }
    for (int i = 1; i < peers; i++)
        TRY(exchange_with(s, comm, send, receive, (rank + i) % peers, (rank - i + peers) % peers));
    TRY(side_get(comm, send, rank, &at, &count, &type));
    TRY(side_get(comm, receive, rank, &to, &to_count, &to_type));
    schedule_copy(s, at, count, type, to, to_count, to_type);
    return MPI_SUCCESS;
}

static size_t side_bytes(const struct comm *comm, const struct side *side)
{
    size_t bytes = 0;
    for (int i = 0; i < comm_peers(comm)->count; i++)
        bytes += bytes_of(side->counts ? side->counts[i] : side->count,
                          mpi_type(side->types ? side->types[i] : side->type));
    return bytes;
}

static int make_exchange(struct schedule **out, struct comm *comm, struct side send,
                         struct side receive)
{
    struct schedule *s =
        begin(comm, receive.types ? NULL : mpi_type(receive.type),
              send.types || send.base == MPI_IN_PLACE ? NULL : mpi_type(send.type), NULL);
    TRY(check_in_place(comm, receive.base));
    int error = send.base != MPI_IN_PLACE ? check_alias(comm, send.base, receive.base,
                                                        send.counts ? send.counts[0] : send.count)
                                          : MPI_SUCCESS;
    if (!error) error = fill_alltoall(s, comm, &send, &receive);
    if (!error)
        mpi_note_collective(comm, -1,
                            side_bytes(comm, send.base == MPI_IN_PLACE ? &receive : &send),
                            side_bytes(comm, &receive));
    if (error)
        mpi_schedule_free(s);
    else
        *out = s;
    return error;
}

#define make_Alltoall(s, comm, sb, sc, st, rb, rc, rt)                                             \
    make_exchange(s, comm, (struct side){sb, sc, NULL, NULL, st, NULL},                            \
                  (struct side){rb, rc, NULL, NULL, rt, NULL})
#define make_Alltoallv(s, comm, sb, sc, sp, st, rb, rc, rp, rt)                                    \
    make_exchange(s, comm, (struct side){sb, 0, sc, sp, st, NULL},                                 \
                  (struct side){rb, 0, rc, rp, rt, NULL})
#define make_Alltoallw(s, comm, sb, sc, sp, st, rb, rc, rp, rt)                                    \
    make_exchange(s, comm, (struct side){sb, 0, sc, sp, 0, st}, (struct side){rb, 0, rc, rp, 0, rt})

BOTH(Alltoall, "Alltoall", Ialltoall, "Ialltoall",
     (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
      MPI_Datatype recvtype),
     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype))
BOTH(Alltoallv, "Alltoallv", Ialltoallv, "Ialltoallv",
     (const void *sendbuf, const int *sendcounts, const int *sendplaces, MPI_Datatype sendtype,
      void *recvbuf, const int *recvcounts, const int *recvplaces, MPI_Datatype recvtype),
     (sendbuf, sendcounts, sendplaces, sendtype, recvbuf, recvcounts, recvplaces, recvtype))
BOTH(Alltoallw, "Alltoallw", Ialltoallw, "Ialltoallw",
     (const void *sendbuf, const int *sendcounts, const int *sendplaces,
      const MPI_Datatype *sendtypes, void *recvbuf, const int *recvcounts, const int *recvplaces,
      const MPI_Datatype *recvtypes),
     (sendbuf, sendcounts, sendplaces, sendtypes, recvbuf, recvcounts, recvplaces, recvtypes))

/* ---- reductions ---- */

struct reduction {
    const void *in;
    void *out;
    int count;
    struct type *type;
    struct op *op;
};

static int check_reduction(const struct comm *comm, struct reduction *r, const void *in, void *out,
                           int count, MPI_Datatype datatype, MPI_Op handle, bool has_out)
{
    TYPE(comm, type, datatype);
    struct op *op = mpi_op(handle);
    TRY(check_count(comm, count));
    TRY(mpi_op_check(comm, op, type));
    if (mpi.check) mpi_check_op(op);
    if (has_out) TRY(check_in_place(comm, out));
    if (in == MPI_IN_PLACE && (!has_out || comm->remote)) return check_in_place(comm, in);
    if (has_out && !comm->remote) TRY(check_alias(comm, in, out, count));
    *r = (struct reduction){in == MPI_IN_PLACE ? out : in, out, count, type, op};
    return MPI_SUCCESS;
}

static int make_Reduce(struct schedule **made, struct comm *comm, const void *in, void *out,
                       int count, MPI_Datatype type, MPI_Op op, int root)
{
    struct reduction r;
    void *result;
    TRY(check_root(comm, root));
    bool is_root = comm->remote ? root == MPI_ROOT : root == comm->local->rank;
    if (root == MPI_PROC_NULL) {
        *made = begin(comm, NULL, NULL, NULL);
        return MPI_SUCCESS;
    }
    TRY(check_reduction(comm, &r, comm->remote && is_root ? NULL : in, out, count, type, op,
                        is_root));
    struct schedule *s = *made = begin(comm, r.type, NULL, r.op);
    mpi_note_collective(comm, root < 0 ? -1 : root,
                        comm->remote && is_root ? 0 : bytes_of(count, r.type),
                        is_root ? bytes_of(count, r.type) : 0);
    if (comm->remote && is_root) {
        schedule_receive(s, out, count, r.type, 0);
        return MPI_SUCCESS;
    }
    if (comm->remote) {
        schedule_within(s, comm->inside);
        steps_reduce(s, comm->inside, r.in, &result, count, r.type, r.op, 0);
        schedule_within(s, NULL);
        if (!comm->local->rank) schedule_send(s, result, count, r.type, root);
        return MPI_SUCCESS;
    }
    steps_reduce(s, comm, r.in, &result, count, r.type, r.op, root);
    if (is_root) schedule_copy(s, result, count, r.type, out, count, r.type);
    return MPI_SUCCESS;
}

static int make_Allreduce(struct schedule **made, struct comm *comm, const void *in, void *out,
                          int count, MPI_Datatype type, MPI_Op op)
{
    struct reduction r;
    void *result;
    TRY(check_reduction(comm, &r, in, out, count, type, op, true));
    struct schedule *s = *made = begin(comm, r.type, NULL, r.op);
    mpi_note_collective(comm, -1, bytes_of(count, r.type), bytes_of(count, r.type));
    if (!comm->remote) {
        steps_allreduce(s, comm, r.in, out, count, r.type, r.op);
        return MPI_SUCCESS;
    }
    schedule_within(s, comm->inside);
    steps_reduce(s, comm->inside, r.in, &result, count, r.type, r.op, 0);
    schedule_within(s, NULL);
    leaders_exchange(s, comm, result, count, r.type, out, count, r.type);
    schedule_within(s, comm->inside);
    steps_bcast(s, comm->inside, out, count, r.type, 0);
    return MPI_SUCCESS;
}

static int make_prefix(struct schedule **made, struct comm *comm, const void *in, void *out,
                       int count, MPI_Datatype type, MPI_Op op, bool exclusive)
{
    struct reduction r;
    if (comm->remote) return mpi_fail(comm, MPI_ERR_COMM, "not over an inter-communicator");
    TRY(check_reduction(comm, &r, in, out, count, type, op, true));
    struct schedule *s = *made = begin(comm, r.type, NULL, r.op);
    mpi_note_collective(comm, -1, bytes_of(count, r.type),
                        exclusive && !comm->local->rank ? 0 : bytes_of(count, r.type));
    steps_scan(s, comm, r.in, out, count, r.type, r.op, exclusive);
    return MPI_SUCCESS;
}

#define make_Scan(s, comm, in, out, count, type, op)                                               \
    make_prefix(s, comm, in, out, count, type, op, false)
#define make_Exscan(s, comm, in, out, count, type, op)                                             \
    make_prefix(s, comm, in, out, count, type, op, true)

/* Reduced to rank 0 and scattered from there; over an inter-communicator ranks 0 exchange in
 * between. */
static int make_parts(struct schedule **made, struct comm *comm, const void *in, void *out,
                      const int *counts, int each, MPI_Datatype type, MPI_Op op)
{
    struct reduction r;
    void *result;
    int ranks = comm->local->count, rank = comm->local->rank, total = 0;
    for (int i = 0; i < ranks; i++) {
        TRY(check_count(comm, counts ? counts[i] : each));
        total += counts ? counts[i] : each;
    }
    TRY(check_reduction(comm, &r, in, out, total, type, op, true));
    struct schedule *s = *made = begin(comm, r.type, NULL, r.op);
    struct comm *inside = comm->remote ? comm->inside : comm;
    int *own = schedule_alloc(s, 2 * (size_t)ranks * sizeof *own), *places = own + ranks;
    for (int i = 0; i < ranks; i++) {
        own[i] = counts ? counts[i] : each;
        places[i] = i ? places[i - 1] + own[i - 1] : 0;
    }
    mpi_note_collective(comm, -1, bytes_of(total, r.type), bytes_of(own[rank], r.type));
    if (comm->remote) schedule_within(s, inside);
    steps_reduce(s, inside, r.in, &result, total, r.type, r.op, 0);
    if (comm->remote) {
        void *theirs = schedule_buffer(s, total, r.type);
        schedule_within(s, NULL);
        leaders_exchange(s, comm, result, total, r.type, theirs, total, r.type);
        schedule_within(s, inside);
        result = theirs;
    }
    struct blocks all = {result, own, 0, places, r.type};
    if (rank) {
        schedule_receive(s, out, own[rank], r.type, 0);
        return MPI_SUCCESS;
    }
    steps_scatter(s, inside, &all, 0);
    schedule_copy(s, result, own[0], r.type, out, own[0], r.type);
    return MPI_SUCCESS;
}

#define make_Reduce_scatter(s, comm, in, out, counts, type, op)                                    \
    make_parts(s, comm, in, out, counts, 0, type, op)
#define make_Reduce_scatter_block(s, comm, in, out, count, type, op)                               \
    make_parts(s, comm, in, out, NULL, count, type, op)

BOTH(Reduce, "Reduce", Ireduce, "Ireduce",
     (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, int root),
     (sendbuf, recvbuf, count, type, op, root))
BOTH(Allreduce, "Allreduce", Iallreduce, "Iallreduce",
     (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op),
     (sendbuf, recvbuf, count, type, op))
BOTH(Reduce_scatter, "Reduce_scatter", Ireduce_scatter, "Ireduce_scatter",
     (const void *sendbuf, void *recvbuf, const int *recvcounts, MPI_Datatype type, MPI_Op op),
     (sendbuf, recvbuf, recvcounts, type, op))
BOTH(Reduce_scatter_block, "Reduce_scatter_block", Ireduce_scatter_block, "Ireduce_scatter_block",
     (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op),
     (sendbuf, recvbuf, count, type, op))
BOTH(Scan, "Scan", Iscan, "Iscan",
     (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op),
     (sendbuf, recvbuf, count, type, op))
BOTH(Exscan, "Exscan", Iexscan, "Iexscan",
     (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op),
     (sendbuf, recvbuf, count, type, op))

/* ---- of the library's own use ---- */

void mpi_allreduce(struct comm *comm, const void *in, void *out, int count, MPI_Datatype type,
                   MPI_Op op)
{
    struct schedule *s = mpi_schedule_new(comm);
    steps_allreduce(s, comm, in, out, count, mpi_type(type), mpi_op(op));
    (void)mpi_schedule_run(s);
}

void mpi_allgather(struct comm *comm, const void *in, int count, MPI_Datatype datatype, void *out)
{
    struct schedule *s = mpi_schedule_new(comm);
    struct type *type = mpi_type(datatype);
    struct blocks all = {out, NULL, count, NULL, type};
    schedule_copy(s, in, count, type, blocks_at(&all, comm->local->rank), count, type);
    schedule_round(s);
    steps_allgather(s, comm, &all);
    (void)mpi_schedule_run(s);
}

void mpi_bcast(struct comm *comm, void *buffer, int count, MPI_Datatype type, int root)
{
    struct schedule *s = mpi_schedule_new(comm);
    steps_bcast(s, comm, buffer, count, mpi_type(type), root);
    (void)mpi_schedule_run(s);
}

void mpi_barrier(struct comm *comm)
{
    (void)run_barrier(comm);
}
