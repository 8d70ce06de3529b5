#include "cmd/cmd.h"
int cmd_check(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return 2;
}
