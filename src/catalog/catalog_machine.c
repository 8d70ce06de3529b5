/* Reads a machine file: sections of key = value, checked key by key against the table and then as a
 * whole.
 *
 * inih splits the lines. It is given them by a reader of ours rather than the file, because by
 * itself it cuts lines at 200 bytes without a word, takes an indented line for more of the value
 * above, ignores what follows a ']' and gives its handler no line numbers. The reader hands out the
 * lines of a text_file, which have lost comments and outer blanks, with an empty line for each that
 * was skipped, so that both count alike; a line that does not fit is an error.
 */
#include "catalog/catalog.h"

#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    struct chil_machine *machine;
    struct text_file file;
    struct chil_error *err;
    char *held;        /* a line not yet handed out, because skipped lines come first */
    unsigned handed;   /* lines handed out */
    int status;        /* of the first error that the reader or the handler found */
    unsigned bad_line; /* and its line */
};

static int reading_fails(struct reading *reading, int status)
{
    if (status && !reading->status) {
        reading->status = status;
        reading->bad_line = reading->file.line;
    }
    return status;
}

static int check_shape(const struct reading *reading, const char *line, size_t room)
{
    int status = catalog_check_line(&reading->file, line, reading->err);
    if (status) return status;
    if (strlen(line) + 2 > room)
        return text_error(&reading->file, reading->err,
                          "line of %zu bytes is too long; the most is %zu", strlen(line), room - 2);
    const char *close = strchr(line, ']');
    if (*line == '[' && close && close[1])
        return text_error(&reading->file, reading->err,
                          "'%s' after a section's ']'; put it on a line of its own", close + 1);
    return 0;
}

/* ini_reader: the next line into `line`, or NULL at the end or after an error. */
static char *next_line(char *line, int size, void *stream)
{
    struct reading *reading = stream;
    if (reading->status) return NULL;
    if (!reading->held) {
        reading->held = text_next_line(&reading->file);
        if (!reading->held) return NULL;
        if (reading_fails(reading, check_shape(reading, reading->held, (size_t)size))) return NULL;
    }
    const char *text = "";
    if (++reading->handed == reading->file.line) {
        text = reading->held;
        reading->held = NULL;
    }
    (void)snprintf(line, (size_t)size, "%s\n", text);
    return line;
}

static const char *key_name_at(const void *table, size_t index)
{
    return ((const struct catalog_key *)table)[index].name;
}

static int unknown_key(const struct reading *reading, const char *section, const char *name,
                       const char *key)
{
    char hint[80];
    text_hint(hint, sizeof hint, text_nearest(key, catalog_keys, catalog_key_count, key_name_at));
    if (!*section)
        return text_error(&reading->file, reading->err,
                          "'%s' stands before any [section]; put it under one", name);
    size_t length = strlen(section);
    for (size_t i = 0; i < catalog_key_count; i++)
        if (strncmp(catalog_keys[i].name, section, length) == 0 &&
            catalog_keys[i].name[length] == '.')
            return text_error(&reading->file, reading->err, "unknown key '%s' in [%s]%s", name,
                              section, hint);
    return text_error(&reading->file, reading->err, "unknown section [%s]%s", section, hint);
}

static int take_value(struct reading *reading, const char *section, const char *name,
                      const char *word)
{
    struct chil_machine *machine = reading->machine;
    char full[128];
    (void)snprintf(full, sizeof full, "%s.%s", section, name);
    const struct catalog_key *key = catalog_key_find(full);
    if (!key) return unknown_key(reading, section, name, full);
    const struct catalog_value *before = catalog_value_find(machine, full);
    if (before)
        return text_error(&reading->file, reading->err, "%s is given again; line %u has it", full,
                          before->line);
    uint64_t number;
    int status = catalog_key_check(key, word, &number, &reading->file, reading->err);
    if (status) return status;
    machine->values[machine->value_count++] = (struct catalog_value){
        key, arena_strdup(&machine->arena, word), number, reading->file.line, NULL};
    return 0;
}

