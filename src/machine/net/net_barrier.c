/* The barrier network. The root is a state of node 0: the number of nodes that drive 1, by channel.
 *
 * An event up says by how much that number changes, so events of one cycle commute; the OR is
 * formed once all of them were applied. An event down carries the new value.
 */
#include "machine/net/net_barrier.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

const struct net_barrier_config net_barrier_bgl = {0, 32, 40};
const struct net_barrier_config net_barrier_bgp = {0, 34, 40};

enum { AT_REST = 0xB }; /* channels that are driven with 1 at the start; bit 3 is channel 0 */

/* What is under way, in `kind`. `port` is a channel; `value` 1 or 0. */
enum barrier_kind {
    BARRIER_GOES_UP,
    BARRIER_COMES_DOWN,
    BARRIER_NOTIFY_DOWN = NET_ACT, /* port: the channel */
    BARRIER_NOTIFY_STICKY,
};

/* Masks of channels; bit 3 is channel 0, as in the status word. */
struct barrier_node {
    uint8_t mode, sticky, armed, type, down, enables, up, violation;
};

struct net_barrier {
    struct net_barrier_config config;
    uint32_t latency;
    struct barrier_node *node;
    size_t reserved;
};

struct net_barrier_part {
    struct net_barrier *barrier;
    struct net_partition *partition;
    struct net_barrier_owner owner;
    uint8_t unit;
    bool touched;
    struct net_barrier_totals totals;
    /* The root, in the part that has node 0. */
    uint32_t ones[BARRIER_CHANNELS];
    uint8_t or ;
};

static uint8_t bit(unsigned channel)
{
    return (uint8_t)(8u >> channel);
}

static void node_reset(struct barrier_node *node, unsigned channels)
{
    uint8_t keep = (uint8_t)~channels;
    node->mode &= keep;
    node->sticky &= keep;
    node->armed &= keep;
    node->type &= keep;
}

static void send(struct net_barrier_part *part, uint32_t node, enum barrier_kind kind,
                 unsigned channel, bool value)
{
    uint64_t now = net_partition_now(part->partition);
    net_partition_send(part->partition, &(struct net_event){.time = now + part->barrier->latency,
                                                            .node = node,
                                                            .unit = part->unit,
                                                            .kind = (uint8_t)kind,
                                                            .port = (uint8_t)channel,
                                                            .value = value});
}

static void drive(struct net_barrier_part *part, uint32_t number, unsigned channel, bool value)
{
    struct barrier_node *node = &part->barrier->node[number];
    if (((node->up & bit(channel)) != 0) == value) return;
    node->up ^= bit(channel);
    send(part, 0, BARRIER_GOES_UP, channel, value);
}

/* The value that an armed channel drives before it fires. */
static bool rest(const struct barrier_node *node, unsigned channel)
{
    return node->mode & bit(channel) ? node->type & bit(channel) : AT_REST & bit(channel);
}

/* ---- events ---- */

static void notify(struct net_barrier_part *part, uint32_t node, enum barrier_kind kind,
                   unsigned channel)
{
    net_partition_act_now(part->partition,
                          &(struct net_event){.time = net_partition_now(part->partition),
                                              .node = node,
                                              .unit = part->unit,
                                              .kind = (uint8_t)kind,
                                              .port = (uint8_t)channel});
}

static void comes_down(struct net_barrier_part *part, const struct net_event *event)
{
    struct barrier_node *node = &part->barrier->node[event->node];
    unsigned channel = event->port;
    node->down ^= bit(channel);
    assert(((node->down & bit(channel)) != 0) == event->value);
    part->totals.downs[channel]++;
    notify(part, event->node, BARRIER_NOTIFY_DOWN, channel);
    bool active = event->value ^ ((node->type & bit(channel)) != 0);
    if (!(node->armed & bit(channel)) || !active || node->sticky & bit(channel)) return;
    node->sticky |= bit(channel);
    part->totals.sticky[channel]++;
    drive(part, event->node, channel, rest(node, channel));
    notify(part, event->node, BARRIER_NOTIFY_STICKY, channel);
}

