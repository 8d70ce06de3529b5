/* Demangles C++ names with libiberty, and gfortran's module names.
 *
 * A mangled name of a few hundred characters can expand to gigabytes, and symbol tables are not
 * trusted. So the callback leaves the demangler by longjmp at NAME_LONGEST; the demangler has
 * nothing allocated there. */
#include "base/name.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdint.h>
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

/* How many bytes the UTF-8 character takes; 0: it is none, or not to be shown. */
static size_t shown_length(const unsigned char *at)
{
    static const struct {
        unsigned char mask, is;
        uint32_t least;
    } forms[] = {{0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    if (*at < 0x80) return *at >= ' ' && *at != 0x7f;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if ((*at & forms[i].mask) != forms[i].is) continue;
        uint32_t code = (unsigned char)~forms[i].mask & *at;
        for (size_t k = 1; k < i + 2; k++) {
            if ((at[k] & 0xc0) != 0x80) return 0;
            code = code << 6 | (at[k] & 0x3f);
        }
        bool hides = (code >= 0x80 && code < 0xa0) || (code >= 0x200b && code <= 0x200f) ||
                     (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x2069) ||
                     code == 0xfeff || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff;
        return code >= forms[i].least && !hides ? i + 2 : 0;
    }
    return 0;
}

static char *first_hidden(const char *text)
{
    size_t length;
    while (*text && (length = shown_length((const unsigned char *)text)) > 0)
        text += length;
    return (char *)text;
}

bool name_is_printable(const char *text)
{
    return !*first_hidden(text);
}

char *name_printable(char *text)
{
    for (char *at = text; *(at = first_hidden(at));)
        *at = '?';
    return text;
}
