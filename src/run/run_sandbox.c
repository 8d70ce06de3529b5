/* The second wall: what the kernel takes from the simulator before a guest runs.
 *
 * Files: Landlock, from its second version on (the first refuses every rename from folder to
 * folder). Rules are folders, held when the wall is entered. Writing is allowed where the rules of
 * the run allow it to guests (os_file_rules.c), and in the folders of outputs. Landlock knows no
 * chmod, utimes and stat: for these there is the first wall alone.
 *
 * System calls: seccomp, through libseccomp. The list below is what the simulator, its libraries
 * and the C library need; what is not in it fails with ENOSYS, so a C library that tries a newer
 * call goes on with an older one. The filter is a binary tree of a few comparisons, and the
 * kernel's switch to slower speculation (SSBD), which seccomp turned on before Linux 5.16, stays
 * off: guests run at the same speed.
 *
 * Sanitizers look at the process with calls of their own (ptrace, /proc), so builds with them have
 * a longer list. Neither wall can be left again. Threads that exist already keep their rights for
 * files, so the wall is entered before a run is made.
 */
#include "chiliad/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined __SANITIZE_ADDRESS__ || __has_feature(address_sanitizer)
enum { IS_SANITIZED = 1 };
#else
enum { IS_SANITIZED = 0 };
#endif

/* --- Files ----------------------------------------------------------------------------------- */

#ifdef SYS_landlock_create_ruleset

/* Versions of Landlock, and what they brought; headers of Debian 12 know the first two. */
#define FS_ALL_V2    ((UINT64_C(1) << 14) - 1)
#define FS_TRUNCATE  (UINT64_C(1) << 14) /* 3 */
#define FS_IOCTL_DEV (UINT64_C(1) << 15) /* 5 */
#define NET_TCP      UINT64_C(3)         /* 4: bind and connect */
#define SCOPES       UINT64_C(3)         /* 6: abstract sockets, signals */
#define FS_NEVER                                                                                   \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK |   \
     LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | FS_IOCTL_DEV)
#define FS_READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define FS_OF_FILES                                                                                \
    (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)

enum { WITH_REFER = 2, WITH_TRUNCATE = 3, WITH_NET = 4, WITH_IOCTL = 5, WITH_SCOPES = 6 };

struct ruleset_attributes {
    uint64_t fs, net, scoped;
};

struct ruleset {
    int fd;
    uint64_t handled;
};

static void allow(const struct ruleset *set, const char *path, uint64_t rights)
{
    struct stat status;
    struct landlock_path_beneath_attr rule = {.parent_fd = open(path, O_PATH | O_CLOEXEC)};
    if (rule.parent_fd < 0) return;
    rule.allowed_access = rights & set->handled;
    if (fstat(rule.parent_fd, &status) == 0 && !S_ISDIR(status.st_mode))
        rule.allowed_access &= FS_OF_FILES;
    if (rule.allowed_access)
        (void)syscall(SYS_landlock_add_rule, set->fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    (void)close(rule.parent_fd);
}

static void allow_folder_of(const struct ruleset *set, const char *path, uint64_t rights)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : NULL;
    if (!slash || folder) allow(set, folder ? folder : ".", rights);
    free(folder);
}

static void allow_reading(const struct ruleset *set, const struct chil_sandbox_options *o)
{
    static const char *const usual[] = {"/usr/powerpc-linux-gnu", "/usr/lib/debug"};
    static const char *const sanitized[] = {"/proc", "/sys/devices/system/cpu", "/usr", "/lib"};
    if (!o->root) allow(set, "/", FS_READ);
    if (o->root) allow(set, o->root, FS_READ);
    for (size_t i = 0; o->root && i < sizeof usual / sizeof *usual; i++)
        allow(set, usual[i], FS_READ);
    for (size_t i = 0; IS_SANITIZED && i < sizeof sanitized / sizeof *sanitized; i++)
        allow(set, sanitized[i], FS_READ);
    for (size_t i = 0; i < o->read_count; i++)
        allow(set, o->read[i], FS_READ);
}

