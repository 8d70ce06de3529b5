/* Fuzzes binary traces: any bytes are read to their end, or refused in one line with the place;
 * what was read can be written, and what is written then reads as the same.
 *
 * `tools/fuzz trace SECONDS` from the root of the repository; the seeds are in
 * tests/fuzz/corpus/trace.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chiliad/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void require(bool holds, const char *what, const char *text)
{
    if (holds) return;
    (void)fprintf(stderr, "%s: %s\n", what, text);
    abort();
}

static void put(struct chil_trace_writer *writer, enum chil_trace_kind kind,
                const struct chil_trace_item *item)
{
    if (item->trigger) chil_trace_write_mark(writer);
    if (chil_trace_has_transactions(kind))
        chil_trace_write_transaction(writer, &item->transaction);
    else
        chil_trace_write(writer, &item->record);
}

/* Reads a trace and writes it again to `out`. */
static bool copy(const void *bytes, size_t length, FILE *out)
{
    struct chil_trace_reader *reader = NULL;
    struct chil_trace_writer *writer = NULL;
    struct chil_trace_item item;
    struct chil_error err = {0};
    FILE *in = fmemopen((void *)bytes, length, "rb");
    require(in != NULL, "no memory", "");
    int got = chil_trace_reader_new(&reader, in, "FILE", &err);
    if (got == 0) {
        const struct chil_trace_head *head = chil_trace_reader_head(reader);
        require(chil_trace_writer_new(&writer, head, out, &err) == 0, "cannot be written",
                err.text);
        while ((got = chil_trace_read(reader, &item, &err)) > 0)
            put(writer, head->kind, &item);
    }
    if (got < 0)
        require(strncmp(err.text, "FILE: byte ", 11) == 0 && !strchr(err.text, '\n'),
                "no line that says why", err.text);
    require(chil_trace_writer_close(writer), "not written", "");
    chil_trace_reader_free(reader);
    (void)fclose(in);
    return got == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    char *first = NULL, *second = NULL;
    size_t first_length = 0, second_length = 0;
    if (!length) return 0;
    FILE *out = open_memstream(&first, &first_length);
    bool good = copy(bytes, length, out);
    (void)fclose(out);
    if (good) {
        out = open_memstream(&second, &second_length);
        require(copy(first, first_length, out), "what was written cannot be read", "");
        (void)fclose(out);
        require(first_length == second_length && memcmp(first, second, first_length) == 0,
                "a copy differs", "");
    }
    free(first);
    free(second);
    return 0;
}
