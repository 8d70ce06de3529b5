/* The second wall: in a process that has entered the sandbox, the kernel refuses what no run needs,
 * and lets through what runs need.
 *
 * Each attempt is made twice by a child process of its own: free, where it must succeed, and in the
 * sandbox. So an attempt that fails for another reason shows nothing and fails the test.
 * Faults that were planted, and found: no landlock_restrict_self; no seccomp_load; "/" for the
 * root; the call in the list of allowed ones.
 */
#include "chiliad/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { REFUSED = 1, DONE = 0, BROKEN = 2 };

struct place {
    char home[64]; /* has work/, outside/ and root/ */
    char here[4096];
};

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    if (!place || !getcwd(place->here, sizeof place->here)) return -1;
    (void)snprintf(place->home, sizeof place->home, "/tmp/sandbox.XXXXXX");
    if (!mkdtemp(place->home) || chdir(place->home) != 0 || mkdir("work", 0700) ||
        mkdir("outside", 0700) || mkdir("root", 0700))
        return -1;
    int fd = open("outside/file", O_WRONLY | O_CREAT, 0700);
    *state = place;
    return fd < 0 || close(fd);
}

static int remove_place(void **state)
{
    struct place *place = *state;
    static const char *const names[] = {"outside/file", "work/new", "work/other", "outside/new",
                                        "work",         "outside",  "root/file",  "root"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        (void)remove(names[i]);
    int status = chdir(place->here) || rmdir(place->home);
    free(place);
    return status;
}

/* --- Attempts: true when the kernel lets it happen ------------------------------------------- */

static bool can_open(const char *path, int flags)
{
    int fd = open(path, flags, 0600);
    if (fd < 0) return false;
    return close(fd) == 0;
}

static bool write_outside(void)
{
    return can_open("outside/file", O_WRONLY);
}

static bool make_outside(void)
{
    return can_open("outside/new", O_WRONLY | O_CREAT);
}

static bool cut_outside(void)
{
    return truncate("outside/file", 0) == 0;
}

static bool remove_outside(void)
{
    return rename("outside/file", "outside/other") == 0 &&
           rename("outside/other", "outside/file") == 0;
}

static bool write_memory(void)
{
    return can_open("/proc/self/mem", O_RDWR);
}

static bool execute(void)
{
    int status;
    pid_t pid;
    char name[] = "true", *const words[] = {name, NULL};
    if (posix_spawn(&pid, "/bin/true", NULL, NULL, words, NULL)) return false;
    return waitpid(pid, &status, 0) == pid && status == 0;
}

static bool execute_here(void)
{
    (void)execl("/bin/true", "true", (char *)NULL);
    return false;
}

static bool fork_process(void)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) _exit(0);
    return pid > 0 && waitpid(pid, &status, 0) == pid;
}

static bool socket_unix(void)
{
    return socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
}

static bool socket_inet(void)
{
    return socket(AF_INET, SOCK_DGRAM, 0) >= 0;
}

static bool trace_self(void)
{
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0;
}

static bool signal_parent(void)
{
    return kill(getppid(), SIGCONT) == 0;
}

static bool type_on_terminal(void)
{
    int fds[2];
    return pipe(fds) == 0 && ioctl(fds[0], FIONBIO, &(int){1}) == 0; /* stands for TIOCSTI */
}

static bool make_fifo(void)
{
    return mkfifo("work/new", 0600) == 0;
}

static const struct attempt {
    const char *name;
    bool (*act)(void);
    bool by_files, plain_only; /* Landlock refuses it; sanitizers need it */
} attempts[] = {
    {"write outside", write_outside, true, false},
    {"make a file outside", make_outside, true, false},
    {"cut a file outside", cut_outside, true, false},
    {"rename outside", remove_outside, true, false},
    {"write a process's memory", write_memory, true, false},
    {"execute a program", execute_here, false, false},
    {"start a program", execute, false, true},
    {"fork", fork_process, false, true},
    {"open a Unix socket", socket_unix, false, false},
    {"open an Internet socket", socket_inet, false, false},
    {"be traced", trace_self, false, true},
    {"signal another process", signal_parent, false, true},
    {"control a terminal", type_on_terminal, false, false},
    {"make a FIFO", make_fifo, false, false},
};

/* --- What runs need -------------------------------------------------------------------------- */

static void *nothing(void *context)
{
    return context;
}

static bool start_thread(void)
{
    pthread_t thread;
    return pthread_create(&thread, NULL, nothing, NULL) == 0 && pthread_join(thread, NULL) == 0;
}

static bool make_code(void)
{
    void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at != MAP_FAILED && mprotect(at, 4096, PROT_READ | PROT_EXEC) == 0;
}

static bool share_memory(void)
{
    int fd = memfd_create("test", MFD_CLOEXEC);
    return fd >= 0 && ftruncate(fd, 4096) == 0 &&
           mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED;
}

static bool read_outside(void)
{
    return can_open("outside/file", O_RDONLY) && can_open("outside", O_RDONLY | O_DIRECTORY);
}

