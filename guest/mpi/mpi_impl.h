/* What the files of the MPI library share.
 *
 *   mpi_torus.c      packets between processes: torus FIFOs, memory of a node; waiting
 *   mpi_engine.c     messages: eager and rendezvous protocol, matching, requests in progress
 *   mpi_type.c       datatypes: layout, packing        mpi_type_make.c  their constructors
 *   mpi_point.c      point to point calls              mpi_wait.c       wait, test, persistent
 * requests mpi_schedule.c   collectives as schedules          mpi_coll*.c      their algorithms and
 * calls mpi_op.c         operations                        mpi_group.c, mpi_comm.c, mpi_attr.c,
 * mpi_topo.c mpi_error.c      error classes and handlers        mpi_env.c        init, finalize,
 * abort, environment
 *
 * Handles are indices of tables (mpi_table.c). The state is one structure, `mpi`, as a process has
 * one MPI. With MPI_THREAD_MULTIPLE a call holds the lock of the library, except while it waits.
 */
#ifndef MPI_IMPL_H
#define MPI_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mpi.h"

/* ---- definitions of calls ---- */

/* A call: PMPI_NAME, and MPI_NAME as a weak name of it. */
#define MPI(type, name, arguments)                                                                 \
    extern __typeof__(PMPI_##name) MPI_##name __attribute__((weak, alias("PMPI_" #name)));         \
    type PMPI_##name arguments

/* First in a call that uses the library's state: remembers its name for messages, and locks. */
#define ENTER(name)                                                                                \
    __attribute__((cleanup(mpi_leave), unused)) const char *mpi_entered = mpi_enter("MPI_" name)
const char *mpi_enter(const char *name);
void mpi_leave(const char **entered);

#define TRY(call)                                                                                  \
    do {                                                                                           \
        int try_error = (call);                                                                    \
        if (try_error) return try_error;                                                           \
    } while (0)

/* ---- handles ---- */

enum kind {
    KIND_COMM = 1,
    KIND_GROUP,
    KIND_TYPE,
    KIND_REQUEST,
    KIND_OP,
    KIND_ERRHANDLER,
    KIND_INFO,
    KIND_WIN,
    KIND_FILE,
    KIND_KEYVAL,
    KIND_MESSAGE,
    KINDS
};
/* A new handle of an object; the object of a handle, NULL for null and wrong ones. */
int mpi_handle_new(enum kind kind, void *object);
void mpi_handle_set(int handle, void *object);
void mpi_handle_free(int handle);
void *mpi_object(enum kind kind, int handle);
int mpi_handles(enum kind kind); /* all handles of objects are less than this one */
static inline int mpi_null(enum kind kind)
{
    return (int)kind << 24;
}

void *mpi_alloc(size_t bytes); /* zeroed; ends the program when there is none */

/* ---- errors ---- */

struct comm;
struct errhandler {
    int handle, refs;
    enum kind kind;
    bool fortran;
    void *function; /* NULL: a predefined one */
};
/* Reports an error to the handler of the communicator (NULL: the world's) and returns its class.
 * The text is for the line that a fatal error prints. */
int mpi_fail(const struct comm *comm, int class, const char *text, ...)
    __attribute__((format(printf, 3, 4)));
int mpi_fail_object(int handle, struct errhandler *handler, int class, const char *text);
_Noreturn void mpi_abort(int code);

/* ---- datatypes ---- */

/* Consecutive values of one basic type. */
struct block {
    MPI_Aint at;
    uint32_t count;
    uint32_t basic; /* number of a predefined type */
};

struct type {
    int handle, refs;
    bool predefined, committed, has_lb, has_ub, dense; /* dense: no gaps, also between elements */
    MPI_Aint lb, ub, true_lb, true_ub;
    size_t size;
    uint32_t align, block_count;
    const struct block *blocks;
    uint32_t *before; /* packed bytes before each block, and in all */
    int combiner, integer_count, address_count, type_count;
    int *integers;
    MPI_Aint *addresses;
    struct type **types;
    struct attribute *attributes;
    char *name;
};

struct basic {
    const char *name;
    uint8_t size, align, class;
};
enum {
    BASIC_COUNT = 0x41,
    BASIC_BYTE = 4,
    BASIC_PACKED = 0x11,
    BASIC_LB = 0x12,
    BASIC_UB = 0x13,
    BASIC_PAIRS = 0x38
};
extern const struct basic mpi_basics[BASIC_COUNT];
void mpi_type_init(void);
struct type *mpi_type(MPI_Datatype handle);
static inline MPI_Aint type_extent(const struct type *type)
{
    return type->ub - type->lb;
}
void mpi_type_retain(struct type *type);
void mpi_type_release(struct type *type);
/* Copies bytes [position, position + bytes) of the packed form of count elements at `buffer`. */
void mpi_type_pack(const struct type *type, const void *buffer, size_t position, void *to,
                   size_t bytes);
void mpi_type_unpack(const struct type *type, void *buffer, size_t position, const void *from,
                     size_t bytes);
/* From one layout to another one, at most as much as both have; returns bytes. */
size_t mpi_type_copy(const void *from, size_t from_count, const struct type *from_type, void *to,
                     size_t to_count, const struct type *to_type);
/* The basic type that all values have, 0: several. */
unsigned mpi_type_basic(const struct type *type);
long long mpi_type_elements(const struct type *type, size_t bytes);

/* ---- operations ---- */

struct op {
    int handle, refs;
    bool commutes, predefined, fortran;
    MPI_User_function *function;
};
struct op *mpi_op(MPI_Op handle);
/* inout = in op inout, element by element. */
void mpi_op_apply(const struct op *op, const void *in, void *inout, int count, struct type *type);
int mpi_op_check(const struct comm *comm, const struct op *op, const struct type *type);
void mpi_op_release(struct op *op);

/* ---- groups and communicators ---- */

struct group {
    int handle, refs;
    int count, rank;
    int *world; /* ranks of the world, NULL: the same numbers */
};
static inline int group_world(const struct group *group, int rank)
{
    return group->world ? group->world[rank] : rank;
}
struct group *mpi_group_new(int count, int *world_taken);
struct group *mpi_group_retain(struct group *group);
void mpi_group_release(struct group *group);
int mpi_group_find(const struct group *group, int world);

struct topo {
    int kind, refs;
    int dims, *sizes, *periods, *coords;                                  /* Cartesian */
    int nodes, *index, *edges;                                            /* graph */
    int in, out, weighted, *sources, *targets, *in_weights, *out_weights; /* distributed graph */
};

struct comm {
    int handle, refs;
    bool freed;
    uint64_t context;             /* of point to point; that + 1 of collectives */
    uint32_t collectives;         /* how many were called */
    struct group *local, *remote; /* remote: of an inter-communicator, else NULL */
    struct comm *inside;          /* the local group of an inter-communicator */
    struct errhandler *handler;
    struct attribute *attributes;
    struct topo *topo;
    struct info *info;
    char name[MPI_MAX_OBJECT_NAME];
};
static inline const struct group *comm_peers(const struct comm *comm)
{
    return comm->remote ? comm->remote : comm->local;
}
struct comm *mpi_comm(MPI_Comm handle);
struct comm *mpi_comm_new(uint64_t context, struct group *local_taken, struct group *remote_taken);
void mpi_comm_release(struct comm *comm);
int mpi_comm_wrong(MPI_Comm handle); /* the error of a wrong handle */
/* A context that was never used; mpi_context_agree: the same for all of the communicator. */
uint64_t mpi_context_new(void);
uint64_t mpi_context_agree(struct comm *comm);

/* ---- attributes ---- */

struct keyval {
    int handle, refs;
    enum kind kind;
    bool freed, fortran, fortran_int; /* callbacks by reference; with INTEGER values */
    void *copy, *erase, *extra;
};
enum { ATTR_POINTER, ATTR_INT, ATTR_AINT };
struct attribute {
    struct attribute *next;
    struct keyval *keyval;
    void *value;
    int form; /* how it was set */
};
int mpi_attr_copy_all(enum kind kind, int from, struct attribute *attributes,
                      struct attribute **to);
int mpi_attr_delete_all(int handle, struct attribute **attributes);

/* ---- requests ---- */

enum request_kind {
    REQUEST_SEND,
    REQUEST_RECEIVE,
    REQUEST_SCHEDULE,
    REQUEST_GENERAL,
};
enum send_mode { SEND_STANDARD, SEND_SYNCHRONOUS, SEND_BUFFERED, SEND_READY };

struct schedule;
struct message;
struct general;
struct request {
    int handle;
    enum request_kind kind;
    bool active, complete, persistent, freed, cancelled, internal, is_null, /* MPI_PROC_NULL */
        noted; /* started by a call that does not wait for it */
    /* what was asked for */
    struct comm *comm;
    struct type *type;
    const void *buffer;
    int count, peer, tag;
    uint64_t context;
    enum send_mode mode;
    /* progress */
    struct request *next;    /* in a queue */
    struct request *sibling; /* in a round of a schedule */
    size_t bytes, done;      /* of the message; moved so far */
    size_t room;             /* of a receiver's buffer */
    uint32_t collective;     /* MPI_CHECK: of its schedule, see mpi_check.c */
    uint32_t peer_request;   /* rendezvous: number at the other side */
    uint32_t target;         /* rendezvous by DMA: address and reception counter there */
    unsigned target_counter;
    int counter;   /* of the DMA engine, 0: none */
    char *staging; /* packed bytes for the DMA engine */
    uint16_t phase;
    int sender;                             /* rank of this process for the receiver */
    int place;                              /* of the other process: node << 2 | t */
    struct message *message;                /* unexpected one that it takes */
    struct schedule *schedule;              /* it is a step of this one, or it is this one */
    void *bounce;                           /* a copy of the data that goes with the request */
    void (*after)(struct request *request); /* called when it is complete */
    struct general *general;
    MPI_Status status;
};
struct request *mpi_request(MPI_Request handle);
struct request *mpi_request_new(enum request_kind kind);
void mpi_request_delete(struct request *request);
/* Starts what the fields ask for. */
void mpi_request_start(struct request *request);
/* To be called where a request got complete. */
void mpi_request_done(struct request *request);
void mpi_wait_for(struct request *request);
/* After completion: status to the user, error class; deletes the request or makes it inactive. */
int mpi_request_finish(struct request *request, MPI_Status *status);
struct request *mpi_isend(const void *buffer, int count, struct type *type, int peer, int tag,
                          struct comm *comm, uint64_t context, enum send_mode mode);
struct request *mpi_irecv(void *buffer, int count, struct type *type, int peer, int tag,
                          struct comm *comm, uint64_t context);
void mpi_status_set(MPI_Status *status, const MPI_Status *from);
void mpi_status_empty(MPI_Status *status);

/* ---- messages (mpi_engine.c) ---- */

/* A message that came before its receive. */
struct message {
    struct message *next;
    int handle; /* of MPI_Mprobe, or 0 */
    uint64_t context;
    int source, tag; /* source: rank in the communicator */
    int place;       /* of the sender */
    uint32_t number; /* of its request */
    size_t bytes, done;
    uint32_t check; /* of the sender (mpi_check.c) */
    bool rendezvous, wants_ack;
    char *data;
    struct request *request; /* takes it when it is whole */
};
struct message *mpi_find_message(uint64_t context, int source, int tag, bool take);
void mpi_take_message(struct message *message, struct request *request);
/* Moves what can be moved, without waiting. */
void mpi_progress(void);
/* Moves, then waits until something may have happened. Loop: while (!done) mpi_progress_wait(). */
void mpi_progress_wait(void);
/* With MPI_THREAD_MULTIPLE: the library, for one thread. */
void mpi_lock(void);
void mpi_unlock(void);
void mpi_cancel(struct request *request);
/* Takes messages of windows; NULL: there was no window (mpi_win.c). */
extern bool (*mpi_rma_incoming)(struct message *message);
/* The request that a blocking call waits for, or NULL; messages without a receive; requests. */
const struct request *mpi_awaited(void);
const struct message *mpi_unexpected(void);
unsigned mpi_live_requests(void);
void mpi_engine_quiet(void); /* until all that was to be sent is in the network */
/* At the end: reports messages that were not received and requests that were not freed. */
void mpi_engine_check(void);

/* ---- packets (mpi_torus.c) ---- */

enum { PACKET_DATA = 240 };
struct packet {
    int place;      /* of the other process */
    uint32_t type;  /* 0 to 15 */
    uint32_t word;  /* 24 bits */
    uint32_t bytes; /* of data */
    bool unordered;
    uint8_t *data; /* aligned to 16 */
};
void mpi_torus_init(void);
/* False: there is no room now. */
bool mpi_packet_send(const struct packet *packet);
/* The data stay until the next call. False: there is none. */
bool mpi_packet_receive(struct packet *packet);
/* Until a packet came; if a send was refused, also until there may be room. What happens after
 * mpi_packet_begin is not missed. */
void mpi_packet_begin(void);
void mpi_packet_wait(bool refused);
void mpi_packet_note(void);  /* before sends: what mpi_packet_wait compares with */
void mpi_packet_kick(void);  /* ends the waiting of another thread */
bool mpi_packet_holds(void); /* a packet for another process, which has to go on first */
/* Checks of both sides of a message, if mpi.check (mpi_check.c): a word that goes with the message,
 * the comparison with a request that it matches, and the collective call that comes next. */
uint32_t mpi_check_word(const struct request *r);
void mpi_check_match(const struct request *r, int source, int tag, size_t bytes, uint32_t word);
void mpi_check_collective(const struct comm *comm, int root, size_t bytes);
void mpi_check_op(const struct op *op);
uint32_t mpi_check_take(void);
/* What this process waits for, for the report of a deadlock (mpi_check.c). */
void mpi_describe_waits(char *text, size_t size);
void mpi_packet_leave(void); /* the process computes: others of the node look at the network */

/* Long messages by the DMA engine (mpi_dma.c). */
void mpi_dma_init(bool shares);
bool mpi_dma_is_there(void);
/* Receives r->bytes, to be put at an address. False: no counter is free. */
bool mpi_dma_expect(struct request *r, uint32_t *address);
/* Queues what is not queued yet. False: there is no room now. */
bool mpi_dma_put(struct request *r);
void mpi_dma_progress(void); /* requests whose counter came to 0 are complete */
bool mpi_dma_sends(void);    /* some memory is still to be read */
/* Whether transfers are under way, and the words that change when one ends. */
bool mpi_dma_moves(const volatile uint32_t **in, const volatile uint32_t **out);

/* Processes of a node (mpi_node.c): boxes of packets in memory that they share. */
bool mpi_node_init(unsigned processes, unsigned self); /* false: one process, nothing to share */
void mpi_node_lock(void);                              /* for the network's FIFOs */
void mpi_node_unlock(void);
bool mpi_node_send(unsigned to, const struct packet *packet);
bool mpi_node_receive(struct packet *packet);
/* Takes the lock if it is this process's turn to take a packet from the network: what came before
 * for it is not in its box, and no process holds a packet for a full box. */
bool mpi_node_turn(void);
/* Under the lock: a packet of the network to its process. False: its box is full, no other takes
 * packets from the network until it was forwarded. */
bool mpi_node_forward(unsigned to, const struct packet *packet);
/* The number of things that happened to this process; waits until there is another one. False: this
 * process is the one that looks at the network, and has to wait by looking. */
const volatile uint32_t *mpi_node_bell(void);
bool mpi_node_wait(uint32_t bell);
void mpi_node_leave(void);
void mpi_node_ring_all(void); /* to all others */
int mpi_place_of(int world);
bool mpi_hardware_barrier_is_there(void);
void mpi_hardware_barrier_arrive(void);
bool mpi_hardware_barrier_is_over(void);
bool mpi_hardware_barrier_waits(void);

/* RMA packets are handled by mpi_win.c, if it is linked. */
enum packet_type {
    PACKET_EAGER,
    PACKET_MORE,
    PACKET_REQUEST,
    PACKET_CLEAR,
    PACKET_BULK,
    PACKET_ACK,
    PACKET_CANCEL,
    PACKET_CANCELLED,
};
/* A short packet of a protocol, in order after all that was sent to that process. */
void mpi_send_control(int place, enum packet_type type, uint32_t word, const void *data,
                      unsigned bytes);

/* ---- schedules ---- */

typedef int schedule_call(struct schedule *schedule, void *context);
struct schedule *mpi_schedule_new(struct comm *comm);
void *schedule_alloc(struct schedule *schedule, size_t bytes); /* until it is over */
/* Memory for count elements of a type, moved so that element 0 is at the result. */
void *schedule_buffer(struct schedule *schedule, int count, const struct type *type);
void schedule_send(struct schedule *schedule, const void *buffer, int count, struct type *type,
                   int peer);
void schedule_receive(struct schedule *schedule, void *buffer, int count, struct type *type,
                      int peer);
void schedule_copy(struct schedule *schedule, const void *from, int from_count,
                   struct type *from_type, void *to, int to_count, struct type *to_type);
/* inout = in op inout. */
void schedule_reduce(struct schedule *schedule, const void *in, void *inout, int count,
                     struct type *type, struct op *op);
void schedule_call_back(struct schedule *schedule, schedule_call *call, void *context);
/* Steps from now on begin when all steps before have ended. */
void schedule_round(struct schedule *schedule);
void schedule_within(struct schedule *schedule, struct comm *comm); /* NULL: the schedule's own */
void schedule_keep(struct schedule *schedule, struct type *type, struct op *op);
int mpi_schedule_run(struct schedule *schedule);
int mpi_schedule_start(struct schedule *schedule, MPI_Request *request);
/* A persistent request that runs it each time that it is started. */
int mpi_schedule_prepare(struct schedule *schedule, MPI_Request *request);
void mpi_schedule_restart(struct request *request);
/* Next round, when a step has ended; from mpi_request_done. */
void mpi_schedule_step_done(struct schedule *schedule);

void mpi_schedules_progress(void);
void mpi_schedule_free(struct schedule *schedule);

/* Collectives of the library's own use: over an intra-communicator, without checks. */
void mpi_allreduce(struct comm *comm, const void *in, void *out, int count, MPI_Datatype type,
                   MPI_Op op);
void mpi_allgather(struct comm *comm, const void *in, int count, MPI_Datatype type, void *out);
void mpi_bcast(struct comm *comm, void *buffer, int count, MPI_Datatype type, int root);
void mpi_barrier(struct comm *comm);

/* ---- the state ---- */

struct mpi {
    bool started, finished, fortran, check; /* check: MPI_CHECK is set */
    int thread_level, ranks, rank, place;
    uint32_t clock_mhz;
    unsigned eager;    /* largest message that is sent at once */
    uint32_t contexts; /* of communicators, that this process has chosen */
    struct comm *world, *self;
    int error_last; /* of MPI_Add_error_class */
    struct type *byte, *packed;
};
extern struct mpi mpi;
extern __thread const char *mpi_call; /* the one that runs, for messages; NULL: none */

/* ---- checks of arguments ---- */

#define COMM(variable, handle)                                                                     \
    struct comm *variable = mpi_comm(handle);                                                      \
    if (!variable) return mpi_comm_wrong(handle)
#define TYPE(where, variable, handle)                                                              \
    struct type *variable = mpi_type(handle);                                                      \
    if (!variable) return mpi_fail(where, MPI_ERR_TYPE, "%s", mpi_type_text(handle));              \
    if (!variable->committed) return mpi_fail(where, MPI_ERR_TYPE, "the datatype is not committed")
const char *mpi_type_text(MPI_Datatype handle);

static inline char *at_offset(const void *base, MPI_Aint offset)
{
    return (char *)((uintptr_t)base + (uintptr_t)offset);
}

#endif
