/* Inside chiliad trace: the options, the trigger, and where records go. */
#ifndef CMD_TRACE_H
#define CMD_TRACE_H

#include "chiliad/capture.h"
#include "cmd/cmd.h"
#include "view/view_trace.h"

struct trace {
    struct cmd_program program;
    struct cmd_places places;
    const char *output, *read, *trigger, *place;
    uint64_t limit, before, after;
    bool once, has_start, has_window;
    struct chil_trace_head head;
    struct chil_hist_names names;
    struct chil_run_names wanted; /* of the run */
    struct view_trace out;
    bool done; /* the run came to its end */
    struct chil_run *run;
    struct chil_error err;
    struct chil_where *where; /* of --trigger */
    uint32_t place_pc;        /* of --at */
    uint64_t nth;
    struct chil_capture *capture;
};

/* Runs the program as often as the capture needs (trace_run.c). Reports what is wrong; t->done says
 * whether the trace is complete. */
int trace_run(struct trace *t);
/* Writes a record; false: the limit is reached, or the stream has failed. */
bool trace_keep(void *t, const struct chil_trace_item *item);
/* Shows the trace of --read instead of a run (trace_read.c). */
int trace_read_back(struct trace *t);
/* The trace of an MPI program (trace_mpi.c): --format otf2. */
enum { TRACE_OTF2 = VIEW_TRACE_FORMATS };
int trace_mpi(struct trace *t);
void trace_warn(void *context, const char *line);

#endif