/* One setting: replaces the file's value, or adds one. */
static int take_setting(struct chil_machine *machine, const char *setting, struct chil_error *err)
{
    char name[128], file[160];
    const char *equals = strchr(setting, '=');
    struct text_file place = {.name = file};
    (void)snprintf(file, sizeof file, "setting '%.120s'", setting);
    if (!equals || (size_t)(equals - setting) >= sizeof name)
        return chil_error_set(err, CHIL_EPARSE,
                              "%s: write it as section.key=value, as in l1d.size=16K", file);
    (void)snprintf(name, sizeof name, "%.*s", (int)(equals - setting), setting);
    const struct catalog_key *key = catalog_key_find(name);
    if (!key) {
        char hint[80];
        text_hint(hint, sizeof hint,
                  text_nearest(name, catalog_keys, catalog_key_count, key_name_at));
        return chil_error_set(err, CHIL_ENOENT, "%s: machines have no '%s'%s", file, name, hint);
    }
    if (strcmp(name, "machine.name") == 0)
        return chil_error_set(err, CHIL_EINVAL, "%s: a machine keeps its name", file);
    uint64_t number = 0;
    int status = catalog_key_check(key, equals + 1, &number, &place, err);
    if (status) return status;
    const struct catalog_value *before = catalog_value_find(machine, name);
    struct catalog_value *value = before ? &machine->values[before - machine->values]
                                         : &machine->values[machine->value_count++];
    *value = (struct catalog_value){key, arena_strdup(&machine->arena, equals + 1), number,
                                    before ? before->line : 0, arena_strdup(&machine->arena, file)};
    return 0;
}

static int take_settings(struct chil_machine *machine, const struct catalog_settings *settings,
                         struct chil_error *err)
{
    int status = 0;
    for (size_t i = 0; !status && i < settings->count; i++)
        status = take_setting(machine, settings->text[i], err);
    return status;
}

/* ini_handler: non-zero when the value was taken. */
static int on_value(void *user, const char *section, const char *name, const char *word)
{
    struct reading *reading = user;
    if (reading->status) return 0;
    return reading_fails(reading, take_value(reading, section, name, word)) == 0;
}

/* A line for an error about something that is not there: the section's last one, else the file's.
 */
static void go_to_section(struct reading *reading, const char *key)
{
    size_t length = (size_t)(strchr(key, '.') - key) + 1;
    for (size_t i = 0; i < reading->machine->value_count; i++) {
        const struct catalog_value *value = &reading->machine->values[i];
        if (strncmp(value->key->name, key, length) == 0) reading->file.line = value->line;
    }
}

/* Errors are about this value: its line, or the setting. */
static void go_to(struct reading *reading, const struct catalog_value *value)
{
    reading->file.line = value->setting ? 0 : value->line;
    if (value->setting) reading->file.name = value->setting;
}

/* Of several keys the first that a setting has given, else the first. */
static void go_to_one(struct reading *reading, const char *const *keys, size_t count)
{
    const struct catalog_value *culprit = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct catalog_value *value = catalog_value_find(reading->machine, keys[i]);
        if (value && (!culprit || (value->setting && !culprit->setting))) culprit = value;
    }
    if (culprit) go_to(reading, culprit);
}

static int check_needs(struct reading *reading)
{
    const struct chil_machine *machine = reading->machine;
    const struct catalog_value *kind = catalog_value_find(machine, "upc.kind");
    bool grouped = kind && strcmp(kind->word, "grouped") == 0;
    enum catalog_need other = grouped ? CATALOG_HYBRID : CATALOG_GROUPED;
    for (size_t i = 0; i < catalog_key_count; i++) {
        const struct catalog_key *key = &catalog_keys[i];
        const struct catalog_value *value = catalog_value_find(machine, key->name);
        if (value && key->need == other) {
            go_to(reading, value);
            return text_error(&reading->file, reading->err,
                              "%s is not for a counter unit of kind '%s'; remove it", key->name,
                              kind ? kind->word : "hybrid");
        }
        if (!value && key->need != other && key->need != CATALOG_OPTIONAL) {
            go_to_section(reading, key->name);
            return text_error(&reading->file, reading->err, "%s is missing; give %s", key->name,
                              key->text);
        }
    }
    return 0;
}

