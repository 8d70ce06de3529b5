/* MPI-IO: `mpi_files FOLDER` writes files in a folder in every way and reads them back. Rank 0
 * prints what all ranks read, as checksums. Files and lines depend on the number of ranks only, so
 * that two MPI libraries can be compared. All bytes of a value are the same: the order of bytes
 * shows nowhere.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 12, LENGTH = 5000 };

static int rank, size;
static const char *folder;
static uint64_t checksum = 14695981039346656037u;

static void fold(const void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        checksum = (checksum ^ ((const unsigned char *)data)[i]) * 1099511628211u;
}

static void fold_number(long long value)
{
    for (int i = 0; i < 8; i++)
        checksum = (checksum ^ ((uint64_t)value >> (8 * i) & 0xff)) * 1099511628211u;
}

static int pattern(int value)
{
    return (int)((unsigned)(value & 0xff) * 0x01010101u);
}

static void show(const char *what)
{
    uint64_t all[64], own = checksum;
    MPI_Gather(&own, 8, MPI_BYTE, all, 8, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size; i++)
        printf("%s, rank %d: %016llx\n", what, i, (unsigned long long)all[i]);
    checksum = 14695981039346656037u;
}

static void fold_status(const MPI_Status *status)
{
    int count;
    MPI_Get_count(status, MPI_INT, &count);
    fold_number(count);
}

static MPI_File open_file(const char *name, int mode)
{
    char path[1000];
    MPI_File file;
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    if (MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file)) {
        printf("cannot open %s\n", path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return file;
}

enum { WRITE = MPI_MODE_RDWR | MPI_MODE_CREATE };

/* Each rank its own part, by offset and by its pointer. */
static void individual(void)
{
    int data[100], back[150];
    MPI_Status status;
    MPI_Offset place;
    MPI_Request request;
    MPI_File file = open_file("individual", WRITE);
    for (int i = 0; i < 100; i++)
        data[i] = pattern(rank * 100 + i);
    MPI_File_write_at(file, (MPI_Offset)rank * 800, data, 100, MPI_INT, &status);
    fold_status(&status);
    MPI_File_seek(file, (MPI_Offset)rank * 800 + 400, MPI_SEEK_SET);
    MPI_File_write(file, data, 50, MPI_INT, &status);
    MPI_File_iwrite(file, data + 50, 50, MPI_INT, &request);
    MPI_Wait(&request, &status);
    fold_status(&status);
    MPI_File_get_position(file, &place);
    fold_number(place);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    memset(back, 0, sizeof back);
    MPI_File_read_at(file, (MPI_Offset)((rank + 1) % size) * 800 + 200, back, 150, MPI_INT,
                     &status);
    fold(back, sizeof back);
    fold_status(&status);
    MPI_File_seek(file, -400, MPI_SEEK_END);
    MPI_File_read(file, back, 150, MPI_INT, &status); /* there are 100 */
    fold(back, sizeof back);
    fold_status(&status);
    MPI_File_get_size(file, &place);
    fold_number(place);
    MPI_File_close(&file);
    show("individual");
}

/* A matrix by blocks of columns, read by rows; memory has gaps, too. */
static void collective(void)
{
    static int data[2 * SIDE * SIDE], back[SIDE * SIDE * 16];
    int sizes[] = {SIDE, SIDE * size}, parts[] = {SIDE, SIDE}, starts[] = {0, SIDE * rank};
    MPI_Datatype columns, memory, rows;
    MPI_Status status;
    MPI_Offset start, byte;
    MPI_File file = open_file("collective", WRITE);
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &columns);
    MPI_Type_vector(SIDE * SIDE, 1, 2, MPI_INT, &memory);
    MPI_Type_vector(SIDE, 1, size, MPI_INT, &rows);
    MPI_Type_commit(&columns);
    MPI_Type_commit(&memory);
    MPI_Type_commit(&rows);
    for (int i = 0; i < 2 * SIDE * SIDE; i++)
        data[i] = pattern(rank * 7 + i);
    MPI_File_set_view(file, 400, MPI_INT, columns, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, data, 1, memory, &status);
    fold_status(&status);
    MPI_File_get_byte_offset(file, 3 * SIDE + 1, &byte);
    fold_number(byte);
    MPI_File_set_view(file, 400 + 4 * (MPI_Offset)rank, MPI_INT, rows, "native", MPI_INFO_NULL);
    memset(back, 0, sizeof back);
    MPI_File_read_at_all(file, 0, back, SIDE + 7, MPI_INT, &status);
    fold(back, sizeof back);
    fold_status(&status);
    MPI_File_seek(file, 3, MPI_SEEK_SET);
    MPI_File_read_all_begin(file, back, 5, MPI_INT);
    MPI_File_read_all_end(file, back, &status);
    fold(back, sizeof back);
    fold_status(&status);
    MPI_File_get_position(file, &start);
    fold_number(start);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_write_at_all_begin(file, 4 * (MPI_Offset)rank, data, 1, MPI_INT);
    MPI_File_write_at_all_end(file, data, &status);
    MPI_File_close(&file);
    MPI_Type_free(&columns);
    MPI_Type_free(&memory);
    MPI_Type_free(&rows);
    show("collective");
}

