/* Inside chiliad list: what its files share. */
#ifndef CMD_LIST_H
#define CMD_LIST_H

#include "cmd/cmd.h"

enum { LIST_INDENT = 6, LIST_WIDTH = 80 };

struct list_options {
    const char *machine; /* NULL: not given */
    bool json, reserved, free;
    bool machines; /* rather than events */
    bool own;      /* the simulator's own counters, rather than the machine's events */
    bool metrics, sets;
    char **patterns;
    int pattern_count;
};

/* A JSON array, an object a line; an object is dropped when it has been printed. */
void list_print_object(json_t *object, size_t index);
void list_print_array_end(size_t count);

/* Whether an event matches one of the patterns, or there are none. */
bool list_matches(const struct list_options *options, const struct chil_event *event);
int list_events(const struct list_options *options);
int list_machines(const struct list_options *options);
/* Specifications of metrics, or platforms with their counter sets; `words` are names to show in
 * full. */
int list_metrics(bool sets, bool json, char **words, int count);

#endif
