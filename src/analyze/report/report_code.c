/* Parses the code of an experiment (docs/formats/experiment.md, "chiliad.code"). */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/report/report_impl.h"
#include "base/name.h"

struct reader {
    const char *name;
    const char *pattern;
    unsigned line;
    struct chil_report_code *code;
    struct arena *arena;
    size_t function_capacity, instruction_capacity;
    bool wanted; /* the function that the line is of */
    const char *file;
};

static int fail(const struct reader *r, struct chil_error *err, const char *what)
{
    return chil_error_set(err, CHIL_EPARSE, "%s: chiliad.code:%u: %s", r->name, r->line, what);
}

static void add_function(struct reader *r, const char *name)
{
    struct chil_report_code *code = r->code;
    r->wanted = fnmatch(r->pattern, name, 0) == 0;
    r->file = "";
    if (!r->wanted) return;
    code->function =
        base_grow(code->function, &r->function_capacity, code->count + 1, sizeof *code->function);
    code->function[code->count++] = (struct chil_report_function){
        .name = name_printable(arena_strdup(r->arena, name)), .object = ""};
    r->instruction_capacity = 0;
}

/* Takes a number of at most `digits` digits, and the blank or the end behind it. */
static bool take_number(const char **at, int base, int digits, uint64_t *value)
{
    char *end;
    size_t length = strspn(*at, base == 16 ? "0123456789abcdef" : "0123456789");
    if (!length || length > (size_t)digits) return false;
    *value = strtoull(*at, &end, base);
    if (*end && *end != ' ') return false;
    *at = *end ? end + 1 : end;
    return true;
}

/* The names of what instructions counted. */
static int take_events(struct reader *r, const char *list, struct chil_error *err)
{
    struct chil_report_code *code = r->code;
    char *rest = arena_strdup(r->arena, list);
    if (code->events) return fail(r, err, "a second list of events; the file is damaged");
    code->event = arena_calloc(r->arena, CHIL_REPORT_CODE_EVENTS, sizeof *code->event);
    for (char *name; (name = strsep(&rest, " "));) {
        if (!*name || code->events == CHIL_REPORT_CODE_EVENTS)
            return fail(r, err, "no list of events; the file is damaged");
        code->event[code->events++] = name_printable(name);
    }
    return 0;
}

/* Pairs INDEX:VALUE up to the end of the line. */
static int take_values(struct reader *r, const char *at, uint64_t **values, struct chil_error *err)
{
    *values = NULL;
    while (*at) {
        uint64_t index, value;
        char *end;
        index = strtoull(at, &end, 10);
        if (end == at || end > at + 2 || *end != ':' || index >= r->code->events)
            return fail(r, err, "no count of an event; the file is damaged");
        at = end + 1;
        if (!take_number(&at, 10, 19, &value))
            return fail(r, err, "no count of an event; the file is damaged");
        if (!*values) *values = arena_calloc(r->arena, r->code->events, sizeof **values);
        (*values)[index] = value;
    }
    return 0;
}

static int add_instruction(struct reader *r, const char *at, struct chil_error *err)
{
    uint64_t address, word, count, line;
    if (!take_number(&at, 16, 8, &address) || !take_number(&at, 16, 8, &word) ||
        !take_number(&at, 10, 19, &count) || !take_number(&at, 10, 9, &line))
        return fail(r, err, "no instruction; the file is damaged");
    uint64_t *values;
    int status = take_values(r, at, &values, err);
    if (status) return status;
    struct chil_report_instruction new = {.address = (uint32_t)address,
                                          .word = (uint32_t)word,
                                          .count = count,
                                          .value = values,
                                          .file = r->file,
                                          .line = (int)line};
    struct chil_report_function *f = &r->code->function[r->code->count - 1];
    f->instruction =
        base_grow(f->instruction, &r->instruction_capacity, f->count + 1, sizeof *f->instruction);
    f->instruction[f->count++] = new;
    return 0;
}

static int read_line(struct reader *r, const char *line, struct chil_error *err)
{
    r->line++;
    if (!*line) return 0;
    if (strncmp(line, "events ", 7) == 0) return take_events(r, line + 7, err);
    if (strncmp(line, "function ", 9) == 0) {
        add_function(r, line + 9);
        return 0;
    }
    if (!r->wanted) return 0;
    if (strncmp(line, "object ", 7) == 0) {
        r->code->function[r->code->count - 1].object =
            name_printable(arena_strdup(r->arena, line + 7));
        return 0;
    }
    if (strncmp(line, "file ", 5) == 0) {
        r->file = name_printable(arena_strdup(r->arena, line + 5));
        return 0;
    }
    return add_instruction(r, line, err);
}

int chil_report_code_new(struct chil_report_code **code, const struct chil_exp *exp,
                         const char *name, const char *pattern, struct chil_error *err)
{
    size_t size;
    const char *text = chil_exp_code(exp, &size);
    *code = NULL;
    if (!text)
        return chil_error_set(
            err, CHIL_ENOENT,
            "%s: there is no code in it; files that 'chiliad record' writes have it", name);
    struct chil_report_code *new = base_calloc(1, sizeof *new);
    struct arena *arena = new->memory = base_calloc(1, sizeof *arena);
    arena_init(arena);
    struct reader reader = {
        .name = name, .pattern = pattern, .code = new, .arena = arena, .file = ""};
    char *copy = arena_strndup(arena, text, size), *rest = copy;
    int status = 0;
    for (char *line; !status && (line = strsep(&rest, "\n"));)
        status = read_line(&reader, line, err);
    if (!status && !new->count)
        status = chil_error_set(
            err, CHIL_ENOENT, "%s: no function that was executed matches '%.100s'", name, pattern);
    if (status)
        chil_report_code_free(new);
    else
        *code = new;
    return status;
}

void chil_report_code_free(struct chil_report_code *code)
{
    if (!code) return;
    for (size_t i = 0; i < code->count; i++)
        free(code->function[i].instruction);
    free(code->function);
    arena_fini(code->memory);
    free(code->memory);
    free(code);
}
