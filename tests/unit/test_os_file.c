/* Files, pipes and memory as a guest sees them, and above all: what it cannot get at.
 *
 * System calls are made directly, with arguments in a made-up guest memory. Every test starts in a fresh tree
 *
 *   work/        the working directory: the guest may write here
 *     data       "0123456789"
 *     sub/inner  "inner"
 *     links that lead out: abs -> ROOT/outside/secret, up -> ../outside, dangling -> ../outside/new, loop -> loop …
 *   outside/     must stay as it is: secret "secret"
 *   allowed/     for --writable
 *
 * and after each, outside/ is compared with what it was.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/os_file.h"
#include "os/os_file_impl.h"
#include "os/os_space_impl.h"

/* ---- the other half of src/os, weak: the real one wins when it is linked ---- */

static struct {
    const void *waits_on; /* what the last os_wait named */
    uint64_t cycles;
    int signal;
    unsigned said;
} seen;

#define WEAK __attribute__((weak))
int64_t WEAK os_wait(struct os_call *call, const void *what, uint64_t cycles)
{
    (void)call;
    seen.waits_on = what;
    seen.cycles = cycles;
    return OS_WAIT;
}

bool WEAK os_timed_out(const struct os_call *call)
{
    return call->again;
}

unsigned WEAK os_wake_all(struct os *os, const void *what)
{
    (void)os;
    if (seen.waits_on == what) seen.waits_on = NULL;
    return 1;
}

int WEAK os_send_signal(struct os *os, struct os_process *process, int signal)
{
    (void)os, (void)process;
    seen.signal = signal;
    return 0;
}

uint64_t WEAK os_nanoseconds(const struct os_call *call)
{
    (void)call;
    return UINT64_C(5000000007);
}

uint64_t WEAK os_cycles_of(const struct os *os, uint64_t nanoseconds)
{
    (void)os;
    return nanoseconds;
}

void WEAK os_say_once(struct os *os, const char *topic, const char *format, ...)
{
    (void)os, (void)topic, (void)format;
    seen.said++;
}

/* ---- a guest ---- */

enum { SCRATCH = 0x100000, SCRATCH_SIZE = 0x100000, BUFFER = SCRATCH + 0x80000, CWD_FD = -100 };

static struct guest {
    struct os_space space;
    struct os_process process;
    struct os_task task;
    struct os_call call;
    uint32_t next; /* free scratch */
} guest;
static char top[64], start[4096];

static void guest_begin(const struct os_rules *rules)
{
    struct chil_error err = {0};
    memset(&guest, 0, sizeof guest);
    memset(&seen, 0, sizeof seen);
    guest.space = (struct os_space){.users = 2,
                                    .mmap_top = SPACE_MMAP,
                                    .stack_low = 0xbf800000,
                                    .stack_high = 0xc0000000,
                                    .brk_start = 0x10010000,
                                    .brk = 0x10010000};
    assert_int_equal(mem_new(&guest.space.mem), 0);
    mem_map(guest.space.mem, SCRATCH, SCRATCH_SIZE, MEM_READ | MEM_WRITE);
    guest.space.program = file_text("/bin/guest");
    guest.process.space = &guest.space;
    guest.process.pid = 1000;
    guest.process.umask = 022;
    guest.process.files = os_files_new(rules, &err);
    if (!guest.process.files) fail_msg("%s", err.text);
    guest.task.process = &guest.process;
    guest.call = (struct os_call){.task = &guest.task, .process = &guest.process, .mem = guest.space.mem};
    guest.next = SCRATCH;
}

static void guest_end(void)
{
    space_unshare(NULL, &guest.space, 0, SPACE_TOP);
    os_files_release(guest.process.files);
    mem_free(guest.space.mem);
    free(guest.space.program);
}

/* A string in guest memory. */
static uint32_t str(const char *text)
{
    uint32_t at = guest.next;
    size_t size = strlen(text) + 1;
    guest.next += (uint32_t)(size + 3) & ~3u;
    assert_true(guest.next < BUFFER);
    memcpy(guest.space.mem->base + at, text, size);
    return at;
}

