/* Ranks: processes that OpenMPI started together (mpirun -np R chiliad ...), and what they
 * exchange.
 *
 * The library of OpenMPI is loaded when mpirun started this process, and not otherwise: a plain run
 * knows nothing of it, and a build needs none of its headers. Messages go between all pairs at
 * once; every rank calls the same functions in the same order.
 *
 * Terms: docs/glossary.md
 */
#ifndef BASE_RANKS_H
#define BASE_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chiliad/error.h"

struct ranks;

/* *ranks is NULL when this process is the only one. */
int ranks_start(struct ranks **ranks, struct chil_error *err);
/* After the last exchange, which waits for all; or before it, and then that of the others fails. */
void ranks_end(struct ranks *ranks);

unsigned ranks_self(const struct ranks *ranks);
unsigned ranks_count(const struct ranks *ranks);

struct ranks_message {
    uint8_t *bytes;
    size_t count, capacity;
};
void ranks_message_add(struct ranks_message *message, const void *bytes, size_t count);

/* Sends out[r] to each rank r and takes what each has sent into in[r]; both have an element for
 * each rank, the own one is not used. `stops`, may be NULL, is asked while ranks are awaited: true
 * gives up after half a second more, since one of them may be gone. Returns whether all came and
 * none is at its end. */
bool ranks_exchange(struct ranks *ranks, const struct ranks_message *out, struct ranks_message *in,
                    bool (*stops)(void *context), void *context);

#endif
