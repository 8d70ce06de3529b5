/* The translator: the queue to the translation thread, the table of translations, invalidation.
 *
 * Two threads. The guest thread chooses a region, queues it as a struct work, and runs its code
 * when the region's first block is entered after the translation is done. The translation thread
 * generates code and frees it. The state of a struct work is atomic and says which thread owns it.
 * The queue and the figures are shared under a lock. Many nodes share one translation thread, and
 * each may be another thread's guest.
 *
 * Code is invalidated per address space, all at once: when a page that blocks were decoded from
 * changes, when the address space ends, or when the code cache is full. Translated code may cause
 * that itself by a store, so invalidated code is freed in `reclaim`, when no core is inside.
 */
#include "machine/jit/jit.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "machine/cache/cache_fast.h"
#include "machine/jit/jit_impl.h"
#include "machine/jit/jit_miss.h"

enum { ENTRIES_UNTIL_HOT = 1000, POLL = 100, FLUSHES_MAX = 2000, TIME_SHARE = 8 };
#define CODE_LIMIT ((size_t)256 << 20)

enum state { WAITING, DONE, FAILED };

struct work {
    struct jit *jit;
    struct region region;
    struct block *block;
    struct work *next;   /* in its space, or in the list of invalidated code */
    struct work *queued; /* in the queue */
    atomic_int state;    /* enum state */
    struct ir_code *code;
    region_code *entry;
};

/* The translations of one address space. */
struct space {
    struct jump jumps[JUMPS];
    struct work *works;
    struct space *next;
};

struct jit_thread {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Under the lock: */
    bool started, ending;
    struct work *first, *last; /* to be translated */
    struct work *to_free;
    uint64_t nanoseconds; /* spent, and what the queue is going to take */
};

struct jit {
    struct jit_options options;
    struct core_translator translator;
    struct space *spaces;
    struct work *invalidated;   /* may still be executing; not entered again */
    struct space *empty_spaces; /* likewise */
    unsigned flushes;
    bool frozen;   /* a forked copy has no translation thread and translates itself, */
    struct ir *ir; /* with this */
    bool diverged; /* in lockstep */

    struct jit_thread *thread;
    bool owns_thread;
    /* Under the thread's lock: */
    size_t code_size;
    struct jit_figures figures;
};

/* --- The translation thread ------------------------------------------------------------------ */

