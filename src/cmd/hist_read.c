/* A histogram of a recorded file instead of a run: transactions that `chiliad trace --kind
 * transaction --format binary` has written. What the file does not have (call paths, allocation
 * sites, causes) is refused; functions and data are those of the program's file, if it is still the
 * one that was traced. */
#include <stdlib.h>
#include <string.h>

#include "cmd/hist.h"
#include "view/view_trace.h"

struct hist_input {
    FILE *file;
    struct chil_trace_reader *reader;
};

/* Names that the trace has by number: transactions bring the number. */
static struct chil_ranges *name_numbers(const char *const *names, size_t count)
{
    struct chil_ranges *table = chil_ranges_new();
    for (size_t i = 1; i < count; i++)
        (void)chil_ranges_name(table, names[i]);
    return table;
}

static int make_names(struct hist *h, const struct chil_trace_head *head)
{
    const struct cmd_places *places = &h->options->places;
    bool known = head->program_crc && chil_trace_crc(head->program) == head->program_crc;
    if (places->heap_sites || places->hpm)
        return cmd_fail(
            "hist",
            "a trace has no allocation sites and sections; run the program instead of --read");
    if (!known && (places->tag_count || places->category_count))
        return cmd_fail("hist",
                        "'%s' is not the program that was traced; --tag and --category need it",
                        head->program);
    int status = known ? cmd_names_make(&h->names, "hist", head->program, places) : 0;
    chil_ranges_free(h->names.callpaths);
    h->names.callpaths = NULL;
    h->names.carried = h->names.open = 0;
    if (!h->names.tags && head->tag_count) {
        h->names.tags = name_numbers(head->tags, head->tag_count);
        h->names.carried |= UINT32_C(1) << CHIL_VAR_TAG;
    }
    if (!h->names.categories && head->category_count) {
        h->names.categories = name_numbers(head->categories, head->category_count);
        h->names.carried |= UINT32_C(1) << CHIL_VAR_CATEGORY;
    }
    return status;
}

int hist_read_open(struct hist *h)
{
    const char *name = h->options->read;
    struct chil_error err = {0};
    struct hist_input *input = h->input = calloc(1, sizeof *input);
    if (!input) return cmd_fail("hist", "out of memory");
    input->file = fopen(name, "rb");
    if (!input->file) return cmd_fail("hist", "cannot read '%s': %m", name);
    if (chil_trace_reader_new(&input->reader, input->file, name, &err))
        return cmd_fail_error("hist", &err);
    const struct chil_trace_head *head = chil_trace_reader_head(input->reader);
    if (!chil_trace_has_transactions(head->kind))
        return cmd_fail("hist",
                        "'%s' is a trace of kind '%s'; write one with 'chiliad trace --kind "
                        "transaction' or 'packet'",
                        name, chil_trace_kind_name(head->kind));
    h->nodes = h->names.nodes = chil_trace_nodes(head);
    h->machine = head->machine;
    h->program = head->program;
    return make_names(h, head);
}

int hist_read_all(struct hist *h, uint32_t kinds)
{
    struct chil_error err = {0};
    struct chil_trace_item item;
    int got;
    while ((got = chil_trace_read(h->input->reader, &item, &err)) > 0) {
        struct chil_transaction *t = &item.transaction;
        if (!(kinds >> t->kind & 1)) continue;
        t->site = t->tag;
        t->section = t->category;
        hist_tell(h, t);
    }
    return got ? cmd_fail_error("hist", &err) : 0;
}

void hist_read_close(struct hist *h)
{
    if (!h->input) return;
    chil_trace_reader_free(h->input->reader);
    if (h->input->file) (void)fclose(h->input->file);
    free(h->input);
}
