/* Every call of BGP_UPC and every code it returns; counts of a known loop; thresholds at the exact event.
 *
 *   bgp_upc_test          a line "ok - NAME" or "not ok - NAME" per check
 *   bgp_upc_test events   names and descriptions, then the configuration of each user mode with default edges
 */
#include <inttypes.h>
#include <signal.h>
#include <spi/UPC.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const BGP_UPC_Event_Edge_t DEFAULT = BGP_UPC_CFG_EDGE_DEFAULT;

enum { SHARED = BGP_UPC_READ_SHARED, EXCLUSIVE = BGP_UPC_READ_EXCLUSIVE };
enum { ADDS = BGP_PU0_FPU_ADD_SUB_1, LOADS = BGP_PU0_FPU_OTHER_LOADS, STORES = BGP_PU0_FPU_OTHER_STORES };

static int failed;

/* Two numbers that must be equal. */
static void same(long long got, long long wanted, const char *name)
{
    printf("%s - %s\n", got == wanted ? "ok" : "not ok", name);
    if (got != wanted) printf("# got %lld, wanted %lld\n", got, wanted);
    failed |= got != wanted;
}

static void yes(int condition, const char *name)
{
    same(condition != 0, 1, name);
}

/* --- A loop whose counts are known: `count` adds, stores and count + 1 loads -------------------------------------- */

static double numbers[20000], one = 1;

