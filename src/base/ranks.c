/* OpenMPI by its binary interface: libmpi.so.40 (OpenMPI 3 to 5). Handles are addresses of the
 * library's own objects, so no header is needed.
 *
 * A message has a first part of FIRST bytes, which every pair exchanges, and a rest when it is
 * longer. Waiting yields the processor: there may be more ranks than processors.
 *
 * At its end each rank takes part in one exchange more, in which its size is ENDED. All ranks are
 * in the same exchange; one that is not at its end then sees that another one is, since that
 * failed, and gives up: no rank waits for a rank that has left. */
#include "base/ranks.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"

enum { FIRST = 2048, HEAD = sizeof(uint64_t), SPIN = 200, GIVE_UP = 500 /* ms */ };
enum { TAG_FIRST = 1, TAG_REST = 2 };
#define PART  ((size_t)1 << 30) /* an int counts bytes */
#define ENDED UINT64_MAX        /* as the size of a message */

typedef void *handle;

struct ranks {
    void *library;
    handle world, byte;
    int (*send)(const void *bytes, int count, handle type, int to, int tag, handle world,
                handle *request);
    int (*receive)(void *bytes, int count, handle type, int from, int tag, handle world,
                   handle *request);
    int (*test_all)(int count, handle *requests, int *flag, void *statuses);
    int (*finish)(void);
    int self, count;
    bool lost;         /* one does not answer */
    bool ended;        /* one has left before its time */
    uint8_t *first[2]; /* FIRST bytes to and from each rank */
    handle *requests;
};

void ranks_message_add(struct ranks_message *message, const void *bytes, size_t count)
{
    message->bytes = base_grow(message->bytes, &message->capacity, message->count + count, 1);
    memcpy(message->bytes + message->count, bytes, count);
    message->count += count;
}

/* ---- start and end ---- */

static int missing(struct chil_error *err, const char *what)
{
    return chil_error_set(err, CHIL_ENOENT,
                          "mpirun started this process, but OpenMPI's library is not there (%s); "
                          "install libopenmpi3, or run without mpirun",
                          what);
}

static int start(struct ranks *r, struct chil_error *err)
{
    int (*init)(int *argc, char ***argv), (*rank)(handle world, int *value),
        (*size)(handle world, int *value);
    const struct {
        const char *name;
        void *place;
    } rows[] = {
        {"ompi_mpi_comm_world", &r->world},
        {"ompi_mpi_byte", &r->byte},
        {"MPI_Isend", &r->send},
        {"MPI_Irecv", &r->receive},
        {"MPI_Init", &init},
        {"MPI_Testall", &r->test_all},
        {"MPI_Finalize", &r->finish},
        {"MPI_Comm_rank", &rank},
        {"MPI_Comm_size", &size},
    };
    r->library = dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL); /* its components need its names */
    if (!r->library) return missing(err, dlerror());
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        void *found = dlsym(r->library, rows[i].name);
        if (!found) return missing(err, rows[i].name);
        memcpy(rows[i].place, &found, sizeof found);
    }
    (void)setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    if (init(NULL, NULL) || rank(r->world, &r->self) || size(r->world, &r->count))
        return missing(err, "MPI_Init failed");
    return CHIL_OK;
}

int ranks_start(struct ranks **ranks, struct chil_error *err)
{
    const char *size = getenv("OMPI_COMM_WORLD_SIZE");
    *ranks = NULL;
    if (!size || strtoul(size, NULL, 10) < 1) return CHIL_OK;
    struct ranks *r = base_calloc(1, sizeof *r);
    int status = start(r, err);
    if (status) {
        free(r);
        return status;
    }
    for (unsigned i = 0; i < 2; i++)
        r->first[i] = base_calloc((size_t)r->count, FIRST);
    r->requests = base_calloc(4 * (size_t)r->count, sizeof *r->requests);
    *ranks = r;
    return CHIL_OK;
}

unsigned ranks_self(const struct ranks *ranks)
{
    return (unsigned)ranks->self;
}

unsigned ranks_count(const struct ranks *ranks)
{
    return (unsigned)ranks->count;
}

/* ---- exchange ---- */

