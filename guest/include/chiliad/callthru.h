/* The call-through: one reserved instruction by which a program asks the simulator for a service.
 *
 * The service's number is in r3, its arguments in r4 and up; the result comes back in r3, negative for an error
 * (-ENOSYS for a service that does not exist). It works in user and in supervisor mode, costs no system call, and
 * outside the simulator it is an illegal instruction. docs/formats/callthru.md lists the services.
 */
#ifndef CHILIAD_CALLTHRU_H
#define CHILIAD_CALLTHRU_H

#include <stdint.h>

enum chiliad_service {
    CHILIAD_VERSION = 0,     /* returns 1 */
    CHILIAD_FILE = 1,        /* copies a host file (path in r4) to a guest file (path in r5); returns its bytes */
    CHILIAD_TASK_SWITCH = 2, /* the operating system says: process r4 runs now */
    CHILIAD_TASK_EXIT = 3,   /* process r4 has ended */
    CHILIAD_TRACE_ON = 4,
    CHILIAD_TRACE_OFF = 5,
    CHILIAD_COUNTERS_SELECT = 6, /* the counters in the 64-bit mask r4 (high), r5 (low); bit 0 the least significant */
    CHILIAD_COUNTERS_START = 7,
    CHILIAD_COUNTERS_STOP = 8,
    CHILIAD_COUNTERS_RESET = 9,
    CHILIAD_COUNTERS_READ = 10,  /* 64 user counts to r4, 64 kernel counts to r5, 64 bits each; 0 for not wanted */
    CHILIAD_EVENTS = 16,         /* how many events there are; their indices begin with 0 */
    CHILIAD_EVENT = 17,          /* event r4: its struct chiliad_event goes to r5 */
    CHILIAD_EVENTS_READ = 18,    /* r4: a struct chiliad_events_read */
    CHILIAD_EVENTS_WAIT = 19,    /* r4: structs chiliad_events_wait, r5 of them; they replace those of before */
    CHILIAD_PARAMETER = 20,      /* r4: "section.key" of the machine; its value as text of 64 bytes goes to r5 */
    CHILIAD_REGION_ENTER = 24,   /* a region named r4 begins in the function that is r5 calls up */
    CHILIAD_REGION_LEAVE = 25,   /* likewise ends */
    CHILIAD_FUNCTION_ENTER = 26, /* the function at address r4 begins, inlined or not */
    CHILIAD_FUNCTION_LEAVE = 27,
    CHILIAD_TAG = 28, /* r4: address, bytes, tag: three words; their pages get the tag (chiliad/monitor.h) */
    /* Notices of an MPI library; r8 and r9 are the context of the communicator. */
    CHILIAD_MPI_CALL = 32,   /* a call begins, its name is at r4 */
    CHILIAD_MPI_RETURN = 33, /* it ends */
    CHILIAD_MPI_WAIT = 34,   /* it begins to wait */
    CHILIAD_MPI_WAITED = 35,
    CHILIAD_MPI_SENT = 36,      /* a send begins: r4 peer, r5 tag, r6 bytes, r7 request; 0: the call waits for it */
    CHILIAD_MPI_POSTED = 37,    /* a receive begins, for which the call does not wait: likewise */
    CHILIAD_MPI_RECEIVED = 38,  /* the program gets a message: likewise */
    CHILIAD_MPI_COMPLETED = 39, /* the program gets to know that the send of request r7 is over */
    CHILIAD_MPI_COLLECTIVE = 40, /* r4 the root, or -1, r5 bytes of this rank, r6 bytes for it */
    CHILIAD_MPI_MEMBERS = 41     /* a communicator of r4 ranks of the world, words at r5; 0: all from 0 on */
};

/* What an event is. */
enum chiliad_event_kind { CHILIAD_EVENT_RESERVED, CHILIAD_EVENT_MACHINE, CHILIAD_EVENT_OWN };
enum chiliad_exactness { CHILIAD_EXACT_NONE, CHILIAD_EXACT_MODELLED, CHILIAD_EXACT };
struct chiliad_event {
    uint32_t id, kind, exactness;
    char name[64], unit[32], text[160];
};

/* Counts of many events at one moment. They only grow. Those of the machine are of the unit that they name; the
 * simulator's own are of the thread, its process or the whole node. */
enum chiliad_scope { CHILIAD_THREAD, CHILIAD_PROCESS, CHILIAD_NODE };
struct chiliad_events_read {
    uint32_t count, scope;
    const uint32_t *events;
    uint64_t *values;
};

/* Before an index of `events`: count it in another way than its row says, 0 high, 1 rise, 2 fall, 3 low. */
#define CHILIAD_EVENT_AS(way) ((UINT32_C(1) + (way)) << 28)

/* The thread gets SIGXCPU, once, when the sum of some events' counts gets to `sum`. */
struct chiliad_events_wait {
    uint32_t count;
    const uint32_t *events;
    uint64_t sum;
};

/* Never a function of its own: the last services say how many calls up. */
static inline __attribute__((always_inline, no_instrument_function)) long chiliad_callthru(long service, long a, long b)
{
    register long r3 __asm__("r3") = service;
    register long r4 __asm__("r4") = a;
    register long r5 __asm__("r5") = b;
    __asm__ volatile(".long 0x001f47cc" : "+r"(r3) : "r"(r4), "r"(r5) : "memory");
    return r3;
}

#endif
