/* chiliad list metrics, chiliad list sets: specifications of metrics, and platforms with their
 * counter sets.
 *
 *     $ chiliad list sets ultrasparc US3_DCR
 *     US3_DCR
 *         ~DATA_ACCESS
 *         ~DATA_HIT_L1$
 *         DATA_LOAD_FROM_L1$ := DC_rd - DC_rd_miss
 *         DC_rd
 *         DC_rd_miss
 *
 * The signs are those of paper 003's tables: '=' is measured with a counter, '+' a counter that
 * adds to the metric above, ':=' (a dotted '=' there) computed, '~' not complete with this set
 * alone.
 */
#include "cmd/list.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "chiliad/catalog.h"
#include "chiliad/metric.h"
#include "cmd/experiment.h"

/* --- Specifications -------------------------------------------------------------------------- */

struct listing {
    const struct chil_spec *spec;
    const char **names;
    size_t count;
};

static void add_leaf(void *context, const char *file, unsigned line, const char *name,
                     const char *nearest)
{
    struct listing *to = context;
    (void)file;
    (void)line;
    (void)nearest;
    to->names = realloc(to->names, (to->count + 1) * sizeof *to->names);
    if (!to->names) abort();
    to->names[to->count++] = name;
}

static unsigned depth_of(const struct chil_metric_row *rows, size_t row)
{
    unsigned depth = 0;
    for (; rows[row].parent >= 0; row = (size_t)rows[row].parent)
        depth++;
    return depth;
}

static const char *sign_of(const struct chil_metric_row *row)
{
    return row->origin == CHIL_EXP_COMPUTED ? ":=" : "=";
}

/* A line, which continues below itself where the terminal ends. */
__attribute__((format(printf, 2, 3))) static void print_line(int indent, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) >= 0)
        view_hanging(stdout, text, indent, view_terminal_width(stdout));
    va_end(args);
    free(text);
}

static void print_rows(const struct chil_metric_tree *tree, bool apart)
{
    size_t count;
    const struct chil_metric_row *rows = chil_metric_tree_rows(tree, &count);
    for (size_t i = 0; i < count; i++) {
        const struct chil_metric_row *row = &rows[i];
        if (row->apart && !apart) continue;
        bool measured = row->origin == CHIL_EXP_MEASURED, has = *row->formula;
        print_line(4 + 2 * (int)depth_of(rows, i), "%s%s%s%s%s%s", row->partial ? "~" : "",
                   row->name, has ? " " : "",
                   !has       ? ""
                   : measured ? "="
                              : sign_of(row),
                   has ? " " : "", row->formula);
    }
}

static void print_ratios(const struct chil_spec *spec)
{
    size_t count;
    const struct chil_spec_item *items = chil_spec_items(spec, &count);
    for (size_t i = 0; i < count; i++)
        if (items[i].kind == CHIL_SPEC_RATIO) {
            char of[CMD_RATIO_OF];
            bool has_of = *cmd_ratio_of(&items[i], of);
            print_line(4, "%s = %s%s%s%s", items[i].name, items[i].formula, has_of ? " [" : "", of,
                       has_of ? "]" : "");
        } else if (items[i].kind == CHIL_SPEC_FINDING)
            print_line(4, "finding %s when %s", items[i].name, items[i].formula);
}

/* The trees that a specification gives if every counter it names is there. */
static void print_spec(const struct chil_spec *spec)
{
    struct listing leaves = {.spec = spec};
    chil_spec_unknown(spec, NULL, add_leaf, &leaves);
    struct chil_metric_tree *tree = chil_metric_tree_new(spec, leaves.names, leaves.count, NULL);
    (void)printf("%s\n", chil_spec_name(spec));
    print_rows(tree, false);
    print_ratios(spec);
    chil_metric_tree_free(tree);
    free(leaves.names);
}

static json_t *spec_json(const struct chil_spec *spec)
{
    size_t count;
    const struct chil_spec_item *items = chil_spec_items(spec, &count);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        (void)json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:s,s:s}", "kind",
                                                    chil_spec_kind_word(items[i].kind), "name",
                                                    items[i].name, "formula", items[i].formula,
                                                    "unit", items[i].unit, "text", items[i].text));
    return json_pack("{s:s,s:o}", "name", chil_spec_name(spec), "statements", list);
}

static void print_spec_line(const struct chil_spec *spec)
{
    size_t count, ratios = 0;
    const struct chil_spec_item *items = chil_spec_items(spec, &count);
    for (size_t i = 0; i < count; i++)
        ratios += items[i].kind == CHIL_SPEC_RATIO;
    (void)printf("%-12s %3zu statements, %2zu ratios\n", chil_spec_name(spec), count, ratios);
}

static int with_spec(const char *name, bool json, bool whole, size_t index)
{
    struct chil_spec *spec;
    struct chil_error err = {0};
    if (chil_spec_open(&spec, name, &err)) return cmd_fail_error("list", &err);
    if (json)
        list_print_object(spec_json(spec), index);
    else if (whole)
        print_spec(spec);
    else
        print_spec_line(spec);
    chil_spec_free(spec);
    return 0;
}

/* --- Platforms ------------------------------------------------------------------------------- */

