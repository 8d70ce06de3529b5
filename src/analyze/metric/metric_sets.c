/* Platforms: the counters, the events that each can count, and the counter sets (paper 003,
 * appendix A.1).
 *
 * A set fits if each of its events can be assigned a counter of its own that can count it. On a
 * platform with fixed groups it fits if one group has all its events. Every set is checked when the
 * file is read.
 */
#include "analyze/metric/metric_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[] = {"platform", "metrics", "counters", "events",
                                    "group",    "aggroup", "like",     "compute"};
enum word { PLATFORM, METRICS, COUNTERS, EVENTS, GROUP, AGGROUP, LIKE, COMPUTE, WORDS };

static int word_of(const char *word, size_t length)
{
    for (int i = 0; i < WORDS; i++)
        if (strlen(words[i]) == length && memcmp(words[i], word, length) == 0) return i;
    return METRIC_NONE;
}

static bool is_keyword(const char *word, size_t length)
{
    return word_of(word, length) >= 0;
}

static const char *word_at(const void *table, size_t index)
{
    (void)table;
    return words[index];
}

static const char *event_at(const void *table, size_t index)
{
    return ((const struct chil_platform *)table)->event[index];
}

int platform_event(const struct chil_platform *platform, const char *name)
{
    for (size_t i = 0; i < platform->events; i++)
        if (strcmp(platform->event[i], name) == 0) return (int)i;
    return METRIC_NONE;
}

/* --- Whether events fit ---------------------------------------------------------------------- */

/* Gives `event` a counter, moving others if need be. */
static bool seat(const struct chil_platform *p, const int *events, size_t event, int *taken,
                 uint32_t *tried)
{
    uint32_t rest = p->allowed[events[event]] & ~*tried;
    for (; rest; rest = p->allowed[events[event]] & ~*tried) {
        unsigned counter = (unsigned)__builtin_ctz(rest);
        *tried |= 1u << counter;
        if (taken[counter] < 0 || seat(p, events, (size_t)taken[counter], taken, tried)) {
            taken[counter] = (int)event;
            return true;
        }
    }
    return false;
}

bool platform_seats(const struct chil_platform *platform, const int *events, size_t count,
                    int *taken, size_t *without)
{
    for (unsigned i = 0; i < platform->counters; i++)
        taken[i] = METRIC_NONE;
    for (size_t i = 0; i < count; i++) {
        uint32_t tried = 0;
        *without = i;
        if (!seat(platform, events, i, taken, &tried)) return false;
    }
    return true;
}

static bool has_event(const struct chil_set *set, const char *event)
{
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->events[i], event) == 0) return true;
    return false;
}

bool platform_in_group(const struct chil_set *group, const char *const *events, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!has_event(group, events[i])) return false;
    return true;
}

__attribute__((format(printf, 3, 4))) static bool say(char *why, size_t size, const char *format,
                                                      ...)
{
    if (!why) return false;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(why, size, format, args);
    va_end(args);
    return false;
}

static void name_counters(const struct chil_platform *p, uint32_t allowed, char *buffer,
                          size_t size)
{
    size_t used = 0;
    *buffer = 0;
    for (unsigned i = 0; i < p->counters && used < size; i++)
        if (allowed >> i & 1)
            used += (size_t)snprintf(buffer + used, size - used, "%s%s", used ? " or " : "",
                                     p->counter[i]);
}

bool chil_platform_fits(const struct chil_platform *platform, const char *const *events,
                        size_t count, char *why, size_t size)
{
    int index[PLATFORM_COUNTERS_MAX], taken[PLATFORM_COUNTERS_MAX];
    char hint[100], counters[120];
    size_t without = 0;
    for (size_t i = 0; i < count; i++) {
        int event = platform_event(platform, events[i]);
        if (event < 0)
            return say(why, size, "'%s' counts no '%s'%s", platform->name, events[i],
                       text_hint(hint, sizeof hint,
                                 text_nearest(events[i], platform, platform->events, event_at)));
        if (i < PLATFORM_COUNTERS_MAX) index[i] = event;
    }
    if (count > platform->counters)
        return say(why, size, "%zu events do not fit the %u counters of '%s'", count,
                   platform->counters, platform->name);
    if (platform->groups) {
        for (size_t i = 0; i < platform->groups; i++)
            if (platform_in_group(&platform->group[i], events, count)) return true;
        return say(why, size, "no group of '%s' has all of these events", platform->name);
    }
    if (platform_seats(platform, index, count, taken, &without)) return true;
    name_counters(platform, platform->allowed[index[without]], counters, sizeof counters);
    return say(why, size, "'%s' needs counter %s, which the others need too", events[without],
               counters);
}

/* --- Reading --------------------------------------------------------------------------------- */

struct reading {
    struct chil_platform *platform;
    struct reader reader;
    struct chil_error *err;
};

static int fail_name(struct reading *in, const char *name, const char *at)
{
    char hint[100];
    return reader_error(
        &in->reader, at, in->err, "'%.80s' is no event of the platform%s", name,
        text_hint(hint, sizeof hint,
                  text_nearest(name, in->platform, in->platform->events, event_at)));
}

