/* Communicators.
 *
 * A context is a number that a communicator's messages carry; that + 1 is for its collectives, + 2
 * and
 * + 3 for the inside of an inter-communicator. Rank 0 of those who make it chooses it: its rank in
 * the world and a number that it has not used before, so no other communicator has it. Communicators made by
 * one MPI_Comm_split have the same context, as no process is in two of them.
 */
#include "mpi_coll_steps.h"
#include "mpi_note.h"

#include <stdio.h>

void mpi_topo_release(struct topo *topo);
int mpi_topo_copy(const struct comm *from, struct comm *to);
int mpi_group_give(struct group *group, MPI_Group *out);
int mpi_group_compare(const struct group *a, const struct group *b);
struct errhandler *mpi_errhandler_retain(struct errhandler *handler);
void mpi_errhandler_release(struct errhandler *handler);
struct info *mpi_info_copy(const struct info *info);
void mpi_info_release(struct info *info);

struct comm *mpi_comm(MPI_Comm handle)
{
    return mpi_object(KIND_COMM, handle);
}

int mpi_comm_wrong(MPI_Comm handle)
{
    return mpi_fail(NULL, MPI_ERR_COMM,
                    handle == MPI_COMM_NULL ? "the communicator is MPI_COMM_NULL"
                                            : "this is no communicator");
}

/* Of an inter-communicator those of its other group are what messages go to. */
static void note_members(uint64_t context, const struct group *peers)
{
    mpi_note(CHILIAD_MPI_MEMBERS, peers->count, (long)peers->world, 0, 0, context);
}

struct comm *mpi_comm_new(uint64_t context, struct group *local, struct group *remote)
{
    note_members(context, remote ? remote : local);
    struct comm *comm = mpi_alloc(sizeof *comm);
    *comm = (struct comm){.refs = 1, .context = context, .local = local, .remote = remote};
    comm->handle = mpi_handle_new(KIND_COMM, comm);
    if (mpi.world) comm->handler = mpi_errhandler_retain(mpi.world->handler);
    return comm;
}

void mpi_comm_release(struct comm *comm)
{
    if (!comm || --comm->refs) return;
    mpi_group_release(comm->local);
    mpi_group_release(comm->remote);
    mpi_errhandler_release(comm->handler);
    mpi_topo_release(comm->topo);
    mpi_info_release(comm->info);
    if (comm->inside) mpi_comm_release(comm->inside);
    mpi_handle_free(comm->handle);
    free(comm);
}

static void predefine(struct comm **out, int handle, uint64_t context, struct group *group,
                      const char *name)
{
    struct comm *comm = mpi_alloc(sizeof *comm);
    *comm = (struct comm){.handle = handle, .refs = 2, .context = context, .local = group};
    (void)snprintf(comm->name, sizeof comm->name, "%s", name);
    note_members(context, group);
    mpi_handle_set(handle, comm);
    *out = comm;
}

void mpi_comm_init(void)
{
    struct group *all = mpi_group_new(mpi.ranks, NULL);
    int *own = mpi_alloc(sizeof *own);
    *own = mpi.rank;
    all->rank = mpi.rank;
    predefine(&mpi.world, MPI_COMM_WORLD, 4, all, "MPI_COMM_WORLD");
    predefine(&mpi.self, MPI_COMM_SELF, 8, mpi_group_new(1, own), "MPI_COMM_SELF");
    mpi.contexts = 4;
}

/* ---- agreement ---- */

uint64_t mpi_context_new(void)
{
    return (uint64_t)mpi.rank << 32 | mpi.contexts++ << 2;
}

static void exchange_with_leader(struct comm *comm, const void *out, int out_bytes, void *in,
                                 int in_bytes)
{
    struct request *r[] = {
        mpi_irecv(in, in_bytes, mpi.byte, 0, -2, comm, comm->context + 1),
        mpi_isend(out, out_bytes, mpi.byte, 0, -2, comm, comm->context + 1, SEND_STANDARD)};
    for (int i = 0; i < 2; i++)
        mpi_request_start(r[i]);
    for (int i = 0; i < 2; i++) {
        mpi_wait_for(r[i]);
        mpi_request_delete(r[i]);
    }
}

/* Of an inter-communicator: the lower one of what ranks 0 choose. */
uint64_t mpi_context_agree(struct comm *comm)
{
    uint64_t context = comm->local->rank ? 0 : mpi_context_new(), other;
    if (comm->remote && !comm->local->rank) {
        exchange_with_leader(comm, &context, sizeof context, &other, sizeof other);
        if (other < context) context = other;
    }
    mpi_bcast(comm->inside ? comm->inside : comm, &context, sizeof context, MPI_BYTE, 0);
    return context;
}

