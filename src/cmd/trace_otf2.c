/* Writes an archive with OTF2's own library (libotf2, 3.0 or later). Its header is needed when this
 * is compiled, the library when it is used: it is loaded then, so other commands do not pay for it.
 * Without the header a trace in this format is refused, and everything else is there.
 *
 *     locations 0 to ranks - 1   first threads of the ranks; behind them other threads that call
 * MPI location groups            ranks; below a system tree node for each node of the machine group
 * 0                    all ranks; the others are members of communicators region 0 the program,
 * from cycle 0 to the end of its node; then MPI's calls
 *
 * A collective begins when the library takes its arguments and ends when the call returns; one that
 * does not wait is written in the call that starts it. Of an inter-communicator the group is the
 * remote one, in which its peers are ranks. */
#include "cmd/trace_mpi.h"

#if __has_include(<otf2/otf2.h>)
#include <otf2/otf2.h>
#if OTF2_VERSION_MAJOR >= 3
#define HAS_OTF2 1
#endif
#endif

#ifdef HAS_OTF2

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "view/view.h"

/* --- The library ----------------------------------------------------------------------------- */

#define FUNCTIONS(F)                                                                               \
    F(Archive_Open)                                                                                \
    F(Archive_Close)                                                                               \
    F(Archive_SetCreator)                                                                          \
    F(Archive_SetFlushCallbacks)                                                                   \
    F(Archive_SetSerialCollectiveCallbacks)                                                        \
    F(Archive_OpenEvtFiles)                                                                        \
    F(Archive_CloseEvtFiles)                                                                       \
    F(Archive_OpenDefFiles)                                                                        \
    F(Archive_CloseDefFiles)                                                                       \
    F(Archive_GetDefWriter)                                                                        \
    F(Archive_CloseDefWriter)                                                                      \
    F(Archive_GetEvtWriter)                                                                        \
    F(Archive_CloseEvtWriter)                                                                      \
    F(Archive_GetGlobalDefWriter)                                                                  \
    F(Archive_CloseGlobalDefWriter)                                                                \
    F(Error_RegisterCallback)                                                                      \
    F(Error_GetDescription)                                                                        \
    F(EvtWriter_Enter)                                                                             \
    F(EvtWriter_Leave)                                                                             \
    F(EvtWriter_GetNumberOfEvents)                                                                 \
    F(EvtWriter_MpiSend)                                                                           \
    F(EvtWriter_MpiIsend)                                                                          \
    F(EvtWriter_MpiIsendComplete)                                                                  \
    F(EvtWriter_MpiIrecvRequest)                                                                   \
    F(EvtWriter_MpiRecv)                                                                           \
    F(EvtWriter_MpiIrecv)                                                                          \
    F(EvtWriter_MpiCollectiveBegin)                                                                \
    F(EvtWriter_MpiCollectiveEnd)                                                                  \
    F(GlobalDefWriter_WriteClockProperties)                                                        \
    F(GlobalDefWriter_WriteParadigm)                                                               \
    F(GlobalDefWriter_WriteString)                                                                 \
    F(GlobalDefWriter_WriteSystemTreeNode)                                                         \
    F(GlobalDefWriter_WriteLocationGroup)                                                          \
    F(GlobalDefWriter_WriteLocation)                                                               \
    F(GlobalDefWriter_WriteRegion)                                                                 \
    F(GlobalDefWriter_WriteGroup)                                                                  \
    F(GlobalDefWriter_WriteComm)

struct library {
#define FIELD(name) __typeof__(OTF2_##name) *name;
    FUNCTIONS(FIELD)
};

static bool load(struct library *library)
{
    static const char *const names[] = {"libopen-trace-format2.so.10", "libotf2.so.10",
                                        "libotf2.so"};
    void *handle = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !handle; i++)
        handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    bool good = handle != NULL;
