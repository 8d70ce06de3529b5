/* The tables of names of a run (struct chil_run_names): function and data symbol of an address in
 * its process, the site that allocated a heap block, the call path and section of a core. A table
 * that the caller does not want is not made.
 */
#ifndef OBSERVE_NAMES_H
#define OBSERVE_NAMES_H

#include "measure/observe/observe.h"

struct observe_sites;
struct observe_paths;
struct record_call;
struct record_path;

/* --- Functions and data of processes (observe_names.c) ------------------------------------------
 */

struct observe_names *observe_names_new(struct observe *observe); /* NULL: none is wanted */
void observe_names_free(struct observe_names *names);
/* Of a transaction and a record whose addresses are there already, on this core. */
void observe_names_transaction(struct observe_names *names, const struct core *core,
                               struct chil_transaction *transaction);
void observe_names_record(struct observe_names *names, unsigned core, const struct core_step *step,
                          struct chil_trace_record *record);
/* The sites of a run, and the heap of an address space; NULL: not wanted. */
struct observe_sites *observe_names_sites(const struct observe_names *names);
struct observe_heap *observe_names_heap(struct observe_names *names, const struct mem *mem);

/* --- A heap: which block an address is in, to the word (observe_heap.c) -------------------------
 */

struct observe_heap *observe_heap_new(void);
struct observe_heap *observe_heap_copy(const struct observe_heap *heap);
void observe_heap_free(struct observe_heap *heap);
/* A block of a site, which is not 0; a block that began there is gone. */
void observe_heap_add(struct observe_heap *heap, uint32_t address, uint32_t size, uint32_t site);
void observe_heap_remove(struct observe_heap *heap, uint32_t address);
uint32_t observe_heap_look_up(const struct observe_heap *heap,
                              uint32_t address); /* its site; 0: in no block */

/* --- Where blocks are allocated (observe_sites.c) -----------------------------------------------
 */

/* Names go to both tables, each may be NULL. */
struct observe_sites *observe_sites_new(struct chil_ranges *names, struct chil_ranges *symbols);
void observe_sites_free(struct observe_sites *sites);
uint32_t observe_sites_name(const struct observe_sites *sites,
                            uint32_t site); /* its number in `names` */
uint32_t observe_sites_symbol(const struct observe_sites *sites,
                              uint32_t site); /* and in `symbols` */
/* For record_options: whether a function allocates or frees, and its calls; `context` is the
 * struct observe. */
uint8_t observe_sites_call_id(void *context, const void *symbol);
void observe_sites_called(void *context, const struct record_call *call);
void observe_sites_returned(void *context, const struct record_call *call, uint32_t result);

/* --- Call paths and sections (observe_paths.c) --------------------------------------------------
 */

struct observe_paths *observe_paths_new(struct chil_ranges *callpaths,
                                        struct chil_ranges *sections);
void observe_paths_free(struct observe_paths *paths);
/* Their numbers; 0 without a table, and in no section. */
void observe_paths_look_up(struct observe_paths *paths, const struct record_path *path,
                           uint32_t *callpath, uint32_t *section);

#endif
