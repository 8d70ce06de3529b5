/* Text files that users write: lines of fields, numbers, suggestions for misspelt names.
 *
 * A text_file is a whole file held in memory, read line by line; `#` starts a comment at the
 * beginning of a line or after a blank. A line is cut into fields at blanks; the last field
 * may be the rest of the line. Errors made with text_error begin with FILE:LINE. Files with NUL
 * bytes or over TEXT_FILE_MAX bytes are refused.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chiliad/error.h"

enum { TEXT_FILE_MAX = 64 << 20 };

struct text_file {
    const char *name; /* borrowed, for messages */
    char *bytes;      /* owned, NUL-terminated; lines are cut in place */
    char *next;       /* where the next line starts, NULL at the end */
    unsigned line;    /* number of the line last given out, from 1; 0: messages name none */
};

int text_file_open(struct text_file *file, const char *path, struct chil_error *err);
/* The same for a file that another file names (base/named.h). */
int text_file_open_named(struct text_file *file, const char *path, struct chil_error *err);
/* Takes a copy of `length` bytes at `bytes`; for stimuli and fuzzing. */
int text_file_from_bytes(struct text_file *file, const char *name, const void *bytes, size_t length,
                         struct chil_error *err);
void text_file_close(struct text_file *file);

/* The next line that is not empty after its comment and outer blanks are cut off; NULL at the end.
 */
char *text_next_line(struct text_file *file);
/* Cuts the next blank-separated field off *rest; NULL when there is none. */
char *text_next_field(char **rest);
/* What is left of the line, without leading blanks; "" when nothing is. */
char *text_rest(char **rest);

int text_error(const struct text_file *file, struct chil_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A whole decimal or 0x number, optionally with suffix K, M or G (2^10, 2^20, 2^30). */
bool text_to_u64(const char *text, uint64_t *value);
/* Whether it is written like such a number, of any size. */
bool text_is_number(const char *text);

/* The name nearest to `name` among `count` names; NULL when none is near enough to be meant: one
 * edit for three characters, one at least. The names are found through `name_at`, so that any table
 * can be searched. Case does not matter. */
typedef const char *(*text_name_at)(const void *table, size_t index);
const char *text_nearest(const char *name, const void *table, size_t count, text_name_at name_at);
/* "; did you mean 'X'?" or "" in a buffer of the caller's. */
const char *text_hint(char *buffer, size_t size, const char *nearest);

#endif
