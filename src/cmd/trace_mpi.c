/* chiliad trace --format otf2: an MPI program's calls and messages as an archive of the Open Trace
 * Format 2, which Vampir, otf2-print and otf2's Python module read.
 *
 *     $ chiliad trace --format otf2 -o heat.otf2 -n 64 ./heat
 *     $ otf2-print heat.otf2/traces.otf2
 *
 * The archive is a folder, which must not be there yet; it is removed again when the run fails.
 * There is a location for each rank, and one more for each further thread that calls MPI. Times are
 * cycles of the machine's clock. Events are kept in memory until the end of the run (80 bytes
 * each), so the archive has no time of writing in it, and none of the host. */
#include "cmd/trace_mpi.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "view/view.h"

struct collector {
    struct trace *t;
    struct mpi_trace trace;
};

/* --- Events ---------------------------------------------------------------------------------- */

static struct mpi_rank *rank_of(struct collector *c, const struct chil_mpi_event *event)
{
    unsigned processes = chil_run_processes(c->t->run),
             cores = chil_run_cores(c->t->run) / processes;
    unsigned rank = chil_run_rank(c->t->run, event->node, event->core / (cores ? cores : 1));
    return &c->trace.ranks[rank];
}

static struct mpi_thread *thread_of(struct mpi_rank *rank, int tid)
{
    for (size_t i = 0; i < rank->thread_count; i++)
        if (rank->threads[i].tid == tid) return &rank->threads[i];
    rank->threads = base_grow(rank->threads, &rank->thread_capacity, rank->thread_count + 1,
                              sizeof *rank->threads);
    rank->threads[rank->thread_count] = (struct mpi_thread){.tid = tid};
    return &rank->threads[rank->thread_count++];
}

static uint32_t region_of(struct mpi_rank *rank, const struct chil_mpi_event *event)
{
    for (size_t i = 0; i < rank->region_count; i++)
        if (strcmp(rank->regions[i].name, event->name) == 0) return (uint32_t)i;
    rank->regions = base_grow(rank->regions, &rank->region_capacity, rank->region_count + 1,
                              sizeof *rank->regions);
    struct mpi_region *region = &rank->regions[rank->region_count];
    region->role = event->role;
    memcpy(region->name, event->name, sizeof region->name);
    return (uint32_t)rank->region_count++;
}

static void add_comm(struct mpi_rank *rank, const struct chil_mpi_event *event)
{
    rank->comms =
        base_grow(rank->comms, &rank->comm_capacity, rank->comm_count + 1, sizeof *rank->comms);
    struct mpi_comm *comm = &rank->comms[rank->comm_count++];
    *comm = (struct mpi_comm){.context = event->context, .count = event->member_count};
    comm->members = base_calloc(event->member_count, sizeof *comm->members);
    memcpy(comm->members, event->members, event->member_count * sizeof *comm->members);
}

static void take_event(void *context, const struct chil_mpi_event *event)
{
    struct collector *c = context;
    struct mpi_rank *rank = rank_of(c, event);
    if (event->kind == CHIL_MPI_MEMBERS) {
        add_comm(rank, event);
        return;
    }
    struct mpi_thread *thread = thread_of(rank, event->tid);
    thread->records =
        base_grow(thread->records, &thread->capacity, thread->count + 1, sizeof *thread->records);
    thread->records[thread->count++] =
        (struct mpi_record){.cycle = event->cycle,
                            .bytes = event->bytes,
                            .received = event->received,
                            .context = event->context,
                            .peer = event->peer,
                            .tag = event->tag,
                            .request = event->request,
                            .region = event->kind == CHIL_MPI_CALL ? region_of(rank, event) : 0,
                            .kind = event->kind};
}

/* --- The run --------------------------------------------------------------------------------- */