static int read_text(struct reading *in, const char **to)
{
    if (**to) return reader_error(&in->reader, in->reader.text, in->err, "this is given again");
    *to = reader_raw(&in->reader, &in->platform->arena, false);
    return **to ? 0 : reader_error(&in->reader, in->reader.text, in->err, "a value is missing");
}

static int read_platform(struct reading *in)
{
    char name[METRIC_NAME_MAX];
    if (*in->platform->name)
        return reader_error(&in->reader, in->reader.text, in->err,
                            "a file is of one platform; this is the second");
    int status = reader_name(&in->reader, "a name", name, in->err);
    if (status) return status;
    in->platform->name = arena_strdup(&in->platform->arena, name);
    in->platform->text = reader_raw(&in->reader, &in->platform->arena, false);
    return 0;
}

static int read_counters(struct reading *in)
{
    struct chil_platform *p = in->platform;
    if (p->counters)
        return reader_error(&in->reader, in->reader.text, in->err, "'counters' is given again");
    while (reader_peek(&in->reader).kind != TOKEN_END) {
        const char *name = reader_raw(&in->reader, &p->arena, true);
        if (p->counters == PLATFORM_COUNTERS_MAX)
            return reader_error(&in->reader, in->reader.text, in->err, "more than %d counters",
                                PLATFORM_COUNTERS_MAX);
        p->counter[p->counters++] = name;
    }
    return p->counters ? 0
                       : reader_error(&in->reader, in->reader.text, in->err,
                                      "names of counters are missing");
}

/* The counters before '=': names, or '*' for all. */
static int read_where(struct reading *in, uint32_t *allowed)
{
    struct chil_platform *p = in->platform;
    struct reader *r = &in->reader;
    *allowed = 0;
    for (struct token token = reader_peek(r); !token_is(&token, "="); token = reader_peek(r)) {
        uint32_t these = token_is(&token, "*") ? (1u << p->counters) - 1 : 0;
        for (unsigned i = 0; i < p->counters; i++)
            if (token_is(&token, p->counter[i])) these |= 1u << i;
        if (!these || token.kind == TOKEN_END)
            return reader_error(r, token.at, in->err, "'%.*s' is no counter; 'counters' names them",
                                (int)(token.length ? token.length : 1), token.at);
        *allowed |= these;
        r->at = token.at + token.length;
    }
    (void)reader_token(r);
    return *allowed ? 0 : reader_error(r, r->text, in->err, "counters are missing before '='");
}

static int read_events(struct reading *in)
{
    struct chil_platform *p = in->platform;
    char name[METRIC_NAME_MAX];
    uint32_t allowed;
    int status = read_where(in, &allowed);
    while (!status && reader_peek(&in->reader).kind != TOKEN_END) {
        status = reader_name(&in->reader, "an event", name, in->err);
        if (status) break;
        int at = platform_event(p, name);
        if (at < 0) {
            p->event = base_grow(p->event, &p->event_capacity, p->events + 1, sizeof *p->event);
            p->allowed =
                base_grow(p->allowed, &p->allowed_capacity, p->events + 1, sizeof *p->allowed);
            p->event[p->events] = arena_strdup(&p->arena, name);
            p->allowed[p->events] = 0;
            at = (int)p->events++;
        }
        p->allowed[at] |= allowed;
    }
    return status;
}

static int read_set(struct reading *in, struct chil_set **sets, size_t *count, size_t *capacity)
{
    struct chil_platform *p = in->platform;
    const char *list[PLATFORM_COUNTERS_MAX];
    char name[METRIC_NAME_MAX];
    struct chil_set set = {.line = reader_line(&in->reader, in->reader.text)};
    int status = reader_name(&in->reader, "a name", name, in->err);
    for (size_t i = 0; i < *count && !status; i++)
        if (strcmp((*sets)[i].name, name) == 0)
            status = reader_error(&in->reader, in->reader.text, in->err,
                                  "'%s' is given again; line %u has it", name, (*sets)[i].line);
    if (!status) {
        set.name = arena_strdup(&p->arena, name);
        status = reader_expect(&in->reader, "=", in->err);
    }
    while (!status && (set.count == 0 || reader_peek(&in->reader).kind != TOKEN_END)) {
        status = reader_name(&in->reader, "an event", name, in->err);
        int event = status ? 0 : platform_event(p, name);
        if (!status && event < 0) status = fail_name(in, name, in->reader.at - 1);
        for (size_t i = 0; i < set.count && !status; i++)
            if (list[i] == p->event[event])
                status = reader_error(&in->reader, in->reader.at - 1, in->err,
                                      "'%s' is there twice", name);
        if (!status && set.count == p->counters)
            status = reader_error(&in->reader, in->reader.at - 1, in->err,
                                  "set '%s' does not fit: more than the %u counters", set.name,
                                  p->counters);
        if (!status) list[set.count++] = p->event[event];
    }
    if (status) return status;
    const char **events = arena_calloc(&p->arena, set.count, sizeof *events);
    memcpy(events, list, set.count * sizeof *events);
    set.events = events;
    *sets = base_grow(*sets, capacity, *count + 1, sizeof **sets);
    (*sets)[(*count)++] = set;
    return 0;
}

