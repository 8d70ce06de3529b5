/* Timers and rates.
 *
 * Real time is the time base, which counts core cycles here. Virtual time is the cycles in which the thread ran, the
 * same as PAPI_TOT_CYC. Both in the simulated clock, so that runs are the same.
 */
#include "papi_impl.h"

#include <stddef.h>
#include <time.h>

/* --- Timers ------------------------------------------------------------------------------------------------------- */

static long long timebase(void)
{
    uint32_t high, low, again;
    do
        __asm__ volatile("mftbu %0\n\tmftb %1\n\tmftbu %2" : "=r"(high), "=r"(low), "=r"(again));
    while (high != again);
    return (long long)((uint64_t)high << 32 | low);
}

/* Without losing digits of large counts. */
static long long scale(long long cycles, long long units)
{
    long long clock = papi_clock_mhz();
    return cycles / clock * units + cycles % clock * units / clock;
}

long long PAPI_get_real_cyc(void)
{
    return timebase();
}

long long PAPI_get_real_usec(void)
{
    return scale(timebase(), 1);
}

long long PAPI_get_real_nsec(void)
{
    return scale(timebase(), 1000);
}

long long PAPI_get_virt_nsec(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)) return PAPI_ESYS;
    return (long long)now.tv_sec * 1000000000 + now.tv_nsec;
}

long long PAPI_get_virt_usec(void)
{
    return PAPI_get_virt_nsec() / 1000;
}

long long PAPI_get_virt_cyc(void)
{
    return PAPI_get_virt_nsec() * papi_clock_mhz() / 1000;
}

/* --- Rates: each begins with its first call and counts since then ----------------------------------------------------
 */

enum { RATE_NONE, RATE_FLIPS, RATE_FLOPS, RATE_IPC, RATE_EPC };
enum { RATE_EVENTS = 3 };

struct rate {
    long long real, virtual, last_real; /* nanoseconds */
    long long last_count;
};
static __thread struct rate began;

static int start_rate(struct papi_thread *thread, int kind, const int *events, int count)
{
    int set = PAPI_NULL, status = PAPI_create_eventset(&set);
    for (int i = 0; !status && i < count; i++)
        status = PAPI_add_event(set, events[i]);
    if (!status) status = PAPI_start(set);
    if (status) {
        (void)PAPI_cleanup_eventset(set);
        (void)PAPI_destroy_eventset(&set);
        return status;
    }
    thread->rate = papi_set_find(set);
    thread->rate_kind = kind;
    began.real = began.last_real = PAPI_get_real_nsec();
    began.virtual = PAPI_get_virt_nsec();
    began.last_count = 0;
    return PAPI_OK;
}

/* Values are zero at the first call, else those since then. *first says which. */
static int rate(int kind, const int *events, int count, long long *values, float *rtime, float *ptime, bool *first)
{
    if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT) return PAPI_ENOINIT;
    struct papi_thread *thread = papi_thread_get();
    if (!thread) return PAPI_ENOMEM;
    *first = !thread->rate || thread->rate_kind != kind;
    *rtime = *ptime = 0;
    for (int i = 0; i < count; i++)
        values[i] = 0;
    if (*first) {
        papi_rates_free(thread);
        return start_rate(thread, kind, events, count);
    }
    int status = PAPI_read(thread->rate->number, values);
    *rtime = (float)(PAPI_get_real_nsec() - began.real) * 1e-9f;
    *ptime = (float)(PAPI_get_virt_nsec() - began.virtual) * 1e-9f;
    return status;
}

void papi_rates_free(struct papi_thread *thread)
{
    if (!thread->rate) return;
    int number = thread->rate->number;
    thread->rate = NULL;
    thread->rate_kind = RATE_NONE;
    (void)PAPI_stop(number, NULL);
    (void)PAPI_cleanup_eventset(number);
    (void)PAPI_destroy_eventset(&number);
}

static int operations_rate(int kind, int event, float *rtime, float *ptime, long long *count, float *millions)
{
    bool first;
    long long values[1];
    if (!rtime || !ptime || !count || !millions) return papi_return(PAPI_EINVAL);
    int status = rate(kind, &event, 1, values, rtime, ptime, &first);
    if (status) return papi_return(status);
    long long now = PAPI_get_real_nsec();
    *count = values[0];
    *millions = first || now == began.last_real
                    ? 0
                    : (float)(values[0] - began.last_count) * 1e3f / (float)(now - began.last_real);
    if (!first) {
        began.last_real = now;
        began.last_count = values[0];
    }
    return PAPI_OK;
}

int PAPI_flips_rate(int event, float *rtime, float *ptime, long long *flpins, float *mflips)
{
    if (event != PAPI_FP_INS && event != PAPI_VEC_SP && event != PAPI_VEC_DP) return papi_return(PAPI_EINVAL);
    return operations_rate(RATE_FLIPS, event, rtime, ptime, flpins, mflips);
}

int PAPI_flops_rate(int event, float *rtime, float *ptime, long long *flpops, float *mflops)
{
    if (event != PAPI_FP_OPS && event != PAPI_SP_OPS && event != PAPI_DP_OPS) return papi_return(PAPI_EINVAL);
    return operations_rate(RATE_FLOPS, event, rtime, ptime, flpops, mflops);
}

int PAPI_ipc(float *rtime, float *ptime, long long *ins, float *ipc)
{
    static const int events[] = {PAPI_TOT_INS, PAPI_TOT_CYC};
    long long values[2];
    bool first;
    if (!rtime || !ptime || !ins || !ipc) return papi_return(PAPI_EINVAL);
    int status = rate(RATE_IPC, events, 2, values, rtime, ptime, &first);
    if (status) return papi_return(status);
    *ins = values[0];
    *ipc = values[1] ? (float)values[0] / (float)values[1] : 0;
    return PAPI_OK;
}

int PAPI_epc(int event, float *rtime, float *ptime, long long *ref, long long *core, long long *evt, float *epc)
{
    int events[RATE_EVENTS] = {event ? event : PAPI_TOT_INS, PAPI_TOT_CYC, PAPI_REF_CYC};
    long long values[RATE_EVENTS];
    bool first;
    if (!rtime || !ptime || !ref || !core || !evt || !epc) return papi_return(PAPI_EINVAL);
    int status = rate(RATE_EPC, events, RATE_EVENTS, values, rtime, ptime, &first);
    if (status) return papi_return(status);
    *evt = values[0];
    *core = values[1];
    *ref = values[2];
    *epc = values[1] ? (float)values[0] / (float)values[1] : 0;
    return PAPI_OK;
}

int PAPI_rate_stop(void)
{
    if (!papi_is_up()) return papi_return(PAPI_ENOINIT);
    struct papi_thread *thread = papi_thread_get();
    if (!thread || !thread->rate) return papi_return(PAPI_ENOEVNT);
    papi_rates_free(thread);
    return PAPI_OK;
}
