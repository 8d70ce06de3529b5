/* Pipes, waiting for them, and memory: brk, mmap, sharing. */
#include "rig_os_file.h"

/* ---- pipes, poll ---- */

static void pipes_wait_end_and_break(void **state)
{
    (void)state;
    guest_begin(&(struct os_rules){0});
    assert_int_equal(SYS(pipe, BUFFER), 0);
    uint32_t in = buffer32(0), out = buffer32(4);
    assert_int_equal(in, 3);
    assert_int_equal(out, 4);
    assert_true(SYS(read, in, BUFFER, 10) == OS_WAIT);
    assert_non_null(seen.waits_on);
    assert_int_equal(put(out, "hello"), 5);
    assert_null(seen.waits_on); /* the reader was woken */
    assert_int_equal(SYS(read, in, BUFFER, 2), 2);
    assert_int_equal(SYS(read, in, BUFFER, 10), 3);
    assert_memory_equal(buffer(0), "llo", 3);
    assert_int_equal(SYS(lseek, in, 0, SEEK_CUR), -ESPIPE);
    assert_int_equal(SYS(pread64, in, BUFFER, 1, 0, 0, 0), -ESPIPE);
    assert_int_equal(SYS(write, in, BUFFER, 1), -EBADF);
    /* Full at 64 KiB; what is up to a page goes in whole or waits. */
    memset(buffer(0), 'z', 0x20000);
    assert_int_equal(SYS(write, out, BUFFER, 65536 - 10), 65536 - 10);
    assert_true(SYS(write, out, BUFFER, 11) == OS_WAIT);
    assert_int_equal(SYS(write, out, BUFFER, 10), 10);
    assert_int_equal(SYS(fcntl, out, 4, G_O_NONBLOCK), 0);
    assert_int_equal(SYS(write, out, BUFFER, 1), -EAGAIN);
    assert_int_equal(SYS(read, in, BUFFER, 5000), 5000);
    assert_int_equal(SYS(write, out, BUFFER, 0x20000), 5000);
    assert_int_equal(SYS(fcntl, out, 4, 0), 0);
    assert_true(SYS(write, out, BUFFER, 0x20000) == OS_WAIT);
    assert_int_equal(SYS(read, in, BUFFER, 4096), 4096);
    assert_null(seen.waits_on);
    assert_int_equal(SYS(write, out, BUFFER, 0x20000), 0x20000); /* a large one goes in whole */
    assert_int_equal(SYS(ioctl, in, 0x4004667f, SCRATCH), 0);
    uint32_t waiting;
    assert_true(mem_get32(guest.space.mem, SCRATCH, &waiting));
    assert_int_equal(waiting, 65536 - 4096 + 0x20000);
    for (uint32_t left = waiting; left;)
        left -= (uint32_t)SYS(read, in, BUFFER, 50000);
    /* A child's writing end keeps it open, until that is closed, too. */
    struct os_files *child = os_files_fork(guest.process.files);
    assert_int_equal(SYS(close, out), 0);
    assert_true(SYS(read, in, BUFFER, 1) == OS_WAIT);
    os_files_release(child);
    assert_null(seen.waits_on);
    assert_int_equal(SYS(read, in, BUFFER, 1), 0);
    assert_int_equal(SYS(pipe2, BUFFER, G_O_CLOEXEC), 0);
    assert_int_equal(SYS(close, buffer32(0)), 0);
    assert_int_equal(put(buffer32(4), "x"), -EPIPE);
    assert_int_equal(seen.signal, 13);
    assert_int_equal(SYS(pipe2, BUFFER, 1), -EINVAL);
    guest_end();
}

static void put_poll(uint32_t index, uint32_t fd, unsigned events)
{
    mem_host_put32(buffer(8 * index), fd);
    mem_host_put32(buffer(8 * index + 4), events << 16);
}

