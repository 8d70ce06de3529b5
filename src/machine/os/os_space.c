/* Address spaces as processes have them: shared by threads and vfork, copied by fork; and memory
 * that stays shared.
 *
 * MAP_SHARED memory is a host memory file, mapped into the address space of every process that was
 * forked with it, so guests see each other's stores at once. When it stands for a file that may be
 * written, the file's bytes are copied in when it is mapped, and what differs from that copy is
 * written back at msync, munmap, exec and exit, page by page and never beyond the file's end. So,
 * unlike on Linux: two mappings of a file made by two calls of mmap, and read and write beside a
 * mapping, see its changes only after that. A host file is never mapped itself: were it truncated
 * meanwhile, the simulator would get SIGBUS.
 *
 * What processes of a node share without a fork is /dev/node: one memory, of which all mappings are
 * the same bytes. It is for libraries that pass messages between them.
 */
#include "machine/os/os_space_impl.h"
#include "machine/os/os_task.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"

/* ---- shared memory ---- */

enum { NODE_MEMORY = 16 << 20 }; /* bytes of /dev/node */

/* A host memory file, of one call of mmap; or that of /dev/node. */
struct memory {
    unsigned users;
    int fd;
};

/* One piece of it in an address space. */
struct os_mapping {
    struct os_mapping *next;
    uint32_t address;
    uint64_t length;
    struct memory *memory;
    uint64_t at;       /* where in it */
    struct file *file; /* NULL for MAP_ANONYMOUS */
    int64_t offset;    /* in the file */
    uint8_t *original; /* the file's bytes when they were last the same */
};

static struct memory *memory_new(uint64_t length)
{
    int fd = memfd_create("chiliad", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)length) != 0) {
        if (fd >= 0) close(fd);
        return NULL;
    }
    struct memory *memory = base_calloc(1, sizeof *memory);
    *memory = (struct memory){1, fd};
    return memory;
}

static void memory_release(struct memory *memory)
{
    if (!memory || --memory->users) return;
    (void)close(memory->fd);
    free(memory);
}

static void mapping_free(struct os_mapping *mapping)
{
    memory_release(mapping->memory);
    file_release(mapping->file);
    free(mapping->original);
    free(mapping);
}

/* A copy of the part [from, from + length) of it. */
static struct os_mapping *mapping_part(const struct os_mapping *whole, uint64_t from,
                                       uint64_t length)
{
    struct os_mapping *part = base_calloc(1, sizeof *part);
    *part = *whole;
    part->next = NULL;
    part->memory->users++;
    part->address += (uint32_t)from;
    part->length = length;
    part->at += from;
    part->offset += (int64_t)from;
    if (whole->file) {
        part->file = file_share(whole->file);
        part->original = base_calloc(length, 1);
        memcpy(part->original, whole->original + from, length);
    }
    return part;
}

static bool overlaps(const struct os_mapping *mapping, uint32_t address, uint64_t length)
{
    return mapping->address < address + length && address < mapping->address + mapping->length;
}

static int fill(struct file *file, int64_t offset, uint8_t *bytes, uint64_t length)
{
    for (uint64_t done = 0; done < length;) {
        int64_t got =
            file->ops->read(NULL, file, bytes + done, length - done, offset + (int64_t)done);
        if (got < 0) return (int)got;
        if (!got) break;
        done += (uint64_t)got;
    }
    return 0;
}

/* Maps the memory from its byte 0 on; one user of it more. */
static struct os_mapping *add_mapping(struct os_space *space, uint32_t address, uint64_t length,
                                      unsigned rights, struct memory *memory)
{
    if (!memory || mem_map_shared(space->mem, address, length, rights, memory->fd, 0)) return NULL;
    struct os_mapping *mapping = base_calloc(1, sizeof *mapping);
    *mapping = (struct os_mapping){
        .next = space->mappings, .address = address, .length = length, .memory = memory};
    memory->users++;
    space->mappings = mapping;
    return mapping;
}

int space_share(struct os_space *space, uint32_t address, uint64_t length, unsigned rights,
                struct file *file, int64_t offset)
{
    struct memory *memory = memory_new(length);
    struct os_mapping *mapping = add_mapping(space, address, length, rights, memory);
    memory_release(memory);
    if (!mapping) return -ENOMEM;
    mapping->offset = offset;
    if (file && fill(file, offset, mem_host(space->mem, address), length)) {
        mem_unmap(space->mem, address, length);
        space->mappings = mapping->next;
        mapping_free(mapping);
        return -EIO;
    }
    if (file) {
        mapping->file = file_share(file);
        mapping->original = base_calloc(length, 1);
        memcpy(mapping->original, mem_host(space->mem, address), length);
    }
    return 0;
}

