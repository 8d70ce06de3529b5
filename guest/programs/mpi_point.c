/* Messages between ranks, checked by the receivers; the exit status is the number of mistakes.
 *
 *   mpi_point            all of it
 *   mpi_point abort      rank 1 calls MPI_Abort with 42
 *   mpi_point endless    likewise, while the others compute for ever
 *   mpi_point error      rank 1 sends to a rank that does not exist
 *   mpi_point forgotten  rank 1 sends a message that rank 0 does not receive, and keeps a request
 *   mpi_point deadlock   rank 1 waits for a message that is never sent
 *   mpi_point knot       even ranks wait for a message of the next rank, odd ones for its receive
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, mistakes;

static void expect(int good, const char *what)
{
    if (good) return;
    printf("rank %d: %s\n", rank, what);
    mistakes++;
}

static const int sizes[] = {0, 1, 27, 54, 55, 200, 300, 301, 5000, 100000};
enum { SIZES = sizeof sizes / sizeof *sizes, MOST = 100000 };
static int out[MOST], in[MOST];

static void fill(int n, int seed)
{
    for (int i = 0; i < n; i++)
        out[i] = seed * 1000003 + i;
}

static void check(int n, int seed, const char *what)
{
    int i = 0;
    while (i < n && in[i] == seed * 1000003 + i)
        i++;
    expect(i == n, what);
}

/* Every size to the next rank and from the last one, in every mode. */
static void ring(void)
{
    int next = (rank + 1) % size, last = (rank + size - 1) % size, count;
    static char buffer[4 * MOST + MPI_BSEND_OVERHEAD];
    MPI_Request request;
    MPI_Status status;
    for (int mode = 0; mode < 4; mode++)
        for (int i = 0; i < SIZES; i++) {
            fill(sizes[i], rank + i);
            memset(in, 0, sizeof in);
            MPI_Irecv(in, MOST, MPI_INT, last, i, MPI_COMM_WORLD, &request);
            if (mode == 0) MPI_Send(out, sizes[i], MPI_INT, next, i, MPI_COMM_WORLD);
            if (mode == 1) MPI_Ssend(out, sizes[i], MPI_INT, next, i, MPI_COMM_WORLD);
            if (mode == 2) {
                int bytes;
                void *address;
                MPI_Buffer_attach(buffer, sizeof buffer);
                MPI_Bsend(out, sizes[i], MPI_INT, next, i, MPI_COMM_WORLD);
                MPI_Buffer_detach(&address, &bytes);
                expect(address == buffer && bytes == sizeof buffer, "another buffer was detached");
            }
            if (mode == 3) {
                MPI_Barrier(MPI_COMM_WORLD);
                MPI_Rsend(out, sizes[i], MPI_INT, next, i, MPI_COMM_WORLD);
            }
            MPI_Wait(&request, &status);
            MPI_Get_count(&status, MPI_INT, &count);
            expect(count == sizes[i] && status.MPI_SOURCE == last && status.MPI_TAG == i,
                   "another message came");
            check(sizes[i], last + i, "data are not what was sent");
        }
}

