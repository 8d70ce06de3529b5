/* Overflow and profiles.
 *
 * The simulator sends SIGXCPU to the thread behind the very instruction with which a count gets to its threshold
 * (CHILIAD_EVENTS_WAIT), whatever the event is; so there is no need for a software form, and PAPI_OVERFLOW_FORCE_SW
 * means the same. While a handler runs nothing is counted, as with PAPI on Linux: what was counted since the signal is
 * taken off again, and the next overflow is a threshold later.
 *
 * The vector that a handler gets has a bit for each event of the set, so only the first 64 of a set can overflow.
 */
#include "papi_impl.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

/* --- Waiting for the next ----------------------------------------------------------------------------------------- */

/* Events as the simulator knows them; a slot's own positions are of the set. */
static struct chiliad_events_wait wait_of(const struct papi_set *set, const struct papi_slot *slot, uint32_t *events)
{
    struct chiliad_events_wait wait = {.count = slot->formula.count, .events = events};
    long long left = slot->next - set->start[slot - set->slots];
    for (unsigned i = 0; i < slot->formula.count; i++) {
        uint32_t native = slot->formula.terms[i].event;
        events[i] = set->natives[native];
        wait.sum += set->base[native];
    }
    wait.sum += (uint64_t)left;
    return wait;
}

static void wait_for_next(const struct papi_set *set)
{
    uint32_t events[PAPI_VECTOR_BITS][PAPI_MAX_INFO_TERMS];
    struct chiliad_events_wait waits[PAPI_VECTOR_BITS];
    unsigned count = 0;
    for (unsigned i = 0; i < set->count && i < PAPI_VECTOR_BITS; i++)
        if (set->slots[i].threshold) {
            waits[count] = wait_of(set, &set->slots[i], events[count]);
            count++;
        }
    (void)chiliad_callthru(CHILIAD_EVENTS_WAIT, (long)waits, (long)count);
}

void papi_overflow_arm(struct papi_set *set)
{
    for (unsigned i = 0; i < set->count; i++)
        set->slots[i].next = set->start[i] + set->slots[i].threshold;
    wait_for_next(set);
}

void papi_overflow_disarm(const struct papi_set *set)
{
    (void)set;
    (void)chiliad_callthru(CHILIAD_EVENTS_WAIT, 0, 0);
}

/* --- Profiles ----------------------------------------------------------------------------------------------------- */

/* Adds to one counter of a histogram, which stays at its largest value. */
static void add_to_bucket(const PAPI_sprofil_t *range, unsigned long index, int flags, unsigned long long more)
{
    if (flags & PAPI_PROFIL_BUCKET_64) {
        unsigned long long *bucket = (unsigned long long *)range->pr_base + index;
        if ((index + 1) * sizeof *bucket <= range->pr_size) *bucket += more;
    } else if (flags & PAPI_PROFIL_BUCKET_32) {
        unsigned *bucket = (unsigned *)range->pr_base + index;
        if ((index + 1) * sizeof *bucket <= range->pr_size)
            *bucket = *bucket + more > ~0u ? ~0u : *bucket + (unsigned)more;
    } else {
        unsigned short *bucket = (unsigned short *)range->pr_base + index;
        if ((index + 1) * sizeof *bucket <= range->pr_size)
            *bucket = (unsigned short)(*bucket + more > 0xFFFF ? 0xFFFF : *bucket + more);
    }
}

/* A quarter of the samples is left out, by a generator that is the same in every run. */
static bool left_out(void)
{
    static uint32_t random = 1;
    random = random * 1664525 + 1013904223;
    return random >> 30 == 0;
}

/* The range that begins closest below the address; scale 65536 is a counter for each two bytes. */
static void take_sample(const struct papi_profile *profile, unsigned long pc, long long excess, int threshold)
{
    const PAPI_sprofil_t *best = NULL;
    for (int i = 0; i < profile->count; i++) {
        unsigned long from = (unsigned long)profile->ranges[i].pr_off;
        if (from <= pc && (!best || from >= (unsigned long)best->pr_off)) best = &profile->ranges[i];
    }
    if (!best || (profile->flags & PAPI_PROFIL_RANDOM && left_out())) return;
    unsigned long long more = 1;
    if (profile->flags & PAPI_PROFIL_WEIGHTED && threshold) {
        more = 255ULL * (unsigned long long)excess / (unsigned)threshold;
        more = more < 1 ? 1 : more > 255 ? 255 : more;
    }
    unsigned long long offset = pc - (unsigned long)best->pr_off;
    add_to_bucket(best, (unsigned long)(offset * best->pr_scale >> 17), profile->flags, more);
}