#define SYS(name, ...) make_call(sys_##name, (const uint32_t[6]){__VA_ARGS__})
static int64_t make_call(os_handler handler, const uint32_t arg[6])
{
    memcpy(guest.call.arg, arg, sizeof guest.call.arg);
    int64_t result = handler(&guest.call);
    if (guest.next > BUFFER - 0x20000) guest.next = SCRATCH;
    return result;
}

static void *buffer(uint32_t offset)
{
    return guest.space.mem->base + BUFFER + offset;
}

static uint32_t buffer32(uint32_t offset)
{
    return mem_host_get32(buffer(offset));
}

static int64_t open_file(const char *path, unsigned flags)
{
    return SYS(openat, (uint32_t)CWD_FD, str(path), flags, 0666);
}

static uint32_t opened(const char *path, unsigned flags)
{
    int64_t fd = open_file(path, flags);
    if (fd < 0) fail_msg("open of '%s': %s", path, strerror((int)-fd));
    return (uint32_t)fd;
}

static void expect_content(const char *path, const char *content)
{
    uint32_t fd = opened(path, G_O_RDONLY);
    memset(buffer(0), 0, 4096);
    assert_int_equal(SYS(read, fd, BUFFER, 4096), strlen(content));
    assert_string_equal(buffer(0), content);
    assert_int_equal(SYS(close, fd), 0);
}

static int64_t put(uint32_t fd, const char *text)
{
    return SYS(write, fd, str(text), (uint32_t)strlen(text));
}

/* ---- the tree ---- */

static void host_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void host_expect(const char *path, const char *text)
{
    char found[256] = "";
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("'%s' is gone", path);
    (void)!fread(found, 1, sizeof found - 1, file);
    (void)fclose(file);
    assert_string_equal(found, text);
}

static void host_link(const char *target, const char *path)
{
    assert_int_equal(symlink(target, path), 0);
}

static void remove_tree(int parent, const char *name)
{
    if (unlinkat(parent, name, 0) == 0) return;
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) return;
    for (const struct dirent *entry; (entry = readdir(dir));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) remove_tree(fd, entry->d_name);
    closedir(dir);
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

static int tree_begin(void **state)
{
    (void)state;
    char name[128];
    memcpy(top, "/tmp/chiliad-file-XXXXXX", 25);
    if (!getcwd(start, sizeof start) || !mkdtemp(top) || chdir(top) != 0) return -1;
    (void)mkdir("work", 0755), (void)mkdir("outside", 0755), (void)mkdir("allowed", 0755),
        (void)mkdir("work/sub", 0755);
    host_write("outside/secret", "secret");
    if (chdir("work") != 0) return -1;
    host_write("data", "0123456789");
    host_write("sub/inner", "inner");
    (void)snprintf(name, sizeof name, "%s/outside/secret", top);
    host_link(name, "abs");
    host_link("../outside", "up");
    host_link("../outside/new", "dangling");
    host_link("loop", "loop");
    host_link("sub/../abs", "chain1");
    host_link("chain1", "chain2");
    host_link("sub", "inside");
    host_link("/data", "rooted"); /* data in --root work, nothing otherwise */
    return 0;
}

static int tree_end(void **state)
{
    (void)state;
    if (chdir(top) != 0) return -1;
    struct dirent **entries;
    int count = scandir("outside", &entries, NULL, alphasort);
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    assert_int_equal(count, 3); /* ".", "..", "secret": nothing came, nothing went */
    host_expect("outside/secret", "secret");
    if (chdir(start) != 0) return -1;
    remove_tree(AT_FDCWD, top);
    return 0;
}

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
    assert_int_equal(SYS(ioctl, 1, 0x402c7413, BUFFER), -ENOTTY); /* TCGETS, whatever the host's 1 is */
    int64_t last = 0;
    for (unsigned i = 3; i < 1024; i++)
        last = open_file("data", G_O_RDONLY);
    assert_int_equal(last, 1023);
    assert_int_equal(open_file("data", G_O_RDONLY), -EMFILE);
    guest_end();
}

/* ---- containment ---- */

