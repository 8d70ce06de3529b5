/* A hostile program that changes its own file while it runs (tests/cmd/test_walls).
 *
 *   self ACT [crash]   ACT: cut, makes it 100 bytes long; zero, puts a link to /dev/zero in its
 *                      place; fifo, one to ../outside/fifo. Then it works a little and ends, or
 *                      crashes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile int sum;

static __attribute__((noinline)) void work(int n)
{
    for (int i = 0; i < n; i++)
        sum += i;
}

static int act(const char *how)
{
    if (strcmp(how, "cut") == 0) return truncate("self", 100);
    if (unlink("self") != 0) return -1;
    return symlink(strcmp(how, "zero") == 0 ? "/dev/zero" : "../outside/fifo", "self");
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    work(100);
    if (strcmp(argv[1], "nothing") != 0 && act(argv[1]) != 0) return 3;
    work(1000);
    if (argc > 2) *(volatile int *)0 = 0;
    return 0;
}
