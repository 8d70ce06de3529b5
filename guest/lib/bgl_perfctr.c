/* bgl_perfctr: Blue Gene/L's 52 counters out of the simulator's counts of every event.
 *
 * The simulator counts all events always. What makes the chip's limits is here: an event gets a counter only where the
 * table says (BGL-47), a counter has 32 bits, and none of it exists on another machine. A register holds the low 32
 * bits of what its event has done on the node since the commit that gave it the counter; vdata adds up the differences
 * from look to look, as the real library did, so that a gain of 2^32 between two looks is lost here, too.
 *
 * Known of the real library, and kept: an event is tried in its places from the last to the first; the same event with
 * the same edge shares a counter and is counted twice in ref_count; with another edge it needs another counter; the FPU
 * counters take no edge; a counter whose event was removed is free after the commit; update fails while added events
 * wait for a commit.
 *
 * Decided here: an unknown edge is refused. An event that is added and removed before a commit leaves at once. State is
 * of the process, not of the node, so several processes may each use all counters. A program that has SIGALRM for
 * itself gets the mode LOCAL. The timer runs each two seconds: a register that counts every cycle gains a third of
 * 2^32.
 */
#include "bgl_perfctr.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/time.h>

#include "chiliad/callthru.h"

enum { COUNTERS = BGL_PERFCTR_NUM_COUNTERS, GROUPS = BGL_PERFCTR_NUM_CTRL, UPC_COUNTERS = 48, TIMER_SECONDS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bgl_perfctr_control_t state;
static bool is_on, has_timer;
static uint64_t base[COUNTERS]; /* what the event of a counter had done when it got it */

/* --- The simulator ------------------------------------------------------------------------------------------------ */

/* An event in one of four ways, for a read. */
static uint32_t asked(BGL_PERFCTR_event_t event)
{
    return CHILIAD_EVENT_AS(event.edge) | (uint32_t)event.num;
}

/* What so many events have done on the node, all at one moment. */
static int read_events(uint32_t *events, uint64_t *counts, unsigned count)
{
    struct chiliad_events_read request = {count, CHILIAD_NODE, events, counts};
    return chiliad_callthru(CHILIAD_EVENTS_READ, (long)&request, 0) ? -1 : 0;
}

/* Whether the machine below has this chip's counters. */
static bool has_chip(void)
{
    char kind[64];
    return chiliad_callthru(CHILIAD_PARAMETER, (long)"upc.kind", (long)kind) == 0 && strcmp(kind, "grouped") == 0;
}

/* Whether the machine's events are those of the table: its file may have been edited. */
static bool is_known(BGL_PERFCTR_event_num_t num)
{
    struct chiliad_event event;
    return chiliad_callthru(CHILIAD_EVENT, num, (long)&event) == 0 &&
           strcmp(event.name, BGL_PERFCTR_event_table[num].event_name) == 0;
}

static long long timebase(void)
{
    uint32_t high, low, again;
    do
        __asm__ volatile("mftbu %0\n\tmftb %1\n\tmftbu %2" : "=r"(high), "=r"(low), "=r"(again));
    while (high != again);
    return (long long)((uint64_t)high << 32 | low);
}

/* --- Places ------------------------------------------------------------------------------------------------------- */

static int register_of(const BGL_PERFCTR_event_encoding_t *place)
{
    if (place->group < BGL_PERFCTR_FPU_GROUP_OFFSET) return (int)(3 * place->group + place->counter);
    return (int)(UPC_COUNTERS + 2 * (place->group - BGL_PERFCTR_FPU_GROUP_OFFSET) + place->counter);
}

static unsigned long long bit_of(int counter)
{
    return 1ULL << counter;
}

/* Counters that are in use or will be. */
static unsigned long long taken(void)
{
    unsigned long long bits = state.in_use;
    for (int i = 0; i < state.nmapped; i++)
        bits |= bit_of(state.map[i].counter_register);
    return bits;
}

/* The free place of an event that a search from the last one finds first; NULL if there is none. */
static const BGL_PERFCTR_event_encoding_t *find_place(BGL_PERFCTR_event_t event)
{
    BGL_PERFCTR_event_descr_t *row = &BGL_PERFCTR_event_table[event.num];
    unsigned long long not_free = taken();
    for (int i = row->num_encodings - 1; i >= 0; i--) {
        int counter = register_of(&row->encoding[i]);
        if (counter >= UPC_COUNTERS && event.edge) continue;
        if (!(not_free & bit_of(counter))) return &row->encoding[i];
    }
    return NULL;
}

static bool is_event(BGL_PERFCTR_event_t event)
{
    return (unsigned)event.num < BGL_PERFCTR_NUMEVENTS && event.edge <= BGL_PERFCTR_UPC_EDGE_LOW;
}

static bgl_perfctr_control_map_t *find_mapped(BGL_PERFCTR_event_t event)
{
    for (int i = 0; i < state.nmapped; i++)
        if (state.map[i].event.num == event.num && state.map[i].event.edge == event.edge) return &state.map[i];
    return NULL;
}

/* Takes out what neither is nor will be counted. */
static void tidy_map(void)
{
    int kept = 0;
    for (int i = 0; i < state.nmapped; i++)
        if (state.map[i].ref_count || state.map[i].new_count) state.map[kept++] = state.map[i];
    state.nmapped = kept;
}

/* --- Control words ------------------------------------------------------------------------------------------------ */

/* In the unit's groups, from the most significant bit: edge, interrupt (none) and code of A, B and C: 2, 4, 5 bits for
 * A and C, 2, 3, 4 for B; the last bit is a mode of C. In the FPUs, a bit and a code for each of the two counters. */
static void put_control(const bgl_perfctr_control_map_t *entry)
{
    BGL_PERFCTR_event_descr_t *row = &BGL_PERFCTR_event_table[entry->event.num];
    BGL_PERFCTR_event_encoding_t *place = row->encoding;
    while (register_of(place) != entry->counter_register)
        place++;
    static const struct {
        unsigned edge, code;
    } shifts[] = {{30, 21}, {19, 12}, {10, 1}};
    if (place->group < BGL_PERFCTR_FPU_GROUP_OFFSET)
        state.ctrl[place->group] |=
            entry->event.edge << shifts[place->counter].edge | place->code << shifts[place->counter].code;
    else
        state.ctrl[place->group] |= place->counter ? 0x01000000 | place->code : 0x10000000 | place->code << 4;
}

/* --- Looking at the registers ------------------------------------------------------------------------------------- */

/* The counts of all events that have a counter, or of the events that get one now; by counter, all of one moment. */
static int read_mapped(bool fresh, uint64_t counts[COUNTERS])
{
    uint32_t events[COUNTERS];
    uint64_t read[COUNTERS];
    int counters[COUNTERS];
    unsigned count = 0;
    for (int i = 0; i < state.nmapped; i++) {
        if (fresh != !state.map[i].ref_count) continue;
        counters[count] = state.map[i].counter_register;
        events[count++] = asked(state.map[i].event);
    }
    if (read_events(events, read, count)) return -1;
    for (unsigned i = 0; i < count; i++)
        counts[counters[i]] = read[i];
    return 0;
}

static int look(void)
{
    uint64_t counts[COUNTERS];
    if (read_mapped(false, counts)) return -1;
    state.latest_update = timebase();
    for (int i = 0; i < state.nmapped; i++) {
        int at = state.map[i].counter_register;
        if (!state.map[i].ref_count) continue;
        uint32_t now = (uint32_t)(counts[at] - base[at]);
        state.vdata[at] += (uint32_t)(now - state.last[at]);
        state.last[at] = now;
    }
    return 0;
}

/* While a call of the library is at work the timer waits for its next turn. */
static void on_alarm(int signal)
{
    (void)signal;
    if (pthread_mutex_trylock(&lock)) return;
    if (is_on) (void)look();
    (void)pthread_mutex_unlock(&lock);
}

static bool start_timer(void)
{
    struct sigaction ours = {.sa_handler = on_alarm, .sa_flags = SA_RESTART}, old;
    struct itimerval each = {{TIMER_SECONDS, 0}, {TIMER_SECONDS, 0}};
    if (sigaction(SIGALRM, NULL, &old) || (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN)) return false;
    return sigaction(SIGALRM, &ours, NULL) == 0 && setitimer(ITIMER_REAL, &each, NULL) == 0;
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */

/* Locks and returns 0 when the library was initialised; else -1 without the lock. */
static int enter(void)
{
    (void)pthread_mutex_lock(&lock);
    if (is_on) return 0;
    (void)pthread_mutex_unlock(&lock);
    return -1;
}

static int leave(int result)
{
    (void)pthread_mutex_unlock(&lock);
    return result;
}

int bgl_perfctr_init_synch(int mode)
{
    bool timed = mode == BGL_PERFCTR_MODE_ASYNC || mode == BGL_PERFCTR_MODE_SYNC;
    if (!timed && mode != BGL_PERFCTR_MODE_LOCAL) return -1;
    (void)pthread_mutex_lock(&lock);
    if (is_on || !has_chip()) return leave(-1);
    memset(&state, 0, sizeof state);
    is_on = true;
    has_timer = timed && start_timer();
    return leave(has_timer ? mode : BGL_PERFCTR_MODE_LOCAL);
}

int bgl_perfctr_shutdown(void)
{
    if (enter()) return 0;
    if (has_timer) {
        (void)setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
        (void)sigaction(SIGALRM, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    }
    memset(&state, 0, sizeof state);
    is_on = has_timer = false;
    return leave(0);
}

int bgl_perfctr_add_event(BGL_PERFCTR_event_t event)
{
    if (!is_event(event) || enter()) return -1;
    bgl_perfctr_control_map_t *mapped = find_mapped(event);
    if (mapped) {
        mapped->new_count++;
        return leave(0);
    }
    const BGL_PERFCTR_event_encoding_t *place = find_place(event);
    if (!place || !is_known(event.num)) return leave(-1);
    int at = state.nmapped++;
    for (; at && state.map[at - 1].event.num > event.num; at--)
        state.map[at] = state.map[at - 1];
    state.map[at] = (bgl_perfctr_control_map_t){event, register_of(place), (int)place->group, 0, 1};
    state.modified |= 1ULL << place->group;
    return leave(0);
}

int bgl_perfctr_remove_event(BGL_PERFCTR_event_t event)
{
    if (!is_event(event) || enter()) return -1;
    bgl_perfctr_control_map_t *mapped = find_mapped(event);
    if (!mapped || !mapped->new_count) return leave(-1);
    mapped->new_count--;
    tidy_map();
    return leave(0);
}

int bgl_perfctr_commit(void)
{
    if (enter()) return -1;
    if (read_mapped(true, base)) return leave(-1);
    memset(state.ctrl, 0, sizeof state.ctrl);
    state.in_use = state.modified = 0;
    for (int i = 0; i < state.nmapped; i++) {
        int at = state.map[i].counter_register;
        if (!state.map[i].ref_count) state.vdata[at] = state.last[at] = 0;
        state.map[i].ref_count = state.map[i].new_count;
    }
    tidy_map();
    for (int i = 0; i < state.nmapped; i++) {
        state.in_use |= bit_of(state.map[i].counter_register);
        put_control(&state.map[i]);
    }
    return leave(0);
}

int bgl_perfctr_revoke(void)
{
    if (enter()) return -1;
    for (int i = 0; i < state.nmapped; i++)
        state.map[i].new_count = state.map[i].ref_count;
    tidy_map();
    state.modified = 0;
    return leave(0);
}

/* No program outside this node reads counters. */
int bgl_perfctr_add_remote_counters(void)
{
    return -1;
}

int bgl_perfctr_update(void)
{
    if (enter()) return -1;
    return leave(state.modified ? -1 : look());
}

static int copy_out(void *to, size_t room, const void *from, size_t bytes)
{
    if (!to) return -1;
    if (room < bytes) return -2;
    if (enter()) return -1;
    int status = look();
    if (!status) memcpy(to, from, bytes);
    return leave(status);
}

int bgl_perfctr_copy_counters(unsigned long long values[], size_t size_of_values)
{
    return copy_out(values, size_of_values, state.vdata, sizeof state.vdata);
}

int bgl_perfctr_copy_state(bgl_perfctr_control_t *hw_state, size_t size_of_buffer)
{
    return copy_out(hw_state, size_of_buffer, &state, sizeof state);
}

bgl_perfctr_control_t *bgl_perfctr_hwstate(void)
{
    return &state;
}

int bgl_perfctr_dump_state(FILE *fh)
{
    static const char *const edges[] = {"high", "rise", "fall", "low"};
    if (!fh) fh = stderr;
    if (enter()) return -1;
    fprintf(fh, "bgl_perfctr: %d events, counters in use %013llx, groups to change %05llx\n", state.nmapped,
            state.in_use, state.modified);
    for (int i = 0; i < GROUPS; i++)
        if (state.ctrl[i]) fprintf(fh, "  group %2d  control %08x\n", i, state.ctrl[i]);
    fprintf(fh, "  counter  group  edge  added  to be               count  event\n");
    for (int i = 0; i < state.nmapped; i++) {
        const bgl_perfctr_control_map_t *entry = &state.map[i];
        fprintf(fh, "  %7d  %5d  %4s  %5d  %5d  %18llu  %s\n", entry->counter_register, entry->cntrl_register,
                edges[entry->event.edge], entry->ref_count, entry->new_count,
                entry->ref_count ? state.vdata[entry->counter_register] : 0,
                BGL_PERFCTR_event_table[entry->event.num].event_name);
    }
    return leave(0);
}