/* Messages that come before their receives, in order, by tags and wildcards. */
static void unexpected(void)
{
    MPI_Status status;
    int flag, count;
    for (int i = 0; i < SIZES; i++) {
        fill(sizes[i], i);
        MPI_Request request;
        MPI_Isend(out, sizes[i], MPI_INT, rank, i, MPI_COMM_WORLD, &request);
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        expect(count == sizes[i] && status.MPI_TAG == i && status.MPI_SOURCE == rank, "probe");
        MPI_Recv(in, MOST, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        check(sizes[i], i, "a message to oneself");
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank)
        for (int i = 0; i < 10; i++) {
            int value = 100 * rank + i;
            MPI_Send(&value, 1, MPI_INT, 0, i % 2, MPI_COMM_WORLD);
        }
    for (int i = 0; !rank && i < 5 * (size - 1); i++) { /* odd ones first: each in order */
        static int odd[1024], even[1024];
        int value;
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
        expect(value == 100 * status.MPI_SOURCE + 2 * odd[status.MPI_SOURCE]++ + 1,
               "order of odd messages");
        MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, 0, MPI_COMM_WORLD, &status);
        expect(value == 100 * status.MPI_SOURCE + 2 * even[status.MPI_SOURCE]++,
               "order of even messages");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
    expect(!flag, "a message is left");
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Many in flight, completed in several ways; persistent ones; a message that is taken by its
 * handle. */
static void requests(void)
{
    enum { N = 40 };
    MPI_Request list[2 * N];
    MPI_Status statuses[2 * N];
    int next = (rank + 1) % size, last = (rank + size - 1) % size, index, got, flag, indices[2 * N];
    static int from[N][400], to[N][400];
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < 400; k++)
            to[i][k] = rank * 1000 + i;
        MPI_Irecv(from[i], 400, MPI_INT, last, i, MPI_COMM_WORLD, &list[i]);
        MPI_Isend(to[i], i % 2 ? 400 : 40, MPI_INT, next, i, MPI_COMM_WORLD, &list[N + i]);
    }
    MPI_Waitany(2 * N, list, &index, &statuses[0]);
    expect(index >= 0 && index < 2 * N && list[index] == MPI_REQUEST_NULL, "MPI_Waitany");
    MPI_Waitsome(2 * N, list, &got, indices, statuses);
    expect(got > 0, "MPI_Waitsome");
    MPI_Waitall(2 * N, list, statuses);
    for (int i = 0; i < N; i++)
        expect(from[i][39] == last * 1000 + i && from[i][399] == (i % 2 ? last * 1000 + i : 0),
               "many messages");
    MPI_Testall(2 * N, list, &flag, MPI_STATUSES_IGNORE);
    expect(flag, "null requests are complete");
    MPI_Recv_init(from[0], 400, MPI_INT, last, 7, MPI_COMM_WORLD, &list[0]);
    MPI_Send_init(to[0], 400, MPI_INT, next, 7, MPI_COMM_WORLD, &list[1]);
    for (int round = 0; round < 3; round++) {
        to[0][3] = round;
        MPI_Startall(2, list);
        MPI_Waitall(2, list, MPI_STATUSES_IGNORE);
        expect(from[0][3] == round, "a persistent message");
    }
    MPI_Request_free(&list[0]);
    MPI_Request_free(&list[1]);
    MPI_Message message;
    MPI_Isend(to[1], 400, MPI_INT, next, 8, MPI_COMM_WORLD, &list[0]);
    MPI_Mprobe(last, 8, MPI_COMM_WORLD, &message, &statuses[0]);
    MPI_Iprobe(last, 8, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    expect(!flag, "a message that was taken is still there");
    MPI_Mrecv(from[1], 400, MPI_INT, &message, &statuses[0]);
    expect(from[1][399] == last * 1000 + 1 && message == MPI_MESSAGE_NULL, "MPI_Mrecv");
    MPI_Wait(&list[0], MPI_STATUS_IGNORE);
}

/* More long messages in flight than the DMA engine has counters for, some with gaps at one side or
 * at both, some shorter than the receive. */
static void transfers(void)
{
    enum { N = 70, INTS = 6000, GAPS = INTS / 2 * 3 };
    static int from[N][GAPS], to[GAPS];
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    MPI_Request list[2 * N];
    MPI_Datatype gaps; /* two of three */
    MPI_Type_vector(INTS / 2, 2, 3, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    for (int i = 0; i < GAPS; i++)
        to[i] = rank * GAPS + i;
    memset(from, -1, sizeof from);
    for (int i = 0; i < N; i++) {
        int ints = i % 5 ? INTS : 1000;
        MPI_Irecv(from[i], i % 3 ? INTS : 1, i % 3 ? MPI_INT : gaps, last, i, MPI_COMM_WORLD,
                  &list[i]);
        MPI_Isend(to, i % 2 ? ints : 1, i % 2 ? MPI_INT : gaps, next, i, MPI_COMM_WORLD,
                  &list[N + i]);
    }
    MPI_Waitall(2 * N, list, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++) {
        int ints = i % 2 && i % 5 == 0 ? 1000 : INTS, good = 1;
        for (int k = 0; k < INTS; k++) {
            int at = i % 3 ? k : k / 2 * 3 + k % 2, sent = i % 2 ? k : k / 2 * 3 + k % 2;
            good &= from[i][at] == (k < ints ? last * GAPS + sent : -1);
        }
        for (int k = 2; i % 3 == 0 && k < GAPS; k += 3)
            good &= from[i][k] == -1;
        expect(good, "a long message with gaps");
    }
    MPI_Type_free(&gaps);
}

/* Two collectives that are started again and again, in another order on odd ranks. */
static void persistent_collectives(void)
{
    int given = 0, sum = 0, told = 0, rounds = 4;
    MPI_Request list[2];
    MPI_Allreduce_init(&given, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &list[0]);
    MPI_Bcast_init(&told, 1, MPI_INT, size - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &list[1]);
    for (int round = 0; round < rounds; round++) {
        given = rank + round;
        if (rank == size - 1) told = 100 + round;
        MPI_Start(&list[rank % 2]);
        MPI_Start(&list[1 - rank % 2]);
        MPI_Waitall(2, list, MPI_STATUSES_IGNORE);
        expect(sum == size * (size - 1) / 2 + size * round, "a persistent sum");
        expect(told == 100 + round, "a persistent broadcast");
    }
    MPI_Request_free(&list[0]);
    MPI_Request_free(&list[1]);
}

/* Sizes of grids as MPICH has them, with ties of the spread. */
static void grids(void)
{
    static const int known[][6] = {{6, 2, 3, 2},
                                   {48, 3, 4, 4, 3},
                                   {5040, 3, 21, 16, 15},
                                   {5616, 4, 13, 9, 8, 6},
                                   {590520, 4, 38, 37, 21, 20}};
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++) {
        int sizes[4] = {0};
        MPI_Dims_create(known[i][0], known[i][1], sizes);
        expect(!memcmp(sizes, &known[i][2], (size_t)known[i][1] * sizeof *sizes),
               "sizes of a grid");
    }
}

/* Errors that are returned; cancelling. */
static void errors(void)
{
    MPI_Request request;
    MPI_Status status;
    int flag, class, value = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Send(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD), &class);
    expect(class == MPI_ERR_RANK, "a wrong rank");
    MPI_Error_class(MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD), &class);
    expect(class == MPI_ERR_COUNT, "a wrong count");
    MPI_Error_class(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD), &class);
    expect(class == MPI_ERR_TYPE, "a wrong type");
    MPI_Error_class(MPI_Send(&value, 1, MPI_INT, 0, -7, MPI_COMM_WORLD), &class);
    expect(class == MPI_ERR_TAG, "a wrong tag");
    MPI_Isend(out, 2, MPI_INT, rank, 3, MPI_COMM_WORLD, &request);
    MPI_Error_class(MPI_Recv(in, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &status), &class);
    expect(class == MPI_ERR_TRUNCATE, "a message that is too long");
    MPI_Wait(&request, &status);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Irecv(in, 1, MPI_INT, rank, 4, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    expect(flag, "a receive that was cancelled");
    MPI_Issend(out, 5000, MPI_INT, (rank + 1) % size, 4, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    expect(flag, "a send that was cancelled");
    MPI_Recv(in, 1, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &value);
    expect(status.MPI_SOURCE == MPI_PROC_NULL && value == 0, "from MPI_PROC_NULL");
}

static void misuse(const char *how)
{
    int value = 0;
    if (rank == 1 && (!strcmp(how, "abort") || !strcmp(how, "endless")))
        MPI_Abort(MPI_COMM_WORLD, 42);
    if (!strcmp(how, "endless"))
        for (volatile int i = 0;; i++) {
        }
    if (rank == 1 && !strcmp(how, "error")) MPI_Send(&value, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
    if (rank == 1 && !strcmp(how, "forgotten")) {
        static MPI_Request request;
        MPI_Send(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
        MPI_Recv_init(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &request);
    }
    if (rank == 1 && !strcmp(how, "deadlock"))
        MPI_Recv(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!strcmp(how, "knot")) {
        MPI_Request other;
        MPI_Irecv(in, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &other);
        if (rank % 2)
            MPI_Ssend(&value, 1, MPI_INT, (rank + 1) % size, 9, MPI_COMM_WORLD);
        else
            MPI_Recv(&value, 1, MPI_INT, (rank + 1) % size, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1) misuse(argv[1]);
    if (argc > 1 && !strcmp(argv[1], "forgotten")) {
        MPI_Finalize();
        return 0;
    }
    ring();
    unexpected();
    requests();
    transfers();
    persistent_collectives();
    if (!rank) grids();
    errors();
    double before = MPI_Wtime();
    MPI_Barrier(MPI_COMM_WORLD);
    expect(MPI_Wtime() > before && MPI_Wtick() < 1e-6, "time");
    MPI_Allreduce(&mistakes, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all;
}
