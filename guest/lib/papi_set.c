/* Event sets: making them, and putting events in. */
#include "papi_impl.h"

#include <stdlib.h>
#include <string.h>

static struct papi_set **sets;
static int set_count;

/* --- Sets --------------------------------------------------------------------------------------------------------- */

struct papi_set *papi_set_find(int number)
{
    return number >= 0 && number < set_count ? sets[number] : NULL;
}

static int free_number(void)
{
    for (int i = 0; i < set_count; i++)
        if (!sets[i]) return i;
    if (set_count >= PAPI_SETS_MAX) return -1;
    struct papi_set **more = realloc(sets, (size_t)(2 * set_count + 16) * sizeof(struct papi_set *));
    if (!more) return -1;
    sets = more;
    int first = set_count;
    set_count = 2 * set_count + 16;
    memset(sets + first, 0, (size_t)(set_count - first) * sizeof(struct papi_set *));
    return first;
}

int PAPI_create_eventset(int *EventSet)
{
    if (!papi_is_up()) return papi_return(PAPI_ENOINIT);
    if (!EventSet || *EventSet != PAPI_NULL) return papi_return(PAPI_EINVAL);
    struct papi_set *set = calloc(1, sizeof *set);
    if (!set || !papi_thread_get()) {
        free(set);
        return papi_return(PAPI_ENOMEM);
    }
    *set = (struct papi_set){.state = PAPI_STOPPED,
                             .component = -1,
                             .domain = papi_options.domain,
                             .granularity = papi_options.granularity,
                             .multiplex_ns = papi_options.multiplex_ns};
    papi_lock_all();
    set->number = free_number();
    if (set->number >= 0) sets[set->number] = set;
    papi_unlock_all();
    if (set->number < 0) {
        free(set);
        return papi_return(PAPI_ENOMEM);
    }
    *EventSet = set->number;
    return PAPI_OK;
}

static void empty(struct papi_set *set)
{
    for (unsigned i = 0; i < set->count; i++)
        papi_overflow_forget(&set->slots[i]);
    free(set->slots);
    free(set->start);
    free(set->natives);
    free(set->base);
    free(set->now);
    set->slots = NULL;
    set->start = NULL;
    set->natives = NULL;
    set->base = set->now = NULL;
    set->count = set->capacity = set->native_count = set->native_capacity = 0;
    set->state = PAPI_STOPPED;
    set->handler = NULL;
    set->attached = 0;
}

static int find_stopped(int EventSet, struct papi_set **set)
{
    if (!papi_is_up()) return PAPI_ENOINIT;
    *set = papi_set_find(EventSet);
    if (!*set) return PAPI_ENOEVST;
    return (*set)->state & PAPI_RUNNING ? PAPI_EISRUN : PAPI_OK;
}

int PAPI_cleanup_eventset(int EventSet)
{
    struct papi_set *set;
    int status = find_stopped(EventSet, &set);
    if (!status) empty(set);
    return papi_return(status);
}

int PAPI_destroy_eventset(int *EventSet)
{
    struct papi_set *set;
    if (!EventSet) return papi_return(PAPI_EINVAL);
    int status = find_stopped(*EventSet, &set);
    if (!status && set->count) status = PAPI_EINVAL; /* clean it up first */
    if (status) return papi_return(status);
    empty(set);
    papi_lock_all();
    sets[set->number] = NULL;
    papi_unlock_all();
    free(set);
    *EventSet = PAPI_NULL;
    return PAPI_OK;
}

void papi_sets_free(void)
{
    for (int i = 0; i < set_count; i++) {
        if (!sets[i]) continue;
        if (sets[i]->state & PAPI_RUNNING) papi_overflow_disarm(sets[i]);
        empty(sets[i]);
        free(sets[i]);
    }
    free(sets);
    sets = NULL;
    set_count = 0;
}

/* --- Events in a set ---------------------------------------------------------------------------------------------- */

int papi_set_slot(const struct papi_set *set, int code)
{
    for (unsigned i = 0; i < set->count; i++)
        if (set->slots[i].code == code) return (int)i;
    return -1;
}

/* The place of a native event among the set's; new ones are put at the end. -1: no memory. */
static int place_native(struct papi_set *set, uint32_t event)
{
    for (unsigned i = 0; i < set->native_count; i++)
        if (set->natives[i] == event) return (int)i;
    if (set->native_count == set->native_capacity) {
        size_t capacity = 2 * (size_t)set->native_capacity + 16;
        uint32_t *natives = realloc(set->natives, capacity * sizeof *natives);
        if (natives) set->natives = natives;
        uint64_t *base = realloc(set->base, capacity * sizeof *base);
        if (base) set->base = base;
        uint64_t *now = realloc(set->now, capacity * sizeof *now);
        if (now) set->now = now;
        if (!natives || !base || !now) return -1;
        set->native_capacity = (unsigned)capacity;
    }
    set->natives[set->native_count] = event;
    set->base[set->native_count] = set->now[set->native_count] = 0;
    return (int)set->native_count++;
}

static bool make_room(struct papi_set *set)
{
    if (set->count < set->capacity) return true;
    size_t capacity = 2 * (size_t)set->capacity + 16;
    struct papi_slot *slots = realloc(set->slots, capacity * sizeof *slots);
    if (slots) set->slots = slots;
    long long *start = realloc(set->start, capacity * sizeof *start);
    if (start) set->start = start;
    if (!slots || !start) return false;
    set->capacity = (unsigned)capacity;
    return true;
}

