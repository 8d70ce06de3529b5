/* Finds events: by id and by name in an ordered index, and by a user's pattern. */
#include "catalog/catalog.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Users may type names in small letters. */
static int by_name(const void *a, const void *b)
{
    const struct chil_event *const *x = a, *const *y = b;
    return strcasecmp((*x)->name, (*y)->name);
}

void catalog_index_build(struct chil_machine *machine)
{
    size_t all = machine->event_count + machine->own_count;
    machine->by_name = arena_calloc(&machine->arena, all, sizeof(const struct chil_event *));
    for (size_t i = 0; i < machine->event_count; i++)
        if (!machine->events[i].reserved)
            machine->by_name[machine->named_count++] = &machine->events[i];
    for (size_t i = 0; i < machine->own_count; i++)
        machine->by_name[machine->named_count++] = &machine->own[i];
    qsort(machine->by_name, machine->named_count, sizeof(const struct chil_event *), by_name);
}

const struct chil_event *chil_machine_events(const struct chil_machine *machine, size_t *count)
{
    *count = machine->event_count;
    return machine->events;
}

const struct chil_event *chil_machine_own_events(const struct chil_machine *machine, size_t *count)
{
    *count = machine->own_count;
    return machine->own;
}

static int by_id(const void *a, const void *b)
{
    const struct chil_event *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static const char *event_name_at(const void *table, size_t index)
{
    return ((const struct chil_event *const *)table)[index]->name;
}

static int find_by_id(const struct chil_machine *machine, const char *digits,
                      const struct chil_event **event, struct chil_error *err)
{
    uint64_t id;
    if (text_to_u64(digits, &id) && id <= UINT32_MAX) {
        struct chil_event key = {.id = (uint32_t)id};
        *event = bsearch(&key, machine->events, machine->event_count, sizeof key, by_id);
        if (*event) return 0;
    }
    return chil_error_set(err, CHIL_ENOENT, "%s has no event with id %.40s; its last is %u",
                          chil_machine_name(machine), digits,
                          machine->events[machine->event_count - 1].id);
}

/* Every run of so many words of every name, for a hint to a user who typed a part of a name. */
struct part {
    const char *text;
    const struct chil_event *event;
};

struct parts {
    struct arena arena;
    struct part *part;
    size_t count, capacity;
};

/* The length of the first so many words of `text`. */
static size_t words_length(const char *text, size_t words)
{
    size_t length = strcspn(text, "_");
    for (size_t i = 1; i < words && text[length]; i++)
        length += 1 + strcspn(text + length + 1, "_");
    return length;
}

static void add_parts(struct parts *parts, const struct chil_event *event, size_t words)
{
    const char *start = event->name, *end = start + strlen(start);
    while (start < end) {
        const char *text = arena_strndup(&parts->arena, start, words_length(start, words));
        parts->part =
            base_grow(parts->part, &parts->capacity, parts->count + 1, sizeof *parts->part);
        parts->part[parts->count++] = (struct part){text, event};
        start += words_length(start, 1) + 1;
    }
}

static const char *part_at(const void *table, size_t index)
{
    return ((const struct part *)table)[index].text;
}

/* The name that has a part nearest to `name`; NULL when none is near. */
static const char *nearest_by_part(const struct chil_machine *machine, const char *name)
{
    struct parts parts = {0};
    size_t words = 1;
    for (const char *c = name; *c; c++)
        words += *c == '_';
    arena_init(&parts.arena);
    for (size_t i = 0; i < machine->named_count; i++)
        add_parts(&parts, machine->by_name[i], words);
    const char *nearest = text_nearest(name, parts.part, parts.count, part_at), *found = NULL;
    for (size_t i = 0; nearest && !found && i < parts.count; i++)
        if (parts.part[i].text == nearest) found = parts.part[i].event->name;
    free(parts.part);
    arena_fini(&parts.arena);
    return found;
}

/* Globs come here, too, when they match nothing; their outer stars say nothing about the name. */
static const char *nearest_event(const struct chil_machine *machine, const char *name)
{
    char bare[64];
    name += strspn(name, "*?");
    size_t length = strlen(name);
    while (length && strchr("*?", name[length - 1]))
        length--;
    if (!length || length >= sizeof bare) return NULL;
    memcpy(bare, name, length);
    bare[length] = 0;
    const char *nearest = text_nearest(bare, machine->by_name, machine->named_count, event_name_at);
    return nearest ? nearest : nearest_by_part(machine, bare);
}

int chil_machine_find_event(const struct chil_machine *machine, const char *name,
                            const struct chil_event **event, struct chil_error *err)
{
    *event = NULL;
    if (*name && strspn(name, "0123456789") == strlen(name))
        return find_by_id(machine, name, event, err);
    const struct chil_event key = {.name = name}, *wanted = &key;
    const struct chil_event **found = bsearch(&wanted, machine->by_name, machine->named_count,
                                              sizeof(const struct chil_event *), by_name);
    if (found) {
        *event = *found;
        return 0;
    }
    if (!err) return CHIL_ENOENT; /* near names are not wanted; finding them takes long */
    char hint[100];
    text_hint(hint, sizeof hint, nearest_event(machine, name));
    return chil_error_set(err, CHIL_ENOENT, "%s has no event '%.80s'%s", chil_machine_name(machine),
                          name, *hint ? hint : "; 'chiliad list events' shows them");
}

bool chil_event_matches(const struct chil_event *event, const char *pattern)
{
    if (strpbrk(pattern, "*?["))
        return fnmatch(pattern, event->name, FNM_CASEFOLD) == 0 ||
               fnmatch(pattern, event->unit, FNM_CASEFOLD) == 0;
    return strcasestr(event->name, pattern) || strcasestr(event->unit, pattern) ||
           strcasestr(event->text, pattern);
}
