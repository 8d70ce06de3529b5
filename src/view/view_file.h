/* Output files that appear whole under their name, or not at all. */
#ifndef VIEW_FILE_H
#define VIEW_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "chiliad/error.h"

struct view_file {
    const char *path; /* borrowed */
    FILE *file;
    bool replaces;   /* a regular file, which is to appear whole */
    char *temporary; /* its name until then, if it has one */
};

/* A pipe, a terminal or a device is written to as it is, never replaced. Both return 0 or CHIL_EIO.
 */
int view_file_open(struct view_file *output, const char *path, struct chil_error *err);
/* With `good` the file gets its name; otherwise it is dropped, and 0 is returned. */
int view_file_close(struct view_file *output, bool good, struct chil_error *err);

#endif
