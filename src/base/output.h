/* Output files: one way for every file that Chiliad writes for its user.
 *
 *   1. It is opened before the work begins, so a wrong path is an error at once.
 *   2. The folder is held by a descriptor. A program that runs meanwhile and changes names there
 *      does not change where the output goes.
 *   3. A symbolic link with the output's name is replaced, never followed: an earlier program may
 *      have left it. Links below /dev and /proc are the system's, and are followed.
 *   4. The file has no name (O_TMPFILE) until it is complete, so whatever ends the simulator leaves
 *      nothing. A file system without such files gets a temporary name, .NAME.PID.N.
 *   5. A new file has the mode that umask leaves of 0666; one that is replaced keeps its own.
 *   6. FIFOs, terminals and devices that the user named are written as they are.
 *
 * Terms: docs/glossary.md
 */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include <stdbool.h>
#include <sys/types.h>

#include "chiliad/error.h"

struct output {
    char *path; /* as the user wrote it */
    int fd;     /* to be written */
    bool in_place;
    int folder;
    const char *name;    /* in it, part of path */
    char temporary[300]; /* its name until it is complete; "" without */
    mode_t mode;         /* of the file that it replaces; 0: none */
};

/* Both return 0 or CHIL_EIO. */
int output_open(struct output *output, const char *path, struct chil_error *err);
/* With `good` the file gets its name; otherwise it is dropped, and 0 is returned. */
int output_close(struct output *output, bool good, struct chil_error *err);

#endif