static uint64_t cpu_time(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* allowed: only for people */
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t expected_time(const struct work *work)
{
    return work->region.ops * IR_NANOSECONDS;
}

static void translate(struct ir *ir, struct work *work)
{
    struct jit *jit = work->jit;
    struct jit_thread *thread = jit->thread;
    uint64_t start = cpu_time();
    work->region.sites = base_calloc(region_sites(&work->region), sizeof(struct site));
    work->code = ir ? emit_region(ir, &work->region) : NULL;
    free(work->region.blocks);
    work->region.blocks = NULL;
    uint64_t time = cpu_time() - start;
    if (work->code) work->entry = (region_code *)ir_code_entry(work->code);
    pthread_mutex_lock(&thread->lock);
    if (work->code) {
        jit->code_size += ir_code_size(work->code);
        jit->figures.regions++;
        jit->figures.blocks += work->region.count;
        jit->figures.instructions += work->region.ops;
        jit->figures.unpredictable += work->region.unpredictable_loads;
    } else {
        jit->figures.failed++;
    }
    jit->figures.nanoseconds += time;
    thread->nanoseconds += time - expected_time(work);
    atomic_store_explicit(&work->state, work->code ? DONE : FAILED, memory_order_release);
    pthread_cond_broadcast(&thread->changed);
    pthread_mutex_unlock(&thread->lock);
}

static void free_works(struct work *works)
{
    while (works) {
        struct work *next = works->next;
        if (works->code) ir_code_free(works->code);
        free(works->region.blocks);
        free(works->region.sites);
        free(works);
        works = next;
    }
}

static void *translation_thread(void *context)
{
    struct jit_thread *thread = context;
    struct ir *ir = ir_new();
    pthread_mutex_lock(&thread->lock);
    while (true) {
        struct work *work = thread->first, *free_these = thread->to_free;
        bool ending = thread->ending;
        if (work && !ending) thread->first = work->queued;
        thread->to_free = NULL;
        if (!free_these && (!work || ending)) {
            if (ending) break;
            pthread_cond_wait(&thread->changed, &thread->lock);
            continue;
        }
        pthread_mutex_unlock(&thread->lock);
        free_works(free_these);
        if (work && !ending) translate(ir, work);
        pthread_mutex_lock(&thread->lock);
    }
    pthread_mutex_unlock(&thread->lock);
    ir_free(ir);
    return NULL;
}

/* --- Invalidation ---------------------------------------------------------------------------- */

/* Invalidates all code of a space; its blocks count their entries from the start. */
static void flush(struct jit *jit, struct space *space)
{
    while (space->works) {
        struct work *work = space->works;
        space->works = work->next;
        work->block->translated = NULL;
        work->block->entries_until_hot = jit->translator.entries_until_hot;
        work->next = jit->invalidated;
        jit->invalidated = work;
    }
    for (unsigned i = 0; i < JUMPS; i++)
        space->jumps[i].pc = UINT64_MAX;
    jit->flushes++;
}

static void invalidate(void *context, struct code *code)
{
    struct jit *jit = context;
    struct space *space = code->translated;
    flush(jit, space);
    for (struct space **link = &jit->spaces; *link; link = &(*link)->next)
        if (*link == space) {
            *link = space->next;
            break;
        }
    space->next = jit->empty_spaces;
    jit->empty_spaces = space;
    code->translated = NULL;
}

/* Hands finished work to the translation thread to be freed; work in the queue stays. */
static void reclaim(void *context)
{
    struct jit *jit = context;
    if (jit->frozen || (!jit->invalidated && !jit->empty_spaces)) return;
    struct jit_thread *thread = jit->thread;
    bool waiting = false;
    pthread_mutex_lock(&thread->lock);
    for (struct work **link = &jit->invalidated; *link;) {
        struct work *work = *link;
        if (atomic_load_explicit(&work->state, memory_order_acquire) == WAITING) {
            waiting = true;
            link = &work->next;
            continue;
        }
        *link = work->next;
        if (work->code) {
            jit->code_size -= ir_code_size(work->code);
            jit->figures.dropped++;
        }
        work->next = thread->to_free;
        thread->to_free = work;
    }
    pthread_cond_broadcast(&thread->changed);
    pthread_mutex_unlock(&thread->lock);
    while (!waiting && jit->empty_spaces) {
        struct space *next = jit->empty_spaces->next;
        free(jit->empty_spaces);
        jit->empty_spaces = next;
    }
}

static bool is_full(struct jit *jit)
{
    pthread_mutex_lock(&jit->thread->lock);
    bool full = jit->code_size > jit->options.code_limit;
    pthread_mutex_unlock(&jit->thread->lock);
    return full;
}

/* --- Hot blocks ------------------------------------------------------------------------------ */

static struct space *space_of(struct jit *jit, struct code *code)
{
    if (code->translated) return code->translated;
    struct space *space = base_calloc(1, sizeof *space);
    for (unsigned i = 0; i < JUMPS; i++)
        space->jumps[i].pc = UINT64_MAX;
    space->next = jit->spaces;
    jit->spaces = space;
    return code->translated = space;
}

static void enqueue(struct jit *jit, struct work *work)
{
    struct jit_thread *thread = jit->thread;
    pthread_mutex_lock(&thread->lock);
    if (!thread->started)
        thread->started = pthread_create(&thread->thread, NULL, translation_thread, thread) == 0;
    if (thread->first)
        thread->last->queued = work;
    else
        thread->first = work;
    thread->last = work;
    thread->nanoseconds += expected_time(work);
    pthread_cond_broadcast(&thread->changed);
    while (thread->started && jit->options.wait && atomic_load(&work->state) == WAITING)
        pthread_cond_wait(&thread->changed, &thread->lock);
    pthread_mutex_unlock(&thread->lock);
}

/* In a forked copy, a thread that does not exist there may hold the lock. */
static void prepare_copy(struct jit *jit)
{
    if (jit->ir) return;
    pthread_mutex_init(&jit->thread->lock, NULL);
    pthread_cond_init(&jit->thread->changed, NULL);
    jit->ir = ir_new();
}

static struct work *request(struct jit *jit, struct core *core, struct block *block)
{
    if (jit->flushes >= FLUSHES_MAX) return NULL; /* the guest keeps modifying its code */
    if (jit->frozen) prepare_copy(jit);
    if (is_full(jit))
        for (struct space *space = jit->spaces; space; space = space->next)
            flush(jit, space);
    struct work *work = base_calloc(1, sizeof *work);
    work->jit = jit;
    work->region.unpredictable = jit->options.unpredictable;
    work->region.blocks = base_calloc(REGION_BLOCKS, sizeof *work->region.blocks);
    if (!region_choose(&work->region, core, block)) {
        free(work->region.blocks);
        free(work);
        return NULL;
    }
    struct space *space = space_of(jit, core->code);
    work->region.jumps = space->jumps;
    work->block = block;
    work->next = space->works;
    space->works = work;
    block->translated = work;
    if (jit->frozen)
        translate(jit->ir, work);
    else
        enqueue(jit, work);
    return work;
}

static enum core_hot run(struct core *core, struct block *block, const struct work *work,
                         uint64_t limit, struct core_exit *exit)
{
    struct jump *jump = &work->region.jumps[jump_index(block->pc)];
    *jump = (struct jump){block->pc, ir_code_target(work->code)};
    core->exit = exit;
    core->stopped = false;
    jit_set_fp_sure(core);
#ifdef JIT_MISSES
    core->fast->load = (const void *)jit_miss_load;
    core->fast->store = (const void *)jit_miss_store;
    core->fast->probe = (const void *)jit_miss_probe;
#endif
    /* Code uses the lowest bytes of these registers as constants (jit_backend.h). */
    assert(!(((uintptr_t)mem_host(core->mem, 0) | (uintptr_t)core->lines) & UINT8_MAX));
    limit = cache_defer(core->view, core->cycles, limit,
                        work->region.recorded); /* calls and returns read counts */
    uint64_t whole = core->limit;
    core->limit = limit;
    core->in_translated = true;
    work->entry(core, core->regs, mem_host(core->mem, 0), core->lines, core->cycles);
    core->in_translated = false;
    if (core->limit) core->limit = whole; /* else a helper has stopped it */
    core->cycles += cache_defer_end(core->view);
    return core->stopped ? CORE_HOT_STOPPED : CORE_HOT_RAN;
}

/* Translation may take an eighth of the time that the guest has run, which bounds its cost. The
 * host's clock decides only when code is ready, and so no result. */
static bool can_afford(struct jit *jit)
{
    if (jit->options.wait || jit->frozen) return true;
    pthread_mutex_lock(&jit->thread->lock);
    uint64_t spent = jit->thread->nanoseconds;
    pthread_mutex_unlock(&jit->thread->lock);
    return spent < cpu_time() / TIME_SHARE;
}

static enum core_hot hot(void *context, struct core *core, struct block *block, uint64_t limit,
                         struct core_exit *exit)
{
    struct jit *jit = context;
    if (!block->translated && !can_afford(jit)) {
        block->entries_until_hot = jit->options.entries_until_hot;
        return CORE_HOT_NOTHING;
    }
    struct work *work = block->translated ? block->translated : request(jit, core, block);
    int state = work ? atomic_load_explicit(&work->state, memory_order_acquire) : FAILED;
    block->entries_until_hot = state == DONE ? 1 : state == WAITING ? POLL : 0;
    if (state != DONE || core->regs->xer_so) return CORE_HOT_NOTHING;
    return run(core, block, work, limit, exit);
}

static void run_lockstep(void *context, struct core *core, uint64_t limit, struct core_exit *exit)
{
    struct jit *jit = context;
    struct lockstep lockstep = {jit->options.report, jit->options.context, &jit->frozen};
    while (exit->reason == CORE_BUDGET && core->cycles < limit) {
        uint64_t left = limit - core->cycles;
        uint64_t stretch = left < jit->options.lockstep ? left : jit->options.lockstep;
        if (lockstep_run(&lockstep, core, core->cycles + stretch, exit)) continue;
        jit->diverged = true;
        exit->reason = CORE_ILLEGAL; /* the guest ends */
    }
}

bool jit_diverged(const struct jit *jit)
{
    return jit->diverged;
}

/* --- Creation -------------------------------------------------------------------------------- */

const char *jit_unavailable(void)
{
    return ir_unavailable();
}

struct jit_thread *jit_thread_new(void)
{
    struct jit_thread *thread = base_calloc(1, sizeof *thread);
    pthread_mutex_init(&thread->lock, NULL);
    pthread_cond_init(&thread->changed, NULL);
    return thread;
}

void jit_thread_free(struct jit_thread *thread)
{
    if (!thread) return;
    pthread_mutex_lock(&thread->lock);
    thread->ending = true;
    pthread_cond_broadcast(&thread->changed);
    pthread_mutex_unlock(&thread->lock);
    if (thread->started) pthread_join(thread->thread, NULL);
    free_works(thread->to_free); /* of a thread that could not be started */
    pthread_mutex_destroy(&thread->lock);
    pthread_cond_destroy(&thread->changed);
    free(thread);
}

struct jit *jit_new(const struct jit_options *options)
{
    if (ir_unavailable()) return NULL;
    struct jit *jit = base_calloc(1, sizeof *jit);
    jit->options = *options;
    if (!jit->options.entries_until_hot) jit->options.entries_until_hot = ENTRIES_UNTIL_HOT;
    if (!jit->options.code_limit) jit->options.code_limit = CODE_LIMIT;
    jit->translator = (struct core_translator){
        jit, jit->options.entries_until_hot, hot, invalidate, reclaim, NULL};
    if (options->lockstep) jit->translator.run = run_lockstep;
    jit->thread = options->thread ? options->thread : jit_thread_new();
    jit->owns_thread = !options->thread;
    return jit;
}

/* Takes a jit's work out of the queue. */
static void cancel(const struct jit *jit)
{
    struct jit_thread *thread = jit->thread;
    struct work **link = &thread->first;
    thread->last = NULL;
    while (*link) {
        struct work *work = *link;
        if (work->jit != jit) {
            thread->last = work;
            link = &work->queued;
            continue;
        }
        *link = work->queued;
        thread->nanoseconds -= expected_time(work);
        atomic_store(&work->state, FAILED); /* not begun */
    }
}

/* The cores are gone, and with them all spaces: only invalidated code is left. */
void jit_free(struct jit *jit)
{
    if (!jit) return;
    struct jit_thread *thread = jit->thread;
    pthread_mutex_lock(&thread->lock);
    cancel(jit);
    for (struct work *work = jit->invalidated; work; work = work->next)
        while (atomic_load(&work->state) == WAITING)
            pthread_cond_wait(&thread->changed, &thread->lock);
    pthread_mutex_unlock(&thread->lock);
    reclaim(jit);
    if (jit->owns_thread) jit_thread_free(thread);
    free(jit);
}

const struct core_translator *jit_translator(struct jit *jit)
{
    return &jit->translator;
}

struct jit_figures jit_figures_get(struct jit *jit)
{
    pthread_mutex_lock(&jit->thread->lock);
    struct jit_figures figures = jit->figures;
    pthread_mutex_unlock(&jit->thread->lock);
    return figures;
}
