/* Files as a guest sees them: contents, offsets, descriptors, looks, folders, and the pseudo ones.
 */
#include "rig_os_file.h"

/* ---- reading and writing ---- */

static void files_are_read_written_and_shared(void **state)
{
    (void)state;
    guest_begin(&(struct os_rules){0});
    uint32_t fd = opened("data", G_O_RDWR);
    assert_int_equal(fd, 3);
    assert_int_equal(SYS(read, fd, BUFFER, 4), 4);
    assert_memory_equal(buffer(0), "0123", 4);
    uint32_t twin = (uint32_t)SYS(dup, fd);
    assert_int_equal(SYS(read, twin, BUFFER, 2), 2);
    assert_memory_equal(buffer(0), "45", 2); /* one offset */
    struct os_files *child = os_files_fork(guest.process.files), *parent = guest.process.files;
    guest.process.files = child;
    assert_int_equal(SYS(lseek, fd, 8, SEEK_SET), 8);
    guest.process.files = parent;
    assert_int_equal(SYS(read, fd, BUFFER, 100), 2);
    os_files_release(child);
    assert_int_equal(SYS(pread64, fd, BUFFER, 3, 0, 0, 7), 3); /* the offset in arg[4], arg[5] */
    assert_memory_equal(buffer(0), "789", 3);
    assert_int_equal(SYS(pwrite64, fd, str("XY"), 2, 0, 0, 1), 2);
    assert_int_equal(SYS(llseek, fd, 0, 1, BUFFER, SEEK_SET), 0);
    assert_int_equal(buffer32(4), 1);
    assert_int_equal(SYS(read, fd, BUFFER, 3), 3);
    assert_memory_equal(buffer(0), "XY3", 3);
    assert_int_equal(SYS(llseek, fd, 1, 0, BUFFER, SEEK_SET), 0); /* 4 GiB */
    assert_int_equal(SYS(lseek, fd, 0, SEEK_CUR), -EOVERFLOW);
    assert_int_equal(SYS(ftruncate64, fd, 0, 0, 5), 0);
    assert_int_equal(SYS(truncate64, str("data"), 0, 0, 4), 0);
    host_expect("data", "0XY3");
    assert_int_equal(SYS(close, fd), 0);
    assert_int_equal(SYS(close, fd), -EBADF);
    assert_int_equal(SYS(read, fd, BUFFER, 1), -EBADF);
    assert_int_equal(SYS(write, 99, BUFFER, 1), -EBADF);
    guest_end();
}

static void vectors_appending_and_copies(void **state)
{
    (void)state;
    guest_begin(&(struct os_rules){0});
    uint32_t fd = opened("new", G_O_RDWR | G_O_CREAT | G_O_APPEND);
    uint32_t words[] = {str("abc"), 3, str("defg"), 4};
    for (unsigned i = 0; i < 4; i++)
        mem_host_put32(buffer(4 * i), words[i]);
    assert_int_equal(SYS(writev, fd, BUFFER, 2), 7);
    assert_int_equal(SYS(lseek, fd, 0, SEEK_SET), 0);
    assert_int_equal(put(fd, "!"), 1);
    host_expect("new", "abcdefg!");
    words[0] = BUFFER + 256, words[1] = 2, words[2] = BUFFER + 512, words[3] = 100;
    for (unsigned i = 0; i < 4; i++)
        mem_host_put32(buffer(4 * i), words[i]);
    assert_int_equal(SYS(preadv, fd, BUFFER, 2, 1, 0), 7); /* offset 1: low word first */
    assert_memory_equal(buffer(256), "bc", 2);
    assert_memory_equal(buffer(512), "defg!", 5);
    uint32_t copy = opened("copy", G_O_RDWR | G_O_CREAT);
    mem_host_put32(buffer(0), 2);
    assert_int_equal(SYS(sendfile, copy, fd, BUFFER, 3), 3);
    assert_int_equal(buffer32(0), 5);
    host_expect("copy", "cde");
    memset(buffer(0), 0, 16);
    assert_int_equal(SYS(copy_file_range, fd, BUFFER, copy, 0, 100, 0), 8);
    host_expect("copy", "cdeabcdefg!");
    /* A buffer that ends in unmapped memory is used as far as it goes. */
    assert_int_equal(SYS(pread64, fd, SCRATCH + SCRATCH_SIZE - 3, 100, 0, 0, 0), 3);
    assert_int_equal(SYS(pread64, fd, SCRATCH + SCRATCH_SIZE, 100, 0, 0, 0), -EFAULT);
    assert_int_equal(SYS(write, fd, 0xfffffff0, 100), -EFAULT);
    guest_end();
}