static void links_cannot_take_writes_outside(void **state)
{
    (void)state;
    char path[256];
    guest_begin(&(struct os_rules){0});
    expect_content("abs", "secret"); /* reading is the user's right */
    expect_content("up/secret", "secret");
    expect_content("chain2", "secret");
    static const char *const ways[] = {"abs",
                                       "up/secret",
                                       "chain1",
                                       "chain2",
                                       "../outside/secret",
                                       "sub/../../outside/secret",
                                       "inside/../../outside/secret"};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        assert_int_equal(open_file(ways[i], G_O_WRONLY), -EROFS);
        assert_int_equal(open_file(ways[i], G_O_RDWR | G_O_CREAT), -EROFS);
        assert_int_equal(open_file(ways[i], G_O_RDONLY | G_O_TRUNC), -EROFS);
        assert_int_equal(SYS(truncate, str(ways[i]), 0), -EROFS);
        assert_int_equal(SYS(chmod, str(ways[i]), 0777), -EROFS);
        assert_int_equal(SYS(utimes, str(ways[i]), 0), -EROFS);
        assert_int_equal(SYS(access, str(ways[i]), 2), -EROFS);
        assert_int_equal(
            SYS(linkat, (uint32_t)CWD_FD, str(ways[i]), (uint32_t)CWD_FD, str("mine"), G_AT_SYMLINK_FOLLOW), -EROFS);
    }
    static const char *const names[] = {"dangling", "up/new", "../outside/new", "sub/../../outside/new"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_int_equal(open_file(names[i], G_O_WRONLY | G_O_CREAT), -EROFS);
        if (i == 0) continue; /* the link itself is in the way of the rest */
        assert_int_equal(open_file(names[i], G_O_WRONLY | G_O_CREAT | G_O_EXCL), -EROFS);
        assert_int_equal(SYS(mkdir, str(names[i]), 0777), -EROFS);
        assert_int_equal(SYS(symlink, str("x"), str(names[i])), -EROFS);
        assert_int_equal(SYS(rename, str("data"), str(names[i])), -EROFS);
        assert_int_equal(SYS(link, str("data"), str(names[i])), -EROFS);
    }
    assert_int_equal(open_file("dangling", G_O_WRONLY | G_O_CREAT | G_O_EXCL), -EEXIST);
    assert_int_equal(SYS(unlink, str("up/secret")), -EROFS);
    assert_int_equal(SYS(rename, str("../outside/secret"), str("taken")), -EROFS);
    assert_int_equal(SYS(rename, str("up/secret"), str("up/secret2")), -EROFS);
    assert_int_equal(SYS(rename, str("../work"), str("../elsewhere")), -EROFS);
    assert_int_equal(SYS(rmdir, str("../outside")), -EROFS);
    (void)snprintf(path, sizeof path, "%s/outside/direct", top);
    assert_int_equal(SYS(creat, str(path), 0666), -EROFS);
    assert_int_equal(open_file("loop", G_O_RDONLY), -ELOOP);
    assert_int_equal(open_file("abs", G_O_RDONLY | G_O_NOFOLLOW), -ELOOP);
    assert_true(seen.said > 0); /* the user is told about --writable */
    /* A folder opened outside does not help either. */
    uint32_t fd = opened("up", G_O_RDONLY | G_O_DIRECTORY);
    assert_int_equal(SYS(openat, fd, str("made"), G_O_CREAT | G_O_WRONLY, 0666), -EROFS);
    assert_int_equal(SYS(fchmod, fd, 0777), -EROFS);
    uint32_t file = opened("up/secret", G_O_RDONLY);
    assert_int_equal(SYS(fchmod, file, 0777), -EROFS);
    assert_int_equal(SYS(ftruncate, file, 0), -EINVAL);
    assert_int_equal(SYS(write, file, BUFFER, 1), -EBADF);
    assert_int_equal(SYS(mmap2, 0, 4096, 3, 1, file, 0), -EACCES); /* writable and shared */
    assert_int_equal(SYS(openat, (uint32_t)CWD_FD, str("/proc/self/fd/4"), G_O_RDWR), -EACCES);
    /* Nor does going there. */
    assert_int_equal(SYS(chdir, str("up")), 0);
    assert_int_equal(open_file("made", G_O_CREAT | G_O_WRONLY), -EROFS);
    assert_int_equal(SYS(unlink, str("secret")), -EROFS);
    guest_end();
}

