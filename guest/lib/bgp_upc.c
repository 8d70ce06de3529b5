/* BGP_UPC: the counter unit's registers behind Blue Gene/P's interface (docs/formats/upc-registers.md).
 *
 * What can be seen in the registers is not kept a second time: which event a counter counts, its edge, whether the unit
 * is on, the counter mode (the input of counter 255, which only a new configuration changes), and whether a job has
 * its default configuration yet (the threshold register, all ones after reset). So several processes of a node agree
 * on these. Thresholds, generation numbers and elapsed time are this process's.
 *
 * Thresholds. The unit has one threshold register and compares the upper 52 bits; a counter whose upper part is equal
 * interrupts with the next carry, when it passes FIRES. The register never changes: a counter with threshold t holds
 * its count plus FIRES - t, which every read and write takes off or adds. So any number of counters have their own.
 *
 * Elapsed time is the timebase over the time the unit was on, as PAPI's port had it, in core cycles.
 *
 * Order. SIGXCPU can only come while the unit is on, and its handler calls in here. So state changes come before the
 * store that starts the unit and after the one that stops it.
 *
 * Decisions where the facts are silent: zeroing fails while active, as setting does. The interrupt controller's time
 * stamp can be read and monitored, but not set, zeroed or given a threshold (PAPI avoids all three): invalid event. Of
 * several errors the first in the order event, elapsed time, argument, active unit, counter mode, event's state is
 * returned.
 */
#include "spi/UPC.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "bgp_upc_names.h"

enum { COUNTERS = BGP_UPC_MAX_MONITORED_EVENTS, EVENTS = BGP_UPC_MAXIMUM_EVENT_ID + 1, ELAPSED = 255 };

_Static_assert(sizeof(BGP_UPC_Read_Counters_Struct_t) == 64, "the header of a read");
_Static_assert(offsetof(BGP_UPC_Read_Counters_Struct_t, elapsed_time) == 48, "the header of a read");
_Static_assert(sizeof(BGP_UPC_Read_Counter_Config_Struct_t) == BGP_UPC_MINIMUM_LENGTH_READ_COUNTER_CONFIG_STRUCTURE,
               "the record of a counter's configuration");

/* The threshold register, and where counters with interrupt fire: at the end of the block that it names. */
#define THRESHOLD (INT64_C(1) << 62)
#define FIRES     (THRESHOLD + 4096)

static struct {
    int64_t threshold[COUNTERS];    /* 0 for none */
    int32_t state_gen, running_gen; /* counter state, start/stop */
    int64_t elapsed;                /* up to the last stop or zeroing */
    uint64_t since;                 /* the timebase then, while on */
    bool on;                        /* started by this process */
} upc;

/* --- Registers ---------------------------------------------------------------------------------------------------- */

static volatile uint32_t *const unit = (volatile uint32_t *)0xFFFDA000;

enum { REG_CONFIG = 0x800 / 4, REG_START = 0x904 / 4, REG_THRESHOLD = 0x910 / 4, REG_PENDING = 0x940 / 4 };

/* A byte of configuration: the input, the edge as in BGP_UPC_Event_Edge_t, and interrupt enable. */
enum { CONFIG_INPUT = 0x03, CONFIG_EDGE = 0x0C, CONFIG_INTERRUPT = 0x10 };

static bool running(void)
{
    return unit[REG_START] & 1;
}

/* The high half latches the low one. A handler between the two would drop that: look again. */
static uint64_t read64(unsigned at)
{
    uint32_t high, low;
    do {
        high = unit[at];
        low = unit[at + 1];
    } while (upc.on && unit[at] != high);
    return (uint64_t)high << 32 | low;
}

static void write64(unsigned at, uint64_t value)
{
    unit[at] = (uint32_t)(value >> 32); /* waits for the low half */
    unit[at + 1] = (uint32_t)value;
}

static unsigned config_of(unsigned counter)
{
    return unit[REG_CONFIG + counter / 4] >> (24 - 8 * (counter % 4)) & 0xFF;
}

