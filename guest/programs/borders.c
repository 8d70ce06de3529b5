/* Accesses at the borders of pages: rights end where they end, however often the page was used
 * before, aligned or not. Each line of output is the number of accesses that a signal refused. */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, STEP = 64, TIMES = 60 };

static sigjmp_buf back;
static volatile uint32_t sum;

static void refused(int number)
{
    (void)number;
    siglongjmp(back, 1);
}

/* Every STEP bytes, up to an address: the last access is that of hot code. */
__attribute__((noinline)) static void load(const char *last, int before)
{
    for (const char *at = last - before * STEP; at <= last; at += STEP)
        sum += *(const volatile uint32_t *)at;
}

__attribute__((noinline)) static void store(char *last, int before)
{
    for (char *at = last - before * STEP; at <= last; at += STEP)
        *(volatile uint32_t *)at = 1;
}

/* 1 if a signal ended it. */
static int load_at(const char *at, int before)
{
    if (sigsetjmp(back, 1)) return 1;
    load(at, before);
    return 0;
}

static int store_at(char *at, int before)
{
    if (sigsetjmp(back, 1)) return 1;
    store(at, before);
    return 0;
}

int main(void)
{
    struct sigaction action = {.sa_handler = refused};
    sigaction(SIGSEGV, &action, NULL);
    char *pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return 1;
    char *last = pages + 2 * PAGE - 4, *border = last + 2;
    /* aligned, in the last bytes of a page whose next one was never used */
    printf("%d %d\n", load_at(last, TIMES), store_at(last, TIMES));
    printf("%d %d\n", load_at(border, TIMES), store_at(border, TIMES));
    mprotect(pages + 2 * PAGE, PAGE, PROT_READ);
    printf("%d %d\n", load_at(border, TIMES), store_at(border, TIMES));
    mprotect(pages + 2 * PAGE, PAGE, PROT_NONE);
    printf("%d %d\n", load_at(border, TIMES), store_at(border, TIMES));
    printf("%d %d\n", load_at(last, TIMES), store_at(last, TIMES));
    printf("%d %d\n", load_at(border, TIMES), store_at(border, TIMES));
    mprotect(pages + 2 * PAGE, PAGE, PROT_READ | PROT_WRITE);
    printf("%d %d\n", load_at(border, TIMES), store_at(border, TIMES));
    munmap(pages + 2 * PAGE, PAGE);
    printf("%d %d\n", load_at(border, TIMES), store_at(border, TIMES));
    munmap(pages, PAGE);
    printf("%d %d %d\n", load_at(pages + PAGE, 0), load_at(pages + PAGE - 2, 0),
           store_at(pages + PAGE - 4, 0));
    memset(pages + PAGE, 1, PAGE);
    return 0;
}
