/* The library's start and end, what calls return, threads and locks. */
#include "papi_impl.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct papi_options papi_options = {.domain = PAPI_DOM_USER, .granularity = PAPI_GRN_THR};

/* --- Errors ------------------------------------------------------------------------------------------------------- */

static const char *const errors[PAPI_NUM_ERRORS] = {
    "No error",
    "Invalid argument",
    "Insufficient memory",
    "A System/C library call failed",
    "Not supported by component",
    "Access to the counters was lost or interrupted",
    "Internal error, please send mail to the developers",
    "Event does not exist",
    "Event exists, but cannot be counted due to counter resource limitations",
    "EventSet is currently not running",
    "EventSet is currently counting",
    "No such EventSet available",
    "Event in argument is not a valid preset",
    "Hardware does not support performance counters",
    "Unknown error code",
    "Permission level does not permit operation",
    "PAPI hasn't been initialized yet",
    "Component Index isn't set",
    "Not supported",
    "Not implemented",
    "Buffer size exceeded",
    "EventSet domain is not supported for the operation",
    "Invalid or missing event attributes",
    "Too many events or attributes",
    "Bad combination of features",
    "Component containing event is disabled",
    "Delayed initialization component",
    "Event exists, but cannot be counted in one pass",
};

char *PAPI_strerror(int code)
{
    return code <= 0 && code > -PAPI_NUM_ERRORS ? (char *)errors[-code] : NULL;
}

void PAPI_perror(const char *msg)
{
    if (msg && *msg) fprintf(stderr, "%s: ", msg);
    fprintf(stderr, "%s\n", strerror(errno));
}

int papi_return(int code)
{
    if (code >= PAPI_OK || papi_options.debug == PAPI_QUIET) return code;
    const char *text = PAPI_strerror(code);
    if (papi_options.debug_handler) {
        (void)papi_options.debug_handler(code);
    } else if (papi_options.debug != PAPI_QUIET) {
        fprintf(stderr, "PAPI Error %d: %s\n", code, text ? text : "unknown");
        if (papi_options.debug == PAPI_VERB_ESTOP) exit(1);
    }
    return code;
}

int PAPI_set_debug(int level)
{
    PAPI_option_t option = {.debug = {level, papi_options.debug_handler}};
    return PAPI_set_opt(PAPI_DEBUG, &option);
}

/* --- Threads ------------------------------------------------------------------------------------------------------ */

static pthread_mutex_t library = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t user_locks[PAPI_NUM_LOCK] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static struct papi_thread *threads;
static unsigned long (*thread_id)(void);
static __thread struct papi_thread *mine;

void papi_lock_all(void)
{
    (void)pthread_mutex_lock(&library);
}

void papi_unlock_all(void)
{
    (void)pthread_mutex_unlock(&library);
}

struct papi_thread *papi_thread_get(void)
{
    if (mine) return mine;
    struct papi_thread *thread = calloc(1, sizeof *thread);
    if (!thread) return NULL;
    thread->tid = (int)syscall(SYS_gettid);
    thread->id = thread_id ? thread_id() : (unsigned long)getpid();
    papi_lock_all();
    thread->next = threads;
    threads = thread;
    papi_unlock_all();
    return mine = thread;
}

int PAPI_thread_init(unsigned long (*id_fn)(void))
{
    if (!papi_is_up()) return papi_return(PAPI_ENOINIT);
    if (!id_fn) return papi_return(PAPI_EINVAL);
    thread_id = id_fn;
    papi_options.level |= PAPI_THREAD_LEVEL_INITED;
    struct papi_thread *thread = papi_thread_get();
    if (!thread) return papi_return(PAPI_ENOMEM);
    thread->id = id_fn();
    return PAPI_OK;
}

unsigned long PAPI_thread_id(void)
{
    return thread_id ? thread_id() : (unsigned long)PAPI_EMISC;
}

int PAPI_register_thread(void)
{
    if (!papi_is_up()) return papi_return(PAPI_ENOINIT);
    return papi_return(papi_thread_get() ? PAPI_OK : PAPI_ENOMEM);
}

int PAPI_unregister_thread(void)
{
    if (!papi_is_up()) return papi_return(PAPI_ENOINIT);
    if (!mine) return PAPI_OK;
    if (mine->running) return papi_return(PAPI_EISRUN);
    papi_rates_free(mine);
    papi_lock_all();
    for (struct papi_thread **at = &threads; *at; at = &(*at)->next)
        if (*at == mine) {
            *at = mine->next;
            break;
        }
    papi_unlock_all();
    free(mine);
    mine = NULL;
    return PAPI_OK;
}

