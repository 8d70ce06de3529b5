/* What the files of the PAPI library share.
 *
 *   papi_core.c      the library's start and end, errors, threads, locks
 *   papi_names.c     codes, names and texts of events; papi_presets.c the presets and their formulas
 *   papi_set.c       event sets; papi_count.c counting
 *   papi_overflow.c  overflow and profiles
 *   papi_options.c   options, domains, granularity, attaching, multiplexing
 *   papi_time.c      timers and rates; papi_hl.c regions
 *   papi_info.c      the machine, the program, its memory
 *
 * Counting. A set's events are sums of native events; the natives' counts come all at once from the simulator
 * (chiliad/callthru.h) and only grow. Starting takes a look, and a value is what was added since. So the library has no
 * counters of its own and no limit on how many events are in a set.
 */
#ifndef PAPI_IMPL_H
#define PAPI_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "chiliad/callthru.h"
#include "papi.h"

enum { PAPI_VECTOR_BITS = 64, PAPI_SETS_MAX = 1 << 16 };

/* --- Events (papi_names.c, papi_presets.c) ------------------------------------------------------------------------ */

/* A sum of native events, each with a weight. */
struct papi_formula {
    unsigned count; /* 0: cannot be counted on this machine */
    struct {
        uint32_t event;
        int weight;
    } terms[PAPI_MAX_INFO_TERMS];
};

struct papi_preset {
    int index; /* PAPI_..._idx */
    const char *name;
    unsigned type; /* PAPI_PRESET_BIT_... */
    const char *short_text, *text;
    const char *any, *bgp, *bgl; /* formulas: of every machine, or of one; NULL: none */
    const char *note;
};
extern const struct papi_preset papi_presets[];
extern const unsigned papi_preset_count;

int papi_names_load(void);
unsigned papi_native_count(void); /* without reserved ones */
unsigned papi_preset_available(void);
const struct chiliad_event *papi_native(uint32_t event);
/* What a code counts; PAPI_OK, PAPI_ENOEVNT or PAPI_ENOTPRESET. */
int papi_formula_of(int code, struct papi_formula *formula);

/* --- Event sets (papi_set.c) -------------------------------------------------------------------------------------- */

struct papi_profile {
    PAPI_sprofil_t *ranges;
    int count, flags;
};

struct papi_slot {
    int code;
    struct papi_formula formula; /* its terms' events are indices into the set's natives */
    int threshold;               /* 0: no overflow */
    long long next;              /* the value at which it overflows next */
    struct papi_profile profile; /* count 0: none */
};

struct papi_thread;

struct papi_set {
    int number;
    int state; /* PAPI_STOPPED or PAPI_RUNNING, and PAPI_OVERFLOWING ... */
    int component;
    int domain, granularity, inherit;
    unsigned long attached; /* 0: not */
    int multiplex_ns;
    struct papi_slot *slots;
    long long *start; /* per slot: the value that counting began with */
    unsigned count, capacity;
    uint32_t *natives; /* without doubles */
    uint64_t *base, *now;
    unsigned native_count, native_capacity;
    struct chiliad_events_read request;
    struct papi_thread *thread; /* that runs it */
    PAPI_overflow_handler_t handler;
    int overflow_flags;
};

/* The set of that number, NULL when there is none. */
struct papi_set *papi_set_find(int number);
int papi_set_slot(const struct papi_set *set, int code); /* its position, or -1 */
void papi_sets_free(void);

/* --- Counting (papi_count.c) -------------------------------------------------------------------------------------- */

/* Values from the looks `base` and `now`. */
void papi_set_values(const struct papi_set *set, long long *values);
long long papi_slot_value(const struct papi_set *set, unsigned slot);

/* Looks at all natives of the set at one moment. */
static inline void papi_look(struct papi_set *set, uint64_t *values)
{
    set->request.values = values;
    (void)chiliad_callthru(CHILIAD_EVENTS_READ, (long)&set->request, 0);
}

/* --- Overflow (papi_overflow.c) ----------------------------------------------------------------------------------- */

int papi_overflow_prepare(void);              /* before a set with overflow starts */
void papi_overflow_arm(struct papi_set *set); /* it has started, or its handler is done */
void papi_overflow_disarm(const struct papi_set *set);
void papi_overflow_forget(struct papi_slot *slot);

/* --- The library (papi_core.c) ------------------------------------------------------------------------------------ */

struct papi_thread {
    unsigned long id;
    int tid;
    struct papi_set *running;
    void *specific[PAPI_NUM_TLS];
    struct papi_set *rate; /* of the rate functions */
    int rate_kind;
    struct papi_thread *next;
};

struct papi_options {
    int level; /* PAPI_NOT_INITED and so on */
    int domain, granularity;
    int multiplex_ns;
    int debug;
    PAPI_debug_handler_t debug_handler;
    bool disabled; /* the component, before initialization */
};
extern struct papi_options papi_options;

bool papi_is_up(void);
/* What a call returns: notifies the debug handler of an error. */
int papi_return(int code);
struct papi_thread *papi_thread_get(void); /* the caller's, made if need be */
void papi_lock_all(void);
void papi_unlock_all(void);

/* --- Others ------------------------------------------------------------------------------------------------------- */

void papi_rates_free(struct papi_thread *thread); /* papi_time.c */
void papi_info_load(void);                        /* papi_info.c */
void papi_hl_shutdown(void);                      /* papi_hl.c */
unsigned papi_clock_mhz(void);
extern PAPI_component_info_t papi_component;

#endif
