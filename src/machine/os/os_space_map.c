/* The system calls of memory: brk, mmap, mprotect and their relatives.
 *
 * A private mapping of a file is a copy of its bytes, made by mmap; what is mapped beyond the
 * file's end reads as zero where Linux would send SIGBUS. MAP_SHARED is in os_space.c. PROT_WRITE
 * and PROT_EXEC imply reading, as the 440's Linux has it. madvise(MADV_DONTNEED) makes private
 * memory zero, also where it was a file's copy. Locking memory is always granted, as everything
 * stays where it is.
 */
#include "machine/os/os_space_impl.h"
#include "machine/os/os_task.h"

#include <errno.h>
#include <string.h>

#include "machine/os/os_file.h"

enum { G_PROT_READ = 1, G_PROT_WRITE = 2, G_PROT_EXEC = 4, G_PROT_GROWSDOWN = 0x01000000 };
enum {
    G_MAP_SHARED = 1,
    G_MAP_PRIVATE = 2,
    G_MAP_SHARED_VALIDATE = 3,
    G_MAP_TYPE = 0xf,
    G_MAP_FIXED = 0x10,
    G_MAP_ANONYMOUS = 0x20,
    G_MAP_HUGETLB = 0x40000,
    G_MAP_FIXED_NOREPLACE = 0x100000
};

static unsigned rights_of(uint32_t prot)
{
    unsigned rights = 0;
    if (prot & (G_PROT_READ | G_PROT_WRITE | G_PROT_EXEC)) rights |= MEM_READ;
    if (prot & G_PROT_WRITE)
        rights |=
            MEM_READ | MEM_WRITE; /* as on every PowerPC Linux: what can be written can be read */
    if (prot & G_PROT_EXEC) rights |= MEM_EXEC;
    return rights;
}

static bool is_aligned(uint32_t address)
{
    return (address & (MEM_PAGE - 1)) == 0;
}

static bool is_user_range(uint32_t address, uint64_t length)
{
    return length <= SPACE_TOP && address + length <= SPACE_TOP;
}

/* ---- brk ---- */

int64_t sys_brk(struct os_call *call)
{
    struct os_space *space = call->process->space;
    uint32_t wanted = call->arg[0];
    if (wanted < space->brk_start || wanted > SPACE_TOP) return space->brk;
    uint32_t old = (uint32_t)space_round_up(space->brk), new = (uint32_t)space_round_up(wanted);
    if (new > old) {
        if (!mem_is_free(call->mem, old, new - old) || !os_may_map(call, new - old, new - old))
            return space->brk;
        mem_map(call->mem, old, new - old, MEM_READ | MEM_WRITE);
    } else if (new < old) {
        if (space_unshare(call, space, new, old - new)) return space->brk;
        mem_unmap(call->mem, new, old - new);
    }
    space->brk = wanted;
    return wanted;
}

/* ---- mmap ---- */

/* Room for a mapping: where the caller would like it, if that is free, or from the top down. 0 when
 * there is none. */
static uint32_t find_room(const struct os_space *space, uint32_t hint, uint64_t length)
{
    hint &= ~(uint32_t)(MEM_PAGE - 1);
    if (hint >= SPACE_LOW && is_user_range(hint, length) && mem_is_free(space->mem, hint, length))
        return hint;
    uint32_t at = mem_find(space->mem, length, SPACE_LOW, space->mmap_top);
    if (!at && space->stack_low > SPACE_GUARD)
        at = mem_find(space->mem, length, SPACE_LOW, space->stack_low - SPACE_GUARD);
    return at;
}

struct wish {
    uint32_t address, prot, flags;
    uint64_t length;
    struct file *file; /* NULL: anonymous */
    uint64_t offset;
};