/* --- The signal --------------------------------------------------------------------------------------------------- */

static struct sigaction before; /* who had the signal */

static unsigned long pc_of(const void *context)
{
    const ucontext_t *at = context;
    return (unsigned long)at->uc_mcontext.uc_regs->gregs[32]; /* PT_NIP */
}

/* Which events have got to their thresholds; takes samples of those with a profile. */
static long long find_overflows(struct papi_set *set, unsigned long pc)
{
    long long vector = 0;
    for (unsigned i = 0; i < set->count && i < PAPI_VECTOR_BITS; i++) {
        struct papi_slot *slot = &set->slots[i];
        if (!slot->threshold) continue;
        long long value = papi_slot_value(set, i), excess = value - slot->next;
        if (excess < 0) continue;
        slot->next += (excess / slot->threshold + 1) * slot->threshold;
        if (slot->profile.count)
            take_sample(&slot->profile, pc, excess, slot->threshold);
        else
            vector |= 1LL << i;
    }
    return vector;
}

/* What the thread did since the last look is not counted. */
static void leave_out(struct papi_set *set)
{
    for (unsigned i = 0; i < set->native_count; i++)
        set->base[i] -= set->now[i];
    papi_look(set, set->now);
    for (unsigned i = 0; i < set->native_count; i++)
        set->base[i] += set->now[i];
}

static void not_ours(int number, siginfo_t *info, void *context)
{
    if (before.sa_flags & SA_SIGINFO) {
        before.sa_sigaction(number, info, context);
    } else if (before.sa_handler == SIG_DFL) {
        (void)signal(number, SIG_DFL);
        (void)raise(number);
    } else if (before.sa_handler != SIG_IGN) {
        before.sa_handler(number);
    }
}

static void on_overflow(int number, siginfo_t *info, void *context)
{
    struct papi_set *set = papi_is_up() ? papi_thread_get()->running : NULL;
    if (!set || !(set->state & PAPI_OVERFLOWING)) {
        if (info->si_code <= 0 || !papi_is_up()) not_ours(number, info, context);
        return;
    }
    papi_look(set, set->now);
    unsigned long pc = pc_of(context);
    long long vector = find_overflows(set, pc);
    if (vector && set->handler) {
        set->state |= PAPI_PAUSED;
        set->handler(set->number, (void *)pc, vector, context);
        set = papi_thread_get()->running; /* it may have stopped the set, and started another */
        if (!set || !(set->state & PAPI_PAUSED)) return;
        set->state &= ~PAPI_PAUSED;
    }
    leave_out(set);
    wait_for_next(set);
}

