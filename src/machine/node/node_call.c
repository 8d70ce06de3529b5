/* The call-through: the instruction with which a program calls a service of the simulator.
 *
 * The number of the service is in r3, arguments from r4 on; the result goes to r3, negative for an
 * error number. docs/formats/callthru.md is the reference, guest/include/chiliad/callthru.h the
 * guest's side. The node itself returns its version and copies files; all else are services that
 * are attached.
 */
#include <errno.h>

#include "machine/node/node.h"

enum { SERVICE_VERSION = 0, SERVICE_FILE = 1, VERSION = 1 };

static int32_t serve(const struct node *node, unsigned core, const struct core_regs *regs,
                     struct mem *mem)
{
    int32_t result;
    if (regs->gpr[3] == SERVICE_VERSION) return VERSION;
    if (regs->gpr[3] == SERVICE_FILE)
        return (int32_t)os_transfer(node->os, core, regs->gpr[4], regs->gpr[5]);
    for (unsigned i = 0; i < NODE_ATTACHED && node->services[i]; i++)
        if (node->services[i]->serve(node->services[i]->context, core, regs, mem, &result))
            return result;
    return -ENOSYS;
}

bool node_call_through(void *context, unsigned core, struct core_regs *regs, struct mem *mem)
{
    regs->gpr[3] = (uint32_t)serve(context, core, regs, mem);
    return true;
}