static void apply(void *self, const struct net_event *event)
{
    struct net_barrier_part *part = self;
    if (event->kind == BARRIER_COMES_DOWN) {
        comes_down(part, event);
        return;
    }
    part->ones[event->port] += event->value ? 1u : UINT32_MAX;
    if (!part->touched) net_partition_touch(part->partition, part->unit, event->node);
    part->touched = true;
}

static void act(void *self, const struct net_event *event)
{
    struct net_barrier_part *part = self;
    const struct net_barrier_owner *owner = &part->owner;
    if (event->kind == BARRIER_NOTIFY_STICKY) {
        if (owner->sticky) owner->sticky(owner->self, event->node, event->port);
    } else if (owner->down) {
        owner->down(owner->self, event->node, event->port);
    }
}

/* The root: sends values that changed to all nodes. */
static void arbitrate(void *self, uint32_t root)
{
    struct net_barrier_part *part = self;
    (void)root;
    part->touched = false;
    for (unsigned channel = 0; channel < BARRIER_CHANNELS; channel++) {
        bool value = part->ones[channel] > 0;
        if (((part->or &bit(channel)) != 0) == value) continue;
        part->or ^= bit(channel);
        part->totals.changes[channel]++;
        for (uint32_t node = 0; node < part->barrier->config.nodes; node++)
            send(part, node, BARRIER_COMES_DOWN, channel, value);
    }
}

/* ---- making ---- */

int net_barrier_new(struct net_barrier **barrier, const struct net_barrier_config *config,
                    struct chil_error *error)
{
    if (!config->nodes || !config->level_cycles)
        return chil_error_set(error, CHIL_EINVAL,
                              "barrier network: %u nodes, %u cycles a level; at least 1 of each",
                              config->nodes, config->level_cycles);
    struct net_barrier *b = base_calloc(1, sizeof *b);
    b->config = *config;
    unsigned levels = 31u - (unsigned)__builtin_clz(config->nodes);
    b->latency = config->level_cycles * (levels ? levels : 1);
    b->reserved = config->nodes * sizeof *b->node;
    b->node = base_reserve(b->reserved);
    for (uint32_t i = 0; i < config->nodes; i++)
        b->node[i] = (struct barrier_node){.down = AT_REST, .enables = bit(0), .up = AT_REST};
    *barrier = b;
    return CHIL_OK;
}

void net_barrier_free(struct net_barrier *barrier)
{
    if (!barrier) return;
    base_release(barrier->node, barrier->reserved);
    free(barrier);
}

uint32_t net_barrier_latency(const struct net_barrier *barrier)
{
    return barrier->latency;
}

struct net_barrier_part *net_barrier_part_new(struct net_barrier *barrier,
                                              struct net_partition *partition,
                                              const struct net_barrier_owner *owner)
{
    struct net_barrier_part *part = base_calloc(1, sizeof *part);
    part->barrier = barrier;
    part->partition = partition;
    if (owner) part->owner = *owner;
    part->or = AT_REST;
    for (unsigned i = 0; i < BARRIER_CHANNELS; i++)
        part->ones[i] = AT_REST & bit(i) ? barrier->config.nodes : 0;
    part->unit = net_partition_add(
        partition,
        &(struct net_unit){.self = part, .apply = apply, .act = act, .arbitrate = arbitrate});
    part->totals.nodes = barrier->config.nodes;
    return part;
}

void net_barrier_part_free(struct net_barrier_part *part)
{
    free(part);
}

/* ---- registers ---- */

static bool refused(struct barrier_node *node, unsigned offset, bool user)
{
    unsigned channel = offset % BARRIER_CHANNELS;
    bool common = offset >= BARRIER_DIRECT + BARRIER_CHANNELS && offset < BARRIER_FIRE;
    if (!user || (!common && node->enables & bit(channel))) return false;
    node->violation = 1;
    return true;
}