static bool change_inside(void)
{
    return can_open("work/new", O_WRONLY | O_CREAT) && truncate("work/new", 10) == 0 &&
           chmod("work/new", 0640) == 0 && rename("work/new", "work/other") == 0 &&
           link("work/other", "work/new") == 0 && unlink("work/other") == 0 &&
           symlink("new", "work/other") == 0 && unlink("work/other") == 0 &&
           mkdir("work/other", 0700) == 0 && rename("work/new", "work/other/new") == 0 &&
           rename("work/other/new", "work/new") == 0 && rmdir("work/other") == 0 &&
           unlink("work/new") == 0;
}

static bool write_output(void)
{
    char self[40];
    int folder = open("root", O_PATH | O_DIRECTORY),
        fd = openat(folder, ".", O_TMPFILE | O_WRONLY, 0600);
    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    return fd >= 0 && linkat(AT_FDCWD, self, folder, "file", AT_SYMLINK_FOLLOW) == 0 &&
           unlinkat(folder, "file", 0) == 0;
}

static bool discard(void)
{
    return can_open("/dev/null", O_RDWR);
}

static const struct attempt needs[] = {
    {"start a thread", start_thread, false, false},
    {"make code", make_code, false, false},
    {"share memory", share_memory, false, false},
    {"read everywhere", read_outside, false, false},
    {"change a writable folder", change_inside, false, false},
    {"write an output elsewhere", write_output, false, false},
    {"open /dev/null", discard, false, false},
};

/* --- Trying ---------------------------------------------------------------------------------- */

static const char *const writable[] = {"work"}, *const outputs[] = {"root/file"};
static const struct chil_sandbox_options usual = {
    .write = writable, .write_count = 1, .outputs = outputs, .output_count = 1};

/* What a child that enters the sandbox (NULL: does not) comes to. execute_here ends it with 0. */
static int try(const struct chil_sandbox_options *options, bool act(void))
{
    int status;
    (void)fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        if (options) (void)chil_sandbox_enter(options);
        _exit(act() ? DONE : REFUSED);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) return BROKEN;
    return WEXITSTATUS(status);
}

/* What this kernel has, from a child. */
static struct chil_sandbox_state look(void)
{
    struct chil_sandbox_state state = {0};
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        state = chil_sandbox_enter(&usual);
        _exit(write(fds[1], &state, sizeof state) != sizeof state);
    }
    assert_int_equal(read(fds[0], &state, sizeof state), sizeof state);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    (void)close(fds[0]);
    (void)close(fds[1]);
    return state;
}

static bool is_sanitized(void)
{
#ifdef __SANITIZE_ADDRESS__
    return true;
#else
    return false;
#endif
}

static void the_kernel_refuses_what_no_run_needs(void **state)
{
    struct chil_sandbox_state has = look();
    (void)state;
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        const struct attempt *a = &attempts[i];
        if (a->plain_only && is_sanitized()) continue;
        if (a->by_files ? !has.files : !has.system_calls) continue; /* nothing is promised there */
        (void)remove("work/new");
        int free_one = try(NULL, a->act);
        (void)remove("work/new");
        (void)remove("outside/new");
        int held = try(&usual, a->act);
        if (free_one != DONE || held != REFUSED)
            print_error("%s: %d %d\n", a->name, free_one, held);
        assert_int_equal(free_one, DONE);
        assert_int_equal(held, REFUSED);
    }
}

static void the_kernel_lets_through_what_runs_need(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        int held = try(&usual, needs[i].act);
        if (held != DONE) print_error("%s: %d\n", needs[i].name, held);
        assert_int_equal(held, DONE);
    }
}

static void with_a_root_nothing_else_is_read(void **state)
{
    static const char *const root[] = {"root"};
    const struct chil_sandbox_options options = {.root = "root", .write = root, .write_count = 1};
    (void)state;
    assert_int_equal(try(NULL, read_outside), DONE);
    assert_int_equal(try(&options, read_outside), look().files ? REFUSED : DONE);
}

static void a_rank_keeps_its_sockets(void **state)
{
    struct chil_sandbox_options options = usual;
    (void)state;
    options.sockets = CHIL_SANDBOX_USES;
    assert_int_equal(try(&options, socket_inet), DONE);
    assert_int_equal(try(&options, socket_unix), DONE);
    assert_int_equal(try(&options, execute_here), look().system_calls ? REFUSED : DONE);
}

static void the_state_is_one_line(void **state)
{
    char text[CHIL_SANDBOX_TEXT];
    (void)state;
    chil_sandbox_text((struct chil_sandbox_state){.files = 7, .system_calls = true}, text,
                      sizeof text);
    assert_string_equal(text, "files by Landlock 7, system calls by seccomp");
    chil_sandbox_text((struct chil_sandbox_state){0}, text, sizeof text);
    assert_string_equal(text,
                        "files by no one (the kernel has no Landlock 2), system calls by no one "
                        "(the kernel has no seccomp)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_kernel_refuses_what_no_run_needs, make_place,
                                        remove_place),
        cmocka_unit_test_setup_teardown(the_kernel_lets_through_what_runs_need, make_place,
                                        remove_place),
        cmocka_unit_test_setup_teardown(with_a_root_nothing_else_is_read, make_place, remove_place),
        cmocka_unit_test_setup_teardown(a_rank_keeps_its_sockets, make_place, remove_place),
        cmocka_unit_test(the_state_is_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
