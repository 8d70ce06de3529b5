/* Algorithms of collectives over point to point messages.
 *
 *   barrier       dissemination: log2 rounds
 *   bcast         binomial tree; from LONG bytes on a scatter and an allgather
 *   reduce        binomial tree of contiguous ranks; for operations that do not commute to rank 0,
 * then to the root allreduce     recursive doubling; from LONG bytes on a reduce-scatter by halving
 * and an allgather by doubling allgather     Bruck's, log2 rounds; from LONG bytes on a ring scan
 * recursive doubling gather, scatter, all-to-all: messages between all pairs concerned
 *
 * An operation always has the lower ranks on its left.
 */
#include "mpi_coll_steps.h"

enum { LONG = 16384, LONG_REDUCE = 4096 };

void steps_barrier(struct schedule *s, struct comm *comm)
{
    int rank = comm->local->rank, count = comm->local->count;
    for (int distance = 1; distance < count; distance *= 2) {
        schedule_send(s, NULL, 0, mpi.byte, (rank + distance) % count);
        schedule_receive(s, NULL, 0, mpi.byte, (rank - distance + count) % count);
        schedule_round(s);
    }
}

static void bcast_tree(struct schedule *s, struct comm *comm, void *buffer, int count,
                       struct type *type, int root)
{
    int ranks = comm->local->count, own = (comm->local->rank - root + ranks) % ranks, mask = 1;
    while (mask < ranks && !(own & mask))
        mask *= 2;
    if (own) {
        schedule_receive(s, buffer, count, type, (own - mask + root) % ranks);
        schedule_round(s);
    }
    for (mask /= 2; mask; mask /= 2)
        if (own + mask < ranks) schedule_send(s, buffer, count, type, (own + mask + root) % ranks);
    schedule_round(s);
}

/* The parts of `count` elements that ranks have: as even as can be. */
static int *even(struct schedule *s, int count, int ranks, int **places)
{
    int *counts = schedule_alloc(s, 2 * (size_t)ranks * sizeof *counts);
    *places = counts + ranks;
    for (int i = 0; i < ranks; i++) {
        counts[i] = count / ranks + (i < count % ranks);
        (*places)[i] = i ? (*places)[i - 1] + counts[i - 1] : 0;
    }
    return counts;
}

/* Counts and datatypes of ranks may differ, as long as they mean the same bytes. */
void steps_bcast(struct schedule *s, struct comm *comm, void *buffer, int count, struct type *type,
                 int root)
{
    int ranks = comm->local->count, rank = comm->local->rank, *places;
    size_t bytes = (size_t)count * type->size;
    if (ranks < 3 || bytes < LONG || bytes > INT32_MAX) {
        bcast_tree(s, comm, buffer, count, type, root);
        return;
    }
    int *counts = even(s, (int)bytes, ranks, &places);
    char *flat = type->dense ? at_offset(buffer, type->true_lb) : schedule_alloc(s, bytes);
    struct blocks all = {flat, counts, 0, places, mpi.byte};
    if (rank == root) {
        if (!type->dense) {
            schedule_copy(s, buffer, count, type, flat, (int)bytes, mpi.byte);
            schedule_round(s);
        }
        steps_scatter(s, comm, &all, root);
    } else
        schedule_receive(s, blocks_at(&all, rank), counts[rank], mpi.byte, root);
    schedule_round(s);
    steps_allgather(s, comm, &all);
    if (type->dense || rank == root) return;
    schedule_round(s);
    schedule_copy(s, flat, (int)bytes, mpi.byte, buffer, count, type);
}

/* `own` and `other` are both in memory of the schedule: returns the one with the result. */
static void *combine(struct schedule *s, void *own, void *other, bool other_is_right, int count,
                     struct type *type, struct op *op)
{
    schedule_reduce(s, other_is_right ? own : other, other_is_right ? other : own, count, type, op);
    schedule_round(s);
    return other_is_right ? other : own;
}

