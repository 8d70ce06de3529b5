/* bgl_perfctr on Blue Gene/L: places and refusals, commits, counts against known loops and against the simulator's own
 * counts of all 328 events, registers that wrap.
 *
 *   bgl_perfctr_test          a line "ok - NAME" or "not ok - NAME" per check
 *   bgl_perfctr_test events   id, name, places and text of every event
 *   bgl_perfctr_test init     what bgl_perfctr_init_synch and a first bgl_perfctr_add_event return
 */
#include <bgl_perfctr.h>
#include <chiliad/callthru.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

enum { HIGH = BGL_PERFCTR_UPC_EDGE_HI, RISE = BGL_PERFCTR_UPC_EDGE_RISE, LOW = BGL_PERFCTR_UPC_EDGE_LOW };
enum { LOCAL = BGL_PERFCTR_MODE_LOCAL, COUNTERS = BGL_PERFCTR_NUM_COUNTERS, EVENTS = BGL_PERFCTR_NUMEVENTS };
/* Counters of the FPUs. */
enum { ARITH0 = 48, LDST0 = 49, ARITH1 = 50, LDST1 = 51 };

static int failed;
static unsigned long long values[COUNTERS];

static void same(long long got, long long wanted, const char *name)
{
    printf("%s - %s\n", got == wanted ? "ok" : "not ok", name);
    if (got != wanted) printf("# got %lld, wanted %lld\n", got, wanted);
    failed |= got != wanted;
}

static int add(int num, unsigned edge)
{
    return bgl_perfctr_add_event((BGL_PERFCTR_event_t){(BGL_PERFCTR_event_num_t)num, edge});
}

static int take_away(int num, unsigned edge)
{
    return bgl_perfctr_remove_event((BGL_PERFCTR_event_t){(BGL_PERFCTR_event_num_t)num, edge});
}

/* The counter of an event; -1 if it has none. */
static int counter_of(int num, unsigned edge)
{
    const bgl_perfctr_control_t *state = bgl_perfctr_hwstate();
    for (int i = 0; i < state->nmapped; i++)
        if ((int)state->map[i].event.num == num && state->map[i].event.edge == edge)
            return state->map[i].counter_register;
    return -1;
}

/* --- Work --------------------------------------------------------------------------------------------------------- */

static double numbers[2][20000], one = 1;

/* `count` adds and stores, count + 1 loads. */
static void __attribute__((noinline)) loop(double *at, unsigned count)
{
    __asm__ volatile("lfd 0, 0(%2)\n\t"
                     "mtctr %1\n"
                     "1:\tlfd 1, 0(%0)\n\t"
                     "fadd 1, 1, 0\n\t"
                     "stfd 1, 0(%0)\n\t"
                     "addi %0, %0, 8\n\t"
                     "bdnz 1b"
                     : "+b"(at)
                     : "r"(count), "b"(&one)
                     : "ctr", "fr0", "fr1", "memory");
}

static char memory[8 << 20];

/* Reads and writes lines far apart: misses in every cache. */
static void __attribute__((noinline)) wander(unsigned steps)
{
    volatile char *at = memory;
    for (unsigned i = 0, place = 0; i < steps; i++) {
        place = (place * 1103515245u + 12345u) % sizeof memory;
        at[place]++;
    }
}

/* --- Initialisation and refusals ---------------------------------------------------------------------------------- */

static void test_init(void)
{
    same(add(BGL_UPC_L3_CACHE_HIT, RISE), -1, "nothing can be added before the start");
    same(bgl_perfctr_commit(), -1, "nor committed");
    same(bgl_perfctr_update(), -1, "nor updated");
    same(bgl_perfctr_init_synch(17), -1, "an unknown mode is refused");
    same(bgl_perfctr_init_synch(BGL_PERFCTR_MODE_REMOTE), -1, "so is the remote one: there is no service");
    same(bgl_perfctr_init_synch(LOCAL), LOCAL, "the start returns the mode");
    same(bgl_perfctr_init_synch(LOCAL), -1, "a second start is refused");
    same(bgl_perfctr_add_remote_counters(), -1, "there are no remote counters");
    same(bgl_perfctr_shutdown(), 0, "the end");
    same(bgl_perfctr_init_synch(LOCAL), LOCAL, "and another start");
}

