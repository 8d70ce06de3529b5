/* The DMA engine of a node as a device, and the node's memory as the engine sees it.
 *
 *   what          address                              accesses
 *   registers     dma.base + 0x1000 x group            words (net_dma.h)
 *   its DCRs      network.dcr_base + 4 x 0xD00         words (system_registers.c)
 *
 * Physical addresses. The engine's 36 bits are those of a static map: bits 0-3 say which process of
 * the node (t), bits 4-35 are its effective address. So memory of a program is contiguous for the
 * engine, as it nearly is under Blue Gene's kernel, and a program finds the physical address
 * without a question. The frames behind it, which caches see, are those of the page tables.
 *
 * What the engine writes is kept until the node looks at a network again, and then applied in the
 * order of arrival, before the look is answered: a node runs freely in between, perhaps in another
 * thread. The engine itself reads what it has written before. Right and existence of a page are
 * checked when the engine writes; a page that is gone by the look is left out. The memory hierarchy
 * sees the engine's accesses at the look, too: L3 is looked up and filled, lines leave L1D.
 *
 * A program's fault (memory that is not there, a counter that is not enabled, ...) is reported and
 * the engine drops the packet or deactivates the FIFO; the program runs on. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "machine/system/system_net.h"

enum { FILTER_LINE = 7, FILTER_BITS = 4096 };

struct write {
    uint32_t address, size;
    size_t at; /* in bytes */
    uint8_t process;
};

/* An access of the engine that the hierarchy has still to see. */
struct traffic {
    uint32_t address, size;
    uint8_t process;
    bool write;
};

/* What is still to be done, in order. */
struct system_dma {
    struct traffic *traffic;
    size_t traffic_count, traffic_capacity;
    struct write *writes;
    size_t count, capacity;
    uint8_t *bytes;
    size_t size, size_capacity;
    uint64_t filter[FILTER_BITS / 64]; /* a bit for each line that may be among them */
};

static void mark(struct system_dma *dma, uint32_t address)
{
    uint32_t bit = (address >> FILTER_LINE) % FILTER_BITS;
    dma->filter[bit / 64] |= UINT64_C(1) << bit % 64;
}

static bool is_marked(const struct system_dma *dma, uint32_t address, uint32_t size)
{
    for (uint64_t line = address >> FILTER_LINE;
         line <= ((uint64_t)address + size - 1) >> FILTER_LINE; line++)
        if (dma->filter[line % FILTER_BITS / 64] >> line % 64 & 1) return true;
    return false;
}

/* ---- memory, for the engine ---- */

static struct mem *memory_of(const struct system_member *member, uint64_t address, uint32_t size,
                             unsigned right)
{
    if (member->handed) /* its memory is that of its next turn, in whatever thread it runs */
        system_threads_finish(member->system->threads, (struct system_member *)member);
    struct mem *mem = os_process_mem(member->node->os, (unsigned)(address >> 32));
    uint64_t first = (uint32_t)address, last = first + size - 1;
    if (!mem || last >> 32) return NULL;
    for (uint64_t page = first >> MEM_PAGE_BITS; page <= last >> MEM_PAGE_BITS; page++) {
        uint32_t at = (uint32_t)(page << MEM_PAGE_BITS);
        if (!(mem_granted(mem, at) & right) || mem_rights(mem, at) & MEM_IO) return NULL;
    }
    return mem;
}

/* Lays what is still to be written over bytes that were read. */
static void overlay(const struct system_dma *dma, uint64_t address, uint8_t *bytes, uint32_t size)
{
    if (!dma->count || !is_marked(dma, (uint32_t)address, size)) return;
    for (size_t i = 0; i < dma->count; i++) {
        const struct write *w = &dma->writes[i];
        uint64_t from = (uint64_t)w->process << 32 | w->address, to = from + w->size;
        uint64_t first = from > address ? from : address,
                 end = to < address + size ? to : address + size;
        if (first < end)
            memcpy(bytes + (first - address), dma->bytes + w->at + (first - from), end - first);
    }
}

static bool dma_read(void *self, uint32_t node, uint64_t address, void *bytes, uint32_t size)
{
    const struct system *system = self;
    const struct system_member *member = &system->members[node];
    const struct mem *mem = memory_of(member, address, size, MEM_READ);
    if (!mem) return false;
    memcpy(bytes, mem_host(mem, (uint32_t)address), size);
    overlay(member->dma, address, bytes, size);
    return true;
}