void steps_reduce(struct schedule *s, struct comm *comm, const void *in, void **result, int count,
                  struct type *type, struct op *op, int root)
{
    int ranks = comm->local->count, top = op->commutes ? root : 0, rank = comm->local->rank,
        own = (rank - top + ranks) % ranks;
    void *mine = schedule_buffer(s, count, type), *other = NULL;
    schedule_copy(s, in, count, type, mine, count, type);
    schedule_round(s);
    for (int mask = 1; mask < ranks; mask *= 2) {
        if (own & mask) {
            schedule_send(s, mine, count, type, (own - mask + top) % ranks);
            schedule_round(s);
            break;
        }
        if (own + mask >= ranks) continue;
        if (!other) other = schedule_buffer(s, count, type);
        schedule_receive(s, other, count, type, (own + mask + top) % ranks);
        schedule_round(s);
        void *now = combine(s, mine, other, true, count, type, op);
        other = now == mine ? other : mine;
        mine = now;
    }
    if (top != root) {
        if (rank == top) schedule_send(s, mine, count, type, root);
        if (rank == root) schedule_receive(s, mine, count, type, top);
        schedule_round(s);
    }
    *result = mine;
}

/* The largest power of two of ranks takes part; of the first ranks pairs come together before. */
struct doubling {
    int ranks, power, rest, number; /* number: among the ranks that take part, -1: does not */
};

static struct doubling doubling_of(const struct comm *comm)
{
    struct doubling d = {.ranks = comm->local->count, .power = 1};
    int rank = comm->local->rank;
    while (2 * d.power <= d.ranks)
        d.power *= 2;
    d.rest = d.ranks - d.power;
    d.number = rank >= 2 * d.rest ? rank - d.rest : rank % 2 ? rank / 2 : -1;
    return d;
}

static int rank_of(const struct doubling *d, int number)
{
    return number < d->rest ? 2 * number + 1 : number + d->rest;
}

/* Halves: in each round a rank gives away one half of its part and gets the other's of its own
 * half. */
static void reduce_halves(struct schedule *s, const struct doubling *d, void *mine, void *other,
                          int count, struct type *type, struct op *op)
{
    int *starts = schedule_alloc(s, ((size_t)d->power + 1) * sizeof *starts);
    for (int i = 0; i <= d->power; i++)
        starts[i] = (int)((long long)count * i / d->power);
    MPI_Aint extent = type_extent(type);
    int low = 0, high = d->power;
    for (int mask = d->power / 2; mask; mask /= 2) {
        int peer = rank_of(d, d->number ^ mask), middle = (low + high) / 2;
        bool lower = !(d->number & mask);
        int keep = starts[lower ? low : middle], kept = starts[lower ? middle : high] - keep;
        int give = starts[lower ? middle : low], given = starts[lower ? high : middle] - give;
        schedule_receive(s, at_offset(other, keep * extent), kept, type, peer);
        schedule_send(s, at_offset(mine, give * extent), given, type, peer);
        schedule_round(s);
        schedule_reduce(s, at_offset(other, keep * extent), at_offset(mine, keep * extent), kept,
                        type, op);
        schedule_round(s);
        *(lower ? &high : &low) = middle;
    }
    for (int mask = 1; mask < d->power; mask *= 2) {
        int peer = rank_of(d, d->number ^ mask), size = high - low;
        int theirs = d->number & mask ? low - size : high;
        schedule_receive(s, at_offset(mine, starts[theirs] * extent),
                         starts[theirs + size] - starts[theirs], type, peer);
        schedule_send(s, at_offset(mine, starts[low] * extent), starts[high] - starts[low], type,
                      peer);
        schedule_round(s);
        if (d->number & mask)
            low = theirs;
        else
            high += size;
    }
}

void steps_allreduce(struct schedule *s, struct comm *comm, const void *in, void *out, int count,
                     struct type *type, struct op *op)
{
    struct doubling d = doubling_of(comm);
    int rank = comm->local->rank;
    void *mine = schedule_buffer(s, count, type), *other = schedule_buffer(s, count, type);
    schedule_copy(s, in, count, type, mine, count, type);
    schedule_round(s);
    if (rank < 2 * d.rest) {
        if (d.number < 0)
            schedule_send(s, mine, count, type, rank + 1);
        else
            schedule_receive(s, other, count, type, rank - 1);
        schedule_round(s);
        if (d.number >= 0) (void)combine(s, mine, other, false, count, type, op);
    }
    if (d.number >= 0 && op->commutes && op->predefined && count >= d.power &&
        (size_t)count * type->size >= LONG_REDUCE)
        reduce_halves(s, &d, mine, other, count, type, op);
    else
        for (int mask = 1; d.number >= 0 && mask < d.power; mask *= 2) {
            int peer = rank_of(&d, d.number ^ mask);
            schedule_receive(s, other, count, type, peer);
            schedule_send(s, mine, count, type, peer);
            schedule_round(s);
            void *now = combine(s, mine, other, !(d.number & mask), count, type, op);
            other = now == mine ? other : mine;
            mine = now;
        }
    if (rank < 2 * d.rest) {
        if (d.number < 0)
            schedule_receive(s, mine, count, type, rank + 1);
        else
            schedule_send(s, mine, count, type, rank - 1);
        schedule_round(s);
    }
    schedule_copy(s, mine, count, type, out, count, type);
}