static void configure(unsigned counter, unsigned byte)
{
    unsigned shift = 24 - 8 * (counter % 4);
    uint32_t others = unit[REG_CONFIG + counter / 4] & ~(UINT32_C(0xFF) << shift);
    unit[REG_CONFIG + counter / 4] = others | byte << shift;
}

static void clear_pending(unsigned counter)
{
    unit[REG_PENDING + counter / 32] = UINT32_C(0x80000000) >> (counter % 32);
}

static uint64_t timebase(void)
{
    uint32_t high, low, again;
    do
        __asm__ volatile("mftbu %0\n\tmftb %1\n\tmftbu %2" : "=r"(high), "=r"(low), "=r"(again));
    while (high != again);
    return (uint64_t)high << 32 | low;
}

/* --- Counts as the program sees them ------------------------------------------------------------------------------ */

static int64_t elapsed(void)
{
    return upc.elapsed + (upc.on ? (int64_t)(timebase() - upc.since) : 0);
}

static uint64_t offset_of(unsigned counter)
{
    return upc.threshold[counter] ? (uint64_t)FIRES - (uint64_t)upc.threshold[counter] : 0;
}

static int64_t count_of(unsigned counter)
{
    return counter == ELAPSED ? elapsed() : (int64_t)(read64(2 * counter) - offset_of(counter));
}

static void set_count(unsigned counter, int64_t value)
{
    if (counter == ELAPSED) upc.elapsed = value;
    write64(2 * counter, (uint64_t)value + offset_of(counter));
}

static int32_t next(int32_t *generation)
{
    return *generation = *generation == INT32_MAX ? 0 : *generation + 1; /* negative ones would be errors */
}

/* --- On and off --------------------------------------------------------------------------------------------------- */

static void switch_on(void)
{
    upc.since = timebase();
    upc.on = true;
    unit[REG_START] = 1;
}

static void switch_off(void)
{
    unit[REG_START] = 0;
    upc.elapsed = elapsed();
    upc.on = false;
}

/* Around a read: an exclusive one stops a unit that is on, and that is one generation. */
static bool begin_read(int32_t read_type)
{
    bool stop = read_type == BGP_UPC_READ_EXCLUSIVE && running();
    if (stop) switch_off();
    return stop;
}

static void end_read(bool stopped)
{
    if (!stopped) return;
    (void)next(&upc.running_gen);
    switch_on();
}

static bool is_read_type(int32_t read_type)
{
    return read_type == BGP_UPC_READ_SHARED || read_type == BGP_UPC_READ_EXCLUSIVE;
}

/* --- Events ------------------------------------------------------------------------------------------------------- */

static bool is_event(BGP_UPC_Event_Id_t event)
{
    return event >= 0 && event < EVENTS && bgp_upc_events[event].name;
}

static unsigned counter_of(BGP_UPC_Event_Id_t event)
{
    return (unsigned)event % COUNTERS;
}

static unsigned input_of(BGP_UPC_Event_Id_t event)
{
    return (unsigned)event / COUNTERS;
}

static BGP_UPC_Event_Id_t event_at(unsigned counter)
{
    return (BGP_UPC_Event_Id_t)((config_of(counter) & CONFIG_INPUT) * COUNTERS + counter);
}

/* The events of all counters, from a load for every four. */
static void events_now(BGP_UPC_Event_Id_t events[COUNTERS])
{
    uint32_t bytes = 0;
    for (unsigned c = 0; c < COUNTERS; c++, bytes <<= 8) {
        if (c % 4 == 0) bytes = unit[REG_CONFIG + c / 4];
        events[c] = (BGP_UPC_Event_Id_t)((bytes >> 24 & CONFIG_INPUT) * COUNTERS + c);
    }
}

static int32_t counter_mode(void)
{
    return (config_of(ELAPSED) & CONFIG_INPUT) >> 1;
}

/* Elapsed time is on counter 255 whatever the user mode. */
static bool is_active(BGP_UPC_Event_Id_t event)
{
    if (counter_of(event) == ELAPSED) return (int32_t)input_of(event) >> 1 == counter_mode();
    return event_at(counter_of(event)) == event;
}

