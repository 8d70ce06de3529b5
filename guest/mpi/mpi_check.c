/* What the library reports of mistakes: what a process waits for when the simulator has found a
 * deadlock; with --mpi-check (MPI_CHECK is set) what was forgotten at the end, and messages whose
 * two sides differ.
 *
 * With --mpi-check a word goes with every message. Its lower half is the signature of the data, the
 * sequence of basic types without their layout: one type, or a hash of the sequence. Its upper half
 * is the collective call that the message is a part of: the call's number, and a hash of what must
 * be the same on all ranks, such as the root. The receiver compares. A wrong call is noticed only
 * where a message of one rank matches a receive of another one; else it is a deadlock or a message
 * that is left. Bytes and packed data match all types, and collectives that move other ranks' data
 * move bytes. Messages of windows are not compared.
 */
#include "mpi_impl.h"

#include <stdarg.h>
#include <stdio.h>

enum { ONE_TYPE = 0x4000, SEQUENCE = 0x8000, HASH = 0x7fff, CALL_SHIFT = 26, LINES = 10 };

/* ---- types ---- */

static uint32_t hash(uint32_t so_far, uint32_t value)
{
    return (so_far ^ value) * 16777619u;
}

static bool is_bytes(unsigned basic)
{
    return basic == BASIC_BYTE || basic == BASIC_PACKED;
}

/* Of the first bytes of a request's data; 0: any. */
static uint32_t signature_of(const struct request *r, size_t bytes)
{
    const struct type *t = r->type;
    uint32_t all = 2166136261u, run = 0, before = 0, runs = 0;
    if (!t->block_count) return 0;
    unsigned one = mpi_type_basic(t);
    if (one) return is_bytes(one) ? 0 : ONE_TYPE | one;
    for (uint32_t i = 0; bytes; i = i + 1 == t->block_count ? 0 : i + 1) {
        const struct block *b = &t->blocks[i];
        size_t size = mpi_basics[b->basic].size, part = (size_t)b->count * size;
        if (part > bytes) part = bytes;
        bytes -= part;
        if (b->basic != before && run) {
            all = hash(hash(all, before), run);
            runs++;
            run = 0;
        }
        before = b->basic;
        run += part / size;
    }
    if (!runs) return is_bytes(before) ? 0 : ONE_TYPE | before;
    return SEQUENCE | (hash(hash(all, before), run) >> 8 & HASH);
}

static bool same_types(uint32_t one, uint32_t other)
{
    if (!one || !other || one == other) return true;
    if (!(one & other & ONE_TYPE) || (one | other) & SEQUENCE) return false;
    const struct basic *a = &mpi_basics[one & ~ONE_TYPE], *b = &mpi_basics[other & ~ONE_TYPE];
    return a->class == b->class && a->size == b->size; /* MPI_INT and MPI_INTEGER, say */
}

static const char *type_text(uint32_t signature)
{
    return signature & SEQUENCE ? "a sequence of several types"
                                : mpi_basics[signature & ~ONE_TYPE].name;
}

/* ---- collective calls ---- */

/* A name; whether all ranks move the same number of bytes. Numbers are from 1 on; with 32 it is the
 * non-blocking call. */
static const struct {
    const char *name;
    bool same_bytes;
} calls[] = {{"another call", false}, {"Barrier", true},        {"Bcast", true},
             {"Gather", false},       {"Gatherv", false},       {"Scatter", false},
             {"Scatterv", false},     {"Allgather", true},      {"Allgatherv", true},
             {"Alltoall", false},     {"Alltoallv", false},     {"Alltoallw", false},
             {"Reduce", true},        {"Allreduce", true},      {"Scan", true},
             {"Exscan", true},        {"Reduce_scatter", true}, {"Reduce_scatter_block", true}};
enum { CALLS = sizeof calls / sizeof *calls, NON_BLOCKING = 32 };

