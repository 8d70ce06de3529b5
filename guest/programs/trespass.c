/* The assertion of the monitor's paper, section 4.3, by the program itself: pages with a tag belong to core 0; the bins
 * of that tag with any other sender are preset to all ones, so that one event interrupts. The interrupt is a SIGIO for
 * the thread that trespasses, right behind the instruction; its handler reads the bin from the overflow queue. Prints
 * sender, tag and how far behind the start of `trespass` it was caught; the exit status counts what is wrong. */
#include <chiliad/monitor.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>

enum { BYTES = 1 << 14, TAG = 5, SENDERS = 4, NIP = 32 };
/* Fields from the highest: category, sender (two), tag, the highest of the size. */
static const uint32_t category_sender_tag_size = 0xF80, layout = 0xB98A7;

static volatile char own[BYTES] __attribute__((aligned(4096)));
static volatile char others[BYTES] __attribute__((aligned(4096)));
static volatile uint32_t caught, bin = UINT32_MAX, at, wrong;

__attribute__((noinline)) static int walk(volatile char *bytes)
{
    int sum = 0;
    for (int i = 0; i < BYTES; i += 32)
        sum += bytes[i];
    return sum;
}

/* Two instructions: the load is the first. */
__asm__(".text\n.globl trespass\n.type trespass,@function\ntrespass:\n    lbz 3,0(3)\n    blr\n.size "
        "trespass,.-trespass\n");
int trespass(volatile char *byte);

static void handler(int number, siginfo_t *info, void *context)
{
    ucontext_t *user = context;
    (void)number;
    (void)info;
    if (caught++) return;
    at = user->uc_mcontext.uc_regs->gregs[NIP];
    bin = (uint32_t)chiliad_monitor_get(CHILIAD_MONITOR_OVERFLOW);
}

static void *work(void *argument)
{
    (void)walk(others);
    if (caught) wrong++;
    if (argument) (void)trespass(&own[4096]);
    (void)walk(others);
    return NULL;
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    pthread_t thread;
    (void)argv;
    (void)sigaction(SIGIO, &action, NULL);
    if (chiliad_tag(own, sizeof own, TAG)) wrong++;
    chiliad_monitor_set(CHILIAD_MONITOR_CHUNKS, category_sender_tag_size);
    if (chiliad_monitor_get(CHILIAD_MONITOR_LAYOUT) != layout) wrong++;
    for (uint32_t sender = 1; sender < SENDERS; sender++) {
        chiliad_monitor_set(CHILIAD_MONITOR_ADDRESS, sender << 8 | TAG << 4);
        chiliad_monitor_set(CHILIAD_MONITOR_COUNT, 16);
        chiliad_monitor_set64(CHILIAD_MONITOR_FILL, (UINT64_C(1) << 40) - 1);
    }
    chiliad_monitor_set(CHILIAD_MONITOR_CONTROL, CHILIAD_MONITOR_RUN | CHILIAD_MONITOR_SIGNAL);
    (void)walk(own);
    (void)pthread_create(&thread, NULL, work, argc > 1 ? &action : NULL);
    (void)walk(own);
    (void)pthread_join(thread, NULL);
    chiliad_monitor_set(CHILIAD_MONITOR_CONTROL, 0);
    if (caught != (argc > 1)) wrong++;
    if (caught)
        printf("sender %u, tag %u, %u bytes behind the start of trespass, %u signal\n", bin >> 8 & 255, bin >> 4 & 15,
               at - (uint32_t)(uintptr_t)trespass, caught);
    return (int)wrong;
}
