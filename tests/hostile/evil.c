/* A program whose names act on terminals (tests/cmd/test_hostile): its source file here, two
 * symbols by objcopy, and a path that it opens. With an argument it crashes.
 */
#include <fcntl.h>
#include <unistd.h>
#line 7 "ev\033[2Jil.c"

int table[1000];

__attribute__((noipa)) int work(const int *p, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += p[i * 17 % 1000];
    return sum;
}

int main(int argc, char **argv)
{
    int sum = 0;
    (void)argv;
    (void)!open("/etc/\033[31mred\nchiliad stat: forged", O_WRONLY);
    for (int k = 0; k < 20; k++)
        sum += work(table, 1000);
    if (argc > 1) *(volatile int *)0 = sum;
    return 0;
}
