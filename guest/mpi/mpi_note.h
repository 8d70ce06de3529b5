/* Notices for the simulator (docs/formats/callthru.md, services 32 to 41): what the library does,
 * for counters, records and traces. A notice is one instruction behind the loads of its arguments,
 * whether anybody records or not, so that recording changes no time. */
#ifndef MPI_NOTE_H
#define MPI_NOTE_H

#include "mpi_impl.h"

#include "chiliad/callthru.h"

static inline __attribute__((always_inline)) void mpi_note(long service, long a, long b, long c,
                                                           long d, uint64_t context)
{
    register long r3 __asm__("r3") = service;
    register long r4 __asm__("r4") = a;
    register long r5 __asm__("r5") = b;
    register long r6 __asm__("r6") = c;
    register long r7 __asm__("r7") = d;
    register long r8 __asm__("r8") = (long)(context >> 32);
    register long r9 __asm__("r9") = (long)context;
    __asm__ volatile(".long 0x001f47cc"
                     : "+r"(r3)
                     : "r"(r4), "r"(r5), "r"(r6), "r"(r7), "r"(r8), "r"(r9)
                     : "memory");
}

static inline __attribute__((always_inline)) void mpi_note_call(const char *name)
{
    (void)chiliad_callthru(CHILIAD_MPI_CALL, (long)name, 0);
}
static inline __attribute__((always_inline)) void mpi_note_return(void)
{
    (void)chiliad_callthru(CHILIAD_MPI_RETURN, 0, 0);
}
static inline __attribute__((always_inline)) void mpi_note_wait(void)
{
    (void)chiliad_callthru(CHILIAD_MPI_WAIT, 0, 0);
}
static inline __attribute__((always_inline)) void mpi_note_waited(void)
{
    (void)chiliad_callthru(CHILIAD_MPI_WAITED, 0, 0);
}

/* The program has started a request; `returns`: the call does not wait for it. */
static inline void mpi_note_start(struct request *r, bool returns)
{
    r->noted = returns;
    if (r->is_null || r->kind == REQUEST_SCHEDULE) return;
    if (r->kind == REQUEST_SEND)
        mpi_note(CHILIAD_MPI_SENT, r->peer, r->tag, (long)((size_t)r->count * r->type->size),
                 returns ? r->handle : 0, r->context);
    else if (returns)
        mpi_note(CHILIAD_MPI_POSTED, r->peer, r->tag, 0, r->handle, r->context);
}

/* It is over, and the program gets to know; or it was freed before. */
static inline void mpi_note_end(const struct request *r)
{
    if (r->is_null || r->cancelled) return;
    if (r->kind == REQUEST_RECEIVE)
        mpi_note(CHILIAD_MPI_RECEIVED, r->status.MPI_SOURCE, r->status.MPI_TAG,
                 r->status.chiliad_bytes, r->noted ? r->handle : 0, r->context);
    else if (r->kind == REQUEST_SEND && r->noted)
        mpi_note(CHILIAD_MPI_COMPLETED, 0, 0, 0, r->handle, r->context);
}

/* A collective call: how much this rank gives and takes; root: its rank, or -1. */
static inline void mpi_note_collective(const struct comm *comm, int root, size_t sent,
                                       size_t received)
{
    if (mpi.check) mpi_check_collective(comm, root, sent > received ? sent : received);
    mpi_note(CHILIAD_MPI_COLLECTIVE, root, (long)sent, (long)received, 0, comm->context);
}

#endif
