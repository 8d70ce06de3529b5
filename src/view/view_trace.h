/* Traces in one of three forms: text for people and awk, the compact binary, JSON for viewers. */
#ifndef VIEW_TRACE_H
#define VIEW_TRACE_H

#include "chiliad/trace.h"

enum view_trace_format { VIEW_TRACE_TEXT, VIEW_TRACE_BINARY, VIEW_TRACE_JSON, VIEW_TRACE_FORMATS };

/* JSON: a lane of a thread, or of a link of a node. Events of a lane do not overlap. */
struct view_trace_lane {
    unsigned node;
    int pid, tid;
    size_t next;   /* of the node's lanes; 0: the last, else 1 + where it is */
    unsigned lane; /* 0 is the first of its thread */
    uint64_t end;  /* of its last event, in cycles */
};

struct view_trace {
    FILE *file;
    enum view_trace_format format;
    const struct chil_trace_head *head;
    struct chil_ranges *functions; /* names of code by address; NULL: none are known */
    const struct chil_hist_names
        *names; /* that records of a run have numbers of; NULL: a file's have none */
    struct chil_trace_writer *writer; /* binary */
    bool begun;
    const char *partial; /* why the run has no end; NULL: it has. For text and JSON */
    uint64_t count;
    uint32_t callpath;             /* text: that of the last record */
    struct view_trace_lane *lanes; /* JSON */
    size_t lane_count, lane_capacity;
    size_t *node_lanes; /* the last of each node that has one, as `next` */
    size_t node_capacity;
    uint64_t events;
};

/* The head of the form, its records, its end. Begin returns 0 or an error of the binary form; end
 * returns false when something could not be written. */
int view_trace_begin(struct view_trace *out, struct chil_error *err);
void view_trace_record(struct view_trace *out, const struct chil_trace_item *item);
bool view_trace_end(struct view_trace *out);

/* One record as a line of text, without line end; for `chiliad check`, too. */
enum { VIEW_TRACE_LINE = 800 };
void view_trace_line(const struct view_trace *out, const struct chil_trace_item *item,
                     char line[VIEW_TRACE_LINE]);
/* The names of its fields, as a comment. With several nodes the first one is the node. */
const char *view_trace_columns(const struct view_trace *out, char line[VIEW_TRACE_LINE]);
/* The call path of a record; NULL: not known. */
const char *view_trace_callpath(const struct view_trace *out, const struct chil_trace_item *item);

/* The names of a trace's tags and categories. The program's own, 0 to 15, have none. */
void view_trace_names(struct chil_trace_head *head, const struct chil_hist_names *names);

#endif
