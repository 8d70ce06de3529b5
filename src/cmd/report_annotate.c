#include "cmd/report.h"
int report_annotate(const struct report *r)
{
    (void)r;
    return cmd_fail("report", "not yet");
}