static int give(struct comm *comm, MPI_Comm *out)
{
    *out = comm->handle;
    return MPI_SUCCESS;
}

static struct comm *inherit(struct comm *comm, const struct comm *from)
{
    mpi_errhandler_release(comm->handler);
    comm->handler = mpi_errhandler_retain(from->handler);
    return comm;
}

/* The intra-communicator of the local group, for the library's use. */
static void make_inside(struct comm *comm)
{
    comm->inside = mpi_comm_new(comm->context + 2, mpi_group_retain(comm->local), NULL);
}

static int duplicate(struct comm *comm, uint64_t context, MPI_Comm *result)
{
    struct comm *copy = mpi_comm_new(context, mpi_group_retain(comm->local),
                                     comm->remote ? mpi_group_retain(comm->remote) : NULL);
    inherit(copy, comm);
    if (comm->remote) make_inside(copy);
    (void)mpi_topo_copy(comm, copy);
    int error = mpi_attr_copy_all(KIND_COMM, comm->handle, comm->attributes, &copy->attributes);
    if (error) {
        mpi_comm_release(copy);
        *result = MPI_COMM_NULL;
        return mpi_fail(comm, error, "a copy function of an attribute failed");
    }
    copy->info = mpi_info_copy(comm->info);
    return give(copy, result);
}

/* ---- calls ---- */

MPI(int, Comm_size, (MPI_Comm handle, int *size))
{
    ENTER("Comm_size");
    COMM(comm, handle);
    *size = comm->local->count;
    return MPI_SUCCESS;
}

MPI(int, Comm_rank, (MPI_Comm handle, int *rank))
{
    ENTER("Comm_rank");
    COMM(comm, handle);
    *rank = comm->local->rank;
    return MPI_SUCCESS;
}

MPI(int, Comm_test_inter, (MPI_Comm handle, int *flag))
{
    ENTER("Comm_test_inter");
    COMM(comm, handle);
    *flag = comm->remote != NULL;
    return MPI_SUCCESS;
}

#define REMOTE(comm)                                                                               \
    if (!(comm)->remote) return mpi_fail(comm, MPI_ERR_COMM, "this is no inter-communicator")

MPI(int, Comm_remote_size, (MPI_Comm handle, int *size))
{
    ENTER("Comm_remote_size");
    COMM(comm, handle);
    REMOTE(comm);
    *size = comm->remote->count;
    return MPI_SUCCESS;
}

MPI(int, Comm_group, (MPI_Comm handle, MPI_Group *group))
{
    ENTER("Comm_group");
    COMM(comm, handle);
    return mpi_group_give(mpi_group_retain(comm->local), group);
}

MPI(int, Comm_remote_group, (MPI_Comm handle, MPI_Group *group))
{
    ENTER("Comm_remote_group");
    COMM(comm, handle);
    REMOTE(comm);
    return mpi_group_give(mpi_group_retain(comm->remote), group);
}

MPI(int, Comm_compare, (MPI_Comm handle, MPI_Comm other_handle, int *result))
{
    ENTER("Comm_compare");
    COMM(comm, handle);
    COMM(other, other_handle);
    if (comm == other) {
        *result = MPI_IDENT;
        return MPI_SUCCESS;
    }
    *result = MPI_UNEQUAL;
    if (!comm->remote != !other->remote) return MPI_SUCCESS;
    int local = mpi_group_compare(comm->local, other->local),
        remote = comm->remote ? mpi_group_compare(comm->remote, other->remote) : MPI_IDENT;
    if (remote > local) local = remote;
    *result = local == MPI_IDENT ? MPI_CONGRUENT : local;
    return MPI_SUCCESS;
}

MPI(int, Comm_dup, (MPI_Comm handle, MPI_Comm *result))
{
    ENTER("Comm_dup");
    COMM(comm, handle);
    return duplicate(comm, mpi_context_agree(comm), result);
}

MPI(int, Comm_dup_with_info, (MPI_Comm handle, MPI_Info info, MPI_Comm *result))
{
    ENTER("Comm_dup_with_info");
    COMM(comm, handle);
    TRY(duplicate(comm, mpi_context_agree(comm), result));
    struct comm *copy = mpi_comm(*result);
    mpi_info_release(copy->info);
    copy->info = mpi_info_copy(mpi_object(KIND_INFO, info));
    return MPI_SUCCESS;
}

