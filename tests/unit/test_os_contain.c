/* What a guest cannot get at: no path, link, descriptor or name leads a write out of the folders it
 * may change, and nothing at all leads out of --root. */
#include "rig_os_file.h"
#include "random.h"

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
        assert_int_equal(SYS(linkat, (uint32_t)CWD_FD, str(ways[i]), (uint32_t)CWD_FD, str("mine"),
                             G_AT_SYMLINK_FOLLOW),
                         -EROFS);
    }
    static const char *const names[] = {"dangling", "up/new", "../outside/new",
                                        "sub/../../outside/new"};
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
    assert_true(seen.said > 0); /* the user is warned about --writable */
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
    assert_int_equal(
        SYS(renameat2, (uint32_t)CWD_FD, str("hard"), (uint32_t)CWD_FD, str("data"), 1), -EEXIST);
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
    assert_int_equal(SYS(rename, str("../allowed"), str("../other")),
                     -EROFS); /* the folder's own name is not its */
    assert_int_equal(open_file("../allowed2", G_O_CREAT | G_O_WRONLY),
                     -EROFS); /* nor is a name it begins */
    guest_end();
    struct chil_error err = {0};
    const char *wrong[] = {"nowhere"};
    assert_null(os_files_new(&(struct os_rules){.writable = wrong, .writable_count = 1}, &err));
    assert_non_null(strstr(err.text, "'nowhere'"));
    assert_null(
        os_files_new(&(struct os_rules){.writable = list, .writable_count = 1, .root = "."}, &err));
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
    static const char *const ways[] = {
        "abs",         "up",       "up/secret",          "chain1",
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
    assert_int_equal(rename("sub/deep/deeper", "../allowed/deeper"),
                     0); /* the host moves it out of the root */
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
    assert_int_equal(open_file("/lib/libc.so.6", G_O_WRONLY),
                     -ENOENT); /* for writing there is only the host's */
    assert_int_equal(SYS(chmod, str("/lib/alias"), 0777), -ENOENT);
    assert_int_equal(open_file("/etc/ld.so.cache", G_O_RDONLY),
                     -ENOENT); /* the host's is not for guests */
    assert_int_equal(open_file("/opt/tool", G_O_RDONLY),
                     -ENOENT); /* only programs are looked for there */
    assert_int_equal(chmod("tree/opt/tool", 0755), 0);
    int host = os_files_open_program(guest.process.files, "/opt/tool");
    assert_true(host >= 0);
    close(host);
    assert_int_equal(os_files_open_program(guest.process.files, "/opt/none"), -ENOENT);
    guest_end();
}

/* ---- any call, any argument ---- */

/* Calls with arguments that are right, nearly right or nonsense, in any order: nothing happens
 * outside, and nothing else than an errno, a result or a wait comes back. */
static void random_calls_do_no_harm(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        os_handler handler;
    } rows[] = {
#define X(number, name, handler) {#name, handler},
#include "machine/os/os_file_calls.def"
#undef X
    };
    static const char *const texts[] = {"data",
                                        "sub",
                                        "abs",
                                        "up",
                                        "up/secret",
                                        "dangling",
                                        "loop",
                                        "inside/inner",
                                        "/",
                                        ".",
                                        "..",
                                        "../outside/new",
                                        "new",
                                        "sub/new",
                                        "/dev/null",
                                        "/proc/self/maps",
                                        "/lib/x",
                                        "",
                                        "/proc/self/fd/3",
                                        "chain2",
                                        "new/deeper",
                                        "../../../../../../tmp",
                                        "/dev/zero"};
    static const uint32_t edges[] = {0,
                                     1,
                                     2,
                                     3,
                                     4,
                                     5,
                                     6,
                                     7,
                                     8,
                                     16,
                                     0x22,
                                     0x32,
                                     0x21,
                                     0x40,
                                     0x41,
                                     0x42,
                                     0x100,
                                     0x241,
                                     0x1000,
                                     0x4000,
                                     0x10000,
                                     0x80000,
                                     (uint32_t)-1,
                                     (uint32_t)-100,
                                     0x7fffffff,
                                     0x80000000,
                                     0xbffff000,
                                     SCRATCH,
                                     BUFFER,
                                     BUFFER + 0x1000,
                                     SCRATCH + SCRATCH_SIZE - 8,
                                     0x50000000,
                                     0x50001000,
                                     0x10020000};
    enum {
        TEXTS = sizeof texts / sizeof texts[0],
        EDGES = sizeof edges / sizeof edges[0],
        ROWS = sizeof rows / sizeof rows[0]
    };
    for (unsigned confined = 0; confined < 2; confined++) {
        uint64_t seed = 23 + confined;
        guest_begin(&(struct os_rules){.root = confined ? "." : NULL});
        for (uint32_t fd = 0; fd < 3; fd++)
            assert_int_equal(SYS(close, fd),
                             0); /* the host's are not to be read from or written to here */
        for (uint64_t trial = random_trials(20000); trial--;) {
            uint32_t arg[6];
            for (unsigned i = 0; i < 6; i++)
                arg[i] = random_below(&seed, 3) ? edges[random_below(&seed, EDGES)]
                                                : str(texts[random_below(&seed, TEXTS)]);
            size_t row = random_below(&seed, ROWS);
            guest.call.again = random_below(&seed, 8) == 0;
            int64_t result = make_call(rows[row].handler, arg);
            if (result != OS_WAIT && (result < -4095 || result > UINT32_MAX))
                fail_msg("%s gave %lld", rows[row].name, (long long)result);
            if (mem_is_mapped(guest.space.mem, SCRATCH, SCRATCH_SIZE) &&
                mem_writable(guest.space.mem, SCRATCH, SCRATCH_SIZE))
                continue;
            mem_map(guest.space.mem, SCRATCH, SCRATCH_SIZE,
                    MEM_READ | MEM_WRITE); /* it unmapped its own arguments */
        }
        guest_end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(links_cannot_take_writes_outside),
        TEST(below_the_working_directory_everything_works),
        TEST(writable_folders_are_added),
        TEST(a_root_confines_everything),
        TEST(a_folder_moved_away_opens_no_way_out),
        TEST(host_devices_and_fifos_are_not_opened),
        TEST(libraries_come_from_the_sysroot),
        TEST(random_calls_do_no_harm),
    };
    int failed = cmocka_run_group_tests_name("os_contain", tests, NULL, NULL);
    old_host = true; /* once more without openat2 and /proc */
    return failed + cmocka_run_group_tests_name("os_contain_old_host", tests, NULL, NULL);
}
