/* Inside machine/system: what the devices of the networks share (system_net.c). */
#ifndef SYSTEM_NET_H
#define SYSTEM_NET_H

#include "machine/system/system_impl.h"

enum { SYSTEM_TORUS_STRIDE = 0x10000 }; /* between the windows of the torus groups */

static inline uint32_t system_net_node(const struct system_member *member)
{
    return (uint32_t)(member - member->system->members);
}

/* A number of the machine file; 0: it has none. */
uint32_t system_net_number(const struct system *system, const char *key);

/* Attaches a device of the node whose accesses wait for their turn; `section` of the machine file
 * has its load_cycles and store_cycles, or access_cycles. */
void system_net_attach_device(struct system_member *member, struct node_device *device,
                              const char *section, uint32_t page, uint32_t size,
                              bool (*access)(void *context, unsigned core,
                                             struct node_access *access));
/* Before an access: the networks are at its time. */
void system_net_look(struct system_member *member);
/* After an access: whether it changes what later ones are answered. */
void system_net_note(struct system_member *member, const struct node_access *access, bool changes);
/* Reports what an access did wrong; false: it ends the program. */
bool system_net_answer(struct system_member *member, int status, const struct chil_error *err);

/* 8 big-endian bytes. */
static inline void system_net_put64(uint8_t *bytes, uint64_t value)
{
    value = __builtin_bswap64(value);
    memcpy(bytes, &value, sizeof value);
}

static inline uint64_t system_net_get64(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return __builtin_bswap64(value);
}

/* Something has changed that a device shows: a node that sleeps is woken if it looks at it. */
enum system_changed {
    SYSTEM_CHANGED_TORUS,
    SYSTEM_CHANGED_COLLECTIVE,
    SYSTEM_CHANGED_BARRIER,
    SYSTEM_CHANGED_DMA
};
void system_net_changed(struct system_member *member, enum system_changed what);

/* The DMA engine (system_dma.c). _apply: what it wrote to the node's memory, before a look.
 * _answer: what a load of a register would give. */
struct net_dma_owner system_dma_owner(struct system *system);
void system_dma_apply(struct system_member *member);
uint32_t system_dma_answer(const struct system_member *member, uint32_t address);
void system_dma_attach(struct system_member *member);
void system_dma_detach(struct system_member *member);

/* Private accesses (system_torus.c, system_collective.c): done in no turn, and not a look, since
 * they are within a packet. _forget: before something else of the node may fill its torus FIFOs.
 * _notify: the network gets to know of all of them, in a turn. */
bool system_torus_is_private(const struct system_member *member, uint32_t address, bool load);
void system_torus_forget(const struct system_member *member);
bool system_collective_is_private(const struct system_member *member, uint32_t address,
                                  bool is_load);
void system_collective_notify(struct system_member *member);

/* The devices of a node: system_torus.c, system_collective.c, system_registers.c. */
void system_torus_attach(struct system_member *member);
void system_collective_attach(struct system_member *member);
void system_registers_attach(struct system_member *member);

#endif
