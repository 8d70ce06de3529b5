/* A random MPI program: `mpi_random SEED STEPS`. All ranks draw the same steps; what they receive
 * goes into a checksum of each rank, which rank 0 prints. The result depends on the seed, the
 * number of steps and of ranks only, so that two MPI libraries can be compared.
 *
 * Steps: sets of messages in random modes, sizes and layouts, some with wildcards where one message
 * fits or where the order does not show; collectives, blocking or not, some in place; parts of
 * communicators, Cartesian and inter-communicators; one-sided accesses with fences, locks, and post
 * and start.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096, MESSAGES = 12 };

static uint64_t state, checksum = 14695981039346656037u;
static int rank, size;
static int out[MOST * 4], in[MOST * 16];

/* The same on all ranks. */
static int draw(int below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)below);
}

static void fold(const int *values, int count)
{
    for (int i = 0; i < count; i++)
        checksum = (checksum ^ (uint32_t)values[i]) * 1099511628211u;
}

static void fill(int seed)
{
    for (int i = 0; i < MOST * 4; i++)
        out[i] = (seed * 7919 + i * 31) % 100003;
}

static int draw_count(void)
{
    static const int ends[] = {1, 8, 64, 400, MOST / 4};
    return draw(ends[draw(5)] + 1);
}

/* A layout of ints that fits into four times its size. */
static MPI_Datatype draw_type(int *ints)
{
    MPI_Datatype type, inner;
    int lengths[3], places[3], at = 0, what = draw(8);
    *ints = 1;
    if (what == 0) return MPI_INT;
    if (what == 1) {
        int count = 1 + draw(4), length = 1 + draw(3);
        *ints = count * length;
        MPI_Type_vector(count, length, length + draw(3), MPI_INT, &type);
    } else if (what == 2) {
        *ints = 0;
        for (int i = 0; i < 3; i++) {
            lengths[i] = draw(3);
            places[i] = at;
            at += lengths[i] + draw(2);
            *ints += lengths[i];
        }
        MPI_Type_indexed(3, lengths, places, MPI_INT, &type);
    } else if (what == 3) {
        MPI_Type_contiguous(2, MPI_INT, &inner);
        MPI_Type_create_resized(inner, 0, 12, &type);
        MPI_Type_free(&inner);
        *ints = 2;
    } else if (what == 4) { /* of a type with gaps, at places in bytes */
        MPI_Aint bytes[2] = {12 * draw(2), 24 + 4 * draw(3)};
        MPI_Type_vector(2, 1, 2, MPI_INT, &inner);
        MPI_Type_create_hindexed_block(2, 1, bytes, inner, &type);
        MPI_Type_free(&inner);
        *ints = 4;
    } else if (what == 5) { /* several types in several orders */
        int backwards = draw(2), counts[] = {1, 2, 1};
        MPI_Aint bytes[] = {backwards ? 24 : 0, 8, backwards ? 0 : 24};
        MPI_Datatype types[] = {MPI_INT, MPI_INT, MPI_INT};
        MPI_Type_create_struct(3, counts, bytes, types, &type);
        *ints = 4;
    } else if (what == 6) {
        MPI_Type_contiguous(3, MPI_INT, &inner);
        MPI_Type_create_hvector(2, 1, 16, inner, &type);
        MPI_Type_free(&inner);
        *ints = 6;
    } else {
        int sizes[] = {3, 4}, parts[] = {2, 2}, starts[] = {draw(2), draw(3)};
        *ints = 4;
        MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type);
    }
    MPI_Type_commit(&type);
    return type;
}

static void drop_type(MPI_Datatype *type)
{
    if (*type != MPI_INT) MPI_Type_free(type);
}

/* ---- messages ---- */