int space_share_node(struct os *os, struct os_space *space, uint32_t address, uint64_t length,
                     unsigned rights)
{
    if (length > NODE_MEMORY) return -ENOMEM;
    if (!os->node_memory) os->node_memory = memory_new(NODE_MEMORY);
    return add_mapping(space, address, length, rights, os->node_memory) ? 0 : -ENOMEM;
}

void os_node_memory_free(struct os *os)
{
    memory_release(os->node_memory);
}

const void *os_space_memory(const struct os_space *space, uint32_t address, uint32_t *at)
{
    for (const struct os_mapping *mapping = space->mappings; mapping; mapping = mapping->next)
        if (overlaps(mapping, address, 1)) {
            *at = (uint32_t)(mapping->at + (address - mapping->address));
            return mapping->memory;
        }
    return NULL;
}

/* Not all that is lost in Linux is reported by it, either: munmap and exit have no error for it. */
static int write_back(const struct os_call *call, const struct os_space *space,
                      struct os_mapping *mapping, uint64_t from, uint64_t end)
{
    struct stat status;
    int result = 0;
    if (!mapping->file) return 0;
    if (fstat(mapping->file->host, &status) != 0) return -EIO;
    for (uint64_t page = from; page < end; page += MEM_PAGE) {
        uint8_t *now = mem_host(space->mem, mapping->address) + page,
                *before = mapping->original + page;
        int64_t at = mapping->offset + (int64_t)page, left = status.st_size - at;
        if (left <= 0 || memcmp(now, before, MEM_PAGE) == 0) continue;
        size_t count = left < MEM_PAGE ? (size_t)left : MEM_PAGE;
        ssize_t done = pwrite(mapping->file->host, now, count, at);
        if (done > 0) fs_touch(call, mapping->file->inode);
        if (done == (ssize_t)count)
            memcpy(before, now, MEM_PAGE);
        else
            result = done < 0 && errno == ENOSPC ? -ENOSPC : -EIO;
    }
    if (result && call)
        os_warn_once(call->os, "write back", "what was written to the mapping of '%s' is lost: %s",
                     mapping->file->path ? mapping->file->path : "a file", strerror(-result));
    return result;
}

int space_write_back(const struct os_call *call, const struct os_space *space, uint32_t address,
                     uint64_t length)
{
    int result = 0;
    for (struct os_mapping *mapping = space->mappings; mapping; mapping = mapping->next) {
        if (!overlaps(mapping, address, length)) continue;
        uint64_t from = address > mapping->address ? address - mapping->address : 0;
        uint64_t end = address + length - mapping->address;
        int error =
            write_back(call, space, mapping, from, end < mapping->length ? end : mapping->length);
        if (error) result = error;
    }
    return result;
}

/* How many pieces more there are when the range goes. */
static unsigned more_parts(const struct os_space *space, uint32_t address, uint64_t length)
{
    unsigned more = 0;
    for (const struct os_mapping *mapping = space->mappings; mapping; mapping = mapping->next)
        more += address > mapping->address && address + length < mapping->address + mapping->length;
    return more;
}

int space_unshare(const struct os_call *call, struct os_space *space, uint32_t address,
                  uint64_t length)
{
    unsigned more = more_parts(space, address, length);
    if (more && !os_may_share(call->os, more)) return -ENOMEM;
    (void)space_write_back(call, space, address, length);
    for (struct os_mapping **at = &space->mappings; *at;) {
        struct os_mapping *mapping = *at;
        if (!overlaps(mapping, address, length)) {
            at = &mapping->next;
            continue;
        }
        *at = mapping->next;
        uint64_t end = mapping->address + mapping->length;
        struct os_mapping *rest[2] = {NULL, NULL};
        if (address > mapping->address)
            rest[0] = mapping_part(mapping, 0, address - mapping->address);
        if (address + length < end)
            rest[1] = mapping_part(mapping, address + length - mapping->address,
                                   end - (address + length));
        for (unsigned i = 0; i < 2; i++) {
            if (!rest[i]) continue;
            rest[i]->next = *at;
            *at = rest[i];
            at = &rest[i]->next;
        }
        mapping_free(mapping);
    }
    return 0;
}