static void test_places(void)
{
    same(add(-1, HIGH) + add(EVENTS, HIGH), -2, "numbers that are no events are refused");
    same(add(BGL_UPC_L3_CACHE_HIT, 4), -1, "an edge that is none is refused");
    same(add(BGL_UPC_TR_RCV_0_RESYNCH_MODE_AFTER_ERR, RISE), -1, "an event without a place is refused");
    same(add(BGL_FPU_ARITH_ADD_SUBTRACT, RISE), -1, "the FPUs' counters take no edge");
    same(add(BGL_FPU_ARITH_ADD_SUBTRACT, HIGH), 0, "an event of the FPU");
    same(counter_of(BGL_FPU_ARITH_ADD_SUBTRACT, HIGH), ARITH0, "has the FPU's counter");
    same(add(BGL_FPU_ARITH_MULT_DIV, HIGH), -1, "an event whose only counter is taken is refused");
    same(add(BGL_2NDFPU_ARITH_MULT_DIV, HIGH), 0, "the other FPU has counters of its own");
    same(add(BGL_UPC_PU0_DCURD_2_RD_PEND, HIGH), 0, "an event with three places");
    same(counter_of(BGL_UPC_PU0_DCURD_2_RD_PEND, HIGH), 3 * 13 + 2, "gets the last one first");
    same(add(BGL_UPC_PU0_DCURD_2_RD_PEND, RISE), 0, "with another edge it needs another counter");
    same(counter_of(BGL_UPC_PU0_DCURD_2_RD_PEND, RISE), 3 * 7 + 2, "the next from the end");
    same(add(BGL_UPC_PU0_DCURD_2_RD_PEND, LOW), 0, "and another");
    same(counter_of(BGL_UPC_PU0_DCURD_2_RD_PEND, LOW), 3 * 7, "the first");
    same(add(BGL_UPC_PU0_DCURD_2_RD_PEND, BGL_PERFCTR_UPC_EDGE_FALL), -1, "then there is no place left");
    same(add(BGL_UPC_PU0_DCURD_2_RD_PEND, HIGH), 0, "the same event with the same edge shares its counter");
    same(bgl_perfctr_hwstate()->nmapped, 5, "refused events leave nothing");
    bgl_perfctr_revoke();
    same(bgl_perfctr_hwstate()->nmapped, 0, "revoke forgets what was not committed");
}

static void test_commits(void)
{
    const bgl_perfctr_control_t *state = bgl_perfctr_hwstate();
    add(BGL_UPC_L3_CACHE_HIT, RISE); /* 4:C:0 */
    add(BGL_UPC_L3_CACHE_HIT, RISE);
    same((long long)state->in_use, 0, "an event that was added is not counted yet");
    same(bgl_perfctr_update(), -1, "no update while one waits");
    same(bgl_perfctr_commit(), 0, "commit");
    same((long long)state->in_use, 1LL << 14, "then its counter is in use");
    same(bgl_perfctr_update(), 0, "and can be looked at");
    same(state->map[0].ref_count, 2, "it was added twice");
    same(take_away(BGL_UPC_L3_CACHE_HIT, RISE), 0, "taken away once");
    bgl_perfctr_commit();
    same((long long)state->in_use, 1LL << 14, "it stays");
    same(take_away(BGL_UPC_L3_CACHE_HIT, RISE), 0, "taken away twice");
    same(take_away(BGL_UPC_L3_CACHE_HIT, RISE), -1, "it cannot be taken away more often");
    same(take_away(BGL_UPC_L3_CACHE_HIT, HIGH), -1, "nor what was never added");
    same((long long)state->in_use, 1LL << 14, "until the commit it is counted");
    same(add(BGL_UPC_L3_CACHE_HIT, HIGH), -1, "and holds its counter");
    bgl_perfctr_revoke();
    same(state->map[0].new_count, 1, "revoke undoes the removal");
    take_away(BGL_UPC_L3_CACHE_HIT, RISE);
    bgl_perfctr_commit();
    same((long long)state->in_use | state->nmapped, 0, "the commit frees it");
    same(add(BGL_UPC_L3_CACHE_HIT, HIGH), 0, "for another edge, say");
    bgl_perfctr_revoke();
}