static void begin(struct collector *c)
{
    struct chil_run *run = c->t->run;
    c->trace.nodes = chil_run_nodes(run);
    c->trace.rank_count = c->trace.nodes * chil_run_processes(run);
    c->trace.ranks = base_calloc(c->trace.rank_count, sizeof *c->trace.ranks);
    for (unsigned n = 0; n < c->trace.nodes; n++)
        for (unsigned p = 0; p < chil_run_processes(run); p++)
            c->trace.ranks[chil_run_rank(run, n, p)].node = n;
}

static void end(struct collector *c)
{
    for (unsigned i = 0; i < c->trace.rank_count; i++) {
        struct mpi_rank *rank = &c->trace.ranks[i];
        rank->end = chil_run_node_cycles(c->t->run, rank->node);
        if (!rank->thread_count) (void)thread_of(rank, 0);
    }
}

static void free_all(struct collector *c)
{
    for (unsigned i = 0; i < c->trace.rank_count; i++) {
        struct mpi_rank *rank = &c->trace.ranks[i];
        for (size_t t = 0; t < rank->thread_count; t++)
            free(rank->threads[t].records);
        for (size_t k = 0; k < rank->comm_count; k++)
            free(rank->comms[k].members);
        free(rank->threads);
        free(rank->comms);
        free(rank->regions);
    }
    free(c->trace.ranks);
}

/* What was written of an archive, one folder deep. */
static void remove_archive(const char *folder)
{
    char path[4096];
    DIR *files = opendir(folder);
    for (struct dirent *file; files && (file = readdir(files));) {
        if (strcmp(file->d_name, ".") == 0 || strcmp(file->d_name, "..") == 0) continue;
        int length = snprintf(path, sizeof path, "%s/%s", folder, file->d_name);
        if (length < 0 || (size_t)length >= sizeof path || unlink(path) == 0) continue;
        if (errno == EISDIR || errno == EPERM) remove_archive(path);
    }
    if (files) (void)closedir(files);
    (void)rmdir(folder);
}

static int run(struct collector *c)
{
    struct trace *t = c->t;
    int status = 0;
    t->done = !cmd_program_new(&t->program, &t->program.run, &t->run, &t->err);
    if (t->done) {
        begin(c);
        t->done = !cmd_program_go(&t->program, t->run, &t->err);
    }
    if (t->done) {
        end(c);
        cmd_program_report(&t->program, "trace", t->run);
        status = cmd_program_status(t->run);
        t->done = trace_otf2_write(&c->trace, &t->err);
    }
    chil_run_free(t->run);
    return t->done ? status : cmd_fail_error("trace", &t->err);
}

static int check(const struct trace *t)
{
    if (t->read || t->trigger || t->place || t->has_start || t->head.kind ||
        t->limit != UINT64_MAX || t->places.tag_count || t->places.category_count ||
        t->places.heap_sites || t->places.hpm)
        return cmd_fail("trace", "--format otf2 has calls and messages of MPI: no --kind, --read, "
                                 "--start, --trigger, --at, --tag, --category and --limit N");
    if (!t->output)
        return cmd_fail("trace", "--format otf2 makes a folder of files; give its name with -o");
    return trace_otf2_open();
}

int trace_mpi(struct trace *t)
{
    struct collector c = {.t = t};
    char anchor[4096];
    uint64_t mhz = 850;
    int status = check(t);
    if (status) return status;
    if (snprintf(anchor, sizeof anchor, "%s/traces.otf2", t->output) >= (int)sizeof anchor)
        return cmd_fail("trace", "the name of the folder is too long");
    if (mkdir(t->output, 0777))
        return cmd_fail("trace", "cannot make the folder '%s': %m", t->output);
    (void)chil_machine_number(t->program.run.machine, "machine.clock_mhz", &mhz);
    c.trace.clock_hz = mhz * 1000000;
    c.trace.program = t->program.shown;
    c.trace.machine = chil_machine_name(t->program.run.machine);
    c.trace.folder = t->output;
    cmd_program_output(&t->program, anchor);
    t->program.run.mpi = take_event;
    t->program.run.context = &c;
    status = run(&c);
    if (!t->done) remove_archive(t->output);
    free_all(&c);
    return status;
}