static BGP_UPC_Mode_t user_mode(const BGP_UPC_Event_Id_t events[COUNTERS])
{
    for (unsigned c = 1; c < COUNTERS; c++)
        if (input_of(events[c]) != input_of(events[0])) return BGP_UPC_MODE_MIXED;
    return (BGP_UPC_Mode_t)input_of(events[0]);
}

static bool is_edge(BGP_UPC_Event_Edge_t edge)
{
    return edge == BGP_UPC_CFG_EDGE_DEFAULT || ((unsigned)edge & ~(unsigned)CONFIG_EDGE) == 0;
}

static unsigned config_byte(BGP_UPC_Event_Id_t event, BGP_UPC_Event_Edge_t edge)
{
    if (edge == BGP_UPC_CFG_EDGE_DEFAULT) edge = bgp_upc_events[event].edge; /* 0, level high, of a reserved id */
    return input_of(event) | (unsigned)edge;
}

/* --- The unit ----------------------------------------------------------------------------------------------------- */

static void zero_all(void)
{
    BGP_UPC_Event_Id_t events[COUNTERS];
    events_now(events);
    for (unsigned c = 0; c < COUNTERS; c++)
        if (is_event(events[c]) && events[c] != BGP_IC_TIMESTAMP) set_count(c, 0);
}

static void configure_all(BGP_UPC_Mode_t mode, BGP_UPC_Event_Edge_t edge)
{
    for (unsigned word = 0; word < COUNTERS / 4; word++) {
        uint32_t bytes = 0;
        for (unsigned c = 4 * word; c < 4 * word + 4; c++)
            bytes = bytes << 8 | config_byte((BGP_UPC_Event_Id_t)((unsigned)mode * COUNTERS + c), edge);
        unit[REG_CONFIG + word] = bytes; /* and no interrupts */
    }
    memset(upc.threshold, 0, sizeof upc.threshold);
    for (unsigned i = 0; i < COUNTERS / 32; i++)
        unit[REG_PENDING + i] = 0xFFFFFFFF;
    for (unsigned c = 0; c < COUNTERS; c++)
        set_count(c, 0);
    write64(REG_THRESHOLD, THRESHOLD);
}

/* What the system does when it loads a job: the first call here finds the unit as it was after reset. */
static void ready(void)
{
    if (unit[REG_THRESHOLD] == 0xFFFFFFFF && !running()) configure_all(BGP_UPC_MODE_0, BGP_UPC_CFG_EDGE_DEFAULT);
}

void BGP_UPC_Initialize(void)
{
    ready();
}

int32_t BGP_UPC_Initialize_Counter_Config(BGP_UPC_Mode_t mode, BGP_UPC_Event_Edge_t edge)
{
    if (mode == BGP_UPC_MODE_DEFAULT) mode = BGP_UPC_MODE_0; /* this node is an even card */
    if (mode < BGP_UPC_MODE_0 || mode > BGP_UPC_MODE_3) return BGP_UPC_INVALID_USER_MODE;
    if (!is_edge(edge)) return BGP_UPC_INVALID_EVENT_EDGE;
    if (running()) return BGP_UPC_IS_ACTIVE;
    configure_all(mode, edge);
    return next(&upc.state_gen);
}

int32_t BGP_UPC_Start(int32_t reset)
{
    ready();
    if (running()) return reset ? (int32_t)BGP_UPC_IS_ACTIVE : upc.running_gen;
    if (reset) (void)BGP_UPC_Zero_Counter_Values();
    int32_t generation = next(&upc.running_gen);
    switch_on();
    return generation;
}

int32_t BGP_UPC_Stop(void)
{
    if (!running()) return upc.running_gen;
    switch_off();
    return next(&upc.running_gen);
}

int32_t BGP_UPC_Check_Active(void)
{
    return running();
}

int32_t BGP_UPC_Check_Active_Event(BGP_UPC_Event_Id_t event)
{
    ready();
    return is_event(event) ? (int32_t)is_active(event) : (int32_t)BGP_UPC_INVALID_EVENT_ID;
}

int32_t BGP_UPC_Get_Counter_Mode(void)
{
    ready();
    return counter_mode();
}

int32_t BGP_UPC_Get_Counter_State_GenNum(void)
{
    return upc.state_gen;
}