/* MPI_Comm_idup: what waits for the context. */
struct duplicating {
    uint64_t mine, theirs;
    struct comm *comm;
    MPI_Comm *result;
};

static int choose_lower(struct schedule *s, void *context)
{
    struct duplicating *d = context;
    (void)s;
    if (d->theirs < d->mine) d->mine = d->theirs;
    return MPI_SUCCESS;
}

/* The attributes were copied when the call was made. */
static int finish_duplicate(struct schedule *s, void *context)
{
    struct duplicating *d = context;
    (void)s;
    struct comm *copy = mpi_comm(*d->result);
    copy->context = d->mine;
    if (copy->inside) copy->inside->context = d->mine + 2;
    return MPI_SUCCESS;
}

static int start_duplicate(struct comm *comm, MPI_Comm *result, MPI_Request *request)
{
    struct schedule *s = mpi_schedule_new(comm);
    struct duplicating *d = schedule_alloc(s, sizeof *d);
    int bytes = sizeof d->mine;
    TRY(duplicate(comm, 0, result));
    *d = (struct duplicating){comm->local->rank ? 0 : mpi_context_new(), 0, comm, result};
    d->theirs = d->mine;
    if (comm->remote && !comm->local->rank) {
        schedule_receive(s, &d->theirs, bytes, mpi.byte, 0);
        schedule_send(s, &d->mine, bytes, mpi.byte, 0);
        schedule_round(s);
        schedule_call_back(s, choose_lower, d);
        schedule_round(s);
    }
    if (comm->remote) schedule_within(s, comm->inside);
    steps_bcast(s, comm->remote ? comm->inside : comm, &d->mine, bytes, mpi.byte, 0);
    schedule_round(s);
    schedule_call_back(s, finish_duplicate, d);
    return mpi_schedule_start(s, request);
}

MPI(int, Comm_idup, (MPI_Comm handle, MPI_Comm *result, MPI_Request *request))
{
    ENTER("Comm_idup");
    COMM(comm, handle);
    return start_duplicate(comm, result, request);
}

MPI(int, Comm_idup_with_info,
    (MPI_Comm handle, MPI_Info info, MPI_Comm *result, MPI_Request *request))
{
    ENTER("Comm_idup_with_info");
    COMM(comm, handle);
    TRY(start_duplicate(comm, result, request));
    struct comm *copy = mpi_comm(*result);
    mpi_info_release(copy->info);
    copy->info = mpi_info_copy(mpi_object(KIND_INFO, info));
    return MPI_SUCCESS;
}

MPI(int, Comm_free, (MPI_Comm * handle))
{
    ENTER("Comm_free");
    COMM(comm, *handle);
    if (comm == mpi.world || comm == mpi.self)
        return mpi_fail(comm, MPI_ERR_COMM, "%s cannot be freed", comm->name);
    int error = mpi_attr_delete_all(comm->handle, &comm->attributes);
    if (error) return mpi_fail(comm, error, "a delete function of an attribute failed");
    *handle = MPI_COMM_NULL;
    mpi_comm_release(comm);
    return MPI_SUCCESS;
}

MPI(int, Comm_disconnect, (MPI_Comm * comm))
{
    return PMPI_Comm_free(comm);
}

/* ---- split and create ---- */

struct place {
    int color, key, rank, world;
};

static int order(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return x->key != y->key ? (x->key < y->key ? -1 : 1) : x->rank - y->rank;
}

/* Those of my color in the order of keys; NULL if there are none. */
static struct group *choose(struct place *all, int count, int color)
{
    int mine = 0;
    for (int i = 0; i < count; i++)
        if (all[i].color == color) all[mine++] = all[i];
    qsort(all, (size_t)mine, sizeof *all, order);
    int *world = mpi_alloc((size_t)mine * sizeof *world);
    for (int i = 0; i < mine; i++)
        world[i] = all[i].world;
    return mpi_group_new(mine, world);
}

/* The other group's places, over the leaders. */
static struct place *exchange(struct comm *comm, struct place *mine)
{
    struct place *theirs = mpi_alloc((size_t)comm->remote->count * sizeof *theirs);
    int bytes = comm->remote->count * (int)sizeof *theirs;
    if (!comm->local->rank)
        exchange_with_leader(comm, mine, comm->local->count * (int)sizeof *mine, theirs, bytes);
    mpi_bcast(comm->inside, theirs, bytes, MPI_BYTE, 0);
    return theirs;
}

