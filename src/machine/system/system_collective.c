/* The FIFOs of the collective network as devices: a page for each virtual channel
 * (enum net_collective_port). Data are loaded and stored in 16 bytes, headers and status in words.
 *
 * What a program does wrong is answered as for the torus FIFOs (system_torus.c): a header whose
 * class leads nowhere ends the program, a full or an empty FIFO is reported once. */
#include "machine/system/system_net.h"

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
    if (system_idle_replay(member, access)) return true;
    system_net_look(member);
    int status = access->load ? load(member, vc, offset, access, &err)
                              : store(member, vc, offset, access, &err);
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
