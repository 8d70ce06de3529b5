/* Priorities and what else the kernel keeps for a process. With an argument, two processes share a
 * core for 40 ms, one of them NICE nicer (or of the policy SCHED_IDLE, for "idle"), and the parts
 * that they got are printed in thousandths.
 *   priority [NICE]
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void say(const char *what, long result)
{
    printf("%s: %ld%s%s\n", what, result, result < 0 ? " " : "", result < 0 ? strerror(errno) : "");
}

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double spin_until(double end)
{
    for (volatile int i; seconds(CLOCK_MONOTONIC) < end;)
        for (i = 0; i < 300; i++)
            ;
    return seconds(CLOCK_PROCESS_CPUTIME_ID);
}

static int share(const char *how)
{
    cpu_set_t one;
    int result[2];
    double used[2], end = seconds(CLOCK_MONOTONIC) + 0.04;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    if (sched_setaffinity(0, sizeof one, &one) || pipe(result)) return 1;
    double before = seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (!fork()) {
        struct sched_param none = {0};
        if (strcmp(how, "idle") ? nice(atoi(how)) < 0 : sched_setscheduler(0, SCHED_IDLE, &none))
            _exit(1);
        used[1] = spin_until(end);
        _exit(write(result[1], &used[1], sizeof used[1]) < 0);
    }
    used[0] = spin_until(end) - before;
    if (read(result[0], &used[1], sizeof used[1]) < 0) return 1;
    printf("%.0f\n", used[1] / (used[0] + used[1]) * 1000);
    return 0;
}

static volatile sig_atomic_t signals;
static void on_signal(int s)
{
    (void)s;
    signals++;
}

static void keeps(void)
{
    struct sched_param none = {0}, one = {.sched_priority = 1};
    int at_death = 0, status;
    say("priority", getpriority(PRIO_PROCESS, 0));
    say("nice 3", nice(3));
    say("priority", getpriority(PRIO_PROCESS, 0));
    say("lower", setpriority(PRIO_PROCESS, 0, 1));
    say("nice -1", nice(-1));
    say("higher", setpriority(PRIO_PGRP, 0, 100));
    say("priority", getpriority(PRIO_PGRP, 0));
    say("no process", setpriority(PRIO_PROCESS, 4321, 10));
    say("which", getpriority((__priority_which_t)7, 0));
    fflush(stdout);
    if (!fork()) {
        say("the child's", getpriority(PRIO_PROCESS, 0));
        exit(0);
    }
    wait(&status);
    say("batch", sched_setscheduler(0, SCHED_BATCH, &none));
    say("policy", sched_getscheduler(0));
    say("fifo", sched_setscheduler(0, SCHED_FIFO, &one));
    say("idle", sched_setscheduler(0, SCHED_IDLE, &none));
    say("policy", sched_getscheduler(0));
    say("back", sched_setscheduler(0, SCHED_OTHER, &none));
    say("death signal", prctl(PR_SET_PDEATHSIG, SIGUSR1));
    prctl(PR_GET_PDEATHSIG, &at_death);
    say("is", at_death);
    say("dumpable", prctl(PR_GET_DUMPABLE));
    say("not dumpable", prctl(PR_SET_DUMPABLE, 0));
    say("dumpable", prctl(PR_GET_DUMPABLE));
    say("dumpable 2", prctl(PR_SET_DUMPABLE, 2));
    say("rights", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
    say("no new ones", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    say("rights", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
    say("slack", prctl(PR_GET_TIMERSLACK));
    say("set", prctl(PR_SET_TIMERSLACK, 7));
    say("slack", prctl(PR_GET_TIMERSLACK));
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(page + 4096, 4096);
    say("mlock", mlock(page, 4096));
    say("mlock beyond", mlock(page, 8192));
    say("munlock", munlock(page, 4096));
    say("hint", madvise(page, 4096, MADV_WILLNEED));
    say("advice", madvise(page, 4096, 77));
}

/* The middle one of three ends; its child gets the signal that it asked for. */
static void death(void)
{
    int go[2], status;
    char c;
    if (pipe(go)) exit(1);
    fflush(stdout);
    if (!fork()) {
        if (!fork()) {
            struct sigaction action = {.sa_handler = on_signal};
            sigaction(SIGUSR1, &action, NULL);
            prctl(PR_SET_PDEATHSIG, SIGUSR1);
            close(go[0]);
            usleep(200000);
            printf("signals at the parent's end: %d\n", (int)signals);
            exit(0);
        }
        usleep(50000);
        _exit(0);
    }
    close(go[1]);
    wait(&status);
    if (read(go[0], &c, 1) < 0) exit(1); /* the end of the grandchild */
}

int main(int argc, char **argv)
{
    if (argc > 1) return share(argv[1]);
    death();
    keeps();
    return 0;
}
