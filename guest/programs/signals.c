/* Handlers with siginfo, alternate stacks, faults that are survived, masks, alarms. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile int on_alternate;
static char alternate[65536];

static void on_fault(int number, siginfo_t *info, void *context)
{
    char here;
    (void)context;
    on_alternate = &here >= alternate && &here < alternate + sizeof alternate;
    siglongjmp(back, number == SIGSEGV && info->si_addr == (void *)16 ? 1 : 2);
}

static volatile sig_atomic_t ticks;

static void on_alarm(int number)
{
    (void)number;
    ticks++;
}

int main(void)
{
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGILL, &action, NULL);
    sigaction(SIGTRAP, &action, NULL);
    int how = sigsetjmp(back, 1);
    if (how == 0) *(volatile int *)16 = 1;
    printf("fault %d, alternate stack %d\n", how, on_alternate);
    how = sigsetjmp(back, 1);
    if (how == 0) __asm__ volatile(".long 0");
    printf("illegal %d\n", how);
    how = sigsetjmp(back, 1);
    if (how == 0) __asm__ volatile("trap");
    printf("trap %d\n", how);

    sigset_t set, pending;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    signal(SIGUSR2, on_alarm);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR2);
    sigpending(&pending);
    printf("blocked: ticks %d pending %d\n", (int)ticks, sigismember(&pending, SIGUSR2));
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    printf("unblocked: ticks %d\n", (int)ticks);

    signal(SIGALRM, on_alarm);
    struct itimerval timer = {{0, 0}, {0, 2000}};
    setitimer(ITIMER_REAL, &timer, NULL);
    while (ticks < 2)
        pause();
    printf("alarm: ticks %d\n", (int)ticks);
    fflush(stdout);
    raise(SIGTERM);
    return 0;
}
