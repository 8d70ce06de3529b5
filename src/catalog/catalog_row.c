/* One row of an event file: which columns there are, and what each takes.
 *
 * A file names its own columns, so that one without placements need not carry an empty column and a
 * later column does not break old files. To add a column, add a row to `columns` with the function
 * that takes its field.
 */
#include "catalog/catalog.h"

#include <stdio.h>
#include <string.h>

const struct catalog_counter catalog_counters[CATALOG_COUNTERS] = {
    {"A", 32, false}, {"B", 16, false}, {"C", 32, false}, {"ARITH", 4, true}, {"LDST", 4, true},
};

enum { COLUMN_COUNT = 9 };

/* The columns of a file, and what its rows have to know of the machine. */
struct catalog_columns {
    const struct column *order[COLUMN_COUNT];
    size_t count;
    uint64_t most_id;
    const char *model; /* memory.model, or NULL */
};

struct taking {
    struct chil_machine *machine;
    const struct catalog_columns *columns;
    const struct text_file *file;
    struct chil_event *event;
    struct chil_error *err;
};

static const char *word_at(const void *table, size_t index)
{
    return ((const char *const *)table)[index];
}

/* The index of `word` in a list of words, or an error that names them and the nearest. */
static int take_word(const struct taking *t, const char *what, const char *word,
                     const char *const *words, size_t count, unsigned *index)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0) {
            *index = i;
            return 0;
        }
    char list[80] = "", hint[80];
    size_t used = 0;
    for (unsigned i = 0; i < count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", words[i]);
    text_hint(hint, sizeof hint, text_nearest(word, words, count, word_at));
    return text_error(t->file, t->err, "%s '%s' is none of %s%s", what, word, list, hint);
}

static int take_id(const struct taking *t, char *field)
{
    uint64_t most = t->columns->most_id, id;
    if (strspn(field, "0123456789") != strlen(field) || !text_to_u64(field, &id))
        return text_error(t->file, t->err, "id '%s' is not a decimal number", field);
    if (id > most)
        return text_error(t->file, t->err, "id %s is out of range; give 0 to %llu", field,
                          (unsigned long long)most);
    t->event->id = (uint32_t)id;
    return 0;
}

