/* Fuzzes rules: any text is taken, or refused in one line with file, line and column; what was
 * taken is notified of accesses.
 *
 * `tools/fuzz rules SECONDS` from the root of the repository; the seeds are in
 * tests/fuzz/corpus/rules.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chiliad/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void require(bool holds, const char *what, const char *text)
{
    if (holds) return;
    (void)fprintf(stderr, "%s: %s\n", what, text);
    abort();
}

static void notify(struct chil_rules *rules)
{
    size_t count;
    for (uint32_t i = 0; i < 50; i++) {
        uint64_t at = i * UINT64_C(0x9E3779B97F4A7C15);
        struct chil_transaction t = {
            .start = i, .end = i + (at >> 56), .address = (uint32_t)at, .pc = (uint32_t)(at >> 32)};
        t.kind = i % 2;
        (void)chil_rules_access(rules, &t);
        t.kind = i % CHIL_TRANSACTION_KINDS;
        t.level = i % CHIL_LEVELS;
        (void)chil_rules_transaction(rules, &t);
    }
    const struct chil_assertion *all = chil_rules_assertions(rules, &count);
    require(count > 0, "no assertion", "");
    for (size_t i = 0; i < count; i++)
        require(all[i].line && all[i].column && *all[i].text && *all[i].relation,
                "an assertion without a place", "");
    (void)chil_rules_want_accesses(rules);
    (void)chil_rules_want_transactions(rules);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static struct chil_machine *machine;
    static struct chil_ranges *ranges;
    struct chil_rules *rules = NULL;
    struct chil_error err = {0};
    if (!machine && chil_machine_open(&machine, "bgp", &err))
        require(false, "no machine", err.text);
    if (!ranges) (void)chil_ranges_add(ranges = chil_ranges_new(), "main", 0x1000, 0x80001234);
    const struct chil_hist_names names = {
        .functions = ranges, .symbols = ranges, .tags = length % 2 ? ranges : NULL};
    int status = chil_rules_from_bytes(&rules, "FILE", bytes, length, machine, &err);
    if (!status) status = chil_rules_bind(rules, &names, &err);
    if (!status)
        notify(rules);
    else
        require(err.status == status && strncmp(err.text, "FILE", 4) == 0 &&
                    !strchr(err.text, '\n'),
                "no line that says why", err.text);
    chil_rules_free(rules);
    return 0;
}
