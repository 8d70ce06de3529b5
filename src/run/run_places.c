/* The system tree of a recorded run of many nodes: machine, rack, midplane, node card, node.
 *
 * As on Blue Gene: a node card has 4 x 4 x 2 nodes, a midplane 8 x 8 x 8 in 16 cards, a rack two
 * midplanes. Midplanes are numbered like nodes, through x first. One node alone has no cards. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "chiliad/experiment.h"
#include "run/run_impl.h"

enum { MIDPLANE = 8, CARD_X = 4, CARD_Z = 2 };

static struct run_place place_of(const struct chil_run *run, unsigned node)
{
    unsigned at[3], size[2];
    chil_run_coordinates(run, node, at);
    for (unsigned i = 0; i < 2; i++)
        size[i] = (run->shape.size[i] + MIDPLANE - 1u) / MIDPLANE;
    unsigned midplane =
        (at[2] / MIDPLANE * size[1] + at[1] / MIDPLANE) * size[0] + at[0] / MIDPLANE;
    for (unsigned i = 0; i < 3; i++)
        at[i] %= MIDPLANE;
    unsigned card = (at[2] / CARD_Z * 2 + at[1] / CARD_X) * 2 + at[0] / CARD_X;
    return (struct run_place){node, card, midplane % 2, midplane / 2};
}

static int compare(const void *left, const void *right)
{
    const struct run_place *a = left, *b = right;
    if (a->rack != b->rack) return a->rack < b->rack ? -1 : 1;
    if (a->midplane != b->midplane) return a->midplane < b->midplane ? -1 : 1;
    if (a->card != b->card) return a->card < b->card ? -1 : 1;
    return a->node < b->node ? -1 : a->node > b->node;
}

struct run_place *run_places_new(const struct chil_run *run)
{
    struct run_place *places = base_calloc(run->node_count, sizeof *places);
    for (unsigned i = 0; i < run->node_count; i++)
        places[i] = place_of(run, i);
    qsort(places, run->node_count, sizeof *places, compare);
    return places;
}

/* The place of that name below `parent`: the last one there, or a new one. */
static int last_or_new(struct chil_exp *exp, int parent, enum chil_exp_level level,
                       const char *name)
{
    for (size_t i = exp->places; i-- > 0;)
        if (exp->place[i].parent == parent && exp->place[i].level == level)
            if (strcmp(exp->place[i].name, name) == 0) return (int)i;
    return chil_exp_add_place(exp, parent, level, name, 0);
}

int run_places_add(const struct chil_run *run, struct chil_exp *exp, const struct run_place *place)
{
    char name[80];
    unsigned at[3];
    int above =
        last_or_new(exp, CHIL_EXP_NONE, CHIL_EXP_MACHINE, chil_machine_name(run->options.machine));
    if (run->node_count == 1) return chil_exp_add_place(exp, above, CHIL_EXP_NODE, "node 0", 0);
    chil_run_coordinates(run, place->node, at);
    (void)snprintf(name, sizeof name, "rack R%02u", place->rack);
    above = last_or_new(exp, above, CHIL_EXP_NODE, name);
    (void)snprintf(name, sizeof name, "midplane R%02u-M%u", place->rack, place->midplane);
    above = last_or_new(exp, above, CHIL_EXP_NODE, name);
    (void)snprintf(name, sizeof name, "node card R%02u-M%u-N%02u", place->rack, place->midplane,
                   place->card);
    above = last_or_new(exp, above, CHIL_EXP_NODE, name);
    (void)snprintf(name, sizeof name, "node %u (%u,%u,%u)", place->node, at[0], at[1], at[2]);
    return chil_exp_add_place(exp, above, CHIL_EXP_NODE, name, 0);
}
