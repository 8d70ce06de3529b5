/* Random system calls, from a seed (tools/fuzz-calls). `calls FIRST COUNT CALLS` forks a process for
 * each of COUNT seeds from FIRST on; it makes a folder, goes there and makes CALLS random calls. For
 * each seed a line is printed: the seed, how the process ended, and a hash of what the calls
 * returned, which must be the same in every run with the same seeds.
 *
 * Arguments are small numbers, descriptors, flags, paths and addresses: of good bytes, of bytes that
 * end in front of an unmapped page, of nothing, and of the kernel. Bytes are random, or look like
 * vectors, times and lists of pointers. A process that waits too long is killed by its parent, in
 * simulated time. A name "out" leads to ../../outside, which must stay as it is. The lines go to the
 * file `results`. With a fifth word all seeds, and other runs, share one folder.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, NUMBERS = 470, WAIT_MS = 300, SIGNALS = 64 };

static uint64_t state;
static unsigned char *page;  /* the last one before an unmapped page */
static uint64_t *shared;     /* what the process came to: a hash, and the number of calls */
static pid_t self;

static uint32_t below(uint32_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16) % limit;
}

static uint32_t any(void)
{
    return below(65536) << 16 | below(65536);
}

static const char *const paths[] = {
    "a", "b", "d", "d/x", "out", "out/secret", "link", "../outside/secret", "../../outside/secret", ".", "..", "/", "",
    "/etc/passwd", "/proc/self/fd/3", "/proc/self/fd/0", "/proc/self/exe", "/proc/self/maps", "/proc/self/mem",
    "/proc/self/cwd/../x", "/dev/null", "/dev/zero", "/dev/fd/4", "/dev/stdout", "/proc/program/calls", "d/../a", "a/",
    "//a//", "d/./../out/secret", "/proc/1/fd/0", "/sys/devices/system/cpu/online", "/tmp", "loop", "new"};

static uint32_t address(void)
{
    switch (below(12)) {
    case 0: return 0;
    case 1: return 0xc0000000u + any() % 0x1000;
    case 2: return (uint32_t)(uintptr_t)page + PAGE - below(40);
    case 3: return (uint32_t)(uintptr_t)page + PAGE + below(64);
    case 4: return any();
    case 5: return (uint32_t)(uintptr_t)page & ~(PAGE - 1u);
    default: return (uint32_t)(uintptr_t)page + below(PAGE - 256);
    }
}

static uint32_t argument(void)
{
    static const uint32_t special[] = {0xffffffff, 0x80000000, 0x7fffffff, 0xfffff000, 0x10000, 4096, 4095, 0xffffff9c, 65536, 1u << 30};
    switch (below(10)) {
    case 0: return special[below(sizeof special / sizeof *special)];
    case 1: return any();
    case 2: return 1u << below(32) | 1u << below(32);
    case 3:
    case 4: return below(24);
    case 5: return (uint32_t)(uintptr_t)paths[below(sizeof paths / sizeof *paths)];
    case 6: return below(PAGE);
    default: return address();
    }
}

/* Bytes that calls may read: random, or a list of address and length. */
static void fill(void)
{
    uint32_t at = below(PAGE - 64), kind = below(4);
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t word = kind == 0 ? any() : kind == 1 ? below(64) : i % 2 ? below(512) : address();
        memcpy(page + at + 4 * i, &word, sizeof word);
    }
    if (kind == 3) snprintf((char *)page + at, 64, "%s", paths[below(sizeof paths / sizeof *paths)]);
}

/* Calls that would end the process, or others, more often than they try anything. */
static int is_left_out(uint32_t number)
{
    switch (number) {
    case SYS_exit:
    case SYS_exit_group: return below(30) != 0;
    case SYS_kill:
    case SYS_tkill:
    case SYS_tgkill:
    case SYS_rt_sigqueueinfo: return below(8) != 0;
    case SYS_munmap:
    case SYS_mprotect:
    case SYS_execve: return below(3) != 0;
    default: return 0;
    }
}

