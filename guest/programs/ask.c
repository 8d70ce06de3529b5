/* `ask ADDRESS`: gives the simulator ADDRESS as the place of the text for the report of a deadlock
 * (register FF1), and waits for a packet that never comes. Address 1: a block of bytes 1 without an
 * end; 2: the program's code. */
#include <stdlib.h>
#include <string.h>

#include "chiliad/net.h"

enum { ASK = 0xFF1 };
static char block[8 + 240];

int main(int argc, char **argv)
{
    uint32_t address = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;
    uint32_t registers = chiliad_personality_word(CHILIAD_PERSONALITY_REGISTERS);
    memset(block, 1, sizeof block);
    if (address == 1) address = (uint32_t)block;
    if (address == 2) address = (uint32_t)main;
    *(volatile uint32_t *)(registers + 4 * ASK) = address;
    net_wait();
}