static int take_name(const struct taking *t, char *field)
{
    static const char reserved[] = "RESERVED";
    size_t length = strlen(field), tail = sizeof reserved - 1;
    if (strspn(field, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != length)
        return text_error(t->file, t->err, "name '%s' has other characters than A-Z, 0-9 and _",
                          field);
    if (strspn(field, "0123456789") == length)
        return text_error(t->file, t->err, "name '%s' would be taken for an id; use a letter",
                          field);
    t->event->name = arena_strdup(&t->machine->arena, field);
    t->event->reserved = length >= tail && strcmp(field + length - tail, reserved) == 0 &&
                         (length == tail || field[length - tail - 1] == '_');
    return 0;
}

static int take_unit(const struct taking *t, char *field)
{
    t->event->unit = arena_strdup(&t->machine->arena, field);
    return 0;
}

static int take_clock(const struct taking *t, char *field)
{
    static const char *const words[] = {"x1", "x2"};
    unsigned index = 0;
    int status = take_word(t, "clock", field, words, 2, &index);
    if (!status) t->event->clock = index + 1;
    return status;
}

static int take_count(const struct taking *t, char *field)
{
    static const char *const words[] = {
#define MODE_WORD(name, code, word, text) [name] = word,
        CHIL_COUNT_MODES(MODE_WORD)
#undef MODE_WORD
    };
    unsigned index = 0;
    int status = take_word(t, "count", field, words, sizeof words / sizeof *words, &index);
    if (!status) t->event->mode = (enum chil_count_mode)index;
    return status;
}

static const char *const exactness_words[] = {
#define EXACTNESS_WORD(name, word, text) [name] = word,
    CHIL_EXACTNESSES(EXACTNESS_WORD)
#undef EXACTNESS_WORD
};
enum { EXACTNESS_COUNT = sizeof exactness_words / sizeof *exactness_words };

const char *chil_exactness_word(int exactness)
{
    return exactness >= 0 && exactness < EXACTNESS_COUNT ? exactness_words[exactness] : NULL;
}

/* "modelled:misses.kinds": modelled where that parameter is on, else none. */
static int take_exactness(const struct taking *t, char *field)
{
    unsigned index = 0;
    char *needs = field;
    int status =
        take_word(t, "exactness", strsep(&needs, ":"), exactness_words, EXACTNESS_COUNT, &index);
    if (status) return status;
    t->event->exactness = (enum chil_exactness)index;
    if (!needs) return 0;
    const struct catalog_key *key = catalog_key_find(needs);
    if (!key || key->kind != CATALOG_CHOICE || strcmp(key->choices[1], "on") != 0)
        return text_error(t->file, t->err,
                          "'%s' is no parameter that is off or on; see docs/formats/machine.md",
                          needs);
    const char *word = chil_machine_word(t->machine, needs);
    if (!word || strcmp(word, "on") != 0) t->event->exactness = CHIL_NONE;
    t->event->needs = key->name;
    return 0;
}

static int take_text(const struct taking *t, char *field)
{
    t->event->text = arena_strdup(&t->machine->arena, field);
    return 0;
}

static size_t count_parts(const char *list, char between)
{
    size_t count = 1;
    for (; *list; list++)
        count += *list == between;
    return count;
}

/* Parts of [a-z0-9_]+ with dots between. */
static bool is_signal(const char *name)
{
    for (;;) {
        size_t part = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
        name += part;
        if (!part) return false;
        if (!*name) return true;
        if (*name++ != '.') return false;
    }
}

enum { SIGNALS_MAX = 64 }; /* each is compared with each */

static int take_signals(const struct taking *t, char *field)
{
    if (strcmp(field, "-") == 0) return 0;
    size_t count = count_parts(field, '+'), i = 0;
    if (count > SIGNALS_MAX)
        return text_error(t->file, t->err, "%zu signals are added up; the most is %d", count,
                          SIGNALS_MAX);
    const char **signals = arena_calloc(&t->machine->arena, count, sizeof *signals);
    for (char *rest = field, *name = strsep(&rest, "+"); name; name = strsep(&rest, "+")) {
        if (!is_signal(name))
            return text_error(t->file, t->err,
                              "signal '%s' is not parts of a-z, 0-9 and _ with dots between", name);
        for (size_t k = 0; k < i; k++)
            if (strcmp(signals[k], name) == 0)
                return text_error(t->file, t->err,
                                  "signal '%s' is added up twice; name each signal once", name);
        signals[i++] = arena_strdup(&t->machine->arena, name);
    }
    t->event->signals = signals;
    t->event->signal_count = count;
    return 0;
}

static int take_placement(const struct taking *t, char *field, struct chil_placement *placement)
{
    char *rest = field;
    const char *group = strsep(&rest, ":"), *counter = strsep(&rest, ":"), *code = rest;
    uint64_t group_number, code_number;
    if (!code || !text_to_u64(group, &group_number) || !text_to_u64(code, &code_number))
        return text_error(t->file, t->err, "placement '%s' is not GROUP:COUNTER:CODE", group);
    const char *names[CATALOG_COUNTERS];
    for (unsigned i = 0; i < CATALOG_COUNTERS; i++)
        names[i] = catalog_counters[i].name;
    unsigned index = 0;
    int status = take_word(t, "counter", counter, names, CATALOG_COUNTERS, &index);
    if (status) return status;
    const struct catalog_counter *kind = &catalog_counters[index];
    uint64_t groups = catalog_value_number(t->machine, "upc.groups");
    uint64_t first = kind->in_fpu ? groups : 0;
    uint64_t end =
        kind->in_fpu ? groups + catalog_value_number(t->machine, "upc.fpu_counters") / 2 : groups;
    if (group_number < first || group_number >= end)
        return text_error(t->file, t->err,
                          "group %s has no counter %s; its groups are %llu to %llu", group, counter,
                          (unsigned long long)first, (unsigned long long)end - 1);
    if (code_number >= kind->codes)
        return text_error(t->file, t->err, "code %s is out of range; counter %s has 0 to %u", code,
                          counter, kind->codes - 1);
    *placement = (struct chil_placement){(unsigned)group_number, kind->name, (unsigned)code_number};
    return 0;
}

static int take_at(const struct taking *t, char *field)
{
    if (strcmp(field, "-") == 0) return 0;
    if (!catalog_value_find(t->machine, "upc.groups"))
        return text_error(
            t->file, t->err,
            "placement '%s' on a counter unit that is not of kind 'grouped'; write '-'", field);
    size_t count = count_parts(field, ','), i = 0;
    struct chil_placement *placements = arena_calloc(&t->machine->arena, count, sizeof *placements);
    for (char *rest = field, *place = strsep(&rest, ","); place; place = strsep(&rest, ",")) {
        int status = take_placement(t, place, &placements[i++]);
        if (status) return status;
    }
    t->event->placements = placements;
    t->event->placement_count = count;
    return 0;
}

static const struct column {
    const char *name;
    int (*take)(const struct taking *t, char *field);
    bool optional;
} columns[] = {
    {"id", take_id, false},
    {"name", take_name, false},
    {"unit", take_unit, false},
    {"clock", take_clock, false},
    {"signals", take_signals, false},
    {"count", take_count, false},
    {"exactness", take_exactness, false},
    {"at", take_at, true},
    {"text", take_text, false},
};
_Static_assert(sizeof columns / sizeof *columns == COLUMN_COUNT, "one per row");

static const char *column_at(const void *table, size_t index)
{
    return ((const struct column *)table)[index].name;
}

static int add_column(struct catalog_columns *found, const char *name, const struct text_file *file,
                      struct chil_error *err)
{
    for (size_t i = 0; i < found->count; i++)
        if (strcmp(found->order[i]->name, name) == 0)
            return text_error(file, err, "column '%s' is named twice", name);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        if (strcmp(columns[i].name, name) == 0) {
            found->order[found->count++] = &columns[i];
            return 0;
        }
    char hint[80];
    text_hint(hint, sizeof hint, text_nearest(name, columns, COLUMN_COUNT, column_at));
    return text_error(file, err, "unknown column '%s'%s", name, hint);
}

int catalog_columns_read(struct chil_machine *machine, struct text_file *file,
                         const struct catalog_columns **result, struct chil_error *err)
{
    struct catalog_columns *found = arena_calloc(&machine->arena, 1, sizeof *found);
    char *line = text_next_line(file);
    if (!line)
        return text_error(file, err, "no rows; the first line has to be 'columns NAME NAME ...'");
    int status = catalog_check_line(file, line, err);
    if (status) return status;
    const char *word = text_next_field(&line);
    if (strcmp(word, "columns") != 0)
        return text_error(file, err, "'%s' where 'columns NAME NAME ...' has to be", word);
    for (const char *name; (name = text_next_field(&line));) {
        status = add_column(found, name, file, err);
        if (status) return status;
    }
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        bool there = columns[i].optional;
        for (size_t k = 0; k < found->count; k++)
            there |= found->order[k] == &columns[i];
        if (!there) return text_error(file, err, "column '%s' is missing", columns[i].name);
    }
    if (found->order[found->count - 1]->take != take_text)
        return text_error(file, err,
                          "column 'text' has to be the last; it takes the rest of a line");
    uint64_t inputs = catalog_value_number(machine, "upc.inputs");
    found->most_id =
        inputs ? catalog_value_number(machine, "upc.counters") * inputs - 1 : UINT32_MAX;
    found->model = chil_machine_word(machine, "memory.model");
    *result = found;
    return 0;
}

