/* Inside chiliad trace: where records go, in one of three forms. */
#ifndef CMD_TRACE_H
#define CMD_TRACE_H

#include "chiliad/trace.h"
#include "cmd/cmd.h"

enum trace_format { TRACE_TEXT, TRACE_BINARY, TRACE_JSON, TRACE_FORMATS };

struct trace_who {
    int pid, tid;
};

struct trace_out {
    FILE *file;
    enum trace_format format;
    const struct chil_trace_head *head;
    struct chil_ranges *functions; /* names of code by address; NULL: none are known */
    const struct chil_hist_names
        *names; /* that records of a run have numbers of; NULL: a file's have none */
    struct chil_trace_writer *writer; /* binary */
    bool begun;
    uint64_t count;
    uint32_t callpath;      /* text: that of the last record */
    struct trace_who *told; /* JSON: of whom it has been said who they are */
    size_t told_count, told_capacity;
};

/* Writes what is before the records; records; and what is behind them. Begin tells what is wrong;
 * end returns false when something could not be written. */
int trace_out_begin(struct trace_out *out);
void trace_out_put(struct trace_out *out, const struct chil_trace_item *item);
bool trace_out_end(struct trace_out *out);

/* One record as a line of text, without line end; for `chiliad check`, too. */
enum { TRACE_LINE = 800 };
void trace_line(const struct trace_out *out, const struct chil_trace_item *item,
                char line[TRACE_LINE]);
extern const char trace_columns_instruction[], trace_columns_transaction[];
/* The call path of a record; NULL: not known. */
const char *trace_callpath(const struct trace_out *out, const struct chil_trace_item *item);

/* The names of a trace's tags and categories. The program's own, 0 to 15, have none. */
void trace_head_names(struct chil_trace_head *head, const struct chil_hist_names *names);
/* CRC-32 of a file; 0 when it cannot be read. */
uint32_t trace_crc(const char *path);

#endif
