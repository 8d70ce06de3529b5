/* Programs that are wrong, for --mpi-check: `mpi_wrong CASE`. */
#include <mpi.h>
#include <string.h>

static int rank, size, in[100], out[100];

static int is(const char *what, const char *given)
{
    return !strcmp(what, given);
}

/* Both sides of a message have other types: one, a sequence, a prefix of a sequence. */
static void types(const char *what)
{
    struct pair {
        int i;
        float f;
    } pairs[2] = {{1, 2}, {3, 4}};
    int lengths[] = {1, 1};
    MPI_Aint places[] = {0, 4};
    MPI_Datatype kinds[] = {MPI_INT, MPI_FLOAT}, pair;
    MPI_Type_create_struct(2, lengths, places, kinds, &pair);
    MPI_Type_commit(&pair);
    if (rank == 0 && is(what, "type")) MPI_Send(out, 4, MPI_INT, 1, 5, MPI_COMM_WORLD);
    if (rank == 0 && is(what, "sequence")) MPI_Ssend(pairs, 2, pair, 1, 5, MPI_COMM_WORLD);
    if (rank == 0 && is(what, "prefix")) MPI_Send(pairs, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    if (rank == 0 && is(what, "bytes")) MPI_Send(pairs, 8, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
    if (rank != 1) return;
    if (is(what, "type"))
        MPI_Recv(in, 4, MPI_FLOAT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (is(what, "sequence"))
        MPI_Recv(in, 4, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (is(what, "prefix") || is(what, "bytes"))
        MPI_Recv(pairs, 2, pair, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Collective calls that do not match, though all messages find a receive. */
static void collectives(const char *what)
{
    if (is(what, "call")) {
        if (rank)
            MPI_Reduce(out, in, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
        else
            MPI_Gather(out, 1, MPI_INT, in, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (is(what, "operation"))
        MPI_Allreduce(out, in, 1, MPI_INT, rank ? MPI_SUM : MPI_MAX, MPI_COMM_WORLD);
    if (is(what, "count"))
        MPI_Gather(out, rank ? 2 : 3, MPI_INT, in, 3, MPI_INT, 0, MPI_COMM_WORLD);
    if (is(what, "kind")) MPI_Bcast(out, 4, rank ? MPI_FLOAT : MPI_INT, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    types(argv[1]);
    collectives(argv[1]);
    MPI_Finalize();
}