static int check_row(const struct taking *t)
{
    const struct chil_event *event = t->event;
    if (event->reserved && event->signal_count)
        return text_error(t->file, t->err,
                          "reserved id %u has signals; write '-' or give it a name", event->id);
    if (!event->signal_count && event->exactness != CHIL_NONE)
        return text_error(t->file, t->err,
                          "exactness '%s' without a signal; write 'none' or name the signals",
                          chil_exactness_word(event->exactness));
    return 0;
}

/* Whether L1 and the TLB alone raise all signals of an event. */
static bool is_of_l1(const struct chil_event *event)
{
    static const char *const parts[] = {
        ".l1d.miss",   ".l1d.hit",   ".l1d.invalidated", ".l1i.miss",  ".l1i.hit",
        ".l1i.access", ".l1d.touch", ".dtlb.miss",       ".itlb.miss", ".page_fault"};
    for (size_t i = 0; i < event->signal_count; i++) {
        bool found = false;
        for (size_t k = 0; k < sizeof parts / sizeof *parts && !found; k++)
            found = strstr(event->signals[i], parts[k]) != NULL;
        if (!found) return false;
    }
    return true;
}

/* What the simulated part of the memory hierarchy does not count: with memory.model = none every
 * modelled event, with l1 all that are not of L1 and the TLB alone. */
static void leave_out(const struct taking *t)
{
    struct chil_event *event = t->event;
    const char *model = t->columns->model;
    if (!model || strcmp(model, "full") == 0 || event->exactness != CHIL_MODELLED) return;
    if (strcmp(model, "l1") == 0 && is_of_l1(event)) return;
    event->exactness = CHIL_NONE;
    event->needs = "memory.model";
}

int catalog_row_read(struct chil_machine *machine, const struct catalog_columns *found,
                     const struct text_file *file, char *line, struct catalog_row *row,
                     struct chil_error *err)
{
    *row = (struct catalog_row){.line = file->line};
    struct taking t = {machine, found, file, &row->event, err};
    int status = catalog_check_line(file, line, err);
    for (size_t i = 0; !status && i < found->count; i++) {
        bool last = i + 1 == found->count;
        char *field = last ? text_rest(&line) : text_next_field(&line);
        if (!field || !*field)
            return text_error(file, err, "row ends before column '%s'; it needs all %zu",
                              found->order[i]->name, found->count);
        status = found->order[i]->take(&t, field);
    }
    if (!status) status = check_row(&t);
    if (!status) leave_out(&t);
    return status;
}