static int split(struct comm *comm, int color, int key, MPI_Comm *result)
{
    struct place own = {color, key, comm->local->rank, mpi.rank},
                 *all = mpi_alloc((size_t)comm->local->count * sizeof *all), *others = NULL;
    mpi_allgather(comm->remote ? comm->inside : comm, &own, sizeof own, MPI_BYTE, all);
    if (comm->remote) others = exchange(comm, all);
    uint64_t context = mpi_context_agree(comm);
    *result = MPI_COMM_NULL;
    if (color != MPI_UNDEFINED) {
        struct group *remote = others ? choose(others, comm->remote->count, color) : NULL;
        if (remote && !remote->count)
            mpi_group_release(remote);
        else {
            struct comm *made = inherit(
                mpi_comm_new(context, choose(all, comm->local->count, color), remote), comm);
            if (remote) make_inside(made);
            *result = made->handle;
        }
    }
    free(all);
    free(others);
    return MPI_SUCCESS;
}

MPI(int, Comm_split, (MPI_Comm handle, int color, int key, MPI_Comm *result))
{
    ENTER("Comm_split");
    COMM(comm, handle);
    if (color < 0 && color != MPI_UNDEFINED) return mpi_fail(comm, MPI_ERR_ARG, "color %d", color);
    return split(comm, color, key, result);
}

int mpi_comm_split(struct comm *comm, int color, int key, MPI_Comm *result)
{
    return split(comm, color, key, result);
}

MPI(int, Comm_split_type, (MPI_Comm handle, int type, int key, MPI_Info info, MPI_Comm *result))
{
    ENTER("Comm_split_type");
    (void)info;
    COMM(comm, handle);
    if (type != MPI_COMM_TYPE_SHARED && type != MPI_UNDEFINED)
        return mpi_fail(comm, MPI_ERR_ARG, "split type %d", type);
    return split(comm, type == MPI_UNDEFINED ? MPI_UNDEFINED : mpi.place >> 2, key, result);
}

MPI(int, Comm_create, (MPI_Comm handle, MPI_Group group_handle, MPI_Comm *result))
{
    ENTER("Comm_create");
    COMM(comm, handle);
    struct group *group = mpi_object(KIND_GROUP, group_handle);
    if (!group) return mpi_fail(comm, MPI_ERR_GROUP, "this is no group");
    if (comm->remote)
        return split(comm, group->rank == MPI_UNDEFINED ? MPI_UNDEFINED : 0,
                     group->rank == MPI_UNDEFINED ? 0 : group->rank, result);
    for (int i = 0; i < group->count; i++)
        if (mpi_group_find(comm->local, group_world(group, i)) == MPI_UNDEFINED)
            return mpi_fail(comm, MPI_ERR_GROUP, "rank %d of the group is not in the communicator",
                            i);
    uint64_t context = mpi_context_agree(comm);
    *result = MPI_COMM_NULL;
    if (group->rank == MPI_UNDEFINED) return MPI_SUCCESS;
    return give(inherit(mpi_comm_new(context, mpi_group_retain(group), NULL), comm), result);
}

/* Collective over the group only: its first rank sends the context to the others. */
static uint64_t context_of_group(struct comm *comm, const struct group *group, int tag)
{
    uint64_t context = group->rank ? 0 : mpi_context_new();
    for (int i = 1; i < group->count; i++) {
        if (group->rank && group->rank != i) continue;
        int other = mpi_group_find(comm->local, group_world(group, group->rank ? 0 : i));
        struct request *r = group->rank
                                ? mpi_irecv(&context, sizeof context, mpi.byte, other, -3 - tag,
                                            comm, comm->context + 1)
                                : mpi_isend(&context, sizeof context, mpi.byte, other, -3 - tag,
                                            comm, comm->context + 1, SEND_STANDARD);
        mpi_request_start(r);
        mpi_wait_for(r);
        mpi_request_delete(r);
    }
    return context;
}

MPI(int, Comm_create_group, (MPI_Comm handle, MPI_Group group_handle, int tag, MPI_Comm *result))
{
    ENTER("Comm_create_group");
    COMM(comm, handle);
    const struct group *group = mpi_object(KIND_GROUP, group_handle);
    if (!group) return mpi_fail(comm, MPI_ERR_GROUP, "this is no group");
    *result = MPI_COMM_NULL;
    if (group->rank == MPI_UNDEFINED) return MPI_SUCCESS;
    uint64_t context = context_of_group(comm, group, tag);
    return give(inherit(mpi_comm_new(context, mpi_group_retain((struct group *)group), NULL), comm),
                result);
}

/* ---- inter-communicators ---- */