static void test_control_words(void)
{
    const bgl_perfctr_control_t *state = bgl_perfctr_hwstate();
    add(BGL_UPC_L3_LINE_STARTS_EVICT_LINE_NUM_PRESSURE, RISE); /* 13:A:19 */
    add(BGL_UPC_L3_CACHE_MISS_DATA_ALRDY_WAY_DDR, LOW);        /* 4:B:1 */
    add(BGL_UPC_L3_WRQ1_DEP_DBUF, BGL_PERFCTR_UPC_EDGE_FALL);  /* 13:C:19 */
    add(BGL_FPU_ARITH_OEDIPUS_OP, HIGH);                       /* 16:ARITH:3 */
    add(BGL_FPU_LDST_DBL_ST, HIGH);                            /* 16:LDST:2 */
    bgl_perfctr_commit();
    same(state->ctrl[13], 1u << 30 | 19u << 21 | 2u << 10 | 19u << 1, "the control word of two counters of a group");
    same(state->ctrl[4], 3u << 19 | 1u << 12, "of counter B");
    same(state->ctrl[16], 0x11000032, "of an FPU");
    bgl_perfctr_shutdown();
    same(bgl_perfctr_hwstate()->ctrl[16], 0, "the end clears them");
    bgl_perfctr_init_synch(LOCAL);
}

static void test_buffers(void)
{
    static bgl_perfctr_control_t copy;
    same(bgl_perfctr_copy_counters(NULL, sizeof values), -1, "no buffer for counters");
    same(bgl_perfctr_copy_counters(values, sizeof values - 1), -2, "one that is too small");
    same(bgl_perfctr_copy_state(NULL, sizeof copy), -1, "no buffer for the state");
    same(bgl_perfctr_copy_state(&copy, sizeof copy - 1), -2, "one that is too small for it");
    add(BGL_UPC_L3_CACHE_HIT, RISE);
    bgl_perfctr_commit();
    wander(1000);
    same(bgl_perfctr_copy_state(&copy, sizeof copy), 0, "the state in a buffer");
    same(memcmp(&copy, bgl_perfctr_hwstate(), sizeof copy), 0, "is the library's");
    same(copy.vdata[14] > 0 && copy.vdata[14] == copy.last[14] && copy.latest_update > 0, 1, "with counts up to date");
    bgl_perfctr_dump_state(stdout);
}

/* --- Counts ------------------------------------------------------------------------------------------------------- */

static void *on_other_core(void *unused)
{
    loop(numbers[1], 2345);
    return unused;
}