static uint32_t number_of_call(void)
{
    static const uint16_t files[] = {SYS_open, SYS_openat, SYS_openat2, SYS_renameat2, SYS_linkat, SYS_symlinkat, SYS_unlinkat,
        SYS_fchmodat, SYS_fchownat, SYS_utimensat, SYS_truncate, SYS_ftruncate, SYS_read, SYS_write, SYS_pwritev, SYS_preadv,
        SYS_mmap2, SYS_msync, SYS_madvise, SYS_mremap, SYS_brk, SYS_fcntl64, SYS_dup3, SYS_pipe2, SYS_getdents64, SYS_chdir,
        SYS_fchdir, SYS_mkdirat, SYS_statx, SYS_fstatat64, SYS_readlinkat, SYS_lseek, SYS__llseek, SYS_ioctl, SYS_close};
    static const uint16_t tasks[] = {SYS_clone, SYS_fork, SYS_vfork, SYS_futex, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_timer_create,
        SYS_timer_settime, SYS_timer_delete, SYS_setitimer, SYS_clock_nanosleep, SYS_poll, SYS_ppoll, SYS__newselect, SYS_wait4, SYS_waitid,
        SYS_sigaltstack, SYS_set_robust_list, SYS_prlimit64, SYS_setrlimit, SYS_sched_setaffinity, SYS_rt_sigtimedwait, SYS_prctl};
    switch (below(5)) {
    case 0: return below(NUMBERS);
    case 1: return tasks[below(sizeof tasks / sizeof *tasks)];
    default: return files[below(sizeof files / sizeof *files)];
    }
}

static void act(long calls)
{
    for (long i = 0; i < calls; i++) {
        uint32_t a[6], number = number_of_call();
        for (int k = 0; k < 6; k++)
            a[k] = argument();
        if (below(2)) a[0] = below(10);               /* a descriptor */
        if (below(3) == 0) a[0] = (uint32_t)AT_FDCWD;
        if (below(3) == 0) a[below(2)] = (uint32_t)(uintptr_t)paths[below(sizeof paths / sizeof *paths)];
        fill();
        if (is_left_out(number)) continue;
        long result = syscall((long)number, a[0], a[1], a[2], a[3], a[4], a[5]);
        if (getpid() != self) _exit(0); /* a child that a call made */
        shared[0] = (shared[0] ^ (uint32_t)(result < 0 ? -errno : result)) * 0x100000001b3u;
        shared[1]++;
    }
}

static void set_up(uint32_t seed, int together)
{
    char name[40];
    snprintf(name, sizeof name, together ? "s" : "s%u", seed);
    if ((mkdir(name, 0700) != 0 && !together) || chdir(name) != 0) _exit(9);
    mkdir("d", 0700);
    close(open("a", O_RDWR | O_CREAT, 0600));
    (void)!symlink("../../outside", "out");
    (void)!symlink("a", "link");
    (void)!symlink("loop", "loop");
    (void)!open("a", O_RDWR);
    (void)!open("d", O_RDONLY | O_DIRECTORY);
    (void)!open("out/secret", O_RDONLY);
    setpgid(0, 0);
    self = getpid();
    state = 0x9E3779B97F4A7C15u * (seed + 1ull);
    for (int i = 0; i < 8; i++)
        (void)any();
}

/* How the process ended; after WAIT_MS it is killed. */
static int end_of(pid_t pid)
{
    int status;
    const struct timespec tick = {0, 1000000};
    for (int i = 0; i < WAIT_MS; i++) {
        if (waitpid(pid, &status, WNOHANG) == pid) return status;
        nanosleep(&tick, NULL);
    }
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
    return waitpid(pid, &status, 0) == pid ? -1 : -2;
}

int main(int argc, char **argv)
{
    if (argc < 4) return 2;
    uint32_t first = (uint32_t)strtoul(argv[1], NULL, 10), count = (uint32_t)strtoul(argv[2], NULL, 10);
    int opened = open("results", O_WRONLY | O_CREAT | O_APPEND, 0600);
    FILE *results = fdopen(fcntl(opened, F_DUPFD_CLOEXEC, 200), "a");
    close(opened);
    page = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    page += PAGE;
    munmap(page + PAGE, PAGE);
    for (int s = 1; s <= SIGNALS; s++)
        if (s != SIGCHLD) signal(s, SIG_IGN);
    for (uint32_t seed = first; seed < first + count; seed++) {
        shared[0] = seed;
        shared[1] = 0;
        pid_t pid = fork();
        if (pid == 0) {
            for (int s = 1; s <= SIGNALS; s++)
                signal(s, SIG_DFL);
            close(fileno(results));
            set_up(seed, argc > 4);
            act(strtol(argv[3], NULL, 10));
            _exit(0);
        }
        int status = pid < 0 ? -3 : end_of(pid);
        fprintf(results, "%u %d %08lx %lu\n", seed, status, (unsigned long)(shared[0] ^ shared[0] >> 32) & 0xffffffff, (unsigned long)shared[1]);
        fflush(results);
    }
    return 0;
}
