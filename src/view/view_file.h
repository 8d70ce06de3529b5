/* Output files of commands as streams: they appear whole under their name, or not at all
 * (base/output.h). */
#ifndef VIEW_FILE_H
#define VIEW_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/output.h"
#include "chiliad/error.h"

struct view_file {
    struct output output;
    FILE *file;
};

/* Both return 0 or CHIL_EIO. */
int view_file_open(struct view_file *output, const char *path, struct chil_error *err);
/* With `good` the file gets its name; otherwise it is dropped, and 0 is returned. */
int view_file_close(struct view_file *output, bool good, struct chil_error *err);

/* A source file that an experiment names: regular, and not larger than base/named.h says; else
 * NULL.
 */
FILE *view_file_source(const char *path);

#endif
