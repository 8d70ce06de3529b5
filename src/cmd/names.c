/* Names for predicates and histograms: tags and categories as the user says, the program's own
 * functions and data, and what comes up in a run: functions and data of libraries and of other
 * programs, call paths, allocation sites, sections. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"

static void add(void *context, const char *name, uint32_t first, uint32_t last)
{
    (void)chil_ranges_add(context, name, first, last);
}

/* --- NAME=PLACE ------------------------------------------------------------------------------ */

struct wanted {
    const char *name; /* of a symbol or section */
    const char *as;   /* what its range gets */
    struct chil_ranges *into;
    unsigned found;
};

/* "grid::norm" is every "grid::norm(...)", but not what is inside one. */
static bool is_named(const char *name, const char *wanted)
{
    size_t length = strlen(wanted);
    int open = 0;
    if (strncmp(name, wanted, length) != 0) return false;
    if (name[length] != '(') return !name[length];
    for (name += length; *name; name++) {
        open += (*name == '(') - (*name == ')');
        if (!open) break;
    }
    return *name && name[1] != ':';
}

static void add_wanted(void *context, const char *name, uint32_t first, uint32_t last)
{
    struct wanted *wanted = context;
    if (!is_named(name, wanted->name)) return;
    (void)chil_ranges_add(wanted->into, wanted->as, first, last);
    wanted->found++;
}

/* FIRST-LAST or FIRST+LENGTH; false when it is neither. */
static bool read_range(const char *text, uint64_t *first, uint64_t *last)
{
    char *end, *rest;
    errno = 0;
    if (*text < '0' || *text > '9') return false;
    *first = strtoull(text, &end, 0);
    if (*end != '-' && *end != '+') return false;
    if (end[1] < '0' || end[1] > '9') return false;
    *last = strtoull(end + 1, &rest, 0);
    if (*end == '+') *last += *first - 1;
    return !*rest && !errno && *first <= *last && *last <= UINT32_MAX;
}

/* For messages: the command, and the option or the line that names the places. */
struct asking {
    const char *command, *from, *program;
    bool code;
};

static int add_place(struct chil_ranges *into, const struct asking *ask, const char *text,
                     const char *as, const char *place)
{
    struct chil_error err = {0};
    uint64_t first, last;
    if (read_range(place, &first, &last)) {
        (void)chil_ranges_add(into, as, (uint32_t)first, (uint32_t)last);
        return 0;
    }
    const enum chil_program_part parts[] = {ask->code ? CHIL_PROGRAM_FUNCTIONS : CHIL_PROGRAM_DATA,
                                            CHIL_PROGRAM_SECTIONS};
    char *written = chil_program_name(place); /* a linker's name is one, too */
    struct wanted wanted = {.name = written ? written : place, .as = as, .into = into};
    int status = 0;
    for (unsigned i = 0; i < 2 && !wanted.found && !status; i++)
        status = chil_program_ranges(ask->program, parts[i], add_wanted, &wanted, &err);
    free(written);
    if (status) return cmd_fail_error(ask->command, &err);
    if (wanted.found) return 0;
    return cmd_fail(ask->command, "%s '%s': '%s' is no range and no %s or section of '%s'",
                    ask->from, text, place, ask->code ? "function" : "data symbol", ask->program);
}

/* "NAME=PLACE,PLACE..." */
static int add_places(struct chil_ranges *into, const struct asking *ask, const char *text)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1])
        return cmd_fail(
            ask->command,
            "%s wants NAME=PLACE, where PLACE is FIRST-LAST, FIRST+LENGTH, a section or a symbol, not '%s'",
            ask->from, text);
    char *copy = strdup(text);
    if (!copy) return cmd_fail(ask->command, "out of memory");
    copy[equals - text] = 0;
    int status = 0;
    for (char *rest = copy + (equals - text) + 1, *place; !status && (place = strsep(&rest, ","));)
        status = add_place(into, ask, text, copy, place);
    free(copy);
    return status;
}

static int make_places(struct chil_ranges **ranges, struct asking ask,
                       const struct cmd_place *places, size_t count)
{
    int status = 0;
    if (!count) return 0;
    *ranges = chil_ranges_new();
    for (size_t i = 0; i < count && !status; i++) {
        if (places[i].from) ask.from = places[i].from;
        status = add_places(*ranges, &ask, places[i].text);
    }
    return status;
}

