/* The event ids are in UPC.h; programs of the time include this name. */
#include "UPC.h"
