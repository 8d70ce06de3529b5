/* Regions of your own in the call tree of 'chiliad record':
 *
 *     CHILIAD_REGION_BEGIN("assembly");
 *     ...
 *     CHILIAD_REGION_END("assembly");
 *
 * Both in one function, which may call others; regions nest. What is done between them counts under a node of that name
 * below the function. A region that is still open when its function returns ends with it. In the simulator each is a
 * reserved instruction, recorded or not, so that a program does the same in both cases; elsewhere it is a test of a
 * variable. Where the program runs, the first one in each source file finds out: outside the simulator the instruction
 * is illegal, which a handler catches for a moment.
 *
 * With -finstrument-functions and -lchiliad ('chiliad cc' links it), functions that the compiler inlined are such
 * regions, too.
 */
#ifndef CHILIAD_H
#define CHILIAD_H

#ifdef __powerpc__
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

#include "chiliad/callthru.h"

static sigjmp_buf chiliad_not_here;

static __attribute__((unused, no_instrument_function)) void chiliad_on_illegal(int number)
{
    siglongjmp(chiliad_not_here, number);
}

/* Apart from the jump, so that no register of the call is live across it. */
static __attribute__((noinline, unused, no_instrument_function)) long chiliad_version(void)
{
    return chiliad_callthru(CHILIAD_VERSION, 0, 0);
}

static __attribute__((noinline, unused, no_instrument_function)) int chiliad_ask(void)
{
    struct sigaction mine, old;
    volatile int answer = 0;
    mine.sa_handler = chiliad_on_illegal;
    mine.sa_flags = 0;
    (void)sigemptyset(&mine.sa_mask);
    if (sigaction(SIGILL, &mine, &old)) return 0;
    if (sigsetjmp(chiliad_not_here, 1) == 0) answer = chiliad_version() == 1;
    (void)sigaction(SIGILL, &old, NULL);
    return answer;
}

/* Whether this is the simulator. */
static inline __attribute__((always_inline, no_instrument_function)) int chiliad_is_here(void)
{
    static int known, answer;
    if (!known) {
        answer = chiliad_ask();
        known = 1;
    }
    return answer;
}

#define CHILIAD_REGION_TELL(service, name)                                                                             \
    do {                                                                                                               \
        if (chiliad_is_here()) (void)chiliad_callthru(service, (long)(name), 0);                                       \
    } while (0)
#else
#define CHILIAD_REGION_TELL(service, name) ((void)(name))
#endif

#define CHILIAD_REGION_BEGIN(name) CHILIAD_REGION_TELL(CHILIAD_REGION_ENTER, name)
#define CHILIAD_REGION_END(name)   CHILIAD_REGION_TELL(CHILIAD_REGION_LEAVE, name)

#endif