struct cache_keys {
    const char *keys[4]; /* the size first, if it has one */
    size_t count;
    bool has_size;
};

/* A cache is banks x sets x ways x line; an optional cache is given with all of its keys or with
 * none. */
static int check_cache(struct reading *reading, const struct cache_keys *cache)
{
    uint64_t product = 1, size = 0;
    size_t given = 0;
    for (size_t i = 0; i < cache->count; i++) {
        const struct catalog_value *value = catalog_value_find(reading->machine, cache->keys[i]);
        if (!value) continue;
        given++;
        go_to(reading, value);
        if (i == 0 && cache->has_size)
            size = value->number;
        else
            product *= value->number;
    }
    if (given && given < cache->count)
        return text_error(&reading->file, reading->err,
                          "[%.2s] is given in part; give all of its keys or none", cache->keys[0]);
    if (size % product == 0) return 0;
    go_to_one(reading, cache->keys, cache->count);
    return text_error(&reading->file, reading->err,
                      "%s is not a whole number of sets; give a multiple of %llu", cache->keys[0],
                      (unsigned long long)product);
}

static int check_relations(struct reading *reading)
{
    static const struct cache_keys caches[] = {
        {{"l1i.size", "l1i.line", "l1i.ways"}, 3, true},
        {{"l1d.size", "l1d.line", "l1d.ways"}, 3, true},
        {{"l2.entries", "l2.line"}, 2, false},
        {{"l3.size", "l3.banks", "l3.line", "l3.ways"}, 4, true}};
    static const char *const sizes[] = {"memory.size_min", "memory.size_max"}, *const counters[] = {
                                                                                   "upc.counters",
                                                                                   "upc.groups"};
    const struct chil_machine *machine = reading->machine;
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++) {
        int status = check_cache(reading, &caches[i]);
        if (status) return status;
    }
    if (catalog_value_number(machine, "memory.size_min") >
        catalog_value_number(machine, "memory.size_max")) {
        go_to_one(reading, sizes, 2);
        return text_error(&reading->file, reading->err,
                          "memory.size_min is above memory.size_max; swap them");
    }
    const struct catalog_value *groups = catalog_value_find(machine, "upc.groups");
    if (groups && groups->number * 3 != catalog_value_number(machine, "upc.counters")) {
        go_to_one(reading, counters, 2);
        return text_error(&reading->file, reading->err,
                          "upc.counters is not 3 x upc.groups; each has A, B and C");
    }
    return 0;
}

/* The name is what users type, so it has to be the file's. */
static int check_name(struct reading *reading, const char *path)
{
    const char *name = chil_machine_name(reading->machine);
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    size_t length = strlen(name);
    if (strncmp(file, name, length) == 0 && strcmp(file + length, ".machine") == 0) return 0;
    go_to_one(reading, (const char *const[]){"machine.name"}, 1);
    return text_error(&reading->file, reading->err,
                      "name '%s' is not the file's; '%s' has to be in %s.machine", name, name,
                      name);
}

int catalog_machine_read(struct chil_machine *machine, const char *path,
                         const struct catalog_settings *settings, struct chil_error *err)
{
    struct reading reading = {.machine = machine, .err = err};
    machine->values = arena_calloc(&machine->arena, catalog_key_count, sizeof *machine->values);
    int status = text_file_open(&reading.file, path, err);
    if (status) return status;
    int line = ini_parse_stream(next_line, &reading, on_value, &reading);
    status = reading.status;
    if (line > 0 && (!status || (unsigned)line < reading.bad_line)) {
        reading.file.line = (unsigned)line;
        status = text_error(&reading.file, err, "neither [section] nor key = value");
    }
    if (!status) status = take_settings(machine, settings, err);
    if (!status) status = check_needs(&reading);
    if (!status) status = check_relations(&reading);
    if (!status) status = check_name(&reading, path);
    text_file_close(&reading.file);
    return status;
}

