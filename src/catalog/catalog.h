/* What the parts of the catalogue share: the opened machine, its keys, its rows.
 *
 * The flow is catalog_find (where the files are) -> catalog_machine (sections of key = value,
 * checked against the table in catalog_keys) -> catalog_events (a row per event; catalog_row takes
 * one apart) -> catalog_index (lookup by name). All of a machine lives in one arena; it is never
 * written after chil_machine_open has returned.
 *
 * Terms: docs/glossary.md
 */
#ifndef CATALOG_H
#define CATALOG_H

#include "chiliad/catalog.h"

#include "base/mem.h"
#include "base/text.h"

enum catalog_kind {
    CATALOG_NUMBER, /* within low..high */
    CATALOG_POWER,  /* a number that is a power of two */
    CATALOG_PAGE,   /* an address at which a page of 4 KiB begins */
    CATALOG_NAME,   /* one word of letters, digits and _ . - that does not start with '.' */
    CATALOG_NAMES,  /* one or more of them, blanks between */
    CATALOG_TEXT,   /* anything */
    CATALOG_CHOICE, /* one of `choices` */
};

/* When a key must be there. Keys of one kind of counter unit are refused for another. */
enum catalog_need { CATALOG_OPTIONAL, CATALOG_REQUIRED, CATALOG_HYBRID, CATALOG_GROUPED };

struct catalog_key {
    const char *name; /* "section.key" */
    enum catalog_kind kind;
    enum catalog_need need;
    uint64_t low, high;
    const char *const *choices; /* ends with NULL */
    const char *text;
};

extern const struct catalog_key catalog_keys[];
extern const size_t catalog_key_count;

/* The row of the table, or NULL. */
const struct catalog_key *catalog_key_find(const char *name);
/* Checks a value as written; *number is set for numbers. Errors carry the line that `file` is at.
 */
int catalog_key_check(const struct catalog_key *key, const char *word, uint64_t *number,
                      const struct text_file *file, struct chil_error *err);
bool catalog_key_is_number(const struct catalog_key *key);

/* A key that the machine file gives. */
struct catalog_value {
    const struct catalog_key *key;
    const char *word;
    uint64_t number;
    unsigned line;
    const char *setting; /* "setting 'KEY=VALUE'" in the place of the file's line; NULL: the file */
};

struct chil_machine {
    struct arena arena;
    struct catalog_value *values; /* in the order of the file */
    size_t value_count;
    struct chil_event *events; /* ordered by id */
    size_t event_count;
    struct chil_event *own; /* the simulator's own counters, ordered by id */
    size_t own_count;
    const struct chil_event **by_name; /* named rows of both, ordered by name */
    size_t named_count;
};

const struct catalog_value *catalog_value_find(const struct chil_machine *machine, const char *key);
/* A number that the checks have made certain to be there. */
uint64_t catalog_value_number(const struct chil_machine *machine, const char *key);

/* Parameters that are given instead of, or besides, those of the file: "section.key=value". */
struct catalog_settings {
    const char *const *text;
    size_t count;
};

int catalog_machine_read(struct chil_machine *machine, const char *path,
                         const struct catalog_settings *settings, struct chil_error *err);
/* Reads the machine's own events, or with `simulator` events that only a simulator can count. */
int catalog_events_read(struct chil_machine *machine, const char *path, bool simulator,
                        struct chil_error *err);
void catalog_index_build(struct chil_machine *machine);

/* A row while its file is being read: the event, and where it stands. */
struct catalog_row {
    struct chil_event event;
    unsigned line;
};

struct catalog_columns;
/* Reads the `columns` line; the result lives in the machine's arena. */
int catalog_columns_read(struct chil_machine *machine, struct text_file *file,
                         const struct catalog_columns **columns, struct chil_error *err);
/* Takes one line apart by the columns and checks everything that can be checked without the other
 * rows. */
int catalog_row_read(struct chil_machine *machine, const struct catalog_columns *columns,
                     const struct text_file *file, char *line, struct catalog_row *row,
                     struct chil_error *err);

/* The counters of a unit of kind grouped. */
struct catalog_counter {
    const char *name;
    unsigned codes; /* of its input selector */
    bool in_fpu;
};
enum { CATALOG_COUNTERS = 5, CATALOG_CODES = 32 };
extern const struct catalog_counter catalog_counters[CATALOG_COUNTERS];

/* Whether all of `word` is letters, digits and _ . - and does not start with '.': safe as part of a
 * path. */
bool catalog_is_name(const char *word);
/* Refuses control characters and broken UTF-8, so that whatever is read can be printed and put into
 * JSON. */
int catalog_check_line(const struct text_file *file, const char *line, struct chil_error *err);

enum { CATALOG_PATH_MAX = 4096 };
/* Finds the file of a machine; in `path`, CATALOG_PATH_MAX bytes. */
int catalog_find_machine(char *path, const char *name, struct chil_error *err);
/* Finds its events: beside a machine given by path (../events, then its own folder), else in the
 * data directory. */
int catalog_find_events(char *path, const char *machine_name, const char *file,
                        struct chil_error *err);

#endif
