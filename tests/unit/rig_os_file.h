/* A guest whose system calls are made directly, in a tree of files that has ways out of it.
 *
 * Arguments lie in a pseudo guest memory. Every test starts in a fresh tree
 *
 *   work/        the working directory: the guest may write here
 *     data       "0123456789"
 *     sub/inner  "inner"
 *     links that lead out: abs -> ROOT/outside/secret, up -> ../outside,
 *       dangling -> ../outside/new, loop -> loop
 *   outside/     must stay as it is: secret "secret"
 *   allowed/     for --writable
 *
 * and after each, outside/ is compared with what it was. A header and not an object of its own,
 * because its stand-ins for the rest of src/machine/os must not get into other tests.
 */
#ifndef RIG_OS_FILE_H
#define RIG_OS_FILE_H

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

#include "machine/os/os_file.h"
#include "machine/os/os_file_impl.h"
#include "machine/os/os_space_impl.h"
#include "machine/os/os_task.h"

/* ---- the other half of src/machine/os, weak: the real one wins when it is linked ---- */

static struct {
    const void *waits_on; /* what the last os_wait named */
    uint64_t cycles;
    int signal;
    unsigned said;
} seen;

/* Not weak: a function of the scheduler that has no stand-in here brings its object into the link,
 * and this says so ("multiple definition of os_advance") instead of tests that crash. */
enum os_progress os_advance(struct os *os, uint64_t until)
{
    (void)os, (void)until;
    return OS_ALL_ENDED;
}

#define WEAK __attribute__((weak))
int64_t WEAK os_wait(struct os_call *call, const void *what, uint64_t cycles)
{
    (void)call;
    seen.waits_on = what;
    seen.cycles = cycles;
    return OS_WAIT;
}

bool WEAK os_may_map(const struct os_call *call, uint64_t mapped, uint64_t writable)
{
    (void)call, (void)mapped, (void)writable;
    return true;
}

bool WEAK os_may_share(struct os *os, unsigned parts)
{
    (void)os, (void)parts;
    return true;
}

uint64_t WEAK os_process_memory(const struct os *os)
{
    (void)os;
    return 0;
}

int64_t WEAK os_may_write(const struct os_call *call, int64_t at, uint64_t count)
{
    (void)call, (void)at;
    return (int64_t)count;
}

void WEAK os_wrote(struct os *os, int64_t count)
{
    (void)os, (void)count;
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

uint64_t WEAK os_now(const struct os *os)
{
    (void)os;
    return 0;
}

const struct os_task *WEAK os_next_waiting(const struct os *os, const void *what,
                                           const struct os_task *after)
{
    (void)os, (void)what, (void)after;
    return NULL;
}

/* No node is around that would take the lines. */
bool WEAK os_output(struct os *os, int stream, const void *bytes, size_t count, int64_t *done)
{
    (void)os, (void)stream, (void)bytes, (void)count, (void)done;
    return false;
}

bool WEAK os_host_waits(struct os *os)
{
    (void)os;
    return true;
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

void WEAK os_warn_once(struct os *os, const char *topic, const char *format, ...)
{
    (void)os, (void)topic, (void)format;
    seen.said++;
}

/* ---- a guest ---- */

enum { SCRATCH = 0x100000, SCRATCH_SIZE = 0x100000, BUFFER = SCRATCH + 0x80000, CWD_FD = -100 };

static struct guest {
    struct os os; /* zero: nothing here reads it but what shows its memory */
    struct os_space space;
    struct os_process process;
    struct os_task task;
    struct os_call call;
    uint32_t next; /* free scratch */
} guest;
static char top[64], start[4096];
static bool old_host; /* the rules of every guest have it */

static inline void guest_begin(const struct os_rules *rules)
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
    struct os_rules own = *rules;
    own.old_host = old_host;
    guest.process.files = os_files_new(&own, &err);
    if (!guest.process.files) fail_msg("%s", err.text);
    guest.task.process = &guest.process;
    guest.call = (struct os_call){
        .os = &guest.os, .task = &guest.task, .process = &guest.process, .mem = guest.space.mem};
    guest.next = SCRATCH;
}

static inline void guest_end(void)
{
    (void)space_unshare(&guest.call, &guest.space, 0, SPACE_TOP);
    os_files_release(guest.process.files);
    mem_free(guest.space.mem);
    free(guest.space.program);
}

/* A string in guest memory. */
static inline uint32_t str(const char *text)
{
    uint32_t at = guest.next;
    size_t size = strlen(text) + 1;
    guest.next += (uint32_t)(size + 3) & ~3u;
    assert_true(guest.next < BUFFER);
    memcpy(guest.space.mem->base + at, text, size);
    return at;
}

#define SYS(name, ...) make_call(sys_##name, (const uint32_t[6]){__VA_ARGS__})
static inline int64_t make_call(os_handler handler, const uint32_t arg[6])
{
    memcpy(guest.call.arg, arg, sizeof guest.call.arg);
    int64_t result = handler(&guest.call);
    if (guest.next > BUFFER - 0x20000) guest.next = SCRATCH;
    return result;
}

static inline void *buffer(uint32_t offset)
{
    return guest.space.mem->base + BUFFER + offset;
}

static inline uint32_t buffer32(uint32_t offset)
{
    return mem_host_get32(buffer(offset));
}

static inline int64_t open_file(const char *path, unsigned flags)
{
    return SYS(openat, (uint32_t)CWD_FD, str(path), flags, 0666);
}

static inline uint32_t opened(const char *path, unsigned flags)
{
    int64_t fd = open_file(path, flags);
    if (fd < 0) fail_msg("open of '%s': %s", path, strerror((int)-fd));
    return (uint32_t)fd;
}

static inline void expect_content(const char *path, const char *content)
{
    uint32_t fd = opened(path, G_O_RDONLY);
    memset(buffer(0), 0, 4096);
    assert_int_equal(SYS(read, fd, BUFFER, 4096), strlen(content));
    assert_string_equal(buffer(0), content);
    assert_int_equal(SYS(close, fd), 0);
}

static inline int64_t put(uint32_t fd, const char *text)
{
    return SYS(write, fd, str(text), (uint32_t)strlen(text));
}

/* ---- the tree ---- */

static inline void host_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static inline void host_expect(const char *path, const char *text)
{
    char found[256] = "";
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("'%s' is gone", path);
    (void)!fread(found, 1, sizeof found - 1, file);
    (void)fclose(file);
    assert_string_equal(found, text);
}

static inline void host_link(const char *target, const char *path)
{
    assert_int_equal(symlink(target, path), 0);
}

static inline void remove_tree(int parent, const char *name)
{
    if (unlinkat(parent, name, 0) == 0) return;
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) return;
    for (const struct dirent *entry; (entry = readdir(dir));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_tree(fd, entry->d_name);
    closedir(dir);
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

static inline int tree_begin(void **state)
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

static inline int tree_end(void **state)
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, tree_begin, tree_end)

#endif
