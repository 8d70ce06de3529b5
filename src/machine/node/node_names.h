/* Names that come up in a run (struct chil_run_names): whose code and data an address is in its
 * process, where a block of the heap was allocated, the call path and the section that a core is
 * in. Nothing of it exists unless it is asked for.
 */
#ifndef NODE_NAMES_H
#define NODE_NAMES_H

#include "machine/node/node.h"

struct node_sites;
struct node_paths;
struct record_call;
struct record_path;

/* --- Functions and data of processes (node_names.c) ------------------------------------------ */

struct node_names *node_names_new(struct chil_run *run); /* NULL: nothing is asked for */
void node_names_free(struct node_names *names);
/* Of a transaction and a record whose addresses are there already, on this core. */
void node_names_transaction(struct chil_run *run, const struct core *core,
                            struct chil_transaction *transaction);
void node_names_record(struct chil_run *run, unsigned core, const struct core_step *step,
                       struct chil_trace_record *record);
/* A callback of the system. */
void node_names_memory(void *context, enum os_memory what, const struct mem *mem,
                       const struct mem *from);
/* The sites of a run, and the heap of an address space; NULL: nobody asks for them. */
struct node_sites *node_names_sites(const struct node_names *names);
struct node_heap *node_names_heap(struct node_names *names, const struct mem *mem);

/* --- A heap: which block an address is in, to the word (node_heap.c) ------------------------- */

struct node_heap *node_heap_new(void);
struct node_heap *node_heap_copy(const struct node_heap *heap);
void node_heap_free(struct node_heap *heap);
/* A block of a site, which is not 0; a block that began there is gone. */
void node_heap_add(struct node_heap *heap, uint32_t address, uint32_t size, uint32_t site);
void node_heap_remove(struct node_heap *heap, uint32_t address);
uint32_t node_heap_look_up(const struct node_heap *heap,
                           uint32_t address); /* its site; 0: in no block */

/* --- Where blocks are allocated (node_sites.c) ----------------------------------------------- */

/* Names go to both tables, each may be NULL. */
struct node_sites *node_sites_new(struct chil_ranges *names, struct chil_ranges *symbols);
void node_sites_free(struct node_sites *sites);
uint32_t node_sites_name(const struct node_sites *sites, uint32_t site); /* its number in `names` */
uint32_t node_sites_symbol(const struct node_sites *sites, uint32_t site); /* and in `symbols` */
/* For record_options: whether a function allocates or frees, and its calls; `context` is the run.
 */
uint8_t node_sites_told(void *context, const void *symbol);
void node_sites_called(void *context, const struct record_call *call);
void node_sites_returned(void *context, const struct record_call *call, uint32_t result);

/* --- Call paths and sections (node_paths.c) -------------------------------------------------- */

struct node_paths *node_paths_new(struct chil_ranges *callpaths, struct chil_ranges *sections);
void node_paths_free(struct node_paths *paths);
/* Their numbers; 0 without a table, and in no section. */
void node_paths_look_up(struct node_paths *paths, const struct record_path *path,
                        uint32_t *callpath, uint32_t *section);

#endif
