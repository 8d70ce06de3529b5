/* chiliad dump: print a stage of the flow as text.
 *
 *     $ chiliad dump --stage=decode ./hello | head -3
 *     section .text:
 *     10000240:	48000004	b       10000244
 *     ...
 */
#include "cmd/cmd.h"

#include <getopt.h>
#include <string.h>

#include "chiliad/run.h"

static const char help[] =
    "usage: chiliad dump --stage=decode PROGRAM\n"
    "\n"
    "Prints a stage of the flow as text.\n"
    "\n"
    "  --stage=decode   the instructions of PROGRAM's executable sections, as Chiliad decodes them\n"
    "  -h, --help       this text\n";

static const struct option long_options[] = {
    {"stage", required_argument, NULL, 's'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static void print_line(void *context, const char *text)
{
    (void)context;
    (void)puts(text);
}

int cmd_dump(int argc, char **argv)
{
    const char *stage = NULL;
    struct chil_error err = {0};
    int letter;
    opterr = 0;
    while ((letter = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        if (letter == 'h') {
            (void)fputs(help, stdout);
            return 0;
        }
        if (letter != 's')
            return cmd_fail("dump", "unknown or incomplete option '%s'; see 'chiliad dump --help'", argv[optind - 1]);
        stage = optarg;
    }
    if (!stage || strcmp(stage, "decode") != 0)
        return cmd_fail("dump", "%s; the stage there is: --stage=decode", stage ? "no such stage" : "no stage given");
    if (optind + 1 != argc) return cmd_fail("dump", "one program is wanted; see 'chiliad dump --help'");
    if (chil_disassemble(argv[optind], print_line, NULL, &err)) return cmd_fail_error("dump", &err);
    return 0;
}