void steps_scan(struct schedule *s, struct comm *comm, const void *in, void *out, int count,
                struct type *type, struct op *op, bool exclusive)
{
    int ranks = comm->local->count, rank = comm->local->rank;
    void *all = schedule_buffer(s, count, type), *other = schedule_buffer(s, count, type),
         *below = schedule_buffer(s, count, type);
    bool has_below = !exclusive;
    schedule_copy(s, in, count, type, all, count, type);
    if (!exclusive) schedule_copy(s, in, count, type, below, count, type);
    schedule_round(s);
    for (int mask = 1; mask < ranks; mask *= 2) {
        int peer = rank ^ mask;
        if (peer >= ranks) continue;
        schedule_receive(s, other, count, type, peer);
        schedule_send(s, all, count, type, peer);
        schedule_round(s);
        if (peer < rank) {
            if (has_below)
                schedule_reduce(s, other, below, count, type, op);
            else
                schedule_copy(s, other, count, type, below, count, type);
            has_below = true;
        }
        void *now = combine(s, all, other, peer > rank, count, type, op);
        other = now == all ? other : all;
        all = now;
    }
    if (has_below) schedule_copy(s, below, count, type, out, count, type);
}

/* Bruck: after round k a rank has its own and the next 2^k - 1 blocks, packed. */
static void allgather_short(struct schedule *s, struct comm *comm, const struct blocks *all)
{
    int ranks = comm->local->count, rank = comm->local->rank;
    size_t size = all->type->size, total = 0;
    int *starts = schedule_alloc(s, ((size_t)ranks + 1) * sizeof *starts);
    for (int i = 0; i < ranks; i++) {
        starts[i] = (int)total;
        total += (size_t)blocks_count(all, (rank + i) % ranks) * size;
    }
    starts[ranks] = (int)total;
    char *packed = schedule_alloc(s, total);
    int own = blocks_count(all, rank);
    schedule_copy(s, blocks_at(all, rank), own, all->type, packed, own * (int)size, mpi.byte);
    schedule_round(s);
    for (int have = 1; have < ranks; have *= 2) {
        int more = ranks - have < have ? ranks - have : have;
        schedule_receive(s, packed + starts[have], starts[have + more] - starts[have], mpi.byte,
                         (rank + have) % ranks);
        schedule_send(s, packed, starts[more], mpi.byte, (rank - have + ranks) % ranks);
        schedule_round(s);
    }
    for (int i = 1; i < ranks; i++) {
        int from = (rank + i) % ranks;
        schedule_copy(s, packed + starts[i], starts[i + 1] - starts[i], mpi.byte,
                      blocks_at(all, from), blocks_count(all, from), all->type);
    }
}

static void allgather_long(struct schedule *s, struct comm *comm, const struct blocks *all)
{
    int ranks = comm->local->count, rank = comm->local->rank, next = (rank + 1) % ranks,
        last = (rank - 1 + ranks) % ranks;
    for (int i = 0; i < ranks - 1; i++) {
        int out = (rank - i + ranks) % ranks, in = (out - 1 + ranks) % ranks;
        schedule_receive(s, blocks_at(all, in), blocks_count(all, in), all->type, last);
        schedule_send(s, blocks_at(all, out), blocks_count(all, out), all->type, next);
        schedule_round(s);
    }
}

void steps_allgather(struct schedule *s, struct comm *comm, const struct blocks *all)
{
    size_t total = 0;
    for (int i = 0; i < comm->local->count; i++)
        total += (size_t)blocks_count(all, i) * all->type->size;
    (total < LONG ? allgather_short : allgather_long)(s, comm, all);
}

void steps_gather(struct schedule *s, struct comm *comm, const struct blocks *all, int but)
{
    for (int i = 0; i < comm_peers(comm)->count; i++)
        if (i != but) schedule_receive(s, blocks_at(all, i), blocks_count(all, i), all->type, i);
}

void steps_scatter(struct schedule *s, struct comm *comm, const struct blocks *all, int but)
{
    for (int i = 0; i < comm_peers(comm)->count; i++)
        if (i != but) schedule_send(s, blocks_at(all, i), blocks_count(all, i), all->type, i);
}