static void test_known_loops(void)
{
    pthread_t thread;
    add(BGL_FPU_ARITH_ADD_SUBTRACT, HIGH);
    add(BGL_FPU_LDST_DBL_ST, HIGH);
    add(BGL_2NDFPU_ARITH_ADD_SUBTRACT, HIGH);
    add(BGL_2NDFPU_LDST_DBL_LD, HIGH);
    bgl_perfctr_commit();
    loop(numbers[0], 10000);
    bgl_perfctr_copy_counters(values, sizeof values);
    same((long long)values[ARITH0], 10000, "adds of the first core");
    same((long long)values[LDST0], 10000, "stores of the first core");
    same((long long)(values[ARITH1] + values[LDST1]), 0, "the second core did nothing");
    pthread_create(&thread, NULL, on_other_core, NULL);
    loop(numbers[0], 234);
    pthread_join(thread, NULL);
    bgl_perfctr_copy_counters(values, sizeof values);
    same((long long)values[ARITH0], 10234, "adds go on");
    same((long long)values[ARITH1], 2345, "adds of the second core");
    same((long long)values[LDST1], 2346, "loads of the second core");
    take_away(BGL_FPU_ARITH_ADD_SUBTRACT, HIGH);
    add(BGL_FPU_ARITH_TRINARY_OP, HIGH);
    bgl_perfctr_commit();
    same(counter_of(BGL_FPU_ARITH_ADD_SUBTRACT, HIGH), -1, "an event can give way to another");
    same(add(BGL_FPU_ARITH_TRINARY_OP, HIGH), 0, "only after the commit");
    bgl_perfctr_commit();
    loop(numbers[0], 100);
    bgl_perfctr_copy_counters(values, sizeof values);
    same((long long)values[ARITH0], 0, "which begins at zero");
}

/* Adds whatever still finds a place, of some events. */
static void fill(int first, int last, unsigned edge)
{
    for (int num = first; num <= last; num++)
        if (counter_of(num, edge) < 0) add(num, edge);
}

static uint64_t unrestricted[4][EVENTS];

/* The simulator's counts of all events in all four ways, at one moment. */
static void read_all(void)
{
    static uint32_t events[4][EVENTS];
    for (unsigned edge = HIGH; edge <= LOW; edge++)
        for (unsigned num = 0; num < EVENTS; num++)
            events[edge][num] = CHILIAD_EVENT_AS(edge) | num;
    struct chiliad_events_read request = {4 * EVENTS, CHILIAD_NODE, events[0], unrestricted[0]};
    chiliad_callthru(CHILIAD_EVENTS_READ, (long)&request, 0);
}

/* Both at almost the same moment: after some rounds all code and data of this are in the L1 caches, so that nothing but
 * time passes in between. */
static void read_both(void)
{
    for (int round = 0; round < 5; round++) {
        bgl_perfctr_copy_counters(values, sizeof values);
        read_all();
    }
}

static void test_all_counters(void)
{
    static uint64_t whole[4][EVENTS];
    static unsigned long long own[COUNTERS];
    const bgl_perfctr_control_t *state = bgl_perfctr_hwstate();
    int refused = 0, counted = 0;
    fill(BGL_UPC_L3_CACHE_HIT, BGL_UPC_PU1_PREF_STREAM_HIT, RISE);
    for (unsigned edge = HIGH; edge <= LOW; edge++)
        fill(0, EVENTS - 1, edge);
    same(state->nmapped, COUNTERS, "all 52 counters are in use");
    for (unsigned edge = HIGH; edge <= LOW; edge++)
        for (int num = 0; num < EVENTS; num++)
            refused += counter_of(num, edge) < 0 && add(num, edge) == -1;
    same(refused, 4 * EVENTS - COUNTERS, "a 53rd is refused, whatever the event");
    same(bgl_perfctr_commit(), 0, "all are committed at once");
    same((long long)state->in_use, (1LL << COUNTERS) - 1, "a bit for each");

    read_both();
    memcpy(whole, unrestricted, sizeof whole);
    memcpy(own, values, sizeof own);
    wander(20000);
    loop(numbers[0], 5000);
    read_both();
    for (int i = 0; i < state->nmapped; i++) {
        const bgl_perfctr_control_map_t *entry = &state->map[i];
        char name[100];
        unsigned num = entry->event.num, edge = entry->event.edge;
        if (edge == LOW) continue; /* counts while nothing happens */
        snprintf(name, sizeof name, "%s, edge %u: as many as without limits", BGL_PERFCTR_event_table[num].event_name,
                 edge);
        unsigned long long gained = values[entry->counter_register] - own[entry->counter_register];
        same((long long)gained, (long long)(unrestricted[edge][num] - whole[edge][num]), name);
        counted += gained > 0;
    }
    same(counted > 20, 1, "more than 20 of them have counted something");
    same(chiliad_callthru(CHILIAD_EVENTS_READ,
                          (long)&(struct chiliad_events_read){1, CHILIAD_NODE, &(uint32_t){CHILIAD_EVENT_AS(4)}, own},
                          0),
         -EINVAL, "there is no fifth way to count");
}

