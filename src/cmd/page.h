/* The parts of chiliad page. */
#ifndef CMD_PAGE_H
#define CMD_PAGE_H

#include "cmd/report.h"
#include "view/view_page.h"

/* An experiment as a document of a page: what `report -j` prints, with the values in blocks. */
json_t *page_experiment(struct view_page *page, const struct report *r);
/* The functions with their instructions and source lines; NULL when the file has no code. */
json_t *page_code(struct view_page *page, const struct report *r);

#endif
