/* Devices of a node whose registers a program loads and stores: the counter unit of Blue Gene/P
 * (device_upc.c) and the board of the SHRIMP monitor (device_board.c). A device is attached to the
 * node when it is made. Terms: docs/glossary.md.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include "chiliad/monitor.h"
#include "machine/node/node.h"

/* --- The counter unit ------------------------------------------------------------------------ */

struct device_upc;
struct device_upc *device_upc_new(struct node *node); /* NULL: the machine has another unit */
void device_upc_free(struct device_upc *unit);

/* --- The monitor board ----------------------------------------------------------------------- */

#define DEVICE_BOARD_PAGE UINT32_C(0xFFFDB000) /* of its registers: behind the counter unit's */

/* Notified when the board was started or stopped, and before its category changes. */
struct device_board_listener {
    void *context;
    void (*running)(void *context);
    void (*category)(void *context);
};

struct device_board;
struct device_board *device_board_new(struct node *node,
                                      const struct device_board_listener *listener);
void device_board_free(struct device_board *board);
bool device_board_running(const struct device_board *board);
uint8_t device_board_category(const struct device_board *board); /* of all transactions now */
uint8_t device_board_tag(const struct device_board *board, uint32_t address); /* of its page */
/* A transaction has happened: sets its tag, and counts it if the board runs. */
void device_board_notify(struct device_board *board, struct chil_transaction *transaction);

#endif
