/* A hostile program that runs several times in one folder (tests/cmd/test_walls). Some runs
 * exchange names for links that lead out, others use those names meanwhile: none may change or,
 * with --root, read anything outside.
 *
 *   race exchange N    until `stop` is there, at most N times: `a` (a file) <-> `a.out` (a link to
 *                      ../outside/secret), and `d` (a folder) <-> `d.out` (a link to ../outside)
 *   race use N [root]  N times each: what can be done to `a` and to names in `d`. With `root` it
 *                      ends with status 7 when anything of outside could be seen.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { EXCHANGE = 2, SEEN = 7, TRIES = 10, EACH = 64 };

static void exchange(const char *one, const char *other)
{
    (void)syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, other, EXCHANGE);
}

static int see(const char *path)
{
    char text[16] = "";
    struct stat status;
    int fd = open(path, O_RDONLY);
    if (fd >= 0) {
        (void)!read(fd, text, sizeof text - 1);
        close(fd);
    }
    if (strncmp(text, "secret", 6) == 0) return 1;
    return stat(path, &status) == 0 && status.st_size == 6;
}

static void change(const char *path)
{
    const struct timespec times[2] = {{1, 0}, {1, 0}};
    int fd;
    for (int i = 0; i < TRIES; i++) {
        (void)chmod(path, 0777);
        (void)truncate(path, 3);
        (void)utimensat(AT_FDCWD, path, times, 0);
    }
    if ((fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666)) >= 0) {
        (void)!write(fd, "x", 1);
        (void)fchmod(fd, 0777);
        close(fd);
    }
    if ((fd = open(path, O_RDONLY | O_TRUNC)) >= 0) close(fd);
    (void)linkat(AT_FDCWD, path, AT_FDCWD, "taken", AT_SYMLINK_FOLLOW);
    (void)chmod("taken", 0777);
    (void)truncate("taken", 0);
    (void)unlink("taken");
}

static void change_names(void)
{
    (void)unlink("d/secret");
    (void)mkdir("d/new", 0777);
    (void)rmdir("d/new");
    (void)symlink("x", "d/link");
    (void)unlink("d/link");
    (void)rename("d/secret", "stolen");
    (void)rename("stolen", "d/brought");
    (void)unlink("d/brought");
    (void)link("a", "d/linked");
    (void)unlink("d/linked");
    if (chdir("d") == 0) {
        int fd = open("secret", O_WRONLY | O_CREAT, 0666);
        if (fd >= 0) close(fd);
        (void)chmod("secret", 0777);
        (void)mkdir("new", 0777);
        (void)rmdir("new");
        (void)chdir("/work"); /* with --root */
        (void)chdir("..");
    }
}

int main(int argc, char **argv)
{
    long times = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    int seen = 0;
    char home[4096];
    if (!getcwd(home, sizeof home)) return 1;
    for (long i = 0; i < times; i++) {
        if (strcmp(argv[1], "exchange") == 0) {
            exchange("a", "a.out");
            exchange("d", "d.out");
            if (i % EACH == 0 && access("stop", F_OK) == 0) break;
            continue;
        }
        change("a");
        change("d/secret");
        change_names();
        (void)chdir(home);
        if (argc > 3) seen += see("a") + see("d/secret") + (access("d/only", F_OK) == 0);
    }
    return seen ? SEEN : 0;
}
