/* execve: what cannot be run and why, and a script whose first line names this program. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void try(const char *path)
{
    fflush(stdout);
    if (fork() == 0) {
        execl(path, path, "argument", (char *)NULL);
        printf("%s: %s\n", path, strerror(errno));
        fflush(stdout);
        _exit(1);
    }
    wait(NULL);
}

int main(int argc, char **argv)
{
    if (argc > 2) {
        printf("%s %s %s\n", argv[1], argv[2], argc > 3 ? argv[3] : "");
        return 0;
    }
    try("./missing");
    try(".");
    try("./text");
    try("./forbidden");
    try("./script");
    return 0;
}