static int check_wish(const struct wish *wish)
{
    uint32_t type = wish->flags & G_MAP_TYPE;
    if (type != G_MAP_SHARED && type != G_MAP_PRIVATE && type != G_MAP_SHARED_VALIDATE)
        return -EINVAL;
    if (!wish->length || wish->offset & (MEM_PAGE - 1)) return -EINVAL;
    if (wish->length > SPACE_TOP || wish->flags & G_MAP_HUGETLB) return -ENOMEM;
    if (wish->flags & (G_MAP_FIXED | G_MAP_FIXED_NOREPLACE)) {
        if (!is_aligned(wish->address)) return -EINVAL;
        if (!is_user_range(wish->address, wish->length)) return -ENOMEM;
        if (wish->address < SPACE_LOW) return -EPERM;
    }
    if (!wish->file) return 0;
    if (wish->file->folder || !wish->file->ops->seek || wish->file->borrowed) return -ENODEV;
    if (!file_readable(wish->file)) return -EACCES;
    if (type != G_MAP_PRIVATE && wish->prot & G_PROT_WRITE && !file_writable(wish->file))
        return -EACCES;
    return 0;
}

static int copy_in(struct mem *mem, const struct wish *wish, uint32_t address)
{
    for (uint64_t done = 0; done < wish->length;) {
        int64_t got = wish->file->ops->read(NULL, wish->file, mem_host(mem, address) + done,
                                            wish->length - done, (int64_t)(wish->offset + done));
        if (got < 0) return -EIO;
        if (!got) break;
        done += (uint64_t)got;
    }
    return 0;
}

/* Code of a file that cannot be copied runs without names. */
static void note_code(struct os_call *call, const struct wish *wish, uint32_t address)
{
    const struct os_options *o = &call->os->options;
    struct os_space *space = call->process->space;
    struct os_image *image;
    if (os_image_of(&image, fs_images(wish->file->fs), wish->file->host)) return;
    space_note_code(space, address, wish->length, wish->offset, wish->file->path, wish->file->host,
                    image);
    os_image_release(image);
    if (o->memory) o->memory(o->context, OS_MEMORY_MAPPED, space->mem, NULL);
}

static int64_t do_map(struct os_call *call, const struct wish *wish)
{
    struct os_space *space = call->process->space;
    int error = check_wish(wish);
    if (error) return error;
    bool fixed = wish->flags & (G_MAP_FIXED | G_MAP_FIXED_NOREPLACE);
    uint32_t address = fixed ? wish->address : find_room(space, wish->address, wish->length);
    if (!address) return -ENOMEM;
    if (wish->flags & G_MAP_FIXED_NOREPLACE && !mem_is_free(call->mem, address, wish->length))
        return -EEXIST;
    uint64_t writable = wish->prot & G_PROT_WRITE ? wish->length : 0;
    if (!os_may_map(call, wish->length, writable)) return -ENOMEM;
    error = space_unshare(call, space, address, wish->length);
    if (error) return error;
    bool shared = (wish->flags & G_MAP_TYPE) != G_MAP_PRIVATE;
    if (shared && wish->file && wish->file->pseudo.kind == PSEUDO_NODE) {
        if (wish->offset || !os_may_share(call->os, 1)) return wish->offset ? -EINVAL : -ENOMEM;
        error = space_share_node(call->os, space, address, wish->length, rights_of(wish->prot));
        return error ? error : (int64_t)address;
    }
    bool device = wish->file && wish->file->ops != &file_host_ops; /* /dev/zero, /proc/… */
    if (shared && !device && (!wish->file || file_writable(wish->file))) {
        if (!os_may_share(call->os, 1)) return -ENOMEM;
        error = space_share(space, address, wish->length, rights_of(wish->prot), wish->file,
                            (int64_t)wish->offset);
        return error ? error : (int64_t)address;
    }
    mem_map(call->mem, address, wish->length, rights_of(wish->prot));
    if (wish->file && wish->file->pseudo.kind != PSEUDO_ZERO && copy_in(call->mem, wish, address)) {
        mem_unmap(call->mem, address, wish->length);
        return -EIO;
    }
    if (wish->file && wish->prot & G_PROT_EXEC && wish->file->path && wish->file->host >= 0)
        note_code(call, wish, address);
    return address;
}

static int64_t map_call(struct os_call *call, uint64_t offset)
{
    struct wish wish = {.address = call->arg[0],
                        .length = space_round_up(call->arg[1]),
                        .prot = call->arg[2],
                        .flags = call->arg[3],
                        .offset = offset};
    if (!(wish.flags & G_MAP_ANONYMOUS)) {
        wish.file = files_get(call->process->files, call->arg[4]);
        if (!wish.file) return -EBADF;
    } else {
        wish.offset = 0;
    }
    return do_map(call, &wish);
}

