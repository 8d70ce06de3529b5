/* Lines of output of several nodes: whole, in the order of turns.
 *
 * What a node writes to standard output or error goes on up to its last newline; the rest waits for
 * its newline, or until it is LINE_MAX_BYTES long. A rest at the end of the node gets a newline. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "machine/system/system_impl.h"

enum { LINE_MAX_BYTES = 65536 };

static void append(struct system_line *line, const void *bytes, size_t count)
{
    if (!count) return;
    line->bytes = base_grow(line->bytes, &line->capacity, line->count + count, 1);
    memcpy(line->bytes + line->count, bytes, count);
    line->count += count;
}

static unsigned number_of(const struct system_member *member)
{
    return (unsigned)(member - member->system->members);
}

static int64_t write_all(int stream, const char *bytes, size_t count)
{
    for (size_t done = 0; done < count;) {
        ssize_t more = write(stream, bytes + done, count - done);
        if (more < 0 && errno != EINTR) return -errno;
        if (more > 0) done += (size_t)more;
    }
    return 0;
}

int64_t system_write(struct system *system, unsigned node, int stream, const char *bytes,
                     size_t count)
{
    if (system_ranks_line(system, node, stream, bytes, count)) return 0;
    return write_all(stream, bytes, count);
}

static int64_t flush_line(struct system_member *member, struct system_line *line, int stream)
{
    int64_t result =
        system_write(member->system, number_of(member), stream, line->bytes, line->count);
    line->count = 0;
    return result;
}

int64_t system_output(struct system_member *member, int stream, const void *bytes, size_t count)
{
    struct system_line *line = &member->line[stream - STDOUT_FILENO];
    const char *text = bytes, *end = memrchr(text, '\n', count);
    size_t whole = end ? (size_t)(end + 1 - text) : 0;
    int64_t result = 0;
    if (whole) {
        if (line->count) result = flush_line(member, line, stream);
        if (!result) result = system_write(member->system, number_of(member), stream, text, whole);
        if (result) return result;
    }
    append(line, text + whole, count - whole);
    if (line->count >= LINE_MAX_BYTES) result = flush_line(member, line, stream);
    return result ? result : (int64_t)count;
}

void system_flush_lines(struct system_member *member)
{
    for (int i = 0; i < SYSTEM_STREAMS; i++) {
        struct system_line *line = &member->line[i];
        if (!line->count) continue;
        append(line, "\n", 1);
        (void)flush_line(member, line, STDOUT_FILENO + i);
    }
}

/* ---- lines for the user ---- */

void system_report(struct system *system, unsigned number, const char *line)
{
    append(&system->members[number].reports, line, strlen(line) + 1);
}

void system_flush_reports(struct system_member *member)
{
    const struct system_options *o = &member->system->options;
    struct system_line *reports = &member->reports;
    for (size_t at = 0; at < reports->count; at += strlen(reports->bytes + at) + 1) {
        const char *line = reports->bytes + at;
        if (o->report &&
            !system_ranks_line(member->system, number_of(member), 0, line, strlen(line) + 1))
            o->report(o->context, number_of(member), line);
    }
    reports->count = 0;
}

void system_output_fini(struct system_member *member)
{
    for (int i = 0; i < SYSTEM_STREAMS; i++)
        free(member->line[i].bytes);
    free(member->reports.bytes);
}
