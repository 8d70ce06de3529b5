/* The counter unit on the node: its registers are a page of every address space, its wires are
 * driven by the counts of cores and memory.
 *
 * A program loads and stores the registers as the paper says, without a system call. Such an access
 * stops the core before it, exactly; then the unit gets what happened on the selected wires since
 * the last access, the access is done, and the instruction counts as one. So start and stop
 * take effect between two instructions.
 *
 * Wires are driven in bulk. For the cycles since the last access, the numbers of rises and of high
 * cycles are known; the waveform made of them has single-cycle pulses and one longer pulse
 * (raise_interval). Limit: when a wire was high in every cycle, its pulses touch and count as one
 * rise, as on a real wire; the level counts are exact.
 *
 * Thresholds. While a counter has one, the cores watch for the event that reaches it and stop
 * behind that instruction; the unit, caught up, then interrupts, and the program gets SIGXCPU, as
 * on Blue Gene/P. Signals of instructions are watched by their weights; other events are polled
 * after each instruction. Thresholds on falls and low levels show at the next access only.
 */
#include "measure/device/device.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "chiliad/upc.h"

enum { SIGNALS_OF_EVENT = 4, SIGXCPU_POWERPC = 24 };

struct device_upc {
    struct node *node;
    struct node_device device;
    struct node_watcher watcher;
    struct chil_upc *upc;
    const struct chil_event *events; /* by wire */
    uint64_t reported;               /* up to this cycle */
    uint64_t *rises, *highs;         /* of each counter's wire, as driven */
    struct found {
        bool done;
        uint8_t count;
        struct node_signal signals[SIGNALS_OF_EVENT];
    } * found;           /* by event: its signals, looked up when first needed */
    unsigned interrupts; /* since the last stop at a threshold */
    bool armed;          /* some counter has a threshold that is watched */
    struct {
        uint32_t counter;
        uint64_t target; /* the count of its event at which to stop */
    } polled[CORE_WATCHES];
    unsigned polled_count;
};

static void on_notice(void *context, const struct chil_upc_notice *notice)
{
    struct device_upc *unit = context;
    unit->interrupts += notice->kind == CHIL_UPC_INTERRUPT;
}

/* --- Driving the wires ----------------------------------------------------------------------- */

static uint32_t wire_of(const struct device_upc *unit, uint32_t counter)
{
    struct chil_upc_config config;
    (void)chil_upc_config(unit->upc, counter, &config);
    return config.input * chil_upc_geometry(unit->upc)->counters + counter;
}

/* So many rises and high cycles in [from, to): all but one pulse are one cycle long and two apart.
 */
static void raise_interval(struct device_upc *unit, uint32_t wire, uint64_t from, uint64_t to,
                           uint64_t rises, uint64_t high)
{
    uint64_t room = to - from;
    if (high > room) high = room; /* overlapping occurrences keep a wire high, not higher */
    if (!high || !rises) return;
    if (rises > high) rises = high;
    if (rises + high > room + 1) rises = room + 1 - high; /* the others touch */
    if (rises - 1 + high < room) from++; /* and the first does not touch what was before */
    struct chil_upc_train trains[2] = {
        {wire, from, rises - 1, 2, 1},
        {wire, from + 2 * (rises - 1), 1, high - (rises - 1), high - (rises - 1)}};
    (void)chil_upc_raise_many(unit->upc, trains + (rises == 1), rises == 1 ? 1 : 2, NULL);
}

/* The signals of an event, which has few; more are left out. */
static struct found *find(struct device_upc *unit, uint32_t number)
{
    struct found *found = &unit->found[number];
    const struct chil_event *event = &unit->events[number];
    for (; !found->done && found->count < event->signal_count && found->count < SIGNALS_OF_EVENT;
         found->count++)
        node_signal_find(unit->node, event->signals[found->count], &found->signals[found->count]);
    found->done = true;
    return found;
}

/* What they have done, of so many rises or high cycles. */
static uint64_t count_event(struct device_upc *unit, uint32_t number, enum chil_count_mode mode)
{
    const struct found *found = find(unit, number);
    uint64_t sum = 0;
    for (unsigned i = 0; i < found->count; i++)
        sum += node_signal_count(unit->node, &found->signals[i], mode);
    return sum;
}

