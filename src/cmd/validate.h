/* Inside chiliad validate: the cells of the paper's table, the options, and the samples. */
#ifndef CMD_VALIDATE_H
#define CMD_VALIDATE_H

#include "cmd/cmd.h"

/* A count of a function: expected, and how far off the paper's simulator was. */
enum { VALIDATE_NO_ERROR = INT32_MIN, VALIDATE_CELLS = 46 }; /* the paper gives no error */
struct validate_cell {
    const char *function, *counter;
    int64_t expected, paper_error;
};
extern const struct validate_cell validate_cells[VALIDATE_CELLS];

struct validate_options {
    const char *machine, *program;
    char found[4096]; /* the program, unless it was given */
    uint64_t draws;
    bool json, no_sandbox;
};

/* The values of one cell, one for each draw. */
struct validate_sample {
    int64_t *value;
    uint64_t draws, count; /* wanted, found */
};

/* A table, or JSON with all values; `samples` by cell. */
void validate_print(const struct chil_machine *machine, const struct validate_options *o,
                    const struct validate_sample *samples);

#endif
