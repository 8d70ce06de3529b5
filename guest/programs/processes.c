/* fork, wait, pipes, signals between processes, exec of itself. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t got;

static void on_signal(int number)
{
    got = number;
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        printf("executed with %s\n", argv[1]);
        return 7;
    }
    int ends[2], status;
    if (pipe(ends)) return 1;
    signal(SIGUSR1, on_signal);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        for (int i = 0; i < 5; i++)
            dprintf(ends[1], "message %d\n", i);
        close(ends[1]);
        kill(getppid(), SIGUSR1);
        _exit(3);
    }
    close(ends[1]);
    FILE *in = fdopen(ends[0], "r");
    char line[64];
    while (fgets(line, sizeof line, in))
        printf("from the child: %s", line);
    if (waitpid(child, &status, 0) != child) return 2;
    printf("child exited %d with %d, signal %s\n", WIFEXITED(status), WEXITSTATUS(status),
           got == SIGUSR1 ? "came" : "missing");
    fflush(stdout);
    child = fork();
    if (child == 0) {
        execl(argv[0], argv[0], "again", (char *)NULL);
        _exit(99);
    }
    waitpid(child, &status, 0);
    printf("executed: %d\n", WEXITSTATUS(status));
    fflush(stdout);
    child = fork();
    if (child == 0) {
        volatile int *nowhere = NULL;
        *nowhere = 1;
    }
    waitpid(child, &status, 0);
    printf("killed %d by %d\n", WIFSIGNALED(status), WTERMSIG(status));
    return 0;
}