/* Reads the counts of each selected wire; with `raising`, drives the wire with the difference. */
static void look(struct device_upc *unit, uint64_t to, bool raising)
{
    node_counts_take(unit->node);
    for (uint32_t c = 0; c < chil_upc_geometry(unit->upc)->counters; c++) {
        uint32_t wire = wire_of(unit, c);
        uint64_t rises = count_event(unit, wire, CHIL_COUNT_RISE),
                 high = count_event(unit, wire, CHIL_COUNT_HIGH);
        if (raising && to == unit->reported) continue; /* what no time has passed for comes later */
        if (raising)
            raise_interval(unit, wire, unit->reported, to, rises - unit->rises[c],
                           high - unit->highs[c]);
        unit->rises[c] = rises;
        unit->highs[c] = high;
    }
}

/* --- Thresholds ------------------------------------------------------------------------------ */

static struct chil_upc_config config_of(const struct device_upc *unit, uint32_t counter)
{
    struct chil_upc_config config;
    (void)chil_upc_config(unit->upc, counter, &config);
    return config;
}

static bool is_of_memory(struct device_upc *unit, uint32_t number)
{
    const struct found *found = find(unit, number);
    for (unsigned i = 0; i < found->count; i++)
        if (!node_signal_is_of_memory(&found->signals[i])) return false;
    return true;
}

static bool is_left(void *context, unsigned core, bool inside, struct core_room *room)
{
    struct device_upc *unit = context;
    (void)core;
    bool left = !unit->interrupts, fresh = false;
    for (unsigned i = 0; i < unit->polled_count; i++) {
        uint32_t counter = unit->polled[i].counter, wire = wire_of(unit, counter);
        enum chil_count_mode mode = config_of(unit, counter).mode;
        bool memory = is_of_memory(unit, wire);
        if (inside && !memory) continue;
        if (!memory && !fresh) node_counts_take(unit->node);
        fresh |= !memory;
        uint64_t count = count_event(unit, wire, mode), target = unit->polled[i].target;
        struct node_growth growth = {0};
        node_growth_add(&growth, find(unit, wire)->signals, find(unit, wire)->count, mode);
        if (count >= target)
            left = false;
        else
            node_growth_room(&growth, target - count, room);
    }
    return left;
}

/* Watches a counter's event by the signals of one core; false when something else than a core
 * raises it. */
static bool watch_signals(struct node *node, const struct chil_event *event, uint64_t left)
{
    uint64_t signals = 0;
    unsigned core = 0;
    for (size_t i = 0; i < event->signal_count; i++) {
        enum core_signal signal;
        unsigned its;
        if (!core_signal_find(event->signals[i], &its, &signal) || its >= node->core_count ||
            (i && its != core))
            return false;
        core = its;
        signals |= UINT64_C(1) << signal;
    }
    struct core_watch *watch = node_watch_get(node, core);
    if (!signals || watch->count == CORE_WATCHES) return !signals;
    watch->sums[watch->count].signals = signals;
    watch->sums[watch->count++].left = left;
    return true;
}

/* The node's time: each core watches its own, which is not later. */
static bool watch_time(struct device_upc *unit, uint32_t wire, uint64_t target)
{
    const struct found *found = find(unit, wire);
    if (found->count != 1 || found->signals[0].kind != NODE_SIGNAL_ELAPSED) return false;
    for (unsigned i = 0; i < unit->node->core_count; i++) {
        struct core_watch *watch = node_watch_get(unit->node, i);
        if (!watch->cycle || target < watch->cycle) watch->cycle = target;
    }
    return true;
}

static void watch_counter(struct device_upc *unit, uint32_t counter, bool *fresh)
{
    struct chil_upc_config config = config_of(unit, counter);
    uint32_t wire = wire_of(unit, counter);
    uint64_t left;
    if (!config.interrupt || config.mode == CHIL_COUNT_FALL || config.mode == CHIL_COUNT_LOW)
        return;
    if (chil_upc_distance(unit->upc, counter, &left) || left > UINT64_MAX / 2) return;
    if (!*fresh) node_counts_take(unit->node);
    *fresh = unit->armed = true;
    /* `left` is as of what was driven last. */
    uint64_t target =
        (config.mode == CHIL_COUNT_HIGH ? unit->highs[counter] : unit->rises[counter]) + left;
    uint64_t count = count_event(unit, wire, config.mode);
    if (watch_time(unit, wire, target) ||
        watch_signals(unit->node, &unit->events[wire], target > count ? target - count : 0) ||
        unit->polled_count == CORE_WATCHES)
        return;
    unit->polled[unit->polled_count].counter = counter;
    unit->polled[unit->polled_count++].target = target;
}

