/* Demangles C++ names with libiberty, and gfortran's module names.
 *
 * A mangled name of a few hundred characters can expand to gigabytes, and symbol tables are not
 * trusted. So the callback leaves the demangler by longjmp at NAME_LONGEST; the demangler has
 * nothing allocated there. */
#include "base/name.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct taken {
    char text[NAME_LONGEST + 1];
    size_t length;
    jmp_buf enough;
};

static void take(const char *piece, size_t length, void *context)
{
    struct taken *taken = context;
    if (length > NAME_LONGEST - taken->length) longjmp(taken->enough, 1); // NOLINT(cert-err52-cpp)
    memcpy(taken->text + taken->length, piece, length);
    taken->length += length;
}

static char *copy(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(base_calloc(size, 1), text, size);
}

static char *demangle(const char *name)
{
    struct taken *taken = base_calloc(1, sizeof *taken);
    char *result = NULL;
    if (!setjmp(taken->enough) && // NOLINT(cert-err52-cpp)
        cplus_demangle_v3_callback(name, DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP, take, taken))
        result = copy(taken->text);
    free(taken);
    return result;
}

char *name_written(const char *name)
{
    static const char between[] = "_MOD_";
    if (strncmp(name, "_Z", 2) == 0) return demangle(name);
    const char *end = strncmp(name, "__", 2) == 0 ? strstr(name, between) : NULL;
    if (!end || end == name + 2) return NULL;
    const char *procedure = end + strlen(between);
    size_t size = strlen(name) + 1;
    char *result = base_calloc(size, 1);
    (void)snprintf(result, size, "%.*s::%s", (int)(end - name - 2), name + 2, procedure);
    return result;
}