static void descriptors_are_given_lowest_first(void **state)
{
    (void)state;
    guest_begin(&(struct os_rules){0});
    uint32_t fd = opened("data", G_O_RDONLY | G_O_CLOEXEC);
    assert_int_equal(SYS(fcntl, fd, 1, 0), 1);
    assert_int_equal(SYS(fcntl, fd, 3, 0), G_O_RDONLY);
    assert_int_equal(SYS(dup2, fd, 10), 10);
    assert_int_equal(SYS(fcntl, 10, 1, 0), 0); /* dup2 clears close-on-exec */
    assert_int_equal(SYS(fcntl, fd, 0, 10), 11);
    assert_int_equal(SYS(dup3, fd, fd, 0), -EINVAL);
    assert_int_equal(SYS(dup2, fd, 5000), -EBADF);
    os_files_close_on_exec(guest.process.files);
    assert_int_equal(SYS(lseek, fd, 0, 0), -EBADF);
    assert_int_equal(SYS(lseek, 10, 3, 0), 3);
    assert_int_equal(opened("data", G_O_RDONLY), fd);
    assert_int_equal(SYS(close_range, 3, UINT32_MAX, 0), 0);
    assert_int_equal(SYS(lseek, 11, 0, 0), -EBADF);
    assert_int_equal(SYS(ioctl, 1, 0x402c7413, BUFFER),
                     -ENOTTY); /* TCGETS, whatever the host's 1 is */
    int64_t last = 0;
    for (unsigned i = 3; i < 1024; i++)
        last = open_file("data", G_O_RDONLY);
    assert_int_equal(last, 1023);
    assert_int_equal(open_file("data", G_O_RDONLY), -EMFILE);
    guest_end();
}

/* ---- looks ---- */

