/* Cut and prune: new experiments with some call paths and threads of another. */
#include "analyze/exp/exp.h"

#include <stdlib.h>
#include <string.h>

/* Result indices by index of the input; -1: left out. */
struct cut {
    int *node, *thread;
};

static void copy_metrics(struct chil_exp *to, const struct chil_exp *from)
{
    for (size_t i = 0; i < from->metrics; i++)
        (void)chil_exp_add_metric(to, &from->metric[i]);
    for (size_t i = 0; i < from->regions; i++)
        (void)chil_exp_add_region(to, &from->region[i]);
    for (size_t i = 0; i < from->attributes; i++)
        chil_exp_set_attribute(to, from->attribute[i].key, from->attribute[i].value);
}

static void copy_places(struct chil_exp *to, const struct chil_exp *from,
                        bool (*thread)(void *, int), void *context, struct cut *cut)
{
    bool *used = base_calloc(from->places, sizeof *used);
    int *place = base_calloc(from->places, sizeof *place);
    for (size_t i = 0; i < from->threads; i++) {
        bool kept = !thread || thread(context, (int)i);
        cut->thread[i] = kept ? 0 : -1;
        for (int p = kept ? from->thread[i] : -1; p >= 0 && !used[p]; p = from->place[p].parent)
            used[p] = true;
    }
    for (size_t i = 0; i < from->places; i++) {
        const struct chil_exp_place *p = &from->place[i];
        if (!used[i]) continue;
        place[i] = chil_exp_add_place(to, p->parent < 0 ? -1 : place[p->parent], p->level, p->name,
                                      p->rank);
        if (p->thread >= 0) cut->thread[p->thread] = to->place[place[i]].thread;
    }
    free(place);
    free(used);
}

static void copy_topologies(struct chil_exp *to, const struct chil_exp *from, const struct cut *cut)
{
    for (size_t i = 0; i < from->topologies; i++) {
        struct chil_exp_topology t = from->topology[i];
        t.coordinates = base_calloc(to->threads * t.dimensions, sizeof *t.coordinates);
        for (size_t k = 0; k < from->threads; k++)
            if (cut->thread[k] >= 0)
                memcpy(&t.coordinates[(size_t)cut->thread[k] * t.dimensions],
                       &from->topology[i].coordinates[k * t.dimensions],
                       t.dimensions * sizeof *t.coordinates);
        (void)chil_exp_add_topology(to, &t);
        free(t.coordinates);
    }
}

/* The lowest and highest total of several runs are unknown for a part: both become its total. */
static void copy_cells(struct chil_exp *to, const struct chil_exp *from, const struct cut *cut)
{
    for (size_t m = 0; m < from->metrics; m++) {
        size_t count, lost = 0;
        const struct chil_exp_cell *cell = chil_exp_cells(from, (int)m, &count);
        for (size_t i = 0; i < count; i++) {
            struct chil_exp_cell moved = cell[i];
            int node = cut->node[cell[i].node], thread = cut->thread[cell[i].thread];
            lost += node < 0 || thread < 0;
            if (node < 0 || thread < 0) continue;
            moved.node = (uint32_t)node;
            moved.thread = (uint32_t)thread;
            exp_add_cell(to, (int)m, moved);
        }
        if (lost)
            to->metric[m].low = to->metric[m].high =
                chil_exp_sum(to, (int)m, CHIL_EXP_NONE, false, -1);
    }
}

static struct chil_exp *start(const struct chil_exp *from, struct cut *cut)
{
    struct chil_exp *to = chil_exp_new();
    cut->node = base_calloc(from->nodes, sizeof *cut->node);
    cut->thread = base_calloc(from->threads, sizeof *cut->thread);
    copy_metrics(to, from);
    return to;
}

static void finish(struct chil_exp *to, const struct chil_exp *from, struct cut *cut)
{
    copy_topologies(to, from, cut);
    copy_cells(to, from, cut);
    free(cut->node);
    free(cut->thread);
}

int chil_exp_cut(struct chil_exp **result, const struct chil_exp *exp,
                 bool (*keep)(void *context, int node), bool (*thread)(void *context, int thread),
                 void *context, struct chil_error *err)
{
    enum { GONE, ABOVE, KEPT }; /* above: on the way to something kept, and empty */
    struct cut cut;
    struct chil_exp *to = start(exp, &cut);
    int *at = base_calloc(exp->nodes, sizeof *at);
    unsigned char *state = base_calloc(exp->nodes, 1);
    (void)err;
    for (size_t i = 0; i < exp->nodes; i++) {
        int parent = exp->node[i].parent;
        if ((parent >= 0 && state[parent] == KEPT) || !keep || keep(context, (int)i))
            state[i] = KEPT;
        for (int up = state[i] == KEPT ? parent : -1; up >= 0 && state[up] == GONE;
             up = exp->node[up].parent)
            state[up] = ABOVE;
    }
    for (size_t i = 0; i < exp->nodes; i++) {
        const struct chil_exp_node *n = &exp->node[i];
        if (state[i] != GONE)
            at[i] = chil_exp_add_node(to, n->parent < 0 ? -1 : at[n->parent], n->region, n->line,
                                      n->module);
        cut.node[i] = state[i] == KEPT ? at[i] : -1;
    }
    copy_places(to, exp, thread, context, &cut);
    finish(to, exp, &cut);
    free(state);
    free(at);
    *result = to;
    return 0;
}

int chil_exp_prune(struct chil_exp **result, const struct chil_exp *exp,
                   bool (*prune)(void *context, int node), void *context, struct chil_error *err)
{
    struct cut cut;
    struct chil_exp *to = start(exp, &cut);
    bool *pruned = base_calloc(exp->nodes, sizeof *pruned);
    (void)err;
    for (size_t i = 0; i < exp->nodes; i++) {
        const struct chil_exp_node *n = &exp->node[i];
        int above = n->parent < 0 ? -1 : cut.node[n->parent];
        pruned[i] = (n->parent >= 0 && pruned[n->parent]) || prune(context, (int)i);
        cut.node[i] =
            pruned[i] ? above : chil_exp_add_node(to, above, n->region, n->line, n->module);
    }
    copy_places(to, exp, NULL, NULL, &cut);
    finish(to, exp, &cut);
    free(pruned);
    *result = to;
    return 0;
}