#define FIND(name)                                                                                 \
    if (good)                                                                                      \
        good = (library->name = (__typeof__(library->name))dlsym(handle, "OTF2_" #name)) != NULL;
    FUNCTIONS(FIND)
    return good;
}

/* Loaded before the sandbox is entered, and found there again. */
int trace_otf2_open(void)
{
    struct library library;
    if (load(&library)) return 0;
    return cmd_fail("trace", "--format otf2 wants OTF2's library (libotf2), which is not there; "
                             "install libotf2-trace-dev");
}

/* --- Names and numbers ----------------------------------------------------------------------- */

enum { PROGRAM = 0, ALL_RANKS = 0, BEFORE_FLUSH = 1 };

struct writer {
    const struct mpi_trace *trace;
    struct library otf2;
    OTF2_Archive *archive;
    OTF2_GlobalDefWriter *defs;
    OTF2_ErrorCode error; /* the first */
    OTF2_StringRef strings, empty;
    struct mpi_region *regions; /* [0]: the program */
    size_t region_count, region_capacity;
    uint32_t *region_of; /* of the rank that is written: by its own number */
    const struct mpi_comm **comms;
    size_t comm_count, comm_capacity;
};

#define TRY(w, call)                                                                               \
    do {                                                                                           \
        OTF2_ErrorCode try_code = (call);                                                          \
        if (!(w)->error) (w)->error = try_code;                                                    \
    } while (0)

static OTF2_StringRef string(struct writer *w, const char *text)
{
    TRY(w, w->otf2.GlobalDefWriter_WriteString(w->defs, w->strings, text));
    return w->strings++;
}

static uint32_t region_number(struct writer *w, const struct mpi_region *region)
{
    for (size_t i = 1; i < w->region_count; i++)
        if (strcmp(w->regions[i].name, region->name) == 0) return (uint32_t)i;
    w->regions =
        base_grow(w->regions, &w->region_capacity, w->region_count + 2, sizeof *w->regions);
    if (!w->region_count) w->regions[w->region_count++] = (struct mpi_region){.role = ""};
    w->regions[w->region_count] = *region;
    return (uint32_t)w->region_count++;
}

static bool is_same(const struct mpi_comm *a, const struct mpi_comm *b)
{
    return a->context == b->context && a->count == b->count &&
           memcmp(a->members, b->members, a->count * sizeof *a->members) == 0;
}

static void number_comms(struct writer *w)
{
    for (unsigned r = 0; r < w->trace->rank_count; r++) {
        const struct mpi_rank *rank = &w->trace->ranks[r];
        for (size_t i = 0; i < rank->comm_count; i++) {
            struct mpi_comm *comm = &rank->comms[i];
            size_t k = 0;
            while (k < w->comm_count && !is_same(w->comms[k], comm))
                k++;
            comm->number = (unsigned)k;
            if (k < w->comm_count) continue;
            w->comms = base_grow(w->comms, &w->comm_capacity, k + 1,
                                 sizeof *w->comms); // NOLINT(bugprone-sizeof-expression)
            w->comms[w->comm_count++] = comm;
        }
    }
}

/* --- Events ---------------------------------------------------------------------------------- */

static OTF2_CollectiveOp operation_of(const char *name)
{
    static const struct {
        const char *name;
        OTF2_CollectiveOp operation;
    } rows[] = {{"Barrier", OTF2_COLLECTIVE_OP_BARRIER},
                {"Bcast", OTF2_COLLECTIVE_OP_BCAST},
                {"Gather", OTF2_COLLECTIVE_OP_GATHER},
                {"Gatherv", OTF2_COLLECTIVE_OP_GATHERV},
                {"Scatter", OTF2_COLLECTIVE_OP_SCATTER},
                {"Scatterv", OTF2_COLLECTIVE_OP_SCATTERV},
                {"Allgather", OTF2_COLLECTIVE_OP_ALLGATHER},
                {"Allgatherv", OTF2_COLLECTIVE_OP_ALLGATHERV},
                {"Alltoall", OTF2_COLLECTIVE_OP_ALLTOALL},
                {"Alltoallv", OTF2_COLLECTIVE_OP_ALLTOALLV},
                {"Alltoallw", OTF2_COLLECTIVE_OP_ALLTOALLW},
                {"Allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE},
                {"Reduce", OTF2_COLLECTIVE_OP_REDUCE},
                {"Reduce_scatter", OTF2_COLLECTIVE_OP_REDUCE_SCATTER},
                {"Reduce_scatter_block", OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK},
                {"Scan", OTF2_COLLECTIVE_OP_SCAN},
                {"Exscan", OTF2_COLLECTIVE_OP_EXSCAN},
                {"Neighbor_allgather", OTF2_COLLECTIVE_OP_ALLGATHER},
                {"Neighbor_allgatherv", OTF2_COLLECTIVE_OP_ALLGATHERV},
                {"Neighbor_alltoall", OTF2_COLLECTIVE_OP_ALLTOALL},
                {"Neighbor_alltoallv", OTF2_COLLECTIVE_OP_ALLTOALLV}};
    name += strncmp(name, "MPI_", 4) == 0 ? 4 : 0;
    bool starts = name[0] == 'I';
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0 || (starts && strcasecmp(rows[i].name, name + 1) == 0))
            return rows[i].operation;
    return OTF2_COLLECTIVE_OP_ALLTOALLW; /* MPI_Neighbor_alltoallw, and names of other libraries */
}

static OTF2_CommRef comm_of(const struct mpi_rank *rank, uint64_t context)
{
    for (size_t i = rank->comm_count; i-- > 0;)
        if (rank->comms[i].context == context) return rank->comms[i].number;
    return OTF2_UNDEFINED_COMM;
}

/* The call that a thread is in, and the collective in it. */
struct open_call {
    bool inside, in_collective;
    uint32_t region;
    const struct mpi_record *collective;
};

static void write_return(struct writer *w, OTF2_EvtWriter *events, const struct mpi_rank *rank,
                         struct open_call *call, uint64_t cycle)
{
    const struct mpi_record *r = call->collective;
    if (call->in_collective)
        TRY(w, w->otf2.EvtWriter_MpiCollectiveEnd(
                   events, NULL, cycle, operation_of(w->regions[call->region].name),
                   comm_of(rank, r->context),
                   r->peer < 0 ? OTF2_UNDEFINED_UINT32 : (uint32_t)r->peer, r->bytes, r->received));
    if (call->inside) TRY(w, w->otf2.EvtWriter_Leave(events, NULL, cycle, call->region));
    *call = (struct open_call){0};
}

static void write_message(struct writer *w, OTF2_EvtWriter *events, const struct mpi_rank *rank,
                          const struct mpi_record *r)
{
    const struct library *o = &w->otf2;
    OTF2_CommRef comm = comm_of(rank, r->context);
    uint32_t peer = (uint32_t)r->peer, tag = (uint32_t)r->tag;
    if (r->kind == CHIL_MPI_POSTED)
        TRY(w, o->EvtWriter_MpiIrecvRequest(events, NULL, r->cycle, r->request));
    else if (r->kind == CHIL_MPI_COMPLETED)
        TRY(w, o->EvtWriter_MpiIsendComplete(events, NULL, r->cycle, r->request));
    else if (r->kind == CHIL_MPI_SENT && r->request)
        TRY(w,
            o->EvtWriter_MpiIsend(events, NULL, r->cycle, peer, comm, tag, r->bytes, r->request));
    else if (r->kind == CHIL_MPI_SENT)
        TRY(w, o->EvtWriter_MpiSend(events, NULL, r->cycle, peer, comm, tag, r->bytes));
    else if (r->request)
        TRY(w,
            o->EvtWriter_MpiIrecv(events, NULL, r->cycle, peer, comm, tag, r->bytes, r->request));
    else
        TRY(w, o->EvtWriter_MpiRecv(events, NULL, r->cycle, peer, comm, tag, r->bytes));
}

static void write_record(struct writer *w, OTF2_EvtWriter *events, const struct mpi_rank *rank,
                         const struct mpi_record *r, struct open_call *call)
{
    switch (r->kind) {
    case CHIL_MPI_CALL:
        write_return(w, events, rank, call, r->cycle);
        *call = (struct open_call){.inside = true, .region = w->region_of[r->region]};
        TRY(w, w->otf2.EvtWriter_Enter(events, NULL, r->cycle, call->region));
        break;
    case CHIL_MPI_RETURN: write_return(w, events, rank, call, r->cycle); break;
    case CHIL_MPI_COLLECTIVE:
        if (!call->inside || call->in_collective) break;
        call->in_collective = true;
        call->collective = r;
        TRY(w, w->otf2.EvtWriter_MpiCollectiveBegin(events, NULL, r->cycle));
        break;
    default: write_message(w, events, rank, r); break;
    }
}

/* A thread's events; returns how many. */
static uint64_t write_thread(struct writer *w, const struct mpi_rank *rank,
                             const struct mpi_thread *thread, OTF2_LocationRef location)
{
    struct open_call call = {0};
    uint64_t count = 0, end = rank->end;
    OTF2_EvtWriter *events = w->otf2.Archive_GetEvtWriter(w->archive, location);
    if (!events) {
        w->error = w->error ? w->error : OTF2_ERROR_MEM_FAULT;
        return 0;
    }
    TRY(w, w->otf2.EvtWriter_Enter(events, NULL, 0, PROGRAM));
    for (size_t i = 0; i < thread->count && !w->error; i++)
        write_record(w, events, rank, &thread->records[i], &call);
    if (thread->count && thread->records[thread->count - 1].cycle > end)
        end = thread->records[thread->count - 1].cycle;
    write_return(w, events, rank, &call, end);
    TRY(w, w->otf2.EvtWriter_Leave(events, NULL, end, PROGRAM));
    TRY(w, w->otf2.EvtWriter_GetNumberOfEvents(events, &count));
    TRY(w, w->otf2.Archive_CloseEvtWriter(w->archive, events));
    return count;
}

/* --- Definitions ----------------------------------------------------------------------------- */

static OTF2_RegionRole role_of(const char *role)
{
    static const struct {
        const char *name;
        OTF2_RegionRole role;
    } rows[] = {{"barrier", OTF2_REGION_ROLE_BARRIER},
                {"one2all", OTF2_REGION_ROLE_COLL_ONE2ALL},
                {"all2one", OTF2_REGION_ROLE_COLL_ALL2ONE},
                {"all2all", OTF2_REGION_ROLE_COLL_ALL2ALL},
                {"other collective", OTF2_REGION_ROLE_COLL_OTHER},
                {"point2point", OTF2_REGION_ROLE_POINT2POINT},
                {"rma", OTF2_REGION_ROLE_RMA},
                {"file io", OTF2_REGION_ROLE_FILE_IO}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, role) == 0) return rows[i].role;
    return OTF2_REGION_ROLE_FUNCTION;
}

