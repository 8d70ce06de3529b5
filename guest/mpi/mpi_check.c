/* What the library reports of mistakes: what a process waits for when the simulator has found a
 * deadlock; with --mpi-check (MPI_CHECK is set) what was forgotten at the end.
 */
#include "mpi_impl.h"

#include <stdio.h>

static int world_rank(const struct request *r, int peer)
{
    return group_world(comm_peers(r->comm), peer);
}

static int describe(const struct request *r, char *text, size_t size)
{
    char who[32] = "any rank", tag[32] = "";
    if (r->peer != MPI_ANY_SOURCE)
        (void)snprintf(who, sizeof who, "rank %d", world_rank(r, r->peer));
    if (r->schedule) return snprintf(text, size, "%s in a collective call", who);
    if (r->tag == MPI_ANY_TAG)
        (void)snprintf(tag, sizeof tag, "any tag");
    else
        (void)snprintf(tag, sizeof tag, "tag %d", r->tag);
    return snprintf(text, size, "%s to %s (%s%s%s)", who,
                    r->kind == REQUEST_SEND ? "receive" : "send", tag,
                    r->comm == mpi.world ? "" : ", ", r->comm == mpi.world ? "" : r->comm->name);
}

void mpi_describe_waits(char *text, size_t size)
{
    enum { MOST = 3 };
    size_t at = (size_t)snprintf(text, size, "rank %d waits for ", mpi.rank);
    unsigned count = 0;
    const struct request *awaited = mpi_awaited();
    if (mpi_hardware_barrier_waits()) {
        (void)snprintf(text + at, size - at, "all ranks in the barrier");
        return;
    }
    for (int i = mpi_null(KIND_REQUEST) + 1; i < mpi_handles(KIND_REQUEST); i++) {
        const struct request *r = mpi_object(KIND_REQUEST, i);
        if (!r || !r->active || r->complete || r->kind > REQUEST_RECEIVE || r->freed ||
            (awaited && r != awaited && !(awaited->schedule && r->schedule == awaited->schedule)))
            continue;
        if (count++ >= MOST || at + 80 > size) continue;
        if (count > 1) at += (size_t)snprintf(text + at, size - at, ", ");
        at += (size_t)describe(r, text + at, size - at);
    }
    if (count > MOST) at += (size_t)snprintf(text + at, size - at, ", and %u more", count - MOST);
    if (!count) *text = 0;
}

void mpi_engine_check(void)
{
    unsigned count = 0;
    const struct message *first = mpi_unexpected();
    for (const struct message *m = first; m; m = m->next)
        count++;
    if (first)
        (void)fprintf(stderr,
                      "mpi: rank %d: MPI_Finalize: %u message%s not received, the first of rank %d "
                      "with tag %d and %zu bytes\n",
                      mpi.rank, count, count == 1 ? " was" : "s were", first->source, first->tag,
                      first->bytes);
    if (mpi_live_requests())
        (void)fprintf(stderr, "mpi: rank %d: MPI_Finalize: %u request%s not completed or freed\n",
                      mpi.rank, mpi_live_requests(), mpi_live_requests() == 1 ? " was" : "s were");
}
