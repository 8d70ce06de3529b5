/* Injects faults: linked into the program with --wrap (Makefile, chiliad-faults), it makes calls of
 * the host fail, one at a time.
 *
 * At each call of a wrapped function the process forks. In the copy that call fails, and the copy
 * goes on to its end; the process itself waits for it, judges how it ended, and goes on as if
 * nothing had happened. So one run of a command tries all its faults, each from the state in which
 * it comes. A copy injects no second fault, unless CHILIAD_FAULT_ALL is set: then every later call
 * of the function fails, too, as on a full disk.
 *
 * A copy has ended well when it
 *   - was not killed by a signal, and no sanitizer reported anything (exit status 99);
 *   - ended with 0, and the output is the reference, byte for byte: nothing is lost unnoticed; or
 *   - ended with another status, with a line on standard error, and left no output.
 *
 *   CHILIAD_FAULT_STEP, _FIRST   every STEP-th call, from FIRST on, fails (1, 0),
 *                                and each of fflush, linkat and renameat
 *   CHILIAD_FAULT_OUTPUT         the output of the command; it is removed after each copy
 *   CHILIAD_FAULT_REFERENCE      what it has to be
 *   CHILIAD_FAULT_LOG            a line for each copy that did not end well, and the number of
 * copies
 *
 * The program needs one thread (--engine interp) and may fork (--no-sandbox).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SANITIZED = 99, STATUS_GUEST_MOST = 7, STATUS_FIRST = 123, STATUS_LAST = 127, LINE = 300 };

extern const char __executable_start[]; /* of the linker: addresses are given from here */

static long calls, copies, bad, step = -1, first;
static bool in_copy, busy, all;
static const char *failing; /* in a copy: the function that fails */

static const char *get(const char *name)
{
    const char *text = getenv(name);
    return text ? text : "";
}

static void log_line(const char *format, ...)
{
    char line[LINE];
    va_list args;
    int fd = open(get("CHILIAD_FAULT_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    va_start(args, format);
    int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (fd >= 0 && length > 0) (void)!write(fd, line, (size_t)length);
    if (fd >= 0) (void)close(fd);
}

/* Whether two files have the same bytes. */
static bool is_same(const char *a, const char *b)
{
    char x[4096], y[4096];
    int one = open(a, O_RDONLY | O_CLOEXEC), other = open(b, O_RDONLY | O_CLOEXEC);
    bool same = one >= 0 && other >= 0;
    for (ssize_t got = 1; same && got > 0;) {
        got = read(one, x, sizeof x);
        same = read(other, y, sizeof y) == got && (got <= 0 || memcmp(x, y, (size_t)got) == 0);
    }
    if (one >= 0) (void)close(one);
    if (other >= 0) (void)close(other);
    return same;
}

static const char *wrong_with(int how, const char *errors, bool written)
{
    const char *output = get("CHILIAD_FAULT_OUTPUT");
    int status = WIFEXITED(how) ? WEXITSTATUS(how) : -1;
    if (status < 0) return "was killed by a signal";
    if (status == SANITIZED) return "has a report of a sanitizer";
    if (status == 0)
        return is_same(output, get("CHILIAD_FAULT_REFERENCE")) ? NULL
                                                               : "ended with 0, without the result";
    if (!written && access(output, F_OK) == 0 && status >= STATUS_FIRST && status <= STATUS_LAST)
        return "failed, and left an output";
    if (status > STATUS_GUEST_MOST && (status < STATUS_FIRST || status > STATUS_LAST) &&
        status != 139)
        return "has a status that is not Chiliad's";
    return lseek(STDERR_FILENO, 0, SEEK_CUR) >= 0 && access(errors, F_OK) != 0 ? "said nothing"
                                                                               : NULL;
}

static void judge(const char *function, const char *caller, long number, pid_t pid, bool written)
{
    char errors[LINE];
    int how = 0;
    (void)snprintf(errors, sizeof errors, "%s.err", get("CHILIAD_FAULT_LOG"));
    while (waitpid(pid, &how, 0) < 0 && errno == EINTR)
        ;
    const char *wrong = wrong_with(how, errors, written);
    copies++;
    if (wrong) {
        bad++;
        log_line("call %ld, %s at %#tx: the command %s (%d)\n", number, function,
                 caller - __executable_start, wrong, how);
        (void)snprintf(errors + strlen(errors), sizeof errors - strlen(errors), ".%ld", number);
        char from[LINE];
        (void)snprintf(from, sizeof from, "%s.err", get("CHILIAD_FAULT_LOG"));
        (void)rename(from, errors);
    }
    if (!written) (void)unlink(get("CHILIAD_FAULT_OUTPUT"));
}

static void report(void)
{
    busy = true;
    if (!in_copy) log_line("%ld faults in %ld calls, %ld bad\n", copies, calls, bad);
}

static void begin(void)
{
    step = strtol(get("CHILIAD_FAULT_STEP"), NULL, 10);
    first = strtol(get("CHILIAD_FAULT_FIRST"), NULL, 10);
    all = *get("CHILIAD_FAULT_ALL");
    if (step > 0) (void)atexit(report);
}

/* Whether it is an output without a name yet, and no memory file. */
static bool is_output(int fd, struct stat *status)
{
    char name[LINE], link[40];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, name, sizeof name);
    return length >= 7 && memcmp(name, "/memfd:", 7) != 0 && fstat(fd, status) == 0 &&
           S_ISREG(status->st_mode) && !status->st_nlink;
}

/* A file without a name that has the bytes and the offset of another one. */
static int copy_of(int fd)
{
    char link[40], bytes[4096];
    ssize_t got;
    off_t at = 0;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int own = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666),
        from = open(link, O_RDONLY | O_CLOEXEC);
    if (own < 0 || from < 0) abort();
    for (; (got = pread(from, bytes, sizeof bytes, at)) > 0; at += got)
        if (pwrite(own, bytes, (size_t)got, at) != got) abort();
    if (lseek(own, lseek(fd, 0, SEEK_CUR), SEEK_SET) < 0) abort();
    (void)close(from);
    return own;
}

