/* The rows of data/events/bgp.events that the library needs, by id. Only for guest/lib/bgp_upc*.c. */
#ifndef BGP_UPC_NAMES_H
#define BGP_UPC_NAMES_H

#include "spi/UPC.h"

struct bgp_upc_event {
    const char *name, *text;   /* NULL for a reserved id */
    BGP_UPC_Event_Edge_t edge; /* what EDGE_DEFAULT stands for */
};

extern const struct bgp_upc_event bgp_upc_events[BGP_UPC_MAXIMUM_EVENT_ID + 1];

#endif