static void polling_looks_and_waits(void **state)
{
    (void)state;
    guest_begin(&(struct os_rules){0});
    assert_int_equal(SYS(pipe, BUFFER), 0);
    uint32_t in = buffer32(0), out = buffer32(4), file = opened("data", G_O_RDONLY);
    put_poll(0, in, G_POLLIN);
    assert_int_equal(SYS(poll, BUFFER, 1, 0), 0);
    assert_true(SYS(poll, BUFFER, 1, 3) == OS_WAIT);
    assert_int_equal(seen.cycles, 3000000);
    guest.call.again = true;
    assert_int_equal(SYS(poll, BUFFER, 1, 3), 0); /* the time is up */
    guest.call.again = false;
    assert_true(SYS(poll, BUFFER, 1, (uint32_t)-1) == OS_WAIT);
    assert_int_equal(put(out, "x"), 1);
    assert_null(seen.waits_on);
    put_poll(1, out, G_POLLOUT);
    put_poll(2, file, G_POLLIN);
    put_poll(3, 77, G_POLLIN);
    put_poll(4, (uint32_t)-1, G_POLLIN);
    assert_int_equal(SYS(poll, BUFFER, 5, 0), 4);
    assert_int_equal(buffer32(4) & 0xffff, G_POLLIN);
    assert_int_equal(buffer32(12) & 0xffff, G_POLLOUT);
    assert_int_equal(buffer32(28) & 0xffff, G_POLLNVAL);
    assert_int_equal(buffer32(36) & 0xffff, 0);
    memset(buffer(0), 0, 256);
    mem_host_put32(buffer(0), 1u << in | 1u << file);
    mem_host_put32(buffer(16), 1u << out);
    assert_int_equal(SYS(select, 32, BUFFER, BUFFER + 16, 0, BUFFER + 64), 3);
    assert_int_equal(SYS(read, in, BUFFER + 128, 1), 1);
    mem_host_put32(buffer(0), 1u << in);
    assert_int_equal(SYS(select, 32, BUFFER, 0, 0, BUFFER + 64), 0);
    assert_int_equal(buffer32(0), 0);
    mem_host_put32(buffer(0), 1u << in);
    assert_true(SYS(pselect6_time64, 32, BUFFER, 0, 0, 0, 0) == OS_WAIT);
    assert_int_equal(buffer32(0), 1u << in); /* kept for the next look */
    assert_int_equal(SYS(close, out), 0);
    put_poll(0, in, G_POLLIN);
    assert_int_equal(SYS(poll, BUFFER, 1, 0), 1);
    assert_int_equal(buffer32(4) & 0xffff, G_POLLHUP);
    guest_end();
}

/* ---- memory ---- */

static void brk_and_mmap_give_and_take(void **state)
{
    (void)state;
    struct mem *mem;
    guest_begin(&(struct os_rules){0});
    mem = guest.space.mem;
    assert_int_equal(SYS(brk, 0), 0x10010000);
    assert_int_equal(SYS(brk, 0x10012345), 0x10012345);
    assert_true(mem_is_mapped(mem, 0x10010000, 0x3000));
    assert_true(mem_put32(mem, 0x10011000, 5));
    assert_int_equal(SYS(brk, 0x10011000), 0x10011000);
    assert_false(mem_is_mapped(mem, 0x10011000, 1));
    assert_int_equal(SYS(brk, 0xd0000000), 0x10011000);
    assert_int_equal(SYS(mmap2, 0, 0x3000, 3, 0x22, (uint32_t)-1, 0), SPACE_MMAP - 0x3000);
    uint32_t at = SPACE_MMAP - 0x3000;
    assert_int_equal(SYS(mprotect, at, 0x1000, 0), 0);
    assert_null(mem_readable(mem, at, 1));
    assert_int_equal(SYS(mprotect, at, 0x4000, 1), -ENOMEM);
    assert_int_equal(SYS(munmap, at, 0x1000), 0);
    assert_int_equal(SYS(munmap, at + 1, 0x1000), -EINVAL);
    assert_int_equal(SYS(mmap2, 0x50000000, 0x1000, 3, 0x22, (uint32_t)-1, 0),
                     0x50000000); /* a wish */
    assert_int_equal(SYS(mmap2, 0x50000000, 0x1000, 3, 0x100022, (uint32_t)-1, 0), -EEXIST);
    assert_int_equal(SYS(mmap2, 0xbffff000, 0x2000, 3, 0x32, (uint32_t)-1, 0), -ENOMEM);
    assert_int_equal(SYS(mmap2, 0x1000, 0x1000, 3, 0x32, (uint32_t)-1, 0), -EPERM);
    assert_int_equal(SYS(mmap2, 0, 0, 3, 0x22, (uint32_t)-1, 0), -EINVAL);
    assert_int_equal(SYS(mmap2, 0, 0xf0000000, 3, 0x22, (uint32_t)-1, 0), -ENOMEM);
    assert_true(mem_put32(mem, 0x50000000, 99));
    assert_int_equal(SYS(mremap, 0x50000000, 0x1000, 0x3000, 1), 0x50000000);
    assert_int_equal(SYS(mmap2, 0x50003000, 0x1000, 3, 0x32, (uint32_t)-1, 0), 0x50003000);
    assert_int_equal(SYS(mremap, 0x50000000, 0x3000, 0x4000, 0), -ENOMEM);
    int64_t moved = SYS(mremap, 0x50000000, 0x3000, 0x4000, 1);
    assert_true(moved > 0 && moved != 0x50000000);
    uint32_t value;
    assert_true(mem_get32(mem, (uint32_t)moved, &value));
    assert_int_equal(value, 99);
    assert_true(mem_is_free(mem, 0x50000000, 0x3000));
    assert_int_equal(SYS(madvise, (uint32_t)moved, 0x1000, 4), 0);
    assert_true(mem_get32(mem, (uint32_t)moved, &value));
    assert_int_equal(value, 0);
    assert_int_equal(SYS(mincore, (uint32_t)moved, 0x2000, BUFFER), 0);
    assert_int_equal(SYS(mincore, 0x60000000, 0x2000, BUFFER), -ENOMEM);
    guest_end();
}