int64_t sys_mmap(struct os_call *call)
{
    return map_call(call, call->arg[5]);
}

int64_t sys_mmap2(struct os_call *call)
{
    return map_call(call, (uint64_t)call->arg[5] * MEM_PAGE);
}

int64_t sys_munmap(struct os_call *call)
{
    uint64_t length = space_round_up(call->arg[1]);
    if (!is_aligned(call->arg[0]) || !length || !is_user_range(call->arg[0], length))
        return -EINVAL;
    int error = space_unshare(call, call->process->space, call->arg[0], length);
    if (error) return error;
    mem_unmap(call->mem, call->arg[0], length);
    return 0;
}

/* Bytes of the range that may not be written yet. */
static uint64_t unwritable(const struct mem *mem, uint32_t address, uint64_t length)
{
    uint64_t bytes = 0;
    for (uint64_t done = 0; done < length; done += MEM_PAGE)
        bytes += mem_granted(mem, address + (uint32_t)done) & MEM_WRITE ? 0 : MEM_PAGE;
    return bytes;
}

int64_t sys_mprotect(struct os_call *call)
{
    const struct os_space *space = call->process->space;
    uint32_t address = call->arg[0];
    uint64_t length = space_round_up(call->arg[1]);
    if (!is_aligned(address)) return -EINVAL;
    if (!length) return 0;
    if (!is_user_range(address, length) || !mem_is_mapped(call->mem, address, length))
        return -ENOMEM;
    if (call->arg[2] & G_PROT_GROWSDOWN && address >= space->stack_low &&
        address < space->stack_high) {
        length += address - space->stack_low;
        address = space->stack_low;
    }
    uint64_t more = call->arg[2] & G_PROT_WRITE ? unwritable(call->mem, address, length) : 0;
    if (more && !os_may_map(call, 0, more)) return -ENOMEM;
    mem_protect(call->mem, address, length, rights_of(call->arg[2]));
    return 0;
}

/* ---- mremap ---- */

/* How far from `address` on pages have the same rights, up to `length`. */
static uint64_t same_rights(const struct mem *mem, uint32_t address, uint64_t length)
{
    uint64_t run = MEM_PAGE;
    while (run < length && mem_granted(mem, address + (uint32_t)run) == mem_granted(mem, address))
        run += MEM_PAGE;
    return run < length ? run : length;
}

static void move_pages(struct mem *mem, uint32_t from, uint32_t to, uint64_t length)
{
    for (uint64_t done = 0, run; done < length; done += run) {
        uint32_t at = from + (uint32_t)done;
        run = same_rights(mem, at, length - done);
        mem_map(mem, to + (uint32_t)done, run, mem_granted(mem, at));
        memcpy(mem_host(mem, to) + done, mem_host(mem, at), run);
    }
    mem_unmap(mem, from, length);
}

int64_t sys_mremap(struct os_call *call)
{
    enum { MAYMOVE = 1, FIXED = 2 };
    struct os_space *space = call->process->space;
    struct mem *mem = call->mem;
    uint32_t from = call->arg[0], flags = call->arg[3], to = call->arg[4];
    uint64_t old = space_round_up(call->arg[1]), new = space_round_up(call->arg[2]);
    if (!is_aligned(from) || !new || flags & ~(uint32_t)(MAYMOVE | FIXED)) return -EINVAL;
    if (!old) return -EINVAL; /* duplicating shared memory this way is not offered */
    if (!is_user_range(from, old) || !mem_is_mapped(mem, from, old)) return -EFAULT;
    if (flags & FIXED) {
        if (!(flags & MAYMOVE) || !is_aligned(to) || !is_user_range(to, new) || to < SPACE_LOW)
            return -EINVAL;
        if (to < from + old && from < to + new) return -EINVAL;
    }
    if (new < old) {
        int error = space_unshare(call, space, from + (uint32_t) new, old - new);
        if (error) return error;
        mem_unmap(mem, from + (uint32_t) new, old - new);
        old = new;
    }
    unsigned rights = mem_granted(mem, from + (uint32_t)old - MEM_PAGE);
    if (new > old && !os_may_map(call, new - old, rights & MEM_WRITE ? new - old : 0))
        return -ENOMEM;
    if (!(flags & FIXED)) {
        if (new == old) return from;
        if (space_is_shared(space, from, old)) return -ENOMEM;
        uint32_t end = from + (uint32_t)old;
        if (is_user_range(from, new) && mem_is_free(mem, end, new - old)) {
            mem_map(mem, end, new - old, rights);
            return from;
        }
        to = flags & MAYMOVE ? find_room(space, 0, new) : 0;
        if (!to) return -ENOMEM;
    }
    if (space_is_shared(space, from, old)) return -ENOMEM;
    int error = space_unshare(call, space, to, new);
    if (error) return error;
    move_pages(mem, from, to, old);
    if (new > old) mem_map(mem, to + (uint32_t)old, new - old, rights);
    return to;
}