static struct {
    uint32_t op, next;
    unsigned lines;
} check;

void mpi_check_op(const struct op *op)
{
    check.op = op->predefined ? (uint32_t)op->handle : 0;
}

void mpi_check_collective(const struct comm *comm, int root, size_t bytes)
{
    const char *name = mpi_call + 4; /* behind MPI_ */
    uint32_t number = 1, rest;
    bool is_non_blocking = *name == 'I';
    for (; number < CALLS; number++) {
        const char *have = calls[number].name;
        if (is_non_blocking ? name[1] == (*have | 32) && !strcmp(name + 2, have + 1)
                            : !strcmp(name, have))
            break;
    }
    check.next = 0;
    if (number == CALLS) return; /* of neighbours, or inside of another call */
    rest = hash(2166136261u, comm->remote ? 0 : (uint32_t)root);
    if (calls[number].same_bytes && !comm->remote) rest = hash(hash(rest, bytes), check.op);
    check.op = 0;
    check.next = (number | (is_non_blocking ? NON_BLOCKING : 0)) << CALL_SHIFT | (rest >> 8 & 0x3ff)
                                                                                     << 16;
}

uint32_t mpi_check_take(void)
{
    uint32_t next = check.next;
    check.next = 0;
    return next;
}

/* ---- messages ---- */

uint32_t mpi_check_word(const struct request *r)
{
    if (r->context >> 63) return 0;
    return r->collective | signature_of(r, r->bytes);
}

__attribute__((format(printf, 1, 2))) static void complain(const char *text, ...)
{
    char line[300];
    va_list arguments;
    if (++check.lines > LINES) return;
    va_start(arguments, text);
    (void)vsnprintf(line, sizeof line, text, arguments);
    va_end(arguments);
    (void)fprintf(stderr, "mpi: rank %d: %s%s\n", mpi.rank, line,
                  check.lines == LINES ? " (more such lines are left out)" : "");
}

static void call_text(uint32_t word, char text[32])
{
    uint32_t number = word >> CALL_SHIFT;
    const char *name = calls[(number & 31) % CALLS].name;
    if (!(number & 31))
        (void)snprintf(text, 32, "%s", name);
    else if (number & NON_BLOCKING)
        (void)snprintf(text, 32, "MPI_I%c%s", *name | 32, name + 1);
    else
        (void)snprintf(text, 32, "MPI_%s", name);
}

static void check_calls(const struct request *r, int sender, uint32_t theirs)
{
    char own[32], other[32];
    call_text(r->collective, own);
    call_text(theirs, other);
    if (r->collective >> CALL_SHIFT != theirs >> CALL_SHIFT)
        complain("%s here meets %s of rank %d, in %s", own, other, sender, r->comm->name);
    else
        complain("%s has another root, operation or number of bytes here than on rank %d, in %s",
                 own, sender, r->comm->name);
}

void mpi_check_match(const struct request *r, int source, int tag, size_t bytes, uint32_t word)
{
    if (r->context >> 63) return;
    uint32_t types = word & 0xffff, collective = word & 0xffff0000u;
    int sender = group_world(comm_peers(r->comm), source);
    if (collective != r->collective) {
        check_calls(r, sender, collective);
        return;
    }
    if (r->schedule && bytes != r->room)
        complain("a collective call gets %zu bytes of rank %d and expects %zu, in %s", bytes,
                 sender, r->room, r->comm->name);
    if (bytes > r->room) return;
    uint32_t own = signature_of(r, bytes);
    if (same_types(own, types)) return;
    if (r->schedule)
        complain("a collective call gets %s of rank %d and expects %s, in %s", type_text(types),
                 sender, type_text(own), r->comm->name);
    else
        complain("a message of rank %d with tag %d is %s and was received as %s, in %s", sender,
                 tag, type_text(types), type_text(own), r->comm->name);
}

/* ---- deadlocks, and the end ---- */

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