static int enter_landlock(const struct chil_sandbox_options *o)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < WITH_REFER) return 0;
    struct ruleset_attributes all = {.fs = FS_ALL_V2};
    size_t size = sizeof all.fs;
    if (version >= WITH_TRUNCATE) all.fs |= FS_TRUNCATE;
    if (version >= WITH_IOCTL) all.fs |= FS_IOCTL_DEV;
    if (version >= WITH_NET) size += sizeof all.net;
    if (version >= WITH_NET && o->sockets != CHIL_SANDBOX_USES) all.net = NET_TCP;
    if (version >= WITH_SCOPES) size += sizeof all.scoped;
    if (version >= WITH_SCOPES && o->sockets != CHIL_SANDBOX_USES) all.scoped = SCOPES;
    struct ruleset set = {.fd = (int)syscall(SYS_landlock_create_ruleset, &all, size, 0),
                          .handled = all.fs};
    if (set.fd < 0) return 0;
    allow_reading(&set, o);
    for (size_t i = 0; i < o->write_count; i++)
        allow(&set, o->write[i], all.fs & ~FS_NEVER);
    for (size_t i = 0; i < o->output_count; i++)
        allow_folder_of(&set, o->outputs[i], all.fs & ~FS_NEVER);
    allow(&set, "/dev/null", LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE);
    bool good = syscall(SYS_landlock_restrict_self, set.fd, 0) == 0;
    (void)close(set.fd);
    return good ? (int)version : 0;
}

#else
static int enter_landlock(const struct chil_sandbox_options *o)
{
    (void)o;
    return 0;
}
#endif

/* --- System calls ---------------------------------------------------------------------------- */

/* Names, because not every architecture has every call. */
static const char *const usual_calls[] = {
    /* files */
    "read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev", "preadv2",
    "pwritev2", "open", "openat", "openat2", "close", "close_range", "stat", "fstat", "lstat",
    "newfstatat", "fstatat64", "statx", "statfs", "fstatfs", "access", "faccessat", "faccessat2",
    "readlink", "readlinkat", "lseek", "_llseek", "getdents64", "dup", "dup2", "dup3", "pipe",
    "pipe2", "fcntl", "fcntl64", "flock", "fsync", "fdatasync", "ftruncate", "truncate",
    "fallocate", "fadvise64", "copy_file_range", "sendfile", "mkdir", "mkdirat", "unlink",
    "unlinkat", "rmdir", "rename", "renameat", "renameat2", "link", "linkat", "symlink",
    "symlinkat", "chmod", "fchmod", "fchmodat", "fchmodat2", "utimensat", "umask", "getcwd",
    /* memory */
    "mmap", "mmap2", "munmap", "mremap", "mprotect", "madvise", "msync", "mincore", "brk",
    "memfd_create", "membarrier",
    /* threads and signals of this process */
    "futex", "futex_waitv", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending",
    "rt_sigtimedwait", "rt_sigsuspend", "sigaltstack", "pause", "exit", "exit_group",
    "set_robust_list", "get_robust_list", "set_tid_address", "rseq", "arch_prctl", "sched_yield",
    "sched_getaffinity", "sched_setaffinity", "restart_syscall", "getpid", "gettid", "getppid",
    "getuid", "geteuid", "getgid", "getegid", "getgroups",
    /* time and waiting */
    "clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep", "gettimeofday", "time",
    "times", "setitimer", "getitimer", "poll", "ppoll", "select", "pselect6", "epoll_create",
    "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "eventfd2", "timerfd_create",
    "timerfd_settime",
    /* the rest */
    "getrusage", "getrlimit", "sysinfo", "uname", "getcpu", "getrandom"};

