/* The machines of Blue Gene, for tests: as the shipped files describe them, and with round figures.
 */
#ifndef RIG_BLUEGENE_H
#define RIG_BLUEGENE_H

#include <stdbool.h>
#include <stddef.h>

#include "chiliad/catalog.h"
#include "machine/cache/cache.h"

/* data/machines/NAME.machine, with `count` settings as `--set` takes them. Anything wrong fails the
 * test. */
struct chil_machine *rig_machine_file(const char *name);
struct chil_machine *rig_machine_file_with(const char *name, const char *const *settings,
                                           size_t count);

/* The memory hierarchy that such a file describes. */
struct cache_config rig_bluegene(const char *name);
struct cache_config rig_bluegene_with(const char *name, const char *const *settings, size_t count);

/* A hierarchy of Blue Gene/P's shape or Blue Gene/L's, with round figures that do not depend on the
 * data files: L2, L3 and DDR stall a load for 8, 46 and 100 cycles, a TLB miss for 40. */
struct cache_config rig_bluegene_round(bool p);

#endif
