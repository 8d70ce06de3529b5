/* PAPI on the node: counts that are known beforehand, all events in one set, overflow at the exact event, every kind of
 * error, threads. Prints TAP lines without numbers; tests/cmd/test_papi counts them.
 */
#include <papi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed;

static void check(int good, const char *what)
{
    printf("%s - %s\n", good ? "ok" : "not ok", what);
    failed |= !good;
}

static void check_value(long long got, long long wanted, const char *what)
{
    if (got != wanted) printf("# %s: %lld, not %lld\n", what, got, wanted);
    check(got == wanted, what);
}

/* --- Work whose counts one can read --------------------------------------------------------------------------------
 */

static double numbers[4] = {1, 2, 3, 4};

/* 9 instructions a turn: 2 loads, an add, 2 multiplies, an FMA, a store, an integer add, a branch; 5 flops. */
static void __attribute__((noinline)) turns(unsigned count)
{
    __asm__ volatile("mtctr %0\n"
                     "1: lfd 0, 0(%1)\n\t"
                     "lfd 1, 8(%1)\n\t"
                     "fadd 2, 0, 1\n\t"
                     "fmul 3, 0, 1\n\t"
                     "fmul 5, 0, 1\n\t"
                     "fmadd 4, 0, 1, 2\n\t"
                     "stfd 4, 16(%1)\n\t"
                     "addi 9, 9, 1\n\t"
                     "bdnz 1b"
                     :
                     : "r"(count), "b"(numbers)
                     : "ctr", "9", "fr0", "fr1", "fr2", "fr3", "fr4", "fr5", "memory");
}

enum { TURNS = 1000 };
struct known {
    const char *name;
    long long count; /* of TURNS turns */
};
static const struct known known[] = {
    {"PAPI_TOT_INS", 9 * TURNS},
    {"PAPI_TOT_IIS", 9 * TURNS},
    {"PAPI_LD_INS", 2 * TURNS},
    {"PAPI_SR_INS", TURNS},
    {"PAPI_LST_INS", 3 * TURNS},
    {"PAPI_BR_INS", TURNS},
    {"PAPI_BR_CN", TURNS},
    {"PAPI_BR_UCN", 0},
    {"PAPI_FP_INS", 4 * TURNS},
    {"PAPI_FP_OPS", 5 * TURNS},
    {"PAPI_FMA_INS", TURNS},
    {"PAPI_FML_INS", 2 * TURNS},
    {"PAPI_FAD_INS", TURNS},
    {"PAPI_FDV_INS", 0},
    {"PAPI_INT_INS", TURNS},
    {"PAPI_L1_DCA", 3 * TURNS},
    {"PAPI_VEC_INS", 0},
    {"PAPI_SYC_INS", 0},
    {"PAPI_L1_DCR", 2 * TURNS},
    {"PAPI_L1_DCW", TURNS},
    {"BGL_INST", 9 * TURNS},
    {"BGL_FP_LOAD", 2 * TURNS},
    {"BGP_PU0_FPU_FMA_2", TURNS},
    {"PNE_BGP_PU0_FPU_ADD_SUB_1", TURNS},
    {"chiliad:::BGP_PU0_FPU_MULT_1", 2 * TURNS},
    {"BGP_PU0_IPIPE_BRANCHES", TURNS},
    {"BGP_PU1_FPU_FMA_2", 0},
};
enum { KNOWN = sizeof known / sizeof *known };

static int make_set(const char *const *names, int count)
{
    int set = PAPI_NULL;
    if (PAPI_create_eventset(&set)) return PAPI_NULL;
    for (int i = 0; i < count; i++)
        if (PAPI_add_named_event(set, names[i])) printf("# cannot add %s\n", names[i]);
    return set;
}

static void drop_set(int *set)
{
    check(PAPI_cleanup_eventset(*set) == PAPI_OK && PAPI_destroy_eventset(set) == PAPI_OK && *set == PAPI_NULL,
          "a set is cleaned up and destroyed");
}

static void measure(int set, unsigned count, long long *values)
{
    (void)PAPI_start(set);
    turns(count);
    (void)PAPI_stop(set, values);
}