/* On sockets that are there: standard streams, and what a server was given. */
static const char *const serving_calls[] = {
    "accept",   "accept4",  "recvfrom",    "recvmsg",     "recvmmsg",   "sendto",     "sendmsg",
    "sendmmsg", "shutdown", "getsockname", "getpeername", "getsockopt", "setsockopt",
};
static const char *const socket_calls[] = {
    "socket",
    "socketpair",
    "connect",
    "bind",
    "listen",
    "shmget",
    "shmat",
    "shmdt",
    "shmctl",
    "get_mempolicy",
    "getpriority",
    "sched_getparam",
    "sched_getscheduler",
    "getresuid",
    "getresgid",
};
static const char *const fork_calls[] = {"clone", "fork", "wait4", "waitid", "kill"};
static const char *const sanitizer_calls[] = {
    "ptrace",   "wait4",       "waitid",         "kill",
    "tkill",    "clone",       "clone3",         "process_vm_readv",
    "getdents", "personality", "sched_getparam", "sched_getscheduler",
    "prctl",    "prlimit64",
};

#define ADD_NAMES(FILTER, NAMES) add_names(FILTER, NAMES, sizeof(NAMES) / sizeof *(NAMES))

static bool add_names(scmp_filter_ctx filter, const char *const *names, size_t count)
{
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        int number = seccomp_syscall_resolve_name(names[i]);
        if (number >= 0 && seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0) != 0) good = false;
    }
    return good;
}

/* When these bits of an argument have that value. */
static bool add_when(scmp_filter_ctx filter, const char *name, unsigned argument, uint32_t bits,
                     uint32_t value)
{
    int number = seccomp_syscall_resolve_name(name);
    const struct scmp_arg_cmp when = {
        .arg = argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = bits, .datum_b = value};
    return number < 0 || seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, number, 1, &when) == 0;
}

/* Calls that are allowed for some arguments. clone makes threads only; clone3, whose arguments a
 * filter cannot see, is not there, and the C library then uses clone. */
static bool add_conditions(scmp_filter_ctx filter)
{
    static const unsigned requests[] = {TCGETS, TIOCGWINSZ, FIONREAD};
    bool good = true;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        good &= add_when(filter, "ioctl", 1, UINT32_MAX, requests[i]);
    if (IS_SANITIZED) return good && ADD_NAMES(filter, sanitizer_calls);
    uint32_t own = (uint32_t)getpid();
    return good && add_when(filter, "clone", 0, CLONE_THREAD, CLONE_THREAD) &&
           add_when(filter, "tgkill", 0, UINT32_MAX, own) &&
           add_when(filter, "kill", 0, UINT32_MAX, own) &&
           add_when(filter, "prctl", 0, UINT32_MAX, PR_SET_NAME) &&
           add_when(filter, "prlimit64", 0, UINT32_MAX, 0);
}

static bool add_rules(scmp_filter_ctx filter, const struct chil_sandbox_options *o)
{
    bool good = ADD_NAMES(filter, usual_calls) && ADD_NAMES(filter, serving_calls) &&
                add_conditions(filter);
    if (IS_SANITIZED) good = good && add_names(filter, (const char *const[]){"tgkill"}, 1);
    if (o->forks) good = good && ADD_NAMES(filter, fork_calls);
    if (o->sockets == CHIL_SANDBOX_USES) good = good && ADD_NAMES(filter, socket_calls);
    return good;
}

static bool enter_seccomp(const struct chil_sandbox_options *o)
{
    enum { BINARY_TREE = 2 };
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
    if (!filter) return false;
    (void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, BINARY_TREE);
    (void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_SSB, 1);
    (void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    bool good = add_rules(filter, o) && seccomp_load(filter) == 0;
    seccomp_release(filter);
    return good;
}

/* --- Both ------------------------------------------------------------------------------------ */

struct chil_sandbox_state chil_sandbox_enter(const struct chil_sandbox_options *options)
{
    struct chil_sandbox_state state = {0};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return state;
    state.files = enter_landlock(options);
    state.system_calls = enter_seccomp(options);
    return state;
}

void chil_sandbox_text(struct chil_sandbox_state state, char *text, size_t size)
{
    char files[60] = "files by no one (the kernel has no Landlock 2)";
    if (state.files) (void)snprintf(files, sizeof files, "files by Landlock %d", state.files);
    (void)snprintf(text, size, "%s, system calls by %s", files,
                   state.system_calls ? "seccomp" : "no one (the kernel has no seccomp)");
}
