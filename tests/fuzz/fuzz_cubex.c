/* Fuzzes experiment files: any bytes are read, or refused in one line; what is read can be combined
 * and written.
 *
 * `tools/fuzz cubex SECONDS` from the root of the repository; the seeds are in
 * tests/fuzz/corpus/cubex. Bytes are taken as they are, or, when they start with "@@", as the
 * members of an archive: "@@ NAME" starts one, "@@ NAME hex" one that is written in hexadecimal. So
 * seeds and findings are text.
 */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chiliad/experiment.h"
#include "chiliad/report.h"

enum { BLOCK = 512, ARCHIVE_MAX = 1 << 18, CELLS_MAX = 1 << 14 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void require(bool holds, const char *what, const char *text)
{
    if (holds) return;
    (void)fprintf(stderr, "%s: %s\n", what, text);
    abort();
}

/* --- Members from text ----------------------------------------------------------------------- */

struct archive {
    uint8_t byte[ARCHIVE_MAX];
    size_t size;
};

static size_t decode_hex(uint8_t *to, const uint8_t *from, size_t length)
{
    size_t size = 0;
    int half = -1;
    for (size_t i = 0; i < length; i++) {
        if (!isxdigit(from[i])) continue;
        int digit = isdigit(from[i]) ? from[i] - '0' : tolower(from[i]) - 'a' + 10;
        if (half >= 0) to[size++] = (uint8_t)(half << 4 | digit);
        half = half >= 0 ? -1 : digit;
    }
    return size;
}

static void add_member(struct archive *archive, const char *name, bool hex, const uint8_t *bytes,
                       size_t length)
{
    if (archive->size + 3 * BLOCK + length > ARCHIVE_MAX) return;
    uint8_t *header = archive->byte + archive->size;
    memset(header, 0, BLOCK);
    (void)snprintf((char *)header, 100, "%s", name);
    size_t size = length;
    if (hex)
        size = decode_hex(header + BLOCK, bytes, length);
    else
        memcpy(header + BLOCK, bytes, length);
    (void)snprintf((char *)header + 124, 12, "%011zo", size);
    header[156] = '0';
    memcpy(header + 257, "ustar", 6);
    size_t padded = (size + BLOCK - 1) / BLOCK * BLOCK;
    memset(header + BLOCK + size, 0, padded - size);
    archive->size += BLOCK + padded;
}

static void add_members(struct archive *archive, const uint8_t *bytes, size_t length)
{
    const uint8_t *end = bytes + length;
    archive->size = 0;
    while (bytes < end) {
        char line[80] = "", name[40] = "", hex[8] = "";
        const uint8_t *start = memchr(bytes, '\n', (size_t)(end - bytes));
        start = start ? start + 1 : end;
        size_t head =
            (size_t)(start - bytes) < sizeof line ? (size_t)(start - bytes) : sizeof line - 1;
        memcpy(line, bytes, head);
        (void)sscanf(line, "@@ %39s %7s", name, hex);
        const uint8_t *next = start;
        while (next < end &&
               !(end - next > 2 && next[0] == '@' && next[1] == '@' && next[-1] == '\n'))
            next++;
        add_member(archive, name, strcmp(hex, "hex") == 0, start, (size_t)(next - start));
        bytes = next;
    }
    memset(archive->byte + archive->size, 0, BLOCK);
    archive->size += BLOCK;
}

/* --- What can be done with an experiment ----------------------------------------------------- */

static size_t cells_of(const struct chil_exp *exp)
{
    size_t sum = 0, count;
    for (size_t m = 0; m < exp->metrics; m++) {
        (void)chil_exp_cells(exp, (int)m, &count);
        sum += count;
    }
    return sum;
}

static void combine(const struct chil_exp *exp)
{
    const struct chil_exp *both[] = {exp, exp};
    struct chil_exp *mean = NULL, *merged = NULL, *zero = NULL;
    struct chil_error err = {0};
    require(chil_exp_diff(&zero, exp, exp, NULL, &err) == 0 && cells_of(zero) == 0,
            "A - A is not zero", err.text);
    require(chil_exp_mean(&mean, both, 2, NULL, &err) == 0, "no mean", err.text);
    require(chil_exp_merge(&merged, both, 2, NULL, &err) == 0, "no merge", err.text);
    require(merged->metrics == exp->metrics, "merge loses metrics", "");
    int status = chil_exp_write(merged, "/dev/null", &err);
    require(status == 0 || status == CHIL_EINVAL, "cannot be written", err.text);
    status = chil_exp_write(exp, "/dev/null", &err);
    require(status == 0 || status == CHIL_EINVAL, "cannot be written", err.text);
    chil_exp_free(zero);
    chil_exp_free(mean);
    chil_exp_free(merged);
}

/* Every tree, and every form for other tools. */
static void show(const struct chil_exp *exp)
{
    struct chil_report *report = NULL;
    struct chil_report_code *code = NULL;
    struct chil_error err = {0};
    size_t count;
    (void)chil_report_code_new(&code, exp, "fuzz", "*", &err); /* none: NULL */
    if (chil_report_new(&report, exp, NULL, NULL, &err)) {
        chil_report_code_free(code);
        return;
    }
    FILE *out = fopen("/dev/null", "w");
    require(out != NULL, "cannot open", "/dev/null");
    for (int mode = CHIL_REPORT_USUAL; mode <= CHIL_REPORT_PEER_RANGE; mode++)
        for (int pane = CHIL_REPORT_METRICS; pane <= CHIL_REPORT_SYSTEM; pane++) {
            const struct chil_report_view view = {(enum chil_report_mode)mode,
                                                  CHIL_REPORT_DEPTH_MOST, 0.01};
            free(chil_report_rows(report, (enum chil_report_pane)pane, &view, &count));
        }
    free(chil_report_flat(report, false, CHIL_REPORT_USUAL, &count));
    free(chil_report_flat(report, true, CHIL_REPORT_OWN_ROOT, &count));
    chil_report_folded(report, out);
    int metric = chil_report_metric(report);
    (void)chil_report_callgrind(report, code, &metric, 1, out);
    (void)fclose(out);
    chil_report_free(report);
    chil_report_code_free(code);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static struct archive archive;
    struct chil_exp *exp = NULL;
    struct chil_error err = {0};
    if (length > 2 && memcmp(bytes, "@@", 2) == 0) {
        add_members(&archive, bytes, length);
        bytes = archive.byte;
        length = archive.size;
    }
    int status = chil_exp_read_bytes(&exp, "fuzz", bytes, length, &err);
    if (status)
        require(status < 0 && err.status == status && *err.text && !strchr(err.text, '\n'),
                "no line that says why", err.text);
    else if (cells_of(exp) < CELLS_MAX) {
        combine(exp);
        show(exp);
    }
    chil_exp_free(exp);
    return 0;
}
