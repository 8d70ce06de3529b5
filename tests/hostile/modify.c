/* Changes its own code N times and executes it (tests/cmd/test_hostile); prints the sum. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
    long sum = 0, times = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    unsigned *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (long i = 0; i < times; i++) {
        code[0] = 0x38600000u | (unsigned)(i & 0x7fff); /* li r3,i */
        code[1] = 0x4e800020u;                          /* blr */
        __asm__ volatile("dcbst 0,%0; sync; icbi 0,%0; sync; isync" ::"r"(code) : "memory");
        for (int k = 0; k < 50; k++)
            sum += ((int (*)(void))code)();
    }
    return printf("%ld\n", sum) < 0;
}
