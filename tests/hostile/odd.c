/* Calls that succeeded without effect, or failed where Linux does not (tests/cmd/test_hostile):
 * each prints its name and what came of it. Ends with 0.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void show(const char *what, long result)
{
    printf("%s %s\n", what, result < 0 ? strerrorname_np(errno) : "ok");
}

/* O_TRUNC cuts what may be changed, and is refused elsewhere, also through /proc/self/fd. */
static void cut(void)
{
    char name[40];
    struct stat status;
    int fd = open("cut", O_RDWR | O_CREAT | O_TRUNC, 0600);
    show("write", write(fd, "hello", 5));
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    show("cut own", open(name, O_RDONLY | O_TRUNC));
    fstat(fd, &status);
    printf("size %ld\n", (long)status.st_size);
    fd = open("cut", O_RDONLY);
    show("write again", truncate("cut", 7));
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    show("cut read-only", open(name, O_RDONLY | O_TRUNC));
    fstat(fd, &status);
    printf("size %ld\n", (long)status.st_size);
    fd = open("../outside/secret", O_RDONLY);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    show("cut outside", open(name, O_RDONLY | O_TRUNC));
    show("cut stdout", open("/dev/stdout", O_WRONLY | O_TRUNC | O_CREAT, 0600));
}

static void owners(void)
{
    int outside = open("../outside/secret", O_RDONLY), own = open("cut", O_RDONLY);
    show("chown outside", chown("../outside/secret", -1, -1));
    show("lchown outside", lchown("../outside/secret", getuid(), getgid()));
    show("fchown outside", fchown(outside, -1, -1));
    show("chown own", chown("cut", getuid(), -1));
    show("fchown own", fchown(own, -1, getgid()));
    show("chown away", chown("cut", 12345, -1));
}

/* Mappings until one is refused: what was written to the others is in the file. */
static int map(void)
{
    enum { MOST = 3000, PAGE = 4096 };
    int fd = open("mapped", O_RDWR | O_CREAT | O_TRUNC, 0600), count = 0;
    if (ftruncate(fd, MOST * PAGE) != 0) return 1;
    for (; count < MOST; count++) {
        char *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)count * PAGE);
        if (at == MAP_FAILED) break;
        *at = 'x';
    }
    printf("%d\n", count);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "again") == 0) return puts("again") < 0;
    if (argc > 1 && strcmp(argv[1], "map") == 0) return map();
    if (argc > 1 && strcmp(argv[1], "exec") == 0) {
        char name[40];
        snprintf(name, sizeof name, argc > 2 ? "/proc/self/fd/%d" : "/proc/self/exe",
                 open("/proc/self/exe", O_RDONLY));
        execl(name, "odd", "again", (char *)NULL);
        return errno;
    }
    cut();
    owners();
    return 0;
}