static void stat_shows_the_same_everywhere(void **state)
{
    (void)state;
    struct timespec times[2] = {{1000, 5}, {1234567890, 123456789}};
    assert_int_equal(utimensat(AT_FDCWD, "data", times, 0), 0);
    assert_int_equal(chmod("data", 0640), 0);
    guest_begin(&(struct os_rules){0});
    assert_int_equal(SYS(stat64, str("data"), BUFFER), 0);
    uint32_t number = buffer32(12);
    assert_int_equal(buffer32(4), 0x801); /* st_dev */
    assert_int_equal(buffer32(16), S_IFREG | 0640);
    assert_int_equal(buffer32(20), 1); /* st_nlink */
    assert_int_equal(buffer32(24), OS_UID);
    assert_int_equal(buffer32(52), 10); /* st_size */
    assert_int_equal(buffer32(56), 4096);
    assert_int_equal(buffer32(68), 1); /* st_blocks */
    for (unsigned i = 72; i < 96; i += 8) {
        assert_int_equal(buffer32(i), 1234567890);
        assert_int_equal(buffer32(i + 4), 123456789);
    }
    assert_int_equal(SYS(stat, str("data"), BUFFER), 0);
    assert_int_equal(buffer32(4), number);
    assert_int_equal(buffer32(8), S_IFREG | 0640);
    assert_int_equal(buffer32(12) >> 16, 1);
    assert_int_equal(buffer32(28), 10);
    assert_int_equal(buffer32(48), 1234567890);
    uint32_t fd = opened("data", G_O_RDWR);
    assert_int_equal(SYS(statx, fd, str(""), G_AT_EMPTY_PATH, 0x7ff, BUFFER), 0);
    assert_int_equal(buffer32(0), 0x7ff);
    assert_int_equal(buffer32(28) >> 16, S_IFREG | 0640);
    assert_int_equal(buffer32(36), number);
    assert_int_equal(buffer32(44), 10);
    assert_int_equal(buffer32(116), 1234567890);
    assert_int_equal(buffer32(136), 8);
    assert_int_equal(number, 4); /* the first file a run sees, after 0, 1, 2 */
    /* What the guest changes bears simulated time: 5.000000007 s after the machine was switched on.
     */
    assert_int_equal(put(fd, "x"), 1);
    assert_int_equal(SYS(fstat64, fd, BUFFER), 0);
    assert_int_equal(buffer32(80), OS_EPOCH + 5);
    assert_int_equal(buffer32(84), 7);
    mem_host_put32(buffer(0), 1), mem_host_put32(buffer(4), 2), mem_host_put32(buffer(8), 777),
        mem_host_put32(buffer(12), 8);
    assert_int_equal(SYS(utimensat, (uint32_t)CWD_FD, str("data"), BUFFER, 0), 0);
    assert_int_equal(SYS(fstat64, fd, BUFFER), 0);
    assert_int_equal(buffer32(80), 777);
    struct stat status;
    assert_int_equal(stat("data", &status), 0);
    assert_int_equal(status.st_mtime, 777);
    /* Links and folders. */
    assert_int_equal(SYS(lstat64, str("inside"), BUFFER), 0);
    assert_int_equal(buffer32(16) & S_IFMT, S_IFLNK);
    assert_int_equal(SYS(stat64, str("inside"), BUFFER), 0);
    assert_int_equal(buffer32(16) & S_IFMT, S_IFDIR);
    assert_int_equal(buffer32(52), 4096);
    assert_int_equal(SYS(fstatat64, (uint32_t)CWD_FD, str("loop"), BUFFER, 0), -ELOOP);
    assert_int_equal(SYS(statfs64, str("."), 88, BUFFER), 0);
    assert_int_equal(buffer32(56), 255);
    /* Standard output is a pipe to a guest, whatever it is. */
    assert_int_equal(SYS(fstat64, 1, BUFFER), 0);
    assert_int_equal(buffer32(16), S_IFIFO | 0600);
    assert_int_equal(SYS(lseek, 1, 0, SEEK_CUR), -ESPIPE);
    guest_end();
}

static void a_removed_files_number_is_not_given_again(void **state)
{
    (void)state;
    guest_begin(&(struct os_rules){0});
    uint32_t before = 0;
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(SYS(close, opened("temporary", G_O_CREAT | G_O_WRONLY)), 0);
        assert_int_equal(SYS(stat64, str("temporary"), BUFFER), 0);
        assert_true(buffer32(12) > before);
        before = buffer32(12);
        assert_int_equal(SYS(unlink, str("temporary")), 0);
    }
    guest_end();
}

static void folders_are_listed_in_order(void **state)
{
    (void)state;
    static const char *const expected[] = {".",      "..",       "!first", "abs",    "chain1",
                                           "chain2", "dangling", "data",   "inside", "loop",
                                           "rooted", "sub",      "up"};
    host_write("!first", "");
    guest_begin(&(struct os_rules){0});
    for (unsigned wide = 0; wide < 2; wide++) {
        uint32_t fd = opened(".", G_O_RDONLY | G_O_DIRECTORY);
        unsigned found = 0;
        for (;;) {
            /* So little room that the list comes in several parts. */
            int64_t got = wide ? SYS(getdents64, fd, BUFFER, 100) : SYS(getdents, fd, BUFFER, 100);
            assert_true(got >= 0);
            if (!got) break;
            for (uint32_t at = 0; at < got; found++) {
                const uint8_t *entry = buffer(at);
                assert_true(found < sizeof expected / sizeof expected[0]);
                assert_string_equal(entry + (wide ? 19 : 10), expected[found]);
                unsigned length = wide ? (unsigned)entry[16] << 8 | entry[17]
                                       : (unsigned)entry[8] << 8 | entry[9];
                assert_int_equal(buffer32(at + (wide ? 12 : 4)), found + 1); /* d_off */
                unsigned type = wide ? entry[18] : entry[length - 1];
                if (strcmp(expected[found], "data") == 0) assert_int_equal(type, DT_REG);
                at += length;
            }
        }
        assert_int_equal(found, 13);
        assert_int_equal(SYS(lseek, fd, 12, SEEK_SET), 12);
        assert_true(SYS(getdents64, fd, BUFFER, 100) > 0);
        assert_string_equal(buffer(19), "up");
        assert_int_equal(SYS(lseek, fd, 0, SEEK_SET), 0);
        assert_int_equal(SYS(getdents64, fd, BUFFER, 10), -EINVAL);
        assert_int_equal(SYS(read, fd, BUFFER, 10), -EISDIR);
    }
    assert_int_equal(SYS(getdents64, opened("data", 0), BUFFER, 100), -ENOTDIR);
    guest_end();
}

