/* Inside chiliad list: what its files share. */
#ifndef CMD_LIST_H
#define CMD_LIST_H

#include "cmd/cmd.h"

/* A JSON array, an object a line; an object is dropped when it has been printed. */
void list_print_object(json_t *object, size_t index);
void list_print_array_end(size_t count);

/* Specifications of metrics, or platforms with their counter sets; `words` are names to show in
 * full. */
int list_metrics(bool sets, bool json, char **words, int count);

#endif