static void below_the_working_directory_everything_works(void **state)
{
    (void)state;
    guest_begin(&(struct os_rules){0});
    assert_int_equal(SYS(mkdir, str("dir/"), 0777), 0);
    assert_int_equal(SYS(mkdir, str("dir"), 0777), -EEXIST);
    assert_int_equal(SYS(mkdir, str("dir/."), 0777), -EEXIST);
    uint32_t fd = opened("dir/../dir//file", G_O_CREAT | G_O_EXCL | G_O_WRONLY);
    assert_int_equal(put(fd, "text"), 4);
    struct stat status;
    assert_int_equal(stat("dir/file", &status), 0);
    assert_int_equal(status.st_mode & 07777, 0644); /* 0666 and the guest's umask */
    assert_int_equal(SYS(chmod, str("dir/file"), 0600), 0);
    assert_int_equal(SYS(chmod, str("dir/file"), 04755), -EPERM);
    assert_int_equal(SYS(rename, str("dir/file"), str("inside/renamed")), 0);
    host_expect("sub/renamed", "text");
    assert_int_equal(SYS(link, str("sub/renamed"), str("hard")), 0);
    assert_int_equal(SYS(symlink, str("../data"), str("dir/soft")), 0);
    expect_content("dir/soft", "0123456789");
    assert_int_equal(SYS(readlink, str("dir/soft"), BUFFER, 100), 7);
    assert_memory_equal(buffer(0), "../data", 7);
    assert_int_equal(SYS(readlink, str("data"), BUFFER, 100), -EINVAL);
    assert_int_equal(SYS(renameat2, (uint32_t)CWD_FD, str("hard"), (uint32_t)CWD_FD, str("data"), 1), -EEXIST);
    assert_int_equal(SYS(unlink, str("dir")), -EISDIR);
    assert_int_equal(SYS(rmdir, str("data")), -ENOTDIR);
    assert_int_equal(SYS(rmdir, str("dir")), -ENOTEMPTY);
    assert_int_equal(SYS(unlink, str("dir/soft")), 0);
    assert_int_equal(SYS(unlinkat, (uint32_t)CWD_FD, str("dir"), G_AT_REMOVEDIR), 0);
    assert_int_equal(SYS(rmdir, str(".")), -EBUSY);
    assert_int_equal(open_file("data/x", G_O_RDONLY), -ENOTDIR);
    assert_int_equal(open_file("data/", G_O_RDONLY), -ENOTDIR);
    assert_int_equal(open_file("sub", G_O_WRONLY), -EISDIR);
    assert_int_equal(open_file("", G_O_RDONLY), -ENOENT);
    assert_int_equal(SYS(open, 4, 0, 0), -EFAULT);
    char longest[5000];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    assert_int_equal(open_file(longest, G_O_RDONLY), -ENAMETOOLONG);
    longest[300] = 0;
    assert_int_equal(open_file(longest, G_O_RDONLY), -ENAMETOOLONG);
    guest_end();
}

static void writable_folders_are_added(void **state)
{
    (void)state;
    char allowed[128];
    (void)snprintf(allowed, sizeof allowed, "%s/allowed", top);
    const char *list[] = {"../allowed"};
    guest_begin(&(struct os_rules){.writable = list, .writable_count = 1});
    uint32_t fd = opened("../allowed/file", G_O_CREAT | G_O_WRONLY);
    assert_int_equal(put(fd, "yes"), 3);
    assert_int_equal(SYS(rename, str("data"), str("../allowed/data")), 0);
    assert_int_equal(SYS(rename, str("../allowed"), str("../other")), -EROFS);  /* the folder's own name is not its */
    assert_int_equal(open_file("../allowed2", G_O_CREAT | G_O_WRONLY), -EROFS); /* nor is a name it begins */
    guest_end();
    struct chil_error err = {0};
    const char *wrong[] = {"nowhere"};
    assert_null(os_files_new(&(struct os_rules){.writable = wrong, .writable_count = 1}, &err));
    assert_non_null(strstr(err.text, "'nowhere'"));
    assert_null(os_files_new(&(struct os_rules){.writable = list, .writable_count = 1, .root = "."}, &err));
    assert_non_null(strstr(err.text, "not below the root"));
    assert_null(os_files_new(&(struct os_rules){.root = "nowhere"}, &err));
    assert_non_null(strstr(err.text, "'nowhere'"));
}

