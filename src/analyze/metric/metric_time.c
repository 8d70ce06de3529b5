/* The hierarchy of time, with the parts of CYCLES in it (paper 003, section 4).
 *
 *     Time
 *       Execution          BUSY, STALL, ... of CYCLES
 *       MPI                communication
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

enum { EXECUTION, CLASSES = 4 };

static const struct {
    const char *paradigm, *name, *title, *text;
} classes[CLASSES] = {
    {"", "TIME_EXECUTION", "Execution", "what the program did itself"},
    {"mpi", "TIME_MPI", "MPI", "communication"},
    {"openmp", "TIME_OPENMP", "OpenMP", "synchronisation of teams"},
    {"pthread", "TIME_THREADS", "Threads", "synchronisation of threads"},
};

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
        if (strcmp(region->paradigm, classes[i].paradigm) == 0) return i;
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

/* The cells of a metric, those of call paths of one class or of all (-1). */
static void add_cells(struct chil_exp *exp, int from, int to, const int *class, int wanted,
                      double clock)
{
    size_t count;
    const struct chil_exp_cell *cell = chil_exp_cells(exp, from, &count);
    bool whole = exp->metric[from].kind == CHIL_EXP_COUNT,
         seconds = strcmp(exp->metric[from].unit, "sec") == 0;
    for (size_t i = 0; i < count; i++) {
        double value = whole ? (double)cell[i].count : cell[i].real;
        if (wanted < 0 || class[cell[i].node] == wanted)
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
