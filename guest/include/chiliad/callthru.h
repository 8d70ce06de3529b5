/* The call-through: one reserved instruction by which a program asks the simulator for a service.
 *
 * The service's number is in r3, its arguments in r4 and up; the result comes back in r3, negative for an error (-ENOSYS
 * for a service that does not exist). It works in user and in supervisor mode, costs no system call, and outside the
 * simulator it is an illegal instruction. docs/formats/callthru.md lists the services.
 */
#ifndef CHILIAD_CALLTHRU_H
#define CHILIAD_CALLTHRU_H

enum chiliad_service {
    CHILIAD_VERSION = 0,         /* returns 1 */
    CHILIAD_FILE = 1,            /* copies a host file (path in r4) to a guest file (path in r5); returns its bytes */
    CHILIAD_TASK_SWITCH = 2,     /* the operating system says: process r4 runs now */
    CHILIAD_TASK_EXIT = 3,       /* process r4 has ended */
    CHILIAD_TRACE_ON = 4,
    CHILIAD_TRACE_OFF = 5,
    CHILIAD_COUNTERS_SELECT = 6, /* the counters in the 64-bit mask r4 (high), r5 (low); bit 0 the least significant */
    CHILIAD_COUNTERS_START = 7,
    CHILIAD_COUNTERS_STOP = 8,
    CHILIAD_COUNTERS_RESET = 9,
    CHILIAD_COUNTERS_READ = 10   /* 64 user counts to r4, 64 kernel counts to r5, 64 bits each; 0 for not wanted */
};

static inline long chiliad_callthru(long service, long a, long b)
{
    register long r3 __asm__("r3") = service;
    register long r4 __asm__("r4") = a;
    register long r5 __asm__("r5") = b;
    __asm__ volatile(".long 0x001f47cc" : "+r"(r3) : "r"(r4), "r"(r5) : "memory");
    return r3;
}

#endif
