/* Guest memory: 4 GiB of its own, page by page.
 *
 * A struct mem is one address space: host memory for every guest address and a byte of rights per 4
 * KiB page. Host memory is reserved whole, with a guard behind it, so that no guest address reaches
 * anything else of the host's; pages nobody touched cost nothing. Rights are checked in software,
 * byte by byte of the rights table, so a fault is exact and needs no host signal. Guest data is
 * big-endian; the helpers swap.
 *
 * MEM_CODE marks pages from which code was decoded: a store there must call mem_wrote_code first.
 * MEM_IO marks pages of devices: they have neither right and are handled by the slow path of the
 * core.
 *
 * Terms: docs/glossary.md
 */
#ifndef MEM_H
#define MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MEM_PAGE_BITS = 12, MEM_PAGE = 1 << MEM_PAGE_BITS, MEM_PAGES = 1 << (32 - MEM_PAGE_BITS) };

enum mem_right {
    MEM_READ = 1,
    MEM_WRITE = 2,
    MEM_EXEC = 4,
    MEM_MAPPED = 8,  /* exists, maybe without any right (PROT_NONE) */
    MEM_CODE = 16,   /* decoded code depends on it; MEM_WRITE is kept in MEM_SHADOW meanwhile */
    MEM_SHADOW = 32, /* would be MEM_WRITE but for MEM_CODE: stores take the slow path */
    MEM_IO = 64,
    MEM_SHARED = 128 /* host memory shared with other address spaces: see mem_map_shared */
};

struct mem {
    uint8_t *base;   /* host address of guest address 0 */
    uint8_t *rights; /* one byte per page */
    /* Called before a store to a MEM_CODE page goes through; drops what was decoded. */
    void (*code_changed)(void *context, uint32_t page);
    /* Called when rights of [address, address + length) may have shrunk: whoever remembers that an
     * access was allowed must ask again. `gone`: the pages are no longer what they were (unmapped,
     * or mapped anew). */
    void (*rights_changed)(void *context, uint32_t address, uint64_t length, bool gone);
    void *context; /* of both */
};

int mem_new(struct mem **mem);
void mem_free(struct mem *mem);
/* A copy with the same contents and rights (fork); without the code marks and the callback. Shared
 * pages are left to the caller, who maps them again: they are zero and private in the copy. */
int mem_clone(struct mem **copy, const struct mem *mem);

/* Pages [address, address + length) exist, zeroed, with these rights (MEM_READ | …). Page-aligned;
 * length may reach up to 2^32 - address. */
void mem_map(struct mem *mem, uint32_t address, uint64_t length, unsigned rights);
/* The same, but the bytes are those of host file `fd` from `offset` (page-aligned), and whoever
 * maps them too sees every change. `fd` must be one that nobody shortens (memfd_create): a page
 * that is gone would end the simulator. */
int mem_map_shared(struct mem *mem, uint32_t address, uint64_t length, unsigned rights, int fd,
                   uint64_t offset);
void mem_unmap(struct mem *mem, uint32_t address, uint64_t length);
void mem_protect(struct mem *mem, uint32_t address, uint64_t length, unsigned rights);
bool mem_is_mapped(const struct mem *mem, uint32_t address, uint64_t length); /* every page */
bool mem_is_free(const struct mem *mem, uint32_t address, uint64_t length);   /* no page */
/* The highest free range of `length` bytes in [low, high); 0 when there is none. */
uint32_t mem_find(const struct mem *mem, uint64_t length, uint32_t low, uint32_t high);

/* Marks a page as having decoded code: stores to it are caught from now on. */
void mem_mark_code(struct mem *mem, uint32_t address);
/* A store to [address, address + length) is about to happen: tells code_changed and takes the marks
 * off. */
void mem_wrote_code(struct mem *mem, uint32_t address, uint64_t length);

/* For system calls: the host address of guest bytes that are all readable (or writable, code marks
 * dealt with), or NULL: the caller returns EFAULT. The range never wraps. */
const void *mem_readable(const struct mem *mem, uint32_t address, uint64_t length);
void *mem_writable(struct mem *mem, uint32_t address, uint64_t length);
/* The length of a NUL-terminated string at `address`, at most `max`; negative when it leaves
 * readable memory. */
int64_t mem_strlen(const struct mem *mem, uint32_t address, uint32_t max);
bool mem_get32(const struct mem *mem, uint32_t address, uint32_t *value);
bool mem_put32(struct mem *mem, uint32_t address, uint32_t value);
bool mem_get64(const struct mem *mem, uint32_t address, uint64_t *value);
bool mem_put64(struct mem *mem, uint32_t address, uint64_t value);

static inline uint32_t mem_host_get32(const void *p)
{
    uint32_t value;
    memcpy(&value, p, sizeof value);
    return __builtin_bswap32(value);
}

static inline void mem_host_put32(void *p, uint32_t value)
{
    value = __builtin_bswap32(value);
    memcpy(p, &value, sizeof value);
}

#endif
