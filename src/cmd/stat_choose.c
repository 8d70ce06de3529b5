/* Which events chiliad stat prints: those of -e, all, or a short table of the most useful. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/stat.h"

/* The events of the table by default. */
static const char *const usual[] = {
    "BGL_INST",      "BGL_BRANCH",  "BGL_LOAD",      "BGL_STORE",    "BGL_FP_LOAD",
    "BGL_FP_STORE",  "BGL_FMA",     "BGL_FP_DIV",    "BGL_FLOP",     "BGL_D1_L_MISS",
    "BGL_D1_S_MISS", "BGL_I1_MISS", "BGL_DTLB_MISS", "BGL_DDR_READ", "BGL_DDR_WRITE",
};

/* The default events, and events that a parameter of the machine switched on. */
static void choose_usual(struct stat_chosen *chosen, const struct chil_machine *machine)
{
    size_t count;
    const struct chil_event *event, *own = chil_machine_own_events(machine, &count);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (!chil_machine_find_event(machine, usual[i], &event, NULL) && !cmd_event_is_off(event))
            chosen->events[chosen->count++] = event;
    for (size_t i = 0; i < count; i++)
        if (own[i].needs && !cmd_event_is_off(&own[i])) chosen->events[chosen->count++] = &own[i];
}

static bool matches(const struct chil_event *event, const char *pattern)
{
    assert(event);
    return strcasecmp(pattern, event->name) == 0 ||
           (strpbrk(pattern, "*?[") && chil_event_matches(event, pattern));
}

static bool wanted(const struct stat_options *o, const struct chil_event *event)
{
    if (event->reserved || cmd_event_is_off(event)) return false;
    if (!o->pattern_count) return true;
    for (size_t i = 0; i < o->pattern_count; i++)
        if (matches(event, o->patterns[i])) return true;
    return false;
}

static void choose_from(struct stat_chosen *chosen, const struct stat_options *o,
                        const struct chil_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (wanted(o, &events[i])) chosen->events[chosen->count++] = &events[i];
}

static int check_patterns(const struct stat_options *o, const struct chil_machine *machine,
                          const struct stat_chosen *chosen)
{
    for (size_t i = 0; i < o->pattern_count; i++) {
        bool found = false;
        for (size_t k = 0; !found && k < chosen->count; k++)
            found = matches(chosen->events[k], o->patterns[i]);
        const struct chil_event *event;
        struct chil_error err = {0};
        if (found) continue;
        if (chil_machine_find_event(machine, o->patterns[i], &event, &err))
            return cmd_fail_error("stat", &err);
        if (cmd_event_is_off(event)) return cmd_event_check("stat", event);
        return cmd_fail("stat", "'%s' names no event that can be counted", o->patterns[i]);
    }
    return 0;
}

int stat_choose(struct stat_chosen *chosen, const struct stat_options *o,
                const struct chil_machine *machine)
{
    size_t own_count, count;
    const struct chil_event *own = chil_machine_own_events(machine, &own_count);
    const struct chil_event *events = chil_machine_events(machine, &count);
    chosen->events =
        calloc(own_count + count + sizeof usual / sizeof *usual, sizeof(const struct chil_event *));
    if (!chosen->events) return cmd_fail("stat", "out of memory");
    if (!o->pattern_count && !o->all && !o->json && !o->separator) {
        choose_usual(chosen, machine);
        return 0;
    }
    choose_from(chosen, o, own, own_count);
    choose_from(chosen, o, events, count);
    return check_patterns(o, machine, chosen);
}
