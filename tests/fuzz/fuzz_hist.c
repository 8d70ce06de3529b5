/* Fuzzes declarations and predicates: any text is taken, or refused in one line with its column;
 * what was taken counts.
 *
 * `tools/fuzz hist SECONDS` from the root of the repository; the seeds are in
 * tests/fuzz/corpus/hist. A text is a declaration, and behind a line end, if there is one, a
 * predicate.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chiliad/monitor.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void require(bool holds, const char *what, const char *text)
{
    if (holds) return;
    (void)fprintf(stderr, "%s: %s\n", what, text);
    abort();
}

static void count(struct chil_hist *hist)
{
    size_t bins;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 300; i++) {
        uint64_t at = i * UINT64_C(0x9E3779B97F4A7C15);
        struct chil_transaction t = {
            .end = at >> (i % 64), .address = (uint32_t)at, .pc = (uint32_t)(at >> 32)};
        t.size = (uint32_t)(at >> 20);
        t.pid = (int32_t)(at >> 8);
        t.sender = (uint16_t)at;
        t.core = (uint8_t)i;
        t.kind = i % CHIL_TRANSACTION_KINDS;
        t.level = i % CHIL_LEVELS;
        t.category = t.tag = i % 16;
        t.function = t.symbol = t.callpath = t.site = (uint32_t)(at >> (32 + i % 32));
        chil_hist_notify(hist, &t);
    }
    const struct chil_bin *bin = chil_hist_bins(hist, &bins);
    for (size_t i = 0; i < bins; i++) {
        char text[CHIL_VALUE_TEXT];
        sum += bin[i].count;
        require(i == 0 || bin[i - 1].key < bin[i].key, "bins are out of order", "");
        for (unsigned d = 0; d < chil_hist_dimensions(hist); d++) {
            chil_hist_value(hist, d, chil_hist_index(hist, d, bin[i].key), text);
            require(*text, "a value without a text", "");
        }
    }
    require(sum == chil_hist_total(hist), "bins do not add up", "");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static struct chil_ranges *ranges;
    if (!ranges) (void)chil_ranges_add(ranges = chil_ranges_new(), "main", 0x1000, 0x80001234);
    struct chil_hist_names names = {
        .functions = ranges, .symbols = ranges, .tags = length % 2 ? ranges : NULL};
    struct chil_ranges *grown = length % 4 == 3 ? chil_ranges_new() : NULL; /* names may come up */
    if (grown)
        names = (struct chil_hist_names){
            grown, grown,      grown,           grown,
            grown, UINT32_MAX, length % 8 == 7, length % 16 == 15 ? 300 : 0};
    char *text = strndup((const char *)bytes, length), *where = strchr(text, '\n');
    struct chil_hist *hist = NULL;
    struct chil_error err = {0};
    if (where) *where++ = 0;
    int status = chil_hist_new(&hist, text, where, &names, &err);
    if (status)
        require(err.status == status && strstr(err.text, ", column ") && !strchr(err.text, '\n'),
                "no line that says why", err.text);
    else
        count(hist);
    chil_hist_free(hist);
    chil_ranges_free(grown);
    free(text);
    return 0;
}
