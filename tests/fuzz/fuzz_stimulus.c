/* Fuzzes stimuli: any bytes are run, or refused in one line; both models say the same; polling
 * changes no count.
 *
 * `tools/fuzz stimulus SECONDS` from the root of the repository; the seeds are in
 * tests/fuzz/corpus/stimulus. What the reference would step through for long, and units of many
 * megabytes, are left out: they are slow, not interesting.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chiliad/catalog.h"
#include "chiliad/stimulus.h"

enum { WIRES_MAX = 1 << 12, CYCLES_MAX = 20000, WORK_MAX = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void require(bool holds, const char *what, const char *text)
{
    if (holds) return;
    (void)fprintf(stderr, "%s: %s\n", what, text);
    abort();
}

static void require_line(int status, const struct chil_error *err)
{
    require(status < 0 && err->status == status && *err->text && !strchr(err->text, '\n'),
            "no line that says why", err->text);
}

static const struct chil_machine *bgp(void)
{
    static struct chil_machine *machine;
    struct chil_error err = {0};
    if (!machine)
        require(chil_machine_open(&machine, "bgp", &err) == 0, "cannot open bgp", err.text);
    return machine;
}

static void compare(const struct chil_stimulus *stimulus, const struct chil_stimulus_result *fast)
{
    struct chil_stimulus_result reference;
    struct chil_error err = {0};
    char difference[200] = "";
    int status = chil_stimulus_run(stimulus, &(struct chil_stimulus_options){CHIL_UPC_REFERENCE, 0},
                                   &reference, &err);
    require(status == 0, "only the reference refuses", err.text);
    require(chil_stimulus_same(fast, &reference, difference, sizeof difference),
            "the models differ", difference);
    chil_stimulus_result_free(&reference);
}

/* A word that parity finds bad is found at another cycle when polling reads it; all else stays. */
static bool has_parity_fault(const struct chil_stimulus_result *result)
{
    for (size_t i = 0; i < result->notice_count; i++)
        if (result->notices[i].kind == CHIL_UPC_PARITY) return true;
    return false;
}

static void poll(const struct chil_stimulus *stimulus, const struct chil_stimulus_result *fast)
{
    struct chil_stimulus_result polled;
    struct chil_error err = {0};
    char difference[200] = "";
    int status = chil_stimulus_run(stimulus, &(struct chil_stimulus_options){CHIL_UPC_FAST, 97},
                                   &polled, &err);
    require(status == 0, "polling makes it fail", err.text);
    require(has_parity_fault(&polled) ||
                chil_stimulus_same(fast, &polled, difference, sizeof difference),
            "polling makes a difference", difference);
    chil_stimulus_result_free(&polled);
}

static void run(const struct chil_stimulus *stimulus)
{
    const struct chil_upc_geometry *g = chil_stimulus_geometry(stimulus);
    struct chil_stimulus_result fast;
    struct chil_error err = {0};
    if (g->counters * g->inputs > WIRES_MAX) return;
    int status =
        chil_stimulus_run(stimulus, &(struct chil_stimulus_options){CHIL_UPC_FAST, 0}, &fast, &err);
    if (status) {
        require_line(status, &err);
        return;
    }
    if (fast.end <= CYCLES_MAX) {
        if (fast.end * g->counters <= WORK_MAX) compare(stimulus, &fast);
        poll(stimulus, &fast);
    }
    chil_stimulus_result_free(&fast);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct chil_stimulus *stimulus = NULL;
    struct chil_error err = {0};
    /* Names only in some texts: telling the nearest of 865 takes longer than all the rest. */
    const struct chil_machine *machine = memmem(bytes, length, "BGP_PU0_JPIPE", 13) ? bgp() : NULL;
    int status = chil_stimulus_parse(&stimulus, "fuzz", bytes, length, machine, &err);
    if (status)
        require_line(status, &err);
    else
        run(stimulus);
    chil_stimulus_free(stimulus);
    return 0;
}
