/* BGLCounters: thin wrappers over the call-through (BGL-23), and the names of the counters.
 *
 * Names and texts are those of data/events/simulator.events. They come from the simulator (service 17) when the first
 * is wanted; without a simulator there are none.
 */
#include "bglcounters.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

#include "chiliad/callthru.h"

static sigjmp_buf no_simulator;

static void on_illegal(int signal)
{
    siglongjmp(no_simulator, signal);
}

/* Apart from the jump, so that no register of the call is live across it. */
static long __attribute__((noinline)) version(void)
{
    return chiliad_callthru(CHILIAD_VERSION, 0, 0);
}

/* Outside the simulator the instruction is illegal; find that out without dying of it. */
static int has_simulator(void)
{
    struct sigaction mine = {.sa_handler = on_illegal}, old;
    volatile int found = 0;
    if (sigaction(SIGILL, &mine, &old)) return 0;
    if (sigsetjmp(no_simulator, 1) == 0 && version() == 1) found = 1;
    sigaction(SIGILL, &old, NULL);
    return found;
}

int BGLCounters_Init(void)
{
    if (!has_simulator()) return -ENOSYS;
    BGLCounters_Stop();
    BGLCounters_Select(UINT64_MAX);
    return BGLCounters_Reset();
}

int BGLCounters_Select(uint64_t counters)
{
    return (int)chiliad_callthru(CHILIAD_COUNTERS_SELECT, (long)(counters >> 32),
                                 (long)(uint32_t)counters);
}

int BGLCounters_Start(void)
{
    return (int)chiliad_callthru(CHILIAD_COUNTERS_START, 0, 0);
}

int BGLCounters_Stop(void)
{
    return (int)chiliad_callthru(CHILIAD_COUNTERS_STOP, 0, 0);
}

int BGLCounters_Reset(void)
{
    return (int)chiliad_callthru(CHILIAD_COUNTERS_RESET, 0, 0);
}

int BGLCounters_Read(uint64_t *user, uint64_t *kernel)
{
    return (int)chiliad_callthru(CHILIAD_COUNTERS_READ, (long)user, (long)kernel);
}

/* By id; read once. Two threads that come here first write the same bytes. */
static struct chiliad_event names[BGLCOUNTERS];
static volatile int names_read;

static void read_names(void)
{
    struct chiliad_event event;
    long index = has_simulator() ? chiliad_callthru(CHILIAD_EVENTS, 0, 0) : 0;
    while (index-- > 0) { /* the simulator's own are the last */
        if (chiliad_callthru(CHILIAD_EVENT, index, (long)&event) || event.kind != CHILIAD_EVENT_OWN) break;
        if (event.id < BGLCOUNTERS) names[event.id] = event;
    }
    names_read = 1;
}

static const struct chiliad_event *find(int counter)
{
    if (!names_read) read_names();
    return counter >= 0 && counter < BGLCOUNTERS && *names[counter].name ? &names[counter] : NULL;
}

const char *BGLCounters_Name(int counter)
{
    const struct chiliad_event *event = find(counter);
    return event ? event->name : NULL;
}

const char *BGLCounters_Text(int counter)
{
    const struct chiliad_event *event = find(counter);
    return event ? event->text : NULL;
}