static int read_like(struct reading *in)
{
    struct reader ahead = in->reader;
    char name[METRIC_NAME_MAX];
    int status = reader_name(&ahead, "an event", name, in->err);
    if (!status && platform_event(in->platform, name) < 0)
        status = fail_name(in, name, reader_peek(&in->reader).at);
    return status ? status : spec_read_compute(in->platform->likes, &in->reader, in->err);
}

static int read_statement(struct reading *in)
{
    struct chil_platform *p = in->platform;
    struct token word = reader_token(&in->reader);
    int kind = word.kind == TOKEN_NAME ? word_of(word.at, word.length) : METRIC_NONE;
    if (kind > COUNTERS && !p->counters)
        return reader_error(&in->reader, word.at, in->err, "'counters' comes before this");
    switch (kind) {
    case PLATFORM: return read_platform(in);
    case METRICS: return read_text(in, &p->metrics);
    case COUNTERS: return read_counters(in);
    case EVENTS: return read_events(in);
    case GROUP: return read_set(in, &p->group, &p->groups, &p->group_capacity);
    case AGGROUP: return read_set(in, &p->set, &p->sets, &p->set_capacity);
    case LIKE: return read_like(in);
    case COMPUTE: return spec_read_compute(p->own, &in->reader, in->err);
    default: break;
    }
    char name[60], hint[100];
    (void)snprintf(name, sizeof name, "%.*s", (int)word.length, word.at);
    return reader_error(&in->reader, word.at, in->err, "'%s' begins no statement%s", name,
                        text_hint(hint, sizeof hint, text_nearest(name, words, WORDS, word_at)));
}

static bool is_in_a_group(const struct chil_platform *p, const char *event)
{
    for (size_t i = 0; i < p->groups; i++)
        if (has_event(&p->group[i], event)) return true;
    return false;
}

/* Every set fits; every platform has a name. */
static int check(const struct reading *in)
{
    const struct chil_platform *p = in->platform;
    char why[250];
    if (!*p->name)
        return chil_error_set(in->err, CHIL_EPARSE, "%s: 'platform NAME' is missing", p->file);
    if (!p->counters)
        return chil_error_set(in->err, CHIL_EPARSE, "%s: 'counters' is missing", p->file);
    for (size_t i = 0; i < p->events && p->groups; i++)
        if (!is_in_a_group(p, p->event[i]))
            return chil_error_set(in->err, CHIL_EPARSE,
                                  "%s: event '%s' is in no group; add it to one", p->file,
                                  p->event[i]);
    for (size_t i = 0; i < p->sets; i++)
        if (!chil_platform_fits(p, p->set[i].events, p->set[i].count, why, sizeof why))
            return chil_error_set(in->err, CHIL_EPARSE, "%s:%u: set '%s' does not fit: %s", p->file,
                                  p->set[i].line, p->set[i].name, why);
    return 0;
}

static int read_all(struct chil_platform **platform, struct text_file *file, struct chil_error *err)
{
    struct reading in = {.err = err};
    struct chil_platform *p = in.platform = base_calloc(1, sizeof *p);
    int status = 0;
    arena_init(&p->arena);
    p->name = p->text = p->metrics = "";
    p->file = arena_strdup(&p->arena, file->name);
    p->own = spec_new(p->file);
    p->likes = spec_new(p->file);
    reader_init(&in.reader, is_keyword);
    in.reader.file = *file;
    in.reader.file.name = p->file;
    while (!status && reader_next(&in.reader))
        status = read_statement(&in);
    reader_fini(&in.reader);
    if (!status) status = check(&in);
    if (!status) status = spec_link(p->own, err);
    if (!status) status = spec_link(p->likes, err);
    *platform = status ? NULL : p;
    if (status) chil_platform_free(p);
    return status;
}

int chil_platform_open(struct chil_platform **platform, const char *name, struct chil_error *err)
{
    char path[METRIC_PATH_MAX];
    struct text_file file;
    *platform = NULL;
    int status = metric_open(&file, path, "sets", "platform", name, err);
    return status ? status : read_all(platform, &file, err);
}

int chil_platform_parse(struct chil_platform **platform, const char *name, const void *bytes,
                        size_t length, struct chil_error *err)
{
    struct text_file file;
    *platform = NULL;
    int status = text_file_from_bytes(&file, name, bytes, length, err);
    return status ? status : read_all(platform, &file, err);
}

void chil_platform_free(struct chil_platform *platform)
{
    if (!platform) return;
    chil_spec_free(platform->own);
    chil_spec_free(platform->likes);
    free(platform->event);
    free(platform->allowed);
    free(platform->set);
    free(platform->group);
    arena_fini(&platform->arena);
    free(platform);
}