/* ---- advice ---- */

/* What changes nothing that a program can see. What does and is not done (MADV_DONTFORK and others)
 * is EINVAL, as on a kernel that does not know it. */
static bool is_hint(uint32_t advice)
{
    enum { NORMAL = 0, WILLNEED = 3, DONTDUMP = 16, DODUMP = 17, COLD = 20, PAGEOUT = 21 };
    return advice <= WILLNEED || advice == DONTDUMP || advice == DODUMP || advice == COLD ||
           advice == PAGEOUT;
}

int64_t sys_madvise(struct os_call *call)
{
    enum { DONTNEED = 4, FREE = 8 };
    uint32_t address = call->arg[0];
    uint64_t length = space_round_up(call->arg[1]);
    if (!is_aligned(address) || !is_user_range(address, length)) return -EINVAL;
    if (!length) return 0;
    if (!mem_is_mapped(call->mem, address, length)) return -ENOMEM;
    if (is_hint(call->arg[2])) return 0;
    if (call->arg[2] != DONTNEED && call->arg[2] != FREE) return -EINVAL;
    if (space_is_shared(call->process->space, address, length)) return 0;
    for (uint64_t done = 0, run; done < length; done += run) {
        uint32_t at = address + (uint32_t)done;
        run = same_rights(call->mem, at, length - done);
        mem_map(call->mem, at, run, mem_granted(call->mem, at));
    }
    return 0;
}

int64_t sys_mincore(struct os_call *call)
{
    uint64_t length = space_round_up(call->arg[1]);
    if (!is_aligned(call->arg[0])) return -EINVAL;
    if (!is_user_range(call->arg[0], length) || !mem_is_mapped(call->mem, call->arg[0], length))
        return -ENOMEM;
    void *out = mem_writable(call->mem, call->arg[2], length / MEM_PAGE);
    if (!out) return -EFAULT;
    memset(out, 1, length / MEM_PAGE);
    return 0;
}

int64_t sys_msync(struct os_call *call)
{
    uint64_t length = space_round_up(call->arg[1]);
    if (!is_aligned(call->arg[0]) || call->arg[2] & ~7u) return -EINVAL;
    if (!is_user_range(call->arg[0], length) || !mem_is_mapped(call->mem, call->arg[0], length))
        return -ENOMEM;
    return space_write_back(call, call->process->space, call->arg[0], length);
}

/* mlock, mlock2, munlock: memory is never swapped. */
int64_t sys_mlock(struct os_call *call)
{
    uint64_t start = call->arg[0] & ~(uint64_t)(MEM_PAGE - 1);
    uint64_t length = space_round_up(call->arg[1] + (call->arg[0] - start));
    if (start + length > SPACE_TOP) return -EINVAL;
    return length && !mem_is_mapped(call->mem, (uint32_t)start, length) ? -ENOMEM : 0;
}

int64_t sys_mlockall(struct os_call *call)
{
    enum { CURRENT = 1, FUTURE = 2, ONFAULT = 4 };
    uint32_t flags = call->arg[0];
    return !(flags & (CURRENT | FUTURE)) || flags & ~(uint32_t)(CURRENT | FUTURE | ONFAULT)
               ? -EINVAL
               : 0;
}

int64_t sys_munlockall(struct os_call *call)
{
    (void)call;
    return 0;
}