static int64_t milliseconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* allowed: how long a rank is silent */
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool wait_all(struct ranks *r, int count, bool (*stops)(void *context), void *context)
{
    int64_t until = 0;
    for (unsigned turn = 0;; turn++) {
        int done = 0;
        if (r->test_all(count, r->requests, &done, NULL)) break;
        if (done) return true;
        if (turn < SPIN) continue;
        (void)sched_yield();
        if (turn % SPIN || !stops || !stops(context)) continue;
        if (!until) until = milliseconds() + GIVE_UP;
        if (milliseconds() >= until) break;
    }
    r->lost = true;
    return false;
}

/* Without messages it is the end. */
static int begin_first(struct ranks *r, const struct ranks_message *out)
{
    int begun = 0;
    for (int i = 0; i < r->count; i++) {
        uint8_t *to = r->first[0] + (size_t)i * FIRST;
        uint64_t size = out ? out[i].count : ENDED;
        if (i == r->self) continue;
        size_t part = !out ? 0 : size < FIRST - HEAD ? (size_t)size : FIRST - HEAD;
        memcpy(to, &size, HEAD);
        if (part) memcpy(to + HEAD, out[i].bytes, part);
        (void)r->receive(r->first[1] + (size_t)i * FIRST, FIRST, r->byte, i, TAG_FIRST, r->world,
                         &r->requests[begun++]);
        (void)r->send(to, (int)(part + HEAD), r->byte, i, TAG_FIRST, r->world,
                      &r->requests[begun++]);
    }
    return begun;
}

/* The next part of what is longer than the first, from `at` on. */
static int begin_rest(struct ranks *r, const struct ranks_message *out, struct ranks_message *in,
                      size_t at)
{
    int begun = 0;
    for (int i = 0; i < r->count; i++) {
        if (i == r->self) continue;
        if (in[i].count > at)
            (void)r->receive(in[i].bytes + at,
                             (int)(in[i].count - at < PART ? in[i].count - at : PART), r->byte, i,
                             TAG_REST, r->world, &r->requests[begun++]);
        if (out[i].count > at)
            (void)r->send(out[i].bytes + at,
                          (int)(out[i].count - at < PART ? out[i].count - at : PART), r->byte, i,
                          TAG_REST, r->world, &r->requests[begun++]);
    }
    return begun;
}

/* Whether one of the others was at its end in this exchange. */
static bool has_ended(struct ranks *r)
{
    for (int i = 0; i < r->count; i++) {
        uint64_t size = 0;
        if (i != r->self) memcpy(&size, r->first[1] + (size_t)i * FIRST, HEAD);
        r->ended |= size == ENDED;
    }
    return r->ended;
}

bool ranks_exchange(struct ranks *r, const struct ranks_message *out, struct ranks_message *in,
                    bool (*stops)(void *context), void *context)
{
    if (r->ended || !wait_all(r, begin_first(r, out), stops, context) || has_ended(r)) return false;
    for (int i = 0; i < r->count; i++) {
        const uint8_t *from = r->first[1] + (size_t)i * FIRST;
        uint64_t size = 0;
        if (i != r->self) memcpy(&size, from, HEAD);
        in[i].count = 0;
        if (!size) continue;
        in[i].bytes = base_grow(in[i].bytes, &in[i].capacity, (size_t)size, 1);
        memcpy(in[i].bytes, from + HEAD, size < FIRST - HEAD ? (size_t)size : FIRST - HEAD);
        in[i].count = (size_t)size;
    }
    for (size_t at = FIRST - HEAD;; at += PART) {
        int begun = begin_rest(r, out, in, at);
        if (!begun) return true;
        if (!wait_all(r, begun, stops, context)) return false;
    }
}

void ranks_end(struct ranks *r)
{
    if (!r) return;
    if (!r->lost && !r->ended && r->count > 1) (void)wait_all(r, begin_first(r, NULL), NULL, NULL);
    if (!r->lost) (void)r->finish(); /* it would wait for ever */
    for (unsigned i = 0; i < 2; i++)
        free(r->first[i]);
    free(r->requests);
    free(r);
}