int PAPI_list_threads(unsigned long *tids, int *number)
{
    if (!papi_is_up()) return papi_return(PAPI_ENOINIT);
    if (!number || *number < 0) return papi_return(PAPI_EINVAL);
    int count = 0;
    papi_lock_all();
    for (const struct papi_thread *thread = threads; thread; thread = thread->next, count++)
        if (tids && count < *number) tids[count] = thread->id;
    papi_unlock_all();
    *number = tids && count > *number ? *number : count;
    return PAPI_OK;
}

static int get_all_specific(int tag, PAPI_all_thr_spec_t *all)
{
    int count = 0, room = all->num;
    papi_lock_all();
    for (const struct papi_thread *thread = threads; thread; thread = thread->next, count++) {
        if (count >= room) continue;
        if (all->id) all->id[count] = thread->id;
        if (all->data) all->data[count] = thread->specific[tag];
    }
    papi_unlock_all();
    all->num = count > room && (all->id || all->data) ? room : count;
    return PAPI_OK;
}

int PAPI_get_thr_specific(int tag, void **ptr)
{
    if (!papi_is_up()) return papi_return(PAPI_ENOINIT);
    int slot = tag & ~PAPI_TLS_ALL_THREADS;
    if (slot < 0 || slot >= PAPI_NUM_TLS || !ptr) return papi_return(PAPI_EINVAL);
    if (tag & PAPI_TLS_ALL_THREADS) return get_all_specific(slot, (PAPI_all_thr_spec_t *)ptr);
    const struct papi_thread *thread = papi_thread_get();
    if (!thread) return papi_return(PAPI_ENOMEM);
    *ptr = thread->specific[slot];
    return PAPI_OK;
}

int PAPI_set_thr_specific(int tag, void *ptr)
{
    if (!papi_is_up()) return papi_return(PAPI_ENOINIT);
    if (tag < 0 || tag >= PAPI_NUM_TLS) return papi_return(PAPI_EINVAL);
    struct papi_thread *thread = papi_thread_get();
    if (!thread) return papi_return(PAPI_ENOMEM);
    thread->specific[tag] = ptr;
    return PAPI_OK;
}

int PAPI_lock(int lock)
{
    if (lock < 0 || lock >= PAPI_NUM_LOCK) return papi_return(PAPI_EINVAL);
    return pthread_mutex_lock(&user_locks[lock]) ? papi_return(PAPI_ESYS) : PAPI_OK;
}

int PAPI_unlock(int lock)
{
    if (lock < 0 || lock >= PAPI_NUM_LOCK) return papi_return(PAPI_EINVAL);
    return pthread_mutex_unlock(&user_locks[lock]) ? papi_return(PAPI_ESYS) : PAPI_OK;
}

/* --- Start and end ------------------------------------------------------------------------------------------------ */

static pid_t owner; /* of the state; a child begins anew */
static sigjmp_buf no_simulator;

static void on_illegal(int number)
{
    siglongjmp(no_simulator, number);
}

/* Outside the simulator its instruction is illegal; find that out without dying of it. */
static bool has_simulator(void)
{
    struct sigaction ours = {.sa_handler = on_illegal}, old;
    volatile bool found = false;
    if (sigaction(SIGILL, &ours, &old)) return false;
    if (sigsetjmp(no_simulator, 1) == 0) found = chiliad_callthru(CHILIAD_EVENTS, 0, 0) > 0;
    (void)sigaction(SIGILL, &old, NULL);
    return found;
}

bool papi_is_up(void)
{
    return papi_options.level & PAPI_LOW_LEVEL_INITED;
}

int PAPI_is_initialized(void)
{
    return papi_options.level;
}

int PAPI_library_init(int version)
{
    if ((version & (int)0xffff0000) != PAPI_VER_CURRENT) return papi_return(PAPI_EINVAL);
    if (papi_is_up() && owner == getpid()) return PAPI_VER_CURRENT;
    if (papi_is_up()) PAPI_shutdown();
    if (!has_simulator()) {
        errno = ENOSYS;
        return papi_return(PAPI_ESYS);
    }
    int status = papi_names_load();
    if (status) return papi_return(status);
    papi_options.domain = PAPI_DOM_USER;
    papi_options.granularity = PAPI_GRN_THR;
    papi_options.multiplex_ns = 100000000;
    papi_info_load();
    owner = getpid();
    papi_options.level = PAPI_LOW_LEVEL_INITED;
    return papi_thread_get() ? (int)PAPI_VER_CURRENT : papi_return(PAPI_ENOMEM);
}

/* Sets that run are stopped; threads that are left lose what the library keeps for them. */
void PAPI_shutdown(void)
{
    if (!papi_is_up()) return;
    papi_hl_shutdown();
    papi_sets_free();
    papi_lock_all();
    for (struct papi_thread *thread = threads; thread; thread = thread->next) {
        thread->running = thread->rate = NULL;
        memset(thread->specific, 0, sizeof thread->specific);
    }
    papi_unlock_all();
    thread_id = NULL;
    papi_options.level = PAPI_NOT_INITED;
    papi_options.disabled = false;
}
