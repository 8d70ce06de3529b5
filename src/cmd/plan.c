/* chiliad plan: the fewest runs that give the wanted metrics on a platform with few counters.
 *
 *     $ chiliad plan --limit power4 BRANCH
 *     1 run for 3 events of power4; no plan has fewer than 1
 *     complete: BRANCH
 *
 *     run 1: POWER4_BRT
 *       BRT  PM_BR_ISSUED
 *       ...
 */
#include "cmd/cmd.h"

#include <stdlib.h>
#include <string.h>

#include "chiliad/metric.h"

enum { METRICS = 256 };

struct options {
    const char *platform, *metrics;
    bool only, json;
};

static const struct option_row option_rows[] = {
    {"limit", 'L', "PLATFORM", "a name of 'chiliad list sets', or a path with a '/'",
     OPTION_SET_TEXT(struct options, platform), .values = "@sets"},
    {"metrics", 0, "SPEC", "a name of 'chiliad list metrics', instead of the platform's",
     OPTION_SET_TEXT(struct options, metrics), .values = "@metrics"},
    {"only", 0, NULL, "plan for the METRICs alone, not for those below them",
     OPTION_SET_FLAG(struct options, only)},
    {"json", 'j', NULL, "one JSON object", OPTION_SET_FLAG(struct options, json)},
};

const struct option_table cmd_plan_options = {
    .forms = {"[METRIC...] --limit PLATFORM [OPTIONS]"},
    .about = "Finds the fewest runs in which a platform with few counters can count the "
             "inputs of the METRICs and of everything below them, and prints what each run "
             "counts. Default: the hierarchies CYCLES, INSTRUCTION, DATA_ACCESS, "
             "INST_ACCESS and TLB_ACCESS. The inputs of a computation are kept in one run "
             "where that costs no more runs.",
    .groups = {OPTION_ROWS(option_rows)},
    .notes = "Exit status: 0, or 2 for a bad command line, a bad file, or a metric that "
             "the platform cannot count.",
    .operand_values = "CYCLES INSTRUCTION DATA_ACCESS INST_ACCESS TLB_ACCESS",
};

static int parse_options(struct options *options, int argc, char **argv)
{
    int status = options_parse(&cmd_plan_options, options, argc, argv);
    if (!status && !options->platform)
        return cmd_fail("plan",
                        "say with --limit for which platform; 'chiliad list sets' shows them");
    return status;
}

/* --- Printing -------------------------------------------------------------------------------- */

static void print_names(const char *what, const char *const *names, size_t count)
{
    if (!count) return;
    char *text = NULL;
    size_t size = 0;
    FILE *line = open_memstream(&text, &size);
    if (!line) return;
    (void)fprintf(line, "%s: ", what);
    for (size_t i = 0; i < count; i++)
        (void)fprintf(line, "%s%s", i ? ", " : "", names[i]);
    (void)fclose(line);
    view_hanging(stdout, text, 0, view_terminal_width(stdout));
    free(text);
}

static void print_plan(const struct chil_plan *plan, const struct chil_platform *platform)
{
    (void)printf("%zu run%s for %zu event%s of %s; no plan has fewer than %zu\n", plan->runs,
                 plan->runs == 1 ? "" : "s", plan->events, plan->events == 1 ? "" : "s",
                 chil_platform_name(platform), plan->bound);
    print_names("complete", plan->complete, plan->completes);
    print_names("partial (~), since something cannot be counted", plan->partial, plan->partials);
    print_names("computed over several runs", plan->split, plan->splits);
    for (size_t r = 0; r < plan->runs; r++) {
        const struct chil_plan_run *run = &plan->run[r];
        (void)printf("\nrun %zu%s%s\n", r + 1, run->set ? ": " : "", run->set ? run->set : "");
        for (size_t i = 0; i < run->count; i++)
            (void)printf("  %-5s %s\n", run->counters[i], run->events[i]);
    }
}

static json_t *names_json(const char *const *names, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        (void)json_array_append_new(list, json_string(names[i]));
    return list;
}

static void print_json(const struct chil_plan *plan, const struct chil_platform *platform)
{
    json_t *runs = json_array();
    for (size_t r = 0; r < plan->runs; r++) {
        const struct chil_plan_run *run = &plan->run[r];
        (void)json_array_append_new(
            runs, json_pack("{s:o,s:o,s:s?}", "events", names_json(run->events, run->count),
                            "counters", names_json(run->counters, run->count), "set", run->set));
    }
    json_t *object =
        json_pack("{s:s,s:I,s:I,s:I,s:o,s:o,s:o,s:o}", "platform", chil_platform_name(platform),
                  "runs", (json_int_t)plan->runs, "bound", (json_int_t)plan->bound, "events",
                  (json_int_t)plan->events, "complete", names_json(plan->complete, plan->completes),
                  "partial", names_json(plan->partial, plan->partials), "split",
                  names_json(plan->split, plan->splits), "plan", runs);
    (void)json_dumpf(object, stdout, JSON_INDENT(1));
    (void)putchar('\n');
    json_decref(object);
}

static int make_plan(const struct options *options, const struct chil_platform *platform,
                     const struct chil_spec *spec, char **metrics, int count)
{
    struct chil_plan *plan;
    struct chil_error err = {0};
    const struct chil_plan_options how = {.only = options->only};
    if (count > METRICS) return cmd_fail("plan", "more than %d metrics", METRICS);
    if (chil_plan_new(&plan, spec, platform, (const char *const *)metrics, (size_t)count, &how,
                      &err))
        return cmd_fail_error("plan", &err);
    if (options->json)
        print_json(plan, platform);
    else
        print_plan(plan, platform);
    chil_plan_free(plan);
    return 0;
}

int cmd_plan(int argc, char **argv)
{
    struct options options = {0};
    struct chil_platform *platform = NULL;
    struct chil_spec *spec = NULL;
    struct chil_error err = {0};
    int status = parse_options(&options, argc, argv);
    if (status) return status < 0 ? 0 : status;
    if (chil_platform_open(&platform, options.platform, &err)) return cmd_fail_error("plan", &err);
    if (options.metrics ? chil_spec_open(&spec, options.metrics, &err)
                        : chil_platform_spec(&spec, platform, &err))
        status = cmd_fail_error("plan", &err);
    if (!status) status = make_plan(&options, platform, spec, argv + optind, argc - optind);
    chil_spec_free(spec);
    chil_platform_free(platform);
    return status;
}