static void a_root_confines_everything(void **state)
{
    (void)state;
    char path[256];
    guest_begin(&(struct os_rules){.root = ".", .sysroot = "/nonexistent"});
    expect_content("/data", "0123456789");
    expect_content("../../../../data", "0123456789");
    expect_content("rooted", "0123456789"); /* an absolute link starts at the root */
    expect_content("/sub/../../inside/inner", "inner");
    assert_int_equal(SYS(getcwd, BUFFER, 100), 2);
    assert_string_equal(buffer(0), "/");
    static const char *const ways[] = {"abs",         "up",       "up/secret",          "chain1",
                                       "chain2",      "dangling", "/../outside/secret", "../outside/secret",
                                       "/etc/passwd", "/tmp",     "/lib/ld.so.1",       "/etc/ld.so.cache"};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        assert_int_equal(open_file(ways[i], G_O_RDONLY), -ENOENT);
        assert_int_equal(open_file(ways[i], G_O_PATH), -ENOENT);
        assert_int_equal(SYS(access, str(ways[i]), 0), -ENOENT);
        assert_int_equal(SYS(stat64, str(ways[i]), BUFFER), -ENOENT);
        assert_int_equal(SYS(chdir, str(ways[i])), -ENOENT);
    }
    (void)snprintf(path, sizeof path, "%s/outside/secret", top);
    assert_int_equal(open_file(path, G_O_RDONLY), -ENOENT);
    /* A link to outside/new is, seen from the root, one to a folder that is not there. */
    assert_int_equal(open_file("dangling", G_O_WRONLY | G_O_CREAT), -ENOENT);
    assert_int_equal(SYS(symlink, str("/../../../etc/passwd"), str("/evil")), 0);
    assert_int_equal(open_file("evil", G_O_RDONLY), -ENOENT);
    assert_int_equal(SYS(symlink, str("/"), str("slash")), 0);
    expect_content("slash/slash/../slash/data", "0123456789");
    uint32_t fd = opened("/", G_O_RDONLY | G_O_DIRECTORY);
    assert_int_equal(SYS(openat, fd, str("../outside/secret"), G_O_RDONLY), -ENOENT);
    assert_int_equal(SYS(openat, fd, str(".."), G_O_PATH), fd + 1);
    assert_int_equal(SYS(fchdir, fd + 1), 0);
    assert_int_equal(SYS(mkdir, str("/etc"), 0755), 0); /* of the root's own */
    assert_int_equal(access("etc", F_OK), 0);
    assert_int_equal(SYS(chdir, str("sub")), 0);
    assert_int_equal(SYS(getcwd, BUFFER, 100), 5);
    expect_content("../../data", "0123456789");
    assert_int_equal(SYS(rename, str("/data"), str("../../moved")), 0);
    assert_int_equal(access("moved", F_OK), 0);
    guest_end();
}

static void a_folder_moved_away_opens_no_way_out(void **state)
{
    (void)state;
    guest_begin(&(struct os_rules){.root = "sub", .sysroot = "/nonexistent"});
    assert_int_equal(SYS(mkdir, str("deep"), 0755), 0);
    assert_int_equal(SYS(mkdir, str("deep/deeper"), 0755), 0);
    assert_int_equal(SYS(chdir, str("deep/deeper")), 0);
    uint32_t fd = opened(".", G_O_RDONLY | G_O_DIRECTORY);
    assert_int_equal(rename("sub/deep/deeper", "../allowed/deeper"), 0); /* the host moves it out of the root */
    assert_int_equal(open_file("../../data", G_O_RDONLY), -ENOENT);
    assert_int_equal(SYS(openat, fd, str("../../outside/secret"), G_O_RDONLY), -ENOENT);
    assert_int_equal(SYS(openat, fd, str("../x"), G_O_CREAT | G_O_WRONLY, 0666), -ENOENT);
    guest_end();
}

