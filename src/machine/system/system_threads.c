/* Threads that run nodes between their turns.
 *
 * The thread that called system_advance grants turns and runs the networks, as without threads: the
 * order of everything that is seen outside of a node is the same for any number of threads. A node
 * that is still running SHORT cycles after its turn goes into a queue. Threads of the queue run it
 * on, a slice at a time, until it waits for its next turn. It stays in the heap of members
 * meanwhile, at a time that it has passed: no node with a later turn goes first.
 *
 * Invariants:
 *   1. A member belongs to the first thread unless `handed`; then to the queue, or to one thread.
 *   2. A thread of the queue never grants a turn, and changes nothing outside of its node.
 *   3. When system_advance returns, no thread runs a node.
 *
 * The first thread runs nodes of the queue, too, when it has nothing else to do. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/mem.h"
#include "machine/system/system_impl.h"

enum { SLICE = 10000 }; /* cycles */

struct system_threads {
    pthread_mutex_t lock; /* of all here, and of `run` of members that are handed */
    pthread_cond_t work, progress;
    struct system_member *first, *last; /* the queue */
    uint64_t until;
    unsigned count, busy, idle;
    bool ending, held;
    bool waits; /* the first thread does, for `progress` */
    pthread_t thread[];
};

/* ---- the queue, under the lock ---- */

static void push(struct system_threads *threads, struct system_member *member)
{
    member->run.state = SYSTEM_QUEUED;
    member->run.next = NULL;
    member->run.before = threads->last;
    if (threads->last)
        threads->last->run.next = member;
    else
        threads->first = member;
    threads->last = member;
    if (threads->idle && !threads->held) pthread_cond_signal(&threads->work);
}

static void take_out(struct system_threads *threads, struct system_member *member)
{
    struct system_member *next = member->run.next, *before = member->run.before;
    if (before)
        before->run.next = next;
    else
        threads->first = next;
    if (next)
        next->run.before = before;
    else
        threads->last = before;
    member->run.state = SYSTEM_RUNNING;
}

/* Runs a member of the queue up to a time, without the lock meanwhile. */
static void run_slice(struct system_threads *threads, struct system_member *member, uint64_t end)
{
    struct os *os = member->node->os;
    uint64_t until = threads->until;
    take_out(threads, member);
    pthread_mutex_unlock(&threads->lock);
    member->run.away = true;
    enum os_progress progress = node_advance(member->node, end < until ? end : until);
    member->run.away = false;
    pthread_mutex_lock(&threads->lock);
    member->run.time = os_now(os);
    member->run.progress = progress;
    if (progress == OS_TIME_REACHED && member->run.time < until)
        push(threads, member);
    else
        member->run.state = SYSTEM_STOPPED;
    if (threads->waits) pthread_cond_signal(&threads->progress);
}

static void *thread_main(void *context)
{
    struct system_threads *threads = context;
    pthread_mutex_lock(&threads->lock);
    while (!threads->ending) {
        if (!threads->first || threads->held) {
            threads->idle++;
            pthread_cond_wait(&threads->work, &threads->lock);
            threads->idle--;
            continue;
        }
        threads->busy++;
        run_slice(threads, threads->first, threads->first->run.time + SLICE);
        threads->busy--;
        if (threads->held) pthread_cond_signal(&threads->progress);
    }
    pthread_mutex_unlock(&threads->lock);
    return NULL;
}

/* ---- the first thread ---- */

/* Signals of the host are for the first thread. */
struct system_threads *system_threads_new(unsigned count)
{
    struct system_threads *threads =
        base_calloc(1, sizeof *threads + count * sizeof *threads->thread);
    sigset_t all, before;
    pthread_mutex_init(&threads->lock, NULL);
    pthread_cond_init(&threads->work, NULL);
    pthread_cond_init(&threads->progress, NULL);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* allowed: of new threads only */
    while (threads->count < count &&
           pthread_create(&threads->thread[threads->count], NULL, thread_main, threads) == 0)
        threads->count++;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL); /* allowed: as it was */
    return threads;
}

void system_threads_free(struct system_threads *threads)
{
    if (!threads) return;
    pthread_mutex_lock(&threads->lock);
    threads->ending = true;
    pthread_cond_broadcast(&threads->work);
    pthread_mutex_unlock(&threads->lock);
    for (unsigned i = 0; i < threads->count; i++)
        (void)pthread_join(threads->thread[i], NULL);
    pthread_cond_destroy(&threads->progress);
    pthread_cond_destroy(&threads->work);
    pthread_mutex_destroy(&threads->lock);
    free(threads);
}

void system_threads_until(struct system_threads *threads, uint64_t until)
{
    pthread_mutex_lock(&threads->lock);
    threads->until = until;
    pthread_mutex_unlock(&threads->lock);
}

void system_threads_hand(struct system_threads *threads, struct system_member *member)
{
    pthread_mutex_lock(&threads->lock);
    member->handed = true;
    member->run.time = member->time;
    push(threads, member);
    pthread_mutex_unlock(&threads->lock);
}

bool system_threads_take(struct system_threads *threads, struct system_member *member,
                         uint64_t time, enum os_progress *progress)
{
    pthread_mutex_lock(&threads->lock);
    if (member->run.state == SYSTEM_QUEUED && member->run.time == member->time)
        run_slice(threads, member, time);
    while (member->run.state == SYSTEM_RUNNING && member->run.time == member->time)
        if (threads->first) {
            run_slice(threads, threads->first, threads->first->run.time + SLICE);
        } else {
            threads->waits = true;
            pthread_cond_wait(&threads->progress, &threads->lock);
            threads->waits = false;
        }
    member->time = member->run.time;
    *progress = member->run.progress;
    member->handed = member->run.state != SYSTEM_STOPPED;
    pthread_mutex_unlock(&threads->lock);
    return !member->handed;
}

void system_threads_finish(struct system_threads *threads, struct system_member *member)
{
    pthread_mutex_lock(&threads->lock);
    while (member->run.state != SYSTEM_STOPPED)
        if (member->run.state == SYSTEM_QUEUED) {
            run_slice(threads, member, UINT64_MAX);
        } else {
            threads->waits = true;
            pthread_cond_wait(&threads->progress, &threads->lock);
            threads->waits = false;
        }
    pthread_mutex_unlock(&threads->lock);
}

void system_hold(struct system *system)
{
    struct system_threads *threads = system->threads;
    if (!threads) return;
    pthread_mutex_lock(&threads->lock);
    threads->held = true;
    while (threads->busy)
        pthread_cond_wait(&threads->progress, &threads->lock);
    pthread_mutex_unlock(&threads->lock);
}

void system_release(struct system *system)
{
    struct system_threads *threads = system->threads;
    if (!threads) return;
    pthread_mutex_lock(&threads->lock);
    threads->held = false;
    pthread_cond_broadcast(&threads->work);
    pthread_mutex_unlock(&threads->lock);
}