static void test_counts(void)
{
    const char *names[KNOWN];
    long long once[KNOWN], thrice[KNOWN], nothing[KNOWN];
    for (int i = 0; i < KNOWN; i++)
        names[i] = known[i].name;
    int set = make_set(names, KNOWN);
    check_value(PAPI_num_events(set), KNOWN, "all events of the table are in the set");
    measure(set, TURNS, once); /* everything is in the caches */
    measure(set, TURNS, once);
    measure(set, 3 * TURNS, thrice);
    for (int i = 0; i < KNOWN; i++)
        check_value(thrice[i] - once[i], 2 * known[i].count, known[i].name);
    (void)PAPI_start(set);
    (void)PAPI_stop(set, nothing);
    printf("overhead %lld\n", nothing[0]);
    check(nothing[0] > 0 && nothing[0] <= 64, "a start and a stop with nothing between are 64 instructions at most");
    measure(set, TURNS, thrice);
    check(memcmp(once, thrice, sizeof once) == 0, "the same work gives the same counts");
    drop_set(&set);
}

/* Read, accumulate, reset, write. */
static void test_values(void)
{
    static const char *const names[] = {"PAPI_FMA_INS", "PAPI_FP_OPS"};
    int set = make_set(names, 2);
    long long values[2] = {0, 0}, stamp = 0;
    (void)PAPI_start(set);
    turns(100);
    (void)PAPI_read(set, values);
    check_value(values[0], 100, "read gives what was counted");
    turns(100);
    (void)PAPI_read_ts(set, values, &stamp);
    check_value(values[1], 1000, "reading does not reset");
    check(stamp > 0 && stamp <= PAPI_get_real_cyc(), "read_ts stamps with cycles");
    (void)PAPI_accum(set, values);
    check_value(values[0], 400, "accum adds to the values");
    turns(7);
    (void)PAPI_read(set, values);
    check_value(values[0], 7, "accum resets");
    (void)PAPI_reset(set);
    turns(5);
    (void)PAPI_read(set, values);
    check_value(values[0], 5, "reset resets");
    values[0] = 1000;
    values[1] = -5;
    (void)PAPI_write(set, values);
    turns(1);
    (void)PAPI_stop(set, values);
    check(values[0] == 1001 && values[1] == 0, "write sets the values");
    values[0] = values[1] = 99;
    (void)PAPI_read(set, values);
    check_value(values[0], 1001, "a stopped set can be read");
    (void)PAPI_start(set);
    (void)PAPI_stop(set, values);
    check_value(values[0], 0, "start zeroes");
    drop_set(&set);
}

/* --- All events at once --------------------------------------------------------------------------------------------
 */

static void test_all(void)
{
    int set = PAPI_NULL, added = 0, code, count = PAPI_num_hwctrs();
    (void)PAPI_create_eventset(&set);
    for (int i = 0; i < count; i++)
        added += PAPI_add_event(set, i | PAPI_NATIVE_MASK) == PAPI_OK;
    check(count >= 1024 && added == count, "all native events, 1024 and more, are in one set");
    code = PAPI_PRESET_MASK;
    (void)PAPI_enum_event(&code, PAPI_ENUM_FIRST);
    do
        added += PAPI_query_event(code) == PAPI_OK && PAPI_add_event(set, code) == PAPI_OK;
    while (PAPI_enum_event(&code, PAPI_PRESET_ENUM_AVAIL) == PAPI_OK);
    check_value(PAPI_num_events(set), added, "and all presets with them");
    long long *values = calloc((size_t)added, sizeof *values);
    int *codes = calloc((size_t)added, sizeof *codes), number = added, fma = -1, preset = -1;
    check(PAPI_list_events(set, codes, &number) == PAPI_OK && number == added, "the set lists them");
    measure(set, TURNS, values);
    for (int i = 0; i < added; i++) {
        char name[PAPI_MAX_STR_LEN];
        (void)PAPI_event_code_to_name(codes[i], name);
        if (strcmp(name, "BGP_PU0_FPU_FMA_2") == 0) fma = i;
        if (strcmp(name, "PAPI_FMA_INS") == 0) preset = i;
    }
    check(fma >= 0 && values[fma] == TURNS, "one of a thousand counts right");
    check(preset >= 0 && values[preset] == TURNS, "a preset among them counts right");
    free(values);
    free(codes);
    drop_set(&set);
}

/* --- Overflow ------------------------------------------------------------------------------------------------------
 */

static volatile int overflows, at_wrong_place;
static volatile long long vectors, seen[64];
static int over_set;

static void on_overflow(int set, void *address, long long vector, void *context)
{
    long long values[2];
    (void)context;
    (void)PAPI_read(set, values);
    at_wrong_place += set != over_set || !address;
    if (overflows < 64) seen[overflows] = values[0];
    vectors |= vector;
    overflows++;
}

