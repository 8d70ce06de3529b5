/* Services 16 to 20 of the call-through (docs/formats/callthru.md): the events of the catalogue,
 * their counts, waits for counts, and parameters of the machine. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "measure/observe/observe_events_impl.h"

enum {
    SERVICE_EVENTS = 16, /* the last number of this file: 20 */
    SERVICE_EVENT = 17,
    SERVICE_EVENTS_READ = 18,
    SERVICE_EVENTS_WAIT = 19,
    SERVICE_PARAMETER = 20
};

/* As in guest/include/chiliad/callthru.h. */
enum {
    EVENT_NAME = 64,
    EVENT_UNIT = 32,
    EVENT_TEXT = 160,
    PARAMETER_NAME = 64,
    PARAMETER_TEXT = 64,
    LIST_MAX = 65536
};
enum event_kind { KIND_RESERVED, KIND_MACHINE, KIND_OWN };

/* Fixed places in a record: NUL-terminated, cut to fit. */
static void put_text(char *place, size_t size, const char *text)
{
    memset(place, 0, size);
    (void)snprintf(place, size, "%s", text ? text : "");
}

static int32_t put_event(const struct observe_events *e, uint32_t index, uint32_t address,
                         struct mem *mem)
{
    enum { WORDS = 12 };
    const struct chil_event *event = events_get(e, index);
    if (!event) return -EINVAL;
    char *at = mem_writable(mem, address, WORDS + EVENT_NAME + EVENT_UNIT + EVENT_TEXT);
    if (!at) return -EFAULT;
    enum event_kind kind = event->simulator  ? KIND_OWN
                           : event->reserved ? KIND_RESERVED
                                             : KIND_MACHINE;
    mem_host_put32(at, event->id);
    mem_host_put32(at + 4, kind);
    mem_host_put32(at + 8, (uint32_t)event->exactness);
    put_text(at + WORDS, EVENT_NAME, event->name);
    put_text(at + WORDS + EVENT_NAME, EVENT_UNIT, event->unit);
    put_text(at + WORDS + EVENT_NAME + EVENT_UNIT, EVENT_TEXT, event->text);
    return 0;
}

/* Reads a list of event indices, with so many modes at most; NULL and *error when it is no
 * good. */
static uint32_t *get_list(const struct observe_events *e, const struct mem *mem, uint32_t address,
                          uint32_t count, uint32_t modes, int32_t *error)
{
    const char *at = count <= LIST_MAX ? mem_readable(mem, address, 4 * (uint64_t)count) : NULL;
    *error = count > LIST_MAX ? -EINVAL : -EFAULT;
    if (!at) return NULL;
    uint32_t *list = base_calloc(count ? count : 1, sizeof *list);
    for (uint32_t i = 0; i < count; i++) {
        list[i] = mem_host_get32(at + 4 * i);
        if (list[i] >> MODE_BIT <= modes && events_get(e, list[i] & INDEX_MASK)) continue;
        *error = -EINVAL;
        free(list);
        return NULL;
    }
    return list;
}

/* A request: count, scope, where the indices are, where the counts go. */
static int32_t read_events(struct observe_events *e, unsigned core, uint32_t request,
                           struct mem *mem)
{
    uint32_t word[4];
    int32_t error;
    struct counts counts;
    for (unsigned i = 0; i < 4; i++)
        if (!mem_get32(mem, request + 4 * i, &word[i])) return -EFAULT;
    if (word[1] >= SCOPES) return -EINVAL;
    uint32_t *list = get_list(e, mem, word[2], word[0], MODES, &error);
    if (!list) return error;
    events_activate(e);
    events_count_scope(e, core, (enum scope)word[1], &counts);
    struct view view = {.events = e, .counts = word[1] == SCOPE_NODE ? NULL : &counts};
    error = 0;
    for (uint32_t i = 0; i < word[0] && !error; i++)
        if (!mem_put64(mem, word[3] + 8 * i, events_count_as(&view, list[i]))) error = -EFAULT;
    free(list);
    return error;
}

/* A wait in memory: how many events, where their indices are, the sum as 64 bits. */
static int32_t get_wait(const struct observe_events *e, const struct mem *mem, uint32_t address,
                        struct wait *wait)
{
    enum { EVENTS_OF_WAIT = 64 };
    uint32_t list;
    int32_t error;
    if (!mem_get32(mem, address, &wait->count) || !mem_get32(mem, address + 4, &list))
        return -EFAULT;
    if (!mem_get64(mem, address + 8, &wait->target)) return -EFAULT;
    if (!wait->count || wait->count > EVENTS_OF_WAIT) return -EINVAL;
    wait->events = get_list(e, mem, list, wait->count, 0, &error);
    return wait->events ? 0 : error;
}

static int32_t wait_for(struct observe_events *e, unsigned core, uint32_t address, uint32_t count,
                        struct mem *mem)
{
    enum { WAIT_BYTES = 16 };
    int32_t error = 0;
    if (count > CORE_WATCHES) return -EINVAL;
    events_activate(e);
    struct thread *thread = events_thread_on(e, core);
    if (!thread) return -EPERM;
    events_forget_waits(thread);
    if (count) thread->waits = base_calloc(count, sizeof *thread->waits);
    for (; !error && thread->wait_count < count; thread->wait_count += !error)
        error = get_wait(e, mem, address + WAIT_BYTES * thread->wait_count,
                         &thread->waits[thread->wait_count]);
    if (error) events_forget_waits(thread);
    node_watch_all(e->node);
    return error;
}

/* A parameter of the machine as text; numbers in decimal. */
static int32_t put_parameter(const struct observe_events *e, uint32_t name_at, uint32_t address,
                             struct mem *mem)
{
    int64_t length = mem_strlen(mem, name_at, PARAMETER_NAME);
    if (length < 0) return -EFAULT;
    if (length >= PARAMETER_NAME) return -EINVAL;
    const char *name = mem_readable(mem, name_at, (uint64_t)length + 1);
    char *at = mem_writable(mem, address, PARAMETER_TEXT), number[24];
    if (!name || !at) return -EFAULT;
    uint64_t value;
    const char *word = chil_machine_word(e->node->machine, name);
    if (!word) return -ENOENT;
    (void)snprintf(number, sizeof number, "%llu",
                   chil_machine_number(e->node->machine, name, &value) ? 0
                                                                       : (unsigned long long)value);
    put_text(at, PARAMETER_TEXT,
             chil_machine_number(e->node->machine, name, &value) ? word : number);
    return 0;
}

bool events_serve(void *context, unsigned core, const struct core_regs *regs, struct mem *mem,
                  int32_t *result)
{
    struct observe_events *e = context;
    const uint32_t *arg = &regs->gpr[3];
    switch (arg[0]) {
    case SERVICE_EVENTS: *result = (int32_t)e->count; return true;
    case SERVICE_EVENT: *result = put_event(e, arg[1], arg[2], mem); return true;
    case SERVICE_EVENTS_READ: *result = read_events(e, core, arg[1], mem); return true;
    case SERVICE_EVENTS_WAIT: *result = wait_for(e, core, arg[1], arg[2], mem); return true;
    case SERVICE_PARAMETER: *result = put_parameter(e, arg[1], arg[2], mem); return true;
    default: return false;
    }
}
