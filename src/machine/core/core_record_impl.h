/* Inside recording: the tree of paths (core_record_tree.c), how cores move in it (core_record.c),
 * and functions that other threads begin with (core_record_starts.c). */
#ifndef CORE_RECORD_IMPL_H
#define CORE_RECORD_IMPL_H

#include "machine/core/core_impl.h"
#include "machine/core/core_record.h"

enum { RECORD_FUNCTIONS = 4096, RECORD_EDGES = 4096 };

/* An edge of the call graph that was taken before: a cache of path lookups. */
struct edge {
    const struct record_path *from;
    struct record_path *path;
    struct record_site *site; /* NULL: not by a call */
    uint32_t to;              /* + 1 for a jump, which replaces `from` */
    uint32_t back;            /* where the callee will return to */
};

struct record {
    struct record_options options;
    unsigned turn; /* the current one */
    struct cache_attributor *attributor;
    struct record_thread *threads;
    struct record_path **paths;
    size_t path_count, path_capacity;
    struct record_function nowhere; /* of roots and regions */
    struct record_function *functions[RECORD_FUNCTIONS];
    struct edge edges[RECORD_EDGES], once; /* by a hash; and one for edges that are not cached */
    struct record_start *starts;           /* the latest first */
    size_t start_count;
};

/* --- The tree -------------------------------------------------------------------------------- */

/* Sets a block's function, and its index there. Cores that are in the function get room for its
 * count at once. */
void record_name_block(const struct core *core, const struct code *code, struct block *block,
                       bool called);
uint32_t record_block_index(struct record_function *function, const struct record_block *block);
void record_path_grow(struct record_path *path);

struct record_path *record_root_get(struct record *record, struct record_thread *thread,
                                    unsigned core, const void *symbol);
/* `at`: the call site, for functions with a path per call site; else 0. */
struct record_path *record_child_get(struct record *record, struct record_path *parent,
                                     enum record_kind kind, struct record_function *function,
                                     const void *symbol, uint32_t at);
/* The path of a function that is called; `at` is where, 0 for unknown. */
struct record_path *record_callee_get(struct record *record, struct record_path *from,
                                      struct record_function *function, uint32_t at);
/* The same path on another core, or in another thread. */
struct record_path *record_twin(struct record *record, const struct record_path *path,
                                struct record_thread *thread, unsigned core);
struct record_site *record_site_get(struct record_path *path, const struct record_function *caller,
                                    uint32_t at);

/* --- Starts ---------------------------------------------------------------------------------- */

/* A function that forks or creates is called in this path, with its arguments in registers. */
void record_starts_announce(struct core *core, struct record_path *path);
/* The path below which the core's thread starts with the code at `to`, in its own tree, or NULL: it
 * is an ordinary call. `is_start`: some thread starts there, so the edge is not cached. */
struct record_path *record_starts_take(struct core *core, uint32_t to, bool *is_start);
void record_starts_forget(struct record *record, int pid); /* another program */
void record_starts_free(struct record *record);

#endif
