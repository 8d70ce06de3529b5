/* Says which node it runs on, in pieces of a line, after some work that depends on the node.
 *
 *   nodes [CASE]    CASE: kill (node 3 dies of SIGSEGV), fail (nodes 2 and 5 end with their number),
 *                   wait (node 1 waits for ever), late (higher nodes are faster)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chiliad/personality.h"

static volatile double sink;

static void work(unsigned times)
{
    for (unsigned i = 0; i < 1000 * times; i++)
        sink = sink + i;
}

int main(int argc, char **argv)
{
    struct chiliad_personality p = chiliad_personality();
    const char *what = argc > 1 ? argv[1] : "";
    char text[80];
    work(strcmp(what, "late") == 0 ? p.nodes - p.node : 1);
    snprintf(text, sizeof text, "node %u of %u at ", p.node, p.nodes);
    if (write(1, text, strlen(text)) < 0) return 99;
    work(3);
    snprintf(text, sizeof text, "%u,%u,%u in %ux%ux%u closed %u\nrest of %u", p.at[0], p.at[1], p.at[2], p.size[0],
             p.size[1], p.size[2], p.closed, p.node);
    if (write(1, text, strlen(text)) < 0) return 99;
    if (strcmp(what, "kill") == 0 && p.node == 3) *(volatile int *)16 = 0;
    if (strcmp(what, "fail") == 0 && (p.node == 2 || p.node == 5)) {
        work(10 - p.node);
        _exit((int)p.node);
    }
    if (strcmp(what, "wait") == 0 && p.node == 1) pause();
    _exit(0);
}