static void host_devices_and_fifos_are_not_opened(void **state)
{
    (void)state;
    guest_begin(&(struct os_rules){0});
    assert_int_equal(mkfifo("fifo", 0666), 0);
    assert_int_equal(open_file("fifo", G_O_RDONLY), -ENXIO); /* and does not wait for a writer */
    assert_int_equal(open_file("/dev/tty", G_O_RDWR), -ENXIO);
    assert_int_equal(open_file("/dev/mem", G_O_RDONLY), -ENOENT);
    assert_int_equal(open_file("/proc/1/environ", G_O_RDONLY), -ENOENT);
    assert_int_equal(open_file("/proc/self/root/etc/passwd", G_O_RDONLY), -ENOENT);
    assert_int_equal(open_file("/proc/self/environ", G_O_RDONLY), -ENOENT);
    assert_int_equal(open_file("/sys/kernel", G_O_RDONLY), -ENOENT);
    host_link("/proc/self/environ", "sneaky");
    assert_int_equal(open_file("sneaky", G_O_RDONLY), -ENOENT);
    assert_int_equal(SYS(not_permitted, str("node"), 0666, 0), -EPERM);
    assert_int_equal(SYS(no_socket, 2, 1, 0), -EAFNOSUPPORT);
    guest_end();
}

static void libraries_come_from_the_sysroot(void **state)
{
    (void)state;
    (void)mkdir("tree", 0755), (void)mkdir("tree/lib", 0755), (void)mkdir("tree/opt", 0755);
    host_write("tree/lib/libc.so.6", "powerpc");
    host_write("tree/opt/tool", "tool");
    host_link("/lib/libc.so.6", "tree/lib/alias");
    host_link("/../../outside/secret", "tree/lib/escape");
    guest_begin(&(struct os_rules){.sysroot = "tree"});
    expect_content("/lib/libc.so.6", "powerpc");
    expect_content("/lib/alias", "powerpc");
    assert_int_equal(open_file("/lib/escape", G_O_RDONLY), -ENOENT);
    assert_int_equal(open_file("/lib/libc.so.6", G_O_WRONLY), -ENOENT); /* for writing there is only the host's */
    assert_int_equal(SYS(chmod, str("/lib/alias"), 0777), -ENOENT);
    assert_int_equal(open_file("/etc/ld.so.cache", G_O_RDONLY), -ENOENT); /* the host's is not for guests */
    assert_int_equal(open_file("/opt/tool", G_O_RDONLY), -ENOENT);        /* only programs are looked for there */
    assert_int_equal(chmod("tree/opt/tool", 0755), 0);
    int host = os_files_open_program(guest.process.files, "/opt/tool");
    assert_true(host >= 0);
    close(host);
    assert_int_equal(os_files_open_program(guest.process.files, "/opt/none"), -ENOENT);
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
    /* What the guest changes bears simulated time: 5.000000007 s after the machine was switched on. */
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
    static const char *const expected[] = {".",    "..",     "!first", "abs",    "chain1", "chain2", "dangling",
                                           "data", "inside", "loop",   "rooted", "sub",    "up"};
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
                unsigned length = wide ? (unsigned)entry[16] << 8 | entry[17] : (unsigned)entry[8] << 8 | entry[9];
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

static void made_up_files_are_the_same_everywhere(void **state)
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
    assert_int_equal(SYS(mmap2, 0x50000000, 0x1000, 3, 0x22, (uint32_t)-1, 0), 0x50000000); /* a wish */
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, tree_begin, tree_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(files_are_read_written_and_shared),
        TEST(vectors_appending_and_copies),
        TEST(descriptors_are_given_lowest_first),
        TEST(links_cannot_take_writes_outside),
        TEST(below_the_working_directory_everything_works),
        TEST(writable_folders_are_added),
        TEST(a_root_confines_everything),
        TEST(a_folder_moved_away_opens_no_way_out),
        TEST(host_devices_and_fifos_are_not_opened),
        TEST(libraries_come_from_the_sysroot),
        TEST(stat_shows_the_same_everywhere),
        TEST(a_removed_files_number_is_not_given_again),
        TEST(folders_are_listed_in_order),
        TEST(made_up_files_are_the_same_everywhere),
        TEST(pipes_wait_end_and_break),
        TEST(polling_looks_and_waits),
        TEST(brk_and_mmap_give_and_take),
        TEST(files_are_mapped_as_copies_or_shared),
    };
    return cmocka_run_group_tests_name("os_file", tests, NULL, NULL);
}
