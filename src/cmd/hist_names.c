/* Names for histograms: --tag and --category, and the program's own functions and data. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/hist.h"

static void add(void *context, const char *name, uint32_t first, uint32_t last)
{
    (void)chil_ranges_add(context, name, first, last);
}

/* --- NAME=PLACE --------------------------------------------------------------------------------------------------- */

struct wanted {
    const char *name; /* of a symbol or section */
    const char *as;   /* what its range gets */
    struct chil_ranges *into;
    unsigned found;
};

static void add_wanted(void *context, const char *name, uint32_t first, uint32_t last)
{
    struct wanted *wanted = context;
    if (strcmp(name, wanted->name) != 0) return;
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

/* "NAME=PLACE,PLACE..." */
static int add_places(struct chil_ranges *into, const char *option, const char *text, bool code, const char *program)
{
    struct chil_error err = {0};
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1])
        return cmd_fail("hist",
                        "%s wants NAME=PLACE, where PLACE is FIRST-LAST, FIRST+LENGTH, a section or a symbol, not '%s'",
                        option, text);
    char *copy = strdup(text);
    if (!copy) return cmd_fail("hist", "out of memory");
    copy[equals - text] = 0;
    int status = 0;
    for (char *rest = copy + (equals - text) + 1, *place; !status && (place = strsep(&rest, ","));) {
        struct wanted wanted = {.name = place, .as = copy, .into = into};
        uint64_t first, last;
        if (read_range(place, &first, &last)) {
            (void)chil_ranges_add(into, copy, (uint32_t)first, (uint32_t)last);
            continue;
        }
        const enum chil_program_part parts[] = {code ? CHIL_PROGRAM_FUNCTIONS : CHIL_PROGRAM_DATA,
                                                CHIL_PROGRAM_SECTIONS};
        for (unsigned i = 0; i < 2 && !status && !wanted.found; i++)
            if (chil_program_ranges(program, parts[i], add_wanted, &wanted, &err))
                status = cmd_fail_error("hist", &err);
        if (!status && !wanted.found)
            status = cmd_fail("hist", "%s '%s': '%s' is no range and no %s or section of '%s'", option, text, place,
                              code ? "function" : "data symbol", program);
    }
    free(copy);
    return status;
}

static int make_places(struct chil_ranges **ranges, const char *option, const char *const *texts, size_t count,
                       bool code, const char *program)
{
    int status = 0;
    if (!count) return 0;
    *ranges = chil_ranges_new();
    for (size_t i = 0; i < count && !status; i++)
        status = add_places(*ranges, option, texts[i], code, program);
    return status;
}

int hist_names_make(struct chil_hist_names *names, const struct hist_options *o)
{
    struct chil_error err = {0};
    const char *program = o->program.run.program;
    names->functions = chil_ranges_new();
    names->symbols = chil_ranges_new();
    if (chil_program_ranges(program, CHIL_PROGRAM_FUNCTIONS, add, names->functions, &err) ||
        chil_program_ranges(program, CHIL_PROGRAM_DATA, add, names->symbols, &err))
        return cmd_fail_error("hist", &err);
    int status = make_places(&names->tags, "--tag", o->tags, o->tag_count, false, program);
    if (status) return status;
    return make_places(&names->categories, "--category", o->categories, o->category_count, true, program);
}

void hist_names_free(struct chil_hist_names *names)
{
    chil_ranges_free(names->functions);
    chil_ranges_free(names->symbols);
    chil_ranges_free(names->tags);
    chil_ranges_free(names->categories);
}
