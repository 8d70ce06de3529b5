/* Names that are not in a program's own file: of a library, of another program, of copies of the heap, of call paths
 * and sections. Each walk misses BYTES / 32 lines, as the table is more than L1 holds.
 *   names library | exec PROGRAM | fork | paths | sections */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef WITH_HPM
#include <libhpm.h>
#endif

enum { BYTES = 1 << 16 };

static char table[BYTES] __attribute__((aligned(4096)));

#ifdef WITH_LIBRARY
extern char library_table[BYTES];
void library_walk(void);
#endif

__attribute__((noinline)) static void walk(volatile char *block)
{
    for (unsigned i = 0; i < BYTES; i += 32)
        (void)block[i];
}

__attribute__((noinline)) static void left(void)
{
    walk(table);
    __asm__ volatile("");
}

__attribute__((noinline)) static void right(void)
{
    walk(table);
    walk(table);
    __asm__ volatile("");
}

/* The child frees its copy, which is a name less there and not here. */
__attribute__((noinline)) static int copies(void)
{
    void *block;
    if (posix_memalign(&block, 4096, BYTES)) return 1;
    int status = 1;
    pid_t child = fork();
    walk(block);
    if (child == 0) {
        free(block);
        walk(block);
        _exit(0);
    }
    (void)waitpid(child, &status, 0);
    walk(block);
    return status;
}

static int sections(void)
{
#ifdef WITH_HPM
    hpmInit(0, "names");
    hpmStart(1, "outer part");
    walk(table);
    hpmStart(2, "inner part");
    left();
    hpmStop(2);
    right();
    hpmStop(1);
    walk(table);
    hpmTerminate(0);
#endif
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "exec") == 0) return execv(argv[2], argv + 2);
    if (strcmp(what, "fork") == 0) return copies();
    if (strcmp(what, "sections") == 0) return sections();
    if (strcmp(what, "paths") == 0) {
        left();
        right();
    }
#ifdef WITH_LIBRARY
    if (strcmp(what, "library") == 0) {
        library_walk();
        walk(library_table);
    }
#endif
    return 0;
}
