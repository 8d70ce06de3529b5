/* Functions of OpenMP, POSIX threads and MPI that mean something to people who look at call paths.
 */
#ifndef OBSERVE_ROLES_H
#define OBSERVE_ROLES_H

#include "machine/core/core_record.h"

struct observe_role {
    const char *pattern;         /* of the symbol, without underscores in front; as in a shell */
    const char *construct;       /* of the language, shown instead of the function; NULL: none */
    const char *paradigm, *role; /* the CUBE words */
    enum record_role record;
};

/* Of a function and the path of its file; NULL: an ordinary one. */
const struct observe_role *observe_role_find(const char *symbol, const char *object);

#endif
