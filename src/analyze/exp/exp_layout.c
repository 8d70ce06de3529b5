/* The order of an experiment's trees in a file: parents first, children in the order of their rows.
 *
 * Some readers take a location's id for its column, others its position in the document. So ids,
 * columns and row keys are all the position in the document. The grammar wants the processes of a
 * node before the nodes inside it. pycubexr wants one root: a .cubex with several roots gets a
 * synthetic call path or machine above them.
 */
#include "analyze/exp/exp_cube.h"

#include <stdlib.h>

/* Orders the children of each place: processes before nodes. */
static void processes_first(struct exp_tree *tree, const struct chil_exp *exp)
{
    struct exp_tree sorted = {base_calloc(exp->places, sizeof(int)),
                              base_calloc(exp->places, sizeof(int)), CHIL_EXP_NONE};
    for (size_t i = 0; i < exp->places; i++)
        sorted.first[i] = CHIL_EXP_NONE;
    for (int processes = 0; processes < 2; processes++)
        for (size_t i = exp->places; i-- > 0;) {
            const struct chil_exp_place *p = &exp->place[i];
            if ((p->level >= CHIL_EXP_PROCESS) != processes) continue;
            int *head = p->parent < 0 ? &sorted.first_root : &sorted.first[p->parent];
            sorted.next[i] = *head;
            *head = (int)i;
        }
    exp_tree_fini(tree);
    *tree = sorted;
}

static void lay_metrics(struct exp_layout *layout, const struct chil_exp *exp)
{
    exp_tree_init(&layout->metric_tree, exp, exp->metrics, exp_metric_parent);
    layout->metric_position = base_calloc(exp->metrics, sizeof(int));
    layout->metric_at = base_calloc(exp->metrics, sizeof(int));
    int position = 0;
    for (int m = CHIL_EXP_NONE;
         (m = exp_tree_next(&layout->metric_tree, exp, exp_metric_parent, m)) >= 0;) {
        layout->metric_at[position] = m;
        layout->metric_position[m] = position++;
    }
}

static void lay_nodes(struct exp_layout *layout, const struct chil_exp *exp, bool one_root)
{
    size_t roots = 0;
    exp_tree_init(&layout->node_tree, exp, exp->nodes, exp_node_parent);
    layout->node_position = base_calloc(exp->nodes, sizeof(uint32_t));
    for (size_t i = 0; i < exp->nodes; i++)
        roots += exp->node[i].parent < 0;
    layout->synthetic_call = one_root && roots > 1;
    uint32_t position = layout->synthetic_call;
    for (int n = CHIL_EXP_NONE;
         (n = exp_tree_next(&layout->node_tree, exp, exp_node_parent, n)) >= 0;)
        layout->node_position[n] = position++;
}

static void lay_places(struct exp_layout *layout, const struct chil_exp *exp, bool one_root)
{
    size_t roots = 0;
    uint32_t thread = 0;
    int process = 0;
    exp_tree_init(&layout->place_tree, exp, exp->places, exp_place_parent);
    processes_first(&layout->place_tree, exp);
    layout->thread_position = base_calloc(exp->threads, sizeof(uint32_t));
    layout->process_position = base_calloc(exp->places, sizeof(int));
    layout->place_used = base_calloc(exp->places, sizeof(bool));
    for (size_t i = 0; i < exp->threads; i++)
        for (int p = exp->thread[i]; p >= 0 && !layout->place_used[p]; p = exp->place[p].parent)
            layout->place_used[p] = true;
    for (int p = CHIL_EXP_NONE;
         (p = exp_tree_next(&layout->place_tree, exp, exp_place_parent, p)) >= 0;) {
        if (!layout->place_used[p]) continue;
        roots += exp->place[p].parent < 0;
        if (exp->place[p].level == CHIL_EXP_PROCESS) layout->process_position[p] = process++;
        if (exp->place[p].level == CHIL_EXP_THREAD)
            layout->thread_position[exp->place[p].thread] = thread++;
    }
    layout->synthetic_system = one_root && roots > 1;
}

void exp_layout_init(struct exp_layout *layout, const struct chil_exp *exp, bool one_root)
{
    lay_metrics(layout, exp);
    lay_nodes(layout, exp, one_root);
    lay_places(layout, exp, one_root);
}

void exp_layout_fini(struct exp_layout *layout)
{
    exp_tree_fini(&layout->metric_tree);
    exp_tree_fini(&layout->node_tree);
    exp_tree_fini(&layout->place_tree);
    free(layout->metric_position);
    free(layout->metric_at);
    free(layout->node_position);
    free(layout->thread_position);
    free(layout->process_position);
    free(layout->place_used);
}