static void __attribute__((noinline)) loop(unsigned count)
{
    double *at = numbers;
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

/* --- Job start, start and stop ------------------------------------------------------------------------------------ */

static void test_start_stop(void)
{
    same(BGP_UPC_Check_Active(), 0, "a job begins stopped");
    same(BGP_UPC_Check_Active_Event(ADDS), 1, "a job begins with the events of user mode 0");
    same(BGP_UPC_Check_Active_Event(ADDS + 256), 0, "and not with those of user mode 1");
    same(BGP_UPC_Get_Counter_Mode(), 0, "a job begins in counter mode 0");
    same(BGP_UPC_Read_Counter(ADDS, SHARED), 0, "a job begins with counters of zero");
    BGP_UPC_Initialize();
    int32_t generation = BGP_UPC_Get_Start_Stop_GenNum();
    loop(100);
    same(BGP_UPC_Read_Counter(ADDS, SHARED), 0, "a stopped unit does not count");
    same(BGP_UPC_Start(0), generation + 1, "Start returns the next start/stop generation");
    same(BGP_UPC_Check_Active(), 1, "Check_Active sees the start");
    same(BGP_UPC_Start(0), generation + 1, "Start of a running unit changes nothing");
    same(BGP_UPC_Start(1), BGP_UPC_IS_ACTIVE, "-1 Start with reset of a running unit");
    same(BGP_UPC_Stop(), generation + 2, "Stop returns the next start/stop generation");
    same(BGP_UPC_Stop(), generation + 2, "Stop of a stopped unit changes nothing");
    same(BGP_UPC_Get_Start_Stop_GenNum(), generation + 2, "Get_Start_Stop_GenNum");
}

static void test_counts(void)
{
    BGP_UPC_Start(1);
    loop(1000);
    BGP_UPC_Stop();
    loop(500);
    same(BGP_UPC_Read_Counter(ADDS, EXCLUSIVE), 1000, "FP adds of the loop");
    same(BGP_UPC_Read_Counter_Value(LOADS, SHARED), 1001, "FP loads of the loop");
    same(BGP_UPC_Read_Counter_Value(STORES, EXCLUSIVE), 1000, "FP stores of the loop");
    BGP_UPC_Start(0);
    loop(234);
    BGP_UPC_Stop();
    same(BGP_UPC_Read_Counter(ADDS, SHARED), 1234, "Start without reset goes on");
    BGP_UPC_Start(1);
    loop(5000);
    BGP_UPC_Stop();
    same(BGP_UPC_Read_Counter(ADDS, SHARED), 5000, "Start with reset begins at zero");
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

static union {
    BGP_UPC_Read_Counters_Struct_t header;
    char bytes[BGP_UPC_MAXIMUM_LENGTH_READ_COUNTERS_STRUCTURE];
} all;
static int64_t values[BGP_UPC_MAX_MONITORED_EVENTS];

static void test_read_types(void)
{
    BGP_UPC_Start(1);
    int32_t generation = BGP_UPC_Get_Start_Stop_GenNum();
    loop(10);
    same(BGP_UPC_Read_Counter(ADDS, SHARED), 10, "a shared read of a running unit");
    same(BGP_UPC_Get_Start_Stop_GenNum(), generation, "does not stop it");
    same(BGP_UPC_Read_Counter(ADDS, EXCLUSIVE), 10, "an exclusive read of a running unit");
    same(BGP_UPC_Get_Start_Stop_GenNum(), generation + 1, "is one start/stop generation");
    same(BGP_UPC_Check_Active(), 1, "and leaves it running");
    loop(10);
    same(BGP_UPC_Read_Counters(values, sizeof values, EXCLUSIVE), generation + 2, "Read_Counters returns it");
    same(values[ADDS], 20, "Read_Counters of a running unit");
    same(BGP_UPC_Read_Counters(values, sizeof values, SHARED), generation + 2, "Read_Counters, shared");
    BGP_UPC_Stop();
    same(BGP_UPC_Read_Counter(ADDS, EXCLUSIVE), 20, "an exclusive read of a stopped unit");
    same(BGP_UPC_Get_Start_Stop_GenNum(), generation + 3, "is no generation");
}

/* Branches that are counted while all counters are read. */
static int64_t cost_of_reading(int32_t read_type)
{
    BGP_UPC_Start(1);
    int64_t before = BGP_UPC_Read_Counter(BGP_PU0_IPIPE_BRANCHES, SHARED);
    BGP_UPC_Read_Counters(values, sizeof values, read_type);
    int64_t after = BGP_UPC_Read_Counter(BGP_PU0_IPIPE_BRANCHES, SHARED);
    BGP_UPC_Stop();
    return after - before;
}

static void test_cost_of_reading(void)
{
    yes(cost_of_reading(SHARED) > 256, "a shared read counts itself");
    yes(cost_of_reading(EXCLUSIVE) < 100, "an exclusive read does not");
}

static void test_buffers(void)
{
    same(BGP_UPC_Read_Counter_Values(&all, sizeof all, EXCLUSIVE), BGP_UPC_Get_Start_Stop_GenNum(),
         "Read_Counter_Values returns the start/stop generation");
    same(sizeof all, 2112, "header and values are 2112 bytes");
    same((char *)all.header.counter - all.bytes, 64, "the header is 64 bytes");
    same(all.header.number_of_counters, 256, "it says how many values there are");
    same(all.header.mode, BGP_UPC_MODE_0, "and of which user mode");
    same(all.header.counter[ADDS], 20, "the values follow it");
    same(all.header.counter[253], 0, "a reserved counter is 0");
    same(all.header.number_processes_per_upc, 1, "one process per unit");
    yes(strnlen(all.header.location, 24) > 0 && strnlen(all.header.location, 24) < 24, "there is a location");
    memset(&all, 0x55, sizeof all);
    BGP_UPC_Read_Counter_Values(&all, BGP_UPC_MINIMUM_LENGTH_READ_COUNTERS_STRUCTURE + 8 * ADDS, SHARED);
    same(all.header.number_of_counters, ADDS + 1, "a smaller buffer gets as many as fit");
    same(all.header.counter[ADDS + 1], 0x5555555555555555, "and no more");
    same(BGP_UPC_Read_Counter_Values(NULL, sizeof all, SHARED), BGP_UPC_BUFFER_PTR_IS_NULL, "-3 Read_Counter_Values");
    same(BGP_UPC_Read_Counter_Values(&all, 71, SHARED), BGP_UPC_BUFFER_SIZE_TOO_SMALL, "-4 Read_Counter_Values");
    same(BGP_UPC_Read_Counter_Values(&all, sizeof all, 2), BGP_UPC_INVALID_READ_TYPE, "-5 Read_Counter_Values");
    same(BGP_UPC_Read_Counters(NULL, sizeof values, SHARED), BGP_UPC_BUFFER_PTR_IS_NULL, "-3 Read_Counters");
    same(BGP_UPC_Read_Counters(values, 7, SHARED), BGP_UPC_BUFFER_SIZE_TOO_SMALL, "-4 Read_Counters");
    same(BGP_UPC_Read_Counters(values, sizeof values, -1), BGP_UPC_INVALID_READ_TYPE, "-5 Read_Counters");
    same(BGP_UPC_Read_Counter(ADDS, 7), BGP_UPC_INVALID_READ_TYPE, "-5 Read_Counter");
    same(BGP_UPC_Read_Counter(253, SHARED), BGP_UPC_INVALID_EVENT_ID, "-9 Read_Counter of a reserved id");
    same(BGP_UPC_Read_Counter(1024, SHARED), BGP_UPC_INVALID_EVENT_ID, "-9 Read_Counter of id 1024");
    same(BGP_UPC_Read_Counter(ADDS + 256, SHARED), BGP_UPC_EVENT_ID_NOT_ACTIVE, "-11 Read_Counter");
    same(BGP_UPC_Check_Active_Event(-1), BGP_UPC_INVALID_EVENT_ID, "-9 Check_Active_Event");
}

static void test_config_record(void)
{
    BGP_UPC_Read_Counter_Config_Struct_t record;
    same(sizeof record, 72, "the configuration record is 72 bytes");
    same(offsetof(BGP_UPC_Read_Counter_Config_Struct_t, threshold_value), 64, "the threshold is its last field");
    same(BGP_UPC_Set_Counter_Threshold_Value(ADDS, 77777), BGP_UPC_SUCCESS, "Set_Counter_Threshold_Value");
    same(BGP_UPC_Read_Counter_Config(ADDS, &record, sizeof record), BGP_UPC_SUCCESS, "Read_Counter_Config");
    same(record.event_id, ADDS, "its event");
    same(record.event_edge, BGP_UPC_CFG_LEVEL_HIGH, "its edge: an add is a cycle");
    same(record.mode, BGP_UPC_MODE_0, "its mode");
    same(record.counter_value, 20, "its value");
    same(record.threshold_value, 77777, "its threshold");
    BGP_UPC_Read_Counter_Config(BGP_PU0_DCACHE_MISS, &record, sizeof record);
    same(record.event_edge, BGP_UPC_CFG_EDGE_RISE, "the default edge of a miss is a rise");
    same(record.threshold_value, 0, "no threshold is 0");
    same(BGP_UPC_Set_Counter_Threshold_Value(ADDS, 0), BGP_UPC_SUCCESS, "a threshold of 0 takes it away");
    same(BGP_UPC_Get_Counter_Threshold_Value(ADDS), 0, "Get_Counter_Threshold_Value says so");
    same(BGP_UPC_Read_Counter(ADDS, SHARED), 20, "and the count stays");
    same(BGP_UPC_Read_Counter_Config(ADDS, NULL, sizeof record), BGP_UPC_BUFFER_PTR_IS_NULL, "-3 Read_Counter_Config");
    same(BGP_UPC_Read_Counter_Config(ADDS, &record, 71), BGP_UPC_BUFFER_SIZE_TOO_SMALL, "-4 Read_Counter_Config");
    same(BGP_UPC_Read_Counter_Config(254, &record, 72), BGP_UPC_INVALID_EVENT_ID, "-9 Read_Counter_Config");
    same(BGP_UPC_Read_Counter_Config(ADDS + 256, &record, 72), BGP_UPC_EVENT_ID_NOT_ACTIVE, "-11 Read_Counter_Config");
}

/* --- Setting ------------------------------------------------------------------------------------------------------ */

static void test_values(void)
{
    int32_t generation = BGP_UPC_Get_Counter_State_GenNum();
    same(BGP_UPC_Set_Counter_Value(ADDS, 0x123456789), generation + 1, "Set_Counter_Value returns the next generation");
    same(BGP_UPC_Read_Counter(ADDS, SHARED), 0x123456789, "the value is set, 64 bits wide");
    same(BGP_UPC_Zero_Counter_Value(ADDS), generation + 2, "Zero_Counter_Value returns the next generation");
    same(BGP_UPC_Read_Counter(ADDS, SHARED), 0, "the value is zero");
    yes(BGP_UPC_Read_Counter(LOADS, SHARED) != 0, "the others are not");
    same(BGP_UPC_Zero_Counter_Values(), generation + 3, "Zero_Counter_Values returns the next generation");
    same(BGP_UPC_Read_Counter(LOADS, SHARED), 0, "they are now");
    same(BGP_UPC_Get_Counter_State_GenNum(), generation + 3, "Get_Counter_State_GenNum");
    same(BGP_UPC_Set_Counter_Value(-1, 1), BGP_UPC_INVALID_EVENT_ID, "-9 Set_Counter_Value");
    same(BGP_UPC_Zero_Counter_Value(253), BGP_UPC_INVALID_EVENT_ID, "-9 Zero_Counter_Value");
    same(BGP_UPC_Zero_Counter_Value(BGP_IC_TIMESTAMP), BGP_UPC_INVALID_EVENT_ID,
         "-9 Zero_Counter_Value of time stamps");
    same(BGP_UPC_Set_Counter_Value(ADDS + 256, 1), BGP_UPC_EVENT_ID_NOT_ACTIVE, "-11 Set_Counter_Value");
    same(BGP_UPC_Zero_Counter_Value(ADDS + 512), BGP_UPC_EVENT_ID_NOT_ACTIVE, "-11 Zero_Counter_Value");
    BGP_UPC_Set_Counter_Value(ADDS, 100);
    same(BGP_UPC_Set_Counter_Threshold_Value(ADDS, 100),
         BGP_UPC_COUNTER_THRESHOLD_VALUE_TO_SET_MUST_BE_GREATER_THAN_CURRENT_COUNTER_VALUE,
         "-7 a threshold of the value");
    same(BGP_UPC_Set_Counter_Threshold_Value(ADDS, 101), BGP_UPC_SUCCESS, "one more is allowed");
    same(BGP_UPC_Set_Counter_Value(ADDS, 101), BGP_UPC_COUNTER_VALUE_TO_SET_NOT_LESS_THAN_CURRENT_THRESHOLD_VALUE,
         "-6 a value of the threshold");
    same(BGP_UPC_Set_Counter_Value(ADDS, 99), generation + 5, "a value below it is allowed");
    same(BGP_UPC_Get_Counter_Threshold_Value(ADDS), 101, "the threshold stays");
    same(BGP_UPC_Read_Counter(ADDS, SHARED), 99, "the threshold does not show in the value");
    same(BGP_UPC_Set_Counter_Threshold_Value(ADDS, INT64_MAX), BGP_UPC_SUCCESS, "the largest threshold");
    same(BGP_UPC_Read_Counter(ADDS, SHARED), 99, "does not show in the value");
    same(BGP_UPC_Set_Counter_Threshold_Value(510, 1), BGP_UPC_INVALID_EVENT_ID, "-9 Set_Counter_Threshold_Value");
    same(BGP_UPC_Set_Counter_Threshold_Value(ADDS + 256, 1), BGP_UPC_EVENT_ID_NOT_ACTIVE,
         "-11 Set_Counter_Threshold_Value");
    same(BGP_UPC_Get_Counter_Threshold_Value(510), BGP_UPC_INVALID_EVENT_ID, "-9 Get_Counter_Threshold_Value");
    same(BGP_UPC_Get_Counter_Threshold_Value(ADDS + 256), BGP_UPC_EVENT_ID_NOT_ACTIVE,
         "-11 Get_Counter_Threshold_Value");
    BGP_UPC_Set_Counter_Threshold_Value(ADDS, 0);
}

static void test_active(void)
{
    BGP_UPC_Start(0);
    same(BGP_UPC_Set_Counter_Value(ADDS, 1), BGP_UPC_IS_ACTIVE, "-1 Set_Counter_Value");
    same(BGP_UPC_Set_Counter_Threshold_Value(ADDS, 1000), BGP_UPC_IS_ACTIVE, "-1 Set_Counter_Threshold_Value");
    same(BGP_UPC_Zero_Counter_Value(ADDS), BGP_UPC_IS_ACTIVE, "-1 Zero_Counter_Value");
    same(BGP_UPC_Zero_Counter_Values(), BGP_UPC_IS_ACTIVE, "-1 Zero_Counter_Values");
    same(BGP_UPC_Monitor_Event(ADDS + 256, DEFAULT), BGP_UPC_IS_ACTIVE, "-1 Monitor_Event");
    same(BGP_UPC_Initialize_Counter_Config(BGP_UPC_MODE_0, DEFAULT), BGP_UPC_IS_ACTIVE, "-1 Initialize_Counter_Config");
    BGP_UPC_Stop();
}

static void test_elapsed(void)
{
    BGP_UPC_Start(1);
    loop(10000);
    BGP_UPC_Stop();
    int64_t first = BGP_UPC_Read_Counter(BGP_MISC_ELAPSED_TIME, SHARED);
    yes(first >= 10000 && first < 10000000, "elapsed time is that of the loop");
    loop(10000);
    same(BGP_UPC_Read_Counter(BGP_MISC_ELAPSED_TIME_UM1, SHARED), first, "it stops with the unit; mode 1 has it too");
    BGP_UPC_Read_Counter_Values(&all, sizeof all, SHARED);
    same(all.header.elapsed_time, first, "it is in the header");
    same(all.header.counter[255], first, "and in counter 255");
    same(BGP_UPC_Check_Active_Event(BGP_MISC_ELAPSED_TIME), 1, "it is always on");
    same(BGP_UPC_Check_Active_Event(BGP_MISC_ELAPSED_TIME_UM2), 0, "in its counter mode");
    int32_t refused = BGP_UPC_CANNOT_SPECIFY_ELAPSED_TIME_EVENT;
    same(BGP_UPC_Monitor_Event(255, DEFAULT), refused, "-10 Monitor_Event");
    same(BGP_UPC_Set_Counter_Value(511, 1), refused, "-10 Set_Counter_Value");
    same(BGP_UPC_Set_Counter_Threshold_Value(255, 1000), refused, "-10 Set_Counter_Threshold_Value");
    same(BGP_UPC_Zero_Counter_Value(255), refused, "-10 Zero_Counter_Value");
    BGP_UPC_Zero_Counter_Values();
    same(BGP_UPC_Read_Counter(255, SHARED), 0, "it is zeroed with all others");
}

/* --- Modes, edges, names ------------------------------------------------------------------------------------------ */

static int64_t adds_with_edge(BGP_UPC_Event_Edge_t edge)
{
    BGP_UPC_Initialize_Counter_Config(BGP_UPC_MODE_DEFAULT, edge);
    BGP_UPC_Start(0);
    loop(100);
    BGP_UPC_Stop();
    return BGP_UPC_Read_Counter(ADDS, SHARED);
}

static BGP_UPC_Mode_t mode_now(void)
{
    BGP_UPC_Read_Counter_Values(&all, sizeof all, SHARED);
    return all.header.mode;
}

static void test_modes(void)
{
    int32_t generation = BGP_UPC_Get_Counter_State_GenNum();
    same(BGP_UPC_Monitor_Event(ADDS + 256, DEFAULT), generation + 1, "Monitor_Event returns the next generation");
    same(BGP_UPC_Check_Active_Event(ADDS + 256), 1, "a counter takes an event of user mode 1");
    same(BGP_UPC_Check_Active_Event(ADDS), 0, "in place of the one of user mode 0");
    same(mode_now(), BGP_UPC_MODE_MIXED, "the user mode is then mixed");
    same(BGP_UPC_Get_Counter_Mode(), 0, "the counter mode is not");
    same(BGP_UPC_Monitor_Event(ADDS + 256, DEFAULT), BGP_UPC_EVENT_ID_CURRENTLY_ACTIVE, "-12 Monitor_Event");
    int32_t refused = BGP_UPC_INCOMPATIBLE_COUNTER_FOR_CURRENT_COUNTER_MODE;
    same(BGP_UPC_Monitor_Event(ADDS + 512, DEFAULT), refused, "-2 Monitor_Event of user mode 2");
    same(BGP_UPC_Monitor_Event(ADDS + 768, DEFAULT), refused, "-2 Monitor_Event of user mode 3");
    same(BGP_UPC_Monitor_Event(ADDS, (BGP_UPC_Event_Edge_t)2), BGP_UPC_INVALID_EVENT_EDGE, "-8 Monitor_Event");
    same(BGP_UPC_Monitor_Event(253, DEFAULT), BGP_UPC_INVALID_EVENT_ID, "-9 Monitor_Event of a reserved id");
    BGP_UPC_Set_Counter_Value(ADDS + 256, 50);
    BGP_UPC_Set_Counter_Threshold_Value(ADDS + 256, 60);
    same(BGP_UPC_Monitor_Event(ADDS, DEFAULT), generation + 3, "Monitor_Event, back again");
    same(BGP_UPC_Read_Counter(ADDS, SHARED), 0, "Monitor_Event zeroes the counter");
    same(BGP_UPC_Get_Counter_Threshold_Value(ADDS), 0, "and takes its threshold away");
    same(mode_now(), BGP_UPC_MODE_0, "the user mode is 0 again");
    same(BGP_UPC_Initialize_Counter_Config(BGP_UPC_MODE_2, DEFAULT), generation + 4, "Initialize_Counter_Config");
    same(BGP_UPC_Get_Counter_Mode(), 1, "counter mode 1 is that of user mode 2");
    BGP_UPC_Start(0);
    loop(321);
    BGP_UPC_Stop();
    same(BGP_UPC_Read_Counter(ADDS + 512, SHARED), 321, "FP adds are counted in user mode 2");
    same(BGP_UPC_Monitor_Event(ADDS, DEFAULT), refused, "-2 Monitor_Event of user mode 0 in counter mode 1");
    same(BGP_UPC_Monitor_Event(ADDS + 768, DEFAULT), generation + 5, "user mode 3 goes with it");
    BGP_UPC_Initialize_Counter_Config(BGP_UPC_MODE_3, DEFAULT);
    same(BGP_UPC_Get_Counter_Mode(), 1, "counter mode 1 is that of user mode 3");
    BGP_UPC_Initialize_Counter_Config(BGP_UPC_MODE_1, DEFAULT);
    same(mode_now(), BGP_UPC_MODE_1, "user mode 1");
    same(BGP_UPC_Get_Counter_Mode(), 0, "counter mode 0 is that of user mode 1");
    refused = BGP_UPC_INVALID_USER_MODE;
    same(BGP_UPC_Initialize_Counter_Config((BGP_UPC_Mode_t)4, DEFAULT), refused, "-13 user mode 4");
    same(BGP_UPC_Initialize_Counter_Config(BGP_UPC_MODE_MIXED, DEFAULT), refused, "-13 user mode mixed");
    same(BGP_UPC_Initialize_Counter_Config(BGP_UPC_MODE_0, (BGP_UPC_Event_Edge_t)0x10), BGP_UPC_INVALID_EVENT_EDGE,
         "-8 Initialize_Counter_Config");
    same(adds_with_edge(BGP_UPC_CFG_LEVEL_HIGH), 100, "adds by level are adds");
    same(adds_with_edge(DEFAULT), 100, "so they are by default");
    int64_t rises = adds_with_edge(BGP_UPC_CFG_EDGE_RISE);
    yes(rises > 0 && rises <= 100, "rises of the wire are no more");
    yes(adds_with_edge(BGP_UPC_CFG_LEVEL_LOW) > 100, "cycles without an add");
    yes(adds_with_edge(BGP_UPC_CFG_EDGE_FALL) <= 100, "falls of the wire are no more");
    BGP_UPC_Initialize_Counter_Config(BGP_UPC_MODE_DEFAULT, DEFAULT);
}

static void test_names(void)
{
    char text[BGP_UPC_MAXIMUM_LENGTH_EVENT_DESCRIPTION];
    same(BGP_UPC_Get_Event_Name(ADDS, sizeof text, text), BGP_UPC_SUCCESS, "Get_Event_Name");
    same(strcmp(text, "BGP_PU0_FPU_ADD_SUB_1"), 0, "the name");
    BGP_UPC_Get_Event_Name(ADDS, 8, text);
    same(strcmp(text, "BGP_PU0"), 0, "is cut where the buffer ends");
    same(BGP_UPC_Get_Event_Description(ADDS, sizeof text, text), BGP_UPC_SUCCESS, "Get_Event_Description");
    same(strncmp(text, "core 0: scalar FP adds", 22), 0, "the description");
    same(BGP_UPC_Get_Event_Name(253, sizeof text, text), BGP_UPC_INVALID_EVENT_ID, "-9 Get_Event_Name");
    same(BGP_UPC_Get_Event_Description(1024, sizeof text, text), BGP_UPC_INVALID_EVENT_ID, "-9 Get_Event_Description");
    same(BGP_UPC_Get_Event_Name(ADDS, sizeof text, NULL), BGP_UPC_BUFFER_PTR_IS_NULL, "-3 Get_Event_Name");
    same(BGP_UPC_Get_Event_Description(ADDS, 0, text), BGP_UPC_BUFFER_SIZE_TOO_SMALL, "-4 Get_Event_Description");
}

/* --- Thresholds --------------------------------------------------------------------------------------------------- */

static volatile int signals;
static volatile int64_t seen_adds, seen_loads, period;

/* As HPCToolkit's: stop, read, and, when there is a period, from zero again. */
static void on_threshold(int number)
{
    (void)number;
    BGP_UPC_Stop();
    signals++;
    seen_adds = BGP_UPC_Read_Counter_Value(ADDS, EXCLUSIVE);
    seen_loads = BGP_UPC_Read_Counter_Value(LOADS, EXCLUSIVE);
    if (period && seen_adds >= period) {
        BGP_UPC_Set_Counter_Value(ADDS, 0);
        BGP_UPC_Set_Counter_Threshold_Value(ADDS, period);
    }
    BGP_UPC_Start(0);
}

static void test_thresholds(void)
{
    static const int exact[] = {1, 2, 99, 1000, 4095, 4096, 4097, 8191, 8192, 12345, 19999, 20000};
    int wrong = 0;
    signal(SIGXCPU, on_threshold);
    for (unsigned i = 0; i < sizeof exact / sizeof *exact; i++) {
        signals = 0;
        BGP_UPC_Set_Counter_Threshold_Value(ADDS, 0);
        BGP_UPC_Zero_Counter_Value(ADDS);
        BGP_UPC_Set_Counter_Threshold_Value(ADDS, exact[i]);
        BGP_UPC_Start(0);
        loop(20000);
        BGP_UPC_Stop();
        int bad = signals != 1 || seen_adds != exact[i] || BGP_UPC_Read_Counter(ADDS, SHARED) != 20000;
        if (bad) printf("# threshold %d: %d signals, at %lld\n", exact[i], signals, (long long)seen_adds);
        wrong += bad;
    }
    same(wrong, 0, "SIGXCPU comes once, at the exact event, for 12 thresholds; the count goes on");
    signals = 0;
    BGP_UPC_Start(0);
    loop(20000);
    BGP_UPC_Stop();
    same(signals, 0, "a threshold that was passed is silent");
    BGP_UPC_Start(1);
    loop(20000);
    BGP_UPC_Stop();
    same(signals, 1, "zeroing makes it new");
}

static void test_two_thresholds(void)
{
    BGP_UPC_Set_Counter_Threshold_Value(ADDS, 0);
    BGP_UPC_Zero_Counter_Values();
    BGP_UPC_Set_Counter_Threshold_Value(ADDS, 700);
    BGP_UPC_Set_Counter_Threshold_Value(LOADS, 9000);
    signals = 0;
    BGP_UPC_Start(0);
    loop(5000);
    same(signals, 1, "of two thresholds one is reached");
    same(seen_adds, 700, "that of the adds");
    loop(5000);
    BGP_UPC_Stop();
    same(signals, 2, "then the other");
    same(seen_loads, 9000, "that of the loads");
    same(BGP_UPC_Read_Counter(ADDS, SHARED), 10000, "no add is lost");
    same(BGP_UPC_Read_Counter(LOADS, SHARED), 10002, "nor a load");
    BGP_UPC_Set_Counter_Threshold_Value(LOADS, 0);
    BGP_UPC_Set_Counter_Threshold_Value(ADDS, 0);
    BGP_UPC_Zero_Counter_Values();
    signals = 0;
    BGP_UPC_Start(0);
    loop(10000);
    BGP_UPC_Stop();
    same(signals, 0, "no thresholds, no signals");
}

static void test_sampling(void)
{
    BGP_UPC_Zero_Counter_Values();
    period = 1000;
    BGP_UPC_Set_Counter_Threshold_Value(ADDS, period);
    signals = 0;
    BGP_UPC_Start(0);
    loop(10500);
    BGP_UPC_Stop();
    period = 0;
    same(signals, 10, "a handler that sets counter and threshold anew is called every 1000 adds");
    same(BGP_UPC_Read_Counter(ADDS, SHARED), 500, "and 500 are left");
    BGP_UPC_Set_Counter_Threshold_Value(ADDS, 0);
}

/* --- Printing ----------------------------------------------------------------------------------------------------- */

static void test_print(void)
{
    BGP_UPC_Set_Counter_Value(ADDS, 123456);
    BGP_UPC_Set_Counter_Threshold_Value(ADDS, 654321);
    BGP_UPC_Print_Config();
    same(BGP_UPC_Print_Counter_Value(ADDS, SHARED), BGP_UPC_SUCCESS, "Print_Counter_Value");
    same(BGP_UPC_Print_Counter_Values(EXCLUSIVE), BGP_UPC_SUCCESS, "Print_Counter_Values");
    same(BGP_UPC_Print_Counter_Value(253, SHARED), BGP_UPC_INVALID_EVENT_ID, "-9 Print_Counter_Value");
    same(BGP_UPC_Print_Counter_Value(ADDS, 2), BGP_UPC_INVALID_READ_TYPE, "-5 Print_Counter_Value");
    same(BGP_UPC_Print_Counter_Value(ADDS + 256, SHARED), BGP_UPC_EVENT_ID_NOT_ACTIVE, "-11 Print_Counter_Value");
    same(BGP_UPC_Print_Counter_Values(2), BGP_UPC_INVALID_READ_TYPE, "-5 Print_Counter_Values");
}

static void print_events(void)
{
    for (int event = 0; event < 1024; event++) {
        char name[BGP_UPC_MAXIMUM_LENGTH_EVENT_NAME], text[BGP_UPC_MAXIMUM_LENGTH_EVENT_DESCRIPTION];
        if (BGP_UPC_Get_Event_Name(event, sizeof name, name) == BGP_UPC_SUCCESS &&
            BGP_UPC_Get_Event_Description(event, sizeof text, text) == BGP_UPC_SUCCESS)
            printf("%d %s: %s\n", event, name, text);
    }
    for (int mode = 0; mode < 4; mode++) {
        BGP_UPC_Initialize_Counter_Config((BGP_UPC_Mode_t)mode, DEFAULT);
        BGP_UPC_Print_Config();
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "events") == 0) {
        print_events();
        return 0;
    }
    test_start_stop();
    test_counts();
    test_read_types();
    test_buffers();
    test_config_record();
    test_values();
    test_active();
    test_elapsed();
    test_modes();
    test_names();
    test_thresholds();
    test_two_thresholds();
    test_sampling();
    test_cost_of_reading();
    test_print();
    return failed;
}