static void messages(MPI_Comm comm, int self, int ranks)
{
    static int received[MESSAGES][MOST * 4];
    MPI_Request requests[2 * MESSAGES];
    MPI_Status status;
    int count = 0, number = 1 + draw(MESSAGES), completed, index;
    fill(rank + draw(1000));
    for (int i = 0; i < number; i++) {
        int from = draw(ranks), to = draw(ranks), ints, other, elements = draw_count(),
            mode = draw(4), any = draw(3);
        MPI_Datatype sent = draw_type(&ints), got = draw_type(&other);
        int most = other ? (elements * ints + other - 1) / other : 0;
        if (ints * elements > MOST / 4) elements = ints ? MOST / 4 / ints : 0;
        most = other ? (elements * ints + other - 1) / other : 0;
        if (!other && elements * ints) {
            drop_type(&got);
            got = MPI_INT;
            most = elements * ints;
        }
        if (to == self) {
            memset(received[i], 0, sizeof received[i]);
            MPI_Irecv(received[i], most, got, any ? from : MPI_ANY_SOURCE, i, comm,
                      &requests[count++]);
        }
        if (from == self) {
            if (mode == 0) MPI_Isend(out, elements, sent, to, i, comm, &requests[count++]);
            if (mode == 1) MPI_Issend(out, elements, sent, to, i, comm, &requests[count++]);
            if (mode == 2) MPI_Isend(out + 100, elements, sent, to, i, comm, &requests[count++]);
            if (mode == 3) {
                MPI_Send_init(out + 7, elements, sent, to, i, comm, &requests[count]);
                MPI_Start(&requests[count++]);
            }
        }
        drop_type(&sent);
        drop_type(&got);
    }
    int how = draw(3);
    for (completed = 0; how && completed < count; completed++) {
        MPI_Waitany(count, requests, &index, &status);
        if (index == MPI_UNDEFINED) break;
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; i++) /* persistent ones */
        if (requests[i] != MPI_REQUEST_NULL) MPI_Request_free(&requests[i]);
    for (int i = 0; i < number; i++)
        fold(received[i], 1000);
    memset(received, 0, sizeof received);
}

/* One after the other from each rank to rank 0, which takes what comes by probes and wildcards:
 * from each rank in order, so a sum over places is enough. */
static void wildcards(MPI_Comm comm, int self, int ranks)
{
    int number = 1 + draw(4), most = 1 + draw(600), handle = draw(2), seen[64] = {0};
    fill(rank + draw(50));
    for (int i = 0; self && i < number; i++)
        MPI_Send(out + i, 1 + (self + i) % most, MPI_INT, 0, i % 3, comm);
    for (int i = 0; !self && i < number * (ranks - 1); i++) {
        MPI_Status status;
        MPI_Message message;
        int count, from, sum = 0;
        memset(in, 0, (size_t)most * sizeof *in);
        if (handle)
            MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &message, &status);
        else
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        from = status.MPI_SOURCE;
        if (handle)
            MPI_Mrecv(in, count, MPI_INT, &message, &status);
        else
            MPI_Recv(in, count, MPI_INT, from, status.MPI_TAG, comm, &status);
        for (int k = 0; k < count; k++)
            sum += in[k] * (k + 1) % 10007;
        checksum +=
            (uint64_t)(unsigned)(sum * (from + 1)) * (unsigned)(++seen[from] + status.MPI_TAG);
    }
    MPI_Barrier(comm);
}

/* ---- communicators ---- */

/* Another communicator of the same ranks, or of some; MPI_COMM_NULL where this rank is not in it.
 */
static void other_communicator(MPI_Comm comm, int self, int ranks)
{
    MPI_Comm other = MPI_COMM_NULL;
    MPI_Group all, some;
    int what = draw(4), sum = -1, value = rank * 3 + 1, places[2] = {-1, -1};
    if (what == 0) MPI_Comm_dup(comm, &other);
    if (what == 1) { /* backwards, without one */
        int range[1][3] = {{ranks - 1, ranks > 1, -1}};
        MPI_Comm_group(comm, &all);
        MPI_Group_range_incl(all, 1, range, &some);
        MPI_Comm_create(comm, some, &other);
        MPI_Group_free(&all);
        MPI_Group_free(&some);
    }
    if (what == 2) {
        int sizes[2] = {0, 0}, periods[2] = {draw(2), draw(2)};
        MPI_Dims_create(ranks, 2, sizes);
        MPI_Cart_create(comm, 2, sizes, periods, 0, &other);
        MPI_Cart_shift(other, draw(2), 1, &places[0], &places[1]);
        MPI_Sendrecv(&value, 1, MPI_INT, places[1], 2, &sum, 1, MPI_INT, places[0], 2, other,
                     MPI_STATUS_IGNORE);
        if (places[0] == MPI_PROC_NULL) places[0] = -2; /* libraries have other numbers */
        if (places[1] == MPI_PROC_NULL) places[1] = -2;
    }
    if (what == 3 && ranks > 1) { /* two halves and what joins them */
        MPI_Comm half, between;
        int low = self < ranks / 2;
        MPI_Comm_split(comm, low, self, &half);
        MPI_Intercomm_create(half, 0, comm, low ? ranks / 2 : 0, 5, &between);
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, between);
        MPI_Intercomm_merge(between, low, &other);
        MPI_Comm_free(&between);
        MPI_Comm_free(&half);
    }
    fold(places, 2);
    fold(&sum, 1);
    if (other == MPI_COMM_NULL) return;
    MPI_Comm_rank(other, &places[0]);
    MPI_Comm_size(other, &places[1]);
    MPI_Scan(&value, &sum, 1, MPI_INT, MPI_SUM, other);
    fold(places, 2);
    fold(&sum, 1);
    MPI_Comm_free(&other);
}

