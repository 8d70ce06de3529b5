/* Locks of files between two processes: every answer is the Linux kernel's (tests/cmd/test_calls
 * compares them with qemu-ppc's, which hands the calls to the host).
 *   locks FILE
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

static int to_child[2], to_parent[2];

static void say(const char *what, int result)
{
    printf("%s: %s\n", what, result >= 0 ? "yes" : strerror(errno));
    fflush(stdout);
}

static void step(int *pipe) /* the other's turn, and back */
{
    char c = 0;
    if (write(pipe[1], &c, 1) != 1) _exit(1);
}

static void await(int *pipe)
{
    char c;
    if (read(pipe[0], &c, 1) != 1) _exit(1);
}

static int lock(int fd, int how, int type, long start, long length)
{
    struct flock l = {
        .l_type = (short)type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
    return fcntl(fd, how, &l);
}

static void show(int fd, int type, long start, long length, int parent)
{
    struct flock l = {
        .l_type = (short)type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
    int result = fcntl(fd, F_GETLK, &l);
    if (l.l_type == F_UNLCK)
        printf("%d free\n", result);
    else
        printf("%d type %d at %ld for %ld of the parent %d\n", result, l.l_type, (long)l.l_start,
               (long)l.l_len, l.l_pid == parent);
    fflush(stdout);
}

static void on_alarm(int s)
{
    (void)s;
}

static void child(const char *path, int inherited)
{
    close(inherited); /* else the description has two users */
    int fd = open(path, O_RDWR), ro = open(path, O_RDONLY), parent = getppid();
    await(to_child); /* the parent has flock */
    say("flock exclusive beside exclusive", flock(fd, LOCK_EX | LOCK_NB));
    say("flock shared beside exclusive", flock(fd, LOCK_SH | LOCK_NB));
    say("records beside flock", lock(fd, F_SETLK, F_WRLCK, 0, 0));
    lock(fd, F_SETLK, F_UNLCK, 0, 0);
    step(to_parent), await(to_child); /* shared now */
    say("flock shared beside shared", flock(fd, LOCK_SH | LOCK_NB));
    say("flock exclusive beside shared", flock(fd, LOCK_EX | LOCK_NB));
    step(to_parent);
    say("flock waits", flock(fd, LOCK_EX));
    flock(fd, LOCK_UN);
    await(to_child); /* the parent has records 10-19 to write, 30-39 to read */
    say("record in front", lock(fd, F_SETLK, F_WRLCK, 0, 10));
    say("record over", lock(fd, F_SETLK, F_WRLCK, 5, 10));
    say("record behind", lock(fd, F_SETLK, F_WRLCK, 20, 10));
    say("record to the end", lock(fd, F_SETLK, F_RDLCK, 35, 0));
    say("record written in what is read", lock(fd, F_SETLK, F_WRLCK, 39, 1));
    say("read without the right", lock(ro, F_SETLK, F_WRLCK, 100, 1));
    show(fd, F_RDLCK, 0, 0, parent);
    show(fd, F_WRLCK, 31, 4, parent);
    show(fd, F_RDLCK, 31, 4, parent);
    step(to_parent), await(to_child); /* it let 12-14 go */
    show(fd, F_WRLCK, 12, 3, parent);
    show(fd, F_WRLCK, 12, 4, parent);
    show(fd, F_WRLCK, 0, 12, parent);
    signal(SIGALRM, on_alarm);
    struct sigaction action = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &action, NULL);
    alarm(1);
    say("a signal ends the wait", lock(fd, F_SETLKW, F_WRLCK, 15, 1));
    say("has 50", lock(fd, F_SETLK, F_WRLCK, 50, 1));
    step(to_parent);
    say("waits for the parent's",
        lock(fd, F_SETLKW, F_WRLCK, 15, 1)); /* until the parent closes another descriptor */
    lock(fd, F_SETLK, F_UNLCK, 0, 0);
    step(to_parent), await(to_child);
    say("description", lock(fd, F_OFD_SETLK, F_WRLCK, 200, 1));
    say("description, elsewhere", lock(fd, F_OFD_SETLK, F_WRLCK, 300, 1));
    _exit(0);
}

int main(int argc, char **argv)
{
    const char *path = argv[argc - 1];
    int fd = open(path, O_RDWR | O_CREAT, 0600), status;
    if (fd < 0 || pipe(to_child) || pipe(to_parent)) return 1;
    if (!fork()) child(path, fd);
    say("flock", flock(fd, LOCK_EX | LOCK_NB));
    step(to_child), await(to_parent);
    say("flock shared", flock(fd, LOCK_SH));
    step(to_child), await(to_parent);
    usleep(100000);
    int copy = dup(fd);
    close(fd);
    usleep(100000);
    puts("parent lets go");
    fflush(stdout);
    close(copy);
    usleep(100000);
    fd = open(path, O_RDWR);
    lock(fd, F_SETLK, F_WRLCK, 10, 5);
    lock(fd, F_SETLK, F_WRLCK, 15, 5);
    lock(fd, F_SETLK, F_RDLCK, 30, 10);
    step(to_child), await(to_parent);
    lock(fd, F_SETLK, F_UNLCK, 12, 3);
    step(to_child), await(to_parent);
    usleep(100000);
    say("a circle", lock(fd, F_SETLKW, F_WRLCK, 50, 1));
    puts("parent closes");
    fflush(stdout);
    close(open(path, O_RDONLY)); /* its record locks end */
    await(to_parent);
    int other = open(path, O_RDWR);
    say("description in the parent", lock(fd, F_OFD_SETLK, F_WRLCK, 200, 1));
    say("description, another of the same process", lock(other, F_OFD_SETLK, F_WRLCK, 200, 1));
    step(to_child);
    wait(&status);
    say("after the child's end", lock(fd, F_SETLK, F_WRLCK, 0, 0));
    printf("wrong: %d\n",
           flock(fd, 7) == -1 && errno == EINVAL && flock(99, LOCK_SH) == -1 && errno == EBADF);
    return status;
}
