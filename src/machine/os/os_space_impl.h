/* Inside os_space*.c and os_load*.c: where things are in a guest's address space, and what is
 * shared of it.
 *
 *   0x00010000            the lowest address anything may be at
 *   0x10000000            programs linked at fixed addresses (where they say), the heap behind them
 *   0x20000000            position-independent programs, the heap behind them
 *   0x40000000            the program's interpreter, ld.so
 *   … 0xb8000000          mmap, from the top down
 *   0xbf800000 0xc0000000 the first stack, 8 MiB
 *
 * Roughly where Linux has them on 32-bit PowerPC, but without its randomness.
 */
#ifndef OS_SPACE_IMPL_H
#define OS_SPACE_IMPL_H

#include "machine/os/os_file_impl.h"
#include "machine/os/os_impl.h"

#define SPACE_LOW    UINT32_C(0x00010000)
#define SPACE_PIE    UINT32_C(0x20000000)
#define SPACE_INTERP UINT32_C(0x40000000)
#define SPACE_MMAP   UINT32_C(0xb8000000)
#define SPACE_TOP    UINT32_C(0xc0000000)
#define SPACE_STACK  UINT32_C(0x00800000)
#define SPACE_GUARD                                                                                \
    UINT32_C(0x00100000) /* nothing is mapped so close below the stack by choice of ours */

static inline uint64_t space_round_up(uint64_t value)
{
    return (value + MEM_PAGE - 1) & ~(uint64_t)(MEM_PAGE - 1);
}

/* Records that [address, address + length) is code of a file, from `offset` on; `host` is open on
 * it. */
void space_note_code(struct os_space *space, uint32_t address, uint64_t length, uint64_t offset,
                     const char *path, int host, struct os_image *image);

/* ---- MAP_SHARED (os_space.c) ---- */

/* Makes [address, address + length) shared with processes forked later; with a file (shared), what
 * guests change is written back to it from `offset` on. 0 or -errno. */
int space_share(struct os_space *space, uint32_t address, uint64_t length, unsigned rights,
                struct file *file, int64_t offset);
/* The same with /dev/node: from its byte 0 on. */
int space_share_node(struct os *os, struct os_space *space, uint32_t address, uint64_t length,
                     unsigned rights);
/* Writes changes in the range back. `call` may be NULL. */
int space_write_back(const struct os_call *call, const struct os_space *space, uint32_t address,
                     uint64_t length);
/* The range is about to be unmapped or mapped anew: writes back and ends the sharing. -ENOMEM: the
 * rest would be too many pieces, and nothing was done. */
int space_unshare(const struct os_call *call, struct os_space *space, uint32_t address,
                  uint64_t length);
unsigned space_parts(const struct os_space *space); /* of shared memory */
bool space_is_shared(const struct os_space *space, uint32_t address, uint64_t length);

#endif
