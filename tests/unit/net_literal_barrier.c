#include "net_literal_barrier.h"

#include <stdlib.h>

#include "base/mem.h"

static bool at_start(int channel)
{
    return channel != 1;
}

struct literal_barrier *literal_barrier_new(uint32_t nodes, uint32_t latency)
{
    struct literal_barrier *b = base_calloc(1, sizeof *b);
    b->nodes = nodes;
    b->latency = latency;
    b->node = base_calloc(nodes, sizeof *b->node);
    b->wire_up = base_calloc((size_t)latency * nodes * BARRIER_CHANNELS, sizeof(bool));
    b->wire_down = base_calloc((size_t)latency * BARRIER_CHANNELS, sizeof(bool));
    for (size_t i = 0; i < (size_t)latency * nodes * BARRIER_CHANNELS; i++)
        b->wire_up[i] = at_start((int)(i % BARRIER_CHANNELS));
    for (size_t i = 0; i < (size_t)latency * BARRIER_CHANNELS; i++)
        b->wire_down[i] = at_start((int)(i % BARRIER_CHANNELS));
    for (uint32_t n = 0; n < nodes; n++)
        for (int c = 0; c < BARRIER_CHANNELS; c++)
            b->node[n].channel[c] = (struct literal_barrier_channel){
                .up = at_start(c), .down = at_start(c), .enabled = c == 0};
    return b;
}

void literal_barrier_free(struct literal_barrier *b)
{
    free(b->node);
    free(b->wire_up);
    free(b->wire_down);
    free(b);
}

static void down_comes(struct literal_barrier *b, uint32_t n, int c, bool value)
{
    struct literal_barrier_channel *channel = &b->node[n].channel[c];
    if (channel->down == value) return;
    channel->down = value;
    b->down(b->owner, n, (unsigned)c);
    bool fired = channel->and ? !value : value;
    if (channel->armed && fired && !channel->sticky) {
        channel->sticky = true;
        channel->up = channel->and;
        b->sticky(b->owner, n, (unsigned)c);
    }
}

void literal_barrier_step(struct literal_barrier *b)
{
    size_t at = b->now % b->latency;
    for (int c = 0; c < BARRIER_CHANNELS; c++) {
        bool from_root = b->wire_down[at * BARRIER_CHANNELS + (size_t)c], or = false;
        for (uint32_t n = 0; n < b->nodes; n++) {
            down_comes(b, n, c, from_root);
            bool *wire = &b->wire_up[(at * b->nodes + n) * BARRIER_CHANNELS + (size_t)c];
            or |= *wire;
            *wire = b->node[n].channel[c].up;
        }
        b->wire_down[at * BARRIER_CHANNELS + (size_t)c] = or ;
    }
    b->now++;
}

static void direct(struct literal_barrier_channel *channel, bool value)
{
    channel->sticky_mode = channel->sticky = channel->armed = channel->and = false;
    channel->up = value;
}

static void fire(struct literal_barrier_channel *channel, bool value)
{
    if (!value) {
        channel->sticky = channel->armed = false;
        if (channel->sticky_mode) channel->up = channel->and;
    } else if (channel->armed && !channel->sticky) {
        channel->up = !channel->and;
    }
}

void literal_barrier_store(struct literal_barrier *b, uint32_t n, unsigned offset, uint32_t value,
                           bool user)
{
    struct literal_barrier_node *node = &b->node[n];
    struct literal_barrier_channel *channel = &node->channel[offset % 4];
    if (offset > 15) return;
    if (user && ((offset >= 4 && offset < 8) || !channel->enabled)) {
        node->violation = true;
        return;
    }
    if (offset < 4) direct(channel, value & 1);
    if (offset == 5) {
        for (int c = 0; c < 4; c++)
            if (value >> (3 - c) & 1) direct(&node->channel[c], at_start(c));
        if (value & 15) node->violation = false;
    }
    if (offset == 6)
        for (int c = 0; c < 4; c++)
            node->channel[c].enabled = value >> (3 - c) & 1;
    if (offset >= 8 && offset < 12) fire(channel, value & 1);
    if (offset >= 12) {
        channel->sticky_mode = channel->armed = true;
        channel->and = value & 1;
        channel->up = channel->and;
    }
}

uint32_t literal_barrier_load(const struct literal_barrier *b, uint32_t n)
{
    const struct literal_barrier_node *node = &b->node[n];
    uint32_t word = node->violation ? UINT32_C(1) << 14 : 0;
    for (int c = 0; c < 4; c++) {
        const struct literal_barrier_channel *channel = &node->channel[c];
        word |= (uint32_t)channel->sticky_mode << (31 - c) | (uint32_t)channel->sticky << (27 - c) |
                    (uint32_t)channel->armed << (23 - c) | (uint32_t)channel->and
                << (19 - c) | (uint32_t)channel->down << (11 - c) |
                       (uint32_t)channel->enabled << (7 - c) | (uint32_t)channel->up << (3 - c);
    }
    return word;
}