static void files_are_mapped_as_copies_or_shared(void **state)
{
    (void)state;
    guest_begin(&(struct os_rules){0});
    struct mem *mem = guest.space.mem;
    char big[6000];
    memset(big, 'a', sizeof big - 1);
    big[5999] = 0;
    big[4096] = 'P';
    host_write("big", big);
    uint32_t fd = opened("big", G_O_RDWR);
    uint32_t copy = (uint32_t)SYS(mmap2, 0, 8192, 3, 2, fd, 0);
    uint32_t second = (uint32_t)SYS(mmap2, 0, 4096, 1, 2, fd, 1); /* offset in pages */
    assert_int_equal(mem->base[second], 'P');
    assert_int_equal(mem->base[copy + 5998], 'a');
    assert_int_equal(mem->base[copy + 5999], 0);
    mem->base[copy] = 'X';
    assert_int_equal(SYS(munmap, copy, 8192), 0);
    uint32_t shared = (uint32_t)SYS(mmap2, 0, 8192, 3, 1, fd, 0);
    assert_int_equal(mem->base[shared], 'a'); /* the copy's change stayed its own */
    mem->base[shared + 1] = 'B';
    mem->base[shared + 4097] = 'C';
    mem->base[shared + 7000] = 'D'; /* behind the end */
    assert_int_equal(SYS(msync, shared, 4096, 4), 0);
    assert_int_equal(SYS(pread64, fd, BUFFER, 2, 0, 0, 4096), 2);
    assert_memory_equal(buffer(0), "Pa", 2); /* only the first page was asked for */
    struct os_space *child = os_space_fork(&guest.space);
    assert_non_null(child);
    child->mem->base[shared + 2] = 'E';
    assert_int_equal(mem->base[shared + 2], 'E'); /* shared for real */
    assert_int_equal(SYS(munmap, shared + 4096, 4096), 0);
    assert_int_equal(SYS(pread64, fd, BUFFER, 2, 0, 0, 4096), 2);
    assert_memory_equal(buffer(0), "PC", 2);
    os_space_release(child);
    assert_int_equal(SYS(pread64, fd, BUFFER, 4, 0, 0, 0), 4);
    assert_memory_equal(buffer(0), "aBEa", 4);
    struct stat status;
    assert_int_equal(stat("big", &status), 0);
    assert_int_equal(status.st_size, 5999);
    uint32_t anonymous = (uint32_t)SYS(mmap2, 0, 4096, 3, 0x21, (uint32_t)-1, 0);
    child = os_space_fork(&guest.space);
    mem->base[anonymous] = 'M';
    assert_int_equal(child->mem->base[anonymous], 'M');
    os_space_release(child);
    assert_int_equal(SYS(mmap2, 0, 4096, 1, 2, 77, 0), -EBADF);
    assert_int_equal(SYS(mmap2, 0, 4096, 1, 2, opened("sub", 0), 0), -ENODEV);
    assert_int_equal(SYS(mmap, 0, 4096, 1, 2, fd, 4097), -EINVAL);
    assert_int_equal(SYS(mmap2, 0, 4096, 1, 2, opened("data", G_O_WRONLY), 0), -EACCES);
    guest_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(pipes_wait_end_and_break),
        TEST(polling_looks_and_waits),
        TEST(brk_and_mmap_give_and_take),
        TEST(files_are_mapped_as_copies_or_shared),
    };
    return cmocka_run_group_tests_name("os_space", tests, NULL, NULL);
}
