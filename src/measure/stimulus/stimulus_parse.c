/* Reads a stimulus: a table of verbs says which arguments each takes, one function each reads them.
 */
#include "measure/stimulus/stimulus.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "chiliad/catalog.h"

struct parser {
    struct chil_stimulus *stimulus;
    const struct chil_machine *machine;
    struct text_file file;
    struct chil_error *err;
    struct stimulus_step *step;
    char *rest; /* of the line */
};

#define FAIL(parser, ...) text_error(&(parser)->file, (parser)->err, __VA_ARGS__)

/* --- Arguments ------------------------------------------------------------------------------- */

static int take_number(struct parser *p, const char *what, uint64_t *value)
{
    const char *field = text_next_field(&p->rest);
    if (!field) return FAIL(p, "a %s is missing", what);
    if (!text_to_u64(field, value))
        return FAIL(p, "'%s' is no %s; write a whole number, decimal or 0x", field, what);
    return 0;
}

static int take_event(struct parser *p)
{
    const char *field = text_next_field(&p->rest);
    const struct chil_upc_geometry *g = &p->stimulus->geometry;
    if (!field) return FAIL(p, "an event is missing");
    p->step->what = arena_strdup(&p->stimulus->arena, field);
    if (!text_to_u64(field, &p->step->wire)) {
        const struct chil_event *event;
        struct chil_error why;
        if (!p->machine) return FAIL(p, "'%s' is no event id; names need a machine (-M)", field);
        if (chil_machine_find_event(p->machine, field, &event, &why))
            return FAIL(p, "%s", why.text);
        if (event->simulator)
            return FAIL(p, "'%s' is the simulator's own; the counter unit has no input for it",
                        field);
        p->step->wire = event->id;
        p->step->config.mode = event->mode;
    }
    if (p->step->wire >= (uint64_t)g->counters * g->inputs)
        return FAIL(p, "event %s is beyond the %u x %u inputs of the unit", field, g->counters,
                    g->inputs);
    p->step->config.input = (uint32_t)(p->step->wire / g->counters);
    return 0;
}

static int parse_count(struct parser *p)
{
    int status = take_event(p);
    if (status) return status;
    for (const char *word; (word = text_next_field(&p->rest));) {
        int mode = chil_count_mode_of(word);
        if (strcmp(word, "interrupt") == 0)
            p->step->config.interrupt = true;
        else if (mode < 0)
            return FAIL(p, "'%s' is no way to count; use high, rise, fall, low or interrupt", word);
        else
            p->step->config.mode = (enum chil_count_mode)mode;
    }
    return 0;
}

static int parse_threshold(struct parser *p)
{
    int status = take_event(p);
    return status ? status : take_number(p, "threshold", &p->step->number);
}

static int parse_preload(struct parser *p)
{
    int status = take_event(p);
    return status ? status : take_number(p, "value", &p->step->number);
}

static int parse_level(struct parser *p)
{
    int status = take_event(p);
    if (!status) status = take_number(p, "level", &p->step->number);
    if (!status && p->step->number > 1) return FAIL(p, "a level is 0 or 1");
    return status;
}

/* EVENT COUNT [PERIOD [HIGH]] */
static int parse_pulse(struct parser *p)
{
    int status = take_event(p);
    if (!status) status = take_number(p, "number of pulses", &p->step->number);
    p->step->period = 2;
    p->step->high = 1;
    if (!status && *text_rest(&p->rest)) status = take_number(p, "period", &p->step->period);
    if (!status && *text_rest(&p->rest)) status = take_number(p, "high time", &p->step->high);
    if (status) return status;
    if (p->step->number == 0 || p->step->high == 0 || p->step->high > p->step->period)
        return FAIL(p, "pulses must be at least 1, high for 1 cycle up to the period of %llu",
                    (unsigned long long)p->step->period);
    uint64_t span;
    if (__builtin_mul_overflow(p->step->number, p->step->period, &span) ||
        span > CHIL_UPC_CYCLE_MAX - p->step->cycle)
        return FAIL(p, "the pulses end beyond cycle 2^62");
    return 0;
}

static int parse_flip(struct parser *p)
{
    int status = take_event(p);
    return status ? status : take_number(p, "bit number", &p->step->number);
}

static int take_offset(struct parser *p)
{
    char *field = text_rest(&p->rest);
    p->step->what = arena_strndup(&p->stimulus->arena, field, strcspn(field, " \t"));
    p->step->period = 8;
    return take_number(p, "register offset", &p->step->wire);
}

static int parse_load(struct parser *p)
{
    int status = take_offset(p);
    if (!status && *text_rest(&p->rest)) status = take_number(p, "width", &p->step->period);
    return status;
}

static int parse_store(struct parser *p)
{
    int status = take_offset(p);
    if (!status) status = take_number(p, "value", &p->step->number);
    if (!status && *text_rest(&p->rest)) status = take_number(p, "width", &p->step->period);
    return status;
}

static int parse_nothing(struct parser *p)
{
    (void)p;
    return 0;
}

/* --- Lines ----------------------------------------------------------------------------------- */

static const struct verb {
    const char *word;
    int (*parse)(struct parser *parser);
} verbs[] = {
    [STIMULUS_COUNT] = {"count", parse_count},
    [STIMULUS_THRESHOLD] = {"threshold", parse_threshold},
    [STIMULUS_PRELOAD] = {"preload", parse_preload},
    [STIMULUS_START] = {"start", parse_nothing},
    [STIMULUS_STOP] = {"stop", parse_nothing},
    [STIMULUS_LEVEL] = {"level", parse_level},
    [STIMULUS_PULSE] = {"pulse", parse_pulse},
    [STIMULUS_READ] = {"read", take_event},
    [STIMULUS_LOAD] = {"load", parse_load},
    [STIMULUS_STORE] = {"store", parse_store},
    [STIMULUS_FLIP] = {"flip", parse_flip},
    [STIMULUS_END] = {"end", parse_nothing},
};