static void test_overflow(void)
{
    static const char *const names[] = {"PAPI_FMA_INS", "PAPI_TOT_CYC"};
    long long values[2];
    int places[4], number = 4, exact = 1;
    over_set = make_set(names, 2);
    check(PAPI_overflow(over_set, PAPI_FMA_INS, 100, 0, on_overflow) == PAPI_OK, "overflow is accepted");
    measure(over_set, TURNS, values);
    check_value(overflows, 10, "an event that happens 1000 times overflows 10 times at 100");
    check_value(values[0], TURNS, "what the handler does is not counted");
    for (int i = 0; i < 10; i++)
        exact &= seen[i] == 100 * (i + 1);
    check(exact, "each overflow comes at the exact event");
    check(!at_wrong_place && vectors == 1, "the handler gets set, address and vector");
    check(PAPI_get_overflow_event_index(over_set, vectors, places, &number) == PAPI_OK && number == 1 && !places[0],
          "the vector can be decoded");
    check(PAPI_overflow(over_set, PAPI_FMA_INS, 0, 0, NULL) == PAPI_OK, "overflow is taken off again");
    overflows = 0;
    measure(over_set, TURNS, values);
    check_value(overflows, 0, "and then there is none");
    check(PAPI_overflow(over_set, PAPI_TOT_CYC, 5000, PAPI_OVERFLOW_FORCE_SW, on_overflow) == PAPI_OK,
          "cycles overflow too, in software if one likes");
    vectors = 0;
    measure(over_set, 20 * TURNS, values);
    check(overflows > 10 && overflows == values[1] / 5000 && vectors == 2, "as often as the count says");
    check_value(PAPI_overflow(over_set, PAPI_TOT_INS, 10, 0, on_overflow), PAPI_ENOEVNT, "an event that is not there");
    check_value(PAPI_overflow(over_set, PAPI_FMA_INS, -1, 0, on_overflow), PAPI_EINVAL, "a threshold below 0");
    check_value(PAPI_overflow(over_set, PAPI_FMA_INS, 10, 0, NULL), PAPI_EINVAL, "no handler");
    drop_set(&over_set);
}

static void test_misses(void)
{
    static const char *const names[] = {"PAPI_L1_LDM"};
    static volatile char memory[1 << 16];
    long long values[1];
    over_set = make_set(names, 1);
    (void)PAPI_overflow(over_set, PAPI_L1_LDM, 64, 0, on_overflow);
    overflows = 0;
    (void)PAPI_start(over_set);
    for (unsigned i = 0; i < sizeof memory; i += 32)
        (void)memory[i];
    (void)PAPI_stop(over_set, values);
    check(values[0] >= 1024 && overflows == values[0] / 64, "cache misses overflow at the exact event");
    drop_set(&over_set);
}

static void test_profile(void)
{
    static const char *const names[] = {"PAPI_TOT_INS"};
    static unsigned short buckets[64];
    int set = make_set(names, 1), sum = 0;
    long long values[1];
    check(PAPI_profil(buckets, sizeof buckets, (vptr_t)turns, 65536, set, PAPI_TOT_INS, 8000, PAPI_PROFIL_POSIX) ==
              PAPI_OK,
          "a profile is accepted");
    measure(set, 100 * TURNS, values);
    for (int i = 0; i < 64; i++)
        sum += buckets[i];
    check(sum >= 100 && sum == values[0] / 8000, "a profile has a sample for each threshold's worth of instructions");
    check_value(PAPI_profil(NULL, 0, NULL, 0, set, PAPI_TOT_INS, 0, 0), PAPI_OK, "it is taken off again");
    drop_set(&set);
}

/* --- Threads -------------------------------------------------------------------------------------------------------
 */

static pthread_barrier_t barrier;

struct work {
    unsigned turns;
    long long values[2];
    int overflows;
};
static __thread int own_overflows;

static void on_thread_overflow(int set, void *address, long long vector, void *context)
{
    (void)set, (void)address, (void)vector, (void)context;
    own_overflows++;
}

static void *thread(void *argument)
{
    static const char *const names[] = {"PAPI_FMA_INS", "PAPI_TOT_INS"};
    struct work *work = argument;
    (void)PAPI_register_thread();
    int set = make_set(names, 2);
    (void)PAPI_overflow(set, PAPI_FMA_INS, 1000, 0, on_thread_overflow);
    (void)pthread_barrier_wait(&barrier);
    (void)PAPI_start(set);
    turns(work->turns);
    (void)PAPI_stop(set, work->values);
    work->overflows = own_overflows;
    (void)PAPI_cleanup_eventset(set);
    (void)PAPI_destroy_eventset(&set);
    (void)PAPI_unregister_thread();
    return NULL;
}

