/* MPI calls whose messages and bytes are known. Of each rank, with n ranks (2 at least), to the next and from the one
 * before; types of 4 or 8 bytes:
 *
 *                                 messages       bytes
 *     MPI_Sendrecv                    1             40
 *     MPI_Isend, Irecv, Waitall       3    100, 2000, 0
 *     MPI_Send_init, Start 5 times    5         5 x 16
 *     MPI_Ssend, MPI_Mprobe, Mrecv    1             24    (in pairs: even ranks send, odd ones receive, and back)
 *     MPI_Send to MPI_PROC_NULL       0              0
 *     a receive that is cancelled     0              0
 *     a send that is freed            1              8
 *                                    11           2252
 *
 *     collectives             bytes of a rank    bytes for a rank
 *     MPI_Bcast of 12          root 12             others 12
 *     MPI_Allreduce of 8              8                8
 *     MPI_Gather of 4 each            4             root 4 n
 *     MPI_Alltoall of 4 each        4 n              4 n
 *     MPI_Scan of 4                   4                4
 *     MPI_Ibcast of 100        root 100            others 100
 *     MPI_Barrier, twice              0                0
 *
 * A communicator of ranks in reverse order has the Sendrecv's and the Allreduce again, half of them in it. */
#include <mpi.h>
#include <stdlib.h>

static int rank, ranks, next, before;
static char out[2000], in[2000];

static void several(void)
{
    static const int bytes[3] = {100, 2000, 0};
    MPI_Request request[6];
    for (int i = 0; i < 3; i++)
        MPI_Irecv(in, bytes[i], MPI_CHAR, i == 1 ? MPI_ANY_SOURCE : before, i, MPI_COMM_WORLD, &request[i]);
    for (int i = 0; i < 3; i++)
        MPI_Isend(out, bytes[i], MPI_CHAR, next, i, MPI_COMM_WORLD, &request[3 + i]);
    MPI_Waitall(6, request, MPI_STATUSES_IGNORE);
}

static void persistent(void)
{
    MPI_Request request[2];
    double sent[2] = {1, 2}, got[2];
    MPI_Send_init(sent, 2, MPI_DOUBLE, next, 7, MPI_COMM_WORLD, &request[0]);
    MPI_Recv_init(got, 2, MPI_DOUBLE, before, 7, MPI_COMM_WORLD, &request[1]);
    for (int i = 0; i < 5; i++) {
        MPI_Startall(2, request);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
}

static void probed(void)
{
    int words[6] = {0};
    MPI_Message message;
    for (int turn = 0; turn < 2; turn++)
        if (rank % 2 == turn)
            MPI_Ssend(words, 6, MPI_INT, next, 8, MPI_COMM_WORLD);
        else {
            MPI_Mprobe(before, 8, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
            MPI_Mrecv(words, 6, MPI_INT, &message, MPI_STATUS_IGNORE);
        }
}

static void odd_ends(void)
{
    int word = 1;
    double sent = 1, got;
    MPI_Request request;
    MPI_Send(&word, 1, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD);
    MPI_Irecv(&word, 1, MPI_INT, before, 10, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isend(&sent, 1, MPI_DOUBLE, next, 11, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Recv(&got, 1, MPI_DOUBLE, before, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void shift(MPI_Comm comm)
{
    int self;
    MPI_Comm_rank(comm, &self);
    MPI_Sendrecv(out, 10, MPI_INT, (self + 1) % ranks, 3, in, 10, MPI_INT, (self + ranks - 1) % ranks, 3, comm,
                 MPI_STATUS_IGNORE);
}

static void collectives(void)
{
    int word = rank, sum, *words = malloc(sizeof *words * ranks), *others = calloc(ranks, sizeof *others);
    double value = 1, total;
    MPI_Request request;
    MPI_Bcast(out, 3, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Allreduce(&value, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Gather(&word, 1, MPI_INT, words, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Alltoall(others, 1, MPI_INT, words, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Scan(&word, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Ibcast(in, 100, MPI_CHAR, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    free(words);
    free(others);
}

int main(int argc, char **argv)
{
    MPI_Comm reverse;
    double value = 1, total;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    next = (rank + 1) % ranks;
    before = (rank + ranks - 1) % ranks;
    shift(MPI_COMM_WORLD);
    several();
    persistent();
    probed();
    odd_ends();
    collectives();
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reverse);
    shift(reverse);
    MPI_Allreduce(&value, &total, 1, MPI_DOUBLE, MPI_SUM, reverse);
    MPI_Comm_free(&reverse);
    MPI_Finalize();
    return total == ranks ? 0 : 1;
}
