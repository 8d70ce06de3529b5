/* The report of libHPM (BGL-25) for an entire program. */
#include "cmd/stat.h"

#include <inttypes.h>

/* The rows of figure 2 (BGL-25): the simulator's own counters 0 to 14, with the figure's texts. */
static const char *const hpm_texts[] = {
    "Instructions completed",    "Loads completed",
    "Stores completed",          "L1 data hits (l/s)",
    "L1 data load misses",       "L1 data store misses",
    "L1 instruction misses",     "L2 data load misses",
    "Data TLB misses",           "Instruction TLB misses",
    "Floating point loads",      "Floating point stores",
    "Floating point divides",    "Floating point multiply-add",
    "Floating point operations",
};

static uint64_t busy_of_all(const struct chil_run *run)
{
    uint64_t cycles = 0;
    for (unsigned core = 0; core < chil_run_cores(run); core++)
        cycles += chil_run_core_cycles(run, core);
    return cycles;
}

void stat_print_hpm(FILE *out, const struct stat_shown *shown)
{
    size_t count;
    const struct chil_event *own = chil_machine_own_events(shown->machine, &count);
    (void)fprintf(out, "\n Entire program: %s on %s\n", shown->options->program.shown,
                  chil_machine_name(shown->machine));
    (void)fprintf(out, "  Wall Clock Time: %.9f seconds\n",
                  stat_seconds(shown, chil_run_cycles(shown->run)));
    (void)fprintf(out, "  Total time in user mode: %.9f seconds\n\n",
                  stat_seconds(shown, busy_of_all(shown->run)));
    (void)fprintf(out, "  %-44s   %17s %12s\n", "Counter", "User", "Kernel");
    for (size_t i = 0; i < count && i < sizeof hpm_texts / sizeof *hpm_texts; i++) {
        char name[100];
        (void)snprintf(name, sizeof name, "%s (%s)", own[i].name, hpm_texts[i]);
        (void)fprintf(out, "  %-44s : %17" PRIu64 " %12d\n", name,
                      chil_run_count(shown->run, &own[i]), 0);
    }
    (void)fputc('\n', out);
    for (size_t i = 0; i < shown->metrics->count; i++) {
        const struct stat_metric *metric = &shown->metrics->rows[i];
        double value;
        char text[40] = "-";
        bool is = stat_metric(metric, STAT_TOTAL, &value);
        if (is) (void)snprintf(text, sizeof text, "%.3f", value);
        (void)fprintf(out, "  %-44s : %17s%s%s\n", metric->text, text,
                      is && *metric->unit ? " " : "", is ? metric->unit : "");
    }
    (void)fputs("\n  Kernel counts are 0: in user-mode runs the simulator is the kernel.\n", out);
}
