/* The parts of chiliad page, also for commands with --page and for chiliad serve. */
#ifndef CMD_PAGE_H
#define CMD_PAGE_H

#include "cmd/report.h"
#include "view/view_page.h"

/* A page in the making: documents, and the blocks that they refer to. */
struct page {
    const char *command; /* in messages */
    struct view_page blocks;
    json_t *documents;
};
void page_init(struct page *page, const char *command);
void page_fini(struct page *page);
/* Each adds a document and reports errors: a file, of an experiment or of what a command printed
 * with -j, with these options; and such a text. An experiment with more than `most` values has
 * none of them in its document: it stays open in `kept`, for who asks for sums. `kept` may be
 * NULL. */
struct page_kept {
    size_t most;
    bool is_open;
    struct report report; /* to be closed with report_close when open */
};
int page_add_file(struct page *page, const char *file, const char *spec_name,
                  const struct chil_metric_options *options, struct page_kept *kept);
int page_add_text(struct page *page, const char *name, const char *text, size_t size);
/* An experiment as it was counted, which stays the caller's. */
int page_add_experiment(struct page *page, const char *name, struct chil_exp *exp);
/* The header for the documents, the caller's. */
json_t *page_header(const struct page *page);
/* The file of a page. It is opened before a program runs, as every output is; `path` NULL: none.
 * page_write fills it and says its size on `say`, page_abandon leaves what was there. Both close
 * it; all report errors. */
struct page_file {
    const char *path;
    char *text; /* the template; NULL: not open */
    struct cmd_output output;
    FILE *json; /* for page_write_printed */
    char *printed;
    size_t size;
};
int page_open(struct page_file *file, const char *command, const char *path);
void page_abandon(struct page_file *file);
int page_write(struct page *page, struct page_file *file, FILE *say);
/* A page of what was printed to `json`. */
int page_write_printed(struct page_file *file, const char *command, const char *name);

/* An experiment as a document of a page: what `report -j` prints, with the values in blocks; or
 * without values, only with their number. */
json_t *page_experiment(struct view_page *page, const struct report *r, bool values);
/* The functions with their instructions and source lines; NULL when the file has no code. */
json_t *page_code(struct view_page *page, const struct report *r);

#endif