static int add_tag(void *options, const char *command, char *value)
{
    struct cmd_places *places = options;
    if (strcmp(value, "heap-sites") == 0) {
        places->heap_sites = true;
        return 0;
    }
    if (places->tag_count == CMD_PLACES_MAX)
        return cmd_fail(command, "more than %d --tag", CMD_PLACES_MAX);
    places->tags[places->tag_count++].text = value;
    return 0;
}

static int add_category(void *options, const char *command, char *value)
{
    struct cmd_places *places = options;
    if (strcmp(value, "hpm") == 0) {
        places->hpm = true;
        return 0;
    }
    if (places->category_count == CMD_PLACES_MAX)
        return cmd_fail(command, "more than %d --category", CMD_PLACES_MAX);
    places->categories[places->category_count++].text = value;
    return 0;
}

const struct option_row cmd_places_rows[CMD_PLACES_ROWS] = {
    {"tag", 0, "NAME=PLACES",
     "data at PLACES has this tag; PLACES are FIRST-LAST, FIRST+LENGTH, a section "
     "or a symbol, separated by commas; or heap-sites: tag and symbol of a heap "
     "block are the place that allocated it; may be repeated",
     OPTION_CALLS(add_tag), .values = "heap-sites"},
    {"category", 0, "NAME=PLACES",
     "instructions at PLACES (functions) have this category, instead of the "
     "program's; or hpm: the category is the section of libHPM that a thread is "
     "in; may be repeated",
     OPTION_CALLS(add_category), .values = "hpm"},
};

#define BIT(variable) (UINT32_C(1) << (variable))

static void find_interpreter(void *context, const char *name, uint32_t first, uint32_t last)
{
    bool *found = context;
    (void)first;
    (void)last;
    *found |= strcmp(name, ".interp") == 0;
}

/* What may come up in a run. A program with libraries has functions and data that are not in
 * its file. */
static void open_tables(struct chil_hist_names *names, const char *program,
                        const struct cmd_places *places)
{
    bool dynamic = false;
    (void)chil_program_ranges(program, CHIL_PROGRAM_SECTIONS, find_interpreter, &dynamic, NULL);
    names->carried = BIT(CHIL_VAR_FUNCTION) | BIT(CHIL_VAR_SYMBOL) | BIT(CHIL_VAR_CALLPATH);
    if (dynamic) names->open = BIT(CHIL_VAR_FUNCTION) | BIT(CHIL_VAR_SYMBOL);
    if (places->heap_sites) {
        if (!names->tags) names->tags = chil_ranges_new();
        names->carried |= BIT(CHIL_VAR_TAG);
    }
    if (places->hpm) {
        if (!names->categories) names->categories = chil_ranges_new();
        names->carried |= BIT(CHIL_VAR_CATEGORY);
    }
}

int cmd_names_make(struct chil_hist_names *names, const char *command, const char *program,
                   const struct cmd_places *places)
{
    struct chil_error err = {0};
    names->functions = chil_ranges_new();
    names->symbols = chil_ranges_new();
    names->callpaths = chil_ranges_new();
    if (chil_program_ranges(program, CHIL_PROGRAM_FUNCTIONS, add, names->functions, &err) ||
        chil_program_ranges(program, CHIL_PROGRAM_DATA, add, names->symbols, &err))
        return cmd_fail_program(command, &err);
    int status = make_places(&names->tags, (struct asking){command, "--tag", program, false},
                             places->tags, places->tag_count);
    if (status) return status;
    status = make_places(&names->categories, (struct asking){command, "--category", program, true},
                         places->categories, places->category_count);
    if (!status) open_tables(names, program, places);
    return status;
}

void cmd_names_ask(const struct chil_hist_names *names, struct chil_run_names *run)
{
    *run = (struct chil_run_names){
        .functions = names->functions,
        .symbols = names->symbols,
        .callpaths = names->callpaths,
        .sites = names->carried & BIT(CHIL_VAR_TAG) ? names->tags : NULL,
        .sections = names->carried & BIT(CHIL_VAR_CATEGORY) ? names->categories : NULL};
}

void cmd_names_free(struct chil_hist_names *names)
{
    chil_ranges_free(names->functions);
    chil_ranges_free(names->symbols);
    chil_ranges_free(names->tags);
    chil_ranges_free(names->categories);
    chil_ranges_free(names->callpaths);
}