int papi_overflow_prepare(void)
{
    static bool installed;
    struct sigaction ours = {.sa_sigaction = on_overflow, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigaction now;
    if (installed && !sigaction(SIGXCPU, NULL, &now) && now.sa_sigaction == on_overflow) return PAPI_OK;
    installed = true;
    return sigaction(SIGXCPU, &ours, &before) ? PAPI_ESYS : PAPI_OK;
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */

void papi_overflow_forget(struct papi_slot *slot)
{
    free(slot->profile.ranges);
    slot->profile = (struct papi_profile){0};
    slot->threshold = 0;
}

static void note_state(struct papi_set *set)
{
    set->state &= ~(PAPI_OVERFLOWING | PAPI_PROFILING);
    for (unsigned i = 0; i < set->count; i++) {
        if (set->slots[i].threshold) set->state |= PAPI_OVERFLOWING;
        if (set->slots[i].profile.count) set->state |= PAPI_PROFILING;
    }
}

/* The event's slot of a set that can be changed. */
static int find_slot(int EventSet, int code, struct papi_set **set, struct papi_slot **slot)
{
    if (!papi_is_up()) return PAPI_ENOINIT;
    *set = papi_set_find(EventSet);
    if (!*set) return PAPI_ENOEVST;
    if ((*set)->state & PAPI_RUNNING) return PAPI_EISRUN;
    int at = papi_set_slot(*set, code);
    if (at < 0) return PAPI_ENOEVNT;
    if (at >= PAPI_VECTOR_BITS) return PAPI_ECNFLCT;
    *slot = &(*set)->slots[at];
    return PAPI_OK;
}

/* Sums can be waited for; differences go up and down. */
static bool can_overflow(const struct papi_slot *slot)
{
    for (unsigned i = 0; i < slot->formula.count; i++)
        if (slot->formula.terms[i].weight != 1) return false;
    return true;
}

int PAPI_overflow(int EventSet, int EventCode, int threshold, int flags, PAPI_overflow_handler_t handler)
{
    struct papi_set *set;
    struct papi_slot *slot;
    int status = find_slot(EventSet, EventCode, &set, &slot);
    if (status) return papi_return(status);
    if (threshold < 0 || flags & ~(PAPI_OVERFLOW_FORCE_SW | PAPI_OVERFLOW_HARDWARE)) return papi_return(PAPI_EINVAL);
    if (slot->profile.count) return papi_return(PAPI_ECNFLCT);
    if (!threshold) {
        if (!slot->threshold) return papi_return(PAPI_EINVAL);
        slot->threshold = 0;
        note_state(set);
        return PAPI_OK;
    }
    if (!handler || !can_overflow(slot)) return papi_return(PAPI_EINVAL);
    if (set->attached || set->granularity != PAPI_GRN_THR) return papi_return(PAPI_ECMP);
    slot->threshold = threshold;
    set->handler = handler;
    set->overflow_flags = flags;
    note_state(set);
    return PAPI_OK;
}

int PAPI_get_overflow_event_index(int EventSet, long long overflow_vector, int *array, int *number)
{
    if (!papi_is_up()) return papi_return(PAPI_ENOINIT);
    const struct papi_set *set = papi_set_find(EventSet);
    if (!set) return papi_return(PAPI_ENOEVST);
    if (!overflow_vector || !array || !number || *number < 1) return papi_return(PAPI_EINVAL);
    if (!(set->state & PAPI_OVERFLOWING)) return papi_return(PAPI_EINVAL);
    int count = 0;
    for (int i = 0; i < PAPI_VECTOR_BITS && i < (int)set->count && count < *number; i++)
        if (overflow_vector >> i & 1) array[count++] = i;
    *number = count;
    return PAPI_OK;
}

int PAPI_sprofil(PAPI_sprofil_t *prof, int profcnt, int EventSet, int EventCode, int threshold, int flags)
{
    struct papi_set *set;
    struct papi_slot *slot;
    int status = find_slot(EventSet, EventCode, &set, &slot);
    if (status) return papi_return(status);
    int known =
        PAPI_PROFIL_RANDOM | PAPI_PROFIL_WEIGHTED | PAPI_PROFIL_COMPRESS | PAPI_PROFIL_BUCKETS | PAPI_PROFIL_FORCE_SW;
    int buckets = flags & PAPI_PROFIL_BUCKETS;
    if (threshold < 0 || flags & ~known || buckets & (buckets - 1)) return papi_return(PAPI_EINVAL);
    if (!threshold) {
        if (!slot->profile.count) return papi_return(PAPI_EINVAL);
        papi_overflow_forget(slot);
        note_state(set);
        return PAPI_OK;
    }
    if (!prof || profcnt < 1 || !can_overflow(slot)) return papi_return(PAPI_EINVAL);
    if (slot->threshold && !slot->profile.count) return papi_return(PAPI_ECNFLCT);
    PAPI_sprofil_t *ranges = malloc((size_t)profcnt * sizeof *ranges);
    if (!ranges) return papi_return(PAPI_ENOMEM);
    memcpy(ranges, prof, (size_t)profcnt * sizeof *ranges);
    papi_overflow_forget(slot);
    slot->profile = (struct papi_profile){.ranges = ranges, .count = profcnt, .flags = flags};
    slot->threshold = threshold;
    note_state(set);
    return PAPI_OK;
}

int PAPI_profil(void *buf, unsigned bufsiz, vptr_t offset, unsigned scale, int EventSet, int EventCode, int threshold,
                int flags)
{
    PAPI_sprofil_t prof = {.pr_base = buf, .pr_size = bufsiz, .pr_off = offset, .pr_scale = scale};
    if (threshold > 0 && (!buf || bufsiz == 0 || scale > 131072 || scale == 1)) return papi_return(PAPI_EINVAL);
    return PAPI_sprofil(&prof, 1, EventSet, EventCode, threshold, flags);
}