/* An output has no name until it is complete, and the copy would write into that of the process: it
 * gets one of its own. Descriptors of one file stay descriptors of one file. */
static void own_files(void)
{
    enum { MOST = 64 };
    struct stat status;
    ino_t known[MOST] = {0};
    for (int fd = STDERR_FILENO + 1; fd < MOST; fd++)
        if (is_output(fd, &status)) known[fd] = status.st_ino;
    for (int fd = 0; fd < MOST; fd++) {
        if (!known[fd]) continue;
        int own = copy_of(fd);
        for (int other = MOST - 1; other >= fd; other--)
            if (known[other] == known[fd]) {
                if (dup3(own, other, O_CLOEXEC) != other) abort();
                if (other != fd) known[other] = 0;
            }
        (void)close(own);
    }
}

/* The errors of a copy go to a file of their own. */
static void become_copy(const char *function)
{
    char errors[LINE];
    (void)snprintf(errors, sizeof errors, "%s.err", get("CHILIAD_FAULT_LOG"));
    int fd = open(errors, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (fd >= 0) (void)dup2(fd, STDERR_FILENO);
    own_files();
    in_copy = true;
    failing = function;
}

/* These calls are few, and the last that can notice that an output is not whole. */
static bool ends_output(const char *function)
{
    return strcmp(function, "fflush") == 0 || strcmp(function, "linkat") == 0 ||
           strcmp(function, "renameat") == 0;
}

/* Whether this call fails: true in a copy, once. */
static bool fails(const char *function, const char *caller)
{
    if (busy) return false;
    if (in_copy) return all && strcmp(function, failing) == 0;
    busy = true;
    if (step < 0) begin();
    long number = calls++;
    bool result = false;
    if (step > 0 && (number % step == first || ends_output(function))) {
        int before = errno;
        bool written = access(get("CHILIAD_FAULT_OUTPUT"), F_OK) == 0; /* the command is done */
        pid_t pid = fork();
        if (pid == 0) {
            become_copy(function);
            result = true;
        } else if (pid > 0) {
            judge(function, caller, number, pid, written);
        }
        errno = before;
    }
    busy = false;
    return result;
}

/* --- The functions --------------------------------------------------------------------------- */

#define WRAP(TYPE, NAME, ARGUMENTS, VALUES, ERROR, FAILED)                                         \
    TYPE __real_##NAME ARGUMENTS;                                                                  \
    TYPE __wrap_##NAME ARGUMENTS;                                                                  \
    TYPE __wrap_##NAME ARGUMENTS                                                                   \
    {                                                                                              \
        if (!fails(#NAME, __builtin_return_address(0))) return __real_##NAME VALUES;               \
        errno = ERROR;                                                                             \
        return FAILED;                                                                             \
    }

WRAP(void *, malloc, (size_t size), (size), ENOMEM, NULL)
WRAP(void *, calloc, (size_t count, size_t size), (count, size), ENOMEM, NULL)
WRAP(void *, realloc, (void *old, size_t size), (old, size), ENOMEM, NULL)
WRAP(void *, reallocarray, (void *old, size_t count, size_t size), (old, count, size), ENOMEM, NULL)
WRAP(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size), ENOMEM, NULL)
WRAP(char *, strdup, (const char *text), (text), ENOMEM, NULL)
WRAP(char *, strndup, (const char *text, size_t size), (text, size), ENOMEM, NULL)
WRAP(FILE *, open_memstream, (char **text, size_t *size), (text, size), ENOMEM, NULL)
WRAP(FILE *, fopen, (const char *path, const char *mode), (path, mode), EMFILE, NULL)
WRAP(FILE *, fdopen, (int fd, const char *mode), (fd, mode), ENOMEM, NULL)
WRAP(ssize_t, read, (int fd, void *bytes, size_t count), (fd, bytes, count), EIO, -1)
WRAP(ssize_t, pread, (int fd, void *bytes, size_t count, off_t at), (fd, bytes, count, at), EIO, -1)
WRAP(ssize_t, write, (int fd, const void *bytes, size_t count), (fd, bytes, count), ENOSPC, -1)
WRAP(ssize_t, pwrite, (int fd, const void *bytes, size_t count, off_t at), (fd, bytes, count, at),
     ENOSPC, -1)
WRAP(void *, mmap, (void *at, size_t size, int prot, int flags, int fd, off_t offset),
     (at, size, prot, flags, fd, offset), ENOMEM, MAP_FAILED)
WRAP(int, mprotect, (void *at, size_t size, int prot), (at, size, prot), ENOMEM, -1)
WRAP(int, memfd_create, (const char *name, unsigned flags), (name, flags), EMFILE, -1)
WRAP(int, ftruncate, (int fd, off_t size), (fd, size), ENOSPC, -1)
WRAP(int, fsync, (int fd), (fd), EIO, -1)
WRAP(int, fchmod, (int fd, mode_t mode), (fd, mode), EPERM, -1)
WRAP(int, dup, (int fd), (fd), EMFILE, -1)
WRAP(int, linkat, (int from, const char *name, int to, const char *other, int flags),
     (from, name, to, other, flags), ENOSPC, -1)
WRAP(int, renameat, (int from, const char *name, int to, const char *other),
     (from, name, to, other), ENOSPC, -1)

/* Fails as on a full disk: glibc drops what it has buffered, and fclose succeeds later. */
int __real_fflush(FILE *file);
int __wrap_fflush(FILE *file);
int __wrap_fflush(FILE *file)
{
    if (!fails("fflush", __builtin_return_address(0))) return __real_fflush(file);
    int fd = file ? fileno(file) : -1, own = fd < 0 ? -1 : dup(fd),
        full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (own >= 0) {
        if (full < 0 || dup2(full, fd) != fd) abort();
        (void)__real_fflush(file);
        if (dup2(own, fd) != fd) abort();
        (void)close(own);
    }
    if (full >= 0) (void)close(full);
    errno = ENOSPC;
    return EOF;
}

/* The mode is an int for the caller, and always there for the callee. */
int __real_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, mode_t mode)
{
    if (!fails("open", __builtin_return_address(0))) return __real_open(path, flags, mode);
    errno = EMFILE;
    return -1;
}

int __real_openat(int folder, const char *path, int flags, mode_t mode);
int __wrap_openat(int folder, const char *path, int flags, mode_t mode);
int __wrap_openat(int folder, const char *path, int flags, mode_t mode)
{
    if (!fails("openat", __builtin_return_address(0)))
        return __real_openat(folder, path, flags, mode);
    errno = EMFILE;
    return -1;
}
