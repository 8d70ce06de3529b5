/* The page: one HTML file with everything that it shows.
 *
 * The file is a template, which `make` bundles from ui/, with data in the place of a marker. The
 * data are a JSON document, the header, and blocks of numbers that the header refers to, compressed
 * and in base64 (docs/formats/page.md). base64 has no '<', so no name can end the element.
 *
 * Terms: docs/glossary.md
 */
#ifndef VIEW_PAGE_H
#define VIEW_PAGE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "chiliad/experiment.h"

/* The blocks of a page, little-endian, each at a multiple of 8. */
struct view_page {
    unsigned char *byte;
    size_t size, capacity;
};
void view_page_init(struct view_page *page);
void view_page_fini(struct view_page *page);

/* Each copies an array into a block and returns what the header has for it: [type, offset, count],
 * the caller's. Numbers are kept in the narrowest type that holds all of them: "u8", "u16", "u32",
 * "f64", and "i64" where a double would lose digits. */
json_t *view_page_counts(struct view_page *page, const int64_t *value, size_t count);
json_t *view_page_reals(struct view_page *page, const double *value, size_t count);

/* The values of a metric: {"node", "first", "thread", "value"}, the call paths that have any, where
 * the cells of each begin, and of each cell the thread (left out when there is one) and value. */
json_t *view_page_cells(struct view_page *page, const struct chil_exp *exp, int metric);

/* The template beside the program or among the installed data. CHIL_ENOENT with what to do. */
int view_page_template(char **text, struct chil_error *err);
/* Writes the page: the template with header and blocks. The header is freed. */
int view_page_write(const struct view_page *page, json_t *header, const char *text, FILE *out,
                    struct chil_error *err);
/* The data alone, compressed, without base64: what a server sends. The header is freed. */
int view_page_data(const struct view_page *page, json_t *header, FILE *out, struct chil_error *err);

#endif