static bool dma_write(void *self, uint32_t node, uint64_t address, const void *bytes, uint32_t size)
{
    const struct system *system = self;
    const struct system_member *member = &system->members[node];
    struct system_dma *dma = member->dma;
    if (!memory_of(member, address, size, MEM_WRITE)) return false;
    if (dma->count == dma->capacity)
        dma->writes = base_grow(dma->writes, &dma->capacity, dma->count + 1, sizeof *dma->writes);
    if (dma->size + size > dma->size_capacity)
        dma->bytes = base_grow(dma->bytes, &dma->size_capacity, dma->size + size, 1);
    dma->writes[dma->count++] =
        (struct write){(uint32_t)address, size, dma->size, (uint8_t)(address >> 32)};
    memcpy(dma->bytes + dma->size, bytes, size);
    dma->size += size;
    mark(dma, (uint32_t)address);
    mark(dma, (uint32_t)address + size - 1);
    for (uint32_t at = 1U << FILTER_LINE; at < size; at += 1U << FILTER_LINE)
        mark(dma, (uint32_t)address + at);
    return true;
}

static void dma_traffic(void *self, uint32_t node, uint64_t time, uint64_t address, uint32_t size,
                        bool write)
{
    const struct system *system = self;
    struct system_dma *dma = system->members[node].dma;
    (void)time;
    if (dma->traffic_count == dma->traffic_capacity)
        dma->traffic = base_grow(dma->traffic, &dma->traffic_capacity, dma->traffic_count + 1,
                                 sizeof *dma->traffic);
    dma->traffic[dma->traffic_count++] =
        (struct traffic){(uint32_t)address, size, (uint8_t)(address >> 32), write};
}

/* L3 and L1D see the accesses now, in their order; their times are past. */
static void apply_traffic(const struct system_member *member)
{
    struct system_dma *dma = member->dma;
    uint64_t now = os_now(member->node->os);
    for (size_t i = 0; i < dma->traffic_count; i++) {
        const struct traffic *t = &dma->traffic[i];
        const struct mem *mem = os_process_mem(member->node->os, t->process);
        if (mem && mem->frames && mem_granted(mem, t->address))
            cache_dma(member->node->cache, mem->space, t->address, t->size, t->write, now);
    }
    dma->traffic_count = 0;
}

void system_dma_apply(struct system_member *member)
{
    struct system_dma *dma = member->dma;
    if (!dma) return;
    apply_traffic(member);
    if (!dma->count) return;
    for (size_t i = 0; i < dma->count; i++) {
        const struct write *w = &dma->writes[i];
        struct mem *mem = os_process_mem(member->node->os, w->process);
        void *to = mem ? mem_writable(mem, w->address, w->size) : NULL;
        if (to) memcpy(to, dma->bytes + w->at, w->size);
    }
    dma->count = dma->size = 0;
    memset(dma->filter, 0, sizeof dma->filter);
}

/* ---- what else the engine does at a node ---- */

static void dma_changed(void *self, uint32_t node)
{
    struct system *system = self;
    system_net_changed(&system->members[node], SYSTEM_CHANGED_DMA);
}

static void dma_interrupt(void *self, uint32_t node, enum net_dma_interrupt number)
{
    struct system *system = self;
    system_interrupts_raise(&system->members[node], number);
}

static void dma_fault(void *self, uint32_t node, const struct chil_error *error)
{
    struct system *system = self;
    const struct node *of = system->members[node].node;
    if (of->report) of->report(of->report_context, error->text);
}

struct net_dma_owner system_dma_owner(struct system *system)
{
    return (struct net_dma_owner){.self = system,
                                  .read = dma_read,
                                  .write = dma_write,
                                  .traffic = dma_traffic,
                                  .changed = dma_changed,
                                  .interrupt = dma_interrupt,
                                  .fault = dma_fault};
}

/* ---- registers ---- */

static bool access_dma(void *context, unsigned core, struct node_access *access)
{
    struct system_member *member = context;
    struct net_dma_part *part = member->system->dma_part;
    uint32_t offset = access->address - member->dma_registers.page;
    (void)core;
    if (access->width != 4 || offset % 4) return false;
    if (system_idle_replay(member, access)) return true;
    system_net_look(member);
    if (access->load)
        access->value = net_dma_load(part, system_net_node(member), offset);
    else
        net_dma_store(part, system_net_node(member), offset, (uint32_t)access->value);
    if (!access->load) system_torus_forget(member);
    system_net_note(member, access, false);
    return true;
}

uint32_t system_dma_answer(const struct system_member *member, uint32_t address)
{
    return net_dma_load(member->system->dma_part, system_net_node(member),
                        address - member->dma_registers.page);
}

void system_dma_attach(struct system_member *member)
{
    member->dma = base_calloc(1, sizeof *member->dma);
    system_net_attach_device(member, &member->dma_registers, "dma",
                             system_net_number(member->system, "dma.base"), DMA_SIZE, access_dma);
}

void system_dma_detach(struct system_member *member)
{
    if (!member->dma) return;
    free(member->dma->traffic);
    free(member->dma->writes);
    free(member->dma->bytes);
    free(member->dma);
}
