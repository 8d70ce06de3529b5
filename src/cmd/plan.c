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

static const char help[] =
    "usage: chiliad plan [METRIC...] --limit PLATFORM [OPTIONS]\n"
    "\n"
    "Tells in how few runs a platform with few counters can count what the METRICs\n"
    "and everything below them need, and what each run counts. Without a METRIC: the\n"
    "hierarchies CYCLES, INSTRUCTION, DATA_ACCESS, INST_ACCESS and TLB_ACCESS. Inputs\n"
    "of a computation are kept in one run where that costs no more runs.\n"
    "\n"
    "  -L, --limit PLATFORM  one of 'chiliad list sets', or a path with a '/'\n"
    "      --metrics SPEC    one of 'chiliad list metrics' instead of the platform's\n"
    "      --only            the METRICs' own values, not what is below them\n"
    "  -j, --json            one JSON object\n"
    "  -h, --help            this text\n"
    "\n"
    "Exit status: 0, or 2 for a bad command line, a bad file, or a metric that\n"
    "cannot be had.\n";

enum { METRICS = 256 };

struct options {
    const char *platform, *metrics;
    bool only, json, help;
};

static int parse_options(struct options *options, int argc, char **argv)
{
    enum { SPEC = 256, ONLY };
    static const struct option longs[] = {
        {"limit", required_argument, NULL, 'L'}, {"metrics", required_argument, NULL, SPEC},
        {"only", no_argument, NULL, ONLY},       {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},        {NULL, 0, NULL, 0},
    };
    optind = 0; /* makes getopt start anew */
    opterr = 0;
    for (int letter; (letter = getopt_long(argc, argv, ":L:jh", longs, NULL)) != -1;) {
        switch (letter) {
        case 'L': options->platform = optarg; break;
        case SPEC: options->metrics = optarg; break;
        case ONLY: options->only = true; break;
        case 'j': options->json = true; break;
        case 'h': options->help = true; break;
        default: return cmd_bad_option("plan", letter, argv);
        }
    }
    if (!options->help && !options->platform)
        return cmd_fail("plan",
                        "say with --limit for which platform; 'chiliad list sets' shows them");
    return 0;
}

/* --- Printing -------------------------------------------------------------------------------- */

static void print_names(const char *what, const char *const *names, size_t count)
{
    if (!count) return;
    (void)printf("%s: ", what);
    for (size_t i = 0; i < count; i++)
        (void)printf("%s%s", i ? ", " : "", names[i]);
    (void)putchar('\n');
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
    if (status) return status;
    if (options.help) {
        (void)fputs(help, stdout);
        return 0;
    }
    if (chil_platform_open(&platform, options.platform, &err)) return cmd_fail_error("plan", &err);
    if (options.metrics ? chil_spec_open(&spec, options.metrics, &err)
                        : chil_platform_spec(&spec, platform, &err))
        status = cmd_fail_error("plan", &err);
    if (!status) status = make_plan(&options, platform, spec, argv + optind, argc - optind);
    chil_spec_free(spec);
    chil_platform_free(platform);
    return status;
}
