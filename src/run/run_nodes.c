/* The nodes of a run: how many, where they are, and what each counted. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "run/run_impl.h"

/* ---- shape ---- */

static int bad_shape(const char *text, struct chil_error *err)
{
    return chil_error_set(err, CHIL_EINVAL,
                          "torus '%.40s' is not three sizes from 1 to %d, as 8x8x4, or 8x8x4m with "
                          "an open ring in z",
                          text, CHIL_TORUS_SIZE_MAX);
}

int chil_torus_parse(const char *text, struct chil_torus *torus, struct chil_error *err)
{
    const char *at = text;
    for (unsigned i = 0; i < 3; i++) {
        char *end;
        unsigned long size = isdigit((unsigned char)*at) ? strtoul(at, &end, 10) : 0;
        if (size < 1 || size > CHIL_TORUS_SIZE_MAX) return bad_shape(text, err);
        torus->size[i] = (unsigned)size;
        torus->mesh[i] = *end == 'm';
        at = end + torus->mesh[i];
        if (*at != (i < 2 ? 'x' : 0)) return bad_shape(text, err);
        at++;
    }
    return 0;
}

/* The box of so many nodes with the smallest surface; the longest side is x. False: none fits. */
static bool most_cubic(unsigned nodes, unsigned size[3])
{
    unsigned best = UINT32_MAX;
    for (unsigned z = 1; z * z * z <= nodes; z++) {
        if (nodes % z) continue;
        for (unsigned y = z; y * y <= nodes / z; y++) {
            unsigned x = nodes / z / y;
            if (nodes / z % y || x > CHIL_TORUS_SIZE_MAX) continue;
            unsigned surface = x * y + y * z + z * x;
            if (surface >= best) continue;
            best = surface;
            size[0] = x;
            size[1] = y;
            size[2] = z;
        }
    }
    return best != UINT32_MAX;
}

/* What one node alone can have so far. */
static const char *needs_one_node(const struct chil_run_options *o)
{
    if (o->record_turns) return "counters that take turns";
    return NULL;
}

int run_shape(struct chil_run *run, struct chil_error *err)
{
    const struct chil_run_options *o = &run->options;
    struct chil_torus torus = o->torus;
    uint64_t product = 0, most = node_parameter(o->machine, "machine.nodes_max", 1);
    unsigned nodes = o->nodes;
    if (torus.size[0]) product = (uint64_t)torus.size[0] * torus.size[1] * torus.size[2];
    if (!nodes) nodes = product ? (unsigned)product : 1;
    if (product && product != nodes)
        return chil_error_set(err, CHIL_EINVAL, "a torus of %ux%ux%u has %u nodes, not %u",
                              torus.size[0], torus.size[1], torus.size[2], (unsigned)product,
                              nodes);
    if (most > CHIL_RUN_NODES_MAX) most = CHIL_RUN_NODES_MAX;
    if (nodes > most)
        return chil_error_set(err, CHIL_ERANGE, "machine '%s' has at most %u nodes, not %u",
                              chil_machine_name(o->machine), (unsigned)most, nodes);
    if (!product && !most_cubic(nodes, torus.size))
        return chil_error_set(err, CHIL_ERANGE, "no torus has %u nodes: a side is at most %d",
                              nodes, CHIL_TORUS_SIZE_MAX);
    const char *alone = nodes > 1 ? needs_one_node(o) : NULL;
    if (alone)
        return chil_error_set(err, CHIL_EINVAL, "%s needs a run of one node, not %u", alone, nodes);
    run->node_count = nodes;
    for (unsigned i = 0; i < 3; i++) {
        run->shape.size[i] = (uint16_t)torus.size[i];
        run->shape.torus[i] = !torus.mesh[i];
    }
    return 0;
}

/* ---- what is known of a node ---- */

unsigned chil_run_nodes(const struct chil_run *run)
{
    return run->node_count;
}

struct chil_torus chil_run_torus(const struct chil_run *run)
{
    struct chil_torus torus;
    for (unsigned i = 0; i < 3; i++) {
        torus.size[i] = run->shape.size[i];
        torus.mesh[i] = !run->shape.torus[i];
    }
    return torus;
}

void chil_run_coordinates(const struct chil_run *run, unsigned node, unsigned at[3])
{
    uint8_t bytes[3];
    net_torus_coordinates(&run->shape, node, bytes);
    for (unsigned i = 0; i < 3; i++)
        at[i] = bytes[i];
}

int chil_run_node_status(const struct chil_run *run, unsigned node)
{
    if (run_others_has(run, node)) return (int)run_others_node(run, node)->status;
    return run->nodes[node].result.status;
}

uint64_t chil_run_node_cycles(const struct chil_run *run, unsigned node)
{
    if (run_others_has(run, node)) return run_others_node(run, node)->cycles;
    return run->nodes[node].result.cycles;
}

uint64_t chil_run_node_instructions(const struct chil_run *run, unsigned node)
{
    if (run_others_has(run, node)) return run_others_node(run, node)->instructions;
    const struct node *of = run->nodes[node].node;
    uint64_t sum = 0;
    for (unsigned i = 0; i < of->core_count; i++)
        sum += of->counts[i][CORE_SIGNAL_INSTRUCTIONS];
    return sum;
}