int32_t BGP_UPC_Get_Start_Stop_GenNum(void)
{
    return upc.running_gen;
}

/* --- Events ------------------------------------------------------------------------------------------------------- */

static BGP_UPC_RC_t copy_text(const char *text, uint32_t length, char *buffer)
{
    if (!buffer) return BGP_UPC_BUFFER_PTR_IS_NULL;
    if (!length) return BGP_UPC_BUFFER_SIZE_TOO_SMALL;
    size_t bytes = strlen(text) < length ? strlen(text) : length - 1;
    memcpy(buffer, text, bytes);
    buffer[bytes] = '\0';
    return BGP_UPC_SUCCESS;
}

BGP_UPC_RC_t BGP_UPC_Get_Event_Name(BGP_UPC_Event_Id_t event, uint32_t length, char *buffer)
{
    return is_event(event) ? copy_text(bgp_upc_events[event].name, length, buffer) : BGP_UPC_INVALID_EVENT_ID;
}

BGP_UPC_RC_t BGP_UPC_Get_Event_Description(BGP_UPC_Event_Id_t event, uint32_t length, char *buffer)
{
    return is_event(event) ? copy_text(bgp_upc_events[event].text, length, buffer) : BGP_UPC_INVALID_EVENT_ID;
}

int32_t BGP_UPC_Monitor_Event(BGP_UPC_Event_Id_t event, BGP_UPC_Event_Edge_t edge)
{
    if (!is_event(event)) return BGP_UPC_INVALID_EVENT_ID;
    unsigned counter = counter_of(event);
    if (counter == ELAPSED) return BGP_UPC_CANNOT_SPECIFY_ELAPSED_TIME_EVENT;
    if (!is_edge(edge)) return BGP_UPC_INVALID_EVENT_EDGE;
    ready();
    if (running()) return BGP_UPC_IS_ACTIVE;
    if ((int32_t)input_of(event) >> 1 != counter_mode()) return BGP_UPC_INCOMPATIBLE_COUNTER_FOR_CURRENT_COUNTER_MODE;
    if (is_active(event)) return BGP_UPC_EVENT_ID_CURRENTLY_ACTIVE;
    configure(counter, config_byte(event, edge));
    upc.threshold[counter] = 0;
    clear_pending(counter);
    set_count(counter, 0);
    return next(&upc.state_gen);
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

int64_t BGP_UPC_Read_Counter_Value(BGP_UPC_Event_Id_t event, int32_t read_type)
{
    if (!is_event(event)) return BGP_UPC_INVALID_EVENT_ID;
    if (!is_read_type(read_type)) return BGP_UPC_INVALID_READ_TYPE;
    ready();
    if (!is_active(event)) return BGP_UPC_EVENT_ID_NOT_ACTIVE;
    bool stopped = begin_read(read_type);
    int64_t value = count_of(counter_of(event));
    end_read(stopped);
    return value;
}

int64_t BGP_UPC_Read_Counter(BGP_UPC_Event_Id_t event, int32_t read_type)
{
    return BGP_UPC_Read_Counter_Value(event, read_type);
}

/* As many values as fit; the buffer may lie anywhere. */
static uint32_t read_values(const BGP_UPC_Event_Id_t events[COUNTERS], void *buffer, uint32_t size)
{
    uint32_t count = size / sizeof(int64_t) < COUNTERS ? size / sizeof(int64_t) : COUNTERS;
    for (unsigned c = 0; c < count; c++) {
        int64_t value = is_event(events[c]) ? count_of(c) : 0;
        memcpy((char *)buffer + c * sizeof value, &value, sizeof value);
    }
    return count;
}

int32_t BGP_UPC_Read_Counters(void *buffer, uint32_t size, int32_t read_type)
{
    if (!buffer) return BGP_UPC_BUFFER_PTR_IS_NULL;
    if (size < BGP_UPC_MINIMUM_LENGTH_READ_COUNTERS_ONLY) return BGP_UPC_BUFFER_SIZE_TOO_SMALL;
    if (!is_read_type(read_type)) return BGP_UPC_INVALID_READ_TYPE;
    ready();
    BGP_UPC_Event_Id_t events[COUNTERS];
    bool stopped = begin_read(read_type);
    events_now(events);
    (void)read_values(events, buffer, size);
    end_read(stopped);
    return upc.running_gen;
}

/* The node in the form of the real machine's places: rack, midplane, node card, compute card. */
static const char location[24] = "R00-M0-N00-J04";

int32_t BGP_UPC_Read_Counter_Values(void *buffer, uint32_t size, int32_t read_type)
{
    if (!buffer) return BGP_UPC_BUFFER_PTR_IS_NULL;
    if (size < BGP_UPC_MINIMUM_LENGTH_READ_COUNTERS_STRUCTURE) return BGP_UPC_BUFFER_SIZE_TOO_SMALL;
    if (!is_read_type(read_type)) return BGP_UPC_INVALID_READ_TYPE;
    ready();
    BGP_UPC_Event_Id_t events[COUNTERS];
    bool stopped = begin_read(read_type);
    events_now(events);
    BGP_UPC_Read_Counters_Struct_t header = {.number_processes_per_upc = 1, .mode = user_mode(events)};
    memcpy(header.location, location, sizeof location);
    header.number_of_counters = (int32_t)read_values(events, (char *)buffer + sizeof header, size - sizeof header);
    header.elapsed_time = elapsed();
    end_read(stopped);
    memcpy(buffer, &header, sizeof header);
    return upc.running_gen;
}

BGP_UPC_RC_t BGP_UPC_Read_Counter_Config(BGP_UPC_Event_Id_t event, void *buffer, uint32_t size)
{
    if (!is_event(event)) return BGP_UPC_INVALID_EVENT_ID;
    if (!buffer) return BGP_UPC_BUFFER_PTR_IS_NULL;
    if (size < BGP_UPC_MINIMUM_LENGTH_READ_COUNTER_CONFIG_STRUCTURE) return BGP_UPC_BUFFER_SIZE_TOO_SMALL;
    ready();
    if (!is_active(event)) return BGP_UPC_EVENT_ID_NOT_ACTIVE;
    unsigned counter = counter_of(event);
    BGP_UPC_Event_Id_t events[COUNTERS];
    events_now(events);
    BGP_UPC_Read_Counter_Config_Struct_t record = {
        .number_processes_per_upc = 1,
        .event_id = event,
        .event_edge = (BGP_UPC_Event_Edge_t)(config_of(counter) & CONFIG_EDGE),
        .mode = user_mode(events),
        .counter_value = count_of(counter),
        .threshold_value = upc.threshold[counter],
    };
    memcpy(record.location, location, sizeof location);
    memcpy(buffer, &record, sizeof record);
    return BGP_UPC_SUCCESS;
}

/* --- Setting ------------------------------------------------------------------------------------------------------ */

/* Why the counter of an event may not be changed; 0 if it may. */
static BGP_UPC_RC_t check_change(BGP_UPC_Event_Id_t event)
{
    if (!is_event(event) || event == BGP_IC_TIMESTAMP) return BGP_UPC_INVALID_EVENT_ID;
    if (counter_of(event) == ELAPSED) return BGP_UPC_CANNOT_SPECIFY_ELAPSED_TIME_EVENT;
    ready();
    if (running()) return BGP_UPC_IS_ACTIVE;
    return is_active(event) ? BGP_UPC_SUCCESS : BGP_UPC_EVENT_ID_NOT_ACTIVE;
}

int32_t BGP_UPC_Set_Counter_Value(BGP_UPC_Event_Id_t event, int64_t value)
{
    BGP_UPC_RC_t refused = check_change(event);
    if (refused) return refused;
    unsigned counter = counter_of(event);
    if (upc.threshold[counter] && value >= upc.threshold[counter])
        return BGP_UPC_COUNTER_VALUE_TO_SET_NOT_LESS_THAN_CURRENT_THRESHOLD_VALUE;
    clear_pending(counter);
    set_count(counter, value);
    return next(&upc.state_gen);
}

int32_t BGP_UPC_Zero_Counter_Value(BGP_UPC_Event_Id_t event)
{
    return BGP_UPC_Set_Counter_Value(event, 0);
}

int32_t BGP_UPC_Zero_Counter_Values(void)
{
    ready();
    if (running()) return BGP_UPC_IS_ACTIVE;
    for (unsigned i = 0; i < COUNTERS / 32; i++)
        unit[REG_PENDING + i] = 0xFFFFFFFF;
    zero_all();
    return next(&upc.state_gen);
}

BGP_UPC_RC_t BGP_UPC_Set_Counter_Threshold_Value(BGP_UPC_Event_Id_t event, int64_t value)
{
    BGP_UPC_RC_t refused = check_change(event);
    if (refused) return refused;
    unsigned counter = counter_of(event);
    int64_t count = count_of(counter);
    if (value && value <= count)
        return BGP_UPC_COUNTER_THRESHOLD_VALUE_TO_SET_MUST_BE_GREATER_THAN_CURRENT_COUNTER_VALUE;
    unsigned byte = config_of(counter) & ~(unsigned)CONFIG_INTERRUPT;
    clear_pending(counter);
    configure(counter, byte); /* what is stored in between must not arm it */
    upc.threshold[counter] = value;
    set_count(counter, count);
    if (value) configure(counter, byte | CONFIG_INTERRUPT);
    return BGP_UPC_SUCCESS;
}

int64_t BGP_UPC_Get_Counter_Threshold_Value(BGP_UPC_Event_Id_t event)
{
    if (!is_event(event)) return BGP_UPC_INVALID_EVENT_ID;
    ready();
    return is_active(event) ? upc.threshold[counter_of(event)] : (int64_t)BGP_UPC_EVENT_ID_NOT_ACTIVE;
}

/* --- Printing ----------------------------------------------------------------------------------------------------- */

static const char *edge_name(unsigned config)
{
    static const char *const names[] = {"high", "rise", "fall", "low"};
    return names[(config & CONFIG_EDGE) >> 2];
}

void BGP_UPC_Print_Config(void)
{
    ready();
    BGP_UPC_Event_Id_t events[COUNTERS];
    events_now(events);
    printf("counter unit 0 of %s: user mode %d, counter mode %d, %s, generations %d (start/stop) and %d (state)\n",
           location, (int)user_mode(events), (int)counter_mode(), running() ? "active" : "stopped",
           (int)upc.running_gen, (int)upc.state_gen);
    printf("  id  %-54s  edge        threshold\n", "event");
    for (unsigned c = 0; c < COUNTERS; c++) {
        if (!is_event(events[c])) continue;
        printf("%4d  %-54s  %s", (int)events[c], bgp_upc_events[events[c]].name, edge_name(config_of(c)));
        if (upc.threshold[c]) printf("  %15" PRId64, upc.threshold[c]);
        putchar('\n');
    }
}

static void print_value(BGP_UPC_Event_Id_t event, int64_t value)
{
    printf("%4d  %-54s  %20" PRId64 "\n", (int)event, bgp_upc_events[event].name, value);
}

BGP_UPC_RC_t BGP_UPC_Print_Counter_Value(BGP_UPC_Event_Id_t event, int32_t read_type)
{
    if (is_event(event) && is_read_type(read_type)) {
        ready();
        if (!is_active(event)) return BGP_UPC_EVENT_ID_NOT_ACTIVE;
        print_value(event, BGP_UPC_Read_Counter_Value(event, read_type)); /* which may be negative, if so set */
        return BGP_UPC_SUCCESS;
    }
    return is_event(event) ? BGP_UPC_INVALID_READ_TYPE : BGP_UPC_INVALID_EVENT_ID;
}

BGP_UPC_RC_t BGP_UPC_Print_Counter_Values(int32_t read_type)
{
    int64_t values[COUNTERS];
    int32_t status = BGP_UPC_Read_Counters(values, sizeof values, read_type);
    if (status < 0) return (BGP_UPC_RC_t)status;
    BGP_UPC_Event_Id_t events[COUNTERS];
    events_now(events);
    for (unsigned c = 0; c < COUNTERS; c++)
        if (is_event(events[c])) print_value(events[c], values[c]);
    return BGP_UPC_SUCCESS;
}