static int add(struct papi_set *set, int code)
{
    struct papi_formula formula;
    int status = papi_formula_of(code, &formula);
    if (status) return status == PAPI_ENOTPRESET ? PAPI_ENOEVNT : status;
    if (papi_options.disabled) return PAPI_ECMP_DISABLED;
    if (papi_set_slot(set, code) >= 0) return PAPI_ECNFLCT;
    if (!make_room(set)) return PAPI_ENOMEM;
    for (unsigned i = 0; i < formula.count; i++) {
        int place = place_native(set, formula.terms[i].event);
        if (place < 0) return PAPI_ENOMEM;
        formula.terms[i].event = (uint32_t)place;
    }
    set->component = 0;
    set->start[set->count] = 0;
    set->slots[set->count++] = (struct papi_slot){.code = code, .formula = formula};
    return PAPI_OK;
}

int PAPI_add_event(int EventSet, int Event)
{
    struct papi_set *set;
    int status = find_stopped(EventSet, &set);
    return papi_return(status ? status : add(set, Event));
}

int PAPI_add_named_event(int EventSet, const char *EventName)
{
    int code, status = PAPI_event_name_to_code(EventName, &code);
    return status ? status : PAPI_add_event(EventSet, code);
}

int PAPI_add_events(int EventSet, int *Events, int number)
{
    if (!Events || number <= 0) return papi_return(PAPI_EINVAL);
    for (int i = 0; i < number; i++) {
        int status = PAPI_add_event(EventSet, Events[i]);
        if (status) return i ? i : status; /* how many went in before */
    }
    return PAPI_OK;
}

/* The natives of what is left are found anew. Their looks keep no meaning. */
static int take_out(struct papi_set *set, unsigned slot)
{
    papi_overflow_forget(&set->slots[slot]);
    for (unsigned i = slot + 1; i < set->count; i++) {
        set->slots[i - 1] = set->slots[i];
        set->start[i - 1] = set->start[i];
    }
    set->count--;
    set->native_count = 0;
    for (unsigned i = 0; i < set->count; i++) {
        struct papi_formula formula;
        (void)papi_formula_of(set->slots[i].code, &formula);
        for (unsigned k = 0; k < formula.count; k++)
            formula.terms[k].event = (uint32_t)place_native(set, formula.terms[k].event);
        set->slots[i].formula = formula;
    }
    return PAPI_OK;
}

static int take_code(struct papi_set *set, int code)
{
    struct papi_formula formula;
    int slot = papi_set_slot(set, code);
    if (slot >= 0) return take_out(set, (unsigned)slot);
    return papi_formula_of(code, &formula) ? PAPI_ENOEVNT : PAPI_EINVAL;
}

int PAPI_remove_event(int EventSet, int EventCode)
{
    struct papi_set *set;
    int status = find_stopped(EventSet, &set);
    return papi_return(status ? status : take_code(set, EventCode));
}

int PAPI_remove_named_event(int EventSet, const char *EventName)
{
    int code, status = PAPI_event_name_to_code(EventName, &code);
    return status ? status : PAPI_remove_event(EventSet, code);
}

int PAPI_remove_events(int EventSet, int *Events, int number)
{
    if (!Events || number <= 0) return papi_return(PAPI_EINVAL);
    for (int i = 0; i < number; i++) {
        int status = PAPI_remove_event(EventSet, Events[i]);
        if (status) return i ? i : status;
    }
    return PAPI_OK;
}

int PAPI_list_events(int EventSet, int *Events, int *number)
{
    if (!papi_is_up()) return papi_return(PAPI_ENOINIT);
    const struct papi_set *set = papi_set_find(EventSet);
    if (!set) return papi_return(PAPI_ENOEVST);
    if (!number || *number < 0 || (!Events && *number > 0)) return papi_return(PAPI_EINVAL);
    for (int i = 0; i < *number && i < (int)set->count; i++)
        Events[i] = set->slots[i].code;
    *number = (int)set->count;
    return PAPI_OK;
}

int PAPI_num_events(int EventSet)
{
    if (!papi_is_up()) return papi_return(PAPI_ENOINIT);
    const struct papi_set *set = papi_set_find(EventSet);
    return set ? (int)set->count : papi_return(PAPI_ENOEVST);
}

int PAPI_state(int EventSet, int *status)
{
    if (!papi_is_up()) return papi_return(PAPI_ENOINIT);
    if (!status) return papi_return(PAPI_EINVAL);
    const struct papi_set *set = papi_set_find(EventSet);
    if (!set) return papi_return(PAPI_ENOEVST);
    *status = set->state | (set->attached ? PAPI_ATTACHED : 0);
    return PAPI_OK;
}

int PAPI_assign_eventset_component(int EventSet, int cidx)
{
    struct papi_set *set;
    int status = find_stopped(EventSet, &set);
    if (status) return papi_return(status);
    if (cidx != 0) return papi_return(PAPI_ENOCMP);
    if (set->count) return papi_return(PAPI_EINVAL); /* its events have decided */
    set->component = 0;
    return PAPI_OK;
}

int PAPI_get_eventset_component(int EventSet)
{
    if (!papi_is_up()) return papi_return(PAPI_ENOINIT);
    const struct papi_set *set = papi_set_find(EventSet);
    if (!set) return papi_return(PAPI_ENOEVST);
    return set->component < 0 ? papi_return(PAPI_ENOCMP) : set->component;
}
