/* The table of roles. Constructs are called as Opari, and so Score-P, calls them: "!$omp parallel
 * @file.c:12". What gcc turns a construct into is in libgomp's ABI; several functions of one
 * construct in one line are one node. The first row that fits counts. */
#include "measure/observe/observe_roles.h"

#include <fnmatch.h>
#include <string.h>

#define OMP     "openmp"
#define PTHREAD "pthread"
#define MPI     "mpi"

static const struct observe_role roles[] = {
    /* symbol, construct, paradigm, role, what it does */
    {"GOMP_parallel", "parallel", OMP, "parallel", RECORD_FORKS},
    {"GOMP_parallel_start", "parallel", OMP, "parallel", RECORD_FORKS},
    {"GOMP_parallel_reductions", "parallel", OMP, "parallel", RECORD_FORKS},
    {"GOMP_parallel_loop_*", "parallel for", OMP, "parallel", RECORD_FORKS},
    {"GOMP_parallel_sections*", "parallel sections", OMP, "parallel", RECORD_FORKS},
    {"GOMP_teams_reg", "teams", OMP, "parallel", RECORD_FORKS},
    {"GOMP_barrier*", "barrier", OMP, "barrier", RECORD_CONSTRUCT},
    {"GOMP_loop_end", "implicit barrier", OMP, "implicit barrier", RECORD_CONSTRUCT},
    {"GOMP_loop_end_cancel", "implicit barrier", OMP, "implicit barrier", RECORD_CONSTRUCT},
    {"GOMP_loop_*", "for", OMP, "loop", RECORD_CONSTRUCT},
    {"GOMP_sections_end", "implicit barrier", OMP, "implicit barrier", RECORD_CONSTRUCT},
    {"GOMP_sections_end_cancel", "implicit barrier", OMP, "implicit barrier", RECORD_CONSTRUCT},
    {"GOMP_sections*", "sections", OMP, "sections", RECORD_CONSTRUCT},
    {"GOMP_single_*", "single", OMP, "single", RECORD_CONSTRUCT},
    {"GOMP_critical_end", "end critical", OMP, "critical", RECORD_CONSTRUCT},
    {"GOMP_critical_name_end", "end critical", OMP, "critical", RECORD_CONSTRUCT},
    {"GOMP_critical_*", "critical", OMP, "critical", RECORD_CONSTRUCT},
    {"GOMP_atomic_end", "end atomic", OMP, "atomic", RECORD_CONSTRUCT},
    {"GOMP_atomic_start", "atomic", OMP, "atomic", RECORD_CONSTRUCT},
    {"GOMP_ordered_end", "end ordered", OMP, "ordered", RECORD_CONSTRUCT},
    {"GOMP_ordered_start", "ordered", OMP, "ordered", RECORD_CONSTRUCT},
    {"GOMP_task", "create task", OMP, "task create", RECORD_CONSTRUCT},
    {"GOMP_taskloop*", "taskloop", OMP, "task create", RECORD_CONSTRUCT},
    {"GOMP_taskwait*", "taskwait", OMP, "task wait", RECORD_CONSTRUCT},
    {"GOMP_taskgroup_start", "taskgroup", OMP, "task wait", RECORD_CONSTRUCT},
    {"GOMP_taskgroup_end", "end taskgroup", OMP, "task wait", RECORD_CONSTRUCT},
    {"omp_[a-z]*", NULL, OMP, "function", RECORD_PLAIN},
    {"gomp_*", NULL, OMP, "function", RECORD_PLAIN},
    {"pthread_create", NULL, PTHREAD, "thread create", RECORD_CREATES},
    {"pthread_create_2_[01]", NULL, PTHREAD, "thread create", RECORD_CREATES},
    {"pthread_join", NULL, PTHREAD, "thread wait", RECORD_PLAIN},
    {"pthread_barrier_wait", NULL, PTHREAD, "barrier", RECORD_PLAIN},
    {"pthread_[a-z]*", NULL, PTHREAD, "function", RECORD_PLAIN},
    {"*MPI_Barrier", NULL, MPI, "barrier", RECORD_PLAIN},
    {"*MPI_Ibarrier", NULL, MPI, "barrier", RECORD_PLAIN},
    {"*MPI_Init", NULL, MPI, "init exit", RECORD_PLAIN},
    {"*MPI_Init_thread", NULL, MPI, "init exit", RECORD_PLAIN},
    {"*MPI_Finalize", NULL, MPI, "init exit", RECORD_PLAIN},
    {"*MPI_File_*", NULL, MPI, "file io", RECORD_PLAIN},
    {"*MPI_Register_datarep", NULL, MPI, "file io", RECORD_PLAIN},
    {"*MPI_Win_*", NULL, MPI, "rma", RECORD_PLAIN},
    {"*MPI_Put", NULL, MPI, "rma", RECORD_PLAIN},
    {"*MPI_Rput", NULL, MPI, "rma", RECORD_PLAIN},
    {"*MPI_Get", NULL, MPI, "rma", RECORD_PLAIN},
    {"*MPI_Rget", NULL, MPI, "rma", RECORD_PLAIN},
    {"*MPI_Accumulate", NULL, MPI, "rma", RECORD_PLAIN},
    {"*MPI_Raccumulate", NULL, MPI, "rma", RECORD_PLAIN},
    {"*MPI_Get_accumulate", NULL, MPI, "rma", RECORD_PLAIN},
    {"*MPI_Rget_accumulate", NULL, MPI, "rma", RECORD_PLAIN},
    {"*MPI_Fetch_and_op", NULL, MPI, "rma", RECORD_PLAIN},
    {"*MPI_Compare_and_swap", NULL, MPI, "rma", RECORD_PLAIN},
    {"*MPI_Bcast", NULL, MPI, "one2all", RECORD_PLAIN},
    {"*MPI_Ibcast", NULL, MPI, "one2all", RECORD_PLAIN},
    {"*MPI_Scatter*", NULL, MPI, "one2all", RECORD_PLAIN},
    {"*MPI_Iscatter*", NULL, MPI, "one2all", RECORD_PLAIN},
    {"*MPI_Reduce", NULL, MPI, "all2one", RECORD_PLAIN},
    {"*MPI_Ireduce", NULL, MPI, "all2one", RECORD_PLAIN},
    {"*MPI_Gather*", NULL, MPI, "all2one", RECORD_PLAIN},
    {"*MPI_Igather*", NULL, MPI, "all2one", RECORD_PLAIN},
    {"*MPI_Alloc_mem", NULL, MPI, "function", RECORD_PLAIN},
    {"*MPI_All*", NULL, MPI, "all2all", RECORD_PLAIN},
    {"*MPI_Iall*", NULL, MPI, "all2all", RECORD_PLAIN},
    {"*MPI_Reduce_scatter*", NULL, MPI, "all2all", RECORD_PLAIN},
    {"*MPI_Ireduce_scatter*", NULL, MPI, "all2all", RECORD_PLAIN},
    {"*MPI_Neighbor_*", NULL, MPI, "all2all", RECORD_PLAIN},
    {"*MPI_Ineighbor_*", NULL, MPI, "all2all", RECORD_PLAIN},
    {"*MPI_Scan", NULL, MPI, "other collective", RECORD_PLAIN},
    {"*MPI_Iscan", NULL, MPI, "other collective", RECORD_PLAIN},
    {"*MPI_Exscan", NULL, MPI, "other collective", RECORD_PLAIN},
    {"*MPI_Iexscan", NULL, MPI, "other collective", RECORD_PLAIN},
    {"*MPI_*[Ss]end*", NULL, MPI, "point2point", RECORD_PLAIN},
    {"*MPI_*[Rr]ecv*", NULL, MPI, "point2point", RECORD_PLAIN},
    {"*MPI_Wait*", NULL, MPI, "point2point", RECORD_PLAIN},
    {"*MPI_Test_cancelled", NULL, MPI, "function", RECORD_PLAIN},
    {"*MPI_Test*", NULL, MPI, "point2point", RECORD_PLAIN},
    {"*MPI_Start*", NULL, MPI, "point2point", RECORD_PLAIN},
    {"*MPI_*[Pp]robe", NULL, MPI, "point2point", RECORD_PLAIN},
    {"*MPI_Cancel", NULL, MPI, "point2point", RECORD_PLAIN},
    {"*MPI_Request_*", NULL, MPI, "point2point", RECORD_PLAIN},
    {"*MPI_Buffer_*", NULL, MPI, "point2point", RECORD_PLAIN},
    {"*MPI_*", NULL, MPI, "function", RECORD_PLAIN},
};

/* Of a library without symbols, the file name decides. */
static const struct observe_role *role_of_object(const char *object)
{
    static const struct observe_role runtime = {"*", NULL, OMP, "function", RECORD_PLAIN};
    const char *slash = strrchr(object, '/');
    return strncmp(slash ? slash + 1 : object, "libgomp.so", strlen("libgomp.so")) == 0 ? &runtime
                                                                                        : NULL;
}

const struct observe_role *observe_role_find(const char *symbol, const char *object)
{
    static const char *const begins[] = {"GOMP_", "gomp_", "omp_", "pthread_", "MPI_", "PMPI_"};
    bool may_be = false;
    symbol += strspn(symbol, "_");
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        may_be |= strncmp(symbol, begins[i], strlen(begins[i])) == 0;
    for (size_t i = 0; may_be && i < sizeof roles / sizeof *roles; i++)
        if (fnmatch(roles[i].pattern, symbol, 0) == 0) return &roles[i];
    return role_of_object(object);
}
