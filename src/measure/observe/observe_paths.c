/* Call paths as text, and the section that each is in.
 *
 * A path gets its number at its first transaction. Paths of other
 * threads and cores with the same functions have the same text, so the same number. Stubs of
 * linkage tables are part of their callers; a section of libHPM, and any other region, stands in
 * the path where the program began it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "machine/core/core_record.h"
#include "measure/observe/observe_names.h"
#include "measure/observe/observe_symbols.h"

/* A longer path loses its beginning. */
enum { PATH_TEXT = 4000 };
static const char between[] = " > ", cut[] = "... > ";

struct observe_paths {
    struct chil_ranges *callpaths, *sections;
    struct known {
        bool is;
        uint32_t callpath, section;
    } * known; /* by number of the path */
    size_t capacity;
};

struct observe_paths *observe_paths_new(struct chil_ranges *callpaths, struct chil_ranges *sections)
{
    struct observe_paths *paths = base_calloc(1, sizeof *paths);
    paths->callpaths = callpaths;
    paths->sections = sections;
    return paths;
}

void observe_paths_free(struct observe_paths *paths)
{
    if (paths) free(paths->known);
    free(paths);
}

static const char *name_of(const struct record_path *path)
{
    const struct observe_symbol *symbol = path->symbol;
    bool shown = symbol && path->kind != RECORD_INSIDE && !path->function->stub;
    return shown ? observe_symbols_name(symbol) : NULL;
}

/* From the end, which is there in any case. */
static const char *text_of(const struct record_path *path, char text[PATH_TEXT])
{
    char *at = text + PATH_TEXT - 1;
    *at = 0;
    for (; path; path = path->parent) {
        const char *name = name_of(path);
        size_t length = name ? strlen(name) : 0, joint = *at ? sizeof between - 1 : 0;
        if (!name) continue;
        if ((size_t)(at - text) < length + joint + sizeof cut) {
            if (!*at) return "...";
            at -= sizeof cut - 1;
            memcpy(at, cut, sizeof cut - 1);
            break;
        }
        at -= joint;
        memcpy(at, between, joint);
        at -= length;
        memcpy(at, name, length);
    }
    return at;
}

static uint32_t section_of(const struct observe_paths *paths, const struct record_path *path)
{
    while (path && path->kind != RECORD_REGION)
        path = path->parent;
    const struct observe_symbol *symbol = path ? path->symbol : NULL;
    return symbol ? chil_ranges_name(paths->sections, observe_symbols_name(symbol)) : 0;
}

static __attribute__((noinline)) void find_out(struct observe_paths *paths,
                                               const struct record_path *path)
{
    size_t before = paths->capacity;
    if (path->number >= before) {
        paths->known =
            base_grow(paths->known, &paths->capacity, path->number + 1, sizeof *paths->known);
        memset(paths->known + before, 0, (paths->capacity - before) * sizeof *paths->known);
    }
    struct known *known = &paths->known[path->number];
    char text[PATH_TEXT];
    known->is = true;
    if (paths->callpaths) known->callpath = chil_ranges_name(paths->callpaths, text_of(path, text));
    if (paths->sections) known->section = section_of(paths, path);
}

void observe_paths_look_up(struct observe_paths *paths, const struct record_path *path,
                           uint32_t *callpath, uint32_t *section)
{
    if (!path) return;
    if (path->number >= paths->capacity || !paths->known[path->number].is) find_out(paths, path);
    *callpath = paths->known[path->number].callpath;
    *section = paths->known[path->number].section;
}
