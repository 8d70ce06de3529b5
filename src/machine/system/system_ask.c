/* What programs wait for, in their own words, for the report of a deadlock.
 *
 * A process may store the address of a block to register FF1: a word that its waiting loop
 * compares, a word that says it is asked, and a text of ASK_TEXT bytes. At a deadlock the simulator
 * adds 1 to the first word of each process on a node that sleeps, sets the second one and lets the
 * node run on. The program writes its text and waits again, without a look at a network, so nothing
 * else can happen. The deadlock is then found a second time, and the report has the texts. The MPI
 * library names peers, tags and communicators this way, and a wait costs no more for it.
 *
 * A block outside the program's memory is left alone; of a text what is printable is taken. */
#include <stdio.h>
#include <string.h>

#include "machine/system/system_impl.h"

enum { KICKS = 0, ASKED = 4, TEXT = 8 };

bool system_ask_set(struct system_member *member, unsigned core, uint32_t address)
{
    unsigned process = os_process_of_core(member->node->os, core);
    if (process >= SYSTEM_PROCESSES) return false;
    member->asks[process] = address;
    return true;
}

static bool ask(const struct system_member *member, unsigned process)
{
    uint32_t address = member->asks[process], kicks;
    struct mem *mem = address ? os_process_mem(member->node->os, process) : NULL;
    return mem && mem_get32(mem, address + KICKS, &kicks) &&
           mem_put32(mem, address + KICKS, kicks + 1) && mem_put32(mem, address + ASKED, 1);
}

bool system_ask_all(struct system *system)
{
    if (system->asked) return false;
    system->asked = true;
    for (unsigned i = 0; i < system->options.node_count; i++) {
        struct system_member *member = &system->members[i];
        bool any = false;
        for (unsigned process = 0; member->asleep && process < SYSTEM_PROCESSES; process++)
            any |= ask(member, process);
        if (any) system_idle_wake(member);
    }
    return true;
}

void system_ask_text(const struct system_member *member, char *text, size_t size)
{
    size_t at = 0;
    *text = 0;
    for (unsigned process = 0; process < SYSTEM_PROCESSES; process++) {
        uint32_t address = member->asks[process];
        const struct mem *mem = address ? os_process_mem(member->node->os, process) : NULL;
        const char *from = mem ? mem_readable(mem, address + TEXT, ASK_TEXT) : NULL;
        if (!from || !*from || at + ASK_TEXT + 3 > size) continue;
        at += (size_t)snprintf(text + at, size - at, "%s", at ? "; " : ": ");
        for (unsigned i = 0; i < ASK_TEXT && from[i]; i++)
            text[at++] = (char)(from[i] >= ' ' && from[i] <= '~' ? from[i] : '?');
        text[at] = 0;
    }
}
