/* The FIFOs of the collective network as devices: a page for each virtual channel
 * (enum net_collective_port). Data are loaded and stored in 16 bytes, headers and status in words.
 *
 * What a program does wrong is answered as for the torus FIFOs (system_torus.c): a header whose
 * class leads nowhere ends the program, a full or an empty FIFO is reported once.
 *
 * A quad is private if it is not the last of its packet, and, of a packet that is read, not the
 * first: the network is notified of it with the next access that is not private. */
#include <string.h>

#include "machine/system/system_net.h"

/* ---- private quads ---- */

/* The channel of an address of quads that are stored or loaded; -1: it is another port. */
static int channel_of(const struct system_member *member, uint32_t address, bool is_load)
{
    for (int vc = 0; vc < COLLECTIVE_VCS; vc++)
        if (member->collective[vc].size && address - member->collective[vc].page ==
                                               (is_load ? COLLECTIVE_DATA_OUT : COLLECTIVE_DATA_IN))
            return vc;
    return -1;
}

bool system_collective_is_private(const struct system_member *member, uint32_t address,
                                  bool is_load)
{
    int vc = channel_of(member, address, is_load);
    const struct system_quads *quads = vc < 0 ? NULL : &member->quads[vc];
    if (!quads) return false;
    if (is_load) return quads->out_is_valid && quads->out_at + quads->loaded + 1 < COLLECTIVE_QUADS;
    return quads->stored < quads->room && quads->in_at + quads->stored + 1 < COLLECTIVE_QUADS;
}

static void access_private(struct system_quads *quads, struct node_access *access)
{
    if (access->load) {
        const uint8_t *quad = quads->out + COLLECTIVE_QUAD * (quads->out_at + quads->loaded++);
        access->value = system_net_get64(quad);
        access->second = system_net_get64(quad + 8);
    } else {
        uint8_t *quad = quads->in + COLLECTIVE_QUAD * quads->stored++;
        system_net_put64(quad, access->value);
        system_net_put64(quad + 8, access->second);
    }
}

void system_collective_notify(struct system_member *member)
{
    struct net_collective_part *part = member->system->collective_part;
    uint32_t node = system_net_node(member);
    for (unsigned vc = 0; vc < COLLECTIVE_VCS; vc++) {
        struct system_quads *quads = &member->quads[vc];
        uint8_t loaded[COLLECTIVE_QUAD];
        for (unsigned i = 0; i < quads->stored; i++)
            (void)net_collective_store_data(part, node, vc, quads->in + COLLECTIVE_QUAD * i, NULL);
        for (; quads->loaded; quads->loaded--)
            (void)net_collective_load_data(part, node, vc, loaded, NULL);
        quads->stored = 0;
    }
}

/* What may be taken for granted of a channel until the next access that is not private. */
static void learn(struct system_member *member, unsigned vc)
{
    const struct net_collective_part *part = member->system->collective_part;
    struct system_quads *quads = &member->quads[vc];
    unsigned injected = net_collective_injection_quads(part, system_net_node(member), vc);
    unsigned read = net_collective_quads_read(part, system_net_node(member), vc);
    quads->in_at = (uint8_t)(injected % COLLECTIVE_QUADS);
    quads->room = (uint8_t)(COLLECTIVE_FIFO_PACKETS * COLLECTIVE_QUADS - injected);
    quads->out_at = (uint8_t)read;
    if (!read || read >= COLLECTIVE_QUADS) {
        quads->out_is_valid = false;
    } else if (!quads->out_is_valid) {
        memcpy(quads->out, net_collective_front(part, system_net_node(member), vc)->payload,
               COLLECTIVE_PAYLOAD);
        quads->out_is_valid = true;
    }
}

/* ---- ports ---- */

static int load(struct system_member *member, unsigned vc, uint32_t offset,
                struct node_access *access, struct chil_error *err)
{
    struct net_collective_part *part = member->system->collective_part;
    uint32_t node = system_net_node(member), header = 0;
    uint8_t quad[COLLECTIVE_QUAD];
    int status;
    switch (offset) {
    case COLLECTIVE_DATA_OUT:
        status = net_collective_load_data(part, node, vc, quad, err);
        access->value = system_net_get64(quad);
        access->second = system_net_get64(quad + 8);
        return status;
    case COLLECTIVE_HEADER_OUT:
        status = net_collective_load_header(part, node, vc, &header, err);
        access->value = header;
        return status;
    case COLLECTIVE_STATUS:
    case COLLECTIVE_OTHER_STATUS:
        access->value = net_collective_status(part, node, vc ^ (offset == COLLECTIVE_OTHER_STATUS));
        return CHIL_OK;
    default: return CHIL_ENOENT;
    }
}

static int store(struct system_member *member, unsigned vc, uint32_t offset,
                 const struct node_access *access, struct chil_error *err)
{
    struct net_collective_part *part = member->system->collective_part;
    uint32_t node = system_net_node(member);
    uint8_t quad[COLLECTIVE_QUAD];
    if (offset == COLLECTIVE_HEADER_IN)
        return net_collective_store_header(part, node, vc, (uint32_t)access->value, 0, err);
    system_net_put64(quad, access->value);
    system_net_put64(quad + 8, access->second);
    return net_collective_store_data(part, node, vc, quad, err);
}

/* offset, width, load */
static const struct {
    uint8_t offset, width;
    bool load;
} ports[] = {{COLLECTIVE_DATA_IN, 16, false}, {COLLECTIVE_HEADER_IN, 4, false},
             {COLLECTIVE_DATA_OUT, 16, true}, {COLLECTIVE_HEADER_OUT, 4, true},
             {COLLECTIVE_STATUS, 4, true},    {COLLECTIVE_OTHER_STATUS, 4, true}};

static bool access_channel(struct system_member *member, unsigned vc, struct node_access *access)
{
    struct chil_error err = {0};
    uint32_t offset = access->address - member->collective[vc].page;
    unsigned i = 0;
    while (i < sizeof ports / sizeof *ports &&
           (offset != ports[i].offset || access->width != ports[i].width ||
            access->load != ports[i].load))
        i++;
    if (i == sizeof ports / sizeof *ports) return false;
    if (system_collective_is_private(member, access->address, access->load)) {
        access_private(&member->quads[vc], access);
        member->own_changes++;
        return true;
    }
    if (system_idle_replay(member, access)) return true;
    system_net_look(member);
    system_collective_notify(member);
    int status = access->load ? load(member, vc, offset, access, &err)
                              : store(member, vc, offset, access, &err);
    learn(member, vc);
    system_net_note(member, access, offset < COLLECTIVE_STATUS);
    return system_net_answer(member, status, &err);
}

static bool access_channel_0(void *context, unsigned core, struct node_access *access)
{
    (void)core;
    return access_channel(context, 0, access);
}

static bool access_channel_1(void *context, unsigned core, struct node_access *access)
{
    (void)core;
    return access_channel(context, 1, access);
}

void system_collective_attach(struct system_member *member)
{
    const struct system *system = member->system;
    for (unsigned vc = 0; vc < COLLECTIVE_VCS; vc++)
        system_net_attach_device(member, &member->collective[vc], "collective",
                                 system_net_number(system, "collective.base") +
                                     vc * system_net_number(system, "collective.stride"),
                                 MEM_PAGE, vc ? access_channel_1 : access_channel_0);
}