static void fire(struct net_barrier_part *part, uint32_t number, unsigned channel, bool value)
{
    struct barrier_node *node = &part->barrier->node[number];
    if (!value) {
        node->sticky &= (uint8_t)~bit(channel);
        node->armed &= (uint8_t)~bit(channel);
        if (node->mode & bit(channel)) drive(part, number, channel, rest(node, channel));
    } else if (node->armed & bit(channel) && !(node->sticky & bit(channel))) {
        part->totals.fires[channel]++;
        drive(part, number, channel, !rest(node, channel));
    }
}

static void arm(struct net_barrier_part *part, uint32_t number, unsigned channel, bool and)
{
    struct barrier_node *node = &part->barrier->node[number];
    node->mode |= bit(channel);
    node->armed |= bit(channel);
    node->type = (uint8_t)((node->type & ~bit(channel)) | (and? bit(channel) : 0));
    drive(part, number, channel, rest(node, channel));
}

void net_barrier_store(struct net_barrier_part *part, uint32_t number, unsigned offset,
                       uint32_t value, bool user)
{
    struct barrier_node *node = &part->barrier->node[number];
    unsigned channel = offset % BARRIER_CHANNELS;
    if (offset >= BARRIER_REGISTERS || refused(node, offset, user)) return;
    switch (offset - channel) {
    case BARRIER_DIRECT:
        node_reset(node, bit(channel));
        drive(part, number, channel, value & 1);
        break;
    case BARRIER_FIRE: fire(part, number, channel, value & 1); break;
    case BARRIER_ARM: arm(part, number, channel, value & 1); break;
    default:
        if (offset == BARRIER_USER) node->enables = value & 0xF;
        if (offset != BARRIER_RESETS) break;
        node_reset(node, value & 0xF);
        if (value & 0xF) node->violation = 0;
        for (unsigned i = 0; i < BARRIER_CHANNELS; i++)
            if (value & bit(i)) drive(part, number, i, AT_REST & bit(i));
    }
}

uint32_t net_barrier_load(const struct net_barrier_part *part, uint32_t number)
{
    const struct barrier_node *node = &part->barrier->node[number];
    return (uint32_t)node->mode << 28 | (uint32_t)node->sticky << 24 | (uint32_t)node->armed << 20 |
           (uint32_t)node->type << 16 | (uint32_t)node->violation << (31 - BARRIER_VIOLATION) |
           (uint32_t)node->down << 8 | (uint32_t)node->enables << 4 | node->up;
}

/* ---- counts and laws ---- */

void net_barrier_add_totals(const struct net_barrier_part *part, struct net_barrier_totals *totals)
{
    for (unsigned i = 0; i < BARRIER_CHANNELS; i++) {
        totals->fires[i] += part->totals.fires[i];
        totals->sticky[i] += part->totals.sticky[i];
        totals->changes[i] += part->totals.changes[i];
        totals->downs[i] += part->totals.downs[i];
    }
    totals->nodes = part->totals.nodes;
}

static bool all_came_down(const struct net_barrier_totals *t)
{
    for (unsigned i = 0; i < BARRIER_CHANNELS; i++)
        if (t->downs[i] != t->changes[i] * t->nodes) return false;
    return true;
}

static bool sticky_by_change(const struct net_barrier_totals *t)
{
    for (unsigned i = 0; i < BARRIER_CHANNELS; i++)
        if (t->sticky[i] > t->downs[i]) return false;
    return true;
}

/* text, check */
static const struct {
    const char *text;
    bool (*holds)(const struct net_barrier_totals *totals);
} laws[] = {
    {"changes that came down = changes of the root x nodes", all_came_down},
    {"sticky bits set <= changes that came down", sticky_by_change},
};

const char *net_barrier_law(unsigned number)
{
    return number < sizeof laws / sizeof laws[0] ? laws[number].text : NULL;
}

int net_barrier_broken_law(const struct net_barrier_totals *totals)
{
    for (unsigned i = 0; net_barrier_law(i); i++)
        if (!laws[i].holds(totals)) return (int)i;
    return -1;
}

size_t net_barrier_memory(const struct net_barrier_part *part)
{
    return sizeof *part;
}