/* ---- collectives ---- */

static const MPI_Op ops[] = {MPI_SUM, MPI_MAX, MPI_MIN, MPI_BXOR, MPI_BAND, MPI_LOR};

static void collective(MPI_Comm comm, int self, int ranks)
{
    int root = draw(ranks), count = draw_count(), what = draw(11), waits = draw(2), place = draw(2);
    int counts[64], places[64], all = 0;
    MPI_Op op = ops[draw(6)];
    MPI_Request request = MPI_REQUEST_NULL;
    if (count * ranks > MOST * 4) count = MOST * 4 / ranks;
    for (int i = 0; i < ranks; i++) {
        counts[i] = draw(9);
        places[i] = all;
        all += counts[i] + draw(2);
    }
    fill(rank + root);
    memset(in, 0, sizeof in);
    for (int i = 0; i < count; i++)
        in[i] = place ? out[i] : 0;
    const void *from = place ? MPI_IN_PLACE : (const void *)out;
#define CALL(name, ...)                                                                            \
    do {                                                                                           \
        if (waits)                                                                                 \
            MPI_##name(__VA_ARGS__);                                                               \
        else                                                                                       \
            MPI_I##name(__VA_ARGS__, &request);                                                    \
    } while (0)
#define MPI_IBcast          MPI_Ibcast
#define MPI_IAllreduce      MPI_Iallreduce
#define MPI_IReduce         MPI_Ireduce
#define MPI_IGather         MPI_Igather
#define MPI_IScatterv       MPI_Iscatterv
#define MPI_IAllgatherv     MPI_Iallgatherv
#define MPI_IAlltoall       MPI_Ialltoall
#define MPI_IScan           MPI_Iscan
#define MPI_IExscan         MPI_Iexscan
#define MPI_IReduce_scatter MPI_Ireduce_scatter
#define MPI_IAllgather      MPI_Iallgather
    switch (what) {
    case 0:
        if (self == root) memcpy(in, out, (size_t)count * sizeof *in);
        CALL(Bcast, in, count, MPI_INT, root, comm);
        break;
    case 1: CALL(Allreduce, from, in, count, MPI_INT, op, comm); break;
    case 2:
        CALL(Reduce, self == root ? from : (const void *)out, in, count, MPI_INT, op, root, comm);
        break;
    case 3: CALL(Gather, out, count, MPI_INT, in, count, MPI_INT, root, comm); break;
    case 4:
        CALL(Scatterv, out, counts, places, MPI_INT, in, counts[self], MPI_INT, root, comm);
        break;
    case 5: CALL(Allgatherv, out, counts[self], MPI_INT, in, counts, places, MPI_INT, comm); break;
    case 6: CALL(Alltoall, out, count / ranks, MPI_INT, in, count / ranks, MPI_INT, comm); break;
    case 7: CALL(Scan, from, in, count, MPI_INT, op, comm); break;
    case 8: CALL(Exscan, out, in, count, MPI_INT, op, comm); break;
    case 9: CALL(Reduce_scatter, out, in, counts, MPI_INT, op, comm); break;
    default: CALL(Allgather, out, count, MPI_INT, in, count, MPI_INT, comm); break;
    }
    if (request != MPI_REQUEST_NULL) MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (what == 2 && self != root) return;
    if (what == 8 && !self) return;
    fold(in, what == 3 && self != root ? 0 : MOST * 4);
}

