/* Algorithms of collectives: each adds steps to a schedule, for one intra-communicator. Buffers are
 * those of the rank; IN_PLACE has been resolved. */
#ifndef MPI_COLL_STEPS_H
#define MPI_COLL_STEPS_H

#include "mpi_impl.h"

/* What and how much: element `i` of a list of blocks, one for each rank. */
struct blocks {
    char *base;
    const int *counts; /* NULL: each has `count` */
    int count;
    const int *places; /* in extents; NULL: one behind the other */
    struct type *type;
};
static inline int blocks_count(const struct blocks *b, int i)
{
    return b->counts ? b->counts[i] : b->count;
}
static inline char *blocks_at(const struct blocks *b, int i)
{
    MPI_Aint extent = type_extent(b->type);
    return at_offset(b->base,
                     extent * (b->places ? (MPI_Aint)b->places[i] : (MPI_Aint)i * b->count));
}

void steps_barrier(struct schedule *s, struct comm *comm);
void steps_bcast(struct schedule *s, struct comm *comm, void *buffer, int count, struct type *type,
                 int root);
/* The result is in *result at root; `in` stays as it is. */
void steps_reduce(struct schedule *s, struct comm *comm, const void *in, void **result, int count,
                  struct type *type, struct op *op, int root);
void steps_allreduce(struct schedule *s, struct comm *comm, const void *in, void *out, int count,
                     struct type *type, struct op *op);
/* out is the rank's own contribution, and becomes the result; exclusive: without it */
void steps_scan(struct schedule *s, struct comm *comm, const void *in, void *out, int count,
                struct type *type, struct op *op, bool exclusive);
/* The own block is in `all` already. */
void steps_allgather(struct schedule *s, struct comm *comm, const struct blocks *all);
/* From all of `comm` (its remote group, if it has one) but the rank itself. */
void steps_gather(struct schedule *s, struct comm *comm, const struct blocks *all, int but);
void steps_scatter(struct schedule *s, struct comm *comm, const struct blocks *all, int but);

#endif
