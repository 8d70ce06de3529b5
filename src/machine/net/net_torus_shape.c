/* Where nodes are, who their neighbours are, and which way a packet goes.
 *
 * Node numbers run through x first, then y, then z. In a torus dimension of size 1 a node is its
 * own neighbour; in one of size 2 both links of a dimension lead to the same node.
 */
#include "machine/net/net_torus.h"

const struct net_torus_params net_torus_bgl = {4, 64, 125, 125, 4096};
const struct net_torus_params net_torus_bgp = {2, 56, 180, 180, 4096};

uint32_t net_torus_nodes(const struct net_torus_shape *shape)
{
    return (uint32_t)shape->size[0] * shape->size[1] * shape->size[2];
}

void net_torus_coordinates(const struct net_torus_shape *shape, uint32_t node, uint8_t at[3])
{
    at[0] = (uint8_t)(node % shape->size[0]);
    at[1] = (uint8_t)(node / shape->size[0] % shape->size[1]);
    at[2] = (uint8_t)(node / shape->size[0] / shape->size[1]);
}

uint32_t net_torus_node(const struct net_torus_shape *shape, const uint8_t at[3])
{
    return at[0] + (uint32_t)shape->size[0] * (at[1] + (uint32_t)shape->size[1] * at[2]);
}

uint32_t net_torus_neighbour(const struct net_torus_shape *shape, uint32_t node, unsigned direction)
{
    unsigned dimension = direction / 2;
    uint8_t at[3];
    net_torus_coordinates(shape, node, at);
    unsigned last = shape->size[dimension] - 1u;
    bool plus = direction % 2 == 0;
    bool edge = at[dimension] == (plus ? last : 0);
    if (edge && !shape->torus[dimension]) return UINT32_MAX;
    if (edge)
        at[dimension] = (uint8_t)(plus ? 0 : last);
    else
        at[dimension] = (uint8_t)(at[dimension] + (plus ? 1 : -1));
    return net_torus_node(shape, at);
}

uint8_t net_torus_hints(const struct net_torus_shape *shape, const uint8_t from[3],
                        const uint8_t to[3])
{
    uint8_t hints = 0;
    for (unsigned i = 0; i < 3; i++) {
        if (from[i] == to[i]) continue;
        bool plus = to[i] > from[i];
        if (shape->torus[i]) {
            unsigned size = shape->size[i];
            unsigned way = (to[i] + size - from[i]) % size;
            plus = 2 * way < size || (2 * way == size && from[i] % 2 == 0);
        }
        hints |= net_torus_hint(2 * i + !plus);
    }
    return hints;
}
