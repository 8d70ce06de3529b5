/* Open files, for mpi_file.c and mpi_file_more.c. */
#ifndef MPI_FILE_H
#define MPI_FILE_H

#include "mpi_impl.h"

struct file {
    int handle, descriptor, mode, atomic;
    struct comm *comm;
    char *name;
    struct errhandler *handler;
    MPI_Offset start, position; /* position: in elements of the view */
    struct type *etype, *filetype;
    MPI_Offset shared; /* of rank 0: the shared file pointer, in elements of the view */
    MPI_Win window;    /* of `shared` */
    bool split;        /* a split collective has begun */
    MPI_Status status; /* and this is what it did */
};

struct file *mpi_file_of(MPI_File handle);
int mpi_file_fail(struct file *file, int class, const char *text);
/* Reads or writes at a place in elements of the view; `moved`: elements, or NULL. */
int mpi_file_access(struct file *file, MPI_Offset place, void *buffer, int count,
                    MPI_Datatype handle, bool writes, MPI_Status *status, MPI_Offset *moved);
/* At the file pointer, which moves on; `all`: a collective call. */
int mpi_file_access_next(MPI_File handle, void *buffer, int count, MPI_Datatype type, bool writes,
                         bool all, MPI_Status *status);
int mpi_file_access_at(MPI_File handle, MPI_Offset place, void *buffer, int count,
                       MPI_Datatype type, bool writes, bool all, MPI_Status *status);
/* The end of the file in elements of the view, as far as the view has data. */
MPI_Offset mpi_file_end(const struct file *file);
/* A complete request with a status. */
int mpi_file_request(int error, const MPI_Status *status, MPI_Request *request);
void mpi_file_shared_open(struct file *file);
void mpi_file_shared_close(struct file *file);
MPI_Offset mpi_file_shared_place(struct file *file); /* byte of the file; collective */
/* Where byte `at` of the view's data is in the file, and how many follow it there. */
MPI_Offset mpi_file_place(const struct file *file, MPI_Offset at, size_t *run);

#define FILE_OF(variable, number)                                                                  \
    struct file *variable = mpi_file_of(number);                                                   \
    if (!variable) return mpi_file_fail(NULL, MPI_ERR_FILE, "this is no open file")

#endif
