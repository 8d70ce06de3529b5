/* The counts of a run, or of one of its cores, as an experiment without call paths.
 *
 * The specifications of metrics are evaluated over experiments. With this one, `chiliad stat` has
 * the same value for a metric as `chiliad report` has for a recording of the same run. Both get the
 * attributes that formulas name from run_attributes_set.
 */
#include <inttypes.h>
#include <stdio.h>

#include "chiliad/experiment.h"
#include "run/run_impl.h"

enum { CLOCK_MHZ = 850, LINE = 128 }; /* where a machine file gives none */

static uint64_t parameter(const struct chil_run *run, const char *key, uint64_t otherwise)
{
    uint64_t value;
    return chil_machine_number(run->node->machine, key, &value) ? otherwise : value;
}

static void set_count(struct chil_exp *exp, const char *key, uint64_t value)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRIu64, value);
    chil_exp_set_attribute(exp, key, text);
}

void run_attributes_set(const struct chil_run *run, unsigned cores, struct chil_exp *exp)
{
    char text[40];
    uint64_t hertz = parameter(run, "machine.clock_mhz", CLOCK_MHZ) * 1000000;
    uint64_t cycles = chil_run_cycles(run);
    chil_exp_set_attribute(exp, "machine", chil_machine_name(run->node->machine));
    if (chil_run_memory(run)) { /* cycles would be those of a memory that takes no time */
        chil_exp_set_attribute(exp, "memory", chil_run_memory(run));
    } else {
        set_count(exp, "clock_hz", hertz);
        set_count(exp, "cycles", cycles);
        (void)snprintf(text, sizeof text, "%.17g", (double)cycles / (double)hertz);
        chil_exp_set_attribute(exp, "wall_time", text);
        /* An FMA is two flops; one in each element of each FPU in every cycle. */
        set_count(exp, "peak", 2 * cycles * parameter(run, "machine.fpu_elements", 1) * cores);
    }
    set_count(exp, "line", parameter(run, "l3.line", LINE));
}

struct totals {
    const struct chil_run *run;
    struct chil_exp *exp;
    bool (*wanted)(void *context, const char *event);
    void *context;
    int core, node, thread;
};

/* Every wanted event that has a count there, zero or not: the others are missing. */
static void add_events(const struct totals *t, const struct chil_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct chil_event *event = &events[i];
        uint64_t value = 0;
        if (event->reserved || event->exactness == CHIL_NONE) continue;
        if (t->wanted && !t->wanted(t->context, event->name)) continue;
        if (t->core < 0)
            value = chil_run_count(t->run, event);
        else if (!chil_run_core_count(t->run, (unsigned)t->core, event, &value))
            continue;
        struct chil_exp_metric metric = {.name = (char *)event->name,
                                         .title = (char *)event->name,
                                         .unit = (char *)"occ",
                                         .parent = CHIL_EXP_NONE,
                                         .kind = CHIL_EXP_COUNT,
                                         .origin = CHIL_EXP_MEASURED,
                                         .runs = 1};
        int index = chil_exp_add_metric(t->exp, &metric);
        if (index >= 0) chil_exp_add_count(t->exp, index, t->node, t->thread, (int64_t)value);
    }
}

struct chil_exp *chil_run_totals(const struct chil_run *run, int core,
                                 bool (*wanted)(void *context, const char *event), void *context)
{
    size_t own_count, count;
    const struct chil_event *own = chil_machine_own_events(run->node->machine, &own_count);
    const struct chil_event *events = chil_machine_events(run->node->machine, &count);
    struct totals t = {
        .run = run, .exp = chil_exp_new(), .wanted = wanted, .context = context, .core = core};
    const struct chil_exp_region region = {.name = (char *)"program", .begin = -1, .end = -1};
    static const enum chil_exp_level levels[] = {CHIL_EXP_MACHINE, CHIL_EXP_NODE, CHIL_EXP_PROCESS,
                                                 CHIL_EXP_THREAD};
    int place = CHIL_EXP_NONE;
    run_attributes_set(run, (core < 0 ? chil_run_cores(run) : 1) * run->node_count, t.exp);
    t.node = chil_exp_add_node(t.exp, CHIL_EXP_NONE, chil_exp_add_region(t.exp, &region), -1, "");
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        place = chil_exp_add_place(t.exp, place, levels[i], "run", 0);
    add_events(&t, own, own_count);
    add_events(&t, events, count);
    return t.exp;
}
