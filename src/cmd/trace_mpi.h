/* Inside chiliad trace --format otf2: what the MPI library of each process did, and the archive
 * that is made of it. */
#ifndef CMD_TRACE_MPI_H
#define CMD_TRACE_MPI_H

#include "cmd/trace.h"

/* A communicator as a process sees it. */
struct mpi_comm {
    uint64_t context;
    uint32_t *members; /* ranks of the world */
    uint32_t count;
    unsigned number; /* of the archive's communicator: the same members, the same context */
};

/* A call of MPI. */
struct mpi_region {
    char name[sizeof((struct chil_mpi_event *)0)->name];
    const char *role;
};

/* An event of a thread; of a call, the number of its region. */
struct mpi_record {
    uint64_t cycle, bytes, received, context;
    int peer, tag;
    uint32_t request, region;
    enum chil_mpi_kind kind;
};

struct mpi_thread {
    int tid;
    struct mpi_record *records;
    size_t count, capacity;
};

/* A process: a rank of the world. Only the thread of the host that runs its node touches it. */
struct mpi_rank {
    struct mpi_thread *threads; /* in the order of their first event */
    size_t thread_count, thread_capacity;
    struct mpi_comm *comms;
    size_t comm_count, comm_capacity;
    struct mpi_region *regions;
    size_t region_count, region_capacity;
    unsigned node;
    uint64_t end; /* cycles of its node */
};

struct mpi_trace {
    struct mpi_rank *ranks;
    unsigned rank_count, nodes;
    uint64_t clock_hz;
    const char *program, *machine, *folder;
};

/* 0, or the exit status: the library is not there (trace_otf2.c). */
int trace_otf2_open(void);
/* Writes folder/traces.otf2 and its files; false: why is in err. */
bool trace_otf2_write(const struct mpi_trace *trace, struct chil_error *err);

#endif