static void pseudo_files_are_the_same_everywhere(void **state)
{
    (void)state;
    uint8_t first[16];
    guest_begin(&(struct os_rules){.cores = 4});
    uint32_t fd = opened("/dev/urandom", G_O_RDONLY);
    assert_int_equal(SYS(read, fd, BUFFER, 16), 16);
    memcpy(first, buffer(0), 16);
    guest_end();
    guest_begin(&(struct os_rules){.cores = 4});
    fd = opened("/dev/random", G_O_RDONLY);
    assert_int_equal(SYS(read, fd, BUFFER, 16), 16);
    assert_memory_equal(buffer(0), first, 16);
    expect_content("/dev/null", "");
    assert_int_equal(put(opened("/dev/null", G_O_WRONLY), "gone"), 4);
    assert_int_equal(put(opened("/dev/full", G_O_WRONLY), "gone"), -ENOSPC);
    memset(buffer(0), 1, 8);
    assert_int_equal(SYS(read, opened("/dev/zero", G_O_RDONLY), BUFFER, 8), 8);
    assert_int_equal(buffer32(4), 0);
    expect_content("/sys/devices/system/cpu/online", "0-3\n");
    assert_int_equal(SYS(readlink, str("/proc/self/exe"), BUFFER, 100), 10);
    assert_memory_equal(buffer(0), "/bin/guest", 10);
    assert_int_equal(SYS(readlink, str("/proc/1000/exe"), BUFFER, 100), 10);
    fd = opened("data", G_O_RDONLY);
    char name[64];
    (void)snprintf(name, sizeof name, "/dev/fd/%u", fd);
    expect_content(name, "0123456789");
    assert_int_equal(SYS(stat64, str("/dev/null"), BUFFER), 0);
    assert_int_equal(buffer32(16), S_IFCHR | 0666);
    assert_int_equal(buffer32(36), 0x103);
    memset(buffer(0), 0, 4096);
    assert_true(SYS(read, opened("/proc/self/maps", G_O_RDONLY), BUFFER, 4096) > 0);
    assert_string_equal(buffer(0), "00100000-00200000 rw-p 00000000 00:00 0 \n");
    assert_int_equal(open_file("/proc/new", G_O_CREAT | G_O_WRONLY), -EROFS);
    assert_int_equal(SYS(mkdir, str("/dev/shm"), 0777), -EROFS);
    expect_content("/proc/../dev/.././proc/self/../../dev/null", "");
    fd = opened("/dev", G_O_RDONLY | G_O_DIRECTORY);
    assert_true(SYS(getdents64, fd, BUFFER, 4096) > 0);
    guest_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(files_are_read_written_and_shared),         TEST(vectors_appending_and_copies),
        TEST(descriptors_are_given_lowest_first),        TEST(stat_shows_the_same_everywhere),
        TEST(a_removed_files_number_is_not_given_again), TEST(folders_are_listed_in_order),
        TEST(pseudo_files_are_the_same_everywhere),
    };
    return cmocka_run_group_tests_name("os_file", tests, NULL, NULL);
}
