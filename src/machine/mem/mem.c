/* Guest memory: one host reservation per address space, and a byte of rights per page.
 *
 * The reservation is 4 GiB, readable and writable by the host from the start (the kernel gives
 * pages only when they are touched), between two guards without any right: a 32-bit guest address
 * plus a small displacement cannot leave it. Rights exist in software only, so changing them costs
 * no host call; mem_map and mem_unmap give pages back to the host, so that a guest which frees
 * memory makes the simulator smaller, and a page mapped anew is zero because the host says so.
 *
 * A page from which code was decoded has MEM_CODE and, when it is writable, MEM_SHADOW instead of
 * MEM_WRITE: fast stores miss the right and come here, once per page and decode.
 */
#include "machine/mem/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "chiliad/error.h"

#define SPACE (UINT64_C(1) << 32)

enum { GUARD = 1 << 20 };

/* ---- one address space ---- */

int mem_new(struct mem **result)
{
    uint8_t *whole = mmap(NULL, SPACE + 2 * GUARD, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    uint8_t *rights =
        mmap(NULL, MEM_PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (whole == MAP_FAILED || rights == MAP_FAILED ||
        mprotect(whole + GUARD, SPACE, PROT_READ | PROT_WRITE) != 0) {
        if (whole != MAP_FAILED) munmap(whole, SPACE + 2 * GUARD);
        if (rights != MAP_FAILED) munmap(rights, MEM_PAGES);
        return CHIL_ERANGE;
    }
    (void)madvise(whole, SPACE + 2 * GUARD,
                  MADV_DONTDUMP); /* a core file of the simulator is not one of the guest */
    struct mem *mem = base_calloc(1, sizeof *mem);
    mem->base = whole + GUARD;
    mem->rights = rights;
    *result = mem;
    return CHIL_OK;
}

void mem_free(struct mem *mem)
{
    if (!mem) return;
    munmap(mem->base - GUARD, SPACE + 2 * GUARD);
    munmap(mem->rights, MEM_PAGES);
    free(mem);
}

static bool page_is_zero(const uint8_t *page)
{
    uint64_t first;
    memcpy(&first, page, sizeof first);
    return first == 0 && memcmp(page, page + 8, MEM_PAGE - 8) == 0;
}

/* Rights as they would be without code marks. */
static uint8_t unmarked(uint8_t rights)
{
    if (rights & MEM_SHADOW) rights |= MEM_WRITE;
    return rights & (uint8_t) ~(MEM_CODE | MEM_SHADOW);
}

static bool is_writable(uint8_t rights)
{
    return rights & (MEM_WRITE | MEM_SHADOW);
}

/* The first page from `page` on that has rights, or MEM_PAGES. Most have none: they are passed over
 * many at a time. */
static size_t next_page(const struct mem *mem, size_t page)
{
    static const uint8_t none[64];
    while (page < MEM_PAGES && !mem->rights[page])
        page += page % sizeof none == 0 && memcmp(mem->rights + page, none, sizeof none) == 0
                    ? sizeof none
                    : 1;
    return page;
}

int mem_clone(struct mem **result, const struct mem *mem)
{
    struct mem *copy;
    int status = mem_new(&copy);
    if (status) return status;
    for (size_t page = 0; (page = next_page(mem, page)) < MEM_PAGES; page++) {
        uint8_t rights = mem->rights[page];
        copy->rights[page] = unmarked(rights) & (uint8_t)~MEM_SHARED;
        const uint8_t *from = mem->base + page * MEM_PAGE;
        if (!(rights & MEM_MAPPED) || (rights & MEM_SHARED) || page_is_zero(from)) continue;
        memcpy(copy->base + page * MEM_PAGE, from, MEM_PAGE);
    }
    copy->mapped_pages = mem->mapped_pages;
    copy->writable_pages = mem->writable_pages;
    *result = copy;
    return CHIL_OK;
}

/* ---- pages ---- */

struct range {
    size_t first, end; /* pages [first, end) */
};

static struct range pages_of(uint32_t address, uint64_t length)
{
    assert(address + length <= SPACE);
    if (!length) return (struct range){0, 0};
    return (struct range){address >> MEM_PAGE_BITS,
                          (size_t)((address + length + MEM_PAGE - 1) >> MEM_PAGE_BITS)};
}

static void forget_code(struct mem *mem, struct range range)
{
    for (size_t page = range.first; page < range.end; page++) {
        if (!(mem->rights[page] & MEM_CODE)) continue;
        if (mem->code_changed) mem->code_changed(mem->context, (uint32_t)(page << MEM_PAGE_BITS));
        mem->rights[page] = unmarked(mem->rights[page]);
    }
}

/* The pages of the range get these rights, all the same. */
static void set_rights(struct mem *mem, struct range range, uint8_t rights)
{
    uint32_t mapped = 0, writable = 0, count = (uint32_t)(range.end - range.first);
    for (size_t page = range.first; page < range.end; page++) {
        mapped += (mem->rights[page] & MEM_MAPPED) != 0;
        writable += is_writable(mem->rights[page]);
    }
    memset(mem->rights + range.first, rights, count);
    mem->mapped_pages += (rights & MEM_MAPPED ? count : 0) - mapped;
    mem->writable_pages += (is_writable(rights) ? count : 0) - writable;
}

static void notify_rights(struct mem *mem, struct range range, bool gone)
{
    if (mem->rights_changed && range.first != range.end)
        mem->rights_changed(mem->context, (uint32_t)(range.first << MEM_PAGE_BITS),
                            (uint64_t)(range.end - range.first) << MEM_PAGE_BITS, gone);
}

/* Gives the host its pages back; they read as zero afterwards. */
static void release_pages(struct mem *mem, struct range range)
{
    uint8_t *start = mem->base + range.first * MEM_PAGE;
    size_t bytes = (range.end - range.first) * MEM_PAGE;
    bool shared = false;
    for (size_t page = range.first; page < range.end && !shared; page++)
        shared = mem->rights[page] & MEM_SHARED;
    if (!shared && madvise(start, bytes, MADV_DONTNEED) == 0) return;
    void *fresh = mmap(start, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    /* Only a host out of mappings gets here, and then shared bytes must not be wiped for the
     * others. */
    if (fresh == MAP_FAILED && !shared) memset(start, 0, bytes);
}

void mem_map(struct mem *mem, uint32_t address, uint64_t length, unsigned rights)
{
    struct range range = pages_of(address, length);
    if (range.first == range.end) return;
    forget_code(mem, range);
    release_pages(mem, range);
    set_rights(mem, range, (uint8_t)(rights | MEM_MAPPED));
    notify_rights(mem, range, true);
}

int mem_map_shared(struct mem *mem, uint32_t address, uint64_t length, unsigned rights, int fd,
                   uint64_t offset)
{
    struct range range = pages_of(address, length);
    if (range.first == range.end) return CHIL_OK;
    forget_code(mem, range);
    size_t bytes = (range.end - range.first) * MEM_PAGE;
    void *at = mmap(mem->base + range.first * MEM_PAGE, bytes, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_FIXED, fd, (off_t)offset);
    if (at == MAP_FAILED) return CHIL_ERANGE;
    set_rights(mem, range, (uint8_t)(rights | MEM_MAPPED | MEM_SHARED));
    notify_rights(mem, range, true);
    return CHIL_OK;
}

void mem_unmap(struct mem *mem, uint32_t address, uint64_t length)
{
    struct range range = pages_of(address, length);
    if (range.first == range.end) return;
    forget_code(mem, range);
    release_pages(mem, range);
    set_rights(mem, range, 0);
    notify_rights(mem, range, true);
}

void mem_protect(struct mem *mem, uint32_t address, uint64_t length, unsigned rights)
{
    struct range range = pages_of(address, length);
    forget_code(mem, range);
    for (size_t page = range.first; page < range.end; page++) {
        uint8_t old = mem->rights[page];
        if (!(old & MEM_MAPPED)) continue;
        mem->rights[page] = (uint8_t)(rights | MEM_MAPPED | (old & MEM_SHARED));
        mem->writable_pages += (uint32_t)is_writable((uint8_t)rights) - is_writable(old);
    }
    notify_rights(mem, range, false);
}

bool mem_is_mapped(const struct mem *mem, uint32_t address, uint64_t length)
{
    if (address + length > SPACE) return false;
    struct range range = pages_of(address, length);
    for (size_t page = range.first; page < range.end; page++)
        if (!(mem->rights[page] & MEM_MAPPED)) return false;
    return true;
}

bool mem_is_free(const struct mem *mem, uint32_t address, uint64_t length)
{
    if (address + length > SPACE) return false;
    struct range range = pages_of(address, length);
    for (size_t page = range.first; page < range.end; page++)
        if (mem->rights[page]) return false;
    return true;
}

uint32_t mem_find(const struct mem *mem, uint64_t length, uint32_t low, uint32_t high)
{
    size_t wanted = (size_t)((length + MEM_PAGE - 1) >> MEM_PAGE_BITS);
    size_t bottom = ((uint64_t)low + MEM_PAGE - 1) >> MEM_PAGE_BITS;
    if (bottom == 0) bottom = 1; /* 0 means there is none */
    size_t free_pages = 0;
    for (size_t page = high >> MEM_PAGE_BITS; wanted && page-- > bottom;) {
        free_pages = mem->rights[page] ? 0 : free_pages + 1;
        if (free_pages == wanted) return (uint32_t)(page << MEM_PAGE_BITS);
    }
    return 0;
}

/* ---- code ---- */

void mem_mark_code(struct mem *mem, uint32_t address)
{
    uint8_t *rights = &mem->rights[address >> MEM_PAGE_BITS];
    if (*rights & MEM_CODE) return;
    if (*rights & MEM_WRITE) *rights = (uint8_t)((*rights & ~MEM_WRITE) | MEM_SHADOW);
    *rights |= MEM_CODE;
    notify_rights(mem, pages_of(address & ~(uint32_t)(MEM_PAGE - 1), MEM_PAGE), false);
}

void mem_wrote_code(struct mem *mem, uint32_t address, uint64_t length)
{
    if (address + length > SPACE) length = SPACE - address;
    forget_code(mem, pages_of(address, length));
}

/* ---- for system calls ---- */

static bool all_have(const struct mem *mem, uint32_t address, uint64_t length, unsigned some)
{
    if (address + length > SPACE) return false;
    struct range range = pages_of(address, length);
    for (size_t page = range.first; page < range.end; page++)
        if (!(mem->rights[page] & some)) return false;
    return true;
}

const void *mem_readable(const struct mem *mem, uint32_t address, uint64_t length)
{
    return all_have(mem, address, length, MEM_READ) ? mem->base + address : NULL;
}

void *mem_writable(struct mem *mem, uint32_t address, uint64_t length)
{
    if (!all_have(mem, address, length, MEM_WRITE | MEM_SHADOW)) return NULL;
    forget_code(mem, pages_of(address, length));
    return mem->base + address;
}

int64_t mem_strlen(const struct mem *mem, uint32_t address, uint32_t max)
{
    uint32_t done = 0;
    while (done < max) {
        if ((uint64_t)address + done >= SPACE) return -1;
        uint32_t at = address + done;
        uint32_t step = MEM_PAGE - (at & (MEM_PAGE - 1));
        if (step > max - done) step = max - done;
        if (!(mem->rights[at >> MEM_PAGE_BITS] & MEM_READ)) return -1;
        const uint8_t *end = memchr(mem->base + at, 0, step);
        if (end) return done + (end - (mem->base + at));
        done += step;
    }
    return max;
}

bool mem_get32(const struct mem *mem, uint32_t address, uint32_t *value)
{
    const void *p = mem_readable(mem, address, 4);
    if (p) *value = mem_host_get32(p);
    return p != NULL;
}

bool mem_put32(struct mem *mem, uint32_t address, uint32_t value)
{
    void *p = mem_writable(mem, address, 4);
    if (p) mem_host_put32(p, value);
    return p != NULL;
}

bool mem_get64(const struct mem *mem, uint32_t address, uint64_t *value)
{
    const uint8_t *p = mem_readable(mem, address, 8);
    if (p) *value = (uint64_t)mem_host_get32(p) << 32 | mem_host_get32(p + 4);
    return p != NULL;
}

bool mem_put64(struct mem *mem, uint32_t address, uint64_t value)
{
    uint8_t *p = mem_writable(mem, address, 8);
    if (!p) return false;
    mem_host_put32(p, (uint32_t)(value >> 32));
    mem_host_put32(p + 4, (uint32_t)value);
    return true;
}