static void print_set(const struct chil_spec *spec, const struct chil_set *set)
{
    struct chil_metric_tree *tree = chil_metric_tree_new(spec, set->events, set->count, NULL);
    size_t count;
    const struct chil_metric_row *rows = chil_metric_tree_rows(tree, &count);
    (void)printf("%s\n", set->name);
    for (size_t i = 0; i < count; i++) {
        const struct chil_metric_row *row = &rows[i];
        bool adds = row->origin == CHIL_EXP_MEASURED && !*row->formula && row->parent >= 0;
        bool partial = adds ? rows[row->parent].partial : row->partial;
        bool has = *row->formula && row->origin != CHIL_EXP_COMPOSED;
        print_line(4, "%s%s%s%s%s%s%s%s", partial ? "~" : "",
                   adds ? rows[row->parent].name : row->name, adds ? " + " : "",
                   adds ? row->name : "", has ? " " : "", has ? sign_of(row) : "", has ? " " : "",
                   has ? row->formula : "");
    }
    chil_metric_tree_free(tree);
}

static void print_platform(const struct chil_platform *platform, size_t sets, size_t events)
{
    enum { TEXT_INDENT = 13 };
    (void)printf("%-12s %2zu sets of at most %u of %zu events\n", chil_platform_name(platform),
                 sets, chil_platform_counters(platform), events);
    view_wrapped(stdout, chil_platform_text(platform), TEXT_INDENT, view_terminal_width(stdout));
}

static json_t *platform_json(const struct chil_platform *platform)
{
    size_t sets, events;
    const struct chil_set *set = chil_platform_sets(platform, &sets);
    const char *const *event = chil_platform_events(platform, &events);
    json_t *set_list = json_array(), *event_list = json_array();
    for (size_t i = 0; i < sets; i++) {
        json_t *list = json_array();
        for (size_t e = 0; e < set[i].count; e++)
            (void)json_array_append_new(list, json_string(set[i].events[e]));
        (void)json_array_append_new(set_list,
                                    json_pack("{s:s,s:o}", "name", set[i].name, "events", list));
    }
    for (size_t i = 0; i < events; i++)
        (void)json_array_append_new(event_list, json_pack("{s:s,s:s?}", "name", event[i], "like",
                                                          chil_platform_like(platform, event[i])));
    return json_pack("{s:s,s:s,s:s,s:i,s:o,s:o}", "name", chil_platform_name(platform), "text",
                     chil_platform_text(platform), "metrics", chil_platform_metrics(platform),
                     "counters", (int)chil_platform_counters(platform), "sets", set_list, "events",
                     event_list);
}

static int print_sets(const struct chil_platform *platform, char **wanted, int count)
{
    size_t sets;
    struct chil_spec *spec;
    struct chil_error err = {0};
    const struct chil_set *set = chil_platform_sets(platform, &sets);
    if (chil_platform_spec(&spec, platform, &err)) return cmd_fail_error("list", &err);
    int status = 0;
    for (int i = 0; i < count && !status; i++) {
        const struct chil_set *one = chil_platform_set(platform, wanted[i]);
        if (!one)
            status =
                cmd_fail("list", "%s has no set '%s'; 'chiliad list sets %s' shows them",
                         chil_platform_name(platform), wanted[i], chil_platform_name(platform));
        else
            print_set(spec, one);
    }
    for (size_t i = 0; i < sets && !count; i++)
        print_set(spec, &set[i]);
    chil_spec_free(spec);
    return status;
}

static int with_platform(const char *name, bool json, char **wanted, int count, bool whole,
                         size_t index)
{
    struct chil_platform *platform;
    struct chil_error err = {0};
    size_t sets, events;
    int status = 0;
    if (chil_platform_open(&platform, name, &err)) return cmd_fail_error("list", &err);
    (void)chil_platform_sets(platform, &sets);
    (void)chil_platform_events(platform, &events);
    if (json)
        list_print_object(platform_json(platform), index);
    else if (whole)
        status = print_sets(platform, wanted, count);
    else
        print_platform(platform, sets, events);
    chil_platform_free(platform);
    return status;
}

/* --- Both ------------------------------------------------------------------------------------ */

static int each(bool sets, bool json)
{
    char **names;
    size_t count;
    struct chil_error err = {0};
    if (sets ? chil_platform_names(&names, &count, &err) : chil_spec_names(&names, &count, &err))
        return cmd_fail_error("list", &err);
    int status = 0;
    for (size_t i = 0; i < count && !status; i++)
        status = sets ? with_platform(names[i], json, NULL, 0, false, i)
                      : with_spec(names[i], json, false, i);
    if (json && !status) list_print_array_end(count);
    chil_names_free(names, count);
    return status;
}

int list_metrics(bool sets, bool json, char **words, int count)
{
    if (count == 0) return each(sets, json);
    if (!sets && count > 1)
        return cmd_fail("list", "one specification at a time; '%s' is the second", words[1]);
    int status = sets ? with_platform(words[0], json, words + 1, count - 1, true, 0)
                      : with_spec(words[0], json, true, 0);
    if (json && !status) list_print_array_end(1);
    return status;
}
