/* Inside chiliad upc: what its files share. */
#ifndef CMD_UPC_H
#define CMD_UPC_H

#include "cmd/cmd.h"

struct upc_options {
    const char *machine;
    bool json, reference;
    uint64_t poll;
};

/* Prints and frees the value. Returns 0, or CMD_BAD after reporting the error. */
int upc_print_json(json_t *json);
int upc_info(const struct chil_machine *machine, const struct upc_options *options);
/* Returns 1 when the two models differ. */
int upc_run(const char *path, const struct chil_machine *machine,
            const struct upc_options *options);

#endif