/* More threads than cores, so that they take turns. */
static void test_threads(void)
{
    enum { THREADS = 7 };
    pthread_t ids[THREADS];
    struct work work[THREADS] = {{0}};
    int right = 1, over = 1;
    check(PAPI_thread_init((unsigned long (*)(void))pthread_self) == PAPI_OK, "threads are announced");
    (void)pthread_barrier_init(&barrier, NULL, THREADS);
    for (unsigned i = 0; i < THREADS; i++) {
        work[i].turns = 10000 * (i + 1);
        (void)pthread_create(&ids[i], NULL, thread, &work[i]);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        (void)pthread_join(ids[i], NULL);
        right &= work[i].values[0] == 10000 * (int)(i + 1);
        right &= work[i].values[1] > 9LL * 10000 * (int)(i + 1); /* and the way out of the handler */
        over &= work[i].overflows == 10 * (int)(i + 1);
    }
    check(right, "seven threads on four cores count their own work only");
    check(over, "and overflow in their own thread");
    unsigned long listed[8];
    int number = 8;
    check(PAPI_list_threads(listed, &number) == PAPI_OK && number == 1 && listed[0] == (unsigned long)pthread_self(),
          "threads that are done are not listed");
}

/* --- Errors --------------------------------------------------------------------------------------------------------
 */

static int printed;

static int count_error(int code)
{
    (void)code;
    return ++printed;
}

/* As listings do: each event, its unit masks, and the end. None of it is an error to be printed. */
static void test_enumeration(void)
{
    static const int first[] = {PAPI_NATIVE_MASK, PAPI_PRESET_MASK};
    PAPI_option_t option = {.debug = {PAPI_VERB_ESTOP, count_error}};
    check_value(PAPI_set_opt(PAPI_DEBUG, &option), PAPI_OK, "errors are counted");
    int events = 0;
    for (int i = 0; i < 2; i++) {
        int code = first[i];
        for (int status = PAPI_enum_event(&code, PAPI_ENUM_FIRST); status == PAPI_OK;
             status = PAPI_enum_event(&code, PAPI_ENUM_EVENTS)) {
            int mask = code;
            events += i || PAPI_enum_cmp_event(&mask, PAPI_NTV_ENUM_UMASKS, 0) != PAPI_OK;
        }
    }
    check(events > 900, "all events are enumerated");
    check_value(printed, 0, "the end of an enumeration is not reported as an error");
    check_value(PAPI_query_event(PAPI_END), PAPI_ENOTPRESET, "an error");
    check_value(printed, 1, "is");
    option.debug = (PAPI_debug_option_t){PAPI_QUIET, NULL};
    (void)PAPI_set_opt(PAPI_DEBUG, &option);
}

