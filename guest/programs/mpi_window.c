/* One-sided communication, checked by the targets; the exit status is the number of mistakes. */
#include <mpi.h>
#include <stdio.h>

static int rank, size, mistakes;

static void expect(int good, const char *what)
{
    if (good) return;
    printf("rank %d: %s\n", rank, what);
    mistakes++;
}

enum { N = 1000 };
static int memory[N], out[N], in[N];

/* A column of a matrix in everyone's window, by fences. */
static void fences(MPI_Win win)
{
    MPI_Datatype column;
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    MPI_Type_vector(10, 1, 10, MPI_INT, &column);
    MPI_Type_commit(&column);
    for (int i = 0; i < N; i++) {
        memory[i] = -1;
        out[i] = rank * N + i;
    }
    MPI_Win_fence(0, win);
    MPI_Put(out, 10, MPI_INT, next, 3, 1, column, win);
    MPI_Put(out + 500, 500, MPI_INT, next, 500, 500, MPI_INT, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 10; i++)
        expect(memory[10 * i + 3] == last * N + i && memory[10 * i + 4] == -1,
               "a column that was put");
    for (int i = 500; i < N; i++)
        expect(memory[i] == last * N + i, "a block that was put");
    MPI_Win_fence(0, win);
    MPI_Get(in, 1, column, next, 500, 10, MPI_INT, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 10; i++)
        expect(in[10 * i] == rank * N + 500 + i, "a block that was got as a column");
    MPI_Type_free(&column);
}

/* Everyone adds to rank 0 under locks, and takes a ticket. */
static void locks(MPI_Win win)
{
    int one = 1, ticket = -1, sum, old;
    for (int i = 0; i < N; i++)
        memory[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 5; i++) {
        MPI_Win_lock(i % 2 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, win);
        MPI_Accumulate(&one, 1, MPI_INT, 0, 7, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Win_lock_all(0, win);
    MPI_Fetch_and_op(&one, &ticket, MPI_INT, 0, 8, MPI_SUM, win);
    MPI_Win_flush(0, win);
    expect(ticket >= 0 && ticket < size, "a ticket");
    MPI_Put(&rank, 1, MPI_INT, 0, 100 + ticket, 1, MPI_INT, win);
    MPI_Compare_and_swap(&rank, &(int){0}, &old, MPI_INT, 0, 9, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    sum = 0;
    for (int i = 0; i < size; i++)
        sum += memory[100 + i];
    expect(rank || (memory[7] == 5 * size && memory[8] == size && sum == size * (size - 1) / 2),
           "sums under locks");
    expect(rank || size == 1 || memory[9], "compare and swap");
}

/* Posts to the two neighbours. */
static void posts(MPI_Win win)
{
    MPI_Group world, neighbours;
    int next = (rank + 1) % size, last = (rank + size - 1) % size, both[] = {next, last}, flag = 0;
    if (size < 3) return;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, both, &neighbours);
    MPI_Win_post(neighbours, 0, win);
    MPI_Win_start(neighbours, 0, win);
    MPI_Put(&rank, 1, MPI_INT, next, 0, 1, MPI_INT, win);
    MPI_Put(&rank, 1, MPI_INT, last, 1, 1, MPI_INT, win);
    MPI_Win_complete(win);
    while (!flag)
        MPI_Win_test(win, &flag);
    expect(memory[0] == last && memory[1] == next, "values of the neighbours");
    MPI_Group_free(&world);
    MPI_Group_free(&neighbours);
}

int main(int argc, char **argv)
{
    MPI_Win win;
    int all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    fences(win);
    locks(win);
    posts(win);
    MPI_Win_free(&win);
    MPI_Allreduce(&mistakes, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all;
}