/* ---- one-sided ---- */

static void window(MPI_Comm comm, int self, int ranks)
{
    static int memory[MOST];
    MPI_Win win;
    int accesses = 1 + draw(8);
    fill(rank);
    for (int i = 0; i < MOST; i++)
        memory[i] = rank + i;
    memset(in, 0, sizeof in);
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, comm, &win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < accesses; i++) {
        int from = draw(ranks), to = draw(ranks), what = draw(2), count = draw(MOST / 8),
            at = draw(MOST / 16);
        if (from != self) continue;
        if (what) /* sums commute; places of puts are the step's own */
            MPI_Accumulate(out, count, MPI_INT, to, at, count, MPI_INT, MPI_SUM, win);
        else
            MPI_Put(out, count / 8, MPI_INT, to, MOST / 2 + i * (MOST / 16), count / 8, MPI_INT,
                    win);
    }
    MPI_Win_fence(0, win);
    int peer = draw(ranks);
    MPI_Get(in, 500, MPI_INT, peer, MOST / 2, 500, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    fold(memory, MOST);
    fold(in, 500);
}

/* Passive and general active targets: counters by fetch-and-add and by compare-and-swap, whose
 * results' sum is determined; then a put to the next rank. */
static void window_locks(MPI_Comm comm, int self, int ranks)
{
    static int memory[16];
    MPI_Win win;
    MPI_Group all, next, last;
    int rounds = 1 + draw(3), owner = draw(ranks), one = 1, was, sum = 0,
        neighbours[2] = {(self + 1) % ranks, (self + ranks - 1) % ranks};
    memset(memory, 0, sizeof memory);
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, comm, &win);
    for (int i = 0; i < rounds; i++) {
        MPI_Win_lock(draw(2) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, owner, 0, win);
        MPI_Fetch_and_op(&one, &was, MPI_INT, owner, 0, MPI_SUM, win);
        MPI_Win_flush(owner, win);
        MPI_Get_accumulate(&rank, 1, MPI_INT, &was, 1, MPI_INT, owner, 1 + i, 1, MPI_INT, MPI_MAX,
                           win);
        MPI_Win_unlock(owner, win);
    }
    MPI_Barrier(comm);
    MPI_Comm_group(comm, &all);
    MPI_Group_incl(all, 1, &neighbours[0], &next);
    MPI_Group_incl(all, 1, &neighbours[1], &last);
    MPI_Win_post(last, 0, win);
    MPI_Win_start(next, 0, win);
    sum = rank + 100;
    MPI_Put(&sum, 1, MPI_INT, neighbours[0], 8, 1, MPI_INT, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Group_free(&all);
    MPI_Group_free(&next);
    MPI_Group_free(&last);
    MPI_Win_free(&win);
    fold(memory, 16);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    state = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    for (int step = argc > 2 ? atoi(argv[2]) : 20; step; step--) {
        MPI_Comm comm;
        int self, ranks, parts = 1 + draw(3), turn = draw(100), what = draw(12);
        uint64_t kept = state;
        MPI_Comm_split(MPI_COMM_WORLD, rank % parts, (rank * 7 + turn) % size, &comm);
        MPI_Comm_rank(comm, &self);
        MPI_Comm_size(comm, &ranks);
        if (what < 3)
            messages(comm, self, ranks);
        else if (what < 7)
            collective(comm, self, ranks);
        else if (what == 7)
            window(comm, self, ranks);
        else if (what == 8)
            window_locks(comm, self, ranks);
        else if (what < 11)
            other_communicator(comm, self, ranks);
        else
            wildcards(comm, self, ranks);
        state = kept + 1; /* parts of different sizes draw differently */
        MPI_Comm_free(&comm);
    }
    unsigned long long *all = malloc((size_t)size * sizeof *all), own = checksum;
    MPI_Gather(&own, 1, MPI_UNSIGNED_LONG_LONG, all, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size; i++)
        printf("rank %d: %016llx\n", i, all[i]);
    free(all);
    MPI_Finalize();
}