unsigned space_parts(const struct os_space *space)
{
    unsigned count = 0;
    for (const struct os_mapping *mapping = space->mappings; mapping; mapping = mapping->next)
        count++;
    return count;
}

bool space_is_shared(const struct os_space *space, uint32_t address, uint64_t length)
{
    for (const struct os_mapping *mapping = space->mappings; mapping; mapping = mapping->next)
        if (overlaps(mapping, address, length)) return true;
    return false;
}

/* ---- code ---- */

struct os_code {
    struct os_code *next;
    struct os_object object;
};

static void code_add(struct os_space *space, const struct os_object *object)
{
    struct os_code *code = base_calloc(1, sizeof *code);
    code->object = *object;
    code->object.path = file_text(object->path);
    code->object.host = file_text(object->host);
    code->object.image = os_image_share(object->image);
    code->next = space->code;
    space->code = code;
}

void space_note_code(struct os_space *space, uint32_t address, uint64_t length, uint64_t offset,
                     const char *path, int host, struct os_image *image)
{
    char link[40], name[PATH_MAX];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", host);
    ssize_t used = readlink(link, name, sizeof name - 1);
    name[used < 0 ? 0 : used] = 0;
    code_add(space, &(struct os_object){path, name, image, address, length, offset});
}

static void code_copy(struct os_space *to, const struct os_code *code)
{
    if (!code) return;
    code_copy(to, code->next); /* in the same order */
    code_add(to, &code->object);
}

static void code_free(struct os_code *code)
{
    while (code) {
        struct os_code *next = code->next;
        free((char *)code->object.path);
        free((char *)code->object.host);
        os_image_release(code->object.image);
        free(code);
        code = next;
    }
}

bool os_space_find_code(const struct os_space *space, uint32_t address, struct os_object *object)
{
    for (const struct os_code *code = space->code; code; code = code->next)
        if (address >= code->object.address &&
            address - code->object.address < code->object.length) {
            *object = code->object;
            return true;
        }
    return false;
}

bool os_space_get_code(const struct os_space *space, size_t index, struct os_object *object)
{
    const struct os_code *code = space->code;
    for (; code && index; index--)
        code = code->next;
    if (code) *object = code->object;
    return code;
}

/* ---- whole spaces ---- */

void os_space_release(struct os_space *space)
{
    if (!space || --space->users) return;
    while (space->mappings) {
        struct os_mapping *next = space->mappings->next;
        (void)write_back(NULL, space, space->mappings, 0, space->mappings->length);
        mapping_free(space->mappings);
        space->mappings = next;
    }
    mem_free(space->mem);
    code_free(space->code);
    os_image_release(space->image);
    free(space->program);
    free(space);
}

static uint32_t page_of(const struct os_mapping *mapping, size_t index)
{
    return mapping->address + (uint32_t)(index << MEM_PAGE_BITS);
}

/* Maps what `mapping` says into the copy, with the rights the pages have. */
static bool share_again(struct os_space *copy, struct os_mapping *mapping)
{
    size_t count = (size_t)(mapping->length >> MEM_PAGE_BITS);
    uint8_t *rights = base_calloc(count, 1);
    for (size_t i = 0; i < count; i++)
        rights[i] = (uint8_t)mem_granted(copy->mem, page_of(mapping, i));
    bool done = mem_map_shared(copy->mem, mapping->address, mapping->length, 0, mapping->memory->fd,
                               mapping->at) == 0;
    for (size_t i = 0; i < count; i++)
        mem_protect(copy->mem, page_of(mapping, i), MEM_PAGE, rights[i]);
    free(rights);
    return done;
}

struct os_space *os_space_fork(const struct os_space *space)
{
    struct os_space *copy = base_calloc(1, sizeof *copy);
    *copy = *space;
    copy->users = 1;
    copy->mappings = NULL;
    copy->code = NULL;
    code_copy(copy, space->code);
    copy->program = space->program ? file_text(space->program) : NULL;
    copy->image = space->image ? os_image_share(space->image) : NULL;
    if (mem_clone(&copy->mem, space->mem)) {
        code_free(copy->code);
        os_image_release(copy->image);
        free(copy->program);
        free(copy);
        return NULL;
    }
    for (const struct os_mapping *mapping = space->mappings; mapping; mapping = mapping->next) {
        struct os_mapping *same = mapping_part(mapping, 0, mapping->length);
        same->next = copy->mappings;
        copy->mappings = same;
        if (!share_again(copy, same)) {
            os_space_release(copy);
            return NULL;
        }
    }
    return copy;
}
