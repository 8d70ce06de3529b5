/* Observers of a node: for the caller of chil_run_new (chiliad/run.h) and for the program itself.
 * They are attached to the node (machine/node/node.h), which does not know them. They change no
 * time and no count.
 *
 *   observe_transactions   every transaction of the memory hierarchy, to the caller and the board
 *   observe_trace          every instruction, to the caller
 *   observe_record         call paths and their counts
 *   observe_code           counts of the memory hierarchy by instruction, with the call paths
 *   observe_mpi            calls and messages of MPI, which the program's library notifies of
 *   observe_counters       the simulator's own counters, per process, for the program
 *   observe_events         all events of the catalogue, per thread, for the program
 *   observe_names          names of functions, data, heap blocks and call paths
 *   observe_symbols        symbols and lines of mapped files
 *
 * Terms: docs/glossary.md.
 */
#ifndef OBSERVE_H
#define OBSERVE_H

#include "chiliad/run.h"
#include "machine/node/node.h"

struct observe_transactions;
struct observe_trace;
struct observe_record;
struct observe_code;
struct observe_mpi;
struct observe_counters;
struct observe_events;
struct observe_names;
struct observe_symbols;

struct observe {
    struct node *node;
    unsigned number;                 /* the node's */
    struct chil_run_options options; /* what the caller wants */
    bool trace_on;                   /* the switch, whether there is a trace or not */
    struct node_service trace_service, region_service; /* of the program, always there */
    struct core *accessing; /* the core whose data access is being reported; NULL: none */
    struct observe_symbols *symbols;
    struct observe_names *names;   /* NULL: not wanted */
    struct observe_trace *trace;   /* NULL: likewise */
    struct observe_record *record; /* NULL: likewise */
    struct observe_code *code;     /* NULL: likewise */
    struct observe_mpi *mpi;
    struct observe_transactions *transactions;
    struct observe_counters *counters;
    struct observe_events *events;
};

/* Two steps, because the trace and the call paths are hooks of the cores: `init` comes between
 * node_new and node_make_cores, `attach` after it. */
void observe_init(struct observe *observe, struct node *node,
                  const struct chil_run_options *options);
void observe_attach(struct observe *observe);
void observe_fini(struct observe *observe); /* after node_free */

/* --- Transactions (observe_transactions.c) --------------------------------------------------- */

struct observe_transactions *observe_transactions_new(struct observe *observe);
void observe_transactions_free(struct observe_transactions *transactions);
/* The board's category register now, and its tag of a page. */
uint8_t observe_category(const struct observe *observe);
uint8_t observe_tag(const struct observe *observe, uint32_t address);

/* --- The trace (observe_trace.c) ------------------------------------------------------------- */

struct observe_trace *observe_trace_new(struct observe *observe); /* NULL: not wanted */
struct core_trace *observe_trace_of_cores(struct observe_trace *trace);
void observe_trace_free(struct observe_trace *trace);
void observe_trace_attach(struct observe *observe); /* with the program's switch, always there */
bool observe_trace_switch(struct observe *observe, bool on); /* false: there is no trace */

/* --- Call paths (observe_record.c) ----------------------------------------------------------- */

struct observe_record *observe_record_new(struct observe *observe); /* NULL: not wanted */
struct record *observe_record_of_cores(struct observe_record *record);
void observe_record_free(struct observe_record *record);
void observe_record_attach(struct observe *observe); /* with the program's regions */

/* --- MPI (observe_mpi.c) --------------------------------------------------------------------- */

void observe_mpi_attach(struct observe *observe);
void observe_mpi_free(struct observe_mpi *mpi);

/* --- Memory by instruction (observe_code.c) -------------------------------------------------- */

struct cache;
struct record_function;
struct observe_code *observe_code_new(const struct observe *observe); /* NULL: not wanted */
void observe_code_attach(struct observe *observe);
void observe_code_free(struct observe_code *code);
/* Adds what the hierarchy counted for an instruction of a function to `counts` (cache_counts_new);
 * false: nothing. */
bool observe_code_add(const struct observe_code *code, const struct record_function *function,
                      uint32_t pc, struct cache *counts);

/* --- Counters and events for the program (observe_counters.c, observe_events.c) -------------- */

struct counters;
struct observe_counters *observe_counters_new(struct node *node);
struct counters *observe_counters_get(struct observe_counters *counters); /* for tests */
void observe_counters_free(struct observe_counters *counters);
struct observe_events *observe_events_new(struct node *node);
void observe_events_free(struct observe_events *events);

/* --- Files of programs (observe_program.c, observe_ranges.c) --------------------------------- */

/* Where an address lies in a program: "function+0x10 (file.c:12)", as far as its symbols say; ""
 * otherwise. */
void observe_place(const char *program, const struct os_image *image, uint32_t address,
                   char *buffer, size_t size);

/* The compiler that a program names in its section .comment, as "GCC 12.2.0"; "" if it names none.
 */
void observe_compiler(const struct os_image *image, char *buffer, size_t size);

/* The ranges of a file that is mapped `bias` away from its own addresses. `prefix`: of the names of
 * its sections, for libraries; NULL: it is the program, with areas around it. A file that cannot be
 * read has none. */
void observe_file_ranges(const struct os_object *object, enum chil_program_part part, uint32_t bias,
                         const char *prefix, chil_program_range report, void *context);

#endif
