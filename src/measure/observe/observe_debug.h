/* Inside observe: files of programs and their debugging information (observe_debug.c). */
#ifndef OBSERVE_DEBUG_H
#define OBSERVE_DEBUG_H

#include <elfutils/libdwfl.h>

#include "machine/os/os.h"

/* A copy of a regular file that the user named; NULL and CHIL_ENOENT or CHIL_EIO. */
struct os_image *observe_image(const char *path, struct chil_error *err);

/* The module of the file, as if it were loaded at `base`; NULL when it has no readable information
 * of its own. *dwfl is to be ended in any case. */
Dwfl_Module *observe_debug_open(Dwfl **dwfl, const char *name, const struct os_image *image,
                                GElf_Addr base);

#endif
