/* bgl_perfctr: the counters of Blue Gene/L's chip, with the limits they have there.
 *
 * 48 counters of 32 bits in 16 groups of three, and two in each of the two FPUs. An event can sit only in the few
 * places that its row of BGL_PERFCTR_event_table names; when all of them are taken it is refused. No event counts
 * instructions or L1 accesses. The simulator's own counters have none of these limits: bglcounters.h.
 *
 *     BGL_PERFCTR_event_t hits = {BGL_UPC_L3_CACHE_HIT, BGL_PERFCTR_UPC_EDGE_RISE};
 *     bgl_perfctr_init_synch(BGL_PERFCTR_MODE_LOCAL);
 *     bgl_perfctr_add_event(hits);
 *     bgl_perfctr_commit();                             from here on it is counted
 *     ...
 *     bgl_perfctr_copy_counters(values, sizeof values); by counter; hwstate()->map says which event has which
 *     bgl_perfctr_shutdown();
 *
 * Added and removed events take effect together, at the commit. Counts are 64 bits wide: the library adds up what the
 * registers have gained since it last looked, so it must look before a register gains 2^32. All calls return 0 or a
 * negative number, init_synch the mode. They may come from any thread. bgl_perfctr(3) says which call fails when.
 */
#ifndef BGL_PERFCTR_H
#define BGL_PERFCTR_H

#include <stddef.h>
#include <stdio.h>

#include "bgl_perfctr_events.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BGL_PERFCTR_NUM_COUNTERS 52
#define BGL_PERFCTR_NUM_CTRL     18

/* Who looks at the registers. */
#define BGL_PERFCTR_MODE_LOCAL  0   /* the program, with calls */
#define BGL_PERFCTR_MODE_REMOTE 90  /* also a service outside the node: not here */
#define BGL_PERFCTR_MODE_ASYNC  100 /* also a timer: SIGALRM */
#define BGL_PERFCTR_MODE_SYNC   200 /* likewise, with a barrier of all nodes before it is started */

typedef struct BGL_PERFCTR_event {
    BGL_PERFCTR_event_num_t num;
    unsigned int edge;
} BGL_PERFCTR_event_t;

typedef struct bgl_perfctr_control_map {
    BGL_PERFCTR_event_t event;
    int counter_register; /* 3 x group + counter; 48 and up: the FPUs. The place in vdata */
    int cntrl_register;   /* group */
    int ref_count;        /* how often it is added; 0 before its first commit */
    int new_count;        /* and will be after the next commit */
} bgl_perfctr_control_map_t;

typedef struct bgl_perfctr_remote_flag {
    unsigned collect : 1;
} bgl_perfctr_remote_flag_t;

/* All there is to know. The fields gen_end, gen_start, defn_id and remote_flag are the remote service's: 0 here. */
typedef struct bgl_perfctr_control {
    volatile unsigned int gen_end;
    unsigned int defn_id;
    unsigned long long in_use;        /* a bit for each counter, bit 0 the least significant */
    unsigned long long modified;      /* groups that the next commit changes */
    volatile long long latest_update; /* timebase when the registers were last looked at */
    bgl_perfctr_remote_flag_t remote_flag;
    unsigned long long vdata[BGL_PERFCTR_NUM_COUNTERS]; /* counts since their commits */
    volatile unsigned int gen_start;
    unsigned int ctrl[BGL_PERFCTR_NUM_CTRL];     /* control words of the groups */
    unsigned int last[BGL_PERFCTR_NUM_COUNTERS]; /* registers when last looked at */
    int nmapped;
    bgl_perfctr_control_map_t map[BGL_PERFCTR_NUM_COUNTERS]; /* by event number */
} bgl_perfctr_control_t;

int bgl_perfctr_init_synch(int mode);
int bgl_perfctr_shutdown(void);

int bgl_perfctr_add_event(BGL_PERFCTR_event_t event);
int bgl_perfctr_remove_event(BGL_PERFCTR_event_t event);
int bgl_perfctr_commit(void);
int bgl_perfctr_revoke(void);
int bgl_perfctr_add_remote_counters(void);

int bgl_perfctr_update(void);
int bgl_perfctr_copy_counters(unsigned long long values[], size_t size_of_values);
int bgl_perfctr_copy_state(bgl_perfctr_control_t *hw_state, size_t size_of_buffer);
int bgl_perfctr_dump_state(FILE *fh);
bgl_perfctr_control_t *bgl_perfctr_hwstate(void);

#ifdef __cplusplus
}
#endif
#endif
