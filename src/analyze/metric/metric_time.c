/* The hierarchy of time, with the parts of CYCLES in it (paper 003, section 4).
 *
 *     Time
 *       Execution          BUSY, STALL, ... of CYCLES
 *       MPI                calls of MPI, with parts by kind: point to point, collective, ...
 *       OpenMP             barriers, critical sections, locks, waiting for tasks
 *       Threads            mutexes, conditions, barriers, joins
 *
 * Each cycle belongs to one class: a stall inside a barrier is OpenMP time, not memory stall. So
 * the parts add up to the whole. The class of a call path is that of its region, by CUBE's paradigm
 * and role, and callees inherit it. Work that a team or a started thread does is Execution.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/metric/metric_impl.h"

enum { EXECUTION, MPI_CALLS, OPENMP, THREADS, CLASSES, KINDS = 7 };

static const struct {
    const char *paradigm, *name, *title, *text;
} classes[CLASSES] = {
    {"", "TIME_EXECUTION", "Execution", "what the program did itself"},
    {"mpi", "TIME_MPI", "MPI", "communication"},
    {"openmp", "TIME_OPENMP", "OpenMP", "synchronisation of teams"},
    {"pthread", "TIME_THREADS", "Threads", "synchronisation of threads"},
};

/* Kinds of MPI's calls, by the role of their region: class CLASSES + the number of the row. */
static const struct {
    const char *roles, *name, *title, *text;
} kinds[KINDS] = {
    {"point2point", "TIME_MPI_POINT", "Point to point", "sends, receives, waits and tests"},
    {"one2all,all2one,all2all,other collective", "TIME_MPI_COLLECTIVE", "Collective",
     "collective calls, barriers apart"},
    {"barrier", "TIME_MPI_BARRIER", "Barrier", "synchronisation"},
    {"rma", "TIME_MPI_RMA", "One-sided", "windows, put, get, accumulate"},
    {"file io", "TIME_MPI_IO", "IO", "files"},
    {"init exit", "TIME_MPI_SETUP", "Init and exit", "MPI_Init and MPI_Finalize"},
    {"", "TIME_MPI_OTHER", "Other", "communicators, datatypes and all else"},
};

/* The last kind has all other roles. */
static int kind_of(const char *role)
{
    size_t length = strlen(role);
    for (int i = 0; i < KINDS - 1; i++)
        for (const char *at = kinds[i].roles; length && (at = strstr(at, role)); at += length)
            if ((at == kinds[i].roles || at[-1] == ',') && (!at[length] || at[length] == ','))
                return CLASSES + i;
    return CLASSES + KINDS - 1;
}

/* Regions that only begin something. */
static const char *const beginnings[] = {"parallel", "thread create", "task create",
                                         "loop",     "single",        "sections"};

/* What a path is, below one of this class. A team's function, as gcc calls it, is the program's
 * wherever a runtime takes it up. */
static int class_of(const struct chil_exp_region *region, int above)
{
    if (strstr(region->name, "._omp_fn.")) return EXECUTION;
    if (above != EXECUTION) return above;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strcmp(region->role, beginnings[i]) == 0) return EXECUTION;
    for (int i = 1; i < CLASSES; i++)
        if (strcmp(region->paradigm, classes[i].paradigm) == 0)
            return i == MPI_CALLS ? kind_of(region->role) : i;
    return EXECUTION;
}

static int add_metric(struct chil_exp *exp, const char *name, const char *title, const char *text,
                      int parent, const struct chil_exp_metric *like)
{
    const struct chil_exp_metric metric = {.name = (char *)name,
                                           .title = (char *)title,
                                           .text = (char *)text,
                                           .unit = (char *)"sec",
                                           .exactness = like->exactness,
                                           .parent = parent,
                                           .kind = CHIL_EXP_REAL,
                                           .origin = CHIL_EXP_COMPUTED,
                                           .partial = like->partial,
                                           .runs = 1};
    return chil_exp_add_metric(exp, &metric);
}

/* The cells of a metric, those of call paths of one class, of all kinds of MPI, or of all (-1). */
static void add_cells(struct chil_exp *exp, int from, int to, const int *class, int wanted,
                      double clock)
{
    size_t count;
    const struct chil_exp_cell *cell = chil_exp_cells(exp, from, &count);
    bool whole = exp->metric[from].kind == CHIL_EXP_COUNT,
         seconds = strcmp(exp->metric[from].unit, "sec") == 0;
    for (size_t i = 0; i < count; i++) {
        double value = whole ? (double)cell[i].count : cell[i].real;
        int is = class[cell[i].node];
        if (wanted < 0 || is == wanted || (wanted == MPI_CALLS && is >= CLASSES))
            chil_exp_add_real(exp, to, (int)cell[i].node, (int)cell[i].thread,
                              seconds ? value : value / clock);
    }
}

int metric_time_root(struct chil_exp *exp)
{
    return add_metric(exp, "TIME", "Time", "by the clock of the machine", CHIL_EXP_NONE,
                      &(struct chil_exp_metric){.exactness = (char *)"modelled"});
}

int metric_add_time(struct chil_exp *exp, int time, double clock, struct chil_error *err)
{
    int cycles = chil_exp_find_metric(exp, "CYCLES");
    size_t metrics = exp->metrics;
    if (cycles < 0)
        return chil_error_set(err, CHIL_EINVAL, "time is not known: the experiment has no CYCLES");
    int *class = base_calloc(exp->nodes + 1, sizeof *class),
        *time_of = base_calloc(metrics, sizeof *time_of);
    for (size_t n = 0; n < exp->nodes; n++) {
        int parent = exp->node[n].parent;
        class[n] =
            class_of(&exp->region[exp->node[n].region], parent < 0 ? EXECUTION : class[parent]);
    }
    const struct chil_exp_metric like = exp->metric[cycles];
    exp->metric[time].partial = like.partial;
    add_cells(exp, cycles, time, class, -1, clock);
    for (int i = 0; i < CLASSES; i++) {
        int part = add_metric(exp, classes[i].name, classes[i].title, classes[i].text, time, &like);
        add_cells(exp, cycles, part, class, i, clock);
        if (i == EXECUTION) time_of[cycles] = part;
        for (int k = 0; i == MPI_CALLS && k < KINDS; k++)
            add_cells(exp, cycles,
                      add_metric(exp, kinds[k].name, kinds[k].title, kinds[k].text, part, &like),
                      class, CLASSES + k, clock);
    }
    for (size_t m = (size_t)cycles + 1; m < metrics; m++) { /* parents come first */
        char name[METRIC_NAME_MAX + 8];
        const struct chil_exp_metric part = exp->metric[m];
        if (part.parent < cycles || !time_of[part.parent]) continue;
        (void)snprintf(name, sizeof name, "TIME_%s", part.name);
        time_of[m] = add_metric(exp, name, part.title, part.text, time_of[part.parent], &part);
        if (time_of[m] > 0) add_cells(exp, (int)m, time_of[m], class, EXECUTION, clock);
    }
    free(class);
    free(time_of);
    return 0;
}