/* --- Registers of 32 bits ----------------------------------------------------------------------------------------- */

/* Nothing is on the torus: its wires are low in each of their cycles, which are two of the core's. 13 seconds are more
 * than 2^32 of them. Returns what the counter missed, a few cycles between the two readings apart. */
static long long sleep_long(void)
{
    struct timespec rest = {13, 0};
    add(BGL_UPC_TS_XP_PKTS, LOW);
    bgl_perfctr_commit();
    read_both();
    uint64_t whole = unrestricted[LOW][BGL_UPC_TS_XP_PKTS];
    int at = counter_of(BGL_UPC_TS_XP_PKTS, LOW);
    unsigned long long own = values[at];
    while (nanosleep(&rest, &rest))
        ;
    read_both();
    whole = unrestricted[LOW][BGL_UPC_TS_XP_PKTS] - whole;
    same(whole > 1LL << 32, 1, "a wire was low for more than 2^32 cycles");
    return (long long)(whole - (values[at] - own));
}

static void on_alarm(int signal)
{
    (void)signal;
}

static void test_wrap(void)
{
    long long missed;
    bgl_perfctr_shutdown();
    bgl_perfctr_init_synch(LOCAL);
    missed = sleep_long();
    same(missed > (1LL << 32) - 10000 && missed < (1LL << 32) + 10000, 1,
         "a register that is never read loses what is over 32 bits");
    bgl_perfctr_shutdown();
    same(bgl_perfctr_init_synch(BGL_PERFCTR_MODE_SYNC), BGL_PERFCTR_MODE_SYNC, "with a timer");
    missed = sleep_long();
    same(missed > -10000 && missed < 10000, 1, "nothing is lost");
    bgl_perfctr_shutdown();
    signal(SIGALRM, on_alarm);
    same(bgl_perfctr_init_synch(BGL_PERFCTR_MODE_ASYNC), LOCAL, "a program's own SIGALRM is left to it");
    bgl_perfctr_shutdown();
}

static void print_events(void)
{
    for (int num = 0; num < EVENTS; num++) {
        BGL_PERFCTR_event_descr_t *row = &BGL_PERFCTR_event_table[num];
        uint64_t counters = 0;
        printf("%d %s ", (int)row->event_num, row->event_name);
        for (int i = 0; i < row->num_encodings; i++) {
            BGL_PERFCTR_event_encoding_t *at = &row->encoding[i];
            int fpu = at->group >= BGL_PERFCTR_FPU_GROUP_OFFSET;
            printf("%s%u:%s:%u", i ? "," : "", at->group,
                   fpu ? (at->counter ? "LDST" : "ARITH") : &"A\0B\0C"[2 * at->counter], at -> code);
            counters |= UINT64_C(1) << (fpu ? 48 + 2 * (at->group - 16) + at->counter : 3 * at->group + at->counter);
        }
        printf("%s %s%s\n", row->num_encodings ? "" : "-", row->event_descr,
               counters == row->mapping ? "" : " (mapping)");
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "events") == 0) {
        print_events();
        return 0;
    }
    if (argc > 1) {
        printf("init_synch %d, add_event %d\n", bgl_perfctr_init_synch(LOCAL), add(BGL_UPC_L3_CACHE_HIT, RISE));
        return 0;
    }
    test_init();
    test_places();
    test_commits();
    test_control_words();
    test_buffers();
    test_known_loops();
    test_all_counters();
    test_wrap();
    return failed;
}
