/* What tests may see of the reference model: its raw state and how much work it did. */
#ifndef UPC_REF_H
#define UPC_REF_H

#include "measure/upc/upc_impl.h"

struct upc_ref_counter {
    uint32_t low;    /* the live part */
    bool carry;      /* the latch */
    bool armed;      /* the match indicator */
    uint64_t word;   /* the array word */
    uint64_t parity; /* its parity bits, one per byte of the word */
};

struct upc_ref_work {
    uint64_t visits, increments; /* by the maintenance machine: at most one of each per slot */
    uint64_t compares;           /* by the maintenance machine */
    uint64_t lost_carries; /* carries that found their latch full: never, in a geometry that is
                              accepted */
};

const struct upc_ref_counter *upc_ref_counter(const struct chil_upc *upc, uint32_t counter);
const struct upc_ref_work *upc_ref_work(const struct chil_upc *upc);
/* For the test that shows why geometries are checked: a reference unit of a geometry that loses
 * carries. */
struct chil_upc *upc_ref_unchecked(const struct chil_upc_geometry *geometry);

#endif