static void leaders(struct comm *peer, int rank, int tag, const void *out, int out_bytes, void *in,
                    int in_bytes)
{
    struct request *r[] = {
        mpi_irecv(in, in_bytes, mpi.byte, rank, tag, peer, peer->context),
        mpi_isend(out, out_bytes, mpi.byte, rank, tag, peer, peer->context, SEND_STANDARD)};
    for (int i = 0; i < 2; i++)
        mpi_request_start(r[i]);
    for (int i = 0; i < 2; i++) {
        mpi_wait_for(r[i]);
        mpi_request_delete(r[i]);
    }
}

MPI(int, Intercomm_create,
    (MPI_Comm local_handle, int local_leader, MPI_Comm peer_handle, int remote_leader, int tag,
     MPI_Comm *result))
{
    ENTER("Intercomm_create");
    COMM(local, local_handle);
    if (local->remote)
        return mpi_fail(local, MPI_ERR_COMM, "the local communicator is an inter-communicator");
    int rank = local->local->rank, count = local->local->count;
    if (local_leader < 0 || local_leader >= count)
        return mpi_fail(local, MPI_ERR_RANK, "there is no local leader %d", local_leader);
    struct comm *peer = rank == local_leader ? mpi_comm(peer_handle) : NULL;
    if (rank == local_leader) {
        if (!peer) return mpi_comm_wrong(peer_handle);
        if (remote_leader < 0 || remote_leader >= comm_peers(peer)->count)
            return mpi_fail(peer, MPI_ERR_RANK, "there is no remote leader %d", remote_leader);
    }
    struct {
        uint64_t context;
        int count;
    } head = {0, count}, other = {0, 0};
    int *ranks = mpi_alloc((size_t)count * sizeof *ranks);
    for (int i = 0; i < count; i++)
        ranks[i] = group_world(local->local, i);
    if (peer) {
        head.context = mpi_context_new();
        leaders(peer, remote_leader, tag, &head, sizeof head, &other, sizeof other);
        if (head.context < other.context) other.context = head.context;
    }
    mpi_bcast(local, &other, sizeof other, MPI_BYTE, local_leader);
    int *others = mpi_alloc((size_t)other.count * sizeof *others);
    if (peer)
        leaders(peer, remote_leader, tag, ranks, count * (int)sizeof *ranks, others,
                other.count * (int)sizeof *others);
    free(ranks);
    mpi_bcast(local, others, other.count, MPI_INT, local_leader);
    struct comm *made = mpi_comm_new(other.context, mpi_group_retain(local->local),
                                     mpi_group_new(other.count, others));
    make_inside(inherit(made, local));
    return give(made, result);
}

MPI(int, Intercomm_merge, (MPI_Comm handle, int high, MPI_Comm *result))
{
    ENTER("Intercomm_merge");
    COMM(comm, handle);
    REMOTE(comm);
    struct place *mine = mpi_alloc((size_t)comm->local->count * sizeof *mine);
    mine[0].color = !!high;
    struct place *theirs = exchange(comm, mine);
    free(mine);
    /* Only the leader's part counts; the lower one is first, ties by the first rank of the world.
     */
    int *world = mpi_alloc((size_t)(comm->local->count + comm->remote->count) * sizeof *world),
        count = 0;
    bool their_high = theirs[0].color;
    free(theirs);
    int my_high = !!high;
    mpi_bcast(comm->inside, &my_high, 1, MPI_INT, 0);
    bool first = my_high != (int)their_high
                     ? !my_high
                     : group_world(comm->local, 0) < group_world(comm->remote, 0);
    for (int part = 0; part < 2; part++) {
        const struct group *group = (part == 0) == first ? comm->local : comm->remote;
        for (int i = 0; i < group->count; i++)
            world[count++] = group_world(group, i);
    }
    uint64_t context = mpi_context_agree(comm);
    return give(inherit(mpi_comm_new(context, mpi_group_new(count, world), NULL), comm), result);
}

/* ---- names ---- */

MPI(int, Comm_set_name, (MPI_Comm handle, const char *name))
{
    ENTER("Comm_set_name");
    COMM(comm, handle);
    (void)snprintf(comm->name, sizeof comm->name, "%s", name);
    return MPI_SUCCESS;
}

MPI(int, Comm_get_name, (MPI_Comm handle, char *name, int *length))
{
    ENTER("Comm_get_name");
    COMM(comm, handle);
    strcpy(name, comm->name);
    *length = (int)strlen(name);
    return MPI_SUCCESS;
}

MPI(int, Comm_get_parent, (MPI_Comm * comm))
{
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}
