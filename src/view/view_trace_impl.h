/* What the forms of a trace share. */
#ifndef VIEW_TRACE_IMPL_H
#define VIEW_TRACE_IMPL_H

#include "view/view_trace.h"

/* The numbers of a record's names. Tag and category are the user's or the program's; where they are
 * 0, site and section, which the run finds, take their place. */
struct view_trace_numbers {
    uint8_t category, tag;
    uint32_t pc, function, callpath, site, section;
};
struct view_trace_numbers view_trace_numbers(const struct view_trace *out,
                                             const struct chil_trace_item *item);
/* The names; `number` has room for one that is none. */
const char *view_trace_tag(const struct view_trace *out, const struct view_trace_numbers *n,
                           char number[8]);
const char *view_trace_category(const struct view_trace *out, const struct view_trace_numbers *n,
                                char number[8]);
const char *view_trace_function(const struct view_trace *out, const struct view_trace_numbers *n);

void view_trace_json_begin(struct view_trace *out);
void view_trace_json(struct view_trace *out, const struct chil_trace_item *item);
void view_trace_json_end(struct view_trace *out);

#endif
