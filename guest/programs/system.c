/* What the operating system does, N times: system KIND N. tests/cmd/test_system takes differences of
 * two runs, so what start and end of the program cost drops out. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, MOST = 64 };

static volatile sig_atomic_t handled;

static void on_signal(int signal)
{
    (void)signal;
    handled++;
}

static void calls(int n)
{
    for (int i = 0; i < n; i++)
        syscall(SYS_getppid);
}

/* A page is touched twice: a fault at the first touch only. */
static void pages(int n)
{
    volatile char *memory = mmap(NULL, MOST * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < n; i++) {
        memory[i * PAGE] = 1;
        memory[i * PAGE + PAGE - 1] = 1;
    }
}

static void signals(int n)
{
    signal(SIGUSR1, on_signal);
    signal(SIGUSR2, SIG_IGN);
    for (int i = 0; i < n; i++) {
        raise(SIGUSR1);
        raise(SIGUSR2);
    }
}

static void forks(int n)
{
    for (int i = 0; i < n; i++) {
        if (fork() == 0) _exit(0);
        wait(NULL);
    }
}

static void *nothing(void *argument)
{
    return argument;
}

static void threads(int n)
{
    for (int i = 0; i < n; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, nothing, NULL)) exit(1);
        pthread_join(thread, NULL);
    }
}

/* A byte goes to another process and back: on one core, two switches. */
static void rounds(int n)
{
    int there[2], back[2];
    char byte = 0;
    if (pipe(there) || pipe(back)) exit(1);
    if (fork() == 0) {
        for (int i = 0; i < n; i++)
            if (read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1) _exit(1);
        _exit(0);
    }
    for (int i = 0; i < n; i++)
        if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1) exit(1);
    wait(NULL);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(int n);
    } kinds[] = {{"calls", calls}, {"pages", pages},     {"signals", signals},
                 {"forks", forks}, {"threads", threads}, {"rounds", rounds}};
    for (size_t i = 0; argc == 3 && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(argv[1], kinds[i].name) == 0) {
            kinds[i].run(atoi(argv[2]));
            return 0;
        }
    return 2;
}
