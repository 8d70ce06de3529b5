/* A program that takes what it can get (tests/cmd/test_walls): `greedy WHAT` asks until it is
 * refused, prints how much it got and the name of the error, and ends with 0.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 100000 };

static int got(long count)
{
    printf("%ld %s\n", count, strerrorname_np(errno));
    return fflush(stdout), 0;
}

static void limit(int resource, rlim_t most)
{
    struct rlimit wanted = {most, most};
    if (setrlimit(resource, &wanted) != 0) exit(9);
}

static int forks(void)
{
    long count = 0;
    pid_t pid;
    while (count < MOST && (pid = fork()) > 0)
        count++;
    if (pid < 0) return got(count);
    while (getppid() != 1)
        usleep(1000);
    _exit(0);
}

static void *sleeper(void *argument)
{
    for (;;)
        pause();
    return argument;
}

static int threads(void)
{
    long count = 0;
    pthread_t thread;
    while (count < MOST && (errno = pthread_create(&thread, NULL, sleeper, NULL)) == 0)
        count++;
    got(count);
    _exit(0);
}

static int maps(int prot, int flags)
{
    long count = 0;
    while (count < MOST && mmap(NULL, 1 << 20, prot, flags | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
        count++;
    return got(count);
}

/* Each hole makes two pieces of one. */
static int holes(void)
{
    enum { SIZE = 512 << 20, PAGE = 4096 };
    char *all = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) return 8;
    long count = 0;
    for (char *at = all; at < all + SIZE; at += 2 * PAGE, count++)
        if (munmap(at, PAGE) != 0) break;
    return got(count);
}

static int heap(void)
{
    long count = 0;
    while (count < MOST && sbrk(1 << 20) != (void *)-1)
        count++;
    return got(count);
}

static int signals(void)
{
    sigset_t set;
    long count = 0;
    sigfillset(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    while (count < MOST && sigqueue(getpid(), SIGRTMIN, (union sigval){0}) == 0)
        count++;
    return got(count);
}

static int timers(void)
{
    long count = 0;
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    while (count < MOST && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
        count++;
    return got(count);
}

static int files(void)
{
    long count = 0;
    struct rlimit all = {4096, 4096};
    setrlimit(RLIMIT_NOFILE, &all);
    while (count < MOST && open("greedy", O_RDONLY) >= 0)
        count++;
    return got(count);
}

static int output(size_t most)
{
    static char bytes[5000];
    long count = 0;
    ssize_t done;
    int fd = open("output", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    signal(SIGXFSZ, SIG_IGN);
    if (most) limit(RLIMIT_FSIZE, most);
    while (count < 100000000 && (done = write(fd, bytes, sizeof bytes)) > 0)
        count += done;
    return got(count);
}

/* Where output goes changes nothing: pwrite is ESPIPE, as on the pipe that fstat shows. */
static int streams(void)
{
    long status = pwrite(1, "x", 1, 0);
    return got(status);
}

static int most_negative(void)
{
    long a = waitpid(INT_MIN, NULL, 0), b = errno == ESRCH, c = kill(INT_MIN, 0);
    return got(a + 10 * b + 100 * c);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int rw = PROT_READ | PROT_WRITE;
    if (strcmp(what, "forks") == 0) return forks();
    if (strcmp(what, "nproc") == 0) return limit(RLIMIT_NPROC, 50), forks();
    if (strcmp(what, "threads") == 0) return threads();
    if (strcmp(what, "maps") == 0) return maps(rw, MAP_PRIVATE);
    if (strcmp(what, "shared") == 0) return maps(rw, MAP_SHARED);
    if (strcmp(what, "reserved") == 0) return maps(PROT_NONE, MAP_PRIVATE);
    if (strcmp(what, "as") == 0) return limit(RLIMIT_AS, 64 << 20), maps(PROT_NONE, MAP_PRIVATE);
    if (strcmp(what, "data") == 0) return limit(RLIMIT_DATA, 64 << 20), maps(rw, MAP_PRIVATE);
    if (strcmp(what, "holes") == 0) return holes();
    if (strcmp(what, "heap") == 0) return heap();
    if (strcmp(what, "signals") == 0) return signals();
    if (strcmp(what, "timers") == 0) return timers();
    if (strcmp(what, "files") == 0) return files();
    if (strcmp(what, "output") == 0) return output(0);
    if (strcmp(what, "fsize") == 0) return output(12000);
    if (strcmp(what, "streams") == 0) return streams();
    if (strcmp(what, "negative") == 0) return most_negative();
    return 2;
}