static void define_regions(struct writer *w)
{
    OTF2_StringRef program = string(w, w->trace->program);
    TRY(w, w->otf2.GlobalDefWriter_WriteRegion(
               w->defs, PROGRAM, program, program, w->empty, OTF2_REGION_ROLE_ARTIFICIAL,
               OTF2_PARADIGM_MEASUREMENT_SYSTEM, OTF2_REGION_FLAG_NONE, w->empty, 0, 0));
    for (size_t i = 1; i < w->region_count; i++) {
        OTF2_StringRef name = string(w, w->regions[i].name);
        TRY(w, w->otf2.GlobalDefWriter_WriteRegion(w->defs, (uint32_t)i, name, name, w->empty,
                                                   role_of(w->regions[i].role), OTF2_PARADIGM_MPI,
                                                   OTF2_REGION_FLAG_NONE, w->empty, 0, 0));
    }
}

static void define_nodes(struct writer *w)
{
    char name[64];
    OTF2_StringRef machine_class = string(w, "machine"), node_class = string(w, "node");
    TRY(w, w->otf2.GlobalDefWriter_WriteSystemTreeNode(w->defs, 0, string(w, w->trace->machine),
                                                       machine_class,
                                                       OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (unsigned n = 0; n < w->trace->nodes; n++) {
        (void)snprintf(name, sizeof name, "node %u", n);
        TRY(w, w->otf2.GlobalDefWriter_WriteSystemTreeNode(w->defs, n + 1, string(w, name),
                                                           node_class, 0));
    }
}

/* Groups of ranks; members of the first are locations, of the others places in the first. */
static void define_comms(struct writer *w)
{
    unsigned ranks = w->trace->rank_count;
    uint64_t *members = base_calloc(ranks, sizeof *members);
    for (unsigned r = 0; r < ranks; r++)
        members[r] = r;
    TRY(w, w->otf2.GlobalDefWriter_WriteGroup(w->defs, ALL_RANKS, w->empty,
                                              OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                              OTF2_GROUP_FLAG_NONE, ranks, members));
    for (size_t i = 0; i < w->comm_count; i++) {
        const struct mpi_comm *comm = w->comms[i];
        char name[64];
        bool good = comm->count <= ranks;
        for (uint32_t k = 0; good && k < comm->count; k++) {
            good = comm->members[k] < ranks;
            members[k] = comm->members[k];
        }
        (void)snprintf(name, sizeof name, "communicator %zu", i);
        bool world = comm->count == ranks && comm == &w->trace->ranks[0].comms[0];
        TRY(w, w->otf2.GlobalDefWriter_WriteGroup(
                   w->defs, (OTF2_GroupRef)i + 1, w->empty, OTF2_GROUP_TYPE_COMM_GROUP,
                   OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, good ? comm->count : 0, members));
        TRY(w, w->otf2.GlobalDefWriter_WriteComm(
                   w->defs, (OTF2_CommRef)i, string(w, world ? "MPI_COMM_WORLD" : name),
                   (OTF2_GroupRef)i + 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    }
    free(members);
}

static void define_location(struct writer *w, unsigned rank, size_t thread, uint64_t location,
                            uint64_t events)
{
    char name[64];
    (void)snprintf(name, sizeof name, "thread %zu", thread);
    OTF2_DefWriter *local = w->otf2.Archive_GetDefWriter(w->archive, location);
    if (local) TRY(w, w->otf2.Archive_CloseDefWriter(w->archive, local));
    TRY(w, w->otf2.GlobalDefWriter_WriteLocation(w->defs, location, string(w, name),
                                                 OTF2_LOCATION_TYPE_CPU_THREAD, events, rank));
}

/* --- All ------------------------------------------------------------------------------------- */

static void define_all(struct writer *w)
{
    uint64_t length = 0;
    for (unsigned r = 0; r < w->trace->rank_count; r++)
        if (w->trace->ranks[r].end > length) length = w->trace->ranks[r].end;
    TRY(w, w->otf2.GlobalDefWriter_WriteClockProperties(w->defs, w->trace->clock_hz, 0, length,
                                                        OTF2_UNDEFINED_TIMESTAMP));
    w->empty = string(w, "");
    TRY(w, w->otf2.GlobalDefWriter_WriteParadigm(w->defs, OTF2_PARADIGM_MPI, string(w, "MPI"),
                                                 OTF2_PARADIGM_CLASS_PROCESS));
    define_nodes(w);
    define_regions(w);
    for (unsigned r = 0; r < w->trace->rank_count; r++) {
        char name[64];
        (void)snprintf(name, sizeof name, "MPI Rank %u", r);
        TRY(w, w->otf2.GlobalDefWriter_WriteLocationGroup(
                   w->defs, r, string(w, name), OTF2_LOCATION_GROUP_TYPE_PROCESS,
                   w->trace->ranks[r].node + 1, OTF2_UNDEFINED_LOCATION_GROUP));
    }
}

/* Regions get numbers in the order of the ranks; then events, then definitions, which count them.
 */
static void write_all(struct writer *w)
{
    uint64_t next = w->trace->rank_count, *events;
    size_t threads = 0, at = 0;
    for (unsigned r = 0; r < w->trace->rank_count; r++)
        threads += w->trace->ranks[r].thread_count;
    events = base_calloc(threads, sizeof *events);
    TRY(w, w->otf2.Archive_OpenEvtFiles(w->archive));
    for (unsigned r = 0; r < w->trace->rank_count && !w->error; r++) {
        const struct mpi_rank *rank = &w->trace->ranks[r];
        w->region_of = base_calloc(rank->region_count + 1, sizeof *w->region_of);
        for (size_t i = 0; i < rank->region_count; i++)
            w->region_of[i] = region_number(w, &rank->regions[i]);
        for (size_t t = 0; t < rank->thread_count; t++)
            events[at++] = write_thread(w, rank, &rank->threads[t], t ? next++ : r);
        free(w->region_of);
    }
    TRY(w, w->otf2.Archive_CloseEvtFiles(w->archive));
    TRY(w, w->otf2.Archive_OpenDefFiles(w->archive));
    w->defs = w->otf2.Archive_GetGlobalDefWriter(w->archive);
    if (!w->defs) w->error = w->error ? w->error : OTF2_ERROR_MEM_FAULT;
    if (!w->error) define_all(w);
    next = w->trace->rank_count;
    at = 0;
    for (unsigned r = 0; r < w->trace->rank_count && !w->error; r++)
        for (size_t t = 0; t < w->trace->ranks[r].thread_count; t++)
            define_location(w, r, t, t ? next++ : r, events[at++]);
    if (!w->error) define_comms(w);
    TRY(w, w->otf2.Archive_CloseDefFiles(w->archive));
    free(events);
}

static OTF2_FlushType before_flush(void *context, OTF2_FileType type, OTF2_LocationRef location,
                                   void *caller, bool final)
{
    (void)context, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}

static OTF2_ErrorCode keep_quiet(void *context, const char *file, uint64_t line,
                                 const char *function, OTF2_ErrorCode code, const char *format,
                                 va_list arguments)
{
    (void)context, (void)file, (void)line, (void)function, (void)format, (void)arguments;
    return code;
}

bool trace_otf2_write(const struct mpi_trace *trace, struct chil_error *err)
{
    static const OTF2_FlushCallbacks flush = {.otf2_pre_flush = before_flush};
    struct writer w = {.trace = trace};
    if (!load(&w.otf2)) {
        (void)chil_error_set(err, CHIL_ENOENT, "OTF2's library is not there any more");
        return false;
    }
    (void)w.otf2.Error_RegisterCallback(keep_quiet, NULL);
    number_comms(&w);
    w.archive = w.otf2.Archive_Open(trace->folder, "traces", OTF2_FILEMODE_WRITE, 1 << 20, 4 << 20,
                                    OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (w.archive) {
        TRY(&w, w.otf2.Archive_SetFlushCallbacks(w.archive, &flush, NULL));
        TRY(&w, w.otf2.Archive_SetSerialCollectiveCallbacks(w.archive));
        TRY(&w, w.otf2.Archive_SetCreator(w.archive, "chiliad " CHILIAD_VERSION));
        write_all(&w);
        TRY(&w, w.otf2.Archive_Close(w.archive));
    }
    bool good = w.archive && !w.error;
    if (!good)
        (void)chil_error_set(err, CHIL_EIO, "cannot write the archive '%s': %s", trace->folder,
                             w.archive ? w.otf2.Error_GetDescription(w.error)
                                       : "it cannot be opened");
    free(w.regions);
    free(w.comms); // NOLINT(bugprone-multi-level-implicit-pointer-conversion)
    return good;
}

#else

int trace_otf2_open(void)
{
    return cmd_fail("trace",
                    "--format otf2 was not built: install libotf2-trace-dev (3.0 or later) "
                    "and build again");
}

bool trace_otf2_write(const struct mpi_trace *trace, struct chil_error *err)
{
    (void)chil_error_set(err, CHIL_ENOENT, "no OTF2 for '%s'", trace->folder);
    return false;
}

#endif