const struct catalog_value *catalog_value_find(const struct chil_machine *machine, const char *key)
{
    for (size_t i = 0; i < machine->value_count; i++)
        if (strcmp(machine->values[i].key->name, key) == 0) return &machine->values[i];
    return NULL;
}

uint64_t catalog_value_number(const struct chil_machine *machine, const char *key)
{
    const struct catalog_value *value = catalog_value_find(machine, key);
    return value ? value->number : 0;
}

/* Events that do not fit: the setting of the counter unit is wrong, if there is one, not the file.
 */
static int blame_setting(const struct chil_machine *machine, int status, struct chil_error *err)
{
    static const char *const keys[] = {"upc.counters", "upc.inputs", "upc.groups",
                                       "upc.fpu_counters"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys && err; i++) {
        const struct catalog_value *value = catalog_value_find(machine, keys[i]);
        if (!value || !value->setting) continue;
        char text[sizeof err->text];
        memcpy(text, err->text, sizeof text);
        return chil_error_set(err, status, "%s: the machine's events need another unit: %.300s",
                              value->setting, text);
    }
    return status;
}

int chil_machine_open(struct chil_machine **machine, const char *name, struct chil_error *err)
{
    return chil_machine_open_with(machine, name, NULL, 0, err);
}

int chil_machine_open_with(struct chil_machine **machine, const char *name,
                           const char *const *settings, size_t count, struct chil_error *err)
{
    char path[CATALOG_PATH_MAX], events[CATALOG_PATH_MAX];
    *machine = NULL;
    int status = catalog_find_machine(path, name, err);
    if (status) return status;
    struct chil_machine *opened = base_calloc(1, sizeof *opened);
    arena_init(&opened->arena);
    status = catalog_machine_read(opened, path, &(struct catalog_settings){settings, count}, err);
    if (!status)
        status = catalog_find_events(events, name, chil_machine_word(opened, "events.file"), err);
    if (!status) {
        status = catalog_events_read(opened, events, false, err);
        if (status) status = blame_setting(opened, status, err);
    }
    const char *simulator = chil_machine_word(opened, "events.simulator");
    if (!status && simulator) status = catalog_find_events(events, name, simulator, err);
    if (!status && simulator) status = catalog_events_read(opened, events, true, err);
    if (!status) catalog_index_build(opened);
    if (status) {
        chil_machine_free(opened);
        return status;
    }
    *machine = opened;
    return 0;
}

void chil_machine_free(struct chil_machine *machine)
{
    if (!machine) return;
    arena_fini(&machine->arena);
    free(machine);
}

const char *chil_machine_name(const struct chil_machine *machine)
{
    return chil_machine_word(machine, "machine.name");
}

const char *chil_machine_text(const struct chil_machine *machine)
{
    return chil_machine_word(machine, "machine.text");
}

const char *chil_machine_word(const struct chil_machine *machine, const char *key)
{
    const struct catalog_value *value = catalog_value_find(machine, key);
    return value ? value->word : NULL;
}

int chil_machine_number(const struct chil_machine *machine, const char *key, uint64_t *number)
{
    const struct catalog_value *value = catalog_value_find(machine, key);
    if (!value) return CHIL_ENOENT;
    if (!catalog_key_is_number(value->key)) return CHIL_EINVAL;
    *number = value->number;
    return 0;
}

void chil_machine_each(const struct chil_machine *machine,
                       void (*each)(void *context, const char *key, const char *word),
                       void *context)
{
    for (size_t i = 0; i < machine->value_count; i++)
        each(context, machine->values[i].key->name, machine->values[i].word);
}
