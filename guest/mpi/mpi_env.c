/* Start and end, time, versions. */
#include "mpi_note.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "chiliad/net.h"
#include "chiliad/personality.h"

void mpi_error_init(void);
void mpi_group_init(void);
void mpi_comm_init(void);
void mpi_op_init(void);
void mpi_info_init(void);
void mpi_bsend_finish(void);

enum { STOP = 4 * 0xFF0 }; /* the register that ends all nodes */

struct mpi mpi;
__thread const char *mpi_call;
static pthread_t main_thread;

static void fatal(const char *name, const char *text)
{
    (void)fflush(stdout);
    (void)fprintf(stderr, "mpi: rank %d: %s: MPI_ERR_OTHER: %s\n", mpi.rank, name, text);
    mpi_abort(MPI_ERR_OTHER);
}

const char *mpi_enter(const char *name)
{
    if (!mpi.started || mpi.finished)
        fatal(name, mpi.finished ? "called after MPI_Finalize" : "called before MPI_Init");
    const char *before = mpi_call;
    if (before) return before;
    mpi_note_call(name);
    if (mpi.thread_level == MPI_THREAD_MULTIPLE) mpi_lock();
    mpi_call = name;
    return NULL;
}

void mpi_leave(const char **entered)
{
    if (*entered) return;
    while (mpi_packet_holds())
        mpi_progress_wait();
    mpi_call = NULL;
    mpi_packet_leave();
    if (mpi.thread_level == MPI_THREAD_MULTIPLE) mpi_unlock();
    mpi_note_return();
}

void mpi_abort(int code)
{
    (void)fflush(stdout);
    uint32_t base = chiliad_personality_word(CHILIAD_PERSONALITY_REGISTERS);
    if (base) *(volatile uint32_t *)(base + STOP) = 1;
    _exit(code & 0xff ? code & 0xff : 1);
}

/* The largest message that is sent at once: as the machines' libraries have it. */
static unsigned eager_limit(void)
{
    static const char *const names[] = {"DCMF_EAGER", "DCMF_RZV", "DCMF_RVZ", "BGLMPI_EAGER"};
    unsigned limit = mpi.clock_mhz == 700 ? 1000 : 1200;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i])) limit = (unsigned)strtoul(getenv(names[i]), NULL, 0);
    return limit;
}

static int init(const char *name, int required, int *provided)
{
    if (mpi.started) fatal("MPI_Init", "called twice");
    mpi_note_call(name);
    struct chiliad_personality p = chiliad_personality();
    mpi.rank = (int)chiliad_rank();
    mpi.ranks = (int)chiliad_ranks();
    mpi.clock_mhz = p.mhz;
    mpi.thread_level = required;
    mpi.eager = eager_limit();
    mpi.check = getenv("MPI_CHECK") != NULL;
    mpi.started = true;
    main_thread = pthread_self();
    mpi_error_init();
    mpi_group_init();
    mpi_torus_init();
    mpi_type_init();
    mpi_op_init();
    mpi_info_init();
    mpi_comm_init();
    *provided = mpi.thread_level;
    mpi_note_return();
    return MPI_SUCCESS;
}

MPI(int, Init, (int *argc, char ***argv))
{
    int provided;
    (void)argc;
    (void)argv;
    return init("MPI_Init", MPI_THREAD_SINGLE, &provided);
}

MPI(int, Init_thread, (int *argc, char ***argv, int required, int *provided))
{
    (void)argc;
    (void)argv;
    return init("MPI_Init_thread",
                required < MPI_THREAD_SINGLE     ? MPI_THREAD_SINGLE
                : required > MPI_THREAD_MULTIPLE ? MPI_THREAD_MULTIPLE
                                                 : required,
                provided);
}

MPI(int, Initialized, (int *flag))
{
    *flag = mpi.started;
    return MPI_SUCCESS;
}

MPI(int, Finalized, (int *flag))
{
    *flag = mpi.finished;
    return MPI_SUCCESS;
}

MPI(int, Query_thread, (int *provided))
{
    ENTER("Query_thread");
    *provided = mpi.thread_level;
    return MPI_SUCCESS;
}

MPI(int, Is_thread_main, (int *flag))
{
    ENTER("Is_thread_main");
    *flag = pthread_equal(main_thread, pthread_self()) != 0;
    return MPI_SUCCESS;
}

/* Attributes of MPI_COMM_SELF go first, as their functions may call MPI. */
MPI(int, Finalize, (void))
{
    {
        ENTER("Finalize");
        (void)mpi_attr_delete_all(MPI_COMM_SELF, &mpi.self->attributes);
        mpi_bsend_finish();
        mpi_engine_quiet();
        mpi_barrier(mpi.world);
        mpi_engine_quiet();
        if (mpi.check) mpi_engine_check();
    }
    mpi.finished = true;
    return MPI_SUCCESS;
}

/* For libHPM's sums over ranks; here, so that every program that calls MPI has it. */
bool chiliad_mpi_combine(unsigned long long *values, int count, bool least, int *ranks);
bool chiliad_mpi_combine(unsigned long long *values, int count, bool least, int *ranks)
{
    if (!mpi.started || mpi.finished) return false;
    *ranks = mpi.ranks;
    return !PMPI_Allreduce(MPI_IN_PLACE, values, count, MPI_UNSIGNED_LONG_LONG,
                           least ? MPI_MIN : MPI_SUM, MPI_COMM_WORLD);
}

MPI(int, Abort, (MPI_Comm comm, int code))
{
    (void)comm;
    (void)fflush(stdout);
    (void)fprintf(stderr, "mpi: rank %d called MPI_Abort with %d\n", mpi.rank, code);
    mpi_abort(code);
}

MPI(double, Wtime, (void))
{
    return (double)net_time() / ((double)net_self()->mhz * 1e6);
}

MPI(double, Wtick, (void))
{
    return 1 / ((double)net_self()->mhz * 1e6);
}

MPI(int, Get_version, (int *version, int *subversion))
{
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}

MPI(int, Get_library_version, (char *version, int *length))
{
    *length = snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING,
                       "Chiliad MPI: messages over the torus of a simulated Blue Gene");
    return MPI_SUCCESS;
}

MPI(int, Get_processor_name, (char *name, int *length))
{
    ENTER("Get_processor_name");
    const struct chiliad_personality *p = net_self();
    *length = snprintf(name, MPI_MAX_PROCESSOR_NAME, "Rank %d of %d on node %u (%u,%u,%u,%d)",
                       mpi.rank, mpi.ranks, (unsigned)p->node, (unsigned)p->at[0],
                       (unsigned)p->at[1], (unsigned)p->at[2], mpi.place & 3);
    return MPI_SUCCESS;
}

MPI(int, Pcontrol, (const int level, ...))
{
    (void)level;
    return MPI_SUCCESS;
}

MPI(int, Alloc_mem, (MPI_Aint size, MPI_Info info, void *base))
{
    ENTER("Alloc_mem");
    (void)info;
    if (size < 0) return mpi_fail(NULL, MPI_ERR_ARG, "the size is %ld", size);
    *(void **)base = malloc(size ? (size_t)size : 1);
    return *(void **)base ? MPI_SUCCESS
                          : mpi_fail(NULL, MPI_ERR_NO_MEM, "no memory for %ld bytes", size);
}

MPI(int, Free_mem, (void *base))
{
    ENTER("Free_mem");
    free(base);
    return MPI_SUCCESS;
}
