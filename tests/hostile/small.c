/* A little of everything, for tests/cmd/test_faults: it ends with 7 when any of it fails. It leaves
 * the file as it found it, because it runs many times from the middle.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(void)
{
    enum { SIZE = 100000, PAGE = 4096 };
    char text[100], *mapped, *block = malloc(SIZE);
    int fd = open("file", O_RDWR | O_CREAT, 0600);
    if (fd < 0 || !block || pwrite(fd, "hello", 5, 0) != 5 || pread(fd, text, 5, 0) != 5) return 7;
    mapped = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) return 7;
    memcpy(mapped, "world", 5);
    if (msync(mapped, PAGE, MS_SYNC) || munmap(mapped, PAGE)) return 7;
    if (pread(fd, text, 5, 0) != 5 || memcmp(text, "world", 5) != 0) return 7;
    if (printf("done\n") < 0 || fflush(stdout)) return 7;
    return close(fd) ? 7 : 0;
}
