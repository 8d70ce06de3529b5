/* The catalogue: which machines there are, and which events each can count.
 *
 * Machines and events are text files that users may edit and add to (docs/formats):
 * DATA/machines/NAME.machine (sections of key = value) and DATA/events/NAME.events (a row per
 * event). DATA is $CHILIAD_DATA if set, else `data` beside or above the program, else the install
 * prefix's share/chiliad. A machine is read whole and checked row by row when it is opened; it is
 * constant from then on, may be read by any number of threads, and owns every string it hands out
 * until chil_machine_free.
 */
#ifndef CHILIAD_CATALOG_H
#define CHILIAD_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chiliad/error.h"
#include "chiliad/signal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How far a count may be trusted. name, word, text */
#define CHIL_EXACTNESSES(X)                                                                        \
    X(CHIL_NONE, "none", "no such activity in the model; always 0")                                \
    X(CHIL_MODELLED, "modelled", "depends on modelling choices, which docs/model.md names")        \
    X(CHIL_EXACT, "exact", "defined by the program and the architecture")

enum chil_exactness {
#define CHIL_EXACTNESS_ENUM(name, word, text) name,
    CHIL_EXACTNESSES(CHIL_EXACTNESS_ENUM)
#undef CHIL_EXACTNESS_ENUM
};

/* Where an event can sit on a machine with fixed placements (Blue Gene/L): group, counter within
 * it, input code. */
struct chil_placement {
    unsigned group;
    const char *counter; /* "A", "B", "C", "ARITH" or "LDST" */
    unsigned code;
};

struct chil_event {
    uint32_t id;
    const char *name;
    const char *unit;           /* "PU0/JPIPE", "L3/bank0", ... */
    unsigned clock;             /* the unit's cycle in core cycles: 1 or 2 */
    const char *const *signals; /* added up; none for a reserved row */
    size_t signal_count;
    enum chil_count_mode mode;     /* unless the user chooses another */
    enum chil_exactness exactness; /* CHIL_NONE where what it needs is off */
    const char *needs; /* the parameter that has to be on for it, or "memory.model" if that is too
                          small for it; NULL: it is counted */
    const struct chil_placement *placements;
    size_t placement_count;
    bool reserved;  /* no event is assigned to this id */
    bool simulator; /* one of the simulator's own: no input of a counter unit, all cores together */
    const char *text;
};

struct chil_machine;

const char *chil_exactness_word(int exactness);

/* Opens a machine by name, or by path when `name` contains a '/'. */
int chil_machine_open(struct chil_machine **machine, const char *name, struct chil_error *err);
/* The same with parameters changed, each as "section.key=value": a member of a family of machines.
 */
int chil_machine_open_with(struct chil_machine **machine, const char *name,
                           const char *const *settings, size_t count, struct chil_error *err);
void chil_machine_free(struct chil_machine *machine);

const char *chil_machine_name(const struct chil_machine *machine);
const char *chil_machine_text(const struct chil_machine *machine);

/* A parameter by "section.key": its words as written, or NULL; its number, or CHIL_ENOENT if it is
 * not given. */
const char *chil_machine_word(const struct chil_machine *machine, const char *key);
int chil_machine_number(const struct chil_machine *machine, const char *key, uint64_t *value);
/* All given parameters in the order of the file: calls back with key and words. */
void chil_machine_each(const struct chil_machine *machine,
                       void (*each)(void *context, const char *key, const char *word),
                       void *context);

/* All rows, ordered by id. */
const struct chil_event *chil_machine_events(const struct chil_machine *machine, size_t *count);
/* The simulator's own counters (BGL_INST …), ordered by id; none when the machine file names no
 * file of them. */
const struct chil_event *chil_machine_own_events(const struct chil_machine *machine, size_t *count);
/* One row by name, of both kinds, or by decimal id, of the first kind; an unknown one names the
 * nearest in `err`. */
int chil_machine_find_event(const struct chil_machine *machine, const char *name,
                            const struct chil_event **event, struct chil_error *err);
/* Whether an event matches a user's pattern: a glob when it has one of *?[, else a part of the
 * name, unit or text; case does not matter. */
bool chil_event_matches(const struct chil_event *event, const char *pattern);

/* The directory of the data files; the string lives in `buffer`. */
int chil_data_directory(char *buffer, size_t size, struct chil_error *err);
/* The names of all machines, sorted; free with chil_names_free. */
int chil_machine_names(char ***names, size_t *count, struct chil_error *err);
void chil_names_free(char **names, size_t count);

#ifdef __cplusplus
}
#endif
#endif