enum { VERB_COUNT = sizeof verbs / sizeof *verbs };

static const char *verb_at(const void *table, size_t index)
{
    return ((const struct verb *)table)[index].word;
}

static int find_verb(struct parser *p, const char *word)
{
    for (int i = 0; i < VERB_COUNT; i++)
        if (strcmp(word, verbs[i].word) == 0) return i;
    char hint[80];
    return FAIL(p, "'%s' is no verb%s", word,
                text_hint(hint, sizeof hint, text_nearest(word, verbs, VERB_COUNT, verb_at)));
}

static int parse_geometry(struct parser *p)
{
    uint64_t numbers[4] = {0};
    static const char *const names[4] = {"number of counters", "number of inputs",
                                         "number of low bits", "number of slot cycles"};
    if (p->stimulus->step_count) return FAIL(p, "geometry must come before the first step");
    for (int i = 0; i < 4; i++) {
        int status = take_number(p, names[i], &numbers[i]);
        if (status) return status;
        if (numbers[i] > UINT32_MAX)
            return FAIL(p, "%llu is too large", (unsigned long long)numbers[i]);
    }
    struct chil_upc_geometry g = {(uint32_t)numbers[0], (uint32_t)numbers[1], (uint32_t)numbers[2],
                                  (uint32_t)numbers[3]};
    struct chil_error why;
    if (chil_upc_geometry_check(&g, &why)) return FAIL(p, "%s", why.text);
    p->stimulus->geometry = g;
    p->stimulus->has_geometry = true;
    return 0;
}

/* `last` is the cycle of the step before, which no later line may precede. */
static int parse_step(struct parser *p, char *first, uint64_t last, bool ended)
{
    struct chil_stimulus *s = p->stimulus;
    uint64_t cycle;
    if (!text_to_u64(first, &cycle))
        return FAIL(p, "'%s' is no cycle; a line is CYCLE VERB ARGUMENTS", first);
    if (cycle > CHIL_UPC_CYCLE_MAX) return FAIL(p, "cycle %s is beyond 2^62", first);
    if (ended) return FAIL(p, "nothing may follow 'end'");
    if (cycle < last)
        return FAIL(p, "cycle %s is before the line above it (%llu)", first,
                    (unsigned long long)last);
    if (!s->has_geometry)
        return FAIL(p, "no counter unit: give a machine (-M) or a geometry line first");
    const char *word = text_next_field(&p->rest);
    if (!word) return FAIL(p, "a verb is missing after the cycle");
    int verb = find_verb(p, word);
    if (verb < 0) return verb;
    s->steps = base_grow(s->steps, &s->step_capacity, s->step_count + 1, sizeof *s->steps);
    p->step = &s->steps[s->step_count++];
    *p->step = (struct stimulus_step){
        .line = p->file.line, .verb = (enum stimulus_verb)verb, .cycle = cycle};
    return verbs[verb].parse(p);
}

static int parse_lines(struct parser *p)
{
    uint64_t last = 0;
    bool ended = false;
    while ((p->rest = text_next_line(&p->file))) {
        char *first = text_next_field(&p->rest);
        bool geometry = strcmp(first, "geometry") == 0;
        int status = geometry ? parse_geometry(p) : parse_step(p, first, last, ended);
        if (status) return status;
        if (*text_rest(&p->rest)) return FAIL(p, "'%s' is too much on this line", p->rest);
        if (geometry) continue;
        last = p->step->cycle;
        ended = p->step->verb == STIMULUS_END;
    }
    if (!p->stimulus->step_count)
        return FAIL(p, "the stimulus is empty; see docs/formats/stimulus.md");
    return 0;
}

static int parse_file(struct chil_stimulus **out, struct text_file *file,
                      const struct chil_machine *machine, struct chil_error *err)
{
    struct chil_stimulus *s = base_calloc(1, sizeof *s);
    arena_init(&s->arena);
    s->name = arena_strdup(&s->arena, file->name);
    s->has_geometry = machine && chil_upc_geometry_of(machine, &s->geometry) == 0;
    struct parser p = {.stimulus = s, .machine = machine, .file = *file, .err = err};
    int status = parse_lines(&p);
    text_file_close(file);
    if (status) {
        chil_stimulus_free(s);
        return status;
    }
    *out = s;
    return 0;
}

int chil_stimulus_open(struct chil_stimulus **stimulus, const char *path,
                       const struct chil_machine *machine, struct chil_error *err)
{
    struct text_file file;
    int status = text_file_open(&file, path, err);
    return status ? status : parse_file(stimulus, &file, machine, err);
}

int chil_stimulus_parse(struct chil_stimulus **stimulus, const char *name, const void *bytes,
                        size_t length, const struct chil_machine *machine, struct chil_error *err)
{
    struct text_file file;
    int status = text_file_from_bytes(&file, name, bytes, length, err);
    return status ? status : parse_file(stimulus, &file, machine, err);
}

void chil_stimulus_free(struct chil_stimulus *stimulus)
{
    if (!stimulus) return;
    free(stimulus->steps);
    arena_fini(&stimulus->arena);
    free(stimulus);
}

const struct chil_upc_geometry *chil_stimulus_geometry(const struct chil_stimulus *stimulus)
{
    return &stimulus->geometry;
}
