/* Adds 1 to the number in a file, COUNT times, each time under a lock: "record", "flock" or "none".
 * Processes of one node or of many that do so together add up only if the lock keeps them apart.
 *   tally FILE LOCK COUNT
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

static int hold(int fd, const char *how, int on)
{
    struct flock record = {.l_type = on ? F_WRLCK : F_UNLCK, .l_whence = SEEK_SET};
    if (!strcmp(how, "record")) return fcntl(fd, F_SETLKW, &record);
    return strcmp(how, "flock") ? 0 : flock(fd, on ? LOCK_EX : LOCK_UN);
}

static int add(const char *path, const char *how, int count)
{
    int fd = open(path, O_RDWR | O_CREAT, 0600), value;
    while (count--) {
        if (hold(fd, how, 1)) return 1;
        value = 0;
        if (pread(fd, &value, sizeof value, 0) < 0) return 1;
        for (volatile int i = 0; i < 1000; i++)
            ;
        value++;
        if (pwrite(fd, &value, sizeof value, 0) != sizeof value || hold(fd, how, 0)) return 1;
    }
    return 0; /* the file is closed by the end */
}

int main(int argc, char **argv)
{
    int status = 1;
    if (argc < 4) return 2;
    int child = fork();
    int wrong = add(argv[1], argv[2], atoi(argv[3]));
    if (child) wait(&status);
    return wrong || (child && status);
}