/* The shared pointer: in the order of ranks, and in any order. */
static void shared(void)
{
    static int data[64], record[4], seen[1024], all[1024];
    MPI_Status status;
    MPI_Offset place;
    MPI_File file = open_file("shared", WRITE);
    for (int i = 0; i < 64; i++)
        data[i] = pattern(rank * 16 + i);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_write_ordered(file, data, 4 * (rank + 3), MPI_INT, &status);
    fold_status(&status);
    MPI_File_write_ordered_begin(file, data, 4, MPI_INT);
    MPI_File_write_ordered_end(file, data, &status);
    MPI_File_get_position_shared(file, &place);
    fold_number(place);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < 3; i++) { /* records of 4, each read once */
        MPI_File_read_shared(file, record, 4, MPI_INT, &status);
        seen[record[0] & 0xff] += record[3] & 0xff;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(seen, all, 1024, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 1024; i++)
        fold_number(all[i]);
    MPI_File_get_position_shared(file, &place);
    fold_number(place);
    MPI_Barrier(MPI_COMM_WORLD);
    memset(record, 0, sizeof record);
    MPI_File_read_ordered(file, record, 2, MPI_INT, &status);
    fold(record, sizeof record);
    MPI_File_seek_shared(file, 0, MPI_SEEK_END);
    int same[8];
    for (int i = 0; i < 8; i++)
        same[i] = pattern(200 + i % 2);
    for (int i = 0; i < 4; i++) /* all write the same, so the order does not show */
        MPI_File_write_shared(file, same, 8, MPI_INT, &status);
    MPI_File_close(&file);
    show("shared");
}

/* Sizes, appending, files that go, wrong names. */
static void manage(void)
{
    int value = pattern(rank + 60), class;
    char path[1000];
    MPI_Offset bytes;
    MPI_Status status;
    MPI_File file = open_file("managed", WRITE | MPI_MODE_APPEND);
    MPI_File_write_ordered(file, &value, 1, MPI_INT, &status);
    MPI_File_close(&file);
    file = open_file("managed", WRITE | MPI_MODE_APPEND);
    MPI_File_get_position_shared(file, &bytes);
    fold_number(bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_write_ordered(file, &value, 1, MPI_INT, &status);
    MPI_File_set_size(file, LENGTH);
    MPI_File_preallocate(file, LENGTH / 2);
    MPI_File_get_size(file, &bytes);
    fold_number(bytes);
    MPI_File_close(&file);
    file = open_file("passing", WRITE | MPI_MODE_DELETE_ON_CLOSE);
    MPI_File_close(&file);
    (void)snprintf(path, sizeof path, "%s/passing", folder);
    int error = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    MPI_Error_class(error, &class);
    fold_number(class == MPI_ERR_NO_SUCH_FILE);
    file = open_file("managed", MPI_MODE_RDONLY);
    fold_number(MPI_File_write(file, &value, 1, MPI_INT, &status) != MPI_SUCCESS);
    MPI_File_close(&file);
    show("managed");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    folder = argc > 1 ? argv[1] : ".";
    individual();
    collective();
    shared();
    manage();
    MPI_Finalize();
}