static void test_errors(void)
{
    int set = PAPI_NULL, other = PAPI_NULL, code, state;
    long long values[4];
    PAPI_event_info_t info;
    check_value(PAPI_start(77), PAPI_ENOEVST, "a set that is not there");
    check_value(PAPI_create_eventset(NULL), PAPI_EINVAL, "no place for a set");
    (void)PAPI_create_eventset(&set);
    check_value(PAPI_create_eventset(&set), PAPI_EINVAL, "a set that is one already");
    check_value(PAPI_start(set), PAPI_EINVAL, "an empty set does not start");
    check_value(PAPI_add_event(set, PAPI_BR_MSP), PAPI_ENOEVNT, "a preset without a formula");
    check_value(PAPI_add_event(set, PAPI_TOT_INS), PAPI_OK, "one with a formula");
    check_value(PAPI_add_event(set, PAPI_TOT_INS), PAPI_ECNFLCT, "an event twice");
    check_value(PAPI_stop(set, values), PAPI_ENOTRUN, "stop of what does not run");
    (void)PAPI_start(set);
    check_value(PAPI_start(set), PAPI_EISRUN, "start of what runs");
    check_value(PAPI_add_event(set, PAPI_TOT_CYC), PAPI_EISRUN, "add to what runs");
    check_value(PAPI_cleanup_eventset(set), PAPI_EISRUN, "clean-up of what runs");
    check_value(PAPI_destroy_eventset(&set), PAPI_EISRUN, "destruction of what runs");
    (void)PAPI_create_eventset(&other);
    (void)PAPI_add_event(other, PAPI_TOT_CYC);
    check_value(PAPI_start(other), PAPI_EISRUN, "one set of a thread runs at a time");
    check(PAPI_state(set, &state) == PAPI_OK && state & PAPI_RUNNING, "the state is reported");
    (void)PAPI_stop(set, values);
    check_value(PAPI_destroy_eventset(&set), PAPI_EINVAL, "destruction of what has events");
    check_value(PAPI_remove_event(set, PAPI_FP_OPS), PAPI_EINVAL, "an event that is not in the set");
    check_value(PAPI_read(set, NULL), PAPI_EINVAL, "no place for values");
    check_value(PAPI_event_name_to_code("PAPI_NONSENSE", &code), PAPI_ENOEVNT, "a name that is none");
    check_value(PAPI_event_name_to_code("BGP_RESERVED_92", &code), PAPI_OK, "reserved ids have names");
    check_value(code & PAPI_NATIVE_AND_MASK, 92, "with their numbers");
    check_value(PAPI_get_event_info(PAPI_NATIVE_MASK | 0xFFFF, &info), PAPI_ENOEVNT, "a code that is none");
    check_value(PAPI_query_event(PAPI_END), PAPI_ENOTPRESET, "a preset that is none");
    check_value(PAPI_library_init(0), PAPI_EINVAL, "another version");
    check_value(PAPI_set_granularity(PAPI_GRN_PROCG), PAPI_EINVAL, "a group of processes");
    check_value(PAPI_attach(set, 1), PAPI_ECMP, "another process");
    check_value(PAPI_get_component_info(0)->attach, 0, "and the component says so");
    PAPI_option_t timer = {.itimer = {.itimer_num = 2, .itimer_sig = 27, .ns = 1000}};
    check_value(PAPI_set_opt(PAPI_DEF_ITIMER, &timer), PAPI_ENOSUPP, "timers of overflows");
    check_value(PAPI_set_opt(PAPI_DEF_ITIMER_NS, &timer), PAPI_ENOSUPP, "and their interval");
    check_value(PAPI_lock(9), PAPI_EINVAL, "a lock that is none");
    check(strcmp(PAPI_strerror(PAPI_ENOEVST), "No such EventSet available") == 0 && !PAPI_strerror(1),
          "errors have PAPI's texts");
    int events[3] = {PAPI_FP_OPS, PAPI_BR_MSP, PAPI_TOT_CYC};
    check_value(PAPI_add_events(set, events, 3), 1, "adding many returns how many went in");
    drop_set(&set);
    drop_set(&other);
}

/* Domains, granularity, multiplexing. */
static void test_options(void)
{
    static const char *const names[] = {"PAPI_FMA_INS"};
    int set = make_set(names, 1);
    long long values[1];
    PAPI_option_t option = {.domain = {.eventset = set, .domain = PAPI_DOM_KERNEL}};
    check_value(PAPI_set_opt(PAPI_DOMAIN, &option), PAPI_OK, "a set has a domain");
    measure(set, TURNS, values);
    check_value(values[0], 0, "there is no kernel to be counted");
    option.domain = (PAPI_domain_option_t){.eventset = set, .domain = PAPI_DOM_ALL};
    (void)PAPI_set_opt(PAPI_DOMAIN, &option);
    option.granularity = (PAPI_granularity_option_t){.eventset = set, .granularity = PAPI_GRN_PROC};
    check_value(PAPI_set_opt(PAPI_GRANUL, &option), PAPI_OK, "a set has a granularity");
    measure(set, TURNS, values);
    check_value(values[0], TURNS, "a process with one thread counts as the thread does");
    check_value(PAPI_set_multiplex(set), PAPI_OK, "multiplexing is accepted");
    measure(set, TURNS, values);
    check_value(values[0], TURNS, "and changes nothing");
    check_value(PAPI_get_opt(PAPI_CLOCKRATE, NULL), PAPI_get_hardware_info()->clock_mhz, "the clock rate is reported");
    drop_set(&set);
}

int main(void)
{
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    check_value(PAPI_num_events(0), PAPI_ENOINIT, "before it is initialized");
    check_value(PAPI_library_init(PAPI_VER_CURRENT), PAPI_VER_CURRENT, "the library begins");
    test_counts();
    test_values();
    test_all();
    test_overflow();
    test_misses();
    test_profile();
    test_enumeration();
    test_errors();
    test_options();
    test_threads();
    PAPI_shutdown();
    check_value(PAPI_is_initialized(), PAPI_NOT_INITED, "the library ends");
    return failed;
}
