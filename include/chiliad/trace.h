/* Traces as files: compact, written and read record by record, the same bits for the same run.
 *
 * A trace holds instructions (all, or those with a data access), transactions of the memory
 * hierarchy or of the torus, one kind in a file, and for whom they are: node, process, thread,
 * core. One record may be marked as the trigger: what
 * the trace is about. docs/formats/trace.md has the bytes. A writer or a reader belongs to one
 * thread at a time; they share nothing.
 */
#ifndef CHILIAD_TRACE_H
#define CHILIAD_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "chiliad/error.h"
#include "chiliad/monitor.h"
#include "chiliad/run.h"

#ifdef __cplusplus
extern "C" {
#endif

enum chil_trace_kind {
    CHIL_TRACE_INSTRUCTION,
    CHIL_TRACE_MEMORY,
    CHIL_TRACE_TRANSACTION,
    CHIL_TRACE_PACKET, /* transactions, of kinds packet and hop */
    CHIL_TRACE_KINDS
};
const char *chil_trace_kind_name(enum chil_trace_kind kind); /* "instruction", "memory", ... */
static inline bool chil_trace_has_transactions(enum chil_trace_kind kind)
{
    return kind >= CHIL_TRACE_TRANSACTION;
}

/* What is said once. All is borrowed, by a writer until chil_trace_writer_new returns, from a
 * reader until it is freed.
 */
enum { CHIL_TRACE_NAMES = 256, CHIL_TRACE_NAME = 4096 };
struct chil_trace_head {
    enum chil_trace_kind kind;
    uint32_t clock_mhz; /* of the cycles */
    uint32_t torus[3];  /* how many nodes in x, y, z; 0: one node */
    const char *machine, *program;
    uint32_t program_crc; /* CRC-32 of the program's file: whether names from it are those of the
                             trace */
    const char *tags[CHIL_TRACE_NAMES], *categories[CHIL_TRACE_NAMES]; /* by number; fewer: NULL */
    size_t tag_count, category_count; /* 0: numbers have no names */
};

static inline uint32_t chil_trace_nodes(const struct chil_trace_head *head)
{
    return head->torus[0] ? head->torus[0] * head->torus[1] * head->torus[2] : 1;
}

/* CRC-32 of a file; 0 when it cannot be read. */
uint32_t chil_trace_crc(const char *path);

struct chil_trace_writer;

/* Writes to `out`, which stays the caller's, with the file's beginning at once. CHIL_ERANGE: a name
 * is too long. */
int chil_trace_writer_new(struct chil_trace_writer **writer, const struct chil_trace_head *head,
                          FILE *out, struct chil_error *err);
void chil_trace_write(struct chil_trace_writer *writer, const struct chil_trace_record *record);
void chil_trace_write_transaction(struct chil_trace_writer *writer,
                                  const struct chil_transaction *transaction);
/* The next record is the trigger. */
void chil_trace_write_mark(struct chil_trace_writer *writer);
uint64_t chil_trace_written(const struct chil_trace_writer *writer); /* records */
/* Writes the end and frees the writer; a trace without its end is refused by readers. False:
 * something could not be written. */
bool chil_trace_writer_close(struct chil_trace_writer *writer);

struct chil_trace_reader;

struct chil_trace_item {
    bool trigger;
    struct chil_trace_record record;     /* of kinds instruction and memory */
    struct chil_transaction transaction; /* of kind transaction */
};

/* Reads from `in`, which stays the caller's; `name` is for messages, "NAME: byte N: ...". */
int chil_trace_reader_new(struct chil_trace_reader **reader, FILE *in, const char *name,
                          struct chil_error *err);
void chil_trace_reader_free(struct chil_trace_reader *reader);
const struct chil_trace_head *chil_trace_reader_head(const struct chil_trace_reader *reader);
/* 1: the next record; 0: the end; negative: the file is damaged there. */
int chil_trace_read(struct chil_trace_reader *reader, struct chil_trace_item *item,
                    struct chil_error *err);

#ifdef __cplusplus
}
#endif
#endif
