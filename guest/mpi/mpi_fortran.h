/* Fortran bindings: names in lower case with an underscore, all arguments by reference. Constants
 * that are addresses in C are members of common blocks (mpif.h). */
#ifndef MPI_FORTRAN_H
#define MPI_FORTRAN_H

#include "mpi_impl.h"

#define FORTRAN(name, arguments)                                                                   \
    void pmpi_##name##_ arguments;                                                                 \
    extern __typeof__(pmpi_##name##_) mpi_##name##_                                                \
        __attribute__((weak, alias("pmpi_" #name "_")));                                           \
    void pmpi_##name##_ arguments

extern int chiliad_mpi_bottom_, chiliad_mpi_in_place_, chiliad_mpi_status_[5],
    chiliad_mpi_statuses_[5], chiliad_mpi_unweighted_, chiliad_mpi_weights_empty_;

/* Where the error goes: mpi_f08 lets a program leave that argument out, which is then null. */
extern MPI_Fint mpi_fortran_ignored;
#define RESULT(error) *((error) ? (error) : &mpi_fortran_ignored)

static inline void *fortran_address(void *address)
{
    if (address == &chiliad_mpi_bottom_) return MPI_BOTTOM;
    return address == &chiliad_mpi_in_place_ ? MPI_IN_PLACE : address;
}

static inline MPI_Status *fortran_status(MPI_Status *status)
{
    void *s = status;
    return s == chiliad_mpi_status_ || s == chiliad_mpi_statuses_ ? MPI_STATUS_IGNORE : status;
}

static inline int *fortran_weights(int *weights)
{
    if (weights == &chiliad_mpi_unweighted_) return MPI_UNWEIGHTED;
    return weights == &chiliad_mpi_weights_empty_ ? MPI_WEIGHTS_EMPTY : weights;
}

#endif