static uint64_t watch_thresholds(void *context)
{
    struct device_upc *unit = context;
    bool fresh = false;
    unit->polled_count = 0;
    unit->armed = false;
    for (uint32_t c = 0; chil_upc_running(unit->upc) && c < chil_upc_geometry(unit->upc)->counters;
         c++)
        watch_counter(unit, c, &fresh);
    return unit->polled_count || unit->interrupts ? UINT64_MAX : 0;
}

static void count_up_to(struct device_upc *unit, uint64_t now)
{
    if (now < unit->reported) now = unit->reported; /* a core that is behind another */
    look(unit, now, true);
    (void)chil_upc_advance(unit->upc, now);
    unit->reported = now;
}

/* --- Accesses -------------------------------------------------------------------------------- */

static bool access_register(void *context, unsigned core, struct node_access *access)
{
    struct device_upc *unit = context;
    uint64_t offset = access->address % MEM_PAGE;
    count_up_to(unit, core_cycles(cores_get(unit->node->cores, core)));
    int status = access->load ? chil_upc_load(unit->upc, offset, access->width, &access->value)
                              : chil_upc_store(unit->upc, offset, access->width, access->value);
    if (status) return false;
    if (!access->load)
        look(unit, unit->reported, false); /* a counter may look at another wire now */
    return true;
}

static void accessed(void *context, unsigned core, const struct node_access *access)
{
    struct device_upc *unit = context;
    if (access->load) return;
    /* What is watched may have changed, and the store itself may count already. */
    count_up_to(unit, core_cycles(cores_get(unit->node->cores, core)));
    node_watch_all(unit->node);
}

static void reached(void *context, unsigned core, int *process_signal, int *task_signal)
{
    struct device_upc *unit = context;
    (void)task_signal;
    if (!unit->armed && !unit->interrupts) return;
    /* Two instructions of a cycle may each reach a threshold. */
    uint64_t now = core_cycles(cores_get(unit->node->cores, core));
    count_up_to(unit, now > unit->reported ? now : unit->reported + 1);
    if (unit->interrupts) *process_signal = SIGXCPU_POWERPC;
    unit->interrupts = 0;
}

/* --- The unit -------------------------------------------------------------------------------- */

struct device_upc *device_upc_new(struct node *node)
{
    struct chil_upc_geometry geometry;
    const struct chil_machine *m = node->machine;
    uint64_t base;
    if (chil_upc_geometry_of(m, &geometry) || chil_machine_number(m, "upc.base", &base))
        return NULL; /* another kind */
    struct chil_upc_map map;
    chil_upc_map(&geometry, &map);
    struct device_upc *unit = base_calloc(1, sizeof *unit);
    if (map.end > MEM_PAGE || base % MEM_PAGE ||
        chil_upc_new(&unit->upc, &geometry, CHIL_UPC_FAST, on_notice, unit, NULL)) {
        free(unit);
        return NULL; /* a unit that was grown past a page has no place in a program's memory yet */
    }
    size_t count;
    unit->node = node;
    unit->events = chil_machine_events(m, &count);
    unit->rises = base_calloc(geometry.counters, sizeof *unit->rises);
    unit->highs = base_calloc(geometry.counters, sizeof *unit->highs);
    unit->found = base_calloc((size_t)geometry.counters * geometry.inputs, sizeof *unit->found);
    unit->device = (struct node_device){
        .context = unit, .page = (uint32_t)base, .access = access_register, .accessed = accessed};
    unit->watcher = (struct node_watcher){
        .context = unit, .watch = watch_thresholds, .left = is_left, .reached = reached};
    node_attach_device(node, &unit->device);
    node_attach_watcher(node, &unit->watcher);
    return unit;
}

void device_upc_free(struct device_upc *unit)
{
    if (!unit) return;
    chil_upc_free(unit->upc);
    free(unit->rises);
    free(unit->highs);
    free(unit->found);
    free(unit);
}
