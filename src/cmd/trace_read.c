/* chiliad trace --read: a binary trace in another form. */
#include "cmd/trace.h"

static void add_function(void *context, const char *name, uint32_t first, uint32_t last)
{
    (void)chil_ranges_add(context, name, first, last);
}

/* Names of functions, if the program's file is still the one that was traced. */
static struct chil_ranges *find_functions(const struct chil_trace_head *head)
{
    if (!head->program_crc || chil_trace_crc(head->program) != head->program_crc) return NULL;
    struct chil_ranges *functions = chil_ranges_new();
    if (chil_program_ranges(head->program, CHIL_PROGRAM_FUNCTIONS, add_function, functions, NULL) ==
        0)
        return functions;
    chil_ranges_free(functions);
    return NULL;
}

static int show(struct trace *t, struct chil_trace_reader *reader)
{
    struct chil_error err = {0};
    struct chil_trace_item item;
    int got;
    t->out.head = chil_trace_reader_head(reader);
    t->out.functions = find_functions(t->out.head);
    int status = view_trace_begin(&t->out, &t->err) ? cmd_fail_error("trace", &t->err) : 0;
    while (!status && (got = chil_trace_read(reader, &item, &err)) != 0) {
        if (got < 0)
            status = cmd_fail_error("trace", &err);
        else if (!trace_keep(t, &item))
            break;
    }
    bool good = view_trace_end(&t->out);
    t->done = !status;
    if (!status && !good && !t->output)
        status = cmd_fail("trace", "the trace could not be written");
    chil_ranges_free(t->out.functions);
    return status;
}

int trace_read_back(struct trace *t)
{
    struct chil_trace_reader *reader = NULL;
    struct chil_error err = {0};
    FILE *in = fopen(t->read, "rb");
    if (!in) return cmd_fail("trace", "cannot read '%s': %m", t->read);
    int status = 0;
    if (chil_trace_reader_new(&reader, in, t->read, &err)) status = cmd_fail_error("trace", &err);
    if (!status) status = show(t, reader);
    chil_trace_reader_free(reader);
    (void)fclose(in);
    return status;
}
