/* Addresses and guest memory. The one interface between the three forms of an address:
 *
 *   form       what it is                                       used by
 *   effective  32 bits, computed by an instruction, within an   core, jit, os
 *              address space
 *   physical   frame << 12 | offset in the page                 cache (mem_frames.h)
 *   host       where the simulator keeps the byte               core, jit, os
 *
 *   from       to         by
 *   effective  host       mem_host: the base of the space's window + address, for every address
 *   effective  rights     mem_allows on the fast path, mem_readable and mem_writable otherwise
 *   effective  physical   mem_translate (mem_frames.h); the first touch of a page gives it a frame
 *   physical   effective  mem_frames_first, mem_frames_after
 *
 * A struct mem is one address space: a window of 4 GiB of host memory and a byte of rights per 4
 * KiB page. The window is reserved whole, with a guard behind it, so that no guest address reaches
 * anything else of the host's; pages that were never touched cost nothing. Rights are checked in
 * software, so a fault is exact and needs no host signal. Guest data is big-endian; the helpers
 * swap.
 *
 * MEM_CODE marks pages from which code was decoded: a store there must call mem_wrote_code first.
 * MEM_IO marks pages of devices: they have neither right and are handled by the slow path of the
 * core.
 *
 * User mode is the simplest case: a page belongs to one window, and its host memory is private to
 * it. A booted kernel uses the same interface so:
 *
 *   physical memory  one memfd for the node; frame n is at offset n << 12
 *   address space    one struct mem for each value of process id, address space bit and privilege
 *                    that has been used. Supervisor and problem state have different rights, so
 *                    they are different windows on the same frames.
 *   a TLB entry      is first used by an access: mem_map_shared aliases its frame into the window,
 *                    with the entry's rights, and mem_frames_map records the mapping
 *   a TLB entry      is replaced or invalidated: mem_unmap and mem_frames_unmap; `rights_changed`
 *                    clears the line bytes of the page, so that the next access leaves the
 *                    translated code and raises the TLB miss
 *   TLB presence     is a bit of the line bytes (CACHE_PAGE, src/machine/cache/cache.h), as in user
 *                    mode, so translated code stays `base + address` with one test
 *   rfi, mtmsr, PID  core_switch to another window
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

struct mem_frames;

struct mem {
    uint8_t *base;   /* host address of effective address 0 */
    uint8_t *rights; /* one byte per page */
    /* The frames of the node and the number of this space there; NULL without a memory hierarchy.
     * Set by mem_attach (mem_frames.h). */
    struct mem_frames *frames;
    unsigned space;
    /* Called before a store to a MEM_CODE page goes through; drops what was decoded. */
    void (*code_changed)(void *context, uint32_t page);
    /* Called when rights of [address, address + length) may have shrunk: a listener that remembers
     * an allowed access must check again. `gone`: the pages are no longer what they were (unmapped,
     * or mapped anew). */
    void (*rights_changed)(void *context, uint32_t address, uint64_t length, bool gone);
    void *context; /* of both */
    uint32_t mapped_pages,
        writable_pages; /* how many have MEM_MAPPED, and may be written as well */
};

/* Effective -> host, for every address. The caller has checked the rights. */
static inline uint8_t *mem_host(const struct mem *mem, uint32_t address)
{
    return mem->base + address;
}

/* Bits of enum mem_right of the page. */
static inline unsigned mem_rights(const struct mem *mem, uint32_t address)
{
    return mem->rights[address >> MEM_PAGE_BITS];
}

/* What of MEM_READ, MEM_WRITE and MEM_EXEC mem_map or mem_protect gave to the page. */
static inline unsigned mem_granted(const struct mem *mem, uint32_t address)
{
    unsigned rights = mem_rights(mem, address);
    return (rights & (MEM_READ | MEM_WRITE | MEM_EXEC)) | (rights & MEM_SHADOW ? MEM_WRITE : 0U);
}

/* Base and rights by value: they never change, and a copy stays in registers while memory is
 * written. */
struct mem_window {
    uint8_t *base;
    const uint8_t *rights;
};

static inline struct mem_window mem_window(const struct mem *mem)
{
    return (struct mem_window){mem->base, mem->rights};
}

static inline uint8_t *mem_window_host(struct mem_window window, uint32_t address)
{
    return window.base + address;
}

/* The fast path of an access: it lies in one page, which has the right. If not, mem_readable or
 * mem_writable decide. */
static inline bool mem_window_allows(struct mem_window window, uint32_t address, unsigned size,
                                     unsigned right)
{
    return window.rights[address >> MEM_PAGE_BITS] & right &&
           (address & (MEM_PAGE - 1)) <= MEM_PAGE - size;
}

static inline bool mem_allows(const struct mem *mem, uint32_t address, unsigned size,
                              unsigned right)
{
    return mem_window_allows(mem_window(mem), address, size, right);
}

int mem_new(struct mem **mem);
void mem_free(struct mem *mem);
/* A copy with the same contents and rights (fork); without the code marks and the callback. Shared
 * pages are left to the caller, who maps them again: they are zero and private in the copy. */
int mem_clone(struct mem **copy, const struct mem *mem);

/* Pages [address, address + length) exist, zeroed, with these rights (MEM_READ | …). Page-aligned;
 * length may reach up to 2^32 - address. */
void mem_map(struct mem *mem, uint32_t address, uint64_t length, unsigned rights);
/* The same, but the bytes are those of host file `fd` from `offset` (page-aligned), and all that
 * map them too see every change. `fd` must never be truncated (memfd_create): a page
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
/* A store to [address, address + length) is about to happen: calls code_changed and clears the
 * marks off. */
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
